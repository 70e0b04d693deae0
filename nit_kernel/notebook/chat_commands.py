"""The commands of `%nit` that concern the model: `model`, `codec`, `history`, `keep`."""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import Future
from typing import TYPE_CHECKING

from IPython.core.error import UsageError
from IPython.display import display

from nit_kernel.errors import NitError
from nit_kernel.notebook.display import Table, raisable, shorten
from nit_kernel.notebook.interrupts import (
    NitInterrupted,
    TaskInterrupted,
    cancel_on_interrupt,
    interruption,
    raise_on_interrupt,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from nit_kernel.model.local import LocalServer
    from nit_kernel.notebook.workspace import Workspace

_HISTORY_CHARS = 160
_SLICE_S = 0.05
_NEWS_S = 1.0


def model(workspace: Workspace, rest: str) -> None:
    """Say which model is spoken to, or speak to another."""
    file = _local_file(rest)
    if file is None:
        return _named(workspace, rest)
    starting = _start(workspace, file)
    with raise_on_interrupt():
        try:
            while not starting.done():
                threading.Event().wait(_SLICE_S)
        except KeyboardInterrupt:
            starting.cancel()
            raise _gave_up() from None
    return _started(workspace, starting)


async def model_awaiting(workspace: Workspace, rest: str) -> None:
    """The same while the kernel's loop goes on."""
    file = _local_file(rest)
    if file is None:
        return _named(workspace, rest)
    starting = _start(workspace, file)
    loop = asyncio.get_running_loop()
    with cancel_on_interrupt(loop, starting.cancel):
        while not starting.done():
            await asyncio.sleep(_SLICE_S)
    if starting.cancelled():
        raise _gave_up()
    return _started(workspace, starting)


def codec(workspace: Workspace, rest: str) -> None:
    """Say which codec is spoken, or choose another."""
    conversation = workspace.conversation
    if rest:
        before = workspace.settings.codec
        workspace.settings.codec = rest
        try:
            conversation.chat  # noqa: B018 - carries the setting over, or says what is wrong
        except NitError as error:
            workspace.settings.codec = before
            raise raisable(error) from None
    print(f"codec: {workspace.settings.codec}")  # noqa: T201


def history(workspace: Workspace, rest: str) -> None:
    """List the messages of the conversation."""
    if rest:
        raise UsageError(f"%nit history: nothing may follow, got `{rest}`")
    conversation = workspace.conversation
    messages = conversation.chat.history if conversation.has_begun else []
    from nit_kernel.model.messages import text_of  # noqa: PLC0415 - takes its time

    rows: list[tuple[str, str, str]] = []
    for number, message in enumerate(messages, 1):
        kind = str(message.get("kind") or message.get("role"))
        calls = message.get("tool_calls") or ()
        text = text_of(message) or ", ".join(
            str(call.get("function", {}).get("name")) for call in calls if isinstance(call, dict)
        )
        rows.append((str(number), kind, shorten(" ".join(text.split()), _HISTORY_CHARS)))
    footer = str(conversation.chat.usage) if rows else "no messages yet: `%%ask` sends one"
    display(Table(("", "from", "text"), tuple(rows), footer=footer))


def keep(workspace: Workspace, rest: str) -> None:
    """Make a script of the model a cell of the notebook."""
    scripts = workspace.conversation.scripts
    if not scripts:
        raise UsageError("%nit keep: no script of a model has run yet")
    try:
        number = int(rest) if rest else len(scripts)
    except ValueError:
        number = 0
    if not 1 <= number <= len(scripts):
        raise UsageError(f"%nit keep: which? A number from 1 to {len(scripts)}, got `{rest}`")
    script = scripts[number - 1].strip("\n")
    workspace.shell.set_next_input(f"%%nit\n{script}\n", replace=False)


def _named(workspace: Workspace, rest: str) -> None:
    conversation = workspace.conversation
    if rest:
        conversation.leave_local()
        workspace.settings.model = rest
    if not conversation.is_set_up:
        from nit_kernel.model.failures import nothing_set  # noqa: PLC0415 - takes its time

        print(nothing_set().render())  # noqa: T201
        return
    chat = conversation.chat
    name = chat.model or "the only one that the server offers"
    print(f"model: {name}, at {chat.address}; codec: {workspace.settings.codec}")  # noqa: T201


def _local_file(rest: str) -> str | None:
    """The file of `local FILE`, empty where none is named; `None` where it is something else."""
    word, _, file = rest.partition(" ")
    return file.strip().strip("'\"") if word == "local" else None


def _start(workspace: Workspace, file: str) -> Future[LocalServer]:
    """Start a server in a thread: a model may first have to be fetched, which takes minutes."""
    outcome: Future[LocalServer] = Future()
    progress = _progress()

    def work() -> None:
        carried = workspace.carry()
        with carried():
            try:
                server = workspace.conversation.start_local(file or None, progress)
            except BaseException as error:  # noqa: BLE001 - handed to whoever waits
                if not outcome.cancelled():
                    outcome.set_exception(error)
                return
        if outcome.cancelled():
            workspace.conversation.leave_local()
        else:
            outcome.set_result(server)

    print("starting a model on this machine ...")  # noqa: T201
    threading.Thread(target=work, name="nit-local-start", daemon=True).start()
    return outcome


def _progress() -> Callable[[int, int | None], None]:
    told = 0.0
    handle = None

    def tell(done: int, total: int | None) -> None:
        nonlocal told, handle
        now = time.monotonic()
        if now - told < _NEWS_S and done != total:
            return
        told = now
        of = f" of {total / 1e6:,.0f}" if total else ""
        text = {"text/plain": f"fetched {done / 1e6:,.0f}{of} MB"}
        if handle is None:
            handle = display(text, raw=True, display_id=True)
        else:
            handle.update(text, raw=True)

    return tell


def _started(workspace: Workspace, starting: Future[LocalServer]) -> None:
    try:
        server = starting.result()
    except NitError as error:
        raise raisable(error) from None
    print(f"model: {server.model}, at {server.base_url}")  # noqa: T201


def _gave_up() -> NitInterrupted | TaskInterrupted:
    return interruption(["the model was not started: interrupted"])
