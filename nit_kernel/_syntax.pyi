"""The Rust side: text to a checked-for-syntax `Script`, a token stream to text and blocks.

Everything here is frozen, never raises for bad input text, and knows nothing of tools.
"""

from collections.abc import Sequence
from typing import Final, Literal, NoReturn, Protocol, TypeAlias, final

Severity = Literal["error", "warning"]

@final
class Span:
    """A half-open range of a source text.

    `start` and `end` are UTF-8 byte offsets; `line` and `column` (and their `end_` twins) are
    1-based and count characters.
    """

    def __new__(
        cls, start: int, end: int, line: int, column: int, end_line: int, end_column: int
    ) -> Span: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def line(self) -> int: ...
    @property
    def column(self) -> int: ...
    @property
    def end_line(self) -> int: ...
    @property
    def end_column(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Diagnostic:
    """One finding about a script: a stable code, its place, what was expected, what to do."""

    @property
    def code(self) -> str: ...
    @property
    def severity(self) -> Severity: ...
    @property
    def message(self) -> str: ...
    @property
    def span(self) -> Span: ...
    @property
    def hint(self) -> str | None: ...
    @property
    def labels(self) -> tuple[tuple[Span, str], ...]: ...
    @property
    def source_line(self) -> str:
        """The text of the line on which the span begins, without its line break."""
    def render(self, color: bool = False) -> str:
        """The finding with its source line, a caret and the hint, for a person."""
    def terse(self) -> str:
        """The finding in one line, for a model: code, line, column, message, hint."""
    def __eq__(self, other: object, /) -> bool: ...

@final
class LiteralValue:
    """A number or boolean literal with its source text; only in raw values (see `Script`)."""

    @property
    def text(self) -> str: ...
    @property
    def value(self) -> int | float | bool: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Reference:
    """A variable with a path, as `Script.statements` shows it."""

    @property
    def name(self) -> str: ...
    @property
    def path(self) -> tuple[object, ...]:
        """Field names (`str`), indexes (`int`, `str`, `Reference`) and `slice` objects."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Template:
    """An f-string, as `Script.statements` shows it: `str` parts and `Reference`s."""

    @property
    def parts(self) -> tuple[str | Reference, ...]: ...
    def __eq__(self, other: object, /) -> bool: ...

@final
class Statement:
    """A readable view of one statement (or, inside `arguments`, of one nested call)."""

    @property
    def target(self) -> str | None: ...
    @property
    def tool(self) -> str | None:
        """The tool's name as written, or `None` where the statement is a value."""
    @property
    def arguments(self) -> dict[str | int, object]:
        """Arguments by name, positional ones by their index, in the order of the text."""
    @property
    def path(self) -> tuple[object, ...]:
        """The path that follows the call, empty if none does."""
    @property
    def value(self) -> object:
        """The value where the statement is one, else `None`."""
    @property
    def is_async(self) -> bool: ...
    @property
    def span(self) -> Span: ...
    @property
    def depends_on(self) -> frozenset[str]:
        """The variables that the statement reads."""
    def __eq__(self, other: object, /) -> bool: ...

@final
class Shape:
    """What all calls that look alike have in common: tool, argument names, literal kinds."""

    @property
    def tool(self) -> str: ...
    @property
    def names(self) -> tuple[str | None, ...]:
        """The name of each argument as written, `None` for a positional one."""
    @property
    def kinds(self) -> str:
        """One letter an argument: `s` text, `i` integer, `f` float, `b` boolean, `n` null,
        `l` list and `d` object without references, `?` known only when the script runs."""
    @property
    def exact(self) -> bool:
        """Whether `tool` is an exact name, given to the built-in `call`."""
    @property
    def legacy(self) -> bool:
        """Whether the call is a NIT 1.0 block: its keys are matched more freely, and the shape is
        this one call's alone."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

class Host(Protocol):
    """What a script needs from Python while values are built. Every method may raise."""

    def access(self, value: object, kind: int, key: object, start: int, end: int) -> object:
        """One step of a path: kind 0 `.key`, 1 `[key]`, 2 `[low:high]` with key `(low, high)`."""
    def text(
        self, value: object, conversion: str | None, spec: str | None, start: int, end: int
    ) -> str:
        """The text of a reference in an f-string."""
    def key(self, value: object, start: int, end: int) -> object:
        """A reference used as the key of a dict: returns a `str`, `int` or `float`, or raises."""
    def duplicate_key(self, key: object, start: int, end: int) -> NoReturn: ...
    def too_large(
        self, limit: int, unit: Literal["bytes", "nodes"], start: int, end: int
    ) -> NoReturn: ...

StatementRow = tuple[int, int, str | None, bool, int, int]
StepRow = tuple[int, int, str | int | None, tuple[str | int, ...], int, int]

CALL: Final[int]
VALUE: Final[int]

@final
class Script:
    """A parsed script: a flat list of steps, and the operation that builds a step's values.

    A *statement* is a run of steps: its nested calls first, in evaluation order, each into a
    numbered slot, then the statement's own call or value.
    """

    @property
    def source(self) -> str: ...
    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What lexing and parsing found, in the order of the text, at most 100."""
    @property
    def ok(self) -> bool:
        """Whether no diagnostic is an error."""
    @property
    def statements(self) -> tuple[Statement, ...]:
        """A readable view, built on demand.

        Raises:
            RecursionError: Calls are nested more than 120 deep (the default limit is 100).
        """
    @property
    def statement_count(self) -> int: ...
    @property
    def step_count(self) -> int: ...
    @property
    def slot_count(self) -> int: ...
    @property
    def shapes(self) -> tuple[Shape, ...]: ...
    @property
    def free_variables(self) -> tuple[tuple[str, int, int], ...]:
        """`(name, start, end)` of each place that reads a `$name` which no earlier statement of
        this script assigns, in order of the text."""
    @property
    def bare_names(self) -> tuple[tuple[str, int, int, bool], ...]:
        """`(name, start, end, assigned)` of each bare word that stands where a value should."""
    @property
    def dollar_strings(self) -> tuple[tuple[str, int, int], ...]:
        """`(name, start, end)` of each `$name` inside a plain string."""
    def statement(self, index: int, /) -> StatementRow:
        """`(first_step, end_step, target, is_async, start, end)` of one statement."""
    def step(self, index: int, /) -> StepRow:
        """`(kind, shape, target, reads, start, end)` of one step.

        `kind` is `CALL` or `VALUE` (then `shape` is -1). `target` is a variable's name, a slot's
        number, or `None`. `reads` are the variables (`str`) and slots (`int`) that the step
        reads, each once, in order of first use.
        """
    def argument_spans(self, step: int, /) -> tuple[tuple[int, int, int, int], ...]:
        """`(name_start, name_end, value_start, value_end)` of each argument of a call; for a
        positional one both name offsets equal the value's start."""
    def tool_span(self, step: int, /) -> tuple[int, int]: ...
    def arguments(
        self,
        step: int,
        names: tuple[str | None, ...],
        values: Sequence[object],
        host: Host,
        raw: bool = False,
        /,
    ) -> dict[str, object]:
        """Build the arguments of a call.

        Args:
            step: The call.
            names: The parameter that each argument goes to, in the order of the text; `None` for
                an argument that is left out.
            values: What each of the step's `reads` is now.
            host: Serves paths, f-strings and limits.
            raw: Whether number and boolean literals come as `LiteralValue`, wherever they stand.
        """
    def value(self, step: int, values: Sequence[object], host: Host, /) -> object:
        """Build the value of a `VALUE` step."""
    def literal_arguments(self, step: int, /) -> tuple[tuple[int, object], ...]:
        """`(index, raw value)` of each argument of a call that holds no reference and no call."""
    def span(self, start: int, end: int, /) -> Span: ...
    def diagnostic(
        self,
        code: str,
        message: str,
        start: int,
        end: int,
        *,
        severity: Severity = "error",
        hint: str | None = None,
        labels: Sequence[tuple[int, int, str]] = ...,
    ) -> Diagnostic:
        """Make a diagnostic about this script."""
    def __eq__(self, other: object, /) -> bool:
        """Whether the statements are equal, layout and spelling of literals aside."""
    def __len__(self) -> int: ...

def parse(
    source: str,
    *,
    script_bytes: int = 262_144,
    statements: int = 10_000,
    nesting: int = 100,
    value_bytes: int = 10_000_000,
    value_nodes: int = 1_000_000,
    legacy: Literal["allow", "off", "only"] = "allow",
) -> Script:
    """Parse a script. Never raises for its text: what is wrong is in `diagnostics`.

    `<nit>` tags and a Markdown fence around the whole script are dropped; places are always those
    of the given source. A statement with an error is not among the steps; its target counts as
    assigned all the same.

    Args:
        source: The text; lone surrogates are reported as a diagnostic.
        script_bytes: Most bytes of the source in UTF-8.
        statements: Most statements.
        nesting: Deepest nesting of brackets and calls.
        value_bytes: Most bytes of the text that one expression makes.
        value_nodes: Most values that one expression makes.
        legacy: Whether NIT 1.0 blocks may stand among the statements; `"only"`: the text is the
            inside of one.
    """

def format_source(
    source: str, *, upgrade: bool = False
) -> tuple[str | None, tuple[Diagnostic, ...]]:
    """The canonical layout (comments kept), or `None` where the source has errors."""

def quote(text: str) -> str:
    """The text as a NIT string literal on one line."""

def is_identifier(text: str) -> bool:
    """Whether the text is one identifier of NIT: Python's, without what nobody can see."""

@final
class Text:
    """Visible text of a reply."""

    __match_args__ = ("text",)
    def __new__(cls, text: str) -> Text: ...
    @property
    def text(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...

@final
class Reasoning:
    """Text of a reasoning span."""

    __match_args__ = ("text",)
    def __new__(cls, text: str) -> Reasoning: ...
    @property
    def text(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...

@final
class BlockOpen:
    """A block has begun."""

    __match_args__ = ("id",)
    def __new__(cls, id: str) -> BlockOpen: ...
    @property
    def id(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...

@final
class Block:
    """A whole block: the script between its tags."""

    __match_args__ = ("script", "id", "legacy")
    def __new__(cls, script: str, id: str, legacy: bool = False) -> Block: ...
    @property
    def script(self) -> str: ...
    @property
    def id(self) -> str: ...
    @property
    def legacy(self) -> bool: ...
    def __eq__(self, other: object, /) -> bool: ...

@final
class Rejected:
    """A tag that looks like an opening tag but is not this turn's; it was passed on as text."""

    __match_args__ = ("tag",)
    def __new__(cls, tag: str) -> Rejected: ...
    @property
    def tag(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...

@final
class Unclosed:
    """A block that the stream never closed; it must not run."""

    __match_args__ = ("script",)
    def __new__(cls, script: str) -> Unclosed: ...
    @property
    def script(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...

Event = Text | Reasoning | BlockOpen | Block | Rejected | Unclosed

@final
class StreamFilter:
    """Splits a model's reply, in chunks of any size, into text, reasoning and blocks.

    `reasoning` names the tags around reasoning, `("think",)` unless given; `"[THINK]"` names
    `[THINK]..[/THINK]`. A NIT 1.0 block carries no id: its events have the id `""`.
    """

    def __new__(
        cls, id: str, legacy: bool = False, reasoning: Sequence[str] = ...
    ) -> StreamFilter: ...
    def feed(self, chunk: str, /) -> list[Event]: ...
    def finish(self) -> list[Event]: ...

_ValueRule: TypeAlias = str | tuple[str, object]
"""One kind of value: `"any"`, `"string"`, `"integer"`, `"number"`, `"boolean"`, `"null"`,
`"array"`, `"object"`, `("array", item_rules)`, `("text", exact_text)` or
`("constant", number_or_constant_as_written)`."""

_ToolRow: TypeAlias = tuple[str, str | None, Sequence[tuple[str, Sequence[_ValueRule]]], bool]
"""`(name, exact, parameters, is_open)`: the name it is called by, the exact name where the call
goes through the built-in `call` or `help`, the rules of each parameter's values (none: any),
whether other arguments are let in."""

def grammar(tools: Sequence[_ToolRow], id: str, format: str = "gbnf") -> str:
    """Write the grammar of a reply, for constrained decoding.

    Raises:
        ValueError: The id cannot stand in a tag, or the format is neither `gbnf` nor `lark`.
    """
