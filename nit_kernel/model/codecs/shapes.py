"""The shapes in which models write calls as JSON, and how they differ from ordinary data.

A value is a call where it says so (`"type": "tool_calls"`, a list under `calls`), or where it
names a known tool *and* has a key for arguments. `{"name": "my-app", "version": "1"}` is data, and
so is a tool's own description.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
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
_SURE_TYPES = ("tool_call", "function_call", "tool_use")
_ONLY_LIST_TYPES = ("tool_calls", "function_calls")
_FINAL_KEYS = {"type", "text", *LIST_KEYS}
_ABOUT_A_CALL = {"id", "type", "index", "function", "call_id", "tool_call_id"}

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
_PAIR = r"""["'](?:{})["']\s*:\s*["'][^"'\n]*["']\s*"""
_CUT = re.compile(
    r"[\[{\s]*(?P<pairs>(?:"
    + _PAIR.format("|".join(("type", "id", *NAME_KEYS)))
    + r""",\s*)*)(?:["'](?P<key>\w*)(?:["']\s*(?::\s*(?:["'](?P<value>[^"'\n]*)["']?\s*)?)?)?)?\Z"""
)


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
        return _of_items(value, tools)
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
    inner = next(iter(value.values())) if len(value) == 1 else None
    says_so = isinstance(inner, dict) and inner.get("type") in (*_ONLY_LIST_TYPES, "final")
    if isinstance(inner, dict) and (says_so or any(key in inner for key in LIST_KEYS)):
        return shape_of(inner, tools, is_whole=False)
    single = _single(value, tools)
    return Calls((single,)) if isinstance(single, RawCall) else single


def arguments_key(fields: Mapping[str, Any]) -> str | None:
    """Return the key under which a call holds its arguments.

    One that holds nothing counts only for want of another.
    """
    present = [key for key in ARGUMENT_KEYS if key in fields]
    return next((key for key in present if fields[key]), present[0] if present else None)


def looks_like_protocol(text: str, at: int) -> bool:
    """Return whether the JSON that begins at `at` and cannot be read was meant as protocol."""
    if _FIRST_KEY.match(text, at) is None:
        return False
    return _EVIDENCE.search(text, at, at + _EVIDENCE_CHARS) is not None or _is_cut(text, at)


def _is_cut(text: str, at: int) -> bool:
    """Return whether the text ends so early in a call that no key for arguments has come."""
    cut = _CUT.match(text, at)
    if cut is None:
        return False
    key, value = cut["key"] or "", cut["value"]
    if value is not None and key == "type":
        return any(kind.startswith(value) for kind in (*_LIST_TYPES, *_CALL_TYPES, "final"))
    if value is not None:
        return key in NAME_KEYS
    return any(known.startswith(key) for known in (*ARGUMENT_KEYS, *NAME_KEYS, *LIST_KEYS, "type"))


def _of_items(items: list[JsonValue], tools: Sequence[ToolSpec]) -> Shape:
    """Read a bare list: calls, messages of the protocol, or such a list in a list."""
    shapes = [shape_of(item, tools, is_whole=False) for item in items]
    if len(shapes) == 1:
        return shapes[0]
    calls = [call for shape in shapes if isinstance(shape, Calls) for call in shape.calls]
    if calls and not all(isinstance(shape, Calls) for shape in shapes):
        return Malformed("a list of calls holds something else beside them")
    faults = [shape for shape in shapes if isinstance(shape, Malformed)]
    return faults[0] if faults else Calls(tuple(calls)) if calls else None


def _listed(
    value: JsonObject, key: str | None, tools: Sequence[ToolSpec], *, is_whole: bool
) -> Shape:
    """Read `{"calls": [..]}`; `None` where it is not one after all."""
    says_so = value.get("type") in _LIST_TYPES
    items = value.get(key) if key is not None else None
    if value.get("type") == "final":
        return Malformed("`final` has calls beside it") if items else None
    listed = items if isinstance(items, list) else [items]
    is_meant = says_so or is_whole or any(_names_a_tool(item, tools) for item in listed)
    if not isinstance(items, list):
        is_bare = set(value) <= _FINAL_KEYS and not (items is None and "text" in value)
        is_bare = is_bare and (items is None or isinstance(items, (dict, str)))
        if says_so or (is_meant and is_bare):
            return Malformed("`calls` must be a list of calls")
        return None
    if not items:
        return Malformed("`calls` is empty") if says_so else None
    calls = [_element(item) if is_meant else _single(item, tools) for item in items]
    if not is_meant and not all(isinstance(call, RawCall) for call in calls):
        return None
    faults = [call for call in calls if isinstance(call, Malformed)]
    return faults[0] if faults else Calls(tuple(c for c in calls if isinstance(c, RawCall)))


def _element(item: JsonValue) -> RawCall | Malformed:
    """Read an element of a list that says that it holds calls: arguments may be missing.

    They are not missing where something else stands in their place: a call that came with
    arguments is never run without them.
    """
    name = _name_in(item)
    if not isinstance(item, dict) or name is None:
        return Malformed("each call must be an object with a `name`")
    inner = item.get("function")
    if isinstance(inner, dict):
        outer = {key: value for key, value in item.items() if key != "function"}
        return _element({**outer, **inner, "id": item.get("id")})
    key = arguments_key(item)
    if (key is None or item[key] is None) and not all(
        known in _ABOUT_A_CALL or known == key or (known in NAME_KEYS and value == name)
        for known, value in item.items()
    ):
        return Malformed("the arguments of each call belong under `arguments`")
    own = item.get("id")
    given = item[key] if key is not None else None
    return RawCall(own if isinstance(own, str) else "", name, given)


def _name_in(item: JsonValue) -> str | None:
    """Return the name of the tool that an object calls, itself or in its `function`."""
    if not isinstance(item, dict):
        return None
    inner = item.get("function")
    fields = {**item, **inner} if isinstance(inner, dict) else item
    name = next((fields[key] for key in NAME_KEYS if isinstance(fields.get(key), str)), None)
    return name if isinstance(name, str) and name.strip() else None


def _names_a_tool(item: JsonValue, tools: Sequence[ToolSpec]) -> bool:
    name = _name_in(item)
    return bool(tools) and name is not None and _is_near(name, tools)


def _single(item: JsonValue, tools: Sequence[ToolSpec]) -> RawCall | Malformed | None:
    """Read a value that is one call by itself, or return `None` where it is data."""
    if not isinstance(item, dict):
        return None
    inner = item.get("function") or item.get("function_call") or item.get("tool_call")
    fields = inner if isinstance(inner, dict) else item
    kind = item.get("type")
    says_so = kind in _CALL_TYPES or fields is not item
    call = _element(fields)
    name = _name_in(fields)
    if name is None or _describes_a_tool(fields):
        return None
    if isinstance(call, Malformed):
        is_meant = kind in _SURE_TYPES or (says_so and _names_a_tool(fields, tools))
        return call if is_meant else None
    has_arguments = any(key in fields for key in ARGUMENT_KEYS)
    if not has_arguments and not (says_so and kind != "function"):
        return None
    known = not tools or _is_near(call.name, tools)
    if not known and kind not in _CALL_TYPES:
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
