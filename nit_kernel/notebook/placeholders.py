"""`{name}` in a message: the value of a variable of the notebook, put in once and never read again.

A placeholder is exactly a brace, a name, a brace. Everything else with braces is sent as it
stands: code, JSON, templates (`{{name}}`, `${name}`), TeX (`\\frac{a}{b}`), `{x.y}`, `{x[0]}`,
`{x!r}`, and names that the notebook does not have.
"""

from __future__ import annotations

import base64
import inspect
import io
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from nit_kernel.language.values import size_of
from nit_kernel.notebook.display import clip
from nit_kernel.runtime.background import BackgroundTask
from nit_kernel.runtime.tool import Tool

_PLACEHOLDER = re.compile(r"(?<![{$])\{([^\W\d]\w*)\}(?!\})")
_TEX = re.compile(r"\\[A-Za-z]+(?:\[[^\[\]]*\]|\{[^{}]*\})*\Z")
_TEX_CHARS = 200
_LONGEST_IMAGE = 20_000_000

Part: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Filled:
    """A message with its values.

    Attributes:
        content: Text, or text and images in the shape of Chat Completions.
        notes: What the person should know of it, a line each.
    """

    content: str | list[Part]
    notes: tuple[str, ...] = ()


def fill(
    body: str, names: Mapping[str, object], *, chars: int, hidden: Iterable[str] = ()
) -> Filled:
    """Put the values of variables into a message.

    Args:
        body: The message as the person wrote it.
        names: The variables.
        chars: Most characters of one value.
        hidden: Names that are not variables of the person.
    """
    unseen = frozenset(hidden)
    images: dict[str, str] = {}
    notes: list[str] = []

    def value_of(found: re.Match[str]) -> str:
        name = found[1]
        before = body[max(found.start() - _TEX_CHARS, 0) : found.start()]
        if name in unseen or name not in names or _TEX.search(before):
            return found[0]
        value = names[name]
        image = images.get(name) or image_address(value)
        if image is not None:
            images[name] = image
            return f"[image: {name}]"
        text = _text_of(value)
        if text is None:
            return found[0]
        if len(text) > chars:
            notes.append(
                f"{{{name}}} ({size_of(value)}) was shortened to {chars:,} characters; "
                f"`%nit share {name}` lets the model's scripts work with all of it"
            )
        return clip(text, chars)

    text = _PLACEHOLDER.sub(value_of, body)
    if not images:
        return Filled(text, tuple(notes))
    parts: list[Part] = [{"type": "text", "text": text}]
    for name, address in images.items():
        parts.append({"type": "text", "text": f"[image: {name}]"})
        parts.append({"type": "image_url", "image_url": {"url": address}})
    return Filled(parts, tuple(notes))


def image_address(value: object) -> str | None:
    """The value as the address of a picture (`data:image/png;base64,..`), if it is one."""
    if inspect.isclass(value):
        return None
    for kind, method in (("png", "_repr_png_"), ("jpeg", "_repr_jpeg_")):
        if callable(getattr(type(value), method, None)):
            found = _called(value, method)
            if found is not None:
                return f"data:image/{kind};base64,{found}"
    if _is_figure(value):
        return f"data:image/png;base64,{_drawn(value)}"
    return None


def _called(value: object, method: str) -> str | None:
    """What a display method gives, as base64; IPython allows bytes, base64 and metadata beside."""
    try:
        drawn: object = getattr(value, method)()
    except Exception:  # noqa: BLE001  the value's own code: then it is no picture
        return None
    if isinstance(drawn, tuple) and drawn:
        drawn = cast("tuple[object, ...]", drawn)[0]
    if isinstance(drawn, bytes) and 0 < len(drawn) <= _LONGEST_IMAGE:
        return base64.b64encode(drawn).decode("ascii")
    if isinstance(drawn, str) and drawn:
        return "".join(drawn.split())
    return None


def _is_figure(value: object) -> bool:
    return any(
        cls.__module__ == "matplotlib.figure" and cls.__name__ == "Figure"
        for cls in type(value).__mro__
    )


def _drawn(figure: object) -> str:
    buffer = io.BytesIO()
    cast("Any", figure).savefig(buffer, format="png", bbox_inches="tight")
    return base64.b64encode(buffer.getvalue()).decode("ascii")


def _text_of(value: object) -> str | None:
    """The text of a plain value; `None` for what is none: a module, a class, a function, a task."""
    if isinstance(value, str):
        return value
    is_code = inspect.ismodule(value) or inspect.isclass(value) or callable(value)
    if is_code or isinstance(value, Tool | BackgroundTask):
        return None
    kind = type(value)
    if kind.__str__ is object.__str__ and kind.__repr__ is object.__repr__:
        # `<cfg object at 0x7f..>` tells nobody anything.
        return None
    try:
        return str(value)
    except Exception:  # noqa: BLE001  the value's own code: then it has no text
        return None
