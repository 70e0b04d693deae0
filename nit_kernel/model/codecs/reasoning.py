"""Splits a model's reasoning from its answer, before anything else looks at the reply.

Reasoning stands between `<think>` and `</think>` (some models write `<thinking>`, some servers
swallow the opening tag). A tag inside the data of a call is data.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from nit_kernel.model.codecs.strict import Read, read_strict, read_strict_prefix

REASONING_TAGS = ("think", "thinking", "[THINK]")
"""The tags around reasoning that every codec and the stream filter know."""

_OPEN = re.compile(r"(?<![`\"'])<(think|thinking)>|\[THINK\]")
_CLOSE = re.compile(r"(?<![`\"'])</(?:think|thinking)>|\[/THINK\]")
_MOST_LOOKS = 50


@dataclass(frozen=True, slots=True)
class Split:
    """A reply in two parts.

    Attributes:
        reasoning: The reasoning, without its tags.
        answer: The rest.
        open_at: Where in the reply reasoning begins that never ends, or -1; that part is neither
            in `reasoning` nor in `answer`.
        open_text: That part.
    """

    reasoning: str
    answer: str
    open_at: int = -1
    open_text: str = ""


def split_reasoning(text: str) -> Split:
    """Split a reply's text. A reply that is one JSON document has no reasoning in it."""
    if "think" not in text and "[THINK]" not in text and "[/THINK]" not in text:
        return Split("", text)
    if isinstance(read_strict(text), Read):
        return Split("", text)
    thoughts: list[str] = []
    answer: list[str] = []
    at = 0
    close = _CLOSE.search(text)
    opening = _next_open(text, 0)
    begins_inside = close is not None and (opening is None or close.start() < opening.start())
    if close is not None and begins_inside and not _is_data(text, close.start(), 0):
        # The server put the opening tag into the prompt, so the reply begins inside it.
        thoughts.append(text[: close.start()])
        at = close.end()
    while (found := _next_open(text, at)) is not None:
        answer.append(text[at : found.start()])
        closing = f"</{found[1]}>" if found[1] else "[/THINK]"
        end = text.find(closing, found.end())
        if end < 0:
            return Split(_joined(thoughts), "".join(answer), found.start(), text[found.end() :])
        thoughts.append(text[found.end() : end])
        at = end + len(closing)
    answer.append(text[at:])
    return Split(_joined(thoughts), "".join(answer))


def joined_reasoning(*thoughts: str) -> str:
    """Return pieces of reasoning as one text, empty ones left out."""
    return _joined([*thoughts])


def _next_open(text: str, at: int) -> re.Match[str] | None:
    looked = at
    while (found := _OPEN.search(text, looked)) is not None:
        end = _is_data(text, found.start(), at)
        if not end:
            return found
        looked = end
    return None


def _is_data(text: str, place: int, begin: int) -> int:
    """Return the end of the JSON value after `begin` that `place` lies in, or 0."""
    at = begin
    for _ in range(_MOST_LOOKS):
        starts = [start for mark in "{[" if (start := text.find(mark, at, place)) >= 0]
        if not starts:
            return 0
        at = min(starts)
        value = read_strict_prefix(text, at)
        if isinstance(value, Read):
            if value.end > place:
                return value.end
            at = value.end
        else:
            at += 1
    return 0


def _joined(thoughts: list[str]) -> str:
    return "\n\n".join(thought.strip() for thought in thoughts if thought.strip())
