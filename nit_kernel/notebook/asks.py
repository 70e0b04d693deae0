"""Runs a `%%ask` cell: a message goes to the model, its words and scripts come back.

Awaited on the kernel's loop, or blocking where it cannot be; both show the same. An interrupt ends
either at once, in every phase, and leaves the conversation usable.
"""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections import ChainMap
from contextlib import aclosing, closing, contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from IPython.display import display

from nit_kernel.errors import NitError
from nit_kernel.model.events import BlockFinished, TurnFinished
from nit_kernel.notebook.ask_page import AskPage, AskStream
from nit_kernel.notebook.asking import asker
from nit_kernel.notebook.cell_runs import CellOptions, await_tasks
from nit_kernel.notebook.display import raisable
from nit_kernel.notebook.interrupts import (
    NitInterrupted,
    call_interruptibly,
    cancel_on_interrupt,
    interruption,
    raise_on_interrupt,
)
from nit_kernel.notebook.placeholders import fill
from nit_kernel.notebook.watcher import VIEW

if TYPE_CHECKING:
    from collections.abc import Generator

    from nit_kernel.conversation import Chat
    from nit_kernel.model.events import ChatEvent
    from nit_kernel.notebook.ask_page import AskView
    from nit_kernel.notebook.workspace import Workspace
    from nit_kernel.session import Result

_BASE64 = re.compile(r"(;base64,[A-Za-z0-9+/]{40})[A-Za-z0-9+/]{200,}={0,2}")

