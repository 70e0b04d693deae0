"""The session's own asyncio loop, in a daemon thread called `nit-loop`.

Coroutine tools and connections to servers live here, so that they go on while the thread of a
script or cell is busy, idle, or has a loop of its own. Importing asyncio takes longer than running
a script, so this module is imported when the first coroutine is met.
"""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from contextvars import Context, copy_context
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

T = TypeVar("T")

_End = tuple[T | None, BaseException | None]
"""How a coroutine ended: its value, or what it raised."""

_STOP_S = 2.0
"""How long `stop` waits for cancelled tasks to clean up, in seconds."""


class LoopFuture(Future[T]):
    """Stands for a coroutine; done as soon as it is cancelled, whatever its code still does.

    Args:
        loop: Where the coroutine runs.
    """

    def __init__(self, loop: LoopThread) -> None:
        super().__init__()
        self.loop = loop


class LoopThread:
    """A daemon thread that runs one event loop until it is stopped.

    Attributes:
        is_doubted: Whether a coroutine was cancelled since the loop last answered: it may be one
            that never awaits, and keeps the loop from all others.
    """

    def __init__(self, name: str = "nit-loop") -> None:
        self.is_doubted = False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._live, name=name, daemon=True)
        self._thread.start()

    def is_here(self) -> bool:
        """Whether the caller is the loop's own thread (and must not wait for it)."""
        return threading.current_thread() is self._thread

    def answers(self, within_s: float) -> bool:
        """Whether the loop takes up work within a time; a stopped one has none to wait for."""
        if self.is_here():
            return True
        answered = threading.Event()
        if self.call_soon(answered.set) and not answered.wait(within_s):
            return False
        self.is_doubted = False
        return True

    def call_soon(self, function: Callable[[], object]) -> bool:
        """Call a function on the loop's thread; whether the loop has not been stopped before."""
        try:
            self._loop.call_soon_threadsafe(function)
        except RuntimeError:
            return False
        return True

    def submit(
        self,
        make: Callable[[], Coroutine[Any, Any, T]],
        *,
        context: Context | None = None,
        ended: Callable[[], object] | None = None,
    ) -> LoopFuture[T]:
        """Run a coroutine on the loop.

        Cancelling the future cancels the coroutine; the future itself is cancelled at once.

        Args:
            make: Makes the coroutine, on the loop's thread.
            context: The context variables it sees; the caller's, if left out.
            ended: Called on the loop's thread when the coroutine really came to its end.

        Raises:
            RuntimeError: The loop was stopped.
        """
        outcome: LoopFuture[T] = LoopFuture(self)
        scope = copy_context() if context is None else context

        def begin() -> None:
            if outcome.cancelled():
                if ended is not None:
                    ended()
                return
            task = self._loop.create_task(_guarded(make))
            outcome.add_done_callback(lambda _: self._cancel_if_given_up(outcome, task))
            task.add_done_callback(lambda _: _pass_on(task, outcome, ended))

        self._loop.call_soon_threadsafe(begin, context=scope)
        return outcome

    def stop(self, wait_s: float = _STOP_S) -> None:
        """Cancel what runs, and end the thread; waits a moment for clean-up, not for ever."""
        if self.call_soon(self._loop.stop) and not self.is_here():
            self._thread.join(wait_s)

    def _cancel_if_given_up(self, outcome: Future[T], task: asyncio.Task[_End[T]]) -> None:
        if outcome.cancelled() and not self._loop.is_closed():
            self.is_doubted = True
            self._loop.call_soon_threadsafe(task.cancel)

    def _live(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
            left = asyncio.all_tasks(self._loop)
            for task in left:
                task.cancel()
            if left:
                self._loop.run_until_complete(asyncio.wait(left, timeout=_STOP_S / 2))
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        finally:
            self._loop.close()


async def _guarded(make: Callable[[], Coroutine[Any, Any, T]]) -> _End[T]:
    """Keep `SystemExit` and the like away from the loop, which they would end."""
    try:
        return await make(), None
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        return None, error
    except BaseException as error:  # noqa: BLE001 - handed to whoever waits for the coroutine
        return None, error


def _pass_on(
    task: asyncio.Task[_End[T]], outcome: Future[T], ended: Callable[[], object] | None
) -> None:
    """Hand the end of a task to the future that stands for it, unless nobody wants it."""
    if ended is not None:
        ended()
    if not outcome.set_running_or_notify_cancel():
        return
    value, error = (None, asyncio.CancelledError()) if task.cancelled() else task.result()
    if error is not None:
        outcome.set_exception(error)
    else:
        outcome.set_result(cast("T", value))
