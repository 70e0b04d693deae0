"""What a validator is shown of a value: stand-ins for what tools take and JSON does not know."""

from __future__ import annotations

import math
from typing import cast

from nit_kernel.language.json_form import clean_text
from nit_kernel.language.shapes import DEEPEST_VALUE


def as_json(value: object) -> object:
    """Return the value with stand-ins for what tools take and JSON does not: `nan`, half letters.

    What needs none is returned as it is.
    """
    return _with_stand_ins(value, {}, 0)


def hollow(value: object) -> object:
    """Return a value that is too large to walk, its members left out: nothing is said of them."""
    if isinstance(value, dict):
        return dict.fromkeys(cast("dict[object, object]", value))
    return [None] * len(cast("list[object]", value)) if isinstance(value, list) else value


def _with_stand_ins(value: object, done: dict[int, object], depth: int) -> object:
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        return 0.5 if math.isnan(value) else math.copysign(1e308, value)
    if isinstance(value, str):
        return clean_text(value)
    if type(value) not in (list, dict) or depth > DEEPEST_VALUE:
        return value
    key = id(value)
    if key not in done:
        done[key] = value  # also what a value inside itself stands for
        if isinstance(value, list):
            items = cast("list[object]", value)
            fresh = [_with_stand_ins(item, done, depth + 1) for item in items]
            if any(new is not old for new, old in zip(fresh, items, strict=True)):
                done[key] = fresh
        else:
            held = cast("dict[object, object]", value)
            changed = {k: _with_stand_ins(item, done, depth + 1) for k, item in held.items()}
            if any(changed[k] is not item for k, item in held.items()):
                done[key] = changed
    return done[key]
