# SPDX-License-Identifier: Apache-2.0
"""A prim as the walk finds it: read once, so that later questions need not ask OpenUSD again.

Asking OpenUSD for an attribute that nobody authored costs as much as reading one, and a reader asks for dozens
per prim.  So each prim keeps the names that are authored on it, and each :class:`PrimSchemas` (all prims of one type
with the same schemas) keeps the fallback values of its schemas.  Schemas do not change while the process lives, so
sorts are kept from one stage to the next, and so is what follows from the names that are authored on prims of a sort
(:class:`PrimOutline`): links, joints and colliders of one exporter author the same names over and over.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pxr import Usd, UsdGeom

from simwright.usd.open import is_plain
from simwright.usd.questions import names_of, specs_of, type_of

RIGID_BODY = "PhysicsRigidBodyAPI"
COLLISION = "PhysicsCollisionAPI"
MASS = "PhysicsMassAPI"
ARTICULATION = "PhysicsArticulationRootAPI"
PHYSICS_MATERIAL = "PhysicsMaterialAPI"
JOINT_TYPES = frozenset(
    {
        "PhysicsJoint",
        "PhysicsFixedJoint",
        "PhysicsRevoluteJoint",
        "PhysicsPrismaticJoint",
        "PhysicsSphericalJoint",
        "PhysicsDistanceJoint",
    }
)
# RosFrameAPI marks Xforms; the other two also sit on geometry, which is then a marker and no shape
SITE_APIS = frozenset({"RosFrameAPI", "NewtonSiteAPI", "MjcSiteAPI"})
GEOMETRY_SITE_APIS = frozenset({"NewtonSiteAPI", "MjcSiteAPI"})
ROS_APIS = frozenset({"RosContextAPI", "RosTopicAPI", "RosServiceAPI", "RosActionAPI"})


@dataclass(slots=True, eq=False)
class PrimSchemas:
    """What all prims of one type and one list of schemas share.

    ``kinds`` are the lists of a ``scan.StageScan`` they go to; ``builtin`` the properties of
    its schemas; ``fallbacks`` their values where nobody authored one, filled as they are asked for; ``numbers`` the
    same for vectors.
    """

    type: str
    apis: frozenset[str]
    is_imageable: bool
    is_xformable: bool
    is_gprim: bool
    is_subset: bool
    is_unknown: bool
    builtin: frozenset[str]
    kinds: tuple[str, ...] = ()
    fallbacks: dict[str, Any] = field(default_factory=dict)
    numbers: dict[str, tuple[float, ...]] = field(default_factory=dict)
    instances: dict[str, list[str]] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class PrimOutline:
    """What all prims of one sort with the same authored properties share, whatever their values are.

    ``names`` are the properties; ``binds`` tells that a material is bound, ``displays`` that visibility or purpose are
    said; ``unapplied`` are limits and drives of a joint without their schema; ``operations`` is the last order of
    transform operations of which all are there; ``scales`` are its operations that scale; ``kept`` are the solver and
    custom attributes, by who asks (``attributes._AttributeSpaces``).
    """

    schemas: PrimSchemas
    names: frozenset[str]
    binds: bool
    displays: bool = False
    unapplied: dict[str, str] | None = None
    operations: Any = None
    scales: list[str] | None = None
    kept: dict[object, tuple[list[tuple[str, str, Any]], list[tuple[str, str, Any]]]] = field(
        default_factory=dict
    )


class Opinions:
    """What the layers say about a prim, attribute values filled as they are asked for.

    Prims that come from the same specs, such as the parts of a robot that is referenced a hundred times, share
    one of these.  ``values`` are what attributes resolve to, fallbacks included; ``said`` only what is authored;
    ``numbers`` vectors as numbers.
    """

    __slots__ = ("numbers", "outline", "said", "values")

    # by hand: most prims have one of their own, and a dataclass asks of each field whether it was given
    def __init__(self, outline: PrimOutline) -> None:
        self.outline = outline
        self.values: dict[str, Any] = {}
        self.said: dict[str, Any] = {}
        self.numbers: dict[str, tuple[float, ...]] = {}


@dataclass(slots=True, eq=False)
class FoundPrim:
    """A prim and what it inherits.  ``owner`` is the path of the body it moves with, empty for none.

    ``authored`` are the names of its authored properties; None where names cannot be trusted (value clips).
    ``bound`` tells that it or a prim above it binds a material; ``subsets`` are its face sets.
    """

    prim: Usd.Prim
    path: str
    type: str
    apis: frozenset[str]
    name: str
    schemas: PrimSchemas
    opinions: Opinions
    authored: frozenset[str] | None
    owner: str = ""
    parent_owner: str = ""
    visible: bool = True
    purpose: str = "default"
    bound: bool = False
    subsets: list[FoundPrim] | None = None

    def instances_of(self, api: str) -> list[str]:
        """Instance names of a multiple-apply API, sorted."""
        known = self.schemas.instances.get(api)
        if known is None:
            prefix = f"{api}:"
            known = sorted(name[len(prefix) :] for name in self.apis if name.startswith(prefix))
            self.schemas.instances[api] = known
        return known

    def may_author(self, name: str) -> bool:
        """Can there be an opinion about the property?"""
        return self.authored is None or name in self.authored


def list_apis(prim: Usd.Prim) -> frozenset[str]:
    """Applied API schemas, registered or not."""
    # GetAppliedSchemas leaves out schemas that are not registered; the type info has them, but not built-in
    # ones
    return frozenset(prim.GetPrimTypeInfo().GetAppliedAPISchemas()) | frozenset(prim.GetAppliedSchemas())


_DISPLAY = frozenset({"visibility", "purpose"})
# by schema names and not by classes of pxr: schemas of ROS, Newton and MuJoCo need no plugin this way
_KINDS: tuple[tuple[str, Callable[[PrimSchemas], bool]], ...] = (
    ("bodies", lambda s: RIGID_BODY in s.apis),
    ("joints", lambda s: s.type in JOINT_TYPES),
    ("geometry", lambda s: s.is_gprim and not s.apis & GEOMETRY_SITE_APIS),
    ("instancers", lambda s: s.type == "PointInstancer"),
    ("scenes", lambda s: s.type == "PhysicsScene"),
    ("materials", lambda s: s.type == "Material"),
    ("groups", lambda s: s.type == "PhysicsCollisionGroup"),
    ("articulations", lambda s: ARTICULATION in s.apis),
    ("cameras", lambda s: s.type == "Camera"),
    ("lights", lambda s: "LightAPI" in s.apis),
    ("sites", lambda s: bool(s.apis & SITE_APIS)),
    ("ros", lambda s: bool(s.apis & ROS_APIS)),
    ("controllers", lambda s: any(api.startswith("RosControl") for api in s.apis)),
    ("stray_colliders", lambda s: COLLISION in s.apis and not s.is_gprim),
)


_SORTS: dict[tuple[str, ...], PrimSchemas] = {}
_MOST_SORTS = 2000
"""Entries that are kept; a file with more of them than that starts anew."""


def find_sort(prim: Usd.Prim) -> PrimSchemas:
    """The sort of a prim, made when it is the first of its kind in the process."""
    info = type_of(prim)
    # the schema type differs from the type name where a layer names a fallback for an unregistered type
    key = (info.GetTypeName(), info.GetSchemaTypeName(), *info.GetAppliedAPISchemas())
    sort = _SORTS.get(key)
    if sort is None:
        if len(_SORTS) >= _MOST_SORTS:
            _SORTS.clear()
        sort = _SORTS[key] = _make_sort(prim)
    return sort


_OUTLINES: dict[tuple[PrimSchemas, tuple[str, ...]], PrimOutline] = {}


def _find_outline(prim: Usd.Prim, sort: PrimSchemas | None) -> PrimOutline:
    """The outline of a prim, made when it is the first of its kind in the process."""
    key = sort or find_sort(prim), tuple(names_of(prim))
    outline = _OUTLINES.get(key)
    if outline is None:
        if len(_OUTLINES) >= _MOST_SORTS:
            _OUTLINES.clear()
        binds = any(name.startswith("material:binding") for name in key[1])
        displays = key[0].is_imageable and not _DISPLAY.isdisjoint(key[1])
        outline = _OUTLINES[key] = PrimOutline(key[0], frozenset(key[1]), binds, displays)
    return outline


class OpinionCache:
    """What layers say about the prims met so far."""

    __slots__ = ("_opinions", "_shares")

    def __init__(self, shares: bool = False) -> None:
        """``shares``: prims may come from the same specs, so these are compared."""
        self._shares = shares
        self._opinions: dict[tuple[Any, ...], Opinions] = {}

    def look(self, prim: Usd.Prim, sort: PrimSchemas | None = None) -> Opinions:
        """What is said about a prim; ``sort`` is its own where it is known."""
        if not self._shares:
            return Opinions(_find_outline(prim, sort))
        # prims of the same specs have the same values, unless something above shifts time (see may_share)
        key = tuple(specs_of(prim))
        known = self._opinions.get(key)
        if known is None:
            known = self._opinions[key] = Opinions(_find_outline(prim, sort))
        return known


def may_share(stage: Usd.Stage, time: Usd.TimeCode) -> bool:
    """Do many prims have the same specs?  Not without arcs to other layers; references may shift time."""
    if is_plain(stage):
        return False
    # layers beyond the layer stack come by references, payloads or inherits
    return bool(time.IsDefault()) and len(stage.GetUsedLayers()) > len(stage.GetLayerStack())


def _make_sort(prim: Usd.Prim) -> PrimSchemas:
    info = prim.GetPrimTypeInfo()
    sort = PrimSchemas(
        type=str(prim.GetTypeName()),
        apis=list_apis(prim),
        is_imageable=prim.IsA(UsdGeom.Imageable),
        is_xformable=prim.IsA(UsdGeom.Xformable),
        is_gprim=prim.IsA(UsdGeom.Gprim),
        is_subset=prim.IsA(UsdGeom.Subset),
        is_unknown=bool(info.GetSchemaType().isUnknown),
        builtin=frozenset(prim.GetPrimDefinition().GetPropertyNames()),
    )
    sort.kinds = tuple(kind for kind, is_kind in _KINDS if is_kind(sort))
    return sort
