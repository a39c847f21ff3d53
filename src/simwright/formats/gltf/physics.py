# SPDX-License-Identifier: Apache-2.0
"""The physics block in the document's extras: joints, limits, drives, masses (described in docs/gltf.md).

Bodies are named by their node.  Vectors and frames are in the local frames of nodes, units SI and radians,
quaternions x, y, z, w as everywhere in glTF.  What is not said is not there; limits without end are left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from simwright.core.math3d import Pose
from simwright.formats.gltf.draft import Draft, Row
from simwright.model.joint import WORLD, Dof, Drive, Joint, Motion
from simwright.model.mass import body_inertials

VERSION = 1
_DOF_NUMBERS = (
    ("lower", "lower"), ("upper", "upper"), ("effortLimit", "effort_limit"), ("velocityLimit", "velocity_limit"),
    ("damping", "damping"), ("friction", "friction"), ("stiffness", "stiffness"),
    ("springReference", "spring_ref"), ("armature", "armature"),
)  # fmt: skip


def write_physics(draft: Draft) -> None:
    """Fill the extras of the document; an asset without bodies has none."""
    asset = draft.asset
    if not asset.bodies:
        return
    block: Row = {"version": VERSION, "bodies": _list_bodies(draft)}
    if asset.environment.gravity is not None:
        block["gravity"] = asset.environment.gravity.tolist()
    if asset.joints:
        loops = {id(joint) for joint in draft.tree.loops}
        turned = {id(edge.joint) for edge in draft.tree.edges if edge.reversed}
        known = draft.body_nodes
        block["joints"] = [
            _describe_joint(draft, joint, id(joint) in loops, id(joint) in turned)
            for joint in asset.joints
            if joint.parent in known and joint.child in known
        ]
    if asset.mimics:
        block["mimics"] = [
            {
                "follower": mimic.follower,
                "leader": mimic.leader,
                "multiplier": mimic.multiplier,
                "offset": mimic.offset,
                **({"polynomial": list(mimic.polynomial)} if mimic.polynomial else {}),
            }
            for mimic in asset.mimics
            if mimic.enabled
        ]
    draft.extras["simwright"] = {"physics": block}


def _list_bodies(draft: Draft) -> list[Row]:
    inertials = body_inertials(draft.asset)
    rows = []
    for body in draft.asset.bodies:
        row: Row = {"node": draft.body_nodes[body.name], "name": body.name}
        inertial = inertials.get(body.name)
        if inertial is not None and math.isfinite(inertial.mass) and inertial.mass > 0.0:
            row["mass"] = inertial.mass
            row["centerOfMass"] = inertial.com.tolist()
            row["inertia"] = inertial.six.tolist()
        if body.kinematic:
            row["kinematic"] = True
        if not body.enabled:
            row["enabled"] = False
        rows.append(row)
    return rows


def _describe_joint(draft: Draft, joint: Joint, closes_loop: bool, is_turned: bool) -> Row:
    row: Row = {"name": joint.public_name, "type": joint.kind.value}
    if joint.parent != WORLD:
        row["parent"] = draft.body_nodes[joint.parent]
    if joint.child != WORLD:
        row["child"] = draft.body_nodes[joint.child]
    for word, frame in (("parentFrame", joint.parent_frame), ("childFrame", joint.child_frame)):
        if not frame.is_identity():
            row[word] = _describe_frame(frame)
    if joint.dofs:
        row["dofs"] = [_describe_dof(dof) for dof in joint.dofs]
    if closes_loop:
        row["closesLoop"] = True
    if is_turned:
        row["childCarriesParent"] = True
    if not joint.enabled:
        row["enabled"] = False
    if joint.distance is not None:
        row["distance"] = [value if math.isfinite(value) else None for value in joint.distance]
    if joint.gear is not None:
        row["gearRatio"] = joint.gear.ratio
    return row


def _describe_frame(frame: Pose) -> Row:
    w, x, y, z = frame.q.tolist()
    return {"translation": frame.p.tolist(), "rotation": [x, y, z, w]}


def _describe_dof(dof: Dof) -> Row:
    row: Row = {"motion": dof.motion.value}
    if dof.name:
        row["name"] = dof.name
    if dof.motion in (Motion.HINGE, Motion.SLIDE):
        row["axis"] = dof.axis.tolist()
    if any(dof.anchor.tolist()):
        row["anchor"] = dof.anchor.tolist()
    if dof.swing is not None:
        row["swing"] = list(dof.swing)
    if dof.pitch:
        row["pitch"] = dof.pitch
    if dof.ref:
        row["reference"] = dof.ref
    for word, name in _DOF_NUMBERS:
        _put(row, word, getattr(dof, name))
    if dof.position is not None:
        row["position"] = _as_numbers(dof.position)
    if dof.drive is not None:
        row["drive"] = _describe_drive(dof.drive)
    return row


def _describe_drive(drive: Drive) -> Row:
    row: Row = {"type": "acceleration" if drive.acceleration else "force"}
    for word, value in (
        ("stiffness", drive.stiffness),
        ("damping", drive.damping),
        ("targetPosition", drive.target_position),
        ("targetVelocity", drive.target_velocity),
        ("maxForce", drive.max_force),
    ):
        _put(row, word, value)
    return row


def _put(row: Row, word: str, value: float | None) -> None:
    if value is not None and math.isfinite(value):
        row[word] = float(value)


def _as_numbers(value: Any) -> float | list[float]:
    if isinstance(value, Iterable):
        return [float(entry) for entry in value]
    return float(value)
