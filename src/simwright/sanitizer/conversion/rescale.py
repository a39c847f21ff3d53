# SPDX-License-Identifier: Apache-2.0
"""An asset in other units of length and mass: every opinion of every own layer is multiplied where it stands.

A factor for lengths commutes with every rotation, so no opinion has to know where its prim is; variants that are not
chosen are converted like all the rest.  Sizes that nobody says are lengths all the same (a sphere without a radius is
one unit large), so they are written down.  Of MuJoCo's general actuators, gain, bias and range of the command depend on
what the law is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pxr import Sdf, Usd

from simwright.formats.usd.actuator_laws import TargetUnits, has_units, pad, scale_law
from simwright.sanitizer.conversion.dimensions import (
    AREA,
    AREA_LIGHTS,
    FORCE,
    INERTIA,
    LENGTH,
    NORMALIZED,
    SHAPES,
    Dimension,
    Factors,
    PrimRole,
    find_dimension,
)
from simwright.sanitizer.conversion.index import SpecIndex, read_index, walk_specs
from simwright.sanitizer.conversion.values import is_numeric, scale_value
from simwright.sanitizer.moments import rescale_note
from simwright.usd.edit import Editor, Refused

_SKINNED = frozenset({"SkelRoot", "Skeleton", "SkelAnimation", "BlendShape"})
_FIELDS = frozenset({"Volume", "OpenVDBAsset", "Field3DAsset"})
_FALLBACKS = {"mjc:width": 0.003}
"""Of schemas that are not installed everywhere."""
_MOST_NAMED = 4


def rescale(editor: Editor, factors: Factors) -> None:
    """Ask for all values of the asset in other units."""
    index = read_index(editor)
    refuse_foreign(editor, factors)
    for layer in list_own_layers(editor):
        rescale_layer(editor, index, layer, factors)
    for prim in index.prims:
        _write_fallbacks(editor, index, prim, factors)
        if str(prim.GetTypeName()) == "MjcActuator":
            rescale_actuator(editor, prim, index.describe_prim(prim), factors)


def rescale_layer(editor: Editor, index: SpecIndex, layer: Sdf.Layer, factors: Factors) -> None:
    """Ask for the opinions of one layer in other units."""
    # one loop: all unknown names are collected first, so that a person sees them together
    unknown: list[str] = []
    for spec in walk_specs(layer):
        kind = spec.typeName
        if kind in _SKINNED:
            raise Refused(
                f"{spec.path} is a {kind}: skinned characters have to be converted where they are made"
            )
        if kind in _FIELDS:
            raise Refused(
                f"{spec.path} is a {kind}, whose cells are in a file of their own: convert it by hand"
            )
        for attribute, dimension in list_measured(index, spec):
            if dimension is None:
                if (
                    any(map(is_numeric, _list_values(attribute)))
                    and index.describe(spec).type != "MjcActuator"
                ):
                    unknown.append(attribute.name)
            elif factors.of(dimension) != 1.0:
                _rescale_attribute(editor, attribute, dimension, factors)
        rescale_note(editor, spec, factors.of(INERTIA))
        # prims on the stage get their sizes by _write_fallbacks
        if kind in SHAPES and not index.find_users(spec):
            _write_missing(editor, spec, factors)
    if unknown:
        names = sorted(set(unknown))
        more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        shown = ", ".join(names[:_MOST_NAMED])
        raise Refused(f"the unit of {shown}{more} is not known; convert or remove them by hand")


def list_own_layers(editor: Editor) -> list[Sdf.Layer]:
    """The asset's own layers, the root first."""
    found = (Sdf.Layer.FindOrOpen(name) for name in sorted(editor.own))
    # by name: the order of edits must not depend on the order of a set
    others = [layer for layer in found if layer and layer != editor.root]
    return [editor.root, *others]


