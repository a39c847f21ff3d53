"""ROS packages: where they are found, and what an address may mean."""

from __future__ import annotations

from pathlib import Path

import pytest

from simwright.core.errors import NotFoundError, UnsafePathError, UsageError
from simwright.core.packages import (
    PackageMap,
    find_named_folder,
    find_packages,
    parse_assignments,
    split_uri,
)


def make_package(folder: Path, name: str) -> Path:
    folder.mkdir(parents=True)
    (folder / "package.xml").write_text(f"<package><name>{name}</name></package>")
    (folder / "mesh.stl").write_text("x")
    return folder


def test_explicit_wins_over_environment_and_surroundings(tmp_path: Path) -> None:
    mine = make_package(tmp_path / "mine", "bot")
    make_package(tmp_path / "ros" / "bot", "bot")
    other = make_package(tmp_path / "ros" / "arm", "arm")
    near = make_package(tmp_path / "src" / "bot", "bot")
    found = find_packages({"bot": mine}, [near / "urdf"], {"ROS_PACKAGE_PATH": str(tmp_path / "ros")})
    assert found.packages["bot"].path == mine
    assert found.packages["arm"].path == other
    assert found.resolve("package://bot/mesh.stl") == mine / "mesh.stl"


def test_ament_prefixes(tmp_path: Path) -> None:
    make_package(tmp_path / "share" / "bot", "bot")
    found = find_packages(environ={"AMENT_PREFIX_PATH": str(tmp_path)})
    assert [package.name for package in found] == ["bot"]


def test_the_package_around_a_file_and_its_siblings(tmp_path: Path) -> None:
    bot = make_package(tmp_path / "bot", "bot")
    make_package(tmp_path / "folder_of_arm", "arm")
    found = find_packages(near=[bot / "urdf" / "deep"], environ={})
    assert [package.name for package in found] == ["arm", "bot"]


def test_a_folder_of_that_name_stands_in_for_a_package_without_manifest(tmp_path: Path) -> None:
    urdf = tmp_path / "bot_description" / "urdf"
    urdf.mkdir(parents=True)
    (tmp_path / "bot_description" / "a.stl").write_text("x")
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets" / "b.stl").write_text("x")
    found = find_packages(near=[urdf], environ={})
    assert len(found) == 0
    assert found.resolve("package://bot_description/a.stl") == tmp_path / "bot_description" / "a.stl"
    assert found.resolve("package://assets/b.stl") == tmp_path / "assets" / "b.stl"
    with pytest.raises(NotFoundError, match="'other' was not found"):
        found.resolve("package://other/a.stl")
    assert PackageMap().find("assets") is None
    assert PackageMap().find("assets", near=urdf) is not None


def test_a_real_package_wins_over_a_folder_of_its_name(tmp_path: Path) -> None:
    (tmp_path / "bot").mkdir()
    real = make_package(tmp_path / "real", "bot")
    found = find_packages({"bot": real}, [tmp_path / "bot"], {})
    package = found.find("bot")
    assert package is not None
    assert package.path == real


def test_the_root_folder_is_no_workspace(tmp_path: Path) -> None:
    top = next(folder.name for folder in Path("/").iterdir() if folder.is_dir() and folder.name != "tmp")
    assert find_named_folder(top, tmp_path) is None


def test_a_third_slash_is_read_over():
    assert split_uri("package:///robot/meshes/a.stl") == ("robot", "meshes/a.stl")


@pytest.mark.parametrize(
    "uri", ["package://a/../b", "package:///a", "package:////a/b", "package://a//../b", "package://../a"]
)
def test_addresses_stay_inside_their_package(uri: str) -> None:
    with pytest.raises(UnsafePathError):
        split_uri(uri)


def test_assignments(tmp_path: Path) -> None:
    assert parse_assignments([f"bot={tmp_path}"]) == {"bot": tmp_path}
    for bad in ("bot", "=x", f"b b={tmp_path}", "bot=/nowhere/at/all"):
        with pytest.raises(UsageError):
            parse_assignments([bad])
