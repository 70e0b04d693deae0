"""No input, however long, deep or broken, does more than give a value or a clear finding."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from language.reading import PlainHost, good

from nit_kernel._syntax import Script, parse

LARGE = {"script_bytes": 1 << 30, "statements": 10_000_000}
MILLION = 1_000_000


def codes(script: Script) -> list[str]:
    return sorted({item.code for item in script.diagnostics if item.severity == "error"})


@pytest.mark.parametrize(
    ("options", "source", "expected"),
    [
        ({"script_bytes": 10}, "f(a=12345)", []),
        ({"script_bytes": 10}, "f(a=123456)", ["NIT101"]),
        ({"script_bytes": 10}, "f('变变变')", ["NIT101"]),
        ({"statements": 3}, "f()\n\n# x\nf();f()\n", []),
        ({"statements": 3}, "f();f();f();f()", ["NIT226"]),
        ({"nesting": 3}, "f(a=[{k: 1}])", []),
        ({"nesting": 3}, "f(a=[{k: (1)}])", ["NIT225"]),
        ({"nesting": 3}, "$x[$y[$z[0]]]", []),
        ({"nesting": 3}, "f(g(h(i())))", ["NIT225"]),
        ({"value_nodes": 4}, "$x = [1, 2, {k: 3}, []][:1]"[:-4], ["NIT227"]),
        ({"value_nodes": 5}, "$x = [1, 2, {k: 3}]", []),
        ({"value_nodes": 3}, "f([1, 2], [3, 4])", []),
        ({"value_nodes": 3}, "f([1, 2], g([1, 2, 3]))", ["NIT227"]),
        ({"value_nodes": 3}, "f([1, 2], [3, 4, 5])", ["NIT227"]),
        ({"value_bytes": 8}, '$x = "12345678"', []),
        ({"value_bytes": 8}, '$x = "123456789"', ["NIT227"]),
        ({"value_bytes": 8}, '$x = "1234" "56789"', ["NIT227"]),
        ({"value_bytes": 8}, '$x = ["1234", {k: "5678"}]', ["NIT227"]),
        ({"value_bytes": 8}, r'$x = "\u53d8\u53d8"', []),
        ({"value_bytes": 8}, r'$x = "\u53d8\u53d8\u53d8"', ["NIT227"]),
        ({"value_bytes": 8}, 'f("12345678", "12345678")', []),
        ({"value_bytes": 8}, "[[[NIT_CALL]]]f\nx: [START]123456789[END][[[NIT_END]]]", ["NIT227"]),
    ],
)  # fmt: skip
def test_a_limit_ends_in_a_clear_error(
    options: dict[str, int], source: str, expected: list[str]
) -> None:
    script = parse(source, **options)
    assert codes(script) == expected
    if expected and expected != ["NIT226"]:
        assert script.statement_count == 0


HUGE = {
    "brackets": "[" * MILLION,
    "closed brackets": "[" * MILLION + "]" * MILLION,
    "parentheses": "(" * MILLION,
    "braces": '{"a":' * MILLION,
    "calls": "f(" * MILLION,
    "named calls": "f(x=" * MILLION,
    "paths": "$x[" * MILLION,
    "closers": ")" * MILLION,
    "minus signs": "-" * 200_000,
    "minus signs apart": "- " * 200_000,
    "bad statements": "f(1 2)\n" * 200_000,
    "open statements": "f(\n" * 200_000,
    "open targets": "$x = (\n" * 200_000,
    "torn strings": 'f("a\n' * 200_000,
    "quotes": '"' * MILLION,
    "backslashes": '"' + "\\" * MILLION,
    "open f-string": 'f"' + "{$x[" * MILLION + '"',
    "dollars": "$" * MILLION,
    "dots": "." * MILLION,
    "dotted": "a." * 500_000,
    "commas": "f(" + "," * MILLION,
    "calls in a row": "f()" * 500_000,
    "digits": "1" * MILLION,
    "exponent": "1e" + "1" * MILLION,
    "no end": '$x = "' + "a" * 10_000_000,
    "tags": "<nit>" * 200_000,
    "fences": "```\n" * 200_000,
    "blocks": "[[[NIT_CALL]]]\n" * 200_000,
    "open values": "[[[NIT_CALL]]]t\na: [START]" * 50_000,
    "wide": "（" * 300_000,
    "typographic": "“" * 300_000,
    "invisible": "\u200b" * 300_000,
    "equal keys": "{" + '"k": 1,' * 200_000 + "}",
    "prose": "Sure, here it is. " * 100_000,
}


@pytest.mark.parametrize("name", HUGE)
def test_huge_broken_input_gives_a_finding(name: str) -> None:
    begin = time.process_time()
    script = parse(HUGE[name], **LARGE)
    assert codes(script)
    assert len(script.diagnostics) <= 100
    for item in script.diagnostics:
        assert len(item.render()) < 10_000
        assert len(item.terse()) < 2_000
    assert time.process_time() - begin < 20


@pytest.mark.parametrize(
    ("name", "source", "count"),
    [
        ("statements", "f()\n" * 200_000, 200_000),
        ("statements on a line", "f(); " * 200_000, 200_000),
        ("indented", " x()\n" * 200_000, 200_000),
        ("long string", '$x = "' + "a" * 9_999_999 + '"', 1),
        ("long list", "$x = [" + "1," * 900_000 + "]", 1),
        ("long path", "$x" + ".a" * MILLION, 1),
        ("many keys", "$x = {" + ",".join(f'"k{n}":{n}' for n in range(200_000)) + "}", 1),
        ("many variables", "f(" + ",".join(f"a{n}=$v{n}" for n in range(100_000)) + ")", 1),
        ("many calls", "$x = [" + ",".join("g($x.y, h())" for _ in range(50_000)) + "]", 1),
        ("one name", "a" * MILLION + "()", 1),
        ("blank lines", "\n" * MILLION, 0),
        ("remarks", "# x\n" * 300_000, 0),
        ("f-string", 'f"' + "{{" * MILLION + '"', 1),
    ],
)
def test_huge_good_input_is_read(name: str, source: str, count: int) -> None:
    begin = time.process_time()
    script = parse(source, **LARGE)
    assert (script.ok, script.statement_count) == (True, count), name
    assert script.step_count >= count
    assert time.process_time() - begin < 20


def test_time_grows_with_the_length_and_not_with_its_square() -> None:
    line = '$v = f(a=[1, {"k": "text"}], b=$v.x[0])\n'

    def seconds(count: int) -> float:
        source = line * count
        best = 1e9
        for _ in range(3):
            begin = time.process_time()
            script = parse(source, **LARGE)
            assert script.step_count == count
            best = min(best, time.process_time() - begin)
        return best

    # A hundred times the length: a square would take ten thousand times as long.
    assert seconds(100_000) < 100 * 40 * max(seconds(1_000), 1e-4)


@pytest.mark.parametrize(
    "source",
    ["[" * 50_000 + "]" * 50_000, '{"a":' * 50_000 + "1" + "}" * 50_000,
     "(" * 50_000 + "1" + ")" * 50_000, "$a[" * 50_000 + "0" + "]" * 50_000],
)  # fmt: skip
def test_no_depth_of_nesting_exhausts_the_stack(source: str) -> None:
    script = good(source, nesting=100_000, script_bytes=10_000_000)
    values = [[1] for _ in script.step(0)[3]]
    host = PlainHost()
    host.access = lambda value, *_: 0  # type: ignore[method-assign]
    assert script.value(0, values, host) is not None
    assert script == parse(source, nesting=100_000, script_bytes=10_000_000)


def test_views_of_very_deep_scripts_raise_and_do_not_crash() -> None:
    depth = 5_000
    script = good("g(" * depth + ")" * depth, nesting=depth, script_bytes=10_000_000)
    assert script.step_count == depth
    with pytest.raises(RecursionError):
        assert script.statements


WORDS = st.sampled_from(
    'f ( ) [ ] { } , = : . ; \n \r $x $ 1 .5 1e9 "a" \'b """ f"{$x}" f" {{ } ! # \\ - + * ** == '
    "async await if for call( true null ``` <nit> </nit> [[[NIT_CALL]]] [[[NIT_END]]] [START] "
    "[END] "
    ">>> ... “ ” （ ） ， \u200b \u3000 \x00 变 ｘ __a /".split(" ")
)


