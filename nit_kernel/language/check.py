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
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from nit_kernel._syntax import Diagnostic, Script, Shape
    from nit_kernel.language.schema import ToolSpec

MOST_DIAGNOSTICS: Final = 100
"""Most findings about one script."""

_MOST_FOUND: Final = 3 * MOST_DIAGNOSTICS
"""Most findings that are made, from which those that are told are chosen."""

_MOST_TOOLS: Final = 10
_MOST_CANDIDATES: Final = 500
_MOST_REMEMBERED: Final = 1_000
_TOOL_KEYS: Final = tuple(map(folded, ("command", "commandIdentifier", "action", "tool")))


class LiteralError(Protocol):
    """What `ToolView.coercer` raises for a literal that can never fit."""

    message: str
    hint: str | None
    parameter: str | None


class CoercerView(Protocol):
    """What is asked of a tool's coercer."""

    @property
    def has_joint_rules(self) -> bool:
        """Whether arguments that are right one by one may be wrong together."""
        ...

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

    def why_not_together(self, literals: Mapping[str, object], /) -> LiteralError | None:
        """Why literals that are all the arguments of a call are wrong, or `None`."""
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
        self._found: list[tuple[int, Diagnostic]] = []
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
        is_whole = means.coercer.has_joint_rules and not any(m.is_error for m in binding.misuses)
        return _Use(plan, [*notes, *binding.misuses], looks, looks_at_whole=is_whole)

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
            return cast("ToolT", found), [_read_as(name, near[0])]
        return None, [self._unknown_tool(shape, near)]

    def _tool_of_plugin(
        self, shape: Shape, index: int
    ) -> tuple[ToolT | None, list[Misuse], int | None]:
        # NIT 1.0: the first line names a plugin, and the value of a key one of its tools.
        script, plugin, registry = self._script, shape.tool, self._registry
        words = [folded(name or "") for name in shape.names]
        keys = [words.index(key) for key in _TOOL_KEYS if key in words]
        before = f"{nit_name(plugin)}."
        inside = [name for name in registry.names() if name.startswith(before)]
        listed = f"`{plugin}` has {_listed(inside)}" if inside else f"`{plugin}` has no tools"
        if not keys:
            message = f"`{plugin}` is a plugin, and no `command` says which of its tools is meant"
            return None, [Misuse("NIT301", message, listed)], None
        step = next(n for n in range(script.step_count) if script.step(n)[:2] == (CALL, index))
        literals = dict(script.literal_arguments(step))
        # One of its parameters may be called `action`, too.
        for key in keys:
            name = str(literals[key]).removeprefix(before)
            for written in (f"{plugin}.{name}", f"{before}{nit_name(name)}"):
                means = registry.resolve_exact(written)
                if _is_tool(means):
                    return cast("ToolT", means), [], key
            near = registry.near(f"{before}{name}")
            if len(near) == 1 and _is_tool(found := registry.resolve(near[0])):
                return cast("ToolT", found), [_read_as(name, near[0])], key
        name = str(literals[keys[0]])
        message = f"`{plugin}` has no tool `{name}`"
        hint = did_you_mean(f"{before}{name}", inside) or listed
        return None, [Misuse("NIT301", message, hint, keys[0])], None

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
            names = [other for other in names if "." not in other] or names
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
        if use.plan is None or not (use.looks or use.looks_at_whole):
            return
        literals = dict(script.literal_arguments(step))
        coercer, names = use.plan.tool.coercer, use.plan.names
        is_wrong = False
        for index, parameter in use.looks:
            if index in literals:
                error = coercer.why_not(parameter, literals[index])
                if error is not None:
                    is_wrong = True
                    found = Misuse("NIT314", error.message, error.hint)
                    self._add(found, *spans[index][2:])
        if use.looks_at_whole and not is_wrong and len(literals) == len(names):
            given = {name: literals[at] for at, name in enumerate(names) if name is not None}
            error = coercer.why_not_together(given)
            if error is not None:
                place = names.index(error.parameter) if error.parameter in given else None
                start, end = script.tool_span(step) if place is None else spans[place][2:]
                self._add(Misuse("NIT314", error.message, error.hint), start, end)

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
        if len(self._found) >= _MOST_FOUND and (not misuse.is_error or self._errors > _MOST_FOUND):
            # To find its column, each looks at its whole line.
            return
        diagnostic = self._script.diagnostic(
            misuse.code,
            misuse.message,
            start,
            end,
            severity="error" if misuse.is_error else "warning",
            hint=misuse.hint,
        )
        self._found.append((start, diagnostic))

    def result(self) -> Checked[ToolT]:
        script = self._script
        if not self._found and script.ok:
            plans = tuple(cast("list[CallPlan[ToolT]]", self._plans))
            return Checked(script, script.diagnostics, True, plans)
        ok = script.ok and not self._errors
        plans = tuple(cast("list[CallPlan[ToolT]]", self._plans)) if ok else ()
        found = [(item.span.start, item) for item in script.diagnostics] + self._found
        # No error is left out for a warning.
        found.sort(key=lambda row: (row[1].severity != "error", row[0]))
        found = sorted(found[:MOST_DIAGNOSTICS], key=lambda row: row[0])
        return Checked(script, tuple(item for _, item in found), ok, plans)


class _Use(Generic[ToolT]):
    """What was found about one shape: where it goes, what is wrong, which literals to look at."""

    __slots__ = ("looks", "looks_at_whole", "misuses", "needs_a_look", "plan")

    def __init__(
        self,
        plan: CallPlan[ToolT] | None,
        misuses: list[Misuse],
        looks: tuple[tuple[int, str], ...],
        *,
        looks_at_whole: bool = False,
    ) -> None:
        self.plan = plan
        self.misuses = misuses
        self.looks = looks
        self.looks_at_whole = looks_at_whole
        self.needs_a_look = bool(misuses or looks or looks_at_whole)


class Memory(dict["Shape", _Use[ToolT]]):
    """What is known about shapes of calls."""


def _read_as(name: str, meant: str) -> Misuse:
    return Misuse("NIT304", f"`{name}` is read as `{meant}`", f"write `{meant}`", is_error=False)


def _is_tool(means: object) -> bool:
    return hasattr(means, "coercer")


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:_MOST_TOOLS])
    more = len(names) - _MOST_TOOLS
    return f"{shown} and {more:,} more: `help()` lists them" if more > 0 else shown
