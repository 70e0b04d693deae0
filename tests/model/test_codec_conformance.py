"""The check of the interface: every codec of ours passes it, and so does the example."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import nit_kernel as nit
from nit_kernel.language.schema import ToolSpec
from nit_kernel.model.codecs.codec import DecodeContext, decode_reply, repair_message
from nit_kernel.model.codecs.text_calls import TEXT_FORMATS
from nit_kernel.model.messages import Request, assistant, call_entry, tool_result, user

EXAMPLE = Path(__file__).parents[2] / "examples" / "custom_codec.py"

OURS = [
    nit.nit_codec(),
    nit.nit_codec(stop_at_block=True, handshake_place="first", past_blocks="fence"),
    nit.nit_codec(legacy=True, past_blocks="tag"),
    nit.native_codec(),
    nit.native_codec(rescue=nit.text_codec("hermes")),
    nit.json_codec(),
    nit.json_codec(schema=True),
    nit.react_codec(),
    nit.react_codec(several=True),
    *[nit.text_codec(form) for form in sorted(TEXT_FORMATS)],
]


def example_codec() -> Any:
    spec = importlib.util.spec_from_file_location("custom_codec", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.AngleCodec()


@pytest.mark.parametrize("codec", OURS, ids=repr)
def test_our_codecs_keep_the_promises_of_the_interface(codec: Any) -> None:
    assert len(nit.codec_conformance(codec)) == 13


def test_the_example_keeps_them_too() -> None:
    assert nit.codec_conformance(example_codec()) == (
        "The codec has `streaming`, `encode` and `decode`",
        "`encode` gives the same for the same, and leaves what it was given alone",
        "`encode` tells the model of every tool",
        "`encode` shows earlier calls and their results",
        "An earlier script is in the history as text and report, not as calls",
        "Plain prose comes out of `decode` and of the stream as it went in",
        "`decode` reads the calls that `encode` writes",
        "The text of a reply with a call shows nothing of the protocol",
        "A reply that the token limit cut off is never completed by guess",
        "Whatever a model writes, `decode` returns or raises `CodecError`",
        "Ids are the same for the same reply, and unlike those already used",
        "What a tool returned calls nothing when the model repeats it word for word",
        "`repair_prompt`, if there is one, gives a text or a message",
    )


def test_the_example_is_twenty_lines() -> None:
    lines = EXAMPLE.read_text(encoding="utf-8").split("class AngleCodec")[1].split("if __name__")[0]
    assert len([line for line in lines.split("\n")[1:] if line.strip()]) <= 25


def test_results_are_defused_for_a_codec_that_names_no_triggers() -> None:
    codec = example_codec()
    codec.triggers = ()
    assert len(nit.codec_conformance(codec)) == 13


class Broken:
    """A codec that works, and whose parts the tests below break one by one."""

    streaming = "buffer"

    def __init__(self) -> None:
        self._good = nit.json_codec()

    def encode(self, request: Any, tools: Any) -> Any:
        return self._good.encode(request, tools)

    def decode(self, message: Any, context: Any) -> Any:
        return self._good.decode(message, context)


class WrongStreaming(Broken):
    streaming = "sometimes"


class ImpureEncode(Broken):
    def encode(self, request: Any, tools: Any) -> Any:
        request.messages[0]["content"] += "!"
        return super().encode(request, tools)


class ForgetsTools(Broken):
    def encode(self, request: Any, tools: Any) -> Any:
        return super().encode(request, tools[:1])


class ForgetsResults(Broken):
    def encode(self, request: Any, tools: Any) -> Any:
        kept = [message for message in request.messages if message["role"] != "tool"]
        return super().encode(request.with_messages(kept), tools)


class GuessesTheEnd(Broken):
    def decode(self, message: Any, context: Any) -> Any:
        text = message["content"] or ""
        cut = text.startswith('{"type": "tool_calls"') and not text.endswith("}]}")
        text = text + '"}}]}' if cut else text
        return super().decode({**message, "content": text}, replace(context, finish_reason="stop"))


class ShowsTheProtocol(Broken):
    def decode(self, message: Any, context: Any) -> Any:
        return replace(super().decode(message, context), text=message["content"] or "")


class RaisesAnything(Broken):
    def decode(self, message: Any, context: Any) -> Any:
        if (message["content"] or "").strip() in ("}{", '{"'):
            raise KeyError("calls")
        return super().decode(message, context)


class EatsProse(Broken):
    def decode(self, message: Any, context: Any) -> Any:
        decoded = super().decode(message, context)
        return replace(decoded, text=decoded.text.replace("`", ""))


class RandomIds(Broken):
    def decode(self, message: Any, context: Any) -> Any:
        import secrets

        decoded = super().decode(message, context)
        calls = [replace(call, id=secrets.token_hex(8)) for call in decoded.calls]
        return replace(decoded, calls=calls)


class RepairsWithNothing(Broken):
    def repair_prompt(self, error: Any, attempt: int, tools: Any) -> Any:
        del error, attempt, tools
        return ""


@pytest.mark.parametrize(
    ("codec", "finding"),
    [
        (WrongStreaming, "`streaming` is 'sometimes'"),
        (ImpureEncode, "it changed its request"),
        (ForgetsTools, "`get-weather` is nowhere in the request"),
        (ForgetsResults, "the text 'quagga-5190' of an earlier exchange is gone"),
        (GuessesTheEnd, "it calls"),
        (ShowsTheProtocol, "the text is '{"),
        (RaisesAnything, "raised KeyError"),
        (EatsProse, "became Decoded"),
        (RandomIds, "are others the next time"),
        (RepairsWithNothing, "it gave"),
    ],
)
def test_a_codec_that_breaks_a_promise_is_found_out(codec: Any, finding: str) -> None:
    assert nit.codec_conformance(Broken())
    with pytest.raises(AssertionError, match="breaks the interface") as caught:
        nit.codec_conformance(codec())
    assert finding in str(caught.value)


def test_a_codec_may_leave_ids_and_the_repair_prompt_to_the_loop() -> None:
    codec = example_codec()
    message = {"role": "assistant", "content": '<<tool:note {"a": 1}>> <<tool:note {"a": 1}>>'}
    first, second = decode_reply(codec, message, DecodeContext()).calls
    assert first.id.startswith("call_")
    assert second.id not in ("", first.id)
    error = nit.CodecError("a call does not end", code="NIT601", hint="end it with >>")
    assert repair_message(codec, error, 1, ()) == {
        "role": "user",
        "content": "Your last reply could not be read: a call does not end. end it with >>. Write "
        "the whole reply again.",
        "kind": "repair",
    }


@pytest.mark.parametrize("before", OURS, ids=repr)
@pytest.mark.parametrize("after", [OURS[0], OURS[3], OURS[5], OURS[7]], ids=repr)
def test_a_session_can_change_its_codec_in_the_middle(before: Any, after: Any) -> None:
    tools = (ToolSpec(name="note", description="Notes.", parameters={"type": "object"}),)
    messages = (
        user("one"),
        assistant("", calls=[call_entry("c1", "note", json.dumps({"text": "zebra"}))]),
        tool_result("c1", "quagga"),
        user("two"),
    )
    request = Request(model="m", messages=messages, handshake="A1B2")
    assert before.encode(request, tools).messages
    encoded = after.encode(request, tools)
    told = json.dumps(list(encoded.messages))
    assert told.count("zebra") == told.count("quagga") == 1
