# SPDX-License-Identifier: Apache-2.0
"""The one walk over the stage: every prim once, instances included, sorted by what it is.

What is inherited on the way down (owning body, visibility, purpose) is noted here, so nothing later has to
climb the tree again.  OpenUSD's own physics parser is not used: it is not safe with many mesh colliders.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from pxr import Usd, UsdGeom

from simwright.core.diag import Level, declare
from simwright.formats.usd.source import Source

PAYLOAD_UNLOADED = declare(
    "usd-payload-unloaded",
    Level.WARNING,
    "{count} payload(s) are not loaded, the first at {first}; their content is not read",
    hint="open the stage with all payloads",
    doc="The stage was opened without some payloads, so the asset is incomplete.",
)

RIGID_BODY = "PhysicsRigidBodyAPI"
COLLISION = "PhysicsCollisionAPI"
MASS = "PhysicsMassAPI"
ARTICULATION = "PhysicsArticulationRootAPI"
FILTERED_PAIRS = "PhysicsFilteredPairsAPI"
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
SITE_APIS = frozenset({"RosFrameAPI", "NewtonSiteAPI", "MjcSiteAPI"})
GEOMETRY_SITE_APIS = frozenset({"NewtonSiteAPI", "MjcSiteAPI"})
ROS_APIS = frozenset({"RosContextAPI", "RosTopicAPI", "RosServiceAPI", "RosActionAPI"})
PREDICATE = Usd.TraverseInstanceProxies(Usd.PrimDefaultPredicate)


@dataclass(slots=True, eq=False)
class Found:
    """A prim and what it inherits.  ``owner`` is the path of the body it moves with, empty for none."""

    prim: Usd.Prim
    path: str
    type: str
    apis: frozenset[str]
    owner: str = ""
    parent_owner: str = ""
    visible: bool = True
    purpose: str = "default"

    def instances_of(self, api: str) -> list[str]:
        """Instance names of a multiple-apply API, sorted."""
        prefix = f"{api}:"
        return sorted(name[len(prefix) :] for name in self.apis if name.startswith(prefix))


@dataclass(slots=True, eq=False)
class Scan:
    """Prims in stage order, all of them and by kind; one prim may be of several kinds."""

    all: dict[str, Found] = field(default_factory=dict)
    bodies: list[Found] = field(default_factory=list)
    joints: list[Found] = field(default_factory=list)
    geometry: list[Found] = field(default_factory=list)
    instancers: list[Found] = field(default_factory=list)
    scenes: list[Found] = field(default_factory=list)
    materials: list[Found] = field(default_factory=list)
    groups: list[Found] = field(default_factory=list)
    filtered: list[Found] = field(default_factory=list)
    articulations: list[Found] = field(default_factory=list)
    cameras: list[Found] = field(default_factory=list)
    lights: list[Found] = field(default_factory=list)
    sites: list[Found] = field(default_factory=list)
    ros: list[Found] = field(default_factory=list)
    controllers: list[Found] = field(default_factory=list)
    stray_colliders: list[Found] = field(default_factory=list)


_KINDS: tuple[tuple[str, Callable[[Found], bool]], ...] = (
    ("bodies", lambda f: RIGID_BODY in f.apis),
    ("joints", lambda f: f.type in JOINT_TYPES),
    ("geometry", lambda f: f.prim.IsA(UsdGeom.Gprim) and not f.apis & GEOMETRY_SITE_APIS),
    ("instancers", lambda f: f.type == "PointInstancer"),
    ("scenes", lambda f: f.type == "PhysicsScene"),
    ("materials", lambda f: f.type == "Material"),
    ("groups", lambda f: f.type == "PhysicsCollisionGroup"),
    ("filtered", lambda f: FILTERED_PAIRS in f.apis or f.prim.HasRelationship("physics:filteredPairs")),
    ("articulations", lambda f: ARTICULATION in f.apis),
    ("cameras", lambda f: f.type == "Camera"),
    ("lights", lambda f: "LightAPI" in f.apis),
    ("sites", lambda f: bool(f.apis & SITE_APIS)),
    ("ros", lambda f: bool(f.apis & ROS_APIS)),
    ("controllers", lambda f: any(api.startswith("RosControl") for api in f.apis)),
    ("stray_colliders", lambda f: COLLISION in f.apis and not f.prim.IsA(UsdGeom.Gprim)),
)


def scan_stage(source: Source) -> Scan:
    """Walk the whole stage once."""
    stage = source.stage
    loaded = set(stage.GetLoadSet())
    missing = [path for path in stage.FindLoadable() if path not in loaded]
    if missing:
        source.reporter.report(
            PAYLOAD_UNLOADED,
            source.where(stage.GetPseudoRoot()),
            count=len(missing),
            first=str(min(missing)),
        )
    return scan_prims(source, stage.GetPseudoRoot())


def scan_prims(source: Source, root: Usd.Prim) -> Scan:
    """Walk a subtree once; what a point instancer scatters is left to it."""
    scan = Scan()
    walk = iter(Usd.PrimRange(root, PREDICATE))
    for prim in walk:
        if prim.IsPseudoRoot():
            continue
        found = _look_at(source, scan, prim)
        scan.all[found.path] = found
        for kind, is_kind in _KINDS:
            if is_kind(found):
                getattr(scan, kind).append(found)
        if found.type == "PointInstancer":
            walk.PruneChildren()
    return scan


def list_apis(prim: Usd.Prim) -> frozenset[str]:
    """Applied API schemas, registered or not."""
    return frozenset(prim.GetPrimTypeInfo().GetAppliedAPISchemas()) | frozenset(prim.GetAppliedSchemas())


def _look_at(source: Source, scan: Scan, prim: Usd.Prim) -> Found:
    found = Found(prim, str(prim.GetPath()), str(prim.GetTypeName()), list_apis(prim))
    parent = scan.all.get(str(prim.GetPath().GetParentPath()))
    if parent is not None:
        found.parent_owner = parent.owner
        found.visible, found.purpose = parent.visible, parent.purpose
    found.owner = found.path if RIGID_BODY in found.apis else found.parent_owner
    if prim.IsA(UsdGeom.Imageable):
        imageable = UsdGeom.Imageable(prim)
        if imageable.GetVisibilityAttr().Get(source.time) == UsdGeom.Tokens.invisible:
            found.visible = False
        purpose = imageable.GetPurposeAttr()
        if purpose.HasAuthoredValue():
            found.purpose = str(purpose.Get())
    return found
