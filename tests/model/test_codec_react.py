"""The react codec: traces as small models write them."""

from __future__ import annotations

from typing import Any

import pytest
from codec_samples import TOOLS, decode, outcome

from nit_kernel.model.codecs.react import react_codec
from nit_kernel.model.messages import Request, assistant, call_entry, tool_result, user

ADD = ("add", {"a": 1})
TRACE = 'Action: add\nAction Input: {"a":1}'


@pytest.mark.parametrize(
    ("reply", "right"),
    [
        pytest.param(f"{TRACE}\nObservation: 1\nThought: so", [ADD], id="D10 W1 an observation"),
        pytest.param(f"{TRACE}\nObservation: 1\nFinal Answer: 1", [ADD], id="D11 and an answer"),
        pytest.param(
            'Action: say\nAction Input: {"text":"x\nFinal Answer: y"}',
            [("say", {"text": "x\nFinal Answer: y"})],
            id="D12 a label inside the input",
        ),
        pytest.param('**Action:** add\n**Action Input:** {"a":1}', [ADD], id="D13 W9 bold labels"),
        pytest.param(
            'Thought: x\n   Action: add\n   Action Input: {"a":1}', [ADD], id="D13 W9 indented"
        ),
        pytest.param('1. Action: add\n2. Action Input: {"a":1}', [ADD], id="numbered labels"),
        pytest.param(
            'Action: `add`\nAction Input: `{"a":1}`',
            [ADD],
            id="D14 W9 in back-ticks",
        ),
        pytest.param('Action: "add"\nAction Input: {"a":1}', [ADD], id="D14 name in quotes"),
        pytest.param('Action: add({"a":1})', [ADD], id="D14 a call with an object"),
        pytest.param("Action: add(a=1)", [ADD], id="D14 a call with arguments"),
        pytest.param("Action: clock()", [("clock", {})], id="D14 a call without arguments"),
        pytest.param("It is 4.\nAction: None", "It is 4.", id="D14 W7 no action, prose"),
        pytest.param(
            "Thought: easy\nAction: N/A (answer directly)\nIt is 4.",
            "It is 4.",
            id="W7 no action, prose after it",
        ),
        pytest.param("Thought: easy\nAction: None", "NIT608", id="W7 no action and no prose"),
        pytest.param("Action: None\nFinal Answer: 4", "4", id="W7 no action, an answer"),
        pytest.param("Action: Final Answer\nAction Input: 42", "42", id="D14 the answer as action"),
        pytest.param("Action: Final Answer: 42", "42", id="D14 the answer as action on one line"),
        pytest.param(
            f'{TRACE}\nAction: add\nAction Input: {{"a":2}}', [ADD], id="W3 several actions"
        ),
        pytest.param(
            'Thought: x\n\nAction: add\n\nAction Input:\n\n{\n "a": 1,\n "b": {"c": [1]}\n}\n',
            [("add", {"a": 1, "b": {"c": [1]}})],
            id="W11 blank lines and nested braces",
        ),
        pytest.param(
            f"To use it:\n```\n{TRACE}\n```\nThat is all.",
            f"To use it:\n```\n{TRACE}\n```\nThat is all.",
            id="W13 labels in a fenced example",
        ),
        pytest.param(f"```\n{TRACE}\n```", [ADD], id="W13 the whole reply is one fence"),
        pytest.param(f"```\n{TRACE}", [ADD], id="W13 a fence that never ends"),
        pytest.param(
            '```\nAction: add\nAction Input:\n```json\n{"a":1}\n```\n```',
            [ADD],
            id="W13 a fence around the input in the fence around the reply",
        ),
        pytest.param(
            f"```\n{TRACE}\n```\nObservation: 1\nThought: so",
            [ADD],
            id="W13 W1 an observation after the fence",
        ),
        *(
            pytest.param(text, text, id=f"W13 a fenced example {where}")
            for where, text in {
                "first, then prose": f"```\n{TRACE}\n```\nThat is the form.",
                "first, then another": f"```\n{TRACE}\n```\nor\n```\nx\n```",
                "in tildes, then prose": f"~~~~text\n{TRACE}\n~~~~\n\nThat is the form.",
            }.items()
        ),
        pytest.param("Thought: I should think", "NIT608", id="W15 a thought is no answer"),
        pytest.param(
            'Action: say\nAction Input: {"text":"a ```json fence```"}',
            [("say", {"text": "a ```json fence```"})],
            id="W17 a fence in the input",
        ),
        pytest.param(
            'Action: add\nAction Input:\n```json\n{"a":1}\n```\nObservation: 1',
            [ADD],
            id="the input in a fence",
        ),
        pytest.param(
            'Action: run\nAction Input: {"code":"print("hi")"}',
            [("run", {"code": 'print("hi")'})],
            id="W19 quotes that were not escaped",
        ),
        pytest.param('Action: add\nAction Input: {"{"a":1}', "NIT607", id="W27 a stray brace"),
        pytest.param("Action: clock\nAction Input:", [("clock", {})], id="W29 empty, none wanted"),
        pytest.param("Action: clock\nAction Input: None", [("clock", {})], id="W29 None"),
        pytest.param("Action: add\nAction Input:", "NIT607", id="W29 empty, one wanted"),
        pytest.param("Action: add", "NIT607", id="no input at all"),
        pytest.param('Action Input: {"a":1}', "NIT603", id="an input without action"),
        pytest.param(
            f'<think>Action: add\nAction Input: {{"a":9}}</think>\n{TRACE}', [ADD], id="W35 a draft"
        ),
        pytest.param(f"<think>{TRACE}", "NIT609", id="W37 reasoning never closed"),
        pytest.param(
            'Action: functions.add\nAction Input: {"a":1}', [ADD], id="W43 a name in other dress"
        ),
        pytest.param(
            'Action: ad\nAction Input: {"a":1}', [("ad", "NIT604")], id="W43 a misspelt name"
        ),
        pytest.param('Action：add\nAction Input：{"a":1}', [ADD], id="full-width colons"),
        pytest.param(
            "Action:\nclock\nAction Input:\n{}", [("clock", {})], id="W11 values below the labels"
        ),
        pytest.param(
            'Action:\n\n`add`\n\nAction Input:\n\n{"a":1}', [ADD], id="W11 with blank lines between"
        ),
        pytest.param('Action:\nadd({"a":1})', [ADD], id="W11 a call below the label"),
        pytest.param("Action:\nadd", "NIT607", id="W11 a name below the label and no input"),
        pytest.param("Action:\nIt is 4.", "It is 4.", id="W11 W7 prose below the label"),
        pytest.param(
            'Action:\n```json\n{"action":"add","action_input":{"a":1}}\n```', [ADD], id="an object"
        ),
        pytest.param('Action: {"name":"add","arguments":{"a":1}}', [ADD], id="an object beside it"),
        pytest.param(
            'Action:\n```json\n[{"action":"add","action_input":{"a":1}}]\n```', [ADD], id="a list"
        ),
        pytest.param('Action:\n[{"action":"add",', "NIT607", id="a list that does not end"),
        pytest.param('Action: {"action":"add"', "NIT607", id="an object that does not end"),
        pytest.param('Action: {"a":1}', "NIT607", id="an object that calls nothing"),
        pytest.param('Action: {"action":"add","a":1}', "NIT607", id="an object without arguments"),
        pytest.param(
            'Action: {"action":"Final Answer","action_input":"4"}', "4", id="an object that answers"
        ),
        pytest.param(
            "Action: Final Answer\nAction Input: 4\nObservation: ok\nThought: d",
            "4",
            id="W7 the answer as action, an observation after it",
        ),
        pytest.param(
            "Action: Final Answer\nFinal Answer: 4", "4", id="W7 the answer announced as action"
        ),
        pytest.param("Action: Final Answer\nThought: d", "NIT608", id="W7 no answer after all"),
        pytest.param('• Action: add\n• Action Input: {"a":1}', [ADD], id="D13 bullets"),
        pytest.param(
            'Thought: x\n\u00a0\u00a0Action:\u00a0add\n\u3000Action Input:\u00a0{"a":1}',
            [ADD],
            id="D13 indented with blanks of other kinds",
        ),
        pytest.param(
            'Action 1: add\nAction Input 1: {"a":1}', [ADD], id="D13 numbers after labels"
        ),
        pytest.param('Action 1: add\nAction 1 Input: {"a":1}', [ADD], id="D13 numbers inside them"),
        pytest.param(
            'Action:\n```\nadd\n```\nAction Input:\n```json\n{"a":1}\n```', [ADD], id="W11 fences"
        ),
        pytest.param('\ufeff\u200bAction: add\nAction Input: {"a":1}', [ADD], id="D13 zero width"),
        pytest.param('Action: “add”\nAction Input: {"a":1}', [ADD], id="D14 typographic quotes"),
        pytest.param("Action: ‘add’(a=1)", [ADD], id="D14 typographic quotes around a call"),
        pytest.param("**Final Answer: 4**", "4", id="D13 an answer in bold with its label"),
        pytest.param("**Final Answer: 4**\nand more", "4\nand more", id="D13 its first line bold"),
        pytest.param("**Final Answer: 4\nand 5**", "4\nand 5", id="D13 all of it bold"),
        pytest.param("**Final Answer:** **4**", "**4**", id="an answer that is bold itself"),
        pytest.param("* Final Answer: 4 *", "4 *", id="a bullet is no decoration of the answer"),
        pytest.param("A Call to Action: buy!", "A Call to Action: buy!", id="prose"),
        pytest.param(
            "Final Answer: do\nAction: add\nlater", "do\nAction: add\nlater", id="an answer ends it"
        ),
    ],
)
def test_a_shape_seen_in_the_wild(reply: str, right: Any) -> None:
    assert outcome(react_codec(), reply) == right


