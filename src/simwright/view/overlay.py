# SPDX-License-Identifier: Apache-2.0
"""Lines and surfaces over the parts of an asset, each point in the frame of a body.

Limits of joints are drawn where the joint is: a sector for a hinge, a rail for a slide, a hand on what it carries.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from simwright.core.diag import Reporter
from simwright.core.errors import SimwrightError
from simwright.core.math3d import Array, quat_from_axis_angle, quat_rotate, quats_rotate
from simwright.engines.protocol import Contact, Simulation
from simwright.engines.table import DEFAULT_ENGINE, load_engine
from simwright.model.asset import Asset
from simwright.model.joint import Dof, Motion
from simwright.model.kinematics import Tree
from simwright.view.configuration import Configuration

_COLOR, _DEEP = (30, 160, 90), (220, 50, 40)
_MOST = 2000
"""Contacts that are drawn."""


class ConfigurationContacts:
    """Asks an engine which bodies of an asset touch where its joints are; the engine is opened when first asked."""

    def __init__(self, asset: Asset) -> None:
        self._asset = asset
        self._simulation: Simulation | None = None
        self.problem = ""
        """Why there are none, where the engine cannot take the asset."""

    def find(self, configuration: Configuration) -> list[Contact]:
        """What touches; nothing, and ``problem`` says why, where the engine cannot tell."""
        try:
            if self._simulation is None:
                self._simulation = load_engine(DEFAULT_ENGINE).open(self._asset, None, Reporter())
            positions = _list_positions(configuration, self._simulation)
            self._simulation.set_state(positions[None], np.zeros((1, self._simulation.layout.nv)))
            return self._simulation.contacts() or []
        except SimwrightError as error:
            self.problem = str(error)
            return []

    def close(self) -> None:
        """Give the engine's memory back."""
        if self._simulation is not None:
            self._simulation.close()
            self._simulation = None


def _list_positions(configuration: Configuration, simulation: Simulation) -> Array:
    """Coordinates of a configuration in the order of a simulation."""
    positions: Array = simulation.positions[0]
    rows: dict[str, int] = {}
    for freedom in simulation.layout.freedoms:
        # a body that floats without a joint stays where the file has it
        if freedom.joint is None or freedom.joint.name not in configuration.values:
            continue
        start = rows.get(freedom.joint.name, 0)
        width = freedom.positions.stop - freedom.positions.start
        values = configuration.values[freedom.joint.name]
        positions[freedom.positions] = values[start : start + width]
        rows[freedom.joint.name] = start + width
    return positions


class ContactArrows:
    """Contacts in a scene: an arrow along each normal, as long as its force where there is one."""

    def __init__(self, server: Any, reach: float, path: str = "/contacts") -> None:
        self._server, self._reach, self._path = server, reach, path
        self._node: Any = None

    def show(self, contacts: Sequence[Contact], offset: Array | None = None) -> None:
        """Draw these in place of what was drawn; the largest force has the longest arrow, four times that of none."""
        if not contacts:
            self.hide()
            return
        chosen = sorted(contacts, key=lambda one: -abs(one.force))[:_MOST]
        shift = np.zeros(3) if offset is None else offset
        starts = np.array([one.position for one in chosen]) + shift
        forces = np.array([abs(one.force) for one in chosen])
        most = float(forces.max())
        lengths = self._reach * (1.0 + 3.0 * (forces / most if most > 0.0 else 0.0 * forces))
        ends = starts + np.array([one.normal for one in chosen]) * lengths[:, None]
        points = np.stack((starts, ends), axis=1).astype(np.float32)
        colors = np.array([_DEEP if one.distance < -1e-3 else _COLOR for one in chosen], dtype=np.uint8)
        if self._node is not None and len(self._node.points) == len(points):
            self._node.points, self._node.colors = points, colors
            return
        self.hide()
        self._node = self._server.scene.add_arrows(
            self._path, points, colors, shaft_radius=self._reach / 16, head_radius=self._reach / 6,
            head_length=self._reach / 3,
        )  # fmt: skip

    def hide(self) -> None:
        """Take them away."""
        if self._node is not None:
            self._node.remove()
            self._node = None


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


_SECTOR, _HAND = (140, 90, 200), (90, 30, 160)
_STEP = math.radians(6.0)


def draw_limits(tree: Tree, rows: Mapping[str, int], reach: float) -> list[Overlay]:
    """Sectors, rails and hands of all joints with limits; ``reach`` is the radius of a sector [m].

    Of a joint with several dofs only the first has a place of its own on a body, and no hand.
    """
    surfaces, lines = OverlayBuilder("surface"), OverlayBuilder("lines")
    for edge in tree.edges:
        joint = edge.joint
        dof = joint.dofs[0] if joint.dofs else None
        if dof is None or not dof.is_limited or dof.motion not in (Motion.HINGE, Motion.SLIDE):
            continue
        parent, child = rows[joint.parent], rows[joint.child]
        aside = _find_aside(dof.axis)
        if dof.motion is Motion.HINGE:
            rim = _list_rim(dof, aside, reach)
            points = joint.parent_frame.apply(np.concatenate((dof.anchor[None], rim)))
            count = len(rim)
            numbers = np.arange(1, count, dtype=np.uint32)
            faces = np.stack((np.zeros_like(numbers), numbers, numbers + 1), axis=1)
            surfaces.add(points, parent, _SECTOR, faces)
            lines.add(points[[0, 1, 0, count]], parent, _HAND)
            hand = np.stack((dof.anchor, dof.anchor + 1.15 * reach * aside))
        else:
            ends = np.array(
                [dof.anchor + _bound(value, dof, 1.0) * dof.axis for value in (dof.lower, dof.upper)]
            )
            ticks = [(end - reach / 4 * aside, end + reach / 4 * aside) for end in ends]
            lines.add(joint.parent_frame.apply(np.concatenate((ends, *ticks))), parent, _HAND)
            hand = np.stack((dof.anchor, dof.anchor + reach / 2 * aside))
        if len(joint.dofs) == 1:
            lines.add(joint.child_frame.apply(hand), child, _HAND)
    return surfaces.build() + lines.build()


def _bound(value: float, dof: Dof, free: float) -> float:
    """A limit from where the joint is drawn at zero; one that is not there is a usual one."""
    if math.isfinite(value):
        return value - dof.ref
    return -free if value < 0.0 else free


def _list_rim(dof: Dof, aside: Array, reach: float) -> Array:
    lower, upper = _bound(dof.lower, dof, math.pi), _bound(dof.upper, dof, math.pi)
    # more than a turn would only cover itself
    upper = min(upper, lower + 2 * math.pi)
    count = max(2, math.ceil((upper - lower) / _STEP) + 1)
    turns = [quat_from_axis_angle(dof.axis, angle) for angle in np.linspace(lower, upper, count)]
    return np.array([dof.anchor + reach * quat_rotate(turn, aside) for turn in turns])


def _find_aside(axis: Array) -> Array:
    """A direction across an axis: the axis of the frame that it is least along."""
    other = np.eye(3)[int(np.argmin(np.abs(axis)))]
    across = np.cross(axis, other)
    return np.asarray(across / max(float(np.linalg.norm(across)), 1e-12))
