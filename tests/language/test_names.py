"""The mapping from exact names to NIT names, near names, and names for providers."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nit_kernel._syntax import parse
from nit_kernel.language.schema import (
    did_you_mean,
    is_bare_name,
    nearest,
    nit_name,
    nit_names,
    provider_name,
    provider_names,
)


@pytest.mark.parametrize(
    ("exact", "written"),
    [
        ("search", "search"),
        ("get-weather", "get_weather"),
        ("Search (Tips)", "Search_Tips"),
        ("a/b", "a_b"),
        ("catalog.get-item", "catalog_get_item"),
        ("2fast", "_2fast"),
        ("class", "class"),
        ("搜索 天气", "搜索_天气"),
        ("ﬁle", "file"),
        ("__init__", "_init__"),
        ("__", "_"),
        ("-a-", "a"),
        ("", "unnamed"),
        ("!?", "unnamed"),
        ("\ud83d", "unnamed"),
        ("x" * 90, "x" * 90),
        ("🙂 smile", "smile"),
        ("a\u200db", "a_b"),
        ("go\ufe0f", "go"),
        ("\U000e0100", "unnamed"),
        ("a  --  b", "a_b"),
        ("café", "café"),
    ],
)
def test_an_exact_name_has_one_nit_name(exact: str, written: str) -> None:
    assert nit_name(exact) == written


@given(st.text(max_size=30))
def test_every_nit_name_can_be_written_and_maps_to_itself(exact: str) -> None:
    written = nit_name(exact)
    assert nit_name(written) == written
    assert parse(f"source.{written}(x=1)").ok
    assert parse(f"f({written}=1)").ok
    assert parse(f"{written}()").ok == is_bare_name(written)


@given(st.lists(st.text(alphabet="ab-_ .2", max_size=4), max_size=8))
def test_names_of_one_source_differ_and_do_not_depend_on_their_order(exact: list[str]) -> None:
    names = nit_names(exact)
    assert list(names) == list(dict.fromkeys(exact))
    assert len(set(names.values())) == len(names)
    assert nit_names(reversed(exact)) == names


def test_equal_names_are_numbered_and_the_exact_one_keeps_its_own() -> None:
    assert nit_names(["a-b", "a.b", "a_b"]) == {"a-b": "a_b_2", "a.b": "a_b_3", "a_b": "a_b"}


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("serch", ["search"]),
        ("saerch", ["search"]),
        ("getWeather", ["get_weather"]),
        ("GET-WEATHER", ["get_weather"]),
        ("limt", ["limit"]),
        ("ab", []),
        ("a", []),
        ("search", []),
        ("web.serch", ["web.search"]),
        ("天汽", ["天气"]),
    ],
)
def test_near_names_are_found(name: str, near: list[str]) -> None:
    candidates = ["search", "get_weather", "limit", "xyz", "web.search", "天气"]
    assert nearest(name, candidates) == near


def test_look_alike_letters_are_never_near() -> None:
    assert nearest("sеarch", ["search"]) == []  # a Cyrillic letter
    assert nearest("ѕеаrсh", ["search"]) == []


def test_at_most_three_near_names_are_offered_nearest_first() -> None:
    near = nearest("tests", ["tess", "test", "tests1", "testes", "texts"])
    assert near == ["tess", "test", "testes"]
    assert (
        did_you_mean("pages", ["page", "pages_1"], before="$")
        == "did you mean `$page` or `$pages_1`?"
    )


def test_a_name_of_any_length_is_compared_at_once() -> None:
    assert nearest("x" * 200_000, ["search", "x" * 100]) == []


@given(st.text(max_size=80))
def test_a_provider_name_is_within_its_alphabet(name: str) -> None:
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", provider_name(name))


@given(st.lists(st.text(alphabet="ab._é", max_size=4), max_size=8))
def test_provider_names_differ_and_keep_those_that_are_good(names: list[str]) -> None:
    given_names = provider_names(names)
    assert len(set(given_names.values())) == len(set(names))
    for name, provider in given_names.items():
        assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", provider)
        if re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name):
            assert provider == name


def test_dots_of_provider_names_become_lines_where_that_is_free() -> None:
    assert provider_names(["files.read", "a.b", "a_b"]) == {
        "files.read": "files_read",
        "a.b": provider_name("a.b"),
        "a_b": "a_b",
    }
