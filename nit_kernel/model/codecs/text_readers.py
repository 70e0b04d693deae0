"""Readers of calls that models write as text, each in the form it was trained on.

A reader takes the reply without its reasoning and gives the calls, the text that is left, and what
was meant as a call and cannot be read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from nit_kernel.language.schema import JsonObject, JsonValue, ToolSpec, resolve_reference
from nit_kernel.model.codecs.calls_as_python import closing_bracket, read_call_list, read_calls
from nit_kernel.model.codecs.json_values import Broken, find_values
from nit_kernel.model.codecs.lenient import read_json, read_prefix
from nit_kernel.model.codecs.names import find_tool
from nit_kernel.model.codecs.shapes import Calls, RawCall, shape_of
from nit_kernel.model.codecs.strict import Fault, Read, skip_blanks


@dataclass(slots=True)
class Reading:
    """What a reader found.

    Attributes:
        calls: Calls in order.
        spans: Where they stand, so that the rest can be shown.
        fault: What was meant as a call and cannot be read, with its offset in the reply.
    """

    calls: list[RawCall] = field(default_factory=list[RawCall])
    spans: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    fault: Fault | None = None

    def rest(self, text: str) -> str:
        """Return the text outside of the calls."""
        pieces: list[str] = []
        at = 0
        for start, end in sorted(self.spans):
            pieces.append(text[at : max(at, start)])
            at = max(at, end)
        return "".join([*pieces, text[at:]])


Reader: TypeAlias = Callable[[str, Sequence[ToolSpec]], Reading]

_TOOL_CALL = re.compile(r"<tool_call>\s*")
_TOOL_CALL_END = re.compile(r"\s*</tool_call>")
_FUNCTION = re.compile(r"<function=([^>\n]+)>")
_FUNCTION_END = re.compile(r"\s*</function>")
_PARAMETER = re.compile(r"\s*<parameter=([^>\n]+)>")
_VALUE_END = re.compile(r"</parameter>|(?=<parameter=)|(?=</function>)|(?=</tool_call>)")
_PYTHON_TAG = re.compile(r"<\|python_tag\|>\s*")
_BUILT_IN = re.compile(r"([A-Za-z_]\w*)\.call\s*(?=\()")
_LIST_OPENS = re.compile(r"\[\s*[A-Za-z_][\w.]*\s*\(")
_TOOL_CALLS = re.compile(r"\[TOOL_CALLS\]\s*")
_NAMED = re.compile(
    r"\s*(?P<name>[\w.-]+)\s*(?:\[CALL_ID\](?P<id>[\w-]+)\s*)?(?:\[ARGS\]\s*)?(?=\{)"
)
_DEEPSEEK_CALL = re.compile(r"(?:<｜tool▁call▁begin｜>\s*)+")
_DEEPSEEK_FENCED = re.compile(r"function<｜tool▁sep｜>\s*([^\n`<{]+?)\s*\n?```(?:json)?\s*(?=\{)")
_DEEPSEEK_PLAIN = re.compile(r"([^\n<{]+?)\s*<｜tool▁sep｜>\s*(?:```(?:json)?\s*)?(?=\{)")
_DEEPSEEK_END = re.compile(r"\s*(?:```)?\s*(?:<｜tool▁call▁end｜>)?")


def read_tagged(text: str, tools: Sequence[ToolSpec]) -> Reading:
    """Read `<tool_call>` with JSON or with `<function=..>` in it, and bare `<function=..>`."""
    reading = Reading()
    at = 0
    while True:
        opening = _TOOL_CALL.search(text, at)
        bare = _FUNCTION.search(text, at)
        if bare is not None and (opening is None or bare.start() < opening.start()):
            opening, inside = None, bare.start()
        elif opening is not None:
            inside = opening.end()
        else:
            return reading if reading.calls else _read_json_calls(text, tools)
        start = opening.start() if opening is not None else inside
        if opening is not None and _is_mention(text, inside):
            at = inside
            continue
        end = _read_tagged_body(text, inside, tools, reading)
        if end is None:
            return reading
        closing = _TOOL_CALL_END.match(text, end)
        at = closing.end() if closing is not None else end
        reading.spans.append((start, at))


def read_llama_json(text: str, tools: Sequence[ToolSpec]) -> Reading:
    """Read `{"name", "parameters"}`, several joined by `;`, after `<|python_tag|>` or bare."""
    tag = _PYTHON_TAG.search(text)
    if tag is not None:
        built_in = _BUILT_IN.match(text, tag.end())
        end = closing_bracket(text, built_in.end()) if built_in is not None else None
        if built_in is not None and end is not None:
            calls = read_calls(f"f{text[built_in.end() : end]}")
            if calls is not None:
                raw = RawCall("", built_in[1], calls[0].arguments)
                return Reading([raw], [(tag.start(), end)])
    if _FUNCTION.search(text) is not None:
        return read_tagged(text, tools)
    return _read_json_calls(text, tools)


def read_pythonic(text: str, tools: Sequence[ToolSpec]) -> Reading:
    """Read `[f(a=1), g()]`; a list that stands in prose counts only with known tools."""
    reading = Reading()
    at = 0
    while (opening := _LIST_OPENS.search(text, at)) is not None:
        found = read_call_list(text, opening.start())
        is_alone = not text[: opening.start()].strip()
        if found is None:
            if is_alone:
                reading.fault = Fault(
                    "the list of calls is not closed, or holds more than calls with literals",
                    opening.start(),
                    at_end=closing_bracket(text, opening.start()) is None,
                )
                return reading
            at = opening.end()
            continue
        calls, at = found
        known = all(find_tool(call.name, tools) is not None for call in calls)
        if known or is_alone:
            reading.calls += [RawCall("", call.name, call.arguments) for call in calls]
            reading.spans.append((opening.start(), at))
    return reading


def read_mistral(text: str, tools: Sequence[ToolSpec]) -> Reading:
    """Read `[TOOL_CALLS]` with a JSON list or with `name[ARGS]{..}`, which may repeat."""
    marker = _TOOL_CALLS.search(text)
    if marker is None:
        return _read_json_calls(text, tools)
    reading = Reading()
    at = marker.end()
    named = _NAMED.match(text, at)
    if named is None:
        read = read_prefix(text, at) if at < len(text) else Fault("it is empty", at, at_end=True)
        shape = shape_of(read.value, (), is_whole=True) if isinstance(read, Read) else None
        if isinstance(read, Fault) or not isinstance(shape, Calls):
            reading.fault = read if isinstance(read, Fault) else Fault("it holds no calls", at)
            return reading
        reading.calls += shape.calls
        reading.spans.append((marker.start(), read.end))
        return reading
    while named is not None:
        read = read_prefix(text, named.end())
        if isinstance(read, Fault):
            reading.fault = read
            return reading
        reading.calls.append(RawCall(named["id"] or "", named["name"], read.value))
        at = read.end
        again = _TOOL_CALLS.match(text, skip_blanks(text, at))
        named = _NAMED.match(text, again.end() if again is not None else at)
        if again is None and named is not None and "[ARGS]" not in named[0]:
            named = None
    reading.spans.append((marker.start(), at))
    return reading


def read_deepseek(text: str, tools: Sequence[ToolSpec]) -> Reading:
    """Read both of DeepSeek's bodies, the fenced one first; markers may be doubled or missing."""
    del tools
    reading = Reading()
    at = 0
    while (opening := _DEEPSEEK_CALL.search(text, at)) is not None:
        head = _DEEPSEEK_FENCED.match(text, opening.end()) or _DEEPSEEK_PLAIN.match(
            text, opening.end()
        )
        if head is None:
            reading.fault = Fault("a call has no name or no arguments", opening.end())
            return reading
        read = read_prefix(text, head.end())
        if isinstance(read, Fault):
            reading.fault = read
            return reading
        reading.calls.append(RawCall("", head[1], read.value))
        closing = _DEEPSEEK_END.match(text, read.end)
        at = closing.end() if closing is not None else read.end
        reading.spans.append((opening.start(), at))
    return reading


