"""Whether a model's script may call what it calls: the person is asked once for each script.

```
confirm        asks before
"side-effects" a tool that is not declared free of side effects, or says `confirm`   (default)
"marked"       a tool that says `confirm`
"never"        nothing
```

Where nobody can answer, the script is refused, with the setting that would allow it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Literal, Protocol, cast, get_args

from nit_kernel.errors import NitCheckError
from nit_kernel.language.schema import SideEffects, ToolSpec

Confirm = Literal["side-effects", "marked", "never"]

Verdict = Literal["run", "reject", "edit", "always"]


class CalledTool(Protocol):
    """A tool as a prepared script knows it."""

    @property
    def spec(self) -> ToolSpec:
        """What is said about it."""
        ...

    @property
    def full_name(self) -> str:
        """The name that always reaches it."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedCall:
    """One tool that a script will call, as the person is shown it.

    Attributes:
        tool: Its name, `source.tool`.
        side_effects: What a call may change.
        confirm: Whether the tool itself wants to be asked for.
        signature: Its signature line.
        times: How many calls stand in the script.
    """

    tool: str
    side_effects: SideEffects
    confirm: bool
    signature: str
    times: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What the person is asked: may this script run?

    Attributes:
        script: Its text.
        calls: The tools in question, in the order of their first call.
    """

    script: str
    calls: tuple[AskedCall, ...]

    def __str__(self) -> str:
        names = ", ".join(
            f"{call.tool}{f' ({call.times} times)' if call.times > 1 else ''}"
            for call in self.calls
        )
        return f"The model wants to call {names}:\n\n{self.script}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the person says.

    Attributes:
        verdict: `"run"`, `"reject"`, `"edit"` (run `script` in its place) or `"always"` (run, and
            never ask again for these tools).
        script: The script as the person changed it.
        reason: Told to the model when it was rejected.
    """

    verdict: Verdict
    script: str | None = None
    reason: str = ""


Reply = Answer | Verdict | bool | str | None
Ask = Callable[[Question], Reply | Awaitable[Reply]]
"""Answers a question: an `Answer`, its verdict, or a truth value. May be a coroutine function."""


class Permission:
    """What may run without asking, and what the person has allowed for good.

    Args:
        confirm: When to ask.

    Raises:
        ValueError: `confirm` is none of its words.
    """

    def __init__(self, confirm: Confirm = "side-effects") -> None:
        self._confirm: Confirm = _checked(confirm)
        self._always: set[str] = set()

    @property
    def confirm(self) -> Confirm:
        """When to ask."""
        return self._confirm

    @confirm.setter
    def confirm(self, value: Confirm) -> None:
        self._confirm = _checked(value)

    @property
    def always(self) -> frozenset[str]:
        """The tools that the person has allowed for good, as `source.tool`."""
        return frozenset(self._always)

    def allow(self, tools: Iterable[str]) -> None:
        """Never ask for these tools again in this conversation."""
        self._always.update(tools)

    def forget(self) -> None:
        """Ask for every tool again."""
        self._always.clear()

    def question(self, script: str, tools: Iterable[CalledTool]) -> Question | None:
        """Return what to ask before the script runs, or `None` where it may."""
        asked: dict[str, AskedCall] = {}
        for tool in tools:
            name = tool.full_name
            if name in self._always or not self._asks_for(tool.spec):
                continue
            before = asked.get(name)
            asked[name] = AskedCall(
                tool=name,
                side_effects=tool.spec.side_effects,
                confirm=tool.spec.confirm,
                signature=tool.spec.signature(),
                times=1 if before is None else before.times + 1,
            )
        return Question(script=script, calls=tuple(asked.values())) if asked else None

    def _asks_for(self, spec: ToolSpec) -> bool:
        if self._confirm == "never":
            return False
        return spec.confirm or (self._confirm == "side-effects" and spec.side_effects != "none")


def as_answer(reply: object) -> Answer:
    """Make an `Answer` of whatever a callback returned.

    Raises:
        TypeError: It is none of the forms of a `Reply`.
    """
    if isinstance(reply, Answer):
        return reply
    if reply is None or isinstance(reply, bool):
        return Answer(verdict="run" if reply else "reject")
    if isinstance(reply, str) and reply in get_args(Verdict):
        return Answer(verdict=cast("Verdict", reply))
    message = (
        f"`ask` returned {reply!r}; it must return an Answer, True or False, or one of "
        f"{', '.join(get_args(Verdict))}"
    )
    raise TypeError(message)


def nobody_to_ask(question: Question) -> NitCheckError:
    """The error for a script that needs a yes where nobody can give it."""
    names = ", ".join(f"`{call.tool}`" for call in question.calls)
    return NitCheckError(
        f"{names} may change things, and nobody is here to allow it",
        code="NIT670",
        hint="`Chat(ask=..)` answers from code; `confirm='marked'` or `'never'` asks for less "
        "(`c.NitMagics.confirm` in a notebook)",
    )


def rejected(question: Question, reason: str = "") -> NitCheckError:
    """The error for a script that the person did not allow."""
    names = ", ".join(f"`{call.tool}`" for call in question.calls)
    return NitCheckError(
        f"the person did not allow {names}" + (f": {reason}" if reason else ""),
        code="NIT671",
        hint="do without, or ask the person what they want instead",
    )


def _checked(confirm: str) -> Confirm:
    if confirm not in get_args(Confirm):
        known = ", ".join(f'"{each}"' for each in get_args(Confirm))
        message = f"confirm must be one of {known}, not {confirm!r}"
        raise ValueError(message)
    return cast("Confirm", confirm)
