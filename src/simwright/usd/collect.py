# SPDX-License-Identifier: Apache-2.0
"""Every file of an asset with the place it gets in a copy, and the layers whose addresses change with it.

The walk starts at the root layer and follows every address a layer holds: arcs, also those of variants that are not
selected, textures and their UDIM tiles.  Files below the folder of the root layer keep their place; what happens to
the others is the caller's choice (:class:`Outside`).  A layer whose addresses stay as they are is copied byte by byte.
"""

from __future__ import annotations

import enum
import os
import posixpath
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simwright.core.diag import Where
from simwright.core.errors import InputError
from simwright.core.gate import Gate
from simwright.core.packages import SCHEME
from simwright.usd.arcs import MAX_LAYERS, open_layer
from simwright.usd.guard import LAYER_SUFFIXES, check_file

COLLECTED_SUFFIXES = frozenset(
    {
        *LAYER_SUFFIXES, ".png", ".jpg", ".jpeg", ".exr", ".avif", ".hdr", ".tif", ".tiff", ".tga", ".bmp", ".ktx2",
        ".m4a", ".mp3", ".wav",
    }
)  # fmt: skip
"""Layers, images and sounds; anything else that an untrusted layer names stays where it is."""
OUTSIDE_FOLDER = "external"
_UDIM = "<UDIM>"


class Outside(enum.Enum):
    """What happens to files that are not below the folder of the root layer."""

    COLLECT = "collect"
    """They are copied too, below ``external/`` (a package) or ``external/<folder>/``."""
    KEEP = "keep"
    """They stay where they are; relative addresses are counted from the copy."""


@dataclass(frozen=True, slots=True)
class MovedAddress:
    """An address that changed: in the layer at ``place``, ``original`` is ``text`` now.

    ``outside`` is a file that stays where it is.
    """

    place: str
    text: str
    original: str
    outside: Path | None


@dataclass(slots=True)
class AssetFiles:
    """The files of an asset.

    ``entry`` is the place of the root layer.  ``files`` maps places to files that are copied as they are, ``layers``
    to layers in memory whose addresses were changed; a place is in one of the two.  ``missing`` lists addresses that
    lead to no file, ``refused`` those of files of other kinds than assets hold, each with the layer that names it.
    ``moved`` are the addresses that changed.
    """

    entry: str
    files: dict[str, Path] = field(default_factory=dict)
    layers: dict[str, Any] = field(default_factory=dict)
    missing: list[tuple[str, str]] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    moved: list[MovedAddress] = field(default_factory=list)

    @property
    def places(self) -> list[str]:
        """Every place, the entry first, the others by name."""
        return [self.entry, *sorted({*self.files, *self.layers} - {self.entry})]


def collect_files(
    root: Any, gate: Gate, *, outside: Outside = Outside.COLLECT, target: Path | None = None, name: str = ""
) -> AssetFiles:
    """The collection of an open root layer; call it with the resolver context of its stage bound.

    Files that ``gate`` does not admit are refused, which it reports.

    ``target`` is the folder of the copy, which addresses of files that stay are counted from; ``name`` the new name of
    the root layer.
    """
    return _FileWalk(root, gate, outside, target, name).run()


