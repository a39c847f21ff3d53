# SPDX-License-Identifier: Apache-2.0
"""Joint prims are called what ROS calls them (REP-0158 2.10), as far as prim names can."""

from __future__ import annotations

from simwright.core.diag import Diagnostic
from simwright.core.names import make_identifier
from simwright.sanitizer.fixer import Wishes, fix
from simwright.usd.edit import Editor, Refused
from simwright.usd.relocation import claim_name, move_prim


@fix("jname-aligned", phase=0)
def rename_joint(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """The prim gets the name; what leads to it follows, and ROS keeps what it knows."""
    prim = editor.find_prim(finding.where.prim)
    wanted = make_identifier(str(finding.data["value"]))
    parent = prim.GetPath().GetParentPath()
    if claim_name(editor, parent, wanted) != wanted:
        raise Refused(f"something else is called {wanted} already")
    move_prim(editor, prim, parent.AppendChild(wanted))
