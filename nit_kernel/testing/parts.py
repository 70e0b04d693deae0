"""What a scripted reply is made of: words, scripts, calls, thoughts, waits and faults, in order."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, cast

if TYPE_CHECKING:
    import threading

    from nit_kernel.testing.recorded import RecordedRequest


@dataclass(frozen=True, slots=True)
class Script:
    """A NIT script, written between the tags of the turn that is asked for.

    Attributes:
        source: The script, without tags.
        id: The handshake id to write; `None` takes this turn's own from the request, anything else
            (an old id, `""` for a bare tag) makes a block that must not run.
        closed: Whether the closing tag is written.
    """

    source: str
    id: str | None = None
    closed: bool = True


@dataclass(frozen=True, slots=True)
class Think:
    """Reasoning that arrives apart from the answer.

    Attributes:
        text: The thought.
        field: The delta's field that carries it (Chat Completions; local servers differ).
    """

    text: str
    field: Literal["reasoning_content", "reasoning"] = "reasoning_content"


@dataclass(frozen=True, slots=True)
class Call:
    """A native tool call.

    Attributes:
        name: The function's name.
        arguments: The arguments as an object, or the raw string that the server sends.
        id: The call's id; by default `call_fake_1`, `call_fake_2`, .. over the model's life.
    """

    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict[str, Any])
    id: str | None = None

    @property
    def arguments_text(self) -> str:
        """The arguments as the server sends them."""
        if isinstance(self.arguments, str):
            return self.arguments
        return json.dumps(self.arguments, ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class RawDelta:
    """One entry of `delta.tool_calls`, passed on as it is: for servers that stream oddly."""

    entry: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Wait:
    """Holds the stream until the event is set: a gate, so that tests need no clock."""

    event: threading.Event


@dataclass(frozen=True, slots=True)
class Pause:
    """Holds the stream for some seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Disconnect:
    """Breaks the connection here: the reply has no end."""


@dataclass(frozen=True, slots=True)
class Refuse:
    """An error of the server: as the first part an HTTP status, later an error in the stream.

    Attributes:
        status: The HTTP status.
        message: The error's message.
        code: The error's code, as OpenAI names it (`"invalid_api_key"`).
        headers: Further headers of the answer, such as `{"retry-after": "1"}`.
    """

    status: int
    message: str = "refused by the test"
    code: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


Part = str | Script | Think | Call | RawDelta | Wait | Pause | Disconnect | Refuse


@dataclass(frozen=True, slots=True, init=False)
class Reply:
    """One scripted reply: parts in the order in which they are streamed.

    Args:
        *parts: Text, `Script`, `Think`, `Call`, `RawDelta`, `Wait`, `Pause`, `Disconnect`,
            `Refuse`.
        finish: The finish reason; by default `"tool_calls"` where there are calls, else `"stop"`.
            `""`: the server says none.
        usage: `(prompt tokens, completion tokens)`; by default estimated from the lengths.
        chunk: Characters in each piece of the stream, or the offsets at which the text is cut;
            by default the model's own size.
    """

    parts: tuple[Part, ...]
    finish: str | None
    usage: tuple[int, int] | None
    chunk: int | Sequence[int] | None

    def __init__(
        self,
        *parts: Part,
        finish: str | None = None,
        usage: tuple[int, int] | None = None,
        chunk: int | Sequence[int] | None = None,
    ) -> None:
        object.__setattr__(self, "parts", parts)
        object.__setattr__(self, "finish", finish)
        object.__setattr__(self, "usage", usage)
        object.__setattr__(self, "chunk", chunk)


Answer = Reply | Part | Sequence[Part] | Mapping[str, Any]
Turn = Answer | Callable[["RecordedRequest"], Answer]


def as_reply(answer: Answer) -> Reply:
    """Make a `Reply` of whatever form a turn was given in.

    A mapping is an assistant message in the Chat Completions shape, with an optional
    `finish_reason`.
    """
    if isinstance(answer, Reply):
        return answer
    if isinstance(answer, Mapping):
        return _of_message(answer)
    if isinstance(answer, str) or not isinstance(answer, Sequence):
        return Reply(answer)
    return Reply(*answer)


def _of_message(message: Mapping[str, Any]) -> Reply:
    parts: list[Part] = []
    for name in ("reasoning_content", "reasoning"):
        if message.get(name):
            parts.append(Think(str(message[name]), field=name))
    if message.get("content"):
        parts.append(str(message["content"]))
    for entry in cast("Iterable[Mapping[str, Any]]", message.get("tool_calls") or ()):
        function = cast("Mapping[str, Any]", entry.get("function") or entry)
        parts.append(
            Call(
                name=str(function.get("name", "")),
                arguments=cast("Mapping[str, Any] | str", function.get("arguments") or ""),
                id=cast("str | None", entry.get("id")),
            )
        )
    return Reply(*parts, finish=cast("str | None", message.get("finish_reason")))
