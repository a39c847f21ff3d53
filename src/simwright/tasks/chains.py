# SPDX-License-Identifier: Apache-2.0
"""Where tools and bases are, computed from the coordinates of many worlds at once, and what scenes look at then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from simwright.core.math3d import Array, matrices_from_quats, matrix_from_quat, quats_from_matrices
from simwright.engines.mujoco.queries import BALL, FREE, HINGE, SLIDE, MjModel
from simwright.tasks.reading import read_joints, read_objects, read_speeds
from simwright.tasks.scene import Layout, TaskScene, TaskState


@dataclass(frozen=True, slots=True)
class _ChainJoint:
    """``kind`` is MuJoCo's; ``parts`` are A, B and C of a hinge."""

    kind: int
    first: int
    axis: Array
    anchor: Array
    rest: float
    parts: tuple[Array, Array, Array]


@dataclass(frozen=True, slots=True)
class _ChainLink:
    """A body of the chain: its place on its parent, and its joints.

    The rotation is None where the first joint's own has it.
    """

    position: Array
    rotation: Array | None
    joints: tuple[_ChainJoint, ...]


class BodyChain:
    """The way from the world to a body of a compiled model, and a place on it."""

    def __init__(self, model: MjModel, body: int, position: Array, rotation: Array) -> None:
        self._tip = (np.array(position, dtype=np.float64), matrix_from_quat(rotation))
        links: list[tuple[Array, Array, tuple[_ChainJoint, ...]]] = []
        while body > 0:
            first = int(model.body_jntadr[body])
            numbers = range(first, first + int(model.body_jntnum[body]))
            joints = tuple(_read_joint(model, joint) for joint in numbers)
            turn = matrix_from_quat(model.body_quat[body])
            links.append((np.array(model.body_pos[body]), turn, joints))
            body = int(model.body_parentid[body])
        self._links, self._tip = _merge_fixed(links[::-1], self._tip)
        tip, turn = self._tip
        # where nothing moves
        self._pose = np.concatenate([tip, quats_from_matrices(turn[None])[0]])

    @classmethod
    def of_site(cls, model: MjModel, site: int) -> BodyChain:
        """The chain of a site."""
        return cls(model, int(model.site_bodyid[site]), model.site_pos[site], model.site_quat[site])

    @classmethod
    def of_body(cls, model: MjModel, body: int) -> BodyChain:
        """The chain of a body."""
        return cls(model, body, np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))

    def place(self, qpos: Array) -> Array:
        """Poses (worlds x 7: position, quaternion w, x, y, z) at coordinates (worlds x nq)."""
        count = len(qpos)
        if not self._links:
            return np.tile(self._pose, (count, 1))
        position: Array = np.zeros((count, 3))
        rotation: Array = np.tile(np.eye(3), (count, 1, 1))
        for link in self._links:
            # a free joint has no parent: its coordinates are the pose itself
            if link.joints and link.joints[0].kind == FREE:
                first = link.joints[0].first
                position = qpos[:, first : first + 3].copy()
                rotation = _rotations_of(qpos[:, first + 3 : first + 7])
                continue
            position = position + rotation @ link.position
            if link.rotation is not None:
                rotation = rotation @ link.rotation
            for joint in link.joints:
                position, rotation = _move_joint(joint, qpos, position, rotation)
        tip, turn = self._tip
        poses: Array = np.empty((count, 7))
        poses[:, :3] = position + rotation @ tip
        poses[:, 3:] = quats_from_matrices(rotation @ turn)
        return poses


def _merge_fixed(
    links: list[tuple[Array, Array, tuple[_ChainJoint, ...]]], tip: tuple[Array, Array]
) -> tuple[tuple[_ChainLink, ...], tuple[Array, Array]]:
    """Bodies that do not move on their parents become part of what follows: nothing is computed for them."""
    moving: list[_ChainLink] = []
    position, rotation = np.zeros(3), np.eye(3)
    for place, turn, joints in links:
        position, rotation = position + rotation @ place, rotation @ turn
        if joints:
            moving.append(_make_link(position, rotation, joints))
            position, rotation = np.zeros(3), np.eye(3)
    return tuple(moving), (position + rotation @ tip[0], rotation @ tip[1])


