"""Drives background tasks: each carries out one `async` statement, nested calls included.

| the statement calls | its code runs in |
|---|---|
| plain functions only | one worker thread: the session's own, or one of a `ThreadPoolExecutor` |
| a coroutine function | `nit-loop`, its plain functions in worker threads |
| plain functions, and the session has another executor | that executor, driven from `nit-loop` |

Another executor (Dask's, a process pool) gets the bare function and its arguments, which it can
send elsewhere; a function that wants a context, or yields, cannot be sent and runs in a thread.
"""

from __future__ import annotations

import functools
import logging
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import TYPE_CHECKING, cast

from nit_kernel._syntax import CALL
from nit_kernel.errors import NitError, NitToolError
from nit_kernel.runtime.background import Scheduler
from nit_kernel.runtime.calling import call_async, call_plain, is_coroutine
from nit_kernel.runtime.interpreter import call_error, interpret
from nit_kernel.runtime.output import SINK
from nit_kernel.runtime.run import CallFailed, CallTimedOut
from nit_kernel.runtime.task import BackgroundTask
from nit_kernel.runtime.threads import in_scope

if TYPE_CHECKING:
    from collections.abc import Awaitable
    from concurrent.futures import Executor

    from nit_kernel.runtime.interpreter import Request
    from nit_kernel.runtime.run import Run
    from nit_kernel.runtime.threads import Threads
    from nit_kernel.runtime.tool import Tool

logger = logging.getLogger("nit_kernel")


