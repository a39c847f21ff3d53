# SPDX-License-Identifier: Apache-2.0
"""Hold what an engine sees of a robot against what MuJoCo sees of its MJCF.

Joints are matched by name; a joint that has no name in MJCF, and several joints of one body, by the body that they
move.  A ball, a free joint and a joint of many axes may have other axes in every engine: their own rows of the mass
matrix are not compared, but what is left of the others when they are held, and when they give way, is.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .seen import Actuator, Freedom, Seen

TOLERANCE = 1e-5
"""For single values and mass matrices, relative: PhysX and Newton count in single precision."""

ASPECTS = ("dofs", "base", "masses", "drives", "armature", "friction", "damping", "limits", "matrix")

_ALONE = ("hinge", "slide", "scalar")
_SERVO_TRANSMISSIONS = ("joint", "jointinparent")


@dataclass
class Outcome:
    """What one engine made of one robot; ``differences`` has the first difference of each aspect that is not right."""

    engine: str
    loads: bool = True
    differences: dict[str, str] = field(default_factory=dict)
    absent: set[str] = field(default_factory=set)
    """Aspects that this robot has nothing of, or that cannot be compared."""

    matrix_error: float | None = None
    counts: dict[str, str] = field(default_factory=dict)

    @property
    def right(self) -> bool:
        """Whether nothing differs."""
        return self.loads and not self.differences

    @property
    def reason(self) -> str:
        """The first difference, in the order of the columns."""
        return next((self.differences[name] for name in ("loads", *ASPECTS) if name in self.differences), "")


@dataclass
class _Pair:
    """The freedoms of one joint, or of all joints of one body, in both."""

    name: str
    wanted: list[Freedom]
    found: list[Freedom]

    @property
    def alone(self) -> bool:
        return len(self.wanted) == len(self.found) == 1 and all(
            row.kind in _ALONE for row in (*self.wanted, *self.found)
        )


@dataclass(frozen=True)
class Servo:
    """What drives of a joint do, as stiffness and damping towards a target; ``max_force`` none: unlimited."""

    stiffness: float
    damping: float
    max_force: float | None


def refuse(engine: str, reason: str) -> Outcome:
    """An engine that has nothing to show."""
    return Outcome(engine, loads=False, differences={"loads": reason})


def compare(engine: str, reference: Seen, seen: Seen) -> Outcome:
    """All aspects of a robot."""
    outcome = Outcome(engine)
    pairs, unmatched = _match(reference, seen)
    outcome.counts["dofs"] = f"{_count_joint_freedoms(seen)}/{_count_joint_freedoms(reference)}"
    if unmatched:
        outcome.differences["dofs"] = unmatched
    _compare_base(reference, seen, outcome)
    _compare_masses(reference, seen, outcome)
    _compare_drives(reference, seen, pairs, outcome)
    _compare_values("armature", pairs, lambda row: row.armature, outcome)
    _compare_values("friction", pairs, lambda row: row.friction, outcome)
    _compare_damping(reference, seen, pairs, outcome)
    _compare_limits(pairs, outcome)
    _compare_matrices(reference, seen, pairs, outcome)
    return outcome


def find_servos(seen: Seen) -> dict[str, Servo]:
    """Joints that a servo moves one to one: a drive of the joint, or an actuator that says the same.

    A joint with two actuators is none of them: no drive could say what both do.
    """
    found = {}
    actuators = defaultdict(list)
    for actuator in seen.actuators:
        actuators[actuator.target].append(actuator)
    for row in seen.freedoms:
        if row.kind not in _ALONE:
            continue
        if row.stiffness or row.damping:
            found[row.joint] = Servo(row.stiffness, row.damping, row.max_force)
        elif len(actuators[row.joint]) == 1 and _is_servo(actuators[row.joint][0]):
            found[row.joint] = _make_servo(actuators[row.joint][0], row)
    return found


def _is_servo(actuator: Actuator) -> bool:
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


def _make_servo(actuator: Actuator, row: Freedom) -> Servo:
    gear = actuator.gear[0]
    limits = [row.max_force] if row.max_force is not None else []
    if actuator.force_range is not None:
        limits.append(max(abs(force) for force in actuator.force_range) * abs(gear))
    return Servo(-actuator.bias[1] * gear**2, -actuator.bias[2] * gear**2, min(limits, default=None))


def _match(reference: Seen, seen: Seen) -> tuple[list[_Pair], str]:
    """Freedoms of both that belong together, and the first that do not."""
    pairs, problems = [], []
    names = Counter(row.joint for row in seen.freedoms)
    by_name = {row.joint: row for row in seen.freedoms if names[row.joint] == 1}
    rest: dict[str, list[Freedom]] = defaultdict(list)
    used = set()
    for row in reference.freedoms:
        if row.kind in _ALONE and row.joint in by_name:
            pairs.append(_Pair(row.joint, [row], [by_name[row.joint]]))
            used.add(id(by_name[row.joint]))
        else:
            rest[row.body].append(row)
    others: dict[str, list[Freedom]] = defaultdict(list)
    for row in seen.freedoms:
        if id(row) not in used:
            others[row.body].append(row)
    for body, wanted in rest.items():
        found = others.pop(body, [])
        if len(found) == len(wanted):
            pairs.append(_Pair(_tell(wanted), wanted, found))
        elif not _is_free(wanted):
            problems.append(f"{_tell(wanted)}: {len(found)} DOFs instead of {len(wanted)}")
    problems += [
        f"{_tell(found)}: {len(found)} DOFs that MuJoCo does not have"
        for found in others.values()
        if not _is_free(found)
    ]
    return pairs, problems[0] if problems else ""


def _is_free(rows: list[Freedom]) -> bool:
    """Whether this is a floating base, which is told as such and not as six DOFs."""
    return all(row.kind == "free" for row in rows)


def _tell(rows: list[Freedom]) -> str:
    return next((row.joint for row in rows if row.joint), f"joint of {rows[0].body}")


def _count_joint_freedoms(seen: Seen) -> int:
    return sum(row.kind != "free" for row in seen.freedoms)


def _compare_base(reference: Seen, seen: Seen, outcome: Outcome) -> None:
    wanted, found = set(reference.floating), set(seen.floating)
    outcome.counts["base"] = "floating" if found else "fixed"
    if loose := sorted(found - wanted):
        outcome.differences["base"] = f"{loose[0]} floats, should be held"
    elif held := sorted(wanted - found):
        outcome.differences["base"] = f"{held[0]} is held, should float"


def _compare_masses(reference: Seen, seen: Seen, outcome: Outcome) -> None:
    """Bodies of one name; one that is part of another there shows in the mass matrix."""
    for name, mass in reference.masses.items():
        if name in seen.masses and not _close(mass, seen.masses[name]):
            outcome.differences["masses"] = f"{name} weighs {seen.masses[name]:.6g} instead of {mass:.6g}"
            return


def _compare_drives(reference: Seen, seen: Seen, pairs: list[_Pair], outcome: Outcome) -> None:
    """Servos of joints; and in an engine that has actuators, all of them."""
    wanted, found = find_servos(reference), find_servos(seen)
    outcome.counts["drives"] = f"{len(found)}/{len(wanted)}"
    if not reference.actuators and not found:
        outcome.absent.add("drives")
    problem = _find_wrong_drive(wanted, found, pairs, _find_springs(reference))
    if not problem and outcome.engine == "mujoco_usd":
        outcome.counts["drives"] = f"{len(seen.actuators)}/{len(reference.actuators)}"
        names = {pair.found[0].joint: pair.wanted[0].joint for pair in pairs if pair.alone}
        problem = _find_wrong_actuator(reference.actuators, seen.actuators, names)
    elif not problem and outcome.engine == "newton":
        of_joints = [row for row in seen.actuators if row.target in found]
        count = len(found) - len(of_joints) + len(seen.actuators)
        outcome.counts["drives"] = f"{count}/{len(reference.actuators)}"
        if count != len(reference.actuators):
            problem = f"{count} actuators instead of {len(reference.actuators)}"
    elif not problem and not wanted:
        outcome.absent.add("drives")
    if problem:
        outcome.differences["drives"] = problem


def _find_springs(reference: Seen) -> set[str]:
    """Joints with a spring: a drive without an actuator may be how an engine is told of it."""
    return {row.joint for row in reference.freedoms if row.passive_stiffness}


def _find_wrong_drive(
    wanted: dict[str, Servo], found: dict[str, Servo], pairs: list[_Pair], springs: set[str]
) -> str:
    for pair in pairs:
        if not pair.alone:
            continue
        joint = pair.wanted[0].joint
        want, have = wanted.get(joint), found.get(pair.found[0].joint)
        if want is None:
            # damping alone may be the passive one, which is compared with the actuator's
            if have is not None and have.stiffness and joint not in springs:
                return f"{pair.name}: a drive of stiffness {have.stiffness:.6g}, there is no servo"
            continue
        have = have or Servo(0.0, 0.0, None)
        if not _close(want.stiffness, have.stiffness):
            return f"{pair.name}: stiffness {have.stiffness:.6g} instead of {want.stiffness:.6g}"
        if not _close_or_none(want.max_force, have.max_force):
            return f"{pair.name}: max force {have.max_force} instead of {want.max_force}"
    return ""


def _find_wrong_actuator(wanted: list[Actuator], found: list[Actuator], names: dict[str, str]) -> str:
    """The first that differs; ``names`` tells how joints that are called otherwise are called in the reference."""
    if len(wanted) != len(found):
        return f"{len(found)} actuators instead of {len(wanted)}"
    by_name = {row.name: row for row in found}
    for number, want in enumerate(wanted):
        have = by_name.get(want.name, found[number])
        for name in ("target", "transmission", "gain", "bias", "gear", "force_range", "control_range"):
            one, other = getattr(want, name), getattr(have, name)
            if name == "target" and have.transmission.startswith("joint"):
                other = names.get(other, other)
            same = one == other if isinstance(one, str) else _same_rows(one, other)
            if not same:
                return f"actuator {want.name or number}: {name} {other} instead of {one}"
    return ""


def _compare_damping(reference: Seen, seen: Seen, pairs: list[_Pair], outcome: Outcome) -> None:
    """Drive and joint together: a servo at rest brakes as a passive damper does, and some engines have one of them."""
    wanted, found = find_servos(reference), find_servos(seen)

    def total(servos: dict[str, Servo]) -> Callable[[Freedom], float]:
        return lambda row: row.passive_damping + (servos[row.joint].damping if row.joint in servos else 0.0)

    _compare_values("damping", pairs, total(wanted), outcome, total(found))


def _compare_values(
    name: str,
    pairs: list[_Pair],
    read: Callable[[Freedom], float],
    outcome: Outcome,
    read_found: Callable[[Freedom], float] | None = None,
) -> None:
    """One figure of every freedom; those of a joint of many axes in any order."""
    read_found = read_found or read
    if not any(read(row) for pair in pairs for row in pair.wanted):
        outcome.absent.add(name)
    for pair in pairs:
        if _is_free(pair.wanted):
            continue
        wanted, found = sorted(map(read, pair.wanted)), sorted(map(read_found, pair.found))
        if not _same_rows(wanted, found):
            told = [", ".join(f"{value:.6g}" for value in values) for values in (found, wanted)]
            outcome.differences[name] = f"{pair.name}: {name} {told[0]} instead of {told[1]}"
            outcome.absent.discard(name)
            return


def _compare_limits(pairs: list[_Pair], outcome: Outcome) -> None:
    if not any(row.limit != (None, None) for pair in pairs for row in pair.wanted):
        outcome.absent.add("limits")
    for pair in pairs:
        if not pair.alone:
            continue
        want, have = pair.wanted[0].limit, pair.found[0].limit
        if not all(_close_or_none(one, other) for one, other in zip(want, have, strict=True)):
            outcome.differences["limits"] = f"{pair.name}: limits {have} instead of {want}"
            outcome.absent.discard("limits")
            return


def _compare_matrices(reference: Seen, seen: Seen, pairs: list[_Pair], outcome: Outcome) -> None:
    """Joints of one freedom, with all others held and with all others free to give way."""
    if "dofs" in outcome.differences:
        outcome.absent.add("matrix")  # there is nothing to compare it with
        return
    orders = []
    for side, name in ((reference, "wanted"), (seen, "found")):
        places = {id(row): number for number, row in enumerate(side.freedoms)}
        orders.append([places[id(getattr(pair, name)[0])] for pair in pairs if pair.alone])
    if not orders[0]:
        outcome.absent.add("matrix")
        return
    worst, where = 0.0, ""
    for number, both in enumerate(zip(reference.mass_matrices, seen.mass_matrices, strict=True)):
        whole = [np.array(matrix) for matrix in both]
        for state, reduce in (("held", _hold), ("free", _release)):
            one, other = (reduce(*row) for row in zip(whole, orders, strict=True))
            scale = np.sqrt(np.abs(np.diag(_hold(whole[0], orders[0]))))
            error = float(np.abs((other - one) / np.outer(scale, scale)).max())
            if not error <= worst:
                worst = error
                where = f"{'reference pose' if not number else f'configuration {number}'}, others {state}"
    outcome.matrix_error = worst
    if not worst <= TOLERANCE:
        outcome.differences["matrix"] = f"mass matrix off by {worst:.1e} ({where})"


def _hold(matrix: Any, chosen: list[int]) -> Any:
    """The rows and columns of some freedoms: the inertia of these while all others are held."""
    return matrix[np.ix_(chosen, chosen)]


def _release(matrix: Any, chosen: list[int]) -> Any:
    """The same while all others give way, whatever coordinates they are counted in (the Schur complement)."""
    others = [number for number in range(len(matrix)) if number not in set(chosen)]
    if not others:
        return _hold(matrix, chosen)
    mixed = matrix[np.ix_(others, chosen)]
    return _hold(matrix, chosen) - mixed.T @ np.linalg.pinv(matrix[np.ix_(others, others)]) @ mixed


def _close(one: float, other: float) -> bool:
    return abs(one - other) <= TOLERANCE * max(1e-3, abs(one), abs(other))


def _close_or_none(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return _close(one, other)


def _same_rows(one: Iterable[float] | None, other: Iterable[float] | None) -> bool:
    if one is None or other is None:
        return one is other
    first, second = list(one), list(other)
    return len(first) == len(second) and all(_close(a, b) for a, b in zip(first, second, strict=True))
