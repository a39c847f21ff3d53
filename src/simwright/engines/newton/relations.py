# SPDX-License-Identifier: Apache-2.0
"""What relates elements that are there already: mimics, equalities and pairs that never touch."""

from __future__ import annotations

from typing import Any

from simwright.core.diag import Reporter
from simwright.core.math3d import Pose, pose_to_seven
from simwright.engines.newton.messages import MIMIC_LOST, MIMIC_SOFTNESS, report_lost
from simwright.model.asset import Asset
from simwright.model.coupling import list_couplings, plan_closures
from simwright.model.filtering import find_filtered_pairs
from simwright.model.joint import Mimic


def set_mimics(builder: Any, asset: Asset, joints: dict[str, int], reporter: Reporter) -> None:
    """Let followers follow; one that follows a follower follows its leader instead."""
    for coupling in list_couplings(asset):
        mimic, indices = coupling.mimic, coupling.find_indices(joints)
        if coupling.is_bent:
            why = "its relation is not linear; the linear part is used"
            reporter.report(MIMIC_LOST, mimic.source, follower=mimic.follower, leader=mimic.leader, why=why)
        if indices is None:
            why = "one of them is not in the model"
        elif indices[0] == indices[1]:
            why = "it leads back to itself"
        else:
            try:
                builder.set_joint_mimic(*indices, coeffs=(coupling.offset, coupling.multiplier))
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


def add_equalities(
    builder: Any, asset: Asset, bodies: dict[str, int], base: Pose, reporter: Reporter
) -> dict[str, int]:
    """Connects become ball joints and welds fixed joints that close loops; gives their indices."""
    added: dict[str, int] = {}
    closures, lost = plan_closures(asset, bodies, base)
    for closure in closures:
        equality = closure.equality
        add = builder.add_joint_ball if closure.is_point else builder.add_joint_fixed
        added[equality.name] = int(
            add(
                closure.parent,
                closure.child,
                parent_xform=pose_to_seven(closure.parent_frame),
                child_xform=pose_to_seven(closure.child_frame),
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
