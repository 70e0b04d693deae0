"""What belongs to one shell: its session, its mirror, its pages, and what happens between cells.

```
                 ┌─ Session ──events──> Watcher ──> views and panels of cells
Workspace ───────┼─ Mirror <──> user_ns
(one a shell)    ├─ AwaitingTransformer, CellDepth      (what a cell becomes)
                 └─ ValueDisplay, `nit`                 (what a person sees and holds)
```
"""

from __future__ import annotations

import asyncio
import atexit
import sys
import threading
from contextlib import contextmanager
from dataclasses import fields
from typing import TYPE_CHECKING, Any, cast

from IPython.display import display

import nit_kernel
from nit_kernel.config import Limits
from nit_kernel.errors import NitError
from nit_kernel.notebook.cells import AwaitingTransformer, CellDepth, uncover_magic
from nit_kernel.notebook.conversation import Conversation
from nit_kernel.notebook.display import ValueDisplay, placed
from nit_kernel.notebook.front_end import FrontEnd
from nit_kernel.notebook.handle import NotebookHandle
from nit_kernel.notebook.interrupts import interrupt_main_thread
from nit_kernel.notebook.namespace import Mirror, NotebookNames, NotebookVariables
from nit_kernel.notebook.watcher import Watcher
from nit_kernel.session import Session
from nit_kernel.sources.functions import is_tool_function
from nit_kernel.sources.plugin_places import default_places

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable
    from contextlib import AbstractContextManager

    from IPython.core.interactiveshell import InteractiveShell

    from nit_kernel._syntax import Diagnostic
    from nit_kernel.notebook.cell_runs import CellOptions
    from nit_kernel.notebook.magics import NitMagics
    from nit_kernel.session import Result

HANDLE_NAME = "nit"


