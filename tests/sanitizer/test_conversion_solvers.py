"""Values of solvers in other units: what the reader makes of them stays, and their numbers are what they should be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pxr import Sdf, Usd

import simwright
from simwright.sanitizer.conversion.dimensions import PrimRole, find_dimension

RULES = ["units-meters", "units-kilograms", "units-timecodes", "axis-up-z"]
MACHINE = """#usda 1.0
(
    defaultPrim = "robot"
    metersPerUnit = 0.01
    kilogramsPerUnit = 0.001
    timeCodesPerSecond = 1
    upAxis = "Z"
)
def Xform "robot"
{
    def Xform "base" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]
    )
    {
        float physics:mass = 1000
        float3 physics:diagonalInertia = (10000, 10000, 10000)
        def Sphere "foot" (
            prepend apiSchemas = ["PhysicsCollisionAPI", "MaterialBindingAPI", "MjcCollisionAPI"]
        )
        {
            double radius = 5
            uniform double[] mjc:solimp = [0.9, 0.95, 0.5, 0.5, 2]
            rel material:binding:physics = </robot/grip>
        }
    }
    def Xform "arm" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]
    )
    {
        float physics:mass = 1000
        float3 physics:diagonalInertia = (10000, 10000, 10000)
    }
    def Xform "rod" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]
    )
    {
        float physics:mass = 1000
        float3 physics:diagonalInertia = (10000, 10000, 10000)
    }
    def PhysicsRevoluteJoint "hinge" (
        prepend apiSchemas = ["MjcJointAPI"]
    )
    {
        rel physics:body0 = </robot/base>
        rel physics:body1 = </robot/arm>
        uniform double mjc:damping = 1e7
        uniform double mjc:springref = 10
    }
    def PhysicsPrismaticJoint "slide" (
        prepend apiSchemas = ["MjcJointAPI", "ExtendedPhysicsMimicAPI", "PhysxJointAPI"]
    )
    {
        rel physics:body0 = </robot/arm>
        rel physics:body1 = </robot/rod>
        float physics:lowerLimit = -30
        float physics:upperLimit = 40
        uniform double mjc:damping = 2000
        float physxJoint:maxJointVelocity = 50
        rel ext_physics:mimic:joint = </robot/hinge>
        float ext_physics:mimic:offset = 2
        float ext_physics:mimic:multiplier = 3
    }
    def MjcActuator "servo"
    {
        rel mjc:target = </robot/hinge>
        uniform token mjc:biasType = "affine"
        uniform double[] mjc:gainPrm = [1e7, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        uniform double[] mjc:biasPrm = [0, -1e7, -1e6, 0, 0, 0, 0, 0, 0, 0]
        uniform double mjc:forceRange:min = -1e8
        uniform double mjc:forceRange:max = 1e8
        uniform token mjc:forceLimited = "true"
    }
    def MjcActuator "motor"
    {
        rel mjc:target = </robot/slide>
        uniform double mjc:ctrlRange:min = -1e5
        uniform double mjc:ctrlRange:max = 1e5
        uniform token mjc:ctrlLimited = "true"
    }
    def Scope "neutral" (
        prepend apiSchemas = ["ExtendedPhysicsActuatorAPI"]
    )
    {
        rel ext_physics:actuator:targets = </robot/slide>
        token ext_physics:actuator:controlMode = "position"
        float ext_physics:actuator:stiffness = 4000
        float ext_physics:actuator:damping = 500
        float ext_physics:actuator:controlLower = -20
        float ext_physics:actuator:controlUpper = 20
        float ext_physics:actuator:effortLower = -1e6
        float ext_physics:actuator:effortUpper = 1e6
    }
    def MjcTendon "cord"
    {
        uniform token mjc:type = "fixed"
        rel mjc:path = </robot/slide>
        uniform int[] mjc:path:indices = [0]
        uniform double[] mjc:path:coef = [1]
        uniform double mjc:stiffness = 2000
        uniform double mjc:frictionloss = 3e5
        uniform double mjc:range:min = 0
        uniform double mjc:range:max = 150
        uniform token mjc:limited = "true"
    }
    def Material "grip" (
        prepend apiSchemas = ["PhysicsMaterialAPI", "NewtonMaterialAPI"]
    )
    {
        float physics:dynamicFriction = 0.5
        float newton:contactStiffness = 7000
    }
}
"""
NUMBERS = {
    "/robot/hinge.mjc:damping": 1.0,
    "/robot/hinge.mjc:springref": 10.0,
    "/robot/slide.mjc:damping": 2.0,
    "/robot/slide.physxJoint:maxJointVelocity": 0.5,
    "/robot/slide.ext_physics:mimic:offset": 0.02,
    "/robot/slide.ext_physics:mimic:multiplier": 0.03,
    "/robot/servo.mjc:forceRange:max": 10.0,
    "/robot/motor.mjc:ctrlRange:max": 1.0,
    "/robot/neutral.ext_physics:actuator:stiffness": 4.0,
    "/robot/neutral.ext_physics:actuator:controlUpper": 0.2,
    "/robot/neutral.ext_physics:actuator:effortUpper": 10.0,
    "/robot/grip.newton:contactStiffness": 7.0,
    "/robot/cord.mjc:width": 0.003 * 0.01,
    "/robot/cord.mjc:stiffness": 2.0,
    "/robot/cord.mjc:range:max": 1.5,
    "/robot/cord.mjc:frictionloss": 3.0,
}


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("solvers")
    (folder / "odd").mkdir()
    source = folder / "odd" / "robot.usda"
    source.write_text(MACHINE)
    return simwright.fix(source, folder / "out", select=RULES, unsafe=True)


def test_the_machine_is_the_same(result: Any) -> None:
    assert not [note for note in result.notes if note.kind.startswith("fix-")], result.notes
    assert result.proven
    assert simwright.diff(result.source, result.entry).equal
    actuators = [
        {a.name: a for a in simwright.load(file).actuators} for file in (result.source, result.entry)
    ]
    for name in ("servo", "motor", "neutral"):
        one, other = (side[name] for side in actuators)
        assert one.settings["gain"] == pytest.approx(other.settings["gain"])
        assert one.settings["bias"] == pytest.approx(other.settings["bias"])
        for key in ("control_range", "force_range"):
            a, b = getattr(one, key), getattr(other, key)
            assert (a is None) == (b is None)
            assert a is None or a == pytest.approx(b)


@pytest.mark.parametrize(("path", "value"), NUMBERS.items())
def test_the_numbers_are_si(path: str, value: float, result: Any) -> None:
    stage = Usd.Stage.Open(result.entry)
    assert stage.GetAttributeAtPath(path).Get() == pytest.approx(value)


def test_only_the_width_of_an_impedance_is_a_length(result: Any) -> None:
    stage = Usd.Stage.Open(result.entry)
    solimp = list(stage.GetAttributeAtPath("/robot/base/foot.mjc:solimp").Get())
    assert solimp == pytest.approx([0.9, 0.95, 0.005, 0.5, 2.0])


def test_times_of_sublayers_and_time_codes_become_seconds(tmp_path: Path) -> None:
    folder = tmp_path / "odd"
    folder.mkdir()
    entry = folder / "robot.usda"
    entry.write_text(
        """#usda 1.0
