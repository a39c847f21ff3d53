# SPDX-License-Identifier: Apache-2.0
"""Writing an asset as URDF and reading it again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from lxml import etree

from simwright.core.diag import Reporter
from simwright.core.math3d import Pose, quat_normalize, vec3
from simwright.formats.format import WriteOptions
from simwright.formats.table import read_asset, write_asset
from simwright.model.asset import Asset, Body
from simwright.model.inertia import Inertial
from simwright.model.joint import Dof, Joint, JointKind
from simwright.model.kinematics import forward_kinematics


@dataclass
class Written:
    """A file on disk, what was said, its elements, and what a reader makes of it."""

    path: Path
    said: Reporter
    root: Any
    again: Asset

    @property
    def kinds(self) -> set[str]:
        return {finding.kind for finding in self.said}

    def link(self, name: str) -> Any:
        return self.root.find(f"link[@name='{name}']")

    def joint(self, name: str) -> Any:
        return self.root.find(f"joint[@name='{name}']")

    @property
    def links(self) -> list[str]:
        return [link.get("name") for link in self.root.findall("link")]


def write(asset: Asset, folder: Path, **options: Any) -> Written:
    said = Reporter()
    target = folder / "written" / "robot.urdf"
    path = write_asset(asset, target, options=WriteOptions(**options), reporter=said)
    return Written(path, said, etree.parse(str(path)).getroot(), read_asset(path))


def make_solid(mass: float = 1.0) -> Inertial:
    return Inertial(
        mass, vec3(0.1, -0.02, 0.003), np.array(((2.0, 0.1, 0.2), (0.1, 3.0, 0.3), (0.2, 0.3, 4.0)))
    )


def make_pair(
    *dofs: Dof, kind: JointKind = JointKind.D6, near: Pose | None = None, far: Pose | None = None
) -> Asset:
    """A base on the world and a tip on a joint ``j``."""
    near, far = near or random_pose(1), far or random_pose(2)
    asset = Asset("pair", bodies=[Body("base", inertial=make_solid()), Body("tip", inertial=make_solid(2.0))])
    asset.joints = [
        Joint("anchor", JointKind.FIXED, "", "base", parent_frame=random_pose(3)),
        Joint("j", kind, "base", "tip", near, far, list(dofs)),
    ]
    return asset


def random_pose(seed: int) -> Pose:
    rng = np.random.default_rng(seed)
    return Pose.of(rng.normal(size=3), quat_normalize(rng.normal(size=4)))


def find_pose(asset: Asset, body: str, values: dict[str, float]) -> Pose:
    """Where a body is when freedoms have values by name; others are where they start."""
    coordinates = {}
    for joint in asset.joints:
        if any(dof.name in values for dof in joint.dofs):
            coordinates[joint.name] = np.array([values[dof.name] for dof in joint.dofs])
    return forward_kinematics(asset, coordinates)[body]
