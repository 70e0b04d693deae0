"""The reader of the JSON that models write: strict where it says so, and never a guess."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nit_kernel.model.codecs.lenient import read_json, read_values
from nit_kernel.model.codecs.strict import Fault, Read, read_strict

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def lenient(text: str, **options: Any) -> Any:
    found = read_json(text, **options)
    return found.value if isinstance(found, Read) else Fault


def test_the_json_test_suite_is_accepted_and_rejected_as_it_says(shared: Path) -> None:
    path = shared / "corpus" / "codec" / "json_test_suite.jsonl"
    wrong: list[str] = []
    count = 0
    for line in filter(None, path.read_text(encoding="utf-8").split("\n")):
        record = json.loads(line)
        count += 1
        if "b64" in record:
            raw = base64.b64decode(record["b64"])
        else:
            (text, repeat) = next(v for v in record.values() if isinstance(v, list))
            raw = (text * repeat).encode()
        try:
            text = raw.decode()
        except UnicodeDecodeError:
            got = "reject"
        else:
            strict, mended = read_strict(text), read_json(text)
            got = "accept" if isinstance(strict, Read) else "reject"
            if isinstance(strict, Read) and mended != strict:
                wrong.append(f"{record['name']}: the lenient reader reads it otherwise")
        if record["expect"] not in ("either", got):
            wrong.append(f"{record['name']}: {got}")
    assert wrong == []
    assert count == 318


@given(JSON)
def test_what_is_json_is_read_as_it_is_and_never_repaired(value: Any) -> None:
    text = json.dumps(value, ensure_ascii=False)
    assert read_json(text) == Read(value, len(text))


@given(st.text(alphabet=st.sampled_from("{}[]\",:\\\n\t /*'aTrue0123nul-. 文"), max_size=60))
def test_no_text_breaks_the_reader(text: str) -> None:
    found = read_json(text)
    if isinstance(found, Read) and not found.repairs:
        assert json.loads(text) == found.value
    elif isinstance(found, Fault):
        assert 0 <= found.offset <= len(text)


@given(JSON.filter(lambda value: isinstance(value, (dict, list, str))), st.data())
def test_no_prefix_is_completed(value: Any, data: Any) -> None:
    text = json.dumps(value, ensure_ascii=False)
    cut = text[: data.draw(st.integers(0, len(text) - 1))]
    assert lenient(cut) is Fault


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": "x\ny\tz"}', {"a": "x\ny\tz"}),
        ('{"a": [1, 2,], }', {"a": [1, 2]}),
        ("{'a': 'it\\'s \"so\"', 'b': [True, None]}", {"a": 'it\'s "so"', "b": [True, None]}),
        ('{a: 1, /* c */ "b": "http://x//y", // d\n}', {"a": 1, "b": "http://x//y"}),
        ('{"p": "\\d+\\.\\w"}', {"p": "\\d+\\.\\w"}),
        ('{"p": "it\\\'s"}', {"p": "it's"}),
        ('{"t": "\\u6文\\u4e2d"}', {"t": "文中"}),
        ('{"c": "print("a", "b")"}', {"c": 'print("a", "b")'}),
        ('{"c": "[{"a":"b"},{"a":"c"}]"}', {"c": '[{"a":"b"},{"a":"c"}]'}),
        ('\ufeff{"a": 1}', {"a": 1}),
    ],
)
def test_a_slip_with_one_meaning_is_repaired(text: str, value: Any) -> None:
    assert lenient(text) == value


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"a": "x\ny",}', id="two kinds of slips"),
        pytest.param('{"p": "C:\\new\\dir"}', id="a backslash that may be an escape"),
        pytest.param('{"t": "\\u7文"}', id="another character than the escape begins"),
        pytest.param('{"t": "a", "u": "b"c", "d": "e"}', id="several readings"),
        pytest.param('{"a": {"q": "a"}{"q": "b"}}', id="two objects in the place of one"),
        pytest.param('{"a": "x"}, {"a": "y"}', id="two objects"),
        pytest.param('[{"a": "x"] [{"a": "y"}]', id="a brace too few, and a second list"),
        pytest.param('{"{"ids":[1]}', id="a stray brace"),
        pytest.param('{"a":1,,"b":2}', id="a comma too many"),
        pytest.param('{"a":[1,2}', id="a bracket too few"),
        pytest.param('{"a" 1}', id="a colon too few"),
        pytest.param("{'it's': 1}", id="an apostrophe in single quotes"),
        pytest.param('{"a": NaN}', id="no number"),
        pytest.param('{"a": 1e999}', id="no float holds it"),
        pytest.param('{"a": 007}', id="leading zeros"),
        pytest.param('{"a": 1} x', id="something behind it"),
        pytest.param('{"a": "\\x41"', id="cut off"),
        pytest.param("", id="nothing"),
    ],
)
def test_what_may_mean_two_things_or_is_not_whole_is_a_fault(text: str) -> None:
    assert lenient(text) is Fault


def test_of_several_readings_the_only_one_that_is_wanted_is_taken() -> None:
    text = '{"text": "say "a", "b": "c"}'
    assert lenient(text) is Fault
    assert lenient(text, accept=lambda value: set(value) == {"text"}) == {
        "text": 'say "a", "b": "c'
    }


@pytest.mark.parametrize(
    "text",
    [
        '{"a":' * 100_000,
        "[" * 100_000,
        '{"a":"' + '\\"' * 200_000,
        '"' * 100_000,
        '{"a":"' + '",' * 100_000 + "}",
        '{"a":"' + '"b" ' * 3_000 + '","c":"' + '"d" ' * 3_000 + '"}',
        "[" + "1," * 200_000,
    ],
    ids=["objects", "lists", "escapes", "quotes", "ends", "inner quotes", "items"],
)
def test_no_text_takes_long(text: str) -> None:
    from time import monotonic

    begun = monotonic()
    read_json(text)
    assert monotonic() - begun < 10


def test_values_one_after_the_other_are_read_in_order() -> None:
    values = read_values('{"a":1}{"b":2}\n {"c":3,}')
    assert [read.value for read in values] == [{"a": 1}, {"b": 2}, {"c": 3}]
    assert read_values('{"a":1} and') == Fault("a value is missing", 8, at_end=False)
