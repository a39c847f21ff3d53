# SPDX-License-Identifier: Apache-2.0
"""The comparison: pair the two assets, then go through the sections that were asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from simwright.compare.constraints import compare_actuators, compare_constraints, compare_drives
from simwright.compare.contacts import compare_contacts, compare_materials
from simwright.compare.difference import Difference, DifferenceSection, ValueComparer
from simwright.compare.dynamics import compare_gravity, compare_masses, compare_motion, compare_poses
from simwright.compare.equipment import (
    compare_cameras,
    compare_keyframes,
    compare_lights,
    compare_ros,
    compare_sensors,
)
from simwright.compare.pairing import ComparedAsset, Pairing, pair_assets, prepare_asset
from simwright.compare.settings import SECTIONS, CompareSettings
from simwright.compare.shapes import compare_shapes
from simwright.compare.structure import (
    compare_bodies,
    compare_frames,
    compare_joints,
    compare_limits,
    compare_order,
)
from simwright.model.asset import Asset

Compare = Callable[[DifferenceSection, Pairing, ValueComparer], None]


def compare_assets(a: Asset, b: Asset, settings: CompareSettings | None = None) -> Difference:
    """Hold two assets against each other."""
    settings = settings or CompareSettings()
    pairing = pair_assets(prepare_asset(a), prepare_asset(b))
    ruler = ValueComparer(settings.rtol, max(measure_length(pairing.a), measure_length(pairing.b)))
    table = list_sections(settings)
    difference = Difference(a.name, b.name)
    # files hold nan and infinity, and each is reported as a difference
    with np.errstate(all="ignore"):
        for name in settings.sections:
            section = DifferenceSection(name, SECTIONS[name])
            table[name](section, pairing, ruler)
            difference.sections.append(section)
    return difference


def list_sections(settings: CompareSettings) -> dict[str, Compare]:
    """The function of each section."""
    return {
        "bodies": compare_bodies,
        "joints": compare_joints,
        "order": compare_order,
        "limits": compare_limits,
        "constraints": compare_constraints,
        "frames": compare_frames,
        "sensors": compare_sensors,
        "cameras": compare_cameras,
        "lights": compare_lights,
        "ros": compare_ros,
        "poses": partial(compare_poses, settings=settings),
        "keyframes": compare_keyframes,
        "gravity": compare_gravity,
        "masses": compare_masses,
        "motion": partial(compare_motion, settings=settings),
        "drives": compare_drives,
        "actuators": compare_actuators,
        "visuals": compare_shapes,
        "collisions": compare_shapes,
        "materials": compare_materials,
        "contacts": compare_contacts,
    }


def measure_length(side: ComparedAsset) -> float:
    """The size of a machine [m]: the sum of the link offsets on its longest way from a root, at least a millimetre.

    Shapes count as well where there is no such way: a single body is as large as its mass is spread.
    """
    reach: dict[str, float] = {"": 0.0}
    longest = 1e-3
    for name, inertial in side.inertials.items():
        if inertial.mass > 0.0:
            # a single body has no link offsets: its radius of gyration is the only length
            spread = np.sqrt(max(float(np.trace(inertial.inertia)), 0.0) / inertial.mass)
            longest = max(longest, float(spread) + float(np.linalg.norm(inertial.com)))
        reach.setdefault(name, 0.0)
    for edge in side.tree.edges:
        if edge.parent:
            frames = (edge.joint.parent_frame, edge.joint.child_frame)
            reach[edge.child] = reach[edge.parent] + sum(float(np.linalg.norm(f.p)) for f in frames)
            longest = max(longest, reach[edge.child])
    return longest
