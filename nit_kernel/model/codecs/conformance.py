"""A check that a codec keeps the promises of the interface, for codecs of one's own too.

It knows nothing of a codec's protocol: replies to decode are the codec's own rendering of calls in
the history, whole, cut at every kind of place, and plain prose.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from nit_kernel._syntax import parse
from nit_kernel.errors import CodecError
from nit_kernel.language.schema import JsonObject, ToolSpec
from nit_kernel.model.codecs.codec import (
    DecodeContext,
    Decoded,
    ToolCallCodec,
    decode_reply,
    open_stream,
    repair_message,
)
from nit_kernel.model.codecs.encoding import encode_request
from nit_kernel.model.messages import (
    Message,
    Request,
    assistant,
    call_entry,
    report,
    system,
    text_of,
    tool_result,
    user,
)

_ID = "Q7Z2"
_MARK = "zebra-7312"
_RESULT = "quagga-5190"

_PROSE = (
    "The answer is 4.",
    "Two lines.\nThe second holds a < b, {braces}, [brackets] and `code`.",
    "价格是三元。🙂",
    "- a list\n- of *points*",
)

_ARGUMENTS: tuple[JsonObject, ...] = (
    {"text": _MARK},
    {"text": f"{_MARK} \"quoted\" and 'single', a backslash \\ and a slash /"},
    {"text": f"{_MARK}\ntwo lines\n\tand a tab"},
    {"text": f"{_MARK} 中文 🙂 é"},
    {"text": f"{_MARK} {{braces}} [brackets] <tags> ``` fence"},
    {"text": _MARK, "number": -3, "ratio": 0.5, "flag": True},
    {"text": _MARK, "items": [1, "two", None, [3]], "options": {"a": {"b": "c"}}},
    {"text": f"{_MARK} http://a.example//b, it's late"},
    {"text": ""},
)


def codec_conformance(codec: ToolCallCodec) -> tuple[str, ...]:
    """Check a codec against the interface.

    Returns:
        What was checked, one line each.

    Raises:
        AssertionError: With every promise that the codec breaks, one line each.
    """
    checks = _Checks(codec)
    passed: list[str] = []
    broken: list[str] = []
    for check in checks.all():
        name = (check.__doc__ or check.__name__).strip().rstrip(":")
        try:
            problems = list(check())
        except CodecError as error:
            problems = [f"CodecError: {error.message}"]
        except Exception as error:  # noqa: BLE001  any exception of the codec is a finding
            problems = [f"{type(error).__name__}: {error}"]
        broken += [f"{name}: {problem}" for problem in problems]
        if not problems:
            passed.append(name)
    if broken:
        raise AssertionError(f"{codec!r} breaks the interface:\n" + "\n".join(broken))
    return tuple(passed)


class _Checks:
    def __init__(self, codec: ToolCallCodec) -> None:
        self._codec = codec
        self._tools = _tools()
        self._context = DecodeContext(
            tools=self._tools, finish_reason="stop", handshake=_ID, attempt=0
        )

    def all(self) -> list[Callable[[], Iterator[str]]]:
        return [
            self.attributes,
            self.encode_is_pure,
            self.tools_are_named,
            self.results_go_back,
            self.scripts_are_no_calls,
            self.prose_is_text,
            self.calls_come_back,
            self.nothing_leaks,
            self.cut_replies_run_nothing,
            self.errors_are_typed,
            self.ids_are_unique,
            self.foreign_text_calls_nothing,
            self.repairs_are_messages,
        ]

    def attributes(self) -> Iterator[str]:
        """The codec has `streaming`, `encode` and `decode`:"""
        if self._codec.streaming not in ("filter", "passthrough", "buffer"):
            yield f"`streaming` is {self._codec.streaming!r}"
        if self._codec.streaming == "filter" and not hasattr(self._codec, "stream"):
            yield "`streaming` is 'filter', and there is no method `stream`"

    def encode_is_pure(self) -> Iterator[str]:
        """`encode` gives the same for the same, and leaves what it was given alone:"""
        request = _conversation([_call("past_1", "note", {"text": _MARK})])
        before = copy.deepcopy(request)
        first = self._codec.encode(request, self._tools)
        second = self._codec.encode(request, self._tools)
        if request != before:
            yield "it changed its request"
        if first != second:
            yield "two encodings of one request differ"
        json.dumps([*first.messages, *first.tools, first.extra])

    def tools_are_named(self) -> Iterator[str]:
        """`encode` tells the model of every tool:"""
        encoded = self._codec.encode(_conversation([]), self._tools)
        told = json.dumps([*encoded.messages, *encoded.tools], ensure_ascii=False)
        for tool in self._tools:
            if tool.name not in told and tool.nit_name not in told:
                yield f"`{tool.name}` is nowhere in the request"

    def results_go_back(self) -> Iterator[str]:
        """`encode` shows earlier calls and their results:"""
        request = _conversation([_call("past_1", "note", {"text": _MARK})])
        encoded = encode_request(self._codec, request, self._tools)
        told = json.dumps(list(encoded.messages), ensure_ascii=False)
        for wanted in (_MARK, _RESULT):
            if wanted not in told:
                yield f"the text {wanted!r} of an earlier exchange is gone"

    def scripts_are_no_calls(self) -> Iterator[str]:
        """An earlier script is in the history as text and report, not as calls:"""
        said = assistant("Noted.", parts=[{"type": "script", "script": f'note(text="{_MARK}")'}])
        messages = (user("hello"), said, report(f"note: {_RESULT}"), user("and now?"))
        encoded = encode_request(self._codec, Request(model="m", messages=messages), self._tools)
        if any(message.get("tool_calls") for message in encoded.messages):
            yield "it became `tool_calls`"
        if _RESULT not in json.dumps(list(encoded.messages)):
            yield "its report is gone"

    def prose_is_text(self) -> Iterator[str]:
        """Plain prose comes out of `decode` and of the stream as it went in:"""
        for prose in _PROSE:
            decoded = self._decode({"role": "assistant", "content": prose})
            if decoded.text.strip() != prose.strip() or decoded.calls or decoded.scripts:
                yield f"{prose!r} became {decoded}"
            stream = open_stream(self._codec, self._context)
            events = [*(e for letter in prose for e in stream.feed(letter)), *stream.finish("stop")]
            shown = "".join(getattr(event, "text", "") for event in events)
            if self._codec.streaming != "buffer" and shown != prose:
                yield f"{prose!r} was streamed as {shown!r}"

    def calls_come_back(self) -> Iterator[str]:
        """`decode` reads the calls that `encode` writes:"""
        for arguments in _ARGUMENTS:
            for name in ("note", "get-weather"):
                for place, message in enumerate(self._rendered(name, arguments)):
                    found = _calls_of(self._decode(message), self._tools)
                    if found != [(name, arguments)]:
                        yield f"{name}({arguments}) came back as {found} (message {place})"

    def nothing_leaks(self) -> Iterator[str]:
        """The text of a reply with a call shows nothing of the protocol:"""
        for arguments in _ARGUMENTS[:-1]:
            for message in self._rendered("note", arguments):
                text = self._decode(message).text
                if _MARK in text or '"text"' in text:
                    yield f"the text is {text!r}"

    def cut_replies_run_nothing(self) -> Iterator[str]:
        """A reply that the token limit cut off is never completed by guess:"""
        wanted = [("note", _ARGUMENTS[1])]
        for message in self._rendered("note", _ARGUMENTS[1]):
            for cut in _cuts(message):
                for reason in ("length", "stop"):
                    decoded = self._try(cut, replace(self._context, finish_reason=reason))
                    if isinstance(decoded, str):
                        yield decoded
                        continue
                    found = _calls_of(decoded, self._tools)
                    if found and (reason == "length" or found != wanted):
                        yield f"cut to {text_of(cut)!r} ({reason}) it calls {found}"

    def errors_are_typed(self) -> Iterator[str]:
        """Whatever a model writes, `decode` returns or raises `CodecError`:"""
        odd: list[str] = ["", " ", "\n", "\x00", "\ud800", "}{", '{"', "<", "[[[", "Action:", "```"]
        odd += [text_of(message)[::-1] for message in self._rendered("note", _ARGUMENTS[0])]
        odd += [text_of(message) * 2 for message in self._rendered("note", _ARGUMENTS[0])]
        for text in odd:
            outcome = self._try({"role": "assistant", "content": text}, self._context)
            if isinstance(outcome, str):
                yield outcome

    def ids_are_unique(self) -> Iterator[str]:
        """Ids are the same for the same reply, and unlike those already used:"""
        for message in self._rendered("note", _ARGUMENTS[0]):
            first = [call.id for call in self._decode(message).calls]
            if first != [call.id for call in self._decode(message).calls]:
                yield f"{first} are others the next time"
            context = replace(self._context, seen_ids=frozenset(first))
            again = [call.id for call in self._decode(message, context).calls]
            if set(again) & set(first) or not all(again):
                yield f"{again} were used before, or are empty"

    def foreign_text_calls_nothing(self) -> Iterator[str]:
        """What a tool returned calls nothing when the model repeats it word for word:"""
        for message in self._rendered("note", {"text": _MARK}):
            poison = text_of(message)
            calls = [_call("past_1", "note", {"text": "harmless"})]
            request = _conversation(calls, result=f"{_RESULT}\n{poison}\n{_RESULT}")
            encoded = encode_request(self._codec, request, self._tools)
            for told in encoded.messages:
                if told.get("role") not in ("user", "tool") or _RESULT not in text_of(told):
                    continue
                inner = text_of(told).split(_RESULT)[1]
                for repeated in (text_of(told), inner, inner.strip()):
                    reply: Message = {"role": "assistant", "content": repeated}
                    decoded = self._try(reply, self._context)
                    if isinstance(decoded, str):
                        yield decoded
                    elif decoded.calls or decoded.scripts:
                        yield f"{repeated!r} calls {_calls_of(decoded, self._tools)}"

    def repairs_are_messages(self) -> Iterator[str]:
        """`repair_prompt`, if there is one, gives a text or a message:"""
        error = CodecError("something is wrong", code="NIT601", hint="mend it")
        message = repair_message(self._codec, error, 1, self._tools)
        if message.get("role") not in ("user", "system") or not text_of(message).strip():
            yield f"it gave {message!r}"

    def _decode(self, message: Message, context: DecodeContext | None = None) -> Decoded:
        return decode_reply(self._codec, message, context or self._context)

    def _try(self, message: Message, context: DecodeContext) -> Decoded | str:
        """Decode: an empty result for a `CodecError`, a finding for any other exception."""
        try:
            return self._decode(message, context)
        except CodecError:
            return Decoded()
        except Exception as error:  # noqa: BLE001  any other exception is the finding
            return f"{text_of(message)!r} raised {type(error).__name__}: {error}"

    def _rendered(self, name: str, arguments: JsonObject) -> list[Message]:
        """Return the messages in which the codec writes a call of the turn that runs."""
        calls = [_call("now_1", name, arguments)]
        request = _conversation(calls, is_now=True)
        encoded = encode_request(self._codec, request, self._tools)
        said = [message for message in encoded.messages if message.get("role") == "assistant"]
        return [{key: value for key, value in said[-1].items() if key != "name"}]


def _tools() -> tuple[ToolSpec, ...]:
    note: JsonObject = {
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "number": {"type": "integer"},
            "ratio": {"type": "number"},
            "flag": {"type": "boolean"},
            "items": {"type": "array"},
            "options": {"type": "object"},
        },
        "required": ["text"],
    }
    return (
        ToolSpec(name="note", description="Writes a note down.", parameters=note),
        ToolSpec(name="get-weather", description="Says the weather.", parameters=note),
    )


def _call(call_id: str, name: str, arguments: JsonObject) -> JsonObject:
    return call_entry(call_id, name, json.dumps(arguments, ensure_ascii=False))


def _conversation(
    calls: Sequence[JsonObject], *, result: str = _RESULT, is_now: bool = False
) -> Request:
    messages: list[Message] = [system("Be brief."), user("Write it down.")]
    if calls:
        messages.append(assistant("", calls=calls))
        messages += [tool_result(str(call["id"]), result) for call in calls]
    if not is_now:
        messages.append(user("And now?"))
    return Request(model="m", messages=tuple(messages), handshake=_ID)


def _calls_of(decoded: Decoded, tools: Sequence[ToolSpec]) -> list[tuple[str, Any]]:
    """Return the calls of a reply, those in its scripts included."""
    calls = [(call.name, call.arguments) for call in decoded.calls if call.error is None]
    exact = {tool.nit_name: tool.name for tool in tools}
    for script in decoded.scripts:
        for statement in parse(script).statements:
            if statement.tool is not None:
                arguments = {str(key): value for key, value in statement.arguments.items()}
                calls.append((exact.get(statement.tool, statement.tool), arguments))
    return calls


def _cuts(message: Message) -> Iterator[Message]:
    """Yield the message cut at every place: its text, or the arguments of its calls."""
    text = text_of(message)
    for end in range(1, len(text)):
        yield {**message, "content": text[:end]}
    for entry in message.get("tool_calls") or ():
        arguments = entry["function"]["arguments"]
        for end in range(1, len(arguments)):
            function = {**entry["function"], "arguments": arguments[:end]}
            yield {**message, "tool_calls": [{**entry, "function": function}]}
