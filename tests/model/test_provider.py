"""The provider against a real server on loopback: both APIs, retries, errors, keys."""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
import traceback
from dataclasses import dataclass, field

import pytest

from nit_kernel.errors import ModelError
from nit_kernel.model.client import (
    CallChunk,
    ModelFacts,
    ReasoningChunk,
    ReplyEnd,
    TextChunk,
    TokenUsage,
)
from nit_kernel.model.endpoint import Endpoint
from nit_kernel.model.messages import Request, assistant, call_entry, system, tool_result, user
from nit_kernel.model.provider import Provider, is_openai_client
from nit_kernel.testing import (
    Call,
    Disconnect,
    FakeModel,
    Refuse,
    Reply,
    Think,
    Wait,
    openai_server,
)

KEY = "sk-test-0123456789abcdef"
SECRET = "0123456789abcdef"
ALL_WAYS = [("chat", True), ("chat", False), ("responses", True), ("responses", False)]


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "NIT_MODEL"):
        monkeypatch.delenv(name, raising=False)


@dataclass
class Outcome:
    items: list[object] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    error: ModelError | None = None

    @property
    def text(self) -> str:
        return "".join(item.text for item in self.items if isinstance(item, TextChunk))


HELLO = Request(model="", messages=(system("be kind"), user("hello")))


def ask(request: Request = HELLO, **endpoint) -> Outcome:
    outcome = Outcome()

    async def run() -> None:
        provider = Provider(Endpoint(**endpoint))
        try:
            async for item in provider.stream(request, notify=outcome.notices.append):
                outcome.items.append(item)
        except ModelError as error:
            outcome.error = error
        finally:
            await provider.aclose()

    asyncio.run(asyncio.wait_for(run(), 30))
    return outcome


@pytest.mark.parametrize(("api", "stream"), ALL_WAYS)
def test_words_thoughts_calls_and_usage_come_out_alike_whatever_the_api(api, stream) -> None:
    reply = Reply(Think("hm"), "Hello there", Call("add", {"a": 1}), usage=(5, 6))
    with openai_server(FakeModel([reply])) as server:
        outcome = ask(base_url=server.base_url, api=api, stream=stream)
    assert outcome.error is None
    assert outcome.text == "Hello there"
    thoughts = [item.text for item in outcome.items if isinstance(item, ReasoningChunk)]
    assert thoughts == ["hm"]
    chunks = [item for item in outcome.items if isinstance(item, CallChunk)]
    calls = [each for chunk in chunks for each in chunk.deltas]
    assert calls[0]["id"] == "call_fake_1"
    assert calls[0]["function"]["name"] == "add"
    assert "".join(call["function"]["arguments"] for call in calls) == '{"a":1}'
    end = outcome.items[-1]
    assert isinstance(end, ReplyEnd)
    assert (end.finish_reason, end.stop) == ("tool_calls", None)
    assert end.usage == TokenUsage(prompt_tokens=5, completion_tokens=6)
    assert list(end.message) == (["reasoning_items"] if api == "responses" else [])


def test_reasoning_in_either_field_is_reasoning() -> None:
    reply = Reply(Think("a", field="reasoning"), Think("b", field="reasoning_content"), "c")
    with openai_server(FakeModel([reply])) as server:
        outcome = ask(base_url=server.base_url)
    assert outcome.items[:2] == [ReasoningChunk(text="a"), ReasoningChunk(text="b")]


