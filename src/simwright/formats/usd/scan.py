# SPDX-License-Identifier: Apache-2.0
"""The one walk over the stage: every prim once, instances included, sorted by what it is.

What is inherited on the way down (owning body, visibility, purpose) is noted here, so nothing later has to
climb the tree again.  OpenUSD's own physics parser is not used: it is not safe with many mesh colliders.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pxr import Usd, UsdGeom

from simwright.core.diag import Level, declare
from simwright.formats.usd.prims import RIGID_BODY, FoundPrim
from simwright.formats.usd.stage_reader import StageReader
from simwright.usd.notes import read_note
from simwright.usd.questions import has_custom_data, path_of

PAYLOAD_UNLOADED = declare(
    "usd-payload-unloaded",
    Level.WARNING,
    "{count} payload(s) are not loaded, the first at {first}; their content is not read",
    hint="open the stage with all payloads",
    doc="The stage was opened without some payloads, so the asset is incomplete.",
    loss=True,
)

PREDICATE = Usd.TraverseInstanceProxies(Usd.PrimDefaultPredicate)


@dataclass(slots=True, eq=False)
class StageScan:
    """Prims in stage order, all of them and by kind; one prim may be of several kinds."""

    all: dict[str, FoundPrim] = field(default_factory=dict)
    bodies: list[FoundPrim] = field(default_factory=list)
    joints: list[FoundPrim] = field(default_factory=list)
    geometry: list[FoundPrim] = field(default_factory=list)
    instancers: list[FoundPrim] = field(default_factory=list)
    scenes: list[FoundPrim] = field(default_factory=list)
    materials: list[FoundPrim] = field(default_factory=list)
    groups: list[FoundPrim] = field(default_factory=list)
    filtered: list[FoundPrim] = field(default_factory=list)
    articulations: list[FoundPrim] = field(default_factory=list)
    cameras: list[FoundPrim] = field(default_factory=list)
    lights: list[FoundPrim] = field(default_factory=list)
    sites: list[FoundPrim] = field(default_factory=list)
    ros: list[FoundPrim] = field(default_factory=list)
    controllers: list[FoundPrim] = field(default_factory=list)
    stray_colliders: list[FoundPrim] = field(default_factory=list)
    notes: dict[str, dict[str, Any]] = field(default_factory=dict)


def scan_stage(reader: StageReader) -> StageScan:
    """Walk the whole stage once."""
    stage = reader.stage
    # payloads may be left out by the caller, who has then to know what is missing
    loaded = set(stage.GetLoadSet())
    missing = [path for path in stage.FindLoadable() if path not in loaded]
    if missing:
        reader.reporter.report(
            PAYLOAD_UNLOADED,
            reader.where(stage.GetPseudoRoot()),
            count=len(missing),
            first=str(min(missing)),
        )
    return scan_prims(reader, stage.GetPseudoRoot())


def scan_prims(reader: StageReader, root: Usd.Prim) -> StageScan:
    """Walk a subtree once; what a point instancer scatters is left to it."""
    scan = StageScan()
    # a subtree may inherit a binding from above, which the walk does not see
    top = _Inherited(bound=not root.IsPseudoRoot())
    walk = iter(Usd.PrimRange(root, PREDICATE))
    if root.IsPseudoRoot():
        next(walk)
    for prim in walk:
        found = _find_prim(reader, scan, prim, top)
        scan.all[found.path] = reader.founds[found.path] = found
        if reader.annotated and has_custom_data(prim):
            scan.notes[found.path] = reader.notes[found.path] = read_note(prim)
        for kind in found.schemas.kinds:
            getattr(scan, kind).append(found)
        # by the relationship and not by its API: files author it without applying PhysicsFilteredPairsAPI
        if found.authored is None or "physics:filteredPairs" in found.authored:
            scan.filtered.append(found)
        # prototypes below an instancer are not shapes where they stand
        if found.type == "PointInstancer":
            walk.PruneChildren()
    return scan


@dataclass(frozen=True, slots=True, eq=False)
class _Inherited:
    """What the topmost prim of a walk inherits; the others inherit from the FoundPrim above them."""

    owner: str = ""
    visible: bool = True
    purpose: str = "default"
    bound: bool = False
    authored: frozenset[str] | None = frozenset()


def _find_prim(reader: StageReader, scan: StageScan, prim: Usd.Prim, top: _Inherited) -> FoundPrim:
    path = path_of(prim).pathString
    above, _, name = path.rpartition("/")
    parent = scan.all.get(above)
    inherited = top if parent is None else parent
    opinions = reader.opinion_cache.look(prim)
    schemas = opinions.schemas
    authored: frozenset[str] | None = opinions.names
    # clips give values to attributes that no layer of the prim mentions
    if reader.timed and (inherited.authored is None or prim.HasAuthoredMetadata("clips")):
        authored = None
    owner = inherited.owner
    found = FoundPrim(
        prim,
        path,
        schemas.type,
        schemas.apis,
        name,
        schemas,
        opinions,
        authored,
        path if RIGID_BODY in schemas.apis else owner,
        owner,
        inherited.visible,
        inherited.purpose,
        opinions.binds or inherited.bound,
    )
    _read_imageable(reader, found)
    if schemas.is_subset and parent is not None and reader.get(found, "elementType") == UsdGeom.Tokens.face:
        parent.subsets = [*(parent.subsets or ()), found]
    return found


def _read_imageable(reader: StageReader, found: FoundPrim) -> None:
    """Visibility and purpose, where the prim has a say in what it inherits."""
    if not found.schemas.is_imageable:
        return
    if found.may_author("visibility"):
        # an invisible prim hides all below it, whatever they say themselves
        found.visible = found.visible and reader.get(found, "visibility") != UsdGeom.Tokens.invisible
    if found.may_author("purpose"):
        found.purpose = str(reader.get_authored(found, "purpose") or found.purpose)
