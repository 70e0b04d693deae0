"""The commands of `%nit WORD`: what is there, what runs, and how to change it.

A line is a command where its first word is one and a blank or nothing follows: `%nit vars`, but
`%nit vars(x=1)` and `%nit vars = f()` are statements.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from IPython.core.error import UsageError
from IPython.display import display

from nit_kernel._syntax import quote
from nit_kernel.language.schema import nearest
from nit_kernel.language.values import kind_of, preview, size_of
from nit_kernel.notebook import chat_commands
from nit_kernel.notebook.cell_runs import (
    CellOptions,
    await_tasks,
    interrupted_wait,
    run_awaited,
    run_blocking,
)
from nit_kernel.notebook.display import Table
from nit_kernel.notebook.interrupts import raise_on_interrupt
from nit_kernel.notebook.options import ASK_USAGE, USAGE
from nit_kernel.notebook.plugin_table import plugin_table
from nit_kernel.notebook.rows import Row
from nit_kernel.runtime.background import BackgroundTask
from nit_kernel.runtime.tool import Tool

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from nit_kernel.notebook.workspace import Workspace

Action: TypeAlias = "Callable[[Workspace, str], object]"
Awaited: TypeAlias = "Callable[[Workspace, str], Awaitable[object]]"

_WORD = re.compile(r"\s*([^\W\d]\w*)(?:\s+(?![=(.\[])(.*))?\s*\Z", re.DOTALL)
_STATEMENT_WORDS = frozenset(
    "async await call true false null True False None if elif else for in while break "
    "continue return and or not def import lambda class try except with parallel".split()
)
_PREVIEW_CHARS = 80
_MOST_ROWS = 200


@dataclass(frozen=True, slots=True)
class Command:
    """One word after `%nit`.

    Attributes:
        usage: The word and what may follow it.
        meaning: What it does, in one line.
        action: Does it, with the rest of the line.
        awaited: The same where it may take its time and the kernel's loop can go on.
    """

    usage: str
    meaning: str
    action: Action
    awaited: Awaited | None = None


def find_command(line: str) -> tuple[Command, str] | None:
    """The command that a line is, and the rest of the line; `None` where it is a statement.

    Raises:
        UsageError: It is neither.
    """
    if not line.strip():
        return COMMANDS["help"], ""
    match = _WORD.match(line)
    if match is None:
        return None
    word, rest = match[1], (match[2] or "").strip()
    command = COMMANDS.get(word)
    if command is not None:
        return command, rest
    if word in _STATEMENT_WORDS:
        return None
    near = nearest(word, COMMANDS)
    guess = f" Did you mean `%nit {near[0]}`?" if near else ""
    raise UsageError(
        f"`%nit {word}`: there is no such command.{guess} "
        f"Usage: %nit STATEMENT, such as `%nit {word}()`, or %nit {'|'.join(COMMANDS)}"
    )


def run_command(workspace: Workspace, command: Command, rest: str) -> object:
    """Carry out a command on this thread."""
    workspace.begin()
    return command.action(workspace, rest)


async def run_command_awaited(workspace: Workspace, command: Command, rest: str) -> object:
    """Carry out a command while the kernel's loop goes on."""
    workspace.begin()
    if command.awaited is not None:
        return await command.awaited(workspace, rest)
    return command.action(workspace, rest)


# Variables


def _vars(workspace: Workspace, rest: str) -> None:
    _no_more("vars", rest)
    table = workspace.session.variables
    rows = tuple(
        (f"${name}", kind_of(value), _size(value), _preview(value)) for name, value in table.items()
    )
    footer = "" if rows else "no variables yet: `$name = tool(..)` makes one"
    if len(rows) > _MOST_ROWS:
        footer = f"and {len(rows) - _MOST_ROWS} more: nit.vars has them all"
    display(Table(("variable", "type", "size", "value"), rows[:_MOST_ROWS], footer=footer))


def _size(value: object) -> str:
    return value.state if isinstance(value, BackgroundTask) else size_of(value)


def _preview(value: object) -> str:
    if isinstance(value, BackgroundTask):
        return f"the task `{value.name}`"
    return preview(value, _PREVIEW_CHARS)


