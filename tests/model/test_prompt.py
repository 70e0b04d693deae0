"""What is said to a model."""

from __future__ import annotations

from codec_samples import tool

from nit_kernel.language.schema import ToolSpec
from nit_kernel.model import prompt
from nit_kernel.model.messages import Variable


def test_nit_is_told_in_less_than_350_tokens_with_two_examples() -> None:
    late = prompt.REQUEST_OR_WORDS.replace("{id}", "A1B2")
    told = f"{prompt.NIT}\n{late}"
    # 345 tokens of o200k_base were counted; the tokenizer's table is not in reach of every test,
    # so the text is held to its number of characters then.
    assert len(told) <= 1_270
    assert prompt.NIT.count("\n<nit-XXXX>\n") == 2


def test_the_catalogue_is_a_signature_line_and_the_description() -> None:
    search = ToolSpec(
        name="search",
        description="Search the web.\nUse it for news.",
        parameter_text="Write `query` as a question.",
        parameters={
            "type": "object",
            "properties": {
                "query": {"type": "string"},
                "limit": {"type": "integer", "default": 10},
            },
            "required": ["query"],
        },
        returns={"type": "array"},
    )
    assert prompt.catalogue([search], has_help=True) == (
        "Tools:\n"
        "search(query: str, limit: int = 10) -> list\n"
        "    Search the web.\n"
        "    Use it for news.\n"
        "    Parameters: Write `query` as a question."
    )


def test_many_tools_are_a_short_list_and_the_model_asks_for_more() -> None:
    tools = [tool(f"tool_{n}", ["a"], a="integer") for n in range(41)]
    assert prompt.catalogue(tools, has_help=True).split("\n")[:2] == [
        'Tools (41), by name only. Ask for the parameters of one with help("NAME") before you use '
        "it:",
        "tool_0  # The tool tool_0.",
    ]
    assert prompt.catalogue(tools, has_help=False).split("\n")[1] == (
        "tool_0(a: int)  # The tool tool_0."
    )
    assert prompt.catalogue(tools, limit=41, has_help=True).startswith("Tools:\ntool_0(a: int)")


def test_without_tools_the_prompt_says_so() -> None:
    assert prompt.catalogue([], has_help=True) == "There are no tools."


def test_the_variable_table_has_name_type_and_size() -> None:
    table = prompt.variable_table([Variable(name="page", type="String", size="12,345 chars")])
    assert table == "Variables that scripts can read:\n$page: String, 12,345 chars"


def test_a_long_text_is_head_tail_and_size() -> None:
    assert prompt.clip("a" * 10, 10) == "a" * 10
    assert prompt.clip("a" * 8 + "b" * 8, 9) == ("aaaaaa\n[.. 7 of 16 characters left out ..]\nbbb")
