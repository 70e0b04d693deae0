"""What a script needs from Python while its values are built: paths, texts, keys, limits.

The rules are `language`'s; here they get the place in the script, which the error then shows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NoReturn

from nit_kernel.errors import NitLimitError, NitRuntimeError
from nit_kernel.language.paths import AccessError, read_path
from nit_kernel.language.previews import describe, preview
from nit_kernel.language.shapes import plain_scalar
from nit_kernel.language.texts import TextError, format_text

if TYPE_CHECKING:
    from nit_kernel._syntax import Script
    from nit_kernel.config import Limits


class ValueIsUsed(Exception):
    """`PROBE` was asked: the value is not only copied."""


class _Probe:
    """A host that serves nothing: it finds out whether a step does more than copy its value."""

    def access(self, value: object, kind: int, key: object, start: int, end: int) -> NoReturn:
        raise ValueIsUsed

    def text(
        self, value: object, conversion: str | None, spec: str | None, start: int, end: int
    ) -> NoReturn:
        raise ValueIsUsed

    def key(self, value: object, start: int, end: int) -> NoReturn:
        raise ValueIsUsed

    def duplicate_key(self, key: object, start: int, end: int) -> NoReturn:
        raise ValueIsUsed

    def too_large(
        self, limit: int, unit: Literal["bytes", "nodes"], start: int, end: int
    ) -> NoReturn:
        raise ValueIsUsed


PROBE = _Probe()


class ValueHost:
    """Serves one script."""

    __slots__ = ("_limits", "_script")

    def __init__(self, script: Script, limits: Limits) -> None:
        self._script = script
        self._limits = limits

    def access(self, value: object, kind: int, key: object, start: int, end: int) -> object:
        """One step of a path: kind 0 `.key`, 1 `[key]`, 2 `[low:high]` with key `(low, high)`."""
        try:
            return read_path(value, kind, key)
        except AccessError as error:
            raise self._at(
                NitRuntimeError, "NIT410", error.message, start, end, error.hint
            ) from None
        except Exception as error:
            # The value's own code ran (a table's, a mapping's): a wall, as a tool's call is.
            message = f"reading a part of {describe(value)} raised {type(error).__name__}"
            raise self._at(NitRuntimeError, "NIT410", message, start, end) from error

    def text(
        self, value: object, conversion: str | None, spec: str | None, start: int, end: int
    ) -> str:
        """The text of a reference in an f-string."""
        try:
            return format_text(value, conversion, spec, self._limits)
        except TextError as error:
            kind, code = (
                (NitLimitError, "NIT413") if error.is_limit else (NitRuntimeError, "NIT411")
            )
            raise self._at(kind, code, error.message, start, end, error.hint) from None

    def key(self, value: object, start: int, end: int) -> object:
        """A reference used as the key of a dict."""
        plain = plain_scalar(value)
        if isinstance(plain, str) or (
            isinstance(plain, int | float) and not isinstance(plain, bool)
        ):
            return plain
        raise self._at(
            NitRuntimeError,
            "NIT412",
            f"a key must be text or a number, got {describe(value)}",
            start,
            end,
        )

    def duplicate_key(self, key: object, start: int, end: int) -> NoReturn:
        """Two keys of a dict are equal, also when the dict becomes JSON."""
        message = f"the key {preview(key, 60)} stands there twice"
        raise self._at(NitRuntimeError, "NIT414", message, start, end, "remove one of the two")

    def too_large(
        self, limit: int, unit: Literal["bytes", "nodes"], start: int, end: int
    ) -> NoReturn:
        """An expression would make more than the limits allow."""
        what = "bytes of text" if unit == "bytes" else "values"
        message = f"this would make more than {limit:,} {what}"
        raise self._at(
            NitLimitError, "NIT413", message, start, end, "use a part, such as `$x[:1000]`"
        )

    def _at(
        self,
        kind: type[NitRuntimeError],
        code: str,
        message: str,
        start: int,
        end: int,
        hint: str | None = None,
    ) -> NitRuntimeError:
        found = self._script.diagnostic(code, message, start, end, hint=hint)
        return kind(message, code=code, hint=hint, diagnostics=(found,))
