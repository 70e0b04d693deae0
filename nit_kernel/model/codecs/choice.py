"""Which codec a model gets where nobody said: `nit`, unless a table by model name says otherwise.

The longest pattern that occurs in the model's name decides. Both tables can be overridden.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from nit_kernel.model.client import ModelFacts
from nit_kernel.model.codecs.codec import ToolCallCodec
from nit_kernel.model.codecs.faults import unknown_codec
from nit_kernel.model.codecs.json import json_codec
from nit_kernel.model.codecs.native import native_codec
from nit_kernel.model.codecs.nit import nit_codec
from nit_kernel.model.codecs.react import react_codec
from nit_kernel.model.codecs.text_calls import TEXT_ALIASES, TEXT_FORMATS, text_codec

CODECS_BY_MODEL: Mapping[str, str] = MappingProxyType(
    {
        # Trained to write calls and nothing else; they do not follow a language of a prompt.
        "functiongemma": "native",
        "gorilla-openfunctions": "native",
        "hammer2": "native",
        "toolace": "native",
        "watt-tool": "native",
        "xlam": "native",
    }
)
"""Part of a model's name to codec, where it is not `nit`."""

TEXT_FORMS_BY_MODEL: Mapping[str, str] = MappingProxyType(
    {
        "deepseek": "deepseek",
        "devstral": "mistral",
        "exaone": "hermes",
        "hermes": "hermes",
        "lfm2": "pythonic",
        "llama-3": "llama3_json",
        "llama-3.2-1b": "pythonic",
        "llama-3.2-3b": "pythonic",
        "llama-4": "pythonic",
        "llama3": "llama3_json",
        "llama4": "pythonic",
        "magistral": "mistral",
        "ministral": "mistral",
        "mistral": "mistral",
        "mixtral": "mistral",
        "nemotron-3": "qwen_xml",
        "qwen": "hermes",
        "qwen3-coder": "qwen_xml",
        "qwen3.5": "qwen_xml",
        "qwen3.6": "qwen_xml",
        "qwq": "hermes",
        "toolace": "pythonic",
    }
)
"""Part of a model's name to the form in which it writes calls as text."""

_ONE_SYSTEM_MESSAGE = ("gemma", "mistral", "mixtral", "ministral", "codestral", "devstral")
"""Models whose templates refuse a system message that is not the first."""

_BILLIONS = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)b(?![a-z0-9])")
_SMALL_BILLIONS = 4

_PLAIN = ("nit", "native", "json", "react")


@dataclass(frozen=True, slots=True)
class Choice:
    """A codec's name, and the pattern of the table that decided; `None`: the default."""

    codec: str
    pattern: str | None = None


def choice_for(model: str, table: Mapping[str, str] = CODECS_BY_MODEL) -> Choice:
    """Return the codec for a model by its name."""
    pattern = _longest(model, table)
    return Choice("nit") if pattern is None else Choice(table[pattern], pattern)


def choose_codec(facts: ModelFacts, table: Mapping[str, str] = CODECS_BY_MODEL) -> ToolCallCodec:
    """Return the codec for a model where none was named.

    A local server's replies end at their first block, and a server that is known to decode under a
    grammar gets one.
    """
    return codec_named(choice_for(facts.model, table).codec, facts)


def codec_named(name: str, facts: ModelFacts | None = None) -> ToolCallCodec:
    """Return the codec of this name: one of the four, or a form of calls as text.

    Args:
        name: Such as `"native"` or `"hermes"`.
        facts: What is known of the model; its codec is set up for it.

    Raises:
        CodecError: There is no such codec.
    """
    match name:
        case "nit":
            return _nit_codec(facts)
        case "native":
            return native_codec()
        case "json":
            return json_codec()
        case "react":
            return react_codec()
        case _ if name in TEXT_FORMATS or name in TEXT_ALIASES:
            return text_codec(name)
        case _:
            raise unknown_codec(name, ["auto", *_PLAIN, *sorted(TEXT_FORMATS)])


def text_form_for(model: str, table: Mapping[str, str] = TEXT_FORMS_BY_MODEL) -> str | None:
    """Return the form in which a model writes calls as text, or `None` where it is not known."""
    pattern = _longest(model, table)
    return None if pattern is None else table[pattern]


def _nit_codec(facts: ModelFacts | None) -> ToolCallCodec:
    if facts is None:
        return nit_codec()
    name = facts.model.lower()
    one_system = facts.is_local and any(part in name for part in _ONE_SYSTEM_MESSAGE)
    return nit_codec(
        stop_at_block=facts.is_local and facts.takes_stop,
        firm=facts.is_local and _is_small(name),
        grammar=facts.grammar,
        handshake_place="first" if one_system else "late",
    )


def _is_small(name: str) -> bool:
    """Return whether a model has a few billion parameters, by its name; most local ones do."""
    found = _BILLIONS.findall(name)
    return not found or max(float(size) for size in found) <= _SMALL_BILLIONS


def _longest(model: str, table: Mapping[str, str]) -> str | None:
    name = model.lower()
    found = [pattern for pattern in table if pattern.lower() in name]
    return max(found, key=lambda pattern: (len(pattern), pattern), default=None)
