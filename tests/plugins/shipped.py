"""The plugins that come with the package, loaded as a session does."""

import importlib
from types import ModuleType
from typing import Any

from nit_kernel.sources.plugin_places import shipped_folder
from nit_kernel.sources.plugins import Plugin, load_plugin


def load_shipped(name: str) -> Plugin:
    """Load one of them, as it is in this repository."""
    top = shipped_folder()
    assert top is not None
    plugin = load_plugin(top / name, origin="shipped")
    assert [str(fault) for fault in plugin.faults if fault.severity == "error"] == []
    return plugin


def function_of(plugin: Plugin, tool: str) -> Any:
    """What the tool calls."""
    return next(member for member in plugin.tools if member.name == tool).call


def module_of(plugin: Plugin, name: str) -> ModuleType:
    """A file of the plugin beside its entry point."""
    return importlib.import_module(f"{plugin.package}.{name}")
