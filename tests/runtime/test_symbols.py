import threading
from collections.abc import MutableMapping

import pytest

from nit_kernel import NitLimitError
from nit_kernel.runtime.symbols import ABSENT, SymbolTable


def test_table_is_a_mutable_mapping() -> None:
    table = SymbolTable()
    table["a"] = 1
    table.update(b=None, c=[2])
    del table["a"]
    assert dict(table) == {"b": None, "c": [2]}
    assert ("b" in table, "a" in table, 3 in table, len(table)) == (True, False, False, 2)
    table.clear()
    assert dict(table) == {}


def test_lookup_tells_null_from_nothing() -> None:
    table = SymbolTable()
    table["a"] = None
    assert (table.lookup("a", ABSENT), table.lookup("b", ABSENT)) == (None, ABSENT)


@pytest.mark.parametrize("name", ["", "1a", "a b", "a.b", "$a", "__secret", "a-b"])
def test_name_that_no_script_could_write_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="cannot be a NIT variable"):
        SymbolTable()[name] = 1


def test_names_are_normalised_as_the_language_does() -> None:
    table = SymbolTable()
    table["ﬁle"] = 1
    assert (list(table), table["file"], "ﬁle" in table) == (["file"], 1, True)


def test_full_table_takes_old_names_and_refuses_new_ones() -> None:
    table = SymbolTable(limit=2)
    table.update(a=1, b=2)
    table["a"] = 3
    with pytest.raises(NitLimitError) as caught:
        table["c"] = 4
    assert (caught.value.code, dict(table)) == ("NIT403", {"a": 3, "b": 2})


def test_iterating_while_another_thread_writes_is_safe() -> None:
    table = SymbolTable()
    stop = threading.Event()

    def write() -> None:
        number = 0
        while not stop.is_set():
            table[f"v{number % 50}"] = number
            if number % 7 == 0:
                table.pop(f"v{(number + 3) % 50}", None)
            number += 1

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(300):
            assert all(isinstance(name, str) for name in table)
            table.raw_items()
    finally:
        stop.set()
        writer.join()


def test_name_that_is_no_text_is_refused_as_such() -> None:
    table: MutableMapping[object, object] = SymbolTable()  # type: ignore[assignment]
    with pytest.raises(TypeError) as caught:
        table[1] = 1
    assert str(caught.value) == "the name of a NIT variable is text, not int"
    with pytest.raises(KeyError):
        table[1]
    with pytest.raises(KeyError):
        del table[1]
    assert table.get(1) is None
