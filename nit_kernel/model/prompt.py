"""Every word that is said to a model.

The order of a prompt follows the provider's cache: what never changes in a conversation stands
first (the person's own system text, the protocol, the catalogue), what changes from turn to turn
(the handshake id, the variables) in one late system message.

What a script reported is written by `runtime/report.py`; here stands everything else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from nit_kernel.errors import NitError
from nit_kernel.language.schema import ToolSpec
from nit_kernel.model.messages import ToolChoice, Variable
from nit_kernel.model.neutralise import neutralise, neutralise_value

CATALOGUE_TOOLS = 40
"""Above this many tools the catalogue is a short list."""

RESULT_CHARS = 4_000
"""Longest result that goes to a model without variables; longer ones go as head, tail, size."""

_DESCRIPTION_CHARS = 2_000
_SHORT_CHARS = 80
_MOST_FINDINGS = 10

NIT = """\
You act by writing NIT, a small language of tool calls, between the tags <nit-XXXX> and \
</nit-XXXX>. XXXX is the id that comes with each request; only that exact tag runs. Write \
<nit-XXXX> where you only show the form.
- One call a line, arguments by name: $page = fetch(url="a.example")
- Later lines read $page, $page.title, $rows[0]["name"], $text[:500]. A variable carries any \
amount of data: put a whole chain into one script.
- Values as in JSON or Python, long text in triple quotes; f"Hello {$user.name}" puts a variable \
into text; plain strings do not.
- $a = async f(x=1) runs in the background; its first use waits.
- No operators, no if, no loops; only the listed tools exist.
End your reply at the closing tag. A report then tells what came of it; never write results \
yourself. When you know the answer, give it in plain words. For example:
<nit-XXXX>
$weather = get_weather(city="Oslo")
send_mail(to="ann@x.org", text=f"Oslo: {$weather}")
</nit-XXXX>
Two calls at once:
<nit-XXXX>
$a = async fetch(url="a.example")
$b = async fetch(url="b.example")
compare(left=$a, right=$b)
</nit-XXXX>"""

REQUEST = """\
Answer the next request with one NIT script between <nit-{id}> and </nit-{id}>. Begin with \
<nit-{id}>."""
"""Said just before a request to small models, which do what stands there last."""

REQUEST_OR_WORDS = """\
The id is now {id}. Answer the next request with one NIT script between <nit-{id}> and \
</nit-{id}>, or in plain words if it needs no tool."""

AFTER_REPORT = "Tell me the answer now in plain words, or get what is missing with another script."

LEGACY = """\
A single call may also be written as [[[NIT_CALL]]], the tool's name on a line, one line \
`key: [START]value[END]` for each argument, and [[[NIT_END]]]."""

JSON = """\
Your whole reply is one JSON object and nothing else: no prose around it, no Markdown fence.
To call tools: {"type":"tool_calls","calls":[{"name":"TOOL","arguments":{"PARAMETER":"value"}}]}
To answer the person: {"type":"final","text":"ANSWER"}
The results of your calls come back as {"type":"tool_results","results":[..]}. Never write those \
yourself. Call a tool whenever you need one; when you know the answer, send the final object."""

TEXT_FORM = "Write each call in the form that the instructions give."

NIT_FORM = "Put the script between the tags with the id that you were told."

JSON_FORM = (
    'It must be one JSON object: {"type":"tool_calls","calls":[..]} or {"type":"final","text":".."}'
)

REACT = """\
Answer step by step. In each reply write either one action:
Thought: what to do next
Action: TOOL
Action Input: {"PARAMETER": "value"}
or, when you know the answer:
Thought: I know the answer
Final Answer: ANSWER
One action a reply; its input is one JSON object. Stop after the input: the result comes back to \
you as `Observation:`. Never write an observation yourself."""

REACT_FORM = "It must hold `Action:` and `Action Input:` with one JSON object, or `Final Answer:`."

HERMES = """\
You can call tools. Their signatures:
<tools>
{tools}
</tools>
For each call write a JSON object with the tool's name and arguments between tags:
<tool_call>
{"name": "TOOL", "arguments": {"PARAMETER": "value"}}
</tool_call>
The results come back between <tool_response> tags. Never write those yourself."""

