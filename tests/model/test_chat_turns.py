"""Whole conversations over real HTTP, in both APIs."""

from __future__ import annotations

import threading

import pytest
from chatting import (
    LONG,
    MIDDLE,
    Desk,
    aevents_of,
    assert_valid,
    events_of,
    only,
    roles,
    shown,
    statuses,
    talking,
)

import nit_kernel as nit
from nit_kernel.errors import CodecError, ModelError
from nit_kernel.model.events import (
    BlockFinished,
    BlockOpened,
    BlockStarted,
    Fallback,
    Notice,
    Repair,
    RoundStarted,
    TextDelta,
    TurnFinished,
    TurnStarted,
)
from nit_kernel.testing import (
    Call,
    Disconnect,
    FakeModel,
    Refuse,
    Reply,
    Script,
    Think,
    Wait,
)

BOTH_APIS = pytest.mark.parametrize("api", ["chat", "responses"])

CHAIN = Script(
    '$page = fetch(url="https://a.example")\n'
    "$lines = count(text=$page)\n"
    'publish(title="A", lines=$lines)'
)


@BOTH_APIS
def test_a_chain_of_three_tools_keeps_its_long_value_out_of_every_request(api: str) -> None:
    desk = Desk()
    model = FakeModel([["On it. ", CHAIN], "It has 4000 lines."])
    with talking(model, tools=desk.tools, api=api, codec="nit") as chat:
        events = events_of(chat)
        assert chat.session.variables["page"] == LONG
    assert desk.calls == [
        ("fetch", "https://a.example"),
        ("count", len(LONG)),
        ("publish", "A", 4000),
    ]
    assert shown(events) == "On it. It has 4000 lines."
    assert all(MIDDLE not in request.text for request in model.requests)
    told = model.requests[1].last_text
    assert "published A: 4000" in told
    assert f"{len(LONG):,}" in told
    finished = events[-1]
    assert isinstance(finished, TurnFinished)
    assert (finished.reason, finished.text, finished.usage.rounds) == (
        "answered",
        "It has 4000 lines.",
        2,
    )


def _action(name: str, arguments: str) -> str:
    return f"Thought: next\nAction: {name}\nAction Input: {arguments}"


def _json_call(name: str, arguments: str) -> str:
    return f'{{"type":"tool_calls","calls":[{{"name":"{name}","arguments":{arguments}}}]}}'


WAYS = {
    "native": (lambda name, arguments: Call(name, arguments), "It has 4000 lines."),
    "json": (_json_call, '{"type":"final","text":"It has 4000 lines."}'),
    "react": (_action, "Thought: I know\nFinal Answer: It has 4000 lines."),
}


@BOTH_APIS
@pytest.mark.parametrize("codec", list(WAYS))
def test_without_variables_a_long_value_goes_as_head_tail_and_size(api: str, codec: str) -> None:
    desk = Desk()
    say, answer = WAYS[codec]
    model = FakeModel(
        [
            say("fetch", '{"url":"https://a.example"}'),
            say("count", '{"text":"a\\nb\\n"}'),
            say("publish", '{"title":"A","lines":2}'),
            answer,
        ]
    )
    with talking(model, tools=desk.tools, api=api, codec=codec) as chat:
        events = events_of(chat)
        assert_valid(chat)
        ids = [e["id"] for m in chat.history for e in m.get("tool_calls", ())]
        assert len(set(ids)) == 3
    assert [call[0] for call in desk.calls] == ["fetch", "count", "publish"]
    assert shown(events) == "It has 4000 lines."
    for request in model.requests[1:]:
        assert MIDDLE not in request.text
        assert "line 00000 of the page" in request.text
        assert "line 03999 of the page" in request.text
        assert f"{len(LONG):,}" in request.text


@BOTH_APIS
def test_a_block_runs_while_the_stream_goes_on(api: str) -> None:
    gate = threading.Event()
    order: list[str] = []

    @nit.tool(side_effects="none")
    def open_gate() -> str:
        order.append("tool ran")
        gate.set()
        return "opened"

    reply = Reply("Before.", Script("$x = open_gate()"), Wait(gate), " After.", chunk=100)
    model = FakeModel([reply, "Done."])
    with talking(model, tools=[open_gate], api=api, codec="nit") as chat:
        for event in chat.send("go"):
            if isinstance(event, TextDelta):
                order.append(event.text)
    assert order == ["Before.", "tool ran", " After.", "Done."]


