"""One turn: a person's message, and all requests, scripts and calls that answer it.

```
        ┌──────────────────────── repair (does not count as a round) ──────────────┐
        v                                                                           │
request ─> encode ─> stream ─ words, blocks run ─> decode ─ unusable? ──────────────┘
        ^                                            │        └ too often: fallback, else an error
        └────── report, results <── blocks or calls? ┴ none: the answer, the turn ends
```
However a turn ends (answer, cap, error, interrupt in any phase), its messages are a valid history:
what was said stays, every call has exactly one result, and what was bound stays bound.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import TYPE_CHECKING, cast

from nit_kernel.errors import CodecError, NitError
from nit_kernel.model import told
from nit_kernel.model.blocks import Blocks, CallOutcome
from nit_kernel.model.codecs.codec import (
    DecodeContext,
    Decoded,
    ToolCall,
    decode_reply,
    open_stream,
    repair_message,
)
from nit_kernel.model.codecs.encoding import encode_request
from nit_kernel.model.codecs.faults import open_block
from nit_kernel.model.codecs.native import native_codec
from nit_kernel.model.events import (
    BlockFinished,
    Fallback,
    Notice,
    Repair,
    RoundFinished,
    RoundStarted,
    StopReason,
    TextDelta,
    TurnFinished,
    TurnStarted,
)
from nit_kernel.model.handshake import EXAMPLE_ID
from nit_kernel.model.messages import (
    Message,
    Request,
    assistant,
    call_entry,
    collapse_repairs,
    failed,
    report,
    system,
    text_of,
    tool_result,
)
from nit_kernel.model.repetition import Repetition
from nit_kernel.model.replies import Reply, ReplyReader
from nit_kernel.model.transcript import Turn, call_ids
from nit_kernel.model.usage import Meter, TurnUsage

if TYPE_CHECKING:
    from nit_kernel.language.schema import JsonObject, ToolSpec
    from nit_kernel.model.blocks import ScriptSession
    from nit_kernel.model.client import ModelFacts, StreamItem
    from nit_kernel.model.codecs.codec import ToolCallCodec
    from nit_kernel.model.links import Link
    from nit_kernel.model.messages import Variable
    from nit_kernel.model.permission import Ask, Permission


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """What a turn may cost.

    Attributes:
        rounds: Most replies that count.
        tokens: Most tokens, read and written; `None` for no limit. Looked at after each reply.
        seconds: Longest time, the person's thinking aside; `None` for no limit.
        decode_retries: How often a reply that cannot be used is asked for again.
    """

    rounds: int = 10
    tokens: int | None = None
    seconds: float | None = None
    decode_retries: int = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedCodec:
    """A codec, and what it is called."""

    name: str
    codec: ToolCallCodec


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All that a turn needs.

    Attributes:
        facts: The model.
        send: Sends a request and yields the reply's items; takes one who is told of retries.
        session: Where scripts run.
        tools: What the model may call, as it is described to it.
        variables: Makes the variable table of a prompt, as it is now.
        permission: What may run without asking.
        ask: Asks the person, if somebody can be asked.
        codec: What the model is to write.
        fallbacks: What takes over, in order, where replies cannot be used again and again.
        handshake: The id of this turn.
        system: The person's own system prompt.
        extra: Further fields of each request.
        before: The conversation so far.
        caps: What the turn may cost.
    """

    facts: ModelFacts
    send: Callable[[Request, Callable[[str], None]], AsyncGenerator[StreamItem]]
    session: ScriptSession
    tools: Sequence[ToolSpec]
    variables: Callable[[], tuple[Variable, ...]]
    permission: Permission
    ask: Ask | None
    codec: NamedCodec
    fallbacks: Sequence[NamedCodec]
    handshake: str
    system: str
    extra: JsonObject
    before: Sequence[Message]
    caps: Caps

    def request(
        self, codec: ToolCallCodec, messages: Sequence[Message], *, has_tools: bool = True
    ) -> Request:
        """Return the encoded request that continues the conversation with these messages."""
        first = (system(self.system),) if self.system else ()
        plain = Request(
            model=self.facts.model,
            messages=(*first, *self.before, *collapse_repairs(messages)),
            extra=self.extra,
            handshake=self.handshake,
            variables=self.variables(),
        )
        encoded = encode_request(codec, plain, self.tools if has_tools else ())
        return encoded if self.facts.takes_stop else replace(encoded, stop=())


