"""The connection between a turn and whoever reads its events, blocking or awaiting.

```
send:   reader's thread <── events, jobs ── turn on the loop `nit-chat`
asend:  reader's loop: the turn is a task there, its events wait in a queue
both:   requests to the model live on `nit-chat`, so that connections outlast a loop of the caller
```
A turn goes on while its reader does something else: scripts run and words gather. Whoever stops
reading (an interrupt, `break`, an error) stops the turn; what was held back comes out first.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import queue
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator, Iterator
from concurrent.futures import CancelledError, Future
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar, cast

from nit_kernel.errors import NitError

if TYPE_CHECKING:
    from nit_kernel.model.events import ChatEvent
    from nit_kernel.runtime.loop import LoopThread

T = TypeVar("T")

OnCaller = Callable[[Callable[[], object]], object]
"""Runs a function where the reader is, and returns what it returns."""

Core = Callable[["Link"], Coroutine[Any, Any, None]]
"""The turn itself: runs to its end, and tells the link what happens."""

_CLEAN_UP_SECONDS = 5.0


class Link(Protocol):
    """What a turn knows of its reader."""

    @property
    def on_caller(self) -> OnCaller | None:
        """Where plain functions of the caller run; `None`: in worker threads."""
        ...

    def emit(self, event: ChatEvent) -> None:
        """Tell the reader something, from any thread, in order."""
        ...

    async def call(self, function: Callable[[], object]) -> object:
        """Call a function where the reader is, such as one that asks a person, and wait for it."""
        ...


def busy() -> NitError:
    """The error for a message while another is still being answered."""
    return NitError(
        "this conversation is still answering another message",
        code="NIT672",
        hint="read its events to the end, close them, or call `chat.cancel()`",
    )


# Blocking


class _Job:
    """A function that a turn wants called on the reader's thread."""

    def __init__(self, function: Callable[[], object]) -> None:
        self._function = function
        self.outcome: Future[object] = Future()

    def run(self) -> None:
        """Call it; an interrupt goes both ways: to the turn, and on to the reader."""
        if not self.outcome.set_running_or_notify_cancel():
            return
        try:
            value = self._function()
        except BaseException as error:
            self.outcome.set_exception(error)
            if not isinstance(error, Exception):
                raise
        else:
            self.outcome.set_result(value)


class BlockingLink:
    """Joins a turn on a loop of its own with a reader that blocks."""

    def __init__(self, core: Core, thread: Callable[[], LoopThread]) -> None:
        self._core = core
        self._thread = thread
        self._queue: queue.SimpleQueue[ChatEvent | _Job | None] = queue.SimpleQueue()
        self._turn: Future[None] | None = None
        self._waiting: _Job | None = None
        self._given_up = False
        self.ended = threading.Event()

    # What the turn sees

    @property
    def on_caller(self) -> OnCaller:
        """Functions of the caller run on the thread that reads."""
        return self._call_and_wait

    def emit(self, event: ChatEvent) -> None:
        """Tell the reader something."""
        self._queue.put(event)

    async def call(self, function: Callable[[], object]) -> object:
        """Call a function on the reader's thread; a coroutine that it makes is awaited here."""
        job = _Job(function)
        self._queue.put(job)
        try:
            value = await asyncio.wrap_future(job.outcome)
        except KeyboardInterrupt:
            # It goes on to the reader; here it would end the loop and not the turn.
            raise asyncio.CancelledError from None
        finally:
            job.outcome.cancel()
        return await cast("Awaitable[object]", value) if inspect.isawaitable(value) else value

    def _call_and_wait(self, function: Callable[[], object]) -> object:
        self._waiting = job = _Job(function)
        if self._given_up:
            raise KeyboardInterrupt
        self._queue.put(job)
        try:
            return job.outcome.result()
        except CancelledError:
            raise KeyboardInterrupt from None
        finally:
            self._waiting = None

    # What the reader does

    @property
    def is_abandoned(self) -> bool:
        """Whether nobody will read on."""
        return self._given_up

    def cancel(self) -> None:
        """Stop the turn, from any thread; its reader gets what is left."""
        if self._turn is not None:
            self._turn.cancel()

    def abandon(self) -> None:
        """Stop the turn: its reader has gone."""
        self._given_up = True
        self.cancel()

    def read(self) -> Generator[ChatEvent]:
        """Begin the turn and yield its events; what ends it badly is raised at the end."""
        self._turn = self._thread().submit(lambda: self._core(self), ended=self._on_end)
        interrupt: KeyboardInterrupt | None = None
        try:
            while (item := self._queue.get()) is not None:
                if isinstance(item, _Job):
                    item.run()
                else:
                    yield item
        except KeyboardInterrupt as error:
            interrupt = error
        finally:
            self._stop()
        if interrupt is not None:
            # Whatever was held back comes out before the interrupt goes on.
            yield from self._left()
            raise interrupt
        if not self._turn.cancelled():
            error = self._turn.exception()
            if error is not None:
                raise error

    def _on_end(self) -> None:
        self.ended.set()
        self._queue.put(None)

    def _left(self) -> Iterator[ChatEvent]:
        while not self._queue.empty():
            item = self._queue.get()
            if item is not None and not isinstance(item, _Job):
                yield item

    def _stop(self) -> None:
        self._given_up = True
        if self.ended.is_set():
            return
        self.cancel()
        job = self._waiting
        if job is not None:
            # The turn's thread waits for a function that nobody will call any more.
            job.outcome.cancel()
        self.ended.wait(_CLEAN_UP_SECONDS)


