"""Finds the JSON values in a reply: bare, in prose, in Markdown fences, one or several.

Strings are respected: a fence inside a string ends nothing. Fences with other content (` ```bash `)
are skipped as a whole, where they end; three back-ticks in prose are prose.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from nit_kernel.language.schema import JsonValue
from nit_kernel.model.codecs.lenient import read_json, read_prefix
from nit_kernel.model.codecs.shapes import looks_like_protocol
from nit_kernel.model.codecs.strict import BLANKS, Fault, Read, skip_blanks

_NEXT = re.compile(r"`{3,}|~{3,}|[{\[]")
_INFO = re.compile(r"[^\S\n]*(?P<language>[\w+#.-]*)[^\S\n]*\n?\s*")
_BEGIN_OF_LINE = re.compile(r"(?:^|\n)[^\S\n]*(?:[>*+-][^\S\n]*|\d+[.)][^\S\n]*)*\Z")
_MOST_INDENT = 40
_MOST_LOOKS = 2_000


@dataclass(frozen=True, slots=True)
class Found:
    """A JSON value of the reply.

    Attributes:
        value: The value.
        start: Where it begins.
        end: Where it ends.
        is_whole: Whether nothing but blanks, or the fence around it, stands beside it.
        repairs: What had to be mended to read it.
    """

    value: JsonValue
    start: int
    end: int
    is_whole: bool
    repairs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Broken:
    """Something that was meant as a message of the protocol and cannot be read."""

    start: int
    fault: Fault


def find_values(
    text: str, *, accept: Callable[[JsonValue], bool] | None = None
) -> Iterator[Found | Broken]:
    """Yield the JSON values of a reply in order, and what is broken.

    Args:
        text: The reply, without its reasoning.
        accept: Whether a value is what the reader wants; consulted where quotes were guessed.
    """
    at = skip_blanks(text, 1 if text.startswith("\ufeff") else 0)
    begin, fence = at, ""
    for _ in range(_MOST_LOOKS):
        mark = _NEXT.search(text, at)
        if mark is None:
            return
        if mark[0][0] in "`~":
            if fence:
                # The fence that was open ends here.
                fence = ""
                at = mark.end()
                continue
            info = _INFO.match(text, mark.end())
            inside = info.end() if info else mark.end()
            language = info["language"].lower() if info else ""
            if text[inside : inside + 1] not in ("{", "["):
                end = _end_of_fence(text, mark)
                if end < 0 or not language.startswith("json"):
                    at = end if end >= 0 else mark.end()
                    continue
            fence, at = mark[0], inside
            if text[begin : mark.start()].strip(BLANKS) == "":
                begin = inside
            continue
        found = _value_at(text, mark.start(), begin, fence, accept)
        if found is not None:
            yield found
        at = found.end if isinstance(found, Found) else mark.start() + 1
        if isinstance(found, Broken):
            return


def _end_of_fence(text: str, mark: re.Match[str]) -> int:
    """Return where the fence that begins here ends, or -1 where it never does or is none."""
    line_end = text.find("\n", mark.end())
    line_end = len(text) if line_end < 0 else line_end
    same_line = text.find(mark[0], mark.end(), line_end)
    before = text[max(0, mark.start() - _MOST_INDENT) : mark.start()]
    if same_line >= 0 or _BEGIN_OF_LINE.search(before) is None:
        return same_line + len(mark[0]) if same_line >= 0 else -1
    closing = re.compile(rf"^[^\S\n>]*{mark[0]}[`~]*[^\S\n]*$", re.MULTILINE).search(text, line_end)
    return closing.end() if closing is not None else -1


def _value_at(
    text: str, at: int, begin: int, fence: str, accept: Callable[[JsonValue], bool] | None
) -> Found | Broken | None:
    read = read_prefix(text, at)
    if isinstance(read, Read):
        whole = at == begin and _is_rest_empty(text, read.end, fence)
        return Found(read.value, at, read.end, whole, read.repairs)
    end = _end_of_candidate(text, at, fence)
    is_whole = at == begin and _is_rest_empty(text, end, fence)
    is_meant = looks_like_protocol(text, at) or (is_whole and _begins_as_data(text, at, read))
    if not is_meant:
        return None
    again = read_json(text[at:end], accept=accept)
    if isinstance(again, Read):
        return Found(again.value, at, end, is_whole, again.repairs)
    return Broken(at, read)


def _end_of_candidate(text: str, at: int, fence: str) -> int:
    """Return where the JSON at `at` would end if it were sound: at the last bracket before its
    fence, or of the reply."""
    close = "}" if text[at] == "{" else "]"
    stop = text.rfind(f"\n{fence}", at) if fence else -1
    end = text.rfind(close, at, stop if stop >= 0 else len(text)) + 1
    return end if end > 0 else len(text)


def _is_rest_empty(text: str, end: int, fence: str) -> bool:
    rest = text[end:].strip(BLANKS)
    return not rest or (bool(fence) and not rest.strip("`~"))


def _begins_as_data(text: str, at: int, fault: Fault) -> bool:
    """Return whether a whole reply that is no JSON was meant as some: `{"` and not `{so`."""
    second = text[at + 1 :].lstrip(BLANKS)[:1]
    return second in ('"', "{", "[") if second else fault.at_end
