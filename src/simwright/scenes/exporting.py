# SPDX-License-Identifier: Apache-2.0
"""A loaded scene as a neutral asset, so that it is written and compared like any other file.

Bodies stand where the initial joint coordinates have them, and weigh what the arrays say.  Names are the last parts of
labels where those are unique.  Materials are those of the assets the scene was made of.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from simwright.core.diag import Level, Reporter, Where, declare
from simwright.core.errors import LimitError
from simwright.core.math3d import vec3
from simwright.core.names import NameScope
from simwright.model.asset import Articulation, Asset, Body, ContactFilter, Provenance
from simwright.model.inertia import Inertial
from simwright.model.joint import Joint, Mimic
from simwright.runtime.kinds import BodyFlag, JointType, ShapeFlag
from simwright.runtime.model import Model
from simwright.scenes.exporting_joints import JointTaker
from simwright.scenes.exporting_numbers import take_pose, widen
from simwright.scenes.exporting_shapes import ShapeTaker
from simwright.scenes.load import LoadedScene

GROUPS_LOST = declare(
    "scene-groups-lost",
    Level.WARNING,
    "the collision groups of {count} shapes are not carried: {groups}",
    hint="an asset filters contacts by pairs of bodies and shapes",
    doc="Shapes of a scene are in other collision groups than 1, and the neutral model has no such groups.",
    loss=True,
)
ATTRIBUTES_LOST = declare(
    "scene-custom-lost",
    Level.WARNING,
    "{count} custom attributes are not carried out of the scene: {names}",
    hint="convert the asset itself to keep them",
    doc="Custom attributes of assets are arrays of a scene, which has no asset to put them on.",
    loss=True,
)
MAX_BODIES = 100_000
"""Most bodies of a scene that becomes an asset."""


def export_asset(loaded: LoadedScene, *, reporter: Reporter | None = None) -> Asset:
    """The whole scene, all its worlds, as one asset."""
    reporter = Reporter() if reporter is None else reporter
    model, where = loaded.model, Where(loaded.source_path)
    if model.body_count > MAX_BODIES:
        raise LimitError(
            f"the scene has {model.body_count} bodies; an asset may have {MAX_BODIES}",
            hint="set simulation.num_worlds to fewer worlds",
            where=where,
        )
    name = loaded.scene.name or Path(loaded.source_path).stem or "scene"
    asset = Asset(name=name, provenance=Provenance(file=loaded.source_path, format="scene"))
    bodies = choose_names(list(model.body_label))
    taker = JointTaker(model, bodies, choose_names(list(model.joint_label), bodies))
    asset.bodies = [_take_body(model, index, body) for index, body in enumerate(bodies)]
    asset.joints = [taker.take(index) for index in range(model.joint_count)]
    asset.mimics = _list_mimics(model, asset.joints)
    asset.articulations = _list_articulations(model, bodies)
    shapes = ShapeTaker(model, asset, bodies, choose_names(list(model.shape_label)))
    for index in range(model.shape_count):
        shapes.add(index)
    asset.contact_filters = _list_filters(model, bodies, shapes.names)
    gravity = widen(model.gravity).reshape(-1, 3)
    asset.environment.gravity = vec3(gravity[0]) if len(gravity) else None
    asset.environment.timestep = loaded.scene.simulation.dt
    _report_lost(model, reporter, where)
    return asset


def choose_names(labels: Sequence[str], taken: Sequence[str] = ()) -> list[str]:
    """A name for each label: its last part if no other label ends so, else all of it."""
    ends = [label.rstrip("/").rsplit("/", 1)[-1] or "unnamed" for label in labels]
    counts = Counter(ends)
    scope = NameScope(taken)
    return [
        scope.claim(end if counts[end] == 1 else re.sub(r"/+", "_", label.strip("/")) or "unnamed")
        for end, label in zip(ends, labels, strict=True)
    ]


def _take_body(model: Model, index: int, name: str) -> Body:
    velocity = widen(model.body_qd[index])
    inertial = Inertial(
        float(widen(model.body_mass[index])), widen(model.body_com[index]), widen(model.body_inertia[index])
    )
    return Body(
        name,
        take_pose(model.body_q[index]),
        inertial,
        kinematic=bool(model.body_flags[index] & BodyFlag.KINEMATIC),
        gravity_scale=float(widen(model.body_gravity_scale[index])),
        linear_velocity=velocity[:3] if np.any(velocity[:3]) else None,
        angular_velocity=velocity[3:] if np.any(velocity[3:]) else None,
    )


def _list_mimics(model: Model, joints: Sequence[Joint]) -> list[Mimic]:
    found = []
    for follower, leader in enumerate(model.joint_mimic_joint):
        if leader >= 0:
            offset, factor = widen(model.joint_mimic_coeffs[follower]).tolist()
            names = joints[follower].name, joints[int(leader)].name
            found.append(Mimic(names[0], names[1], factor, offset))
    return found


def _list_articulations(model: Model, bodies: Sequence[str]) -> list[Articulation]:
    """Articulations of more than a single free body, by the body of their first joint."""
    starts, found = model.articulation_start, []
    labels = choose_names(list(model.articulation_label))
    for index, label in enumerate(labels):
        first, end = int(starts[index]), int(starts[index + 1])
        if end - first > 1 or model.joint_type[first] != JointType.FREE:
            found.append(Articulation(label, bodies[int(model.joint_child[first])]))
    return found


def _list_filters(model: Model, bodies: Sequence[str], shapes: Sequence[str]) -> list[ContactFilter]:
    """Filters between bodies where all their colliders are filtered, between shapes elsewhere."""
    owner, touches = model.shape_body, (model.shape_flags & ShapeFlag.COLLIDE_SHAPES) != 0
    colliders = Counter(int(body) for body, on in zip(owner, touches, strict=True) if on)
    linked = {
        frozenset(pair) for pair in zip(model.joint_parent.tolist(), model.joint_child.tolist(), strict=True)
    }
    grouped: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for a, b in model.shape_filters:
        key = (int(owner[a]), int(owner[b]))
        if key[0] != key[1] and touches[a] and touches[b] and frozenset(key) not in linked:
            grouped.setdefault((min(key), max(key)), []).append((a, b))
    found = []
    for (a, b), pairs in sorted(grouped.items()):
        if a >= 0 and len(pairs) == colliders[a] * colliders[b]:
            found.append(ContactFilter(bodies[a], bodies[b]))
        else:
            found += [ContactFilter(shapes[i], shapes[j], "shape") for i, j in sorted(pairs)]
    return found


def _report_lost(model: Model, reporter: Reporter, where: Where) -> None:
    touches = (model.shape_flags & ShapeFlag.COLLIDE_SHAPES) != 0
    odd = touches & (model.shape_collision_group != 1) & (model.shape_collision_group != 0)
    if np.any(odd):
        groups = ", ".join(str(group) for group in sorted(set(model.shape_collision_group[odd].tolist())))
        reporter.report(GROUPS_LOST, where, count=int(odd.sum()), groups=groups)
    if model.custom:
        names = ", ".join(sorted(held.key for held in model.custom.values())[:6])
        reporter.report(ATTRIBUTES_LOST, where, count=len(model.custom), names=names)
