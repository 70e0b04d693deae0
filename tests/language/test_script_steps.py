"""What crosses from Rust: steps in order of evaluation, shapes, values, names, places."""

import gc
import threading

import pytest
from language.reading import HostError, PlainHost, good, run, value_of

from nit_kernel._syntax import CALL, VALUE, LiteralValue, parse


def test_nested_calls_run_before_the_call_that_holds_them() -> None:
    assert run("$x = publish(text=summarize(content=$page), n=1)", {"page": "P"}) == [
        "summarize({'content': 'P'})",
        "publish({'text': 'summarize', 'n': 1})",
        "$x = 'publish'",
    ]


def test_arguments_are_evaluated_from_left_to_right() -> None:
    source = 'f(a=g(b=h()), c=$x.y, d=i(), e=f"{$x.z}", j=k())'
    x = {"y": 1, "z": 2}
    assert run(source, {"x": x}) == [
        "h({})",
        "g({'b': 'h'})",
        "access 0 'y' 19-20",
        "i({})",
        "access 0 'z' 37-38",
        "text None None 33-39",
        "k({})",
        "f({'a': 'g', 'c': 1, 'd': 'i', 'e': '2', 'j': 'k'})",
    ]


def test_a_path_that_fails_stops_the_calls_behind_it() -> None:
    with pytest.raises(KeyError):
        run("f(a=$x.missing, b=never())", {"x": {}})


def test_a_path_may_follow_a_call_and_hold_a_call() -> None:
    source = "$u = search(q=1)[pick()].url"
    assert run(source, {"search": {"pick": {"url": "U"}}}) == [
        "search({'q': 1})",
        "pick({})",
        "access 1 'pick' 16-24",
        "access 0 'url' 25-28",
        "$u = 'U'",
    ]


def test_steps_name_their_target_their_reads_and_their_place() -> None:
    script = good("$r = f(a=$x, b=[$x, $y], c=g($z)[0])\n$r")
    assert [script.step(number) for number in range(script.step_count)] == [
        (CALL, 0, 0, ("z",), 27, 32),
        (VALUE, -1, 1, (0,), 27, 35),
        (CALL, 1, "r", ("x", "y", 1), 5, 36),
        (VALUE, -1, None, ("r",), 37, 39),
    ]
    assert [script.statement(number) for number in range(script.statement_count)] == [
        (0, 3, "r", False, 0, 36),
        (3, 4, None, False, 37, 39),
    ]
    assert (script.slot_count, script.step_count, len(script)) == (2, 4, 2)


def test_the_steps_of_an_async_statement_belong_to_it() -> None:
    script = good("$t = async f(a=g(b=1)); h()")
    assert script.statement(0) == (0, 2, "t", True, 0, 22)
    assert script.statement(1) == (2, 3, None, False, 24, 27)


def test_a_step_or_statement_that_is_not_there_raises() -> None:
    script = good("f()")
    for ask in (script.step, script.statement, script.argument_spans, script.tool_span):
        with pytest.raises(IndexError):
            ask(5)
    with pytest.raises(ValueError, match="no call"):
        good("$x").tool_span(0)
    with pytest.raises(ValueError, match="is a call"):
        script.value(0, (), PlainHost())


def test_calls_that_look_alike_share_a_shape() -> None:
    script = good(
        'f(a=1, b="x")\nf(a=2, b=r"y")\nf(a=1.5, b=$x)\nf(1, b=[1, {"k": "v"}])\n'
        'f(true, null, {}, (), (1), [$x], f"{$x}", f\'y\', g())\ncall("a b", n=-1)'
    )
    found = [(shape.tool, shape.names, shape.kinds, shape.exact) for shape in script.shapes]
    assert found == [
        ("f", ("a", "b"), "is", False),
        ("f", ("a", "b"), "f?", False),
        ("f", (None, "b"), "il", False),
        ("g", (), "", False),
        ("f", (None,) * 9, "bndli??s?", False),
        ("a b", ("n",), "i", True),
    ]
    shapes = [script.step(number)[1] for number in range(script.step_count)]
    assert shapes == [0, 0, 1, 2, -1, 3, 4, 5]