class BlockingEvents:
    """The events of a turn, for a `for` loop. To stop reading is to stop the turn."""

    def __init__(self, link: BlockingLink) -> None:
        self._link = link
        self._events = link.read()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> ChatEvent:
        return next(self._events)

    def close(self) -> None:
        """Stop the turn, if it still goes on, and wait until it has cleaned up."""
        self._events.close()

    def __del__(self) -> None:
        self._link.abandon()


# Awaiting


class AwaitedLink:
    """Joins a turn, as a task of the reader's loop, with a reader that awaits."""

    def __init__(self, core: Core, on_caller: OnCaller | None) -> None:
        self._core = core
        self._on_caller = on_caller
        self._loop: asyncio.AbstractEventLoop | None = None
        self._queue: asyncio.Queue[ChatEvent | None] = asyncio.Queue()
        self._turn: asyncio.Task[None] | None = None
        self._interrupt: KeyboardInterrupt | None = None
        self._given_up = False
        self.ended = threading.Event()

    # What the turn sees

    @property
    def on_caller(self) -> OnCaller | None:
        """How the reader wants its functions run."""
        return None if self._on_caller is None else self._call_there

    def emit(self, event: ChatEvent) -> None:
        """Tell the reader something."""
        loop = self._loop
        if loop is not None and not loop.is_closed():
            # Always by the loop, so that events of several threads keep their order.
            loop.call_soon_threadsafe(self._queue.put_nowait, event)

    async def call(self, function: Callable[[], object]) -> object:
        """Call a function on the reader's loop, which is this one."""
        try:
            value = function()
        except KeyboardInterrupt as error:
            self._interrupt = error
            raise asyncio.CancelledError from None
        return await cast("Awaitable[object]", value) if inspect.isawaitable(value) else value

    def _call_there(self, function: Callable[[], object]) -> object:
        if self._on_caller is None:
            return function()
        try:
            return self._on_caller(function)
        except KeyboardInterrupt as error:
            # It must not leave the turn's task: asyncio would take down the reader's loop.
            self._interrupt = error
            raise

    # What the reader does

    @property
    def is_abandoned(self) -> bool:
        """Whether nobody will read on."""
        return self._given_up

    def cancel(self) -> None:
        """Stop the turn, from any thread; its reader gets what is left."""
        turn, loop = self._turn, self._loop
        if turn is not None and loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(turn.cancel)

    def abandon(self) -> None:
        """Stop the turn: its reader has gone."""
        self._given_up = True
        self.cancel()

    async def read(self) -> AsyncGenerator[ChatEvent]:
        """Begin the turn and yield its events; what ends it badly is raised at the end."""
        self._loop = asyncio.get_running_loop()
        # Its parent is this generator, which does not end before it.
        turn = self._turn = self._loop.create_task(self._core(self))
        turn.add_done_callback(self._on_end)
        interrupt: BaseException | None = None
        try:
            while (item := await self._queue.get()) is not None:
                yield item
        except asyncio.CancelledError as error:
            interrupt = error
        finally:
            self._given_up = True
            if not turn.done():
                turn.cancel()
                await asyncio.wait([turn], timeout=_CLEAN_UP_SECONDS)
                # What the turn said while it cleaned up is on its way through the loop.
                await asyncio.sleep(0)
        if interrupt is not None:
            # Whatever was held back comes out before the cancellation goes on.
            while not self._queue.empty():
                item = self._queue.get_nowait()
                if item is not None:
                    yield item
            raise interrupt
        if self._interrupt is not None:
            raise self._interrupt
        if not turn.cancelled():
            turn.result()

    def _on_end(self, turn: asyncio.Task[None]) -> None:
        self.ended.set()
        if not turn.cancelled():
            # Noted as seen: it is raised to the reader, or the reader has gone.
            turn.exception()
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon(self._queue.put_nowait, None)


class AwaitedEvents:
    """The events of a turn, for an `async for` loop. To stop reading is to stop the turn."""

    def __init__(self, link: AwaitedLink) -> None:
        self._link = link
        self._events = link.read()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> ChatEvent:
        return await anext(self._events)

    async def aclose(self) -> None:
        """Stop the turn, if it still goes on, and wait until it has cleaned up."""
        await self._events.aclose()

    def __del__(self) -> None:
        self._link.abandon()


# Requests


async def carried(thread: LoopThread, make: Callable[[], AsyncGenerator[T]]) -> AsyncGenerator[T]:
    """Run an asynchronous generator on another loop and yield what it yields here."""
    here = asyncio.get_running_loop()
    arrived: asyncio.Queue[T | None] = asyncio.Queue()
    over = asyncio.Event()

    def tell(call: Callable[..., object], *arguments: object) -> None:
        with contextlib.suppress(RuntimeError):  # this loop was closed meanwhile
            here.call_soon_threadsafe(call, *arguments)

    async def pump() -> None:
        async with contextlib.aclosing(make()) as items:
            async for item in items:
                tell(arrived.put_nowait, item)

    def ended() -> None:
        tell(arrived.put_nowait, None)
        tell(over.set)

    running = thread.submit(pump, ended=ended)
    try:
        while (item := await arrived.get()) is not None:
            yield item
        await asyncio.wrap_future(running)
    finally:
        if not over.is_set():
            running.cancel()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(over.wait(), _CLEAN_UP_SECONDS)


async def carried_call(thread: LoopThread, make: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Await a coroutine on another loop."""
    return await asyncio.wrap_future(thread.submit(make))
