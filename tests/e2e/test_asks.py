"""`%%ask` in a real kernel over real HTTP: what a person sees, and what is sent."""

import json

import pytest
from asking import notes, run, said, send, talking, words
from kernel_driver import NIT, STOCK

from nit_kernel.testing import Disconnect, Pause, Refuse, Reply, Script, Think

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(120)]


@pytest.fixture(scope="module")
def kernel_and_model(plugin_folder):
    with talking(plugin_folder) as opened:
        yield opened


@pytest.fixture
def talk(kernel_and_model):
    """A conversation that begins anew: `talk(*turns)` gives kernel and model."""
    kernel, model = kernel_and_model
    assert kernel.run("%nit reset").status == "ok"

    def begin(*turns):
        model._turns = []
        model.requests.clear()
        model.add(*turns)
        return kernel, model

    yield begin
    assert model.remaining == 0


@pytest.mark.parametrize("kind", [NIT, STOCK])
def test_words_stream_into_one_output_and_scripts_stand_under_them(plugin_folder, kind):
    turns = (
        [
            Think("They want a sum."),
            "Adding.\n\n",
            Script("$x = add(a=1, b=2)\n$y = add(a=$x, b=10)\n$y"),
            "\n\nOne moment.",
        ],
        "It is **13**.",
    )
    with talking(plugin_folder, *turns, kind=kind) as (kernel, _):
        cell = run(kernel, "%%ask --out answer\nAdd them, please.\n", "c1")
        after = kernel.run("(x, y, nit.last.value, answer)")

    assert cell.status == "ok", cell.text
    shown = [m.content for m in cell.messages if m.kind == "display_data"]
    assert ["text/markdown" in c["data"] for c in shown] == [True, False]
    assert words(cell) == "Adding.\n\nOne moment.\n\nIt is **13**."
    lines = notes(cell).splitlines()
    assert lines[0] == "reasoning: They want a sum."
    assert lines[1].startswith("✓ script 1 · 2 calls · ")
    assert lines[1].endswith("→ 13")
    assert lines[2:5] == [
        "    | $x = add(a=1, b=2)",
        "    | $y = add(a=$x, b=10)",
        "    | $y",
    ]
    assert lines[5].startswith("    ✓ add(a=1, b=2) → $x = 3 (")
    assert lines[7] == "    %nit keep 1"
    assert lines[8].startswith("fake-model · codec nit · ")
    assert "2 rounds" in lines[8]
    assert "first word after" in lines[8]
    assert after.result == "(3, 13, 13, 'Adding.\\n\\nOne moment.\\n\\nIt is **13**.')"
    usage = [m.content["metadata"] for m in cell.messages if m.content.get("metadata")]
    assert usage[-1]["nit"]["rounds"] == 2
    assert usage[-1]["nit"]["completion_tokens"] > 0


WAITERS = {
    "a coroutine": (
        "async def wait_for_file() -> str:\n"
        "    while not gate.exists():\n        await asyncio.sleep(0.01)\n"
    ),
    "a function of the notebook": (
        "def wait_for_file() -> str:\n"
        "    where.append(threading.current_thread() is threading.main_thread())\n"
        "    while not gate.exists():\n        time.sleep(0.01)\n"
    ),
}
WAYS = {
    "awaited": "%%ask\ngo\n",
    "nested": "%%time\n%%ask\ngo\n",
}


@pytest.mark.parametrize("kind", WAITERS)
@pytest.mark.parametrize("way", WAYS)
def test_words_go_on_being_shown_while_a_script_runs(talk, tmp_path, kind, way):
    gate = tmp_path / "open"
    kernel, _ = talk(["Before. ", Script("$a = wait_for_file()"), "After."], "End.")
    kernel.run(
        "import asyncio, pathlib, threading, time\n"
        f"gate, where = pathlib.Path({str(gate)!r}), []\n"
        f"@nit.tool(side_effects='none')\n{WAITERS[kind]}    return 'open'\n"
    )
    cell = send(kernel, WAYS[way])
    kernel.until(lambda: words(cell) == "Before. After.")
    kernel.until(lambda: "running" in notes(cell))
    gate.touch()
    kernel.until(lambda: cell.done)

    assert words(cell) == "Before. After.\n\nEnd."
    assert '→ $a = "open"' in notes(cell).replace("'", '"')
    if kind == "a function of the notebook":
        assert kernel.run("where").result == "[True]"


