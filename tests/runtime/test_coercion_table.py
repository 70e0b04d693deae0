"""The table of section 7, row by row: what each type takes, and what it refuses."""

import datetime
import enum
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from nit_kernel._syntax import parse
from nit_kernel.runtime.coercion import Coercer, CoercionError


def schema_of(parameter: Any, *, required: bool = True) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"p": parameter},
        "required": ["p"] if required else [],
    }


def coerced(parameter: Any, value: object, *, required: bool = True) -> dict[str, object]:
    return Coercer(schema_of(parameter, required=required)).coerce({"p": value})


def refusal(parameter: Any, value: object, *, required: bool = True) -> str:
    with pytest.raises(CoercionError) as caught:
        coerced(parameter, value, required=required)
    return caught.value.message


def from_literal(parameter: Any, literal: str) -> object:
    """What `f(p=<literal>)` gives to the tool, literals with their spelling."""
    script = parse(f"f(p={literal})")
    assert script.ok, script.diagnostics
    plain = script.arguments(0, ("p",), [], None)
    coercer = Coercer(schema_of(parameter))
    result = coercer.coerce(plain, spelled=lambda: script.arguments(0, ("p",), [], None, True))
    # The check sees the same literal, and must say the same.
    [(_, raw)] = script.literal_arguments(0)
    assert repr(coercer.coerce_literal("p", raw)) == repr(result["p"])
    return result["p"]


@pytest.mark.parametrize(
    ("literal", "text"),
    [
        ("007", "007"),
        ("1.50", "1.50"),
        ("-2", "-2"),
        ("1e3", "1e3"),
        ("0x1F", "0x1F"),
        ("1_000", "1_000"),
        ("true", "true"),
        ("True", "True"),
        ('"80331"', "80331"),
        ('"null"', "null"),
    ],
)
def test_a_literal_becomes_text_as_it_is_written(literal: str, text: str) -> None:
    assert from_literal({"type": "string"}, literal) == text


def test_a_literal_keeps_its_spelling_wherever_it_stands() -> None:
    rows = {
        "type": "array",
        "items": {"type": "object", "additionalProperties": {"type": "string"}},
    }
    assert from_literal(rows, '[{"zip": 007, "on": false}, {7: 1.50}]') == [
        {"zip": "007", "on": "false"},
        {"7": "1.50"},
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [(7, "7"), (1.5, "1.5"), (1e23, "1e+23"), (True, "true"), (10**30, "1" + "0" * 30)],
)
def test_a_value_becomes_text_as_json_writes_it(value: object, text: str) -> None:
    assert coerced({"type": "string"}, value) == {"p": text}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([1], "p: wanted string, got [1]"),
        ({"a": 1}, 'p: wanted string, got {"a": 1}'),
        (None, "p: wanted string, got null"),
        (math.inf, "p: wanted string, got Infinity"),
        (datetime.date(2024, 1, 2), "p: wanted string, got date"),
        (pd.DataFrame({"a": [1]}), "p: wanted string, got DataFrame, 1 row x 1 column"),
    ],
)
def test_what_is_no_text_is_refused_for_a_string(value: object, message: str) -> None:
    assert refusal({"type": "string"}, value) == message


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": [1, None]}, '{"a": [1, null]}'),
        ([1, "x"], '[1, "x"]'),
        (datetime.date(2024, 1, 2), "2024-01-02"),
        ("plain", "plain"),
        (5, "5"),
    ],
)
def test_x_nit_text_lets_an_object_in_as_its_text(value: object, text: str) -> None:
    assert coerced({"type": "string", "x-nit-text": True}, value) == {"p": text}


def test_x_nit_text_still_refuses_null() -> None:
    message = refusal({"type": "string", "x-nit-text": True}, None)
    assert message == "p: wanted string, got null"


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (7, 7),
        (7.0, 7),
        ("7", 7),
        (" +007 ", 7),
        ("-3.0", -3),
        ("3.000", 3),
        ("9007199254740993", 9007199254740993),
        ("12345678901234567890123", 12345678901234567890123),
        (np.int64(7), 7),
    ],
)
def test_an_integer_takes_whole_numbers_in_every_spelling(value: object, number: int) -> None:
    result = coerced({"type": "integer"}, value)["p"]
    assert (result, type(result)) == (number, int)


@pytest.mark.parametrize(
    "value",
    [3.5, "3.5", True, "", " ", "1e3", "0x1F", "1_000", "٣", "three", "3 km", [3], "1" * 4_301],
)
def test_an_integer_refuses_what_is_none(value: object) -> None:
    assert refusal({"type": "integer"}, value).startswith("p: wanted integer, got ")


