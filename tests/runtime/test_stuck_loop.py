"""A coroutine that blocks its loop: it is told of, and is in nobody's way."""

import asyncio
import threading
from collections.abc import Iterator

import pytest
from runtime.making import Gate, make_tool

import nit_kernel as nit

HINT = "the thread of `{}` cannot be stopped and runs on; its result is thrown away"


@pytest.fixture
def gate() -> Iterator[Gate]:
    gate = Gate()
    yield gate
    gate.go.set()


@pytest.fixture
def session(gate: Gate) -> Iterator[nit.Session]:
    async def stuck() -> object:
        return gate.hold()

    def promise() -> object:
        return stuck()

    async def where() -> int:
        await asyncio.sleep(0)
        return threading.get_ident()

    async def wait() -> str:
        await asyncio.to_thread(gate.go.wait, 20)
        return "waited"

    async def sleep() -> None:
        await asyncio.sleep(60)

    tools = [make_tool(call) for call in (stuck, where, wait, sleep)]
    with nit.Session(tools=[*tools, make_tool(promise)]) as session:
        yield session
        gate.go.set()


@pytest.mark.parametrize("tool", ["stuck", "promise"])
@pytest.mark.parametrize("is_awaited", [False, True])
def test_a_coroutine_that_blocks_the_loop_is_told_of(
    session: nit.Session, tool: str, is_awaited: bool
) -> None:
    if is_awaited:
        result = asyncio.run(session.arun(f"{tool}()", timeout=0.1))
    else:
        result = session.run(f"{tool}()", timeout=0.1)
    assert result.error is not None
    assert (result.error.code, result.error.hint) == ("NIT503", HINT.format(tool))
    assert session.run("where()", timeout=10).ok


def test_it_shows_as_still_running_until_it_ends(session: nit.Session, gate: Gate) -> None:
    result = session.run("stuck()", timeout=0.1)
    assert result.calls[0].thread_runs_on
    gate.go.set()
    for _ in range(2_000):
        if not result.calls[0].thread_runs_on:
            return
        threading.Event().wait(0.005)
    raise AssertionError("it never ended")


def test_after_its_own_time_is_up_other_coroutines_run(gate: Gate) -> None:
    async def stuck() -> object:
        return gate.hold()

    async def one() -> int:
        return 1

    tools = [make_tool(stuck, timeout=0.1), make_tool(one)]
    with nit.Session(tools=tools) as session:
        assert repr(session.run("stuck()").error).startswith("NitTimeoutError(")
        assert session.run("one()", timeout=10).value == 1


def test_after_a_task_that_blocks_the_loop_was_cancelled_other_coroutines_run(
    session: nit.Session, gate: Gate
) -> None:
    session.run("$t = async stuck()")
    task = session.tasks["t"]
    assert gate.begun.wait(10)
    task.cancel()
    assert task.thread_runs_on
    assert session.run("where()", timeout=10).ok
    assert session.run("$w = async where()\n[$w]", timeout=10).ok


def test_coroutines_beside_it_go_on_when_it_ends(session: nit.Session, gate: Gate) -> None:
    session.run("$t = async wait()")
    task = session.tasks["t"]
    assert not session.run("stuck()", timeout=0.1).ok
    assert session.run("where()", timeout=10).ok
    gate.go.set()
    assert task.result(10) == "waited"


def test_what_it_still_prints_goes_to_its_log(gate: Gate) -> None:
    ended = threading.Event()

    async def stuck() -> None:
        gate.hold()
        print("late")
        ended.set()

    with nit.Session(tools=[make_tool(stuck)]) as session:
        result = session.run("stuck()", timeout=0.1)
        gate.go.set()
        assert ended.wait(10)
        assert result.calls[0].log == "late\n"


def test_a_coroutine_that_can_be_stopped_leaves_the_loop_as_it_is(session: nit.Session) -> None:
    before = session.run("where()").value
    error = session.run("sleep()", timeout=0.05).error
    assert error is not None
    assert error.hint is None
    assert session.run("where()").value == before
