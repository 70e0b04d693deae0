"""Loading plugins: each on its own, whole or not at all, and every fault listed."""

import asyncio
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from sources.folders import CODE, SCHEMA, description, write_plugin

from nit_kernel.runtime.registry import Ambiguous, Disabled, Missing, Registry
from nit_kernel.runtime.tool import Tool
from nit_kernel.sources import plugins as plugins_module
from nit_kernel.sources.plugin_faults import FaultList
from nit_kernel.sources.plugins import Plugin, Plugins, load_plugin


def load(*places: Path) -> tuple[Plugins, Registry]:
    registry = Registry()
    plugins = Plugins(registry)
    plugins.load(places)
    return plugins, registry


def states(plugins: Plugins) -> dict[str, str]:
    return {plugin.name: plugin.state for plugin in plugins.all}


def errors(plugin: Plugin) -> list[str]:
    return [str(fault) for fault in plugin.faults if fault.severity == "error"]


def tool_of(plugin: Plugin, name: str = "greet") -> Tool:
    return next(tool for tool in plugin.tools if tool.name == name)


def tools_schema(*names: str, properties: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    parameters = {"type": "object", "properties": properties or {}}
    return [{"name": name, "parameters": parameters} for name in names]


def several(name: str, *commands: str) -> dict[str, Any]:
    listed = [{"commandIdentifier": c, "description": c, "parameter": ""} for c in commands]
    return description(name, capabilities={"invocationCommands": listed})


def test_a_good_plugin_gives_its_tools(tmp_path: Path) -> None:
    plugins, registry = load(write_plugin(tmp_path / "greeter"))
    (plugin,) = plugins.all
    assert (plugin.name, plugin.state, plugin.version, plugin.origin) == (
        "greeter",
        "loaded",
        "1.0.0",
        "option",
    )
    assert plugin.faults == ()
    tool = registry.resolve("greet")
    assert tool is registry.resolve("greeter.greet")
    assert isinstance(tool, Tool)
    assert (tool.thread, tool.context, tool.source) == ("worker", None, "greeter")
    assert tool.spec.parameter_text == "the name (name), how often (times)"
    assert tool.call(name="you", times=2) == "hello you hello you"


def test_fifty_broken_plugins_keep_no_good_one_out(tmp_path: Path) -> None:
    breakages: list[dict[str, Any]] = [
        {"manifest": "{not json"},
        {"schema": "[1, 2"},
        {"code": None},
        {"code": "1 / 0"},
        {"code": "import sys; sys.exit(1)"},
        {"code": "def greet(name: str, time: int = 1): ..."},
        {"code": "def greet(:"},
        {"manifest": "[]"},
        {"schema": "{}"},
        {"code": "import no_such_package_of_nit"},
    ]
    for number in range(50):
        write_plugin(tmp_path / f"p{2 * number}good")
        write_plugin(tmp_path / f"p{2 * number + 1}bad", **breakages[number % len(breakages)])
    plugins, registry = load(tmp_path)
    loaded = [plugin for plugin in plugins.all if plugin.state == "loaded"]
    failed = [plugin for plugin in plugins.all if plugin.state == "failed"]
    assert (len(loaded), len(failed)) == (50, 50)
    assert all(plugin.name.endswith("good") for plugin in loaded)
    assert all(len(errors(plugin)) >= 1 for plugin in failed)
    assert len(registry.tools()) == 50
    assert not [name for name in sys.modules if re.match(r"_nit_plugin_p\d+bad_", name)]


def test_a_plugin_that_reaches_outside_is_skipped_with_its_reason(tmp_path: Path) -> None:
    evil = tmp_path / "evil.py"
    evil.write_text(f"open({str(tmp_path / 'run')!r}, 'w').close()\n" + CODE, encoding="utf-8")
    elsewhere = write_plugin(tmp_path / "elsewhere" / "p5", code=evil.read_text("utf-8"))
    top = tmp_path / "plugins"
    write_plugin(top / "ok_one")
    write_plugin(top / "p2", manifest={"commandIdentifier": "../outside"})
    write_plugin(top / "p3", manifest=description("p3", entryPoint=str(evil)))
    write_plugin(top / "p4", manifest=description("p4", entryPoint="../../evil.py"))
    (top / "p5").symlink_to(elsewhere)
    write_plugin(top / "p6", schema="{not json")
    call = CODE.replace("greet", "call")
    write_plugin(
        top / "p7",
        code=call,
        manifest=several("p7", "call"),
        schema=[{**SCHEMA[0]["function"], "name": "call"}],
    )
    write_plugin(top / "pl8", code="1 / 0")
    (top / "p9").symlink_to(tmp_path / "nowhere")
    linked = write_plugin(top / "p10", code=None)
    (linked / "code.py").symlink_to(evil)
    inner = write_plugin(top / "p11", code="from . import helper\n" + CODE)
    (inner / "helper.py").symlink_to(evil)
    plugins, registry = load(top)
    assert states(plugins) == {
        "ok_one": "loaded",
        "p10": "failed",
        "p11": "failed",
        "p2": "failed",
        "p3": "failed",
        "p4": "failed",
        "p5": "failed",
        "p6": "failed",
        "p7": "loaded",
        "p9": "failed",
        "pl8": "failed",
    }
    assert not (tmp_path / "run").exists()
    codes = {plugin.name: plugin.faults[-1].code for plugin in plugins.all if plugin.faults}
    assert codes == {
        "p10": "NIT556",
        "p11": "NIT558",
        "p2": "NIT555",
        "p3": "NIT556",
        "p4": "NIT556",
        "p5": "NIT556",
        "p6": "NIT553",
        "p9": "NIT556",
        "pl8": "NIT558",
    }
    assert isinstance(registry.resolve("p7.call"), Tool)
    assert isinstance(registry.resolve("call"), Missing)
    assert isinstance(registry.resolve("ok_one.greet"), Tool)


def test_the_same_folders_load_in_the_same_order(tmp_path: Path) -> None:
    for name in ("zebra", "apple", "mango"):
        write_plugin(tmp_path / name)
    plugins, _ = load(tmp_path)
    assert list(states(plugins)) == ["apple", "mango", "zebra"]


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        (
            "\n\nx = 1 / 0\n",
            "bad/code.py:3:1: NIT558: raised while it was imported: ZeroDivisionError: division by"
            " zero",
        ),
        (
            "def broken(:\n",
            "bad/code.py:1:12: NIT558: is not Python: invalid syntax",
        ),
        (
            "import sys\nsys.exit(4)\n",
            "bad/code.py:2:1: NIT558: left the program (`sys.exit`) while it was imported"
            ' (put that under `if __name__ == "__main__":`)',
        ),
        (
            "import no_such_package_of_nit.sub\n",
            "bad/code.py: NIT559: needs `no_such_package_of_nit`, which cannot be imported here"
            " (run `pip install no_such_package_of_nit`)",
        ),
        (
            "import beside\n",
            "bad/code.py:1:1: NIT558: cannot import `beside`, a file of its own"
            " (write `from . import beside`)",
        ),
        (
            "raise ValueError('\\udc80')\n",
            "bad/code.py:1:1: NIT558: raised while it was imported: ValueError: \ufffd",
        ),
        (
            "import asyncio\nraise asyncio.CancelledError\n",
            "bad/code.py:2:1: NIT558: raised while it was imported:"
            " asyncio.exceptions.CancelledError",
        ),
        (
            "raise GeneratorExit\n",
            "bad/code.py:1:1: NIT558: raised while it was imported: GeneratorExit",
        ),
        (
            "raise BaseException('no')\n",
            "bad/code.py:1:1: NIT558: raised while it was imported: BaseException: no",
        ),
        (
            "import pytest\npytest.skip('no', allow_module_level=True)\n",
            "bad/code.py:2:1: NIT558: raised while it was imported: Skipped: no",
        ),
        (
            "from . import raising\n",
            "bad/raising.py:2:1: NIT558: raised while it was imported: ValueError: no",
        ),
        (
            "def gret(name): ...\n",
            "bad/code.py: NIT557: has no function `greet` (did you mean `gret`?)",
        ),
        ("greet = 5\n", "bad/code.py: NIT557: `greet` is no function"),
        (
            "def greet(nam: str, times: int = 1): ...\n",
            "bad/code.py: NIT557: `greet` needs `nam`, which schema.json does not have"
            " (did you mean `name`?)",
        ),
        (
            "def greet(name: str, time: int = 1): ...\n",
            "bad/code.py: NIT557: `greet` does not take `times`, which schema.json has"
            " (did you mean `time`?)",
        ),
        (
            "def greet(*names): ...\n",
            "bad/code.py: NIT557: `greet` does not take `name`, which schema.json has"
            " (add the parameter)",
        ),
    ],
)
def test_a_fault_of_the_code_says_its_line(tmp_path: Path, code: str, fault: str) -> None:
    files = {"beside.py": "", "raising.py": "\nraise ValueError('no')\n"}
    plugin = load_plugin(write_plugin(tmp_path / "bad", code=code, files=files))
    assert plugin.state == "failed"
    assert errors(plugin)[0] == fault


