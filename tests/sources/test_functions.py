"""Functions as tools: what is read from them, and what they get."""

import asyncio
import dataclasses
import datetime
import enum
import functools
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import pandas as pd
import pydantic
import pytest
from typing_extensions import TypedDict

import nit_kernel as nit
from nit_kernel.errors import PluginError
from nit_kernel.sources.functions import tool_of


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class User(pydantic.BaseModel):
    name: str
    born: datetime.date | None = None


@dataclasses.dataclass
class Point:
    x: float
    y: float = 0.0


class Span(NamedTuple):
    low: int
    high: int


class Row(TypedDict):
    price: float


def schema_of(function: object) -> dict[str, Any]:
    return tool_of(function).spec.parameters


def property_of(hint: object) -> object:
    def function(p):
        return p

    function.__annotations__ = {"p": hint}
    return schema_of(function)["properties"]["p"]


def given_to(hint: object, literal: str) -> object:
    """What a function with this hint gets for a literal of a script."""

    def function(p):
        return [p]

    function.__annotations__ = {"p": hint}
    with nit.Session(tools=[function]) as session:
        result = session.run(f"function(p={literal})", check=True)
        return result.value[0]


def test_a_function_is_a_tool_by_name_docstring_and_hints() -> None:
    @nit.tool
    def search(query: str, limit: int = 10, mode: Literal["fast", "slow"] = "fast") -> list[str]:
        """Search the notes.

        More about it.

        Args:
            query: What to look for,
                in a few words.
            limit: Most results.
        """
        return [query] * limit

    spec = tool_of(search).spec
    assert (spec.name, spec.description) == ("search", "Search the notes.")
    assert spec.parameters == {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What to look for, in a few words."},
            "limit": {"type": "integer", "description": "Most results.", "default": 10},
            "mode": {"enum": ["fast", "slow"], "type": "string", "default": "fast"},
        },
        "required": ["query"],
        "additionalProperties": False,
    }
    assert spec.signature() == (
        'search(query: str, limit: int = 10, mode: "fast" | "slow" = "fast") -> list[str]'
    )
    assert search("x", 2) == ["x", "x"]


def test_options_of_the_decorator_are_kept() -> None:
    @nit.tool(
        name="get-weather",
        description="The weather.",
        side_effects="none",
        timeout=5,
        confirm=True,
        thread="worker",
        parameters={"type": "object", "properties": {"city": {"type": "string"}}},
    )
    def weather(**where: object) -> object:
        return where

    tool = tool_of(weather)
    assert (tool.name, tool.spec.nit_name, tool.spec.description) == (
        "get-weather",
        "get_weather",
        "The weather.",
    )
    assert (tool.spec.side_effects, tool.timeout, tool.spec.confirm, tool.thread) == (
        "none",
        5,
        True,
        "worker",
    )
    assert list(tool.spec.parameters["properties"]) == ["city"]
    assert weather(a=1) == {"a": 1}


def test_a_function_without_words_or_hints_takes_anything() -> None:
    def anything(a, b=None):
        return [a, b]

    spec = tool_of(anything).spec
    assert spec.description == ""
    assert spec.parameters["properties"] == {"a": {}, "b": {"default": None}}


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (str, {"type": "string"}),
        (float, {"type": "number"}),
        (list[str], {"type": "array", "items": {"type": "string"}}),
        (list[float], {"type": "array", "items": {"type": "number"}}),
        (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
        (dict, {"type": "object", "additionalProperties": True}),
        (str | None, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        (float | None, {"anyOf": [{"type": "number"}, {"type": "null"}]}),
        (Literal["a", "b"], {"enum": ["a", "b"], "type": "string"}),
        (Literal[1, "b"], {"enum": [1, "b"]}),
        (Annotated[int, pydantic.Field(ge=1)], {"minimum": 1, "type": "integer"}),
        (datetime.datetime, {"format": "date-time", "type": "string"}),
        (Path, {"format": "path", "type": "string"}),
        (set[int], {"items": {"type": "integer"}, "type": "array", "uniqueItems": True}),
        (object, {}),
        (Any, {}),
        (pd.DataFrame, {}),
        (list[pd.DataFrame], {}),
        (pd.DataFrame | None, {}),
        ([int], {}),
        ("Nowhere", {}),
        (lambda: 0, {}),
    ],
)
def test_a_hint_becomes_a_schema_and_an_empty_one_where_json_has_no_words(
    hint: object, schema: object
) -> None:
    assert property_of(hint) == schema


def test_plain_hints_have_the_schema_that_pydantic_gives() -> None:
    hints = [
        str,
        int,
        float,
        bool,
        None,
        list,
        dict,
        list[int],
        list[float | None],
        dict[str, bool],
    ]
    hints += [str | int | None, float | None, Literal["a"], Literal["a", "b"], list[list[str]]]
    for hint in hints:
        assert property_of(hint) == pydantic.TypeAdapter(hint).json_schema(), hint


