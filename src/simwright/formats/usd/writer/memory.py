# SPDX-License-Identifier: Apache-2.0
"""The asset as a stage in memory: the same layers, none of them a file.

The layers are anonymous and refer to each other by their identifiers.  A stage keeps those alive that its composition
uses; another choice of variants may need another one, so all of them live as long as the stage does.  Images stay
where the source has them.
"""

from __future__ import annotations

from pathlib import Path

from pxr import Sdf, Tf, Usd, UsdUtils

from simwright.core.diag import Reporter, Where
from simwright.core.errors import OutputError
from simwright.formats.format import WriteOptions
from simwright.formats.usd import FORMAT
from simwright.formats.usd.writer.entry import build_layers, check_depth, name_entry
from simwright.formats.usd.writer.images import Images
from simwright.formats.usd.writer.sheet import Sheet
from simwright.model.asset import Asset
from simwright.usd.plugins import register_plugins

_ALIVE: dict[str, list[Sdf.Layer]] = {}
"""For the root layer of each stage in use, by identifier: the layers that it may ask for."""


def build_stage(asset: Asset, options: WriteOptions, reporter: Reporter) -> Usd.Stage:
    """The composed stage of an asset."""
    register_plugins()
    where = Where(asset.provenance.file)
    check_depth(asset, where)
    entry = name_entry(asset)
    FORMAT.report_losses(asset, reporter)
    try:
        sheets, images = build_layers(asset, entry, reporter, options)
        _join(sheets, images)
    except Tf.ErrorException as error:
        raise OutputError(f"OpenUSD cannot hold the asset: {error}", where=where) from None
    options.approve()
    root = sheets.pop(entry).layer
    stage = Usd.Stage.Open(root)
    _keep([sheet.layer for sheet in sheets.values()], stage)
    return stage


def _join(sheets: dict[str, Sheet], images: Images) -> None:
    """Let the layers find each other, and the images of the source."""
    places = {f"./{file}": sheet.layer.identifier for file, sheet in sheets.items()}
    places |= {f"./{path}": str(Path(file).absolute()) for path, file in images.origins.items()}
    for sheet in sheets.values():
        UsdUtils.ModifyAssetPaths(sheet.layer, lambda path: places.get(path, path))


def _keep(layers: list[Sdf.Layer], stage: Usd.Stage) -> None:
    for root in [root for root in _ALIVE if Sdf.Layer.Find(root) is None]:
        del _ALIVE[root]
    _ALIVE[stage.GetRootLayer().identifier] = layers
