"""Paired medians: every candidate once a round, its ratio to the anchor taken inside the round.

The process is pinned to one CPU (`BENCH_CPU`, default the last one) and CPU time is measured, so
that what else the machine does matters little; what remains hits both sides of a ratio alike.
"""

import gc
import os
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Candidate:
    """Something to measure: `run` gets what `prepare` made, outside the measured time."""

    run: Callable[[Any], object]
    prepare: Callable[[], Any] = lambda: None
    units: int = 1


@dataclass(frozen=True)
class Figure:
    """CPU seconds a unit, and the ratio to the anchor's, each the median of all rounds."""

    seconds: float
    ratio: float
    ratio_low: float
    ratio_high: float


def pin() -> int | None:
    """Keep this process on one CPU; `None` where the system has no such call."""
    if not hasattr(os, "sched_setaffinity"):
        return None
    cpu = int(os.environ.get("BENCH_CPU", max(os.sched_getaffinity(0))))
    os.sched_setaffinity(0, {cpu})
    return cpu


def _seconds(candidate: Candidate, loops: int) -> float:
    total = 0.0
    for _ in range(loops):
        prepared = candidate.prepare()
        start = time.process_time_ns()
        candidate.run(prepared)
        total += (time.process_time_ns() - start) / 1e9
    return total / loops / candidate.units


def _loops(candidate: Candidate, seconds: float) -> int:
    loops = 1
    while _seconds(candidate, loops) * loops * candidate.units < seconds and loops < 1 << 16:
        loops *= 2
    return loops


def paired(
    candidates: Mapping[str, Candidate], anchor: str, *, rounds: int = 7, seconds: float = 0.05
) -> dict[str, Figure]:
    """Measure all candidates.

    Args:
        candidates: By name.
        anchor: The name of the one that the ratios refer to.
        rounds: How often each is measured; the order rotates.
        seconds: The least CPU time of one measurement.
    """
    names = list(candidates)
    loops = {name: _loops(candidates[name], seconds) for name in names}
    measured: dict[str, list[float]] = {name: [] for name in names}
    was_enabled = gc.isenabled()
    try:
        for turn in range(rounds):
            for name in names[turn % len(names) :] + names[: turn % len(names)]:
                gc.collect()
                gc.disable()
                measured[name].append(_seconds(candidates[name], loops[name]))
                gc.enable()
    finally:
        (gc.enable if was_enabled else gc.disable)()
    figures = {}
    for name in names:
        ratios = [a / b for a, b in zip(measured[name], measured[anchor], strict=True)]
        seconds_median = statistics.median(measured[name])
        ratio = statistics.median(ratios)
        figures[name] = Figure(seconds_median, ratio, min(ratios), max(ratios))
    return figures


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
