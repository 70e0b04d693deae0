"""How a turn's events reach their reader, and how the reader's end stops the turn."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time

import pytest

from nit_kernel.model.events import Notice
from nit_kernel.model.links import (
    AwaitedEvents,
    AwaitedLink,
    BlockingEvents,
    BlockingLink,
)
from nit_kernel.runtime.loop import LoopThread


@pytest.fixture
def loop():
    thread = LoopThread("nit-chat")
    yield thread
    thread.stop()


def note(text: str) -> Notice:
    return Notice(text=text)


def blocking(core, loop: LoopThread) -> tuple[BlockingEvents, BlockingLink]:
    link = BlockingLink(core, lambda: loop)
    return BlockingEvents(link), link


def texts(events) -> list[str]:
    return [event.text for event in events]


class Held:
    """A turn that says one word, waits for ever, and says what it does when it is stopped."""

    def __init__(self) -> None:
        self.stopped = threading.Event()

    async def __call__(self, link) -> None:
        link.emit(note("begun"))
        try:
            await asyncio.Event().wait()
        finally:
            link.emit(note("released"))
            self.stopped.set()


def test_events_come_in_order_and_the_error_after_them(loop) -> None:
    async def core(link) -> None:
        link.emit(note("one"))
        link.emit(note("two"))
        raise ValueError("broken")

    events, _ = blocking(core, loop)
    seen: list[str] = []
    with pytest.raises(ValueError, match="broken"):
        for event in events:
            seen.append(event.text)
    assert seen == ["one", "two"]


def test_a_turn_begins_when_its_first_event_is_asked_for(loop) -> None:
    begun = threading.Event()

    async def core(link) -> None:
        begun.set()

    events, _ = blocking(core, loop)
    assert not begun.is_set()
    assert list(events) == []
    assert begun.is_set()


def test_functions_of_the_caller_run_on_the_thread_that_reads(loop) -> None:
    async def core(link) -> None:
        name = await link.on_caller(lambda: threading.current_thread().name)
        link.emit(note(f"{name} {threading.current_thread().name}"))
        link.emit(note(await link.call(lambda: threading.current_thread().name)))

        async def later() -> str:
            return threading.current_thread().name

        link.emit(note(await link.call(later)))

    events, _ = blocking(core, loop)
    here = threading.current_thread().name
    assert texts(events) == [f"{here} nit-chat", here, "nit-chat"]


def test_an_error_of_such_a_function_goes_to_the_turn(loop) -> None:
    def fail() -> None:
        raise LookupError("no")

    async def core(link) -> None:
        for call in (link.on_caller, link.call):
            try:
                await call(fail)
            except LookupError as error:
                link.emit(note(str(error)))

    events, _ = blocking(core, loop)
    assert texts(events) == ["no", "no"]


@pytest.mark.parametrize("how", ["break", "close", "drop"])
def test_to_stop_reading_is_to_stop_the_turn(loop, how: str) -> None:
    core = Held()
    events, link = blocking(core, loop)
    for event in events:
        assert event.text == "begun"
        break
    if how == "close":
        events.close()
    elif how == "drop":
        del event
    del events
    assert core.stopped.wait(10)
    assert link.is_abandoned


def test_a_cancel_from_elsewhere_lets_the_reader_have_what_is_left(loop) -> None:
    core = Held()
    events, link = blocking(core, loop)
    seen: list[str] = []
    for event in events:
        seen.append(event.text)
        if event.text == "begun":
            threading.Thread(target=link.cancel).start()
    assert seen == ["begun", "released"]


def test_an_interrupt_stops_the_turn_and_goes_on_after_what_was_left(loop) -> None:
    core = Held()
    events, _ = blocking(core, loop)
    seen: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        for event in events:
            seen.append(event.text)
            if event.text == "begun":
                threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
    assert seen == ["begun", "released"]


def test_an_interrupt_of_a_function_of_the_caller_stops_the_turn(loop) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    async def core(link) -> None:
        try:
            await link.on_caller(interrupted)
        except KeyboardInterrupt:
            link.emit(note("the turn saw it"))
        await asyncio.Event().wait()

    events, link = blocking(core, loop)
    seen: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        for event in events:
            seen.append(event.text)
    assert seen == ["the turn saw it"]
    assert link.ended.wait(10)


def test_a_reader_that_left_does_not_hold_a_turn_that_waits_for_its_function(loop) -> None:
    ended = threading.Event()

    async def core(link) -> None:
        link.emit(note("begun"))
        await asyncio.sleep(0)
        try:
            await link.on_caller(lambda: None)
        finally:
            ended.set()

    events, _ = blocking(core, loop)
    next(events)
    events.close()
    assert ended.wait(10)


def awaiting(core, loop, **options) -> tuple[AwaitedEvents, AwaitedLink]:
    link = AwaitedLink(core, lambda: loop, **options)
    return AwaitedEvents(link), link


def test_awaited_events_come_in_order_from_any_thread(loop) -> None:
    async def core(link) -> None:
        link.emit(note("one"))
        await asyncio.to_thread(link.emit, note("two"))
        link.emit(note("three"))
        link.emit(note(await link.call(lambda: "four")))

    async def run() -> list[str]:
        events, _ = awaiting(core, loop)
        return [event.text async for event in events]

    assert asyncio.run(run()) == ["one", "two", "three", "four"]


def test_a_turn_goes_on_while_its_awaiting_reader_does_something_else(loop) -> None:
    both = threading.Barrier(2)

    async def core(link) -> None:
        link.emit(note("begun"))
        await asyncio.to_thread(both.wait, 10)

    async def run() -> None:
        events, _ = awaiting(core, loop)
        async for _event in events:
            await asyncio.to_thread(both.wait, 10)

    asyncio.run(run())


def test_a_cancelled_reader_gets_what_is_left_and_then_its_cancellation(loop) -> None:
    core = Held()
    seen: list[str] = []

    async def read() -> None:
        events, _ = awaiting(core, loop)
        async for event in events:
            seen.append(event.text)

    async def run() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(read(), 0.05)

    asyncio.run(run())
    assert seen == ["begun", "released"]


@pytest.mark.parametrize("how", ["aclose", "drop"])
def test_to_stop_awaiting_is_to_stop_the_turn(loop, how: str) -> None:
    core = Held()

    async def run() -> bool:
        events, link = awaiting(core, loop)
        async for _event in events:
            break
        if how == "aclose":
            await events.aclose()
        del events
        for _ in range(1000):
            if link.ended.is_set():
                break
            await asyncio.sleep(0.005)
        return link.is_abandoned and core.stopped.is_set()

    assert asyncio.run(run())


def test_an_interrupt_of_a_function_on_the_awaiting_thread_goes_to_its_reader(loop) -> None:
    def on_caller(function):
        raise KeyboardInterrupt

    async def core(link) -> None:
        try:
            await link.on_caller(print)
        except KeyboardInterrupt:
            raise asyncio.CancelledError from None

    async def run() -> None:
        events, _ = awaiting(core, loop, on_caller=on_caller)
        try:
            async for _event in events:
                pass
        except KeyboardInterrupt:
            raise LookupError("it came here") from None

    with pytest.raises(LookupError, match="it came here"):
        asyncio.run(run())


def test_functions_run_where_the_awaiting_reader_wants_them_while_its_events_are_seen(loop) -> None:
    seen: list[str] = []
    going_on = threading.Event()

    def see(event) -> None:
        seen.append(event.text)
        if event.text == "meanwhile":
            going_on.set()

    def hold() -> str:
        assert going_on.wait(10)
        return threading.current_thread().name

    async def core(link) -> None:
        held = asyncio.ensure_future(link.on_caller(hold))
        await asyncio.sleep(0.05)
        link.emit(note("meanwhile"))
        link.emit(note(await held))

        async def later() -> str:
            return threading.current_thread().name

        link.emit(note(await link.call(later)))

    async def run() -> list[str]:
        events, _ = awaiting(core, loop, on_caller=lambda function: function(), on_event=see)
        return [event.text async for event in events]

    here = threading.current_thread().name
    assert asyncio.run(run()) == ["meanwhile", here, here]
    assert seen == ["meanwhile", here, here]


@pytest.mark.parametrize("is_begun", [True, False])
def test_a_function_that_has_begun_ends_before_a_cancelled_turn_does(loop, is_begun) -> None:
    begun, ended, at_end = threading.Event(), threading.Event(), []

    def work() -> None:
        begun.set()
        link.cancel()
        time.sleep(0.1)
        ended.set()

    async def core(link) -> None:
        if not is_begun:
            link.cancel()
        try:
            await link.on_caller(work)
        finally:
            at_end.append(ended.is_set())

    events, link = blocking(core, loop)
    assert list(events) == []
    assert at_end == [begun.is_set()]


def test_an_error_in_who_sees_the_events_ends_the_turn(loop) -> None:
    def see(event) -> None:
        raise LookupError(event.text)

    async def core(link) -> None:
        link.emit(note("one"))

    link = BlockingLink(core, lambda: loop, see)
    with pytest.raises(LookupError, match="one"):
        list(BlockingEvents(link))
