"""Fixing where the asset is: the old one is kept, and a kill leaves the old or the new asset, never a mixture.

Whoever opens the asset next undoes what a killed process had begun.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import simwright
from simwright.sanitizer import sanitize
from simwright.sanitizer.result import FixResult
from simwright.sanitizer.workspace import Workspace

ENTRY = """#usda 1.0
(
    defaultPrim = "robot"
    metersPerUnit = 1
    upAxis = "Z"
    subLayers = [@./base.usda@, @./more.usda@]
)
"""
BASE = """#usda 1.0

def Xform "robot"
{
    def Xform "one" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI"]
    )
    {
        float xformOp:rotateZ = 30
        uniform token[] xformOpOrder = ["xformOp:rotateZ"]
    }
}
"""
MORE = BASE.replace('"one"', '"two"')
CHILD = """
import os, signal, sys
import simwright
from simwright.sanitizer import sanitize
limit, count, is_on = int(sys.argv[2]), 0, False
WATCHED = ("open", "os.rename", "os.link", "os.mkdir", "os.chmod", "os.remove", "os.rmdir", "ctypes.dlopen")
def watch(event, _):
    global count
    if is_on and event in WATCHED:
        count += 1
        if count == limit:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(watch)
write = sanitize.write_in_place
def write_watched(*arguments):
    global is_on
    is_on = True
    write(*arguments)
    is_on = False
sanitize.write_in_place = write_watched
simwright.fix(sys.argv[1], in_place=True, unsafe=sys.argv[3] == "unsafe")
print(count)
"""
MIXED = """#usda 1.0
(
    defaultPrim = "robot"
    metersPerUnit = 1
    upAxis = "Z"
)

def Xform "robot"
{
    def Xform "base" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI", "PhysxRigidBodyAPI"]
    )
    {
        float physics:mass = 1
        float physxRigidBody:linearDamping = 0.5

        def Mesh "shape" (
            prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsMeshCollisionAPI"]
        )
        {
            uniform token physics:approximation = "convexHull"
            int[] faceVertexCounts = [3, 3, 3, 3]
            int[] faceVertexIndices = [0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2]
            point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
        }
    }

    def "decal" (
        prepend references = @../outside/decal.usda@
    )
    {
    }
}
"""
OUTSIDE = """#usda 1.0
(
    defaultPrim = "decal"
)

def Xform "decal"
{
}
"""


def make_asset(folder: Path) -> Path:
    folder.mkdir(parents=True)
    for name, text in (("robot.usda", ENTRY), ("base.usda", BASE), ("more.usda", MORE)):
        (folder / name).write_text(text)
    (folder / "notes.txt").write_text("other things live here")
    return folder / "robot.usda"


def make_mixed_asset(folder: Path) -> Path:
    """All in one file, and a part that is outside: fixing it makes new layers and collects the part."""
    folder.mkdir(parents=True)
    (folder / "robot.usda").write_text(MIXED)
    (folder / "notes.txt").write_text("other things live here")
    (folder.parent / "outside").mkdir()
    (folder.parent / "outside/decal.usda").write_text(OUTSIDE)
    return folder / "robot.usda"


def read_files(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_one_layer_is_replaced_as_a_file(tmp_path: Path) -> None:
    asset = make_asset(tmp_path / "robot")
    old = read_files(asset.parent)
    result = simwright.fix(asset, in_place=True, select=["units-kilograms"])
    assert result.files == ["robot.usda"]
    assert result.backup == f"{asset}.orig"
    assert Path(result.backup).read_bytes() == old["robot.usda"]
    assert "kilogramsPerUnit = 1" in asset.read_text()
    assert (asset.parent / "base.usda").read_bytes() == old["base.usda"]
    simwright.fix(asset, in_place=True, select=["units-timecodes"])
    assert (asset.parent / "robot.usda.orig.2").exists()


def test_several_layers_are_replaced_and_nothing_else_is_touched(tmp_path: Path) -> None:
    asset = make_asset(tmp_path / "robot")
    (asset.parent / ".git").mkdir()
    (asset.parent / ".git/HEAD").write_text("ref")
    (asset.parent / "broken").symlink_to("nowhere")
    old, folder, notes = read_files(asset.parent), asset.parent.stat(), (asset.parent / "notes.txt").stat()
    result = simwright.fix(asset, in_place=True)
    assert result.files == ["base.usda", "more.usda", "robot.usda"]
    assert result.backups == [
        f"{asset.parent}/{name}.orig" for name in ("robot.usda", "base.usda", "more.usda")
    ]
    new = read_files(asset.parent)
    assert {name.removesuffix(".orig"): new.pop(name) for name in list(new) if name.endswith(".orig")} == {
        name: old[name] for name in result.files
    }
    assert new.keys() == old.keys()
    assert all((new[name] != old[name]) == (name in result.files) for name in new)
    assert asset.parent.stat().st_ino == folder.st_ino
    assert (asset.parent / "notes.txt").stat().st_ino == notes.st_ino
    assert os.listdir(tmp_path) == ["robot"]


@pytest.mark.parametrize("name", ["base.usda", "more.usda"])
def test_a_file_that_is_edited_meanwhile_stops_the_swap(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where that file itself would have stayed as it is."""
    asset = make_asset(tmp_path / "robot")
    if name == "more.usda":
        (asset.parent / name).write_text("#usda 1.0\n")
    write = sanitize.write_in_place

    def edit_first(workspace: Workspace, result: FixResult) -> None:
        (asset.parent / name).write_text(BASE + "# mine\n")
        write(workspace, result)

    monkeypatch.setattr(sanitize, "write_in_place", edit_first)
    old = read_files(asset.parent)
    with pytest.raises(simwright.SimwrightError, match="changed by somebody else") as caught:
        simwright.fix(asset, in_place=True)
    assert name in str(caught.value)
    assert read_files(asset.parent) == {**old, name: (BASE + "# mine\n").encode()}


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    asset = make_asset(tmp_path / "robot")
    outside = tmp_path / "shared.usda"
    (asset.parent / "base.usda").rename(outside)
    (asset.parent / "base.usda").symlink_to(outside)
    old = read_files(tmp_path)
    with pytest.raises(simwright.SimwrightError, match=r"a link to .*shared\.usda, outside"):
        simwright.fix(asset, in_place=True, allow_outside=[tmp_path])
    assert read_files(tmp_path) == old


