# SPDX-License-Identifier: Apache-2.0
"""Which robots are found, where first, and what is said of manifests that cannot be used."""

from __future__ import annotations

import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from simwright.core.diag import Reporter
from simwright.core.errors import UnknownNameError, UnsafePathError
from simwright.tasks import catalog
from simwright.tasks.catalog import find_robot, list_robots
from simwright.tasks.robot import open_robot

from .manifests import write_arm

SAMPLES = {"sample_arm", "sample_quadruped", "sample_rover", "so101_follower"}


@pytest.fixture
def places(tmp_path, monkeypatch):
    """Every place where robots may be, each empty."""
    found = {
        name: tmp_path / name
        for name in ("first", "second", "project/robots", "config/simwright/robots", "plugin")
    }
    for folder in found.values():
        folder.mkdir(parents=True)
    (tmp_path / "project" / "pyproject.toml").write_text("")
    inner = tmp_path / "project" / "src" / "deep"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    monkeypatch.setenv("SIMWRIGHT_ROBOTS", f"{found['first']}:{found['second']}")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(catalog, "entry_points", lambda group: [Point(found["plugin"])])
    return found


class Point:
    """An entry point that gives a folder."""

    name = "toys"

    def __init__(self, folder):
        self.folder = folder

    def load(self):
        return lambda: self.folder


def test_the_samples_are_there(places):
    assert set(list_robots()) == SAMPLES
    assert {entry.origin for entry in list_robots().values()} == {"built in"}
    assert open_robot("sample_arm").has_gripper


def test_the_samples_are_in_the_wheel_where_the_catalog_looks():
    settings = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    included = settings["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert included["samples/simwright_samples"] == "simwright/samples"
    assert catalog._BUILTIN[0] == Path(catalog.__file__).parents[1] / "samples"


def test_the_first_place_wins_and_the_others_are_told(places):
    order = ["built in", "plugin toys", "user", "project", "SIMWRIGHT_ROBOTS", "SIMWRIGHT_ROBOTS"]
    folders = ["plugin", "config/simwright/robots", "project/robots", "second", "first"]
    for number, name in enumerate(folders):
        write_arm(places[name] / "toy")
        reporter = Reporter()
        entry = list_robots(reporter)["toy"]
        assert entry.origin == order[number + 1]
        assert entry.file == places[name] / "toy" / "robot.yaml"
        shadowed = [found for found in reporter if found.kind == "robot-manifest-shadowed"]
        assert len(shadowed) == number
        assert all(str(entry.file) in found.message for found in shadowed)


def test_manifests_may_lie_in_three_ways(places):
    folder = places["project/robots"]
    write_arm(folder, name="robot.yaml")
    for name in ("a", "b"):
        text = write_arm(folder, name=f"{name}.robot.yaml").read_text()
        (folder / f"{name}.robot.yaml").write_text(text.replace("toy", name))
    text = write_arm(folder / "c").read_text()
    (folder / "c" / "robot.yaml").write_text(text.replace("toy", "c"))
    assert set(list_robots()) - SAMPLES == {"toy", "a", "b", "c"}
    assert open_robot("b").id == "b"


def test_a_broken_manifest_is_a_finding_and_the_others_stay(places):
    write_arm(places["first"] / "good")
    file = write_arm(places["first"] / "bad", "knd: arm\n")
    reporter = Reporter()
    assert set(list_robots(reporter)) == SAMPLES | {"toy"}
    (finding,) = reporter
    assert finding.kind == "robot-manifest-broken"
    assert str(finding.where) == f"{file}:2:1"


def test_a_broken_plugin_is_a_finding(places, monkeypatch):
    point = EntryPoint("lost", "no.such.module:folder", "simwright.robots")
    monkeypatch.setattr(catalog, "entry_points", lambda group: [point])
    reporter = Reporter()
    assert set(list_robots(reporter)) == SAMPLES
    (finding,) = reporter
    assert (finding.kind, "'lost'" in finding.message) == ("robot-plugin-broken", True)


def test_an_unknown_robot_lists_the_known_ones(places):
    for name in ("sample_amr", "wholly different"):
        with pytest.raises(UnknownNameError) as caught:
            find_robot(name)
        assert "known: sample_arm, sample_quadruped, sample_rover, so101_follower" in str(caught.value)
    with pytest.raises(UnknownNameError, match="did you mean 'sample_arm'"):
        open_robot("sample_amr")


def test_only_the_own_folder_may_lead_anywhere(places, tmp_path):
    write_arm(tmp_path / "far")
    lines = f"sim: {{mjcf_uri: {tmp_path / 'far' / 'arm.xml'}}}\n"
    write_arm(places["config/simwright/robots"] / "mine", lines)
    assert open_robot("toy").file == tmp_path / "far" / "arm.xml"
    write_arm(places["first"] / "other", lines)
    with pytest.raises(UnsafePathError):
        open_robot("toy")
