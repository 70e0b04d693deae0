"""What a tool's schema declares, and its signature line."""

from typing import Any

import pytest

from nit_kernel.language.parameters import declared_parameters
from nit_kernel.language.schema import ToolSpec


def spec(parameters: dict[str, Any], **more: Any) -> ToolSpec:
    return ToolSpec(name=more.pop("name", "f"), description="", parameters=parameters, **more)


SEARCH = {
    "type": "object",
    "properties": {
        "query": {"type": "string"},
        "Api-Version": {"enum": ["v1", "v2"]},
        "limit": {"type": "integer", "default": 10},
    },
    "required": ["query"],
}


def test_positional_arguments_follow_the_schema() -> None:
    assert spec(SEARCH).positional == ("query", "Api-Version", "limit")
    assert spec(SEARCH, ordered=False).positional == ("query",)
    two = {**SEARCH, "required": ["query", "limit"]}
    assert spec(two, ordered=False).positional == ()


def test_a_parameter_is_named_exactly_or_as_nit_writes_it() -> None:
    search = spec(SEARCH)
    names = ["query", "Api-Version", "Api_Version", "api_version", "x"]
    assert [search.parameter_named(name) for name in names] == [
        "query",
        "Api-Version",
        "Api-Version",
        None,
        None,
    ]


def test_an_exact_name_wins_over_the_written_form_of_another() -> None:
    both = spec({"properties": {"a-b": {}, "a_b": {}}})
    assert both.argument_names == {"a-b": "a_b_2", "a_b": "a_b"}
    assert [both.parameter_named(n) for n in ("a_b", "a-b", "a_b_2")] == ["a_b", "a-b", "a-b"]


@pytest.mark.parametrize(
    ("parameters", "signature"),
    [
        ({"type": "object", "properties": {}}, "f()"),
        ({}, "f(**: any)"),
        ({"additionalProperties": {"type": "integer"}}, "f(**: int)"),
        (SEARCH, 'f(query: str, Api_Version: "v1" | "v2" = null, limit: int = 10)'),
        (
            {"properties": {"a": {"type": ["integer", "null"]}, "b": {"type": "number"}}},
            "f(a: int | null = null, b: float = null)",
        ),
        (
            {
                "properties": {"rows": {"type": "array", "items": {"$ref": "#/$defs/row"}}},
                "required": ["rows"],
                "$defs": {
                    "row": {
                        "type": "object",
                        "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
                        "required": ["name"],
                    }
                },
            },
            "f(rows: list[{name: str, age: int = null}])",
        ),
        (
            {"properties": {"x": {"anyOf": [{"type": "string"}, {"const": 1}, {"type": "null"}]}}},
            "f(x: str | 1 | null = null)",
        ),
        (
            {"properties": {"m": {"type": "object", "additionalProperties": {"type": "boolean"}}}},
            "f(m: dict[str, bool] = null)",
        ),
        ({"properties": {"s": {"type": "string", "default": "a b"}}}, 'f(s: str = "a b")'),
        ({"properties": {"t": {"$ref": "#/properties/t"}}}, "f(t: any = null)"),
        (
            {"properties": {"e": {"enum": list(range(20))}}},
            "f(e: 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | ... = null)",
        ),
        ({"properties": {"n": {"type": "integer", "nullable": True}}}, "f(n: int | null = null)"),
    ],
)
def test_a_signature_shows_types_choices_and_defaults(
    parameters: dict[str, Any], signature: str
) -> None:
    assert spec(parameters).signature() == signature


def test_a_signature_is_written_with_nit_names_and_the_result() -> None:
    tool = spec({"properties": {"q": {"type": "string"}}, "required": ["q"]}, name="get-weather")
    assert tool.signature() == "get_weather(q: str)"
    returning = spec({"properties": {}}, returns={"type": "array", "items": {"type": "string"}})
    assert returning.signature() == "f() -> list[str]"


@pytest.mark.parametrize(
    "broken",
    [
        {"properties": []},
        {"properties": {"a": 5}, "required": "a"},
        {"allOf": 3, "$ref": 7, "patternProperties": []},
        {"$ref": "#"},
        {"allOf": [{"$ref": "#/allOf/0"}]},
        {"patternProperties": {"(": {}}},
    ],
)
def test_reading_a_broken_schema_does_not_raise(broken: dict[str, Any]) -> None:
    read = spec(broken)
    assert read.signature().startswith("f(")
    assert read.required == frozenset()


def test_what_is_declared_is_found_through_references_and_unions() -> None:
    read = spec(
        {
            "$ref": "#/$defs/base",
            "allOf": [{"properties": {"b": {}}, "required": ["b"]}],
            "anyOf": [{"properties": {"c": {}}, "required": ["c"]}, {"properties": {"d": {}}}],
            "$defs": {"base": {"properties": {"a": {}}, "required": ["a"]}},
        }
    )
    assert set(read.positional) == {"a", "b", "c", "d"}
    assert read.required == {"a", "b"}
    assert read.is_open is False


@pytest.mark.parametrize(
    ("more", "wanted"),
    [
        ({}, {}),
        ({"additionalProperties": True}, {}),
        ({"additionalProperties": False}, {}),
        ({"additionalProperties": {"type": "integer"}}, {"type": "integer"}),
    ],
)
def test_a_required_name_is_a_parameter(more: dict[str, Any], wanted: Any) -> None:
    schema = {"properties": {"a": {}}, "required": ["zz", "a"], **more}
    read = declared_parameters(schema)
    assert (read.properties, read.required) == ({"a": {}, "zz": wanted}, {"a", "zz"})
    assert read.is_open is bool(more.get("additionalProperties"))


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {}}, "anyOf": [{"required": ["a"]}, {"required": ["zz"]}]},
        {"properties": {"a": {}}, "dependentRequired": {"a": ["zz"]}},
        {"properties": {"a": {}}, "dependencies": {"a": ["zz"]}},
    ],
)
def test_a_name_that_may_be_required_is_a_parameter(schema: dict[str, Any]) -> None:
    assert declared_parameters(schema).properties == {"a": {}, "zz": {}}


def test_a_required_name_of_a_pattern_is_declared_by_it() -> None:
    schema: Any = {"patternProperties": {"^z": {"type": "integer"}}, "required": ["zz"]}
    assert declared_parameters(schema).properties == {}
