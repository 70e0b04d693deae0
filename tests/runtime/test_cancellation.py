"""How scripts and tasks are stopped, and what is left afterwards."""

import asyncio
import os
import signal
import threading
import time
from collections.abc import Iterator

import pytest
from runtime.making import Gate, make_tool

import nit_kernel as nit
from nit_kernel.runtime.observer import Event, ScriptStarted


class Stopper:
    """An observer that keeps the run, so that a test can cancel it."""

    def __init__(self) -> None:
        self.run = None

    def on_event(self, event: Event, /) -> None:
        if isinstance(event, ScriptStarted):
            self.run = event.run


@pytest.fixture
def gate() -> Iterator[Gate]:
    gate = Gate()
    yield gate
    gate.go.set()


def interrupt_when(event: threading.Event) -> threading.Thread:
    """Press Ctrl-C as soon as something has happened."""

    def press() -> None:
        if event.wait(10):
            time.sleep(0.02)
            os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=press)
    thread.start()
    return thread


async def sleep_long(begun: threading.Event) -> None:
    begun.set()
    await asyncio.sleep(60)


def long_tools(begun: threading.Event, stopped: threading.Event) -> list[nit.Tool]:
    async def coroutine() -> None:
        begun.set()
        try:
            await asyncio.sleep(60)
        finally:
            stopped.set()

    def caller() -> None:
        begun.set()
        try:
            time.sleep(60)
        finally:
            stopped.set()

    def worker(ctx: nit.ToolContext) -> None:
        begun.set()
        while not ctx.cancelled:
            time.sleep(0.002)
        stopped.set()

    return [
        make_tool(coroutine),
        make_tool(caller),
        make_tool(worker, thread="worker", context="ctx"),
        make_tool(lambda: None, name="later"),
    ]


@pytest.mark.parametrize("tool", ["coroutine", "caller", "worker"])
def test_ctrl_c_stops_the_running_call_and_the_script(tool: str) -> None:
    begun, stopped = threading.Event(), threading.Event()
    with nit.Session(tools=long_tools(begun, stopped)) as session:
        thread = interrupt_when(begun)
        start = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            session.run(f"$a = 1\n$b = {tool}()\n$c = later()")
        assert time.monotonic() - start < 10
        thread.join()
        assert stopped.wait(10)
        assert dict(session.variables) == {"a": 1}
        assert session.run("later()\n$a").value == 1


@pytest.mark.parametrize("tool", ["coroutine", "caller", "worker"])
def test_interrupt_can_be_returned_as_a_result(tool: str) -> None:
    begun, stopped = threading.Event(), threading.Event()
    with nit.Session(tools=long_tools(begun, stopped)) as session:
        thread = interrupt_when(begun)
        result = session.run(f"$a = 1\n$b = {tool}()", on_interrupt="return")
        thread.join()
        assert isinstance(result.error, nit.NitCancelledError)
        assert isinstance(result.error.__cause__, KeyboardInterrupt)
        assert result.error.message == f"the script was interrupted while `{tool}` ran"
        assert [(call.name, call.status) for call in result.calls] == [(tool, "cancelled")]
        assert (result.variables, dict(session.variables)) == ({"a": 1}, {"a": 1})


def test_ctrl_c_stops_the_wait_for_a_background_task_and_not_the_task(gate: Gate) -> None:
    with nit.Session(tools=[make_tool(gate.hold)]) as session:
        thread = interrupt_when(gate.begun)
        with pytest.raises(KeyboardInterrupt):
            session.run("$a = async hold()\n$b = [$a]")
        thread.join()
        task = session.tasks["a"]
        assert task.state == "running"
        gate.go.set()
        assert session.run("$a").value == "held"


def test_ctrl_c_stops_session_wait(gate: Gate) -> None:
    with nit.Session(tools=[make_tool(gate.hold)]) as session:
        session.run("async hold()")
        thread = interrupt_when(gate.begun)
        with pytest.raises(KeyboardInterrupt):
            session.wait()
        thread.join()


def test_thread_that_cannot_be_stopped_is_shown_and_its_result_thrown_away(gate: Gate) -> None:
    with nit.Session(tools=[make_tool(gate.hold, thread="worker")]) as session:
        thread = interrupt_when(gate.begun)
        result = session.run("$a = hold()", on_interrupt="return")
        thread.join()
        assert result.error.hint == (
            "the thread of `hold` cannot be stopped and runs on; its result is thrown away"
        )
        (call,) = result.calls
        assert (call.status, call.thread_runs_on) == ("cancelled", True)
        gate.go.set()
        wait_until(lambda: not result.calls[0].thread_runs_on)
        assert "a" not in session.variables


