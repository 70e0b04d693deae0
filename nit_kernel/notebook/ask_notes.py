"""What stands under a model's words: its scripts folded, with their steps; badges; the cost.

One small display a cell. Every word in it comes from a model or a tool, so all of it is escaped.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from nit_kernel.language.values import preview
from nit_kernel.notebook.display import escape, shorten
from nit_kernel.runtime.background import BackgroundTask
from nit_kernel.runtime.observer import CallFinished, CallStarted, ValueBound

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nit_kernel.model.events import BlockFinished
    from nit_kernel.model.usage import TurnUsage
    from nit_kernel.runtime.observer import Event

_STEP_CHARS = 70
_VALUE_CHARS = 60
_BADGE_CHARS = 300
_SCRIPT_CHARS = 20_000
_REASONING_CHARS = 20_000
_SHOWN_STEPS = 30

_MARKS = {
    "running": "•",
    "ok": "✓",
    "failed": "✗",
    "cancelled": "■",
    "invalid": "✗",
    "rejected": "✗",
    "skipped": "–",
    "cut off": "✗",
}
_SAID = {
    "running": "running",
    "failed": "failed",
    "cancelled": "cancelled",
    "invalid": "did not pass its check; nothing of it ran",
    "rejected": "not allowed; nothing of it ran",
    "skipped": "skipped, because the one before it did not end well",
    "cut off": "cut off; nothing of it ran",
}


@dataclass(slots=True)
class Step:
    """One call of a script."""

    text: str
    started: float
    status: str = "running"
    value: str = ""
    seconds: float = 0.0
    names: list[str] = field(default_factory=list)
    task: int | None = None

    @property
    def mark(self) -> str:
        """A sign for how it stands."""
        return _MARKS.get(self.status, "")

    @property
    def outcome(self) -> str:
        """What came of it."""
        target = ", ".join(f"${name}" for name in self.names)
        return " = ".join(part for part in (target, self.value) if part)


class ScriptNote:
    """One script of the model: its text, its steps, how it ended."""

    def __init__(self) -> None:
        self.number = 0
        """Its number for `%nit keep`; 0 until its text is known."""
        self.script = ""
        self.status = "running"
        self.error = ""
        self.value = ""
        self.seconds = 0.0
        self._started = time.monotonic()
        self._steps: dict[int, Step] = {}
        self._tasks: dict[int, list[str]] = {}
        self._more = 0
        self._last: Step | None = None

    def start(self, script: str, number: int) -> None:
        """It passed its check and runs."""
        self.script, self.number = script, number
        self._started = time.monotonic()

    def take(self, event: Event) -> bool:
        """Take what the runtime tells of it; whether something changed."""
        match event:
            case CallStarted(key=key, tool=tool, span=span, task=task):
                if len(self._steps) >= _SHOWN_STEPS:
                    self._more += 1
                    self._last = None
                    return True
                text = _slice(self.script, span.start, span.end) or tool
                text = f"async {text}" if task is not None else text
                step = Step(text=text, started=time.monotonic())
                if task is not None:
                    step.task = id(task)
                    step.names = self._tasks.setdefault(id(task), [])
                self._steps[key] = step
                return True
            case CallFinished(key=key, call=call):
                step = self._steps.get(key)
                if step is None or step.task is None:
                    self._last = step
                if step is None:
                    return False
                step.status, step.seconds = call.status, call.seconds
                if call.error is not None:
                    step.value = call.error.message
                elif call.value is not None:
                    step.value = _preview(call.value)
                return True
            case ValueBound(name=name, value=value):
                if isinstance(value, BackgroundTask):
                    self._tasks.setdefault(id(value), []).append(name)
                    return True
                step, self._last = self._last, None
                if step is not None:
                    step.names.append(name)
                    step.value = _preview(value)
                return step is not None
            case _:
                return False

    def end(self, event: BlockFinished) -> None:
        """It ended, or did not run."""
        self.status = event.status
        self.script = event.script
        self.seconds = time.monotonic() - self._started if self.number else 0.0
        for step in self._steps.values():
            if step.status == "running" and not step.text.startswith("async "):
                step.status = "cancelled"
        if event.error is not None:
            self.error = event.error.render().strip()
        elif event.result is not None and event.result.value is not None:
            self.value = _preview(event.result.value)

    @property
    def headline(self) -> str:
        """One line: which, how many calls, how it ended, how long it took."""
        name = f"script {self.number}" if self.number else "a script"
        calls = len(self._steps) + self._more
        parts = [name]
        if calls:
            parts.append(f"{calls} call{'' if calls == 1 else 's'}")
        if self.status == "running" and not self.number:
            parts.append("on its way")
        elif self.status in _SAID:
            parts.append(_SAID[self.status])
        if self.seconds:
            parts.append(f"{self.seconds:.1f} s")
        if self.status == "ok" and self.value:
            parts.append(f"→ {shorten(self.value, 60)}")
        return f"{_MARKS.get(self.status, '')} " + " · ".join(parts)

    def text(self) -> Iterator[str]:
        """Its lines where there is no HTML."""
        yield self.headline
        for line in _clipped(self.script, _SCRIPT_CHARS).strip().splitlines():
            yield f"    | {line}"
        for step in self._steps.values():
            yield (
                f"    {step.mark} {shorten(step.text, _STEP_CHARS)}"
                f"{f' → {step.outcome}' if step.outcome else ''} ({step.seconds:.2f} s)"
            )
        if self._more:
            yield f"    and {self._more} more calls"
        for line in self.error.splitlines():
            yield f"    {line}"
        if self.number:
            yield f"    %nit keep {self.number}"

    def html(self) -> str:
        """The same, folded."""
        rows = "".join(
            f'<tr><td style="{_CELL}">{step.mark}</td>'
            f'<td style="{_CELL};white-space:nowrap">'
            f'<code style="white-space:nowrap">{escape(shorten(step.text, _STEP_CHARS))}</code>'
            "</td>"
            f'<td style="{_CELL};color:var(--jp-ui-font-color2,#666)">{escape(step.outcome)}</td>'
            f'<td style="{_CELL};white-space:nowrap">{step.seconds:.2f} s</td></tr>'
            for step in self._steps.values()
        )
        more = f'<div style="{_DIM}">and {self._more} more calls</div>' if self._more else ""
        error = f'<pre style="{_PRE};{_BAD}">{escape(self.error)}</pre>' if self.error else ""
        keep = (
            f'<div style="{_DIM}">keep as a cell: <code>%nit keep {self.number}</code></div>'
            if self.number
            else ""
        )
        return (
            f'<details style="{_FOLD}"><summary style="cursor:pointer">'
            f"{escape(self.headline)}</summary>"
            f'<div style="margin:2px 0 6px 14px">'
            f'<pre style="{_PRE}">{escape(_clipped(self.script, _SCRIPT_CHARS).strip())}</pre>'
            f"{f'<table style={_TABLE}><tbody>{rows}</tbody></table>' if rows else ''}"
            f"{more}{error}{keep}</div></details>"
        )


@dataclass(slots=True)
class Badge:
    """One line on what happened: an error, a repair, a fallback, a notice."""

    text: str
    is_bad: bool = False

    def line(self) -> str:
        """The line."""
        return shorten(" ".join(self.text.split()), _BADGE_CHARS)

    def html(self) -> str:
        """The line on a page."""
        color = "var(--jp-error-color1,#b00)" if self.is_bad else "var(--jp-warn-color0,#a60)"
        return (
            f'<div style="margin:2px 0"><span style="border-left:3px solid {color};'
            f'padding-left:8px">{escape(self.line())}</span></div>'
        )


Note: TypeAlias = ScriptNote | Badge


class Notes:
    """Everything under the words of one cell, in the order in which it came."""

    def __init__(self) -> None:
        self.listed: list[Note] = []
        self.reasoning = ""
        self.withdrawn: list[str] = []
        """What replies said that could not be used."""
        self.cost = ""
        self.metadata: dict[str, object] = {}

    def __bool__(self) -> bool:
        return bool(self.listed or self.reasoning or self.cost)

    def add(self, note: Note) -> None:
        """Append one."""
        self.listed.append(note)

    def think(self, text: str) -> None:
        """The model reasons."""
        self.reasoning = (self.reasoning + text)[-_REASONING_CHARS:]

    def count(self, usage: TurnUsage, codec: str, model: str) -> None:
        """What the turn cost."""
        first = usage.first_token_s
        parts = [model or "the model", f"codec {codec}", str(usage)]
        if first is not None:
            parts.append(f"first word after {first:.1f} s")
        self.cost = " · ".join(part for part in parts if part)
        self.metadata = {
            "model": model,
            "codec": codec,
            "prompt_tokens": usage.tokens.prompt_tokens,
            "completion_tokens": usage.tokens.completion_tokens,
            "rounds": usage.rounds,
            "repairs": usage.repairs,
            "seconds": round(usage.seconds, 3),
            "first_token_s": None if first is None else round(first, 3),
        }

    def text(self) -> str:
        """All of it as text."""
        lines: list[str] = []
        if self.reasoning:
            lines.append(f"reasoning: {shorten(' '.join(self.reasoning.split()), _BADGE_CHARS)}")
        for note in self.listed:
            lines.extend(note.text() if isinstance(note, ScriptNote) else [f"! {note.line()}"])
        if self.cost:
            lines.append(self.cost)
        return "\n".join(lines)

    def html(self) -> str:
        """All of it as HTML."""
        parts = [f'<div style="{_ALL}">']
        if self.reasoning:
            parts.append(
                _folded(f"reasoning · {len(self.reasoning.split())} words", self.reasoning)
            )
        parts += [note.html() for note in self.listed]
        for number, text in enumerate(self.withdrawn, 1):
            parts.append(_folded(f"withdrawn reply {number}", text))
        if self.cost:
            parts.append(f'<div style="{_DIM};margin-top:4px">{escape(self.cost)}</div>')
        return "".join([*parts, "</div>"])


_ALL = "font-size:var(--jp-ui-font-size1,13px);line-height:1.45"
_DIM = "color:var(--jp-ui-font-color2,#666);font-size:var(--jp-ui-font-size0,11px)"
_FOLD = "margin:2px 0"
_PRE = (
    "margin:2px 0;padding:4px 8px;background:var(--jp-layout-color2,#f5f5f5);white-space:pre-wrap"
)
_BAD = "background:none;border-left:3px solid var(--jp-error-color1,#b00)"
_CELL = "text-align:left;vertical-align:top"
_TABLE = '"margin:2px 0"'


def _folded(head: str, text: str) -> str:
    return (
        f'<details style="{_FOLD}"><summary style="cursor:pointer">{escape(head)}</summary>'
        f'<pre style="{_PRE}">{escape(text.strip())}</pre></details>'
    )


def _slice(script: str, start: int, end: int) -> str:
    """The text between two offsets in UTF-8 bytes, on one line."""
    return " ".join(script.encode()[start:end].decode(errors="replace").split())


def _preview(value: object) -> str:
    if isinstance(value, BackgroundTask):
        return f"the task `{value.name}`"
    return " ".join(preview(value, _VALUE_CHARS).split())


def _clipped(text: str, chars: int) -> str:
    return (
        text if len(text) <= chars else f"{text[:chars]}\n… {len(text) - chars:,} more characters"
    )
