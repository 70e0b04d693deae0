"""Native calls in the deltas of servers that number, name and send them in their own ways."""

from __future__ import annotations

from typing import Any

import pytest
from codec_samples import decode, outcome
from hypothesis import given
from hypothesis import strategies as st

from nit_kernel.model.codecs.deltas import CallAssembler
from nit_kernel.model.codecs.native import native_codec

KNOWN = ["get_weather", "search", "echo", "clock"]


def delta(
    index: int | None = None, id: str | None = None, name: Any = None, arguments: Any = None, **more
) -> dict[str, Any]:
    found: dict[str, Any] = {"function": {"name": name, "arguments": arguments}, **more}
    return {
        **found,
        **({"index": index} if index is not None else {}),
        **({"id": id} if id else {}),
    }


def assembled(*chunks: Any, known: Any = KNOWN) -> list[tuple[str, str, str]]:
    assembler = CallAssembler(known)
    for chunk in chunks:
        assembler.feed(chunk if isinstance(chunk, list) else [chunk])
    return [
        (entry["id"], entry["function"]["name"], entry["function"]["arguments"])
        for entry in assembler.entries()
    ]


def test_the_plain_case_two_calls_with_indexes() -> None:
    assert assembled(
        delta(0, "c1", "echo", ""),
        delta(0, arguments='{"v"'),
        delta(1, "c2", "clock", ""),
        delta(0, arguments=":1}"),
        delta(1, arguments="{}"),
    ) == [("c1", "echo", '{"v":1}'), ("c2", "clock", "{}")]


@pytest.mark.parametrize("index", [0, None])
def test_calls_that_all_have_the_same_index_or_none_are_told_apart_by_their_ids(
    index: int | None,
) -> None:
    assert assembled(
        delta(index, "c1", "echo", '{"v":1}'),
        delta(index, "c2", "echo", '{"v":'),
        delta(index, arguments="2}"),
    ) == [("c1", "echo", '{"v":1}'), ("c2", "echo", '{"v":2}')]


def test_without_ids_another_name_after_whole_arguments_is_another_call() -> None:
    assert assembled(delta(0, None, "echo", '{"v":1}'), delta(0, None, "unknown", '{"q":"x"}')) == [
        ("", "echo", '{"v":1}'),
        ("", "unknown", '{"q":"x"}'),
    ]


def test_two_known_names_are_two_calls_also_where_the_first_has_no_arguments() -> None:
    assert assembled(delta(0, None, "clock", ""), delta(0, None, "search", '{"q":"x"}')) == [
        ("", "clock", ""),
        ("", "search", '{"q":"x"}'),
    ]


def test_a_name_that_comes_with_every_delta_counts_once() -> None:
    assert assembled(
        delta(0, "c1", "echo", '{"v"'), delta(0, "c1", "echo", ":1"), delta(0, "c1", "echo", "}")
    ) == [("c1", "echo", '{"v":1}')]


def test_a_name_in_pieces_is_joined_only_where_that_gives_a_known_one() -> None:
    assert assembled(delta(0, "c1", "get_"), delta(0, None, "weather"), delta(0, None, "x")) == [
        ("c1", "get_weather", "")
    ]


@pytest.mark.parametrize(
    ("known", "names"),
    [
        (["get", "get_weather"], ["get", "get_weather"]),
        (["weather"], ["wea", "weather"]),
        ([], ["wea", "weath", "weather"]),
    ],
)
def test_a_name_that_is_sent_again_and_longer_each_time_is_one_name(
    known: list[str], names: list[str]
) -> None:
    chunks = [delta(0, None, name) for name in names]
    assert assembled(*chunks, delta(0, None, None, "{}"), known=known) == [("", names[-1], "{}")]


def test_a_name_that_begins_as_the_one_before_is_another_call_after_whole_arguments() -> None:
    known = ["get", "get_weather"]
    assert assembled(delta(0, None, "get", "{}"), delta(0, None, "get_weather"), known=known) == [
        ("", "get", "{}"),
        ("", "get_weather", ""),
    ]


def test_a_piece_of_a_name_that_repeats_the_one_before_is_joined() -> None:
    assert assembled(delta(0, None, "bon"), delta(0, None, "bons"), known=["bonbons"]) == [
        ("", "bonbons", "")
    ]


