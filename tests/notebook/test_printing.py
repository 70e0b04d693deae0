"""How much of a cell's prints is shown."""

import pytest

from nit_kernel.notebook.display import ValueDisplay, clip
from nit_kernel.notebook.printing import PrintBudget


def test_what_fits_is_shown_at_once_and_whole():
    budget = PrintBudget(1000)

    shown = [budget.admit("a" * 300), budget.admit("b" * 300)]

    assert shown == ["a" * 300, "b" * 300]
    assert (budget.close(), budget.left) == ("", 400)


def test_a_flood_shows_its_head_and_its_tail_within_the_limit():
    budget = PrintBudget(10_000)
    lines = [f"line {number}\n" for number in range(200_000)]

    shown = "".join(budget.admit(line) for line in lines)
    tail = budget.close()

    whole = "".join(lines)
    assert whole.startswith(shown)
    assert tail.endswith("line 199999\n")
    assert "characters left out" in tail
    assert len(shown) + len(tail) <= 10_000


def test_what_only_fits_with_the_tail_is_shown_whole():
    budget = PrintBudget(1000)
    text = "x" * 700 + "y" * 190

    shown = budget.admit(text[:700]) + budget.admit(text[700:])

    assert shown + budget.close() == text


def test_after_the_end_nothing_is_kept_back():
    budget = PrintBudget(1000)
    budget.admit("x" * 900)
    budget.close()

    assert budget.admit("more") == ""
    assert budget.close() == ""


@pytest.mark.parametrize("chars", [60, 100, 1000, 9_999])
def test_a_clipped_text_is_never_longer_than_asked(chars):
    text = "y\n" * 5_000 + "EXIT 7"

    clipped = clip(text, chars)

    assert len(clipped) <= chars
    assert clipped.endswith("EXIT 7")
    assert "characters left out" in clipped


def test_a_short_text_is_not_clipped():
    assert clip("abc", 3) == "abc"


def test_half_a_surrogate_pair_in_a_value_is_shown_as_a_replacement(shell) -> None:
    bundle, _ = ValueDisplay(shell).bundle("ok \ud83d", 100)
    assert bundle == {"text/plain": "ok \ufffd"}
