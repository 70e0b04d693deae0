"""How a cell of NIT becomes a line of Python: awaited where it can be, plain where it cannot.

```
%%nit cell  ──> await get_ipython().run_cell_magic('nit_await', line, body)   on the kernel's loop
            └─> get_ipython().run_cell_magic('nit', line, body)               nested in another cell
```
`%%ask` goes the same ways.

IPython awaits no magic by itself. An input transformer writes the `await`, so that the kernel's
loop is free while the cell waits: Cancel buttons and widgets answer, and an interrupt acts at once.
Inside another cell (`%%time`, `%%capture`) there is no place for an `await`; there the line stays
as IPython made it, and the magic blocks.
"""

from __future__ import annotations

import ast
import asyncio
import re
import sys
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

MAGIC = "nit"
AWAITED_MAGIC = "nit_await"
ASK_MAGIC = "ask"
AWAITED_ASK_MAGIC = "ask_await"

_AWAITED_NAMES = {MAGIC: AWAITED_MAGIC, ASK_MAGIC: AWAITED_ASK_MAGIC}
_CELLS = tuple(f"get_ipython().run_cell_magic({name!r}, " for name in _AWAITED_NAMES)
_LINE = f"get_ipython().run_line_magic({MAGIC!r}, "
_AWAITED_LINE = f"await get_ipython().run_line_magic({AWAITED_MAGIC!r}, "
_TAG = re.compile(r"\ufeff?\s*<nit(?:-[0-9A-Za-z]+)?>")
_COVERED = re.compile(r"[\ufeff \t]+(?=%%(?:nit|ask)\b)|\ufeff+(?=%%)")
_END_TAG = re.compile(r"</nit(?:-[0-9A-Za-z]+)?>\s*\Z")


class CellDepth:
    """How many cells are running, one inside the other, on each thread.

    A subshell runs its cells on a thread of its own: it must not see the depth of the main one.
    """

    def __init__(self) -> None:
        self._running: dict[int, int] = {}

    def enter(self) -> None:
        """A cell begins (`pre_execute`)."""
        thread = threading.get_ident()
        self._running[thread] = self._running.get(thread, 0) + 1

    def leave(self) -> None:
        """A cell ended (`post_execute`)."""
        thread = threading.get_ident()
        left = self._running.get(thread, 0) - 1
        if left > 0:
            self._running[thread] = left
        else:
            # A cell that was cancelled before it began ends all the same.
            self._running.pop(thread, None)

    @property
    def here(self) -> int:
        """Cells running on this thread."""
        return self._running.get(threading.get_ident(), 0)

    @property
    def anywhere(self) -> int:
        """Cells running on all threads."""
        return sum(self._running.values())


class AwaitingTransformer:
    """Writes the `await` before `%%nit` and `%%ask`, and before the lines of a cell of `%nit`."""

    def __init__(self, shell: InteractiveShell, depth: CellDepth) -> None:
        self._shell = shell
        self._depth = depth

    def __call__(self, lines: list[str]) -> list[str]:
        """Transform the lines of a cell, after IPython's own transformers."""
        if not lines:
            return lines
        if len(lines) == 1 and lines[0].startswith(_CELLS):
            return self._awaited_cell(lines)
        # Only whole cells of `%nit` lines: a cell that is awaited runs its Python code where an
        # interrupt cannot reach it.
        is_all_nit = any(x.startswith(_LINE) for x in lines) and all(map(_is_nit_line, lines))
        if is_all_nit and self._may_await():
            return [line.replace(_LINE, _AWAITED_LINE, 1) for line in lines]
        return lines

    def _awaited_cell(self, lines: list[str]) -> list[str]:
        arguments = _magic_arguments(lines[0])
        if arguments is None or not self._may_await():
            return lines
        name, line, body = arguments
        # IPython refuses an empty body before the magic sees it; ours says how it is used.
        call = f"run_cell_magic({_AWAITED_NAMES[name]!r}, {line!r}, {body or chr(10)!r})"
        return [f"await get_ipython().{call}\n"]

    def _may_await(self) -> bool:
        shell = self._shell
        asyncio_runner = shell.loop_runner_map.get("asyncio", (None, False))[0]
        return (
            self._depth.here == 0
            and bool(shell.autoawait)
            and shell.loop_runner is asyncio_runner
            and not _called_from_a_callback()
        )


def uncover_magic(lines: list[str]) -> list[str]:
    """Drop what hides a `%%nit` line from IPython: a byte order mark, and blanks before it."""
    first = next((at for at, line in enumerate(lines) if line.strip("\ufeff \t\r\n")), 0)
    covered = _COVERED.match(lines[first]) if lines else None
    if covered is None:
        return lines
    blanks = covered[0].lstrip("\ufeff")
    below = lines[first + 1 :]
    if all(line.startswith(blanks) or not line.strip() for line in below):
        # The whole cell is indented, as IPython takes it off other cells.
        below = [line.removeprefix(blanks) for line in below]
    return [lines[first][covered.end() :], *below]


def bare_block_to_cell(lines: list[str]) -> list[str]:
    """Make a cell that is one `<nit>..</nit>` block a `%%nit` cell (in the NIT kernel)."""
    if lines and is_bare_block("".join(lines)):
        return ["%%nit\n", *lines]
    return lines


def is_bare_block(code: str) -> bool:
    """Whether the cell is a `<nit>` block from its first word to its last."""
    return starts_bare_block(code) and _END_TAG.search(code) is not None


def starts_bare_block(code: str) -> bool:
    """Whether the cell begins as a `<nit>` block."""
    return _TAG.match(code) is not None


def _is_nit_line(line: str) -> bool:
    return line.startswith((_LINE, "#")) or not line.strip()


def _magic_arguments(line: str) -> tuple[str, str, str] | None:
    """The three texts of a line that is a call of a cell magic and nothing else."""
    try:
        tree = ast.parse(line)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    match tree.body:
        case [
            ast.Expr(
                value=ast.Call(
                    args=[
                        ast.Constant(value=str() as name),
                        ast.Constant(value=str() as options),
                        ast.Constant(value=str() as body),
                    ],
                    keywords=[],
                )
            )
        ]:
            return name, options, body
        case _:
            return None


def _called_from_a_callback() -> bool:
    """Whether `run_cell` was called while this thread's loop runs: then nothing can be awaited.

    A kernel transforms a cell on its running loop too, but awaits it; a button's callback or a
    task that calls `run_cell` does not.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    frame = sys._getframe(2)  # pyright: ignore[reportPrivateUsage]
    for _ in range(20):
        if frame is None:
            return False
        if frame.f_code.co_name == "_run_cell":
            return True
        if frame.f_code.co_name == "do_execute":
            return False
        frame = frame.f_back
    return False
