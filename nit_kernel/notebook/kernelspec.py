"""Registers the kernel where pip could not: for a Jupyter of another Python environment.

`pip install nit-kernel` lays the kernelspec into its own environment, with `python` as the command.
A Jupyter elsewhere needs one that names this Python by its whole path.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path

from jupyter_client.kernelspec import KernelSpecManager

_CHECKOUT = Path(__file__).resolve().parents[2] / "kernelspec" / "data"
_SPEC = Path("share", "jupyter", "kernels", "nit")


def install_kernelspec(
    *, name: str = "nit", display_name: str = "NIT (Python 3)", prefix: Path | None = None
) -> str:
    """Install a kernelspec that starts this Python.

    Args:
        name: The kernel's name.
        display_name: As the launcher shows it.
        prefix: The environment below which to put it; `None` for the user's own folder.

    Returns:
        The folder that was written.

    Raises:
        OSError: The folder cannot be written.
        ValueError: `name` is no name for a kernel.
    """
    spec = {
        "argv": [sys.executable, "-m", "nit_kernel", "-f", "{connection_file}"],
        "display_name": display_name,
        "language": "python",
        "interrupt_mode": "signal",
        "metadata": {"debugger": True},
    }
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "nit")
        folder.mkdir()
        for logo in _logos():
            shutil.copy(logo, folder)
        (folder / "kernel.json").write_text(json.dumps(spec, indent=2) + "\n", encoding="utf-8")
        return KernelSpecManager().install_kernel_spec(
            str(folder),
            kernel_name=name,
            user=prefix is None,
            prefix=None if prefix is None else str(prefix),
        )


def _logos() -> list[Path]:
    """The logos that pip laid into this environment, or those of the checkout."""
    for root in (Path(sys.prefix), _CHECKOUT):
        found = sorted((root / _SPEC).glob("logo-*"))
        if found:
            return found
    return []
