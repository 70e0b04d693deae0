"""Calls as text, in the forms that models were trained on."""

from __future__ import annotations

from time import process_time
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


ALL_TOOLS = (*TOOLS, tool("weather", ["city"], city="string", days="integer"))
CLOCK = ("clock", {})
CLOCK_CALL = '{"name":"clock","arguments":{}}'
PAIR = f"<tool_call>{CLOCK_CALL}</tool_call>"
DS_CLOCK = "<｜tool▁call▁begin｜>clock<｜tool▁sep｜>{}<｜tool▁call▁end｜>"

TRIGGERS = [
    "<|python_tag|>clock.call()",
    "<function=clock></function>",
    "<tool_call>{'name':'clock','arguments':{}}</tool_call>",
    "[TOOL_CALLS]clock[ARGS]{}",
    "<|python_start|>[clock()]<|python_end|>",
    DS_CLOCK,
    "<function=x>",
    "<tool_call>",
    "[TOOL_RESULTS]",
    "<tool_response>",
    "<|im_end|>",
    "</s>",
]

WRITTEN = [
    ("hermes", '{"name":"say","arguments":{"text":"%s"}}'),
    ("hermes", '<tool_call>{"name":"say","arguments":{"text":"%s"}}</tool_call>'),
    ("qwen_xml", '{"name":"say","arguments":{"text":"%s"}}'),
    ("qwen_xml", "<function=say>\n<parameter=text>\n%s\n</parameter>\n</function>"),
    ("llama3_json", '{"name":"say","parameters":{"text":"%s"}}'),
    ("llama3_json", '<|python_tag|>{"name":"say","parameters":{"text":"%s"}}'),
    ("llama3_json", '<|python_tag|>say.call(text="%s")'),
    ("mistral", '[{"name":"say","arguments":{"text":"%s"}}]'),
    ("mistral", '[TOOL_CALLS]say[ARGS]{"text":"%s"}'),
    ("mistral", 'say{"text":"%s"}'),
    ("pythonic", '[say(text="%s")]'),
    ("deepseek", '<｜tool▁call▁begin｜>say<｜tool▁sep｜>{"text":"%s"}<｜tool▁call▁end｜>'),
]


@pytest.mark.parametrize("trigger", TRIGGERS)
@pytest.mark.parametrize(("form", "written"), WRITTEN)
def test_a_trigger_in_an_argument_is_data(form: str, written: str, trigger: str) -> None:
    text = f"a {trigger} b"
    assert outcome(text_codec(form), written % text, tools=ALL_TOOLS) == [("say", {"text": text})]


@pytest.mark.parametrize("trigger", TRIGGERS[:6])
@pytest.mark.parametrize(("form", "written"), [*WRITTEN[:3], *WRITTEN[4:]])
def test_a_trigger_in_an_argument_that_is_cut_off_is_data(
    form: str, written: str, trigger: str
) -> None:
    cut = written[: written.index("%s")] + f"a {trigger} b"
    assert outcome(text_codec(form), cut, tools=ALL_TOOLS) == "NIT601"


