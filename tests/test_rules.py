"""The table of rules names tests that are there."""

import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROWS = [
    line.strip("| ").rsplit("|", 1)
    for line in (HERE / "RULES.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and not line.startswith("| rule |")
]


def test_every_section_of_the_language_has_rules() -> None:
    text = (HERE / "RULES.md").read_text(encoding="utf-8")
    assert [int(number) for number in re.findall(r"^## (\d+)\.", text, re.MULTILINE)] == list(
        range(1, 11)
    )
    assert len(ROWS) > 100


@pytest.mark.parametrize("place", sorted({place.strip() for _, place in ROWS}))
def test_a_rule_names_a_test_that_is_there(place: str) -> None:
    path, _, name = place.partition("::")
    source = (HERE / path).read_text(encoding="utf-8")
    assert re.search(rf"^(async )?def test_{name}\(", source, re.MULTILINE)
