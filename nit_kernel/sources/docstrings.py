"""What a docstring says: its first paragraph, and the description of each parameter.

Google, NumPy and Sphinx styles are read; in any other text there are simply no parameters.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, field
from typing import Final

_GOOGLE_SECTION: Final = re.compile(r"^(Args|Arguments|Parameters|Params|Keyword Args)\s*:\s*$")
_OTHER_SECTION: Final = re.compile(r"^[A-Z][\w ]*:\s*$")
_GOOGLE_ENTRY: Final = re.compile(r"^\*{0,2}([^\W\d]\w*)\s*(?:\([^)]*\))?\s*:\s*(.*)$")
_NUMPY_ENTRY: Final = re.compile(r"^\*{0,2}([^\W\d]\w*(?:\s*,\s*[^\W\d]\w*)*)\s*(?::.*)?$")
_SPHINX_ENTRY: Final = re.compile(
    r"^:(?:param|parameter|arg|argument|key)\s+(?:[^:]*\s)?\*{0,2}(\w+)\s*:\s*(.*)$"
)


@dataclass(frozen=True, slots=True)
class Docstring:
    """The parts of a docstring that are said to a model."""

    summary: str = ""
    parameters: dict[str, str] = field(default_factory=dict[str, str])


def read_docstring(function: object) -> Docstring:
    """Read the docstring of a function, empty where it has none."""
    text = inspect.getdoc(function) or ""
    lines = text.splitlines()
    summary: list[str] = []
    for line in lines:
        stripped = line.strip()
        if not stripped or _GOOGLE_SECTION.match(stripped) or _SPHINX_ENTRY.match(stripped):
            if summary:
                break
            if stripped:
                break
            continue
        summary.append(stripped)
    parameters = _google(lines) or _numpy(lines) or _sphinx(lines)
    return Docstring(" ".join(summary), parameters)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _google(lines: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    inside = False
    base: int | None = None
    name = ""
    for line in lines:
        stripped = line.strip()
        if _indent(line) == 0 and stripped:
            inside = bool(_GOOGLE_SECTION.match(stripped))
            base, name = None, ""
            continue
        if not inside or not stripped:
            continue
        base = _indent(line) if base is None else base
        entry = _GOOGLE_ENTRY.match(stripped) if _indent(line) <= base else None
        if entry:
            name = entry[1]
            found[name] = entry[2]
        elif name:
            found[name] = f"{found[name]} {stripped}".strip()
    return found


def _numpy(lines: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    inside = False
    names: list[str] = []
    for number, line in enumerate(lines):
        stripped = line.strip()
        following = lines[number + 1].strip() if number + 1 < len(lines) else ""
        if stripped and following and set(following) == {"-"}:
            inside = stripped in {"Parameters", "Other Parameters"}
            names = []
            continue
        if not inside or not stripped or set(stripped) == {"-"}:
            continue
        entry = _NUMPY_ENTRY.match(stripped) if _indent(line) == 0 else None
        if entry:
            names = [name.strip() for name in entry[1].split(",")]
            for name in names:
                found[name] = ""
        else:
            for name in names:
                found[name] = f"{found[name]} {stripped}".strip()
    return found


def _sphinx(lines: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    name = ""
    for line in lines:
        stripped = line.strip()
        entry = _SPHINX_ENTRY.match(stripped)
        if entry:
            name = entry[1]
            found[name] = entry[2]
        elif stripped.startswith(":") or not stripped:
            name = ""
        elif name:
            found[name] = f"{found[name]} {stripped}".strip()
    return found
