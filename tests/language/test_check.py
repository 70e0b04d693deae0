"""What `check` finds before anything runs, and what it lets through with a warning."""

from typing import Any

import pytest

from nit_kernel._syntax import parse
from nit_kernel.language.check import Checked, check_script
from nit_kernel.runtime.registry import Registry
from nit_kernel.runtime.tool import Tool


def made(name: str, properties: dict[str, Any], *required: str, **more: Any) -> Tool:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return Tool(name, "", schema, dict, **more)


SEARCH = made(
    "search",
    {
        "query": {"type": "string"},
        "limit": {"type": "integer"},
        "mode": {"enum": ["fast", "slow"]},
        "exact": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "integer"}},
    },
    "query",
)
WEATHER = made("get-weather", {"Api-Version": {"type": "string"}, "city": {}}, "city")


def registry_of(*plugins: tuple[str, str, list[Tool]]) -> Registry:
    registry = Registry()
    for name, kind, tools in plugins:
        registry.register(name, kind, tools)  # pyright: ignore[reportArgumentType]
    return registry


REGISTRY = registry_of(
    ("web", "plugin", [SEARCH, WEATHER, made("ping", {}), made("fetch_page", {"url": {}}, "url")]),
    ("files", "plugin", [made("read", {"path": {"type": "string"}}, "path"), made("ping", {})]),
    ("hub", "server", [made("sum", {"a": {}, "b": {}}, "a", "b", ordered=False)]),
    ("one", "server", [made("only", {"a": {}, "b": {}}, "b", ordered=False)]),
    ("open", "plugin", [Tool("anything", "", {"type": "object"}, dict)]),
)


def checked(source: str, *known: str, registry: Registry = REGISTRY, **more: Any) -> Checked[Tool]:
    return check_script(parse(source), registry=registry, known=dict.fromkeys(known), **more)


def findings(source: str, *known: str, **more: Any) -> list[str]:
    """Each finding as `code@line:column message | hint`; `-` marks a warning."""
    return [
        f"{'' if item.severity == 'error' else '-'}{item.code}@{item.span.line}:{item.span.column} "
        f"{item.message}{f' | {item.hint}' if item.hint else ''}"
        for item in checked(source, *known, **more).diagnostics
    ]


def test_a_good_script_has_a_plan_for_each_shape_of_call() -> None:
    result = checked('$a = search("x", limit=3)\nsearch(query=$a, limit=4)\nget_weather(city=$a)')
    assert result.ok
    assert result.diagnostics == ()
    assert [(plan.tool.name, plan.names) for plan in result.plans] == [
        ("search", ("query", "limit")),
        ("search", ("query", "limit")),
        ("get-weather", ("city",)),
    ]


def test_a_script_with_an_error_has_no_plans() -> None:
    result = checked("serch()\nping_it()")
    assert (result.ok, result.plans) == (False, ())


SIGNATURE = (
    'search(query: str, limit: int = null, mode: "fast" | "slow" = null, '
    "exact: bool = null, tags: list[int] = null)"
)


