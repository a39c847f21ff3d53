# SPDX-License-Identifier: Apache-2.0
"""One walk over the specs of a layer, variants included, that fills in :class:`~simwright.check.layers.LayerFacts`.

Layers have many properties and few interesting ones, so what to do with a property is decided once per name,
and a spec is opened only where its name does not say enough.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from pxr import Sdf

from simwright.check.domains import (
    SHADING_TYPES,
    SMALL_GEOMETRY,
    Domain,
    domain_of_api,
    domain_of_property,
    domain_of_type,
    is_bounds,
    is_unknown_property,
)
from simwright.check.layers import Arc, AssetPath, HeavyArray, LayerFacts, Opinion, TextValue
from simwright.check.vendors import vendor_of_property, vendor_of_schema

_ARC_KEYS = {
    "references": "reference",
    "payload": "payload",
    "inheritPaths": "inherit",
    "specializes": "specialize",
}
_DICTIONARIES = ("clips", "customData", "assetInfo")
_INTERESTING = frozenset({"apiSchemas", "instanceable", "kind", *_ARC_KEYS, *_DICTIONARIES})
_NOT_DEPENDENCIES = ("identifier",)
"""Asset-typed entries of dictionaries that name the asset itself."""
_PLAIN_PROPERTIES = SMALL_GEOMETRY | {
    "xformOpOrder", "visibility", "purpose", "xformOp:translate", "xformOp:orient", "xformOp:scale",
}  # fmt: skip
_RELATIONSHIPS = ("physics:body0", "physics:body1", "material:binding")
_ARRAYS = frozenset({"points", "normals", "faceVertexCounts", "faceVertexIndices"})
"""Properties whose kind the name tells."""
_POSE_OPS = ("xformOp:translate", "xformOp:orient")
_PHYSICS_RELATIONSHIPS = ("physics:body", "physics:filtered", "physics:simulationOwner", "physics:mergeGroup")
_UNLISTED = (Domain.GEOMETRY, Domain.KINEMATIC, Domain.MATERIAL)
"""Domains whose properties are counted but not listed."""
_MAX_TEXT = 4096
_DEF = Sdf.SpecifierDef


class _Plan(NamedTuple):
    """What to do with properties of a name."""

    domain: Domain | None
    listed: bool
    vendor: str
    open: bool
    unknown: bool
    relation: bool
    array: bool
    other_op: bool


class _Walk:
    """The walk over one layer."""

    def __init__(self, facts: LayerFacts, vendors: tuple[str, ...]) -> None:
        self.facts = facts
        self.layer = facts.layer
        self.counts = facts.counts
        self.opinions = facts.opinions
        self.vendors = vendors
        self.plans: dict[str, _Plan] = {}
        self.ordered: list[Sdf.Path] = []
        self.xforms: set[Sdf.Path] = set()

    def run(self) -> None:
        self.layer.Traverse(Sdf.Path.absoluteRootPath, self.visit)
        self.facts.placed.extend(path for path in reversed(self.ordered) if path in self.xforms)

    def visit(self, path: Sdf.Path) -> None:
        if not path.IsPrimPropertyPath():
            if path.IsPrimPath() or path.IsPrimVariantSelectionPath():
                self.visit_prim(path)
            return
        name = path.name
        plan = self.plans.get(name) or self.plan(name)
        if plan.domain is not None:
            self.counts[plan.domain] += 1
            if plan.listed:
                self.opinions.append(Opinion(path, plan.domain, name, "property", plan.vendor))
        if plan.other_op:  # simwright.check.transforms finds prims with unusual transforms through these
            self.facts.other_ops.append(path)
        if plan.open:
            self.open_property(path, plan)
        elif name == "xformOpOrder":
            self.ordered.append(path.GetPrimPath())

    def plan(self, name: str) -> _Plan:
        domain = domain_of_property(name)
        vendor = vendor_of_property(name) or ""
        head, colon, _ = name.partition(":")
        if domain is None and colon and head in self.vendors:
            domain, vendor = Domain.VENDOR, head
        self.plans[name] = plan = _Plan(
            domain,
            domain is not None and domain not in _UNLISTED,
            vendor if domain is Domain.VENDOR else "",
            not _is_plain(name),
            domain is None and is_unknown_property(name),
            name.startswith(_RELATIONSHIPS),
            name in _ARRAYS,
            name.startswith("xformOp:") and name not in _POSE_OPS,
        )
        return plan

    def visit_prim(self, path: Sdf.Path) -> None:
        spec = self.layer.GetPrimAtPath(path)
        if spec is None:
            return
        facts = self.facts
        is_prim = path.IsPrimPath()
        facts.prims += is_prim
        facts.has_variants = facts.has_variants or not is_prim
        applied: list[str] = []
        has_arcs = False
        for key in sorted(_INTERESTING.intersection(spec.ListInfoKeys())):
            if key == "apiSchemas":
                applied = list_items(spec.GetInfo(key))
            elif key in _ARC_KEYS:
                has_arcs = True
                self.note_arcs(path, _ARC_KEYS[key], list_items(spec.GetInfo(key)))
            elif key == "instanceable":
                facts.instanceable.append(path)
            elif key == "kind":
                facts.kinds.append(path)
            elif key in _DICTIONARIES:
                found = find_assets(spec.GetInfo(key))
                facts.asset_paths.extend(AssetPath(path, text, "metadata") for text in found)
        for name in applied:
            domain = domain_of_api(name)
            if domain is None:
                facts.neutral_apis.append((path, name))
            else:
                self.note_schema(path, domain, name, "api")
        if is_prim and spec.typeName:
            self.visit_type(spec, path, applied, has_arcs)

    def visit_type(self, spec: Sdf.PrimSpec, path: Sdf.Path, applied: list[str], has_arcs: bool) -> None:
        name = spec.typeName
        domain = domain_of_type(name)
        if domain is None:
            return
        facts = self.facts
        self.note_schema(path, domain, name, "type")
        if spec.specifier is not _DEF:
            return
        facts.defines[domain] += 1
        if name == "Xform":
            if not has_arcs and not (applied and any(api.startswith(("Ros", "Sensor")) for api in applied)):
                self.xforms.add(path)
        elif name in SHADING_TYPES and not (name == "Material" and "PhysicsMaterialAPI" in applied):
            facts.looks.append(path)

    def note_schema(self, path: Sdf.Path, domain: Domain, name: str, kind: str) -> None:
        vendor = (vendor_of_schema(name) or "") if domain is Domain.VENDOR else ""
        self.counts[domain] += 1
        self.opinions.append(Opinion(path, domain, name, kind, vendor))

    def note_arcs(self, path: Sdf.Path, kind: str, items: list[Any]) -> None:
        for item in items:
            if isinstance(item, Sdf.Path):
                self.facts.arcs.append(Arc(kind, path, "", item))
            else:
                self.facts.arcs.append(Arc(kind, path, item.assetPath, item.primPath))

    def open_property(self, path: Sdf.Path, plan: _Plan) -> None:
        facts = self.facts
        spec = None if plan.relation else self.layer.GetAttributeAtPath(path)
        if spec is None:
            facts.relations.append(path)
            return
        if plan.array:
            self.note_array(path, spec)
            return
        if plan.unknown:
            facts.unknown[path.name] = path
        type_name = spec.typeName
        is_array, content = _describe(type_name)
        if is_array and content == "number":
            self.note_array(path, spec)
        elif content == "asset":
            for value in self.values(path, spec):
                texts = (item.path for item in _items(value) if isinstance(item, Sdf.AssetPath))
                facts.asset_paths.extend(AssetPath(path, text) for text in texts)
        elif content == "text":
            for value in self.values(path, spec):
                texts = (item for item in _items(value) if isinstance(item, str) and len(item) < _MAX_TEXT)
                facts.texts.extend(TextValue(path, text) for text in texts if looks_like_path(text))

    def note_array(self, path: Sdf.Path, spec: Sdf.AttributeSpec) -> None:
        elements = _length(spec.default)
        if spec.HasInfo("timeSamples"):
            times = self.layer.ListTimeSamplesForPath(path)
            elements += sum(_length(self.layer.QueryTimeSample(path, time)) for time in times)
        if not elements:
            return
        size = _element_bytes(spec.typeName.scalarType.cppTypeName)
        facts = self.facts
        facts.arrays.append(HeavyArray(path, elements, elements * size))
        facts.has_meshes = facts.has_meshes or path.name in ("points", "faceVertexIndices")

    def values(self, path: Sdf.Path, spec: Sdf.AttributeSpec) -> Iterator[Any]:
        default = spec.default
        if default is not None:
            yield default
        for time in self.layer.ListTimeSamplesForPath(path):
            yield self.layer.QueryTimeSample(path, time)


def gather_layer(layer: Sdf.Layer, *, is_root: bool = False, vendors: tuple[str, ...] = ()) -> LayerFacts:
    """Facts of one layer; ``vendors`` are namespaces that count as a vendor's beside those we know."""
    facts = LayerFacts(layer, is_root)
    root = Sdf.Path.absoluteRootPath
    facts.arcs.extend(Arc("sublayer", root, path, Sdf.Path()) for path in layer.subLayerPaths)
    facts.asset_paths.extend(AssetPath(root, text, "metadata") for text in find_assets(layer.customLayerData))
    _Walk(facts, vendors).run()
    return facts


