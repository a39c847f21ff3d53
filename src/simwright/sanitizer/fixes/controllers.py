# SPDX-License-Identifier: Apache-2.0
"""Controllers find a drive at the joints that they command, and one of them starts (REP-0158 4.2.3)."""

from __future__ import annotations

from pxr import Sdf

from simwright.core.diag import Diagnostic
from simwright.sanitizer.fixer import Wishes, fix
from simwright.usd.edit import Editor, Refused

_AXES = {"PhysicsRevoluteJoint": "angular", "PhysicsPrismaticJoint": "linear"}
_STARTS = "control:starts_enabled"
_BOOL = Sdf.ValueTypeNames.Bool


@fix("ctrl-drive")
def apply_drive(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """A drive without gains takes commands and does nothing; its gains are for a person to choose."""
    prim = editor.find_prim(finding.where.prim)
    axis = _AXES.get(str(prim.GetTypeName()))
    if axis is None:
        raise Refused("which axis is driven has to be decided")
    drives = [api for api in prim.GetAppliedSchemas() if api.startswith("PhysicsDriveAPI:")]
    if any(name.startswith("drive:") for name in prim.GetAuthoredPropertyNames()):
        raise Refused(f"it has numbers for another axis ({', '.join(drives)}); decide what they are for")
    for api in drives:
        editor.remove_api(prim, api)
    editor.add_api(prim, f"PhysicsDriveAPI:{axis}")
    for name in ("stiffness", "damping"):
        editor.set_value(prim, f"drive:{axis}:physics:{name}", Sdf.ValueTypeNames.Float, 0.0)


@fix("ctrl-no-conflict", changes=("ros",))
def start_disabled(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """The first controller of a joint starts, the others wait."""
    prim = editor.find_prim(finding.where.prim)
    known = [name for name in prim.GetAuthoredPropertyNames() if name.endswith(":starts_enabled")]
    for name in known or [_STARTS]:
        editor.set_value(prim, name, _BOOL, False)
        if not known:
            _mark_custom(editor, finding.where.prim)


def _mark_custom(editor: Editor, path: str) -> None:
    """No schema declares the name."""
    home = editor.choose_home(editor.find_prim(path))
    place = home.path.AppendProperty(_STARTS)

    def apply() -> None:
        home.layer.GetAttributeAtPath(place).custom = True

    editor.add(home.layer, place, f"custom {_STARTS}", apply)
