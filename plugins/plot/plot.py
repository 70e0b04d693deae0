"""Charts of tables, drawn without any global state of matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .drawing import Chart


def chart(
    table: object,
    x: str | None = None,
    y: str | list[str] | None = None,
    kind: str = "line",
    title: str | None = None,
) -> Chart:
    """Return a chart that shows itself in a notebook."""
    from .drawing import draw

    return draw(table, x, y, kind=kind, title=title)
