"""A turn that is stopped, in each of its phases: nothing is lost, and the next message works."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time

import pytest
from chatting import Desk, assert_valid, events_of, roles, shown, statuses, talking

import nit_kernel as nit
from nit_kernel.errors import NitError
from nit_kernel.model.events import (
    BlockFinished,
    BlockOpened,
    BlockProgress,
    BlockStarted,
    ChatEvent,
    RoundFinished,
    RoundStarted,
    TextDelta,
    TurnFinished,
)
from nit_kernel.runtime.observer import CallStarted
from nit_kernel.testing import Call, FakeModel, Reply, Script, Wait

NEVER = threading.Event()


class Slow:
    """Tools that never end by themselves, of every kind."""

    def __init__(self) -> None:
        self.cancelled = threading.Event()

    @property
    def tools(self) -> list[object]:
        cancelled = self.cancelled

        @nit.tool(side_effects="none")
        async def wait_async() -> str:
            """Wait for ever, awaiting."""
            try:
                await asyncio.Event().wait()
            finally:
                cancelled.set()
            return "never"

        @nit.tool(side_effects="none")
        def wait_here() -> str:
            """Wait long, on the caller's thread."""
            time.sleep(30)
            return "never"

        return [wait_async, wait_here, *Desk().tools]


def is_text(event: ChatEvent) -> bool:
    return isinstance(event, TextDelta)


def is_call(event: ChatEvent) -> bool:
    """A call of the tool that waits."""
    if not isinstance(event, BlockProgress) or not isinstance(event.event, CallStarted):
        return False
    return event.event.tool.startswith("wait")


PHASES = {
    "before the first word": (
        [Wait(NEVER), "never"],
        lambda event: isinstance(event, RoundStarted),
    ),
    "in the words": (["So ", Wait(NEVER)], is_text),
    "in an open block": (
        ["So ", Script("$y = add(a=1, b=2)", closed=False), Wait(NEVER)],
        lambda event: isinstance(event, BlockOpened),
    ),
    "while a script runs and the stream goes on": (
        ["So ", Script("$y = add(a=1, b=2)\n$z = wait_async()"), Wait(NEVER)],
        is_call,
    ),
    "while a script runs and the stream has ended": (
        ["So ", Script("$y = add(a=1, b=2)\n$z = wait_async()")],
        is_call,
    ),
    "after a script": (
        [Script("$y = add(a=1, b=2)"), Wait(NEVER)],
        lambda event: isinstance(event, BlockFinished),
    ),
}


def assert_usable(chat: nit.Chat) -> None:
    assert_valid(chat)
    assert "invented" not in str(chat.history)
    assert shown(events_of(chat, "and now?")) == "Still here."
    assert_valid(chat)
    assert roles(chat)[-2:] == ["user", "assistant"]


@pytest.mark.parametrize("api", [None, "chat", "responses"])
@pytest.mark.parametrize("phase", list(PHASES))
def test_ctrl_c_stops_a_turn_at_once_in_each_phase(phase: str, api: str | None) -> None:
    parts, is_time = PHASES[phase]
    model = FakeModel([parts, "Still here."])
    slow = Slow()
    seen: list[ChatEvent] = []
    with talking(model, tools=slow.tools, api=api, codec="nit") as chat:
        started = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            for event in chat.send("go"):
                seen.append(event)
                if is_time(event) and not isinstance(seen[-2], TurnFinished):
                    is_time = never
                    threading.Thread(target=interrupt_once_asked, args=(model,)).start()
        assert time.monotonic() - started < 10
        assert isinstance(seen[-1], TurnFinished)
        assert seen[-1].reason == "interrupted"
        if "script" in phase:
            assert chat.session.variables["y"] == 3
        if "script runs" in phase:
            assert slow.cancelled.wait(5)
            assert statuses(seen) == ["cancelled"]
            assert roles(chat) == ["user", "assistant", "report"]
        if api is not None and phase != "while a script runs and the stream has ended":
            assert model.requests[0].gone.wait(10)
        assert_usable(chat)


def interrupt_once_asked(model: FakeModel) -> None:
    """Press Ctrl-C, when the request has reached the model and its reader waits."""
    while not model.requests:
        time.sleep(0.005)
    time.sleep(0.05)
    os.kill(os.getpid(), signal.SIGINT)


def never(_event: ChatEvent) -> bool:
    return False


@pytest.mark.parametrize("phase", list(PHASES))
def test_a_cancelled_task_stops_a_turn_in_each_phase(phase: str) -> None:
    parts, is_time = PHASES[phase]
    model = FakeModel([parts, "Still here."])
    slow = Slow()
    seen: list[ChatEvent] = []

    async def run(chat: nit.Chat) -> None:
        reached = asyncio.Event()

        async def read() -> None:
            async for event in chat.asend("go"):
                seen.append(event)
                if is_time(event):
                    reached.set()

        async with asyncio.timeout(20):
            task = asyncio.create_task(read())
            await reached.wait()
            while not model.requests:
                await asyncio.sleep(0.005)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    with talking(model, tools=slow.tools, codec="nit") as chat:
        asyncio.run(run(chat))
        assert isinstance(seen[-1], TurnFinished)
        assert seen[-1].reason == "interrupted"
        if "script" in phase:
            assert chat.session.variables["y"] == 3
        assert_usable(chat)


