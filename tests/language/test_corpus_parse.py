"""Every script of the corpus, each of its spellings, and every prefix of a sample."""

import json
from pathlib import Path

import pytest
from language.reading import PlainHost

from nit_kernel._syntax import CALL, parse

# The spelling rules say that these are the same program; `attr` writes `.k` for `["k"]`.
SAME = ("json", "triple", "repr", "multiline")
# The data set calls right what NIT has not: an operator.
OPERATORS = {"arith", "concat"}


def records(shared: Path) -> list[dict]:
    files = [*sorted((shared / "corpus/scripts").glob("*.jsonl")), shared / "corpus/big.jsonl"]
    return [
        json.loads(line) for path in files for line in path.read_text("utf-8").split("\n") if line
    ]


@pytest.fixture(scope="module")
def corpus(shared: Path) -> list[dict]:
    return records(shared)


def has_operator(record: dict) -> bool:
    return record.get("refused") == "operator" or bool(OPERATORS & set(record["features"]))


def test_every_script_and_each_of_its_spellings_parses(corpus: list[dict]) -> None:
    scripts, refused = 0, 0
    for record in corpus:
        for text in (record["script"], *record.get("alts", {}).values()):
            script = parse(text)
            found = [item.code for item in script.diagnostics]
            if has_operator(record):
                assert set(found) == {"NIT205"}, record["id"]
                refused += 1
            else:
                assert found == [], (record["id"], script.diagnostics)
                scripts += 1
    print(f"{scripts} scripts parse, {refused} are refused for an operator")
    assert scripts > 6_000


def test_spellings_of_one_program_are_equal(corpus: list[dict]) -> None:
    count = 0
    for record in corpus:
        script = parse(record["script"])
        for name, text in record.get("alts", {}).items():
            if name in SAME:
                assert parse(text) == script, (record["id"], name)
                count += 1
    assert count > 2_000


def test_the_calls_of_a_script_are_those_of_its_record(corpus: list[dict]) -> None:
    """Names and literal arguments; what needs a run is compared in the tests of the runtime."""
    host, calls = PlainHost(), 0
    for record in corpus:
        if has_operator(record) or record["source"] == "blns_long":
            continue
        script = parse(record["script"])
        expected = iter(record["calls"])
        for number in range(script.step_count):
            kind, shape, *_ = script.step(number)
            if kind != CALL:
                continue
            found, call = script.shapes[shape], next(expected)
            assert found.tool == call["name"], record["id"]
            if all(found.names) and "?" not in found.kinds:
                arguments = script.arguments(number, found.names, (), host)
                assert arguments == call["arguments"], record["id"]
                calls += 1
        assert next(expected, None) is None, record["id"]
    assert calls > 3_000


def test_every_prefix_of_a_script_gives_a_value_or_a_finding(corpus: list[dict]) -> None:
    texts = [record["script"] for record in corpus if not has_operator(record)]
    texts += [text for record in corpus[::40] for text in record.get("alts", {}).values()]
    for text in [text for text in texts if len(text) < 600][::12]:
        for end in range(len(text)):
            prefix = text[:end]
            script = parse(prefix)
            data = len(prefix.encode())
            if script.ok:
                complete = parse(prefix + "\n")
                assert complete == script
            for item in script.diagnostics:
                assert 0 <= item.span.start <= item.span.end <= data
            is_cut = prefix.count("(") > prefix.count(")") and '"' not in prefix
            assert not (is_cut and script.ok), prefix
