# SPDX-License-Identifier: Apache-2.0
"""One walk over the specs of a layer, variants included, that fills in its ``LayerFacts``.

Layers have many properties and few interesting ones, so what to do with a property is decided once per name,
and a spec is opened only where its name does not say enough.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from pxr import Sdf

from simwright.checker.facts.domains import (
    SHADING_TYPES,
    SMALL_GEOMETRY,
    Domain,
    domain_of_api,
    domain_of_property,
    domain_of_type,
    is_bounds,
    is_unknown_property,
)
from simwright.checker.facts.layers import (
    COUNTED_ELEMENTS,
    Arc,
    AssetPath,
    LayerFacts,
    Saying,
    Statement,
    TextValue,
)
from simwright.checker.facts.vendors import vendor_of_property, vendor_of_schema

_ARC_KEYS = {
    "references": "reference",
    "payload": "payload",
    "inheritPaths": "inherit",
    "specializes": "specialize",
}
_DICTIONARIES = ("clips", "customData", "assetInfo")
_INTERESTING = frozenset({
    "apiSchemas", "instanceable", "kind", "typeName", "variantSelection", "variantSetNames",
    *_ARC_KEYS, *_DICTIONARIES,
})  # fmt: skip
_SHARED = frozenset({"apiSchemas", "typeName", "variantSelection", "variantSetNames"})
"""Fields of a prim that its sort tells."""
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
_MATRICES = (6, 9)
_MAX_TEXT = 4096
_DEF = Sdf.SpecifierDef


@dataclass(slots=True)
class _Plan:
    """What to do with properties of a name."""

    domain: Domain | None
    open: bool
    unknown: bool
    relation: bool
    array: bool
    other_op: bool
    saying: Saying | None


@dataclass(slots=True)
class _Sort:
    """What prims have in common that say the same: property names, fields, APIs, type; and how many there are."""

    domains: list[Domain]
    """Of its properties, APIs and type."""
    defines: Domain | None
    """Of its type, where the spec defines the prim."""
    work: list[tuple[str, _Plan]]
    """Properties that are looked at one by one; the others are only counted."""
    sayings: tuple[Saying, ...]
    relations: tuple[str, ...]
    neutral_apis: tuple[str, ...]
    fields: tuple[str, ...]
    """Fields whose values differ from prim to prim."""
    is_prim: bool
    is_placed: bool
    is_look: bool
    count: int = 0


@dataclass(slots=True)
class _Schema:
    """What a type or API name stands for."""

    domain: Domain | None
    saying: Saying | None


class _Walk:
    """The walk over one layer."""

    def __init__(self, facts: LayerFacts, vendors: tuple[str, ...]) -> None:
        self.facts = facts
        self.layer = facts.layer
        self.counts = facts.counts
        self.vendors = vendors
        self.plans: dict[str, _Plan] = {}
        self.sorts: dict[tuple[Any, ...], _Sort] = {}
        self.types: dict[str, _Schema] = {}
        self.apis: dict[str, _Schema] = {}
        self.has_samples = facts.has_samples = bool(self.layer.ListAllTimeSamples())
        self.most = 0

    def run(self) -> None:
        facts, sorts = self.facts, self.sorts
        for spec, path, keys in self.list_prims():
            names = tuple(spec.GetInfo("properties") or ())
            applied = (
                tuple(spec.GetInfo("apiSchemas").GetAddedOrExplicitItems()) if "apiSchemas" in keys else ()
            )
            key = (names, keys, applied, spec.typeName, spec.specifier, path.IsPrimPath())
            sort = sorts.get(key)
            if sort is None:
                sort = sorts[key] = self.make_sort(names, keys, applied, path.IsPrimPath(), spec)
            sort.count += 1
            if sort.sayings:
                facts.statements.append(Statement(path, sort.sayings))
            if sort.relations:
                facts.related.append((path, sort.relations))
            for name, plan in sort.work:
                self.visit_property(path, name, plan)
            if sort.is_placed:
                facts.placed.append(path)
            elif sort.is_look:
                facts.looks.append(path)
            if sort.fields or sort.neutral_apis:
                self.visit_fields(spec, path, sort)
        facts.names.update(self.plans)
        self.count()

    def list_prims(self) -> Iterator[tuple[Sdf.PrimSpec, Sdf.Path, tuple[str, ...]]]:
        """Specs of prims and variants with their fields, outer ones first."""
        layer = self.layer
        shared: dict[tuple[str, ...], tuple[str, ...]] = {}
        root = Sdf.Path.absoluteRootPath
        top = layer.pseudoRoot.GetInfo("primChildren") or ()
        waiting = [root.AppendChild(name) for name in reversed(top)]
        while waiting:
            path = waiting.pop()
            spec = layer.GetPrimAtPath(path)
            if spec is None:
                continue
            fields = tuple(spec.ListInfoKeys())
            keys = shared.get(fields)
            if keys is None:
                keys = shared[fields] = tuple(sorted(_INTERESTING.intersection(fields)))
            yield spec, path, keys
            below = spec.GetInfo("primChildren")
            if below:
                waiting.extend([path.AppendChild(name) for name in reversed(below)])
            if not spec.HasInfo(
                "variantSetChildren"
            ):  # another layer may name the set and select its variant
                continue
            for choice in spec.GetInfo("variantSetChildren") or ():
                variants = layer.GetObjectAtPath(path.AppendVariantSelection(choice, ""))
                names = variants.variants.keys() if variants is not None else ()
                waiting.extend([path.AppendVariantSelection(choice, name) for name in reversed(list(names))])

    def make_sort(
        self,
        names: tuple[str, ...],
        keys: tuple[str, ...],
        applied: tuple[str, ...],
        is_prim: bool,
        spec: Sdf.PrimSpec,
    ) -> _Sort:
        type_name = spec.typeName
        plans = [(name, self.plans.get(name) or self.plan(name)) for name in names]
        apis = [self.apis.get(name) or self.look_up(self.apis, name, domain_of_api(name)) for name in applied]
        own = self.find_type(type_name) if is_prim and "typeName" in keys else None
        said: list[_Plan | _Schema] = [*apis, *([own] if own is not None else [])]
        said += [plan for _, plan in plans]
        is_defined = own is not None and spec.specifier is _DEF
        return _Sort(
            [one.domain for one in said if one.domain is not None],
            own.domain if own is not None and is_defined else None,
            [(name, plan) for name, plan in plans if not plan.relation and (plan.open or plan.other_op)],
            tuple(one.saying for one in said if one.saying is not None),
            tuple(name for name, plan in plans if plan.relation),
            tuple(name for name, schema in zip(applied, apis, strict=True) if schema.domain is None),
            tuple(key for key in keys if key not in _SHARED),
            is_prim,
            is_defined and "xformOpOrder" in names and _is_link(type_name, keys, applied),
            is_defined and _is_look(type_name, applied),
        )

    def find_type(self, name: str) -> _Schema | None:
        schema = self.types.get(name) or self.look_up(self.types, name, domain_of_type(name))
        return schema if schema.domain is not None else None

    def visit_property(self, prim: Sdf.Path, name: str, plan: _Plan) -> None:
        if plan.array and self.facts.elements > COUNTED_ELEMENTS:
            return  # heavy beyond doubt: opening every array would only read the file
        path = prim.AppendProperty(name)
        if plan.array:
            spec = self.layer.GetAttributeAtPath(path)
            if spec is not None:
                self.note_array(path, spec)
            else:
                self.facts.related.append((prim, (name,)))
        elif plan.open:
            self.open_property(path, plan)
        if (
            plan.other_op
        ):  # simwright.checker.facts.transforms finds prims with unusual transforms through these
            self.facts.other_ops.append(path)

    def count(self) -> None:
        """Sum up by domain: counting sorts first saves a look-up per opinion."""
        facts = self.facts
        for sort in self.sorts.values():
            for domain in sort.domains:
                self.counts[domain] += sort.count
            if sort.defines is not None:
                facts.defines[sort.defines] += sort.count
            facts.prims += sort.count * sort.is_prim
            facts.has_variants = facts.has_variants or not sort.is_prim

    def plan(self, name: str) -> _Plan:
        domain = domain_of_property(name)
        vendor = vendor_of_property(name) or ""
        head, colon, _ = name.partition(":")
        if domain is None and colon and head in self.vendors:
            domain, vendor = Domain.VENDOR, head
        listed = domain is not None and domain not in _UNLISTED
        self.plans[name] = plan = _Plan(
            domain,
            not _is_plain(name),
            domain is None and is_unknown_property(name),
            name.startswith(_RELATIONSHIPS),
            name in _ARRAYS,
            name.startswith("xformOp:") and name not in _POSE_OPS,
            Saying(domain, name, "property", vendor if domain is Domain.VENDOR else "")
            if listed and domain is not None
            else None,
        )
        return plan

    def visit_fields(self, spec: Sdf.PrimSpec, path: Sdf.Path, sort: _Sort) -> None:
        facts = self.facts
        for key in sort.fields:
            if key in _ARC_KEYS:
                self.note_arcs(path, _ARC_KEYS[key], list_items(spec.GetInfo(key)))
            elif key == "instanceable":
                facts.instanceable.append(path)
            elif key == "kind":
                facts.kinds.append(path)
            elif key in _DICTIONARIES:
                facts.has_clips = facts.has_clips or key == "clips"
                found = find_assets(spec.GetInfo(key))
                facts.asset_paths.extend(AssetPath(path, text, "metadata") for text in found)
        facts.neutral_apis.extend((path, name) for name in sort.neutral_apis)

    def look_up(self, book: dict[str, _Schema], name: str, domain: Domain | None) -> _Schema:
        vendor = (vendor_of_schema(name) or "") if domain is Domain.VENDOR else ""
        kind = "type" if book is self.types else "api"
        # kinematic types are counted, not listed, like properties of them
        is_listed = domain is not None and not (kind == "type" and domain is Domain.KINEMATIC)
        saying = Saying(domain, name, kind, vendor) if is_listed and domain is not None else None
        found = book[name] = _Schema(domain, saying)
        return found

    def note_arcs(self, path: Sdf.Path, kind: str, items: list[Any]) -> None:
        for item in items:
            if isinstance(item, Sdf.Path):
                self.facts.arcs.append(Arc(kind, path, "", item))
            else:
                self.facts.arcs.append(Arc(kind, path, item.assetPath, item.primPath))

    def open_property(self, path: Sdf.Path, plan: _Plan) -> None:
        facts = self.facts
        spec = self.layer.GetAttributeAtPath(path)
        if spec is None:
            facts.related.append((path.GetPrimPath(), (path.name,)))
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
        default = spec.default
        elements = len(default) if hasattr(default, "__len__") else 0
        if self.has_samples and spec.HasInfo("timeSamples"):
            times = self.layer.ListTimeSamplesForPath(path)
            elements += sum(_length(self.layer.QueryTimeSample(path, time)) for time in times)
        if not elements:
            return
        size = _element_bytes(spec.typeName)
        facts = self.facts
        facts.elements += elements
        facts.bytes += elements * size
        if elements * size > self.most:
            self.most, facts.heaviest = elements * size, path
        if elements in _MATRICES:
            facts.matrices.append(path)
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


def _is_link(type_name: str, keys: tuple[str, ...], applied: tuple[str, ...]) -> bool:
    """Is it an Xform that is no frame of a sensor and does not only place another asset?"""
    has_arcs = any(key in _ARC_KEYS for key in keys)
    return (
        type_name == "Xform"
        and not has_arcs
        and not any(api.startswith(("Ros", "Sensor")) for api in applied)
    )


def _is_look(type_name: str, applied: tuple[str, ...]) -> bool:
    return type_name in SHADING_TYPES and not (type_name == "Material" and "PhysicsMaterialAPI" in applied)


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
def _element_bytes(type_name: Sdf.ValueTypeName) -> int:
    cpp_type = type_name.scalarType.cppTypeName
    return next((size for text, size in _ELEMENT_BYTES.items() if text in cpp_type), 16)
