"""Paths that stay below one folder, whatever they and the links on their way say.

A path is walked one name at a time. Each folder on the way is opened relative to the one before,
and never through a link: a link is read, and its target is walked in the same way. So there is no
moment between the check and the use in which a name could be made to mean something else.
Where the system cannot open relative to a folder (Windows), a path is resolved and checked whole.
"""

from __future__ import annotations

import difflib
import errno
import os
import stat
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType

_MAX_LINKS = 40
_FOLDER_FLAGS = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_CLOEXEC = getattr(os, "O_CLOEXEC", 0)
CAN_WALK = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")


class OutsideRootError(PermissionError):
    """A path leads out of the root."""


@dataclass(slots=True)
class Place:
    """Where a path ends: a name in an open folder. Use it in a `with` statement.

    Attributes:
        shown: The path relative to the root, links resolved, with `/`.
        name: What to open; relative to `folder`, where that is not `None`.
        folder: A file descriptor.
        status: What is there, links not followed; `None` where there is nothing.
    """

    shown: str
    name: str
    folder: int | None
    status: os.stat_result | None

    def __enter__(self) -> Place:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.folder is not None:
            os.close(self.folder)
            self.folder = None

    def open_regular(self, flags: int) -> int:
        """Open a file that must be there and be a regular one; never waits for a FIFO."""
        if self.status is None:
            raise self._missing("file")
        if not stat.S_ISREG(self.status.st_mode):
            raise PermissionError(f"`{self.shown}` is {kind_of(self.status)}, not a regular file")
        fd = _open(self.name, flags, self.folder)
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            os.close(fd)
            raise PermissionError(f"`{self.shown}` is no regular file any more")
        return fd

    def open_folder(self) -> int | str:
        """Open the folder that must be here, for `os.scandir`."""
        if self.status is None:
            raise self._missing("folder")
        if not stat.S_ISDIR(self.status.st_mode):
            raise NotADirectoryError(f"`{self.shown}` is {kind_of(self.status)}, not a folder")
        if self.folder is None:
            return self.name
        return os.open(self.name, _FOLDER_FLAGS | _CLOEXEC, dir_fd=self.folder)

    def _missing(self, what: str) -> FileNotFoundError:
        folder = self.folder if self.folder is not None else Path(self.name).parent
        try:
            near = difflib.get_close_matches(self.shown.rpartition("/")[2], os.listdir(folder), 1)
        except OSError:
            near = []
        hint = f": did you mean `{near[0]}`?" if near else ""
        return FileNotFoundError(f"there is no {what} `{self.shown}`{hint}")


class Root:
    """A folder, and the ways to what is below it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def place(self, path: str, *, make_folders: bool = False) -> Place:
        """Find where a path ends.

        Args:
            path: Relative to the root, or absolute and inside it.
            make_folders: Whether missing folders on the way are made.

        Raises:
            OutsideRootError: It leads out of the root.
            OSError: A folder on the way is not there or cannot be opened.
            ValueError: It is no path.
        """
        if not path or "\0" in path:
            raise ValueError("a path is a text that is not empty and holds no NUL")
        try:
            root = self.folder.resolve(strict=True)
            if CAN_WALK:
                return self._walked(root, path, make_folders=make_folders)
            return self._resolved(root, path, make_folders=make_folders)
        except OSError as error:
            if error.errno is None:
                raise
            raise _said(error, path, self.folder) from error

    def _walked(self, root: Path, path: str, *, make_folders: bool) -> Place:
        pending = deque(self._parts(root, path, path))
        folders = [os.open(root, _FOLDER_FLAGS | _CLOEXEC)]
        names: list[str] = []
        links = 0
        try:
            while pending:
                name = pending.popleft()
                if name == "..":
                    if not names:
                        raise _outside(path)
                    names.pop()
                    os.close(folders.pop())
                    continue
                status = _status(name, folders[-1])
                if status is not None and stat.S_ISLNK(status.st_mode):
                    links += 1
                    if links > _MAX_LINKS:
                        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
                    target = os.readlink(name, dir_fd=folders[-1])
                    if os.path.isabs(target):
                        while len(folders) > 1:
                            os.close(folders.pop())
                        names.clear()
                    pending.extendleft(reversed(self._parts(root, target, path)))
                    continue
                if not pending:
                    shown = "/".join((*names, name))
                    return Place(shown, name, folders.pop(), status)
                if status is None:
                    if not make_folders:
                        shown = "/".join((*names, name))
                        raise FileNotFoundError(f"there is no folder `{shown}`")
                    os.mkdir(name, dir_fd=folders[-1])
                folders.append(os.open(name, _FOLDER_FLAGS | _CLOEXEC, dir_fd=folders[-1]))
                names.append(name)
            # The path ends in a folder that is open already: the root, or the one of a `..`.
            return Place("/".join(names) or ".", ".", folders.pop(), os.stat(root))
        finally:
            for folder in folders:
                os.close(folder)

    def _parts(self, root: Path, path: str, said: str) -> list[str]:
        """The names of a path or link; an absolute one must begin with the root."""
        if os.path.isabs(path):
            for start in (root, self.folder):
                prefix = [name for name in str(start).split("/") if name]
                names = _names(path)
                if names[: len(prefix)] == prefix:
                    return names[len(prefix) :]
            raise _outside(said)
        return _names(path)

    def _resolved(self, root: Path, path: str, *, make_folders: bool) -> Place:
        # Where no folder can be held open: resolve every link, then look where that leads.
        resolved = (root / path).resolve()
        if not resolved.is_relative_to(root):
            raise _outside(path)
        if make_folders:
            resolved.parent.mkdir(parents=True, exist_ok=True)
        status = resolved.lstat() if resolved.exists() else None
        return Place(resolved.relative_to(root).as_posix(), str(resolved), None, status)


def kind_of(status: os.stat_result) -> str:
    """What is there, in words."""
    for test, words in (
        (stat.S_ISREG, "a file"),
        (stat.S_ISDIR, "a folder"),
        (stat.S_ISLNK, "a link"),
        (stat.S_ISFIFO, "a pipe"),
        (stat.S_ISSOCK, "a socket"),
    ):
        if test(status.st_mode):
            return words
    return "a device"


def _open(name: str, flags: int, folder: int | None) -> int:
    # Non-blocking: opening a FIFO must not wait for its other end.
    extra = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | _CLOEXEC
    return os.open(name, flags | extra | getattr(os, "O_BINARY", 0), dir_fd=folder)


def _status(name: str, folder: int) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _names(path: str) -> list[str]:
    return [name for name in path.split("/") if name not in ("", ".")]


def _outside(path: str) -> OutsideRootError:
    return OutsideRootError(f"`{path}` leads outside the working folder")


def _said(error: OSError, path: str, root: Path) -> OSError:
    """The error in words that do not name folders outside the root."""
    if isinstance(error, FileNotFoundError) and not root.exists():
        return FileNotFoundError(f"the working folder `{root}` is not there (NIT_FILES_ROOT)")
    return type(error)(f"`{path}`: {error.strerror}")