@pytest.mark.parametrize(
    ("form", "reply", "right"),
    [
        (
            "hermes",
            '{"name":"say","arguments":{"text":"he said "hi <function=clock></function>"}}',
            [("say", {"text": 'he said "hi <function=clock></function>'})],
        ),
        ("hermes", f'Form: {{"name": <function-name>, "arguments": <args>}} {PAIR}', [CLOCK]),
        ("hermes", f'see {{"a": 1 {PAIR}', [CLOCK]),
        ("pythonic", '{"a": "[clock()]"}', '{"a": "[clock()]"}'),
        ("deepseek", f'{{"a": "{DS_CLOCK}"}}', f'{{"a": "{DS_CLOCK}"}}'),
        (
            "qwen_xml",
            "<function=say>\n<parameter=text>\na</function>\n<function=clock>\n</function>\n"
            "</parameter>\n</function>",
            [("say", {"text": "a</function>\n<function=clock>\n</function>"})],
        ),
        (
            "qwen_xml",
            "<tool_call>\n<function=say>\n<parameter=text>\na\n</function>\n</tool_call>\n"
            "<tool_call>\n<function=write>\n<parameter=text>\nb\n</parameter>\n</function>\n"
            "</tool_call>",
            "NIT601",
        ),
        (
            "qwen_xml",
            "<function=say>\n<parameter=text>\n<function=x>\n<parameter=y>\n1\n</parameter>\n"
            "</function>\n</parameter>\n</function>",
            "NIT601",
        ),
        (
            "qwen_xml",
            "<function=say>\n<parameter=text>\nuse <parameter=n> here\n</parameter>\n</function>",
            "NIT601",
        ),
        (
            "qwen_xml",
            "<function=say>\n<parameter=text>\na\n<parameter=text>\nb\n</parameter>\n</function>",
            "NIT601",
        ),
        (
            "qwen_xml",
            "<function=say>\n<parameter=text>\na\n<parameter=n>\n[1]\n</parameter>\n</function>",
            [("say", {"text": "a", "n": [1]})],
        ),
        (
            "qwen_xml",
            "<function=say>\n<parameter=text>\na\n</function>\n<function=clock>\n</function>",
            [("say", {"text": "a"}), CLOCK],
        ),
        ("qwen_xml", "<function=say>\n<parameter=text>\na<function=clock>\n</function>", "NIT601"),
        ("qwen_xml", "<function=say>\n<parameter=text>\na</function> b", "NIT601"),
        (
            "qwen_xml",
            f"<function=say>\n<parameter=text>\na</parameter></function>{PAIR}\n</parameter>\n"
            "</function>",
            "NIT601",
        ),
        (
            "hermes",
            f'<tool_call>{CLOCK_CALL},{{"name":"add","arguments":{{"a":1}}}}</tool_call>',
            [CLOCK, ADD],
        ),
        ("hermes", f"{PAIR}\n<tool_call>", "NIT601"),
        ("hermes", f"{PAIR}\n<tool_call>clock()", "NIT601"),
        ("mistral", f"[TOOL_CALLS][{CLOCK_CALL}][TOOL_CALLS]{LIST}", [CLOCK, ADD]),
        ("mistral", f"[TOOL_CALLS]clock[ARGS]{{}}[TOOL_CALLS]{LIST}", [CLOCK, ADD]),
        ("mistral", '[TOOL_CALLS]add[ARGS]{"a":1}[TOOL_CALLS]cl', "NIT601"),
        (
            "llama3_json",
            '<|python_tag|>clock.call(); say.call(text="x")',
            [CLOCK, ("say", {"text": "x"})],
        ),
        (
            "llama3_json",
            '{"name":"clock","parameters":{}};<|python_tag|>add.call(a=1);'
            '{"name":"add","parameters":{"a":2}}',
            [CLOCK, ADD, ADD_2],
        ),
        ("llama3_json", "<|python_tag|>clock.call(); say.ca", "NIT601"),
        ("llama3_json", '{"name":"clock","parameters":{}}; {"name":"cl', "NIT601"),
        ("deepseek", "<｜tool▁calls▁begin｜>clock<｜tool▁sep｜>{}<｜tool▁call▁end｜>", [CLOCK]),
        ("deepseek", V3.replace("```json\n", "").replace("\n```", ""), [ADD]),
        ("deepseek", f"{DS_CLOCK}<｜tool▁call▁begin｜>cl", [CLOCK]),
        ("deepseek", f'{DS_CLOCK}<｜tool▁call▁begin｜>say<｜tool▁sep｜>{{"text": "a', [CLOCK]),
        (
            "deepseek",
            f"{DS_CLOCK}<｜tool▁call▁begin｜>say<｜tool▁sep｜>{{bad}}<｜tool▁call▁end｜>{DS_CLOCK}",
            "NIT601",
        ),
        ("mistral", "clock[ARGS]{}", [CLOCK]),
        ("mistral", "Look.\nclock[ARGS]{}", [CLOCK]),
        (
            "mistral",
            'weather{"city":"Oslo"}weather{"city":"Rome"}',
            [("weather", {"city": "Oslo"}), ("weather", {"city": "Rome"})],
        ),
        ("mistral", 'weather{"city":"Os', "NIT601"),
        ("mistral", 'foo{"city":"Oslo"}', 'foo{"city":"Oslo"}'),
        ("mistral", 'A name[ARGS]{"a":1}', 'A name[ARGS]{"a":1}'),
        ("pythonic", "[say(n=[1e999])]", "NIT601"),
        ("pythonic", "[say(n=[-1e999])]", "NIT601"),
        ("pythonic", r'[say(text="\ud83d\ude00")]', [("say", {"text": "\U0001f600"})]),
    ],
)
def test_a_call_is_read_whole_or_is_a_fault(form: str, reply: str, right: Any) -> None:
    assert outcome(text_codec(form), reply, tools=ALL_TOOLS) == right


