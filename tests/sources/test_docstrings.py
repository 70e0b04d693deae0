"""What a docstring says of a tool and of its parameters."""

import pytest

from nit_kernel.sources.docstrings import read_docstring
from nit_kernel.sources.functions import tool_of

NUMPY = """Add.

Parameters
----------
a, b : int
    Two numbers.
c
    Another one,
    or none.

Returns
-------
int
    The sum.
"""
SPHINX = """Add.

:param int a: Two numbers.
:param b: Two numbers.
:param c: Another one,
    or none.
:returns: The sum.
"""
GOOGLE = """Add.

Args:
    a (int): Two numbers.
    b: Two numbers.
    c: Another one,
        or none.

Returns:
    The sum.
"""


@pytest.mark.parametrize("text", [NUMPY, SPHINX, GOOGLE])
def test_parameters_are_described_in_each_style_of_docstring(text: str) -> None:
    def add(a: int, b: int, c: int = 0) -> int:
        return a + b + c

    add.__doc__ = text
    spec = tool_of(add).spec
    words = {name: member["description"] for name, member in spec.parameters["properties"].items()}
    assert spec.description == "Add."
    assert words == {"a": "Two numbers.", "b": "Two numbers.", "c": "Another one, or none."}


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        (None, ""),
        ("", ""),
        ("One line.", "One line."),
        ("Two\nlines.\n\nMore.", "Two lines."),
        ("\n    Begins below.\n    ", "Begins below."),
        ("Args:\n    a: Only parameters.", ""),
        (":param a: Only parameters.", ""),
    ],
)
def test_the_first_paragraph_is_the_description(text: str | None, summary: str) -> None:
    def function() -> None: ...

    function.__doc__ = text
    assert read_docstring(function).summary == summary


def test_a_section_that_is_no_list_of_parameters_has_none() -> None:
    def function() -> None:
        """Do it.

        Args:
        Returns:
            a: No parameter.

        Note: this is: prose.
        """

    assert read_docstring(function).parameters == {}
