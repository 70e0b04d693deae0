"""A script before it runs: parsed, checked, laid out."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Literal, TypeAlias

from nit_kernel._syntax import CALL, format_source
from nit_kernel._syntax import parse as parse_source
from nit_kernel.config import Limits
from nit_kernel.errors import NitCheckError, NitError, NitSyntaxError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from nit_kernel._syntax import Diagnostic, Script, Span
    from nit_kernel.language.check import CallPlan, Checked
    from nit_kernel.runtime.tool import Tool

Origin: TypeAlias = Literal["person", "model"]
"""Who wrote a script. A model's sees the symbol table only."""

Legacy: TypeAlias = Literal["allow", "off", "only"]
"""Whether NIT 1.0 blocks may stand in a script."""


class Prepared:
    """A script that was parsed and checked against a session; nothing of it has run."""

    __slots__ = (
        "diagnostics",
        "namespace",
        "ok",
        "origin",
        "plans",
        "script",
        "variables",
        "version",
    )

    script: Script
    diagnostics: tuple[Diagnostic, ...]
    """What parsing and checking found, in the order of the text, at most 100."""
    ok: bool
    """Whether it may run."""
    plans: Sequence[CallPlan[Tool]]
    """The tool and the parameters of each shape of call."""

    def __init__(
        self,
        checked: Checked[Tool],
        version: int,
        origin: Origin,
        variables: Mapping[str, object] | None,
        namespace: Mapping[str, object] | None,
    ) -> None:
        self.script = checked.script
        self.diagnostics = checked.diagnostics
        self.ok = checked.ok
        self.plans = checked.plans
        self.version = version
        self.origin: Origin = origin
        self.variables = variables
        self.namespace = namespace

    @property
    def tools(self) -> tuple[tuple[Tool, Span], ...]:
        """The tools that it will call, each with its place, in the order of the calls."""
        if not self.ok:
            return ()
        script, plans = self.script, self.plans
        calls = ((script.step(number), number) for number in range(script.step_count))
        return tuple(
            (plans[row[1]].tool, script.span(*script.tool_span(number)))
            for row, number in calls
            if row[0] == CALL
        )

    @property
    def error(self) -> NitError | None:
        """Why it may not run, or `None`."""
        if self.ok:
            return None
        wrong = [item for item in self.diagnostics if item.severity == "error"]
        is_syntax = wrong[0].code < "NIT300"
        return (NitSyntaxError if is_syntax else NitCheckError).of(*wrong)


class Visible:
    """The names that a script may read: passed in, in the table, in the notebook."""

    __slots__ = ("_places",)

    def __init__(self, *places: Mapping[str, object] | None) -> None:
        self._places = [place for place in places if place is not None]

    def __contains__(self, name: object) -> bool:
        return any(name in place for place in self._places)

    def __iter__(self) -> Iterator[str]:
        for place in self._places:
            yield from place


def parser_within(limits: Limits) -> Callable[..., Script]:
    """The parser with the limits of a session: `parser(source, legacy=..)`."""
    if limits == Limits():
        return parse_source
    return functools.partial(
        parse_source,
        script_bytes=limits.script_bytes,
        statements=limits.statements,
        nesting=limits.nesting,
        value_bytes=limits.value_bytes,
        value_nodes=limits.value_nodes,
    )


def parse(source: str, limits: Limits | None = None) -> Script:
    """Parse a script; syntax only.

    Raises:
        NitSyntaxError: The text is no script; `.diagnostics` has all that is wrong with it.
    """
    script = parser_within(limits or Limits())(source)
    if not script.ok:
        raise NitSyntaxError.of(*(item for item in script.diagnostics if item.severity == "error"))
    return script


def format_script(source: str, *, upgrade: bool = False) -> str:
    """Lay a script out in the one canonical way, comments kept.

    Args:
        source: The text.
        upgrade: Whether to rewrite NIT 1.0 blocks to NIT 2.

    Raises:
        NitSyntaxError: The text is no script.
    """
    text, diagnostics = format_source(source, upgrade=upgrade)
    if text is None:
        raise NitSyntaxError.of(*(item for item in diagnostics if item.severity == "error"))
    return text
