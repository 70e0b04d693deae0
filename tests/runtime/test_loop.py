import asyncio
import contextvars
import threading

import pytest

from nit_kernel.runtime.loop import LoopThread

VAR: contextvars.ContextVar[str] = contextvars.ContextVar("var", default="none")


@pytest.fixture
def loop():
    thread = LoopThread()
    yield thread
    thread.stop()


def test_coroutine_runs_in_the_daemon_thread_called_nit_loop(loop: LoopThread) -> None:
    async def where() -> tuple[str, bool]:
        await asyncio.sleep(0)
        return threading.current_thread().name, threading.current_thread().daemon

    assert loop.submit(where).result(5) == ("nit-loop", True)


def test_coroutine_sees_the_context_of_who_submitted_it(loop: LoopThread) -> None:
    async def look() -> str:
        return VAR.get()

    token = VAR.set("mine")
    try:
        assert loop.submit(look).result(5) == "mine"
    finally:
        VAR.reset(token)
    assert loop.submit(look).result(5) == "none"


def test_cancelling_the_future_cancels_the_coroutine(loop: LoopThread) -> None:
    started, cleaned, ended = threading.Event(), threading.Event(), threading.Event()

    async def wait() -> None:
        started.set()
        try:
            await asyncio.sleep(60)
        finally:
            cleaned.set()

    future = loop.submit(wait, ended=ended.set)
    assert started.wait(5)
    assert future.cancel()
    assert cleaned.wait(5)
    assert ended.wait(5)


@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt, GeneratorExit, ValueError])
def test_whatever_a_coroutine_raises_the_loop_goes_on(
    loop: LoopThread, kind: type[BaseException]
) -> None:
    async def fail() -> None:
        raise kind("no")

    async def fine() -> int:
        return 1

    assert isinstance(loop.submit(fail).exception(5), kind)
    assert loop.submit(fine).result(5) == 1


def test_coroutine_that_cancels_itself_has_an_outcome(loop: LoopThread) -> None:
    async def give_up() -> None:
        raise asyncio.CancelledError

    assert isinstance(loop.submit(give_up).exception(5), asyncio.CancelledError)


def test_stop_lets_coroutines_clean_up_and_leaves_no_loop_open() -> None:
    loop = LoopThread()
    started, cleaned = threading.Event(), threading.Event()

    async def wait() -> None:
        started.set()
        try:
            await asyncio.sleep(60)
        finally:
            cleaned.set()

    future = loop.submit(wait)
    assert started.wait(5)
    loop.stop()
    loop.stop()
    assert cleaned.is_set()
    assert future.done()


def test_loop_that_is_blocked_does_not_answer(loop: LoopThread) -> None:
    begun, go = threading.Event(), threading.Event()

    async def block() -> None:
        begun.set()
        go.wait(10)

    assert loop.answers(5)
    future = loop.submit(block)
    assert begun.wait(5)
    assert not loop.answers(0.01)
    go.set()
    future.result(5)
    assert loop.answers(5)


def test_loop_answers_on_its_own_thread_and_after_its_end(loop: LoopThread) -> None:
    async def ask() -> bool:
        return loop.answers(0)

    assert loop.submit(ask).result(5)
    loop.stop()
    assert loop.answers(0)
