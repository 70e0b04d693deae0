"""Calls as a line of NIT: how calls of another codec stand in the history of scripts."""

from __future__ import annotations

import json
from collections.abc import Sequence

from nit_kernel.language.schema import JsonValue, ToolSpec, is_bare_name, nit_name
from nit_kernel.model.codecs.names import find_tool


def call_as_script(name: str, arguments: JsonValue, tools: Sequence[ToolSpec] = ()) -> str:
    """Return one call as NIT; a comment where its arguments were no object."""
    found = find_tool(name, tools)
    tool = found.tool if found is not None else None
    if not isinstance(arguments, dict):
        return f"# {' '.join(name.split())}: its arguments could not be read"
    pairs: list[str] = []
    for key, value in arguments.items():
        written = tool.argument_names.get(key, key) if tool is not None else key
        shown = written if nit_name(written) == written else json.dumps(written)
        pairs.append(f"{shown}={json.dumps(value, ensure_ascii=False)}")
    bare = tool.nit_name if tool is not None else name
    is_writable = is_bare_name(bare) and all(nit_name(part) == part for part in bare.split("."))
    if is_writable:
        return f"{bare}({', '.join(pairs)})"
    return f"call({', '.join([json.dumps(name, ensure_ascii=False), *pairs])})"
