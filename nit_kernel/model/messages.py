"""The shapes of a conversation: messages, as plain dicts, and the request that carries them.

A message is a dict in the shape of OpenAI's Chat Completions (`role`, `content`, `tool_calls`,
`tool_call_id`). The history of a conversation is kept in *one* form, whatever codec wrote it, and
each codec rewrites that form into its own when it encodes a request. A few keys of ours say what
the Chat Completions shape cannot; `wire()` drops them.

| key | on | meaning |
|---|---|---|
| `kind` | user | `"report"` (on scripts that ran), `"repair"` (asks for a better reply), or none |
| `kind` | assistant | `"failed"`: a reply that could not be decoded, kept until it is repaired |
| `parts` | assistant | `{"type": "text", "text"}` and `{"type": "script", "script"}` in order |
| `reasoning` | assistant | the reasoning of the reply, never sent back |
| `name` | tool | the tool's exact name |
| `is_error` | tool | whether the call failed |

The same calls stand in the history as `tool_calls` and one `tool` message per id, also where the
model wrote them as JSON or as `Action:` lines. A script stands as `parts`, followed by its report.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from nit_kernel.language.schema import JsonObject, JsonValue

Message = dict[str, Any]
"""One message; the JSON edge of the model layer."""

ToolChoice = Literal["auto", "none", "required"] | JsonObject
"""What the model may call: a word, or `{"type": "function", "function": {"name": ..}}`."""

OUR_KEYS = frozenset({"kind", "parts", "reasoning", "is_error"})
"""Keys of ours that no server sees."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """One line of the variable table that a prompt shows.

    Attributes:
        name: Without the dollar sign.
        type: The NIT type or the Python type's name.
        size: Text such as `12,345 chars`; may be empty.
    """

    name: str
    type: str
    size: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request to a model. Codecs return a changed copy, never the one they were given.

    Attributes:
        model: The model's name.
        messages: The conversation in the form of this module; after `encode`, in the wire's form.
        tools: Tools in the provider's own form; filled by the native codec only.
        tool_choice: What the model may call.
        stop: Stop sequences.
        extra: Further fields of the request's body, sent as they are.
        handshake: The id of this turn, 4 characters of `0-9A-Z`; `None` where there is none.
        variables: What the symbol table holds, for the variable table of the prompt.
    """

    model: str
    messages: tuple[Message, ...] = ()
    tools: tuple[JsonObject, ...] = ()
    tool_choice: ToolChoice = "auto"
    stop: tuple[str, ...] = ()
    extra: JsonObject = field(default_factory=dict[str, JsonValue])
    handshake: str | None = None
    variables: tuple[Variable, ...] = ()

    def with_system(self, text: str) -> Request:
        """Return a copy whose system prompt ends with `text`; one is added where there is none."""
        messages = list(self.messages)
        if messages and messages[0].get("role") in ("system", "developer"):
            first = dict(messages[0])
            first["content"] = f"{text_of(first)}\n\n{text}".strip()
            messages[0] = first
        else:
            messages.insert(0, {"role": "system", "content": text})
        return replace(self, messages=tuple(messages))

    def with_messages(self, messages: Iterable[Message]) -> Request:
        """Return a copy with other messages."""
        return replace(self, messages=tuple(messages))


def system(text: str) -> Message:
    """Make a system message."""
    return {"role": "system", "content": text}


def user(content: str | Sequence[Mapping[str, JsonValue]]) -> Message:
    """Make a person's message: text, or content parts (text and images)."""
    return {"role": "user", "content": content if isinstance(content, str) else list(content)}


def report(text: str) -> Message:
    """Make the message that tells the model what came of its scripts."""
    return {"role": "user", "content": text, "kind": "report"}


def repair(text: str) -> Message:
    """Make the message that asks the model to mend its reply."""
    return {"role": "user", "content": text, "kind": "repair"}


def failed(text: str) -> Message:
    """Make the message that keeps a reply which could not be decoded."""
    return {"role": "assistant", "content": text, "kind": "failed"}


def assistant(
    text: str,
    *,
    calls: Sequence[JsonObject] = (),
    parts: Sequence[JsonObject] = (),
    reasoning: str = "",
) -> Message:
    """Make the assistant's message.

    Args:
        text: The visible text.
        calls: Entries of `tool_calls`; see `call_entry`.
        parts: Text and scripts in order, where the reply held scripts.
        reasoning: Kept beside the reply, never sent back.
    """
    message: Message = {"role": "assistant", "content": text or (None if calls else "")}
    if calls:
        message["tool_calls"] = list(calls)
    if parts:
        message["parts"] = list(parts)
    if reasoning:
        message["reasoning"] = reasoning
    return message


def call_entry(call_id: str, name: str, arguments: str) -> JsonObject:
    """Make one entry of `tool_calls`; `arguments` is JSON text."""
    return {
        "id": call_id,
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }


def tool_result(call_id: str, text: str, *, name: str = "", is_error: bool = False) -> Message:
    """Make the one message that answers a call."""
    message: Message = {"role": "tool", "tool_call_id": call_id, "content": text}
    if name:
        message["name"] = name
    if is_error:
        message["is_error"] = True
    return message


def text_of(message: Mapping[str, Any]) -> str:
    """Return the text of a message: its content, or its text parts joined."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts: list[Any] = content  # pyright: ignore[reportUnknownVariableType]
    found: list[str] = []
    for part in parts:
        if isinstance(part, str):
            found.append(part)
        elif isinstance(part, dict):
            text: object = part.get("text") or part.get("refusal")  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
            if isinstance(text, str):
                found.append(text)
    return "".join(found)


def reasoning_of(message: Mapping[str, Any]) -> str:
    """Return what a server put into a separate reasoning field of a reply."""
    for key in ("reasoning_content", "reasoning"):
        value = message.get(key)
        if isinstance(value, str) and value:
            return value
    return ""


def is_person(message: Mapping[str, Any]) -> bool:
    """Return whether a person wrote the message (and not the loop in their place)."""
    return message.get("role") == "user" and "kind" not in message


def wire(message: Mapping[str, Any]) -> Message:
    """Return the message without the keys that are ours alone."""
    return {key: value for key, value in message.items() if key not in OUR_KEYS}


def collapse_repairs(messages: Iterable[Message]) -> list[Message]:
    """Drop failed replies and their repair prompts once a good reply followed them."""
    kept: list[Message] = []
    pending: list[Message] = []
    for message in messages:
        if message.get("kind") in ("failed", "repair"):
            pending.append(message)
            continue
        if pending:
            if message.get("role") != "assistant":
                kept.extend(pending)
            pending = []
        kept.append(message)
    return kept + pending
