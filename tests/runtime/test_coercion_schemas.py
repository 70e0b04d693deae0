"""Coercion through schemas of every build: unions, references, objects, older drafts."""

from typing import Any

import pytest

from nit_kernel.errors import PluginError
from nit_kernel.runtime.coercion import Coercer, CoercionError


def schema_of(parameter: Any, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"p": parameter}, "required": ["p"], **more}


def coerced(parameter: Any, value: object, **more: Any) -> object:
    return Coercer(schema_of(parameter, **more)).coerce({"p": value})["p"]


def refusal(parameter: Any, value: object, **more: Any) -> str:
    with pytest.raises(CoercionError) as caught:
        coerced(parameter, value, **more)
    return caught.value.message


INTEGER_OR_TEXT = {"anyOf": [{"type": "integer"}, {"type": "string"}]}


@pytest.mark.parametrize(
    ("parameter", "value", "result"),
    [
        (INTEGER_OR_TEXT, "5", "5"),
        (INTEGER_OR_TEXT, 5, 5),
        (INTEGER_OR_TEXT, 2.5, "2.5"),
        ({"type": ["integer", "string"]}, "5", "5"),
        ({"type": ["integer", "null"]}, "5", 5),
        ({"type": ["null", "boolean"]}, "true", True),
        ({"type": ["string", "null"]}, 5, "5"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "[1, 2]", "[1, 2]"),
        ({"anyOf": [{"type": "object"}, {"type": "string"}]}, '{"a": 1}', '{"a": 1}'),
        ({"anyOf": [{"type": "object"}, {"type": "null"}]}, '{"a": 1}', {"a": 1}),
        ({"oneOf": [{"type": "boolean"}, {"type": "integer"}]}, "1", 1),
        ({"type": ["array", "null"], "items": {"type": "integer"}}, '["1"]', [1]),
        ({"type": ["string", "integer"], "pattern": "^x"}, "5", 5),
        ({"anyOf": [{"type": "integer", "minimum": 10}, {"type": "number"}]}, "5", 5),
    ],
)
def test_a_union_keeps_what_fits_and_else_converts_in_its_order(
    parameter: dict[str, Any], value: object, result: object
) -> None:
    assert repr(coerced(parameter, value)) == repr(result)


def test_one_of_refuses_a_conversion_that_fits_two_of_its_members() -> None:
    message = refusal({"oneOf": [{"type": "integer"}, {"type": "number"}]}, "5")
    assert message == 'p: wanted integer or number, got "5"'


SHAPES = {
    "oneOf": [
        {
            "type": "object",
            "properties": {"kind": {"const": "circle"}, "r": {"type": "number"}},
            "required": ["kind", "r"],
        },
        {
            "type": "object",
            "properties": {"kind": {"const": "square"}, "side": {"type": "integer"}},
            "required": ["kind", "side"],
        },
    ]
}


def test_a_tagged_union_converts_the_member_that_the_tag_names() -> None:
    assert coerced(SHAPES, {"kind": "square", "side": "4"}) == {"kind": "square", "side": 4}


def test_an_error_in_a_tagged_union_is_about_the_member_that_the_tag_names() -> None:
    message = refusal(SHAPES, {"kind": "square", "side": "wide"})
    assert message == 'p.side: wanted integer, got "wide"'


def test_an_error_in_an_optional_list_is_about_the_item() -> None:
    rows = {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}}}
    message = refusal({"anyOf": [rows, {"type": "null"}]}, [{"n": "3"}, {"n": "x"}])
    assert message == 'p[1].n: wanted integer, got "x"'


TREE = {
    "$defs": {
        "tree": {
            "type": "object",
            "properties": {
                "size": {"type": "integer"},
                "children": {"type": "array", "items": {"$ref": "#/$defs/tree"}},
            },
            "required": ["size"],
        }
    }
}


def test_recursive_schemas_convert_at_every_depth() -> None:
    value = {"size": "1", "children": [{"size": 2.0, "children": '[{"size": "3"}]'}]}
    assert coerced({"$ref": "#/$defs/tree"}, value, **TREE) == {
        "size": 1,
        "children": [{"size": 2, "children": [{"size": 3}]}],
    }


