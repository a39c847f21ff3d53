# SPDX-License-Identifier: Apache-2.0
"""Making a variant set of what a prim says: one state for everybody by default, the other kept as a choice.

Variants are weaker than what a prim says itself and stronger than its references.  So the prim's own opinions move into
the variant that keeps them, in the layer that has them, and what comes by reference just shows through.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any

from pxr import Sdf, Usd, UsdGeom

from simwright.usd.edit import Editor, Refused
from simwright.usd.relocation import list_sites

Value = tuple[Sdf.ValueTypeName, Any, bool]
"""Type, value (None takes it away), and whether it is uniform."""


def list_own_specs(editor: Editor, prim: Usd.Prim) -> list[Sdf.PrimSpec]:
    """Specs that are a mesh's alone and not behind its own arcs, strongest first; all have to be the asset's."""
    found = []
    users = count_users(editor)
    for node, layer in list_sites(prim):
        spec = layer.GetPrimAtPath(node.path)
        # what a spec says of several meshes cannot become a variant of one of them
        if spec is None or users.get((layer.identifier, node.path), 0) > 1:
            continue
        if layer.identifier not in editor.own:
            raise Refused(f"{layer.GetDisplayName()} belongs to another asset, which has to be fixed itself")
        found.append(spec)
    if not found:
        raise Refused("the prim belongs to another asset, which has to be fixed itself")
    return found


def count_users(editor: Editor) -> dict[tuple[str, Sdf.Path], int]:
    """Count the meshes of the stage, prototypes once, that each spec speaks of."""
    # counted once for all findings of a fix: the whole stage has to be walked for it
    users: dict[tuple[str, Sdf.Path], int] | None = editor.memory.get("users")
    if users is None:
        users = editor.memory["users"] = {}
        roots = [editor.stage.GetPseudoRoot(), *editor.stage.GetPrototypes()]
        for prim in (prim for root in roots for prim in Usd.PrimRange(root)):
            if prim.IsA(UsdGeom.Mesh):
                for spec in prim.GetPrimStack():
                    key = (spec.layer.identifier, spec.path)
                    users[key] = users.get(key, 0) + 1
    return users


@dataclass(slots=True)
class VariantState:
    """A variant: its name, the values of properties, and a prim that has more of them."""

    name: str
    values: dict[str, Value] = field(default_factory=dict)
    reference: Sdf.Reference | None = None


def make_variants(
    editor: Editor,
    prim: Usd.Prim,
    name: str,
    default: VariantState,
    other: VariantState,
    *,
    hidden: Collection[str] = (),
) -> None:
    """A variant set with two variants, the first one chosen.

    What the prim itself says of any of the properties is kept in the second variant; ``hidden`` are children that the
    first one does not have.
    """
    specs = list_own_specs(editor, prim)
    # one function: which spec holds what decides where each part of the variants goes
    _check_known_set(prim, name, default, other)
    moved = {*default.values, *other.values}
    holders = [spec for spec in specs if any(prop.name in moved for prop in spec.properties)]
    # a reference is brought in where the prim is defined; values stay in the layer that has such values
    home = choose_spec(specs) if default.reference else next(iter(holders), specs[0])
    # new arrays go where the old points are said, so that one layer holds all of a mesh
    home = next((spec for spec in holders if "points" in spec.properties), home)
    others = [spec for spec in specs if any(child in spec.nameChildren for child in hidden)]
    for spec in dict.fromkeys((home, *holders, *others)):
        states = (default, other) if spec == home else (VariantState(default.name), VariantState(other.name))
        what = f"variantSet {name}: {default.name} and {other.name}"
        editor.add(spec.layer, spec.path, what, _bind(spec, name, states, moved, hidden))
    borrowed = [child for child in hidden if not any(child in spec.nameChildren for spec in specs)]
    _hide(editor, home, name, default.name, borrowed)
    _select(editor, home, name, default.name)


def _check_known_set(prim: Usd.Prim, name: str, default: VariantState, other: VariantState) -> None:
    """Refuse a variant set of that name that means something else."""
    if name not in prim.GetVariantSets().GetNames():
        return
    known = prim.GetVariantSet(name)
    if (
        not {default.name, other.name} <= set(known.GetVariantNames())
        or known.GetVariantSelection() != default.name
    ):
        raise Refused(f"it has a variant set {name} with other variants already")


def choose_spec(specs: list[Sdf.PrimSpec]) -> Sdf.PrimSpec:
    """The one that defines the prim."""
    return next((spec for spec in specs if spec.specifier == Sdf.SpecifierDef), specs[0])


def _select(editor: Editor, spec: Sdf.PrimSpec, name: str, variant: str) -> None:
    def apply() -> None:
        spec.variantSelections[name] = variant

    editor.add(spec.layer, spec.path, f'{name} = "{variant}"', apply)


def _hide(editor: Editor, spec: Sdf.PrimSpec, name: str, variant: str, children: list[str]) -> None:
    """Children that come by reference are switched off."""
    place = spec.path.AppendVariantSelection(name, variant)

    def apply() -> None:
        for child in children:
            Sdf.CreatePrimInLayer(spec.layer, place.AppendChild(child)).active = False

    if children:
        editor.add(spec.layer, place, f"no {', '.join(children)}", apply)


def _bind(
    spec: Sdf.PrimSpec,
    name: str,
    states: tuple[VariantState, VariantState],
    moved: Collection[str],
    hidden: Collection[str],
) -> Callable[[], None]:
    layer, path = spec.layer, spec.path

    def apply() -> None:
        owner = layer.GetPrimAtPath(path)
        # the set may be there from an earlier finding about the same prim
        held = owner.variantSets.get(name) or Sdf.VariantSetSpec(owner, name)
        first, second = (
            held.variants.get(state.name) or Sdf.VariantSpec(held, state.name) for state in states
        )
        if name not in owner.variantSetNameList.GetAddedOrExplicitItems():
            owner.variantSetNameList.Prepend(name)
        # local opinions are stronger than variants: they have to go, or the variant would have no effect
        for prop in [prop for prop in owner.properties if prop.name in moved]:
            Sdf.CopySpec(layer, prop.path, layer, second.primSpec.path.AppendProperty(prop.name))
            owner.RemoveProperty(prop)
        for child in [child for child in hidden if child in owner.nameChildren]:
            Sdf.CopySpec(layer, path.AppendChild(child), layer, second.primSpec.path.AppendChild(child))
            del owner.nameChildren[child]
        for variant, state in zip((first, second), states, strict=True):
            for key, value in state.values.items():
                write_value(variant.primSpec, key, value)
            if state.reference is not None:
                variant.primSpec.referenceList.Prepend(state.reference)

    return apply


def write_value(spec: Sdf.PrimSpec, name: str, value: Value) -> None:
    """Let an attribute of a spec have a value, or none whatever weaker ones say."""
    kind, content, uniform = value
    known = spec.properties.get(name)
    variability = Sdf.VariabilityUniform if uniform else Sdf.VariabilityVarying
    attribute = known or Sdf.AttributeSpec(spec, name, kind, variability)
    # a block hides weaker opinions, which leaving the attribute out would not
    attribute.default = Sdf.ValueBlock() if content is None else content
