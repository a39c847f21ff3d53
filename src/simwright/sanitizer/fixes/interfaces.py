# SPDX-License-Identifier: Apache-2.0
"""ROS interfaces on the prims where they belong (REP-0158 2, 2.2, 2.8, 2.9).

The robot's are below its context, a sensor's below its link.  A prim that is there for nothing but its interface moves
as a whole; from any other prim the API and its attributes move.  Names of topics, services and actions stay.

An optical frame is a child of its camera, turned by 180 degrees about X, with the interfaces: what a simulator
publishes there has the axes that ROS expects.  The camera itself, its pose and its lens stay.

The simulator's own interfaces, and one that is said twice, do not belong into an asset.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from pxr import Gf, Sdf, Usd, UsdGeom

from simwright.core.diag import Diagnostic, Level
from simwright.core.names import make_identifier
from simwright.sanitizer.fixer import UserValues, fix
from simwright.usd.edit import Editor, Refused, drop_api, edit_apis, read_apis
from simwright.usd.overrides import find_context, find_ros_layer, find_top
from simwright.usd.relocation import (
    belongs_to,
    claim_name,
    list_authored_apis,
    make_prim,
    move_apis,
    move_prim,
    place_prim,
    remove_prim,
)
from simwright.usd.xform import ORDER

_FRAME = "RosFrameAPI"
_TURN = Gf.Matrix4d(1, 0, 0, 0, 0, -1, 0, 0, 0, 0, -1, 0, 0, 0, 0, 1)
_SECTIONS = ("ros", "frames", "sensors", "cameras")


@fix("optical-decouple", changes=_SECTIONS, phase=0)
def leave_camera(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """The ROS APIs of a camera go to its optical frame; a second interface to a child of that."""
    camera = editor.find_prim(finding.where.prim)
    apis = [api for api in list_authored_apis(camera) if api.startswith("Ros") and api != "RosContextAPI"]
    if not apis and not camera.HasAPI("RosContextAPI"):
        return  # another fix was here before
    if not apis:
        raise Refused("a camera that is a robot's root: put an Xform with the context above it")
    frame = find_frame(camera)
    if frame is not None and _FRAME in apis:
        raise Refused(f"the camera is a frame, and has the optical frame {frame.GetPath()} already")
    path = frame.GetPath() if frame else _make_frame(editor, camera, camera)
    _move_camera_apis(editor, camera, apis, path, is_new=frame is None)


def _move_camera_apis(
    editor: Editor, camera: Usd.Prim, apis: list[str], path: Sdf.Path, *, is_new: bool
) -> None:
    """Move the ROS APIs of a camera to its frame; a frame that was there may have an interface already."""
    on_frame = [api for api in apis if api not in INTERFACES]
    interfaces = [api for api in apis if api in INTERFACES]
    if is_new and interfaces:
        on_frame.append(interfaces.pop(0))
    if on_frame:
        move_apis(editor, camera, on_frame, path)
    # a prim has at most one interface (iface-one-per-prim), so each further one gets a child of its own
    for api in interfaces:
        name = claim_name(editor, path, name_interface(camera, api))
        move_apis(editor, camera, [api], path.AppendChild(name))


@fix("optical-child-180x", "optical-face-z", changes=_SECTIONS, phase=1)
def turn_frame(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
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
        # row vectors: from the frame to the camera, to the world, and back to the parent of the frame
        local = _TURN * cache.GetLocalToWorldTransform(camera) * above.GetInverse()
        place_prim(editor, home.layer, home.path, _round_matrix(local))
        editor.expected.repositioned.add(prim.GetPath().pathString)
        return
    target = camera.GetPath().AppendChild(claim_name(editor, camera.GetPath(), prim.GetName()))
    move_prim(editor, prim, target)
    place_prim(editor, home.layer, home.path, _TURN)
    editor.expected.repositioned.add(target.pathString)


@fix("optical-apis-exclusive", changes=_SECTIONS, phase=0)
def join_frame(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
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
        editor.expected.repositioned.add(target.pathString)
    else:
        move_apis(editor, prim, ["RosTopicAPI"], target)


def find_frame(camera: Usd.Prim) -> Usd.Prim | None:
    """The first frame below a camera."""
    return next((prim for prim in Usd.PrimRange(camera) if prim != camera and prim.HasAPI(_FRAME)), None)


def _make_frame(editor: Editor, camera: Usd.Prim, source: Usd.Prim) -> Sdf.Path:
    """An optical frame in the layer that has the interface of ``source``."""
    wanted = f"{camera.GetName()}_optical_frame"
    path = camera.GetPath().AppendChild(wanted)
    # another finding about the same camera has asked for the frame already
    if path.pathString in editor.expected.added:
        return path
    if editor.stage.GetPrimAtPath(path):
        path = camera.GetPath().AppendChild(claim_name(editor, camera.GetPath(), wanted))
    layer, place = make_prim(editor, camera, path, "Xform", [_FRAME], layer=find_ros_layer(editor, source))
    place_prim(editor, layer, place, _TURN)
    return path


def _round_matrix(matrix: Gf.Matrix4d) -> Gf.Matrix4d:
    """Round away what is left of two transforms that cancel."""
    rows = [[round(matrix[row][column], 12) + 0.0 for column in range(4)] for row in range(4)]
    return Gf.Matrix4d(rows)


def _drop_transform(editor: Editor, layer: Sdf.Layer, path: Sdf.Path) -> None:
    """A topic below an optical frame is where the frame is."""

    def apply() -> None:
        spec = layer.GetPrimAtPath(path)
        for prop in [prop for prop in spec.properties if prop.name.startswith("xformOp")]:
            spec.RemoveProperty(prop)

    editor.add(layer, path, "no transform", apply)


INTERFACES = {"RosTopicAPI": "topic", "RosServiceAPI": "service", "RosActionAPI": "action"}
_BODY = "PhysicsRigidBodyAPI"
_CONTEXT = "RosContextAPI"
_SCOPE = "Interfaces"
_PLAIN = ("", "Xform", "Scope")
_ROS_SECTIONS = ("ros", "frames")


@fix("iface-robotwide-decoupled", changes=_ROS_SECTIONS, phase=0)
def leave_body(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """From a link to a scope below the context."""
    _move_to_scope(editor, finding)


@fix("iface-robotwide-logical", changes=_ROS_SECTIONS, phase=0)
def leave_geometry(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """From a joint or a mesh to a scope below the context; a robot without a context gets one."""
    prim = editor.find_prim(finding.where.prim)
    if find_context(prim) is None:
        editor.add_api(find_top(editor, prim), _CONTEXT)
        return
    _move_to_scope(editor, finding)


@fix("iface-one-per-prim", changes=_ROS_SECTIONS, phase=0)
def split_interfaces(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """The first interface stays, each of the others gets a child."""
    prim = editor.find_prim(finding.where.prim)
    for api in [api for api in INTERFACES if prim.HasAPI(api)][1:]:
        name = claim_name(editor, prim.GetPath(), name_interface(prim, api))
        move_apis(editor, prim, [api], prim.GetPath().AppendChild(name))


@fix("iface-sensor-child", changes=(*_ROS_SECTIONS, "sensors", "cameras"), phase=0)
def place_sensor(editor: Editor, finding: Diagnostic, given: UserValues) -> None:
    """On a child Xform of what it is on, or below the only link there is."""
    prim = editor.find_prim(finding.where.prim)
    if prim.IsA(UsdGeom.Camera):
        from simwright.sanitizer.fixes.interfaces import leave_camera

        leave_camera.apply(editor, finding, given)
    elif not _is_carried(prim):
        _move_to_link(editor, prim)
    elif is_bare(prim, "RosTopicAPI") and not prim.HasAPI(_BODY):
        home = editor.choose_home(prim)
        editor.set_prim_info(home, "typeName", "Xform")
        editor.expected.added.add(prim.GetPath().pathString)
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


def find_body(prim: Usd.Prim) -> Usd.Prim | None:
    """The body at or above a prim."""
    while prim and not prim.IsPseudoRoot():
        if prim.HasAPI(_BODY):
            return prim
        prim = prim.GetParent()
    return None


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
    # a context on a body is where robot-wide interfaces must not be
    top = context if context and not find_body(context) else find_top(editor, prim)
    api = next((api for api, kind in INTERFACES.items() if finding.where.prop == f"ros:{kind}:type"), "")
    if not api or not prim.HasAPI(api):
        raise Refused("its interface no longer exists")
    scope = top.GetPath().AppendChild(_SCOPE)
    known = editor.stage.GetPrimAtPath(scope)
    if not known:
        make_prim(editor, top, scope, "Scope", layer=find_ros_layer(editor, prim))
    elif str(known.GetTypeName()) not in _PLAIN:
        raise Refused(f"{scope} is a {known.GetTypeName()}")
    name = claim_name(editor, scope, name_interface(prim, api))
    if is_bare(prim, api):
        move_prim(editor, prim, scope.AppendChild(name))
        editor.expected.repositioned.add(scope.AppendChild(name).pathString)
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
    # which link carries a sensor decides where its data comes from: never guessed
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


_INTERFACE_SECTIONS = ("ros", "frames", "sensors")


@fix("prohibit-clock", "prohibit-simifaces", changes=_INTERFACE_SECTIONS, phase=0)
def remove_interface(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """The API and its attributes; with the prim, if that is there for nothing else.  Or a node of a graph."""
    prim = editor.find_prim(finding.where.prim)
    if not finding.where.prop:
        _remove_node(editor, prim)
        return
    kind = finding.where.prop.split(":")[1]
    api = next(api for api, word in INTERFACES.items() if word == kind)
    if not prim.HasAPI(api):
        raise Refused("the interface no longer exists")
    if is_bare(prim, api) and not prim.HasAPI("RosFrameAPI"):
        remove_prim(editor, prim)
        return
    editor.remove_api(prim, api)
    for name in prim.GetAuthoredPropertyNames():
        if belongs_to(name, [api]):
            editor.remove_property(prim, name)


@fix("ros-no-duplicate", changes=_INTERFACE_SECTIONS, phase=0)
def remove_duplicate(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """The graph node, with its graph if nothing else is in it; or the plugin text."""
    if finding.level is Level.INFO:
        raise Refused("a graph in a vendor's layer may be what that simulator saved")
    layer = editor.find_layer(finding.where.file)
    if finding.where.prop:
        path = Sdf.Path(finding.where.prim).AppendProperty(finding.where.prop)
        editor.remove_spec(layer.GetPropertyAtPath(path))
        return
    _remove_node(editor, editor.find_prim(finding.where.prim))


def _remove_node(editor: Editor, node: Usd.Prim) -> None:
    graph = node.GetParent()
    # a graph that holds nothing but the node is there for it alone
    if str(graph.GetTypeName()) == "OmniGraph" and len(graph.GetAllChildren()) == 1:
        node = graph
    remove_prim(editor, node)


@fix("ros-single-apply", changes=_INTERFACE_SECTIONS, phase=0)
def apply_plainly(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """The first instance is the prim's own; each of the others becomes a child of its name."""
    layer = editor.find_layer(finding.where.file)
    spec = layer.GetPrimAtPath(finding.where.prim)
    api, instance = str(finding.data["api"]), str(finding.data["instance"])
    listed = read_apis(spec).GetAddedOrExplicitItems() if spec else []
    full = f"{api}:{instance}"
    if full not in listed:
        raise Refused("the instance no longer exists")
    same = [name for name in listed if name.partition(":")[0] == api]
    if same[0] == full:
        what = f"{api} for {full}"
        editor.add(layer, spec.path, what, lambda: _rename_api(spec, full, api))
        _rename_properties(editor, spec, api, instance, spec.path)
        return
    child = spec.path.AppendChild(instance)
    if layer.GetPrimAtPath(child) is not None:
        raise Refused(f"there is a child {instance!r} already")
    editor.add(
        layer,
        child,
        f"def Xform {instance} with {api} for {full}",
        lambda: _split_instance(spec, child, full, api),
    )
    _rename_properties(editor, spec, api, instance, child)
    editor.expected.added.add(child.StripAllVariantSelections().pathString)


