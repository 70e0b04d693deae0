"""The NIT kernel: a Python kernel that has the extension loaded and takes bare `<nit>` cells.

Python cells stay Python, and `language_info` says so: a front end or nbconvert that knows nothing
of NIT highlights and exports the notebook as it does any other.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from ipykernel.ipkernel import IPythonKernel

from nit_kernel import __version__
from nit_kernel.notebook.cells import bare_block_to_cell, is_bare_block, starts_bare_block
from nit_kernel.notebook.extension import find_magics
from nit_kernel.notebook.interrupts import wake_on_interrupt

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Generator


class NitKernel(IPythonKernel):
    """An IPython kernel with the extension loaded."""

    implementation = "nit"
    implementation_version = __version__

    @property
    def banner(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """What a console shows at its start."""
        line = f"NIT {self.implementation_version}: `%%nit` cells beside Python. See `%nit help`."
        return f"{line}\n{super().banner or ''}"

    def start(self) -> None:
        """Start the kernel with the extension loaded."""
        super().start()
        shell: Any = self.shell
        shell.input_transformer_manager.cleanup_transforms.insert(0, bare_block_to_cell)
        shell.extension_manager.load_extension("nit_kernel")

    def do_is_complete(self, code: str) -> dict[str, Any]:
        """Say whether a console should run the cell or ask for more lines."""
        if starts_bare_block(code):
            return (
                {"status": "complete"}
                if is_bare_block(code)
                else {
                    "status": "incomplete",
                    "indent": "",
                }
            )
        return super().do_is_complete(code)

    def do_shutdown(self, restart: bool) -> dict[str, Any]:
        """End the kernel; running tools do not hold it up."""
        magics = find_magics(cast("Any", self.shell))
        if magics is not None:
            magics.workspace.shut_down()
        return super().do_shutdown(restart)

    @contextmanager
    def _cancel_on_sigint(self, future: asyncio.Future[Any]) -> Generator[None]:
        loop: asyncio.AbstractEventLoop = getattr(self.io_loop, "asyncio_loop")  # noqa: B009
        # In any awaited cell, also one of Python alone, the stop button acts at once.
        with super()._cancel_on_sigint(future), wake_on_interrupt(loop):
            yield
