"""A model whose replies are written by the test.

```
FakeModel([turn, ..]) ── used as it is:  Chat(client=model)
                      └─ over real HTTP: with openai_server(model) as server: Chat(base_url=..)
```

Each request takes the next turn. What a reply becomes is a list of pieces (`_Pieces`), which the
direct client yields and the HTTP server writes.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nit_kernel.errors import ModelError
from nit_kernel.model import failures
from nit_kernel.model.client import (
    CallChunk,
    ModelFacts,
    Notify,
    ReasoningChunk,
    ReplyEnd,
    StreamItem,
    TextChunk,
    TokenUsage,
)
from nit_kernel.model.wire import chat_body
from nit_kernel.testing.parts import (
    Call,
    Disconnect,
    Part,
    Pause,
    RawDelta,
    Refuse,
    Reply,
    Script,
    Think,
    Turn,
    Wait,
    as_reply,
)
from nit_kernel.testing.recorded import RecordedRequest

if TYPE_CHECKING:
    from nit_kernel.language.schema import JsonObject
    from nit_kernel.model.messages import Request

_POLL_SECONDS = 0.005
_ADDRESS = "the test"


@dataclass(frozen=True, slots=True)
class End:
    """The end of a reply: why, by which stop sequence, and what it cost, if that is counted."""

    finish: str | None
    stop: str | None
    prompt_tokens: int
    completion_tokens: int
    is_counted: bool = True


Piece = str | Think | RawDelta | Wait | Pause | Disconnect | Refuse | End


class FakeModel:
    """A model that answers each request with the next scripted turn.

    Args:
        turns: The replies in order. A turn is a text, a part, a list of parts, a `Reply`, an
            assistant message as a dict, or a function that gets the `RecordedRequest` and returns
            one of these.
        chunk: Characters in each piece of a stream, unless the reply says otherwise.
        name: The model's name.
        local: What a direct client says about itself: whether it runs on this machine.
        names_stop: Whether it names the stop sequence that ended a reply, as vLLM does.
        counts: Whether it says how many tokens a reply cost.
    """

    def __init__(
        self,
        turns: Iterable[Turn] = (),
        *,
        chunk: int = 8,
        name: str = "fake-model",
        local: bool = False,
        names_stop: bool = False,
        counts: bool = True,
    ) -> None:
        if chunk < 1:
            message = "a chunk has at least one character"
            raise ValueError(message)
        self.name = name
        self.names_stop = names_stop
        self.counts = counts
        self._turns = list(turns)
        self._chunk = chunk
        self._local = local
        self._lock = threading.Lock()
        self._requests: list[RecordedRequest] = []
        self._calls = 0

    @property
    def requests(self) -> list[RecordedRequest]:
        """Every request so far, in order."""
        return self._requests

    @property
    def remaining(self) -> int:
        """How many turns nobody has asked for yet."""
        return max(0, len(self._turns) - len(self._requests))

    def add(self, *turns: Turn) -> None:
        """Append further turns."""
        self._turns.extend(turns)

    def begin(self, request: RecordedRequest) -> list[Piece]:
        """Record a request and return the pieces of the reply it gets.

        Raises:
            AssertionError: There is no turn left.
        """
        with self._lock:
            self._requests.append(request)
            number = len(self._requests)
            if number > len(self._turns):
                message = f"the model was asked {number} times but has {len(self._turns)} turns"
                raise AssertionError(message)
            turn = self._turns[number - 1]
        reply = as_reply(turn(request) if callable(turn) else turn)
        return list(self._pieces(reply, request))

    # The direct client: what `Chat(client=model)` uses.

    @property
    def model(self) -> str:
        """The model's name, as a client tells it."""
        return self.name

    def known(self) -> ModelFacts:
        """What a conversation may know of this model."""
        return ModelFacts(model=self.name, is_local=self._local, address=_ADDRESS)

    async def facts(self) -> ModelFacts:
        """The same; there is no server to ask."""
        return self.known()

    def body(self, request: Request) -> JsonObject:
        """The body as Chat Completions would send it."""
        return chat_body(request)

    async def stream(
        self, request: Request, *, notify: Notify = lambda _: None
    ) -> AsyncGenerator[StreamItem]:
        """Answer a request, without any network.

        Raises:
            ModelError: The turn refuses or breaks off.
        """
        del notify
        recorded = RecordedRequest(self.body(request))
        shown = False
        try:
            for piece in self.begin(recorded):
                match piece:
                    case Wait(event=event):
                        while not event.is_set():
                            await asyncio.sleep(_POLL_SECONDS)
                    case Pause(seconds=seconds):
                        await asyncio.sleep(seconds)
                    case Disconnect():
                        message = "the connection broke before the reply ended"
                        raise ModelError(message, code="NIT658", hint="send the message again")
                    case Refuse() if shown:
                        raise failures.broken(_ADDRESS, piece.message)
                    case Refuse():
                        wait = piece.headers.get("retry-after")
                        status, code, said = piece.status, piece.code, piece.message
                        raise failures.of_status(
                            _ADDRESS, status, code, self.name, None, said, retry_after=wait
                        )
                    case _:
                        shown = True
                        yield _item(piece)
        except GeneratorExit:
            recorded.gone.set()
            raise
        except asyncio.CancelledError:
            recorded.gone.set()
            raise

    async def aclose(self) -> None:
        """Nothing to close."""

    def _pieces(self, reply: Reply, request: RecordedRequest) -> Iterator[Piece]:
        parts = self._written(reply.parts, request)
        parts, stop = _cut_at_stop(parts, _stops(request))
        text = "".join(part for part in parts if isinstance(part, str))
        size = reply.chunk if reply.chunk is not None else self._chunk
        offset = 0
        slot = 0
        for part in parts:
            match part:
                case str():
                    yield from _chunks(part, offset, size)
                    offset += len(part)
                case Think(text=thought, field=name):
                    yield from (Think(each, field=name) for each in _chunks(thought, 0, size))
                case Call():
                    yield from self._call_deltas(part, slot, size)
                    slot += 1
                case Script():
                    message = "scripts were written out before"
                    raise AssertionError(message)
                case _:
                    yield part
        has_calls = any(isinstance(part, Call | RawDelta) for part in parts)
        finish = "tool_calls" if has_calls else "stop"
        if reply.finish is not None and stop is None:
            finish = reply.finish
        prompt, completion = reply.usage or (
            len(request.text) // 4,
            (len(text) + sum(len(c.arguments_text) for c in parts if isinstance(c, Call))) // 4 + 1,
        )
        named = stop if self.names_stop else None
        yield End(finish or None, named, prompt, completion, self.counts)

    def _written(self, parts: Sequence[Part], request: RecordedRequest) -> list[Part]:
        """The parts with their scripts written out between the tags of this turn."""
        written: list[Part] = []
        for part in parts:
            if not isinstance(part, Script):
                written.append(part)
                continue
            own = part.id if part.id is not None else request.handshake_id
            if own is None:
                message = "a `Script` was to be written, but the request holds no handshake id"
                raise AssertionError(message)
            tag = f"nit-{own}" if own else "nit"
            closing = f"\n</{tag}>" if part.closed else ""
            written.append(f"<{tag}>\n{part.source}{closing}")
        return written

    def _call_deltas(self, call: Call, slot: int, size: int | Sequence[int]) -> Iterator[RawDelta]:
        with self._lock:
            self._calls += 1
            own = call.id if call.id is not None else f"call_fake_{self._calls}"
        function: dict[str, Any] = {"name": call.name, "arguments": ""}
        yield RawDelta({"index": slot, "id": own, "type": "function", "function": function})
        step = size if isinstance(size, int) else self._chunk
        for piece in _chunks(call.arguments_text, 0, step):
            yield RawDelta({"index": slot, "function": {"arguments": piece}})


