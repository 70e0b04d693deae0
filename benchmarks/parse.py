"""Parsing: NIT against CPython's own parser, Starlark's, and JSON.

    python benchmarks/parse.py [--rounds 7] [--corpus DIR]

Three tables: 1,000 generated lines in each peer's notation (anchor: `ast.parse`); real scripts of
the corpus, one parse each, against `starlark-pyo3` (where the corpus is there); and 1,000 to
100,000 lines, to see that a line costs the same at any length.
"""

import argparse
import ast
import json
import os
import re
from pathlib import Path

import orjson
import scripts
import starlark
from harness import Candidate, paired, pin, table

from nit_kernel._syntax import parse

CORPUS = (
    Path(os.environ.get("NIT_SHARED", Path(__file__).parents[2] / "shared")) / "corpus" / "scripts"
)
DIALECT = starlark.Dialect.extended()
UNLIMITED = {"script_bytes": 1 << 30, "statements": 1 << 30}


def nit_parse(source: str) -> object:
    """Parse, and make sure that it is a script."""
    script = parse(source, **UNLIMITED)
    assert script.ok, script.diagnostics[:1]
    return script


def starlark_twin(source: str) -> str | None:
    """The script in Starlark, where plain rewriting gives one that it accepts."""
    twin = re.sub(r"\$(\w)", r"\1", source).replace("async ", "")
    try:
        starlark.parse("bench", twin, DIALECT)
    except starlark.StarlarkError:
        return None
    return twin


def generated(rounds: int) -> None:
    lines = scripts.program(1000)
    nit, python, star = scripts.nit(lines), scripts.python(lines), scripts.starlark(lines)
    calls = [
        {"name": line.tool, "store": line.target, "arguments": line.arguments}
        for line in lines
        if line.tool
    ]
    text = json.dumps(calls, ensure_ascii=False).encode()
    figures = paired(
        {
            "ast.parse": Candidate(lambda _: ast.parse(python), units=1000),
            "nit_kernel.parse": Candidate(lambda _: nit_parse(nit), units=1000),
            "starlark-pyo3 parse": Candidate(
                lambda _: starlark.parse("bench", star, DIALECT), units=1000
            ),
            "orjson.loads of the JSON twin": Candidate(lambda _: orjson.loads(text), units=1000),
        },
        "ast.parse",
        rounds=rounds,
    )
    print(f"1,000 generated lines ({len(nit.encode()):,} bytes)\n")
    print(
        table(
            ["parser", "µs a line", "ratio to ast.parse", "min to max"],
            [
                [
                    name,
                    f"{f.seconds * 1e6:.3f}",
                    f"{f.ratio:.4f}",
                    f"{f.ratio_low:.4f} to {f.ratio_high:.4f}",
                ]
                for name, f in figures.items()
            ],
        )
    )


def corpus(folder: Path, rounds: int) -> None:
    if not folder.is_dir():
        print(f"\ncorpus scripts: skipped, no folder {folder.name}")
        return
    pairs: list[tuple[str, str]] = []
    total = 0
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").split("\n"):
            if not line:
                continue
            total += 1
            source = json.loads(line)["script"]
            twin = starlark_twin(source) if parse(source).ok else None
            if twin is not None:
                pairs.append((source, twin))

    figures = paired(
        {
            "starlark-pyo3 parse": Candidate(
                lambda _: [starlark.parse("bench", twin, DIALECT) for _, twin in pairs],
                units=len(pairs),
            ),
            "nit_kernel.parse": Candidate(
                lambda _: [parse(source) for source, _ in pairs], units=len(pairs)
            ),
            "ast.parse": Candidate(
                lambda _: [ast.parse(twin) for _, twin in pairs], units=len(pairs)
            ),
        },
        "starlark-pyo3 parse",
        rounds=rounds,
    )
    print(f"\n{len(pairs):,} of {total:,} corpus scripts (those that Starlark takes too)\n")
    print(
        table(
            ["parser", "µs a script", "ratio to starlark-pyo3", "min to max"],
            [
                [
                    name,
                    f"{f.seconds * 1e6:.2f}",
                    f"{f.ratio:.3f}",
                    f"{f.ratio_low:.3f} to {f.ratio_high:.3f}",
                ]
                for name, f in figures.items()
            ],
        )
    )


def lengths(rounds: int) -> None:
    sources = {count: scripts.nit(scripts.program(count)) for count in (1_000, 10_000, 100_000)}
    figures = paired(
        {
            f"{count:,} lines": Candidate(lambda _, text=text: nit_parse(text), units=count)
            for count, text in sources.items()
        },
        "1,000 lines",
        rounds=rounds,
    )
    print("\nlength\n")
    print(
        table(
            ["script", "µs a line", "ratio to 1,000 lines"],
            [[name, f"{f.seconds * 1e6:.3f}", f"{f.ratio:.2f}"] for name, f in figures.items()],
        )
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    options = parser.parse_args()
    pin()
    generated(options.rounds)
    corpus(options.corpus, options.rounds)
    lengths(options.rounds)


if __name__ == "__main__":
    main()
