"""The one registry of tools: whole sources in, whole sources out, one meaning for every name.

```
source   kind        always reached as      the bare name goes to
------   --------    ------------------     -------------------------------------------------
notebook notebook    notebook.tool          a function of the notebook, before
web      plugin      web.tool               a plugin (two with one name: neither, and an error), or
hub      server      hub.tool               a server (likewise)
```

`call` and `help` are built in and come before all. A disabled tool is found by no spelling.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from nit_kernel.errors import PluginError
from nit_kernel.language.names import folded, is_bare_name, nit_name, nit_names
from nit_kernel.runtime.builtin import help_tool
from nit_kernel.runtime.tool import Tool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

SourceKind = Literal["notebook", "plugin", "server"]

NOTEBOOK = "notebook"
"""The source of functions that a person made into tools."""

_PRECEDENCE: dict[SourceKind, int] = {"notebook": 0, "plugin": 1, "server": 2}


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """A bare name that two plugins, or two servers, have."""

    name: str
    tools: tuple[Tool, ...]


@dataclass(frozen=True, slots=True)
class Disabled:
    """A tool that is known, and switched off."""

    name: str
    tool: Tool
    reason: str


@dataclass(frozen=True, slots=True)
class Missing:
    """A name that means nothing."""

    name: str


Resolution = Tool | Ambiguous | Disabled | Missing


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where tools come from, and its tools by their NIT names."""

    name: str
    kind: SourceKind
    tools: Mapping[str, Tool]
    off: Mapping[str, str]
    """NIT name of each disabled tool, and why it is off."""


class Registry:
    """All tools of a session. Safe to read from any thread while another changes it."""

    version: int
    """Grows with every change: what was found out about names before it may be stale."""

    def __init__(self) -> None:
        self.version = 0
        self._lock = threading.Lock()
        self._sources: dict[str, Source] = {}
        self._written: dict[str, Resolution] = {}
        self._exact: dict[str, Resolution] = {}
        self._help = help_tool(self)
        self._reindex()

    # Writing

    def register(
        self,
        source: str,
        kind: SourceKind,
        tools: Iterable[Tool],
        *,
        off: Mapping[str, str] | None = None,
    ) -> tuple[str, ...]:
        """Take all tools of a source, or none of them; a source that is there is replaced.

        Args:
            source: The name of the plugin or server.
            kind: Decides who gets a bare name that several sources have.
            tools: Two whose names become equal in NIT are numbered, in the order of their exact
                names.
            off: Exact names of the tools that are disabled, each with a reason.

        Returns:
            One line for each bare name that changes its meaning by this.

        Raises:
            PluginError: Two tools have one name, or the source's name is another source's.
        """
        reasons = dict(off or {})
        placed = _distinct_names(source, tools)
        written_source = nit_name(source)
        with self._lock:
            for other in self._sources.values():
                if other.name != source and nit_name(other.name) == written_source:
                    raise PluginError(
                        f"`{source}` and `{other.name}` are both `{written_source}` in a script",
                        code="NIT551",
                        hint="rename one of them",
                    )
            before = self._written
            self._sources[source] = Source(
                name=source,
                kind=kind,
                tools={tool.spec.nit_name: tool for tool in placed},
                off={t.spec.nit_name: reasons[t.name] for t in placed if t.name in reasons},
            )
            self._reindex()
            return self._changes(before, source)

    def add(self, tool: Tool) -> tuple[str, ...]:
        """Take one function of the notebook; one of the same name is replaced."""
        with self._lock:
            there = self._sources.get(NOTEBOOK)
            kept = [] if there is None else [t for t in there.tools.values() if t.name != tool.name]
            off = (
                {}
                if there is None
                else {t.name: there.off[n] for n, t in there.tools.items() if n in there.off}
            )
        off.pop(tool.name, None)
        return self.register(NOTEBOOK, "notebook", [*kept, tool], off=off)

    def unregister(self, source: str) -> bool:
        """Forget a source and all its tools; whether it was there."""
        with self._lock:
            if self._sources.pop(source, None) is None:
                return False
            self._reindex()
            return True

    def disable(
        self, source: str, tool: str | None = None, *, reason: str = "switched off"
    ) -> None:
        """Switch a tool (by its exact or NIT name) or a whole source off.

        Raises:
            KeyError: There is no such source or tool.
        """
        with self._lock:
            there = self._sources[source]
            names = _names_of(there, tool)
            off = {**there.off, **dict.fromkeys(names, reason)}
            self._sources[source] = replace(there, off=off)
            self._reindex()

    def enable(self, source: str, tool: str | None = None) -> None:
        """Switch a tool or a whole source on again.

        Raises:
            KeyError: There is no such source or tool.
        """
        with self._lock:
            there = self._sources[source]
            names = _names_of(there, tool)
            off = {name: why for name, why in there.off.items() if name not in names}
            self._sources[source] = replace(there, off=off)
            self._reindex()

    # Reading

    def resolve(self, name: str) -> Resolution:
        """What a name means as it is written in a script: `tool` or `source.tool`."""
        return self._written.get(name) or Missing(name)

    def resolve_exact(self, name: str) -> Resolution:
        """What an exact name means (`call("get-weather")`); a NIT name will do, too."""
        return self._exact.get(name) or self._written.get(name) or Missing(name)

    def names(self) -> list[str]:
        """Every name that a script may write, bare ones first."""
        return sorted(
            (name for name, means in self._written.items() if not isinstance(means, Disabled)),
            key=lambda name: ("." in name, name),
        )

    def near(self, name: str) -> list[str]:
        """The usable names that differ from `name` only in case, `-` or `_`."""
        wanted = folded(name)
        return [other for other in self.names() if other != name and folded(other) == wanted]

    @property
    def sources(self) -> Mapping[str, Source]:
        """The sources by name, in the order in which they came."""
        return dict(self._sources)

    def source(self, written: str) -> Source | None:
        """The source of that name, as it is written in a script or exactly."""
        for source in self._sources.values():
            if written in (source.name, nit_name(source.name)):
                return source
        return None

    def tools(self) -> list[Tool]:
        """Every tool that can be called, the two built-in functions aside."""
        return [
            tool
            for source in self._sources.values()
            for name, tool in source.tools.items()
            if name not in source.off
        ]

    def written_name(self, tool: Tool) -> str:
        """The shortest name that reaches a tool in NIT."""
        name = tool.spec.nit_name
        return name if self._written.get(name) is tool else tool.full_name

    def signature(self, tool: Tool) -> str:
        """The signature line of a tool, under the shortest name that reaches it."""
        return self.written_name(tool) + tool.spec.signature()[len(tool.spec.nit_name) :]

    # Index

    def _reindex(self) -> None:
        """Work out every name anew; readers see the old index or the new one, never a half."""
        written: dict[str, Resolution] = {}
        exact: dict[str, Resolution] = {}
        for key, index in ((_written_key, written), (_exact_key, exact)):
            for source in self._sources.values():
                for name, tool in source.tools.items():
                    means: Resolution = tool
                    if name in source.off:
                        means = Disabled(tool.full_name, tool, source.off[name])
                    index[key(source.name, tool)] = means
            for name, rivals in self._rivals(key).items():
                index.setdefault(name, _winner(name, rivals))
        # A word of the language is never a tool's bare name; `source.word` and `call` reach it.
        written = {name: means for name, means in written.items() if is_bare_name(name)}
        written["help"] = self._help
        exact.setdefault("help", self._help)
        self._written, self._exact = written, exact
        self.version += 1

    def _rivals(self, key: Callable[[str, Tool], str]) -> dict[str, list[tuple[Source, Tool]]]:
        rivals: dict[str, list[tuple[Source, Tool]]] = {}
        for source in self._sources.values():
            for tool in source.tools.values():
                rivals.setdefault(key("", tool), []).append((source, tool))
        return rivals

    def _changes(self, before: dict[str, Resolution], source: str) -> tuple[str, ...]:
        notes: list[str] = []
        for name, tool in self._sources[source].tools.items():
            now, then = self._written.get(name), before.get(name)
            if isinstance(now, Ambiguous):
                where = " and ".join(f"`{rival.full_name}`" for rival in now.tools)
                notes.append(f"`{name}` is now ambiguous: write {where}")
            elif now is tool and isinstance(then, Tool) and then.source != source:
                notes.append(
                    f"`{name}` now means `{tool.full_name}`; write `{then.full_name}` for the other"
                )
            elif isinstance(now, Tool) and now is not tool and is_bare_name(name):
                notes.append(
                    f"`{name}` still means `{now.full_name}`; write `{tool.full_name}` for this one"
                )
            elif not is_bare_name(name):
                notes.append(f"`{name}` is a word of the language; write `{tool.full_name}`")
        return tuple(notes)


