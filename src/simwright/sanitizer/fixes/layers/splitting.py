# SPDX-License-Identifier: Apache-2.0
"""Functional layers: features, vendors, meshes and the entry each in a layer of its own (REP-0158 1.2.1, 1.2.3, 1.4).

A finding stands for the whole asset: the first one has every layer stack split, and the others find nothing to do.
Mesh data goes to a crate, everything that people read to text.  A layer in another encoding is a new file, which takes
the old one's place in all arcs.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from pxr import Ar, Sdf, UsdUtils

from simwright.checker.facts.vendors import VENDOR_NAMESPACES, vendor_of_key
from simwright.core.diag import Diagnostic
from simwright.sanitizer.fixer import UserValues, fix
from simwright.sanitizer.layering.homes import choose_file
from simwright.sanitizer.layering.library import GeometryCrate
from simwright.sanitizer.layering.roles import EVERYTHING, FEATURES, MATERIALS, VENDOR
from simwright.sanitizer.layering.splitting import split_stack
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


@fix("layer-physics-file", "layer-ros-file", phase=3)
def gather_feature(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """One layer for each; what another stack holds would have to be said of other prims."""
    if is_divided(editor):
        return
    stack = find_stack(editor, finding.where.file)
    if len(stack.layers) < 2:
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
            raise Refused("the entry keeps the name of its file; write it again as a .usda")
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
