"""Builds the events that an observer sees; imported and made only where there is one."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Literal

from nit_kernel.runtime.context import Channel
from nit_kernel.runtime.observer import (
    CallFinished,
    CallStarted,
    Displayed,
    Event,
    Logged,
    Progressed,
    ScriptFinished,
    ScriptStarted,
    StatementStarted,
    TaskChanged,
    ValueBound,
)
from nit_kernel.runtime.result import call_of

if TYPE_CHECKING:
    from nit_kernel.runtime.context import Progress
    from nit_kernel.runtime.observer import Observer
    from nit_kernel.runtime.result import Result
    from nit_kernel.runtime.run import Record, Run
    from nit_kernel.runtime.task import BackgroundTask
    from nit_kernel.runtime.tool import Tool

logger = logging.getLogger("nit_kernel")


class Telling:
    """Tells one observer about one run; what the observer raises is logged.

    Attributes:
        takes_output: Whether the observer shows what tools print, in place of the real stream.
    """

    def __init__(self, run: Run, observer: Observer) -> None:
        self._run = run
        self._observer = observer
        self.takes_output = bool(getattr(observer, "takes_output", False))

    def _tell(self, event: Event) -> None:
        try:
            self._observer.on_event(event)
        except Exception:  # whatever an observer raises is its own
            logger.exception("the observer of the session raised")

    def script_started(self) -> None:
        """The script begins."""
        self._tell(ScriptStarted(run=self._run))

    def script_finished(self, result: Result) -> None:
        """The script ended."""
        self._tell(ScriptFinished(run=self._run, result=result))

    def statement_started(self, index: int, start: int, end: int) -> None:
        """A statement of the script itself begins."""
        span = self._run.script.span(start, end)
        self._tell(StatementStarted(run=self._run, index=index, span=span))

    def value_bound(self, name: str, value: object, start: int, end: int) -> None:
        """A statement bound a variable."""
        span = self._run.script.span(start, end)
        self._tell(ValueBound(run=self._run, name=name, value=value, span=span))

    def call_started(
        self, tool: Tool, arguments: dict[str, object], step: int, task: BackgroundTask | None
    ) -> None:
        """A call begins; one of the script itself gets a channel."""
        run = self._run
        if task is None:
            channel = run.channel = Channel(run)
        else:
            channel = task.channel
        row = run.script.step(step)
        self._tell(
            CallStarted(
                run=run,
                key=channel.key,
                tool=tool.spec.nit_name,
                arguments=arguments,
                span=run.script.span(row[4], row[5]),
                task=task,
            )
        )

    def call_finished(self, record: Record, task: BackgroundTask | None) -> None:
        """A call ended."""
        run = self._run
        channel = run.channel if task is None else task.channel
        if channel is not None:
            channel.flush()
            call = call_of(run, record, channel)
            self._tell(CallFinished(run=run, key=channel.key, call=call, task=task))

    def task_changed(self, task: BackgroundTask) -> None:
        """A background task began to wait, to run, or ended."""
        self._tell(TaskChanged(run=self._run, task=task))

    def progressed(self, channel: Channel, progress: Progress) -> None:
        """A tool said how far it is."""
        self._tell(
            Progressed(
                run=self._run,
                key=channel.key,
                fraction=progress.fraction,
                message=progress.message,
                task=channel.task,
            )
        )

    def logged(
        self, channel: Channel, text: str, stream: Literal["stdout", "stderr", "log"]
    ) -> None:
        """A tool printed or logged."""
        run, key = self._run, channel.key
        self._tell(Logged(run=run, key=key, text=text, stream=stream, task=channel.task))

    def displayed(self, channel: Channel, value: object) -> None:
        """A tool has something to show."""
        run, key = self._run, channel.key
        self._tell(Displayed(run=run, key=key, value=value, task=channel.task))
