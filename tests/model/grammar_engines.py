"""What reads the grammars in earnest, llama.cpp and llguidance, and a reader that derives texts."""

import ctypes
import importlib
import os
import random
from collections.abc import Callable, Iterator
from functools import cache
from types import ModuleType

import pytest


class LlamaGrammar:
    """A GBNF grammar in llama.cpp's own engine, as its wheel `xllamacpp` brings it."""

    def __init__(self, gbnf: str) -> None:
        self._library = _llama_library()
        self._start = self._library.init(None, gbnf.encode(), b"root", False, None, 0, None, 0)

    @property
    def is_loaded(self) -> bool:
        return self._start is not None

    def accepts(self, text: str) -> bool:
        """Whether the text is a whole reply."""
        state = self._library.clone(self._start)
        try:
            for character in text:
                self._library.accept(state, ord(character))
            return self._can_end(state)
        finally:
            self._library.free(state)

    def _can_end(self, state: int) -> bool:
        # A vector of the stacks that are left (none after a wrong character), each a vector: begin,
        # end and capacity. An empty stack has nothing left to read.
        begin, end, _ = self._library.stacks(state).contents
        begin, end = begin or 0, end or 0
        count = (end - begin) // (3 * ctypes.sizeof(ctypes.c_void_p))
        if count == 0:
            return False
        words = (ctypes.c_void_p * (3 * count)).from_address(begin)
        return any(words[3 * i] == words[3 * i + 1] for i in range(count))

    def close(self) -> None:
        self._library.free(self._start)


class _Library:
    def __init__(self, path: str) -> None:
        library = ctypes.CDLL(path)

        def function(symbol: str, result: object, *arguments: object) -> Callable:
            found = getattr(library, symbol)
            found.restype, found.argtypes = result, arguments
            return found

        pointer, size = ctypes.c_void_p, ctypes.c_size_t
        self.init = function(
            "_Z23llama_grammar_init_implPK11llama_vocabPKcS3_bPS3_mPKim",
            pointer,
            *(pointer, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_bool),
            *(pointer, size, pointer, size),
        )
        self.clone = function("_Z24llama_grammar_clone_implRK13llama_grammar", pointer, pointer)
        self.free = function("_Z23llama_grammar_free_implP13llama_grammar", None, pointer)
        self.accept = function(
            "_Z20llama_grammar_acceptP13llama_grammarj", None, pointer, ctypes.c_uint32
        )
        self.stacks = function(
            "_Z24llama_grammar_get_stacksP13llama_grammar",
            ctypes.POINTER(ctypes.c_void_p * 3),
            pointer,
        )


@cache
def _llama_library() -> _Library:
    return _Library(str(_needed("xllamacpp.xllamacpp").__file__))


