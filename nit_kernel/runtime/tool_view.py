"""Tools as Python functions: `tools.add(a=1)`, `tools.web.fetch_page(url=..)`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from nit_kernel.errors import NitCheckError, NitError, NitRuntimeError, NitToolError
from nit_kernel.language.binding import bind
from nit_kernel.language.names import did_you_mean
from nit_kernel.runtime.calling import call_plain
from nit_kernel.runtime.coercion import CoercionError
from nit_kernel.runtime.context import Channel
from nit_kernel.runtime.output import SINK
from nit_kernel.runtime.registry import Ambiguous, Disabled
from nit_kernel.runtime.tool import Tool

if TYPE_CHECKING:
    from nit_kernel.runtime.registry import Registry, Resolution, Source
    from nit_kernel.runtime.threads import Threads


class ToolView:
    """All tools of a session. `view.name`, `view["exact-name"]`, `view.source.name`, iteration."""

    __slots__ = ("_registry", "_threads")

    def __init__(self, registry: Registry, threads: Threads) -> None:
        self._registry = registry
        self._threads = threads

    def __getattr__(self, name: str) -> ToolFunction | SourceView:
        if name.startswith("__"):
            raise AttributeError(name)
        means = self._registry.resolve(name)
        if isinstance(means, Tool):
            return ToolFunction(means, self._threads)
        source = self._registry.source(name)
        if source is not None:
            return SourceView(source, self._registry, self._threads)
        raise AttributeError(_why_not(name, means, self._registry))

    def __getitem__(self, name: str) -> ToolFunction:
        means = self._registry.resolve_exact(name)
        if not isinstance(means, Tool):
            raise KeyError(_why_not(name, means, self._registry))
        return ToolFunction(means, self._threads)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and isinstance(self._registry.resolve_exact(name), Tool)

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._registry.written_name(tool) for tool in self._registry.tools()))

    def __len__(self) -> int:
        return len(self._registry.tools())

    def __dir__(self) -> list[str]:
        sources = self._registry.sources
        return sorted({*(name for name in self._registry.names() if "." not in name), *sources})

    def __repr__(self) -> str:
        return (
            "\n".join(sorted(map(self._registry.signature, self._registry.tools()))) or "no tools"
        )


class SourceView:
    """The tools of one plugin or server."""

    __slots__ = ("_registry", "_source", "_threads")

    def __init__(self, source: Source, registry: Registry, threads: Threads) -> None:
        self._source = source
        self._registry = registry
        self._threads = threads

    def __getattr__(self, name: str) -> ToolFunction:
        tool = self._source.tools.get(name)
        if name.startswith("__") or tool is None or name in self._source.off:
            raise AttributeError(f"`{self._source.name}` has no usable tool `{name}`")
        return ToolFunction(tool, self._threads)

    def __dir__(self) -> list[str]:
        return sorted(name for name in self._source.tools if name not in self._source.off)

    def __repr__(self) -> str:
        return f"<tools of {self._source.name}: {', '.join(dir(self)) or 'none'}>"


class ToolFunction:
    """A tool that Python calls, with the coercion of a script; awaitable where it is a coroutine.

    Attributes:
        tool: The tool.
    """

    __slots__ = ("_threads", "tool")

    def __init__(self, tool: Tool, threads: Threads) -> None:
        self.tool = tool
        self._threads = threads

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        return f"{self.tool.spec.signature()}\n\n{self.tool.spec.description}"

    def __call__(self, *positional: object, **named: object) -> object:
        """Call it on this thread, or give an awaitable whose work is done on the session's loop.

        Raises:
            NitError: The arguments do not fit, or the tool raised.
        """
        arguments = self._bound(positional, named)
        if self.tool.is_async:
            return self._await(arguments)
        channel = Channel(None)
        token = SINK.set(channel)
        try:
            value = call_plain(self.tool, arguments, channel)
        except NitError:
            raise
        except Exception as error:  # whatever a tool raises is its failure
            raise self._failure(error) from error
        finally:
            SINK.reset(token)
        return value

    async def _await(self, arguments: dict[str, object]) -> object:
        from asyncio import wrap_future  # noqa: PLC0415 - loaded wherever one can await

        future = self._threads.start(self.tool, arguments, Channel(None))
        try:
            return await wrap_future(future)
        except NitError:
            raise
        except Exception as error:  # whatever a tool raises is its failure
            raise self._failure(error) from error

    def _bound(self, positional: tuple[object, ...], named: dict[str, object]) -> dict[str, object]:
        binding = bind(self.tool.spec, [*[None] * len(positional), *named])
        for misuse in binding.misuses:
            raise NitCheckError(misuse.message, code=misuse.code, hint=misuse.hint)
        values = (*positional, *named.values())
        arguments = {n: v for n, v in zip(binding.names, values, strict=True) if n is not None}
        if self.tool.coercer.fits(arguments):
            return arguments
        try:
            return self.tool.coercer.coerce(arguments, self._threads.limits)
        except CoercionError as error:
            raise NitRuntimeError(error.message, code=error.code, hint=error.hint) from None

    def _failure(self, error: BaseException) -> NitToolError:
        text = f"`{self.tool.spec.nit_name}` raised {type(error).__name__}"
        return NitToolError(f"{text}: {error}" if str(error) else text, code="NIT501")

    def __repr__(self) -> str:
        return self.tool.spec.signature()


def _why_not(name: str, means: Resolution, registry: Registry) -> str:
    if isinstance(means, Ambiguous):
        return (
            f"`{name}` is ambiguous: {' or '.join(f'`{tool.full_name}`' for tool in means.tools)}"
        )
    if isinstance(means, Disabled):
        return f"`{name}` is disabled: {means.reason}"
    near = did_you_mean(name, registry.names())
    return f"there is no tool `{name}`" + (f": {near}" if near else "")
