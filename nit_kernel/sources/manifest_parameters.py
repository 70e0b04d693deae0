"""The many ways in which manifests write the parameters of a tool, read into one JSON Schema.

```
"parameters": {"type": "object", "properties": {..}}           a JSON Schema: as it is
"parameters": {"url": {"type": "string"}, ..}, "required": [..]   a map of name to definition
"parameters": {"url": "the address", ..}                        a map of name to free text
"params": [{"name": "url", "type": "string", ..}, ..]           a list
```

What the manifest does not say (types, which are required) is left open here and taken from the
function's signature later.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from nit_kernel.language.parameters import as_object
from nit_kernel.sources.plugin_faults import shown

if TYPE_CHECKING:
    from pathlib import Path

    from nit_kernel.language.schema import JsonObject, JsonValue
    from nit_kernel.sources.plugin_faults import FaultList

_TYPES: Final = {
    "string": "string",
    "integer": "integer",
    "number": "number",
    "boolean": "boolean",
    "array": "array",
    "object": "object",
    "null": "null",
    "str": "string",
    "text": "string",
    "int": "integer",
    "float": "number",
    "double": "number",
    "bool": "boolean",
    "list": "array",
    "dict": "object",
    "map": "object",
    "none": "null",
}
_ANY: Final = frozenset({"any", "*", "unknown", "mixed", "json", ""})

_SCHEMA_KEYWORDS: Final = frozenset(
    "$schema $id $ref $defs definitions $comment $anchor type properties required title description"
    " default examples additionalProperties patternProperties propertyNames minProperties"
    " maxProperties dependentRequired dependentSchemas dependencies unevaluatedProperties"
    " allOf anyOf oneOf not if then else strict nullable".split()
)
_MAPS_OF_SCHEMAS: Final = ("properties", "patternProperties", "$defs", "definitions")
_SCHEMAS: Final = ("items", "prefixItems", "additionalProperties", "allOf", "anyOf", "oneOf", "not")
_COMBINING: Final = ("allOf", "anyOf", "oneOf")


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """Parameters as one part of a plugin describes them.

    Attributes:
        schema: An object schema.
        says_required: Whether the part said which parameters are required.
        untyped: The parameters of which it gave only words.
    """

    schema: JsonObject
    says_required: bool
    untyped: frozenset[str] = field(default=frozenset())


def read_parameters(
    value: JsonValue,
    *,
    beside: JsonObject,
    where: str,
    path: Path,
    faults: FaultList,
) -> Described | None:
    """Read the parameters of one tool in whichever of the known forms they are.

    Args:
        value: What stands under `parameters`, `params` or `inputSchema`.
        beside: The object it stands in, for a `required` list next to it.
        where: Its place, for faults: `tools[0].parameters`.
        path: The file.
        faults: Takes what is wrong.

    Returns:
        `None` where it is in none of the forms (then there is a fault).
    """
    match value:
        case list() if value:
            return _from_list(value, where, path, faults)
        case list() | dict() if not value:
            return Described(schema={"type": "object"}, says_required=False)
        case dict() if is_object_schema(value):
            return _from_schema(value, where, path, faults)
        case dict():
            return _from_map(value, beside, where, path, faults)
        case _:
            faults.bad_value(path, where, "a JSON Schema object, a map or a list", value)
            return None


def is_object_schema(value: JsonObject) -> bool:
    """Whether this is a JSON Schema of arguments, and not a map of name to definition.

    A parameter may be called `type` or `properties`: what stands under the name decides.
    """
    if value.get("type") == "object":
        return value.keys() <= _SCHEMA_KEYWORDS or _holds_schemas(value.get("properties"))
    if isinstance(value.get("$ref"), str) and value.keys() <= _SCHEMA_KEYWORDS:
        return True
    if any(isinstance(value.get(keyword), list) for keyword in _COMBINING):
        return value.keys() <= _SCHEMA_KEYWORDS
    properties = value.get("properties")
    if "type" in value or not value.keys() <= _SCHEMA_KEYWORDS:
        return False
    # `{"properties": {"type": "array", "description": ".."}}` is a parameter of that name.
    return _holds_schemas(properties)


def unwrapped(raw: JsonValue, where: str) -> tuple[JsonValue, str]:
    """Take a tool out of OpenAI's `{"type": "function", "function": {..}}`."""
    if isinstance(raw, dict) and isinstance(raw.get("function"), dict):
        return raw["function"], f"{where}.function" if where else "function"
    return raw, where


def read_returns(raw: JsonObject, prefix: str, path: Path, faults: FaultList) -> JsonObject | None:
    """Read the schema of a tool's result: `returns`, or MCP's `outputSchema`."""
    for key in ("returns", "outputSchema"):
        value = raw.get(key)
        if value is None:
            continue
        if isinstance(value, dict):
            return value
        if not isinstance(value, str):
            faults.bad_value(path, f"{prefix}{key}", "a JSON Schema object", value)
    return None


def _holds_schemas(properties: JsonValue) -> bool:
    return isinstance(properties, dict) and all(
        isinstance(member, dict | bool) for member in properties.values()
    )


def _from_schema(value: JsonObject, where: str, path: Path, faults: FaultList) -> Described | None:
    value = _without_nulls(value)
    properties = value.get("properties", {})
    if not _holds_schemas(properties):
        faults.bad_value(path, f"{where}.properties", "an object of schemas", properties)
        return None
    schema: JsonObject = {"type": "object", **value}
    # Older drafts write `"required": true` on the property itself.
    marked = _take_marks(schema)
    required = schema.get("required")
    if required is not None and not _is_list_of_text(required):
        faults.bad_value(path, f"{where}.required", "a list of names", required)
        return None
    return Described(schema=schema, says_required=required is not None or marked)


