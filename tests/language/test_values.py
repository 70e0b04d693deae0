"""Kinds, sizes, previews and the JSON form of values."""

import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import json
import pathlib
import time
import uuid
from typing import Any

import numpy as np
import pandas as pd
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nit_kernel.config import Limits
from nit_kernel.language.values import (
    describe,
    json_text,
    kind_of,
    preview,
    shortened,
    size_of,
    survey,
    to_json,
)

Point = collections.namedtuple("Point", "x y")


class Colour(enum.Enum):
    RED = "red"


class Number(enum.IntEnum):
    ONE = 1


@dataclasses.dataclass
class User:
    name: str
    tags: list[str]


class Model(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="allow")
    name: str
    items: int = 3


def doubled(times: int) -> list[Any]:
    value: list[Any] = [1]
    for _ in range(times):
        value = [value, value]
    return value


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("a", "String"),
        (np.str_("a"), "String"),
        (1, "Number"),
        (1.5, "Number"),
        (np.int64(1), "Number"),
        (np.float32(1), "Number"),
        (Number.ONE, "Number"),
        (True, "Boolean"),
        (np.bool_(True), "Boolean"),
        (None, "Null"),
        ([], "List"),
        ((), "List"),
        ({}, "Object"),
        (Point(1, 2), "Object"),
        (User("a", []), "Object"),
        (Colour.RED, "Object"),
        (pd.DataFrame(), "Object"),
        (b"", "Object"),
        (decimal.Decimal(1), "Object"),
    ],
)
def test_a_value_has_a_kind(value: object, kind: str) -> None:
    assert kind_of(value) == kind


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a" * 12_345, "String, 12,345 chars"),
        ("a", "String, 1 char"),
        ([1, 2, 3], "List, 3 items"),
        ({"a": 1}, "Object, 1 key"),
        (User("a", []), "User, 2 fields"),
        (Point(1, 2), "Point, 2 fields"),
        (pd.DataFrame({"a": [1, 2, 3], "b": 0}), "DataFrame, 3 rows x 2 columns"),
        (pd.Series([1]), "Series, 1 row"),
        (np.zeros((224, 224, 3)), "ndarray, 224 x 224 x 3"),
        (b"x" * 1_400, "bytes, 1.4 kB"),
        (b"x" * 12, "bytes, 12 bytes"),
        (5, "Number"),
        (None, "Null"),
        (object(), "object"),
    ],
)
def test_a_value_is_described_by_kind_and_size(value: object, text: str) -> None:
    assert describe(value) == text


@pytest.mark.parametrize(
    ("value", "form"),
    [
        (float("nan"), "NaN"),
        (float("inf"), "Infinity"),
        (float("-inf"), "-Infinity"),
        ("ok \ud83d", "ok \ufffd"),
        ("\ud83d\ude00", "😀"),
        (datetime.datetime(2024, 3, 1, 10, tzinfo=datetime.UTC), "2024-03-01T10:00:00+00:00"),
        (datetime.date(2024, 3, 1), "2024-03-01"),
        (datetime.timedelta(days=1), "1 day, 0:00:00"),
        (pd.Timestamp("2024-03-01"), "2024-03-01T00:00:00"),
        (pd.NaT, "NaT"),
        (decimal.Decimal("1.10"), "1.10"),
        (fractions.Fraction(1, 3), "1/3"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (pathlib.PurePosixPath("/a/b"), "/a/b"),
        (1 + 2j, "(1+2j)"),
        (b"\x00\xff", "data:application/octet-stream;base64,AP8="),
        (memoryview(b"ab"), "data:application/octet-stream;base64,YWI="),
        (Colour.RED, "red"),
        (Number.ONE, 1),
        ((1, (2,)), [1, [2]]),
        ({3, 1, 2}, [1, 2, 3]),
        (range(3), [0, 1, 2]),
        (User("Ann", ["x"]), {"name": "Ann", "tags": ["x"]}),
        (Model(name="Ann", other=1), {"name": "Ann", "items": 3, "other": 1}),
        (Point(1, 2), {"x": 1, "y": 2}),
        (pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}), [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]),
        (pd.Series([1, 2]), [1, 2]),
        (np.array([[1, 2]]), [[1, 2]]),
        (np.int64(3), 3),
        (
            {7: "a", None: "b", True: "c", (1, 2): "d"},
            {"7": "a", "null": "b", "true": "c", "[1, 2]": "d"},
        ),
        ({1: "a", "1": "b"}, {"1": "a", "1 (2)": "b"}),
        (ValueError("no"), "<ValueError: no>"),
        (object(), "<object>"),
        (len, "<builtin_function_or_method>"),
    ],
)
def test_what_json_cannot_say_has_a_stand_in(value: object, form: object) -> None:
    result = to_json(value)
    assert (result, type(result)) == (form, type(form))
    json.dumps(result, allow_nan=False).encode("utf-8")


