"""What a Python object is to NIT: its kind, its fields, its rows, how large it is.

Objects of other packages are recognised by the module of their type, so that none is imported for
it. Nothing here calls into an object that is not of a known kind.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TypeAlias, TypeGuard, cast

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

Kind: TypeAlias = Literal["String", "Number", "Boolean", "Null", "List", "Object"]

DEEPEST_VALUE: Final = 200
"""How deep values may nest where every part of them has to be looked at."""

_KINDS: Final[dict[type, Kind]] = {
    str: "String",
    int: "Number",
    float: "Number",
    bool: "Boolean",
    type(None): "Null",
    list: "List",
    tuple: "List",
    dict: "Object",
}
_SIZED: Final = (list, dict, tuple, set, frozenset)
SCALARS: Final = frozenset({str, int, float, bool, type(None)})
"""The Python types that are JSON scalars, subclasses aside."""


class Frame(Protocol):
    """A pandas DataFrame, as far as it is used here."""

    columns: Iterable[object]
    shape: tuple[int, int]
    iloc: Any

    def __getitem__(self, key: object, /) -> object: ...
    def __len__(self) -> int: ...
    def to_dict(self, orient: str, /) -> object: ...


def kind_of(value: object) -> Kind:
    """Return the NIT type of any Python value. Source: NIT 2, section 5."""
    kind = _KINDS.get(type(value))
    if kind is not None:
        return kind
    plain = plain_scalar(value)
    if plain is not value:
        return _KINDS[type(plain)]
    if isinstance(value, list | tuple):
        return "Object" if is_named_tuple(cast("object", value)) else "List"
    return "Object"


def plain_scalar(value: object) -> object:
    """Return a text, number or boolean of a foreign type as Python's own, else the value itself.

    Subclasses of `str`, `int` and `float`, and numpy's scalars, lose nothing by it. Members of an
    enumeration that is not one of texts or numbers stay what they are.
    """
    kind = type(value)
    if kind in SCALARS:
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int.__int__(value)
    if isinstance(value, float):
        return float.__float__(value)
    if kind.__module__ == "numpy":
        return _numpy_scalar(value)
    return value


def _numpy_scalar(value: object) -> object:
    families = {base.__name__ for base in type(value).__mro__}
    if "integer" in families:
        return int(cast("Any", value))
    if "floating" in families:
        return float(cast("Any", value))
    if families & {"bool", "bool_"}:
        return bool(value)
    return value


def is_named_tuple(value: object) -> TypeGuard[tuple[object, ...]]:
    """Whether the value is a tuple with named fields."""
    kind = type(value)
    return tuple in kind.__mro__ and isinstance(getattr(kind, "_fields", None), tuple)


def is_sequence(value: object) -> TypeGuard[Collection[object]]:
    """Whether the value is a list, a tuple without named fields, or a set."""
    return isinstance(value, list | set | frozenset) or (
        isinstance(value, tuple) and not is_named_tuple(cast("object", value))
    )


def is_mapping(value: object) -> TypeGuard[Mapping[object, object]]:
    """Whether the value is a mapping."""
    return isinstance(value, Mapping)


def is_set(value: object) -> TypeGuard[Collection[object]]:
    """Whether the value is a set."""
    return isinstance(value, set | frozenset)


def is_frame(value: object) -> TypeGuard[Frame]:
    """Whether the value is a pandas DataFrame."""
    return _is_from("pandas", "DataFrame", value)


def is_series(value: object) -> bool:
    """Whether the value is a pandas Series."""
    return _is_from("pandas", "Series", value)


def is_polars_frame(value: object) -> bool:
    """Whether the value is a polars DataFrame."""
    return _is_from("polars", "DataFrame", value)


def is_array(value: object) -> bool:
    """Whether the value is a numpy array."""
    return _is_from("numpy", "ndarray", value)


def fields_of(value: object) -> dict[str, object] | None:
    """Return the fields of a dataclass, a pydantic model or a named tuple, else `None`.

    Methods, properties and other attributes are no fields. A field that was never set is left
    out.
    """
    kind = type(value)
    if is_named_tuple(value):
        names = cast("tuple[str, ...]", getattr(kind, "_fields", ()))
        return dict(zip(names, value, strict=False))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _set_fields(value, [item.name for item in dataclasses.fields(value)])
    if not isinstance(value, type) and _is_from("pydantic", "BaseModel", value):
        held = cast("dict[str, object]", vars(value))
        extra = cast("dict[str, object] | None", getattr(value, "__pydantic_extra__", None))
        return {**held, **(extra or {})}
    return None


def items_of(value: object) -> Mapping[object, object] | None:
    """Return the value as a mapping if it is one or has named fields, else `None`."""
    if isinstance(value, Mapping):
        return cast("Mapping[object, object]", value)
    return cast("Mapping[object, object] | None", fields_of(value))


def type_name(value: object) -> str:
    """Return the name of the value's Python type, without its module."""
    return type(value).__name__


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return "1 item", "12,345 items"."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def size_of(value: object) -> str:
    """Return how large a value is, for people and models; empty where that says nothing.

    Such as "12,345 chars", "3 items", "2 keys", "3 rows x 2 columns", "1.4 kB".
    """
    match value:
        case str():
            return counted(len(value), "char")
        case bytes() | bytearray() | memoryview():
            return bytes_text(len(value) if not isinstance(value, memoryview) else value.nbytes)
        case _ if is_sequence(value):
            return counted(len(value), "item")
        case _:
            pass
    if is_frame(value) or is_polars_frame(value):
        rows, columns = cast("Frame", value).shape
        return f"{counted(rows, 'row')} x {counted(columns, 'column')}"
    if is_series(value):
        return counted(len(cast("list[object]", value)), "row")
    if is_array(value):
        shape = cast("tuple[int, ...]", getattr(value, "shape", ()))
        return " x ".join(f"{length:,}" for length in shape)
    items = items_of(value)
    if items is None:
        return ""
    return counted(len(items), "key" if isinstance(value, Mapping) else "field")