def test_a_flood_of_words_becomes_few_messages(talk):
    pieces = [part for n in range(300) for part in (f"w{n} ", Pause(0.003))]
    kernel, _ = talk(pieces)
    cell = run(kernel, "%%ask\ngo\n")
    updates = [m for m in cell.messages if "display" in m.kind]

    assert words(cell).split() == [f"w{n}" for n in range(300)]
    assert 4 <= len(updates) <= 4 + 20 * cell.seconds
    by_id = {}
    for message in updates:
        key = message.content["transient"]["display_id"]
        by_id.setdefault(key, []).append(message.at)
    assert len(by_id) == 2
    assert max(map(len, by_id.values())) <= 4 + 10 * cell.seconds


def test_running_a_cell_again_replaces_its_turn(talk):
    kernel, model = talk("one", "two", "two again", "three")
    run(kernel, "%%ask\nfirst\n", "c1")
    run(kernel, "%%ask\nsecond\n", "c2")
    run(kernel, "%%ask\nsecond, in other words\n", "c2")
    run(kernel, "%%ask\nthird\n", "c3")

    assert said(model) == ["first", "second, in other words", "third"]
    assert model.requests[-1].spoken("assistant") == ["one", "two again"]


def test_a_cell_that_asks_twice_keeps_both_turns(talk):
    kernel, model = talk("one", "two", "three")
    twice = "for text in ('a', 'b'):\n    get_ipython().run_cell_magic('ask', '', text)\n"
    run(kernel, twice, "c1")
    run(kernel, "%%ask\nc\n", "c2")

    assert said(model) == ["a", "b", "c"]


def test_fresh_begins_anew(talk):
    kernel, model = talk("one", "two")
    run(kernel, "%%ask\nfirst\n", "c1")
    run(kernel, "%%ask --fresh\nsecond\n", "c2")

    assert said(model) == ["second"]


def test_a_dry_run_shows_the_request_and_sends_nothing(talk):
    kernel, model = talk("one", "two")
    run(kernel, "%%ask\nfirst\n", "c1")
    cell = run(kernel, "%%ask --dry-run --out body\nsecond {unknown}\n", "c2")
    fresh = run(kernel, "%%ask --dry-run --fresh\nsecond\n", "c2")
    listed = kernel.run("[m['content'] for m in body['messages'] if m['role'] == 'user']")
    assert len(model.requests) == 1
    run(kernel, "%%ask\nthird\n", "c3")

    assert cell.text.strip().startswith("nothing was sent; this would go to http://127.0.0.1:")
    assert json.loads(cell.text[cell.text.index("{") :])["model"] == "fake-model"
    assert listed.result == "['first', 'second {unknown}']"
    assert '"first"' not in fresh.text
    assert said(model) == ["first", "third"]


def test_another_model_or_codec_for_one_message(talk):
    kernel, model = talk("one", '{"type": "final", "text": "two"}', "three")
    run(kernel, "%%ask --model other\na\n")
    cell = run(kernel, "%%ask --codec json\nb\n")
    run(kernel, "%%ask\nc\n")

    assert [request["model"] for request in model.requests] == ["other", "fake-model", "fake-model"]
    assert words(cell) == "two"
    assert "codec json" in notes(cell)
    assert said(model) == ["a", "b", "c"]


