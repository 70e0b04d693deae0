"""A reader of the JSON that models write: parse first, repair only what does not parse.

Strict JSON is read by Python's own parser. What fails there is read again by a reader that knows
the slips that have exactly one meaning, and never touches a character inside a string that JSON
allows there. A text is repaired only where one *kind* of slip explains it; two kinds at once, two
possible readings, and anything that is missing at the end are faults. Nothing is ever completed.

| kind | slip | reading |
|---|---|---|
| control | a line break or tab as it is, inside a string | that character |
| literal | trailing comma, comment, bare key, single quotes, `True`, `None` | as elsewhere |
| escape | `\\d`, `\\'`; `\\u6` before a character with such a code | itself, `'`; the character |
| quote | `"say "hi""`: quotes inside a string | the one reading that parses |
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from nit_kernel.language.schema import JsonValue
from nit_kernel.model.codecs.requote import requoted
from nit_kernel.model.codecs.strict import (
    BLANKS,
    Fault,
    Read,
    finite,
    read_strict,
    read_strict_prefix,
    skip_blanks,
)

_SKIPPED = re.compile(r"(?:[ \t\n\r]+|//[^\n]*|/\*(?:[^*]|\*(?!/)){0,2000}\*/)+")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![\w.])")
_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_PLAIN = {'"': re.compile(r'[^"\\\x00-\x1f]+'), "'": re.compile(r"[^'\\\x00-\x1f]+")}
_HEX = re.compile(r"[0-9a-fA-F]{0,4}")
_WORDS: dict[str, JsonValue] = {"true": True, "false": False, "null": None}
_PYTHON_WORDS: dict[str, JsonValue] = {"True": True, "False": False, "None": None}
_MOST_NESTING = 80

_WHAT = {
    "control": "a line break or other control character inside a string",
    "comma": "a trailing comma",
    "comment": "a comment",
    "key": "a key without quotes",
    "python": "Python's quotes or constants",
    "escape": "an escape that JSON does not have",
}
_LITERAL_KINDS = {"comma", "comment", "key", "python"}


def read_json(text: str, *, accept: Callable[[JsonValue], bool] | None = None) -> Read | Fault:
    """Read a text that is one JSON value, repaired where that has one meaning.

    Args:
        text: The whole text.
        accept: Whether a value is what the reader wanted; consulted where quotes were guessed.
    """
    strict = read_strict(text)
    if isinstance(strict, Read):
        return strict
    start = skip_blanks(text, 1 if text.startswith("\ufeff") else 0)
    found = read_prefix(text, start)
    if isinstance(found, Read) and not text[found.end :].strip(BLANKS):
        return found
    return requoted(text, start, accept) or strict


def read_prefix(text: str, start: int) -> Read | Fault:
    """Read the one JSON value that begins at `start`; whatever follows it is left alone."""
    strict = read_strict_prefix(text, start)
    if isinstance(strict, Read):
        return strict
    repairer = _Repairer(text, start)
    try:
        value = repairer.value(0)
    except _UnrepairableError:
        return strict
    kinds = repairer.kinds
    if not kinds or not (len(kinds) == 1 or kinds <= _LITERAL_KINDS):
        return strict
    return Read(value, repairer.at, tuple(_WHAT[kind] for kind in sorted(kinds)))


def read_values(text: str) -> list[Read] | Fault:
    """Read one or several JSON values that stand one after the other, blanks between them."""
    values: list[Read] = []
    at = skip_blanks(text, 0)
    while at < len(text):
        found = read_prefix(text, at)
        if isinstance(found, Fault):
            return found
        values.append(found)
        at = skip_blanks(text, found.end)
    return values or Fault("there is nothing", 0, at_end=True)


class _UnrepairableError(Exception):
    """The text has no reading; caught in this module."""


class _Repairer:
    """Reads one value and notes the kinds of slips that it met."""

    def __init__(self, text: str, at: int) -> None:
        self.text = text
        self.at = at
        self.kinds: set[str] = set()

    def value(self, depth: int) -> JsonValue:
        if depth > _MOST_NESTING:
            raise _UnrepairableError
        first = self._peek()
        if first == "{":
            return self._object(depth)
        if first == "[":
            return self._array(depth)
        if first in ('"', "'"):
            return self._string(first)
        number = _NUMBER.match(self.text, self.at)
        if number is not None:
            self.at = number.end()
            return _number(number[0])
        word = _WORD.match(self.text, self.at)
        if word is None:
            raise _UnrepairableError
        self.at = word.end()
        if word[0] in _WORDS:
            return _WORDS[word[0]]
        if word[0] not in _PYTHON_WORDS:
            raise _UnrepairableError
        self.kinds.add("python")
        return _PYTHON_WORDS[word[0]]

    def _object(self, depth: int) -> JsonValue:
        self.at += 1
        found: dict[str, JsonValue] = {}
        while self._more("}", first=not found):
            key = self._key()
            self._skip()
            if self._peek() != ":":
                raise _UnrepairableError
            self.at += 1
            self._skip()
            found[key] = self.value(depth + 1)
        return found

    def _array(self, depth: int) -> JsonValue:
        self.at += 1
        found: list[JsonValue] = []
        while self._more("]", first=not found):
            found.append(self.value(depth + 1))
        return found

    def _more(self, close: str, *, first: bool) -> bool:
        self._skip()
        if self._peek() == close:
            self.at += 1
            return False
        if first:
            return True
        if self._peek() != ",":
            raise _UnrepairableError
        self.at += 1
        self._skip()
        if self._peek() != close:
            return True
        self.kinds.add("comma")
        self.at += 1
        return False

    def _key(self) -> str:
        first = self._peek()
        if first in ('"', "'"):
            return self._string(first)
        word = _WORD.match(self.text, self.at)
        if word is None:
            raise _UnrepairableError
        self.at = word.end()
        self.kinds.add("key")
        return word[0]

    def _string(self, quote: str) -> str:
        if quote == "'":
            self.kinds.add("python")
        self.at += 1
        pieces: list[str] = []
        meaningful = kept = False
        while True:
            plain = _PLAIN[quote].match(self.text, self.at)
            if plain is not None:
                pieces.append(plain[0].replace('"', '\\"'))
                self.at = plain.end()
            mark = self._peek()
            if mark == quote:
                self.at += 1
                break
            if mark == "\\":
                piece, has_meaning, is_kept = self._escape(quote)
                meaningful, kept = meaningful or has_meaning, kept or is_kept
                pieces.append(piece)
                continue
            self.kinds.add("control")
            pieces.append(mark)
            self.at += 1
        if kept and meaningful:
            # Who writes `\d` does not double backslashes, so `\n` beside it may be two characters.
            raise _UnrepairableError
        return json.loads(f'"{"".join(pieces)}"', strict=False)

    def _escape(self, quote: str) -> tuple[str, bool, bool]:
        """Return the escape as JSON, whether its letter matters, whether its backslash is kept."""
        letter = self.text[self.at + 1 : self.at + 2]
        if not letter or letter < " ":
            raise _UnrepairableError
        if letter == "u":
            digits = _HEX.match(self.text, self.at + 2)
            known = digits[0] if digits else ""
            if len(known) == 4:
                self.at += 6
                return f"\\u{known}", True, False
            self.at += 2 + len(known)
            meant = self.text[self.at : self.at + 1]
            if not known or meant <= "\x7f" or not f"{ord(meant):04x}".startswith(known.lower()):
                raise _UnrepairableError
            self.kinds.add("escape")
            return "", False, False
        self.at += 2
        if letter in '"\\/':
            return f"\\{letter}", False, False
        if letter in "bfnrt":
            return f"\\{letter}", True, False
        if letter == quote:
            return letter, False, False
        self.kinds.add("escape")
        return ("'", False, False) if letter == "'" else (f"\\\\{letter}", False, True)

    def _peek(self) -> str:
        if self.at >= len(self.text):
            raise _UnrepairableError
        return self.text[self.at]

    def _skip(self) -> None:
        found = _SKIPPED.match(self.text, self.at)
        if found is not None:
            self.at = found.end()
            if "/" in found[0]:
                self.kinds.add("comment")


def _number(text: str) -> JsonValue:
    try:
        return int(text) if text.lstrip("-").isdigit() else finite(text)
    except ValueError:
        raise _UnrepairableError from None