def test_words_are_shown_while_a_script_runs() -> None:
    gate = threading.Event()

    @nit.tool(side_effects="none")
    async def hold() -> str:
        import asyncio

        while not gate.is_set():
            await asyncio.sleep(0.005)
        return "held"

    model = FakeModel([Reply("A", Script("hold()"), "B", chunk=100), "C"])
    seen: list[str] = []
    with talking(model, tools=[hold], codec="nit") as chat:
        for event in chat.send("go"):
            if isinstance(event, TextDelta):
                seen.append(event.text)
                if event.text == "B":
                    gate.set()
            elif isinstance(event, BlockFinished):
                seen.append(event.status)
    assert seen == ["A", "B", "ok", "C"]


@BOTH_APIS
@pytest.mark.parametrize("size", [1, 3, 1000])
def test_the_events_of_a_turn_are_the_same_for_every_size_of_the_pieces(api: str, size) -> None:
    desk = Desk()
    reply = Reply(Think("hm"), "Adding. ", Script("$x = add(a=1, b=2)"), " Done.", chunk=size)
    model = FakeModel([reply, Reply("It is 3.", chunk=size)])
    with talking(model, tools=desk.tools, api=api, codec="nit") as chat:
        events = events_of(chat)
    assert shown(events) == "Adding.  Done.It is 3."
    assert statuses(events) == ["ok"]
    kinds = [type(e) for e in events if not isinstance(e, TextDelta)]
    assert kinds[0] is TurnStarted
    assert kinds[1] is RoundStarted
    assert kinds.index(BlockOpened) < kinds.index(BlockStarted) < kinds.index(BlockFinished)
    assert kinds[-1] is TurnFinished


def test_the_blocking_and_the_awaiting_way_tell_the_same() -> None:
    def turns() -> FakeModel:
        return FakeModel([["Hi. ", Script("$x = add(a=1, b=2)")], "3"])

    told = []
    for read in (events_of, aevents_of):
        desk = Desk()
        with talking(turns(), tools=desk.tools, codec="nit") as chat:
            events = read(chat)
            told.append(([type(e).__name__ for e in events], shown(events), desk.calls))
            assert chat.session.variables["x"] == 3
    assert told[0] == told[1]


@BOTH_APIS
def test_a_script_that_cannot_run_is_mended_by_the_model(api: str) -> None:
    desk = Desk()
    model = FakeModel(
        [
            ["Wait. ", Script("$x = ad(a=1, b=2)")],
            ["Now. ", Script("$x = add(a=1, b=2)")],
            "It is 3.",
        ]
    )
    with talking(model, tools=desk.tools, api=api, codec="nit") as chat:
        events = events_of(chat)
        assert roles(chat) == ["user", "assistant", "report", "assistant"]
        assert chat.usage.repairs == 1
        assert chat.usage.wasted.total_tokens > 0
    assert desk.calls == [("add", 1, 2)]
    assert statuses(events) == ["invalid", "ok"]
    repair = only(events, Repair)
    assert [(r.attempt, r.limit) for r in repair] == [(1, 2)]
    asked = model.requests[1].last_text
    assert "`add`" in asked
    assert "nothing of it was run" in asked
    # Once mended, the failed attempt is gone from what the model reads.
    assert "ad(a=1" not in model.requests[2].text.replace("add(a=1", "")
    assert events[-1].usage.rounds == 2


@BOTH_APIS
def test_after_two_failed_repairs_the_turn_goes_on_in_native_and_the_next_in_nit(api) -> None:
    desk = Desk()
    model = FakeModel(
        [
            Script("$x = nope()"),
            Script("$x = nope("),
            Script("if $x: nope()"),
            Call("add", {"a": 1, "b": 2}),
            "It is 3.",
            ["Again. ", Script("$y = add(a=3, b=4)")],
            "It is 7.",
        ]
    )
    with talking(model, tools=desk.tools, api=api) as chat:
        first = events_of(chat)
        second = events_of(chat, "and 3 + 4?")
        assert_valid(chat)
        assert chat.session.variables["y"] == 7
    assert desk.calls == [("add", 1, 2), ("add", 3, 4)]
    assert [(f.before, f.after) for f in only(first, Fallback)] == [("nit", "native")]
    assert only(second, Fallback) == []
    assert shown(first) == "It is 3."
    assert "tools" in model.requests[3]
    assert "tools" not in model.requests[5]
    assert "nope" not in model.requests[3].text


