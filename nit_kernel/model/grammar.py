"""The grammar that holds a model to valid scripts while it samples.

A server that decodes under a grammar lets a model write only what the grammar derives: prose, and
at most one block that calls the given tools with their own parameters. What is left to `check` is
what no grammar can see: unknown variables, missing and doubled arguments, bounds and patterns.

Source: NIT 2, `model.md` 5.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, Literal, Protocol, TypeAlias

from nit_kernel import _syntax
from nit_kernel.language.schema import (
    JsonObject,
    JsonValue,
    ToolSpec,
    is_bare_name,
    resolve_reference,
)

if TYPE_CHECKING:
    from collections.abc import Iterable


GrammarFormat: TypeAlias = Literal["gbnf", "lark"]

_ValueRule: TypeAlias = str | tuple[str, object]
_ToolRow: TypeAlias = tuple[str, str | None, list[tuple[str, list[_ValueRule]]], bool]

_MOST_CHOICES: Final = 200
_MOST_NESTED: Final = 4
_TYPES: Final = frozenset({"string", "integer", "number", "boolean", "null", "array", "object"})


class HasSpec(Protocol):
    """A tool that can be called, as `nit_kernel.Tool` is."""

    @property
    def spec(self) -> ToolSpec:
        """How it is described."""
        ...


def grammar(
    tools: Iterable[ToolSpec | HasSpec],
    id: str,
    format: GrammarFormat = "gbnf",
    *,
    with_help: bool = False,
) -> str:
    """Write the grammar of a reply: prose plus at most one block that calls only these tools.

    Arguments may come in any order. A value is what its parameter's schema says in plain types
    and enumerations (or what converts to it without loss), a `$variable` or a nested call.

    Args:
        tools: The tools that the block may call.
        id: The id in the block's tag, as in `<nit-A1B2>`.
        format: `"gbnf"` for llama.cpp; `"lark"` for llguidance, vLLM and OpenAI's custom tools. A
            server of llama.cpp takes the second too, after a line `%llguidance {}`.
        with_help: Whether the block may also ask for a tool's full description, `help("name")`.

    Raises:
        ValueError: The id cannot stand in a tag, or the format is another.
        TypeError: Something is no tool.
    """
    specs = [_spec_of(tool) for tool in tools]
    rows = [_tool_row(spec) for spec in specs]
    if with_help:
        rows += [("help", spec.nit_name, [], False) for spec in specs]
    return _syntax.grammar(rows, id, format)


def _spec_of(tool: ToolSpec | HasSpec) -> ToolSpec:
    spec = tool if isinstance(tool, ToolSpec) else getattr(tool, "spec", None)
    if not isinstance(spec, ToolSpec):
        message = (
            f"wanted a `nit.Tool`, got {type(tool).__name__}: those of a session are "
            "`session.registry.tools()`"
        )
        raise TypeError(message)
    return spec


def _tool_row(spec: ToolSpec) -> _ToolRow:
    parameters: list[tuple[str, list[_ValueRule]]] = []
    for exact, schema in spec.declared.properties.items():
        rules = _value_rules(schema, spec.parameters, 0)
        if exact not in spec.required and "null" not in rules:
            rules = [*rules, "null"]  # it means "left out"
        parameters.append((spec.argument_names[exact], rules))
    is_open = spec.is_open or bool(spec.declared.patterns)
    if is_bare_name(spec.nit_name):
        return (spec.nit_name, None, parameters, is_open)
    return ("call", spec.name, parameters, is_open)


def _value_rules(schema: JsonValue, root: JsonObject, depth: int) -> list[_ValueRule]:
    """What a schema takes as far as a grammar can say it; `["any"]` where it cannot."""
    if not isinstance(schema, dict) or depth > _MOST_NESTED or schema.get("x-nit-text") is True:
        return ["any"]
    if "$ref" in schema:
        return _value_rules(resolve_reference(root, schema["$ref"]), root, depth + 1)
    rules = _enumerated(schema)
    if rules is None:
        rules = _alternatives(schema, root, depth)
    if rules is None:
        rules = _typed(schema, root, depth)
    if schema.get("nullable") is True and "any" not in rules and "null" not in rules:
        rules = [*rules, "null"]
    return rules


def _enumerated(schema: JsonObject) -> list[_ValueRule] | None:
    choices = [schema["const"]] if "const" in schema else schema.get("enum")
    if not isinstance(choices, list) or not 0 < len(choices) <= _MOST_CHOICES:
        return None
    rules: list[_ValueRule] = []
    for choice in choices:
        match choice:
            case str():
                if not choice.isprintable() and not _is_encodable(choice):
                    return None
                rules.append(("text", choice))
            case None:
                rules.append("null")
            case bool() | int() | float():
                rules.append(("constant", json.dumps(choice)))
            case _:
                return None
    return rules


def _is_encodable(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _alternatives(schema: JsonObject, root: JsonObject, depth: int) -> list[_ValueRule] | None:
    for keyword in ("anyOf", "oneOf"):
        members = schema.get(keyword)
        if isinstance(members, list):
            rules: list[_ValueRule] = []
            for member in members:
                found = _value_rules(member, root, depth + 1)
                rules.extend(rule for rule in found if rule not in rules)
            return ["any"] if "any" in rules else rules
    members = schema.get("allOf")
    if isinstance(members, list) and "type" not in schema:
        return _value_rules(members[0], root, depth + 1) if len(members) == 1 else ["any"]
    return None


def _typed(schema: JsonObject, root: JsonObject, depth: int) -> list[_ValueRule]:
    named = schema.get("type")
    types = named if isinstance(named, list) else [named]
    rules: list[_ValueRule] = []
    for name in types:
        if not isinstance(name, str) or name not in _TYPES:
            return ["any"]
        if name == "array":
            rules.append(("array", _value_rules(schema.get("items"), root, depth + 1)))
        else:
            rules.append(name)
    return rules or ["any"]