def test_responses_get_the_history_as_items_and_their_reasoning_back() -> None:
    thought = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"}
    called = assistant("on it", calls=[call_entry("c1", "add", '{"a":1}')])
    called["reasoning_items"] = [thought]
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}
    request = Request(
        model="m",
        messages=(
            system("one"),
            user([{"type": "text", "text": "look"}, image]),
            called,
            tool_result("c1", "2", name="add"),
            {"role": "system", "content": "late", "kind": "handshake"},
        ),
        tools=(
            {"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}},
        ),
        tool_choice={"type": "function", "function": {"name": "add"}},
        stop=("never",),
        extra={"max_tokens": 9, "temperature": 0},
    )
    with openai_server(FakeModel(["ok"])) as server:
        assert ask(request, base_url=server.base_url, api="responses").error is None
        body = dict(server.requests[0])
    assert body == {
        "model": "m",
        "instructions": "one",
        "input": [
            {
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "look"},
                    {
                        "type": "input_image",
                        "image_url": "data:image/png;base64,AA",
                        "detail": "auto",
                    },
                ],
            },
            thought,
            {"role": "assistant", "content": "on it"},
            {"type": "function_call", "call_id": "c1", "name": "add", "arguments": '{"a":1}'},
            {"type": "function_call_output", "call_id": "c1", "output": "2"},
            {"role": "system", "content": "late"},
        ],
        "tools": [
            {"type": "function", "name": "add", "parameters": {"type": "object"}, "strict": False}
        ],
        "tool_choice": {"type": "function", "name": "add"},
        "max_output_tokens": 9,
        "temperature": 0,
        "store": False,
        "stream": True,
    }


def test_chat_completions_get_the_messages_without_keys_of_ours() -> None:
    said = assistant("ok", reasoning="secret thought")
    said["reasoning_items"] = [{"type": "reasoning"}]
    request = Request(
        model="m", messages=(user("a"), said, user("half \ud83d")), stop=("x",), extra={"top_k": 3}
    )
    with openai_server(FakeModel(["ok"])) as server:
        assert ask(request, base_url=server.base_url).error is None
        body = dict(server.requests[0])
    assert body == {
        "model": "m",
        "messages": [
            {"role": "user", "content": "a"},
            {"role": "assistant", "content": "ok"},
            {"role": "user", "content": "half \ufffd"},
        ],
        "stop": ["x"],
        "top_k": 3,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_a_server_that_refuses_to_count_is_asked_without() -> None:
    with openai_server(FakeModel(["one"]), refuses=["stream_options"]) as server:
        outcome = ask(base_url=server.base_url)
        assert "stream_options" not in server.requests[0]
    assert (outcome.text, outcome.items[-1].usage) == ("one", None)


def test_the_other_name_of_the_length_is_tried_when_one_is_refused() -> None:
    request = Request(model="m", messages=(user("a"),), extra={"max_tokens": 7})
    with openai_server(FakeModel(["one"]), refuses=["max_tokens"]) as server:
        assert ask(request, base_url=server.base_url).text == "one"
        assert server.requests[0]["max_completion_tokens"] == 7


def test_the_only_model_of_a_server_is_taken_and_its_kind_found_out() -> None:
    async def facts(url: str) -> ModelFacts:
        provider = Provider(Endpoint(base_url=url))
        try:
            return await provider.facts()
        finally:
            await provider.aclose()

    with openai_server(FakeModel(name="qwen"), owned_by="llamacpp") as server:
        found = asyncio.run(facts(server.base_url))
    assert found == ModelFacts(
        model="qwen",
        address=server.base_url,
        is_local=True,
        takes_stop=True,
        grammar="gbnf",
        server="llama.cpp",
    )


def test_without_key_and_address_two_lines_say_what_to_set() -> None:
    outcome = ask()
    assert outcome.error is not None
    assert outcome.error.code == "NIT650"
    lines = str(outcome.error).splitlines()
    assert len(lines) == 2
    assert "OPENAI_API_KEY" in lines[0]
    assert "OPENAI_BASE_URL" in lines[0]
    assert "%nit model local" in lines[1]


def test_a_key_without_a_model_asks_for_the_model() -> None:
    outcome = ask(api_key=KEY)
    assert outcome.error is not None
    assert (outcome.error.code, "NIT_MODEL" in str(outcome.error)) == ("NIT651", True)


def test_settings_come_from_the_environment_and_blanks_are_stripped(monkeypatch) -> None:
    with openai_server(FakeModel(["ok"]), api_key=KEY) as server:
        monkeypatch.setenv("OPENAI_API_KEY", f" {KEY}\n")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.base_url}/ ")
        monkeypatch.setenv("NIT_MODEL", " tiny ")
        assert ask().text == "ok"
        assert server.requests[0]["model"] == "tiny"


