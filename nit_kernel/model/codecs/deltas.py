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

_OWN_KEYS = frozenset({"index", "id", "type", "function"})


@dataclass(slots=True)
class _Slot:
    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list[str])
    extra: JsonObject = field(default_factory=dict[str, JsonValue])

    @property
    def arguments(self) -> str:
        text = "".join(self.pieces)
        self.pieces = [text]
        return text

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

    def __bool__(self) -> bool:
        return bool(self._slots)

    def feed(self, deltas: Sequence[Mapping[str, Any]] | None) -> None:
        """Take the list `delta.tool_calls` of one chunk."""
        several = len(deltas or ()) > 1
        for delta in deltas or ():
            self._take(delta, several=several)

    def entries(self) -> list[JsonObject]:
        """Return the calls so far, as entries of `tool_calls`, in the order they were opened."""
        return [
            {
                **slot.extra,
                "id": slot.id,
                "type": "function",
                "function": {"name": slot.name, "arguments": slot.arguments},
            }
            for slot in self._slots
            if slot.name or slot.id or slot.pieces
        ]

    def _take(self, delta: Mapping[str, Any], *, several: bool) -> None:
        inner = delta.get("function")
        function = cast("Mapping[str, Any]", inner if isinstance(inner, dict) else {})
        given_id = delta.get("id")
        given_name = function.get("name")
        call_id = given_id if isinstance(given_id, str) else ""
        name = given_name if isinstance(given_name, str) else ""
        slot = self._slot(delta.get("index"), call_id, name, several=several)
        if call_id and not slot.id:
            slot.id = call_id
            self._by_id.setdefault(call_id, slot)
        self._name(slot, name)
        self._arguments(slot, function.get("arguments"))
        for key, value in delta.items():
            if key not in _OWN_KEYS and value is not None:
                slot.extra[key] = value

    def _slot(self, index: Any, call_id: str, name: str, *, several: bool) -> _Slot:
        numbered = isinstance(index, int) and not isinstance(index, bool)
        if numbered:
            slot = self._by_index.get(index)
        elif call_id:
            slot = self._by_id.get(call_id)
        else:
            slot = self._slots[-1] if self._slots and not (several and name) else None
        if slot is not None and not self._is_another(slot, call_id, name):
            return slot
        fresh = _Slot()
        self._slots.append(fresh)
        if numbered:
            self._by_index[index] = fresh
        return fresh

    def _is_another(self, slot: _Slot, call_id: str, name: str) -> bool:
        """Return whether a delta that points at a slot begins another call."""
        if call_id and slot.id and call_id != slot.id:
            return True
        if not name or not slot.name or name == slot.name:
            return False
        both_known = {name, slot.name} <= self._known and not self._joins(slot.name + name)
        return both_known or slot.is_complete()

    def _name(self, slot: _Slot, name: str) -> None:
        if not slot.name:
            slot.name = name
        elif name and name != slot.name and self._joins(slot.name + name):
            slot.name += name

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