@pytest.mark.parametrize(
    "code",
    [
        "raise BaseException('no')\n",
        # Hints are read after the import.
        "def greet(name: 'int.from_bytes', times: 'stop()' = 1): ...\n"
        "def stop(): raise GeneratorExit\n",
    ],
)
def test_a_plugin_that_raises_whatever_it_likes_keeps_no_other_out(
    tmp_path: Path, code: str
) -> None:
    write_plugin(tmp_path / "bad", code=code)
    write_plugin(tmp_path / "good")
    plugins, _ = load(tmp_path)
    assert states(plugins) == {"bad": "failed", "good": "loaded"}


def test_an_interrupt_while_a_plugin_is_imported_goes_on(tmp_path: Path) -> None:
    before = set(sys.modules)
    with pytest.raises(KeyboardInterrupt):
        load(write_plugin(tmp_path / "bad", code="raise KeyboardInterrupt\n"))
    assert not [name for name in set(sys.modules) - before if name.startswith("_nit_plugin_")]


@pytest.mark.parametrize(
    "parameters",
    [
        {"type": "object", "properties": {"name": {}, "times": {}}, "required": ["name", "tims"]},
        {"type": "object", "required": ["name", "tims"]},
    ],
)
def test_a_required_name_that_the_code_lacks_is_a_fault(tmp_path: Path, parameters: Any) -> None:
    schema = [{"name": "greet", "parameters": parameters}]
    plugin = load_plugin(write_plugin(tmp_path / "bad", schema=schema))
    (fault,) = errors(plugin)
    message = "bad/code.py: NIT557: `greet` does not take `tims`, which schema.json has"
    assert fault.startswith(message)


