# SPDX-License-Identifier: Apache-2.0
"""Goes by way of a point."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from simwright.worlds.planning.path import PathAnswer, make_path
from simwright.worlds.planning.planner import Planner
from simwright.worlds.poses import WorldPose


class SketchPlanner(Planner):
    """The way over (``by``, 1)."""

    PROPERTIES: ClassVar[Mapping[str, Any]] = {"by": 0.5}

    def search(self, start: WorldPose, goal: WorldPose, space: Any) -> PathAnswer:
        """Two straight lines."""
        del space
        return PathAnswer(make_path(start, [(self.values["by"], 1.0)], goal))
