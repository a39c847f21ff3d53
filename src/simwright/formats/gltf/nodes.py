# SPDX-License-Identifier: Apache-2.0
"""The node tree: bodies in bodies as joints hold them, each with what sits on it (REP-0158 3.7).

The root node turns the model's Z-up to glTF's Y-up; below it every node is placed in its parent as in the model.
Nothing is moved to world space, so a joint is a node that can be turned.
"""

from __future__ import annotations

import math

import numpy as np

from simwright.core.math3d import IDENTITY, Array, Pose, quat_rotate
from simwright.formats.gltf.draft import Draft
from simwright.formats.gltf.instances import write_scatter
from simwright.formats.gltf.meshes import Library, Stored
from simwright.formats.gltf.messages import COLLIDERS_LEFT_OUT, PURPOSE_LEFT_OUT
from simwright.model.asset import Body, Shape, scaled
from simwright.model.joint import WORLD

UP = Pose.of(q=(math.sqrt(0.5), -math.sqrt(0.5), 0.0, 0.0))
"""Z-up to Y-up: a quarter turn about -X."""
_SEEN = frozenset({"default", "render"})


def write_bodies(draft: Draft) -> None:
    """The root, then every body below the one that carries it."""
    draft.body_nodes[WORLD] = draft.add_node(draft.asset.name, None, UP)
    edges = draft.tree.parents()
    children: dict[str, list[Body]] = {}
    poses = {WORLD: IDENTITY}
    for body in draft.asset.bodies:
        edge = edges.get(body.name)
        children.setdefault(edge.parent if edge else WORLD, []).append(body)
        poses[body.name] = body.pose
    pending = [(body, WORLD) for body in reversed(children.get(WORLD, []))]
    while pending:
        body, parent = pending.pop()
        local = ~poses[parent] @ body.pose
        draft.body_nodes[body.name] = draft.add_node(
            body.name, draft.body_nodes[parent], local, extras={"simwright": {"role": "body"}}
        )
        pending += [(child, body.name) for child in reversed(children.get(body.name, []))]


def write_shapes(draft: Draft) -> None:
    """A node for every shape that is seen; with colliders where they are asked for."""
    library = Library(draft)
    scattered: dict[tuple[object, ...], list[tuple[Shape, Stored]]] = {}
    for shape in _choose_shapes(draft):
        stored = library.find(shape)
        if stored is None:
            continue
        if shape.instancer:
            key = (shape.body, shape.instancer, stored.number, is_seen(shape))
            scattered.setdefault(key, []).append((shape, stored))
            continue
        _write_shape(draft, shape, stored)
    for members in scattered.values():
        if len(members) == 1:
            _write_shape(draft, *members[0])
        else:
            write_scatter(draft, members, describe_shape(draft, members[0][0]))
    library.report()


def write_sites(draft: Draft) -> None:
    """A node for every named frame."""
    for site in draft.asset.sites:
        note = {"role": "site"}
        if site.ros_frame:
            note["rosFrame"] = site.ros_frame
        draft.add_node(site.name, draft.body_nodes[site.body], site.pose, extras={"simwright": note})


def is_seen(shape: Shape) -> bool:
    """Is it part of the picture?"""
    return shape.visual and shape.purpose in _SEEN


def _choose_shapes(draft: Draft) -> list[Shape]:
    asset, chosen = draft.asset, []
    colliders, others = [], []
    for shape in asset.shapes:
        if is_seen(shape) or (shape.collision and draft.options.collision):
            chosen.append(shape)
        elif shape.collision:
            colliders.append(shape)
        else:
            others.append(shape)
    for kind, left in ((COLLIDERS_LEFT_OUT, colliders), (PURPOSE_LEFT_OUT, others)):
        if left:
            draft.reporter.report(kind, left[0].source, count=len(left), first=left[0].name)
    return chosen


def _write_shape(draft: Draft, shape: Shape, stored: Stored) -> None:
    pose, scale = decode(shape.pose, scaled(shape), stored)
    more = {"mesh": stored.number, **describe_shape(draft, shape)}
    number = draft.add_node(shape.name, draft.body_nodes[shape.body], pose, scale, **more)
    draft.shape_nodes[shape.name] = number
    draft.decodings[shape.name] = (stored.origin, stored.unit)


def describe_shape(draft: Draft, shape: Shape) -> dict[str, object]:
    """What a collider is, where colliders are written."""
    if not (draft.options.collision and shape.collision):
        return {}
    note: dict[str, object] = {"role": "both" if is_seen(shape) else "collision"}
    if not shape.enabled:
        note["enabled"] = False
    if shape.approximation is not None:
        note["approximation"] = shape.approximation.token
    material = next((m for m in draft.asset.physics_materials if m.name == shape.physics_material), None)
    if material is not None:
        said = {
            "staticFriction": material.static_friction,
            "dynamicFriction": material.dynamic_friction,
            "restitution": material.restitution,
        }
        note.update({word: value for word, value in said.items() if value is not None})
    return {"extras": {"simwright": note}}


def decode(pose: Pose, scale: Array, stored: Stored) -> tuple[Pose, Array]:
    """The placement of stored points that are not in metres."""
    if stored.unit.tolist() == [1.0, 1.0, 1.0] and not np.any(stored.origin):
        return pose, scale
    return Pose(pose.p + quat_rotate(pose.q, scale * stored.origin), pose.q), scale * stored.unit
