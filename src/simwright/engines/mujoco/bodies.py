# SPDX-License-Identifier: Apache-2.0
"""Bodies as MuJoCo's: the tree, masses and frames.

The frame of a body is that of the arrays.  A joint's frames are taken up by the place of the body in its parent and by
the place of the joint in the body, so coordinates mean the same on both sides.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simwright.core.diag import Reporter
from simwright.engines.messages import BODY_MASSLESS
from simwright.engines.world import OneWorld
from simwright.runtime.kinds import JointType
from simwright.runtime.labels import Labels
from simwright.runtime.rotation import Values, compose, invert

LEAST_MASS = 1e-6
"""Given to bodies that move and have none [kg]."""
_LEAST_MOMENT = 1e-12
_FLOATS = (JointType.FREE, JointType.DISTANCE)


def as_wxyz(q: Values) -> Values:
    """A quaternion x, y, z, w in MuJoCo's order."""
    turned: Values = np.asarray(q)[..., [3, 0, 1, 2]]
    return turned


def add_bodies(spec: Any, world: OneWorld) -> dict[int, Any]:
    """Every body under the one that carries it; bodies that move freely, or that nothing carries, under the world."""
    bodies: dict[int, Any] = {-1: spec.worldbody}
    carriers = world.list_carriers()
    waiting = list(range(world.body_count))
    while waiting:
        left = []
        for body in waiting:
            joint = carriers.get(body)
            if joint is None or world.joint_type[joint] in _FLOATS:
                parent, pose = -1, world.body_q[body]
            else:
                parent = int(world.joint_parent[joint])
                pose = compose(world.joint_X_p[joint], invert(world.joint_X_c[joint]))
            if parent not in bodies:
                left.append(body)
                continue
            bodies[body] = bodies[parent].add_body(name=f"b{body}", pos=pose[:3], quat=as_wxyz(pose[3:]))
        assert len(left) < len(waiting), "bodies carry each other in a circle"
        waiting = left
    return bodies


def set_masses(bodies: dict[int, Any], world: OneWorld, labels: Labels, reporter: Reporter) -> None:
    """Mass, centre and principal moments; a body that moves has at least a little of both."""
    heavy = _find_heavy(world)
    for body in range(world.body_count):
        mass, moments, turn = float(world.body_mass[body]), np.zeros(3), np.array((1.0, 0.0, 0.0, 0.0))
        if mass > 0.0:
            moments, turn = find_principal(world.body_inertia[body])
        if body in heavy and (mass <= 0.0 or moments.max() <= 0.0):
            reporter.report(BODY_MASSLESS, name=labels.local[body], mass=max(mass, LEAST_MASS))
            mass = max(mass, LEAST_MASS)
            moments = np.maximum(moments, mass * 1e-4)
        if mass <= 0.0:
            continue
        part = bodies[body]
        part.explicitinertial = True
        part.mass, part.ipos, part.iquat = mass, world.body_com[body], turn
        part.inertia = make_possible(moments)
        part.gravcomp = 1.0 - float(world.body_gravity_scale[body])


def _find_heavy(world: OneWorld) -> set[int]:
    """Bodies with freedoms of their own whose rigid piece has no mass or inertia: they need some."""
    carriers = world.list_carriers()
    pieces: dict[int, int] = {}
    for body in range(world.body_count):
        root, steps = body, 0
        while root in carriers and not world.joint_dof_dim[carriers[root]].sum() and steps < world.body_count:
            root, steps = int(world.joint_parent[carriers[root]]), steps + 1
        pieces[body] = root
    light = {
        body for body, joint in carriers.items() if world.joint_dof_dim[joint].sum() and pieces[body] == body
    }
    for body, root in pieces.items():
        if world.body_mass[body] > 0.0 and np.abs(world.body_inertia[body]).max() > 0.0:
            light.discard(root)
    return light


def find_principal(inertia: Values) -> tuple[Values, Values]:
    """Principal moments and the turn (w, x, y, z) to their axes; the axes of the body where they are principal."""
    if np.abs(inertia - np.diag(np.diag(inertia))).max() <= 1e-7 * np.abs(inertia).max():
        return np.diag(inertia).copy(), np.array((1.0, 0.0, 0.0, 0.0))
    import mujoco

    moments, axes = np.linalg.eigh((inertia + inertia.T) / 2.0)
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] = -axes[:, 0]
    turn = np.zeros(4)
    mujoco.mju_mat2Quat(turn, np.ascontiguousarray(axes).ravel())
    return moments, turn


def make_possible(moments: Values) -> Values:
    """Moments that MuJoCo compiles; what the arrays say is written over them afterwards."""
    least = max(float(moments.max()) * 1e-6, _LEAST_MOMENT)
    safe = np.maximum(moments, least)
    axis = int(np.argmax(safe))
    safe[axis] = min(safe[axis], (safe.sum() - safe[axis]) * (1.0 - 1e-6))
    return np.asarray(safe)


def restore_moments(mj: Any, ids: dict[int, int], world: OneWorld) -> None:
    """Principal moments exactly as the arrays have them, also those that no solid body can have."""
    for body, number in ids.items():
        if body < 0 or world.body_mass[body] <= 0.0:
            continue
        moments, _ = find_principal(world.body_inertia[body])
        if moments.max() > 0.0:
            mj.body_inertia[number] = np.maximum(moments, _LEAST_MOMENT)