def test_without_a_fallback_the_turn_fails_and_says_what_it_cost() -> None:
    desk = Desk()
    model = FakeModel([Script("nope()")] * 3 + ["Hello."])
    with talking(model, tools=desk.tools, fallback=None, codec="nit") as chat:
        with pytest.raises(CodecError) as caught:
            events_of(chat)
        assert caught.value.code == "NIT673"
        assert "3 attempts" in caught.value.message
        assert "tokens" in caught.value.message
        assert chat.history == []
        assert chat.usage.requests == 3
        assert shown(events_of(chat, "hello")) == "Hello."


def test_a_server_without_tools_is_asked_in_json_when_it_falls_back() -> None:
    desk = Desk()
    model = FakeModel(
        [Script("nope()")] * 3
        + [
            Refuse(400, "this model does not support tools"),
            _json_call("add", '{"a":1,"b":2}'),
            '{"type":"final","text":"3"}',
        ]
    )
    with talking(model, tools=desk.tools, api="chat") as chat:
        events = events_of(chat)
    assert [f.after for f in only(events, Fallback)] == ["native", "json"]
    assert shown(events) == "3"
    assert desk.calls == [("add", 1, 2)]


@BOTH_APIS
def test_a_break_before_the_first_word_is_retried_by_us(api: str) -> None:
    # The stream begins, so the client library does not retry any more.
    model = FakeModel([Reply(Think(""), "", Disconnect()), "Hello."])
    model = FakeModel([[Script("$x = 1", closed=False), Disconnect()], "Hello."])
    with talking(model, api=api, codec="nit") as chat:
        events = events_of(chat)
        assert roles(chat) == ["user", "assistant"]
    assert shown(events) == "Hello."
    assert [n.code for n in only(events, Notice)] == ["NIT658"]
    assert len(model.requests) == 2


@BOTH_APIS
def test_a_break_after_the_first_word_keeps_what_was_said_and_raises(api: str) -> None:
    desk = Desk()
    model = FakeModel(
        [["Adding. ", Script("$x = add(a=1, b=2)"), "So ", Disconnect()], "Hello again."]
    )
    seen: list[object] = []
    with talking(model, tools=desk.tools, api=api, codec="nit") as chat:
        with pytest.raises(ModelError) as caught:
            for event in chat.send("go"):
                seen.append(event)
        assert caught.value.code == "NIT658"
        assert chat.session.variables["x"] == 3
        assert roles(chat) == ["user", "assistant", "report"]
        assert_valid(chat)
        assert shown(events_of(chat, "go on")) == "Hello again."
    assert shown(seen) == "Adding. So "
    assert (seen[-1].reason, seen[-1].error) == ("failed", caught.value)


@BOTH_APIS
def test_a_refused_key_leaves_the_conversation_as_it_was(api: str) -> None:
    model = FakeModel([Refuse(401, "bad key"), "Hello."])
    with talking(model, api=api) as chat:
        with pytest.raises(ModelError) as caught:
            events_of(chat)
        assert caught.value.code == "NIT654"
        assert chat.history == []
        assert shown(events_of(chat, "again")) == "Hello."
        assert roles(chat) == ["user", "assistant"]


def test_a_rate_limit_is_waited_for_with_a_notice() -> None:
    model = FakeModel([Refuse(429, "slow", headers={"retry-after": "0.05"}), "Hello."])
    with talking(model, api="chat") as chat:
        events = events_of(chat)
    assert shown(events) == "Hello."
    assert ["trying again in 0.05 s" in n.text for n in only(events, Notice)] == [True]


@BOTH_APIS
def test_a_reply_that_the_token_limit_cuts_inside_a_block_runs_nothing(api: str) -> None:
    desk = Desk()
    cut = Reply("Adding. ", Script("$x = add(a=1, b=2)", closed=False), finish="length")
    model = FakeModel([cut, ["", Script("$x = add(a=1, b=2)")], "3"])
    with talking(model, tools=desk.tools, api=api, codec="nit") as chat:
        events = events_of(chat)
    assert statuses(events) == ["cut off", "ok"]
    assert desk.calls == [("add", 1, 2)]
    assert "cut off" in str(only(events, Repair)[0].error)
    assert "cut off by the token limit" in model.requests[1].last_text


@BOTH_APIS
def test_an_answer_that_the_token_limit_cuts_is_said_to_be_cut(api: str) -> None:
    with talking(FakeModel([Reply("It is", finish="length")]), api=api) as chat:
        events = events_of(chat)
    assert shown(events) == "It is"
    assert events[-1].reason == "length"
    assert [n.code for n in only(events, Notice)] == ["NIT677"]


