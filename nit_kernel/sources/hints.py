"""From a type hint to a JSON Schema, and from a coerced JSON value to what the hint says.

Plain hints (`str`, `int | None`, `list[str]`, `Literal["a"]`) are read here, so that a session of
ordinary functions starts without pydantic; every other hint goes through pydantic. A hint that JSON
cannot express becomes an empty schema, and its values pass as they are.
"""

from __future__ import annotations

import re
import types
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, Union, cast, get_args, get_origin

if TYPE_CHECKING:
    from collections.abc import Callable

    from nit_kernel.language.schema import JsonObject, JsonValue

    Builder = Callable[[object], object]
    """Makes what the hint says out of a coerced value; raises `ValueError` where it cannot."""

_DATES: Final = ("date-time", "date")
_NUMBER: Final = re.compile(r"\s*[+-]?[0-9]+(\.[0-9]*)?\s*")
_DEEPEST: Final = 100
_KINDS: Final[dict[type, str]] = {str: "string", list: "array", dict: "object"}
_PLAIN: Final[dict[object, str]] = {str: "string", int: "integer", float: "number", bool: "boolean"}


class Hint:
    """One type hint, read.

    Attributes:
        schema: The JSON Schema; empty where JSON cannot express the hint.
        definitions: What `$ref`s of the schema name, for `$defs` of the whole.
        build: Makes the hint's type, or `None` where the coerced value is right as it is.
        is_native: Whether a value already is of the hint's Python type, or `None` for plain hints.
        written: The JSON value of a default of the hint's Python type; raises `ValueError` where
            there is none. `None` for plain hints.
    """

    __slots__ = ("build", "definitions", "is_native", "schema", "written")

    def __init__(
        self,
        schema: JsonObject,
        *,
        definitions: JsonObject | None = None,
        build: Builder | None = None,
        is_native: Callable[[object], bool] | None = None,
        written: Builder | None = None,
    ) -> None:
        self.schema = schema
        self.definitions = definitions or {}
        self.build = build
        self.is_native = is_native
        self.written = written


def read_hint(hint: object) -> Hint:
    """Read a resolved hint; `inspect.Parameter.empty` and `Any` take everything."""
    return _plain_hint(hint) or _through_pydantic(hint)


def result_schema(hint: object) -> JsonObject | None:
    """The schema of a return hint, or `None` where there is nothing to say."""
    read = read_hint(hint)
    schema: JsonObject = dict(read.schema)
    if read.definitions:
        schema["$defs"] = read.definitions
    return schema or None


def _plain_hint(hint: object) -> Hint | None:
    """A hint of builtins only, with the schema that pydantic would give it; else `None`."""
    if hint is Any or hint is object or isinstance(hint, TypeVar):
        return Hint({})
    if hint is None or hint is types.NoneType:
        return Hint({"type": "null"})
    if isinstance(hint, type) and hint in _PLAIN:
        return Hint({"type": _PLAIN[hint]}, build=_exact_float if hint is float else None)
    if hint is list:
        return Hint({"type": "array", "items": {}})
    if hint is dict:
        return Hint({"type": "object", "additionalProperties": True})
    origin, members = get_origin(hint), get_args(hint)
    if origin is list and len(members) == 1:
        return _plain_list(_plain_hint(members[0]))
    if origin is dict and len(members) == 2 and members[0] is str:
        return _plain_dict(_plain_hint(members[1]))
    if origin is Literal and all(isinstance(member, str) for member in members):
        choices = cast("list[JsonValue]", list(members))
        if len(choices) == 1:
            return Hint({"const": choices[0], "type": "string"})
        return Hint({"enum": choices, "type": "string"})
    if origin in (Union, types.UnionType):
        return _plain_union(members)
    return None


def _plain_list(items: Hint | None) -> Hint | None:
    if items is None:
        return None
    return Hint({"type": "array", "items": items.schema}, build=_each_item(items.build))


def _plain_dict(values: Hint | None) -> Hint | None:
    if values is None:
        return None
    schema: JsonObject = {"type": "object", "additionalProperties": values.schema or True}
    return Hint(schema, build=_each_value(values.build))


def _plain_union(members: tuple[object, ...]) -> Hint | None:
    options = [_plain_hint(member) for member in members]
    read = [option for option in options if option is not None and option.schema]
    if len(read) < len(members):
        return None
    builders = [option.build for option in read if option.build is not None]
    if builders and (len(read) != 2 or not any(o.schema == {"type": "null"} for o in read)):
        return None  # Which member a value belongs to is pydantic's to say.
    schemas: list[JsonValue] = [option.schema for option in read]
    return Hint({"anyOf": schemas}, build=_unless_null(builders[0]) if builders else None)


