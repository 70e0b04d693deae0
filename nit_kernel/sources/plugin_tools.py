"""From a manifest and imported code to tools: the three parts must speak of the same functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn, cast

from nit_kernel.errors import PluginError
from nit_kernel.language.parameters import declared_parameters
from nit_kernel.language.schema import ToolSpec
from nit_kernel.runtime.tool import Tool
from nit_kernel.sources.functions import NO_SIGNATURE, described_tool, parameters_schema
from nit_kernel.sources.manifest import DESCRIPTION, SCHEMA
from nit_kernel.sources.plugin_code import PluginFunction
from nit_kernel.sources.plugin_faults import suggestion

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

    from nit_kernel.language.parameters import Declared
    from nit_kernel.language.schema import JsonObject, JsonValue
    from nit_kernel.sources.manifest import Command, Manifest
    from nit_kernel.sources.manifest_parameters import Described
    from nit_kernel.sources.plugin_faults import FaultList

CONTEXT = "ctx"
"""The parameter that gets the `ToolContext`, unless the schema declares one of that name."""

_Function = Callable[..., object]


def make_tools(
    manifest: Manifest, module: ModuleType, entry: Path, folder: Path, faults: FaultList
) -> list[Tool]:
    """Make a tool of each command, or add the faults that say why it cannot be one."""
    tools: list[Tool] = []
    for command in manifest.commands:
        function = _function(command, module, manifest, entry, folder, faults)
        tool = None if function is None else _tool(command, function, entry, folder, faults)
        if tool is not None:
            tools.append(tool)
    return tools


def unusable_tools(manifest: Manifest, reason: str) -> list[Tool]:
    """The tools of a plugin that does not load, so that their names can be told from unknown ones.

    They are registered as disabled; calling one all the same raises.
    """
    return [_unusable(command, reason) for command in manifest.commands]


def _unusable(command: Command, reason: str) -> Tool:
    def refuse(**arguments: object) -> NoReturn:
        del arguments
        raise PluginError(f"`{command.name}` cannot be called: {reason}", code="NIT550")

    # Not the manifest's schema: it may be what is wrong.
    description = command.description or ""
    return Tool(command.name, description, {"type": "object"}, refuse, thread="worker")


def _is_awaited_or_iterated(function: object) -> bool:
    return (
        inspect.iscoroutinefunction(function)
        or inspect.isgeneratorfunction(function)
        or inspect.isasyncgenfunction(function)
    )


def _function(
    command: Command,
    module: ModuleType,
    manifest: Manifest,
    entry: Path,
    folder: Path,
    faults: FaultList,
) -> _Function | None:
    value = cast("object", getattr(module, command.name, None))
    if inspect.isfunction(value) and not _is_awaited_or_iterated(value):
        return PluginFunction(value, manifest.name, folder, entry)
    if callable(value) and not isinstance(value, type):
        return value
    if value is not None:
        faults.parts_disagree(entry, f"`{command.name}` is no function")
        return None
    functions = [name for name, member in vars(module).items() if inspect.isroutine(member)]
    hint = suggestion(command.name, functions) or f"write it, or take it out of {DESCRIPTION}"
    faults.parts_disagree(entry, f"has no function `{command.name}`", hint)
    return None


def _tool(
    command: Command, function: _Function, entry: Path, folder: Path, faults: FaultList
) -> Tool | None:
    source = folder / (SCHEMA if (folder / SCHEMA).exists() else DESCRIPTION)
    try:
        parameters = _Parameters(command.name, inspect.signature(function), entry, source, faults)
        schema = parameters.settle(command.parameters, function)
    except (PluginError, TypeError, ValueError) as error:
        # It takes `*args`, or has no signature that Python could read.
        faults.parts_disagree(
            entry, error.message if isinstance(error, PluginError) else str(error)
        )
        return None
    spec = ToolSpec(
        name=command.name,
        description=command.description or "",
        parameters=schema,
        returns=command.returns,
        side_effects=command.side_effects,
        confirm=command.confirm,
        timeout_s=command.timeout_s,
        parameter_text=command.parameter_text,
    )
    try:
        return described_tool(function, spec, context=parameters.context)
    except (PluginError, ValueError) as error:
        if isinstance(error, PluginError) and error.code == NO_SIGNATURE:
            faults.parts_disagree(entry, error.message, error.hint)
        else:
            faults.bad_schema(source, command.name, _message(error))
        return None


def _message(error: Exception) -> str:
    return error.message if isinstance(error, PluginError) else str(error)


def _lists_nothing(declared: Declared) -> bool:
    """Whether a schema lets everything in and says of parameters at most that they are required."""
    is_bare = not any(declared.properties.values())
    return declared.is_open and is_bare and declared.properties.keys() <= declared.required


class _Parameters:
    """Compares the parameters of one function with what the manifest says of them."""

    def __init__(
        self,
        name: str,
        signature: inspect.Signature,
        entry: Path,
        source: Path,
        faults: FaultList,
    ) -> None:
        self.name = name
        self.entry = entry
        self.source = source
        self.faults = faults
        self.context: str | None = None
        self.named: dict[str, inspect.Parameter] = {}
        self.takes_any = False
        for parameter in signature.parameters.values():
            match parameter.kind:
                case inspect.Parameter.VAR_KEYWORD:
                    self.takes_any = True
                case inspect.Parameter.VAR_POSITIONAL:
                    pass
                case _:
                    self.named[parameter.name] = parameter

    def settle(self, described: Described | None, function: _Function) -> JsonObject:
        """The schema of the tool; adds a fault where code and manifest contradict each other."""
        declared = None if described is None else declared_parameters(described.schema)
        if CONTEXT in self.named and (declared is None or CONTEXT not in declared.properties):
            self.context = CONTEXT
            del self.named[CONTEXT]
        if described is None or declared is None:
            return parameters_schema(function, context=self.context)
        if _lists_nothing(declared) and not self.takes_any:
            # `{}` and `{"type": "object"}` would let every argument in, and the code would not.
            self._compare(list(declared.properties), is_open=True)
            if self.named:
                message = f"`{self.name}`: no parameters are declared: taken from the code"
                self.faults.note(self.source, message)
            return parameters_schema(function, context=self.context)
        self._compare(list(declared.properties), is_open=declared.is_open)
        schema = self._typed(described, function)
        return self._with_required(schema, described, declared.required)

    def _compare(self, declared: list[str], *, is_open: bool) -> None:
        for name, parameter in self.named.items():
            needs = parameter.default is inspect.Parameter.empty
            if name not in declared and needs and not is_open:
                free = [other for other in declared if other not in self.named]
                hint = suggestion(name, free) or f"add it to {self.source.name}"
                message = f"`{self.name}` needs `{name}`, which {self.source.name} does not have"
                self.faults.parts_disagree(self.entry, message, hint)
        if self.takes_any:
            return
        for name in declared:
            if name not in self.named:
                hint = suggestion(name, [n for n in self.named if n not in declared])
                message = f"`{self.name}` does not take `{name}`, which {self.source.name} has"
                self.faults.parts_disagree(self.entry, message, hint or "add the parameter")

    def _with_required(
        self, schema: JsonObject, described: Described, required: frozenset[str]
    ) -> JsonObject:
        """Add what the code cannot do without to the required parameters."""
        needed = [
            name
            for name, parameter in self.named.items()
            if parameter.default is inspect.Parameter.empty and name not in required
        ]
        properties = schema.get("properties")
        missing = [n for n in needed if isinstance(properties, dict) and n in properties]
        if not missing:
            return schema
        listed = ", ".join(f"`{name}`" for name in missing)
        if described.says_required or self.source.name == SCHEMA:
            message = f"`{self.name}` cannot do without {listed}: required, though not listed so"
            self.faults.note(self.source, message, 'add it to "required"')
        there = schema.get("required")
        names: list[JsonValue] = list(there) if isinstance(there, list) else []
        return {**schema, "required": [*names, *missing]}

    def _typed(self, described: Described, function: _Function) -> JsonObject:
        """Give the parameters of which the manifest has only words the types of the code."""
        properties = described.schema.get("properties")
        if not described.untyped or not isinstance(properties, dict):
            return described.schema
        from_code = declared_parameters(
            parameters_schema(function, context=self.context)
        ).properties
        typed: JsonObject = {}
        for name, member in properties.items():
            code = from_code.get(name)
            if name in described.untyped and isinstance(member, dict) and isinstance(code, dict):
                member = {**code, **member}
            typed[name] = member
        listed = ", ".join(f"`{name}`" for name in sorted(described.untyped))
        message = f"`{self.name}`: {listed} without a type: taken from the code"
        self.faults.note(self.source, message, f"write {SCHEMA}")
        return {**described.schema, "properties": typed}
