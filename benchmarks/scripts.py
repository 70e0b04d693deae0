"""Deterministic NIT scripts of any length, with their Python and JSON twins.

One abstract program, three renderings. A line is an assignment of a call with scalar arguments
(half of them), a call with nested lists and objects, an `async` call, a call with a long text
(ASCII, CJK or emoji), or a comment.
"""

import json
import random
from dataclasses import dataclass

TOOLS = (
    "search",
    "read_file",
    "summarize_text",
    "notify_user",
    "query",
    "chart",
    "translate",
    "fetch_page",
)
NAMES = (
    "content",
    "path",
    "query",
    "limit",
    "url",
    "title",
    "mode",
    "tags",
    "options",
    "columns",
    "target",
)
WORDS = tuple(
    "the report lists open windows and files that changed since monday because a meeting asked "
    "about budget deadlines notes screens summaries owners totals drafts".split()
)
HAN = "正在分析屏幕内容请稍候系统已经完成任务结果如下用户需要查看最近的文件和日程安排"


class Variable(str):
    """A reference to an earlier target."""


@dataclass(frozen=True)
class Line:
    """One line: a comment where `tool` is empty."""

    tool: str
    arguments: dict[str, object]
    target: str | None = None
    is_async: bool = False
    comment: str = ""


def program(count: int, seed: int = 7) -> list[Line]:
    """Make `count` lines."""
    rng = random.Random(seed)
    targets: list[str] = []
    lines: list[Line] = []

    def words(low: int, high: int) -> str:
        return " ".join(rng.choices(WORDS, k=rng.randint(low, high)))

    def scalar() -> object:
        match rng.choices(range(6), weights=(36, 20, 10, 8, 20, 6))[0]:
            case 0:
                return words(1, 4)
            case 1:
                return rng.randint(-1000, 100_000)
            case 2:
                return round(rng.uniform(-10, 1000), 3)
            case 3:
                return rng.choice((True, False, None))
            case 4 if targets:
                return Variable(rng.choice(targets[-40:]))
            case _:
                return "".join(rng.choices(HAN, k=rng.randint(2, 8)))

    def nested(depth: int) -> object:
        if depth == 0:
            return scalar()
        parts = [
            nested(depth - 1 if index == 0 else rng.randrange(depth))
            for index in range(rng.randint(2, 4))
        ]
        return (
            parts
            if rng.random() < 0.5
            else dict(zip(rng.sample(NAMES, len(parts)), parts, strict=True))
        )

    def arguments(most: int) -> dict[str, object]:
        return {name: scalar() for name in rng.sample(NAMES, rng.randint(1, most))}

    for number in range(count):
        roll = rng.random()
        tool = rng.choice(TOOLS)
        target = f"v{number % 500}"
        if roll < 0.10:
            lines.append(Line("", {}, comment=words(4, 10)))
            continue
        if roll < 0.20:
            lines.append(Line(tool, arguments(2), is_async=True))
            continue
        if roll < 0.30:
            text = words(20, 60) if rng.random() < 0.5 else "".join(rng.choices(HAN, k=120)) + "🚀"
            lines.append(Line(tool, {"content": text}, target))
        elif roll < 0.50:
            lines.append(
                Line(
                    tool, {name: nested(rng.randint(2, 4)) for name in rng.sample(NAMES, 2)}, target
                )
            )
        else:
            lines.append(Line(tool, arguments(4), target))
        if target not in targets:
            targets.append(target)
    return lines


def _literal(value: object, sigil: str) -> str:
    match value:
        case Variable():
            return sigil + value
        case str():
            return json.dumps(value, ensure_ascii=False)
        case list():
            return "[" + ", ".join(_literal(item, sigil) for item in value) + "]"
        case dict():
            return (
                "{"
                + ", ".join(
                    f"{json.dumps(key)}: {_literal(item, sigil)}" for key, item in value.items()
                )
                + "}"
            )
        case _:
            return repr(value)


def _text(lines: list[Line], sigil: str, background: str) -> str:
    out: list[str] = []
    for line in lines:
        if not line.tool:
            out.append(f"# {line.comment}")
            continue
        inside = ", ".join(
            f"{name}={_literal(value, sigil)}" for name, value in line.arguments.items()
        )
        start = f"{sigil}{line.target} = " if line.target else background if line.is_async else ""
        out.append(f"{start}{line.tool}({inside})")
    return "\n".join(out) + "\n"


def nit(lines: list[Line]) -> str:
    """The program in NIT."""
    return _text(lines, "$", "async ")


def python(lines: list[Line]) -> str:
    """The program in Python, with `await` for `async`."""
    return _text(lines, "", "await ")


def starlark(lines: list[Line]) -> str:
    """The program in the Python subset that Starlark takes."""
    return _text(lines, "", "")


def chain(count: int) -> str:
    """`count` calls, each of which reads the value of the one before."""
    return "".join(f"$x{i} = add(a=1, b={f'$x{i - 1}' if i else 0})\n" for i in range(count))


def python_chain(count: int) -> str:
    """The chain in Python."""
    return chain(count).replace("$", "")
