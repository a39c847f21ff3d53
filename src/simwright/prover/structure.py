# SPDX-License-Identifier: Apache-2.0
"""What engines see of a robot that does not depend on its configuration: links, joints, drives, limits."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simwright.prover.aspects import Outcome
from simwright.prover.matching import ALONE, FreedomPair, is_floating
from simwright.prover.workers.seen import Seen, SeenActuator, SeenFreedom

TOLERANCE = 1e-5
"""Where nothing else is said: for values of an engine of single precision."""

_SERVO_TRANSMISSIONS = ("joint", "jointinparent")


@dataclass(frozen=True)
class Servo:
    """What drives of a joint do, as stiffness and damping towards a target; ``max_force`` none: unlimited."""

    stiffness: float
    damping: float
    max_force: float | None


_LEAST_SHARE = 1e-6
"""Of the heaviest link: what a link between the axes of a joint may weigh, which shows in no mass matrix."""
_NUMBER = re.compile(r"_\d+$")
"""What a name gets that is taken."""
_NO_SERVO = Servo(0.0, 0.0, None)


def compare_structure(
    wanted: Seen,
    seen: Seen,
    pairs: list[FreedomPair],
    outcome: Outcome,
    *,
    unmatched: tuple[str, str] | None,
    rigid: Mapping[str, str],
    between: Collection[str] = (),
) -> None:
    """All aspects of the structure.

    ``unmatched`` is the first joint that the other does not have, and what to say; ``rigid`` and ``between`` are as in
    :func:`~simwright.prover.proving.compare`.
    """
    outcome.counts["dofs"] = f"{_count_joint_freedoms(seen)}/{_count_joint_freedoms(wanted)}"
    if unmatched:
        outcome.note("dofs", *unmatched)
    _compare_links(wanted, seen, between, outcome)
    _compare_base(wanted, seen, rigid, outcome)
    _compare_masses(wanted, seen, outcome)
    _compare_inertias(wanted, seen, rigid, outcome)
    _compare_drives(wanted, seen, pairs, outcome)
    _compare_mimics(wanted, seen, pairs, outcome)
    _compare_values("armature", pairs, lambda row: row.armature, outcome)
    _compare_values("friction", pairs, lambda row: row.friction, outcome)
    _compare_damping(wanted, seen, pairs, outcome)
    _compare_limits(pairs, outcome)


def find_servos(seen: Seen) -> dict[str, Servo]:
    """Joints that a servo moves one to one: a drive of the joint, or an actuator that says the same.

    A joint with two actuators is none of them: no drive could say what both do.
    """
    found = {}
    actuators = defaultdict(list)
    for actuator in seen.actuators:
        actuators[actuator.target].append(actuator)
    for row in seen.freedoms:
        if row.kind not in ALONE:
            continue
        if row.stiffness or row.damping:
            found[row.joint] = Servo(row.stiffness, row.damping, row.max_force)
        elif len(actuators[row.joint]) == 1 and _is_servo(actuators[row.joint][0]):
            found[row.joint] = _make_servo(actuators[row.joint][0], row)
    return found


def _find_servo(row: SeenFreedom, servos: Mapping[str, Servo]) -> Servo:
    """What drives a freedom; axes of a joint of many have drives of their own, and no actuators."""
    if row.kind in ALONE:
        return servos.get(row.joint, _NO_SERVO)
    return Servo(row.stiffness, row.damping, row.max_force)


def _is_servo(actuator: SeenActuator) -> bool:
    gain, (constant, position, velocity) = actuator.gain[0], actuator.bias
    towards_position = _close(gain, -position) and velocity <= 0.0
    towards_velocity = position == 0.0 and _close(gain, -velocity)
    return (
        actuator.simple
        and actuator.transmission in _SERVO_TRANSMISSIONS
        and gain > 0.0
        and constant == 0.0
        and (towards_position or towards_velocity)
    )


def _is_effort(actuator: SeenActuator, limits: Mapping[str, float]) -> bool:
    """Whether a motor does nothing but pass an effort on to a joint; ``limits`` are those of the joints' drives."""
    return (
        actuator.simple
        and actuator.transmission in _SERVO_TRANSMISSIONS
        and actuator.gain[0] == actuator.gear[0] == 1.0
        and not any(actuator.bias)
        and (actuator.force_range is None or _has_limit(actuator.force_range, limits.get(actuator.target)))
    )


def _has_limit(force_range: tuple[float, float], limit: float | None) -> bool:
    return limit is not None and _close(force_range[1], limit) and _close(force_range[0], -limit)


