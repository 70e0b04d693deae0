"""Names: how a tool's own name is written in NIT, which names are taken, which one was meant.

The one mapping, for tools and for their arguments (`nit_name`):

```
Search (Tips)  ->  Search_Tips      NFKC first; each run of characters that an identifier cannot
get-weather    ->  get_weather      hold becomes one `_`, and none is left at either end for it
2fast          ->  _2fast           a name that cannot begin so gets one `_` before it
__init         ->  _init            names never begin with two underscores
(nothing left) ->  unnamed
```

It gives one identifier for any text, and leaves an identifier as it is. Equal results within one
source are told apart by `nit_names`.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

from nit_kernel._syntax import is_identifier

if TYPE_CHECKING:
    from collections.abc import Iterable

CONSTANTS: Final = frozenset({"true", "false", "null", "True", "False", "None"})
"""The words that are values wherever a value may stand."""

RESERVED_WORDS: Final = frozenset(
    "if elif else for in while break continue return and or not def import lambda class try "
    "except with parallel".split()
)
"""The words that are kept for later: no statement begins with one. Source: NIT 2, section 3."""

BUILT_IN_TOOLS: Final = frozenset({"call", "help"})
"""The two functions that are always there and that nothing replaces."""

_NEVER_BARE: Final = CONSTANTS | RESERVED_WORDS | BUILT_IN_TOOLS | {"async", "await"}
_PROVIDER_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_NOT_PROVIDER: Final = re.compile(r"[^a-zA-Z0-9_-]+")
_SHORT_NAME: Final = 4
_MOST_SUGGESTIONS: Final = 3
_TOO_FAR: Final = 3


def is_bare_name(name: str) -> bool:
    """Whether a tool may be called by this name alone, without its source before it."""
    return name not in _NEVER_BARE


def nit_name(exact: str) -> str:
    """Return the NIT identifier for the exact name of a tool or argument (see the module)."""
    if exact.isascii() and exact.isidentifier() and not exact.startswith("__"):
        return exact
    # A lone surrogate half is no letter, and a letter may normalise to several characters.
    parts: list[str] = []
    for character in unicodedata.normalize("NFKC", exact):
        if is_identifier(f"a{character}"):
            parts.append(character)
        elif parts and parts[-1]:
            parts.append("")
    while parts and not parts[-1]:
        parts.pop()
    name = "".join(part or "_" for part in parts)
    if not name:
        return "unnamed"
    if not is_identifier(name):
        name = f"_{name}"
    return f"_{name.lstrip('_')}" if name.startswith("__") else name


def nit_names(exact: Iterable[str]) -> dict[str, str]:
    """Return the NIT name of each exact name of one source, all different.

    The numbering does not depend on the order: a name that is its own NIT name keeps it, the
    others get `_2`, `_3`, in the order of their characters.

    Returns:
        Exact name to NIT name, in the order given.
    """
    names = list(dict.fromkeys(exact))
    given = {name: nit_name(name) for name in names}
    if len(set(given.values())) == len(names):
        return given
    taken = {name for name in names if given[name] == name}
    result = {name: name for name in taken}
    for name in sorted(set(names) - taken):
        candidate, number = given[name], 2
        while candidate in taken:
            candidate, number = f"{given[name]}_{number}", number + 1
        taken.add(candidate)
        result[name] = candidate
    return {name: result[name] for name in names}


def provider_name(name: str) -> str:
    """Return a name for native tool calling: at most 64 of `a-z A-Z 0-9 _ -`, never empty.

    A name that had to be changed ends in eight digits made from the whole name, so that two names
    do not become one.
    """
    if _PROVIDER_NAME.fullmatch(name):
        return name
    import hashlib  # noqa: PLC0415 - loads OpenSSL, for names that few tools have

    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    stem = _NOT_PROVIDER.sub("_", name).strip("_")[:55]
    return f"{stem or 'tool'}_{digest}"


def provider_names(names: Iterable[str]) -> dict[str, str]:
    """Return names for native tool calling, all different: each name to its provider name.

    A name whose only fault is its dots (`files.read`) becomes `files_read` where that is free.
    """
    given = list(dict.fromkeys(names))
    taken = {name for name in given if provider_name(name) == name}
    result: dict[str, str] = {}
    for name in sorted(given):
        candidate = name
        if name not in taken:
            plain = name.replace(".", "_")
            fits = provider_name(plain) == plain and plain not in taken
            candidate = plain if fits else provider_name(name)
        while candidate != name and candidate in taken:
            candidate = provider_name(f"{candidate}.{name}")
        taken.add(candidate)
        result[name] = candidate
    return {name: result[name] for name in given}


def folded(name: str) -> str:
    """Return what stays of a name when case, `-` and `_` do not count."""
    return name.casefold().replace("_", "").replace("-", "")


def nearest(name: str, candidates: Iterable[str]) -> list[str]:
    """Return the candidates that were probably meant, nearest first, at most three.

    A candidate is near where at most two letters are typed wrong, missing, doubled or swapped
    (one in names of up to four letters), or where only case, `-` and `_` differ. A name with
    letters of another script is never near, however alike they look.
    """
    most = 1 if len(name) <= _SHORT_NAME else 2
    ranked: list[tuple[int, str]] = []
    plain = folded(name) if len(name) <= 1_000 else name
    for candidate in dict.fromkeys(candidates):
        if candidate == name:
            continue
        if plain and folded(candidate) == plain:
            ranked.append((0, candidate))
            continue
        far = most if len(candidate) > _SHORT_NAME else 1
        if abs(len(candidate) - len(name)) <= far:
            distance = _edit_distance(name, candidate)
            if distance <= far and _scripts(name) == _scripts(candidate):
                ranked.append((distance, candidate))
    ranked.sort()
    return [candidate for _, candidate in ranked[:_MOST_SUGGESTIONS]]


def did_you_mean(name: str, candidates: Iterable[str], *, before: str = "") -> str | None:
    """Return "did you mean `x` or `y`?" for the nearest candidates, or `None` if none is near.

    Args:
        before: What stands before each name, such as `$`.
    """
    near = [f"`{before}{candidate}`" for candidate in nearest(name, candidates)]
    return f"did you mean {either(near)}?" if near else None


def either(words: list[str]) -> str:
    """Return "a", "a or b", "a, b or c"."""
    return " or ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def _edit_distance(left: str, right: str) -> int:
    # Optimal string alignment; it stops as soon as a whole row is too far.
    before_last: list[int] = []
    last = list(range(len(right) + 1))
    for row, a in enumerate(left, 1):
        current = [row]
        for column, b in enumerate(right, 1):
            cost = last[column - 1] + (a != b)
            cost = min(cost, last[column] + 1, current[column - 1] + 1)
            swapped = row > 1 and column > 1 and a == right[column - 2] and left[row - 2] == b
            if swapped and a != b:
                cost = min(cost, before_last[column - 2] + 1)
            current.append(cost)
        if min(current) >= _TOO_FAR:
            return _TOO_FAR
        before_last, last = last, current
    return last[-1]


def _scripts(name: str) -> set[str]:
    letters = {character for character in name if character.isalpha()}
    return {unicodedata.name(letter, "?").split(" ", 1)[0] for letter in letters}