def _without_nulls(schema: JsonObject) -> JsonObject:
    """A schema without the fields that are null, in it and in what it holds.

    Programs that write manifests leave fields of their own empty so; JSON Schema knows no such
    field, but for a default or constant that is null.
    """
    kept: JsonObject = {}
    for key, value in schema.items():
        match value:
            case None if key not in ("default", "const"):
                continue
            case dict() if key in _MAPS_OF_SCHEMAS:
                kept[key] = {name: _inner(member) for name, member in value.items()}
            case dict() if key in _SCHEMAS:
                kept[key] = _without_nulls(value)
            case list() if key in _SCHEMAS:
                kept[key] = [_inner(member) for member in value]
            case _:
                kept[key] = value
    return kept


def _inner(schema: JsonValue) -> JsonValue:
    return _without_nulls(schema) if isinstance(schema, dict) else schema


def _take_marks(schema: JsonObject) -> bool:
    """Move `required: true` on properties into the schema's own list; whether there was any."""
    properties = as_object(schema.get("properties"))
    if properties is None:
        return False
    marks = {
        name: member["required"] is True
        for name, member in properties.items()
        if isinstance(member, dict) and isinstance(member.get("required"), bool)
    }
    if not marks:
        return False
    schema["properties"] = {
        name: {k: v for k, v in member.items() if k != "required"}
        if name in marks and isinstance(member, dict)
        else member
        for name, member in properties.items()
    }
    there = schema.get("required")
    names: list[JsonValue] = list(there) if isinstance(there, list) else []
    names += [name for name, is_required in marks.items() if is_required and name not in names]
    schema["required"] = names
    return True


def _from_list(
    value: list[JsonValue], where: str, path: Path, faults: FaultList
) -> Described | None:
    definitions: JsonObject = {}
    for index, item in enumerate(value):
        name = item.get("name") if isinstance(item, dict) else item
        if not isinstance(name, str) or not name:
            faults.bad_value(path, f"{where}[{index}]", 'an object with a "name"', item)
            return None
        if name in definitions:
            faults.bad_value(path, f"{where}[{index}].name", "a name of its own", name)
            return None
        definitions[name] = (
            {key: member for key, member in item.items() if key != "name"}
            if isinstance(item, dict)
            else ""
        )
    return _from_definitions(definitions, None, where, path, faults)


def _from_map(
    value: JsonObject, beside: JsonObject, where: str, path: Path, faults: FaultList
) -> Described | None:
    definitions = dict(value)
    required = beside.get("required")
    if _is_list_of_text(definitions.get("required")):
        required = definitions.pop("required")
    if required is not None and not _is_list_of_text(required):
        faults.bad_value(path, "required", "a list of names", required)
        return None
    return _from_definitions(definitions, required, where, path, faults)


def _from_definitions(
    definitions: JsonObject, required: JsonValue, where: str, path: Path, faults: FaultList
) -> Described | None:
    properties: JsonObject = {}
    untyped: set[str] = set()
    marked: list[JsonValue] = []
    says_required = required is not None
    for name, definition in definitions.items():
        match definition:
            case str():
                member: JsonObject = {"description": definition} if definition else {}
            case dict():
                member = _without_nulls(definition)
            case _:
                faults.bad_value(path, f"{where}.{name}", "a definition or a text", definition)
                return None
        mark = member.get("required")
        if isinstance(mark, bool):
            del member["required"]
            says_required = True
            if mark:
                marked.append(name)
        if not _settle_type(member, f"{where}.{name}", path, faults):
            return None
        if not member.keys() & {"type", "enum", "const", "$ref", "anyOf", "oneOf", "allOf"}:
            untyped.add(name)
        properties[name] = member
    names: list[JsonValue] = list(required) if isinstance(required, list) else []
    unknown = [name for name in names if name not in properties]
    if unknown:
        faults.bad_value(path, "required", f"names out of {sorted(properties)}", unknown[0])
        return None
    schema: JsonObject = {"type": "object", "properties": properties}
    names += [name for name in marked if name not in names]
    if names:
        schema["required"] = names
    return Described(schema=schema, says_required=says_required, untyped=frozenset(untyped))


def _settle_type(member: JsonObject, where: str, path: Path, faults: FaultList) -> bool:
    """Write the type of one parameter as JSON Schema does; `str`, `int?` and `a|b` are known."""
    written = member.get("type")
    match written:
        case None:
            member.pop("type", None)
            return True
        case str():
            words = [word.strip().lower() for word in written.replace(" or ", "|").split("|")]
            if words[0].endswith("?"):
                words = [words[0][:-1], "null", *words[1:]]
        case list() if _is_list_of_text(written):
            words = [str(word).lower() for word in written]
        case _:
            faults.bad_value(path, f"{where}.type", "the name of a JSON type", written)
            return False
    if any(word in _ANY for word in words):
        del member["type"]
        # An empty schema lets every value in, a DataFrame too.
        return True
    if not all(word in _TYPES for word in words):
        # Older manifests have types of their own, such as `date`: the code's hint says more.
        del member["type"]
        faults.note(path, f"`{where}.type`: {shown(written)} is no JSON type")
        return True
    types = list(dict.fromkeys(_TYPES[word] for word in words))
    member["type"] = types[0] if len(types) == 1 else [*types]
    return True


def _is_list_of_text(value: JsonValue) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