@pytest.mark.parametrize("finish_reason", ["stop", "length"])
@pytest.mark.parametrize(
    ("form", "reply"),
    [
        ("llama3_json", "<|python_tag|>clock.call("),
        ("llama3_json", '<|python_tag|>{"name":"clo'),
        ("llama3_json", "<|python_tag|>weather.call(city=x)"),
        ("llama3_json", "<|python_tag|>print(1)"),
        ("llama3_json", "Sure. <|python_tag|>print(1)"),
        ("llama3_json", "<|python_tag|>"),
        ("pythonic", '<|python_start|>[say(text="a'),
        ("pythonic", "<|python_start|>clock()<|python_end|>"),
        ("pythonic", "<|tool_call_start|>"),
        ("pythonic", "clock()"),
        ("pythonic", "clock()<|python_end|>"),
        ("pythonic", 'clock()\nsay(text="x")'),
        ("pythonic", 'weather("Oslo")'),
        ("pythonic", 'say(text="a'),
        ("pythonic", 'Let me see.\n[weather(city="Os'),
        ("pythonic", "Let me see.\n[weather(city=Oslo)]"),
        ("pythonic", '[clock()] [say(text="a'),
        ("hermes", "<tool_call>clock()</tool_call>"),
        ("hermes", "Sure. <tool_call> clock() </tool_call>"),
        ("hermes", "<tool_call> clock"),
        ("hermes", "<tool_call></tool_call>"),
        ("deepseek", "<｜tool▁calls▁begin｜>"),
        ("deepseek", "Look.<｜tool▁calls▁begin｜>"),
        ("deepseek", "<｜tool▁calls▁begin｜><｜tool▁calls▁end｜>"),
        ("deepseek", "clock<｜tool▁sep｜>{}<｜tool▁call▁end｜>"),
        ("mistral", "[TOOL_CALLS]clock"),
        ("mistral", "Sure.[TOOL_CALLS]clo"),
    ],
)
def test_a_broken_call_is_not_the_answer(form: str, reply: str, finish_reason: str) -> None:
    code = "NIT602" if finish_reason == "length" else "NIT601"
    assert outcome(text_codec(form), reply, finish_reason=finish_reason, tools=ALL_TOOLS) == code


@pytest.mark.parametrize(
    ("form", "reply"),
    [
        ("llama3_json", "Write <function=name> here."),
        ("qwen_xml", "Write <function=name> here."),
        ("hermes", "Write `<tool_call>` and `</tool_call>` around it."),
        ("hermes", "A <tool_response> holds a result."),
        ("hermes", "The <|im_end|> token ends a turn."),
        ("hermes", "用 <tool_call> 标签"),
        ("llama3_json", "The <|python_tag|> token is one of Llama's."),
        ("mistral", "The [TOOL_CALLS] token begins calls."),
        ("mistral", "Put `[TOOL_CALLS]` first."),
        ("mistral", "It was <s>10</s>"),
        ("mistral", "say{so} is odd"),
        ("deepseek", "Use `<｜tool▁call▁begin｜>`, `<｜tool▁sep｜>`, `<｜tool▁call▁end｜>`."),
        ("hermes", "The JSON stands between <tool_call> and </tool_call>."),
        ("pythonic", "clock() returns the time."),
        ("pythonic", 'print("hi")'),
        ("pythonic", "Use `[weather(city=...)]` for that."),
    ],
)
def test_prose_may_speak_of_the_markers(form: str, reply: str) -> None:
    assert outcome(text_codec(form), reply, tools=ALL_TOOLS) == reply


