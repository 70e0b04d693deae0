"""Watches a session for the notebook: every event goes to the view of the cell it belongs to.

```
event (any thread) ──> view of its cell ──wake──> ticker ──> page (kernel loop, ten times a second)
                                  └── on the cell's own busy thread: drawn at once, as often
value bound ──> mirror
```
"""

from __future__ import annotations

import sys
import threading
from contextvars import ContextVar
from typing import TYPE_CHECKING, cast

from nit_kernel.notebook.cell_view import CellView
from nit_kernel.notebook.ticker import Ticker
from nit_kernel.runtime.observer import (
    CallFinished,
    CallStarted,
    Displayed,
    Logged,
    Progressed,
    ScriptFinished,
    ScriptStarted,
    TaskChanged,
    ValueBound,
)

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable
    from typing import TextIO

    from nit_kernel.notebook.cell_view import Said
    from nit_kernel.notebook.namespace import Mirror
    from nit_kernel.notebook.printing import StreamName
    from nit_kernel.notebook.rows import Row
    from nit_kernel.notebook.widgets import TaskPanel
    from nit_kernel.runtime.observer import Event
    from nit_kernel.runtime.run import Run

VIEW: ContextVar[CellView | None] = ContextVar("nit_cell_view", default=None)
"""The view of the cell of NIT that runs in this context."""

_UNBOUNDED = sys.maxsize


