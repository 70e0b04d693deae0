"""From the bytes of a page to text that is pleasant to read."""

from __future__ import annotations

import asyncio
import codecs
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .fetching import Page

MAX_HTML_CHARS = 3_000_000
_HTML = frozenset({"text/html", "application/xhtml+xml"})
_TEXT = re.compile(r"text/.+|application/(.+\+)?(json|xml|javascript|x-ndjson|yaml|toml)")
_META_CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]{2,40})", re.I)
_INVISIBLE = ("head", "script", "style", "noscript", "template", "iframe", "svg")
_BLOCKS = (
    *("address", "article", "blockquote", "br", "dd", "div", "dt", "figcaption", "footer", "form"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav", "option", "p"),
    *("pre", "section", "td", "th", "tr", "ul", "ol", "table"),
)
# Text codecs that are no encodings of pages; a server could name one to keep us busy.
_NO_PAGES = frozenset({"idna", "punycode", "undefined", "unicode_escape", "raw_unicode_escape"})
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


async def read_page(page: Page, max_chars: int) -> str:
    """Return title, address and text of a page, at most so many characters of text.

    Raises:
        ValueError: The page is no text.
    """
    title = ""
    if _is_html(page):
        title, text = await asyncio.to_thread(_readable, decode(page), page.url)
    elif _is_text(page):
        text = decode(page).strip()
    else:
        kind = page.content_type or "binary content"
        raise ValueError(f"{page.url} is no page of text, it is {kind}")
    head = f"{title}\n{page.url}" if title else page.url
    if not text:
        return f"{head}\n\n[the page holds no text]"
    if len(text) > max_chars:
        kept = text[:max_chars].rstrip()
        text = f"{kept}\n[cut: the first {max_chars:,} of {len(text):,} characters]"
    return f"{head}\n\n{text}"


def decode(page: Page) -> str:
    """Decode as the byte order mark, the server, the page itself, or the bytes say."""
    for mark, codec in _BOMS:
        if page.content.startswith(mark):
            return page.content.decode(codec, "replace")
    named = _META_CHARSET.search(page.content[:4096])
    for charset in (page.charset, named[1].decode("ascii") if named else None, "utf-8"):
        try:
            if charset is not None and codecs.lookup(charset).name not in _NO_PAGES:
                return page.content.decode(charset)
        except (LookupError, ValueError):
            continue
    from charset_normalizer import from_bytes

    best = from_bytes(page.content[:100_000]).best()
    return page.content.decode(best.encoding if best is not None else "utf-8", "replace")


def _is_html(page: Page) -> bool:
    if page.content_type:
        return page.content_type in _HTML
    return page.content[:1024].lstrip().lower().startswith((b"<!doctype html", b"<html"))


def _is_text(page: Page) -> bool:
    if page.content_type:
        return _TEXT.fullmatch(page.content_type) is not None
    return b"\0" not in page.content[:8192]


def _readable(html: str, url: str) -> tuple[str, str]:
    """Title and main text; where no main text can be told from the rest, all of it."""
    import trafilatura

    html = html[:MAX_HTML_CHARS]
    found = trafilatura.bare_extraction(
        html, url=url, with_metadata=False, include_comments=False, include_tables=True
    )
    text = (getattr(found, "text", None) or "").strip()
    title, everything = _plain(html)
    return title, text or everything


def _plain(html: str) -> tuple[str, str]:
    """Title and all visible text, a line a block."""
    from lxml import etree
    from lxml import html as lxml_html

    parser = lxml_html.HTMLParser(encoding="utf-8", no_network=True)
    try:
        root = lxml_html.document_fromstring(html.encode("utf-8", "replace"), parser=parser)
    except (etree.LxmlError, ValueError):
        # Nothing in it that could be an element.
        return "", ""
    title = " ".join((root.findtext(".//title") or "").split())
    for element in list(root.iter(*_INVISIBLE)):
        # What follows the element stays.
        element.drop_tree()
    for element in root.iter(*_BLOCKS):
        element.tail = f"\n{element.tail or ''}"
    lines = (" ".join(line.split()) for line in root.text_content().split("\n"))
    return title, "\n".join(line for line in lines if line)
