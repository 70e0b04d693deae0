"""What the tests of this folder run their kernels with, and how they say what is missing."""

import os
import shutil

import pytest
from kernel_driver import STOCK, Kernel

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


def start(kind, plugin_folder):
    """A kernel with the extension and the tools."""
    kernel = Kernel(kind, env={"NIT_PLUGIN_PATH": str(plugin_folder)})
    if kind == STOCK:
        assert kernel.run("%load_ext nit_kernel").status == "ok"
    cell = kernel.run(TOOLS)
    assert cell.status == "ok", cell.text
    return kernel