def _rename_api(spec: Sdf.PrimSpec, old: str, new: str) -> None:
    listed = read_apis(spec)
    for kind in ("explicitItems", "prependedItems", "appendedItems", "addedItems"):
        items = list(getattr(listed, kind))
        if old in items:
            kept = [new if item == old else item for item in items]
            setattr(listed, kind, list(dict.fromkeys(kept)))
    spec.SetInfo("apiSchemas", listed)


def _split_instance(spec: Sdf.PrimSpec, child: Sdf.Path, full: str, api: str) -> None:
    made = Sdf.PrimSpec(spec, child.name, Sdf.SpecifierDef, "Xform")
    drop_api(spec, full)
    edit_apis(made, api, wanted=True)


def _rename_properties(editor: Editor, spec: Sdf.PrimSpec, api: str, instance: str, owner: Sdf.Path) -> None:
    """``ros:topic:scan:name`` is ``ros:topic:name`` of the instance ``scan``."""
    definition = Usd.SchemaRegistry().FindAppliedAPIPrimDefinition(api)
    names = list(definition.GetPropertyNames()) if definition else []
    layer = spec.layer
    for name in names:
        head, _, tail = name.partition(":")
        middle, _, rest = tail.partition(":")
        old = layer.GetPropertyAtPath(spec.path.AppendProperty(f"{head}:{middle}:{instance}:{rest}"))
        new = owner.AppendProperty(name)
        if old is not None and layer.GetPropertyAtPath(new) is None:
            editor.add(layer, new, f"{name} for {old.name}", _bind_copy(old, new))
            editor.remove_spec(old)


def _bind_copy(old: Sdf.PropertySpec, new: Sdf.Path) -> Callable[[], None]:
    layer, path = old.layer, old.path
    return lambda: Sdf.CopySpec(layer, path, layer, new)