def test_parameters_that_are_only_required_get_the_types_of_the_code(tmp_path: Path) -> None:
    schema = [{"name": "greet", "parameters": {"type": "object", "required": ["name"]}}]
    tool = tool_of(load_plugin(write_plugin(tmp_path / "good", schema=schema)))
    assert tool.spec.signature() == "greet(name: str, times: int = 1)"


def test_a_schema_that_is_none_is_a_fault(tmp_path: Path) -> None:
    schema = [
        {
            "name": "greet",
            "parameters": {"type": "object", "properties": {"name": {"type": 7}, "times": {}}},
        }
    ]
    plugin = load_plugin(write_plugin(tmp_path / "bad", schema=schema))
    assert plugin.state == "failed"
    (fault,) = errors(plugin)
    assert fault.startswith("bad/schema.json: NIT554: the schema of `greet` cannot be used: ")


def test_the_tools_of_a_broken_plugin_are_known_and_say_why(tmp_path: Path) -> None:
    _, registry = load(write_plugin(tmp_path / "bad", code="1 / 0"))
    found = registry.resolve("greet")
    assert isinstance(found, Disabled)
    assert found.reason == (
        "the plugin `bad` did not load: bad/code.py:1:1: raised while it was imported:"
        " ZeroDivisionError: division by zero"
    )
    assert registry.tools() == []


