"""Tokens: what a conversation costs with NIT, with native calls, and with JSON calls.

    python benchmarks/tokens.py [--encoding o200k_base] [--corpus DIR]

Two tables. *Output*: what a model writes for the calls of every corpus script, in each form.
*Whole conversations*: the records of `big.jsonl` with their real, large responses, played through
our own codecs: all input and output tokens, and the number of requests, with NIT (one script), with
one call a turn, and with parallel calls at best (all calls without a data edge between them in one
turn). Native and JSON calls get whole results, as those protocols have no variables.

Tokens are counted with `tiktoken`, which fetches its tables once or takes them from
`TIKTOKEN_CACHE_DIR`.
"""

import argparse
import json
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import tiktoken
from harness import table

import nit_kernel as nit
from nit_kernel.language.schema import ToolSpec
from nit_kernel.model.codecs.codec import ToolCallCodec
from nit_kernel.model.messages import (
    Request,
    assistant,
    call_entry,
    report,
    tool_result,
    user,
    wire,
)

CORPUS = Path(os.environ.get("NIT_SHARED", Path(__file__).parents[2] / "shared")) / "corpus"
ID = "A1B2"
WHOLE = 10_000_000
"""Characters of a result that native and JSON calls may send back: all."""
Record = dict[str, Any]


def records(path: Path) -> Iterator[Record]:
    """The records of a file; lines end at `\\n` only."""
    for line in path.read_text(encoding="utf-8").split("\n"):
        if line:
            yield json.loads(line)


def compact(value: object) -> str:
    """Compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def block(record: Record) -> str:
    """The script in its tag."""
    return f"<nit-{ID}>\n{record['script']}\n</nit-{ID}>"


def entries(calls: Sequence[Record]) -> list[dict[str, Any]]:
    """The calls as native `tool_calls`."""
    return [
        call_entry(f"call_{number:024x}", call["name"], compact(call["arguments"]))
        for number, call in enumerate(calls)
    ]


def lean(calls: Sequence[Record]) -> str:
    """The calls as the JSON codec's reply."""
    return compact({"type": "tool_calls", "calls": list(calls)})


def output_table(folder: Path, count: Callable[[str], int]) -> str:
    """What a model writes for every corpus script."""
    rows: list[list[str]] = []
    sums = {"NIT": 0, "NIT, body alone": 0, "JSON": 0, "native": 0}
    scripts = chains = 0
    for path in sorted((folder / "scripts").glob("*.jsonl")):
        for record in records(path):
            if not record["calls"] or record.get("refused"):
                continue
            scripts += 1
            chains += len(record["calls"]) > 1
            sums["NIT"] += count(block(record))
            sums["NIT, body alone"] += count(record["script"])
            # One reply holds the calls of one round; here all are in one, which favours JSON.
            sums["JSON"] += count(lean(record["calls"]))
            sums["native"] += count(compact(entries(record["calls"])))
    for form, total in sums.items():
        rows.append([form, f"{total:,}", f"{total / sums['JSON']:.2f}"])
    title = f"Output tokens, {scripts:,} scripts ({chains:,} with more than one call)\n\n"
    return title + table(["form", "tokens", "ratio to JSON"], rows)


def rounds(record: Record) -> list[list[int]]:
    """The calls in as few turns as data edges allow."""
    level = [0] * len(record["calls"])
    for before, after in sorted(record["deps"], key=lambda edge: edge[1]):
        level[after] = max(level[after], level[before] + 1)
    return [
        [number for number, at in enumerate(level) if at == turn] for turn in range(max(level) + 1)
    ]


def tools_of(record: Record) -> list[ToolSpec]:
    """The record's tools."""
    return [
        nit.Tool(tool["name"], tool["description"], tool["parameters"], dict).spec
        for tool in record["tools"]
    ]


