"""How a tool is called: its context handed in, its generator run dry, its coroutine awaited."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Coroutine, Generator
from types import CoroutineType
from typing import TYPE_CHECKING, TypeGuard, cast

from nit_kernel.runtime.context import Progress, ToolContext

if TYPE_CHECKING:
    from nit_kernel.runtime.context import Channel
    from nit_kernel.runtime.tool import Tool


def call_plain(tool: Tool, arguments: dict[str, object], channel: Channel) -> object:
    """Call a plain function on this thread; a generator's last other yield is its value."""
    value = tool.call(**arguments, **_context(tool, channel))
    if not tool.is_generator:
        return value
    steps = cast("Generator[object, None, object]", value)
    last: object = None
    while not channel.cancelled:
        try:
            item = next(steps)
        except StopIteration as end:
            return last if end.value is None else end.value
        last = _took(item, last, channel)
    steps.close()
    return None


async def call_async(tool: Tool, arguments: dict[str, object], channel: Channel) -> object:
    """Await a coroutine function, or run an async generator dry, on this loop."""
    value = tool.call(**arguments, **_context(tool, channel))
    if not tool.is_generator:
        value = await cast("Awaitable[object]", value)
        return await cast("Awaitable[object]", value) if is_coroutine(value) else value
    last: object = None
    steps = cast("AsyncGenerator[object, None]", value)
    try:
        async for item in steps:
            last = _took(item, last, channel)
    finally:
        await steps.aclose()
    return last


def is_coroutine(value: object) -> TypeGuard[Coroutine[object, object, object]]:
    """Whether a plain function returned a coroutine, which is then to be awaited."""
    return type(value) is CoroutineType


def _context(tool: Tool, channel: Channel) -> dict[str, ToolContext]:
    return {} if tool.context is None else {tool.context: ToolContext(channel)}


def _took(item: object, last: object, channel: Channel) -> object:
    """Take one yield: progress is passed on, anything else is the value so far."""
    if isinstance(item, Progress):
        channel.progress(item)
        return last
    return item
