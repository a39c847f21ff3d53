# SPDX-License-Identifier: Apache-2.0
"""What the file does not hold: one finding per family, so that silence means "nothing is lost"."""

from __future__ import annotations

from typing import Any

from simwright.core.diag import NOWHERE
from simwright.formats.gltf.draft import Draft
from simwright.formats.gltf.messages import EXTRAS_LOST, NOT_CARRIED


def report_losses(draft: Draft) -> None:
    """Elements without a place, then attributes of solvers."""
    asset = draft.asset
    families: tuple[tuple[str, list[Any]], ...] = (
        ("sensors", asset.sensors),
        ("actuators", asset.actuators),
        ("tendons", asset.tendons),
        ("equality constraints", asset.equalities),
        ("collision groups", asset.collision_groups),
        ("contact filters", asset.contact_filters),
        ("contact pairs", asset.contact_pairs),
        ("physics materials", [] if draft.options.collision else asset.physics_materials),
        ("ROS interfaces", asset.interfaces),
        ("ROS controllers", asset.controllers),
        ("keyframes", asset.keyframes),
        ("custom attributes", asset.custom_attributes),
        ("joints to bodies that do not exist", draft.tree.dangling),
    )
    for what, elements in families:
        if elements:
            first = elements[0]
            name = getattr(first, "name", "") or getattr(first, "a", "")
            where = getattr(first, "source", NOWHERE)
            draft.reporter.report(NOT_CARRIED, where, count=len(elements), what=what, first=name)
    spaces: dict[str, list[str]] = {}
    for space, element, attribute, _ in asset.extras:
        spaces.setdefault(space, []).append(f"{element} {attribute}")
    for space, names in spaces.items():
        draft.reporter.report(EXTRAS_LOST, count=len(names), space=space, first=names[0])