class _FileWalk:
    """One walk: the places given so far, and the layers still to be looked at."""

    def __init__(self, root: Any, gate: Gate, outside: Outside, target: Path | None, name: str) -> None:
        self.root = root
        self.gate = gate
        self.outside = outside
        self.target = target
        self.folder = Path(root.realPath).absolute().parent
        self.result = AssetFiles(name or Path(root.realPath).name)
        self.places: dict[str, str] = {str(Path(root.realPath).resolve()): self.result.entry}
        self.taken = {self.result.entry}
        self.queue: deque[tuple[Any, str]] = deque([(root, self.result.entry)])

    def run(self) -> AssetFiles:
        while self.queue:
            layer, place = self.queue.popleft()
            copy = rewrite_addresses(layer, lambda text, at=(layer, place): self._move(text, *at))
            if copy is None:
                self.result.files[place] = Path(layer.realPath)
            else:
                self.result.layers[place] = copy
        for names in (self.result.missing, self.result.refused):
            names[:] = sorted(set(names))
        return self.result

    def _move(self, text: str, layer: Any, place: str) -> str:
        """The address in the copy of what ``text`` means in a layer."""
        from pxr import Ar, Sdf

        if not text or text.startswith("anon:"):
            return text
        anchored = Sdf.ComputeAssetPathRelativeToLayer(layer, text)
        outer, inner = Ar.SplitPackageRelativePathOuter(anchored)
        # the resolver finds no file for a pattern, so the tiles are looked for on disk
        if _UDIM in outer:
            found = self._move_tiles(outer, text, layer)
        else:
            resolved = Ar.GetResolver().Resolve(outer).GetPathString()
            found = self._find_place(resolved, text, layer) if resolved else None
            if not resolved:
                self.result.missing.append((layer.realPath, text))
        if found is None:
            return text
        moved = _count_from(found, place, self.target)
        if _means_the_same(text, moved, place):
            return text
        address = Ar.JoinPackageRelativePath([moved, inner]) if inner else moved
        self.result.moved.append(
            MovedAddress(place, address, text, found if isinstance(found, Path) else None)
        )
        return str(address)

    def _find_place(self, resolved: str, text: str, layer: Any) -> str | Path | None:
        """The place of a file; its own path if it stays; None if its address is to be left alone."""
        # links to one file are one file in the copy: it is collected once
        key = str(Path(resolved).resolve())
        if key in self.places:
            return self.places[key]
        file = Path(resolved)
        if file.suffix.lower() not in COLLECTED_SUFFIXES:
            self.result.refused.append((layer.realPath, text))
            return None
        place = self._choose_place(file, text)
        if place is None:
            # an absolute or package:// address means the same from the copy; a relative one has to be counted
            # anew
            return None if text.startswith((SCHEME, "/")) else Path(key)
        if self.gate.take(file, Where(layer.realPath), text) is None:
            return None
        self.places[key] = place
        self._add(file, place)
        return place

    def _choose_place(self, file: Path, text: str) -> str | None:
        inside = _place_below(file, self.folder)
        if inside is None and self.outside is Outside.KEEP:
            return None
        if inside is not None:
            wanted = inside
        elif text.startswith(SCHEME):
            wanted = posixpath.join(OUTSIDE_FOLDER, posixpath.normpath(text[len(SCHEME) :]).lstrip("/."))
        else:
            wanted = posixpath.join(OUTSIDE_FOLDER, file.parent.name, file.name)
        return self._make_unique(wanted)

    def _make_unique(self, wanted: str) -> str:
        stem, suffix = posixpath.splitext(wanted)
        number = 2
        place = wanted
        while place in self.taken:
            place = f"{stem}_{number}{suffix}"
            number += 1
        self.taken.add(place)
        return place

    def _add(self, file: Path, place: str) -> None:
        from pxr import Tf

        self.result.files[place] = file
        # a .usdz is copied as it is: what is inside names files inside
        if file.suffix.lower() not in (".usd", ".usda", ".usdc") or len(self.places) > MAX_LAYERS:
            return
        try:
            check_file(file)
            layer = open_layer(str(file))
        except (InputError, Tf.ErrorException):  # opening the stage has told of it
            return
        if layer:
            # decided when it is walked: copied byte by byte only if no address in it changes
            del self.result.files[place]
            self.queue.append((layer, place))

    def _move_tiles(self, pattern: str, text: str, layer: Any) -> str | Path | None:
        """Tiles move together; gives the place of the pattern."""
        path = Path(layer.realPath).parent / pattern
        tiles = find_tiles(path)
        if not tiles:
            self.result.missing.append((layer.realPath, text))
            return None
        folder = posixpath.dirname(text)
        found = [self._find_place(str(tile), posixpath.join(folder, tile.name), layer) for tile in tiles]
        first = found[0]
        if first is None:
            return None
        moved = Path(first).parent / path.name
        return moved if isinstance(first, Path) else moved.as_posix()


def find_tiles(pattern: Path) -> list[Path]:
    """The files that a path with ``<UDIM>`` stands for."""
    head, _, tail = pattern.name.partition(_UDIM)
    folder = pattern.parent
    return sorted(
        file
        for file in (folder.iterdir() if folder.is_dir() else ())
        if file.name.startswith(head)
        and file.name.endswith(tail)
        and file.name[len(head) : len(file.name) - len(tail)].isdigit()
    )


def rewrite_addresses(layer: Any, move: Any) -> Any:
    """A copy of a layer in which ``move`` gave every address; None if it changed none."""
    from pxr import Sdf, UsdUtils

    found: dict[str, None] = {}

    def look(text: str) -> str:
        found[text] = None
        return text

    UsdUtils.ModifyAssetPaths(layer, look)  # gives back what is there, so nothing changes
    # not in the callback: what OpenUSD says of a layer that is opened there would be taken for an error of this one
    moved = {text: str(move(text)) for text in found}
    if all(text == new for text, new in moved.items()):
        return None
    copy = Sdf.Layer.CreateAnonymous(Path(layer.realPath).name or "layer.usda")
    copy.TransferContent(layer)
    UsdUtils.ModifyAssetPaths(copy, lambda text: moved.get(text, text))
    return copy


def _place_below(file: Path, folder: Path) -> str | None:
    """The relative path of a file below a folder, links on the way kept; None if it is elsewhere."""
    # folder or file may be behind a link; the path as it is written is tried first, so that links stay links
    for candidate in (file, file.resolve()):
        path = Path(os.path.normpath(candidate))
        for base in (folder, folder.resolve()):
            if base in path.parents:
                return path.relative_to(base).as_posix()
    return None


def _count_from(found: str | Path, place: str, target: Path | None) -> str:
    """An address of a place, or of a file that stays, from a layer's place."""
    if isinstance(found, Path):
        if target is None:
            return str(found)
        start = target.resolve() / posixpath.dirname(place)
        return Path(os.path.relpath(found, start)).as_posix()
    relative = posixpath.relpath(found, posixpath.dirname(place) or ".")
    # OpenUSD looks for a bare name in its search path as well; ./ means beside this layer and nothing else
    return relative if relative.startswith("../") else f"./{relative}"


def _means_the_same(text: str, moved: str, place: str) -> bool:
    """Does an address, as it stands, lead to the same place already?"""
    if text.startswith(("/", SCHEME)):
        return False
    folder = posixpath.dirname(place)
    return posixpath.normpath(posixpath.join(folder, text)) == posixpath.normpath(
        posixpath.join(folder, moved)
    )
