"""One robot written twice by hand, in MJCF and in OpenUSD, not by Simwright: engines must be found to see it alike.

A base that is held, a hinge with a position servo, armature, friction, damping and limits, and a slide with none.
"""

from __future__ import annotations

import math
from pathlib import Path

from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics

_PER_DEGREE = math.pi / 180.0

MJCF = """
<mujoco model="twin">
  <compiler angle="radian"/>
  <worldbody>
    <body name="base">
      <inertial pos="0 0 0" mass="5" diaginertia="0.1 0.1 0.1"/>
      <body name="upper" pos="0 0 0.5">
        <joint name="turn" axis="0 0 1" range="-1 2" armature="0.3" frictionloss="0.4" damping="0.6"/>
        <inertial pos="0.2 0 0" mass="2" diaginertia="0.02 0.03 0.04"/>
        <body name="lower" pos="0.4 0 0">
          <joint name="push" type="slide" axis="1 0 0" range="-0.1 0.2"/>
          <inertial pos="0.1 0.05 0" mass="1" diaginertia="0.01 0.01 0.02"/>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <position name="servo" joint="turn" kp="200" kv="20" forcerange="-30 30"/>
  </actuator>
</mujoco>
"""


def write_mjcf(folder: Path) -> Path:
    file = folder / "twin.xml"
    file.write_text(MJCF)
    return file


def write_stage(folder: Path, words: str, root: str) -> Path:
    """The same robot with the words of one engine (``newton`` or ``mjc``); ``root`` is the articulation root."""
    file = folder / f"{words}.usda"
    stage = Usd.Stage.CreateNew(str(file))
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    UsdPhysics.SetStageKilogramsPerUnit(stage, 1.0)
    stage.SetDefaultPrim(UsdGeom.Xform.Define(stage, "/twin").GetPrim())
    _add_body(stage, "base", (0, 0, 0), 5, (0, 0, 0), (0.1, 0.1, 0.1))
    _add_body(stage, "upper", (0, 0, 0.5), 2, (0.2, 0, 0), (0.02, 0.03, 0.04))
    _add_body(stage, "lower", (0.4, 0, 0.5), 1, (0.1, 0.05, 0), (0.01, 0.01, 0.02))
    UsdPhysics.FixedJoint.Define(stage, "/twin/held").CreateBody1Rel().AddTarget("/twin/base")
    turn = UsdPhysics.RevoluteJoint.Define(stage, "/twin/turn")
    _join(turn, "base", "upper", (0, 0, 0.5), "Z", (-1 / _PER_DEGREE, 2 / _PER_DEGREE))
    push = UsdPhysics.PrismaticJoint.Define(stage, "/twin/push")
    _join(push, "upper", "lower", (0.4, 0, 0), "X", (-0.1, 0.2))
    UsdPhysics.ArticulationRootAPI.Apply(stage.GetPrimAtPath(root))
    (_add_newton_words if words == "newton" else _add_mjc_words)(stage, turn.GetPrim())
    stage.Save()
    return file


def _add_body(
    stage: Usd.Stage, name: str, place: object, mass: float, center: object, inertia: object
) -> None:
    body = UsdGeom.Xform.Define(stage, f"/twin/{name}")
    body.AddTranslateOp().Set(Gf.Vec3d(*place))
    UsdPhysics.RigidBodyAPI.Apply(body.GetPrim())
    weight = UsdPhysics.MassAPI.Apply(body.GetPrim())
    weight.CreateMassAttr(mass)
    weight.CreateCenterOfMassAttr(Gf.Vec3f(*center))
    weight.CreateDiagonalInertiaAttr(Gf.Vec3f(*inertia))
    weight.CreatePrincipalAxesAttr(Gf.Quatf(1.0))


def _join(joint: object, parent: str, child: str, place: object, axis: str, limits: object) -> None:
    joint.CreateBody0Rel().AddTarget(f"/twin/{parent}")
    joint.CreateBody1Rel().AddTarget(f"/twin/{child}")
    joint.CreateLocalPos0Attr(Gf.Vec3f(*place))
    joint.CreateAxisAttr(axis)
    joint.CreateLowerLimitAttr(limits[0])
    joint.CreateUpperLimitAttr(limits[1])


def _add_newton_words(stage: Usd.Stage, turn: Usd.Prim) -> None:
    """A drive of UsdPhysics, whose gains are counted per degree, and what Newton and PhysX read of a joint."""
    drive = UsdPhysics.DriveAPI.Apply(turn, "angular")
    drive.CreateStiffnessAttr(200 * _PER_DEGREE)
    drive.CreateDampingAttr(20 * _PER_DEGREE)
    drive.CreateMaxForceAttr(30)
    turn.AddAppliedSchema("NewtonJointAPI")
    for name, value in (("armature", 0.3), ("friction", 0.4), ("damping", 0.6 * _PER_DEGREE)):
        turn.CreateAttribute(f"newton:{name}", Sdf.ValueTypeNames.Float, False).Set(value)


def _add_mjc_words(stage: Usd.Stage, turn: Usd.Prim) -> None:
    """What MuJoCo's own reader reads, in radians."""
    turn.AddAppliedSchema("MjcJointAPI")
    for name, value in (("armature", 0.3), ("frictionloss", 0.4), ("damping", 0.6)):
        attribute = turn.CreateAttribute(f"mjc:{name}", Sdf.ValueTypeNames.Double, False)
        attribute.SetVariability(Sdf.VariabilityUniform)
        attribute.Set(value)
    servo = stage.DefinePrim("/twin/servo", "MjcActuator")
    servo.CreateRelationship("mjc:target", False).AddTarget(turn.GetPath())
    rows = (("gainPrm", [200.0] + [0.0] * 9), ("biasPrm", [0.0, -200.0, -20.0] + [0.0] * 7))
    for name, values in rows:
        servo.CreateAttribute(f"mjc:{name}", Sdf.ValueTypeNames.DoubleArray, False).Set(values)
    servo.CreateAttribute("mjc:biasType", Sdf.ValueTypeNames.Token, False).Set("affine")
    for name, value in (("min", -30.0), ("max", 30.0)):
        servo.CreateAttribute(f"mjc:forceRange:{name}", Sdf.ValueTypeNames.Double, False).Set(value)
