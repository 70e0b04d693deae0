"""What a turn cost: tokens, rounds, time; failed attempts included."""

from __future__ import annotations

from dataclasses import dataclass, field

from nit_kernel.model.client import TokenUsage


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnUsage:
    """The cost of one turn, or of several added up.

    Attributes:
        tokens: Read and written, in all requests whose server counts.
        requests: Requests that were sent, repairs and retries included.
        rounds: Replies that counted as rounds.
        repairs: Replies that could not be used.
        wasted: What those replies cost, a part of `tokens`.
        seconds: From the message to the end of the turn.
        first_token_s: From the message to the first word; `None` where none came.
        uncounted: Replies whose server did not count.
    """

    tokens: TokenUsage = field(default_factory=TokenUsage)
    requests: int = 0
    rounds: int = 0
    repairs: int = 0
    wasted: TokenUsage = field(default_factory=TokenUsage)
    seconds: float = 0.0
    first_token_s: float | None = None
    uncounted: int = 0

    def __add__(self, other: TurnUsage) -> TurnUsage:
        first = self.first_token_s if self.first_token_s is not None else other.first_token_s
        return TurnUsage(
            tokens=self.tokens + other.tokens,
            requests=self.requests + other.requests,
            rounds=self.rounds + other.rounds,
            repairs=self.repairs + other.repairs,
            wasted=self.wasted + other.wasted,
            seconds=self.seconds + other.seconds,
            first_token_s=first,
            uncounted=self.uncounted + other.uncounted,
        )

    def __str__(self) -> str:
        tokens = f"{self.tokens.prompt_tokens:,} + {self.tokens.completion_tokens:,} tokens"
        rounds = f"{self.rounds} round{'' if self.rounds == 1 else 's'}"
        repairs = f", {self.repairs} repaired" if self.repairs else ""
        return f"{tokens}, {rounds}{repairs}, {self.seconds:.1f} s"


_CHARS_PER_TOKEN = 4


class Meter:
    """Counts while a turn goes on."""

    def __init__(self, started: float) -> None:
        self._started = started
        self._first: float | None = None
        self._tokens = TokenUsage()
        self._wasted = TokenUsage()
        self._last: TokenUsage | None = None
        self._uncounted = 0
        self._estimated = 0
        self.requests = 0
        self.rounds = 0
        self.repairs = 0

    @property
    def total_tokens(self) -> int:
        """Tokens so far, read and written; estimated for servers that do not count."""
        return self._tokens.total_tokens + self._estimated

    def saw_token(self, now: float) -> None:
        """Note that something came; only the first time counts."""
        if self._first is None:
            self._first = now - self._started

    def count(self, usage: TokenUsage | None, *, chars: int) -> None:
        """Add what the server says that a reply cost.

        Args:
            usage: The server's count, if it gave one.
            chars: How much was read and written, to estimate by where it gave none.
        """
        self._last = usage
        if usage is None:
            self._uncounted += 1
            self._estimated += chars // _CHARS_PER_TOKEN
        else:
            self._tokens += usage

    def waste(self) -> None:
        """The reply that was counted last could not be used."""
        self.repairs += 1
        if self._last is not None:
            self._wasted += self._last

    def usage(self, now: float) -> TurnUsage:
        """Return the cost so far."""
        return TurnUsage(
            tokens=self._tokens,
            requests=self.requests,
            rounds=self.rounds,
            repairs=self.repairs,
            wasted=self._wasted,
            seconds=now - self._started,
            first_token_s=self._first,
            uncounted=self._uncounted,
        )
