"""What a model is shown of a session: its tools and its variables."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nit_kernel.language.values import describe
from nit_kernel.model.messages import Variable

if TYPE_CHECKING:
    from nit_kernel.language.schema import ToolSpec
    from nit_kernel.model.blocks import ScriptSession


def described_tools(session: ScriptSession) -> list[ToolSpec]:
    """Return the tools as a model is shown them: each under the shortest name that reaches it."""
    registry = session.registry
    tools = registry.tools()
    counts: dict[str, int] = {}
    for tool in tools:
        counts[tool.name] = counts.get(tool.name, 0) + 1
    return [
        replace(
            tool.spec,
            name=tool.name if counts[tool.name] == 1 else f"{tool.source}.{tool.name}",
            nit_name=registry.written_name(tool),
        )
        for tool in tools
    ]


def variable_lines(session: ScriptSession) -> tuple[Variable, ...]:
    """Return the variable table of a prompt: name, type and size of each."""
    lines: list[Variable] = []
    for name, value in session.variables.items():
        kind, _, size = describe(value).partition(", ")
        lines.append(Variable(name=name, type=kind, size=size))
    return tuple(lines)
