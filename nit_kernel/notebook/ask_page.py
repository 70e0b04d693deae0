"""How one `%%ask` cell looks while the model answers: the words, and what stands under them.

```
event ──take──> words, notes ──(ten times a second at most)──> two displays, each updated in place
```
A front end that cannot update an output (a terminal, a console) gets the words as they come.
"""

from __future__ import annotations

import sys
import threading
import time
from contextlib import AbstractContextManager, nullcontext
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, Protocol

from IPython.display import display

from nit_kernel.model.events import (
    BlockFinished,
    BlockOpened,
    BlockProgress,
    BlockStarted,
    ChatEvent,
    Fallback,
    Notice,
    ReasoningDelta,
    Repair,
    RoundFinished,
    RoundStarted,
    TagRejected,
    TextDelta,
    TurnFinished,
    TurnStarted,
)
from nit_kernel.model.terminal import TurnView
from nit_kernel.notebook.ask_notes import Badge, Notes, ScriptNote
from nit_kernel.notebook.words import Words, as_markdown

if TYPE_CHECKING:
    from collections.abc import Callable

    from IPython.core.display_functions import DisplayHandle

_SHORTEST_S = 0.12
"""Least time between two drawings, in seconds."""

_CHARS_PER_SECOND = 300_000
"""How much may go over the wire: a server in between drops what comes faster."""


class AskView(Protocol):
    """Shows one turn."""

    @property
    def text(self) -> str:
        """The words so far, those of withdrawn replies left out."""
        ...

    def take(self, event: ChatEvent) -> None:
        """Take one event."""
        ...

    def finish(self) -> None:
        """The turn is over: show what was not shown yet."""
        ...


