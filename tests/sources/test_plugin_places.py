"""Where plugins are found: options, `NIT_PLUGIN_PATH`, entry points, the package itself."""

import os
import sys
from pathlib import Path

import pytest
from sources.folders import CODE, description, write_plugin

import nit_kernel as nit
from nit_kernel.runtime.registry import Registry
from nit_kernel.sources import plugin_places
from nit_kernel.sources.plugin_places import default_places, shipped_folder
from nit_kernel.sources.plugins import Plugins

SHIPPED = ["data", "files", "notify", "plot", "screen", "text", "web"]


@pytest.fixture
def no_shipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugin_places, "shipped_folder", lambda: None)


def origins() -> list[tuple[str, str, str]]:
    plugins = Plugins(Registry())
    plugins.load(default_places())
    return [(plugin.name, plugin.origin, plugin.state) for plugin in plugins.all]


def test_the_shipped_plugins_are_found_and_load_without_a_fault() -> None:
    plugins = Plugins(Registry())
    plugins.load(default_places())
    shipped = [plugin for plugin in plugins.all if plugin.origin == "shipped"]
    assert [plugin.name for plugin in shipped] == SHIPPED
    assert [fault for plugin in shipped for fault in plugin.faults] == []


def test_every_shipped_plugin_has_its_three_parts_and_a_readme() -> None:
    top = shipped_folder()
    assert top is not None
    for name in SHIPPED:
        parts = {part.name for part in (top / name).iterdir()}
        assert {"description.json", "schema.json", "README.md", f"{name}.py"} <= parts


@pytest.mark.usefixtures("no_shipped")
def test_the_environment_names_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = write_plugin(tmp_path / "one")
    write_plugin(tmp_path / "more" / "two")
    write_plugin(tmp_path / "more" / "three")
    listed = os.pathsep.join([str(one), "", str(tmp_path / "more"), str(tmp_path / "gone")])
    monkeypatch.setenv("NIT_PLUGIN_PATH", listed)
    assert origins() == [
        ("one", "NIT_PLUGIN_PATH", "loaded"),
        ("three", "NIT_PLUGIN_PATH", "loaded"),
        ("two", "NIT_PLUGIN_PATH", "loaded"),
    ]


def install(site: Path, name: str, value: str) -> None:
    """A package's metadata with one entry point, as pip writes it."""
    metadata = site / f"{name.replace('-', '_')}-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[nit.plugins]\n{name} = {value}\n")


@pytest.mark.usefixtures("no_shipped")
def test_installed_packages_bring_plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = tmp_path / "site"
    write_plugin(site / "nit_test_bundle" / "weather")
    write_plugin(site / "nit_test_bundle" / "traffic")
    install(site, "a-bundle", "nit_test_bundle")
    write_plugin(site / "nit_test_single")
    install(site, "b-single", "nit_test_single")
    write_plugin(tmp_path / "elsewhere")
    (site / "nit_test_path.py").write_text(
        f"def folder():\n    return {str(tmp_path / 'elsewhere')!r}\n"
    )
    install(site, "c-path", "nit_test_path:folder")
    (site / "nit_test_bad.py").write_text("raise SystemExit(1)\n")
    install(site, "d-bad", "nit_test_bad:folder")
    install(site, "e-gone", "nit_test_no_such_package")
    (site / "nit_test_wrong.py").write_text("folder = 5\n")
    install(site, "f-wrong", "nit_test_wrong:folder")
    (site / "nit_test_stops.py").write_text("raise GeneratorExit\n")
    install(site, "g-stops", "nit_test_stops:folder")
    monkeypatch.syspath_prepend(str(site))
    plugins = Plugins(Registry())
    plugins.load(default_places())
    assert [(plugin.name, plugin.origin) for plugin in plugins.all] == [
        ("traffic", "entry point a-bundle"),
        ("weather", "entry point a-bundle"),
        ("nit_test_single", "entry point b-single"),
        ("elsewhere", "entry point c-path"),
    ]
    assert [(fault.plugin, fault.code, fault.message) for fault in plugins.faults] == [
        (
            "d-bad",
            "NIT558",
            "the entry point `d-bad = nit_test_bad:folder` cannot be used: SystemExit: 1",
        ),
        (
            "e-gone",
            "NIT558",
            "the entry point `e-gone = nit_test_no_such_package` cannot be used:"
            " ModuleNotFoundError: no module named 'nit_test_no_such_package'",
        ),
        (
            "f-wrong",
            "NIT558",
            "the entry point `f-wrong = nit_test_wrong:folder` cannot be used: TypeError: wanted a"
            " path, got int",
        ),
        (
            "g-stops",
            "NIT558",
            "the entry point `g-stops = nit_test_stops:folder` cannot be used: GeneratorExit",
        ),
    ]
    assert "nit_test_bundle" not in sys.modules


def test_a_plugin_of_ones_own_takes_the_place_of_a_shipped_one(tmp_path: Path) -> None:
    own = write_plugin(tmp_path / "text", manifest=description("text"))
    for places in ([*default_places(), own], [own, *default_places()]):
        with nit.Session(plugins=places) as session:
            found = {
                plugin.origin: plugin for plugin in session.plugins.all if plugin.name == "text"
            }
            assert (found["option"].state, found["shipped"].state) == ("loaded", "off")
            (fault,) = found["shipped"].faults
            assert (fault.code, fault.severity) == ("NIT551", "note")
            assert session.run('text.greet(name="x")', check=True).value == "hello x"


def test_a_shipped_plugin_comes_back_when_its_rival_goes(tmp_path: Path) -> None:
    write_plugin(tmp_path / "own" / "text", manifest=description("text"))
    with nit.Session(plugins=[tmp_path / "own", *default_places()]) as session:
        (tmp_path / "own" / "text").rename(tmp_path / "gone")
        session.reload_plugins()
        result = session.run('summarize_text(content="One.")', check=True)
    assert result.value == "Summary (no model used; the whole text, 4 characters):\nOne."


def test_an_option_comes_before_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = write_plugin(tmp_path / "a" / "same", code=CODE.replace("hello", "option"))
    second = write_plugin(tmp_path / "b" / "same", code=CODE.replace("hello", "environment"))
    monkeypatch.setenv("NIT_PLUGIN_PATH", str(second))
    with nit.Session(plugins=[*default_places(), first]) as session:
        assert session.run('same.greet(name="x")', check=True).value == "option x"
