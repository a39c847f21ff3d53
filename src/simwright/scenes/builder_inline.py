# SPDX-License-Identifier: Apache-2.0
"""Inline bodies, joints and articulations of a scene file, put into the builder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from simwright.core.diag import Where
from simwright.core.errors import UsageError
from simwright.model.inertia import Inertial
from simwright.runtime.kinds import JointType
from simwright.scenes import document_mechanics as mechanics
from simwright.scenes.builder import Builder
from simwright.scenes.builder_config import FREE_DOF
from simwright.scenes.document_placing import list_body_fields, place_shape
from simwright.scenes.sources import SourceFinder

_KINDS = {
    "fixed": JointType.FIXED,
    "free": JointType.FREE,
    "revolute": JointType.REVOLUTE,
    "prismatic": JointType.PRISMATIC,
    "ball": JointType.BALL,
    "d6": JointType.D6,
    "distance": JointType.DISTANCE,
}


@dataclass(frozen=True, slots=True)
class Ends:
    """Bodies of a joint by index; the world is -1."""

    parent: int
    child: int


def add_body(builder: Builder, body: mechanics.Body, sources: SourceFinder, where: Where) -> int:
    """An inline body with its shapes; gives its index."""
    index = builder.add_body(
        body.label or body.id, body.transform.seven, Inertial(body.mass) if body.mass else None
    )
    builder.body_ids[body.id] = index
    fields = list_body_fields(body, builder.compat)
    for shape in body.shapes:
        place_shape(builder, index, shape, fields, sources, where)
    return index


def add_joint(builder: Builder, joint: Any, ends: Ends) -> int:
    """An inline joint between bodies that are there already; gives its index."""
    linear, angular = _list_axes(builder, joint)
    index = builder.add_joint(
        _KINDS[joint.type],
        ends.parent,
        ends.child,
        parent_xform=joint.parent_xform.seven,
        child_xform=joint.child_xform.seven,
        label=joint.label or joint.id,
        linear=linear,
        angular=angular,
        filter_parent=joint.collision_filter_parent,
    )
    builder.joint_ids[joint.id] = index
    return index


def _list_axes(builder: Builder, joint: Any) -> tuple[list[Any], list[Any]]:
    """Linear and angular freedoms, the builder's defaults where they say nothing."""
    default = builder.default_joint
    match joint:
        case mechanics.PrismaticJoint():
            return [default.with_values(joint.list_values())], []
        case mechanics.RevoluteJoint() | mechanics.BallJoint():
            return [], [default.with_values(joint.list_values())]
        case mechanics.D6Joint():
            linear = [default.with_values(axis.list_values()) for axis in joint.linear_axes]
            return linear, [default.with_values(axis.list_values()) for axis in joint.angular_axes]
        case mechanics.DistanceJoint():
            low, high = joint.min_distance, joint.max_distance
            stops = {
                "limit_lower": -1.0 if low is None else low,
                "limit_upper": -1.0 if high is None else high,
            }
            return [FREE_DOF.with_values(stops), *[FREE_DOF] * 5], []
        case _:
            return [], []


def add_articulation(builder: Builder, articulation: mechanics.Articulation, number: int) -> int:
    """Joints of one articulation, by their ids; gives its index."""
    missing = [name for name in articulation.joints if name not in builder.joint_ids]
    if missing:
        raise UsageError(
            f"there is no joint {missing[0]!r} for the articulation", hint="joints are named by their id"
        )
    indices = [builder.joint_ids[name] for name in articulation.joints]
    label = articulation.label or articulation.id or f"articulation_{number}"
    return builder.add_articulation(indices, label)
