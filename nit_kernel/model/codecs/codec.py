"""The interface of a codec, and what it gives back.

A codec has three methods and one attribute:

```
streaming                      "filter" | "passthrough" | "buffer"
encode(request, tools)         -> request      pure: protocol and catalogue in, history rewritten
decode(message[, context])     -> Decoded      raises CodecError for what it cannot read
repair_prompt(error, attempt, tools) -> message        optional
```

The loop never calls a codec directly but through `encode_request` (`encoding.py`), `decode_reply`,
`repair_message` and `open_stream`, which fill in what a small codec leaves out.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, runtime_checkable

from nit_kernel._syntax import Event, Reasoning, StreamFilter, Text
from nit_kernel.errors import CodecError
from nit_kernel.language.schema import JsonValue, ToolSpec
from nit_kernel.model.codecs.reasoning import REASONING_TAGS
from nit_kernel.model.messages import Message, Request, repair

Streaming = Literal["filter", "passthrough", "buffer"]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call that a reply asks for.

    Attributes:
        id: The provider's own id, else one derived from the content; empty: the loop makes one.
        name: The tool's exact name where it is known, else the name as the model wrote it.
        arguments: A JSON object; other JSON only together with an `error`.
        error: Why the call must not run; the loop answers the call with this text.
        extra: Further keys of the provider's own entry, echoed back in the history.
    """

    id: str
    name: str
    arguments: Any
    error: str | None = None
    extra: Any = None


@dataclass(frozen=True, slots=True)
class Decoded:
    """What a reply says.

    Attributes:
        text: What the person sees; no protocol text.
        calls: Calls in order.
        scripts: NIT scripts in order.
        reasoning: The model's reasoning, kept apart.
        warnings: What was mended or left out, one line each; goes back to the model.
    """

    text: str = ""
    calls: Sequence[ToolCall] = ()
    scripts: Sequence[str] = ()
    reasoning: str = ""
    warnings: Sequence[str] = ()

    def __post_init__(self) -> None:
        """Freeze the sequences, whatever was given."""
        for name in ("calls", "scripts", "warnings"):
            object.__setattr__(self, name, tuple(getattr(self, name)))


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodeContext:
    """What a codec may want to know about the reply that it decodes.

    Attributes:
        tools: The tools that the request offered.
        finish_reason: The server's word for why the reply ended; `"length"`: it was cut off.
        stop_reason: The stop sequence that ended the reply, where the server names it.
        attempt: 0 for the first reply of a round, then 1, 2 for its repairs.
        seen_ids: Call ids that the conversation has already used.
        handshake: The id of this turn.
        tool_choice: What the request allowed.
    """

    tools: Sequence[ToolSpec] = ()
    finish_reason: str | None = None
    stop_reason: str | None = None
    attempt: int = 0
    seen_ids: Collection[str] = frozenset()
    handshake: str | None = None
    tool_choice: Any = "auto"


@runtime_checkable
class ToolCallCodec(Protocol):
    """What every codec has. `decode` may take a `DecodeContext` as a second parameter."""

    streaming: Streaming

    def encode(self, request: Request, tools: Sequence[ToolSpec]) -> Request:
        """Return the request with the protocol, the catalogue and the history rewritten. Pure."""
        ...

    def decode(self, message: Message) -> Decoded:
        """Return what the assistant's message says, or raise `CodecError`."""
        ...


class ReplyStream(Protocol):
    """Turns a reply's text, in chunks of any size, into events, while it comes."""

    def feed(self, chunk: str, /) -> list[Event]:
        """Take the next chunk."""
        ...

    def finish(
        self, finish_reason: str | None = None, stop_reason: str | None = None
    ) -> list[Event]:
        """Release what was held back; the reply has ended."""
        ...


def decode_reply(codec: ToolCallCodec, message: Message, context: DecodeContext) -> Decoded:
    """Decode a reply with any codec, and give every call an id that is unique in the conversation.

    Raises:
        CodecError: The reply does not follow the codec's protocol.
    """
    decode: Any = codec.decode
    decoded: Decoded = decode(message, context) if takes_context(codec) else decode(message)
    return replace(decoded, calls=with_unique_ids(decoded.calls, context.seen_ids))


