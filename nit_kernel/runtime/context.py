"""What a tool may say while it runs: how far it is, what it notes, what it has to show."""

from __future__ import annotations

import itertools
import sys
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from nit_kernel.runtime.output import Log

if TYPE_CHECKING:
    from collections.abc import Generator

    from nit_kernel.runtime.output import StreamName
    from nit_kernel.runtime.run import Run
    from nit_kernel.runtime.task import BackgroundTask

_LONGEST_LINE = 8_192

_keys = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a tool is: `fraction` in 0..1, or `None` where it cannot say, and a few words.

    A generator tool yields it; a task shows the last one as `.progress`.
    """

    fraction: float | None = None
    message: str = ""


class ToolContext:
    """Given to a tool that declares a parameter `ctx: nit.ToolContext`."""

    __slots__ = ("_channel",)

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def progress(self, fraction: float | None = None, message: str = "") -> _Done:
        """Say how far the work is. Acts at once; may also be awaited.

        Args:
            fraction: 0 to 1, or `None` where nobody can say.
            message: A few words, such as `"page 4 of 10"`.
        """
        self._channel.progress(Progress(fraction, message))
        return _DONE

    def log(self, message: object) -> _Done:
        """Add a line to the tool's own log. Acts at once; may also be awaited."""
        self._channel.log(f"{message}\n", "log")
        return _DONE

    def display(self, value: object) -> _Done:
        """Show a value in the cell or panel that started the tool. May also be awaited."""
        self._channel.display(value)
        return _DONE

    @property
    def cancelled(self) -> bool:
        """Whether nobody waits for the result any more: a plain function should then return."""
        return self._channel.cancelled


class Channel:
    """The connection of one call to whoever watches it. Also the sink of what the call prints."""

    __slots__ = ("_lines", "_lock", "_telling", "cancelled", "code_runs", "key", "output", "task")

    def __init__(self, run: Run | None, task: BackgroundTask | None = None) -> None:
        self.key = next(_keys)
        self.task = task
        self.cancelled = False
        """Whether nobody waits for the call any more."""
        self.code_runs = False
        """Whether its code runs in another thread, wanted or not."""
        self.output = Log()
        self._telling = None if run is None else run.telling
        self._lines: dict[str, str] = {}
        self._lock = threading.Lock()

    def progress(self, progress: Progress) -> None:
        """Pass on how far the call is."""
        if self.cancelled:
            return
        if self.task is not None:
            self.task.progress = progress
        if self._telling is not None:
            self._telling.progressed(self, progress)

    def display(self, value: object) -> None:
        """Pass on something to show; without an observer its text goes to the standard error."""
        if self._telling is not None:
            self._telling.displayed(self, value)
            return
        text = value if isinstance(value, str) else repr(value)
        print(text, file=sys.stderr, flush=True)  # noqa: T201 - there is nobody else to show it

    def log(self, text: str, stream: Literal["stdout", "stderr", "log"]) -> None:
        """Note a text, and pass it on."""
        self.output.append(text)
        if self._telling is not None:
            self._telling.logged(self, text, stream)

    def take(self, text: str, stream: StreamName, /) -> bool:
        """Take what the call prints, in whole lines where it can be."""
        with self._lock:
            line = self._lines.pop(stream, "") + text
            cut = max(line.rfind("\n"), line.rfind("\r")) + 1
            if not cut and len(line) > _LONGEST_LINE:
                cut = len(line)
            if cut < len(line):
                self._lines[stream] = line[cut:]
        if cut:
            self.log(line[:cut], stream)
        return self._telling is not None and self._telling.takes_output

    def flush(self) -> None:
        """Pass on lines that have not ended."""
        with self._lock:
            lines, self._lines = self._lines, {}
        for stream, text in lines.items():
            self.log(text, "stderr" if stream == "stderr" else "stdout")


class _Done:
    """Nothing to wait for: what `await ctx.progress(..)` awaits."""

    __slots__ = ()

    def __await__(self) -> Generator[None, None, None]:
        return
        yield


_DONE = _Done()
