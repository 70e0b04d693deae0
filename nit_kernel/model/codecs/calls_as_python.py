"""Calls written as Python: `[f(a=1, b="x"), g()]`, literals only."""

from __future__ import annotations

import ast
import keyword
import re
import warnings
from dataclasses import dataclass

from nit_kernel.language.schema import JsonObject, JsonValue

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
            case ast.Constant(value=str() | int() | float() | bool() | None as value):
                return cls(value)
            case ast.Name(id=name) if name in _CONSTANTS:
                return cls(_CONSTANTS[name])
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
                return cls(-value)
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
