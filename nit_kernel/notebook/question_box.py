"""The question before a model's script runs, as widgets: Run, Edit, Reject, Always.

A button's callback may come on another thread, so it only tells the loop. Texts of the model stand
in widgets that show text, never HTML. Imported with the first question: ipywidgets takes its time.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from IPython.display import display
from ipywidgets import Button, HBox, Label, Layout, Textarea, VBox

from nit_kernel.model.permission import Answer

if TYPE_CHECKING:
    from collections.abc import Callable

    from nit_kernel.model.permission import Question, Verdict

_DONE = {
    "run": "allowed",
    "edit": "changed, then allowed",
    "always": "allowed, also from now on",
    "reject": "not allowed",
}
_MOST_LINES = 12


async def ask_by_widgets(question: Question) -> Answer:
    """Show the question under the cell and wait for a button."""
    box = QuestionBox(question)
    handle = display(box, display_id=True)
    said = "not answered"
    try:
        answer = await box.answer
        said = _DONE[answer.verdict]
        return answer
    finally:
        for widget in (*box.buttons, box.script, box):
            widget.close()
        if handle is not None:
            handle.update({"text/plain": f"{box.names}: {said}"}, raw=True)


class QuestionBox(VBox):
    """The question, and the answer that comes of it.

    Args:
        question: What the person is asked.
    """

    def __init__(self, question: Question) -> None:
        self._loop = asyncio.get_running_loop()
        self.answer: asyncio.Future[Answer] = self._loop.create_future()
        self._asked = question.script.strip("\n")
        self.names = ", ".join(
            f"{call.tool} ({call.times} times)" if call.times > 1 else call.tool
            for call in question.calls
        )
        rows = min(self._asked.count("\n") + 2, _MOST_LINES)
        self.script = Textarea(
            value=self._asked, disabled=True, rows=rows, layout=Layout(width="100%")
        )
        every = "these tools" if len(question.calls) > 1 else "this tool"
        self._run = _button("Run", "success", "Run the script")
        self._edit = _button("Edit", "", "Change the script before it runs")
        self._reject = _button("Reject", "danger", "Do not run it; the model is told so")
        self._always = _button(f"Always for {every}", "", "Run it, and do not ask for it again")
        self.buttons = (self._run, self._edit, self._reject, self._always)
        for button, act in (
            (self._run, self._on_run),
            (self._edit, self._on_edit),
            (self._reject, self._on_reject),
            (self._always, self._on_always),
        ):
            button.on_click(self._on_loop(act))
        super().__init__(
            children=(
                Label(value=f"The model wants to call {self.names}. May its script run?"),
                self.script,
                HBox(children=self.buttons),
            ),
            layout=Layout(width="100%", padding="4px 0"),
        )

    def _on_loop(self, act: Callable[[], None]) -> Callable[[Button], None]:
        def clicked(_: Button) -> None:
            self._loop.call_soon_threadsafe(act)

        return clicked

    def _on_run(self) -> None:
        script = str(self.script.value)
        if script != self._asked:
            self._say(Answer(verdict="edit", script=script))
        else:
            self._say("run")

    def _on_edit(self) -> None:
        self.script.disabled = False
        self._run.description = "Run as changed"
        self._edit.disabled = True
        self._always.disabled = True

    def _on_reject(self) -> None:
        self._say("reject")

    def _on_always(self) -> None:
        self._say("always")

    def _say(self, answer: Answer | Verdict) -> None:
        if not self.answer.done():
            made = answer if isinstance(answer, Answer) else Answer(verdict=answer)
            self.answer.set_result(made)


def _button(text: str, style: str, tooltip: str) -> Button:
    return Button(
        description=text, button_style=style, tooltip=tooltip, layout=Layout(width="auto")
    )
