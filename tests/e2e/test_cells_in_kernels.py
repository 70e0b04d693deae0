"""Cells of NIT in a NIT kernel and in a stock Python kernel with the extension."""

import ast

import pytest

pytestmark = pytest.mark.e2e


@pytest.fixture(autouse=True)
def fresh(kernel):
    """Every test begins without variables."""
    yield
    kernel.run("%nit reset")


def test_a_variable_of_nit_is_a_variable_of_the_notebook(kernel):
    kernel.run('%%nit\n$a = add(a=1, b=2)\n$b = echo(msg="x")\n')

    assert kernel.run("a + 1, b").result == "(4, 'x')"


def test_the_last_value_is_the_result_of_the_cell(kernel):
    cell = kernel.run("%%nit\n$a = add(a=40, b=2)\n[$a, {n: $a}]\n")

    assert (cell.status, cell.result) == ("ok", "[42, {'n': 42}]")
    assert kernel.run("_").result == "[42, {'n': 42}]"


def test_rebinding_and_deleting_in_python_reach_nit(kernel):
    kernel.run("%%nit\n$a = add(a=1)\n$b = add(a=5)\n")
    kernel.run("a = 10\ndel b")

    changed = kernel.run("%%nit\nadd(a=$a)\n")
    deleted = kernel.run("%%nit\n$b\n")

    assert changed.result == "11"
    assert deleted.error_name == "NitCheckError"
    assert "`$b`" in deleted.error


def test_a_variable_of_the_notebook_can_be_read_and_stays_out_of_the_table(kernel):
    cell = kernel.run("q = 'O\"Neil'").status, kernel.run("%%nit\n$r = echo(msg=$q)\n").status

    assert cell == ("ok", "ok")
    assert kernel.run("r, 'q' in nit.vars").result == "('O\"Neil', False)"


def test_variables_live_from_cell_to_cell(kernel):
    kernel.run("%%nit\n$a = add(a=1)\n")
    kernel.run("%%nit\n$b = add(a=$a)\n")

    assert kernel.run("a, b").result == "(2, 3)"


def test_an_awaited_task_becomes_its_value_between_two_cells(kernel):
    kernel.run("GATE.clear()")
    kernel.run("%%nit\n$g = async gate()\n")
    before = kernel.run("type(g).__name__, g.state").result
    in_the_middle = kernel.run("GATE.set(); g.result(); type(g).__name__").result
    after = kernel.run("g").result

    assert before in ("('BackgroundTask', 'running')", "('BackgroundTask', 'waiting')")
    assert in_the_middle == "'BackgroundTask'"
    assert after == "'open'"


def test_python_can_await_a_task(kernel):
    kernel.run("GATE.clear()")
    kernel.run("%%nit\n$g = async gate()\n")

    assert kernel.run("GATE.set(); await g").result == "'open'"


def test_a_failed_task_stays_a_task(kernel):
    kernel.run("%%nit\n$f = async boom()\n")
    kernel.run("%nit wait")

    assert kernel.run("type(f).__name__, f.state").result == "('BackgroundTask', 'failed')"


def test_functions_of_the_notebook_run_on_the_thread_of_the_cell(kernel):
    assert kernel.run("%%nit\nwhere()\n").result == "MainThread"


def test_an_error_shows_exactly_its_lines(kernel):
    cell = kernel.run('%%nit\n$a = add(a=1)\n$b = boom(msg="no luck")\n$c = add(a=2)\n')

    assert cell.status == "error"
    assert cell.error_name == "NitToolError"
    assert '"<nit cell>", line 2' in cell.error
    assert 'boom(msg="no luck")' in cell.error
    assert "ValueError: no luck" in cell.error
    assert "Traceback" not in cell.error
    assert "site-packages" not in cell.error
    assert kernel.run("a, 'b' in globals(), 'c' in globals()").result == "(2, False, False)"


def test_all_mistakes_are_shown_and_nothing_runs(kernel):
    cell = kernel.run("%%nit\n$a = add(a=1)\nadd(aa=1)\nechoo(msg=$a)\n$b\n")

    assert cell.error_name == "NitCheckError"
    for expected in ("`aa`", "`echoo`", "`echo`", "`$b`"):
        assert expected in cell.error
    assert "Traceback" not in cell.error
    assert kernel.run("'a' in globals()").result == "False"


