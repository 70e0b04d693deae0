"""Which tool a model meant: the exact name first, then names that differ only in dress.

Nothing here guesses letters: a misspelt name is never run, only suggested.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nit_kernel.language.schema import ToolSpec, provider_names

_DECORATION = " \t\r\n`\"'*"
_GENERIC_PREFIX = re.compile(
    r"(?:functions?|tools?|default_api|namespace)(?:\.|::|/|:)\s*", re.IGNORECASE
)
_TAIL = re.compile(r"(?:\(\s*\)|:\d+)\Z")
_SEPARATORS = re.compile(r"[-_.\s/]+")
_AFFIXES = ("tool", "function")


@dataclass(frozen=True, slots=True)
class Resolved:
    """A tool found by name, and whether the name had to be read freely."""

    tool: ToolSpec
    is_exact: bool


def find_tool(written: str, tools: Sequence[ToolSpec]) -> Resolved | None:
    """Return the tool that a model's name means, or `None` where none or several fit."""
    exact = _exactly(written, tools)
    if exact is not None:
        return Resolved(exact, is_exact=True)
    cleaned = clean_name(written)
    for fold in (_same, _folded, _bare):
        found = _only(cleaned, tools, fold)
        if found is not None:
            return Resolved(found, is_exact=False)
    return None


def clean_name(written: str) -> str:
    """Return the name without quotes, back-ticks, an empty call and a generic prefix."""
    name = written.strip(_DECORATION)
    name = _TAIL.sub("", name)
    prefix = _GENERIC_PREFIX.match(name)
    if prefix is not None and prefix.end() < len(name):
        name = name[prefix.end() :]
    return name.strip(_DECORATION)


def wire_names(tools: Sequence[ToolSpec]) -> dict[str, str]:
    """Return the name that each tool has in a provider's own tool calls: exact name to that."""
    return provider_names(tool.name for tool in tools)


def _exactly(written: str, tools: Sequence[ToolSpec]) -> ToolSpec | None:
    for tool in tools:
        if tool.name == written:
            return tool
    for tool in tools:
        if tool.nit_name == written:
            return tool
    names = wire_names(tools)
    return next((tool for tool in tools if names[tool.name] == written), None)


def _only(name: str, tools: Sequence[ToolSpec], fold: Callable[[str], str]) -> ToolSpec | None:
    wanted = fold(name)
    if not wanted:
        return None
    fitting = {
        tool.name: tool for tool in tools if wanted in (fold(tool.name), fold(tool.nit_name))
    }
    return next(iter(fitting.values())) if len(fitting) == 1 else None


def _same(name: str) -> str:
    return name


def _folded(name: str) -> str:
    return _SEPARATORS.sub("", name).casefold()


def _bare(name: str) -> str:
    folded = _folded(name)
    for affix in _AFFIXES:
        shorter = folded.removesuffix(affix)
        if shorter:
            folded = shorter
        shorter = folded.removeprefix(affix)
        if shorter:
            folded = shorter
    return folded
