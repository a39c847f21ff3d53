# SPDX-License-Identifier: Apache-2.0
"""A composed stage as one layer: variants chosen, arcs resolved, local frames and instances as they were.

OpenUSD numbers the prototypes of instances as its threads meet them, and writes the absolute paths of this machine.
Here prototypes are numbered as the layer meets them, and files are named relative to the new layer: those that are
not below its folder are copied into ``textures/`` beside it.
"""

from __future__ import annotations

import os
import posixpath
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simwright.core.gate import Gate
from simwright.usd.collect import COLLECTED_SUFFIXES, find_tiles

PROTOTYPE = "Flattened_Prototype_"
FILES_FOLDER = "textures"
_UDIM = "<UDIM>"


@dataclass(slots=True)
class FlatLayer:
    """A flattened layer, and the files it needs beside it by relative path: where they are, or their bytes.

    ``refused`` are addresses of files that are no part of an asset; they stand as they were.
    """

    layer: Any
    files: dict[str, Path | bytes] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)


def flatten_stage(stage: Any, folder: Path, gate: Gate) -> FlatLayer:
    """Flatten a stage into a layer that is going to be in ``folder``; files outside ``gate`` are reported."""
    from pxr import UsdUtils

    from simwright.usd.notes import find_marks, mark_layer

    root = stage.GetRootLayer()
    flat = FlatLayer(_order_prototypes(stage.Flatten(addSourceFileComment=False)))
    flat.layer.documentation = root.documentation
    # one layer now says what all of them said, so it has the marks of all
    for mark in sorted(find_marks(stage.GetUsedLayers())):
        mark_layer(flat.layer, mark)
    mover = _Mover(flat, folder, Path(root.realPath).parent if root.realPath else folder, gate)
    UsdUtils.ModifyAssetPaths(flat.layer, mover.move)
    # last, so that the new addresses are in the text too
    flat.layer = _order_fields(flat.layer)
    return flat


def _order_fields(layer: Any) -> Any:
    """The same layer with everything said in the order of its text.

    Flattening says things in the order of addresses in memory, and a binary layer keeps that order.
    """
    from pxr import Sdf, Tf

    result = Sdf.Layer.CreateAnonymous("flat.usda")
    try:
        return result if result.ImportFromString(layer.ExportToString()) else layer
    except Tf.ErrorException:  # deeper than the parser of text goes
        return layer


def _order_prototypes(layer: Any) -> Any:
    """The same layer with prototypes named in the order in which they are first used."""
    from pxr import Sdf

    names = _list_prototypes(layer)
    renamed = {f"/{name}": f"/{PROTOTYPE}{number}" for number, name in enumerate(names, start=1)}
    if all(old == new for old, new in renamed.items()):
        return layer
    result = Sdf.Layer.CreateAnonymous("flat.usda")
    for key in layer.pseudoRoot.ListInfoKeys():
        result.pseudoRoot.SetInfo(key, layer.pseudoRoot.GetInfo(key))
    others = [spec.name for spec in layer.rootPrims if spec.name not in names]
    for old, new in [*renamed.items(), *((f"/{name}", f"/{name}") for name in others)]:
        Sdf.CopySpec(layer, old, result, new)
    for spec in _walk_prims(result):
        _rename_references(spec, renamed)
    return result


def _list_prototypes(layer: Any) -> list[str]:
    """Names of the prototypes, in the order in which prims refer to them."""
    found: dict[str, None] = {}
    # breadth first, prototypes when they are first met: they refer to prototypes themselves. One function,
    # since
    # the queue, what was found and the order are one state.
    queue = [spec for spec in layer.rootPrims if not spec.name.startswith(PROTOTYPE)]
    unused = [spec.name for spec in layer.rootPrims if spec.name.startswith(PROTOTYPE)]
    while queue:
        spec = queue.pop(0)
        for child in _walk_prims(spec):
            for item in child.referenceList.GetAddedOrExplicitItems() if child.hasReferences else ():
                name = item.primPath.name
                if not item.assetPath and name.startswith(PROTOTYPE) and name not in found:
                    found[name] = None
                    queue.append(layer.GetPrimAtPath(item.primPath))
    # prototypes that nothing refers to come last, by name: the result must not depend on threads
    return [*found, *(name for name in sorted(unused) if name not in found)]


