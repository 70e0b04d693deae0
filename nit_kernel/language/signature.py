"""The signature line of a tool: `search(query: str, limit: int = 10) -> list`."""

from __future__ import annotations

import json
from typing import Final

from nit_kernel.language.parameters import (
    Declared,
    JsonObject,
    JsonValue,
    declared_parameters,
    resolve_reference,
)

_TYPE_NAMES: Final = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "array": "list",
    "object": "dict",
    "null": "null",
}
_MOST_CHOICES: Final = 12
_MOST_FIELDS: Final = 12
_DEEPEST: Final = 3
_LONGEST_VALUE: Final = 60


def signature_text(
    name: str,
    declared: Declared,
    names: dict[str, str],
    *,
    parameters: JsonObject,
    returns: JsonValue,
) -> str:
    """Return the signature line.

    Args:
        name: The tool's name as it is to be written.
        declared: What `parameters` declares.
        names: The name as written in NIT of each declared parameter.
        parameters: The schema of the arguments, in which references are looked up.
        returns: The schema of the result, or `None` where nothing is known about it.
    """
    fields = [
        _field(
            names.get(key, key), schema, root=parameters, required=key in declared.required, depth=0
        )
        for key, schema in declared.properties.items()
    ]
    if declared.is_open:
        extra = parameters.get("additionalProperties")
        kind = type_text(extra, root=parameters) if isinstance(extra, dict) and extra else "any"
        fields.append(f"**: {kind}")
    arrow = "" if returns is None else f" -> {type_text(returns, root=returns)}"
    return f"{name}({', '.join(fields)}){arrow}"


def type_text(schema: JsonValue, *, root: JsonValue, depth: int = 0) -> str:
    """Return a short type such as `str`, `list[int]`, `"a" | "b"`, `{name: str, age: int = null}`.

    Args:
        schema: The schema to describe.
        root: The document in which its references are looked up.
        depth: How deep inside another type it stands; deep ones are only named.
    """
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return "any"
    if "$ref" in schema:
        return type_text(resolve_reference(root, schema["$ref"]), root=root, depth=depth + 1)
    if "const" in schema:
        return _value_text(schema["const"])
    match schema.get("enum"):
        case [*options] if options:
            return _alternatives([_value_text(option) for option in options])
        case _:
            pass
    for keyword in ("anyOf", "oneOf"):
        match schema.get(keyword):
            case [*members] if members:
                texts = [type_text(member, root=root, depth=depth + 1) for member in members]
                if "any" not in texts:
                    return _alternatives(texts)
            case _:
                pass
    match schema.get("type"):
        case str() as kind:
            text = _one_type(kind, schema, root=root, depth=depth)
        case [*kinds] if kinds:
            text = _alternatives(
                [_one_type(str(kind), schema, root=root, depth=depth) for kind in kinds]
            )
        case _:
            return _untyped(schema, root=root, depth=depth)
    return f"{text} | null" if schema.get("nullable") is True and "null" not in text else text


def _untyped(schema: JsonObject, *, root: JsonValue, depth: int) -> str:
    match schema.get("allOf"):
        case [*members]:
            for member in members:
                text = type_text(member, root=root, depth=depth + 1)
                if text != "any":
                    return text
        case _:
            pass
    if "properties" in schema:
        return _one_type("object", schema, root=root, depth=depth)
    return "any"


def _one_type(kind: str, schema: JsonObject, *, root: JsonValue, depth: int) -> str:
    if kind == "array":
        items = type_text(schema.get("items"), root=root, depth=depth + 1)
        return "list" if items == "any" else f"list[{items}]"
    if kind == "object" and depth < _DEEPEST:
        declared = declared_parameters(schema)
        fields = [
            _field(key, field, root=root, required=key in declared.required, depth=depth + 1)
            for key, field in list(declared.properties.items())[:_MOST_FIELDS]
        ]
        if fields:
            more = ", ..." if len(declared.properties) > len(fields) else ""
            return f"{{{', '.join(fields)}{more}}}"
        extra = schema.get("additionalProperties")
        values = type_text(extra, root=root, depth=depth + 1) if isinstance(extra, dict) else "any"
        return "dict" if values == "any" else f"dict[str, {values}]"
    return _TYPE_NAMES.get(kind, "any")


def _field(name: str, schema: JsonValue, *, root: JsonValue, required: bool, depth: int) -> str:
    text = f"{name}: {type_text(schema, root=root, depth=depth)}"
    if required:
        return text
    default = schema.get("default") if isinstance(schema, dict) else None
    return f"{text} = {_value_text(default)}"


def _value_text(value: JsonValue) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}..."


def _alternatives(texts: list[str]) -> str:
    distinct = list(dict.fromkeys(part for text in texts for part in _parts(text)))
    if len(distinct) > _MOST_CHOICES:
        distinct = [*distinct[:_MOST_CHOICES], "..."]
    return " | ".join(distinct)


def _parts(text: str) -> list[str]:
    # `"a" | "b"` and the like may be one member of a union; text in quotes is left whole.
    return text.split(" | ") if not any(mark in text for mark in '"[{') else [text]