def test_a_syntax_error_shows_no_frames_of_ipython(kernel):
    cell = kernel.run('%%nit\necho(msg="a"\n')

    assert cell.error_name == "NitSyntaxError"
    assert '"<nit cell>", line' in cell.error
    assert "File" not in cell.error


def test_an_error_in_a_blocking_cell_shows_the_same_lines(kernel):
    awaited = kernel.run("%%nit\nboom()\n")
    nested = kernel.run("%%time\n%%nit\nboom()\n")

    assert nested.error == awaited.error


@pytest.mark.parametrize(
    ("cell", "calls"),
    [
        ('%%nit\necho(msg="a")', 1),
        ('%%nit\r\necho(msg="a")\r\n', 1),
        ("%%nit\n   \n# only a comment\n", 0),
        ('%%nit\n\ufeffecho(msg="a")', 1),
        ('\ufeff%%nit\necho(msg="a")', 1),
        ('%%nit\n\techo(msg="a")\n  echo(msg="b")', 2),
        ('\n\n   %%nit\n   echo(msg="a")', 1),
    ],
)
def test_the_shape_of_the_cell_does_not_matter(kernel, cell, calls):
    ran = kernel.run(cell)

    assert ran.status == "ok", ran.text
    assert kernel.run("len(nit.last.calls)").result == str(calls)
    assert kernel.run("[c.arguments['msg'] for c in nit.last.calls]").result == str(
        ["a", "b"][:calls]
    )


@pytest.mark.parametrize("cell", ["%%nit", "%%nit\n", "%%nit\n   \n"])
def test_an_empty_cell_says_in_one_line_how_it_is_used(kernel, cell):
    ran = kernel.run(cell)

    assert ran.status == "ok"
    assert ran.stdout.count("\n") == 1
    assert "Usage: %%nit" in ran.stdout


def test_a_comment_above_the_magic_is_the_usage_error_of_ipython(kernel):
    ran = kernel.run('# note\n%%nit\necho(msg="a")')

    assert ran.status == "error"
    assert "UsageError" in ran.stderr


def test_braces_dollars_and_slices_reach_the_tool_byte_for_byte(kernel):
    text = "it costs $5, {{y}}, a[:2] {v:k} %d"
    kernel.run(f'%%nit\n$s = echo(msg="{text}")\n')

    assert kernel.run("s").result == repr(text)


def test_a_line_expands_nothing_of_python(kernel):
    kernel.run("x = 7")
    kernel.run('%nit $s = echo(msg="{x} $x")')

    assert kernel.run("s").result == "'{x} $x'"


def test_options_of_the_cell(kernel):
    quiet = kernel.run("%%nit --quiet --out total\nadd(a=1)\n")
    checked = kernel.run("%%nit --check\n$never = add(a=1)\n")
    faulty = kernel.run("%%nit --check\nadd(q=1)\n")
    timed = kernel.run("%%nit --timeout 0.2\ndoze(seconds=30)\n")

    assert (quiet.status, quiet.result) == ("ok", None)
    assert kernel.run("total, 'never' in globals()").result == "(2, False)"
    assert (checked.status, "no errors found" in checked.stdout) == ("ok", True)
    assert (faulty.status, "`q`" in faulty.text) == ("ok", True)
    assert timed.error_name == "NitTimeoutError"
    assert timed.seconds < 5


def test_waiting_at_the_end_of_a_cell(kernel):
    cell = kernel.run("%%nit --wait\n$d = async doze(seconds=0.2)\n")

    assert cell.status == "ok"
    assert kernel.run("d").result == "'dozed'"


@pytest.mark.parametrize(
    "line",
    [
        "%%nit --nope\nadd(a=1)\n",
        "%%nit --timeout abc\nadd(a=1)\n",
        "%%nit --timeout -1\nadd(a=1)\n",
        "%%nit --out 1x\nadd(a=1)\n",
        "%%nit $a = add(a=1)\nadd(a=1)\n",
        '%%nit --name "open\nadd(a=1)\n',
        "%nit vrs",
        "%nit cancel nobody",
    ],
)
def test_a_wrong_option_is_one_line_of_usage(kernel, line):
    cell = kernel.run(line, timeout=5)

    assert cell.status == "error"
    assert cell.error == ""
    assert cell.stderr.startswith("UsageError: ")
    assert cell.stderr.strip().count("\n") == 0