def test_arguments_are_built_under_the_names_that_are_asked_for() -> None:
    script = good('f(1, "two", three=$x, "Api-Version"=[4])')
    names = ("p", "q", "three", "api")
    assert script.arguments(0, names, ["X"], PlainHost()) == {
        "p": 1,
        "q": "two",
        "three": "X",
        "api": [4],
    }
    for wrong in (names[:3], (*names, "more")):
        with pytest.raises((ValueError, IndexError)):
            script.arguments(0, wrong, ["X"], PlainHost())


def test_plain_literals_and_variables_never_ask_the_host() -> None:
    script = good('f(1, -2.5, "s", true, null, [1, $x], {"k": $y, n: (1, 2)}, $x)')
    names = tuple("abcdefgh")
    arguments = script.arguments(0, names, ("X", "Y"), None)
    assert list(arguments.values()) == [
        1,
        -2.5,
        "s",
        True,
        None,
        [1, "X"],
        {"k": "Y", "n": [1, 2]},
        "X",
    ]


def test_values_may_come_as_any_sequence() -> None:
    script = good("f(a=$x, b=$y)")

    class Sequence:
        def __len__(self) -> int:
            return 2

        def __getitem__(self, index: int) -> object:
            return ["X", "Y"][index]

    for values in (["X", "Y"], ("X", "Y"), Sequence()):
        assert script.arguments(0, ("a", "b"), values, None) == {"a": "X", "b": "Y"}
    with pytest.raises(IndexError):
        script.arguments(0, ("a", "b"), ["X"], None)


def test_values_are_passed_on_as_they_are() -> None:
    thing = object()
    assert good("f($x)").arguments(0, ("a",), [thing], None)["a"] is thing
    assert value_of("$x", {"x": thing}) is thing


def test_raw_values_keep_the_text_of_numbers_and_booleans_wherever_they_stand() -> None:
    script = good('f(007, [1.50, "s", {"k": +5, 3: true}], $x[1], - 4)')
    raw = script.arguments(0, tuple("abcd"), [[0, "one"]], PlainHost(), True)
    assert raw["a"].text == "007"
    assert raw["a"].value == 7
    assert isinstance(raw["a"], LiteralValue)
    number, text, inner = raw["b"]
    assert (number.text, number.value, text) == ("1.50", 1.5, "s")
    assert {key: (item.text, item.value) for key, item in inner.items()} == {
        "k": ("+5", 5),
        3: ("true", True),
    }
    assert raw["c"] == "one"
    assert (raw["d"].text, raw["d"].value) == ("-4", -4)


def test_literal_arguments_are_those_without_references_and_calls() -> None:
    script = good('f(1, $x, [true, null], [$x], g(), f"a", f"{$x}", k="z")')
    call = script.step_count - 1
    found = script.literal_arguments(call)
    assert [index for index, _ in found] == [0, 2, 5, 7]
    assert found[0][1].text == "1"
    assert found[1][1][0].value is True
    assert found[1][1][1] is None
    assert [value for _, value in found[2:]] == ["a", "z"]


def test_places_of_arguments_and_tools_are_byte_offsets() -> None:
    source = '$变量 = 工具.搜索("值", 键=$x[0], "n-m"=1)'
    script = good(source)
    data = source.encode()
    assert [
        (data[a:b].decode(), data[c:d].decode()) for a, b, c, d in script.argument_spans(0)
    ] == [("", '"值"'), ("键", "$x[0]"), ('"n-m"', "1")]
    start, end = script.tool_span(0)
    assert data[start:end].decode() == "工具.搜索"
    start, end = good('call("get-it", a=1)').tool_span(0)
    assert 'call("get-it", a=1)'[start:end] == '"get-it"'