def _make_servo(actuator: SeenActuator, row: SeenFreedom) -> Servo:
    gear = actuator.gear[0]
    limits = [row.max_force] if row.max_force is not None else []
    if actuator.force_range is not None:
        limits.append(max(abs(force) for force in actuator.force_range) * abs(gear))
    return Servo(-actuator.bias[1] * gear**2, -actuator.bias[2] * gear**2, min(limits, default=None))


def _count_joint_freedoms(seen: Seen) -> int:
    return sum(row.kind != "free" for row in seen.freedoms)


def _compare_links(reference: Seen, seen: Seen, between: Collection[str], outcome: Outcome) -> None:
    """Links that weigh something: frames without mass are written as links by some formats, and by some not."""
    outcome.counts["links"] = f"{len(seen.masses)}/{len(reference.masses)}"
    for name, mass in reference.masses.items():
        if mass > 0.0 and name not in seen.masses:
            outcome.note("links", name, f"there is no link {name}")
    weight = _LEAST_SHARE * max(reference.masses.values(), default=0.0)
    for name, mass in seen.masses.items():
        allowed = weight if _NUMBER.sub("", name) in between else 0.0
        if mass > allowed and name not in reference.masses:
            outcome.note("links", name, f"link {name} is not in the reference")


def _compare_base(reference: Seen, seen: Seen, rigid: Mapping[str, str], outcome: Outcome) -> None:
    wanted, found = ({rigid.get(name, name) for name in side.floating} for side in (reference, seen))
    # a frame without mass that a format made the root of is the body that it is fixed to
    frames = {name for name in found if name not in reference.masses and not seen.masses.get(name)}
    if len(frames) == len(wanted - found):
        found = (found - frames) | wanted
    outcome.counts["base"] = "floating" if found else "fixed"
    if loose := sorted(found - wanted):
        name = next((one for one in seen.floating if rigid.get(one, one) == loose[0]), loose[0])
        outcome.note("base", name, f"{name} floats, should be held")
    elif held := sorted(wanted - found):
        outcome.note("base", held[0], f"{held[0]} is held, should float")


def _compare_masses(reference: Seen, seen: Seen, outcome: Outcome) -> None:
    """Links of one name."""
    for name, mass in reference.masses.items():
        if name in seen.masses and not _close(mass, seen.masses[name], outcome.find_tolerance("masses")):
            text = f"{name} weighs {seen.masses[name]:.6g} instead of {mass:.6g}"
            outcome.note("masses", name, text)


def _compare_inertias(reference: Seen, seen: Seen, rigid: Mapping[str, str], outcome: Outcome) -> None:
    if not seen.inertias or not reference.inertias:
        outcome.blank.setdefault("inertias", "not reported")
    allowed = outcome.find_tolerance("inertias")
    # links that are fixed to each other turn as one: what one of them has less, another may have more
    whole: dict[str, float] = defaultdict(float)
    for name, row in reference.inertias.items():
        whole[rigid.get(name, name)] += float(np.sum(row[3:6]))
    for name, row in reference.inertias.items():
        mass = reference.masses.get(name, 0.0)
        if name not in seen.inertias or mass <= 0.0 or seen.masses.get(name, 0.0) <= 0.0:
            continue
        want, have = np.array(row), np.array(seen.inertias[name])
        # a mass without inertia says nothing of it: engines take that of its shapes, which the mass matrix tells
        if not want[3:].any():
            continue
        trace = max(float(want[3:6].sum()), 1e-12)
        # the link's own radius of gyration: a centre of mass is placed as exactly as its size
        size = max(float(np.sqrt(trace / mass)), float(np.abs(want[:3]).max()), 1e-3)
        if np.abs(have[:3] - want[:3]).max() > allowed * size:
            outcome.note(
                "inertias", name, f"{name}: centre of mass {_show(have[:3])} instead of {_show(want[:3])}"
            )
        # an inertia that grew with the mass alone is a difference of the mass, which is told as such
        scales = (1.0, seen.masses[name] / mass)
        beside = max(trace, whole[rigid.get(name, name)])
        if min(np.abs(have[3:] - want[3:] * scale).max() for scale in scales) > allowed * beside:
            outcome.note("inertias", name, f"{name}: inertia {_show(have[3:])} instead of {_show(want[3:])}")


