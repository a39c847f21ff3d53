"""Bodies, joints, freedoms, articulations and filters, against what Newton holds after its import."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from oracle_values import Difference, agree, agree_pose, say

from simwright.model.asset import Asset
from simwright.model.filtering import find_filtered_pairs, list_articulated
from simwright.model.joint import WORLD, Dof, Joint, JointKind, Motion
from simwright.model.kinematics import build_tree

UNLIMITED = 1e10


def match(ours: dict[str, Any], rows: list[dict[str, Any]], what: str) -> Iterator[Difference]:
    """Elements that only one side has."""
    theirs = {path for row in rows for path in row["paths"]}
    for path in sorted(set(ours) - theirs):
        yield Difference(path, what, "there", None)
    for path in sorted(theirs - set(ours)):
        yield Difference(path, what, None, "there")


def compare_bodies(asset: Asset, oracle: dict[str, Any]) -> Iterator[Difference]:
    bodies = {body.path: body for body in asset.bodies}
    yield from match(bodies, oracle["bodies"], "body")
    for row in oracle["bodies"]:
        body = bodies[row["path"]]
        inertial = body.inertial
        if not agree_pose(body.pose, row["q"]):
            yield Difference(body.path, "body.pose", body.pose, row["q"])
        mass = inertial.mass if inertial else 0.0
        com = inertial.com if inertial else np.zeros(3)
        inertia = inertial.inertia if inertial else np.zeros((3, 3))
        rates = [
            rate if rate is not None else np.zeros(3)
            for rate in (body.linear_velocity, body.angular_velocity)
        ]
        for field, value, theirs, scale in (
            ("body.mass", mass, row["mass"], 0.0),
            ("body.com", com, row["com"], 1.0),
            ("body.inertia", inertia, row["inertia"], float(np.abs(row["inertia"]).max())),
            ("body.velocity", np.concatenate(rates), row["qd"], 0.0),
            ("body.kinematic", 2 if body.kinematic else 1, row["flags"], 0.0),
        ):
            if not agree(value, theirs, scale):
                yield Difference(body.path, field, value, theirs)


JOINT_TYPES = {kind: kind.name for kind in JointKind}


def compare_joints(asset: Asset, oracle: dict[str, Any]) -> Iterator[Difference]:
    joints = {joint.path: joint for joint in asset.joints if joint.enabled}
    paths = {body.name: body.path for body in asset.bodies} | {WORLD: None}
    authored = [row for row in oracle["joints"] if row["paths"]]
    yield from match(joints, authored, "joint")
    for row in authored:
        joint = joints[row["path"]]
        for field, value, theirs in (
            ("joint.type", JOINT_TYPES[joint.kind], row["type"]),
            ("joint.parent", paths[joint.parent], row["parent"]),
            ("joint.child", paths[joint.child], row["child"]),
            ("joint.filter", joint.parent != WORLD and not joint.collide, row["filter_parent"]),
            ("joint.freedoms", joint.velocities, len(row["dofs"])),
        ):
            if value != theirs:
                yield Difference(joint.path, field, value, theirs)
        for field, pose, theirs in (
            ("joint.parent_frame", joint.parent_frame, row["X_p"]),
            ("joint.child_frame", joint.child_frame, row["X_c"]),
        ):
            if not agree_pose(pose, theirs):
                yield Difference(joint.path, field, pose, theirs)
        yield from compare_dofs(joint, row)
        yield from compare_mimic(asset, joint, row)
    floating = {row["child"] for row in oracle["joints"] if not row["paths"]}
    roots = {paths[root] for root in build_tree(asset).roots}
    for path in floating ^ roots:
        yield Difference(path, "body.floats", path in roots, path in floating)


def compare_dofs(joint: Joint, row: dict[str, Any]) -> Iterator[Difference]:
    """Freedom by freedom; where Newton has fewer, those it has."""
    if any(dof.velocities != 1 for dof in joint.dofs):
        return
    for number, (dof, theirs) in enumerate(pair_dofs(joint, row)):
        values = describe_dof(dof) | {
            "axis": dof.axis,
            "q": 0.0 if dof.position is None else dof.position,
            "target_q": clamp_target(dof),
        }
        expected = theirs | {"q": row["q"][number], "target_q": row["target_q"][number]}
        for field, value in values.items():
            if not agree(value, expected[field], 1.0 if field == "axis" else 0.0):
                yield Difference(joint.path, f"dof.{field}", value, expected[field])


def pair_dofs(joint: Joint, row: dict[str, Any]) -> list[tuple[Dof, dict[str, Any]]]:
    if joint.velocities == len(row["dofs"]):
        return list(zip(joint.dofs, row["dofs"], strict=True))
    slides = row["dof_dim"][0]
    pairs = []
    for number, theirs in enumerate(row["dofs"]):
        motion = Motion.SLIDE if number < slides else Motion.HINGE
        same = [d for d in joint.dofs if d.motion is motion and agree(d.axis, theirs["axis"], 1.0)]
        assert len(same) == 1
        pairs.append((same[0], theirs))
    return pairs


def compare_mimic(asset: Asset, joint: Joint, row: dict[str, Any]) -> Iterator[Difference]:
    followers = {mimic.follower for mimic in asset.mimics if mimic.enabled}
    ours = any((dof.name or joint.name) in followers for dof in joint.dofs)
    if ours != (row["mimic"] is not None):
        yield Difference(joint.path, "joint.mimic", ours, row["mimic"])


def describe_dof(dof: Dof) -> dict[str, Any]:
    """A freedom with Newton's importer defaults where the model is silent."""
    drive = dof.drive
    described = {
        "lower": max(dof.lower - dof.ref, -UNLIMITED),
        "upper": min(dof.upper - dof.ref, UNLIMITED),
        "limit_ke": say(dof.limit_stiffness, 1e4),
        "limit_kd": say(dof.limit_damping, 10.0),
        "armature": say(dof.armature, 0.0),
        "friction": say(dof.friction, 0.0),
        "damping": say(dof.damping, 0.0),
        "velocity_limit": say(dof.velocity_limit, 1e6),
        "effort_limit": say(dof.effort_limit, 1e6),
        "qd": say(dof.velocity, 0.0),
        "ke": 0.0,
        "kd": 0.0,
        "target_qd": 0.0,
        "mode": "NONE",
    }
    if drive is not None:
        gained = "POSITION" if drive.stiffness else "VELOCITY" if drive.damping else "EFFORT"
        described |= {
            "ke": drive.stiffness,
            "kd": drive.damping,
            "target_qd": drive.target_velocity,
            "effort_limit": min(drive.max_force, say(dof.effort_limit, math.inf)),
            "mode": gained,
        }
    return described


