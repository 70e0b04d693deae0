"""Plugins: folders of code, words and types that become tools, each on its own.

```
places ──find──> plugin folders ──load──> Plugin(tools, faults) ──register──> the registry
  shipped, option, NIT_PLUGIN_PATH, entry points     manifest, code, tools       whole or not at all
```

A plugin with a fault of severity `error` is kept out whole, listed with its faults, and touches no
other. Its tools are registered as disabled, so that a script that calls one is told why.

The code of a plugin is imported when the plugin is loaded, since only that tells whether it can be;
what is heavy belongs inside its functions. Plugins that are off are not imported.
"""

from __future__ import annotations

import importlib
import importlib.util
import logging
import sys
import weakref
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from nit_kernel.errors import PluginError
from nit_kernel.sources.manifest import DESCRIPTION, read_manifest
from nit_kernel.sources.manifest_json import resolve_inside
from nit_kernel.sources.plugin_code import (
    describe_error,
    fingerprint,
    forget_plugin,
    import_plugin,
    install_command,
)
from nit_kernel.sources.plugin_faults import Fault, FaultList
from nit_kernel.sources.plugin_places import PluginPlace, find_plugins
from nit_kernel.sources.plugin_tools import make_tools, unusable_tools

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nit_kernel.runtime.registry import Registry
    from nit_kernel.runtime.tool import Tool
    from nit_kernel.sources.manifest import Manifest

_log = logging.getLogger(__name__)

