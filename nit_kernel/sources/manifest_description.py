"""Reading `description.json`: what a plugin says about itself, in all forms of its manifest."""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from nit_kernel.language.names import CONSTANTS, RESERVED_WORDS
from nit_kernel.sources.manifest_parameters import (
    Described,
    read_parameters,
    read_returns,
    unwrapped,
)

if TYPE_CHECKING:
    from pathlib import Path

    from nit_kernel.language.schema import JsonObject, JsonValue, SideEffects
    from nit_kernel.sources.plugin_faults import FaultList

_PLATFORMS: Final = ("linux", "windows", "macos")
_SIDE_EFFECTS: Final[tuple[SideEffects, ...]] = ("none", "local", "external")
_COMMAND_KEYS: Final = ("invocationCommands", "toolDefinitions", "methods", "tools")
_LISTED_TODAY: Final = "capabilities.invocationCommands"
_PARAMETER_KEYS: Final = ("parameters", "params", "inputSchema", "input_schema", "parameter")
_NEVER_A_PLUGIN: Final = CONSTANTS | RESERVED_WORDS | {"notebook", "async", "await"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """A Python package that the plugin's code imports.

    Attributes:
        module: What is imported.
        install: What pip installs to get it.
        without: What does not work without it; `None`: the plugin cannot do without.
    """

    module: str
    install: str
    without: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One tool as the manifest describes it; `None`: the manifest does not say."""

    name: str
    description: str | None
    parameter_text: str
    parameters: Described | None
    returns: JsonObject | None
    timeout_s: float | None
    side_effects: SideEffects
    confirm: bool
    is_enabled: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a plugin says about itself."""

    name: str
    display_name: str
    version: str
    description: str
    kind: str
    entry_point: str | None
    platforms: tuple[str, ...]
    is_enabled: bool
    requirements: tuple[Requirement, ...]
    commands: tuple[Command, ...]


def read_description(
    document: JsonValue, folder: Path, path: Path, faults: FaultList
) -> Manifest | None:
    """Read a parsed description.json; `None` where not even the plugin's name can be read."""
    return _Description(folder, path, faults).read(document)


def is_plugin_name(name: str) -> bool:
    """Whether a plugin may have this name (in its normal form): it stands before a dot in NIT."""
    return name.isidentifier() and not name.startswith("__") and name not in _NEVER_A_PLUGIN


class _Description:
    """Reads one description.json; where it stands goes into each fault."""

    def __init__(self, folder: Path, path: Path, faults: FaultList) -> None:
        self.folder = folder
        self.path = path
        self.faults = faults
        self.listed_at = ""
        # What stands in a second place, beside the commands: older manifests have types there.
        self.others: list[tuple[str, JsonValue]] = []

    def read(self, document: JsonValue) -> Manifest | None:
        head: JsonObject = document if isinstance(document, dict) else {}
        is_one_tool = "commandIdentifier" in head
        name = self._plugin_name(head)
        if name is None:
            return None
        # From here on faults carry the plugin's own name.
        self.faults.plugin = name
        kind = self._kind(head)
        commands: list[Command] = []
        for where, raw in self._raw_commands(document):
            command = self._command(raw, where)
            if command is None:
                continue
            if any(command.name == other.name for other in commands):
                self.faults.doubled_tool(self.path, command.name)
            commands.append(self._with_types(command))
        self._note_unread({command.name for command in commands})
        display_name = self._text(head, "displayName") or name
        return Manifest(
            name=name,
            display_name=display_name,
            version=self._version(head),
            # A manifest of one tool has one description, the tool's.
            description="" if is_one_tool else self._text(head, "description") or "",
            kind=kind,
            entry_point=self._entry_point(head),
            platforms=self._platforms(head),
            is_enabled=self._flag(head, "enabled", "enabled", default=True),
            requirements=self._requirements(head),
            commands=tuple(commands),
        )

    # The plugin

    def _plugin_name(self, head: JsonObject) -> str | None:
        written = head.get("name")
        if "commandIdentifier" in head and not isinstance(written, str):
            written = None
        if written is None:
            return self._checked_plugin_name(self.folder.name, "the folder's name")
        if not isinstance(written, str):
            self.faults.bad_value(self.path, "name", "a text", written)
            return None
        return self._checked_plugin_name(written, "the plugin's name")

    def _checked_plugin_name(self, written: str, what: str) -> str | None:
        name = unicodedata.normalize("NFKC", written)
        if "-" in name and is_plugin_name(name.replace("-", "_")):
            name = name.replace("-", "_")
            self.faults.note(self.path, f"{what} `{written}` is written `{name}` in a script")
        if is_plugin_name(name):
            return name
        if name in _NEVER_A_PLUGIN:
            why, hint = "is a word of the language", 'give it another "name"'
        else:
            why, hint = "is no identifier", 'give it a "name" of letters, digits and `_`'
        self.faults.bad_name(self.path, what, written, why, hint)
        return None

    def _version(self, head: JsonObject) -> str:
        match head.get("version"):
            case None:
                return ""
            case bool() | list() | dict() as other:
                self.faults.bad_value(self.path, "version", "a text", other)
                return ""
            case value:
                return str(value)

    def _kind(self, head: JsonObject) -> str:
        kind = head.get("pluginType")
        if kind is None:
            return "python-module"
        if kind != "python-module":
            self.faults.unsupported_kind(self.path, kind)
        return kind if isinstance(kind, str) else ""

    def _entry_point(self, head: JsonObject) -> str | None:
        value = head.get("entryPoint")
        if value is None or (isinstance(value, str) and value and "\0" not in value):
            return value
        if head.get("pluginType") != "mcp-stdio":
            self.faults.bad_value(self.path, "entryPoint", "the name of a .py file", value)
        return None

    def _platforms(self, head: JsonObject) -> tuple[str, ...]:
        value = head.get("platforms")
        if value is None:
            return ()
        names = [str(item).lower() for item in value] if isinstance(value, list) else []
        if not names or not all(name in _PLATFORMS for name in names):
            self.faults.bad_value(
                self.path, "platforms", f"a list of {', '.join(_PLATFORMS)}", value
            )
            return ()
        return tuple(names)

    def _requirements(self, head: JsonObject) -> tuple[Requirement, ...]:
        value = head.get("requires")
        if value is None:
            return ()
        found: list[Requirement] = []
        for index, item in enumerate(value if isinstance(value, list) else [value]):
            match item:
                case str() if (stem := re.match(r"[\w.]+", item)) is not None:
                    found.append(Requirement(module=stem[0], install=item))
                case {"import": str(module), **rest}:
                    install, without = rest.get("install", module), rest.get("without")
                    if isinstance(install, str) and isinstance(without, str | None):
                        found.append(Requirement(module=module, install=install, without=without))
                        continue
                    self._bad_requirement(index, item)
                case _:
                    self._bad_requirement(index, item)
        return tuple(found)

    def _bad_requirement(self, index: int, item: JsonValue) -> None:
        wanted = 'a package name, or {"import", "install", "without"}'
        self.faults.bad_value(self.path, f"requires[{index}]", wanted, item)

    # Its commands

    def _raw_commands(self, document: JsonValue) -> list[tuple[str, JsonValue]]:
        """Every command with its place, in whichever of the known forms they are."""
        if isinstance(document, list):
            found = [(f"[{index}]", item) for index, item in enumerate(document)]
        elif not isinstance(document, dict):
            self.faults.bad_value(self.path, "the file", "an object or a list of tools", document)
            return []
        elif "commandIdentifier" in document:
            return [("", document)]
        else:
            found = self._listed_commands(document)
        if not found and not self.faults.has_errors:
            hint = "list them under capabilities.invocationCommands"
            self.faults.missing_part(self.path, "describes no tools", hint)
        return found

    def _listed_commands(self, document: JsonObject) -> list[tuple[str, JsonValue]]:
        capabilities = document.get("capabilities")
        if capabilities is not None and not isinstance(capabilities, dict):
            self.faults.bad_value(self.path, "capabilities", "an object", capabilities)
        places: list[tuple[str, JsonObject]] = []
        if isinstance(capabilities, dict):
            places.append(("capabilities.", capabilities))
        places.append(("", document))
        found: list[tuple[str, JsonValue]] = []
        for prefix, holder in places:
            for key in _COMMAND_KEYS:
                where = f"{prefix}{key}"
                tools = self._tools_at(where, holder.get(key))
                if found:
                    self.others += tools
                elif tools:
                    self.listed_at = where
                    found = tools
        if found and self.listed_at != _LISTED_TODAY:
            message = f"an older manifest: its tools stand under `{self.listed_at}`"
            self.faults.note(self.path, message, f"the place of today is {_LISTED_TODAY}")
        return found

    def _tools_at(self, where: str, value: JsonValue) -> list[tuple[str, JsonValue]]:
        match value:
            case None:
                return []
            case list():
                return [(f"{where}[{index}]", item) for index, item in enumerate(value)]
            case dict():
                return [
                    (f"{where}.{name}", {"name": name, **item} if isinstance(item, dict) else item)
                    for name, item in value.items()
                ]
            case _:
                self.faults.bad_value(self.path, where, "a list of tools", value)
                return []

    def _with_types(self, command: Command) -> Command:
        """Give a command that has only words the types that stand in another place."""
        for other, where in (unwrapped(raw, where) for where, raw in self.others):
            if not isinstance(other, dict) or _name_of(other) != command.name:
                continue
            parameters = self._parameters(other, f"{where}.")
            if parameters is None:
                continue
            if command.parameters is not None:
                message = f"`{command.name}` has its parameters under `{self.listed_at}`"
                self.faults.note(self.path, f"`{where}` is not read: {message}")
                continue
            message = f"the parameters of `{command.name}` stand under `{where}`"
            self.faults.note(self.path, f"an older manifest: {message}", "write schema.json")
            returns = command.returns or self._returns(other, f"{where}.")
            command = replace(command, parameters=parameters, returns=returns)
        return command

    def _note_unread(self, names: set[str]) -> None:
        for other, where in (unwrapped(raw, where) for where, raw in self.others):
            name = _name_of(other) if isinstance(other, dict) else None
            if name is not None and name not in names:
                message = f"`{where}` is not read: `{self.listed_at}` has no `{name}`"
                self.faults.note(self.path, message)

    def _command(self, raw: JsonValue, where: str) -> Command | None:
        raw, where = unwrapped(raw, where)
        prefix = f"{where}." if where else ""
        if not isinstance(raw, dict):
            self.faults.bad_value(self.path, where, "an object that describes a tool", raw)
            return None
        key = "commandIdentifier" if "commandIdentifier" in raw or not where else "name"
        written = raw.get(key)
        if not isinstance(written, str):
            self.faults.bad_value(
                self.path, f"{prefix}commandIdentifier", "a function's name", written
            )
            return None
        name = unicodedata.normalize("NFKC", written)
        if not name.isidentifier() or name.startswith("__"):
            hint = "it is the name of a function in the plugin's code"
            self.faults.bad_name(self.path, f"`{prefix}{key}`", written, "is no identifier", hint)
            return None
        return Command(
            name=name,
            description=self._described(raw, prefix, name),
            parameter_text=self._parameter_text(raw, prefix),
            parameters=self._parameters(raw, prefix),
            returns=self._returns(raw, prefix),
            timeout_s=self._timeout(raw, prefix),
            side_effects=self._side_effects(raw, prefix),
            confirm=self._flag(raw, "confirm", f"{prefix}confirm", default=False),
            # At the top of a manifest of one tool, `enabled` is the plugin's own.
            is_enabled=not where or self._flag(raw, "enabled", f"{prefix}enabled", default=True),
        )

    def _described(self, raw: JsonObject, prefix: str, name: str) -> str | None:
        text = self._text(raw, "description", prefix)
        if not text:
            message = f"`{name}` has no description for the model"
            self.faults.note(self.path, message, "say when to use it; its docstring stands in")
        return text or None

    def _parameter_text(self, raw: JsonObject, prefix: str) -> str:
        value = raw.get("parameter")
        if value is None and isinstance(raw.get("parameters"), str):
            value = raw["parameters"]
        if value is None or isinstance(value, str):
            return value or ""
        if not isinstance(value, dict | list):
            self.faults.bad_value(self.path, f"{prefix}parameter", "a text", value)
        return ""

    def _parameters(self, raw: JsonObject, prefix: str) -> Described | None:
        for key in _PARAMETER_KEYS:
            value = raw.get(key)
            if value is None or isinstance(value, str):
                continue
            return read_parameters(
                value, beside=raw, where=f"{prefix}{key}", path=self.path, faults=self.faults
            )
        return None

    def _returns(self, raw: JsonObject, prefix: str) -> JsonObject | None:
        return read_returns(raw, prefix, self.path, self.faults)

    def _timeout(self, raw: JsonObject, prefix: str) -> float | None:
        value = raw.get("timeout")
        if value is None:
            return None
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not 0 < value < math.inf
        ):
            self.faults.bad_value(
                self.path, f"{prefix}timeout", "a number of seconds above 0", value
            )
            return None
        return float(value)

    def _side_effects(self, raw: JsonObject, prefix: str) -> SideEffects:
        value = raw.get("sideEffects")
        if value is None:
            return "external"
        for known in _SIDE_EFFECTS:
            if value == known:
                return known
        self.faults.bad_value(self.path, f"{prefix}sideEffects", "none, local or external", value)
        return "external"

    def _text(self, raw: JsonObject, key: str, prefix: str = "") -> str | None:
        value = raw.get(key)
        if value is None or isinstance(value, str):
            return value
        self.faults.bad_value(self.path, f"{prefix}{key}", "a text", value)
        return None

    def _flag(self, raw: JsonObject, key: str, where: str, *, default: bool) -> bool:
        value = raw.get(key)
        if value is None:
            return default
        if isinstance(value, bool):
            return value
        self.faults.bad_value(self.path, where, "true or false", value)
        return default


def _name_of(raw: JsonObject) -> str | None:
    name = raw.get("commandIdentifier", raw.get("name"))
    return unicodedata.normalize("NFKC", name) if isinstance(name, str) else None
