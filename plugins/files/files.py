"""Text files below one folder, the root: read, write, list, search.

The root is the folder named by `NIT_FILES_ROOT`, else the one in which the plugin was loaded.
Nothing outside it is ever touched: `rooted.py` says how.
"""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(os.environ.get("NIT_FILES_ROOT") or Path()).expanduser().absolute()


def read_file(
    path: str, start_line: int = 1, max_lines: int | None = None, encoding: str | None = None
) -> str:
    """Return the text of a file, or some of its lines."""
    from .rooted import Root
    from .texts import read_text

    return read_text(
        Root(ROOT), path, start_line=start_line, max_lines=max_lines, encoding=encoding
    )


def write_file(
    path: str, content: str, if_exists: str = "error", encoding: str = "utf-8"
) -> dict[str, object]:
    """Write a file whole, or not at all."""
    from .rooted import Root
    from .texts import write_text

    return write_text(Root(ROOT), path, content, if_exists=if_exists, encoding=encoding)


def list_files(
    path: str = ".", pattern: str = "*", recursive: bool = False, hidden: bool = False
) -> list[dict[str, object]]:
    """Return the entries of a folder, in the order of their paths."""
    from .finding import list_entries
    from .rooted import Root

    return list_entries(Root(ROOT), path, pattern=pattern, recursive=recursive, hidden=hidden)


def search_files(
    text: str,
    path: str = ".",
    pattern: str = "*",
    match_case: bool = False,
    max_results: int = 100,
    ctx: object = None,
) -> list[dict[str, object]]:
    """Return the lines that contain a text."""
    from .finding import search_lines
    from .rooted import Root

    return search_lines(
        Root(ROOT),
        text,
        path,
        pattern=pattern,
        match_case=match_case,
        max_results=max_results,
        context=ctx,
    )
