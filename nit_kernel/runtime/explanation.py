"""Why arguments do not fit: down the schema to the one place that is wrong.

The validator only says yes or no here, and what is wrong with a single value, its parts aside. Its
own account of a union inside a union may be endless; this one takes one way down.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol, cast

from nit_kernel.language.names import either
from nit_kernel.language.shapes import kind_of
from nit_kernel.runtime.conversion import JSON_KINDS, Fits
from nit_kernel.runtime.misfit import (
    CoercionError,
    from_validation,
    misfit,
    one_of,
    wanted_types,
)

if TYPE_CHECKING:
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
        "dependencies",
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
        for member in members:
            if not self._fits(member, value):
                return self.of(member, value, keys)
        return None

    def _union(self, node: SchemaNode, value: object, keys: list[object]) -> CoercionError | None:
        for schemas, is_exclusive in node.unions:
            members = [node.child(schema) for schema in schemas]
            fitting = [member for member in members if self._fits(member, value)]
            if fitting and not (is_exclusive and len(fitting) > 1):
                continue
            if fitting:
                return misfit("a value that fits only one of the allowed forms", value, keys)
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
        rule = next((text for keyword, text in _RULES.items() if keyword in node.keywords), None)
        return misfit(rule or "another value", value, keys)


def _alone(schema: JsonObject) -> JsonObject:
    """Return what a schema says of a value whose parts are all right."""
    alone: JsonObject = {key: value for key, value in schema.items() if key not in _NOT_ALONE}
    for keyword in ("properties", "patternProperties"):
        names = schema.get(keyword)
        if isinstance(names, dict):
            alone[keyword] = dict.fromkeys(names, True)
    if alone.get("additionalProperties", True) is not False:
        alone.pop("additionalProperties", None)
    prefix = schema.get("prefixItems")
    if schema.get("items") is False and isinstance(prefix, list):
        alone["maxItems"] = len(prefix)
    return alone


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
    found = False
    for name, item in value.items():
        for member in node.members(name):
            choices = _target(member).choices
            if choices is not None and isinstance(item, str):
                if item not in choices:
                    return False
                found = True
    return found


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
