"""Tools for tests, made from functions without any schema of their own."""

import inspect
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from nit_kernel import Tool


def make_tool(call: Callable[..., object], **options: Any) -> Tool:
    """Make a tool whose arguments are the function's and take any value."""
    context = options.get("context")
    parameters = [p for p in inspect.signature(call).parameters.values() if p.name != context]
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {p.name: {} for p in parameters if p.kind is not p.VAR_KEYWORD},
        "required": [
            p.name for p in parameters if p.default is p.empty and p.kind is not p.VAR_KEYWORD
        ],
    }
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        schema["additionalProperties"] = True
    name = options.pop("name", call.__name__)
    return Tool(name, call.__doc__ or "", schema, call, **options)


@dataclass
class Gate:
    """A tool that says when it has begun and ends when it is told to."""

    begun: threading.Event = field(default_factory=threading.Event)
    go: threading.Event = field(default_factory=threading.Event)

    def hold(self, value: object = "held") -> object:
        """Wait for the gate, then return the value."""
        self.begun.set()
        if not self.go.wait(20):
            raise TimeoutError("nobody opened the gate")
        return value
