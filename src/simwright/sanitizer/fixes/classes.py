# SPDX-License-Identifier: Apache-2.0
"""Classes that an asset inherits are a part of it (REP-0158 1.2.3)."""

from __future__ import annotations

from typing import Any

from pxr import Sdf

from simwright.core.diag import Diagnostic, Level
from simwright.sanitizer.fixer import Wishes, fix
from simwright.usd.edit import Editor, Refused

_ARCS = ("inheritPaths", "specializes")


@fix("arc-inherit-external", phase=3)
def bring_class(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """The class of the scene is copied into the asset; an arc to nothing is taken away."""
    layer = editor.find_layer(finding.where.file)
    spec = layer.GetPrimAtPath(finding.where.prim)
    targets = [
        path for key in _ARCS for path in _list_targets(spec, key) if f"from {path}," in finding.message
    ]
    if not targets:
        raise Refused("the arc is no longer there")
    if finding.level is Level.INFO:
        _drop_arc(editor, spec, targets[0])
        return
    source = next((known for known in editor.stage.GetUsedLayers() if known.GetPrimAtPath(targets[0])), None)
    if source is None or source.identifier not in editor.own:
        raise Refused(f"{targets[0]} is defined in a layer of another asset; copy it by hand")
    what = f"class {targets[0]} of {source.GetDisplayName()}"
    editor.add(layer, targets[0], what, lambda: _copy(source, layer, targets[0]))


def _list_targets(spec: Any, key: str) -> list[Any]:
    return list(spec.GetInfo(key).GetAddedOrExplicitItems()) if spec is not None and spec.HasInfo(key) else []


def _copy(source: Sdf.Layer, layer: Sdf.Layer, path: Sdf.Path) -> None:
    Sdf.CreatePrimInLayer(layer, path)
    Sdf.CopySpec(source, path, layer, path)


def _drop_arc(editor: Editor, spec: Any, target: Sdf.Path) -> None:
    def apply() -> None:
        for key in _ARCS:
            if target not in _list_targets(spec, key):
                continue
            listed = spec.inheritPathList if key == "inheritPaths" else spec.specializesList
            listed.RemoveItemEdits(target)
            if not _list_targets(spec, key) and not spec.GetInfo(key).deletedItems:
                spec.ClearInfo(key)

    editor.add(spec.layer, spec.path, f"no arc to {target}", apply)
