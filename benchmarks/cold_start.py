"""Cold start: a whole process, from nothing to the first script parsed, checked and run.

    python benchmarks/cold_start.py [--rounds 9]

CPU and wall time of the child process, medians; every candidate once a round. Modules are compiled
to bytecode beforehand, as an installer does it. Anchor: `python -c pass`.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

from harness import table

FIRST_RUN = """
import nit_kernel as nit
def add(a: int, b: int = 1) -> int:
    return a + b
with nit.Session(tools=[add]) as session:
    assert session.run("$x = add(a=1, b=2)\\n$x").value == 3
"""

PEERS = {
    "python -c pass": "pass",
    "import nit_kernel, first run": FIRST_RUN,
    "import ast, ast.parse": "import ast; ast.parse('x = add(a=1, b=2)')",
    "smolagents, first run": (
        "from smolagents.local_python_executor import LocalPythonExecutor as E\n"
        "e = E([]); e.send_tools({'add': lambda a, b: a + b}); e('x = add(a=1, b=2)')"
    ),
    "import jsonschema": "import jsonschema",
    "import pydantic": "import pydantic",
    "import openai": "import openai",
}


def child(code: str, environment: dict[str, str]) -> tuple[float, float]:
    """CPU and wall seconds of one process that runs `code`."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, env=environment)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    measured: dict[str, list[tuple[float, float]]] = {name: [] for name in PEERS}
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory() as folder:
        environment["PYTHONPYCACHEPREFIX"] = folder
        # The first round compiles, warms the disk cache and is not counted.
        for turn in range(options.rounds + 1):
            for name, code in PEERS.items():
                times = child(code, environment)
                if turn:
                    measured[name].append(times)
    cpu = {name: statistics.median(t[0] for t in times) for name, times in measured.items()}
    wall = {name: statistics.median(t[1] for t in times) for name, times in measured.items()}
    bare = "python -c pass"
    print(
        table(
            ["what", "CPU ms", "wall ms", "CPU ms over bare Python", "wall ms over bare Python"],
            [
                [
                    name,
                    f"{cpu[name] * 1e3:.0f}",
                    f"{wall[name] * 1e3:.0f}",
                    f"{(cpu[name] - cpu[bare]) * 1e3:.0f}",
                    f"{(wall[name] - wall[bare]) * 1e3:.0f}",
                ]
                for name in PEERS
            ],
        )
    )


if __name__ == "__main__":
    main()
