# SPDX-License-Identifier: Apache-2.0
"""Choices of reference mode that the last bit decides."""

from __future__ import annotations

from simwright.worlds.acting.reference import find_nearest
from simwright.worlds.entities import WorldRobot
from simwright.worlds.poses import WorldPose


def test_equal_distances_are_decided_as_in_pyrobosim() -> None:
    """Two navigation poses of a live sequence: math.dist calls them equally far, and the first one would be taken."""
    robot = WorldRobot("robot", 0.1)
    robot.pose = WorldPose(5.836114043703029, 0.9178892594240831)
    first = WorldPose(5.141592839616055, -0.13574269580201948)
    second = WorldPose(4.5964071603839445, 1.1537426958020194)
    assert find_nearest(robot, [first, second], lambda pose: pose) is second
