"""A real small model: served by us, streaming, writing scripts with and without a grammar.

Needs `NIT_TEST_MODEL_URL` (a server that runs) or `NIT_TEST_GGUF` (a file to serve). The rates that
are printed are what the choices of prompt and history rest on: `pytest -m model -s`.
"""

from __future__ import annotations

import os
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from chatting import assert_valid, only, shown

import nit_kernel as nit
from nit_kernel.model.codecs.nit import NitCodec
from nit_kernel.model.events import BlockFinished, BlockProgress, ChatEvent, TextDelta
from nit_kernel.model.local import LocalServer

pytestmark = [pytest.mark.model, pytest.mark.timeout(1800)]

REQUESTS = [
    ("What is the weather in Oslo?", ["get_weather"]),
    ("Keep a note that says: buy milk.", ["add_note"]),
    ("Mail bob@y.org that dinner is at eight.", ["send_mail"]),
    ("Get the weather in Paris and mail it to ann@x.org.", ["get_weather", "send_mail"]),
    ("How is the weather in Rome today?", ["get_weather"]),
    ("Write a note: call the dentist.", ["add_note"]),
    ("Tell carl@z.org by mail that the train is late.", ["send_mail"]),
    ("Look up the weather in Lima and keep it as a note.", ["get_weather", "add_note"]),
    ("Is it raining in Bergen?", ["get_weather"]),
    ("Note down that the key is under the mat.", ["add_note"]),
    ("Send a mail to dora@w.org with the text: happy birthday.", ["send_mail"]),
    ("Get the weather of Berlin, then mail it to eve@v.org.", ["get_weather", "send_mail"]),
    ("What is the weather like in Madrid?", ["get_weather"]),
    ("Make a note: pay the rent on Friday.", ["add_note"]),
    ("Mail frank@u.org: the meeting is cancelled.", ["send_mail"]),
    ("Find out the weather in Kyoto and write it into a note.", ["get_weather", "add_note"]),
    ("Weather in Dublin, please.", ["get_weather"]),
    ("Remember in a note that Ann likes tea.", ["add_note"]),
    ("Write to gina@t.org: see you tomorrow.", ["send_mail"]),
    ("Compare the weather in Oslo and Rome in a note.", ["get_weather", "get_weather", "add_note"]),
]


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    url, file = os.environ.get("NIT_TEST_MODEL_URL"), os.environ.get("NIT_TEST_GGUF")
    if url:
        yield url
    elif file:
        with LocalServer(Path(file), context_tokens=4096) as server:
            yield server.base_url
    else:
        pytest.skip("set NIT_TEST_MODEL_URL or NIT_TEST_GGUF to test with a real model")


@dataclass
class Office:
    """Three tools that note their calls."""

    calls: list[str] = field(default_factory=list)

    @property
    def tools(self) -> list[object]:
        @nit.tool(side_effects="none")
        def get_weather(city: str) -> dict[str, object]:
            """Get the weather of a city."""
            self.calls.append("get_weather")
            return {"city": city, "sky": "rain", "degrees": 12}

        @nit.tool(side_effects="none")
        def add_note(text: str) -> str:
            """Keep a note."""
            self.calls.append("add_note")
            return "kept"

        @nit.tool(side_effects="none")
        def send_mail(to: str, text: str) -> str:
            """Send a mail to an address."""
            self.calls.append("send_mail")
            return "sent"

        return [get_weather, add_note, send_mail]


@dataclass
class Rates:
    """How the replies to all requests came out."""

    with_script: int = 0
    syntax: int = 0
    known: int = 0
    valid: int = 0
    right: int = 0
    faults: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"of {len(REQUESTS)}: {self.with_script} with a script, {self.syntax} parse, "
            f"{self.known} call known tools with known parameters, {self.valid} valid, "
            f"{self.right} the right tools"
        )


UNKNOWN = ("NIT301", "NIT302", "NIT303", "NIT304")


def first_replies(base_url: str, codec: NitCodec) -> Rates:
    """Ask each request once, and judge the script of the reply; nothing is repaired."""
    rates = Rates()
    for text, wanted in REQUESTS:
        office = Office()
        with (
            nit.Session(tools=office.tools) as session,
            nit.Chat(
                base_url=base_url,
                session=session,
                codec=codec,
                fallback=None,
                max_rounds=1,
                max_decode_retries=0,
                extra={"temperature": 0, "max_tokens": 400},
            ) as chat,
        ):
            events: list[ChatEvent] = []
            try:
                events.extend(chat.send(text))
            except nit.CodecError as error:
                rates.faults.append(f"{text}: {error.message}")
                events.extend([])
            blocks = only(events, BlockFinished)
            scripts = [block.script for block in blocks]
            rates.with_script += bool(scripts)
            parsed = [nit.parse(script) for script in scripts if _parses(script)]
            rates.syntax += bool(scripts) and len(parsed) == len(scripts)
            found = [d for script in scripts for d in nit.check(script, session)]
            unknown = [d for d in found if _is_unknown(d.message)]
            rates.known += bool(parsed) and not unknown
            rates.faults += [f"{text}: {d.message}" for d in unknown]
            rates.valid += bool(scripts) and not any(d.severity == "error" for d in found)
            rates.right += office.calls == wanted
    return rates


