"""The connection between a turn and whoever reads its events, blocking or awaiting.

```
reader's thread or loop <── events, jobs ── turn on the loop `nit-chat`
```
A turn goes on while its reader does something else, also while the reader's thread runs a function
for it: words gather, and `on_event` sees them at once. Whoever stops reading (an interrupt,
`break`, an error) stops the turn; what was held back comes out first.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import queue
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator, Iterator
from concurrent.futures import CancelledError, Future
from typing import TYPE_CHECKING, Any, Protocol, Self, cast

from nit_kernel.errors import NitError

if TYPE_CHECKING:
    from nit_kernel.model.events import ChatEvent
    from nit_kernel.runtime.dispatcher import OnCaller
    from nit_kernel.runtime.loop import LoopThread

OnEvent = Callable[["ChatEvent"], object]
"""Sees each event at once, on the thread where it happens, before the reader does."""

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


class _Job:
    """A function that a turn wants called on the reader's thread."""

    def __init__(self, function: Callable[[], object]) -> None:
        self._function = function
        self._outcome: Future[tuple[object, BaseException | None]] = Future()

    def run(self) -> KeyboardInterrupt | None:
        """Call it; the interrupt that ended it, which goes to the turn and to the reader."""
        if not self._outcome.set_running_or_notify_cancel():
            return None
        try:
            value = self._function()
        except BaseException as error:  # noqa: BLE001 - handed to the turn
            self._outcome.set_result((None, error))
            return error if isinstance(error, KeyboardInterrupt) else None
        self._outcome.set_result((value, None))
        return None

    async def ended(self) -> object:
        """Return what it returned; once it has begun, its end is waited for in any case."""
        outcome = asyncio.wrap_future(self._outcome)
        try:
            value, error = await asyncio.shield(outcome)
        except asyncio.CancelledError:
            if self._outcome.cancel():
                raise
            await asyncio.wait([outcome])
            value, error = outcome.result()
            task = asyncio.current_task()
            if not isinstance(error, KeyboardInterrupt) or task is None:
                raise
            # The interrupt is told first; the turn is being stopped all the same.
            task.cancel()
        if error is not None:
            raise error
        return value


class _TurnLink:
    """What both links have in common: the turn, on the loop `nit-chat`.

    Args:
        core: The turn.
        thread: Gives its loop.
        on_event: See `OnEvent`.
        post: Brings an event, a job or the end (`None`) to the reader.
    """

    def __init__(
        self,
        core: Core,
        thread: Callable[[], LoopThread],
        on_event: OnEvent | None,
        post: Callable[[ChatEvent | _Job | None], object],
    ) -> None:
        self._core = core
        self._thread = thread
        self._on_event = on_event
        self._post = post
        self._turn: Future[None] | None = None
        self._given_up = False
        self.ended = threading.Event()

    def emit(self, event: ChatEvent) -> None:
        """Tell the reader something."""
        if self._on_event is not None:
            self._on_event(event)
        self._post(event)

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

    def _begin(self, link: Link) -> Future[None]:
        self._turn = self._thread().submit(lambda: self._core(link), ended=self._on_end)
        return self._turn

    def _leaves_early(self) -> bool:
        """The reader reads no more: stop the turn, if it has not ended."""
        self._given_up = True
        if self.ended.is_set():
            return False
        self.cancel()
        return True

    def _on_end(self) -> None:
        self.ended.set()
        self._post(None)

    async def _run_there(self, function: Callable[[], object]) -> object:
        """Run a function on the reader's thread."""
        if self._given_up:
            raise KeyboardInterrupt
        job = _Job(function)
        self._post(job)
        return await job.ended()


def _raise_end(turn: Future[None]) -> None:
    """Raise what ended a turn badly."""
    with contextlib.suppress(CancelledError):
        turn.result()


# Blocking


