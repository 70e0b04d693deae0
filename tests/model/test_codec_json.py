"""The json codec: what models really write in place of one JSON object."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from codec_samples import TOOLS, decode, outcome

from nit_kernel.model.codecs.encoding import encode_request
from nit_kernel.model.codecs.json import json_codec
from nit_kernel.model.messages import (
    Request,
    assistant,
    call_entry,
    report,
    system,
    tool_result,
    user,
)

CALL = '{"type":"tool_calls","calls":[{"name":"echo","arguments":{"v":1}}]}'
OTHER = '{"type":"tool_calls","calls":[{"name":"echo","arguments":{"v":2}}]}'
ECHO = ("echo", {"v": 1})


@pytest.mark.parametrize(
    ("reply", "right"),
    [
        pytest.param(f"Sure! {CALL}", [ECHO], id="D1 prose, then the object"),
        pytest.param(f"{CALL}\nDone.", [ECHO], id="D2 the object, then prose"),
        pytest.param(f"{CALL} {CALL}", [ECHO], id="D2 the same object twice"),
        pytest.param(f"{CALL}\n{OTHER}", [ECHO, ("echo", {"v": 2})], id="D2 two objects"),
        pytest.param(f"```javascript\n{CALL}\n```", [ECHO], id="D3 a fence of another language"),
        pytest.param(f"```json\n{CALL}", [ECHO], id="D3 a fence that never ends"),
        pytest.param(
            f"<think>maybe {OTHER}</think>\n{CALL}", [ECHO], id="D4 W35 reasoning with a draft"
        ),
        pytest.param(
            f"weighing {OTHER}</think>{CALL}", [ECHO], id="D4 reasoning without its opening tag"
        ),
        pytest.param(
            'Your file:\n```json\n{"name":"search","version":"1"}\n```\nDone.',
            'Your file:\n```json\n{"name":"search","version":"1"}\n```\nDone.',
            id="D5 W25 data with a name",
        ),
        pytest.param(
            '{"name":"my-app","version":"1"}',
            '{"name":"my-app","version":"1"}',
            id="W25 data as the whole reply",
        ),
        pytest.param('{"answer": 42}', '{"answer": 42}', id="W31 a bare answer object"),
        pytest.param("{so} it goes", "{so} it goes", id="D9 prose that begins with a brace"),
        pytest.param('{"a"} is a set', '{"a"} is a set', id="D9 prose that begins as an object"),
        pytest.param(
            '{"type":"final","text":"```json\\n{\\"a\\":1}\\n```"}',
            '```json\n{"a":1}\n```',
            id="D9 W17 an answer with a fence in it",
        ),
        pytest.param(
            '{"type":"tool_calls","calls":[{"name":"run","arguments":{"code":"print("hi")"}}]}',
            [("run", {"code": 'print("hi")'})],
            id="W19 quotes that were not escaped",
        ),
        pytest.param('{"type":"final","text":"say "a", "b":"c"}', "NIT601", id="W19 two readings"),
        pytest.param(
            '{"type":"tool_calls","calls":[{"name":"say","arguments":{"text":"\\u6文"}}]}',
            [("say", {"text": "文"})],
            id="W21 the escape begins the character's code",
        ),
        pytest.param(
            '{"type":"tool_calls","calls":[{"name":"say","arguments":{"text":"\\u7文"}}]}',
            "NIT601",
            id="W21 the escape begins another code",
        ),
        pytest.param(
            '{"type":"tool_calls","calls":[{"name":"say","arguments":"{\\"text\\":\\"[1]\\"}"}]}',
            [("say", {"text": "[1]"})],
            id="W23 arguments as a text; a text inside stays one",
        ),
        pytest.param('{"{"ids":[1]}', "NIT601", id="W27 a stray brace"),
        pytest.param(
            '{"type":"tool_calls","calls":[{"name":"say","arguments":{"{"ids":[1]}}]}',
            "NIT601",
            id="W27 a stray brace in the arguments",
        ),
        pytest.param(
            '{"type":"tool_calls","calls":[{"name":"clock","arguments":""}]}',
            [("clock", {})],
            id="W29 no arguments for a tool without any",
        ),
        pytest.param(
            '{"type":"tool_calls","calls":[{"name":"search","arguments":null}]}',
            [("search", "NIT614")],
            id="W29 no arguments for a tool that needs one",
        ),
        pytest.param(f"<think>then {CALL}", "NIT609", id="W37 reasoning never closed"),
        pytest.param(
            '{"name":"Search_tool","arguments":{"q":"x"}}',
            [("search", {"q": "x"})],
            id="W43 a name in other dress",
        ),
        pytest.param(
            '{"type":"tool_calls","calls":[{"name":"serch","arguments":{"q":"x"}}]}',
            [("serch", "NIT604")],
            id="W43 a misspelt name is not run",
        ),
        pytest.param(
            '{"type":"function","function":{"name":"echo","description":"d",'
            '"parameters":{"type":"object","properties":{}}}}',
            '{"type":"function","function":{"name":"echo","description":"d",'
            '"parameters":{"type":"object","properties":{}}}}',
            id="a tool's own description is no call",
        ),
        pytest.param('{"type":"tool_calls","calls":[]}', "NIT603", id="no calls at all"),
        pytest.param(
            '{"type":"final","text":"x","calls":[{"name":"echo"}]}', "NIT603", id="both at once"
        ),
    ],
)
def test_a_shape_seen_in_the_wild(reply: str, right: Any) -> None:
    assert outcome(json_codec(), reply) == right


@pytest.mark.parametrize(
    "reply",
    [
        '{"calls":[{"name":"say","kwargs":{"text":"x"}}]}',
        '{"calls":[{"name":"say","text":"x"}]}',
        '{"calls":[{"name":"say","arguments":null,"kwargs":{"text":"x"}}]}',
        '{"type":"tool_calls","calls":[{"name":"echo","arguments":{}},{"name":"say","text":"x"}]}',
        '{"tool_calls":[{"type":"function","function":{"name":"say","kwargs":{"text":"x"}}}]}',
        '{"calls":[{"name":"say","action":"x"}]}',
        '{"type":"tool_call","name":"say","kwargs":{"text":"x"}}',
        '{"type":"function","function":{"name":"say","kwargs":{"text":"x"}}}',
        '{"function":{"name":"say","text":"x"}}',
        'Sure: {"calls":[{"name":"say","text":"x"}]}',
        '[{"type":"tool_call","name":"say","text":"x"},{"name":"clock","arguments":{}}]',
    ],
)
def test_arguments_under_a_key_of_the_models_own_are_never_dropped(reply: str) -> None:
    assert outcome(json_codec(), reply) == "NIT603"


@pytest.mark.parametrize(
    "reply",
    [
        '{"calls":[{"name":"clock"}]}',
        '{"calls":[{"id":"c1","type":"function","index":0,"function":{"name":"clock"}}]}',
        '{"calls":[{"name":"clock","tool":"clock","call_id":"c1"}]}',
        '{"type":"tool_call","name":"clock"}',
        'Sure: {"calls":[{"name":"clock"}]}',
        '[[{"name":"clock","arguments":{}}]]',
        '[{"type":"tool_calls","calls":[{"name":"clock"}]}]',
        '{"response":{"type":"tool_calls","calls":[{"name":"clock"}]}}',
        'So: {"response":{"type":"tool_calls","calls":[{"name":"clock"}]}}',
        '{"response":{"calls":[{"name":"clock"}]}}',
    ],
)
def test_a_call_in_a_wrapping_of_the_models_own_is_a_call(reply: str) -> None:
    assert outcome(json_codec(), reply) == [("clock", {})]


@pytest.mark.parametrize(
    "reply",
    [
        '{"calls":{"name":"clock"}}',
        '{"tool_calls":{"name":"clock","arguments":{}}}',
        'Sure: {"tool_calls":{"name":"clock","arguments":{}}}',
        '{"calls":"echo"}',
        '[{"name":"clock","arguments":{}},null]',
        'So: [{"name":"clock","arguments":{}},{"name":"clock"}]',
        '[{"type":"final","text":"4"},{"name":"clock","arguments":{}}]',
    ],
)
def test_calls_that_are_no_list_of_calls_are_mended_by_the_model(reply: str) -> None:
    assert outcome(json_codec(), reply) == "NIT603"


@pytest.mark.parametrize(
    "reply",
    [
        '{"calls": 5}',
        '{"calls": {"2024": 5}, "total": 5}',
        'Here: {"calls": [{"name": "Ann", "age": 3}]}',
        '[{"name": "say", "version": 1}, {"name": "echo"}]',
        '{"type": "call", "name": "Ann", "phone": "1"}',
        '{"response": {"name": "say", "arguments": {}}}',
        '{"response": {"calls": [{"name": "Ann"}]}}',
        "[[1, 2], null]",
    ],
)
def test_data_with_keys_of_the_protocol_is_the_answer(reply: str) -> None:
    assert outcome(json_codec(), reply) == reply


CLOCK = '{"calls":[{"name":"clock"}]}'


@pytest.mark.parametrize(
    "reply",
    [
        f"```json\nCall:\n{CLOCK}\n```",
        f"```jsonc\n// call\n{CLOCK}\n```",
        f"```JSON\n// call\n{CLOCK}\n```\nDone.",
        f"```python\nx=1\n{CLOCK}",
        f"```\nx=1\n{CLOCK}",
        f"I use ``` fences: {CLOCK}",
        f"I use ``` fences:\n{CLOCK}\nand ```` too",
        f"```bash\nls\n```\n{CLOCK}",
        f"- run\n  ```bash\n  ls\n  ```\n{CLOCK}",
        f"Not ```ls```, not ```{{}}``` but {CLOCK}",
    ],
)
def test_a_call_beside_or_behind_fences_of_every_kind_is_found(reply: str) -> None:
    assert outcome(json_codec(), reply) == [("clock", {})]


@pytest.mark.parametrize(
    "reply",
    [
        f"```bash\ncurl -d '{CLOCK}'\n```",
        f"So:\n~~~~ text\n```\n{CLOCK}\n```\n~~~~\nis the form",
        f"Type ```say it: {CLOCK}``` for it",
    ],
)
def test_a_call_inside_a_fence_of_another_kind_is_an_example(reply: str) -> None:
    assert outcome(json_codec(), reply) == reply


@pytest.mark.parametrize(
    "cut",
    [
        '{"name":"say","argum',
        '{"name":"say","',
        '{"name":"say",',
        '{"name":"wea',
        '{"type":"tool_ca',
        '{"type":"function","name":"say","para',
        '{"id":"c1","name":"s',
        '[{"name":"say","argum',
    ],
)
@pytest.mark.parametrize("before", ["Sure! ", "Ok\n```json\n", f"```json\n{CALL}\n```\n```json\n"])
def test_a_call_that_ends_in_its_middle_is_neither_shown_nor_left_out(
    before: str, cut: str
) -> None:
    assert outcome(json_codec(), before + cut) == "NIT601"
    assert outcome(json_codec(), before + cut, finish_reason="length") == "NIT602"


def test_nothing_behind_a_call_is_left_out_without_a_word() -> None:
    decoded = decode(json_codec(), f'```json\n{CALL}\n```\n```json\n{{"na')
    assert [call.name for call in decoded.calls] == ["echo"]
    assert decoded.warnings == ("what followed the calls was cut off, and left out",)
    assert decode(json_codec(), f'```json\n{CALL}\n```\n```json\n{{"a": 1}}\n```').warnings == ()


def test_the_arguments_of_a_call_stand_under_the_key_that_holds_some() -> None:
    reply = '{"calls":[{"name":"echo","arguments":{},"input":{"v":1}}]}'
    assert outcome(json_codec(), reply) == [ECHO]


@pytest.mark.parametrize(
    "reply", ['Sure: {"name":"Ann","age', 'Sure: {"type":"object"', 'Sure: {"name":"Ann"} and {']
)
def test_data_that_ends_in_its_middle_is_the_answer(reply: str) -> None:
    assert outcome(json_codec(), reply) == reply


def test_a_message_in_a_wrapping_may_be_the_answer() -> None:
    assert outcome(json_codec(), '{"response":{"type":"final","text":"4"}}') == "4"
    assert outcome(json_codec(), '[{"type":"final","text":"4"}]') == "4"


def test_case_b13_good_data_is_not_damaged_and_prose_and_foreign_fences_are_tolerated(
    shared: Path,
) -> None:
    lines = (shared / "cases" / "bugs.jsonl").read_text(encoding="utf-8").split("\n")
    case = next(item for item in map(json.loads, filter(None, lines)) if item["id"] == "B13")
    got = []
    for reply in case["input"]["replies"]:
        decoded = decode(json_codec(), reply)
        calls = [{"name": call.name, "arguments": call.arguments} for call in decoded.calls]
        got.append({"calls": calls} if calls else {"final": decoded.text})
    assert got == case["right"]["cases"]


def test_an_error_has_code_place_and_hint_and_quotes_nothing_of_the_reply() -> None:
    from nit_kernel.errors import CodecError

    reply = 'Well:\n{"type":"tool_calls","calls":[{"name":"secret_tool" "arguments":{}}]}'
    with pytest.raises(CodecError) as caught:
        decode(json_codec(), reply)
    error = caught.value
    assert (error.code, error.span.line, error.span.column) == ("NIT601", 2, 53)
    assert str(error) == (
        "NIT601: the reply is not readable as JSON: expecting ',' delimiter "
        "(line 2, column 53 of the reply)\n"
        '  hint: write the whole reply again in that form; inside strings write \\n and \\"'
    )


@pytest.mark.parametrize(
    ("reply", "right"),
    [
        ('{"type":"tool_calls","calls":[{"name":"ec', "NIT602"),
        (CALL, "NIT602"),
        ('{"type":"final","text":"the answ', "NIT602"),
        ("Plain words that were", "Plain words that were"),
    ],
)
def test_a_reply_that_the_token_limit_cut_off_runs_nothing(reply: str, right: Any) -> None:
    assert outcome(json_codec(), reply, finish_reason="length") == right


def test_native_calls_beside_the_text_are_accepted() -> None:
    entry = call_entry("call_1", "echo", '{"v": 1}')
    message = {"role": "assistant", "content": None, "tool_calls": [entry]}
    assert outcome(json_codec(), message) == [ECHO]


def test_a_call_in_the_text_that_came_as_an_entry_too_runs_once() -> None:
    entry = call_entry("call_1", "echo", '{"v": 1}')
    message = {"role": "assistant", "content": f"{CALL} {OTHER}", "tool_calls": [entry]}
    assert outcome(json_codec(), message) == [ECHO, ("echo", {"v": 2})]


@pytest.mark.parametrize(
    ("choice", "reply", "right"),
    [
        ("required", "hello", "NIT612"),
        ("required", CALL, [ECHO]),
        ("none", CALL, [("echo", "NIT612")]),
        ({"type": "function", "function": {"name": "clock"}}, CALL, [("echo", "NIT612")]),
        ({"type": "function", "function": {"name": "echo"}}, CALL, [ECHO]),
        ({"type": "function", "function": {"name": "clock"}}, "hello", "NIT612"),
    ],
)
def test_the_tool_choice_of_the_request_is_honoured(choice: Any, reply: str, right: Any) -> None:
    assert outcome(json_codec(), reply, tool_choice=choice) == right


def test_the_tool_choice_stands_in_the_prompt() -> None:
    request = Request(model="m", messages=(user("hi"),), tool_choice="required")
    encoded = json_codec().encode(request, TOOLS)
    assert [message["content"] for message in encoded.messages[1:]] == [
        "You must call at least one tool now.",
        "hi",
    ]
    assert encoded.tools == ()


def test_a_demanded_call_is_met_by_the_first_one_of_the_turn() -> None:
    first = Request(model="m", messages=(user("hi"),), extra={"tool_choice": "required", "n": 1})
    called = assistant("", calls=[call_entry("c1", "echo", "{}")])
    later = first.with_messages((user("hi"), called, tool_result("c1", "x")))
    encoded = [encode_request(json_codec(), request, TOOLS) for request in (first, later)]
    assert [(e.tool_choice, e.extra) for e in encoded] == [
        ("required", {"n": 1}),
        ("auto", {"n": 1}),
    ]


def test_a_warning_tells_the_model_what_was_mended() -> None:
    reply = '{"type":"tool_calls","calls":[{"name":"Echo","arguments":{"v":1,}}]}'
    assert decode(json_codec(), reply).warnings == (
        "the reply had a trailing comma",
        "`Echo` was read as `echo`",
    )


def test_calls_in_open_reasoning_run_only_where_that_was_asked_for() -> None:
    codec = json_codec(calls_in_open_reasoning=True)
    assert outcome(codec, f"<think>then {CALL}") == [ECHO]


def test_history_of_calls_scripts_and_reports_is_written_as_json_and_text() -> None:
    messages = (
        system("Be kind."),
        user("one"),
        assistant("", calls=[call_entry("c1", "echo", '{"v":1}'), call_entry("c2", "clock", "{}")]),
        tool_result("c2", "noon", name="clock"),
        tool_result("c1", "no such thing", name="echo", is_error=True),
        assistant("So.", parts=[{"type": "script", "script": "clock()"}]),
        report("clock: noon"),
        user("two"),
    )
    codec = json_codec(instructions="Speak Welsh.")
    encoded = codec.encode(Request(model="m", messages=messages), TOOLS[:1])
    first = encoded.messages[0]["content"]
    assert first.startswith("Be kind.\n\nYour whole reply is one JSON object")
    assert "Speak Welsh." in first
    assert first.endswith("Tools:\nadd(a: int, b: int = null)\n    The tool add.")
    assert [(m["role"], m["content"]) for m in encoded.messages[1:]] == [
        ("user", "one"),
        (
            "assistant",
            '{"type": "tool_calls", "calls": [{"name": "echo", "arguments": {"v": 1}}, '
            '{"name": "clock", "arguments": {}}]}',
        ),
        (
            "user",
            '{"type": "tool_results", "results": [{"name": "echo", "output": '
            '"error: no such thing"}, {"name": "clock", "output": "noon"}]}',
        ),
        ("assistant", "So.\n\n(I ran a script.)\n```\nclock()\n```"),
        ("user", "clock: noon\n\ntwo"),
    ]


def test_a_long_result_goes_back_as_head_tail_and_size() -> None:
    messages = (
        user("go"),
        assistant("", calls=[call_entry("c1", "echo", "{}")]),
        tool_result("c1", "a" * 700 + "b" * 99_300),
    )
    encoded = json_codec(result_chars=300).encode(Request(model="m", messages=messages), TOOLS)
    told = json.loads(encoded.messages[-1]["content"])["results"][0]["output"]
    assert told == f"{'a' * 200}\n[.. 99,700 of 100,000 characters left out ..]\n{'b' * 100}"


def test_the_protocol_can_be_sent_as_a_schema() -> None:
    encoded = json_codec(schema=True).encode(Request(model="m", messages=(user("hi"),)), TOOLS[:1])
    schema = encoded.extra["response_format"]["json_schema"]["schema"]
    assert schema["anyOf"][0]["properties"]["calls"]["items"]["properties"]["name"] == {
        "type": "string",
        "enum": ["add"],
    }


def test_ids_are_derived_from_the_content_and_unique_in_the_conversation() -> None:
    first = decode(json_codec(), CALL).calls[0].id
    assert first == decode(json_codec(), f"  {CALL}\n").calls[0].id
    assert decode(json_codec(), CALL, seen_ids={first}).calls[0].id == f"{first}-2"
    again = decode(json_codec(), CALL, seen_ids={first, f"{first}-2"}).calls[0].id
    assert again == f"{first}-3"
