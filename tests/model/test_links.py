"""How a turn's events reach their reader, and how the reader's end stops the turn."""

from __future__ import annotations

import asyncio
import os
import signal
import threading

import pytest

from nit_kernel.model.events import Notice
from nit_kernel.model.links import (
    AwaitedEvents,
    AwaitedLink,
    BlockingEvents,
    BlockingLink,
    carried,
    carried_call,
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
        name = link.on_caller(lambda: threading.current_thread().name)
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
                done = call(fail)
                if done is not None:
                    await done
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
            link.on_caller(interrupted)
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
            link.on_caller(lambda: None)
        except KeyboardInterrupt:
            ended.set()
            raise asyncio.CancelledError from None

    events, _ = blocking(core, loop)
    next(events)
    events.close()
    assert ended.wait(10)


def awaiting(core, on_caller=None) -> tuple[AwaitedEvents, AwaitedLink]:
    link = AwaitedLink(core, on_caller)
    return AwaitedEvents(link), link


def test_awaited_events_come_in_order_from_any_thread() -> None:
    async def core(link) -> None:
        link.emit(note("one"))
        await asyncio.to_thread(link.emit, note("two"))
        link.emit(note("three"))
        link.emit(note(await link.call(lambda: "four")))

    async def run() -> list[str]:
        events, _ = awaiting(core)
        return [event.text async for event in events]

    assert asyncio.run(run()) == ["one", "two", "three", "four"]


def test_a_turn_goes_on_while_its_awaiting_reader_does_something_else() -> None:
    both = threading.Barrier(2)

    async def core(link) -> None:
        link.emit(note("begun"))
        await asyncio.to_thread(both.wait, 10)

    async def run() -> None:
        events, _ = awaiting(core)
        async for _event in events:
            await asyncio.to_thread(both.wait, 10)

    asyncio.run(run())


def test_a_cancelled_reader_gets_what_is_left_and_then_its_cancellation() -> None:
    core = Held()
    seen: list[str] = []

    async def read() -> None:
        events, _ = awaiting(core)
        async for event in events:
            seen.append(event.text)

    async def run() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(read(), 0.05)

    asyncio.run(run())
    assert seen == ["begun", "released"]


@pytest.mark.parametrize("how", ["aclose", "drop"])
def test_to_stop_awaiting_is_to_stop_the_turn(how: str) -> None:
    core = Held()

    async def run() -> bool:
        events, link = awaiting(core)
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


def test_an_interrupt_of_a_function_on_the_awaiting_thread_goes_to_its_reader() -> None:
    def on_caller(function):
        raise KeyboardInterrupt

    async def core(link) -> None:
        try:
            link.on_caller(print)
        except KeyboardInterrupt:
            raise asyncio.CancelledError from None

    async def run() -> None:
        events, _ = awaiting(core, on_caller)
        try:
            async for _event in events:
                pass
        except KeyboardInterrupt:
            raise LookupError("it came here") from None

    with pytest.raises(LookupError, match="it came here"):
        asyncio.run(run())


def test_a_generator_of_another_loop_is_carried_here_and_stopped_from_here(loop) -> None:
    closed = threading.Event()

    async def numbers():
        try:
            for number in range(100):
                yield (number, threading.current_thread().name)
                if number == 2:
                    await asyncio.Event().wait()
        finally:
            closed.set()

    async def run() -> list[object]:
        items = carried(loop, numbers)
        seen = [await anext(items) for _ in range(3)]
        await items.aclose()
        return seen

    assert asyncio.run(run()) == [(number, "nit-chat") for number in range(3)]
    assert closed.wait(10)


def test_an_error_of_another_loop_is_raised_here(loop) -> None:
    async def broken():
        yield 1
        raise ValueError("there")

    async def run() -> None:
        with pytest.raises(ValueError, match="there"):
            async for _ in carried(loop, broken):
                pass

        async def fail() -> None:
            raise LookupError("here")

        with pytest.raises(LookupError, match="here"):
            await carried_call(loop, fail)

    asyncio.run(run())
