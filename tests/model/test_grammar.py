"""The grammars that hold a model to valid scripts, in the engines that servers use."""

import json
import random
from pathlib import Path

import pytest
from grammar_engines import Derivations, LarkGrammar, LlamaGrammar

from nit_kernel import Tool, check
from nit_kernel._syntax import Block, StreamFilter, Unclosed, parse
from nit_kernel.language.schema import ToolSpec
from nit_kernel.model.grammar import grammar

ID = "A1B2"
EQUAL_KEYS = "NIT221"
MISSING_ARGUMENT, DOUBLED_ARGUMENT = "NIT311", "NIT312"
CONSTRAINT, UNDEFINED_VARIABLE = "NIT314", "NIT320"


def rows(folder: Path) -> list[dict]:
    found = []
    for path in sorted(folder.glob("*.jsonl")):
        found += [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]
    return found


def specs(tools: list[dict]) -> list[ToolSpec]:
    return [
        ToolSpec(name=t["name"], description=t["description"], parameters=t["parameters"])
        for t in tools
    ]


def reply(script: str) -> str:
    return f"Sure.\n<nit-{ID}>\n{script}\n</nit-{ID}>"


def object_schema(properties: dict, required: list[str] | None = None, **more: object) -> dict:
    return {"type": "object", "properties": properties, "required": required or [], **more}


TOOLS = [
    ToolSpec(
        name="get-weather",
        description="",
        parameters=object_schema(
            {
                "city": {"type": "string"},
                "days": {"type": "integer", "minimum": 1},
                "unit": {"enum": ["celsius", 'f "x"', "it's"]},
                "spots": {"type": "array", "items": {"type": "number"}},
                "options": {"type": "object"},
                "exact": {"type": "boolean"},
                "any": {},
            },
            ["city", "days"],
        ),
    ),
    ToolSpec(
        name="files.read", description="", parameters=object_schema({}, additionalProperties=True)
    ),
    ToolSpec(name="now", description="", parameters=object_schema({})),
    ToolSpec(
        name="class",
        description="",
        parameters=object_schema({"from": {"type": ["integer", "null"]}}),
    ),
]


def test_each_reply_of_a_table_is_taken_or_refused() -> None:
    gbnf, lark = LlamaGrammar(grammar(TOOLS, ID)), LarkGrammar(grammar(TOOLS, ID, "lark"))
    assert lark.error == ""
    statements = {
        'get_weather(city="Oslo", days=3)': True,
        "get_weather(days=3.0, city='Oslo')": True,
        "$w = async get_weather(city=$c.name[0], days=len)": False,
        'get_weather(city=f"{$c.name:>5} \\n", days=$d["k"][-1][1:])': True,
        "get_weather(days=3.5)": False,
        'get_weather(days="3")': False,
        "get_weather(days=null)": False,
        "get_weather(exact=null, exact=True)": True,
        'get_weather(unit="f \\"x\\"", unit=\'it\\\'s\', unit="it\'s")': True,
        'get_weather(unit="kelvin")': False,
        "get_weather(spots=[1, -2.5e3, $x])": True,
        'get_weather(spots=["1"])': False,
        'get_weather(options={a: 1, "b": [true], $k.x: (1, 2)})': True,
        'get_weather(any="""a "quoted"\ntext""")': True,
        'get_weather(any=r"\\d+", options=now().settings)': True,
        "get_weather(days=now())": True,
        "get_weather(wrong=1)": False,
        "get-weather(days=1)": False,
        "other(days=1)": False,
        "now()": True,
        "now(x=1)": False,
        "files_read(whatever={}, path=now( ))": True,
        "files.read()": False,
        'call("class", from=3)': True,
        "class(from=3)": False,
        "async now()": True,
        "now(\n)\n# why\n\n$x = 1; $x": True,
        "$x = $y[0].items[:3]": True,
        "$__x": False,
        "now() now()": False,
        "now(": False,
        "if $x: now()": False,
        "": False,
    }
    for statement, is_taken in statements.items():
        reply = f"Wait <b>.\n<nit-{ID}>\n{statement}\n</nit-{ID}> Done: 1 < 2."
        assert (statement, gbnf.accepts(reply), lark.accepts(reply)) == (
            statement,
            is_taken,
            is_taken,
        )
    for reply, is_taken in {
        "": True,
        "only prose, 3 < 4": True,
        "<nit-ZZZZ>now()</nit-ZZZZ>": False,
        f"<nit-{ID}>now()</nit-{ID}>": True,
        f"<nit-{ID}>now()": False,
        f"<nit-{ID}>now()</nit-{ID}><nit-{ID}>now()</nit-{ID}>": False,
    }.items():
        assert (reply, gbnf.accepts(reply), lark.accepts(reply)) == (reply, is_taken, is_taken)


