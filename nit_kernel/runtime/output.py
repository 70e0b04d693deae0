"""Where the prints of a tool go: to its own log, and never to somebody else's cell.

While a background task runs, or somebody watches a script, `sys.stdout` and `sys.stderr` are a thin
layer that looks whose context writes. A context with a `Sink` gives the text to it; all else passes
through untouched. When nothing needs it any more the layer is taken off again.

```
print in a background task --> layer --> the task's log (and the real stream, if no row shows it)
print in a cell            --> layer --> the real stream
```
"""

from __future__ import annotations

import sys
import threading
from contextvars import ContextVar
from typing import TYPE_CHECKING, Literal, Protocol, TextIO, cast

if TYPE_CHECKING:
    from collections.abc import Iterable

StreamName = Literal["stdout", "stderr"]

_LOG_CHARS = 100_000


class Sink(Protocol):
    """Takes what is printed in one context."""

    def take(self, text: str, stream: StreamName, /) -> bool:
        """Take some text; whether it must not go to the real stream besides."""
        ...

    def flush(self) -> None:
        """The printer wants what it wrote to be seen."""


SINK: ContextVar[Sink | None] = ContextVar("nit_sink", default=None)
"""Who takes the prints of the running context."""


class Log:
    """Text that a tool printed or logged: the last 100,000 characters of it."""

    __slots__ = ("_chars", "_dropped", "_lock", "_pieces")

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._chars = 0
        self._dropped = 0
        self._lock = threading.Lock()

    def append(self, text: str) -> None:
        """Add text at the end."""
        with self._lock:
            self._pieces.append(text)
            self._chars += len(text)
            if self._chars > 2 * _LOG_CHARS:
                kept = "".join(self._pieces)[-_LOG_CHARS:]
                self._dropped += self._chars - len(kept)
                self._pieces, self._chars = [kept], len(kept)

    @property
    def text(self) -> str:
        """All that is kept, after a line that says how much is not."""
        with self._lock:
            text = "".join(self._pieces)
            kept = text[-_LOG_CHARS:]
            dropped = self._dropped + len(text) - len(kept)
        return f"[the first {dropped:,} characters are left out]\n{kept}" if dropped else kept


class OutputLayer:
    """Puts the layer over the standard streams while it is needed, and takes it off again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._layers: dict[StreamName, _Layer] = {}

    def acquire(self) -> None:
        """Ask for the layer until the matching `release`."""
        with self._lock:
            self._users += 1
            for name in ("stdout", "stderr"):
                self._put(name)

    def release(self) -> None:
        """Give up what `acquire` asked for."""
        with self._lock:
            self._users -= 1
            if not self._users:
                for name, layer in self._layers.items():
                    layer.is_on = False
                    if getattr(sys, name) is layer:
                        setattr(sys, name, _bare(layer))
                self._layers.clear()

    def refresh(self) -> None:
        """Lie over the streams again, if somebody has put others in their place."""
        with self._lock:
            if self._users:
                for name in ("stdout", "stderr"):
                    self._put(name)

    def _put(self, name: StreamName) -> None:
        current = cast("object", getattr(sys, name))
        layer = self._layers.get(name)
        if current is None or current is layer or _covers(current, layer):
            return
        # Nothing of ours is there, or somebody (a `redirect_stdout`) put a stream over it.
        if layer is not None:
            layer.is_on = False
        self._layers[name] = _Layer(name, _bare(current))
        setattr(sys, name, self._layers[name])


class _Layer:
    """Stands for a standard stream; all that it does not route is the real stream's."""

    def __init__(self, name: StreamName, real: TextIO) -> None:
        self.name: StreamName = name
        self.real = real
        self.is_on = True

    def write(self, text: str) -> int:
        sink = SINK.get()
        if sink is not None and self.is_on and sink.take(text, self.name):
            return len(text)
        return self.real.write(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        sink = SINK.get()
        if sink is not None and self.is_on:
            sink.flush()
        self.real.flush()

    def __getattr__(self, name: str) -> object:
        return getattr(self.real, name)

    def __iter__(self) -> object:
        return iter(self.real)


def _bare(stream: object) -> TextIO:
    """The real stream under layers that are no longer on."""
    while isinstance(stream, _Layer) and not stream.is_on:
        stream = stream.real
    return cast("TextIO", stream)


def _covers(stream: object, layer: _Layer | None) -> bool:
    """Whether the layer lies somewhere under other sessions' layers."""
    while isinstance(stream, _Layer):
        if stream is layer:
            return True
        stream = stream.real
    return False
