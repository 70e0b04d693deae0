"""What tools print and show stands under the cell that started them, bounded, and as text."""

import ipykernel
import pytest

pytestmark = pytest.mark.e2e

HEARS_ALL = ipykernel.version_info[:2] >= (7, 4)
"""Whether the kernel hears widgets on its shell while a cell waits."""


@pytest.fixture(autouse=True)
def fresh(kernel):
    yield
    kernel.run("%nit cancel all")
    kernel.run("%nit reset")


@pytest.mark.parametrize("tool", ["chatter", "achatter", "speak"])
def test_prints_of_a_background_tool_stay_with_its_cell(kernel, tool):
    word = f"{tool}-tick"
    pause = "" if tool == "speak" else ", pause=0.2"
    first = kernel.send(f'%%nit\nasync {tool}(n=3, word="{word}"{pause})\n')
    kernel.until(lambda: first.done)
    second = kernel.run("import time; print('cell1'); time.sleep(1)")
    third = kernel.run("import asyncio; await asyncio.sleep(0.5)", settle=0.5)

    for number in range(3):
        assert f"{word} {number}\n" in first.stdout
    assert second.stdout == "cell1\n"
    assert third.messages == [m for m in third.messages if m.kind in ("status", "execute_input")]


def test_two_cells_with_the_same_tool_keep_apart(kernel):
    first = kernel.send('%%nit\nasync chatter(n=4, pause=0.15, word="one")\n')
    kernel.until(lambda: first.done)
    second = kernel.send('%%nit\nasync chatter(n=4, pause=0.15, word="two")\n')
    kernel.until(lambda: second.done)
    kernel.pump(1.5)

    assert first.stdout == "".join(f"one {i}\n" for i in range(4))
    assert second.stdout == "".join(f"two {i}\n" for i in range(4))


def test_prints_of_a_call_stand_in_order_under_its_cell(kernel):
    cell = kernel.run('%%nit\nchatter(n=2, pause=0)\nspeak(word="plugin", n=2)\nachatter(n=1)\n')

    assert cell.stdout == "tick 0\ntick 1\nplugin 0\nplugin 1\ntick 0\n"


def test_capturing_a_python_cell_does_not_catch_the_background(kernel):
    first = kernel.send('%%nit\nasync chatter(n=5, pause=0.1, word="mine")\n')
    kernel.until(lambda: first.done)
    kernel.run(
        "%%capture caught\nimport time\nfor _ in range(5):\n    time.sleep(0.1)\nprint('py')"
    )
    kernel.pump(0.5)

    assert kernel.run("caught.stdout").result == "'py\\n'"
    assert first.stdout == "".join(f"mine {i}\n" for i in range(5))


def test_a_flood_of_lines_shows_head_and_tail(kernel):
    kernel.run(
        "@nit.tool\ndef flood() -> str:\n    for i in range(200_000):\n        print('line', i)\n"
        "    return 'over'"
    )
    cell = kernel.run("%%nit\nflood()\n", timeout=60)

    assert cell.status == "ok"
    assert cell.stdout.startswith("line 0\nline 1\n")
    assert cell.stdout.endswith("line 199999\n")
    assert "characters left out" in cell.stdout
    assert len(cell.stdout) + len(cell.result) <= 100_000


def test_a_large_value_shows_head_and_tail_and_is_kept_whole(kernel):
    kernel.run(
        "@nit.tool\ndef dump() -> str:\n    return 'y\\n' * 5_000_000 + 'EXIT 7'\n"
        "@nit.tool\ndef cube() -> list:\n"
        "    return [[[i, j, k] for j in range(224) for k in range(3)] for i in range(224)]"
    )
    bound = kernel.run("%%nit\n$big = dump()\n")
    shown = kernel.run("%%nit\n$big\n")
    nested = kernel.run("%%nit\ncube()\n")

    assert bound.text.strip() == ""
    assert shown.result.startswith("y\ny\n")
    assert shown.result.endswith("EXIT 7")
    assert "characters left out" in shown.result
    assert len(shown.result) <= 100_000
    assert kernel.run("len(big)").result == "10000006"
    assert nested.status == "ok"
    assert len(nested.result) <= 100_000