QWEN_XML = """\
You can call tools. Their signatures:
<tools>
{tools}
</tools>
For each call write, with one parameter element an argument:
<tool_call>
<function=TOOL>
<parameter=PARAMETER>
value
</parameter>
</function>
</tool_call>
The results come back between <tool_response> tags. Never write those yourself."""

LLAMA3_JSON = """\
You can call these functions:
{tools}
To call one, reply with nothing but a JSON object of this form, one call a reply:
{"name": "TOOL", "parameters": {"PARAMETER": "value"}}
The result comes back to you. When you know the answer, reply in plain words."""

PYTHONIC = """\
You can call these functions:
{tools}
To call some, reply with nothing but a list of calls with named arguments, literals only:
[TOOL(PARAMETER="value"), OTHER_TOOL(PARAMETER=1)]
The results come back to you. When you know the answer, reply in plain words."""

MISTRAL = """\
[AVAILABLE_TOOLS]{tools}[/AVAILABLE_TOOLS]
To call tools, reply with nothing but [TOOL_CALLS] and a JSON list:
[TOOL_CALLS][{"name": "TOOL", "arguments": {"PARAMETER": "value"}}]
The results come back as [TOOL_RESULTS]. When you know the answer, reply in plain words."""

DEEPSEEK = """\
You can call these functions:
{tools}
To call some, reply with:
<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>TOOL
```json
{"PARAMETER": "value"}
```<｜tool▁call▁end｜><｜tool▁calls▁end｜>
The results come back to you. When you know the answer, reply in plain words."""

CANCELLED = "cancelled: this call was interrupted and has no result"
CALLED_TOOLS = "(I called tools.)"
LEFT_OUT = "(the result was left out: repeated, it would have been read as a command)"
RAN_A_SCRIPT = "(I ran a script.)"


def catalogue(tools: Sequence[ToolSpec], *, limit: int = CATALOGUE_TOOLS, has_help: bool) -> str:
    """Return the tools as signature lines with their descriptions.

    Args:
        tools: The tools that may be called.
        limit: Above this number of tools the list is a short one.
        has_help: Whether the model can ask for more with `help("name")`.
    """
    if not tools:
        return "There are no tools."
    if len(tools) <= limit:
        return "Tools:\n" + "\n".join(_described(tool) for tool in tools)
    if has_help:
        lines = "\n".join(_with_words(tool.nit_name, tool) for tool in tools)
        return (
            f'Tools ({len(tools)}), by name only. Ask for the parameters of one with help("NAME") '
            f"before you use it:\n{lines}"
        )
    lines = "\n".join(_with_words(_signature(tool), tool) for tool in tools)
    return f"Tools ({len(tools)}):\n{lines}"


def schema_lines(tools: Sequence[ToolSpec], names: Mapping[str, str]) -> list[str]:
    """Return the tools as JSON Schema, one a line, as models trained on that expect."""
    return [
        json.dumps(
            {
                "type": "function",
                "function": {
                    "name": names[tool.name],
                    "description": tool_words(tool),
                    "parameters": neutralise_value(tool.parameters),
                },
            },
            ensure_ascii=False,
        )
        for tool in tools
    ]


def tool_words(tool: ToolSpec) -> str:
    """Return the description of a tool, defused and clipped."""
    words = tool.description.strip()
    if tool.parameter_text.strip():
        words = f"{words}\nParameters: {tool.parameter_text.strip()}".strip()
    return neutralise(clip(words, _DESCRIPTION_CHARS))


def handshake(
    handshake_id: str, variables: Sequence[Variable], choice: ToolChoice, *, is_firm: bool
) -> str:
    """Return the late part of the nit codec's prompt: the id, the variables, what must be done.

    Args:
        handshake_id: The id of the turn.
        variables: What scripts can read.
        choice: What the request allows.
        is_firm: Whether a script is asked for outright, as small models need it.
    """
    request = REQUEST if is_firm else REQUEST_OR_WORDS
    parts = [variable_table(variables)] if variables else []
    wanted = tool_choice(choice)
    if wanted:
        parts.append(wanted)
    return "\n\n".join([*parts, request.replace("{id}", handshake_id)])


