# SPDX-License-Identifier: Apache-2.0
"""Opinions about one prim alone, in the root layer stack at the prim's own path; and the ROS context above a prim.

The strongest spec of a prim may be the one that a reference shares with other prims; what is said there is said of all.
"""

from __future__ import annotations

from typing import Any

from pxr import Sdf, Usd

from simwright.usd.edit import Editor, edit_apis, read_apis


def find_ros_layer(editor: Editor, prim: Usd.Prim) -> Sdf.Layer | None:
    """The layer of the root layer stack that applies ROS schemas to a prim, or to the nearest one above."""
    layers = editor.list_local_layers()
    for path in reversed(prim.GetPath().GetPrefixes()):
        for layer in layers:
            spec = layer.GetPrimAtPath(path)
            if spec is not None and any(
                api.startswith("Ros") for api in read_apis(spec).GetAddedOrExplicitItems()
            ):
                return layer
    return None


def override_value(
    editor: Editor,
    prim: Usd.Prim,
    name: str,
    kind: Sdf.ValueTypeName,
    value: Any,
    *,
    layer: Sdf.Layer | None = None,
) -> None:
    """Let an attribute of this prim, and of no other, have a value."""
    place, path = editor.find_own_place(prim)
    layer = layer or place

    def apply() -> None:
        spec = Sdf.CreatePrimInLayer(layer, path)
        known = spec.properties.get(name) or Sdf.AttributeSpec(spec, name, kind)
        known.default = value

    editor.add(layer, path.AppendProperty(name), f"{kind} {name} = {value!r}", apply)


def override_api(editor: Editor, prim: Usd.Prim, api: str, *, layer: Sdf.Layer | None = None) -> None:
    """Apply a schema to this prim, and to no other."""
    if api in prim.GetAppliedSchemas():
        return
    place, path = editor.find_own_place(prim)
    layer = layer or place
    editor.add(
        layer,
        path,
        f"apiSchemas: {api}",
        lambda: edit_apis(Sdf.CreatePrimInLayer(layer, path), api, wanted=True),
    )


def find_context(prim: Usd.Prim) -> Usd.Prim | None:
    """The outermost context at or above a prim."""
    found = None
    while prim and not prim.IsPseudoRoot():
        found = prim if prim.HasAPI("RosContextAPI") else found
        prim = prim.GetParent()
    return found


def find_top(editor: Editor, prim: Usd.Prim) -> Usd.Prim:
    """The default prim if it is above, else the root prim above."""
    default = editor.stage.GetDefaultPrim()
    if default and prim.GetPath().HasPrefix(default.GetPath()):
        return default
    return editor.stage.GetPrimAtPath(prim.GetPath().GetPrefixes()[0])
