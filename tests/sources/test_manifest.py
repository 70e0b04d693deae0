"""description.json and schema.json: every known shape, and every fault with its place."""

import json
from pathlib import Path

import pytest
from sources.folders import CODE, SCHEMA, description, write_plugin

from nit_kernel.sources.manifest import read_manifest
from nit_kernel.sources.plugin_faults import FaultList

PARAMETERS = SCHEMA[0]["function"]["parameters"]


def read(folder: Path) -> tuple[dict[str, object], list[str]]:
    """Name to parameters of each command, and the faults as text."""
    faults = FaultList(folder.name)
    manifest = read_manifest(folder.resolve(), faults)
    commands = (
        {}
        if manifest is None
        else {
            command.name: None if command.parameters is None else command.parameters.schema
            for command in manifest.commands
        }
    )
    return commands, [str(fault) for fault in faults.faults]


def test_todays_manifest_is_read_whole(tmp_path: Path) -> None:
    manifest = description(
        displayName="Greeter",
        platforms=["linux", "macos"],
        requires=["httpx>=1", {"import": "PIL", "install": "pillow", "without": "no pictures"}],
    )
    command = manifest["capabilities"]["invocationCommands"][0]
    command |= {"timeout": 30, "sideEffects": "none", "confirm": True}
    faults = FaultList("x")
    read_ = read_manifest(write_plugin(tmp_path / "greeter", manifest=manifest), faults)
    assert read_ is not None
    assert faults.faults == []
    assert (read_.name, read_.display_name, read_.version) == ("greeter", "Greeter", "1.0.0")
    assert (read_.kind, read_.entry_point, read_.is_enabled) == ("python-module", "code.py", True)
    assert read_.platforms == ("linux", "macos")
    assert [(r.module, r.install, r.without) for r in read_.requirements] == [
        ("httpx", "httpx>=1", None),
        ("PIL", "pillow", "no pictures"),
    ]
    (tool,) = read_.commands
    assert (tool.name, tool.description) == ("greet", "Greet somebody.")
    assert tool.parameter_text == "the name (name), how often (times)"
    assert tool.parameters is not None
    assert tool.parameters.schema == PARAMETERS
    assert (tool.timeout_s, tool.side_effects, tool.confirm) == (30.0, "none", True)


@pytest.mark.parametrize(
    "document",
    [
        {"commandIdentifier": "greet", "description": "Greet.", "parameter": "the name"},
        [{"commandIdentifier": "greet", "description": "Greet.", "parameter": "the name"}],
    ],
    ids=["an object", "a list"],
)
def test_the_three_core_fields_alone_are_a_manifest(tmp_path: Path, document: object) -> None:
    folder = write_plugin(tmp_path / "greeter", manifest=document)
    faults = FaultList("x")
    manifest = read_manifest(folder, faults)
    assert manifest is not None
    assert (manifest.name, manifest.entry_point) == ("greeter", None)
    assert [c.name for c in manifest.commands] == ["greet"]
    assert manifest.commands[0].parameter_text == "the name"
    assert faults.faults == []


GREET = {"name": "greet", "description": "Greet."}
TYPED = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "who"},
        "times": {"type": "integer", "default": 1},
    },
    "required": ["name"],
}


@pytest.mark.parametrize(
    ("command", "schema"),
    [
        ({"parameters": TYPED}, TYPED),
        ({"inputSchema": TYPED}, TYPED),
        (
            {
                "params": [
                    {"name": "name", "type": "string", "description": "who", "required": True},
                    {"name": "times", "type": "int", "default": 1, "required": False},
                ]
            },
            TYPED,
        ),
        (
            {
                "parameters": {
                    "name": {"type": "string", "description": "who"},
                    "times": {"type": "integer", "default": 1},
                },
                "required": ["name"],
            },
            TYPED,
        ),
        (
            {
                "parameters": {
                    "name": {"type": "str", "description": "who"},
                    "times": {"type": "int", "default": 1},
                    "required": ["name"],
                }
            },
            TYPED,
        ),
        (
            {"parameters": {"name": "who", "times": "how often"}},
            {
                "type": "object",
                "properties": {
                    "name": {"description": "who"},
                    "times": {"description": "how often"},
                },
            },
        ),
        (
            {"parameters": {"name": {"type": "string|null"}, "times": {"type": "any"}}},
            {"type": "object", "properties": {"name": {"type": ["string", "null"]}, "times": {}}},
        ),
        (
            {"parameters": {"kind": {"type": "string", "enum": ["a", "b"]}}},
            {"type": "object", "properties": {"kind": {"type": "string", "enum": ["a", "b"]}}},
        ),
        ({}, None),
        ({"parameter": "who is greeted"}, None),
    ],
    ids=[
        "a JSON Schema",
        "MCP's inputSchema",
        "a list",
        "a map beside a required list",
        "a map with a required list in it",
        "a map to free text",
        "unions and any",
        "an enum",
        "nothing",
        "free text",
    ],
)
def test_older_shapes_of_parameters_are_read(
    tmp_path: Path, command: dict[str, object], schema: object
) -> None:
    manifest = {"name": "old", "tools": [{**GREET, **command}]}
    commands, faults = read(write_plugin(tmp_path / "old", manifest=manifest, schema=False))
    assert commands == {"greet": schema}
    assert faults[0] == (
        "old/description.json: NIT560 note: an older manifest: its tools stand under `tools` (the"
        " place of today is capabilities.invocationCommands)"
    )


