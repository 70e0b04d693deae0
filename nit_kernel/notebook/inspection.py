"""Shift-TAB in a `%%nit` cell: what a tool is for, what a variable holds.

IPython has no hook for it, so the kernel's `do_inspect` is wrapped, and put back on unload.
"""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any

from nit_kernel.language.values import kind_of, preview, size_of
from nit_kernel.notebook.completion import is_nit_cell
from nit_kernel.notebook.display import escape
from nit_kernel.runtime.symbols import ABSENT
from nit_kernel.runtime.tool import Tool

if TYPE_CHECKING:
    from collections.abc import Callable

    from nit_kernel.notebook.workspace import Workspace

_NAME = re.compile(r"\$?[^\W\d][\w.]*")
_PREVIEW_CHARS = 400


def install_inspection(workspace: Workspace) -> Callable[[], None]:
    """Answer Shift-TAB in cells of NIT; returns what takes it off again."""
    kernel: Any = getattr(workspace.shell, "kernel", None)
    if kernel is None:
        return _nothing
    plain = kernel.do_inspect

    def do_inspect(code: str, cursor_pos: int, *args: Any, **kwargs: Any) -> Any:
        if not is_nit_cell(code):
            return plain(code, cursor_pos, *args, **kwargs)
        text = describe_at(workspace, code, cursor_pos)
        found = {"text/plain": text, "text/html": f"<pre>{escape(text)}</pre>"} if text else {}
        return {"status": "ok", "found": bool(text), "data": found, "metadata": {}}

    kernel.do_inspect = do_inspect

    def remove() -> None:
        vars(kernel).pop("do_inspect", None)

    return remove


def describe_at(workspace: Workspace, code: str, cursor: int) -> str:
    """What stands at the cursor of a cell, in words; empty if it is nothing known."""
    name = _name_at(code, cursor)
    if name.startswith("$"):
        return _describe_variable(workspace, name[1:].partition(".")[0])
    for word in (name, _called_at(code, cursor)):
        tool = workspace.session.registry.resolve(word) if word else None
        if isinstance(tool, Tool):
            signature = workspace.session.registry.signature(tool)
            return f"{signature}\n\n{inspect.cleandoc(tool.spec.description)}\n\nfrom {tool.source}"
    return ""


def _describe_variable(workspace: Workspace, name: str) -> str:
    value = workspace.vars.get(name, ABSENT)
    if value is ABSENT:
        value = workspace.names.get(name, ABSENT)
    if value is ABSENT:
        return ""
    return f"${name}: {kind_of(value)}, {size_of(value)}\n\n{preview(value, _PREVIEW_CHARS)}"


def _name_at(code: str, cursor: int) -> str:
    """The name under or just before the cursor."""
    start = code.rfind("\n", 0, cursor) + 1
    for match in _NAME.finditer(code, start):
        if match.start() <= cursor <= match.end():
            return match[0]
        if match.start() > cursor:
            break
    return ""


def _called_at(code: str, cursor: int) -> str:
    """The tool in whose brackets the cursor stands."""
    depth = 0
    for index in range(cursor - 1, -1, -1):
        if code[index] == ")":
            depth += 1
        elif code[index] == "(":
            if depth == 0:
                match = re.search(r"[^\W\d][\w.]*\s*\Z", code[:index])
                return match[0].strip() if match is not None else ""
            depth -= 1
    return ""


def _nothing() -> None:
    """There was nothing to take off."""
