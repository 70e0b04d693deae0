"""A conversation in the terminal: `nit chat`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import closing, suppress
from functools import partial
from typing import TYPE_CHECKING, Protocol

from nit_kernel.errors import NitError
from nit_kernel.language.values import describe, preview
from nit_kernel.model.events import (
    BlockFinished,
    BlockStarted,
    ChatEvent,
    Fallback,
    Notice,
    ReasoningDelta,
    Repair,
    TagRejected,
    TextDelta,
    TurnFinished,
)
from nit_kernel.model.permission import Answer, Question

if TYPE_CHECKING:
    from nit_kernel.model.chat import Chat

HELP = """\
/help        this text
/tools       the tools that the model can call
/vars        the variables
/codec NAME  nit, native, json, react, auto
/usage       what the conversation cost
/reset       begin anew; variables stay
/quit        end (also Ctrl-D); Ctrl-C stops a reply
"""

_ASK = "run, edit, reject, or always for these tools? [r/e/j/a] "
_PREVIEW_CHARS = 100

_BAD_ENDS = ("interrupted", "failed")
"""Ends of a turn that are shown by what is raised."""

_HARMLESS = {code: f"\\x{code:02x}" for code in (*range(9), *range(11, 32), *range(127, 160))}
"""Control characters as visible text: a model must not steer the terminal."""


class Terminal(Protocol):
    """Where the conversation is shown, and who is asked."""

    def write(self, text: str, /) -> object:
        """Show text."""
        ...

    def flush(self) -> object:
        """Show it now."""
        ...


def run_chat(
    chat: Chat,
    *,
    read: Callable[[str], str] = input,
    screen: Terminal | None = None,
    is_person: bool | None = None,
) -> int:
    """Talk until the person ends it; returns the exit status of the process.

    Args:
        chat: The conversation. Its `ask` is set to ask here, unless it has one.
        read: Shows a prompt and returns a line; raises `EOFError` at the end.
        screen: Standard output by default.
        is_person: Whether somebody sits there and can be asked; found out if left out. From a pipe,
            each line is a message, and the first error ends it with status 1.
    """
    person = sys.stdin.isatty() if is_person is None else is_person
    color = person and screen is None and "NO_COLOR" not in os.environ
    view = TurnView(sys.stdout if screen is None else screen, color=color)
    if person and chat.ask is None:
        chat.ask = partial(_ask, read, view)
    if person:
        try:
            model = chat.find_model()
        except NitError as error:
            view.line(error.render().translate(_HARMLESS))
            return 1
        view.line(f"{model} at {chat.address}. /help helps, Ctrl-D ends.")
    while True:
        try:
            text = read("> " if person else "").strip()
        except EOFError:
            if person:
                view.line("")
            return 0
        except KeyboardInterrupt:
            view.line("")
            continue
        if text in ("/quit", "/exit"):
            return 0
        if text.startswith("/"):
            _command(chat, text, view)
        elif text and not _turn(chat, text, view) and not person:
            return 1


def _turn(chat: Chat, text: str, view: TurnView) -> bool:
    """Show one turn; whether it went well."""
    try:
        with closing(chat.send(text)) as events:
            for event in events:
                view.show(event)
    except KeyboardInterrupt:
        view.note("stopped; what was bound is kept")
        return False
    except NitError as error:
        view.end_line()
        view.line(error.render().translate(_HARMLESS))
        return False
    view.end_line()
    return True


def _command(chat: Chat, text: str, view: TurnView) -> None:
    name, _, rest = text[1:].partition(" ")
    registry = chat.session.registry
    match name:
        case "tools":
            view.line("\n".join(sorted(registry.signature(each) for each in registry.tools())))
        case "vars":
            for variable, value in chat.session.variables.items():
                view.line(f"${variable}  {describe(value)}  {preview(value, _PREVIEW_CHARS)}")
        case "codec":
            with suppress(NitError):
                chat.codec = rest.strip() or "auto"
            view.line(f"codec: {chat.codec}")
        case "usage":
            view.line(str(chat.usage))
        case "reset":
            chat.reset()
            view.line("begun anew")
        case _:
            view.line(HELP)


def _ask(read: Callable[[str], str], view: TurnView, question: Question) -> Answer:
    """Ask the person whether a script may run; no answer is a no."""
    view.end_line()
    view.line(str(question).translate(_HARMLESS))
    try:
        said = read(_ASK).strip().lower()
        if said in ("e", "edit"):
            view.line("write the script; a line with only a dot ends it")
            lines: list[str] = []
            while (line := read("| ")) != ".":
                lines.append(line)
            return Answer(verdict="edit", script="\n".join(lines))
    except EOFError:
        return Answer(verdict="reject", reason="the terminal was closed")
    if said in ("r", "run", "y", "yes"):
        return Answer(verdict="run")
    return Answer(verdict="always" if said in ("a", "always") else "reject")


class TurnView:
    """Writes events as lines of a terminal."""

    def __init__(self, screen: Terminal, *, color: bool) -> None:
        self._screen = screen
        self._color = color
        self._is_at_start = True

    def show(self, event: ChatEvent) -> None:
        """Show one event, if it has something to show."""
        match event:
            case TextDelta(text=text):
                self._write(text.translate(_HARMLESS))
            case ReasoningDelta(text=text):
                self._write(self._dim(text))
            case BlockStarted(script=script):
                self.end_line()
                for line in script.strip().splitlines():
                    self.line(self._dim(f"  | {line}"))
            case BlockFinished():
                self._block(event)
            case Repair(attempt=attempt, limit=limit, error=error):
                self.note(f"{error.message}; asking again ({attempt} of {limit})")
            case Fallback(before=before, after=after, reason=reason):
                self.note(f"from {before} to {after}: {reason}")
            case Notice(text=text):
                self.note(text)
            case TagRejected(tag=tag):
                self.note(f"{tag} is none of this turn; it ran nothing")
            case TurnFinished(reason=reason, usage=usage) if reason not in _BAD_ENDS:
                self.end_line()
                self.line(self._dim(str(usage)))
            case _:
                pass

    def _block(self, event: BlockFinished) -> None:
        self.end_line()
        if event.error is not None:
            self.line(self._dim("  " + event.error.render().replace("\n", "\n  ")))
        elif event.status != "ok":
            self.note(f"script {event.status}")
        elif event.result is not None:
            for name, value in event.result.variables.items():
                self.line(self._dim(f"  ${name} = {preview(value, _PREVIEW_CHARS)}"))

    def note(self, text: str) -> None:
        """Show a remark on a line of its own."""
        self.end_line()
        self.line(self._dim(f"({text})"))

    def line(self, text: str) -> None:
        """Show a line."""
        self._write(f"{text}\n")

    def end_line(self) -> None:
        """Begin a new line, unless one has just begun."""
        if not self._is_at_start:
            self._write("\n")

    def _write(self, text: str) -> None:
        if text:
            self._screen.write(text)
            self._screen.flush()
            self._is_at_start = text.endswith("\n")

    def _dim(self, text: str) -> str:
        text = text.translate(_HARMLESS)
        return f"\x1b[2m{text}\x1b[0m" if self._color else text
