"""The threads of a session: its loop, its workers, its clock; each started when first needed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from contextvars import copy_context
from typing import TYPE_CHECKING, TypeAlias

from nit_kernel.runtime.calling import call_async, call_plain
from nit_kernel.runtime.output import SINK, OutputLayer

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from concurrent.futures import Executor, Future

    from nit_kernel.config import Limits
    from nit_kernel.runtime.background import Deadlines
    from nit_kernel.runtime.context import Channel
    from nit_kernel.runtime.loop import LoopThread
    from nit_kernel.runtime.pool import DaemonPool
    from nit_kernel.runtime.tool import Tool

Scope: TypeAlias = "Callable[[], AbstractContextManager[object]]"
"""Makes what is entered around the code of a call in its worker thread."""

Carry: TypeAlias = "Callable[[], Scope]"
"""Called on the thread that starts a call, to take along what its worker thread must know."""

_ANSWER_S = 0.2
"""How long a loop may take to answer before it counts as stuck, in seconds."""


class Threads:
    """Where the calls of a session run.

    Args:
        limits: `tool_seconds` is how long a call may take that does not set its own time.
        executor: Where plain functions of `async` statements run; daemon threads if left out.
        carry: What a worker thread must know of the thread that started its call (a notebook
            carries over whose output it makes).
    """

    def __init__(self, limits: Limits, executor: Executor | None, carry: Carry | None) -> None:
        self.limits = limits
        self.executor = executor
        self.layer = OutputLayer()
        self._carry = carry
        self._lock = threading.Lock()
        # Each is imported and made at its first use: a script of plain functions needs none.
        self._deadlines: Deadlines | None = None
        self._loop: LoopThread | None = None
        self._stuck: list[LoopThread] = []
        self._pool: DaemonPool | None = None
        self._closed = False

    @property
    def loop(self) -> LoopThread:
        """The event loop; another one where a cancelled coroutine keeps it from all others.

        Raises:
            RuntimeError: The session was closed.
        """
        known = self._loop
        if known is not None and known.is_doubted:
            self._is_stuck(known)
        with self._lock:
            self._refuse_if_closed()
            if self._loop is None:
                from nit_kernel.runtime.loop import LoopThread  # noqa: PLC0415

                self._loop = LoopThread()
            return self._loop

    @property
    def pool(self) -> DaemonPool:
        """The worker threads.

        Raises:
            RuntimeError: The session was closed.
        """
        with self._lock:
            self._refuse_if_closed()
            if self._pool is None:
                from nit_kernel.runtime.pool import DaemonPool  # noqa: PLC0415

                self._pool = DaemonPool()
            return self._pool

    @property
    def deadlines(self) -> Deadlines:
        """The clock."""
        with self._lock:
            if self._deadlines is None:
                from nit_kernel.runtime.background import Deadlines  # noqa: PLC0415

                self._deadlines = Deadlines()
            return self._deadlines

    def is_on_loop(self) -> bool:
        """Whether the caller is the thread of an event loop, and must not wait for it."""
        loops = (self._loop, *self._stuck)
        return any(loop is not None and loop.is_here() for loop in loops)

    def seconds_for(self, tool: Tool) -> float | None:
        """How long a call may take that does not run on the caller's own thread."""
        seconds = self.limits.tool_seconds if tool.timeout is None else tool.timeout
        return None if seconds == float("inf") else seconds

    def scope(self) -> Scope | None:
        """What a worker thread started from here must enter."""
        return None if self._carry is None else self._carry()

    def start(self, tool: Tool, arguments: dict[str, object], channel: Channel) -> Future[object]:
        """Begin a call on the loop, or in a worker thread, with the caller's context."""
        context = copy_context()
        context.run(SINK.set, channel)
        channel.code_runs = True
        if tool.is_async:
            return self.loop.submit(
                lambda: call_async(tool, arguments, channel),
                context=context,
                ended=lambda: _code_ended(channel),
            )
        scope = self.scope()
        future = self.pool.submit(
            context.run, in_scope, scope, lambda: call_plain(tool, arguments, channel)
        )
        future.add_done_callback(lambda _: _code_ended(channel))
        return future

    def await_for(self, coroutine: Coroutine[object, object, object]) -> Future[object]:
        """Run a coroutine that a plain function returned."""
        return self.loop.submit(lambda: coroutine, context=copy_context())

    def give_up(self, future: Future[object], channel: Channel | None) -> bool:
        """Stop a call that nobody waits for any more; whether its thread cannot be stopped."""
        if channel is not None:
            channel.cancelled = True
        if future.cancel():
            return self._lingers_on_loop(future, channel)
        if future.done():
            return False
        # What it still prints must not appear in somebody else's cell.
        self.layer.acquire()
        future.add_done_callback(lambda _: self.layer.release())
        return True

    def _lingers_on_loop(self, future: Future[object], channel: Channel | None) -> bool:
        """Whether the code of a cancelled future goes on all the same."""
        if self._loop is None and not self._stuck:
            return False
        from nit_kernel.runtime.loop import LoopFuture  # noqa: PLC0415 - loaded with the loop

        if not isinstance(future, LoopFuture) or (channel is not None and not channel.code_runs):
            return False
        loop = future.loop
        if not self._is_stuck(loop):
            return False
        self.layer.acquire()
        if not loop.call_soon(self.layer.release):
            self.layer.release()
        return True

    def _is_stuck(self, loop: LoopThread) -> bool:
        """Whether a loop does not answer: new coroutines then get another one.

        It is not stopped before the session closes: what else it has goes on when it is free.
        """
        if loop.answers(_ANSWER_S):
            return False
        with self._lock:
            if self._loop is loop:
                self._loop = None
                self._stuck.append(loop)
        return True

    def close(self) -> None:
        """Stop the loop and let the workers go. Safe to call twice."""
        with self._lock:
            self._closed = True
            loop, pool = self._loop, self._pool
            stuck = tuple(self._stuck)
        for each in stuck:
            each.stop(wait_s=0)
        if loop is not None:
            loop.stop()
        if pool is not None:
            pool.shutdown(cancel_futures=True)

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise RuntimeError("the session was closed")


def in_scope(scope: Scope | None, code: Callable[[], object]) -> object:
    """Run code inside what its thread must know."""
    if scope is None:
        return code()
    with scope():
        return code()


def _code_ended(channel: Channel) -> None:
    channel.code_runs = False
    channel.flush()
