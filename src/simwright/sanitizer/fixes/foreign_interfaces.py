# SPDX-License-Identifier: Apache-2.0
"""Interfaces that do not belong into an asset (REP-0158 2, 2.9): the simulator's own, and one that is said twice."""

from __future__ import annotations

from collections.abc import Callable

from pxr import Sdf, Usd

from simwright.core.diag import Diagnostic, Level
from simwright.sanitizer.fixer import Wishes, fix
from simwright.sanitizer.fixes.interface_places import INTERFACES, is_bare
from simwright.usd.edit import Editor, Refused, drop_api, edit_apis, read_apis
from simwright.usd.relocation import belongs_to, remove_prim

_ROS = ("ros", "frames", "sensors")


@fix("prohibit-clock", "prohibit-simifaces", changes=_ROS, phase=0)
def remove_interface(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """The API and its attributes; with the prim, if that is there for nothing else."""
    prim = editor.find_prim(finding.where.prim)
    kind = finding.where.prop.split(":")[1]
    api = next(api for api, word in INTERFACES.items() if word == kind)
    if not prim.HasAPI(api):
        raise Refused("the interface is not there any more")
    if is_bare(prim, api) and not prim.HasAPI("RosFrameAPI"):
        remove_prim(editor, prim)
        return
    editor.remove_api(prim, api)
    for name in prim.GetAuthoredPropertyNames():
        if belongs_to(name, [api]):
            editor.remove_property(prim, name)


@fix("ros-no-duplicate", changes=_ROS, phase=0)
def remove_duplicate(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """The graph node, with its graph if nothing else is in it; or the plugin text."""
    if finding.level is Level.INFO:
        raise Refused("a graph in a vendor's layer may be what that simulator saved")
    layer = editor.find_layer(finding.where.file)
    if finding.where.prop:
        path = Sdf.Path(finding.where.prim).AppendProperty(finding.where.prop)
        editor.remove_spec(layer.GetPropertyAtPath(path))
        return
    prim = editor.find_prim(finding.where.prim)
    parent = prim.GetParent()
    if str(parent.GetTypeName()) == "OmniGraph" and len(parent.GetAllChildren()) == 1:
        prim = parent
    remove_prim(editor, prim)


@fix("ros-single-apply", changes=_ROS, phase=0)
def apply_plainly(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """The first instance is the prim's own; each of the others becomes a child of its name."""
    layer = editor.find_layer(finding.where.file)
    spec = layer.GetPrimAtPath(finding.where.prim)
    api, instance = str(finding.data["api"]), str(finding.data["instance"])
    listed = read_apis(spec).GetAddedOrExplicitItems() if spec else []
    full = f"{api}:{instance}"
    if full not in listed:
        raise Refused("the instance is not there any more")
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
        layer, child, f"def Xform {instance} with {api} for {full}", lambda: _split(spec, child, full, api)
    )
    _rename_properties(editor, spec, api, instance, child)
    editor.shifts.come.add(child.StripAllVariantSelections().pathString)


def _rename_api(spec: Sdf.PrimSpec, old: str, new: str) -> None:
    listed = read_apis(spec)
    for kind in ("explicitItems", "prependedItems", "appendedItems", "addedItems"):
        items = list(getattr(listed, kind))
        if old in items:
            kept = [new if item == old else item for item in items]
            setattr(listed, kind, list(dict.fromkeys(kept)))
    spec.SetInfo("apiSchemas", listed)


def _split(spec: Sdf.PrimSpec, child: Sdf.Path, full: str, api: str) -> None:
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
