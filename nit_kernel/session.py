"""A conversation's tools, variables and background tasks: the one place that knows all parts.

```
text ──prepare──> Prepared ──run / arun──> Result
       parse, check            interpreter + driver: calls, bindings, background tasks
```
`prepare` runs nothing; `run` blocks; `arun` awaits. All three give the same outcome for the same
script, and raise only where it says so: what goes wrong is `Result.error`.
"""

from __future__ import annotations

import threading
import weakref
from typing import TYPE_CHECKING, Literal

from nit_kernel._syntax import quote
from nit_kernel.config import Limits
from nit_kernel.errors import NitCancelledError, NitError
from nit_kernel.language.check import Memory, check_script
from nit_kernel.runtime.dispatcher import drive, drive_awaiting, forget_cancellation
from nit_kernel.runtime.prepared import Prepared, Visible, parser_within
from nit_kernel.runtime.registry import Registry
from nit_kernel.runtime.result import Result
from nit_kernel.runtime.run import Home, Run, ScriptTimedOut, interrupted_error
from nit_kernel.runtime.symbols import SymbolTable
from nit_kernel.runtime.threads import Threads
from nit_kernel.runtime.tool import Tool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from concurrent.futures import Executor
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    from nit_kernel._syntax import Diagnostic, Script
    from nit_kernel.runtime.background import Reader
    from nit_kernel.runtime.dispatcher import OnCaller
    from nit_kernel.runtime.loop import LoopThread
    from nit_kernel.runtime.observer import Observer
    from nit_kernel.runtime.prepared import Legacy, Origin
    from nit_kernel.runtime.task import BackgroundTask
    from nit_kernel.runtime.task_driver import TaskDriver
    from nit_kernel.runtime.threads import Carry
    from nit_kernel.runtime.tool_view import ToolView
    from nit_kernel.sources.plugin_places import PluginPlace
    from nit_kernel.sources.plugins import Plugins


