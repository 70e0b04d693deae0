"""What a script came to: its calls, what it bound, its value or the error that ended it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from nit_kernel.runtime.run import Failure

if TYPE_CHECKING:
    from nit_kernel._syntax import Diagnostic, Script, Span
    from nit_kernel.config import Limits
    from nit_kernel.errors import NitError
    from nit_kernel.runtime.background import Reader
    from nit_kernel.runtime.context import Channel
    from nit_kernel.runtime.run import Record, Run
    from nit_kernel.runtime.task import BackgroundTask

CallStatus = Literal["running", "ok", "failed", "cancelled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of a tool, as it was made.

    Attributes:
        name: The tool's name as it is written in NIT.
        arguments: What the tool got, after coercion.
        status: How it ended; `"running"` for a background call that has not.
        value: What it returned, or `None`.
        error: Why it failed, or `None`.
        started: When it began, in seconds since the epoch.
        seconds: How long it took (until now, if it runs).
        span: Its place in the script.
        log: What it printed and logged, where somebody watched the session or it ran in the
            background; else empty.
        thread_runs_on: Whether its thread could not be stopped and still runs.
    """

    name: str
    arguments: dict[str, object]
    status: CallStatus
    value: object
    error: NitError | None
    started: float
    seconds: float
    span: Span
    log: str = ""
    thread_runs_on: bool = False


class Teller(Protocol):
    """The session, as far as a result asks it."""

    @property
    def limits(self) -> Limits:
        """What a report may cost."""
        ...

    def take_ended(self, reader: Reader, /) -> tuple[BackgroundTask, ...]:
        """The background tasks that ended since the last report."""
        ...


class Result:
    """The outcome of one script. What it shows is built when somebody looks."""

    __slots__ = (
        "_calls",
        "_diagnostics",
        "_error",
        "_report",
        "_run",
        "_script",
        "_teller",
    )

    def __init__(
        self,
        script: Script,
        diagnostics: tuple[Diagnostic, ...],
        error: NitError | None,
        run: Run | None,
        teller: Teller,
    ) -> None:
        self._script = script
        self._diagnostics = diagnostics
        self._error = error
        self._run = run
        self._teller = teller
        self._calls: tuple[Call, ...] | None = None
        self._report: str | None = None

    @property
    def ok(self) -> bool:
        """Whether the script ran to its end."""
        return self._error is None

    @property
    def value(self) -> object:
        """What the last statement came to (a `BackgroundTask` for an `async` one), or `None`."""
        return None if self._run is None or self._error is not None else self._run.value

    @property
    def variables(self) -> dict[str, object]:
        """What the script bound, in the order in which it did: also where it failed later."""
        return {} if self._run is None else dict(self._run.bound)

    @property
    def calls(self) -> tuple[Call, ...]:
        """The calls that were made, in the order of the script; background ones as they stand."""
        run = self._run
        if run is None:
            return ()
        if self._calls is not None:
            return self._calls
        calls: list[Call] = []
        for number, record in enumerate(run.records):
            if isinstance(record, tuple):
                calls.append(call_of(run, record, run.channels.get(number)))
            else:
                calls.extend(calls_of_task(record))
        built = tuple(calls)
        if all(task.done and not task.thread_runs_on for task in run.tasks) and not any(
            call.thread_runs_on for call in built
        ):
            self._calls = built
        return built

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What parsing and checking found, and the place of the error that ended the script."""
        if self._error is None or self._error.diagnostics[:1] == self._diagnostics[:1]:
            return self._diagnostics
        found = [item for item in self._error.diagnostics if item not in self._diagnostics]
        return (*self._diagnostics, *found)

    @property
    def error(self) -> NitError | None:
        """What ended the script, or kept it from starting, or `None`."""
        return self._error

    @property
    def tasks(self) -> dict[str, BackgroundTask]:
        """The background tasks that the script started, by name."""
        return {} if self._run is None else {task.name: task for task in self._run.tasks}

    @property
    def script(self) -> Script:
        """The script."""
        return self._script

    @property
    def run(self) -> Run | None:
        """The run behind it, or `None` where the script never started."""
        return self._run

    def report(self, *, chars: int | None = None) -> str:
        """The text that a model gets: what ran, what is bound, what went wrong.

        The first call also tells of background tasks that ended since the last report of the
        session; the text is kept, so that a second call gives the same one.

        Args:
            chars: Longest text; the session's limit if left out.
        """
        from nit_kernel.runtime.report import report_text  # noqa: PLC0415 - only models need it

        if chars is not None:
            return report_text(self, ended=self._teller.take_ended("report"), chars=chars)
        if self._report is None:
            chars = self._teller.limits.report_chars
            ended = self._teller.take_ended("report")
            self._report = report_text(self, ended=ended, chars=chars)
        return self._report

    def checked(self, check: bool = True) -> Result:
        """Return the result, unless it is to be checked and the script failed.

        Raises:
            NitError: The script failed or never started, and `check` is set.
        """
        if check and self._error is not None:
            raise self._error
        return self

    def __repr__(self) -> str:
        how = "ok" if self._error is None else f"{self._error.code}: {self._error.message}"
        return f"<Result {how}>"


def call_of(run: Run, record: Record, channel: Channel | None) -> Call:
    """Build the `Call` of a record."""
    step, tool, arguments, started, ended, outcome = record
    failed = isinstance(outcome, Failure)
    status: CallStatus = "ok"
    if failed:
        status = "cancelled" if outcome.was_stopped else "failed"
    return Call(
        name=tool.spec.nit_name,
        arguments=arguments,
        status=status,
        value=None if failed else outcome,
        error=outcome.error if failed else None,
        started=_wall_clock(started),
        seconds=ended - started,
        span=_span(run, step),
        log="" if channel is None else channel.output.text,
        thread_runs_on=channel is not None and channel.cancelled and channel.code_runs,
    )


def calls_of_task(task: BackgroundTask) -> list[Call]:
    """The calls of a background task: those that ended, and the one that runs or was given up."""
    calls = [call_of(task.run, record, task.channel) for record in task.records]
    if task.current is None:
        return calls
    tool, arguments, step, started = task.current
    if task.records and task.records[-1][0] == step:
        return calls
    status: CallStatus = "running"
    if task.done:
        status = "cancelled" if task.state == "cancelled" else "failed"
    ended = task.ended_at or time.perf_counter()
    calls.append(
        Call(
            name=tool.spec.nit_name,
            arguments=arguments,
            status=status,
            value=None,
            error=task.error,
            started=_wall_clock(started),
            seconds=ended - started,
            span=_span(task.run, step),
            log=task.log,
            thread_runs_on=task.thread_runs_on,
        )
    )
    return calls


def _wall_clock(moment: float) -> float:
    """A moment of the performance counter in seconds since the epoch."""
    return time.time() - time.perf_counter() + moment


def _span(run: Run, step: int) -> Span:
    row = run.script.step(step)
    return run.script.span(row[4], row[5])
