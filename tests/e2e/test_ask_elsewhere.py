"""`%%ask` where there is no page: headless runs, terminals, consoles, subshells."""

import re

import nbformat
import pytest
from asking import FREE, run, talking, words
from kernel_driver import without_colors
from kernel_tools import TOOLS
from nbclient import NotebookClient

from nit_kernel.testing import FakeModel, Script, openai_server

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(120)]


def executed(*cells, tmp_path):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
    client = NotebookClient(
        notebook,
        kernel_name="nit",
        timeout=60,
        resources={"metadata": {"path": str(tmp_path)}},
    )
    client.execute()
    nbformat.validate(notebook)
    return notebook


def test_a_headless_run_saves_the_whole_answer(tmp_path):
    turns = [
        ["Adding.\n", Script("$x = add(a=1)\n$late = async doze(seconds=0.5)")],
        "It is 2.",
    ]
    with openai_server(FakeModel(turns)) as server:
        setup = (
            f"import os; os.environ['OPENAI_BASE_URL'] = {server.base_url!r}\n"
            f"get_ipython().run_line_magic('config', 'NitMagics.codec=\"nit\"')\n{FREE}"
        )
        notebook = executed(setup, "%%ask\nadd", "(x, nit.tasks['late'].state)", tmp_path=tmp_path)
    outputs = notebook.cells[1].outputs
    shown = [o.data for o in outputs if "text/markdown" in o.get("data", {})]

    assert [bundle["text/plain"] for bundle in shown] == ["Adding.\n\nIt is 2."]
    assert notebook.cells[2].outputs[0].data["text/plain"] == "(2, 'done')"


def test_a_headless_run_refuses_what_nobody_allowed(tmp_path):
    turns = [[Script("$x = add(a=1)")], "Not allowed, then."]
    with openai_server(FakeModel(turns)) as server:
        setup = (
            f"import os; os.environ['OPENAI_BASE_URL'] = {server.base_url!r}\n"
            f"get_ipython().run_line_magic('config', 'NitMagics.codec=\"nit\"')\n{TOOLS}"
        )
        notebook = executed(setup, "%%ask\nadd", "'x' in globals()", tmp_path=tmp_path)
    text = str(notebook.cells[1].outputs)

    assert "c.NitMagics.confirm" in text
    assert "Not allowed, then." in text
    assert notebook.cells[2].outputs[0].data["text/plain"] == "False"


def test_a_console_gets_the_words_as_they_come(plugin_folder):
    turns = (["Adding.\n", Script("$x = add(a=1)")], "It is <b>2</b>.")
    with talking(plugin_folder, *turns) as (kernel, _):
        kernel.is_complete("%%ask")
        cell = run(kernel, "%%ask\nadd\n")
        after = kernel.run("x")

    assert cell.displays == []
    shown = without_colors(cell.stdout)
    assert re.sub(r"\d[\d,]* \+ .*", "COST", shown) == (
        "Adding.\n(script 1)\n  | $x = add(a=1)\n  $x = 2\nIt is <b>2</b>.\nCOST\n"
    )
    assert after.result == "2"


def test_in_a_subshell(plugin_folder):
    turns = (["Adding.\n", Script("$x = add(a=1)")], "It is 2.")
    with talking(plugin_folder, *turns) as (kernel, _):
        cell = kernel.run_in_subshell("%%ask\nadd\n")
        after = kernel.run("x")

    assert cell.status == "ok", cell.text
    assert words(cell) == "Adding.\n\nIt is 2."
    assert after.result == "2"


def test_tab_in_a_message(plugin_folder):
    with talking(plugin_folder) as (kernel, _):
        kernel.run("my_table = 1")
        options = kernel.complete("%%ask --")
        names = kernel.complete("%%ask\nlook at {my_t")

    assert options["matches"] == ["--model", "--codec", "--fresh", "--dry-run", "--out"]
    assert names["matches"] == ["my_table"]
