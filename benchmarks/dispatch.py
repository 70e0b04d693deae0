"""What a call costs: from text, with check and schema validation, against peers.

    python benchmarks/dispatch.py [--rounds 7]

A chain `$x_i = add(a=1, b=$x_(i-1))`. Rows that start from source text include parsing it; the
others call ready functions with ready arguments. Anchor: a plain Python call in a loop.

The second table has the shares of one line, the third one `async` call against the same by
`ThreadPoolExecutor`.
"""

import argparse
import dataclasses
import importlib.util
import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import jsonschema
import jsonschema_rs
import scripts
from harness import Candidate, Figure, paired, pin, table

import nit_kernel as nit
from nit_kernel._syntax import parse

SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
    "required": ["a", "b"],
    "additionalProperties": False,
}
ANCHOR = "plain Python call"
LIMITS = nit.Limits(script_bytes=1 << 30, statements=1 << 30, variables=1 << 30)


def add(a: int, b: int) -> int:
    return a + b


def python_source(count: int) -> str:
    return "".join(f"x{i} = add(a=1, b={f'x{i - 1}' if i else '0'})\n" for i in range(count))


def nit_source(count: int) -> str:
    return "".join(f"$x{i} = add(a=1, b={f'$x{i - 1}' if i else '0'})\n" for i in range(count))


def chain(step: Callable[[dict[str, int]], int], count: int) -> Callable[[object], object]:
    """Call a function over and over, its arguments built anew each time."""

    def run(_: object) -> int:
        previous = 0
        for _ in range(count):
            previous = step({"a": 1, "b": previous})
        return previous

    return run


def session_of(*tools: nit.Tool, **options: object) -> nit.Session:
    return nit.Session(tools=tools, limits=LIMITS, **options)


def nit_run(source: str, session: nit.Session) -> Callable[[object], object]:
    def run(_: object) -> object:
        result = session.run(source)
        assert result.ok, result.error
        return result

    return run


def python_run(source: str, names: dict[str, object]) -> Callable[[object], object]:
    return lambda _: exec(compile(source, "bench", "exec"), dict(names))


def smolagents_run(source: str, names: dict[str, object]) -> Callable[[object], object]:
    from smolagents.local_python_executor import LocalPythonExecutor

    executor = LocalPythonExecutor([], timeout_seconds=None)
    executor.send_tools(names)
    return lambda _: executor(source)


def show(title: str, figures: dict[str, Figure], anchor: str) -> None:
    print(f"\n{title}\n")
    rows = [
        [
            name,
            f"{f.seconds * 1e6:.3f}",
            f"{f.ratio:.3f}",
            f"{f.ratio_low:.3f} to {f.ratio_high:.3f}",
        ]
        for name, f in figures.items()
    ]
    print(table(["what", "µs a call", f"ratio to {anchor}", "min to max"], rows))


def chains(rounds: int) -> None:
    has_smolagents = importlib.util.find_spec("smolagents") is not None
    tool = nit.Tool("add", "", SCHEMA, add)
    reused = jsonschema.Draft202012Validator(SCHEMA)
    fast = jsonschema_rs.validator_for(SCHEMA)

    def validate(arguments: dict[str, int]) -> int:
        reused.validate(arguments)
        return add(**arguments)

    def validate_fast(arguments: dict[str, int]) -> int:
        fast.validate(arguments)
        return add(**arguments)

    def plain(_: object) -> int:
        previous = 0
        for _ in range(1000):
            previous = add(a=1, b=previous)
        return previous

    with session_of(tool) as session:
        candidates = {ANCHOR: Candidate(plain, units=1000)}
        for count in (1, 100, 1_000, 10_000):
            name = f"NIT, parse + check + validate + run, {count:,} calls"
            candidates[name] = Candidate(nit_run(nit_source(count), session), units=count)
        candidates["CPython compile + exec, 1,000 calls"] = Candidate(
            python_run(python_source(1000), {"add": add}), units=1000
        )
        if has_smolagents:
            candidates["smolagents, 1,000 calls"] = Candidate(
                smolagents_run(python_source(1000), {"add": add}), units=1000
            )
        candidates["jsonschema, validator reused, + call"] = Candidate(
            chain(validate, 100), units=100
        )
        candidates["jsonschema-rs, validator reused, + call"] = Candidate(
            chain(validate_fast, 1000), units=1000
        )
        show("a chain of calls", paired(candidates, ANCHOR, rounds=rounds), ANCHOR)
    if not has_smolagents:
        print("\nsmolagents is not installed: its row is left out")


def no_op_calls(rounds: int) -> None:
    """1,000 generated lines whose tools do nothing, from text to the last value."""
    lines = [dataclasses.replace(line, is_async=False) for line in scripts.program(1000)]

    def noop(**arguments: object) -> None:
        return None

    names = dict.fromkeys(scripts.TOOLS, noop)
    tools = [nit.Tool(tool, "", {"type": "object"}, noop) for tool in scripts.TOOLS]
    nit_text, python_text = scripts.nit(lines), scripts.starlark(lines)
    anchor = "smolagents"
    if importlib.util.find_spec("smolagents") is None:
        anchor = "CPython compile + exec"
    with session_of(*tools) as session:
        candidates = {
            "CPython compile + exec": Candidate(python_run(python_text, names), units=1000),
            "NIT, parse + check + run": Candidate(nit_run(nit_text, session), units=1000),
        }
        if anchor == "smolagents":
            candidates[anchor] = Candidate(smolagents_run(python_text, names), units=1000)
        figures = paired(candidates, anchor, rounds=rounds)
        size = len(nit_text.encode()) / 1000
        show(f"1,000 generated lines of {size:.0f} bytes, no-op tools", figures, anchor)


def shares(rounds: int) -> None:
    """Where the time of a line goes."""
    source = nit_source(1000)
    unlimited = {"script_bytes": 1 << 30, "statements": 1 << 30}
    with session_of(nit.Tool("add", "", SCHEMA, add)) as session:
        prepared = session.prepare(source)
        figures = paired(
            {
                "all": Candidate(nit_run(source, session), units=1000),
                "parse": Candidate(lambda _: parse(source, **unlimited), units=1000),
                "parse + check": Candidate(lambda _: session.prepare(source), units=1000),
                "run of the prepared script": Candidate(
                    lambda _: session.run(prepared), units=1000
                ),
            },
            "all",
            rounds=rounds,
        )
    show("shares of one line (1,000 lines)", figures, "all")


def background(rounds: int) -> None:
    anchor = "ThreadPoolExecutor submit + result"
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}

    def same(a: int) -> int:
        return a

    with ThreadPoolExecutor(8) as pool, session_of(nit.Tool("same", "", schema, same)) as session:
        prepared = session.prepare("\n".join(["$t = async same(a=1)\n[$t]"] * 100))

        def submit(_: object) -> None:
            for _ in range(100):
                pool.submit(same, 1).result()

        figures = paired(
            {
                anchor: Candidate(submit, units=100),
                "NIT `async` plain function + use": Candidate(
                    lambda _: session.run(prepared), units=100
                ),
            },
            anchor,
            rounds=rounds,
        )
        show("one `async` call, started and used", figures, anchor)
        print(f"\nthreads now: {threading.active_count()}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    pin()
    chains(options.rounds)
    no_op_calls(options.rounds)
    shares(options.rounds)
    background(options.rounds)


if __name__ == "__main__":
    main()
