"""What `.name`, `[index]` and `[low:high]` read, and what they say where nothing is."""

import collections
import dataclasses
from typing import Any

import numpy as np
import pandas as pd
import pydantic
import pytest

from nit_kernel.config import Limits
from nit_kernel.language.paths import FIELD, INDEX, SLICE, AccessError, read_path

Point = collections.namedtuple("Point", "x y")


@dataclasses.dataclass
class User:
    name: str
    items: list[int]

    @property
    def secret(self) -> str:
        raise AssertionError("a property is no field")

    def method(self) -> str:
        raise AssertionError("a method is no field")


class Model(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="allow")
    name: str


class Plain:
    name = "hidden"


class Trap(dict[str, object]):
    @property
    def name(self) -> str:
        raise AssertionError("an attribute of a mapping is no key")


FRAME = pd.DataFrame({"city": ["Rome", "Oslo", "Bern"], "n": [1, 2, 3]})


def read(value: object, kind: int, key: object) -> object:
    result = read_path(value, kind, key)
    if isinstance(result, pd.DataFrame):
        return result.to_dict("records")
    if isinstance(result, pd.Series | np.ndarray):
        return result.tolist()
    return result.item() if isinstance(result, np.generic) else result


def fault(value: object, kind: int, key: object) -> tuple[str, str | None]:
    with pytest.raises(AccessError) as caught:
        read_path(value, kind, key)
    return caught.value.message, caught.value.hint


@pytest.mark.parametrize(
    ("value", "name", "result"),
    [
        ({"a": 1}, "a", 1),
        ({"items": 1, "keys": 2}, "items", 1),
        ({"items": 1, "keys": 2}, "keys", 2),
        ({"__class__": 3}, "__class__", 3),
        (Trap(name=4), "name", 4),
        (collections.OrderedDict(a=5), "a", 5),
        (User("Ann", [1]), "name", "Ann"),
        (User("Ann", [1]), "items", [1]),
        (Model(name="Ann", more=6), "name", "Ann"),
        (Model(name="Ann", more=6), "more", 6),
        (Point(1, 2), "y", 2),
        (FRAME, "city", ["Rome", "Oslo", "Bern"]),
        (pd.Series({"a": 7}), "a", 7),
    ],
)
def test_a_name_reads_a_key_field_or_column(value: object, name: str, result: object) -> None:
    assert read(value, FIELD, name) == result
    assert read(value, INDEX, name) == result


@pytest.mark.parametrize(
    ("value", "index", "result"),
    [
        ([1, 2, 3], 0, 1),
        ([1, 2, 3], -1, 3),
        ((1, 2), 1, 2),
        (Point(1, 2), 0, 1),
        ("日本", 1, "本"),
        (b"ab", 0, 97),
        ({1: "a"}, 1, "a"),
        ({2.5: "a"}, 2.5, "a"),
        (FRAME, 0, {"city": "Rome", "n": 1}),
        (FRAME, -1, {"city": "Bern", "n": 3}),
        (FRAME["city"], 1, "Oslo"),
        (np.array([4, 5]), 1, 5),
        ([1, 2], np.int64(1), 2),
    ],
)
def test_an_index_reads_an_item(value: object, index: object, result: object) -> None:
    assert read(value, INDEX, index) == result


@pytest.mark.parametrize(
    ("value", "bounds", "result"),
    [
        ("abcdef", (None, 3), "abc"),
        ("abcdef", (-2, None), "ef"),
        ("abc", (2, 99), "c"),
        ("abc", (5, 9), ""),
        ([1, 2, 3], (1, None), [2, 3]),
        ((1, 2, 3), (None, 2), [1, 2]),
        (b"abc", (1, 2), b"b"),
        (FRAME, (1, 2), [{"city": "Oslo", "n": 2}]),
        (FRAME["n"], (None, 2), [1, 2]),
        (np.array([1, 2, 3]), (1, None), [2, 3]),
        ([1, 2], (10**30, None), []),
    ],
)
def test_a_slice_reads_a_part_and_ends_as_in_python(
    value: object, bounds: object, result: object
) -> None:
    assert read(value, SLICE, bounds) == result


