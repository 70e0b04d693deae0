"""The native codec: the provider's own calls, as real models and servers send them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from codec_samples import TOOLS, decode, outcome, tool

from nit_kernel.model.codecs.choice import text_codec
from nit_kernel.model.codecs.codec import decode_reply
from nit_kernel.model.codecs.entries import entry_of
from nit_kernel.model.codecs.native import native_codec
from nit_kernel.model.messages import (
    Request,
    assistant,
    call_entry,
    report,
    tool_result,
    user,
)


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def reply(*calls: tuple[str, Any], **more: Any) -> dict[str, Any]:
    entries = [
        {"id": f"c{n}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for n, (name, arguments) in enumerate(calls)
    ]
    return {"role": "assistant", "content": None, "tool_calls": entries, **more}


def test_all_real_messages_of_one_model_make_exactly_their_calls(shared: Path) -> None:
    seen: set[str] = set()
    count = 0
    for record in records(shared / "corpus" / "codec" / "native_openai_gpt4o.jsonl"):
        message = {"role": "assistant", **{k: record[k] for k in ("content", "tool_calls")}}
        calls = decode(native_codec(), message, tools=(), seen_ids=seen).calls
        assert [{"name": c.name, "arguments": c.arguments} for c in calls] == record["parsed"]
        assert [call.error for call in calls] == [None] * len(calls)
        assert not seen & {call.id for call in calls}  # the same id came in several messages
        seen |= {call.id for call in calls}
        count += len(calls)
    assert count == 605


def test_all_rounds_of_the_corpus_make_exactly_their_calls(shared: Path) -> None:
    count = 0
    for record in records(shared / "corpus" / "codec" / "native_rounds.public.jsonl"):
        for entries in record["rounds"]:
            message = {"role": "assistant", "content": None, "tool_calls": entries}
            calls = decode(native_codec(), message, tools=()).calls
            assert [(c.id, c.name, c.arguments, c.error) for c in calls] == [
                (e["id"], e["function"]["name"], json.loads(e["function"]["arguments"]), None)
                for e in entries
            ]
            count += len(calls)
    assert count == 1397


def test_broken_argument_texts_give_the_lenient_value_or_an_error_and_never_nothing(
    shared: Path,
) -> None:
    for record in records(shared / "corpus" / "codec" / "malformed_tool_json.jsonl"):
        (call,) = decode(native_codec(), reply(("finish", record["arguments"])), tools=()).calls
        assert call.arguments != {}
        if record["lenient_value"] is None:
            assert call.error is not None
        else:
            assert (call.arguments, call.error) == (record["lenient_value"], None)


@pytest.mark.parametrize(
    ("name", "arguments", "right"),
    [
        ("clock", "", {}),
        ("clock", "  \n", {}),
        ("clock", "null", {}),
        ("clock", None, {}),
        ("clock", '""', {}),
        ("clock", '" "', {}),
        ("clock", '"null"', {}),
        ("search", '""', "NIT614: `search` came without arguments and needs `q`; nothing was run"),
        ("search", "", "NIT614: `search` came without arguments and needs `q`; nothing was run"),
        (
            "clock",
            "[]",
            "NIT606: the arguments of `clock` must be a JSON object, not a list; nothing was run",
        ),
        ("echo", {"v": 1}, {"v": 1}),
        ("echo", '"{\\"v\\": 1}"', {"v": 1}),
        (
            "echo",
            '{"{"v":[1]}',
            "NIT605: the arguments of `echo` are not JSON: expecting ':' delimiter (line 1, "
            "column 5); nothing was run, send the call again with one JSON object",
        ),
        (
            "echo",
            '{"v": 1',
            "NIT605: the arguments of `echo` are not JSON: expecting ',' delimiter, the text ends "
            "too early (line 1, column 8); nothing was run, send the call again with one JSON "
            "object",
        ),
    ],
)
def test_case_b15_arguments_of_every_kind(name: str, arguments: Any, right: Any) -> None:
    (call,) = decode(native_codec(), reply((name, arguments))).calls
    assert (call.error or call.arguments) == right


def test_a_bad_call_leaves_the_others_alone() -> None:
    got = outcome(native_codec(), reply(("echo", '{"v":1}'), ("echo", "{oops"), ("clock", "{}")))
    assert got == [("echo", {"v": 1}), ("echo", "NIT605"), ("clock", {})]


@pytest.mark.parametrize(
    ("arguments", "right"),
    [
        ('{"v":1}{"v":1}', [("echo", {"v": 1})]),
        ('{"v":1}\n{"v":2}', [("echo", {"v": 1}), ("echo", {"v": 2})]),
        ('{}{"v":1}', [("echo", {"v": 1})]),
        ('{"v":1}{}', [("echo", {"v": 1})]),
        ('{} {"v":1}{}{"v":2}', [("echo", {"v": 1}), ("echo", {"v": 2})]),
        ("{}{}", [("echo", {})]),
    ],
)
def test_several_objects_in_one_text_are_several_calls_and_equal_ones_count_once(
    arguments: str, right: Any
) -> None:
    decoded = decode(native_codec(), reply(("echo", arguments)))
    assert [(call.name, call.arguments) for call in decoded.calls] == right
    assert len({call.id for call in decoded.calls}) == len(right)


@pytest.mark.parametrize(
    ("entry", "right"),
    [
        ({"id": "c", "function": "clock"}, [("clock", "NIT614")]),
        ({"id": "c", "name": "clock", "arguments": "{}"}, [("clock", "NIT614")]),
        ({"id": "c", "function": ["clock"]}, [("", "NIT604")]),
        ({"id": "c", "function": {}}, [("", "NIT604")]),
        ({"id": "c", "function": {"name": "say", "kwargs": {"text": "x"}}}, [("say", "NIT614")]),
        ({"id": "c", "function": {"name": "say", "args": {"text": "x"}}}, [("say", {"text": "x"})]),
        (
            {"function": {"name": "say", "arguments": "", "input": {"text": "x"}}},
            [("say", {"text": "x"})],
        ),
        (
            {"function": {"name": "say", "arguments": None, "kwargs": {"text": "x"}}},
            [("say", "NIT614")],
        ),
        ({"id": "c", "function": {"name": "clock"}}, [("clock", {})]),
        (None, [("", "NIT604")]),
        ("clock", [("", "NIT604")]),
    ],
)
@pytest.mark.parametrize("tools", [(), TOOLS], ids=["no tools known", "tools known"])
def test_an_entry_in_another_form_is_answered_with_an_error(
    entry: Any, right: Any, tools: Any
) -> None:
    message = {"role": "assistant", "content": "So.", "tool_calls": [entry]}
    assert outcome(native_codec(), message, tools=tools) == right


def test_a_call_that_was_sent_twice_runs_once() -> None:
    message = reply(("echo", '{"v":1}'), ("echo", '{"v":1}'))
    message["tool_calls"][1]["id"] = "c0"
    assert outcome(native_codec(), message) == [("echo", {"v": 1})]


def test_two_calls_with_one_id_are_told_apart() -> None:
    message = reply(("echo", '{"v":1}'), ("echo", '{"v":2}'))
    message["tool_calls"][1]["id"] = "c0"
    decoded = decode(native_codec(), message)
    assert [(call.id, call.arguments) for call in decoded.calls] == [
        ("c0", {"v": 1}),
        ("c0-2", {"v": 2}),
    ]


def test_a_missing_id_is_derived_from_the_content() -> None:
    message = reply(("echo", '{"v":1}'))
    del message["tool_calls"][0]["id"]
    first = decode(native_codec(), message).calls[0].id
    assert first.startswith("call_")
    assert first == decode(native_codec(), message).calls[0].id


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("files.read", "files.read"),
        ("files_read", "files.read"),
        ("FilesRead_tool", "files.read"),
        ("functions.files_read", "files.read"),
        ("ECHO", "echo"),
        ("files_raed", None),
    ],
)
def test_a_name_finds_its_tool_in_other_dress_and_never_by_its_letters(
    written: str, found: str | None
) -> None:
    (call,) = decode(native_codec(), reply((written, "{}"))).calls
    assert (call.name if call.error is None else None) == found


def test_a_name_that_fits_two_tools_is_an_error_that_lists_them() -> None:
    tools = (tool("read_file"), tool("read-file"))
    (call,) = decode(native_codec(), reply(("ReadFile", "{}")), tools=tools).calls
    assert call.error == (
        "NIT604: there is no tool `ReadFile`; did you mean `read-file`?; there are `read_file`, "
        "`read-file`"
    )


def test_a_reply_that_was_cut_off_does_not_run_its_last_call() -> None:
    got = outcome(native_codec(), reply(("echo", '{"v":1}'), ("clock", "")), finish_reason="length")
    assert got == [("echo", {"v": 1}), ("clock", "NIT602")]


def test_reasoning_is_kept_apart_from_the_text() -> None:
    message = {"role": "assistant", "content": "<think>b</think>Hello", "reasoning_content": "a"}
    decoded = decode(native_codec(), message)
    assert (decoded.text, decoded.reasoning) == ("Hello", "a\n\nb")


def test_a_providers_own_keys_of_a_call_are_echoed() -> None:
    message = reply(("echo", '{"v":1}'))
    extra = {"extra_content": {"google": {"thought_signature": "sig"}}}
    message["tool_calls"][0] |= extra
    (call,) = decode(native_codec(), message).calls
    messages = (
        user("x"),
        assistant("", calls=[entry_of(call)]),
        tool_result(call.id, "1"),
        user("y"),
    )
    encoded = native_codec().encode(Request(model="m", messages=messages), TOOLS)
    assert encoded.messages[1]["tool_calls"] == [
        {
            **extra,
            "id": "c0",
            "type": "function",
            "function": {"name": "echo", "arguments": '{"v":1}'},
        }
    ]


def test_case_b17_each_id_has_exactly_one_tool_message_behind_its_call() -> None:
    calls = [call_entry(f"c{n}", "echo", "{}") for n in (1, 2, 3)]
    messages = (
        user("go"),
        assistant("", calls=calls),
        tool_result("c2", "bad n", is_error=True),
        tool_result("c1", "fine"),
        tool_result("c1", "again"),
        tool_result("c9", "of no call"),
        user("and now?"),
    )
    encoded = native_codec().encode(Request(model="m", messages=messages), TOOLS)
    assert [(m["role"], m.get("tool_call_id"), m["content"]) for m in encoded.messages] == [
        ("user", None, "go"),
        ("assistant", None, None),
        ("tool", "c1", "fine"),
        ("tool", "c2", "error: bad n"),
        ("tool", "c3", "error: cancelled: this call was interrupted and has no result"),
        ("user", None, "and now?"),
    ]


def test_arguments_that_were_no_json_stand_in_the_history_as_json() -> None:
    messages = (
        user("go"),
        assistant("", calls=[call_entry("c1", "echo", "{oops")]),
        tool_result("c1", "unreadable", is_error=True),
    )
    encoded = native_codec().encode(Request(model="m", messages=messages), TOOLS)
    arguments = encoded.messages[1]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(arguments) == {"unreadable": "{oops"}


def test_a_script_of_the_history_is_text_and_report_and_no_call() -> None:
    script = {"type": "script", "script": "clock()"}
    messages = (user("go"), assistant("", parts=[script]), report("clock: noon"), user("more"))
    encoded = native_codec().encode(Request(model="m", messages=messages), TOOLS)
    assert list(encoded.messages) == [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "(I ran a script.)\n```\nclock()\n```"},
        {"role": "user", "content": "clock: noon\n\nmore"},
    ]


def test_tools_get_names_that_providers_take_and_a_named_choice_uses_them() -> None:
    choice = {"type": "function", "function": {"name": "files.read"}}
    request = Request(model="m", messages=(user("hi"),), tool_choice=choice)
    encoded = native_codec().encode(request, [TOOLS[5]])
    assert [entry["function"]["name"] for entry in encoded.tools] == ["files_read"]
    assert encoded.tool_choice == {"type": "function", "function": {"name": "files_read"}}


def test_content_is_rescued_only_where_asked_and_only_for_known_tools() -> None:
    text = 'I look.\n<tool_call>\n{"name":"echo","arguments":{"v":1}}\n</tool_call>'
    codec = native_codec(rescue=text_codec("hermes"))
    assert outcome(codec, text) == [("echo", {"v": 1})]
    assert decode(codec, text).text == "I look."
    assert outcome(codec, text, tools=[tool("other")]) == text
    assert outcome(native_codec(), text) == text


def test_an_older_function_call_is_a_call() -> None:
    message = {
        "role": "assistant",
        "content": None,
        "function_call": {"name": "echo", "arguments": '{"v":1}'},
    }
    assert outcome(native_codec(), message) == [("echo", {"v": 1})]


def test_without_a_context_names_and_arguments_are_read_all_the_same() -> None:
    from nit_kernel.model.codecs.codec import DecodeContext

    message = reply(("anything", '{"v":1}'))
    direct = native_codec().decode(message)
    assert direct.calls == decode_reply(native_codec(), message, DecodeContext()).calls
