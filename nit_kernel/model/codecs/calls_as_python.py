"""Calls written as Python: `[f(a=1, b="x"), g()]`, literals only; and the forms that have them."""

from __future__ import annotations

import ast
import keyword
import math
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

from nit_kernel.language.schema import JsonObject, JsonValue, ToolSpec
from nit_kernel.model.codecs.names import find_tool
from nit_kernel.model.codecs.shapes import RawCall
from nit_kernel.model.codecs.strict import Fault, skip_blanks
from nit_kernel.model.codecs.text_readers import (
    DATA,
    JOINT,
    OUR_RESULT,
    TAGS,
    Body,
    Form,
    Reading,
    calls_at,
    marks,
    past,
    read_json_calls,
    tagged_body,
    walk,
)

_BUILT_IN = re.compile(r"([A-Za-z_][\w.]*)\.call\s*(?=\()")
_BARE = re.compile(r"([A-Za-z_][\w.]*)\s*(?=\()")
_OPENS = re.compile(r"\[\s*[A-Za-z_][\w.]*\s*\(")
_TOKEN = re.compile(
    r"""(?:'''(?:[^\\]|\\.)*?'''|\"""(?:[^\\]|\\.)*?\"""|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")"""
    r"|[\[\](){}]",
    re.DOTALL,
)
_KEYWORD_ARGUMENT = re.compile(
    _TOKEN.pattern.rsplit("|", 1)[0]
    + rf"|(?P<before>[(,]\s*)(?P<word>{'|'.join(keyword.kwlist)})(?=\s*=(?!=))",
    re.DOTALL,
)
_SUFFIX = "__word"
_CONSTANTS: dict[str, JsonValue] = {"true": True, "false": False, "null": None}
_MOST_NESTING = 60
_MOST_CHARS = 100_000


@dataclass(frozen=True, slots=True)
class PythonCall:
    """One call: its dotted name and its keyword arguments."""

    name: str
    arguments: JsonObject


def read_llama_json(text: str, tools: Sequence[ToolSpec]) -> Reading:
    """Read `{"name", "parameters"}`, several joined by `;`, after `<|python_tag|>` or bare."""
    reading = walk(text, tools, _LLAMA)
    if reading.calls and text.startswith("<|python_tag|>", reading.spans[0][0]):
        before = read_json_calls(text[: reading.spans[0][0]], tools)
        reading.calls = [*before.calls, *reading.calls]
        reading.spans = [*before.spans, *reading.spans]
        reading.fault = reading.fault or before.fault
    return reading


def _llama_body(text: str, found: re.Match[str], tools: Sequence[ToolSpec]) -> Body | Fault | None:
    if not found[0].startswith("<|python_tag|>"):
        return tagged_body(text, found, tools)
    calls: list[RawCall] = []
    end = found.end()
    while True:
        at = past(JOINT, text, end)
        built_in = read_built_in(text, at)
        if built_in is not None:
            call, end = built_in
            calls.append(RawCall("", call.name, call.arguments))
        elif DATA.match(text, at) is not None or (text[at : at + 1] == "{" and not calls):
            read = calls_at(text, at)
            if isinstance(read, Fault):
                return read
            calls += read.calls
            end = read.end
        elif not calls or (at < len(text) and text[end:at].strip() and text[at] != "<"):
            return Fault("what stands there is no call", at, at_end=at >= len(text))
        else:
            return Body(tuple(calls), end)


_LLAMA = Form(marks(rf"<\|python_tag\|>|{TAGS}", OUR_RESULT), _llama_body, read_json_calls)


def read_pythonic(text: str, tools: Sequence[ToolSpec]) -> Reading:
    """Read `[f(a=1), g()]`; a list that stands in prose counts only with known tools."""
    return walk(text, tools, _PYTHONIC)


_LIST = r"\[\s*[A-Za-z_][\w.]*\s*\("
_PYTHON_ENDS = re.compile(r"<\|(?:python_end|tool_call_end)\|>")
_BEGINS_LINE = re.compile(r"(?:\A|\n)[ \t]*\Z")


def _pythonic_body(
    text: str, found: re.Match[str], tools: Sequence[ToolSpec]
) -> Body | Fault | None:
    is_marked = found[0].startswith("<")
    at = skip_blanks(text, found.end()) if is_marked else found.start()
    is_alone = is_marked or not text[:at].strip()
    listed = read_call_list(text, at)
    if listed is None:
        is_known = not is_marked and find_tool(found[0].strip("[( \t\n"), tools) is not None
        begins_line = _BEGINS_LINE.match(text[max(0, text.rfind("\n", 0, at)) : at]) is not None
        is_open = closing_bracket(text, at) is None
        if is_alone or (is_known and (begins_line or (is_open and text[at - 1] != "`"))):
            why = "the list of calls is not closed, or holds more than calls with literals"
            return Fault(why, at, at_end=is_open)
        return None
    calls, end = listed
    if not is_alone and any(find_tool(call.name, tools) is None for call in calls):
        return None
    return Body(tuple(RawCall("", call.name, call.arguments) for call in calls), end)


