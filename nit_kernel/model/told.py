"""What the model is told of its last reply: reports of scripts, results of calls.

Nothing here is defused or shortened: that is done where the history is encoded, for every codec.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nit_kernel.errors import CodecError, NitError
from nit_kernel.language.values import json_text
from nit_kernel.model.messages import Message, text_of
from nit_kernel.model.prompt import CANCELLED

if TYPE_CHECKING:
    from nit_kernel.model.blocks import CallOutcome
    from nit_kernel.model.events import BlockFinished

_NOTHING_RAN = "nothing of it was run"
_SKIPPED = f"{_NOTHING_RAN}, because the script before it did not end well"
_STOPPED = "The person stopped this turn."
_MOST_FINDINGS = 10

REPEATED = (
    "You asked for exactly this before, and its result is above. Do not ask again: answer the "
    "person in plain words now, or do something else"
)
"""Small models repeat a call for ever once it went well."""

_FOUND_OUT = "This is what was found out. Answer the request with it, in plain words:"


def report(
    blocks: Sequence[BlockFinished],
    *,
    warnings: Sequence[str] = (),
    problem: NitError | None = None,
) -> str:
    """Return the report on a reply: its scripts in order, then what was wrong with the rest.

    Args:
        blocks: How its scripts ended.
        warnings: What the codec mended or left out, and tags that were none of this turn.
        problem: Why the rest of the reply could not be used, where only a part of it ran.
    """
    sections = [_section(block, number, len(blocks)) for number, block in enumerate(blocks, 1)]
    known = {id(block.error) for block in blocks}
    if problem is not None and id(problem) not in known:
        sections.append(f"{problem.message}{_hint(problem)}")
    sections += [f"warning: {warning}" for warning in dict.fromkeys(warnings)]
    return "\n\n".join(sections)


def stopped(blocks: Sequence[BlockFinished], scripts: int) -> str:
    """Return the report on a reply that the person stopped, or whose stream broke.

    Args:
        blocks: How its scripts ended, as far as they were begun.
        scripts: How many it held.
    """
    sections = [_section(block, number, scripts) for number, block in enumerate(blocks, 1)]
    for number in range(len(blocks) + 1, scripts + 1):
        sections.append(f"{_name(number, scripts)}{_NOTHING_RAN}")
    return "\n\n".join([*sections, _STOPPED])


def for_words_alone(messages: Sequence[Message]) -> list[Message]:
    """Return the turn as a question with what was found out, for a model that only has to answer.

    How it asked for that is left out: a small model would write the same once more.
    """
    question = messages[0]
    found: list[str] = []
    for message in reversed(messages[1:]):
        if message.get("role") == "assistant":
            if found:
                break
        else:
            found.insert(0, text_of(message).replace(REPEATED, "").strip())
    listed = "\n\n".join(found)
    return [question, {"role": "user", "content": f"{_FOUND_OUT}\n{listed}", "kind": "report"}]


def result(outcome: CallOutcome, notes: Sequence[str]) -> tuple[str, bool]:
    """Return the text that answers a call, and whether it is an error."""
    call, block = outcome.call, outcome.block
    if call.error is not None:
        return _with_notes(call.error, notes), True
    if block is None or block.status == "cancelled":
        return _with_notes(CANCELLED, notes), True
    if block.error is not None:
        return _with_notes(_said(block.error), notes), True
    value = block.result.value if block.result is not None else None
    return _with_notes(value if isinstance(value, str) else json_text(value), notes), False


def as_codec_error(error: NitError) -> CodecError:
    """Return what is wrong with a script as an error of the reply, for the repair prompt."""
    if isinstance(error, CodecError):
        return error
    return CodecError(
        error.message, code=error.code, hint=error.hint, diagnostics=error.diagnostics
    )


def _section(block: BlockFinished, number: int, of: int) -> str:
    name = _name(number, of)
    match block.status:
        case "skipped":
            return f"{name}{_SKIPPED}"
        case "invalid" if block.error is not None:
            lines = [item.terse() for item in block.error.diagnostics[:_MOST_FINDINGS]]
            listed = "\n".join(f"- {line}" for line in lines or [_said(block.error)])
            return f"{name}it cannot run, {_NOTHING_RAN}:\n{listed}"
        case "rejected" if block.error is not None:
            return f"{name}{_NOTHING_RAN}: {_said(block.error)}"
        case "cancelled" if not block.report:
            return f"{name}cancelled, {_NOTHING_RAN}"
        case _:
            return f"{name}\n{block.report}" if of > 1 else block.report


def _name(number: int, of: int) -> str:
    return f"Script {number} of {of}: " if of > 1 else "Your script: "


def _said(error: NitError) -> str:
    return f"{error.code}: {error.message}{_hint(error)}"


def _hint(error: NitError) -> str:
    return f" ({error.hint})" if error.hint else ""


def _with_notes(text: str, notes: Sequence[str]) -> str:
    return "\n".join([text, *(f"note: {note}" for note in notes)])