def test_code_in_a_fence_before_the_action_is_shown_whole() -> None:
    decoded = decode(react_codec(), f"```python\nx=1\n```\n{TRACE}")
    assert (decoded.text, [call.name for call in decoded.calls]) == ("```python\nx=1\n```", ["add"])


def test_prose_before_the_action_is_text_and_a_thought_is_reasoning() -> None:
    decoded = decode(react_codec(), f"Let me add.\nThought: one and more\n{TRACE}")
    assert (decoded.text, decoded.reasoning) == ("Let me add.", "one and more")


def test_a_reply_never_shows_the_labels_of_its_thoughts() -> None:
    decoded = decode(react_codec(), "Thought: hm\nFinal Answer: 4\nand more")
    assert (decoded.text, decoded.reasoning) == ("4\nand more", "hm")


def test_an_action_that_came_as_an_entry_too_runs_once() -> None:
    entry = call_entry("c1", "add", '{"a": 1}')
    message = {"role": "assistant", "content": TRACE, "tool_calls": [entry]}
    assert outcome(react_codec(), message) == [ADD]
    assert outcome(react_codec(), {**message, "content": TRACE.replace("1", "2")}) == [
        ADD,
        ("add", {"a": 2}),
    ]


def test_several_actions_are_calls_where_the_codec_allows_them() -> None:
    reply = f'{TRACE}\nAction: add\nAction Input: {{"a":2}}\nObservation: 3'
    assert outcome(react_codec(several=True), reply) == [ADD, ("add", {"a": 2})]
    assert decode(react_codec(), reply).warnings == ("one action a reply: only the first was run",)


