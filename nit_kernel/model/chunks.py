"""Readers of what a server streams: chunks of either API in, items of a reply out.

Written against what servers really send: fields that are missing, null, or of another server's
dialect never raise.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from nit_kernel.language.schema import JsonObject, JsonValue
from nit_kernel.model.client import (
    CallChunk,
    ReasoningChunk,
    ReplyEnd,
    StreamItem,
    TextChunk,
    TokenUsage,
)
from nit_kernel.model.wire import REASONING_ITEMS


class ServerSaidError(Exception):
    """The server reported a failure inside its answer."""

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        self.code = code


class ChatReader:
    """Reads Chat Completions chunks."""

    def __init__(self) -> None:
        self.begun = False
        self._finish: str | None = None
        self._stop: str | None = None
        self._usage: TokenUsage | None = None

    @property
    def has_ended(self) -> bool:
        """Whether the server said why the reply ended; a break after that loses nothing."""
        return self._finish is not None

    def read(self, chunk: dict[str, Any]) -> Iterator[StreamItem]:
        """Yield what one chunk adds."""
        self._count(chunk.get("usage"))
        choices = chunk.get("choices")
        if not isinstance(choices, list) or not choices:
            return
        choice = _object(cast("list[Any]", choices)[0])
        if choice.get("index") not in (0, None):
            return
        self.begun = True
        delta = choice.get("delta") or choice.get("message")
        yield from self._message(_object(delta))
        self._close(choice)

    def whole(self, completion: dict[str, Any]) -> Iterator[StreamItem]:
        """Yield what a reply holds that was not streamed."""
        yield from self.read(completion)
        if not self.begun:
            raise ServerSaidError("the reply was empty", code="empty")
        yield from self.end()

    def end(self) -> Iterator[StreamItem]:
        """Yield the end of the reply."""
        yield ReplyEnd(finish_reason=self._finish, stop=self._stop, usage=self._usage)

    def _message(self, delta: dict[str, Any]) -> Iterator[StreamItem]:
        for name in ("reasoning_content", "reasoning"):
            thought = delta.get(name)
            if isinstance(thought, str) and thought:
                yield ReasoningChunk(text=thought)
                break
        content = delta.get("content")
        if isinstance(content, list):
            yield from _typed_parts(cast("list[Any]", content))
        elif isinstance(content, str) and content:
            yield TextChunk(text=content)
        refusal = delta.get("refusal")
        if isinstance(refusal, str) and refusal:
            yield TextChunk(text=refusal)
        calls = delta.get("tool_calls")
        if isinstance(calls, list):
            entries = tuple(cast("JsonObject", entry) for entry in _objects(cast("object", calls)))
            if entries:
                yield CallChunk(deltas=entries)
        old = delta.get("function_call")
        if isinstance(old, dict):
            yield CallChunk(deltas=({"index": 0, "function": cast("JsonObject", old)},))

    def _close(self, choice: dict[str, Any]) -> None:
        finish = choice.get("finish_reason")
        if isinstance(finish, str) and finish:
            self._finish = finish
        # vLLM and SGLang name the stop sequence, each in its own field.
        for name in ("stop_reason", "matched_stop"):
            stop = choice.get(name)
            if isinstance(stop, str) and stop:
                self._stop = stop

    def _count(self, usage: object) -> None:
        if isinstance(usage, dict):
            self._usage = _usage(cast("dict[str, Any]", usage), "prompt", "completion")


class ResponsesReader:
    """Reads events of the Responses API. What an item says when it is done is the truth."""

    def __init__(self) -> None:
        self.begun = False
        self._shown: set[str] = set()
        self._called: set[str] = set()
        self._reasoning: list[JsonValue] = []
        self._finish: str | None = None
        self._usage: TokenUsage | None = None

    @property
    def has_ended(self) -> bool:
        """Whether the server said that the reply ended."""
        return self._finish is not None

    def read(self, event: dict[str, Any]) -> Iterator[StreamItem]:
        """Yield what one event adds."""
        self.begun = True
        kind = str(event.get("type", ""))
        item_id = str(event.get("item_id") or "")
        match kind:
            case "response.output_text.delta" | "response.refusal.delta":
                self._shown.add(item_id)
                if event.get("delta"):
                    yield TextChunk(text=str(event["delta"]))
            case "response.reasoning_text.delta" | "response.reasoning_summary_text.delta":
                self._shown.add(item_id)
                if event.get("delta"):
                    yield ReasoningChunk(text=str(event["delta"]))
            case "response.reasoning_summary_part.added" if event.get("summary_index"):
                yield ReasoningChunk(text="\n\n")
            case "response.output_item.done":
                yield from self._done(_object(event.get("item")), event.get("output_index"))
            case "response.completed" | "response.incomplete" | "response.failed":
                yield from self._finished(_object(event.get("response")))
            case "error":
                code = event.get("code")
                raise ServerSaidError(
                    str(event.get("message") or "an error in the stream"),
                    code=code if isinstance(code, str) else None,
                )
            case _:
                pass

    def whole(self, response: dict[str, Any]) -> Iterator[StreamItem]:
        """Yield what a reply holds that was not streamed."""
        yield from self._finished(response)
        yield from self.end()

    def end(self) -> Iterator[StreamItem]:
        """Yield the end of the reply."""
        if self._finish == "stop" and self._called:
            self._finish = "tool_calls"
        extra: JsonObject = {REASONING_ITEMS: self._reasoning} if self._reasoning else {}
        yield ReplyEnd(finish_reason=self._finish, usage=self._usage, message=extra)

    def _done(self, item: dict[str, Any], output_index: object) -> Iterator[StreamItem]:
        item_id = str(item.get("id") or item.get("call_id") or "")
        kind = item.get("type")
        if kind in ("function_call", "custom_tool_call"):
            key = str(item.get("call_id") or item_id)
            if key not in self._called:
                index = output_index if isinstance(output_index, int) else len(self._called)
                self._called.add(key)
                yield CallChunk(deltas=(_call_entry(item, index),))
            return
        if kind == "reasoning" and not any(_same_id(each, item) for each in self._reasoning):
            kept = {key: value for key, value in item.items() if key != "status"}
            self._reasoning.append(cast("JsonObject", kept))
        if item_id in self._shown:
            return
        self._shown.add(item_id)
        for part in [*_objects(item.get("summary")), *_objects(item.get("content"))]:
            text = part.get("text") or part.get("refusal")
            if isinstance(text, str) and text:
                reasons = kind == "reasoning"
                yield ReasoningChunk(text=text) if reasons else TextChunk(text=text)

    def _finished(self, response: dict[str, Any]) -> Iterator[StreamItem]:
        self.begun = True
        error = _object(response.get("error"))
        if response.get("status") == "failed" or error:
            code = error.get("code")
            raise ServerSaidError(
                str(error.get("message") or "the server failed to make a reply"),
                code=code if isinstance(code, str) else None,
            )
        for index, item in enumerate(_objects(response.get("output"))):
            yield from self._done(item, index)
        usage = response.get("usage")
        if isinstance(usage, dict):
            self._usage = _usage(cast("dict[str, Any]", usage), "input", "output")
        self._finish = "stop"
        if response.get("status") == "incomplete":
            reason = _object(response.get("incomplete_details")).get("reason")
            self._finish = "length" if reason == "max_output_tokens" else str(reason or "length")


def _typed_parts(parts: list[Any]) -> Iterator[StreamItem]:
    """Content as a list of parts; some models put their thoughts among them."""
    for part in _objects(parts):
        if part.get("type") == "thinking":
            inner: object = part.get("thinking")
            thoughts = [{"text": inner}] if isinstance(inner, str) else _objects(inner)
            for thought in thoughts:
                if isinstance(thought.get("text"), str):
                    yield ReasoningChunk(text=str(thought["text"]))
        elif isinstance(part.get("text"), str) and part["text"]:
            yield TextChunk(text=str(part["text"]))


def _call_entry(item: dict[str, Any], index: int) -> JsonObject:
    call_id = str(item.get("call_id") or item.get("id") or "")
    name = str(item.get("name") or "")
    if item.get("type") == "custom_tool_call":
        custom: JsonObject = {"name": name, "input": str(item.get("input") or "")}
        return {"index": index, "id": call_id, "type": "custom", "custom": custom}
    arguments = item.get("arguments")
    function: JsonObject = {
        "name": name,
        "arguments": arguments if isinstance(arguments, str | dict) else "",
    }
    return {"index": index, "id": call_id, "type": "function", "function": function}


def _usage(usage: dict[str, Any], read: str, written: str) -> TokenUsage:
    prompt = _object(usage.get(f"{read}_tokens_details"))
    completion = _object(usage.get(f"{written}_tokens_details"))
    return TokenUsage(
        prompt_tokens=_count(usage.get(f"{read}_tokens")),
        completion_tokens=_count(usage.get(f"{written}_tokens")),
        cached_tokens=_count(prompt.get("cached_tokens")),
        reasoning_tokens=_count(completion.get("reasoning_tokens")),
    )


def _count(value: object) -> int:
    return int(value) if isinstance(value, int | float) and value > 0 else 0


def _same_id(one: JsonValue, item: dict[str, Any]) -> bool:
    return isinstance(one, dict) and one.get("id") == item.get("id")


def _object(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _objects(value: object) -> list[dict[str, Any]]:
    if not isinstance(value, list):
        return []
    items = cast("list[object]", value)
    return [cast("dict[str, Any]", each) for each in items if isinstance(each, dict)]
