"""What can be wrong with a plugin, as a list of findings: each has a code, a file, a next action.

A fault of severity `error` keeps its plugin out; a `note` does not. No fault of one plugin touches
another. The codes are listed in `docs/diagnostics.d/plugins.md`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from nit_kernel.errors import PluginError
from nit_kernel.language.json_form import clean_text
from nit_kernel.language.schema import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

FaultSeverity = Literal["error", "note"]

MISSING_PACKAGE: Final = "NIT559"
"""The code of a plugin that only waits for a Python package to be installed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One finding about a plugin.

    Attributes:
        plugin: The plugin's name, or its folder's where the name could not be read.
        code: A stable code such as `"NIT553"`.
        message: One line, no final dot.
        hint: The next action, or `None`.
        severity: `"error"` keeps the plugin out, `"note"` does not.
        path: The file or folder that is meant, or `None`.
        line: 1-based, or `None`.
        column: 1-based, in characters, or `None`.
    """

    plugin: str
    code: str
    message: str
    hint: str | None = None
    severity: FaultSeverity = "error"
    path: Path | None = None
    line: int | None = None
    column: int | None = None

    def __post_init__(self) -> None:
        # Foreign errors and file names may hold halves of letters, which nothing can print.
        object.__setattr__(self, "plugin", clean_text(self.plugin))
        object.__setattr__(self, "message", clean_text(self.message))
        if self.hint is not None:
            object.__setattr__(self, "hint", clean_text(self.hint))

    @property
    def place(self) -> str:
        """The place in one word: `web/schema.json:3:7`, or the plugin's name."""
        if self.path is None:
            return self.plugin
        shown = (
            f"{self.path.parent.name}/{self.path.name}" if self.path.parent.name else str(self.path)
        )
        if self.line is not None:
            shown += f":{self.line}:{self.column or 1}"
        return clean_text(shown)

    def __str__(self) -> str:
        kind = "" if self.severity == "error" else " note"
        text = f"{self.place}: {self.code}{kind}: {self.message}"
        return f"{text} ({self.hint})" if self.hint else text

    def as_error(self) -> PluginError:
        """The same as an exception."""
        return PluginError(f"{self.place}: {self.message}", code=self.code, hint=self.hint)


class FaultList:
    """Collects the faults of one plugin; the one place where their words are."""

    def __init__(self, plugin: str) -> None:
        self.plugin = plugin
        self.faults: list[Fault] = []

    @property
    def has_errors(self) -> bool:
        """Whether the plugin must stay out."""
        return any(fault.severity == "error" for fault in self.faults)

    def missing_part(self, path: Path, what: str, hint: str) -> None:
        """NIT550: a part of the plugin is not there or cannot be read."""
        self._add("NIT550", what, hint, path)

    def name_taken(self, path: Path, name: str, other: Path, *, severity: FaultSeverity) -> None:
        """NIT551: an earlier plugin has the name."""
        message = f"the name `{name}` belongs to the plugin in `{other}`, which comes first"
        self._add("NIT551", message, "rename one of them", path, severity=severity)

    def doubled_tool(self, path: Path, tool: str) -> None:
        """NIT552: one plugin describes two tools of one name."""
        self._add(
            "NIT552", f"`{tool}` stands there twice", "give each tool a name of its own", path
        )

    def bad_json(self, path: Path, message: str, line: int | None, column: int | None) -> None:
        """NIT553: a JSON file is not JSON."""
        self._add(
            "NIT553", message, "correct the JSON at this place", path, line=line, column=column
        )

    def bad_value(self, path: Path, where: str, wanted: str, got: object) -> None:
        """NIT554: a field of a manifest does not hold what it must."""
        self._add("NIT554", f"`{where}`: wanted {wanted}, got {shown(got)}", None, path)

    def bad_schema(self, path: Path, tool: str, why: str) -> None:
        """NIT554: a tool's parameters are no JSON Schema."""
        self._add("NIT554", f"the schema of `{tool}` cannot be used: {why}", None, path)

    def unsupported_kind(self, path: Path, kind: object) -> None:
        """NIT554: a plugin that is not a Python module."""
        if kind == "mcp-stdio":
            message = "plugins of the kind `mcp-stdio` cannot be run by this version"
            hint = 'write the tools in Python and say `"pluginType": "python-module"`'
        else:
            message = f"`pluginType`: wanted `python-module`, got {shown(kind)}"
            hint = 'say `"pluginType": "python-module"`, or leave the field out'
        self._add("NIT554", message, hint, path)

    def bad_name(self, path: Path, what: str, name: str, why: str, hint: str | None = None) -> None:
        """NIT555: a plugin or tool has a name that nothing could call."""
        self._add("NIT555", f"{what} {shown(name)} {why}", hint, path)

    def leaves_folder(self, path: Path, what: str) -> None:
        """NIT556: a path or link leads out of the folder it must stay in."""
        hint = "keep every file of a plugin inside the plugin's own folder"
        self._add("NIT556", what, hint, path)

    def parts_disagree(self, path: Path, message: str, hint: str | None = None) -> None:
        """NIT557: description, schema and code do not speak of the same tool."""
        self._add("NIT557", message, hint, path)

    def import_failed(
        self,
        path: Path,
        message: str,
        hint: str | None = None,
        *,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        """NIT558: the plugin's code raised while it was imported."""
        self._add("NIT558", message, hint, path, line=line, column=column)

    def missing_dependency(
        self, path: Path, packages: Iterable[str], command: str, *, without: str | None = None
    ) -> None:
        """NIT559: a Python package that the plugin needs is not installed."""
        names = ", ".join(f"`{name}`" for name in packages)
        message = f"needs {names}, which cannot be imported here"
        if without is not None:
            message = f"without {names}: {without}"
        self._add(
            MISSING_PACKAGE,
            message,
            f"run `{command}`",
            path,
            severity="error" if without is None else "note",
        )

    def note(self, path: Path, message: str, hint: str | None = None) -> None:
        """NIT560: something that works and could be said better, such as an older manifest."""
        self._add("NIT560", message, hint, path, severity="note")

    def _add(
        self,
        code: str,
        message: str,
        hint: str | None,
        path: Path,
        *,
        severity: FaultSeverity = "error",
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        fault = Fault(
            plugin=self.plugin,
            code=code,
            message=message,
            hint=hint,
            severity=severity,
            path=path,
            line=line,
            column=column,
        )
        if fault not in self.faults:
            self.faults.append(fault)


def suggestion(name: str, candidates: Iterable[str]) -> str | None:
    """Offer the nearest of the candidates, if one is near."""
    near = nearest(name, candidates)
    return f"did you mean `{near[0]}`?" if near else None


def shown(value: object) -> str:
    """A value as a fault shows it: short, on one line."""
    text = ascii(value) if isinstance(value, str) and not value.isprintable() else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
