"""What engines are given: ``convert --for`` and ``prove`` write the same."""

from __future__ import annotations

from pathlib import Path

import pytest
import trimesh
from lxml import etree

import simwright
from simwright.app.cli.main import run
from simwright.core.diag import Reporter
from simwright.core.errors import UnknownNameError, UsageError
from simwright.formats.dialects import choose_format, find_dialect, fit_words, list_dialects
from simwright.formats.table import FORMATS
from simwright.prover.table import list_engines

ROBOT = """
<mujoco model="loop">
  <worldbody>
    <body name="base">
      <geom type="box" size="0.1 0.1 0.1"/>
      <body name="bare">
        <body name="left" pos="0 0 0.2"><joint name="swing" axis="0 1 0" armature="1"/>
          <geom type="mesh" mesh="part"/></body>
      </body>
      <body name="right" pos="0.3 0 0.2"><joint name="bend" axis="0 1 0"/><geom type="box" size="0.1 0.1 0.1"/></body>
    </body>
  </worldbody>
  <asset><mesh name="part" file="part.stl"/></asset>
  <equality><connect name="closes" body1="left" body2="right" anchor="0.3 0 0"/></equality>
</mujoco>
"""


@pytest.fixture
def robot(tmp_path: Path) -> Path:
    file = tmp_path / "loop.xml"
    file.write_text(ROBOT)
    trimesh.creation.box((0.1, 0.1, 0.1)).export(tmp_path / "part.stl")
    return file


def test_every_engine_has_a_dialect_of_formats_that_are_written() -> None:
    for dialect in list_dialects().values():
        for name in dialect.formats:
            assert FORMATS.get(name).writer
            assert name == "usd" or "for_" not in dialect.find_words(name)
    for row in list_engines().values():
        assert row.writing is find_dialect(row.dialect).find_words(row.format)


@pytest.mark.parametrize("engine", ["drake", "pybullet", "dart", "pinocchio"])
def test_engines_of_urdf_get_urdf(engine: str, robot: Path, tmp_path: Path) -> None:
    entry = simwright.convert(robot, tmp_path / "out", for_=engine)
    assert entry.suffix == ".urdf"
    tree = etree.parse(str(entry))
    bare = [link for link in tree.iter("link") if link.find("inertial") is None]
    assert bool(bare) == (engine in ("drake", "pinocchio"))
    weights = {link.get("name"): float(link.find("inertial/mass").get("value"))
               for link in tree.iter("link") if link.find("inertial") is not None}  # fmt: skip
    assert weights["right"] > 0.0
    assert weights.get("bare", 0.0) == 0.0
    endings = {Path(mesh.get("filename")).suffix for mesh in tree.iter("mesh")}
    assert endings == ({".stl"} if engine == "pinocchio" else {".obj"})


WEDGE = """
<robot name="wedge"><link name="base"><inertial><mass value="2"/>
<inertia ixx="1" iyy="1" izz="5" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>
"""


@pytest.mark.parametrize("engine", ["", "mujoco", "drake", "pybullet", "dart", "pinocchio", "sapien"])
def test_engines_of_urdf_get_inertias_that_solids_have(engine: str, tmp_path: Path) -> None:
    source, reporter = tmp_path / "wedge.urdf", Reporter()
    source.write_text(WEDGE)
    entry = simwright.convert(source, tmp_path / "out.urdf", for_=engine, reporter=reporter)
    written = [
        float(etree.parse(str(entry)).find("link/inertial/inertia").get(key)) for key in ("ixx", "iyy", "izz")
    ]
    told = "urdf-write-inertia-adjusted" in [found.kind for found in reporter]
    assert told is bool(engine)
    if engine:
        assert sum(written) - max(written) >= max(written)
        # what MuJoCo is given as MJCF
        asset = simwright.load(simwright.convert(source, tmp_path / "out.xml"))
        assert written == pytest.approx(sorted(asset.body("base").inertial.principal()[0]))
    else:
        assert written == [1.0, 1.0, 5.0]  # the file's own


def test_drake_closes_loops_itself(robot: Path, tmp_path: Path) -> None:
    reporter = Reporter()
    entry = simwright.convert(robot, tmp_path / "drake.sdf", for_="drake", reporter=reporter)
    assert "closes" not in entry.read_text()
    assert [found.kind for found in reporter if found.loss and "loop" in found.kind] == [
        "sdf-write-loop-left-out"
    ]
    assert {file.suffix for file in tmp_path.rglob("part.*")} == {
        ".stl",
        ".obj",
    }  # the source's, the result's
    # without an engine the constraint is a joint, as SDFormat has it
    assert "closes" in simwright.convert(robot, tmp_path / "any.sdf").read_text()


@pytest.mark.parametrize(("engine", "told"), [("drake", False), ("", True)])
def test_drake_reads_armature_and_gazebo_does_not(
    engine: str, told: bool, robot: Path, tmp_path: Path
) -> None:
    reporter = Reporter()
    entry = simwright.convert(robot, tmp_path / "arm.sdf", for_=engine, reporter=reporter)
    assert etree.parse(str(entry)).findtext(".//{http://drake.mit.edu}rotor_inertia") == "1"
    assert bool([found for found in reporter if "armature" in found.message]) is told


def test_physx_is_isaac(robot: Path, tmp_path: Path) -> None:
    one = simwright.convert(robot, tmp_path / "one", for_="physx")
    other = simwright.convert(robot, tmp_path / "other", for_="isaac")
    names = {file.name for file in one.parent.iterdir()}
    assert names == {file.name for file in other.parent.iterdir()}
    assert "mujoco.usda" not in names


def test_a_package_for_an_engine_has_its_layers_only(robot: Path, tmp_path: Path) -> None:
    import zipfile

    entry = simwright.convert(robot, tmp_path / "asset")
    whole = simwright.convert(entry, tmp_path / "whole.usdz")
    own = simwright.convert(entry, tmp_path / "own.usdz", for_="isaac")
    names = [{Path(name).name for name in zipfile.ZipFile(file).namelist()} for file in (whole, own)]
    assert "mujoco.usda" in names[0]
    assert "mujoco.usda" not in names[1]


def test_what_is_said_counts_before_the_dialect() -> None:
    words = {"mesh_format": "glb", "loops": False, "rotors": True}
    assert fit_words({"for_": "drake", "mesh_format": "glb"}, "sdf") == words
    assert fit_words({"for_": "physx"}, "usd") == {"for_": "isaac"}
    assert fit_words({"mesh_format": "obj"}, "gltf") == {"mesh_format": "obj"}
    assert choose_format("out", None, "drake") == "urdf"
    assert choose_format("out.sdf", None, "drake") is None
    assert choose_format("out", "sdf", "drake") == "sdf"
    assert choose_format("out", None, "") is None


def test_wrong_words(robot: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'pybullet'"):
        simwright.convert(robot, tmp_path / "out", for_="pybulet")
    with pytest.raises(UsageError, match="usd is not what Drake is given"):
        simwright.convert(robot, tmp_path / "out.usda", for_="drake")
    assert run(["convert", str(robot), str(tmp_path / "out"), "--for", "drak"]) == 2
    assert "did you mean 'drake'" in capsys.readouterr().err
    assert run(["convert", str(tmp_path), str(tmp_path / "many"), "--to", "gltf", "--for", "drake"]) == 2
    assert "gltf is not what Drake is given" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["loop.xml", "part.stl"]
