"""The provider's own tool calls: for models trained on function calling, and the fallback."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

from nit_kernel.errors import CodecError
from nit_kernel.language.schema import JsonObject, JsonValue, ToolSpec, provider_name
from nit_kernel.model.codecs.codec import (
    DecodeContext,
    Decoded,
    Streaming,
    ToolCallCodec,
    decode_reply,
)
from nit_kernel.model.codecs.entries import entries_of, honoured, read_entries
from nit_kernel.model.codecs.history import Exchange, compact, rewritten
from nit_kernel.model.codecs.names import find_tool, wire_names
from nit_kernel.model.codecs.reasoning import joined_reasoning, split_reasoning
from nit_kernel.model.messages import (
    Message,
    Request,
    ToolChoice,
    reasoning_of,
    text_of,
)
from nit_kernel.model.messages import repair as repair_message
from nit_kernel.model.neutralise import neutralise, neutralise_value
from nit_kernel.model.prompt import RESULT_CHARS, chosen_tool, repair, tool_words


class NativeCodec:
    """Sends the tools' schemas and reads `tool_calls`.

    Args:
        instructions: Appended to the system prompt.
        result_chars: Longest result that goes back whole.
        rescue: A codec of calls as text. Where a server returns the template's text in `content`
            and no calls, it reads them: known tools only.
    """

    name = "native"
    streaming: Streaming = "passthrough"
    defuses = True

    def __init__(
        self,
        *,
        instructions: str = "",
        result_chars: int = RESULT_CHARS,
        rescue: ToolCallCodec | None = None,
    ) -> None:
        self._instructions = instructions
        self._result_chars = result_chars
        self._rescue = rescue

    def __repr__(self) -> str:
        return "native_codec()"

    def encode(self, request: Request, tools: Sequence[ToolSpec]) -> Request:
        """Return the request with the tools' schemas and the history in the provider's form."""
        names = wire_names(tools)

        def exchange(item: Exchange) -> list[Message]:
            return self._exchange(item, names)

        encoded = request.with_system(self._instructions) if self._instructions else request
        return replace(
            encoded,
            messages=tuple(rewritten(encoded, exchange)),
            tools=tuple(_declared(tool, names[tool.name]) for tool in tools),
            tool_choice=_choice(request.tool_choice, tools, names) if tools else "auto",
        )

    def decode(self, message: Message, context: DecodeContext | None = None) -> Decoded:
        """Return the reply's text and calls.

        Raises:
            CodecError: A call was demanded and none came.
        """
        context = context or DecodeContext()
        split = split_reasoning(text_of(message))
        reasoning = joined_reasoning(reasoning_of(message), split.reasoning, split.open_text)
        calls, warnings = read_entries(entries_of(message), context)
        text = split.answer
        if not calls and self._rescue is not None:
            rescued = self._rescued(self._rescue, text, context)
            if rescued is not None:
                calls, text = list(rescued.calls), rescued.text
                warnings += [
                    *rescued.warnings,
                    "the calls stood in the text: the server did not parse them",
                ]
        decoded = Decoded(text=text, calls=calls, reasoning=reasoning, warnings=warnings)
        return honoured(decoded, context)

    def repair_prompt(self, error: CodecError, attempt: int, tools: Sequence[ToolSpec]) -> Message:
        """Return the message that asks for a better reply."""
        del attempt, tools
        return repair_message(repair(error))

    def _exchange(self, item: Exchange, names: Mapping[str, str]) -> list[Message]:
        """Write an assistant's calls with exactly one tool message for each id."""
        entries: list[JsonObject] = []
        results: list[Message] = []
        seen: set[str] = set()
        for call in item.calls:
            if call.id in seen:
                continue
            seen.add(call.id)
            is_object = isinstance(call.arguments, dict)
            arguments = call.arguments_text if is_object else _wrapped(call.arguments)
            wire_name = names.get(call.name) or provider_name(call.name)
            entries.append(
                {
                    **cast("JsonObject", dict(call.entry)),
                    "id": call.id,
                    "type": "function",
                    "function": {"name": wire_name, "arguments": arguments or "{}"},
                }
            )
            results.append(
                {
                    "role": "tool",
                    "tool_call_id": call.id,
                    "name": wire_name,
                    "content": call.outcome(self._result_chars),
                }
            )
        said: Message = {
            **item.kept,
            "role": "assistant",
            "content": item.text or None,
            "tool_calls": entries,
        }
        return [said, *results]

    @staticmethod
    def _rescued(codec: ToolCallCodec, text: str, context: DecodeContext) -> Decoded | None:
        if not text.strip() or not context.tools:
            return None
        decoded = decode_reply(
            codec,
            {"role": "assistant", "content": text},
            replace(context, tool_choice="auto"),
        )
        known = [find_tool(call.name, context.tools) for call in decoded.calls]
        return decoded if known and None not in known else None


def native_codec(
    *,
    instructions: str = "",
    result_chars: int = RESULT_CHARS,
    rescue: ToolCallCodec | None = None,
) -> NativeCodec:
    """Return the codec that uses the provider's own tool calls; see `NativeCodec`."""
    return NativeCodec(instructions=instructions, result_chars=result_chars, rescue=rescue)


def _declared(tool: ToolSpec, wire_name: str) -> JsonObject:
    schema = neutralise_value(tool.parameters)
    parameters: JsonObject = dict(schema) if isinstance(schema, dict) else {}
    parameters.setdefault("type", "object")
    parameters.setdefault("properties", {})
    return {
        "type": "function",
        "function": {
            "name": wire_name,
            "description": tool_words(tool),
            "parameters": parameters,
        },
    }


def _choice(choice: ToolChoice, tools: Sequence[ToolSpec], names: Mapping[str, str]) -> ToolChoice:
    named = chosen_tool(choice)
    if named is None:
        return choice
    found = find_tool(named, tools)
    wire_name = names[found.tool.name] if found is not None else named
    return {"type": "function", "function": {"name": wire_name}}


def _wrapped(arguments: JsonValue) -> str:
    """Return arguments that were no object as one: servers parse the history, and refuse it."""
    if arguments in (None, ""):
        return "{}"
    text = arguments if isinstance(arguments, str) else compact(arguments)
    return compact({"unreadable": neutralise(text)})
