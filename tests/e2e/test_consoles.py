"""Terminals and scripts: no page, no widgets, the same outcome."""

import contextlib
import os
import subprocess
import sys
import time
import uuid

import pytest
from kernel_tools import needed

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(120)]

PREAMBLE = (
    "import time, asyncio\n"
    "@nit.tool\n"
    "def add(a: int, b: int = 1) -> int:\n"
    "    return a + b\n"
    "@nit.tool\n"
    "async def doze(seconds: float) -> str:\n"
    "    await asyncio.sleep(seconds)\n"
    "    return 'dozed'\n"
    "@nit.tool\n"
    "def chatter(n: int, word: str) -> int:\n"
    "    for i in range(n):\n"
    "        print(word, i)\n"
    "    return n\n"
)

GATED = (
    "import threading\n"
    "GATE, SAID = threading.Event(), threading.Event()\n"
    "@nit.tool\n"
    "def gated(word: str) -> None:\n"
    "    GATE.wait(60)\n"
    "    print(word, 0)\n"
    "    print(word, 1)\n"
    "    SAID.set()\n"
)


class Terminal:
    """A program in a terminal that a person types into."""

    def __init__(self, command, cwd):
        self.name = f"nit-test-{uuid.uuid4().hex[:8]}"
        environment = {**os.environ, "IPYTHONDIR": str(cwd / "ipython"), "TERM": "xterm-256color"}
        self._tmux("new-session", "-d", "-x", "150", "-y", "60", command, env=environment, cwd=cwd)

    def _tmux(self, *words, **options):
        return subprocess.run(
            ["tmux", "-L", self.name, *words],
            check=True,
            capture_output=True,
            text=True,
            timeout=20,
            **options,
        ).stdout

    def screen(self):
        return self._tmux("capture-pane", "-p", "-J", "-S", "-500")

    def type(self, text, *, keys=("Enter",)):
        self._tmux("send-keys", "-l", text)
        self._tmux("send-keys", *keys)

    def press(self, *keys):
        self._tmux("send-keys", *keys)

    def wait_for(self, text, seconds=30, count=1):
        end = time.monotonic() + seconds
        while self.screen().count(text) < count:
            assert time.monotonic() < end, f"{text!r} did not appear:\n{self.screen()}"
            time.sleep(0.1)

    def close(self):
        with contextlib.suppress(subprocess.CalledProcessError):
            self._tmux("kill-server")


@pytest.fixture(params=["ipython", "console"])
def terminal(request, tmp_path):
    needed("tmux")
    (tmp_path / "tools.py").write_text(PREAMBLE, encoding="utf-8")
    python = sys.executable
    command = {
        "ipython": f"'{python}' -m IPython --ext nit_kernel --no-banner --no-confirm-exit",
        "console": f"'{python}' -m jupyter console --kernel nit --no-confirm-exit",
    }[request.param]
    opened = Terminal(command, tmp_path)
    try:
        opened.wait_for("In [1]:", 40)
        opened.type("%run -i tools.py")
        opened.wait_for("In [2]:")
        yield opened
    finally:
        opened.close()


def cell(terminal, *lines):
    """Type a cell of several lines and run it, as a person does."""
    for line in lines:
        terminal.type(line)
        # The editor must have taken the line, or it may take two keys for one paste.
        terminal.wait_for(line)
    terminal.press("Enter")
    terminal.press("Enter")


def test_a_cell_runs_in_a_terminal(terminal):
    cell(terminal, "%%nit", "$a = add(a=40, b=1)", "$d = async doze(seconds=0.1)", "[$a, $d]")
    terminal.wait_for("[41, 'dozed']")
    terminal.type("a + 1, d")
    terminal.wait_for("(42, 'dozed')")


def test_an_error_shows_its_lines_in_a_terminal(terminal):
    cell(terminal, "%%nit", "add(aa=1)")
    terminal.wait_for('"<nit cell>", line 1')

    assert "Traceback" not in terminal.screen()


def test_ctrl_c_acts_at_once_in_a_terminal(terminal):
    cell(terminal, "%%nit", "$k = add(a=1)", "doze(seconds=60)", "$late = add(a=5)")
    time.sleep(1.5)
    terminal.press("C-c")
    terminal.wait_for("interrupted", 5)
    terminal.type("k, 'late' in globals()")
    terminal.wait_for("(2, False)", 10)
    terminal.type("%time 6 * 7")
    terminal.wait_for("42")


def test_what_background_tasks_print_waits_for_the_end_of_a_cell(tmp_path):
    needed("tmux")
    (tmp_path / "tools.py").write_text(PREAMBLE + GATED, encoding="utf-8")
    terminal = Terminal(
        f"'{sys.executable}' -m IPython --ext nit_kernel --no-banner --no-confirm-exit", tmp_path
    )
    try:
        terminal.wait_for("In [1]:", 40)
        terminal.type("%run -i tools.py")
        terminal.wait_for("In [2]:")
        terminal.type("%nit async gated(word='tick')")
        terminal.wait_for("In [3]:")
        terminal.type("GATE.set(); SAID.wait(20)")
        terminal.wait_for("[gated] tick 1")

        assert "[gated] tick 0" in terminal.screen()
    finally:
        terminal.close()


SCRIPT = """
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

config = Config()
config.HistoryManager.enabled = False
shell = InteractiveShell.instance(config=config)
shell.run_line_magic("load_ext", "nit_kernel")
shell.run_cell(open("tools.py").read())
by_cell = shell.run_cell("%%nit\\n$a = add(a=1)\\n$d = async doze(seconds=0.05)\\n[$a, $d]\\n")
by_hand = shell.run_cell_magic("nit", "", "[$a, $d]")
timed = shell.run_cell("%%time\\n%%nit\\n$t = add(a=9)\\n")
captured = shell.run_cell("%%capture seen\\n%%nit\\nchatter(n=2, word='in')\\n")
print("outcome", by_cell.result, by_hand, shell.user_ns["t"], repr(shell.user_ns["seen"].stdout))
failed = shell.run_cell("%%nit\\nadd(aa=1)\\n")
print("error", type(failed.error_in_exec).__name__)
"""


def test_a_plain_script_has_the_same_outcome(tmp_path):
    (tmp_path / "tools.py").write_text(PREAMBLE, encoding="utf-8")
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "script.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "IPYTHONDIR": str(tmp_path)},
    )

    assert done.returncode == 0, done.stderr
    assert "outcome [2, 'dozed'] [2, 'dozed'] 10 'in 0\\nin 1\\n'" in done.stdout
    assert "error NitCheckError" in done.stdout


def test_the_end_of_a_script_is_not_held_up_by_its_tasks(tmp_path):
    (tmp_path / "tools.py").write_text(PREAMBLE, encoding="utf-8")
    (tmp_path / "script.py").write_text(
        SCRIPT.partition("by_cell")[0]
        + "shell.run_cell('%nit async doze(seconds=60)')\nprint('started')\n",
        encoding="utf-8",
    )
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, "script.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=40,
        env={**os.environ, "IPYTHONDIR": str(tmp_path)},
    )

    assert (done.returncode, "started" in done.stdout) == (0, True), done.stderr
    assert time.monotonic() - started < 20