@pytest.mark.parametrize("wrapper", ["%%time\n", "%%capture --no-stdout\n", ""])
def test_nested_in_another_magic_it_does_the_same(talk, wrapper):
    kernel, _ = talk(["Adding.\n", Script("$n = add(a=4, b=5)")], "It is 9.")
    cell = run(kernel, f"{wrapper}%%ask --out said\nadd\n")
    after = kernel.run("(n, said)")

    assert cell.status == "ok", cell.text
    assert after.result == "(9, 'Adding.\\n\\nIt is 9.')"


def test_an_empty_cell_says_how_it_is_used(talk):
    kernel, _ = talk()
    for code in ("%%ask", "%%ask\n", "%%ask\n  \n\n", "%%time\n%%ask\n \n"):
        cell = run(kernel, code)
        assert cell.status == "ok", cell.text
        assert cell.stdout.startswith("Usage: %%ask [--model M]")


@pytest.mark.parametrize(
    ("line", "words_of_it"),
    [
        ("--modle x", ["no option `--modle`", "did you mean `--model`?"]),
        ("what is this", ["stands on the %%ask line"]),
        ("--out 1x", ["cannot be a Python name"]),
        ("--out class", ["cannot be a Python name"]),
        ("--codec", ["expected one argument"]),
    ],
)
def test_a_wrong_option_is_one_line(talk, line, words_of_it):
    kernel, _ = talk()
    cell = run(kernel, f"%%ask {line}\nhello\n")

    assert cell.status == "error"
    assert len(cell.text.strip().splitlines()) == 1
    assert all(part in cell.text for part in words_of_it)


def test_an_unknown_codec_is_an_error_that_names_the_known_ones(talk):
    kernel, _ = talk()
    cell = run(kernel, "%%ask --codec jsno\nhello\n")
    chosen = kernel.run("%nit codec jsno")
    kept = kernel.run("%nit codec")

    for each in (cell, chosen):
        assert each.status == "error"
        assert "native" in each.error
        assert "Traceback" not in each.error
    assert kept.stdout == "codec: nit\n"


def test_a_reply_that_is_repaired_is_folded_away(talk):
    kernel, model = talk(
        ["Wrong words. ", Script("$x = ad(a=1)")],
        ["Right words. ", Script("$x = add(a=1)")],
        "Two.",
    )
    cell = run(kernel, "%%ask\nadd\n")

    assert words(cell) == "Right words.\n\nTwo."
    assert any("Wrong words." in d.get("text/html", "") for d in cell.displays)
    badges = [line for line in notes(cell).splitlines() if line.startswith("! ")]
    assert badges == ["! there is no tool `ad`; asked again (1 of 2)"]
    assert "1 repaired" in notes(cell)
    assert len(model.requests) == 3


def test_a_fallback_is_a_line(talk):
    bad = [Script("$x = ad(a=1)")]
    kernel, _ = talk(bad, bad, bad, "Native words.")
    cell = run(kernel, "%%ask\nadd\n")

    assert words(cell).strip() == "Native words."
    assert any("from codec nit to native" in line for line in notes(cell).splitlines())
    assert "codec nit, then native" in notes(cell)


def test_a_script_that_fails_shows_its_error_and_the_model_goes_on(talk):
    kernel, model = talk([Script('boom(msg="<b>no</b> luck")')], "A pity.")
    cell = run(kernel, "%%ask\ntry\n")

    assert cell.status == "ok"
    assert "✗ script" in notes(cell)
    assert "no</b> luck" in notes(cell)
    assert "luck" in model.requests[-1].text
    assert words(cell).strip() == "A pity."


def test_a_script_becomes_a_cell(talk):
    kernel, _ = talk([Script("$x = add(a=1)\n$x")], "Two.")
    run(kernel, "%%ask\nadd\n")
    cell = kernel.run("%nit keep")
    wrong = kernel.run("%nit keep 7")

    assert cell.reply["payload"] == [
        {
            "source": "set_next_input",
            "text": "%%nit\n$x = add(a=1)\n$x\n",
            "replace": False,
        }
    ]
    assert "A number from 1 to 1" in wrong.text


