"""The clock of a session: it lives through every time that it is given."""

import threading

import pytest
from runtime.making import Gate, make_tool

import nit_kernel as nit
from nit_kernel.runtime.background import Deadlines


@pytest.mark.parametrize("seconds", [1e10, 1e300, float("inf")])
def test_a_short_time_is_kept_after_a_very_long_one(seconds: float) -> None:
    gate = Gate()
    tools = [make_tool(gate.hold, thread="worker"), make_tool(lambda: 1, name="one")]
    with nit.Session(tools=tools) as session:
        assert session.run("one()", timeout=seconds).value == 1
        result = session.run("hold()", timeout=0.05)
        gate.go.set()
    assert isinstance(result.error, nit.NitTimeoutError)


@pytest.mark.parametrize("seconds", [1e10, 1e300, float("inf")])
def test_short_times_are_kept_while_a_very_long_one_runs(seconds: float) -> None:
    clock = Deadlines()
    clock.add(seconds, lambda: None)
    for _ in range(5):
        rang = threading.Event()
        clock.add(0.01, rang.set)
        assert rang.wait(10)


def test_the_clock_goes_on_when_what_it_calls_raises(caplog: pytest.LogCaptureFixture) -> None:
    clock, rang = Deadlines(), threading.Event()

    def fail() -> None:
        raise ValueError("no")

    clock.add(0.01, fail)
    clock.add(0.02, rang.set)
    assert rang.wait(10)
    assert [record.message for record in caplog.records] == ["what a deadline calls raised"]


def test_a_clock_whose_thread_is_gone_is_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, rang = Deadlines(), threading.Event()
    before = set(threading.enumerate())
    with monkeypatch.context() as patch:
        patch.setattr(clock, "_live", lambda: None)  # as after a fork, which copies no thread
        clock.add(60, lambda: None)
    for thread in set(threading.enumerate()) - before:
        thread.join(10)
    clock.add(0.01, rang.set)
    assert rang.wait(10)
