"""What a tool says while it runs: progress, log, display, prints; and who hears it."""

import asyncio
import contextlib
import io
import sys
import threading

import pytest
from runtime.making import Gate, make_tool

import nit_kernel as nit
from nit_kernel.runtime.observer import Displayed, Event, Logged, Progressed, TaskChanged


class Watcher:
    """An observer that keeps everything."""

    def __init__(self, *, takes_output: bool = False) -> None:
        self.takes_output = takes_output
        self.events: list[Event] = []

    def on_event(self, event: Event, /) -> None:
        self.events.append(event)

    def logged(self) -> list[tuple[str, str, str | None]]:
        return [
            (event.stream, event.text, event.task.name if event.task else None)
            for event in self.events
            if isinstance(event, Logged)
        ]


def reporter(ctx: nit.ToolContext) -> str:
    ctx.progress(0.5, "half way")
    ctx.log("a note")
    ctx.display([1, 2])
    return "done"


async def areporter(ctx: nit.ToolContext) -> str:
    await ctx.progress(0.5, "half way")
    await ctx.log("a note")
    await ctx.display([1, 2])
    return "done"


@pytest.mark.parametrize("tool", [reporter, areporter])
@pytest.mark.parametrize("form", ["report()", "$t = async report()\n$t"])
def test_context_passes_on_progress_log_and_display(tool, form: str) -> None:
    watcher = Watcher()
    with nit.Session(
        tools=[make_tool(tool, name="report", context="ctx")], observer=watcher
    ) as session:
        result = session.run(form)
    assert result.value == "done"
    assert result.calls[0].arguments == {}
    assert result.calls[0].log == "a note\n"
    heard = [e for e in watcher.events if isinstance(e, Progressed | Logged | Displayed)]
    task = session.tasks.get("t")
    assert [(type(e), e.task) for e in heard] == [
        (Progressed, task),
        (Logged, task),
        (Displayed, task),
    ]
    assert (heard[0].fraction, heard[0].message) == (0.5, "half way")
    assert heard[2].value == [1, 2]
    assert len({event.key for event in heard}) == 1


def test_task_shows_its_last_progress_and_its_log() -> None:
    gate = Gate()

    def work(ctx: nit.ToolContext) -> None:
        ctx.progress(0.25, "a quarter")
        ctx.log("one")
        gate.hold()
        ctx.progress(message="nobody knows")

    with nit.Session(tools=[make_tool(work, context="ctx")]) as session:
        task = session.run("$t = async work()").value
        assert gate.begun.wait(10)
        assert (task.progress, task.log) == (nit.Progress(0.25, "a quarter"), "one\n")
        gate.go.set()
        task.result(10)
        assert task.progress == nit.Progress(None, "nobody knows")


def test_generator_yields_progress_and_at_last_its_value() -> None:
    def count():
        yield nit.Progress(0.5, "half")
        yield "not yet"
        yield nit.Progress(1.0)
        yield "value"

    async def acount():
        yield nit.Progress(0.5, "half")
        yield "value"

    def returns():
        yield nit.Progress(1.0)
        return "returned"

    def silent():
        yield nit.Progress(1.0)

    watcher = Watcher()
    tools = [make_tool(function) for function in (count, acount, returns, silent)]
    with nit.Session(tools=tools, observer=watcher) as session:
        result = session.run("[count(), acount(), returns(), silent()]")
        background = session.run("$a = async count()\n$b = async acount()\n[$a, $b]")
    assert result.value == ["value", "value", "returned", None]
    assert background.value == ["value", "value"]
    foreground = [e for e in watcher.events if isinstance(e, Progressed) and e.task is None]
    assert [(e.fraction, e.message) for e in foreground] == [
        (0.5, "half"),
        (1.0, ""),
        (0.5, "half"),
        (1.0, ""),
        (1.0, ""),
    ]


def test_plain_function_that_returns_a_coroutine_is_awaited() -> None:
    async def later() -> int:
        return 5

    with nit.Session(tools=[make_tool(lambda: later(), name="soon")]) as session:
        assert session.run("$t = async soon()\n[soon(), $t]").value == [5, 5]


def test_prints_of_a_watched_call_reach_the_real_stream_and_its_log(capsys) -> None:
    def chat() -> None:
        print("hello")
        print("oops", file=sys.stderr)

    watcher = Watcher()
    with nit.Session(tools=[make_tool(chat)], observer=watcher) as session:
        result = session.run("chat()")
    assert capsys.readouterr() == ("hello\n", "oops\n")
    assert watcher.logged() == [("stdout", "hello\n", None), ("stderr", "oops\n", None)]
    assert result.calls[0].log == "hello\noops\n"


@pytest.mark.parametrize("is_async", [False, True])
def test_prints_of_a_background_task_go_to_its_row_and_nowhere_else(capsys, is_async: bool) -> None:
    gate = Gate()

    def chat() -> None:
        print("tick 0")
        gate.hold()
        print("tick 1", end="")

    async def achat() -> None:
        print("tick 0")
        gate.begun.set()
        await asyncio.to_thread(gate.go.wait, 10)
        print("tick 1", end="")

    watcher = Watcher(takes_output=True)
    tool = make_tool(achat if is_async else chat, name="chat")
    with nit.Session(tools=[tool], observer=watcher) as session:
        session.run("$t = async chat()")
        assert gate.begun.wait(10)
        print("another cell")
        gate.go.set()
        assert session.wait(10)
        assert session.tasks["t"].log == "tick 0\ntick 1"
    assert capsys.readouterr().out == "another cell\n"
    assert watcher.logged() == [("stdout", "tick 0\n", "t"), ("stdout", "tick 1", "t")]


