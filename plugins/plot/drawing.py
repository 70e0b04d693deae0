"""Drawing a chart: a figure of its own, a canvas of its own, no `pyplot`."""

from __future__ import annotations

import io
import math
import threading
import warnings
from typing import TYPE_CHECKING, Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from .columns import as_dates, columns_of, is_numeric, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .columns import Columns

_MAX_LABELS = 40
_MAX_SERIES = 20
_MAX_SLICES = 12
_BINS = 30
_MAX_TEXT = 200
# The caches of fonts and of mathematical text are one for all figures.
_DRAWING = threading.Lock()

# Families that have Chinese, Japanese and Korean characters, as far as they are installed.
_WIDE_FAMILIES = (
    *("Noto Sans CJK SC", "Noto Sans SC", "Source Han Sans SC", "WenQuanYi Micro Hei"),
    *("WenQuanYi Zen Hei", "Microsoft YaHei", "PingFang SC", "Heiti SC", "SimHei"),
    *("Hiragino Sans", "Yu Gothic", "Malgun Gothic", "Droid Sans Fallback", "Arial Unicode MS"),
)


class Chart:
    """A drawn chart: shows as a picture in a notebook, and as one line elsewhere.

    Attributes:
        figure: The matplotlib figure, to change it further.
        png: The picture.
    """

    def __init__(self, figure: Figure, png: bytes, caption: str) -> None:
        self.figure = figure
        self.png = png
        self.caption = caption

    def _repr_png_(self) -> bytes:
        return self.png

    def __repr__(self) -> str:
        return f"<Chart: {self.caption}>"


