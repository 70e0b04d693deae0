"""Runs what a reply asks for, scripts and calls, in order: checked, allowed, run, reported.

```
text of a block ─ prepare ─ invalid?  ─> told what is wrong, nothing ran
                 └ permission ─ no?   ─> told that the person did not allow it
                              └ arun  ─> report, also where it failed or was cancelled
```
Behind one that did not end well the later ones of the same reply are skipped: they were written
in the belief that it had.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

from nit_kernel._syntax import quote
from nit_kernel.errors import NitCancelledError, NitError
from nit_kernel.model.events import (
    BlockFinished,
    BlockProgress,
    BlockStarted,
    BlockStatus,
)
from nit_kernel.model.permission import (
    Answer,
    Ask,
    CalledTool,
    Permission,
    Question,
    as_answer,
    nobody_to_ask,
    rejected,
)

if TYPE_CHECKING:
    from nit_kernel._syntax import Diagnostic, Span
    from nit_kernel.model.codecs.codec import ToolCall
    from nit_kernel.model.links import Link
    from nit_kernel.runtime.dispatcher import OnCaller
    from nit_kernel.runtime.observer import Event, Observer
    from nit_kernel.runtime.registry import Registry
    from nit_kernel.runtime.result import Result
    from nit_kernel.runtime.symbols import SymbolTable


logger = logging.getLogger("nit_kernel")


class PreparedScript(Protocol):
    """A script that was checked; see `Session.prepare`."""

    @property
    def ok(self) -> bool:
        """Whether it may run."""
        ...

    @property
    def version(self) -> int:
        """The version of the registry that it was checked against."""
        ...

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What the check found."""
        ...

    @property
    def error(self) -> NitError | None:
        """Why it may not run."""
        ...

    @property
    def tools(self) -> Sequence[tuple[CalledTool, Span]]:
        """What it will call."""
        ...


class ScriptSession(Protocol):
    """What a conversation needs of a session; `nit_kernel.Session` is one."""

    registry: Registry
    variables: SymbolTable

    def prepare(
        self,
        source: str,
        *,
        origin: Literal["person", "model"],
        legacy: Literal["allow", "off", "only"] | None,
    ) -> Any:
        """Check a script; a `PreparedScript`."""
        ...

    def prepare_call(self, name: str, arguments: Mapping[str, object]) -> Any:
        """Check one call by a tool's exact name; a `PreparedScript`."""
        ...

    async def arun(
        self,
        source: Any,
        *,
        origin: Literal["person", "model"],
        on_interrupt: Literal["raise", "return"],
        on_caller: OnCaller | None,
        observer: Observer | None,
    ) -> Result:
        """Run a prepared script."""
        ...


@dataclass(slots=True)
class CallOutcome:
    """What came of one native call.

    Attributes:
        call: The call.
        block: How it ended; `None` where the call itself could not be read.
    """

    call: ToolCall
    block: BlockFinished | None = None


