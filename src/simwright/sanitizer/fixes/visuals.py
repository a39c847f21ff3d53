# SPDX-License-Identifier: Apache-2.0
"""The visual_representation of a link: what it shows by default, and that nothing in it collides (REP-0158 1.3.2)."""

from __future__ import annotations

from pxr import Sdf, Usd, UsdGeom

from simwright.core.diag import Diagnostic
from simwright.sanitizer.fixer import Wishes, fix
from simwright.sanitizer.fixes.twins import strip_physics
from simwright.usd.edit import Editor, Refused
from simwright.usd.relocation import claim_name

_SET, _MEDIUM = "visual_representation", "mesh_medium"


@fix("vis-default-medium", changes=("visuals", "materials", "stage"))
def choose_medium(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """The variant for real-time use; the only one there is becomes it."""
    prim = editor.find_prim(finding.where.prim)
    variants = prim.GetVariantSet(_SET)
    names = variants.GetVariantNames()
    if _MEDIUM not in names:
        chosen = variants.GetVariantSelection()
        meant = chosen if chosen in names else names[0] if len(names) == 1 else ""
        if not meant:
            raise Refused(
                f"which of {', '.join(names) or 'no variants'} is for real-time use has to be decided"
            )
        _rename(editor, prim, meant)
    said = [spec for spec in prim.GetPrimStack() if _SET in spec.variantSelections]
    spec = said[0] if said and said[0].layer.identifier in editor.own else editor.choose_home(prim)
    if spec.variantSelections.get(_SET) != _MEDIUM:

        def apply() -> None:
            spec.variantSelections[_SET] = _MEDIUM

        editor.add(spec.layer, spec.path, f'{_SET} = "{_MEDIUM}"', apply)


def _rename(editor: Editor, prim: Usd.Prim, old: str) -> None:
    """A variant gets another name in every layer that has it."""
    for spec in prim.GetPrimStack():
        if _SET not in spec.variantSets.keys() or old not in spec.variantSets[_SET].variants.keys():  # noqa: SIM118
            continue
        source = spec.path.AppendVariantSelection(_SET, old)
        target = spec.path.AppendVariantSelection(_SET, _MEDIUM)

        def apply(spec: Sdf.PrimSpec = spec, source: Sdf.Path = source, target: Sdf.Path = target) -> None:
            held = spec.variantSets[_SET]
            Sdf.VariantSpec(held, _MEDIUM)
            Sdf.CopySpec(spec.layer, source, spec.layer, target)
            held.RemoveVariant(held.variants[old])

        editor.add(spec.layer, source, f"{_MEDIUM} for {old}", apply)


@fix("vis-not-collision", changes=("collisions", "visuals", "materials"))
def take_out_collider(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """What the default variant collides with moves to the collision scope; in the others it is only seen."""
    layer = editor.find_layer(finding.where.file)
    path = Sdf.Path(finding.where.prim)
    spec = layer.GetPrimAtPath(path)
    holder = editor.find_prim(str(finding.data["holder"]))
    variant = str(finding.data["variant"])
    held = Sdf.Path(holder.GetPath()).AppendVariantSelection(_SET, variant)
    if spec is None or not path.HasPrefix(held):
        raise Refused(
            "the collider is in a file that the variant names; take it out there, or name another file"
        )
    if holder.GetVariantSet(_SET).GetVariantSelection() == variant:
        _copy_beside(editor, holder, spec)
    editor.add(layer, path, "no collider", lambda: strip_physics(layer.GetPrimAtPath(path)))


def _copy_beside(editor: Editor, holder: Usd.Prim, spec: Sdf.PrimSpec) -> None:
    """A guide in the scope beside the visuals, at the same place."""
    names = [part.name for part in spec.path.StripAllVariantSelections().GetPrefixes()]
    depth = len(holder.GetPath().GetPrefixes())
    moves = UsdGeom.Xformable(holder)
    if len(names) != depth + 1 or (moves and moves.GetOrderedXformOps()):
        raise Refused("the collider moves with groups of the visuals; put it below the link itself")
    parent = holder.GetPath().GetParentPath()
    scope = parent.AppendChild("collision")
    name = claim_name(editor, scope, names[-1])
    source, target, layer = spec.path, scope.AppendChild(name), spec.layer

    def apply() -> None:
        owner = Sdf.CreatePrimInLayer(layer, scope)
        if not owner.typeName and owner.specifier == Sdf.SpecifierOver:
            owner.specifier, owner.typeName = Sdf.SpecifierDef, "Scope"
        Sdf.CopySpec(layer, source, layer, target)
        guide = layer.GetPrimAtPath(target)
        known = guide.properties.get("purpose")
        purpose = known or Sdf.AttributeSpec(
            guide, "purpose", Sdf.ValueTypeNames.Token, Sdf.VariabilityUniform
        )
        purpose.default = "guide"

    editor.add(layer, target, f"the collider {target}", apply)
    editor.shifts.come.add(target.pathString)