@pytest.mark.parametrize(
    ("source", "found"),
    [
        # tools
        ('serch(query="x")', ["NIT301@1:1 there is no tool `serch` | did you mean `search`?"]),
        (
            'web.serch(query="x")',
            ["NIT301@1:1 there is no tool `web.serch` | did you mean `web.search`?"],
        ),
        (
            "files.write()",
            ["NIT301@1:1 there is no tool `files.write` | it has `files.ping`, `files.read`"],
        ),
        (
            "ping()",
            ["NIT303@1:1 `ping` is the name of several tools | write `web.ping` or `files.ping`"],
        ),
        ("web.ping()", []),
        ("call('get-weather', city=1)", []),
        (
            "call('get-wether', city=1)",
            ["NIT301@1:6 there is no tool `get-wether` | did you mean `get_weather`?"],
        ),
        ("Search('x')", ["-NIT304@1:1 `Search` is read as `search` | write `search`"]),
        (
            "fetchPage(url=1)",
            ["-NIT304@1:1 `fetchPage` is read as `fetch_page` | write `fetch_page`"],
        ),
        (
            "WEB.Search('x')",
            ["-NIT304@1:1 `WEB.Search` is read as `web.search` | write `web.search`"],
        ),
        (
            "ѕearch('x')",
            [
                "NIT301@1:1 there is no tool `ѕearch` | the tools are `anything`, `fetch_page`, "
                "`get_weather`, `help`, `only`, `ping`, `read`, `search`, `sum`"
            ],
        ),
        # names of arguments
        (
            'search("x", limt=5)',
            [
                "NIT310@1:13 `search` has no parameter `limt` | did you mean `limit`? "
                f"The signature is {SIGNATURE}"
            ],
        ),
        (
            'search(q="x")',
            [
                f"NIT311@1:1 missing argument `query` | {SIGNATURE}",
                "NIT310@1:8 `search` has no parameter `q` | it takes `query`, `limit`, `mode`, "
                "`exact` and `tags`",
            ],
        ),
        (
            'search(qery="x")',
            [
                "NIT310@1:8 `search` has no parameter `qery` | did you mean `query`? "
                f"The signature is {SIGNATURE}"
            ],
        ),
        ("web.ping(x=1)", ["NIT310@1:10 `ping` has no parameter `x` | it takes no arguments"]),
        ("anything(x=1, y=2)", []),
        ('get_weather(city=1, Api_Version="2")', []),
        ('get_weather(city=1, "Api-Version"="2")', []),
        (
            'get_weather(city=1, Api_Version="2", "Api-Version"="3")',
            [
                "NIT312@1:38 the argument `Api_Version` is given twice | remove one of the two",
            ],
        ),
        # places of arguments
        (
            'search("x", query="y")',
            ["NIT312@1:13 the argument `query` is given twice | the first time by its position"],
        ),
        (
            "files.read(1, 2, 3)",
            ["NIT313@1:15 `read` takes at most 1 positional argument | read(path: str)"],
        ),
        ("web.ping(1)", ["NIT313@1:10 `ping` takes no arguments | ping()"]),
        (
            "anything(1)",
            ["NIT313@1:10 `anything` takes arguments by name only | anything(**: any)"],
        ),
        ("sum(1, 2)", ["NIT313@1:5 `sum` takes arguments by name only | sum(a: any, b: any)"]),
        ("only(1)", []),
        (
            "only(1, 2)",
            ["NIT313@1:9 `only` takes at most 1 positional argument | only(a: any = null, b: any)"],
        ),
        # literals
        ('search(7, exact="TRUE", limit="3", mode="FAST", tags=["1", 2.0])', []),
        ('search("x", limit=null)', []),
        ('search("x", limit="ten")', ['NIT314@1:19 limit: wanted integer, got "ten"']),
        ('search("x", limit=2.5)', ["NIT314@1:19 limit: wanted integer, got 2.5"]),
        (
            'search("x", mode="fest")',
            ['NIT314@1:18 mode: wanted "fast" or "slow", got "fest"'],
        ),
        (
            'search("x", exact=1)',
            ["NIT314@1:19 exact: wanted boolean, got 1 | write `true` or `false`"],
        ),
        ("search(null)", ["NIT314@1:8 query: wanted string, got null"]),
        (
            'search("x", tags=[1, "b", 3])',
            ['NIT314@1:18 tags[1]: wanted integer, got "b"'],
        ),
        (
            "search({a: 1})",
            [
                'NIT314@1:8 query: wanted string, got {"a": 1} | '
                'for its text, write it into an f-string: `f"{$name}"`'
            ],
        ),
        # what only the run knows
        ('$q = 1\nsearch(f"{$q}", limit=$q, tags=[$q, "x"], mode=$q)', []),
        # a call inside a call
        (
            'search(query=fetch_page(), limit="x")',
            [
                "NIT311@1:14 missing argument `url` | fetch_page(url: any)",
                'NIT314@1:34 limit: wanted integer, got "x"',
            ],
        ),
    ],
)
def test_calls_are_checked(source: str, found: list[str]) -> None:
    assert findings(source) == found


