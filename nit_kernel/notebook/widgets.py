"""The live panel: a table of tasks with a Cancel button beside each that still runs.

Core widgets only, so that every front end can draw it. A drawing is one message, however many rows
changed; the table is HTML in which every word is escaped. This module is imported when the first
panel is shown, because ipywidgets takes its time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from IPython.display import display
from ipywidgets import HTML, Button, DOMWidget, HBox, Layout, VBox

from nit_kernel.notebook.rows import ROW_HEIGHT_PX

if TYPE_CHECKING:
    from collections.abc import Callable

    from IPython.core.display_functions import DisplayHandle

    from nit_kernel.notebook.cell_view import CellView
    from nit_kernel.notebook.rows import Row

_BUTTON_PX = ROW_HEIGHT_PX - 4


class TaskPanel(HBox):
    """The rows of one cell on the page.

    ```
    show ──refresh, refresh, ..──> update_bundle
    a widget, and its rows as      only the rows, as HTML and text: what a saved notebook
    HTML and text besides          keeps needs no kernel of then
    ```

    Args:
        view: The cell whose rows it shows.
    """

    def __init__(self, view: CellView) -> None:
        self._view = view
        self._buttons: dict[Row, Button] = {}
        self._table = HTML(value=view.html(), layout=Layout(flex="1 1 auto", width="auto"))
        title_px = ROW_HEIGHT_PX if view.name else 0
        self._column = VBox(layout=Layout(flex="0 0 auto", margin=f"{title_px}px 0 0 0"))
        super().__init__(
            children=(self._table, self._column),
            layout=Layout(width="100%", align_items="flex-start", overflow="hidden"),
        )
        self._handle: DisplayHandle | None = None
        self._is_at_rest = False
        self._set_buttons()

    def show(self) -> None:
        """Put it on the page, under the cell that runs in this context."""
        self._handle = display(self, display_id=True)

    def refresh(self) -> None:
        """Draw the rows as they are now."""
        if not self._is_at_rest:
            self._table.value = self._view.html()
            self._set_buttons()

    def update_bundle(self, *, is_final: bool) -> None:
        """Make what a saved notebook keeps equal to what the page shows.

        Where nothing goes on, the rows take the place of the widget: its model ends with its
        kernel, and a page that is opened later would say that it was not found.
        """
        if self._handle is None:
            return
        if not is_final:
            self._handle.update(self)
            return
        self._handle.update(self._rows(), raw=True)
        if not self._is_at_rest:
            self._is_at_rest = True
            for widget in (*self._buttons.values(), self._column, self._table, self):
                _close(widget)
            self._buttons.clear()

    def send_states(self) -> None:
        """Send the state of every widget once more, for a page that has thrown it away."""
        if not self._is_at_rest:
            self._table.value = self._view.html()
            for widget in (self._table, self._column, *self._buttons.values(), self):
                widget.send_state()

    def _repr_mimebundle_(self, **arguments: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = super()._repr_mimebundle_(**arguments) or {}
        return {**bundle, **self._rows()}

    def _rows(self) -> dict[str, str]:
        return {"text/plain": self._view.text(), "text/html": self._view.html()}

    def _set_buttons(self) -> None:
        rows = self._view.shown_rows
        if all(row.is_final or row.cancel is None for row in rows):
            if self._column.children:
                self._column.children = ()
            return
        new = [row for row in rows if row not in self._buttons]
        for row in new:
            self._buttons[row] = _button(row)
        for row, button in self._buttons.items():
            if row.is_final and button.layout.visibility != "hidden":
                button.layout.visibility = "hidden"
        if new:
            self._column.children = tuple(self._buttons[row] for row in rows)


def _close(widget: DOMWidget) -> None:
    for part in (widget.layout, getattr(widget, "style", None), widget):
        if part is not None:
            part.close()


def _button(row: Row) -> Button:
    button = Button(
        description="Cancel",
        tooltip=f"Cancel {row.name}",
        layout=Layout(
            width="72px",
            height=f"{_BUTTON_PX}px",
            margin="2px 2px 2px 8px",
            visibility="hidden" if row.is_final or row.cancel is None else "visible",
        ),
    )
    button.on_click(_on_click(row))
    return button


def _on_click(row: Row) -> Callable[[Button], None]:
    def clicked(_: Button) -> None:
        # On some kernels this is a thread of a subshell: `cancel` may be called from any thread.
        cancel = row.cancel
        if cancel is not None:
            cancel()

    return clicked
