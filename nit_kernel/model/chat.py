"""A conversation with a model that acts by scripts: `Chat`.

```
chat.send("..") ─ Plan (model, codec, tools, a fresh id) ─ TurnLoop ─ events
```
`links.py` carries the events to whoever reads them, `turn.py` is the loop, `transcript.py` the
history. A turn begins when its first event is asked for.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
import weakref
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, cast

from nit_kernel.errors import NitError
from nit_kernel.language.schema import JsonObject, JsonValue
from nit_kernel.model.client import ModelClient, ModelFacts, StreamItem
from nit_kernel.model.codecs.choice import choose_codec, codec_named
from nit_kernel.model.codecs.codec import ToolCallCodec
from nit_kernel.model.endpoint import Api, Endpoint
from nit_kernel.model.events import TurnFinished
from nit_kernel.model.handshake import Handshake
from nit_kernel.model.links import (
    AwaitedEvents,
    AwaitedLink,
    BlockingEvents,
    BlockingLink,
    Link,
    OnEvent,
    busy,
)
from nit_kernel.model.messages import Message, Request, user
from nit_kernel.model.permission import Ask, Confirm, Permission
from nit_kernel.model.provider import Provider, is_openai_client
from nit_kernel.model.shown import described_tools, variable_lines
from nit_kernel.model.transcript import Transcript, Turn
from nit_kernel.model.turn import Caps, NamedCodec, Plan, TurnLoop
from nit_kernel.model.usage import TurnUsage
from nit_kernel.runtime.loop import LoopThread

if TYPE_CHECKING:
    from nit_kernel.model.blocks import ScriptSession
    from nit_kernel.runtime.dispatcher import OnCaller

Text = str | Sequence[Mapping[str, JsonValue]]
"""A message: text, or content parts (text and images) in the Chat Completions shape."""

_POLL_SECONDS = 0.01
_PATIENCE_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DryRun:
    """What a message would send, and where; nothing was sent.

    Attributes:
        address: The server.
        model: The model, empty where only the server knows it.
        codec: The name of the codec.
        body: The body of the request, whole.
    """

    address: str
    model: str
    codec: str
    body: JsonObject

    def __str__(self) -> str:
        shown = json.dumps(self.body, ensure_ascii=False, indent=2)
        return f"to {self.address}, codec {self.codec}:\n{shown}"


class Chat:
    """A conversation: messages go out, words, scripts and results come back as events.

    Plain functions of a script run on the thread that reads `send`, and in worker threads under
    `asend`. Reading on is what keeps a turn alive: `break` or an interrupt stops it, keeps what was
    bound, and leaves the conversation usable.

    Args:
        model: The model's name; `NIT_MODEL` if left out, else the only one the server has.
        session: Tools and variables.
        codec: What the model is to write: `"auto"`, a name, or a codec.
        client: A model of one's own (`FakeModel`), or a client of the `openai` package.
        confirm: When to ask before a script runs; see `permission.py`.
        ask: Answers for the person; `None`: what would be asked is refused.
        base_url: The server; `OPENAI_BASE_URL` if left out.
        api_key: Its key; `OPENAI_API_KEY` if left out.
        api: Which of OpenAI's APIs to speak.
        fallback: What takes over where scripts fail again and again: `"auto"`, a name, a codec, or
            `None`.
        system: The person's own system prompt.
        extra: Further fields of each request, such as `{"temperature": 0}`.
        max_rounds: Most replies in a turn, repairs aside.
        max_tokens: Most tokens in a turn, read and written.
        max_seconds: Longest turn, the person's own thinking aside.
        max_decode_retries: How often a reply that cannot be used is asked for again.
        timeout: Longest silence of the server, in seconds.
        max_retries: How often the client library tries a request again.

    Raises:
        ValueError: `confirm` or `codec` is no known word.
    """

    def __init__(
        self,
        model: str | None = None,
        session: ScriptSession | None = None,
        codec: str | ToolCallCodec = "auto",
        client: Any = None,
        confirm: Confirm = "side-effects",
        ask: Ask | None = None,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        api: Api = "chat",
        fallback: str | ToolCallCodec | None = "auto",
        system: str = "",
        extra: JsonObject | None = None,
        max_rounds: int = 10,
        max_tokens: int | None = None,
        max_seconds: float | None = None,
        max_decode_retries: int = 2,
        timeout: float = 300.0,
        max_retries: int = 2,
    ) -> None:
        if session is None:
            message = "a Chat needs a session; `nit_kernel.Chat` makes one by itself"
            raise TypeError(message)
        self.session = session
        self.system = system
        self.ask = ask
        self.extra: JsonObject = dict(extra or {})
        self.caps = Caps(
            rounds=max_rounds,
            tokens=max_tokens,
            seconds=max_seconds,
            decode_retries=max_decode_retries,
        )
        self.permission = Permission(confirm)
        self._codec = _checked_codec(codec)
        self._fallback = None if fallback is None else _checked_codec(fallback)
        self._handshake = Handshake()
        self._transcript = Transcript()
        self._usage = TurnUsage()
        self._last: TurnUsage | None = None
        self._lock = threading.Lock()
        self._active: BlockingLink | AwaitedLink | None = None
        self._model = model
        endpoint = Endpoint(
            base_url=base_url,
            api_key=api_key,
            model=model,
            api=api,
            timeout_s=timeout,
            max_retries=max_retries,
        )
        self._own = _Own(_client_of(client, endpoint))
        self._finalize = weakref.finalize(self, self._own.stop)

    # Talking

    def send(
        self,
        message: Text,
        *,
        codec: str | ToolCallCodec | None = None,
        key: str | None = None,
        on_event: OnEvent | None = None,
    ) -> BlockingEvents:
        """Send a message and iterate over what happens.

        Args:
            message: Text, or content parts.
            codec: Another codec for this message alone.
            key: Names the turn: sending under the same key again replaces it, in its place.
            on_event: Called with each event where it happens, in another thread, before it is
                yielded: also while this thread runs a function that the model called.

        Raises:
            ModelError: The model cannot be reached, or refuses.
            CodecError: It gives no usable reply.
            NitError: The conversation is still answering another message.
            KeyboardInterrupt: The turn was interrupted; its last events came before.
        """
        core = self._core(message, codec, key)
        return BlockingEvents(BlockingLink(core, self._own.loop, on_event))

    def asend(
        self,
        message: Text,
        *,
        codec: str | ToolCallCodec | None = None,
        key: str | None = None,
        on_caller: OnCaller | None = None,
        on_event: OnEvent | None = None,
    ) -> AwaitedEvents:
        """Send a message and iterate over what happens with `async for`.

        Arguments and errors as for `send`; cancelling the reader stops the turn. `on_caller` is as
        for `Session.arun`.
        """
        core = self._core(message, codec, key)
        return AwaitedEvents(AwaitedLink(core, self._own.loop, on_caller, on_event))

    def dry_run(
        self,
        message: Text,
        *,
        codec: str | ToolCallCodec | None = None,
        key: str | None = None,
        fresh: bool = False,
    ) -> DryRun:
        """Return exactly what the message would send first, previews of variables included.

        `fresh`: as it would be without the conversation so far.
        """
        facts = self._named(self._own.client.known())
        plan = self._plan(facts, codec, key)
        if fresh:
            plan = replace(plan, before=())
        request = plan.request(plan.codec.codec, [user(message)])
        return DryRun(
            address=facts.address,
            model=facts.model,
            codec=plan.codec.name,
            body=self._own.client.body(request),
        )

    def cancel(self) -> None:
        """Stop the turn that goes on, from any thread. Its reader still gets its last events."""
        active = self._active
        if active is not None:
            active.cancel()

    # The conversation

    @property
    def history(self) -> list[Message]:
        """The messages so far, in the form of `messages.py`. A copy."""
        return [dict(message) for message in self._transcript.messages()]

    @history.setter
    def history(self, messages: Sequence[Message]) -> None:
        self._transcript.replace_all(messages)

    @property
    def usage(self) -> TurnUsage:
        """What all turns cost."""
        return self._usage

    @property
    def last_usage(self) -> TurnUsage | None:
        """What the last turn cost."""
        return self._last

    @property
    def codec(self) -> str | ToolCallCodec:
        """What the model is to write."""
        return self._codec

    @codec.setter
    def codec(self, codec: str | ToolCallCodec) -> None:
        self._codec = _checked_codec(codec)

    @property
    def model(self) -> str:
        """The model's name; empty where only the server knows it."""
        return self._named(self._own.client.known()).model

    @property
    def address(self) -> str:
        """Where the model is."""
        return self._own.client.known().address

    def find_model(self) -> str:
        """Ask the server for the model's name where none was given, and return it.

        Raises:
            ModelError: There is no server, or it does not say.
        """
        facts = self._own.loop().submit(self._own.client.facts).result()
        return self._named(facts).model

    def connect(self, endpoint: Endpoint | None = None, *, client: Any = None) -> None:
        """Go on with another model; the conversation stays."""
        fresh = _client_of(client, endpoint or Endpoint())
        self._own.disconnect()
        self._own.client = fresh
        self._model = endpoint.model if endpoint is not None else None

    def reset(self) -> None:
        """Begin anew: forget the messages and what was allowed for good. Variables stay."""
        self.cancel()
        self._transcript.clear()
        self.permission.forget()
        self._usage = TurnUsage()
        self._last = None

    def close(self) -> None:
        """Stop what goes on and close connections. May be called twice."""
        self.cancel()
        self._finalize()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        codec = self._codec if isinstance(self._codec, str) else _name_of(self._codec)
        people = sum(message.get("role") == "user" for message in self._transcript.messages())
        return f"<Chat with {self.model or 'a model'}, codec {codec}: {people} messages>"

    # One turn

    def _core(
        self, message: Text, codec: str | ToolCallCodec | None, key: str | None
    ) -> Callable[[Link], Any]:
        chosen = None if codec is None else _checked_codec(codec)

        async def core(link: Link) -> None:
            await self._enter(link)
            started = monotonic()
            turn = Turn(key=key, messages=[user(message)])
            loop: TurnLoop | None = None
            try:
                try:
                    facts = await self._own.client.facts()
                    loop = TurnLoop(self._plan(self._named(facts), chosen, key), turn, link)
                except NitError as error:
                    usage = TurnUsage(seconds=monotonic() - started)
                    link.emit(TurnFinished(reason="failed", text="", usage=usage, error=error))
                    raise
                await loop.run()
            finally:
                self._transcript.put(turn)
                if loop is not None:
                    self._last = loop.usage
                    self._usage += self._last
                with self._lock:
                    if self._active is link:
                        self._active = None

        return core

    async def _enter(self, link: Link) -> None:
        """Become the turn that goes on.

        Raises:
            NitError: Another one does, and somebody still reads it.
        """
        waited_until = monotonic() + _PATIENCE_SECONDS
        while True:
            with self._lock:
                active = self._active
                if active is None or active.ended.is_set():
                    self._active = cast("BlockingLink | AwaitedLink", link)
                    return
            if not active.is_abandoned or monotonic() > waited_until:
                raise busy()
            # Its reader has gone; it is cleaning up.
            await asyncio.sleep(_POLL_SECONDS)

    def _plan(self, facts: ModelFacts, codec: str | ToolCallCodec | None, key: str | None) -> Plan:
        client = self._own.client
        named = self._chosen(codec if codec is not None else self._codec, facts)

        def send(request: Request, notify: Callable[[str], None]) -> AsyncGenerator[StreamItem]:
            return client.stream(request, notify=notify)

        return Plan(
            facts=facts,
            send=send,
            session=self.session,
            tools=described_tools(self.session),
            variables=lambda: variable_lines(self.session),
            permission=self.permission,
            ask=self.ask,
            codec=named,
            fallbacks=self._fallbacks(named, facts),
            handshake=self._handshake.fresh(),
            system=self.system,
            extra=self.extra,
            before=self._transcript.before(key),
            caps=self.caps,
        )

    def _chosen(self, codec: str | ToolCallCodec, facts: ModelFacts) -> NamedCodec:
        if not isinstance(codec, str):
            return NamedCodec(name=_name_of(codec), codec=codec)
        if codec == "auto":
            made = choose_codec(facts)
        else:
            # What was asked for by name is given plain; only what its template needs is minded.
            made = codec_named(codec, replace(facts, takes_stop=False, grammar=None))
        return NamedCodec(name=_name_of(made), codec=made)

    def _fallbacks(self, chosen: NamedCodec, facts: ModelFacts) -> list[NamedCodec]:
        if self._fallback is None:
            return []
        if self._fallback != "auto":
            return [self._chosen(self._fallback, facts)]
        if chosen.name != "nit":
            return []
        return [self._chosen(name, facts) for name in ("native", "json")]

    def _named(self, facts: ModelFacts) -> ModelFacts:
        return replace(facts, model=self._model) if self._model else facts


