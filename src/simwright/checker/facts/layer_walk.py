# SPDX-License-Identifier: Apache-2.0
"""One walk over the specs of a layer, variants included, that fills in its ``LayerFacts``.

Layers have many properties and few interesting ones, so what to do with a property is decided once per name,
and a spec is opened only where its name does not say enough.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simwright.checker.facts.snapshot import StageSnapshot
    from simwright.usd.crate import CrateOutline
    from simwright.usd.settled import Identity


from collections.abc import Iterator
from dataclasses import dataclass, field, replace
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
    OpinionContent,
    TextValue,
)
from simwright.checker.facts.vendors import vendor_of_property, vendor_of_schema
from simwright.usd.arcs import identify_content
from simwright.usd.guard import recall_outline
from simwright.usd.questions import has_field, list_fields, list_variants, read_field, scalar_type_of

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
"""Fields that are the same for all specs of a group."""
# assetInfo:identifier is an asset path by type, and names the asset itself
_NOT_DEPENDENCIES = ("identifier",)
"""Asset-typed entries of dictionaries that name the asset itself."""
_PLAIN_PROPERTIES = SMALL_GEOMETRY | {
    "xformOpOrder", "visibility", "purpose", "xformOp:translate", "xformOp:orient", "xformOp:scale",
}  # fmt: skip
_RELATIONSHIPS = ("physics:body0", "physics:body1", "material:binding")
_ARRAYS = frozenset({"points", "normals", "faceVertexCounts", "faceVertexIndices"})
"""Properties that are known to be arrays by their name."""
_POSE_OPS = ("xformOp:translate", "xformOp:orient")
_PHYSICS_RELATIONSHIPS = ("physics:body", "physics:filtered", "physics:simulationOwner", "physics:mergeGroup")
_UNLISTED = (Domain.GEOMETRY, Domain.KINEMATIC, Domain.MATERIAL)
"""Domains whose properties are counted but not listed."""
_MATRICES = (6, 9)
_FEW = 16
"""Elements of an array that is a parameter, such as the ten of a gain of MuJoCo."""
_MAX_TEXT = 4096
_DEF = Sdf.SpecifierDef


@dataclass(slots=True)
class _PropertyPlan:
    """What to do with properties of one name, decided when the name is met for the first time."""

    domain: Domain | None
    open: bool
    unknown: bool
    relation: bool
    array: bool
    other_op: bool
    content: OpinionContent | None


@dataclass(slots=True)
class _SpecGroup:
    """What specs with the same property names, fields, APIs and type have in common, and how many there are."""

    domains: list[Domain]
    """Of its properties, APIs and type."""
    defines: Domain | None
    """Of its type, where the spec defines the prim."""
    work: list[tuple[str, _PropertyPlan]]
    """Properties that are looked at one by one; the others are only counted."""
    said: int
    """The identity of what its opinions are about; 0 for nothing that rules point at."""
    relations: tuple[str, ...]
    neutral_apis: tuple[str, ...]
    fields: tuple[str, ...]
    """Fields whose values differ from prim to prim."""
    is_prim: bool
    is_placed: bool
    is_render_material: bool
    body_type: str | None
    """The type it says, where the spec defines a rigid body."""
    count: int = 0
    is_special: bool = field(init=False)
    """Is there more to note than opinions and relationships?"""

    def __post_init__(self) -> None:
        flags = (self.is_placed, self.is_render_material, self.body_type is not None)
        self.is_special = any(flags) or bool(self.fields or self.neutral_apis)


@dataclass(slots=True)
class _SchemaFacts:
    """The domain of a type or API name, and the content of opinions that use it."""

    domain: Domain | None
    content: OpinionContent | None


class _LayerReader:
    """Walks over the specs of one layer and fills in its facts."""

    def __init__(self, facts: LayerFacts, vendors: tuple[str, ...]) -> None:
        self.facts = facts
        self.layer = facts.layer
        self.counts = facts.counts
        self.vendors = vendors
        self.plans: dict[str, _PropertyPlan] = {}
        self.groups: dict[tuple[Any, ...], _SpecGroup] = {}
        self.fields: dict[tuple[str, ...], tuple[str, ...]] = {}
        self.types: dict[str, _SchemaFacts] = {}
        self.apis: dict[str, _SchemaFacts] = {}
        self.has_samples = facts.has_samples = bool(self.layer.ListAllTimeSamples())
        self.outline: CrateOutline | None = None
        self.most = 0

    def run(self) -> None:
        self.outline = recall_outline(self.layer)
        if self.outline is None:
            self.walk_specs()
        else:
            self.walk_outline(self.outline)
        self.facts.names.update(self.plans)
        self.count()

    def walk_specs(self) -> None:
        """Open every spec, outer ones first, those of variants included."""
        find_spec = self.layer.GetPrimAtPath
        waiting = self.list_roots()
        while waiting:
            path = waiting.pop()
            spec = find_spec(path)
            if spec is None:
                continue
            self.note(path, self.find_group(spec, path), spec)
            below = read_field(spec, "primChildren")
            if below:
                waiting.extend([path.AppendChild(name) for name in reversed(below)])
            # another layer may name the set and select its variant
            if has_field(spec, "variantSetChildren"):
                waiting.extend(list_variants(spec, path))

    def walk_outline(self, outline: CrateOutline) -> None:
        """Open one spec of all that have the same fields, in the same order."""
        sets = outline.sets.tolist()
        children, begins = outline.sort_children()
        known: dict[int, tuple[_SpecGroup, list[tuple[str, int]]]] = {}
        roots = children[: begins[1]]
        places = dict(zip(outline.list_names(roots), roots, strict=True))
        waiting = [(path, places[path.name]) for path in self.list_roots()]
        while waiting:
            path, number = waiting.pop()
            found = known.get(sets[number])
            if found is None:
                spec = self.layer.GetPrimAtPath(path)
                names = outline.list_names(children[begins[number + 1] : begins[number + 2]])
                rank = {name: place for place, name in enumerate(names)}
                below = [(name, rank[name]) for name in reversed(read_field(spec, "primChildren") or ())]
                found = known[sets[number]] = (self.find_group(spec, path), below)
            group, below = found
            self.note(path, group, number=number)
            if below:
                first = begins[number + 1]
                waiting.extend([(path.AppendChild(name), children[first + place]) for name, place in below])

    def list_roots(self) -> list[Sdf.Path]:
        """Paths of the prims below the root, the last one first."""
        root = Sdf.Path.absoluteRootPath
        names = self.layer.pseudoRoot.GetInfo("primChildren") or ()
        return [root.AppendChild(name) for name in reversed(names)]

    def find_group(self, spec: Sdf.PrimSpec, path: Sdf.Path) -> _SpecGroup:
        """The group that a spec belongs to."""
        # layers have few distinct lists of fields: one shared tuple per list makes keys cheap to compare
        fields = tuple(list_fields(spec))
        keys = self.fields.get(fields)
        if keys is None:
            keys = self.fields[fields] = tuple(sorted(_INTERESTING.intersection(fields)))
        names = tuple(read_field(spec, "properties") or ())
        applied = (
            tuple(read_field(spec, "apiSchemas").GetAddedOrExplicitItems()) if "apiSchemas" in keys else ()
        )
        key = (names, keys, applied, spec.typeName, spec.specifier, path.IsPrimPath())
        group = self.groups.get(key)
        if group is None:
            group = self.groups[key] = self.make_group(names, keys, applied, path.IsPrimPath(), spec)
        return group

    def note(
        self, path: Sdf.Path, group: _SpecGroup, spec: Sdf.PrimSpec | None = None, number: int = -1
    ) -> None:
        """Enter one spec of a group into the facts; ``number`` is that of the prim in the outline."""
        group.count += 1
        if group.said:
            self.facts.sayings.append((path, group.said))
        if group.relations:
            self.facts.related.append((path, group.relations))
        for name, plan in group.work:
            self.visit_property(path, name, plan, number)
        if group.is_special:
            self.note_special(spec or self.layer.GetPrimAtPath(path), path, group)

    def note_special(self, spec: Sdf.PrimSpec, path: Sdf.Path, group: _SpecGroup) -> None:
        """What few prims have: a place in the kinematic tree, a material, arcs and other fields."""
        facts = self.facts
        if group.is_placed:
            facts.placed.append(path)
        elif group.is_render_material:
            facts.render_materials.append(path)
        if group.body_type is not None:
            facts.defined_bodies.append((path, bool(group.body_type)))
        if group.fields or group.neutral_apis:
            self.visit_fields(spec, path, group)

    def make_group(
        self,
        names: tuple[str, ...],
        keys: tuple[str, ...],
        applied: tuple[str, ...],
        is_prim: bool,
        spec: Sdf.PrimSpec,
    ) -> _SpecGroup:
        """What all specs with these property names, fields and APIs have in common."""
        # one function: every fact of a group is found here, once for thousands of specs that are alike
        plans = self.find_plans(names)
        apis = self.find_apis(applied)
        own = [*self.find_types(spec.typeName)] if is_prim and "typeName" in keys else []
        described: list[_PropertyPlan | _SchemaFacts] = [*apis, *own, *plans.values()]
        is_defined = bool(own) and spec.specifier is _DEF
        contents = tuple(one.content for one in described if one.content is not None)
        if contents:
            self.facts.said[id(contents)] = contents
        return _SpecGroup(
            domains=_list_domains(described),
            defines=own[0].domain if is_defined else None,
            work=_list_work(plans),
            said=id(contents) if contents else 0,
            relations=tuple(name for name, plan in plans.items() if plan.relation),
            neutral_apis=_list_neutral(applied, apis),
            fields=tuple(key for key in keys if key not in _SHARED),
            is_prim=is_prim,
            is_placed=is_defined and _is_placed(spec.typeName, names, keys, applied),
            is_render_material=is_defined and _is_render_material(spec.typeName, applied),
            body_type=_find_body_type(spec, applied),
        )

    def find_plans(self, names: tuple[str, ...]) -> dict[str, _PropertyPlan]:
        """The plan of each property name, made when the name is met for the first time."""
        return {name: self.plans.get(name) or self.plan(name) for name in names}

    def find_apis(self, applied: tuple[str, ...]) -> list[_SchemaFacts]:
        """What the applied API names stand for, in their order."""
        return [
            self.apis.get(name) or self.classify_schema(self.apis, name, domain_of_api(name))
            for name in applied
        ]

    def find_types(self, name: str) -> Iterator[_SchemaFacts]:
        """What a type name stands for; nothing for a type of no domain."""
        schema = self.types.get(name) or self.classify_schema(self.types, name, domain_of_type(name))
        if schema.domain is not None:
            yield schema

    def visit_property(self, prim: Sdf.Path, name: str, plan: _PropertyPlan, number: int) -> None:
        # heavy beyond doubt: opening every array would only read the file
        if plan.array and self.facts.elements > COUNTED_ELEMENTS:
            return
        path = prim.AppendProperty(name)
        if plan.array:
            spec = self.layer.GetAttributeAtPath(path)
            if spec is not None:
                self.note_array(path, spec, number)
            else:
                self.facts.related.append((prim, (name,)))
        elif plan.open:
            self.open_property(path, plan, number)
        # simwright.checker.facts.transforms finds prims with unusual transforms through these
        if plan.other_op:
            self.facts.other_ops.append(path)

    def count(self) -> None:
        """Sum up by domain, group by group: that saves a look-up per opinion."""
        facts = self.facts
        for group in self.groups.values():
            for domain in group.domains:
                self.counts[domain] += group.count
            if group.defines is not None:
                facts.defines[group.defines] += group.count
            facts.prims += group.count * group.is_prim
            facts.has_variants = facts.has_variants or not group.is_prim

    def plan(self, name: str) -> _PropertyPlan:
        domain = domain_of_property(name)
        vendor = vendor_of_property(name) or ""
        head, colon, _ = name.partition(":")
        if domain is None and colon and head in self.vendors:
            domain, vendor = Domain.VENDOR, head
        listed = domain is not None and domain not in _UNLISTED
        self.plans[name] = plan = _PropertyPlan(
            domain,
            not _is_plain(name),
            domain is None and is_unknown_property(name),
            name.startswith(_RELATIONSHIPS),
            name in _ARRAYS,
            name.startswith("xformOp:") and name not in _POSE_OPS,
            OpinionContent(domain, name, "property", vendor if domain is Domain.VENDOR else "")
            if listed and domain is not None
            else None,
        )
        return plan

    def visit_fields(self, spec: Sdf.PrimSpec, path: Sdf.Path, group: _SpecGroup) -> None:
        facts = self.facts
        for key in group.fields:
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
        facts.neutral_apis.extend((path, name) for name in group.neutral_apis)

    def classify_schema(
        self, book: dict[str, _SchemaFacts], name: str, domain: Domain | None
    ) -> _SchemaFacts:
        """What a type or API schema is about; entered into ``book`` (``types`` or ``apis``) for the next prim."""
        vendor = (vendor_of_schema(name) or "") if domain is Domain.VENDOR else ""
        kind = "type" if book is self.types else "api"
        # kinematic types are counted, not listed, like properties of them
        is_listed = domain is not None and not (kind == "type" and domain is Domain.KINEMATIC)
        content = OpinionContent(domain, name, kind, vendor) if is_listed and domain is not None else None
        found = book[name] = _SchemaFacts(domain, content)
        return found

    def note_arcs(self, path: Sdf.Path, kind: str, items: list[Any]) -> None:
        for item in items:
            if isinstance(item, Sdf.Path):
                self.facts.arcs.append(Arc(kind, path, "", item))
            else:
                self.facts.arcs.append(Arc(kind, path, item.assetPath, item.primPath))

    def open_property(self, path: Sdf.Path, plan: _PropertyPlan, number: int) -> None:
        """Look at one property whose name does not say enough: its type decides what is noted of it."""
        facts = self.facts
        spec = self.layer.GetAttributeAtPath(path)
        if spec is None:
            facts.related.append((path.GetPrimPath(), (path.name,)))
            return
        if plan.unknown:
            facts.unknown[path.name] = path
        is_array, content = _describe(spec.typeName)
        if is_array and content == "number":
            self.note_array(path, spec, number)
        elif content in ("asset", "text"):
            for value in self.values(path, spec):
                self.note_texts(path, value)

    def note_texts(self, path: Sdf.Path, value: Any) -> None:
        """Asset paths, and strings that could be a file or an address."""
        for item in _items(value):
            if isinstance(item, Sdf.AssetPath):
                self.facts.asset_paths.append(AssetPath(path, item.path))
            elif isinstance(item, str) and len(item) < _MAX_TEXT and looks_like_path(item):
                self.facts.texts.append(TextValue(path, item))

    def note_array(self, path: Sdf.Path, spec: Sdf.AttributeSpec, number: int) -> None:
        # reading an array of a crate would decompress it, and rules that want it read it again
        known = self.outline.find_length(number, path.name) if self.outline is not None else None
        elements = _length(spec.default) if known is None else known
        if self.has_samples and spec.HasInfo("timeSamples"):
            times = self.layer.ListTimeSamplesForPath(path)
            elements += sum(_length(self.layer.QueryTimeSample(path, time)) for time in times)
        if not elements:
            return
        size = _element_bytes(spec.typeName)
        facts = self.facts
        # many muscles of a few parameters each are words of a schema, which belong in text, and no heavy data
        if elements > _FEW or ":" not in path.name or path.name.startswith("primvars:"):
            facts.elements += elements
            facts.bytes += elements * size
            if elements * size > self.most:
                self.most, facts.heaviest = elements * size, path
        # an inertia matrix as six or nine numbers
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
    _LayerReader(facts, vendors).run()
    return facts


def gather_layers(snapshot: StageSnapshot) -> list[LayerFacts]:
    """Facts of every layer used, the root layer first; session layers, and unnamed ones of a file, aside."""
    stage, root = snapshot.stage, snapshot.root_layer
    own = set(stage.GetLayerStack(includeSessionLayers=False))
    aside = {layer for layer in stage.GetLayerStack() if layer not in own}
    used = (layer for layer in stage.GetUsedLayers(includeClipLayers=True) if layer not in aside)
    others = [layer for layer in used if layer != root and (root.anonymous or not layer.anonymous)]
    # GetUsedLayers has no fixed order, and findings must not move from run to run
    others.sort(key=lambda layer: layer.identifier)
    vendors = tuple(snapshot.settings.vendor_namespaces)
    return [_recall_layer(layer, layer == root, vendors) for layer in (root, *others)]


_known: dict[tuple[Identity, tuple[str, ...]], LayerFacts] = {}
"""Facts of small layers that stand in a file as it is now, for the next check: of a variant, of an asset that shares
the layer, or of the same asset while somebody works on it."""
_MOST_KNOWN = 128
_MOST_PRIMS = 2000


def _recall_layer(layer: Sdf.Layer, is_root: bool, vendors: tuple[str, ...]) -> LayerFacts:
    """Facts of a layer, from an earlier check where its file is unchanged."""
    identity = identify_content(layer)
    if identity is None:
        return gather_layer(layer, is_root=is_root, vendors=vendors)
    key = (identity, vendors)
    known = _known.get(key)
    if known is not None:
        return replace(known, layer=layer, is_root=is_root)
    facts = gather_layer(layer, is_root=is_root, vendors=vendors)
    if facts.prims <= _MOST_PRIMS:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        # without the layer, which would stay open
        _known[key] = replace(facts, layer=None)
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


def _list_work(plans: dict[str, _PropertyPlan]) -> list[tuple[str, _PropertyPlan]]:
    """Properties that have to be looked at one by one; relationships are listed by name alone."""
    return [
        (name, plan) for name, plan in plans.items() if not plan.relation and (plan.open or plan.other_op)
    ]


def _list_neutral(applied: tuple[str, ...], apis: list[_SchemaFacts]) -> tuple[str, ...]:
    """Applied APIs that belong to no domain."""
    return tuple(name for name, schema in zip(applied, apis, strict=True) if schema.domain is None)


def _list_domains(described: list[_PropertyPlan | _SchemaFacts]) -> list[Domain]:
    return [one.domain for one in described if one.domain is not None]


def _is_placed(
    type_name: str, names: tuple[str, ...], keys: tuple[str, ...], applied: tuple[str, ...]
) -> bool:
    """Is it an Xform with a transform, no frame of a sensor, that does not only place another asset?"""
    return (
        type_name == "Xform"
        and "xformOpOrder" in names
        and not any(key in _ARC_KEYS for key in keys)
        and not any(api.startswith(("Ros", "Sensor")) for api in applied)
    )


def _find_body_type(spec: Sdf.PrimSpec, applied: tuple[str, ...]) -> str | None:
    """The type that a spec says, where it defines a rigid body."""
    defines = "PhysicsRigidBodyAPI" in applied and spec.specifier is _DEF
    return str(spec.typeName) if defines else None


def _is_render_material(type_name: str, applied: tuple[str, ...]) -> bool:
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
    scalar = str(scalar_type_of(type_name))
    # tokens are not texts: no token is a file name
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
    cpp_type = scalar_type_of(type_name).cppTypeName
    # in the order of the table: GfMatrix4d holds "4d" too
    return next((size for text, size in _ELEMENT_BYTES.items() if text in cpp_type), 16)
