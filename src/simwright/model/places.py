# SPDX-License-Identifier: Apache-2.0
"""Where the parts of an asset are in a builder."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True, eq=False)
class Places:
    """Builder indices by the names of the asset."""

    bodies: dict[str, int] = field(default_factory=dict)
    joints: dict[str, int] = field(default_factory=dict)
    shapes: dict[str, int] = field(default_factory=dict)
    sites: dict[str, int] = field(default_factory=dict)
    articulations: dict[str, int] = field(default_factory=dict)

    def by_frequency(self) -> dict[str, dict[str, int]]:
        """The indices of the elements that each frequency of custom attributes counts over."""
        return {
            "body": self.bodies,
            "shape": self.shapes,
            "joint": self.joints,
            "joint_dof": self.joints,
            "joint_coord": self.joints,
            "articulation": self.articulations,
        }
