"""What is refused: each mistake has its own code, its place and a hint; none hides another."""

import re
from pathlib import Path

import pytest
from language.reading import findings, good

from nit_kernel._syntax import parse

MISTAKES = [
    # words
    ("f(a=\u200b1)", "NIT103 1:5"),
    ("f(a\u202e=1)", "NIT103 1:4"),
    ("$a\u200db = 1", "NIT103 1:3"),
    ("f() # \u202e hidden", "NIT103 1:7"),
    ("\u00adf()", "NIT103 1:1"),
    ("f(a=1?)", "NIT104 1:6"),
    ("f(a=`x`)", "NIT104 1:5"),
    ("f(a=−5)", "NIT104 1:5"),
    ("f(a=\x00)", "NIT104 1:5"),
    ("f(a=５)", "NIT104 1:5"),
    ("f(a=\\d)", "NIT104 1:5"),
    ('f(a="abc', "NIT106 1:5"),
    ('f(a="abc\n")', "NIT105 1:5"),
    ("f(a='abc\\", "NIT106 1:5"),
    ('f(a="""abc"")', "NIT106 1:5"),
    (r'f("ok \x4")', "NIT107 1:7"),
    (r'f("\u12")', "NIT107 1:4"),
    (r'f("\U00110000")', "NIT107 1:4"),
    (r'f("\ud83d")', "NIT108 1:4"),
    (r'f("\ude00\ud83d")', "NIT108 1:4"),
    (r'f("\ud83d\u0041")', "NIT108 1:4"),
    (r'f("\U0000d83d\U0000de00")', "NIT108 1:4"),
    (r'f("\N{BULLET}")', "NIT109 1:4"),
    (r'f(f"{$x}\N{BULLET}")', "NIT109 1:9"),
    ("f(1__0)", "NIT110 1:3"),
    ("f(1_)", "NIT110 1:3"),
    ("f(0x)", "NIT110 1:3"),
    ("f(0b12)", "NIT110 1:3"),
    ("f(1.2.3)", "NIT110 1:3"),
    ("f(12abc)", "NIT110 1:3"),
    ("f(1e)", "NIT110 1:3"),
    ("f(3变)", "NIT110 1:3"),
    ("f(1e999)", "NIT111 1:3"),
    ("f(-1e999)", "NIT111 1:3"),
    ("f(" + "9" * 400 + ".0)", "NIT111 1:3"),
    ("f(" + "9" * 4301 + ")", "NIT112 1:3"),
    ("f(0x" + "f" * 3572 + ")", "NIT112 1:3"),
    ("f(5j)", "NIT113 1:3"),
    ("f($)", "NIT114 1:3"),
    ("f($1)", "NIT114 1:3"),
    ("$$x", "NIT114 1:1"),
    ("${x}", "NIT114 1:1"),
    ("$ x", "NIT114 1:1"),
    ("__import__(name=1)", "NIT115 1:1"),
    ("a.__b__()", "NIT115 1:3"),
    ("$__builtins__ = 1", "NIT115 1:1"),
    ("f($__x)", "NIT115 1:3"),
    ("$x.__class__", "NIT115 1:4"),
    ("f(__a=1)", "NIT115 1:3"),
    ("{__a: 1}", "NIT115 1:2"),
    ("_\uff3fx = 1", "NIT115 1:1"),
    ("echo(msg=“mixed\")", "NIT116 1:10"),
    ("f(‘a“)", "NIT116 1:3"),
    ('f(b"x")', "NIT117 1:3"),
    ('f(a=NaN)', "NIT118 1:5"),
    ("f(a=-Infinity)", "NIT205 1:5"),
    ("f(a=undefined)", "NIT118 1:5"),
    # what is expected
    ("$x =", "NIT201 1:5"),
    ("f(a=)", "NIT201 1:5"),
    ('{"a": }', "NIT201 1:7"),
    ("$x.", "NIT201 1:4"),
    ('$x."a"', "NIT201 1:4"),
    ("$x[]", "NIT201 1:4"),
    ("$x[1, 2]", "NIT201 1:5"),
    ('f("a": 1)', "NIT201 1:6"),
    ("f(a=1", "NIT202 1:2"),
    ("$x = [1, {", "NIT202 1:10"),
    ("f(g(1)", "NIT202 1:2"),
    ("f(a=1;", "NIT202 1:2"),
    ("$x[0", "NIT202 1:3"),
    ("f(a=[1)", "NIT203 1:7"),
    ("f(a=(1]", "NIT203 1:7"),
    ("f(a=1))", "NIT203 1:7"),
    ("}", "NIT203 1:1"),
    ("f(a=1 b=2)", "NIT204 1:7"),
    ("[1 2]", "NIT204 1:4"),
    ('{"a": 1 "b": 2}', "NIT204 1:9"),
    ("f($a $b)", "NIT204 1:6"),
    # operators
    ("$a + 1", "NIT205 1:4"),
    ("f(x=$a+1)", "NIT205 1:7"),
    ("f(1 -2)", "NIT205 1:5"),
    ("2024-01-31", "NIT205 1:5"),
    ("f(a=--5)", "NIT205 1:5"),
    ("f(-$x)", "NIT205 1:3"),
    ('f(-"a")', "NIT205 1:3"),
    ("f(~1)", "NIT205 1:3"),
    ("f(2 * 3)", "NIT205 1:5"),
    ("f(2 ** 3)", "NIT205 1:5"),
    ("f(a := 1)", "NIT205 1:5"),
    ("f() | g()", "NIT205 1:5"),
    ("@f", "NIT205 1:1"),
    ("$a and $b", "NIT205 1:4"),
    ("f($a in $b)", "NIT205 1:6"),
    ("f($a is null)", "NIT205 1:6"),
    ('"a" % $b', "NIT205 1:5"),
    ("$a == 1", "NIT206 1:4"),
    ("f($a < 2)", "NIT206 1:6"),
    ("f($a != 2)", "NIT206 1:6"),
    ("$x += 1", "NIT207 1:4"),
    ("$x.a -= f()", "NIT207 1:6"),
    ("$x.a = 1", "NIT208 1:1"),
    ("$x[0] = 1", "NIT208 1:1"),
    ("f() = 1", "NIT208 1:1"),
    ("1 = 2", "NIT208 1:1"),
    ('"a" = 2', "NIT208 1:1"),
    ("true = 1", "NIT208 1:1"),
    ("async = 1", "NIT208 1:1"),
    ("x.y = 1", "NIT208 1:1"),
    ("f(**$d)", "NIT209 1:3"),
    ("f(a=1, *$l)", "NIT209 1:8"),
    ("[*$l]", "NIT209 1:2"),
    ("{**$d}", "NIT209 1:2"),
    # words that are reserved
    *[
        (f"{word} $x", "NIT210 1:1")
        for word in (
            "if elif else for in while break continue return and or not def import lambda class "
            "try except with parallel"
        ).split()
    ],
    ("if = 1", "NIT210 1:1"),
    ("class(a=1)", "NIT210 1:1"),
    ("$x = class(a=1)", "NIT210 1:6"),
    ("f(a=lambda y: y)", "NIT210 1:5"),
    ("f(a=not $x)", "NIT210 1:5"),
    ("from os import path", "NIT210 1:1"),
    ("true(1)", "NIT210 1:1"),
    ("f(None(1))", "NIT210 1:3"),
    ("async $x", "NIT211 1:1"),
    ("async", "NIT211 1:1"),
    ("async f", "NIT211 1:1"),
    ("async 5", "NIT211 1:1"),
    ("async(f)", "NIT211 1:1"),
    ("$x = async", "NIT211 1:6"),
    ("async f().x", "NIT211 1:10"),
    ("async def f(): pass", "NIT210 1:7"),
    ("f(x=async g())", "NIT212 1:5"),
    ("$x = [async g()]", "NIT212 1:7"),
    # paths
    ('"".__class__', "NIT213 1:3"),
    ("().x", "NIT213 1:3"),
    ("[1][0]", "NIT213 1:4"),
    ('{"a": 1}["a"]', "NIT213 1:9"),
    ("5 .x", "NIT213 1:3"),
    ("true.x", "NIT213 1:5"),
    ("($x).y", "NIT213 1:5"),
    ('"a".upper()', "NIT213 1:4"),
    ("$x.upper()", "NIT214 1:9"),
    ("$x(1)", "NIT214 1:3"),
    ("f()()", "NIT214 1:4"),
    ('"a"(1)', "NIT214 1:4"),
    ("$x.5", "NIT215 1:3"),
    ("f(a=$x.rows.0.name)", "NIT215 1:12"),
    ("f().5", "NIT215 1:4"),
    ("$x[1:2:3]", "NIT216 1:7"),
    ("$x[::2]", "NIT216 1:5"),
    # f-strings
    ('f"{1+1}"', "NIT217 1:3"),
    ('f"{}"', "NIT217 1:3"),
    ('f"{x}"', "NIT217 1:4"),
    ('f"{f(1)}"', "NIT217 1:3"),
    ('f"{$x[f(1)]}"', "NIT217 1:7"),
    ('f"{$x=}"', "NIT217 1:3"),
    ('f"{$x + 1}"', "NIT217 1:3"),
    ("f\"{$x[f'a']}\"", "NIT217 1:7"),
    ('f"{$x[[1]]}"', "NIT217 1:7"),
    ('f"{$x', "NIT106 1:1"),
    ('f"a{$x"', "NIT218 1:4"),
    ('f"{"', "NIT218 1:3"),
    ('f"a}b"', "NIT218 1:4"),
    ('f"{$d["k"]}"', "NIT202 1:6"),
    (r'f"{$d[\"k\"]}"', "NIT104 1:7"),
    ('f"{$x!a}"', "NIT219 1:6"),
    ('f"{$x!}"', "NIT219 1:6"),
    ('f"{$x:abc}"', "NIT220 1:7"),
    ('f"{$x:{$w}}"', "NIT220 1:7"),
    ('f"{$x:>10001}"', "NIT220 1:7"),
    ('f"{$x:.99999}"', "NIT220 1:7"),
    ('f"{$x.__class__}"', "NIT115 1:7"),
    # dicts
    ('{"a": 1, "a": 2}', "NIT221 1:10"),
    ("{a: 1, 'a': 2}", "NIT221 1:8"),
    (r'{"\u0061": 1, "a": 2}', "NIT221 1:15"),
    ('{"1": 1, 1: 2}', "NIT221 1:10"),
    ("{1: 1, 1.0: 2}", "NIT221 1:8"),
    ("{0x10: 1, 16: 2}", "NIT221 1:11"),
    ('{1.50: 1, "1.5": 2}', "NIT221 1:11"),
    ("{-0.0: 1, 0: 2}", "NIT221 1:11"),
    ('{true: 1, "true": 2}', "NIT221 1:11"),
    ("{" + ", ".join(f"k{n}: 1" for n in range(9)) + ", k4: 1}", "NIT221 1:65"),
    ('{f"{$x}": 1}', "NIT222 1:2"),
    ("{[1]: 2}", "NIT222 1:2"),
    ("{f(): 1}", "NIT222 1:2"),
    ("{(1): 2}", "NIT222 1:2"),
    ("{,}", "NIT222 1:2"),
    ("{1, 2}", "NIT237 1:3"),
    ('{"a"}', "NIT237 1:5"),
    ("{a=1}", "NIT237 1:3"),
    ("{$x}", "NIT237 1:4"),
    # calls
    ("f(a=1, 2)", "NIT223 1:8"),
    ("f(a=1, $x)", "NIT223 1:8"),
    ("call()", "NIT224 1:6"),
    ('call(name="x")', "NIT224 1:6"),
    ('call(f"x")', "NIT224 1:6"),
    ("call($x)", "NIT224 1:6"),
    ('call("a" "b")', "NIT224 1:6"),
    ('call("a"="b")', "NIT224 1:6"),
    ("f(a: 1)", "NIT231 1:4"),
    ("f(1=2)", "NIT232 1:3"),
    ("f($x=1)", "NIT232 1:3"),
    ('f(f"a"=1)', "NIT232 1:3"),
    ("f(a.b=1)", "NIT232 1:6"),
    ("f(,)", "NIT234 1:3"),
    ("[1,,2]", "NIT234 1:4"),
    ("(,)", "NIT234 1:2"),
    ("f(x='don't')", "NIT204 1:10"),
    ('f(x="he said "hi" now")', "NIT204 1:15"),
    ("$x = 'don't'", "NIT233 1:11"),
    ("f(a=1; b=2)", "NIT204 1:6"),
    ('{"a": 1; "b": 2}', "NIT204 1:8"),
    ("[1; 2]", "NIT204 1:3"),
    ('call("a" x=1)', "NIT204 1:10"),
    ("f(x=f“{$v}”)", "NIT204 1:5"),
    # statements
    ("[c for c in $x]", "NIT228 1:4"),
    ("f(x for x in $y)", "NIT228 1:5"),
    ("{k: v for k in $x}", "NIT228 1:7"),
    ("$x = 1 if $y else 2", "NIT229 1:8"),
    ("$a, $b = f()", "NIT230 1:1"),
    ("a, b = f()", "NIT230 1:1"),
    ("$a = $b = f()", "NIT230 1:6"),
    ("f() g()", "NIT233 1:5"),
    ("$x $y", "NIT233 1:4"),
    ("$x = 1, 2", "NIT233 1:7"),
    ('$x = "a" 5', "NIT233 1:10"),
    ("Sure, here it is:", "NIT238 1:1"),
    ("print $x", "NIT238 1:1"),
    (": x", "NIT238 1:1"),
    ("```nit\nf()", "NIT235 1:1"),
    ("<nit>f()", "NIT236 1:1"),
    ("f()</nit-A1B2>", "NIT236 1:4"),
    ("f(<nit>)", "NIT236 1:3"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), MISTAKES)
