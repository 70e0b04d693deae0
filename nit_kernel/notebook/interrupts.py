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
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

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

    with _handler(handle):
        yield interrupts


@contextmanager
def raise_on_interrupt() -> Generator[None]:
    """While it lasts, SIGINT raises `KeyboardInterrupt` in whatever runs on the main thread."""
    with _handler(signal.default_int_handler):
        yield


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


@contextmanager
def _handler(handle: Callable[[int, FrameType | None], object]) -> Generator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        # `None`: the handler that stood there was not installed from Python.
        signal.signal(signal.SIGINT, signal.SIG_DFL if previous is None else previous)


def _nothing() -> None:
    """Waking the loop is all that is wanted."""