@pytest.mark.parametrize(
    "value", [Plain(), User("a", []), Model(name="a"), "text", [1], 5, len, Point]
)
@pytest.mark.parametrize(
    "name", ["__class__", "__dict__", "method", "secret", "model_dump", "upper", "append", "real"]
)
def test_attributes_and_methods_are_never_read(value: object, name: str) -> None:
    fault(value, FIELD, name)
    fault(value, INDEX, name)


def test_a_class_attribute_is_no_field() -> None:
    assert fault(Plain(), FIELD, "name") == (
        "`.name` reads fields of data, and this is an object: Plain",
        "pass it to a tool that returns what you need",
    )


@pytest.mark.parametrize(
    ("value", "kind", "key", "message", "hint"),
    [
        (
            {"name": 1, "age": 2},
            FIELD,
            "nmae",
            'there is no key "nmae"; it has "name", "age"',
            "did you mean `name`?",
        ),
        ({}, FIELD, "a", 'there is no key "a": the object is empty', None),
        ({"1": "a"}, INDEX, 1, 'there is no key 1; it has "1"', 'write `["1"]`'),
        ({1: "a"}, INDEX, "1", 'there is no key "1"; it has 1', "write `[1]`"),
        ([1, 2, 3], INDEX, 3, "there is no item 3: the list has 3 items (0 to 2)", None),
        ([1, 2, 3], INDEX, -4, "there is no item -4: the list has 3 items (0 to 2)", None),
        ([], INDEX, 0, "there is no item 0: the list is empty", None),
        ([1], INDEX, 1, "there is no item 1: the list has 1 item (only 0)", None),
        ("ab", INDEX, 9, "there is no item 9: the text has 2 characters (0 to 1)", None),
        (
            [1],
            INDEX,
            "0",
            'the list is indexed by an integer, not by "0"',
            "write the index without quotes: `[0]`",
        ),
        ([1], INDEX, 0.0, "the list is indexed by an integer, not by 0.0", "write `[0]`"),
        ([1], INDEX, True, "the list is indexed by an integer, not by true", None),
        (
            [{"url": 1}],
            FIELD,
            "url",
            "a list has no fields, so there is no `.url`",
            "take one item first: `[0].url`",
        ),
        (None, FIELD, "a", "the value is null, so there is no `.a`", None),
        (None, INDEX, 0, "the value is null, so it has no parts", None),
        ("text", FIELD, "a", 'text has no fields, so there is no `.a`: "text"', None),
        (5, FIELD, "a", "a number has no fields, so there is no `.a`: 5", None),
        (
            User("a", []),
            FIELD,
            "nam",
            'there is no field "nam"; it has "name", "items"',
            "did you mean `name`?",
        ),
        (FRAME, FIELD, "town", 'there is no column "town"; it has "city", "n"', None),
        (FRAME, INDEX, 7, "there is no item 7: the table has 3 rows (0 to 2)", None),
        (
            {"a": 1},
            SLICE,
            (0, 1),
            "only text, lists, bytes and tables have slices, not an object",
            'read a key: `["name"]`',
        ),
        ([1], SLICE, ("a", None), 'the ends of a slice are integers, not "a"', None),
        ([1], SLICE, (0, 1.0), "the ends of a slice are integers, not 1.0", "write 1"),
        ({"a": 1}, INDEX, [1], "a key is text or a number, not a list", None),
        (object(), INDEX, 0, "object has no parts to read by `[..]`", None),
    ],
)
def test_a_step_that_leads_nowhere_says_what_is_there(
    value: object, kind: int, key: object, message: str, hint: str | None
) -> None:
    assert fault(value, kind, key) == (message, hint)


def test_many_keys_are_not_all_listed() -> None:
    message, _ = fault({str(number): 0 for number in range(500)}, FIELD, "x")
    assert message.endswith('"10", "11" and 488 more')
    assert len(message) < 200


def test_reading_a_missing_key_makes_none() -> None:
    made: Any = collections.defaultdict(list)
    fault(made, FIELD, "a")
    assert dict(made) == {}


def test_a_slice_is_no_way_around_the_limits() -> None:
    with pytest.raises(AccessError) as caught:
        read_path([1] * 20, SLICE, (None, None), Limits(value_nodes=10))
    assert caught.value.message == "this slice would hold more than 10 items"
    assert caught.value.is_limit
    assert read_path([1] * 20, SLICE, (0, 10), Limits(value_nodes=10)) == [1] * 10