def test_a_plugin_that_is_switched_off_is_known_and_not_imported(tmp_path: Path) -> None:
    code = f"open({str(tmp_path / 'run')!r}, 'w')"
    folder = write_plugin(
        tmp_path / "quiet", manifest=description("quiet", enabled=False), code=code
    )
    plugins, registry = load(folder)
    assert states(plugins) == {"quiet": "off"}
    assert plugins.all[0].faults == ()
    assert isinstance(registry.resolve("greet"), Disabled)
    assert isinstance(registry.resolve("quiet.greet"), Disabled)
    assert not (tmp_path / "run").exists()


def test_a_plugin_for_other_platforms_is_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_plugin(tmp_path / "mac", manifest=description("mac", platforms=["macos"]))
    monkeypatch.setattr(sys, "platform", "linux")
    plugins, registry = load(folder)
    assert states(plugins) == {"mac": "off"}
    found = registry.resolve("greet")
    assert isinstance(found, Disabled)
    assert found.reason == "the plugin `mac` is for macos only"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert states(load(folder)[0]) == {"mac": "loaded"}


def test_one_tool_of_several_can_be_off(tmp_path: Path) -> None:
    manifest = several("two", "one", "other")
    manifest["capabilities"]["invocationCommands"][1]["enabled"] = False
    code = "def one(): return 1\ndef other(): return 2\n"
    _, registry = load(
        write_plugin(
            tmp_path / "two", manifest=manifest, schema=tools_schema("one", "other"), code=code
        )
    )
    assert [tool.name for tool in registry.tools()] == ["one"]
    assert isinstance(registry.resolve("other"), Disabled)


def test_two_plugins_with_one_tool_name_leave_both_reachable(tmp_path: Path) -> None:
    write_plugin(tmp_path / "left")
    write_plugin(tmp_path / "right")
    registry = Registry()
    notes = Plugins(registry).load([tmp_path])
    assert isinstance(registry.resolve("greet"), Ambiguous)
    assert isinstance(registry.resolve("left.greet"), Tool)
    assert isinstance(registry.resolve("right.greet"), Tool)
    assert notes == ("`greet` is now ambiguous: write `left.greet` and `right.greet`",)


def test_two_plugins_of_one_name_are_told_apart_by_order(tmp_path: Path) -> None:
    first = write_plugin(tmp_path / "a" / "same")
    second = write_plugin(tmp_path / "b" / "same")
    plugins, registry = load(first, second)
    assert [plugin.state for plugin in plugins.all] == ["loaded", "failed"]
    assert errors(plugins.all[1]) == [
        f"b/same: NIT551: the name `same` belongs to the plugin in `{first}`, which comes first"
        " (rename one of them)"
    ]
    assert len(registry.tools()) == 1


def test_a_broken_plugin_does_not_take_the_name_of_a_good_one(tmp_path: Path) -> None:
    bad = write_plugin(tmp_path / "a" / "same", code="1 / 0")
    good = write_plugin(tmp_path / "b" / "same")
    plugins, registry = load(bad, good)
    assert [plugin.state for plugin in plugins.all] == ["failed", "loaded"]
    assert isinstance(registry.resolve("same.greet"), Tool)


