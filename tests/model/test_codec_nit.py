"""The nit codec: scripts in tags, fences in their place, ends without a tag, the history."""

from __future__ import annotations

import random
from typing import Any

import pytest
from codec_samples import TOOLS, decode, outcome
from hypothesis import given, settings
from hypothesis import strategies as st

from nit_kernel._syntax import Block, BlockOpen, Event, Reasoning, Rejected, Text, Unclosed
from nit_kernel.errors import CodecError
from nit_kernel.model.codecs.codec import DecodeContext, open_stream
from nit_kernel.model.codecs.nit import nit_codec
from nit_kernel.model.codecs.nit_stream import NitStream
from nit_kernel.model.messages import (
    Request,
    Variable,
    assistant,
    call_entry,
    report,
    system,
    tool_result,
    user,
)
from nit_kernel.model.prompt import AFTER_REPORT

ID = "A1B2"
OPEN, CLOSE = f"<nit-{ID}>", f"</nit-{ID}>"
FENCE = f"```nit-{ID}\n"


def streamed(chunks: Any, *, finish: Any = ("stop", None), **options: Any) -> list[Event]:
    stream = NitStream(ID, **options)
    events = [event for chunk in chunks for event in stream.feed(chunk)]
    return joined([*events, *stream.finish(*finish)])


def joined(events: list[Event]) -> list[Event]:
    merged: list[Any] = []
    for event in events:
        last = merged[-1] if merged else None
        if isinstance(event, (Text, Reasoning)) and type(event) is type(last):
            merged[-1] = type(event)(last.text + event.text)
        else:
            merged.append(event)
    return merged


def test_scripts_and_text_come_out_in_order() -> None:
    reply = f'Sure. {OPEN}\necho(v="{CLOSE}")\n{CLOSE} Then {OPEN}clock(){CLOSE}.'
    decoded = decode(nit_codec(), reply, handshake=ID)
    assert decoded.text == "Sure.  Then ."
    assert decoded.scripts == (f'\necho(v="{CLOSE}")\n', "clock()")


def test_a_tag_of_another_turn_runs_nothing_and_the_model_is_told_without_the_right_id() -> None:
    reply = "<nit-QQ77>clock()</nit-QQ77>"
    decoded = decode(nit_codec(), reply, handshake=ID)
    assert (decoded.text, decoded.scripts) == (reply, ())
    assert decoded.warnings == (
        "`<·nit-QQ77>` is not the tag of this request: it was shown as text and ran nothing",
    )


def test_without_an_id_nothing_is_a_script() -> None:
    assert outcome(nit_codec(), f"{OPEN}clock(){CLOSE}") == f"{OPEN}clock(){CLOSE}"


@pytest.mark.parametrize(
    ("start", "end"),
    [("<think>", "</think>"), ("<thinking>", "</thinking>"), ("[THINK]", "[/THINK]")],
)
def test_a_draft_in_the_reasoning_is_no_script(start: str, end: str) -> None:
    reply = f"{start}{OPEN}wipe(){CLOSE}{end}Listing.{OPEN}clock(){CLOSE}"
    decoded = decode(nit_codec(), reply, handshake=ID)
    assert (decoded.text, decoded.scripts) == ("Listing.", ("clock()",))
    assert decoded.reasoning == f"{OPEN}wipe(){CLOSE}"


def test_a_script_in_reasoning_that_never_ends_is_asked_for_again() -> None:
    reply = f"<think>I will {OPEN}clock(){CLOSE}"
    assert outcome(nit_codec(), reply, handshake=ID) == "NIT609"


@pytest.mark.parametrize(
    ("reason", "code"), [("length", "NIT602"), ("stop", "NIT611"), (None, "NIT611")]
)
def test_a_block_that_was_never_closed_is_an_error(reason: str | None, code: str) -> None:
    reply = f'Sure.\n{OPEN}\nadd(a=1)\nadd(a="'
    assert outcome(nit_codec(), reply, handshake=ID, finish_reason=reason) == code


def test_an_open_block_behind_a_whole_one_is_a_warning() -> None:
    decoded = decode(
        nit_codec(), f"{OPEN}clock(){CLOSE}{OPEN}add(a=", handshake=ID, finish_reason="length"
    )
    assert decoded.scripts == ("clock()",)
    assert decoded.warnings == (
        "the reply was cut off by the token limit, and nothing of it was run: "
        "it was the last of several",
    )


