"""How values, tables and errors look under a cell: bounded, and foreign text only ever as text.

Text of tools is plain text here; where HTML is made, every word of it is escaped.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from nit_kernel.errors import NitError
from nit_kernel.language.values import clean_text, preview

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from IPython.core.formatters import DisplayFormatter
    from IPython.core.interactiveshell import InteractiveShell

CELL_NAME = "<nit cell>"

_PLACE = re.compile(
    r"^( *(?:\x1b\[[\d;]*m| )*--> (?:\x1b\[[\d;]*m)*)line (\d+), column (\d+)", re.M
)

_PLAIN = "text/plain"
_CELL_CHARS = 72
"""Most characters of one cell of a table that is text."""

_PRETTY_NODES = 20_000
"""Values with more parts than this are never given to IPython's pretty printer."""


def clip(text: str, chars: int, *, where: str = "") -> str:
    """Shorten a text to at most so many characters: its head, what is left out, its tail.

    Args:
        text: The text.
        chars: Most characters of the result.
        where: Where the whole of it is, for the line in the middle.
    """
    if len(text) <= chars:
        return text
    note = f"\n... {len(text) - chars:,} or more characters left out{where} ...\n"
    room = max(chars - len(note), 0)
    head = (room + 1) // 2
    tail = room - head
    note = f"\n... {len(text) - room:,} characters left out{where} ...\n"
    return (text[:head] + note + (text[-tail:] if tail else ""))[:chars] if chars else ""


class ValueDisplay:
    """Shows what a cell of NIT ends with, within the limit of a cell.

    It stands in for the one step of IPython's display hook that formats a value, and leaves every
    value alone that did not come from a cell of NIT.
    """

    def __init__(self, shell: InteractiveShell) -> None:
        self._formatter = cast("DisplayFormatter", shell.display_formatter)
        self._hook = shell.displayhook
        self._value: object = None
        self._chars = 0
        self._is_armed = False
        self._is_hidden = False

    def install(self) -> None:
        """Stand in."""
        self._hook.compute_format_data = self._compute  # type: ignore[method-assign]

    def remove(self) -> None:
        """Leave the hook as it was."""
        vars(self._hook).pop("compute_format_data", None)

    def expect(self, value: object, chars: int, *, is_hidden: bool = False) -> None:
        """The next display of exactly this object is the value of a cell of NIT.

        Args:
            value: The object.
            chars: Most characters that it may take.
            is_hidden: Whether it is not shown: `$a = f()` shows nothing, as in Python.
        """
        self._value, self._chars, self._is_armed = value, chars, True
        self._is_hidden = is_hidden

    def forget(self) -> None:
        """The cell is over."""
        self._value, self._is_armed = None, False

    def bundle(self, value: object, chars: int) -> tuple[dict[str, object], dict[str, object]]:
        """The formats of a value, none of which is longer than `chars` characters."""
        if isinstance(value, str):
            return {_PLAIN: clip(clean_text(value), chars)}, {}
        if _is_large(value):
            return {_PLAIN: clip(preview(value, chars), chars)}, {}
        formats, metadata = self._formatter.format(value)
        return _bounded(cast("dict[str, object]", formats), chars), metadata

    def _compute(self, result: object) -> tuple[dict[str, object], dict[str, object]]:
        if self._is_armed and result is self._value:
            return ({}, {}) if self._is_hidden else self.bundle(result, self._chars)
        return self._formatter.format(result)


def _bounded(formats: dict[str, object], chars: int) -> dict[str, object]:
    bounded: dict[str, object] = {}
    for kind, content in formats.items():
        if kind == _PLAIN and isinstance(content, str):
            bounded[kind] = clip(content, chars)
        elif kind.startswith("image/") and kind != "image/svg+xml":
            bounded[kind] = content
        elif not isinstance(content, str) or len(content) <= chars:
            # Markup cannot be cut; the plain text stands for it where it is too long.
            bounded[kind] = content
    return bounded


