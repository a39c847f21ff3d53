# SPDX-License-Identifier: Apache-2.0
"""Where a site or body is, for many worlds at once: the chain that carries it, joint by joint, in numpy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from simwright.core.math3d import Array
from simwright.tasks.scene import rotate


def multiply(a: Array, b: Array) -> Array:
    """Products of quaternions (w, x, y, z)."""
    aw, ax, ay, az = np.moveaxis(a, -1, 0)
    bw, bx, by, bz = np.moveaxis(b, -1, 0)
    return np.stack(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ],
        axis=-1,
    )


@dataclass(frozen=True, slots=True)
class _Link:
    """A body of the chain: its place on its parent, and its joints."""

    position: Array
    rotation: Array
    joints: tuple[tuple[int, int, Array, Array, float], ...]
    """Type, first coordinate, axis, anchor and coordinate at rest of each."""


class Chain:
    """The way from the world to a body of a compiled model, and a place on it."""

    def __init__(self, model: Any, body: int, position: Array, rotation: Array) -> None:
        self._tip = (np.array(position, dtype=np.float64), np.array(rotation, dtype=np.float64))
        links = []
        while body > 0:
            first = int(model.body_jntadr[body])
            joints = tuple(
                (
                    int(model.jnt_type[joint]),
                    int(model.jnt_qposadr[joint]),
                    np.array(model.jnt_axis[joint]),
                    np.array(model.jnt_pos[joint]),
                    float(model.qpos0[model.jnt_qposadr[joint]]),
                )
                for joint in range(first, first + int(model.body_jntnum[body]))
            )
            links.append(_Link(np.array(model.body_pos[body]), np.array(model.body_quat[body]), joints))
            body = int(model.body_parentid[body])
        self._links = tuple(reversed(links))

    @classmethod
    def of_site(cls, model: Any, site: int) -> Chain:
        """The chain of a site."""
        return cls(model, int(model.site_bodyid[site]), model.site_pos[site], model.site_quat[site])

    @classmethod
    def of_body(cls, model: Any, body: int) -> Chain:
        """The chain of a body."""
        return cls(model, body, np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))

    def place(self, qpos: Array) -> Array:
        """Poses (worlds x 7) at coordinates (worlds x nq)."""
        count = len(qpos)
        position = np.zeros((count, 3))
        rotation = np.tile((1.0, 0.0, 0.0, 0.0), (count, 1))
        for link in self._links:
            if link.joints and link.joints[0][0] == 0:
                first = link.joints[0][1]
                position, rotation = (
                    qpos[:, first : first + 3].copy(),
                    _normalize(qpos[:, first + 3 : first + 7]),
                )
                continue
            position = position + rotate(rotation, link.position)
            rotation = multiply(rotation, np.broadcast_to(link.rotation, rotation.shape))
            for joint in link.joints:
                position, rotation = _move(joint, qpos, position, rotation)
        tip, turn = self._tip
        position = position + rotate(rotation, tip)
        return np.concatenate([position, multiply(rotation, np.broadcast_to(turn, rotation.shape))], axis=1)


def _move(
    joint: tuple[int, int, Array, Array, float], qpos: Array, position: Array, rotation: Array
) -> tuple[Array, Array]:
    """One joint's motion: ball, slide or hinge."""
    kind, first, axis, anchor, rest = joint
    if kind == 2:
        return position + rotate(rotation, axis) * (qpos[:, first] - rest)[:, None], rotation
    if kind == 1:
        turn = _normalize(qpos[:, first : first + 4])
    else:
        half = 0.5 * (qpos[:, first] - rest)
        turn = np.concatenate([np.cos(half)[:, None], np.sin(half)[:, None] * axis], axis=1)
    fixed = position + rotate(rotation, anchor)
    turned = multiply(rotation, turn)
    return fixed - rotate(turned, anchor), turned


def _normalize(q: Array) -> Array:
    return np.asarray(q / np.linalg.norm(q, axis=-1, keepdims=True))
