"""Encodes a request with any codec, so that what tools returned is never a command.

Our own codecs defuse and shorten results while they write them, and say so (`defuses = True`). For
any other codec it is done before: first every trigger that we know and those the codec names
(`triggers`), then, as we do not know its syntax, what its own `decode` still reads as a call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from nit_kernel.errors import CodecError
from nit_kernel.language.schema import ToolSpec
from nit_kernel.model.codecs.codec import DecodeContext, ToolCallCodec, decode_reply
from nit_kernel.model.messages import Message, Request, is_person, text_of
from nit_kernel.model.neutralise import MARK, neutralise
from nit_kernel.model.prompt import LEFT_OUT, outcome

_BRACKETS = re.compile(r"[<\[{(]")
_PUNCTUATION = re.compile(r"[^\w\s.,]")


def encode_request(codec: ToolCallCodec, request: Request, tools: Sequence[ToolSpec]) -> Request:
    """Return the request as the codec wants it sent, foreign text defused.

    A `tool_choice` among the extra fields counts as the request's own. One that demands a call is
    met by the first call or script of the turn; then the model may answer.
    """
    request = _with_choice(request)
    if getattr(codec, "defuses", False):
        return codec.encode(request, tools)
    triggers: Sequence[str] = getattr(codec, "triggers", ())
    messages = [_defused(message, codec, triggers, tools) for message in request.messages]
    described = [
        replace(
            tool,
            description=neutralise(tool.description, triggers),
            parameter_text=neutralise(tool.parameter_text, triggers),
        )
        for tool in tools
    ]
    return codec.encode(request.with_messages(messages), described)


def _with_choice(request: Request) -> Request:
    extra = dict(request.extra)
    given = extra.pop("tool_choice", None)
    choice: Any = given if given is not None else request.tool_choice
    people = [place for place, item in enumerate(request.messages) if is_person(item)]
    running = request.messages[people[-1] :] if people else ()
    has_called = any(item.get("tool_calls") or item.get("parts") for item in running)
    if has_called and choice != "none":
        choice = "auto"
    return replace(request, extra=extra, tool_choice=choice)


def _defused(
    message: Message, codec: ToolCallCodec, triggers: Sequence[str], tools: Sequence[ToolSpec]
) -> Message:
    """Return a message from outside, a result or a report, as text that calls nothing."""
    if message.get("role") == "tool":
        text = outcome(text_of(message), is_error=bool(message.get("is_error")))
    elif message.get("kind") == "report":
        text = text_of(message)
    else:
        return message
    for attempt in _ever_plainer(neutralise(text, triggers)):
        if not _calls_something(attempt, codec, tools):
            return {**message, "content": attempt}
    return {**message, "content": LEFT_OUT}


def _ever_plainer(text: str) -> Iterator[str]:
    yield text
    yield _BRACKETS.sub(rf"\g<0>{MARK}", text)
    yield _PUNCTUATION.sub(rf"\g<0>{MARK}", text)


def _calls_something(text: str, codec: ToolCallCodec, tools: Sequence[ToolSpec]) -> bool:
    reply: Message = {"role": "assistant", "content": text}
    try:
        decoded = decode_reply(codec, reply, DecodeContext(tools=tools, finish_reason="stop"))
    except CodecError:
        return False
    except (ValueError, TypeError, LookupError, AttributeError):
        # The codec cannot stand such a text in a reply either; there it will be told.
        return False
    return bool(decoded.calls or decoded.scripts)
