# SPDX-License-Identifier: Apache-2.0
"""Articulation roots and spanning trees (REP-0158 1.3)."""

from __future__ import annotations

from pxr import Sdf

from simwright.core.diag import Diagnostic, Level
from simwright.sanitizer.fixer import Wishes, fix
from simwright.usd.edit import Editor, Refused, drop_api, edit_apis, read_apis
from simwright.usd.overrides import find_own_place

_ROOT = "PhysicsArticulationRootAPI"


@fix("artic-self-contained", changes=("bodies", "order"), phase=0)
def apply_root(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """The base link carries the root."""
    if finding.level is Level.INFO:
        raise Refused("a prop with one passive joint simulates as well without")
    editor.add_api(editor.find_prim(finding.where.prim), _ROOT)


@fix("artic-prune-delete", changes=("bodies", "order"), phase=0)
def prune_root(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """Where a part is mounted its root is deleted by name; the part itself keeps it for its own use."""
    if "kept" in finding.data:
        _delete(editor, finding.where.prim)
        return
    layer = editor.find_layer(finding.where.file)
    spec = layer.GetPrimAtPath(finding.where.prim)
    if spec is None:
        raise Refused("the list is no longer there")
    items = [str(item) for item in read_apis(spec).explicitItems]

    def apply() -> None:
        listed = Sdf.TokenListOp()
        listed.prependedItems = items
        listed.deletedItems = [_ROOT]
        spec.SetInfo("apiSchemas", listed)

    editor.add(layer, spec.path, f"delete apiSchemas: {_ROOT}, the rest added", apply)
    editor.shifts.changes.update(("masses", "motion", "joints", "poses", "constraints"))


def _delete(editor: Editor, path: str) -> None:
    layer, place = find_own_place(editor, editor.find_prim(path))

    def apply() -> None:
        spec = Sdf.CreatePrimInLayer(layer, place)
        drop_api(spec, _ROOT)
        edit_apis(spec, _ROOT, wanted=False)

    editor.add(layer, place, f"delete apiSchemas: {_ROOT}", apply)


@fix("loop-spanning-tree", changes=("joints", "constraints", "order"))
def exclude_loops(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """The joints that close loops, as ``loop-exclude`` names them."""
    loops = [str(path) for path in finding.data.get("loops", ())]
    if not loops:
        raise Refused("which of the excluded joints belongs to the tree has to be decided")
    for path in loops:
        prim = editor.find_prim(path)
        editor.set_value(prim, "physics:excludeFromArticulation", Sdf.ValueTypeNames.Bool, True, uniform=True)
