"""The repair of a text in which quotes inside a string were not escaped.

Every reading is tried in which a string may hold bare quotes; where exactly one of them parses
(and is what the reader wanted), the text meant that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from nit_kernel.language.schema import JsonValue
from nit_kernel.model.codecs.strict import BLANKS, Read, read_strict_prefix, skip_blanks

_MOST_NESTING = 80
_MOST_READINGS = 8
_MOST_STEPS = 20_000
_MOST_DECODED_CHARS = 4_000_000


class _TooManyReadingsError(Exception):
    """The text has too many readings to try; caught in this module."""


def requoted(text: str, start: int, accept: Callable[[JsonValue], bool] | None) -> Read | None:
    """Return the only reading in which some quotes belong to the strings around them."""
    text = text.rstrip(BLANKS)
    found: list[JsonValue] = []
    reader = _Requoter(text)
    try:
        for value, end in reader.values(start, 0):
            if end == len(text) and value not in found:
                found.append(value)
                if len(found) > _MOST_READINGS:
                    return None
    except _TooManyReadingsError:
        return None
    if accept is not None:
        found = [value for value in found if accept(value)]
    if len(found) != 1 or _swallows_an_end(found[0]):
        return None
    return Read(found[0], len(text), ("quotes inside a string that were not escaped",))


def _swallows_an_end(value: JsonValue) -> bool:
    """Whether a string goes on behind a quote that may have ended it, with no other sign of a slip.

    `{"q": "a"}{"q": "b"}` where one object belongs is two objects, and no text `a"}{"q": "b`.
    """
    pending = [value]
    while pending:
        each = pending.pop()
        if isinstance(each, dict):
            pending.extend(each.values())
        elif isinstance(each, list):
            pending.extend(each)
        elif isinstance(each, str):
            _, quote, behind = each.partition('"')
            if quote and behind.lstrip(BLANKS)[:1] in (",", "}", "]"):
                return True
    return False


class _Requoter:
    """Yields every reading of a value in which a string may hold bare quotes.

    A quote can end a string only where `,`, `}`, `]` or the end of the text follows. Keys are read
    strictly.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._steps = 0
        self._chars = 0

    def values(self, at: int, depth: int) -> Iterator[tuple[JsonValue, int]]:
        self._steps += 1
        if depth > _MOST_NESTING or self._steps > _MOST_STEPS:
            raise _TooManyReadingsError
        first = self.text[at : at + 1]
        if first == "{":
            yield from self._objects(at, depth)
        elif first == "[":
            yield from self._arrays(at, depth)
        elif first == '"':
            yield from self._strings(at)
        elif first:
            found = read_strict_prefix(self.text, at)
            if isinstance(found, Read):
                yield found.value, found.end

    def _objects(self, at: int, depth: int) -> Iterator[tuple[JsonValue, int]]:
        at = skip_blanks(self.text, at + 1)
        if self.text[at : at + 1] == "}":
            yield {}, at + 1
            return
        yield from self._members(at, {}, depth)

    def _members(
        self, at: int, before: dict[str, JsonValue], depth: int
    ) -> Iterator[tuple[JsonValue, int]]:
        key = read_strict_prefix(self.text, at)
        if not isinstance(key, Read) or not isinstance(key.value, str):
            return
        at = skip_blanks(self.text, key.end)
        if self.text[at : at + 1] != ":":
            return
        for value, end in self.values(skip_blanks(self.text, at + 1), depth + 1):
            found = before | {key.value: value}
            after = skip_blanks(self.text, end)
            mark = self.text[after : after + 1]
            if mark == "}":
                yield found, after + 1
            elif mark == ",":
                yield from self._members(skip_blanks(self.text, after + 1), found, depth + 1)

    def _arrays(self, at: int, depth: int) -> Iterator[tuple[JsonValue, int]]:
        at = skip_blanks(self.text, at + 1)
        if self.text[at : at + 1] == "]":
            yield [], at + 1
            return
        yield from self._items(at, [], depth)

    def _items(
        self, at: int, before: list[JsonValue], depth: int
    ) -> Iterator[tuple[JsonValue, int]]:
        for value, end in self.values(at, depth + 1):
            found = [*before, value]
            after = skip_blanks(self.text, end)
            mark = self.text[after : after + 1]
            if mark == "]":
                yield found, after + 1
            elif mark == ",":
                yield from self._items(skip_blanks(self.text, after + 1), found, depth + 1)

    def _strings(self, at: int) -> Iterator[tuple[JsonValue, int]]:
        pieces: list[str] = []
        begin = here = at + 1
        while True:
            here = self.text.find('"', here)
            if here < 0:
                return
            escape = here
            while escape > begin and self.text[escape - 1] == "\\":
                escape -= 1
            is_escaped = (here - escape) % 2 == 1
            here += 1
            if is_escaped:
                continue
            pieces.append(self.text[begin : here - 1])
            begin = here
            after = skip_blanks(self.text, here)
            if after < len(self.text) and self.text[after] not in ",}]":
                continue
            self._steps += 1
            self._chars += here - at
            if self._steps > _MOST_STEPS or self._chars > _MOST_DECODED_CHARS:
                raise _TooManyReadingsError
            inner = '\\"'.join(pieces)
            read = read_strict_prefix(f'"{inner}"', 0)
            if isinstance(read, Read) and read.end == len(inner) + 2:
                yield read.value, here