@pytest.mark.parametrize("tool", ["coroutine", "worker"])
def test_script_is_cancelled_from_another_thread(tool: str) -> None:
    begun, stopped = threading.Event(), threading.Event()
    stopper = Stopper()
    with nit.Session(tools=long_tools(begun, stopped), observer=stopper) as session:
        canceller = threading.Thread(
            target=lambda: begun.wait(10) and stopper.run and stopper.run.cancel()
        )
        canceller.start()
        result = session.run(f"$a = {tool}()\nlater()")
        canceller.join()
        assert isinstance(result.error, nit.NitCancelledError)
        assert result.error.message == f"the script was cancelled while `{tool}` ran"
        assert stopped.wait(10)
        assert [call.name for call in result.calls] == [tool]


def test_result_that_arrives_after_the_script_was_cancelled_is_thrown_away() -> None:
    stopper = Stopper()

    def slow() -> int:
        stopper.run.cancel()
        return 5

    with nit.Session(
        tools=[make_tool(slow), make_tool(lambda: None, name="later")], observer=stopper
    ) as session:
        result = session.run("$a = slow()\nlater()")
    assert isinstance(result.error, nit.NitCancelledError)
    assert ([call.name for call in result.calls], result.variables) == (["slow"], {})


@pytest.mark.parametrize("tool", ["coroutine", "worker", "caller"])
def test_cancelling_the_awaiting_task_cancels_the_running_call(tool: str) -> None:
    begun, stopped = threading.Event(), threading.Event()
    tools = [t for t in long_tools(begun, stopped) if t.name == tool]
    if tool == "caller":
        begun_here = Gate(begun=begun)
        tools = [make_tool(begun_here.hold, name="caller")]

    async def main(session: nit.Session) -> str:
        script = asyncio.create_task(session.arun(f"$a = {tool}()"))
        while not begun.is_set():
            await asyncio.sleep(0.001)
        script.cancel()
        try:
            await script
        except asyncio.CancelledError:
            return "cancelled"
        return "went on"

    with nit.Session(tools=tools) as session:
        assert asyncio.run(main(session)) == "cancelled"
        if tool == "caller":
            begun_here.go.set()
        else:
            assert stopped.wait(10)
        assert dict(session.variables) == {}


def test_cancelled_awaiting_task_can_have_its_result() -> None:
    begun, stopped = threading.Event(), threading.Event()

    async def main(session: nit.Session) -> nit.Result:
        script = asyncio.create_task(session.arun("$a = 1\ncoroutine()", on_interrupt="return"))
        while not begun.is_set():
            await asyncio.sleep(0.001)
        script.cancel()
        return await script

    with nit.Session(tools=long_tools(begun, stopped)) as session:
        result = asyncio.run(main(session))
    assert isinstance(result.error, nit.NitCancelledError)
    assert result.variables == {"a": 1}


def test_interrupt_of_a_function_on_the_awaiting_thread() -> None:
    def pressed() -> None:
        raise KeyboardInterrupt

    async def main(session: nit.Session, how: str) -> nit.Result:
        return await session.arun(
            "$a = pressed()", on_caller=lambda function: function(), on_interrupt=how
        )

    with nit.Session(tools=[make_tool(pressed)]) as session:
        result = asyncio.run(main(session, "return"))
        assert isinstance(result.error.__cause__, KeyboardInterrupt)
        with pytest.raises(KeyboardInterrupt):
            asyncio.run(main(session, "raise"))


def test_on_caller_runs_plain_functions_on_the_awaiting_thread() -> None:
    def where() -> str:
        return threading.current_thread().name

    async def main(session: nit.Session) -> list[object]:
        script = "[where(), far()]"
        here = await session.arun(script, on_caller=lambda function: function())
        there = await session.arun(script)
        return [*here.value, *there.value]

    tools = [make_tool(where), make_tool(where, name="far", thread="worker")]
    with nit.Session(tools=tools) as session:
        names = asyncio.run(main(session))
    assert names[0] == threading.current_thread().name
    assert all(name.startswith("nit-worker") for name in names[1:])


def test_script_that_is_given_too_little_time_ends() -> None:
    begun, stopped = threading.Event(), threading.Event()
    with nit.Session(tools=long_tools(begun, stopped)) as session:
        for result in (
            session.run("$a = 1\ncoroutine()", timeout=0.05),
            asyncio.run(session.arun("$a = 1\ncoroutine()", timeout=0.05)),
        ):
            assert isinstance(result.error, nit.NitTimeoutError)
            assert result.error.message == "the script did not finish within 0.05 s"
            assert result.variables == {"a": 1}
        assert session.run("$a", timeout=30).value == 1


@pytest.mark.parametrize("tool", ["coroutine", "worker"])
@pytest.mark.parametrize("form", ["{}()", "$t = async {}()\n[$t]"])
def test_call_that_takes_too_long_fails_and_is_stopped(tool: str, form: str) -> None:
    begun, stopped = threading.Event(), threading.Event()
    limits = nit.Limits(tool_seconds=0.05)
    with nit.Session(tools=long_tools(begun, stopped), limits=limits) as session:
        result = session.run(form.format(tool))
        assert isinstance(result.error, nit.NitTimeoutError)
        assert (result.error.code, result.error.message) == (
            "NIT502",
            f"`{tool}` did not finish within 0.05 s",
        )
        assert [call.status for call in result.calls] == ["failed"]
        assert stopped.wait(10)


