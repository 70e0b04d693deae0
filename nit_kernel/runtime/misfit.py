"""Saying what does not fit: a place in the arguments, what was wanted there, what came."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Final, cast

from nit_kernel.language.json_form import to_json
from nit_kernel.language.names import did_you_mean, either, nearest
from nit_kernel.language.previews import describe, preview, shortened
from nit_kernel.language.shapes import counted, kind_of, type_name
from nit_kernel.runtime.exact import nearest_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from jsonschema_rs import ValidationError

DOES_NOT_FIT: Final = "NIT420"
MISSING_ARGUMENT: Final = "NIT421"
UNKNOWN_ARGUMENT: Final = "NIT422"
TOO_LARGE: Final = "NIT423"

_MOST_CHOICES: Final = 20
_SHOWN: Final = 60
_LONGEST_PATH: Final = 200
_TYPE_WORDS: Final = {"array": "list"}


class CoercionError(Exception):
    """An argument that does not fit. The runtime adds its place in the script and raises it on.

    Attributes:
        message: One line: `rows[2].price: wanted number, got "n/a"`.
        path: The place within the arguments, `rows[2].price`; empty for all of them.
        parameter: The exact name of the parameter, or `None`.
        hint: What to do, or `None`.
        code: `NIT420` does not fit, `NIT421` missing, `NIT422` unknown, `NIT423` too large.
    """

    def __init__(
        self,
        problem: str,
        *,
        keys: Sequence[object] = (),
        hint: str | None = None,
        code: str = DOES_NOT_FIT,
        part: str | None = None,
    ) -> None:
        self.path = path_text(keys)
        place = f"{self.path}, {part}" if part else self.path
        self.message = f"{place}: {problem}" if place else problem
        self.parameter = str(keys[0]) if keys else None
        self.hint = hint
        self.code = code
        super().__init__(self.message)


def path_text(keys: Iterable[object]) -> str:
    """Return the keys as a path: `rows[2].price`, `headers["Api-Version"]`."""
    text = ""
    for key in keys:
        if isinstance(key, int) and not isinstance(key, bool):
            text += f"[{key}]"
        elif isinstance(key, str) and key.isidentifier():
            text += f".{key}" if text else key
        else:
            name = key if isinstance(key, str) else str(key)
            text += f"[{json.dumps(name, ensure_ascii=False)}]" if text else name
    return shortened(text, _LONGEST_PATH)


def got(value: object) -> str:
    """Return what came, shortly: text and other plain values as JSON, an object by its type."""
    if type(value) is float and not math.isfinite(value):
        return str(to_json(value))  # no text, so not in quotes
    if kind_of(value) == "Object" and not issubclass(type(value), dict):
        return describe(value)
    return preview(value, _SHOWN)


def wanted_types(types: Iterable[str]) -> str:
    """Return "integer or null" for the names of JSON types."""
    return either([_TYPE_WORDS.get(kind, kind) for kind in types])


def misfit(
    wanted: str, value: object, keys: Sequence[object], hint: str | None = None
) -> CoercionError:
    """Build the error of a value that is not what is wanted."""
    came = got(value)
    near = nearest_number(value) if "number" in wanted.replace(",", "").split() else None
    if near is not None:
        came += ", which cannot be held exactly"
        hint = f"the nearest number is {near!r}" if near and math.isfinite(near) else hint
    return CoercionError(f"wanted {wanted}, got {came}", keys=keys, hint=hint)


def missing_argument(name: str, signature: str | None = None) -> CoercionError:
    """Build the error of an argument that must be there and is not."""
    error = CoercionError(f"missing argument `{name}`", hint=signature, code=MISSING_ARGUMENT)
    error.parameter = name
    return error


def unknown_argument(name: str, declared: Sequence[str]) -> CoercionError:
    """Build the error of an argument that the schema does not declare."""
    near = nearest(name, declared)
    if near:
        hint = f"did you mean {either([f'`{other}`' for other in near])}?"
        rest = [other for other in declared if other not in near]
        hint += f" It also takes {', '.join(f'`{other}`' for other in rest)}" if rest else ""
    elif declared:
        hint = f"it takes {', '.join(f'`{other}`' for other in declared)}"
    else:
        hint = "it takes no arguments"
    error = CoercionError(f"unknown argument `{name}`", hint=hint, code=UNKNOWN_ARGUMENT)
    error.parameter = name
    return error


def unknown_keys(
    names: Sequence[str], known: Sequence[str], keys: Sequence[object]
) -> CoercionError:
    """Build the error of an object that has keys which the schema does not let in.

    Args:
        names: The keys, at least one.
        known: The keys that it may have.
        keys: The place of the object; the arguments themselves if empty.
    """
    if not keys:
        return unknown_argument(names[0], known)
    word = "key" if len(names) == 1 else "keys"
    hint = did_you_mean(names[0], known) if len(names) == 1 else None
    if hint is None:
        texts = [f"`{name}`" for name in known]
        more = ["..."] if len(texts) > _MOST_CHOICES else []
        hint = f"it takes {', '.join([*texts[:_MOST_CHOICES], *more]) or 'no keys'}"
    listed = ", ".join(map(_json, names))
    return CoercionError(f"unknown {word} {listed}", keys=keys, hint=hint)


def too_large(problem: str, keys: Sequence[object]) -> CoercionError:
    """Build the error of a value that cannot be checked within the limits."""
    return CoercionError(problem, keys=keys, code=TOO_LARGE)


def one_of(options: Sequence[object], value: object) -> str:
    """Return the allowed values, near ones first: "`"a"`, `"b"` or `"c"`"."""
    if not options:
        return "nothing (its `enum` is empty)"
    texts = [_json(option) for option in options]
    if isinstance(value, str):
        near = nearest(value, [option for option in options if isinstance(option, str)])
        texts = list(dict.fromkeys([*(_json(option) for option in near), *texts]))
    if len(texts) > _MOST_CHOICES:
        more = len(texts) - _MOST_CHOICES
        return f"{', '.join(texts[:_MOST_CHOICES])} or one of {more} others"
    return either(texts)


def from_validation(
    error: ValidationError, value: object, keys: Sequence[object], known: Sequence[str]
) -> CoercionError:
    """Put the validator's finding about one value, its parts aside, in our words.

    Args:
        error: What the validator found.
        value: The value.
        keys: Its place.
        known: The keys that an object may have here.
    """
    match error.kind.name:
        case "required":
            name = str(_kind(error, "property"))
            if not keys:
                return missing_argument(name)
            return CoercionError(f"the key {_json(name)} is missing", keys=keys)
        case "additionalProperties":
            return unknown_keys(cast("list[str]", _kind(error, "unexpected")), known, keys)
        case "falseSchema" if isinstance(value, dict):
            # `additionalProperties: false`, and no properties.
            return unknown_keys(list(cast("dict[str, object]", value)), known, keys)
        case _:
            pass
    wanted = _wanted(error, value)
    if wanted is None:
        return CoercionError(error.message.partition("\n")[0], keys=keys)
    return misfit(wanted, value, keys, _hint(error, value))


def _wanted(error: ValidationError, value: object) -> str | None:
    limit = _kind(error, "limit")
    match error.kind.name:
        case "type":
            return wanted_types(cast("list[str]", _kind(error, "types")))
        case "enum":
            return one_of(cast("list[object]", _kind(error, "options")), value)
        case "const":
            return _json(_kind(error, "expected_value"))
        case "minimum":
            return f"at least {limit}"
        case "maximum":
            return f"at most {limit}"
        case "exclusiveMinimum":
            return f"more than {limit}"
        case "exclusiveMaximum":
            return f"less than {limit}"
        case "multipleOf":
            return f"a multiple of {_kind(error, 'multiple_of')}"
        case "minLength":
            return f"text of at least {counted(cast('int', limit), 'character')}"
        case "maxLength":
            return f"text of at most {counted(cast('int', limit), 'character')}"
        case "minItems":
            return f"at least {counted(cast('int', limit), 'item')}"
        case "maxItems" | "additionalItems" | "unevaluatedItems":
            return (
                f"at most {counted(cast('int', limit), 'item')}"
                if limit is not None
                else "fewer items"
            )
        case "minProperties":
            return f"at least {counted(cast('int', limit), 'key')}"
        case "maxProperties":
            return f"at most {counted(cast('int', limit), 'key')}"
        case "pattern":
            return f"text that matches `{_kind(error, 'pattern')}`"
        case "uniqueItems":
            return "items that all differ"
        case _:
            return None


def _hint(error: ValidationError, value: object) -> str | None:
    if error.kind.name != "type":
        return None
    types = cast("list[str]", _kind(error, "types"))
    if "boolean" in types:
        return "write `true` or `false`"
    if "array" in types and type_name(value) in ("str", "int", "float"):
        return "write a list: `[..]`"
    if "string" in types and isinstance(value, dict | list):
        return 'for its text, write it into an f-string: `f"{$name}"`'
    return None


def _kind(error: ValidationError, field: str) -> object:
    return getattr(error.kind, field, None)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
