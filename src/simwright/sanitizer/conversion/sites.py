# SPDX-License-Identifier: Apache-2.0
"""Where a new value of a prim is written: at its strongest opinion, or above all of them where that one is shared.

A spec that makes several prims (a class, a part that is referred to twice) cannot say something new of one of them;
that is said in the root layer instead.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from pxr import Sdf, Usd

from simwright.sanitizer.conversion.index import SpecIndex
from simwright.usd.edit import Editor, Refused, redeclare, show


@dataclass(frozen=True, slots=True)
class SpecSite:
    """A prim in a layer, which may have to be made."""

    layer: Sdf.Layer
    path: Sdf.Path

    def open(self) -> Sdf.PrimSpec:
        """The spec; made as an over if there is none."""
        return self.layer.GetPrimAtPath(self.path) or Sdf.CreatePrimInLayer(self.layer, self.path)


def find_site(editor: Editor, index: SpecIndex, prim: Usd.Prim, names: Callable[[str], bool]) -> SpecSite:
    """Find where properties whose names pass ``names`` are written."""
    own = editor.list_prim_specs(prim)
    if not own:
        raise Refused(f"{prim.GetPath()} belongs to another asset, which has to be fixed itself")
    # shared: another prim would change along, so the value is said in the root layer, for this prim alone
    if not index.is_shared(prim, editor):
        stack = prim.GetPrimStack()
        said = next((spec for spec in stack if any(names(prop.name) for prop in spec.properties)), own[0])
        if said.layer.identifier in editor.own:
            return SpecSite(said.layer, said.path)
        # an own spec that is stronger than the other asset's can override what is said there
        if stack.index(own[0]) < stack.index(said):
            return SpecSite(own[0].layer, own[0].path)
    if prim.IsInPrototype():
        raise Refused(f"{prim.GetPath()} is part of what instances share; decide for all of them")
    return SpecSite(editor.root, prim.GetPath())


def write_value(
    editor: Editor,
    place: SpecSite,
    name: str,
    kind: Sdf.ValueTypeName,
    value: Any = None,
    *,
    samples: dict[float, Any] | None = None,
    uniform: bool = False,
) -> None:
    """Ask for a value, or for time samples in times of the stage, and nothing else."""
    offset = _find_offset(editor.stage, place.layer)
    path = place.path.AppendProperty(name)

    def apply() -> None:
        spec = place.open()
        known = place.layer.GetPropertyAtPath(path)
        if known is not None and (not isinstance(known, Sdf.AttributeSpec) or known.typeName != kind):
            redeclare(known, kind)
            known = place.layer.GetPropertyAtPath(path)
        if known is None:
            known = Sdf.AttributeSpec(
                spec, name, kind, Sdf.VariabilityUniform if uniform else Sdf.VariabilityVarying
            )
        if known.HasInfo("timeSamples"):
            known.ClearInfo("timeSamples")
        if value is not None:
            known.default = value
        for time, sample in (samples or {}).items():
            # samples are read in times of the stage; a sublayer may be shifted against it
            place.layer.SetTimeSample(path, offset * time, sample)

    what = f"{kind} {name}: {len(samples)} time samples" if samples else f"{kind} {name} = {show(value)}"
    editor.add(place.layer, path, what, apply)


def rewrite(
    editor: Editor,
    index: SpecIndex,
    prim: Usd.Prim,
    name: str,
    convert: Callable[[Any], Any],
    *,
    fallback: bool = False,
) -> None:
    """Ask for another value of an attribute, at every time; ``fallback`` counts also where nobody says it."""
    attribute = prim.GetAttribute(name)
    if not attribute or not (attribute.HasAuthoredValue() or fallback):
        return
    place = find_site(editor, index, prim, lambda text: text == name)
    times = attribute.GetTimeSamples()
    value = attribute.Get()
    samples = {time: convert(attribute.Get(time)) for time in times}
    uniform = attribute.GetVariability() == Sdf.VariabilityUniform
    new = None if value is None else convert(value)
    if new is not None or samples:
        write_value(editor, place, name, attribute.GetTypeName(), new, samples=samples, uniform=uniform)


def drop_properties(editor: Editor, prim: Usd.Prim, place: SpecSite, names: Collection[str]) -> None:
    """Ask for properties to go, where they are this prim's alone."""
    stack = editor.stage.GetLayerStack(includeSessionLayers=False)
    for spec in prim.GetPrimStack():
        # behind a reference the property may belong to other prims as well; there the new order leaves it out
        local = spec.layer.identifier in editor.own and spec.layer in stack and spec.path == prim.GetPath()
        if local or (spec.layer == place.layer and spec.path == place.path):
            for prop in spec.properties:
                if prop.name in names:
                    editor.remove_spec(prop)


def _find_offset(stage: Usd.Stage, layer: Sdf.Layer) -> Any:
    """From times of the stage to times of a layer in its root layer stack; others count as they stand."""
    # behind a reference there may be several offsets, one for each prim that refers to the layer
    if layer not in stage.GetLayerStack(includeSessionLayers=False):
        return Sdf.LayerOffset()
    return stage.GetEditTargetForLocalLayer(layer).GetMapFunction().timeOffset.GetInverse()
