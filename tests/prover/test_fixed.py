"""Engines see of a fixed asset what they saw before: their words stay, in layers of their own."""

from __future__ import annotations

from pathlib import Path

import pytest
from pxr import Usd
from scripts.compare_fixed import list_changes, read_told, see

import simwright

pytestmark = pytest.mark.judge("prove")

ROBOT = """#usda 1.0
(
    defaultPrim = "robot"
    kilogramsPerUnit = 1
    metersPerUnit = 1
    upAxis = "Z"
)
def Xform "robot"
{
    def PhysicsScene "scene" (prepend apiSchemas = ["NewtonSceneAPI", "MjcSceneAPI"])
    {
        int newton:timeStepsPerSecond = 500
        uniform double mjc:option:impratio = 10
    }
    def Xform "base" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI", "PhysicsArticulationRootAPI",
            "NewtonArticulationRootAPI"]
    )
    {
        bool newton:selfCollisionEnabled = 0
        float physics:mass = 2
        float3 physics:diagonalInertia = (0.1, 0.1, 0.1)
        def Xform "upper" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
        {
            float physics:mass = 1
            float3 physics:diagonalInertia = (0.02, 0.02, 0.01)
            point3f physics:centerOfMass = (0, 0, 0.1)
            def Xform "lower" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
            {
                float physics:mass = 0.5
                float3 physics:diagonalInertia = (0.01, 0.01, 0.005)
                double3 xformOp:translate = (0, 0, 0.2)
                uniform token[] xformOpOrder = ["xformOp:translate"]
            }
        }
    }
    def PhysicsFixedJoint "held"
    {
        rel physics:body1 = </robot/base>
    }
    def PhysicsRevoluteJoint "shoulder" (prepend apiSchemas = ["NewtonJointAPI", "MjcJointAPI"])
    {
        rel physics:body0 = </robot/base>
        rel physics:body1 = </robot/base/upper>
        uniform token physics:axis = "Y"
        float physics:lowerLimit = -60
        float physics:upperLimit = 80
        float newton:armature = 0.3
        float newton:friction = 0.2
        float newton:damping = 0.05
        uniform double mjc:stiffness = 4
    }
    def PhysicsRevoluteJoint "elbow" (
        prepend apiSchemas = ["NewtonJointAPI", "NewtonMimicAPI", "MjcJointAPI"]
    )
    {
        rel physics:body0 = </robot/base/upper>
        rel physics:body1 = </robot/base/upper/lower>
        uniform token physics:axis = "Y"
        point3f physics:localPos0 = (0, 0, 0.2)
        float physics:lowerLimit = -90
        float physics:upperLimit = 90
        float newton:armature = 0.1
        float newton:mimicCoef0 = 0
        float newton:mimicCoef1 = -1.5
        rel newton:mimicJoint = </robot/shoulder>
    }
    def MjcActuator "servo"
    {
        uniform double[] mjc:biasPrm = [0, -50, -1, 0, 0, 0, 0, 0, 0, 0]
        uniform token mjc:biasType = "affine"
        uniform double mjc:forceRange:max = 3.5
        uniform double mjc:forceRange:min = -3.5
        uniform double[] mjc:gainPrm = [50, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        rel mjc:target = </robot/shoulder>
    }
}
"""


@pytest.fixture(scope="module")
def fixed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("fixed")
    (folder / "robot.usda").write_text(ROBOT)
    result = simwright.fix(folder / "robot.usda", folder / "out", unsafe=True)
    assert result.proven
    assert not [note for note in result.notes if note.kind == "fix-engine-loss"]
    return folder / "robot.usda", Path(result.entry)


@pytest.mark.parametrize("engine", ["newton", "physx", "mujoco-usd"])
def test_an_engine_sees_what_it_saw(fixed: tuple[Path, Path], engine: str) -> None:
    before, after = (see(engine, file) for file in fixed)
    assert any(row.armature for row in before.freedoms)
    assert list_changes(before, after, read_told(fixed[0])) == []


def test_words_of_engines_are_in_their_layers(fixed: tuple[Path, Path]) -> None:
    stage = Usd.Stage.Open(str(fixed[1]))
    names = {Path(layer.realPath).name for layer in stage.GetUsedLayers()}
    assert {"mujoco.usda", "newton.usda", "extended_physics.usda"} <= names
    for file in fixed[1].parent.rglob("*.usda"):
        text = file.read_text()
        assert "newton:" not in text or file.name == "newton.usda"
        assert "mjc:" not in text or file.name == "mujoco.usda"


TIP = """
        def PhysicsRevoluteJoint "wrist_x" (prepend apiSchemas = ["NewtonJointAPI", "MjcJointAPI"])
        {
            rel physics:body0 = </robot/base/upper>
            rel physics:body1 = </robot/base/upper/lower>
            uniform token physics:axis = "X"
            point3f physics:localPos0 = (0, 0, 0.2)
            float physics:lowerLimit = -20
            float physics:upperLimit = 30
            float newton:armature = 0.07
        }
"""


@pytest.mark.parametrize("engine", ["newton", "physx", "mujoco-usd"])
def test_no_engine_sees_fewer_freedoms(tmp_path: Path, engine: str) -> None:
    """Two joints between two links: Newton and MuJoCo have both before, PhysX one; afterwards all have both."""
    # Newton (1.7) refuses a mimic of joints that it merges
    lines = [line for line in ROBOT.splitlines() if "imic" not in line or "API" in line]
    text = "\n".join(lines).replace('"NewtonMimicAPI", ', "")
    text = text.replace('    def MjcActuator "servo"', TIP + '    def MjcActuator "servo"')
    (tmp_path / "robot.usda").write_text(text)
    result = simwright.fix(tmp_path / "robot.usda", tmp_path / "out", unsafe=True)
    assert result.proven
    before, after = (see(engine, file) for file in (tmp_path / "robot.usda", Path(result.entry)))
    told = read_told(tmp_path / "robot.usda")
    assert list_changes(before, after, told) == []
    seen = {row.joint: row.armature for row in after.freedoms if row.kind != "free"}
    assert seen == pytest.approx({"shoulder": 0.3, "elbow": 0.1, "wrist_x": 0.07})