def test_an_error_deep_in_a_recursive_schema_has_its_path() -> None:
    value = {"size": 1, "children": [{"size": 2}, {"size": "x"}]}
    message = refusal({"$ref": "#/$defs/tree"}, value, **TREE)
    assert message == 'p.children[1].size: wanted integer, got "x"'


@pytest.mark.parametrize(
    ("more", "reference"),
    [
        ({"$defs": {"n": {"type": "integer"}}}, "#/$defs/n"),
        ({"definitions": {"a/b~c %d": {"type": "integer"}}}, "#/definitions/a~1b~0c%20%25d"),
        ({"$defs": {"n": {"$anchor": "whole", "type": "integer"}}}, "#whole"),
        (
            {"$id": "https://e.example/t", "$defs": {"n": {"$id": "part", "type": "integer"}}},
            "part",
        ),
        ({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"type": "integer"}}}, "#/$defs/a"),
    ],
)
def test_references_inside_the_schema_are_followed(more: dict[str, Any], reference: str) -> None:
    assert coerced({"$ref": reference}, "5", **more) == 5


@pytest.mark.parametrize(
    "reference", ["https://example.invalid/s.json", "file:///etc/passwd", "other.json", "#/no"]
)
def test_a_reference_to_anything_else_is_refused_when_the_tool_is_made(reference: str) -> None:
    with pytest.raises(PluginError) as caught:
        Coercer(schema_of({"$ref": reference}))
    assert caught.value.code == "NIT554"


@pytest.mark.parametrize("value", [5, "x", [1, [2]], {"a": None}])
def test_a_schema_that_only_refers_to_itself_comes_to_an_end(value: object) -> None:
    loop = {"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}, {"type": "integer"}]}}}
    assert coerced({"$ref": "#/$defs/a"}, value, **loop) == value


def test_all_of_converts_by_each_of_its_members() -> None:
    parameter = {
        "allOf": [
            {"properties": {"a": {"type": "integer"}}},
            {"properties": {"b": {"type": "boolean"}}, "required": ["b"]},
        ],
        "type": "object",
    }
    assert coerced(parameter, {"a": "1", "b": "TRUE"}) == {"a": 1, "b": True}
    assert refusal(parameter, {"a": 1}) == 'p: the key "b" is missing'


def test_members_are_converted_by_property_pattern_and_the_rest() -> None:
    parameter = {
        "type": "object",
        "properties": {"name": {"type": "string"}},
        "patternProperties": {"^n_": {"type": "integer"}},
        "additionalProperties": {"type": "boolean"},
    }
    assert coerced(parameter, {"name": 7, "n_1": "2", "x": "false"}) == {
        "name": "7",
        "n_1": 2,
        "x": False,
    }


def test_items_are_converted_by_place_and_the_rest() -> None:
    parameter = {
        "type": "array",
        "prefixItems": [{"type": "integer"}, {"type": "string"}],
        "items": {"type": "boolean"},
    }
    assert coerced(parameter, ["1", 2, "true"]) == [1, "2", True]


def test_if_then_else_converts_by_the_branch_that_applies() -> None:
    parameter = {
        "type": "object",
        "if": {"properties": {"unit": {"const": "count"}}},
        "then": {"properties": {"value": {"type": "integer"}}},
        "else": {"properties": {"value": {"type": "string"}}},
    }
    assert coerced(parameter, {"unit": "count", "value": "3"}) == {"unit": "count", "value": 3}
    assert coerced(parameter, {"unit": "name", "value": 3}) == {"unit": "name", "value": "3"}


def test_formats_and_encodings_are_notes_for_people() -> None:
    assert coerced({"type": "string", "format": "date-time"}, "soon") == "soon"
    draft_7 = {"$schema": "http://json-schema.org/draft-07/schema#"}
    encoded = {"type": "string", "contentEncoding": "base64", "format": "email"}
    assert coerced(encoded, "%%%", **draft_7) == "%%%"


@pytest.mark.parametrize(
    ("parameter", "value", "result"),
    [
        ({"type": "array", "items": [{"type": "integer"}]}, ["1"], [1]),
        ({"type": "integer", "minimum": 0, "exclusiveMinimum": True}, "1", 1),
    ],
)
def test_a_schema_without_a_draft_may_be_of_an_older_one(
    parameter: dict[str, Any], value: object, result: object
) -> None:
    assert coerced(parameter, value) == result


def test_an_unknown_draft_is_read_as_the_newest() -> None:
    assert coerced({"type": "integer"}, "1", **{"$schema": "https://spec.example/x"}) == 1


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ([], "the parameters must be a JSON Schema object"),
        ({"type": "string"}, "the parameters must be of type `object`, not `string`"),
        ({"properties": {"a": {"type": "strin"}}}, "properties.a.type: 'strin' is not valid"),
        ({"properties": []}, "properties: [] is not of type 'object'"),
        ({"properties": {"a": 5}}, "properties.a: 5 is not"),
        ({"required": "a"}, "required: 'a' is not of type 'array'"),
        ({"properties": {"a": {"pattern": "["}}}, '"[" is not a "regex"'),
        ({"properties": {"a": {"minLength": -1}}}, "properties.a.minLength"),
    ],
)
def test_a_malformed_schema_is_refused_with_its_place(schema: Any, message: str) -> None:
    with pytest.raises(PluginError) as caught:
        Coercer(schema)
    prefix = "its parameters are no usable JSON Schema: "
    assert caught.value.message.startswith(prefix + message)


