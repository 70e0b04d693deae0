"""The report that a model gets after its script: what ran, what is bound, what went wrong.

Not the data: values stand there as previews, and the model reads more of one by asking for a part
of it (`$page[2000:4000]`). What is in the text comes partly from tools; the model layer defuses it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from nit_kernel.errors import NitSyntaxError
from nit_kernel.language.values import clean_text, describe, preview, shortened
from nit_kernel.runtime.background import BackgroundTask

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nit_kernel.errors import NitError
    from nit_kernel.runtime.result import Call, Result

_MOST_CALLS: Final = 40
_MOST_VARIABLES: Final = 60
_MOST_FINDINGS: Final = 20
_PREVIEW: Final = 120
_LEAST_VALUE: Final = 400


def report_text(result: Result, *, ended: Sequence[BackgroundTask] = (), chars: int) -> str:
    """Write the report on a script.

    Args:
        result: The outcome of the script.
        ended: Background tasks that ended since the last report.
        chars: Longest text, in characters.
    """
    lines = [_headline(result)]
    lines += _findings(result)
    lines += _calls(result.calls)
    lines += _variables(result)
    lines += _ended(ended, result)
    text = "\n".join(lines)
    value = _value(result, max(chars - len(text) - 1, _LEAST_VALUE)) if result.ok else ""
    text = clean_text(f"{text}\n{value}" if value else text)
    # The head says what failed, so it is the middle that goes where there is too much.
    return text if len(text) <= chars else shortened(text, chars - 40)


def _headline(result: Result) -> str:
    error = result.error
    if error is None:
        return "ok" if result.script.statement_count else "ok: the script holds no statement"
    if result.run is None:
        kind = "not a script" if isinstance(error, NitSyntaxError) else "checked"
        return f"nothing ran ({kind}): correct the script and send it again"
    line = f" in line {error.span.line}" if error.span is not None else ""
    return f"failed{line}: earlier statements ran and stay, later ones did not run"


def _findings(result: Result) -> list[str]:
    found = [item.terse() for item in result.diagnostics]
    error = result.error
    if error is not None and not error.diagnostics:
        found.insert(0, _terse(error))
    return _bounded(found, _MOST_FINDINGS, "findings")


def _terse(error: NitError) -> str:
    return f"{error.code}: {error.message}" + (f" ({error.hint})" if error.hint else "")


def _calls(calls: Iterable[Call]) -> list[str]:
    lines: list[str] = []
    for call in calls:
        took = "" if call.status == "running" else f", {_seconds(call.seconds)}"
        text = f"line {call.span.line}: {call.name} {call.status}{took}"
        if call.thread_runs_on:
            text += ", its code could not be stopped and runs on"
        if call.log.strip():
            text += f", printed {preview(call.log.strip(), _PREVIEW)}"
        lines.append(text)
    return _bounded(lines, _MOST_CALLS, "calls")


def _seconds(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 0.05 else f"{seconds * 1000:.0f} ms"


def _variables(result: Result) -> list[str]:
    last = result.value if result.ok else None
    lines: list[str] = []
    for name, value in result.variables.items():
        if isinstance(value, BackgroundTask):
            lines.append(f"${name}: {_task(value)}")
        elif value is last and last is not None:
            lines.append(f"${name}: {describe(value)}; it is the value below")
        else:
            lines.append(f"${name}: {describe(value)}: {preview(value, _PREVIEW)}")
    return _bounded(lines, _MOST_VARIABLES, "variables")


def _task(task: BackgroundTask) -> str:
    match task.state:
        case "done":
            return f"done in the background: {preview(task.outcome(), _PREVIEW)}"
        case "failed" if task.error is not None:
            return f"failed in the background: {_terse(task.error)}"
        case state:
            return f"{state} in the background as task `{task.name}`"


def _ended(ended: Sequence[BackgroundTask], result: Result) -> list[str]:
    shown = {id(task) for task in result.variables.values() if isinstance(task, BackgroundTask)}
    lines = [f"task `{task.name}`: {_task(task)}" for task in ended if id(task) not in shown]
    return _bounded(lines, _MOST_CALLS, "tasks")


def _value(result: Result, room: int) -> str:
    value = result.value
    if value is None or isinstance(value, BackgroundTask):
        return ""
    if isinstance(value, str) and len(value) <= room - 40:
        return f"value ({describe(value)}):\n{value}"
    shown = shortened(value, room - 160) if isinstance(value, str) else preview(value, room - 160)
    more = ""
    if len(shown) > room // 2 and type(value) in (str, bytes, list):
        more = "; read more with a slice such as `[2000:4000]`"
    return f"value ({describe(value)}{more}):\n{shown}"


def _bounded(lines: list[str], most: int, what: str) -> list[str]:
    if len(lines) <= most:
        return lines
    half = most // 2
    return [*lines[:half], f"... {len(lines) - most:,} more {what} ...", *lines[-half:]]