class Session:
    """Tools, variables and background tasks of one conversation.

    Leaving `with Session(..)` (or `async with`) closes it, which cancels its background tasks;
    `wait` waits for them. All methods may be called from any thread.

    Args:
        tools: Functions made tools by `@tool`, plain functions, or `Tool`s.
        plugins: Plugin folders, or folders of them.
        limits: What scripts and values may cost.
        executor: Where plain functions of `async` statements run; own daemon threads if left out.
        observer: Sees statements, calls, values, progress and tasks.
        carry: What worker threads must know of the thread that started their call; see `Threads`.

    Raises:
        PluginError: A tool is unusable, or two have one name. (A broken plugin does not raise: it
            is listed in `plugins`.)
    """

    def __init__(
        self,
        tools: Iterable[object] = (),
        plugins: Iterable[str | Path | PluginPlace] = (),
        *,
        limits: Limits | None = None,
        executor: Executor | None = None,
        observer: Observer | None = None,
        carry: Carry | None = None,
    ) -> None:
        self.limits = limits or Limits()
        self.observer = observer
        self.registry = Registry()
        self.variables = SymbolTable(self.limits.variables)
        self._threads = Threads(self.limits, executor, carry)
        self._home = Home(self.variables, self.limits, self._spawn)
        self._lock = threading.Lock()
        self._driver: TaskDriver | None = None
        self._memory = Memory[Tool]()
        self._memory_version = -1
        self._parse = parser_within(self.limits)
        self._running: set[Run] = set()
        self._closers: list[Callable[[], object]] = []
        self._closed = False
        self._plugins: Plugins | None = None
        self._finalize = weakref.finalize(self, self._threads.close)
        for tool in tools:
            self.add_tool(tool)
        places = list(plugins)
        if places:
            self.load_plugins(places)

    # Tools

    @property
    def tools(self) -> ToolView:
        """The tools, callable from Python: `session.tools.add(a=1)`."""
        from nit_kernel.runtime.tool_view import ToolView  # noqa: PLC0415 - scripts do without

        return ToolView(self.registry, self._threads)

    def add_tool(self, tool: object) -> tuple[str, ...]:
        """Add a function or `Tool` to the notebook's own; one of the same name is replaced.

        Returns:
            One line for each bare name that changes its meaning by this.

        Raises:
            PluginError: It cannot be a tool.
        """
        if not isinstance(tool, Tool):
            # Reading type hints takes pydantic, which a session of finished tools does not need.
            from nit_kernel.sources.functions import tool_of  # noqa: PLC0415

            tool = tool_of(tool)
        return self.registry.add(tool)

    @property
    def plugins(self) -> Plugins:
        """The plugins that were looked for, loaded or not, with what is wrong with them."""
        if self._plugins is None:
            # Manifests take more to read than a session of finished tools does.
            from nit_kernel.sources.plugins import Plugins  # noqa: PLC0415

            self._plugins = Plugins(self.registry)
            self.on_close(self._plugins.close)
        return self._plugins

    def load_plugins(self, places: Iterable[str | Path | PluginPlace]) -> tuple[str, ...]:
        """Load plugin folders, or folders of them; a broken one is listed and raises nothing.

        Returns:
            One line for each bare name that changes its meaning by this.
        """
        return self.plugins.load(places)

    def reload_plugins(self) -> tuple[str, ...]:
        """Load the plugins again that have changed.

        Returns:
            One line for each plugin that came, changed or went, and for each bare name that
            changes its meaning.
        """
        what = self.plugins.reload()
        said = (("loaded", what.added), ("loaded again", what.changed), ("removed", what.removed))
        lines = [f"{word}: {name}" for word, names in said for name in names]
        return (*lines, *what.notes)

    # Running

    def prepare(
        self,
        source: str,
        *,
        origin: Origin = "person",
        variables: Mapping[str, object] | None = None,
        namespace: Mapping[str, object] | None = None,
        legacy: Legacy | None = None,
    ) -> Prepared:
        """Parse and check a script; nothing runs and nothing is raised for a bad one.

        Args:
            source: The text.
            origin: Who wrote it. A model's script sees the symbol table only.
            variables: Values passed in: read before the symbol table until the script assigns
                the name, and not put there.
            namespace: Where names are looked up at last, lazily: a notebook's variables.
            legacy: Whether NIT 1.0 blocks are understood; a person's are, a model's are not.
        """
        legacy = legacy or ("allow" if origin == "person" else "off")
        script = self._parse(source, legacy=legacy)
        if origin == "model":
            variables = namespace = None
        return self._check(script, origin, variables, namespace)

    def run(
        self,
        source: str | Prepared,
        *,
        variables: Mapping[str, object] | None = None,
        namespace: Mapping[str, object] | None = None,
        check: bool = False,
        origin: Origin = "person",
        timeout: float | None = None,
        on_interrupt: Literal["raise", "return"] = "raise",
        observer: Observer | None = None,
    ) -> Result:
        """Run a script to its end on this thread, also inside a running event loop.

        Args:
            source: The text, or what `prepare` made of it.
            variables: See `prepare`.
            namespace: See `prepare`.
            check: Whether to raise what is otherwise `Result.error`.
            origin: See `prepare`.
            timeout: Seconds for the whole script. A function on this thread is not interrupted by
                it: the script then ends as soon as the function returns.
            on_interrupt: What Ctrl-C does after the running call was stopped: go on as
                `KeyboardInterrupt`, or return a result whose error is a `NitCancelledError` with
                the interrupt as its `__cause__`.
            observer: Sees this script, besides the session's own observer.

        Raises:
            NitError: The script failed, and `check` was asked for.
            KeyboardInterrupt: Ctrl-C was pressed, or the notebook interrupted.
            ValueError: The timeout is not above 0.
        """
        prepared = self._prepared(source, origin, variables, namespace)
        if not prepared.ok:
            return self._refused(prepared).checked(check)
        run = self._begin(prepared, timeout, observer)
        try:
            run.value = drive(run, self._threads)
        except NitError as error:
            run.error = error
        except KeyboardInterrupt as interrupt:
            run.error = interrupted_error(interrupt)
        except BaseException:
            self._end(run)
            raise
        return self._finish(run, prepared, check, on_interrupt)

    async def arun(
        self,
        source: str | Prepared,
        *,
        variables: Mapping[str, object] | None = None,
        namespace: Mapping[str, object] | None = None,
        check: bool = False,
        origin: Origin = "person",
        timeout: float | None = None,
        on_interrupt: Literal["raise", "return"] = "raise",
        on_caller: OnCaller | None = None,
        observer: Observer | None = None,
    ) -> Result:
        """Run a script to its end while the caller's event loop goes on.

        Arguments as for `run`. Plain functions run in worker threads, unless `on_caller` runs
        them: it is called with a function on the thread that awaits, and returns what that returns
        (or something to await for it).
        Cancelling the awaiting task is an interrupt.

        Raises:
            NitError: The script failed, and `check` was asked for.
            asyncio.CancelledError: The awaiting task was cancelled.
            ValueError: The timeout is not above 0.
            KeyboardInterrupt: A function on the awaiting thread was interrupted.
        """
        prepared = self._prepared(source, origin, variables, namespace)
        if not prepared.ok:
            return self._refused(prepared).checked(check)
        run = self._begin(prepared, timeout, observer)
        try:
            run.value = await drive_awaiting(run, self._threads, on_caller)
        except NitError as error:
            run.error = error
        except KeyboardInterrupt as interrupt:
            run.error = interrupted_error(interrupt)
        except BaseException:
            self._end(run)
            raise
        if on_interrupt == "return":
            forget_cancellation(run.error)
        return self._finish(run, prepared, check, on_interrupt)

    def prepare_call(
        self, name: str, arguments: Mapping[str, object], *, origin: Origin = "model"
    ) -> Prepared:
        """Prepare one call of a tool by its exact name: a model's native tool call.

        The arguments are values, so nothing in them is taken for NIT text. `run` and `arun` take
        the result, coercion, errors and permission work as for a script.
        """
        values = {f"_{number}": value for number, value in enumerate(arguments.values())}
        pairs = zip(arguments, values, strict=True)
        written = "".join(f", {quote(argument)}=${value}" for argument, value in pairs)
        script = self._parse(f"call({quote(name)}{written})", legacy="off")
        return self._check(script, origin, values, None)

    # Background tasks and the end

    @property
    def tasks(self) -> Mapping[str, BackgroundTask]:
        """The background tasks by name: all that wait or run, and the last that ended."""
        return {} if self._driver is None else self._driver.scheduler.tasks

    def take_ended(self, reader: Reader = "person", /) -> tuple[BackgroundTask, ...]:
        """The background tasks that ended since this reader last asked, oldest first.

        For displays and reports, so that every failure is told once; see `Reader`.
        """
        return () if self._driver is None else self._driver.scheduler.take_ended(reader)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until no background task runs; whether that came within `timeout` seconds."""
        return self._driver is None or self._driver.scheduler.wait(timeout)

    async def await_tasks(self, timeout: float | None = None) -> bool:
        """The same as `wait`, while the caller's event loop goes on."""
        return self._driver is None or await self._driver.scheduler.await_idle(timeout)

    def cancel(self, name: str) -> bool:
        """Cancel a background task; whether it had not ended before.

        Raises:
            KeyError: No task has the name.
        """
        return self.tasks[name].cancel()

    def cancel_all(self) -> int:
        """Cancel every background task that has not ended; how many those were."""
        return 0 if self._driver is None else self._driver.scheduler.cancel_all()

    @property
    def loop(self) -> LoopThread:
        """The session's own event loop, in a thread; started by the first use."""
        return self._threads.loop

    def on_close(self, closer: Callable[[], object]) -> None:
        """Have something called when the session closes, last come first, before its loop stops."""
        self._closers.append(closer)

    def cover_streams(self) -> None:
        """Catch what background tasks print also where the standard streams were replaced.

        For whoever knows that somebody just did that, as `%%capture` does around a cell.
        """
        self._threads.layer.refresh()

    def reset(self) -> None:
        """Forget all variables and cancel the background tasks; tools stay."""
        self.cancel_all()
        self.variables.clear()

    def close(self) -> None:
        """Cancel scripts and background tasks, and end the threads. Safe to call twice."""
        if self._closed:
            return
        self._closed = True
        for run in list(self._running):
            run.cancel()
        self.cancel_all()
        for closer in reversed(self._closers):
            closer()
        if self._driver is not None:
            self._driver.scheduler.log_unseen_failures()
        self._finalize()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        from asyncio import get_running_loop  # noqa: PLC0415 - whoever awaits has loaded it

        # Closing waits for the clean-up of coroutines, and must not hold up the caller's loop.
        await get_running_loop().run_in_executor(None, self.close)

    def __repr__(self) -> str:
        tools, tasks = len(self.registry.tools()), sum(not t.done for t in self.tasks.values())
        return f"<Session: {tools} tools, {len(self.variables)} variables, {tasks} tasks running>"

    # One script

    def _prepared(
        self,
        source: str | Prepared,
        origin: Origin,
        variables: Mapping[str, object] | None,
        namespace: Mapping[str, object] | None,
    ) -> Prepared:
        """A script that was checked against the tools as they are now."""
        if self._closed:
            raise NitError("the session is closed", code="NIT406", hint="make a new `Session`")
        if isinstance(source, str):
            return self.prepare(source, origin=origin, variables=variables, namespace=namespace)
        variables = source.variables if variables is None else variables
        namespace = source.namespace if namespace is None else namespace
        is_current = source.version == self.registry.version
        if is_current and variables is source.variables and namespace is source.namespace:
            return source
        return self._check(source.script, source.origin, variables, namespace)

    def _check(
        self,
        script: Script,
        origin: Origin,
        variables: Mapping[str, object] | None,
        namespace: Mapping[str, object] | None,
    ) -> Prepared:
        version = self.registry.version
        known = (
            self.variables
            if variables is None and namespace is None
            else Visible(self.variables, variables, namespace)
        )
        if version != self._memory_version:
            self._memory, self._memory_version = Memory[Tool](), version
        checked = check_script(
            script, registry=self.registry, known=known, origin=origin, memory=self._memory
        )
        return Prepared(checked, version, origin, variables, namespace)

    def _begin(
        self, prepared: Prepared, timeout: float | None, observer: Observer | None = None
    ) -> Run:
        if timeout is not None and not timeout > 0:
            message = f"timeout: wanted seconds above 0, got {timeout:g}"
            raise ValueError(message)
        run = Run(prepared, self._home)
        self._running.add(run)
        if timeout is not None:
            run.alarm = self._threads.deadlines.add(
                timeout, lambda: run.cancel(ScriptTimedOut(timeout))
            )
        if observer is not None or self.observer is not None:
            self._watch(run, observer)
        return run

    def _watch(self, run: Run, observer: Observer | None) -> None:
        """Tell the session's observer, and the script's own, of what happens."""
        from nit_kernel.runtime.observer import Both  # noqa: PLC0415 - only where somebody watches
        from nit_kernel.runtime.telling import Telling  # noqa: PLC0415

        watchers = [each for each in (self.observer, observer) if each is not None]
        run.telling = Telling(run, Both(*watchers) if len(watchers) > 1 else watchers[0])
        self._threads.layer.acquire()
        run.telling.script_started()

    def _spawn(self, run: Run, index: int, target: str | None) -> BackgroundTask:
        """Start an `async` statement."""
        with self._lock:
            if self._driver is None:
                from nit_kernel.runtime.task_driver import TaskDriver  # noqa: PLC0415 - see `_watch`

                self._driver = TaskDriver(self._threads)
        return self._driver.spawn(run, index, target)

    def _end(self, run: Run) -> None:
        self._running.discard(run)
        if run.alarm is not None:
            self._threads.deadlines.remove(run.alarm)
        if run.telling is not None:
            self._threads.layer.release()

    def _finish(
        self, run: Run, prepared: Prepared, check: bool, on_interrupt: Literal["raise", "return"]
    ) -> Result:
        self._end(run)
        error = run.error
        result = Result(run.script, prepared.diagnostics, error, run, self)
        if run.telling is not None:
            run.telling.script_finished(result)
        if error is None:
            return result
        interrupt = error.__cause__ if isinstance(error, NitCancelledError) else None
        if interrupt is None or isinstance(interrupt, Exception) or on_interrupt == "return":
            return result.checked(check)
        raise interrupt.with_traceback(None)

    def _refused(self, prepared: Prepared) -> Result:
        return Result(prepared.script, prepared.diagnostics, prepared.error, None, self)


def check(source: str, session_or_tools: Session | Iterable[object]) -> tuple[Diagnostic, ...]:
    """Say everything about a script that can be said without running it.

    Args:
        source: The text.
        session_or_tools: What it would run in, or only the tools that it may call.
    """
    if isinstance(session_or_tools, Session):
        return session_or_tools.prepare(source).diagnostics
    with Session(tools=session_or_tools) as session:
        return session.prepare(source).diagnostics
