# SPDX-License-Identifier: Apache-2.0
"""Which power of length and of mass is in an attribute: the names of OpenUSD's own schemas, and the solvers' tables.

Times are seconds and angles degrees in all of them, whatever a stage says, and ``ros:`` attributes are SI by
definition; so only the two powers are asked for.  What a name means may depend on the prim: see :class:`PrimRole`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from simwright.resolve import mjc, newton, physx, usdphysics
from simwright.resolve.table import ANGULAR_AXES, PrimType, Row, Unit


@dataclass(frozen=True, slots=True)
class Dimension:
    """Powers of length and mass.

    ``signed`` is False where a negative number stands for "none"; ``part`` says which numbers of a value count:
    ``all``, the ``translation`` of a matrix, the ``third`` of a list, or the ``last`` of four.
    """

    length: int = 0
    mass: int = 0
    signed: bool = True
    part: str = "all"


@dataclass(frozen=True, slots=True)
class Factors:
    """What a length and a mass are multiplied by."""

    length: float = 1.0
    mass: float = 1.0

    def of(self, dimension: Dimension) -> float:
        """The factor of a value."""
        return float(self.length**dimension.length * self.mass**dimension.mass)


@dataclass(frozen=True, slots=True)
class PrimRole:
    """What the prim of an attribute is: its type, and how the joint that it is, or drives, moves.

    ``motion`` is ``turn``, ``slide``, ``both`` (a joint with freedoms of either kind) or empty; ``leader`` the same of
    the joint that is followed.  ``accelerates`` are axes whose drive has gains without mass, ``mode`` is what an
    actuator commands, or whether a light is normalized.
    """

    type: str = ""
    motion: str = ""
    leader: str = ""
    accelerates: frozenset[str] = frozenset()
    mode: str = "effort"


NONE: Final = Dimension()
LENGTH: Final = Dimension(1)
EXTENT: Final = Dimension(1, signed=False)
AREA: Final = Dimension(2)
MASS: Final = Dimension(0, 1)
INERTIA: Final = Dimension(2, 1)
FORCE: Final = Dimension(1, 1)
DENSITY: Final = Dimension(-3, 1)

SHAPES: Final = {
    "Cube": ("size",), "Sphere": ("radius",), "Cylinder": ("radius", "height"),
    "Cylinder_1": ("radiusTop", "radiusBottom", "height"), "Capsule": ("radius", "height"),
    "Capsule_1": ("radiusTop", "radiusBottom", "height"), "Cone": ("radius", "height"), "Plane": ("width", "length"),
    "SphereLight": ("inputs:radius",), "DiskLight": ("inputs:radius",), "RectLight": ("inputs:width", "inputs:height"),
    "CylinderLight": ("inputs:radius", "inputs:length"),
    "Camera": ("focalLength", "horizontalAperture", "verticalAperture", "clippingRange"),
    "MjcTendon": ("mjc:width",),
}  # fmt: skip
"""Types whose sizes have fallbacks other than zero: where nobody says them, they are still lengths."""
AREA_LIGHTS: Final = frozenset({"SphereLight", "DiskLight", "RectLight", "CylinderLight"})
NORMALIZED: Final = "normalized"
"""The mode of a light whose intensity is shared out over its surface."""

_WIDTH: Final = Dimension(1, part="third")
_EXACT: Final[Mapping[str, Dimension]] = {
    **dict.fromkeys(
        ("points", "extent", "extentsHint", "velocities", "accelerations", "widths", "tangents", "positions",
         "focusDistance", "clippingRange", "focalLength", "horizontalAperture", "verticalAperture",
         "horizontalApertureOffset", "verticalApertureOffset", "physics:centerOfMass", "physics:velocity",
         "physics:localPos0", "physics:localPos1", "inputs:displacement"),
        LENGTH,
    ),
    **dict.fromkeys(
        ("physics:gravityMagnitude", "physics:minDistance", "physics:maxDistance", "inputs:shadow:distance",
         "inputs:shadow:falloff"),
        EXTENT,
    ),
    "clippingPlanes": Dimension(1, part="last"), "mjc:solimp": _WIDTH,
    "physics:mass": MASS, "physics:density": DENSITY, "physics:diagonalInertia": INERTIA, "newton:inertia": INERTIA,
    "physics:breakForce": FORCE, "physics:breakTorque": INERTIA,
    **dict.fromkeys(
        ("physxScene:bounceThreshold", "physxScene:frictionOffsetThreshold",
         "physxScene:frictionCorrelationDistance", "physxRigidBody:maxLinearVelocity",
         "physxRigidBody:maxDepenetrationVelocity", "physxCollision:torsionalPatchRadius",
         "physxCollision:minTorsionalPatchRadius", "physxConvexHullCollision:minThickness",
         "physxConvexDecompositionCollision:minThickness", "physxCollision:contactOffset",
         "physxCollision:restOffset", "mjc:option:wind", "mjc:crankLength"),
        LENGTH,
    ),
    **dict.fromkeys(
        ("physxRigidBody:sleepThreshold", "physxRigidBody:stabilizationThreshold",
         "physxArticulation:sleepThreshold", "physxArticulation:stabilizationThreshold"),
        AREA,
    ),
    "physxRigidBody:maxContactImpulse": FORCE, "physxForce:force": FORCE, "physxForce:torque": INERTIA,
    **dict.fromkeys(
        ("physxRigidBody:contactSlopCoefficient", "physxTriangleMeshCollision:weldTolerance",
         "physxTriangleMeshSimplificationCollision:weldTolerance", "physxParticleIsosurface:gridSpacing",
         "physxParticleIsosurface:surfaceDistance", "physxParticleSampling:samplingDistance",
         "physxParticle:springRestLengths", "physxDeformableSurfaceMaterial:thickness",
         "physxDeformable:sleepThreshold", "physxDeformable:settlingThreshold",
         "physxDeformable:maxDepenetrationVelocity", "physxVehicleAckermannSteering:wheelBase",
         "physxVehicleAckermannSteering:trackWidth", "physxVehicle:subStepThresholdLongitudinalSpeed",
         "physxVehicle:minLongitudinalSlipDenominator", "physxVehicle:minPassiveLongitudinalSlipDenominator",
         "physxVehicle:minActiveLongitudinalSlipDenominator", "physxVehicle:minLateralSlipDenominator",
         "physxVehicle:longitudinalStickyTireThresholdSpeed", "physxVehicle:lateralStickyTireThresholdSpeed",
         "physxVehicleWheel:radius", "physxVehicleWheel:width", "physxVehicleSuspension:travelDistance",
         "physxVehicleSuspension:maxCompression", "physxVehicleSuspension:maxDroop",
         "physxCharacterController:invisibleWallHeight", "physxCharacterController:maxJumpHeight",
         "physxCharacterController:contactOffset", "physxCharacterController:stepOffset"),
        EXTENT,
    ),
    **dict.fromkeys(
        ("physxPhysicsDistanceJoint:springStiffness", "physxPhysicsDistanceJoint:springDamping",
         "physxVehicleWheel:mass", "physxVehicleSuspension:springStrength", "physxVehicleSuspension:springDamperRate",
         "physxVehicleSuspension:sprungMass", "physxParticle:springStiffnesses", "physxParticle:springDampings",
         "physxAutoParticleCloth:springStretchStiffness", "physxAutoParticleCloth:springBendStiffness",
         "physxAutoParticleCloth:springShearStiffness", "physxAutoParticleCloth:springDamping"),
        MASS,
    ),
    **dict.fromkeys(
        ("physxContactReport:threshold", "physxVehicleTire:longitudinalStiffness", "physxVehicleTire:restLoad",
         "physxVehicleTire:camberStiffness"),
        FORCE,
    ),
    **dict.fromkeys(
        ("physxVehicleWheel:moi", "physxVehicleWheel:dampingRate", "physxVehicleWheel:maxBrakeTorque",
         "physxVehicleWheel:maxHandBrakeTorque", "physxVehicleEngine:moi", "physxVehicleEngine:peakTorque",
         "physxVehicleEngine:dampingRateFullThrottle", "physxVehicleEngine:dampingRateZeroThrottleClutchEngaged",
         "physxVehicleEngine:dampingRateZeroThrottleClutchDisengaged", "physxVehicleClutch:strength",
         "physxVehicleDriveBasic:peakTorque", "physxVehicleWheelController:driveTorque",
         "physxVehicleWheelController:brakeTorque", "physxDiffuseParticles:threshold"),
        INERTIA,
    ),
    **dict.fromkeys(
        ("physxPBDMaterial:density", "physxDeformableBodyMaterial:density", "physxDeformableSurfaceMaterial:density"),
        DENSITY,
    ),
    **dict.fromkeys(
        ("physxDeformableBodyMaterial:youngsModulus", "physxDeformableSurfaceMaterial:youngsModulus"),
        Dimension(-1, 1),
    ),
    "physxPBDMaterial:surfaceTension": Dimension(-3), "physxSurfaceVelocity:surfaceVelocity": LENGTH,
    "mjc:option:density": DENSITY, "mjc:option:viscosity": Dimension(-1, 1),
}  # fmt: skip
_SENSORS: Final = {
    "Lidar": {"minRange": LENGTH, "maxRange": LENGTH},
    "OmniLidar": {"minRange": LENGTH, "maxRange": LENGTH},
    "OmniRadar": {"minRange": LENGTH, "maxRange": LENGTH},
    "IsaacContactSensor": {"radius": EXTENT, "threshold": FORCE},
}
_LIGHT_SIZES: Final = frozenset({"inputs:radius", "inputs:width", "inputs:height", "inputs:length"})
_AXIS: Final = re.compile(r"(limit|drive|state|physxLimit):(\w+):(?:physics:)?(\w+)\Z")
_DRIVE: Final = {
    **dict.fromkeys(("targetPosition", "targetVelocity", "position", "velocity", "low", "high"), "step"),
    "maxForce": "effort", "stiffness": "gain", "damping": "gain",
}  # fmt: skip
_MOTORS: Final = {
    **dict.fromkeys(
        ("newton:kp", "newton:kd", "newton:ki", "ext_physics:actuator:stiffness", "ext_physics:actuator:damping"),
        "gain",
    ),
    **dict.fromkeys(
        ("newton:constEffort", "newton:maxEffort", "newton:maxMotorEffort", "newton:saturationEffort",
         "newton:lookupEfforts", "ext_physics:clamp_position:lookupEfforts", "ext_physics:actuator:effortLower",
         "ext_physics:actuator:effortUpper", "mjc:forceRange:min", "mjc:forceRange:max"),
        "effort",
    ),
    **dict.fromkeys(
        ("newton:integralMax", "newton:lookupPositions", "ext_physics:clamp_position:lookupPositions"), "step"
    ),
    **dict.fromkeys(("ext_physics:actuator:controlLower", "ext_physics:actuator:controlUpper"), "command"),
}  # fmt: skip
_FOLLOWING: Final = {
    "ext_physics:mimic:offset": 0, "ext_physics:mimic:multiplier": 1, "newton:mimicCoef0": 0, "newton:mimicCoef1": 1,
    "mjc:coef0": 0, "mjc:coef1": 1, "mjc:coef2": 2, "mjc:coef3": 3, "mjc:coef4": 4,
}  # fmt: skip
_PHYSX_FOLLOWING: Final = re.compile(r"physxMimicJoint:\w+:(offset|gearing)\Z")
_NO_UNIT: Final = re.compile(
    r"physxMimicJoint:\w+:(naturalFrequency|dampingRatio)\Z"
    r"|physx(Scene:.*PerSecond|RigidBody:(\w+Damping|maxAngularVelocity|cfmScale)|SDFMeshCollision:.*)\Z"
    r"|physx(Joint:jointFriction|Limit:\w+:restitution|ConvexDecompositionCollision:errorPercentage)\Z"
    r"|physx(ResidualReporting|ParticleSmoothing|ParticleAnisotropy|CookedData|VehicleGears|VehicleAutoGearBox):.*\Z"
    r"|physx(SurfaceVelocity:surfaceAngularVelocity|Scene:maxBiasCoefficient|CharacterController:(slopeLimit|scaleCoeff|volumeGrowth))\Z"
    r"|physxVehicle(Engine:(\w+RotationSpeed|torqueCurve)|Brakes:\w+:torqueMultipliers|Controller:.*)\Z"
    r"|physxVehicle(SuspensionCompliance:wheel\w+Angle|MultiWheelDifferential:.*|\w*Steering:(?!wheelBase|trackWidth).*)\Z"
    r"|physxDiffuseParticles:(maxDiffuseParticleMultiplier|lifetime|\w+Drag|buoyancy|\w+Weight|collisionDecay)\Z"
    r"|physxPBDMaterial:(?!density|surfaceTension).*\Z|physxDeformable:(vertexVelocityDamping|sleepDamping)\Z"
    r"|physxDeformable\w+Material:(elasticityDamping|dynamicFriction|poissonsRatio|dampingScale)\Z"
    r"|physxTriangleMeshSimplificationCollision:metric\Z|newton:(delaySteps|massModel)\Z"
    r"|mjc:(solref\w*|gravcomp|solmix|inheritRange|lengthRange:\w+|actRange:\w+|torqueScale|gear|dynPrm|time)\Z"
    r"|mjc:option:(timestep|impratio|\w*tolerance|o_solref|magnetic)\Z|mjc:(compiler|flag|path|visual):.*\Z"
    r"|ext_physics:actuator:(gear|gain|timeConstant)\Z|mjc:(group|solver|type)\w*\Z"
)
_VENDORS: Final = re.compile(r"(physx\w*|mjc|newton|ext_physics):")


def find_dimension(name: str, role: PrimRole) -> Dimension | None:
    """The dimension of an attribute; None for a solver's attribute of which nobody knows it."""
    if name.startswith("xformOp:"):
        # ops may have a suffix (xformOp:translate:pivot)
        if name.startswith("xformOp:translate"):
            return LENGTH
        return Dimension(1, part="translation") if name.startswith("xformOp:transform") else NONE
    # the most specific table first: a radius of a light is not a radius of a sphere
    for look in (_find_by_type, _find_by_name, _find_by_axis, _find_by_joint, _find_by_row):
        found = look(name, role)
        if found is not None:
            return found
    # an unknown attribute of a solver is refused, not left alone: half a conversion is worse than none
    if _VENDORS.match(name) and not _NO_UNIT.match(name):
        return None
    return NONE