_LEGACY = (
    "NIT 1.0 blocks carry no id of their turn: with `NitMagics.legacy` on, one that the model "
    "repeats from a page or a file runs, too"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskOptions:
    """What stands on the `%%ask` line.

    Attributes:
        model: Another model of the same server, for this message.
        codec: Another codec, for this message.
        fresh: Whether the conversation begins anew.
        dry_run: Whether the message is only shown as it would leave the machine.
        out: The Python name that gets the answer.
    """

    model: str | None = None
    codec: str | None = None
    fresh: bool = False
    dry_run: bool = False
    out: str | None = None


async def ask_awaited(workspace: Workspace, body: str, options: AskOptions) -> None:
    """Carry out a `%%ask` cell while the kernel's loop goes on.

    Raises:
        NitError: The model cannot be reached, or gives no usable reply.
        NitInterrupted: The cell was interrupted.
    """
    loop, task = asyncio.get_running_loop(), asyncio.current_task()

    def stop() -> None:
        if task is not None:
            task.cancel()

    with _turn(workspace, body, options, is_awaited=True) as turn:
        if turn is None:
            return
        with cancel_on_interrupt(loop, stop) as interrupts:
            try:
                events = turn.chat.asend(
                    cast("Any", turn.content),
                    codec=options.codec,
                    key=turn.key,
                    on_caller=call_interruptibly,
                    on_event=turn.on_event,
                )
                async with aclosing(events):
                    async for event in events:
                        turn.take(event)
            except asyncio.CancelledError:
                if not interrupts.came:
                    raise
                if task is not None:
                    task.uncancel()
                raise KeyboardInterrupt from None
        seconds = turn.seconds_to_wait()
        if seconds and not await await_tasks(workspace, seconds):
            workspace.tell_still_running(seconds)


def ask_blocking(workspace: Workspace, body: str, options: AskOptions) -> None:
    """Carry out a `%%ask` cell on this thread; the same as `ask_awaited`."""
    with _turn(workspace, body, options, is_awaited=False) as turn:
        if turn is None:
            return
        with raise_on_interrupt(turn.chat.cancel):
            events = turn.chat.send(
                cast("Any", turn.content), codec=options.codec, key=turn.key, on_event=turn.on_event
            )
            with closing(events):
                for event in events:
                    turn.take(event)
            seconds = turn.seconds_to_wait()
            if seconds and not workspace.session.wait(seconds):
                workspace.tell_still_running(seconds)


class _Turn:
    """One message on its way, and what is seen of it."""

    def __init__(
        self, workspace: Workspace, chat: Chat, content: object, key: str | None, view: AskView
    ) -> None:
        self.chat = chat
        self.content = content
        self.key = key
        self.reason = ""
        self._result: Result | None = None
        self._workspace = workspace
        self._view = view
        self._carry = workspace.carry()
        self._context = copy_context()
        self._lock = threading.Lock()
        # In a terminal nothing may be written while this thread asks the person something.
        self.on_event = self._show if isinstance(view, AskPage) else None

    def _show(self, event: ChatEvent) -> None:
        """Show an event at once, from any thread, as this cell's."""
        with self._lock, self._carry():
            self._context.run(self._view.take, event)

    def take(self, event: ChatEvent) -> None:
        """Take one event where the cell runs."""
        if isinstance(event, BlockFinished) and event.result is not None:
            self._workspace.last = self._result = event.result
        elif isinstance(event, TurnFinished):
            self.reason = event.reason
        if self.on_event is None:
            self._view.take(event)

    def seconds_to_wait(self) -> float:
        """How long the cell waits for the background tasks of its scripts; 0 if it does not."""
        if self._result is None or self.reason == "interrupted":
            return 0.0
        return self._workspace.seconds_to_wait(CellOptions(), self._result)


@contextmanager
def _turn(
    workspace: Workspace,
    body: str,
    options: AskOptions,
    *,
    is_awaited: bool,
) -> Generator[_Turn | None]:
    """What an awaited and a blocking cell have in common, before and after the message."""
    workspace.begin()
    conversation = workspace.conversation
    filled = fill(
        body.strip("\n"),
        ChainMap(cast("Any", workspace.names), cast("Any", workspace.session.variables)),
        chars=workspace.settings.placeholder_chars,
        hidden=workspace.shell.user_ns_hidden,
    )
    for note in filled.notes:
        workspace.tell(note)
    if workspace.settings.legacy and not conversation.is_told_of_legacy:
        conversation.is_told_of_legacy = True
        workspace.tell(_LEGACY, True)
    try:
        with conversation.speaking_to(options.model) as chat:
            if options.dry_run:
                _show_dry_run(workspace, chat, filled.content, options)
                yield None
                return
            if options.fresh:
                conversation.reset()
            view = _view(workspace)
            key = conversation.key(workspace.front_end)
            turn = _Turn(workspace, chat, filled.content, key, view)
            with _prepared(workspace, chat, is_awaited=is_awaited):
                try:
                    yield turn
                finally:
                    view.finish()
            if options.out is not None:
                workspace.shell.user_ns[options.out] = view.text
    except KeyboardInterrupt as interrupt:
        if isinstance(interrupt, NitInterrupted):
            raise
        raise interruption(_interrupted_lines(workspace)) from None
    except NitError as error:
        raise raisable(error) from None
    if turn.reason == "interrupted":
        raise interruption(_interrupted_lines(workspace))


@contextmanager
def _prepared(workspace: Workspace, chat: Chat, *, is_awaited: bool) -> Generator[None]:
    """Scripts of the message print and show under this cell; the person can be asked here."""
    view = workspace.watcher.open_view("")
    token = VIEW.set(view)
    asks = chat.ask is None
    if asks:
        chat.ask = asker(workspace, is_awaited=is_awaited)
    try:
        with workspace.running():
            yield
    finally:
        if asks:
            chat.ask = None
        VIEW.reset(token)
        workspace.watcher.close_view(view)


def _view(workspace: Workspace) -> AskView:
    keep = workspace.conversation.keep
    if workspace.front_end.is_console:
        return AskStream(keep, color=workspace.shell.colors.lower() != "nocolor")
    return AskPage(keep, carry=workspace.carry())


def _show_dry_run(workspace: Workspace, chat: Chat, content: object, options: AskOptions) -> None:
    """Show what would leave the machine, and send nothing."""
    key = workspace.conversation.key(workspace.front_end)
    would = chat.dry_run(cast("Any", content), codec=options.codec, key=key, fresh=options.fresh)
    text = _BASE64.sub(r"\1… (an image, shortened here)", str(would))
    display({"text/plain": f"nothing was sent; this would go {text}"}, raw=True)
    if options.out is not None:
        workspace.shell.user_ns[options.out] = json.loads(json.dumps(would.body))


def _interrupted_lines(workspace: Workspace) -> list[str]:
    running = [name for name, task in workspace.session.tasks.items() if not task.done]
    lines = ["the message was interrupted; what was said and bound is kept"]
    if running:
        names = ", ".join(running)
        lines.append(f"  in the background, still running: {names} (%nit cancel NAME|all)")
    return lines
