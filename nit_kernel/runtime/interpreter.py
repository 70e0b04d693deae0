"""Carries out a script, and never waits: it asks for calls and is told how they ended.

```
            interpret(run, ..)                       a driver (dispatcher.py)
   ┌──────────────────────────────┐   (tool, arguments, step)    ┌───────────────────────┐
   │ statement, steps, arguments, │ ───────────────────────────> │ calls, waits, watches │
   │ coercion, binding, records   │ <─────────────────────────── │ the clock and Ctrl-C  │
   └──────────────────────────────┘   send(value), throw(ended)  └───────────────────────┘
```
It yields a tuple for a call to be made, or a `BackgroundTask` to wait for. So one generator serves
the blocking driver, the awaiting one, and background tasks (which carry out one statement).
"""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import TYPE_CHECKING, TypeAlias, TypeGuard, cast

from nit_kernel._syntax import VALUE
from nit_kernel.errors import (
    NitCancelledError,
    NitError,
    NitLimitError,
    NitRuntimeError,
    NitTimeoutError,
    NitToolError,
)
from nit_kernel.runtime.coercion import CoercionError
from nit_kernel.runtime.host import PROBE, ValueHost, ValueIsUsed
from nit_kernel.runtime.run import (
    CallEnded,
    CallStopped,
    CallTimedOut,
    Failure,
    ScriptTimedOut,
)
from nit_kernel.runtime.symbols import ABSENT, table_is_full
from nit_kernel.runtime.task import BackgroundTask

if TYPE_CHECKING:
    from nit_kernel.runtime.run import Run
    from nit_kernel.runtime.tool import Tool

Request: TypeAlias = "tuple[Tool, dict[str, object], int] | BackgroundTask"
"""A call to be made (tool, coerced arguments, step), or a task to be waited for."""

Steps: TypeAlias = "Generator[Request, object, object]"
"""A script or a statement on its way; it returns the value of its last statement."""

_LONGEST_MESSAGE = 500
_LONGEST_IN_GROUP = 200
_MOST_OF_GROUP = 3


def interpret(run: Run, first: int, last: int, task: BackgroundTask | None = None) -> Steps:
    """Carry out statements `first` to `last` (exclusive) of a run.

    Args:
        run: The script.
        first: The first statement.
        last: The statement before which it ends.
        task: The background task whose statement this is: it reads what was captured, binds
            nothing, and keeps its own records. `None` for the script itself.

    Raises:
        NitError: A statement failed; what was bound stays bound.
    """
    prepared, table, script = run.prepared, run.home.table, run.script
    plans, passed, bound = prepared.plans, prepared.variables, run.bound
    statement, step, build = script.statement, script.step, script.arguments
    lookup, put, host = table.lookup, table.put, ValueHost(script, run.home.limits)
    clock = time.perf_counter
    captured = None if task is None else task.captured
    records = run.records if task is None else task.records
    telling = run.telling
    is_plain = telling is None and table.has_room_for(script.statement_count)
    slots: dict[int, object] = {}
    result: object = None

    for index in range(first, last):
        first_step, end_step, target, is_async, start, end = statement(index)
        if run.stopped is not None and task is None:
            raise _stopped(run, run.stopped, start, end) from run.stopped.cause
        if not is_plain and task is None:
            _begin(run, index, target, start, end)
        if is_async and task is None:
            result = run.home.spawn(run, index, target)
            if target is not None:
                run.bind(target, result, start, end)
            continue
        number = first_step
        while number < end_step:
            kind, shape, to, reads, at, until = step(number)
            values: list[object] = []
            for name in reads:
                if isinstance(name, int):
                    values.append(slots[name])
                    continue
                if captured is not None:
                    value = captured[name]
                elif passed is not None:
                    value = run.read(name, at, until)
                else:
                    value = lookup(name, ABSENT)
                    if value is ABSENT:
                        value = run.read(name, at, until)
                if type(value) is BackgroundTask and not _is_copy(run, number, kind, to, value):
                    if not value.done:
                        try:
                            yield value
                        except CallStopped as ended:
                            raise _stopped(run, ended, at, until) from ended.cause
                    value = _settle(run, name, value)
                values.append(value)
            if kind == VALUE:
                result = script.value(number, values, host)
            else:
                tool, names, guards = plans[shape]
                arguments = build(number, names, values, host)
                if guards is None:
                    if not tool.coercer.fits(arguments):
                        arguments = _coerced(run, tool, names, arguments, number, values)
                else:
                    # Its literals are right, as the check has seen: what is left is variables.
                    for name, types in guards:
                        if type(arguments[name]) not in types:
                            arguments = _coerced(run, tool, names, arguments, number, values)
                            break
                if telling is not None:
                    telling.call_started(tool, arguments, number, task)
                started = clock()
                try:
                    result = yield tool, arguments, number
                except CallEnded as ended:
                    error = call_error(run, tool, ended, at, until)
                    record = (number, tool, arguments, started, clock(), Failure(error, ended))
                    records.append(record)
                    if telling is not None:
                        telling.call_finished(record, task)
                    raise error from ended.cause
                record = (number, tool, arguments, started, clock(), result)
                records.append(record)
                if telling is not None:
                    telling.call_finished(record, task)
            number += 1
            if number < end_step:
                slots[cast("int", to)] = result
        if task is not None:
            continue
        if run.stopped is not None:
            # What arrives after the script was cancelled is thrown away.
            raise _stopped(run, run.stopped, start, end) from run.stopped.cause
        if target is not None:
            if is_plain:
                put(target, result)
                bound[target] = result
            else:
                run.bind(target, result, start, end)
    return result