def test_a_misspelt_option_or_command_is_answered_with_the_nearest(kernel):
    option = kernel.run("%%nit --quite\nadd(a=1)\n")
    command = kernel.run("%nit vrs")

    assert "did you mean `--quiet`?" in option.stderr
    assert "Did you mean `%nit vars`?" in command.stderr


def test_commands_answer(kernel):
    kernel.run("%%nit\n$a = add(a=1)\n$text = echo(msg='<b>x</b>')\n")
    variables = kernel.run("%nit vars")
    tools = kernel.run("%nit tools add")
    shown = kernel.run("%nit show $a")
    helped = kernel.run("%nit help")
    of_a_command = kernel.run("%nit help cancel")
    of_a_tool = kernel.run("%nit help add")
    tasks = kernel.run("%nit tasks")
    plugins = kernel.run("%nit plugins")

    assert "$a" in variables.text
    assert "&lt;b&gt;x&lt;/b&gt;" in variables.displays[0]["text/html"]
    assert "<b>x</b>" not in variables.displays[0]["text/html"]
    assert "add(a: " in tools.text
    assert shown.result == "2"
    assert "%nit cancel NAME|all" in helped.text
    assert of_a_command.stdout.startswith("%nit cancel NAME|all: ")
    assert "Add two numbers." in of_a_tool.text
    assert "no background tasks" in tasks.text or "state" in tasks.text
    assert "sleepy" in plugins.text


def test_a_word_of_a_command_can_be_a_tool(kernel):
    kernel.run("@nit.tool\ndef vars(x: int) -> int:\n    return x * 2")

    assert kernel.run("%nit vars(x=21)").result == "42"
    assert kernel.run("%nit $vars = vars(x=1)").status == "ok"
    assert "variable" in kernel.run("%nit vars").text


def test_a_cell_of_only_nit_lines_is_awaited_and_runs_all(kernel):
    kernel.run("%nit $a = add(a=1)\n%nit $b = add(a=$a)\n# done\n")

    assert kernel.run("a, b").result == "(2, 3)"


def test_a_nit_line_can_stand_in_a_python_cell(kernel):
    cell = kernel.run("y = %nit add(a=20)\nfor i in range(2):\n    %nit $n = add(a=$i)\ny, n")

    assert cell.result == "(21, 2)"


def test_sharing_puts_a_notebook_variable_into_the_table(kernel):
    kernel.run("df = [1, 2]")
    before = kernel.run("'df' in nit.vars").result
    kernel.run("%nit share df")

    assert (before, kernel.run("nit.vars['df'] is df").result) == ("False", "True")


def test_the_handle_has_everything(kernel):
    kernel.run("%%nit\n$a = add(a=1)\n")

    assert kernel.run("nit.vars['a'], nit.last.ok, nit.last.value").result == "(2, True, None)" or (
        kernel.run("nit.vars['a'], nit.last.ok").result == "(2, True)"
    )
    assert kernel.run("nit.tools.add(a='4', b=1)").result == "5"
    assert kernel.run("await nit.tools.doze(seconds=0.01)").result == "'dozed'"
    assert kernel.run("sorted(set(nit.__class__.__mro__[0].__dict__) & {'vars'})").result == (
        "['vars']"
    )
    assert kernel.run(
        "import nit_kernel; all(hasattr(nit, n) for n in nit_kernel.__all__)"
    ).result == ("True")
    assert kernel.run("nit.parse('f(x=1)').statement_count").result == "1"


def test_a_clash_with_the_notebook_is_told_once(kernel):
    kernel.run("total = 'mine'")
    first = kernel.run("%%nit\n$total = add(a=1)\n")
    second = kernel.run("%%nit\n$total = add(a=2)\n")
    builtin = kernel.run("%%nit\n$list = add(a=3)\n")

    assert first.stdout.count("`total`") == 1
    assert second.stdout == ""
    assert 'nit.vars["list"]' in builtin.stderr
    assert kernel.run("total, list((1,)), nit.vars['list']").result == "(3, [1], 4)"


