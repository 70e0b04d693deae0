"""Strict JSON (RFC 8259), as values and faults instead of exceptions, with bounded nesting."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import cast

from nit_kernel.language.schema import JsonValue

MOST_NESTING = 200
"""Deepest JSON that is read."""

BLANKS = " \t\n\r"
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Read:
    """A value that was read, where it ends, and what had to be repaired."""

    value: JsonValue
    end: int
    repairs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fault:
    """Why and where a text is not JSON."""

    why: str
    offset: int
    at_end: bool = False
    """Whether the text ended before the value did."""


def read_strict(text: str) -> Read | Fault:
    """Read a text that is one JSON document (RFC 8259), blanks around it allowed."""
    start = skip_blanks(text, 0)
    found = read_strict_prefix(text, start)
    if isinstance(found, Fault):
        return found
    rest = skip_blanks(text, found.end)
    if rest < len(text):
        return Fault("something stands after the value", rest)
    return found


def skip_blanks(text: str, at: int) -> int:
    """Return where the blanks that begin at `at` end."""
    while at < len(text) and text[at] in BLANKS:
        at += 1
    return at


def finite(text: str) -> float:
    """Return the number, or raise `ValueError` where no float holds it."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"the number {text[:20]} is too large")
    return value


def _no_constant(text: str) -> JsonValue:
    raise ValueError(f"{text} is not JSON")


_DECODER = json.JSONDecoder(parse_float=finite, parse_constant=_no_constant)


def read_strict_prefix(text: str, start: int) -> Read | Fault:
    """Read the one strict value that begins at `start`; whatever follows it is left alone."""
    deep = _too_deep(text, start)
    if deep is not None:
        return Fault(f"it is nested more than {MOST_NESTING} deep", deep)
    try:
        value, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        at_end = error.pos >= len(text.rstrip(BLANKS)) or error.msg.startswith("Unterminated")
        return Fault(_in_words(error.msg), error.pos, at_end=at_end)
    except RecursionError:
        return Fault("it is nested too deeply", start)
    except ValueError as error:
        return Fault(str(error).split(";")[0], start)
    return Read(cast("JsonValue", value), end)


def _in_words(message: str) -> str:
    if message.startswith("Invalid control character"):
        return "a line break or other control character stands inside a string"
    if message.startswith("Expecting value"):
        return "a value is missing"
    if message.startswith("Unterminated string"):
        return "a string does not end"
    if message.startswith("Invalid \\"):
        return "an escape is not one of JSON's"
    words = message.removesuffix(" at")
    return words[:1].lower() + words[1:]


def _too_deep(text: str, start: int) -> int | None:
    if text.count("[", start) + text.count("{", start) <= MOST_NESTING:
        return None
    depth = 0
    for found in _BRACKETS.finditer(text, start):
        if found[0] in "[{":
            depth += 1
            if depth > MOST_NESTING:
                return found.start()
        elif found[0] in "]}":
            depth -= 1
            if depth <= 0:
                return None
    return None
