# SPDX-License-Identifier: Apache-2.0
"""TF frames (REP-0158 2.7): ids of their own, and a frame for every sensor."""

from __future__ import annotations

from pxr import Sdf, Usd, UsdGeom

from simwright.core.diag import Diagnostic
from simwright.sanitizer.fixer import Wishes, fix
from simwright.sanitizer.fixes.structure import stop_instancing
from simwright.sanitizer.naming import claim_name
from simwright.usd.edit import Editor, Refused
from simwright.usd.overrides import find_ros_layer, override_api, override_value

_FRAME = "RosFrameAPI"
_ID = "ros:frame:id"
_ROS = ("ros", "frames")


@fix("tf-frame-unique", changes=_ROS, phase=0)
def derive_ids(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """Ids from the paths of all frames but the first; frames in instances need prims of their own before."""
    for path in finding.data.get("paths", [finding.where.prim]):
        prim = editor.find_prim(str(path))
        if prim.IsInstanceProxy():
            while not prim.IsInstance():
                prim = prim.GetParent()
            stop_instancing(editor, prim)
            return
        layer = find_ros_layer(editor, prim)
        override_api(editor, prim, _FRAME, layer=layer)
        name = claim_name(editor, prim, "frame id", lambda: map(_read_id, editor.stage.TraverseAll()))
        override_value(editor, prim, _ID, Sdf.ValueTypeNames.String, name, layer=layer)


@fix("tf-frameid-nearest", changes=_ROS, phase=0)
def make_sensor_frame(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """The sensor's Xform is a frame."""
    prim = editor.find_prim(finding.where.prim)
    while prim and not prim.IsPseudoRoot() and not prim.IsA(UsdGeom.Xformable):
        prim = prim.GetParent()
    if not prim or prim.IsPseudoRoot():
        raise Refused("nothing at or above it has a place in the world")
    if prim.IsA(UsdGeom.Camera):
        raise Refused("a camera's frame is its optical frame (optical-decouple)")
    editor.add_api(prim, _FRAME)


def _read_id(prim: Usd.Prim) -> str:
    value = prim.GetAttribute(_ID).Get() if prim.HasAPI(_FRAME) else None
    return value if isinstance(value, str) and value else prim.GetName()
