"""The vectors of the reference implementation: the same, but where it is known to be wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from codec_samples import TOOLS, decode

from nit_kernel.errors import CodecError
from nit_kernel.model.codecs.json import json_codec
from nit_kernel.model.codecs.react import react_codec

CODECS = {"json": json_codec, "react": react_codec}

ECHO = [("echo", {"v": 1})]
ECHO_3 = [("echo", {"v": 3})]

RIGHT: dict[tuple[str, str], Any] = {
    # a text is the answer, a list the calls; the reason stands beside it
    ("json", "prose after bare"): ECHO,  # D2
    ("json", "two objects"): ECHO,  # D2, equal repeats count once
    ("json", "two fences"): [*ECHO, ("two", {"v": 1})],  # every fence with a call counts
    ("json", "first fence non-json, 2nd json"): ECHO,  # D3
    ("json", "unterminated fence"): ECHO,  # D3
    ("json", "toplevel array"): [("echo", {})],  # D3
    ("json", "fenced array"): [("echo", {})],  # D3
    ("json", "openai tool_calls nested function"): ECHO,  # D6
    ("json", "parameters key"): ECHO,  # D7
    ("json", "name only"): '{"name":"Ann","age":3}',  # W25
    ("json", "final+calls []"): "ok",  # D8
    ("json", "call name padded"): [("echo", {})],  # W43
    ("json", "trailing comma"): "x",  # B13
    ("json", "single quotes"): "x",  # B13: repaired, as it has one meaning
    ("json", "raw newline in string"): "a\nb",  # B13: the same
    ("json", "final text containing fence"): 'use ```json {"a":1}``` ok',  # D9
    ("json", "final containing real-fence obj"): "use ```{}``` ok",  # D9
    ("react", "thought + hallucinated observation"): ECHO_3,  # D10
    ("react", "action + obs + final"): ECHO_3,  # D11
    ("react", "single quotes"): ECHO,  # B13
    ("react", "bold markdown"): ECHO_3,  # D13
    ("react", "indent2"): ECHO_3,  # D13
    ("react", "backtick name"): ECHO_3,  # D14
    ("react", "quoted name"): ECHO_3,  # D14
    ("react", "call syntax"): ECHO_3,  # D14
}

NAME_ONLY_WITH_TOOLS = {("json", "call name padded")}
"""Without a list of tools there is nothing to compare a name with."""

UNIQUE_IDS = {("json", "dup ids"): ["a", "a-2"]}


def vectors(shared: Path) -> list[dict[str, Any]]:
    lines = (shared / "cases" / "codec_vectors.jsonl").read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


@pytest.mark.parametrize("tools", [(), TOOLS], ids=["no tools known", "tools known"])
def test_every_vector_decodes_as_the_reference_or_as_the_tables_of_its_faults_say(
    shared: Path, tools: Any
) -> None:
    wrong: list[str] = []
    seen: set[tuple[str, str]] = set()
    for vector in vectors(shared):
        key = (vector["codec"], vector["label"])
        seen.add(key)
        codec = CODECS[vector["codec"]]()
        try:
            decoded = decode(codec, vector["input"], tools=tools)
        except CodecError:
            got: Any = {"error": "CodecError"}
        else:
            calls = [
                {"id": call.id, "name": call.name, "input": call.arguments}
                for call in decoded.calls
            ]
            got = {"ok": {"text": decoded.text, "calls": calls}}
        right = RIGHT.get(key)
        if key in NAME_ONLY_WITH_TOOLS and not tools:
            right = None
        if right is None:
            want = vector["reference"]
            for call, fresh in zip(
                want.get("ok", {}).get("calls", ()), UNIQUE_IDS.get(key, ()), strict=False
            ):
                call["id"] = fresh
        elif isinstance(right, str):
            want = {"ok": {"text": right, "calls": []}}
        else:
            want = right
            got = [(c["name"], c["input"]) for c in got["ok"]["calls"]] if "ok" in got else got
        if got != want:
            wrong.append(f"{key}: {got} instead of {want}")
    assert wrong == []
    assert set(RIGHT) <= seen


def test_arguments_that_are_no_object_decode_as_the_reference_and_are_not_run(
    shared: Path,
) -> None:
    labels = {"input number", "input string num", "string input", "array input"}
    found = {
        vector["label"]: decode(CODECS[vector["codec"]](), vector["input"]).calls[0]
        for vector in vectors(shared)
        if vector["label"] in labels
    }
    assert {label: (call.arguments, bool(call.error)) for label, call in found.items()} == {
        "input number": (3, True),
        "input string num": (3, True),
        "string input": ("hi", True),
        "array input": ([1, 2], True),
    }