def _written_key(source: str, tool: Tool) -> str:
    return f"{nit_name(source)}.{tool.spec.nit_name}" if source else tool.spec.nit_name


def _exact_key(source: str, tool: Tool) -> str:
    return f"{source}.{tool.name}" if source else tool.name


def _winner(name: str, rivals: list[tuple[Source, Tool]]) -> Resolution:
    """Who gets a bare name: the best kind that has it switched on."""
    usable = [(s, t) for s, t in rivals if t.spec.nit_name not in s.off]
    if not usable:
        source, tool = rivals[0]
        return Disabled(name, tool, source.off[tool.spec.nit_name])
    best = min(_PRECEDENCE[source.kind] for source, _ in usable)
    first = [tool for source, tool in usable if _PRECEDENCE[source.kind] == best]
    return first[0] if len(first) == 1 else Ambiguous(name, tuple(first))


def _distinct_names(source: str, tools: Iterable[Tool]) -> list[Tool]:
    """The tools as members of the source, with NIT names of their own, in their order."""
    given = list(tools)
    by_exact: dict[str, Tool] = {}
    for tool in given:
        if tool.name in by_exact:
            raise PluginError(
                f"`{source}` has two tools called `{tool.name}`",
                code="NIT552",
                hint="give each tool a name of its own",
            )
        by_exact[tool.name] = tool
    names = nit_names(by_exact)
    return [tool.placed(source, replace(tool.spec, nit_name=names[tool.name])) for tool in given]


def _names_of(source: Source, tool: str | None) -> list[str]:
    if tool is None:
        return list(source.tools)
    names = [name for name, member in source.tools.items() if tool in (name, member.name)]
    if not names:
        raise KeyError(tool)
    return names