def list_items(operation: Any) -> list[Any]:
    """Every item a list operation adds (explicit, prepended, appended, added); deletions do not count."""
    if operation.isExplicit:
        return list(operation.explicitItems)
    return [*operation.prependedItems, *operation.appendedItems, *operation.addedItems]


def find_assets(value: Any, depth: int = 0) -> Iterator[str]:
    """Texts of asset paths in a dictionary, at any depth; the asset's own identifier is not a dependency."""
    if isinstance(value, Sdf.AssetPath):
        yield value.path
    elif isinstance(value, dict) and depth < 16:
        for key, inner in value.items():
            if key not in _NOT_DEPENDENCIES:
                yield from find_assets(inner, depth + 1)
    elif isinstance(value, Sdf.AssetPathArray):
        yield from (item.path for item in value)


def looks_like_path(text: str) -> bool:
    """Could a text be a file or an address at all?  A cheap sieve: rules look closer."""
    return "/" in text or "\\" in text or "." in text[-8:]


@cache
def _is_plain(name: str) -> bool:
    """Is a property of this name never an array, an asset, a text or a relationship?"""
    if name.startswith("physics:"):
        return not name.startswith(_PHYSICS_RELATIONSHIPS)
    if name.startswith(("drive:", "limit:")) or is_bounds(name):
        return True
    return name in _PLAIN_PROPERTIES


@cache
def _describe(type_name: Sdf.ValueTypeName) -> tuple[bool, str]:
    """Is it an array, and of what: ``asset``, ``text`` or ``number``?"""
    scalar = str(type_name.scalarType)
    content = "asset" if scalar == "asset" else "text" if scalar == "string" else "number"
    return type_name.isArray, content


def _items(value: Any) -> list[Any]:
    return [value] if isinstance(value, (str, Sdf.AssetPath)) else list(value) if _length(value) else []


def _length(value: Any) -> int:
    try:
        return len(value)
    except TypeError:
        return 0


_ELEMENT_BYTES = {
    "GfMatrix4d": 128, "GfMatrix3d": 72, "4d": 32, "3d": 24, "2d": 16, "4f": 16, "3f": 12, "2f": 8, "3h": 6,
    "2h": 4, "Quatf": 16, "Quath": 8, "Quatd": 32, "double": 8, "int64": 8, "float": 4, "int": 4, "half": 2,
    "bool": 1,
}  # fmt: skip


@cache
def _element_bytes(cpp_type: str) -> int:
    return next((size for text, size in _ELEMENT_BYTES.items() if text in cpp_type), 16)
