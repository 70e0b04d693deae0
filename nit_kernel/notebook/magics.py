"""The magics `%%nit`, `%nit`, `%%ask`, and the settings of the notebook (`%config NitMagics`)."""

# pyright: reportUntypedFunctionDecorator=false
# IPython does not say what its decorators give back.

from __future__ import annotations

import keyword
from typing import TYPE_CHECKING, cast

from IPython.core.error import UsageError
from IPython.core.magic import (
    Magics,
    cell_magic,
    line_cell_magic,
    line_magic,
    magics_class,
    no_var_expand,
)
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from traitlets import Bool, Dict, Enum, Float, Int, List, TraitError, Unicode, validate

from nit_kernel.config import Limits
from nit_kernel.language.schema import nearest
from nit_kernel.notebook.cell_runs import CellOptions, check_only, run_awaited, run_blocking
from nit_kernel.notebook.cells import ASK_MAGIC, AWAITED_ASK_MAGIC, AWAITED_MAGIC, MAGIC
from nit_kernel.notebook.commands import find_command, run_command, run_command_awaited
from nit_kernel.notebook.options import ASK_OPTIONS, ASK_USAGE, OPTIONS, USAGE

if TYPE_CHECKING:
    from collections.abc import Awaitable
    from types import ModuleType
    from typing import Any

    from nit_kernel.notebook.asks import AskOptions
    from nit_kernel.notebook.workspace import Workspace


class Secret(str):
    """A text that shows itself only by its first characters: `%config` prints what is set."""

    __slots__ = ()

    def __repr__(self) -> str:
        return repr(f"{self[:3]}…" if len(self) >= 12 else "…" if self else "")