def test_nothing_to_fix_touches_nothing(tmp_path: Path) -> None:
    asset = make_asset(tmp_path / "robot")
    simwright.fix(asset, in_place=True)
    before = asset.stat().st_mtime_ns
    result = simwright.fix(asset, in_place=True)
    assert result.status == "unchanged"
    assert not result.backup
    assert asset.stat().st_mtime_ns == before


@pytest.mark.parametrize(
    ("make", "grade", "new_files"),
    [
        (make_asset, "safe", set()),
        (
            make_mixed_asset,
            "unsafe",
            {"geometries.usdc", "physics.usda", "physx.usda", "external/outside/decal.usda"},
        ),
    ],
    ids=["layers that change", "layers and files that are new"],
)
def test_a_kill_leaves_the_old_or_the_new_asset(
    tmp_path: Path, make: Callable[[Path], Path], grade: str, new_files: set[str]
) -> None:
    def run(folder: Path, limit: int) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", CHILD, str(make(folder / "robot")), str(limit), grade]
        # whoever is killed cannot tidy up; one of the assets names a file beside its folder
        scratch = {**os.environ, "TMPDIR": str(tmp_path), "SIMWRIGHT_ALLOW_OUTSIDE": str(folder)}
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=scratch)

    whole = run(tmp_path / "whole", 0)
    assert whole.returncode == 0, whole.stderr
    events = int(whole.stdout)
    new = read_files(tmp_path / "whole/robot")
    kept = {name.removesuffix(".orig"): data for name, data in new.items() if name.endswith(".orig")}
    old = {name: kept.get(name, data) for name, data in new.items() if name == "notes.txt" or name in kept}
    assert new.keys() - old.keys() >= new_files
    seen = set()
    for limit in sorted({*range(1, events + 1, max(1, events // 4)), events - 1, events}):
        folder = tmp_path / str(limit)
        assert run(folder, limit).returncode == -signal.SIGKILL
        visible = {
            name: data for name, data in read_files(folder / "robot").items() if ".simwright" not in name
        }
        if "robot.usda" in visible:  # nobody can open a mixture
            names = old.keys() if visible["robot.usda"] == old["robot.usda"] else new.keys()
            wanted = old if visible["robot.usda"] == old["robot.usda"] else new
            assert {name: visible[name] for name in names} == wanted, f"event {limit} of {events}"
        simwright.check(folder / "robot" / "robot.usda")
        found = read_files(folder / "robot")
        assert found in (old, new), f"a mixture after event {limit} of {events}"
        seen.add(found == new)
    assert False in seen
