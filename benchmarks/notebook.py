"""What a person waits for in a notebook: start, stop button, Cancel, TAB, a cell, the end.

    python benchmarks/notebook.py [--rounds 5]

Every figure stands beside the stock Python kernel doing the nearest thing, measured in the same
round. The goals are those that the project holds itself to.
"""

import argparse
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "e2e"))

from kernel_driver import NIT, STOCK, Kernel

TOOLS = """
import asyncio, time

@nit.tool
def add(a: int, b: int = 1) -> int:
    return a + b

@nit.tool
def nap(seconds: float) -> str:
    time.sleep(seconds)
    return "rested"

@nit.tool
async def doze(seconds: float) -> str:
    await asyncio.sleep(seconds)
    return "dozed"

@nit.tool
async def busy(ctx: nit.ToolContext) -> str:
    for i in range(5000):
        ctx.progress(i / 5000, str(i))
        if i % 25 == 0:
            await asyncio.sleep(0.01)
    return "done"
"""

LOAD = """
import time
started = time.perf_counter()
get_ipython().run_line_magic("load_ext", "nit_kernel")
time.perf_counter() - started
"""


def seconds_to_interrupt(kernel, code):
    """From the stop button to the end of the cell."""
    cell = kernel.send(code)
    kernel.pump(0.7)
    pressed = kernel.interrupt()
    kernel.until(lambda: cell.done, 60)
    return cell.replied - pressed


def seconds_to_cancel(kernel):
    """From a click on Cancel to the end of the cell that waits for the task."""
    cell = kernel.send("%%nit\n$slow = async doze(seconds=60)\n$slow\n")
    kernel.until(lambda: kernel.models("ButtonModel"))
    kernel.pump(0.3)
    (button,) = kernel.models("ButtonModel")
    kernel.click(button)
    clicked = kernel.now()
    kernel.until(lambda: cell.done, 60)
    return cell.replied - clicked


def seconds_for(action):
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def one_round(figures):
    """Measure everything once."""

    def note(name, ours, stock=None):
        figures.setdefault(name, ([], []))[0].append(ours)
        if stock is not None:
            figures[name][1].append(stock)

    with Kernel(NIT) as nit, Kernel(STOCK) as stock:
        note("kernel ready", nit.seconds_to_ready, stock.seconds_to_ready)
        note("%load_ext nit_kernel", float(stock.run(LOAD).result))
        nit.run(TOOLS)
        note(
            "first TAB in a cell",
            seconds_for(lambda: nit.complete("%%nit\n$x = ad")),
            seconds_for(lambda: stock.complete("import o")),
        )
        note(
            "next TAB",
            seconds_for(lambda: nit.complete("%%nit\n$x = ad")),
            seconds_for(lambda: stock.complete("import o")),
        )
        nit.run("%%nit\nadd(a=1)\n")
        note(
            "a cell of one call",
            nit.run("%%nit\nadd(a=1)\n").seconds,
            stock.run("1 + 1").seconds,
        )
        note(
            "interrupt: sleeping function",
            seconds_to_interrupt(nit, "%%nit\nnap(seconds=20)\n"),
            seconds_to_interrupt(stock, "import time; time.sleep(20)"),
        )
        note(
            "interrupt: coroutine",
            seconds_to_interrupt(nit, "%%nit\ndoze(seconds=20)\n"),
            seconds_to_interrupt(stock, "import asyncio; await asyncio.sleep(6)"),
        )
        note(
            "interrupt: nested in %%time",
            seconds_to_interrupt(nit, "%%time\n%%nit\ndoze(seconds=20)\n"),
        )
        note("Cancel while the cell waits", seconds_to_cancel(nit))
        cell = nit.run("%%nit\n$b = async busy()\n$b\n", settle=0.3)
        messages = [m for m in cell.messages if m.kind.startswith("comm_")]
        note("messages a second, 5,000 progress events", len(messages) / cell.seconds)
        nit.send("%%nit\nasync doze(seconds=60)\ndoze(seconds=60)\n")
        nit.pump(0.5)
        note("shutdown with running tools", nit.shutdown(), stock.shutdown())


GOALS = {
    "%load_ext nit_kernel": 0.150,
    "kernel ready": 1.2,
    "first TAB in a cell": 0.1,
    "next TAB": 0.05,
    "interrupt: sleeping function": 0.5,
    "interrupt: coroutine": 0.5,
    "interrupt: nested in %%time": 0.5,
    "Cancel while the cell waits": 0.3,
    "messages a second, 5,000 progress events": 20,
    "shutdown with running tools": 0.5,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    figures = {}
    for _ in range(rounds):
        one_round(figures)
    print(f"{'median of ' + str(rounds):<44}{'ours':>10}{'stock':>10}{'goal':>10}")
    for name, (ours, stock) in figures.items():
        middle = statistics.median(ours)
        beside = f"{statistics.median(stock):.3f}" if stock else ""
        goal = GOALS.get(name)
        verdict = "" if goal is None else f"{goal:>10}" + ("" if middle <= goal else "  missed")
        print(f"{name:<44}{middle:>10.3f}{beside:>10}{verdict}")


if __name__ == "__main__":
    main()
