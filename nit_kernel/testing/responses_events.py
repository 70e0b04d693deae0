"""A scripted reply as the events, or the body, of the Responses API."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from nit_kernel.testing.fake_model import End, Piece
from nit_kernel.testing.parts import RawDelta, Refuse, Think


def response_events(pieces: Iterable[Piece], model: str) -> Iterator[str]:
    """Yield the server-sent events of a streamed reply."""
    writer = _Writer(model)
    yield from writer.event("response.created", response=writer.response("in_progress"))
    for piece in pieces:
        if isinstance(piece, Refuse):
            error = {"code": piece.code or "server_error", "message": piece.message}
            failed = writer.response("failed") | {"error": error}
            yield from writer.event("response.failed", response=failed)
            return
        yield from writer.write(piece)


def response_body(pieces: list[Piece], model: str) -> dict[str, Any]:
    """Return the body of a reply that is not streamed."""
    writer = _Writer(model)
    for piece in pieces:
        for _ in writer.write(piece):
            pass
    return writer.final


class _Writer:
    """Builds the output items one after another, and says what happens to them."""

    def __init__(self, model: str) -> None:
        self.final: dict[str, Any] = {}
        self._model = model
        self._number = 0
        self._output: list[dict[str, Any]] = []
        self._open: dict[str, Any] | None = None
        self._slot: object = None

    def event(self, kind: str, **fields: Any) -> Iterator[str]:
        data = {"type": kind, "sequence_number": self._number, **fields}
        self._number += 1
        yield f"event: {kind}\ndata: {json.dumps(data)}\n\n"

    def response(self, status: str) -> dict[str, Any]:
        return {
            "id": "resp_fake",
            "object": "response",
            "created_at": 0,
            "model": self._model,
            "status": status,
            "output": list(self._output),
            "error": None,
            "incomplete_details": None,
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
        }

    def write(self, piece: Piece) -> Iterator[str]:
        match piece:
            case str():
                yield from self._text(piece)
            case Think(text=text):
                yield from self._thought(text)
            case RawDelta(entry=entry):
                yield from self._call(dict(entry))
            case End():
                yield from self._close()
                yield from self._end(piece)
            case _:
                raise AssertionError(piece)

    def _text(self, text: str) -> Iterator[str]:
        if self._open is None or self._open["type"] != "message":
            yield from self._close()
            head = {"type": "message", "role": "assistant", "status": "in_progress"}
            yield from self._begin("msg", {**head, "content": []})
            part: dict[str, Any] = {"type": "output_text", "text": "", "annotations": []}
            yield from self.event("response.content_part.added", part=part, **self._place(0))
            self._item["content"] = [part]
        self._item["content"][0]["text"] += text
        yield from self.event(
            "response.output_text.delta", delta=text, logprobs=[], **self._place(0)
        )

    def _thought(self, text: str) -> Iterator[str]:
        if self._open is None or self._open["type"] != "reasoning":
            yield from self._close()
            head = {"type": "reasoning", "encrypted_content": "sealed"}
            yield from self._begin("rs", {**head, "summary": []})
            part: dict[str, Any] = {"type": "summary_text", "text": ""}
            place = {"item_id": self._item["id"], "output_index": self._index, "summary_index": 0}
            yield from self.event("response.reasoning_summary_part.added", part=part, **place)
            self._item["summary"] = [part]
        self._item["summary"][0]["text"] += text
        place = {"item_id": self._item["id"], "output_index": self._index, "summary_index": 0}
        yield from self.event("response.reasoning_summary_text.delta", delta=text, **place)

    def _call(self, entry: dict[str, Any]) -> Iterator[str]:
        function: dict[str, Any] = entry.get("function") or {}
        slot = entry.get("index")
        if self._open is None or self._open["type"] != "function_call" or slot != self._slot:
            yield from self._close()
            self._slot = slot
            item: dict[str, Any] = {
                "type": "function_call",
                "call_id": entry.get("id") or "",
                "name": function.get("name") or "",
                "arguments": "",
                "status": "in_progress",
            }
            yield from self._begin("fc", item)
        arguments = function.get("arguments") or ""
        if arguments:
            self._item["arguments"] += arguments
            place = {"item_id": self._item["id"], "output_index": self._index}
            yield from self.event(
                "response.function_call_arguments.delta", delta=arguments, **place
            )

    def _begin(self, prefix: str, item: dict[str, Any]) -> Iterator[str]:
        self._open = {"id": f"{prefix}_{len(self._output)}_{self._number}", **item}
        yield from self.event(
            "response.output_item.added", item=dict(self._open), output_index=self._index
        )

    def _close(self) -> Iterator[str]:
        item = self._open
        if item is None:
            return
        match item["type"]:
            case "message":
                part = item["content"][0]
                yield from self.event(
                    "response.output_text.done", text=part["text"], logprobs=[], **self._place(0)
                )
                yield from self.event("response.content_part.done", part=part, **self._place(0))
                item["status"] = "completed"
            case "function_call":
                item["status"] = "completed"
                yield from self.event(
                    "response.function_call_arguments.done",
                    arguments=item["arguments"],
                    name=item["name"],
                    item_id=item["id"],
                    output_index=self._index,
                )
            case _:
                pass
        yield from self.event("response.output_item.done", item=item, output_index=self._index)
        self._output.append(item)
        self._open = None

    def _end(self, end: End) -> Iterator[str]:
        cut = {"length": "max_output_tokens", "content_filter": "content_filter"}
        reason = cut.get(end.finish or "")
        self.final = self.response("incomplete" if reason else "completed")
        if reason:
            self.final["incomplete_details"] = {"reason": reason}
        if end.is_counted:
            self.final["usage"] = {
                "input_tokens": end.prompt_tokens,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": end.completion_tokens,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": end.prompt_tokens + end.completion_tokens,
            }
        kind = "response.incomplete" if reason else "response.completed"
        yield from self.event(kind, response=self.final)

    @property
    def _item(self) -> dict[str, Any]:
        if self._open is None:
            message = "no item is open"
            raise AssertionError(message)
        return self._open

    @property
    def _index(self) -> int:
        return len(self._output)

    def _place(self, content_index: int) -> dict[str, Any]:
        return {
            "item_id": self._item["id"],
            "output_index": self._index,
            "content_index": content_index,
        }
