# SPDX-License-Identifier: Apache-2.0
"""The words by which submissions are judged: reserved prefixes, transport, native attributes, ground truth.

Data only, with the two functions that look words up.  Names are compared by their words, so ``frame_id``,
``frameId`` and ``sensor:frame:id`` are the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

VENDOR_PREFIXES = (
    "newton",
    "physx",
    "mjc",
    "mujoco",
    "isaac",
    "omni",
    "nvidia",
    "gazebo",
    "gz",
    "o3de",
    "genesis",
    "drake",
    "bullet",
    "webots",
    "unity",
    "unreal",
)
"""Engines and tools whose name must not start a class or a property of the registry (REP-0158 4.2.2)."""

CORE_CLASS_PREFIXES = (
    "Physics",
    "Usd",
    "Geom",
    "Shade",
    "Lux",
    "Skel",
    "Collection",
    "Semantics",
    "Preliminary",
)
"""Names that core OpenUSD keeps for itself."""

CORE_NAMESPACES = frozenset(
    {
        *("physics", "drive", "limit", "xformOp", "primvars", "inputs", "outputs", "material", "collection"),
        *(
            "clips",
            "model",
            "info",
            "light",
            "shadow",
            "shaping",
            "shutter",
            "skel",
            "ui",
            "render",
            "exposure",
        ),
        *("semantics", "userProperties"),
    }
)
"""First property namespaces of core OpenUSD."""

RESERVED_ROS_NAMESPACES = frozenset({"context", "topic", "service", "action", "frame", "joint"})
"""``ros:<name>:`` namespaces that REP-0158 section 2 defines."""

TRANSPORT = (
    ("topic",),
    ("topics",),
    ("qos",),
    ("namespace",),
    ("reliability",),
    ("durability",),
    ("frame", "id"),
    ("frame", "ids"),
    ("domain", "id"),
    ("message", "type"),
    ("msg", "type"),
    ("service", "name"),
    ("service", "type"),
    ("action", "name"),
    ("action", "type"),
    ("node", "name"),
    ("publish", "rate"),
    ("queue", "size"),
    ("queue", "depth"),
)
"""Phrases that speak of ROS communication (REP-0158 4.2.1)."""

ROS_TYPE = re.compile(r"\w+/(?:msg|srv|action)/\w+\Z")
"""A value that is the name of a ROS interface type."""

GROUND_TRUTH = (
    ("ground", "truth"),
    ("semantic",),
    ("semantics",),
    ("segmentation",),
    ("bounding", "box"),
    ("bounding", "boxes"),
    ("bbox",),
    ("instance", "id"),
    ("annotation",),
    ("annotator",),
)
"""Phrases for what no real sensor measures (REP-0158 4.2.4)."""

SIMULATION_STATE = (("reset",), ("teleport",), ("spawn",), ("respawn",), ("simulation", "interfaces"))
"""Phrases for changes of simulator state, which are no business of a controller (REP-0158 4.2.3)."""

_NATIVE_BY_OWNER = {
    "UsdGeomCamera": "focalLength focusDistance fStop horizontalAperture verticalAperture "
    "horizontalApertureOffset verticalApertureOffset clippingRange clippingPlanes exposure",
    "UsdPhysicsMassAPI": "mass density centerOfMass inertia diagonalInertia principalAxes",
    "UsdPhysicsRigidBodyAPI": "kinematicEnabled rigidBodyEnabled startsAsleep linearVelocity angularVelocity",
    "UsdPhysicsCollisionAPI": "collisionEnabled",
    "UsdPhysicsMeshCollisionAPI": "approximation",
    "UsdPhysicsMaterialAPI": "staticFriction dynamicFriction restitution",
    "UsdPhysicsJoint": "lowerLimit upperLimit body0 body1 localPos0 localPos1 localRot0 localRot1 "
    "breakForce breakTorque jointEnabled excludeFromArticulation",
    "UsdPhysicsDriveAPI": "maxForce targetPosition targetVelocity",
    "UsdPhysicsScene": "gravity gravityDirection gravityMagnitude",
    "UsdGeomImageable": "visibility purpose",
    "UsdGeomGprim": "displayColor displayOpacity doubleSided",
    "UsdLuxLightAPI": "intensity colorTemperature",
}


def split_words(name: str) -> list[str]:
    """The words of a property name in lower case: ``ros:lidar:frameId`` -> ros, lidar, frame, id."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)]


def find_phrase(name: str, phrases: Iterable[tuple[str, ...]]) -> str:
    """The first of ``phrases`` whose words follow each other in ``name``; empty if there is none."""
    text = f" {' '.join(split_words(name))} "
    return next((" ".join(p) for p in phrases if f" {' '.join(p)} " in text), "")


NATIVE = {
    "".join(split_words(attribute)): (owner, attribute)
    for owner, attributes in _NATIVE_BY_OWNER.items()
    for attribute in attributes.split()
}
"""Joined words of a core attribute -> (its schema, its name) (REP-0158 4.2.1)."""


def find_native(name: str) -> tuple[str, str] | None:
    """The core schema and attribute that ``name`` repeats, judged by its last part."""
    return NATIVE.get("".join(split_words(name.rpartition(":")[2])))


def is_vendor_class(name: str) -> bool:
    """Does the class name start with the name of an engine or a tool?"""
    words = split_words(name)
    return bool(words) and (words[0] in VENDOR_PREFIXES or name.lower().startswith(("physx", "o3de")))


def is_vendor_namespace(namespace: str) -> bool:
    """Is the first part of a property name that of an engine or a tool (``physxJoint``, ``mjc``)?"""
    words = split_words(namespace)
    return bool(words) and (words[0] in VENDOR_PREFIXES or namespace.lower().startswith(("physx", "o3de")))
