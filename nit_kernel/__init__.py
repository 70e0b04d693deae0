"""NIT: a small language in which a model, or a person in a notebook, orchestrates tools.

Everything public is here; each part is imported when it is first asked for.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from nit_kernel._syntax import (
        Block,
        BlockOpen,
        Diagnostic,
        Reasoning,
        Rejected,
        Script,
        Span,
        StreamFilter,
        Text,
        Unclosed,
    )
    from nit_kernel.config import Limits
    from nit_kernel.conversation import Chat
    from nit_kernel.errors import (
        CodecError,
        ModelError,
        NitCancelledError,
        NitCheckError,
        NitError,
        NitLimitError,
        NitRuntimeError,
        NitSyntaxError,
        NitTimeoutError,
        NitToolError,
        PluginError,
    )
    from nit_kernel.model.codecs.codec import Decoded, ToolCall, ToolCallCodec
    from nit_kernel.model.codecs.conformance import codec_conformance
    from nit_kernel.model.codecs.json import json_codec
    from nit_kernel.model.codecs.native import native_codec
    from nit_kernel.model.codecs.nit import nit_codec
    from nit_kernel.model.codecs.react import react_codec
    from nit_kernel.model.codecs.text_calls import text_codec
    from nit_kernel.model.grammar import grammar
    from nit_kernel.runtime.context import Progress, ToolContext
    from nit_kernel.runtime.prepared import format_script as format
    from nit_kernel.runtime.prepared import parse
    from nit_kernel.runtime.result import Call, Result
    from nit_kernel.runtime.tool import Tool
    from nit_kernel.session import Session, check
    from nit_kernel.sources.functions import tool
    from nit_kernel.sources.plugin_places import default_places as default_plugins

__version__ = "0.1.0"

_PLACES = {
    "Block": "nit_kernel._syntax",
    "BlockOpen": "nit_kernel._syntax",
    "Call": "nit_kernel.runtime.result",
    "Chat": "nit_kernel.conversation",
    "CodecError": "nit_kernel.errors",
    "Decoded": "nit_kernel.model.codecs.codec",
    "Diagnostic": "nit_kernel._syntax",
    "Limits": "nit_kernel.config",
    "ModelError": "nit_kernel.errors",
    "NitCancelledError": "nit_kernel.errors",
    "NitCheckError": "nit_kernel.errors",
    "NitError": "nit_kernel.errors",
    "NitLimitError": "nit_kernel.errors",
    "NitRuntimeError": "nit_kernel.errors",
    "NitSyntaxError": "nit_kernel.errors",
    "NitTimeoutError": "nit_kernel.errors",
    "NitToolError": "nit_kernel.errors",
    "PluginError": "nit_kernel.errors",
    "Progress": "nit_kernel.runtime.context",
    "Reasoning": "nit_kernel._syntax",
    "Rejected": "nit_kernel._syntax",
    "Result": "nit_kernel.runtime.result",
    "Script": "nit_kernel._syntax",
    "Session": "nit_kernel.session",
    "Span": "nit_kernel._syntax",
    "StreamFilter": "nit_kernel._syntax",
    "Text": "nit_kernel._syntax",
    "Tool": "nit_kernel.runtime.tool",
    "ToolCall": "nit_kernel.model.codecs.codec",
    "ToolCallCodec": "nit_kernel.model.codecs.codec",
    "ToolContext": "nit_kernel.runtime.context",
    "Unclosed": "nit_kernel._syntax",
    "check": "nit_kernel.session",
    "codec_conformance": "nit_kernel.model.codecs.conformance",
    "default_plugins": "nit_kernel.sources.plugin_places:default_places",
    "format": "nit_kernel.runtime.prepared:format_script",
    "grammar": "nit_kernel.model.grammar",
    "json_codec": "nit_kernel.model.codecs.json",
    "native_codec": "nit_kernel.model.codecs.native",
    "nit_codec": "nit_kernel.model.codecs.nit",
    "parse": "nit_kernel.runtime.prepared",
    "react_codec": "nit_kernel.model.codecs.react",
    "text_codec": "nit_kernel.model.codecs.text_calls",
    "tool": "nit_kernel.sources.functions",
}
"""Where each public name lives: a module, and the name there where it is another."""

__all__ = [
    "Block",
    "BlockOpen",
    "Call",
    "Chat",
    "CodecError",
    "Decoded",
    "Diagnostic",
    "Limits",
    "ModelError",
    "NitCancelledError",
    "NitCheckError",
    "NitError",
    "NitLimitError",
    "NitRuntimeError",
    "NitSyntaxError",
    "NitTimeoutError",
    "NitToolError",
    "PluginError",
    "Progress",
    "Reasoning",
    "Rejected",
    "Result",
    "Script",
    "Session",
    "Span",
    "StreamFilter",
    "Text",
    "Tool",
    "ToolCall",
    "ToolCallCodec",
    "ToolContext",
    "Unclosed",
    "check",
    "codec_conformance",
    "default_plugins",
    "format",
    "grammar",
    "json_codec",
    "native_codec",
    "nit_codec",
    "parse",
    "react_codec",
    "text_codec",
    "tool",
]


def __getattr__(name: str) -> object:
    place = _PLACES.get(name)
    if place is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, there = place.partition(":")
    value = getattr(importlib.import_module(module), there or name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def load_ipython_extension(ipython: InteractiveShell) -> None:
    """Load the extension: `%load_ext nit_kernel`."""
    from nit_kernel.notebook.extension import load_ipython_extension as load  # noqa: PLC0415

    load(ipython)


def unload_ipython_extension(ipython: InteractiveShell) -> None:
    """Take the extension off again: `%unload_ext nit_kernel`."""
    from nit_kernel.notebook.extension import unload_ipython_extension as unload  # noqa: PLC0415

    unload(ipython)