def test_types_that_json_does_not_have_are_left_to_the_code(tmp_path: Path) -> None:
    parameters = {"day": {"type": "date", "description": "which"}, "n": {"type": "Integer"}}
    manifest = {"name": "old", "tools": [{**GREET, "parameters": parameters}]}
    commands, faults = read(write_plugin(tmp_path / "old", manifest=manifest, schema=False))
    assert commands == {
        "greet": {
            "type": "object",
            "properties": {"day": {"description": "which"}, "n": {"type": "integer"}},
        }
    }
    assert faults[1] == (
        "old/description.json: NIT560 note: `tools[0].parameters.day.type`: 'date' is no JSON type"
    )


@pytest.mark.parametrize(
    ("parameters", "names"),
    [
        ({"type": {"type": "string"}, "size": {"type": "integer"}}, ["type", "size"]),
        ({"type": "what kind", "size": "how large"}, ["type", "size"]),
        ({"properties": {"type": "array", "description": "which"}}, ["properties"]),
        ({"required": {"type": "boolean"}, "title": {"type": "string"}}, ["required", "title"]),
        ({"type": "object", "properties": {"type": {"type": "string"}}}, ["type"]),
        ({"description": {"type": "string"}}, ["description"]),
    ],
)
def test_a_parameter_may_be_called_like_a_word_of_json_schema(
    tmp_path: Path, parameters: dict[str, object], names: list[str]
) -> None:
    manifest = {"name": "old", "tools": [{**GREET, "parameters": parameters}]}
    commands, _ = read(write_plugin(tmp_path / "old", manifest=manifest, schema=False))
    schema = commands["greet"]
    assert isinstance(schema, dict)
    assert list(schema["properties"]) == names


@pytest.mark.parametrize(
    "document",
    [
        {"name": "old", "methods": [{**GREET, "parameters": TYPED}]},
        {"name": "old", "tools": {"greet": {"description": "Greet.", "parameters": TYPED}}},
        {
            "name": "old",
            "toolDefinitions": [{"type": "function", "function": {**GREET, "parameters": TYPED}}],
        },
        {"name": "old", "capabilities": {"toolDefinitions": [{**GREET, "parameters": TYPED}]}},
    ],
    ids=["methods", "a map of tools", "toolDefinitions", "toolDefinitions among capabilities"],
)
def test_older_places_of_commands_are_read(tmp_path: Path, document: object) -> None:
    commands, faults = read(write_plugin(tmp_path / "old", manifest=document, schema=False))
    assert commands == {"greet": TYPED}
    assert len(faults) == 2
    assert "an older manifest: its tools stand under" in faults[0]
    assert faults[1] == (
        "old/schema.json: NIT560 note: is missing: types are taken from the manifest (write"
        " schema.json: it decides how arguments are converted)"
    )


INNER = SCHEMA[0]["function"]


@pytest.mark.parametrize(
    "schema",
    [
        SCHEMA,
        [INNER],
        INNER,
        {"tools": SCHEMA},
        [{"name": "greet", "inputSchema": PARAMETERS}],
        {
            "tools": [
                {"name": "greet", "inputSchema": PARAMETERS, "outputSchema": {"type": "string"}}
            ]
        },
        [{"type": "function", "function": {**INNER, "returns": {"type": "string"}}}],
    ],
    ids=["wrapped", "bare", "one", "under tools", "MCP", "MCP under tools", "with returns"],
)
def test_all_shapes_of_schema_json_are_read(tmp_path: Path, schema: object) -> None:
    commands, faults = read(write_plugin(tmp_path / "greeter", schema=schema))
    assert commands == {"greet": PARAMETERS}
    assert faults == []


