"""The symbol table: the `$variables` of one conversation."""

from __future__ import annotations

import sys
import threading
import unicodedata
from collections.abc import MutableMapping
from typing import TYPE_CHECKING

from nit_kernel.errors import NitLimitError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ABSENT = object()
"""What `SymbolTable.lookup` gives for a name that is not bound (a value of any kind may be)."""


class SymbolTable(MutableMapping[str, object]):
    """Variables by name, shared by all threads of a session.

    A variable that an `async` statement bound holds its `BackgroundTask`. Reading the mapping
    gives the task while it runs or when it failed, and its value once it is done.

    The lock is held for one write or for a copy of all, never while anything else happens. A read
    of one name needs none.

    Args:
        limit: Most variables; `None` for no limit.
    """

    lookup: Callable[..., object]
    """`lookup(name, default)`: what is bound, a task as it is."""
    put: Callable[[str, object], None]
    """`put(name, value)`: bind a name without a look at the limit, for who has asked for room.

    It needs no lock. (Two scripts that ask at one moment may go over the limit by what both bind.)
    """

    def __init__(self, limit: int | None = None) -> None:
        self._values: dict[str, object] = {}
        self._lock = threading.Lock()
        self._limit = sys.maxsize if limit is None else limit
        self.lookup = self._values.get
        self.put = self._values.__setitem__

    def bind(self, name: str, value: object) -> None:
        """Bind a name that the language has already found good.

        Raises:
            NitLimitError: The name is new and the table is full.
        """
        with self._lock:
            values = self._values
            if len(values) < self._limit or name in values:
                values[name] = value
                return
        raise table_is_full(name, self._limit)

    def has_room(self, name: str) -> bool:
        """Whether `bind` would accept the name now."""
        return len(self._values) < self._limit or name in self._values

    def has_room_for(self, names: int) -> bool:
        """Whether so many new names would be accepted now."""
        return len(self._values) + names <= self._limit

    def raw_items(self) -> list[tuple[str, object]]:
        """Names and what is bound to them, tasks as they are."""
        with self._lock:
            return list(self._values.items())

    def __getitem__(self, name: str) -> object:
        value = self._values[_normal(name)]
        return _settled(value)

    def __setitem__(self, name: str, value: object) -> None:
        self.bind(checked_name(name), value)

    def __delitem__(self, name: str) -> None:
        with self._lock:
            del self._values[_normal(name)]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and _normal(name) in self._values

    def __iter__(self) -> Iterator[str]:
        with self._lock:
            return iter(list(self._values))

    def __len__(self) -> int:
        return len(self._values)

    def clear(self) -> None:
        """Forget every variable."""
        with self._lock:
            self._values.clear()

    def __repr__(self) -> str:
        return f"<SymbolTable {', '.join('$' + name for name in self) or 'empty'}>"


def checked_name(name: object) -> str:
    """Return the name as scripts write it.

    Raises:
        TypeError: It is no text.
        ValueError: No script could write it.
    """
    if not isinstance(name, str):
        raise TypeError(f"the name of a NIT variable is text, not {type(name).__name__}")
    normal = _normal(name)
    if not normal.isidentifier() or normal.startswith("__"):
        raise ValueError(f"`{name}` cannot be a NIT variable: its name must be an identifier")
    return normal


def table_is_full(name: str, limit: int) -> NitLimitError:
    """The error for a variable too many."""
    return NitLimitError(
        f"`${name}` would be variable number {limit + 1}; a session holds at most {limit:,}",
        code="NIT403",
        hint="reuse a name, or remove variables that are no longer needed",
    )


def _normal(name: str) -> str:
    return unicodedata.normalize("NFKC", name) if _is_wide(name) else name


def _is_wide(name: object) -> bool:
    # What is no text, whatever its type says, is looked up as it is and found nowhere.
    return isinstance(name, str) and not name.isascii()


def _settled(value: object) -> object:
    # A `BackgroundTask` says what it stands for; this module does not import the scheduler.
    stands_for = getattr(type(value), "__nit_settled__", None)
    return value if stands_for is None else stands_for(value)
