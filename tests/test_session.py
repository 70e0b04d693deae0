"""What `Session` promises to whoever calls it: run, arun, prepare, results, the end."""

import asyncio
import dataclasses
import gc
import threading

import pytest
from runtime.making import Gate, make_tool

import nit_kernel as nit


def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


def fail(message: str = "no luck") -> None:
    """Fail."""
    raise ValueError(message)


ADD = nit.Tool(
    "add",
    "Add two numbers.",
    {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "required": ["a"],
    },
    add,
    side_effects="none",
)


@pytest.fixture
def session():
    with nit.Session(tools=[ADD, make_tool(fail)]) as session:
        yield session


def test_run_gives_value_variables_and_calls(session: nit.Session) -> None:
    result = session.run("$x = add(a=1, b=2)\n$x")
    assert (result.ok, result.value, result.variables, result.error) == (True, 3, {"x": 3}, None)
    assert result.diagnostics == ()
    (call,) = result.calls
    shown = dataclasses.replace(call, started=0.0, seconds=0.0, span=result.script.span(0, 1))
    assert shown == nit.Call(
        name="add",
        arguments={"a": 1, "b": 2},
        status="ok",
        value=3,
        error=None,
        started=0.0,
        seconds=0.0,
        span=result.script.span(0, 1),
    )
    assert (call.span.start, call.span.end) == (5, 18)
    assert call.started > 1_700_000_000
    assert call.seconds >= 0


def test_arun_gives_the_same_as_run(session: nit.Session) -> None:
    script = "$x = add(a=1, b=2)\n$y = add(a=$x)\n[$x, $y]"
    blocking = session.run(script)
    awaited = asyncio.run(session.arun(script))
    for result in (blocking, awaited):
        assert (result.value, result.variables) == ([3, 4], {"x": 3, "y": 4})
        assert [(call.name, call.arguments, call.value) for call in result.calls] == [
            ("add", {"a": 1, "b": 2}, 3),
            ("add", {"a": 3}, 4),
        ]


def test_run_works_inside_a_running_event_loop(session: nit.Session) -> None:
    async def answer() -> int:
        await asyncio.sleep(0)
        return 7

    async def main() -> object:
        return session.run("answer()").value

    session.add_tool(make_tool(answer))
    assert asyncio.run(main()) == 7


def test_failing_call_ends_the_script_and_keeps_what_was_bound(session: nit.Session) -> None:
    result = session.run("$a = add(a=1)\n$b = fail()\n$c = add(a=5)")
    assert not result.ok
    assert result.value is None
    assert result.variables == {"a": 2}
    assert dict(session.variables) == {"a": 2}
    assert [(call.name, call.status) for call in result.calls] == [
        ("add", "ok"),
        ("fail", "failed"),
    ]
    error = result.error
    assert isinstance(error, nit.NitToolError)
    assert (error.code, error.message) == ("NIT501", "`fail` raised ValueError: no luck")
    assert isinstance(error.__cause__, ValueError)
    assert (error.span.line, error.span.column) == (2, 6)
    assert result.diagnostics == error.diagnostics


def test_failing_statement_leaves_its_variable_as_it_was(session: nit.Session) -> None:
    session.run("$x = 5")
    session.run("$x = fail()")
    assert session.variables["x"] == 5


def test_run_raises_only_when_it_is_asked_to(session: nit.Session) -> None:
    assert not session.run("fail()").ok
    with pytest.raises(nit.NitToolError):
        session.run("fail()", check=True)
    with pytest.raises(nit.NitCheckError):
        session.run("nothing_of_this_name()", check=True)
    with pytest.raises(nit.NitSyntaxError):
        session.run("add(", check=True)
    with pytest.raises(nit.NitToolError):
        asyncio.run(session.arun("fail()", check=True))


def test_script_with_an_error_runs_nothing(session: nit.Session) -> None:
    result = session.run("$a = add(a=1)\nadd(a=$nowhere)\nad(a=2)")
    assert (result.ok, result.calls, result.variables) == (False, (), {})
    assert isinstance(result.error, nit.NitCheckError)
    assert len(result.diagnostics) == 2
    assert dict(session.variables) == {}


def test_prepare_runs_nothing_and_tells_the_tools_in_call_order(session: nit.Session) -> None:
    prepared = session.prepare("$x = add(a=add(a=1))\nfail()")
    assert (prepared.ok, prepared.error, dict(session.variables)) == (True, None, {})
    assert [(tool.name, span.start) for tool, span in prepared.tools] == [
        ("add", 11),
        ("add", 5),
        ("fail", 21),
    ]


