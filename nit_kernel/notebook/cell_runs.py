"""Runs the script of a cell: awaited on the kernel's loop, or blocking where it cannot be.

Both give the same outcome. An interrupt ends either at once: what was bound is kept, no later
statement starts, and background tasks go on.
"""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nit_kernel.errors import NitCancelledError
from nit_kernel.notebook.display import error_lines, raisable
from nit_kernel.notebook.interrupts import (
    NitInterrupted,
    TaskInterrupted,
    call_interruptibly,
    cancel_on_interrupt,
    interruption,
    raise_on_interrupt,
)
from nit_kernel.notebook.watcher import VIEW
from nit_kernel.runtime.background import BackgroundTask

if TYPE_CHECKING:
    from collections.abc import Generator

    from nit_kernel.notebook.cell_view import CellView
    from nit_kernel.notebook.workspace import Workspace
    from nit_kernel.session import Result


@dataclass(frozen=True, slots=True, kw_only=True)
class CellOptions:
    """What stands on the `%%nit` line.

    Attributes:
        name: What the person calls the cell; the title of its panel.
        out: The Python name that gets the script's value.
        quiet: Whether the value is not shown.
        check: Whether the script is only checked.
        timeout: Seconds for the whole script.
        wait: Whether the cell waits for the background tasks before it ends.
    """

    name: str = ""
    out: str | None = None
    quiet: bool = False
    check: bool = False
    timeout: float | None = None
    wait: bool = False


class CellCancelled(asyncio.CancelledError):
    """The task of an awaited cell was cancelled by code; shows as a few lines."""

    def __init__(self, lines: list[str]) -> None:
        super().__init__("\n".join(lines))
        self._lines = lines

    def _render_traceback_(self) -> list[str]:
        return self._lines


async def run_awaited(workspace: Workspace, source: str, options: CellOptions) -> object:
    """Run a script while the kernel's loop goes on, and return its value.

    Raises:
        NitError: The script failed, or may not run.
        NitInterrupted: It was interrupted.
    """
    loop, session = asyncio.get_running_loop(), workspace.session
    with _view(workspace, options) as view:
        with cancel_on_interrupt(loop, lambda: _cancel(view)):
            result = await session.arun(
                source,
                namespace=workspace.names,
                timeout=options.timeout,
                on_interrupt="return",
                on_caller=call_interruptibly,
            )
        seconds = workspace.seconds_to_wait(options, result)
        if seconds and not await await_tasks(workspace, seconds):
            workspace.tell_still_running(seconds)
    return conclude(workspace, result, options, view, is_awaited=True)


def run_blocking(workspace: Workspace, source: str, options: CellOptions) -> object:
    """Run a script on this thread, and return its value; the same as `run_awaited`."""
    session = workspace.session
    with _view(workspace, options) as view, raise_on_interrupt(lambda: _cancel(view)):
        result = session.run(
            source,
            namespace=workspace.names,
            timeout=options.timeout,
            on_interrupt="return",
        )
        seconds = workspace.seconds_to_wait(options, result)
        if seconds:
            try:
                all_ended = session.wait(seconds)
            except KeyboardInterrupt:
                raise interrupted_wait(workspace) from None
            if not all_ended:
                workspace.tell_still_running(seconds)
    return conclude(workspace, result, options, view, is_awaited=False)


async def await_tasks(workspace: Workspace, seconds: float | None) -> bool:
    """Wait until no background task runs; whether that came in so many seconds.

    Raises:
        NitInterrupted: A person did not want to wait any longer. The tasks go on.
    """
    loop, task = asyncio.get_running_loop(), asyncio.current_task()

    def cancel() -> None:
        if task is not None:
            task.cancel()

    with cancel_on_interrupt(loop, cancel) as interrupts:
        try:
            return await workspace.session.await_tasks(seconds)
        except asyncio.CancelledError:
            if not interrupts.came:
                raise
            if task is not None:
                task.uncancel()
            raise interrupted_wait(workspace) from None


def interrupted_wait(workspace: Workspace) -> NitInterrupted | TaskInterrupted:
    """How the interrupt of a wait for background tasks shows."""
    return interruption(["the wait was interrupted", *_still_running(workspace)])


def conclude(
    workspace: Workspace,
    result: Result,
    options: CellOptions,
    view: CellView,
    *,
    is_awaited: bool,
) -> object:
    """Show what a script came to: warnings, its error or its value."""
    workspace.last = result
    workspace.show_findings(item for item in result.diagnostics if item.severity == "warning")
    error = result.error
    if error is not None:
        cause = error.__cause__
        if isinstance(error, NitCancelledError) and isinstance(cause, KeyboardInterrupt):
            raise interruption(_interrupted_lines(workspace, result)) from None
        if isinstance(error, NitCancelledError) and isinstance(cause, asyncio.CancelledError):
            raise CellCancelled(_interrupted_lines(workspace, result)) from None
        raise raisable(error) from cause
    value = result.value
    if options.out is not None:
        workspace.shell.user_ns[options.out] = value
    if options.quiet:
        return None
    workspace.values.expect(
        value,
        view.budget.left,
        # Where a blocking cell stands inside Python code, its value is that code's to show.
        is_hidden=is_awaited and (_assigns(result) or _is_on_the_panel(workspace, value)),
    )
    return value


def _assigns(result: Result) -> bool:
    """Whether the last statement binds a variable: it shows nothing then, as in Python."""
    script = result.script
    last = script.statement_count - 1
    return last >= 0 and script.statement(last)[2] is not None


def _is_on_the_panel(workspace: Workspace, value: object) -> bool:
    return isinstance(value, BackgroundTask) and workspace.watcher.has_page


def check_only(workspace: Workspace, source: str) -> None:
    """Say everything about a script that can be said without running it."""
    workspace.begin()
    prepared = workspace.session.prepare(source, namespace=workspace.names)
    workspace.show_findings(prepared.diagnostics)
    if prepared.ok:
        tools = list(dict.fromkeys(tool.full_name for tool, _ in prepared.tools))
        calls = f"; it would call {', '.join(tools)}" if tools else ""
        print(f"no errors found{calls}")  # noqa: T201 - the answer to the person's question


@contextmanager
def _view(workspace: Workspace, options: CellOptions) -> Generator[CellView]:
    workspace.begin()
    view = workspace.watcher.open_view(options.name)
    token = VIEW.set(view)
    try:
        with workspace.running():
            yield view
    finally:
        VIEW.reset(token)
        workspace.watcher.close_view(view)


def _cancel(view: CellView) -> None:
    for run in view.runs[:1]:
        run.cancel(KeyboardInterrupt())


def _interrupted_lines(workspace: Workspace, result: Result) -> list[str]:
    error = result.error
    lines = [] if error is None else error_lines(error)
    if result.variables:
        lines.append("  kept: " + ", ".join(f"${name}" for name in result.variables))
    return [*lines, *_still_running(workspace)]


def _still_running(workspace: Workspace) -> list[str]:
    running = [name for name, task in workspace.session.tasks.items() if not task.done]
    if not running:
        return []
    return [f"  in the background, still running: {', '.join(running)} (%nit cancel NAME|all)"]
