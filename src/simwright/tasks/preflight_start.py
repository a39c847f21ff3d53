# SPDX-License-Identifier: Apache-2.0
"""What overlaps where episodes start: the robot with the task, and the robot with itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from simwright.core.diag import Reporter, Where
from simwright.core.math3d import Array
from simwright.tasks.compose import PREFIX
from simwright.tasks.preflight_messages import START_INSIDE_ITSELF, START_INSIDE_TASK, START_TOUCHES_TASK
from simwright.tasks.rollout import SimRollout

_SEEDS = 4
_BOX = 6
"""MuJoCo's number of boxes."""
_TOUCH = 2e-3
"""Less than this is contact as any other [m]."""
_DEEP = 1e-2
"""More than this throws things about [m]."""


def report_start_contacts(rollout: SimRollout, reporter: Reporter, where: Where) -> None:
    """Start a few episodes and report each pair of parts once, at its deepest."""
    deepest: dict[tuple[str, str, bool], float] = {}
    for seed in range(_SEEDS):
        rollout.reset(seed)
        for pair, depth in (*_list_overlaps(rollout), *_list_crossings(rollout)):
            deepest[pair] = max(depth, deepest.get(pair, 0.0))
    for (part, thing, own), depth in sorted(deepest.items(), key=lambda item: -item[1]):
        kind = START_INSIDE_ITSELF if own else START_INSIDE_TASK if depth > _DEEP else START_TOUCHES_TASK
        reporter.report(kind, where, part=part, thing=thing, depth=depth)


def _list_overlaps(rollout: SimRollout) -> list[tuple[tuple[str, str, bool], float]]:
    data, last = rollout.data, rollout.composed.robot_nbody
    found = []
    for index in range(data.ncon):
        contact = data.contact[index]
        depth = -float(contact.dist)
        if depth < _TOUCH or contact.exclude:
            continue
        bodies = [int(rollout.model.geom_bodyid[geom]) for geom in contact.geom]
        own = [1 <= body <= last for body in bodies]
        if not any(own):
            continue
        first = 0 if own[0] else 1
        names = [_name(rollout.model, int(contact.geom[side]), bodies[side]) for side in (first, 1 - first)]
        names = sorted(names) if all(own) else names
        found.append(((names[0], names[1], all(own)), depth))
    return found


def _list_crossings(rollout: SimRollout) -> list[tuple[tuple[str, str, bool], float]]:
    """Links that go right through a board of the task: with both ends far from it, no contact tells of them."""
    model, data = rollout.model, rollout.data
    boards = [
        geom
        for geom in range(model.ngeom)
        if model.geom_type[geom] == _BOX
        and model.geom_contype[geom]
        and not model.body_dofnum[model.body_rootid[model.geom_bodyid[geom]]]
        and not 1 <= model.geom_bodyid[geom] <= rollout.composed.robot_nbody
    ]
    found = []
    for body in range(1, 1 + rollout.composed.robot_nbody):
        parent = int(model.body_parentid[body])
        for geom in boards if parent else ():
            beyond = _measure_beyond(model, data, geom, (data.xpos[parent], data.xpos[body]))
            if beyond > _DEEP:
                found.append(((_name(model, -1, parent), _name(model, geom, 0), False), beyond))
    return found


def _measure_beyond(model: Any, data: Any, geom: int, ends: tuple[Array, Array]) -> float:
    """How much of a line from outside a box to outside of it lies inside and behind it [m]; 0 where it misses."""
    turn, half = np.asarray(data.geom_xmat[geom]).reshape(3, 3), model.geom_size[geom]
    first, last = ((end - data.geom_xpos[geom]) @ turn for end in ends)
    if np.all(np.abs(first) <= half + _TOUCH) or np.all(np.abs(last) <= half + _TOUCH):
        return 0.0
    way = last - first
    with np.errstate(divide="ignore", invalid="ignore"):
        sides = np.sort(np.array([(-half - first) / way, (half - first) / way]), axis=0)
    inside = np.isfinite(sides).all(axis=0)
    if np.any(~inside & (np.abs(first) > half)):
        return 0.0
    enter, leave = sides[0][inside].max(initial=0.0), sides[1][inside].min(initial=1.0)
    return float((1.0 - enter) * np.linalg.norm(way)) if enter < leave else 0.0


def _name(model: Any, geom: int, body: int) -> str:
    """The body of a part of the robot or of an object; the geom of what belongs to the world."""
    name = model.body(body).name if body else model.geom(geom).name
    return str(name).removeprefix(PREFIX) or f"body {body}"