def test_hostile_words_reach_the_page_as_text_alone(talk):
    hostile = (
        "<img src=q onerror=\"document.title='HIT'\"> and [l](javascript:void(0)) & <b>5 < 6</b>"
    )
    kernel, _ = talk([f"{hostile}\n\n", Script("$t = echo(msg=$hostile)\n$t")], hostile)
    kernel.run(f"hostile = {hostile!r}")
    kernel.run("%nit share hostile")
    cell = run(kernel, "%%ask\ngo\n")

    assert words(cell) == f"{hostile}\n\n{hostile}"
    for bundle in cell.displays:
        for kind in ("text/markdown", "text/html"):
            assert "<img" not in bundle.get(kind, "")
            assert "<b>" not in bundle.get(kind, "")
        assert "](javascript" not in bundle.get("text/markdown", "")


def test_a_models_script_leaves_the_names_of_the_notebook_alone(talk):
    kernel, _ = talk(
        [Script("$mine = add(a=1)\n$list = add(a=2)\n$lent = add(a=3)\n$new = add(a=4)")], "Done."
    )
    kernel.run("mine, lent = 'mine', 'lent'")
    kernel.run("%nit share lent")
    cell = run(kernel, "%%ask\ngo\n")
    after = kernel.run("(mine, lent, new, list is __builtins__.list, dict(nit.vars))")
    again = kernel.run("(mine, lent, new)")

    assert after.result == (
        "('mine', 'lent', 5, True, {'lent': 4, 'mine': 2, 'list': 3, 'new': 5})"
    )
    assert again.result == "('mine', 'lent', 5)"
    for name in ("mine", "list", "lent"):
        assert cell.stderr.count(f'nit.vars["{name}"]') == 1


def test_a_model_sees_only_what_was_shared(talk):
    kernel, _ = talk([Script("$s = echo(msg=$secret)")], [Script("$s = echo(msg=$open)")], "Ok.")
    kernel.run("secret, open_text = 's', 'o'")
    kernel.run("open = 'o'")
    kernel.run("%nit share open")
    cell = run(kernel, "%%ask\ngo\n")

    assert "undefined" in notes(cell) or "no variable" in notes(cell), notes(cell)
    assert kernel.run("s").result == "'o'"


def test_nit_chat_speaks_from_python(talk):
    kernel, _ = talk("one", "two")
    run(kernel, "%%ask\nfirst\n", "c1")
    cell = kernel.run(
        "texts = [e.text for e in nit.chat.send('second') if hasattr(e, 'text')]\n"
        "(''.join(texts[:-1]), len(nit.chat.history), nit.chat.last_usage.rounds)"
    )
    history = kernel.run("%nit history")

    assert cell.result == "('two', 4, 1)", cell.text
    assert [line.split()[1] for line in history.text.strip().splitlines()[1:5]] == [
        "user",
        "assistant",
        "user",
        "assistant",
    ]


def test_reset_forgets_the_conversation_too(talk):
    kernel, model = talk("one", "two")
    run(kernel, "%%ask\nfirst\n")
    cell = kernel.run("%nit reset")
    run(kernel, "%%ask\nsecond\n")

    assert cell.stdout == "0 variables, 1 message forgotten; the tools stay\n"
    assert said(model) == ["second"]


def test_a_disconnect_after_the_first_word_keeps_it_and_the_next_message_works(talk):
    kernel, _ = talk(["Some wor", Disconnect()], "Whole.")
    cell = run(kernel, "%%ask\nfirst\n")
    after = run(kernel, "%%ask\nsecond\n")

    assert cell.status == "error"
    assert "broke off" in cell.error
    assert words(cell) == "Some wor"
    assert words(after) == "Whole."


