"""The rows of the live panel, how they are drawn, and how often."""

import asyncio
import html
import re
from types import SimpleNamespace

import pytest

from nit_kernel.notebook.rows import Row, rows_html, rows_text
from nit_kernel.notebook.ticker import Ticker

HOSTILE = "<img src=q onerror=\"document.title='HIT'\"> & [l](javascript:void(0))"


def task(**given):
    state = {
        "state": "running",
        "started_at": 1.0,
        "ended_at": None,
        "error": None,
        "thread_runs_on": False,
        "done": False,
    }
    return SimpleNamespace(**state | given)


def followed(row):
    row.follow()
    return row


def test_a_row_tells_how_its_task_stands():
    row = Row("a", task=task(state="done", started_at=1.0, ended_at=3.5, done=True), cancel=print)
    row.fraction = 1.0
    row.say("page 10 of 10")
    row.follow()

    assert rows_text([row]) == "a                done        2.5 s 100%  page 10 of 10"
    assert (row.is_final, row.cancel, row.follows_task) == (True, None, False)


def test_a_failed_task_tells_why():
    error = SimpleNamespace(message="`boom` raised ValueError: no luck")
    row = followed(Row("b", task=task(state="failed", ended_at=1.2, done=True, error=error)))

    assert rows_text([row]) == (
        "b                failed      0.2 s       `boom` raised ValueError: no luck"
    )


def test_a_thread_that_runs_on_is_named_until_it_ends():
    stubborn = task(state="cancelled", ended_at=2.0, done=True, thread_runs_on=True)
    row = followed(Row("c", task=stubborn))
    during = row.remark
    stubborn.thread_runs_on = False
    row.follow()

    assert during == "its thread cannot be stopped and still runs; its result is thrown away"
    assert (row.remark, row.follows_task) == ("", False)


def test_every_word_of_a_tool_is_escaped():
    row = Row(HOSTILE)
    row.say(HOSTILE)
    drawn = rows_html([row], more=HOSTILE, title=HOSTILE)
    tags = set(re.findall(r"</?(\w+)", drawn))

    assert tags == {"div", "span"}
    assert html.escape(HOSTILE, quote=True) in drawn


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("one\ntwo\n", "two"),
        ("10%\r20%\r30%", "30%"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("a\x07b\x00c", "abc"),
        ("\n\n", "before"),
        ("x" * 5000, "x" * 200),
        ("tab\there", "tab here"),
    ],
)
def test_the_last_line_is_what_is_shown(said, shown):
    row = Row("a")
    row.say("before")
    row.say(said)

    assert row.remark == shown


@pytest.mark.parametrize(
    ("fraction", "percent"),
    [
        (None, ""),
        (0, "0%"),
        (0.454, "45%"),
        (1, "100%"),
        (7, "100%"),
        (-1, "0%"),
        (float("nan"), "0%"),
    ],
)
def test_a_fraction_is_shown_in_percent_whatever_it_is(fraction, percent):
    row = Row("a")
    row.fraction = fraction

    assert row.percent == percent
    assert rows_html([row])


def test_a_thousand_wakes_are_one_drawing():
    drawn = []

    async def main():
        loop = asyncio.get_running_loop()
        ticker = Ticker(loop, lambda: drawn.append(loop.time()) is not None)
        for _ in range(1000):
            ticker.wake()
        await asyncio.sleep(0.05)
        first = len(drawn)
        for _ in range(1000):
            ticker.wake()
        await asyncio.sleep(0.02)
        too_soon = len(drawn)
        await asyncio.sleep(0.2)
        ticker.stop()
        return first, too_soon

    assert asyncio.run(main()) == (1, 1)
    assert len(drawn) == 2
    assert drawn[1] - drawn[0] >= 0.14


def test_clocks_go_on_while_something_runs():
    drawn = []

    async def main():
        done = asyncio.Event()

        def tick():
            drawn.append(1)
            if len(drawn) == 2:
                done.set()
            return len(drawn) < 2

        ticker = Ticker(asyncio.get_running_loop(), tick)
        ticker.wake()
        await asyncio.wait_for(done.wait(), 5)

    asyncio.run(main())

    assert len(drawn) == 2


def test_a_wake_from_another_thread_is_heard():
    import threading

    async def main():
        drawn = asyncio.Event()
        ticker = Ticker(asyncio.get_running_loop(), lambda: drawn.set() is not None)
        threading.Thread(target=ticker.wake).start()
        await asyncio.wait_for(drawn.wait(), 5)
        return True

    assert asyncio.run(main())
