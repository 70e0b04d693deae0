"""The scripted model and its server, as a user's own tests meet them."""

from __future__ import annotations

import asyncio
import json
import threading
import urllib.error
import urllib.request
from pathlib import Path

import pytest

import nit_kernel as nit
from nit_kernel.errors import ModelError
from nit_kernel.model.client import CallChunk, ReasoningChunk, ReplyEnd, TextChunk, TokenUsage
from nit_kernel.model.messages import Request, system, user
from nit_kernel.testing import (
    Call,
    Disconnect,
    FakeModel,
    Pause,
    RawDelta,
    Refuse,
    Reply,
    Script,
    Think,
    Wait,
    openai_server,
)


def ask(model: FakeModel, text: str = "hello", *, prompt: str = "Write <nit-A1B2>.", **fields):
    """All items of one reply of a direct client."""
    request = Request(model="m", messages=(system(prompt), user(text)), **fields)

    async def collect() -> list[object]:
        return [item async for item in model.stream(request)]

    return asyncio.run(collect())


def text_of(items: list[object]) -> str:
    return "".join(item.text for item in items if isinstance(item, TextChunk))


def post(server, path: str, body: dict, key: str | None = None) -> tuple[int, str]:
    headers = {"content-type": "application/json"}
    if key is not None:
        headers["authorization"] = f"Bearer {key}"
    request = urllib.request.Request(
        server.base_url + path, json.dumps(body).encode(), headers, method="POST"
    )
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def events(stream: str) -> list[dict]:
    lines = [line[6:] for line in stream.split("\n") if line.startswith("data: ")]
    return [json.loads(line) for line in lines if line != "[DONE]"]


def test_a_text_is_streamed_in_pieces_and_ends_with_its_usage() -> None:
    items = ask(FakeModel([Reply("Hello, world", usage=(7, 3))], chunk=5))
    assert items == [
        TextChunk(text="Hello"),
        TextChunk(text=", wor"),
        TextChunk(text="ld"),
        ReplyEnd(finish_reason="stop", usage=TokenUsage(prompt_tokens=7, completion_tokens=3)),
    ]


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_the_size_of_the_pieces_does_not_change_the_text(size: int) -> None:
    reply = Reply("Zuerst: ", Script('note(text="ä")'), " danach.", chunk=size)
    assert text_of(ask(FakeModel([reply]))) == (
        'Zuerst: <nit-A1B2>\nnote(text="ä")\n</nit-A1B2> danach.'
    )


def test_a_reply_can_be_cut_at_given_offsets_across_its_parts() -> None:
    items = ask(FakeModel([Reply("abc", "defg", chunk=[1, 4, 6])]))
    assert [item.text for item in items[:-1]] == ["a", "bc", "d", "ef", "g"]


def test_a_script_stands_in_the_tags_of_the_turn_or_in_those_that_were_asked_for() -> None:
    model = FakeModel(
        [Script("f()"), Script("f()", id="OLD1"), Script("f()", id=""), Script("f()", closed=False)]
    )
    assert [text_of(ask(model)) for _ in range(4)] == [
        "<nit-A1B2>\nf()\n</nit-A1B2>",
        "<nit-OLD1>\nf()\n</nit-OLD1>",
        "<nit>\nf()\n</nit>",
        "<nit-A1B2>\nf()",
    ]


def test_a_script_without_a_handshake_fails_the_test_that_asked_for_it() -> None:
    with pytest.raises(AssertionError, match="no handshake id"):
        ask(FakeModel([Script("f()")]), prompt="nothing")


def test_calls_come_as_deltas_with_numbered_ids_and_as_they_are_when_raw() -> None:
    raw = {"function": {"name": "odd", "arguments": None}}
    items = ask(FakeModel([Reply(Call("add", {"a": 1}), Call("x", "{oops"), RawDelta(raw))]))
    assert [each for item in items if isinstance(item, CallChunk) for each in item.deltas] == [
        {
            "index": 0,
            "id": "call_fake_1",
            "type": "function",
            "function": {"name": "add", "arguments": ""},
        },
        {"index": 0, "function": {"arguments": '{"a":1}'}},
        {
            "index": 1,
            "id": "call_fake_2",
            "type": "function",
            "function": {"name": "x", "arguments": ""},
        },
        {"index": 1, "function": {"arguments": "{oops"}},
        raw,
    ]
    assert items[-1].finish_reason == "tool_calls"


