# SPDX-License-Identifier: Apache-2.0
"""An asset in seconds: time samples, time codes, offsets and the range of the stage, layer by layer.

OpenUSD brings the times of a layer to those of the layer that names it by their rates, so each layer is retimed by its
own; files of other assets keep theirs and still play as they did.
"""

from __future__ import annotations

from typing import Any

from pxr import Sdf

from simwright.sanitizer.conversion.index import walk_specs
from simwright.sanitizer.conversion.rescale import list_own_layers
from simwright.usd.edit import Editor, Refused
from simwright.usd.questions import scalar_type_of

RATE = "timeCodesPerSecond"
_RANGE = ("startTimeCode", "endTimeCode")
_LISTS = ("explicitItems", "prependedItems", "appendedItems", "addedItems", "deletedItems", "orderedItems")


def retime(editor: Editor) -> None:
    """Ask for every own layer in seconds."""
    for layer in list_own_layers(editor):
        retime_layer(editor, layer)


def retime_layer(editor: Editor, layer: Sdf.Layer) -> None:
    """Ask for one layer in seconds; its rate is what OpenUSD takes it for."""
    rate = float(layer.timeCodesPerSecond)
    if not 0.0 < rate < float("inf"):
        raise Refused(
            f"{layer.GetDisplayName()} says {RATE} = {rate}, which is not a rate; write the one that is meant"
        )
    # a layer that says nothing is read with 24 time codes per second
    if rate == 1.0 and layer.pseudoRoot.HasInfo(RATE):
        return
    changed = _retime_range(editor, layer, rate) | _retime_sublayers(editor, layer, rate)
    for spec in walk_specs(layer):
        if spec.HasInfo("clips"):
            raise Refused(f"{spec.path} has value clips; their times have to be converted by hand")
        changed |= _retime_arcs(editor, spec, rate)
        for attribute in spec.properties:
            if isinstance(attribute, Sdf.AttributeSpec):
                changed |= _retime_attribute(editor, attribute, rate)
    if changed or layer == editor.root or layer.pseudoRoot.HasInfo(RATE):
        editor.set_layer_info(RATE, 1.0, layer)


def _retime_range(editor: Editor, layer: Sdf.Layer, rate: float) -> bool:
    found = [key for key in _RANGE if layer.pseudoRoot.HasInfo(key)]
    for key in found:
        editor.set_layer_info(key, float(layer.pseudoRoot.GetInfo(key)) / rate, layer)
    return bool(found)


def _retime_sublayers(editor: Editor, layer: Sdf.Layer, rate: float) -> bool:
    """Offsets count in times of the layer that names the other."""
    found = False
    for number, offset in enumerate(layer.subLayerOffsets):
        if offset.offset != 0.0:
            found = True
            # the scale of an offset is a ratio of times and stays
            shifted = Sdf.LayerOffset(offset.offset / rate, offset.scale)
            what = f"offset of sublayer {number} = {shifted.offset:g}"

            def apply(number: int = number, shifted: Sdf.LayerOffset = shifted) -> None:
                layer.subLayerOffsets[number] = shifted

            editor.add(layer, Sdf.Path.absoluteRootPath, what, apply)
    return found


def _retime_arcs(editor: Editor, spec: Sdf.PrimSpec, rate: float) -> bool:
    found = False
    for key in ("references", "payload"):
        if not spec.HasInfo(key):
            continue
        listed: Any = spec.GetInfo(key)
        shifted = False
        for kind in _LISTS:
            items = list(getattr(listed, kind))
            if any(item.layerOffset.offset for item in items):
                shifted = True
                setattr(listed, kind, [_shift(item, rate) for item in items])
        if shifted:
            found = True
            what = f"offsets of {key} over {rate:g}"
            editor.add(spec.layer, spec.path, what, _bind_info(spec, key, listed))
    return found


def _shift(item: Any, rate: float) -> Any:
    offset = Sdf.LayerOffset(item.layerOffset.offset / rate, item.layerOffset.scale)
    if isinstance(item, Sdf.Reference):
        return Sdf.Reference(item.assetPath, item.primPath, offset, item.customData)
    return Sdf.Payload(item.assetPath, item.primPath, offset)


def _bind_info(spec: Sdf.PrimSpec, key: str, value: Any) -> Any:
    return lambda: spec.SetInfo(key, value)


def _retime_attribute(editor: Editor, attribute: Sdf.AttributeSpec, rate: float) -> bool:
    if attribute.HasInfo("spline"):
        raise Refused(f"{attribute.path} is animated by a spline; write it as time samples first")
    is_code = scalar_type_of(attribute.typeName) == Sdf.ValueTypeNames.TimeCode
    layer, path = attribute.layer, attribute.path
    samples: dict[float, Any] = {}
    if attribute.HasInfo("timeSamples"):
        samples = {
            time / rate: _convert_code(value, rate) if is_code else value
            for time, value in attribute.GetInfo("timeSamples").items()
        }
    default = _convert_code(attribute.default, rate) if is_code and attribute.HasDefaultValue() else None
    if not samples and default is None:
        return False

    def apply() -> None:
        known = layer.GetAttributeAtPath(path)
        if samples:
            known.ClearInfo("timeSamples")
        for time, value in samples.items():
            layer.SetTimeSample(path, time, value)
        if default is not None:
            known.default = default

    editor.add(layer, path, f"times of {attribute.name} over {rate:g}", apply)
    return True


def _convert_code(value: Any, rate: float) -> Any:
    if isinstance(value, Sdf.TimeCode):
        return Sdf.TimeCode(value.GetValue() / rate)
    if isinstance(value, Sdf.ValueBlock):
        return value
    return type(value)([Sdf.TimeCode(code.GetValue() / rate) for code in value])
