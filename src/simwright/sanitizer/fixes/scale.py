# SPDX-License-Identifier: Apache-2.0
"""Scales that do nothing are taken away (REP-0158 1.1)."""

from __future__ import annotations

from pxr import Sdf

from simwright.core.diag import Diagnostic, Fixable
from simwright.sanitizer.fixer import Wishes, fix
from simwright.sanitizer.fixes.transforms import read_order
from simwright.usd.edit import Editor, Refused
from simwright.usd.xform import ORDER


@fix("scale-kinematic-identity", phase=1)
def remove_idle_scale(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """A scale of 1 on a body, or any on a joint, which has no transform."""
    if finding.fixable is not Fixable.SAFE:
        raise Refused("the scale has to be pushed to what is below")
    prim = editor.find_prim(finding.where.prim)
    name = finding.where.prop
    tokens = read_order(prim)
    left = [token for token in tokens if token.removeprefix("!invert!") != name]
    editor.remove_property(prim, name)
    if left != tokens:
        editor.set_value(prim, ORDER, Sdf.ValueTypeNames.TokenArray, left, uniform=True)
