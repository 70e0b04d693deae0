"""From what a script gives to what a tool's schema wants: conversion, then validation.

```
arguments ──fits()──> right as they are                    (well under a microsecond)
    │ no
    └─coerce()──> names ──> Conversion (conversion.py) ──> validator ──> new arguments
                                                              └──> CoercionError (misfit.py)
```
The only file that imports the JSON Schema packages: `jsonschema_rs` for every check, `jsonschema`
to say what is wrong with a schema. Both only when first needed: plain schemas need neither.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final, cast

from nit_kernel.config import Limits
from nit_kernel.language.json_form import to_json
from nit_kernel.language.parameters import Declared, declared_parameters
from nit_kernel.language.shapes import SCALARS, survey
from nit_kernel.runtime.conversion import Conversion, Place, check_size
from nit_kernel.runtime.exact import is_no_integer, without_spelling
from nit_kernel.runtime.explanation import Explanation
from nit_kernel.runtime.misfit import (
    CoercionError,
    missing_argument,
    too_large,
    unknown_argument,
)
from nit_kernel.runtime.schema_form import (
    OLDER_DRAFTS,
    bad_schema,
    is_plain_schema,
    names_parameters_only,
    usable_schema,
)
from nit_kernel.runtime.schema_nodes import PYTHON_TYPES, SchemaNode, SchemaTree, without_free
from nit_kernel.runtime.validator_view import as_json, hollow

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import jsonschema_rs

    from nit_kernel.language.parameters import JsonObject, JsonValue

__all__ = ["Coercer", "CoercionError"]

_DEFAULT_LIMITS: Final = Limits()
_ADDRESS: Final = "nit:parameters"
_NO_TYPES: Final[frozenset[type]] = frozenset()
_JSON_TYPES: Final = SCALARS | {list, dict}
_KIND_TYPES: Final[dict[str, type]] = {
    "s": str,
    "i": int,
    "f": float,
    "b": bool,
    "n": type(None),
    "l": list,
    "d": dict,
}


class Coercer:
    """Converts and validates the arguments of one tool.

    Args:
        parameters: The JSON Schema of the arguments. It is copied.
        natives: For a parameter whose Python type JSON cannot express (a `datetime`, a model):
            whether a value that is no JSON is already of that type, and passes as it is.

    Raises:
        PluginError: The schema cannot be used: it is malformed, or refers to another document.
    """

    __slots__ = (
        "_by_types",
        "_by_types_else",
        "_is_plain",
        "_kinds",
        "_natives",
        "_registry",
        "_required",
        "_tree",
        "_validators",
        "_wants_integers",
        "declared",
        "has_joint_rules",
    )

    declared: Declared
    """What the schema declares."""
    has_joint_rules: bool
    """Whether arguments that are right one by one may be wrong together."""

    def __init__(
        self,
        parameters: JsonObject,
        *,
        natives: Mapping[str, Callable[[object], bool]] | None = None,
    ) -> None:
        schema = usable_schema(parameters)
        self._is_plain = is_plain_schema(schema)
        if not self._is_plain:
            _check(schema)
        self.declared = declared_parameters(schema)
        self._tree = SchemaTree(schema)
        self._natives = dict(natives or {})
        self._required = tuple(self.declared.required)
        self._registry: jsonschema_rs.Registry | None = None
        self._validators: dict[int, jsonschema_rs.Draft202012Validator] = {}
        self._wants_integers = "integer" in str(schema)
        self._kinds: dict[str, frozenset[str]] = {}
        # The types that decide alone: a value of one of these is right whatever else is given.
        self._by_types: dict[str, frozenset[type]] = {}
        # The same for an argument that the schema does not declare, where it lets any in.
        self._by_types_else = _NO_TYPES
        self.has_joint_rules = not names_parameters_only(schema)
        if not self.has_joint_rules:
            for name, node in self.declared.properties.items():
                leaf = self._tree.node(node).leaf
                self._by_types[name] = _NO_TYPES if leaf is None else leaf
            if self.declared.is_open and schema.get("additionalProperties", True) is True:
                self._by_types_else = _JSON_TYPES

    def fits(self, arguments: Mapping[str, object]) -> bool:
        """Whether the arguments are right as they are, as far as can be told at once.

        `False` means that `coerce` has to look.
        """
        by_types, otherwise = self._by_types, self._by_types_else
        for name, value in arguments.items():
            if type(value) not in by_types.get(name, otherwise):
                return False if self._is_plain else self._is_valid_scalars(arguments)
        for name in self._required:
            if name not in arguments:
                return False
        return self._is_plain or bool(by_types)

    def guards(
        self, names: Sequence[str | None], kinds: str
    ) -> tuple[tuple[str, frozenset[type]], ...] | None:
        """What of `fits` the run has to ask of all calls that look alike.

        Args:
            names: The exact parameter of each argument, `None` for one that is not passed on.
            kinds: A letter of `Shape.kinds` for each.

        Returns:
            The parameters that get what only the run knows, each with the types that are right;
            `None` where `fits` has to look at every call.
        """
        by_types = self._by_types
        if not (self._is_plain or by_types) or not self.declared.required.issubset(names):
            return None
        found: list[tuple[str, frozenset[type]]] = []
        for name, kind in zip(names, kinds, strict=True):
            if name is None:
                continue
            types = by_types.get(name, self._by_types_else)
            if kind == "?" and types:
                found.append((name, types))
            elif _KIND_TYPES.get(kind) not in types:
                return None
        return tuple(found)

    def coerce(
        self,
        arguments: Mapping[str, object],
        limits: Limits = _DEFAULT_LIMITS,
        spelled: Callable[[], Mapping[str, object]] | None = None,
    ) -> dict[str, object]:
        """Return the arguments as the tool's schema wants them.

        Args:
            arguments: Values by exact parameter name.
            limits: How much may be looked at.
            spelled: Gives the same arguments with each number and boolean literal as a
                `LiteralValue`; called only where the spelling of one matters.

        Returns:
            A new dict, in the order of `arguments`; values that are right already are the same
            objects. A null for an optional parameter that does not take null is left out.

        Raises:
            CoercionError: An argument is unknown, missing, does not fit, or is too large to check.
        """
        given = self._named(arguments)
        try:
            return self._converted(given, limits, spelled)
        except RecursionError:
            raise too_large("the arguments nest too deep to be checked", ()) from None

    def accepts_kind(self, parameter: str, kind: str) -> bool:
        """Whether every literal of a kind is right for a parameter, whatever it says.

        Args:
            parameter: The exact name.
            kind: A letter of `Shape.kinds`; `?` is always accepted, since only the run knows.

        Returns:
            `False` where `coerce_literal` has to look at the literal.
        """
        kinds = self._kinds.get(parameter)
        if kinds is None:
            kinds = self._kinds[parameter] = self._find_kinds(parameter)
        return kind in kinds

    def coerce_literal(
        self, parameter: str, value: object, limits: Limits = _DEFAULT_LIMITS
    ) -> object:
        """Return the literal as it will be given to the tool, `None` where it is left out.

        Args:
            parameter: The exact name.
            value: The literal, numbers and booleans in it as `LiteralValue`.
            limits: How much may be looked at.

        Raises:
            CoercionError: The literal can never be right for the parameter.
        """
        try:
            plain = without_spelling(value)
            if self._is_left_out(parameter, plain):
                return None
            nodes = self._nodes_of(parameter)
            is_settled = type(plain) in SCALARS and type(plain) is not float
            if is_settled and nodes and all(self._fits(node, plain) for node in nodes):
                return plain
            spelled = {parameter: value}
            conversion = Conversion(self._fits, limits, spelled=lambda: spelled, guarded=False)
            made = self._walk(conversion, {parameter: plain})
            for node in nodes:
                self._refuse_misfit(node, made[parameter], [parameter])
        except RecursionError:
            raise too_large("nests too deep to be checked", (parameter,)) from None
        return made[parameter]

    def why_not(self, parameter: str, value: object) -> CoercionError | None:
        """Return why a literal can never be right for a parameter, `None` if it may be."""
        try:
            self.coerce_literal(parameter, value)
        except CoercionError as error:
            return error
        return None

    def why_not_together(self, literals: Mapping[str, object]) -> CoercionError | None:
        """Return why literals that are all the arguments of a call are wrong, if they are."""
        plain = {name: without_spelling(value) for name, value in literals.items()}
        try:
            self.coerce(plain, spelled=lambda: literals)
        except CoercionError as error:
            return error
        return None

    # Names

    def _named(self, arguments: Mapping[str, object]) -> dict[str, object]:
        declared = self.declared
        for name in arguments:
            if not declared.accepts(name):
                raise unknown_argument(name, list(declared.properties))
        given = {
            name: value
            for name, value in arguments.items()
            if value is not None or not self._is_left_out(name, value)
        }
        for name in (*declared.properties, *self._required):
            if name in declared.required and name not in given:
                raise missing_argument(name)
        return given

    def _is_left_out(self, name: str, value: object) -> bool:
        # Null for an optional parameter that does not take null. Source: NIT 2, section 7.
        if value is not None or name in self.declared.required:
            return False
        nodes = self._nodes_of(name)
        return bool(nodes) and not all(self._fits(node, None) for node in nodes)

    def _nodes_of(self, name: str) -> tuple[SchemaNode, ...]:
        if name in self.declared.properties:
            return (self._tree.node(self.declared.properties[name]),)
        return self._tree.node(self._tree.root).members(name)

    def _find_kinds(self, name: str) -> frozenset[str]:
        types = self._by_types.get(name, self._by_types_else)
        kinds = {letter for letter, kind in _KIND_TYPES.items() if kind in types}
        is_time = any(node.time_format is not None for node in self._nodes_of(name))
        if types == PYTHON_TYPES["string"] and not is_time:
            kinds |= set("ifb")
        if types and name not in self.declared.required:
            kinds.add("n")
        return frozenset(kinds | {"?"})

    # Values

    def _is_valid_scalars(self, arguments: Mapping[str, object]) -> bool:
        # Scalars, and lists of them, that the validator takes are right as they are; a float may
        # have to become an integer.
        properties = self.declared.properties
        for name, value in arguments.items():
            kind = type(value)
            if name not in properties:
                return False
            if kind not in SCALARS:
                items = cast("list[object]", value) if kind is list else None
                if items is None or not SCALARS.issuperset(map(type, items)):
                    return False
                if self._wants_integers and float in map(type, items):
                    return False
            elif kind is float and self._wants_integers:
                return False
        return _says_valid(self._validator(self._tree.node(self._tree.root)), arguments)

    def _converted(
        self,
        given: dict[str, object],
        limits: Limits,
        spelled: Callable[[], Mapping[str, object]] | None,
    ) -> dict[str, object]:
        types, guarded = self._look(given, limits)
        native = frozenset(
            name
            for name, is_native in self._natives.items()
            if name in given and not _JSON_TYPES.issuperset(types[name]) and is_native(given[name])
        )
        root = self._tree.node(self._tree.root)
        if not guarded and not native and self._is_right_already(given, types):
            return given
        if guarded and root.looks_at_whole:
            for name, value in given.items():
                check_size(value, limits, [name])
        conversion = Conversion(self._fits, limits, spelled=spelled, guarded=guarded)
        made = self._walk(conversion, {n: v for n, v in given.items() if n not in native})
        if native:
            for name, value in made.items():
                for node in self._nodes_of(name):
                    self._refuse_misfit(node, value, [name])
        else:
            self._refuse_misfit(root, made, [])
        return {name: given[name] if name in native else made[name] for name in given}

    def _walk(self, conversion: Conversion, arguments: dict[str, object]) -> dict[str, object]:
        root = self._tree.node(self._tree.root)
        return cast("dict[str, object]", conversion.convert(root, arguments, Place(None, None)))

    def _look(
        self, given: dict[str, object], limits: Limits
    ) -> tuple[dict[str, frozenset[type]], bool]:
        # The Python types inside each value, and whether some value is too much for a validator.
        types: dict[str, frozenset[type]] = {}
        guarded = False
        for name, value in given.items():
            if type(value) in SCALARS or all(node.is_free for node in self._nodes_of(name)):
                types[name] = frozenset((type(value),))
                continue
            size = survey(value, most_nodes=limits.value_nodes)
            types[name] = size.types or frozenset((object,))
            guarded = guarded or not size.is_walkable(limits.value_nodes)
        return types, guarded

    def _is_right_already(
        self, given: dict[str, object], types: dict[str, frozenset[type]]
    ) -> bool:
        if not all(map(_JSON_TYPES.issuperset, types.values())):
            return False
        if self._wants_integers and any(float in held for held in types.values()):
            return False
        return self._fits(self._tree.node(self._tree.root), given)

    def _fits(self, node: SchemaNode, value: object) -> bool:
        kind, leaf = type(value), node.leaf
        if node.is_free or (leaf is not None and kind in leaf):
            return True
        if leaf is not None and kind in _JSON_TYPES:
            # Types alone decide, and a whole float is an integer.
            return int in leaf and isinstance(value, float) and value.is_integer()
        if self._is_plain and node.schema is self._tree.root:
            return self.fits(cast("Mapping[str, object]", value))
        if node.schema is False or is_no_integer(node.types, value):
            return False
        return self._is_valid(node, value)

    def _is_valid(self, node: SchemaNode, value: object) -> bool:
        validator = self._validator(node)
        if _says_valid(validator, value):
            return True
        view = as_json(without_free(node, value))
        return view is not value and _says_valid(validator, view)

    def _refuse_misfit(self, node: SchemaNode, value: object, keys: list[object]) -> None:
        if not self._fits(node, value):
            # A part is of the draft that the whole is of.
            check = functools.partial(_first_error, self._tree.root.get("$schema"))
            raise Explanation(self._fits, check).of(node, value, keys)

    # Validators

    def _validator(self, node: SchemaNode) -> jsonschema_rs.Draft202012Validator:
        validator = self._validators.get(id(node.schema))
        if validator is None:
            validator = self._validators[id(node.schema)] = self._compile(node)
        return validator

    def _compile(self, node: SchemaNode) -> jsonschema_rs.Draft202012Validator:
        from urllib.parse import quote  # noqa: PLC0415

        import jsonschema_rs  # noqa: PLC0415 - 20 ms that plain schemas do not need

        if self._registry is None:
            resources: list[tuple[str, JsonValue]] = [(_ADDRESS, self._tree.root)]
            self._registry = jsonschema_rs.Registry(resources, retriever=_refuse_to_fetch)
        pointer = self._tree.pointer(node.schema) or "#"
        reference = f"{_ADDRESS}#{quote(pointer[1:], safe='/~')}"
        return jsonschema_rs.Draft202012Validator(
            {"$ref": reference}, registry=self._registry, offline=True, validate_formats=False
        )


def _check(schema: JsonObject) -> None:
    """Refuse a malformed schema. One without `$schema` may be of an older draft, and then says so.

    Raises:
        PluginError: It is no schema of any draft, or refers to another document.
    """
    import jsonschema_rs  # noqa: PLC0415 - 20 ms that plain schemas do not need

    if not jsonschema_rs.meta.is_valid(schema):
        drafts = () if "$schema" in schema else OLDER_DRAFTS
        for draft in drafts:
            if jsonschema_rs.meta.is_valid({**schema, "$schema": draft}):
                schema["$schema"] = draft
                break
        else:
            raise bad_schema(_what_is_wrong(schema))
    try:
        jsonschema_rs.validator_for(schema, offline=True, validate_formats=False)
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        raise bad_schema(str(error).partition("\n")[0]) from error


def _what_is_wrong(schema: JsonObject) -> str:
    from jsonschema.exceptions import (  # noqa: PLC0415 - a second, and only for a fault
        ValidationError,
        best_match,  # pyright: ignore[reportUnknownVariableType]
    )
    from jsonschema.validators import Draft202012Validator, validator_for  # noqa: PLC0415

    kind = validator_for(schema, default=Draft202012Validator)
    error = cast("ValidationError | None", best_match(kind(kind.META_SCHEMA).iter_errors(schema)))
    if error is None:
        return "it follows no draft of JSON Schema"
    return f"{error.json_path.removeprefix('$.')}: {error.message}"


def _first_error(
    draft: JsonValue, schema: JsonObject, value: object
) -> jsonschema_rs.ValidationError | None:
    import jsonschema_rs  # noqa: PLC0415 - 20 ms that plain schemas do not need

    whole = schema if draft is None else {"$schema": draft, **schema}
    validator = jsonschema_rs.validator_for(whole, offline=True, validate_formats=False)
    most = _DEFAULT_LIMITS.value_nodes
    if not survey(value, most_nodes=most).is_walkable(most):
        value = hollow(value)
    try:
        return next(validator.iter_errors(as_json(value)), None)
    except ValueError:
        # Some part is no JSON; the schema says nothing of parts, so a stand-in will do.
        return next(validator.iter_errors(to_json(value)), None)


def _refuse_to_fetch(address: str) -> JsonValue:
    raise ValueError(f"`{address}` is another document, which is never fetched")


def _says_valid(validator: jsonschema_rs.Draft202012Validator, value: object) -> bool:
    try:
        return validator.is_valid(value)
    except ValueError:
        # It met a value that is no JSON where the schema says something.
        return False