class AskPage:
    """The two displays of a cell on a page.

    Args:
        keep: Notes a script; its number for `%nit keep`.
        carry: Takes the cell along into the thread of a timer, which draws what came too soon.
        waiting: What stands there before the first word.
    """

    def __init__(
        self,
        keep: Callable[[str], int],
        *,
        carry: Callable[[], AbstractContextManager[object]] = nullcontext,
        waiting: str = "…",
    ) -> None:
        self.notes = Notes()
        self._keep = keep
        self._carry = carry
        self._context = copy_context()
        self._said = Words()
        self._scripts: dict[int, ScriptNote] = {}
        self._model = self._codec = ""
        self._lock = threading.RLock()
        self._timer: threading.Timer | None = None
        self._drawn_at = 0.0
        self._words_changed = self._notes_changed = False
        self._is_over = False
        self._waiting = {"text/plain": waiting, "text/markdown": waiting}
        self._words: DisplayHandle | None = None
        self._below: DisplayHandle | None = None

    @property
    def text(self) -> str:
        """The words so far."""
        return str(self._said)

    def take(self, event: ChatEvent) -> None:
        """Take one event; it is drawn soon."""
        with self._lock:
            self._take(event)
            self._draw_soon()

    def finish(self) -> None:
        """Draw what was not drawn yet; nothing is drawn afterwards."""
        with self._lock:
            self._is_over = True
            if self._timer is not None:
                self._timer.cancel()
            self._words_changed = True
            self._draw()

    # Events

    def _take(self, event: ChatEvent) -> None:
        match event:
            case TextDelta(text=text):
                self._said.add(text)
                self._words_changed = True
                return
            case ReasoningDelta(text=text):
                self.notes.think(text)
            case TurnStarted(model=model, codec=codec):
                self._model, self._codec = model, codec
                self._words = _shown(self._waiting)
                return
            case RoundStarted():
                self._said.begin_reply()
                return
            case BlockOpened(block=block):
                self._said.leave_out()
                self._note(block)
            case BlockStarted(block=block, script=script):
                self._note(block).start(script, self._keep(script))
            case BlockProgress(block=block, event=inner):
                if not self._note(block).take(inner):
                    return
            case BlockFinished(block=block):
                self._note(block).end(event)
            case Repair(attempt=attempt, limit=limit, error=error):
                self._withdraw()
                self._badge(f"{error.message}; asked again ({attempt} of {limit})")
            case Fallback(before=before, after=after, reason=reason):
                self._withdraw()
                self._codec = f"{before}, then {after}"
                self._badge(f"from codec {before} to {after}: {reason}")
            case TagRejected(tag=tag):
                self._badge(f"{tag} is none of this turn; it ran nothing")
            case Notice(text=text):
                self._badge(text)
            case TurnFinished() if self._words is None:
                # Nothing was asked: the error says it all.
                return
            case TurnFinished(reason=reason, usage=usage):
                if reason == "interrupted":
                    self._badge("interrupted", is_bad=True)
                elif reason == "failed":
                    self._badge("failed; the error stands below", is_bad=True)
                self.notes.count(usage, self._codec, self._model)
            case RoundFinished():
                return
        self._notes_changed = True

    def _note(self, block: int) -> ScriptNote:
        note = self._scripts.get(block)
        if note is None:
            note = self._scripts[block] = ScriptNote()
            self.notes.add(note)
        return note

    def _badge(self, text: str, *, is_bad: bool = False) -> None:
        self.notes.add(Badge(text, is_bad))

    def _withdraw(self) -> None:
        """What the last reply said is folded away: it could not be used."""
        reply = self._said.withdraw()
        if reply.strip():
            self.notes.withdrawn.append(reply)
        self._words_changed = True

    # Drawing

    def _draw_soon(self) -> None:
        if self._timer is not None or self._is_over:
            return
        if not (self._words_changed or self._notes_changed):
            return
        pause = max(_SHORTEST_S, 2 * len(self.text) / _CHARS_PER_SECOND)
        wait = self._drawn_at + pause - time.monotonic()
        if wait <= 0:
            self._draw()
        else:
            self._timer = threading.Timer(wait, self._ring)
            self._timer.daemon = True
            self._timer.start()

    def _ring(self) -> None:
        with self._lock, self._carry():
            self._timer = None
            if not self._is_over:
                self._context.run(self._draw)

    def _draw(self) -> None:
        if self._words is None:
            return
        self._drawn_at = time.monotonic()
        if self._words_changed:
            self._words_changed = False
            text = self.text
            bundle = {"text/plain": text, "text/markdown": as_markdown(text)}
            self._words.update(bundle, raw=True)
        if self._notes_changed and self.notes:
            self._notes_changed = False
            bundle = {"text/plain": self.notes.text(), "text/html": self.notes.html()}
            metadata: dict[str, Any] = {"nit": self.notes.metadata} if self.notes.metadata else {}
            if self._below is None:
                self._below = _shown(bundle, metadata)
            else:
                self._below.update(bundle, raw=True, metadata=metadata)


class AskStream:
    """A turn in a terminal or a console: what was written stays written."""

    def __init__(self, keep: Callable[[str], int], *, color: bool) -> None:
        self._view = TurnView(sys.stdout, color=color)
        self._keep = keep
        self._said = Words()

    @property
    def text(self) -> str:
        """The words so far."""
        return str(self._said)

    def take(self, event: ChatEvent) -> None:
        """Write what the event has to show."""
        match event:
            case TextDelta(text=text):
                self._said.add(text)
            case RoundStarted():
                self._said.begin_reply()
            case BlockOpened():
                self._said.leave_out()
            case Repair() | Fallback():
                self._said.withdraw()
            case BlockStarted(script=script):
                self._view.note(f"script {self._keep(script)}")
            case _:
                pass
        self._view.show(event)

    def finish(self) -> None:
        """End the line."""
        self._view.end_line()


def _shown(bundle: dict[str, Any], metadata: dict[str, Any] | None = None) -> DisplayHandle:
    handle = display(bundle, raw=True, metadata=metadata or {}, display_id=True)
    if handle is None:
        message = "`display` gave no handle"
        raise RuntimeError(message)
    return handle
