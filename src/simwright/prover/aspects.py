# SPDX-License-Identifier: Apache-2.0
"""What is compared of a robot in two engines: aspects with tolerances and reasons, and what came out of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from simwright.prover.motion import SCALE, SCENARIOS
from simwright.prover.workers.seen import Evaluated, Seen, SeenFreedom

LEVELS = ("structure", "dynamics", "motion", "ros")


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
        "structure", "centre of mass and inertia of each link",
        "the link's own size, and the trace of all links that are fixed to it", 1e-4, 1e-8,
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
    **{
        name: ComparedAspect("motion", row.title, SCALE, row.single, row.double, row.reason)
        for name, row in SCENARIOS.items()
    },
    "names": ComparedAspect("ros", "joints have the names that ROS knows them by"),
}  # fmt: skip
"""In the order of the columns."""


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


def refuse(engine: str, reason: str) -> Outcome:
    """An engine that has nothing to show."""
    return Outcome(engine, loads=False, differences={"loads": reason})


EARTH = 9.81
"""[m/s^2]"""


@dataclass(frozen=True, slots=True)
class Told:
    """All that an engine says of a robot: what it sees, and what it says in each configuration (or nothing)."""

    seen: Seen
    states: Sequence[Evaluated] = ()
    gravity: float = EARTH
    """Of its world [m/s^2]: biases are compared by what it could do."""

    def list_freedoms(self, joint: str) -> list[SeenFreedom]:
        """The degrees of freedom of a joint."""
        return [row for row in self.seen.freedoms if row.joint == joint]

    def is_driven(self, joint: str) -> bool:
        """Whether a joint has a drive or an actuator."""
        driven = any(row.stiffness or row.damping for row in self.list_freedoms(joint))
        return driven or any(actuator.target == joint for actuator in self.seen.actuators)
