"""ReAct traces: for small models that are better at traces than at JSON.

```
Thought: ..              -> reasoning
Action: add              -> one call, with
Action Input: {"a": 1}      one JSON object, however many lines
Observation: ..          -> invented by the model: it and all that follows is dropped
Final Answer: ..         -> the text
```

The first label that counts decides. Labels inside Markdown fences are examples, unless the whole
reply is one fence; labels inside the input are data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nit_kernel.errors import CodecError
from nit_kernel.language.schema import ToolSpec
from nit_kernel.model.codecs.codec import DecodeContext, Decoded, Streaming, ToolCall
from nit_kernel.model.codecs.entries import (
    entries_of,
    honoured,
    read_call,
    read_entries,
    without_repeats,
)
from nit_kernel.model.codecs.faults import cut_off, no_answer, wrong_shape
from nit_kernel.model.codecs.history import Exchange, assistant_said, compact
from nit_kernel.model.codecs.prompted import prompted
from nit_kernel.model.codecs.react_trace import (
    ONLY_FIRST,
    Action,
    Label,
    find_labels,
    read_action,
    unfenced,
)
from nit_kernel.model.codecs.reasoning import joined_reasoning, never_closed, split_reasoning
from nit_kernel.model.messages import Message, Request, reasoning_of, text_of
from nit_kernel.model.messages import repair as repair_message
from nit_kernel.model.prompt import (
    CATALOGUE_TOOLS,
    REACT,
    REACT_FORM,
    RESULT_CHARS,
    catalogue,
    repair,
)

STOP = "\nObservation:"


class ReactCodec:
    """Asks for `Action:` and `Action Input:`, one tool a reply.

    Args:
        instructions: Appended after the protocol.
        result_chars: Longest result that goes back whole.
        catalogue_tools: Above this number of tools the catalogue is a short list.
        several: Whether all actions of a reply are calls; left off, the first one is, and the
            model is told so.
    """

    name = "react"
    streaming: Streaming = "buffer"
    defuses = True

    def __init__(
        self,
        *,
        instructions: str = "",
        result_chars: int = RESULT_CHARS,
        catalogue_tools: int = CATALOGUE_TOOLS,
        several: bool = False,
    ) -> None:
        self._instructions = instructions
        self._result_chars = result_chars
        self._catalogue_tools = catalogue_tools
        self._several = several

    def __repr__(self) -> str:
        return "react_codec()"

    def encode(self, request: Request, tools: Sequence[ToolSpec]) -> Request:
        """Return the request with the protocol, the catalogue, and the history as traces."""
        listed = catalogue(tools, limit=self._catalogue_tools, has_help=False)
        parts = (REACT, self._instructions, listed)
        return prompted(request, parts, self._exchange, stop=(STOP,))

    def decode(self, message: Message, context: DecodeContext | None = None) -> Decoded:
        """Return the reply's answer or call.

        Raises:
            CodecError: There is an action without readable input, or nothing but thoughts.
        """
        context = context or DecodeContext()
        split = split_reasoning(text_of(message))
        calls, warnings = read_entries(entries_of(message), context)
        if split.open_at >= 0 and not calls:
            labels = {label.kind for label in find_labels(split.open_text)}
            if labels & {"action", "final"} or not split.answer.strip():
                raise never_closed(split, context.finish_reason)
        decoded = self._read(split.answer, context, has_calls=bool(calls))
        reasoning = joined_reasoning(
            reasoning_of(message), split.reasoning, split.open_text, decoded.reasoning
        )
        return honoured(
            replace(
                decoded,
                calls=[*calls, *without_repeats(decoded.calls, calls)],
                reasoning=reasoning,
                warnings=[*warnings, *decoded.warnings],
            ),
            context,
        )

    def repair_prompt(self, error: CodecError, attempt: int, tools: Sequence[ToolSpec]) -> Message:
        """Return the message that asks for a better reply."""
        del attempt, tools
        return repair_message(repair(error, REACT_FORM))

    def _read(self, text: str, context: DecodeContext, *, has_calls: bool) -> Decoded:
        text = unfenced(text)
        labels = find_labels(text)
        if not labels:
            return Decoded(text=text, warnings=_cut_warning(context))
        thought = _thoughts(text, labels)
        prose = [text[: labels[0].start]]
        actions: list[Action] = []
        at = 0
        for place, label in enumerate(labels):
            if label.start < at:
                continue
            if label.kind == "observation" or (label.kind == "final" and actions):
                break
            if label.kind == "final":
                answer = label.undecorated(text[label.end :])
                return Decoded(text=answer, reasoning=thought, warnings=_cut_warning(context))
            if label.kind != "action":
                continue
            read = read_action(text, label, labels[place + 1 :], context)
            if isinstance(read, Action):
                actions.append(read)
                at = read.end
                if not self._several:
                    break
            elif read.answer is not None:
                return Decoded(text=read.answer, reasoning=thought)
            else:
                prose += _after_no_action(text, labels[place:])
        said = "\n\n".join(part.strip() for part in prose if part.strip())
        if actions:
            return self._called(text, actions, labels, said, thought, context)
        kinds = {label.kind for label in labels}
        if "input" in kinds and "action" not in kinds:
            raise wrong_shape(text, labels[0].start, "there is an input and no `Action:` before it")
        if not said and not has_calls:
            raise cut_off(text) if context.finish_reason == "length" else no_answer(text)
        return Decoded(text=said, reasoning=thought, warnings=_cut_warning(context))

    @staticmethod
    def _called(
        text: str,
        actions: Sequence[Action],
        labels: Sequence[Label],
        prose: str,
        thought: str,
        context: DecodeContext,
    ) -> Decoded:
        calls: list[ToolCall] = []
        warnings: list[str] = []
        for index, action in enumerate(actions):
            call, mended = read_call(
                "",
                action.name,
                action.arguments,
                context,
                index=index,
                protocol_text=text[action.start : action.end].strip(),
            )
            calls.append(call)
            warnings += (*action.warnings, *mended)
        after = [label for label in labels if label.start >= actions[-1].end]
        if any(label.kind == "action" for label in after):
            warnings.append(ONLY_FIRST)
        elif any(label.kind in ("observation", "final") for label in after):
            warnings.append("what followed the action was left out: the result had not come yet")
        return Decoded(text=prose, calls=calls, reasoning=thought, warnings=warnings)

    def _exchange(self, item: Exchange) -> list[Message]:
        """Write each call as a reply of its own with its observation: one action a reply."""
        messages: list[Message] = []
        thought = f"Thought: {item.text.strip()}\n" if item.text.strip() else ""
        for call in item.calls:
            action = f"Action: {call.name}\nAction Input: {compact(call.arguments)}"
            observation = f"Observation: {call.outcome(self._result_chars)}"
            messages.append(assistant_said(thought + action))
            messages.append({"role": "user", "content": observation})
            thought = ""
        return messages


def react_codec(
    *,
    instructions: str = "",
    result_chars: int = RESULT_CHARS,
    catalogue_tools: int = CATALOGUE_TOOLS,
    several: bool = False,
) -> ReactCodec:
    """Return the codec whose replies are ReAct traces; see `ReactCodec`."""
    return ReactCodec(
        instructions=instructions,
        result_chars=result_chars,
        catalogue_tools=catalogue_tools,
        several=several,
    )


def _thoughts(text: str, labels: Sequence[Label]) -> str:
    """Return the thoughts before the first action or answer."""
    thoughts: list[str] = []
    for place, label in enumerate(labels):
        if label.kind in ("action", "final", "observation"):
            break
        if label.kind == "thought":
            end = labels[place + 1].start if place + 1 < len(labels) else len(text)
            thoughts.append(text[label.end : end].strip())
    return joined_reasoning(*thoughts)


def _after_no_action(text: str, labels: Sequence[Label]) -> list[str]:
    """Return the prose after an `Action: None` and its input: what follows their lines."""
    prose: list[str] = []
    for place, label in enumerate(labels):
        if label.kind not in ("action", "input") or (place and label.kind == "action"):
            break
        end = labels[place + 1].start if place + 1 < len(labels) else len(text)
        prose.append(text[label.end : end].partition("\n")[2])
    return prose


def _cut_warning(context: DecodeContext) -> tuple[str, ...]:
    cut = context.finish_reason == "length"
    return ("the reply was cut off by the token limit",) if cut else ()