def _is_large(value: object) -> bool:
    """Whether a value of lists, objects and texts is too large to be printed in full."""
    budget = _PRETTY_NODES
    stack = [value]
    while stack:
        item = stack.pop()
        budget -= 1
        if isinstance(item, (str, bytes, bytearray)):
            budget -= len(item) // 32
        elif isinstance(item, dict):
            if len(item) > budget:
                return True
            stack.extend(cast("dict[object, object]", item).values())
        elif isinstance(item, (list, tuple, set, frozenset)):
            if len(item) > budget:
                return True
            stack.extend(cast("list[object]", item))
        if budget <= 0:
            return True
    return False


# Tables


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of text with a line above and below; the same in a terminal and on a page.

    Attributes:
        headers: The heads of the columns.
        rows: Each as long as `headers`.
        title: A line above; may be empty.
        footer: A line below; may be empty.
    """

    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    title: str = ""
    footer: str = ""

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {_PLAIN: repr(self), "text/html": self.html()}

    def __repr__(self) -> str:
        lines = [self.title] if self.title else []
        if self.rows:
            lines.extend(_aligned([self.headers, *self.rows]))
        if self.footer:
            lines.append(self.footer)
        return "\n".join(lines)

    def html(self) -> str:
        """The table as HTML, every cell escaped."""
        parts = ['<div style="font-size: var(--jp-ui-font-size1, 13px)">']
        if self.title:
            parts.append(f'<div style="margin: 2px 0 4px">{escape(self.title)}</div>')
        if self.rows:
            head = "".join(f'<th style="{_LEFT}">{escape(h)}</th>' for h in self.headers)
            parts.append(f'<table style="margin: 0"><thead><tr>{head}</tr></thead><tbody>')
            for row in self.rows:
                cells = "".join(f'<td style="{_LEFT}">{escape(cell)}</td>' for cell in row)
                parts.append(f"<tr>{cells}</tr>")
            parts.append("</tbody></table>")
        if self.footer:
            parts.append(f'<div style="margin: 4px 0 2px">{escape(self.footer)}</div>')
        parts.append("</div>")
        return "".join(parts)


_LEFT = "text-align: left; vertical-align: top; white-space: pre-wrap"


def escape(text: str) -> str:
    """The text as HTML, with nothing in it that a page would take for markup."""
    return html.escape(text, quote=True)


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    flat = [[shorten(" ".join(cell.split()), _CELL_CHARS) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in flat) for i in range(len(flat[0]))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in flat
    ]


def shorten(text: str, chars: int) -> str:
    """The text, or its beginning with a sign that it goes on."""
    return text if len(text) <= chars else text[: chars - 1] + "…"


# Errors


class NitCellSyntaxError(NitError):
    """A `NitSyntaxError` as a cell raises it.

    IPython shows every `SyntaxError` in its own way, with frames of its own above it.
    """


NitCellSyntaxError.__name__ = NitCellSyntaxError.__qualname__ = "NitSyntaxError"


def error_lines(error: NitError, *, color: bool = True) -> list[str]:
    """The lines that a cell shows for an error: where, what, and what to do."""
    return placed(error.render(color=color)).splitlines()


def placed(text: str) -> str:
    """A rendered finding with the place as a person finds it in the cell."""
    return _PLACE.sub(rf'\1"{CELL_NAME}", line \2, column \3', text)


def raisable(error: NitError, *, render: Callable[[NitError], list[str]] = error_lines) -> NitError:
    """The error as a cell should raise it: it shows as exactly its lines."""
    if isinstance(error, SyntaxError):
        error = NitCellSyntaxError(
            error.message, code=error.code, hint=error.hint, diagnostics=error.diagnostics
        )
    lines = render(error)
    error._render_traceback_ = lambda: lines  # type: ignore[method-assign]
    return error