def test_python_cells_are_not_touched_by_the_limit(kernel):
    kernel.run("%%nit\n$big = echo(msg='x')\n")
    cell = kernel.run("'z' * 150_000")

    assert len(cell.result) == 150_002


HOSTILE = "<img src=q onerror=\"document.title='HIT'\"> and [l](javascript:void(0)) & <b>5 < 6</b>"


def test_text_of_a_tool_is_never_markup(kernel):
    kernel.run(f"hostile = {HOSTILE!r}")
    kernel.run(
        "@nit.tool\nasync def shout(text: str, ctx: nit.ToolContext) -> str:\n"
        "    ctx.progress(0.5, text)\n    ctx.log(text)\n    ctx.display(text)\n    return text\n"
        "@nit.tool\ndef fail_with(text: str) -> str:\n    raise ValueError(text)"
    )
    value = kernel.run("%%nit\necho(msg=$hostile)\n")
    task = kernel.run("%%nit --wait\n$t = async shout(text=$hostile)\n", settle=0.5)
    error = kernel.run("%%nit\nfail_with(text=$hostile)\n")
    failed = kernel.run("%%nit --wait\n$f = async fail_with(text=$hostile)\n", settle=0.5)
    table = kernel.run("%nit vars")
    tasks = kernel.run("%nit tasks")

    assert value.of("execute_result")[0]["data"] == {"text/plain": HOSTILE}
    for cell in (value, task, error, failed, table, tasks):
        for bundle in [*cell.displays, *(c["data"] for c in cell.of("execute_result"))]:
            assert "<img" not in bundle.get("text/html", "")
            assert "text/markdown" not in bundle
    drawn = [
        content["data"]["state"]["value"]
        for content in task.of("comm_open", "comm_msg")
        if "value" in content["data"].get("state", {})
    ]
    assert all("<img" not in value for value in drawn)
    assert any("&lt;img" in value for value in drawn)


def test_a_display_of_a_background_tool_stays_with_its_cell(kernel):
    kernel.run(
        "@nit.tool\nasync def show_soon(ctx: nit.ToolContext) -> None:\n"
        "    await asyncio.sleep(0.3)\n    ctx.display({'shown': 1})"
    )
    first = kernel.send("%%nit\nasync show_soon()\n")
    kernel.until(lambda: first.done)
    second = kernel.run("import time; time.sleep(0.6); 'py'", settle=0.5)

    assert any(d.get("text/plain") == "{'shown': 1}" for d in first.displays)
    assert second.displays == []


def test_five_thousand_progress_events_are_a_few_messages(kernel):
    kernel.run(
        "@nit.tool\nasync def busy(ctx: nit.ToolContext) -> str:\n"
        "    for i in range(5000):\n        ctx.progress(i / 5000, f'step {i}')\n"
        "        if i % 50 == 0:\n            await asyncio.sleep(0.01)\n    return 'done'\n"
        "@nit.tool\ndef busy_here(ctx: nit.ToolContext) -> str:\n"
        "    for i in range(5000):\n        ctx.progress(i / 5000, f'step {i}')\n"
        "        if i % 50 == 0:\n            time.sleep(0.01)\n    return 'done'"
    )
    for script in ("$b = async busy()\n$b\n", "busy()\n", "busy_here()\n"):
        before = len(kernel.strays)
        cell = kernel.run(f"%%nit\n{script}", timeout=30, settle=0.5)
        updates = [m for m in cell.messages if m.kind.startswith("comm_")]
        late = [m for m in kernel.strays[before:] if m.kind.startswith("comm_")]

        assert cell.status == "ok", cell.text
        assert cell.is_idle
        seconds = cell.seconds + 0.5
        opened = [m for m in updates if m.kind == "comm_open"]
        changes = len(updates) - len(opened) + len(late)
        assert 3 <= changes <= 20 * seconds, (script, changes, seconds)
        assert len(opened) <= 20


