"""The requests that a fake model was sent, in a form that tests can look into."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Mapping
from typing import Any, cast

_TAG = re.compile(r"<nit-([0-9A-Z]{4})>")


class RecordedRequest(dict[str, Any]):
    """The body of one request, as it went over the wire.

    Attributes:
        path: The path of the request (`"/v1/chat/completions"`), empty for a direct client.
        headers: Its headers, names in lower case.
        gone: Set when the client closed the stream before its end.
    """

    path: str
    headers: dict[str, str]
    gone: threading.Event

    def __init__(
        self, body: Mapping[str, Any], *, path: str = "", headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(body)
        self.path = path
        self.headers = {name.lower(): value for name, value in (headers or {}).items()}
        self.gone = threading.Event()

    @property
    def text(self) -> str:
        """The whole body as JSON text: what left the machine."""
        return json.dumps(self, ensure_ascii=False)

    @property
    def handshake_id(self) -> str | None:
        """This turn's handshake id, as a model would read it from the system prompt."""
        found: list[str] = []
        for role, text in self._spoken():
            if role in ("system", "developer"):
                found += [each for each in _TAG.findall(text) if each != "XXXX"]
        return found[-1] if found else None

    @property
    def last_text(self) -> str:
        """The text of the last message or result: what a model would answer to."""
        texts = [text for _, text in self._spoken()]
        return texts[-1] if texts else ""

    def spoken(self, role: str) -> list[str]:
        """The texts of all messages of one role; results of tools have the role `"tool"`."""
        return [text for each, text in self._spoken() if each == role]

    def _spoken(self) -> Iterator[tuple[str, str]]:
        if isinstance(self.get("instructions"), str):
            yield "system", self["instructions"]
        items = self.get("messages", self.get("input"))
        if isinstance(items, str):
            yield "user", items
            return
        for item in cast("list[dict[str, Any]]", items or []):
            if item.get("type") == "function_call_output":
                yield "tool", _text(item.get("output"))
            elif "role" in item:
                yield str(item["role"]), _text(item.get("content"))


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = cast("list[object]", content)
        return "".join(
            str(cast("dict[str, Any]", part).get("text", ""))
            for part in parts
            if isinstance(part, dict)
        )
    return ""
