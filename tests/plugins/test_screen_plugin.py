"""The screen plugin: the screen where there is one, else the notebook, else a clear error."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType

import pytest
from plugins.shipped import function_of, load_shipped, module_of

from nit_kernel.runtime.surroundings import SeenCell, surroundings

PLUGIN = load_shipped("screen")
get_screen_content = function_of(PLUGIN, "get_screen_content")


class Notebook:
    def __init__(self, *cells: SeenCell) -> None:
        self.cells = cells

    def recent_cells(self, count: int, /) -> Sequence[SeenCell]:
        return self.cells[-count:]


CELLS = Notebook(
    SeenCell(number=1, source="import pandas", outputs=()),
    SeenCell(number=2, source="1 + 1\n", outputs=("2", "")),
    SeenCell(number=3, source="%%nit\nget_screen_content()", outputs=()),
)


@pytest.fixture
def looking(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The plugin's own module, on a machine without any display."""
    function_of(PLUGIN, "get_screen_content")
    module = module_of(PLUGIN, "looking")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    return module


@pytest.mark.parametrize("source", ["auto", "notebook"])
@pytest.mark.usefixtures("looking")
def test_without_a_display_the_notebook_is_read(source: str) -> None:
    with surroundings(CELLS):
        text = get_screen_content(source=source)
    assert text == (
        "Notebook, the last 3 cells with their outputs:\n\n"
        "In [1]:\nimport pandas\n\n"
        "In [2]:\n1 + 1\n\n"
        "Out [2]:\n2\n\n"
        "In [3]:\n%%nit\nget_screen_content()"
    )


@pytest.mark.usefixtures("looking")
def test_the_notebook_is_shortened_in_its_middle() -> None:
    long = SeenCell(number=7, source="x" * 100_000, outputs=("y" * 100_000, "z" * 100_000))
    with surroundings(Notebook(*[long] * 5)):
        text = get_screen_content(source="notebook")
    assert len(text) < 21_000
    assert text.startswith("Notebook, the last 5 cells")
    assert "characters left out]" in text


@pytest.mark.usefixtures("looking")
def test_a_notebook_without_cells_says_so() -> None:
    with surroundings(Notebook()):
        assert get_screen_content() == "Notebook: no cell has been run yet."


@pytest.mark.usefixtures("looking")
def test_with_neither_the_error_says_what_is_missing() -> None:
    with pytest.raises(
        RuntimeError,
        match=re.escape(
            "neither a screen nor a notebook can be read: there is no display (DISPLAY is not set);"
            " and this script does not run in a notebook"
        ),
    ):
        get_screen_content()
    with pytest.raises(RuntimeError, match="this script does not run in a notebook"):
        get_screen_content(source="notebook")
    with surroundings(CELLS), pytest.raises(RuntimeError, match="DISPLAY is not set"):
        get_screen_content(source="screen")


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ("mss", 'the package mss is not installed: pip install "nit-kernel[screen]"'),
        ("PIL", 'the package PIL is not installed: pip install "nit-kernel[screen]"'),
        ("tesseract", "the program tesseract is not installed (Debian: apt install tesseract-ocr"),
    ],
)
def test_what_is_missing_for_the_screen_is_named(
    looking: ModuleType, monkeypatch: pytest.MonkeyPatch, missing: str, message: str
) -> None:
    monkeypatch.setenv("DISPLAY", ":99")
    monkeypatch.setattr(
        looking.importlib.util, "find_spec", lambda name: None if name == missing else object()
    )
    monkeypatch.setattr(
        looking.shutil, "which", lambda name: None if name == missing else f"/usr/bin/{name}"
    )
    with pytest.raises(RuntimeError, match=re.escape(message)):
        get_screen_content(source="screen")


def test_a_screen_that_cannot_be_read_gives_way_to_the_notebook(
    looking: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> str:
        raise OSError("the display is gone")

    monkeypatch.setattr(looking, "_missing_for_screen", lambda: None)
    monkeypatch.setattr(looking, "_screen", fail)
    with surroundings(CELLS):
        assert get_screen_content().startswith("Notebook, ")
        with pytest.raises(RuntimeError, match="the screen cannot be read: the display is gone"):
            get_screen_content(source="screen")
    with pytest.raises(RuntimeError, match="the display is gone"):
        get_screen_content()


@pytest.fixture
def display(tmp_path: Path) -> Iterator[str]:
    """A real X server without a screen, on a display number of its own choice."""
    server = shutil.which("Xvfb")
    if server is None or shutil.which("tesseract") is None:
        message = "needs the programs Xvfb and tesseract (apt install xvfb tesseract-ocr)"
        if os.environ.get("NIT_REQUIRE_ALL") == "1":
            pytest.fail(message)
        pytest.skip(message)
    read, write = os.pipe()
    process = subprocess.Popen(
        [server, "-displayfd", str(write), "-screen", "0", "800x200x24", "-nolisten", "tcp"],
        pass_fds=[write],
        stderr=subprocess.DEVNULL,
        env={**os.environ, "HOME": str(tmp_path)},
    )
    os.close(write)
    try:
        with os.fdopen(read) as answer:
            yield f":{answer.readline().strip()}"
    finally:
        process.terminate()
        process.wait(10)


def test_a_real_screen_is_read(display: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tkinter")
    monkeypatch.setenv("DISPLAY", display)
    window = """
import sys, tkinter
root = tkinter.Tk()
root.geometry("800x200+0+0")
root.overrideredirect(True)
label = tkinter.Label(root, text="The quick brown fox", font=("DejaVu Sans", 36), bg="white")
label.pack(expand=True, fill="both")
root.update(); root.update()
print("shown", flush=True)
sys.stdin.readline()
"""
    with subprocess.Popen(
        [sys.executable, "-c", window], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as shower:
        assert shower.stdout is not None
        assert shower.stdin is not None
        assert shower.stdout.readline() == "shown\n"
        text = get_screen_content(source="screen")
        shower.stdin.write("\n")
    first, _, rest = text.partition("\n")
    assert first == "Screen (800 x 200), read by OCR:"
    assert "quick brown fox" in rest
