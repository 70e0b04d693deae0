"""The history, read for rewriting: calls with their results, scripts with their reports.

The history has one form (`messages.py`). A codec that writes calls in its own way maps each
`Exchange` to messages and leaves the rest to `rewritten`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from nit_kernel.language.schema import JsonValue
from nit_kernel.model.codecs.strict import Read, read_strict
from nit_kernel.model.messages import Message, Request, is_person, text_of, wire
from nit_kernel.model.neutralise import neutralise
from nit_kernel.model.prompt import CALLED_TOOLS, CANCELLED, outcome, past_script

_OWN_KEYS = frozenset({"role", "content", "tool_calls"})


@dataclass(frozen=True, slots=True, kw_only=True)
class PastCall:
    """A call of the history with its result.

    Attributes:
        id: Its id.
        name: The tool's exact name.
        arguments: The arguments; a text where they are not JSON.
        arguments_text: The arguments as JSON text.
        result: The message that answered it, or `None` where none did.
        entry: The whole entry of `tool_calls`.
    """

    id: str
    name: str
    arguments: JsonValue
    arguments_text: str
    result: Message | None
    entry: Mapping[str, Any]

    def outcome(self, chars: int) -> str:
        """Return what the model is told of the result: defused, clipped, `error:` before errors."""
        if self.result is None:
            return outcome(CANCELLED, is_error=True, chars=chars)
        is_error = bool(self.result.get("is_error"))
        return outcome(text_of(self.result), is_error=is_error, chars=chars)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """An assistant's message with calls, and their results.

    Attributes:
        text: What it said besides.
        calls: Its calls, in order.
        kept: Further keys of the message that its provider wants back (reasoning items).
    """

    text: str
    calls: tuple[PastCall, ...]
    kept: Mapping[str, Any] = field(default_factory=dict[str, Any])


def read_history(messages: Sequence[Message]) -> Iterator[Message | Exchange]:
    """Yield the messages, each assistant's message with calls as one `Exchange`.

    Tool messages are taken into their exchange, the first one for each id; others are dropped.
    """
    for place, message in enumerate(messages):
        role = message.get("role")
        entries = cast("list[dict[str, Any]]", message.get("tool_calls") or [])
        if role == "assistant" and entries:
            results = _results(messages[place + 1 :], [_id_of(entry) for entry in entries])
            calls = tuple(_past_call(entry, results) for entry in entries)
            kept = {key: value for key, value in wire(message).items() if key not in _OWN_KEYS}
            yield Exchange(text=text_of(message), calls=calls, kept=kept)
        elif role != "tool":
            yield message


def rewritten(
    request: Request,
    exchange: Callable[[Exchange], Iterable[Message]],
    *,
    script: Callable[[Message], Message] | None = None,
    after_report: str = "",
) -> list[Message]:
    """Return the messages of a request for the wire.

    Args:
        request: With the history in our own form.
        exchange: Writes an assistant's calls and their results in the codec's own way.
        script: Writes an assistant's message with scripts; left out, a script stands as text.
        after_report: Said after each report.
    """
    messages: list[Message] = []
    for item in read_history(request.messages):
        if isinstance(item, Exchange):
            messages += exchange(item)
        elif item.get("parts"):
            messages.append((script or script_as_text)(item))
        elif item.get("kind") == "report":
            told = neutralise(text_of(item))
            content = f"{told}\n\n{after_report}" if after_report else told
            messages.append({"role": "user", "content": content})
        else:
            messages.append(wire(item))
    return _alternating(messages)


def script_as_text(message: Message) -> Message:
    """Return an assistant's message in which its scripts stand as text and call nothing."""
    scripts = [
        str(part.get("script", ""))
        for part in cast("list[dict[str, Any]]", message["parts"])
        if part.get("type") == "script"
    ]
    text = text_of(message).strip()
    shown = neutralise(past_script(scripts)) if scripts else ""
    return {"role": "assistant", "content": "\n\n".join(part for part in (text, shown) if part)}


def assistant_said(text: str) -> Message:
    """Return an assistant's message; never an empty one, which servers refuse."""
    return {"role": "assistant", "content": text or CALLED_TOOLS}


def with_late_system(messages: Sequence[Message], text: str) -> list[Message]:
    """Put a system message as late as it may stand: before the person's last message.

    What comes after that message (this turn's own replies and reports) keeps its place from
    request to request, and all before it is as it was: the provider's cache holds.
    """
    people = [place for place, message in enumerate(messages) if is_person(message)]
    place = people[-1] if people else len(messages)
    late: Message = {"role": "system", "content": text}
    return [*messages[:place], late, *messages[place:]]


def compact(value: JsonValue) -> str:
    """Return a JSON value as text for a prompt or a history."""
    return json.dumps(value, ensure_ascii=False)


def _results(messages: Sequence[Message], ids: Sequence[str]) -> dict[str, Message]:
    wanted = set(ids)
    results: dict[str, Message] = {}
    for message in messages:
        if message.get("role") == "assistant":
            again = cast("list[dict[str, Any]]", message.get("tool_calls") or [])
            wanted -= {_id_of(entry) for entry in again}
            if not wanted - results.keys():
                break
        call_id = message.get("tool_call_id")
        if message.get("role") == "tool" and call_id in wanted:
            results.setdefault(str(call_id), message)
    return results


def _past_call(entry: Mapping[str, Any], results: Mapping[str, Message]) -> PastCall:
    function = cast("dict[str, Any]", entry.get("function") or {})
    raw = function.get("arguments")
    text = raw if isinstance(raw, str) else compact(cast("JsonValue", raw))
    read = read_strict(text or "{}")
    return PastCall(
        id=_id_of(entry),
        name=str(function.get("name", "")),
        arguments=read.value if isinstance(read, Read) else text,
        arguments_text=text,
        result=results.get(_id_of(entry)),
        entry=entry,
    )


def _id_of(entry: Mapping[str, Any]) -> str:
    return str(entry.get("id", ""))


def _alternating(messages: Iterable[Message]) -> list[Message]:
    """Join neighbouring messages of one speaker where both are text: many templates demand it."""
    joined: list[Message] = []
    for message in messages:
        before = joined[-1] if joined else None
        both = (message, before) if before is not None else ()
        is_same = before is not None and before.get("role") == message.get("role")
        plain = all(set(item) == {"role", "content"} for item in both)
        if before is not None and is_same and plain and message["role"] in ("user", "assistant"):
            texts = [before["content"], message["content"]]
            if all(isinstance(text, str) for text in texts):
                kept = "\n\n".join(text for text in texts if text)
                joined[-1] = {"role": message["role"], "content": kept}
                continue
        joined.append(message)
    return joined
