"""Reads ReAct traces: where the labels stand, what action they ask for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from nit_kernel.language.schema import ToolSpec
from nit_kernel.model.codecs.arguments import fits
from nit_kernel.model.codecs.calls_as_python import closing_bracket, read_calls
from nit_kernel.model.codecs.codec import DecodeContext
from nit_kernel.model.codecs.faults import cut_off, no_input
from nit_kernel.model.codecs.history import compact
from nit_kernel.model.codecs.lenient import read_json, read_prefix
from nit_kernel.model.codecs.names import clean_name, find_tool
from nit_kernel.model.codecs.shapes import Calls, shape_of
from nit_kernel.model.codecs.strict import Fault, Read, skip_blanks

_LABEL = re.compile(
    r"^(?P<before>(?:[^\S\n]|[>#*_`•·–—\u200b\ufeff-])*(?:\d+[.)][^\S\n]+[*_`]*)?)"
    r"(?P<label>Thought|Action[ \t_]*(?:\d{1,3}[ \t_]*)?Input|Action|Observation"
    r"|Final[ \t_]*Answer)"
    r"(?P<after>(?:[ \t]*\d{1,3})?(?:[^\S\n]|[*_`])*)[:：](?P<closing>[*_`]*)[^\S\n]*",
    re.IGNORECASE | re.MULTILINE,
)
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n]*$", re.MULTILINE)
_OPENING_FENCE = re.compile(r"\s*(`{3,}+|~{3,}+)[^\n`]*+\n")
_OBSERVATION = re.compile(r"\s*Observation[ \t]*[:：]", re.IGNORECASE)
_FENCE_LINE = re.compile(r"(?:`{3,}|~{3,})[\w-]*\s*\n\s*")
_INPUT_FENCE = re.compile(r"(?:`{3,}|~{3,})[\w-]*[ \t]*\n?\s*|`{1,2}(?=[{\[])")
_OBJECT = re.compile(r"(?:\[\s*)*\{")
_INLINE = re.compile(r"[`\"'*\s“”‘’]*([^\s`\"'*(“”‘’]+)[“”‘’ \t]*\(")
_QUOTES = " \t\r\n“”„‟‘’‚‛«»‹›"
_NO_ACTION = re.compile(
    r"(?:none|n/?a|no|nothing|no action|no tool|not needed|null)(?:[\s.,;:(].*)?",
    re.IGNORECASE | re.DOTALL,
)
_NO_INPUT = {"", "none", "null", "n/a"}
_ANSWER = re.compile(
    r"(?:final[ _]?answer|answer|final|finish)(?:\s*[:：]\s*(?P<text>.*))?",
    re.IGNORECASE | re.DOTALL,
)

ONLY_FIRST = "one action a reply: only the first was run"
"""What the model is told of its other actions."""


@dataclass(frozen=True, slots=True)
class Label:
    """A label at the start of a line.

    Attributes:
        kind: `"thought"`, `"action"`, `"input"`, `"observation"` or `"final"`.
        start: Where its line begins.
        end: Where what it labels begins.
        is_plain: Whether it is written without decoration.
        mark: Decoration that began before the label and did not end with it: `**Action: add**`.
    """

    kind: str
    start: int
    end: int
    is_plain: bool = True
    mark: str = ""

    def undecorated(self, labelled: str) -> str:
        """Return what the label labels without the end of its mark."""
        first, line_break, more = labelled.strip().partition("\n")
        if self.mark and first.rstrip().endswith(self.mark):
            first = first.rstrip().removesuffix(self.mark)
        elif self.mark:
            more = more.removesuffix(self.mark)
        return f"{first}{line_break}{more}".strip()


@dataclass(frozen=True, slots=True)
class Action:
    """An action as it stands in the reply: its text reaches from `start` to `end`."""

    name: str
    arguments: Any
    start: int
    end: int
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NoAction:
    """A label `Action:` that asks for none: with the answer that it introduces, or without one."""

    answer: str | None = None


def unfenced(text: str) -> str:
    """Return the inside of a reply that is one fence with labels in it, else the reply.

    The fence may lack its end. What follows it may only be an observation, which is dropped anyway:
    before prose it is an example.
    """
    opening = _OPENING_FENCE.match(text)
    if opening is None:
        return text
    closing = re.compile(rf"^[ \t]*{opening[1]}[`~]*[ \t\r]*$", re.MULTILINE).search(
        text, opening.end()
    )
    inside, rest = text[opening.end() :], ""
    if closing is not None:
        inside, rest = text[opening.end() : closing.start()], text[closing.end() :]
    if rest and not rest.strip("`~ \t\r\n"):
        # A fence around the input stood inside the one around the reply.
        inside, rest = text[opening.end() :].rstrip().rstrip("`~"), ""
    is_whole = not rest.strip() or _OBSERVATION.match(rest) is not None
    return inside if is_whole and _LABEL.search(inside) else text


def find_labels(text: str, kind: str | None = None) -> list[Label]:
    """Return the labels at line starts (those of one kind), outside of fences."""
    fences = _fenced(text)
    labels: list[Label] = []
    for found in _LABEL.finditer(text):
        if any(start <= found.start("label") < end for start, end in fences):
            continue
        words = re.sub(r"[ \t_\d]+", "", found["label"]).lower()
        name = {"actioninput": "input", "finalanswer": "final"}.get(words, words)
        is_plain = not (found["before"] or found["after"] or found["closing"])
        mark = found["before"][len(found["before"].rstrip("*_`")) :]
        is_closed = any(sign in found["after"] + found["closing"] for sign in mark)
        if kind is None or name == kind:
            labels.append(
                Label(name, found.start(), found.end(), is_plain, "" if is_closed else mark)
            )
    return labels


def read_action(
    text: str, label: Label, following: Sequence[Label], context: DecodeContext
) -> Action | NoAction:
    """Read the action at a label.

    Args:
        text: The reply.
        label: The label `Action:`.
        following: The labels after it.
        context: Which tools there are, and whether the reply was cut off.

    Raises:
        CodecError: The action has no input that can be read, or the reply was cut off in it.
    """
    given = _input_of(following)
    begin = _begin_of_value(text, label, following, context)
    line_end = _line_end(text, begin)
    stop = min(given.start if given is not None else line_end, line_end)
    written = text[begin:stop].strip()
    name = clean_name(written.strip(_QUOTES))
    if find_tool(name, context.tools) is None:
        answered = _ANSWER.fullmatch(name)
        if answered is not None:
            after = given.end if given is not None else line_end
            end = next((one.start for one in following if one.start >= after), len(text))
            rest = text[after:end].strip()
            answer = "\n".join(part for part in (answered["text"] or "", rest) if part)
            return NoAction((given or label).undecorated(answer) or None)
        if not name or _NO_ACTION.fullmatch(name):
            return NoAction()
    action = _object_call(text, label, begin, context) or _inline_call(text, label, begin, context)
    if isinstance(action, NoAction):
        return action
    if action is None or (given is not None and given.start < action.end):
        if given is None:
            if context.finish_reason == "length":
                raise cut_off(text, label.start)
            raise no_input(text, label.start, name, "`Action Input:` is missing")
        action = _with_input(text, label, given, name, context)
    if context.finish_reason == "length" and not text[action.end :].strip("`\n )"):
        raise cut_off(text, label.start)
    warnings = list(action.warnings)
    if not label.is_plain or (given is not None and not given.is_plain):
        warnings.append("write the labels plainly: `Action:` and `Action Input:`")
    if written != name and action.name == name:
        warnings.append(f"write the name of the tool plainly: {name}")
    return replace(action, warnings=tuple(warnings))


def _input_of(following: Sequence[Label]) -> Label | None:
    for label in following:
        if label.kind == "input":
            return label
        if label.kind in ("action", "final", "observation"):
            return None
    return None


def _begin_of_value(
    text: str, label: Label, following: Sequence[Label], context: DecodeContext
) -> int:
    """Return where the value of a label begins: on its line, or on the next that is not blank.

    That line counts only where it is one: the name of a tool, or something with an input.
    """
    if text[label.end : _line_end(text, label.end)].strip():
        return label.end
    begin = skip_blanks(text, label.end)
    fence = _FENCE_LINE.match(text, begin)
    begin = fence.end() if fence is not None else begin
    if any(one.start <= begin < one.end for one in following):
        return label.end
    line = text[begin : _line_end(text, begin)]
    is_value = (
        _input_of(following) is not None
        or _OBJECT.match(line) is not None
        or _INLINE.match(line) is not None
        or find_tool(clean_name(line.strip().strip(_QUOTES)), context.tools) is not None
    )
    return begin if is_value else label.end


def _object_call(
    text: str, label: Label, begin: int, context: DecodeContext
) -> Action | NoAction | None:
    """Read an action that is one object: `Action: {"action": "add", "action_input": {..}}`."""
    fence = _INPUT_FENCE.match(text, begin)
    at = fence.end() if fence is not None else begin
    if _OBJECT.match(text, at) is None:
        return None
    read = read_prefix(text, at)
    if isinstance(read, Fault):
        if context.finish_reason == "length" and read.at_end:
            raise cut_off(text, label.start)
        raise no_input(text, read.offset, "Action", read.why)
    value = read.value
    if isinstance(value, dict) and _ANSWER.fullmatch(str(value.get("action"))):
        answer = value.get("action_input")
        return NoAction(answer if isinstance(answer, str) else compact(answer))
    shape = shape_of(value, (), is_whole=True)
    if not isinstance(shape, Calls):
        raise no_input(text, at, "Action", "the object names no tool and its arguments")
    call = shape.calls[0]
    warnings = tuple(f"the action had {what}" for what in read.repairs)
    if len(shape.calls) > 1:
        warnings = (*warnings, ONLY_FIRST)
    return Action(call.name, call.arguments, label.start, read.end, warnings)


def _with_input(text: str, label: Label, given: Label, name: str, context: DecodeContext) -> Action:
    """Read the JSON after `Action Input:`; a fence around it is dropped."""
    found = find_tool(name, context.tools)
    tool = found.tool if found is not None else None
    at = skip_blanks(text, given.end)
    fence = _INPUT_FENCE.match(text, at)
    at = fence.end() if fence is not None else at
    word = text[at : _line_end(text, at)].strip().strip("`")
    is_empty = not word or _LABEL.match(text, at) is not None
    if is_empty or word.lower() in _NO_INPUT:
        if context.finish_reason == "length":
            raise cut_off(text, label.start)
        if tool is not None and not tool.declared.properties:
            return Action(name, {}, label.start, given.end if is_empty else at + len(word))
        why = "it is empty" if is_empty else f"`{word}` is no JSON object"
        raise no_input(text, given.start, name, why)
    read = read_prefix(text, at)
    if isinstance(read, Read) and not isinstance(read.value, (dict, list)):
        rest = text[read.end : _line_end(text, read.end)].strip()
        read = Fault("something stands after the value", read.end) if rest else read
    if isinstance(read, Fault):
        read = _requoted(text, at, tool, read)
    if isinstance(read, Fault):
        if context.finish_reason == "length" and read.at_end:
            raise cut_off(text, label.start)
        raise no_input(text, read.offset, name, read.why)
    warnings = tuple(f"the input of `{name}` had {what}" for what in read.repairs)
    return Action(name, read.value, label.start, read.end, warnings)


def _requoted(text: str, at: int, tool: ToolSpec | None, first: Fault) -> Read | Fault:
    """Try again with the text up to the next label as the whole input."""
    following = _LABEL.search(text, at)
    source = text[at : following.start() if following is not None else len(text)]
    source = source.rstrip().rstrip("`").rstrip()
    again = read_json(source, accept=fits(tool))
    return replace(again, end=at + len(source)) if isinstance(again, Read) else first


def _inline_call(text: str, label: Label, begin: int, context: DecodeContext) -> Action | None:
    """Read `Action: add({"a": 1})` and `Action: add(a=1)`."""
    found = _INLINE.match(text, begin)
    if found is None or "\n" in found[0]:
        return None
    name = clean_name(found[1])
    opening = found.end() - 1
    read = read_prefix(text, skip_blanks(text, found.end()))
    if isinstance(read, Read) and isinstance(read.value, dict):
        end = skip_blanks(text, read.end)
        if text[end : end + 1] == ")":
            return Action(name, read.value, label.start, end + 1)
    end = closing_bracket(text, opening)
    calls = read_calls(f"f{text[opening:end]}") if end is not None else None
    if end is None or calls is None or len(calls) != 1:
        return None
    if not calls[0].arguments:
        tool = find_tool(name, context.tools)
        if tool is None or tool.tool.required:
            return None
    return Action(name, calls[0].arguments, label.start, end)


def _fenced(text: str) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    opened: re.Match[str] | None = None
    for found in _FENCE.finditer(text):
        if opened is None:
            opened = found
        elif found[1].startswith(opened[1]):
            spans.append((opened.start(), found.end()))
            opened = None
    return spans


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end
