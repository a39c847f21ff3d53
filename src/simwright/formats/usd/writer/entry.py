# SPDX-License-Identifier: Apache-2.0
"""The asset's folder: all layers, the entry that brings them together, written whole (REP-0158 1.2).

``<name>.usda`` says what the asset is and refers to the layers: vendors first, then ROS, extended physics, physics
and the link tree.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pxr import Tf

from simwright.core.diag import Reporter, Where
from simwright.core.errors import LimitError, OutputError, UsageError
from simwright.core.files import write_staged
from simwright.core.names import make_identifier
from simwright.core.swap import scratch_folder
from simwright.formats.format import ReadOptions, WriteOptions
from simwright.formats.place import choose_place
from simwright.formats.usd.writer.base import write_base
from simwright.formats.usd.writer.decisions import report_decisions
from simwright.formats.usd.writer.extended import write_extended
from simwright.formats.usd.writer.geometry import write_geometry
from simwright.formats.usd.writer.images import Images
from simwright.formats.usd.writer.layout import Layout, plan
from simwright.formats.usd.writer.lod import Tiers
from simwright.formats.usd.writer.looks import settle_looks
from simwright.formats.usd.writer.losses import report_losses
from simwright.formats.usd.writer.materials import write_materials
from simwright.formats.usd.writer.meshes import FILE
from simwright.formats.usd.writer.optics import write_optics
from simwright.formats.usd.writer.order import note_order
from simwright.formats.usd.writer.parts import Decomposer
from simwright.formats.usd.writer.physics import write_physics
from simwright.formats.usd.writer.prepare import prepare, settle_references
from simwright.formats.usd.writer.ros import write_ros
from simwright.formats.usd.writer.sheet import Sheet
from simwright.formats.usd.writer.vendor import FILES, write_vendors
from simwright.model.asset import Asset
from simwright.model.joint import WORLD
from simwright.model.kinematics import build_tree
from simwright.usd.layers import encode_layer, export_layer
from simwright.usd.notes import NOTES, PRIMS, mark_layer
from simwright.usd.plugins import register_plugins

SUFFIX = ".usda"
VERSION = "1.0.0"
OWN_FILES = frozenset(
    {
        "base.usda", "instances.usda", "materials.usda", "physics.usda", "extended_physics.usda", "ros.usda",
        *FILES.values(), FILE, "textures",
    }
)  # fmt: skip
"""What an asset's folder may hold beside its entry."""


def write(asset: Asset, target: Path, options: WriteOptions, reporter: Reporter) -> Path:
    """Write an asset; ``target`` is a folder, or the entry ``<folder>/<name>.usda``.  Gives the entry's path.

    A folder that holds an earlier result is replaced whole.  A ``.usdz`` target is a package of all layers; with
    ``options.flatten`` the target is one layer.
    """
    if options.flatten or target.suffix.lower() == ".usdz":
        return _deliver(asset, target, options, reporter)
    register_plugins()
    folder, name = _choose_place(asset, target)
    named = target.suffix.lower() == SUFFIX
    place = choose_place(asset, folder, name, OWN_FILES, options, named=named)
    check_depth(asset, Where(str(target)))
    try:
        sheets, images = build_layers(asset, name, reporter, options)
        options.approve()
        with place.fill() as staging:
            write_staged(staging, images.files)
            while sheets:  # one after the other: none is held longer than it takes to write it
                file, sheet = sheets.popitem()
                export_layer(sheet.layer, staging / file)
    except Tf.ErrorException as error:
        raise OutputError(f"OpenUSD cannot write the asset: {error}", where=Where(str(target))) from None
    return place.path


def _deliver(asset: Asset, target: Path, options: WriteOptions, reporter: Reporter) -> Path:
    """The layers in a folder of our own, then the one file that is wanted."""
    from simwright.formats.usd.delivery import flatten_file, pack_file  # opening stages costs memory

    deliver = flatten_file if options.flatten else pack_file
    with scratch_folder() as folder:
        place = folder / "asset" / name_entry(asset)
        entry = write(asset, place, replace(options, flatten=False, wrote=WriteOptions().wrote), reporter)
        return deliver(entry, target, ReadOptions(), reporter, wrote=options.wrote)


def name_entry(asset: Asset) -> str:
    """The file name of the entry, unless the user chose one."""
    return f"{make_identifier(asset.name, 'asset')}{SUFFIX}"


