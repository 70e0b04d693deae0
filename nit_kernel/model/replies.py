"""One reply on its way: its items become words, blocks that run at once, and a message to decode.

```
items of the stream ─ codec's ReplyStream ─┬─ words ──────────────> the reader, as they come
                                           └─ blocks ─ queue ─────> run in order, while words go on
```
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Collection
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING

from nit_kernel._syntax import Block, BlockOpen, Reasoning, Rejected, Text, Unclosed
from nit_kernel.errors import ModelError
from nit_kernel.model.client import CallChunk, ReasoningChunk, ReplyEnd, StreamItem, TextChunk
from nit_kernel.model.codecs.deltas import CallAssembler
from nit_kernel.model.events import (
    BlockFinished,
    BlockOpened,
    ReasoningDelta,
    TagRejected,
    TextDelta,
)

if TYPE_CHECKING:
    from nit_kernel._syntax import Event
    from nit_kernel.language.schema import JsonObject
    from nit_kernel.model.blocks import Blocks
    from nit_kernel.model.codecs.codec import ReplyStream
    from nit_kernel.model.links import Link
    from nit_kernel.model.messages import Message
    from nit_kernel.model.usage import Meter


@dataclass(slots=True)
class Reply:
    """What a reply has said so far, and what came of its blocks.

    Attributes:
        parts: Visible text and scripts, in order.
        raw: The text as it came, protocol and all.
        reasoning: The reasoning, from whichever channel.
        calls: Entries of `tool_calls`.
        blocks: How its scripts ended, in order.
        rejected: Tags that looked like a block and were none.
        unclosed: The script that was never closed, if there is one.
        end: The end, where it came.
        broke: Why the stream broke, where it did.
    """

    parts: list[JsonObject] = field(default_factory=list)
    raw: str = ""
    reasoning: str = ""
    calls: list[JsonObject] = field(default_factory=list)
    blocks: list[BlockFinished] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)
    unclosed: str | None = None
    end: ReplyEnd | None = None
    broke: ModelError | None = None

    @property
    def text(self) -> str:
        """The visible text that was shown while it came."""
        return "".join(str(part["text"]) for part in self.parts if part["type"] == "text")

    @property
    def was_seen(self) -> bool:
        """Whether anything of it was shown or run."""
        return bool(self.text or self.reasoning or self.blocks)

    def message(self) -> Message:
        """The reply as a message to decode."""
        message: Message = {"role": "assistant", "content": self.raw}
        if self.calls:
            message["tool_calls"] = list(self.calls)
        return message

    def add_text(self, text: str) -> None:
        """Add visible text."""
        if self.parts and self.parts[-1]["type"] == "text":
            self.parts[-1]["text"] = str(self.parts[-1]["text"]) + text
        elif text:
            self.parts.append({"type": "text", "text": text})


@dataclass(frozen=True, slots=True)
class _Todo:
    number: int
    script: str
    legacy: bool


class ReplyReader:
    """Reads the replies of one turn."""

    def __init__(self, link: Link, blocks: Blocks, meter: Meter) -> None:
        self._link = link
        self._blocks = blocks
        self._meter = meter

    async def read(
        self,
        reply: Reply,
        stream: ReplyStream,
        items: Callable[[], AsyncGenerator[StreamItem]],
        *,
        tool_names: Collection[str] = (),
        request_chars: int = 0,
    ) -> None:
        """Read a reply to its end, and run its blocks to theirs.

        A stream that breaks is noted in the reply and not raised.

        Raises:
            asyncio.CancelledError: The turn is being stopped; the reply holds how far it came.
        """
        todo: asyncio.Queue[_Todo | None] = asyncio.Queue()
        handler = _Handler(reply, self._link, self._blocks, todo)
        calls = CallAssembler(tool_names)
        try:
            async with asyncio.TaskGroup() as group:
                worker = group.create_task(self._work(todo, reply))
                worker.add_done_callback(_stop_with(asyncio.current_task()))
                try:
                    await self._follow(reply, stream, items, handler, calls)
                except ModelError as error:
                    reply.broke = error
                finally:
                    todo.put_nowait(None)
                    usage = reply.end.usage if reply.end is not None else None
                    written = len(reply.raw) + len(reply.reasoning)
                    self._meter.count(usage, chars=request_chars + written)
        except BaseExceptionGroup as group:
            # The worker is the only member: its own error says more.
            raise group.exceptions[0] from None

    async def _work(self, todo: asyncio.Queue[_Todo | None], reply: Reply) -> None:
        while (block := await todo.get()) is not None:
            await self._blocks.run_script(
                block.number, block.script, reply.blocks, legacy=block.legacy
            )

    async def _follow(
        self,
        reply: Reply,
        stream: ReplyStream,
        items: Callable[[], AsyncGenerator[StreamItem]],
        handler: _Handler,
        calls: CallAssembler,
    ) -> None:
        self._meter.requests += 1
        end: ReplyEnd | None = None
        try:
            async with contextlib.aclosing(items()) as source:
                async for item in source:
                    match item:
                        case TextChunk(text=text):
                            self._meter.saw_token(monotonic())
                            reply.raw += text
                            handler.take(stream.feed(text))
                        case ReasoningChunk(text=text):
                            self._meter.saw_token(monotonic())
                            handler.reason(text)
                        case CallChunk(deltas=deltas):
                            self._meter.saw_token(monotonic())
                            calls.feed(deltas)
                        case ReplyEnd():
                            end = item
        finally:
            # Whatever was held back is released before anything is raised. Only a reply that
            # ended by itself may close its last block by its end.
            finish = end.finish_reason if end is not None else None
            handler.take(stream.finish(finish, end.stop if end is not None else None))
            reply.end = end
            reply.calls = calls.entries()


def _stop_with(parent: asyncio.Task[object] | None) -> Callable[[asyncio.Task[None]], None]:
    """Cancel the turn where its worker stopped by itself: a tool was interrupted.

    A task group leaves its parent alone then. Where the parent is being cancelled already, a second
    time would confuse who counts (`asyncio.timeout`).
    """

    def stop(worker: asyncio.Task[None]) -> None:
        if worker.cancelled() and parent is not None and not parent.cancelling():
            parent.cancel()

    return stop


class _Handler:
    """Does what the events of a reply's text say."""

    def __init__(
        self, reply: Reply, link: Link, blocks: Blocks, todo: asyncio.Queue[_Todo | None]
    ) -> None:
        self._reply = reply
        self._link = link
        self._blocks = blocks
        self._todo = todo
        self._open: int | None = None

    def take(self, events: list[Event]) -> None:
        """Do what the events say."""
        for event in events:
            match event:
                case Text(text=text):
                    if text:
                        self._reply.add_text(text)
                        self._link.emit(TextDelta(text=text))
                case Reasoning(text=text):
                    self.reason(text)
                case BlockOpen():
                    self._open = self._blocks.new_number()
                    self._link.emit(BlockOpened(block=self._open))
                case Block(script=script, legacy=legacy):
                    self._reply.parts.append({"type": "script", "script": script})
                    self._todo.put_nowait(_Todo(self._number(), script, legacy))
                case Rejected(tag=tag):
                    self._reply.rejected.append(tag)
                    self._link.emit(TagRejected(tag=tag))
                case Unclosed(script=script):
                    self._reply.unclosed = script
                    number = self._number()
                    ended = BlockFinished(block=number, script=script, status="cut off")
                    self._link.emit(ended)

    def reason(self, text: str) -> None:
        """Pass on some reasoning."""
        if text:
            self._reply.reasoning += text
            self._link.emit(ReasoningDelta(text=text))

    def _number(self) -> int:
        number = self._open if self._open is not None else self._blocks.new_number()
        self._open = None
        return number
