"""Calls as text, by table: for models whose calls the server does not parse.

One row a form: how it is asked for, read, and written back into the history. Source of the forms:
`spec/formats.md`, "Calls as text".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from nit_kernel.errors import CodecError
from nit_kernel.language.schema import JsonObject, ToolSpec, nit_name
from nit_kernel.model import prompt
from nit_kernel.model.codecs.calls_as_python import read_llama_json, read_pythonic
from nit_kernel.model.codecs.codec import DecodeContext, Decoded, Streaming, ToolCall
from nit_kernel.model.codecs.entries import entries_of, honoured, read_call, read_entries
from nit_kernel.model.codecs.faults import cut_off, open_reasoning, unknown_codec, unreadable
from nit_kernel.model.codecs.history import Exchange, PastCall, assistant_said, compact
from nit_kernel.model.codecs.prompted import prompted
from nit_kernel.model.codecs.reasoning import joined_reasoning, split_reasoning
from nit_kernel.model.codecs.text_readers import (
    Reader,
    read_deepseek,
    read_mistral,
    read_tagged,
)
from nit_kernel.model.messages import Message, Request, reasoning_of, text_of
from nit_kernel.model.messages import repair as repair_message


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFormat:
    """One form of calls as text.

    Attributes:
        prompt: The protocol; `{tools}` is where the tools go.
        read: Reads a reply.
        write: Writes past calls as the model would have.
        answer: Writes the result of a past call, given its text.
        markers: Markup of the form, which is never shown.
        as_list: Whether the tools stand in one JSON list and not one a line.
        named: The name that a tool has in this form.
    """

    prompt: str
    read: Reader
    write: Callable[[Sequence[PastCall]], str]
    answer: Callable[[PastCall, str], str]
    markers: re.Pattern[str]
    as_list: bool = False
    named: Callable[[str], str] = str


class TextCodec:
    """Asks for calls in the form that a model was trained on, and reads them from its text.

    Args:
        form: The name of the form; see `TEXT_FORMATS`.
        instructions: Appended after the protocol.
        result_chars: Longest result that goes back whole.
        calls_in_open_reasoning: Whether a whole call in reasoning that never ended is run; left
            off, the model is asked again.
    """

    streaming: Streaming = "buffer"
    defuses = True

    def __init__(
        self,
        form: str,
        *,
        instructions: str = "",
        result_chars: int = prompt.RESULT_CHARS,
        calls_in_open_reasoning: bool = False,
    ) -> None:
        found = TEXT_FORMATS.get(TEXT_ALIASES.get(form, form))
        if found is None:
            raise unknown_codec(form, sorted(TEXT_FORMATS))
        self.name = form
        self._form = found
        self._instructions = instructions
        self._result_chars = result_chars
        self._calls_in_open_reasoning = calls_in_open_reasoning

    def __repr__(self) -> str:
        return f"text_codec({self.name!r})"

    def encode(self, request: Request, tools: Sequence[ToolSpec]) -> Request:
        """Return the request with the form, the tools' schemas and the history in that form."""
        names = {tool.name: self._form.named(tool.name) for tool in tools}
        lines = prompt.schema_lines(tools, names)
        listed = f"[{', '.join(lines)}]" if self._form.as_list else "\n".join(lines)
        protocol = self._form.prompt.replace("{tools}", listed) if tools else ""
        return prompted(request, (protocol, self._instructions), self._exchange)

    def decode(self, message: Message, context: DecodeContext | None = None) -> Decoded:
        """Return the reply's text and calls.

        Raises:
            CodecError: Something was meant as a call and cannot be read.
        """
        context = context or DecodeContext()
        raw = text_of(message)
        split = split_reasoning(raw)
        answer = split.answer
        beside, warnings = read_entries(entries_of(message), context)
        if split.open_at >= 0 and not beside:
            drafted = self._form.read(split.open_text, context.tools)
            if drafted.calls and not self._calls_in_open_reasoning:
                raise open_reasoning(raw, split.open_at)
            answer = split.open_text if drafted.calls else answer
        text, calls, mended = self._read(answer, context)
        told = [(call.name, call.arguments) for call in beside]
        calls = [call for call in calls if (call.name, call.arguments) not in told]
        decoded = Decoded(
            text=text,
            calls=[*beside, *calls],
            reasoning=joined_reasoning(reasoning_of(message), split.reasoning, split.open_text),
            warnings=[*warnings, *mended],
        )
        return honoured(decoded, context)

    def repair_prompt(self, error: CodecError, attempt: int, tools: Sequence[ToolSpec]) -> Message:
        """Return the message that asks for a better reply."""
        del attempt, tools
        return repair_message(prompt.repair(error, prompt.TEXT_FORM))

    def _read(self, text: str, context: DecodeContext) -> tuple[str, list[ToolCall], list[str]]:
        reading = self._form.read(text, context.tools)
        fault = reading.fault
        is_cut = context.finish_reason == "length"
        if fault is not None:
            if is_cut:
                raise cut_off(text, fault.offset)
            raise unreadable(text, fault.offset, fault.why, form="a call")
        if is_cut and reading.calls:
            raise cut_off(text, reading.spans[-1][0])
        calls: list[ToolCall] = []
        warnings = list(reading.warnings)
        for index, raw in enumerate(reading.calls):
            call, mended = read_call(
                raw.id, raw.name, raw.arguments, context, index=index, protocol_text=text.strip()
            )
            calls.append(call)
            warnings += mended
        if is_cut and not calls:
            warnings.append("the reply was cut off by the token limit")
        rest = reading.rest(text)
        if calls:
            rest = _EMPTY_FENCE.sub("", self._form.markers.sub("", rest)).strip(" \n;,")
        return rest, calls, warnings

    def _exchange(self, item: Exchange) -> list[Message]:
        written = self._form.write(item.calls)
        said = "\n".join(part for part in (item.text.strip(), written) if part)
        told = "\n".join(
            self._form.answer(call, call.outcome(self._result_chars)) for call in item.calls
        )
        return [assistant_said(said), {"role": "user", "content": told}]