def _begin(run: Run, index: int, target: str | None, start: int, end: int) -> None:
    """See whether a statement may begin, and say so."""
    if target is not None and not run.home.table.has_room(target):
        raise run.placed(table_is_full(target, run.limits.variables), start, end)
    if run.telling is not None:
        run.telling.statement_started(index, start, end)


def _is_copy(run: Run, step: int, kind: int, to: str | int | None, task: BackgroundTask) -> bool:
    """Whether a step is `$y = $x` and no more, which copies the handle of a task."""
    if kind != VALUE or not isinstance(to, str):
        return False
    try:
        return run.script.value(step, (task,), PROBE) is task
    except ValueIsUsed:
        return False


def _settle(run: Run, name: str, task: BackgroundTask) -> object:
    """The value of a task that a statement uses.

    Raises:
        NitError: The task failed.
    """
    value = task.outcome()
    if run.bound.get(name) is task:
        run.bound[name] = value
    return value


def _coerced(
    run: Run,
    tool: Tool,
    names: tuple[str | None, ...],
    arguments: dict[str, object],
    step: int,
    values: list[object],
) -> dict[str, object]:
    """Convert and validate arguments that do not fit as they are."""

    def spelled() -> dict[str, object]:
        return run.script.arguments(step, names, values, run.host, True)

    try:
        return tool.coercer.coerce(arguments, run.limits, spelled)
    except CoercionError as error:
        start, end = run.script.tool_span(step)
        if error.parameter in names:
            _, _, start, end = run.script.argument_spans(step)[names.index(error.parameter)]
        kind = NitLimitError if error.code == "NIT423" else NitRuntimeError
        raise run.error_at(kind, error.code, error.message, start, end, hint=error.hint) from None


# Errors of calls


def call_error(run: Run, tool: Tool, ended: CallEnded, start: int, end: int) -> NitError:
    """The error that a call which came to no value ends its statement with."""
    name = tool.spec.nit_name
    if isinstance(ended, CallStopped):
        return _stopped(run, ended, start, end, tool=name)
    if isinstance(ended, CallTimedOut):
        return run.error_at(
            NitTimeoutError,
            "NIT502",
            f"`{name}` did not finish within {ended.seconds:g} s",
            start,
            end,
            hint="start it with `async`, or give the tool a longer `timeout`",
        )
    cause = ended.cause
    if isinstance(cause, NitError) and not cause.diagnostics:
        return run.placed(cause, start, end)
    message = f"`{name}` raised {type(cause).__name__}"
    text = _group_line(cause) if _is_group(cause) else _one_line(cause)
    return run.error_at(
        NitToolError, "NIT501", f"{message}: {text}" if text else message, start, end
    )


def _stopped(
    run: Run, stopped: CallStopped, start: int, end: int, *, tool: str | None = None
) -> NitError:
    """The error of a script that was cancelled, interrupted, or given too little time."""
    cause = stopped.cause
    hint = None
    if stopped.lingers:
        hint = f"the thread of `{tool}` cannot be stopped and runs on; its result is thrown away"
    if isinstance(cause, ScriptTimedOut):
        message = f"the script did not finish within {cause.seconds:g} s"
        return run.error_at(NitTimeoutError, "NIT503", message, start, end, hint=hint)
    what = "interrupted" if isinstance(cause, KeyboardInterrupt) else "cancelled"
    during = f" while `{tool}` ran" if tool else ""
    return run.error_at(
        NitCancelledError, "NIT402", f"the script was {what}{during}", start, end, hint=hint
    )


def _group_line(group: BaseExceptionGroup[BaseException]) -> str:
    """A group and the first errors in it, those of groups within it, too."""
    left: list[BaseException] = [group]
    told: list[str] = []
    while left and len(told) < _MOST_OF_GROUP:
        error = left.pop()
        if _is_group(error):
            left.extend(reversed(error.exceptions))
        else:
            text = _one_line(error, _LONGEST_IN_GROUP)
            told.append(f"{type(error).__name__}: {text}" if text else type(error).__name__)
    return f"{_one_line(group)}: {'; '.join(told)}{'; and more' if left else ''}"


def _is_group(error: BaseException | None) -> TypeGuard[BaseExceptionGroup[BaseException]]:
    return isinstance(error, BaseExceptionGroup)


def _one_line(error: BaseException | None, longest: int = _LONGEST_MESSAGE) -> str:
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - a tool's own exception may do anything
        return "(its text cannot be read)"
    return " ".join(text[:longest].split())
