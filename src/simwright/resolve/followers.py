# SPDX-License-Identifier: Apache-2.0
"""Joints that follow another one: the same rule in four dialects, used both ways (REP-0158 4.2.2).

The neutral rule is ``q = offset + multiplier * leader`` in degrees and stage lengths.  Newton has the multiplier
between radians, MuJoCo both numbers; PhysX puts everything on one side, so its signs are turned.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from simwright.core.units import DEGREE

API: Final = "ExtendedPhysicsMimicAPI"
LEADER: Final = "ext_physics:mimic:joint"
OFFSET: Final = "ext_physics:mimic:offset"
MULTIPLIER: Final = "ext_physics:mimic:multiplier"
ENABLED: Final = "ext_physics:mimic:enabled"


class Rule(NamedTuple):
    """Offset and multiplier, in the words of one dialect."""

    offset: float
    multiplier: float


FALLBACK: Final = Rule(0.0, 1.0)
"""What every dialect means where nothing is authored."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """How an engine writes the rule.  ``AXIS`` in a name stands for the instance of a multiple-apply schema.

    ``degrees`` says whether offset and multiplier count in degrees; ``sign`` is -1 where everything is on one
    side.  ``soft`` are attributes that make the rule give way, which has no neutral
    word.
    """

    vendor: str
    api: str
    leader: str
    offset: str
    multiplier: str
    enabled: str = ""
    degrees: tuple[bool, bool] = (True, True)
    sign: float = 1.0
    soft: tuple[str, ...] = ()

    def name(self, attribute: str, axis: str = "") -> str:
        """An attribute of an instance."""
        return attribute.replace("AXIS", axis)

    def to_neutral(self, rule: Rule, *, follower: bool, leader: bool) -> Rule:
        """The neutral rule; ``follower`` and ``leader`` say which of the joints turn."""
        offset, multiplier = self._factors(follower, leader)
        return Rule(self.sign * rule.offset / offset, self.sign * rule.multiplier / multiplier)

    def to_vendor(self, rule: Rule, *, follower: bool, leader: bool) -> Rule:
        """The same rule in the engine's words."""
        offset, multiplier = self._factors(follower, leader)
        return Rule(self.sign * rule.offset * offset, self.sign * rule.multiplier * multiplier)

    def _factors(self, follower: bool, leader: bool) -> tuple[float, float]:
        """The engine's numbers for one neutral unit of offset and multiplier."""
        own = DEGREE if follower else 1.0
        other = DEGREE if leader else 1.0
        ratio = 1.0 if follower == leader else own / other
        return 1.0 if self.degrees[0] else own, 1.0 if self.degrees[1] else ratio


DIALECTS: Final = (
    Dialect(
        "newton", "NewtonMimicAPI", "newton:mimicJoint", "newton:mimicCoef0", "newton:mimicCoef1",
        "newton:mimicEnabled", (True, False),
    ),
    Dialect(
        "mjc", "MjcEqualityJointAPI", "mjc:target", "mjc:coef0", "mjc:coef1", "", (False, False),
        soft=("mjc:solref", "mjc:solimp"),
    ),
    Dialect(
        "physx", "PhysxMimicJointAPI", "physxMimicJoint:AXIS:referenceJoint", "physxMimicJoint:AXIS:offset",
        "physxMimicJoint:AXIS:gearing", sign=-1.0,
        soft=("physxMimicJoint:AXIS:naturalFrequency", "physxMimicJoint:AXIS:dampingRatio"),
    ),
)  # fmt: skip
"""Who is believed first comes first."""
