"""`%%ask` in an IPython without a kernel."""

import re
import time

import pytest

from nit_kernel.model.permission import Answer, AskedCall, Question
from nit_kernel.notebook.asking import ask_by_input
from nit_kernel.notebook.extension import unload_ipython_extension
from nit_kernel.testing import FakeModel, Script


@pytest.fixture
def loaded(shell):
    shell.run_line_magic("load_ext", "nit_kernel")
    shell.run_cell(
        "@nit.tool(side_effects='none')\n"
        "def add(a: int, b: int = 1) -> int:\n"
        "    '''Add.'''\n"
        "    return a + b\n"
    )
    yield shell
    unload_ipython_extension(shell)


def plain(text):
    return re.sub(r"\x1b\[\d*m", "", text)


@pytest.mark.parametrize("wrapper", ["", "%%time\n"])
def test_the_words_are_printed_as_they_come(loaded, capsys, wrapper):
    model = FakeModel([["Adding.\n", Script("$x = add(a=1, b=2)"), "\nWait."], "It is 3."])
    loaded.user_ns["nit"].chat.connect(client=model)
    loaded.user_ns["who"] = "Ada"
    outcome = loaded.run_cell(f"{wrapper}%%ask --codec nit --out answer\nHello {{who}}\n")
    shown = plain(capsys.readouterr().out)

    assert outcome.success
    for part in ("Adding.", "  | $x = add(a=1, b=2)", "$x = 3", "Wait.", "It is 3.", "2 rounds"):
        assert part in shown
    assert loaded.user_ns["x"] == 3
    assert loaded.user_ns["answer"] == "Adding.\n\nWait.\n\nIt is 3."
    assert model.requests[0].spoken("user") == ["Hello Ada"]


QUESTION = Question(
    script="send(to='x')",
    calls=(
        AskedCall(
            tool="mail.send", side_effects="external", confirm=False, signature="send(to)", times=1
        ),
    ),
)


@pytest.mark.parametrize(
    ("lines", "answer"),
    [
        (["r"], Answer(verdict="run")),
        (["Yes"], Answer(verdict="run")),
        (["a"], Answer(verdict="always")),
        (["j"], Answer(verdict="reject")),
        ([""], Answer(verdict="reject")),
        (["what?"], Answer(verdict="reject")),
        (["e", "$a = 1", "$b = 2", "."], Answer(verdict="edit", script="$a = 1\n$b = 2")),
        ([], Answer(verdict="reject", reason="nobody answered")),
        (["e", "$a = 1"], Answer(verdict="reject", reason="nobody answered")),
    ],
)
def test_the_person_answers_on_standard_input(capsys, lines, answer):
    left = list(lines)

    def read(_prompt):
        if not left:
            raise EOFError
        return left.pop(0)

    assert ask_by_input(QUESTION, read=read) == answer
    assert "The model wants to call mail.send" in capsys.readouterr().out


def test_nothing_is_written_while_the_person_is_asked(loaded, capsys):
    written = []

    def ask(_question):
        before = capsys.readouterr().out
        time.sleep(0.3)
        written.append(capsys.readouterr().out)
        assert "Before." in before
        return Answer(verdict="reject")

    loaded.run_cell("@nit.tool\ndef send(to: str) -> str:\n    return 'sent'\n")
    model = FakeModel([["Before.\n", Script("send(to='x')"), "\nAfter."], "Then not."])
    loaded.user_ns["nit"].chat.connect(client=model)
    loaded.user_ns["nit"].chat.ask = ask
    loaded.run_cell("%%ask --codec nit\ngo\n")

    assert written == [""]
    assert "After." in plain(capsys.readouterr().out)
