"""What the codecs have in common whose protocol stands in the system prompt."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from nit_kernel.model.codecs.history import Exchange, rewritten, with_late_system
from nit_kernel.model.messages import Message, Request
from nit_kernel.model.prompt import tool_choice


def prompted(
    request: Request,
    parts: Sequence[str],
    exchange: Callable[[Exchange], Iterable[Message]],
    *,
    stop: Sequence[str] = (),
) -> Request:
    """Return the request for a codec whose calls are text.

    Args:
        request: In our own form.
        parts: What the system prompt ends with: protocol, instructions, catalogue.
        exchange: Writes an assistant's calls and their results as text.
        stop: Stop sequences to add.
    """
    encoded = request.with_system("\n\n".join(part for part in parts if part))
    wanted = tool_choice(request.tool_choice)
    if wanted:
        encoded = encoded.with_messages(with_late_system(encoded.messages, wanted))
    return replace(
        encoded,
        messages=tuple(rewritten(encoded, exchange)),
        tools=(),
        stop=tuple(dict.fromkeys((*encoded.stop, *stop))),
    )
