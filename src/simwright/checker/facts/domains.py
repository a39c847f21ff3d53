# SPDX-License-Identifier: Apache-2.0
"""What an opinion is about, by its name: geometry, materials, physics, ROS, a vendor (REP-0158 1.2.1)."""

from __future__ import annotations

import enum
from functools import cache

from simwright.checker.facts.vendors import vendor_of_property, vendor_of_schema


class Domain(enum.StrEnum):
    """What an opinion is about."""

    GEOMETRY = "geometry"
    MATERIAL = "material"
    KINEMATIC = "kinematic"
    PHYSICS = "physics"
    EXTENDED = "extended physics"
    ROS = "ros"
    CONTROL = "control"
    SENSOR = "sensor"
    LIGHT = "light"
    VENDOR = "vendor"

    __hash__ = str.__hash__  # layers have a hundred thousand opinions, and the hash of enums is slow


FEATURES = (Domain.PHYSICS, Domain.EXTENDED, Domain.ROS, Domain.CONTROL, Domain.SENSOR, Domain.VENDOR)
"""Domains that belong in overlay layers of their own."""

GEOMETRY_TYPES = frozenset({
    "Mesh", "Points", "BasisCurves", "NurbsCurves", "NurbsPatch", "HermiteCurves", "TetMesh", "GeomSubset",
    "PointInstancer", "Cube", "Sphere", "Cylinder", "Cylinder_1", "Capsule", "Capsule_1", "Cone", "Plane",
    "Volume", "OpenVDBAsset", "ParticleField3DGaussianSplat",
})  # fmt: skip
SHADING_TYPES = frozenset({"Material", "Shader", "NodeGraph"})
SMALL_GEOMETRY = frozenset({
    "orientation", "subdivisionScheme", "doubleSided", "radius", "height", "size", "axis", "width", "length",
})  # fmt: skip
"""Geometry properties that are single numbers or words."""
_BOUNDS = frozenset({"extent", "extentsHint"})
_GEOMETRY_PROPERTIES = SMALL_GEOMETRY | _BOUNDS | {
    "points", "normals", "velocities", "accelerations", "faceVertexCounts", "faceVertexIndices", "holeIndices",
    "cornerIndices", "cornerSharpnesses", "creaseIndices", "creaseLengths", "creaseSharpnesses",
    "curveVertexCounts", "widths", "knots", "protoIndices", "positions", "orientations", "scales",
    "tetVertexIndices", "indices", "elementType", "familyName", "radiusTop", "radiusBottom",
}  # fmt: skip
# longer prefixes first: RosControl before Ros
_API_PREFIXES = (
    ("ExtendedPhysics", Domain.EXTENDED),
    ("Physics", Domain.PHYSICS),
    ("RosControl", Domain.CONTROL),
    ("Ros", Domain.ROS),
    ("Sensor", Domain.SENSOR),
)
_CONTROL = (
    "control:",
    "ros:diff_drive:",
    "ros:rigid_body_twist:",
    "ros:joint_trajectory:",
    "ros:joint_state_broadcaster:",
)
_PROPERTY_PREFIXES = (
    ("xformOp", Domain.KINEMATIC),
    ("primvars:", Domain.GEOMETRY),
    ("ext_physics:", Domain.EXTENDED),
    (_CONTROL, Domain.CONTROL),
    ("ros:", Domain.ROS),
    ("sensor:", Domain.SENSOR),
    (("physics:", "drive:", "limit:", "material:binding:physics"), Domain.PHYSICS),
    (("inputs:", "outputs:", "info:"), Domain.MATERIAL),
)
_NEUTRAL_NAMES = frozenset(
    {"visibility", "purpose", "proxyPrim", "prototypes", "clippingRange", "projection"}
)
_NEUTRAL_NAMESPACES = frozenset({
    "collection", "material", "skel", "ui", "model", "userProperties", "light", "shutter", "stereoRole", "node",
    "coordSys", "subsetFamily", "semantics", "semantic", "info", "filters",
})  # fmt: skip


@cache
def domain_of_type(name: str) -> Domain | None:
    """Domain of a prim type."""
    if vendor_of_schema(name):
        return Domain.VENDOR
    if name in GEOMETRY_TYPES:
        return Domain.GEOMETRY
    if name in SHADING_TYPES:
        return Domain.MATERIAL
    if name in ("Xform", "Scope", "SkelRoot"):
        return Domain.KINEMATIC
    if name.startswith("Physics"):
        return Domain.PHYSICS
    if name.endswith("Light") or name.startswith("DomeLight"):
        return Domain.LIGHT
    return None


@cache
def domain_of_api(name: str) -> Domain | None:
    """Domain of an applied API; None for neutral ones (MaterialBindingAPI, collections, model APIs)."""
    if vendor_of_schema(name):
        return Domain.VENDOR
    return next((domain for prefix, domain in _API_PREFIXES if name.startswith(prefix)), None)


@cache
def domain_of_property(name: str) -> Domain | None:
    """Domain of a property; None for plumbing (visibility, purpose, collections, bindings) and the unknown."""
    # before vendors: "points" and "normals" are by far the most frequent names
    if name in _GEOMETRY_PROPERTIES:
        return Domain.GEOMETRY
    if vendor_of_property(name):
        return Domain.VENDOR
    return next((domain for prefix, domain in _PROPERTY_PREFIXES if name.startswith(prefix)), None)


@cache
def is_unknown_property(name: str) -> bool:
    """Is it none of the names that core OpenUSD, this REP or a vendor we know would write?"""
    if domain_of_property(name) is not None or name in _NEUTRAL_NAMES:
        return False
    return name.partition(":")[0] not in _NEUTRAL_NAMESPACES


def is_bounds(name: str) -> bool:
    """Is it an array of a few corner points that every shape may have?"""
    return name in _BOUNDS
