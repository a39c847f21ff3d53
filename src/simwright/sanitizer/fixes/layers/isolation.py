# SPDX-License-Identifier: Apache-2.0
"""Features in layers of their own: physics, ROS, and one layer for each vendor (REP-0158 1.2.1, 1.4).

A finding stands for the whole asset: the first one has every layer stack split, and the others find nothing to do.
"""

from __future__ import annotations

from collections.abc import Collection

from simwright.checker.facts.vendors import VENDOR_NAMESPACES, vendor_of_key
from simwright.core.diag import Diagnostic
from simwright.sanitizer.fixer import UserValues, fix
from simwright.sanitizer.layering.roles import FEATURES, MATERIALS, VENDOR
from simwright.sanitizer.layering.splitting import split_stack
from simwright.sanitizer.layering.stacks import find_stack, find_stacks, is_settled
from simwright.usd.edit import Editor, Refused


def split_all(editor: Editor, wanted: Collection[str], vendors: Collection[str] = ()) -> None:
    """Split every stack of the asset, once for all findings and rules that want the same."""
    key = f"split {sorted(wanted)} {sorted(vendors)}"
    if key not in editor.known and (vendors or not is_settled(editor)):
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
    """The same; settings of an editor, which nothing reads, are taken away."""
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
    """Physics, ROS and vendors go to overlays."""
    split_all(editor, FEATURES)


@fix("layer-physics-file", "layer-ros-file", phase=3)
def gather_feature(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """One layer for each; what another stack holds would have to be said of other prims."""
    if is_settled(editor):
        return
    stack = find_stack(editor, finding.where.file)
    if len(stack.layers) < 2:
        raise Refused(
            "the layer is referenced by itself; decide whether its prims are to be overlaid one by one"
        )
    split_all(editor, FEATURES)


@fix("layer-materials", phase=3)
def move_materials(editor: Editor, _finding: Diagnostic, _: UserValues) -> None:
    """Materials, node graphs and shaders."""
    split_all(editor, {MATERIALS})