def test_a_mistake_has_its_own_code_and_place(source: str, expected: str) -> None:
    script = parse(source)
    errors = [item for item in script.diagnostics if item.severity == "error"]
    assert [f"{item.code} {item.span.line}:{item.span.column}" for item in errors] == [expected]
    assert not script.ok


def stands_for_itself(source: str) -> bool:
    """Whether a mistake is one statement's: not the whole script's, nor an open quote."""
    is_whole = source.startswith(("```", "<nit")) or source.endswith("</nit-A1B2>")
    return not is_whole and not any(mark in source for mark in ('"""', "#")) and source[-1] != "\\"


@pytest.mark.parametrize("source", [source for source, _ in MISTAKES if stands_for_itself(source)])
def test_a_mistake_hides_no_other_and_no_good_statement(source: str) -> None:
    found = parse(source + "\n").diagnostics
    before = [item.code for item in found if item.severity == "error"]
    script = parse(f"$before = f(1)\n{source}\n$after = g(a=$before)\n$after + 1\nh(2)")
    errors = [item for item in script.diagnostics if item.severity == "error"]
    assert [item.code for item in errors if item.span.line == 2] == [*before]
    assert [(item.code, item.span.line) for item in errors][-1] == ("NIT205", errors[-1].span.line)
    assert len(errors) == 2
    targets = [script.statement(index)[2] for index in range(script.statement_count)]
    assert targets == ["before", "after", None]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("$a = f(x=1\n$b = g()\n$c = h(+)", ["NIT202 1:7", "NIT205 3:8"]),
        ("f(x=1\ng(y=2)\nh(", ["NIT202 1:2", "NIT202 3:2"]),
        ("f(x=[1, 2\n$b = g()", ["NIT202 1:5"]),
        ("f(\n  x=1,\n  y=2 3,\n  z=4\n)\ng(+)", ["NIT204 3:7", "NIT205 6:3"]),
        ("f(x=[\n  g(1) +\n  h(2),\n])\n$y.a = 1", ["NIT205 2:8", "NIT208 5:1"]),
        ('note(text="first line\nsecond line")\nnote(text="it\'s fine")', ["NIT105 1:11"]),
        ("f(a='x\nf(a='y\nf(a='z')", ["NIT105 1:5", "NIT105 2:5"]),
        ("f(x=\n$b = 1", ["NIT202 1:2"]),
        ("f(x=1,\n$b = 1", ["NIT202 1:2"]),
        ("f(x=1,\ng(1)\n", ["NIT202 1:2"]),
        ("f(x=1\ng(y=2)\nasync g(3)\n$c = h(+)", ["NIT202 1:2", "NIT205 4:8"]),
        ("f(\ng(1) +\ng(2)\n)\nh(+)", ["NIT205 2:6", "NIT205 5:3"]),
        ("f(a=[1}\ng(a=2]\nh()", ["NIT203 1:7", "NIT203 2:6"]),
        ("f(\n  async g()\n)\nf($x.5)", ["NIT212 2:3", "NIT215 4:5"]),
        ("f(1 2); g(3 4); h()", ["NIT204 1:5", "NIT204 1:13"]),
        ("x = 1 +\n  f()", ["NIT250 1:1", "NIT205 1:7", "NIT253 2:1"]),
    ],
)
def test_after_a_mistake_reading_goes_on_at_the_next_statement(
    source: str, expected: list[str]
) -> None:
    assert findings(source) == expected