@pytest.mark.parametrize(
    ("literal", "number"),
    [
        ("9007199254740993.0", 9007199254740993),
        ("1e23", 10**23),
        ("1_0.0", 10),
        ('"9007199254740993.0"', 9007199254740993),
    ],
)
def test_an_integer_is_never_taken_through_a_float(literal: str, number: int) -> None:
    assert from_literal({"type": "integer"}, literal) == number


def test_a_literal_that_is_whole_only_as_a_float_is_that_integer() -> None:
    assert repr(from_literal({"type": "integer"}, "3.00000000000000000001")) == "3"


@pytest.mark.parametrize(
    ("value", "number", "kind"),
    [
        (3, 3, int),
        (2.5, 2.5, float),
        ("3", 3, int),
        (" -2.5 ", -2.5, float),
        ("1e3", 1000.0, float),
        (".5", 0.5, float),
        ("0.1", 0.1, float),
        ("1.10", 1.1, float),
        ("12345678901234567890", 12345678901234567890, int),
        (np.float32(0.5), 0.5, float),
    ],
)
def test_a_number_takes_text_that_is_exactly_one(value: object, number: float, kind: type) -> None:
    result = coerced({"type": "number"}, value)["p"]
    assert (result, type(result)) == (number, kind)


@pytest.mark.parametrize(
    "value",
    ["NaN", "Infinity", "-inf", True, "", "1e999", "1e-999", "1,5", "5 %", "0.1" + "1" * 20, None],
)
def test_a_number_refuses_what_is_none_or_would_lose_digits(value: object) -> None:
    assert refusal({"type": "number"}, value).startswith("p: wanted number, got ")


def test_a_missing_measurement_passes_as_a_number() -> None:
    result = coerced({"type": "array", "items": {"type": "number", "minimum": -1}}, [1.5, math.nan])
    assert math.isnan(result["p"][1])


@pytest.mark.parametrize(
    ("value", "boolean"),
    [(True, True), ("true", True), (" TRUE ", True), ("False", False), ("false", False)],
)
def test_a_boolean_takes_its_two_words_in_any_case(value: object, boolean: bool) -> None:
    assert coerced({"type": "boolean"}, value) == {"p": boolean}


@pytest.mark.parametrize("value", [0, 1, "0", "1", "yes", "no", "on", "", "t", 1.0, [], None])
def test_a_boolean_refuses_everything_else(value: object) -> None:
    assert refusal({"type": "boolean"}, value).startswith("p: wanted boolean, got ")


@pytest.mark.parametrize(
    ("value", "items"),
    [([1], [1]), ((1, 2), [1, 2]), (" [1, 2]\n", [1, 2]), ("[]", []), ('["[1]"]', ["[1]"])],
)
def test_an_array_takes_text_that_is_one_in_json(value: object, items: list[object]) -> None:
    assert coerced({"type": "array"}, value) == {"p": items}


@pytest.mark.parametrize(
    "value",
    [
        "a, b",
        "1",
        1,
        {"a": 1},
        '{"a": 1}',
        "[1, 2",
        "[NaN]",
        "[1e999]",
        "['a']",
        "[1,]",
        "[" * 100_000,
        '[{"a": 1, "a": 2}]',
        "",
    ],
)
def test_an_array_refuses_single_values_and_what_is_no_json(value: object) -> None:
    assert refusal({"type": "array"}, value).startswith("p: wanted list, got ")


def test_numbers_of_a_json_text_keep_their_spelling_where_text_is_wanted() -> None:
    strings = {"type": "array", "items": {"type": "string"}}
    assert coerced(strings, "[1.50, true, 7]") == {"p": ["1.50", "true", "7"]}


def test_an_object_takes_text_that_is_one_in_json() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    assert coerced(schema, '{"n": "3", "m": 1.5}') == {"p": {"n": 3, "m": 1.5}}
    assert refusal(schema, "[1]") == 'p: wanted object, got "[1]"'
    assert refusal(schema, pd.DataFrame()) == (
        "p: wanted object, got DataFrame, 0 rows x 0 columns"
    )


def test_number_keys_become_text_where_the_schema_looks_at_them() -> None:
    assert coerced({"type": "object", "additionalProperties": {"type": "integer"}}, {1: "2"}) == {
        "p": {"1": 2}
    }
    kept = {1: "2"}
    assert coerced({"type": "object"}, kept)["p"] is kept