@magics_class
class NitMagics(Magics):
    """The magics and settings of NIT."""

    cell_chars = Int(Limits().cell_chars, min=100, help="Most characters that a %%nit cell shows.")
    cell_chars.tag(config=True)
    timeout = Float(
        None, allow_none=True, help="Seconds for each script, where its cell does not say."
    ).tag(config=True)
    wait_at_end = Enum(
        ["headless", "always", "never"],
        "headless",
        help="When a cell waits at its end for background tasks: where nobody sees what comes "
        "later (nbclient, papermill, nbconvert), always, or never.",
    ).tag(config=True)
    wait_seconds = Float(120.0, min=0.0, help="Longest such wait, in seconds.").tag(config=True)
    panel = Bool(True, help="Whether cells show a live panel of their tasks.").tag(config=True)
    plugins = List(
        Unicode(), help="Plugin folders, or folders of them, besides those that are always loaded."
    ).tag(config=True)
    limits = Dict(
        help="Limits of the session by their names, such as {'tool_seconds': 60}; read when the "
        "extension is loaded."
    ).tag(config=True)

    model = Unicode("", help="The model of %%ask; NIT_MODEL if empty.").tag(config=True)
    base_url = Unicode("", help="Its server; OPENAI_BASE_URL if empty.").tag(config=True)
    api_key = Unicode("", help="Its key; OPENAI_API_KEY if empty, and better there.")
    api_key.tag(config=True)
    api = Enum(["chat", "responses"], "chat", help="Which of OpenAI's APIs the server speaks.")
    api.tag(config=True)
    codec = Unicode(
        "auto", help="What the model writes: auto, nit, native, json, react, or a form of text."
    ).tag(config=True)
    confirm = Enum(
        ["side-effects", "marked", "never"],
        "side-effects",
        help="Before which tools of a model's script the person is asked: those not declared free "
        "of side effects, those marked `confirm`, or none.",
    ).tag(config=True)
    legacy = Bool(False, help="Whether NIT 1.0 blocks in a model's words run, too.")
    legacy.tag(config=True)
    max_rounds = Int(10, min=1, help="Most replies of the model to one message.").tag(config=True)
    max_tokens = Int(None, allow_none=True, min=1, help="Most tokens of one message, all told.")
    max_tokens.tag(config=True)
    max_seconds = Float(None, allow_none=True, min=0.0, help="Longest turn, in seconds.")
    max_seconds.tag(config=True)
    system = Unicode("", help="What every message begins with: your own system prompt.")
    system.tag(config=True)
    placeholder_chars = Int(20_000, min=100, help="Most characters that a {name} becomes.")
    placeholder_chars.tag(config=True)

    workspace: Workspace

    @validate("api_key")
    def _hidden_key(self, proposal: dict[str, Any]) -> str:
        return Secret(proposal["value"])

    @validate("timeout")
    def _above_0(self, proposal: dict[str, Any]) -> float | None:
        seconds = cast("float | None", proposal["value"])
        if seconds is not None and not seconds > 0:
            raise TraitError(f"NitMagics.timeout: wanted seconds above 0, got {seconds:g}")
        return seconds

    @validate("limits")
    def _known_limits(self, proposal: dict[str, Any]) -> dict[str, object]:
        limits = cast("dict[str, object]", proposal["value"])
        Limits(**limits)  # type: ignore[arg-type]  # raises for a name that is no limit
        return limits

    @no_var_expand
    @line_cell_magic
    @magic_arguments()
    @argument("--name", default="", help="What this cell is called: the title of its task panel.")
    @argument("--out", help="A Python name that gets the value of the script.")
    @argument("--quiet", action="store_true", help="Do not show the value of the script.")
    @argument("--check", action="store_true", help="Only check the script; run nothing.")
    @argument("--timeout", type=float, metavar="S", help="Seconds for the whole script.")
    @argument(
        "--wait", action="store_true", help="Wait for the background tasks before the cell ends."
    )
    def nit(self, line: str, cell: str | None = None) -> object:
        """Run a NIT script: `%%nit` the cell below it, `%nit STATEMENT` one statement.

        `%nit WORD` is one of the commands that `%nit help` lists.
        """
        if cell is None:
            return self._run_line(line)
        options = self._options(line)
        if not cell.strip():
            return _show_usage()
        if options.check:
            return check_only(self.workspace, cell)
        return run_blocking(self.workspace, cell, options)

    @no_var_expand
    @cell_magic(ASK_MAGIC)
    @magic_arguments()
    @argument("--model", metavar="M", help="Another model of the same server, for this message.")
    @argument("--codec", metavar="C", help="Another codec, for this message.")
    @argument("--fresh", action="store_true", help="Begin the conversation anew.")
    @argument("--dry-run", action="store_true", help="Show what would be sent, and send nothing.")
    @argument("--out", metavar="NAME", help="A Python name that gets the model's words.")
    def ask(self, line: str, cell: str) -> None:
        """Send the cell to the model: its words stream in, its scripts run.

        `{name}` becomes the value of the notebook's variable, a figure its picture.
        """
        options = self._ask_options(line)
        if not cell.strip():
            return _show_ask_usage()
        return _asks().ask_blocking(self.workspace, cell, options)

    # What a cell becomes where it can be awaited; see `cells.py`.

    @no_var_expand
    @cell_magic(AWAITED_ASK_MAGIC)
    def _ask_awaited(self, line: str, cell: str) -> Awaitable[None]:
        return self._await_ask(line, cell)

    async def _await_ask(self, line: str, cell: str) -> None:
        options = self._ask_options(line)
        if not cell.strip():
            return _show_ask_usage()
        return await _asks().ask_awaited(self.workspace, cell, options)

    @no_var_expand
    @cell_magic(AWAITED_MAGIC)
    def _nit_awaited(self, line: str, cell: str) -> Awaitable[object]:
        return self._await_cell(line, cell)

    @no_var_expand
    @line_magic(AWAITED_MAGIC)
    def _nit_line_awaited(self, line: str) -> Awaitable[object]:
        return self._await_line(line)

    async def _await_cell(self, line: str, cell: str) -> object:
        options = self._options(line)
        if not cell.strip():
            return _show_usage()
        if options.check:
            return check_only(self.workspace, cell)
        return await run_awaited(self.workspace, cell, options)

    async def _await_line(self, line: str) -> object:
        command = find_command(line)
        if command is None:
            return await run_awaited(self.workspace, line, self._options(""))
        return await run_command_awaited(self.workspace, *command)

    def _run_line(self, line: str) -> object:
        command = find_command(line)
        if command is None:
            return run_blocking(self.workspace, line, self._options(""))
        return run_command(self.workspace, *command)

    def _options(self, line: str) -> CellOptions:
        """Read the options of a `%%nit` line.

        Raises:
            UsageError: They cannot be read; one line says how it is done.
        """
        try:
            given = parse_argstring(self.nit, line)
        except (UsageError, ValueError) as error:
            raise UsageError(_usage_fault(line, str(error))) from None
        timeout = self.timeout if given.timeout is None else given.timeout
        if timeout is not None and not timeout > 0:
            raise UsageError(f"--timeout: wanted seconds above 0, got {timeout:g}. {_usage()}")
        if given.out is not None and not _is_name(given.out):
            raise UsageError(f"--out: `{given.out}` cannot be a Python name. {_usage()}")
        return CellOptions(
            name=_unquoted(given.name),
            out=given.out,
            quiet=given.quiet,
            check=given.check,
            timeout=timeout,
            wait=given.wait,
        )

    def _ask_options(self, line: str) -> AskOptions:
        """Read the options of a `%%ask` line.

        Raises:
            UsageError: They cannot be read; one line says how it is done.
        """
        try:
            given = parse_argstring(self.ask, line)
        except (UsageError, ValueError) as error:
            raise UsageError(_ask_fault(line, str(error))) from None
        if given.out is not None and not _is_name(given.out):
            raise UsageError(f"--out: `{given.out}` cannot be a Python name. Usage: {ASK_USAGE}")
        return _asks().AskOptions(
            model=given.model,
            codec=given.codec,
            fresh=given.fresh,
            dry_run=given.dry_run,
            out=given.out,
        )