def test_at_most_a_hundred_findings_and_errors_go_first() -> None:
    found = parse("f(1 2)\n" * 5_000).diagnostics
    assert [item.span.line for item in found] == list(range(1, 101))
    script = parse("x = 1\n" * 5_000 + "f(1 2)")
    assert (len(script.diagnostics), script.ok) == (100, False)
    assert script.diagnostics[-1].code == "NIT204"
    assert [item.span.start for item in script.diagnostics] == sorted(
        item.span.start for item in script.diagnostics
    )


def test_every_message_is_one_line_with_a_hint() -> None:
    for source, _ in MISTAKES:
        for item in parse(source).diagnostics:
            assert "\n" not in item.message + (item.hint or "")
            assert not item.message.endswith(".")
            assert item.severity in ("error", "warning")
            assert re.fullmatch(r"NIT[12]\d\d", item.code)
            terse = item.terse()
            assert item.message in terse
            assert "\n" not in terse


def test_every_code_is_in_the_table_of_codes() -> None:
    root = Path(__file__).parents[2]
    sources = (root / "rust/nit_syntax/src/mistakes").glob("*.rs")
    used = {code for path in sources for code in re.findall(r'"(NIT\d+)"', path.read_text("utf-8"))}
    table = (root / "docs/diagnostics.d/syntax.md").read_text("utf-8")
    assert re.findall(r"^\| (NIT\d+) \|", table, re.M) == sorted(used)


