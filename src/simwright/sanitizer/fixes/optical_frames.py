# SPDX-License-Identifier: Apache-2.0
"""Optical frames of cameras (REP-0158 2.8): a child of the camera, turned by 180 degrees about X, with the interfaces.

What a simulator publishes there has the axes that ROS expects.  The camera itself, its pose and its lens stay.
"""

from __future__ import annotations

from pxr import Gf, Sdf, Usd, UsdGeom

from simwright.core.diag import Diagnostic
from simwright.sanitizer.fixer import Wishes, fix
from simwright.sanitizer.fixes.interface_places import INTERFACES, is_bare, name_interface
from simwright.usd.edit import Editor, Refused
from simwright.usd.overrides import find_ros_layer
from simwright.usd.relocation import (
    claim_name,
    list_authored_apis,
    make_prim,
    move_apis,
    move_prim,
    place_prim,
)

_FRAME = "RosFrameAPI"
_TURN = Gf.Matrix4d(1, 0, 0, 0, 0, -1, 0, 0, 0, 0, -1, 0, 0, 0, 0, 1)
_SECTIONS = ("ros", "frames", "sensors", "cameras")


@fix("optical-decouple", changes=_SECTIONS, phase=0)
def leave_camera(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """The ROS APIs of a camera go to its optical frame; a second interface to a child of that."""
    camera = editor.find_prim(finding.where.prim)
    apis = [api for api in list_authored_apis(camera) if api.startswith("Ros") and api != "RosContextAPI"]
    if not apis and not camera.HasAPI("RosContextAPI"):
        return  # another fix was here before
    if not apis:
        raise Refused("a camera that is a robot's root: put an Xform with the context above it")
    frame = find_frame(camera)
    path = frame.GetPath() if frame else _make_frame(editor, camera, camera)
    if frame is not None and _FRAME in apis:
        raise Refused(f"the camera is a frame, and has the optical frame {frame.GetPath()} already")
    on_frame = [api for api in apis if api not in INTERFACES]
    interfaces = [api for api in apis if api in INTERFACES]
    if frame is None and interfaces:
        on_frame.append(interfaces.pop(0))
    if on_frame:
        move_apis(editor, camera, on_frame, path)
    for api in interfaces:
        name = claim_name(editor, path, name_interface(camera, api))
        move_apis(editor, camera, [api], path.AppendChild(name))


@fix("optical-child-180x", "optical-face-z", changes=_SECTIONS, phase=1)
def turn_frame(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """The frame below its camera, at its place, 180 degrees about X."""
    prim = editor.find_prim(finding.where.prim)
    camera = editor.find_prim(str(finding.data.get("camera", "")))
    if not prim.IsA(UsdGeom.Xformable):
        raise Refused(f"a {prim.GetTypeName() or 'prim without a type'} has no transform; make it an Xform")
    if any(child.IsA(UsdGeom.Gprim) for child in Usd.PrimRange(prim)):
        raise Refused("it has geometry, which would turn too")
    if any(child.HasAPI("PhysicsRigidBodyAPI") for child in Usd.PrimRange(prim)):
        raise Refused("it has a body, which would turn too")
    home = editor.choose_home(prim)
    if prim.GetPath().HasPrefix(camera.GetPath()):
        cache = UsdGeom.XformCache()
        above = cache.GetLocalToWorldTransform(prim.GetParent())
        local = _TURN * cache.GetLocalToWorldTransform(camera) * above.GetInverse()
        place_prim(editor, home.layer, home.path, _round(local))
        editor.shifts.turned.add(prim.GetPath().pathString)
        return
    target = camera.GetPath().AppendChild(claim_name(editor, camera.GetPath(), prim.GetName()))
    move_prim(editor, prim, target)
    place_prim(editor, home.layer, home.path, _TURN)
    editor.shifts.turned.add(target.pathString)


@fix("optical-apis-exclusive", changes=_SECTIONS, phase=0)
def join_frame(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """An image topic goes below the optical frame of its camera."""
    prim = editor.find_prim(finding.where.prim)
    camera = editor.find_prim(str(finding.data.get("camera", "")))
    frame = find_frame(camera)
    path = frame.GetPath() if frame else _make_frame(editor, camera, prim)
    target = path.AppendChild(claim_name(editor, path, name_interface(prim, "RosTopicAPI")))
    if is_bare(prim, "RosTopicAPI") and not prim.HasAPI(_FRAME):
        home = editor.choose_home(prim)
        target = path.AppendChild(claim_name(editor, path, prim.GetName()))
        move_prim(editor, prim, target)
        _drop_transform(editor, home.layer, home.path)
        editor.shifts.turned.add(target.pathString)
    else:
        move_apis(editor, prim, ["RosTopicAPI"], target)


def find_frame(camera: Usd.Prim) -> Usd.Prim | None:
    """The first frame below a camera."""
    return next((prim for prim in Usd.PrimRange(camera) if prim != camera and prim.HasAPI(_FRAME)), None)


def _make_frame(editor: Editor, camera: Usd.Prim, source: Usd.Prim) -> Sdf.Path:
    """An optical frame in the layer that has the interface of ``source``."""
    wanted = f"{camera.GetName()}_optical_frame"
    path = camera.GetPath().AppendChild(wanted)
    if path.pathString in editor.shifts.come:
        return path
    if editor.stage.GetPrimAtPath(path):
        path = camera.GetPath().AppendChild(claim_name(editor, camera.GetPath(), wanted))
    layer, place = make_prim(editor, camera, path, "Xform", [_FRAME], layer=find_ros_layer(editor, source))
    place_prim(editor, layer, place, _TURN)
    return path


def _round(matrix: Gf.Matrix4d) -> Gf.Matrix4d:
    """Without the dust of two transforms that cancel."""
    rows = [[round(matrix[row][column], 12) + 0.0 for column in range(4)] for row in range(4)]
    return Gf.Matrix4d(rows)


def _drop_transform(editor: Editor, layer: Sdf.Layer, path: Sdf.Path) -> None:
    """A topic below an optical frame is where the frame is."""

    def apply() -> None:
        spec = layer.GetPrimAtPath(path)
        for prop in [prop for prop in spec.properties if prop.name.startswith("xformOp")]:
            spec.RemoveProperty(prop)

    editor.add(layer, path, "no transform", apply)
