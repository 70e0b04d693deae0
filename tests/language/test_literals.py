"""What literals mean: strings, numbers, constants, lists, dicts, f-strings, references."""

import ast
import warnings

import pytest
from language.reading import PlainHost, findings, good, value_of

from nit_kernel._syntax import parse


def in_python(literal: str) -> object:
    """What Python makes of the literal; it warns of unknown escapes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.literal_eval(literal)


@pytest.mark.parametrize(
    "literal",
    [
        "'a'", '"a"', '"""a"""', "'''a'''", "''", '""""""', '""', '"it\'s"', "'say \"hi\"'",
        '"""one "two" three"""', "'''a\nb'''", r"'a\nb\tc\\d\'e\"f'", r"'\0\x41\u4f60\U0001F600'",
        r"'\101\7\18\377\777'", "'a\\\nb'", r"'\d\w\ '", r"'\a\b\f\v\r'", r"r'a\nb'", r'R"\""',
        r"r'\\'", "r'''a\\\nb'''", "'a' 'b'", "'a' \"b\" '''c'''", r"r'\n' '\n'", '"#"', "'\t'",
        '"你好 😀"', "'\u2028\u0085\u200b'", "'“quoted”'", "u'x'", '"a"  r"\\d"',
    ],
)  # fmt: skip
def test_strings_mean_what_they_mean_in_python(literal: str) -> None:
    assert value_of(literal) == in_python(literal)


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        (r'"a\/b"', "a/b"),
        (r'"\ud83d\ude00 ok"', "😀 ok"),
        (r'"\uD83D\uDE00"', "😀"),
        ('"""a\r\nb\rc"""', "a\nb\nc"),
        ('"a\\\r\nb"', "ab"),
        ('r"""a\r\nb"""', "a\nb"),
        ('"nul \x00 inside"', "nul \x00 inside"),
        ("“a”", "a"),
        ('‘it"s’', 'it"s'),
        (r"“a\n\”b”", "a\n”b"),
        ("„a“", "a"),
        ("「a」", "a"),
    ],
)
def test_strings_that_python_does_not_have(literal: str, value: str) -> None:
    assert value_of(literal) == value


@pytest.mark.parametrize(
    "literal",
    [
        "0", "1", "42", "1_000_000", "0x1F", "0XfF", "0o17", "0b101", "0x_1f", "00", "0_0", "1.5",
        "1.", ".5", "1e3", "1E-3", "1.5e+10", "1_0.0_1", "1e1_0", "01.5", "01e5", "-1", "+1",
        "-1.5",
        "-0.0", "123456789012345678", "1234567890123456789", "9223372036854775807",
        "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
        "0xFFFFFFFFFFFFFFFFF",
        "1e308", "1e-400", "0.1", "9" * 4300, "-" + "8" * 4300, "0b" + "1" * 200, "0o" + "7" * 100,
        "5e-324", "2.2250738585072011e-308", "- 5",
    ],
)  # fmt: skip
def test_numbers_mean_what_they_mean_in_python(literal: str) -> None:
    value = value_of(literal)
    expected = in_python(literal)
    assert (value, type(value), repr(value)) == (expected, type(expected), repr(expected))


def test_constants_have_two_spellings() -> None:
    assert value_of("[true, false, null, True, False, None]") == [True, False, None] * 2


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        ("[]", []),
        ("()", []),
        ("{}", {}),
        ("(1)", 1),
        ("((((1))))", 1),
        ("(1,)", [1]),
        ("(1, 2)", [1, 2]),
        ("(1, 2,)", [1, 2]),
        ("[1, [2, (3, {4: 5})]]", [1, [2, [3, {4: 5}]]]),
        ("[\n 1, # one\n 2\n]", [1, 2]),
        ("[[], [[]], {}, ()]", [[], [[]], {}, []]),
        ('{"a": 1, b: 2, true: 3, 4: 5, 1.5: 6, -7: 8}',
         {"a": 1, "b": 2, "true": 3, 4: 5, 1.5: 6, -7: 8}),
        ("{if: 1, class: 2, None: 3,}", {"if": 1, "class": 2, "None": 3}),
        ('{"a" "b": 1}', {"ab": 1}),
        ("{ａ: 1}", {"a": 1}),
        ('{"k": {"k": {"k": []}}}', {"k": {"k": {"k": []}}}),
    ],
)  # fmt: skip
def test_lists_tuples_and_dicts(literal: str, value: object) -> None:
    assert value_of(literal) == value


@pytest.mark.parametrize(
    ("literal", "value", "asked"),
    [
        ('f"a{$x}b"', "aXb", ["text None None 3-7"]),
        ('f"{$x}{$x!r}"', "X'X'", ["text None None 2-6", "text r None 6-12"]),
        ('f"{$x!s:>3}|"', "  X|", ["text s >3 2-11"]),
        ('f"{{{$x}}}"', "{X}", ["text None None 4-8"]),
        ('f"{{}}"', "{}", []),
        (
            "f'{$d[\"k\"].n}'",
            "1",
            ["access 1 'k' 5-10", "access 0 'n' 11-12", "text None None 2-13"],
        ),
        ('f"{$l[0]} {$l[1:]}"', "7 [8]", [
            "access 1 0 5-8", "text None None 2-9", "access 2 (1, None) 13-17",
            "text None None 10-18"]),
        ('F"{ $x }"', "X", ["text None None 2-8"]),
        ('f"{$x:}"', "X", ["text None None 2-7"]),
        (r'rf"\n{$x}"', r"\nX", ["text None None 5-9"]),
        (r'f"\n\u4f60{$x}\t"', "\n你X\t", ["text None None 10-14"]),
        ('f"""{\n$x\n}"""', "X", ["text None None 4-10"]),
        ('"a" f"{$x}" \'b\'', "aXb", ["text None None 6-10"]),
        ('f"{$d[$k]}"', "{'n': 1}", ["access 1 'k' 5-9", "text None None 2-10"]),
    ],
)  # fmt: skip
def test_f_strings_ask_the_host_for_the_text_of_references(
    literal: str, value: str, asked: list[str]
) -> None:
    variables = {"x": "X", "d": {"k": {"n": 1}}, "l": [7, 8], "k": "k"}
    host = PlainHost()
    script = good(literal)
    found = script.value(0, [variables[name] for name in script.step(0)[3]], host)
    assert (found, host.asked) == (value, asked)


@pytest.mark.parametrize(
    ("reference", "value"),
    [
        ("$r.a", 1),
        ("$r.items", 2),
        ("$r.class", 3),
        ("$r.rows[0]", 10),
        ("$r.rows[-1]", 30),
        ("$r.rows[1:]", [20, 30]),
        ("$r.rows[:-1]", [10, 20]),
        ("$r.rows[:]", [10, 20, 30]),
        ("$r.rows[$r.a]", 20),
        ("$r.rows[$r.a:$r.items]", [20]),
        ('$r["rows"][0]', 10),
        ("$r [ 'a' ]", 1),
        ("$r . a", 1),
        ("[$r.a, {k: $r.items}]", [1, {"k": 2}]),
    ],
)
def test_paths_are_read_step_by_step(reference: str, value: object) -> None:
    r = {"a": 1, "items": 2, "class": 3, "rows": [10, 20, 30]}
    assert value_of(reference, {"r": r}) == value


def test_names_are_compared_in_their_normal_form() -> None:
    script = good("$ﬁle = 工具(ａｂ=1).ｃ\n$file")
    assert script.statement(0)[2] == "file"
    assert script.free_variables == ()
    assert script.shapes[0].tool == "工具"
    assert script.shapes[0].names == ("ab",)


def test_a_tool_may_have_dots_and_blanks_around_them() -> None:
    source = "a.b.c(1)\na . b(2)\nf(x=a.\n # remark\n b(3))\nb．c()"
    assert [shape.tool for shape in good(source).shapes] == ["a.b.c", "a.b", "f", "b.c"]


def test_any_word_may_name_an_argument_a_field_or_a_key() -> None:
    words = "if for class from async await true None call help lambda in with".split()
    source = "f(" + ", ".join(f"{word}=$x.{word}" for word in words) + ")"
    assert good(source).shapes[0].names == tuple(words)
    keys = "{" + ", ".join(f"{word}: 1" for word in words) + "}"
    assert value_of(keys) == dict.fromkeys(words, 1)


def test_help_is_a_call_and_call_takes_an_exact_name() -> None:
    script = good('help("x")\n$r = call("get-weather", q=1)[0]\nasync call(r"a\\b")\nf(call("n"))')
    shapes = [(shape.tool, shape.exact, shape.names) for shape in script.shapes]
    assert shapes == [
        ("help", False, (None,)),
        ("get-weather", True, ("q",)),
        ("a\\b", True, ()),
        ("n", True, ()),
        ("f", False, (None,)),
    ]
    assert good("call.x(1); call").shapes[0].exact is False


def test_statements_end_at_line_breaks_and_semicolons() -> None:
    for source in (
        "f()\ng()",
        "f()\r\ng()",
        "f()\rg()",
        "f();g()",
        ";;f();;\n\n;g();",
        "f() ; g()",
    ):
        assert good(source).statement_count == 2, source
    assert findings("f()\u2028g()") == ["NIT152 1:4", "NIT233 1:5"]


def test_brackets_make_line_breaks_blank_and_a_backslash_joins_lines() -> None:
    assert good("f(\n\n a=1,\r\n b=[\r2\r]\n)").statement_count == 1
    assert good("$x = \\\n  f(1)").statement_count == 1


def test_a_script_that_holds_nothing_is_valid() -> None:
    for source in ("", " ", "\n", "# only a remark", "\ufeff", "<nit></nit>", ";", "\r\n# a\n\n"):
        script = good(source)
        assert (script.statement_count, script.step_count, script.diagnostics) == (0, 0, ())


def test_tags_and_a_byte_order_mark_around_the_script_are_dropped() -> None:
    for source in (
        "<nit>\nf(1)\n</nit>", "<nit-A1B2>f(1)</nit-A1B2>", "\ufefff(1)", "\ufeff<nit>f(1)</nit>\n",
        "  \n<nit>\n\ufefff(1)\n</nit>\n\n",
    ):  # fmt: skip
        script = good(source)
        assert script == parse("f(1)")
        start, end = script.statement(0)[4:]
        assert source.encode()[start:end] == b"f(1)"


def test_lone_surrogates_in_the_text_are_reported_with_their_place() -> None:
    script = parse("f(a='x\ud800y', b=$c)\ng()")
    assert [(item.code, item.span.line, item.span.column) for item in script.diagnostics] == [
        ("NIT102", 1, 7)
    ]
    assert not script.ok
    assert script.source == "f(a='x\ud800y', b=$c)\ng()"
    assert [row[4:] for row in map(script.statement, range(2))] == [(0, 18), (19, 22)]
    assert "\ufffd" in script.diagnostics[0].render()