def _compare_drives(reference: Seen, seen: Seen, pairs: list[FreedomPair], outcome: Outcome) -> None:
    """Servos of joints; and in an engine that has actuators, all of them."""
    wanted, found = find_servos(reference), find_servos(seen)
    outcome.counts["drives"] = f"{len(found)}/{len(wanted)}"
    if not wanted and not (found or reference.actuators):
        outcome.absent.add("drives")
    problem = _find_wrong_drive(wanted, found, pairs, _find_springs(reference))
    if problem:
        outcome.note("drives", *problem)
    elif not _tells_actuators(reference):
        return
    elif _tells_actuators(seen):
        outcome.counts["drives"] = f"{len(seen.actuators)}/{len(reference.actuators)}"
        names = {pair.found[0].joint: pair.wanted[0].joint for pair in pairs if pair.alone}
        problem = _find_wrong_actuator(reference.actuators, seen.actuators, names)
        if problem:
            outcome.note("drives", *problem)
    elif outcome.engine == "newton":
        _count_actuators(reference, seen, found, pairs, outcome)
    elif not wanted:
        # motors of other kinds, which the engine has no word for
        outcome.absent.add("drives")


def _count_actuators(
    reference: Seen, seen: Seen, found: dict[str, Servo], pairs: list[FreedomPair], outcome: Outcome
) -> None:
    """Newton makes drives of some motors and keeps others: together they must be all."""
    of_joints = [row for row in seen.actuators if row.target in found]
    axes = [row for row in seen.freedoms if row.kind not in ALONE and (row.stiffness or row.damping)]
    count = len(found) + len(axes) - len(of_joints) + len(seen.actuators)
    outcome.counts["drives"] = f"{count}/{len(reference.actuators)}"
    # Newton takes efforts at every joint, and needs no motor for that.  A drive whose gains a program is to set is a
    # motor in MuJoCo, and the limit of its joint in Newton.
    names = {pair.found[0].joint: pair.wanted[0].joint for pair in pairs if pair.alone}
    limits = {
        names.get(row.joint, row.joint): row.max_force for row in seen.freedoms if row.max_force is not None
    }
    plain = sum(_is_effort(actuator, limits) for actuator in reference.actuators)
    if not len(reference.actuators) - plain <= count <= len(reference.actuators):
        outcome.note("drives", "", f"{count} actuators instead of {len(reference.actuators)}")


def _tells_actuators(seen: Seen) -> bool:
    """Whether motors are told as MuJoCo describes them, one by one."""
    return seen.engine.startswith("MuJoCo")


def _compare_mimics(reference: Seen, seen: Seen, pairs: list[FreedomPair], outcome: Outcome) -> None:
    names = {pair.found[0].joint: pair.wanted[0].joint for pair in pairs if pair.alone}
    told = {names.get(one, one): [names.get(two, two), ratio] for one, (two, ratio) in seen.mimics.items()}
    wanted, found = _follow_leaders(reference.mimics), _follow_leaders(told)
    if not wanted and not found:
        outcome.absent.add("mimics")
    for name, (leader, ratio) in wanted.items():
        if name not in found:
            outcome.note("mimics", name, f"{name} does not follow {leader}")
            continue
        other, have = found[name]
        if other != leader or not _close(ratio, have, outcome.find_tolerance("mimics")):
            outcome.note("mimics", name, f"{name} follows {have:.6g} {other} instead of {ratio:.6g} {leader}")
    for name, (leader, _) in found.items():
        if name not in wanted:
            outcome.note("mimics", name, f"{name} follows {leader}, should follow none")


def _follow_leaders(mimics: Mapping[str, Sequence[Any]]) -> dict[str, tuple[str, float]]:
    """Who follows whom in the end: a follower of a follower may be told as a follower of the first."""
    found = {}
    for name in mimics:
        leader, ratio, passed = name, 1.0, set[str]()
        # two that follow each other have no first
        while leader in mimics and leader not in passed:
            passed.add(leader)
            leader, ratio = str(mimics[leader][0]), ratio * float(mimics[leader][1])
        found[name] = (leader, ratio)
    return found


def _find_springs(reference: Seen) -> set[str]:
    """Joints with a spring: a drive without an actuator may be how an engine is told of it."""
    return {row.joint for row in reference.freedoms if row.passive_stiffness}


def _find_wrong_drive(
    wanted: dict[str, Servo], found: dict[str, Servo], pairs: list[FreedomPair], springs: set[str]
) -> tuple[str, str] | None:
    for pair in pairs:
        if not pair.alone:
            sides = ((pair.wanted, wanted), (pair.found, found))
            one, other = (
                sorted(_find_servo(row, servos).stiffness for row in rows) for rows, servos in sides
            )
            if not springs.intersection(row.joint for row in pair.wanted) and not _same_rows(one, other):
                return pair.name, f"{pair.name}: stiffnesses {_show(other)} instead of {_show(one)}"
            continue
        joint = pair.wanted[0].joint
        want, have = wanted.get(joint), found.get(pair.found[0].joint)
        if want is None:
            # damping alone may be the passive one, which is compared with the actuator's
            if have is not None and have.stiffness and joint not in springs:
                return pair.name, f"{pair.name}: a drive of stiffness {have.stiffness:.6g}, there is no servo"
            continue
        have = have or _NO_SERVO
        if not _close(want.stiffness, have.stiffness):
            return pair.name, f"{pair.name}: stiffness {have.stiffness:.6g} instead of {want.stiffness:.6g}"
        if not _close_or_none(want.max_force, have.max_force):
            return pair.name, f"{pair.name}: max force {have.max_force} instead of {want.max_force}"
    return None