@pytest.mark.parametrize(
    ("source", "known", "found"),
    [
        ("search($q)", ["q"], []),
        ("search($q)", [], ["NIT320@1:8 there is no variable `$q`"]),
        (
            "search($pgae)",
            ["page"],
            ["NIT320@1:8 there is no variable `$pgae` | did you mean `$page`?"],
        ),
        (
            "$page = 1\n$pgae",
            [],
            ["NIT320@2:1 there is no variable `$pgae` | did you mean `$page`?"],
        ),
        (
            "$a\n$a = 1",
            [],
            ["NIT320@1:1 there is no variable `$a` | it is assigned only afterwards, in line 2"],
        ),
        ("$a = $a", [], ["NIT320@1:6 there is no variable `$a`"]),
        (
            "$search",
            [],
            [
                "NIT320@1:1 there is no variable `$search` | "
                "`search` is a tool: call it with `search(..)`"
            ],
        ),
        (
            '$total = f"{$y} {$y.z}"',
            [],
            ["NIT320@1:13 there is no variable `$y`", "NIT320@1:18 there is no variable `$y`"],
        ),
        ("search(q)", ["q"], ["-NIT322@1:8 `q` is read as `$q` | write `$q`"]),
        ("$q = 1\nsearch(q)", [], ["-NIT322@2:8 `q` is read as `$q` | write `$q`"]),
        (
            "search(hello)",
            [],
            [
                "NIT321@1:8 `hello` is neither a quoted text nor a variable | "
                'for text, write `"hello"`'
            ],
        ),
        (
            "search(pgae)",
            ["page"],
            ["NIT321@1:8 `pgae` is neither a quoted text nor a variable | did you mean `$page`?"],
        ),
        (
            "search(search)",
            [],
            [
                "NIT321@1:8 `search` is neither a quoted text nor a variable | "
                "to call the tool, write `search(..)`"
            ],
        ),
        (
            'search("see $page")',
            ["page"],
            [
                "-NIT323@1:13 `$page` in a plain string is only text | "
                'for its value write an f-string: `f"..{$page}.."`'
            ],
        ),
        ('search("costs $5 or $other")', ["page"], []),
        ('search("$later")\n$later = 1', [], []),
        (
            '$now = 1\nsearch("$now")',
            [],
            [
                "-NIT323@2:9 `$now` in a plain string is only text | "
                'for its value write an f-string: `f"..{$now}.."`'
            ],
        ),
    ],
)
def test_names_of_variables_are_checked(source: str, known: list[str], found: list[str]) -> None:
    assert findings(source, *known) == found


def test_a_model_is_told_whose_variables_it_sees() -> None:
    assert findings("search($q)", origin="model") == [
        "NIT320@1:8 there is no variable `$q` | "
        "a model's script sees only the variables of its session"
    ]


def test_a_disabled_tool_is_found_by_no_spelling() -> None:
    registry = registry_of(("web", "plugin", [SEARCH]))
    registry.disable("web", "search", reason="too slow")
    for source in ("search('x')", "web.search('x')", "call('search', query='x')"):
        [line] = findings(source, registry=registry)
        assert line.startswith("NIT302@1:")
        assert line.endswith("is disabled: too slow")


def test_two_tools_that_differ_in_case_are_not_guessed_between() -> None:
    registry = registry_of(("a", "plugin", [made("get_it", {}), made("getIt", {})]))
    assert findings("GETIT()", registry=registry) == [
        "NIT301@1:1 there is no tool `GETIT` | did you mean `getIt` or `get_it`?"
    ]


