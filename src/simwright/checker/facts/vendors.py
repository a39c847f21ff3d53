# SPDX-License-Identifier: Apache-2.0
"""Engine-specific names: whose they are, and what neutral word says the same (REP-0158 1.4, 4.2.2).

One row per known property or API with a neutral equivalent; prefixes decide the rest.
"""

from __future__ import annotations

import re
from functools import cache

from simwright.resolve.resolver import DEFAULT_ORDER, find_resolver
from simwright.resolve.table import EFFORT_RANGE, PrimType
from simwright.resolve.translation import list_pairs

VENDOR_NAMESPACES: dict[str, str] = {
    "newton": "newton",
    "mjc": "mujoco",
    "mujoco": "mujoco",
    "physx": "physx",
    "isaac": "isaac",
    "omni": "isaac",
    "omniphysics": "physx",
    "omnigraph": "isaac",
    "gazebo": "gazebo",
    "gz": "gazebo",
    "ign": "gazebo",
    "o3de": "o3de",
    "genesis": "genesis",
    "drake": "drake",
    "bullet": "bullet",
    "warp": "warp",
    "unity": "unity",
    "unreal": "unreal",
}
"""First token of a property name -> vendor.  ``physxJoint``, ``isaacSensor`` and the like match by prefix."""

_CAMEL_VENDORS = re.compile(r"(newton|mjc|mujoco|physx|isaac|omni|gazebo|o3de|genesis|drake|warp)(?=[A-Z])")
_API_VENDORS = re.compile(
    r"(?P<vendor>Newton|Mjc|Mujoco|Physx|Isaac|Omni|Gazebo|O3DE|O3de|Genesis|Drake)(?=[A-Z]|$)"
)
_STATE = re.compile(r"state:(angular|linear|rot[XYZ]|trans[XYZ]):physics:")
_STATE_API = "PhysicsJointStateAPI"
"""PhysX defines it, in spite of its name; UsdPhysics has no state of joints."""

GRAPH_TYPES = frozenset(
    {"OmniGraph", "OmniGraphNode", "ComputeGraph", "ComputeNode", "GraphNode", "ActionGraph"}
)
"""Prim types of execution graphs: runtime artefacts that belong in a vendor layer."""


def _list_paired() -> dict[str, str]:
    """Attributes of the translation table; where several say one thing, the first of them."""
    paired: dict[str, str] = {}
    for pair in (pair for prim in PrimType for pair in list_pairs(prim)):
        if pair.theirs.transform is not EFFORT_RANGE:  # only a symmetric range is a limit
            paired.setdefault(pair.theirs.attributes[0], pair.name)
    return paired


HALVES: dict[str, tuple[str, ...]] = {
    pair.theirs.attributes[0]: pair.theirs.attributes[1:]
    for prim in PrimType
    for pair in list_pairs(prim)
    if len(pair.theirs.attributes) > 1
}
"""Vendor properties that have a neutral form only together with another one, and which."""

NEUTRAL_PROPERTIES: dict[str, str] = {
    **_list_paired(),
    "newton:mimicJoint": "ext_physics:mimic:joint",
    "newton:mimicCoef0": "ext_physics:mimic:offset",
    "newton:mimicCoef1": "ext_physics:mimic:multiplier",
    "newton:mimicEnabled": "ext_physics:mimic:enabled",
    "newton:targets": "ext_physics:actuator:targets",
    "newton:lookupPositions": "ext_physics:clamp_position:lookupPositions",
    "newton:lookupEfforts": "ext_physics:clamp_position:lookupEfforts",
    # Newton writes six numbers where UsdPhysics has eigenvalues and axes
    "newton:inertia": "physics:diagonalInertia and physics:principalAxes",
}
"""Vendor property -> the neutral property that says the same."""

NEUTRAL_APIS: dict[str, str] = {
    "NewtonMimicAPI": "ExtendedPhysicsMimicAPI",
    "PhysxMimicJointAPI": "ExtendedPhysicsMimicAPI",
    "MjcEqualityJointAPI": "ExtendedPhysicsMimicAPI",
    "MimicJointAPI": "ExtendedPhysicsMimicAPI",
    "NewtonPositionBasedClampingAPI": "ExtendedPhysicsPositionBasedClampingAPI",
    "NewtonMassAPI": "PhysicsMassAPI",
}
"""Vendor API -> the neutral API that says the same."""

NEUTRAL_TYPES: dict[str, str] = {
    "NewtonActuator": "an Xform or Scope with ExtendedPhysicsActuatorAPI",
}
"""Vendor prim type -> what says the same.  An MjcActuator is not here: it depends on its law (see ``actuation``)."""


@cache
def vendor_of_property(name: str) -> str | None:
    """The vendor a property name belongs to, or None: ``physxJoint:armature`` -> ``physx``."""
    if _STATE.match(name):
        return "physx"
    head = name.partition(":")[0]
    # a name without a namespace is nobody's
    if head == name:
        return None
    if head in VENDOR_NAMESPACES:
        return VENDOR_NAMESPACES[head]
    match = _CAMEL_VENDORS.match(head)
    return VENDOR_NAMESPACES[match.group(1)] if match else _list_solver_names().get(head)


@cache
def vendor_of_schema(name: str) -> str | None:
    """The vendor of an API or prim type name, or None: ``PhysxJointAPI`` -> ``physx``."""
    if name in GRAPH_TYPES:
        return "isaac"
    if name.partition(":")[0] == _STATE_API:
        return "physx"
    match = _API_VENDORS.match(name)
    return VENDOR_NAMESPACES[match.group("vendor").lower()] if match else _list_solver_names().get(name)


@cache
def _list_solver_names() -> dict[str, str]:
    """Namespaces and schemas of solvers that are not known by name here, such as those of plugins."""
    found: dict[str, str] = {}
    for solver in map(find_resolver, DEFAULT_ORDER):
        if solver.name not in VENDOR_NAMESPACES:
            names = (*solver.namespaces, *(row.schema for row in solver.rows if row.schema))
            found |= dict.fromkeys(names, solver.name)
    return found


def find_neutral_property(name: str) -> str | None:
    """The neutral equivalent of a vendor property, if there is one."""
    return NEUTRAL_PROPERTIES.get(name)


def find_neutral_schema(name: str) -> str | None:
    """The neutral equivalent of a vendor API (instance names aside) or prim type, if there is one."""
    return NEUTRAL_APIS.get(name.partition(":")[0]) or NEUTRAL_TYPES.get(name)


def find_neutral(name: str) -> str | None:
    """The neutral equivalent of a vendor property, API or prim type, if there is one."""
    return find_neutral_property(name) or find_neutral_schema(name)


def vendor_of_key(key: str) -> str | None:
    """The vendor of a metadata key (``omni_layer``, ``physx:settings``), or None."""
    return VENDOR_NAMESPACES.get(re.split(r"[:_]", key, maxsplit=1)[0])
