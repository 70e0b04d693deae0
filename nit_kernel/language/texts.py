"""The text of a value inside an f-string.

Without a conversion or format spec, text is itself, constants, numbers, lists and objects stand as
JSON writes them, and any other object as `str` shows it. A format spec applies to text, numbers
and nothing else: whatever else comes is made text first, so that formatting never runs code.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Final

from nit_kernel.config import Limits
from nit_kernel.language.json_form import clean_text, foreign_text, json_text
from nit_kernel.language.previews import preview
from nit_kernel.language.shapes import (
    DEEPEST_VALUE,
    SCALARS,
    is_sequence,
    items_of,
    kind_of,
    plain_scalar,
    survey,
    type_name,
)

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_WIDTH: Final = 10_000
"""Widest field, and most digits after the point, of a format spec. Source: NIT 2, section 2."""

_DEFAULT_LIMITS: Final = Limits()
_NUMBERS: Final = re.compile(r"[0-9]+")
_EXAMPLES: Final = "a spec is like `>8`, `.2f`, `,` or `05d`"


class TextError(Exception):
    """A value that cannot become text. The interpreter adds the place.

    Attributes:
        message: One line.
        hint: What to do, or `None`.
        is_limit: Whether the text would go over a limit.
    """

    def __init__(self, message: str, hint: str | None = None, *, is_limit: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.is_limit = is_limit


def text_of(value: object, limits: Limits = _DEFAULT_LIMITS) -> str:
    """Return the text of a value as `{$x}` gives it.

    Raises:
        TextError: The text would be larger than the limits allow.
    """
    if type(value) is str:
        return value
    plain = plain_scalar(value)
    if isinstance(plain, str):
        return plain
    if type(plain) in SCALARS:
        return _number_text(plain)
    if is_sequence(value) or items_of(value) is not None:
        _measure(value, limits)
        return _bounded(json_text(value, limits), limits)
    return _bounded(foreign_text(value), limits)


def format_text(
    value: object,
    conversion: str | None,
    spec: str | None,
    limits: Limits = _DEFAULT_LIMITS,
) -> str:
    """Return the text of a reference in an f-string.

    Args:
        value: What the reference is now.
        conversion: `"r"`, `"s"` or `None`.
        spec: A format spec of Python's, or `None`.
        limits: How large the text may be.

    Raises:
        TextError: The spec does not suit the value, or the text would be too large.
    """
    if conversion is None and not spec:
        return text_of(value, limits)
    plain = plain_scalar(value)
    if conversion is not None:
        if type(plain) not in SCALARS:
            _measure(value, limits)
        plain = _bounded(_converted(plain, repr if conversion == "r" else str), limits)
    elif type(plain) not in (str, int, float):
        plain = text_of(value, limits)
    if not spec:
        return str(plain)
    shown = f"the format spec `{preview(spec, 40)[1:-1]}`"
    if any(
        len(number) > len(str(MOST_WIDTH)) or int(number) > MOST_WIDTH
        for number in _NUMBERS.findall(spec)
    ):
        raise TextError(
            f"{shown} asks for more than {MOST_WIDTH:,} characters",
            "use a smaller width or precision",
            is_limit=True,
        )
    try:
        return _bounded(format(plain, spec), limits)
    except (ValueError, OverflowError) as error:
        kind = kind_of(plain).lower()
        message = f"{shown} does not suit a {kind}: {preview(plain, 40)}"
        raise TextError(message, _EXAMPLES) from error


def _converted(value: object, conversion: Callable[[object], str]) -> str:
    try:
        return clean_text(conversion(value))
    except ValueError as error:
        # Python does not write integers of more than 4,300 digits, wherever they stand.
        raise TextError(f"it has no text: {error}".partition(";")[0], is_limit=True) from error
    except Exception:  # noqa: BLE001  # the object's own code runs here, a wall like a tool's call
        return f"<{type_name(value)}>"


def _number_text(value: object) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    text = json_text(value)
    if text.startswith('"'):
        raise TextError(
            "an integer of more than 4,300 digits cannot be written",
            "make it smaller",
            is_limit=True,
        )
    return text


def _measure(value: object, limits: Limits) -> None:
    size = survey(value, most_nodes=limits.value_nodes)
    if size.is_cyclic:
        raise TextError("a value that holds itself has no text", "use a part of it", is_limit=True)
    if size.nodes > limits.value_nodes:
        raise TextError(
            f"the text would hold more than {limits.value_nodes:,} values",
            "use a part of it, such as `$x[:100]`",
            is_limit=True,
        )
    if size.depth > DEEPEST_VALUE:
        raise TextError(
            f"a value that nests more than {DEEPEST_VALUE} levels deep has no text",
            "use a part of it",
            is_limit=True,
        )
    if size.chars > limits.value_bytes + 20 * size.nodes:
        raise _too_long(limits)


def _bounded(text: str, limits: Limits) -> str:
    if len(text) > limits.value_bytes:
        raise _too_long(limits)
    return clean_text(text)


def _too_long(limits: Limits) -> TextError:
    return TextError(
        f"the text would be longer than {limits.value_bytes:,} bytes",
        "use a part of it, such as `$x[:1000]`",
        is_limit=True,
    )