def test_names_in_messages_are_the_ones_that_were_written() -> None:
    messages = {
        "$rows.0": "`.0` is not a field",
        "$x.total = 1": "`$x.total` cannot be assigned to: only a whole variable can",
        "f(a=1 b=2)": "expected `,` or `)`, found `b`",
        "f(\n  a=[1,\n": "`[` is never closed: expected `]`",
    }
    assert {source: parse(source).diagnostics[0].message for source in messages} == messages
    assert parse("$rows.0").diagnostics[0].hint == "write `$rows[0]`"


def test_good_neighbours_of_mistakes_are_good() -> None:
    for source in (
        'f("Api-Version"="2", from=1)', "$x.if", "plugin.class(1)", "f(a=-5, b=+.5, c=1.)",
        'f("""a\nb""")', "{1: 1, 2: 2, '3': 3}", 'f"{{{$x}}}"', "f((1, 2), [3,], {a: 4,})",
        '$x["__class__"]', '{"__a": 1}', "f(call=1, help=2)", "$if = 1", "$x[$y[0]:$z.n]",
        "f(a=g(h(i())))", "nonlocal(1)", "print(x=1)", "f(a=b.c)", "$_ = 1", "f(_=1)",
    ):  # fmt: skip
        assert good(source).diagnostics == (), source


@pytest.mark.parametrize(
    ("source", "hint"),
    [
        ("f(x='don't')", "inside a text write `\\'`, or put the text in `\"`"),
        ('$x = "a "y" c"', "inside a text write `\\\"`, or put the text in `'`"),
        ("f(x=‘it’s’)", 'the text ended at the quote before this: put it in `".."`'),
        ('f(x="C:\\dir\\")', "a backslash escapes the quote behind it: write `\\\\`"),
        ("f(x='a\\')\nf()", "a backslash escapes the quote behind it: write `\\\\`"),
        ('f(x="a)', "add the closing quote"),
        ("f(a=1; b=2)", "what stands in brackets is separated by `,`"),
        ("f(a=1；b=2)", "what stands in brackets is separated by `,`"),
        ('call("a" x=1)', "a comma is missing before this"),
        ("f(x=r“a”)", 'write the text in straight quotes: `".."`'),
    ],
)
def test_a_slip_with_quotes_or_separators_says_what_to_write(source: str, hint: str) -> None:
    errors = [item for item in parse(source).diagnostics if item.severity == "error"]
    assert [hint in (item.hint or "") for item in errors] == [True]
