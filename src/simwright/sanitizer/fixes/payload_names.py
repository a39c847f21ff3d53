# SPDX-License-Identifier: Apache-2.0
"""ROS prims that are there without payloads (REP-0158 2.1.1, 2.2): what a payload says of them is said outside too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pxr import Sdf, Usd

from simwright.core.diag import Diagnostic
from simwright.sanitizer.fixer import Wishes, fix
from simwright.usd.edit import Editor, Refused, edit_apis
from simwright.usd.overrides import find_own_place
from simwright.usd.relocation import belongs_to, list_authored_apis
from simwright.usd.xform import ORDER


@fix("ctx-outside-payload", "iface-outside-payload", phase=0)
def hoist(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """The prim, its ROS schemas with their values, and its transform, in the layer that holds the payload."""
    prim = editor.find_prim(finding.where.prim)
    layer, path = find_own_place(editor, prim)
    apis = [api for api in list_authored_apis(prim) if api.startswith("Ros")]
    if not apis:
        raise Refused("its schemas are not there any more")
    for place in _list_hidden(editor, prim, layer):
        kind = str(editor.stage.GetPrimAtPath(place).GetTypeName())
        editor.add(layer, place, f"def {kind} {place.name}", _bind_definition(layer, place, kind))
        editor.shifts.come.add(place.pathString)
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
