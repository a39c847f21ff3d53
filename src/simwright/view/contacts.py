# SPDX-License-Identifier: Apache-2.0
"""What touches what: contacts as arrows, and those of a configuration, which an engine finds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from simwright.core.diag import Reporter
from simwright.core.errors import SimwrightError
from simwright.core.math3d import Array
from simwright.engines.protocol import Contact, Simulation
from simwright.engines.table import DEFAULT_ENGINE, load_engine
from simwright.model.asset import Asset
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
