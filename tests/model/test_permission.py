"""When a person is asked, what about, and what their answer means."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from nit_kernel.language.schema import ToolSpec
from nit_kernel.model.handshake import Handshake
from nit_kernel.model.permission import (
    Answer,
    AskedCall,
    Permission,
    Question,
    as_answer,
    nobody_to_ask,
    rejected,
)


@dataclass
class ATool:
    spec: ToolSpec

    @property
    def full_name(self) -> str:
        return f"notebook.{self.spec.nit_name}"


def tool(name: str, side_effects="external", *, confirm: bool = False) -> ATool:
    return ATool(
        ToolSpec(
            name=name,
            description="",
            parameters={"type": "object", "properties": {}},
            side_effects=side_effects,
            confirm=confirm,
        )
    )


READ = tool("read", "none")
READ_MARKED = tool("peek", "none", confirm=True)
WRITE = tool("write", "local")
SEND = tool("send")
SEND_MARKED = tool("pay", confirm=True)
ALL = [READ, READ_MARKED, WRITE, SEND, SEND_MARKED]


@pytest.mark.parametrize(
    ("confirm", "asked"),
    [
        ("side-effects", ["peek", "write", "send", "pay"]),
        ("marked", ["peek", "pay"]),
        ("never", []),
    ],
)
def test_each_setting_asks_for_its_tools(confirm, asked: list[str]) -> None:
    question = Permission(confirm).question("..", ALL)
    names = [] if question is None else [call.tool for call in question.calls]
    assert names == [f"notebook.{name}" for name in asked]


def test_a_question_names_each_tool_once_and_counts_its_calls() -> None:
    question = Permission().question("send()\nsend()", [SEND, READ, SEND])
    assert question == Question(
        script="send()\nsend()",
        calls=(
            AskedCall(
                tool="notebook.send",
                side_effects="external",
                confirm=False,
                signature="send()",
                times=2,
            ),
        ),
    )
    assert "notebook.send (2 times)" in str(question)


def test_a_tool_that_was_allowed_for_good_is_not_asked_for_again() -> None:
    permission = Permission()
    permission.allow(["notebook.send"])
    assert permission.question("..", [SEND]) is None
    assert permission.question("..", [SEND, WRITE]) is not None
    permission.forget()
    assert permission.question("..", [SEND]) is not None


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        (True, "run"),
        (False, "reject"),
        (None, "reject"),
        ("run", "run"),
        ("always", "always"),
        (Answer(verdict="edit", script="x()"), "edit"),
    ],
)
def test_an_answer_has_several_forms_and_none_of_them_runs_by_accident(reply, verdict) -> None:
    assert as_answer(reply).verdict == verdict


@pytest.mark.parametrize("reply", ["yes please", 1, {}])
def test_an_answer_of_another_form_is_an_error(reply) -> None:
    with pytest.raises(TypeError, match="must return"):
        as_answer(reply)


def test_an_unknown_setting_names_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r'"side-effects", "marked", "never"'):
        Permission("sometimes")  # type: ignore[arg-type]


def test_a_refusal_names_the_tools_and_the_setting() -> None:
    question = Permission().question("..", [SEND])
    assert question is not None
    error = nobody_to_ask(question)
    assert (error.code, "`notebook.send`" in error.message) == ("NIT670", True)
    assert "confirm='marked'" in str(error.hint)
    assert rejected(question, "not now").message == (
        "the person did not allow `notebook.send`: not now"
    )


def test_handshake_ids_are_of_four_characters_and_never_come_twice() -> None:
    handshake = Handshake()
    ids = [handshake.fresh() for _ in range(5_000)]
    assert len(set(ids)) == 5_000
    assert all(len(each) == 4 and each.isalnum() and each.upper() == each for each in ids)
    assert "XXXX" not in ids
    assert not any(each in repr(handshake) for each in ids if not each.isdigit())
