"""A value in a few characters: its head, its tail, and how much lies between.

What a preview costs depends on its length only, never on the size of the value.
"""

from __future__ import annotations

import json
import re
import unicodedata
from typing import TYPE_CHECKING, Any, Final, cast

from nit_kernel.language.json_form import clean_text, foreign_text, json_text, key_text
from nit_kernel.language.shapes import (
    SCALARS,
    is_frame,
    is_sequence,
    is_set,
    items_of,
    kind_of,
    plain_scalar,
    size_of,
    survey,
    type_name,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_JSON_TYPES: Final = SCALARS | {list, tuple, dict}
_DEEPEST: Final = 6
_LEAST_ROOM: Final = 16
_MOST_SMALL: Final = 8
_FIRST_ROWS: Final = 3
_ADDRESS: Final = re.compile(r" at 0x[0-9A-Fa-f]+")
_BLANKS: Final = re.compile(r"\s+")
_JOINERS: Final = frozenset("\u200d\ufe0e\ufe0f")
_LONGEST_CLUSTER: Final = 16


def preview(value: object, chars: int = 200) -> str:
    """Return a value as JSON-like text on one line, of about `chars` characters at most.

    What does not fit is left out between head and tail, with a note of how much it is.
    """
    text = _whole(value, chars) or _short(value, max(chars, _LEAST_ROOM), 0)
    return text if len(text) <= 2 * chars else shortened(text, chars)


def describe(value: object) -> str:
    """Return the type and size of a value: "String, 12,345 chars", "DataFrame, 3 rows x 2 columns".

    An object that is no plain mapping is named by its Python type.
    """
    kind = kind_of(value)
    is_foreign = kind == "Object" and not issubclass(type(value), dict)
    name = type_name(value) if is_foreign else kind
    size = size_of(value)
    return f"{name}, {size}" if size else name


def shortened(text: str, chars: int) -> str:
    """Return the text, or its head and tail with a note of what is left out, never cut in a letter.

    The note comes on top of `chars`.
    """
    if len(text) <= chars:
        return text
    head, tail = _head_and_tail(text, chars)
    left_out = len(text) - len(head) - len(tail)
    return f"{head}... {left_out:,} chars left out ...{tail}"


def _whole(value: object, chars: int) -> str | None:
    """The whole JSON text of a list or mapping, if it is not too long."""
    if not is_sequence(value) and items_of(value) is None:
        return None
    size = survey(value, most_nodes=chars)
    if not size.is_walkable(chars) or not _JSON_TYPES.issuperset(size.types):
        return None
    if size.chars > chars + 20 * size.nodes:
        return None
    text = json_text(value)
    return text if len(text) <= chars else None


def _short(value: object, room: int, depth: int) -> str:
    plain = plain_scalar(value)
    if isinstance(plain, str):
        return _short_text(plain, room)
    if type(plain) in SCALARS:
        return shortened(json_text(plain), room)
    if is_sequence(value):
        items = cast("list[object]", list(value) if is_set(value) else value)
        full = depth >= _DEEPEST or (room <= _LEAST_ROOM and depth > 0)
        if full and not SCALARS.issuperset(map(type, items[:_MOST_SMALL])):
            return "[...]"
        return _short_list(items, room, depth)
    if is_frame(value):
        return _short_frame(cast("object", value), room, depth)
    mapping = items_of(value)
    if mapping is not None:
        if mapping and (depth >= _DEEPEST or (room <= _LEAST_ROOM and depth > 0)):
            return "{...}"
        return _short_mapping(mapping, room, depth)
    if isinstance(value, bytes | bytearray):
        head = value[: max(1, room // 4)].hex(" ")
        return f"<{type_name(value)}, {size_of(value)}: {head}>"
    text = _ADDRESS.sub("", foreign_text(value, repr))
    return shortened(_BLANKS.sub(" ", text), room)


def _short_text(text: str, room: int) -> str:
    if len(text) + 2 <= room:
        return _quoted(text)
    head, tail = _head_and_tail(text, max(room - 2, 2))
    left_out = len(text) - len(head) - len(tail)
    return f"{_quoted(head)}... {left_out:,} chars left out ...{_quoted(tail)}"


def _short_list(items: list[object], room: int, depth: int) -> str:
    count = len(items)
    head, used = _head(count, room, lambda index, space: _short(items[index], space, depth + 1))
    if len(head) == count:
        return f"[{', '.join(head)}]"
    space = max(room - used, _LEAST_ROOM)
    last = _short(items[-1], space, depth + 1)
    return f"[{', '.join([*head, _more(count - len(head) - 1), last])}]"


def _short_mapping(mapping: Mapping[object, object], room: int, depth: int) -> str:
    pairs = iter(mapping.items())

    def pair(_index: int, space: int) -> str:
        key, item = next(pairs)
        name = _short_text(key_text(key) or foreign_text(key), max(space // 2, _LEAST_ROOM))
        return f"{name}: {_short(item, max(space - len(name), _LEAST_ROOM), depth + 1)}"

    count = len(mapping)
    head, _ = _head(count, room, pair)
    if len(head) < count:
        head.append(_more(count - len(head)))
    return f"{{{', '.join(head)}}}"


def _short_frame(value: object, room: int, depth: int) -> str:
    frame = cast("Any", value)
    rows = cast("list[object]", frame.iloc[:_FIRST_ROWS].to_dict("records"))
    count = len(frame)
    if count > _FIRST_ROWS:
        last = cast("list[object]", frame.iloc[-1:].to_dict("records"))
        texts = [_short(row, room // (_FIRST_ROWS + 1), depth + 1) for row in rows]
        ends = _short(last[0], room // (_FIRST_ROWS + 1), depth + 1)
        return f"[{', '.join([*texts, _more(count - len(rows) - 1), ends])}]"
    return _short_list(rows, room, depth)


def _head(count: int, room: int, write: Callable[[int, int], str]) -> tuple[list[str], int]:
    # The parts that fit: all, or those that leave a quarter for the tail.
    parts: list[str] = []
    used = 2
    while len(parts) < count:
        is_last = len(parts) == count - 1
        space = room - used if is_last else (room - used) * 3 // 4
        if parts and space < _LEAST_ROOM:
            break
        text = write(len(parts), max(space // 2 if not is_last else space, _LEAST_ROOM))
        parts.append(text)
        used += len(text) + 2
    return parts, used


def _more(count: int) -> str:
    return f"... {count:,} more ..." if count else "..."


def _quoted(text: str) -> str:
    return json.dumps(clean_text(text), ensure_ascii=False)


def _head_and_tail(text: str, chars: int) -> tuple[str, str]:
    tail_chars = chars // 4
    start = _letter_start(text, chars - tail_chars)
    end = _letter_start(text, len(text) - tail_chars)
    return text[:start], text[end:]


def _letter_start(text: str, index: int) -> int:
    # The nearest place before `index` where a letter begins, marks and joiners included.
    for _ in range(_LONGEST_CLUSTER):
        if not 0 < index < len(text):
            break
        here, before = text[index], text[index - 1]
        joined = here in _JOINERS or before == "\u200d" or unicodedata.category(here)[0] == "M"
        halves = "\udc00" <= here <= "\udfff" and "\ud800" <= before <= "\udbff"
        if not joined and not halves:
            break
        index -= 1
    return index
