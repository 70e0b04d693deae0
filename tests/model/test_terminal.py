"""`nit chat`: what a person at a terminal sees and can do."""

from __future__ import annotations

import io
import os
import signal
import threading
from collections.abc import Iterator

import pytest
from chatting import Desk, talking

import nit_kernel as nit
from nit_kernel.cli import main
from nit_kernel.model.terminal import run_chat
from nit_kernel.testing import FakeModel, Refuse, Reply, Script, Think, Wait, openai_server


class Person:
    """Types lines; what they were asked stands in `prompts`."""

    def __init__(self, *lines: str | BaseException) -> None:
        self._lines: Iterator[str | BaseException] = iter(lines)
        self.prompts: list[str] = []

    def __call__(self, prompt: str) -> str:
        self.prompts.append(prompt)
        line = next(self._lines, EOFError())
        if isinstance(line, BaseException):
            raise line
        return line


def talk(model: FakeModel, *lines, is_person: bool = True, **options) -> tuple[int, str, Person]:
    """What the terminal shows while a person types these lines."""
    person, screen = Person(*lines), io.StringIO()
    with talking(model, **options) as chat:
        status = run_chat(chat, read=person, screen=screen, is_person=is_person)
    return status, screen.getvalue(), person


def test_words_scripts_and_values_are_shown_as_they_come() -> None:
    model = FakeModel([[Think("hm"), "Adding. ", Script("$x = add(a=1, b=2)")], "It is 3."])
    status, shown, _ = talk(model, "What is 1 + 2?", tools=Desk().tools, codec="nit")
    lines = shown.splitlines()
    assert status == 0
    assert lines[0] == "fake-model at the test. /help helps, Ctrl-D ends."
    assert lines[1:6] == ["hmAdding. ", "  | $x = add(a=1, b=2)", "  $x = 3", "It is 3.", lines[5]]
    assert "2 rounds" in lines[5]


def test_the_commands_show_tools_variables_and_usage() -> None:
    model = FakeModel([Script("$x = add(a=1, b=2)"), "ok"])
    lines = [
        "go",
        "/vars",
        "/tools",
        "/usage",
        "/codec native",
        "/codec",
        "/reset",
        "/help",
        "/quit",
    ]
    _, shown, _ = talk(model, *lines, "never read", tools=Desk().tools, codec="nit")
    assert "$x  Number  3" in shown
    assert "add(a: int, b: int) -> int" in shown
    assert "codec: native\ncodec: auto\nbegun anew\n" in shown
    assert "/usage" in shown


@pytest.mark.parametrize(
    ("said", "calls"),
    [
        (["r"], [("publish", "a", 1)]),
        (["j"], []),
        ([""], []),
        ([EOFError()], []),
        (["e", 'publish(title="b", lines=2)', "."], [("publish", "b", 2)]),
        (["a"], [("publish", "a", 1)]),
    ],
)
def test_the_person_is_asked_before_a_script_with_side_effects(said, calls) -> None:
    desk = Desk()

    @nit.tool(side_effects="external")
    def publish(title: str, lines: int) -> str:
        return desk.publish(title, lines)

    model = FakeModel([Script('publish(title="a", lines=1)'), "Done."])
    _, shown, person = talk(model, "go", *said, tools=[publish], codec="nit")
    assert desk.calls == calls
    assert "The model wants to call notebook.publish" in shown
    assert person.prompts[1].startswith("run, edit, reject, or always")


def test_ctrl_c_stops_a_reply_and_the_conversation_goes_on() -> None:
    model = FakeModel([Reply("So ", Wait(threading.Event())), "Again."])
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    status, shown, _ = talk(model, "go", "again")
    assert status == 0
    assert "So \n(stopped; what was bound is kept)\nAgain." in shown


def test_ctrl_c_at_the_prompt_begins_a_new_line() -> None:
    status, shown, _ = talk(FakeModel(["Hi."]), KeyboardInterrupt(), "hello")
    assert (status, "Hi." in shown) == (0, True)


def test_an_error_is_shown_with_its_hint_and_ends_a_pipe_with_status_1() -> None:
    for is_person, status in ((True, 0), (False, 1)):
        model = FakeModel([Refuse(401, "bad key"), "never"])
        got, shown, _ = talk(model, "go", is_person=is_person, api="chat")
        assert got == status
        assert "NIT654" in shown
        assert "OPENAI_API_KEY" in shown


def test_a_pipe_gets_the_words_and_no_prompts() -> None:
    status, shown, person = talk(FakeModel(["One.", "Two."]), "a", "b", is_person=False)
    assert status == 0
    assert [line for line in shown.splitlines() if "tokens" not in line] == ["One.", "Two."]
    assert set(person.prompts) == {""}


def test_a_model_cannot_steer_the_terminal() -> None:
    _, shown, _ = talk(FakeModel(["\x1b]0;owned\x07\x1b[2J\x9b1mhi"]), "go")
    assert "\x1b" not in shown
    assert "\x9b" not in shown
    assert "\\x1b]0;owned\\x07" in shown


def test_where_no_model_is_set_up_a_person_is_told_at_once(monkeypatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "NIT_MODEL"):
        monkeypatch.delenv(name, raising=False)
    person, screen = Person("never read"), io.StringIO()
    with nit.Session() as session, nit.Chat(session=session) as chat:
        assert run_chat(chat, read=person, screen=screen, is_person=True) == 1
    assert screen.getvalue().startswith("NIT650: no model is set up: set OPENAI_API_KEY")
    assert person.prompts == []


def test_the_command_talks_to_a_server_from_a_pipe(monkeypatch, capsys) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("What is 1 + 2?\n"))
    model = FakeModel([Script('$x = call("text.summarize_text", content="One. Two.")'), "3"])
    with openai_server(model) as server:
        command = ["chat", "--base-url", server.base_url, "--codec", "nit", "--confirm", "never"]
        assert main(command) == 0
    assert "\n3\n" in capsys.readouterr().out
    assert "summarize_text" in model.requests[1].last_text


def test_the_command_names_the_codecs_that_there_are(capsys) -> None:
    assert main(["chat", "--codec", "klingon"]) == 2
    assert "`native`" in capsys.readouterr().err
