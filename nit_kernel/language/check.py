"""What can be said about a script before anything of it runs. Source: NIT 2, sections 3, 6, 10.

Calls that look alike are one *shape*: its tool is looked up once, and its arguments are bound to
the tool's parameters once. A call costs something of its own only where it has a literal that its
kind alone does not decide (`"fast"` for an enumeration), or where something is wrong.
"""

from __future__ import annotations

import itertools
from typing import (
    TYPE_CHECKING,
    Final,
    Generic,
    Literal,
    NamedTuple,
    Protocol,
    TypeVar,
    cast,
)

from nit_kernel._syntax import CALL
from nit_kernel.language.binding import Misuse, bind
from nit_kernel.language.names import did_you_mean, either, folded, nit_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from nit_kernel._syntax import Diagnostic, Script, Shape
    from nit_kernel.language.schema import ToolSpec

MOST_DIAGNOSTICS: Final = 100
"""Most findings about one script."""

_MOST_TOOLS: Final = 10
_MOST_CANDIDATES: Final = 500
_MOST_REMEMBERED: Final = 1_000
_TOOL_KEYS: Final = frozenset(map(folded, ("command", "commandIdentifier", "action", "tool")))


class LiteralError(Protocol):
    """What `ToolView.coercer` raises for a literal that can never fit."""

    message: str
    hint: str | None


class CoercerView(Protocol):
    """What is asked of a tool's coercer."""

    def accepts_kind(self, parameter: str, kind: str, /) -> bool:
        """Whether every literal of the kind is right for the parameter."""
        ...

    def guards(
        self, names: tuple[str | None, ...], kinds: str, /
    ) -> tuple[tuple[str, frozenset[type]], ...] | None:
        """The parameters that get what only the run knows, each with the types that are right;
        `None` where every call has to be looked at whole."""
        ...

    def why_not(self, parameter: str, value: object, /) -> LiteralError | None:
        """Why the literal can never be right for the parameter, or `None` if it may be."""
        ...


class ToolView(Protocol):
    """What is asked of a tool."""

    @property
    def spec(self) -> ToolSpec: ...
    @property
    def coercer(self) -> CoercerView: ...
    @property
    def full_name(self) -> str: ...


ToolT = TypeVar("ToolT", bound=ToolView)
ToolT_co = TypeVar("ToolT_co", bound=ToolView, covariant=True)


class RegistryView(Protocol[ToolT_co]):
    """What is asked of the registry of tools."""

    def resolve(self, name: str, /) -> ToolT_co | object:
        """A tool; or an object with `.tools` where the name is ambiguous, with `.reason` where the
        tool is disabled; or any other object where there is none."""
        ...

    def resolve_exact(self, name: str, /) -> ToolT_co | object:
        """The same for an exact name."""
        ...

    def near(self, name: str, /) -> Sequence[str]:
        """The usable names that differ only in case, `-` or `_`."""
        ...

    def names(self) -> Sequence[str]:
        """Every name that a script may write."""
        ...

    def source(self, written: str, /) -> object:
        """The plugin or server of that name, or `None`."""
        ...


class Known(Protocol):
    """The names that a script may read."""

    def __contains__(self, name: object, /) -> bool: ...
    def __iter__(self) -> Iterator[str]: ...


class CallPlan(NamedTuple, Generic[ToolT]):
    """Which tool the calls of one shape reach, and the parameter that each argument goes to.

    Attributes:
        tool: The tool.
        names: The parameter of each argument; `None`: the argument is not passed on.
        guards: What is left to be asked before a call; see the tool's coercer.
    """

    tool: ToolT
    names: tuple[str | None, ...]
    guards: tuple[tuple[str, frozenset[type]], ...] | None


class Checked(NamedTuple, Generic[ToolT]):
    """What was found about a script.

    Attributes:
        script: The script.
        diagnostics: Its own findings and the check's, in order of place, at most 100.
        ok: Whether none of all findings is an error: only then may it run.
        plans: One for each shape of the script; none where it may not run.
    """

    script: Script
    diagnostics: tuple[Diagnostic, ...]
    ok: bool
    plans: tuple[CallPlan[ToolT], ...]


