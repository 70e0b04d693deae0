"""Properties of coercion: idempotent, nothing lost, and one mind with another validator."""

import json
import math
from typing import Any

import jsonschema
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from nit_kernel.language.values import to_json
from nit_kernel.runtime.coercion import Coercer, CoercionError

names = st.sampled_from(["a", "b", "c d"])
texts = st.one_of(
    st.text(max_size=6),
    st.integers(-1000, 1000).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.sampled_from(["true", "False", " TRUE ", "null", "[]", "{}", "[1, 2]", '{"a": "1"}', "red"]),
)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(allow_nan=False, allow_infinity=False),
    texts,
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(names, inner, max_size=3)),
    max_leaves=8,
)
types = st.sampled_from(["string", "integer", "number", "boolean", "array", "object", "null"])
leaves = st.one_of(
    types.map(lambda kind: {"type": kind}),
    st.lists(types, min_size=1, max_size=3, unique=True).map(lambda kinds: {"type": kinds}),
    st.just({}),
    st.just(True),
    st.lists(st.sampled_from(["red", "Red", "green", 1, True, None]), min_size=1, max_size=3)
    .filter(lambda options: len({json.dumps(option) for option in options}) == len(options))
    .map(lambda options: {"enum": options}),
    st.sampled_from(["red", 1, None]).map(lambda value: {"const": value}),
    st.integers(-5, 5).map(lambda least: {"type": "integer", "minimum": least}),
    st.just({"type": "string", "minLength": 2}),
    st.just({"$ref": "#/$defs/loop"}),
)


def nest(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    members = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        inner.map(lambda schema: {"type": "array", "items": schema}),
        st.tuples(inner, inner).map(lambda two: {"prefixItems": [two[0]], "items": two[1]}),
        st.dictionaries(names, inner, max_size=3).map(
            lambda properties: {"type": "object", "properties": properties}
        ),
        st.tuples(inner, st.lists(names, max_size=1)).map(
            lambda two: {"additionalProperties": two[0], "required": two[1]}
        ),
        members.map(lambda schemas: {"anyOf": schemas}),
        members.map(lambda schemas: {"oneOf": schemas}),
        members.map(lambda schemas: {"allOf": schemas}),
        inner.map(lambda schema: {"not": schema}),
        st.tuples(inner, inner, inner).map(
            lambda three: {"if": three[0], "then": three[1], "else": three[2]}
        ),
        st.just({"type": "array", "uniqueItems": True, "contains": {"type": "integer"}}),
    )


schemas = st.recursive(leaves, nest, max_leaves=6)
LOOP = {
    "loop": {
        "anyOf": [
            {"type": "integer"},
            {"type": "array", "items": {"$ref": "#/$defs/loop"}},
            {"type": "object", "properties": {"a": {"$ref": "#/$defs/loop"}}},
        ]
    }
}


def document(parameter: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"p": parameter},
        "required": ["p"],
        "$defs": LOOP,
    }


def oracle(schema: dict[str, Any]) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(schema)


def written(value: object) -> str:
    """JSON text in which `1` and `1.0` are equal, as they are to JSON Schema."""

    def whole(part: Any) -> Any:
        if isinstance(part, float) and part.is_integer():
            return int(part)
        if isinstance(part, list):
            return [whole(item) for item in part]
        if isinstance(part, dict):
            return {key: whole(item) for key, item in part.items()}
        return part

    return json.dumps(whole(value), sort_keys=True)


@settings(max_examples=400, deadline=None)
@given(schemas, values)
def test_what_is_valid_stays_and_what_comes_out_is_valid(parameter: Any, value: object) -> None:
    schema = document(parameter)
    before = json.dumps(value)
    is_valid = oracle(schema).is_valid({"p": value})
    try:
        result = Coercer(schema).coerce({"p": value})
    except CoercionError as error:
        assert not is_valid, error.message
        assert error.code == "NIT420"
        assert error.message
    else:
        assert oracle(schema).is_valid(result)
        if is_valid:
            assert written(result["p"]) == written(value)
    assert json.dumps(value) == before


@settings(max_examples=400, deadline=None)
@given(schemas, values)
def test_coercion_is_idempotent(parameter: Any, value: object) -> None:
    coercer = Coercer(document(parameter))
    try:
        once = coercer.coerce({"p": value})
    except CoercionError:
        assume(False)
    else:
        assert repr(coercer.coerce(once)) == repr(once)


@settings(max_examples=200, deadline=None)
@given(schemas, values)
def test_the_check_and_the_run_say_the_same_of_a_literal(parameter: Any, value: object) -> None:
    coercer = Coercer(document(parameter))
    try:
        result: object = coercer.coerce({"p": value})["p"]
    except CoercionError as error:
        result = error.message
    try:
        literal: object = coercer.coerce_literal("p", value)
    except CoercionError as error:
        literal = error.message
    assert repr(literal) == repr(result)


@settings(max_examples=300, deadline=None)
@given(st.one_of(texts, st.integers(), st.floats()))
def test_a_number_made_of_text_is_written_like_it(value: object) -> None:
    try:
        result = Coercer(document({"type": "number"})).coerce({"p": value})["p"]
    except CoercionError:
        return
    if isinstance(value, str):
        assert isinstance(result, int | float)
        assert math.isfinite(result)
        assert float(value) == float(result)
    else:
        assert result is value or repr(result) == repr(value)


@settings(max_examples=200, deadline=None)
@given(schemas)
def test_every_schema_of_the_oracle_makes_a_coercer(parameter: Any) -> None:
    schema = document(parameter)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert Coercer(schema).declared.is_open is False


@pytest.mark.parametrize("value", [object(), {1, 2}, b"x", 3 + 4j, float("nan"), type, len])
@settings(max_examples=30, deadline=None)
@given(schemas)
def test_no_python_object_is_a_crash(value: object, parameter: Any) -> None:
    for given_value in (value, [value], {"a": value}):
        try:
            result = Coercer(document(parameter)).coerce({"p": given_value})
        except CoercionError as error:
            assert error.code in ("NIT420", "NIT423")
        else:
            json.dumps(to_json(result), allow_nan=False)