def test_null_is_the_constant_and_never_the_word() -> None:
    assert coerced({"type": "null"}, None) == {"p": None}
    assert refusal({"type": "null"}, "null") == 'p: wanted null, got "null"'
    assert coerced({"type": ["string", "null"]}, "null") == {"p": "null"}


@pytest.mark.parametrize(
    "parameter",
    [
        {"type": "integer", "nullable": True},
        {"enum": ["a"], "nullable": True},
        {"const": "a", "nullable": True},
        {"$ref": "#/properties/other", "nullable": True},
        {"anyOf": [{"type": "integer"}], "nullable": True},
        {"allOf": [{"type": "integer"}], "nullable": True},
    ],
)
def test_nullable_lets_null_in(parameter: dict[str, Any]) -> None:
    schema = schema_of(parameter)
    schema["properties"]["other"] = {"type": "integer"}
    assert Coercer(schema).coerce({"p": None}) == {"p": None}


def test_null_for_an_optional_parameter_means_left_out() -> None:
    assert coerced({"type": "string"}, None, required=False) == {}
    assert coerced({"enum": ["a"]}, None, required=False) == {}
    assert coerced({"type": ["string", "null"]}, None, required=False) == {"p": None}
    assert coerced({}, None, required=False) == {"p": None}


def test_defaults_are_not_filled_in() -> None:
    assert Coercer(schema_of({"type": "integer", "default": 3}, required=False)).coerce({}) == {}


@pytest.mark.parametrize(
    ("parameter", "value", "result"),
    [
        ({"enum": ["celsius", "kelvin"]}, "celsius", "celsius"),
        ({"enum": ["celsius", "kelvin"]}, " Celsius ", "celsius"),
        ({"enum": ["a", "A"]}, "a", "a"),
        ({"const": "On"}, "on", "On"),
        ({"type": "integer", "enum": [1, 2]}, "2", 2),
        ({"type": "string", "enum": ["1", "2"]}, 2, "2"),
        ({"enum": ["STRASSE"]}, "straße", "STRASSE"),
        ({"anyOf": [{"const": "a"}, {"const": "b"}]}, "B", "b"),
    ],
)
def test_a_choice_is_taken_in_any_case_where_it_is_the_only_such(
    parameter: dict[str, Any], value: object, result: object
) -> None:
    assert coerced(parameter, value) == {"p": result}


@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        ({"enum": ["b", "B"]}, " b", 'p: wanted "b" or "B", got " b"'),
        ({"enum": ["fast", "slow"]}, "medium", 'p: wanted "fast" or "slow", got "medium"'),
        ({"enum": [1, 2]}, "1", 'p: wanted 1 or 2, got "1"'),
        ({"enum": [1]}, True, "p: wanted 1, got true"),
        ({"const": "x"}, "y", 'p: wanted "x", got "y"'),
        ({"anyOf": [{"const": "b"}, {"const": "B"}]}, " b", 'p: wanted "b" or "B", got " b"'),
    ],
)
def test_another_choice_is_refused_with_those_that_there_are(
    parameter: dict[str, Any], value: object, message: str
) -> None:
    assert refusal(parameter, value) == message


class Colour(enum.Enum):
    RED = "red"


class Word(str):
    __slots__ = ()


def test_text_of_a_subclass_is_text_and_a_member_of_an_enumeration_is_an_object() -> None:
    result = coerced({"type": "string"}, Word("a"))["p"]
    assert (result, type(result)) in [("a", str), ("a", Word)]
    assert refusal({"type": "string"}, Colour.RED) == "p: wanted string, got Colour"


def test_any_object_fits_an_empty_schema_as_it_is() -> None:
    circle: list[object] = []
    circle.append(circle)
    for value in (pd.DataFrame({"a": [1]}), circle, Colour.RED, object()):
        assert coerced({}, value)["p"] is value
        assert coerced({"type": "array", "items": {}}, [value])["p"][0] is value
        held = coerced(
            {"type": "object", "properties": {"a": {}, "n": {"type": "integer"}}},
            {
                "a": value,
                "n": "3",
            },
        )["p"]
        assert held["a"] is value
        assert held["n"] == 3


def test_a_value_that_is_right_stays_the_same_object() -> None:
    rows = [{"n": 1}, {"n": 2}]
    schema = {
        "type": "array",
        "items": {"type": "object", "properties": {"n": {"type": "integer"}}},
    }
    assert coerced(schema, rows)["p"] is rows


def test_a_float_that_is_whole_becomes_an_integer_also_deep_inside() -> None:
    schema = {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}
    result = coerced(schema, [[1.0, 2], [3]])["p"]
    assert repr(result) == "[[1, 2], [3]]"