class _Own:
    """What a conversation holds beyond its life: its client, and the loop for its requests."""

    def __init__(self, client: ModelClient) -> None:
        self.client = client
        self._lock = threading.Lock()
        self._loop: LoopThread | None = None

    def loop(self) -> LoopThread:
        """The loop `nit-chat`, started when it is first needed."""
        with self._lock:
            if self._loop is None:
                self._loop = LoopThread("nit-chat")
            return self._loop

    def disconnect(self) -> None:
        """Close the client's connections, if it has any on this loop."""
        loop = self._loop
        if loop is not None and not loop.is_here():
            with contextlib.suppress(RuntimeError, TimeoutError):
                loop.submit(self.client.aclose).result(_PATIENCE_SECONDS)

    def stop(self) -> None:
        """Close the connections and end the loop."""
        self.disconnect()
        with self._lock:
            loop, self._loop = self._loop, None
        if loop is not None:
            loop.stop()


def _client_of(client: Any, endpoint: Endpoint) -> ModelClient:
    if client is None:
        return Provider(endpoint)
    if is_openai_client(client):
        return Provider(endpoint, client=client)
    if isinstance(client, ModelClient):
        return client
    message = (
        f"client must be a model client (such as FakeModel) or one of the openai package, "
        f"not {type(client).__name__}"
    )
    raise TypeError(message)


def _checked_codec(codec: str | ToolCallCodec) -> str | ToolCallCodec:
    if isinstance(codec, str):
        if codec != "auto":
            codec_named(codec)
        return codec
    if not isinstance(codec, ToolCallCodec):  # pyright: ignore[reportUnnecessaryIsInstance]
        message = f"a codec has `streaming`, `encode` and `decode`; {codec!r} has not"
        raise TypeError(message)
    return codec


def _name_of(codec: ToolCallCodec) -> str:
    name: object = getattr(codec, "name", None)
    return name if isinstance(name, str) else type(codec).__name__
