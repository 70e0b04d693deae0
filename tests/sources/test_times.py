"""Dates and times as arguments: text that says which, and never a number that may mean one."""

import datetime
from dataclasses import dataclass
from typing import Any

import pytest

import nit_kernel as nit
from nit_kernel.runtime.coercion import Coercer, CoercionError


@dataclass
class Person:
    born: datetime.date
    friends: "list[Person] | None" = None


MOMENT = "wanted a date and time as text, got 20240301"
NO_NUMBER = "a number is no date"


def message_of(hint: Any, value: str, **variables: Any) -> str | None:
    @nit.tool
    def keep(d: hint) -> object:
        return d

    with nit.Session(plugins=[]) as session:
        session.add_tool(keep)
        result = session.run(f"keep(d={value})", variables=variables)
    return None if result.error is None else result.error.message


@pytest.mark.parametrize(
    ("hint", "value", "message"),
    [
        (datetime.datetime, "20240301", f"d: {MOMENT}"),
        (datetime.datetime, "1.5", "d: wanted a date and time as text, got 1.5"),
        (datetime.datetime, "true", "d: wanted a date and time as text, got true"),
        (datetime.date, "0", "d: wanted a date as text, got 0"),
        (datetime.time, "0", "d: wanted a time as text, got 0"),
        (datetime.datetime | None, "20240301", "d: wanted string or null, got 20240301"),
        (list[datetime.datetime], "[20240301]", f"d[0]: {MOMENT}"),
        (Person, "{born: 86400}", "d.born: wanted a date as text, got 86400"),
    ],
)
@pytest.mark.parametrize("place", ["{}", "$x"])
def test_a_number_is_never_taken_for_a_time(
    hint: Any, value: str, message: str, place: str
) -> None:
    with nit.Session(plugins=[]) as session:
        held = session.run(value, check=True).value
    found = message_of(hint, value) if place == "{}" else message_of(hint, place, x=held)
    assert found == message


@pytest.mark.parametrize(
    ("hint", "value", "got"),
    [
        (datetime.datetime, '"20240301"', '"20240301"'),
        (datetime.datetime, '" -5.0 "', '" -5.0 "'),
        (datetime.date, '"86400"', '"86400"'),
        (datetime.date | None, '"86400"', '"86400"'),
        (datetime.datetime | int, '"86400"', '"86400"'),
        (dict[str, datetime.date], '{a: "86400"}', '{"a": "86400"}'),
        (tuple[int, datetime.date], '[1, "86400"]', '[1, "86400"]'),
        (Person, '{born: "86400"}', '{"born": "86400"}'),
        (
            Person,
            '{born: "2000-01-02", friends: [{born: "86400"}]}',
            '{"born": "2000-01-02", "friends": [{"born": "86400"}]}',
        ),
    ],
)
def test_a_text_of_a_number_is_never_taken_for_a_time(hint: Any, value: str, got: str) -> None:
    assert message_of(hint, value) == f"d: {NO_NUMBER}: write `2024-03-01`, got {got}"


@pytest.mark.parametrize(
    ("hint", "value"),
    [
        (datetime.datetime, '"2024-03-01"'),
        (datetime.datetime, '"2024-03-01T12:00:00Z"'),
        (datetime.datetime | str, '"86400"'),
        (datetime.datetime | int, "86400"),
        (datetime.time, '"12:00"'),
        (datetime.date | None, "null"),
        (Person, '{born: "2000-01-02", friends: [{born: "2000-01-02"}]}'),
    ],
)
def test_a_text_that_says_a_time_is_one(hint: Any, value: str) -> None:
    assert message_of(hint, value) is None


@pytest.mark.parametrize(
    ("kind", "hint"),
    [
        ("date-time", 'write it like `"2024-03-01T12:00:00"`'),
        ("date", 'write it like `"2024-03-01"`'),
        ("time", 'write it like `"12:00:00"`'),
    ],
)
def test_a_time_that_is_a_number_is_answered_with_how_to_write_one(kind: str, hint: str) -> None:
    schema: Any = {"properties": {"d": {"type": "string", "format": kind}}}
    with pytest.raises(CoercionError) as caught:
        Coercer(schema).coerce({"d": 20240301})
    assert caught.value.hint == hint
    assert Coercer(schema).coerce({"d": "soon"}) == {"d": "soon"}


def test_the_check_refuses_a_number_for_a_time() -> None:
    @nit.tool
    def keep(d: datetime.datetime) -> object:
        return d

    (found,) = nit.check("keep(d=20240301)", [keep])
    assert (found.code, found.message) == ("NIT314", f"d: {MOMENT}")
