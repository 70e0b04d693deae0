"""One clock on the kernel's loop: what changes anywhere is drawn there, at most ten times a second.

Widgets are written by one thread only, and a flood of events becomes a trickle of messages: a
server in between drops what comes faster, and the cell's end with it.
"""

from __future__ import annotations

import threading
import time
from contextvars import Context
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

SHORTEST_S = 0.15
"""Least time between two drawings, in seconds."""

CLOCK_S = 1.0
"""How often running times are drawn where nothing else changes, in seconds."""


class Ticker:
    """Calls `tick` on a loop soon after `wake`, and each second while `tick` says so.

    Args:
        loop: The kernel's loop.
        tick: Draws what has changed; whether clocks on the page go on.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, tick: Callable[[], bool]) -> None:
        self._loop = loop
        self._tick = tick
        self._woken = threading.Event()
        self._timer: asyncio.TimerHandle | None = None
        self._last = 0.0

    def wake(self) -> None:
        """Something changed. May be called from any thread, as often as one likes."""
        if self._woken.is_set() or self._loop.is_closed():
            return
        self._woken.set()
        # An empty context: the clock belongs to no cell and to no tool.
        self._loop.call_soon_threadsafe(self._schedule, context=Context())

    def ticked(self) -> None:
        """Somebody else has drawn everything just now."""
        self._last = time.monotonic()
        self._woken.clear()

    def stop(self) -> None:
        """Call no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _schedule(self) -> None:
        self._arm(self._last + SHORTEST_S - time.monotonic())

    def _arm(self, seconds: float) -> None:
        self.stop()
        self._timer = self._loop.call_later(max(seconds, 0.0), self._run, context=Context())

    def _run(self) -> None:
        self._timer = None
        self._woken.clear()
        goes_on = self._tick()
        self._last = time.monotonic()
        if goes_on and self._timer is None:
            self._arm(CLOCK_S)
