# SPDX-License-Identifier: Apache-2.0
"""Controllers on logical prims, outside the bodies that they move (REP-0158 4.2.3)."""

from __future__ import annotations

import re

from pxr import Sdf, Usd

from simwright.core.diag import Diagnostic
from simwright.core.names import make_identifier
from simwright.sanitizer.fixer import Wishes, fix
from simwright.sanitizer.fixes.interface_places import find_context, find_top
from simwright.usd.edit import Editor, Refused
from simwright.usd.relocation import claim_name, make_prim, move_apis, move_prim

_SCOPE = "Controllers"
_PREFIX = "RosControl"


@fix("ctrl-decoupled", changes=("ros", "frames"), phase=0)
def leave_bodies(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """A prim that is there for its controllers alone moves as a whole; from any other, each controller does."""
    prim = editor.find_prim(finding.where.prim)
    applied = prim.GetPrimTypeInfo().GetAppliedAPISchemas()  # without those that come with others
    apis = [name for name in applied if name.startswith(_PREFIX)]
    if not apis:
        raise Refused("the controller is no longer there")
    top = find_context(prim) or find_top(editor, prim)
    if prim == top:
        raise Refused("the robot's root is a body; give the robot a prim above its bodies")
    scope = _open_scope(editor, top)
    if str(finding.data.get("body", "")) != prim.GetPath().pathString and _is_bare(prim, apis):
        target = scope.AppendChild(claim_name(editor, scope, prim.GetName()))
        move_prim(editor, prim, target)
        editor.shifts.turned.add(target.pathString)
        return
    for api in apis:
        name = claim_name(editor, scope, name_controller(api))
        move_apis(editor, prim, [api], scope.AppendChild(name))


def name_controller(api: str) -> str:
    """A prim name for a controller: ``diff_drive`` for RosControlDiffDriveAPI."""
    words = api.removeprefix(_PREFIX).partition(":")[0].removesuffix("API")
    return make_identifier(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", words).lower(), "controller")


def _open_scope(editor: Editor, top: Usd.Prim) -> Sdf.Path:
    path = top.GetPath().AppendChild(_SCOPE)
    if not editor.stage.GetPrimAtPath(path) and path.pathString not in editor.shifts.come:
        make_prim(editor, top, path, "Scope")
    return path


def _is_bare(prim: Usd.Prim, apis: list[str]) -> bool:
    others = [name for name in prim.GetPrimTypeInfo().GetAppliedAPISchemas() if name not in apis]
    return not others and not prim.GetAllChildren() and str(prim.GetTypeName()) in ("", "Xform", "Scope")