@pytest.mark.parametrize("key", [None, KEY, f" {KEY}\n", "sk-\u00e4\u00f6\u00fc-0123456789abcdef"])
@pytest.mark.parametrize("fault", ["401", "429", "refused", "in stream"])
def test_no_error_log_or_trace_holds_the_key(key, fault, caplog) -> None:
    caplog.set_level(logging.DEBUG)
    said = f"Incorrect API key provided: {KEY}"
    turns = {
        "401": [Refuse(401, said)],
        "429": [Refuse(429, said, headers={"x-should-retry": "false", "retry-after": "1"})],
        "in stream": [Reply("Hello", Refuse(500, said))],
        "refused": [],
    }
    outcome = Outcome()
    with openai_server(FakeModel(turns[fault])) as server:
        url = server.base_url
        if fault != "refused":
            outcome = ask(base_url=url, api_key=key, model="tiny")
    if fault == "refused":
        outcome = ask(base_url=url, api_key=key, model="tiny", max_retries=0)
    error = outcome.error
    assert error is not None
    shown = "".join(traceback.format_exception(error)) + str(error) + repr(error) + caplog.text
    assert SECRET not in shown
    assert len(str(error).splitlines()) <= 6
    assert url in str(error)
    assert (error.__cause__, error.__context__) == (None, None)
    if fault == "401":
        assert "OPENAI_API_KEY" in str(error)


def test_a_rate_limit_waits_as_told_and_says_so() -> None:
    with openai_server(
        FakeModel([Refuse(429, "slow", headers={"retry-after": "0.05"}), "ok"])
    ) as server:
        outcome = ask(base_url=server.base_url)
        url = server.base_url
    assert outcome.text == "ok"
    assert outcome.notices == [f"{url} limits the rate (HTTP 429); trying again in 0.05 s (2 of 3)"]


def test_a_rate_limit_that_stays_names_the_wait() -> None:
    refuse = Refuse(429, "slow", headers={"retry-after": "900"})
    with openai_server(FakeModel([refuse])) as server:
        outcome = ask(base_url=server.base_url)
    assert outcome.notices == []
    assert outcome.error is not None
    assert outcome.error.code == "NIT659"
    assert "900 s" in outcome.error.message


def test_a_connection_lost_before_the_stream_is_tried_again_with_a_notice() -> None:
    with openai_server(FakeModel([Disconnect(), "ok"])) as server:
        outcome = ask(base_url=server.base_url, model="m")
        url = server.base_url
    assert outcome.text == "ok"
    assert outcome.notices == [f"no answer from {url}; trying again (2 of 3)"]


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_a_stream_that_breaks_gives_what_came_and_then_the_error(api) -> None:
    with openai_server(FakeModel([Reply("Hello", Disconnect())], chunk=2)) as server:
        outcome = ask(base_url=server.base_url, api=api)
    assert outcome.text == "Hello"
    assert outcome.error is not None
    assert outcome.error.code == "NIT658"


@pytest.mark.parametrize(
    ("status", "said", "code"),
    [
        (401, "bad key", "NIT654"),
        (403, "not yours", "NIT654"),
        (404, "The model `m` does not exist", "NIT655"),
        (404, "no such page", "NIT656"),
        (400, "This model's maximum context length is 4096 tokens", "NIT660"),
        (400, "messages: too odd", "NIT661"),
        (422, "extra fields", "NIT661"),
    ],
)
def test_each_refusal_has_a_code_and_says_what_to_set(status, said, code) -> None:
    with openai_server(FakeModel([Refuse(status, said)])) as server:
        outcome = ask(base_url=server.base_url, model="m")
    assert outcome.error is not None
    assert outcome.error.code == code
    assert said in outcome.error.message
    assert outcome.error.hint


