"""What one cell of NIT shows while it runs and after it: its prints, and a panel of its tasks."""

from __future__ import annotations

import threading
import time
from collections import deque
from contextvars import copy_context
from typing import TYPE_CHECKING, NamedTuple

from nit_kernel.notebook.printing import PrintBudget, StreamName, write_through
from nit_kernel.notebook.rows import SHOWN_ROWS, Row, rows_html, rows_text
from nit_kernel.notebook.ticker import SHORTEST_S
from nit_kernel.runtime.output import SINK

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TextIO

    from nit_kernel.notebook.widgets import TaskPanel
    from nit_kernel.runtime.background import BackgroundTask
    from nit_kernel.runtime.run import Run


class Said(NamedTuple):
    """What a background task printed."""

    task: str
    stream: StreamName
    text: str


class CellView:
    """The rows, the panel and the prints of one cell.

    Events fill it from any thread. `draw` writes the page, on the kernel's loop or on the cell's
    own thread, in the context of the cell: so everything stands under the cell that it belongs to.

    Args:
        name: What the person calls the cell; may be empty.
        chars: Most characters that it shows.
        present: Shows a value, within so many characters.
        streams: The real standard streams of a kernel; what background tasks print is written to
            them. Without them (a terminal) it waits for `take_prints`.
        make_panel: Makes the panel, or `None` where there are no widgets.
    """

    def __init__(
        self,
        name: str,
        chars: int,
        *,
        present: Callable[[object, int], None],
        streams: Mapping[StreamName, TextIO] | None,
        make_panel: Callable[[CellView], TaskPanel] | None,
    ) -> None:
        self.name = name
        self.budget = PrintBudget(chars)
        self.thread = threading.get_ident()
        self.runs: list[Run] = []
        """The cell's script, and then those that its tools run."""
        self.is_over = False
        self._context = copy_context()
        self._context.run(SINK.set, None)
        self._present = present
        self._streams = streams
        self._make_panel = make_panel
        self._panel: TaskPanel | None = None
        self._rows: dict[int, Row] = {}
        self._prints: deque[Said] = deque()
        self._values: deque[object] = deque()
        self._lock = threading.Lock()
        self._is_changed = False
        self._drawn_at = 0.0

    # Filling it

    def add_task(self, task: BackgroundTask) -> Row:
        """The row of a background task."""
        return self._add(task.channel.key, Row(task.name, task=task, cancel=task.cancel))

    def add_call(self, key: int, tool: str, cancel: Callable[[], object] | None) -> Row:
        """The row of a call of the cell itself that has something to say."""
        return self._add(key, Row(tool, cancel=cancel))

    def row(self, key: int) -> Row | None:
        """The row of the call with this key, if it has one."""
        return self._rows.get(key)

    def end_calls(self) -> None:
        """The script has ended: no call of its own goes on."""
        for row in self.rows:
            if not row.follows_task and not row.is_final:
                row.end("cancelled")
        self._is_changed = True

    def change(self) -> None:
        """A row has news."""
        self._is_changed = True

    def print_now(self, text: str, stream: StreamName) -> None:
        """Print what the cell itself prints, on the thread that prints it."""
        shown = "" if self.is_over else self.budget.admit(text)
        if shown:
            write_through(shown, stream)

    def print_later(self, task: str, text: str, stream: StreamName) -> None:
        """Print what a background task prints, with the next drawing."""
        shown = self.budget.admit(text)
        if shown:
            with self._lock:
                self._prints.append(Said(task, stream, shown))

    def show(self, value: object) -> None:
        """Show a value that a tool displays: at once on the cell's own thread, else soon."""
        if threading.get_ident() == self.thread and not self.is_over:
            self._present(value, self.budget.left)
        else:
            with self._lock:
                self._values.append(value)

    # Looking at it

    @property
    def rows(self) -> list[Row]:
        """All rows, oldest first."""
        with self._lock:
            return list(self._rows.values())

    @property
    def shown_rows(self) -> list[Row]:
        """The rows that have a place on the panel."""
        return self.rows[:SHOWN_ROWS]

    @property
    def more(self) -> str:
        """One line on the rows that have no place of their own."""
        rest = self.rows[SHOWN_ROWS:]
        if not rest:
            return ""
        counts: dict[str, int] = {}
        for row in rest:
            counts[row.state] = counts.get(row.state, 0) + 1
        listed = ", ".join(f"{count} {state}" for state, count in counts.items())
        return f"and {len(rest)} more: {listed} (%nit tasks lists them)"

    @property
    def is_final(self) -> bool:
        """Whether all its rows have ended."""
        return all(row.is_final for row in self.rows)

    @property
    def is_live(self) -> bool:
        """Whether anything of it still runs or waits to be drawn."""
        waits = self._is_changed or bool(self._prints) or bool(self._values)
        return waits or not self.is_final

    def text(self) -> str:
        """The panel as text."""
        return rows_text(self.shown_rows, self.more)

    def html(self) -> str:
        """The panel as HTML."""
        return rows_html(self.shown_rows, self.more, self.name)

    # Drawing it

    def draw(self) -> None:
        """Write what has changed to the page."""
        self._context.run(self._draw_prints)
        self._context.run(self._draw_panel)

    def draw_prints(self) -> None:
        """Write what was printed and displayed, and leave the panel for `resend`."""
        self._context.run(self._draw_prints)

    def draw_if_due(self) -> None:
        """Draw, unless that was done a moment ago: for the cell's own thread while it is busy."""
        if time.monotonic() - self._drawn_at >= SHORTEST_S:
            self.draw()

    def finish(self) -> None:
        """The cell itself has ended: draw it all, and print the tail of what it printed."""
        self.draw()
        self.is_over = True
        if self.is_final:
            self._is_changed = True
            self.draw()
        tail = self.budget.close()
        if tail:
            write_through(tail, "stdout")

    def resend(self) -> None:
        """Show the panel as it is now in the cell that runs now, which is another one."""
        self._is_changed = True
        if self._panel is not None:
            self._panel.send_states()
        self._draw_panel(is_resent=True)

    def take_prints(self) -> list[Said]:
        """What background tasks printed and nobody has drawn."""
        with self._lock:
            prints = list(self._prints)
            self._prints.clear()
        return prints

    def _add(self, key: int, new: Row) -> Row:
        with self._lock:
            row = self._rows.setdefault(key, new)
            self._is_changed = True
        return row

    def _draw_prints(self) -> None:
        self._drawn_at = time.monotonic()
        if self._streams is not None:
            for said in self.take_prints():
                self._streams[said.stream].write(said.text)
        self._show_values()

    def _draw_panel(self, *, is_resent: bool = False) -> None:
        changed, self._is_changed = self._is_changed, False
        for row in self.rows:
            row.follow()
        if not self._rows or self._make_panel is None:
            return
        if self._panel is None:
            self._panel = self._make_panel(self)
            self._panel.show()
        elif changed or not self.is_final:
            self._panel.refresh()
        if is_resent or (changed and self.is_over and self.is_final):
            self._panel.update_bundle(is_final=self.is_final)

    def _show_values(self) -> None:
        while self._values and (self._streams is not None or not self.is_over):
            self._present(self._values.popleft(), self.budget.left)
