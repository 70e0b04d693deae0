"""Why arguments do not fit: down the schema to the one place that is wrong.

The validator only says yes or no here, and what is wrong with a single value, its parts aside. Its
own account of a union inside a union may be endless; this one takes one way down.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol, cast

from nit_kernel.language.names import either
from nit_kernel.language.shapes import kind_of
from nit_kernel.runtime.conversion import JSON_KINDS, Fits
from nit_kernel.runtime.exact import is_no_integer
from nit_kernel.runtime.misfit import (
    CoercionError,
    from_validation,
    misfit,
    one_of,
    unknown_keys,
    wanted_types,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from jsonschema_rs import ValidationError

    from nit_kernel.language.parameters import JsonObject
    from nit_kernel.runtime.schema_nodes import SchemaNode

_LONGEST_CHAIN: Final = 16
# Keywords about the parts of a value, or other schemas for it.
_NOT_ALONE: Final = frozenset(
    {
        "$ref",
        "$dynamicRef",
        "$recursiveRef",
        "$defs",
        "definitions",
        "$id",
        "id",
        "$anchor",
        "$schema",
        "allOf",
        "anyOf",
        "oneOf",
        "not",
        "if",
        "then",
        "else",
        "contains",
        "minContains",
        "maxContains",
        "propertyNames",
        "dependentSchemas",
        "unevaluatedItems",
        "unevaluatedProperties",
        "items",
        "additionalItems",
        "prefixItems",
    }
)
_RULES: Final = {
    "not": "a value that the schema does not rule out",
    "contains": "an item of the kind that the schema asks for",
    "unevaluatedItems": "fewer items",
    "unevaluatedProperties": "fewer keys",
}

_TIMES: Final = {
    "date-time": ("date and time", "2024-03-01T12:00:00"),
    "date": ("date", "2024-03-01"),
    "time": ("time", "12:00:00"),
}


class Check(Protocol):
    """The first thing that is wrong with a value by a schema of its own, or `None`."""

    def __call__(self, schema: JsonObject, value: object, /) -> ValidationError | None: ...


class Explanation:
    """Finds the one place in some arguments that is to be told of.

    Args:
        fits: Whether a value is right for a node.
        check: What is wrong with a value by a schema that refers to nothing else.
    """

    def __init__(self, fits: Fits, check: Check) -> None:
        self._fits = fits
        self._check = check

    def of(self, node: SchemaNode, value: object, keys: list[object]) -> CoercionError:
        """Return what is wrong with a value that does not fit its node."""
        if node.schema is False:
            return misfit("nothing here", value, keys)
        return (
            self._alone(node, value, keys)
            or self._parts(node, value, keys)
            or self._other_schemas(node, value, keys)
            or self._union(node, value, keys)
            or self._rule(node, value, keys)
        )

    def _alone(self, node: SchemaNode, value: object, keys: list[object]) -> CoercionError | None:
        if is_no_integer(node.types, value):
            return misfit(wanted_types(node.types), value, keys)
        if node.time_format is not None and isinstance(value, int | float):
            what, example = _TIMES[node.time_format]
            hint = f'write it like `"{example}"`'
            return misfit(f"a {what} as text", value, keys, hint)
        schema = _alone(cast("JsonObject", node.schema))
        error = self._check(schema, value)
        if error is None:
            return None
        known = schema.get("properties")
        return from_validation(error, value, keys, list(known) if isinstance(known, dict) else [])

    def _parts(self, node: SchemaNode, value: object, keys: list[object]) -> CoercionError | None:
        kind = type(value)
        if kind is dict:
            for name, item in cast("dict[str, object]", value).items():
                for wanted in node.members(name):
                    if not self._fits(wanted, item):
                        return self.of(wanted, item, [*keys, name])
        elif kind is list:
            for index, item in enumerate(cast("list[object]", value)):
                wanted = node.item(index)
                if wanted is not None and not self._fits(wanted, item):
                    return self.of(wanted, item, [*keys, index])
        return None

    def _other_schemas(
        self, node: SchemaNode, value: object, keys: list[object]
    ) -> CoercionError | None:
        for member in self._applied(node, value):
            if not self._fits(member, value):
                return self.of(member, value, keys)
        return None

    def _applied(self, node: SchemaNode, value: object) -> list[SchemaNode]:
        """The other schemas that a value has to fit, unions aside."""
        members = [node.child(member) for member in node.all_of]
        reference = node.reference
        if reference is not None:
            members.append(reference)
        condition = node.branch("if")
        if condition is not None:
            branch = node.branch("then" if self._fits(condition, value) else "else")
            members.extend([branch] if branch is not None else [])
        if kind_of(value) == "Object":
            members.extend(node.dependents(cast("dict[str, object]", value)))
        return members

    def _union(self, node: SchemaNode, value: object, keys: list[object]) -> CoercionError | None:
        for schemas, is_exclusive in node.unions:
            members = [node.child(schema) for schema in schemas]
            fitting = [member for member in members if self._fits(member, value)]
            if fitting and not (is_exclusive and len(fitting) > 1):
                continue
            if fitting:
                return misfit("a value that fits only one of the allowed forms", value, keys)
            tag = _wrong_tag(members, value)
            if tag is not None:
                name, options = tag
                item = cast("dict[str, object]", value)[name]
                return misfit(one_of(options, item), item, [*keys, name])
            meant = _meant(members, value)
            if meant is not None:
                return self.of(meant, value, keys)
            return misfit(_wanted(node, value), value, keys)
        return None

    def _rule(self, node: SchemaNode, value: object, keys: list[object]) -> CoercionError:
        names = node.branch("propertyNames")
        if names is not None and kind_of(value) == "Object":
            for name in cast("dict[str, object]", value):
                if not self._fits(names, name):
                    return misfit(f"other keys than {name!r}", value, keys)
        others = node.branch("unevaluatedProperties")
        if others is not None and kind_of(value) == "Object":
            held = cast("dict[str, object]", value)
            seers = self._seers(node, held)
            unseen = [name for name in held if not any(seer.members(name) for seer in seers)]
            if unseen and others.schema is False:
                known = [name for seer in seers for name in seer.properties]
                return unknown_keys(unseen, list(dict.fromkeys(known)), keys)
            for name in unseen:
                if not self._fits(others, held[name]):
                    return self.of(others, held[name], [*keys, name])
        rule = next((text for keyword, text in _RULES.items() if keyword in node.keywords), None)
        return misfit(rule or "another value", value, keys)

    def _seers(self, node: SchemaNode, value: dict[str, object]) -> list[SchemaNode]:
        """The schemas whose say on the keys of an object counts for `unevaluatedProperties`."""
        found: dict[int, SchemaNode] = {}
        pending = [node]
        while pending:
            seer = pending.pop(0)
            if id(seer) in found:
                continue
            found[id(seer)] = seer
            condition = seer.branch("if")
            tried = [] if condition is None else [condition]
            tried += [seer.child(schema) for schemas, _ in seer.unions for schema in schemas]
            pending.extend(member for member in tried if self._fits(member, value))
            pending.extend(self._applied(seer, value))
        return list(found.values())


def _alone(schema: JsonObject) -> JsonObject:
    """Return what a schema says of a value whose parts are all right."""
    alone: JsonObject = {key: value for key, value in schema.items() if key not in _NOT_ALONE}
    for keyword in ("properties", "patternProperties"):
        names = schema.get(keyword)
        if isinstance(names, dict):
            alone[keyword] = {name: {} for name in names}  # draft 4 knows no `true`
    if alone.get("additionalProperties", True) is not False:
        alone.pop("additionalProperties", None)
    needs = schema.get("dependencies")
    if isinstance(needs, dict):
        alone["dependencies"] = {k: names for k, names in needs.items() if isinstance(names, list)}
    prefix = schema.get("prefixItems")
    if schema.get("items") is False and isinstance(prefix, list):
        alone["maxItems"] = len(prefix)
    return alone


def _wrong_tag(members: list[SchemaNode], value: object) -> tuple[str, list[object]] | None:
    """The key by which the members of a union are told apart, where its value is of none of them.

    Returns:
        The key and the values that it may have, or `None`.
    """
    if not isinstance(value, dict):
        return None
    shapes = [m for m in _shapes(members, 0) if _is_of_type(m, cast("object", value))]
    for name, item in cast("dict[str, object]", value).items():
        choices = [_choices(shape, name) for shape in shapes]
        if len(choices) > 1 and all(c is not None and _is_none_of(c, item) for c in choices):
            options: list[object] = []
            for option in (option for c in choices for option in c or ()):
                options.extend([option] if _is_none_of(options, option) else [])
            return name, options
    return None


def _shapes(members: list[SchemaNode], depth: int) -> Iterator[SchemaNode]:
    for member in map(_target, members):
        inner = [member.child(schema) for schemas, _ in member.unions for schema in schemas]
        if inner and depth < _LONGEST_CHAIN and "properties" not in member.keywords:
            yield from _shapes(inner, depth + 1)
        else:
            yield member


def _choices(node: SchemaNode, name: str) -> Sequence[object] | None:
    found = [_target(member).choices for member in node.members(name)]
    return next((choices for choices in found if choices is not None), None)


def _is_none_of(choices: Sequence[object], item: object) -> bool:
    is_flag = isinstance(item, bool)
    return all(isinstance(c, bool) is not is_flag or c != item for c in choices)


def _meant(members: list[SchemaNode], value: object) -> SchemaNode | None:
    """The member of a union that the value was most likely meant to be, if one is of its type."""
    meant = [member for member in members if _is_of_type(_target(member), value)]
    if isinstance(value, dict) and len(meant) > 1:
        held = cast("dict[str, object]", value)
        tagged = [member for member in meant if _has_tags(_target(member), held)]
        meant = tagged or meant
        if len(meant) > 1:
            complete = [m for m in meant if _target(m).required <= held.keys()]
            meant = complete if len(complete) == 1 else meant
    return meant[0] if meant else None


def _target(node: SchemaNode) -> SchemaNode:
    for _ in range(_LONGEST_CHAIN):
        reference = node.reference
        if reference is None:
            break
        node = reference
    return node


def _is_of_type(node: SchemaNode, value: object) -> bool:
    if node.choices is not None or node.schema is False:
        return False
    kinds = JSON_KINDS.get(type(value), ())
    return not node.types or any(kind in node.types for kind in kinds)


def _has_tags(node: SchemaNode, value: dict[str, object]) -> bool:
    tags = [(choices, value[name]) for name in value if (choices := _choices(node, name))]
    return bool(tags) and not any(_is_none_of(choices, item) for choices, item in tags)


def _wanted(node: SchemaNode, value: object, depth: int = 0) -> str:
    """Say in a few words what a node takes."""
    if depth > _LONGEST_CHAIN:
        return "another value"
    if node.choices is not None:
        return one_of(node.choices, value)
    if node.types:
        return wanted_types(node.types)
    reference = node.reference
    if reference is not None:
        return _wanted(reference, value, depth + 1)
    for schemas, _ in node.unions:
        texts = [_wanted(node.child(schema), value, depth + 1) for schema in schemas]
        return either(list(dict.fromkeys(texts)))
    for member in node.all_of:
        return _wanted(node.child(member), value, depth + 1)
    is_object = "properties" in node.keywords or "required" in node.keywords
    return "object" if is_object and kind_of(value) != "Object" else "another value"
