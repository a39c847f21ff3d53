# SPDX-License-Identifier: Apache-2.0
"""Namespaces, TF frame ids, and ROS prims that are there without payloads (REP-0158 2.1.1, 2.2, 2.7).

Each robot and part has a namespace of its own, said where a user can say another, and each frame an id of its own.
What a payload says of ROS prims is said outside too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from pxr import Sdf, Usd, UsdGeom

from simwright.core.diag import Diagnostic
from simwright.core.names import shorten_path
from simwright.sanitizer.fixer import UserValues, fix
from simwright.sanitizer.fixes.structure import stop_instancing
from simwright.usd.edit import Editor, Refused, edit_apis
from simwright.usd.overrides import find_ros_layer, override_api, override_value
from simwright.usd.relocation import belongs_to, list_authored_apis, move_apis, prune
from simwright.usd.xform import ORDER


def claim_ros_name(editor: Editor, prim: Usd.Prim, what: str, list_taken: Callable[[], Iterable[str]]) -> str:
    """The last names of a path, as few as are unique; ``what`` it is a name of is remembered with those taken."""
    taken: set[str] | None = editor.memory.get(what)
    if taken is None:
        taken = editor.memory[what] = set(list_taken())
    found = shorten_path([path.name for path in prim.GetPath().GetPrefixes()], taken)
    if found is None:
        raise Refused(f"every {what} that its path gives is taken")
    # the name is not on the stage before the edits are made
    taken.add(found)
    return found


_NAMESPACE = "ros:context:namespace"
_CONTEXT = "RosContextAPI"
_ROS = ("ros", "frames")
_STRING = Sdf.ValueTypeNames.String


@fix("ns-unique", "ns-dup-distinct", changes=_ROS, phase=0)
def name_after_prim(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """The prim's name as its namespace; with its parent's name where another robot has that already."""
    prim = editor.find_prim(finding.where.prim)
    override_api(editor, prim, _CONTEXT)
    override_value(editor, prim, _NAMESPACE, _STRING, _choose_namespace(editor, prim))


@fix("ns-defaultprim", changes=_ROS, phase=0)
def move_to_default(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """The context of the asset on its default prim; a root prim with a context is the default prim that is missing."""
    prim = editor.find_prim(finding.where.prim)
    default = editor.stage.GetDefaultPrim()
    if not default:
        root = prim.GetPath().GetPrefixes()[0]
        editor.set_layer_info("defaultPrim", root.name)
        if prim.GetPath() != root:
            move_apis(editor, prim, [_CONTEXT], root)
        return
    if not prim.GetPath().HasPrefix(default.GetPath()):
        raise Refused(f"{default.GetPath()} is not part of the robot; name another default prim")
    move_apis(editor, prim, [_CONTEXT], default.GetPath())


@fix("ns-override-entry", changes=_ROS, phase=0)
def override_at_entry(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """The override on the prim with the reference."""
    prim = editor.find_prim(finding.where.prim)
    entry = editor.find_prim(str(finding.data.get("entry", "")))
    spec = editor.find_strongest(prim, _NAMESPACE)
    if spec is None:
        raise Refused("the override no longer exists")
    home = editor.choose_home(entry)
    if home.properties.get(_NAMESPACE) is not None:
        raise Refused(f"{entry.GetPath()} has a namespace of its own; decide between the two")
    editor.add_spec_api(home, _CONTEXT)
    editor.set_spec_value(home, _NAMESPACE, _STRING, spec.default)
    _drop_opinion(editor, spec)


@fix("ns-override-root-only", changes=_ROS, phase=0)
def override_at_instance(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """The override on the instance; where that has one, the ignored one goes."""
    layer = editor.find_layer(finding.where.file)
    owner = layer.GetPrimAtPath(finding.where.prim)
    instance = layer.GetPrimAtPath(str(finding.data.get("instance", "")))
    if owner is None or instance is None:
        raise Refused("the override no longer exists")
    for spec in [prop for prop in owner.properties if prop.name.startswith("ros:context:")]:
        if instance.properties.get(spec.name) is None:
            editor.add_spec_api(instance, _CONTEXT)
            editor.set_spec_value(instance, spec.name, spec.typeName, spec.default)
        _drop_opinion(editor, spec)


def _choose_namespace(editor: Editor, prim: Usd.Prim) -> str:
    contexts = (found for found in editor.stage.TraverseAll() if found.HasAPI(_CONTEXT) and found != prim)
    return claim_ros_name(editor, prim, "namespace", lambda: map(_read_namespace, contexts))


def _read_namespace(prim: Usd.Prim) -> str:
    value = prim.GetAttribute(_NAMESPACE).Get()
    return value.strip("/") if isinstance(value, str) else ""


def _drop_opinion(editor: Editor, spec: Sdf.PropertySpec) -> None:
    """Take an opinion away, and the ``over`` with it if that says nothing else."""
    editor.remove_spec(spec)
    owner = spec.owner
    editor.add(owner.layer, owner.path, "no empty over", lambda: prune(owner))


_FRAME = "RosFrameAPI"
_ID = "ros:frame:id"


@fix("tf-frame-unique", changes=_ROS, phase=0)
def derive_ids(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
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
        name = claim_ros_name(editor, prim, "frame id", lambda: map(_read_id, editor.stage.TraverseAll()))
        override_value(editor, prim, _ID, Sdf.ValueTypeNames.String, name, layer=layer)


@fix("tf-frameid-nearest", changes=_ROS, phase=0)
def make_sensor_frame(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
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


@fix("ctx-outside-payload", "iface-outside-payload", phase=0)
def repeat_outside(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """The prim, its ROS schemas with their values, and its transform, in the layer that holds the payload."""
    prim = editor.find_prim(finding.where.prim)
    layer, path = editor.find_own_place(prim)
    apis = [api for api in list_authored_apis(prim) if api.startswith("Ros")]
    if not apis:
        raise Refused("its schemas no longer exist")
    for place in _list_hidden(editor, prim, layer):
        kind = str(editor.stage.GetPrimAtPath(place).GetTypeName())
        editor.add(layer, place, f"def {kind} {place.name}", _bind_definition(layer, place, kind))
        editor.expected.added.add(place.pathString)
    editor.add(layer, path, f"apiSchemas: {', '.join(apis)}", _bind_apis(layer, path, apis))
    for prop in prim.GetAuthoredProperties():
        name = prop.GetName()
        if belongs_to(name, apis) or name == ORDER or name.startswith("xformOp:"):
            known = layer.GetPropertyAtPath(path.AppendProperty(name))
            if known is None:
                editor.add(
                    layer,
                    path.AppendProperty(name),
                    f"{name} as in the payload",
                    _bind_copy(layer, path, prop),
                )


def _list_hidden(editor: Editor, prim: Usd.Prim, layer: Sdf.Layer) -> list[Sdf.Path]:
    """Prims from the payload down to the prim that no layer of the stack defines."""
    paths = list(prim.GetPath().GetPrefixes())
    while paths and not editor.stage.GetPrimAtPath(paths[0]).HasPayload():
        paths.pop(0)
    stack = editor.stage.GetLayerStack(includeSessionLayers=False)
    return [path for path in paths[1:] if not any(_is_defined(each, path) for each in {layer, *stack})]


def _is_defined(layer: Sdf.Layer, path: Sdf.Path) -> bool:
    spec = layer.GetPrimAtPath(path)
    return spec is not None and spec.specifier == Sdf.SpecifierDef


def _bind_definition(layer: Sdf.Layer, path: Sdf.Path, kind: str) -> Callable[[], None]:
    def apply() -> None:
        spec = Sdf.CreatePrimInLayer(layer, path)
        spec.specifier = Sdf.SpecifierDef
        spec.typeName = kind

    return apply


def _bind_apis(layer: Sdf.Layer, path: Sdf.Path, apis: list[str]) -> Callable[[], None]:
    def apply() -> None:
        spec = Sdf.CreatePrimInLayer(layer, path)
        for api in apis:
            edit_apis(spec, api, wanted=True)

    return apply


def _bind_copy(layer: Sdf.Layer, path: Sdf.Path, prop: Usd.Property) -> Callable[[], None]:
    """The value that counts, as it is."""
    name = prop.GetName()
    if isinstance(prop, Usd.Relationship):
        targets = prop.GetTargets()

        def relate() -> None:
            made = Sdf.RelationshipSpec(Sdf.CreatePrimInLayer(layer, path), name, custom=prop.IsCustom())
            made.targetPathList.explicitItems = targets

        return relate
    if prop.GetNumTimeSamples():
        raise Refused(f"{name} changes over time; move it by hand")
    kind, value, variability, custom = prop.GetTypeName(), prop.Get(), prop.GetVariability(), prop.IsCustom()

    def assign() -> None:
        made: Any = Sdf.AttributeSpec(Sdf.CreatePrimInLayer(layer, path), name, kind, variability)
        made.custom = custom
        if value is not None:
            made.default = value

    return assign
