"""Kernels and browsers for the tests of this folder."""

import pytest
from kernel_driver import NIT, STOCK
from kernel_tools import missing, start
from lab import Lab, chromium, why_no_browser


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


@pytest.fixture(scope="module")
def browser(lab):
    """A browser; while it is open, the loop of its driver runs on this thread."""
    with chromium() as opened:
        yield opened
