"""What `pip install` gives a person: the kernel, the plugins and the command."""

import json
import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]

NOTEBOOK = {
    "cells": [
        {
            "cell_type": "code",
            "execution_count": None,
            "id": "one",
            "metadata": {},
            "outputs": [],
            "source": '%%nit\n$summary = summarize_text(content="One. Two. Three.")',
        },
        {
            "cell_type": "code",
            "execution_count": None,
            "id": "two",
            "metadata": {},
            "outputs": [],
            "source": "print(type(summary).__name__, bool(summary))",
        },
    ],
    "metadata": {},
    "nbformat": 4,
    "nbformat_minor": 5,
}

EXECUTE = """
import nbformat
from nbclient import NotebookClient
notebook = nbformat.read("cells.ipynb", as_version=4)
NotebookClient(notebook, kernel_name="nit", timeout=60).execute()
print(notebook.cells[1].outputs[0].text)
"""


def run(*command: str | Path, cwd: Path, env: dict[str, str] | None = None) -> str:
    """Run a command; its output, or a failure that shows it."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution of this checkout."""
    folder = tmp_path_factory.mktemp("sdist")
    run(sys.executable, "-m", "maturin", "sdist", "--out", folder, cwd=ROOT)
    return next(folder.glob("*.tar.gz"))


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that pip builds from the source distribution."""
    folder = tmp_path_factory.mktemp("wheel")
    # The checkout's build folder holds the compiled dependencies; the crates are rebuilt.
    env = os.environ | {"CARGO_TARGET_DIR": str(ROOT / "rust" / "target")}
    run(
        sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", folder, sdist,
        cwd=folder, env=env,
    )  # fmt: skip
    return next(folder.glob("*.whl"))


def test_sdist_holds_every_part_that_a_build_needs(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {
        "pyproject.toml",
        "LICENSE",
        "README.md",
        "rust/Cargo.lock",
        "rust/nit_syntax/src/lib.rs",
        "rust/nit_python/build.rs",
        "nit_kernel/py.typed",
        "nit_kernel/_syntax.pyi",
        "kernelspec/data/share/jupyter/kernels/nit/kernel.json",
        "plugins/text/text.py",
        "plugins/text/schema.json",
        "plugins/text/description.json",
    } <= names


def test_wheel_holds_plugins_as_package_data_and_the_kernelspec(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    shipped = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "plugins").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {f"nit_kernel/{path}" for path in shipped} <= names
    assert any(name.endswith("data/share/jupyter/kernels/nit/kernel.json") for name in names)
    assert not [name for name in names if name.startswith(("plugins/", "tests/", "examples/"))]


def test_pip_install_alone_gives_a_working_kernel(wheel: Path, tmp_path: Path) -> None:
    home = tmp_path / "fresh venv"
    venv.create(home, with_pip=True)
    binaries = home / ("Scripts" if os.name == "nt" else "bin")
    python = binaries / "python"
    run(python, "-m", "pip", "install", "--quiet", wheel, cwd=tmp_path)

    kernels = json.loads(
        run(python, "-m", "jupyter_client.kernelspecapp", "list", "--json", cwd=tmp_path)
    )
    assert kernels["kernelspecs"]["nit"]["spec"]["display_name"] == "NIT (Python 3)"
    assert "summarize_text" in run(python, "-m", "nit_kernel.cli", "tools", cwd=tmp_path)

    run(python, "-m", "pip", "install", "--quiet", "nbclient", cwd=tmp_path)
    elsewhere = tmp_path / "another folder"
    elsewhere.mkdir()
    (elsewhere / "cells.ipynb").write_text(json.dumps(NOTEBOOK), encoding="utf-8")
    assert run(python, "-c", EXECUTE, cwd=elsewhere).strip() == "str True"