def _read_json_calls(text: str, tools: Sequence[ToolSpec]) -> Reading:
    reading = Reading()
    for found in find_values(text):
        if isinstance(found, Broken):
            reading.fault = found.fault
            return reading
        shape = shape_of(found.value, tools, is_whole=found.is_whole)
        if isinstance(shape, Calls):
            reading.calls += shape.calls
            reading.spans.append((found.start, found.end))
    return reading


def _read_tagged_body(
    text: str, at: int, tools: Sequence[ToolSpec], reading: Reading
) -> int | None:
    """Read what a `<tool_call>` holds; return its end, or `None` with a fault noted."""
    function = _FUNCTION.match(text, at)
    if function is not None:
        return _read_function(text, function, tools, reading)
    end = at
    while text[at : at + 1] in ("{", "["):
        read = _read_json_body(text, at)
        shape = shape_of(read.value, (), is_whole=True) if isinstance(read, Read) else None
        if isinstance(read, Fault) or not isinstance(shape, Calls):
            no_call = Fault("it is no object with `name` and `arguments`", at)
            reading.fault = read if isinstance(read, Fault) else no_call
            return None
        reading.calls += shape.calls
        end = read.end
        at = skip_blanks(text, end)
    if end == at and _TOOL_CALL.match(text, at) is None and not reading.calls:
        reading.fault = Fault("`<tool_call>` holds no JSON object", at, at_end=at >= len(text))
        return None
    return end