def repair_message(
    codec: ToolCallCodec, error: CodecError, attempt: int, tools: Sequence[ToolSpec]
) -> Message:
    """Return the message that asks the model to mend its reply: the codec's own, or a plain one."""
    make: Any = getattr(codec, "repair_prompt", None)
    made: object = make(error, attempt, tools) if make is not None else default_repair(error)
    return repair(made) if isinstance(made, str) else {"kind": "repair", **_as_message(made)}


def open_stream(codec: ToolCallCodec, context: DecodeContext) -> ReplyStream:
    """Return what turns a reply into events while it streams.

    A codec that says `"filter"` has a method `stream(context)`; one that says `"passthrough"` shows
    its text as it comes; one that says `"buffer"` shows nothing until the reply is decoded. All of
    them keep reasoning apart.
    """
    if codec.streaming == "filter":
        own: Any = codec
        return own.stream(context)
    return PlainStream(visible=codec.streaming == "passthrough")


class PlainStream:
    """The stream of a codec without blocks: text as it comes, or nothing; reasoning kept apart."""

    def __init__(self, *, visible: bool) -> None:
        # The id only has to be one that no reply contains: nothing in such a reply is a block.
        self._filter = StreamFilter(secrets.token_hex(8), reasoning=REASONING_TAGS)
        self._visible = visible
        self._begun = False

    def feed(self, chunk: str, /) -> list[Event]:
        """Take the next chunk."""
        return self._shown(self._filter.feed(chunk))

    def finish(
        self, finish_reason: str | None = None, stop_reason: str | None = None
    ) -> list[Event]:
        """Release what was held back."""
        del finish_reason, stop_reason
        return self._shown(self._filter.finish())

    def _shown(self, events: list[Event]) -> list[Event]:
        shown: list[Event] = []
        for event in events:
            if isinstance(event, Text):
                if self._visible:
                    shown.append(event)
                self._begun = self._begun or bool(event.text.strip())
            elif isinstance(event, Reasoning) and (self._visible or not self._begun):
                shown.append(event)
        return shown


def takes_context(codec: ToolCallCodec) -> bool:
    """Return whether the codec's `decode` has a second parameter."""
    parameters = inspect.signature(codec.decode).parameters.values()
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return len(positional) > 1 or any(p.kind is p.VAR_POSITIONAL for p in parameters)


def call_id(protocol_text: str, index: int, name: str, arguments: JsonValue) -> str:
    """Return the id of a call, derived from its content, so that a replay gives the same one."""
    compact = json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))
    joined = "\0".join((protocol_text, str(index), name, compact))
    return "call_" + hashlib.sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def with_unique_ids(calls: Sequence[ToolCall], seen: Collection[str]) -> tuple[ToolCall, ...]:
    """Return the calls with ids that neither repeat one another nor one in `seen`."""
    taken = set(seen)
    numbers: dict[str, int] = {}
    unique: list[ToolCall] = []
    for index, call in enumerate(calls):
        first = call.id or call_id("", index, call.name, call.arguments)
        fresh = first
        while fresh in taken:
            numbers[first] = numbers.get(first, 1) + 1
            fresh = f"{first}-{numbers[first]}"
        taken.add(fresh)
        unique.append(call if fresh == call.id else replace(call, id=fresh))
    return tuple(unique)


def default_repair(error: CodecError) -> str:
    """Return the repair prompt of a codec that has none of its own."""
    hint = f" {error.hint}." if error.hint else ""
    return f"Your last reply could not be read: {error.message}.{hint} Write the whole reply again."


def _as_message(made: object) -> Message:
    if isinstance(made, dict):
        return made  # pyright: ignore[reportUnknownVariableType]
    raise TypeError(f"repair_prompt must return a message or a text, got {type(made).__name__}")