def _find_by_type(name: str, role: PrimRole) -> Dimension | None:
    if role.type in SHAPES and name in SHAPES[role.type]:
        return LENGTH
    if role.type in _SENSORS and name in _SENSORS[role.type]:
        return _SENSORS[role.type][name]
    if name in _LIGHT_SIZES:
        return LENGTH if role.type in AREA_LIGHTS else NONE
    if name == "inputs:intensity" and role.type in AREA_LIGHTS:
        # normalized: the light sends out intensity over its area, so the same light needs the factor squared
        return AREA if role.mode == NORMALIZED else NONE
    if role.type == "MjcTendon":
        return _find_of_tendon(name, role)
    return None


def _find_of_tendon(name: str, role: PrimRole) -> Dimension | None:
    """A sum of coordinates with a hinge in it has no unit; every other tendon is as long as it is."""
    turns = role.motion == "turn"
    if name in ("mjc:stiffness", "mjc:damping", "mjc:armature"):
        return INERTIA if turns else MASS
    if name == "mjc:frictionloss":
        return INERTIA if turns else FORCE
    if name in ("mjc:range:min", "mjc:range:max", "mjc:springlength"):
        return NONE if turns else EXTENT
    return None


def _find_by_name(name: str, role: PrimRole) -> Dimension | None:
    if name in ("physics:lowerLimit", "physics:upperLimit"):
        return LENGTH if role.type == "PhysicsPrismaticJoint" else NONE
    if name in ("mjc:solimplimit", "mjc:solimpfriction"):
        return {"slide": _WIDTH, "turn": NONE}.get(role.motion)
    return _EXACT.get(name)


