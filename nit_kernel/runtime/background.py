"""Background tasks: what `async` starts, in which order, how many at once, and how they end.

```
async f(x=$a)  reached          inputs there         place free            ended
---------------------> waiting -------------> line --------------> running ------> done
                          |     (other tasks)         (limit: 32)     |            failed
                          +---------- cancel() -------------+---------+            cancelled
```
A task that waits for inputs takes no place. A task ends once: what its code does after it was
cancelled, or after its time was up, is thrown away; `thread_runs_on` says that it still does it.
"""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from nit_kernel.errors import NitCancelledError, NitError, NitToolError
from nit_kernel.runtime.output import OutputLayer
from nit_kernel.runtime.task import SLICE_S, BackgroundTask

if TYPE_CHECKING:
    from collections.abc import Callable

    from nit_kernel.runtime.task import TaskState

logger = logging.getLogger("nit_kernel")

Reader = Literal["report", "person"]
"""Who is told of ended tasks, each once: the reports to a model, and the person's display."""

_KEPT = 100
"""How many ended tasks stay listed, or wait for a reader."""

_IDLE_S = 10.0
"""How long the thread for deadlines stays when there is none, in seconds."""

_LONGEST_WAIT_S = min(3_600.0, threading.TIMEOUT_MAX)
"""How long that thread sleeps at most: a lock refuses a longer time than the platform's."""


