"""Files below one folder, by name or pattern, with every link resolved."""

from __future__ import annotations

import difflib
import os
import re
from fnmatch import translate
from pathlib import Path

MAX_FILES = 1_000
_MAX_LOOKED_AT = 50_000
_WILD = re.compile(r"[*?\[]")


class FilesBelow:
    """Finds the regular files that a query names, and none outside the root."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._real_root = root.resolve()

    def find(self, name: str) -> list[str]:
        """The real paths of the files that a name or pattern stands for; empty if there are none.

        Raises:
            PermissionError: It leads outside the root.
            ValueError: It stands for too many files, or cannot be a path.
        """
        if "\0" in name:
            raise ValueError("the name of a file holds no NUL")
        exact = self._inside(self.root / name, name)
        if exact.is_file():
            return [str(exact)]
        if exact.exists():
            raise PermissionError(f"'{name}' is no regular file")
        return self._matching(name) if _WILD.search(name) else []

    def nearest(self, name: str) -> str:
        """A question that offers the file which was probably meant, or nothing."""
        folder = (self.root / name).parent
        try:
            near = difflib.get_close_matches(Path(name).name, os.listdir(folder), 1)  # noqa: PTH208
        except (OSError, ValueError):
            return ""
        return f": did you mean '{Path(name).with_name(near[0])}'?" if near else ""

    def _inside(self, path: Path, name: str) -> Path:
        real = _resolved(path)
        if real is None or not real.is_relative_to(self._real_root):
            raise PermissionError(f"'{name}' leads outside the working folder")
        return real

    def _matching(self, pattern: str) -> list[str]:
        parts = [part for part in Path(pattern).parts if part != "."]
        fixed = next(index for index, part in enumerate(parts) if _WILD.search(part))
        start = self._inside(self.root.joinpath(*parts[:fixed]), pattern)
        wanted = re.compile(_pattern(parts[fixed:]))
        found: list[str] = []
        looked_at = 0
        # Links to folders are not followed: they could lead round in circles.
        for top, folders, names in os.walk(start):
            folders.sort()
            for name in sorted(names):
                looked_at += 1
                path = Path(top, name)
                if not wanted.fullmatch(path.relative_to(start).as_posix()):
                    continue
                real = _resolved(path)
                # A link that leads outside is as good as not there.
                if real is not None and real.is_relative_to(self._real_root) and real.is_file():
                    found.append(str(real))
            if len(found) > MAX_FILES or looked_at > _MAX_LOOKED_AT:
                raise ValueError(f"'{pattern}' stands for too many files: name a folder")
        return found


def _resolved(path: Path) -> Path | None:
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        # Links that lead round in a circle.
        return None


def _pattern(parts: list[str]) -> str:
    pieces: list[str] = []
    for index, part in enumerate(parts):
        is_last = index == len(parts) - 1
        if part == "**":
            pieces.append(".*" if is_last else "(?:[^/]+/)*")
        else:
            # `*` of fnmatch crosses folders; here it stays in its own.
            inner = translate(part).removeprefix("(?s:").removesuffix(r")\Z")
            pieces.append(inner.replace(".*", "[^/]*") + ("" if is_last else "/"))
    return "".join(pieces)