def draw(
    table: object, x: str | None, y: str | list[str] | None, *, kind: str, title: str | None
) -> Chart:
    """Draw a chart.

    Raises:
        TypeError: The table is none.
        ValueError: It has no such column, or none to draw.
    """
    columns, index = columns_of(table)
    across, up = _chosen(columns, index, x, y, kind)
    with _DRAWING, warnings.catch_warnings():
        # A character that no installed font has is drawn as a box.
        warnings.filterwarnings("ignore", message=".*[Gg]lyph.*")
        figure = Figure(figsize=(8, 4.5), dpi=110, layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        _KINDS[kind](axes, columns, across, up)
        if title:
            axes.set_title(_plain(title))
        _finish(figure)
        png = io.BytesIO()
        figure.savefig(png, format="png")
    rows = len(next(iter(columns.values())))
    caption = f"{kind} of {', '.join(up)}" + (f" by {across}" if across else "")
    return Chart(figure, png.getvalue(), f"{caption}, {rows:,} rows")


def _chosen(
    columns: Columns, index: str | None, x: str | None, y: str | list[str] | None, kind: str
) -> tuple[str | None, list[str]]:
    """The column across and the columns up; what was not said is chosen."""
    for name in [x, *([y] if isinstance(y, str) else y or [])]:
        if name is not None and name not in columns:
            raise ValueError(f"there is no column `{name}`; there are {', '.join(columns)}")
    numeric = [name for name, column in columns.items() if is_numeric(column)]
    up = [y] if isinstance(y, str) else list(y or ())
    across = x or (None if kind == "hist" else _across(columns, index, numeric, up))
    up = up or [name for name in numeric if name != across]
    if not up:
        raise ValueError(f"there is no column of numbers to draw; there are {', '.join(columns)}")
    for name in up:
        if name not in numeric:
            raise ValueError(f"the column `{name}` holds no numbers")
    if len(up) > _MAX_SERIES:
        raise ValueError(f"{len(up)} columns are too many for one chart: name some in y")
    return across, up


def _across(columns: Columns, index: str | None, numeric: list[str], up: list[str]) -> str | None:
    """The column across where nobody said: the index, the first of no numbers, the first."""
    if index is not None and index not in up:
        return index
    free = [name for name in columns if name not in up]
    labels = [name for name in free if name not in numeric]
    if not labels and not up and len(free) < 2:
        return None
    return next(iter(labels or free), None)


def _line(axes: Axes, columns: Columns, across: str | None, up: list[str]) -> None:
    places = _places(axes, columns, across, len(columns[up[0]]))
    for name in up:
        axes.plot(places, _numbers(columns[name]), marker=_marker(places))
    _label(axes, across, up)


def _area(axes: Axes, columns: Columns, across: str | None, up: list[str]) -> None:
    places = _places(axes, columns, across, len(columns[up[0]]))
    stacked = [[0.0 if math.isnan(n) else n for n in _numbers(columns[name])] for name in up]
    axes.stackplot(places, *stacked, alpha=0.8)
    _label(axes, across, up)


def _scatter(axes: Axes, columns: Columns, across: str | None, up: list[str]) -> None:
    places = _places(axes, columns, across, len(columns[up[0]]))
    for name in up:
        axes.scatter(places, _numbers(columns[name]), s=18)
    _label(axes, across, up)


def _bar(axes: Axes, columns: Columns, across: str | None, up: list[str]) -> None:
    count = len(columns[up[0]])
    names = [_plain(_short(value)) for value in columns[across]] if across else None
    width = 0.8 / len(up)
    for number_of, name in enumerate(up):
        shift = (number_of - (len(up) - 1) / 2) * width
        places = [place + shift for place in range(count)]
        axes.bar(places, _numbers(columns[name]), width)
    if names is not None:
        _ticks(axes, names)
    _label(axes, across, up)


def _hist(axes: Axes, columns: Columns, across: str | None, up: list[str]) -> None:
    del across
    for name in up:
        finite = [n for n in _numbers(columns[name]) if math.isfinite(n)]
        if not finite:
            raise ValueError(f"the column `{name}` holds no numbers")
        axes.hist(finite, bins=_BINS, alpha=0.7)
    axes.set_ylabel("count")
    axes.set_xlabel(_plain(up[0]) if len(up) == 1 else "")
    if len(up) > 1:
        _legend(axes, up)


def _pie(axes: Axes, columns: Columns, across: str | None, up: list[str]) -> None:
    if len(up) > 1:
        raise ValueError("a pie shows one column: name it in y")
    sizes = [0.0 if not math.isfinite(n) else n for n in _numbers(columns[up[0]])]
    if min(sizes) < 0 or not sum(sizes):
        raise ValueError(f"a pie needs numbers above zero in `{up[0]}`")
    names = [_short(value) for value in columns[across]] if across else [""] * len(sizes)
    slices = sorted(zip(sizes, names, strict=True), reverse=True)
    if len(slices) > _MAX_SLICES:
        rest = slices[_MAX_SLICES - 1 :]
        slices = [*slices[: _MAX_SLICES - 1], (sum(s for s, _ in rest), f"{len(rest)} others")]
    axes.pie([s for s, _ in slices], labels=[_plain(n) for _, n in slices], autopct="%1.0f%%")


_KINDS = {
    "line": _line,
    "bar": _bar,
    "scatter": _scatter,
    "area": _area,
    "hist": _hist,
    "pie": _pie,
}


def _places(axes: Axes, columns: Columns, across: str | None, count: int) -> list[Any]:
    """Where the points stand across: numbers, dates, or one after the other under their names."""
    if across is None:
        return list(range(count))
    column = columns[across]
    if is_numeric(column):
        return _numbers(column)
    dates = as_dates(column)
    if dates is not None:
        # matplotlib knows no missing date: not-a-number stands for it.
        from matplotlib.dates import date2num

        axes.xaxis_date()
        return [math.nan if date is None else float(date2num(date)) for date in dates]
    _ticks(axes, [_plain(_short(value)) for value in column])
    return list(range(count))


def _ticks(axes: Axes, names: list[str]) -> None:
    step = max(1, math.ceil(len(names) / _MAX_LABELS))
    places = range(0, len(names), step)
    crowded = sum(len(names[place]) for place in places) > 2 * _MAX_LABELS
    axes.set_xticks(list(places), [names[place] for place in places], rotation=45 if crowded else 0)
    if crowded:
        for text in axes.get_xticklabels():
            text.set_horizontalalignment("right")


def _label(axes: Axes, across: str | None, up: list[str]) -> None:
    if across is not None:
        axes.set_xlabel(_plain(across))
    if len(up) == 1:
        axes.set_ylabel(_plain(up[0]))
    else:
        _legend(axes, up)
    axes.grid(visible=True, alpha=0.3)


def _legend(axes: Axes, up: list[str]) -> None:
    # Labels are given here: one that begins with `_` would hide what it belongs to.
    handles = [*axes.lines, *axes.collections, *axes.containers]
    axes.legend(handles[: len(up)], [_plain(name) for name in up])


def _marker(places: list[Any]) -> str | None:
    return "o" if len(places) == 1 else None


def _finish(figure: Figure) -> None:
    from matplotlib.font_manager import fontManager
    from matplotlib.text import Text

    for axes in figure.axes:
        for label in axes.get_xticklabels():
            if axes.xaxis.get_major_formatter().__class__.__name__ == "AutoDateFormatter":
                label.set_rotation(30)
    installed = {font.name for font in fontManager.ttflist}
    families = ["DejaVu Sans", *(name for name in _WIDE_FAMILIES if name in installed)]
    for text in figure.findobj(Text):
        text.set_fontfamily(families)


def _numbers(column: list[Any]) -> list[float]:
    return [math.nan if (n := number(value)) is None else n for value in column]


def _short(value: object) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= _MAX_TEXT else f"{text[: _MAX_TEXT - 1]}…"


def _plain(text: str) -> str:
    """Text that matplotlib does not take for mathematics (`$..$`)."""
    return text.replace("$", r"\$")
