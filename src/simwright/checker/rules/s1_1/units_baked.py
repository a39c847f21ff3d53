# SPDX-License-Identifier: Apache-2.0
"""Units of the source (millimetres, inches, Y-up) are converted in the data, not corrected by metadata or a scale.

Why: OpenUSD does not convert units between layers.  A referenced layer in millimetres appears a thousand times too
large, one that is Y-up lies down; and a scale of 0.001 above the links also scales what engines read as metres:
joint frames, centres of mass, other links.

Fails: a referenced layer with `metersPerUnit = 0.01` in an asset of metres; `xformOp:scale = (0.001, 0.001, 0.001)`
on an Xform with other prims below; ops with the suffix `unitsResolve`, which some tools add instead.
Passes: every layer in metres, kilograms, seconds and Z-up; a scale on a leaf mesh.

A note of the source's units in customLayerData is reported as an info: it may only tell where the data came from.

Fix: unsafe.  The scale is pushed into points, sizes and translates, and the op is dropped.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pxr import Sdf

from simwright.checker.facts.kinematics import is_leaf_geometry
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.facts.transforms import XformOp, list_values, read_transforms
from simwright.checker.facts.wording import show_number
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Level
from simwright.usd.questions import items_of

_UNITS = {
    0.001: "millimetres to metres",
    0.01: "centimetres to metres",
    0.0254: "inches to metres",
    0.3048: "feet to metres",
    # the factors the other way round: a converter that multiplied instead of dividing
    39.3701: "metres to inches",
    100.0: "metres to centimetres",
    1000.0: "metres to millimetres",
}
_METADATA = ("metersPerUnit", "kilogramsPerUnit", "upAxis", "timeCodesPerSecond")
_OTHER_UNITS = frozenset({
    "mm", "cm", "um", "in", "ft", "inch", "inches", "foot", "feet", "g", "gram", "grams",
    "millimeter", "millimeters", "millimetre", "millimetres",
    "centimeter", "centimeters", "centimetre", "centimetres",
})  # fmt: skip


@rule(
    "units-baked",
    "1.1",
    "must",
    on="stage",
    heuristic=True,
    fix="unsafe",
    fix_title="push the conversion into points, sizes and translates",
)
def units_baked(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Metadata of other layers against the root's, unit-like scales, resolving ops, notes of units."""
    # a session layer is the viewer's, not the asset's
    own = set(snapshot.stage.GetLayerStack(includeSessionLayers=False))
    session = [layer for layer in snapshot.stage.GetLayerStack() if layer not in own]
    used = [layer for layer in snapshot.stage.GetUsedLayers() if layer not in session]
    for layer in sorted(used, key=lambda item: str(item.identifier)):
        if layer != snapshot.root_layer:
            yield from _compare_layer(layer, snapshot.root_layer)
        yield from _find_notes(layer)
    yield from _find_scales(snapshot)


def _compare_layer(layer: Sdf.Layer, root: Sdf.Layer) -> Iterator[Finding]:
    for key in _METADATA:
        # a missing opinion is another rule's finding; here only two that contradict each other count
        if not (layer.pseudoRoot.HasInfo(key) and root.pseudoRoot.HasInfo(key)):
            continue
        own, wanted = layer.pseudoRoot.GetInfo(key), root.pseudoRoot.GetInfo(key)
        if own == wanted or (not isinstance(own, str) and abs(own - wanted) <= 1e-9 * abs(wanted)):
            continue
        # time is the one unit that OpenUSD does convert between layers
        silent = (
            "OpenUSD rescales its times silently"
            if key == "timeCodesPerSecond"
            else "OpenUSD does not convert it"
        )
        yield Finding(
            f"this layer has {key} = {_show(own)}, the root layer {_show(wanted)}; {silent}",
            hint=f"convert the layer's data and write {key} = {_show(wanted)}",
            layer=layer,
            data={"key": key, "value": own if isinstance(own, float) else str(own)},
        )


def _find_scales(snapshot: StageSnapshot) -> Iterator[Finding]:
    book = read_transforms(snapshot)
    for node, op in book.suffixed:
        if op.suffix == "unitsResolve":
            yield Finding(
                f"{op.name} corrects the units or the up axis of what is below",
                hint="convert the referenced asset itself and remove the op from xformOpOrder",
                at=node,
                prop=op.name,
            )
    for node, op in book.scales:
        if op.suffix == "unitsResolve" or is_leaf_geometry(node, snapshot) or not _holds_something(node):
            continue
        factor = _find_unit(node, op)
        if factor is None:
            continue
        yield Finding(
            f"a scale of {show_number(factor)} looks like a conversion from {_UNITS[factor]}",
            hint="apply it to points, sizes and translates below, then remove the op",
            at=node,
            prop=op.name,
            data={"factor": factor},
        )


def _find_unit(node: PrimNode, op: XformOp) -> float | None:
    """The unit factor that a uniform scale is equal to."""
    values = list_values(node, op)
    if op.kind != "scale" or not values:
        return None
    try:
        x, y, z = map(float, items_of(values[0]))
    except (TypeError, ValueError):
        return None
    if max(x, y, z) - min(x, y, z) > 1e-6 * abs(x):
        return None
    # factors are written with four digits or more: 0.0254, 39.3701
    return next((unit for unit in _UNITS if abs(x - unit) <= 1e-4 * unit), None)


def _holds_something(node: PrimNode) -> bool:
    return any(below.is_a("Xformable") for below in node.descendants())


def _find_notes(layer: Sdf.Layer) -> Iterator[Finding]:
    for key, value in _flatten(layer.customLayerData):
        if "unit" in key.lower() and isinstance(value, str) and value.strip().lower() in _OTHER_UNITS:
            yield Finding(
                f'customLayerData says {key} = "{value}"; metadata of this kind is ignored',
                hint="make sure that the data is in metres and kilograms, and drop the note or call it the source's",
                layer=layer,
                level=Level.INFO,
            )


def _flatten(entries: dict[str, Any], prefix: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    for key, value in entries.items():
        # dictionaries come from files: a bound keeps a deep one from ending in a RecursionError
        if isinstance(value, dict) and depth < 8:
            yield from _flatten(value, f"{prefix}{key}:", depth + 1)
        else:
            yield f"{prefix}{key}", value


def _show(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else show_number(float(value))
