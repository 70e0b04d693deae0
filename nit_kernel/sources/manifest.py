"""The two JSON parts of a plugin: `description.json` (the words) and `schema.json` (the types).

`read_manifest` gives what both say together, without running any of the plugin's code. What is
wrong goes to a fault list; a manifest with faults of severity `error` is still returned as far as
it could be read, so that its tools can be named to whoever asks for them.
"""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from nit_kernel.sources.manifest_description import (
    Command,
    Manifest,
    Requirement,
    read_description,
)
from nit_kernel.sources.manifest_json import read_json
from nit_kernel.sources.manifest_parameters import (
    Described,
    read_parameters,
    read_returns,
    unwrapped,
)
from nit_kernel.sources.plugin_faults import suggestion

if TYPE_CHECKING:
    from pathlib import Path

    from nit_kernel.language.schema import JsonObject, JsonValue
    from nit_kernel.sources.plugin_faults import FaultList

__all__ = ["DESCRIPTION", "SCHEMA", "Command", "Manifest", "Requirement", "read_manifest"]

DESCRIPTION: Final = "description.json"
SCHEMA: Final = "schema.json"

_PARAMETER_KEYS: Final = ("parameters", "params", "inputSchema", "input_schema")


def read_manifest(folder: Path, faults: FaultList) -> Manifest | None:
    """Read both JSON parts of the plugin in a (resolved) folder.

    Returns:
        `None` where there is no description, or where not even a name could be read.
    """
    part = folder / DESCRIPTION
    if not part.exists() and not part.is_symlink():
        hint = f"write one, or see how `nit new-plugin {folder.name}` does"
        faults.missing_part(part, "is missing: every plugin has one", hint)
        return None
    document = read_json(folder, part, faults)
    if document is None:
        return None
    manifest = read_description(document, folder, part, faults)
    if manifest is None or manifest.kind != "python-module":
        return manifest
    return _with_schemas(manifest, folder, faults)


def _with_schemas(manifest: Manifest, folder: Path, faults: FaultList) -> Manifest:
    """Let schema.json decide the types, and say where the two parts differ."""
    part = folder / SCHEMA
    if not part.exists() and not part.is_symlink():
        source = "the manifest" if all(c.parameters for c in manifest.commands) else "the code"
        hint = f"write {SCHEMA}: it decides how arguments are converted"
        faults.note(part, f"is missing: types are taken from {source}", hint)
        return manifest
    document = read_json(folder, part, faults)
    if document is None:
        return manifest
    entries = _schema_entries(document, part, faults)
    described = [command.name for command in manifest.commands]
    for name in entries:
        if name not in described and not faults.has_errors:
            hint = suggestion(name, described) or f"describe it in {DESCRIPTION}"
            faults.parts_disagree(part, f"`{name}` is not described in {DESCRIPTION}", hint)
    commands: list[Command] = []
    for command in manifest.commands:
        entry = entries.get(command.name)
        if entry is None:
            if not faults.has_errors:
                hint = suggestion(command.name, entries) or "add its schema"
                faults.parts_disagree(part, f"has no entry for `{command.name}`", hint)
            commands.append(command)
            continue
        parameters, returns = entry
        _compare_words(command, parameters, part, faults)
        commands.append(
            replace(
                command,
                parameters=parameters or command.parameters,
                returns=returns or command.returns,
            )
        )
    return replace(manifest, commands=tuple(commands))


def _schema_entries(
    document: JsonValue, path: Path, faults: FaultList
) -> dict[str, tuple[Described | None, JsonObject | None]]:
    """Each tool's parameters and result in schema.json, in any of its forms."""
    where = ""
    if isinstance(document, dict) and isinstance(document.get("tools"), list):
        document, where = document["tools"], "tools"
    if isinstance(document, dict):
        document = [document]
    if not isinstance(document, list):
        faults.bad_value(path, "the file", "a list of tools", document)
        return {}
    entries: dict[str, tuple[Described | None, JsonObject | None]] = {}
    for index, item in enumerate(document):
        raw, place = unwrapped(item, f"{where}[{index}]")
        name = raw.get("name") if isinstance(raw, dict) else None
        if not isinstance(raw, dict) or not isinstance(name, str):
            faults.bad_value(path, place, 'a tool with a "name" and "parameters"', raw)
            continue
        name = unicodedata.normalize("NFKC", name)
        if name in entries:
            faults.doubled_tool(path, name)
            continue
        outer: JsonObject = item if isinstance(item, dict) else {}
        entries[name] = (
            _schema_parameters(raw, f"{place}.", name, path, faults),
            read_returns({**outer, **raw}, f"{place}.", path, faults),
        )
    return entries


def _schema_parameters(
    raw: JsonObject, prefix: str, name: str, path: Path, faults: FaultList
) -> Described | None:
    for key in _PARAMETER_KEYS:
        value = raw.get(key)
        if value is not None:
            return read_parameters(
                value, beside=raw, where=f"{prefix}{key}", path=path, faults=faults
            )
    hint = 'add "parameters", a JSON Schema object'
    faults.note(path, f"`{name}` has no parameters here: they are taken from the code", hint)
    return None


def _compare_words(
    command: Command, parameters: Described | None, path: Path, faults: FaultList
) -> None:
    """Note where description.json speaks of parameters that schema.json does not have."""
    if command.parameters is None or parameters is None:
        return
    words = _names(command.parameters)
    types = _names(parameters)
    if words and types and words != types:
        only = sorted(words ^ types)
        listed = ", ".join(f"`{name}`" for name in only)
        message = f"`{command.name}`: {DESCRIPTION} and {SCHEMA} differ on {listed}"
        faults.note(path, message, f"{SCHEMA} decides")


def _names(parameters: Described) -> frozenset[str]:
    properties = parameters.schema.get("properties")
    return frozenset(properties) if isinstance(properties, dict) else frozenset()