def test_prepared_script_runs_as_often_as_one_likes(session: nit.Session) -> None:
    def spoil(rows: list[int]) -> list[int]:
        rows.append(99)
        return rows

    session.add_tool(make_tool(spoil))
    prepared = session.prepare("$r = spoil(rows=[1, 2])")
    assert [session.run(prepared).variables for _ in range(2)] == [{"r": [1, 2, 99]}] * 2


def test_prepared_script_is_checked_anew_when_the_tools_changed(session: nit.Session) -> None:
    prepared = session.prepare("add(a=1)")
    session.registry.disable("notebook", "add")
    result = session.run(prepared)
    assert isinstance(result.error, nit.NitCheckError)


def test_values_passed_in_are_read_and_not_kept(session: nit.Session) -> None:
    session.variables["n"] = 1
    assert session.run("add(a=$n)", variables={"n": 5}).value == 6
    assert dict(session.variables) == {"n": 1}


def test_assigning_a_name_that_was_passed_in_binds_it_in_the_session(session: nit.Session) -> None:
    result = session.run("$n = add(a=$n)\n$n = add(a=$n)", variables={"n": 5})
    assert (result.variables, dict(session.variables)) == ({"n": 7}, {"n": 7})


def test_namespace_is_read_last_and_lazily(session: nit.Session) -> None:
    asked: list[str] = []

    class Namespace(dict[str, object]):
        def __getitem__(self, name: str) -> object:
            asked.append(name)
            return super().__getitem__(name)

    namespace = Namespace(a=10, b=20, c=30)
    session.variables["a"] = 1
    assert session.run("[$a, $b]", namespace=namespace).value == [1, 20]
    assert asked == ["b"]
    assert dict(session.variables) == {"a": 1}


def test_script_of_a_model_sees_the_symbol_table_only(session: nit.Session) -> None:
    session.variables["shared"] = 1
    namespace = {"secret": 2}
    assert session.run("$shared", namespace=namespace, origin="model").value == 1
    for seen in ({"namespace": namespace}, {"variables": namespace}):
        result = session.run("$secret", origin="model", **seen)
        assert isinstance(result.error, nit.NitCheckError)


def test_variables_live_until_reset(session: nit.Session) -> None:
    session.run("$x = add(a=1)")
    assert session.run("add(a=$x)").value == 3
    session.variables["y"] = "from Python"
    assert session.run("$y").value == "from Python"
    session.reset()
    assert not session.run("$x").ok
    assert session.run("add(a=1)").value == 2


def test_script_of_nothing_is_null(session: nit.Session) -> None:
    results = [session.run(text) for text in ("", "\n \n", "# only words\n", "<nit></nit>")]
    assert [(result.ok, result.value, result.variables, result.calls) for result in results] == [
        (True, None, {}, ())
    ] * 4


@pytest.mark.parametrize("kind", [SystemExit, GeneratorExit, StopIteration, RecursionError])
def test_whatever_a_tool_raises_is_its_failure(
    session: nit.Session, kind: type[BaseException]
) -> None:
    def explode() -> None:
        raise kind("boom")

    async def explode_async() -> None:
        raise RuntimeError("async boom")

    session.add_tool(make_tool(explode))
    session.add_tool(make_tool(explode_async))
    session.add_tool(make_tool(explode, name="explode_far", thread="worker"))
    for script in ("explode()", "explode_far()", "$t = async explode()\n[$t]", "explode_async()"):
        result = session.run(script)
        assert isinstance(result.error, nit.NitToolError), script
    assert session.run("add(a=1)").ok