def _walk_prims(top: Any) -> list[Any]:
    """A prim spec and all below it, or all of a layer, parents first."""
    from pxr import Sdf

    # a stack of our own: layers may be deeper than Python recurses
    stack = list(reversed(top.rootPrims)) if isinstance(top, Sdf.Layer) else [top]
    found = []
    while stack:
        spec = stack.pop()
        found.append(spec)
        stack.extend(reversed(spec.nameChildren))
    return found


def _rename_references(spec: Any, renamed: dict[str, str]) -> None:
    from pxr import Sdf

    if not spec.hasReferences:
        return

    def rename(item: Any) -> Any:
        new = renamed.get(str(item.primPath), "") if not item.assetPath else ""
        return Sdf.Reference("", new, item.layerOffset, item.customData) if new else item

    spec.referenceList.ModifyItemEdits(rename)


class _Mover:
    """Gives addresses of the flattened layer."""

    def __init__(self, flat: FlatLayer, folder: Path, base: Path, gate: Gate) -> None:
        self.flat = flat
        self.gate = gate
        self.folder = folder.absolute()
        self.base = base
        self.places: dict[str, str] = {}

    def move(self, text: str) -> str:
        """The address of a file from the new layer."""
        from pxr import Ar

        outer, inner = Ar.SplitPackageRelativePathOuter(text)
        if inner:
            return self._unpack(text, inner)
        if _UDIM in text:
            return self._place_tiles(text)
        return self._place(text) if Path(outer).is_absolute() and Path(outer).is_file() else text

    def _place_tiles(self, text: str) -> str:
        """Tiles keep their names: each set has a folder of its own."""
        if text not in self.places:
            folder = f"{FILES_FOLDER}/tiles_{sum(_UDIM in known for known in self.places) + 1}"
            tiles = [self._place(str(tile), folder) for tile in find_tiles(self.base / text)]
            pattern = posixpath.basename(text)
            self.places[text] = posixpath.join(posixpath.dirname(tiles[0]), pattern) if tiles else text
        return self.places[text]

    def _place(self, text: str, folder: str = FILES_FOLDER) -> str:
        if text in self.places:
            return self.places[text]
        file = Path(os.path.normpath(text))
        if file.suffix.lower() not in COLLECTED_SUFFIXES:
            self.flat.refused.append(text)
            return text
        if self.gate.take(file, said=text) is None:
            return text
        # what lies below the folder of the new layer needs no copy
        if self.folder in file.parents:
            place = f"./{file.relative_to(self.folder).as_posix()}"
        else:
            place = self._add(file.name, file, folder)
        self.places[text] = place
        return place

    def _unpack(self, text: str, inner: str) -> str:
        """A file inside a package becomes a file of its own."""
        from pxr import Ar

        if text not in self.places:
            outer = Ar.SplitPackageRelativePathOuter(text)[0]
            if self.gate.take(outer, said=text) is None:
                return text
            asset = Ar.GetResolver().OpenAsset(Ar.ResolvedPath(text))
            if not asset or Path(inner).suffix.lower() not in COLLECTED_SUFFIXES:
                self.flat.refused.append(text)
                return text
            with asset:
                self.places[text] = self._add(posixpath.basename(inner), bytes(asset.GetBuffer()))
        return self.places[text]

    def _add(self, name: str, content: Path | bytes, folder: str = FILES_FOLDER) -> str:
        stem, suffix = posixpath.splitext(name)
        place, number = f"{folder}/{name}", 2
        while place in self.flat.files:
            place = f"{folder}/{stem}_{number}{suffix}"
            number += 1
        self.flat.files[place] = content
        return f"./{place}"
