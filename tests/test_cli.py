"""The command `nit`: what it prints, and its exit status."""

import io
import json
import sys
from pathlib import Path

import pytest

from nit_kernel.cli import main

GOOD = '$s = summarize_text(content="One thing. Two things.", sentences=1)\n$s[:7]\n'


@pytest.fixture
def script(tmp_path: Path):
    def write(text: str, name: str = "a.nit") -> str:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8", newline="")
        return str(path)

    return write


def test_run_prints_the_value_of_the_script(script, capsys) -> None:
    assert main(["run", script(GOOD)]) == 0
    assert capsys.readouterr() == ("Summary\n", "")


def test_run_reads_standard_input(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"1_000")))
    assert main(["run", "-"]) == 0
    assert capsys.readouterr().out == "1000\n"


def test_run_says_a_syntax_error_and_ends_with_2(script, capsys) -> None:
    assert main(["run", script("$x = f(\n")]) == 2
    assert "error[NIT202]: `(` is never closed" in capsys.readouterr().err


def test_run_says_a_failed_check_and_ends_with_1(script, capsys) -> None:
    assert main(["run", script('sumarize_text(content="a")\n')]) == 1
    assert "did you mean `summarize_text`?" in capsys.readouterr().err


def test_run_says_which_statement_failed_and_ends_with_1(script, capsys) -> None:
    assert main(["run", script('$a = {"b": 1}\n$a.c\n')]) == 1
    assert 'there is no key "c"' in capsys.readouterr().err


def test_run_waits_for_background_tasks_and_fails_with_them(script, capsys) -> None:
    text = 'async read_file(path="not/there.txt")\n1\n'
    assert main(["run", script(text)]) == 1
    assert "background task `read_file` failed" in capsys.readouterr().err


def test_run_as_json_tells_the_whole_outcome(script, capsys) -> None:
    assert main(["run", script(GOOD), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["ok"], told["value"], told["error"]) == (True, "Summary", None)
    assert [(call["name"], call["status"]) for call in told["calls"]] == [("summarize_text", "ok")]


def test_run_of_a_file_that_is_not_there_is_a_usage_error(capsys) -> None:
    assert main(["run", "not/there.nit"]) == 2
    assert capsys.readouterr().err == "nit: cannot read not/there.nit: No such file or directory\n"


def test_check_prints_diagnostics_as_json(script, capsys) -> None:
    assert main(["check", script("$y\n"), "--json"]) == 1
    (told,) = json.loads(capsys.readouterr().out)
    assert (told["code"], told["line"], told["column"]) == ("NIT320", 1, 1)


def test_check_of_a_good_script_says_nothing(script, capsys) -> None:
    assert main(["check", script(GOOD)]) == 0
    assert capsys.readouterr() == ("", "")


def test_fmt_rewrites_the_file_once(script) -> None:
    path = Path(script("$x=summarize_text( content = 'a' )  # why\r\n"))
    assert main(["fmt", str(path)]) == 0
    assert path.read_bytes() == b"$x = summarize_text(content='a')  # why\n"
    assert main(["fmt", str(path), "--check"]) == 0


def test_fmt_upgrades_older_blocks(script, capsys) -> None:
    path = Path(
        script("[[[NIT_CALL]]]\nsummarize_text\ncontent: [START] a b [END]\n[[[NIT_END]]]\n")
    )
    assert main(["fmt", str(path), "--upgrade"]) == 0
    assert path.read_text(encoding="utf-8") == 'summarize_text(content="a b")\n'


def test_fmt_leaves_a_broken_file_alone(script, capsys) -> None:
    path = Path(script("f(\n"))
    assert main(["fmt", str(path)]) == 2
    assert path.read_text(encoding="utf-8") == "f(\n"
    assert "NIT202" in capsys.readouterr().err


def test_tools_lists_each_tool_with_its_signature(capsys) -> None:
    assert main(["tools"]) == 0
    out = capsys.readouterr().out
    assert "text:\n  summarize_text(content: str, sentences: int = 5" in out


def test_a_broken_plugin_is_listed_and_the_status_is_1(tmp_path: Path, capsys) -> None:
    folder = tmp_path / "broken"
    folder.mkdir()
    (folder / "description.json").write_text('{"commandIdentifier": "f",,}', encoding="utf-8")
    (folder / "broken.py").write_text("def f(): return 1\n", encoding="utf-8")
    assert main(["plugins", "--plugins", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert "broken/description.json:1:" in out
    assert "text 1.0.0: 1 tool" in out


def test_a_new_plugin_is_good_and_its_tool_runs(tmp_path: Path, script, capsys) -> None:
    assert main(["new-plugin", "greeter", "--in", str(tmp_path)]) == 0
    folder = tmp_path / "greeter"
    assert main(["check-plugin", str(folder)]) == 0
    capsys.readouterr()
    assert main(["tools", "--plugins", str(folder)]) == 0
    assert "greeter:" in capsys.readouterr().out


def test_kernel_install_names_this_python(tmp_path: Path, capsys) -> None:
    assert main(["kernel", "install", "--prefix", str(tmp_path), "--name", "nit-2"]) == 0
    written = tmp_path / "share" / "jupyter" / "kernels" / "nit-2" / "kernel.json"
    assert json.loads(written.read_text(encoding="utf-8"))["argv"][0] == sys.executable
    assert (written.parent / "logo-svg.svg").exists()


def test_wrong_words_are_a_usage_error(capsys) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["rum"])
    assert ended.value.code == 2
