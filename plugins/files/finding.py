"""Looking for files and for lines in them, below the root, links not followed."""

from __future__ import annotations

import fnmatch
import os
import stat
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from .rooted import kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .rooted import Root

MAX_ENTRIES = 10_000
"""The most entries that one list holds; more are an error, never left out silently."""

MAX_SEARCHED_BYTES = 5_000_000
"""Longer files are not searched."""

_MAX_PATTERN = 300
_MAX_DEPTH = 64
_MAX_LINE = 500


class _Found(NamedTuple):
    path: str
    name: str
    folder: int | None
    """The open folder it is in; `None`: `name` is the whole path."""
    status: os.stat_result


def list_entries(
    root: Root, path: str, *, pattern: str, recursive: bool, hidden: bool
) -> list[dict[str, object]]:
    """Return what is in a folder, in the order of the paths."""
    entries: list[dict[str, object]] = []
    for found in _walk(root, path, recursive=recursive, hidden=hidden):
        if not _fits(found, pattern):
            continue
        if len(entries) == MAX_ENTRIES:
            raise ValueError(
                f"there are more than {MAX_ENTRIES:,} entries: name a folder or a narrower pattern"
            )
        entries.append(
            {
                "path": found.path,
                "kind": _kind(found.status),
                "bytes": found.status.st_size,
                "modified": datetime.fromtimestamp(found.status.st_mtime, UTC).isoformat(),
            }
        )
    return sorted(entries, key=lambda entry: str(entry["path"]))


def search_lines(
    root: Root,
    text: str,
    path: str,
    *,
    pattern: str,
    match_case: bool,
    max_results: int,
    context: object,
) -> list[dict[str, object]]:
    """Return the first lines that contain a text; binary and long files are passed over."""
    wanted = text if match_case else text.casefold()
    hits: list[dict[str, object]] = []
    passed_over = 0
    for found in _walk(root, path, recursive=True, hidden=False):
        if getattr(context, "cancelled", False):
            break
        if not stat.S_ISREG(found.status.st_mode) or not _fits(found, pattern):
            continue
        content = _read(found)
        if content is None:
            passed_over += 1
            continue
        for number, line in enumerate(content.split("\n"), 1):
            if wanted in (line if match_case else line.casefold()):
                hits.append({"path": found.path, "line": number, "text": _shortened(line, text)})
                if len(hits) == max_results:
                    return hits
    if passed_over and context is not None:
        _log(context, f"{passed_over} files were not searched: binary, or too long")
    return hits


def _walk(root: Root, path: str, *, recursive: bool, hidden: bool) -> Iterator[_Found]:
    with root.place(path) as place:
        top = place.open_folder()
    prefix = "" if place.shown == "." else f"{place.shown}/"
    yield from _below(top, prefix, recursive=recursive, hidden=hidden, depth=0)


def _below(
    folder: int | str, prefix: str, *, recursive: bool, hidden: bool, depth: int
) -> Iterator[_Found]:
    try:
        with os.scandir(folder) as scan:
            names = sorted(entry.name for entry in scan)
        for name in names:
            if not hidden and name.startswith("."):
                continue
            at = folder if isinstance(folder, int) else None
            where = name if at is not None else os.path.join(folder, name)
            try:
                status = os.stat(where, dir_fd=at, follow_symlinks=False)
            except OSError:
                # It went away since the folder was read.
                continue
            yield _Found(f"{prefix}{name}", where, at, status)
            if recursive and stat.S_ISDIR(status.st_mode) and depth < _MAX_DEPTH:
                yield from _below_child(where, at, f"{prefix}{name}/", hidden=hidden, depth=depth)
    finally:
        if isinstance(folder, int):
            os.close(folder)


def _below_child(
    where: str, at: int | None, prefix: str, *, hidden: bool, depth: int
) -> Iterator[_Found]:
    child: int | str = where
    if at is not None:
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            child = os.open(where, flags, dir_fd=at)
        except OSError:
            # No right to look into it, or it is a link by now.
            return
    try:
        yield from _below(child, prefix, recursive=True, hidden=hidden, depth=depth + 1)
    except PermissionError:
        return


def _read(found: _Found) -> str | None:
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        fd = os.open(found.name, flags | getattr(os, "O_BINARY", 0), dir_fd=found.folder)
    except OSError:
        return None
    with os.fdopen(fd, "rb") as file:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_SEARCHED_BYTES:
            return None
        content = file.read(MAX_SEARCHED_BYTES + 1)
    if b"\0" in content[:8192] or len(content) > MAX_SEARCHED_BYTES:
        return None
    return content.decode("utf-8", "replace")


def _fits(found: _Found, pattern: str) -> bool:
    if len(pattern) > _MAX_PATTERN:
        raise ValueError(f"a pattern has at most {_MAX_PATTERN} characters")
    subject = found.path if "/" in pattern else found.path.rpartition("/")[2]
    return fnmatch.fnmatchcase(subject, pattern)


def _kind(status: os.stat_result) -> str:
    kind = kind_of(status).partition(" ")[2]
    return kind if kind in ("file", "folder", "link") else "other"


def _shortened(line: str, wanted: str) -> str:
    line = line.rstrip("\r")
    if len(line) <= _MAX_LINE:
        return line
    start = max(0, line.casefold().find(wanted.casefold()) - _MAX_LINE // 4)
    return f"{'...' if start else ''}{line[start : start + _MAX_LINE]}..."


def _log(context: object, message: str) -> None:
    log = getattr(context, "log", None)
    if log is not None:
        log(message)
