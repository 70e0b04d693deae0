"""Fetches a large file with a pinned sum: resumed where it broke, put in place when it is right.

```
https://..  ──>  NAME.part  ──(SHA-256 as pinned)──>  NAME
```
A file under its own name is complete and right. What is interrupted stays as `.part` and is gone
on with next time.
"""

from __future__ import annotations

import errno
import hashlib
import http.client
import os
import shutil
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nit_kernel.errors import ModelError

Progress = Callable[[int, int | None], None]
"""Told how many bytes are there, and how many there will be if the server says so."""

_BLOCK = 1 << 20
_SILENCE_SECONDS = 60.0
_MOST_BREAKS = 5
_TOTAL_UNKNOWN_ROOM = 1 << 28


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedFile:
    """A file that is known by its sum.

    Attributes:
        name: Its name on disk.
        url: Where it comes from.
        sha256: The SHA-256 of the whole file, in hexadecimal digits.
        licence: Under which licence it comes, for the person.
    """

    name: str
    url: str
    sha256: str
    licence: str = ""


def fetch(
    file: PinnedFile, folder: Path, *, progress: Progress | None = None, pause_s: float = 1.0
) -> Path:
    """Return the path of the file, fetched if it is not there yet.

    Args:
        file: What to fetch.
        folder: Where it goes; made if missing.
        progress: Told while it comes, from this thread.
        pause_s: Seconds before a broken download is gone on with, doubled each time.

    Raises:
        ModelError: It cannot be fetched, does not fit on the disk, or is not what was pinned.
    """
    target = folder / file.name
    if target.is_file():
        return target
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f"{file.name}.part"
    breaks = 0
    while True:
        before = _size(part)
        try:
            _append(file, part, progress)
            break
        except (OSError, http.client.HTTPException) as error:
            if isinstance(error, urllib.error.HTTPError):
                error.close()
            breaks = 1 if _size(part) > before else breaks + 1
            problem = _problem(file, error)
            if problem is not None or breaks > _MOST_BREAKS:
                raise problem or _unfetched(file, _why(error)) from None
            time.sleep(pause_s * 2 ** (breaks - 1))
    found = sha256_of(part)
    if found != file.sha256:
        part.unlink()
        raise ModelError(
            f"{file.url} is not the file that was pinned: its SHA-256 is {found}",
            code="NIT682",
            hint="try again; if it stays so, give a file of your own: `%nit model local FILE.gguf`",
        )
    part.replace(target)
    return target


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal digits."""
    digest = hashlib.sha256()
    with path.open("rb") as source:
        while block := source.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def _append(file: PinnedFile, part: Path, progress: Progress | None) -> None:
    """Fetch what is missing; returns when the server has nothing more."""
    there = _size(part)
    request = urllib.request.Request(file.url, headers={"User-Agent": "nit-kernel"})
    if there:
        request.add_header("Range", f"bytes={there}-")
    try:
        answer: Any = urllib.request.urlopen(request, timeout=_SILENCE_SECONDS)
    except urllib.error.HTTPError as error:
        if error.code == 416:
            # Nothing is missing: the sum decides.
            error.close()
            return
        raise
    with answer:
        if there and answer.status != 206:
            there = 0
        left = answer.headers.get("content-length")
        total = there + int(left) if left and left.isdigit() else None
        _check_room(file, part.parent, (total - there) if total else _TOTAL_UNKNOWN_ROOM)
        with part.open("ab" if there else "wb") as sink:
            while block := answer.read(_BLOCK):
                sink.write(block)
                there += len(block)
                if progress is not None:
                    progress(there, total)
            sink.flush()
            os.fsync(sink.fileno())
        if total is not None and there < total:
            message = f"the connection ended after {there:,} of {total:,} bytes"
            raise ConnectionError(message)


def _check_room(file: PinnedFile, folder: Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise ModelError(
            f"`{file.name}` needs {needed / 1e9:.1f} GB in {folder}, where {free / 1e9:.1f} GB are "
            "free",
            code="NIT681",
            hint="make room, or name another folder with NIT_MODEL_DIR",
        )


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _problem(file: PinnedFile, error: Exception) -> ModelError | None:
    """The error for what no second try can mend."""
    if isinstance(error, urllib.error.HTTPError) and error.code < 500 and error.code != 429:
        return _unfetched(file, _why(error))
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EACCES, errno.EROFS):
        return _unfetched(file, str(error))
    return None


def _why(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f"HTTP {error.code}"
    reason = getattr(error, "reason", None)
    return str(reason or error) or type(error).__name__


def _unfetched(file: PinnedFile, why: str) -> ModelError:
    return ModelError(
        f"`{file.name}` cannot be fetched from {file.url}: {why}",
        code="NIT680",
        hint="try again later (it goes on where it stopped), or give a file of your own: "
        "`%nit model local FILE.gguf`",
    )
