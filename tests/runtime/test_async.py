"""`async`: what it binds, who waits for it, how many run, how it ends. Source: NIT 2, section 4."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor

import pytest
from runtime.making import Gate, make_tool

import nit_kernel as nit


@pytest.fixture
def gate() -> Iterator[Gate]:
    gate = Gate()
    yield gate
    gate.go.set()


@pytest.fixture
def session(gate: Gate):
    def add(a: int, b: int = 1) -> int:
        return a + b

    def fail(message: str = "no luck") -> None:
        raise ValueError(message)

    async def afail() -> None:
        raise LookupError("no async luck")

    async def anext_(a: int) -> int:
        await asyncio.sleep(0)
        return a + 1

    with nit.Session(
        tools=[
            make_tool(gate.hold),
            make_tool(add),
            make_tool(fail),
            make_tool(afail),
            make_tool(anext_, name="anext"),
        ]
    ) as session:
        yield session


@pytest.mark.parametrize("kind", ["plain", "coroutine", "worker"])
@pytest.mark.parametrize("awaited", [False, True])
def test_two_async_calls_overlap(kind: str, awaited: bool) -> None:
    begun = {"left": threading.Event(), "right": threading.Event()}
    other = {"left": "right", "right": "left"}

    def meet(me: str) -> str:
        begun[me].set()
        assert begun[other[me]].wait(10)
        return me

    async def meet_async(me: str) -> str:
        begun[me].set()
        while not begun[other[me]].is_set():
            await asyncio.sleep(0.001)
        return me

    call = meet_async if kind == "coroutine" else meet
    thread = "worker" if kind == "worker" else "caller"
    script = '$a = async meet(me="left")\n$b = async meet(me="right")\n[$a, $b]'
    with nit.Session(tools=[make_tool(call, name="meet", thread=thread)]) as session:
        result = asyncio.run(session.arun(script)) if awaited else session.run(script)
    assert result.value == ["left", "right"]


def test_async_binds_its_task_and_does_not_hold_up_the_script(session, gate: Gate) -> None:
    session.variables["x"] = "old"
    result = session.run("$x = async hold()\n$y = add(a=1)\n$z = $x")
    task = session.tasks["x"]
    assert result.ok
    assert session.variables["x"] is task
    assert session.variables["z"] is task
    assert (task.state, task.name, task.tool) == ("running", "x", "hold")
    gate.go.set()
    assert task.result(10) == "held"
    assert dict(session.variables) == {"x": "held", "y": 2, "z": "held"}


def test_script_that_ends_in_an_async_statement_has_the_task_as_its_value(session, gate) -> None:
    result = session.run("async hold()")
    assert result.value is session.tasks["hold"]
    assert result.tasks == {"hold": result.value}


@pytest.mark.parametrize(
    ("use", "value"),
    [
        ("add(a=$x)", 42),
        ("$x", 41),
        ("[$x]", [41]),
        ('{"k": $x}', {"k": 41}),
        ('f"{$x}"', "41"),
        ("$y = add(a=add(a=$x))", 43),
    ],
)
def test_every_use_but_copying_waits(session, gate: Gate, use: str, value: object) -> None:
    session.run("$x = async hold(value=41)")
    results: list[nit.Result] = []
    runner = threading.Thread(target=lambda: results.append(session.run(use)))
    runner.start()
    runner.join(0.15)
    assert runner.is_alive()
    gate.go.set()
    runner.join(10)
    assert [result.value for result in results] == [value]
    assert session.variables["x"] == 41


def test_path_into_a_running_task_waits(session, gate: Gate) -> None:
    session.run('$x = async hold(value={"rows": [1, 2]})')
    gate.go.set()
    assert session.run("$x.rows[1]").value == 2


def test_async_statement_captures_its_variables_when_it_is_reached(session, gate: Gate) -> None:
    result = session.run("$v = 1\n$t = async hold(value=$v)\n$v = 2")
    gate.go.set()
    assert result.tasks["t"].result(10) == 1


def test_async_statement_waits_for_the_tasks_it_captured_and_runs_its_nested_calls(
    session, gate: Gate
) -> None:
    result = session.run(
        "$a = async hold(value=1)\n$b = async anext(a=add(a=$a))\n$a = 100\n$b2 = $b"
    )
    assert [task.state for task in result.tasks.values()] == ["running", "waiting"]
    gate.go.set()
    assert result.tasks["b"].result(10) == 3
    assert [(call.name, call.arguments, call.status) for call in result.calls] == [
        ("hold", {"value": 1}, "ok"),
        ("add", {"a": 1}, "ok"),
        ("anext", {"a": 2}, "ok"),
    ]


def test_waiting_tasks_take_no_running_place() -> None:
    gate = Gate()
    with nit.Session(
        tools=[make_tool(gate.hold), make_tool(lambda a: a, name="same")],
        limits=nit.Limits(running_tasks=1),
    ) as session:
        result = session.run(
            "$a = async hold(value=1)\n"
            + "".join(f"$b{n} = async same(a=$a)\n" for n in range(5))
            + "$c = async same(a=2)"
        )
        assert gate.begun.wait(10)
        states = {name: task.state for name, task in result.tasks.items()}
        assert states == {"a": "running", **{f"b{n}": "waiting" for n in range(5)}, "c": "waiting"}
        gate.go.set()
        assert session.wait(10)
        assert [task.result() for task in result.tasks.values()] == [1] * 6 + [2]


def test_no_more_tasks_run_at_once_than_the_limit_says() -> None:
    lock, now, most = threading.Lock(), [0], [0]

    def work(n: int) -> int:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        threading.Event().wait(0.002)
        with lock:
            now[0] -= 1
        return n

    with nit.Session(tools=[make_tool(work)], limits=nit.Limits(running_tasks=3)) as session:
        script = "\n".join(f"$t{n} = async work(n={n})" for n in range(40))
        result = session.run(script + "\n[" + ", ".join(f"$t{n}" for n in range(40)) + "]")
    assert result.value == list(range(40))
    assert most[0] == 3


def test_rebinding_drops_the_handle_and_not_the_work(session, gate: Gate) -> None:
    session.run("$x = async hold()\n$x = 5")
    task = session.tasks["x"]
    assert (session.variables["x"], task.state) == (5, "running")
    gate.go.set()
    assert task.result(10) == "held"
    assert session.variables["x"] == 5


def test_failing_task_fails_every_statement_that_uses_it_with_the_same_error(session) -> None:
    session.run("$x = async fail()\n$y = $x")
    assert session.wait(10)
    errors = [session.run(script).error for script in ("[$x]", "add(a=$x)", 'f"{$y}"', "$x")]
    task = session.tasks["x"]
    assert task.state == "failed"
    assert all(error is task.error for error in errors)
    assert (task.error.code, task.error.message) == (
        "NIT501",
        "`fail` raised ValueError: no luck",
    )
    assert isinstance(task.error.__cause__, ValueError)
    assert session.variables["x"] is task


def test_failure_of_an_input_fails_the_tasks_that_wait_for_it(session) -> None:
    session.run("$x = async afail()\n$y = async add(a=$x)\n$z = async add(a=$y)")
    assert session.wait(10)
    tasks = session.tasks
    assert [tasks[name].state for name in "xyz"] == ["failed"] * 3
    assert tasks["z"].error is tasks["x"].error


def test_failure_that_nobody_uses_is_told_once(session) -> None:
    session.run("async fail()\n$fine = add(a=1)")
    assert session.wait(10)
    told = session.take_ended()
    assert [(task.name, task.state) for task in told] == [("fail", "failed")]
    assert session.take_ended() == ()


def test_failure_that_nobody_was_told_of_is_logged_at_the_end(caplog) -> None:
    def fail() -> None:
        raise ValueError("unseen")

    with nit.Session(tools=[make_tool(fail)]) as session:
        session.run("async fail()")
        assert session.wait(10)
    (record,) = caplog.records
    first, *_ = record.getMessage().splitlines()
    assert first == (
        "the background task `fail` failed: error[NIT501]: `fail` raised ValueError: unseen"
    )


def test_failure_that_was_used_is_not_logged_again(caplog) -> None:
    def fail() -> None:
        raise ValueError("seen")

    with nit.Session(tools=[make_tool(fail)]) as session:
        assert not session.run("$x = async fail()\n[$x]").ok
    assert caplog.records == []


def test_tasks_are_named_after_variable_or_tool_and_numbered_where_taken(session, gate) -> None:
    result = session.run(
        "async hold()\nasync hold()\n$x = async hold()\n$x = async hold()\nasync hold()"
    )
    assert list(result.tasks) == ["hold", "hold-2", "x", "x-2", "hold-3"]
    assert list(session.tasks) == ["hold", "hold-2", "x", "x-2", "hold-3"]


def test_name_of_an_ended_task_is_free_for_the_next_script(session) -> None:
    for _ in range(3):
        session.run("$x = async add(a=1)")
        assert session.wait(10)
    assert list(session.tasks) == ["x"]


def test_task_is_awaitable_and_a_waiter_that_gives_up_does_not_stop_it(session, gate: Gate) -> None:
    task = session.run("async hold()").value

    async def main() -> object:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(_wait(task), 0.02)
        assert task.state == "running"
        gate.go.set()
        return await task

    assert asyncio.run(main()) == "held"
    assert asyncio.run(_wait(task)) == "held"


async def _wait(task: object) -> object:
    return await task  # type: ignore[misc]


def test_result_of_a_running_task_times_out_and_the_task_goes_on(session, gate: Gate) -> None:
    task = session.run("async hold()").value
    with pytest.raises(TimeoutError):
        task.result(0.01)
    gate.go.set()
    assert task.result(10) == "held"


def test_result_and_await_raise_the_tasks_error(session) -> None:
    task = session.run("async fail()").value
    with pytest.raises(nit.NitToolError) as caught:
        task.result(10)
    with pytest.raises(nit.NitToolError) as awaited:
        asyncio.run(_wait(task))
    assert caught.value is awaited.value is task.error


def test_task_of_python_may_be_put_into_the_table_and_read_by_scripts(session, gate: Gate) -> None:
    task = session.run("async hold(value=7)").value
    session.variables["later"] = task
    gate.go.set()
    assert session.run("add(a=$later)").value == 8


def test_async_calls_of_plain_functions_go_to_the_executor() -> None:
    def where() -> str:
        return threading.current_thread().name

    async def coroutine() -> str:
        return threading.current_thread().name

    with (
        ThreadPoolExecutor(2, thread_name_prefix="mine") as executor,
        nit.Session(tools=[make_tool(where), make_tool(coroutine)], executor=executor) as session,
    ):
        result = session.run("$a = async where()\n$b = async coroutine()\n[$a, $b, where()]")
    there, on_loop, here = result.value
    assert there.startswith("mine")
    assert (on_loop, here) == ("nit-loop", threading.current_thread().name)


class Recording(Executor):
    """An executor that is no thread pool: it gets bare functions, as a cluster would."""

    def __init__(self) -> None:
        self.submitted: list[object] = []

    def submit(self, fn, /, *args, **kwargs):
        self.submitted.append(fn)
        future: Future[object] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except BaseException as error:
            future.set_exception(error)
        return future


def test_another_executor_gets_the_bare_function_and_its_arguments() -> None:
    def double(n: int) -> int:
        return 2 * n

    def fail() -> None:
        raise ValueError("far away")

    executor = Recording()
    with nit.Session(tools=[make_tool(double), make_tool(fail)], executor=executor) as session:
        result = session.run("$a = async double(n=double(n=2))\n$b = async fail()\n$a")
        assert session.wait(10)
    assert result.value == 8
    sent = [(f.func, f.keywords) for f in executor.submitted if f.func is double]
    assert sent == [(double, {"n": 2}), (double, {"n": 4})]
    assert [f.func for f in executor.submitted if f.func is not double] == [fail]
    assert session.tasks["b"].error.message == "`fail` raised ValueError: far away"


def test_executor_that_refuses_work_fails_the_task() -> None:
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    with nit.Session(tools=[make_tool(lambda: 1, name="one")], executor=executor) as session:
        task = session.run("async one()").value
        assert session.wait(10)
        assert (task.state, task.error.code) == ("failed", "NIT504")
        assert session.take_ended() == (task,)


def test_script_of_plain_functions_starts_no_thread() -> None:
    before = threading.active_count()
    with nit.Session(tools=[make_tool(lambda: 1, name="one")]) as session:
        session.run("$a = one()\n$b = one()")
        assert threading.active_count() == before


def test_a_thousand_async_calls_all_end() -> None:
    with nit.Session(tools=[make_tool(lambda n: n, name="same")]) as session:
        script = "\n".join(f"$t{n % 500} = async same(n={n})" for n in range(1000))
        result = session.run(script)
        assert session.wait(30)
        assert [task.state for task in result.tasks.values()] == ["done"] * 1000
        assert [call.value for call in result.calls] == list(range(1000))