def _item(piece: Piece) -> StreamItem:
    match piece:
        case str():
            return TextChunk(text=piece)
        case Think(text=text):
            return ReasoningChunk(text=text)
        case RawDelta(entry=entry):
            return CallChunk(deltas=(dict(entry),))
        case End(prompt_tokens=prompt, completion_tokens=completion):
            usage = TokenUsage(prompt_tokens=prompt, completion_tokens=completion)
            counted = usage if piece.is_counted else None
            return ReplyEnd(finish_reason=piece.finish, stop=piece.stop, usage=counted)
        case _:
            message = f"{piece!r} is no item of a stream"
            raise AssertionError(message)


def _stops(request: RecordedRequest) -> list[str]:
    stop = request.get("stop")
    if isinstance(stop, str):
        return [stop]
    return [str(each) for each in stop] if isinstance(stop, list | tuple) else []  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def _cut_at_stop(parts: list[Part], stops: list[str]) -> tuple[list[Part], str | None]:
    """End the reply at its first stop sequence, which is left out, as servers do."""
    text = "".join(part for part in parts if isinstance(part, str))
    places = [(text.find(stop), stop) for stop in stops if stop and stop in text]
    if not places:
        return parts, None
    end, stop = min(places)
    kept: list[Part] = []
    offset = 0
    for part in parts:
        if isinstance(part, str):
            if offset + len(part) >= end:
                kept.append(part[: end - offset])
                return kept, stop
            offset += len(part)
        kept.append(part)
    return kept, stop


def _chunks(text: str, offset: int, size: int | Sequence[int]) -> Iterator[str]:
    """Cut a text that begins at `offset` of the whole reply."""
    if isinstance(size, int):
        cuts = list(range(size, len(text), size))
    else:
        cuts = sorted({cut - offset for cut in size if 0 < cut - offset < len(text)})
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        if start < end:
            yield text[start:end]
