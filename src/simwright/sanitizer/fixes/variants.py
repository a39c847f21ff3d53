# SPDX-License-Identifier: Apache-2.0
"""Default selections of variant sets (REP-0158 1.2.4).

What a selection brings in was not there before, and is what the fix is for: the proof looks at the old asset with the
same selection made from outside.
"""

from __future__ import annotations

from pxr import Sdf

from simwright.core.diag import Diagnostic
from simwright.sanitizer.fixer import Wishes, fix
from simwright.usd.edit import Editor, Refused


@fix("variant-default", phase=0)
def select_variant(editor: Editor, finding: Diagnostic, wishes: Wishes) -> None:
    """The variant that was asked for (``variant.SET=NAME``), else the first."""
    name = str(finding.data.get("set", ""))
    variants = [str(variant) for variant in finding.data.get("variants", [])]
    asked = wishes.find(f"variant.{name}")
    if not variants:
        raise Refused("the set has no variants")
    if asked and asked not in variants:
        raise Refused(f"{asked!r} is none of {', '.join(variants)}")
    prim = editor.find_prim(finding.where.prim)
    home = editor.choose_home(prim)
    chosen = asked or variants[0]
    editor.add(home.layer, home.path, f"variants: {name} = {chosen}", lambda: _select(home, name, chosen))
    editor.shifts.selected[prim.GetPath().pathString, name] = chosen


def _select(spec: Sdf.PrimSpec, name: str, chosen: str) -> None:
    spec.variantSelections[name] = chosen
