"""Reading the JSON files of a plugin: bounded, inside the folder, faults with line and column."""

from __future__ import annotations

import json
import re
import stat
from typing import TYPE_CHECKING, Final, NoReturn, cast

if TYPE_CHECKING:
    from pathlib import Path

    from nit_kernel.language.schema import JsonValue
    from nit_kernel.sources.plugin_faults import FaultList

MAX_BYTES: Final = 1_048_576
"""The longest description.json, schema.json or source file that is read, in bytes."""

# A string, or (group 1) a constant that Python's reader takes and JSON does not have.
_CONSTANT: Final = re.compile(r'"(?:[^"\\]|\\.)*"|(-?Infinity|NaN)')


def resolve_inside(folder: Path, part: Path, faults: FaultList) -> Path | None:
    """Resolve a path with all its links; it must be a regular file inside the resolved folder.

    Returns:
        The resolved path, or `None` after adding the fault. A file that is not there is none of
        these faults: look before.
    """
    try:
        resolved = part.resolve(strict=True)
        mode = resolved.stat().st_mode
    except (OSError, ValueError, RuntimeError) as error:
        # RuntimeError: a loop of links, in Python 3.11 and 3.12.
        reason = getattr(error, "strerror", None) or str(error)
        faults.missing_part(part, f"cannot be read: {reason}", "look at the file and its rights")
        return None
    if not resolved.is_relative_to(folder):
        faults.leaves_folder(
            part, f"`{part.name}` leads to `{resolved}`, outside the plugin's folder"
        )
        return None
    if not stat.S_ISREG(mode):
        faults.missing_part(part, "is no regular file", "put a plain file there")
        return None
    return resolved


def read_source(folder: Path, part: Path, faults: FaultList) -> bytes | None:
    """Read a file of a plugin, or add a fault."""
    resolved = resolve_inside(folder, part, faults)
    if resolved is None:
        return None
    try:
        with resolved.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        faults.missing_part(part, f"cannot be read: {error.strerror}", "look at the file's rights")
        return None
    if len(content) > MAX_BYTES:
        faults.missing_part(part, f"is longer than {MAX_BYTES:,} bytes", "make it shorter")
        return None
    return content


def read_json(folder: Path, part: Path, faults: FaultList) -> JsonValue:
    """Read a JSON file of a plugin; `None`, and a fault with its place, where that fails."""
    content = read_source(folder, part, faults)
    if content is None:
        return None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8", "replace")
        faults.bad_json(
            part, f"is not UTF-8 text (byte 0x{content[error.start]:02x})", *_place(before)
        )
        return None
    try:
        value = cast("JsonValue", json.loads(text, parse_constant=_refuse_constant))
        if "\\u" in text:
            _refuse_lone_surrogates(value)
    except json.JSONDecodeError as error:
        faults.bad_json(part, f"is not JSON: {error.msg}", error.lineno, error.colno)
    except RecursionError:
        faults.bad_json(part, "is not usable: brackets are nested too deeply", None, None)
    except ValueError as error:
        constant = next((match for match in _CONSTANT.finditer(text) if match[1]), None)
        place = _place(text[: constant.start()]) if constant else (None, None)
        faults.bad_json(part, f"is not JSON: {error}", *place)
    else:
        if value is None:
            faults.bad_json(part, "holds only `null`", 1, 1)
        return value
    return None


def _place(before: str) -> tuple[int, int]:
    return before.count("\n") + 1, len(before) - before.rfind("\n")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"`{name}` is no JSON value")


def _refuse_lone_surrogates(value: JsonValue) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        half = error.object[error.start]
        raise ValueError(f"`\\u{ord(half):04x}` is half a character") from None
