"""The strict JSON form of any value, with a stand-in for what JSON has no word for.

| value | stands as |
|---|---|
| `nan`, `inf`, `-inf` | the texts `"NaN"`, `"Infinity"`, `"-Infinity"` |
| an integer of more digits than Python writes | `"<integer of 20,001 bits>"` |
| half of a surrogate pair in a text | U+FFFD |
| date, time, date and time | ISO 8601 text |
| `Decimal`, `Fraction`, `UUID`, path, `timedelta`, complex number | its text |
| bytes | `"data:application/octet-stream;base64,.."` |
| member of an enumeration | its value |
| tuple, set, range | list (a set in the order of its JSON texts) |
| dataclass, pydantic model, named tuple | object with its fields |
| DataFrame | list of rows, each an object; a Series or array: list |
| key that is no text | its JSON text (`{1: ..}` has the key `"1"`); a second one gets `" (2)"` |
| exception | `"<ValueError: message>"` |
| any other object | `"<TypeName>"` |
| a value inside itself | `"<cycle>"` |
| what nests too deep, or goes over the limit | `"<list, 3 items, left out>"` |
"""

from __future__ import annotations

import binascii
import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from nit_kernel.config import Limits
from nit_kernel.language.shapes import (
    DEEPEST_VALUE,
    SCALARS,
    is_array,
    is_frame,
    is_polars_frame,
    is_sequence,
    is_series,
    items_of,
    plain_scalar,
    size_of,
    type_name,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from nit_kernel.language.parameters import JsonValue

_DEFAULT_LIMITS: Final = Limits()
# Python refuses to write longer integers (`sys.set_int_max_str_digits`): 4,300 digits.
_MOST_INTEGER_BITS: Final = 14_284
_TEXT_TYPES: Final = {
    "decimal": {"Decimal"},
    "fractions": {"Fraction"},
    "uuid": {"UUID"},
    "datetime": {"timedelta", "timezone"},
    "zoneinfo": {"ZoneInfo"},
    "ipaddress": {"IPv4Address", "IPv6Address", "IPv4Network", "IPv6Network"},
    "builtins": {"complex"},
    "pandas": {"Timedelta", "Period", "Interval"},
}
_PLAIN_TYPES: Final = SCALARS | {list, dict}
_TIME_TYPES: Final = {"datetime", "date", "time", "Timestamp"}


def to_json(value: object, limits: Limits = _DEFAULT_LIMITS) -> JsonValue:
    """Return a copy of the value that `json.dumps(.., allow_nan=False)` writes as UTF-8.

    It never raises, whatever the value: what JSON cannot say has a stand-in (see the module), and
    what would make it larger than `limits.value_nodes` or `limits.value_bytes` is left out.
    """
    return _Writer(limits.value_nodes, limits.value_bytes).convert(value, 0)


def json_text(value: object, limits: Limits = _DEFAULT_LIMITS) -> str:
    """Return the JSON text of a value: strict, on one line, letters as they are."""
    if type(value) is str and value.isascii() and len(value) <= limits.value_bytes:
        return json.dumps(value)
    return json.dumps(to_json(value, limits), ensure_ascii=False, allow_nan=False)


def clean_text(text: str) -> str:
    """Return the text with surrogate pairs joined and lone halves replaced by U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def foreign_text(value: object, conversion: Callable[[object], str] = str) -> str:
    """Return `str(value)` or `repr(value)`, cleaned, or only the type's name where that raises."""
    try:
        return clean_text(conversion(value))
    except Exception:  # noqa: BLE001  # the object's own code runs here, a wall like a tool's call
        return f"<{type_name(value)}>"


def is_writable_integer(value: int) -> bool:
    """Whether Python can write the integer in decimal."""
    return -_MOST_INTEGER_BITS <= value.bit_length() <= _MOST_INTEGER_BITS


def key_text(key: object) -> str | None:
    """Return a key as JSON writes it, or `None` where JSON knows no such key."""
    key = plain_scalar(key)
    match key:
        case str():
            return clean_text(key)
        case bool() | None:
            return json.dumps(key)
        case int() if is_writable_integer(key):
            return str(key)
        case float() if math.isfinite(key):
            return repr(key)
        case _:
            return None


class _Writer:
    def __init__(self, nodes: int, chars: int) -> None:
        self._nodes = nodes
        self._chars = chars
        self._open: set[int] = set()

    def convert(self, value: object, depth: int) -> JsonValue:
        self._nodes -= 1
        if value is None or value is True or value is False:
            return value
        plain = value if type(value) in _PLAIN_TYPES else plain_scalar(value)
        if isinstance(plain, str):
            return self._text(plain)
        if isinstance(plain, int):
            return plain if is_writable_integer(plain) else _long_integer(plain)
        if isinstance(plain, float):
            return plain if math.isfinite(plain) else _non_finite(plain)
        if type(value) is list or type(value) is dict:
            parts = cast("Collection[object]", value)
            return self._container(parts, parts, depth)
        if is_sequence(value):
            return self._container(value, value, depth)
        items = items_of(value)
        return self._object(value, depth) if items is None else self._container(value, items, depth)

    def _text(self, text: str) -> str:
        self._chars -= len(text)
        if self._chars < 0:
            return f"<text, {size_of(text)}, left out>"
        return clean_text(text)

    def _container(self, value: object, parts: Collection[object], depth: int) -> JsonValue:
        if id(value) in self._open:
            return "<cycle>"
        if depth >= DEEPEST_VALUE or len(parts) > self._nodes:
            return f"<{type_name(value)}, {size_of(value)}, left out>"
        self._open.add(id(value))
        try:
            if isinstance(parts, Mapping):
                return self._mapping(cast("Mapping[object, object]", parts), depth)
            items = [self.convert(item, depth + 1) for item in parts]
        finally:
            self._open.discard(id(value))
        if isinstance(value, set | frozenset):
            items.sort(key=lambda item: json.dumps(item, sort_keys=True))
        return items

    def _mapping(self, mapping: Mapping[object, object], depth: int) -> JsonValue:
        result: dict[str, JsonValue] = {}
        for key, item in mapping.items():
            name = free = self._key(key)
            number = 1
            while free in result:
                number += 1
                free = f"{name} ({number})"
            result[free] = self.convert(item, depth + 1)
        return result

    def _key(self, key: object) -> str:
        text = key_text(key)
        if text is None:
            form = self.convert(key, DEEPEST_VALUE - 3)
            text = form if isinstance(form, str) else json.dumps(form, ensure_ascii=False)
        self._chars -= len(text)
        return text

    def _object(self, value: object, depth: int) -> JsonValue:
        if isinstance(value, bytes | bytearray | memoryview):
            return self._bytes(cast("bytes", value))
        if isinstance(value, range):
            return self._rows(value, lambda: list(value), depth)
        if isinstance(value, BaseException):
            return f"<{type_name(value)}: {foreign_text(value)}>"
        if is_frame(value) or is_polars_frame(value):
            frame = cast("Any", value)
            rows = (lambda: frame.to_dict("records")) if is_frame(value) else frame.to_dicts
            return self._rows(value, rows, depth, width=max(1, len(frame.columns)))
        if is_series(value) or is_array(value):
            array = cast("Any", value)
            return self._rows(value, array.tolist, depth, length=int(array.size))
        return self._named(value, depth)

    def _named(self, value: object, depth: int) -> JsonValue:
        for base in type(value).__mro__:
            module = base.__module__.partition(".")[0]
            if base.__name__ == "Enum" and module == "enum":
                return self.convert(cast("Any", value).value, depth)
            if base.__name__ in _TIME_TYPES and module in ("datetime", "pandas"):
                # `NaT` is a datetime without an ISO form of its own.
                return str(cast("Any", value).isoformat())
            if base.__name__ in _TEXT_TYPES.get(module, ()) or (
                module in ("pathlib", "os") and base.__name__ in ("PurePath", "PathLike")
            ):
                return foreign_text(value)
        return f"<{type_name(value)}>"

    def _rows(
        self, value: object, rows: Any, depth: int, *, width: int = 1, length: int | None = None
    ) -> JsonValue:
        # The size is known before anything is copied out of a table or array.
        count = len(cast("list[object]", value)) if length is None else length
        if count * width > self._nodes:
            return f"<{type_name(value)}, {size_of(value)}, left out>"
        return self.convert(rows(), depth)

    def _bytes(self, value: bytes | bytearray | memoryview[int]) -> str:
        size = value.nbytes if isinstance(value, memoryview) else len(value)
        self._chars -= size * 4 // 3
        if self._chars < 0:
            return f"<{type_name(value)}, {size_of(value)}, left out>"
        text = binascii.b2a_base64(value, newline=False).decode("ascii")
        return f"data:application/octet-stream;base64,{text}"


def _long_integer(value: int) -> str:
    return f"<integer of {value.bit_length():,} bits>"


def _non_finite(value: float) -> str:
    return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
