"""Stages whose bodies do not stand where their joints are at zero."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from simwright.core.diag import Reporter
from simwright.scenes.load import LoadedScene, load_scene

STAGE = """#usda 1.0
(
    defaultPrim = "robot"
    metersPerUnit = 1
    upAxis = "Z"
)
def Xform "robot" (prepend apiSchemas = ["PhysicsArticulationRootAPI"])
{
    def Cube "base" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"])
    {
        double size = 0.2
    }
    def Cube "arm" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"])
    {
        double size = 0.1
        double3 xformOp:translate = (ARM)
        double3 xformOp:rotateXYZ = (0, 0, 40)
        uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:rotateXYZ"]
    }
    def PhysicsFixedJoint "mount"
    {
        rel physics:body1 = </robot/base>
    }
    def PhysicsTYPEJoint "joint" (APIS)
    {
        uniform token physics:axis = "Z"
        rel physics:body0 = </robot/base>
        rel physics:body1 = </robot/arm>
        point3f physics:localPos0 = (0, 0, 0.5)
        MORE
    }
}
"""


def load(folder: Path, reporter: Reporter, compat: str | None = None, **words: str) -> LoadedScene:
    text = STAGE
    for name, value in ({"ARM": "0, 0, 0.5", "APIS": "", "MORE": ""} | words).items():
        text = text.replace(name, value)
    (folder / "robot.usda").write_text(text)
    (folder / "scene.yaml").write_text("assets: [{type: usd, source: robot.usda}]\n")
    return load_scene(folder / "scene.yaml", compat=compat, reporter=reporter)


def find_arm(loaded: LoadedScene) -> list[float]:
    arm = list(loaded.body_labels).index("/robot/arm")
    values: list[float] = np.asarray(loaded.state.body_q).reshape(-1, 7)[arm].tolist()
    return values


def list_codes(reporter: Reporter) -> list[str]:
    return [found.kind for found in reporter if "pose" in found.kind]


def test_a_hinge_begins_at_the_angle_of_its_bodies(tmp_path: Path) -> None:
    reporter = Reporter()
    loaded = load(tmp_path, reporter, TYPE="Revolute")
    assert loaded.state.joint_q == pytest.approx([math.radians(40.0)], abs=1e-6)
    turn = [0.0, 0.0, math.sin(math.radians(20.0)), math.cos(math.radians(20.0))]
    assert find_arm(loaded) == pytest.approx([0.0, 0.0, 0.5, *turn], abs=1e-6)
    assert not list_codes(reporter)


def test_a_ball_begins_at_the_turn_of_its_bodies(tmp_path: Path) -> None:
    reporter = Reporter()
    loaded = load(tmp_path, reporter, TYPE="Spherical")
    turn = [0.0, 0.0, math.sin(math.radians(20.0)), math.cos(math.radians(20.0))]
    assert loaded.state.joint_q == pytest.approx(turn, abs=1e-6)
    assert not list_codes(reporter)


def test_what_no_coordinate_says_is_told(tmp_path: Path) -> None:
    reporter = Reporter()
    loaded = load(tmp_path, reporter, TYPE="Prismatic", ARM="0.25, 0, 0.8")
    assert loaded.state.joint_q == pytest.approx([0.3], abs=1e-6), "what it can say, it says"
    assert find_arm(loaded)[:3] == pytest.approx([0.0, 0.0, 0.8], abs=1e-6)
    assert list_codes(reporter) == ["scene-pose-unreachable"]
    (found,) = (found for found in reporter if found.kind == "scene-pose-unreachable")
    assert "0.25 m and 40 degrees" in found.message
    assert found.where.prim == "/robot/joint"


def test_a_state_counts_more_than_transforms(tmp_path: Path) -> None:
    words = {
        "TYPE": "Revolute",
        "APIS": 'prepend apiSchemas = ["PhysicsJointStateAPI:angular"]',
        "MORE": "float state:angular:physics:position = 10",
    }
    reporter = Reporter()
    loaded = load(tmp_path, reporter, **words)
    assert loaded.state.joint_q == pytest.approx([math.radians(10.0)], abs=1e-6)
    assert list_codes(reporter) == ["scene-pose-overruled"]
    reporter = Reporter()
    load(tmp_path, reporter, **words | {"MORE": "float state:angular:physics:position = 40"})
    assert not list_codes(reporter), "they are the same configuration"


def test_sap_leaves_coordinates_at_zero(tmp_path: Path) -> None:
    reporter = Reporter()
    loaded = load(tmp_path, reporter, compat="sap", TYPE="Revolute")
    assert loaded.state.joint_q == pytest.approx([0.0])
    assert not list_codes(reporter)


@pytest.mark.realworld
@pytest.mark.parametrize(
    ("name", "codes"),
    [
        ("ant", []),
        ("boxes_fourbar", []),
        ("humanoid", ["scene-pose-overruled"]),
        ("ant_mixed", ["scene-pose-overruled"]),
        ("four_link_chain_articulation", ["scene-pose-unreachable"] * 2),
    ],
)
def test_real_stages(
    shared_assets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, codes: list[str]
) -> None:
    monkeypatch.setenv("SIMWRIGHT_ALLOW_OUTSIDE", str(shared_assets))
    file = shared_assets / "usd" / f"{name}.usda"
    (tmp_path / "scene.yaml").write_text(f"assets: [{{type: usd, source: {file}}}]\n")
    reporter = Reporter()
    load_scene(tmp_path / "scene.yaml", reporter=reporter)
    assert list_codes(reporter) == codes
