"""What a tool is told of the notebook around its cell."""

from IPython.core.interactiveshell import InteractiveShell

from nit_kernel.notebook.surroundings import NotebookSurroundings, follow_surroundings
from nit_kernel.runtime.surroundings import SURROUNDINGS, SeenCell


def cell(number: int, source: str, *outputs: str) -> SeenCell:
    return SeenCell(number=number, source=source, outputs=outputs)


def test_the_last_cells_are_told_with_what_they_showed(shell: InteractiveShell) -> None:
    provider = NotebookSurroundings(shell)
    assert provider.recent_cells(5) == []
    shell.run_cell("a = 1", store_history=True)
    shell.run_cell("print('hello')\n2 + 3", store_history=True)
    shell.run_cell("1 / 0", store_history=True)
    shell.run_cell("from IPython.display import display\ndisplay([1])", store_history=True)
    assert provider.recent_cells(3) == [
        cell(2, "print('hello')\n2 + 3", "hello", "5"),
        cell(3, "1 / 0", "ZeroDivisionError: division by zero"),
        cell(4, "from IPython.display import display\ndisplay([1])", "[1]"),
    ]
    assert [seen.number for seen in provider.recent_cells(50)] == [1, 2, 3, 4]


def test_colours_and_long_outputs_are_taken_out(shell: InteractiveShell) -> None:
    shell.run_cell("print('\\x1b[31mred\\x1b[0m')", store_history=True)
    shell.run_cell("print('x' * 100_000)", store_history=True)
    first, second = NotebookSurroundings(shell).recent_cells(2)
    assert first.outputs == ("red",)
    (output,) = second.outputs
    assert len(output) < 21_000
    assert "[80,000 characters left out]" in output


def test_every_cell_knows_its_surroundings_until_that_is_taken_off(shell: InteractiveShell) -> None:
    remove = follow_surroundings(shell)
    ask = "from nit_kernel.runtime.surroundings import SURROUNDINGS\nseen = SURROUNDINGS.get()"
    shell.run_cell(ask, store_history=True)
    assert isinstance(shell.user_ns["seen"], NotebookSurroundings)
    assert shell.user_ns["seen"].recent_cells(1) == [cell(1, ask)]
    remove()
    assert SURROUNDINGS.get() is None
    shell.run_cell(ask, store_history=True)
    assert shell.user_ns["seen"] is None