def clamp_target(dof: Dof) -> float:
    """Newton moves a target outside the limits to their middle."""
    target = dof.drive.target_position - dof.ref if dof.drive else 0.0
    lower, upper = dof.lower - dof.ref, dof.upper - dof.ref
    return target if lower <= target <= upper else (lower + upper) / 2


def compare_articulations(asset: Asset, oracle: dict[str, Any]) -> Iterator[Difference]:
    """Declared ones hold the same joints; the others of Newton are single floating bodies."""
    tree = build_tree(asset)
    loops = {joint.path for joint in tree.loops}
    bodies = {body.path: body.name for body in asset.bodies}
    ours = {}
    for articulation in asset.articulations:
        members = set(list_articulated(asset, articulation, tree))
        ours[articulation.path] = {j.path for j in asset.joints if j.enabled and j.child in members} - loops
    for row in oracle["articulations"]:
        joints = {path for path in row["joints"] if path.startswith("/")}
        if row["path"] in ours:
            found = ours.pop(row["path"])
            if found != joints:
                yield Difference(row["path"], "articulation.joints", sorted(found), sorted(joints))
        elif joints or bodies.get(row["path"]) not in tree.roots:
            yield Difference(row["path"], "articulation", None, row["path"])
    for path in ours:
        yield Difference(path, "articulation", path, None)


def compare_filters(asset: Asset, oracle: dict[str, Any]) -> Iterator[Difference]:
    path = {shape.name: shape.path for shape in asset.shapes}
    ours = {frozenset((path[a], path[b])) for a, b in find_filtered_pairs(asset)}
    theirs = {frozenset(pair) for pair in oracle["filter_pairs"]["pairs"]}
    assert oracle["filter_pairs"]["count"] == len(theirs)
    for pair in ours ^ theirs:
        yield Difference(" ".join(sorted(pair)), "filter", pair in ours, pair in theirs)
