"""What the front end of a shell can do, as far as its messages tell.

No message names the front end. But pages (JupyterLab, Notebook, VS Code) say with each cell which
one it is, and consoles ask before each Enter whether the text is complete.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

_QUESTION = "is_complete_request"


class FrontEnd:
    """The front end of one shell.

    Args:
        shell: The shell.
    """

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell
        self._kernel: Any = getattr(shell, "kernel", None)
        self._asked_whether_complete = False

    def watch(self) -> Callable[[], None]:
        """Watch for a console's questions; returns what ends that."""
        handlers = getattr(self._kernel, "shell_handlers", None)
        if not isinstance(handlers, dict) or _QUESTION not in handlers:
            return _nothing
        table = cast("dict[str, Callable[..., Any]]", handlers)
        before = table[_QUESTION]

        def asked(*arguments: Any, **named: Any) -> Any:
            self._asked_whether_complete = True
            return before(*arguments, **named)

        table[_QUESTION] = asked

        def stop() -> None:
            if table.get(_QUESTION) is asked:
                table[_QUESTION] = before

        return stop

    @property
    def cell_id(self) -> str | None:
        """The id of the cell that runs now, where the front end tells it."""
        found = self._parent().get("metadata", {}).get("cellId")
        return found if isinstance(found, str) and found else None

    @property
    def request_id(self) -> object:
        """The id of the request that runs now: one a run of a cell."""
        return self._parent().get("header", {}).get("msg_id")

    @property
    def shows_widgets(self) -> bool:
        """Whether buttons can be shown, and pressed while a cell waits."""
        return self.cell_id is not None

    @property
    def is_console(self) -> bool:
        """Whether an output that was shown cannot be updated."""
        if self._kernel is None:
            return True
        return self._asked_whether_complete and self.cell_id is None

    def _parent(self) -> dict[str, Any]:
        get_parent = getattr(self._shell, "get_parent", None)
        parent: object = get_parent() if callable(get_parent) else None
        return cast("dict[str, Any]", parent) if isinstance(parent, dict) else {}


def _nothing() -> None:
    """There is nothing to end."""
