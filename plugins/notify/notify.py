"""Messages to the person: shown at once, never waited for."""

from __future__ import annotations

import sys

_MARKS = {"info": "ℹ", "success": "✓", "warning": "⚠", "error": "✗"}
_MAX_CHARS = 2_000


class Notice:
    """A message as it is shown: plain text, whatever is in it."""

    def __init__(self, text: str, level: str) -> None:
        self.text = text
        self.level = level

    def __repr__(self) -> str:
        return f"{_MARKS[self.level]} {self.text}"


def notify_user(msg: str, level: str = "info", ctx: object = None) -> None:
    """Show a message where the script was started: in its cell, or on the terminal."""
    if len(msg) > _MAX_CHARS:
        msg = f"{msg[:_MAX_CHARS]}… [{len(msg) - _MAX_CHARS:,} characters left out]"
    # Line ends stay; what would move the cursor or change colours of a terminal does not.
    safe = "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in msg)
    notice = Notice(safe, level)
    display = getattr(ctx, "display", None)
    if display is not None:
        display(notice)
    else:
        print(notice, file=sys.stderr, flush=True)  # noqa: T201 - the terminal is the place