@pytest.mark.parametrize("how", ["break", "cancel"])
@pytest.mark.parametrize("phase", list(PHASES))
def test_who_stops_reading_or_cancels_stops_the_turn(phase: str, how: str) -> None:
    parts, is_time = PHASES[phase]
    model = FakeModel([parts, "Still here."])
    with talking(model, tools=Slow().tools, codec="nit") as chat:
        for event in chat.send("go"):
            if is_time(event):
                while not model.requests:
                    time.sleep(0.005)
                if how == "break":
                    break
                chat.cancel()
        assert_usable(chat)


def test_ctrl_c_in_a_function_on_the_callers_thread_stops_the_script_and_the_turn() -> None:
    model = FakeModel([Script("$y = add(a=1, b=2)\nwait_here()\n$z = 1"), "Still here."])
    seen: list[ChatEvent] = []
    with talking(model, tools=Slow().tools, codec="nit") as chat:
        started = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            for event in chat.send("go"):
                seen.append(event)
                if is_call(event):
                    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        assert time.monotonic() - started < 10
        assert dict(chat.session.variables) == {"y": 3}
        assert statuses(seen) == ["cancelled"]
        assert_usable(chat)


def test_every_native_call_has_one_result_when_one_fails_and_one_is_interrupted() -> None:
    # B17
    desk = Desk()
    model = FakeModel(
        [
            Reply(
                Call("add", {"a": 1, "b": 2}, id="c1"),
                Call("add", {"a": "x", "b": 2}, id="c2"),
                Call("wait_async", {}, id="c3"),
                Call("add", {"a": 1, "b": 2}, id="c4"),
            ),
            "Still here.",
        ]
    )
    del desk
    with talking(model, tools=Slow().tools, api="chat", codec="native") as chat:
        with pytest.raises(KeyboardInterrupt):
            for event in chat.send("go"):
                if is_call(event):
                    threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
        results = {m["tool_call_id"]: m for m in chat.history if m["role"] == "tool"}
        assert list(results) == ["c1", "c2", "c3", "c4"]
        assert results["c1"]["content"] == "3"
        assert results["c2"]["is_error"]
        assert "a: wanted integer" in results["c2"]["content"]
        assert "cancelled" in results["c3"]["content"]
        assert "cancelled" in results["c4"]["content"]
        assert_usable(chat)
    tools = [m["tool_call_id"] for m in model.requests[1]["messages"] if m["role"] == "tool"]
    assert tools == ["c1", "c2", "c3", "c4"]


def test_an_interrupt_while_the_person_is_asked_runs_nothing() -> None:
    desk = Desk()

    def ask(question: object) -> bool:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(5)
        return True

    send = nit.tool(side_effects="external")(desk.publish)
    model = FakeModel([Script('publish(title="a", lines=1)'), "Still here."])
    with talking(model, tools=[send], codec="nit", ask=ask) as chat:
        with pytest.raises(KeyboardInterrupt):
            events_of(chat)
        assert desk.calls == []
        assert_usable(chat)


def test_an_interrupt_between_two_rounds_keeps_the_report() -> None:
    model = FakeModel([Script("$y = add(a=1, b=2)"), Reply(Wait(NEVER), "never"), "Still here."])
    with talking(model, tools=Desk().tools, codec="nit") as chat:
        finished = False
        for event in chat.send("go"):
            finished = finished or isinstance(event, RoundFinished)
            if finished and isinstance(event, RoundStarted):
                break
        assert roles(chat) == ["user", "assistant", "report"]
        assert_usable(chat)


def test_two_messages_at_once_are_refused_and_the_first_goes_on() -> None:
    gate = threading.Event()
    model = FakeModel([Reply("A", Wait(gate), "B", chunk=9), "C"])
    with talking(model) as chat:
        events = chat.send("one")
        first = [next(events), next(events), next(events)]
        assert [type(e) for e in first][-1] is TextDelta
        with pytest.raises(NitError) as caught:
            events_of(chat, "two")
        assert caught.value.code == "NIT672"
        gate.set()
        assert shown(list(events)) == "B"
        assert shown(events_of(chat, "two")) == "C"


def test_a_script_that_the_person_cancels_alone_is_reported_and_the_turn_goes_on() -> None:
    model = FakeModel([Script("$y = 1\nwait_async()\n$z = 2"), "I see."])
    seen: list[ChatEvent] = []
    with talking(model, tools=Slow().tools, codec="nit") as chat:
        for event in chat.send("go"):
            seen.append(event)
            if is_call(event):
                event.event.run.cancel()
        assert dict(chat.session.variables) == {"y": 1}
    assert statuses(seen) == ["cancelled"]
    assert shown(seen) == "I see."
    assert [type(e) for e in seen if isinstance(e, BlockStarted)] == [BlockStarted]
