"""What the tests of the codecs share: tools, and one way to decode a reply."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nit_kernel.errors import CodecError
from nit_kernel.language.schema import ToolSpec
from nit_kernel.model.codecs.codec import DecodeContext, Decoded, decode_reply


def tool(name: str, required: Sequence[str] = (), /, **properties: Any) -> ToolSpec:
    """Make a tool; a property is its JSON type, or a schema."""
    schemas = {
        key: {"type": value} if isinstance(value, str) else value
        for key, value in properties.items()
    }
    return ToolSpec(
        name=name,
        description=f"The tool {name}.",
        parameters={"type": "object", "properties": schemas, "required": list(required)},
    )


TOOLS = (
    tool("add", ["a"], a="integer", b="integer"),
    tool("echo", v={}),
    tool("two", v={}),
    tool("clock"),
    tool("search", ["q"], q="string"),
    tool("files.read", path="string"),
    tool("say", text="string", n="array"),
    tool("open", url="string", why="string"),
    tool("run", ["code"], code="string"),
    tool("write", text="string"),
)


def decode(codec: Any, reply: str | dict[str, Any], **context: Any) -> Decoded:
    """Decode a reply (its text, or a message) with the sample tools unless told otherwise."""
    message = {"role": "assistant", "content": reply} if isinstance(reply, str) else reply
    return decode_reply(codec, message, DecodeContext(**({"tools": TOOLS} | context)))


def outcome(codec: Any, reply: str | dict[str, Any], **context: Any) -> Any:
    """Return what a reply says in short: its calls, else its text, else the code of the error."""
    try:
        decoded = decode(codec, reply, **context)
    except CodecError as error:
        return error.code
    if decoded.scripts:
        return list(decoded.scripts)
    if not decoded.calls:
        return decoded.text
    return [
        (call.name, call.arguments if call.error is None else call.error.partition(":")[0])
        for call in decoded.calls
    ]