def test_a_server_that_does_not_say_why_a_block_is_open_runs_nothing() -> None:
    desk = Desk()
    open_block = Reply(Script("$x = add(a=1, b=2)", closed=False), finish="")
    model = FakeModel([open_block, "Never mind."])
    codec = nit.nit_codec(stop_at_block=True)
    with talking(model, tools=desk.tools, api="chat", codec=codec) as chat:
        events = events_of(chat)
    assert desk.calls == []
    assert shown(events) == "Never mind."


def test_blocks_run_in_order_and_behind_a_failure_none() -> None:
    desk = Desk()
    reply = [
        "One. ",
        Script("$a = add(a=1, b=1)"),
        " Two. ",
        Script("$b = fail()"),
        " Three. ",
        Script("$c = add(a=3, b=3)"),
    ]
    model = FakeModel([reply, "I see."])
    with talking(model, tools=desk.tools, codec="nit") as chat:
        events = events_of(chat)
        assert dict(chat.session.variables) == {"a": 2}
    assert desk.calls == [("add", 1, 1), ("fail",)]
    assert statuses(events) == ["ok", "failed", "skipped"]
    told = model.requests[1].last_text
    assert "no luck" in told
    assert "Script 3 of 3: nothing of it was run" in told


def test_a_reply_of_which_only_a_part_can_run_is_reported_and_not_repeated() -> None:
    desk = Desk()
    model = FakeModel([[Script("$a = add(a=1, b=1)"), Script("$b = nope()")], "I see."])
    with talking(model, tools=desk.tools, codec="nit") as chat:
        events = events_of(chat)
    assert statuses(events) == ["ok", "invalid"]
    assert only(events, Repair) == []
    told = model.requests[1].last_text
    assert "Script 2 of 2: it cannot run, nothing of it was run" in told
    assert "nope" in told


def test_too_many_rounds_end_the_turn_with_a_notice() -> None:
    desk = Desk()
    model = FakeModel([Script(f"$x = add(a={n}, b=0)") for n in range(9)])
    with talking(model, tools=desk.tools, codec="nit", max_rounds=3) as chat:
        events = events_of(chat)
    assert len(model.requests) == 3
    assert events[-1].reason == "rounds"
    assert [n.code for n in only(events, Notice)] == ["NIT675"]


@pytest.mark.parametrize("codec", ["nit", "native"])
def test_a_model_that_repeats_itself_is_told_so_and_at_last_asked_for_words_alone(codec) -> None:
    desk = Desk()
    act = Script("$x = add(a=1, b=2)") if codec == "nit" else Call("add", {"a": 1, "b": 2})
    model = FakeModel([act, act, act, "It is 3.", act, "3"])
    with talking(model, tools=desk.tools, codec=codec) as chat:
        first = events_of(chat)
        second = events_of(chat, "again")
        assert_valid(chat)
    told = ["exactly this before" in request.last_text for request in model.requests]
    assert told == [False, False, True, False, False, False]
    assert (shown(first), shown(second)) == ("It is 3.", "3")
    assert desk.calls == [("add", 1, 2)] * 4
    alone = model.requests[3]
    assert "tools" not in alone
    assert alone.handshake_id is None
    assert "add(" not in alone.text
    assert alone.spoken("assistant") == []
    assert "go" in alone.last_text
    assert "3" in alone.last_text
    assert ("tools" in model.requests[4]) == (codec == "native")


def test_a_model_that_asks_again_because_the_result_changes_goes_on() -> None:
    waited: list[int] = []

    @nit.tool(side_effects="none")
    def status() -> str:
        waited.append(1)
        return "done" if len(waited) == 5 else f"{len(waited)} of 5"

    model = FakeModel([*[Script("status()")] * 5, "It is done."])
    with talking(model, tools=[status], codec="nit") as chat:
        assert shown(events_of(chat)) == "It is done."
    assert not any("exactly this before" in request.text for request in model.requests)


def test_too_many_tokens_end_the_turn_after_the_reply_that_spent_them() -> None:
    desk = Desk()
    model = FakeModel([Reply(Script("$x = add(a=1, b=0)"), usage=(900, 200))] * 3)
    with talking(model, tools=desk.tools, codec="nit", max_tokens=1_000) as chat:
        events = events_of(chat)
        assert chat.session.variables["x"] == 1
        assert chat.usage.tokens.total_tokens == 1_100
    assert events[-1].reason == "tokens"


