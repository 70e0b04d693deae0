"""The report that a model gets after its script."""

import re

import pandas as pd
import pytest

import nit_kernel as nit
from nit_kernel.config import Limits
from nit_kernel.errors import NitError


def search(query: str, limit: int = 3) -> list[str]:
    """Find pages."""
    return [f"{query} {number}" for number in range(limit)]


def big() -> str:
    """Much text."""
    return "line\n" * 20_000 + "EXIT 7"


def table() -> pd.DataFrame:
    """A table."""
    return pd.DataFrame({"n": range(100)})


def fail() -> None:
    """Fail."""
    raise ValueError("the disk is full")


def say() -> int:
    """Print."""
    print("hello")
    return 1


def broken() -> int:
    """Fail in the background."""
    raise KeyError("k")


TOOLS = [search, big, table, fail, say, broken]


def report(script: str, **options: object) -> str:
    with nit.Session(tools=TOOLS, **options) as session:
        return timeless(session.run(script, origin="model").report())


def timeless(text: str) -> str:
    """The report with every time as `0 ms`."""
    return re.sub(r"\b\d+(\.\d+)? m?s\b", "0 ms", text)


def test_a_report_tells_of_calls_variables_and_the_value() -> None:
    assert report('$a = search("x", limit=2)\n$n = 5\n$a[0]') == "\n".join(
        [
            "ok",
            "line 1: search ok, 0 ms",
            '$a: List, 2 items: ["x 0", "x 1"]',
            "$n: Number: 5",
            "value (String, 3 chars):",
            "x 0",
        ]
    )


def test_the_last_value_is_given_in_full_up_to_the_limit() -> None:
    rows = [{"name": f"row {number}", "tags": ["a", "b"]} for number in range(40)]
    with nit.Session() as session:
        text = session.run("$rows", variables={"rows": rows}).report()
    assert text.endswith(
        ", ".join(f'{{"name": "row {number}", "tags": ["a", "b"]}}' for number in range(38, 40))
        + "]"
    )
    assert "left out" not in text
    assert "more ..." not in text


def test_a_long_value_is_head_tail_and_how_to_read_more() -> None:
    text = report("$page = big()\n$page")
    assert len(text) <= Limits().report_chars
    assert "$page: String, 100,006 chars; it is the value below" in text
    assert "value (String, 100,006 chars; read more with a slice such as `[2000:4000]`):" in text
    assert "chars left out" in text
    assert text.endswith("EXIT 7")


def test_a_table_is_shown_by_its_first_and_last_rows() -> None:
    assert '$t: DataFrame, 100 rows x 1 column: [{"n": 0}, {"n": 1}, {"n": 2}, ' in report(
        "$t = table()\n$x = 1"
    )


def test_a_failed_statement_says_what_ran_and_what_to_do() -> None:
    assert report('$a = search("x", limit=1)\n$b = fail()\n$c = 1') == "\n".join(
        [
            "failed in line 2: earlier statements ran and stay, later ones did not run",
            "NIT501 error at line 2, column 6: `fail` raised ValueError: the disk is full",
            "line 1: search ok, 0 ms",
            "line 2: fail failed, 0 ms",
            '$a: List, 1 item: ["x 0"]',
        ]
    )


def test_a_script_that_never_ran_says_so_with_every_error() -> None:
    assert report('$a = serch(query="x")\nsearch("x", limit="many")') == "\n".join(
        [
            "nothing ran (checked): correct the script and send it again",
            "NIT301 error at line 1, column 6: there is no tool `serch`; "
            "hint: did you mean `search`?",
            'NIT314 error at line 2, column 19: limit: wanted integer, got "many"',
        ]
    )
    assert report("$a = f(").startswith("nothing ran (not a script): ")


def test_warnings_go_back_with_what_ran() -> None:
    assert "NIT304 warning at line 1, column 1: `Search` is read as `search`" in report(
        'Search("x")'
    )


def test_what_a_tool_printed_is_told() -> None:
    class Watch:
        def on_event(self, event: object, /) -> None:
            pass

    text = report("say()", observer=Watch())
    assert 'line 1: say ok, 0 ms, printed "hello"' in text


def test_a_background_task_is_told_of_when_it_ended_and_only_once() -> None:
    with nit.Session(tools=TOOLS) as session:
        first = session.run("$t = async broken()\n$x = 1").report()
        session.wait()
        second = session.run("$y = 2").report()
        third = session.run("$z = 3").report()
    told = [text.count("raised KeyError") for text in (first, second, third)]
    assert sum(told) == 1
    assert told[2] == 0


@pytest.mark.parametrize("chars", [200, 1_000, 8_000])
def test_a_report_keeps_to_its_limit(chars: int) -> None:
    script = "\n".join(f'$v{number} = search("{"x" * 50}")' for number in range(200)) + "\nbig()"
    text = report(script, limits=Limits(report_chars=chars))
    assert len(text) <= chars


def test_a_report_can_be_asked_for_in_another_length() -> None:
    with nit.Session(tools=TOOLS) as session:
        result = session.run("big()")
        assert len(result.report(chars=500)) <= 500
        assert result.report() == result.report()


def test_a_script_of_nothing_has_a_report() -> None:
    assert report("# only a comment") == "ok: the script holds no statement"


def test_an_error_of_a_run_is_what_the_report_says() -> None:
    with nit.Session(tools=TOOLS) as session:
        result = session.run("fail()")
        assert isinstance(result.error, NitError)
        assert result.error.message in result.report()