def _read_bare_python(text: str, tools: Sequence[ToolSpec]) -> Reading:
    """Note calls without their list: their form is wrong, and no answer is meant."""
    at = skip_blanks(text, 0)
    name = bare_call(_PYTHON_ENDS.sub("", text).strip())
    if name is None or find_tool(name, tools) is None:
        return Reading()
    return Reading(fault=Fault("calls stand in a list: `[tool(parameter=1)]`", at))


_PYTHONIC = Form(
    marks(
        rf"<\|(?:python_start|tool_call_start)\|>|{_LIST}",
        r"<\|tool_response_start\|>|" + OUR_RESULT,
    ),
    _pythonic_body,
    _read_bare_python,
)


def begins_call_list(text: str, at: int) -> bool:
    """Return whether a list of calls begins at `at`."""
    return read_call_list(text, at) is not None


def read_call_list(text: str, at: int) -> tuple[list[PythonCall], int] | None:
    """Read the list of calls that begins at `at`: the calls, and where it ends."""
    if _OPENS.match(text, at) is None:
        return None
    end = closing_bracket(text, at)
    if end is None:
        return None
    calls = read_calls(text[at:end])
    return (calls, end) if calls else None


def read_built_in(text: str, at: int) -> tuple[PythonCall, int] | None:
    """Read Llama's `name.call(a=1)` at `at`: the call, and where it ends."""
    opening = _BUILT_IN.match(text, at)
    end = closing_bracket(text, opening.end()) if opening is not None else None
    if opening is None or end is None:
        return None
    calls = read_calls(f"f{text[opening.end() : end]}")
    return (PythonCall(opening[1], calls[0].arguments), end) if calls else None


def bare_call(text: str) -> str | None:
    """Return the first name in a text that is calls and nothing else, be they broken or cut off."""
    opening = _BARE.match(text)
    if opening is None:
        return None
    end = closing_bracket(text, opening.end())
    is_call = end is None or end == len(text) or read_calls(text) is not None
    return opening[1] if is_call else None


def read_calls(source: str) -> list[PythonCall] | None:
    """Read `[f(a=1), g()]`, or calls one a line; `None` where it is anything else."""
    if len(source) > _MOST_CHARS:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an odd escape in a model's text is no news
            tree = ast.parse(_KEYWORD_ARGUMENT.sub(_renamed, source.strip()))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    nodes: list[ast.expr] = []
    for statement in tree.body:
        if not isinstance(statement, ast.Expr):
            return None
        value = statement.value
        nodes += value.elts if isinstance(value, (ast.List, ast.Tuple)) else [value]
    calls: list[PythonCall] = []
    for node in nodes:
        call = _call(node)
        if call is None:
            return None
        calls.append(call)
    return calls or None


def closing_bracket(text: str, at: int) -> int | None:
    """Return the end of the bracket that opens at `at`, strings respected."""
    depth = 0
    for found in _TOKEN.finditer(text, at, at + _MOST_CHARS):
        mark = found[0]
        if mark in "[({":
            depth += 1
            if depth > _MOST_NESTING:
                return None
        elif mark in "])}":
            depth -= 1
            if depth == 0:
                return found.end()
    return None


def _renamed(found: re.Match[str]) -> str:
    """Let an argument be called `from` or `class`, as tools' arguments are."""
    return f"{found['before']}{found['word']}{_SUFFIX}" if found["word"] else found[0]


def _call(node: ast.expr) -> PythonCall | None:
    if not isinstance(node, ast.Call) or node.args:
        return None
    tool = _dotted(node.func)
    if tool is None:
        return None
    arguments: JsonObject = {}
    for argument in node.keywords:
        value = _Literal.of(argument.value)
        name = (argument.arg or "").removesuffix(_SUFFIX)
        if not name or value is None or name in arguments:
            return None
        arguments[name] = value.value
    return PythonCall(tool, arguments)


def _dotted(node: ast.expr) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        before = _dotted(node.value)
        return None if before is None else f"{before}.{node.attr}"
    return None


@dataclass(frozen=True, slots=True)
class _Literal:
    value: JsonValue

    @classmethod
    def of(cls, node: ast.expr) -> _Literal | None:
        """Read a literal that JSON can hold; JSON's own constants count."""
        match node:
            case ast.Constant(value=str() as value):
                # Two escapes that are one character's halves are that character, as in JSON.
                halves = value.encode("utf-16", "surrogatepass")
                return cls(halves.decode("utf-16", "surrogatepass"))
            case ast.Constant(value=float() as value) if not math.isfinite(value):
                return None
            case ast.Constant(value=int() | float() | bool() | None as value):
                return cls(value)
            case ast.Name(id=name) if name in _CONSTANTS:
                return cls(_CONSTANTS[name])
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
                return cls(-value) if math.isfinite(value) else None
            case ast.List(elts=elements) | ast.Tuple(elts=elements):
                items = [cls.of(element) for element in elements]
                found = [item.value for item in items if item is not None]
                return cls(found) if len(found) == len(items) else None
            case ast.Dict(keys=keys, values=values):
                return cls._object(keys, values)
            case _:
                return None

    @classmethod
    def _object(cls, keys: list[ast.expr | None], values: list[ast.expr]) -> _Literal | None:
        found: JsonObject = {}
        for key, value in zip(keys, values, strict=True):
            read = cls.of(value)
            if read is None or not isinstance(key, ast.Constant) or not isinstance(key.value, str):
                return None
            found[key.value] = read.value
        return cls(found)
