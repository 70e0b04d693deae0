"""Who is asked before a model's script runs, and how: buttons, `input()`, or nobody."""

import pytest
from asking import notes, run, send, talking, words
from kernel_tools import TOOLS

from nit_kernel.testing import Call, Script

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(120)]

SCRIPT = Script("$x = add(a=1)\n$y = add(a=$x)")


@pytest.fixture(scope="module")
def opened(plugin_folder):
    with talking(plugin_folder, setup=TOOLS) as both:
        yield both


@pytest.fixture
def talk(opened):
    kernel, model = opened
    kernel.run("%nit reset")
    kernel.widgets.clear()
    kernel.input_requests.clear()

    def begin(*turns):
        model._turns = []
        model.requests.clear()
        model.add(*turns)
        return kernel, model

    return begin


def button(kernel, word):
    """The id of the shown button that begins with a word."""
    found = [
        identity
        for identity, state in kernel.models("ButtonModel").items()
        if state["description"].startswith(word)
    ]
    return found[-1] if found else None


def press(kernel, word):
    kernel.until(lambda: button(kernel, word) is not None)
    kernel.click(button(kernel, word))


def test_run_by_a_button(talk):
    kernel, _ = talk([SCRIPT], "Three.")
    cell = send(kernel, "%%ask\ngo\n", "c1")
    kernel.until(lambda: button(kernel, "Run") is not None and kernel.models("LabelModel"))
    labels = [s["value"] for s in kernel.models("LabelModel").values()]
    scripts = [s["value"] for s in kernel.models("TextareaModel").values()]
    assert not cell.done
    press(kernel, "Run")
    kernel.until(lambda: cell.done)

    assert labels == ["The model wants to call notebook.add (2 times). May its script run?"]
    assert [s.strip() for s in scripts] == [SCRIPT.source]
    assert words(cell) == "Three."
    assert "notebook.add (2 times): allowed" in cell.text
    assert kernel.run("(x, y)").result == "(2, 3)"
    assert kernel.models("ButtonModel") == {}


def test_reject_by_a_button(talk):
    kernel, model = talk([SCRIPT], "Then not.")
    cell = send(kernel, "%%ask\ngo\n", "c1")
    press(kernel, "Reject")
    kernel.until(lambda: cell.done)

    assert "not allowed; nothing of it ran" in notes(cell)
    assert "did not allow" in model.requests[-1].text
    assert kernel.run("'x' in globals()").result == "False"


def test_always_by_a_button_asks_once(talk):
    kernel, _ = talk([SCRIPT], [SCRIPT], "Done.", [SCRIPT], "Again.")
    cell = send(kernel, "%%ask\ngo\n", "c1")
    press(kernel, "Always")
    kernel.until(lambda: cell.done)
    again = run(kernel, "%%ask\ngo on\n", "c2")

    assert words(cell) == "Done."
    assert words(again) == "Again."


def test_edit_by_a_button(talk):
    kernel, model = talk([SCRIPT], "Done.")
    cell = send(kernel, "%%ask\ngo\n", "c1")
    press(kernel, "Edit")
    box = next(iter(kernel.models("TextareaModel")))
    kernel.until(lambda: kernel.widgets[box]["disabled"] is False)
    kernel.change(box, value="$x = add(a=40, b=2)")
    press(kernel, "Run as changed")
    kernel.until(lambda: cell.done)

    assert kernel.run("x").result == "42"
    assert "$x = add(a=40, b=2)" in model.requests[-1].text


def test_the_stop_button_ends_the_question(talk):
    kernel, _ = talk([SCRIPT], "Next.")
    cell = send(kernel, "%%ask\ngo\n", "c1")
    kernel.until(lambda: button(kernel, "Run") is not None)
    pressed = kernel.interrupt()
    kernel.until(lambda: cell.done)
    after = run(kernel, "%%ask\nnext\n", "c2")

    assert cell.error_name == "NitInterrupted"
    assert cell.replied - pressed < 2
    assert "not answered" in cell.text
    assert kernel.models("ButtonModel") == {}
    assert words(after) == "Next."


@pytest.mark.parametrize("wrapper", ["", "%%time\n"])
@pytest.mark.parametrize(("answer", "result"), [("r", "True"), ("a", "True"), ("n", "False")])
def test_where_no_widgets_are_shown_input_asks(talk, wrapper, answer, result):
    kernel, _ = talk([SCRIPT], "Done.")
    cell = send(kernel, f"{wrapper}%%ask\ngo\n", None if not wrapper else "c1")
    kernel.until(lambda: kernel.input_requests)
    kernel.client.input(answer)
    kernel.until(lambda: cell.done)

    assert kernel.input_requests[0]["prompt"].startswith("run, edit, reject, or always")
    assert "The model wants to call notebook.add (2 times)" in cell.stdout
    assert cell.status == "ok", cell.text
    assert kernel.run("'x' in globals()").result == result


@pytest.mark.parametrize("wrapper", ["", "%%time\n"])
def test_the_stop_button_ends_input(talk, wrapper):
    kernel, _ = talk([SCRIPT], "Next.")
    cell = send(kernel, f"{wrapper}%%ask\ngo\n")
    kernel.until(lambda: kernel.input_requests)
    kernel.interrupt()
    kernel.until(lambda: cell.done)
    after = run(kernel, "%%ask\nnext\n")

    assert cell.error_name == "NitInterrupted", cell.text
    assert words(after) == "Next."


def test_where_nobody_can_answer_it_is_refused_and_the_setting_named(talk):
    kernel, _ = talk([SCRIPT], "Pity.")
    cell = run(kernel, "%%ask\ngo\n", allow_stdin=False)

    assert cell.status == "ok", cell.text
    assert "not allowed; nothing of it ran" in notes(cell)
    assert "c.NitMagics.confirm" in notes(cell)
    assert words(cell) == "Pity."


def test_the_setting_allows_it(talk):
    kernel, _ = talk([SCRIPT], "Done.")
    kernel.run("%config NitMagics.confirm = 'never'")
    cell = run(kernel, "%%ask\ngo\n", allow_stdin=False)
    kernel.run("%config NitMagics.confirm = 'side-effects'")

    assert words(cell) == "Done."
    assert kernel.run("(x, y)").result == "(2, 3)"


def test_native_calls_are_asked_for_too(talk):
    kernel, _ = talk([Call("add", {"a": 1})], "Done.")
    cell = send(kernel, "%%ask --codec native\ngo\n", "c1")
    press(kernel, "Reject")
    kernel.until(lambda: cell.done)

    assert "not allowed" in notes(cell)


def test_a_callback_of_ones_own_answers(talk):
    kernel, _ = talk([SCRIPT], "Done.")
    kernel.run("nit.chat.ask = lambda question: True")
    cell = run(kernel, "%%ask\ngo\n", "c1")
    kernel.run("nit.chat.ask = None")

    assert words(cell) == "Done."


def test_a_persons_own_cell_does_not_ask(talk):
    kernel, _ = talk()
    cell = run(kernel, "%%nit\n$x = add(a=1)\n$x\n", "c1")

    assert cell.result == "2"