class Workspace:
    """Everything of NIT in one shell; made when the extension is loaded.

    Args:
        shell: The shell.
        settings: Its settings.
    """

    def __init__(self, shell: InteractiveShell, settings: NitMagics) -> None:
        self.shell = shell
        self.settings = settings
        self.last: Result | None = None
        """The outcome of the last script."""
        self.depth = CellDepth()
        self.values = ValueDisplay(shell)
        self.names = NotebookNames(shell)
        self.watcher = Watcher(
            _kernel_loop(shell),
            chars=lambda: settings.cell_chars,
            present=self._present,
            has_panels=lambda: settings.panel,
            is_headless=self.is_headless,
        )
        self.session = Session(
            plugins=[*settings.plugins, *default_places()],
            limits=_limits(settings),
            observer=self.watcher,
            carry=self.carry,
        )
        self.front_end = FrontEnd(shell)
        self.conversation = Conversation(self.session, settings)
        self.mirror = Mirror(shell, self.session.variables, self.tell)
        self.watcher.mirror = self.mirror
        self.vars = NotebookVariables(self.session.variables, self.mirror)
        self.handle = NotebookHandle(self)
        self._handle_is_hidden = False
        self._scripts_on_main = 0
        self._awaiting = AwaitingTransformer(shell, self.depth)
        self._removers: list[Callable[[], None]] = []

    # Loading

    def install(self) -> None:
        """Hook into the shell."""
        shell = self.shell
        shell.input_transformers_post.append(self._awaiting)
        # Before IPython's own: a byte order mark would hide the magic from them.
        shell.input_transformer_manager.cleanup_transforms.insert(0, uncover_magic)
        shell.events.register("pre_execute", self._cell_begins)
        shell.events.register("post_execute", self._cell_ended)
        shell.push({HANDLE_NAME: self.handle}, interactive=False)
        if not hasattr(shell, "_last_traceback"):
            # ipykernel reads it after an error, and sets it only where a traceback was shown.
            vars(shell)["_last_traceback"] = None
        self.values.install()
        self._take_functions()
        self.on_remove(self.front_end.watch())
        atexit.register(self.close)

    def _take_functions(self) -> None:
        """Loaded again, or late: the notebook's functions are its tools all the same."""
        for function in [f for f in self.shell.user_ns.values() if is_tool_function(f)]:
            try:
                lines = self.session.add_tool(function)
            except NitError as error:
                self.tell(f"{function.__name__}: {error.message}", True)
            else:
                for line in lines:
                    self.tell(line)

    def on_remove(self, remover: Callable[[], None]) -> None:
        """Have something taken off together with the rest."""
        self._removers.append(remover)

    def remove(self) -> None:
        """Leave the shell as it was, and end the session."""
        shell = self.shell
        for remover in self._removers:
            remover()
        shell.input_transformers_post.remove(self._awaiting)
        shell.input_transformer_manager.cleanup_transforms.remove(uncover_magic)
        shell.events.unregister("pre_execute", self._cell_begins)
        shell.events.unregister("post_execute", self._cell_ended)
        if shell.user_ns.get(HANDLE_NAME) is self.handle:
            del shell.user_ns[HANDLE_NAME]
        shell.user_ns_hidden.pop(HANDLE_NAME, None)
        self.values.remove()
        self.close()

    def close(self) -> None:
        """End the session: scripts and tasks are cancelled, threads let go."""
        atexit.unregister(self.close)
        self.watcher.stop()
        self.conversation.close()
        self.session.close()

    def shut_down(self) -> None:
        """The kernel is about to end: nothing of ours may hold it up. From any thread."""
        if self._scripts_on_main:
            interrupt_main_thread()
        self.close()

    # Between cells

    @contextmanager
    def running(self) -> Generator[None]:
        """While a script of a cell runs on this thread."""
        is_main = threading.current_thread() is threading.main_thread()
        self._scripts_on_main += is_main
        try:
            yield
        finally:
            self._scripts_on_main -= is_main

    def begin(self) -> None:
        """A script is about to run: what Python cells have changed counts."""
        self.mirror.pull()

    def _cell_begins(self) -> None:
        if self.depth.anywhere == 0:
            self._between_cells()
        self.depth.enter()
        # Inside `%%capture` the streams are others, and are the old ones again after it.
        self.session.cover_streams()

    def _cell_ended(self) -> None:
        self.depth.leave()
        self.session.cover_streams()
        if self.depth.anywhere == 0:
            self.values.forget()
            self._between_cells()
            if self.is_headless():
                self.watcher.draw_late()

    def _between_cells(self) -> None:
        # What raises here would be shown as an error of a cell that is not at fault.
        self.mirror.settle()
        self._see_to_the_handle()
        if not self.watcher.has_page:
            for said in self.watcher.take_prints():
                for line in said.text.splitlines():
                    print(f"[{said.task}] {line}")  # noqa: T201 - the terminal is where it belongs
        ended = self.session.take_ended()
        if self.watcher.has_page and self.settings.panel:
            # Their rows tell it, each under its own cell.
            return
        for task in ended:
            print(f"[{task.name}] {task.state} in {task.seconds:.1f} s")  # noqa: T201
            if task.error is not None and task.state == "failed":
                print(task.error.render())  # noqa: T201

    def _see_to_the_handle(self) -> None:
        is_hidden = self.shell.user_ns.setdefault(HANDLE_NAME, self.handle) is nit_kernel
        if is_hidden and not self._handle_is_hidden:
            self.tell(
                "`nit` is the module now, and `@nit.tool` of it makes no tool of this notebook; "
                "`del nit` brings back the notebook's own",
                True,
            )
        self._handle_is_hidden = is_hidden

    # Showing

    def tell(self, text: str, is_warning: bool = False) -> None:
        """Say one line to the person, under the cell that runs."""
        word = "warning" if is_warning else "note"
        print(f"{word}: {text}", file=sys.stderr if is_warning else sys.stdout)

    def tell_still_running(self, seconds: float) -> None:
        """Say that a wait was given up."""
        names = [name for name, task in self.session.tasks.items() if not task.done]
        self.tell(f"after {seconds:g} s still running: {', '.join(names)}", True)

    def show_findings(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Show findings about a script, each with its place and what to do."""
        found = [placed(item.render(color=True)) for item in diagnostics]
        if found:
            display({"text/plain": "\n\n".join(found)}, raw=True)

    def _present(self, value: object, chars: int) -> None:
        bundle, metadata = self.values.bundle(value, chars)
        if bundle:
            display(bundle, raw=True, metadata=metadata)

    # Where it runs

    def is_headless(self) -> bool:
        """Whether the cell runs for nobody but a file: its client answers no questions."""
        kernel = getattr(self.shell, "kernel", None)
        return kernel is not None and not getattr(kernel, "_allow_stdin", True)

    def seconds_to_wait(self, options: CellOptions, result: Result) -> float:
        """How long the cell waits for background tasks at its end; 0 if it does not."""
        when = self.settings.wait_at_end
        waits = options.wait or when == "always" or (when == "headless" and self.is_headless())
        is_open = any(not task.done for task in self.session.tasks.values())
        was_stopped = result.error is not None and not isinstance(
            result.error.__cause__, Exception | None
        )
        return self.settings.wait_seconds if waits and is_open and not was_stopped else 0.0

    def carry(self) -> Callable[[], AbstractContextManager[object]]:
        """Take along whose output it is, for kernels that do not trust a thread's context."""
        shell = self.shell
        set_parent = getattr(shell, "set_thread_parent", None)
        reset_parent = getattr(shell, "reset_thread_parent", None)
        if set_parent is None or reset_parent is None:
            return _nothing
        parent = cast("Any", shell).get_parent()

        @contextmanager
        def scope() -> Generator[None]:
            tokens = set_parent(parent)
            try:
                yield
            finally:
                reset_parent(tokens)

        return scope


@contextmanager
def _nothing() -> Generator[None]:
    yield


def _kernel_loop(shell: InteractiveShell) -> asyncio.AbstractEventLoop | None:
    """The loop of the shell's kernel, if it has one."""
    kernel = getattr(shell, "kernel", None)
    loop = getattr(getattr(kernel, "io_loop", None), "asyncio_loop", None)
    return loop if isinstance(loop, asyncio.AbstractEventLoop) else None


def _limits(settings: NitMagics) -> Limits:
    known = {field.name for field in fields(Limits)}
    return Limits(**{name: value for name, value in settings.limits.items() if name in known})