(
    defaultPrim = "robot"
    metersPerUnit = 1
    kilogramsPerUnit = 1
    upAxis = "Z"
    timeCodesPerSecond = 24
    subLayers = [@./motion.usda@ (offset = 48; scale = 2)]
)
def Xform "robot"
{
    custom timecode start = 24
    custom timecode[] marks = [12, 36]
}
"""
    )
    (folder / "motion.usda").write_text(
        """#usda 1.0
(
    timeCodesPerSecond = 60
)
over "robot"
{
    double3 xformOp:translate.timeSamples = {
        0: (0, 0, 0),
        60: (1, 0, 0),
    }
    uniform token[] xformOpOrder = ["xformOp:translate"]
}
"""
    )
    rate = Usd.Stage.Open(str(entry)).GetTimeCodesPerSecond()
    before = Usd.Stage.Open(str(entry))
    done = simwright.fix(entry, tmp_path / "out", select=["units-timecodes", "units-baked"], unsafe=True)
    assert done.proven
    after = Usd.Stage.Open(done.entry)
    assert [layer.timeCodesPerSecond for layer in after.GetLayerStack(False)] == [1.0, 1.0]
    path = "/robot.xformOp:translate"
    times = [stage.GetAttributeAtPath(path).GetTimeSamples() for stage in (before, after)]
    assert [time / rate for time in times[0]] == pytest.approx(times[1]) == [2.0, 4.0]
    assert after.GetAttributeAtPath("/robot.start").Get() == Sdf.TimeCode(1.0)
    assert list(after.GetAttributeAtPath("/robot.marks").Get()) == [Sdf.TimeCode(0.5), Sdf.TimeCode(1.5)]


@pytest.mark.parametrize(("axis", "length"), [("rotX", 2), ("angular", 2), ("transX", 0), ("linear", 0)])
def test_the_unit_of_a_limit_follows_its_axis(axis, length):
    """A stiffness is N/m = kg/s^2 along an axis, and N m/rad = kg m^2/s^2 around it."""
    found = find_dimension(f"newton:{axis}:limitStiffness", PrimRole("PhysicsJoint"))
    assert (found.length, found.mass) == (length, 1)


@pytest.mark.parametrize(
    ("name", "length", "mass"),
    [
        ("physxContactReport:threshold", 1, 1),
        ("physxRigidBody:contactSlopCoefficient", 1, 0),
        ("physxPhysicsDistanceJoint:springStiffness", 0, 1),
        ("physxVehicleEngine:peakTorque", 2, 1),
        ("physxVehicleController:accelerator", 0, 0),
        ("physxVehicleAckermannSteering:trackWidth", 1, 0),
        ("physxVehicleAckermannSteering:maxSteerAngle", 0, 0),
        ("physxPBDMaterial:density", -3, 1),
        ("physxPBDMaterial:friction", 0, 0),
        ("physxDeformableBodyMaterial:youngsModulus", -1, 1),
    ],
)
def test_attributes_of_physx_that_the_model_has_no_place_for(name: str, length: int, mass: int) -> None:
    found = find_dimension(name, PrimRole())
    assert found is not None
    assert (found.length, found.mass) == (length, mass)
