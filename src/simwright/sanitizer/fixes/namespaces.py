# SPDX-License-Identifier: Apache-2.0
"""Namespaces of robots and their parts (REP-0158 2.1.1): each its own, said where a user can say another."""

from __future__ import annotations

from pxr import Sdf, Usd

from simwright.core.diag import Diagnostic
from simwright.sanitizer.fixer import Wishes, fix
from simwright.sanitizer.naming import claim_name
from simwright.usd.edit import Editor, Refused
from simwright.usd.overrides import override_api, override_value
from simwright.usd.relocation import move_apis, prune

_NAME = "ros:context:namespace"
_CONTEXT = "RosContextAPI"
_ROS = ("ros", "frames")
_STRING = Sdf.ValueTypeNames.String


@fix("ns-unique", "ns-dup-distinct", changes=_ROS, phase=0)
def name_after_prim(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """The prim's name as its namespace; with its parent's name where another robot has that already."""
    prim = editor.find_prim(finding.where.prim)
    override_api(editor, prim, _CONTEXT)
    override_value(editor, prim, _NAME, _STRING, _choose_namespace(editor, prim))


@fix("ns-defaultprim", changes=_ROS, phase=0)
def move_to_default(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
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
        raise Refused(f"{default.GetPath()} is no part of the robot; name another default prim")
    move_apis(editor, prim, [_CONTEXT], default.GetPath())


@fix("ns-override-entry", changes=_ROS, phase=0)
def override_at_entry(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """The override on the prim with the reference."""
    prim = editor.find_prim(finding.where.prim)
    entry = editor.find_prim(str(finding.data.get("entry", "")))
    spec = editor.find_strongest(prim, _NAME)
    if spec is None:
        raise Refused("the override is not there any more")
    home = editor.choose_home(entry)
    if home.properties.get(_NAME) is not None:
        raise Refused(f"{entry.GetPath()} has a namespace of its own; decide between the two")
    editor.add_spec_api(home, _CONTEXT)
    editor.set_spec_value(home, _NAME, _STRING, spec.default)
    _drop(editor, spec)


@fix("ns-override-root-only", changes=_ROS, phase=0)
def override_at_instance(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """The override on the instance; where that has one, the ignored one goes."""
    layer = editor.find_layer(finding.where.file)
    owner = layer.GetPrimAtPath(finding.where.prim)
    instance = layer.GetPrimAtPath(str(finding.data.get("instance", "")))
    if owner is None or instance is None:
        raise Refused("the override is not there any more")
    for spec in [prop for prop in owner.properties if prop.name.startswith("ros:context:")]:
        if instance.properties.get(spec.name) is None:
            editor.add_spec_api(instance, _CONTEXT)
            editor.set_spec_value(instance, spec.name, spec.typeName, spec.default)
        _drop(editor, spec)


def _choose_namespace(editor: Editor, prim: Usd.Prim) -> str:
    contexts = (found for found in editor.stage.TraverseAll() if found.HasAPI(_CONTEXT) and found != prim)
    return claim_name(editor, prim, "namespace", lambda: map(_read, contexts))


def _read(prim: Usd.Prim) -> str:
    value = prim.GetAttribute(_NAME).Get()
    return value.strip("/") if isinstance(value, str) else ""


def _drop(editor: Editor, spec: Sdf.PropertySpec) -> None:
    """Take an opinion away, and the ``over`` with it if that says nothing else."""
    editor.remove_spec(spec)
    owner = spec.owner
    editor.add(owner.layer, owner.path, "no empty over", lambda: prune(owner))
