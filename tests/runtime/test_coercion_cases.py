"""The coerce cases of `bugs.jsonl`, and the corpus records whose arguments miss their schema."""

import datetime
import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from nit_kernel.language.values import json_text
from nit_kernel.runtime.coercion import Coercer, CoercionError


def bug(shared: Path, name: str) -> dict[str, Any]:
    for line in (shared / "cases" / "bugs.jsonl").read_text(encoding="utf-8").split("\n"):
        if line and (case := json.loads(line))["id"] == name:
            return case
    raise AssertionError(f"{name} is not among the cases")


def outcome(schema: dict[str, Any] | Coercer, arguments: dict[str, object]) -> object:
    coercer = schema if isinstance(schema, Coercer) else Coercer(schema)
    try:
        return coercer.coerce(arguments)
    except CoercionError as error:
        return error


def holds(result: object, right: object) -> bool:
    """Whether an outcome is what a case calls right."""
    if isinstance(right, dict) and "any" in right:
        return any(holds(result, option) for option in right["any"])
    if isinstance(right, dict) and "error_mentions" in right:
        text = f"{result.message} {result.hint}" if isinstance(result, CoercionError) else ""
        return bool(text) and all(word in text for word in right["error_mentions"])
    if right == "error":
        return isinstance(result, CoercionError) and result.parameter is not None
    # JSON equality tells `1` from `true`.
    return not isinstance(result, CoercionError) and json.dumps(result) == json.dumps(right)


def test_only_two_words_become_booleans(shared: Path) -> None:
    case = bug(shared, "B29")
    results = [outcome(case["input"]["schema"], given) for given in case["input"]["args"]]
    wrong = [
        (given, result)
        for given, result, right in zip(
            case["input"]["args"], results, case["right"]["cases"], strict=True
        )
        if not holds(result, right)
    ]
    assert wrong == []


@pytest.mark.parametrize("name", ["B32", "B35"])
def test_the_schema_decides_and_unknown_names_are_refused(shared: Path, name: str) -> None:
    case = bug(shared, name)
    pairs = zip(case["input"]["cases"], case["right"]["cases"], strict=True)
    wrong = []
    for given, right in pairs:
        result = outcome(given["schema"], given["args"])
        if not holds(result, right):
            wrong.append((given, result))
    assert wrong == []


def test_every_result_has_a_strict_json_form(shared: Path) -> None:
    case = bug(shared, "B33")
    circle: dict[str, object] = {}
    circle["me"] = circle
    names = {"datetime": datetime.datetime, "utc": datetime.UTC, "Decimal": Decimal}
    results = [
        circle if text.startswith("d = ") else eval(text, dict(names))
        for text in case["input"]["results"]
    ]
    texts = [json_text(result) for result in results]

    def never(token: str) -> None:
        raise AssertionError(f"{token} is no JSON")

    for text in texts:
        json.loads(text, parse_constant=never)
        text.encode("utf-8")
    assert texts == [
        '"NaN"',
        '"Infinity"',
        '{"when": "2024-03-01T10:00:00+00:00"}',
        '"data:application/octet-stream;base64,AP8="',
        "[1, 2]",
        '"ok \ufffd"',
        '{"me": "<cycle>"}',
        '"1.10"',
        '{"[1, 2]": "x", "null": "y"}',
        '"<object>"',
    ]


def records(shared: Path) -> Iterator[dict[str, Any]]:
    for path in sorted((shared / "corpus" / "scripts").glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").split("\n"):
            if line:
                yield json.loads(line)


def test_arguments_of_the_corpus_fit_or_are_rescued_or_refused_with_a_name(shared: Path) -> None:
    kept = rescued = refused = 0
    nameless: list[str] = []
    for record in records(shared):
        coercers = {tool["name"]: Coercer(tool["parameters"]) for tool in record.get("tools") or []}
        for call in record["calls"]:
            if call["name"] not in coercers:
                continue
            result = outcome(coercers[call["name"]], call["arguments"])
            if isinstance(result, CoercionError):
                refused += 1
                if record.get("schema_ok", True) and not record.get("refused"):
                    nameless.append(f"{record['id']}: {result.message}")
            elif json.dumps(result) == json.dumps(call["arguments"]):
                kept += 1
            else:
                rescued += 1
    print(f"corpus calls: {kept} as they are, {rescued} converted, {refused} refused")
    assert nameless == []
    assert kept > 6_000
