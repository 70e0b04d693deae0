"""What is on the page around a cell: the last cells and their outputs, as plain text.

For tools that are asked what the person sees (`get_screen_content`); the runtime's
`SURROUNDINGS` carries it to them. IPython keeps the sources, the results and what was printed; what
was displayed in a kernel is noted here.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from nit_kernel.runtime.surroundings import SURROUNDINGS, SeenCell

if TYPE_CHECKING:
    from collections.abc import Callable

    from IPython.core.history import HistoryManager
    from IPython.core.interactiveshell import InteractiveShell

_MOST_CELLS = 50
_MOST_CHARS = 20_000
_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")


class NotebookSurroundings:
    """Tells the last cells of one shell.

    Args:
        shell: The shell. A kernel's displays are noted from now on.
    """

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell
        self._displayed: OrderedDict[int, list[str]] = OrderedDict()
        register = getattr(shell.display_pub, "register_hook", None)
        if register is not None:
            register(self._note)

    def remove(self) -> None:
        """Note nothing any more."""
        unregister = getattr(self._shell.display_pub, "unregister_hook", None)
        if unregister is not None:
            unregister(self._note)

    def recent_cells(self, count: int, /) -> list[SeenCell]:
        """The last cells that were run, oldest first, the running one last."""
        history = self._shell.history_manager
        if history is None:
            return []
        sources = history.input_hist_raw
        first = max(1, len(sources) - count)
        return [
            SeenCell(number=number, source=sources[number], outputs=self._outputs(history, number))
            for number in range(first, len(sources))
        ]

    def _outputs(self, history: HistoryManager, number: int) -> tuple[str, ...]:
        texts = [_text(output.bundle) for output in history.outputs.get(number, ())]
        texts += self._displayed.get(number, ())
        error = history.exceptions.get(number)
        if error:
            texts.append(f"{error.get('ename', 'error')}: {error.get('evalue', '')}")
        plain = (_ANSI.sub("", text).rstrip() for text in texts)
        return tuple(_bounded(text) for text in plain if text)

    def _note(self, message: dict[str, Any]) -> dict[str, Any]:
        if message.get("msg_type", message.get("header", {}).get("msg_type")) == "display_data":
            # While a cell runs, the count is already that of the next one.
            number = self._shell.execution_count - 1
            text = _text(message["content"].get("data", {}))
            texts = self._displayed.setdefault(number, [])
            if sum(map(len, texts)) < _MOST_CHARS:
                texts.append(_bounded(text))
            while len(self._displayed) > _MOST_CELLS:
                self._displayed.popitem(last=False)
        return message


def follow_surroundings(shell: InteractiveShell) -> Callable[[], None]:
    """Let every cell of a shell know its surroundings; returns what takes that off again."""
    provider = NotebookSurroundings(shell)

    def begin_cell() -> None:
        # Each cell may run in a context of its own.
        SURROUNDINGS.set(provider)

    begin_cell()
    shell.events.register("pre_execute", begin_cell)

    def remove() -> None:
        shell.events.unregister("pre_execute", begin_cell)
        SURROUNDINGS.set(None)
        provider.remove()

    return remove


def _text(bundle: dict[str, Any]) -> str:
    parts = bundle.get("stream", bundle.get("text/plain", ""))
    return "".join(map(str, parts)) if isinstance(parts, list) else str(parts)


def _bounded(text: str) -> str:
    if len(text) <= _MOST_CHARS:
        return text
    half = _MOST_CHARS // 2
    return f"{text[:half]}\n[{len(text) - 2 * half:,} characters left out]\n{text[-half:]}"