def test_a_server_that_fails_is_tried_three_times() -> None:
    with openai_server(FakeModel([Refuse(500, "boom")] * 3)) as server:
        outcome = ask(base_url=server.base_url)
        assert len(server.requests) == 3
    assert outcome.error is not None
    assert outcome.error.code == "NIT657"
    assert len(outcome.notices) == 2


def test_a_refused_connection_names_the_address() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    outcome = ask(base_url=url, model="m", max_retries=0)
    assert outcome.error is not None
    assert outcome.error.code == "NIT652"
    assert outcome.error.message == f"no answer from {url}: connection refused"


def test_a_silent_server_is_given_up() -> None:
    gate = threading.Event()
    with openai_server(FakeModel([Reply(Wait(gate), "late")])) as server:
        outcome = ask(base_url=server.base_url, timeout_s=0.2, max_retries=0)
    assert outcome.error is not None
    assert outcome.error.code == "NIT653"


def test_a_page_that_is_no_api_is_named_as_such() -> None:
    with openai_server(FakeModel(["x"])) as server:
        outcome = ask(base_url=server.base_url.removesuffix("/v1") + "/other", model="m")
    assert outcome.text == "x"
    with openai_server(FakeModel([Refuse(404, "<html>nothing here</html>")])) as server:
        outcome = ask(base_url=server.base_url, model="m")
    assert outcome.error is not None
    assert outcome.error.code == "NIT656"
    assert "/v1" in str(outcome.error.hint)


def test_closing_a_stream_hangs_up_on_the_server() -> None:
    gate = threading.Event()

    async def run(url: str) -> None:
        provider = Provider(Endpoint(base_url=url))
        stream = provider.stream(HELLO)
        async for item in stream:
            assert item == TextChunk(text="first")
            break
        await stream.aclose()
        await provider.aclose()

    with openai_server(FakeModel([Reply("first", Wait(gate), "never", chunk=100)])) as server:
        asyncio.run(asyncio.wait_for(run(server.base_url), 20))
        assert server.requests[0].gone.wait(10)


def test_a_client_of_the_openai_package_can_be_given() -> None:
    import openai

    async def run(url: str) -> str:
        given = openai.AsyncOpenAI(base_url=url, api_key=KEY, max_retries=0)
        assert is_openai_client(given)
        provider = Provider(Endpoint(model="m"), client=given)
        text = [item.text async for item in provider.stream(HELLO) if isinstance(item, TextChunk)]
        await given.close()
        return "".join(text)

    with openai_server(FakeModel(["from yours"]), api_key=KEY) as server:
        assert asyncio.run(run(server.base_url)) == "from yours"
    assert not is_openai_client(FakeModel())


def test_a_client_of_yours_stays_open_and_a_blocking_one_lends_its_settings() -> None:
    import openai

    async def run(url: str) -> None:
        given = openai.AsyncOpenAI(base_url=url, api_key=KEY)
        provider = Provider(Endpoint(model="m"), client=given)
        assert [item async for item in provider.stream(HELLO)]
        await provider.aclose()
        assert not given.is_closed()
        await given.close()
        blocking = openai.OpenAI(base_url=url, api_key=KEY, organization="org", max_retries=0)
        provider = Provider(Endpoint(model="m"), client=blocking)
        assert [item async for item in provider.stream(HELLO)]
        await provider.aclose()
        blocking.close()

    with openai_server(FakeModel(["a", "b"]), api_key=KEY) as server:
        asyncio.run(run(server.base_url))
        assert server.requests[1].headers["openai-organization"] == "org"