@pytest.mark.parametrize(
    ("hint", "literal", "value"),
    [
        (float, "3", 3.0),
        (float, '"2.5"', 2.5),
        (float, "9007199254740993", 9007199254740993),
        (list[float], "[1, 2.5]", [1.0, 2.5]),
        (float | None, "1", 1.0),
        (float | None, "null", None),
        (dict[str, float], "{a: 1}", {"a": 1.0}),
        (int, '"7"', 7),
        (bool, '"TRUE"', True),
        (str, "007", "007"),
        (datetime.date, '"2024-03-01"', datetime.date(2024, 3, 1)),
        (datetime.timedelta, '"PT5M"', datetime.timedelta(minutes=5)),
        (Decimal, '"1.10"', Decimal("1.10")),
        (Path, '"/a/b"', Path("/a/b")),
        (Colour, '"RED"', Colour.RED),
        (
            User,
            '{name: "Ann", born: "2000-01-02"}',
            User(name="Ann", born=datetime.date(2000, 1, 2)),
        ),
        (list[User], '[{name: "Ann"}]', [User(name="Ann")]),
        (Point, '{x: "1", y: 2}', Point(1.0, 2.0)),
        (Span, "[1, 2]", Span(1, 2)),
        (Row, '{price: "2.5"}', {"price": 2.5}),
        (set[int], "[1, 2]", {1, 2}),
        (tuple[int, str], '["1", 2]', (1, "2")),
        (dict[int, str], '{1: "a"}', {1: "a"}),
        (Annotated[int, pydantic.Field(ge=1)], "5", 5),
    ],
)
def test_a_function_gets_what_its_hint_says(hint: object, literal: str, value: object) -> None:
    result = given_to(hint, literal)
    assert (result, type(result)) == (value, type(value))
    assert repr(result) == repr(value)


def test_a_value_that_is_what_the_hint_says_passes_as_it_is() -> None:
    ann, frame, when = User(name="Ann"), pd.DataFrame({"a": [1]}), datetime.date(2024, 1, 2)

    def get_user() -> User:
        return ann

    def get_frame() -> pd.DataFrame:
        return frame

    def get_day() -> datetime.date:
        return when

    def keep(user: User, users: list[User], frame: pd.DataFrame, day: datetime.date) -> object:
        return [user, users, frame, day]

    with nit.Session(tools=[get_user, get_frame, get_day, keep]) as session:
        result = session.run(
            "$u = get_user()\nkeep(user=$u, users=[$u, $u], frame=get_frame(), day=get_day())",
            check=True,
        )
        user, users, table, day = result.value
    assert user is ann
    assert all(item is ann for item in users)
    assert table is frame
    assert day is when


@pytest.mark.parametrize(
    ("literal", "message"),
    [
        (
            'when="soon"',
            'when: Input should be a valid date or datetime, input is too short, got "soon"',
        ),
        ('when="2024.5"', "when: a number is no date: write `2024-03-01`, got"),
    ],
)
def test_what_cannot_be_built_is_an_error_of_the_argument(literal: str, message: str) -> None:
    called: list[object] = []

    def remind(when: datetime.date) -> None:
        called.append(when)

    with nit.Session(tools=[remind]) as session:
        result = session.run(f"remind({literal})")
    assert result.error is not None
    assert result.error.code == "NIT420"
    assert result.error.message.startswith(message)
    assert called == []


def test_an_error_inside_a_model_has_its_path() -> None:
    def greet(users: list[User]) -> None:
        raise AssertionError(users)

    with nit.Session(tools=[greet]) as session:
        late = session.run('greet(users=[{name: "Ann"}, {name: "Bob", born: "never"}])')
        early = session.run('greet(users=[{name: "Ann"}, {nme: "Bob"}])')
    assert late.error.message.startswith("users[1].born: Input should be a valid date")
    assert early.error.message == 'users[1]: the key "name" is missing'


def test_arguments_that_are_left_out_get_the_functions_own_defaults() -> None:
    def keep(a: int = 3, b: str | None = "x", c: Annotated[list[int], "many"] = (), **more: int):
        return [a, b, c, more]

    with nit.Session(tools=[keep]) as session:
        assert session.run("keep()", check=True).value == [3, "x", (), {}]
        assert session.run('keep(a=null, b=null, d="4")', check=True).value == [
            3,
            None,
            (),
            {"d": 4},
        ]