def _each_item(build: Builder | None) -> Builder | None:
    if build is None:
        return None
    return lambda value: [build(item) for item in cast("list[object]", value)]


def _each_value(build: Builder | None) -> Builder | None:
    if build is None:
        return None
    return lambda value: {
        key: build(item) for key, item in cast("dict[object, object]", value).items()
    }


def _unless_null(build: Builder) -> Builder:
    return lambda value: None if value is None else build(value)


def _exact_float(value: object) -> object:
    """An integer for a float parameter becomes a float, unless that would lose digits."""
    if type(value) is int:
        try:
            return float(value) if float(value) == value else value
        except OverflowError:
            return value
    return value


def _through_pydantic(hint: object) -> Hint:
    if isinstance(hint, types.FunctionType | types.BuiltinFunctionType):
        return Hint({})  # pydantic would take it for a function whose calls are to be checked
    import pydantic  # noqa: PLC0415 - only hints beyond the builtins need it
    from pydantic.errors import (  # noqa: PLC0415
        PydanticInvalidForJsonSchema,
        PydanticUndefinedAnnotation,
        PydanticUserError,
    )
    from pydantic.json_schema import GenerateJsonSchema  # noqa: PLC0415

    class Quiet(GenerateJsonSchema):
        # A default that JSON cannot express is left out of the schema, without a warning.
        ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012

    try:
        adapter: pydantic.TypeAdapter[object] = pydantic.TypeAdapter(cast("Any", hint))
        schema = cast("JsonObject", adapter.json_schema(schema_generator=Quiet))
    except (
        PydanticUserError,
        PydanticInvalidForJsonSchema,
        PydanticUndefinedAnnotation,
        TypeError,
    ):
        return Hint({})
    definitions = cast("JsonObject", schema.pop("$defs", {}))
    has_dates = "'format': 'date" in str((schema, definitions))

    def build(value: object) -> object:
        if has_dates and _is_number_for_date(schema, value, definitions, 0):
            raise ValueError("a number is no date: write `2024-03-01`")
        return adapter.validate_python(value)

    def is_native(value: object) -> bool:
        try:
            adapter.validate_python(value, strict=True)
        except pydantic.ValidationError:
            return False
        return True

    def written(value: object) -> object:
        checked = adapter.validate_python(value, strict=True)
        return adapter.dump_python(checked, mode="json", warnings=False)

    return Hint(schema, definitions=definitions, build=build, is_native=is_native, written=written)


def _is_number_for_date(
    schema: JsonValue, value: object, definitions: JsonObject, depth: int
) -> bool:
    """Whether a text of digits stands where only a date can: pydantic would count seconds."""
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return False

    def look(part: JsonValue, member: object) -> bool:
        return _is_number_for_date(part, member, definitions, depth + 1)

    reference = schema.get("$ref")
    if isinstance(reference, str):
        return look(definitions.get(reference.rpartition("/")[2]), value)
    for keyword in ("anyOf", "oneOf"):
        match schema.get(keyword):
            case list() as members:
                fitting = [m for m in members if _may_be(m, value, definitions)]
                return bool(fitting) and all(look(member, value) for member in fitting)
            case _:
                pass
    match value:
        case str():
            return schema.get("format") in _DATES and _NUMBER.fullmatch(value) is not None
        case list():
            first, rest = schema.get("prefixItems"), schema.get("items")
            places = first if isinstance(first, list) else []
            items = cast("list[object]", value)
            return any(
                look(places[i] if i < len(places) else rest, item) for i, item in enumerate(items)
            )
        case dict():
            own, rest = schema.get("properties"), schema.get("additionalProperties")
            places = own if isinstance(own, dict) else {}
            held = cast("dict[str, object]", value)
            return any(look(places.get(name, rest), item) for name, item in held.items())
        case _:
            return False


def _may_be(schema: JsonValue, value: object, definitions: JsonObject) -> bool:
    """Whether a member of a union is of the type of a text, list or object."""
    if not isinstance(schema, dict):
        return True
    reference = schema.get("$ref")
    if isinstance(reference, str):
        return _may_be(definitions.get(reference.rpartition("/")[2]), value, definitions)
    kind = _KINDS.get(type(value))
    return schema.get("type", kind) == kind
