"""What a statement does: order, values, references, errors with their place, limits."""

import asyncio
import dataclasses
import time
from collections.abc import Iterator, Mapping

import pytest
from runtime.making import make_tool

import nit_kernel as nit


class Made:
    """Tools that note in which order they are called."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.session = nit.Session(
            tools=[
                make_tool(self.echo),
                make_tool(self.pair),
                make_tool(self.forget),
                make_tool(self.note, name="note-it"),
            ]
        )

    def echo(self, value: object) -> object:
        self.calls.append(f"echo {value!r}")
        return value

    def pair(self, left: object, right: object = None) -> list[object]:
        self.calls.append("pair")
        return [left, right]

    def forget(self, name: str) -> None:
        del self.session.variables[name]

    def note(self, value: object = None) -> str:
        self.calls.append("note-it")
        return f"noted {value}"


@pytest.fixture
def made():
    made = Made()
    with made.session:
        yield made


def test_nested_calls_run_first_and_arguments_from_left_to_right(made: Made) -> None:
    result = made.session.run('pair(left=echo("a"), right=pair(echo("b"), echo("c")))')
    assert result.value == ["a", ["b", "c"]]
    assert made.calls == ["echo 'a'", "echo 'b'", "echo 'c'", "pair", "pair"]


def test_calls_in_literals_and_paths_run_in_the_order_of_the_text(made: Made) -> None:
    result = made.session.run('$v = {"k": [echo(1), echo(2)], "l": echo([5, 6])[echo(1)]}\n$v')
    assert result.value == {"k": [1, 2], "l": 6}
    assert made.calls == ["echo 1", "echo 2", "echo [5, 6]", "echo 1"]


def test_value_of_a_script_is_that_of_its_last_statement(made: Made) -> None:
    values = [
        made.session.run(text).value
        for text in ('"a"; "b"', "$x = 5", "echo(1)\n$y = echo(2)", "$x.a\n", "[$x, {}]", "(1, 2)")
    ]
    assert values == ["b", 5, 2, None, [5, {}], [1, 2]]


def test_values_are_passed_on_by_reference(made: Made) -> None:
    cyclic: dict[str, object] = {}
    cyclic["me"] = cyclic
    thing = object()
    made.session.variables.update(cyclic=cyclic, thing=thing)
    result = made.session.run("$a = echo($cyclic)\n$b = echo($thing)\n$c = [$a, $b]\n$d = $a.me.me")
    bound = result.variables
    assert bound["a"] is cyclic
    assert bound["b"] is thing
    assert bound["d"] is cyclic


def test_literals_of_a_script_are_made_anew_for_each_run(made: Made) -> None:
    prepared = made.session.prepare("$x = [1, {}]\n$x")
    first, second = (made.session.run(prepared).value for _ in range(2))
    assert first == second
    assert first is not second


def test_tool_with_a_name_that_nit_cannot_write(made: Made) -> None:
    result = made.session.run(
        'call("note-it", value=1)\nnote_it(value=2)\nnotebook.note_it(3)\n'
        '$t = async call("note-it", 4)\npair(call("note-it"), $t)'
    )
    assert result.value == ["noted None", "noted 4"]
    assert [call.name for call in result.calls] == ["note_it"] * 5 + ["pair"]


def test_variable_that_is_removed_while_the_script_runs(made: Made) -> None:
    result = made.session.run('$x = 1\nforget(name="x")\necho($x)')
    error = result.error
    assert isinstance(error, nit.NitRuntimeError)
    assert (error.code, error.message, error.span.line) == (
        "NIT401",
        "`$x` is not defined any more",
        3,
    )


@pytest.mark.parametrize(
    ("script", "code", "column"),
    [
        ('$d = {"a": 1}\necho($d.b)', "NIT410", 9),
        ("$d = [1, 2]\necho(value=$d[7])", "NIT410", 14),
        ('$d = "text"\necho(f"{$d:d}")', "NIT411", 8),
        ("$d = []\necho({$d: 1})", "NIT412", 7),
        ('$d = "k"\necho({"k": 1, $d: 2})', "NIT414", 15),
    ],
)
def test_error_while_values_are_made_shows_its_place(
    made: Made, script: str, code: str, column: int
) -> None:
    error = made.session.run(script).error
    assert isinstance(error, nit.NitRuntimeError)
    assert (error.code, error.span.line, error.span.column) == (code, 2, column)
    assert made.calls == []


def test_argument_that_does_not_fit_shows_its_place_right_before_its_call() -> None:
    schema = {
        "type": "object",
        "properties": {
            "rows": {"type": "array", "items": {"type": "integer"}},
            "n": {"type": "integer"},
        },
    }
    called = []
    tool = nit.Tool("take", "", schema, lambda **given: called.append(given))
    with nit.Session(tools=[tool]) as session:
        session.variables["bad"] = [1, "n/a"]
        result = session.run("take(n=1)\ntake(n=2, rows=$bad)\ntake(n=3)")
    error = result.error
    assert isinstance(error, nit.NitRuntimeError)
    assert error.code == "NIT420"
    assert error.message == 'rows[1]: wanted integer, got "n/a"'
    assert (error.span.line, error.span.column, error.span.end_column) == (2, 16, 20)
    assert called == [{"n": 1}]
    assert [call.name for call in result.calls] == ["take"]


def test_number_keeps_its_spelling_where_text_is_wanted() -> None:
    got = []
    schema = {"type": "object", "properties": {"id": {"type": "string"}}}
    tool = nit.Tool("take", "", schema, lambda id: got.append(id))
    with nit.Session(tools=[tool]) as session:
        session.variables["n"] = 1.50
        session.run(
            "take(id=007)\ntake(id=1.50)\ntake(id=true)\ntake(id=$n)\n$m = 1e3\ntake(id=$m)"
        )
    assert got == ["007", "1.50", "true", "1.5", "1000.0"]


def test_a_text_doubled_by_f_strings_forty_times_ends_in_a_clear_error(made: Made) -> None:
    script = '$t = "0123456789"\n' + "\n".join(['$t = f"{$t}{$t}"'] * 40)
    start = time.monotonic()
    error = made.session.run(script).error
    assert isinstance(error, nit.NitLimitError)
    assert (error.code, error.span.line) == ("NIT413", 21)
    assert len(made.session.variables["t"]) == 10 * 2**19
    assert time.monotonic() - start < 10


def test_a_list_doubled_forty_times_shares_and_does_not_blow_up(made: Made) -> None:
    script = "$a = [1]\n" + "\n".join(["$a = [$a, $a]"] * 40)
    result = made.session.run(script)
    assert result.ok
    start = time.monotonic()
    for use in ("pair($a)", '{"k": $a}', "$a[0][0][1]"):
        assert made.session.run(use).ok
    assert isinstance(made.session.run('f"{$a}"').error, nit.NitLimitError)
    assert len(result.report()) <= 8_000
    assert time.monotonic() - start < 10


def test_a_script_of_ten_thousand_statements_runs(made: Made) -> None:
    result = made.session.run("\n".join(f"$v{n % 900} = echo({n})" for n in range(10_000)))
    assert result.ok
    assert result.value == 9_999
    assert len(result.calls) == 10_000


def test_a_statement_more_than_the_limit_runs_nothing(made: Made) -> None:
    result = made.session.run("echo(1)\n" * 10_001)
    assert isinstance(result.error, nit.NitSyntaxError)
    assert made.calls == []


def test_deep_nesting_of_calls_runs(made: Made) -> None:
    depth = 90
    result = made.session.run("echo(" * depth + "1" + ")" * depth)
    assert (result.value, len(made.calls)) == (1, depth)


def test_data_of_a_tool_is_read_by_fields_and_never_by_attributes(made: Made) -> None:
    @dataclasses.dataclass
    class Page:
        title: str
        items: list[int]

        def secret(self) -> str:
            return "no"

    made.session.variables["page"] = Page("T", [1, 2])
    assert made.session.run("[$page.title, $page.items[-1]]").value == ["T", 2]
    for path in ("secret", "__class__", "upper"):
        error = made.session.run(f"$page.{path}").error
        assert isinstance(error, nit.NitError)


def test_object_whose_own_code_raises_ends_the_script_clearly(made: Made) -> None:
    class Broken(Mapping[str, object]):
        def __getitem__(self, key: str) -> object:
            raise RuntimeError("broken mapping")

        def __iter__(self) -> Iterator[str]:
            return iter("a")

        def __len__(self) -> int:
            return 1

    made.session.variables["broken"] = Broken()
    result = made.session.run("$x = 1\n$broken.a")
    assert isinstance(result.error, nit.NitRuntimeError)
    assert (result.error.code, result.variables) == ("NIT410", {"x": 1})


def test_assigning_without_the_sign_is_understood_with_a_warning(made: Made) -> None:
    result = made.session.run("x = echo(1)\necho(x)")
    assert (result.ok, result.value, result.variables) == (True, 1, {"x": 1})
    assert {item.severity for item in result.diagnostics} == {"warning"}


def test_text_of_the_report_tells_of_a_background_failure_once() -> None:
    def fail() -> None:
        raise ValueError("in the dark")

    with nit.Session(tools=[make_tool(fail)]) as session:
        first = session.run("async fail()\n1")
        assert session.wait(10)
        reports = [first.report(), session.run("2").report(), session.run("3").report()]
    assert ["in the dark" in report for report in reports] == [True, False, False]
    assert first.report() == reports[0]


HALF = "\ud83d"


def raises_half() -> None:
    raise ValueError(f"no {HALF}")


@pytest.mark.parametrize("script", ["raises_half()", "$t = async raises_half()\n$t"])
def test_half_a_surrogate_pair_in_an_error_is_told_as_a_replacement(script: str) -> None:
    with nit.Session(tools=[make_tool(raises_half)]) as session:
        result = session.run(script)
    assert result.error is not None
    assert result.error.message == "`raises_half` raised ValueError: no \ufffd"
    result.report().encode()
    result.error.render().encode()


def test_half_a_surrogate_pair_stays_in_the_value_and_not_in_what_is_told_of_it() -> None:
    def half() -> str:
        """Give \ud83d."""
        return f"ok {HALF}"

    with nit.Session(tools=[make_tool(half)]) as session:
        result = session.run("$h = half()\n$h")
        described = session.run('help("half")').value
    assert result.value == f"ok {HALF}"
    assert "ok \ufffd" in result.report()
    assert "Give \ufffd." in str(described)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (
            ExceptionGroup("two", [ValueError("a"), KeyError("b")]),
            "ExceptionGroup: two (2 sub-exceptions): ValueError: a; KeyError: 'b'",
        ),
        (
            ExceptionGroup("out", [ExceptionGroup("in", [OSError("a\nb"), OSError()])]),
            "ExceptionGroup: out (1 sub-exception): OSError: a b; OSError",
        ),
        (
            ExceptionGroup("many", [ValueError(str(number)) for number in range(9)]),
            "ExceptionGroup: many (9 sub-exceptions): ValueError: 0; ValueError: 1; "
            "ValueError: 2; and more",
        ),
    ],
)
def test_group_of_exceptions_is_told_with_the_first_of_them(error: Exception, told: str) -> None:
    def fail() -> None:
        raise error

    with nit.Session(tools=[make_tool(fail)]) as session:
        result = session.run("fail()")
    assert result.error is not None
    assert result.error.message == f"`fail` raised {told}"


def test_message_of_a_group_of_long_exceptions_is_bounded() -> None:
    def fail() -> None:
        raise ExceptionGroup("x" * 5_000, [ValueError("y" * 5_000)] * 5_000)

    with nit.Session(tools=[make_tool(fail)]) as session:
        result = session.run("fail()")
    assert result.error is not None
    assert len(result.error.message) < 1_500
    assert "ValueError: yyy" in result.error.message


async def promised(value: object) -> object:
    return value


def promises(value: object) -> object:
    return promised(value)


async def promises_later(value: object) -> object:
    return promised(value)


@pytest.mark.parametrize("thread", ["worker", "caller"])
@pytest.mark.parametrize("tool", [promises, promises_later])
@pytest.mark.parametrize("way", ["run", "arun", "async"])
def test_a_coroutine_that_a_tool_returns_is_awaited_wherever_it_runs(thread, tool, way) -> None:
    call = f"{tool.__name__}(value=1)"
    with nit.Session(tools=[make_tool(tool, thread=thread)]) as session:
        if way == "arun":
            result = asyncio.run(session.arun(call))
        else:
            result = session.run(f"$t = async {call}\n$t" if way == "async" else call)
    assert result.value == 1