def test_the_schema_of_the_result_stands_beside_the_parameters(tmp_path: Path) -> None:
    schema = [{"type": "function", "function": {**INNER, "returns": {"type": "string"}}}]
    manifest = read_manifest(write_plugin(tmp_path / "a", schema=schema), FaultList("a"))
    assert manifest is not None
    assert manifest.commands[0].returns == {"type": "string"}


def test_schema_json_decides_where_both_parts_have_parameters(tmp_path: Path) -> None:
    manifest = description()
    manifest["capabilities"]["invocationCommands"][0]["parameters"] = {"nam": {"type": "string"}}
    commands, faults = read(write_plugin(tmp_path / "greeter", manifest=manifest))
    assert commands == {"greet": PARAMETERS}
    assert faults == [
        "greeter/schema.json: NIT560 note: `greet`: description.json and schema.json differ on"
        " `nam`, `name`, `times` (schema.json decides)"
    ]


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        (
            {"manifest": '{\n  "name": "bad",\n  "tools": [}\n'},
            "bad/description.json:3:13: NIT553: is not JSON: Expecting value"
            " (correct the JSON at this place)",
        ),
        (
            {"schema": "{not json"},
            "bad/schema.json:1:2: NIT553: is not JSON: Expecting property name enclosed in double"
            " quotes (correct the JSON at this place)",
        ),
        (
            {"manifest": '{"name": "bad",\n "timeout": NaN}'},
            "bad/description.json:2:13: NIT553: is not JSON: `NaN` is no JSON value"
            " (correct the JSON at this place)",
        ),
        (
            {"manifest": "null"},
            "bad/description.json:1:1: NIT553: holds only `null` (correct the JSON at this place)",
        ),
        (
            {"manifest": "[" * 100_000},
            "bad/description.json: NIT553: is not usable: brackets are nested too deeply"
            " (correct the JSON at this place)",
        ),
        (
            {"manifest": '{"name": "bad", "description": "\\ud83d"}'},
            "bad/description.json: NIT553: is not JSON: `\\ud83d` is half a character"
            " (correct the JSON at this place)",
        ),
        (
            {"manifest": {"name": "bad"}},
            "bad/description.json: NIT550: describes no tools"
            " (list them under capabilities.invocationCommands)",
        ),
        (
            {"manifest": description("../evil")},
            "bad/description.json: NIT555: the plugin's name '../evil' is no identifier"
            ' (give it a "name" of letters, digits and `_`)',
        ),
        (
            {"manifest": description("notebook")},
            "bad/description.json: NIT555: the plugin's name 'notebook' is a word of the language"
            ' (give it another "name")',
        ),
        (
            {"manifest": {"commandIdentifier": "../outside"}},
            "bad/description.json: NIT555: `commandIdentifier` '../outside' is no identifier"
            " (it is the name of a function in the plugin's code)",
        ),
        (
            {"manifest": {"commandIdentifier": "__import__"}},
            "bad/description.json: NIT555: `commandIdentifier` '__import__' is no identifier"
            " (it is the name of a function in the plugin's code)",
        ),
        (
            {"manifest": {"commandIdentifier": 5}},
            "bad/description.json: NIT554: `commandIdentifier`: wanted a function's name, got 5",
        ),
        (
            {"manifest": "7"},
            "bad/description.json: NIT554: `the file`: wanted an object or a list of tools, got 7",
        ),
        (
            {"manifest": description(pluginType="mcp-stdio", entryPoint=["node", "x.js"])},
            "bad/description.json: NIT554: plugins of the kind `mcp-stdio` cannot be run by this"
            ' version (write the tools in Python and say `"pluginType": "python-module"`)',
        ),
        (
            {"manifest": description(pluginType="wasm")},
            "bad/description.json: NIT554: `pluginType`: wanted `python-module`, got 'wasm'"
            ' (say `"pluginType": "python-module"`, or leave the field out)',
        ),
        (
            {"manifest": description(platforms=["solaris"])},
            "bad/description.json: NIT554: `platforms`: wanted a list of linux, windows, macos,"
            " got ['solaris']",
        ),
        (
            {"manifest": description(enabled="no")},
            "bad/description.json: NIT554: `enabled`: wanted true or false, got 'no'",
        ),
        (
            {"manifest": description(entryPoint="a\0b.py")},
            "bad/description.json: NIT554: `entryPoint`: wanted the name of a .py file,"
            " got 'a\\x00b.py'",
        ),
        (
            {"manifest": {"name": "bad", "tools": [{**GREET, "parameters": 7}]}},
            "bad/description.json: NIT554: `tools[0].parameters`: wanted a JSON Schema object, a"
            " map or a list, got 7",
        ),
        (
            {"manifest": {"name": "bad", "tools": [{**GREET, "timeout": -1}]}},
            "bad/description.json: NIT554: `tools[0].timeout`: wanted a number of seconds above 0,"
            " got -1",
        ),
        (
            {"manifest": {"name": "bad", "tools": [{**GREET, "sideEffects": True}]}},
            "bad/description.json: NIT554: `tools[0].sideEffects`: wanted none, local or external,"
            " got True",
        ),
        (
            {"manifest": {"name": "bad", "tools": [GREET, GREET]}},
            "bad/description.json: NIT552: `greet` stands there twice"
            " (give each tool a name of its own)",
        ),
        (
            {"schema": []},
            "bad/schema.json: NIT557: has no entry for `greet` (add its schema)",
        ),
        (
            {"schema": [{**INNER, "name": "gret"}]},
            "bad/schema.json: NIT557: `gret` is not described in description.json"
            " (did you mean `greet`?)",
        ),
        (
            {"schema": [INNER, INNER]},
            "bad/schema.json: NIT552: `greet` stands there twice"
            " (give each tool a name of its own)",
        ),
        (
            {"schema": [{"description": "no name"}]},
            'bad/schema.json: NIT554: `[0]`: wanted a tool with a "name" and "parameters",'
            " got {'description': 'no name'}",
        ),
    ],
)
def test_a_fault_says_where_it_is_and_what_to_do(
    tmp_path: Path, changes: dict[str, object], fault: str
) -> None:
    _, faults = read(write_plugin(tmp_path / "bad", **changes))  # type: ignore[arg-type]
    errors = [text for text in faults if " note: " not in text]
    assert errors[:1] == [fault]