def test_the_same_folder_given_twice_is_one_plugin(tmp_path: Path) -> None:
    folder = write_plugin(tmp_path / "greeter")
    link = tmp_path / "link"
    link.symlink_to(folder)
    plugins, _ = load(tmp_path, folder, link)
    assert states(plugins) == {"greeter": "loaded"}


def test_a_place_that_holds_nothing_is_a_fault_of_no_plugin(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    plugins, _ = load(tmp_path / "empty", tmp_path / "gone", write_plugin(tmp_path / "greeter"))
    assert states(plugins) == {"greeter": "loaded"}
    assert [fault.message for fault in plugins.faults] == [
        "is no plugin and holds none",
        "cannot be read: No such file or directory",
    ]


def test_code_finds_the_files_beside_it_and_nothing_is_left_behind(tmp_path: Path) -> None:
    path = list(sys.path)
    files = {"words.py": "HELLO = 'good day'\n", "deep/inner.py": "from ..words import HELLO\n"}
    code = """
from . import words
def greet(name, times=1):
    from .deep.inner import HELLO
    return f"{words.HELLO} {HELLO} {name}"
"""
    first = load_plugin(write_plugin(tmp_path / "a" / "first", code=code, files=files))
    files = {"words.py": "HELLO = 'hi'\n", "deep/inner.py": "from ..words import HELLO\n"}
    second = load_plugin(write_plugin(tmp_path / "b" / "second", code=code, files=files))
    assert tool_of(first).call(name="a") == "good day good day a"
    assert tool_of(second).call(name="b") == "hi hi b"
    assert sys.path == path
    assert "words" not in sys.modules
    assert "code" not in sys.modules or sys.modules["code"].__name__ == "code"
    assert not list(tmp_path.rglob("__pycache__"))


def test_code_called_like_a_package_in_use_is_its_own_module(tmp_path: Path) -> None:
    files = {"json.py": "raise RuntimeError('the plugin took the place of a package')"}
    code = "import json\ndef greet(name, times=1): return json.dumps(name)\n"
    plugin = load_plugin(write_plugin(tmp_path / "shadow", code=code, files=files))
    assert (plugin.state, tool_of(plugin).call(name="é")) == ("loaded", '"\\u00e9"')


def test_the_entry_point_may_be_a_package_or_lie_deeper(tmp_path: Path) -> None:
    files = {"__init__.py": CODE, "src/inner.py": CODE}
    top = write_plugin(
        tmp_path / "top",
        manifest=description("top", entryPoint="__init__.py"),
        code=None,
        files=files,
    )
    deep = write_plugin(
        tmp_path / "deep",
        manifest=description("deep", entryPoint="src/inner.py"),
        code=None,
        files=files,
    )
    plugins, _ = load(top, deep)
    assert states(plugins) == {"top": "loaded", "deep": "loaded"}


@pytest.mark.parametrize("name", ["folder.py", "the_only_one.py"])
def test_without_entry_point_the_code_is_found(tmp_path: Path, name: str) -> None:
    manifest = {"commandIdentifier": "greet", "description": "Greet.", "parameter": "a name"}
    folder = write_plugin(tmp_path / "folder", manifest=manifest, code=None, files={name: CODE})
    plugin = load_plugin(folder)
    assert (plugin.name, plugin.state, plugin.faults) == ("folder", "loaded", ())


def test_without_entry_point_two_files_are_a_fault(tmp_path: Path) -> None:
    manifest = {"commandIdentifier": "greet", "description": "Greet.", "parameter": "a name"}
    folder = write_plugin(tmp_path / "two", manifest=manifest, files={"other.py": CODE})
    assert errors(load_plugin(folder)) == [
        "two/two.py: NIT550: is missing, and the folder has 2 .py files"
        " (call the one with the tools two.py, or name it in entryPoint)"
    ]


def test_a_missing_dependency_is_listed_with_the_command_that_brings_it(tmp_path: Path) -> None:
    requires = [
        {"import": "no_such_package_of_nit", "install": "nit-kernel[nothing]"},
        {"import": "no_such_either", "install": "other>=2", "without": "no pictures"},
    ]
    folder = write_plugin(tmp_path / "poor", manifest=description("poor", requires=requires))
    plugin = load_plugin(folder)
    assert [str(fault) for fault in plugin.faults] == [
        "poor/description.json: NIT559: needs `no_such_package_of_nit`, which cannot be imported"
        ' here (run `pip install "nit-kernel[nothing]"`)',
        "poor/description.json: NIT559 note: without `no_such_either`: no pictures"
        ' (run `pip install "other>=2"`)',
    ]
    assert [fault.severity for fault in plugin.faults] == ["error", "note"]


def test_what_the_code_cannot_do_without_becomes_required(tmp_path: Path) -> None:
    schema = [
        {
            "name": "greet",
            "parameters": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "times": {}},
            },
        }
    ]
    plugin = load_plugin(write_plugin(tmp_path / "lax", schema=schema))
    assert tool_of(plugin).spec.required == {"name"}
    assert [str(fault) for fault in plugin.faults] == [
        "lax/schema.json: NIT560 note: `greet` cannot do without `name`: required, though not"
        ' listed so (add it to "required")'
    ]


