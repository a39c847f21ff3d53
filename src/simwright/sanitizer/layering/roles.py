# SPDX-License-Identifier: Apache-2.0
"""Which layer an opinion belongs in: the link tree, shapes, materials, physics, ROS, a vendor (REP-0158 1.2.1, 1.4)."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from typing import Any

from pxr import Sdf

from simwright.checker.facts.domains import (
    Domain,
    domain_of_api,
    domain_of_property,
    domain_of_type,
    is_unknown_property,
)
from simwright.checker.facts.vendors import vendor_of_property, vendor_of_schema

ENTRY, BASE, SHAPES, MATERIALS = "entry", "base", "instances", "materials"
PHYSICS, EXTENDED, ROS, CUSTOM, VENDOR = "physics", "extended_physics", "ros", "custom", "vendor"
FEATURES = frozenset({PHYSICS, EXTENDED, ROS, CUSTOM, VENDOR})
EVERYTHING = FEATURES | {BASE, SHAPES, MATERIALS}
ORDER = (VENDOR, CUSTOM, ROS, EXTENDED, PHYSICS, MATERIALS, SHAPES, BASE)
"""From the strongest layer to the weakest."""

DOMAINS = {
    Domain.PHYSICS: PHYSICS,
    Domain.EXTENDED: EXTENDED,
    Domain.ROS: ROS,
    Domain.CONTROL: ROS,
    Domain.SENSOR: ROS,
    Domain.VENDOR: VENDOR,
}
"""Where features belong."""
_PLUMBING = frozenset({
    "MaterialBindingAPI", "GeomModelAPI", "SkelBindingAPI", "CollectionAPI", "VisibilityAPI", "PrimvarsAPI",
    "MotionAPI", "XformCommonAPI", "CoordSysAPI", "ClipsAPI",
})  # fmt: skip
"""Schemas about shapes, which stay with them."""
_WITH_ITS_JOINT = "ros:joint:name"


def find_group(role: str) -> str:
    """The role without the name of a vendor."""
    return role.partition(":")[0]


def name_file(role: str) -> str:
    """The file of a role: ``physics.usda``, ``mujoco.usda``."""
    return f"{role.partition(':')[2] or role}.usda"


def rank(role: str) -> tuple[int, str]:
    """Sorts roles from the strongest layer to the weakest."""
    return ORDER.index(find_group(role)), role


def find_home(kind: str, *, is_physical: bool = False) -> str:
    """Where a prim of a type is defined; a physical material is one that nothing is drawn with."""
    vendor = vendor_of_schema(kind)
    if vendor:
        return f"{VENDOR}:{vendor}"
    domain = domain_of_type(kind)
    if domain is Domain.GEOMETRY:
        return SHAPES
    if domain is Domain.MATERIAL:
        return PHYSICS if is_physical else MATERIALS
    return PHYSICS if domain is Domain.PHYSICS else BASE


def find_property_role(name: str, home: str, vendors: Collection[str] = ()) -> str:
    """Where a property belongs; what is about nothing in particular stays with its prim."""
    return _find_property_role(name, home, tuple(vendors))


@cache
def _find_property_role(name: str, home: str, vendors: tuple[str, ...]) -> str:
    head, colon, _ = name.partition(":")
    # a vendor that no table knows is named by the finding
    vendor = vendor_of_property(name) or (head if colon and head in vendors else None)
    if vendor:
        return f"{VENDOR}:{vendor}"
    domain = domain_of_property(name)
    # the ROS name of a joint is its identity, and stays with the joint
    if domain in DOMAINS and name != _WITH_ITS_JOINT:
        return DOMAINS[domain]
    # a physics layer holds UsdPhysics and nothing else (isol-physics-core-only)
    if home == PHYSICS and is_unknown_property(name):
        return CUSTOM
    return BASE if home == ENTRY else home


def speaks_neutral(spec: Any) -> bool:
    """Does the spec of a prim say something that is not an engine's own?"""
    if spec.specifier != Sdf.SpecifierOver and not vendor_of_schema(str(spec.typeName)):
        return True
    listed = spec.GetInfo("apiSchemas").GetAddedOrExplicitItems() if spec.HasInfo("apiSchemas") else ()
    return any(vendor_of_schema(str(name)) is None for name in listed) or any(
        vendor_of_property(str(name)) is None for name in spec.GetInfo("properties") or ()
    )


@cache
def find_api_role(name: str, home: str) -> str:
    """Where an applied schema belongs."""
    vendor = vendor_of_schema(name)
    if vendor:
        return f"{VENDOR}:{vendor}"
    domain = domain_of_api(name)
    if domain in DOMAINS:
        return DOMAINS[domain]
    if home in (PHYSICS, SHAPES) and name.partition(":")[0] not in _PLUMBING:
        return CUSTOM
    return home
