# SPDX-License-Identifier: Apache-2.0
"""What ``--untrusted`` and ``--offline`` switch off, and what they leave."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import simwright
from simwright.app.cli.main import COMMANDS, cli, run
from simwright.core.limits import (
    BUDGETS,
    OFFLINE,
    UNTRUSTED,
    distrust,
    distrusts,
    get_limit,
    is_offline,
    is_untrusted,
)
from simwright.core.packages import find_packages
from simwright.scenes.document_sources import GitSource
from simwright.scenes.sources import GitCache

INERTIA = "<inertial><mass value='1'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial>"
MESH = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


@pytest.fixture
def robot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A robot that names meshes of its own package, of one beside it, of ROS and of Gazebo."""
    for name in ("own", "beside", "ros", "explicit"):
        folder = tmp_path / ("ws" if name in ("own", "beside") else name) / name
        (folder / "meshes").mkdir(parents=True)
        (folder / "package.xml").write_text(f"<package><name>{name}</name></package>")
        (folder / "meshes" / "m.obj").write_text(MESH)
    gazebo = tmp_path / "gazebo" / "thing"
    (gazebo / "meshes").mkdir(parents=True)
    (gazebo / "meshes" / "m.obj").write_text(MESH)
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path / "ros"))
    monkeypatch.setenv("GAZEBO_MODEL_PATH", str(tmp_path / "gazebo"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    links = "".join(
        f"<link name='{name}'>{INERTIA}<visual><geometry><mesh filename='{scheme}://{name}/meshes/m.obj'/></geometry>"
        "</visual></link>"
        for scheme, name in (
            ("package", "own"), ("package", "beside"), ("package", "ros"), ("package", "explicit"), ("model", "thing"),
        )
    )  # fmt: skip
    joints = "".join(
        f"<joint name='j{name}' type='fixed'><parent link='own'/><child link='{name}'/></joint>"
        for name in ("beside", "ros", "explicit", "thing")
    )
    file = tmp_path / "ws" / "own" / "robot.urdf"
    file.write_text(f"<robot name='r'>{links}{joints}</robot>")
    return file


def list_meshes(file: Path, *flags: str, capsys: pytest.CaptureFixture[str]) -> set[str]:
    import json

    out = file.parent.parent.parent / "out"
    assert run(["convert", str(file), str(out / "robot"), "--overwrite", "--format", "json", *flags]) in (
        0,
        1,
    )
    said = json.loads(capsys.readouterr().out)
    text = json.dumps(said)
    return {
        name for name in ("own", "beside", "ros", "explicit", "thing") if f"{name}/meshes/m.obj" not in text
    }


def test_an_untrusted_asset_has_its_own_package_only(robot: Path, capsys: pytest.CaptureFixture[str]) -> None:
    explicit = f"explicit={robot.parents[2] / 'explicit' / 'explicit'}"
    assert list_meshes(robot, capsys=capsys) == {"own", "beside", "ros", "thing"}
    assert list_meshes(robot, "--package", explicit, capsys=capsys) == {
        "own",
        "beside",
        "ros",
        "thing",
        "explicit",
    }
    assert list_meshes(robot, "--untrusted", capsys=capsys) == {"own"}
    assert list_meshes(robot, "--untrusted", "--package", explicit, capsys=capsys) == {"own", "explicit"}
    assert UNTRUSTED not in os.environ


def test_what_the_environment_allows_is_not_for_untrusted_assets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "m.obj").write_text(MESH)
    (tmp_path / "near").mkdir()
    file = tmp_path / "near" / "r.urdf"
    mesh = "<visual><geometry><mesh filename='../far/m.obj'/></geometry></visual>"
    file.write_text(f"<robot name='r'><link name='l'>{INERTIA}{mesh}</link></robot>")
    far = str(tmp_path / "far")
    monkeypatch.setenv("SIMWRIGHT_ALLOW_OUTSIDE", far)
    for flags, found in (
        ([], True),
        (["--untrusted"], False),
        (["--untrusted", "--allow-outside", far], True),
        (["--allow-outside", far, "--untrusted"], True),
    ):
        run(["inspect", str(file), "--format", "json", *flags])
        assert ("lies outside" not in capsys.readouterr().out) is found, flags
        assert os.environ["SIMWRIGHT_ALLOW_OUTSIDE"] == far


def test_untrusted_assets_have_a_tenth_of_every_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tmp_path / "m.xml"
    model.write_text(
        "<mujoco><worldbody><replicate count='700' offset='1 0 0'><body><freejoint/><geom size='0.1'/></body>"
        "</replicate></worldbody></mujoco>"
    )
    assert run(["inspect", str(model), "--format", "json"]) == 0
    assert run(["inspect", str(model), "--untrusted"]) == 2
    assert run(["inspect", str(model), "--untrusted", "--limit", "mjcf-copies=700"]) == 0
    monkeypatch.setenv(UNTRUSTED, "yes")
    assert {name: get_limit(name) for name in BUDGETS} == {
        name: row.default // 10 for name, row in BUDGETS.items()
    }


def test_time_and_memory_of_untrusted_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from simwright.app.cli.options import read_limits
    from simwright.core.pool import JobLimits

    unsaid = {"timeout": None, "max_memory": None}
    assert read_limits(unsaid) == JobLimits()
    monkeypatch.setenv(UNTRUSTED, "1")
    assert read_limits(unsaid) == JobLimits(60.0, 2.0)
    assert read_limits({"timeout": 5.0, "max_memory": None}) == JobLimits(5.0, 2.0)


def test_git_is_not_for_untrusted_scenes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMWRIGHT_ASSET_CACHE", str(tmp_path / "cache"))
    source = GitSource(repo="https://example.invalid/r.git", rev="v1", path="a.xml")
    there = GitCache().find_checkout(source) / "a.xml"
    there.parent.mkdir(parents=True)
    there.write_text("<mujoco/>")
    assert GitCache().find(source) == there
    monkeypatch.setenv(UNTRUSTED, "1")
    with pytest.raises(simwright.SimwrightError, match="nothing from git"):
        GitCache().find(source)


@pytest.mark.parametrize("flag", ["--offline", "--untrusted"])
def test_nothing_is_fetched(
    flag: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fetch(*_: object) -> None:
        pytest.fail("git was asked")

    monkeypatch.setattr(GitCache, "_fetch", fetch)
    monkeypatch.setenv("SIMWRIGHT_ASSET_CACHE", str(tmp_path / "cache"))
    scene = tmp_path / "scene.yaml"
    git = "{repo: 'https://example.invalid/r.git', rev: v1, path: a.xml}"
    scene.write_text(f"assets: [{{type: mjcf, source: {{git: {git}}}}}]\n")
    assert run(["scene", "check", str(scene), flag]) in (1, 2)
    said = "".join(capsys.readouterr())
    assert "git" in said
    assert OFFLINE not in os.environ


def test_archives_are_checked_as_untrusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    source = tmp_path / "r.usda"
    source.write_text(
        '#usda 1.0\n(\n    defaultPrim = "R"\n    metersPerUnit = 1\n    upAxis = "Z"\n)\ndef Xform "R" {}\n'
    )
    archive = simwright.convert(source, tmp_path / "r.usdz")
    seen: list[bool] = []

    def look(*_: object, **__: object) -> None:
        seen.append(is_untrusted())

    from simwright.checker import asset

    honest = asset.open_stage

    def watch(*arguments: object, **options: object) -> object:
        look()
        return honest(*arguments, **options)

    monkeypatch.setattr(asset, "open_stage", watch)
    for file, flags, expected in (
        (source, [], False), (archive, [], True), (archive, ["--trusted"], False), (source, ["--untrusted"], None),
    ):  # fmt: skip
        seen.clear()
        run(["check", str(file), "--no-cache", *flags])
        # with --untrusted the work is done in another process
        assert seen == ([] if expected is None else [expected]), (file, flags)
    seen.clear()
    simwright.check(archive)
    assert seen == [True]


def test_who_is_distrusted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert distrusts("a/R.USDZ")
    assert not distrusts("a/r.usda")
    assert not is_offline()
    with distrust("r.usdz"):
        assert is_untrusted()
        assert is_offline()
    assert not is_untrusted()
    monkeypatch.setenv(UNTRUSTED, "0")
    assert not distrusts("r.usdz")
    monkeypatch.setenv(UNTRUSTED, "1")
    assert distrusts("r.usda")
    assert len(find_packages({"p": Path()}, near=[Path(__file__)])) == 1


def test_every_command_that_reads_assets_has_the_options() -> None:
    without = {
        "rules", "explain", "packages", "plugin-path", "doctor", "engines list", "engines install", "engines remove",
        "engines doctor", "ros doctor", "scene schema", "scene operations", "task list",
        "task show", "robots list", "robots schema", "registry list", "registry show", "samples list",
        "samples copy", "init",
        # a job keeps what it was started with; uploads to a service are never trusted
        "jobs list", "jobs show", "jobs resume", "jobs report", "serve",
    }  # fmt: skip
    found = {}
    for name in COMMANDS:
        command = cli.get_command(None, name)  # type: ignore[arg-type]
        inner = getattr(command, "commands", {"": command})
        found.update({f"{name} {sub}".strip(): {p.name for p in each.params} for sub, each in inner.items()})
    assert {name for name, params in found.items() if not {"untrusted", "offline"} <= params} == without
