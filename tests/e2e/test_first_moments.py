"""Beginnings and ends: how a kernel starts, answers first, is asked by TAB, and goes."""

import subprocess
import sys
import time

import pytest
from kernel_driver import NIT, STOCK, Kernel
from kernel_tools import TOOLS, start

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(120)]


@pytest.mark.parametrize("kind", [NIT, STOCK])
def test_an_option_error_in_the_very_first_cell_gets_its_reply(kind):
    with Kernel(kind) as kernel:
        if kind == STOCK:
            kernel.run("%load_ext nit_kernel", store_history=False)
        cell = kernel.run("%%nit --nope\nx()\n", timeout=10)

    assert cell.status == "error"
    assert "has no option `--nope`" in cell.stderr


def test_the_first_cell_may_be_of_nit_and_loads_no_widgets():
    with Kernel(NIT) as kernel:
        cell = kernel.run("%%nit\n[1, 2]\n")
        loaded = kernel.run("import sys; 'ipywidgets' in sys.modules, 'openai' in sys.modules")

    assert cell.result == "[1, 2]"
    assert loaded.result == "(False, False)"


def test_a_bare_block_runs_in_the_nit_kernel_only():
    with Kernel(NIT) as kernel:
        cell = kernel.run("<nit>\n$a = [1]\n$a\n</nit>")
        faulty = kernel.run("<nit>\n$a = [1]\n$b\n</nit>")
        history = kernel.run("In[1]; _i1").result
    with Kernel(STOCK) as stock:
        stock.run("%load_ext nit_kernel")
        plain = stock.run("<nit>\n[1]\n</nit>")

    assert cell.result == "[1]"
    assert "line 3" in faulty.error
    assert history == repr("<nit>\n$a = [1]\n$a\n</nit>")
    assert plain.error_name == "SyntaxError"


@pytest.mark.parametrize("script", ["doze(seconds=60)", "async doze(seconds=60)"])
def test_a_kernel_with_running_tools_ends_at_once(plugin_folder, script):
    with start(NIT, plugin_folder) as kernel:
        kernel.send(f"%%nit\nasync sleep_in_plugin(seconds=60)\n{script}\n")
        kernel.pump(1.0)

        seconds = kernel.shutdown()

    assert seconds < 3


def test_a_kernel_with_a_busy_cell_ends_at_once(plugin_folder):
    with start(NIT, plugin_folder) as kernel:
        kernel.send("%%nit\nnap(seconds=60)\n")
        kernel.pump(1.0)

        seconds = kernel.shutdown()

    assert seconds < 3


@pytest.mark.parametrize("kind", [NIT, STOCK])
def test_tab_answers_in_a_cell_of_nit(kind, plugin_folder):
    with start(kind, plugin_folder) as kernel:
        started = time.monotonic()
        first = kernel.complete("%%nit\n$x = ad")
        first_seconds = time.monotonic() - started
        kernel.run("%%nit\n$context = add(a=1)\n")
        kernel.run("context_of_mine = 1")
        variables = kernel.complete("%%nit\necho(msg=$con")
        arguments = kernel.complete("%%nit\nchatter(n=3, ")
        options = kernel.complete("%%nit --qu")
        commands = kernel.complete("%nit va")
        python = kernel.complete("%%time\nkernel_of = zi")

    assert first["matches"] == ["add"]
    assert first_seconds < 2
    assert variables["matches"] == ["$context", "$context_of_mine"]
    assert (variables["cursor_start"], variables["cursor_end"]) == (15, 19)
    assert arguments["matches"][:2] == ["pause=", "word="]
    assert options["matches"] == ["--quiet"]
    assert "vars" in commands["matches"]
    assert "zip" in python["matches"]


@pytest.mark.parametrize("kind", [NIT, STOCK])
def test_inspection_tells_of_tools_and_variables(kind, plugin_folder):
    with start(kind, plugin_folder) as kernel:
        kernel.run("%%nit\n$a = echo(msg='<b>')\n")
        tool = kernel.inspect("%%nit\necho(msg=$a)", 8)
        variable = kernel.inspect("%%nit\necho(msg=$a)", 17)
        plain = kernel.inspect("zip", 2)

    assert "echo(msg: str" in tool["data"]["text/plain"]
    assert "Give a text back." in tool["data"]["text/plain"]
    assert "$a: String" in variable["data"]["text/plain"]
    assert "<b>" not in variable["data"]["text/html"]
    assert plain["found"]