def test_of_actions_in_one_list_the_first_is_run_and_the_model_is_told() -> None:
    decoded = decode(react_codec(), 'Action: [{"name":"clock","args":{}},{"name":"add","args":{}}]')
    assert [(call.name, call.arguments) for call in decoded.calls] == [("clock", {})]
    assert decoded.warnings == ("one action a reply: only the first was run",)


@pytest.mark.parametrize(
    ("reply", "right"),
    [
        ('Action: add\nAction Input: {"a":', "NIT602"),
        (TRACE, "NIT602"),
        ("Action: ad", "NIT602"),
        ("Thought: I wonder", "NIT602"),
        (f"{TRACE}\nObservation: invented and", [ADD]),
        ("Final Answer: it is", "it is"),
    ],
)
def test_a_reply_that_the_token_limit_cut_off_runs_nothing_that_is_not_whole(
    reply: str, right: Any
) -> None:
    assert outcome(react_codec(), reply, finish_reason="length") == right


def test_the_server_is_told_to_stop_before_an_observation() -> None:
    encoded = react_codec().encode(Request(model="m", messages=(user("hi"),), stop=("X",)), TOOLS)
    assert encoded.stop == ("X", "\nObservation:")


def test_parallel_calls_of_the_history_are_all_written_each_with_its_observation() -> None:
    calls = [call_entry("c1", "add", '{"a":1}'), call_entry("c2", "clock", "{}")]
    messages = (
        user("go"),
        assistant("Both.", calls=calls),
        tool_result("c1", "1"),
        tool_result("c2", "noon"),
    )
    encoded = react_codec().encode(Request(model="m", messages=messages), TOOLS)
    assert [message["content"] for message in encoded.messages[2:]] == [
        'Thought: Both.\nAction: add\nAction Input: {"a": 1}',
        "Observation: 1",
        "Action: clock\nAction Input: {}",
        "Observation: noon",
    ]


def test_a_long_run_of_fence_marks_takes_linear_time() -> None:
    # minutes, if each of its marks is tried as the last one of the fence
    assert decode(react_codec(), "~" * 1_000_000).text == "~" * 1_000_000
