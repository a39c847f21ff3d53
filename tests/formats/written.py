# SPDX-License-Identifier: Apache-2.0
"""Writing an asset as XML and reading it again, and small assets to write."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from lxml import etree

from simwright.core.diag import Reporter
from simwright.core.math3d import Pose, quat_normalize, vec3
from simwright.formats.format import WriteOptions
from simwright.formats.table import read_asset, write_asset
from simwright.model.asset import Asset, Body
from simwright.model.inertia import Inertial
from simwright.model.joint import Dof, Joint, JointKind


@dataclass
class WrittenXml:
    """A file on disk, what was said, its elements, and what a reader makes of it."""

    path: Path
    said: Reporter
    root: Any
    again: Asset

    @property
    def kinds(self) -> set[str]:
        return {finding.kind for finding in self.said}

    @property
    def lost(self) -> set[str]:
        """Keys of what the format has no place for."""
        return {str(finding.data["aspect"]) for finding in self.said if "aspect" in finding.data}


AnyXml = TypeVar("AnyXml", bound=WrittenXml)


def write_xml(kind: type[AnyXml], asset: Asset, target: Path, options: dict[str, Any]) -> AnyXml:
    said = Reporter()
    path = write_asset(asset, target, options=WriteOptions(**options), reporter=said)
    return kind(path, said, etree.parse(str(path)).getroot(), read_asset(path))


def make_solid(mass: float = 1.0) -> Inertial:
    return Inertial(
        mass, vec3(0.1, -0.02, 0.003), np.array(((2.0, 0.1, 0.2), (0.1, 3.0, 0.3), (0.2, 0.3, 4.0)))
    )


def make_pair(
    *dofs: Dof, kind: JointKind = JointKind.D6, near: Pose | None = None, far: Pose | None = None
) -> Asset:
    """A base on the world and a tip on a joint ``j``, at odd frames unless told."""
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
