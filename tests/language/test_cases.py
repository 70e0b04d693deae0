"""The golden cases of `tests/cases`, which Rust reads too: `*.nit` and what comes of it."""

from pathlib import Path

import pytest

from nit_kernel._syntax import CALL, Script, parse

CASES = sorted((Path(__file__).parents[1] / "cases").glob("*.nit"))


def outcome(source: str) -> str:
    """What was found and which steps there are, as `rust/nit_syntax/tests/cases.rs` writes it."""
    script = parse(source)
    lines = [item.terse() for item in script.diagnostics]
    for index in range(script.statement_count):
        first, end, _, is_async, start, stop = script.statement(index)
        place = script.span(start, stop)
        lines.append(f"{place.line}:{place.column}" + (" async" if is_async else ""))
        lines += [f"    {step_text(script, number)}" for number in range(first, end)]
    return "".join(f"{line}\n" for line in lines)


def step_text(script: Script, number: int) -> str:
    kind, shape, target, reads, _, _ = script.step(number)

    def name(read: str | int) -> str:
        return f"${read}" if isinstance(read, str) else f"#{read}"

    text = "value"
    if kind == CALL:
        found = script.shapes[shape]
        pairs = zip(found.names, found.kinds, strict=True)
        arguments = ", ".join(f"{name}={kind}" if name else kind for name, kind in pairs)
        form = "call " if found.exact else "block " if found.legacy else ""
        text = f"{form}{found.tool}({arguments})"
    if target is not None:
        text += f" -> {name(target)}"
    if reads:
        text += " reads " + " ".join(name(read) for read in reads)
    return text


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
def test_a_case_comes_out_as_expected(case: Path) -> None:
    source = case.read_bytes().decode()
    assert outcome(source) == case.with_suffix(".txt").read_bytes().decode()


def test_there_are_cases() -> None:
    assert len(CASES) >= 10