def test_a_schema_of_endless_depth_is_refused() -> None:
    schema: dict[str, Any] = {}
    schema["properties"] = {"a": schema}
    with pytest.raises(PluginError) as caught:
        Coercer(schema)
    assert caught.value.message.endswith("it is too large or nests too deep")


def test_the_schema_is_copied() -> None:
    schema = schema_of({"type": "integer"})
    coercer = Coercer(schema)
    schema["properties"]["p"]["type"] = "string"
    assert coercer.coerce({"p": 1}) == {"p": 1}


@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        ({"type": "string", "pattern": "^a"}, "b", 'p: wanted text that matches `^a`, got "b"'),
        ({"type": "integer", "maximum": 5}, "7", "p: wanted at most 5, got 7"),
        ({"type": "integer", "minimum": 5}, 1, "p: wanted at least 5, got 1"),
        ({"type": "number", "exclusiveMinimum": 0}, 0, "p: wanted more than 0, got 0"),
        ({"type": "number", "exclusiveMaximum": 1}, 1, "p: wanted less than 1, got 1"),
        ({"type": "integer", "multipleOf": 2}, 3, "p: wanted a multiple of 2, got 3"),
        ({"type": "array", "minItems": 1}, [], "p: wanted at least 1 item, got []"),
        ({"type": "array", "maxItems": 1}, [1, 2], "p: wanted at most 1 item, got [1, 2]"),
        (
            {"type": "array", "uniqueItems": True},
            [1, 1],
            "p: wanted items that all differ, got [1, 1]",
        ),
        (
            {"type": "string", "minLength": 2},
            "a",
            'p: wanted text of at least 2 characters, got "a"',
        ),
        (
            {"type": "string", "maxLength": 1},
            "ab",
            'p: wanted text of at most 1 character, got "ab"',
        ),
        ({"type": "object", "minProperties": 1}, {}, "p: wanted at least 1 key, got {}"),
        ({"type": "object", "required": ["a b"]}, {}, 'p: the key "a b" is missing'),
        (
            {"type": "object", "properties": {"a": {}}, "additionalProperties": False},
            {"b": 1},
            'p: unknown key "b"',
        ),
        (
            {"type": "object", "properties": {"a-b": {"type": "integer"}}},
            {"a-b": "x"},
            'p["a-b"]: wanted integer, got "x"',
        ),
        (
            {
                "type": "array",
                "items": {"type": "object", "properties": {"price": {"type": "number"}}},
            },
            [{"price": 1}, {}, {"price": "n/a"}],
            'p[2].price: wanted number, got "n/a"',
        ),
        (
            {"not": {"type": "string"}},
            "x",
            'p: wanted a value that the schema does not rule out, got "x"',
        ),
        (False, 1, "p: wanted nothing here, got 1"),
        (
            {"type": "array", "contains": {"type": "integer"}},
            ["a"],
            'p: wanted an item of the kind that the schema asks for, got ["a"]',
        ),
    ],
)
def test_an_error_names_the_path_what_was_wanted_and_what_came(
    parameter: Any, value: object, message: str
) -> None:
    assert refusal(parameter, value) == message


