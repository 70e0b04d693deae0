"""Kernels and browsers for the tests of this folder."""

import os
import shutil

import pytest
from kernel_driver import NIT, STOCK, Kernel
from lab import Lab, chromium, why_no_browser

TOOLS = '''
import asyncio, sys, threading, time

@nit.tool
def echo(msg: str) -> str:
    """Give a text back."""
    return msg

@nit.tool
def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b

@nit.tool
def nap(seconds: float) -> str:
    """Sleep on the thread of the cell."""
    time.sleep(seconds)
    return "rested"

@nit.tool
async def doze(seconds: float) -> str:
    """Sleep on the session's loop."""
    await asyncio.sleep(seconds)
    return "dozed"

@nit.tool
def chatter(n: int = 3, pause: float = 0.1, word: str = "tick") -> int:
    """Print a few lines."""
    for i in range(n):
        print(word, i)
        time.sleep(pause)
    return n

@nit.tool
async def achatter(n: int = 3, pause: float = 0.1, word: str = "tick") -> int:
    """Print a few lines, awaiting between them."""
    for i in range(n):
        print(word, i)
        await asyncio.sleep(pause)
    return n

@nit.tool
def boom(msg: str = "no luck") -> None:
    """Fail."""
    raise ValueError(msg)

@nit.tool
def where() -> str:
    """Name the thread."""
    return threading.current_thread().name

GATE = threading.Event()

@nit.tool
async def gate() -> str:
    """Wait until GATE is set."""
    while not GATE.is_set():
        await asyncio.sleep(0.01)
    return "open"
'''
"""Tools for the tests, as a Python cell."""


def needed(program):
    """Skip a test that needs a missing program, or fail it where nothing may be left out."""
    if shutil.which(program) is None:
        missing(f"needs {program}")


def missing(what):
    if os.environ.get("NIT_REQUIRE_ALL") == "1":
        pytest.fail(what)
    pytest.skip(what)


@pytest.fixture(scope="session")
def plugin_folder(tmp_path_factory):
    """A plugin whose plain function sleeps, and one that prints."""
    folder = tmp_path_factory.mktemp("plugins") / "sleepy"
    folder.mkdir()
    (folder / "sleepy.py").write_text(
        "import time\n\n\n"
        "def sleep_in_plugin(seconds):\n"
        "    time.sleep(seconds)\n"
        "    return 'slept'\n\n\n"
        "def speak(word, n=3):\n"
        "    for i in range(n):\n"
        "        print(word, i)\n"
        "        time.sleep(0.05)\n"
        "    return n\n",
        encoding="utf-8",
    )
    commands = [
        '{"commandIdentifier": "sleep_in_plugin", "description": "Sleep.", "parameter": "seconds"}',
        '{"commandIdentifier": "speak", "description": "Print.", "parameter": "word, n"}',
    ]
    (folder / "description.json").write_text(
        '{"name": "sleepy", "displayName": "Sleepy", "version": "1.0.0", "description": "Sleep.",'
        ' "pluginType": "python-module", "entryPoint": "sleepy.py",'
        f' "capabilities": {{"invocationCommands": [{", ".join(commands)}]}}}}',
        encoding="utf-8",
    )
    (folder / "schema.json").write_text(
        '[{"type": "function", "function": {"name": "sleep_in_plugin", "description": "Sleep.",'
        ' "parameters": {"type": "object", "properties": {"seconds": {"type": "number"}},'
        ' "required": ["seconds"]}}},'
        ' {"type": "function", "function": {"name": "speak", "description": "Print.",'
        ' "parameters": {"type": "object", "properties": {"word": {"type": "string"},'
        ' "n": {"type": "integer"}}, "required": ["word"]}}}]',
        encoding="utf-8",
    )
    return folder


def start(kind, plugin_folder):
    """A kernel with the extension and the tools."""
    kernel = Kernel(kind, env={"NIT_PLUGIN_PATH": str(plugin_folder)})
    if kind == STOCK:
        assert kernel.run("%load_ext nit_kernel").status == "ok"
    cell = kernel.run(TOOLS)
    assert cell.status == "ok", cell.text
    return kernel


@pytest.fixture(scope="module")
def nit(plugin_folder):
    """A NIT kernel, shared by the tests of a module."""
    with start(NIT, plugin_folder) as kernel:
        yield kernel


@pytest.fixture(scope="module", params=[NIT, STOCK])
def kernel(request, plugin_folder):
    """A NIT kernel and a stock one with the extension, each shared by the tests of a module."""
    with start(request.param, plugin_folder) as kernel:
        yield kernel


@pytest.fixture(scope="session")
def lab(tmp_path_factory, plugin_folder):
    """A JupyterLab server."""
    if why_no_browser():
        missing(why_no_browser())
    lab = Lab(tmp_path_factory.mktemp("lab"), env={"NIT_PLUGIN_PATH": str(plugin_folder)})
    yield lab
    lab.stop()


@pytest.fixture(scope="session")
def browser(lab):
    """A browser."""
    with chromium() as opened:
        yield opened