@settings(max_examples=400, deadline=None)
@given(
    st.one_of(st.lists(WORDS, max_size=40).map(" ".join), st.lists(WORDS, max_size=40).map("".join))
)
def test_any_mix_of_words_gives_a_script_or_findings_with_places_inside(source: str) -> None:
    check_sane(parse(source))
    check_sane(parse(source, legacy="off"))
    check_sane(parse(source, legacy="only"))


@settings(max_examples=300, deadline=None)
@given(st.text(st.characters(), max_size=60))
def test_any_text_gives_a_script_or_findings_with_places_inside(source: str) -> None:
    check_sane(parse(source))


def check_sane(script: Script) -> None:
    """Places lie inside the source and nest; what failed has an error."""
    data = script.source.encode("utf-8", "surrogatepass")
    for item in script.diagnostics:
        assert 0 <= item.span.start <= item.span.end <= len(data)
        assert item.render()
        assert item.terse()
    end_before = 0
    for index in range(script.statement_count):
        first, last, _, _, start, end = script.statement(index)
        assert end_before <= start <= end <= len(data)
        end_before = end
        for number in range(first, last):
            kind, _, _, _, at, until = script.step(number)
            assert start <= at <= until <= end
            if kind == 0:
                for a, b, c, d in script.argument_spans(number):
                    assert at <= a <= b <= c <= d <= until or a == b == c <= d <= until
    assert len(script.statements) == script.statement_count
    for name, start, end, *_ in (*script.free_variables, *script.bare_names):
        assert 0 <= start < end <= len(data)
        assert name
