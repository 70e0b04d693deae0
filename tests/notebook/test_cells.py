"""What a cell of NIT becomes before Python sees it."""

import pytest

from nit_kernel.notebook.cells import (
    AwaitingTransformer,
    CellDepth,
    bare_block_to_cell,
    is_bare_block,
    uncover_magic,
)


@pytest.fixture
def depth(shell):
    depth = CellDepth()
    shell.input_transformers_post.append(AwaitingTransformer(shell, depth))
    shell.input_transformer_manager.cleanup_transforms.insert(0, uncover_magic)
    return depth


@pytest.mark.parametrize(
    ("cell", "python"),
    [
        (
            "%%nit\n$a = f(x=1)\n",
            "await get_ipython().run_cell_magic('nit_await', '', '$a = f(x=1)\\n')\n",
        ),
        (
            "%%nit --name 'my cell'\nf()",
            "await get_ipython().run_cell_magic('nit_await', \"--name 'my cell'\", 'f()\\n')\n",
        ),
        ("%%nit", "await get_ipython().run_cell_magic('nit_await', '', '\\n')\n"),
        ("%%nit\n", "await get_ipython().run_cell_magic('nit_await', '', '\\n')\n"),
        (
            "\ufeff%%nit\nf()\n",
            "await get_ipython().run_cell_magic('nit_await', '', 'f()\\n')\n",
        ),
        (
            "\n\n  %%nit\n  f()\n",
            "await get_ipython().run_cell_magic('nit_await', '', 'f()\\n')\n",
        ),
        (
            "%%nit\r\nf()\r\n",
            "await get_ipython().run_cell_magic('nit_await', '', 'f()\\r\\n')\n",
        ),
        (
            '%%nit\n$s = echo(t="$5, {{y}}, a[:2]")\n',
            "await get_ipython().run_cell_magic('nit_await', '', "
            "'$s = echo(t=\"$5, {{y}}, a[:2]\")\\n')\n",
        ),
        (
            "%nit wait\n%nit vars\n",
            "await get_ipython().run_line_magic('nit_await', 'wait')\n"
            "await get_ipython().run_line_magic('nit_await', 'vars')\n",
        ),
        (
            "# note\n\n%nit f(x=1)\n",
            "# note\n\nawait get_ipython().run_line_magic('nit_await', 'f(x=1)')\n",
        ),
    ],
)
def test_a_cell_of_nit_is_awaited(shell, depth, cell, python):
    assert shell.transform_cell(cell) == python


@pytest.mark.parametrize("before", ["  ", "\t", "\ufeff", "\ufeff  ", "\n\ufeff \t", "\n \n  "])
def test_blanks_and_a_byte_order_mark_before_a_cell_do_not_matter(shell, depth, before):
    assert shell.transform_cell(f"{before}%%nit\n$x = 1\n") == (
        "await get_ipython().run_cell_magic('nit_await', '', '$x = 1\\n')\n"
    )


@pytest.mark.parametrize(
    "cell",
    [
        "x = 1\n",
        "%nit f()\nimport time; time.sleep(9)\n",
        "x = %nit f()\n",
        "%%time\n%%nit\nf()\n",
        "text = '''\n%%nit\n'''\n",
        "get_ipython().run_cell_magic('nit', '', '$x').upper()\n",
    ],
)
def test_other_cells_are_left_alone(shell, depth, cell):
    transformed = shell.transform_cell(cell)

    assert "await" not in transformed
    assert "nit_await" not in transformed


def test_nothing_is_awaited_inside_another_cell(shell, depth):
    depth.enter()

    inside = shell.transform_cell("%%nit\nf()\n")
    depth.leave()

    assert inside == "get_ipython().run_cell_magic('nit', '', 'f()\\n')\n"
    assert shell.transform_cell("%%nit\nf()\n").startswith("await ")


def test_nothing_is_awaited_where_the_shell_does_not_await(shell, depth):
    shell.autoawait = False

    assert shell.transform_cell("%%nit\nf()\n").startswith("get_ipython()")


def test_nothing_is_awaited_for_a_callback_of_a_running_loop(shell, depth):
    import asyncio

    seen = []
    shell.input_transformers_post.append(lambda lines: seen.append(lines) or [])

    async def main():
        shell.run_cell("%%nit\nf()\n")

    asyncio.run(main())

    assert seen == [["get_ipython().run_cell_magic('nit', '', 'f()\\n')\n"]]


def test_the_depth_of_one_thread_is_not_that_of_another():
    import threading

    depth = CellDepth()
    depth.enter()
    depth.enter()
    seen = []
    thread = threading.Thread(target=lambda: seen.append((depth.here, depth.anywhere)))
    thread.start()
    thread.join()

    assert (depth.here, seen) == (2, [(0, 2)])


def test_an_end_without_a_beginning_does_not_count():
    depth = CellDepth()
    depth.leave()
    depth.enter()

    assert depth.here == 1


@pytest.mark.parametrize(
    ("cell", "is_block"),
    [
        ("<nit>\nf()\n</nit>", True),
        ("  <nit>f()</nit>\n\n", True),
        ("\ufeff<nit-A1B2>\nf()\n</nit-A1B2>", True),
        ("<nit>\nf()\n", False),
        ("<nitrogen>x</nitrogen>", False),
        ("x = '<nit></nit>'", False),
        ("<nit>f()</nit>\nprint(1)", False),
    ],
)
def test_a_bare_block_is_a_cell_only_if_it_is_nothing_else(cell, is_block):
    assert is_bare_block(cell) is is_block
    lines = cell.splitlines(keepends=True)
    assert bare_block_to_cell(lines) == (["%%nit\n", *lines] if is_block else lines)