def test_help_is_taken_where_it_is_wanted() -> None:
    for with_help in (False, True):
        lark = LarkGrammar(grammar(TOOLS, ID, "lark", with_help=with_help))
        asks = [lark.accepts(reply(f"help({name})")) for name in ('"get_weather"', "'now'", "'x'")]
        assert asks == [with_help, with_help, False]


def test_an_id_or_format_that_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="1 to 32 ASCII letters and digits"):
        grammar(TOOLS, "A-1")
    with pytest.raises(ValueError, match='"gbnf" or "lark", not "ebnf"'):
        grammar(TOOLS, ID, "ebnf")  # type: ignore[arg-type]


@pytest.mark.timeout(600)
def test_every_corpus_script_that_its_schemas_allow_is_taken(shared: Path) -> None:
    corpus = rows(shared / "corpus" / "scripts") + rows(shared / "corpus")
    records = [row for row in corpus if row.get("tools") and not row.get("refused")]
    refused = []
    count = 0
    for row in records:
        tools = specs(row["tools"])
        gbnf, lark = LlamaGrammar(grammar(tools, ID)), LarkGrammar(grammar(tools, ID, "lark"))
        assert gbnf.is_loaded
        assert lark.error == ""
        taken = {"gbnf": gbnf.accepts(reply(row["script"]))}
        for name, script in {"script": row["script"], **row.get("alts", {})}.items():
            taken[name] = lark.accepts(reply(script))
        if row["schema_ok"] and not all(taken.values()):
            refused.append((row["id"], taken))
        count += 1
        gbnf.close()
    assert refused == []
    assert count > 3_300


def test_derived_texts_parse_and_leave_to_check_what_no_grammar_can_see() -> None:
    gbnf = grammar(TOOLS, ID)
    derivations, rng = Derivations(gbnf), random.Random(20)
    engines = LlamaGrammar(gbnf), LarkGrammar(grammar(TOOLS, ID, "lark"))
    callable_tools = [Tool(s.name, s.name, s.parameters, dict) for s in TOOLS]
    found: set[str] = set()
    blocks = equal_keys = 0
    for _ in range(2_000):
        text = derivations.text(rng)
        assert [engine.accepts(text) for engine in engines] == [True, True], text
        stream = StreamFilter(ID)
        events = stream.feed(text) + stream.finish()
        scripts = [event.script for event in events if isinstance(event, Block)]
        assert not any(isinstance(event, Unclosed) for event in events), text
        for script in scripts:
            blocks += 1
            parsed = [d for d in parse(script).diagnostics if d.severity == "error"]
            # that two keys of a dict are equal is what no grammar can see
            assert [d.code for d in parsed if d.code != EQUAL_KEYS] == [], (script, parsed)
            equal_keys += bool(parsed)
            errors = [d for d in check(script, callable_tools) if d.severity == "error"]
            found.update(d.code for d in errors if d.code != EQUAL_KEYS)
    assert blocks > 900
    assert equal_keys < blocks / 100
    assert found == {MISSING_ARGUMENT, DOUBLED_ARGUMENT, CONSTRAINT, UNDEFINED_VARIABLE}


def test_what_is_no_tool_is_refused_with_what_would_be_one() -> None:
    with pytest.raises(TypeError, match=r"got function: .*session\.registry\.tools"):
        grammar([lambda x: x], "A1B2")  # pyright: ignore[reportArgumentType]
