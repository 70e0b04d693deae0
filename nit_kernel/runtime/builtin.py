"""The built-in function `help`: what a person or a model may ask about a tool.

(`call`, the other built-in, is a form of the language: the parser turns `call("get-weather", q=1)`
into a call by exact name, and nothing of it is left when the script runs.)
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from nit_kernel.language.names import did_you_mean, either
from nit_kernel.runtime.tool import Tool

if TYPE_CHECKING:
    from nit_kernel.runtime.registry import Registry


def help_tool(registry: Registry) -> Tool:
    """Make the `help` function of a session."""

    def describe(name: str | None = None) -> str:
        return help_text(registry, name)

    tool = Tool(
        "help",
        "Return the full description of a tool, or a list of all tools.",
        {"type": "object", "properties": {"name": {"type": "string"}}},
        describe,
        side_effects="none",
    )
    return tool.placed("built in")


def help_text(registry: Registry, name: str | None = None) -> str:
    """What is known about a tool; without a name, one line for each tool.

    Raises:
        LookupError: The name means no tool, or several; the message says why, or what is near.
    """
    if name is None:
        lines = [f"{registry.signature(tool)}  {_first_line(tool)}" for tool in registry.tools()]
        return "\n".join(sorted(lines)) or "no tools are loaded"
    meanings = (registry.resolve(name), registry.resolve_exact(name))
    for means in meanings:
        if isinstance(means, Tool):
            return _description(registry, means)
    for means in meanings:
        # `Ambiguous` and `Disabled`, whose module makes this one's function.
        rivals: tuple[Tool, ...] = getattr(means, "tools", ())
        if rivals:
            names = either([f"`{tool.full_name}`" for tool in rivals])
            raise LookupError(f"`{name}` is the name of several tools: {names}")
        reason: str | None = getattr(means, "reason", None)
        if reason is not None:
            raise LookupError(f"`{name}` is disabled: {reason}")
    near = did_you_mean(name, registry.names())
    raise LookupError(f"there is no tool `{name}`" + (f": {near}" if near else ""))


def _description(registry: Registry, tool: Tool) -> str:
    spec = tool.spec
    parts = [registry.signature(tool), spec.description.strip()]
    if spec.parameter_text.strip():
        parts.append(f"Parameters: {spec.parameter_text.strip()}")
    if spec.declared.properties:
        parts.append(f"Schema of the parameters: {_json(spec.parameters)}")
    if spec.returns is not None:
        parts.append(f"Schema of the result: {_json(spec.returns)}")
    facts = [f"from {tool.source}", _SIDE_EFFECTS[spec.side_effects]]
    if spec.confirm:
        facts.append("asks before it runs")
    if spec.name != spec.nit_name:
        facts.append(f"exact name {json.dumps(spec.name, ensure_ascii=False)}")
    parts.append("; ".join(facts))
    return "\n\n".join(part for part in parts if part)


_SIDE_EFFECTS = {
    "none": "has no side effects",
    "local": "changes things on this machine",
    "external": "changes things outside",
}


def _first_line(tool: Tool) -> str:
    return (tool.spec.description.strip().splitlines() or [""])[0]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