def test_after_a_restart_nothing_is_left_of_before(plugin_folder):
    with start(NIT, plugin_folder) as kernel:
        kernel.run("%%nit\n$a = echo(msg='1')\n")
    with start(NIT, plugin_folder) as again:
        cell = again.run("%%nit\necho(msg=$a)\n")

    assert cell.error_name == "NitCheckError"
    assert "`$a`" in cell.error


def test_unloading_leaves_the_shell_as_it_was():
    with Kernel(STOCK) as kernel:
        state = (
            "ip = get_ipython()\n"
            "str((len(ip.input_transformers_post),"
            " len(ip.input_transformer_manager.cleanup_transforms),"
            " {k: len(v) for k, v in ip.events.callbacks.items()},"
            " sum(type(c).__name__ == 'NitMagics' for c in ip.configurables),"
            " len(ip.Completer.custom_matchers), sorted(vars(ip.kernel).keys() & {'do_inspect'}),"
            " sorted(vars(ip.displayhook).keys() & {'compute_format_data'}),"
            " 'nit' in globals(), 'nit' in ip.magics_manager.magics['cell']))"
        )
        before = kernel.run(state).result
        kernel.run("%load_ext nit_kernel")
        kernel.run(TOOLS)
        kernel.run("%%nit\n$a = add(a=1)\n$t = async doze(seconds=60)\n")
        loaded = kernel.run(state).result
        kernel.run("%unload_ext nit_kernel")
        after = kernel.run(state).result
        kept = kernel.run("a").result
        gone = kernel.run("%%nit\nx()\n")
        kernel.run("%load_ext nit_kernel")
        again = kernel.run("%%nit\n[1]\n")
        threads = kernel.run(
            "import threading; sum(t.name == 'nit-loop' for t in threading.enumerate())"
        )

    assert before == after != loaded
    assert kept == "2"
    assert "not found" in gone.stderr
    assert again.result == "[1]"
    assert threads.result in ("0", "1")


def test_reloading_keeps_the_tools_and_runs_each_once():
    with Kernel(NIT) as kernel:
        kernel.run(TOOLS)
        kernel.run("calls = []\n@nit.tool\ndef count() -> int:\n    calls.append(1)\n    return 1")
        kernel.run("%load_ext nit_kernel")
        kernel.run("%reload_ext nit_kernel")
        cell = kernel.run("%%nit\n$a = count()\n$b = echo(msg='1')\n")
        calls = kernel.run("len(calls), a, b")

    assert cell.status == "ok", cell.text
    assert calls.result == "(1, 1, '1')"


def test_changed_plugins_are_loaded_again(tmp_path):
    folder = tmp_path / "greet"
    folder.mkdir()
    described = '[{"commandIdentifier": "greet", "description": "Greet.", "parameter": "name"}]'
    schema = (
        '[{"type": "function", "function": {"name": "greet", "description": "Greet.",'
        ' "parameters": {"type": "object", "properties": {"name": {"type": "string"}}}}}]'
    )
    (folder / "description.json").write_text(described, encoding="utf-8")
    (folder / "schema.json").write_text(schema, encoding="utf-8")
    code = folder / "greet.py"
    code.write_text("def greet(name):\n    return 'hello ' + name\n", encoding="utf-8")
    with Kernel(NIT, env={"NIT_PLUGIN_PATH": str(tmp_path)}) as kernel:
        first = kernel.run("%%nit\ngreet(name='Ada')\n").result
        code.write_text("def greet(name):\n    return 'good day ' + name\n", encoding="utf-8")
        reloaded = kernel.run("%nit reload")
        second = kernel.run("%%nit\ngreet(name='Ada')\n").result
        code.write_text("def greet(name:\n", encoding="utf-8")
        broken = kernel.run("%nit reload")

    assert (first, second) == ("hello Ada", "good day Ada")
    assert "greet" in reloaded.text
    assert "failed" in broken.text


def test_nothing_of_ours_touches_the_lock_of_the_kernel():
    found = subprocess.run(
        [
            sys.executable,
            "-c",
            "import nit_kernel, pathlib; print(pathlib.Path(nit_kernel.__file__).parent)",
        ],
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    from pathlib import Path

    sources = Path(found.stdout.strip()).rglob("*.py")
    assert not [p for p in sources if "_main_asyncio_lock" in p.read_text(encoding="utf-8")]