def test_loading_twice_is_harmless(kernel):
    hooks = (
        "ip = get_ipython()\n"
        "ours = lambda things: sorted("
        "getattr(t, '__qualname__', type(t).__qualname__) for t in things"
        " if getattr(t, '__module__', '').startswith('nit_kernel'))\n"
        "[*(ours(c) for c in ip.events.callbacks.values()), ours(ip.input_transformers_post),"
        " ours(ip.input_transformer_manager.cleanup_transforms),"
        " ours(ip.Completer.custom_matchers), ours(ip.configurables)]"
    )
    before = kernel.run(hooks).result
    kernel.run("%load_ext nit_kernel")
    after = kernel.run(hooks).result
    ran = kernel.run("%%nit\nadd(a=1)\n")

    assert after == before
    assert all(len(set(group)) == len(group) for group in ast.literal_eval(after))
    assert ran.result == "2"
    assert kernel.run("len(nit.last.calls)").result == "1"


def test_settings_are_configured_as_ipython_does_it(kernel):
    kernel.run("%config NitMagics.cell_chars = 500")
    kernel.run("long = 'x' * 5000")
    cell = kernel.run("%%nit\necho(msg=$long)\n")
    kernel.run("%config NitMagics.cell_chars = 100000")
    listed = kernel.run("%config NitMagics")

    assert len(cell.result) <= 500
    assert "wait_seconds" in listed.text


@pytest.mark.parametrize(
    "cell",
    [
        "%%nit\n$v = add(a=40)\n$d = async doze(seconds=0.05)\n[$v, $d]\n",
        "%%time\n%%nit\n$v = add(a=40)\n$d = async doze(seconds=0.05)\n[$v, $d]\n",
        "%%capture seen\n%%nit\n$v = add(a=40)\n$d = async doze(seconds=0.05)\n[$v, $d]\n",
        "get_ipython().run_cell_magic('nit', '', "
        "'$v = add(a=40)\\n$d = async doze(seconds=0.05)\\n[$v, $d]')",
        "import asyncio\nawait asyncio.sleep(0)\nget_ipython().run_cell_magic('nit', '', "
        "'$v = add(a=40)\\n$d = async doze(seconds=0.05)\\n[$v, $d]')",
        "async def inner():\n    return get_ipython().run_cell_magic('nit', '', "
        "'$v = add(a=40)\\n$d = async doze(seconds=0.05)\\n[$v, $d]')\nawait inner()",
        "get_ipython().run_cell('%%nit\\n$v = add(a=40)\\n"
        "$d = async doze(seconds=0.05)\\n[$v, $d]').result",
    ],
)
def test_other_magics_and_hands_have_the_same_outcome(kernel, cell):
    ran = kernel.run(cell)

    assert ran.status == "ok", ran.text
    assert kernel.run("v, d").result == "(41, 'dozed')"
    assert kernel.run("nit.last.value").result == "[41, 'dozed']"


def test_what_is_captured_stays_captured(kernel):
    ran = kernel.run("%%capture seen\n%%nit\nchatter(n=2, pause=0)\n")

    assert ran.stdout == ""
    assert kernel.run("seen.stdout").result == "'tick 0\\ntick 1\\n'"


def test_a_subshell_has_the_same_outcome(kernel):
    ran = kernel.run_in_subshell("%%nit\n$s = add(a=6)\n$d = async doze(seconds=0.05)\n[$s, $d]\n")

    assert (ran.status, ran.result) == ("ok", "[7, 'dozed']"), ran.text
    assert kernel.run("s, d").result == "(7, 'dozed')"


def test_a_callback_that_runs_a_cell_while_the_kernel_is_idle(kernel):
    kernel.run(
        "import ipywidgets\n"
        "again = ipywidgets.Button(description='Again')\n"
        "again.on_click(lambda _: get_ipython().run_cell('%%nit\\n$clicked = add(a=1)\\n'))\n"
        "display(again)"
    )
    (button,) = [i for i, b in kernel.models("ButtonModel").items() if b["description"] == "Again"]
    kernel.click(button)
    kernel.pump(0.5)

    assert kernel.run("clicked").result == "2"


def test_nested_data_with_braces_reaches_a_tool_as_it_is(kernel):
    kernel.run("@nit.tool\ndef keep(x: dict, s: str) -> list:\n    return [x, s]")
    ran = kernel.run('%%nit\n$kept = keep(x={"a": {"b": 1}}, s="{v:k}")\n')

    assert ran.status == "ok", ran.text
    assert kernel.run("kept").result == "[{'a': {'b': 1}}, '{v:k}']"
