"""A model's words as Markdown in which nothing runs and nothing is fetched.

The front end's own renderer makes a page of it. Before it does, every tag is text, links lead to
the web or nowhere, and images are links: a page that loads an image tells its server so, and the
address can carry whatever the model has read. Not every renderer is as careful as a notebook's
(an exported page often is not), so this does not rely on theirs.

```
code that every renderer takes for code     left as it is
a tag elsewhere                             &lt;tag
a tag where renderers may differ            < and an invisible joiner, right in code and in prose
```
"""

from __future__ import annotations

import html
import re


class Words:
    """What a model said in one turn, as it is read: without scripts and the gaps they left.

    Replies follow each other as paragraphs do. One that could not be used is withdrawn.
    """

    def __init__(self) -> None:
        self._before = ""
        self._reply = ""
        self._gap: str | None = None

    def __str__(self) -> str:
        if self._before.strip() and self._reply.strip():
            return f"{self._before.rstrip()}\n\n{self._reply.lstrip()}"
        return self._before + self._reply

    def begin_reply(self) -> None:
        """Another reply begins."""
        self._before, self._reply, self._gap = str(self), "", None

    def add(self, text: str) -> None:
        """The reply goes on."""
        if self._gap is not None:
            rest = text.lstrip()
            self._gap += text[: len(text) - len(rest)]
            if not rest:
                return
            space, line, indent = self._gap.rpartition("\n")
            text = f"\n\n{indent}{rest}" if line else f"{space + indent and ' '}{rest}"
            text = text if self._reply else rest
            self._gap = None
        self._reply += text

    def leave_out(self) -> None:
        """A script stands here, which is not shown."""
        if self._gap is None:
            text = self._reply.rstrip()
            self._reply, self._gap = text, self._reply[len(text) :]

    def withdraw(self) -> str:
        """Forget this reply, and return it."""
        reply, self._reply, self._gap = self._reply, "", None
        return reply


_FENCE = re.compile(r"(`{3,}|~{3,})([^`<]*)\Z")
_INNER_FENCE = re.compile(r"[ \t>*+\-\d.]*(?:```|~~~)")
_MATHS = re.compile(r"\$\$|\\begin|\\\[")
_TAG_START = re.compile(r"<(?=[A-Za-z/!?])")
_TICKS = re.compile(r"`+")
_IMAGE = re.compile(r"!(?=\[)")
_LINK = re.compile(r"\](?=\(\s*<?([^)\s]*))")
_DEFINITION = re.compile(r"^([ \t>]*)\[(?=[^\]\n]+\]:\s*<?(\S+))", re.MULTILINE)
_SCHEME = re.compile(r"([^/?#:]*):")
_SAFE_SCHEMES = frozenset(["", "http", "https", "mailto"])
_JOINER = "\u200c"


def as_markdown(text: str) -> str:
    """The words as Markdown for a front end; a fence that a hidden script left empty is dropped."""
    done: list[str] = []
    paragraph: list[str] = []
    has_maths = False
    lines = iter(text.split("\n"))
    for line in lines:
        fence = None if has_maths else _FENCE.match(line)
        if fence is None:
            if line.strip():
                paragraph.append(line)
                has_maths = has_maths or _MATHS.search(line) is not None
            else:
                _end_paragraph(paragraph, done, has_maths)
                done.append(line)
            continue
        _end_paragraph(paragraph, done, has_maths)
        closing = re.compile(rf" {{0,3}}{fence[1][0]}{{{len(fence[1])},}}[ \t]*\Z")
        code: list[str] = []
        end: str | None = None
        for inner in lines:
            if closing.match(inner):
                end = inner
                break
            code.append(inner)
        if any(inner.strip() for inner in code):
            done += [line, *code, *([] if end is None else [end])]
    _end_paragraph(paragraph, done, has_maths)
    return "\n".join(done)


def _end_paragraph(lines: list[str], done: list[str], has_maths: bool) -> None:
    if lines:
        done.append(_paragraph("\n".join(lines), lines, has_maths))
        lines.clear()


def _paragraph(text: str, lines: list[str], has_maths: bool) -> str:
    spans = None if has_maths else _code_spans(text, lines)
    is_plain = spans is not None and not any(
        line.startswith(("    ", "\t")) or _INNER_FENCE.match(line) for line in lines
    )
    if spans is None or not is_plain:
        return _links(_TAG_START.sub(f"<{_JOINER}", text))
    parts: list[str] = []
    at = 0
    for start, end in spans:
        parts += [_prose(text[at:start]), text[start:end]]
        at = end
    parts.append(_prose(text[at:]))
    return "".join(parts)


def _code_spans(text: str, lines: list[str]) -> list[tuple[int, int]] | None:
    """Where code stands in a paragraph; `None` where renderers may not agree about it."""
    if "`" not in text:
        return []
    spans: list[tuple[int, int]] = []
    at = 0
    for line in lines:
        runs = list(_TICKS.finditer(line))
        while runs:
            first = runs.pop(0)
            width = len(first[0])
            match = next((n for n, run in enumerate(runs) if len(run[0]) == width), None)
            if match is None or (first.start() and line[first.start() - 1] == "\\"):
                return None
            last = runs[match]
            if re.search(r"[|$]", line[first.end() : last.start()]):
                return None
            del runs[: match + 1]
            spans.append((at + first.start(), at + last.end()))
        at += len(line) + 1
    if "$" in text:
        return None
    return spans


def _prose(text: str) -> str:
    return _links(_TAG_START.sub("&lt;", text))


def _links(text: str) -> str:
    text = _IMAGE.sub("", text)
    text = _LINK.sub(lambda found: "]" if _is_safe(found[1]) else "]\\", text)
    return _DEFINITION.sub(
        lambda found: f"{found[1]}[" if _is_safe(found[2]) else f"{found[1]}\\[", text
    )


def _is_safe(address: str) -> bool:
    """Whether an address leads to the web, into the page, or is a name of a file."""
    plain = "".join(char for char in html.unescape(address) if char > " " and char != "\\")
    scheme = _SCHEME.match(plain)
    return scheme is None or scheme[1].casefold() in _SAFE_SCHEMES
