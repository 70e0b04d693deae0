"""A request as the body that goes over the wire, in both of OpenAI's forms.

Chat Completions takes our messages nearly as they are. The Responses API has items: leading system
text becomes `instructions`, calls and their results are items of their own, and the reasoning
items of earlier replies are echoed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from nit_kernel.language.schema import JsonObject, JsonValue
from nit_kernel.model.messages import Message, Request, text_of, wire

REASONING_ITEMS = "reasoning_items"
"""The key of an assistant's message that holds the Responses API's reasoning items."""

_LENGTH_NAMES = ("max_tokens", "max_completion_tokens")


def chat_body(request: Request) -> JsonObject:
    """Return the body for `POST /chat/completions`, without what only streaming adds."""
    messages = [wire(message) for message in request.messages]
    for message in messages:
        message.pop(REASONING_ITEMS, None)
        if message.get("role") == "tool":
            message.pop("name", None)
    body: dict[str, Any] = {"model": request.model, "messages": messages}
    if request.tools:
        body["tools"] = list(request.tools)
        if request.tool_choice != "auto":
            body["tool_choice"] = request.tool_choice
    if request.stop:
        body["stop"] = list(request.stop)
    body.update(request.extra)
    return cast("JsonObject", _without_lone_surrogates(body))


def responses_body(request: Request) -> JsonObject:
    """Return the body for `POST /responses`; stop sequences do not exist there."""
    messages = list(request.messages)
    instructions: list[str] = []
    while messages and messages[0].get("role") in ("system", "developer"):
        instructions.append(text_of(messages.pop(0)))
    items: list[JsonValue] = []
    for message in messages:
        items += _items(message)
    body: dict[str, Any] = {"model": request.model, "input": items, "store": False}
    if instructions:
        body["instructions"] = "\n\n".join(instructions)
    if request.tools:
        body["tools"] = [_flat_tool(tool) for tool in request.tools]
        if request.tool_choice != "auto":
            body["tool_choice"] = _flat_choice(request.tool_choice)
    for name, value in request.extra.items():
        if name in _LENGTH_NAMES:
            body["max_output_tokens"] = value
        elif name == "response_format" and isinstance(value, dict):
            body["text"] = {"format": _flat_format(value)}
        elif name == "reasoning_effort":
            body["reasoning"] = {"effort": value}
        else:
            body[name] = value
    return cast("JsonObject", _without_lone_surrogates(body))


def _items(message: Message) -> list[JsonValue]:
    role = message.get("role")
    if role == "tool":
        call_id = str(message.get("tool_call_id", ""))
        kind = "function_call_output"
        return [{"type": kind, "call_id": call_id, "output": text_of(message)}]
    if role != "assistant":
        return [{"role": cast("str", role), "content": _input_content(message.get("content"))}]
    items: list[JsonValue] = list(message.get(REASONING_ITEMS) or ())
    text = text_of(message)
    if text:
        items.append({"role": "assistant", "content": text})
    for entry in cast("list[dict[str, Any]]", message.get("tool_calls") or ()):
        items.append(_call_item(entry))
    return items


def _call_item(entry: Mapping[str, Any]) -> JsonObject:
    if entry.get("type") == "custom":
        custom: Mapping[str, Any] = entry.get("custom") or {}
        return {
            "type": "custom_tool_call",
            "call_id": str(entry.get("id", "")),
            "name": str(custom.get("name", "")),
            "input": str(custom.get("input", "")),
        }
    function: Mapping[str, Any] = entry.get("function") or {}
    return {
        "type": "function_call",
        "call_id": str(entry.get("id", "")),
        "name": str(function.get("name", "")),
        "arguments": str(function.get("arguments", "")),
    }


def _input_content(content: object) -> JsonValue:
    if not isinstance(content, list):
        return content if isinstance(content, str) else ""
    parts: list[JsonValue] = []
    for part in cast("list[dict[str, Any]]", content):
        if part.get("type") == "image_url":
            image: Any = part.get("image_url")
            address = image.get("url", "") if isinstance(image, dict) else image  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
            parts.append({"type": "input_image", "image_url": str(address), "detail": "auto"})  # pyright: ignore[reportUnknownArgumentType]
        elif part.get("type") == "text":
            parts.append({"type": "input_text", "text": str(part.get("text", ""))})
        else:
            parts.append(cast("JsonObject", part))
    return parts


def _flat_tool(tool: JsonObject) -> JsonObject:
    kind = tool.get("type", "function")
    inner = tool.get(str(kind))
    if not isinstance(inner, dict):
        return tool
    flat: JsonObject = {"type": kind, **inner}
    if kind == "function":
        # Here a missing `strict` means true, and then most schemas are refused.
        flat.setdefault("strict", False)
    elif isinstance(form := flat.get("format"), dict) and isinstance(form.get("grammar"), dict):
        flat["format"] = {"type": "grammar", **cast("JsonObject", form["grammar"])}
    return flat


def _flat_choice(choice: str | JsonObject) -> JsonValue:
    if isinstance(choice, str):
        return choice
    kind = choice.get("type")
    inner = choice.get(str(kind))
    return {"type": kind, **inner} if isinstance(inner, dict) else choice


def _flat_format(form: JsonObject) -> JsonObject:
    inner = form.get("json_schema")
    return {"type": "json_schema", **inner} if isinstance(inner, dict) else form


def _without_lone_surrogates(value: object) -> object:
    """Replace what UTF-8 cannot carry: half a character of a stream that broke."""
    if isinstance(value, str):
        if value.isascii():
            return value
        try:
            value.encode()
        except UnicodeEncodeError:
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return value
    if isinstance(value, Mapping):
        pairs = cast("Mapping[str, object]", value).items()
        return {str(key): _without_lone_surrogates(item) for key, item in pairs}
    if isinstance(value, list | tuple):
        items = cast("list[object]", value)
        return [_without_lone_surrogates(item) for item in items]
    return value
