# SPDX-License-Identifier: Apache-2.0
"""Bodies that cannot move (REP-0158 1.3): colliders without a body stand still by definition."""

from __future__ import annotations

from simwright.core.diag import Diagnostic
from simwright.sanitizer.fixer import Wishes, fix
from simwright.sanitizer.fixes.masses import make_static
from simwright.sanitizer.welding import MASS_NAMES
from simwright.usd.edit import Editor, Refused
from simwright.usd.relocation import remove_prim


@fix("static-collision-only")
def drop_weld(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """The body and the joint that welds it to the world go; what it is made of stays."""
    prim = editor.find_prim(finding.where.prim)
    joint = str(finding.data.get("joint", ""))
    if joint:
        if any(prim.GetAttribute(name).HasAuthoredValue() for name in MASS_NAMES):
            raise Refused(
                "somebody says how heavy it is: decide whether it is a prop or a robot on its stand"
            )
        remove_prim(editor, editor.find_prim(joint))
    make_static(editor, prim)
