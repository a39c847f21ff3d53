# SPDX-License-Identifier: Apache-2.0
"""What holds beside the tree: joints that close loops, followers, distances."""

from __future__ import annotations

from typing import Any

import numpy as np

from simwright.engines.messages import LOOP_NOT_SUPPORTED, MIMIC_NOT_SUPPORTED, Teller
from simwright.engines.mujoco.bodies import as_wxyz
from simwright.engines.world import OneWorld
from simwright.runtime.kinds import JointType
from simwright.runtime.rotation import compose

_ARM = 0.1
"""How far apart a hinge that closes a loop is held in two points [m]."""


def add_relations(spec: Any, bodies: dict[int, Any], world: OneWorld, teller: Teller) -> None:
    """Loops, distances and followers."""
    for joint in range(world.joint_count):
        kind = JointType(int(world.joint_type[joint]))
        if world.joint_articulation[joint] >= 0:
            if kind is JointType.DISTANCE:
                _hold_distance(spec, bodies, world, joint)
        elif world.joint_enabled[joint]:
            _close_loop(spec, bodies, world, joint, teller)
        if world.joint_mimic_joint[joint] >= 0:
            _follow(spec, world, joint, teller)


def _close_loop(spec: Any, bodies: dict[int, Any], world: OneWorld, joint: int, teller: Teller) -> None:
    import mujoco

    kind = JointType(int(world.joint_type[joint]))
    if kind is JointType.FREE:
        return
    if kind is JointType.DISTANCE:
        _hold_distance(spec, bodies, world, joint)
        return
    if kind is JointType.FIXED:
        ends = _add_sites(bodies, world, joint, "0")
        _equate(spec, mujoco.mjtEq.mjEQ_WELD, f"l{joint}", ends)
        return
    if kind not in (JointType.BALL, JointType.REVOLUTE):
        teller.tell(LOOP_NOT_SUPPORTED, joint, kind=kind.name.lower())
        return
    _equate(spec, mujoco.mjtEq.mjEQ_CONNECT, f"l{joint}", _add_sites(bodies, world, joint, "0"))
    if kind is JointType.REVOLUTE:
        along = world.joint_axis[world.dofs_of(joint).start] * _ARM
        ends = _add_sites(bodies, world, joint, "1", along)
        _equate(spec, mujoco.mjtEq.mjEQ_CONNECT, f"l{joint}.1", ends)


def _add_sites(
    bodies: dict[int, Any], world: OneWorld, joint: int, tag: str, along: Any = (0.0, 0.0, 0.0)
) -> tuple[str, str]:
    """The frames of a joint on both bodies, moved along."""
    shift = np.array((*along, 0.0, 0.0, 0.0, 1.0))
    names = []
    for side, end, frame in (
        ("p", int(world.joint_parent[joint]), world.joint_X_p[joint]),
        ("c", int(world.joint_child[joint]), world.joint_X_c[joint]),
    ):
        pose = compose(frame, shift)
        names.append(f"s{joint}.{side}{tag}")
        bodies[end].add_site(name=names[-1], pos=pose[:3], quat=as_wxyz(pose[3:]))
    return names[0], names[1]


def _equate(spec: Any, kind: Any, name: str, ends: tuple[str, str]) -> None:
    import mujoco

    equality = spec.add_equality(name=name, type=kind, objtype=mujoco.mjtObj.mjOBJ_SITE)
    equality.name1, equality.name2 = ends
    if kind == mujoco.mjtEq.mjEQ_WELD:
        equality.data[10] = 1.0  # torque counts like force


def _hold_distance(spec: Any, bodies: dict[int, Any], world: OneWorld, joint: int) -> None:
    """A tendon between the two frames, with stops; a negative stop is none."""
    import mujoco

    first = world.dofs_of(joint).start
    low, high = float(world.joint_limit_lower[first]), float(world.joint_limit_upper[first])
    if low < 0.0 and high < 0.0:
        return
    ends = _add_sites(bodies, world, joint, "0")
    tendon = spec.add_tendon(name=f"t{joint}", limited=mujoco.mjtLimited.mjLIMITED_TRUE)
    tendon.range = (max(low, 0.0), high if high >= 0.0 else 1e6)
    for end in ends:
        tendon.wrap_site(end)


def _follow(spec: Any, world: OneWorld, joint: int, teller: Teller) -> None:
    import mujoco

    leader = int(world.joint_mimic_joint[joint])
    single = (JointType.REVOLUTE, JointType.PRISMATIC, JointType.D6)
    for one in (joint, leader):
        if world.joint_type[one] not in single or len(world.dofs_of(one)) != 1:
            teller.tell(MIMIC_NOT_SUPPORTED, joint)
            return
    equality = spec.add_equality(name=f"f{joint}", type=mujoco.mjtEq.mjEQ_JOINT)
    equality.objtype = mujoco.mjtObj.mjOBJ_JOINT
    equality.name1, equality.name2 = f"j{joint}.0", f"j{leader}.0"
    equality.data[:5] = (*world.joint_mimic_coeffs[joint], 0.0, 0.0, 0.0)
