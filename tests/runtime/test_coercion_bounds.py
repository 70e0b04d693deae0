"""Coercion of values that hold themselves, share their parts, nest without end or are huge."""

import sys
import time
from typing import Any

import pytest

from nit_kernel.config import Limits
from nit_kernel.runtime.coercion import Coercer, CoercionError

NUMBERS = {"type": "array", "items": {"type": "number"}}
NESTED = {
    "properties": {"p": {"$ref": "#/$defs/nested"}},
    "$defs": {
        "nested": {
            "anyOf": [
                {"type": "array", "items": {"$ref": "#/$defs/nested"}},
                {"type": "object", "additionalProperties": {"$ref": "#/$defs/nested"}},
                {"type": "integer"},
            ]
        }
    },
}


def doubled(times: int, inner: object = 1) -> list[Any]:
    """A list that holds itself twice, `times` over: small in memory, endless written out."""
    value: list[Any] = [inner]
    for _ in range(times):
        value = [value, value]
    return value


def cyclic() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


def nested(depth: int, *inner: object) -> list[Any]:
    value: list[Any] = [*inner]
    for _ in range(depth):
        value = [value]
    return value


def refusal(schema: dict[str, Any], value: object, limits: Limits | None = None) -> CoercionError:
    started = time.monotonic()
    with pytest.raises(CoercionError) as caught:
        Coercer(schema).coerce({"p": value}, limits or Limits())
    assert time.monotonic() - started < 10
    return caught.value


def of(parameter: Any) -> dict[str, Any]:
    return {"properties": {"p": parameter}}


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (doubled(40), "p: holds more than 1,000,000 values, so it cannot be checked"),
        (doubled(40, "x"), "p: holds more than 1,000,000 values, so it cannot be checked"),
        (cyclic(), "p: holds itself, so it cannot be checked"),
        (nested(100_000), "p: nests more than 200 levels deep"),
    ],
)
def test_a_value_that_cannot_be_walked_is_a_limit_error(value: object, problem: str) -> None:
    error = refusal(NESTED, value)
    assert (error.code, error.message) == ("NIT423", problem)


@pytest.mark.parametrize(
    "keyword",
    [
        {"uniqueItems": True},
        {"contains": {"type": "integer"}},
        {"not": {"type": "string"}},
        {"enum": [[1]]},
        {"const": [1]},
        {"unevaluatedItems": {"type": "integer"}},
        {"anyOf": [{"type": "array", "minItems": 1}]},
        {"oneOf": [{"type": "array", "minItems": 1}]},
        {"if": {"type": "array"}, "then": {"minItems": 1}},
        {"type": ["array", "null"], "minItems": 1},
    ],
)
@pytest.mark.parametrize("value", [doubled(40), cyclic(), nested(100_000)])
def test_no_keyword_is_led_into_an_endless_value(keyword: dict[str, Any], value: object) -> None:
    assert refusal(of(keyword), value).code == "NIT423"


@pytest.mark.parametrize("value", [doubled(40), cyclic(), nested(100_000)])
@pytest.mark.parametrize(
    "parameter", [{}, {"type": "array"}, {"type": "array", "items": {}}, {"description": "any"}]
)
def test_where_nothing_is_wanted_of_its_parts_any_value_passes(
    parameter: dict[str, Any], value: object
) -> None:
    schema = {"properties": {"p": parameter, "n": {"type": "integer"}}}
    assert Coercer(schema).coerce({"p": value, "n": "3"})["p"] is value
    with pytest.raises(CoercionError) as caught:
        Coercer(schema).coerce({"p": value, "n": "x"})
    assert caught.value.message == 'n: wanted integer, got "x"'


def test_an_endless_value_inside_a_checked_one_passes_where_the_schema_is_empty() -> None:
    value = cyclic()
    schema = of({"type": "object", "properties": {"held": {}, "n": {"type": "integer"}}})
    result = Coercer(schema).coerce({"p": {"held": value, "n": "3"}})
    assert result["p"]["held"] is value
    assert result["p"]["n"] == 3


def test_shared_parts_within_the_limits_are_converted_once() -> None:
    value = doubled(10, "7")
    result: Any = Coercer(NESTED).coerce({"p": value})["p"]
    assert result[0] is result[1]
    while isinstance(result, list):
        result = result[0]
    assert result == 7


def test_the_limits_are_the_sessions() -> None:
    small = Limits(value_nodes=10)
    error = refusal(of(NUMBERS | {"uniqueItems": True}), list(range(20)), small)
    assert error.message == "p: holds more than 10 values, so it cannot be checked"


def test_a_large_table_is_checked_in_time_linear_in_its_size() -> None:
    rows = [{"n": number, "name": "x"} for number in range(100_000)]
    schema = of(
        {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"n": {"type": "integer"}, "name": {"type": "string"}},
            },
        }
    )
    started = time.monotonic()
    assert Coercer(schema).coerce({"p": rows})["p"] is rows
    rows[-1]["n"] = "5"  # pyright: ignore[reportArgumentType]
    assert Coercer(schema).coerce({"p": rows})["p"][-1] == {"n": 5, "name": "x"}
    assert time.monotonic() - started < 20


def test_members_that_all_fail_deep_inside_do_not_multiply() -> None:
    deep: Any = "bad"
    for _ in range(60):
        deep = {"k": deep}
    member = {"type": "object", "properties": {"k": {"$ref": "#/$defs/t"}}, "required": ["k"]}
    schema = {
        "properties": {"p": {"$ref": "#/$defs/t"}},
        "$defs": {"t": {"anyOf": [member, {**member, "title": "b"}, {"type": "integer"}]}},
    }
    assert refusal(schema, deep).message.endswith('k: wanted object or integer, got "bad"')


def test_an_integer_that_cannot_be_written_is_refused_and_not_a_crash() -> None:
    huge = 2**20_000
    assert refusal(of({"type": "string"}), huge).message == (
        'p: wanted string, got "<integer of 20,001 bits>"'
    )
    assert Coercer(of({"type": "integer", "minimum": 0})).coerce({"p": huge}) == {"p": huge}


def test_a_lone_surrogate_does_not_break_the_check() -> None:
    value = "ok \ud83d"
    assert Coercer(of({"type": "string", "minLength": 1})).coerce({"p": value}) == {"p": value}


def test_a_low_recursion_limit_gives_a_clear_error() -> None:
    depth = len(__import__("inspect").stack(0))
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(depth + 150)
    try:
        with pytest.raises(CoercionError) as caught:
            Coercer(NESTED).coerce({"p": nested(90, "7")})
    finally:
        sys.setrecursionlimit(before)
    assert caught.value.code == "NIT423"


def test_a_list_that_shares_its_parts_is_refused_by_its_first_misfit() -> None:
    doubled: list[Any] = [1]
    for _ in range(40):
        doubled = [doubled, doubled]
    schema = of({"type": "array", "items": {"type": "integer"}})
    assert refusal(schema, doubled).message.startswith("p[0]: wanted integer, got [")