class Watcher:
    """The observer of the notebook's session.

    Args:
        loop: The kernel's loop, or `None` in a terminal.
        chars: Most characters that a cell shows.
        present: Shows a value under the cell of this context, within so many characters.
        has_panels: Whether cells may show a panel.
        is_headless: Whether nobody sees what comes after its cell has ended.
    """

    takes_output = True
    """Prints reach the page through here, bounded, under their own cell."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop | None,
        *,
        chars: Callable[[], int],
        present: Callable[[object, int], None],
        has_panels: Callable[[], bool],
        is_headless: Callable[[], bool],
    ) -> None:
        self.mirror: Mirror | None = None
        self._loop = loop
        self._chars = chars
        self._present = present
        self._has_panels = has_panels
        self._is_headless = is_headless
        self._streams = _kernel_streams() if loop is not None else None
        self._ticker = None if loop is None else Ticker(loop, self._tick)
        self._views: dict[int, CellView] = {}
        self._open: list[CellView] = []
        self._calls: dict[int, tuple[str, Run]] = {}
        self._lock = threading.Lock()

    @property
    def has_page(self) -> bool:
        """Whether there is a page on which panels and late prints can be shown."""
        return self._loop is not None

    # Cells

    def open_view(self, name: str = "", *, chars: int | None = None) -> CellView:
        """A view for the cell that runs in the caller's context."""
        view = CellView(
            name,
            self._chars() if chars is None else chars,
            present=self._present,
            streams=self._streams,
            make_panel=_make_panel if self._loop is not None and self._has_panels() else None,
        )
        with self._lock:
            self._open.append(view)
        return view

    def close_view(self, view: CellView) -> None:
        """The cell has ended; its tasks may go on."""
        view.finish()
        self._forget_ended()
        if view.is_live:
            self._wake()

    def draw_late(self) -> None:
        """Show in this cell, too, what changed in panels whose own cells have ended.

        A headless run throws away what comes after its cell; what a later cell sends it keeps.
        """
        with self._lock:
            late = [view for view in self._open if view.is_over and view.is_live]
        for view in late:
            view.resend()
        self._forget_ended()

    def take_prints(self) -> list[Said]:
        """What background tasks printed where there is no page."""
        with self._lock:
            views = list(self._open)
        for view in views:
            view.draw()
        prints = [said for view in views for said in view.take_prints()]
        self._forget_ended()
        return prints

    def stop(self) -> None:
        """Draw no more."""
        if self._ticker is not None:
            self._ticker.stop()

    # Events

    def on_event(self, event: Event, /) -> None:
        """Take one event of the session."""
        match event:
            case ScriptStarted(run=run):
                view = VIEW.get() or self.open_view(chars=_UNBOUNDED)
                view.runs.append(run)
                self._views[run.number] = view
            case ValueBound(run=run, name=name, value=value):
                if self.mirror is not None:
                    author = "model" if run.origin == "model" else "person"
                    self.mirror.push(name, value, author=author)
            case CallStarted(run=run, key=key, tool=tool, task=None):
                self._calls[key] = (tool, run)
            case CallFinished(task=None):
                self._call_finished(event)
            case TaskChanged(run=run, task=task):
                view = self._views.get(run.number)
                if view is not None:
                    view.add_task(task)
                    self._changed(view)
            case Logged():
                self._take_log(event)
            case Progressed(run=run, message=message, fraction=fraction):
                view = self._views.get(run.number)
                row = None if view is None else self._row(view, event)
                if view is not None and row is not None:
                    row.fraction = fraction
                    row.say(message)
                    self._changed(view)
            case Displayed(run=run, value=value):
                view = self._views.get(run.number)
                if view is not None:
                    view.show(value)
                    self._wake()
            case ScriptFinished(run=run):
                self._finished(run)
            case _:
                pass

    def _take_log(self, event: Logged) -> None:
        view = self._views.get(event.run.number)
        if view is None:
            return
        stream, task = event.stream, event.task
        if stream != "log" and task is None:
            view.print_now(event.text, stream)
            row = view.row(event.key)
        else:
            if stream != "log" and task is not None:
                view.print_later(task.name, event.text, stream)
            row = self._row(view, event)
        if row is not None:
            row.say(event.text)
            self._changed(view)
        elif task is not None:
            self._wake()

    def _row(self, view: CellView, event: Progressed | Logged) -> Row | None:
        """The row of who says something; a call of the cell itself gets it with its first word."""
        row = view.row(event.key)
        started = self._calls.get(event.key)
        if row is not None or started is None or view.is_over:
            return row
        tool, run = started
        # On the cell's own thread no button is heard; the stop button is.
        is_busy = threading.get_ident() == view.thread
        return view.add_call(event.key, tool, None if is_busy else run.cancel)

    def _call_finished(self, event: CallFinished) -> None:
        self._calls.pop(event.key, None)
        view = self._views.get(event.run.number)
        row = None if view is None else view.row(event.key)
        if view is None or row is None:
            return
        match event.call.status:
            case "failed":
                row.end("failed", event.call.error.message if event.call.error else "")
            case "cancelled":
                row.end("cancelled")
            case _:
                row.end("done")
        self._changed(view)

    def _finished(self, run: Run) -> None:
        view = self._views.get(run.number)
        if view is not None and view.runs[0] is run:
            view.end_calls()
            if VIEW.get() is not view:
                # A script that Python code ran, in whatever cell that stands.
                view.is_over = True
            self._wake()

    # Drawing

    def _changed(self, view: CellView) -> None:
        view.change()
        if self._loop is not None and threading.get_ident() == view.thread and not view.is_over:
            view.draw_if_due()
        self._wake()

    def _wake(self) -> None:
        if self._ticker is not None:
            self._ticker.wake()

    def _tick(self) -> bool:
        with self._lock:
            views = [view for view in self._open if view.is_live]
        is_headless = self._is_headless()
        for view in views:
            if is_headless and view.is_over:
                view.draw_prints()
            else:
                view.draw()
        if not is_headless:
            self._forget_ended()
        return any(not view.is_final for view in views)

    def _forget_ended(self) -> None:
        with self._lock:
            for view in [view for view in self._open if view.is_over and not view.is_live]:
                self._open.remove(view)
                for run in view.runs:
                    self._views.pop(run.number, None)
                view.runs.clear()


def _make_panel(view: CellView) -> TaskPanel:
    from nit_kernel.notebook.widgets import TaskPanel  # noqa: PLC0415 - takes its time

    return TaskPanel(view)


def _kernel_streams() -> dict[StreamName, TextIO] | None:
    """The kernel's own streams: whoever captures `sys.stdout` does not get what tasks print."""
    from ipykernel.iostream import OutStream  # noqa: PLC0415 - only where a kernel runs

    found: dict[StreamName, TextIO] = {}
    for name in ("stdout", "stderr"):
        stream: object = getattr(sys, name)
        if not isinstance(stream, OutStream):
            return None
        found[name] = cast("TextIO", stream)
    return found