def test_unknown_and_missing_arguments_are_named() -> None:
    coercer = Coercer(
        {
            "type": "object",
            "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}},
            "required": ["query"],
        }
    )
    with pytest.raises(CoercionError) as unknown:
        coercer.coerce({"query": "x", "limt": 5})
    with pytest.raises(CoercionError) as missing:
        coercer.coerce({"limit": 5})
    assert (unknown.value.code, unknown.value.message, unknown.value.hint) == (
        "NIT422",
        "unknown argument `limt`",
        "did you mean `limit`? It also takes `query`",
    )
    assert (missing.value.code, missing.value.message) == ("NIT421", "missing argument `query`")


@pytest.mark.parametrize(
    ("schema", "accepted"),
    [
        ({}, True),
        ({"type": "object"}, True),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, True),
        ({"properties": {}, "additionalProperties": True}, True),
        ({"properties": {"a": {}}, "additionalProperties": {}}, True),
        ({"patternProperties": {"^x": {}}}, True),
        ({"properties": {}}, False),
        ({"properties": {"a": {}}}, False),
        ({"properties": {"a": {}}, "additionalProperties": False}, False),
        ({"additionalProperties": False}, False),
        ({"patternProperties": {"^y": {}}}, False),
        ({"allOf": [{"properties": {"a": {}}}]}, False),
        ({"$ref": "#/$defs/t", "$defs": {"t": {"properties": {"xx": {}}}}}, True),
        ({"anyOf": [{"properties": {"xx": {}}}, {"properties": {"a": {}}}]}, True),
    ],
)
def test_an_undeclared_argument_is_let_in_only_where_the_schema_says_so(
    schema: dict[str, Any], accepted: bool
) -> None:
    try:
        result: object = Coercer(schema).coerce({"xx": 1})
    except CoercionError as error:
        result = error.code
    assert result == ({"xx": 1} if accepted else "NIT422")


@pytest.mark.parametrize(
    "more", [{}, {"additionalProperties": False}, {"unevaluatedProperties": False}]
)
def test_a_required_name_without_a_property_can_be_given(more: dict[str, Any]) -> None:
    schema: Any = {"properties": {"a": {"type": "integer"}}, "required": ["a", "zz"], **more}
    assert Coercer(schema).coerce({"a": "1", "zz": 2}) == {"a": 1, "zz": 2}
    with pytest.raises(CoercionError) as caught:
        Coercer(schema).coerce({"a": 1})
    assert caught.value.message == "missing argument `zz`"


def test_undeclared_arguments_are_converted_by_the_schema_that_lets_them_in() -> None:
    coercer = Coercer({"type": "object", "additionalProperties": {"type": "integer"}})
    assert coercer.coerce({"a": "1", "b": 2.0}) == {"a": 1, "b": 2}


def test_rules_on_all_arguments_together_are_kept() -> None:
    coercer = Coercer(
        {
            "type": "object",
            "properties": {"card": {"type": "string"}, "address": {"type": "string"}},
            "dependentRequired": {"card": ["address"]},
        }
    )
    assert coercer.coerce({"card": 5, "address": "x"}) == {"card": "5", "address": "x"}
    with pytest.raises(CoercionError) as caught:
        coercer.coerce({"card": "5"})
    assert "address" in caught.value.message


def test_a_native_value_passes_as_it_is_and_the_rest_is_checked() -> None:
    marker = object()
    schema = {
        "type": "object",
        "properties": {"when": {"type": "string", "format": "date"}, "n": {"type": "integer"}},
        "required": ["when", "n"],
    }
    coercer = Coercer(schema, natives={"when": lambda value: value is marker})
    result = coercer.coerce({"when": marker, "n": "3"})
    assert result["when"] is marker
    assert result["n"] == 3
    with pytest.raises(CoercionError) as caught:
        coercer.coerce({"when": object(), "n": 3})
    assert caught.value.message == "when: wanted string, got object"
    with pytest.raises(CoercionError) as caught:
        coercer.coerce({"when": marker, "n": "x"})
    assert caught.value.message == 'n: wanted integer, got "x"'