@pytest.mark.parametrize(
    ("end", "after"),
    [
        ("```", ""),
        ("```\n", ""),
        ("```\nDone.", "Done."),
        (f"{CLOSE}", ""),
        (f"{CLOSE}\n```", "\n"),
        (f"{CLOSE}\n```\nDone.", "\nDone."),
        (f"{CLOSE} Done.", " Done."),
    ],
)
def test_a_fence_with_the_id_is_as_good_as_the_tag(end: str, after: str) -> None:
    decoded = decode(nit_codec(), f"Sure.\n{FENCE}clock()\n{end}", handshake=ID)
    assert (decoded.text, decoded.scripts) == (f"Sure.\n{after}", ("clock()\n",))


def test_a_fence_in_a_string_of_a_fenced_script_does_not_end_it() -> None:
    script = 'say(text="""\n```\ncode\n```\n""")\nclock()\n'
    decoded = decode(nit_codec(), f"{FENCE}{script}```\nafter", handshake=ID)
    assert (decoded.text, decoded.scripts) == ("after", (script,))


@pytest.mark.parametrize(
    "reply",
    [
        "```nit-QQ77\nclock()\n```",
        "```nit\nclock()\n```",
        f"say ```nit-{ID}\nclock()\n```",
        f"```nit-{ID}x\nclock()\n```",
        f"```\n`nit-{ID}`\n```",
        "``` and `` and `",
    ],
)
def test_any_other_fence_is_text(reply: str) -> None:
    decoded = decode(nit_codec(), reply, handshake=ID)
    assert (decoded.text, decoded.scripts) == (reply, ())


def test_a_fence_around_the_tags_changes_nothing() -> None:
    decoded = decode(nit_codec(), f"```\n{OPEN}clock(){CLOSE}\n```\n", handshake=ID)
    assert decoded.scripts == ("clock()",)


REPLIES = [
    f"Sure.\n{FENCE}clock()\n```\nDone. {OPEN}add(a=1){CLOSE} end ```nit-Q\n``",
    f"<think>{FENCE}wipe()\n```</think>{FENCE}clock()\r\n```  \r\nafter",
    f"{FENCE}say(text='''\n```\n{CLOSE}\n''')\n{CLOSE}\n```\nrest",
    f"a ``` b\n``` {FENCE}x\n```\n\n{FENCE}f(",
    f"{FENCE}```\n{FENCE}clock()\n{CLOSE}tail\n```\n",
    f"`<think>` stays, {OPEN}a\n```\n{CLOSE}```nit-{ID}\nclock()\n",
]


@pytest.mark.parametrize("reply", REPLIES)
def test_every_way_to_cut_a_reply_gives_the_same_text_and_blocks(reply: str) -> None:
    whole = streamed([reply])
    assert streamed(reply) == whole
    for cut in range(len(reply) + 1):
        assert streamed([reply[:cut], reply[cut:]]) == whole
    chance = random.Random(7)
    for _ in range(300):
        cuts = sorted(chance.sample(range(len(reply) + 1), 4))
        pieces = [reply[a:b] for a, b in zip([0, *cuts], [*cuts, len(reply)], strict=True)]
        assert streamed(pieces) == whole


TOKENS = ["`", "```", FENCE, f"```nit-{ID}", "\n", "\r\n", OPEN, CLOSE, "x", '"', '"""', " ", "<"]


@settings(max_examples=1_000, deadline=None)
@given(st.lists(st.sampled_from([*TOKENS, "<think>", "</think>", "# c", "中"]), max_size=25))
def test_any_reply_gives_the_same_one_character_at_a_time(pieces: list[str]) -> None:
    reply = "".join(pieces)
    assert streamed(reply) == streamed([reply])


@given(st.lists(st.sampled_from([*TOKENS[:6], "nit-A1B", "a", " "]), max_size=30))
def test_no_more_is_held_back_than_the_beginning_of_a_trigger(pieces: list[str]) -> None:
    reply = "".join(pieces)
    stream = NitStream(ID)
    shown = 0
    for fed, letter in enumerate(reply, 1):
        events = stream.feed(letter)
        shown += sum(len(event.text) for event in events if isinstance(event, Text))
        if any(isinstance(event, BlockOpen) for event in events):
            return
        assert fed - shown < len(f"```nit-{ID}\r\n")


def test_prose_of_a_model_passes_byte_for_byte(shared: Any) -> None:
    import json

    path = shared / "corpus" / "codec" / "assistant_prose.jsonl"
    texts = [json.loads(line)["text"] for line in path.read_text("utf-8").split("\n") if line]
    assert len(texts) == 489
    for text in texts:
        assert streamed([text[i : i + 7] for i in range(0, len(text), 7)]) == [Text(text)]


