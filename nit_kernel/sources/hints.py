"""From a type hint to a JSON Schema, and from a coerced JSON value to what the hint says.

Plain hints (`str`, `int | None`, `list[str]`, `Literal["a"]`) are read here, so that a session of
ordinary functions starts without pydantic; every other hint goes through pydantic. A hint that JSON
cannot express becomes an empty schema, and its values pass as they are.
"""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, Union, cast, get_args, get_origin

if TYPE_CHECKING:
    from collections.abc import Callable

    from nit_kernel.language.schema import JsonObject, JsonValue

    Builder = Callable[[object], object]
    """Makes what the hint says out of a coerced value; raises `ValueError` where it cannot."""

_PLAIN: Final[dict[object, str]] = {str: "string", int: "integer", float: "number", bool: "boolean"}


class Hint:
    """One type hint, read.

    Attributes:
        schema: The JSON Schema; empty where JSON cannot express the hint.
        definitions: What `$ref`s of the schema name, for `$defs` of the whole.
        build: Makes the hint's type, or `None` where the coerced value is right as it is.
        is_native: Whether a value already is of the hint's Python type, or `None` for plain hints.
    """

    __slots__ = ("build", "definitions", "is_native", "schema")

    def __init__(
        self,
        schema: JsonObject,
        *,
        definitions: JsonObject | None = None,
        build: Builder | None = None,
        is_native: Callable[[object], bool] | None = None,
    ) -> None:
        self.schema = schema
        self.definitions = definitions or {}
        self.build = build
        self.is_native = is_native


def read_hint(hint: object) -> Hint:
    """Read a resolved hint; `inspect.Parameter.empty` and `Any` take everything."""
    schema = _plain_schema(hint)
    if schema is not None:
        return Hint(schema, build=_exact_float if hint is float else None)
    return _through_pydantic(hint)


def result_schema(hint: object) -> JsonObject | None:
    """The schema of a return hint, or `None` where there is nothing to say."""
    schema = _plain_schema(hint)
    if schema is None:
        read = _through_pydantic(hint)
        schema = read.schema
        if read.definitions:
            schema["$defs"] = read.definitions
    return schema or None


def _plain_schema(hint: object) -> JsonObject | None:
    """The schema of a hint of builtins only, exactly as pydantic would give it; else `None`."""
    if hint is Any or hint is object or isinstance(hint, TypeVar):
        return {}
    if hint is None or hint is types.NoneType:
        return {"type": "null"}
    if hint in _PLAIN:
        return {"type": _PLAIN[hint]}
    if hint is list:
        return {"type": "array", "items": {}}
    if hint is dict:
        return {"type": "object", "additionalProperties": True}
    origin, members = get_origin(hint), get_args(hint)
    if origin is list and len(members) == 1 and members[0] is not float:
        items = _plain_schema(members[0])
        return None if items is None else {"type": "array", "items": items}
    if origin is dict and len(members) == 2 and members[0] is str and members[1] is not float:
        values = _plain_schema(members[1])
        if values is None:
            return None
        return {"type": "object", "additionalProperties": values or True}
    if origin is Literal and all(isinstance(member, str) for member in members):
        choices = cast("list[JsonValue]", list(members))
        if len(choices) == 1:
            return {"const": choices[0], "type": "string"}
        return {"enum": choices, "type": "string"}
    if origin in (Union, types.UnionType) and float not in members:
        options = [_plain_schema(member) for member in members]
        if all(options):
            return {"anyOf": cast("list[JsonValue]", options)}
    return None


def _exact_float(value: object) -> object:
    """An integer for a float parameter becomes a float, unless that would lose digits."""
    if type(value) is int:
        try:
            return float(value) if float(value) == value else value
        except OverflowError:
            return value
    return value


def _through_pydantic(hint: object) -> Hint:
    import pydantic  # noqa: PLC0415 - only hints beyond the builtins need it
    from pydantic.errors import PydanticInvalidForJsonSchema, PydanticUserError  # noqa: PLC0415

    try:
        adapter = cast("pydantic.TypeAdapter[object]", pydantic.TypeAdapter(cast("Any", hint)))
        schema = cast("JsonObject", adapter.json_schema())
    except (PydanticUserError, PydanticInvalidForJsonSchema):
        return Hint({})
    definitions = cast("JsonObject", schema.pop("$defs", {}))

    def build(value: object) -> object:
        return adapter.validate_python(value)

    def is_native(value: object) -> bool:
        try:
            adapter.validate_python(value, strict=True)
        except pydantic.ValidationError:
            return False
        return True

    return Hint(schema, definitions=definitions, build=build, is_native=is_native)