def _find_by_axis(name: str, role: PrimRole) -> Dimension | None:
    matched = _AXIS.match(name)
    if matched is None or matched[3] not in _DRIVE:
        return None
    family, axis, key = matched.groups()
    word = _DRIVE[key]
    # an acceleration drive is multiplied by the mass it moves: its gains have no mass, and 1/s2 has no length
    if family == "drive" and word == "gain" and axis in role.accelerates:
        return NONE
    return _measure(word, "turn" if axis in ANGULAR_AXES else "slide", "")


def _find_by_joint(name: str, role: PrimRole) -> Dimension | None:
    """What the joint of an actuator or of a rule between joints has to say."""
    if name in _MOTORS:
        return _measure(_MOTORS[name], role.motion, role.mode)
    power = _FOLLOWING.get(name)
    if power is None:
        matched = _PHYSX_FOLLOWING.match(name)
        power = None if matched is None else int(matched[1] == "gearing")
    if power is None or "" in (role.motion, role.leader) or "both" in (role.motion, role.leader):
        return None
    # q = offset + multiplier * leader^power: each side is a length where its joint slides
    return Dimension((role.motion == "slide") - power * (role.leader == "slide"))


def _measure(word: str, motion: str, mode: str) -> Dimension | None:
    if motion not in ("turn", "slide"):
        return None
    if word == "command":
        word = "effort" if mode == "effort" else "step"
    slides = motion == "slide"
    match word:
        case "step":
            return LENGTH if slides else NONE
        case "effort":
            return FORCE if slides else INERTIA
    return MASS if slides else INERTIA