def test_free_variables_are_those_that_no_earlier_statement_assigns() -> None:
    source = "f(a=$x, b=g($y.z), c=$x)\n$x = h($x)\nf($x, $q)\n$q = 1\n$q"
    found = [(name, source[start:end]) for name, start, end in good(source).free_variables]
    assert found == [("x", "$x"), ("y", "$y"), ("x", "$x"), ("x", "$x"), ("q", "$q")]
    places = [start for _, start, _ in good(source).free_variables]
    assert places == sorted(places)


def test_the_target_of_a_failed_statement_counts_as_assigned() -> None:
    script = parse("$x = f(1 +)\n$y = g($x)\nh($y, x, z)")
    assert script.statement_count == 2
    assert script.free_variables == ()
    assert script.bare_names == (("x", 29, 30, True), ("z", 32, 33, False))


def test_bare_names_are_read_like_variables_and_reported() -> None:
    source = "$a = 1\nf(x=a, y=b.c[0])\nb"
    script = good(source)
    assert script.bare_names == (("a", 11, 12, True), ("b", 16, 17, False), ("b", 24, 25, False))
    assert script.step(1)[3] == ("a", "b")
    assert script.free_variables == ()


def test_dollar_names_inside_plain_strings_are_reported() -> None:
    source = 'f("pay $5, $name or ${x}", r"\\$y", f"{$z} $w", \'\'\'a $变\n$b\'\'\', "$")'
    script = good(source)
    data = source.encode()
    found = [(name, data[start:end].decode()) for name, start, end in script.dollar_strings]
    assert found == [("name", "$name"), ("y", "$y"), ("变", "$变"), ("b", "$b")]


def test_a_reference_as_a_key_is_checked_when_the_script_runs() -> None:
    host = PlainHost()
    script = good('{"a": 1, $k: 2, $m.n: 3}')
    values = {"k": "b", "m": {"n": 7}}
    read = [values[name] for name in script.step(0)[3]]
    assert script.value(0, read, host) == {"a": 1, "b": 2, 7: 3}
    assert host.asked == ["key 'b' 9-11", "access 0 'n' 19-20", "key 7 16-20"]
    for source, given in [
        ('{"a": 1, $k: 2}', "a"),
        ('{$k: 1, "a": 2}', "a"),
        ('{"1": 1, $k: 2}', 1),
        ("{$k: 1, 1.0: 2}", 1),
        ("{1: 1, $k: 2}", "1"),
    ]:
        script = good(source)
        with pytest.raises(HostError, match="duplicate key"):
            script.value(0, [given], PlainHost())


def test_a_text_that_grows_over_the_limit_is_refused_by_the_host() -> None:
    script = good('$a = f"{$a}{$a}!"', value_bytes=100)
    assert script.value(0, ["x" * 40], PlainHost()) == "x" * 80 + "!"
    for text in ("x" * 50, "变" * 20, "\ud800" * 20):
        with pytest.raises(HostError, match="over 100 bytes 5-17"):
            script.value(0, [text], PlainHost())
    assert script.value(0, ["\ud800"], PlainHost()) == "\ud800\ud800!"


def test_views_show_statements_as_plain_values_and_references() -> None:
    source = '$r = async f(1, b=g($x.y[0]["k"][:5], t=f"n {$x!r:>5}"), c=[$z, {"k": true}])\n$r'
    first, second = good(source).statements
    assert (first.target, first.tool, first.is_async) == ("r", "f", True)
    assert first.depends_on == frozenset({"x", "z"})
    assert (first.span.start, first.span.end, first.value, first.path) == (0, 77, None, ())
    assert list(first.arguments) == [0, "b", "c"]
    nested = first.arguments["b"]
    assert (nested.tool, nested.target, nested.is_async) == ("g", None, False)
    reference = nested.arguments[0]
    assert str(reference) == '$x.y[0]["k"][:5]'
    assert (reference.name, reference.path) == ("x", ("y", 0, "k", slice(None, 5)))
    text, shown = nested.arguments["t"].parts
    assert (text, str(shown)) == ("n ", "$x")
    items, mapping = first.arguments["c"]
    assert (str(items), mapping) == ("$z", {"k": True})
    assert (second.tool, str(second.value), second.depends_on) == (None, "$r", {"r"})


