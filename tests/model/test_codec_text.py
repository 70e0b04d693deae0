"""Calls as text, in the forms that models were trained on."""

from __future__ import annotations

from typing import Any

import pytest
from codec_samples import TOOLS, decode, outcome, tool

from nit_kernel.errors import CodecError
from nit_kernel.model.codecs.text_calls import TEXT_FORMATS, text_codec
from nit_kernel.model.messages import Request, assistant, call_entry, tool_result, user

ADD = ("add", {"a": 1})
ADD_2 = ("add", {"a": 2})
TAGGED = '<tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call>'
LIST = '[{"name": "add", "arguments": {"a": 1}, "id": "abcdefghi"}]'
V3 = '<｜tool▁call▁begin｜>function<｜tool▁sep｜>add\n```json\n{"a": 1}\n```<｜tool▁call▁end｜>'
V31 = '<｜tool▁call▁begin｜>add<｜tool▁sep｜>{"a": 1}<｜tool▁call▁end｜>'


@pytest.mark.parametrize(
    ("form", "reply", "right"),
    [
        pytest.param("hermes", TAGGED, [ADD], id="hermes"),
        pytest.param(
            "hermes",
            "Sure.\n<tool_call>{'name': 'add', 'arguments': {'a': 1}}</tool_call>"
            '<tool_call>\n{"arguments": {"a": 2}, "name": "add"}\n</tool_call>',
            [ADD, ADD_2],
            id="hermes: single quotes, arguments first, without line breaks",
        ),
        pytest.param(
            "hermes",
            '<tool_call>\n{"name":"say","arguments":{"text":"</tool_call>"}}\n</tool_call>',
            [("say", {"text": "</tool_call>"})],
            id="hermes: the closing tag in a string",
        ),
        pytest.param("hermes", '<tool_call>\n{"name": "add", "arg', "NIT601", id="hermes: broken"),
        pytest.param("hermes", f"<think>{TAGGED}</think>{TAGGED}", [ADD], id="W35 a draft"),
        pytest.param("hermes", f"<think>{TAGGED}", "NIT609", id="W37 reasoning never closed"),
        pytest.param(
            "hermes", "A <tool_call> is a tag.", "A <tool_call> is a tag.", id="hermes: a mention"
        ),
        pytest.param(
            "hermes", '{"name":"add","arguments":{"a":1}}', [ADD], id="hermes: tags stripped"
        ),
        pytest.param(
            "qwen_xml",
            "<tool_call>\n<function=add>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>",
            [ADD],
            id="qwen_xml: typed by the schema",
        ),
        pytest.param(
            "qwen_xml",
            "<tool_call>\n<function=say>\n<parameter=text>\n 1\nb \n<parameter=n>\n[1]\n"
            "</function>\n</tool_call>",
            [("say", {"text": " 1\nb ", "n": [1]})],
            id="W33 a parameter that is not closed",
        ),
        pytest.param(
            "qwen_xml", "<function=add>\n<parameter=a>\n1", "NIT601", id="qwen_xml: broken"
        ),
        pytest.param(
            "llama3_json", '{"name": "add", "parameters": {"a": 1}}', [ADD], id="llama3_json"
        ),
        pytest.param(
            "llama3_json",
            '<|python_tag|>{"type":"function","name":"add","parameters":{"a":1}}<|eom_id|>',
            [ADD],
            id="llama3_json: after the tag",
        ),
        pytest.param(
            "llama3_json",
            '{"name":"add","parameters":{"a":1}}; {"name":"add","parameters":{"a":2}}',
            [ADD, ADD_2],
            id="llama3_json: several",
        ),
        pytest.param(
            "llama3_json",
            '<|python_tag|>search.call(q="x")<|eom_id|>',
            [("search", {"q": "x"})],
            id="llama3_json: a built-in tool",
        ),
        pytest.param("llama3_json", '<function=add>{"a":1}</function>', [ADD], id="function tag"),
        pytest.param(
            "llama3_json", '{"name": "add", "parameters": {"a": ', "NIT601", id="llama3_json: cut"
        ),
        pytest.param(
            "pythonic", "[add(a=1), clock()]", [ADD, ("clock", {})], id="pythonic: several"
        ),
        pytest.param(
            "pythonic",
            '<|python_start|>[say(text="it\'s", n=[1, true, None])]<|python_end|>',
            [("say", {"text": "it's", "n": [1, True, None]})],
            id="pythonic: in its tags, with constants of JSON and Python",
        ),
        pytest.param("pythonic", "[add(a=1", "NIT601", id="pythonic: broken"),
        pytest.param("pythonic", "[add(a=os.getenv())]", "NIT601", id="pythonic: no literal"),
        pytest.param("pythonic", "see [foo(a=1)]", "see [foo(a=1)]", id="pythonic: in prose"),
        pytest.param("mistral", f"[TOOL_CALLS]{LIST}", [ADD], id="W41 a list"),
        pytest.param("mistral", LIST, [ADD], id="W41 a list without its marker"),
        pytest.param("mistral", '[TOOL_CALLS]add[ARGS]{"a": 1}', [ADD], id="W41 name and ARGS"),
        pytest.param("mistral", '[TOOL_CALLS]add{"a": 1}', [ADD], id="W41 a name without ARGS"),
        pytest.param(
            "mistral",
            '[TOOL_CALLS]add[CALL_ID]abc123def[ARGS]{"a": 1}[TOOL_CALLS]add[ARGS]{"a": 2}',
            [ADD, ADD_2],
            id="W41 several",
        ),
        pytest.param("mistral", '[TOOL_CALLS]add[ARGS]{"a":', "NIT601", id="mistral: broken"),
        pytest.param(
            "mistral", '[THINK]so[/THINK][TOOL_CALLS]add[ARGS]{"a": 1}', [ADD], id="reasoning"
        ),
        pytest.param(
            "deepseek_v3",
            f"<｜tool▁calls▁begin｜>{V3}<｜tool▁calls▁end｜>",
            [ADD],
            id="W39 the fenced body",
        ),
        pytest.param(
            "deepseek_v31",
            f"<｜tool▁calls▁begin｜>{V31}{V3}<｜tool▁calls▁end｜>",
            [ADD, ADD],
            id="W39 both bodies",
        ),
        pytest.param(
            "deepseek",
            f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>{V31.removesuffix('<｜tool▁call▁end｜>')}",
            [ADD],
            id="W39 doubled and missing markers",
        ),
        pytest.param(
            "deepseek", '<｜tool▁call▁begin｜>add<｜tool▁sep｜>{"a":', "NIT601", id="deepseek: cut"
        ),
    ],
)
def test_a_form_is_read_as_models_write_it(form: str, reply: str, right: Any) -> None:
    assert outcome(text_codec(form), reply) == right


