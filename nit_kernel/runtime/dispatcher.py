"""Drives a script: makes the calls that the interpreter asks for, and waits.

| tool | by a statement of `run` | of `arun` | by an `async` statement |
|---|---|---|---|
| plain function, `thread="caller"` | the caller's thread | `on_caller`, else a worker | a worker |
| plain function, `thread="worker"` | a worker | a worker | a worker |
| coroutine function | `nit-loop` | `nit-loop` | `nit-loop` |

A worker is a daemon thread with the context of who started it. For `async` statements see
`task_driver.py`.
"""

from __future__ import annotations

import functools
import threading
import time
from inspect import isawaitable
from types import CoroutineType
from typing import TYPE_CHECKING, TypeAlias, TypeVar, cast

from nit_kernel.runtime.calling import call_plain, is_coroutine
from nit_kernel.runtime.context import Channel
from nit_kernel.runtime.interpreter import interpret
from nit_kernel.runtime.output import SINK
from nit_kernel.runtime.run import CallEnded, CallFailed, CallStopped, CallTimedOut
from nit_kernel.runtime.task import SLICE_S

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from concurrent.futures import Future

    from nit_kernel.runtime.run import Run
    from nit_kernel.runtime.task import BackgroundTask
    from nit_kernel.runtime.threads import Threads
    from nit_kernel.runtime.tool import Tool

T = TypeVar("T")

OnCaller: TypeAlias = "Callable[[Callable[[], object]], object]"
"""Runs a function on a thread of the caller's choice; what it returns, or an awaitable of it."""

_End: TypeAlias = "tuple[object, Exception | None]"
"""How a call ended: its value, or what it raised."""

_BREATH_S = 0.02
"""How long an awaited script may keep its loop from other work between two calls, in seconds."""


def drive(run: Run, threads: Threads) -> object:
    """Carry a script out on this thread, and return its value.

    Raises:
        NitError: A statement failed, or the script was cancelled or interrupted.
    """
    steps = interpret(run, 0, run.script.statement_count)
    send, throw = steps.send, steps.throw
    is_watched = run.telling is not None
    try:
        request = send(None)
        while True:
            try:
                if type(request) is not tuple:
                    _wait_for_task(run, threads, cast("BackgroundTask", request))
                    value = None
                else:
                    tool, arguments, _ = request
                    if tool.is_inline and not is_watched:
                        value = tool.call(**arguments)
                        kind = type(value)
                        if kind is CoroutineType:
                            value = _follow(run, threads, value)
                    else:
                        value = _call(run, threads, tool, arguments)
            except CallEnded as ended:
                request = throw(ended)
            except KeyboardInterrupt as interrupt:
                request = throw(CallStopped(interrupt))
            except BaseException as error:  # noqa: BLE001 - whatever a tool raises is its failure
                request = throw(CallFailed(error))
            else:
                request = send(value)
    except StopIteration as end:
        return end.value


async def drive_awaiting(run: Run, threads: Threads, on_caller: OnCaller | None) -> object:
    """Carry a script out while this loop goes on, and return its value.

    Raises:
        NitError: A statement failed, or the script was cancelled or interrupted.
    """
    from asyncio import CancelledError, sleep  # noqa: PLC0415 - loaded wherever one can await

    steps = interpret(run, 0, run.script.statement_count)
    breath = time.perf_counter()
    try:
        request = steps.send(None)
        while True:
            try:
                if type(request) is not tuple:
                    task = cast("BackgroundTask", request)
                    await _wait_awaiting(run, task.ended, None)
                    if not task.ended.done():
                        raise CallStopped(run.stopped.cause if run.stopped else None)
                    value = None
                else:
                    if time.perf_counter() - breath > _BREATH_S:
                        await sleep(0)
                        breath = time.perf_counter()
                    tool, arguments, _ = request
                    value = await _call_awaiting(run, threads, tool, arguments, on_caller)
            except CallEnded as ended:
                request = steps.throw(ended)
            except (KeyboardInterrupt, CancelledError) as interrupt:
                request = steps.throw(CallStopped(interrupt))
            except BaseException as error:  # noqa: BLE001 - whatever a tool raises is its failure
                request = steps.throw(CallFailed(error))
            else:
                request = steps.send(value)
    except StopIteration as end:
        return end.value


def forget_cancellation(error: BaseException | None) -> None:
    """Tell the awaiting task that its cancellation was taken for what `error` says."""
    from asyncio import CancelledError, current_task  # noqa: PLC0415

    task = current_task()
    if task is not None and error is not None and isinstance(error.__cause__, CancelledError):
        task.uncancel()


# On this thread


def _call(run: Run, threads: Threads, tool: Tool, arguments: dict[str, object]) -> object:
    """Make a call that has a channel, or runs elsewhere."""
    channel = _open(run)
    if tool.is_async or tool.thread == "worker":
        if tool.is_async and threads.is_on_loop():
            raise _would_wait_for_itself(tool.spec.nit_name)
        future = threads.start(tool, arguments, channel)
        value = _wait(run, threads, future, threads.seconds_for(tool), channel)
    else:
        value = _call_here(tool, arguments, channel)
    return _follow(run, threads, value) if is_coroutine(value) else value


