# SPDX-License-Identifier: Apache-2.0
"""Fixes that move opinions between layers (REP-0158 1.2.1, 1.2.3, 1.4, 4.2.4): what is composed stays the same.

Functional layers: features, vendors, meshes and the entry each in a layer of its own.  A finding stands for the whole
asset: the first one has every layer stack split, and the others find nothing to do.  Mesh data goes to a crate,
everything that people read to text.  A layer in another encoding is a new file, which takes the old one's place in all
arcs.

Arcs: heavy data by payload, kinematics never, inherited classes inside the asset.  References become payloads and
payloads become references.  Both bring in the same; a reference is stronger, which only counts where a prim has several
arcs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from pxr import Ar, Sdf, UsdUtils

from simwright.checker.facts.domains import Domain
from simwright.checker.facts.vendors import VENDOR_NAMESPACES, vendor_of_key
from simwright.core.diag import Diagnostic, Level
from simwright.sanitizer.fixer import UserValues, fix
from simwright.sanitizer.layering.moving import choose_file
from simwright.sanitizer.layering.roles import EVERYTHING, FEATURES, MATERIALS, VENDOR
from simwright.sanitizer.layering.splitting import GeometryCrate, split_stack
from simwright.sanitizer.layering.stacks import LayerStack, find_stack, find_stacks, is_divided, mark_divided
from simwright.usd.edit import Editor, Refused


def split_all(editor: Editor, wanted: Collection[str], vendors: Collection[str] = ()) -> None:
    """Split every stack of the asset, once for all findings and rules that want the same."""
    key = f"split {sorted(wanted)} {sorted(vendors)}"
    # a vendor that only a finding names was not known when the asset was divided
    if key not in editor.known and (vendors or not is_divided(editor)):
        for stack in find_stacks(editor):
            split_stack(editor, stack, wanted, vendors)
        editor.known[key] = True


@fix(
    "isol-vendor-layer",
    "isol-decoupled",
    "isol-physics-no-vendor",
    "extphys-isolate",
    "ros-runtime-artifacts",
    phase=3,
)
def isolate_vendors(editor: Editor, _finding: Diagnostic, _: UserValues) -> None:
    """Every word of a vendor goes to the layer of that vendor."""
    split_all(editor, {VENDOR})


@fix("proprietary-confined", phase=3)
def confine_vendors(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """Move a vendor's words to its layer; settings of an editor, which nothing reads, are removed."""
    vendor = str(finding.data.get("vendor", ""))
    if vendor:
        split_all(editor, {VENDOR}, () if vendor in VENDOR_NAMESPACES.values() else (vendor,))
        return
    layer = editor.find_layer(finding.where.file)
    left = {key: value for key, value in layer.customLayerData.items() if not vendor_of_key(key)}
    if left:
        editor.set_layer_info("customLayerData", left, layer)
    else:
        top = layer.pseudoRoot
        editor.add(layer, top.path, "no customLayerData", lambda: top.ClearInfo("customLayerData"))


@fix(
    "layer-separation", "layer-features-isolated", "layer-geometries-pure", "isol-physics-core-only", phase=3
)
def isolate_features(editor: Editor, _finding: Diagnostic, _: UserValues) -> None:
    """Move physics, ROS and vendors' words to layers of their own."""
    split_all(editor, FEATURES)


_ROS = (Domain.ROS, Domain.CONTROL, Domain.SENSOR)


