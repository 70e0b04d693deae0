"""What pydantic's hints give a tool: defaults in its schema, and errors with their place."""

import dataclasses
import datetime
import enum
import math
from pathlib import Path
from typing import Any

import pytest

import nit_kernel as nit
from nit_kernel.sources.functions import tool_of


class Colour(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Point:
    x: int = 1


@pytest.mark.parametrize(
    ("hint", "default", "written"),
    [
        (datetime.date, datetime.date(2024, 3, 1), "2024-03-01"),
        (datetime.timedelta, datetime.timedelta(minutes=5), "PT5M"),
        (Path, Path("a"), "a"),
        (Colour, Colour.RED, "red"),
        (Colour | None, None, None),
        (Point, Point(2), {"x": 2}),
        (list[Colour], [Colour.RED], ["red"]),
        (dict[int, str], {1: "a"}, {"1": "a"}),
    ],
)
def test_a_default_that_json_can_write_is_in_the_schema(
    hint: Any, default: object, written: object
) -> None:
    def keep(p: hint = default) -> object:
        return p

    tool = tool_of(keep)
    assert tool.spec.parameters["properties"]["p"]["default"] == written
    with nit.Session(tools=[keep]) as session:
        assert session.run("keep()", check=True).value is default


@pytest.mark.parametrize(
    ("hint", "default"),
    [
        (str, object()),
        (float, math.inf),
        (set[str], {"a", "b"}),
        (Path, object()),
        (bytes, b"\xff"),
    ],
)
def test_a_default_that_json_cannot_write_is_left_out(hint: Any, default: object) -> None:
    def keep(p: hint = default) -> object:
        return p

    assert "default" not in tool_of(keep).spec.parameters["properties"]["p"]


@pytest.mark.parametrize(
    ("literal", "start"),
    [
        ('x={a: "x"}', "x.a, the key: Input should be a valid integer"),
        ('x={1: "x"}, y=[{b: 1}]', "y[0].b, the key: Input should be a valid integer"),
        ('x={"a b": "x"}', 'x["a b"], the key: Input should be a valid integer'),
    ],
)
def test_a_key_that_is_wrong_is_told_by_its_place(literal: str, start: str) -> None:
    def keep(x: dict[int, str], y: list[dict[int, int]] | None = None) -> None:
        raise AssertionError(x, y)

    with nit.Session(tools=[keep]) as session:
        error = session.run(f"keep({literal})").error
    assert error is not None
    assert error.message.startswith(start)
