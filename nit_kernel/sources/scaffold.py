"""`nit new-plugin` and `nit check-plugin`: a plugin to begin with, and what is wrong with one."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING

from nit_kernel.errors import PluginError
from nit_kernel.sources.manifest import DESCRIPTION, SCHEMA
from nit_kernel.sources.manifest_description import is_plugin_name
from nit_kernel.sources.plugin_code import forget_plugin
from nit_kernel.sources.plugins import load_plugin

if TYPE_CHECKING:
    from nit_kernel.sources.plugin_faults import Fault


def new_plugin(name: str, folder: str | Path) -> Path:
    """Write a working plugin with its test.

    Args:
        name: The plugin's name, an identifier; its folder is called so, too.
        folder: Where the plugin's folder is made.

    Returns:
        The plugin's folder.

    Raises:
        PluginError: The name cannot be a plugin's, or something of that name is there.
    """
    name = unicodedata.normalize("NFKC", name)
    if not is_plugin_name(name):
        raise PluginError(
            f"a plugin cannot be called `{name}`",
            code="NIT555",
            hint="take letters, digits and `_`, and no word of the language",
        )
    target = Path(folder) / name
    files = {
        DESCRIPTION: _json(_description(name)),
        SCHEMA: _json(_schema(name)),
        f"{name}.py": _CODE.replace("NAME", name),
        "README.md": _README.replace("NAME", name),
        f"test_{name}.py": _TEST.replace("NAME", name),
    }
    try:
        target.mkdir(parents=True)
        for file, content in files.items():
            (target / file).write_text(content, encoding="utf-8")
    except FileExistsError:
        raise PluginError(
            f"`{target}` is there already", code="NIT561", hint="take another name"
        ) from None
    except OSError as error:
        raise PluginError(
            f"`{target}` cannot be written: {error.strerror}", code="NIT550"
        ) from error
    return target


def check_plugin(folder: str | Path) -> list[Fault]:
    """Load one plugin as a session would, and say all that is wrong or could be better.

    Its code is imported. A plugin without any fault of severity `"error"` loads.
    """
    plugin = load_plugin(Path(folder).resolve())
    if plugin.package is not None:
        forget_plugin(plugin.package)
    return list(plugin.faults)


def _description(name: str) -> dict[str, object]:
    return {
        "name": name,
        "displayName": name.replace("_", " ").capitalize(),
        "version": "0.1.0",
        "description": "What this plugin is for.",
        "pluginType": "python-module",
        "entryPoint": f"{name}.py",
        "capabilities": {
            "invocationCommands": [
                {
                    "commandIdentifier": f"{name}_greet",
                    "description": "Greet somebody. Use it when the user wants to be polite.",
                    "parameter": "who is greeted (who), optionally how often (times)",
                    "timeout": 30,
                    "sideEffects": "none",
                    "confirm": False,
                }
            ]
        },
    }


def _schema(name: str) -> list[dict[str, object]]:
    parameters = {
        "type": "object",
        "properties": {
            "who": {"type": "string", "description": "Who is greeted."},
            "times": {"type": "integer", "minimum": 1, "default": 1},
        },
        "required": ["who"],
        "additionalProperties": False,
    }
    return [
        {
            "type": "function",
            "function": {
                "name": f"{name}_greet",
                "description": "Greet somebody.",
                "parameters": parameters,
                "returns": {"type": "string"},
            },
        }
    ]


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


_CODE = '''"""The tools of the plugin NAME. What is heavy to import belongs inside the functions."""

from __future__ import annotations


async def NAME_greet(who: str, times: int = 1) -> str:
    """Greet somebody."""
    return " ".join([f"Hello {who}!"] * times)
'''

_TEST = '''"""Run with `pytest`."""

from pathlib import Path

import nit_kernel as nit


def test_greet_greets_as_often_as_asked() -> None:
    with nit.Session(plugins=[Path(__file__).parent]) as session:
        result = session.run('NAME_greet(who="Ada", times=2)', check=True)
    assert result.value == "Hello Ada! Hello Ada!"
'''

_README = """# NAME

A plugin for NIT, in three parts:

- `description.json` says in words, for the model, what each tool is for;
- `schema.json` says in JSON Schema, for the machine, which arguments it takes;
- `NAME.py` is the code: one function a tool.

```
nit check-plugin .        # what is wrong with it
pytest                    # its test
nit tools --plugins .     # its tools as a script sees them
```

In a notebook: set `NIT_PLUGIN_PATH=/path/to/this/folder` before the kernel starts, or run
`nit.session.load_plugins(["/path/to/this/folder"])`; `%nit reload` after a change.
"""
