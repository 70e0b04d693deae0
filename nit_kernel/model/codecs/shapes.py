"""The shapes in which models write calls as JSON, and how they differ from ordinary data.

A value is a call where it says so (`"type": "tool_calls"`, a list under `calls`), or where it
names a known tool *and* has a key for arguments. `{"name": "my-app", "version": "1"}` is data, and
so is a tool's own description.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nit_kernel.language.schema import JsonObject, JsonValue, ToolSpec, nearest
from nit_kernel.model.codecs.names import find_tool

ARGUMENT_KEYS = (
    "arguments", "input", "parameters", "args", "params", "action_input", "tool_input",
)  # fmt: skip
"""Keys that hold the arguments of a call, the protocol's own first."""

NAME_KEYS = ("name", "tool", "tool_name", "function_name", "action", "function")
LIST_KEYS = ("calls", "tool_calls")
# Tuples: data may hold a list or an object under `type`, which no set can be asked for.
_LIST_TYPES = ("tool_calls", "tool_call", "function_calls")
_CALL_TYPES = ("tool_call", "function_call", "tool_use", "function", "call")
_ONLY_LIST_TYPES = ("tool_calls", "function_calls")
_FINAL_KEYS = {"type", "text", *LIST_KEYS}

_KEY = r"""\\*["']?(?:{})\\*["']?\s*:"""
_FIRST_KEY = re.compile(
    r"\s*[\[{]\s*(?:\{\s*)?"
    + _KEY.format("|".join(("type", "id", "text", *LIST_KEYS, *NAME_KEYS, *ARGUMENT_KEYS)))
)
_EVIDENCE = re.compile(
    _KEY.format("|".join((*LIST_KEYS, *ARGUMENT_KEYS)))
    + r"""|\\*["']?type\\*["']?\s*:\s*\\*["'](?:final|tool_calls?|function_call)"""
)
_EVIDENCE_CHARS = 4_000


@dataclass(frozen=True, slots=True)
class RawCall:
    """A call as it stands in the JSON: arguments not yet read."""

    id: str
    name: str
    arguments: Any


@dataclass(frozen=True, slots=True)
class Calls:
    """The value is one or several calls."""

    calls: tuple[RawCall, ...]


@dataclass(frozen=True, slots=True)
class Final:
    """The value is the answer to the person."""

    text: str


@dataclass(frozen=True, slots=True)
class Malformed:
    """The value is meant as a message of the protocol, and is none."""

    what: str


Shape = Calls | Final | Malformed | None


def shape_of(value: JsonValue, tools: Sequence[ToolSpec], *, is_whole: bool) -> Shape:
    """Return what a JSON value in a reply is; `None`: ordinary data.

    Args:
        value: The value.
        tools: The tools that there are; none: any name counts.
        is_whole: Whether the value is the whole reply; inside prose more evidence is wanted.
    """
    if isinstance(value, list):
        calls = [_single(item, tools) for item in value]
        found = [call for call in calls if call is not None]
        return Calls(tuple(found)) if found and len(found) == len(calls) else None
    if not isinstance(value, dict):
        return None
    kind = value.get("type")
    key = next((key for key in LIST_KEYS if key in value), None)
    if key is not None or kind in _ONLY_LIST_TYPES:
        listed = _listed(value, key, tools, is_whole=is_whole)
        if listed is not None:
            return listed
    if kind == "final":
        text = value.get("text")
        return Final(text) if isinstance(text, str) else Malformed("`text` must be a text")
    if is_whole and isinstance(value.get("text"), str) and set(value) <= _FINAL_KEYS:
        return Final(str(value["text"]))
    single = _single(value, tools)
    return Calls((single,)) if single is not None else None


def looks_like_protocol(text: str, at: int) -> bool:
    """Return whether the JSON that begins at `at` and cannot be read was meant as protocol."""
    if _FIRST_KEY.match(text, at) is None:
        return False
    return _EVIDENCE.search(text, at, at + _EVIDENCE_CHARS) is not None


def _listed(
    value: JsonObject, key: str | None, tools: Sequence[ToolSpec], *, is_whole: bool
) -> Shape:
    """Read `{"calls": [..]}`; `None` where it is not one after all."""
    says_so = value.get("type") in _LIST_TYPES
    items = value.get(key) if key is not None else None
    if value.get("type") == "final":
        return Malformed("`final` has calls beside it") if items else None
    if not isinstance(items, list):
        if says_so or (is_whole and items is None and set(value) <= _FINAL_KEYS - {"text"}):
            return Malformed("`calls` must be a list of calls")
        return None
    if not items:
        return Malformed("`calls` is empty") if says_so else None
    if not says_so and not is_whole:
        found = [_single(item, tools) for item in items]
        calls = [call for call in found if call is not None]
        return Calls(tuple(calls)) if len(calls) == len(items) else None
    calls = [_element(item) for item in items]
    whole = [call for call in calls if call is not None]
    if len(whole) < len(calls):
        return Malformed("each call must be an object with a `name`")
    return Calls(tuple(whole))


def _element(item: JsonValue) -> RawCall | None:
    """Read an element of a list that says that it holds calls: arguments may be missing."""
    if not isinstance(item, dict):
        return None
    inner = item.get("function")
    if isinstance(inner, dict):
        merged = {**{k: v for k, v in item.items() if k != "function"}, **inner}
        merged["id"] = item.get("id")
        return _element(merged)
    name = next((item[key] for key in NAME_KEYS if isinstance(item.get(key), str)), None)
    if not isinstance(name, str) or not name.strip():
        return None
    own = item.get("id")
    given = next((item[key] for key in ARGUMENT_KEYS if key in item), None)
    return RawCall(own if isinstance(own, str) else "", name, given)


def _single(item: JsonValue, tools: Sequence[ToolSpec]) -> RawCall | None:
    """Read a value that is one call by itself, or return `None` where it is data."""
    if not isinstance(item, dict):
        return None
    inner = item.get("function") or item.get("function_call") or item.get("tool_call")
    fields = inner if isinstance(inner, dict) else item
    says_so = item.get("type") in _CALL_TYPES or fields is not item
    call = _element(fields if fields is not item else item)
    if call is None or _describes_a_tool(fields):
        return None
    has_arguments = any(key in fields for key in ARGUMENT_KEYS)
    if not has_arguments and not (says_so and item.get("type") != "function"):
        return None
    known = not tools or _is_near(call.name, tools)
    if not known and item.get("type") not in _CALL_TYPES:
        return None
    own = item.get("id")
    return RawCall(own if isinstance(own, str) else call.id, call.name, call.arguments)


def _is_near(name: str, tools: Sequence[ToolSpec]) -> bool:
    return find_tool(name, tools) is not None or bool(nearest(name, [t.name for t in tools]))


def _describes_a_tool(fields: JsonObject) -> bool:
    schema = fields.get("parameters")
    return "description" in fields or (
        isinstance(schema, dict) and "properties" in schema and schema.get("type") == "object"
    )
