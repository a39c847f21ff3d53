# SPDX-License-Identifier: Apache-2.0
"""What relates elements that are there already: mimics, equalities and pairs that never touch."""

from __future__ import annotations

from typing import Any

from simwright.core.diag import Reporter
from simwright.core.math3d import IDENTITY, Pose
from simwright.engines.newton.frames import as_transform
from simwright.engines.newton.messages import MIMIC_LOST, MIMIC_SOFTNESS, report_lost
from simwright.model.asset import Asset
from simwright.model.filtering import find_filtered_pairs
from simwright.model.joint import WORLD, EqualityKind, Mimic


def set_mimics(builder: Any, asset: Asset, joints: dict[str, int], reporter: Reporter) -> None:
    """Let followers follow; one that follows a follower follows its leader instead."""
    owners = {dof.name or joint.name: joint for joint in asset.joints for dof in joint.dofs}
    by_follower = {mimic.follower: mimic for mimic in asset.mimics if mimic.enabled}
    for mimic in by_follower.values():
        leader, offset, multiplier = _follow_chain(mimic, by_follower)
        why = ""
        ends = [owners.get(name) for name in (mimic.follower, leader)]
        indices = [joints.get(joint.name) if joint is not None else None for joint in ends]
        if mimic.polynomial and any(mimic.polynomial):
            why = "its relation is not linear; the linear part is used"
            reporter.report(MIMIC_LOST, mimic.source, follower=mimic.follower, leader=mimic.leader, why=why)
        if None in indices or leader == mimic.follower:
            why = "one of them is not in the model" if None in indices else "it leads back to itself"
        else:
            try:
                builder.set_joint_mimic(indices[0], indices[1], coeffs=(offset, multiplier))
                _report_softness(asset, mimic, reporter)
                continue
            except ValueError as error:
                why = str(error)
        reporter.report(MIMIC_LOST, mimic.source, follower=mimic.follower, leader=mimic.leader, why=why)


def _report_softness(asset: Asset, mimic: Mimic, reporter: Reporter) -> None:
    """Say what is lost of a joint equality that is not as stiff as MuJoCo has it by default."""
    kept = asset.extras.table.get("mjc", {})
    said = {
        word
        for element in (mimic.source.prim, f"equality/{mimic.name}")
        for word in ("solref", "solimp")
        if {word, f"mjc:{word}"} & kept.get(element, {}).keys()
    }
    if said:
        what = " and ".join(sorted(said, reverse=True))
        reporter.report(MIMIC_SOFTNESS, mimic.source, follower=mimic.follower, leader=mimic.leader, what=what)


def _follow_chain(mimic: Mimic, by_follower: dict[str, Mimic]) -> tuple[str, float, float]:
    """The first independent leader, and the relation to it; the follower itself for a circle."""
    leader, offset, multiplier = mimic.leader, mimic.offset, mimic.multiplier
    for _ in by_follower:
        above = by_follower.get(leader)
        if above is None:
            return leader, offset, multiplier
        offset += multiplier * above.offset
        multiplier *= above.multiplier
        leader = above.leader
    return mimic.follower, offset, multiplier


def add_equalities(
    builder: Any, asset: Asset, bodies: dict[str, int], base: Pose, reporter: Reporter
) -> dict[str, int]:
    """Connects become ball joints and welds fixed joints that close loops; gives their indices."""
    added: dict[str, int] = {}
    lost = []
    for equality in asset.equalities:
        ends = {name: bodies.get(name, -1) for name in (equality.a, equality.b)}
        known = all(name == WORLD or name in bodies for name in ends)
        if equality.kind not in (EqualityKind.CONNECT, EqualityKind.WELD) or not known:
            lost.append(equality)
            continue
        if not equality.enabled:
            continue
        parent, child, on_parent, on_child = equality.a, equality.b, equality.frame_a, equality.frame_b
        if child == WORLD:
            parent, child, on_parent, on_child = child, parent, on_child, on_parent
        connect = equality.kind is EqualityKind.CONNECT
        add = builder.add_joint_ball if connect else builder.add_joint_fixed
        added[equality.name] = int(
            add(
                ends[parent],
                ends[child],
                parent_xform=as_transform((base if parent == WORLD else IDENTITY) @ on_parent),
                child_xform=as_transform(on_child),
                label=equality.source.prim or equality.name,
                collision_filter_parent=False,
            )
        )
    report_lost(reporter, "equalities", lost)
    return added


def report_tendons(builder: Any, asset: Asset, reporter: Reporter) -> None:
    """Tendons are rows of the MuJoCo solver, where it has read them."""
    labels = builder.custom_attributes.get("mujoco:tendon_label")
    rows = {str(label) for label in labels.values} if labels is not None and labels.values else set()
    report_lost(reporter, "tendons", [tendon for tendon in asset.tendons if tendon.source.prim not in rows])


def add_filters(builder: Any, asset: Asset, shapes: dict[str, int]) -> None:
    """Pairs that never touch, except those the builder has from joints."""
    known = {tuple(sorted(pair)) for pair in builder.shape_collision_filter_pairs}
    for names in sorted(find_filtered_pairs(asset)):
        pair = tuple(sorted(shapes[name] for name in names if name in shapes))
        if len(pair) == 2 and pair not in known:
            builder.add_shape_collision_filter_pair(*pair)
