"""Faults that users of such software reported, as far as parsing decides them."""

import json
import re
from pathlib import Path

from language.reading import PlainHost

from nit_kernel._syntax import CALL, Script, parse


def cases(shared: Path, kind: str) -> list[dict]:
    lines = (shared / "cases/bugs.jsonl").read_text("utf-8").split("\n")
    return [case for case in map(json.loads, filter(None, lines)) if case["kind"] == kind]


def calls(script: Script) -> list[dict]:
    """The calls of a script that holds literals only."""
    found = []
    for number in range(script.step_count):
        kind, shape, *_ = script.step(number)
        assert kind == CALL
        names = script.shapes[shape].names
        arguments = script.arguments(number, names, (), PlainHost())
        found.append({"name": script.shapes[shape].tool, "args": arguments})
    return found


def holds(source: str, wanted: dict) -> bool:
    """Whether a script comes out as a case wants it."""
    if "any" in wanted:
        return any(holds(source, one) for one in wanted["any"])
    script = parse(source)
    if "calls" in wanted:
        return script.ok and calls(script) == wanted["calls"]
    said = "\n".join(item.render() + "\n" + item.terse() for item in script.diagnostics)
    return not script.ok and all(re.search(text, said) for text in wanted["error_mentions"])


def test_every_reported_fault_of_syntax_comes_out_right(shared: Path) -> None:
    checked = 0
    for case in cases(shared, "syntax"):
        given, right = case["input"], case["right"]
        scripts = [one["script"] for one in given.get("cases", [given])]
        outcomes = right.get("cases") or [{"any": right["expect_any"]}]
        for source, wanted in zip(scripts, outcomes, strict=True):
            assert holds(source, wanted), (case["id"], source, parse(source).diagnostics)
            checked += 1
    assert checked >= 4


def test_no_script_gets_at_python(shared: Path) -> None:
    """What has to be refused, is; calls of tools that do not exist are left to the checks."""
    for case in cases(shared, "security"):
        for source in case["input"].get("scripts", ()):
            script = parse(source)
            if script.ok:
                assert source in (
                    'open(path="/etc/passwd")',
                    'echo(msg=$x["__class__"])',
                    "getattr(a=1)",
                )
