"""What can be wrong with a reply: one function a fault, so that no message is typed twice.

`CodecError`s send the whole reply back to the model; the texts of `call_*` functions answer one
call and leave the others alone. None of them quotes the reply.
"""

from __future__ import annotations

from collections.abc import Sequence

from nit_kernel._syntax import Span
from nit_kernel.errors import CodecError
from nit_kernel.language.schema import ToolSpec, nearest

UNREADABLE = "NIT601"
CUT_OFF = "NIT602"
WRONG_SHAPE = "NIT603"
UNKNOWN_TOOL = "NIT604"
BAD_ARGUMENTS = "NIT605"
NO_OBJECT = "NIT606"
NO_INPUT = "NIT607"
NO_ANSWER = "NIT608"
OPEN_REASONING = "NIT609"
OPEN_BLOCK = "NIT611"
TOOL_CHOICE = "NIT612"
NO_CODEC = "NIT613"
MISSING = "NIT614"

_MOST_NAMES = 20


def span_of(text: str, start: int, end: int | None = None) -> Span:
    """Return the place of `text[start:end]`; both offsets count characters."""
    start = max(0, min(start, len(text)))
    end = start if end is None else max(start, min(end, len(text)))
    line, column = _line_column(text, start)
    end_line, end_column = _line_column(text, end)
    return Span(_bytes(text[:start]), _bytes(text[:end]), line, column, end_line, end_column)


def unreadable(text: str, offset: int, why: str, *, form: str) -> CodecError:
    """The protocol's JSON (or other form) does not parse."""
    return CodecError(
        f"the reply is not readable as {form}: {why}",
        code=UNREADABLE,
        place=span_of(text, offset),
        hint='write the whole reply again in that form; inside strings write \\n and \\"',
    )


def cut_off(text: str, offset: int = 0) -> CodecError:
    """The token limit ended the reply before its protocol was complete."""
    return CodecError(
        "the reply was cut off by the token limit, and nothing of it was run",
        code=CUT_OFF,
        place=span_of(text, offset, len(text)),
        hint="write a shorter reply, or raise the limit on the tokens of a reply",
    )


def unreadable_arguments(text: str, offset: int, name: str) -> CodecError:
    """The arguments of a call are a text that is no JSON."""
    return CodecError(
        f"the arguments of `{_short(name)}` are a text that is not JSON",
        code=BAD_ARGUMENTS,
        place=span_of(text, offset),
        hint="write the arguments as one JSON object",
    )


def wrong_shape(text: str, offset: int, what: str) -> CodecError:
    """The reply parses, but is not one of the protocol's forms."""
    return CodecError(
        f"the reply does not follow the protocol: {what}",
        code=WRONG_SHAPE,
        place=span_of(text, offset),
        hint="follow the form that the instructions give",
    )


def no_input(text: str, offset: int, name: str, why: str) -> CodecError:
    """An action came without input that can be read."""
    return CodecError(
        f"the action `{_short(name)}` has no input that can be read: {why}",
        code=NO_INPUT,
        place=span_of(text, offset),
        hint='write `Action Input:` and one JSON object such as {"name": "value"}',
    )


def no_answer(text: str, offset: int = 0) -> CodecError:
    """The reply holds thoughts, but neither a call nor an answer."""
    return CodecError(
        "the reply holds neither an action nor an answer",
        code=NO_ANSWER,
        place=span_of(text, offset),
        hint="call a tool, or write `Final Answer:` and the answer",
    )


def open_reasoning(text: str, offset: int) -> CodecError:
    """A call or answer stands in reasoning that never ended, so it may be a draft."""
    return CodecError(
        "the reasoning was never closed, so it is unclear whether what stands in it was meant",
        code=OPEN_REASONING,
        place=span_of(text, offset),
        hint="end the reasoning with </think>, then write the call or the answer",
    )


def open_block(script: str, *, why: str = "") -> CodecError:
    """A script was opened and never closed."""
    return CodecError(
        "the script was never closed, and nothing of it was run" + (f": {why}" if why else ""),
        code=OPEN_BLOCK,
        place=span_of(script, len(script)),
        hint="write the whole script again and end it with the closing tag",
    )


def choice_missed(wanted: str) -> CodecError:
    """A call was demanded and none came."""
    return CodecError(
        f"the reply must call {wanted} and calls nothing",
        code=TOOL_CHOICE,
        hint="reply with the call alone",
    )


def unknown_codec(name: str, known: Sequence[str]) -> CodecError:
    """No codec has this name."""
    near = nearest(name, known)
    meant = f"did you mean `{near[0]}`? " if near else ""
    return CodecError(
        f"there is no codec `{_short(name)}`",
        code=NO_CODEC,
        hint=f"{meant}known are {', '.join(f'`{item}`' for item in known)}",
    )


def call_unknown_tool(name: str, tools: Sequence[ToolSpec]) -> str:
    """The answer to a call of a tool that does not exist."""
    names = [tool.name for tool in tools]
    near = nearest(name, names)
    listed = ", ".join(f"`{item}`" for item in names[:_MOST_NAMES])
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    meant = f"; did you mean `{near[0]}`?" if near else ""
    there = f"; there are {listed}{more}" if names else "; there are no tools"
    return f"{UNKNOWN_TOOL}: there is no tool `{_short(name)}`{meant}{there}"


def call_bad_arguments(name: str, why: str, line: int, column: int) -> str:
    """The answer to a call whose arguments cannot be read."""
    return (
        f"{BAD_ARGUMENTS}: the arguments of `{_short(name)}` are not JSON: {why} (line {line}, "
        f"column {column}); nothing was run, send the call again with one JSON object"
    )


def call_no_object(name: str, found: str) -> str:
    """The answer to a call whose arguments are not an object."""
    return (
        f"{NO_OBJECT}: the arguments of `{_short(name)}` must be a JSON object, not {found}; "
        "nothing was run"
    )


def call_missing_arguments(name: str, missing: Sequence[str]) -> str:
    """The answer to a call that came without arguments although some are required."""
    listed = ", ".join(f"`{item}`" for item in missing)
    return f"{MISSING}: `{_short(name)}` came without arguments and needs {listed}; nothing was run"


def call_cut_off(name: str) -> str:
    """The answer to the last call of a reply that the token limit cut off."""
    return (
        f"{CUT_OFF}: the reply was cut off by the token limit, so `{_short(name)}` was not run; "
        "send the call again, shorter"
    )


def call_not_allowed(name: str, wanted: str) -> str:
    """The answer to a call that the request did not allow."""
    return f"{TOOL_CHOICE}: `{_short(name)}` was not run: {wanted}"


def kind_of_json(value: object) -> str:
    """Return how an error names a JSON value's kind."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, str):
        return "a text"
    return "a list" if isinstance(value, list) else "an object"


def _line_column(text: str, offset: int) -> tuple[int, int]:
    before = text[:offset]
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _short(name: str, most: int = 60) -> str:
    name = " ".join(name.split()).replace("`", "'")
    return name if len(name) <= most else f"{name[:most]}…"
