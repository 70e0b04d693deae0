"""A run: one script on its way. What it reads, binds and did, and the way to stop it."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from nit_kernel.errors import NitCancelledError, NitError, NitRuntimeError
from nit_kernel.language.json_form import clean_text
from nit_kernel.runtime.host import ValueHost
from nit_kernel.runtime.symbols import ABSENT

if TYPE_CHECKING:
    from nit_kernel.config import Limits
    from nit_kernel.runtime.context import Channel
    from nit_kernel.runtime.prepared import Prepared
    from nit_kernel.runtime.symbols import SymbolTable
    from nit_kernel.runtime.task import BackgroundTask
    from nit_kernel.runtime.telling import Telling
    from nit_kernel.runtime.tool import Tool

E_ = TypeVar("E_", bound=NitError)

_numbers = itertools.count(1)


class CallEnded(Exception):
    """How a driver says that a call came to no value."""

    def __init__(self, cause: BaseException | None = None) -> None:
        super().__init__()
        self.cause = cause


class CallFailed(CallEnded):
    """The tool raised `cause`."""


class CallTimedOut(CallEnded):
    """The tool did not finish in `seconds`."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds


class CallStopped(CallEnded):
    """The script was cancelled or interrupted; `cause` is the interrupt, if there was one.

    `lingers` says that the tool's thread could not be stopped.
    """

    def __init__(self, cause: BaseException | None = None, *, lingers: bool = False) -> None:
        super().__init__(cause)
        self.lingers = lingers


class ScriptTimedOut(Exception):
    """The whole script was given `seconds`; the cause of a stop."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds


class Failure:
    """In a record, in place of a value: the error of a call, and how the call ended."""

    __slots__ = ("error", "was_stopped")

    def __init__(self, error: NitError, ended: CallEnded) -> None:
        self.error = error
        self.was_stopped = isinstance(ended, CallStopped)


Record: TypeAlias = "tuple[int, Tool, dict[str, object], float, float, object]"
"""A call that was made: step, tool, arguments, start and end (performance counter), value or
`Failure`."""


class Home:
    """What all scripts of a session have in common.

    Attributes:
        table: Where variables are bound.
        limits: What scripts and values may cost.
        spawn: Starts an `async` statement: the run, the statement's index, its variable.
    """

    __slots__ = ("limits", "spawn", "table")

    def __init__(
        self,
        table: SymbolTable,
        limits: Limits,
        spawn: Callable[[Run, int, str | None], BackgroundTask],
    ) -> None:
        self.table = table
        self.limits = limits
        self.spawn = spawn


class Run:
    """One script on its way: what it reads and binds, what it has done, and how to stop it."""

    value: object = None
    error: NitError | None = None
    stopped: CallStopped | None = None
    channel: Channel | None = None
    """The channel of the call that runs, where it has one."""
    alarm: int | None = None
    """The clock of a script that has a time limit."""
    telling: Telling | None = None
    """Tells the observer, where there is one."""
    _wake: Callable[[], object] | None = None

    def __init__(self, prepared: Prepared, home: Home) -> None:
        # A short script costs little more than this: what is seldom asked for is made when it is.
        self.prepared = prepared
        self.home = home
        self.script = prepared.script
        self.bound: dict[str, object] = {}
        self.records: list[Record | BackgroundTask] = []

    @property
    def origin(self) -> str:
        """Who wrote the script: `"person"` or `"model"`."""
        return self.prepared.origin

    @property
    def limits(self) -> Limits:
        """What the script and its values may cost."""
        return self.home.limits

    @cached_property
    def host(self) -> ValueHost:
        """Serves paths, texts and keys while values are built."""
        return ValueHost(self.script, self.home.limits)

    @cached_property
    def tasks(self) -> list[BackgroundTask]:
        """The background tasks that it started."""
        return []

    @cached_property
    def number(self) -> int:
        """A number of its own, for those who keep things about runs."""
        return next(_numbers)

    @cached_property
    def channels(self) -> dict[int, Channel]:
        """The channels of calls that had one, by the number of their record."""
        return {}

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The next number to try for a background task whose name is taken."""
        return {}

    # Stopping

    def cancel(self, cause: BaseException | None = None) -> None:
        """Stop the script: the running call is cancelled, no later statement starts.

        May be called from any thread. What it started in the background goes on.
        """
        if self.stopped is None:
            self.stopped = CallStopped(cause)
            wake = self._wake
            if wake is not None:
                wake()

    def on_stop(self, wake: Callable[[], object] | None) -> None:
        """Set what a driver wants to be called (from any thread) when the script is cancelled."""
        self._wake = wake
        if wake is not None and self.stopped is not None:
            wake()

    # Variables

    def read(self, name: str, start: int, end: int) -> object:
        """What a variable holds now, a task as it is.

        Raises:
            NitRuntimeError: It is not there (any more).
        """
        passed, namespace = self.prepared.variables, self.prepared.namespace
        if passed is not None and name not in self.bound and name in passed:
            return passed[name]
        value = self.home.table.lookup(name, ABSENT)
        if value is not ABSENT:
            return value
        if namespace is not None:
            try:
                return namespace[name]
            except KeyError:
                pass
        raise self.error_at(
            NitRuntimeError,
            "NIT401",
            f"`${name}` is not defined any more",
            start,
            end,
            hint="it was there when the script was checked and has been removed since",
        )

    def bind(self, name: str, value: object, start: int, end: int) -> None:
        """Bind a variable that a statement assigns.

        Raises:
            NitLimitError: The session holds too many.
        """
        try:
            self.home.table.bind(name, value)
        except NitError as error:
            raise self.placed(error, start, end) from None
        self.bound[name] = value
        if self.telling is not None:
            self.telling.value_bound(name, value, start, end)

    # Errors with their place

    def error_at(
        self,
        kind: type[E_],
        code: str,
        message: str,
        start: int,
        end: int,
        *,
        hint: str | None = None,
    ) -> E_:
        """Build an error that shows its place in the script; what tools say may be any text."""
        message, hint = clean_text(message), None if hint is None else clean_text(hint)
        found = self.script.diagnostic(code, message, start, end, hint=hint)
        return kind(message, code=code, hint=hint, diagnostics=(found,))

    def error_at_statement(
        self, kind: type[E_], code: str, message: str, index: int, *, hint: str | None = None
    ) -> E_:
        """Build an error that shows a whole statement."""
        row = self.script.statement(index)
        return self.error_at(kind, code, message, row[4], row[5], hint=hint)

    def placed(self, error: NitError, start: int, end: int) -> NitError:
        """Give an error without a place one."""
        return self.error_at(type(error), error.code, error.message, start, end, hint=error.hint)


def interrupted_error(interrupt: KeyboardInterrupt) -> NitCancelledError:
    """The error of a script that was interrupted between two calls."""
    error = NitCancelledError("the script was interrupted", code="NIT402")
    error.__cause__ = interrupt
    return error