def check_script(
    script: Script,
    *,
    registry: RegistryView[ToolT],
    known: Known,
    origin: Literal["person", "model"] = "person",
    memory: Memory[ToolT] | None = None,
) -> Checked[ToolT]:
    """Check a script against the tools and variables that there are.

    Args:
        script: A parsed script, faulty or not.
        registry: The tools.
        known: The names that can be read besides those that the script binds.
        origin: Who wrote it; a model is told how a person's variable can be shared.
        memory: What earlier scripts found out about shapes of calls, while the tools are the same.
    """
    if memory is None:
        memory = Memory()
    elif script.ok:
        plans = _remembered_plans(script, known, memory)
        if plans is not None:
            return Checked(script, script.diagnostics, True, plans)
    check = _Check(script, registry, known, origin, memory)
    check.calls()
    check.variables()
    return check.result()


def _remembered_plans(
    script: Script, known: Known, memory: Memory[ToolT]
) -> tuple[CallPlan[ToolT], ...] | None:
    """The plans of a script about which nothing is to be said, if that is known already."""
    if script.bare_names or script.dollar_strings:
        return None
    plans: list[CallPlan[ToolT]] = []
    for shape in script.shapes:
        use = memory.get(shape)
        if use is None or use.needs_a_look or use.plan is None:
            return None
        plans.append(use.plan)
    for name, _, _ in script.free_variables:
        if name not in known:
            return None
    return tuple(plans)


