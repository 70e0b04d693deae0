"""Which lines after `%nit` are commands, which are statements, and which are neither."""

import pytest
from IPython.core.error import UsageError
from traitlets import TraitError

from nit_kernel.notebook.commands import COMMANDS, find_command
from nit_kernel.notebook.completion import complete


@pytest.mark.parametrize(
    ("line", "word", "rest"),
    [
        ("vars", "vars", ""),
        ("  vars  ", "vars", ""),
        ("", "help", ""),
        ("help", "help", ""),
        ("help add", "help", "add"),
        ("show $x[0].name", "show", "$x[0].name"),
        ("share df", "share", "df"),
        ("cancel all", "cancel", "all"),
        ("wait 2.5", "wait", "2.5"),
        ("tools screen content", "tools", "screen content"),
    ],
)
def test_a_word_that_is_a_command_is_one(line, word, rest):
    assert find_command(line) == (COMMANDS[word], rest)


@pytest.mark.parametrize(
    "line",
    [
        "vars(x=1)",
        "vars (x=1)",
        "vars = f()",
        "vars.x()",
        "$vars",
        "$x = f()",
        "x = f()",
        "f(x=1)",
        'help("add")',
        "async f()",
        "await f()",
        "true",
        "null",
        "42",
        "'text'",
        "[1, 2]",
        "{a: 1}",
        ">>> f()",
        "搜索(q=1)",
        "# only a comment",
        "<nit>f()</nit>",
        "if x",
        "for i in x",
    ],
)
def test_everything_else_that_may_be_a_script_is_one(line):
    assert find_command(line) is None


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("vrs", "Did you mean `%nit vars`?"),
        ("taks", "Did you mean `%nit tasks`?"),
        ("nonsense", "there is no such command. Usage: %nit STATEMENT"),
        ("nonsense and more", "there is no such command. Usage: %nit STATEMENT"),
    ],
)
def test_a_word_that_is_neither_is_answered_in_one_line(line, told):
    with pytest.raises(UsageError) as caught:
        find_command(line)

    text = str(caught.value)
    assert told in text
    assert "\n" not in text


@pytest.fixture
def workspace(shell):
    shell.run_line_magic("load_ext", "nit_kernel")
    shell.run_cell(
        "@nit.tool\ndef search_web(query: str, limit: int = 10) -> list:\n    return [query]"
    )
    shell.run_cell("%%nit --quiet\n$results = search_web(query='x')\n")
    yield shell.magics_manager.registry["NitMagics"].workspace
    shell.run_line_magic("unload_ext", "nit_kernel")


@pytest.mark.parametrize(
    ("cell", "line", "offered"),
    [
        ("%%nit\n$a = sear", "$a = sear", ("sear", ["search_files", "search_web"])),
        ("%%nit\n$r", "$r", ("$r", ["$results"])),
        ("%%nit\nsearch_web(", "search_web(", None),
        ("%%nit\nsearch_web(query='x', l", "search_web(query='x', l", None),
        ("%%nit\necho(msg='some tex", "echo(msg='some tex", None),
        ("%%nit --ti", "%%nit --ti", ("--ti", ["--timeout"])),
        ("<nit>\n$re", "$re", ("$re", ["$results"])),
        ("%nit tas", "%nit tas", ("tas", ["tasks"])),
    ],
)
def test_tab_offers_what_may_stand_there(workspace, cell, line, offered):
    fragment, found = complete(workspace, cell, line)
    texts = [text for text, _ in found]
    if offered is not None:
        assert (fragment, texts) == offered
    else:
        expected = {
            "search_web(": ["query=", "limit="],
            "search_web(query='x', l": ["limit=", "list_files"],
            "echo(msg='some tex": [],
        }[line]
        assert texts[: len(expected)] == expected


@pytest.mark.parametrize("cell", ["x = sear", "%%time\nsear", "%%nitpick\nsear", "nit."])
def test_tab_leaves_python_to_python(workspace, cell):
    assert complete(workspace, cell, cell.splitlines()[-1]) is None


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("cancel nosuch", "%nit cancel: there is no task `nosuch`. Running: none"),
        ("cancel all extra", "%nit cancel: `all` stands alone. Usage: cancel NAME|all"),
        ("cancel extra, all", "%nit cancel: `all` stands alone. Usage: cancel NAME|all"),
    ],
)
def test_a_task_that_cannot_be_cancelled_is_told_in_whole_sentences(workspace, shell, line, told):
    with pytest.raises(UsageError) as caught:
        shell.run_line_magic("nit", line)

    assert str(caught.value) == told


@pytest.mark.parametrize(
    ("magic", "option", "told"),
    [
        ("nit", "-q", "`%%nit` has no option `-q`. Usage: %%nit ["),
        ("nit", "--quit", "`%%nit` has no option `--quit`; did you mean `--quiet`? Usage: %%nit ["),
        ("ask", "-q", "`%%ask` has no option `-q`. Usage: %%ask ["),
    ],
)
def test_an_option_that_is_none_is_told_in_whole_sentences(workspace, shell, magic, option, told):
    with pytest.raises(UsageError) as caught:
        shell.run_cell_magic(magic, option, "x")

    assert str(caught.value).startswith(told)


@pytest.mark.parametrize("seconds", ["-1", "0", "0.0", "float('nan')"])
def test_a_timeout_that_is_none_is_refused_when_it_is_set(workspace, shell, seconds):
    magics = shell.magics_manager.registry["NitMagics"]
    with pytest.raises(TraitError) as caught:
        magics.timeout = eval(seconds)

    assert str(caught.value).startswith("NitMagics.timeout: wanted seconds above 0, got ")
    assert magics.timeout is None


@pytest.mark.parametrize("seconds", [0.5, 3, float("inf"), None])
def test_a_timeout_above_0_or_none_is_taken(workspace, shell, seconds):
    magics = shell.magics_manager.registry["NitMagics"]
    magics.timeout = seconds

    assert magics.timeout == seconds