class Blocks:
    """The blocks of one turn.

    Args:
        session: Where they run.
        permission: What may run without asking.
        ask: Asks the person; `None`: nobody can answer.
        link: The reader of the turn.
        waited: Told how long the person took to answer, in seconds.
    """

    def __init__(
        self,
        session: ScriptSession,
        permission: Permission,
        ask: Ask | None,
        link: Link,
        waited: Callable[[float], None],
    ) -> None:
        self._session = session
        self._permission = permission
        self._ask = ask
        self._link = link
        self._waited = waited
        self._count = 0

    def new_number(self) -> int:
        """Return the number of the next block."""
        self._count += 1
        return self._count

    async def run_script(
        self, number: int, script: str, ended: list[BlockFinished], *, legacy: bool = False
    ) -> None:
        """Check a script, ask for it, run it, and append how it ended.

        Raises:
            asyncio.CancelledError: The turn is being stopped; the block is in `ended` all the same.
        """
        if any(block.status != "ok" for block in ended):
            self._end(ended, BlockFinished(block=number, script=script, status="skipped"))
            return
        form: Literal["off", "only"] = "only" if legacy else "off"
        prepared = self._session.prepare(script, origin="model", legacy=form)
        if not prepared.ok:
            self._end(ended, _invalid(number, script, prepared))
            return
        edited: str | None = None
        try:
            while (question := self._question(script, [prepared])) is not None:
                version = prepared.version
                edited = (await self._answer(question)).script
                wanted = script if edited is None else edited
                prepared = self._session.prepare(wanted, origin="model", legacy=form)
                if edited is not None or self._session.registry.version == version:
                    break
                # The tools changed while the person decided: what they allowed is not this.
        except asyncio.CancelledError:
            self._end(ended, BlockFinished(block=number, script=script, status="cancelled"))
            raise
        except NitError as error:
            block = BlockFinished(block=number, script=script, status="rejected", error=error)
            self._end(ended, block)
            return
        wanted = script if edited is None else edited
        if not prepared.ok:
            self._end(ended, _invalid(number, wanted, prepared))
            return
        await self._run(number, wanted, prepared, ended, was_edited=edited is not None)

    async def run_calls(self, outcomes: Sequence[CallOutcome]) -> None:
        """Run native calls in order, and set how each ended. One that fails leaves the rest alone.

        The person is asked once for all of them.

        Raises:
            asyncio.CancelledError: The turn is being stopped; every outcome is set all the same.
        """
        runnable = [each for each in outcomes if each.call.error is None]
        prepared = [self._prepared_call(each.call) for each in runnable]
        refusal: NitError | None = None
        try:
            shown = "\n".join(shown_call(each.call) for each in runnable)
            question = self._question(shown, prepared)
            if question is not None:
                answer = await self._answer(question)
                if answer.script is not None:
                    # A native call has no text that could be changed.
                    refusal = rejected(question, answer.reason)
        except asyncio.CancelledError:
            self._cancel(runnable)
            raise
        except NitError as error:
            refusal = error
        for each, script in zip(runnable, prepared, strict=True):
            number, text = self.new_number(), shown_call(each.call)
            ended: list[BlockFinished] = []
            try:
                if refusal is not None and script.ok:
                    block = BlockFinished(
                        block=number, script=text, status="rejected", error=refusal
                    )
                    self._end(ended, block)
                elif not script.ok:
                    self._end(ended, _invalid(number, text, script))
                else:
                    await self._run(number, text, script, ended, is_call=True)
            except asyncio.CancelledError:
                each.block = ended[0]
                self._cancel(runnable)
                raise
            each.block = ended[0]

    def _cancel(self, outcomes: Sequence[CallOutcome]) -> None:
        for each in outcomes:
            if each.block is None:
                text = shown_call(each.call)
                each.block = BlockFinished(block=self.new_number(), script=text, status="cancelled")
                self._link.emit(each.block)

    def _prepared_call(self, call: ToolCall) -> PreparedScript:
        return self._session.prepare_call(call.name, call.arguments)

    # Permission

    def _question(self, script: str, prepared: Sequence[PreparedScript]) -> Question | None:
        tools = [tool for each in prepared if each.ok for tool, _ in each.tools]
        return self._permission.question(script, tools)

    async def _answer(self, question: Question) -> Answer:
        """Ask the person.

        Raises:
            NitError: They said no, or nobody can be asked.
        """
        ask = self._ask
        if ask is None:
            raise nobody_to_ask(question)
        started = time.monotonic()
        try:
            answer = as_answer(await self._link.call(lambda: ask(question)))
        except Exception as error:  # the caller's own code: no answer is a no
            logger.exception("asking for permission failed")
            answer = Answer(verdict="reject", reason=f"asking failed with {type(error).__name__}")
        finally:
            self._waited(time.monotonic() - started)
        is_emptied = answer.verdict == "edit" and not (answer.script or "").strip()
        if answer.verdict == "reject" or is_emptied:
            raise rejected(question, answer.reason)
        if answer.verdict == "always":
            self._permission.allow(call.tool for call in question.calls)
        return answer if answer.verdict == "edit" else replace(answer, script=None)

    # Running

    async def _run(
        self,
        number: int,
        text: str,
        prepared: PreparedScript,
        ended: list[BlockFinished],
        *,
        was_edited: bool = False,
        is_call: bool = False,
    ) -> None:
        self._link.emit(BlockStarted(block=number, script=text))
        forward = _Forward(self._link, number)
        try:
            result = await self._session.arun(
                prepared,
                origin="model",
                on_interrupt="return",
                on_caller=self._link.on_caller,
                observer=forward,
            )
        finally:
            forward.is_on = False
        error = result.error
        status: BlockStatus = "ok" if error is None else "failed"
        stopped = isinstance(error, NitCancelledError) and not isinstance(
            error.__cause__, Exception
        )
        if stopped:
            status = "cancelled"
        self._end(
            ended,
            BlockFinished(
                block=number,
                script=text,
                status=status,
                # The report also tells of tasks that ended, once: a call has no place for that.
                report="" if is_call else _report(text, result, was_edited=was_edited),
                result=result,
                error=error,
            ),
        )
        if stopped and error is not None and error.__cause__ is not None:
            # The run was interrupted, and says so by its result alone.
            raise asyncio.CancelledError

    def _end(self, ended: list[BlockFinished], block: BlockFinished) -> None:
        ended.append(block)
        self._link.emit(block)


def shown_call(call: ToolCall) -> str:
    """Return a native call as a person reads it: as the script that it stands for."""
    if not isinstance(call.arguments, dict):
        return f"{call.name}(..)"
    given = cast("dict[str, object]", call.arguments).items()
    written = ", ".join(
        f"{key if key.isidentifier() else quote(key)}={json.dumps(value, ensure_ascii=False)}"
        for key, value in given
    )
    return f"{call.name}({written})"


class _Forward:
    """Passes what the runtime tells of one script on to the reader of the turn."""

    def __init__(self, link: Link, block: int) -> None:
        self._link = link
        self._block = block
        self.is_on = True

    def on_event(self, event: Event, /) -> None:
        """Pass an event on, until the block ended; background tasks outlive it."""
        if self.is_on:
            self._link.emit(BlockProgress(block=self._block, event=event))


def _report(script: str, result: Result, *, was_edited: bool) -> str:
    report = result.report()
    if was_edited:
        return f"The person changed your script before it ran, to:\n{script}\n\n{report}"
    return report


def _invalid(number: int, script: str, prepared: PreparedScript) -> BlockFinished:
    return BlockFinished(block=number, script=script, status="invalid", error=prepared.error)