def _find_wrong_actuator(
    wanted: list[SeenActuator], found: list[SeenActuator], names: dict[str, str]
) -> tuple[str, str] | None:
    """The first that differs; ``names`` tells how joints that are called otherwise are called in the reference."""
    if len(wanted) != len(found):
        there = {row.name for row in found}
        lost = next((row.target for row in wanted if row.name not in there), "")
        return lost, f"{len(found)} actuators instead of {len(wanted)}"
    by_name = {row.name: row for row in found}
    for number, want in enumerate(wanted):
        # motors without a name are matched by their order
        have = by_name.get(want.name, found[number])
        for name in ("target", "transmission", "gain", "bias", "gear", "force_range", "control_range"):
            one, other = getattr(want, name), getattr(have, name)
            if name == "target" and have.transmission.startswith("joint"):
                other = names.get(other, other)
            same = one == other if isinstance(one, str) else _same_rows(one, other)
            if not same:
                return want.target, f"actuator {want.name or number}: {name} {other} instead of {one}"
    return None


def _compare_damping(reference: Seen, seen: Seen, pairs: list[FreedomPair], outcome: Outcome) -> None:
    """Drive and joint together: a servo at rest brakes as a passive damper does, and some engines have one of them."""
    # where drives cannot be told, those of the reference are left out too
    with_drives = "drives" not in outcome.blank
    wanted, found = (find_servos(side) if with_drives else {} for side in (reference, seen))

    def total(servos: dict[str, Servo]) -> Callable[[SeenFreedom], float]:
        if not with_drives:
            return lambda row: row.passive_damping
        return lambda row: row.passive_damping + _find_servo(row, servos).damping

    _compare_values("damping", pairs, total(wanted), outcome, total(found))


def _compare_values(
    name: str,
    pairs: list[FreedomPair],
    read: Callable[[SeenFreedom], float],
    outcome: Outcome,
    read_found: Callable[[SeenFreedom], float] | None = None,
) -> None:
    """One figure of every freedom; those of a joint of many axes in any order."""
    read_found = read_found or read
    if not any(read(row) for pair in pairs for row in pair.wanted):
        outcome.absent.add(name)
    for pair in pairs:
        if is_floating(pair.wanted):
            continue
        wanted, found = sorted(map(read, pair.wanted)), sorted(map(read_found, pair.found))
        if not _same_rows(wanted, found, outcome.find_tolerance(name)):
            told = [", ".join(f"{value:.6g}" for value in values) for values in (found, wanted)]
            outcome.note(name, pair.name, f"{pair.name}: {name} {told[0]} instead of {told[1]}")


def _compare_limits(pairs: list[FreedomPair], outcome: Outcome) -> None:
    if not any(row.limit != (None, None) for pair in pairs for row in pair.wanted):
        outcome.absent.add("limits")
    for pair in pairs:
        if not pair.alone:
            continue
        want, have = pair.wanted[0].limit, pair.found[0].limit
        allowed = outcome.find_tolerance("limits")
        if not all(_close_or_none(one, other, allowed) for one, other in zip(want, have, strict=True)):
            outcome.note("limits", pair.name, f"{pair.name}: limits {have} instead of {want}")


def _close(one: float, other: float, tolerance: float = TOLERANCE) -> bool:
    return abs(one - other) <= tolerance * max(1e-3, abs(one), abs(other))


def _close_or_none(one: float | None, other: float | None, tolerance: float = TOLERANCE) -> bool:
    if one is None or other is None:
        return one is other
    return _close(one, other, tolerance)


def _same_rows(
    one: Iterable[float] | None, other: Iterable[float] | None, tolerance: float = TOLERANCE
) -> bool:
    if one is None or other is None:
        return one is other
    first, second = list(one), list(other)
    return len(first) == len(second) and all(
        _close(a, b, tolerance) for a, b in zip(first, second, strict=True)
    )


def _show(values: Iterable[float]) -> str:
    return " ".join(f"{value:.6g}" for value in values)