class BlockingLink(_TurnLink):
    """Joins a turn with a reader that blocks; arguments as for `Chat.send`, and the loop."""

    def __init__(
        self, core: Core, thread: Callable[[], LoopThread], on_event: OnEvent | None = None
    ) -> None:
        self._queue: queue.SimpleQueue[ChatEvent | _Job | None] = queue.SimpleQueue()
        super().__init__(core, thread, on_event, self._queue.put)

    # What the turn sees

    @property
    def on_caller(self) -> OnCaller:
        """Functions of the caller run on the thread that reads."""
        return self._run_there

    async def call(self, function: Callable[[], object]) -> object:
        """Call a function on the reader's thread; a coroutine that it makes is awaited here."""
        try:
            value = await self._run_there(function)
        except KeyboardInterrupt:
            # It goes on to the reader; here it would end the loop and not the turn.
            raise asyncio.CancelledError from None
        return await cast("Awaitable[object]", value) if inspect.isawaitable(value) else value

    # What the reader does

    def read(self) -> Generator[ChatEvent]:
        """Begin the turn and yield its events; what ends it badly is raised at the end."""
        turn = self._begin(self)
        interrupt: KeyboardInterrupt | None = None
        try:
            while (item := self._queue.get()) is not None:
                if not isinstance(item, _Job):
                    yield item
                elif (interrupt := item.run()) is not None:
                    break
        except KeyboardInterrupt as error:
            interrupt = error
        finally:
            if self._leaves_early():
                self.ended.wait(_CLEAN_UP_SECONDS)
        if interrupt is not None:
            # Whatever was held back comes out before the interrupt goes on.
            yield from self._left()
            raise interrupt
        _raise_end(turn)

    def _left(self) -> Iterator[ChatEvent]:
        while not self._queue.empty():
            item = self._queue.get()
            if item is not None and not isinstance(item, _Job):
                yield item


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


class AwaitedLink(_TurnLink):
    """Joins a turn with a reader that awaits; arguments as for `Chat.asend`, and the loop."""

    def __init__(
        self,
        core: Core,
        thread: Callable[[], LoopThread],
        on_caller: OnCaller | None = None,
        on_event: OnEvent | None = None,
    ) -> None:
        super().__init__(core, thread, on_event, self._bring)
        self._on_caller = on_caller
        self._loop: asyncio.AbstractEventLoop | None = None
        self._queue: asyncio.Queue[ChatEvent | None] = asyncio.Queue()
        self._over = asyncio.Event()
        self._interrupt: KeyboardInterrupt | None = None

    # What the turn sees

    @property
    def on_caller(self) -> OnCaller | None:
        """How the reader wants its functions run."""
        return None if self._on_caller is None else self._call_there

    async def call(self, function: Callable[[], object]) -> object:
        """Call a function on the reader's loop, and await there what it makes."""
        try:
            value = await self._run_there(function)
        except KeyboardInterrupt:
            raise asyncio.CancelledError from None
        return await self._await_there(value)

    async def _call_there(self, function: Callable[[], object]) -> object:
        on_caller = self._on_caller
        if on_caller is None:
            return function()
        return await self._await_there(await self._run_there(lambda: on_caller(function)))

    async def _await_there(self, value: object) -> object:
        if not inspect.isawaitable(value) or self._loop is None:
            return value

        async def wait() -> object:
            return await cast("Awaitable[object]", value)

        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(wait(), self._loop))

    def _bring(self, item: ChatEvent | _Job | None) -> None:
        # Always by the loop, so that events of several threads keep their order.
        loop = self._loop
        if loop is not None:
            with contextlib.suppress(RuntimeError):  # it was closed: nobody reads any more
                loop.call_soon_threadsafe(self._arrive, item)

    def _arrive(self, item: ChatEvent | _Job | None) -> None:
        if isinstance(item, _Job):
            # It must not leave as an interrupt: asyncio would take down the reader's loop.
            self._interrupt = item.run() or self._interrupt
            return
        self._queue.put_nowait(item)
        if item is None:
            self._over.set()

    # What the reader does

    async def read(self) -> AsyncGenerator[ChatEvent]:
        """Begin the turn and yield its events; what ends it badly is raised at the end."""
        self._loop = asyncio.get_running_loop()
        turn = self._begin(self)
        interrupt: BaseException | None = None
        try:
            while (item := await self._queue.get()) is not None:
                yield item
        except asyncio.CancelledError as error:
            interrupt = error
        finally:
            if self._leaves_early():
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._over.wait(), _CLEAN_UP_SECONDS)
        if interrupt is not None:
            # Whatever was held back comes out before the cancellation goes on.
            while not self._queue.empty():
                item = self._queue.get_nowait()
                if item is not None:
                    yield item
            raise interrupt
        if self._interrupt is not None:
            raise self._interrupt
        _raise_end(turn)


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
