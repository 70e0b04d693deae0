"""Where plugins are looked for, and which folders there are plugins.

In order of precedence: folders given by option, `NIT_PLUGIN_PATH`, entry points of installed
packages (group `nit.plugins`), and last the plugins that come with the package: one of the same
name, wherever it is, takes the place of a shipped one.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from nit_kernel.sources.manifest import DESCRIPTION, SCHEMA
from nit_kernel.sources.plugin_code import describe_error
from nit_kernel.sources.plugin_faults import Fault, FaultList

if TYPE_CHECKING:
    from collections.abc import Iterable
    from importlib.metadata import EntryPoint

ENTRY_POINT_GROUP: Final = "nit.plugins"
PATH_VARIABLE: Final = "NIT_PLUGIN_PATH"
SHIPPED: Final = "shipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginPlace:
    """A plugin folder or a folder of them, and who named it; or a fault, where it is none."""

    path: Path
    origin: str = "option"
    fault: Fault | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFolder:
    """A folder that is a plugin or should be; `fault` says why it must not be loaded."""

    folder: Path
    origin: str
    fault: Fault | None = None


def default_places() -> list[PluginPlace]:
    """The places that need no option: `NIT_PLUGIN_PATH`, entry points, the shipped plugins."""
    named = os.environ.get(PATH_VARIABLE, "").split(os.pathsep)
    places = [
        PluginPlace(path=Path(entry).expanduser(), origin=PATH_VARIABLE) for entry in named if entry
    ]
    places += _entry_point_places()
    shipped = shipped_folder()
    if shipped is not None:
        places.append(PluginPlace(path=shipped, origin=SHIPPED))
    return places


def shipped_folder() -> Path | None:
    """The folder of the plugins that come with the package, in a checkout or installed."""
    package = Path(__file__).resolve().parents[1]
    # In a checkout a build leaves a copy inside the package, which is old as soon as it is made.
    checkout = package.parent
    if (checkout / "pyproject.toml").is_file() and (checkout / "rust").is_dir():
        candidates = (checkout / "plugins", package / "plugins")
    else:
        candidates = (package / "plugins",)
    return next((folder for folder in candidates if folder.is_dir()), None)


def find_plugins(places: Iterable[PluginPlace]) -> tuple[list[FoundFolder], list[Fault]]:
    """Find the plugin folders of all places, each once, in a stable order.

    Returns:
        The folders, and a fault for each place that has none.
    """
    found: dict[Path, FoundFolder] = {}
    lost: list[Fault] = []
    # Whatever the order in which they were named: options first, the shipped ones last.
    for place in sorted(places, key=_rank):
        if place.fault is not None:
            lost.append(place.fault)
            continue
        try:
            folders = _folders_of(place)
        except OSError as error:
            reason = f"cannot be read: {error.strerror or error}"
            lost.append(_lost(place, reason, "look at the folder and its rights"))
            continue
        if not folders:
            hint = f"a plugin has a {DESCRIPTION}"
            lost.append(_lost(place, "is no plugin and holds none", hint))
        for folder in folders:
            found.setdefault(folder.folder, folder)
    return list(found.values()), lost


def _folders_of(place: PluginPlace) -> list[FoundFolder]:
    # A link that was named itself is followed: somebody chose it.
    top = place.path.expanduser().resolve(strict=True)
    if _has_json_part(top):
        return [FoundFolder(folder=top, origin=place.origin)]
    found: list[FoundFolder] = []
    for child in sorted(top.iterdir(), key=lambda item: item.name):
        if not child.name.startswith((".", "__")):
            found += _folder_in(top, child, place.origin)
    if not found and _has_code(top):
        return [FoundFolder(folder=top, origin=place.origin)]
    return found


def _folder_in(top: Path, child: Path, origin: str) -> list[FoundFolder]:
    """What a member of a folder of plugins is: a plugin, what must not be one, or nothing."""
    faults = FaultList(child.name)
    folder = child
    try:
        folder = child.resolve()
        if child.is_symlink() and not folder.is_relative_to(top):
            if folder.is_file():
                return []
            faults.leaves_folder(child, f"is a link that leads outside the folder `{top.name}`")
        elif not folder.is_dir() or not (_has_json_part(folder) or _has_code(folder)):
            return []
    except (OSError, RuntimeError) as error:
        # RuntimeError: a loop of links, in Python 3.11 and 3.12.
        reason = getattr(error, "strerror", None) or str(error)
        faults.missing_part(child, f"cannot be read: {reason}", "look at the folder and its rights")
    if faults.faults:
        return [FoundFolder(folder=child, origin=origin, fault=faults.faults[0])]
    return [FoundFolder(folder=folder, origin=origin)]


def _has_json_part(folder: Path) -> bool:
    parts = (folder / DESCRIPTION, folder / SCHEMA)
    return any(part.exists() or part.is_symlink() for part in parts)


def _has_code(folder: Path) -> bool:
    return (folder / f"{folder.name}.py").exists()


def _rank(place: PluginPlace) -> int:
    if place.origin == SHIPPED:
        return 3
    return {"option": 0, PATH_VARIABLE: 1}.get(place.origin, 2)


def _lost(place: PluginPlace, message: str, hint: str) -> Fault:
    faults = FaultList(place.path.name or str(place.path))
    faults.missing_part(place.path, message, hint)
    return faults.faults[0]


def _entry_point_places() -> list[PluginPlace]:
    places: list[PluginPlace] = []
    for entry in _entry_points():
        origin = f"entry point {entry.name}"
        try:
            places += [PluginPlace(path=path, origin=origin) for path in _paths_of(entry)]
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - the wall around foreign code
            fault = Fault(
                plugin=entry.name,
                code="NIT558",
                message=f"the entry point `{entry.name} = {entry.value}` cannot be used: "
                + describe_error(error),
                hint=f"it names a package whose folder holds plugins ({ENTRY_POINT_GROUP})",
            )
            places.append(PluginPlace(path=Path(entry.value), origin=origin, fault=fault))
    return places


def _entry_points() -> list[EntryPoint]:
    """The entry points of installed packages, read only where some package has any of ours."""
    if not any(_mentions_group(Path(folder)) for folder in sys.path if folder):
        # `importlib.metadata` reads every package's metadata: that takes longer than all else.
        return []
    from importlib.metadata import entry_points  # noqa: PLC0415 - see above

    return sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda entry: entry.name)


def _mentions_group(folder: Path) -> bool:
    try:
        names = [entry.path for entry in os.scandir(folder)]
    except OSError:
        # An archive on the path: let the standard library look inside.
        return folder.is_file() and folder.suffix == ".zip" and "nit" in folder.name
    for name in names:
        if name.endswith((".dist-info", ".egg-info")):
            try:
                content = Path(name, "entry_points.txt").read_bytes()
            except OSError:
                continue
            if ENTRY_POINT_GROUP.encode() in content:
                return True
    return False


def _paths_of(entry: EntryPoint) -> list[Path]:
    """The folders that an entry point names: a package, or an object that is or gives a path."""
    if not entry.attr:
        spec = importlib.util.find_spec(entry.module)
        if spec is None:
            raise ModuleNotFoundError(f"no module named {entry.module!r}")
        if spec.submodule_search_locations:
            return [Path(folder) for folder in spec.submodule_search_locations]
        return [Path(spec.origin or "").parent]
    value = cast("object", entry.load())
    if callable(value):
        value = value()
    if isinstance(value, str | os.PathLike):
        return [Path(cast("str", os.fspath(value)))]
    raise TypeError(f"wanted a path, got {type(value).__name__}")
