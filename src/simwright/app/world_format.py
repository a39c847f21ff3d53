# SPDX-License-Identifier: Apache-2.0
"""World files as a row of the format table: ``simwright convert lab.yaml lab.xml`` and all that reads any file.

The scene of the world is read as one asset; ``simwright world build`` keeps its parts apart where a format can.
"""

from __future__ import annotations

from pathlib import Path

from simwright.core.diag import Reporter
from simwright.formats.format import Format, ReadOptions
from simwright.model.asset import Asset

FORMAT = Format(
    name="world",
    title="2D world",
    extensions=(".world.yaml", ".world.yml"),
    top_keys=("rooms", "hallways", "robots"),
    reader="simwright.app.world_format:read_world_asset",
)


def read_world_asset(path: Path, options: ReadOptions, reporter: Reporter) -> Asset:
    """A world, drawn from the seed that the file says, as one asset."""
    from simwright.app.world_build import make_scene
    from simwright.app.worlds import load_world
    from simwright.model.merging import merge_scene

    del options
    world = load_world(path, reporter=reporter)
    return merge_scene(make_scene(world, reporter=reporter), reporter)
