"""What is said of arguments that do not fit: the one place that is wrong, and what was wanted."""

from typing import Any

import pytest

from nit_kernel.runtime.coercion import Coercer, CoercionError

DRAFT_4 = "http://json-schema.org/draft-04/schema#"
DRAFT_7 = "http://json-schema.org/draft-07/schema#"


def refusal(parameter: Any, value: object, **more: Any) -> tuple[str, str | None]:
    schema: Any = {"type": "object", "properties": {"p": parameter}, "required": ["p"], **more}
    with pytest.raises(CoercionError) as caught:
        Coercer(schema).coerce({"p": value})
    return caught.value.message, caught.value.hint


ABOVE_0 = {"type": "integer", "minimum": 0, "exclusiveMinimum": True}


@pytest.mark.parametrize("draft", [{}, {"$schema": DRAFT_4}])
@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        (ABOVE_0, 0, "p: wanted more than 0, got 0"),
        (ABOVE_0, "0", "p: wanted more than 0, got 0"),
        (ABOVE_0, "x", 'p: wanted integer, got "x"'),
        (
            {"type": "number", "maximum": 1, "exclusiveMaximum": True},
            1,
            "p: wanted less than 1, got 1",
        ),
        ({"type": "array", "items": ABOVE_0}, [1, 0], "p[1]: wanted more than 0, got 0"),
        ({"properties": {"a": ABOVE_0}}, {"a": 0}, "p.a: wanted more than 0, got 0"),
        (
            {"anyOf": [ABOVE_0, {"type": "array", "items": ABOVE_0}]},
            0,
            "p: wanted more than 0, got 0",
        ),
        ({"$ref": "#/definitions/n"}, 0, "p: wanted more than 0, got 0"),
    ],
)
def test_a_draft_4_schema_is_explained_by_draft_4(
    parameter: Any, value: object, message: str, draft: dict[str, str]
) -> None:
    found = refusal(parameter, value, definitions={"n": ABOVE_0}, **draft)
    assert found[0] == message


@pytest.mark.parametrize("draft", [{}, {"$schema": DRAFT_7}, {"$schema": DRAFT_4}])
@pytest.mark.parametrize(
    ("dependencies", "message"),
    [
        ({"q": ["r"]}, 'p: the key "r" is missing'),
        ({"q": ["r"], "s": {"required": ["t"]}}, 'p: the key "r" is missing'),
        ({"s": ["t"], "q": {"required": ["r"]}}, 'p: the key "r" is missing'),
    ],
)
def test_a_key_that_another_key_asks_for_is_named(
    dependencies: Any, message: str, draft: dict[str, str]
) -> None:
    parameter = {"type": "object", "dependencies": dependencies}
    assert refusal(parameter, {"q": 1}, **draft)[0] == message


def test_an_argument_that_another_argument_asks_for_is_missing() -> None:
    schema: Any = {
        "properties": {"q": {}, "r": {}},
        "dependencies": {"q": ["r"]},
        "$schema": DRAFT_7,
    }
    with pytest.raises(CoercionError) as caught:
        Coercer(schema).coerce({"q": 1})
    assert caught.value.message == "missing argument `r`"


def shape(*tags: object, **properties: Any) -> dict[str, Any]:
    tag = {"const": tags[0]} if len(tags) == 1 else {"enum": list(tags)}
    return {"type": "object", "properties": {"t": tag, **properties}, "required": ["t"]}


