"""The mirror: NIT variables and the notebook's are the same, each rule by a row."""

import sys
import types

import pytest

from nit_kernel.notebook.namespace import Mirror, NotebookNames, NotebookVariables
from nit_kernel.runtime.symbols import SymbolTable


class Told(list):
    def __call__(self, text, is_warning=False):
        self.append((text, is_warning))


class Task:
    """Stands for a background task in the table: its value once it is done."""

    def __init__(self):
        self.value = None
        self.is_done = False

    def __nit_settled__(self):
        return self.value if self.is_done else self


@pytest.fixture
def told():
    return Told()


@pytest.fixture
def table():
    return SymbolTable()


@pytest.fixture
def mirror(shell, table, told):
    return Mirror(shell, table, told)


def bind(mirror, table, name, value, author="person"):
    table.bind(name, value)
    mirror.push(name, value, author=author)


def test_a_variable_appears_under_its_name(shell, table, mirror, told):
    bind(mirror, table, "a", [1])

    assert shell.user_ns["a"] is table["a"]
    assert told == []


def test_rebinding_it_in_python_changes_the_variable(shell, table, mirror):
    bind(mirror, table, "a", 1)
    shell.user_ns["a"] = 2

    mirror.pull()

    assert dict(table) == {"a": 2}


def test_deleting_it_in_python_deletes_the_variable(shell, table, mirror):
    bind(mirror, table, "a", 1)
    del shell.user_ns["a"]

    mirror.pull()

    assert dict(table) == {}


def test_other_variables_of_the_notebook_do_not_enter_the_table(shell, table, mirror):
    shell.user_ns["mine"] = 1

    mirror.settle()

    assert dict(table) == {}


def test_a_person_replaces_a_plain_value_with_one_note(shell, table, mirror, told):
    shell.user_ns["df"] = "old"
    bind(mirror, table, "df", "new")
    bind(mirror, table, "df", "newer")
    shell.user_ns["df"] = "mine again"
    mirror.pull()
    bind(mirror, table, "df", "newest")

    assert shell.user_ns["df"] == "newest"
    assert told == [("`df` (str) of the notebook was replaced by `$df`", False)]


def test_a_model_touches_no_name_that_nit_did_not_make(shell, table, mirror, told):
    shell.user_ns["df"] = "mine"
    bind(mirror, table, "df", "model's", author="model")
    bind(mirror, table, "df", "model's again", author="model")
    bind(mirror, table, "fresh", 1, author="model")
    mirror.settle()

    assert (shell.user_ns["df"], shell.user_ns["fresh"]) == ("mine", 1)
    assert table["df"] == "model's again"
    assert told == [
        (
            "`df` means something else in this notebook and was left alone; "
            'the value of `$df` is nit.vars["df"]',
            True,
        )
    ]


def function():
    """Stands for a function of the person's."""


@pytest.mark.parametrize(
    ("name", "there"),
    [
        ("list", None),
        ("id", None),
        ("print", None),
        ("class", None),
        ("None", None),
        ("async", None),
        ("_", None),
        ("_1", None),
        ("_i", None),
        ("_ih", None),
        ("In", None),
        ("Out", None),
        ("get_ipython", None),
        ("quit", None),
        ("np", types),
        ("load", function),
        ("Thing", Told),
        ("sqrt", sys.getsizeof),
    ],
)
def test_some_names_are_never_touched(shell, table, mirror, told, name, there):
    if there is not None:
        shell.user_ns[name] = there
    before = shell.user_ns.get(name, "absent")

    bind(mirror, table, name, "value")
    mirror.settle()
    mirror.pull()

    assert shell.user_ns.get(name, "absent") is before
    assert table[name] == "value"
    assert told == [
        (
            f"`{name}` means something else in this notebook and was left alone; "
            f'the value of `${name}` is nit.vars["{name}"]',
            True,
        )
    ]


def test_the_handle_is_never_touched(shell, table, mirror, told):
    handle = object()
    shell.push({"nit": handle}, interactive=False)

    bind(mirror, table, "nit", 1)

    assert shell.user_ns["nit"] is handle
    assert [is_warning for _, is_warning in told] == [True]


def test_a_task_shows_as_itself_until_the_cell_after_which_it_ended(shell, table, mirror):
    task = Task()
    bind(mirror, table, "a", task)
    during = shell.user_ns["a"]
    task.value, task.is_done = "result", True
    in_the_middle = shell.user_ns["a"]
    mirror.pull()
    after_a_pull = shell.user_ns["a"]

    mirror.settle()

    assert (during, in_the_middle, after_a_pull) == (task, task, task)
    assert shell.user_ns["a"] == "result"


def test_a_task_that_did_not_come_to_a_value_stays(shell, table, mirror):
    task = Task()
    bind(mirror, table, "a", task)

    mirror.settle()

    assert shell.user_ns["a"] is task


def test_a_task_that_the_person_has_replaced_comes_to_nothing(shell, table, mirror):
    task = Task()
    bind(mirror, table, "a", task)
    shell.user_ns["a"] = "mine"
    task.value, task.is_done = "result", True

    mirror.settle()

    assert (shell.user_ns["a"], table["a"]) == ("mine", "mine")


def test_a_reset_takes_the_names_out_of_the_notebook(shell, table, mirror):
    bind(mirror, table, "a", 1)
    bind(mirror, table, "b", 2)
    shell.user_ns["b"] = "mine by now"
    table.clear()

    mirror.settle()

    assert "a" not in shell.user_ns
    assert shell.user_ns["b"] == "mine by now"


def test_sharing_makes_one_of_two(shell, table, mirror):
    shell.user_ns["df"] = [1]
    mirror.share("df")
    first = table["df"]
    shell.user_ns["df"] = [2]
    mirror.pull()

    assert (first, table["df"]) == ([1], [2])


def test_vars_follows_the_notebook_at_every_look(shell, table, mirror):
    variables = NotebookVariables(table, mirror)
    variables["a"] = 1
    made = shell.user_ns["a"]
    shell.user_ns["a"] = 2
    changed = variables["a"]
    del variables["a"]

    assert (made, changed, dict(variables), "a" in shell.user_ns) == (1, 2, {}, False)


def test_a_person_may_read_every_variable_but_is_offered_only_their_own(shell):
    shell.user_ns.update(mine=1, _private=2)
    names = NotebookNames(shell)

    assert names["_private"] == 2
    assert "mine" in names
    assert "get_ipython" not in list(names)
    assert "_private" not in list(names)
    assert "absent" not in names


def test_nothing_is_shown_twice_or_hidden(shell, table, mirror):
    bind(mirror, table, "a", 1)

    listed = shell.run_line_magic("who_ls", "")

    assert listed == ["a"]
