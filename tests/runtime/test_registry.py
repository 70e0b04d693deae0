import pytest

from nit_kernel import PluginError, Tool
from nit_kernel.runtime.registry import Ambiguous, Disabled, Missing, Registry

OPEN = {"type": "object"}


def make(name: str, says: str = "") -> Tool:
    return Tool(name, says, OPEN, lambda: says)


def reached(registry: Registry, name: str) -> str:
    """Where a name leads, in one word."""
    match registry.resolve(name):
        case Tool() as tool:
            return tool.full_name
        case Ambiguous(_, tools):
            return "ambiguous: " + " ".join(tool.full_name for tool in tools)
        case Disabled(_, tool, reason):
            return f"{tool.full_name} is off: {reason}"
        case Missing():
            return "missing"


def test_bare_name_belongs_to_the_notebook_before_a_plugin_before_a_server() -> None:
    registry = Registry()
    found = []
    registry.register("hub", "server", [make("search")])
    found.append(reached(registry, "search"))
    registry.register("web", "plugin", [make("search")])
    found.append(reached(registry, "search"))
    registry.add(make("search"))
    found.append(reached(registry, "search"))
    assert found == ["hub.search", "web.search", "notebook.search"]
    assert [reached(registry, f"{source}.search") for source in ("hub", "web", "notebook")] == [
        "hub.search",
        "web.search",
        "notebook.search",
    ]


def test_adding_a_server_does_not_change_what_a_bare_name_means() -> None:
    registry = Registry()
    registry.register("web", "plugin", [make("search")])
    notes = registry.register("hub", "server", [make("search")])
    assert reached(registry, "search") == "web.search"
    assert notes == ("`search` still means `web.search`; write `hub.search` for this one",)


def test_covering_another_tool_is_said_once() -> None:
    registry = Registry()
    registry.register("web", "plugin", [make("search")])
    assert registry.add(make("search")) == (
        "`search` now means `notebook.search`; write `web.search` for the other",
    )
    assert registry.add(make("search")) == ()


def test_two_plugins_with_one_name_make_the_bare_name_ambiguous_and_leave_both_reachable() -> None:
    registry = Registry()
    registry.register("one", "plugin", [make("go"), make("stay")])
    notes = registry.register("two", "plugin", [make("go")])
    assert notes == ("`go` is now ambiguous: write `one.go` and `two.go`",)
    assert [reached(registry, name) for name in ("go", "one.go", "two.go", "stay")] == [
        "ambiguous: one.go two.go",
        "one.go",
        "two.go",
        "one.stay",
    ]


def test_function_of_the_notebook_settles_what_two_plugins_leave_open() -> None:
    registry = Registry()
    registry.register("one", "plugin", [make("go")])
    registry.register("two", "plugin", [make("go")])
    registry.add(make("go"))
    assert reached(registry, "go") == "notebook.go"


def test_source_is_taken_whole_or_not_at_all() -> None:
    registry = Registry()
    with pytest.raises(PluginError) as caught:
        registry.register("web", "plugin", [make("a"), make("b"), make("a")])
    assert caught.value.code == "NIT552"
    assert (registry.tools(), reached(registry, "b")) == ([], "missing")


def test_source_whose_name_looks_like_another_in_a_script_is_refused() -> None:
    registry = Registry()
    registry.register("my-web", "plugin", [make("a")])
    with pytest.raises(PluginError) as caught:
        registry.register("my_web", "server", [make("b")])
    assert caught.value.code == "NIT551"
    assert reached(registry, "my_web.a") == "my_web.a"


def test_registering_a_source_again_replaces_all_its_tools() -> None:
    registry = Registry()
    registry.register("web", "plugin", [make("a"), make("b")])
    version = registry.version
    registry.register("web", "plugin", [make("b"), make("c")])
    assert registry.version > version
    assert [reached(registry, name) for name in "abc"] == ["missing", "web.b", "web.c"]


def test_unregistering_a_source_gives_its_names_back() -> None:
    registry = Registry()
    registry.register("web", "plugin", [make("search")])
    registry.register("hub", "server", [make("search")])
    assert registry.unregister("web")
    assert not registry.unregister("web")
    assert [reached(registry, n) for n in ("search", "web.search")] == ["hub.search", "missing"]


