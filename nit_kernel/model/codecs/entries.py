"""Calls that stand beside the text, as entries of `tool_calls`: the provider's own form.

Every codec accepts them, since some servers parse calls whatever protocol was asked for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from nit_kernel.language.schema import JsonObject, JsonValue
from nit_kernel.model.codecs.arguments import read_arguments, split_arguments
from nit_kernel.model.codecs.codec import DecodeContext, Decoded, ToolCall, call_id
from nit_kernel.model.codecs.faults import (
    call_cut_off,
    call_missing_arguments,
    call_not_allowed,
    call_unknown_tool,
    choice_missed,
)
from nit_kernel.model.codecs.names import clean_name, find_tool
from nit_kernel.model.codecs.shapes import arguments_key
from nit_kernel.model.messages import Message, call_entry
from nit_kernel.model.prompt import chosen_tool

_ENTRY_KEYS = frozenset({"id", "type", "function", "index", "custom"})


def entries_of(message: Message) -> list[dict[str, Any]]:
    """Return the entries of a message's `tool_calls`, or its older `function_call` as one."""
    entries = message.get("tool_calls")
    if isinstance(entries, list) and entries:
        listed = cast("list[Any]", entries)
        return [
            cast("dict[str, Any]", entry if isinstance(entry, dict) else {}) for entry in listed
        ]
    older = message.get("function_call")
    return [{"function": older}] if isinstance(older, dict) else []


def read_entries(
    entries: Sequence[Mapping[str, Any]], context: DecodeContext
) -> tuple[list[ToolCall], list[str]]:
    """Read entries of `tool_calls`: the calls in order, and what was mended.

    A call that cannot be run has an `error`; it never gets empty arguments in place of unreadable
    ones, and never stops the others.
    """
    calls: list[ToolCall] = []
    warnings: list[str] = []
    for entry in entries:
        function = _function_of(entry)
        name = str(function.get("name") or "")
        key = arguments_key(function)
        raw = function[key] if key is not None else None
        is_elsewhere = raw is None and not set(function) <= {key, "name", "id", "type", "index"}
        own = entry.get("id")
        extra = {key: value for key, value in entry.items() if key not in _ENTRY_KEYS}
        parts = split_arguments(raw)
        if parts is not None:
            what = "several objects" if len(parts) > 1 else "an object and a repeat or an empty one"
            warnings.append(f"the arguments of `{name}` held {what}")
        for part in parts if parts is not None else [raw]:
            call, mended = read_call(
                own if isinstance(own, str) else "", name, part, context, index=len(calls)
            )
            warnings += mended
            if is_elsewhere:
                error = call.error or call_missing_arguments(call.name, ["arguments"])
                call = replace(call, error=error)
            if extra:
                call = replace(call, extra=extra)
            if call.id and any(_is_same(call, before) for before in calls):
                warnings.append(f"the call `{call.name}` was sent twice")
            else:
                calls.append(call)
    if context.finish_reason == "length" and calls:
        last = calls[-1]
        calls[-1] = replace(last, error=call_cut_off(last.name))
    return calls, warnings


def without_repeats(calls: Sequence[ToolCall], entries: Sequence[ToolCall]) -> list[ToolCall]:
    """Return the calls of a reply's text but for those that came as entries too."""
    beside = [(entry.name, entry.arguments) for entry in entries]
    return [call for call in calls if (call.name, call.arguments) not in beside]


def read_call(
    own_id: str,
    written: str,
    raw: Any,
    context: DecodeContext,
    *,
    index: int,
    protocol_text: str = "",
) -> tuple[ToolCall, list[str]]:
    """Read one call: its tool, its arguments, its id.

    Args:
        own_id: The id that it came with, or nothing.
        written: The tool's name as the model wrote it.
        raw: The arguments as they came.
        context: Says which tools there are.
        index: The call's place in the reply.
        protocol_text: What an id of our own is derived from.
    """
    warnings: list[str] = []
    found = find_tool(written, context.tools)
    name = found.tool.name if found is not None else written
    if found is not None and not found.is_exact:
        warnings.append(f"`{' '.join(written.split())[:60]}` was read as `{name}`")
    read = read_arguments(raw, name, found.tool if found is not None else None)
    warnings += read.warnings
    error = read.error
    if found is None and (context.tools or not name.strip()):
        error = call_unknown_tool(clean_name(written), context.tools)
    fresh = own_id or call_id(protocol_text, index, name, read.value)
    return ToolCall(fresh, name, read.value, error), warnings


def entry_of(call: ToolCall) -> JsonObject:
    """Return the entry of `tool_calls` with which a call stands in the history."""
    arguments = call.arguments if isinstance(call.arguments, str) else _json(call.arguments)
    return {**cast("JsonObject", call.extra or {}), **call_entry(call.id, call.name, arguments)}


def honoured(decoded: Decoded, context: DecodeContext) -> Decoded:
    """Hold a reply to the request's `tool_choice`.

    Raises:
        CodecError: A call was demanded and none came.
    """
    choice = context.tool_choice
    named = chosen_tool(choice)
    if (named is not None or choice == "required") and not decoded.calls and not decoded.scripts:
        raise choice_missed(f"`{named}`" if named is not None else "a tool")
    if choice == "none" and decoded.calls:
        wanted = "no tool may be called now, answer in words"
        calls = [_refused(call, wanted) for call in decoded.calls]
        return replace(decoded, calls=calls)
    if named is not None:
        tool = find_tool(named, context.tools)
        exact = tool.tool.name if tool is not None else named
        calls = [
            call if call.name == exact else _refused(call, f"only `{exact}` may be called now")
            for call in decoded.calls
        ]
        return replace(decoded, calls=calls)
    return decoded


def _function_of(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what an entry calls; of one in another form no more than the name, and a mark."""
    function = entry.get("function") or entry.get("custom")
    if isinstance(function, dict):
        return cast("Mapping[str, Any]", function)
    name = next((n for n in (function, entry.get("name")) if isinstance(n, str)), "")
    return {"name": name, "malformed": True}


def _refused(call: ToolCall, wanted: str) -> ToolCall:
    return replace(call, error=call.error or call_not_allowed(call.name, wanted))


def _is_same(call: ToolCall, before: ToolCall) -> bool:
    return (call.id, call.name, call.arguments) == (before.id, before.name, before.arguments)


def _json(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