def test_updates_are_seen_before_the_cell_ends(kernel):
    kernel.run(
        "@nit.tool\nasync def steps(ctx: nit.ToolContext) -> str:\n"
        "    for i in range(10):\n        ctx.progress(i / 10, f'step {i}')\n"
        "        await asyncio.sleep(0.12)\n    return 'done'"
    )
    cell = kernel.run("%%nit\nsteps()\n")

    changes = [m for m in cell.messages if m.kind == "comm_msg" and m.at < cell.replied]
    assert len(changes) >= 5


@pytest.mark.parametrize("way", ["subshell", "shell"] if HEARS_ALL else ["subshell"])
def test_a_panel_can_be_cancelled_by_its_button_while_the_cell_waits(kernel, way):
    cell = kernel.send("%%nit\n$slow = async doze(seconds=60)\n$slow\n")
    kernel.until(lambda: visible_buttons(kernel))
    (button,) = visible_buttons(kernel)
    kernel.click(button, way=way)
    clicked = kernel.now()
    kernel.until(lambda: cell.done, 10)

    assert cell.status == "error"
    assert cell.error_name == "NitCancelledError"
    assert cell.replied - clicked < 2


@pytest.mark.parametrize("way", ["subshell", "shell"])
def test_a_panel_can_be_cancelled_by_its_button_when_the_kernel_is_idle(kernel, way):
    cell = kernel.run("%%nit\n$slow = async doze(seconds=60)\n", settle=0.3)
    (button,) = visible_buttons(kernel)
    kernel.click(button, way=way)
    kernel.until(lambda: not visible_buttons(kernel), 10)
    kernel.pump(0.3)

    assert kernel.run("nit.tasks['slow'].state").result == "'cancelled'"
    last = cell.displays[-1]
    assert "cancelled" in last["text/plain"]
    assert "cancelled" in last["text/html"]


def visible_buttons(kernel):
    """The Cancel buttons on the page that can be pressed."""
    layouts = kernel.models("LayoutModel")
    shown = {
        child for box in kernel.models("VBoxModel").values() for child in box.get("children", ())
    }
    return [
        identity
        for identity, button in kernel.models("ButtonModel").items()
        if f"IPY_MODEL_{identity}" in shown
        and layouts.get(button["layout"].removeprefix("IPY_MODEL_"), {}).get("visibility")
        == "visible"
    ]


def test_what_a_saved_notebook_keeps_is_the_end_and_needs_no_kernel(kernel):
    cell = kernel.run("%%nit\n$d = async doze(seconds=0.3)\n$d\n", settle=0.3)
    first, last = cell.displays[0], cell.displays[-1]

    assert "application/vnd.jupyter.widget-view+json" in first
    assert sorted(last) == ["text/html", "text/plain"]
    assert last["text/plain"].split()[:2] == ["d", "done"]
    assert ">done<" in last["text/html"]


def test_widgets_of_panels_at_rest_are_closed(kernel):
    before = set(kernel.widgets)
    kernel.run("%%nit\n$d = async doze(seconds=0.1)\n$d\n", settle=0.3)

    assert set(kernel.widgets) == before


def test_many_tasks_make_a_bounded_panel(kernel):
    script = "\n".join(f"async doze(seconds=0.0{i % 10})" for i in range(200))
    before = len(kernel.widgets)
    cell = kernel.run(f"%%nit --wait\n{script}\n", timeout=40, settle=0.3)

    assert cell.status == "ok"
    assert len(kernel.widgets) - before < 100
    assert "and 180 more: 180 done" in cell.displays[-1]["text/plain"]