@pytest.mark.parametrize("spelling", ["rm", "shell.rm", "rm-all", "rm_all", "shell.rm_all"])
def test_disabled_tool_is_reached_by_no_spelling(spelling: str) -> None:
    registry = Registry()
    registry.register("shell", "plugin", [make("rm"), make("rm-all"), make("ls")])
    registry.disable("shell", "rm", reason="too sharp")
    registry.disable("shell", "rm-all")
    assert not isinstance(registry.resolve(spelling), Tool)
    assert not isinstance(registry.resolve_exact(spelling), Tool)
    assert registry.names() == ["help", "ls", "shell.ls"]
    assert [tool.name for tool in registry.tools()] == ["ls"]


def test_disabled_tool_says_why_and_comes_back() -> None:
    registry = Registry()
    registry.register("shell", "plugin", [make("rm")], off={"rm": "too sharp"})
    assert reached(registry, "rm") == "shell.rm is off: too sharp"
    registry.enable("shell", "rm")
    assert reached(registry, "rm") == "shell.rm"


def test_disabling_a_tool_gives_its_bare_name_to_the_next_source() -> None:
    registry = Registry()
    registry.register("one", "plugin", [make("go")])
    registry.register("two", "plugin", [make("go")])
    registry.disable("one")
    assert reached(registry, "go") == "two.go"


def test_disabling_what_is_not_there_raises() -> None:
    registry = Registry()
    registry.register("web", "plugin", [make("a")])
    with pytest.raises(KeyError):
        registry.disable("web", "b")
    with pytest.raises(KeyError):
        registry.disable("hub")


@pytest.mark.parametrize("word", ["call", "help", "async", "true", "None", "class", "if", "await"])
def test_word_of_the_language_is_never_a_bare_tool_name(word: str) -> None:
    registry = Registry()
    notes = registry.register("odd", "plugin", [make(word, "odd")])
    bare = registry.resolve(word)
    assert not (isinstance(bare, Tool) and bare.source == "odd")
    assert reached(registry, f"odd.{word}") == f"odd.{word}"
    assert notes == (f"`{word}` is a word of the language; write `odd.{word}`",)


def test_exact_name_reaches_what_a_script_cannot_write() -> None:
    registry = Registry()
    registry.register("my hub", "server", [make("get-weather"), make("Search (Tips)")])
    exact = ["get-weather", "my hub.get-weather", "Search (Tips)", "my_hub.Search_Tips"]
    tools = [registry.resolve_exact(name) for name in exact]
    assert [tool.name for tool in tools if isinstance(tool, Tool)] == [
        "get-weather",
        "get-weather",
        "Search (Tips)",
        "Search (Tips)",
    ]


def test_names_that_become_equal_are_numbered_whatever_their_order() -> None:
    names = ["get weather", "get_weather", "get-weather"]
    for order in (names, names[::-1]):
        registry = Registry()
        registry.register("hub", "server", [make(name) for name in order])
        written = {tool.name: tool.spec.nit_name for tool in registry.tools()}
        assert written == {
            "get_weather": "get_weather",
            "get weather": "get_weather_2",
            "get-weather": "get_weather_3",
        }


def test_one_tool_in_two_registries_keeps_its_own_place_in_each() -> None:
    tool = make("go")
    one, two = Registry(), Registry()
    one.register("a", "plugin", [tool])
    two.register("b", "server", [tool])
    assert (reached(one, "go"), reached(two, "go")) == ("a.go", "b.go")


def test_near_names_differ_only_in_case_and_dashes() -> None:
    registry = Registry()
    registry.register("web", "plugin", [make("fetch_page"), make("fetch_pages")])
    assert registry.near("fetchPage") == ["fetch_page"]
    assert registry.near("web.FETCH_PAGE") == ["web.fetch_page"]


def test_shortest_name_that_reaches_a_tool_is_the_one_shown() -> None:
    registry = Registry()
    registry.register("one", "plugin", [make("go")])
    registry.register("two", "plugin", [make("go"), make("stop")])
    assert sorted(map(registry.signature, registry.tools())) == [
        "one.go(**: any)",
        "stop(**: any)",
        "two.go(**: any)",
    ]