class TaskDriver:
    """Makes background tasks of `async` statements and carries them out."""

    def __init__(self, threads: Threads) -> None:
        self._threads = threads
        self.scheduler = Scheduler(
            threads.limits.running_tasks, start=self._start, stop=_stop, layer=threads.layer
        )

    def spawn(self, run: Run, index: int, target: str | None) -> BackgroundTask:
        """Make a task of a statement, with what its variables hold now, and get it started.

        Raises:
            NitRuntimeError: A variable is not there any more.
        """
        first, end, _, _, start, stop = run.script.statement(index)
        captured: dict[str, object] = {}
        tools: list[Tool] = []
        for number in range(first, end):
            kind, shape, _, reads, at, until = run.script.step(number)
            if kind == CALL:
                tools.append(run.prepared.plans[shape].tool)
            for name in reads:
                if isinstance(name, str) and name not in captured:
                    captured[name] = run.read(name, at, until)
        ended: Future[None] = Future()
        ended.set_running_or_notify_cancel()
        task = BackgroundTask(
            self.scheduler,
            run,
            name=target or tools[-1].spec.nit_name,
            tools=tuple(tools),
            index=index,
            span=run.script.span(start, stop),
            captured=captured,
            context=copy_context(),
            scope=self._threads.scope(),
            ended=ended,
        )
        task.context.run(SINK.set, task.channel)
        run.tasks.append(task)
        run.records.append(task)
        self.scheduler.spawn(task)
        return task

    def _start(self, task: BackgroundTask) -> None:
        threads = self._threads
        executor = threads.executor
        is_threaded = executor is None or isinstance(executor, ThreadPoolExecutor)
        if is_threaded and not any(tool.is_async for tool in task.tools):
            work = functools.partial(self._carry_out, task)
            task.job = self._workers.submit(task.context.run, in_scope, task.scope, work)
        else:
            work_on_loop = functools.partial(self._carry_out_on_loop, task)
            task.job = threads.loop.submit(work_on_loop, context=task.context)
        if task.done:
            # It was cancelled before its job had a name.
            _stop(task)

    @property
    def _workers(self) -> Executor:
        """Threads of this process: those of the session's executor, if it has any."""
        executor = self._threads.executor
        return executor if isinstance(executor, ThreadPoolExecutor) else self._threads.pool

    # In a worker thread

    def _carry_out(self, task: BackgroundTask) -> None:
        if task.done:
            return
        self.scheduler.code_started(task)
        value, error = None, None
        try:
            value = self._drive(task)
        except NitError as raised:
            error = raised
        except BaseException as raised:  # noqa: BLE001 - a task that never ends would hang its users
            error = _broken(task, raised)
        finally:
            task.captured = {}
            self.scheduler.code_ended(task)
        self._end(task, value, error)

    def _drive(self, task: BackgroundTask) -> object:
        steps = interpret(task.run, task.index, task.index + 1, task)
        try:
            request = steps.send(None)
            while True:
                value, failure = None, None
                try:
                    value = self._call(task, request)
                except BaseException as error:  # noqa: BLE001 - whatever a tool raises is its failure
                    failure = CallFailed(error)
                if task.done:
                    # It was cancelled, or its time is up: what the call came to is thrown away.
                    break
                request = steps.send(value) if failure is None else steps.throw(failure)
        except StopIteration as end:
            return end.value
        steps.close()
        return None

    def _call(self, task: BackgroundTask, request: Request) -> object:
        tool, arguments, _ = _call_of(request)
        alarm = self._begin(task, request)
        try:
            value = call_plain(tool, arguments, task.channel)
            if is_coroutine(value):
                value = self._threads.await_for(value).result()
        finally:
            self._threads.deadlines.remove(alarm)
        return value

    # On the loop

    async def _carry_out_on_loop(self, task: BackgroundTask) -> None:
        if task.done:
            return
        self.scheduler.code_started(task)
        value, error = None, None
        try:
            value = await self._drive_on_loop(task)
        except NitError as raised:
            error = raised
        except Exception as raised:  # noqa: BLE001 - a task that never ends would hang its users
            error = _broken(task, raised)
        finally:
            task.captured = {}
            self.scheduler.code_ended(task)
        self._end(task, value, error)

    async def _drive_on_loop(self, task: BackgroundTask) -> object:
        from asyncio import CancelledError  # noqa: PLC0415 - this runs on a loop

        steps = interpret(task.run, task.index, task.index + 1, task)
        try:
            request = steps.send(None)
            while True:
                value, failure = None, None
                try:
                    value = await self._call_on_loop(task, request)
                except BaseException as error:
                    if task.done and isinstance(error, CancelledError):
                        steps.close()
                        raise
                    failure = CallFailed(error)
                if task.done:
                    break
                request = steps.send(value) if failure is None else steps.throw(failure)
        except StopIteration as end:
            return end.value
        steps.close()
        return None

    async def _call_on_loop(self, task: BackgroundTask, request: Request) -> object:
        tool, arguments, _ = _call_of(request)
        alarm = self._begin(task, request)
        try:
            if tool.is_async:
                return await call_async(tool, arguments, task.channel)
            value = await self._call_elsewhere(task, tool, arguments)
            return await value if is_coroutine(value) else value
        finally:
            self._threads.deadlines.remove(alarm)

    def _call_elsewhere(
        self, task: BackgroundTask, tool: Tool, arguments: dict[str, object]
    ) -> Awaitable[object]:
        """Call a plain function in the executor, or in a thread where it cannot be sent away."""
        from asyncio import wrap_future  # noqa: PLC0415 - this runs on a loop

        executor = self._threads.executor
        is_sendable = tool.context is None and not tool.is_generator
        future: Future[object]
        if executor is not None and not isinstance(executor, ThreadPoolExecutor) and is_sendable:
            future = executor.submit(functools.partial(tool.call, **arguments))
        else:
            work = functools.partial(self._call_in_thread, task, tool, arguments)
            future = self._workers.submit(copy_context().run, in_scope, task.scope, work)
        return wrap_future(future)

    def _call_in_thread(
        self, task: BackgroundTask, tool: Tool, arguments: dict[str, object]
    ) -> object:
        self.scheduler.code_started(task)
        try:
            return call_plain(tool, arguments, task.channel)
        finally:
            self.scheduler.code_ended(task)

    # Both

    def _begin(self, task: BackgroundTask, request: Request) -> int | None:
        """Note the call that begins, and set the clock for it."""
        tool, arguments, step = _call_of(request)
        task.current = (tool, arguments, step, time.perf_counter())
        seconds = self._threads.seconds_for(tool)
        if seconds is None:
            return None
        return self._threads.deadlines.add(seconds, lambda: self._expire(task, tool, step, seconds))

    def _expire(self, task: BackgroundTask, tool: Tool, step: int, seconds: float) -> None:
        row = task.run.script.step(step)
        error = call_error(task.run, tool, CallTimedOut(seconds), row[4], row[5])
        self.scheduler.expire(task, error)

    def _end(self, task: BackgroundTask, value: object, error: NitError | None) -> None:
        if error is None:
            self.scheduler.finish(task, value)
        else:
            self.scheduler.fail(task, error)


def _stop(task: BackgroundTask) -> None:
    if task.job is not None:
        task.job.cancel()


def _call_of(request: Request) -> tuple[Tool, dict[str, object], int]:
    # The inputs of a task have ended before it starts, so it never asks to wait for another one.
    return cast("tuple[Tool, dict[str, object], int]", request)


def _broken(task: BackgroundTask, error: BaseException) -> NitError:
    """A fault of ours: it must be seen, and must not leave others waiting."""
    logger.error("the background task `%s` broke", task.name, exc_info=error)
    message = f"the task `{task.name}` broke: {type(error).__name__}: {error}"
    return task.run.error_at_statement(NitToolError, "NIT505", message, task.index)
