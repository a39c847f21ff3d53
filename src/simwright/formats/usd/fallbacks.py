# SPDX-License-Identifier: Apache-2.0
"""The third layer of resolution, for what would else have no value: contact gaps and the iteration count.

Nobody authors them and no importer has a default of its own, so the fallback of the first solver in the order that
has one is the value.  Its origin says "schema default": the asset did not say it.
"""

from __future__ import annotations

from typing import Final

from simwright.formats.usd.scan import Scan
from simwright.formats.usd.source import Source
from simwright.model.origins import Origin
from simwright.resolve.table import PrimType, Scale

ITERATIONS: Final = "max_solver_iterations"
_GAP = "gap"


def fall_back(source: Source, scan: Scan, scale: Scale) -> None:
    """Give the scene and the colliders the values that only a schema has, after all that is authored."""
    if scan.scenes:
        _count_iterations(source, scan.scenes[0].path)
    _keep_apart(source, scale)


def _count_iterations(source: Source, scene: str) -> None:
    """Newton's fallback is -1, "as many as you like": that is no count, so the settings do not hold it."""
    known = source.asset.origins.get(scene, {})
    found = source.order.resolve({}, PrimType.SCENE, ITERATIONS)
    if ITERATIONS in known or found.origin is Origin.NONE:
        return
    source.asset.origins.setdefault(scene, {})[ITERATIONS] = found
    if found.value is not None and found.value > 0:
        source.asset.environment.settings[ITERATIONS] = found.value


def _keep_apart(source: Source, scale: Scale) -> None:
    gap = source.order.resolve({}, PrimType.SHAPE, _GAP, scale=scale)
    if gap.value is None:
        return
    origins = source.asset.origins
    for shape in source.asset.shapes:
        if shape.collision and _GAP not in origins.get(shape.path, ()):
            shape.gap = gap.value
            origins.setdefault(shape.path, {})[_GAP] = gap
