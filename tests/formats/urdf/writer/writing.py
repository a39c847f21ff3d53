# SPDX-License-Identifier: Apache-2.0
"""Writing an asset as URDF and reading it again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from simwright.core.math3d import Pose
from simwright.model.asset import Asset
from simwright.model.kinematics import forward_kinematics

from ...written import WrittenXml, make_pair, make_solid, random_pose, write_xml

__all__ = ["Written", "find_pose", "make_pair", "make_solid", "random_pose", "write"]


class Written(WrittenXml):
    """A URDF file."""

    def link(self, name: str) -> Any:
        return self.root.find(f"link[@name='{name}']")

    def joint(self, name: str) -> Any:
        return self.root.find(f"joint[@name='{name}']")

    @property
    def links(self) -> list[str]:
        return [link.get("name") for link in self.root.findall("link")]


def write(asset: Asset, folder: Path, **options: Any) -> Written:
    return write_xml(Written, asset, folder / "written" / "robot.urdf", options)


def find_pose(asset: Asset, body: str, values: dict[str, float]) -> Pose:
    """Where a body is when freedoms have values by name; others are where they start."""
    coordinates = {}
    for joint in asset.joints:
        if any(dof.name in values for dof in joint.dofs):
            coordinates[joint.name] = np.array([values[dof.name] for dof in joint.dofs])
    return forward_kinematics(asset, coordinates)[body]
