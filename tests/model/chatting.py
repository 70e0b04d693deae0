"""What the tests of conversations share: a session with tools, and ways to read a turn."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import nit_kernel as nit
from nit_kernel.model.events import BlockFinished, BlockProgress, ChatEvent, TextDelta
from nit_kernel.testing import FakeModel, openai_server

LONG = "".join(f"line {number:05d} of the page\n" for number in range(4_000))
"""A value of 100 kB whose middle nobody should have to read."""

MIDDLE = "line 02000 of the page"


class Desk:
    """Tools that note what they were called with."""

    def __init__(self) -> None:
        self.calls: list[tuple[object, ...]] = []

    def fetch(self, url: str) -> str:
        """Fetch a page."""
        self.calls.append(("fetch", url))
        return LONG

    def count(self, text: str) -> int:
        """Count the lines of a text."""
        self.calls.append(("count", len(text)))
        return text.count("\n")

    def publish(self, title: str, lines: int) -> str:
        """Publish a number."""
        self.calls.append(("publish", title, lines))
        return f"published {title}: {lines}"

    def add(self, a: int, b: int) -> int:
        """Add two numbers."""
        self.calls.append(("add", a, b))
        return a + b

    def fail(self) -> None:
        """Fail."""
        self.calls.append(("fail",))
        raise ValueError("no luck")

    @property
    def tools(self) -> list[object]:
        functions = [self.fetch, self.count, self.publish, self.add, self.fail]
        return [nit.tool(side_effects="none")(function) for function in functions]


@contextmanager
def talking(
    model: FakeModel, /, *, tools=(), api: str | None = None, **options
) -> Iterator[nit.Chat]:
    """A conversation with a model: over HTTP where an API is named, else without a network."""
    with nit.Session(tools=tools) as session:
        if api is None:
            with nit.Chat(client=model, session=session, **options) as chat:
                yield chat
        else:
            with (
                openai_server(model) as server,
                nit.Chat(
                    base_url=server.base_url, api_key="k", session=session, api=api, **options
                ) as chat,
            ):
                yield chat


def events_of(chat: nit.Chat, text: str = "go", **options) -> list[ChatEvent]:
    """All events of a turn, the runtime's own left out."""
    return [e for e in chat.send(text, **options) if not isinstance(e, BlockProgress)]


def aevents_of(chat: nit.Chat, text: str = "go", **options) -> list[ChatEvent]:
    """The same, awaited."""

    async def collect() -> list[ChatEvent]:
        return [e async for e in chat.asend(text, **options) if not isinstance(e, BlockProgress)]

    return asyncio.run(asyncio.wait_for(collect(), 30))


def shown(events: list[ChatEvent]) -> str:
    """The visible text."""
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def only(events: list[ChatEvent], kind: type) -> list:
    """The events of one kind."""
    return [event for event in events if isinstance(event, kind)]


def statuses(events: list[ChatEvent]) -> list[str]:
    """How each block ended, in order."""
    return [event.status for event in events if isinstance(event, BlockFinished)]


def roles(chat: nit.Chat) -> list[str]:
    """Who speaks in the history, with our own kinds in place of roles."""
    return [message.get("kind") or message["role"] for message in chat.history]


def assert_valid(chat: nit.Chat) -> None:
    """Every call has exactly one result, right behind its message."""
    waiting: list[str] = []
    for message in chat.history:
        if message["role"] == "tool":
            assert message["tool_call_id"] in waiting
            waiting.remove(message["tool_call_id"])
            continue
        assert waiting == []
        waiting = [entry["id"] for entry in message.get("tool_calls", ())]
    assert waiting == []
