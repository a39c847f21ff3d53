# SPDX-License-Identifier: Apache-2.0
"""Bodies, joints and colliders (REP-0158 1.3): what can be said in another way without changing the machine.

These need intent, since a simulator may read the two ways differently; the proof holds for the neutral model.
"""

from __future__ import annotations

from pxr import Sdf

from simwright.core.diag import Diagnostic
from simwright.sanitizer.fixer import Wishes, fix
from simwright.sanitizer.fixes.twins import split_roles
from simwright.usd.edit import Editor, Refused

_KINDS = Sdf.ValueTypeNames


@fix("contact-physics-purpose", changes=("materials", "contacts"))
def bind_for_physics(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """The physics material that all purposes have, for physics."""
    prim = editor.find_prim(finding.where.prim)
    above = prim
    while above and not above.IsPseudoRoot():
        relation = above.GetRelationship(str(finding.data.get("relation", "")))
        if relation and relation.HasAuthoredTargets():
            editor.add_api(prim, "MaterialBindingAPI")
            materials = [target for target in relation.GetTargets() if target.IsPrimPath()]
            editor.set_targets(prim, "material:binding:physics", materials[:1])
            return
        above = above.GetParent()
    raise Refused("the binding is not there")


@fix("coll-purpose-guide", changes=("visuals", "materials"))
def make_guide(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """A collider that has a visual beside it is not for the eye; one that is alone gets one."""
    prim = editor.find_prim(finding.where.prim)
    if "become invisible" in finding.message or "alone it would" in finding.hint:
        split_roles(editor, prim)
        return
    editor.set_value(prim, "purpose", _KINDS.Token, "guide", uniform=True)


@fix("kinematic-enabled", changes=("bodies", "joints", "order", "poses", "motion", "limits"))
def make_kinematic(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """A body with time samples is moved by them."""
    editor.set_value(editor.find_prim(finding.where.prim), "physics:kinematicEnabled", _KINDS.Bool, True)


@fix("loop-exclude", changes=("joints", "constraints", "order"))
def exclude_joint(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """The joint that closes the loop."""
    prim = editor.find_prim(finding.where.prim)
    editor.set_value(prim, "physics:excludeFromArticulation", _KINDS.Bool, True, uniform=True)


@fix("artic-one-root")
def drop_root(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """One articulation root for one tree: the outermost stays."""
    editor.remove_api(editor.find_prim(finding.where.prim), "PhysicsArticulationRootAPI")