@pytest.mark.parametrize(
    ("form", "reply", "text"),
    [
        ("hermes", f"Look.{PAIR}\n<tool_response>\n12\n</tool_response>\nIt is 12.{PAIR}", "Look."),
        ("hermes", f"{CLOCK_CALL}\n<tool_response>\n12\n</tool_response>\nIt is 12.", ""),
        ("hermes", f"{PAIR}<|im_end|>\n<|im_start|>user\nThanks", ""),
        ("hermes", f"Look.<|im_end|>\n<|im_start|>assistant\n{PAIR}", "Look."),
        ("mistral", "[TOOL_CALLS]clock[ARGS]{}[TOOL_RESULTS]12[/TOOL_RESULTS]It is 12.", ""),
        ("mistral", "clock[ARGS]{}[TOOL_RESULTS]12[/TOOL_RESULTS]It is 12.", ""),
        ("deepseek", f"{DS_CLOCK}<｜tool▁output▁begin｜>12<｜tool▁output▁end｜>It is 12.", ""),
        ("llama3_json", '{"name":"clock","parameters":{}}\nResult of clock:\n12\nIt is 12.', ""),
        (
            "llama3_json",
            '<|start_header_id|>assistant<|end_header_id|>\n\n{"name":"clock","parameters":{}}'
            "<|eot_id|><|start_header_id|>ipython<|end_header_id|>\n\n12",
            "",
        ),
        ("llama3_json", '```json\n{"name":"clock","parameters":{}}\n```', ""),
        ("pythonic", "[clock()]\nResult of clock:\n12", ""),
    ],
)
def test_what_a_model_made_up_beside_its_call_is_left_out(form: str, reply: str, text: str) -> None:
    decoded = decode(text_codec(form), reply)
    assert ([call.name for call in decoded.calls], decoded.text) == (["clock"], text)


@pytest.mark.parametrize(
    ("form", "reply", "text"),
    [
        ("hermes", "Hello.<|im_end|>\n<|im_start|>user\nThanks", "Hello."),
        ("hermes", "<|im_start|>assistant\nHello.", "Hello."),
        ("mistral", "Hello.</s>", "Hello."),
        ("deepseek", "Hello.<｜tool▁calls▁begin｜><｜tool▁calls▁end｜>", "Hello."),
        ("deepseek", "Hello.<｜tool▁calls▁end｜><｜end▁of▁sentence｜>", "Hello."),
        ("deepseek", "Hello.<｜tool▁output▁begin｜>12<｜tool▁output▁end｜>", "Hello."),
    ],
)
def test_no_marker_is_shown_in_an_answer(form: str, reply: str, text: str) -> None:
    assert decode(text_codec(form), reply).text == text


def test_a_call_that_is_left_out_as_cut_off_is_told() -> None:
    reply = f"{DS_CLOCK}<｜tool▁call▁begin｜>cl"
    decoded = decode(text_codec("deepseek"), reply)
    assert (decoded.text, decoded.warnings) == (
        "",
        ("the last call was not complete and was not run",),
    )
    assert outcome(text_codec("deepseek"), reply, finish_reason="length") == "NIT602"


def test_a_call_that_the_server_sent_as_an_entry_too_is_run_once() -> None:
    entries = [call_entry("c1", "clock", "{}")]
    said = assistant(f"{PAIR}{TAGGED}", calls=entries)
    assert outcome(text_codec("hermes"), dict(said)) == [CLOCK, ADD]


def test_many_brackets_before_a_marker_take_bounded_time() -> None:
    started = process_time()
    outcome(text_codec("hermes"), '{"a":' * 5_000 + "[" * 5_000 + PAIR)
    assert process_time() - started < 20


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
