# SPDX-License-Identifier: Apache-2.0
"""One robot instead of an array of copies: the first is kept (REP-0158 1.2.6)."""

from __future__ import annotations

from pxr import Sdf

from simwright.core.diag import Diagnostic
from simwright.sanitizer.fixer import Wishes, fix
from simwright.usd.edit import Editor, Refused
from simwright.usd.relocation import remove_prim

_CHANGES = (
    "bodies", "joints", "order", "poses", "masses", "motion", "limits", "drives", "visuals", "collisions",
    "materials", "contacts", "constraints", "sensors", "frames", "ros",
)  # fmt: skip


@fix("canonical-single", "no-baked-clones", changes=_CHANGES, phase=0)
def keep_first(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """All copies but the first go, each with what holds it and nothing else."""
    copies = [Sdf.Path(path) for path in finding.data.get("copies", ())]
    if len(copies) < 2:
        raise Refused("the copies are not known")
    for base in copies[1:]:
        holder = find_holder(base, copies)
        if editor.stage.GetPrimAtPath(holder):
            remove_prim(editor, editor.find_prim(holder.pathString))


def find_holder(base: Sdf.Path, copies: list[Sdf.Path]) -> Sdf.Path:
    """The outermost prim at or above a base body that holds no other copy."""
    holder = base
    while True:
        above = holder.GetParentPath()
        if above.IsAbsoluteRootPath() or any(other != base and other.HasPrefix(above) for other in copies):
            return holder
        holder = above
