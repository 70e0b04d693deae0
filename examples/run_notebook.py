"""Execute a notebook in its own kernel and print each cell with its output.

    python examples/run_notebook.py NOTEBOOK [--kernel nit] [--save FILE]

Exit status 1 when a cell fails; the failing cell's error is printed like any other output.
"""

import argparse
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError


def text_of(output: nbformat.NotebookNode) -> str:
    """The plain-text form of one output."""
    match output.output_type:
        case "stream":
            return output.text
        case "error":
            return "\n".join(output.traceback)
        case _:
            data = output.data
            return data.get("text/plain") or data.get("text/markdown") or f"<{', '.join(data)}>"


def print_cells(notebook: nbformat.NotebookNode) -> None:
    """Print every cell that was reached: its source behind a bar, then what it gave."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            print(f"\n{cell.source}")
            continue
        print()
        for line in cell.source.splitlines():
            print(f"  │ {line}")
        for output in cell.outputs:
            print(text_of(output).rstrip("\n"))


def main() -> int:
    """Run it; returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("notebook", type=Path)
    parser.add_argument("--kernel", default="nit", help="kernel name (default: nit)")
    parser.add_argument("--save", type=Path, help="write the executed notebook here")
    options = parser.parse_args()

    notebook = nbformat.read(options.notebook, as_version=4)
    client = NotebookClient(
        notebook,
        kernel_name=options.kernel,
        timeout=120,
        extra_arguments=["--log-level=ERROR"],
        resources={"metadata": {"path": str(options.notebook.parent or Path())}},
    )
    failed = False
    try:
        client.execute()
    except CellExecutionError:
        failed = True
    print_cells(notebook)
    if options.save:
        nbformat.write(notebook, options.save)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