@pytest.mark.parametrize(
    ("script", "reason", "named", "is_closed"),
    [
        ("add(a=1)\n", "stop", None, True),
        ("add(a=1)\nclock()", "stop", None, True),
        ("add(a=1", "stop", None, False),
        ("add(a=1", "stop", CLOSE, True),
        ('say(text="half', "stop", None, False),
        ("add(a=1)\nclo", "stop", None, False),
        ("$x =", "stop", None, False),
        ('say(text=f"{x}")\n', "stop", None, True),
        ("$add(a=1)\nclock()\n", "stop", None, True),
        ("add(a=1)\n", "length", None, False),
        ("add(a=1)\n", "length", CLOSE, False),
        ("add(a=1)\n", None, None, False),
        ("", "stop", None, False),
    ],
)
def test_a_reply_that_stops_in_its_block_closes_it_only_where_that_was_the_stop_sequence(
    script: str, reason: str | None, named: str | None, is_closed: bool
) -> None:
    events = streamed([f"{OPEN}\n{script}"], finish=(reason, named), stop_at_block=True)
    last = Block(f"\n{script}", ID) if is_closed else Unclosed(f"\n{script}")
    assert events == [BlockOpen(ID), last]


def test_without_stop_at_block_an_open_block_stays_open() -> None:
    events = streamed([f"{OPEN}add(a=1)\n"], finish=("stop", CLOSE))
    assert events == [BlockOpen(ID), Unclosed("add(a=1)\n")]


def test_the_closing_tag_is_sent_as_stop_sequence_only_where_asked() -> None:
    request = Request(model="m", messages=(user("hi"),), handshake=ID)
    assert nit_codec(stop_at_block=True).encode(request, TOOLS).stop == (CLOSE,)
    assert nit_codec().encode(request, TOOLS).stop == ()


def test_legacy_blocks_run_only_where_switched_on() -> None:
    reply = "[[[NIT_CALL]]]\nclock\n[[[NIT_END]]]"
    assert outcome(nit_codec(), reply, handshake=ID) == reply
    assert outcome(nit_codec(legacy=True), reply, handshake=ID) == ["\nclock\n"]


def test_native_calls_beside_the_text_are_accepted() -> None:
    entry = call_entry("c1", "echo", '{"v": 1}')
    message = {"role": "assistant", "content": "Look.", "tool_calls": [entry]}
    assert outcome(nit_codec(), message, handshake=ID) == [("echo", {"v": 1})]


def test_a_demanded_call_that_does_not_come_is_an_error() -> None:
    assert outcome(nit_codec(), "Hello.", handshake=ID, tool_choice="required") == "NIT612"


def conversation(*messages: Any, handshake: str | None = ID, **more: Any) -> Request:
    return Request(model="m", messages=messages, handshake=handshake, **more)


def test_the_id_stands_late_and_everything_before_it_stays_the_same_from_turn_to_turn() -> None:
    first = (system("Be kind."), user("one"))
    later = (*first, assistant("Hello."), user("two"))
    codec = nit_codec()
    one = codec.encode(conversation(*first, handshake="A1B2"), TOOLS)
    two = codec.encode(conversation(*later, handshake="C3D4"), TOOLS)
    assert one.messages[0] == two.messages[0]
    assert [m["role"] for m in two.messages] == ["system", "user", "assistant", "system", "user"]
    assert "C3D4" in two.messages[3]["content"]
    told = [message["content"] for message in (*two.messages[:3], two.messages[4])]
    assert not any("C3D4" in text or "A1B2" in text for text in told)


def test_the_id_stays_in_its_place_while_the_turn_goes_on() -> None:
    begun = (user("one"),)
    script = {"type": "script", "script": "\nclock()\n"}
    further = (*begun, assistant("", parts=[script]), report("clock: noon"))
    codec = nit_codec()
    before = codec.encode(conversation(*begun), TOOLS).messages
    after = codec.encode(conversation(*further), TOOLS).messages
    assert after[: len(before)] == before
    assert [m["content"] for m in after[len(before) :]] == [
        f"{OPEN}\nclock()\n{CLOSE}",
        f"clock: noon\n\n{AFTER_REPORT}",
    ]


def test_a_small_model_is_asked_for_a_script_outright() -> None:
    encoded = nit_codec(firm=True).encode(conversation(user("one")), TOOLS)
    assert encoded.messages[1]["content"] == (
        f"Answer the next request with one NIT script between {OPEN} and {CLOSE}. "
        f"Begin with {OPEN}."
    )


def test_where_only_one_system_message_is_allowed_the_id_ends_it() -> None:
    encoded = nit_codec(handshake_place="first").encode(conversation(user("one")), TOOLS)
    assert [message["role"] for message in encoded.messages] == ["system", "user"]
    assert OPEN in encoded.messages[0]["content"]


