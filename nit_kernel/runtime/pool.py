"""Worker threads that never hold up the end of the process."""

from __future__ import annotations

import threading
from concurrent.futures import Executor, Future
from queue import Empty, SimpleQueue
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
        self._work: SimpleQueue[_Job | None] = SimpleQueue()
        self._lock = threading.Lock()
        # Threads that wait for work which nobody has promised them yet.
        self._idle = 0
        self._born = 0
        self._closed = False

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run a function in one of the threads.

        Raises:
            RuntimeError: The pool was shut down.
        """
        future: Future[T] = Future()
        with self._lock:
            if self._closed:
                raise RuntimeError("the pool was shut down")
            self._work.put(_Job(future, fn, args, kwargs))
            if self._idle:
                self._idle -= 1
                return future
            self._born += 1
            number = self._born
        threading.Thread(target=self._live, name=f"{self._name}-{number}", daemon=True).start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more work; threads end when theirs is done. Never waits, whatever `wait` says."""
        dropped: list[_Job] = []
        with self._lock:
            self._closed = True
            while cancel_futures and not self._work.empty():
                job = self._work.get()
                if job is not None:
                    dropped.append(job)
            for _ in range(self._born):
                self._work.put(None)
        for job in dropped:
            job.future.cancel()

    def _live(self) -> None:
        while True:
            try:
                job = self._work.get(timeout=_IDLE_S)
            except Empty:
                with self._lock:
                    # Work may have been promised to this thread just now.
                    if self._work.empty():
                        self._idle -= 1
                        return
                continue
            if job is None:
                return
            job.run()
            del job
            with self._lock:
                self._idle += 1


class _Job:
    __slots__ = ("args", "fn", "future", "kwargs")

    def __init__(
        self,
        future: Future[Any],
        fn: Callable[..., object],
        args: tuple[object, ...],
        kwargs: dict[str, object],
    ) -> None:
        self.future = future
        self.fn = fn
        self.args = args
        self.kwargs = kwargs

    def run(self) -> None:
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            value = self.fn(*self.args, **self.kwargs)
        except BaseException as error:  # noqa: BLE001 - the future carries it to who waits
            self.future.set_exception(error)
        else:
            self.future.set_result(value)