def list_measured(
    index: SpecIndex, spec: Sdf.PrimSpec
) -> Iterator[tuple[Sdf.AttributeSpec, Dimension | None]]:
    """Attributes of a spec that have a unit; None stands for one that nobody knows."""
    role = None
    for attribute in spec.properties:
        if isinstance(attribute, Sdf.AttributeSpec):
            role = role or index.describe(spec)
            dimension = find_dimension(attribute.name, role)
            # seconds and degrees are the same in all units
            if dimension is None or dimension.length or dimension.mass:
                yield attribute, dimension


def has_measures(layer: Sdf.Layer, index: SpecIndex, factors: Factors) -> bool:
    """Would the opinions of a layer change under factors?"""
    for spec in walk_specs(layer):
        if factors.length != 1.0 and spec.typeName in SHAPES:
            return True
        for attribute, dimension in list_measured(index, spec):
            if (dimension is None or factors.of(dimension) != 1.0) and any(
                map(is_numeric, _list_values(attribute))
            ):
                return True
    return False


def refuse_foreign(editor: Editor, factors: Factors) -> None:
    """Another asset that is used here says lengths or masses of its own: somebody has to decide about it."""
    index = read_index(editor)
    for layer in editor.stage.GetUsedLayers():
        if layer.identifier in editor.own or layer.anonymous:
            continue
        if has_measures(layer, index, factors):
            raise Refused(
                f"{layer.GetDisplayName()} belongs to another asset and would keep its units; convert that asset "
                "first and refer to the result, or copy it into this one"
            )


def _list_values(attribute: Sdf.AttributeSpec) -> list[Any]:
    values = [attribute.default] if attribute.HasDefaultValue() else []
    if attribute.HasInfo("timeSamples"):
        values += attribute.GetInfo("timeSamples").values()
    return [value for value in values if not isinstance(value, Sdf.ValueBlock)]


def _rescale_attribute(
    editor: Editor, attribute: Sdf.AttributeSpec, dimension: Dimension, factors: Factors
) -> None:
    # knots and tangents of a spline would have to be converted one by one
    if attribute.HasInfo("spline"):
        raise Refused(f"{attribute.path} is animated by a spline; write it as time samples first")
    factor = factors.of(dimension)
    default, samples = None, {}
    if attribute.HasDefaultValue() and not isinstance(attribute.default, Sdf.ValueBlock):
        default = scale_value(attribute.default, factor, dimension)
    if attribute.HasInfo("timeSamples"):
        samples = {
            time: value if isinstance(value, Sdf.ValueBlock) else scale_value(value, factor, dimension)
            for time, value in attribute.GetInfo("timeSamples").items()
        }
    if default is None and not samples:
        return
    layer, path = attribute.layer, attribute.path

    def apply() -> None:
        known = layer.GetAttributeAtPath(path)
        if default is not None:
            known.default = default
        for time, value in samples.items():
            layer.SetTimeSample(path, time, value)

    editor.add(layer, path, f"{attribute.name} times {factor:g}", apply)


def _write_fallbacks(editor: Editor, index: SpecIndex, prim: Usd.Prim, factors: Factors) -> None:
    """Sizes that nobody says, but whose fallback has a unit; solvers have defaults of their own."""
    kind = str(prim.GetTypeName())
    for name in SHAPES.get(kind, ()):
        _write_fallback(editor, prim, name, factors.of(LENGTH), LENGTH)
    if kind in AREA_LIGHTS and index.describe_prim(prim).mode == NORMALIZED:
        _write_fallback(editor, prim, "inputs:intensity", factors.of(AREA), AREA)


