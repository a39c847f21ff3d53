# SPDX-License-Identifier: Apache-2.0
"""What each layer holds: domains of its opinions, arcs, asset paths, array sizes and its role.

Roles are decided by what a layer holds, never by its file name (REP-0158 1.2.1 names files, but converters
name them otherwise).
"""

from __future__ import annotations

import enum
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pxr import Sdf

from simwright.check.vendors import vendor_of_property, vendor_of_schema

if TYPE_CHECKING:
    from simwright.check.snapshot import Snapshot


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


FEATURES = (Domain.PHYSICS, Domain.EXTENDED, Domain.ROS, Domain.CONTROL, Domain.SENSOR, Domain.VENDOR)
"""Domains that belong in overlay layers of their own."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """One opinion that rules want to point at: an applied API, a typed prim or a property."""

    path: Sdf.Path
    domain: Domain
    what: str
    """The API, type or property name."""
    kind: str
    """``api``, ``type`` or ``property``."""
    vendor: str = ""


@dataclass(frozen=True, slots=True)
class Arc:
    """A composition arc as authored: ``kind`` is reference, payload, sublayer, inherit or specialize."""

    kind: str
    path: Sdf.Path
    asset: str
    target: Sdf.Path


@dataclass(frozen=True, slots=True)
class AssetPath:
    """An asset-valued opinion: the attribute or metadata path, and the text authored."""

    path: Sdf.Path
    text: str


@dataclass(frozen=True, slots=True)
class HeavyArray:
    """An array-valued opinion: its attribute path, elements and bytes."""

    path: Sdf.Path
    elements: int
    bytes: int


@dataclass(slots=True)
class LayerFacts:
    """One layer of the stage."""

    layer: Sdf.Layer
    is_root: bool = False
    opinions: list[Opinion] = field(default_factory=list)
    counts: Counter[Domain] = field(default_factory=Counter)
    arcs: list[Arc] = field(default_factory=list)
    asset_paths: list[AssetPath] = field(default_factory=list)
    arrays: list[HeavyArray] = field(default_factory=list)
    relationships: int = 0
    defines: Counter[Domain] = field(default_factory=Counter)
    """Prims with specifier ``def`` and a type, by domain."""

    @property
    def name(self) -> str:
        """File name to show."""
        return Path(str(self.layer.realPath or self.layer.identifier)).name

    @property
    def encoding(self) -> str:
        """``usda``, ``usdc`` or another format id: what the bytes are, not what the name says."""
        return encoding_of(self.layer)

    @property
    def has_payloads(self) -> bool:
        """Does any prim in it have a payload?"""
        return any(arc.kind == "payload" for arc in self.arcs)

    @property
    def elements(self) -> int:
        """Array elements in the layer."""
        return sum(array.elements for array in self.arrays)

    @property
    def bytes(self) -> int:
        """Array bytes in the layer."""
        return sum(array.bytes for array in self.arrays)

    @property
    def domains(self) -> set[Domain]:
        """Domains the layer has opinions in."""
        return set(self.counts)

    @property
    def features(self) -> set[Domain]:
        """Feature domains (physics, ROS ...) it has opinions in."""
        return {domain for domain in FEATURES if self.counts[domain]}

    @property
    def vendors(self) -> set[str]:
        """Vendors it has opinions of."""
        return {opinion.vendor for opinion in self.opinions if opinion.vendor}

    @property
    def role(self) -> str:
        """One word: a feature domain, material, geometry, base, entry, empty or mixed.

        Neutral plumbing (Xform and Scope overs) does not count against a role; a layer of two feature
        domains, or of a feature and geometry, is mixed.
        """
        features = self.features - {Domain.CONTROL} if self.counts[Domain.ROS] else self.features
        heavy = self.defines[Domain.GEOMETRY] > 0 or bool(self.arrays)
        looks = self.counts[Domain.MATERIAL] > 0
        if len(features) == 1 and not heavy:
            feature = next(iter(features))
            # physics materials are Material prims that live in the physics layer
            return feature.value if feature is Domain.PHYSICS or not looks else "mixed"
        if features:
            return "mixed"
        if heavy:
            return "mixed" if looks else "geometry"
        if looks:
            return "material"
        if self.counts[Domain.KINEMATIC]:
            return "entry" if self.is_root else "base"
        return "entry" if self.is_root else "empty"


def encoding_of(layer: Sdf.Layer) -> str:
    """Real encoding of a layer: the format id, resolved for ``.usd`` by the leading bytes."""
    format_id: str = layer.GetFileFormat().formatId
    if format_id != "usd" or not layer.realPath:
        return format_id
    try:
        with open(layer.realPath, "rb") as stream:  # noqa: PTH123 - a layer path may be inside a package
            return "usdc" if stream.read(8) == b"PXR-USDC" else "usda"
    except OSError:
        return format_id


def gather_layers(snapshot: Snapshot) -> list[LayerFacts]:
    """Facts of every layer used, the root layer first, session and anonymous helper layers aside."""
    stage = snapshot.stage
    session = stage.GetSessionLayer()
    used = [layer for layer in stage.GetUsedLayers(includeClipLayers=True) if layer != session]
    root = snapshot.root_layer
    others = sorted((layer for layer in used if layer != root), key=lambda layer: layer.identifier)
    return [gather_layer(layer, is_root=layer == root) for layer in (root, *others)]


def gather_layer(layer: Sdf.Layer, *, is_root: bool = False) -> LayerFacts:
    """Walk the specs of one layer, variants included."""
    facts = LayerFacts(layer, is_root)
    facts.arcs.extend(
        Arc("sublayer", Sdf.Path.absoluteRootPath, path, Sdf.Path()) for path in layer.subLayerPaths
    )
    paths: list[Sdf.Path] = []
    layer.Traverse(Sdf.Path.absoluteRootPath, paths.append)
    for path in paths:
        if path.IsPrimPropertyPath():
            _gather_property(facts, path)
        elif path.IsPrimPath() or path.IsPrimVariantSelectionPath():
            _gather_prim(facts, path)
    return facts


def _gather_prim(facts: LayerFacts, path: Sdf.Path) -> None:
    spec = facts.layer.GetPrimAtPath(path)
    if spec is None:
        return
    if path.IsPrimPath() and spec.typeName:
        domain = domain_of_type(spec.typeName)
        if domain is not None:
            _note(facts, path, domain, spec.typeName, "type")
            if spec.specifier == Sdf.SpecifierDef:
                facts.defines[domain] += 1
    if spec.HasInfo("apiSchemas"):
        for name in _listed(spec.GetInfo("apiSchemas")):
            domain = domain_of_api(name)
            if domain is not None:
                _note(facts, path, domain, name, "api")
    for kind, key in (("reference", "references"), ("payload", "payload"), ("inherit", "inheritPaths"),
                      ("specialize", "specializes")):  # fmt: skip
        if spec.HasInfo(key):
            _gather_arcs(facts, path, kind, _listed(spec.GetInfo(key)))


def _gather_arcs(facts: LayerFacts, path: Sdf.Path, kind: str, items: list[Any]) -> None:
    for item in items:
        if isinstance(item, Sdf.Path):
            facts.arcs.append(Arc(kind, path, "", item))
        else:
            facts.arcs.append(Arc(kind, path, item.assetPath, item.primPath))


def _listed(operation: Any) -> list[Any]:
    """Every item a list operation adds (explicit, prepended, appended, added); deletions do not count."""
    return [
        *operation.explicitItems,
        *operation.prependedItems,
        *operation.appendedItems,
        *operation.addedItems,
    ]


def _gather_property(facts: LayerFacts, path: Sdf.Path) -> None:
    name = path.name
    domain = domain_of_property(name)
    if domain is not None:
        _note(facts, path, domain, name, "property")
    kind = _array_kind(name)
    if kind == "plain":
        return
    spec = facts.layer.GetAttributeAtPath(path)
    if spec is None:
        facts.relationships += 1
        return
    if spec.typeName.isArray:
        _gather_array(facts, path, spec)
    if spec.typeName.cppTypeName.startswith(("SdfAssetPath", "VtArray<SdfAssetPath")):
        _gather_assets(facts, path, spec)


def _gather_array(facts: LayerFacts, path: Sdf.Path, spec: Sdf.AttributeSpec) -> None:
    elements, size = 0, _element_bytes(spec.typeName.scalarType.cppTypeName)
    if spec.HasDefaultValue():
        elements += _length(spec.default)
    if spec.HasInfo("timeSamples"):
        layer = facts.layer
        elements += sum(_length(layer.QueryTimeSample(path, t)) for t in layer.ListTimeSamplesForPath(path))
    if elements:
        facts.arrays.append(HeavyArray(path, elements, elements * size))


def _gather_assets(facts: LayerFacts, path: Sdf.Path, spec: Sdf.AttributeSpec) -> None:
    values = [spec.default] if spec.HasDefaultValue() else []
    values += [facts.layer.QueryTimeSample(path, t) for t in facts.layer.ListTimeSamplesForPath(path)]
    for value in values:
        items = [value] if isinstance(value, Sdf.AssetPath) else list(value or ())
        facts.asset_paths.extend(
            AssetPath(path, item.path) for item in items if isinstance(item, Sdf.AssetPath)
        )


def _length(value: Any) -> int:
    try:
        return len(value)
    except TypeError:
        return 0


def _note(facts: LayerFacts, path: Sdf.Path, domain: Domain, what: str, kind: str) -> None:
    vendor = ""
    if domain is Domain.VENDOR:
        vendor = (vendor_of_property(what) if kind == "property" else vendor_of_schema(what)) or ""
    facts.counts[domain] += 1
    if domain not in (Domain.GEOMETRY, Domain.KINEMATIC, Domain.MATERIAL) or kind != "property":
        facts.opinions.append(Opinion(path, domain, what, kind, vendor))


_GEOMETRY_TYPES = frozenset({
    "Mesh", "Points", "BasisCurves", "NurbsCurves", "NurbsPatch", "HermiteCurves", "TetMesh", "GeomSubset",
    "PointInstancer", "Cube", "Sphere", "Cylinder", "Cylinder_1", "Capsule", "Capsule_1", "Cone", "Plane",
    "Volume", "OpenVDBAsset", "ParticleField3DGaussianSplat",
})  # fmt: skip
_SMALL_GEOMETRY = frozenset({
    "orientation", "subdivisionScheme", "doubleSided", "radius", "height", "size", "axis", "width", "length",
})  # fmt: skip
_GEOMETRY_PROPERTIES = _SMALL_GEOMETRY | {
    "points", "normals", "velocities", "accelerations", "faceVertexCounts", "faceVertexIndices", "holeIndices",
    "cornerIndices", "cornerSharpnesses", "creaseIndices", "creaseLengths", "creaseSharpnesses", "extent",
    "curveVertexCounts", "widths", "knots", "protoIndices", "positions", "orientations", "scales",
    "tetVertexIndices", "indices", "elementType", "familyName", "radiusTop", "radiusBottom",
}  # fmt: skip
_PLAIN_PROPERTIES = _SMALL_GEOMETRY | {
    "xformOpOrder", "visibility", "purpose", "xformOp:translate", "xformOp:orient", "xformOp:scale",
}  # fmt: skip


@cache
def domain_of_type(name: str) -> Domain | None:
    """Domain of a prim type."""
    if vendor_of_schema(name):
        return Domain.VENDOR
    if name in _GEOMETRY_TYPES:
        return Domain.GEOMETRY
    if name in ("Material", "Shader", "NodeGraph"):
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
    for prefix, domain in (
        ("ExtendedPhysics", Domain.EXTENDED),
        ("Physics", Domain.PHYSICS),
        ("RosControl", Domain.CONTROL),
        ("Ros", Domain.ROS),
        ("Sensor", Domain.SENSOR),
    ):
        if name.startswith(prefix):
            return domain
    return None


_CONTROL = (
    "ros:diff_drive:",
    "ros:rigid_body_twist:",
    "ros:joint_trajectory:",
    "ros:joint_state_broadcaster:",
)


@cache
def domain_of_property(name: str) -> Domain | None:
    """Domain of a property; None for plumbing (visibility, purpose, collections, bindings)."""
    if name in _GEOMETRY_PROPERTIES or name.startswith("primvars:"):
        return Domain.GEOMETRY
    if name.startswith("xformOp"):
        return Domain.KINEMATIC
    if vendor_of_property(name):
        return Domain.VENDOR
    if name.startswith("ext_physics:"):
        return Domain.EXTENDED
    if name.startswith(_CONTROL):
        return Domain.CONTROL
    if name.startswith("ros:"):
        return Domain.ROS
    if name.startswith(("physics:", "drive:", "limit:", "material:binding:physics")):
        return Domain.PHYSICS
    if name.startswith(("inputs:", "outputs:", "info:")):
        return Domain.MATERIAL
    return None


@cache
def _array_kind(name: str) -> str:
    """``plain`` for properties that are never arrays nor assets, so that their spec is not opened."""
    is_number = name.startswith("physics:") and not name.startswith(_PHYSICS_RELATIONSHIPS)
    return "plain" if is_number or name in _PLAIN_PROPERTIES else "open"


_PHYSICS_RELATIONSHIPS = ("physics:body", "physics:filtered", "physics:simulationOwner", "physics:mergeGroup")
_ELEMENT_BYTES = {
    "GfMatrix4d": 128, "GfMatrix3d": 72, "4d": 32, "3d": 24, "2d": 16, "4f": 16, "3f": 12, "2f": 8, "3h": 6,
    "2h": 4, "Quatf": 16, "Quath": 8, "Quatd": 32, "double": 8, "int64": 8, "float": 4, "int": 4, "half": 2,
    "bool": 1,
}  # fmt: skip


@cache
def _element_bytes(cpp_type: str) -> int:
    return next((size for text, size in _ELEMENT_BYTES.items() if text in cpp_type), 16)