class Scheduler:
    """Starts background tasks when their inputs are there and a place is free.

    Args:
        limit: Most tasks that run at once.
        start: Runs the code of a task; must not wait, and must see to it that `finish` or `fail`
            is called at the end.
        stop: Tells the code of a task to stop; must not wait.
        layer: Routes what the code of tasks prints.
    """

    def __init__(
        self,
        limit: int,
        *,
        start: Callable[[BackgroundTask], None],
        stop: Callable[[BackgroundTask], None],
        layer: OutputLayer,
    ) -> None:
        self._limit = limit
        self._layer = layer
        self._start = start
        self._stop = stop
        self._lock = threading.Lock()
        self._idle = threading.Condition(self._lock)
        self._listed: dict[str, BackgroundTask] = {}
        self._line: deque[BackgroundTask] = deque()
        self._running = 0
        self._open = 0
        self._waiting = 0
        self._last: deque[BackgroundTask] = deque()
        self._unsaid: deque[BackgroundTask] = deque()
        self._here = threading.local()
        self._news: dict[Reader, deque[BackgroundTask]] = {"report": deque(), "person": deque()}

    # Starting

    def spawn(self, task: BackgroundTask) -> None:
        """Take a new task: list it under a free name, and start it as soon as may be."""
        inputs = [value for value in task.captured.values() if isinstance(value, BackgroundTask)]
        with self._lock:
            task.name = self._free_name(task)
            self._listed.pop(task.name, None)
            self._listed[task.name] = task
            self._open += 1
            task.inputs = len(inputs)
        _tell(task)
        if not inputs:
            self._line_up(task)
        for value in inputs:
            value.add_done_callback(lambda ended: self._input_ended(task, ended))

    def _input_ended(self, task: BackgroundTask, ended: BackgroundTask) -> None:
        if ended.error is not None:
            ended.seen = True
            self._end(task, "failed", None, ended.error)
            return
        with self._lock:
            task.inputs -= 1
            ready = task.inputs == 0
        if ready:
            self._line_up(task)

    def _line_up(self, task: BackgroundTask) -> None:
        with self._lock:
            self._line.append(task)
        self._start_next()

    def _start_next(self) -> None:
        while True:
            with self._lock:
                if not self._line or self._running >= self._limit:
                    return
                task = self._line.popleft()
                if task.done:
                    continue
                self._running += 1
                task.state = "running"
                task.started_at = time.perf_counter()
            _tell(task)
            try:
                self._start(task)
            except Exception as error:  # noqa: BLE001 - the executor is somebody else's
                message = f"`{task.tool}` could not be started: {error}"
                kind = NitToolError
                self.fail(task, task.run.error_at_statement(kind, "NIT504", message, task.index))

    def _free_name(self, task: BackgroundTask) -> str:
        # Names that this script has taken stay taken while it runs, so that the search can go on.
        number = task.run.numbers.get(task.name, 1)
        name = task.name if number == 1 else f"{task.name}-{number}"
        while self._is_taken(name):
            number += 1
            name = f"{task.name}-{number}"
        task.run.numbers[task.name] = number + 1
        return name

    def _is_taken(self, name: str) -> bool:
        other = self._listed.get(name)
        return other is not None and not other.done

    # Ending

    def finish(self, task: BackgroundTask, value: object) -> bool:
        """The code of a task came to its value; whether anybody wanted it."""
        return self._end(task, "done", value, None)

    def fail(self, task: BackgroundTask, error: NitError) -> bool:
        """The code of a task failed, or took too long; whether the task had not ended before."""
        state: TaskState = "cancelled" if isinstance(error, NitCancelledError) else "failed"
        return self._end(task, state, None, error)

    def cancel(self, task: BackgroundTask) -> bool:
        """End a task now, and tell its code to stop."""
        error = task.run.error_at_statement(
            NitCancelledError, "NIT405", f"the task `{task.name}` was cancelled", task.index
        )
        if not self._end(task, "cancelled", None, error):
            return False
        task.seen = True
        self._stop_code(task)
        return True

    def expire(self, task: BackgroundTask, error: NitError) -> None:
        """The time of a task's call is up."""
        if self._end(task, "failed", None, error):
            self._stop_code(task)

    def _stop_code(self, task: BackgroundTask) -> None:
        task.channel.cancelled = True
        self._stop(task)

    def _end(
        self, task: BackgroundTask, state: TaskState, value: object, error: NitError | None
    ) -> bool:
        with self._lock:
            if task.done:
                return False
            if task.state == "running":
                self._running -= 1
            task.state = state
            task.value = value
            task.error = error
            task.ended_at = time.perf_counter()
            self._unsaid.append(task)
        self._say_ended()
        return True

    def _say_ended(self) -> None:
        """Tell whoever waits for ended tasks, and start what they made room for.

        Whoever is told may end further tasks (a failed input fails those that wait for it): they
        are queued here and not told from within, so that no chain is too long.
        """
        if getattr(self._here, "is_saying", False):
            return
        self._here.is_saying = True
        try:
            while True:
                with self._lock:
                    if not self._unsaid:
                        break
                    task = self._unsaid.popleft()
                _tell(task)
                self._start_next()
                self._file(task)
                # Last, so that who waits does not wake up to a busy interpreter lock.
                task.ended.set_result(None)
        finally:
            self._here.is_saying = False

    def _file(self, task: BackgroundTask) -> None:
        """Put an ended task where it is kept: in the news of each reader, and among the last."""
        dropped: list[BackgroundTask] = []
        with self._lock:
            for news in self._news.values():
                news.append(task)
                if len(news) > _KEPT:
                    dropped.append(news.popleft())
            self._last.append(task)
            if len(self._last) > _KEPT:
                old = self._last.popleft()
                if self._listed.get(old.name) is old:
                    del self._listed[old.name]
            self._open -= 1
            if self._waiting:
                self._idle.notify_all()
        for unread in dropped:
            if unread.state == "failed" and not unread.seen:
                unread.seen = True
                _log_failure(unread)

    def code_started(self, task: BackgroundTask) -> None:
        """A thread or coroutine of a task begins."""
        with self._lock:
            task.code_count += 1
        self._layer.acquire()

    def code_ended(self, task: BackgroundTask) -> None:
        """A thread or coroutine of a task came to its end, wanted or not."""
        task.channel.flush()
        self._layer.release()
        with self._lock:
            task.code_count -= 1
            is_late = task.done and task.code_count == 0
        if is_late:
            _tell(task)

    # Looking

    @property
    def tasks(self) -> Mapping[str, BackgroundTask]:
        """The tasks by name, oldest first: all that run or wait, and the last that ended."""
        with self._lock:
            return dict(self._listed)

    @property
    def open_count(self) -> int:
        """How many tasks have not ended."""
        return self._open

    def take_ended(self, reader: Reader) -> tuple[BackgroundTask, ...]:
        """The tasks that ended since this reader last asked, oldest first; they count as seen."""
        with self._lock:
            news = tuple(self._news[reader])
            self._news[reader].clear()
        for task in news:
            task.seen = True
        return news

    def log_unseen_failures(self) -> None:
        """Log the failures of which nobody has learned: the last chance to tell them."""
        with self._lock:
            news = list(self._news["person"])
        for task in news:
            if task.state == "failed" and not task.seen:
                task.seen = True
                _log_failure(task)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until no task runs or waits; whether that came in `timeout` seconds."""
        deadline = None if timeout is None else time.monotonic() + timeout
        with self._idle:
            self._waiting += 1
            try:
                while self._open:
                    left = SLICE_S
                    if deadline is not None:
                        left = min(left, deadline - time.monotonic())
                    if left <= 0:
                        return False
                    self._idle.wait(left)
            finally:
                self._waiting -= 1
        return True

    async def await_idle(self, timeout: float | None = None) -> bool:
        """The same as `wait`, while the caller's event loop goes on."""
        from asyncio import wait, wrap_future  # noqa: PLC0415 - loaded wherever one can await

        deadline = None if timeout is None else time.monotonic() + timeout
        while open_tasks := [task for task in self.tasks.values() if not task.done]:
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                return False
            await wait([wrap_future(task.ended) for task in open_tasks], timeout=left)
        return True

    def cancel_all(self) -> int:
        """Cancel every task that has not ended; how many those were."""
        return sum(task.cancel() for task in self.tasks.values() if not task.done)


