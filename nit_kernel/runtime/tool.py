"""A tool: what is said about it (`ToolSpec`), how its arguments are made, and what is called."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Literal, cast

from nit_kernel.language.schema import ToolSpec, nit_name
from nit_kernel.runtime.coercion import Coercer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nit_kernel.language.schema import JsonObject, SideEffects

Place = Literal["caller", "worker"]


class Tool:
    """A tool made from its parts; from then on all tools are alike, wherever they come from.

    Args:
        name: Its exact name. `spec.nit_name` is how it is written in NIT.
        description: For the model.
        parameters: The JSON Schema of the arguments, an object schema.
        call: A plain, coroutine, generator or async generator function, called as
            `call(**arguments)`.
        returns: The JSON Schema of the result, if known.
        side_effects: What a call changes: nothing, this machine, or the world.
        timeout: Seconds that one call may take; `None` for the session's limit, `math.inf` for
            none (the tool watches over its own time).
        confirm: Whether a model's script must always ask before it calls this.
        thread: Where a plain function runs when a synchronous statement calls it: on the thread
            of its cell, or in a worker thread.
        context: The keyword under which `call` wants a `ToolContext`, or `None`.
        ordered: Whether positional arguments follow the schema's order.
        parameter_text: The parameters in words, as `description.json` has them.
        natives: See `Coercer`.

    Raises:
        PluginError: `parameters` is no usable JSON Schema.
    """

    __slots__ = (
        "call",
        "coercer",
        "context",
        "is_async",
        "is_generator",
        "is_inline",
        "source",
        "spec",
        "thread",
        "timeout",
    )

    spec: ToolSpec
    call: Callable[..., object]
    coercer: Coercer
    thread: Place
    context: str | None
    timeout: float | None
    source: str
    """The plugin or server that it was registered under, or `"notebook"`."""
    is_async: bool
    """Whether `call` gives a coroutine or an async generator."""
    is_generator: bool
    """Whether `call` yields `Progress` and at last its value."""
    is_inline: bool
    """Whether a synchronous statement may simply call it, on the thread of its cell."""

    def __init__(
        self,
        name: str,
        description: str,
        parameters: JsonObject,
        call: Callable[..., object],
        *,
        returns: JsonObject | None = None,
        side_effects: SideEffects = "external",
        timeout: float | None = None,
        confirm: bool = False,
        thread: Place = "caller",
        context: str | None = None,
        ordered: bool = True,
        parameter_text: str = "",
        natives: Mapping[str, Callable[[object], bool]] | None = None,
    ) -> None:
        self.spec = ToolSpec(
            name=name,
            nit_name=nit_name(name),
            description=description,
            parameters=parameters,
            returns=returns,
            side_effects=side_effects,
            confirm=confirm,
            timeout_s=timeout,
            ordered=ordered,
            parameter_text=parameter_text,
        )
        self.call = call
        self.coercer = Coercer(parameters, natives=natives)
        self.thread = thread
        self.context = context
        self.timeout = timeout
        self.source = "notebook"
        self.is_async, self.is_generator = _kind_of_function(call)
        self.is_inline = (
            thread == "caller" and context is None and not self.is_async and not self.is_generator
        )

    @property
    def name(self) -> str:
        """The exact name."""
        return self.spec.name

    @property
    def full_name(self) -> str:
        """The name that always reaches it in NIT: `source.tool`."""
        return f"{nit_name(self.source)}.{self.spec.nit_name}"

    def placed(self, source: str, spec: ToolSpec | None = None) -> Tool:
        """Return the same tool as a member of `source` (and with another spec, if one is given)."""
        other = cast("Tool", object.__new__(type(self)))
        for slot in Tool.__slots__:
            setattr(other, slot, getattr(self, slot))
        other.source = source
        if spec is not None:
            other.spec = spec
        return other

    def __repr__(self) -> str:
        return f"<Tool {self.full_name}: {self.spec.signature()}>"


def _kind_of_function(call: Callable[..., object]) -> tuple[bool, bool]:
    """Whether a callable is asynchronous, and whether it yields; wrappers are looked through."""
    plain = inspect.unwrap(call)
    if not inspect.isroutine(plain) and not isinstance(plain, type):
        # An object with `__call__`; `functools.partial` is looked through by `inspect` itself.
        plain = getattr(plain, "func", None) or type(plain).__call__
    is_async_generator = inspect.isasyncgenfunction(plain)
    is_async = inspect.iscoroutinefunction(plain) or is_async_generator
    return is_async, is_async_generator or inspect.isgeneratorfunction(plain)
