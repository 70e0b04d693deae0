"""Asks the person whether a model's script may run: with buttons, by `input()`, or not at all.

```
on a page, cell awaited      widgets   Run, Edit, Reject, Always
no page, or cell blocked     input()
nobody there (nbclient ..)   None      the script is refused, and the refusal names the setting
```
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Literal

from nit_kernel.model.permission import Answer
from nit_kernel.notebook.interrupts import raise_on_interrupt

if TYPE_CHECKING:
    from collections.abc import Callable

    from nit_kernel.model.permission import Ask, Question
    from nit_kernel.notebook.workspace import Workspace

_PROMPT = "run, edit, reject, or always for these tools? [r/e/j/a] "
_WORDS: dict[str, Literal["run", "edit", "reject", "always"]] = {
    "r": "run", "run": "run", "y": "run", "yes": "run",
    "e": "edit", "edit": "edit",
    "a": "always", "always": "always",
}  # fmt: skip


def asker(workspace: Workspace, *, is_awaited: bool) -> Ask | None:
    """How the person is asked in the cell that runs now; `None`: nobody can answer."""
    if workspace.is_headless():
        return None
    if is_awaited and workspace.front_end.shows_widgets:
        from nit_kernel.notebook.question_box import ask_by_widgets  # noqa: PLC0415 - slow

        return ask_by_widgets
    return ask_by_input


def ask_by_input(question: Question, *, read: Callable[[str], str] = input) -> Answer:
    """Ask on standard input; no answer is a no."""
    print(plain(str(question)), flush=True)  # noqa: T201 - the question itself
    with raise_on_interrupt():
        try:
            verdict = _WORDS.get(read(_PROMPT).strip().lower(), "reject")
            if verdict != "edit":
                return Answer(verdict=verdict)
            print("write the script; a line with only a dot ends it")  # noqa: T201
            lines: list[str] = []
            while (line := read("| ")) != ".":
                lines.append(line)
            return Answer(verdict="edit", script="\n".join(lines))
        except EOFError:
            return Answer(verdict="reject", reason="nobody answered")
        finally:
            sys.stdout.flush()


def plain(text: str) -> str:
    """The text without what steers a terminal."""
    return "".join(c if c in "\n\t" or c.isprintable() else f"\\x{ord(c):02x}" for c in text)
