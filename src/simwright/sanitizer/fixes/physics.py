# SPDX-License-Identifier: Apache-2.0
"""Bodies, joints, colliders and articulations (REP-0158 1.3): said in another way without changing the machine.

These need intent, since a simulator may read the two ways differently; the proof holds for the neutral model.
"""

from __future__ import annotations

from pxr import Sdf, UsdPhysics

from simwright.core.diag import Diagnostic, Level
from simwright.sanitizer.fixer import UserValues, fix
from simwright.sanitizer.fixes.visuals import split_roles
from simwright.sanitizer.layering.stacks import find_stacks
from simwright.sanitizer.welding import chain_joints, pass_root
from simwright.usd.edit import Editor, Refused, drop_api, edit_apis, read_apis

_KINDS = Sdf.ValueTypeNames


@fix("contact-physics-purpose", changes=("materials", "contacts"))
def bind_for_physics(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
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
def make_guide(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """A collider that has a visual beside it is not for the eye; one that is alone gets one."""
    prim = editor.find_prim(finding.where.prim)
    if "become invisible" in finding.message or "alone it would" in finding.hint:
        split_roles(editor, prim)
        return
    editor.set_value(prim, "purpose", _KINDS.Token, "guide", uniform=True)


@fix("kinematic-enabled", changes=("bodies", "joints", "order", "poses", "motion", "limits"))
def make_kinematic(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """A body with time samples is moved by them."""
    editor.set_value(editor.find_prim(finding.where.prim), "physics:kinematicEnabled", _KINDS.Bool, True)


@fix("loop-exclude", changes=("joints", "constraints", "order"))
def exclude_joint(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """The joint that closes the loop; joints that stand for the axes of one get links between them."""
    if finding.data.get("stack"):
        chain_joints(editor, [str(path) for path in finding.data["stack"]])
        return
    prim = editor.find_prim(finding.where.prim)
    editor.set_value(prim, "physics:excludeFromArticulation", _KINDS.Bool, True, uniform=True)


@fix("artic-one-root")
def drop_root(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """One articulation root for one tree: the outermost stays."""
    editor.remove_api(editor.find_prim(finding.where.prim), "PhysicsArticulationRootAPI")


_ROOT_API = "PhysicsArticulationRootAPI"


@fix("artic-self-contained", changes=("bodies", "order"), phase=0)
def apply_root(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """The fixed joint to the world carries the root, else the base link."""
    if finding.level is Level.INFO:
        raise Refused("a prop with one passive joint simulates as well without")
    editor.add_api(editor.find_prim(str(finding.data.get("place", finding.where.prim))), _ROOT_API)


_ROOT_VALUE = "articulation-root"


@fix("artic-fixed-root", values=(_ROOT_VALUE,), changes=("bodies", "order"), phase=0)
def move_root(editor: Editor, finding: Diagnostic, given: UserValues) -> None:
    """From the base link to the joint that fixes it, with what engines say of it."""
    choice = given.find(_ROOT_VALUE)
    if choice not in ("", "joint"):
        raise Refused(f"{_ROOT_VALUE} can only be 'joint', not {choice!r}")
    # one file cannot serve both: PhysX wants the root off the link, MuJoCo's reader on it
    if not choice and any("mujoco" in facts.vendors for facts in find_stacks(editor)[0].facts.values()):
        raise Refused(
            "MuJoCo's own USD reader (4.0.0) opens the asset, which has words for it, only with the root on the base "
            f"link: --set {_ROOT_VALUE}=joint moves it all the same, for PhysX (Isaac Sim)"
        )
    base, anchor = (editor.find_prim(path) for path in (finding.where.prim, str(finding.data["anchor"])))
    pass_root(editor, base, anchor)


@fix("artic-prune-delete", changes=("bodies", "order"), phase=0)
def prune_root(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """Where a part is mounted its root is deleted by name; the part itself keeps it for its own use."""
    if "kept" in finding.data:
        _delete_root(editor, finding.where.prim)
        return
    layer = editor.find_layer(finding.where.file)
    spec = layer.GetPrimAtPath(finding.where.prim)
    if spec is None:
        raise Refused("the list no longer exists")
    items = [str(item) for item in read_apis(spec).explicitItems]

    def apply() -> None:
        listed = Sdf.TokenListOp()
        # an explicit list replaces what the part applies; prepended, only the root is taken from it
        listed.prependedItems = items
        listed.deletedItems = [_ROOT_API]
        spec.SetInfo("apiSchemas", listed)

    editor.add(layer, spec.path, f"delete apiSchemas: {_ROOT_API}, the rest added", apply)
    editor.expected.sections.update(("masses", "motion", "joints", "poses", "constraints"))


def _delete_root(editor: Editor, path: str) -> None:
    layer, place = editor.find_own_place(editor.find_prim(path))

    def apply() -> None:
        spec = Sdf.CreatePrimInLayer(layer, place)
        drop_api(spec, _ROOT_API)
        edit_apis(spec, _ROOT_API, wanted=False)

    editor.add(layer, place, f"delete apiSchemas: {_ROOT_API}", apply)


@fix("loop-spanning-tree", changes=("joints", "constraints", "order"))
def exclude_loops(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """The joints that close loops, as ``loop-exclude`` names them."""
    loops = [str(path) for path in finding.data.get("loops", ())]
    if not loops:
        raise Refused("which of the excluded joints belongs to the tree has to be decided")
    for path in loops:
        # of these loop-exclude makes chains
        if path in finding.data.get("stacked", ()):
            continue
        prim = editor.find_prim(path)
        editor.set_value(prim, "physics:excludeFromArticulation", Sdf.ValueTypeNames.Bool, True, uniform=True)


_PAIRS = "physics:filteredPairs"


@fix("selfcoll-pairs", changes=("contacts",))
def drop_idle_pairs(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """Pairs that a joint filters anyway, and targets that are not there."""
    if "is paired with" in finding.message:
        raise Refused("which bodies a collision group is to hold has to be decided")
    prim = editor.find_prim(finding.where.prim)
    targets = UsdPhysics.FilteredPairsAPI(prim).GetFilteredPairsRel().GetTargets()
    idle = set(finding.data.get("superfluous", ()))
    left = [path for path in targets if str(path) not in idle and editor.stage.GetObjectAtPath(path)]
    if left == targets:
        return
    editor.set_targets(prim, _PAIRS, left)
    if not left:
        editor.remove_api(prim, "PhysicsFilteredPairsAPI")
