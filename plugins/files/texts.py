"""Reading and writing whole text files: bounded, any text encoding, never half written."""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import secrets
import stat
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from .rooted import Place, Root

MAX_BYTES = 10_000_000
"""The longest text that is read or written, in bytes."""

_PIECE_CHARS = 1_000_000

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Text codecs that are no encodings of files (and take time that grows with the square of length).
_NO_FILES = frozenset({"idna", "punycode", "undefined", "unicode_escape", "raw_unicode_escape"})


def read_text(
    root: Root, path: str, *, start_line: int, max_lines: int | None, encoding: str | None
) -> str:
    """Return the text of a file, or some of its lines, with its own line ends."""
    with root.place(path) as place:
        fd = place.open_regular(os.O_RDONLY)
    with os.fdopen(fd, "rb") as file:
        try:
            if start_line == 1 and max_lines is None:
                return _whole(file, path, encoding)
            return _some_lines(file, path, start_line, max_lines, encoding)
        except UnicodeDecodeError as error:
            if encoding is not None:
                raise ValueError(f"`{path}` is no {encoding} text (byte {error.start:,})") from None
            raise ValueError(
                f"`{path}` is no UTF-8 text (byte {error.start:,}): name its encoding, such as"
                ' encoding="latin-1" or "gbk"'
            ) from None


def write_text(
    root: Root, path: str, content: str, *, if_exists: str, encoding: str
) -> dict[str, object]:
    """Write a text; a file that is replaced is there, old or new, at every moment."""
    try:
        encoded = content.encode(_codec(encoding))
    except UnicodeEncodeError as error:
        character = content[error.start]
        raise ValueError(f"{encoding} has no {character!a}: write it as utf-8") from None
    if len(encoded) > MAX_BYTES:
        raise ValueError(f"the text is longer than {MAX_BYTES:,} bytes")
    with root.place(path, make_folders=True) as place:
        status = place.status
        if status is None:
            _write_new(place, encoded)
        elif if_exists == "append":
            _append(place, encoded)
        elif if_exists == "overwrite":
            _replace(place, encoded)
        else:
            raise FileExistsError(
                f'`{place.shown}` is there already: pass if_exists="overwrite" or "append"'
            )
        return {"path": place.shown, "bytes": len(encoded), "created": status is None}


def _write_new(place: Place, content: bytes) -> None:
    temporary = _write_temporary(place, content, None)
    try:
        # Unlike a rename, a link never takes the place of a file that has come meanwhile.
        os.link(temporary, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)
    except FileExistsError:
        os.unlink(temporary, dir_fd=place.folder)
        raise FileExistsError(f"`{place.shown}` has come into being meanwhile") from None
    except (OSError, NotImplementedError):
        # A file system without hard links.
        _rename(place, temporary)
    else:
        os.unlink(temporary, dir_fd=place.folder)


def _replace(place: Place, content: bytes) -> None:
    os.close(place.open_regular(os.O_WRONLY))
    _rename(place, _write_temporary(place, content, place.status))


def _append(place: Place, content: bytes) -> None:
    with os.fdopen(place.open_regular(os.O_WRONLY | os.O_APPEND), "ab") as file:
        file.write(content)


def _write_temporary(place: Place, content: bytes, like: os.stat_result | None) -> str:
    name = f".nit-{secrets.token_hex(8)}.tmp"
    if place.folder is None:
        name = os.path.join(os.path.dirname(place.name), name)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    fd = os.open(name, flags | getattr(os, "O_BINARY", 0), 0o666, dir_fd=place.folder)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(content)
            file.flush()
            if like is not None and hasattr(os, "fchmod"):
                os.fchmod(file.fileno(), stat.S_IMODE(like.st_mode))
            os.fsync(file.fileno())
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name, dir_fd=place.folder)
        raise
    return name


def _rename(place: Place, temporary: str) -> None:
    try:
        os.replace(temporary, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=place.folder)
        raise


def _whole(file: BinaryIO, path: str, encoding: str | None) -> str:
    content = file.read(MAX_BYTES + 1)
    codec = _codec_of(content, path, encoding)
    if len(content) > MAX_BYTES:
        raise ValueError(
            f"`{path}` is longer than {MAX_BYTES:,} bytes: ask for some of its lines with"
            " start_line and max_lines"
        )
    return content.decode(codec)


def _some_lines(
    file: BinaryIO, path: str, start_line: int, max_lines: int | None, encoding: str | None
) -> str:
    codec = _codec_of(file.read(8192), path, encoding)
    file.seek(0)
    kept: list[str] = []
    size = 0
    number = 1
    # `newline=""`: lines end at \n, \r or \r\n, and keep what they end with.
    with io.TextIOWrapper(file, encoding=codec, newline="") as lines:
        while max_lines is None or number < start_line + max_lines:
            piece = lines.readline(_PIECE_CHARS)
            if not piece:
                break
            if number >= start_line:
                kept.append(piece)
                size += len(piece)
                if size > MAX_BYTES:
                    raise ValueError(
                        f"these lines are longer than {MAX_BYTES:,} characters: ask for fewer"
                    )
            if piece.endswith(("\n", "\r")):
                number += 1
    return "".join(kept)


def _codec_of(content: bytes, path: str, encoding: str | None) -> str:
    if encoding is not None:
        return _codec(encoding)
    for mark, codec in _BOMS:
        if content.startswith(mark):
            return codec
    if b"\0" in content[:8192]:
        raise ValueError(f"`{path}` is no text file")
    return "utf-8"


def _codec(encoding: str) -> str:
    try:
        name = codecs.lookup(encoding).name
        # Refuses what is no encoding of text, such as zlib.
        "a".encode(name)
    except (LookupError, ValueError):
        name = ""
    if not name or name in _NO_FILES:
        raise ValueError(f"{encoding!r} is no text encoding")
    return name
