"""One walk over arguments along their schema, converting what the schema wants converted.

It never decides that a value is right: it only makes values that have a better chance, and the
validator has the last word. So a value that fits comes out as it went in (up to JSON equality).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NoReturn, Protocol, cast

from nit_kernel.language.json_form import json_text, key_text
from nit_kernel.language.shapes import (
    DEEPEST_VALUE,
    SCALARS,
    is_named_tuple,
    items_of,
    plain_scalar,
    survey,
)
from nit_kernel.language.texts import TextError, text_of
from nit_kernel.runtime.exact import (
    FAIL,
    LITERALS,
    Literal,
    is_no_integer,
    to_boolean,
    to_container,
    to_integer,
    to_number,
    to_text,
    without_spelling,
)
from nit_kernel.runtime.misfit import TOO_LARGE, CoercionError, misfit, too_large, wanted_types

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nit_kernel.config import Limits
    from nit_kernel.runtime.schema_nodes import SchemaNode

_JSON_TYPES: Final = SCALARS | {list, dict}
JSON_KINDS: Final[dict[type, tuple[str, ...]]] = {
    str: ("string",),
    bool: ("boolean",),
    int: ("integer", "number"),
    float: ("number",),
    list: ("array",),
    dict: ("object",),
    type(None): ("null",),
}
"""The JSON types that the values of a Python type are of."""

_OPEN: Final = object()


class Place:
    """Where in the arguments a value stands: a chain of keys up to the arguments themselves.

    A place whose value was read from JSON text carries `spelled`: the value with the spelling of
    its numbers, in which the places below look for theirs.
    """

    __slots__ = ("key", "parent", "spelled")

    def __init__(self, parent: Place | None, key: object, spelled: object = None) -> None:
        self.parent = parent
        self.key = key
        self.spelled = spelled

    def keys(self) -> list[object]:
        """Return the keys from the arguments down to this place."""
        keys: list[object] = []
        place = self
        while place.parent is not None:
            keys.append(place.key)
            place = place.parent
        return keys[::-1]


class Fits(Protocol):
    """Whether a value is right for a node, as the validator sees it."""

    def __call__(self, node: SchemaNode, value: object, /) -> bool: ...


class Conversion:
    """The conversion of one set of arguments.

    Args:
        fits: Asks the validator.
        limits: How much may be walked.
        spelled: Builds the arguments with the spelling of their literals, when first needed.
        guarded: Whether a value may hold itself or be too large: then every step is counted, and
            nothing that was not measured goes to the validator.
    """

    def __init__(
        self,
        fits: Fits,
        limits: Limits,
        *,
        spelled: Callable[[], Mapping[str, object]] | None,
        guarded: bool,
    ) -> None:
        self._fits = fits
        self._limits = limits
        self._build_spelled = spelled
        self._spelled: object = None
        self._guarded = guarded
        self._steps = 0
        self._done: dict[tuple[int, int], tuple[object, int]] = {}
        # What is made on the way must live as long as its id is a key.
        self._kept: list[object] = []

    def convert(self, node: SchemaNode, value: object, place: Place, depth: int = 0) -> object:
        """Return the value as the node wants it, as far as that is possible without loss.

        Raises:
            CoercionError: The value can never be right here, or is too large to look at.
        """
        if node.is_free:
            return value
        leaf = node.leaf
        if leaf is not None and type(value) in leaf:
            return value
        if type(value) not in _JSON_TYPES:
            value = self._as_json(node, value, place)
        kind = type(value)
        if kind is not list and kind is not dict:
            return value if depth > DEEPEST_VALUE else self._apply(node, value, place, depth)
        if depth > DEEPEST_VALUE:
            raise too_large(f"nests more than {DEEPEST_VALUE} levels deep", place.keys())
        key = (id(node), id(value))
        done = self._done.get(key)
        if done is not None:
            result, steps = done
            if result is _OPEN:
                raise too_large("holds itself, so it cannot be checked", place.keys())
            self._count(steps, place)
            return result
        self._done[key] = (_OPEN, 0)
        self._kept.append(value)
        before = self._steps
        if self._guarded and node.looks_at_whole:
            self._measure(value, place)
        try:
            result = self._apply(node, value, place, depth)
        except CoercionError:
            del self._done[key]
            raise
        self._done[key] = (result, self._steps - before)
        return result

    def _apply(self, node: SchemaNode, value: object, place: Place, depth: int) -> object:
        if len(node.types) > 1:
            return self._one_of_types(node, value, place, depth)
        self._count(1, place)
        if node.types:
            value = self._typed(node, node.types[0], value, place)
        kind = type(value)
        if kind is list:
            value = self._items(node, cast("list[object]", value), place, depth)
        elif kind is dict and node.has_members:
            value = self._members(node, cast("dict[object, object]", value), place, depth)
        reference = node.reference
        if reference is not None:
            value = self.convert(reference, value, place, depth + 1)
        for member in node.all_of:
            value = self.convert(node.child(member), value, place, depth + 1)
        for members, is_exclusive in node.unions:
            nodes = [node.child(member) for member in members]
            value = self._union(nodes, value, place, depth, is_exclusive=is_exclusive)
        if node.choices is not None and isinstance(value, str) and value not in node.choices:
            same = node.folded(value)
            value = same[0] if len(same) == 1 else value
        condition = node.branch("if")
        if condition is not None:
            branch = node.branch("then" if self._fits(condition, value) else "else")
            if branch is not None:
                value = self.convert(branch, value, place, depth + 1)
        return value

    # Types

    def _typed(self, node: SchemaNode, kind: str, value: object, place: Place) -> object:
        if kind in JSON_KINDS[type(value)]:
            return value
        result: object = FAIL
        match kind:
            case "string":
                result = self._text(node, value, place)
            case "integer":
                literal = self._literal(place) if isinstance(value, float) else None
                result = to_integer(value, literal)
                if result is FAIL and is_no_integer(node.types, value):
                    self._refuse(node, value, place)
            case "number":
                result = to_number(value)
            case "boolean":
                result = to_boolean(value)
            case "array" if isinstance(value, str):
                result = self._from_json(value, list, place)
            case "object" if isinstance(value, str):
                result = self._from_json(value, dict, place)
            case _:
                pass
        return value if result is FAIL else result

    def _text(self, node: SchemaNode, value: object, place: Place) -> object:
        if isinstance(value, bool | int | float):
            if node.time_format is not None:
                return FAIL  # seconds since when, or digits of a date: that would be a guess
            return to_text(value, self._literal(place))
        if node.is_text and type(value) in (list, dict):
            self._measure(value, place)
            return json_text(value, self._limits)
        return FAIL

    def _from_json(
        self, text: str, kind: type[list[object]] | type[dict[str, object]], place: Place
    ) -> object:
        spelled = to_container(text, kind)
        if spelled is FAIL:
            return FAIL
        place.spelled = spelled
        self._kept.append(spelled)
        return without_spelling(spelled)

    def _one_of_types(self, node: SchemaNode, value: object, place: Place, depth: int) -> object:
        own = [kind for kind in node.types if kind in JSON_KINDS[type(value)]]
        if own and self._fits(node, value):
            if type(value) is float and value.is_integer() and "number" not in node.types:
                own = ["integer"]
            return self.convert(node.single(own[0]), value, place, depth + 1)
        if isinstance(value, float) and math.isfinite(value) and "integer" in node.types:
            own = ["integer", *own]
        for kind in node.types:
            candidate = self._attempt(node.single(kind), value, place, depth)
            if candidate is not FAIL and self._fits(node, candidate):
                return candidate
        if is_no_integer(node.types, value):
            self._refuse(node, value, place)
        return self.convert(node.single(own[0]), value, place, depth + 1) if own else value

    def _union(
        self,
        members: list[SchemaNode],
        value: object,
        place: Place,
        depth: int,
        *,
        is_exclusive: bool,
    ) -> object:
        fitting = self._fitting(members, value, most=2 if is_exclusive else 1)
        if fitting:
            return self.convert(fitting[0], value, place, depth + 1)
        choices: list[object] = []
        close: list[object] = []
        for member in members:
            candidate = self._attempt(member, value, place, depth)
            if candidate is FAIL:
                continue
            if not self._fits(member, candidate):
                if type(candidate) is type(value) and candidate is not value:
                    close.append(candidate)
            elif is_exclusive and len(self._fitting(members, candidate, most=2)) > 1:
                continue
            elif member.is_choice and isinstance(value, str):
                # Where two choices differ from the text only in case, neither is taken.
                choices.extend([candidate] if candidate not in choices else [])
            elif not choices:
                return candidate
        if len(choices) == 1:
            return choices[0]
        kinds = [kind for member in members for kind in member.types]
        if is_no_integer(kinds, value):
            raise misfit(wanted_types(dict.fromkeys(kinds)), value, place.keys())
        return close[0] if len(close) == 1 and type(value) in (list, dict) else value

    def _fitting(self, members: list[SchemaNode], value: object, *, most: int) -> list[SchemaNode]:
        found: list[SchemaNode] = []
        for member in members:
            if member.is_free or self._fits(member, value):
                found.append(member)
                if len(found) == most:
                    break
        return found

    def _attempt(self, node: SchemaNode, value: object, place: Place, depth: int) -> object:
        spelled = place.spelled
        try:
            return self.convert(node, value, place, depth + 1)
        except CoercionError as error:
            if error.code == TOO_LARGE:
                raise
            return FAIL
        finally:
            place.spelled = spelled

    # Parts

    def _items(
        self, node: SchemaNode, items: list[object], place: Place, depth: int
    ) -> list[object]:
        rest = node.items
        if not node.prefix and (rest is None or rest.is_free):
            return items
        leaf = None if rest is None or node.prefix else rest.leaf
        if leaf is not None and leaf.issuperset(map(type, items)):
            self._count(len(items), place)
            return items
        fresh: list[object] = []
        for index, item in enumerate(items):
            wanted = node.item(index)
            if wanted is None:
                fresh.append(item)
            else:
                fresh.append(self.convert(wanted, item, Place(place, index), depth + 1))
        changed = any(new is not old for new, old in zip(fresh, items, strict=True))
        return fresh if changed else items

    def _members(
        self, node: SchemaNode, members: dict[object, object], place: Place, depth: int
    ) -> dict[object, object]:
        fresh: dict[object, object] = {}
        changed = False
        for key, item in members.items():
            name = key if type(key) is str else self._key(key, place)
            if name in fresh:
                raise misfit(
                    f"keys that differ as JSON (two are {json_text(name)})", members, place.keys()
                )
            new = item
            below = Place(place, key)
            for wanted in node.members(name):
                new = self.convert(wanted, new, below, depth + 1)
            fresh[name] = new
            changed = changed or new is not item or name is not key
        return fresh if changed else members

    def _key(self, key: object, place: Place) -> str:
        name = key_text(key)
        if name is None:
            raise misfit(
                "keys that are text or numbers", {"key": str(type(key).__name__)}, place.keys()
            )
        return name

    # Values of other kinds

    def _as_json(self, node: SchemaNode, value: object, place: Place) -> object:
        plain = plain_scalar(value)
        if type(plain) in SCALARS:
            return plain
        is_record = is_named_tuple(value) and "object" in node.types
        if issubclass(type(value), (list, tuple)) and not is_record:
            return self._keep(list(cast("list[object]", value)))
        fields = items_of(value)
        if fields is not None:
            return self._keep(dict(fields))
        if node.is_text and "string" in node.types:
            try:
                return text_of(value, self._limits)
            except TextError as error:
                raise too_large(error.message, place.keys()) from error
        if node.is_assertive:
            self._refuse(node, value, place)
        return value

    def _keep(self, made: object) -> object:
        self._kept.append(made)
        return made

    def _refuse(self, node: SchemaNode, value: object, place: Place) -> NoReturn:
        hint = (
            'for its text, write it into an f-string: `f"{$name}"`'
            if "string" in node.types
            else None
        )
        raise misfit(wanted_types(node.types) or "a plain value", value, place.keys(), hint)

    # Bounds

    def _count(self, steps: int, place: Place) -> None:
        self._steps += steps
        if self._guarded and self._steps > self._limits.value_nodes:
            most = f"{self._limits.value_nodes:,}"
            raise too_large(f"holds more than {most} values, so it cannot be checked", place.keys())

    def _measure(self, value: object, place: Place) -> None:
        check_size(value, self._limits, place.keys())

    def _literal(self, place: Place) -> Literal | None:
        """The literal at this place, if the value there is written as one."""
        keys: list[object] = []
        at = place
        while at.parent is not None and at.spelled is None:
            keys.append(at.key)
            at = at.parent
        found = at.spelled
        if at.parent is None and found is None:
            if self._build_spelled is not None and self._spelled is None:
                self._spelled = self._build_spelled()
            found = self._spelled
        for key in reversed(keys):
            if isinstance(found, list | tuple) and isinstance(key, int):
                items = cast("list[object]", found)
                found = items[key] if key < len(items) else None
            elif isinstance(found, dict):
                found = cast("dict[object, object]", found).get(key)
            else:
                return None
        return found if isinstance(found, LITERALS) else None


def check_size(value: object, limits: Limits, keys: list[object]) -> None:
    """Refuse a value that the validator cannot walk.

    Raises:
        CoercionError: It holds itself, nests too deep or is too large.
    """
    size = survey(value, most_nodes=limits.value_nodes)
    if size.is_cyclic:
        raise too_large("holds itself, so it cannot be checked", keys)
    if size.nodes > limits.value_nodes:
        raise too_large(
            f"holds more than {limits.value_nodes:,} values, so it cannot be checked", keys
        )
    if size.depth > DEEPEST_VALUE:
        raise too_large(f"nests more than {DEEPEST_VALUE} levels deep", keys)
