"""The conversation so far: turns in order, each the messages of one message and its answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, cast

from nit_kernel.model.messages import Message, collapse_repairs


@dataclass(slots=True)
class Turn:
    """One message and all that came of it.

    Attributes:
        key: Names the turn, so that sending under the same key replaces it; `None`: nobody will.
        messages: Person, assistant, reports and results, in the one form of `messages.py`.
    """

    key: str | None = None
    messages: list[Message] = field(default_factory=list[Message])


class Transcript:
    """Turns, in the order of the conversation."""

    def __init__(self) -> None:
        self._turns: list[Turn] = []

    def before(self, key: str | None) -> list[Message]:
        """Return what a new turn under this key continues: all turns, or those before its place."""
        place = self._place(key)
        turns = self._turns if place is None else self._turns[:place]
        return [message for turn in turns for message in collapse_repairs(turn.messages)]

    def put(self, turn: Turn) -> None:
        """Take a turn: in the place of the one with its key, else at the end.

        A turn of which nothing came is not kept, and replaces none.
        """
        if all(message.get("role") == "user" for message in turn.messages):
            return
        place = self._place(turn.key)
        if place is None:
            self._turns.append(turn)
        else:
            self._turns[place] = turn

    def messages(self) -> list[Message]:
        """Return all messages; repaired attempts are left out."""
        return self.before(None)

    def replace_all(self, messages: Iterable[Message]) -> None:
        """Take a conversation from elsewhere, as one turn."""
        self._turns = [Turn(messages=[dict(message) for message in messages])]

    def clear(self) -> None:
        """Forget everything."""
        self._turns.clear()

    def _place(self, key: str | None) -> int | None:
        if key is None:
            return None
        return next((n for n, turn in enumerate(self._turns) if turn.key == key), None)


def call_ids(messages: Iterable[Message]) -> Iterator[str]:
    """Yield the ids of all calls in a conversation."""
    for message in messages:
        for entry in cast("list[dict[str, Any]]", message.get("tool_calls") or ()):
            yield str(entry.get("id", ""))