@fix("layer-physics-file", "layer-ros-file", phase=3)
def gather_feature(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """One layer for each; what another stack holds would have to be said of other prims."""
    if is_divided(editor):
        return
    stack = find_stack(editor, finding.where.file)
    wanted = (Domain.PHYSICS,) if finding.kind == "layer-physics-file" else _ROS
    if sum(any(stack.read(layer).counts[domain] for domain in wanted) for layer in stack.layers) < 2:
        raise Refused(
            "the layer is referenced by itself; decide whether its prims are to be overlaid one by one"
        )
    split_all(editor, FEATURES)


@fix("layer-materials", phase=3)
def move_materials(editor: Editor, _finding: Diagnostic, _: UserValues) -> None:
    """Move materials, node graphs and shaders to a layer of their own."""
    split_all(editor, {MATERIALS})


@fix("layer-base-decomposed", phase=3)
def move_meshes(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """The mesh data of the layer, to a crate that is loaded by payload."""
    extract(editor, finding)


@fix("layer-base-kinematic", phase=3)
def clear_base(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """Features go to overlays, mesh data to a crate."""
    if "mesh data" in finding.message:
        extract(editor, finding)
    else:
        split_all(editor, FEATURES)


@fix("layer-functional", phase=3)
def split_layer(editor: Editor, _finding: Diagnostic, _: UserValues) -> None:
    """One file becomes a folder of layers."""
    split_entry(editor)


@fix("entry-interface", phase=3)
def make_interface(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """What the entry holds goes to layers that it brings in; heavy data alone, to a crate."""
    if "loads nothing" in finding.message:
        split_entry(editor)
    else:
        extract(editor, finding)


def split_entry(editor: Editor) -> None:
    """Mesh data first: what is left in the layer is then moved."""
    key = "split the entry"
    if key not in editor.known and not is_divided(editor):
        stacks = find_stacks(editor)
        stack = stacks[0]
        GeometryCrate(editor, stack).ask([stack.root])
        split_stack(editor, stack, EVERYTHING)
        editor.known[key] = True
        if len(stacks) == 1 and len(stack.layers) == 1:
            mark_divided(editor)


def extract(editor: Editor, finding: Diagnostic) -> None:
    """Ask for the mesh data of the layer of a finding; an asset of one layer then has several, so features go too."""
    key = f"extract {finding.where.file}"
    if key not in editor.known and not is_divided(editor):
        stacks = find_stacks(editor)
        stack = find_stack(editor, finding.where.file)
        GeometryCrate(editor, stack).ask([editor.find_layer(finding.where.file)])
        if len(stacks) == 1 and len(stack.layers) == 1:
            split_stack(editor, stack, FEATURES)
        editor.known[key] = True


@fix("layer-enc-ascii", phase=3)
def write_text(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """The layer becomes a .usda, its mesh data a crate; out of an entry, features go to text layers."""
    if is_divided(editor):
        return
    layer = editor.find_layer(finding.where.file)
    stack = find_stack(editor, finding.where.file)
    if layer == editor.root:
        if not stack.read(layer).features:
            raise Refused(
                "the entry keeps the name of its file; give it the name of a text layer: -o FOLDER/NAME.usda"
            )
        split_all(editor, FEATURES)
        return
    GeometryCrate(editor, stack).ask([layer])
    change_encoding(editor, find_stacks(editor), layer, ".usda")


@fix("layer-enc-crate", phase=3)
def write_crate(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """A layer of mesh data alone becomes a .usdc; out of any other, the mesh data goes to one."""
    if is_divided(editor):
        return
    layer = editor.find_layer(finding.where.file)
    stack = find_stack(editor, finding.where.file)
    facts = stack.read(layer)
    if (
        layer != editor.root
        and facts.is_mesh_library
        and not (facts.features or facts.placed or facts.render_materials)
    ):
        change_encoding(editor, find_stacks(editor), layer, ".usdc")
    else:
        extract(editor, finding)


def change_encoding(editor: Editor, stacks: list[LayerStack], layer: Sdf.Layer, suffix: str) -> None:
    """Ask for a layer to be written with another suffix; the entry keeps its name and is never asked for."""
    # users open the asset by the name of its entry
    assert layer != editor.root, "the entry keeps its name"
    file = choose_file(editor, layer, f"{Path(layer.realPath).stem}{suffix}")
    top = Sdf.Path.absoluteRootPath
    editor.add(layer, top, f"the layer becomes {file.name}", lambda: _write_layer(layer, file))
    users = {known.identifier: known for stack in stacks for known in stack.layers}
    for user in users.values():
        texts = _list_texts(editor, user, layer)
        for text in texts:
            editor.rename_address(user, text, _rename_file(text, file.name))


def _write_layer(layer: Sdf.Layer, file: Path) -> None:
    new = Sdf.Layer.Find(str(file)) or Sdf.Layer.CreateNew(str(file))
    new.TransferContent(layer)
    new.Save()


def _rename_file(text: str, name: str) -> str:
    head, slash, _ = text.rpartition("/")
    return f"{head}{slash}{name}"


def _list_texts(editor: Editor, user: Sdf.Layer, layer: Sdf.Layer) -> list[str]:
    """The addresses by which a layer names another one."""
    found: dict[str, None] = {}
    with Ar.ResolverContextBinder(editor.stage.GetPathResolverContext()):
        for text in {text for group in UsdUtils.ExtractExternalReferences(user.realPath) for text in group}:
            if text and Sdf.Layer.FindRelativeToLayer(user, text) == layer:
                found[text] = None
    return list(found)


_LISTS = ("explicitItems", "prependedItems", "appendedItems", "addedItems")


def find_holders(
    editor: Editor, stacks: Collection[LayerStack], key: str, target: Sdf.Layer
) -> Iterator[Any]:
    """Specs of the asset that bring in a layer; ``key`` is ``references`` or ``payload``."""
    with Ar.ResolverContextBinder(editor.stage.GetPathResolverContext()):
        for layer in {layer.identifier: layer for stack in stacks for layer in stack.layers}.values():
            kind = "reference" if key == "references" else "payload"
            for path in {arc.path for arc in _find_facts(stacks, layer).arcs if arc.kind == kind}:
                spec = layer.GetPrimAtPath(path)
                if any(_leads_to(layer, arc, target) for arc in list_arcs(spec, key)):
                    yield spec


def _find_facts(stacks: Collection[LayerStack], layer: Sdf.Layer) -> Any:
    """The facts about a layer, from whichever of some stacks it is in."""
    return next(stack.facts[layer.identifier] for stack in stacks if layer.identifier in stack.facts)


def list_arcs(spec: Sdf.PrimSpec, key: str) -> list[Any]:
    """References or payloads that a spec adds."""
    if not spec.HasInfo(key):
        return []
    listed = spec.GetInfo(key)
    return [arc for kind in _LISTS for arc in getattr(listed, kind)]


def _leads_to(layer: Sdf.Layer, arc: Any, target: Sdf.Layer) -> bool:
    return bool(arc.assetPath) and Sdf.Layer.FindRelativeToLayer(layer, arc.assetPath) == target


def make_references(editor: Editor, spec: Sdf.PrimSpec) -> None:
    """Let the payloads of a spec be references, the weakest of them."""
    check_alone(editor, spec)
    arcs = list_arcs(spec, "payload")
    if arcs:
        turn = lambda: _change_kind(spec, arcs, "payload", "references")  # noqa: E731 - asked for, made later
        editor.add(spec.layer, spec.path, "payload becomes a reference", turn)


def make_payloads(editor: Editor, spec: Sdf.PrimSpec, target: Sdf.Layer) -> None:
    """Let the references of a spec to a layer be payloads, the strongest of them."""
    check_alone(editor, spec)
    arcs = list_arcs(spec, "references")
    with Ar.ResolverContextBinder(editor.stage.GetPathResolverContext()):
        chosen = [arc for arc in arcs if _leads_to(spec.layer, arc, target)]
    # payloads are weaker than references: only the weakest references can become payloads without a change
    if chosen != arcs[len(arcs) - len(chosen) :]:
        raise Refused(f"{spec.path} refers to {target.GetDisplayName()} before other layers; list it last")
    if chosen:
        turn = lambda: _change_kind(spec, chosen, "references", "payload")  # noqa: E731 - asked for, made later
        editor.add(spec.layer, spec.path, "reference becomes a payload", turn)


def check_alone(editor: Editor, spec: Sdf.PrimSpec) -> None:
    """Refuse lists of arcs that several layers put together."""
    prim = editor.stage.GetPrimAtPath(spec.path.StripAllVariantSelections())
    for other in prim.GetPrimStack() if prim else ():
        is_other = other.layer != spec.layer and other.path == spec.path
        if is_other and (other.HasInfo("references") or other.HasInfo("payload")):
            where = f"{spec.layer.GetDisplayName()} and {other.layer.GetDisplayName()}"
            raise Refused(f"{where} both bring layers in at {spec.path}; list them in one")
    for key in ("references", "payload"):
        listed = spec.GetInfo(key) if spec.HasInfo(key) else None
        if listed is not None and (listed.deletedItems or listed.orderedItems):
            raise Refused(f"{spec.path} deletes or orders layers that others bring in")


def _change_kind(spec: Sdf.PrimSpec, chosen: list[Any], old: str, new: str) -> None:
    """Make arcs of one kind arcs of the other; they stand between those that are references and payloads already."""
    left = [arc for arc in list_arcs(spec, old) if arc not in chosen]
    kind = _find_list(spec, old)
    make = Sdf.Reference if new == "references" else Sdf.Payload
    arcs = [make(arc.assetPath, arc.primPath, arc.layerOffset) for arc in chosen]
    there = list_arcs(spec, new)
    _write_arcs(
        spec, new, _find_list(spec, new) or kind, [*there, *arcs] if new == "references" else [*arcs, *there]
    )
    _write_arcs(spec, old, kind, left)


def _find_list(spec: Sdf.PrimSpec, key: str) -> str:
    if not spec.HasInfo(key):
        return ""
    return next((kind for kind in _LISTS if getattr(spec.GetInfo(key), kind)), "")


def _write_arcs(spec: Sdf.PrimSpec, key: str, kind: str, arcs: list[Any]) -> None:
    spec.ClearInfo(key)
    if arcs:
        operation = Sdf.ReferenceListOp if key == "references" else Sdf.PayloadListOp
        if kind == "explicitItems":
            listed = operation.CreateExplicit(arcs)
        else:
            listed = operation()
            setattr(listed, kind, arcs)
        spec.SetInfo(key, listed)


def hide_meshes(
    editor: Editor, stacks: list[LayerStack], stack: LayerStack, seen: set[str] | None = None
) -> None:
    """Put the mesh data that a stack brings in behind payloads, its own and what it refers to."""
    known = seen if seen is not None else set()
    if stack.root.identifier in known:
        return
    known.add(stack.root.identifier)
    GeometryCrate(editor, stack).ask([layer for layer in stack.layers if stack.read(layer).has_meshes])
    for other in stacks:
        holders = [s for s in find_holders(editor, [stack], "references", other.root) if other is not stack]
        if not holders:
            continue
        if holds_only_meshes(other):
            for spec in holders:
                make_payloads(editor, spec, other.root)
        else:
            hide_meshes(editor, stacks, other, known)


def holds_only_meshes(stack: LayerStack) -> bool:
    """Is it mesh data and nothing that has to be there without it?"""
    facts = [stack.read(layer) for layer in stack.layers]
    is_plain = not any(known.features or known.placed or known.render_materials for known in facts)
    return is_plain and any(known.has_meshes for known in facts)


_PAYLOAD = "payload"


@fix("payload-no-kinematics", "payload-topology-loaded", phase=3)
def load_kinematics(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """The payload becomes a reference, and the mesh data in it a payload."""
    open_payloads(editor, list(_find_specs(editor, finding)))


@fix("sens-traversable", phase=3)
def load_sensors(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """Let payloads that hold sensors be references, with the mesh data in them behind payloads."""
    open_payloads(editor, list(_find_specs(editor, finding)))


@fix("payload-geo-only", phase=3)
def load_features(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """Let payloads that bring in a layer with features be references."""
    stacks = find_stacks(editor)
    layer = editor.find_layer(finding.where.file)
    roots = [stack.root for stack in stacks if layer in stack.layers]
    specs = [spec for root in roots for spec in find_holders(editor, stacks, _PAYLOAD, root)]
    open_payloads(editor, specs)


@fix("payload-heavy", phase=3)
def load_late(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """References to mesh data become payloads; mesh data among other things gets a layer of its own."""
    if is_divided(editor):
        return
    stack = find_stack(editor, finding.where.file)
    if stack.is_entry or stack.root != editor.find_layer(finding.where.file) or not holds_only_meshes(stack):
        extract(editor, finding)
        return
    for spec in find_holders(editor, find_stacks(editor), "references", stack.root):
        make_payloads(editor, spec, stack.root)


def open_payloads(editor: Editor, specs: list[Sdf.PrimSpec]) -> None:
    """Let payloads be references, with the mesh data of what they bring in behind payloads of its own."""
    if not specs:
        raise Refused("no payload of the asset itself brings it in")
    stacks = find_stacks(editor)
    for spec in specs:
        make_references(editor, spec)
        for stack in _list_brought(editor, stacks, spec):
            hide_meshes(editor, stacks, stack)


def _list_brought(editor: Editor, stacks: list[LayerStack], spec: Sdf.PrimSpec) -> Iterator[LayerStack]:
    with Ar.ResolverContextBinder(editor.stage.GetPathResolverContext()):
        layers = [
            Sdf.Layer.FindRelativeToLayer(spec.layer, arc.assetPath) for arc in list_arcs(spec, _PAYLOAD)
        ]
    yield from (stack for stack in stacks if stack.root in layers)


def _find_specs(editor: Editor, finding: Diagnostic) -> Iterator[Any]:
    """The payloads that bring a prim in: those of the nearest prim that has some."""
    # one function: from the spec that the finding names upwards, until a payload is met
    file, path = finding.where.file, finding.where.prim
    layer = editor.find_layer(file) if file in editor.own else None
    named = layer.GetPrimAtPath(path) if layer is not None and path else None
    if named is not None and list_arcs(named, _PAYLOAD):
        yield named
        return
    prim = editor.stage.GetPrimAtPath(path) if path else None
    while prim and not prim.IsPseudoRoot():
        specs = [spec for spec in prim.GetPrimStack() if list_arcs(spec, _PAYLOAD)]
        if specs:
            yield from (spec for spec in specs if spec.layer.identifier in editor.own)
            return
        prim = prim.GetParent()


_CLASS_ARCS = ("inheritPaths", "specializes")


@fix("arc-inherit-external", phase=3)
def bring_class(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """The class of the scene is copied into the asset; an arc to nothing is taken away."""
    layer = editor.find_layer(finding.where.file)
    spec = layer.GetPrimAtPath(finding.where.prim)
    targets = [
        path for key in _CLASS_ARCS for path in _list_classes(spec, key) if f"from {path}," in finding.message
    ]
    if not targets:
        raise Refused("the arc no longer exists")
    if finding.level is Level.INFO:
        _drop_arc(editor, spec, targets[0])
        return
    source = next((known for known in editor.stage.GetUsedLayers() if known.GetPrimAtPath(targets[0])), None)
    if source is None or source.identifier not in editor.own:
        raise Refused(f"{targets[0]} is defined in a layer of another asset; copy it by hand")
    what = f"class {targets[0]} of {source.GetDisplayName()}"
    editor.add(layer, targets[0], what, lambda: _copy_class(source, layer, targets[0]))


def _list_classes(spec: Sdf.PrimSpec, key: str) -> list[Any]:
    return list(spec.GetInfo(key).GetAddedOrExplicitItems()) if spec is not None and spec.HasInfo(key) else []


def _copy_class(source: Sdf.Layer, layer: Sdf.Layer, path: Sdf.Path) -> None:
    Sdf.CreatePrimInLayer(layer, path)
    Sdf.CopySpec(source, path, layer, path)


def _drop_arc(editor: Editor, spec: Sdf.PrimSpec, target: Sdf.Path) -> None:
    def apply() -> None:
        for key in _CLASS_ARCS:
            if target not in _list_classes(spec, key):
                continue
            listed = spec.inheritPathList if key == "inheritPaths" else spec.specializesList
            listed.RemoveItemEdits(target)
            if not _list_classes(spec, key) and not spec.GetInfo(key).deletedItems:
                spec.ClearInfo(key)

    editor.add(spec.layer, spec.path, f"no arc to {target}", apply)
