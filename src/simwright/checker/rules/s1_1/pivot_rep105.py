# SPDX-License-Identifier: Apache-2.0
"""A mobile base has base_link where it turns, and base_footprint, if there is one, on the floor below it (REP 105).

Why: localisation and navigation look for these frames by name, and take base_link for the point the robot turns
about.

Fails: a robot with driven wheels and no base_link; a base_footprint that is tilted, above the floor, or not below
base_link; a differential drive whose wheels are not left and right of base_link.
Passes: base_link between the driven wheels, base_footprint at z = 0 below it; arms and drones, which have no
wheels.

Fix: none.  Where the base frame belongs has to be decided by the author; names alone do not tell.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from simwright.checker.facts.bases import Wheels, find_base, find_joint_frame, list_wheels
from simwright.checker.facts.lineage import walk_up
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.facts.transforms import read_in
from simwright.checker.facts.wording import show_numbers
from simwright.checker.rule import Finding, rule

_NEAR = 0.01
"""How far frames may be off [m]."""


@rule("pivot-rep105", "1.1", "should", on="stage", heuristic=True)
def pivot_rep105(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Every mechanism with wheels."""
    for wheels in list_wheels(snapshot):
        top = _find_top(wheels, snapshot)
        if top is None:
            continue
        frames = {
            node.name: node
            for node in (top, *top.descendants())
            if node.name in ("base_link", "base_footprint")
        }
        base = frames.get("base_link")
        if base is None:
            yield Finding(
                f"this robot has {len(wheels.all)} driven wheels, but no base_link",
                hint="call the chassis base_link, with its origin where the robot turns (REP 105)",
                at=top,
            )
            continue
        if "base_footprint" in frames:
            yield from _judge_footprint(frames["base_footprint"], base, top, snapshot)
        if wheels.controller is not None:
            yield from _judge_centre(wheels, base, snapshot)


def _find_top(wheels: Wheels, snapshot: StageSnapshot) -> PrimNode | None:
    """The robot's root: the highest prim above its bodies that is the default prim, a component or a context."""
    base = find_base(wheels.component, snapshot)
    if base is None:
        return None
    # a fleet has one context per robot; without contexts the asset's default prim is the robot
    above = [
        node for node in walk_up(base, snapshot) if node.has("RosContextAPI") or node is snapshot.default_node
    ]
    inner = next((node for node in above if node.has("RosContextAPI")), None)
    return inner or (above[-1] if above else base)


def _judge_footprint(
    footprint: PrimNode, base: PrimNode, top: PrimNode, snapshot: StageSnapshot
) -> Iterator[Finding]:
    in_top, in_base = read_in(footprint, top, snapshot), read_in(footprint, base, snapshot)
    if in_top is None or in_base is None:
        return
    up = in_top.pose.apply(np.array((0.0, 0.0, 1.0))) - in_top.pose.p
    x, y = float(in_base.pose.p[0]), float(in_base.pose.p[1])
    # the cosine of about 0.8 degrees
    if up[2] < 0.9999:
        fault = "is tilted relative to the floor"
    elif abs(in_top.pose.p[2]) > _NEAR:
        fault = f"is at z = {in_top.pose.p[2]:.4g} of the asset, not on the floor"
    elif max(abs(x), abs(y)) > _NEAR:
        fault = f"is not below base_link, but {show_numbers((x, y))} beside it"
    else:
        return
    yield Finding(
        f"base_footprint {fault}",
        hint="put base_footprint at z = 0 straight below base_link, level with the floor",
        at=footprint,
        prop="xformOp:translate",
    )


def _judge_centre(wheels: Wheels, base: PrimNode, snapshot: StageSnapshot) -> Iterator[Finding]:
    frames = [find_joint_frame(link, base, snapshot) for link in wheels.all]
    places = np.array([frame[0] for frame in frames if frame is not None])
    if len(places) < 2 or not wheels.left or not wheels.right:
        return
    middle = (places.min(axis=0) + places.max(axis=0)) / 2.0
    width = float(np.ptp(places[:, 1]))
    # a differential drive turns about the middle of its axle, so that point has to be base_link
    if max(abs(middle[0]), abs(middle[1])) > max(_NEAR, 0.05 * width):
        yield Finding(
            f"the driven wheels' centre is at {show_numbers(np.round(middle[:2], 4))} of base_link: "
            "the robot turns about a point that is not its base",
            hint="move the origin of base_link to the middle between the driven wheels",
            at=base,
            prop="xformOp:translate",
        )