def _show(workspace: Workspace, rest: str) -> object:
    return run_blocking(workspace, _reference(rest), CellOptions())


async def _show_awaiting(workspace: Workspace, rest: str) -> object:
    return await run_awaited(workspace, _reference(rest), CellOptions())


def _reference(rest: str) -> str:
    if not rest:
        raise UsageError(f"%nit show: of what? Usage: {COMMANDS['show'].usage}")
    return rest if rest.startswith("$") else f"${rest}"


def _share(workspace: Workspace, rest: str) -> None:
    names = [name.lstrip("$").rstrip(",") for name in rest.split()]
    if not names:
        raise UsageError(f"%nit share: what? Usage: {COMMANDS['share'].usage}")
    missing = [name for name in names if name not in workspace.names]
    if missing:
        near = nearest(missing[0], workspace.names)
        guess = f"; did you mean `{near[0]}`?" if near else ""
        raise UsageError(f"%nit share: the notebook has no variable `{missing[0]}`{guess}")
    for name in names:
        workspace.mirror.share(name)
    shared = ", ".join(f"${name}" for name in names)
    print(f"shared: {shared}")  # noqa: T201


def _reset(workspace: Workspace, rest: str) -> None:
    _no_more("reset", rest)
    count = len(workspace.session.variables)
    running = sum(1 for task in workspace.session.tasks.values() if not task.done)
    workspace.session.reset()
    workspace.mirror.settle()
    messages = workspace.conversation.reset()
    said = f", {_count(messages, 'message')}" if messages else ""
    tasks = f", {_count(running, 'task')} cancelled" if running else ""
    print(f"{_count(count, 'variable')}{said} forgotten{tasks}; the tools stay")  # noqa: T201


# Tools and plugins


def _tools(workspace: Workspace, rest: str) -> None:
    wanted = rest.casefold()
    registry = workspace.session.registry
    rows = []
    for tool in registry.tools():
        row = (registry.signature(tool), _first_line(tool.spec.description), tool.source)
        if all(word in " ".join(row).casefold() for word in wanted.split()):
            rows.append(row)
    rows.sort()
    footer = "`%nit help NAME` says all about one" if rows else _no_tools(rest)
    display(Table(("tool", "what it does", "from"), tuple(rows), footer=footer))


def _no_tools(word: str) -> str:
    if word:
        return f"no tool with `{word}` in its name or description"
    return "no tools yet: put `@nit.tool` above a function, or name a folder in NIT_PLUGIN_PATH"


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]


def _help(workspace: Workspace, rest: str) -> object:
    if rest:
        name = rest.strip("'\"")
        if name in COMMANDS and not isinstance(workspace.session.registry.resolve(name), Tool):
            command = COMMANDS[name]
            print(f"%nit {command.usage}: {command.meaning}")  # noqa: T201
            return None
        return run_blocking(workspace, f"help({quote(name)})", CellOptions())
    rows = tuple((f"%nit {command.usage}", command.meaning) for command in COMMANDS.values())
    rows = (
        (
            USAGE,
            "the cell is a script; what it ends with is the cell's result",
        ),
        (ASK_USAGE, "the cell is a message to the model; `{name}` becomes a variable's value"),
        ("%nit STATEMENT", "one statement, such as `%nit $a = f(x=1)`"),
        *rows,
        (
            "nit",
            "in Python: nit.vars, nit.tasks, nit.tools.NAME(..), nit.chat, nit.last, @nit.tool",
        ),
    )
    display(Table(("write", "to"), rows))
    return None


def _plugins(workspace: Workspace, rest: str) -> None:
    _no_more("plugins", rest)
    display(plugin_table(workspace.session))


def _reload(workspace: Workspace, rest: str) -> None:
    _no_more("reload", rest)
    for line in workspace.session.reload_plugins():
        print(line)  # noqa: T201
    display(plugin_table(workspace.session))


# Tasks


def _tasks(workspace: Workspace, rest: str) -> None:
    _no_more("tasks", rest)
    rows = []
    for name, task in workspace.session.tasks.items():
        row = Row(name, task=task)
        row.follow()
        row.say(task.log)
        if task.progress is not None:
            row.fraction = task.progress.fraction
            row.say(task.progress.message)
        rows.append((name, task.state, f"{task.seconds:.1f} s", row.percent, row.remark))
    footer = "`%nit cancel NAME|all` stops one or all" if rows else "no background tasks"
    display(Table(("task", "state", "time", "done", "last word"), tuple(rows), footer=footer))


