"""The extension: `%load_ext nit_kernel` in any IPython; the NIT kernel has it loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from nit_kernel.notebook.completion import install_completion
from nit_kernel.notebook.inspection import install_inspection
from nit_kernel.notebook.magics import NitMagics
from nit_kernel.notebook.surroundings import follow_surroundings
from nit_kernel.notebook.workspace import Workspace

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Hook NIT into a shell. Loading it twice changes nothing."""
    if find_magics(shell) is not None:
        return
    magics = NitMagics(shell=shell, parent=shell)
    workspace = magics.workspace = Workspace(shell, magics)
    workspace.install()
    workspace.on_remove(install_completion(workspace))
    workspace.on_remove(install_inspection(workspace))
    workspace.on_remove(follow_surroundings(shell))
    shell.register_magics(magics)


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """Take everything off the shell again, and end the session."""
    magics = find_magics(shell)
    if magics is None:
        return
    shell.magics_manager.registry.pop(NitMagics.__name__, None)
    for kind in ("line", "cell"):
        registered = shell.magics_manager.magics[kind]
        for name in magics.magics[kind]:
            registered.pop(name, None)
    configurables = cast("list[object]", shell.configurables)
    if magics in configurables:
        configurables.remove(magics)
    magics.workspace.remove()


def find_magics(shell: InteractiveShell) -> NitMagics | None:
    """The magics of the extension, if it is loaded in this shell."""
    found = shell.magics_manager.registry.get(NitMagics.__name__)
    return found if isinstance(found, NitMagics) else None
