"""What a conversation tells whoever watches it, in the order in which it happens.

```
TurnStarted
  ┌ RoundStarted  TextDelta* ReasoningDelta*            one request, its words as they come
  │   BlockOpened  BlockStarted BlockProgress* BlockFinished     a script: hidden, run, ended
  │   CallsStarted -> the same block events, one block a call    calls of another protocol
  │   ReplyRetracted / Repair / Fallback / Notice
  └ RoundFinished
TurnFinished
```

A block's number is unique in its turn; its events may stand between the words that follow it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from nit_kernel.errors import NitError
    from nit_kernel.model.client import TokenUsage
    from nit_kernel.model.usage import TurnUsage
    from nit_kernel.runtime.observer import Event as RuntimeEvent
    from nit_kernel.runtime.result import Result

BlockStatus = Literal["ok", "failed", "invalid", "rejected", "skipped", "cancelled", "cut off"]
"""How a block ended: `invalid` did not pass its check, `rejected` was not allowed, `skipped` stood
behind one that failed, `cut off` was never closed. Only `ok`, `failed` and `cancelled` ones ran."""

StopReason = Literal[
    "answered", "rounds", "tokens", "seconds", "interrupted", "failed", "length", "filtered"
]
"""Why a turn ended: with an answer, by one of its caps, by the person, with an error, because the
server cut the last reply (`length`), or would not let it through (`filtered`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnStarted:
    """A message is on its way."""

    model: str
    codec: str
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundStarted:
    """A request goes out; `attempt` counts the repairs of this round."""

    number: int
    attempt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta:
    """Words for the person."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasoningDelta:
    """Words of the model's reasoning."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockOpened:
    """A script begins in the reply; its text is hidden."""

    block: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockStarted:
    """A script, or a call of another protocol written as one, passed its check and runs."""

    block: int
    script: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockProgress:
    """What the runtime tells of a running script: statements, calls, values, progress."""

    block: int
    event: RuntimeEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockFinished:
    """A script ended, or did not run.

    Attributes:
        block: Its number.
        script: Its text.
        status: How it ended.
        report: What the model is told of it.
        result: What came of it, if it ran.
        error: What is wrong with it, or ended it.
    """

    block: int
    script: str
    status: BlockStatus
    report: str = ""
    result: Result | None = None
    error: NitError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TagRejected:
    """Something in the reply looks like a block but is none of this turn; it ran nothing."""

    tag: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """A reply could not be used; the model is asked to mend it. What it showed is folded away."""

    attempt: int
    limit: int
    error: NitError


@dataclass(frozen=True, slots=True, kw_only=True)
class Fallback:
    """The rest of the turn is spoken in another codec."""

    before: str
    after: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """One line for the person: a retry, a cap, a reply that was cut."""

    text: str
    code: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundFinished:
    """A reply is complete, and everything in it has run."""

    number: int
    finish_reason: str | None
    usage: TokenUsage | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnFinished:
    """The turn ended; an `error` is raised right after this event."""

    reason: StopReason
    text: str
    usage: TurnUsage
    error: NitError | None = field(default=None)


ChatEvent = (
    TurnStarted
    | RoundStarted
    | TextDelta
    | ReasoningDelta
    | BlockOpened
    | BlockStarted
    | BlockProgress
    | BlockFinished
    | TagRejected
    | Repair
    | Fallback
    | Notice
    | RoundFinished
    | TurnFinished
)
