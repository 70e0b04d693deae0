"""The stream of a reply with scripts: the filter, and two habits of models that it cannot know.

```
prose ── <nit-ID> ─────────────> StreamFilter: block, strings respected
      └─ ```nit-ID at a line ──> fence mode: the same, closed by </nit-ID> or by a line ```
end of the reply inside a block ─> stop_at_block: was it the stop sequence? then it is closed
```

A fence with this turn's id is as good as the tag: small models write it so, and the id is what
makes a block a command.
"""

from __future__ import annotations

from collections.abc import Sequence

from nit_kernel._syntax import (
    Block,
    BlockOpen,
    Event,
    Reasoning,
    StreamFilter,
    Text,
    Unclosed,
    parse,
)

_FENCE = "```"
_MOST_HELD = 12
"""Characters of a line that may be nothing but the fence behind a closing tag."""

_MOST_PROBES = 200
"""Lines ``` in one fenced script that may turn out to stand inside a string."""

_NEVER_CLOSED = frozenset({"NIT106", "NIT202", "NIT218", "NIT235", "NIT236"})
"""Diagnostics of a string, bracket, brace, fence or tag that is never closed."""


class NitStream:
    """Turns a reply into text, reasoning and blocks while it comes.

    Args:
        handshake: The id of this turn.
        legacy: Whether NIT 1.0 blocks count.
        reasoning: Names of the tags around reasoning.
        stop_at_block: Whether the closing tag was sent as a stop sequence, which servers leave out.
    """

    def __init__(
        self,
        handshake: str,
        *,
        legacy: bool = False,
        reasoning: Sequence[str] = ("think",),
        stop_at_block: bool = False,
    ) -> None:
        self._id = handshake
        self._open = f"<nit-{handshake}>"
        self._close = f"</nit-{handshake}>"
        self._fence_open = f"{_FENCE}nit-{handshake}"
        self._filter = StreamFilter(handshake, legacy, tuple(reasoning))
        self._stop_at_block = stop_at_block
        self._held = ""
        self._at_line_start = True
        self._fence: _FencedScript | None = None
        self._is_legacy = False
        self._drops_fence = False

    def feed(self, chunk: str, /) -> list[Event]:
        """Take the next chunk."""
        is_plain = not self._held and not self._drops_fence and "`" not in chunk
        if self._fence is None and is_plain:
            return [self._noted(event) for event in self._filter.feed(chunk)]
        events: list[Event] = []
        # A fence is decided at the end of its line, so that nothing behind it was looked at yet.
        for line in _lines(chunk):
            events += self._feed_line(line)
        return _merged(events)

    def finish(
        self, finish_reason: str | None = None, stop_reason: str | None = None
    ) -> list[Event]:
        """Release what was held back; a block that the stop sequence ended is closed."""
        events: list[Event] = []
        while self._fence is not None:
            ended, rest = self._fence.finish()
            events += ended
            self._leave_fence()
            for line in _lines(rest):
                events += self._feed_line(line)
        if self._held and not (self._drops_fence and self._held.strip() == _FENCE):
            events.append(Text(self._held))
        self._held = ""
        self._drops_fence = False
        self._at_line_start = True
        events += self._filter.finish()
        return _merged([self._closed(event, finish_reason, stop_reason) for event in events])

    def _feed_line(self, line: str) -> list[Event]:
        if self._fence is not None:
            events, rest = self._fence.feed(line)
            if rest is None:
                return events
            self._leave_fence()
            for part in _lines(rest):
                events += self._feed_line(part)
            return events
        shown: list[Event] = []
        for event in self._filter.feed(line):
            if isinstance(event, Text):
                shown += self._look_for_fence(event.text)
            else:
                shown += self._release()
                shown.append(self._noted(event))
        return shown

    def _leave_fence(self) -> None:
        self._drops_fence = self._fence is not None and self._fence.closed_by_tag
        self._fence = None
        self._at_line_start = True

    def _look_for_fence(self, text: str) -> list[Event]:
        """Take visible text without a line break but at its end; open a fence, or show it."""
        line, self._held = self._held + text, ""
        if self._at_line_start and line.endswith("\n"):
            if line.rstrip("\r\n") == self._fence_open:
                self._fence = _FencedScript(self._id)
                self._drops_fence = False
                return [BlockOpen(self._id)]
            if self._drops_fence and line.strip() == _FENCE and len(line) <= _MOST_HELD:
                self._drops_fence = False
                return []
        if self._at_line_start and self._may_become_a_fence(line):
            self._held = line
            return []
        self._drops_fence = self._drops_fence and not line.strip()
        return [self._noted(Text(line))]

    def _may_become_a_fence(self, line: str) -> bool:
        if (self._fence_open + "\r\n").startswith(line):
            return True
        is_open = not line.endswith("\n") and len(line) < _MOST_HELD
        return self._drops_fence and is_open and _FENCE.startswith(line.strip())

    def _release(self) -> list[Event]:
        held, self._held = self._held, ""
        return [self._noted(Text(held))] if held else []

    def _noted(self, event: Event) -> Event:
        """Keep track of where the visible text stands."""
        if isinstance(event, Text):
            self._at_line_start = event.text.endswith("\n")
        elif isinstance(event, BlockOpen):
            self._is_legacy = event.id != self._id
        elif isinstance(event, Block):
            self._at_line_start = False
        elif isinstance(event, Reasoning):
            self._at_line_start = True
        return event

    def _closed(self, event: Event, finish_reason: str | None, stop_reason: str | None) -> Event:
        if not isinstance(event, Unclosed) or not self._stop_at_block or self._is_legacy:
            return event
        if finish_reason in (None, "length", "content_filter"):
            return event
        if stop_reason == self._close or _is_complete(event.script):
            return Block(event.script, self._id)
        return event