def text_codec(
    form: str,
    *,
    instructions: str = "",
    result_chars: int = prompt.RESULT_CHARS,
    calls_in_open_reasoning: bool = False,
) -> TextCodec:
    """Return the codec of a form of calls as text, such as `"hermes"`; see `TextCodec`."""
    return TextCodec(
        form,
        instructions=instructions,
        result_chars=result_chars,
        calls_in_open_reasoning=calls_in_open_reasoning,
    )


def _tagged(calls: Sequence[PastCall]) -> str:
    return "\n".join(f"<tool_call>\n{_named(call, 'arguments')}\n</tool_call>" for call in calls)


def _xml(calls: Sequence[PastCall]) -> str:
    return "\n".join(_xml_call(call) for call in calls)


def _xml_call(call: PastCall) -> str:
    arguments = call.arguments if isinstance(call.arguments, dict) else {"input": call.arguments}
    lines = [
        f"<parameter={key}>\n{value if isinstance(value, str) else compact(value)}\n</parameter>"
        for key, value in arguments.items()
    ]
    inner = "\n".join([f"<function={call.name}>", *lines, "</function>"])
    return f"<tool_call>\n{inner}\n</tool_call>"


def _llama(calls: Sequence[PastCall]) -> str:
    return "; ".join(_named(call, "parameters") for call in calls)


def _pythonic(calls: Sequence[PastCall]) -> str:
    return f"[{', '.join(_python_call(call) for call in calls)}]"


def _python_call(call: PastCall) -> str:
    arguments = call.arguments if isinstance(call.arguments, dict) else {"input": call.arguments}
    if not all(key.isidentifier() for key in arguments):
        return f"{nit_name(call.name)}(**{arguments!r})"
    pairs = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
    return f"{nit_name(call.name)}({pairs})"


def _mistral(calls: Sequence[PastCall]) -> str:
    return f"[TOOL_CALLS][{', '.join(_named(call, 'arguments') for call in calls)}]"


def _deepseek(calls: Sequence[PastCall]) -> str:
    written = "\n".join(
        f"<｜tool▁call▁begin｜>function<｜tool▁sep｜>{call.name}\n"
        f"```json\n{compact(call.arguments)}\n```<｜tool▁call▁end｜>"
        for call in calls
    )
    return f"<｜tool▁calls▁begin｜>{written}<｜tool▁calls▁end｜>"


def _named(call: PastCall, key: str) -> str:
    fields: JsonObject = {"name": call.name, key: call.arguments}
    return compact(fields)


def _tool_response(call: PastCall, text: str) -> str:
    del call
    return f"<tool_response>\n{text}\n</tool_response>"


def _tool_results(call: PastCall, text: str) -> str:
    fields: JsonObject = {"content": text, "call_id": call.id}
    return f"[TOOL_RESULTS]{compact(fields)}[/TOOL_RESULTS]"


def _result_of(call: PastCall, text: str) -> str:
    return f"Result of {call.name}:\n{text}"


_EMPTY_FENCE = re.compile(r"(`{3,}|~{3,})[\w-]*\s*\1")
_XML_MARKERS = re.compile(r"</?tool_call>|</?function(?:=[^>\n]*)?>|</?parameter(?:=[^>\n]*)?>")

TEXT_FORMATS: Mapping[str, TextFormat] = MappingProxyType(
    {
        "hermes": TextFormat(
            prompt=prompt.HERMES,
            read=read_tagged,
            write=_tagged,
            answer=_tool_response,
            markers=_XML_MARKERS,
        ),
        "qwen_xml": TextFormat(
            prompt=prompt.QWEN_XML,
            read=read_tagged,
            write=_xml,
            answer=_tool_response,
            markers=_XML_MARKERS,
        ),
        "llama3_json": TextFormat(
            prompt=prompt.LLAMA3_JSON,
            read=read_llama_json,
            write=_llama,
            answer=_result_of,
            markers=re.compile(rf"<\|(?:python_tag|eom_id|eot_id)\|>|{_XML_MARKERS.pattern}"),
        ),
        "pythonic": TextFormat(
            named=nit_name,
            prompt=prompt.PYTHONIC,
            read=read_pythonic,
            write=_pythonic,
            answer=_result_of,
            markers=re.compile(
                r"<\|(?:python_start|python_end|eom|eot|tool_call_(?:start|end))\|>"
            ),
        ),
        "mistral": TextFormat(
            prompt=prompt.MISTRAL,
            read=read_mistral,
            write=_mistral,
            answer=_tool_results,
            markers=re.compile(r"\[(?:TOOL_CALLS|ARGS|CALL_ID)\]|</s>"),
            as_list=True,
        ),
        "deepseek": TextFormat(
            prompt=prompt.DEEPSEEK,
            read=read_deepseek,
            write=_deepseek,
            answer=_result_of,
            markers=re.compile(r"<｜tool▁(?:calls?▁(?:begin|end)|sep)｜>|<｜end▁of▁sentence｜>"),
        ),
    }
)
"""The forms by name."""

TEXT_ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "exaone": "hermes",
        "qwen": "hermes",
        "llama_builtin": "llama3_json",
        "llama_function_tag": "llama3_json",
        "lfm2": "pythonic",
        "mistral_list": "mistral",
        "mistral_v11": "mistral",
        "deepseek_v3": "deepseek",
        "deepseek_v31": "deepseek",
    }
)
"""Other names: forms that the same reader reads."""