class TurnLoop:
    """Carries a turn out.

    Args:
        plan: All that it needs.
        turn: Begins with the person's message; gets the others.
        link: The reader.
    """

    def __init__(self, plan: Plan, turn: Turn, link: Link) -> None:
        self._plan = plan
        self._turn = turn
        self._link = link
        self._meter = Meter(monotonic())
        self._blocks = Blocks(
            plan.session, plan.permission, plan.ask, link, waited=self._give_time_back
        )
        self._reader = ReplyReader(link, self._blocks, self._meter)
        self._current = plan.codec
        self._fallbacks = list(plan.fallbacks)
        self._timer: asyncio.Timeout | None = None
        self._text = ""
        self._was_told_of_tags = False
        self._repetition = Repetition()

    @property
    def usage(self) -> TurnUsage:
        """The cost so far."""
        return self._meter.usage(monotonic())

    async def run(self) -> None:
        """Carry the turn out; the reader is told of everything, its end included.

        Raises:
            NitError: The model cannot be reached, or gives no usable reply.
            asyncio.CancelledError: The reader stopped it.
        """
        plan = self._plan
        self._link.emit(
            TurnStarted(model=plan.facts.model, codec=plan.codec.name, address=plan.facts.address)
        )
        try:
            async with asyncio.timeout(plan.caps.seconds) as self._timer:
                reason = await self._rounds()
        except TimeoutError:
            self._notice(f"stopped after {plan.caps.seconds:g} s, the most for one turn", "NIT674")
            reason = "seconds"
        except asyncio.CancelledError:
            self._finish("interrupted")
            raise
        except NitError as error:
            self._finish("failed", error)
            raise
        self._finish(reason)

    async def _rounds(self) -> StopReason:
        caps = self._plan.caps
        while True:
            if self._meter.rounds >= caps.rounds:
                self._notice(f"stopped after {caps.rounds} rounds, the most for one turn", "NIT675")
                return "rounds"
            if caps.tokens is not None and self._meter.total_tokens >= caps.tokens:
                self._notice(
                    f"stopped after {self._meter.total_tokens:,} tokens; the most for one turn are "
                    f"{caps.tokens:,}",
                    "NIT676",
                )
                return "tokens"
            if self._repetition.is_hopeless:
                self._current = _WORDS_ALONE
            reason = await self._round()
            if reason is not None:
                return reason

    async def _round(self) -> StopReason | None:
        """One reply that can be used, and what it asks for; why the turn ends, if it does."""
        attempt = 0
        while True:
            reply, context = await self._reply(attempt)
            problem: NitError | None = None
            decoded = Decoded()
            try:
                if context.finish_reason is None and reply.unclosed is not None:
                    # Whether the end of the reply closed it, nobody knows.
                    raise open_block(reply.unclosed, why="the server did not say why it ended")
                decoded = decode_reply(self._current.codec, reply.message(), context)
            except CodecError as error:
                problem = error
            else:
                await self._run_rest(reply, decoded)
                problem = _first_invalid(reply)
            if problem is None or any(b.status not in ("invalid", "skipped") for b in reply.blocks):
                break
            self._meter.waste()
            attempt += 1
            if attempt > self._plan.caps.decode_retries:
                self._fall_back(problem, attempt)
                attempt = 0
                continue
            self._ask_again(reply, problem, attempt)
        self._meter.rounds += 1
        if problem is not None:
            # Part of the reply ran; the rest cannot be mended apart from it.
            self._meter.repairs += 1
        reason = await self._settle(reply, decoded, problem)
        end = reply.end
        self._link.emit(
            RoundFinished(
                number=self._meter.rounds,
                finish_reason=end.finish_reason if end else None,
                usage=end.usage if end else None,
            )
        )
        return reason

    # One reply

    async def _reply(self, attempt: int) -> tuple[Reply, DecodeContext]:
        """Ask for a reply, once more where it broke off before anything of it was seen."""
        may_retry = True
        while True:
            codec = self._current.codec
            messages, has_tools = self._turn.messages, self._current is not _WORDS_ALONE
            if not has_tools:
                messages = told.for_words_alone(messages)
            request = self._plan.request(codec, messages, has_tools=has_tools)
            context = self._context(request, attempt)
            reply = Reply()
            self._link.emit(RoundStarted(number=self._meter.rounds + 1, attempt=attempt))
            try:
                await self._reader.read(
                    reply,
                    open_stream(codec, context),
                    lambda: self._plan.send(request, self._notice),  # noqa: B023  used at once
                    tool_names=_wire_names(request),
                    request_chars=sum(len(text_of(each)) for each in request.messages),
                )
            except asyncio.CancelledError:
                self._keep(reply)
                raise
            if reply.broke is None:
                end = reply.end
                return reply, replace(
                    context,
                    finish_reason=end.finish_reason if end else None,
                    stop_reason=end.stop if end else None,
                )
            if self._may_go_on_without_tools(reply):
                continue
            if reply.broke.code != "NIT658" or reply.was_seen or not may_retry:
                self._keep(reply)
                raise reply.broke
            may_retry = False
            self._notice(f"{reply.broke.message}; asking once more", reply.broke.code)

    def _context(self, request: Request, attempt: int) -> DecodeContext:
        return DecodeContext(
            tools=self._plan.tools,
            attempt=attempt,
            seen_ids=frozenset(call_ids([*self._plan.before, *self._turn.messages])),
            handshake=self._plan.handshake,
            tool_choice=request.tool_choice,
        )

    def _keep(self, reply: Reply) -> None:
        """Keep what a reply said and ran before it was stopped or broke."""
        text, scripts = reply.text, _scripts(reply)
        if not text.strip() and not scripts:
            return
        self._append(
            assistant(text, parts=reply.parts if scripts else (), reasoning=reply.reasoning)
        )
        if scripts:
            self._append(report(told.stopped(reply.blocks, len(scripts))))

    async def _run_rest(self, reply: Reply, decoded: Decoded) -> None:
        """Run the scripts that only the whole reply shows (a fence in place of the tag)."""
        for script in decoded.scripts[len(_scripts(reply)) :]:
            reply.parts.append({"type": "script", "script": script})
            try:
                await self._blocks.run_script(self._blocks.new_number(), script, reply.blocks)
            except asyncio.CancelledError:
                self._keep(reply)
                raise

    # A reply that can be used

    async def _settle(
        self, reply: Reply, decoded: Decoded, problem: NitError | None
    ) -> StopReason | None:
        """Show what was not shown, run the calls, and keep all of it."""
        text = reply.text
        if self._current.codec.streaming != "filter" and problem is None:
            text = decoded.text
            if self._current.codec.streaming == "buffer" and text:
                self._link.emit(TextDelta(text=text))
        self._text = text
        outcomes = [CallOutcome(call) for call in decoded.calls]
        scripts = _scripts(reply)
        message = assistant(
            text,
            calls=[_entry(call) for call in decoded.calls],
            parts=reply.parts if scripts else (),
            reasoning=reply.reasoning or decoded.reasoning,
        )
        if reply.end is not None:
            message.update(reply.end.message)
        warnings = [*decoded.warnings]
        try:
            await self._blocks.run_calls(outcomes)
        finally:
            self._repetition.note(_ended(reply, outcomes))
            if self._repetition.is_one:
                warnings.append(told.REPEATED)
            self._append(message)
            for number, outcome in enumerate(outcomes):
                notes = warnings if number == len(outcomes) - 1 and not scripts else ()
                self._append(_result(outcome, notes))
        tags = not scripts and not self._was_told_of_tags and _meant_to_run(reply.rejected)
        if scripts or tags:
            self._was_told_of_tags = self._was_told_of_tags or tags
            said = told.report(reply.blocks, warnings=warnings, problem=problem)
            self._append(report(said))
            return None
        return None if outcomes else self._why_it_ends(reply)

    def _why_it_ends(self, reply: Reply) -> StopReason:
        finish = reply.end.finish_reason if reply.end is not None else None
        if finish == "length":
            self._notice("the reply was cut off by the limit on its tokens", "NIT677")
            return "length"
        if finish == "content_filter":
            self._notice("the server's content filter ended the reply", "NIT678")
            return "filtered"
        if finish is None:
            self._notice(
                "the server did not say why the reply ended; it may be incomplete", "NIT679"
            )
        elif not self._text.strip():
            self._notice("the model said nothing", "NIT679")
        return "answered"

    # A reply that cannot be used

    def _ask_again(self, reply: Reply, problem: NitError, attempt: int) -> None:
        limit = self._plan.caps.decode_retries
        self._link.emit(Repair(attempt=attempt, limit=limit, error=problem))
        self._append(failed(reply.raw))
        error = told.as_codec_error(problem)
        self._append(repair_message(self._current.codec, error, attempt, self._plan.tools))

    def _fall_back(self, problem: NitError, attempts: int) -> None:
        """Go on in the next codec.

        Raises:
            CodecError: There is none.
        """
        self._drop_repairs()
        if not self._fallbacks:
            spent = self._meter.usage(monotonic())
            raise CodecError(
                f"the model gave no usable reply in {attempts} attempts ({spent}): "
                f"{problem.message}",
                code="NIT673",
                hint="say it in other words, or try another codec (`codec=`, `--codec`) or model",
            ) from problem
        self._switch(f"{attempts} replies could not be used: {problem.message}")

    def _may_go_on_without_tools(self, reply: Reply) -> bool:
        """Whether a server that refuses tools can be asked in a codec that needs none."""
        error = reply.broke
        refuses = error is not None and error.code == "NIT661" and "tool" in error.message.lower()
        if not refuses or not self._fallbacks or self._current is self._plan.codec:
            return False
        self._switch("the server takes no tools")
        return True

    def _switch(self, reason: str) -> None:
        before, self._current = self._current, self._fallbacks.pop(0)
        self._link.emit(Fallback(before=before.name, after=self._current.name, reason=reason))

    def _drop_repairs(self) -> None:
        messages = self._turn.messages
        while messages and messages[-1].get("kind") in ("failed", "repair"):
            messages.pop()

    # The end

    def _finish(self, reason: StopReason, error: NitError | None = None) -> None:
        self._drop_repairs()
        usage = self._meter.usage(monotonic())
        self._link.emit(TurnFinished(reason=reason, text=self._text, usage=usage, error=error))

    def _append(self, message: Message) -> None:
        self._turn.messages.append(message)

    def _notice(self, text: str, code: str = "") -> None:
        self._link.emit(Notice(text=text, code=code))

    def _give_time_back(self, seconds: float) -> None:
        timer = self._timer
        when = timer.when() if timer is not None else None
        if timer is not None and when is not None and not timer.expired():
            timer.reschedule(when + seconds)