def test_a_default_may_be_written_as_a_field_of_pydantic() -> None:
    def keep(
        a: int = pydantic.Field(ge=1, description="How many."),
        b: int = pydantic.Field(2, le=5),
        c: list[int] = pydantic.Field(default_factory=list),  # noqa: B008
    ) -> list[object]:
        return [a, b, c]

    spec = tool_of(keep).spec
    assert spec.parameters["required"] == ["a"]
    assert spec.parameters["properties"]["a"] == {
        "description": "How many.",
        "minimum": 1,
        "type": "integer",
    }
    assert spec.parameters["properties"]["b"]["default"] == 2
    with nit.Session(tools=[keep]) as session:
        assert session.run('keep("7")', check=True).value == [7, 2, []]
        assert session.run("keep(0)").error.message == "a: wanted at least 1, got 0"


def test_star_arguments_are_refused_with_what_to_write() -> None:
    def many(*values: int) -> int:
        return sum(values)

    with pytest.raises(PluginError) as caught:
        nit.tool(many)
    assert caught.value.message == "`many` takes `*values`: a tool's arguments have names"
    assert caught.value.hint == "take a list instead: `values: list`"


@pytest.mark.parametrize("options", [{"side_effects": "nothing"}, {"thread": "main"}])
def test_an_option_that_means_nothing_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(PluginError):
        nit.tool(**options)(len)


def test_what_is_no_function_is_refused() -> None:
    with pytest.raises(PluginError) as caught:
        nit.tool(5)  # pyright: ignore[reportCallIssue, reportArgumentType]
    assert caught.value.message == "a tool is a function, and this is a `int`"


def test_keyword_arguments_let_others_in_by_their_hint() -> None:
    def any_more(a: int, **options: bool) -> object:
        return [a, options]

    assert schema_of(any_more)["additionalProperties"] == {"type": "boolean"}
    with nit.Session(tools=[any_more]) as session:
        assert session.run('any_more(1, b="true")', check=True).value == [1, {"b": True}]
        assert session.run('any_more(1, b="yes")').error.code == "NIT314"


def test_a_context_is_handed_in_and_no_part_of_the_schema() -> None:
    seen: list[object] = []

    @nit.tool
    def work(ctx: nit.ToolContext, n: int) -> int:
        seen.append(ctx)
        ctx.progress(0.5, "half")
        return n

    tool = tool_of(work)
    assert list(tool.spec.parameters["properties"]) == ["n"]
    with nit.Session(tools=[work]) as session:
        assert session.run("work(3)", check=True).value == 3
    assert isinstance(seen[0], nit.ToolContext)


def test_every_kind_of_function_is_a_tool() -> None:
    @nit.tool
    async def later(n: float) -> float:
        await asyncio.sleep(0)
        return n

    @nit.tool
    def steps(n: float) -> Iterator[object]:
        yield nit.Progress(0.5)
        yield n

    @nit.tool
    async def later_steps(n: float) -> AsyncIterator[object]:
        yield nit.Progress(0.5)
        yield n

    class Adder:
        def __init__(self, start: int) -> None:
            self.start = start

        @nit.tool
        def add(self, n: float) -> float:
            """Add to the start."""
            return self.start + n

        def __call__(self, n: float) -> float:
            return self.start - n

    adder = Adder(10)

    def power(base: float, n: float) -> float:
        return base**n

    square = functools.partial(power, n=2)
    with nit.Session(tools=[later, steps, later_steps, adder.add, adder, square]) as session:
        values = [
            session.run(script, check=True).value
            for script in (
                "later(n=1)",
                "steps(n=2)",
                "later_steps(n=3)",
                "add(n=4)",
                "Adder(n=4)",
                "power(base=5)",
            )
        ]
    assert values == [1.0, 2.0, 3.0, 14.0, 6.0, 25.0]
    assert [type(value) for value in values] == [float] * 6


def test_two_classes_of_one_name_keep_a_definition_each() -> None:
    def other() -> type[pydantic.BaseModel]:
        class User(pydantic.BaseModel):
            age: int

        return User

    def meet(a: User, b: other()) -> object:  # pyright: ignore[reportInvalidTypeForm]
        return [a, b]

    with nit.Session(tools=[meet]) as session:
        result = session.run('meet(a={name: "Ann"}, b={age: "7"})', check=True)
    assert [type(part).__name__ for part in result.value] == ["User", "User"]
    assert result.value[1].age == 7
    assert sorted(schema_of(meet).get("$defs", {})) in ([], ["User", "User_2"])


def test_positional_only_parameters_are_given_by_name_in_a_script() -> None:
    def divide(a: float, b: float, /) -> float:
        return a / b

    with nit.Session(tools=[divide]) as session:
        assert session.run("divide(b=2, a=1)", check=True).value == 0.5


def test_a_session_of_plain_functions_imports_neither_pydantic_nor_a_validator() -> None:
    program = """
import sys
import nit_kernel as nit

@nit.tool
def add(a: int, b: float = 1.0, c: str | None = None, d: float | None = None) -> float:
    return a + b

with nit.Session(tools=[add]) as session:
    assert session.run('$x = add(a="1", b=2)', check=True).value == 3.0
print([name for name in ("pydantic", "jsonschema", "jsonschema_rs") if name in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