def test_tool_may_set_its_own_time() -> None:
    async def nap() -> str:
        await asyncio.sleep(0.2)
        return "rested"

    tools = [
        make_tool(nap, name="short", timeout=0.02),
        make_tool(nap, name="long", timeout=20),
        make_tool(nap, name="free", timeout=float("inf")),
    ]
    with nit.Session(tools=tools, limits=nit.Limits(tool_seconds=0.02)) as session:
        assert isinstance(session.run("short()").error, nit.NitTimeoutError)
        assert session.run("[long(), free()]").value == ["rested", "rested"]


def test_function_on_the_callers_own_thread_has_no_time_limit() -> None:
    with nit.Session(
        tools=[make_tool(lambda: time.sleep(0.1) or "done", name="work")],
        limits=nit.Limits(tool_seconds=0.01),
    ) as session:
        assert session.run("work()").value == "done"


@pytest.mark.parametrize("tool", ["coroutine", "worker"])
def test_background_task_is_cancelled_by_name(tool: str) -> None:
    begun, stopped = threading.Event(), threading.Event()
    with nit.Session(tools=long_tools(begun, stopped)) as session:
        session.run(f"$t = async {tool}()\n$u = async later()")
        assert begun.wait(10)
        assert session.cancel("t")
        assert not session.cancel("t")
        task = session.tasks["t"]
        assert task.state == "cancelled"
        assert stopped.wait(10)
        wait_until(lambda: not task.thread_runs_on)
        assert session.run("[$t]").error is task.error
        assert isinstance(task.error, nit.NitCancelledError)
        with pytest.raises(KeyError):
            session.cancel("nobody")


def test_background_thread_that_cannot_be_stopped_is_shown_as_still_running(gate: Gate) -> None:
    with nit.Session(tools=[make_tool(gate.hold)]) as session:
        task = session.run("$t = async hold()").value
        assert gate.begun.wait(10)
        task.cancel()
        assert (task.state, task.thread_runs_on) == ("cancelled", True)
        gate.go.set()
        wait_until(lambda: not task.thread_runs_on)
        assert task.state == "cancelled"
        with pytest.raises(nit.NitCancelledError):
            task.result()


def test_task_that_waits_its_turn_can_be_cancelled_and_never_runs(gate: Gate) -> None:
    ran = []
    with nit.Session(
        tools=[make_tool(gate.hold), make_tool(lambda: ran.append(1), name="work")],
        limits=nit.Limits(running_tasks=1),
    ) as session:
        session.run("async hold()\n$w = async work()")
        assert session.cancel("w")
        gate.go.set()
        assert session.wait(10)
        assert session.run("async work()\n").ok
        assert session.wait(10)
    assert ran == [1]


def test_cancelled_script_leaves_its_background_tasks_alone(gate: Gate) -> None:
    stopper = Stopper()

    def slow() -> None:
        stopper.run.cancel()

    with nit.Session(tools=[make_tool(gate.hold), make_tool(slow)], observer=stopper) as session:
        assert not session.run("$t = async hold()\nslow()").ok
        assert session.tasks["t"].state == "running"
        gate.go.set()
        assert session.tasks["t"].result(10) == "held"


def test_cancel_all_cancels_what_runs_and_what_waits(gate: Gate) -> None:
    with nit.Session(tools=[make_tool(gate.hold)], limits=nit.Limits(running_tasks=2)) as session:
        session.run("\n".join(["async hold()"] * 5))
        assert session.cancel_all() == 5
        assert {task.state for task in session.tasks.values()} == {"cancelled"}
        assert session.wait(10)


def test_process_ends_at_once_while_tools_sleep(tmp_path) -> None:
    import subprocess
    import sys

    script = tmp_path / "script.py"
    script.write_text(
        "import time, threading, asyncio\n"
        "import nit_kernel as nit\n"
        "begun = threading.Barrier(3)\n"
        "def nap():\n    begun.wait(10); time.sleep(60)\n"
        "async def anap():\n    await asyncio.to_thread(begun.wait, 10); await asyncio.sleep(60)\n"
        "open_schema = {'type': 'object'}\n"
        "session = nit.Session(tools=[nit.Tool('nap', '', open_schema, nap),"
        " nit.Tool('anap', '', open_schema, anap)])\n"
        "session.run('async nap()\\nasync anap()')\n"
        "begun.wait(10)\n"
        "print('end')\n",
        encoding="utf-8",
    )
    start = time.monotonic()
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=40, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")
    assert time.monotonic() - start < 20


def wait_until(holds) -> None:
    """Wait for something that another thread does soon."""
    for _ in range(2_000):
        if holds():
            return
        threading.Event().wait(0.005)
    raise AssertionError("it never came")
