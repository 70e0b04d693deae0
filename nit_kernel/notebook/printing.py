"""What a cell of NIT prints: all of it up to a limit, then head and tail; never in another cell."""

from __future__ import annotations

import sys
import threading
from collections import deque
from typing import TYPE_CHECKING, Literal, TypeAlias

from nit_kernel.runtime.output import SINK

if TYPE_CHECKING:
    from typing import TextIO

StreamName: TypeAlias = Literal["stdout", "stderr"]

_FOR_VALUE = 0.1
"""The share of a cell's characters that its prints leave for its value."""

_FOR_TAIL = 0.1
"""The share that is kept back for the end of what it prints."""


class PrintBudget:
    """How much of a cell's prints is shown: the first of it at once, the last of it at its end.

    Args:
        chars: Most characters that the cell shows, its value included.
    """

    def __init__(self, chars: int) -> None:
        self._chars = chars
        self._head = max(int(chars * (1 - _FOR_VALUE - _FOR_TAIL)), 0)
        self._tail_room = max(int(chars * _FOR_TAIL), 0)
        self._tail: deque[str] = deque()
        self._tail_chars = 0
        self._dropped = 0
        self._shown = 0
        self._is_closed = False
        self._lock = threading.Lock()

    @property
    def left(self) -> int:
        """How many characters are left for the cell's value."""
        return max(self._chars - self._shown, 0)

    def admit(self, text: str) -> str:
        """The part of a text that is shown now; the rest may be part of the tail."""
        with self._lock:
            room = self._head - self._shown
            if room >= len(text) and not self._tail_chars:
                self._shown += len(text)
                return text
            if self._is_closed:
                return ""
            now = "" if self._tail_chars else text[: max(room, 0)]
            self._shown += len(now)
            self._keep(text[len(now) :])
            return now

    def close(self) -> str:
        """The end of what was printed, after a line that says how much is left out."""
        with self._lock:
            self._is_closed = True
            tail = "".join(self._tail)
            self._tail.clear()
            self._tail_chars = 0
            dropped, self._dropped = self._dropped, 0
            if dropped:
                note = f"\n... {dropped:,} characters left out (nit.last.calls has each log) ...\n"
                cut = min(len(note), len(tail))
                tail = note + tail[cut:]
            self._shown += len(tail)
            return tail

    def _keep(self, text: str) -> None:
        if len(text) > self._tail_room:
            self._dropped += len(text) - self._tail_room
            text = text[len(text) - self._tail_room :]
        self._tail.append(text)
        self._tail_chars += len(text)
        while self._tail_chars > self._tail_room:
            over = self._tail_chars - self._tail_room
            first = self._tail.popleft()
            if len(first) > over:
                self._tail.appendleft(first[over:])
            gone = min(over, len(first))
            self._tail_chars -= gone
            self._dropped += gone


def write_through(text: str, stream: StreamName) -> None:
    """Print to the stream of this thread's cell, past the log of the tool that is running."""
    token = SINK.set(None)
    try:
        target: TextIO | None = getattr(sys, stream)
        if target is not None:
            target.write(text)
    finally:
        SINK.reset(token)