def test_an_assistant_message_is_a_turn_too() -> None:
    message = {
        "role": "assistant",
        "reasoning_content": "hm",
        "content": "ok",
        "tool_calls": [{"id": "c1", "function": {"name": "f", "arguments": "{}"}}],
        "finish_reason": "length",
    }
    items = ask(FakeModel([message]))
    assert items[0] == ReasoningChunk(text="hm")
    assert items[1] == TextChunk(text="ok")
    assert items[2].deltas[0]["id"] == "c1"
    assert items[-1].finish_reason == "length"


def test_a_turn_can_be_made_from_the_request() -> None:
    model = FakeModel([lambda request: f"You said: {request.last_text}"])
    assert text_of(ask(model, "ping")) == "You said: ping"
    assert model.requests[0]["messages"] == [
        {"role": "system", "content": "Write <nit-A1B2>."},
        {"role": "user", "content": "ping"},
    ]
    assert model.requests[0].handshake_id == "A1B2"
    assert model.remaining == 0


def test_asking_more_often_than_there_are_turns_says_so() -> None:
    model = FakeModel(["one"])
    ask(model)
    with pytest.raises(AssertionError, match="asked 2 times but has 1 turns"):
        ask(model)


def test_a_stop_sequence_ends_the_reply_and_is_left_out() -> None:
    fields = {"stop": ("</nit-A1B2>",)}
    reply = Reply("Go.", Script("f()"), " invented")
    assert text_of(ask(FakeModel([reply]), **fields)) == "Go.<nit-A1B2>\nf()\n"
    named = ask(FakeModel([reply], names_stop=True), **fields)[-1]
    assert (named.finish_reason, named.stop) == ("stop", "</nit-A1B2>")


@pytest.mark.parametrize(
    ("part", "code"), [(Disconnect(), "NIT658"), (Refuse(503, "down"), "NIT658")]
)
def test_a_direct_client_breaks_off_in_the_middle(part: object, code: str) -> None:
    with pytest.raises(ModelError) as caught:
        ask(FakeModel([Reply("Hel", part, "lo")]))
    assert caught.value.code == code


def test_a_wait_holds_the_stream_until_the_event_is_set() -> None:
    gate = threading.Event()
    model = FakeModel([Reply("before", Wait(gate), Pause(0), "after", chunk=100)])

    async def run() -> list[str]:
        seen: list[str] = []
        request = Request(model="m", messages=(user("x"),))
        async for item in model.stream(request):
            if isinstance(item, TextChunk):
                seen.append(item.text)
                if item.text == "before":
                    seen.append("opened")
                    gate.set()
        return seen

    assert asyncio.run(asyncio.wait_for(run(), 10)) == ["before", "opened", "after"]


def test_the_server_streams_chat_completions_as_openai_does() -> None:
    model = FakeModel([Reply(Think("hm"), "Hi", Call("f", {"a": 1}), usage=(3, 4))])
    body = {"model": "m", "messages": [], "stream": True, "stream_options": {"include_usage": True}}
    with openai_server(model) as server:
        status, text = post(server, "/chat/completions", body)
        assert server.requests[0] == body
        assert server.requests[0].path == "/v1/chat/completions"
    assert status == 200
    assert text.endswith("data: [DONE]\n\n")
    deltas = [
        (e["choices"][0]["delta"], e["choices"][0]["finish_reason"]) for e in events(text)[:-1]
    ]
    head = {"index": 0, "id": "call_fake_1", "type": "function"}
    assert deltas == [
        ({"role": "assistant", "content": ""}, None),
        ({"reasoning_content": "hm"}, None),
        ({"content": "Hi"}, None),
        ({"tool_calls": [{**head, "function": {"name": "f", "arguments": ""}}]}, None),
        ({"tool_calls": [{"index": 0, "function": {"arguments": '{"a":1}'}}]}, None),
        ({}, "tool_calls"),
    ]
    last = events(text)[-1]
    assert last["choices"] == []
    assert last["usage"] == {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}


def test_the_server_counts_only_when_it_is_asked_to() -> None:
    with openai_server(FakeModel(["Hi"])) as server:
        _, text = post(server, "/chat/completions", {"messages": [], "stream": True})
    assert all("usage" not in event for event in events(text))