def test_an_output_widget_gets_what_a_tool_prints(kernel):
    cell = kernel.run(
        "import ipywidgets\nout = ipywidgets.Output()\nwith out:\n"
        "    get_ipython().run_cell_magic('nit', '', 'chatter(n=2, pause=0)\\nspeak(word=\"w\")')\n"
        "display(out)",
        settle=0.3,
    )
    models = [s for s in kernel.widgets.values() if s.get("_model_name") == "OutputModel"]

    # A front end puts what comes between the two changes of `msg_id` into the widget.
    kinds = [
        (m.kind, m.content.get("data", {}).get("state", {}).get("msg_id"), m.content.get("text"))
        for m in cell.messages
        if m.kind == "stream" or "msg_id" in m.content.get("data", {}).get("state", {})
    ]
    starts = [i for i, k in enumerate(kinds) if k[1]]
    ends = [i for i, k in enumerate(kinds) if k[1] == "" and i > starts[-1]]
    inside = "".join(k[2] for k in kinds[starts[-1] : ends[0]] if k[2])
    assert models
    assert inside == "tick 0\ntick 1\nw 0\nw 1\nw 2\n"


def test_a_tool_can_ask_a_question_on_its_cell(kernel):
    kernel.run("@nit.tool\ndef ask() -> str:\n    return input('name? ')")
    cell = kernel.send("%%nit\nask()\n")
    kernel.until(lambda: kernel.input_requests)
    asked = kernel.input_requests.pop()
    kernel.client.input("Ada")
    kernel.until(lambda: cell.done)

    assert (asked["prompt"], cell.result) == ("name? ", "Ada")


def test_a_question_where_nobody_answers_is_an_error_that_names_the_tool(kernel):
    kernel.run("@nit.tool\ndef ask() -> str:\n    return input('name? ')")
    cell = kernel.run("%%nit\nask()\n", allow_stdin=False)

    assert cell.error_name == "NitToolError"
    assert "`ask` raised StdinNotImplementedError" in cell.error


def test_a_tool_can_wait_for_a_widget_of_its_own(kernel):
    kernel.run(
        "import ipywidgets\n"
        "@nit.tool(thread='worker')\n"
        "async def ask_user(ctx: nit.ToolContext) -> str:\n"
        "    box, ok = ipywidgets.Text(value='typed'), ipywidgets.Button(description='OK')\n"
        "    pressed, loop = asyncio.Event(), asyncio.get_running_loop()\n"
        "    ok.on_click(lambda _: loop.call_soon_threadsafe(pressed.set))\n"
        "    ctx.display(ipywidgets.HBox([box, ok]))\n"
        "    await pressed.wait()\n"
        "    return box.value"
    )
    cell = kernel.send("%%nit\nask_user()\n")
    kernel.until(
        lambda: any(b["description"] == "OK" for b in kernel.models("ButtonModel").values()), 10
    )
    kernel.pump(0.3)
    (button,) = [i for i, b in kernel.models("ButtonModel").items() if b["description"] == "OK"]
    kernel.click(button)
    kernel.until(lambda: cell.done, 10)

    assert cell.result == "typed"


def test_a_flood_of_progress_does_not_lose_the_end_of_the_cell(kernel):
    kernel.run(
        "@nit.tool\nasync def torrent(ctx: nit.ToolContext) -> str:\n"
        "    for i in range(20_000):\n        ctx.progress(i / 20_000, str(i))\n        print(i)\n"
        "        if i % 500 == 0:\n            await asyncio.sleep(0)\n    return 'end'"
    )
    cell = kernel.run("%%nit\n$t = async torrent()\n$t\n", timeout=40, settle=0.5)

    assert (cell.status, cell.result, cell.is_idle) == ("ok", "end", True)
    assert cell.stdout.startswith("0\n1\n")
    panel = [d for d in cell.displays if "text/html" in d][-1]
    assert panel["text/plain"].split()[:2] == ["t", "done"]


def test_without_panels_a_failure_in_the_background_is_told_once(kernel):
    kernel.run("%config NitMagics.panel = False")
    first = kernel.run("%%nit\n$f = async boom()\n", settle=0.5)
    second = kernel.run("1 + 1")
    third = kernel.run("1 + 1")
    kernel.run("%config NitMagics.panel = True")

    told = [cell.text.count("ValueError: no luck") for cell in (first, second, third)]
    assert sum(told) == 1
    assert not [d for cell in (first, second) for d in cell.displays]