def _cancel(workspace: Workspace, rest: str) -> None:
    session = workspace.session
    running = [name for name, task in session.tasks.items() if not task.done]
    if not rest:
        there = ", ".join(running) or "none"
        raise UsageError(f"%nit cancel: which? Usage: {COMMANDS['cancel'].usage}; running: {there}")
    if rest == "all" and "all" not in session.tasks:
        print(f"{_count(session.cancel_all(), 'task')} cancelled")  # noqa: T201
        return
    names = [name.lstrip("$") for name in rest.replace(",", " ").split()]
    if "all" in names and "all" not in session.tasks:
        raise UsageError(f"%nit cancel: `all` stands alone. Usage: {COMMANDS['cancel'].usage}")
    for name in names:
        if name not in session.tasks:
            near = nearest(name, session.tasks)
            guess = f"; did you mean `{near[0]}`?" if near else "."
            there = ", ".join(running) or "none"
            raise UsageError(f"%nit cancel: there is no task `{name}`{guess} Running: {there}")
        how = "cancelled" if session.cancel(name) else f"had ended: {session.tasks[name].state}"
        print(f"{name}: {how}")  # noqa: T201


def _wait(workspace: Workspace, rest: str) -> None:
    seconds = _seconds(rest)
    with raise_on_interrupt():
        try:
            ended = workspace.session.wait(seconds)
        except KeyboardInterrupt:
            raise interrupted_wait(workspace) from None
    _tell_waited(workspace, seconds, ended)


async def _wait_awaiting(workspace: Workspace, rest: str) -> None:
    seconds = _seconds(rest)
    ended = await await_tasks(workspace, seconds)
    _tell_waited(workspace, seconds, ended)


def _seconds(rest: str) -> float | None:
    if not rest:
        return None
    try:
        seconds = float(rest.removeprefix("--timeout").strip())
    except ValueError:
        seconds = -1.0
    if not seconds >= 0:
        raise UsageError(f"%nit wait: `{rest}` is no number. Usage: {COMMANDS['wait'].usage}")
    return seconds


def _tell_waited(workspace: Workspace, seconds: float | None, ended: bool) -> None:
    if not ended and seconds is not None:
        workspace.tell_still_running(seconds)
    failed = [task for task in workspace.session.take_ended() if task.state == "failed"]
    for task in failed:
        if task.error is not None:
            print(f"{task.name}: {task.error.message}", file=sys.stderr)  # noqa: T201


def _no_more(word: str, rest: str) -> None:
    if rest:
        raise UsageError(f"%nit {word}: nothing may follow, got `{rest}`")


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


COMMANDS: Mapping[str, Command] = {
    "vars": Command("vars", "list the NIT variables", _vars),
    "show": Command("show $x[..]", "show a variable or a part of it", _show, _show_awaiting),
    "share": Command("share NAME ..", "let models see a variable of the notebook", _share),
    "tools": Command("tools [WORD]", "list the tools (that have the word)", _tools),
    "tasks": Command("tasks", "list the background tasks", _tasks),
    "cancel": Command("cancel NAME|all", "stop a background task, or all", _cancel),
    "wait": Command("wait [S]", "wait for the background tasks", _wait, _wait_awaiting),
    "plugins": Command("plugins", "list the plugins and what is wrong with them", _plugins),
    "reload": Command("reload", "load plugins that have changed again", _reload),
    "model": Command(
        "model [NAME|local [FILE]]",
        "which model `%%ask` speaks to, or another; `local` serves a small one here",
        chat_commands.model,
        chat_commands.model_awaiting,
    ),
    "codec": Command("codec [NAME]", "what the model writes, or another", chat_commands.codec),
    "history": Command("history", "list the messages of the conversation", chat_commands.history),
    "keep": Command("keep [N]", "make a script of the model a cell", chat_commands.keep),
    "reset": Command("reset", "forget all variables and messages, cancel all tasks", _reset),
    "help": Command("help [TOOL]", "this list, or all about a tool", _help),
}
