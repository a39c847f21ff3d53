# SPDX-License-Identifier: Apache-2.0
"""Reading and writing sketches."""

from __future__ import annotations

from pathlib import Path

from simwright.core.diag import Reporter, Where
from simwright.core.files import read_bytes
from simwright.formats.format import ReadOptions, WriteOptions
from simwright.formats.sketch.words import SKETCH_EMPTY
from simwright.model.asset import Asset, Body


def read(path: Path, options: ReadOptions, reporter: Reporter) -> Asset:
    """A body for every line."""
    del options
    asset = Asset(path.stem)
    asset.bodies += [Body(name) for name in read_bytes(path).decode().split()]
    if not asset.bodies:
        reporter.report(SKETCH_EMPTY, Where(str(path)))
    return asset


def write(asset: Asset, target: Path, options: WriteOptions, reporter: Reporter) -> Path:
    """A line for every body."""
    del reporter
    options.approve()
    target.write_text("".join(f"{body.name}\n" for body in asset.bodies))
    return target