def test_equal_views_are_equal() -> None:
    left, right = (good(text).statements for text in ("$a = f(x=$b.c)", "$a  =  f( x = $b.c, )"))
    assert left == right
    assert left != good("$a = f(x=$b.d)").statements
    assert good('f(f"{$a}")').statements == good('f(f"{$a}")').statements
    assert good('f(f"{$a}")').statements != good('f(f"{$a!r}")').statements


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("f(a=1,b='x')", 'f(\n  a = 1, # one\n  b = "x",\n)\n'),
        ("f(true, False, null)", "f(True, false, None)"),
        ('f("a" "b")', "f('ab')"),
        ('f(f"a{$x}" "b")', 'f(f"a{$x}b")'),
        ("f(0x10, 1_000, 007, 1.50)", "f(16, 1000, 7, 1.5)"),
        ('{name: 1, "k": (1, 2)}', "{'name': 1, k: [1, 2,]}"),
        ("x = f(a)", "$x = f($a)"),
        ("await f()", "f()"),
        ("(1)", "1"),
        ("$ａ = f()", "$a = f()"),
        ('f("k"=1)', "f(k=1)"),
        ('f(t="""a\r\nb""")', 'f(t="a\\nb")'),
        ("<nit>f()</nit>", "f();"),
        ("echo（msg=“a”）", 'echo(msg="a")'),
        ('f"a{{b"', '"a{b"'),
    ],
)
def test_scripts_that_say_the_same_are_equal(left: str, right: str) -> None:
    assert parse(left) == parse(right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("f(a=1)", "f(a=2)"),
        ("f(1)", "f(1.0)"),
        ("f(a=1, b=2)", "f(b=2, a=1)"),
        ("f()", "async f()"),
        ("$a = 1", "$b = 1"),
        ("f([[1], 2])", "f([[1, 2]])"),
        ("f([], 1)", "f([1])"),
        ('f("1")', "f(1)"),
        ("$x.a", '$x["a"]'),
        ("$x[1]", "$x[1:]"),
        ("$x[:1]", "$x[1:]"),
        ("f()", 'call("f")'),
        ("f(g())", "f(g)"),
        ('f(f"{$x}")', 'f("{$x}")'),
        ("f(); g()", "f()"),
        ("f(null)", "f(false)"),
    ],
)
def test_scripts_that_say_something_else_are_not_equal(left: str, right: str) -> None:
    assert parse(left) != parse(right)


def test_objects_of_the_syntax_are_frozen_and_show_themselves() -> None:
    script = good("$x = f(a=$y)")
    assert repr(script) == "<Script of 1 statements>"
    assert str(script) == script.source == "$x = f(a=$y)"
    with pytest.raises(AttributeError):
        script.source = "other"
    assert script.span(5, 6) == script.span(5, 6)
    assert hash(script.span(5, 6)) == hash(script.span(5, 6))
    assert script.statements is script.statements


def test_a_script_may_be_read_by_many_threads() -> None:
    script = good("\n".join(f"$v{n} = f(a={n}, b=$v{n - 1}.x)" for n in range(1, 500)))
    seen: list[list[object]] = []

    def read() -> None:
        seen.append([script.step(number) for number in range(script.step_count)])

    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 8
    assert all(rows == seen[0] for rows in seen)


def test_parsing_makes_no_objects_for_the_collector() -> None:
    source = "f(a=[1, {'k': $x}])\n" * 5_000
    before = len(gc.get_objects())
    script = parse(source)
    assert script.statement_count == 5_000
    assert len(gc.get_objects()) - before < 20
