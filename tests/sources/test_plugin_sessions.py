"""Plugins as a script sees them."""

import asyncio
import multiprocessing
import os
import threading
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
from sources.folders import CODE, description, write_plugin

import nit_kernel as nit
from nit_kernel.sources.plugin_places import default_places
from nit_kernel.sources.scaffold import check_plugin, new_plugin


def run(session: nit.Session, script: str) -> object:
    return session.run(script, check=True).value


def problems(session: nit.Session, script: str) -> list[str]:
    return [f"{item.code} {item.message}" for item in session.prepare(script).diagnostics]


def test_the_protocols_own_example_runs_as_written(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from nit_kernel.runtime.surroundings import SeenCell, surroundings

    class Notebook:
        def recent_cells(self, count: int, /) -> list[SeenCell]:
            return [SeenCell(number=1, source="total = 42", outputs=("42",))]

    monkeypatch.delenv("DISPLAY", raising=False)
    script = (
        "$context = get_screen_content()\n"
        "$summary = summarize_text(content=$context)\n"
        'async notify_user(msg="正在分析屏幕内容...")\n'
    )
    with nit.Session(plugins=default_places()) as session:
        with surroundings(Notebook()):
            result = session.run(script, check=True)
        assert session.wait(10)
        assert result.diagnostics == ()
        context = session.variables["context"]
        assert isinstance(context, str)
        assert context.startswith(
            "Notebook, the last 1 cells with their outputs:\n\nIn [1]:\ntotal = 42"
        )
        summary = session.variables["summary"]
        assert isinstance(summary, str)
        assert summary.startswith("Summary (no model used; the whole text, ")
        assert [task.state for task in session.tasks.values()] == ["done"]
    assert "ℹ 正在分析屏幕内容..." in capfd.readouterr().err


def test_arguments_are_converted_by_the_schema(tmp_path: Path) -> None:
    with nit.Session(plugins=[write_plugin(tmp_path / "greeter")]) as session:
        assert run(session, 'greet(name=7, times="2")') == "hello 7 hello 7"
        assert problems(session, 'greet(nam="x")') != []
        assert problems(session, 'greet(name="x", times="many")') != []


def test_a_disabled_tool_is_reached_by_no_spelling(tmp_path: Path) -> None:
    code = CODE.replace("greet", "send_all")
    manifest = description("quiet", enabled=False)
    manifest["capabilities"]["invocationCommands"][0]["commandIdentifier"] = "send_all"
    folder = write_plugin(tmp_path / "quiet", manifest=manifest, schema=False, code=code)
    with nit.Session(plugins=[folder]) as session:
        for script in (
            "send_all(name=1)",
            "quiet.send_all(name=1)",
            'call("send_all", name=1)',
            'call("quiet.send_all", name=1)',
            "Send_All(name=1)",
            "sendall(name=1)",
            "SEND_ALL(name=1)",
            "Quiet.send_all(name=1)",
            "async send_all(name=1)",
            "$x = quiet.sendAll(name=1)",
        ):
            assert not session.prepare(script).ok, script
            assert session.run(script).calls == (), script
        assert "switched off" in " ".join(problems(session, "send_all(name=1)"))
        with pytest.raises(AttributeError):
            session.tools.send_all(name=1)


def test_a_script_is_told_why_a_tool_did_not_load(tmp_path: Path) -> None:
    requires = [{"import": "no_such_package_of_nit", "install": "nit-kernel[nothing]"}]
    folder = write_plugin(tmp_path / "poor", manifest=description("poor", requires=requires))
    with nit.Session(plugins=[folder]) as session:
        (problem,) = problems(session, 'greet(name="x")')
    assert 'pip install "nit-kernel[nothing]"' in problem


def test_a_tool_named_like_a_built_in_is_reached_by_its_plugin_only(tmp_path: Path) -> None:
    manifest = description("own")
    manifest["capabilities"]["invocationCommands"][0]["commandIdentifier"] = "call"
    code = CODE.replace("greet", "call")
    folder = write_plugin(tmp_path / "own", manifest=manifest, schema=False, code=code)
    with nit.Session(plugins=[folder]) as session:
        assert run(session, 'own.call(name="x")') == "hello x"
        assert not session.prepare('call(name="x")').ok
        assert run(session, 'call("own.call", name="x")') == "hello x"


def test_two_tools_of_one_name_are_both_reached_by_their_plugins(tmp_path: Path) -> None:
    write_plugin(tmp_path / "left", code=CODE.replace("hello", "left"))
    write_plugin(tmp_path / "right", code=CODE.replace("hello", "right"))
    with nit.Session(plugins=[tmp_path]) as session:
        assert run(session, 'left.greet(name="x")') == "left x"
        assert run(session, 'right.greet(name="x")') == "right x"
        (problem,) = session.prepare('greet(name="x")').diagnostics
    assert problem.message == "`greet` is the name of several tools"
    assert problem.hint is not None
    assert "`left.greet`" in problem.hint
    assert "`right.greet`" in problem.hint


def test_a_function_of_the_notebook_comes_before_a_plugin(tmp_path: Path) -> None:
    @nit.tool
    def greet(name: str) -> str:
        return f"notebook {name}"

    with nit.Session(tools=[greet], plugins=[write_plugin(tmp_path / "greeter")]) as session:
        assert run(session, 'greet(name="x")') == "notebook x"
        assert run(session, 'greeter.greet(name="x")') == "hello x"


def test_plain_functions_run_in_a_worker_and_coroutines_on_the_loop(tmp_path: Path) -> None:
    code = """
import threading
def greet(name, times=1): return threading.current_thread().name
"""
    loop_code = code.replace("def greet", "async def greet")
    write_plugin(tmp_path / "plain", code=code)
    write_plugin(tmp_path / "loop", code=loop_code)
    with nit.Session(plugins=[tmp_path]) as session:
        here = threading.current_thread().name
        plain = run(session, 'plain.greet(name="x")')
        loop = run(session, 'loop.greet(name="x")')
        assert loop == "nit-loop"
        assert plain not in (here, loop)


def test_generators_and_context_report_progress(tmp_path: Path) -> None:
    code = """
import nit_kernel as nit
def greet(name: str, ctx: nit.ToolContext, times: int = 1):
    ctx.log("begin")
    yield nit.Progress(0.5, "half")
    yield f"hello {name}"
"""
    seen: list[tuple[float | None, str]] = []

    class Observer:
        def on_event(self, event: object, /) -> None:
            if type(event).__name__ == "Progressed":
                seen.append((event.fraction, event.message))  # type: ignore[attr-defined]

    folder = write_plugin(tmp_path / "slow", code=code)
    with nit.Session(plugins=[folder], observer=Observer()) as session:
        assert run(session, 'greet(name="x")') == "hello x"
    assert seen == [(0.5, "half")]


def test_a_table_passes_from_a_query_to_a_chart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sales.csv").write_text("region,total\nnorth,5\nsouth,7\n", encoding="utf-8")
    monkeypatch.setenv("NIT_FILES_ROOT", str(tmp_path))
    with nit.Session(plugins=default_places()) as session:
        script = """
            $sales = query(sql="FROM 'sales.csv' ORDER BY total DESC")
            $more = query(
                sql="SELECT total * 2 AS t FROM s WHERE total > $low",
                tables={s: $sales}, values={low: 5},
            )
            $rows = query(sql="SELECT sum(a) AS a FROM t", tables={t: [{a: 1}, {a: 2}]})
            $chart = chart(table=$sales, x="region", y="total", kind="bar")
            $first = $sales[0]
        """
        result = session.run(script, check=True)
        assert result.ok
        variables = session.variables
        assert variables["more"].to_dict("records") == [{"t": 14}]  # type: ignore[attr-defined]
        assert variables["rows"].to_dict("records") == [{"a": 3}]  # type: ignore[attr-defined]
        assert repr(variables["chart"]) == "<Chart: bar of total by region, 2 rows>"


def test_a_reloaded_plugin_answers_anew(tmp_path: Path) -> None:
    folder = write_plugin(tmp_path / "greeter")
    with nit.Session(plugins=[folder]) as session:
        assert run(session, 'greet(name="x")') == "hello x"
        (folder / "code.py").write_text(CODE.replace("hello", "HELLO"), encoding="utf-8")
        assert session.reload_plugins() == ("loaded again: greeter",)
        assert run(session, 'greet(name="x")') == "HELLO x"


def test_a_new_plugin_works_and_its_own_test_passes(tmp_path: Path) -> None:
    folder = new_plugin("weather", tmp_path)
    assert sorted(part.name for part in folder.iterdir()) == [
        "README.md",
        "description.json",
        "schema.json",
        "test_weather.py",
        "weather.py",
    ]
    assert check_plugin(folder) == []
    with nit.Session(plugins=[folder]) as session:
        assert run(session, 'weather_greet(who="Ada", times=2)') == "Hello Ada! Hello Ada!"
    assert (
        pytest.main(["-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), str(folder)]) == 0
    )


def test_a_new_plugin_is_loaded_as_its_readme_says(tmp_path: Path) -> None:
    folder = new_plugin("weather", tmp_path)
    readme = (folder / "README.md").read_text(encoding="utf-8")
    assert 'nit.session.load_plugins(["/path/to/this/folder"])' in readme
    with nit.Session() as session:
        assert session.load_plugins([str(folder)]) == ()
        assert run(session, 'weather_greet(who="Ada")') == "Hello Ada!"


@pytest.mark.parametrize(
    "name", ["", "my-plugin", "2fast", "__x", "for", "a.b", "../x", "notebook", "x y"]
)
def test_a_name_that_is_none_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(nit.PluginError, match="cannot be called"):
        new_plugin(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_plugin_that_is_there_is_not_written_over(tmp_path: Path) -> None:
    new_plugin("weather", tmp_path)
    with pytest.raises(nit.PluginError, match="is there already"):
        new_plugin("weather", tmp_path)


def test_checking_a_plugin_lists_its_faults(tmp_path: Path) -> None:
    folder = write_plugin(tmp_path / "bad", code="1 / 0")
    assert [fault.code for fault in check_plugin(folder)] == ["NIT558"]
    assert [fault.code for fault in check_plugin(tmp_path / "gone")] == ["NIT550"]


def test_a_plain_function_can_be_sent_to_another_process(tmp_path: Path) -> None:
    code = """
import os
from . import words
def greet(name: str, times: int = 1) -> list:
    return [os.getpid(), f"{words.HELLO} {name}"]
"""
    folder = write_plugin(tmp_path / "far", code=code, files={"words.py": "HELLO = 'hello'"})
    # A process that is started anew knows nothing of this one's modules.
    workers = ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))
    with workers, nit.Session(plugins=[folder], executor=workers) as session:
        first = run(session, '$a = async greet(name="x")\n$a')
        assert isinstance(first, list)
        assert first[1] == "hello x"
        assert first[0] != os.getpid()
        (folder / "words.py").write_text("HELLO = 'HELLO'", encoding="utf-8")
        session.reload_plugins()
        assert run(session, '$a = async greet(name="x")\n$a[1]') == "HELLO x"


def test_a_coroutine_of_a_plugin_can_be_awaited_from_python(tmp_path: Path) -> None:
    folder = new_plugin("weather", tmp_path)
    with nit.Session(plugins=[folder]) as session:
        assert asyncio.run(session.arun('weather_greet(who="A")')).value == "Hello A!"
