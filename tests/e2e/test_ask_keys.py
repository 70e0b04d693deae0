"""Keys and servers that are missing or wrong: a few lines that say what to set, and no key."""

import os
import socket

import pytest
from asking import FREE, notes, run, talking, words
from kernel_driver import NIT
from kernel_tools import start

from nit_kernel.testing import FakeModel, Refuse, openai_server

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(120)]

KEY = "sk-test-0123456789abcdef"
SECRET = "0123456789abcdef"


@pytest.fixture(scope="module")
def kernel(plugin_folder):
    saved = {k: os.environ.pop(k, None) for k in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "NIT_MODEL")}
    try:
        with start(NIT, plugin_folder) as kernel:
            yield kernel
    finally:
        os.environ.update({k: v for k, v in saved.items() if v is not None})


def set_up(kernel, key, url):
    lines = ["import os"]
    for name, value in (("OPENAI_API_KEY", key), ("OPENAI_BASE_URL", url)):
        lines.append(
            f"os.environ.pop({name!r}, None)"
            if value is None
            else f"os.environ[{name!r}]={value!r}"
        )
    kernel.run("\n".join([*lines, "os.environ['NIT_MODEL'] = 'fake-model'", "pass"]))


def everything(kernel, cell):
    """All that a saved notebook could hold, and what Python still knows of the error."""
    more = kernel.run(
        "import sys, traceback\n"
        "e = getattr(sys, 'last_value', None)\n"
        "print(repr(e), e.__cause__, e.__context__, *traceback.format_exception(e))\n"
        "%nit history"
    )
    return cell.text + more.text + repr([m.content for m in cell.messages])


def test_without_a_key_and_an_address_two_lines_say_what_to_set(kernel):
    set_up(kernel, None, None)
    cell = run(kernel, "%%ask\nhello\n")

    shown = kernel.run("%nit model")

    lines = cell.error.splitlines()
    assert cell.status == "error"
    assert cell.displays == []
    assert shown.stdout.splitlines() == lines
    assert len(lines) == 2
    assert "OPENAI_API_KEY" in lines[0]
    assert "OPENAI_BASE_URL" in lines[0]
    assert "%nit model local" in lines[1]


@pytest.mark.parametrize("key", [None, KEY, f" {KEY}\n"])
def test_a_key_that_is_not_accepted(kernel, key):
    refusal = Refuse(401, f"Incorrect API key provided: {KEY}", code="invalid_api_key")
    with openai_server(FakeModel([refusal, refusal])) as server:
        set_up(kernel, key, server.base_url)
        for code in ("%%ask\nhello\n", "%%time\n%%ask\nhello\n"):
            cell = run(kernel, code)
            assert cell.status == "error"
            assert len(cell.error.splitlines()) <= 6
            assert "OPENAI_API_KEY" in cell.error
            assert server.base_url in cell.error
            assert "fake-model" in cell.error
            assert SECRET not in everything(kernel, cell)


def test_a_limit_on_the_rate_is_waited_for_and_then_said(kernel):
    refusal = Refuse(429, f"slow down, {KEY}", headers={"retry-after": "0.2"})
    with openai_server(FakeModel([refusal] * 3)) as server:
        set_up(kernel, KEY, server.base_url)
        cell = run(kernel, "%%ask\nhello\n")

    assert cell.status == "error"
    assert len(cell.error.splitlines()) <= 6
    assert server.base_url in cell.error
    assert "429" in cell.error
    assert "429" in notes(cell)
    assert SECRET not in everything(kernel, cell)


def test_a_refused_connection_names_the_address(kernel):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        set_up(kernel, KEY, url)
        cell = run(kernel, "%%ask\nhello\n")

    assert cell.status == "error"
    assert len(cell.error.splitlines()) <= 6
    assert url in cell.error
    assert "OPENAI_BASE_URL" in cell.error
    assert SECRET not in everything(kernel, cell)


def test_a_key_set_in_a_cell_counts_for_the_next_message(kernel):
    with openai_server(FakeModel(["Hi."]), api_key=KEY) as server:
        set_up(kernel, "wrong-key-123456", server.base_url)
        first = run(kernel, "%%ask\nhello\n")
        set_up(kernel, KEY, server.base_url)
        second = run(kernel, "%%ask\nhello\n")

    assert first.status == "error"
    assert words(second) == "Hi."


def test_settings_count_before_the_environment(plugin_folder):
    with talking(plugin_folder, "one", "two", setup=FREE) as (kernel, model):
        kernel.run("%config NitMagics.model = 'mine'")
        kernel.run("%config NitMagics.api_key = 'sk-other-0123456789abcdef'")
        first = run(kernel, "%%ask\na\n")
        shown = kernel.run("%nit model")
        kernel.run("%nit model theirs")
        run(kernel, "%%ask\nb\n")
        listed = kernel.run("%config NitMagics")

    assert first.status == "ok", first.text
    assert [r["model"] for r in model.requests] == ["mine", "theirs"]
    assert model.requests[0].headers["authorization"] == "Bearer sk-other-0123456789abcdef"
    assert shown.stdout.startswith("model: mine, at http://127.0.0.1:")
    assert SECRET not in listed.text


def test_the_parts_that_speak_to_a_model_are_loaded_with_the_first_message(kernel):
    code = (
        "import subprocess, sys\n"
        "code = '''import sys\n"
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell()\n"
        "shell.run_line_magic('load_ext', 'nit_kernel')\n"
        "shell.run_cell('%nit vars')\n"
        "shell.run_cell('%nit help')\n"
        "print([m for m in sys.modules if m.startswith(('nit_kernel.model', 'openai'))])'''\n"
        "print(subprocess.run([sys.executable, '-c', code], capture_output=True, text=True,"
        " env={**os.environ, 'IPYTHONDIR': '/nonexistent'}).stdout.splitlines()[-1])"
    )
    assert run(kernel, code).stdout == "[]\n"
