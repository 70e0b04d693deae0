"""The plot plugin: a picture of a table, whatever its texts, and no state left behind."""

import struct
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pandas as pd
import pytest
from plugins.shipped import function_of, load_shipped

chart = function_of(load_shipped("plot"), "chart")

DAYS = pd.DataFrame(
    {
        "day": pd.date_range("2026-01-01", periods=30),
        "a": range(30),
        "b": [number * number % 17 for number in range(30)],
    }
)


def size_of(png: bytes) -> tuple[int, int]:
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", png[16:24])
    return width, height


@pytest.mark.parametrize(
    ("arguments", "caption"),
    [
        ({"table": DAYS}, "line of a, b by day, 30 rows"),
        ({"table": DAYS, "kind": "area"}, "area of a, b by day, 30 rows"),
        ({"table": DAYS, "kind": "bar", "y": "a"}, "bar of a by day, 30 rows"),
        ({"table": DAYS, "kind": "scatter", "x": "a", "y": ["b"]}, "scatter of b by a, 30 rows"),
        ({"table": DAYS, "kind": "hist"}, "hist of a, b, 30 rows"),
        ({"table": DAYS.head(3), "kind": "pie", "y": "b"}, "pie of b by day, 3 rows"),
        ({"table": DAYS["a"]}, "line of a, 30 rows"),
        ({"table": DAYS.groupby("b")[["a"]].sum()}, "line of a by b, 9 rows"),
        ({"table": [{"n": 2001, "v": 3}, {"n": 2002, "v": 5}]}, "line of v by n, 2 rows"),
        ({"table": [{"d": "2026-05-01", "v": 3}, {"d": None, "v": 5}]}, "line of v by d, 2 rows"),
        ({"table": {"x": [1, 2], "y": [3, 4]}}, "line of y by x, 2 rows"),
        ({"table": {"north": 5, "south": 7}, "kind": "bar"}, "bar of value by name, 2 rows"),
        ({"table": [3, 1, 2]}, "line of value, 3 rows"),
        ({"table": [[1, 2], [3, 4]]}, "line of column1 by column0, 2 rows"),
        ({"table": [{"a": 1}, {"b": 2}], "y": ["a", "b"]}, "line of a, b, 2 rows"),
        ({"table": [1, None, float("inf"), 10**400]}, "line of value, 4 rows"),
        (
            {"table": [{"k": f"name {n}", "v": n} for n in range(500)], "kind": "bar"},
            "bar of v by k, 500 rows",
        ),
    ],
)
def test_a_table_becomes_a_picture(arguments: dict[str, Any], caption: str) -> None:
    result = chart(**arguments)
    assert repr(result) == f"<Chart: {caption}>"
    width, height = size_of(result._repr_png_())
    assert 600 < width < 1200
    assert 300 < height < 700


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"table": []}, ValueError, "the table has no rows"),
        ({"table": {"a": []}}, ValueError, "the table has no rows"),
        ({"table": "text"}, TypeError, "wanted a table, got str"),
        ({"table": 5}, TypeError, "wanted a table, got int"),
        ({"table": [{"a": "x"}]}, ValueError, "no column of numbers to draw; there are a"),
        ({"table": DAYS, "x": "dya"}, ValueError, "no column `dya`; there are day, a, b"),
        ({"table": DAYS, "y": "day"}, ValueError, "the column `day` holds no numbers"),
        ({"table": DAYS, "kind": "pie", "y": ["a", "b"]}, ValueError, "a pie shows one column"),
        ({"table": [-1, 2], "kind": "pie"}, ValueError, "a pie needs numbers above zero"),
        ({"table": [1] * 200_001}, ValueError, "more than 200,000: group it first"),
        ({"table": [list(range(50))] * 2}, ValueError, "49 columns are too many for one chart"),
    ],
)
def test_what_cannot_be_drawn_says_why(
    arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        chart(**arguments)


def test_no_text_is_taken_for_mathematics_or_hidden() -> None:
    odd = [
        {"$x_{": "costs $5 and $6", "_y": 1, "_z": 3},
        {"$x_{": "\\frac{$", "_y": 2, "_z": 4},
        {"$x_{": "<b>&amp;</b>\n\t", "_y": 2, "_z": 5},
    ]
    result = chart(table=odd, kind="bar", title="$\\alpha^{ of $ 中文 \0")
    axes = result.figure.axes[0]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["_y", "_z"]
    assert axes.get_xlabel() == "\\$x_{"
    size_of(result.png)


def test_a_title_with_characters_of_no_font_gives_no_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        size_of(chart(table=[1, 2], title="𒀀 世界 🎉").png)


def test_charts_can_be_drawn_at_the_same_time_and_leave_no_global_figure() -> None:
    with ThreadPoolExecutor(4) as pool:
        charts = list(pool.map(lambda n: chart(table=DAYS, title=f"chart {n}"), range(8)))
    assert [c.figure.axes[0].get_title() for c in charts] == [f"chart {n}" for n in range(8)]
    pyplot = sys.modules.get("matplotlib.pyplot")
    assert pyplot is None or pyplot.get_fignums() == []