class _Check(Generic[ToolT]):
    def __init__(
        self,
        script: Script,
        registry: RegistryView[ToolT],
        known: Known,
        origin: str,
        memory: Memory[ToolT],
    ) -> None:
        self._script = script
        self._registry = registry
        self._known = known
        self._origin = origin
        self._memory = memory
        self._found: list[Diagnostic] = []
        self._errors = 0
        self._targets_found: list[tuple[str, int]] | None = None
        self._plans: list[CallPlan[ToolT] | None] = []

    # Calls

    def calls(self) -> None:
        uses = [self._remembered(index, shape) for index, shape in enumerate(self._script.shapes)]
        self._plans = [use.plan for use in uses]
        for use in uses:
            if use.needs_a_look:
                break
        else:
            return
        script = self._script
        for number in range(script.step_count):
            kind, shape, *_ = script.step(number)
            if kind == CALL and uses[shape].needs_a_look:
                self._look(number, uses[shape])
                if self._errors > MOST_DIAGNOSTICS:
                    return

    def _remembered(self, index: int, shape: Shape) -> _Use[ToolT]:
        # A NIT 1.0 block may name its tool in an argument, which is no part of its shape.
        if shape.legacy:
            return self._use(index, shape)
        use = self._memory.get(shape)
        if use is None:
            use = self._use(index, shape)
            if use.plan is not None and len(self._memory) < _MOST_REMEMBERED:
                self._memory[shape] = use
        return use

    def _use(self, index: int, shape: Shape) -> _Use[ToolT]:
        means, notes = self._resolve(shape)
        names = shape.names
        if means is None and shape.legacy and self._registry.source(shape.tool) is not None:
            means, notes, key = self._tool_of_plugin(shape, index)
            names = [None if at == key else name for at, name in enumerate(names)]
        else:
            key = None
        if means is None:
            return _Use(None, notes, ())
        binding = bind(means.spec, names, is_legacy=shape.legacy, left_out=key)
        looks = tuple(
            (at, name)
            for at, (name, kind) in enumerate(zip(binding.names, shape.kinds, strict=True))
            if name is not None and not means.coercer.accepts_kind(name, kind)
        )
        plan = CallPlan(means, binding.names, means.coercer.guards(binding.names, shape.kinds))
        return _Use(plan, [*notes, *binding.misuses], looks)

    def _resolve(self, shape: Shape) -> tuple[ToolT | None, list[Misuse]]:
        name, registry = shape.tool, self._registry
        means = registry.resolve_exact(name) if shape.exact else registry.resolve(name)
        if _is_tool(means):
            return cast("ToolT", means), []
        reason = getattr(means, "reason", None)
        if isinstance(reason, str):
            return None, [Misuse("NIT302", f"the tool `{name}` is disabled: {reason}")]
        rivals = cast("Iterable[ToolView] | None", getattr(means, "tools", None))
        if rivals is not None:
            names = [f"`{tool.full_name}`" for tool in rivals]
            return None, [
                Misuse("NIT303", f"`{name}` is the name of several tools", f"write {either(names)}")
            ]
        near = [] if shape.exact else list(registry.near(name))
        if len(near) == 1 and _is_tool(found := registry.resolve(near[0])):
            note = Misuse(
                "NIT304", f"`{name}` is read as `{near[0]}`", f"write `{near[0]}`", is_error=False
            )
            return cast("ToolT", found), [note]
        return None, [self._unknown_tool(shape, near)]

    def _tool_of_plugin(
        self, shape: Shape, index: int
    ) -> tuple[ToolT | None, list[Misuse], int | None]:
        # NIT 1.0: the first line names a plugin, and the value of a key one of its tools.
        script, plugin = self._script, shape.tool
        keys = [at for at, name in enumerate(shape.names) if folded(name or "") in _TOOL_KEYS]
        before = f"{nit_name(plugin)}."
        inside = [name for name in self._registry.names() if name.startswith(before)]
        listed = f"`{plugin}` has {_listed(inside)}" if inside else f"`{plugin}` has no tools"
        if len(keys) != 1:
            message = f"`{plugin}` is a plugin, and no `command` says which of its tools is meant"
            return None, [Misuse("NIT301", message, listed)], None
        step = next(n for n in range(script.step_count) if script.step(n)[:2] == (CALL, index))
        name = str(dict(script.literal_arguments(step))[keys[0]])
        for written in (f"{plugin}.{name}", f"{before}{nit_name(name)}"):
            means = self._registry.resolve_exact(written)
            if _is_tool(means):
                return cast("ToolT", means), [], keys[0]
        near = did_you_mean(f"{before}{name}", inside)
        message = f"`{plugin}` has no tool `{name}`"
        return None, [Misuse("NIT301", message, near or listed, keys[0])], None

    def _unknown_tool(self, shape: Shape, near: list[str]) -> Misuse:
        name = shape.tool
        message = f"there is no tool `{name}`"
        if near:
            return Misuse("NIT301", message, f"did you mean {either([f'`{n}`' for n in near])}?")
        names = self._registry.names()
        hint = did_you_mean(name, names)
        source = self._registry.source(name.partition(".")[0])
        if hint is None and source is not None:
            before = f"{name.partition('.')[0]}."
            inside = [other for other in names if other.startswith(before)]
            hint = f"it has {_listed(inside)}" if inside else "it has no tools"
        if hint is None:
            hint = f"the tools are {_listed(names)}" if names else "no tools are loaded"
        return Misuse("NIT301", message, hint)

    def _look(self, step: int, use: _Use[ToolT]) -> None:
        script = self._script
        spans = script.argument_spans(step)
        for misuse in use.misuses:
            if misuse.argument is None:
                start, end = script.tool_span(step)
            else:
                row = spans[misuse.argument]
                start, end = (row[0], row[1]) if row[1] > row[0] else (row[2], row[3])
            self._add(misuse, start, end)
        if use.plan is None or not use.looks:
            return
        literals = dict(script.literal_arguments(step))
        coercer = use.plan.tool.coercer
        for index, parameter in use.looks:
            if index in literals:
                error = coercer.why_not(parameter, literals[index])
                if error is not None:
                    found = Misuse("NIT314", error.message, error.hint)
                    self._add(found, *spans[index][2:])

    # Variables

    def variables(self) -> None:
        script, known = self._script, self._known
        most = self._errors + MOST_DIAGNOSTICS
        for name, start, end in script.free_variables:
            if name not in known and self._errors <= most:
                self._add(self._unknown_variable(name, start), start, end)
        for name, start, end, is_assigned in script.bare_names:
            if is_assigned or name in known:
                message = f"`{name}` is read as `${name}`"
                self._add(Misuse("NIT322", message, f"write `${name}`", is_error=False), start, end)
            elif self._errors <= most + MOST_DIAGNOSTICS:
                self._add(self._unknown_word(name, start), start, end)
        strings = script.dollar_strings
        if strings:
            first: dict[str, int] = {}
            for name, at in self._targets():
                first.setdefault(name, at)
            for name, start, end in strings:
                if name in known or first.get(name, start) < start:
                    message = f"`${name}` in a plain string is only text"
                    hint = f'for its value write an f-string: `f"..{{${name}}}.."`'
                    self._add(Misuse("NIT323", message, hint, is_error=False), start, end)

    def _unknown_variable(self, name: str, start: int) -> Misuse:
        message = f"there is no variable `${name}`"
        later = next((at for n, at in self._targets() if n == name and at > start), None)
        if later is not None:
            line = self._script.span(later, later).line
            return Misuse("NIT320", message, f"it is assigned only afterwards, in line {line}")
        hint = self._near_variable(name, start)
        if hint is None and _is_tool(self._registry.resolve(name)):
            hint = f"`{name}` is a tool: call it with `{name}(..)`"
        if hint is None and self._origin == "model":
            hint = "a model's script sees only the variables of its session"
        return Misuse("NIT320", message, hint)

    def _unknown_word(self, name: str, start: int) -> Misuse:
        message = f"`{name}` is neither a quoted text nor a variable"
        hint = self._near_variable(name, start)
        if hint is None and _is_tool(self._registry.resolve(name)):
            hint = f"to call the tool, write `{name}(..)`"
        return Misuse("NIT321", message, hint or f'for text, write `"{name}"`')

    def _near_variable(self, name: str, start: int) -> str | None:
        before = [n for n, at in self._targets() if at < start][-_MOST_CANDIDATES:]
        candidates = [*before, *itertools.islice(self._known, _MOST_CANDIDATES)]
        return did_you_mean(name, candidates, before="$")

    def _targets(self) -> list[tuple[str, int]]:
        if self._targets_found is None:
            rows = (self._script.statement(n) for n in range(self._script.statement_count))
            self._targets_found = [(row[2], row[4]) for row in rows if row[2] is not None]
        return self._targets_found

    # Findings

    def _add(self, misuse: Misuse, start: int, end: int) -> None:
        self._errors += misuse.is_error
        self._found.append(
            self._script.diagnostic(
                misuse.code,
                misuse.message,
                start,
                end,
                severity="error" if misuse.is_error else "warning",
                hint=misuse.hint,
            )
        )

    def result(self) -> Checked[ToolT]:
        script = self._script
        if not self._found and script.ok:
            plans = tuple(cast("list[CallPlan[ToolT]]", self._plans))
            return Checked(script, script.diagnostics, True, plans)
        found = [*script.diagnostics, *self._found] if self._found else script.diagnostics
        ok = script.ok and not self._errors
        if len(found) > MOST_DIAGNOSTICS:
            # No error is left out for a warning.
            first = sorted(found, key=lambda item: (item.severity != "error", item.span.start))
            found = first[:MOST_DIAGNOSTICS]
        if self._found:
            found = sorted(found, key=lambda item: item.span.start)
        plans = tuple(cast("list[CallPlan[ToolT]]", self._plans)) if ok else ()
        return Checked(script, tuple(found), ok, plans)


class _Use(Generic[ToolT]):
    """What was found about one shape: where it goes, what is wrong, which literals to look at."""

    __slots__ = ("looks", "misuses", "needs_a_look", "plan")

    def __init__(
        self,
        plan: CallPlan[ToolT] | None,
        misuses: list[Misuse],
        looks: tuple[tuple[int, str], ...],
    ) -> None:
        self.plan = plan
        self.misuses = misuses
        self.looks = looks
        self.needs_a_look = bool(misuses or looks)


class Memory(dict["Shape", _Use[ToolT]]):
    """What is known about shapes of calls."""


def _is_tool(means: object) -> bool:
    return hasattr(means, "coercer")


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:_MOST_TOOLS])
    more = len(names) - _MOST_TOOLS
    return f"{shown} and {more:,} more: `help()` lists them" if more > 0 else shown
