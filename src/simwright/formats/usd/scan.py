# SPDX-License-Identifier: Apache-2.0
"""The one walk over the stage: every prim once, instances included, sorted by what it is; and its variant sets.

What is inherited on the way down (owning body, visibility, purpose) is noted here, so nothing later has to
climb the tree again.  OpenUSD's own physics parser is not used: it is not safe with many mesh colliders.

Finer colliders are variants that are selected before reading; looks are read beside the selected ones.
``select_fine_colliders`` is for writing other formats: the default of ``collision_fidelity`` is what every engine
takes, mostly hulls of meshes that are in the variant ``advanced``.  A file in another format should have those meshes,
since engines that need hulls make them.  ``read_look_variants`` reads the stage once per variant and keeps a
set only if none of its variants changes anything but materials and colours (REP-0158 3.7).
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
from pxr import Sdf, Usd, UsdGeom, UsdPhysics

from simwright.core.diag import Level, Reporter, Where, declare
from simwright.core.errors import SimwrightError
from simwright.core.names import NameScope
from simwright.formats.format import ReadOptions
from simwright.formats.usd.prims import COLLISION, PHYSICS_MATERIAL, RIGID_BODY, FoundPrim, PrimSchemas
from simwright.formats.usd.stage_reader import StageReader
from simwright.model.asset import Asset, Shape, scaled
from simwright.model.geometry import Geometry, Mesh, Subset
from simwright.model.material import LookVariant, RenderMaterial
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
    """Prims in stage order, all of them and by kind; one prim may be of several kinds.

    ``sorts`` are those of all prims, ``names`` all authored properties; ``is_timed`` tells that value clips may give
    values to others.
    """

    all: dict[str, FoundPrim] = field(default_factory=dict)
    bodies: list[FoundPrim] = field(default_factory=list)
    joints: list[FoundPrim] = field(default_factory=list)
    geometry: list[FoundPrim] = field(default_factory=list)
    instancers: list[FoundPrim] = field(default_factory=list)
    scenes: list[FoundPrim] = field(default_factory=list)
    materials: list[FoundPrim] = field(default_factory=list)
    groups: list[FoundPrim] = field(default_factory=list)
    articulations: list[FoundPrim] = field(default_factory=list)
    cameras: list[FoundPrim] = field(default_factory=list)
    lights: list[FoundPrim] = field(default_factory=list)
    sites: list[FoundPrim] = field(default_factory=list)
    ros: list[FoundPrim] = field(default_factory=list)
    controllers: list[FoundPrim] = field(default_factory=list)
    stray_colliders: list[FoundPrim] = field(default_factory=list)
    notes: dict[str, dict[str, Any]] = field(default_factory=dict)
    sorts: set[PrimSchemas] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    is_timed: bool = False
    joint_ends: Counter[frozenset[str]] | None = None
    """How many joints hold the same bodies, counted when somebody asks."""

    def list_sorts(self, is_wanted: Callable[[PrimSchemas], bool]) -> list[FoundPrim]:
        """The prims of some types or schemas; quick where there are none."""
        wanted = {sort for sort in self.sorts if is_wanted(sort)}
        return [found for found in self.all.values() if found.schemas in wanted] if wanted else []

    def list_authors(self, name: str) -> list[FoundPrim]:
        """The prims on which a property may be authored; quick where there are none."""
        if name not in self.names and not self.is_timed:
            return []
        return [found for found in self.all.values() if found.authored is None or name in found.authored]


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
    scan = scan_prims(reader, stage.GetPseudoRoot())
    if not reader.visuals:
        _leave_visuals(reader, scan)
    return scan


def _leave_visuals(reader: StageReader, scan: StageScan) -> None:
    """Forget geometry that nothing touches, and materials that only say how something looks."""
    tendons = scan.list_sorts(lambda sort: sort.type == "MjcTendon")
    # a tendon may go round geometry that does not collide, or an instance of such
    kept = {path for found in tendons for path in reader.get_targets(found, "mjc:path")}
    scan.geometry = [
        found for found in scan.geometry if COLLISION in found.apis or _is_at_or_below(found.path, kept)
    ]
    scan.materials = [found for found in scan.materials if PHYSICS_MATERIAL in found.apis]


def _is_at_or_below(path: str, places: set[str]) -> bool:
    while path and places:
        if path in places:
            return True
        path = path.rpartition("/")[0]
    return False


def scan_prims(reader: StageReader, root: Usd.Prim) -> StageScan:
    """Walk a subtree once; what a point instancer scatters is left to it."""
    scan = StageScan()
    # a subtree may inherit a binding from above, which the walk does not see
    top = _Inherited(bound=not root.IsPseudoRoot())
    known = _walk_known(reader, root)
    walk = iter(Usd.PrimRange(root, PREDICATE))
    if root.IsPseudoRoot():
        next(walk)
    for prim, sort in zip(walk, repeat(None)) if known is None else known:
        found = _find_prim(reader, scan, prim, sort, top)
        scan.all[found.path] = found
        if reader.annotated and has_custom_data(prim):
            scan.notes[found.path] = reader.notes[found.path] = read_note(prim)
        for kind in found.schemas.kinds:
            getattr(scan, kind).append(found)
        # prototypes below an instancer are not shapes where they stand
        if found.type == "PointInstancer":
            walk.PruneChildren()
    reader.founds.update(scan.all)
    outlines = {found.opinions.outline for found in scan.all.values()}
    scan.sorts = {outline.schemas for outline in outlines}
    scan.names.update(*(outline.names for outline in outlines))
    reader.names |= scan.names
    scan.is_timed = reader.timed
    return scan


def _walk_known(reader: StageReader, root: Usd.Prim) -> Sequence[tuple[Usd.Prim, PrimSchemas]] | None:
    """The prims that are wanted where somebody has walked over the stage before; None where all have to be found."""
    walked = reader.walked if root.IsPseudoRoot() else ()
    if not walked or any(sort.type == "PointInstancer" for _, sort in walked):
        return None
    return walked[1:]


@dataclass(frozen=True, slots=True, eq=False)
class _Inherited:
    """What the topmost prim of a walk inherits; the others inherit from the FoundPrim above them."""

    owner: str = ""
    visible: bool = True
    purpose: str = "default"
    bound: bool = False
    authored: frozenset[str] | None = frozenset()


def _find_prim(
    reader: StageReader, scan: StageScan, prim: Usd.Prim, sort: PrimSchemas | None, top: _Inherited
) -> FoundPrim:
    path = path_of(prim).pathString
    above, _, name = path.rpartition("/")
    parent = scan.all.get(above)
    inherited = top if parent is None else parent
    opinions = reader.opinion_cache.look(prim, sort)
    outline = opinions.outline
    schemas, authored = outline.schemas, outline.names
    # clips give values to attributes that no layer of the prim mentions
    has_clips = reader.timed and (inherited.authored is None or prim.HasAuthoredMetadata("clips"))
    owner = inherited.owner
    found = FoundPrim(
        prim,
        path,
        schemas.type,
        schemas.apis,
        name,
        schemas,
        opinions,
        None if has_clips else authored,
        path if RIGID_BODY in schemas.apis else owner,
        owner,
        inherited.visible,
        inherited.purpose,
        outline.binds or inherited.bound,
    )
    if outline.displays or (has_clips and schemas.is_imageable):
        _read_imageable(reader, found)
    if schemas.is_subset and parent is not None and reader.get(found, "elementType") == UsdGeom.Tokens.face:
        parent.subsets = [*(parent.subsets or ()), found]
    return found


def _read_imageable(reader: StageReader, found: FoundPrim) -> None:
    """Visibility and purpose, where the prim has a say in what it inherits."""
    if found.may_author("visibility"):
        # an invisible prim hides all below it, whatever they say themselves
        found.visible = found.visible and reader.get(found, "visibility") != UsdGeom.Tokens.invisible
    if found.may_author("purpose"):
        found.purpose = str(reader.get_authored(found, "purpose") or found.purpose)


SET, FINE = "collision_fidelity", "advanced"
_HULL = UsdPhysics.Tokens.convexHull

Colliders = dict[Sdf.Path, str]
"""Prim types by path."""


def select_fine_colliders(stage: Usd.Stage, chosen: Mapping[str, str]) -> None:
    """Select the meshes of hulls in the session layer; nothing where ``chosen`` has the variant set."""
    if SET in chosen:
        return
    # selected for all holders first and taken back where the prims differ: each selection composes the stage
    # again
    hulls = {prim.GetPath(): found for prim in _list_holders(stage) if (found := _list_hulls(prim))}
    _select(stage, dict.fromkeys(hulls, FINE))
    other = {path for path, found in hulls.items() if _list_colliders(stage.GetPrimAtPath(path)) != found}
    _select(stage, dict.fromkeys(other, ""))


def _list_holders(stage: Usd.Stage) -> list[Usd.Prim]:
    """Prims at which the finer colliders can be chosen, and are not."""
    found = []
    for prim in Usd.PrimRange(stage.GetDefaultPrim() or stage.GetPseudoRoot()):
        if not prim.HasVariantSets():
            continue
        variants = prim.GetVariantSets().GetVariantSet(SET)
        if FINE in variants.GetVariantNames() and variants.GetVariantSelection() != FINE:
            found.append(prim)
    return found


def _list_hulls(holder: Usd.Prim) -> Colliders:
    """Colliders below a prim if each mesh of them is a hull, else nothing."""
    colliders = _list_colliders(holder)
    stage = holder.GetStage()
    meshes = [path for path, kind in colliders.items() if kind == "Mesh"]
    words = {
        UsdPhysics.MeshCollisionAPI(stage.GetPrimAtPath(path)).GetApproximationAttr().Get() for path in meshes
    }
    return colliders if words == {_HULL} else {}


def _list_colliders(holder: Usd.Prim) -> Colliders:
    return {
        prim.GetPath(): str(prim.GetTypeName())
        for prim in Usd.PrimRange(holder, Usd.TraverseInstanceProxies())
        if prim.HasAPI(UsdPhysics.CollisionAPI) and prim.IsA(UsdGeom.Gprim)
    }


def _select(stage: Usd.Stage, selections: Mapping[Sdf.Path, str]) -> None:
    """All at once, which composes the stage again once; an empty name leaves it to the layers."""
    layer = stage.GetSessionLayer()
    # without the block the stage would compose again for every prim
    with Sdf.ChangeBlock():
        for path, name in selections.items():
            spec = Sdf.CreatePrimInLayer(layer, path)
            if name:
                spec.variantSelections[SET] = name
            else:
                del spec.variantSelections[SET]


VARIANTS_BASELINE = declare(
    "usd-variants-baseline",
    Level.INFO,
    "variant set {name!r} changes {what}; only its selection {selected!r} is read",
    hint="--variant {name}=... selects another",
    doc="Only variants that change nothing but looks are carried beside the selected one.",
    section="3.7",
)
# each variant is a whole reading
MAX_VARIANTS = 32
"""Variants of a set that are evaluated; a set with more is taken as it is selected."""
_LOOK_TYPES = frozenset({"", "Material", "Shader", "NodeGraph", "Scope"})
_LOOK_PROPERTIES = (
    "material:binding", "inputs:", "outputs:", "info:", "primvars:displayColor", "primvars:displayOpacity",
)  # fmt: skip

Read = Callable[[Path, ReadOptions, Reporter], Asset]


# one loop: every step may end the set, and says why
def read_look_variants(
    stage: Usd.Stage, path: Path, options: ReadOptions, reporter: Reporter, *, asset: Asset, read: Read
) -> None:
    """Add the looks of every variant set that changes nothing else; ``read`` reads the file with other selections."""
    names = NameScope(material.name for material in asset.materials)
    for set_name, (selected, variants, prims) in _list_sets(stage, options).items():
        what = _find_change(prims, set_name)
        if not what and len(variants) > MAX_VARIANTS:
            what = f"among {len(variants)} looks"
        found: list[LookVariant] = []
        for variant in () if what else variants:
            if variant == selected:
                found.append(LookVariant(set_name, variant))
                continue
            chosen = dataclasses.replace(
                options, look_variants=False, variants={**options.variants, set_name: variant}
            )
            # a variant may lead to layers that are missing; that is no reason to refuse the asset
            try:
                other = read(path, chosen, Reporter())
            except SimwrightError:
                what = f"to {variant!r}, which cannot be read"
                break
            what = _compare(asset, other)
            if what:
                break
            found.append(_find_looks(asset, other, LookVariant(set_name, variant), names))
        if what:
            where = Where(str(path), prim=str(prims[0].GetPath()))
            reporter.report(VARIANTS_BASELINE, where, name=set_name, what=what, selected=selected)
        elif any(variant.materials for variant in found):
            asset.look_variants += found


def list_variants(path: Path, options: ReadOptions) -> dict[str, tuple[str, list[str]]]:
    """Variant sets that leave a choice, at the variants of ``options``: what is selected, and all there are."""
    from simwright.usd.open import open_stage

    told = Reporter()
    gate = options.make_gate(path, told)
    stage = open_stage(path, packages=options.packages, variants=options.variants, reporter=told, gate=gate)
    # also those that were chosen: another choice is left
    found = _list_sets(stage, replace(options, variants={}))
    return {name: (selected, names) for name, (selected, names, _) in found.items()}


def _list_sets(stage: Usd.Stage, options: ReadOptions) -> dict[str, tuple[str, list[str], list[Usd.Prim]]]:
    """Sets with a choice that nobody made: selection, variants, prims."""
    result: dict[str, tuple[str, list[str], list[Usd.Prim]]] = {}
    for prim in Usd.PrimRange(stage.GetDefaultPrim() or stage.GetPseudoRoot()):
        if not prim.HasVariantSets():
            continue
        for name in prim.GetVariantSets().GetNames():
            variants = prim.GetVariantSets().GetVariantSet(name)
            if name in options.variants or len(variants.GetVariantNames()) < 2:
                continue
            _, known, prims = result.setdefault(name, (variants.GetVariantSelection(), [], []))
            known += [variant for variant in variants.GetVariantNames() if variant not in known]
            prims.append(prim)
    return dict(sorted(result.items()))


def _find_change(prims: list[Usd.Prim], set_name: str) -> str:
    """What the layers say that is no look; empty where only reading can tell."""
    for prim in prims:
        for spec in prim.GetPrimStack():
            variant_set = spec.variantSets.get(set_name)
            for variant in variant_set.variants.values() if variant_set else ():
                for inner in _walk(variant.primSpec):
                    what = _look_at(inner, inner == variant.primSpec)
                    if what:
                        return what
    return ""


def _walk(spec: Sdf.PrimSpec) -> Iterator[Sdf.PrimSpec]:
    pending = [spec]
    while pending:
        here = pending.pop()
        yield here
        pending += list(here.nameChildren)


def _look_at(spec: Sdf.PrimSpec, is_top: bool) -> str:
    if spec.typeName not in _LOOK_TYPES and spec.specifier == Sdf.SpecifierDef and not is_top:
        return f"prims ({spec.typeName})"
    if spec.HasInfo("active"):
        return "which prims there are"
    for name in (prop.name for prop in spec.properties):
        if not name.startswith(_LOOK_PROPERTIES):
            return f"properties ({name})"
    return ""


def _compare(a: Asset, b: Asset) -> str:
    """What differs that is no look; empty for nothing."""
    for what in ("bodies", "joints", "shapes", "sites", "cameras", "lights"):
        if [element.name for element in getattr(a, what)] != [element.name for element in getattr(b, what)]:
            return what
    if any(not x.pose.is_close(y.pose) for x, y in zip(a.bodies, b.bodies, strict=True)):
        return "where bodies are"
    if any(not _is_same_shape(x, y) for x, y in zip(a.shapes, b.shapes, strict=True)):
        return "shapes"
    return ""


def _is_same_shape(a: Shape, b: Shape) -> bool:
    flags = [(s.body, s.visual, s.collision, s.purpose, s.double_sided) for s in (a, b)]
    if flags[0] != flags[1] or not a.pose.is_close(b.pose) or not np.allclose(scaled(a), scaled(b)):
        return False
    return _is_same_geometry(a.geometry, b.geometry)


def _is_same_geometry(a: Geometry, b: Geometry) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, Mesh) and isinstance(b, Mesh):
        one, two = a.data, b.data
        names = ("vertices", "indices", "counts", "normals", "uvs")
        sets = [[subset.faces.tolist() for subset in data.subsets] for data in (one, two)]
        return sets[0] == sets[1] and all(_is_equal(getattr(one, n), getattr(two, n)) for n in names)
    return all(
        _is_equal(getattr(a, field.name), getattr(b, field.name))
        for field in dataclasses.fields(a)  # type: ignore[arg-type]
    )


def _is_equal(a: object, b: object) -> bool:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return np.array_equal(a, b)
    # comparing arrays by == gives an array
    return a is b or (not isinstance(a, np.ndarray) and not isinstance(b, np.ndarray) and a == b)


def _find_looks(asset: Asset, other: Asset, variant: LookVariant, names: NameScope) -> LookVariant:
    """Which shapes and face sets look different, with the materials they wear then."""
    known = {material.name: material for material in asset.materials}
    theirs = {material.name: material for material in other.materials}
    renamed: dict[str, str] = {}

    def bring(name: str) -> str:
        """The name in the asset of a material of the variant."""
        if name not in renamed:
            material = theirs[name]
            twin = known.get(name)
            if twin is not None and dataclasses.replace(material, source=twin.source) == twin:
                renamed[name] = name
            else:
                renamed[name] = names.claim(f"{name}_{variant.name}")
                asset.materials.append(dataclasses.replace(material, name=renamed[name]))
        return renamed[name]

    for ours, shape in zip(asset.shapes, other.shapes, strict=True):
        if shape.material in theirs:
            look = bring(shape.material)
        elif ours.material or shape.color != ours.color:
            look = _paint(asset, shape, variant, names)
        else:
            look = ""
        if look != ours.material:
            variant.materials[ours.name, ""] = look
        for mine, subset in zip(_list_subsets(ours), _list_subsets(shape), strict=True):
            look = bring(subset.material) if subset.material in theirs else subset.material
            if look != mine.material:
                variant.materials[ours.name, mine.name] = look
    return variant


def _list_subsets(shape: Shape) -> tuple[Subset, ...]:
    return shape.geometry.data.subsets if isinstance(shape.geometry, Mesh) else ()


def _paint(asset: Asset, shape: Shape, variant: LookVariant, names: NameScope) -> str:
    """A material for a shape that has only a colour."""
    red, green, blue, alpha = shape.color or (0.735, 0.735, 0.735, 1.0)
    name = names.claim(f"{shape.name}_{variant.name}")
    asset.materials.append(RenderMaterial(name, diffuse=(red, green, blue), opacity=alpha))
    return name
