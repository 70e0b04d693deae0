"""How the tests of the language read scripts: values, steps and findings as plain data."""

from collections.abc import Mapping
from typing import NoReturn

from nit_kernel._syntax import CALL, Script, parse


class HostError(Exception):
    """What the host of these tests raises."""


class PlainHost:
    """Serves paths and f-strings as plain Python does, and writes down what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def access(self, value: object, kind: int, key: object, start: int, end: int) -> object:
        self.asked.append(f"access {kind} {key!r} {start}-{end}")
        if kind == 2:
            low, high = key
            return value[low:high]
        return value[key]

    def text(
        self, value: object, conversion: str | None, spec: str | None, start: int, end: int
    ) -> str:
        self.asked.append(f"text {conversion} {spec} {start}-{end}")
        return format(repr(value) if conversion == "r" else value, spec or "")

    def key(self, value: object, start: int, end: int) -> object:
        self.asked.append(f"key {value!r} {start}-{end}")
        return value

    def duplicate_key(self, key: object, start: int, end: int) -> NoReturn:
        raise HostError(f"duplicate key {key!r} {start}-{end}")

    def too_large(self, limit: int, unit: str, start: int, end: int) -> NoReturn:
        raise HostError(f"over {limit} {unit} {start}-{end}")


def good(source: str, **options: object) -> Script:
    """Parse a script that has no mistakes."""
    script = parse(source, **options)
    assert script.ok, [item.terse() for item in script.diagnostics]
    return script


def value_of(literal: str, variables: Mapping[str, object] | None = None) -> object:
    """The value of a script that is one value."""
    script = good(literal)
    assert script.step_count == 1
    reads = script.step(0)[3]
    values = [(variables or {})[name] for name in reads]
    return script.value(0, values, PlainHost())


def run(source: str, variables: Mapping[str, object] | None = None) -> list[str]:
    """Run a script whose tools answer with their own name; returns what happened, in order."""
    script, host, log = good(source), PlainHost(), []
    table: dict[str | int, object] = dict(variables or {})
    for number in range(script.step_count):
        kind, shape, target, reads, _, _ = script.step(number)
        values = [table[name] for name in reads]
        asked = len(host.asked)
        if kind == CALL:
            found = script.shapes[shape]
            names = tuple(name or f"#{at}" for at, name in enumerate(found.names))
            arguments = script.arguments(number, names, values, host)
            log.extend(host.asked[asked:])
            log.append(f"{found.tool}({arguments})")
            value: object = table.get(found.tool, found.tool)
        else:
            value = script.value(number, values, host)
            log.extend(host.asked[asked:])
        if target is not None:
            table[target] = value
            if isinstance(target, str):
                log.append(f"${target} = {value!r}")
    return log


def findings(source: str, **options: object) -> list[str]:
    """`code line:column` of each finding, in the order of the text."""
    found = parse(source, **options).diagnostics
    return [f"{item.code} {item.span.line}:{item.span.column}" for item in found]