def test_indexes_sent_as_texts_are_numbers() -> None:
    first, second = ({**delta(None, None, "echo"), "index": index} for index in ("0", "1"))
    assert assembled(
        first,
        second,
        {"index": "0", "function": {"arguments": '{"v":1}'}},
        {"index": "1", "function": {"arguments": '{"v":2}'}},
    ) == [("", "echo", '{"v":1}'), ("", "echo", '{"v":2}')]


@pytest.mark.parametrize(
    ("chunks", "right"),
    [
        ([{"index": 0, "id": "c", "name": "echo", "arguments": '{"v":1}'}], [("echo", "NIT614")]),
        (
            [
                {"index": 0, "id": "c", "type": "custom", "custom": {"name": "run", "input": "{"}},
                {"index": 0, "custom": {"input": "}"}},
            ],
            [("run", "NIT614")],
        ),
        ([None], [("", "NIT604")]),
        (
            [None, delta(0, "c", "clock"), delta(0, None, None, "{}")],
            [("clock", {}), ("", "NIT604")],
        ),
    ],
)
def test_deltas_in_another_form_make_a_call_with_an_error(chunks: Any, right: Any) -> None:
    assembler = CallAssembler(KNOWN)
    for chunk in chunks:
        assembler.feed([chunk])
    message = {"role": "assistant", "content": None, "tool_calls": assembler.entries()}
    assert bool(assembler)
    assert outcome(native_codec(), message) == right


def test_arguments_as_an_object_are_taken_once() -> None:
    assert assembled(
        delta(0, "c1", "echo", {"v": [1, "é"]}), delta(0, None, None, {"v": [1, "é"]})
    ) == [("c1", "echo", '{"v": [1, "é"]}')]


def test_null_and_missing_fields_mean_nothing() -> None:
    assert assembled(
        delta(0, "c1", "echo", None),
        {"index": 0, "function": None},
        {"index": 0},
        delta(0, None, "", "{}"),
    ) == [("c1", "echo", "{}")]


def test_several_calls_in_one_chunk_without_index_or_id_are_several() -> None:
    assert assembled([delta(None, None, "echo", '{"v":1}'), delta(None, None, "echo", "{}")]) == [
        ("", "echo", '{"v":1}'),
        ("", "echo", "{}"),
    ]


def test_keys_of_the_providers_own_are_kept() -> None:
    assembler = CallAssembler()
    assembler.feed([delta(0, "c1", "echo", "{}", extra_content={"google": {"sig": "x"}})])
    assert assembler.entries() == [
        {
            "extra_content": {"google": {"sig": "x"}},
            "id": "c1",
            "type": "function",
            "function": {"name": "echo", "arguments": "{}"},
        }
    ]


def test_a_chunk_without_calls_opens_none() -> None:
    assembler = CallAssembler()
    assembler.feed(None)
    assembler.feed([])
    assert (bool(assembler), assembler.entries()) == (False, [])


@pytest.mark.parametrize(
    ("chunks", "right"),
    [
        ([delta(0, "c1", "echo", '{"v":1}'), delta(0, "c1", "echo", '{"v":1}')], [{"v": 1}]),
        (
            [delta(0, "c1", "echo", '{"v":1}'), delta(0, "c1", None, '{"v":2}')],
            [{"v": 1}, {"v": 2}],
        ),
        ([delta(0, "c1", "clock", "")], [{}]),
    ],
)
def test_arguments_sent_twice_several_in_one_or_empty_come_out_as_calls(
    chunks: list[Any], right: list[Any]
) -> None:
    assembler = CallAssembler(KNOWN)
    for chunk in chunks:
        assembler.feed([chunk])
    message = {"role": "assistant", "content": None, "tool_calls": assembler.entries()}
    calls = decode(native_codec(), message).calls
    assert [call.arguments for call in calls] == right
    assert len({call.id for call in calls}) == len(right)


@given(
    calls=st.lists(
        st.tuples(st.sampled_from(KNOWN), st.dictionaries(st.text(), st.text(), max_size=3)),
        min_size=1,
        max_size=4,
    ),
    data=st.data(),
)
def test_any_cut_of_well_numbered_calls_gives_the_same_calls(calls: Any, data: Any) -> None:
    import json

    chunks: list[list[dict[str, Any]]] = []
    for index, (name, arguments) in enumerate(calls):
        chunks.append([delta(index, f"c{index}", name, "")])
        text = json.dumps(arguments)
        while text:
            size = data.draw(st.integers(1, len(text)))
            chunks.append([delta(index, arguments=text[:size])])
            text = text[size:]
    assert [(name, json.loads(arguments)) for _, name, arguments in assembled(*chunks)] == calls
