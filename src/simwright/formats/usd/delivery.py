# SPDX-License-Identifier: Apache-2.0
"""An asset as one file: a ``.usdz`` package of all its layers and images, or one flattened layer.

Both work on the composed layers themselves and not through the neutral model, so nothing of a USD source is lost on
the way.  Sources in other formats are written as layers first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
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
from simwright.usd.collect import AssetFiles, collect_files
from simwright.usd.complaints import explain_errors
from simwright.usd.flat import FlatLayer, flatten_stage
from simwright.usd.guard import check_file
from simwright.usd.layers import encode_layer
from simwright.usd.open import open_stage
from simwright.usd.silence import capture

PACKAGE_SUFFIX = ".usdz"
FLAT_SUFFIXES = (".usda", ".usdc", ".usd")

FILE_MISSING = declare(
    "usd-package-file-missing",
    Level.WARNING,
    "{asset!r} leads to no file and is not in the result",
    hint="put the file there, or name its package with --package",
    doc="A layer names a texture or layer that is not there, so it cannot be packaged with the others.",
)
FILE_REFUSED = declare(
    "usd-package-file-refused",
    Level.WARNING,
    "{asset!r} is no layer, image or sound and is not in the result",
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