def _asks() -> ModuleType:
    """The module behind `%%ask`; it brings in all that speaks to a model."""
    from nit_kernel.notebook import asks  # noqa: PLC0415 - takes its time

    return asks


def _show_ask_usage() -> None:
    print(f"Usage: {ASK_USAGE}; the message stands below it.")  # noqa: T201


def _ask_fault(line: str, fault: str) -> str:
    """What is wrong with the options of a `%%ask` line, and how it is done."""
    words = line.split()
    wrong = next(
        (w for w in words if w.startswith("-") and w.partition("=")[0] not in ASK_OPTIONS), ""
    )
    if wrong:
        near = nearest(wrong.partition("=")[0], ASK_OPTIONS)
        guess = f"; did you mean `{near[0]}`?" if near else "."
        return f"`%%{ASK_MAGIC}` has no option `{wrong}`{guess} Usage: {ASK_USAGE}"
    if words and not words[0].startswith("-"):
        return (
            f"`{line.strip()}` stands on the %%{ASK_MAGIC} line: a message begins below it. "
            f"Usage: {ASK_USAGE}"
        )
    return f"{fault}. Usage: {ASK_USAGE}"


def _is_name(text: str) -> bool:
    """Whether Python code can say it."""
    return text.isidentifier() and not keyword.iskeyword(text)


def _usage() -> str:
    return f"Usage: {USAGE}"


def _show_usage() -> None:
    print(f"{_usage()}; the script stands below it. `%nit help` says more.")  # noqa: T201


def _usage_fault(line: str, fault: str) -> str:
    """What is wrong with the options of a `%%nit` line, and how it is done."""
    words = line.split()
    wrong = next((w for w in words if w.startswith("-") and w.partition("=")[0] not in OPTIONS), "")
    if wrong:
        near = nearest(wrong.partition("=")[0], OPTIONS)
        guess = f"; did you mean `{near[0]}`?" if near else "."
        return f"`%%{MAGIC}` has no option `{wrong}`{guess} {_usage()}"
    if words and not words[0].startswith("-"):
        return (
            f"`{line.strip()}` stands on the %%{MAGIC} line: a script begins below it. {_usage()}"
        )
    return f"{fault}. {_usage()}"


def _unquoted(text: str) -> str:
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    return text
