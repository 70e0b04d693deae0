"""A background task as everybody sees it: its state, its value or error, and ways to wait for it.

How tasks are started and ended is in `background.py`.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Literal

from nit_kernel.runtime.context import Channel, Progress

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from concurrent.futures import Future
    from contextvars import Context

    from nit_kernel._syntax import Span
    from nit_kernel.errors import NitError
    from nit_kernel.runtime.background import Scheduler
    from nit_kernel.runtime.run import Record, Run
    from nit_kernel.runtime.threads import Scope
    from nit_kernel.runtime.tool import Tool

TaskState = Literal["waiting", "running", "done", "failed", "cancelled"]

SLICE_S = 0.05
"""Longest sleep while waiting, in seconds, so that Ctrl-C and `cancel` act at once everywhere."""


class BackgroundTask:
    """One `async` statement on its way. `await task` and `task.result()` give its value."""

    __slots__ = (
        "__weakref__",
        "_scheduler",
        "captured",
        "channel",
        "code_count",
        "context",
        "current",
        "ended",
        "ended_at",
        "error",
        "index",
        "inputs",
        "job",
        "name",
        "progress",
        "records",
        "run",
        "scope",
        "seen",
        "span",
        "started_at",
        "state",
        "tools",
        "value",
    )

    def __init__(
        self,
        scheduler: Scheduler,
        run: Run,
        *,
        name: str,
        tools: tuple[Tool, ...],
        index: int,
        span: Span,
        captured: dict[str, object],
        context: Context,
        scope: Scope | None,
        ended: Future[None],
    ) -> None:
        self._scheduler = scheduler
        self.value: object = None
        """What it came to, once it is done."""
        self.ended = ended
        self.name = name
        """After its variable, else its tool."""
        self.tools = tools
        """What it calls, in order; the last one is the statement's own."""
        self.span = span
        self.run = run
        self.index = index
        self.captured = captured
        self.context = context
        self.scope = scope
        self.state: TaskState = "waiting"
        self.error: NitError | None = None
        self.progress: Progress | None = None
        """What the tool said last, or `None`."""
        self.channel: Channel = Channel(run, self)
        self.records: list[Record] = []
        self.current: tuple[Tool, dict[str, object], int, float] | None = None
        """The call that runs: tool, arguments, step, start on the performance counter."""
        self.job: Future[object] | None = None
        self.code_count = 0
        """How many threads or coroutines of it run, wanted or not."""
        self.inputs = 0
        self.seen = False
        """Whether a statement, a caller or a report has learned how it ended."""
        self.started_at: float | None = None
        self.ended_at: float | None = None

    @property
    def tool(self) -> str:
        """The tool that its statement calls."""
        return self.tools[-1].spec.nit_name

    @property
    def done(self) -> bool:
        """Whether it ended, in whatever way."""
        return self.ended_at is not None

    @property
    def log(self) -> str:
        """What its tools printed and logged."""
        return self.channel.output.text

    @property
    def seconds(self) -> float:
        """How long it has run, or ran; 0 while it waits."""
        if self.started_at is None:
            return 0.0
        return (self.ended_at or time.perf_counter()) - self.started_at

    @property
    def thread_runs_on(self) -> bool:
        """Whether it ended while its code could not be stopped and still runs."""
        return self.done and self.code_count > 0

    def result(self, timeout: float | None = None) -> object:
        """Wait for the value.

        Raises:
            NitError: What made it fail, or that it was cancelled.
            TimeoutError: It did not end in `timeout` seconds; it goes on.
        """
        self.wait(timeout)
        if not self.done:
            raise TimeoutError(f"the task `{self.name}` did not end in {timeout:g} s")
        return self.outcome()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until it ended; whether it did in `timeout` seconds. Ctrl-C acts at once."""
        return wait_for(self.ended, timeout)

    def outcome(self) -> object:
        """The value of an ended task.

        Raises:
            NitError: It failed or was cancelled; the same error for everybody.
        """
        self.seen = True
        if self.error is not None:
            raise self.error.with_traceback(None)
        return self.value

    def cancel(self) -> bool:
        """Stop it; whether it had not ended yet. Its result, if one still comes, is lost."""
        return self._scheduler.cancel(self)

    def add_done_callback(self, callback: Callable[[BackgroundTask], object]) -> None:
        """Call back when it ended (at once if it has), on whichever thread that happens."""
        self.ended.add_done_callback(lambda _: callback(self))

    def __await__(self) -> Generator[object, None, object]:
        # Whoever stops waiting does not stop the task.
        from asyncio import shield, wrap_future  # noqa: PLC0415 - loaded wherever one can await

        def wait() -> Generator[object, None, object]:
            if not self.done:
                yield from shield(wrap_future(self.ended)).__await__()
            return self.outcome()

        return wait()

    def __nit_settled__(self) -> object:
        """What it stands for in a table of variables: its value once there is one."""
        return self.value if self.state == "done" else self

    def __repr__(self) -> str:
        return f"<BackgroundTask {self.name}: {self.state}>"


def wait_for(future: Future[None], timeout: float | None) -> bool:
    """Wait for a future in slices; whether it ended in `timeout` seconds."""
    if future.done():
        return True
    ended = threading.Event()
    future.add_done_callback(lambda _: ended.set())
    deadline = None if timeout is None else time.monotonic() + timeout
    while not ended.wait(SLICE_S):
        if deadline is not None and time.monotonic() >= deadline:
            return future.done()
    return True
