"""The stop button in every phase of an `%%ask` cell; then the next message works."""

import threading

import pytest
from asking import notes, run, said, send, talking, words

from nit_kernel.testing import Script, Wait

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(120)]

SOON_S = 2.0
"""A wide margin over what is wanted: half a second, against waits of half a minute."""


@pytest.fixture(scope="module")
def opened(plugin_folder):
    with talking(plugin_folder) as both:
        yield both


def interrupted(kernel, cell):
    pressed = kernel.interrupt()
    kernel.until(lambda: cell.done, 20)
    assert cell.error_name == "NitInterrupted", cell.text
    assert "Traceback" not in cell.error
    assert cell.replied - pressed < SOON_S


def phase(opened, *turns):
    kernel, model = opened
    kernel.run("%nit reset")
    model._turns = []
    model.requests.clear()
    model.add(*turns, "Next.")
    return kernel, model


def next_works(kernel, model, *before):
    cell = run(kernel, "%%ask\nnext\n")
    assert cell.status == "ok", cell.text
    assert words(cell) == "Next."
    assert said(model)[-1] == "next"
    for text in before:
        assert text in model.requests[-1].text


@pytest.mark.parametrize("wrapper", ["", "%%time\n"])
def test_before_the_first_word(opened, wrapper):
    gate = threading.Event()
    kernel, model = phase(opened, [Wait(gate), "never"])
    cell = send(kernel, f"{wrapper}%%ask\nfirst\n")
    kernel.until(lambda: len(model.requests) == 1)
    interrupted(kernel, cell)
    gate.set()
    next_works(kernel, model)


@pytest.mark.parametrize("wrapper", ["", "%%time\n"])
def test_in_the_middle_of_the_words(opened, wrapper):
    gate = threading.Event()
    kernel, model = phase(opened, ["Some words", Wait(gate), "never"])
    cell = send(kernel, f"{wrapper}%%ask\nfirst\n")
    kernel.until(lambda: words(cell) == "Some words")
    interrupted(kernel, cell)
    gate.set()

    assert words(cell) == "Some words"
    assert "! interrupted" in notes(cell)
    next_works(kernel, model, "Some words")


@pytest.mark.parametrize("wrapper", ["", "%%time\n"])
@pytest.mark.parametrize("call", ["nap", "doze", "sleep_in_plugin"])
def test_while_a_script_runs(opened, wrapper, call):
    script = Script(f"$kept = add(a=1)\n{call}(seconds=30)\n$never = add(a=2)")
    if call == "sleep_in_plugin":
        # It says nothing of its side effects.
        opened[0].run("%config NitMagics.confirm = 'never'")
    kernel, model = phase(opened, ["Wait. ", script])
    cell = send(kernel, f"{wrapper}%%ask\nfirst\n")
    kernel.until(lambda: len(model.requests) == 1)
    kernel.pump(0.7)
    assert not cell.done
    interrupted(kernel, cell)
    after = kernel.run("(kept, 'never' in globals())")
    kernel.run("%config NitMagics.confirm = 'side-effects'")

    assert after.result == "(2, False)"
    assert "cancelled" in notes(cell)
    next_works(kernel, model, "cancelled")


def test_between_two_rounds(opened):
    gate = threading.Event()
    kernel, model = phase(opened, [Script("$kept = add(a=1)")], [Wait(gate), "never"])
    cell = send(kernel, "%%ask\nfirst\n")
    kernel.until(lambda: len(model.requests) == 2)
    interrupted(kernel, cell)
    gate.set()
    next_works(kernel, model)


def test_while_the_server_does_not_answer_at_all(opened):
    """The port is open, and nobody speaks there."""
    import socket

    kernel, model = phase(opened)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        kernel.run(f"%config NitMagics.base_url = 'http://127.0.0.1:{silent.getsockname()[1]}/v1'")
        cell = send(kernel, "%%ask\nfirst\n")
        kernel.pump(0.7)
        interrupted(kernel, cell)
    kernel.run("%config NitMagics.base_url = ''")
    next_works(kernel, model)


def test_background_tasks_go_on(opened):
    gate = threading.Event()
    kernel, model = phase(
        opened, [Script("$slow = async doze(seconds=30)"), "Now", Wait(gate), "never"]
    )
    cell = send(kernel, "%%ask\nfirst\n")
    kernel.until(lambda: words(cell) == "Now")
    interrupted(kernel, cell)
    gate.set()
    listed = kernel.run("nit.tasks['slow'].state")

    assert "still running: slow" in cell.error
    assert listed.result == "'running'"
    next_works(kernel, model)


@pytest.mark.parametrize("wrapper", ["", "%%time\n"])
def test_while_a_tool_runs_that_takes_the_interrupt_for_itself(opened, wrapper):
    kernel, model = phase(opened, [Script("greedy()\n$late = add(a=2)")])
    kernel.run(
        "@nit.tool(side_effects='none')\n"
        "def greedy() -> str:\n"
        "    try:\n        time.sleep(30)\n"
        "    except BaseException:\n        return 'mine'\n"
    )
    cell = send(kernel, f"{wrapper}%%ask\nfirst\n")
    kernel.until(lambda: "running" in notes(cell))
    kernel.pump(0.3)
    interrupted(kernel, cell)

    assert kernel.run("'late' in globals()").result == "False"
    assert len(model.requests) == 1
    next_works(kernel, model)
