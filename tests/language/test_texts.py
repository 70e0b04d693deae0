"""The text of a reference in an f-string."""

import collections
import dataclasses
import datetime
import decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nit_kernel.config import Limits
from nit_kernel.language.texts import TextError, format_text, text_of


@dataclasses.dataclass
class User:
    name: str


class Loud:
    def __format__(self, spec: str) -> str:
        raise AssertionError("formatting must not run an object's code")

    def __str__(self) -> str:
        return "{0.__class__}"


def doubled(times: int) -> list[Any]:
    value: list[Any] = ["xxxxxxxx"]
    for _ in range(times):
        value = [value, value]
    return value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is {x} %s", "as it is {x} %s"),
        (None, "null"),
        (True, "true"),
        (7, "7"),
        (1.5, "1.5"),
        (1e23, "1e+23"),
        (float("nan"), "NaN"),
        ([1, None, "é"], '[1, null, "é"]'),
        ((1, 2), "[1, 2]"),
        ({"a": {"b": True}}, '{"a": {"b": true}}'),
        ({1: "x"}, '{"1": "x"}'),
        (User("Ann"), '{"name": "Ann"}'),
        (np.int64(5), "5"),
        (datetime.date(2024, 1, 2), "2024-01-02"),
        (decimal.Decimal("1.10"), "1.10"),
        (pd.DataFrame({"a": [1]}), "   a\n0  1"),
        (Loud(), "{0.__class__}"),
    ],
)
def test_a_value_stands_as_itself_as_json_or_as_python_shows_it(value: object, text: str) -> None:
    assert format_text(value, None, None) == text
    assert text_of(value) == text


@pytest.mark.parametrize(
    ("value", "conversion", "spec", "text"),
    [
        ("abc", None, ">5", "  abc"),
        ("abc", None, ".2", "ab"),
        (5, None, "05d", "00005"),
        (1234567, None, ",", "1,234,567"),
        (2.5, None, ".2f", "2.50"),
        (np.float64(2.5), None, ".1f", "2.5"),
        (True, None, ">6", "  true"),
        (None, None, "<6", "null  "),
        ([1, 2], None, ">8", "  [1, 2]"),
        (Loud(), None, ">15", "  {0.__class__}"),
        ("a'b", "r", None, '"a\'b"'),
        (True, "s", None, "True"),
        ([1, "a"], "r", None, "[1, 'a']"),
        (5, "s", ">3", "  5"),
        (datetime.date(2024, 1, 2), None, ">12", "  2024-01-02"),
    ],
)
def test_conversions_and_specs_are_those_of_python(
    value: object, conversion: str | None, spec: str | None, text: str
) -> None:
    assert format_text(value, conversion, spec) == text


@pytest.mark.parametrize(
    ("value", "spec", "message", "is_limit"),
    [
        ("abc", "d", 'the format spec `d` does not suit a string: "abc"', False),
        (1.5, "x", "the format spec `x` does not suit a number: 1.5", False),
        ([1], "d", 'the format spec `d` does not suit a string: "[1]"', False),
        (Loud(), "%Y", 'the format spec `%Y` does not suit a string: "{0.__class__}"', False),
        (5, "10001", "the format spec `10001` asks for more than 10,000 characters", True),
        (1.5, ".99999f", "the format spec `.99999f` asks for more than 10,000 characters", True),
        (5, "9" * 5_000, "asks for more than 10,000 characters", True),
    ],
)
def test_a_spec_that_does_not_suit_is_an_error(
    value: object, spec: str, message: str, is_limit: bool
) -> None:
    with pytest.raises(TextError) as caught:
        format_text(value, None, spec)
    assert caught.value.message.endswith(message)
    assert caught.value.is_limit is is_limit


def test_the_widest_spec_is_taken() -> None:
    assert len(format_text("a", None, ">10000")) == 10_000


def deep() -> list[Any]:
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    return value


def cyclic() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


@pytest.mark.parametrize("conversion", [None, "r", "s"])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (doubled(40), "the text would hold more than 1,000,000 values"),
        (cyclic(), "a value that holds itself has no text"),
        (deep(), "a value that nests more than 200 levels deep has no text"),
        (["x" * 1_000_000] * 20, "the text would be longer than 10,000,000 bytes"),
        (collections.OrderedDict(a=doubled(40)), "the text would hold more than 1,000,000 values"),
    ],
)
def test_a_text_that_would_be_endless_is_a_limit_error(
    value: object, conversion: str | None, message: str
) -> None:
    with pytest.raises(TextError) as caught:
        format_text(value, conversion, None)
    assert (caught.value.message, caught.value.is_limit) == (message, True)


@pytest.mark.parametrize("conversion", [None, "r", "s"])
def test_an_integer_that_python_does_not_write_has_no_text(conversion: str | None) -> None:
    with pytest.raises(TextError) as caught:
        format_text(2**20_000, conversion, None)
    assert caught.value.is_limit
    assert format_text([2**20_000], None, None) == '["<integer of 20,001 bits>"]'


def test_the_limits_are_the_sessions() -> None:
    with pytest.raises(TextError):
        format_text([1] * 20, None, None, Limits(value_nodes=10))
    with pytest.raises(TextError):
        format_text({"a": "x" * 20}, None, None, Limits(value_bytes=10))


@given(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.integers()),
    st.sampled_from([None, "r", "s"]),
    st.text(alphabet="<>=^+- #0123456789,_.bdeEfFgGnosxX%c", max_size=5),
)
def test_any_spec_gives_text_or_a_clear_error(
    value: object, conversion: str | None, spec: str
) -> None:
    try:
        assert isinstance(format_text(value, conversion, spec), str)
    except TextError as error:
        assert error.message