MAX_DEPTH = 400
"""Links below links: readers of OpenUSD, ours included, stop at a thousand levels of brackets."""


def check_depth(asset: Asset, where: Where) -> None:
    """Refuse chains that readers cannot follow."""
    depth = {WORLD: 0}
    for edge in build_tree(asset).edges:
        depth[edge.child] = depth.get(edge.parent, 0) + 1
    deepest = max(depth.values())
    if deepest > MAX_DEPTH:
        raise LimitError(
            f"a chain of {deepest} links cannot be nested in OpenUSD layers; {MAX_DEPTH} is the limit",
            hint="merge links that are fixed to each other, or cut the model into parts",
            where=where,
        )


def _choose_place(asset: Asset, target: Path) -> tuple[Path, str]:
    suffix = target.suffix.lower()
    if suffix == SUFFIX:
        return target.parent, target.name
    if suffix in (".usd", ".usdc"):
        message = f"the entry layer of an asset is text, not {suffix}"
        hint = f"name a folder, or *{SUFFIX} in a folder; or ask for one layer of everything: --flatten"
        raise UsageError(message, hint=hint, where=Where(str(target)))
    return target, name_entry(asset)


def build_files(
    asset: Asset, entry: str, reporter: Reporter, options: WriteOptions | None = None
) -> dict[str, bytes]:
    """Every file of the folder by relative path."""
    sheets, images = build_layers(asset, entry, reporter, options)
    files = {file: encode_layer(sheet.layer, Path(file).suffix) for file, sheet in sheets.items()}
    return files | images.files


def build_layers(
    asset: Asset, entry: str, reporter: Reporter, options: WriteOptions | None = None
) -> tuple[dict[str, Sheet], Images]:
    """Every layer of the folder by relative path, the entry last; and the images."""
    options = options or WriteOptions()
    tiers = Tiers() if options.lod else None
    decomposer = Decomposer() if options.decompose else None
    ready = prepare(asset, reporter)
    settle_looks(ready, reporter)
    layout = plan(ready, exact=options.exact)
    settle_references(layout, reporter)
    layout.is_decomposed = options.decompose
    instances, library = write_geometry(layout, reporter, tiers=tiers, decomposer=decomposer)
    write_optics(layout, instances, reporter)
    base = write_base(layout)
    physics = write_physics(layout, reporter)
    extended = write_extended(layout, reporter)
    ros = write_ros(layout, physics, reporter)
    vendors = write_vendors(layout, reporter)
    report_losses(layout, reporter)
    report_decisions(layout, reporter)
    features = {**vendors, "ros.usda": ros, "extended_physics.usda": extended, "physics.usda": physics}
    note_order(layout, [instances, base, *reversed(features.values())])
    features = {file: sheet for file, sheet in features.items() if sheet.is_used}
    sheets = {**features, "base.usda": base, "instances.usda": instances}
    images = Images()
    if layout.materials:
        sheets["materials.usda"], images = write_materials(layout, reporter)
    if library.is_used:
        sheets[FILE] = library.sheet
    sheets[entry] = _write_entry(layout, [*features, "base.usda"], entry)
    return sheets, images


def _write_entry(layout: Layout, files: list[str], entry: str) -> Sheet:
    sheet = Sheet(layout.root, f"{layout.asset.name}, written by Simwright.")
    # here, and here alone: who flattens the asset keeps what the entry says of its layers and nothing of the others
    mark_layer(sheet.layer, NOTES if layout.exact else PRIMS)
    spec = sheet.define(layout.root)
    spec.SetInfo("kind", "component")
    spec.SetInfo("assetInfo", describe_origin(layout.asset, entry))
    sheet.name(layout.root, layout.asset.name)
    sheet.refer(layout.root, files)
    return sheet


def describe_origin(asset: Asset, entry: str) -> dict[str, object]:
    """Identity, version and where the asset was made from (REP-0158 1.2.5)."""
    origin = asset.provenance
    info: dict[str, object] = {
        "identifier": origin.identifier or entry,
        "name": asset.name,
        "version": origin.version if origin.format == "usd" and origin.version else VERSION,
    }
    known = origin.info.get("assetInfo")
    ros = dict(known.get("ros", {})) if isinstance(known, dict) else {}
    if origin.file:
        ros.setdefault("source_file", Path(origin.file).name)
        ros.setdefault("source_format", origin.format)
    if ros:
        info["ros"] = ros
    return info
