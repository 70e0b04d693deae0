"""Every script of the corpus, in every spelling, makes exactly its calls and ends in its result.

Recording tools are made from each record's own `tools` and answer with its `outputs`. Where the
data set's arguments break their own schema, conversion without loss rescues the call, or there is a
clear error: before anything runs where the argument is a literal, else right before that call.
"""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import nit_kernel as nit

FILES = [
    "acebench",
    "apibank",
    "bfcl_multi_turn",
    "bfcl_multi_turn_flow",
    "bfcl_single",
    "complexfuncbench",
    "dag_llmcompiler",
    "dag_taskbench_plans",
    "dag_toollinkos",
    "hard_strings",
    "nestful",
    "sealtools",
    "taubench_flow",
]

Record = dict[str, Any]


class Recorder:
    """The tools of one record: they note how they are called and answer as the record says."""

    def __init__(self, record: Record) -> None:
        self.made: list[dict[str, Any]] = []
        self.outputs = record.get("outputs", [])
        self.schemas = {tool["name"]: tool["parameters"] for tool in tools_of(record)}
        self.session = nit.Session(tools=[self.make(tool) for tool in tools_of(record)])

    def make(self, tool: dict[str, Any]) -> nit.Tool:
        def answer(**arguments: Any) -> Any:
            number = len(self.made)
            self.made.append({"name": tool["name"], "arguments": arguments})
            return self.outputs[number] if number < len(self.outputs) else None

        return nit.Tool(tool["name"], tool.get("description", ""), tool["parameters"], answer)

    def run(self, script: str) -> nit.Result:
        self.made.clear()
        self.session.reset()
        return self.session.run(script)


@dataclass
class Tally:
    """What came of the scripts of one file."""

    counts: Counter[str]
    wrong: list[str]

    def fault(self, record: Record, spelling: str, what: str) -> None:
        self.wrong.append(f"{record['id']} ({spelling}): {what}\n{record['script'][:600]}")


def records_of(shared: Path, name: str) -> Iterator[Record]:
    text = (shared / "corpus" / "scripts" / f"{name}.jsonl").read_text(encoding="utf-8")
    for line in text.split("\n"):
        if line:
            yield json.loads(line)


def tools_of(record: Record) -> list[dict[str, Any]]:
    if "tools" in record:
        return record["tools"]
    names: dict[str, set[str]] = {}
    for call in record["calls"]:
        names.setdefault(call["name"], set()).update(call["arguments"])
    return [
        {"name": name, "parameters": {"type": "object", "properties": {key: {} for key in keys}}}
        for name, keys in names.items()
    ]


def spellings_of(record: Record) -> Iterator[tuple[str, str]]:
    yield "script", record["script"]
    yield from record.get("alts", {}).items()


def same(left: Any, right: Any) -> bool:
    """Whether two values are equal as JSON: `1` is `1.0`, and `true` is not `1`."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[k], right[k]) for k in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return left == right


def rescued(gold: Any, got: Any) -> bool:
    """Whether `got` says no more and no less than `gold`, in another type."""
    if same(gold, got):
        return True
    match gold, got:
        case str(), list() | dict():
            return rescued(json.loads(gold), got)
        case (bool(), str()) | (str(), bool()) | (str(), str()):
            return str(gold).strip().lower() == str(got).strip().lower()
        case (str(), int() | float()) | (int() | float(), str()):
            return float(gold) == float(got)
        case _:
            pass
    if isinstance(gold, list) and isinstance(got, list):
        return len(gold) == len(got) and all(map(rescued, gold, got))
    if isinstance(gold, dict) and isinstance(got, dict):
        # Null for an optional parameter means that it is left out.
        kept = {key for key, value in gold.items() if key in got or value is not None}
        return kept == got.keys() and all(rescued(gold[key], got[key]) for key in kept)
    return False


def check_refused(recorder: Recorder, result: nit.Result) -> str | None:
    if result.ok:
        return "it must be refused, and ran"
    if recorder.made or not isinstance(result.error, nit.NitSyntaxError | nit.NitCheckError):
        return f"it must be refused before anything runs: {result.error}"
    return None


def check_exact(record: Record, recorder: Recorder, result: nit.Result) -> str | None:
    if not result.ok:
        return f"it failed: {result.error}"
    if not same(recorder.made, record["calls"]):
        return f"calls\n  {recorder.made}\nwanted\n  {record['calls']}"
    if [call.name for call in result.calls] != [call["name"] for call in record["calls"]]:
        return f"the result tells of other calls: {result.calls}"
    if "result" in record and not same(result.value, record["result"]):
        return f"its value is {result.value!r}, wanted {record['result']!r}"
    return None


def check_unfit(record: Record, recorder: Recorder, result: nit.Result) -> str | None:
    """A record whose calls break their schema."""
    gold = record["calls"]
    for call, wanted in zip(recorder.made, gold, strict=False):
        validator = jsonschema.Draft202012Validator(recorder.schemas[call["name"]])
        if not validator.is_valid(call["arguments"]):
            return f"a call was made that its schema forbids: {call}"
        if call["name"] != wanted["name"] or not rescued(wanted["arguments"], call["arguments"]):
            return f"call {call}, wanted {wanted}"
    if result.ok:
        return None if len(recorder.made) == len(gold) else "it left a call out"
    error = result.error
    if isinstance(error, nit.NitSyntaxError | nit.NitCheckError):
        return "a check must run nothing" if recorder.made else None
    if isinstance(error, nit.NitRuntimeError) and error.code.startswith("NIT42") and error.span:
        return None
    return f"no clear error: {error}"


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", FILES)
def test_corpus_script_makes_its_calls_and_ends_in_its_result(
    shared: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    tally = Tally(Counter(), [])
    for record in records_of(shared, name):
        recorder = Recorder(record)
        with recorder.session:
            for spelling, script in spellings_of(record):
                result = recorder.run(script)
                tally.counts["scripts"] += 1
                if "refused" in record:
                    kind, fault = "refused", check_refused(recorder, result)
                elif record.get("schema_ok") is False:
                    kind = "rescued" if result.ok else "clear error"
                    fault = check_unfit(record, recorder, result)
                else:
                    kind, fault = "exact", check_exact(record, recorder, result)
                tally.counts[kind] += 1
                tally.counts["calls"] += len(recorder.made)
                if fault is not None:
                    tally.fault(record, spelling, fault)
    with capsys.disabled():
        counts = ", ".join(f"{tally.counts[kind]:,} {kind}" for kind in sorted(tally.counts))
        print(f"\n  {name}: {counts}; {len(tally.wrong)} wrong", end="")
    assert tally.wrong == [], f"{len(tally.wrong)} wrong:\n\n" + "\n\n".join(tally.wrong[:8])
