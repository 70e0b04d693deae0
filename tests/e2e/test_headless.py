"""Notebooks that nobody watches: what is saved is complete, and waits are bounded."""

import json
import subprocess
import sys

import nbformat
import pytest
from kernel_tools import TOOLS
from lab import write_notebook
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(120)]

PROGRESS = (
    "@nit.tool\nasync def steps(n: int, ctx: nit.ToolContext) -> str:\n"
    "    for i in range(n):\n        ctx.progress((i + 1) / n, f'step {i + 1} of {n}')\n"
    "        print('tick', i)\n        await asyncio.sleep(0.1)\n    return 'all done'"
)


def execute(*cells, kernel="nit", cwd=None, **options):
    """Execute cells as a notebook, and return the notebook."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
    client = NotebookClient(
        notebook,
        kernel_name=kernel,
        timeout=60,
        resources={"metadata": {"path": str(cwd or ".")}},
        **options,
    )
    client.execute()
    nbformat.validate(notebook)
    return notebook


def texts(cell):
    """All text under a cell."""
    return "\n".join(
        output.get("text", "")
        or output.get("data", {}).get("text/plain", "")
        or "\n".join(output.get("traceback", []))
        for output in cell.outputs
    )


def test_background_tasks_are_complete_in_the_saved_notebook(tmp_path):
    notebook = execute(
        TOOLS,
        PROGRESS,
        "%%nit\n$a = async steps(n=4)\nasync chatter(n=3, pause=0.1)\n",
        "import time; print('cell1')",
        "a",
        cwd=tmp_path,
    )
    started, other, value = notebook.cells[2:]
    panels = [o.data for o in started.outputs if "text/html" in o.get("data", {})]

    for number in range(4):
        assert f"tick {number}" in texts(started)
    assert texts(other) == "cell1\n"
    assert value.outputs[0].data["text/plain"] == "'all done'"
    assert [line.split()[:2] for line in panels[-1]["text/plain"].splitlines()] == [
        ["a", "done"],
        ["chatter", "done"],
    ]
    assert "100%" in panels[-1]["text/html"]


def test_the_saved_state_of_the_widgets_is_final(tmp_path):
    notebook = execute(TOOLS, PROGRESS, "%%nit\n$a = async steps(n=3)\n", cwd=tmp_path)
    state = notebook.metadata.widgets["application/vnd.jupyter.widget-state+json"]["state"]
    tables = [m["state"]["value"] for m in state.values() if m["model_name"] == "HTMLModel"]

    assert len(tables) == 1
    assert ">done<" in tables[0]
    assert ">running<" not in tables[0]


def test_a_wait_is_bounded_and_a_later_cell_brings_the_end(tmp_path):
    notebook = execute(
        TOOLS,
        "%config NitMagics.wait_seconds = 0.3",
        "%%nit\n$a = async doze(seconds=1.0)\n",
        "import time; time.sleep(1.5)",
        "print('later')",
        cwd=tmp_path,
    )
    started = notebook.cells[2]
    panels = [o.data["text/plain"] for o in started.outputs if "text/html" in o.get("data", {})]
    state = notebook.metadata.widgets["application/vnd.jupyter.widget-state+json"]["state"]
    tables = [m["state"]["value"] for m in state.values() if m["model_name"] == "HTMLModel"]

    assert "after 0.3 s still running: a" in texts(started)
    assert panels[-1].split()[:2] == ["a", "done"]
    assert ">done<" in tables[0]
    assert texts(notebook.cells[4]).endswith("later\n")


def test_waiting_can_be_switched_off(tmp_path):
    notebook = execute(
        TOOLS,
        "%config NitMagics.wait_at_end = 'never'",
        "%%nit\n$g = async gate()\n",
        "g.state",
        cwd=tmp_path,
    )

    assert notebook.cells[3].outputs[0].data["text/plain"] == "'running'"


def test_a_failing_cell_fails_the_notebook(tmp_path):
    with pytest.raises(CellExecutionError) as caught:
        execute(TOOLS, "%%nit\nboom()\n", cwd=tmp_path)

    assert caught.value.ename == "NitToolError"
    assert '"<nit cell>", line 1' in str(caught.value)


def test_a_stock_kernel_does_the_same(tmp_path):
    notebook = execute(
        "%load_ext nit_kernel",
        TOOLS,
        "%%nit\n$a = async add(a=1)\n$b = async chatter(n=2, pause=0.1)\n[$a, $b]\n",
        "a, b",
        kernel="python3",
        cwd=tmp_path,
    )

    assert "[2, 2]" in texts(notebook.cells[2])
    assert notebook.cells[3].outputs[0].data["text/plain"] == "(2, 2)"


def run(*command, cwd):
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=cwd, capture_output=True, text=True, timeout=110
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.fixture
def notebook(tmp_path):
    return write_notebook(
        tmp_path / "run me.ipynb",
        TOOLS,
        "%%nit\n$a = async chatter(n=3, pause=0.1)\n$b = add(a=40, b=2)\n$b\n",
        "a, b",
    )


def outputs_of(path):
    cells = nbformat.read(path, as_version=4).cells
    return "\n".join(texts(cell) for cell in cells if cell.cell_type == "code")


def test_papermill_runs_it(notebook, tmp_path):
    run("papermill", "-k", "nit", notebook.name, "out.ipynb", cwd=tmp_path)

    shown = outputs_of(tmp_path / "out.ipynb")
    assert "tick 2" in shown
    assert "(3, 42)" in shown


def test_nbconvert_runs_and_exports_it(notebook, tmp_path):
    run("nbconvert", "--to", "html", "--execute", notebook.name, cwd=tmp_path)

    page = (tmp_path / "run me.html").read_text(encoding="utf-8")
    assert "tick 2" in page
    assert "(3, 42)" in page
    assert "$b = add(" in page or "add" in page


def test_nbmake_runs_it(notebook, tmp_path):
    done = run("pytest", "--nbmake", notebook.name, "-p", "no:cacheprovider", cwd=tmp_path)

    assert "1 passed" in done.stdout


def test_jupyter_execute_runs_it(notebook, tmp_path):
    run("jupyter", "execute", "--inplace", notebook.name, cwd=tmp_path)

    assert "(3, 42)" in outputs_of(notebook)
    assert json.loads(notebook.read_text(encoding="utf-8"))["nbformat"] == 4