def _make_link(position: Array, rotation: Array, joints: tuple[_ChainJoint, ...]) -> _ChainLink:
    """A link; a hinge through its origin takes its rotation in, which saves a product for every world."""
    first = joints[0]
    if first.kind != HINGE or first.anchor.any():
        return _ChainLink(position, rotation, joints)
    still, even, odd = first.parts
    turned = replace(first, parts=(rotation @ still, rotation @ even, rotation @ odd))
    return _ChainLink(position, None, (turned, *joints[1:]))


def _read_joint(model: MjModel, joint: int) -> _ChainJoint:
    axis = np.array(model.jnt_axis[joint])
    x, y, z = axis
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    # Rodrigues: R = u u^T + cos(q) (1 - u u^T) + sin(q) [u]x
    outer = np.outer(axis, axis)
    first = int(model.jnt_qposadr[joint])
    parts = (outer, np.eye(3) - outer, cross)
    rest = float(model.qpos0[first])
    return _ChainJoint(int(model.jnt_type[joint]), first, axis, np.array(model.jnt_pos[joint]), rest, parts)


def _move_joint(joint: _ChainJoint, qpos: Array, position: Array, rotation: Array) -> tuple[Array, Array]:
    """One joint's motion: ball, slide or hinge."""
    if joint.kind == SLIDE:
        return position + (rotation @ joint.axis) * (qpos[:, joint.first, None] - joint.rest), rotation
    if joint.kind == BALL:
        turned = rotation @ _rotations_of(qpos[:, joint.first : joint.first + 4])
    else:
        angle = (qpos[:, joint.first] - joint.rest)[:, None, None]
        still, even, odd = joint.parts
        turned = rotation @ (still + np.cos(angle) * even + np.sin(angle) * odd)
    if not joint.anchor.any():
        return position, turned
    # joints turn about their anchor, not about the origin of the body
    return position + rotation @ joint.anchor - turned @ joint.anchor, turned


def _rotations_of(quats: Array) -> Array:
    # MuJoCo normalises too: integration lets the length of quaternions drift
    return matrices_from_quats(quats / np.linalg.norm(quats, axis=-1, keepdims=True))


class StateReader:
    """What a scene may look at, of all worlds of a model; ``tool_sites`` are the robots' tools, the first one first.

    Of the two quaternions of a tool's turn it is the one nearer to that at ``home``.  Arms that point down are at half
    a turn from the world, where rounding would choose the sign: another in a batch than alone, and in each step.
    """

    def __init__(self, scene: TaskScene, model: MjModel, tool_sites: Mapping[str, int], home: Array) -> None:
        self._scene, self._model = scene, model
        self._base = BodyChain.of_body(model, 1)
        tools = {name: BodyChain.of_site(model, site) for name, site in tool_sites.items() if site >= 0}
        others = {f"tool_{name}": chain for name, chain in list(tools.items())[1:]}
        self._tools = {"tool": next(iter(tools.values()), self._base), **others}
        self._turns = {name: chain.place(home[None])[0, 3:] for name, chain in self._tools.items()}

    def place_base(self, qpos: Array) -> Array:
        """Poses of the first root body of the robot (worlds x 7)."""
        return self._base.place(qpos)

    def look(self, qpos: Array, qvel: Array, layout: Layout, start: Array) -> TaskState:
        """The state of worlds whose coordinates and velocities are given (worlds x numbers)."""
        scene, model = self._scene, self._model
        tools = {name: self.face(name, chain.place(qpos)) for name, chain in self._tools.items()}
        return TaskState(
            layout=layout,
            objects=read_objects(scene, model, qpos),
            speeds=read_speeds(scene, model, qvel),
            joints=read_joints(scene, model, qpos),
            tool=tools.pop("tool"),
            base=self._base.place(qpos),
            start=start,
            tools=tools,
        )

    def face(self, name: str, poses: Array) -> Array:
        """Poses of a tool (7, or worlds x 7), each with the quaternion that is nearer to that at home."""
        away = poses[..., 3:] @ self._turns[name] < 0.0
        poses[..., 3:] *= np.where(away, -1.0, 1.0)[..., None]
        return poses
