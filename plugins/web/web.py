"""Pages of the web as readable text."""

from __future__ import annotations


async def fetch_page(url: str, max_chars: int = 20_000) -> str:
    """Return a page's title, its final address and its text."""
    from .fetching import Fetcher
    from .reading import read_page

    page = await Fetcher.from_environment().fetch(url)
    return await read_page(page, max_chars)
