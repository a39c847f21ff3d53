# SPDX-License-Identifier: Apache-2.0
"""The model hierarchy (REP-0158 1.2.2): subcomponents inside components, groups above models."""

from __future__ import annotations

from simwright.core.diag import Diagnostic
from simwright.sanitizer.fixer import Wishes, fix
from simwright.usd.edit import Editor, Refused


@fix("kind-hierarchy", phase=0)
def mend_hierarchy(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """Models inside a component become subcomponents; a prim above models becomes a group."""
    nested = [str(path) for path in finding.data.get("nested", ())]
    for path in nested:
        _say(editor, path, "subcomponent")
    if not nested:
        _say(editor, finding.where.prim, "group")


def _say(editor: Editor, path: str, kind: str) -> None:
    prim = editor.find_prim(path)
    if not prim.IsInstanceProxy():
        editor.set_prim_info(editor.choose_home(prim), "kind", kind)
        return
    specs = [spec for spec in prim.GetPrimInPrototype().GetPrimStack() if spec.HasInfo("kind")]
    if not specs or specs[0].layer.identifier not in editor.own:
        raise Refused("it is inside an instance of another asset")
    editor.set_prim_info(specs[0], "kind", kind)