def test_an_integer_that_python_does_not_write_is_told_by_its_size() -> None:
    assert to_json([2**20_000, 10**4_000]) == ["<integer of 20,001 bits>", 10**4_000]
    assert preview(2**20_000) == '"<integer of 20,001 bits>"'


def test_a_value_inside_itself_is_a_cycle() -> None:
    circle: dict[str, object] = {}
    circle["me"] = circle
    user = User("a", [])
    user.tags = [user]  # pyright: ignore[reportAttributeAccessIssue]
    assert to_json(circle) == {"me": "<cycle>"}
    assert to_json(user) == {"name": "a", "tags": ["<cycle>"]}


def test_a_value_that_is_only_shared_is_no_cycle() -> None:
    part = [1]
    assert to_json([part, part]) == [[1], [1]]


@pytest.mark.parametrize(
    "value",
    [doubled(40), list(range(3_000_000)), "x" * 20_000_000, b"x" * 20_000_000, {"a": doubled(40)}],
)
def test_the_json_form_stays_within_the_limits(value: object) -> None:
    started = time.monotonic()
    text = json_text(value, Limits(value_nodes=10_000, value_bytes=100_000))
    assert len(text) < 1_000_000
    assert "left out" in text
    assert time.monotonic() - started < 10


def test_the_json_form_of_a_deep_value_ends_where_json_readers_would() -> None:
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    text = json_text(value)
    assert json.loads(text)
    assert "<list, 1 item, left out>" in text


class Rude:
    def __str__(self) -> str:
        raise RuntimeError("no text")

    __repr__ = __str__


def test_an_object_whose_text_raises_is_shown_by_its_type() -> None:
    assert preview(Rude()) == "<Rude>"
    assert json_text(Rude()) == '"<Rude>"'


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("abc", '"abc"'),
        ("a\nb", '"a\\nb"'),
        ([1, "x", None], '[1, "x", null]'),
        ({"a": {"b": True}}, '{"a": {"b": true}}'),
        ([], "[]"),
        ({}, "{}"),
        (object(), "<object object>"),
        (list(range(100)), "[0, 1, 2, 3, 4, 5, ... 93 more ..., 99]"),
        (b"ab" * 30, "<bytes, 60 bytes: 61 62 61 62 61 62 61 62 61 62>"),
    ],
)
def test_a_preview_is_like_json(value: object, text: str) -> None:
    assert preview(value, 40) == text


def test_a_preview_of_a_long_text_has_head_tail_and_what_is_left_out() -> None:
    text = preview("y\n" * 5_000_000 + "EXIT 7", 100)
    assert text.startswith('"y\\ny\\n')
    assert text.endswith('EXIT 7"')
    assert "9,999,908 chars left out" in text
    assert len(text) < 300


def test_a_preview_of_a_table_shows_its_first_and_last_rows() -> None:
    frame = pd.DataFrame({"n": range(1_000)})
    assert preview(frame, 100) == '[{"n": 0}, {"n": 1}, {"n": 2}, ... 996 more ..., {"n": 999}]'


@pytest.mark.parametrize(
    "value",
    [
        doubled(40),
        list(range(10**6)),
        {str(number): [number] * 100 for number in range(10_000)},
        "é" * 10**6,
        np.zeros((1_000, 1_000)),
        [["x" * 10**6] * 10] * 10,
    ],
)
def test_a_preview_costs_what_its_length_costs(value: object) -> None:
    started = time.monotonic()
    for chars in (20, 200, 2_000):
        assert len(preview(value, chars)) <= 2 * chars + 60
    assert time.monotonic() - started < 5


def test_a_letter_is_never_cut() -> None:
    combined = "e\u0301" * 100
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467" * 30
    for text in (combined, family):
        for chars in range(10, 40):
            head, _, rest = shortened(text, chars).partition("... ")
            tail = rest.partition(" ...")[2]
            assert text.startswith(head)
            assert text.endswith(tail)
            for part in (text[len(head) :], tail):
                assert part == "" or part[0] not in "\u0301\u200d"
            assert not head.endswith("\u200d")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner),
        max_leaves=30,
    )
)
def test_every_value_has_strict_json_a_preview_and_a_size(value: object) -> None:
    json.loads(json_text(value), parse_constant=lambda name: pytest.fail(name))
    preview(value, 50).encode("utf-8")
    assert isinstance(size_of(value), str)
    assert survey(value, most_nodes=10_000).nodes >= 1


def test_sharing_is_measured_as_if_written_out() -> None:
    assert survey(doubled(3), most_nodes=10**6).nodes == 2**4 - 1 + 2**3
    assert survey(doubled(40), most_nodes=10**6).nodes > 10**6