@pytest.mark.parametrize("api", [None, "chat", "responses"])
def test_tokens_are_estimated_where_the_server_does_not_count(api) -> None:
    desk = Desk()
    model = FakeModel([Script("$x = add(a=1, b=0)")] * 3, counts=False)
    with talking(model, tools=desk.tools, codec="nit", api=api, max_tokens=300) as chat:
        events = events_of(chat)
        assert (chat.usage.uncounted, chat.usage.tokens.total_tokens) == (1, 0)
    assert events[-1].reason == "tokens"


def test_too_many_seconds_end_the_turn_and_keep_what_was_said() -> None:
    model = FakeModel([Reply("So ", Wait(threading.Event()), "far")])
    with talking(model, api="chat", max_seconds=0.5) as chat:
        events = events_of(chat)
        assert roles(chat) == ["user", "assistant"]
    assert shown(events) == "So "
    assert events[-1].reason == "seconds"
    assert [n.code for n in only(events, Notice)] == ["NIT674"]
    assert model.requests[0].gone.wait(10)


def test_a_codec_can_be_changed_in_the_middle_and_for_one_message() -> None:
    desk = Desk()
    model = FakeModel(
        [
            ["A. ", Script("$a = add(a=1, b=1)")],
            "2",
            Call("add", {"a": 2, "b": 2}),
            "4",
            _json_call("add", '{"a":3,"b":3}'),
            '{"type":"final","text":"6"}',
            Script("$d = add(a=$a, b=4)"),
            "6 again",
        ]
    )
    with talking(model, tools=desk.tools, codec="nit") as chat:
        events_of(chat, "one")
        events_of(chat, "two", codec="native")
        events_of(chat, "three", codec="json")
        events_of(chat, "four")
        assert_valid(chat)
        assert chat.session.variables["d"] == 6
    assert desk.calls == [("add", 1, 1), ("add", 2, 2), ("add", 3, 3), ("add", 2, 4)]
    native = model.requests[2]
    assert all("tool_calls" not in message for message in native["messages"])
    assert "add(a=1, b=1)" in native.text
    back = model.requests[6].text
    assert "add(a=2, b=2)" in back
    assert "add(a=3, b=3)" in back


def test_usage_is_counted_for_each_turn_and_for_all() -> None:
    model = FakeModel([Reply("a", usage=(10, 1)), Reply("b", usage=(20, 2))])
    with talking(model) as chat:
        events_of(chat)
        events_of(chat)
        last = chat.last_usage
        assert last is not None
        assert (last.tokens.prompt_tokens, last.tokens.completion_tokens) == (20, 2)
        assert (chat.usage.tokens.total_tokens, chat.usage.rounds) == (33, 2)
        assert last.first_token_s is not None
        chat.reset()
        assert (chat.usage.tokens.total_tokens, chat.history) == (0, [])


def test_the_reasoning_items_of_the_responses_api_go_back_before_their_calls() -> None:
    desk = Desk()
    model = FakeModel([Reply(Think("hm"), "On it.", Call("add", {"a": 1, "b": 2}, id="c1")), "3"])
    with talking(model, tools=desk.tools, api="responses", codec="native") as chat:
        events_of(chat)
    kinds = [item.get("type") or item["role"] for item in model.requests[1]["input"]]
    assert kinds == ["user", "reasoning", "assistant", "function_call", "function_call_output"]
    assert model.requests[1]["input"][1]["encrypted_content"] == "sealed"


def test_another_model_goes_on_with_the_conversation() -> None:
    first, second = FakeModel(["A"], name="one"), FakeModel(["B"], name="two")
    with talking(first) as chat:
        events_of(chat, "a")
        chat.connect(client=second)
        assert chat.model == "two"
        assert shown(events_of(chat, "b")) == "B"
    assert second.requests[0].spoken("user") == ["a", "b"]


def test_a_conversation_that_is_dropped_closes_its_connections() -> None:
    import gc

    from nit_kernel.testing import openai_server

    with nit.Session() as session, openai_server(FakeModel(["A", "B"])) as server:
        chat = nit.Chat(base_url=server.base_url, session=session)
        assert shown(events_of(chat)) == "A"
        del chat
        # Warnings of connections that were left open are errors here.
        gc.collect()
    assert not [thread for thread in threading.enumerate() if thread.name == "nit-chat"]
