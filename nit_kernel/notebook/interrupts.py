"""Makes an interrupt act at once, wherever a cell of NIT waits.

```
the cell awaits            cancel_on_interrupt   the handler stops the script and wakes the loop
a function of the cell's   raise_on_interrupt    Python's handler raises KeyboardInterrupt in it
own thread runs, or the
cell blocks
```

ipykernel's handler for awaited cells only schedules a cancel, which does not wake a sleeping loop
(ipykernel issue 881) and cannot end a `time.sleep`.
"""

from __future__ import annotations

import signal
import sys
import threading
from asyncio.events import Handle
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Generator
    from types import FrameType


class NitInterrupted(KeyboardInterrupt):
    """A person interrupted a cell of NIT; shows as its few lines, not as a traceback.

    Args:
        lines: What the person reads: where it stopped, what was kept, what goes on.
    """

    def __init__(self, lines: list[str]) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines

    def _render_traceback_(self) -> list[str]:
        return self.lines


class TaskInterrupted(Exception):
    """The same in a task or callback of a loop, which a `KeyboardInterrupt` would take down.

    Args:
        lines: What the person reads.
    """

    def __init__(self, lines: list[str]) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines

    def _render_traceback_(self) -> list[str]:
        return self.lines


def interruption(lines: list[str]) -> NitInterrupted | TaskInterrupted:
    """What an interrupted cell or line raises where it stands."""
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None:
        if frame.f_code.co_name == "run_code":
            break  # IPython shows whatever a cell raises, an interrupt too
        if frame.f_code is Handle._run.__code__:  # pyright: ignore[reportPrivateUsage]
            return TaskInterrupted(lines)
        frame = frame.f_back
    return NitInterrupted(lines)


class Interrupts:
    """Whether an interrupt came while a cell was watched."""

    def __init__(self) -> None:
        self.came = False


@contextmanager
def cancel_on_interrupt(
    loop: asyncio.AbstractEventLoop, cancel: Callable[[], object]
) -> Generator[Interrupts]:
    """While it lasts, SIGINT calls `cancel` on the loop at once, also when the loop sleeps.

    Signals reach the main thread only: elsewhere (a subshell) it does nothing.
    """
    interrupts = Interrupts()

    def handle(_signal: int, _frame: FrameType | None) -> None:
        interrupts.came = True
        loop.call_soon_threadsafe(cancel)

    with _handler(handle, is_shared=True):
        yield interrupts


@contextmanager
def raise_on_interrupt(before: Callable[[], object] | None = None) -> Generator[Interrupts]:
    """While it lasts, SIGINT raises `KeyboardInterrupt` in whatever runs on the main thread.

    Args:
        before: Called first, for code that catches whatever it can and goes on.
    """
    interrupts = Interrupts()

    def handle(_signal: int, _frame: FrameType | None) -> None:
        interrupts.came = True
        if before is not None:
            before()
        raise KeyboardInterrupt

    with _handler(handle):
        yield interrupts


def call_interruptibly(function: Callable[[], object]) -> object:
    """Call a function on this thread; an interrupt that it catches for itself counts all the same.

    Raises:
        KeyboardInterrupt: An interrupt came.
    """
    with raise_on_interrupt() as interrupts:
        value = function()
    if interrupts.came:
        raise KeyboardInterrupt
    return value


@contextmanager
def wake_on_interrupt(loop: asyncio.AbstractEventLoop) -> Generator[None]:
    """While it lasts, the handler that is installed acts at once: the loop is woken after it."""
    previous = signal.getsignal(signal.SIGINT)
    if not callable(previous) or previous is signal.default_int_handler:
        yield
        return

    def handle(number: int, frame: FrameType | None) -> None:
        previous(number, frame)
        loop.call_soon_threadsafe(_nothing)

    with _handler(handle):
        yield


def interrupt_main_thread() -> None:
    """Send SIGINT to the main thread, so that also a sleep in it ends at once."""
    main = threading.main_thread().ident
    if main is not None and hasattr(signal, "pthread_kill"):
        signal.pthread_kill(main, signal.SIGINT)
    else:
        signal.raise_signal(signal.SIGINT)


class _Handler:
    """A handler of SIGINT that lies over another one, perhaps not the first to be taken off."""

    def __init__(self, act: Callable[[int, FrameType | None], object], is_shared: bool) -> None:
        self.act = act
        self.is_shared = is_shared
        self.is_over = False
        self.previous: Any = None

    def __call__(self, number: int, frame: FrameType | None) -> None:
        below = self.previous
        if not self.is_over:
            self.act(number, frame)
            if not (self.is_shared and isinstance(below, _Handler) and below.is_shared):
                return
        if callable(below):
            below(number, frame)


@contextmanager
def _handler(
    act: Callable[[int, FrameType | None], object], *, is_shared: bool = False
) -> Generator[None]:
    """Handle SIGINT in this way; of several shared ones that overlap, each gets it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = _Handler(act, is_shared)
    # `None`: the handler that stood there was not installed from Python.
    previous = signal.signal(signal.SIGINT, handler)
    handler.previous = signal.SIG_DFL if previous is None else previous
    try:
        yield
    finally:
        handler.is_over = True
        top: Any = signal.getsignal(signal.SIGINT)
        # A handler that somebody else has put on top meanwhile is theirs to take off.
        if isinstance(top, _Handler):
            while isinstance(top, _Handler) and top.is_over:
                top = top.previous
            signal.signal(signal.SIGINT, top)


def _nothing() -> None:
    """Waking the loop is all that is wanted."""