class Conversation:
    """Counts the requests and tokens of one conversation, message by message."""

    def __init__(
        self, codec: ToolCallCodec, record: Record, count: Callable[[str], int], *, handshake: bool
    ) -> None:
        self.codec, self.tools, self.count = codec, tools_of(record), count
        self.messages = [user(record["query"])]
        self.handshake = ID if handshake else None
        self.requests = self.read = self.written = 0

    def send(self, output: str) -> None:
        """One request, and what the model answers."""
        request = Request(model="any", messages=tuple(self.messages), handshake=self.handshake)
        encoded = self.codec.encode(request, self.tools)
        said = compact([wire(message) for message in encoded.messages]) + compact(encoded.tools)
        self.requests += 1
        self.read += self.count(said)
        self.written += self.count(output)


def with_nit(record: Record, count: Callable[[str], int]) -> Conversation:
    """One script, its report, an answer."""
    made = Conversation(nit.nit_codec(), record, count, handshake=True)
    made.send(block(record))
    outputs = iter(record["outputs"])
    stubs = [
        nit.Tool(tool["name"], "", tool["parameters"], lambda **_: next(outputs))
        for tool in record["tools"]
    ]
    with nit.Session(tools=stubs) as session:
        result = session.run(record["script"], origin="model")
    assert result.ok, result.error
    parts = [{"type": "script", "script": record["script"]}]
    made.messages += [assistant("", parts=parts), report(result.report())]
    made.send("")
    return made


def with_calls(
    codec: ToolCallCodec,
    record: Record,
    count: Callable[[str], int],
    *,
    turns: Sequence[Sequence[int]],
    is_native: bool,
) -> Conversation:
    """Calls turn by turn, each result whole in what the model reads next, an answer."""
    made = Conversation(codec, record, count, handshake=False)
    every = entries(record["calls"])
    for turn in turns:
        now = [every[number] for number in turn]
        calls = [record["calls"][number] for number in turn]
        made.send(compact(now) if is_native else lean(calls))
        made.messages.append(assistant("", calls=now))
        for number in turn:
            text = compact(record["outputs"][number])
            name = record["calls"][number]["name"]
            made.messages.append(tool_result(every[number]["id"], text, name=name))
    made.send("")
    return made


def conversation_table(path: Path, count: Callable[[str], int]) -> str:
    """Whole conversations over the records with large responses."""
    forms: dict[str, list[Conversation]] = {}
    for record in records(path):
        alone = [[number] for number in range(len(record["calls"]))]
        best = rounds(record)
        native = nit.native_codec(result_chars=WHOLE)
        as_json = nit.json_codec(result_chars=WHOLE)
        for form, made in {
            "NIT": with_nit(record, count),
            "native, one call a turn": with_calls(
                native, record, count, turns=alone, is_native=True
            ),
            "native, parallel at best": with_calls(
                native, record, count, turns=best, is_native=True
            ),
            "JSON, one call a turn": with_calls(
                as_json, record, count, turns=alone, is_native=False
            ),
            "JSON, parallel at best": with_calls(
                as_json, record, count, turns=best, is_native=False
            ),
        }.items():
            forms.setdefault(form, []).append(made)
    many = len(forms["NIT"])
    rows = []
    for form, made in forms.items():
        read, written = sum(c.read for c in made) / many, sum(c.written for c in made) / many
        rows.append(
            [
                form,
                f"{sum(c.requests for c in made) / many:.1f}",
                f"{read:,.0f}",
                f"{written:,.0f}",
                f"{read + written:,.0f}",
            ]
        )
    title = f"Whole conversations, {many} records of big.jsonl, means\n\n"
    return title + table(["form", "requests", "input", "output", "all tokens"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--encoding", default="o200k_base")
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    options = parser.parse_args()
    encoding = tiktoken.get_encoding(options.encoding)

    def count(text: str) -> int:
        return len(encoding.encode(text, disallowed_special=()))

    print(f"encoding {options.encoding}\n")
    print(output_table(options.corpus, count))
    print()
    print(conversation_table(options.corpus / "big.jsonl", count))


if __name__ == "__main__":
    main()
