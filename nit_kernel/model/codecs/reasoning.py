"""Splits a model's reasoning from its answer, before anything else looks at the reply.

Reasoning stands between `<think>` and `</think>` (some models write `<thinking>`, some servers
swallow the opening tag). A tag inside the data of a call is data, also where that data is not
strict JSON: the readers of calls mend it, or take Python's literals or the text of a parameter.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from nit_kernel.errors import CodecError
from nit_kernel.model.codecs.calls_as_python import closing_bracket, read_calls
from nit_kernel.model.codecs.faults import cut_off, open_reasoning
from nit_kernel.model.codecs.lenient import read_prefix
from nit_kernel.model.codecs.shapes import looks_like_protocol
from nit_kernel.model.codecs.strict import Read, read_strict

REASONING_TAGS = ("think", "thinking", "[THINK]")
"""The tags around reasoning that every codec and the stream filter know."""

_OPEN = re.compile(r"(?<![`\"'])<(think|thinking)>|\[THINK\]")
_CLOSE = re.compile(r"(?<![`\"'])</(?:think|thinking)>|\[/THINK\]")
_DATA_OPENS = re.compile(r"[{\[]|(?<=\w)\(|<parameter=[^>\n]+>")
_PARAMETER_ENDS = re.compile(
    r"</parameter>|</function>|</tool_call>|<parameter=|(?P<another><tool_call>|<function=)"
)
_CALL_BEFORE = re.compile(
    r"(?:^[\W_]*Action(?:[ \t_]*Input)?\W*[:：][\w\s*`~.'\"]*|<tool_call>\s*|<function=[^>\n]+>\s*"
    r"|\[(?:TOOL_CALLS|ARGS)\]\s*|\[\s*[A-Za-z_][\w.]*|\.call)\Z",
    re.IGNORECASE | re.MULTILINE,
)
_STRING = re.compile(
    r"""\"(?:[^"\\]|\\.)*(?:"|\Z)|[\[{(,:=]\s*'(?:[^'\\]|\\.)*(?:'|\Z)""", re.DOTALL
)
_MOST_LOOKS = 100
_MOST_BEFORE = 100


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


def never_closed(split: Split, finish_reason: str | None) -> CodecError:
    """Return the error of a reply whose call or answer lies in reasoning that never ended."""
    text = split.answer + split.open_text
    return cut_off(text) if finish_reason == "length" else open_reasoning(text, split.open_at)


def _next_open(text: str, at: int) -> re.Match[str] | None:
    looked = at
    while (found := _OPEN.search(text, looked)) is not None:
        end = _is_data(text, found.start(), looked)
        if not end:
            return found
        looked = end
    return None


def _is_data(text: str, place: int, begin: int) -> int:
    """Return the end of the data after `begin` that `place` lies in, or 0."""
    at = begin
    for _ in range(_MOST_LOOKS):
        opening = _DATA_OPENS.search(text, at, place)
        if opening is None:
            return 0
        end = _end_of_data(text, opening)
        if not end and _opens_call(text, opening.start()):
            end = _end_of_string(text, opening.end(), place)
        if end > place:
            return end
        at = end or opening.end()
    return 0


def _end_of_data(text: str, opening: re.Match[str]) -> int:
    """Return where the value, call or parameter that opens here ends, or 0 where it is none."""
    at = opening.start()
    if opening[0].startswith("<"):
        ending = _PARAMETER_ENDS.search(text, opening.end())
        if ending is None:
            return len(text)
        return 0 if ending["another"] else ending.start()
    if opening[0] == "(":
        end = closing_bracket(text, at)
        return end if end is not None and read_calls(f"f{text[at:end]}") is not None else 0
    value = read_prefix(text, at)
    return value.end if isinstance(value, Read) else 0


def _opens_call(text: str, at: int) -> bool:
    """Return whether what opens here and cannot be read was meant as a call or its arguments."""
    before = text[max(0, at - _MOST_BEFORE) : at]
    return _CALL_BEFORE.search(before) is not None or looks_like_protocol(text, at)


def _end_of_string(text: str, at: int, place: int) -> int:
    """Return the end of the string that `place` lies in, or 0."""
    for string in _STRING.finditer(text, at - 1):
        if string.start() > place:
            return 0
        if string.end() > place:
            return string.end()
    return 0


def _joined(thoughts: list[str]) -> str:
    return "\n\n".join(thought.strip() for thought in thoughts if thought.strip())
