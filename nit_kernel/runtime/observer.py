"""What the runtime tells whoever watches it: one protocol with one method, and its events.

Events come from the thread on which the thing happened (the script's own, a worker, the session's
loop), so an observer that writes to a page must queue them. Nothing is built when nobody watches.
An observer that raises is logged and does not disturb the script.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from nit_kernel._syntax import Span
    from nit_kernel.runtime.background import BackgroundTask
    from nit_kernel.runtime.result import Call, Result
    from nit_kernel.runtime.run import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptStarted:
    """A script that passed its check begins. `run.cancel()` stops it, from any thread."""

    run: Run


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementStarted:
    """A statement of the script itself begins (background statements begin with `TaskChanged`)."""

    run: Run
    index: int
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class CallStarted:
    """A tool is about to be called. `key` names the call in the events that follow."""

    run: Run
    key: int
    tool: str
    arguments: dict[str, object]
    span: Span
    task: BackgroundTask | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFinished:
    """A call ended; `call.status` says how."""

    run: Run
    key: int
    call: Call
    task: BackgroundTask | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueBound:
    """A variable was bound by a statement; the value may be a `BackgroundTask`."""

    run: Run
    name: str
    value: object
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Progressed:
    """A tool said how far it is: `fraction` in 0..1, or `None` if it cannot say."""

    run: Run
    key: int
    fraction: float | None
    message: str
    task: BackgroundTask | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Logged:
    """A tool printed or logged. `stream` is `"stdout"`, `"stderr"` or `"log"`.

    What it printed also reached the real stream, unless the observer `takes_output`.
    """

    run: Run
    key: int
    text: str
    stream: Literal["stdout", "stderr", "log"]
    task: BackgroundTask | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Displayed:
    """A tool has something to show (`ctx.display(value)`) where the script was started."""

    run: Run
    key: int
    value: object
    task: BackgroundTask | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskChanged:
    """A background task began to wait, to run, or ended: look at `task.state`.

    Also sent when the thread of a cancelled task came to its end after all.
    """

    run: Run
    task: BackgroundTask


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptFinished:
    """The script ended, well or not; its background tasks may still run."""

    run: Run
    result: Result


Event = (
    ScriptStarted
    | StatementStarted
    | CallStarted
    | CallFinished
    | ValueBound
    | Progressed
    | Logged
    | Displayed
    | TaskChanged
    | ScriptFinished
)


class Observer(Protocol):
    """Sees what happens in a session.

    An observer that shows what tools print itself (a page that bounds it, and puts it where it
    belongs) has an attribute `takes_output = True`; then it does not reach the real stream besides.
    """

    def on_event(self, event: Event, /) -> None:
        """Take one event; must return at once."""


class Both:
    """Two observers as one: the session's own, and one that sees a single script."""

    def __init__(self, first: Observer, second: Observer) -> None:
        self._observers = (first, second)
        self.takes_output = any(getattr(each, "takes_output", False) for each in self._observers)

    def on_event(self, event: Event, /) -> None:
        """Tell both, the second also where the first raises."""
        first, second = self._observers
        try:
            first.on_event(event)
        finally:
            second.on_event(event)
