# SPDX-License-Identifier: Apache-2.0
"""Lines and surfaces over the parts of an asset, each point in the frame of a body."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simwright.core.math3d import Array, quats_rotate

Rows = npt.NDArray[np.int64]
Rgb = tuple[int, int, int]


@dataclass(slots=True, eq=False)
class Overlay:
    """``points`` (n x 3) [m] in the frames of ``bodies``, numbers of bodies with -1 for the world.

    ``kind`` is "lines" or "arrows" (points in pairs) or "surface" (with ``faces``); ``colors`` has one for each point.
    """

    kind: str
    points: Array
    bodies: Rows
    colors: npt.NDArray[np.uint8]
    faces: npt.NDArray[np.uint32] | None = None

    def place(self, rows: Array) -> npt.NDArray[np.float32]:
        """The points (.. x n x 3) with bodies at ``rows`` (.. x bodies + 1 x 7, quaternion w first), the world last."""
        found = rows[..., self.bodies, :]
        return (found[..., :3] + quats_rotate(found[..., 3:], self.points)).astype(np.float32)


class OverlayBuilder:
    """Collects points of one kind and one color after the other."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._points: list[Array] = []
        self._bodies: list[Rows] = []
        self._colors: list[npt.NDArray[np.uint8]] = []
        self._faces: list[npt.NDArray[np.uint32]] = []
        self._count = 0

    def add(self, points: Array, body: int, color: Rgb, faces: npt.NDArray[np.uint32] | None = None) -> None:
        """More points (.. x 3) on a body; ``faces`` number these points."""
        flat = np.asarray(points, dtype=np.float64).reshape(-1, 3)
        if faces is not None:
            self._faces.append(faces + np.uint32(self._count))
        self._count += len(flat)
        self._points.append(flat)
        self._bodies.append(np.full(len(flat), body, dtype=np.int64))
        self._colors.append(np.full((len(flat), 3), color, dtype=np.uint8))

    def build(self) -> list[Overlay]:
        """What there is; nothing where nothing was added."""
        if not self._points:
            return []
        return [
            Overlay(
                self._kind, np.concatenate(self._points), np.concatenate(self._bodies),
                np.concatenate(self._colors), np.concatenate(self._faces) if self._faces else None,
            )
        ]  # fmt: skip
