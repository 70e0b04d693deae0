"""Scripts in handshake tags: the default. Chains, parallel work, large intermediate values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, cast

from nit_kernel._syntax import Block, Reasoning, Rejected, Text, Unclosed
from nit_kernel.errors import CodecError
from nit_kernel.language.schema import JsonObject, ToolSpec
from nit_kernel.model.codecs.codec import (
    DecodeContext,
    Decoded,
    PlainStream,
    ReplyStream,
    Streaming,
)
from nit_kernel.model.codecs.entries import entries_of, honoured, read_entries
from nit_kernel.model.codecs.faults import cut_off, open_block, open_reasoning
from nit_kernel.model.codecs.history import Exchange, rewritten, with_late_system
from nit_kernel.model.codecs.nit_stream import NitStream
from nit_kernel.model.codecs.nit_text import call_as_script
from nit_kernel.model.codecs.reasoning import REASONING_TAGS, joined_reasoning, split_reasoning
from nit_kernel.model.grammar import GrammarFormat, grammar
from nit_kernel.model.messages import Message, Request, is_person, reasoning_of, text_of
from nit_kernel.model.messages import repair as repair_message
from nit_kernel.model.prompt import (
    AFTER_REPORT,
    CATALOGUE_TOOLS,
    LEGACY,
    NIT,
    NIT_FORM,
    RESULT_CHARS,
    catalogue,
    handshake,
    outcomes,
    rejected_tag,
    repair,
)

Placement = Literal["late", "first"]
PastBlocks = Literal["form", "tag", "fence", "plain"]


class NitCodec:
    """Asks for NIT scripts between tags that carry the turn's id.

    Args:
        instructions: Appended after the protocol.
        legacy: Whether NIT 1.0 blocks run too. They carry no id, so whatever makes the model
            repeat one makes it run: this gives up the handshake.
        stop_at_block: Whether a reply ends at its first block. Small models go on and invent its
            results.
        grammar: The form of grammar to send, for servers that decode under one.
        catalogue_tools: Above this number of tools the catalogue is a short list.
        handshake_place: Where the id stands: `"late"`, in a system message before the person's
            last one, or `"first"`, at the end of the system prompt, for templates that allow one
            system message only.
        past_blocks: How scripts of earlier turns stand in the history, where an old id would be
            copied: in a tag that is none (`"form"`, `<nit-XXXX>`), in a `"tag"` with the id of this
            turn, in a `"fence"`, or `"plain"`. Scripts of this turn keep their tag. Measured:
            without tags in its history a small model writes none (`docs/codecs.md`), and a `"tag"`
            costs the server's cache of what follows it.
        firm: Whether a script is asked for outright, as models of a few billion parameters need it,
            instead of being left to the model.
        reasoning: The tags around reasoning.
        result_chars: Longest result of another codec's call that goes back whole.
    """

    name = "nit"
    streaming: Streaming = "filter"
    defuses = True

    def __init__(
        self,
        *,
        instructions: str = "",
        legacy: bool = False,
        stop_at_block: bool = False,
        grammar: GrammarFormat | None = None,
        catalogue_tools: int = CATALOGUE_TOOLS,
        handshake_place: Placement = "late",
        past_blocks: PastBlocks = "form",
        firm: bool = False,
        reasoning: Sequence[str] = REASONING_TAGS,
        result_chars: int = RESULT_CHARS,
    ) -> None:
        self.legacy = legacy
        self.stop_at_block = stop_at_block
        self._instructions = instructions
        self._grammar: GrammarFormat | None = grammar
        self._catalogue_tools = catalogue_tools
        self._place: Placement = handshake_place
        self._past_blocks: PastBlocks = past_blocks
        self._firm = firm
        self._reasoning = tuple(reasoning)
        self._result_chars = result_chars

    def __repr__(self) -> str:
        return f"nit_codec(stop_at_block={self.stop_at_block}, grammar={self._grammar!r})"

    def encode(self, request: Request, tools: Sequence[ToolSpec]) -> Request:
        """Return the request with the language, the catalogue, and late in it the id."""
        parts = (
            NIT,
            LEGACY if self.legacy else "",
            self._instructions,
            catalogue(tools, limit=self._catalogue_tools, has_help=True),
        )
        encoded = request.with_system("\n\n".join(part for part in parts if part))
        stop = encoded.stop
        if request.handshake is not None:
            late = handshake(
                request.handshake, request.variables, request.tool_choice, is_firm=self._firm
            )
            if self._place == "first":
                encoded = encoded.with_system(late)
            else:
                encoded = encoded.with_messages(with_late_system(encoded.messages, late))
            if self.stop_at_block:
                stop = tuple(dict.fromkeys((*stop, f"</nit-{request.handshake}>")))
        writer = _PastWriter(request.handshake, self._past_blocks, tools, self._result_chars)
        return replace(
            encoded,
            messages=tuple(writer.rewritten(encoded)),
            tools=(),
            stop=stop,
            extra={**encoded.extra, **self._grammar_fields(request, tools)},
        )

    def stream(self, context: DecodeContext) -> ReplyStream:
        """Return what turns a reply into text and blocks while it comes."""
        if context.handshake is None:
            return PlainStream(visible=True)
        return NitStream(
            context.handshake,
            legacy=self.legacy,
            reasoning=self._reasoning,
            stop_at_block=self.stop_at_block,
        )

    def decode(self, message: Message, context: DecodeContext | None = None) -> Decoded:
        """Return the reply's text and scripts.

        Without a context there is no id, and so there are no scripts.

        Raises:
            CodecError: The only block of the reply was never closed, or was cut off.
        """
        context = context or DecodeContext()
        raw = text_of(message)
        stream = self.stream(context)
        events = [
            *stream.feed(raw),
            *stream.finish(context.finish_reason or "stop", context.stop_reason),
        ]
        scripts = [event.script for event in events if isinstance(event, Block)]
        unclosed = [event.script for event in events if isinstance(event, Unclosed)]
        calls, warnings = read_entries(entries_of(message), context)
        warnings += [rejected_tag(event.tag) for event in events if isinstance(event, Rejected)]
        if unclosed:
            is_cut = context.finish_reason == "length"
            error = cut_off(raw, len(raw)) if is_cut else open_block(unclosed[0])
            if not scripts:
                raise error
            warnings.append(f"{error.message}: it was the last of several")
        elif context.finish_reason == "length":
            warnings.append("the reply was cut off by the token limit")
        elif not scripts and context.handshake is not None:
            split = split_reasoning(raw)
            if f"<nit-{context.handshake}>" in split.open_text:
                raise open_reasoning(raw, split.open_at)
        thoughts = "".join(event.text for event in events if isinstance(event, Reasoning))
        decoded = Decoded(
            text="".join(event.text for event in events if isinstance(event, Text)),
            calls=calls,
            scripts=scripts,
            reasoning=joined_reasoning(reasoning_of(message), thoughts),
            warnings=warnings,
        )
        return honoured(decoded, replace(context, tool_choice=_demanded(context.tool_choice)))

    def repair_prompt(self, error: CodecError, attempt: int, tools: Sequence[ToolSpec]) -> Message:
        """Return the message that asks for a better script."""
        del attempt, tools
        return repair_message(repair(error, NIT_FORM))

    def _grammar_fields(self, request: Request, tools: Sequence[ToolSpec]) -> JsonObject:
        if self._grammar is None or request.handshake is None or not tools:
            return {}
        with_help = len(tools) > self._catalogue_tools
        text = grammar(tools, request.handshake, self._grammar, with_help=with_help)
        return (
            {"grammar": text}
            if self._grammar == "gbnf"
            else {"structured_outputs": {"grammar": text}}
        )


def nit_codec(
    *,
    instructions: str = "",
    legacy: bool = False,
    stop_at_block: bool = False,
    grammar: GrammarFormat | None = None,
    catalogue_tools: int = CATALOGUE_TOOLS,
    handshake_place: Placement = "late",
    past_blocks: PastBlocks = "form",
    firm: bool = False,
    reasoning: Sequence[str] = REASONING_TAGS,
    result_chars: int = RESULT_CHARS,
) -> NitCodec:
    """Return the codec whose replies hold NIT scripts; see `NitCodec`."""
    return NitCodec(
        instructions=instructions,
        legacy=legacy,
        stop_at_block=stop_at_block,
        grammar=grammar,
        catalogue_tools=catalogue_tools,
        handshake_place=handshake_place,
        past_blocks=past_blocks,
        firm=firm,
        reasoning=reasoning,
        result_chars=result_chars,
    )


class _PastWriter:
    """Writes earlier scripts and calls into a history of scripts."""

    def __init__(
        self,
        handshake_id: str | None,
        style: PastBlocks,
        tools: Sequence[ToolSpec],
        result_chars: int,
    ) -> None:
        self._id = handshake_id
        self._style: PastBlocks = style
        self._tools = tools
        self._result_chars = result_chars

    def rewritten(self, request: Request) -> list[Message]:
        """Return the messages; the tag stands only around scripts of the turn that runs."""
        people = [place for place, item in enumerate(request.messages) if is_person(item)]
        place = people[-1] if people else 0
        before = request.with_messages(request.messages[:place])
        now = request.with_messages(request.messages[place:])
        earlier = rewritten(
            before, self._exchange_past, script=self._script_past, after_report=AFTER_REPORT
        )
        running = rewritten(
            now, self._exchange_now, script=self._script_now, after_report=AFTER_REPORT
        )
        return [*earlier, *running]

    def _exchange_past(self, item: Exchange) -> list[Message]:
        return self._exchange(item, is_now=False)

    def _exchange_now(self, item: Exchange) -> list[Message]:
        return self._exchange(item, is_now=True)

    def _script_past(self, message: Message) -> Message:
        return self._script(message, is_now=False)

    def _script_now(self, message: Message) -> Message:
        return self._script(message, is_now=True)

    def _exchange(self, item: Exchange, *, is_now: bool) -> list[Message]:
        lines = [call_as_script(call.name, call.arguments, self._tools) for call in item.calls]
        block = self._block("\n".join(lines), is_now=is_now)
        said = "\n".join(part for part in (item.text.strip(), block) if part)
        told = outcomes([(call.name, call.outcome(self._result_chars)) for call in item.calls])
        return [
            {"role": "assistant", "content": said},
            {"role": "user", "content": f"{told}\n\n{AFTER_REPORT}"},
        ]

    def _script(self, message: Message, *, is_now: bool) -> Message:
        pieces: list[str] = []
        for part in cast("list[dict[str, Any]]", message["parts"]):
            if part.get("type") == "script":
                pieces.append(self._block(str(part.get("script", "")), is_now=is_now))
            else:
                pieces.append(str(part.get("text", "")))
        return {"role": "assistant", "content": "".join(pieces)}

    def _block(self, script: str, *, is_now: bool) -> str:
        inner = script.strip("\n")
        if self._id is not None and (is_now or self._style == "tag"):
            return f"<nit-{self._id}>\n{inner}\n</nit-{self._id}>"
        if self._style == "form":
            return f"<nit-XXXX>\n{inner}\n</nit-XXXX>"
        return f"```\n{inner}\n```" if self._style == "fence" else f"\n{inner}\n"


def _demanded(choice: Any) -> Any:
    # Which tools a script calls is checked where it is checked; that there is one, here.
    return "auto" if choice == "none" else ("required" if isinstance(choice, dict) else choice)