def _call_here(tool: Tool, arguments: dict[str, object], channel: Channel) -> object:
    token = SINK.set(channel)
    try:
        return call_plain(tool, arguments, channel)
    finally:
        SINK.reset(token)


def _follow(run: Run, threads: Threads, coroutine: object) -> object:
    """Wait for a coroutine that a plain function returned."""
    if threads.is_on_loop():
        cast("Coroutine[object, object, object]", coroutine).close()
        raise _would_wait_for_itself("it")
    future = threads.await_for(cast("Coroutine[object, object, object]", coroutine))
    return _wait(run, threads, future, threads.limits.tool_seconds, None)


def _wait_for_task(run: Run, threads: Threads, task: BackgroundTask) -> None:
    if threads.is_on_loop():
        raise _would_wait_for_itself(f"the task `{task.name}`")
    _sleep_until(task.ended, run, None)
    if not task.ended.done():
        raise CallStopped(run.stopped.cause if run.stopped else None)


def _wait(
    run: Run,
    threads: Threads,
    future: Future[object],
    seconds: float | None,
    channel: Channel | None,
) -> object:
    """Wait for a call that runs elsewhere."""
    try:
        _sleep_until(future, run, seconds)
    except KeyboardInterrupt as interrupt:
        raise CallStopped(interrupt, lingers=threads.give_up(future, channel)) from None
    return _outcome(run, threads, future, seconds, channel)


def _sleep_until(future: Future[T], run: Run, seconds: float | None) -> None:
    """Sleep until the future ended, the run was stopped or the time is up."""
    ended = threading.Event()
    future.add_done_callback(lambda _: ended.set())
    deadline = None if seconds is None else time.monotonic() + seconds
    while run.stopped is None:
        left = SLICE_S if deadline is None else min(SLICE_S, deadline - time.monotonic())
        if left <= 0 or ended.wait(left):
            return


def _outcome(
    run: Run,
    threads: Threads,
    future: Future[object],
    seconds: float | None,
    channel: Channel | None,
) -> object:
    """The value of a call that was waited for.

    Raises:
        CallEnded: It has none.
    """
    if run.stopped is not None:
        lingers = threads.give_up(future, channel)
        raise CallStopped(run.stopped.cause, lingers=lingers)
    if not future.done():
        threads.give_up(future, channel)
        raise CallTimedOut(seconds or 0)
    error = future.exception()
    if error is not None:
        raise CallFailed(error)
    return future.result()


# On a loop of the caller


def _ended_here(tool: Tool, arguments: dict[str, object], channel: Channel) -> _End:
    """Make a call on this thread; only what stops it is raised."""
    try:
        return _call_here(tool, arguments, channel), None
    except Exception as error:  # noqa: BLE001 - whatever a tool raises is its failure
        return None, error


async def _call_awaiting(
    run: Run,
    threads: Threads,
    tool: Tool,
    arguments: dict[str, object],
    on_caller: OnCaller | None,
) -> object:
    channel = _open(run)
    if on_caller is not None and tool.thread == "caller" and not tool.is_async:
        ended = on_caller(functools.partial(_ended_here, tool, arguments, channel))
        value, error = cast("_End", await ended if isawaitable(ended) else ended)
        if error is not None:
            raise CallFailed(error)
    else:
        future = threads.start(tool, arguments, channel)
        value = await _wait_call(run, threads, future, threads.seconds_for(tool), channel)
    if not is_coroutine(value):
        return value
    future = threads.await_for(value)
    return await _wait_call(run, threads, future, threads.limits.tool_seconds, None)


async def _wait_call(
    run: Run,
    threads: Threads,
    future: Future[object],
    seconds: float | None,
    channel: Channel | None,
) -> object:
    from asyncio import CancelledError  # noqa: PLC0415

    try:
        await _wait_awaiting(run, future, seconds)
    except (CancelledError, KeyboardInterrupt) as interrupt:
        raise CallStopped(interrupt, lingers=threads.give_up(future, channel)) from None
    return _outcome(run, threads, future, seconds, channel)


async def _wait_awaiting(run: Run, future: Future[T], seconds: float | None) -> None:
    """Wait until the future ended, the run was stopped or the time is up; nothing is cancelled."""
    from asyncio import get_running_loop  # noqa: PLC0415

    if future.done():
        return
    loop = get_running_loop()
    wake = loop.create_future()

    def ring() -> None:
        if not wake.done():
            wake.set_result(None)

    def ring_from_anywhere(_: object = None) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(ring)

    future.add_done_callback(ring_from_anywhere)
    run.on_stop(ring_from_anywhere)
    alarm = None if seconds is None else loop.call_later(seconds, ring)
    try:
        await wake
    finally:
        run.on_stop(None)
        if alarm is not None:
            alarm.cancel()


def _open(run: Run) -> Channel:
    """The channel of the call that is about to be made."""
    channel = run.channel
    if channel is None:
        channel = Channel(run)
    run.channels[len(run.records)] = channel
    return channel


def _would_wait_for_itself(what: str) -> CallFailed:
    error = RuntimeError(
        f"{what} needs the session's own loop, which waits for this script: "
        "use `await session.arun`"
    )
    return CallFailed(error)