def test_without_any_tool_the_hint_says_so() -> None:
    class Nothing:
        def resolve(self, name: str, /) -> object:
            return None

        resolve_exact = resolve

        def near(self, name: str, /) -> list[str]:
            return []

        def names(self) -> list[str]:
            return []

        def source(self, written: str, /) -> object:
            return None

    [found] = check_script(parse("f()"), registry=Nothing(), known={}).diagnostics  # pyright: ignore
    assert (found.code, found.hint) == ("NIT301", "no tools are loaded")


def test_everything_is_found_in_one_pass_in_the_order_of_the_text() -> None:
    source = '$x = serch($nope)\nsearch("a", limit="b")\n$y = $x +\nsearch(hello)'
    codes = [line.split(" ")[0] for line in findings(source)]
    assert [code.partition("@")[2] for code in codes] == sorted(
        (code.partition("@")[2] for code in codes), key=lambda place: [*map(int, place.split(":"))]
    )
    assert {"NIT301@1:6", "NIT320@1:12", "NIT314@2:19", "NIT321@4:8"} <= set(codes)
    assert len(codes) == 5


def test_at_most_a_hundred_findings_are_given_and_no_error_goes_for_a_warning() -> None:
    warnings = "\n".join(["Search('x')"] * 300)
    result = checked(f"{warnings}\nsearch(limit=$nope)")
    assert len(result.diagnostics) == 100
    assert not result.ok
    assert [item.code for item in result.diagnostics[-2:]] == ["NIT311", "NIT320"]


def test_a_long_faulty_script_is_checked_in_linear_time() -> None:
    source = "\n".join(f"$v{number} = serch(x{number}=$w{number})" for number in range(9_000))
    result = checked(source)
    assert len(result.diagnostics) == 100
    assert not result.ok


def block(*lines: str) -> str:
    return "\n".join(["[[[NIT_CALL]]]", *lines, "[[[NIT_END]]]"])


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        (["search", "query: [START]x[END]"], ("search", ("query",))),
        (["search", "QUERY: [START]x[END] Limit: [START] 5 [END]"], ("search", ("query", "limit"))),
        (["web.fetch_page", "url: [START]x[END]"], ("fetch_page", ("url",))),
        (
            ["get-weather", "api_version: [START]x[END] city: [START]a[END]"],
            ("get-weather", ("Api-Version", "city")),
        ),
        (
            ["web", "command: [START]search[END]", "query: [START]x[END]"],
            ("search", (None, "query")),
        ),
        (
            ["web", "query: [START]x[END]", "commandIdentifier: [START]search[END]"],
            ("search", ("query", None)),
        ),
        (
            ["web", "action: [START]get-weather[END]", "CITY: [START]x[END]"],
            ("get-weather", (None, "city")),
        ),
        (
            ["web", "tool: [START]get_weather[END]", "City: [START]x[END]"],
            ("get-weather", (None, "city")),
        ),
    ],
)
def test_keys_of_a_nit_1_block_are_matched_freely(
    lines: list[str], names: tuple[str, tuple[str | None, ...]]
) -> None:
    result = checked(block(*lines))
    assert result.ok, result.diagnostics
    [plan] = result.plans
    assert (plan.tool.name, plan.names) == names


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (
            ["search", "Query: [START]a[END] query: [START]b[END]"],
            ["NIT312@3:22 the argument `query` is given twice | remove one of the two"],
        ),
        (
            ["search", "query: [START]a[END] limt: [START]b[END]"],
            [
                "NIT310@3:22 `search` has no parameter `limt` | did you mean `limit`? "
                f"The signature is {SIGNATURE}"
            ],
        ),
        (
            ["search", "query: [START]a[END] limit: [START]many[END]"],
            ['NIT314@3:36 limit: wanted integer, got "many"'],
        ),
        (
            ["files", "command: [START]raed[END] path: [START]a[END]"],
            ["NIT301@3:1 `files` has no tool `raed` | did you mean `files.read`?"],
        ),
        (
            ["files", "path: [START]a[END]"],
            [
                "NIT301@2:1 `files` is a plugin, and no `command` says which of its tools "
                "is meant | "
                ""
                "`files` has `files.ping`, `files.read`"
            ],
        ),
    ],
)
def test_what_is_wrong_in_a_nit_1_block_has_its_place(lines: list[str], found: list[str]) -> None:
    assert findings(block(*lines)) == found