PluginState = Literal["loaded", "off", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """One plugin folder, loaded or not.

    Attributes:
        name: Its name, or its folder's where that could not be read.
        folder: The folder, links resolved.
        origin: Where it was found: `"shipped"`, `"option"`, `"NIT_PLUGIN_PATH"`, or
            `"entry point NAME"`.
        state: `"off"` is switched off by its manifest, or not for this platform.
        tools: Its tools; those in `off` are disabled.
        off: Each disabled tool by name, and why.
        faults: What is wrong or could be better, in the order found.
        fingerprint: Of everything in the folder.
    """

    name: str
    folder: Path
    origin: str
    state: PluginState
    version: str = ""
    display_name: str = ""
    description: str = ""
    tools: tuple[Tool, ...] = ()
    off: dict[str, str]
    faults: tuple[Fault, ...] = ()
    fingerprint: str = ""
    package: str | None = None
    is_replaced: bool = False
    """Whether it would be there if another plugin had not its name."""

    @property
    def has_errors(self) -> bool:
        """Whether it was kept out."""
        return self.state == "failed"

    @property
    def is_settled(self) -> bool:
        """Whether nothing but a change in its folder could make it another."""
        return not self.has_errors and not self.is_replaced


@dataclass(frozen=True, slots=True, kw_only=True)
class Reloaded:
    """What a reload changed: names of plugins, and one line for each name that changed meaning."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class Plugins:
    """The plugins of one session.

    Args:
        registry: Where their tools go.
    """

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._places: list[PluginPlace] = []
        self._plugins: dict[Path, Plugin] = {}
        self._lost: list[Fault] = []
        self._packages: set[str] = set()
        self._finalize = weakref.finalize(self, _forget, self._packages)

    def __iter__(self) -> Iterator[Plugin]:
        return iter(self.all)

    @property
    def all(self) -> tuple[Plugin, ...]:
        """Every plugin that was found, in the order of loading."""
        return tuple(self._plugins.values())

    @property
    def faults(self) -> tuple[Fault, ...]:
        """Every fault: of places where no plugin is, then of the plugins."""
        return (*self._lost, *(fault for plugin in self.all for fault in plugin.faults))

    def load(self, places: Iterable[str | Path | PluginPlace]) -> tuple[str, ...]:
        """Load what is in more places.

        Args:
            places: Plugin folders and folders of them; `default_places` gives the usual ones.

        Returns:
            One line for each bare name that changed its meaning.
        """
        for place in places:
            made = place if isinstance(place, PluginPlace) else PluginPlace(path=Path(place))
            if made not in self._places:
                self._places.append(made)
        return self.reload().notes

    def reload(self) -> Reloaded:
        """Look at all places again: load what is new or changed, forget what is gone.

        A plugin that failed is always tried again: what it misses may be installed by now.
        """
        # A package that was installed a moment ago must be seen.
        importlib.invalidate_caches()
        found, self._lost = find_plugins(self._places)
        fresh: dict[Path, Plugin] = {}
        taken: dict[str, Path] = {}
        for place in found:
            before = self._plugins.get(place.folder)
            mark = "" if place.fault is not None else fingerprint(place.folder)
            if before is not None and before.is_settled and before.fingerprint == mark:
                plugin = before
            else:
                plugin = load_plugin(place.folder, origin=place.origin, fault=place.fault)
                plugin = replace(plugin, fingerprint=mark)
            plugin = _unless_taken(plugin, taken)
            if plugin.state != "failed":
                taken[plugin.name] = plugin.folder
            fresh[plugin.folder] = plugin
        before, self._plugins = self._plugins, fresh
        self._packages |= {plugin.package for plugin in fresh.values() if plugin.package}
        return self._register(before)

    def close(self) -> None:
        """Let go of the code of all plugins."""
        self._finalize()

    def _register(self, before: dict[Path, Plugin]) -> Reloaded:
        """Bring the registry from what was to what is."""
        old = {plugin.name: plugin for plugin in before.values() if plugin.tools}
        new: dict[str, Plugin] = {}
        for plugin in self._plugins.values():
            if plugin.tools and (plugin.name not in new or not plugin.has_errors):
                new[plugin.name] = plugin
        for name in old.keys() - new.keys():
            self._registry.unregister(name)
        notes: list[str] = []
        for name, plugin in new.items():
            if old.get(name) is plugin:
                continue
            try:
                changes = self._registry.register(name, "plugin", plugin.tools, off=plugin.off)
            except PluginError as error:
                # A server or another source has the name.
                self._keep_out(plugin, error)
                continue
            if plugin.state == "loaded":
                notes += changes
        listed_before = {p.name for p in before.values() if p.state == "loaded"}
        listed_now = {p.name for p in self._plugins.values() if p.state == "loaded"}
        changed = [n for n, p in new.items() if n in old and old[n] is not p]
        return Reloaded(
            added=tuple(sorted(listed_now - listed_before)),
            changed=tuple(sorted(set(changed) & listed_before & listed_now)),
            removed=tuple(sorted(listed_before - listed_now)),
            notes=tuple(notes),
        )

    def _keep_out(self, plugin: Plugin, error: PluginError) -> None:
        fault = Fault(
            plugin=plugin.name,
            code=error.code,
            message=error.message,
            hint=error.hint,
            path=plugin.folder,
        )
        self._plugins[plugin.folder] = replace(
            plugin, state="failed", tools=(), faults=(*plugin.faults, fault)
        )


def load_plugin(folder: Path, *, origin: str = "option", fault: Fault | None = None) -> Plugin:
    """Load one plugin folder; never raises for what is in it."""
    if fault is not None:
        return _failed(fault.plugin, folder, origin, [fault])
    faults = FaultList(folder.name)
    try:
        return _load(folder.resolve(), origin, faults)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - one plugin must not keep the others out
        _log.exception("plugin in %s", folder)
        faults.import_failed(folder, f"cannot be loaded: {describe_error(error)}")
        return _failed(faults.plugin, folder, origin, faults.faults)


def _failed(name: str, folder: Path, origin: str, faults: Iterable[Fault]) -> Plugin:
    return Plugin(
        name=name, folder=folder, origin=origin, state="failed", off={}, faults=tuple(faults)
    )


def _load(folder: Path, origin: str, faults: FaultList) -> Plugin:
    manifest = read_manifest(folder, faults)
    if manifest is None:
        return _failed(faults.plugin, folder, origin, faults.faults)
    tools: list[Tool] = []
    off: dict[str, str] = {}
    package: str | None = None
    state: PluginState = "loaded"
    reason = None if faults.has_errors else _why_off(manifest)
    if reason is not None:
        state = "off"
        tools = unusable_tools(manifest, reason)
    elif not faults.has_errors:
        tools, package = _loaded_tools(manifest, folder, faults)
        reason_off = f"it is switched off (`enabled` in {DESCRIPTION} of `{manifest.name}`)"
        off = {c.name: reason_off for c in manifest.commands if not c.is_enabled}
    if faults.has_errors:
        state = "failed"
        first = next(item for item in faults.faults if item.severity == "error")
        hint = f"; {first.hint}" if first.hint else ""
        reason = f"the plugin `{manifest.name}` did not load: {first.place}: {first.message}{hint}"
        tools = _distinct(unusable_tools(manifest, reason))
        if package is not None:
            forget_plugin(package)
            package = None
    if reason is not None:
        off = {tool.name: reason for tool in tools}
    return Plugin(
        name=manifest.name,
        folder=folder,
        origin=origin,
        state=state,
        version=manifest.version,
        display_name=manifest.display_name,
        description=manifest.description,
        tools=tuple(tools),
        off=off,
        faults=tuple(faults.faults),
        package=package,
    )


def _loaded_tools(
    manifest: Manifest, folder: Path, faults: FaultList
) -> tuple[list[Tool], str | None]:
    entry = _entry_point(manifest, folder, faults)
    if entry is None or not _requirements_met(manifest, folder, faults):
        return [], None
    install = {item.module: item.install for item in manifest.requirements}
    code = import_plugin(manifest.name, folder, entry, faults, install=install)
    if code is None:
        return [], None
    return make_tools(manifest, code.module, entry, folder, faults), code.package


def _entry_point(manifest: Manifest, folder: Path, faults: FaultList) -> Path | None:
    if manifest.entry_point is not None:
        part = folder / manifest.entry_point
    else:
        part = folder / f"{folder.name}.py"
        if not part.exists():
            sources = sorted(folder.glob("*.py"))
            if len(sources) != 1:
                found = "no .py file" if not sources else f"{len(sources)} .py files"
                hint = f"call the one with the tools {part.name}, or name it in entryPoint"
                faults.missing_part(part, f"is missing, and the folder has {found}", hint)
                return None
            part = sources[0]
    if not part.exists() and not part.is_symlink():
        # The path may lead outside: say that first.
        if not part.resolve().is_relative_to(folder):
            faults.leaves_folder(part, f"the entry point `{manifest.entry_point}` leads outside")
        else:
            faults.missing_part(part, "is missing: it is the entry point", "write the code")
        return None
    entry = resolve_inside(folder, part, faults)
    if entry is not None and entry.suffix != ".py":
        faults.bad_value(folder / DESCRIPTION, "entryPoint", "a .py file", part.name)
        return None
    return entry


def _requirements_met(manifest: Manifest, folder: Path, faults: FaultList) -> bool:
    """Whether the packages it cannot do without are there; says which pip command brings them."""
    missing = [item for item in manifest.requirements if not _is_installed(item.module)]
    part = folder / DESCRIPTION
    needed = [item for item in missing if item.without is None]
    if needed:
        command = install_command([item.install for item in needed])
        faults.missing_dependency(part, [item.module for item in needed], command)
    for without in dict.fromkeys(item.without for item in missing if item.without):
        items = [item for item in missing if item.without == without]
        command = install_command([item.install for item in items])
        names = [item.module for item in items]
        faults.missing_dependency(part, names, command, without=without)
    return not needed


def _is_installed(module: str) -> bool:
    try:
        # Only the top: looking for `a.b` would import `a`.
        return importlib.util.find_spec(module.partition(".")[0]) is not None
    except (ImportError, ValueError, AttributeError):
        return False


def _why_off(manifest: Manifest) -> str | None:
    if not manifest.is_enabled:
        return f"the plugin `{manifest.name}` is switched off (`enabled` in its {DESCRIPTION})"
    platform = {"win32": "windows", "darwin": "macos"}.get(sys.platform, "linux")
    if manifest.platforms and platform not in manifest.platforms:
        return f"the plugin `{manifest.name}` is for {', '.join(manifest.platforms)} only"
    return None


def _unless_taken(plugin: Plugin, taken: dict[str, Path]) -> Plugin:
    """A plugin whose name an earlier one has is kept out; a shipped one gives way quietly."""
    other = taken.get(plugin.name)
    if other is None or other == plugin.folder:
        return plugin
    if plugin.package is not None:
        forget_plugin(plugin.package)
    faults = FaultList(plugin.name)
    is_shipped = plugin.origin == "shipped"
    faults.name_taken(plugin.folder, plugin.name, other, severity="note" if is_shipped else "error")
    return replace(
        plugin,
        state="off" if is_shipped else "failed",
        tools=(),
        off={},
        faults=(*plugin.faults, *faults.faults),
        package=None,
        is_replaced=True,
    )


def _distinct(tools: list[Tool]) -> list[Tool]:
    return list({tool.name: tool for tool in tools}.values())


def _forget(packages: set[str]) -> None:
    for package in packages:
        forget_plugin(package)