def test_error_whose_text_cannot_be_read_is_still_an_error(session: nit.Session) -> None:
    class Odd(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    def odd() -> None:
        raise Odd

    session.add_tool(make_tool(odd))
    assert session.run("odd()").error.message == "`odd` raised Odd: (its text cannot be read)"


def test_text_of_an_error_is_one_line_and_short(session: nit.Session) -> None:
    session.variables["long"] = "line\n" * 100_000
    message = session.run("fail(message=$long)").error.message
    assert len(message) < 600
    assert "\n" not in message


def test_full_table_refuses_before_the_call_is_made() -> None:
    made = []
    with nit.Session(
        tools=[make_tool(lambda: made.append(1), name="work")], limits=nit.Limits(variables=2)
    ) as session:
        result = session.run("$a = 1\n$b = 2\n$a = 3\n$c = work()")
        assert isinstance(result.error, nit.NitLimitError)
        assert (result.error.code, result.error.span.line) == ("NIT403", 4)
        assert (made, dict(session.variables)) == ([], {"a": 3, "b": 2})


def test_native_call_takes_values_as_they_are(session: nit.Session) -> None:
    got = []
    session.add_tool(make_tool(lambda **named: got.append(named), name="take-all"))
    arguments = {"from": "$x <nit>", "a b": [1, {"c": None}], "deep": {"k": 'say "hi"\n'}}
    prepared = session.prepare_call("take-all", arguments)
    assert session.run(prepared).ok
    assert got == [arguments]
    assert [tool.name for tool, _ in prepared.tools] == ["take-all"]


def test_native_call_of_an_unknown_tool_is_a_check_error(session: nit.Session) -> None:
    assert isinstance(session.run(session.prepare_call("nope", {})).error, nit.NitCheckError)
    assert isinstance(session.run(session.prepare_call("add", {"z": 1})).error, nit.NitCheckError)


def test_tools_are_python_functions_with_the_coercion_of_scripts(session: nit.Session) -> None:
    tools = session.tools
    assert (tools.add(a="1", b=2.0), tools.add(1, 2), tools["add"](a=1), tools.notebook.add(4)) == (
        3,
        3,
        2,
        5,
    )
    assert list(tools) == ["add", "fail"]
    assert {"add", "fail", "help", "notebook"} <= set(dir(tools))
    with pytest.raises(nit.NitRuntimeError):
        tools.add(a="one")
    with pytest.raises(nit.NitCheckError):
        tools.add(1, 2, 3)
    with pytest.raises(nit.NitCheckError):
        tools.add(b=1)
    with pytest.raises(AttributeError, match="did you mean `add`"):
        tools.ad(1)
    with pytest.raises(nit.NitToolError) as caught:
        tools.fail()
    assert isinstance(caught.value.__cause__, ValueError)


def test_coroutine_tool_is_awaitable_from_python(session: nit.Session) -> None:
    async def whoami(prefix: str) -> str:
        await asyncio.sleep(0)
        return prefix + threading.current_thread().name

    session.add_tool(make_tool(whoami))

    async def main() -> object:
        return await session.tools.whoami(prefix="on ")

    assert asyncio.run(main()) == "on nit-loop"


def test_help_returns_the_whole_description(session: nit.Session) -> None:
    text = session.run('help("add")').value
    assert text.splitlines()[:3] == ["add(a: int, b: int = null)", "", "Add two numbers."]
    assert "has no side effects" in text
    assert "add(" in session.run("help()").value
    assert session.tools.help("add") == text
    result = session.run('help("ad")')
    assert "did you mean `add`?" in result.error.message


def test_close_twice_is_safe_and_a_closed_session_says_so() -> None:
    session = nit.Session(tools=[ADD])
    session.close()
    session.close()
    with pytest.raises(nit.NitError) as caught:
        session.run("add(a=1)")
    assert caught.value.code == "NIT406"


def test_leaving_the_session_cancels_its_background_tasks() -> None:
    async def linger() -> None:
        await asyncio.sleep(60)

    with nit.Session(tools=[make_tool(linger)]) as session:
        task = session.run("$t = async linger()").value
    assert task.state == "cancelled"

    async def main() -> str:
        async with nit.Session(tools=[make_tool(linger)]) as session:
            task = (await session.arun("$t = async linger()")).value
        return task.state

    assert asyncio.run(main()) == "cancelled"


def test_closers_run_last_come_first_while_the_loop_still_lives() -> None:
    order = []

    async def clean() -> None:
        order.append("loop")

    with nit.Session() as session:
        session.on_close(lambda: session.loop.submit(clean).result(5))
        session.on_close(lambda: order.append("last"))
    assert order == ["last", "loop"]


def test_wait_returns_when_no_background_task_runs(session: nit.Session) -> None:
    gate = Gate()
    session.add_tool(make_tool(gate.hold))
    session.run("async hold()")
    assert gate.begun.wait(5)
    assert not session.wait(timeout=0.01)
    gate.go.set()
    assert session.wait(timeout=10)
    assert asyncio.run(session.await_tasks(timeout=10))


def test_a_tool_may_run_a_script_of_its_own_session(session: nit.Session) -> None:
    session.add_tool(make_tool(lambda: session.run("$inner = add(a=1)").value, name="outer"))
    assert session.run("$x = outer()").variables == {"x": 2}
    assert dict(session.variables) == {"inner": 2, "x": 2}


def test_coroutine_tool_may_await_a_script_of_its_own_session(session: nit.Session) -> None:
    async def outer() -> object:
        return (await session.arun("inner()")).value

    async def inner() -> int:
        return 5

    async def blocking() -> object:
        return session.run("inner()", check=True).value

    for function in (outer, inner, blocking):
        session.add_tool(make_tool(function))
    assert session.run("outer()").value == 5
    assert "use `await session.arun`" in session.run("blocking()").error.message


def test_scripts_run_in_several_threads_at_once(session: nit.Session) -> None:
    meet = threading.Barrier(4)
    session.add_tool(make_tool(lambda n: (meet.wait(10), n)[1], name="meet"))
    results: list[object] = []
    threads = [
        threading.Thread(
            target=lambda n=n: results.append(session.run(f"$v{n} = meet(n={n})").value)
        )
        for n in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert sorted(results) == [0, 1, 2, 3]
    assert sorted(session.variables) == ["v0", "v1", "v2", "v3"]


def test_parse_check_and_format_stand_alone() -> None:
    script = nit.parse("$x = add(a=1)")
    assert (len(script), script.ok) == (1, True)
    with pytest.raises(nit.NitSyntaxError) as caught:
        nit.parse("add(a=")
    assert isinstance(caught.value, SyntaxError)
    assert caught.value.lineno == 1
    assert [item.severity for item in nit.check("ad(a=1)", [ADD])] == ["error"]
    with nit.Session(tools=[ADD]) as session:
        assert nit.check("add(a=1)", session) == ()
    assert nit.format("$x=add( a=1 )") == "$x = add(a=1)\n"


def test_session_that_is_forgotten_takes_its_loop_with_it() -> None:
    async def answer() -> int:
        return 7

    session = nit.Session(tools=[make_tool(answer)])
    assert session.run("answer()").value == 7
    (loop,) = [thread for thread in threading.enumerate() if thread.name == "nit-loop"]
    del session
    gc.collect()
    loop.join(10)
    assert not loop.is_alive()


def test_returning_an_interrupt_leaves_the_awaiting_task_uncancelled(session: nit.Session) -> None:
    begun = threading.Event()

    async def linger() -> None:
        begun.set()
        await asyncio.sleep(60)

    async def main() -> tuple[object, int]:
        script = asyncio.create_task(inner())
        while not begun.is_set():
            await asyncio.sleep(0.001)
        script.cancel()
        return await script

    async def inner() -> tuple[object, int]:
        result = await session.arun("linger()", on_interrupt="return")
        await asyncio.sleep(0)
        return result.error, asyncio.current_task().cancelling()

    session.add_tool(make_tool(linger))
    error, cancelling = asyncio.run(main())
    assert isinstance(error, nit.NitCancelledError)
    assert cancelling == 0


def test_time_limit_around_an_awaited_script_works_as_asyncio_says(session: nit.Session) -> None:
    async def linger() -> None:
        await asyncio.sleep(60)

    async def main() -> None:
        async with asyncio.timeout(0.05):
            await session.arun("$a = 1\nlinger()")

    session.add_tool(make_tool(linger))
    with pytest.raises(TimeoutError):
        asyncio.run(main())
    assert session.run("$a").value == 1


def test_public_names_are_those_of_the_package() -> None:
    import nit_kernel

    assert sorted(nit_kernel.__all__) == nit_kernel.__all__
    missing = [name for name in nit_kernel.__all__ if not hasattr(nit_kernel, name)]
    assert missing == []
    assert set(nit_kernel._PLACES) == set(nit_kernel.__all__)
    with pytest.raises(AttributeError):
        nit_kernel.nothing_of_this_name  # noqa: B018


@pytest.mark.parametrize("seconds", [0, -1.0, float("nan")])
def test_a_timeout_must_be_above_zero(seconds: float) -> None:
    with nit.Session() as session, pytest.raises(ValueError, match="timeout: wanted seconds above"):
        session.run("$a = 1", timeout=seconds)
