"""Puts native calls together from the deltas of a stream.

```
delta {index, id, function: {name, arguments}}  ->  which slot?  ->  id, name once; arguments joined
```

Servers number calls wrongly (always 0, or not at all), repeat names, send arguments as objects or
twice. A slot is one call. Partial JSON is never compared or completed. Source: `spec/formats.md`,
"Assembling native tool-call deltas".
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from nit_kernel.language.schema import JsonObject, JsonValue
from nit_kernel.model.codecs.history import compact
from nit_kernel.model.codecs.strict import Read, read_strict

_OWN_KEYS = frozenset({"index", "id", "type", "function", "custom", "name", "arguments", "input"})


@dataclass(slots=True)
class _Slot:
    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list[str])
    extra: JsonObject = field(default_factory=dict[str, JsonValue])
    is_function: bool = False

    @property
    def arguments(self) -> str:
        text = "".join(self.pieces)
        self.pieces = [text]
        return text

    @property
    def entry(self) -> JsonObject:
        """The call as an entry of `tool_calls`; one in a form of its own says so."""
        function: JsonObject = {"name": self.name, "arguments": self.arguments}
        if not self.is_function:
            function = {"name": self.name, "malformed": True}
        return {**self.extra, "id": self.id, "type": "function", "function": function}

    def is_complete(self) -> bool:
        """Whether the arguments so far are a whole JSON value."""
        # Only a text that ends so can be one: without this, each delta would parse it all again.
        last = self.pieces[-1].rstrip() if self.pieces else ""
        return last.endswith("}") and isinstance(read_strict(self.arguments), Read)


class CallAssembler:
    """Takes the `tool_calls` of each delta; gives whole entries at the end.

    Args:
        known: The tools' names as the provider knows them; they tell a name in pieces from two.
    """

    def __init__(self, known: Collection[str] = ()) -> None:
        self._known = frozenset(known)
        self._slots: list[_Slot] = []
        self._by_index: dict[int, _Slot] = {}
        self._by_id: dict[str, _Slot] = {}
        self._unreadable: list[_Slot] = []

    def __bool__(self) -> bool:
        return bool(self._slots or self._unreadable)

    def feed(self, deltas: Sequence[Mapping[str, Any]] | None) -> None:
        """Take the list `delta.tool_calls` of one chunk."""
        several = len(deltas or ()) > 1
        for delta in deltas or ():
            if isinstance(delta, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
                self._take(delta, several=several)
            else:
                self._unreadable.append(_Slot())

    def entries(self) -> list[JsonObject]:
        """Return the calls so far, as entries of `tool_calls`, in the order they were opened."""
        opened = [slot for slot in self._slots if slot.name or slot.id or slot.pieces]
        return [slot.entry for slot in (*opened, *self._unreadable)]

    def _take(self, delta: Mapping[str, Any], *, several: bool) -> None:
        inner = delta.get("function")
        function = cast("Mapping[str, Any]", inner if isinstance(inner, dict) else {})
        other = delta.get("custom")
        named = cast("Mapping[str, Any]", other if isinstance(other, dict) else delta)
        given_id = delta.get("id")
        given_name = function.get("name") if isinstance(inner, dict) else named.get("name")
        call_id = given_id if isinstance(given_id, str) else ""
        name = given_name if isinstance(given_name, str) else ""
        slot = self._slot(_number(delta.get("index")), call_id, name, several=several)
        if call_id and not slot.id:
            slot.id = call_id
            self._by_id.setdefault(call_id, slot)
        slot.is_function = slot.is_function or isinstance(inner, dict)
        self._name(slot, name)
        self._arguments(slot, function.get("arguments"))
        for key, value in delta.items():
            if key not in _OWN_KEYS and value is not None:
                slot.extra[key] = value

    def _slot(self, index: int | None, call_id: str, name: str, *, several: bool) -> _Slot:
        if index is not None:
            slot = self._by_index.get(index)
        elif call_id:
            slot = self._by_id.get(call_id)
        else:
            slot = self._slots[-1] if self._slots and not (several and name) else None
        if slot is not None and not self._is_another(slot, call_id, name):
            return slot
        fresh = _Slot()
        self._slots.append(fresh)
        if index is not None:
            self._by_index[index] = fresh
        return fresh

    def _is_another(self, slot: _Slot, call_id: str, name: str) -> bool:
        """Return whether a delta that points at a slot begins another call."""
        if call_id and slot.id and call_id != slot.id:
            return True
        if not name or not slot.name or name == slot.name:
            return False
        if self._replaces(slot.name, name):
            return slot.is_complete()
        both_known = {name, slot.name} <= self._known and not self._joins(slot.name + name)
        return both_known or slot.is_complete()

    def _name(self, slot: _Slot, name: str) -> None:
        if not slot.name or self._replaces(slot.name, name):
            slot.name = name
        elif name and name != slot.name and self._joins(slot.name + name):
            slot.name += name

    def _replaces(self, before: str, name: str) -> bool:
        """Return whether a name is the one before, sent again and longer: not its next piece."""
        if name == before or not name.startswith(before):
            return False
        return self._joins(name) or not self._joins(before + name)

    def _joins(self, joined: str) -> bool:
        return any(known.startswith(joined) for known in self._known)

    @staticmethod
    def _arguments(slot: _Slot, arguments: Any) -> None:
        if isinstance(arguments, str):
            if arguments:
                slot.pieces.append(arguments)
        elif arguments is not None:
            text = compact(cast("JsonValue", arguments))
            if slot.arguments != text:
                slot.pieces.append(text)


def _number(index: Any) -> int | None:
    """Return a delta's index as a number; some servers send it as a text."""
    if isinstance(index, str) and index.strip().isdecimal():
        return int(index)
    return index if isinstance(index, int) and not isinstance(index, bool) else None