_WORDS_ALONE = NamedCodec(name="native", codec=native_codec())
"""For a reply that is to answer and to do nothing: no tools are offered."""


def _wire_names(request: Request) -> list[str]:
    functions = [cast("dict[str, object]", tool.get("function") or {}) for tool in request.tools]
    return [str(function["name"]) for function in functions if "name" in function]


def _scripts(reply: Reply) -> list[str]:
    return [str(part["script"]) for part in reply.parts if part["type"] == "script"]


def _ended(reply: Reply, outcomes: Sequence[CallOutcome]) -> list[BlockFinished]:
    return [*reply.blocks, *(each.block for each in outcomes if each.block is not None)]


def _meant_to_run(tags: Sequence[str]) -> bool:
    """Return whether a reply meant some of its rejected tags; the form alone is only shown."""
    return any(EXAMPLE_ID not in tag for tag in tags)


def _first_invalid(reply: Reply) -> NitError | None:
    return next((block.error for block in reply.blocks if block.status == "invalid"), None)


def _entry(call: ToolCall) -> JsonObject:
    """The call as it stands in the history; servers want its arguments to be an object."""
    arguments: object = call.arguments
    if not isinstance(arguments, dict):
        arguments = {"unreadable": arguments}
    text = json.dumps(arguments, ensure_ascii=False, default=str)
    entry = call_entry(call.id, call.name, text)
    return {**cast("JsonObject", call.extra), **entry} if isinstance(call.extra, dict) else entry


def _result(outcome: CallOutcome, notes: Sequence[str]) -> Message:
    text, is_error = told.result(outcome, notes)
    call = outcome.call
    return tool_result(call.id, text, name=call.name, is_error=is_error)