@cache
def _list_rows() -> Mapping[str, Row]:
    """The solvers' rows by attribute; the first one of several tells the unit."""
    found: dict[str, Row] = {}
    for table in (usdphysics.ROWS, newton.ROWS, physx.ROWS, mjc.ROWS):
        for row in table:
            for name in row.attributes:
                found.setdefault(name, row)
    return found


@cache
def list_shape_rows() -> frozenset[str]:
    """Attributes of solvers that are about shapes."""
    tables = (usdphysics.ROWS, newton.ROWS, physx.ROWS, mjc.ROWS)
    rows = (row for table in tables for row in table if row.prim is PrimType.SHAPE)
    return frozenset(name for row in rows for name in row.attributes)


def _find_by_row(name: str, role: PrimRole) -> Dimension | None:
    row = _list_rows().get(name)
    # their unit depends on the law of the actuator: see rescale_actuator
    if row is None or name in ("mjc:gainPrm", "mjc:biasPrm") or name.startswith("mjc:ctrlRange"):
        return None
    if row.axis:
        return _read_unit(row.unit, "turn" if row.axis in ANGULAR_AXES else "slide")
    if row.unit.slide == row.unit.turn:
        return _read_unit(row.unit, "slide")
    return _read_unit(row.unit, role.motion) if role.motion in ("turn", "slide") else None


def _read_unit(unit: Unit, motion: str) -> Dimension:
    length, mass = unit.slide if motion == "slide" else unit.turn
    return Dimension(length, mass)