@pytest.mark.parametrize(
    ("style", "shown"),
    [
        ("form", "So: <nit-XXXX>\nclock()\n</nit-XXXX>."),
        ("plain", "So: \nclock()\n."),
        ("fence", "So: ```\nclock()\n```."),
        ("tag", f"So: {OPEN}\nclock()\n{CLOSE}."),
    ],
)
def test_scripts_of_earlier_turns_carry_no_old_id(style: Any, shown: str) -> None:
    parts = [
        {"type": "text", "text": "So: "},
        {"type": "script", "script": "\nclock()\n"},
        {"type": "text", "text": "."},
    ]
    messages = (user("one"), assistant("So: .", parts=parts), report("noon"), user("two"))
    encoded = nit_codec(past_blocks=style).encode(conversation(*messages), TOOLS)
    assert [m["content"] for m in encoded.messages if m["role"] == "assistant"] == [shown]


def test_calls_of_another_codec_stand_as_a_script_with_their_results() -> None:
    calls = [
        call_entry("c1", "files.read", '{"path": "a\\"b", "Api-Version": [1, null]}'),
        call_entry("c2", "get-weather", "{oops"),
    ]
    messages = (
        user("one"),
        assistant("Look.", calls=calls),
        tool_result("c1", "text", name="files.read"),
        tool_result("c2", "not readable", name="get-weather", is_error=True),
    )
    encoded = nit_codec().encode(conversation(*messages), TOOLS)
    assert [m["content"] for m in encoded.messages[3:]] == [
        f'Look.\n{OPEN}\nfiles_read(path="a\\"b", "Api-Version"=[1, null])\n'
        f"# get-weather: its arguments could not be read\n{CLOSE}",
        "Report on your calls:\n- files.read: text\n- get-weather: error: not readable\n\n"
        f"{AFTER_REPORT}",
    ]


def test_the_variables_stand_beside_the_id() -> None:
    variables = (
        Variable(name="page", type="String", size="12,345 chars"),
        Variable(name="n", type="Number"),
    )
    encoded = nit_codec().encode(conversation(user("one"), variables=variables), TOOLS)
    assert encoded.messages[1]["content"].startswith(
        "Variables that scripts can read:\n$page: String, 12,345 chars\n$n: Number\n\n"
        "The id is now A1B2."
    )


def test_instructions_follow_the_protocol_and_tools_follow_them() -> None:
    encoded = nit_codec(instructions="Speak Welsh.").encode(conversation(user("one")), TOOLS[3:4])
    assert encoded.messages[0]["content"].endswith(
        "</nit-XXXX>\n\nSpeak Welsh.\n\nTools:\nclock()\n    The tool clock."
    )


@pytest.mark.parametrize("form", ["gbnf", "lark"])
def test_the_grammar_is_sent_in_the_field_of_servers_that_take_its_form(form: Any) -> None:
    encoded = nit_codec(grammar=form).encode(conversation(user("one")), TOOLS)
    text = encoded.extra["grammar"] if form == "gbnf" else encoded.extra["structured_outputs"]
    assert ID in str(text)


def test_the_repair_prompt_lists_what_is_wrong_with_a_script() -> None:
    from nit_kernel._syntax import parse

    found = parse("add(a=1").diagnostics
    error = CodecError("wrong", code=found[0].code, diagnostics=found)
    message = nit_codec().repair_prompt(error, 1, TOOLS)
    assert message["kind"] == "repair"
    assert message["content"] == (
        f"Your last script cannot run, and nothing of it was run:\n- {found[0].terse()}\n"
        "Write the whole reply again. Put the script between the tags with the id that you were "
        "told."
    )


def test_the_stream_reports_tags_of_other_turns() -> None:
    events = streamed(["a <nit-QQ77> b"])
    assert [event for event in events if isinstance(event, Rejected)] == [Rejected("<nit-QQ77>")]


def test_a_stream_opened_for_any_codec_keeps_reasoning_apart() -> None:
    from nit_kernel.model.codecs.json import json_codec
    from nit_kernel.model.codecs.native import native_codec

    reply = f"<think>hm</think>Hello {OPEN}clock(){CLOSE}"
    for codec, shown in ((native_codec(), f"Hello {OPEN}clock(){CLOSE}"), (json_codec(), "")):
        stream = open_stream(codec, DecodeContext(handshake=ID))
        events = joined([*stream.feed(reply), *stream.finish("stop")])
        assert [e.text for e in events if isinstance(e, Reasoning)] == ["hm"]
        assert "".join(e.text for e in events if isinstance(e, Text)) == shown


@pytest.mark.parametrize(
    "behind", ["```\r\n", "  ```  \nmore", " " * 20 + "```\n", "``\n", "\n```\r"]
)
def test_a_fence_behind_a_closing_tag_is_left_out_whatever_the_chunks(behind: str) -> None:
    reply = f"```nit-A1B2\nf()\n</nit-A1B2>{behind}"
    assert streamed(reply) == streamed([reply])