class _FencedScript:
    """A script in a fence: knows where it ends."""

    def __init__(self, handshake: str) -> None:
        self._id = handshake
        self._close = f"</nit-{handshake}>"
        self._filter = self._fresh()
        self._script = ""
        self._line = ""
        self._is_mid_line = False
        self._probes = 0
        self.closed_by_tag = False

    def feed(self, text: str) -> tuple[list[Event], str | None]:
        """Take text up to a line's end: events, and the rest once the script has ended."""
        if self._is_mid_line:
            self._is_mid_line = not text.endswith("\n")
            return self._take(text)
        self._line += text
        bare = self._line.strip()
        is_ended = self._line.endswith("\n")
        if not is_ended and _FENCE.startswith(bare):
            return [], None
        if is_ended and bare == _FENCE and self._ends_here():
            return [Block(self._script, self._id)], ""
        line, self._line = self._line, ""
        self._is_mid_line = not is_ended
        return self._take(line)

    def finish(self) -> tuple[list[Event], str]:
        """Take the end of the reply: events, and the text behind the script."""
        if self._line.strip() == _FENCE and self._ends_here():
            return [Block(self._script, self._id)], ""
        events, rest = self._take(self._line)
        return (events, rest) if rest is not None else self._split(self._filter.finish())

    def _take(self, text: str) -> tuple[list[Event], str | None]:
        self._script += text
        events = self._filter.feed(text)
        return self._split(events) if events else ([], None)

    def _split(self, events: list[Event]) -> tuple[list[Event], str]:
        """Return the script's end, and as it came what stands behind it in the reply."""
        ended = events[0]
        if not isinstance(ended, Block):
            return [ended], ""
        self.closed_by_tag = True
        return [ended], self._script[len(ended.script) + len(self._close) :]

    def _ends_here(self) -> bool:
        self._probes += 1
        if self._probes > _MOST_PROBES:
            return True
        probe = self._fresh()
        return any(isinstance(e, Block) for e in probe.feed(self._script + self._close))

    def _fresh(self) -> StreamFilter:
        fresh = StreamFilter(self._id)
        fresh.feed(f"<nit-{self._id}>")
        return fresh


def _is_complete(script: str) -> bool:
    """Return whether every statement of a script is whole, and there is one.

    A whole statement may be wrong: nothing of the script runs then, and the model is told what is
    wrong with it. One that may go on behind the end is not whole.
    """
    parsed = parse(script)
    end = len(script.rstrip().encode("utf-8", "surrogatepass"))
    errors = [item for item in parsed.diagnostics if item.severity == "error"]
    is_open = any(item.code in _NEVER_CLOSED or item.span.end >= end for item in errors)
    is_open = is_open or any(name_end >= end for _, _, name_end, _ in parsed.bare_names)
    return not is_open and bool(errors or parsed.statement_count)


def _lines(chunk: str) -> list[str]:
    """Split after each line feed, and nowhere else."""
    parts = chunk.split("\n")
    lines = [f"{part}\n" for part in parts[:-1]]
    return [*lines, parts[-1]] if parts[-1] else lines


def _merged(events: list[Event]) -> list[Event]:
    """Join neighbouring texts."""
    merged: list[Event] = []
    for event in events:
        last = merged[-1] if merged else None
        if isinstance(event, Text) and isinstance(last, Text):
            merged[-1] = Text(last.text + event.text)
        else:
            merged.append(event)
    return merged
