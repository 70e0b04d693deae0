"""Exact conversions between texts, numbers and booleans: each gives the value or `FAIL`.

Nothing is lost and nothing guessed. Source: NIT 2, section 7.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from nit_kernel._syntax import LiteralValue
from nit_kernel.language.json_form import is_writable_integer, key_text

if TYPE_CHECKING:
    from collections.abc import Sequence

FAIL: Final = object()
"""What a conversion gives that is not possible."""

MOST_DIGITS: Final = 4_300
_ALL_DIGITS: Final = 17

BLANKS: Final = " \t\r\n\f\v\u00a0\u202f\u3000"
"""What may stand around a number or boolean in a text; control characters may not."""

_INTEGER: Final = re.compile(r"([+-]?)([0-9]+)(?:\.0+)?")
_NUMBER: Final = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]{1,6}))?")


class JsonNumber(NamedTuple):
    """A number of a JSON text with its own spelling, as `LiteralValue` is one of a script."""

    text: str
    value: int | float


Literal = LiteralValue | JsonNumber
LITERALS: Final = (LiteralValue, JsonNumber)


def to_text(value: object, literal: Literal | None) -> object:
    """Return a number or boolean as text: a literal as it is written, a value as JSON writes it."""
    if not isinstance(value, bool | int | float):
        return FAIL
    if literal is not None and literal.value == value:
        return literal.text
    text = key_text(value)
    return FAIL if text is None else text


def to_integer(value: object, literal: Literal | None) -> object:
    """Return an integer for an integral number, or for text that is one in decimal."""
    if isinstance(value, str):
        found = _INTEGER.fullmatch(value.strip(BLANKS))
        if found is None or len(found[2]) > MOST_DIGITS:
            return FAIL
        return int(found[1] + found[2])
    if isinstance(value, float) and value.is_integer():
        if literal is not None and literal.value == value:
            # `9007199254740993.0` is not what its float is.
            exact = _exact_integer(literal.text)
            return int(value) if exact is FAIL else exact
        return int(value)
    return FAIL


def is_no_integer(kinds: Sequence[str], value: object) -> bool:
    """Whether integers are wanted, and a value is none since it is infinite or `nan`.

    The validator cannot tell: it is shown a very large number in its place.
    """
    if not isinstance(value, float) or math.isfinite(value):
        return False
    return "integer" in kinds and "number" not in kinds


def to_number(value: object) -> object:
    """Return the number that a text is exactly, if it is finite and no digit would be lost."""
    if not isinstance(value, str):
        return FAIL
    text = value.strip(BLANKS)
    integer = to_integer(text, None) if "." not in text else FAIL
    if integer is not FAIL:
        return integer
    if len(text) > MOST_DIGITS or (exact := _decimal(text)) is None:
        return FAIL
    number = float(text)
    if not math.isfinite(number):
        return FAIL
    # Programs write a float in its shortest form, or in all the digits that it is good for.
    digits = max(_ALL_DIGITS, len(exact[1]))
    is_same = exact in (_decimal(repr(number)), _decimal(f"{number:.{digits}g}"))
    return number if is_same else FAIL


def nearest_number(value: object) -> float | None:
    """Return the float nearest to a text that is a number which no float is, else `None`."""
    if not isinstance(value, str) or len(value) > MOST_DIGITS:
        return None
    text = value.strip(BLANKS)
    if to_number(text) is not FAIL or _decimal(text) is None:
        return None
    return float(text)


def to_boolean(value: object) -> object:
    """Return the boolean that a text names, in any case."""
    if not isinstance(value, str):
        return FAIL
    word = value.strip(BLANKS).lower() if len(value) < MOST_DIGITS else ""
    return True if word == "true" else False if word == "false" else FAIL


def to_container(text: str, kind: type[list[object]] | type[dict[str, object]]) -> object:
    """Return what a strict JSON text holds, numbers with their spelling, if it is of that kind.

    Equal keys, `NaN`, numbers that no float can hold, and what nests too deep are no such text.
    """
    if text.lstrip()[:1] != ("[" if kind is list else "{"):
        return FAIL
    try:
        value = _JSON.decode(text)
    except (ValueError, RecursionError):
        return FAIL
    return cast("object", value) if type(value) is kind else FAIL


def without_spelling(value: object) -> object:
    """Return the value with each literal in its lists and dicts replaced by what it means.

    What holds none is returned as it is; what it shares stays shared.
    """
    if isinstance(value, LITERALS):
        return value.value
    return _strip(value, {}) if type(value) in (list, dict) else value


def _strip(value: object, done: dict[int, object]) -> object:
    if isinstance(value, LITERALS):
        return value.value
    key = id(value)
    if key in done:
        return done[key]
    done[key] = value  # also what a value inside itself stands for
    if type(value) is list:
        items = cast("list[object]", value)
        fresh = [_strip(item, done) if type(item) in _OPENED else item for item in items]
        if any(new is not old for new, old in zip(fresh, items, strict=True)):
            done[key] = fresh
    elif type(value) is dict:
        held = cast("dict[object, object]", value)
        changed = {key: _strip(item, done) for key, item in held.items() if type(item) in _OPENED}
        changed = {key: item for key, item in changed.items() if item is not held[key]}
        if changed:
            done[key] = {**held, **changed}
    return done[key]


_OPENED: Final = frozenset({list, dict, LiteralValue, JsonNumber})


def _exact_integer(text: str) -> object:
    exact = _decimal(text.replace("_", ""))
    if exact is None:
        return FAIL
    sign, digits, exponent = exact
    return sign * int(digits) * 10**exponent if exponent >= 0 else FAIL


def _decimal(text: str) -> tuple[int, str, int] | None:
    # Sign, digits without zeros at either end, and exponent: equal for equal numbers.
    found = _NUMBER.fullmatch(text)
    if found is None or not (found[2] or found[3]):
        return None
    fraction = found[3] or ""
    digits = (found[2] + fraction).lstrip("0")
    exponent = int(found[4] or "0") - len(fraction)
    short = digits.rstrip("0")
    if not short:
        return 1, "0", 0
    return (-1 if found[1] == "-" else 1), short, exponent + len(digits) - len(short)


def _no_equal_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("equal keys")
    return result


def _float_of(text: str) -> object:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("not finite")
    return JsonNumber(text, value)


def _integer_of(text: str) -> int:
    value = int(text)
    if not is_writable_integer(value):
        raise ValueError("too long")
    return value


def _no_constant(text: str) -> object:
    raise ValueError(text)


_JSON: Final = json.JSONDecoder(
    object_pairs_hook=_no_equal_keys,
    parse_float=_float_of,
    parse_int=_integer_of,
    parse_constant=_no_constant,
)