def _needed(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        message = f"{name} is not installed"
        if os.environ.get("NIT_REQUIRE_ALL") == "1":
            raise AssertionError(message) from error
        pytest.skip(message)


class LarkGrammar:
    """A Lark grammar in llguidance, over single bytes."""

    def __init__(self, lark: str) -> None:
        module = _needed("llguidance")
        self._matcher = module.LLMatcher(module.LLTokenizer("byte"), lark)
        self.error: str = self._matcher.get_error()

    def accepts(self, text: str) -> bool:
        """Whether the text is a whole reply."""
        matcher = self._matcher.deep_copy()
        tokens = list(text.encode())
        return matcher.try_consume_tokens(tokens) == len(tokens) and matcher.is_accepting()


# --- deriving texts from a GBNF grammar -----------------------------------------------------------

Node = tuple


class Derivations:
    """Random texts of a GBNF grammar."""

    def __init__(self, gbnf: str) -> None:
        self._rules: dict[str, Node] = {}
        for line in gbnf.splitlines():
            name, body = line.split(" ::= ", 1)
            reader = _Reader(body)
            self._rules[name] = reader.choices()
            assert reader.rest() == "", (name, reader.rest())

    def text(self, rng: random.Random) -> str:
        return "".join(self._derive(("rule", "root"), rng, 0))

    def _derive(self, node: Node, rng: random.Random, depth: int) -> Iterator[str]:
        match node:
            case ("text", text):
                yield text
            case ("class", allowed):
                yield rng.choice(allowed)
            case ("rule", name):
                yield from self._derive(self._rules[name], rng, depth + 1)
            case ("all", *parts):
                for part in parts:
                    yield from self._derive(part, rng, depth)
            case ("any", *choices):
                # what leads deeper becomes rare
                shallow = [choice for choice in choices if not self._is_deep(choice)]
                pool = shallow if shallow and depth > 12 else choices
                yield from self._derive(rng.choice(pool), rng, depth)
            case ("repeat", inner, least, most):
                extra = 0
                more = 0.6 if depth < 12 else 0.2
                while (most is None or least + extra < most) and rng.random() < more:
                    extra += 1
                for _ in range(least + extra):
                    yield from self._derive(inner, rng, depth)

    def _is_deep(self, node: Node) -> bool:
        match node:
            case ("rule", name):
                return name in ("reading", "call", "list", "tuple", "dict") or name.startswith(
                    ("call-", "list-of-", "value")
                )
            case ("all" | "any", *parts):
                return any(self._is_deep(part) for part in parts)
            case ("repeat", inner, *_):
                return self._is_deep(inner)
        return False


_CHARACTERS = [chr(code) for code in range(32, 127)] + list("\t\néß中文字ΩЖあ한😀\u200b\u2028\x00")


class _Reader:
    def __init__(self, body: str) -> None:
        self._body = body
        self._at = 0

    def rest(self) -> str:
        return self._body[self._at :]

    def choices(self) -> Node:
        choices = [self._sequence()]
        while self._take("|"):
            choices.append(self._sequence())
        return choices[0] if len(choices) == 1 else ("any", *choices)

    def _take(self, text: str) -> bool:
        while self.rest().startswith(" "):
            self._at += 1
        found = self.rest().startswith(text)
        self._at += len(text) * found
        return found

    def _sequence(self) -> Node:
        parts = []
        while True:
            if self._take('"'):
                part: Node = ("text", "".join(self._characters('"')))
            elif self._take("["):
                part = ("class", self._class())
            elif self._take("("):
                part = self.choices()
                assert self._take(")")
            elif (name := self._name()) != "":
                part = ("rule", name)
            else:
                break
            parts.append(self._repeated(part))
        return parts[0] if len(parts) == 1 else ("all", *parts)

    def _name(self) -> str:
        start = self._at
        while self.rest()[:1].isalnum() or self.rest()[:1] == "-":
            self._at += 1
        return self._body[start : self._at]

    def _repeated(self, part: Node) -> Node:
        mark = self.rest()[:1]
        if mark and mark in "?*+":
            self._at += 1
            return ("repeat", part, int(mark == "+"), 1 if mark == "?" else None)
        if mark == "{":
            end = self._body.index("}", self._at)
            least, _, most = self._body[self._at + 1 : end].partition(",")
            self._at = end + 1
            return ("repeat", part, int(least), int(most or least))
        return part

    def _characters(self, end: str) -> Iterator[str]:
        while not self.rest().startswith(end):
            yield self._character()
        self._at += len(end)

    def _character(self) -> str:
        first, self._at = self._body[self._at], self._at + 1
        if first != "\\":
            return first
        kind, self._at = self._body[self._at], self._at + 1
        if kind in "uU":
            digits = 4 if kind == "u" else 8
            self._at += digits
            return chr(int(self._body[self._at - digits : self._at], 16))
        return {"n": "\n", "t": "\t", "r": "\r"}.get(kind, kind)

    def _class(self) -> list[str]:
        is_negated = self._take("^")
        inside: set[str] = set()
        while not self.rest().startswith("]"):
            low = high = self._character()
            if self.rest().startswith("-") and not self.rest().startswith("-]"):
                self._at += 1
                high = self._character()
            inside.update(map(chr, range(ord(low), ord(high) + 1)))
        self._at += 1
        if is_negated:
            return [character for character in _CHARACTERS if character not in inside]
        return sorted(inside)
