"""The one form in which schemas are used: a copy, with what tools write besides JSON Schema read.

- `nullable: true` (OpenAPI) lets null in.
- A `$schema` that nobody knows is dropped: such a schema is read as draft 2020-12.
- A required name is a parameter, also of a schema that is closed and does not list it.
- `contentEncoding` and the like are notes for people, in every draft.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from nit_kernel.errors import PluginError
from nit_kernel.runtime.schema_nodes import CONSTRAINTS, PYTHON_TYPES

if TYPE_CHECKING:
    from nit_kernel.language.parameters import JsonObject, JsonValue

OLDER_DRAFTS: Final = (
    "http://json-schema.org/draft-07/schema#",
    "http://json-schema.org/draft-04/schema#",
)
"""What a schema without `$schema` is tried as, where it is no draft 2020-12."""

_KNOWN_DRAFTS: Final = frozenset(
    {f"http://json-schema.org/draft-0{number}/schema" for number in (4, 6, 7)}
    | {f"https://json-schema.org/draft/{year}/schema" for year in ("2019-09", "2020-12")}
)
_NOTES: Final = frozenset({"contentEncoding", "contentMediaType", "contentSchema", "nullable"})
_MAPS: Final = frozenset(
    {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}
)
_LISTS: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems", "items"})
_ONE: Final = frozenset(
    {
        "items",
        "additionalItems",
        "additionalProperties",
        "contains",
        "not",
        "if",
        "then",
        "else",
        "propertyNames",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
_AROUND_PARAMETERS: Final = frozenset({"type", "properties", "required", "additionalProperties"})
_DEEPEST: Final = 100
_MOST_PARTS: Final = 100_000


def usable_schema(parameters: object) -> JsonObject:
    """Return a copy of a tool's schema in the form described above.

    Raises:
        PluginError: It is no object schema, or far too large.
    """
    if not isinstance(parameters, dict):
        raise bad_schema("the parameters must be a JSON Schema object")
    schema = _Copier().schema(cast("JsonObject", parameters), 0)
    kind = schema.get("type", "object")
    if kind != "object" and not (isinstance(kind, list) and "object" in kind):
        raise bad_schema(f"the parameters must be of type `object`, not `{kind}`")
    address = schema.get("$schema")
    if not isinstance(address, str) or address.rstrip("#") not in _KNOWN_DRAFTS:
        schema.pop("$schema", None)
    if False in (schema.get("additionalProperties"), schema.get("unevaluatedProperties")):
        _let_required_in(schema)
    return schema


def _let_required_in(schema: JsonObject) -> None:
    names, properties = schema.get("required"), schema.get("properties", {})
    if isinstance(names, list) and isinstance(properties, dict):
        missing: JsonObject = {n: {} for n in names if isinstance(n, str) and n not in properties}
        schema["properties"] = {**properties, **missing}


def bad_schema(why: str) -> PluginError:
    """Build the error of a schema that cannot be used."""
    return PluginError(
        f"its parameters are no usable JSON Schema: {why}",
        code="NIT554",
        hint="correct the schema; `type`, `properties` and `required` are enough for most tools",
    )


def names_parameters_only(schema: JsonObject) -> bool:
    """Whether a schema only lists its parameters, and says nothing about them together."""
    return CONSTRAINTS.isdisjoint(schema.keys() - _AROUND_PARAMETERS)


def is_plain_schema(schema: JsonObject) -> bool:
    """Whether it lists parameters by plain types only, so that types decide every question.

    Such a schema is well-formed by its shape.
    """
    properties = schema.get("properties", {})
    required = schema.get("required", [])
    if not isinstance(properties, dict) or not isinstance(required, list):
        return False
    if not isinstance(schema.get("additionalProperties", True), bool):
        return False
    if schema.get("type", "object") != "object" or not names_parameters_only(schema):
        return False
    return (
        all(isinstance(name, str) for name in required)
        and len(set(map(str, required))) == len(required)
        and all(_is_plain_property(value) for value in properties.values())
        and not any(key.startswith("$") for key in schema)
    )


def _is_plain_property(schema: JsonValue) -> bool:
    if not isinstance(schema, dict) or any(key.startswith("$") for key in schema):
        return False
    said = CONSTRAINTS & schema.keys()
    if not all(isinstance(schema.get(key, ""), str) for key in ("title", "description", "format")):
        return False
    if "anyOf" in said and len(said) == 1:
        members = schema["anyOf"]
        return isinstance(members, list) and bool(members) and all(map(_is_one_type, members))
    return not said or _is_one_type(schema)


def _is_one_type(schema: JsonValue) -> bool:
    if not isinstance(schema, dict) or len(CONSTRAINTS & schema.keys()) != 1:
        return False
    kind = schema.get("type")
    return isinstance(kind, str) and kind in PYTHON_TYPES and not any(k[:1] == "$" for k in schema)


class _Copier:
    def __init__(self) -> None:
        self._parts = 0

    def schema(self, schema: JsonObject, depth: int) -> JsonObject:
        self._count(depth)
        copy: JsonObject = {}
        for key, value in schema.items():
            if type(key) is not str:
                raise bad_schema(f"the key {key!r} is no text")
            if key in _NOTES:
                continue
            if key in _MAPS and isinstance(value, dict):
                copy[key] = {name: self._any(part, depth + 1) for name, part in value.items()}
            elif key in _LISTS and isinstance(value, list):
                copy[key] = [self._any(part, depth + 1) for part in value]
            elif key in _ONE:
                copy[key] = self._any(value, depth + 1)
            else:
                copy[key] = self._plain(value, depth + 1)
        return _with_null(copy) if schema.get("nullable") is True else copy

    def _any(self, value: JsonValue, depth: int) -> JsonValue:
        return self.schema(value, depth) if isinstance(value, dict) else self._plain(value, depth)

    def _plain(self, value: JsonValue, depth: int) -> JsonValue:
        self._count(depth)
        if isinstance(value, dict):
            return {key: self._plain(part, depth + 1) for key, part in value.items()}
        if isinstance(value, list | tuple):
            return [self._plain(part, depth + 1) for part in value]
        return value

    def _count(self, depth: int) -> None:
        self._parts += 1
        if depth > _DEEPEST or self._parts > _MOST_PARTS:
            raise bad_schema("it is too large or nests too deep")


def _with_null(schema: JsonObject) -> JsonObject:
    """Return the schema with null let in, its subschemas where they were."""
    null: JsonValue = {"type": "null"}
    whole = {"$ref", "allOf", "not", "if", "oneOf"} & schema.keys()
    if whole:
        return {"anyOf": [schema, null]}
    match schema.get("type"):
        case str() as kind if kind != "null":
            schema["type"] = [kind, "null"]
        case list() as kinds if "null" not in kinds:
            schema["type"] = [*kinds, "null"]
        case _:
            pass
    match schema.get("enum"):
        case list() as choices if None not in choices:
            schema["enum"] = [*choices, None]
        case _:
            pass
    if "const" in schema:
        schema["enum"] = [schema.pop("const"), None]
    match schema.get("anyOf"):
        case list() as members:
            schema["anyOf"] = [*members, null]
        case _:
            pass
    return schema