def variable_table(variables: Sequence[Variable]) -> str:
    """Return the variables that a script may read: name, type, size."""
    lines = [
        f"${variable.name}: {variable.type}" + (f", {variable.size}" if variable.size else "")
        for variable in variables
    ]
    return neutralise("Variables that scripts can read:\n" + "\n".join(lines))


def tool_choice(choice: ToolChoice) -> str:
    """Return the sentence that tells a model what it may call, or nothing."""
    named = chosen_tool(choice)
    if named is not None:
        return f"You must call the tool `{named}` now."
    if choice == "required":
        return "You must call at least one tool now."
    return "Do not call any tool now; answer in words." if choice == "none" else ""


def chosen_tool(choice: ToolChoice) -> str | None:
    """Return the name of the one tool that must be called, or `None`."""
    if isinstance(choice, dict):
        function = choice.get("function")
        name = function.get("name") if isinstance(function, dict) else choice.get("name")
        return name if isinstance(name, str) else None
    return None


def clip(text: str, chars: int = RESULT_CHARS) -> str:
    """Return a long text as head, tail and size."""
    if len(text) <= chars:
        return text
    head = chars * 2 // 3
    tail = chars - head
    left = len(text) - head - tail
    return f"{text[:head]}\n[.. {left:,} of {len(text):,} characters left out ..]\n{text[-tail:]}"


def outcome(text: str, *, is_error: bool, chars: int = RESULT_CHARS) -> str:
    """Return what goes back to the model of one call's result, defused and clipped."""
    text = neutralise(clip(text, chars))
    return f"error: {text}" if is_error and not text.lower().startswith("error") else text


def outcomes(results: Sequence[tuple[str, str]]) -> str:
    """Return what calls of another codec gave, as a report; names and texts are defused."""
    return "Report on your calls:\n" + "\n".join(
        f"- {neutralise(name)}: {text}" for name, text in results
    )


def past_script(scripts: Sequence[str]) -> str:
    """Return how an earlier script stands in the history of a codec that has no scripts."""
    listed = "\n".join(f"```\n{script.strip()}\n```" for script in scripts)
    return f"{RAN_A_SCRIPT}\n{listed}"


def rejected_tag(tag: str) -> str:
    """Return what a report says of a block whose tag is not this turn's."""
    name = neutralise(tag)
    return f"`{name}` is not the tag of this request: it was shown as text and ran nothing"


def repair(error: NitError, form: str = "") -> str:
    """Return the message that asks the model to mend its reply.

    Args:
        error: What is wrong; where it has diagnostics, each is listed with its place.
        form: A reminder of the codec's form.
    """
    if error.diagnostics:
        lines = [item.terse() for item in error.diagnostics[:_MOST_FINDINGS]]
        what = f"Your last script cannot run, and nothing of it was run:\n{_lines(lines)}"
    else:
        place = getattr(error, "place", None)
        where = f" (line {place.line}, column {place.column} of your reply)" if place else ""
        hint = f" To mend it: {error.hint}." if error.hint else ""
        what = f"Your last reply could not be used{where}: {error.message}.{hint}"
    return neutralise(what) + f"\nWrite the whole reply again.{' ' + form if form else ''}"


def _described(tool: ToolSpec) -> str:
    words = tool_words(tool)
    if not words:
        return _signature(tool)
    return f"{_signature(tool)}\n    " + words.replace("\n", "\n    ")


def _signature(tool: ToolSpec) -> str:
    return neutralise(tool.signature())


def _with_words(name: str, tool: ToolSpec) -> str:
    words = " ".join(tool.description.split())
    if not words:
        return name
    short = words if len(words) <= _SHORT_CHARS else f"{words[:_SHORT_CHARS].rstrip()}…"
    return f"{name}  # {neutralise(short)}"


def _lines(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
