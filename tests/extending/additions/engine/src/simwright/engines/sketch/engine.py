# SPDX-License-Identifier: Apache-2.0
"""An engine that takes the steps of another one."""

from __future__ import annotations

import dataclasses

from simwright.core.diag import Reporter
from simwright.engines.mujoco.engine import ENGINE as MUJOCO
from simwright.engines.protocol import WorldSet, Settings, Simulation
from simwright.model.asset import Asset


class SketchEngine:
    """MuJoCo, with steps of a millisecond where nothing is said."""

    capabilities = dataclasses.replace(MUJOCO.capabilities, name="sketch", title="Sketch")

    def open(
        self,
        source: Asset | WorldSet,
        settings: Settings | None = None,
        reporter: Reporter | None = None,
        *,
        worlds: int = 1,
    ) -> Simulation:
        """Open it there."""
        settings = settings or Settings()
        return MUJOCO.open(
            source, dataclasses.replace(settings, dt=settings.dt or 0.001), reporter, worlds=worlds
        )


ENGINE = SketchEngine()
