"""Defuses what comes from outside before it goes to a model.

A tool's result, a page, a file, an error text, a tool's own description may hold what our stream
filter or a codec would take for a command, and a model may repeat it word for word. Each such
trigger gets a `·` after its first character or word, so that a person still reads what it was and
nothing takes it for a command:

```
<nit-A1B2>          ->  <·nit-A1B2>        any id, any case, opening and closing
[[[NIT_CALL]]]      ->  [·[[NIT_CALL]]]
```nit-A1B2         ->  ```·nit-A1B2
<tool_call>         ->  <·tool_call>       and the markers of other models' calls and roles
[TOOL_CALLS]        ->  [·TOOL_CALLS]
{"name": .., "arguments": ..}   ->  {·"name": ..    JSON that would be read as a call
[send(to="x")]      ->  [·send(to="x")]    a list of calls as Python
weather{"city": ..}             ->  weather{·"city": ..}
Action: send        ->  Action·: send
```

Done twice, it changes nothing more.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from nit_kernel.language.schema import JsonValue
from nit_kernel.model.codecs.calls_as_python import begins_call_list
from nit_kernel.model.codecs.lenient import read_prefix
from nit_kernel.model.codecs.shapes import looks_like_protocol, shape_of
from nit_kernel.model.codecs.strict import Read

MARK = "·"

_TAGS = re.compile(
    r"<(?=/?(?:nit\b|tool_calls?\b|function(?:=|_calls?\b)|parameter=|invoke\b|arg_key\b"
    r"|arg_value\b|minimax:|cofl:|start_function|end_function|tool_call\|"
    r"|\|/?[A-Za-z_]+\|?>?|｜))",
    re.IGNORECASE,
)
# Each run of marks is looked at once, as a whole, so that it stays linear.
_FENCES = re.compile(r"((?<!`)`{3,}+|(?<!~)~{3,}+)(?=[ \t]*+nit\b)", re.IGNORECASE)
_MARKERS = re.compile(
    r"\[(?=\[\[NIT_|/?(?:TOOL_CALLS|ARGS|CALL_ID|TOOL_RESULTS|TOOL_CONTENT|AVAILABLE_TOOLS)\])",
    re.IGNORECASE,
)
# As `react_trace.py` reads the label, decorated in any way; possessive, so that it stays linear.
_ACTION = re.compile(
    r"((?<![^\W_])Action[ \t_]*+(?:\d{1,3}[ \t_]*+)?(?:Input)?+[*_`]*+)"
    r"(?=(?:[ \t]*+\d{1,3})?+[\s*_`]*+[:：])",
    re.IGNORECASE,
)
# A name and its arguments, which some codecs read where a server took the markers away.
_NAMED = re.compile(r"([\w.-]\s*+\{)(?=\s*+[\"'}])")
_PROBED = re.compile(r"\{|\[(?=\s*[A-Za-z_][\w.]*\s*\()")
_MOST_PROBED_CHARS = 50_000
_MOST_PROBES = 2_000
_MOST_READ_CHARS = 1_000_000


def neutralise(text: str, triggers: Sequence[str] = ()) -> str:
    """Return the text with every trigger defused.

    Args:
        text: What came from outside.
        triggers: Further triggers, those of a codec of one's own.
    """
    text = _TAGS.sub(f"<{MARK}", text)
    text = _FENCES.sub(rf"\1{MARK}", text)
    text = _MARKERS.sub(f"[{MARK}", text)
    text = _ACTION.sub(rf"\1{MARK}", text)
    text = _NAMED.sub(rf"\1{MARK}", text)
    for trigger in triggers:
        if trigger:
            text = text.replace(trigger, f"{trigger[0]}{MARK}{trigger[1:]}")
    return _defuse_brackets(text)


def neutralise_value(value: JsonValue, triggers: Sequence[str] = ()) -> JsonValue:
    """Return a JSON value with every text in it defused, keys included."""
    if isinstance(value, str):
        return neutralise(value, triggers)
    if isinstance(value, list):
        return [neutralise_value(item, triggers) for item in value]
    if isinstance(value, dict):
        return {
            neutralise(key, triggers): neutralise_value(item, triggers)
            for key, item in value.items()
        }
    return value


def _defuse_brackets(text: str) -> str:
    """Mark each brace and bracket at which a codec would begin to read a call."""
    if "{" not in text and "(" not in text:
        return text
    is_long = len(text) > _MOST_PROBED_CHARS
    pieces: list[str] = []
    done = 0
    budget = _MOST_READ_CHARS
    for count, found in enumerate(_PROBED.finditer(text)):
        at = found.start()
        is_trigger = is_long or count > _MOST_PROBES or budget < 0
        if not is_trigger:
            is_trigger, read = _probe(text, at)
            # Brackets within brackets are read again and again.
            budget -= read
        if is_trigger:
            pieces += (text[done : at + 1], MARK)
            done = at + 1
    return "".join([*pieces, text[done:]]) if pieces else text


def _probe(text: str, at: int) -> tuple[bool, int]:
    """Whether a codec would begin to read a call there, and how many characters that took."""
    if text[at] == "[":
        return begins_call_list(text, at), 1
    found = read_prefix(text, at)
    if isinstance(found, Read):
        return shape_of(found.value, (), is_whole=True) is not None, found.end - at
    return looks_like_protocol(text, at), len(text) - at
