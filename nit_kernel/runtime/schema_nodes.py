"""A JSON Schema as conversion reads it: one node a subschema, its children found when needed.

Only what decides a conversion is read here. Whether a value is right in the end is the
validator's word alone.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, cast

from nit_kernel.language.parameters import resolve_reference
from nit_kernel.language.shapes import DEEPEST_VALUE, SCALARS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nit_kernel.language.parameters import JsonObject, JsonValue

PYTHON_TYPES: Final[dict[str, frozenset[type]]] = {
    "string": frozenset({str}),
    "integer": frozenset({int}),
    "number": frozenset({int, float}),
    "boolean": frozenset({bool}),
    "array": frozenset({list}),
    "object": frozenset({dict}),
    "null": frozenset({type(None)}),
}
"""The exact Python types whose every value is of a JSON type."""

_TIME_FORMATS: Final = ("date-time", "date", "time")
EVERY_TYPE: Final = tuple(PYTHON_TYPES)

_LONGEST_CHAIN: Final = 16
_APPLICATORS: Final = frozenset(
    {"$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "if", "then", "else"}
)
_LOOKS_AT_THE_WHOLE: Final = frozenset(
    {
        "$dynamicRef",
        "$recursiveRef",
        "anyOf",
        "oneOf",
        "not",
        "if",
        "enum",
        "const",
        "contains",
        "uniqueItems",
        "propertyNames",
        "dependencies",
        "dependentSchemas",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
_ASSERTIONS: Final = frozenset(
    {
        "type",
        "multipleOf",
        "maximum",
        "exclusiveMaximum",
        "minimum",
        "exclusiveMinimum",
        "maxLength",
        "minLength",
        "pattern",
        "items",
        "prefixItems",
        "additionalItems",
        "maxContains",
        "minContains",
        "maxItems",
        "minItems",
        "maxProperties",
        "minProperties",
        "required",
        "properties",
        "patternProperties",
        "additionalProperties",
        "dependentRequired",
    }
)
CONSTRAINTS: Final = _APPLICATORS | _LOOKS_AT_THE_WHOLE | _ASSERTIONS
"""The keywords that can keep a value out; all others are notes."""

# Constraints that let everything through.
_EMPTY: Final[dict[str, tuple[JsonValue, ...]]] = {
    "items": (True, {}),
    "additionalItems": (True, {}),
    "additionalProperties": (True, {}),
    "unevaluatedItems": (True, {}),
    "unevaluatedProperties": (True, {}),
    "properties": ({},),
    "patternProperties": ({},),
    "required": ([],),
    "uniqueItems": (False,),
    "minItems": (0,),
    "minLength": (0,),
    "minProperties": (0,),
}


class SchemaTree:
    """All nodes of one schema document, made on demand."""

    def __init__(self, root: JsonObject) -> None:
        self.root: Final = root
        self._nodes: dict[int, SchemaNode] = {}
        self._pointers: dict[int, str] | None = None
        # Schemas made here must live as long as their ids are keys.
        self._made: list[JsonValue] = []

    def node(self, schema: JsonValue) -> SchemaNode:
        """Return the node of a subschema, always the same one."""
        key = id(schema)
        node = self._nodes.get(key)
        if node is None:
            node = self._nodes[key] = SchemaNode(self, schema)
            self._made.append(schema)
        return node

    def resolve(self, reference: JsonValue) -> SchemaNode | None:
        """Return the node that a `$ref` names, or `None` where it is not in the document."""
        target = resolve_reference(self.root, reference)
        return None if target is None else self.node(target)

    def pointer(self, schema: JsonValue) -> str | None:
        """Return the JSON pointer of a subschema of the document, as a URI fragment."""
        if self._pointers is None:
            self._pointers = _index(self.root)
        return self._pointers.get(id(schema))


class SchemaNode:
    """One subschema.

    Attributes:
        schema: The subschema, `True` or `False` included.
        types: The JSON types that it allows by `type`; empty where it has no `type`.
        leaf: The exact Python types whose every value fits, as far as types alone decide it;
            `None` where they do not.
        keywords: The keywords that let not everything through.
        time_format: The `format` of text that says a date or time, `None` of other schemas.
        is_free: Whether every value fits.
        looks_at_whole: Whether some keyword looks into values that conversion does not walk.
        is_assertive: Whether it asserts something itself, applied subschemas aside.
    """

    __slots__ = (
        "_folded",
        "_patterns",
        "_properties",
        "_tree",
        "all_of",
        "choices",
        "is_assertive",
        "is_free",
        "is_text",
        "items_schema",
        "keywords",
        "leaf",
        "looks_at_whole",
        "prefix",
        "schema",
        "singles",
        "time_format",
        "types",
        "unions",
    )

    def __init__(self, tree: SchemaTree, schema: JsonValue) -> None:
        self._tree = tree
        self.schema: Final = schema
        held: JsonObject = schema if isinstance(schema, dict) else {}
        self.types: tuple[str, ...] = _types(held.get("type"))
        self.choices: list[JsonValue] | None = _choices(held)
        time_format = held.get("format")
        self.time_format: str | None = time_format if time_format in _TIME_FORMATS else None
        self.is_text: bool = held.get("x-nit-text") is True
        written = {key for key in held if key in CONSTRAINTS}
        keywords = {key for key in written if not _is_empty(key, held[key])}
        self.keywords: frozenset[str] = frozenset(keywords)
        self.is_free: bool = schema is not False and not keywords
        self.looks_at_whole: bool = not keywords.isdisjoint(_LOOKS_AT_THE_WHOLE)
        self.is_assertive: bool = schema is False or not keywords <= _APPLICATORS
        self.all_of: list[JsonValue] = _list(held.get("allOf"))
        self.unions: list[tuple[list[JsonValue], bool]] = [
            (members, key == "oneOf")
            for key in ("anyOf", "oneOf")
            if (members := _list(held.get(key)))
        ]
        items = held.get("items")
        prefix = held.get("prefixItems")
        if isinstance(items, list):  # before draft 2020-12
            prefix, items = items, held.get("additionalItems")
        self.prefix: list[JsonValue] = _list(prefix)
        self.items_schema: JsonValue = items
        self.leaf: frozenset[type] | None = self._leaf(keywords)
        if len(self.types) > 1 and self.leaf is None:
            self.looks_at_whole = True
        self.singles: dict[str, SchemaNode] | None = None
        self._properties: dict[str, tuple[SchemaNode, ...]] = {}
        self._patterns: list[tuple[re.Pattern[str] | None, JsonValue]] | None = None
        self._folded: dict[str, list[str]] | None = None

    @property
    def reference(self) -> SchemaNode | None:
        """The node behind `$ref`, if it has one that is in the document."""
        if isinstance(self.schema, dict) and "$ref" in self.schema:
            return self._tree.resolve(self.schema["$ref"])
        return None

    @property
    def is_choice(self) -> bool:
        """Whether it allows certain values only (`enum`, `const`), itself or by reference."""
        node: SchemaNode | None = self
        for _ in range(_LONGEST_CHAIN):
            if node is None or node.choices is not None:
                break
            node = node.reference
        return node is not None and node.choices is not None

    @property
    def items(self) -> SchemaNode | None:
        """The node of the items after the prefix."""
        return None if self.items_schema is None else self._tree.node(self.items_schema)

    def item(self, index: int) -> SchemaNode | None:
        """Return the node of one item of an array."""
        schema = self.prefix[index] if index < len(self.prefix) else self.items_schema
        return None if schema is None else self._tree.node(schema)

    @property
    def required(self) -> frozenset[str]:
        """The members that an object must have, as far as it says so itself."""
        names = self.schema.get("required") if isinstance(self.schema, dict) else None
        return frozenset(name for name in _list(names) if isinstance(name, str))

    @property
    def properties(self) -> tuple[str, ...]:
        """The members that an object is said to have, as far as it says so itself."""
        names = self.schema.get("properties") if isinstance(self.schema, dict) else None
        return tuple(names) if isinstance(names, dict) else ()

    def dependents(self, names: Iterable[str]) -> list[SchemaNode]:
        """Return the nodes that apply to an object because it has certain members."""
        held = self.schema if isinstance(self.schema, dict) else {}
        found: list[SchemaNode] = []
        for keyword in ("dependentSchemas", "dependencies"):
            match held.get(keyword):
                case dict() as schemas:
                    wanted = [schemas[name] for name in names if name in schemas]
                    found.extend(self._tree.node(s) for s in wanted if isinstance(s, dict | bool))
                case _:
                    pass
        return found

    @property
    def has_members(self) -> bool:
        """Whether conversion looks at the members of an object, or at least at its keys."""
        return isinstance(self.schema, dict) and self.leaf is None

    def child(self, schema: JsonValue) -> SchemaNode:
        """Return the node of one of its subschemas."""
        return self._tree.node(schema)

    def branch(self, keyword: str) -> SchemaNode | None:
        """Return the node of a keyword whose value is one subschema."""
        if isinstance(self.schema, dict) and keyword in self.schema:
            return self._tree.node(self.schema[keyword])
        return None

    def single(self, kind: str) -> SchemaNode:
        """Return the same node with only one of its types."""
        if self.singles is None:
            self.singles = {}
        node = self.singles.get(kind)
        if node is None:
            schema = {**cast("JsonObject", self.schema), "type": kind}
            node = self.singles[kind] = SchemaNode(self._tree, schema)
        return node

    def members(self, key: str) -> tuple[SchemaNode, ...]:
        """Return the nodes that apply to the member `key` of an object."""
        nodes = self._properties.get(key)
        if nodes is None:
            nodes = self._find_members(key)
            if len(self._properties) < 1_000:
                self._properties[key] = nodes
        return nodes

    def folded(self, text: str) -> list[str]:
        """Return the allowed texts that differ from `text` in case and outer blanks at most."""
        if self._folded is None:
            self._folded = {}
            for choice in self.choices or ():
                if isinstance(choice, str):
                    same = self._folded.setdefault(choice.strip().casefold(), [])
                    if choice not in same:
                        same.append(choice)
        return self._folded.get(text.strip().casefold(), [])

    def _find_members(self, key: str) -> tuple[SchemaNode, ...]:
        if not isinstance(self.schema, dict):
            return ()
        found: list[SchemaNode] = []
        match self.schema.get("properties"):
            case dict() as properties if key in properties:
                found.append(self._tree.node(properties[key]))
            case _:
                pass
        if self._patterns is None:
            self._patterns = _patterns(self.schema.get("patternProperties"))
        found.extend(
            self._tree.node(schema)
            for pattern, schema in self._patterns
            if pattern is not None and pattern.search(key)
        )
        if not found and "additionalProperties" in self.schema:
            found.append(self._tree.node(self.schema["additionalProperties"]))
        return tuple(found)

    def _leaf(self, keywords: set[str]) -> frozenset[type] | None:
        if self.is_free:
            return _EVERYTHING
        if keywords == {"type"}:
            return frozenset(kind for name in self.types for kind in PYTHON_TYPES.get(name, ()))
        if keywords == {"anyOf"}:
            leaves = [self._tree.node(member).leaf for member in self.unions[0][0]]
            if any(leaf is _EVERYTHING for leaf in leaves):
                return _EVERYTHING
            if all(leaf is not None for leaf in leaves):
                return frozenset(kind for leaf in leaves for kind in leaf or ())
        return None


def without_free(node: SchemaNode, value: object, depth: int = 0) -> object:
    """Return the value without what stands where every value fits, which may be no JSON at all.

    A validator that looks at a whole object (`additionalProperties`) cannot read a DataFrame in it.
    """
    if not isinstance(value, dict) or depth > DEEPEST_VALUE:
        return cast("object", value)
    held = cast("dict[str, object]", value)
    if node.looks_at_whole or node.all_of or node.unions:
        return held
    seen: dict[str, object] = {}
    for key, member in held.items():
        nodes = node.members(key) if type(member) not in SCALARS else ()
        if nodes and all(n.is_free for n in nodes):
            seen[key] = None
        else:
            seen[key] = without_free(nodes[0], member, depth + 1) if len(nodes) == 1 else member
    return seen if any(seen[key] is not member for key, member in held.items()) else held


class _Everything(frozenset[type]):
    def __contains__(self, kind: object) -> bool:
        return True

    def issuperset(self, other: object) -> bool:  # pyright: ignore[reportIncompatibleMethodOverride]
        return True


_EVERYTHING: Final = _Everything()


def _types(value: JsonValue) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    return tuple(kind for kind in _list(value) if isinstance(kind, str))


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


def _choices(schema: JsonObject) -> list[JsonValue] | None:
    if "const" in schema:
        return [schema["const"]]
    choices = schema.get("enum")
    return choices if isinstance(choices, list) else None


def _is_empty(keyword: str, value: JsonValue) -> bool:
    return any(
        value is empty or (type(value) is type(empty) and value == empty)
        for empty in _EMPTY.get(keyword, ())
    )


def _patterns(value: JsonValue) -> list[tuple[re.Pattern[str] | None, JsonValue]]:
    if not isinstance(value, dict):
        return []
    found: list[tuple[re.Pattern[str] | None, JsonValue]] = []
    for pattern, schema in value.items():
        try:
            found.append((re.compile(pattern), schema))
        except re.error:
            # Written for another engine: the validator still applies it, conversion does not.
            found.append((None, schema))
    return found


def _index(root: JsonValue) -> dict[int, str]:
    pointers: dict[int, str] = {}
    pending: list[tuple[JsonValue, str]] = [(root, "#")]
    while pending:
        value, pointer = pending.pop()
        if not isinstance(value, dict | list) or id(value) in pointers:
            continue
        pointers[id(value)] = pointer
        parts = value.items() if isinstance(value, dict) else enumerate(value)
        pending.extend((part, f"{pointer}/{_escaped(str(key))}") for key, part in parts)
    return pointers


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
