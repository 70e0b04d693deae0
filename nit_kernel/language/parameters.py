"""What an object schema declares: its properties in order, what is required, what it lets in."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias, cast

if TYPE_CHECKING:
    from collections.abc import Iterator

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
"""What JSON can hold."""

JsonObject: TypeAlias = "dict[str, JsonValue]"

_IN_PLACE_LISTS: Final = ("allOf", "anyOf", "oneOf")
_IN_PLACE: Final = ("then", "else")
_MOST_SCHEMAS: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """What a schema of arguments declares, `$ref`, `allOf`, `anyOf` and the like followed.

    Attributes:
        properties: The schema of each declared property, in the schema's order. A name that is
            only required is declared, too, or nothing could ever be called.
        required: The properties that must always be there.
        patterns: The patterns whose names are declared too (`patternProperties`).
        is_open: Whether other properties are let in. Source: NIT 2, section 6.
    """

    properties: dict[str, JsonValue]
    required: frozenset[str]
    patterns: tuple[str, ...]
    is_open: bool

    def accepts(self, name: str) -> bool:
        """Whether an argument of this name is known to the schema or let in by it."""
        if name in self.properties or self.is_open:
            return True
        return any(_matches(pattern, name) for pattern in self.patterns)


def declared_parameters(schema: JsonObject) -> Declared:
    """Read what an object schema declares; never raises, whatever the schema holds."""
    properties: dict[str, JsonValue] = {}
    required: dict[str, None] = {}
    patterns: dict[str, None] = {}
    mentioned: dict[str, None] = {}
    declares_properties = False
    says_open = False
    says_closed = False
    for node, always in _in_place(schema):
        match node.get("properties"):
            case dict() as found:
                declares_properties = True
                for name, value in found.items():
                    properties.setdefault(name, value)
            case _:
                pass
        mentioned.update(dict.fromkeys(_asked_for(node)))
        if always:
            required.update(dict.fromkeys(_texts(node.get("required"))))
        match node.get("patternProperties"):
            case dict() as found:
                patterns.update((pattern, None) for pattern in found)
            case _:
                pass
        for keyword in ("additionalProperties", "unevaluatedProperties"):
            if keyword in node:
                says_closed = says_closed or node[keyword] is False
                says_open = says_open or node[keyword] is not False
    is_open = says_open if says_open or says_closed else not (declares_properties or patterns)
    is_open = is_open and not (says_closed and not properties)
    others = schema.get("additionalProperties")
    for name in mentioned:
        if name not in properties and not any(_matches(pattern, name) for pattern in patterns):
            properties[name] = others if isinstance(others, dict) else {}
    return Declared(
        properties=properties,
        required=frozenset(required),
        patterns=tuple(patterns),
        is_open=is_open,
    )


def _asked_for(node: JsonObject) -> Iterator[str]:
    """The names that a schema says must be there, always or beside another."""
    yield from _texts(node.get("required"))
    for keyword in ("dependentRequired", "dependencies"):
        match node.get(keyword):
            case dict() as needs:
                for names in needs.values():
                    yield from _texts(names)
            case _:
                pass


def _texts(names: JsonValue) -> list[str]:
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def resolve_reference(root: JsonValue, reference: JsonValue) -> JsonValue:
    """Return the schema that a `$ref` inside `root` names, or `None` where it is not in there.

    Read are JSON pointers, `$anchor` and `$id` (relative to the root's), never anything outside.
    """
    if not isinstance(reference, str) or not isinstance(root, dict):
        return None
    if reference == "#":
        return root
    if reference.startswith("#/"):
        return _at_pointer(root, reference[1:])
    return _at_address(root, reference)


def _at_address(root: JsonObject, reference: str) -> JsonValue:
    from urllib.parse import urldefrag, urljoin  # noqa: PLC0415 - few schemas have addresses

    base = root.get("$id", root.get("id"))
    base = base if isinstance(base, str) else ""
    address, fragment = urldefrag(urljoin(base, reference))
    start: JsonValue = root if address == urldefrag(base)[0] else None
    if start is None:
        start = next(
            (
                node
                for node in _walk(root)
                if isinstance(name := node.get("$id"), str)
                and urldefrag(urljoin(base, name))[0] == address
            ),
            None,
        )
    if start is None or not fragment:
        return start
    if fragment.startswith("/"):
        return _at_pointer(start, fragment)
    return next(
        (
            node
            for node in _walk(start)
            if fragment in (node.get("$anchor"), node.get("$dynamicAnchor"))
            or node.get("$id") == f"#{fragment}"
        ),
        None,
    )


def _in_place(schema: JsonObject) -> Iterator[tuple[JsonObject, bool]]:
    # The schemas that apply to the same object, each with whether it always does.
    pending: list[tuple[JsonValue, bool]] = [(schema, True)]
    seen: set[int] = set()
    while pending and len(seen) < _MOST_SCHEMAS:
        node, always = pending.pop(0)
        if not isinstance(node, dict) or id(node) in seen:
            continue
        seen.add(id(node))
        yield node, always
        if "$ref" in node:
            pending.append((resolve_reference(schema, node["$ref"]), always))
        for keyword in _IN_PLACE_LISTS:
            match node.get(keyword):
                case list() as members:
                    sure = always and (keyword == "allOf" or len(members) == 1)
                    pending.extend((member, sure) for member in members)
                case _:
                    pass
        pending.extend((node[keyword], False) for keyword in _IN_PLACE if keyword in node)
        match node.get("dependentSchemas"):
            case dict() as found:
                pending.extend((member, False) for member in found.values())
            case _:
                pass


def _at_pointer(start: JsonValue, pointer: str) -> JsonValue:
    if "%" in pointer:
        from urllib.parse import unquote  # noqa: PLC0415 - few schemas have such names

        pointer = unquote(pointer)
    value = start
    for raw in pointer.split("/")[1:]:
        key = raw.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list) and key.isascii() and key.isdigit() and int(key) < len(value):
            value = value[int(key)]
        else:
            return None
    return value


def _walk(root: JsonValue) -> Iterator[JsonObject]:
    pending = [root]
    seen: set[int] = set()
    while pending and len(seen) < _MOST_SCHEMAS:
        node = pending.pop()
        if id(node) in seen or not isinstance(node, dict | list):
            continue
        seen.add(id(node))
        if isinstance(node, dict):
            yield node
            pending.extend(node.values())
        else:
            pending.extend(node)


def _matches(pattern: str, name: str) -> bool:
    try:
        return re.search(pattern, name) is not None
    except re.error:
        # The pattern is written for another engine: the validator will decide.
        return True


def as_object(value: object) -> JsonObject | None:
    """Return the value as a JSON object if it is a `dict`, else `None`."""
    return cast("JsonObject", value) if isinstance(value, dict) else None
