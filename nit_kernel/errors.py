"""Every exception that nit_kernel raises on purpose.

```
NitError                      anything that went wrong in a script or around it
├── NitSyntaxError            the text is not a script (also a SyntaxError)      NIT1xx, NIT2xx
├── NitCheckError             a well-formed script that cannot run               NIT3xx
├── NitRuntimeError           a statement failed: a path, a value, an argument   NIT4xx
│   ├── NitLimitError         a limit was reached
│   └── NitCancelledError     the script or task was cancelled
├── NitToolError              a tool raised or answered with an error            NIT5xx
│   └── NitTimeoutError       a tool took too long
├── PluginError               a plugin cannot be loaded                          NIT55x
├── CodecError                a model's reply cannot be decoded                  NIT6xx
└── ModelError                the model's server refused or could not be reached NIT6xx
```

An error is a value first: it carries a stable code, a message of one line, a hint that names the
next action, and, where it has a place, the diagnostic that shows it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nit_kernel._syntax import Diagnostic, Span


class NitError(Exception):
    """An error with a stable code, a message of one line, a hint, and its place if it has one.

    Args:
        message: One line, no final dot: what is wrong, with names in backticks.
        code: A stable code such as `"NIT401"`.
        hint: The next action, or `None`.
        diagnostics: The diagnostics behind the error; the first one gives its place.
    """

    code: str
    message: str
    hint: str | None
    diagnostics: tuple[Diagnostic, ...]

    def __init__(
        self,
        message: str,
        *,
        code: str,
        hint: str | None = None,
        diagnostics: Sequence[Diagnostic] = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.hint = hint
        self.diagnostics = tuple(diagnostics)

    @classmethod
    def of(cls, diagnostic: Diagnostic, *more: Diagnostic) -> NitError:
        """Build the error from the diagnostic (and further ones) that describes it."""
        return cls(
            diagnostic.message,
            code=diagnostic.code,
            hint=diagnostic.hint,
            diagnostics=(diagnostic, *more),
        )

    @property
    def diagnostic(self) -> Diagnostic | None:
        """The diagnostic that shows the place of the error, or `None` where it has no place."""
        return self.diagnostics[0] if self.diagnostics else None

    @property
    def span(self) -> Span | None:
        """The place of the error in its script, or `None`."""
        return self.diagnostics[0].span if self.diagnostics else None

    def render(self, *, color: bool = False) -> str:
        """Return the text for a person: each diagnostic with its source line, caret and hint."""
        if self.diagnostics:
            return "\n\n".join(item.render(color=color) for item in self.diagnostics)
        text = f"{self.code}: {self.message}"
        return f"{text}\n  hint: {self.hint}" if self.hint else text

    def __str__(self) -> str:
        return self.render()

    def _render_traceback_(self) -> list[str]:
        # IPython shows exactly these lines in place of its traceback.
        return self.render(color=True).splitlines()


class NitSyntaxError(NitError, SyntaxError):
    """The text is not a NIT script. Has `lineno offset end_lineno end_offset text` as Python's."""

    def __init__(
        self,
        message: str,
        *,
        code: str,
        hint: str | None = None,
        diagnostics: Sequence[Diagnostic] = (),
    ) -> None:
        NitError.__init__(self, message, code=code, hint=hint, diagnostics=diagnostics)
        self.msg = message
        if self.diagnostics:
            first = self.diagnostics[0]
            self.lineno = first.span.line
            self.offset = first.span.column
            self.end_lineno = first.span.end_line
            self.end_offset = first.span.end_column
            self.text = first.source_line
            self.filename = "<nit>"


class NitCheckError(NitError):
    """A well-formed script that cannot run: an unknown tool, an argument that does not fit."""


class NitRuntimeError(NitError):
    """A statement failed while it ran: a missing key, an argument that does not fit."""


class NitLimitError(NitRuntimeError):
    """A limit of the session was reached; nothing was left half done."""


class NitCancelledError(NitRuntimeError):
    """The script, or the background task, was cancelled."""


class NitToolError(NitError):
    """A tool raised, or answered that it failed; `__cause__` is the tool's own exception."""


class NitTimeoutError(NitToolError):
    """A tool did not finish in its time."""


class PluginError(NitError):
    """A plugin, or one part of it, cannot be loaded."""


class CodecError(NitError):
    """A model's reply does not follow the protocol of its codec.

    Its place is a span of the reply. The text for a person names the place and does not quote the
    reply: protocol text is never shown.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str,
        hint: str | None = None,
        diagnostics: Sequence[Diagnostic] = (),
        place: Span | None = None,
    ) -> None:
        super().__init__(message, code=code, hint=hint, diagnostics=diagnostics)
        self.place = place

    @property
    def span(self) -> Span | None:
        """The place in the reply, or `None`."""
        return self.place or super().span

    def render(self, *, color: bool = False) -> str:
        """Return the text for a person: message, place, hint."""
        if self.place is None:
            return super().render(color=color)
        text = f"{self.code}: {self.message}"
        text = f"{text} (line {self.place.line}, column {self.place.column} of the reply)"
        return f"{text}\n  hint: {self.hint}" if self.hint else text


class ModelError(NitError):
    """The model's server could not be reached, or refused the request."""
