"""TAB in a `%%nit` cell: variables, tools, arguments, options; at once, without asking jedi.

IPython's own matchers would read the cell as Python, which answers wrongly and takes seconds the
first time. So in a cell of NIT this matcher answers alone; in any other it says nothing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from IPython.core.completer import CompletionContext, SimpleCompletion, context_matcher

from nit_kernel.language.values import kind_of
from nit_kernel.notebook.cells import ASK_MAGIC, MAGIC, starts_bare_block
from nit_kernel.notebook.commands import COMMANDS
from nit_kernel.notebook.options import ASK_OPTIONS, OPTIONS
from nit_kernel.runtime.tool import Tool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from nit_kernel.notebook.workspace import Workspace

_CELL = re.compile(rf"\ufeff?\s*%%{MAGIC}(?!\w)")
_ASK_CELL = re.compile(rf"\ufeff?\s*%%{ASK_MAGIC}(?!\w)")
_PLACEHOLDER = re.compile(r"(?<=\{)[^\W\d]?\w*\Z")
_LINE = re.compile(rf"\s*%{MAGIC}(?!\w)\s*")
_TOKEN = re.compile(r"(?:\$?[^\W\d][\w.]*|\$)\Z")
_OPTION = re.compile(r"--?[\w-]*\Z")


def install_completion(workspace: Workspace) -> Callable[[], None]:
    """Answer TAB in cells of NIT; returns what takes it off again."""
    matchers = workspace.shell.Completer.custom_matchers

    @context_matcher()  # pyright: ignore[reportUntypedFunctionDecorator]
    def nit_matcher(context: CompletionContext) -> dict[str, Any]:
        found = complete(workspace, context.full_text, context.text_until_cursor)
        if found is None:
            return {"completions": [], "suppress": False}
        fragment, completions = found
        return {
            "completions": [SimpleCompletion(text=t, type=kind) for t, kind in completions],
            "matched_fragment": fragment,
            "suppress": True,
            "ordered": True,
        }

    matchers.append(nit_matcher)

    def remove() -> None:
        if nit_matcher in matchers:
            matchers.remove(nit_matcher)

    return remove


def is_nit_cell(cell: str) -> bool:
    """Whether the text of a cell is NIT and not Python."""
    return _CELL.match(cell) is not None or starts_bare_block(cell)


def complete(
    workspace: Workspace, cell: str, line: str
) -> tuple[str, list[tuple[str, str]]] | None:
    """What may stand at the cursor: the text that is completed, and `(text, kind)` pairs.

    Args:
        workspace: Whose names they are.
        cell: The whole cell.
        line: The line of the cursor, up to the cursor.

    Returns:
        `None` where the cursor is not in NIT.
    """
    on_magic_line = _CELL.match(line) is not None
    if on_magic_line:
        return _from(_OPTION, line, ((option, "option") for option in OPTIONS))
    if _ASK_CELL.match(cell):
        return _in_message(workspace, line)
    command = _LINE.match(line)
    if command is not None and not is_nit_cell(cell):
        text = line[command.end() :]
        words = ((word, "command") for word in COMMANDS) if " " not in text else ()
        return _in_script(workspace, text, words)
    return _in_script(workspace, line) if is_nit_cell(cell) else None


def _in_message(workspace: Workspace, line: str) -> tuple[str, list[tuple[str, str]]]:
    """In a message: options on its first line, and the names of variables behind a brace."""
    if _ASK_CELL.match(line):
        return _from(_OPTION, line, ((option, "option") for option in ASK_OPTIONS))
    if _PLACEHOLDER.search(line) is None:
        return "", []
    return _from(_PLACEHOLDER, line, ((name, "instance") for name in workspace.names))


def _in_script(
    workspace: Workspace, line: str, more: Iterable[tuple[str, str]] = ()
) -> tuple[str, list[tuple[str, str]]]:
    fragment = _matched(_TOKEN, line)
    if fragment.startswith("$"):
        return _from(_TOKEN, line, _variables(workspace))
    if not fragment and _is_inside_text(line):
        return "", []
    candidates = [*_arguments(workspace, line), *more, *_tools(workspace)]
    return _from(_TOKEN, line, candidates)


def _from(
    pattern: re.Pattern[str], line: str, candidates: Iterable[tuple[str, str]]
) -> tuple[str, list[tuple[str, str]]]:
    fragment = _matched(pattern, line)
    return fragment, [item for item in candidates if item[0].startswith(fragment)]


def _matched(pattern: re.Pattern[str], line: str) -> str:
    match = pattern.search(line)
    return match[0] if match is not None else ""


def _variables(workspace: Workspace) -> list[tuple[str, str]]:
    table = workspace.session.variables
    own = [(f"${name}", kind_of(value)) for name, value in table.items()]
    notebook = [(f"${name}", "notebook") for name in workspace.names if name not in table]
    return own + notebook


def _tools(workspace: Workspace) -> list[tuple[str, str]]:
    return [(name, "function") for name in workspace.session.registry.names()]


def _arguments(workspace: Workspace, line: str) -> list[tuple[str, str]]:
    """The arguments of the call in which the cursor stands, those given already left out."""
    start = _open_call(line)
    if start is None:
        return []
    name = _matched(re.compile(r"[^\W\d][\w.]*\Z"), line[:start].rstrip())
    tool = workspace.session.registry.resolve(name)
    if not isinstance(tool, Tool):
        return []
    given = set(re.findall(r"([^\W\d]\w*)\s*=", line[start:]))
    return [(f"{p}=", "param") for p in tool.spec.positional if p not in given]


def _open_call(line: str) -> int | None:
    """Where the innermost bracket opens that is not closed on this line, if it is a call's."""
    open_at: list[int] = []
    quote = ""
    for index, char in enumerate(line):
        if quote:
            quote = "" if char == quote and line[index - 1] != "\\" else quote
        elif char in "'\"":
            quote = char
        elif char in "([{":
            open_at.append(index)
        elif char in ")]}" and open_at:
            open_at.pop()
    return open_at[-1] if open_at and line[open_at[-1]] == "(" and not quote else None


def _is_inside_text(line: str) -> bool:
    return line.count('"') % 2 == 1 or line.count("'") % 2 == 1
