"""`nit`: the object in the namespace through which Python cells reach NIT."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import nit_kernel

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, MutableMapping

    from nit_kernel.conversation import Chat
    from nit_kernel.notebook.workspace import Workspace
    from nit_kernel.runtime.background import BackgroundTask
    from nit_kernel.runtime.tool_view import ToolView
    from nit_kernel.session import Result, Session


class NotebookHandle:
    """NIT in this notebook: its variables, tools and tasks, and every public name of `nit_kernel`.

    Args:
        workspace: What it is a handle of.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    @property
    def vars(self) -> MutableMapping[str, object]:
        """The NIT variables; a change here is one of the notebook's, too."""
        return self._workspace.vars

    @property
    def tasks(self) -> Mapping[str, BackgroundTask]:
        """The background tasks by name."""
        return self._workspace.session.tasks

    @property
    def tools(self) -> ToolView:
        """The tools: `nit.tools.add(a=1)` calls one; awaitable where it is a coroutine."""
        return self._workspace.session.tools

    @property
    def last(self) -> Result | None:
        """The outcome of the last script: its calls, variables, error."""
        return self._workspace.last

    @property
    def chat(self) -> Chat:
        """The conversation of `%%ask`: its history, its cost, and `send` from Python."""
        return self._workspace.conversation.chat

    @property
    def session(self) -> Session:
        """The session behind the notebook."""
        return self._workspace.session

    def tool(self, function: Callable[..., object] | None = None, /, **options: object) -> object:
        """Make a function a tool of this notebook; one of the same name is replaced.

        Takes the options of `nit_kernel.tool`, and as a decorator stands with or without them.

        Raises:
            PluginError: It cannot be a tool.
        """
        if function is None:
            return partial(self.tool, **options)
        made: object = (
            nit_kernel.tool(function, **options) if options else nit_kernel.tool(function)
        )
        for line in self._workspace.session.add_tool(made):
            self._workspace.tell(line)
        return made

    def __getattr__(self, name: str) -> object:
        if name in nit_kernel.__all__:
            return getattr(nit_kernel, name)
        raise AttributeError(f"`nit` has no `{name}`; `dir(nit)` lists what it has")

    def __dir__(self) -> list[str]:
        own = (name for name in object.__dir__(self) if not name.startswith("_"))
        return sorted({*own, *nit_kernel.__all__})

    def __repr__(self) -> str:
        session = self._workspace.session
        open_tasks = sum(1 for task in session.tasks.values() if not task.done)
        return (
            f"<nit: {len(session.tools)} tools, {len(session.variables)} variables, "
            f"{open_tasks} tasks running; `%nit help` says what there is>"
        )
