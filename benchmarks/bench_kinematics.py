# SPDX-License-Identifier: Apache-2.0
"""Tree building and forward kinematics: cost per body, and that it is linear."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from benchmarks.measure import Result, cpu_time, growth
from simwright.core.math3d import Pose, vec3
from simwright.model.asset import Asset, Body
from simwright.model.joint import Dof, Joint, JointKind, Motion
from simwright.model.kinematics import build_tree, forward_kinematics


def chain(length: int) -> Asset:
    """A chain of hinges."""
    bodies = [Body(f"b{i}") for i in range(length)]
    joints = [
        Joint(
            f"j{i}", JointKind.REVOLUTE, f"b{i - 1}" if i else "", f"b{i}", Pose.of((0.1, 0, 0)),
            dofs=[Dof(Motion.HINGE, vec3(0, 0, 1), f"j{i}")],
        )
        for i in range(length)
    ]  # fmt: skip
    return Asset("chain", bodies=bodies, joints=joints)


def run() -> Iterator[Result]:
    for name, function in (("spanning tree", build_tree), ("forward kinematics", forward_kinematics)):
        sizes = (100, 1000, 10000)
        assets = [chain(n) for n in sizes]
        times = [cpu_time(partial(function, a), repeat=3) for a in assets]
        copy = cpu_time(assets[-1].copy, repeat=2)
        yield Result(
            f"{name}, 10,000 bodies", times[-1], "copying the asset", copy, note=growth(sizes, times)
        )
