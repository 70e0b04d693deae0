"""NIT 1.0 blocks: the same statements as their NIT 2 equivalents, or an error with its place."""

import pytest
from language.reading import findings, good, run

from nit_kernel._syntax import parse

BLOCK = "[[[NIT_CALL]]]\n{}\n[[[NIT_END]]]"


@pytest.mark.parametrize(
    ("inside", "equivalent"),
    [
        ("search\nquery: [START] nit kernel [END]", 'search(query="nit kernel")'),
        ("Files.read\npath:[START]a.txt[END]\nlimit : [START]\n10\n[END]",
         'Files.read(path="a.txt", limit="10")'),
        ("f\na: [START]1[END] b：[START]2[END]", 'f(a="1", b="2")'),
        ("\n\n   f  \n\nfile-path: [START]x[END]\n变量 ： [START]值[END]\n",
         'f("file-path"="x", 变量="值")'),
        ("f\nt: [START]\nline one\n\n  line two\n[END]", 'f(t="line one\\n\\n  line two")'),
        ("f\nt: [START][END]", 'f(t="")'),
        ("f\nt: [START]a \"b\" \\n $x {{y}} # z[END]", 'f(t="a \\"b\\" \\\\n $x {y} # z")'),
        ("f", "f()"),
        ("get-weather\nq: [START]x[END]", 'call("get-weather", q="x")'),
        ("f\r\na: [START]x\r\ny[END]\r\n", 'f(a="x\\ny")'),
        ("f\n9lives: [START]x[END]", 'f("9lives"="x")'),
    ],
)  # fmt: skip
def test_a_block_says_the_same_as_its_equivalent(inside: str, equivalent: str) -> None:
    inside = inside.replace("{{", "{").replace("}}", "}")
    source = BLOCK.replace("{}", inside)
    assert good(source) == parse(equivalent)
    assert run(source) == run(equivalent)
    assert good(inside, legacy="only") == parse(equivalent)
    assert [shape.legacy for shape in good(source).shapes] == [True]


def test_a_block_may_stand_on_one_line_and_among_statements() -> None:
    source = (
        "$x = f(1)\n[[[NIT_CALL]]] clock [[[NIT_END]]]\n"
        "[[[NIT_CALL]]] a [[[NIT_END]]] [[[NIT_CALL]]] b [[[NIT_END]]]; g($x)"
    )
    script = good(source)
    assert [shape.tool for shape in script.shapes] == ["f", "clock", "a", "b", "g"]
    assert [shape.legacy for shape in script.shapes] == [False, True, True, True, False]
    start, end = script.statement(1)[4:]
    assert source[start:end] == "[[[NIT_CALL]]] clock [[[NIT_END]]]"


def test_places_inside_a_block_are_those_of_the_source() -> None:
    source = BLOCK.format("f\nkey: [START] value [END]")
    script = good(source)
    a, b, c, d = script.argument_spans(0)[0]
    assert (source[a:b], source[c:d]) == ("key", "value")
    start, end = script.tool_span(0)
    assert source[start:end] == "f"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (BLOCK.format(""), ["NIT271 1:1"]),
        (BLOCK.format("a: [START]x[END]"), ["NIT271 2:1"]),
        (BLOCK.format("f\na: [START]x"), ["NIT272 3:1"]),
        (BLOCK.format("f\na: [START]x\nb: [START]y[END]"), ["NIT273 4:4"]),
        (BLOCK.format("f\na: [START]x [[[NIT_CALL]]] y[END]"), ["NIT273 3:13"]),
        ("[[[NIT_CALL]]]\nf\na: [START]x[END]", ["NIT274 1:1"]),
        ("[[[NIT_CALL]]]\nf\n[[[NIT_CALL]]]\ng\n[[[NIT_END]]]", ["NIT274 1:1"]),
        (BLOCK.format("f\nnonsense"), ["NIT275 3:1"]),
        (BLOCK.format("f\na = [START]x[END]"), ["NIT275 3:1"]),
        (BLOCK.format("f\na: x"), ["NIT275 3:1"]),
        (BLOCK.format("__import__\na: [START]x[END]"), ["NIT115 2:1"]),
        ("[[[NIT_END]]]", ["NIT276 1:1"]),
        ("$x = [[[NIT_CALL]]]", ["NIT276 1:6"]),
        ("f()\n[[[NIT_CALL]]]", ["NIT271 2:1"]),
    ],
)
def test_a_broken_block_is_an_error_and_nothing_of_it_runs(
    source: str, expected: list[str]
) -> None:
    assert findings(source) == expected
    assert [shape.tool for shape in parse(source).shapes if shape.tool not in ("f", "g")] == []
    assert all(not shape.legacy or shape.tool == "g" for shape in parse(source).shapes)


def test_after_a_broken_block_the_next_one_is_read() -> None:
    source = BLOCK.format("f\nnonsense") + "\n" + BLOCK.format("g") + "\nh(1 2)\nk()"
    script = parse(source)
    assert findings(source) == ["NIT275 3:1", "NIT204 8:5"]
    assert [shape.tool for shape in script.shapes] == ["g", "k"]


def test_blocks_can_be_off() -> None:
    source = "f()\n" + BLOCK.format("g") + "\nh()"
    script = parse(source, legacy="off")
    assert [(item.code, item.span.line) for item in script.diagnostics] == [("NIT270", 2)]
    assert [shape.tool for shape in script.shapes] == ["f", "h"]


def test_the_inside_of_a_block_alone() -> None:
    assert [item.code for item in parse("", legacy="only").diagnostics] == ["NIT271"]
    assert [item.code for item in parse("f\nx", legacy="only").diagnostics] == ["NIT275"]
    assert parse("f\nx", legacy="only").statement_count == 0
    with pytest.raises(ValueError, match="legacy"):
        parse("f", legacy="maybe")
