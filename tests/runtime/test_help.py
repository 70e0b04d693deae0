"""What `help` says of a name that means no single tool."""

import pytest
from runtime.making import make_tool

from nit_kernel.runtime.builtin import help_text
from nit_kernel.runtime.registry import Registry


def fetch() -> None:
    """Fetch."""


def get() -> None:
    """Get."""


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("fetch", "`fetch` is the name of several tools: `pages.fetch` or `web.fetch`"),
        ("fetch-it", "`fetch-it` is the name of several tools: `pages.fetch_it` or `web.fetch_it`"),
        ("get", "`get` is disabled: no network"),
        ("web.get", "`web.get` is disabled: no network"),
        ("fetsh", "there is no tool `fetsh`: did you mean `fetch`?"),
        ("nothing", "there is no tool `nothing`"),
    ],
)
def test_help_says_why_a_name_means_no_tool(name: str, message: str) -> None:
    registry = Registry()
    tools = [make_tool(fetch), make_tool(fetch, name="fetch-it")]
    registry.register("pages", "plugin", tools)
    registry.register("web", "plugin", [*tools, make_tool(get)], off={"get": "no network"})
    with pytest.raises(LookupError) as caught:
        help_text(registry, name)
    assert str(caught.value) == message


def test_help_of_a_full_name_is_of_that_tool() -> None:
    registry = Registry()
    for source in ("pages", "web"):
        registry.register(source, "plugin", [make_tool(fetch)])
    assert "from web" in help_text(registry, "web.fetch")
