"""What models write and what is accepted with a warning that carries the right form."""

import pytest
from language.reading import findings, good, value_of

from nit_kernel._syntax import parse


@pytest.mark.parametrize(
    ("source", "right", "warnings"),
    [
        ("echo（msg=“你好，世界”）", 'echo(msg="你好，世界")', ["NIT150 1:5", "NIT151 1:10"]),
        ("f（a＝1，b＝【1，2】）；g()", "f(a=1, b=[1, 2]); g()", ["NIT150 1:2", "NIT150 1:15"]),
        ("f({a：1})", "f({a: 1})", ["NIT150 1:5"]),
        ("＄x = ｛a: ［1、2］｝", "$x = {a: [1, 2]}", ["NIT150 1:1"]),
        ("f(“a”, ‘b’, „c“, «d», ＂e＂)", "f('a', 'b', 'c', 'd', 'e')", ["NIT151 1:3"]),
        ("x = f()", "$x = f()", ["NIT250 1:1"]),
        ("x = 5; y = [1]", "$x = 5; $y = [1]", ["NIT250 1:1", "NIT250 1:8"]),
        ("x = async f()", "$x = async f()", ["NIT250 1:1"]),
        ("```nit\nf()\n```", "f()", ["NIT254 1:1"]),
        ("\n```\nf()\ng()\n```\n", "f()\ng()", ["NIT254 2:1"]),
        ("~~~~python\nf()\n~~~~", "f()", ["NIT254 1:1"]),
        ("<nit>\n```\nf()\n```\n</nit>", "f()", ["NIT254 2:1"]),
        ("```\n<nit-A1>\nf()\n</nit-A1>\n```", "f()", ["NIT254 1:1"]),
        ("await f()", "f()", ["NIT251 1:1"]),
        ("$x = await f()", "$x = f()", ["NIT251 1:6"]),
        ("$x = await $t", "$x = $t", ["NIT251 1:6"]),
        ("f(a=await g(), b=[await $t])", "f(a=g(), b=[$t])", ["NIT251 1:5"]),
        ("async await f()", "async f()", ["NIT251 1:7"]),
        (">>> f()\n>>> $x = g()", "f()\n$x = g()", ["NIT252 1:1", "NIT252 2:1"]),
        (">>> f(a=1,\n...   b=2)", "f(a=1, b=2)", ["NIT252 1:1"]),
        (">>> f(a=1,\n... b={\n... c: 2\n... })", "f(a=1, b={c: 2})", ["NIT252 1:1"]),
        ("  f()\n  g()", "f()\ng()", ["NIT253 1:1"]),
        ("f()\n\tg()", "f()\ng()", ["NIT253 2:1"]),
        ("f(a=007, b=-0012)", "f(a=7, b=-12)", ["NIT153 1:5"]),
        ("f(a=\u00a01)\u3000", "f(a=1)", ["NIT152 1:5"]),
        ("f(\u20281)\u0085", "f(1)", ["NIT152 1:3"]),
        ("f(u'x')", "f('x')", ["NIT154 1:3"]),
        ('f("a"\n"b")', 'f("ab")', ["NIT255 2:1"]),
        ('["a",\n"b"\n"c"]', '["a", "bc"]', ["NIT255 3:1"]),
        ('{"k": "a"\n"b"}', '{"k": "ab"}', ["NIT255 2:1"]),
        ('("a"\n"b", "c")', '["ab", "c"]', ["NIT255 2:1"]),
        ('f(x=["a"\nf"{$y}"])', 'f(x=[f"a{$y}"])', ["NIT255 2:1"]),
    ],
)
def test_a_slip_is_accepted_with_a_warning(source: str, right: str, warnings: list[str]) -> None:
    script = good(source)
    assert findings(source) == warnings
    assert all(item.severity == "warning" and item.hint for item in script.diagnostics)
    assert script == parse(right)
    assert parse(right).diagnostics == ()


@pytest.mark.parametrize(
    "source",
    [
        'f("a" "b")',
        'f(("a"\n"b"))',
        '$x = ("a"\n  "b"\n  "c")',
        'f("（，＝“”\u00a0\u200b\u202e")',
        "# （，“ no matter",
        "f(a=00, b=0.07, c=01.5, d=0_0)",
        "f(\n    a=1,\n  b=2\n)",
        "await(1)",
        "f(await=1); $await",
        "f();  g()",
        "$x = f() # end",
        "f('''\n  indented\n''')",
    ],
)
def test_what_is_right_gets_no_warning(source: str) -> None:
    assert good(source).diagnostics == ()


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("f(‘it’s’)", ["NIT151 1:3", "NIT204 1:7"]),
        ("f(a=...)", ["NIT201 1:5"]),
        ("f(a=1", ["NIT202 1:2"]),
        ("f(“a)", ["NIT116 1:3"]),
        ("f(”a“)", ["NIT116 1:3"]),
        ("```\nf()", ["NIT235 1:1"]),
        ("f()\n```", ["NIT104 2:1"]),
        ("Here:\n```\nf()\n```", ["NIT238 1:1", "NIT104 2:1", "NIT104 4:1"]),
        ("<nit>f()</nit-A1>", ["NIT236 1:1", "NIT236 1:9"]),
        ("<nit>f()</nit><nit>g()</nit>", ["NIT236 1:9"]),
    ],
)
def test_what_is_not_clear_stays_an_error(source: str, expected: list[str]) -> None:
    assert findings(source) == expected


def test_a_slip_is_named_once_for_each_statement() -> None:
    assert findings("f（1，2）\ng（3，4）") == ["NIT150 1:2", "NIT150 2:2"]
    assert findings(" f()\n g()\n h()") == ["NIT253 1:1"]


def test_full_width_marks_inside_strings_stay_what_they_are() -> None:
    assert value_of('"全角，逗号“引号”保留（）"') == "全角，逗号“引号”保留（）"


def test_warnings_say_what_was_read_and_what_to_write() -> None:
    (found,) = parse("f(a，b)").diagnostics
    assert (found.code, found.message, found.hint) == (
        "NIT150",
        "the full-width `，` was read as `,`",
        "write `,`",
    )
    (found,) = parse("total = f()").diagnostics
    assert (found.message, found.hint) == (
        "`total = ..` was read as `$total = ..`",
        "write `$total`: variables begin with `$`",
    )
