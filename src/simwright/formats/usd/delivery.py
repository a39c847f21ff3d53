# SPDX-License-Identifier: Apache-2.0
"""An asset as one file: a ``.usdz`` package of all its layers and images, or one flattened layer.

Both work on the composed layers themselves and not through the neutral model, so nothing of a USD source is lost on
the way.  Sources in other formats are written as layers first.

A flattened layer has variants chosen, arcs resolved, local frames and instances as they were.  OpenUSD numbers the
prototypes of instances as its threads meet them, and writes the absolute paths of this machine.  Here prototypes are
numbered as the layer meets them, and files are named relative to the new layer: those that are not below its folder are
copied into ``textures/`` beside it.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pxr import Ar, Sdf

from simwright.core.diag import Level, Reporter, Where, declare
from simwright.core.errors import OutputError, UsageError
from simwright.core.files import resolve_inside, write_atomic
from simwright.core.gate import Gate
from simwright.core.scratch import scratch_folder
from simwright.formats.format import ReadOptions, WriteOptions
from simwright.usd.archive import ALLOWED_SUFFIXES, encode_archive, unpack_archive
from simwright.usd.collect import COLLECTED_SUFFIXES, AssetFiles, collect_files, find_tiles
from simwright.usd.complaints import explain_errors
from simwright.usd.guard import check_file
from simwright.usd.layers import encode_layer
from simwright.usd.open import open_stage
from simwright.usd.silence import capture

PACKAGE_SUFFIX = ".usdz"
FLAT_SUFFIXES = (".usda", ".usdc", ".usd")

FILE_MISSING = declare(
    "usd-package-file-missing",
    Level.WARNING,
    "no file was found for {asset!r}; it is not in the result",
    hint="put the file there, or name its package with --package",
    doc="A layer names a texture or layer that is not there, so it cannot be packaged with the others.",
)
FILE_REFUSED = declare(
    "usd-package-file-refused",
    Level.WARNING,
    "{asset!r} is not a layer, image or sound and is not in the result",
    hint="what a package may hold: " + " ".join(sorted(ALLOWED_SUFFIXES)),
    doc="A layer names a file of a kind that a .usdz package must not hold; the address is left as it is.",
)


def deliver_file(
    source: Path, target: Path, options: ReadOptions, write_options: WriteOptions, reporter: Reporter
) -> Path:
    """A USD file as the one file that is asked for."""
    deliver = flatten_file if write_options.flatten else pack_file
    return deliver(
        source, target, options, reporter, approve=write_options.approve, wrote=write_options.wrote
    )


def pack_file(
    source: Path,
    target: Path,
    options: ReadOptions,
    reporter: Reporter,
    *,
    approve: Callable[[], None] = lambda: None,
    wrote: Callable[[Sequence[Path]], None] = lambda _files: None,
) -> Path:
    """Write a USD file and everything it needs as a .usdz package; ``options.variants`` become its selections."""
    with _open_source(source, options, reporter) as (stage, gate):
        with explain_errors(source), capture(), Ar.ResolverContextBinder(stage.GetPathResolverContext()):
            collection = collect_files(stage.GetRootLayer(), gate)
            _keep_selections(stage, collection)
        _report_left(collection, reporter)
        # approve() may raise, so nothing is written before it
        members = [(place, _encode_member(collection, place)) for place in collection.places if _fits(place)]
        approve()
        write_atomic(target, encode_archive(members))
    wrote([target])
    return target


def gather_files(source: Path, options: ReadOptions, reporter: Reporter) -> tuple[str, dict[str, bytes]]:
    """The place of the root layer, and everything the file needs by place: a copy that stands alone."""
    if source.suffix.lower() == PACKAGE_SUFFIX:
        return source.name, {source.name: source.read_bytes()}
    with _open_source(source, options, reporter) as (stage, gate):
        with explain_errors(source), capture(), Ar.ResolverContextBinder(stage.GetPathResolverContext()):
            collection = collect_files(stage.GetRootLayer(), gate)
        members = {place: _encode_member(collection, place) for place in collection.places}
    return collection.entry, {
        place: data.read_bytes() if isinstance(data, Path) else data for place, data in members.items()
    }


def flatten_file(
    source: Path,
    target: Path,
    options: ReadOptions,
    reporter: Reporter,
    *,
    approve: Callable[[], None] = lambda: None,
    wrote: Callable[[Sequence[Path]], None] = lambda _files: None,
) -> Path:
    """Write a USD file as one layer, at the variants of ``options``; files it needs go to ``textures/`` beside it."""
    if target.suffix.lower() not in FLAT_SUFFIXES:
        raise UsageError(
            f"a flattened layer cannot be named {target.name!r}",
            hint="name it " + ", ".join(f"*{suffix}" for suffix in FLAT_SUFFIXES),
            where=Where(str(target)),
        )
    _check_apart(source, target)
    with _open_source(source, options, reporter) as (stage, gate):
        with explain_errors(source), capture(), Ar.ResolverContextBinder(stage.GetPathResolverContext()):
            flat = flatten_stage(stage, target.parent, gate)
            data = encode_layer(flat.layer, target.suffix.lower())
        for asset in sorted(set(flat.refused)):
            reporter.report(FILE_REFUSED, Where(str(source)), asset=Path(asset).name)
        approve()
        files = _write_files(flat, target.parent)
    write_atomic(target, data)
    wrote([*files, target])
    return target


@contextmanager
def _open_source(source: Path, options: ReadOptions, reporter: Reporter) -> Iterator[tuple[Any, Gate]]:
    """The stage of a source, and its gate; packages are opened as the files they hold."""
    with scratch_folder() as folder:
        opened = _unpack(source, folder) if source.suffix.lower() == PACKAGE_SUFFIX else source
        gate = options.make_gate(opened, reporter)
        yield (
            open_stage(
                opened, packages=options.packages, variants=options.variants, reporter=reporter, gate=gate
            ),
            gate,
        )


def _check_apart(source: Path, target: Path) -> None:
    if target.exists() and source.resolve() == target.resolve():
        raise OutputError("is the source file", hint="name another file", where=Where(str(target)))


def _unpack(source: Path, folder: Path) -> Path:
    # names of members are checked before any is unpacked: they may lead out of the folder
    check_file(source)
    return unpack_archive(source, folder)


def _keep_selections(stage: Any, collection: AssetFiles) -> None:
    """Variants that were asked for live in the session layer; the package has them in its root layer."""
    session = stage.GetSessionLayer()
    chosen: dict[Any, dict[str, str]] = {}

    def look(path: Any) -> None:
        spec = session.GetPrimAtPath(path) if path.IsPrimPath() else None
        if spec and len(spec.variantSelections):
            chosen[path] = dict(spec.variantSelections)

    session.Traverse(Sdf.Path.absoluteRootPath, look)
    if not chosen:
        return
    root = collection.layers.get(collection.entry)
    # the root layer is shared with whoever opened it, so a copy is changed
    if root is None:
        root = Sdf.Layer.CreateAnonymous(collection.entry)
        root.TransferContent(stage.GetRootLayer())
        del collection.files[collection.entry]
        collection.layers[collection.entry] = root
    for path, selections in sorted(chosen.items()):
        spec = Sdf.CreatePrimInLayer(root, path)
        for name, variant in sorted(selections.items()):
            spec.variantSelections[name] = variant


def _report_left(collection: AssetFiles, reporter: Reporter) -> None:
    for layer, asset in collection.missing:
        reporter.report(FILE_MISSING, Where(layer), asset=asset)
    for layer, asset in collection.refused:
        reporter.report(FILE_REFUSED, Where(layer), asset=asset)
    for place, file in sorted(collection.files.items()):
        if not _fits(place):
            reporter.report(FILE_REFUSED, Where(str(file)), asset=place)


def _fits(place: str) -> bool:
    return Path(place).suffix.lower() in ALLOWED_SUFFIXES


def _encode_member(collection: AssetFiles, place: str) -> bytes | Path:
    layer = collection.layers.get(place)
    return collection.files[place] if layer is None else encode_layer(layer, Path(place).suffix.lower())


def _write_files(flat: FlatLayer, folder: Path) -> list[Path]:
    """Write what the layer needs, before the layer itself; no other file is replaced."""
    contents: dict[Path, bytes] = {}
    for place, content in sorted(flat.files.items()):
        target = resolve_inside(folder, place)
        data = content.read_bytes() if isinstance(content, Path) else content
        # two flattened assets in one folder may have images of the same name
        if target.exists() and target.read_bytes() != data:
            raise OutputError(
                "is another file, which would be overwritten",
                hint="name an empty folder",
                where=Where(str(target)),
            )
        contents[target] = data
    for target, data in contents.items():
        write_atomic(target, data)
    return [folder / place for place in sorted(flat.files)]


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