@pytest.mark.parametrize(
    ("form", "reply", "text"),
    [
        ("hermes", f"Sure.\n{TAGGED}\nBye.", "Sure.\n\nBye."),
        ("mistral", '[TOOL_CALLS]add[ARGS]{"a": 1} That is it.', "That is it."),
        ("deepseek", f"Look: <｜tool▁calls▁begin｜>{V3}<｜tool▁calls▁end｜>", "Look:"),
        ("pythonic", "<|python_start|>[add(a=1)]<|python_end|>", ""),
        ("llama3_json", '<|python_tag|>{"name":"add","parameters":{"a":1}}<|eom_id|>', ""),
    ],
)
def test_no_marker_is_shown(form: str, reply: str, text: str) -> None:
    assert decode(text_codec(form), reply).text == text


def test_an_argument_may_be_called_like_a_word_of_python() -> None:
    tools = [tool("send", **{"from": "string", "class": "integer"})]
    reply = '[send(from="a", class=3, text="x, in=1")]'
    assert outcome(text_codec("pythonic"), reply, tools=tools) == [
        ("send", {"from": "a", "class": 3, "text": "x, in=1"})
    ]


@pytest.mark.parametrize("form", sorted(TEXT_FORMATS))
def test_a_reply_that_was_cut_off_runs_nothing(form: str) -> None:
    messages = (user("go"), assistant("", calls=[call_entry("c1", "add", '{"a": 1}')]))
    codec = text_codec(form)
    written = codec.encode(Request(model="m", messages=messages), TOOLS).messages[2]["content"]
    assert outcome(codec, written) == [ADD]
    assert outcome(codec, written, finish_reason="length") == "NIT602"


def test_results_go_back_as_the_model_expects_them() -> None:
    messages = (
        user("go"),
        assistant("Look.", calls=[call_entry("c1", "add", '{"a": 1}')]),
        tool_result("c1", "2"),
    )

    def told(form: str) -> list[str]:
        encoded = text_codec(form).encode(Request(model="m", messages=messages), TOOLS)
        return [message["content"] for message in encoded.messages[2:]]

    assert told("hermes") == [f"Look.\n{TAGGED}", "<tool_response>\n2\n</tool_response>"]
    assert told("pythonic") == ["Look.\n[add(a=1)]", "Result of add:\n2"]
    assert told("mistral") == [
        'Look.\n[TOOL_CALLS][{"name": "add", "arguments": {"a": 1}}]',
        '[TOOL_RESULTS]{"content": "2", "call_id": "c1"}[/TOOL_RESULTS]',
    ]


def test_the_prompt_holds_the_schemas_of_the_tools() -> None:
    encoded = text_codec("hermes").encode(Request(model="m", messages=(user("x"),)), TOOLS[3:4])
    assert (
        '<tools>\n{"type": "function", "function": {"name": "clock", "description": '
        '"The tool clock.", "parameters": {"type": "object", "properties": {}, "required": []}}}\n'
        "</tools>"
    ) in encoded.messages[0]["content"]


def test_an_unknown_form_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(CodecError) as caught:
        text_codec("hermez")
    assert (caught.value.code, caught.value.message, caught.value.hint) == (
        "NIT613",
        "there is no codec `hermez`",
        "did you mean `hermes`? known are `deepseek`, `hermes`, `llama3_json`, `mistral`, "
        "`pythonic`, `qwen_xml`",
    )