def test_equal_blocks_may_name_different_tools_of_a_plugin() -> None:
    one = block("web", "command: [START]search[END]", "query: [START]a[END]")
    two = one.replace("]search[", "]fetch_page[").replace("query:", "url:")
    result = checked(f"{one}\n{two}\n{one}")
    assert [plan.tool.name for plan in result.plans] == ["search", "fetch_page", "search"]


def test_in_a_script_keys_are_not_matched_freely() -> None:
    assert findings("search(QUERY='x')") == [
        "NIT310@1:8 `search` has no parameter `QUERY` | did you mean `query`? "
        f"The signature is {SIGNATURE}"
    ]


@pytest.mark.parametrize(
    ("rules", "arguments", "found"),
    [
        ({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, "", "missing argument `a`"),
        ({"dependentRequired": {"a": ["b"]}}, "a=1", "missing argument `b`"),
        ({"minProperties": 1}, "", "wanted at least 1 key, got {}"),
        (
            {"if": {"properties": {"a": {"const": 1}}}, "then": {"required": ["b"]}},
            "a=1",
            "missing argument `b`",
        ),
        (
            {"not": {"required": ["a", "b"]}},
            "a=1, b=2",
            'wanted a value that the schema does not rule out, got {"a": 1, "b": 2}',
        ),
    ],
)
def test_literals_that_are_wrong_together_are_found_before_anything_runs(
    rules: dict[str, Any], arguments: str, found: str
) -> None:
    integers = {"a": {"type": "integer"}, "b": {"type": "integer"}}
    tool = Tool("both", "", {"type": "object", "properties": integers, **rules}, dict)
    registry = registry_of(("mine", "plugin", [tool]))
    result = checked(f"both({arguments})", registry=registry)
    assert [(item.code, item.message) for item in result.diagnostics] == [("NIT314", found)]
    with_variable = arguments.replace("1", "$x") if arguments else "b=$x"
    assert checked(f"both({with_variable})", "x", registry=registry).ok


def test_a_block_may_have_a_parameter_that_is_called_like_a_command() -> None:
    registry = registry_of(
        ("page", "plugin", [made("click", {"action": {}}, "action"), made("read", {})])
    )
    rows = ["action: [START]double[END]", "command: [START]click[END]"]
    for lines in (rows, rows[::-1]):
        result = checked(block("page", *lines), registry=registry)
        assert [(plan.tool.name, plan.names) for plan in result.plans] == [
            ("click", tuple("action" if "action" in line else None for line in lines))
        ]
    for named in ("page.read", "read"):
        assert checked(block("page", f"command: [START]{named}[END]"), registry=registry).ok
    assert findings(block("page", "command: [START]READ[END]"), registry=registry) == [
        "-NIT304@2:1 `READ` is read as `page.read` | write `page.read`"
    ]


@pytest.mark.parametrize("line", ["search(query='x', {})", "search(query='x') ; $a = [{}]"])
def test_many_findings_on_one_line_cost_no_more_than_its_length(line: str) -> None:
    # each finding counts the columns of its line: a hundred thousand of them would take minutes
    rows = ", ".join(f"k{n}=1" if "(query='x', {" in line else f"$k{n}" for n in range(100_000))
    limits = {"script_bytes": 1 << 30}
    script = parse(line.format(rows), **limits)
    result = check_script(script, registry=REGISTRY, known={})
    assert len(result.diagnostics) == 100
    assert not result.ok


def test_of_many_tools_ten_are_named() -> None:
    registry = registry_of(("mine", "plugin", [made(f"tool{n}", {}) for n in range(15)]))
    found = findings("xyz()", registry=registry)
    assert len(found) == 1
    assert "`tool0`, `tool1`, `tool10`" in found[0]
    assert found[0].endswith("and 6 more: `help()` lists them")