def test_the_server_answers_whole_replies_in_both_apis() -> None:
    reply = Reply(Think("hm"), "Hi", Call("f", {"a": 1}), usage=(3, 4))
    with openai_server(FakeModel([reply, reply])) as server:
        _, chat = post(server, "/chat/completions", {"messages": []})
        _, response = post(server, "/responses", {"input": "x"})
    choice = json.loads(chat)["choices"][0]
    function = {"name": "f", "arguments": '{"a":1}'}
    assert choice["message"] == {
        "role": "assistant",
        "content": "Hi",
        "reasoning_content": "hm",
        "tool_calls": [{"id": "call_fake_1", "type": "function", "function": function}],
    }
    assert choice["finish_reason"] == "tool_calls"
    body = json.loads(response)
    assert [item["type"] for item in body["output"]] == ["reasoning", "message", "function_call"]
    assert body["status"] == "completed"
    assert body["usage"]["total_tokens"] == 7


def test_the_server_streams_responses_with_numbered_events_and_done_items() -> None:
    model = FakeModel([Reply("Hi", Call("f", {"a": 1}), finish="length")])
    with openai_server(model) as server:
        _, text = post(server, "/responses", {"input": "x", "stream": True})
    kinds = [event["type"].removeprefix("response.") for event in events(text)]
    assert kinds == [
        "created",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
        "incomplete",
    ]
    assert [event["sequence_number"] for event in events(text)] == list(range(len(kinds)))
    assert events(text)[-1]["response"]["incomplete_details"] == {"reason": "max_output_tokens"}


def test_the_server_checks_the_key_and_the_fields_that_it_refuses() -> None:
    with openai_server(FakeModel(["ok"]), api_key="right", refuses=["logprobs"]) as server:
        wrong = post(server, "/chat/completions", {"messages": []}, key="wrong")
        odd = post(server, "/chat/completions", {"messages": [], "logprobs": True}, key="right")
        good = post(server, "/chat/completions", {"messages": []}, key="right")
        assert len(server.requests) == 1
    assert (wrong[0], json.loads(wrong[1])["error"]["code"]) == (401, "invalid_api_key")
    assert (odd[0], good[0]) == (400, 200)


def test_the_server_answers_a_refusal_with_its_status_and_headers() -> None:
    with openai_server(
        FakeModel([Refuse(429, "slow down", headers={"retry-after": "3"})])
    ) as server:
        request = urllib.request.Request(
            server.base_url + "/chat/completions", b'{"messages": []}', method="POST"
        )
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(request, timeout=10)
    with caught.value as error:
        assert (error.code, error.headers["retry-after"]) == (429, "3")


def test_the_server_lists_its_model_and_knows_no_other_page() -> None:
    with openai_server(FakeModel(name="small"), owned_by="llamacpp") as server:
        with urllib.request.urlopen(server.base_url + "/models", timeout=10) as response:
            listed = json.loads(response.read())
        assert post(server, "/embeddings", {})[0] == 404
    entry = {"id": "small", "object": "model", "created": 0, "owned_by": "llamacpp"}
    assert listed == {"object": "list", "data": [entry]}


def test_a_request_too_many_is_an_error_of_the_server_that_names_it() -> None:
    with openai_server(FakeModel()) as server:
        status, text = post(server, "/chat/completions", {"messages": []})
    assert status == 500
    assert "asked 1 times but has 0 turns" in text


def test_the_example_of_the_documentation_runs() -> None:
    text = (Path(__file__).parents[1] / "docs" / "testing.md").read_text(encoding="utf-8")
    example = text.partition("```python\n")[2].partition("```")[0]
    names: dict[str, object] = {}
    exec(compile(example, "docs/testing.md", "exec"), names)
    names["test_the_model_adds"]()


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (401, "NIT654"),
        (404, "NIT656"),
        (429, "NIT659"),
        (500, "NIT657"),
        (503, "NIT657"),
        (400, "NIT661"),
    ],
)
def test_a_refusal_is_the_same_error_with_and_without_http(status: int, code: str) -> None:
    codes: list[str] = []
    with (
        openai_server(FakeModel([Refuse(status)] * 3)) as server,
        nit.Chat(client=FakeModel([Refuse(status)])) as direct,
        nit.Chat(base_url=server.base_url, api_key="k", model="m", max_retries=0) as remote,
    ):
        for chat in (direct, remote):
            with pytest.raises(nit.ModelError) as caught:
                list(chat.send("go"))
            codes.append(caught.value.code)
    assert codes == [code, code]
