# SPDX-License-Identifier: Apache-2.0
"""Several hinges and slides between the same two bodies of an articulation: one joint with their freedoms.

Taken one by one they would lock each other.  Converters from MuJoCo, whose bodies have several joints, write
them so, and Newton reads them so.  Slides come first, then hinges, each in stage order; a freedom keeps the name
of its joint, so everything that refers to it still does.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from simwright.core.diag import Level, declare
from simwright.core.math3d import Pose, quat_rotate
from simwright.formats.usd.source import Source
from simwright.model.extras import CustomAttribute
from simwright.model.filtering import list_articulated
from simwright.model.joint import Dof, Joint, JointKind, Motion
from simwright.model.kinematics import build_tree

JOINTS_STACKED = declare(
    "usd-joints-stacked",
    Level.INFO,
    "{count} joints hold {child!r} on {parent} ({names}); they are read as one with {count} freedoms",
    hint="use one PhysicsJoint with limits, or bodies in between",
    doc="Parallel joints would lock each other; inside an articulation they stand for the freedoms of one joint.",
)
STACK_APART = declare(
    "usd-joint-stack-apart",
    Level.WARNING,
    "joint {name!r} rests {distance:.3g} m away from {first!r}, which holds the same two bodies",
    hint="give parallel joints the same rest pose",
    doc="Joints between the same two bodies do not agree where these bodies are at rest; the first one counts.",
)

_STACKED = (JointKind.REVOLUTE, JointKind.PRISMATIC)
_APART = 1e-3


def merge_stacks(source: Source) -> None:
    """Replace parallel joints of articulations by one each."""
    asset = source.asset
    stacks: dict[tuple[str, str], list[Joint]] = {}
    for joint in asset.joints:
        if joint.kind in _STACKED and joint.enabled and not joint.closes_loop:
            stacks.setdefault((joint.parent, joint.child), []).append(joint)
    several = [stack for stack in stacks.values() if len(stack) > 1]
    if not several or not asset.articulations:
        return
    tree = build_tree(asset)
    inside = {body for a in asset.articulations for body in list_articulated(asset, a, tree)}
    for stack in several:
        if stack[0].child in inside:
            _merge(source, stack)


def _merge(source: Source, stack: list[Joint]) -> None:
    first = stack[0]
    names = [joint.name for joint in stack]
    source.reporter.report(
        JOINTS_STACKED,
        first.source,
        count=len(stack),
        parent=repr(first.parent) if first.parent else "the world",
        child=first.child,
        names=", ".join(names),
    )
    dofs = [_move_dof(source, joint, first) for joint in stack]
    dofs.sort(key=lambda dof: dof.motion is not Motion.SLIDE)
    merged = dataclasses.replace(
        first,
        kind=JointKind.D6,
        dofs=dofs,
        collide=any(joint.collide for joint in stack),
        break_force=min(joint.break_force for joint in stack),
        break_torque=min(joint.break_torque for joint in stack),
    )
    asset, gone = source.asset, {id(joint) for joint in stack[1:]}
    asset.joints = [merged if j is first else j for j in asset.joints if id(j) not in gone]
    for attribute in asset.custom_attributes:
        if attribute.frequency.startswith("joint"):
            _merge_values(attribute, merged, names)


def _move_dof(source: Source, joint: Joint, first: Joint) -> Dof:
    """The freedom of a joint in the frame of the first one."""
    if joint is first:
        return joint.dofs[0]
    rest, rest_first = (j.parent_frame @ ~j.child_frame for j in (joint, first))
    distance = float(np.linalg.norm(rest.p - rest_first.p))
    if distance > _APART:
        source.reporter.report(
            STACK_APART, joint.source, name=joint.name, first=first.name, distance=distance
        )
    turn: Pose = ~first.parent_frame @ joint.parent_frame
    dof = joint.dofs[0]
    return dataclasses.replace(dof, axis=quat_rotate(turn.q, dof.axis), anchor=turn.apply(dof.anchor))


def _merge_values(attribute: CustomAttribute, merged: Joint, names: list[str]) -> None:
    """One value per freedom where the attribute counts over freedoms, else the first that is authored."""
    found = {name: attribute.values.pop(name) for name in names if name in attribute.values}
    if not found:
        return
    if attribute.frequency == "joint":
        attribute.values[merged.name] = next(iter(found.values()))
    else:
        attribute.values[merged.name] = [found.get(dof.name, attribute.default) for dof in merged.dofs]