def test_prints_of_a_background_task_show_in_a_plain_script(capsys) -> None:
    with nit.Session(tools=[make_tool(lambda: print("here"), name="chat")]) as session:
        task = session.run("async chat()").value
        task.result(10)
    assert capsys.readouterr().out == "here\n"
    assert task.log == "here\n"


def test_standard_streams_are_themselves_again_when_nothing_runs() -> None:
    before = (sys.stdout, sys.stderr)
    gate = Gate()
    with nit.Session(tools=[make_tool(gate.hold)]) as session:
        session.run("async hold()\nasync hold()")
        assert gate.begun.wait(10)
        assert sys.stdout is not before[0]
        assert sys.stderr is not before[1]
        gate.go.set()
        assert session.wait(10)
        assert (sys.stdout, sys.stderr) == before


def test_streams_of_two_sessions_are_taken_off_in_any_order() -> None:
    before = sys.stdout
    gates = [Gate(), Gate()]
    sessions = [nit.Session(tools=[make_tool(gate.hold)]) for gate in gates]
    for session, gate in zip(sessions, gates, strict=True):
        session.run("async hold()")
        assert gate.begun.wait(10)
    for session, gate in zip(sessions, gates, strict=True):
        gate.go.set()
        assert session.wait(10)
    assert sys.stdout is before
    for session in sessions:
        session.close()


def test_redirect_around_a_script_sees_its_prints_and_no_stream_is_lost() -> None:
    before = sys.stdout
    gate = Gate()

    def chat() -> None:
        print("here")

    with nit.Session(tools=[make_tool(chat), make_tool(gate.hold)]) as session:
        captured = io.StringIO()
        with contextlib.redirect_stdout(captured):
            session.run("async hold()\nchat()")
        gate.go.set()
        assert session.wait(10)
    assert captured.getvalue() == "here\n"
    print(end="")
    assert getattr(sys.stdout, "real", sys.stdout) is before


def test_thread_that_was_given_up_does_not_print_into_another_cell(capsys) -> None:
    gate = Gate()

    def slow() -> None:
        gate.hold()
        print("too late")

    watcher = Watcher(takes_output=True)
    with nit.Session(
        tools=[make_tool(slow, thread="worker", timeout=0.05)], observer=watcher
    ) as session:
        result = session.run("slow()")
        assert isinstance(result.error, nit.NitTimeoutError)
        gate.go.set()
        while result.calls[0].thread_runs_on:
            threading.Event().wait(0.005)
    assert capsys.readouterr().out == ""
    assert watcher.logged() == [("stdout", "too late\n", None)]


def test_log_keeps_the_end_of_a_flood() -> None:
    def flood() -> None:
        for number in range(40_000):
            print(f"line {number}")

    watcher = Watcher(takes_output=True)
    with nit.Session(tools=[make_tool(flood)], observer=watcher) as session:
        task = session.run("async flood()").value
        task.result(30)
    log = task.log
    assert len(log) < 101_000
    assert log.splitlines()[0].startswith("[the first ")
    assert log.splitlines()[-1] == "line 39999"


def test_observer_that_raises_is_logged_and_does_not_disturb_the_script(caplog) -> None:
    class Broken:
        def on_event(self, event: Event, /) -> None:
            raise RuntimeError("observer")

    with nit.Session(tools=[make_tool(lambda: 1, name="one")], observer=Broken()) as session:
        assert session.run("$a = one()\n$a").value == 1
    assert {record.getMessage() for record in caplog.records} == {
        "the observer of the session raised"
    }


def test_observer_sees_a_script_from_begin_to_end() -> None:
    def one() -> int:
        return 1

    watcher = Watcher()
    with nit.Session(tools=[make_tool(one)], observer=watcher) as session:
        result = session.run("$a = one()\n$t = async one()\n[$a, $t]")
    main = [
        type(event).__name__
        for event in watcher.events
        if not isinstance(event, TaskChanged) and getattr(event, "task", None) is None
    ]
    assert main == [
        "ScriptStarted",
        "StatementStarted",
        "CallStarted",
        "CallFinished",
        "ValueBound",
        "StatementStarted",
        "ValueBound",
        "StatementStarted",
        "ScriptFinished",
    ]
    assert [event.task.state for event in watcher.events if isinstance(event, TaskChanged)][
        -1
    ] == "done"
    assert watcher.events[-1].result.value == result.value == [1, 1]


def test_observer_that_takes_output_gets_the_prints_of_the_script_itself_too(capsys) -> None:
    watcher = Watcher(takes_output=True)
    with nit.Session(tools=[make_tool(lambda: print("mine"), name="chat")], observer=watcher) as s:
        s.run("chat()")
    assert capsys.readouterr().out == ""
    assert watcher.logged() == [("stdout", "mine\n", None)]


def test_one_script_may_have_an_observer_of_its_own() -> None:
    everything, one = Watcher(), Watcher()
    with nit.Session(tools=[make_tool(lambda: 1, name="one")], observer=everything) as session:
        session.run("one()")
        session.run("one()", observer=one)
        asyncio.run(session.arun("one()", observer=one))
    assert len(one.events) * 3 == len(everything.events) * 2
