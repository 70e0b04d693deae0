"""Older manifests: what stands in them empty, null or twice."""

from pathlib import Path
from typing import Any

import pytest
from sources.folders import description, write_plugin

from nit_kernel.sources.plugins import Plugin, load_plugin

TYPED = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "times": {"type": "integer", "default": None}},
    "required": ["name"],
}


def loaded(tmp_path: Path, manifest: object) -> tuple[Plugin, list[str]]:
    plugin = load_plugin(write_plugin(tmp_path / "old", manifest=manifest, schema=False))
    return plugin, [fault.message for fault in plugin.faults]


def one_tool(**fields: Any) -> dict[str, Any]:
    return {"name": "old", "tools": [{"name": "greet", "description": "Greet.", **fields}]}


def described(name: str = "greet", **fields: Any) -> dict[str, Any]:
    return {"name": name, "description": "Greet.", **fields}


@pytest.mark.parametrize("key", ["params", "parameters", "inputSchema"])
@pytest.mark.parametrize("nothing", [[], {}, {"type": "object", "properties": None}])
def test_a_command_without_any_parameters_has_those_of_the_code(
    tmp_path: Path, key: str, nothing: object
) -> None:
    plugin, _ = loaded(tmp_path, one_tool(**{key: nothing}))
    (tool,) = plugin.tools
    assert plugin.state == "loaded"
    assert tool.spec.signature() == "greet(name: str, times: int = 1)"


NULLS = {"type": "integer", "description": None, "enum": None, "required": None, "default": None}


@pytest.mark.parametrize(
    ("fields", "times"),
    [
        ({"parameters": {"name": {"type": "str"}, "times": NULLS}}, "int = null"),
        ({"params": [{"name": "name", "type": "str"}, {"name": "times", **NULLS}]}, "int = null"),
        (
            {
                "parameters": {
                    "type": "object",
                    "title": None,
                    "required": None,
                    "properties": {"name": {"type": "string"}, "times": NULLS},
                }
            },
            "int = null",
        ),
        (
            {
                "parameters": {
                    "type": "object",
                    "properties": {
                        "name": {"type": "string", "format": None},
                        "times": {
                            "anyOf": [NULLS, {"type": "array", "items": {"minimum": None, **NULLS}}]
                        },
                    },
                }
            },
            "int | list[int] = null",
        ),
        ({"parameters": {"name": {"type": "str"}, "times": {"const": None}}}, "null = null"),
    ],
)
def test_a_field_that_is_null_is_none(tmp_path: Path, fields: Any, times: str) -> None:
    plugin, _ = loaded(tmp_path, one_tool(**fields))
    assert [fault for fault in plugin.faults if fault.severity == "error"] == []
    (tool,) = plugin.tools
    assert tool.spec.signature() == f"greet(name: str, times: {times})"


@pytest.mark.parametrize("nothing", [[], {}, None])
@pytest.mark.parametrize("key", ["tools", "methods", "toolDefinitions"])
def test_an_empty_list_of_commands_hides_no_other(
    tmp_path: Path, nothing: object, key: str
) -> None:
    tools = [described(parameters=TYPED)]
    manifest = {"name": "old", "capabilities": {"invocationCommands": nothing}, key: tools}
    plugin, faults = loaded(tmp_path, manifest)
    assert [tool.name for tool in plugin.tools] == ["greet"]
    assert faults[0] == f"an older manifest: its tools stand under `{key}`"


def test_only_empty_lists_of_commands_describe_no_tools(tmp_path: Path) -> None:
    manifest = {"name": "old", "capabilities": {"invocationCommands": []}, "tools": {}}
    _, faults = loaded(tmp_path, manifest)
    assert "describes no tools" in faults


def test_types_beside_the_words_are_read(tmp_path: Path) -> None:
    types = {"type": "function", "function": described(parameters=TYPED)}
    manifest = description("old", toolDefinitions=[types])
    plugin, faults = loaded(tmp_path, manifest)
    (tool,) = plugin.tools
    assert tool.spec.parameters == TYPED
    assert tool.spec.parameter_text == "the name (name), how often (times)"
    assert faults == [
        "an older manifest: the parameters of `greet` stand under `toolDefinitions[0].function`",
        "is missing: types are taken from the manifest",
    ]


def test_types_beside_others_are_noted(tmp_path: Path) -> None:
    words = [described(parameters=TYPED)]
    types = [described(parameters={}), described("wave"), 7]
    capabilities = {"invocationCommands": words, "toolDefinitions": types}
    plugin, faults = loaded(tmp_path, {"name": "old", "capabilities": capabilities})
    (tool,) = plugin.tools
    assert tool.spec.parameters == TYPED
    assert faults == [
        "`capabilities.toolDefinitions[0]` is not read: `greet` has its parameters under"
        " `capabilities.invocationCommands`",
        "`capabilities.toolDefinitions[1]` is not read: `capabilities.invocationCommands` has no"
        " `wave`",
        "is missing: types are taken from the manifest",
    ]


@pytest.mark.parametrize(
    "field", ["pluginType", "enabled", "requires", "platforms", "entryPoint", "displayName"]
)
def test_a_null_field_of_the_plugin_is_left_out(tmp_path: Path, field: str) -> None:
    manifest = {"pluginType": "python-module", **description("old")}
    del manifest["entryPoint"]
    plugin, _ = loaded(tmp_path, {**manifest, field: None})
    assert plugin.state == "loaded"


def test_a_kind_of_plugin_that_is_none_is_shown_as_it_is(tmp_path: Path) -> None:
    _, faults = loaded(tmp_path, description("old", pluginType=5))
    assert faults == ["`pluginType`: wanted `python-module`, got 5"]