@pytest.mark.parametrize(
    ("union", "value", "message"),
    [
        ([shape("a"), shape("b"), shape("c")], {"t": "z"}, 'p.t: wanted "a", "b" or "c", got "z"'),
        ([shape("a", "b"), shape("c")], {"t": "z"}, 'p.t: wanted "a", "b" or "c", got "z"'),
        ([shape(1), shape(2)], {"t": 3}, "p.t: wanted 1 or 2, got 3"),
        ([shape(1), shape(2)], {"t": True}, "p.t: wanted 1 or 2, got true"),
        ([shape("a"), {"type": "null"}, shape("b")], {"t": 7}, 'p.t: wanted "a" or "b", got 7'),
        (
            [{"anyOf": [shape("a"), shape("b")]}, shape("c")],
            {"t": "z"},
            'p.t: wanted "a", "b" or "c", got "z"',
        ),
        (
            [{"$ref": "#/$defs/one"}, {"$ref": "#/$defs/two"}],
            {"t": "z", "n": 1},
            'p.t: wanted "a" or "b", got "z"',
        ),
        # The tag is right: what is wrong is told of its member.
        (
            [shape("a"), shape("b", n={"type": "integer"})],
            {"t": "b", "n": "x"},
            'p.n: wanted integer, got "x"',
        ),
        (
            [shape(1), shape(2, n={"type": "integer"})],
            {"t": 2, "n": "x"},
            'p.n: wanted integer, got "x"',
        ),
        # Only one member has a tag: the others may be meant.
        (
            [{"type": "object", "required": ["n"], "maxProperties": 1}, shape("a")],
            {"t": "z", "n": 1},
            'p: wanted at most 1 key, got {"t": "z", "n": 1}',
        ),
    ],
)
@pytest.mark.parametrize("keyword", ["oneOf", "anyOf"])
def test_a_wrong_tag_is_told_with_those_of_all_members(
    keyword: str, union: Any, value: object, message: str
) -> None:
    definitions = {"one": shape("a", n={"type": "integer"}), "two": shape("b")}
    assert refusal({keyword: union}, value, **{"$defs": definitions})[0] == message


ANY: Any = {}
CLOSED: Any = {
    "type": "object",
    "properties": {"aaaa": ANY, "count": ANY},
    "unevaluatedProperties": False,
}


@pytest.mark.parametrize(
    ("parameter", "value", "expected"),
    [
        (CLOSED, {"bbbb": 1}, ('p: unknown key "bbbb"', "it takes `aaaa`, `count`")),
        (CLOSED, {"coun": 1}, ('p: unknown key "coun"', "did you mean `count`?")),
        (
            CLOSED,
            {"bbbb": 1, "cccc": 2},
            ('p: unknown keys "bbbb", "cccc"', "it takes `aaaa`, `count`"),
        ),
        (
            {**CLOSED, "allOf": [{"properties": {"more": ANY}}], "patternProperties": {"^x": ANY}},
            {"more": 1, "x1": 1, "bbbb": 1},
            ('p: unknown key "bbbb"', "it takes `aaaa`, `count`, `more`"),
        ),
        (
            {
                "anyOf": [
                    {"properties": {"aaaa": {"type": "integer"}}, "required": ["aaaa"]},
                    {"properties": {"bbbb": ANY}, "required": ["bbbb"]},
                ],
                "unevaluatedProperties": False,
            },
            {"aaaa": "x", "bbbb": 1},
            ('p: unknown key "aaaa"', "it takes `bbbb`"),
        ),
        (
            {
                "if": {"properties": {"aaaa": {"const": 1}}, "required": ["aaaa"]},
                "then": {"properties": {"bbbb": ANY}},
                "else": {"properties": {"cccc": ANY}},
                "unevaluatedProperties": False,
            },
            {"aaaa": 1, "bbbb": 1, "cccc": 1},
            ('p: unknown key "cccc"', "it takes `aaaa`, `bbbb`"),
        ),
        (
            {"$ref": "#/$defs/base", "unevaluatedProperties": False},
            {"base": 1, "bbbb": 1},
            ('p: unknown key "bbbb"', "it takes `base`"),
        ),
        (
            {**CLOSED, "unevaluatedProperties": {"type": "integer"}},
            {"bbbb": "x"},
            ('p.bbbb: wanted integer, got "x"', None),
        ),
        # What closes an object otherwise says the same.
        (
            {"properties": {"aaaa": ANY}, "additionalProperties": False},
            {"bbbb": 1},
            ('p: unknown key "bbbb"', "it takes `aaaa`"),
        ),
        (
            {"additionalProperties": False},
            {"bbbb": 1},
            ('p: unknown key "bbbb"', "it takes no keys"),
        ),
    ],
)
def test_an_unknown_key_is_named_with_those_that_there_are(
    parameter: Any, value: object, expected: tuple[str, str | None]
) -> None:
    definitions: Any = {"base": {"properties": {"base": ANY}}}
    assert refusal(parameter, value, **{"$defs": definitions}) == expected