def _parses(script: str) -> bool:
    try:
        nit.parse(script)
    except nit.NitSyntaxError:
        return False
    return True


def _is_unknown(message: str) -> bool:
    return "no tool" in message or "no parameter" in message or "unknown" in message


def test_our_server_starts_answers_and_ends() -> None:
    file = os.environ.get("NIT_TEST_GGUF")
    if not file:
        pytest.skip("set NIT_TEST_GGUF to test the server")
    with LocalServer(Path(file), context_tokens=2048) as server:
        with urllib.request.urlopen(f"{server.base_url}/models", timeout=30) as answer:
            assert Path(file).stem in answer.read().decode()
        assert server.is_running
    assert not server.is_running
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(f"{server.base_url}/models", timeout=5)


def test_words_stream_and_are_counted(base_url: str) -> None:
    with nit.Session() as session, nit.Chat(base_url=base_url, session=session) as chat:
        chat.extra = {"temperature": 0, "max_tokens": 40}
        events = list(chat.send("Count from one to ten in words."))
        usage = chat.usage
    assert len(only(events, TextDelta)) > 3
    assert "three" in shown(events).lower()
    assert usage.tokens.completion_tokens > 3
    assert usage.first_token_s is not None
    assert usage.first_token_s <= usage.seconds


class LarkForLlama(NitCodec):
    """Sends the Lark where llama.cpp takes it; vLLM has a field of its own for it."""

    def encode(self, request, tools):
        encoded = super().encode(request, tools)
        lark = encoded.extra["structured_outputs"]["grammar"]
        return replace(encoded, extra={**request.extra, "grammar": f"%llguidance {{}}\n{lark}"})


@pytest.mark.parametrize("form", ["gbnf", "lark"])
def test_under_a_grammar_every_script_parses_and_knows_its_tools(base_url, form, capsys) -> None:
    make = NitCodec if form == "gbnf" else LarkForLlama
    codec = make(grammar=form, stop_at_block=True, firm=True)
    rates = first_replies(base_url, codec)
    with capsys.disabled():
        print(f"\nwith {form} {rates}")
    assert rates.faults == []
    assert rates.with_script == rates.syntax == rates.known
    assert rates.with_script >= len(REQUESTS) // 2


def test_the_rates_without_a_grammar_are_printed(base_url: str, capsys) -> None:
    codec = nit.nit_codec(stop_at_block=True, firm=True)
    rates = first_replies(base_url, codec)
    with capsys.disabled():
        print(f"\nfree {rates}")
        for fault in rates.faults:
            print(f"   {fault}")
    assert rates.with_script > 0


def test_two_turns_run_scripts_and_leave_a_valid_conversation(base_url: str, capsys) -> None:
    office = Office()
    with (
        nit.Session(tools=office.tools) as session,
        nit.Chat(base_url=base_url, session=session, max_rounds=3) as chat,
    ):
        chat.extra = {"temperature": 0, "max_tokens": 200}
        for text in ("Keep a note that says: buy milk.", "Mail bob@y.org that dinner is at eight."):
            for event in chat.send(text):
                if not isinstance(event, (BlockProgress, TextDelta)):
                    with capsys.disabled():
                        print(f"   {event!s:.160}")
        assert_valid(chat)
        assert len([m for m in chat.history if m["role"] == "user" and "kind" not in m]) == 2
    assert office.calls


@pytest.mark.parametrize("style", ["form", "tag", "fence", "plain"])
def test_how_earlier_blocks_stand_decides_how_often_their_tag_is_copied(base_url, style, capsys):
    office = Office()
    codec = nit.nit_codec(past_blocks=style, stop_at_block=True, firm=True)
    rejected = good = 0
    with (
        nit.Session(tools=office.tools) as session,
        nit.Chat(
            base_url=base_url, session=session, codec=codec, max_rounds=1, fallback=None
        ) as chat,
    ):
        chat.extra = {"temperature": 0, "max_tokens": 100}
        for text, _ in REQUESTS[:6]:
            try:
                events = list(chat.send(text))
            except nit.CodecError:
                continue
            rejected += any("<nit" in event.text for event in only(events, TextDelta))
            good += any(block.status == "ok" for block in only(events, BlockFinished))
        assert_valid(chat)
    with capsys.disabled():
        print(f"\nearlier blocks as {style}: {good} of 6 ran a script, {rejected} wrote a dead tag")
    assert good > 0 or style != "form"
