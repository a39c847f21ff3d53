"""package:// addresses compose with the stock resolver, without touching global state."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from simwright.core.diag import Reporter
from simwright.core.errors import UnsafePathError
from simwright.core.packages import Package, PackageMap
from simwright.usd.open import open_stage
from simwright.usd.packages import VARIABLE, context, environment, search_path


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#usda 1.0\n" + text, encoding="utf-8")
    return path


@pytest.fixture
def packages(tmp_path: Path) -> PackageMap:
    robot, other = tmp_path / "ws é" / "my_robot", tmp_path / "ws é" / "other"
    write(
        robot / "usd/robot.usda",
        '(\n defaultPrim = "R"\n subLayers = [@./sub.usda@]\n)\n'
        'def "R" (\n references = @package://other/usd/o.usda@\n) {\n'
        " asset near = @./tex.png@\n asset far = @package://other/usd/tex.png@\n}\n",
    )
    write(
        robot / "usd/sub.usda",
        'over "R" {\n def "S" (\n payload = @package://my_robot/usd/p.usda@\n ) {\n }\n}\n',
    )
    write(robot / "usd/p.usda", '(\n defaultPrim = "P"\n)\ndef "P" {\n def "Deep" {\n }\n}\n')
    write(other / "usd/o.usda", '(\n defaultPrim = "O"\n)\ndef "O" {\n def "Inner" {\n }\n}\n')
    for folder in (robot, other):
        (folder / "usd/tex.png").write_bytes(b"x")
    found = PackageMap()
    found.add(Package("my_robot", robot, "test"))
    found.add(Package("other", other, "test"))
    return found


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    return write(
        tmp_path / "scene.usda",
        '(\n defaultPrim = "M"\n)\ndef "M" (\n references = @package://my_robot/usd/robot.usda@\n) {\n}\n',
    )


def test_every_kind_of_arc_composes(packages: PackageMap, scene: Path, reporter: Reporter) -> None:
    stage = open_stage(scene, packages=packages, reporter=reporter)
    assert [str(p.GetPath()) for p in stage.Traverse()] == ["/M", "/M/Inner", "/M/S", "/M/S/Deep"]
    root = stage.GetPrimAtPath("/M")
    for name in ("near", "far"):
        assert Path(root.GetAttribute(name).Get().resolvedPath).is_file()
    assert not reporter.found
    assert VARIABLE not in os.environ


def test_the_same_scene_without_packages_says_what_is_missing(scene: Path, reporter: Reporter) -> None:
    open_stage(scene, reporter=reporter)
    (found,) = reporter.found
    assert found.kind == "usd-package-unknown"
    assert (found.where.file, found.where.line) == (str(scene), 6)
    assert "--package my_robot=DIR" in found.hint


def test_two_maps_in_one_process_do_not_mix(packages: PackageMap, scene: Path, tmp_path: Path) -> None:
    first = open_stage(scene, packages=packages)
    write(tmp_path / "v2/usd/robot.usda", '(\n defaultPrim = "R"\n)\ndef "R" {\n def "New" {\n }\n}\n')
    newer = PackageMap()
    newer.add(Package("my_robot", tmp_path / "v2", "test"))
    second = open_stage(scene, packages=newer)
    assert second.GetPrimAtPath("/M/New")
    assert first.GetPrimAtPath("/M/S/Deep")
    assert not first.GetPrimAtPath("/M/New")


def test_a_stock_tool_with_the_environment(packages: PackageMap, scene: Path) -> None:
    code = "import sys; from pxr import Usd; s = Usd.Stage.Open(sys.argv[1]); print(len(list(s.Traverse())))"
    done = subprocess.run(
        [sys.executable, "-c", code, str(scene)],
        env={**os.environ, **environment(packages)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.strip() == "4"


def test_environment_keeps_what_is_set(packages: PackageMap, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "/elsewhere")
    assert environment(packages)[VARIABLE] == f"{search_path(packages)}{os.pathsep}/elsewhere"


def test_the_folder_is_stable_and_follows_the_map(packages: PackageMap, tmp_path: Path) -> None:
    first = search_path(packages)
    assert search_path(packages) == first
    (first / "package:" / "other").unlink()
    assert search_path(packages) == first
    assert (first / "package:" / "other" / "usd").is_dir()
    packages.add(Package("third", tmp_path, "test"))
    assert search_path(packages) != first


def test_many_at_once(packages: PackageMap, cache: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(lambda _: search_path(packages), range(40)))
    assert len(found) == 1
    assert os.listdir(cache / "simwright/packages") == [found.pop().name]


def test_unwritable_cache_falls_back(
    packages: PackageMap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("x")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert tmp_path in search_path(packages).parents


def test_context_without_packages_makes_no_folder(scene: Path, cache: Path) -> None:
    assert str(scene.parent) in str(context(PackageMap(), scene))
    assert not cache.exists()


@pytest.mark.parametrize(
    "address",
    [
        "package://../../etc/passwd",
        "package://my_robot/../../x.usda",
        "package:/../x.usda",
        "package:///x.usda",
        "package://my_robot//../x.usda",
    ],
)
@pytest.mark.parametrize("arc", ["references", "payload", "sublayer", "unselected variant"])
def test_hostile_addresses_are_refused(packages: PackageMap, tmp_path: Path, address: str, arc: str) -> None:
    text = {
        "references": f'def "A" (\n references = @{address}@\n) {{\n}}\n',
        "payload": f'def "A" (\n payload = @{address}@\n) {{\n}}\n',
        "sublayer": f"(\n subLayers = [@{address}@]\n)\n",
        "unselected variant": 'def "A" {\n variantSet "v" = {\n'
        f'  "x" (\n   references = @{address}@\n  ) {{\n  }}\n }}\n}}\n',
    }[arc]
    write(tmp_path / "inner.usda", text)
    outer = write(tmp_path / "outer.usda", "(\n subLayers = [@./inner.usda@]\n)\n")
    with pytest.raises(UnsafePathError) as caught:
        open_stage(outer, packages=packages, load=False)
    where = caught.value.where
    assert where is not None
    assert where.file == str(tmp_path / "inner.usda")
    assert where.line is not None
    assert address in (tmp_path / "inner.usda").read_text().splitlines()[where.line - 1]
