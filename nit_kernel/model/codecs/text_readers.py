"""Readers of calls that models write as text, each in the form it was trained on.

A reader takes the reply without its reasoning and gives the calls, the text that is left, and what
was meant as a call and cannot be read. All of them walk the reply once, from left to right, from
marker to marker:

```
marker inside a JSON value           data, skipped
marker of a call                     its calls are read; what prose only speaks of is text
a result, the end of the turn        the model made the rest up: it is left out
no marker, or none with a call       calls that stand bare
```
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from nit_kernel.language.schema import JsonObject, JsonValue, ToolSpec, resolve_reference
from nit_kernel.model.codecs.json_values import Broken, find_values
from nit_kernel.model.codecs.lenient import read_json, read_prefix
from nit_kernel.model.codecs.names import find_tool
from nit_kernel.model.codecs.shapes import Calls, RawCall, looks_like_protocol, shape_of
from nit_kernel.model.codecs.strict import Fault, Read, skip_blanks


@dataclass(slots=True)
class Reading:
    """What a reader found.

    Attributes:
        calls: Calls in order.
        spans: Where they stand, so that the rest can be shown.
        left_out: What else is not shown: stray markup, and what the model made up.
        fault: What was meant as a call and cannot be read, with its offset in the reply.
        warnings: What was dropped, for the model to know.
    """

    calls: list[RawCall] = field(default_factory=list[RawCall])
    spans: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    left_out: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    fault: Fault | None = None
    warnings: list[str] = field(default_factory=list[str])

    def rest(self, text: str) -> str:
        """Return the text outside of the calls."""
        pieces: list[str] = []
        at = 0
        for start, end in sorted([*self.spans, *self.left_out]):
            pieces.append(text[at : max(at, start)])
            at = max(at, end)
        return "".join([*pieces, text[at:]])


Reader: TypeAlias = Callable[[str, Sequence[ToolSpec]], Reading]


@dataclass(frozen=True, slots=True)
class Body:
    """The calls at a marker, none where its markup is empty, and where they end."""

    calls: tuple[RawCall, ...]
    end: int


@dataclass(frozen=True, slots=True)
class Form:
    """How a form is read.

    Attributes:
        marks: Its markers, in groups: `call`, `result`, `stray`, `own` turn, `end` of the turn.
        read: Reads the calls at a marker; `None`: it is text.
        read_bare: Reads a reply that has no calls at markers.
        salvage: Whole calls are run although the last one is cut off, with no such text behind.
    """

    marks: re.Pattern[str]
    read: Callable[[str, re.Match[str], Sequence[ToolSpec]], Body | Fault | None]
    read_bare: Reader
    salvage: str = ""


_OWN_TURN = (
    r"(?:<\|(?:im_end|eot_id|eom_id)\|>\s*)*"
    r"(?:<\|im_start\|>assistant\b|<\|start_header_id\|>assistant<\|end_header_id\|>)\s*"
)
_END_OF_TURN = (
    r"<\|(?:im_end|im_start|eot_id|eom_id|eot|eom|end_of_text|endoftext|start_header_id)\|>"
    r"|<｜end▁of▁sentence｜>|</s>"
)
_NOTHING = r"(?!)"
OUR_RESULT = r"(?m:^Result of [\w.-]+:)"


def marks(call: str, result: str, stray: str = _NOTHING) -> re.Pattern[str]:
    return re.compile(
        rf"(?P<call>{call})|(?P<result>{result})|(?P<stray>{stray})"
        rf"|(?P<own>{_OWN_TURN})|(?P<end>{_END_OF_TURN})"
    )


# A sign of prose behind a marker, where it cannot be the beginning of a call.
_PROSE = re.compile(
    r"[`'\"’”).,;:!?]|(?:[ \t]+[^\W\d]|[^\x00-\x7f])\w*(?!\w|\.\w|<|\s*[(=\[{])|[ \t]+[-–—(]"
)
# What stands between the tags of a call; one word between both is `<tool_call> and </tool_call>`.
_HOLDS = re.compile(r"(?![ \t]+[^\W\d]+[ \t]+<)(?:[^<]|<(?!/?tool_call>))*</tool_call>")
_BRACKET = re.compile(
    r"[\[{](?=\s*(?:[\"'\[{\]}/0-9-]|(?:[tT]rue|[fF]alse|null|None)\b|[\w$]+\s*:))"
)
DATA = re.compile(r"[\[{]\s*(?:[\[{]\s*){0,4}[\"']")
_MOST_BROKEN = 500
_TOKEN = re.compile(
    r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)' + r"|'(?:[^'\\]|\\.)*(?:'|\\?\Z)|[\[{}\]]", re.DOTALL
)
_ANOTHER = re.compile(r"[\s;,]*(?=[\[{]\s*[\"'{])")


def walk(text: str, tools: Sequence[ToolSpec], form: Form) -> Reading:
    reading = Reading()
    at, stop = 0, len(text)
    while (found := form.marks.search(text, at)) is not None:
        start = found.start()
        data_end = _end_of_data(text, at, start)
        if data_end:
            at = data_end
            continue
        at = found.end()
        if found[0] == "</s>" and "<s>" in text[:start]:
            continue  # text that is struck through, in HTML
        is_mention = _is_mention(text, reading.spans[-1][1] if reading.spans else 0, found)
        if found.lastgroup == "call":
            body = form.read(text, found, tools)
            if isinstance(body, Body):
                reading.calls += body.calls
                reading.spans.append((start, body.end))
                at = body.end
            elif body is not None and not is_mention:
                if form.salvage and reading.calls and form.salvage not in text[at:]:
                    reading.warnings.append("the last call was not complete and was not run")
                    stop = start
                    break
                reading.fault = body
                return reading
        elif found.lastgroup == "stray":
            if not is_mention:
                reading.left_out.append((start, at))
        elif not is_mention:
            has_calls = bool(reading.calls or form.read_bare(text[:start], tools).calls)
            is_dress = found.lastgroup == "own" or not text[:start].strip()
            if found.lastgroup != "result" and is_dress and not has_calls:
                reading.left_out.append((start, at))
            elif found.lastgroup == "end" or has_calls or "｜" in found[0]:
                stop = start
                break
    reading.left_out.append((stop, len(text)))
    if not reading.calls:
        bare = form.read_bare(text[:stop], tools)
        reading.calls, reading.fault = bare.calls, bare.fault
        is_empty = bool(reading.spans) and not bare.calls and not reading.rest(text).strip()
        if is_empty and bare.fault is None:
            reading.fault = Fault("there is no call between its markers", reading.spans[0][0])
        reading.spans += bare.spans
    return reading


def _end_of_data(text: str, at: int, place: int) -> int:
    """Return the end of the JSON after `at` that `place` lies in, or 0: a marker there is data."""
    for _ in range(_MOST_BROKEN):
        opening = _BRACKET.search(text, at, place)
        while opening is not None and isinstance(read := read_prefix(text, opening.start()), Read):
            if read.end > place:
                return read.end
            opening = _BRACKET.search(text, read.end, place)
        if opening is None:
            return 0
        at = opening.end()
        if DATA.match(text, at - 1) or looks_like_protocol(text, at - 1):
            end = _end_of_broken(text, at - 1, place)
            if end:
                return end
    return len(text)


def _end_of_broken(text: str, at: int, place: int) -> int:
    """Return where JSON that cannot be read ends, where `place` lies in it, or 0."""
    depth = 0
    is_data = looks_like_protocol(text, at)
    for token in _TOKEN.finditer(text, at):
        if token[0][0] in "\"'":
            is_data = is_data or token.start() < place < token.end()
            continue
        depth += 1 if token[0] in "[{" else -1
        if depth == 0 or (token.start() > place and not is_data):
            return token.end() if is_data and token.end() > place else 0
    return len(text) if is_data else 0


def _is_mention(text: str, begin: int, found: re.Match[str]) -> bool:
    """Return whether prose only speaks of a marker: words before it, and no call behind it."""
    start, end = found.span()
    if not text[begin:start].strip() or found[0].rstrip()[-1:] not in (">", "]"):
        return False
    if text[start - 1] == "`" and text[end : end + 1] == "`":
        return True
    if found[0].startswith("<tool_call>") and _HOLDS.match(text, end) is not None:
        return False
    return _PROSE.match(text, end) is not None


def read_json_calls(text: str, tools: Sequence[ToolSpec]) -> Reading:
    reading = Reading()
    for found in find_values(text):
        if isinstance(found, Broken):
            reading.fault = found.fault
            return reading
        shape = shape_of(found.value, tools, is_whole=found.is_whole)
        if isinstance(shape, Calls):
            reading.calls += shape.calls
            reading.spans.append((found.start, found.end))
    another = _ANOTHER.match(text, reading.spans[-1][1]) if reading.calls else None
    if another is not None:
        read = read_prefix(text, another.end())
        reading.fault = read if isinstance(read, Fault) else None
    return reading


_TOOL_CALL_END = re.compile(r"\s*</tool_call>")
_FUNCTION = re.compile(r"<function=([^>\n]+)>")
_FUNCTION_END = re.compile(r"\s*</function>")
_PARAMETER = re.compile(r"\s*<parameter=([^>\n]+)>")
_NEXT_TAG = re.compile(r"<parameter=|</function>|</tool_call>")
_BODY_TAG = re.compile(r"</?function\b|</?tool_call>")
JOINT = re.compile(r"(?:[\s;,]|<\|python_tag\|>)*")
TAGS = r"<tool_call>(?:\s*<tool_call>)*|<function=[^>\n]+>"


def read_tagged(text: str, tools: Sequence[ToolSpec]) -> Reading:
    """Read `<tool_call>` with JSON or with `<function=..>` in it, and bare `<function=..>`."""
    reading = walk(text, tools, _TAGGED)
    rest = reading.rest(text) if reading.calls else ""
    if rest.count("</parameter>") > rest.count("<parameter"):
        reading.fault = Fault("it is unclear where a parameter ends", text.rindex("</parameter>"))
    return reading


def tagged_body(text: str, found: re.Match[str], tools: Sequence[ToolSpec]) -> Body | Fault | None:
    at = skip_blanks(text, found.end())
    function = _FUNCTION.match(text, found.start()) or _FUNCTION.match(text, at)
    body = _objects(text, at) if function is None else _function(text, function, tools)
    closing = _TOOL_CALL_END.match(text, body.end) if isinstance(body, Body) else None
    return Body(body.calls, closing.end()) if closing and isinstance(body, Body) else body


def _objects(text: str, at: int) -> Body | Fault:
    """Read the JSON of a `<tool_call>`: one object, a list, or several with or without commas."""
    calls: list[RawCall] = []
    end = at
    while text[at : at + 1] in ("{", "["):
        read = calls_at(text, at)
        if isinstance(read, Fault):
            closing = _TOOL_CALL_END.search(text, at)
            again = read_json(text[at : closing.start()]) if closing is not None else read
            if closing is None or isinstance(again, Fault):
                return read
            read = _as_calls(Read(again.value, closing.start()), at)
            if isinstance(read, Fault):
                return read
        calls += read.calls
        end = read.end
        at = past(JOINT, text, end)
    is_closed = text.startswith("</tool_call>", at)
    if not calls and not is_closed:
        return Fault("`<tool_call>` holds no JSON object", at, at_end=at >= len(text))
    return Body(tuple(calls), at if is_closed else end)


def calls_at(text: str, at: int) -> Body | Fault:
    """Read the JSON that begins at `at` and must be calls."""
    return _as_calls(read_prefix(text, at), at)


def _as_calls(read: Read | Fault, at: int) -> Body | Fault:
    if isinstance(read, Fault):
        return read
    shape = shape_of(read.value, (), is_whole=True)
    if not isinstance(shape, Calls):
        return Fault("it is no object with the name and the arguments of a call", at)
    return Body(shape.calls, read.end)


def past(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found is not None else at


def _function(text: str, function: re.Match[str], tools: Sequence[ToolSpec]) -> Body | Fault:
    name = function[1].strip().strip("\"'")
    body = skip_blanks(text, function.end())
    if text[body : body + 1] == "{":
        read = read_prefix(text, body)
    else:
        found = find_tool(name, tools)
        read = _parameters(text, function.end(), found.tool if found is not None else None)
    if isinstance(read, Fault):
        return read
    closing = _FUNCTION_END.match(text, read.end)
    if closing is None and _TOOL_CALL_END.match(text, read.end) is None:
        at_end = read.end >= len(text.rstrip())
        return Fault("`<function=..>` does not end", read.end, at_end=at_end)
    call = RawCall("", name, read.value)
    return Body((call,), closing.end() if closing is not None else read.end)


def _parameters(text: str, at: int, tool: ToolSpec | None) -> Read | Fault:
    arguments: JsonObject = {}
    while (parameter := _PARAMETER.match(text, at)) is not None:
        key = parameter[1].strip().strip("\"'")
        ending = _end_of_value(text, parameter.end(), {*arguments, key}, tool)
        if ending is None or key in arguments:
            at_end = _NEXT_TAG.search(text, parameter.end()) is None
            return Fault("it is unclear where a parameter ends", parameter.start(), at_end=at_end)
        value = _without_outer_breaks(text[parameter.end() : ending[0]])
        arguments[key] = _typed(value, key, tool)
        at = ending[1]
    return Read(arguments, at)


def _end_of_value(
    text: str, start: int, used: set[str], tool: ToolSpec | None
) -> tuple[int, int] | None:
    """Return where the value of a parameter ends and what follows it begins.

    Tags in a value are data. A value that is not closed ends at the next parameter, where that one
    begins a line and can be no part of the value.
    """
    closing = text.find("</parameter>", start)
    if closing < 0:
        ending = _NEXT_TAG.search(text, start)
        value = text[start : ending.start()] if ending is not None else ""
        is_ragged = value.startswith("\n") and not value.rstrip(" \t").endswith("\n")
        if ending is None or is_ragged or _BODY_TAG.search(value):
            return None
        return ending.start(), ending.start()
    another = _PARAMETER.search(text, start, closing)
    if another is None:
        return closing, closing + len("</parameter>")
    place = text.index("<", another.start())
    key = another[1].strip().strip("\"'")
    is_known = tool is None or (tool.parameter_named(key) or key) in tool.declared.properties
    begins_line = "\n" in text[another.start() : place] or place == start
    if key in used or not is_known or not begins_line or _BODY_TAG.search(text, start, place):
        return None
    return place, place


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


_TAGGED = Form(marks(TAGS, r"<tool_response>"), tagged_body, read_json_calls)


_NAMED = re.compile(
    r"(?P<name>[\w.-]+)\s*(?:\[CALL_ID\](?P<id>[\w-]+)\s*)?(?P<marked>\[ARGS\]\s*)?(?=\{)"
)
_ARGS = r"(?<![\w.-])[\w.-]+\s*(?:\[CALL_ID\][\w-]+\s*)?\[ARGS\](?=\s*(?:\{|\Z))"


def read_mistral(text: str, tools: Sequence[ToolSpec]) -> Reading:
    """Read `[TOOL_CALLS]` with a JSON list or with `name[ARGS]{..}`, which may repeat.

    A server may have taken the markers away; then the name must be one of a known tool.
    """
    return walk(text, tools, _MISTRAL)


def _mistral_body(
    text: str, found: re.Match[str], tools: Sequence[ToolSpec]
) -> Body | Fault | None:
    if found[0] == "[TOOL_CALLS]":
        return _mistral_calls(text, found.end(), tools, is_marked=True)
    name = found[0].partition("[")[0].strip()
    if find_tool(name, tools) is None:
        return None
    return _mistral_calls(text, found.start(), tools, is_marked=False)


def _read_bare_mistral(text: str, tools: Sequence[ToolSpec]) -> Reading:
    at = skip_blanks(text, 0)
    named = _NAMED.match(text, at)
    is_known = named is not None and find_tool(named["name"], tools) is not None
    if named is None or not is_known or not re.match(r"\{\s*[\"'}]", text[named.end() :]):
        return read_json_calls(text, tools)
    body = _mistral_calls(text, at, tools, is_marked=False)
    if isinstance(body, Fault):
        return Reading(fault=body)
    return Reading([*body.calls], [(at, body.end)])


def _mistral_calls(
    text: str, at: int, tools: Sequence[ToolSpec], *, is_marked: bool
) -> Body | Fault:
    """Read calls that stand one after the other, by name or as JSON.

    A name without `[ARGS]` counts right behind the marker, or where it is one of a known tool.
    """
    calls: list[RawCall] = []
    end = at
    while True:
        at = past(JOINT, text, end)
        named = _NAMED.match(text, at)
        is_first = is_marked and not calls
        if named is not None and (
            is_first or named["marked"] or find_tool(named["name"], tools) is not None
        ):
            read = read_prefix(text, named.end())
            if isinstance(read, Fault):
                return read
            calls.append(RawCall(named["id"] or "", named["name"], read.value))
            end = read.end
        elif DATA.match(text, at) is not None:
            body = calls_at(text, at)
            if isinstance(body, Fault):
                return body
            calls += body.calls
            end = body.end
        elif calls:
            return Body(tuple(calls), end)
        else:
            return Fault("there is no call with its arguments", at, at_end=at >= len(text))


_MISTRAL = Form(
    marks(rf"\[TOOL_CALLS\]|{_ARGS}", r"\[TOOL_RESULTS\]|\[INST\]"),
    _mistral_body,
    _read_bare_mistral,
)

_DEEPSEEK_BEGIN = r"<｜tool▁calls?▁begin｜>(?:\s*<｜tool▁calls?▁begin｜>)*|<｜tool▁sep｜>"
_DEEPSEEK_FENCED = re.compile(
    r"\s*function<｜tool▁sep｜>\s*([^\n`<{]+?)\s*(?:```(?:json)?\s*)?(?=\{)"
)
_DEEPSEEK_PLAIN = re.compile(r"\s*([^\n<{]+?)\s*<｜tool▁sep｜>\s*(?:```(?:json)?\s*)?(?=\{)")
_DEEPSEEK_END = re.compile(r"\s*(?:```)?\s*(?:<｜tool▁call▁end｜>)?")
_DEEPSEEK_EMPTY = re.compile(r"\s*<｜tool▁calls?▁end｜>")


def read_deepseek(text: str, tools: Sequence[ToolSpec]) -> Reading:
    """Read both of DeepSeek's bodies, the fenced one first; markers may be doubled or missing."""
    return walk(text, tools, _DEEPSEEK)


def _deepseek_body(
    text: str, found: re.Match[str], tools: Sequence[ToolSpec]
) -> Body | Fault | None:
    del tools
    at = found.end()
    empty = _DEEPSEEK_EMPTY.match(text, at)
    if empty is not None:
        return Body((), empty.end())
    head = _DEEPSEEK_FENCED.match(text, at) or _DEEPSEEK_PLAIN.match(text, at)
    if head is None or found[0].endswith("sep｜>"):
        return Fault("a call has no name or no arguments", at, at_end=at >= len(text))
    read = read_prefix(text, head.end())
    if isinstance(read, Fault):
        return read
    return Body((RawCall("", head[1], read.value),), past(_DEEPSEEK_END, text, read.end))


_DEEPSEEK = Form(
    marks(
        _DEEPSEEK_BEGIN,
        rf"<｜tool▁outputs?▁begin｜>|{OUR_RESULT}",
        r"<｜tool▁(?:calls?|outputs?)▁end｜>",
    ),
    _deepseek_body,
    lambda _text, _tools: Reading(),
    salvage="<｜tool▁call",
)