def schema_of(plugin: Plugin) -> dict[str, Any]:
    assert errors(plugin) == []
    return tool_of(plugin).spec.parameters


CODE_SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "times": {"type": "integer", "default": 1}},
    "required": ["name"],
    "additionalProperties": False,
}


def test_without_any_schema_the_signature_decides(tmp_path: Path) -> None:
    manifest = {"commandIdentifier": "greet"}
    folder = write_plugin(
        tmp_path / "ok_one", manifest=manifest, schema=False, code=None, files={"ok_one.py": CODE}
    )
    plugin = load_plugin(folder)
    assert schema_of(plugin) == CODE_SCHEMA
    assert tool_of(plugin).spec.description == "Greet somebody."
    assert [str(fault) for fault in plugin.faults] == [
        "ok_one/description.json: NIT560 note: `greet` has no description for the model"
        " (say when to use it; its docstring stands in)",
        "ok_one/schema.json: NIT560 note: is missing: types are taken from the code (write"
        " schema.json: it decides how arguments are converted)",
    ]


def test_a_schema_that_declares_nothing_is_taken_from_the_code(tmp_path: Path) -> None:
    for number, parameters in enumerate(({}, {"type": "object"})):
        schema = [{"name": "greet", "parameters": parameters}]
        plugin = load_plugin(write_plugin(tmp_path / f"bare{number}", schema=schema))
        assert schema_of(plugin) == CODE_SCHEMA
        assert [fault.severity for fault in plugin.faults] == ["note"]


def test_words_get_the_types_of_the_code(tmp_path: Path) -> None:
    manifest = description("words")
    manifest["capabilities"]["invocationCommands"][0]["parameters"] = {
        "name": "who is greeted",
        "times": "how often",
    }
    plugin = load_plugin(write_plugin(tmp_path / "words", manifest=manifest, schema=False))
    assert schema_of(plugin) == {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "who is greeted"},
            "times": {"type": "integer", "default": 1, "description": "how often"},
        },
        "required": ["name"],
    }
    assert [fault.code for fault in plugin.faults] == ["NIT560", "NIT560"]


def test_a_function_gets_what_its_hints_say(tmp_path: Path) -> None:
    code = """
from datetime import date
def greet(name: date, times: "list[date] | None" = None):
    return (type(name).__name__, name.year)
"""
    schema = [
        {
            "name": "greet",
            "parameters": {
                "type": "object",
                "properties": {"name": {"type": "string", "format": "date"}, "times": {}},
                "required": ["name"],
            },
        }
    ]
    plugin = load_plugin(write_plugin(tmp_path / "dated", code=code, schema=schema))
    assert errors(plugin) == []
    assert tool_of(plugin).call(name="2026-05-01") == ("date", 2026)


