# SPDX-License-Identifier: Apache-2.0
"""Interfaces on the prims where they belong (REP-0158 2.2): the robot's below its context, a sensor's below its link.

A prim that is there for nothing but its interface moves as a whole; from any other prim the API and its attributes
move.  Names of topics, services and actions stay.
"""

from __future__ import annotations

import re

from pxr import Usd, UsdGeom

from simwright.core.diag import Diagnostic
from simwright.core.names import make_identifier
from simwright.sanitizer.fixer import Wishes, fix
from simwright.usd.edit import Editor, Refused
from simwright.usd.overrides import find_ros_layer
from simwright.usd.relocation import belongs_to, claim_name, make_prim, move_apis, move_prim, place_prim
from simwright.usd.xform import ORDER

INTERFACES = {"RosTopicAPI": "topic", "RosServiceAPI": "service", "RosActionAPI": "action"}
_BODY = "PhysicsRigidBodyAPI"
_CONTEXT = "RosContextAPI"
_SCOPE = "Interfaces"
_PLAIN = ("", "Xform", "Scope")
_ROS = ("ros", "frames")


@fix("iface-robotwide-decoupled", changes=_ROS, phase=0)
def leave_body(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """From a link to a scope below the context."""
    _move_to_scope(editor, finding)


@fix("iface-robotwide-logical", changes=_ROS, phase=0)
def leave_geometry(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """From a joint or a mesh to a scope below the context; a robot without a context gets one."""
    prim = editor.find_prim(finding.where.prim)
    if find_context(prim) is None:
        editor.add_api(find_top(editor, prim), _CONTEXT)
        return
    _move_to_scope(editor, finding)


@fix("iface-one-per-prim", changes=_ROS, phase=0)
def split_interfaces(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """The first interface stays, each of the others gets a child."""
    prim = editor.find_prim(finding.where.prim)
    for api in [api for api in INTERFACES if prim.HasAPI(api)][1:]:
        name = claim_name(editor, prim.GetPath(), name_interface(prim, api))
        move_apis(editor, prim, [api], prim.GetPath().AppendChild(name))


@fix("iface-sensor-child", changes=(*_ROS, "sensors", "cameras"), phase=0)
def place_sensor(editor: Editor, finding: Diagnostic, wishes: Wishes) -> None:
    """On a child Xform of what it is on, or below the only link there is."""
    prim = editor.find_prim(finding.where.prim)
    if prim.IsA(UsdGeom.Camera):
        from simwright.sanitizer.fixes.optical_frames import leave_camera

        leave_camera.apply(editor, finding, wishes)
    elif not _is_carried(prim):
        _move_to_link(editor, prim)
    elif is_bare(prim, "RosTopicAPI") and not prim.HasAPI(_BODY):
        home = editor.choose_home(prim)
        editor.set_prim_info(home, "typeName", "Xform")
        editor.shifts.come.add(prim.GetPath().pathString)
    else:
        name = claim_name(editor, prim.GetPath(), name_interface(prim, "RosTopicAPI"))
        move_apis(editor, prim, ["RosTopicAPI"], prim.GetPath().AppendChild(name))


def name_interface(prim: Usd.Prim, api: str) -> str:
    """A prim name for an interface: the last part of its name, else of its type."""
    kind = INTERFACES[api]
    for word in ("name", "type"):
        value = prim.GetAttribute(f"ros:{kind}:{word}").Get()
        if isinstance(value, str) and value.strip("/ "):
            last = value.strip("/ ").rpartition("/")[2]
            return make_identifier(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", last).lower())
    return kind


def find_context(prim: Usd.Prim) -> Usd.Prim | None:
    """The outermost context at or above a prim."""
    found = None
    while prim and not prim.IsPseudoRoot():
        found = prim if prim.HasAPI(_CONTEXT) else found
        prim = prim.GetParent()
    return found


def find_body(prim: Usd.Prim) -> Usd.Prim | None:
    """The body at or above a prim."""
    while prim and not prim.IsPseudoRoot():
        if prim.HasAPI(_BODY):
            return prim
        prim = prim.GetParent()
    return None


def find_top(editor: Editor, prim: Usd.Prim) -> Usd.Prim:
    """The default prim if it is above, else the root prim above."""
    default = editor.stage.GetDefaultPrim()
    if default and prim.GetPath().HasPrefix(default.GetPath()):
        return default
    return editor.stage.GetPrimAtPath(prim.GetPath().GetPrefixes()[0])


def is_bare(prim: Usd.Prim, api: str) -> bool:
    """Is a prim there for nothing but an interface?"""
    if str(prim.GetTypeName()) not in _PLAIN or prim.GetAllChildren():
        return False
    if any(name not in {api, "RosFrameAPI"} for name in prim.GetAppliedSchemas()):
        return False
    names = prim.GetAuthoredPropertyNames()
    return all(
        belongs_to(name, [api, "RosFrameAPI"]) or name == ORDER or name.startswith("xformOp:")
        for name in names
    )


def _move_to_scope(editor: Editor, finding: Diagnostic) -> None:
    prim = editor.find_prim(finding.where.prim)
    context = find_context(prim)
    top = context if context and not find_body(context) else find_top(editor, prim)
    api = next((api for api, kind in INTERFACES.items() if finding.where.prop == f"ros:{kind}:type"), "")
    if not api or not prim.HasAPI(api):
        raise Refused("its interface is not there any more")
    scope = top.GetPath().AppendChild(_SCOPE)
    known = editor.stage.GetPrimAtPath(scope)
    if not known:
        make_prim(editor, top, scope, "Scope", layer=find_ros_layer(editor, prim))
    elif str(known.GetTypeName()) not in _PLAIN:
        raise Refused(f"{scope} is a {known.GetTypeName()}")
    name = claim_name(editor, scope, name_interface(prim, api))
    if is_bare(prim, api):
        move_prim(editor, prim, scope.AppendChild(name))
        editor.shifts.turned.add(scope.AppendChild(name).pathString)
    else:
        move_apis(editor, prim, [api], scope.AppendChild(name))


def _is_carried(prim: Usd.Prim) -> bool:
    """Is there a body at or above, or no body in the whole robot?"""
    return find_body(prim) is not None or not _list_bodies(prim)


def _list_bodies(prim: Usd.Prim) -> list[Usd.Prim]:
    root = find_context(prim) or prim.GetStage().GetPrimAtPath(prim.GetPath().GetPrefixes()[0])
    return [found for found in Usd.PrimRange(root) if found.HasAPI(_BODY)]


def _move_to_link(editor: Editor, prim: Usd.Prim) -> None:
    bodies = _list_bodies(prim)
    if len(bodies) != 1:
        raise Refused(f"which of the {len(bodies)} links carries the sensor has to be decided")
    if prim.GetAllChildren() or not UsdGeom.Xformable(prim):
        raise Refused("only an Xform that has nothing below can be moved")
    cache = UsdGeom.XformCache()
    local = cache.GetLocalToWorldTransform(prim) * cache.GetLocalToWorldTransform(bodies[0]).GetInverse()
    target = bodies[0].GetPath().AppendChild(claim_name(editor, bodies[0].GetPath(), prim.GetName()))
    move_prim(editor, prim, target)
    home = editor.choose_home(prim)
    place_prim(editor, home.layer, home.path, local)
