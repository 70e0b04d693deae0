"""Worker threads that never hold up the end of the process."""

from __future__ import annotations

import threading
from collections import deque
from concurrent.futures import Executor, Future
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
T = TypeVar("T")

_IDLE_S = 10.0
"""How long a thread without work stays, in seconds."""


class DaemonPool(Executor):
    """An executor of daemon threads, as many as are needed at once.

    Python's own pool joins its threads when the process ends, so that one sleeping tool would hold
    it up. How much runs at once is limited by who submits.
    """

    def __init__(self, name: str = "nit-worker") -> None:
        self._name = name
        self._work: deque[tuple[Future[Any], Callable[[], None]]] = deque()
        self._wake = threading.Condition(threading.Lock())
        self._idle = 0
        self._born = 0
        self._closed = False

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run a function in one of the threads.

        Raises:
            RuntimeError: The pool was shut down.
        """
        future: Future[T] = Future()

        def work() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                value = fn(*args, **kwargs)
            except BaseException as error:  # noqa: BLE001 - the future carries it to who waits
                future.set_exception(error)
            else:
                future.set_result(value)

        with self._wake:
            if self._closed:
                raise RuntimeError("the pool was shut down")
            self._work.append((future, work))
            if self._idle >= len(self._work):
                self._wake.notify()
                return future
            self._born += 1
            number = self._born
        threading.Thread(target=self._live, name=f"{self._name}-{number}", daemon=True).start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more work; threads end when theirs is done. Never waits, whatever `wait` says."""
        with self._wake:
            self._closed = True
            dropped = list(self._work) if cancel_futures else []
            if cancel_futures:
                self._work.clear()
            self._wake.notify_all()
        for future, _ in dropped:
            future.cancel()

    def _live(self) -> None:
        while True:
            with self._wake:
                while not self._work:
                    if self._closed:
                        return
                    self._idle += 1
                    woken = self._wake.wait(_IDLE_S)
                    self._idle -= 1
                    if not woken and not self._work:
                        return
                _, work = self._work.popleft()
            work()
            del work