def test_a_function_that_takes_any_names_is_open(tmp_path: Path) -> None:
    code = "def greet(**words): return words\n"
    plugin = load_plugin(write_plugin(tmp_path / "open", code=code, schema=False))
    assert errors(plugin) == []
    assert tool_of(plugin).spec.is_open
    plugin = load_plugin(write_plugin(tmp_path / "declared", code=code))
    assert errors(plugin) == []
    assert not tool_of(plugin).spec.is_open
    plugin = load_plugin(
        write_plugin(tmp_path / "starred", code="def greet(*n): ...", schema=False)
    )
    assert [fault.code for fault in plugin.faults if fault.severity == "error"] == ["NIT557"]


def test_context_is_no_parameter_of_the_schema(tmp_path: Path) -> None:
    code = "def greet(name, ctx, times=1): ctx.log(name)\n"
    plugin = load_plugin(write_plugin(tmp_path / "context", code=code))
    assert (plugin.faults, tool_of(plugin).context) == ((), "ctx")
    declared = [
        {
            "name": "greet",
            "parameters": {"type": "object", "properties": {"ctx": {"type": "string"}}},
        }
    ]
    plugin = load_plugin(
        write_plugin(tmp_path / "own", code="def greet(ctx): ...", schema=declared)
    )
    assert (plugin.state, tool_of(plugin).context) == ("loaded", None)


def test_tools_may_be_coroutines_and_generators(tmp_path: Path) -> None:
    code = """
import functools
async def one(): return 1
def two():
    yield 2
async def three():
    yield 3
four = functools.partial(lambda n: n, n=4)
"""
    names = ("one", "two", "three", "four")
    plugin = load_plugin(
        write_plugin(
            tmp_path / "many",
            manifest=several("many", *names),
            schema=tools_schema(*names),
            code=code,
        )
    )
    assert errors(plugin) == []
    assert [(t.name, t.is_async, t.is_generator) for t in plugin.tools] == [
        ("one", True, False),
        ("two", False, True),
        ("three", True, True),
        ("four", False, False),
    ]
    assert asyncio.run(tool_of(plugin, "one").call()) == 1  # type: ignore[arg-type]


def test_a_plugin_that_breaks_the_loader_itself_is_a_fault_of_that_plugin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    real = plugins_module.read_manifest

    def read(folder: Path, faults: FaultList) -> object:
        if folder.name == "odd":
            raise KeyError("never thought of")
        return real(folder, faults)

    monkeypatch.setattr(plugins_module, "read_manifest", read)
    write_plugin(tmp_path / "even")
    write_plugin(tmp_path / "odd")
    plugins, _ = load(tmp_path)
    assert states(plugins) == {"even": "loaded", "odd": "failed"}
    assert errors(plugins.all[1])[0].endswith("cannot be loaded: KeyError: 'never thought of'")
    assert "never thought of" in caplog.text


def test_a_package_that_is_installed_meanwhile_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))
    code = "import nit_test_installed_later\n" + CODE
    folder = write_plugin(tmp_path / "later", code=code)
    plugins, _ = load(folder)
    assert states(plugins) == {"later": "failed"}
    (site / "nit_test_installed_later.py").write_text("", encoding="utf-8")
    assert plugins.reload().added == ("later",)
    sys.modules.pop("nit_test_installed_later")


