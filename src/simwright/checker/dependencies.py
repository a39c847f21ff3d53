# SPDX-License-Identifier: Apache-2.0
"""Every file that a result depends on: layers, also those of variants that are not selected, and textures.

A file that was looked for and is not there counts too: when it appears, the result is another one.
"""

from __future__ import annotations

import glob
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pxr import Ar, Sdf, Tf

from simwright.checker.facts.layer_walk import gather_layer
from simwright.checker.facts.snapshot import Snapshot
from simwright.core.errors import InputError
from simwright.core.gate import Gate
from simwright.usd.arcs import MAX_LAYERS
from simwright.usd.guard import LAYER_SUFFIXES, check_file
from simwright.usd.silence import capture

_UDIM = "<UDIM>"


def list_files(snapshot: Snapshot) -> list[str]:
    """Absolute paths, sorted; a folder stands for the names in it (tiles of a texture)."""
    files: set[str] = set()
    with capture(), Ar.ResolverContextBinder(snapshot.stage.GetPathResolverContext()):
        facts = {item.layer.identifier: item for item in snapshot.layers}
        queue = [item.layer for item in snapshot.layers]
        seen = set(facts)
        while queue and len(seen) <= MAX_LAYERS:
            layer = queue.pop()
            _add_file(files, layer.realPath)
            own = facts.get(layer.identifier) or gather_layer(layer)
            for text in _list_mentions(layer, (item.text for item in own.asset_paths)):
                other = _follow(files, layer, text, snapshot.gate)
                if other is not None and other.identifier not in seen:
                    seen.add(other.identifier)
                    queue.append(other)
    return sorted(files)


def _list_mentions(layer: Any, values: Iterable[str]) -> Iterator[str]:
    yield from layer.GetCompositionAssetDependencies()
    yield from layer.GetExternalAssetDependencies()
    yield from values


def _follow(files: set[str], layer: Any, text: str, gate: Gate) -> Any:
    """Note the file behind an address; gives the layer if it is one.  What the gate refuses was not looked at."""
    if not text:
        return None
    anchored = Sdf.ComputeAssetPathRelativeToLayer(layer, text)
    if _UDIM in anchored:
        _add_tiles(files, anchored)
        return None
    outer = Ar.SplitPackageRelativePathOuter(anchored)[0]
    resolved = Ar.GetResolver().Resolve(outer).GetPathString()
    if resolved and not gate.admits(resolved):
        return None
    _add_file(files, resolved or outer)
    if not resolved.lower().endswith(LAYER_SUFFIXES):
        return None
    try:
        known = Sdf.Layer.Find(anchored)
        if known:
            return known
        check_file(resolved)
        return Sdf.Layer.FindOrOpen(anchored)
    except (InputError, Tf.ErrorException):
        return None


def _add_file(files: set[str], path: str) -> None:
    outer = Ar.SplitPackageRelativePathOuter(path)[0] if "[" in path else path
    if Path(outer).is_absolute():
        files.add(outer)


def _add_tiles(files: set[str], pattern: str) -> None:
    folder = Path(pattern).parent
    if not folder.is_absolute():
        return
    files.add(str(folder))
    head, _, tail = Path(pattern).name.partition(_UDIM)
    tiles = folder.glob(f"{glob.escape(head)}[0-9][0-9][0-9][0-9]{glob.escape(tail)}")
    files.update(map(str, tiles))
