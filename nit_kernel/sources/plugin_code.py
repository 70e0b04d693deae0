"""Importing the code of a plugin, under a name of its own, and telling whether it has changed.

```
_nit_plugin_web_3f2a9c1d4e5b       a package for one load; its `__path__` is the plugin's folder
_nit_plugin_web_3f2a9c1d4e5b.web   the entry point; `from . import reading` finds the file beside it
```

Nothing is added to `sys.path`, and no other plugin or package can be taken for a plugin's own file.
Code is compiled from its source each time: a cached bytecode file is told from a stale one by size
and whole second only, too coarse for a file that a cell writes just before `%nit reload`.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import linecache
import os
import secrets
import stat
import sys
import traceback
from dataclasses import dataclass
from importlib.machinery import (
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    ModuleSpec,
    SourceFileLoader,
)
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Final, NoReturn, cast

from nit_kernel.sources.plugin_faults import FaultList

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_PREFIX: Final = "_nit_plugin_"
_MAX_FILES: Final = 2_000
_HASHED_BYTES: Final = 1_048_576
_MAX_TEXT: Final = 200

# Packages whose import name is not the name that pip installs.
_INSTALL_NAMES: Final = {
    "PIL": "pillow",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python",
    "dateutil": "python-dateutil",
    "dotenv": "python-dotenv",
    "fitz": "pymupdf",
    "git": "GitPython",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "yaml": "PyYAML",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginCode:
    """The imported code of a plugin; `package` is the name under which all of it is."""

    module: ModuleType
    package: str


def import_plugin(
    name: str,
    folder: Path,
    entry: Path,
    faults: FaultList,
    *,
    install: dict[str, str],
    package: str | None = None,
) -> PluginCode | None:
    """Import a plugin's entry point, or add the fault that says why that failed.

    Args:
        name: The plugin's name.
        folder: Its resolved folder.
        entry: The resolved entry point, inside the folder.
        faults: Takes what is wrong.
        install: What pip installs for a module that the manifest speaks of.
        package: The package to import it in, where it may be imported already; a new one if left
            out.
    """
    if PluginFinder not in sys.meta_path:
        sys.meta_path.insert(0, PluginFinder)
    package = package or f"{_PREFIX}{name}_{secrets.token_hex(6)}"
    parts = entry.relative_to(folder).with_suffix("").parts
    try:
        if package not in sys.modules:
            _add_package(package, folder)
        if parts == ("__init__",):
            module = sys.modules[package]
            if getattr(module, "__file__", None) is None:
                _execute_as_package(module, entry)
        else:
            linecache.checkcache(str(entry))
            module = importlib.import_module(".".join((package, *parts)))
    except BaseException as error:  # the wall around foreign code
        forget_plugin(package)
        if isinstance(error, KeyboardInterrupt):
            raise
        _explain(error, folder, entry, faults, install)
        return None
    return PluginCode(module=module, package=package)


class PluginFunction:
    """A plain function of a plugin that another process can be sent (an executor's worker).

    The name of its module means nothing there: it travels as the plugin's folder, which the other
    process must see, too.
    """

    def __init__(
        self, function: Callable[..., object], name: str, folder: Path, entry: Path
    ) -> None:
        self._function = function
        self._place = (name, str(folder), str(entry))
        functools.update_wrapper(self, function)

    def __call__(self, *arguments: object, **named: object) -> object:
        return self._function(*arguments, **named)

    def __reduce__(self) -> tuple[object, ...]:
        mark = fingerprint(Path(self._place[1]))
        return _function_elsewhere, (*self._place, self._function.__name__, mark)


def _function_elsewhere(
    name: str, folder: str, entry: str, function: str, mark: str
) -> Callable[..., object]:
    """The function in the process that it was sent to; a plugin is imported once for each state."""
    package = f"{_PREFIX}{name}_{hashlib.sha256(f'{folder} {mark}'.encode()).hexdigest()[:12]}"
    faults = FaultList(name)
    code = import_plugin(name, Path(folder), Path(entry), faults, install={}, package=package)
    if code is None:
        raise faults.faults[0].as_error()
    return cast("Callable[..., object]", getattr(code.module, function))


def forget_plugin(package: str) -> None:
    """Take all modules of one load out of `sys.modules`; what still runs keeps its own."""
    for name in [n for n in sys.modules if n == package or n.startswith(f"{package}.")]:
        sys.modules.pop(name, None)


def fingerprint(folder: Path) -> str:
    """A digest of everything in a plugin's folder: other content, other digest.

    Large files count by size and time; folders whose names begin with `.` or `__` do not count.
    """
    digest = hashlib.sha256()
    count = 0
    for top, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__")))
        for name in sorted(files):
            count += 1
            if count > _MAX_FILES:
                return digest.hexdigest()
            path = Path(top, name)
            digest.update(os.fsencode(path.relative_to(folder)) + b"\0")
            digest.update(_content_mark(path) + b"\0")
    return digest.hexdigest()


def _content_mark(path: Path) -> bytes:
    try:
        status = path.stat()
        if stat.S_ISREG(status.st_mode) and status.st_size <= _HASHED_BYTES:
            return hashlib.sha256(path.read_bytes()).digest()
    except OSError as error:
        return str(error.errno).encode()
    return f"{status.st_mode} {status.st_size} {status.st_mtime_ns}".encode()


class _FreshSourceLoader(SourceFileLoader):
    """Compiles from the source, always, and writes no bytecode beside it."""

    def path_stats(self, path: str) -> NoReturn:  # pyright: ignore[reportIncompatibleMethodOverride]
        # Without these, `importlib` neither reads nor writes a cached file.
        raise OSError(path)


class PluginFinder:
    """Finds the files of plugins, and nothing else; stands in `sys.meta_path`. Has no state."""

    @classmethod
    def find_spec(
        cls, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Look for a module of a plugin in the folders of its package."""
        del target
        if path is None or not fullname.startswith(_PREFIX):
            return None
        namespace: list[str] = []
        for folder in path:
            # A finder made anew sees files that were written a moment ago.
            finder = FileFinder(
                folder,
                (ExtensionFileLoader, EXTENSION_SUFFIXES),
                (_FreshSourceLoader, SOURCE_SUFFIXES),
            )
            spec = finder.find_spec(fullname)
            if spec is None:
                continue
            if spec.loader is not None:
                _refuse_outside(fullname, spec)
                return spec
            namespace += spec.submodule_search_locations or []
        if not namespace:
            return None
        spec = ModuleSpec(fullname, None, is_package=True)
        spec.submodule_search_locations = namespace
        return spec

    @classmethod
    def invalidate_caches(cls) -> None:
        """Nothing is cached."""


def _refuse_outside(fullname: str, spec: ModuleSpec) -> None:
    root = sys.modules[fullname.partition(".")[0]].__path__[0]
    file = Path(spec.origin or root).resolve()
    if not file.is_relative_to(root):
        name = Path(spec.origin or root).name
        message = f"`{name}` leads to `{file}`, outside the plugin's folder"
        raise ImportError(message, name=fullname, path=spec.origin)


def _add_package(package: str, folder: Path) -> None:
    module = ModuleType(package, "One load of one plugin.")
    spec = ModuleSpec(package, None, is_package=True)
    spec.submodule_search_locations = [str(folder)]
    module.__spec__ = spec
    module.__path__ = [str(folder)]
    module.__package__ = package
    sys.modules[package] = module


def _execute_as_package(module: ModuleType, entry: Path) -> None:
    loader = _FreshSourceLoader(module.__name__, str(entry))
    module.__loader__ = loader
    module.__file__ = str(entry)
    loader.exec_module(module)


def _explain(
    error: BaseException, folder: Path, entry: Path, faults: FaultList, install: dict[str, str]
) -> None:
    """Say in one line why the code cannot be imported, and at which of its lines."""
    path, line = _place_inside(error, folder, entry)
    match error:
        case SyntaxError() if error.filename and Path(error.filename).is_relative_to(folder):
            path = Path(error.filename)
            message = f"is not Python: {error.msg}"
            faults.import_failed(path, message, line=error.lineno, column=error.offset)
        case ModuleNotFoundError(name=str(wanted)) if not wanted.startswith(_PREFIX):
            top = wanted.partition(".")[0]
            if _own_file(folder, top):
                message = f"cannot import `{wanted}`, a file of its own"
                faults.import_failed(path, message, f"write `from . import {top}`", line=line)
                return
            package = install.get(wanted) or install.get(top) or _INSTALL_NAMES.get(top, top)
            faults.missing_dependency(path, [wanted], install_command([package]))
        case SystemExit():
            message = "left the program (`sys.exit`) while it was imported"
            hint = 'put that under `if __name__ == "__main__":`'
            faults.import_failed(path, message, hint, line=line)
        case _:
            message = f"raised while it was imported: {describe_error(error)}"
            faults.import_failed(path, message, line=line)


def describe_error(error: BaseException) -> str:
    """An exception in one short line."""
    text = " ".join("".join(traceback.format_exception_only(error)).split())
    return text if len(text) <= _MAX_TEXT else f"{text[: _MAX_TEXT - 3]}..."


def _place_inside(error: BaseException, folder: Path, entry: Path) -> tuple[Path, int | None]:
    """The line of the plugin's own code that led to an error, the innermost one."""
    place: tuple[Path, int | None] = (entry, None)
    for frame in traceback.extract_tb(error.__traceback__):
        path = Path(frame.filename)
        if path.is_relative_to(folder):
            place = (path, frame.lineno)
    return place


def install_command(packages: Sequence[str]) -> str:
    """The pip command that brings packages, quoted where a shell needs it."""
    quoted = [f'"{name}"' if set(name) & set("[]<>=!~; ") else name for name in packages]
    return f"pip install {' '.join(dict.fromkeys(quoted))}"


def _own_file(folder: Path, name: str) -> bool:
    return name.isidentifier() and ((folder / f"{name}.py").exists() or (folder / name).is_dir())
