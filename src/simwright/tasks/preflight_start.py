# SPDX-License-Identifier: Apache-2.0
"""What overlaps where episodes start: the robot with the task, and the robot with itself."""

from __future__ import annotations

from typing import Any

from simwright.core.diag import Reporter, Where
from simwright.tasks.compose import PREFIX
from simwright.tasks.preflight_messages import START_INSIDE_ITSELF, START_INSIDE_TASK, START_TOUCHES_TASK
from simwright.tasks.rollout import SimRollout

_SEEDS = 4
_TOUCH = 2e-3
"""Less than this is contact as any other [m]."""
_DEEP = 1e-2
"""More than this throws things about [m]."""


def report_start_contacts(rollout: SimRollout, reporter: Reporter, where: Where) -> None:
    """Start a few episodes and report each pair of parts once, at its deepest."""
    deepest: dict[tuple[str, str, bool], float] = {}
    for seed in range(_SEEDS):
        rollout.reset(seed)
        for pair, depth in _list_overlaps(rollout):
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


def _name(model: Any, geom: int, body: int) -> str:
    """The body of a part of the robot or of an object; the geom of what belongs to the world."""
    name = model.body(body).name if body else model.geom(geom).name
    return str(name).removeprefix(PREFIX) or f"body {body}"