def test_a_missing_description_is_a_fault(tmp_path: Path) -> None:
    folder = write_plugin(tmp_path / "bare")
    (folder / "description.json").unlink()
    assert read(folder) == (
        {},
        [
            "bare/description.json: NIT550: is missing: every plugin has one (write one, or see how"
            " `nit new-plugin bare` does)"
        ],
    )


def test_text_that_is_not_utf_8_is_a_fault_with_its_place(tmp_path: Path) -> None:
    folder = write_plugin(tmp_path / "latin")
    (folder / "description.json").write_bytes(b'{\n "name": "caf\xe9"}')
    _, faults = read(folder)
    assert faults == [
        "latin/description.json:2:14: NIT553: is not UTF-8 text (byte 0xe9)"
        " (correct the JSON at this place)"
    ]


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    text = "\ufeff" + json.dumps(description("marked"))
    commands, faults = read(write_plugin(tmp_path / "marked", manifest=text))
    assert (list(commands), faults) == (["greet"], [])


def test_a_part_that_is_a_link_to_the_outside_is_not_read(tmp_path: Path) -> None:
    outside = tmp_path / "outside.json"
    outside.write_text(json.dumps(SCHEMA), encoding="utf-8")
    folder = write_plugin(tmp_path / "linked", schema=False)
    (folder / "schema.json").symlink_to(outside)
    _, faults = read(folder)
    assert faults == [
        f"linked/schema.json: NIT556: `schema.json` leads to `{outside}`, outside the plugin's"
        " folder (keep every file of a plugin inside the plugin's own folder)"
    ]


def test_a_part_that_is_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    import os

    folder = write_plugin(tmp_path / "piped", schema=False)
    os.mkfifo(folder / "schema.json")
    _, faults = read(folder)
    assert faults == ["piped/schema.json: NIT550: is no regular file (put a plain file there)"]


def test_a_hyphen_in_the_name_becomes_an_underscore(tmp_path: Path) -> None:
    document = {"commandIdentifier": "greet", "description": "Greet.", "parameter": ""}
    faults = FaultList("x")
    manifest = read_manifest(write_plugin(tmp_path / "my-plugin", manifest=document), faults)
    assert manifest is not None
    assert manifest.name == "my_plugin"
    assert [str(fault) for fault in faults.faults] == [
        "my-plugin/description.json: NIT560 note: the folder's name `my-plugin` is written"
        " `my_plugin` in a script"
    ]


def test_the_code_of_a_manifest_is_never_run_by_reading_it(tmp_path: Path) -> None:
    folder = write_plugin(tmp_path / "quiet", code=CODE + "\nraise SystemExit(3)\n")
    commands, faults = read(folder)
    assert (list(commands), faults) == (["greet"], [])