def test_reload_takes_what_is_new_changed_and_gone(tmp_path: Path) -> None:
    changing = write_plugin(tmp_path / "changing")
    write_plugin(tmp_path / "going")
    same = write_plugin(tmp_path / "same")
    plugins, registry = load(tmp_path)
    kept = registry.resolve("same.greet")
    # As many characters, within the same second: only the content tells.
    (changing / "code.py").write_text(CODE.replace("hello", "HELLO"), encoding="utf-8")
    for part in (tmp_path / "going").iterdir():
        part.unlink()
    (tmp_path / "going").rmdir()
    write_plugin(tmp_path / "coming")
    reloaded = plugins.reload()
    assert (reloaded.added, reloaded.changed, reloaded.removed) == (
        ("coming",),
        ("changing",),
        ("going",),
    )
    changed = registry.resolve("changing.greet")
    assert isinstance(changed, Tool)
    assert changed.call(name="you") == "HELLO you"
    assert registry.resolve("same.greet") is kept
    assert isinstance(registry.resolve("going.greet"), Missing)
    assert isinstance(registry.resolve("coming.greet"), Tool)
    again = plugins.reload()
    assert (again.added, again.changed, again.removed) == ((), (), ())
    assert same.exists()


def test_a_change_in_a_file_beside_the_code_counts(tmp_path: Path) -> None:
    code = "from .words import HELLO\ndef greet(name, times=1): return HELLO\n"
    folder = write_plugin(tmp_path / "greeter", code=code, files={"words.py": "HELLO = 'hello'"})
    plugins, registry = load(folder)
    (folder / "words.py").write_text("HELLO = 'HELLO'", encoding="utf-8")
    assert plugins.reload().changed == ("greeter",)
    tool = registry.resolve("greet")
    assert isinstance(tool, Tool)
    assert tool.call(name="x") == "HELLO"


def test_a_broken_plugin_is_tried_again(tmp_path: Path) -> None:
    folder = write_plugin(tmp_path / "greeter", code="1 / 0")
    plugins, registry = load(folder)
    (folder / "code.py").write_text(CODE, encoding="utf-8")
    assert plugins.reload().added == ("greeter",)
    assert isinstance(registry.resolve("greet"), Tool)
    (folder / "code.py").write_text("1 / 0", encoding="utf-8")
    assert plugins.reload().removed == ("greeter",)
    assert isinstance(registry.resolve("greet"), Disabled)


def test_a_call_that_runs_while_its_plugin_is_reloaded_goes_on(tmp_path: Path) -> None:
    code = "def greet(name, times=1):\n    from . import words\n    return words.HELLO\n"
    folder = write_plugin(tmp_path / "greeter", code=code, files={"words.py": "HELLO = 1\n"})
    plugins, registry = load(folder)
    old = registry.resolve("greet")
    (folder / "description.json").write_text(
        (folder / "description.json").read_text("utf-8").replace("1.0.0", "1.0.1"), encoding="utf-8"
    )
    plugins.reload()
    assert isinstance(old, Tool)
    assert old.call(name="x") == 1


def test_closing_lets_go_of_the_code(tmp_path: Path) -> None:
    plugins, _ = load(write_plugin(tmp_path / "greeter_to_close"))
    assert [n for n in sys.modules if "greeter_to_close" in n]
    plugins.close()
    assert not [n for n in sys.modules if "greeter_to_close" in n]


def test_the_name_of_another_source_is_a_fault(tmp_path: Path) -> None:
    registry = Registry()
    registry.register("Greeter!", "server", [])
    registry.register("greeter_", "server", [])
    plugins = Plugins(registry)
    plugins.load([write_plugin(tmp_path / "Greeter")])
    assert states(plugins) == {"Greeter": "failed"}
    assert [fault.code for fault in plugins.faults] == ["NIT551"]


def test_a_plugin_may_be_chinese(tmp_path: Path) -> None:
    code = CODE.replace("greet", "问候")
    manifest = several("天气", "问候")
    schema = [{**SCHEMA[0]["function"], "name": "问候"}]
    plugins, registry = load(
        write_plugin(tmp_path / "天气", manifest=manifest, schema=schema, code=code)
    )
    assert states(plugins) == {"天气": "loaded"}
    assert isinstance(registry.resolve("天气.问候"), Tool)
    assert isinstance(registry.resolve("问候"), Tool)
