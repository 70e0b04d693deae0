"""The formatter on real scripts: the same statements, and a layout that stays."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nit_kernel._syntax import format_source, parse, quote


def corpus_scripts(shared: Path) -> list[str]:
    files = [*sorted((shared / "corpus/scripts").glob("*.jsonl")), shared / "corpus/big.jsonl"]
    lines = [line for path in files for line in path.read_text("utf-8").split("\n") if line]
    records = [json.loads(line) for line in lines]
    return [text for r in records for text in (r["script"], *r.get("alts", {}).values())]


def formatted(source: str, *, upgrade: bool = False) -> str:
    text, diagnostics = format_source(source, upgrade=upgrade)
    assert text is not None, diagnostics
    return text


def test_every_corpus_script_keeps_its_statements_and_its_layout_stays(shared: Path) -> None:
    count = 0
    for script in corpus_scripts(shared):
        parsed = parse(script)
        text, diagnostics = format_source(script)
        assert diagnostics == parsed.diagnostics
        if not parsed.ok:
            assert text is None
            continue
        assert text is not None
        assert parse(text) == parsed
        assert parse(text).ok
        assert formatted(text) == text
        count += 1
    assert count > 6_800


def test_a_nit_1_block_becomes_the_same_statements_in_nit_2() -> None:
    source = (
        "a()\n\n[[[NIT_CALL]]]\nget-weather\ncity: [START] Oslo [END]\n"
        'text-body: [START]one "x"\ntwo[END]\n[[[NIT_END]]]  # done\n'
    )
    assert formatted(source) == source
    upgraded = formatted(source, upgrade=True)
    assert upgraded == (
        'a()\n\ncall("get-weather", city="Oslo", "text-body"="""one "x"\ntwo""")  # done\n'
    )
    assert parse(upgraded) == parse(source)
    assert formatted(upgraded, upgrade=True) == upgraded


def test_a_script_with_errors_is_left_alone() -> None:
    text, diagnostics = format_source("f(\n$x = 1 + 2\n")
    assert text is None
    assert [finding.severity for finding in diagnostics].count("error") >= 1
    assert format_source("f(a='\ud83d')")[0] is None


@settings(max_examples=500, deadline=None)
@given(st.text())
def test_a_quoted_text_is_read_back(text: str) -> None:
    literal = quote(text)
    assert "\n" not in literal
    (statement,) = parse(literal).statements
    assert statement.value == text
    assert formatted(literal) == literal + "\n"


def test_a_half_of_a_surrogate_pair_cannot_be_quoted() -> None:
    assert quote("a\ud83d\"'") == '"a\ufffd\\"\'"'


@pytest.mark.parametrize(
    ("text", "literal"),
    [
        ("it's", '"it\'s"'),
        ('say "x"', "'say \"x\"'"),
        ("both \" and '", '"both \\" and \'"'),
        ("a\nb\t\\", '"a\\nb\\t\\\\"'),
        ("\x00\x7f\x85", '"\\x00\\x7f\\x85"'),
        ("漢字 😀", '"漢字 😀"'),
    ],
)
def test_a_text_is_quoted_with_the_fewest_escapes(text: str, literal: str) -> None:
    assert quote(text) == literal