def test_a_rate_limit_is_waited_for_and_said(talk):
    kernel, _ = talk(Refuse(429, "slow down", headers={"retry-after": "1"}), "Here.")
    cell = run(kernel, "%%ask\nhello\n")

    assert words(cell) == "Here."
    assert any(line.startswith("! ") and "429" in line for line in notes(cell).splitlines())


def test_a_reply_cut_by_the_limit_is_said(talk):
    kernel, _ = talk(Reply("And so", finish="length"))
    cell = run(kernel, "%%ask\nhello\n")

    assert "cut off" in notes(cell)


PICTURE = """
class Picture:
    def _repr_png_(self):
        return b"\\x89PNG data"

pic, who = Picture(), "Ada"
"""


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_a_picture_is_sent_with_the_message(talk, api):
    kernel, model = talk("A picture.")
    kernel.run(PICTURE)
    kernel.run(f"%config NitMagics.api = '{api}'")
    cell = run(kernel, "%%ask\n{who} asks: what is in {pic}? {0}\n")
    kernel.run("%config NitMagics.api = 'chat'")
    sent = model.requests[-1].text

    assert words(cell) == "A picture.", cell.text
    assert "Ada asks: what is in [image: pic]? {0}" in sent
    assert "data:image/png;base64,iVBORyBkYXRh" in sent
    assert ('"input_image"' if api == "responses" else '"image_url"') in sent


def test_braces_are_sent_as_they_stand(talk):
    kernel, model = talk("ok")
    kernel.run("who, v, d, k = 'Ada', 1, {}, 2")
    body = "explain {v:k for k,v in d.items()} and {'a': {'b': 1}} and {who.upper} and ${who}\n"
    run(kernel, f"%%ask\n{body}")

    assert said(model) == [body.strip()]


def test_a_notebook_function_runs_on_the_thread_of_its_cell(talk):
    kernel, _ = talk([Script("$t = where()")], "There.")
    run(kernel, "%%ask\nwhere\n")

    assert kernel.run("t").result == "'MainThread'"


def test_what_tools_print_stands_under_the_cell(talk):
    kernel, _ = talk([Script('chatter(n=2, pause=0.01, word="tick")')], "Done.")
    cell = run(kernel, "%%ask\nchat\n")

    assert cell.stdout == "tick 0\ntick 1\n"


def test_old_blocks_run_where_the_setting_says_so(talk):
    block = "[[[NIT_CALL]]]\nadd\na: [START]4[END]\n[[[NIT_END]]]"
    kernel, _ = talk(block, block, "Done.", "Next.")
    first = run(kernel, "%%ask\ngo\n")
    kernel.run("%config NitMagics.legacy = True")
    second = run(kernel, "%%ask\ngo\n")
    third = run(kernel, "%%ask\nnext\n")
    kernel.run("%config NitMagics.legacy = False")

    assert block in words(first)
    assert "script" not in notes(first)
    assert words(second) == "Done."
    assert "→ 5" in notes(second)
    assert second.stderr.startswith("warning: NIT 1.0 blocks carry no id")
    assert (first.stderr, third.stderr) == ("", "")


def test_a_cap_ends_the_turn_with_a_line(talk):
    kernel, _ = talk([Script("$x = add(a=1)")], "Next.")
    kernel.run("%config NitMagics.max_rounds = 1")
    cell = run(kernel, "%%ask\ngo\n")
    kernel.run("%config NitMagics.max_rounds = 10")
    run(kernel, "%%ask\nnext\n")

    assert "! stopped after 1 rounds, the most for one turn" in notes(cell)


def test_a_tag_of_another_turn_is_shown_and_runs_nothing(talk):
    kernel, _ = talk([Script("$evil = add(a=1)", id="ZZZZ")], "Sorry.")
    cell = run(kernel, "%%ask\ngo\n")

    assert "<nit-ZZZZ>" in words(cell)
    assert any("ran nothing" in line for line in notes(cell).splitlines())
    assert kernel.run("'evil' in globals()").result == "False"
