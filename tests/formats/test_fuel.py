# SPDX-License-Identifier: Apache-2.0
"""Addresses of Fuel: what Gazebo has downloaded, and nothing else; bare names in Gazebo's folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from simwright.core.diag import Where
from simwright.core.errors import NotFoundError, UnsafePathError
from simwright.core.gate import Gate
from simwright.formats.resources import resolve_resource

HERE = Where("world.sdf", 3)
URL = "https://fuel.gazebosim.org/1.0/OpenRobotics/models/Pine Tree"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("GZ_FUEL_CACHE_PATH", raising=False)
    monkeypatch.delenv("IGN_FUEL_CACHE_PATH", raising=False)
    folder = (
        tmp_path / "home" / ".gz" / "fuel" / "fuel.gazebosim.org" / "openrobotics" / "models" / "pine tree"
    )
    for version in ("2", "10"):
        (folder / version / "meshes").mkdir(parents=True)
        (folder / version / "model.sdf").write_text("x")
        (folder / version / "meshes" / "a.dae").write_text("x")
    (tmp_path / "home" / "secret").write_text("x")
    return folder


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    (tmp_path / "work").mkdir()
    return Gate.around(tmp_path / "work" / "world.sdf")


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        (URL, "10"),
        (URL.replace(" ", "%20") + "/2", "2"),
        (URL + "/tip", "10"),
        (URL + "/tip/files/meshes/a.dae", "10/meshes/a.dae"),
        (URL + "/2/files/meshes/a.dae", "2/meshes/a.dae"),
        (URL.replace("gazebosim", "ignitionrobotics"), "10"),
    ],
)
def test_what_was_downloaded_is_found(
    cache: Path, gate: Gate, tmp_path: Path, uri: str, expected: str
) -> None:
    assert resolve_resource(uri, tmp_path / "work", gate, HERE) == (cache / expected).resolve()


@pytest.mark.parametrize("uri", [URL + "/3", URL.replace("Pine", "Oak"), URL + "/2/files/meshes/b.dae"])
def test_what_was_not_is_told(cache: Path, gate: Gate, tmp_path: Path, uri: str) -> None:
    with pytest.raises(NotFoundError) as caught:
        resolve_resource(uri, tmp_path / "work", gate, HERE)
    if "files" not in uri:
        assert "gz fuel download" in caught.value.hint


@pytest.mark.parametrize(
    "uri",
    [
        URL + "/2/files/../../../../secret",
        URL + "/2/files/%2e%2e/%2e%2e/x",
        "https://fuel.gazebosim.org/1.0/../models/x",
        "https://fuel.gazebosim.org/1.0/a%2F..%2F../models/x",
        "https://example.org/1.0/OpenRobotics/models/Pine Tree",
        "https://fuel.gazebosim.org.example.org/1.0/OpenRobotics/models/Pine Tree",
    ],
)
def test_nothing_leads_out_of_it(cache: Path, gate: Gate, tmp_path: Path, uri: str) -> None:
    with pytest.raises((UnsafePathError, NotFoundError)):
        resolve_resource(uri, tmp_path / "work", gate, HERE)


def test_only_the_named_model_is_open(cache: Path, gate: Gate, tmp_path: Path) -> None:
    other = cache.parent / "other" / "1"
    other.mkdir(parents=True)
    resolve_resource(URL, tmp_path / "work", gate, HERE)
    assert gate.admits(cache / "10" / "model.sdf")
    assert not gate.admits(other)
    assert not gate.admits(cache / "2" / "model.sdf")


def test_a_link_out_of_the_cache_is_no_download(cache: Path, gate: Gate, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (cache / "11").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(NotFoundError, match="not in the local Fuel cache"):
        resolve_resource(URL, tmp_path / "work", gate, HERE)


@pytest.mark.parametrize("uri", ["drone", "drone/model.sdf", "file://drone", "model://drone"])
def test_bare_names_are_looked_for_where_gazebo_looks(
    gate: Gate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, uri: str
) -> None:
    (tmp_path / "models" / "drone").mkdir(parents=True)
    (tmp_path / "models" / "drone" / "model.sdf").write_text("x")
    with pytest.raises(NotFoundError):
        resolve_resource(uri, tmp_path / "work", gate, HERE)
    monkeypatch.setenv("GZ_SIM_RESOURCE_PATH", str(tmp_path / "models"))
    found = resolve_resource(uri, tmp_path / "work", gate, HERE)
    assert found.is_relative_to((tmp_path / "models" / "drone").resolve())


def test_what_lies_beside_the_file_comes_first(
    gate: Gate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("models/drone", "work/drone"):
        (tmp_path / folder).mkdir(parents=True)
    monkeypatch.setenv("GZ_SIM_RESOURCE_PATH", str(tmp_path / "models"))
    assert resolve_resource("drone", tmp_path / "work", gate, HERE) == (tmp_path / "work" / "drone").resolve()
