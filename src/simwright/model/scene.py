# SPDX-License-Identifier: Apache-2.0
"""A scene: assets placed beside each other, each of them once however often it is placed.

Formats that compose (OpenUSD) write every asset on its own and refer to it; all others get the one asset of
:func:`simwright.model.merging.merge_scene`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from simwright.core.math3d import IDENTITY, Pose
from simwright.model.asset import Asset, Camera, Environment, Light, Provenance
from simwright.model.display import Shown


@dataclass(slots=True, eq=False, repr=False)
class Placement(Shown):
    """An asset at a pose.

    ``group`` is the word under which things of its sort stand together; ``namespace`` that of its ROS names, None where
    it has none; ``variant`` a switch with its two states, the first of which has the asset in it and the second not,
    and ``present`` says which one counts; ``facts`` what else is known about it, as plain values.
    """

    name: str
    asset: Asset
    pose: Pose = IDENTITY
    group: str = ""
    namespace: str | None = None
    variant: tuple[str, str, str] | None = None
    present: bool = True
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True, eq=False, repr=False)
class Scene(Shown):
    """What stands where, the lights over it and the cameras that look at it."""

    name: str
    placements: list[Placement] = field(default_factory=list)
    lights: list[Light] = field(default_factory=list)
    cameras: list[Camera] = field(default_factory=list)
    environment: Environment = field(default_factory=Environment)
    provenance: Provenance = field(default_factory=Provenance)

    def list_assets(self) -> list[Asset]:
        """Every asset once, in the order of first use."""
        return list({id(item.asset): item.asset for item in self.placements}.values())

    def list_present(self) -> Iterator[Placement]:
        """The placements that count."""
        return (item for item in self.placements if item.present)
