"""One script has one outcome: by `%%nit`, `Session.run`, `Session.arun` and `nit run`."""

import asyncio
import atexit
import json
import subprocess
import sys

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import nit_kernel as nit
from nit_kernel.language.values import to_json

CODE = """
import asyncio
import atexit
import time


def add(a, b=1):
    return a + b


def echo(msg):
    return msg


def boom(msg):
    raise ValueError(msg)


async def doze(seconds):
    await asyncio.sleep(seconds)
    return {"slept": seconds, "list": [1, None, True]}
"""

TOOLS = {
    "add": {"a": "integer", "b": "integer"},
    "echo": {"msg": "string"},
    "boom": {"msg": "string"},
    "doze": {"seconds": "number"},
}

SCRIPTS = {
    "values": '$a = add(a=1, b=2)\n$b = add(a="4")\n[$a, $b, {n: $a}]',
    "coercion to text": "$t = echo(msg=007)\n$u = echo(msg=1.50)\n$t",
    "a chain": '$x = echo(msg="a")\necho(msg=f"<{$x}>")',
    "a path": "$d = doze(seconds=0.01)\n$d.list[0]",
    "background": "$d = async doze(seconds=0.02)\n$e = async add(a=5)\n[$d.slept, $e]",
    "nested": "add(a=add(a=1, b=1), b=add(a=2))",
    "an empty script": "# nothing\n",
    "tags": "<nit>\nadd(a=1)\n</nit>",
    "a fence around it": "```nit\nadd(a=1)\n```",
    "a failing tool": '$a = add(a=1)\n$b = boom(msg="no luck")\n$c = add(a=2)',
    "a wrong argument": "$a = add(a=1)\nadd(q=1)",
    "an unknown tool": "ad(a=1)",
    "an undefined variable": "add(a=$nowhere)",
    "a missing key": "$d = doze(seconds=0)\n$d.absent",
    "a value that does not fit": '$t = echo(msg="x")\nadd(a=$t)',
    "a syntax error": "$a = add(a=1\nadd(a=2)",
    "an operator": "$a = 1\n$a + 1",
    "a failing background task": '$b = async boom(msg="late")\n[$b]',
}


@pytest.fixture(scope="module")
def plugin(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plugin") / "same"
    folder.mkdir()
    (folder / "same.py").write_text(CODE, encoding="utf-8")
    commands = [
        {"commandIdentifier": name, "description": name, "parameter": ", ".join(parameters)}
        for name, parameters in TOOLS.items()
    ]
    (folder / "description.json").write_text(json.dumps(commands), encoding="utf-8")
    schemas = [
        {
            "type": "function",
            "function": {
                "name": name,
                "description": name,
                "parameters": {
                    "type": "object",
                    "properties": {k: {"type": v} for k, v in parameters.items()},
                    "required": [next(iter(parameters))],
                },
            },
        }
        for name, parameters in TOOLS.items()
    ]
    (folder / "schema.json").write_text(json.dumps(schemas), encoding="utf-8")
    return folder


def outcome(result):
    error = result.error
    return {
        "ok": result.ok,
        "value": to_json(result.value),
        "variables": {name: to_json(value) for name, value in result.variables.items()},
        "calls": [(call.name, to_json(call.arguments), call.status) for call in result.calls],
        "error": None if error is None else (error.code, error.message, error.hint),
    }


def by_run(script, plugin):
    with nit.Session(plugins=[plugin]) as session:
        return outcome(session.run(script))


def by_arun(script, plugin):
    async def main():
        async with nit.Session(plugins=[plugin]) as session:
            return outcome(await session.arun(script))

    return asyncio.run(main())


def shell_with(plugin):
    config = Config()
    config.HistoryManager.enabled = False
    config.NitMagics.plugins = [str(plugin)]
    shell = InteractiveShell(config=config)
    shell.run_line_magic("load_ext", "nit_kernel")
    return shell


def by_cell(script, plugin, prefix="%%nit\n"):
    shell = shell_with(plugin)
    try:
        ran = shell.run_cell(f"{prefix}{script}\n")
        told = outcome(shell.user_ns["nit"].last)
        assert ran.success is told["ok"]
        if ran.success and not prefix.startswith("%%time"):
            assert to_json(ran.result) == told["value"]
        for name, value in told["variables"].items():
            assert to_json(shell.user_ns[name]) == value
        return told
    finally:
        shell.run_line_magic("unload_ext", "nit_kernel")
        shell.atexit_operations()
        atexit.unregister(shell.atexit_operations)


def by_nested_cell(script, plugin):
    return by_cell(script, plugin, prefix="%%time\n%%nit\n")


def by_command(script, plugin):
    ran = subprocess.run(
        [sys.executable, "-m", "nit_kernel.cli", "run", "-", "--plugins", str(plugin), "--json"],
        input=script,
        capture_output=True,
        text=True,
        timeout=60,
    )
    told = json.loads(ran.stdout)
    assert ran.returncode == (0 if told["ok"] else 2 if told["error"]["code"] < "NIT300" else 1)
    error = told["error"]
    return {
        "ok": told["ok"],
        "value": told["value"],
        "variables": told["variables"],
        "calls": [(c["name"], c["arguments"], c["status"]) for c in told["calls"]],
        "error": None if error is None else (error["code"], error["message"], error["hint"]),
    }


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_has_one_outcome(script, plugin, capsys):
    text = SCRIPTS[script]
    outcomes = {
        way.__name__: way(text, plugin)
        for way in (by_run, by_arun, by_cell, by_nested_cell, by_command)
    }
    first = outcomes["by_run"]

    assert outcomes == dict.fromkeys(outcomes, first)
