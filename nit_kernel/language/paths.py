"""Reading into values: `.name`, `[index]`, `[low:high]`. Source: NIT 2, section 3.

Only data is read: keys of mappings, fields of dataclasses, pydantic models and named tuples, items,
columns and rows. No attribute and no method of an object is ever reached.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from nit_kernel.config import Limits
from nit_kernel.language.names import did_you_mean
from nit_kernel.language.previews import describe, preview
from nit_kernel.language.shapes import (
    Frame,
    counted,
    is_array,
    is_frame,
    is_mapping,
    is_named_tuple,
    is_series,
    items_of,
    kind_of,
    plain_scalar,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

FIELD: Final = 0
"""The step `.name`."""

INDEX: Final = 1
"""The step `[index]`."""

SLICE: Final = 2
"""The step `[low:high]`."""

_SEQUENCES: Final = (str, list, tuple, bytes, bytearray)
_NOTHING: Final = object()
_MOST_NAMES: Final = 12
_DEFAULT_LIMITS: Final = Limits()


class AccessError(Exception):
    """A step of a path that leads nowhere. The interpreter adds the place.

    Attributes:
        message: One line: what is not there, and what is.
        hint: What to write instead, or `None`.
        is_limit: Whether the part would go over a limit.
    """

    def __init__(self, message: str, hint: str | None = None, *, is_limit: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.is_limit = is_limit


def read_path(value: object, kind: int, key: object, limits: Limits = _DEFAULT_LIMITS) -> object:
    """Return the part of a value that one step of a path names.

    Args:
        value: The value up to here.
        kind: `FIELD`, `INDEX` or `SLICE`.
        key: A name, an index, or `(low, high)`.
        limits: How large a slice may be.

    Raises:
        AccessError: There is no such part, or it is too large to be made.
    """
    if kind == SLICE:
        low, high = cast("tuple[object, object]", key)
        return _slice(value, low, high, limits)
    found = type(value)
    if found is dict:
        return _keyed(cast("dict[object, object]", value), key)
    if found is list and kind == INDEX and type(key) is int:
        return _indexed(cast("list[object]", value), key)
    if kind == FIELD:
        return _field(value, cast("str", key))
    return _item(value, plain_scalar(key))


def _field(value: object, name: str) -> object:
    mapping = items_of(value)
    if mapping is not None:
        return _keyed(mapping, name, word="key" if is_mapping(value) else "field")
    if is_frame(value):
        return _column(value, name)
    if is_series(value):
        return _labelled(value, name)
    kind = kind_of(value)
    if kind == "List":
        items = cast("Sequence[object]", value)
        first = items_of(items[0]) if items else None
        has_field = first is not None and name in first
        hint = (
            f"take one item first: `[0].{name}`"
            if has_field
            else "take an item by its index: `[0]`"
        )
        raise AccessError(f"a list has no fields, so there is no `.{name}`", hint)
    if kind == "Null":
        raise AccessError(f"the value is null, so there is no `.{name}`")
    if kind == "Object":
        raise AccessError(
            f"`.{name}` reads fields of data, and this is an object: {describe(value)}",
            "pass it to a tool that returns what you need",
        )
    words = {"String": "text", "Number": "a number", "Boolean": "a boolean"}
    raise AccessError(
        f"{words[kind]} has no fields, so there is no `.{name}`: {preview(value, 40)}"
    )


def _item(value: object, key: object) -> object:
    is_record = is_named_tuple(value) and isinstance(key, str)
    if issubclass(type(value), _SEQUENCES) and not is_record:
        return _indexed(cast("Sequence[object]", value), key)
    mapping = items_of(value)
    if mapping is not None:
        return _keyed(mapping, key, word="key" if is_mapping(value) else "field")
    if is_frame(value):
        return _column(value, key) if isinstance(key, str) else _row(value, key)
    if is_series(value):
        return _labelled(value, key) if isinstance(key, str) else _positioned(value, key)
    if is_array(value):
        return _positioned(value, key)
    if value is None:
        raise AccessError("the value is null, so it has no parts")
    raise AccessError(f"{describe(value)} has no parts to read by `[..]`")


def _keyed(mapping: Mapping[Any, object], key: object, word: str = "key") -> object:
    try:
        # Never `mapping[key]`: a `defaultdict` would make the key.
        found = mapping.get(key, _NOTHING)
    except TypeError:
        raise AccessError(f"a key is text or a number, not {_article(key)}") from None
    if found is _NOTHING:
        raise _missing_key(mapping, key, word)
    return found


def _indexed(items: Sequence[object], key: object) -> object:
    what = _word(items)
    if isinstance(key, bool) or not isinstance(key, int):
        hint = None
        if isinstance(key, str):
            hint = "take an item first: `[0]`" if items else None
            if key.strip().lstrip("-").isascii() and key.strip().lstrip("-").isdigit():
                hint = f"write the index without quotes: `[{key.strip()}]`"
        elif isinstance(key, float) and key.is_integer():
            hint = f"write `[{int(key)}]`"
        raise AccessError(f"{what} is indexed by an integer, not by {_shown(key)}", hint)
    if not -len(items) <= key < len(items):
        raise AccessError(f"there is no item {_shown(key)}: {what} {_extent(items)}")
    return items[key]


def _slice(value: object, low: object, high: object, limits: Limits) -> object:
    bounds: list[int | None] = []
    for bound in (plain_scalar(low), plain_scalar(high)):
        if isinstance(bound, float) and bound.is_integer():
            raise AccessError(
                f"the ends of a slice are integers, not {_shown(bound)}", f"write {int(bound)}"
            )
        if bound is not None and (isinstance(bound, bool) or not isinstance(bound, int)):
            raise AccessError(f"the ends of a slice are integers, not {_shown(bound)}")
        bounds.append(bound)
    part = slice(*bounds)
    if issubclass(type(value), _SEQUENCES):
        items = cast("Sequence[object]", value)
        is_list = issubclass(type(value), (list, tuple))
        most = limits.value_nodes if is_list else limits.value_bytes
        if len(range(*part.indices(len(items)))) > most:
            unit = "items" if is_list else "characters"
            raise AccessError(f"this slice would hold more than {most:,} {unit}", is_limit=True)
        return list(items[part]) if is_list else items[part]
    if is_frame(value) or is_series(value):
        return cast("Frame", value).iloc[part]
    if is_array(value):
        return cast("Any", value)[part]
    hint = 'read a key: `["name"]`' if items_of(value) is not None else None
    raise AccessError(
        f"only text, lists, bytes and tables have slices, not {_article(value)}", hint
    )


def _missing_key(mapping: Mapping[Any, object], key: object, word: str) -> AccessError:
    names = [name for name in mapping if isinstance(name, str)]
    hint = did_you_mean(key, names) if isinstance(key, str) else None
    other = _same_as_text(mapping, key)
    if other is not _NOTHING:
        hint = f"write `[{_shown(other)}]`"
    if not mapping:
        return AccessError(f"there is no {word} {_shown(key)}: the object is empty", hint)
    shown = ", ".join(_shown(name) for name in list(mapping)[:_MOST_NAMES])
    more = len(mapping) - _MOST_NAMES
    rest = f" and {more:,} more" if more > 0 else ""
    return AccessError(f"there is no {word} {_shown(key)}; it has {shown}{rest}", hint)


def _same_as_text(mapping: Mapping[Any, object], key: object) -> object:
    if isinstance(key, int) and not isinstance(key, bool):
        return str(key) if str(key) in mapping else _NOTHING
    if isinstance(key, str) and key.isascii() and key.lstrip("-").isdigit() and len(key) < 20:
        return int(key) if int(key) in mapping else _NOTHING
    return _NOTHING


def _column(frame: Frame, name: object) -> object:
    columns = list(frame.columns)
    if name in columns:
        return frame[name]
    raise AccessError(
        f"there is no column {_shown(name)}; it has {_listed(columns)}",
        did_you_mean(str(name), [str(column) for column in columns]),
    )


def _row(frame: Frame, key: object) -> object:
    rows = range(len(frame))
    position = _indexed(rows, key)
    records = frame.iloc[[position]].to_dict("records")
    return cast("list[object]", records)[0]


def _labelled(series: object, name: str) -> object:
    held = cast("Any", series)
    labels = list(held.index[:1_000])
    if name in held.index:
        return held[name]
    raise AccessError(
        f"there is no {_shown(name)}; it has {_listed(labels)}",
        did_you_mean(name, [str(label) for label in labels]),
    )


def _positioned(array: object, key: object) -> object:
    held = cast("Any", array)
    position = _indexed(range(len(held)), key)
    return held.iloc[position] if is_series(array) else held[position]


def _word(items: Sequence[object]) -> str:
    if isinstance(items, str):
        return "the text"
    return "the table" if isinstance(items, range) else "the list"


def _extent(items: Sequence[object]) -> str:
    if not items:
        return "is empty"
    noun = "character" if isinstance(items, str) else "row" if isinstance(items, range) else "item"
    last = len(items) - 1
    return f"has {counted(len(items), noun)} ({'only 0' if last == 0 else f'0 to {last}'})"


def _listed(names: Iterable[object]) -> str:
    shown = [_shown(name) for name in names]
    more = len(shown) - _MOST_NAMES
    rest = f" and {more:,} more" if more > 0 else ""
    return f"{', '.join(shown[:_MOST_NAMES])}{rest}"


def _shown(key: object) -> str:
    return preview(key, 40)


def _article(value: object) -> str:
    kind = kind_of(value)
    words = {"List": "a list", "Null": "null", "Number": "a number", "Boolean": "a boolean"}
    if kind == "Object":
        return "an object" if is_mapping(value) else describe(value)
    return words.get(kind, "text")
