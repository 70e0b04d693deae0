"""JSON as the whole reply: for local models without a tool API."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from nit_kernel.errors import CodecError
from nit_kernel.language.schema import JsonObject, JsonValue, ToolSpec
from nit_kernel.model.codecs.arguments import fits
from nit_kernel.model.codecs.codec import DecodeContext, Decoded, Streaming, ToolCall
from nit_kernel.model.codecs.entries import (
    entries_of,
    honoured,
    read_call,
    read_entries,
    without_repeats,
)
from nit_kernel.model.codecs.faults import (
    cut_off,
    unreadable,
    unreadable_arguments,
    wrong_shape,
)
from nit_kernel.model.codecs.history import Exchange, assistant_said, compact
from nit_kernel.model.codecs.json_values import Broken, Found, find_values
from nit_kernel.model.codecs.names import find_tool
from nit_kernel.model.codecs.prompted import prompted
from nit_kernel.model.codecs.reasoning import (
    Split,
    joined_reasoning,
    never_closed,
    split_reasoning,
)
from nit_kernel.model.codecs.shapes import Calls, Final, Malformed, RawCall, shape_of
from nit_kernel.model.messages import Message, Request, reasoning_of, text_of
from nit_kernel.model.messages import repair as repair_message
from nit_kernel.model.prompt import (
    CATALOGUE_TOOLS,
    JSON,
    JSON_FORM,
    RESULT_CHARS,
    catalogue,
    repair,
)

_CUT_FENCE = re.compile(r"(?:`{3,}|~{3,})[\w.+-]*\s*[{\[][^`~]*\Z")


class JsonCodec:
    """Asks for one JSON object a reply, and reads whatever models make of that.

    Args:
        instructions: Appended after the protocol.
        result_chars: Longest result that goes back whole.
        catalogue_tools: Above this number of tools the catalogue is a short list.
        schema: Whether to send the protocol's JSON Schema as `response_format`, for servers that
            enforce one.
        calls_in_open_reasoning: Whether a whole call in reasoning that never ended is run; left
            off, the model is asked again.
    """

    name = "json"
    streaming: Streaming = "buffer"
    defuses = True

    def __init__(
        self,
        *,
        instructions: str = "",
        result_chars: int = RESULT_CHARS,
        catalogue_tools: int = CATALOGUE_TOOLS,
        schema: bool = False,
        calls_in_open_reasoning: bool = False,
    ) -> None:
        self._instructions = instructions
        self._result_chars = result_chars
        self._catalogue_tools = catalogue_tools
        self._schema = schema
        self._calls_in_open_reasoning = calls_in_open_reasoning

    def __repr__(self) -> str:
        return "json_codec()"

    def encode(self, request: Request, tools: Sequence[ToolSpec]) -> Request:
        """Return the request with the protocol, the catalogue and the history as JSON."""
        listed = catalogue(tools, limit=self._catalogue_tools, has_help=False)
        parts = (JSON, self._instructions, listed)
        encoded = prompted(request, parts, self._exchange)
        if not self._schema:
            return encoded
        return replace(encoded, extra={**encoded.extra, "response_format": _response_format(tools)})

    def decode(self, message: Message, context: DecodeContext | None = None) -> Decoded:
        """Return the reply's answer or calls.

        Raises:
            CodecError: The reply was meant as a message of the protocol and cannot be read.
        """
        context = context or DecodeContext()
        split = split_reasoning(text_of(message))
        entries = entries_of(message)
        decoded = self._read(split, context, has_entries=bool(entries))
        beside, warnings = read_entries(entries, context)
        reasoning = joined_reasoning(reasoning_of(message), split.reasoning, split.open_text)
        return honoured(
            replace(
                decoded,
                calls=[*beside, *without_repeats(decoded.calls, beside)],
                reasoning=reasoning,
                warnings=[*warnings, *decoded.warnings],
            ),
            context,
        )

    def repair_prompt(self, error: CodecError, attempt: int, tools: Sequence[ToolSpec]) -> Message:
        """Return the message that asks for a better reply."""
        del attempt, tools
        return repair_message(repair(error, JSON_FORM))

    def _read(self, split: Split, context: DecodeContext, *, has_entries: bool) -> Decoded:
        if split.open_at < 0:
            return self._answer(split.answer, context)
        if has_entries:
            return self._answer(split.answer, context)
        drafted = self._messages_in(split.open_text, context)
        if Calls in drafted and self._calls_in_open_reasoning:
            return self._answer(split.open_text, context)
        if drafted or not split.answer.strip():
            raise never_closed(split, context.finish_reason)
        return self._answer(split.answer, context)

    @staticmethod
    def _messages_in(text: str, context: DecodeContext) -> set[type[Calls | Final]]:
        """Return the kinds of messages that a text holds; what is broken may be calls."""
        kinds: set[type[Calls | Final]] = set()
        for found in find_values(text):
            shape = Calls(())
            if isinstance(found, Found):
                shape = shape_of(found.value, context.tools, is_whole=False)
            kinds |= {type(shape)} if isinstance(shape, (Calls, Final)) else set()
        return kinds

    def _answer(self, text: str, context: DecodeContext) -> Decoded:
        def accept(value: JsonValue) -> bool:
            shape = shape_of(value, context.tools, is_whole=True)
            return isinstance(shape, Final) or (
                isinstance(shape, Calls) and all(_fits(call, context) for call in shape.calls)
            )

        messages: list[tuple[Found, Calls | Final]] = []
        for found in find_values(text, accept=accept):
            if isinstance(found, Broken):
                if context.finish_reason == "length":
                    raise cut_off(text, found.start)
                raise unreadable(text, found.fault.offset, found.fault.why, form="JSON")
            shape = shape_of(found.value, context.tools, is_whole=found.is_whole)
            if isinstance(shape, Malformed):
                raise wrong_shape(text, found.start, shape.what)
            if shape is not None and all(found.value != before.value for before, _ in messages):
                messages.append((found, shape))
        calls = self._read_calls(text, messages, context)
        if calls and context.finish_reason == "length":
            raise cut_off(text)
        warnings = [f"the reply had {what}" for found, _ in messages for what in found.repairs] + [
            warning for _, mended in calls for warning in mended
        ]
        finals = [shape.text for _, shape in messages if isinstance(shape, Final)]
        if calls:
            if _CUT_FENCE.search(text, messages[-1][0].end) is not None:
                warnings.append("what followed the calls was cut off, and left out")
            if finals:
                warnings.append("an answer beside the calls was left out: their results come first")
            return Decoded(calls=[call for call, _ in calls], warnings=warnings)
        if context.finish_reason == "length":
            warnings.append("the reply was cut off by the token limit")
        return Decoded(text="\n\n".join(finals) if finals else text, warnings=warnings)

    @staticmethod
    def _read_calls(
        text: str, messages: Sequence[tuple[Found, Calls | Final]], context: DecodeContext
    ) -> list[tuple[ToolCall, list[str]]]:
        calls: list[tuple[ToolCall, list[str]]] = []
        for found, shape in messages:
            if not isinstance(shape, Calls):
                continue
            for index, raw in enumerate(shape.calls):
                call, mended = read_call(
                    raw.id,
                    raw.name,
                    raw.arguments,
                    context,
                    index=index,
                    protocol_text=text[found.start : found.end],
                )
                if isinstance(call.arguments, str) and call.arguments == raw.arguments:
                    raise unreadable_arguments(text, found.start, call.name)
                calls.append((call, mended))
        return calls

    def _exchange(self, item: Exchange) -> list[Message]:
        calls: list[JsonValue] = [
            {"name": call.name, "arguments": call.arguments} for call in item.calls
        ]
        results: list[JsonValue] = [
            {"name": call.name, "output": call.outcome(self._result_chars)} for call in item.calls
        ]
        asked = compact({"type": "tool_calls", "calls": calls})
        answered = compact({"type": "tool_results", "results": results})
        return [assistant_said(asked), {"role": "user", "content": answered}]


def json_codec(
    *,
    instructions: str = "",
    result_chars: int = RESULT_CHARS,
    catalogue_tools: int = CATALOGUE_TOOLS,
    schema: bool = False,
    calls_in_open_reasoning: bool = False,
) -> JsonCodec:
    """Return the codec whose replies are JSON; see `JsonCodec`."""
    return JsonCodec(
        instructions=instructions,
        result_chars=result_chars,
        catalogue_tools=catalogue_tools,
        schema=schema,
        calls_in_open_reasoning=calls_in_open_reasoning,
    )


def _fits(call: RawCall, context: DecodeContext) -> bool:
    """Return whether a call is one that its tool would take, as far as names go."""
    found = find_tool(call.name, context.tools)
    test = fits(found.tool) if found is not None else None
    return test is None or test(call.arguments)


def _response_format(tools: Sequence[ToolSpec]) -> JsonObject:
    name: JsonObject = {"type": "string"}
    if tools:
        name["enum"] = [tool.name for tool in tools]
    call: JsonObject = {
        "type": "object",
        "properties": {"name": name, "arguments": {"type": "object"}},
        "required": ["name", "arguments"],
    }
    calls: JsonObject = {
        "type": "object",
        "properties": {
            "type": {"const": "tool_calls"},
            "calls": {"type": "array", "items": call, "minItems": 1},
        },
        "required": ["type", "calls"],
        "additionalProperties": False,
    }
    final: JsonObject = {
        "type": "object",
        "properties": {"type": {"const": "final"}, "text": {"type": "string"}},
        "required": ["type", "text"],
        "additionalProperties": False,
    }
    schema: JsonObject = {"anyOf": [calls, final] if tools else [final]}
    return {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema}}
