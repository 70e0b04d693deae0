"""What a conversation needs of a model: a request goes in, the items of a reply come out.

```
Chat ── ModelClient.stream(request) ──> TextChunk | ReasoningChunk | CallChunk .. ReplyEnd
```

`provider.Provider` speaks to real servers; `nit_kernel.testing.FakeModel` plays one.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from nit_kernel.language.schema import JsonObject, JsonValue

if TYPE_CHECKING:
    from nit_kernel.model.messages import Request


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenUsage:
    """Tokens of one request, as the server counts them.

    Attributes:
        prompt_tokens: What was read.
        completion_tokens: What was written, reasoning included.
        cached_tokens: How many of the prompt's tokens came out of a cache.
        reasoning_tokens: How many of the written ones were reasoning.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0

    @property
    def total_tokens(self) -> int:
        """What was read and written."""
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: TokenUsage) -> TokenUsage:
        return TokenUsage(
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TextChunk:
    """A piece of the answer."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasoningChunk:
    """A piece of the reasoning that came in a field of its own."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallChunk:
    """The entries of one Chat Completions `delta.tool_calls`, whichever API they came from."""

    deltas: tuple[JsonObject, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyEnd:
    """The end of a reply; the last item of every stream that did not break.

    Attributes:
        finish_reason: In the words of Chat Completions: `stop length tool_calls content_filter`;
            `None` where the server said nothing.
        stop: The stop sequence that ended the reply, where the server names it.
        usage: `None` where the server does not count.
        message: Further keys for the assistant's message, to be sent back with it.
    """

    finish_reason: str | None = None
    stop: str | None = None
    usage: TokenUsage | None = None
    message: JsonObject = field(default_factory=dict[str, JsonValue])


StreamItem = TextChunk | ReasoningChunk | CallChunk | ReplyEnd

Notify = Callable[[str], None]
"""Takes one line for the person, at once: a retry, a wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """What a conversation may know of a model and its server.

    Attributes:
        model: The model's name, found out where none was given.
        address: Where its server is, for messages.
        is_local: Whether the server runs on this machine or its network.
        takes_stop: Whether stop sequences are honoured (the Responses API knows none).
        grammar: The form of grammar that the server is known to take.
        server: The server's kind where it says so, such as `llama.cpp` or `vllm`.
    """

    model: str
    address: str = ""
    is_local: bool = False
    takes_stop: bool = True
    grammar: Literal["gbnf", "lark"] | None = None
    server: str = ""


@runtime_checkable
class ModelClient(Protocol):
    """A model that can be asked."""

    def known(self) -> ModelFacts:
        """Return what is known of the model without asking its server; its name may be empty."""
        ...

    def body(self, request: Request) -> JsonObject:
        """Return the body that `stream` would send: exactly what leaves the machine."""
        ...

    async def facts(self) -> ModelFacts:
        """Return what is known of the model; asks its server at most once.

        Raises:
            ModelError: No model is named and none can be found out.
        """
        ...

    def stream(self, request: Request, *, notify: Notify) -> AsyncGenerator[StreamItem]:
        """Send a request and yield the reply's items; closing it stops the generation.

        Raises:
            ModelError: The server refused, could not be reached, or the stream broke.
        """
        ...

    async def aclose(self) -> None:
        """Close connections; may be called twice."""
        ...
