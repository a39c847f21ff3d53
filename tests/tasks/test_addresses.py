# SPDX-License-Identifier: Apache-2.0
"""Where a robot's file is, for each sort of address; nothing leads out of where it may lead."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from simwright.core.diag import Where
from simwright.core.errors import NotFoundError, UnknownNameError, UnsafePathError, UsageError
from simwright.tasks.addresses import resolve_address
from simwright.tasks.robot import open_robot

from .manifests import ARM, write_arm

FAKE = """
from pathlib import Path

ROOT = Path({root!r})


class MenagerieError(Exception):
    pass


class Cache:
    def is_cached(self, robot):
        return robot.name == "toy_arm"


class Entry:
    def __init__(self, file):
        self.file = file


class Model:
    def __init__(self, name):
        self.name = name
        self.default_model = "arm"

    def path(self, cache, progress=None):
        if not cache.is_cached(self):
            raise MenagerieError("no network")
        return ROOT / self.name

    def entry(self, name):
        return Entry(name + ".xml")


def names():
    return ["toy_arm", "far_away"]


def get(name):
    return Model(name)
"""


@pytest.fixture
def menagerie(tmp_path, monkeypatch):
    """A local copy with one model."""
    folder = tmp_path / "menagerie" / "toy_arm"
    folder.mkdir(parents=True)
    for name in ("arm.xml", "scene.xml", "toy_arm_mjx.xml", "arm_left.xml"):
        (folder / name).write_text(ARM)
    monkeypatch.setenv("MENAGERIE_ROOT", str(folder.parent))
    return folder


def test_a_relative_path_stays_in_the_project(tmp_path):
    project = tmp_path / "project"
    write_arm(project / "robots" / "toy")
    (project / "models").mkdir()
    (project / "models" / "arm.xml").write_text(ARM)
    (tmp_path / "secret.xml").write_text(ARM)
    base = project / "robots" / "toy"
    assert resolve_address("arm.xml", base) == base / "arm.xml"
    assert resolve_address("file:arm.xml", base) == base / "arm.xml"
    with pytest.raises(UnsafePathError, match="leaves the folder"):
        resolve_address("../../models/arm.xml", base)
    (project / "pyproject.toml").write_text("")
    assert resolve_address("../../models/arm.xml", base) == project / "models" / "arm.xml"
    (base / "link.xml").symlink_to(tmp_path / "secret.xml")
    for address in (
        "../../../secret.xml",
        str(tmp_path / "secret.xml"),
        f"file:{tmp_path}/secret.xml",
        "link.xml",
    ):
        with pytest.raises(UnsafePathError) as caught:
            resolve_address(address, base, where=Where("robot.yaml", 3, 4))
        assert str(caught.value.where) == "robot.yaml:3:4"
    assert resolve_address(str(tmp_path / "secret.xml"), base, anywhere=True) == tmp_path / "secret.xml"


def test_an_address_with_a_nul_is_refused(tmp_path):
    with pytest.raises(UnsafePathError, match="NUL"):
        resolve_address("a\0b.xml", tmp_path)


@pytest.mark.parametrize("address", ["http://example.org/arm.xml", "ftp:arm.xml", "file:///etc/passwd"])
def test_other_schemes_are_refused(tmp_path, address):
    with pytest.raises(UsageError, match="has a scheme"):
        resolve_address(address, tmp_path)


def test_a_ros_package(tmp_path, monkeypatch):
    package = tmp_path / "src" / "toy_description"
    package.mkdir(parents=True)
    (package / "package.xml").write_text("<package><name>toy_description</name></package>")
    (package / "arm.xml").write_text(ARM)
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path / "src"))
    elsewhere = tmp_path / "elsewhere"
    file = write_arm(elsewhere, "sim: {mjcf_uri: 'package://toy_description/arm.xml'}\n")
    assert open_robot(file).file == package / "arm.xml"
    assert open_robot("package://toy_description/arm.xml").file == package / "arm.xml"
    file = write_arm(elsewhere, "sim: {mjcf_uri: 'package://toy_descriptoin/arm.xml'}\n")
    with pytest.raises(NotFoundError, match="'toy_descriptoin' was not found") as caught:
        open_robot(file)
    assert str(caught.value.where) == f"{file}:2:17"
    with pytest.raises(UnsafePathError):
        resolve_address("package://toy_description/../../secret.xml", elsewhere)


def test_a_python_package(tmp_path, monkeypatch):
    package = tmp_path / "site" / "toy_robots"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('nobody has to import it')")
    (package / "arm.xml").write_text(ARM)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    assert open_robot("python:toy_robots/arm.xml").file == package / "arm.xml"
    with pytest.raises(UnsafePathError, match="leaves its package"):
        resolve_address("python:toy_robots/../../secret.xml", tmp_path)
    with pytest.raises(NotFoundError, match="no file"):
        resolve_address("python:toy_robots/leg.xml", tmp_path)
    for name in ("toy_robot", "__main__", "toy.robots"):
        with pytest.raises(NotFoundError, match="no Python package"):
            resolve_address(f"python:{name}/arm.xml", tmp_path)


def test_a_local_copy_of_menagerie(menagerie):
    assert open_robot("menagerie:toy_arm").file == menagerie / "arm.xml", "not a scene, not a variant"
    assert open_robot("menagerie:toy_arm").id == "menagerie:toy_arm"
    assert resolve_address("menagerie:toy_arm/arm_left.xml", Path()) == menagerie / "arm_left.xml"
    with pytest.raises(UnknownNameError, match="did you mean 'toy_arm'"):
        open_robot("menagerie:toy_amr")
    with pytest.raises(NotFoundError, match="is not there"):
        open_robot("menagerie:toy_arm/leg.xml")
    with pytest.raises(UnsafePathError, match="leaves its folder"):
        open_robot("menagerie:toy_arm/../../x.xml")


def test_a_root_that_is_no_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("MENAGERIE_ROOT", str(tmp_path / "absent"))
    with pytest.raises(NotFoundError, match="is not a folder"):
        open_robot("menagerie:toy_arm")


def test_the_package_of_menagerie(menagerie, monkeypatch, tmp_path):
    monkeypatch.delenv("MENAGERIE_ROOT")
    place = tmp_path / "site"
    place.mkdir()
    (place / "mujoco_menagerie.py").write_text(FAKE.format(root=str(menagerie.parent)))
    monkeypatch.syspath_prepend(str(place))
    monkeypatch.delitem(sys.modules, "mujoco_menagerie", raising=False)
    assert open_robot("menagerie:toy_arm").file == menagerie / "arm.xml"
    with pytest.raises(NotFoundError, match="could not be fetched: no network"):
        open_robot("menagerie:far_away")
    monkeypatch.setenv("SIMWRIGHT_OFFLINE", "1")
    with pytest.raises(NotFoundError, match="not in the cache"):
        open_robot("menagerie:far_away")
    sys.modules.pop("mujoco_menagerie", None)


def test_without_menagerie_the_hint_says_how_to_get_it(monkeypatch):
    monkeypatch.delenv("MENAGERIE_ROOT", raising=False)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(NotFoundError, match="pip install mujoco-menagerie"):
        open_robot("menagerie:toy_arm")
