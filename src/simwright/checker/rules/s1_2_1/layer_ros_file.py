# SPDX-License-Identifier: Apache-2.0
"""All ROS interfaces of an asset come from one layer.

Why: an integrator who renames topics or leaves ROS out must know the one file that holds them.

Fails: a RosTopicAPI prim in ros.usda and another in sensors.usda.
Passes: all of them in ros.usda; a namespace set by the layer that composes the robot; variants that swap sensors.

Reading: a composing layer may name contexts, `ros:joint:name` may stand with its joint, variants may carry
interfaces, controllers may have a layer of their own, and each asset that a scene composes has its own ROS layer.

Fix: unsafe.  The opinions are moved to the layer with most of them.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.assets import describe_spread, find_assets, find_own_features
from simwright.checker.facts.domains import Domain
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, rule


@rule(
    "layer-ros-file",
    "1.2.1",
    "must",
    on="stage",
    fix="unsafe",
    fix_title="move the opinions to the ROS layer",
)
def layer_ros_file(snapshot: StageSnapshot) -> Iterator[Finding]:
    """More than one layer of an asset with ROS opinions."""
    for asset in find_assets(snapshot):
        holders = []
        for facts in asset.layers:
            found = find_own_features(facts, asset, Domain.ROS)
            # a variant that swaps a sensor brings the interface of that sensor
            opinions = [opinion for opinion in found if not opinion.path.ContainsPrimVariantSelection()]
            if opinions:
                holders.append((facts, opinions))
        yield from describe_spread("ROS", holders)
