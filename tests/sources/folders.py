"""Plugin folders for tests."""

import json
from pathlib import Path
from typing import Any

CODE = '''
"""A plugin of a test."""


def greet(name: str, times: int = 1) -> str:
    """Greet somebody."""
    return " ".join([f"hello {name}"] * times)
'''

SCHEMA: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": "greet",
            "description": "Greet somebody.",
            "parameters": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "times": {"type": "integer"}},
                "required": ["name"],
            },
        },
    }
]


def description(name: str = "greeter", **changes: Any) -> dict[str, Any]:
    """A good description of one tool, `greet`."""
    return {
        "name": name,
        "version": "1.0.0",
        "description": "Greetings.",
        "entryPoint": "code.py",
        "capabilities": {
            "invocationCommands": [
                {
                    "commandIdentifier": "greet",
                    "description": "Greet somebody.",
                    "parameter": "the name (name), how often (times)",
                }
            ]
        },
        **changes,
    }


def write_plugin(
    folder: Path,
    *,
    manifest: object = None,
    schema: object = None,
    code: str | None = CODE,
    files: dict[str, str] | None = None,
) -> Path:
    """Write a plugin that is good, but for what is given; a text is written as it is.

    `schema=False`: no schema.json. `code=None`: no code.
    """
    folder.mkdir(parents=True)
    _write(folder / "description.json", description(folder.name) if manifest is None else manifest)
    if schema is not False:
        _write(folder / "schema.json", SCHEMA if schema is None else schema)
    if code is not None:
        (folder / "code.py").write_text(code, encoding="utf-8")
    for name, content in (files or {}).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return folder


def _write(path: Path, content: object) -> None:
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    path.write_text(text, encoding="utf-8")