INF, NAN = float("inf"), float("nan")
NUMBER = {"type": "number"}
OR_NULL = {"anyOf": [{"type": "integer"}, {"type": "null"}]}


@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        ({"type": "integer"}, INF, "p: wanted integer, got Infinity"),
        ({"type": "integer"}, -INF, "p: wanted integer, got -Infinity"),
        ({"type": "integer"}, NAN, "p: wanted integer, got NaN"),
        ({"type": "integer", "minimum": 0}, INF, "p: wanted integer, got Infinity"),
        ({"type": ["integer", "null"]}, INF, "p: wanted integer or null, got Infinity"),
        (
            {"type": ["integer", "null"], "minimum": 0},
            INF,
            "p: wanted integer or null, got Infinity",
        ),
        (OR_NULL, INF, "p: wanted integer or null, got Infinity"),
        ({"type": "boolean"}, NAN, "p: wanted boolean, got NaN"),
        (
            {"type": "array", "items": {"type": "integer"}},
            [1, INF],
            "p[1]: wanted integer, got Infinity",
        ),
        (
            {"type": "array", "items": {"type": "integer", "minimum": 0}},
            [1, INF],
            "p[1]: wanted integer, got Infinity",
        ),
    ],
)
def test_what_is_not_finite_is_no_integer(parameter: Any, value: object, message: str) -> None:
    assert refusal(parameter, value)[0] == message


def test_what_is_not_finite_goes_to_the_member_that_takes_it() -> None:
    schema: Any = {"properties": {"p": {"anyOf": [{"type": "integer", "minimum": 0}, NUMBER]}}}
    assert Coercer(schema).coerce({"p": INF}) == {"p": INF}


@pytest.mark.parametrize(
    ("parameter", "value", "expected"),
    [
        (
            NUMBER,
            "3.14159265358979323846",
            (
                'p: wanted number, got "3.14159265358979323846", which cannot be held exactly',
                "the nearest number is 3.141592653589793",
            ),
        ),
        (
            {"type": ["number", "null"]},
            "1e-400",
            ('p: wanted null or number, got "1e-400", which cannot be held exactly', None),
        ),
        (
            NUMBER,
            "1.5e400",
            ('p: wanted number, got "1.5e400", which cannot be held exactly', None),
        ),
        (
            {"anyOf": [NUMBER, {"type": "null"}]},
            "0.12345678901234567890",
            (
                'p: wanted number or null, got "0.12345678901234567890",'
                " which cannot be held exactly",
                "the nearest number is 0.12345678901234568",
            ),
        ),
        (NUMBER, "n/a", ('p: wanted number, got "n/a"', None)),
        (NUMBER, "NaN", ('p: wanted number, got "NaN"', None)),
        ({"type": "integer"}, "3.5", ('p: wanted integer, got "3.5"', None)),
    ],
)
def test_a_number_that_would_lose_digits_is_refused_for_that(
    parameter: Any, value: object, expected: tuple[str, str | None]
) -> None:
    assert refusal(parameter, value) == expected


@pytest.mark.parametrize(
    ("text", "number"),
    [("0.10000000000000001", 0.1), ("2.2999999999999998", 2.3), ("1.0000000000000000000", 1.0)],
)
def test_a_number_in_all_the_digits_of_a_float_is_that_float(text: str, number: float) -> None:
    schema: Any = {"properties": {"p": NUMBER}}
    assert Coercer(schema).coerce({"p": text}) == {"p": number}


@pytest.mark.parametrize("more", [{}, {"type": "integer"}])
def test_a_choice_of_nothing_says_so(more: Any) -> None:
    assert refusal({"enum": [], **more}, 5)[0] == "p: wanted nothing (its `enum` is empty), got 5"