def bytes_text(count: int) -> str:
    """Return "812 bytes", "1.4 kB", "10.0 MB"."""
    if count < 1_000:
        return counted(count, "byte")
    size = float(count)
    for unit in ("kB", "MB", "GB"):
        size /= 1_000
        if size < 1_000:
            return f"{size:,.1f} {unit}"
    return f"{size / 1_000:,.1f} TB"


@dataclass(frozen=True, slots=True)
class Survey:
    """How large a value is when everything shared in it is written out.

    Attributes:
        nodes: How many values it holds, itself included.
        chars: How many characters its texts and numbers take, roughly.
        depth: How deep it nests.
        is_cyclic: Whether it holds itself; the other figures mean nothing then.
        types: The Python types of all values in it, itself included.
    """

    nodes: int
    chars: int
    depth: int
    is_cyclic: bool = False
    types: frozenset[type] = frozenset()

    def is_walkable(self, most_nodes: int) -> bool:
        """Whether every part of the value can be looked at within the limits."""
        return not self.is_cyclic and self.nodes <= most_nodes and self.depth <= DEEPEST_VALUE


def survey(value: object, *, most_nodes: int) -> Survey:
    """Measure a value in time linear in what it really holds, whatever it shares.

    Lists, tuples, mappings, sets and objects with fields are looked into; any other object counts
    as one. It stops early once the value has more than `most_nodes`, or nests too deep.
    """
    done: dict[int, tuple[int, int, int]] = {}
    types: set[type] = {type(value)}
    # The containers around the one at hand. Their parts must live as long as their ids are keys.
    open_now: dict[int, Sequence[object]] = {}
    # A container is on the stack twice: to look at its parts, then to add them up.
    stack: list[tuple[object, bool]] = [(value, False)]
    keep: list[object] = []
    distinct = 0
    while stack:
        current, is_opened = stack.pop()
        key = id(current)
        if is_opened:
            done[key] = total = _sum(open_now.pop(key), done)
            if total[0] > most_nodes:
                return Survey(*total)
            continue
        if key in done:
            continue
        if key in open_now:
            return Survey(0, 0, 0, is_cyclic=True)
        if type(current) in _SIZED and distinct + len(cast("list[object]", current)) > most_nodes:
            return Survey(most_nodes + 1, 0, 0)
        parts = _parts(current)
        if parts is None:
            done[key] = _leaf(current)
            continue
        distinct += 1 + len(parts)
        if distinct > most_nodes:
            return Survey(distinct, 0, 0)
        inside = set(map(type, parts))
        types |= inside
        if SCALARS.issuperset(inside):
            done[key] = (1 + len(parts), _chars(parts, str in inside), 1)
            continue
        if len(open_now) >= DEEPEST_VALUE:
            return Survey(distinct, 0, DEEPEST_VALUE + 1)
        keep.append(parts)
        open_now[key] = parts
        stack.append((current, True))
        stack.extend((part, False) for part in parts if type(part) not in SCALARS)
    return Survey(*done[id(value)], types=frozenset(types))


def _parts(value: object) -> Sequence[object] | None:
    kind = type(value)
    if kind is list:
        return cast("list[object]", value)
    if kind is dict:
        held = cast("dict[object, object]", value)
        return [*held, *held.values()]
    if isinstance(value, list | tuple | set | frozenset):
        return list(cast("list[object]", value))
    items = items_of(value)
    return None if items is None else [*items, *items.values()]


def _sum(parts: Sequence[object], done: dict[int, tuple[int, int, int]]) -> tuple[int, int, int]:
    scalars = [part for part in parts if type(part) in SCALARS]
    nodes, chars, depth = 1 + len(scalars), _chars(scalars, has_text=True), 0
    for part in parts:
        if type(part) not in SCALARS:
            inside = done[id(part)]
            nodes += inside[0]
            chars += inside[1] + 2
            depth = max(depth, inside[2])
    return nodes, chars, depth + 1


def _chars(scalars: Sequence[object], has_text: bool) -> int:
    texts = sum(len(part) for part in scalars if isinstance(part, str)) if has_text else 0
    return 2 + 20 * len(scalars) + texts


def _leaf(value: object) -> tuple[int, int, int]:
    match value:
        case str() | bytes() | bytearray():
            return 1, len(value) + 2, 0
        case int():
            return 1, value.bit_length() // 3 + 1, 0
        case _:
            return 1, 20, 0


def _set_fields(value: object, names: list[str]) -> dict[str, object]:
    missing = object()
    found = ((name, getattr(value, name, missing)) for name in names)
    return {name: item for name, item in found if item is not missing}


def _is_from(package: str, name: str, value: object) -> bool:
    for base in type(value).__mro__:
        if base.__name__ == name and base.__module__.partition(".")[0] == package:
            return True
    return False
