# SPDX-License-Identifier: Apache-2.0
"""``<axis>``: direction in the joint frame, limits, dynamics; and ``<mimic>`` (1.11) when all joints are there."""

from __future__ import annotations

import math
from typing import Any

from simwright.formats.parts.numbers import tidy
from simwright.formats.sdf.writer.draft import Axis, Draft, add, refer
from simwright.formats.sdf.writer.messages import VERSION_TOO_OLD
from simwright.formats.xml import Element
from simwright.model.joint import Dof, Joint, Mimic, Motion

MIMIC = (1, 11)


def write_axis(draft: Draft, node: Element, tag: str, dof: Dof, joint: Joint) -> Element | None:
    """One freedom; a ball has an axis only for its damping."""
    if dof.motion is Motion.BALL:
        if dof.damping:
            axis = add(node, tag)
            add(axis, "xyz", [0.0, 0.0, 1.0])
            add(add(axis, "dynamics"), "damping", float(dof.damping))
        return None
    axis = add(node, tag)
    add(axis, "xyz", tidy(dof.axis))
    _add_values(axis, "limit", _list_limits(dof))
    _add_values(axis, "dynamics", _list_dynamics(dof))
    for owner in (joint.name, joint.path):
        kept = draft.kept.get(owner, {}).get("initial_position")
        if kept is not None and kept.origin not in draft.spent:
            draft.spent.add(kept.origin)
            add(axis, "initial_position", kept.value)
    return axis


def _list_limits(dof: Dof) -> dict[str, float]:
    effort = dof.effort_limit
    if effort is None and dof.drive is not None and math.isfinite(dof.drive.max_force):
        effort = dof.drive.max_force
    values = {
        "lower": dof.lower if math.isfinite(dof.lower) else None,
        "upper": dof.upper if math.isfinite(dof.upper) else None,
        "effort": effort,
        "velocity": dof.velocity_limit,
        "stiffness": dof.limit_stiffness,
        "dissipation": dof.limit_damping,
    }
    return {tag: float(v) for tag, v in values.items() if v is not None and math.isfinite(v)}


def _list_dynamics(dof: Dof) -> dict[str, float]:
    values = {
        "damping": dof.damping,
        "friction": dof.friction,
        "spring_reference": dof.spring_ref,
        "spring_stiffness": dof.stiffness,
    }
    return {tag: float(v) for tag, v in values.items() if v is not None}


def _add_values(parent: Element, tag: str, values: dict[str, float]) -> None:
    if values:
        node = add(parent, tag)
        for name, value in values.items():
            add(node, name, value)


def write_mimics(draft: Draft) -> None:
    """``follower = multiplier * leader + offset``; polynomials have no place."""
    lost: list[Mimic] = []
    old: list[Mimic] = []
    for mimic in draft.asset.mimics:
        follower, leader = draft.dofs.get(mimic.follower), draft.dofs.get(mimic.leader)
        name = refer(follower.room, leader.room, leader.joint) if follower and leader else None
        if not mimic.enabled or any(mimic.polynomial):
            continue
        if follower is None or leader is None or name is None:
            lost.append(mimic)
        elif not draft.allows(MIMIC):
            old.append(mimic)
        else:
            _write_mimic(follower, leader, name, mimic)
    draft.lose("mimic(s) of joints", lost, "SDFormat has those of joints of the same model or one inside it")
    if old:
        version = ".".join(map(str, draft.version))
        words: dict[str, Any] = {"what": "mimics", "needed": "1.11", "version": version}
        draft.report(VERSION_TOO_OLD, old, **words)


def _write_mimic(follower: Axis, leader: Axis, name: str, mimic: Mimic) -> None:
    node = add(follower.node, "mimic", joint=name)
    if leader.node.tag != "axis":
        node.set("axis", leader.node.tag)
    add(node, "multiplier", float(mimic.multiplier))
    add(node, "offset", float(mimic.offset))
    add(node, "reference", 0.0)