def _write_fallback(editor: Editor, prim: Usd.Prim, name: str, factor: float, dimension: Dimension) -> None:
    attribute = prim.GetAttribute(name)
    if factor == 1.0 or (attribute and attribute.HasAuthoredValue()):
        return
    # a cube that says no size is two units large, whatever a unit is
    value: Any = prim.GetPrimDefinition().GetAttributeFallbackValue(name)
    if value is None:
        value = _FALLBACKS.get(name)
    home = find_definition(editor, prim)
    if value is None or home is None:
        return
    scaled = scale_value(value, factor, dimension)
    kind = attribute.GetTypeName() if attribute else Sdf.ValueTypeNames.Double
    editor.set_spec_value(home, name, kind, scaled, uniform=name.startswith("mjc:"))


def _write_missing(editor: Editor, spec: Sdf.PrimSpec, factors: Factors) -> None:
    """Write the fallback sizes of a prim in a variant that is not chosen: only its own spec is known."""
    definition = Usd.SchemaRegistry().FindConcretePrimDefinition(spec.typeName)
    if definition is None or factors.length == 1.0:
        return
    for name in SHAPES[spec.typeName]:
        attribute = definition.GetAttributeDefinition(name)
        if name in spec.properties or not attribute:
            continue
        value = scale_value(definition.GetAttributeFallbackValue(name), factors.length, LENGTH)
        editor.set_spec_value(spec, name, attribute.GetTypeName(), value)


def find_definition(editor: Editor, prim: Usd.Prim) -> Sdf.PrimSpec | None:
    """The spec of the asset that says what a prim is; None if another asset does."""
    specs = editor.list_prim_specs(prim)
    typed = [spec for spec in specs if spec.typeName]
    return typed[0] if typed else specs[0] if specs else None


_LAW = (
    ("gain", "mjc:gainType", "fixed", "mjc:gainPrm", (1.0,)),
    ("bias", "mjc:biasType", "none", "mjc:biasPrm", ()),
    ("dynamics", "mjc:dynType", "none", "mjc:dynPrm", (1.0,)),
)


def rescale_actuator(editor: Editor, prim: Usd.Prim, role: PrimRole, factors: Factors) -> None:
    """Ask for the law of an ``MjcActuator`` on a joint in other units."""
    # a torque is a force times a length, so it has the dimension of an inertia (times are seconds)
    effort = factors.of(INERTIA) if role.motion == "turn" else factors.of(FORCE)
    step = 1.0 if role.motion == "turn" else factors.length
    if effort == step == 1.0:
        return
    law = _read_law(prim)
    if role.motion not in ("turn", "slide") or not has_units(law):
        raise Refused(
            f"the control law of {prim.GetPath()} has no unit that is known; convert the actuator by hand"
        )
    scaled, command = scale_law(law, TargetUnits(effort, step))
    for key, _, _, name, _ in _LAW[:2]:
        _replace_parameters(editor, prim, name, law[key], scaled[key])
    for end in ("min", "max"):
        name = f"mjc:ctrlRange:{end}"
        value = prim.GetAttribute(name).Get()
        if value and command != 1.0:
            editor.set_value(prim, name, prim.GetAttribute(name).GetTypeName(), value * command)


def _read_law(prim: Usd.Prim) -> dict[str, Any]:
    law: dict[str, Any] = {}
    for key, kind, plain, numbers, default in _LAW:
        law[f"{key}_type"] = str(prim.GetAttribute(kind).Get() or plain)
        values: Any = prim.GetAttribute(numbers).Get()
        law[key] = pad(tuple(float(v) for v in values) if values else default)
    return law


def _replace_parameters(
    editor: Editor, prim: Usd.Prim, name: str, old: list[float], new: list[float]
) -> None:
    if old == new:
        return
    attribute = prim.GetAttribute(name)
    known: Any = attribute.Get() if attribute.HasAuthoredValue() else None
    # MuJoCo has ten parameters; a shorter list stays as short as its author wrote it
    size = max(len(known) if known else 0, 10 if known is None else 0)
    kind = attribute.GetTypeName() if attribute else Sdf.ValueTypeNames.DoubleArray
    editor.set_value(prim, name, kind, new[: size or 10], uniform=True)
