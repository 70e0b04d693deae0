"""A row of the live panel: one background task, or one call of the cell that has something to say.

The same rows are drawn three times: on the live page, in the HTML that a saved notebook keeps, and
as text. Every word that comes from a tool is escaped.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Literal, TypeAlias

from nit_kernel.notebook.display import escape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from nit_kernel.runtime.background import BackgroundTask

RowState: TypeAlias = Literal["waiting", "running", "done", "failed", "cancelled"]

SHOWN_ROWS = 20
"""Most rows of one panel; what is beyond is counted in one line."""

ROW_HEIGHT_PX = 28

_STUBBORN = "its thread cannot be stopped and still runs; its result is thrown away"
_NOTE_CHARS = 200
_NAME_CHARS = 60


class Row:
    """What is known of one task or call. Written from any thread, read on the kernel's loop.

    Args:
        name: The name of the task, or of the tool.
        task: The background task; `None` for a call of the cell itself.
        cancel: Stops it, from any thread; `None` where a button could not.
    """

    __slots__ = (
        "_ended_at",
        "_error",
        "_started_at",
        "_state",
        "_task",
        "cancel",
        "fraction",
        "name",
        "note",
    )

    def __init__(
        self,
        name: str,
        *,
        task: BackgroundTask | None = None,
        cancel: Callable[[], object] | None = None,
    ) -> None:
        self.name = name
        self.cancel = cancel
        self.fraction: float | None = None
        self.note = ""
        """What it said last: a message of its progress, or a line of its log."""
        self._task = task
        self._error = ""
        self._state: RowState = "waiting" if task is not None else "running"
        self._started_at: float | None = None if task is not None else time.perf_counter()
        self._ended_at: float | None = None

    def follow(self) -> None:
        """Read how the task stands now; one that has ended is let go, with the value it holds."""
        task = self._task
        if task is None:
            return
        self._started_at, self._ended_at = task.started_at, task.ended_at
        self._state = task.state
        if task.error is not None and task.state == "failed":
            self._error = task.error.message
        self._error = _STUBBORN if task.thread_runs_on else self._error
        if task.done and not task.thread_runs_on:
            self._error = "" if self._error == _STUBBORN else self._error
            self._task = self.cancel = None

    def end(self, state: RowState, error: str = "") -> None:
        """A call of the cell ended."""
        self._state = state
        self._error = error
        self._ended_at = time.perf_counter()
        self.cancel = None

    def say(self, text: str) -> None:
        """Take the last line of what was said."""
        lines = [line for line in _without_controls(text[-4 * _NOTE_CHARS :]).split("\n") if line]
        if lines:
            self.note = lines[-1].strip()[:_NOTE_CHARS]

    @property
    def follows_task(self) -> bool:
        """Whether it stands for a background task that may still change."""
        return self._task is not None

    @property
    def state(self) -> RowState:
        """How it stands."""
        return self._state

    @property
    def is_final(self) -> bool:
        """Whether it has ended."""
        return self._ended_at is not None

    @property
    def seconds(self) -> float:
        """How long it has run."""
        if self._started_at is None:
            return 0.0
        return (self._ended_at or time.perf_counter()) - self._started_at

    @property
    def percent(self) -> str:
        """How far it is, or nothing where that is not known."""
        return "" if self.fraction is None else f"{_percent(self)}%"

    @property
    def remark(self) -> str:
        """The line beside its state: why it failed, or what it said last."""
        return _without_controls(self._error)[:_NOTE_CHARS] or self.note


def rows_text(rows: Iterable[Row], more: str = "") -> str:
    """The rows as text."""
    lines = []
    for row in rows:
        name, time_ = row.name[:_NAME_CHARS], _time(row)
        lines.append(
            f"{name:<16} {row.state:<9} {time_:>7} {row.percent:>4}  {row.remark}".rstrip()
        )
    if more:
        lines.append(more)
    return "\n".join(lines)


def rows_html(rows: Iterable[Row], more: str = "", title: str = "") -> str:
    """The rows as HTML with a fixed height each, so that buttons can stand beside them."""
    parts = [f'<div style="{_PANEL}">']
    if title:
        parts.append(f'<div style="{_TITLE}">{escape(title)}</div>')
    parts.extend(_row_html(row) for row in rows)
    if more:
        parts.append(f'<div style="grid-column:1 / -1;color:{_DIM}">{escape(more)}</div>')
    parts.append("</div>")
    return "".join(parts)


def _row_html(row: Row) -> str:
    mark, color = _MARKS[row.state]
    name, remark = escape(row.name[:_NAME_CHARS]), escape(row.remark)
    # A blank between the cells: a page that drops the styles still shows words.
    cells = (
        f'<span style="color:{color};font-weight:600">{mark}</span>',
        f'<span style="{_NAME}" title="{escape(row.name)}">{name}</span>',
        f'<span style="color:{color}">{row.state}</span>',
        f'<span style="{_NUMBER}">{_time(row)}</span>',
        f'<span style="display:flex;align-items:center">{_bar(row, color)}</span>',
        f'<span style="{_NUMBER}">{row.percent}</span>',
        f'<span style="{_CUT};color:{_DIM}" title="{remark}">{remark}</span>',
    )
    return f'<div style="display:contents">{" ".join(cells)}</div>'


_DIM = "var(--jp-ui-font-color2, #777)"
_MARKS: dict[RowState, tuple[str, str]] = {
    "waiting": ("○", _DIM),
    "running": ("●", "var(--jp-brand-color1, #1976d2)"),
    "done": ("✓", "var(--jp-success-color1, #2e7d32)"),
    "failed": ("✗", "var(--jp-error-color1, #c62828)"),
    "cancelled": ("⊘", _DIM),
}
_PANEL = (
    "padding-left:8px;display:grid;column-gap:.9em;align-items:center;"
    "grid-template-columns:1em fit-content(18em) max-content max-content max-content max-content "
    "minmax(0,1fr);"
    f"grid-auto-rows:{ROW_HEIGHT_PX}px;line-height:{ROW_HEIGHT_PX}px;"
    "font-family:var(--jp-ui-font-family, sans-serif);font-size:var(--jp-ui-font-size1, 13px);"
    "color:var(--jp-ui-font-color1, inherit)"
)
_TITLE = "grid-column:1 / -1;font-weight:600;overflow:hidden;text-overflow:ellipsis"
_CUT = "overflow:hidden;text-overflow:ellipsis;white-space:nowrap"
_NAME = f"{_CUT};font-family:var(--jp-code-font-family, monospace)"
_NUMBER = "text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums"
_TRACK = (
    "display:block;width:110px;height:6px;border-radius:3px;overflow:hidden;"
    "background:var(--jp-layout-color3, #ddd)"
)


def _bar(row: Row, color: str) -> str:
    if row.fraction is None:
        return ""
    percent = _percent(row)
    fill = f"display:block;height:100%;width:{percent}%;background:{color}"
    return (
        f'<span style="{_TRACK}" role="progressbar" aria-valuenow="{percent}">'
        f'<span style="{fill}"></span></span>'
    )


def _percent(row: Row) -> int:
    fraction = row.fraction or 0.0
    return round(100 * min(max(fraction, 0.0), 1.0)) if fraction == fraction else 0


def _time(row: Row) -> str:
    if row.state == "waiting":
        return ""
    seconds = row.seconds
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _without_controls(text: str) -> str:
    """Drop colour codes and other control characters; line ends stay."""
    pieces = text.replace("\r\n", "\n").replace("\r", "\n").split("\x1b[")
    plain = pieces[0] + "".join(piece.lstrip("0123456789;?")[1:] for piece in pieces[1:])
    return "".join(c for c in plain if c == "\n" or c.isprintable() or c == "\t").replace("\t", " ")
