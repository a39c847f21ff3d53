# SPDX-License-Identifier: Apache-2.0
"""Pictures of what is proved, as MuJoCo draws it without a screen; none where it cannot draw."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simwright.core.diag import Reporter
from simwright.core.errors import SimwrightError
from simwright.core.math3d import Array
from simwright.engines.layout import Layout
from simwright.model.asset import Asset

SIZE = (2000, 1500)
"""What is drawn [px]; what is shown is half of it, cut to what there is to see."""
_MARGIN = 24


@dataclass(frozen=True, slots=True)
class RobotPicture:
    """A PNG, and what it shows."""

    title: str
    png: bytes


def draw_assets(assets: Sequence[Asset], seed: int = 0) -> list[list[RobotPicture]]:
    """Each asset in its reference pose and in the first configuration of a seed; nothing where it cannot be drawn."""
    return [_draw(asset, seed) for asset in assets]


def _draw(asset: Asset, seed: int) -> list[RobotPicture]:
    from simwright.app.run_sources import AssetSource
    from simwright.engines.mujoco.renderer import WorldPainter, choose_graphics
    from simwright.engines.protocol import Settings

    try:
        # before MuJoCo looks for a screen
        choose_graphics()
        source = AssetSource(asset, asset.name)
        titles = ["in its reference pose"]
        with source.open("mujoco", Settings(), Reporter()) as simulation:
            moments = [source.take(simulation)]
            moved = _find_configuration(asset, simulation.positions[0], seed)
            if moved is not None:
                simulation.set_state(moved[None], None)
                moments.append(source.take(simulation))
                titles.append("in the first configuration")
        what, positions = source.show(moments)
        painter = WorldPainter(size=SIZE, **what)
        try:
            drawn = [painter.find_drawn(positions(number)) for number in range(len(moments))]
            painted = [painter.paint(positions(number)) for number in range(len(moments))]
        finally:
            painter.close()
    # graphics are missing in many ways, and a proof is worth more than its picture
    except (SimwrightError, RuntimeError, OSError, ImportError, AttributeError, ValueError):
        return []
    box = _find_box(np.any(drawn, axis=0))
    rows = zip(titles, painted, drawn, strict=True)
    return [RobotPicture(title, _encode(picture, seen, box)) for title, picture, seen in rows]


def _find_configuration(asset: Asset, start: Array, seed: int) -> Array | None:
    """Positions of the first configuration that engines are asked about; None where nothing can be moved."""
    from simwright.prover.asking import ReferenceRobot, choose_configurations
    from simwright.prover.workers.seen import name_of

    robot = ReferenceRobot(asset)
    zeros = robot.list_zeros()
    wanted = choose_configurations(robot.describe(), 1, seed)[1]["joints"]
    places = start.copy()
    moved = False
    for freedom in Layout(asset).freedoms:
        name = name_of(freedom.name)
        if name in wanted and freedom.positions.stop - freedom.positions.start == 1:
            places[freedom.positions] = wanted[name] + zeros.get(name, 0.0)
            moved = True
    return places if moved else None


def _find_box(drawn: npt.NDArray[np.bool_]) -> tuple[int, int, int, int]:
    """Left, top, right and bottom of what is drawn in any of the pictures, with a margin [px]."""
    rows, columns = np.flatnonzero(drawn.any(axis=1)), np.flatnonzero(drawn.any(axis=0))
    if not len(rows):
        return 0, 0, drawn.shape[1], drawn.shape[0]
    left, right, top, bottom = columns[0], columns[-1] + 1, rows[0], rows[-1] + 1
    edge = _MARGIN
    return (
        int(max(left - edge, 0)),
        int(max(top - edge, 0)),
        int(min(right + edge, drawn.shape[1])),
        int(min(bottom + edge, drawn.shape[0])),
    )


def _encode(
    picture: npt.NDArray[np.uint8], drawn: npt.NDArray[np.bool_], box: tuple[int, int, int, int]
) -> bytes:
    """A PNG that is transparent where nothing is drawn, so that it stands on a page of any colour."""
    from PIL import Image

    # what is drawn on the edge is mixed with the black behind it: leaving the edge out leaves the black out
    alpha = np.where(drawn, 255, 0).astype(np.uint8)
    image = Image.fromarray(np.dstack([picture, alpha])).crop(box)
    image = image.resize((max(image.width // 2, 1), max(image.height // 2, 1)), Image.Resampling.BOX)
    stream = io.BytesIO()
    image.save(stream, "PNG", optimize=True)
    return stream.getvalue()