class Deadlines:
    """One daemon thread that calls back when the time of something is up."""

    def __init__(self) -> None:
        self._wake = threading.Condition(threading.Lock())
        self._entries: dict[int, tuple[float, Callable[[], None]]] = {}
        self._keys = itertools.count()
        self._next = float("inf")
        self._thread: threading.Thread | None = None

    def add(self, seconds: float, expire: Callable[[], None]) -> int | None:
        """Call `expire` in so many seconds, unless it is removed before.

        Returns:
            Its key; `None` for a time without an end.
        """
        if not seconds < float("inf"):
            return None
        at = time.monotonic() + seconds
        with self._wake:
            key = next(self._keys)
            self._entries[key] = (at, expire)
            # A fork copies no thread, so one that is noted may be gone.
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._live, name="nit-clock", daemon=True)
                self._thread.start()
            elif at < self._next:
                self._wake.notify()
        return key

    def remove(self, key: int | None) -> None:
        """Forget an entry; one that is not there is no fault."""
        if key is not None:
            with self._wake:
                self._entries.pop(key, None)

    def _live(self) -> None:
        while True:
            with self._wake:
                now = time.monotonic()
                due = [key for key, (at, _) in self._entries.items() if at <= now]
                expired = [self._entries.pop(key)[1] for key in due]
                if not expired:
                    first = min((at for at, _ in self._entries.values()), default=now + _IDLE_S)
                    self._next = min(first, now + _LONGEST_WAIT_S)
                    woken = self._wake.wait(self._next - now)
                    if not self._entries and not woken:
                        self._thread = None
                        return
            for expire in expired:
                try:
                    expire()
                except Exception:
                    # All other deadlines of the session need this thread.
                    logger.exception("what a deadline calls raised")


def _tell(task: BackgroundTask) -> None:
    if task.run.telling is not None:
        task.run.telling.task_changed(task)


def _log_failure(task: BackgroundTask) -> None:
    """Say at the very end, on the log, what nobody was told of."""
    logger.error("the background task `%s` failed: %s", task.name, task.error)
