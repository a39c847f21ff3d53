# SPDX-License-Identifier: Apache-2.0
"""Scene files as a row of the format table: they are read like any other file.

The row is put into the table by the application floor, since formats do not know scenes.
"""

from __future__ import annotations

from pathlib import Path

from simwright.core.diag import Reporter
from simwright.formats.format import Format, ReadOptions
from simwright.model.asset import Asset

FORMAT = Format(
    name="scene",
    title="scene",
    extensions=(".scene.yaml", ".scene.yml", ".scene.json"),
    top_keys=("schema_version", "simulation", "builder", "assets", "bodies", "post_build", "replicate"),
    reader="simwright.scenes.format:read_scene_asset",
)


def read_scene_asset(path: Path, options: ReadOptions, reporter: Reporter) -> Asset:
    """A scene, with the number of worlds it says, as one asset."""
    from simwright.scenes.exporting import export_asset
    from simwright.scenes.load import load_scene

    del options
    loaded = load_scene(path, reporter=reporter)
    return export_asset(loaded, reporter=reporter)
