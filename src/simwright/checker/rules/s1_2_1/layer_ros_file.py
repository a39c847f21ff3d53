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

from simwright.checker.facts.assets import find_assets, find_own_features
from simwright.checker.facts.domains import Domain
from simwright.checker.facts.snapshot import Snapshot
from simwright.checker.facts.tallies import tally_names
from simwright.checker.rule import Finding, rule


@rule(
    "layer-ros-file",
    "1.2.1",
    "must",
    on="stage",
    fix="unsafe",
    fix_title="move the opinions to the ROS layer",
)
def layer_ros_file(snapshot: Snapshot) -> Iterator[Finding]:
    """More than one layer of an asset with ROS opinions."""
    for asset in find_assets(snapshot):
        holders = []
        for facts in asset.layers:
            found = find_own_features(facts, asset, Domain.ROS)
            opinions = [opinion for opinion in found if not opinion.path.ContainsPrimVariantSelection()]
            if opinions:
                holders.append((facts, opinions))
        if len(holders) < 2:
            continue
        main = max(holders, key=lambda holder: len(holder[1]))[0]
        for facts, opinions in holders:
            if facts is not main:
                held = tally_names(opinion.what for opinion in opinions)
                yield Finding(
                    f"ROS is spread: {facts.name} holds {held}, beside {main.name}",
                    hint=f"move them to {main.name}",
                    at=opinions[0].path,
                    layer=facts.layer,
                )
