"""Reasoning and its tags: a tag inside the arguments of a call is data, in every form of calls."""

from __future__ import annotations

from typing import Any

import pytest
from codec_samples import decode, outcome

from nit_kernel.errors import CodecError
from nit_kernel.model.codecs.choice import text_codec
from nit_kernel.model.codecs.json import json_codec
from nit_kernel.model.codecs.react import react_codec

FORMS: dict[str, tuple[Any, str]] = {
    "json with a trailing comma": (
        json_codec,
        '{"type":"tool_calls","calls":[{"name":"write","arguments":{"text":"%s",}}]}',
    ),
    "json with single quotes": (
        json_codec,
        "{'type':'tool_calls','calls':[{'name':'write','arguments':{'text':'%s'}}]}",
    ),
    "json in prose": (
        json_codec,
        'Well [1] (so): {"name":"write","arguments":{"text":"%s",}}',
    ),
    "react": (react_codec, 'Action: write\nAction Input: {"text":"%s",}'),
    "react as a call": (react_codec, "Action: write(text='%s')"),
    "pythonic": (lambda: text_codec("pythonic"), '[write(text="%s")]'),
    "qwen_xml": (
        lambda: text_codec("qwen_xml"),
        "<tool_call>\n<function=write>\n<parameter=text>%s</parameter>\n</function>\n</tool_call>",
    ),
    "qwen_xml without the end of the parameter": (
        lambda: text_codec("qwen_xml"),
        "<tool_call>\n<function=write>\n<parameter=text>%s\n</function>\n</tool_call>",
    ),
    "hermes": (
        lambda: text_codec("hermes"),
        '<tool_call>\n{"name":"write","arguments":{"text":"%s",}}\n</tool_call>',
    ),
    "llama_builtin": (
        lambda: text_codec("llama_builtin"),
        '<|python_tag|>write.call(text="%s")<|eom_id|>',
    ),
}
DATA = ["a<think>x</think>b", "<think>x", "a</think>b", "a [THINK]x[/THINK]", "a[/THINK] b"]


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("form", FORMS)
def test_a_reasoning_tag_inside_an_argument_is_data(form: str, data: str) -> None:
    codec, reply = FORMS[form]
    assert outcome(codec(), reply % data) == [("write", {"text": data})]


@pytest.mark.parametrize("form", FORMS)
def test_reasoning_before_a_call_is_no_data_of_it(form: str) -> None:
    codec, reply = FORMS[form]
    thought = f'I could say {{"a": ["b", (c "d or {reply % "draft"} and so'
    for before in (f"<think>{thought}</think>\n", f"{thought}</think>\n"):
        assert outcome(codec(), before + reply % "x") == [("write", {"text": "x"})]


@pytest.mark.parametrize("data", ["a\n<think>x</think>b", "a\n</think>b"])
@pytest.mark.parametrize("form", ["json in prose", "react"])
def test_a_tag_behind_a_line_break_of_an_argument_is_data(form: str, data: str) -> None:
    codec, reply = FORMS[form]
    assert outcome(codec(), (reply % data).replace(",}", "}")) == [("write", {"text": data})]


@pytest.mark.parametrize(
    ("form", "data", "right"),
    [
        ("react", 'say "hi" <think>x</think>', "NIT607"),
        ("pythonic", "a<think>\n</think>b", "NIT601"),
        ("react as a call", "a<think>\n</think>b", "NIT607"),
    ],
)
def test_arguments_that_cannot_be_read_are_not_made_readable_by_cutting_a_tag_out(
    form: str, data: str, right: str
) -> None:
    codec, reply = FORMS[form]
    assert outcome(codec(), reply % data) == right


@pytest.mark.parametrize("form", [form for form in FORMS if form != "llama_builtin"])
def test_a_call_that_was_cut_off_behind_a_tag_in_it_is_no_answer(form: str) -> None:
    codec, reply = FORMS[form]
    cut = reply.partition("%s")[0] + "a</think> b"
    with pytest.raises(CodecError) as caught:
        decode(codec(), cut, finish_reason="length")
    assert caught.value.code == "NIT602"


@pytest.mark.parametrize(
    ("codec", "reply"),
    [
        (react_codec, "<think>hm\nFinal Answer: 4"),
        (react_codec, "Sure. <think>hm\nFinal Answer: 4"),
        (react_codec, "<think>hm"),
        (json_codec, '<think>hm\n{"type":"final","text":"4"}'),
        (json_codec, 'Sure. <think>hm\n{"type":"final","text":"4"}'),
        (json_codec, "<think>hm, it is 4."),
    ],
)
def test_an_answer_in_reasoning_that_never_ends_is_asked_for_again(codec: Any, reply: str) -> None:
    assert outcome(codec(), reply) == "NIT609"
    assert outcome(codec(), reply, finish_reason="length") == "NIT602"


@pytest.mark.parametrize("codec", [react_codec, json_codec])
def test_an_answer_before_reasoning_that_never_ends_stands(codec: Any) -> None:
    assert outcome(codec(), "It is 4. <think>or is it") == "It is 4. "
