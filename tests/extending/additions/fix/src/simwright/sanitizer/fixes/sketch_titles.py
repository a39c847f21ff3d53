# SPDX-License-Identifier: Apache-2.0
"""Names for people."""

from __future__ import annotations

from simwright.core.diag import Diagnostic
from simwright.sanitizer.fixer import UserValues, fix
from simwright.usd.edit import Editor


@fix("sketch-titled", values=("sketch-title",))
def title_sketch(editor: Editor, finding: Diagnostic, given: UserValues) -> None:
    """Take the name that the user says, else that of the prim."""
    prim = editor.find_prim(finding.where.prim)
    title = given.find("sketch-title") or prim.GetName()
    if not prim.GetDisplayName():
        editor.set_prim_info(editor.choose_home(prim), "displayName", title)
