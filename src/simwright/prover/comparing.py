# SPDX-License-Identifier: Apache-2.0
"""Hold what an engine sees of a robot against what another one, mostly MuJoCo, sees of it.

Joints are matched by name; a joint that has no name in MJCF, and several joints of one body, by the body that they
move.  A ball, a free joint and a joint of many axes may have other axes in every engine: their own rows of the mass
matrix are not compared, but what is left of the others when they are held, and when they give way, is.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from simwright.prover.workers.seen import Evaluated, Seen, SeenActuator, SeenFreedom, rotate

LEVELS = ("structure", "dynamics")


@dataclass(frozen=True, slots=True)
class ComparedAspect:
    """Something that is compared: how far apart two engines may be, relative to ``scale``, and why so far.

    ``single`` is for engines or formats of single precision, ``double`` for others; zero where it is the same or not.
    """

    level: str
    title: str
    scale: str = ""
    single: float = 0.0
    double: float = 0.0
    reason: str = ""

    def tolerance(self, precision: str) -> float:
        """The one that counts."""
        return self.single if precision == "single" else self.double


_VALUE = ("the larger of the two values, at least 1e-3", 1e-5, 1e-9)
_ROUNDED = (
    "single precision rounds each value by 6e-8, and degrees and diagonal inertias of OpenUSD are computed"
)
_SUMMED = "sums over all links of products of rounded values; measured below 2e-6 on arms and hands"

ASPECTS = {
    "links": ComparedAspect("structure", "every link that weighs something is there"),
    "dofs": ComparedAspect("structure", "degrees of freedom, joint by joint"),
    "base": ComparedAspect("structure", "which bodies nothing holds"),
    "masses": ComparedAspect("structure", "mass of each link", *_VALUE, _ROUNDED),
    "inertias": ComparedAspect(
        "structure", "centre of mass and inertia of each link", "the link's own size and trace", 1e-4, 1e-8,
        "a principal frame that is computed from nearly equal moments turns by more than the moments differ",
    ),
    "drives": ComparedAspect("structure", "stiffness and force of each servo", *_VALUE, _ROUNDED),
    "mimics": ComparedAspect("structure", "which joint follows which, and how far", *_VALUE, _ROUNDED),
    "armature": ComparedAspect("structure", "of each dof", *_VALUE, _ROUNDED),
    "friction": ComparedAspect("structure", "of each dof", *_VALUE, _ROUNDED),
    "damping": ComparedAspect("structure", "of each dof, drive and joint together", *_VALUE, _ROUNDED),
    "limits": ComparedAspect("structure", "of each dof", *_VALUE, _ROUNDED),
    "poses": ComparedAspect(
        "dynamics", "place and orientation of each link", "the robot's size, at least 1 m", 1e-5, 1e-9,
        "rounding adds up along a chain of links",
    ),
    "matrix": ComparedAspect(
        "dynamics", "joint-space mass matrix, without armature", "the diagonal", 1e-5, 1e-9, _SUMMED
    ),
    "bias": ComparedAspect(
        "dynamics", "gravity, Coriolis and centrifugal forces", "the most that gravity could do at that joint",
        1e-5, 1e-9, _SUMMED,
    ),
}  # fmt: skip
"""In the order of the columns."""

TOLERANCE = 1e-5
"""Where nothing else is said: for values of an engine of single precision."""

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

    counts: dict[str, str] = field(default_factory=dict)
    items: dict[str, str] = field(default_factory=dict)
    """The joint or link that the difference of an aspect is at."""

    blank: dict[str, str] = field(default_factory=dict)
    """Aspects that the engine, its format or the reference cannot tell, with the reason."""

    errors: dict[str, float] = field(default_factory=dict)
    """The largest error of poses, mass matrix and bias."""

    version: str = ""
    precision: str = "single"
    rounded: Sequence[str] = ()
    limits: dict[str, str] = field(default_factory=dict)
    """Why an aspect differs, where the engine cannot do otherwise."""

    gone: list[str] = field(default_factory=list)
    """Known limits that did not occur."""

    @property
    def state(self) -> str:
        """``same``, ``limit`` where all that differs is for a limit of the engine, else ``wrong``."""
        if self.right:
            return "same"
        return "limit" if set(self.differences) <= set(self.limits) else "wrong"

    @property
    def right(self) -> bool:
        """Whether nothing differs."""
        return self.loads and not self.differences

    @property
    def reason(self) -> str:
        """The first difference, in the order of the columns."""
        return next((self.differences[name] for name in ("loads", *ASPECTS) if name in self.differences), "")

    def find_tolerance(self, aspect: str) -> float:
        """What is allowed of an aspect."""
        return ASPECTS[aspect].tolerance("single" if aspect in self.rounded else self.precision)

    def note(self, aspect: str, item: str, text: str) -> None:
        """The first difference of an aspect counts, but for what cannot be told at all."""
        if aspect not in self.blank and aspect not in self.differences:
            self.differences[aspect], self.items[aspect] = text, item


@dataclass
class _Pair:
    """The freedoms of one joint, or of all joints of one body, in both."""

    name: str
    wanted: list[SeenFreedom]
    found: list[SeenFreedom]

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


@dataclass(frozen=True, slots=True)
class Told:
    """All that an engine says of a robot: what it sees, and what it says in each configuration (or nothing)."""

    seen: Seen
    states: Sequence[Evaluated] = ()


def compare(
    engine: str,
    reference: Told,
    told: Told,
    *,
    precision: str = "single",
    rounded: Sequence[str] = (),
    rigid: Mapping[str, str] | None = None,
    blank: Mapping[str, str] | None = None,
) -> Outcome:
    """All aspects of a robot; those of the dynamics where both were asked about configurations.

    ``rigid`` names, for links that are fixed to others, the one that stands for them all.
    """
    seen, wanted = told.seen, reference.seen
    outcome = Outcome(engine, version=seen.engine, precision=precision, rounded=rounded)
    outcome.blank = {**(blank or {}), **seen.blank, **wanted.blank}
    pairs, unmatched = _match(wanted, seen)
    outcome.counts["dofs"] = f"{_count_joint_freedoms(seen)}/{_count_joint_freedoms(wanted)}"
    if unmatched:
        outcome.note("dofs", *unmatched)
    _compare_links(wanted, seen, outcome)
    _compare_base(wanted, seen, rigid or {}, outcome)
    _compare_masses(wanted, seen, outcome)
    _compare_inertias(wanted, seen, outcome)
    _compare_drives(wanted, seen, pairs, outcome)
    _compare_mimics(wanted, seen, pairs, outcome)
    _compare_values("armature", pairs, lambda row: row.armature, outcome)
    _compare_values("friction", pairs, lambda row: row.friction, outcome)
    _compare_damping(wanted, seen, pairs, outcome)
    _compare_limits(pairs, outcome)
    _compare_poses(reference, told, outcome)
    _compare_matrices(reference, told, pairs, outcome)
    outcome.absent -= set(outcome.differences)
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


def _make_servo(actuator: SeenActuator, row: SeenFreedom) -> Servo:
    gear = actuator.gear[0]
    limits = [row.max_force] if row.max_force is not None else []
    if actuator.force_range is not None:
        limits.append(max(abs(force) for force in actuator.force_range) * abs(gear))
    return Servo(-actuator.bias[1] * gear**2, -actuator.bias[2] * gear**2, min(limits, default=None))


def _match(reference: Seen, seen: Seen) -> tuple[list[_Pair], tuple[str, str] | None]:
    """Freedoms of both that belong together, and the first that do not."""
    pairs, problems = [], []
    names = Counter(row.joint for row in seen.freedoms)
    by_name = {row.joint: row for row in seen.freedoms if names[row.joint] == 1}
    rest: dict[str, list[SeenFreedom]] = defaultdict(list)
    for row in reference.freedoms:
        if row.kind in _ALONE and row.joint in by_name:
            pairs.append(_Pair(row.joint, [row], [by_name[row.joint]]))
        else:
            rest[row.body].append(row)
    # by name first: a body's name is taken only for what is left, else one joint could be matched twice
    others = _group_unused(seen, pairs)
    for body, wanted in rest.items():
        found = others.pop(body, None) or others.pop(_find_body(wanted, others), [])
        if len(found) == len(wanted):
            pairs.append(_Pair(_tell(wanted), wanted, found))
        elif not _is_free(wanted):
            name = _tell(wanted)
            problems.append((name, f"{name}: {len(found)} DOFs instead of {len(wanted)}"))
    problems += [
        (_tell(found), f"{_tell(found)}: {len(found)} DOFs that {reference.engine or 'MuJoCo'} does not have")
        for found in others.values()
        if not _is_free(found)
    ]
    return pairs, problems[0] if problems else None


def _group_unused(seen: Seen, pairs: list[_Pair]) -> dict[str, list[SeenFreedom]]:
    """Freedoms that no pair has, by the body that they move."""
    used = {id(row) for pair in pairs for row in pair.found}
    others: dict[str, list[SeenFreedom]] = defaultdict(list)
    for row in seen.freedoms:
        if id(row) not in used:
            others[row.body].append(row)
    return others


def _find_body(wanted: list[SeenFreedom], others: dict[str, list[SeenFreedom]]) -> str:
    """The body that one of the joints moves, for a body that MJCF gives no name."""
    names = {row.joint for row in wanted if row.joint}
    return next((body for body, rows in others.items() if any(row.joint in names for row in rows)), "")


def _is_free(rows: list[SeenFreedom]) -> bool:
    """Whether this is a floating base, which is told as such and not as six DOFs."""
    return all(row.kind == "free" for row in rows)


def _tell(rows: list[SeenFreedom]) -> str:
    return next((row.joint for row in rows if row.joint), f"joint of {rows[0].body}")


def _count_joint_freedoms(seen: Seen) -> int:
    return sum(row.kind != "free" for row in seen.freedoms)


def _compare_links(reference: Seen, seen: Seen, outcome: Outcome) -> None:
    """Links that weigh something: frames without mass are written as links by some formats, and by some not."""
    outcome.counts["links"] = f"{len(seen.masses)}/{len(reference.masses)}"
    for name, mass in reference.masses.items():
        if mass > 0.0 and name not in seen.masses:
            outcome.note("links", name, f"there is no link {name}")
    for name, mass in seen.masses.items():
        if mass > 0.0 and name not in reference.masses:
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


def _compare_inertias(reference: Seen, seen: Seen, outcome: Outcome) -> None:
    if not seen.inertias or not reference.inertias:
        outcome.blank.setdefault("inertias", "not told")
    allowed = outcome.find_tolerance("inertias")
    for name, row in reference.inertias.items():
        mass = reference.masses.get(name, 0.0)
        if name not in seen.inertias or mass <= 0.0 or seen.masses.get(name, 0.0) <= 0.0:
            continue
        want, have = np.array(row), np.array(seen.inertias[name])
        trace = max(float(want[3:6].sum()), 1e-12)
        # the link's own radius of gyration: a centre of mass is placed as exactly as its size
        size = max(float(np.sqrt(trace / mass)), float(np.abs(want[:3]).max()), 1e-3)
        if np.abs(have[:3] - want[:3]).max() > allowed * size:
            outcome.note(
                "inertias", name, f"{name}: centre of mass {_show(have[:3])} instead of {_show(want[:3])}"
            )
        # an inertia that grew with the mass alone is a difference of the mass, which is told as such
        scales = (1.0, seen.masses[name] / mass)
        if min(np.abs(have[3:] - want[3:] * scale).max() for scale in scales) > allowed * trace:
            outcome.note("inertias", name, f"{name}: inertia {_show(have[3:])} instead of {_show(want[3:])}")


def _compare_drives(reference: Seen, seen: Seen, pairs: list[_Pair], outcome: Outcome) -> None:
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
        _count_actuators(reference, seen, found, outcome)
    elif not wanted:
        # motors of other kinds, which the engine has no word for
        outcome.absent.add("drives")


def _count_actuators(reference: Seen, seen: Seen, found: dict[str, Servo], outcome: Outcome) -> None:
    """Newton makes drives of some motors and keeps others: together they must be all."""
    of_joints = [row for row in seen.actuators if row.target in found]
    count = len(found) - len(of_joints) + len(seen.actuators)
    outcome.counts["drives"] = f"{count}/{len(reference.actuators)}"
    if count != len(reference.actuators):
        outcome.note("drives", "", f"{count} actuators instead of {len(reference.actuators)}")


def _tells_actuators(seen: Seen) -> bool:
    """Whether motors are told as MuJoCo describes them, one by one."""
    return seen.engine.startswith("MuJoCo")


def _compare_mimics(reference: Seen, seen: Seen, pairs: list[_Pair], outcome: Outcome) -> None:
    names = {pair.found[0].joint: pair.wanted[0].joint for pair in pairs if pair.alone}
    found = {names.get(name, name): row for name, row in seen.mimics.items()}
    if not reference.mimics and not found:
        outcome.absent.add("mimics")
    for name, (leader, ratio) in reference.mimics.items():
        if name not in found:
            outcome.note("mimics", name, f"{name} does not follow {leader}")
            continue
        other, have = names.get(found[name][0], found[name][0]), found[name][1]
        if other != leader or not _close(ratio, have, outcome.find_tolerance("mimics")):
            outcome.note("mimics", name, f"{name} follows {have:.6g} {other} instead of {ratio:.6g} {leader}")
    for name, (leader, _) in found.items():
        if name not in reference.mimics:
            outcome.note("mimics", name, f"{name} follows {leader}, should follow none")


def _find_springs(reference: Seen) -> set[str]:
    """Joints with a spring: a drive without an actuator may be how an engine is told of it."""
    return {row.joint for row in reference.freedoms if row.passive_stiffness}


def _find_wrong_drive(
    wanted: dict[str, Servo], found: dict[str, Servo], pairs: list[_Pair], springs: set[str]
) -> tuple[str, str] | None:
    for pair in pairs:
        if not pair.alone:
            continue
        joint = pair.wanted[0].joint
        want, have = wanted.get(joint), found.get(pair.found[0].joint)
        if want is None:
            # damping alone may be the passive one, which is compared with the actuator's
            if have is not None and have.stiffness and joint not in springs:
                return pair.name, f"{pair.name}: a drive of stiffness {have.stiffness:.6g}, there is no servo"
            continue
        have = have or Servo(0.0, 0.0, None)
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


def _compare_damping(reference: Seen, seen: Seen, pairs: list[_Pair], outcome: Outcome) -> None:
    """Drive and joint together: a servo at rest brakes as a passive damper does, and some engines have one of them."""
    # where drives cannot be told, those of the reference are left out too
    with_drives = "drives" not in outcome.blank
    wanted, found = (find_servos(side) if with_drives else {} for side in (reference, seen))

    def total(servos: dict[str, Servo]) -> Callable[[SeenFreedom], float]:
        return lambda row: row.passive_damping + (servos[row.joint].damping if row.joint in servos else 0.0)

    _compare_values("damping", pairs, total(wanted), outcome, total(found))


def _compare_values(
    name: str,
    pairs: list[_Pair],
    read: Callable[[SeenFreedom], float],
    outcome: Outcome,
    read_found: Callable[[SeenFreedom], float] | None = None,
) -> None:
    """One figure of every freedom; those of a joint of many axes in any order."""
    read_found = read_found or read
    if not any(read(row) for pair in pairs for row in pair.wanted):
        outcome.absent.add(name)
    for pair in pairs:
        if _is_free(pair.wanted):
            continue
        wanted, found = sorted(map(read, pair.wanted)), sorted(map(read_found, pair.found))
        if not _same_rows(wanted, found, outcome.find_tolerance(name)):
            told = [", ".join(f"{value:.6g}" for value in values) for values in (found, wanted)]
            outcome.note(name, pair.name, f"{pair.name}: {name} {told[0]} instead of {told[1]}")


def _compare_limits(pairs: list[_Pair], outcome: Outcome) -> None:
    if not any(row.limit != (None, None) for pair in pairs for row in pair.wanted):
        outcome.absent.add("limits")
    for pair in pairs:
        if not pair.alone:
            continue
        want, have = pair.wanted[0].limit, pair.found[0].limit
        allowed = outcome.find_tolerance("limits")
        if not all(_close_or_none(one, other, allowed) for one, other in zip(want, have, strict=True)):
            outcome.note("limits", pair.name, f"{pair.name}: limits {have} instead of {want}")


def find_pose_error(want: Sequence[float], have: Sequence[float]) -> tuple[float, float]:
    """How far apart two poses are: [m], and [rad] by the largest entry of the matrices."""
    moved = float(np.abs(np.subtract(want[:3], have[:3])).max())
    return moved, float(np.abs(rotate(want[3:]) - rotate(have[3:])).max())


def find_size(poses: Mapping[str, Sequence[float]]) -> float:
    """What errors of places are relative to [m]."""
    return max(1.0, max((abs(value) for pose in poses.values() for value in pose[:3]), default=1.0))


def name_state(number: int) -> str:
    """How configurations are told: the first one is the reference pose."""
    return "reference pose" if not number else f"configuration {number}"


def _compare_poses(reference: Told, told: Told, outcome: Outcome) -> None:
    worst, item, where = 0.0, "", ""
    if not reference.states or not told.states:
        outcome.absent.add("poses")
        return
    for number, (one, other) in enumerate(zip(reference.states, told.states, strict=True)):
        if one.poses is None or other.poses is None:
            outcome.blank.setdefault("poses", "not told")
            return
        size = find_size(one.poses)
        for name, pose in one.poses.items():
            if name not in other.poses:
                continue
            moved, turned = find_pose_error(pose, other.poses[name])
            error = max(moved / size, turned)
            # not "error > worst": an error that is no number is the worst
            if not error <= worst:
                worst, item = error, name
                where = f"{name} is {moved:.1e} m and {turned:.1e} rad off ({name_state(number)})"
    outcome.errors["poses"] = worst
    if not worst <= outcome.find_tolerance("poses"):
        outcome.note("poses", item, where)


def _compare_matrices(reference: Told, told: Told, pairs: list[_Pair], outcome: Outcome) -> None:
    """Joints of one freedom, with all others held and with all others free to give way."""
    alone = [pair for pair in pairs if pair.alone]
    if not reference.states or not told.states or not alone or _match(reference.seen, told.seen)[1]:
        outcome.absent |= {"matrix", "bias"}  # there is nothing to compare it with
        return
    _leave_untold([*reference.states, *told.states], outcome)
    orders = [_find_order(reference.seen, [pair.wanted[0] for pair in alone])]
    orders.append(_find_order(told.seen, [pair.found[0] for pair in alone]))
    # the most that gravity could do at a joint: all of the mass at the radius that its own inertia has
    weight = 9.81 * float(np.sqrt(max(sum(reference.seen.masses.values()), 1e-9)))
    for number, both in enumerate(zip(reference.states, told.states, strict=True)):
        for aspect, state, rows in _find_errors(both, orders, weight):
            name = alone[int(np.argmax(rows))].name
            _note_error(aspect, float(np.max(rows)), name, f"{name_state(number)}, others {state}", outcome)


def _leave_untold(states: Iterable[Evaluated], outcome: Outcome) -> None:
    for state in states:
        if state.mass_matrix is None:
            outcome.blank.setdefault("matrix", "not told")
        # a bias is compared by the scale of the matrix
        if state.bias is None or state.mass_matrix is None:
            outcome.blank.setdefault("bias", "not told")


def _note_error(aspect: str, error: float, item: str, where: str, outcome: Outcome) -> None:
    """The largest error of all configurations is the one that is told."""
    # "not larger" would pass over an error that is no number
    if aspect in outcome.blank or error <= outcome.errors.get(aspect, -1.0):
        return
    outcome.errors[aspect] = error
    if not error <= outcome.find_tolerance(aspect):
        words = "mass matrix" if aspect == "matrix" else "bias"
        outcome.items[aspect] = item
        outcome.differences[aspect] = f"{words} off by {error:.1e} ({where})"


def _find_order(seen: Seen, chosen: list[SeenFreedom]) -> list[int]:
    """Rows of the mass matrix."""
    places = {id(row): number for number, row in enumerate(seen.freedoms)}
    return [places[id(row)] for row in chosen]


def _find_errors(
    both: tuple[Evaluated, Evaluated], orders: list[list[int]], weight: float
) -> list[tuple[str, str, Any]]:
    """ComparedAspect, state of the other freedoms, and the error of each compared one."""
    if both[0].mass_matrix is None or both[1].mass_matrix is None:
        return []
    whole = [np.array(state.mass_matrix) for state in both]
    scale = np.sqrt(np.maximum(np.abs(np.diag(_hold(whole[0], orders[0]))), 1e-12))
    found = []
    for state, reduce in (("held", _hold), ("free", _release)):
        one, other = (reduce(*row) for row in zip(whole, orders, strict=True))
        found.append(("matrix", state, np.abs((other - one) / np.outer(scale, scale)).max(axis=1)))
    if both[0].bias is None or both[1].bias is None:
        return found
    for state, push in (("held", _push_held), ("free", _push_free)):
        one, other = (
            push(matrix, np.array(side.bias), chosen)
            for matrix, side, chosen in zip(whole, both, orders, strict=True)
        )
        found.append(("bias", state, np.abs(other - one) / (scale * weight)))
    return found


def _push_held(matrix: Any, bias: Any, chosen: list[int]) -> Any:
    del matrix
    return bias[chosen]


def _push_free(matrix: Any, bias: Any, chosen: list[int]) -> Any:
    """What is felt at some freedoms while all others give way."""
    others = [number for number in range(len(matrix)) if number not in set(chosen)]
    if not others:
        return bias[chosen]
    gives_way = np.linalg.pinv(matrix[np.ix_(others, others)]) @ bias[others]
    return bias[chosen] - matrix[np.ix_(others, chosen)].T @ gives_way


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