def _is_mention(text: str, at: int) -> bool:
    """Return whether what follows a `<tool_call>` shows that prose only speaks of the tag."""
    return text[at : at + 1] not in ("", "{", "[", "<")


def _read_json_body(text: str, at: int) -> Read | Fault:
    read = read_prefix(text, at)
    closing = _TOOL_CALL_END.search(text, at)
    if isinstance(read, Fault) and closing is not None:
        again = read_json(text[at : closing.start()])
        if isinstance(again, Read):
            return Read(again.value, closing.start(), again.repairs)
    return read


def _read_function(
    text: str, function: re.Match[str], tools: Sequence[ToolSpec], reading: Reading
) -> int | None:
    name = function[1].strip().strip("\"'")
    at = function.end()
    body = skip_blanks(text, at)
    if text[body : body + 1] == "{":
        read = read_prefix(text, body)
        if isinstance(read, Fault):
            reading.fault = read
            return None
        reading.calls.append(RawCall("", name, read.value))
        at = read.end
    else:
        found = find_tool(name, tools)
        arguments: JsonObject = {}
        while (parameter := _PARAMETER.match(text, at)) is not None:
            ending = _VALUE_END.search(text, parameter.end())
            if ending is None:
                reading.fault = Fault("a parameter does not end", parameter.start(), at_end=True)
                return None
            key = parameter[1].strip().strip("\"'")
            value = _without_outer_breaks(text[parameter.end() : ending.start()])
            arguments[key] = _typed(value, key, found.tool if found is not None else None)
            at = ending.end()
        reading.calls.append(RawCall("", name, arguments))
    closing = _FUNCTION_END.match(text, at)
    if closing is None and _TOOL_CALL_END.match(text, at) is None:
        reading.calls.pop()
        reading.fault = Fault("`<function=..>` does not end", at, at_end=at >= len(text.rstrip()))
        return None
    return closing.end() if closing is not None else at


def _without_outer_breaks(value: str) -> str:
    value = value.removeprefix("\r\n").removeprefix("\n")
    return value.removesuffix("\n").removesuffix("\r")


def _typed(value: str, key: str, tool: ToolSpec | None) -> JsonValue:
    """Give an untyped text the type that the schema wants; a text stays one where it may."""
    if tool is None:
        return value
    exact = tool.parameter_named(key)
    schema = tool.declared.properties.get(exact or key)
    if isinstance(schema, dict) and "$ref" in schema:
        schema = resolve_reference(tool.parameters, schema["$ref"])
    wanted = schema.get("type") if isinstance(schema, dict) else None
    kinds = wanted if isinstance(wanted, list) else [wanted]
    if wanted is None or "string" in kinds:
        return value
    read = read_json(value)
    return read.value if isinstance(read, Read) else value
