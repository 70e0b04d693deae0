"""Arguments of a call, as a model or server wrote them, to a JSON object or an error.

Empty, blank and `null` mean no arguments. What cannot be read is an error: it never becomes `{}`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from nit_kernel.language.schema import JsonObject, JsonValue, ToolSpec
from nit_kernel.model.codecs.faults import (
    call_bad_arguments,
    call_missing_arguments,
    call_no_object,
    kind_of_json,
    span_of,
)
from nit_kernel.model.codecs.lenient import read_json, read_values
from nit_kernel.model.codecs.strict import Fault, Read


@dataclass(frozen=True, slots=True)
class Arguments:
    """Arguments as read: a value, an error if the call must not run, and what was mended."""

    value: JsonValue
    error: str | None = None
    warnings: tuple[str, ...] = ()


def read_arguments(raw: Any, name: str, tool: ToolSpec | None = None) -> Arguments:
    """Read the arguments of one call.

    Args:
        raw: A JSON text, or a value where the protocol carries one.
        name: The tool's name, for messages.
        tool: The tool, where it is known.
    """
    if raw is None or (isinstance(raw, str) and raw.strip() in ("", "null")):
        return _nothing(name, tool)
    if not isinstance(raw, str):
        return _as_object(cast("JsonValue", raw), name)
    found = read_json(raw, accept=fits(tool))
    if isinstance(found, Fault):
        place = span_of(raw, found.offset)
        why = found.why + (", the text ends too early" if found.at_end else "")
        return Arguments(raw, call_bad_arguments(name, why, place.line, place.column))
    return _unwrapped(found, name, tool)


def split_arguments(raw: Any) -> list[str] | None:
    """Return the parts of a text that holds several JSON objects one after the other.

    Some servers send the arguments twice, or those of several parallel calls as one text, or an
    empty object first, in whose place the real one comes. Equal neighbours count once, empty
    objects only where there are no others. `None`: the text is not several objects.
    """
    if not isinstance(raw, str) or "}" not in raw:
        return None
    found = read_values(raw)
    if isinstance(found, Fault) or len(found) < 2:
        return None
    parts: list[str] = []
    values: list[JsonValue] = []
    start = 0
    for read in found:
        if not isinstance(read.value, dict):
            return None
        if not values or values[-1] != read.value:
            values.append(read.value)
            parts.append(raw[start : read.end].strip())
        start = read.end
    filled = [part for part, value in zip(parts, values, strict=True) if value]
    return filled or parts


def _unwrapped(found: Read, name: str, tool: ToolSpec | None) -> Arguments:
    warnings = tuple(f"the arguments of `{name}` had {what}" for what in found.repairs)
    value = found.value
    if value is None or (isinstance(value, str) and value.strip() in ("", "null")):
        return _nothing(name, tool)
    if isinstance(value, str):
        inner = read_json(value)
        if isinstance(inner, Read) and isinstance(inner.value, dict):
            value = inner.value
            warnings = (*warnings, f"the arguments of `{name}` were JSON inside a text")
    read = _as_object(value, name)
    return Arguments(read.value, read.error, warnings)


def _as_object(value: JsonValue, name: str) -> Arguments:
    if isinstance(value, dict):
        return Arguments(value)
    return Arguments(value, call_no_object(name, kind_of_json(value)))


def _nothing(name: str, tool: ToolSpec | None) -> Arguments:
    missing = sorted(tool.required) if tool is not None else []
    empty: JsonObject = {}
    return Arguments(empty, call_missing_arguments(name, missing) if missing else None)


def fits(tool: ToolSpec | None) -> Callable[[JsonValue], bool] | None:
    """Return a test that tells the tool's arguments from other readings of the same text."""
    if tool is None:
        return None

    def test(value: JsonValue) -> bool:
        if not isinstance(value, dict):
            return False
        named = [tool.parameter_named(key) for key in value]
        return None not in named and tool.required <= set(named)

    return test
