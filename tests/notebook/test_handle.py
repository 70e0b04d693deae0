"""`nit` in the namespace: there after every cell, and no surprise where an import hides it."""

import sys

import pytest

HIDES = (
    "warning: `nit` is the module now, and `@nit.tool` of it makes no tool of this notebook; "
    "`del nit` brings back the notebook's own\n"
)


@pytest.fixture
def run(shell, capsys):
    def run(cell: str) -> str:
        assert shell.run_cell(cell).success
        return capsys.readouterr().err

    run("%load_ext nit_kernel")
    return run


def test_an_import_that_hides_the_handle_is_told_once(shell, run):
    handle = shell.user_ns["nit"]

    assert run("import nit_kernel as nit") == HIDES
    assert shell.user_ns["nit"] is sys.modules["nit_kernel"]
    assert run("x = 1") == ""
    assert run("del nit") == ""
    assert shell.user_ns["nit"] is handle
    assert run("import nit_kernel as nit") == HIDES


def test_the_module_under_another_name_hides_nothing(shell, run):
    assert run("import nit_kernel") == ""
    assert run("nit = 3") == ""
    assert shell.user_ns["nit"] == 3


def test_a_variable_whose_name_is_no_text_is_refused(shell, run):
    with pytest.raises(TypeError, match="the name of a NIT variable is text, not int"):
        shell.user_ns["nit"].vars[1] = 1
