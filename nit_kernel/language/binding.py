"""Binding: which parameter of a tool each argument of a call goes to. Source: NIT 2, section 3."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nit_kernel.language.names import did_you_mean, either, folded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nit_kernel.language.schema import ToolSpec


class Misuse(NamedTuple):
    """Something wrong, or tolerated, about a call: its place is an argument, or the tool's name.

    Attributes:
        code: Its stable code.
        message: One line.
        hint: What to write.
        argument: The argument's index, `None` for the call.
        is_error: Whether the script must not run.
    """

    code: str
    message: str
    hint: str | None = None
    argument: int | None = None
    is_error: bool = True


class Binding(NamedTuple):
    """Where the arguments of a call go, and what is wrong with that.

    Attributes:
        names: The exact name of the parameter of each argument, `None` where there is none.
        misuses: What is wrong.
    """

    names: tuple[str | None, ...]
    misuses: list[Misuse]


def bind(
    spec: ToolSpec,
    names: Sequence[str | None],
    *,
    is_legacy: bool = False,
    left_out: int | None = None,
) -> Binding:
    """Bind the arguments of a call.

    Args:
        spec: The tool.
        names: The name of each argument as written, `None` for a positional one.
        is_legacy: Whether keys may differ from a parameter's name in case, `_` and `-`.
        left_out: The index of an argument that goes to no parameter.
    """
    bound: list[str | None] = []
    misuses: list[Misuse] = []
    taken: dict[str, int] = {}
    for index, written in enumerate(names):
        if index == left_out:
            exact = None
        elif written is None:
            exact = _at_position(spec, index, misuses)
        else:
            exact = spec.parameter_named(written)
            if exact is None and is_legacy:
                exact = _folded_parameter(spec, written)
            if exact is None:
                misuses.append(_unknown(spec, written, index))
        if exact is not None and exact in taken:
            message = f"the argument `{_written(spec, exact)}` is given twice"
            hint = _first_is_positional(names, taken[exact])
            misuses.append(Misuse("NIT312", message, hint, index))
        elif exact is not None:
            taken[exact] = index
        bound.append(exact)
    # A required argument that is only misspelt is not missing besides.
    meant = {name for name in spec.required if any(_is_meant(spec, m, name) for m in misuses)}
    open_ones = spec.required - taken.keys() - meant
    missing = [name for name in spec.declared.properties if name in open_ones]
    missing += sorted(open_ones - set(missing))
    if missing and not any(misuse.code == "NIT313" for misuse in misuses):
        listed = ", ".join(f"`{_written(spec, name)}`" for name in missing)
        word = "argument" if len(missing) == 1 else "arguments"
        misuses.append(Misuse("NIT311", f"missing {word} {listed}", spec.signature()))
    return Binding(tuple(bound), misuses)


def _at_position(spec: ToolSpec, index: int, misuses: list[Misuse]) -> str | None:
    places = spec.positional
    if index < len(places):
        return places[index]
    if any(misuse.code == "NIT313" for misuse in misuses):
        return None
    name = spec.nit_name
    if not spec.declared.properties:
        message = (
            f"`{name}` takes no arguments"
            if not spec.is_open
            else f"`{name}` takes arguments by name only"
        )
        misuses.append(Misuse("NIT313", message, spec.signature(), index))
    elif not spec.ordered and not places:
        message = f"`{name}` takes arguments by name only"
        misuses.append(Misuse("NIT313", message, spec.signature(), index))
    else:
        most = f"{len(places)} positional argument{'' if len(places) == 1 else 's'}"
        misuses.append(Misuse("NIT313", f"`{name}` takes at most {most}", spec.signature(), index))
    return None


def _unknown(spec: ToolSpec, written: str, index: int) -> Misuse:
    names = list(spec.argument_names.values())
    near = did_you_mean(written, names)
    hint = near or (f"it takes {_choices(names)}" if names else "it takes no arguments")
    if near and len(names) > 1:
        hint = f"{near} The signature is {spec.signature()}"
    return Misuse("NIT310", f"`{spec.nit_name}` has no parameter `{written}`", hint, index)


def _is_meant(spec: ToolSpec, misuse: Misuse, name: str) -> bool:
    return misuse.code == "NIT310" and f"mean `{_written(spec, name)}`" in (misuse.hint or "")


def _folded_parameter(spec: ToolSpec, written: str) -> str | None:
    wanted = folded(written)
    same = [name for name in spec.declared.properties if folded(name) == wanted]
    return same[0] if len(same) == 1 else None


def _first_is_positional(names: Sequence[str | None], first: int) -> str | None:
    return "the first time by its position" if names[first] is None else "remove one of the two"


def _written(spec: ToolSpec, exact: str) -> str:
    return spec.argument_names.get(exact, exact)


def _choices(names: list[str]) -> str:
    return either([f"`{name}`" for name in names]).replace(" or ", " and ")
