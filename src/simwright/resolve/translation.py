# SPDX-License-Identifier: Apache-2.0
"""One table between the words of engines and the neutral ones (REP-0158 4.2.2), used both ways; mimics and motors too.

A pair is a row of an engine and the row of the neutral schemas for the same quantity, if both measure the same thing:
:meth:`Pair.to_neutral` says in ``ext_physics:`` what an engine's attributes say, :meth:`Pair.to_vendor` the reverse.
MuJoCo's contact reference is not a pair of a contact stiffness: one is per mass, the other is not.

Mimics: the neutral rule is ``q = offset + multiplier * leader`` in degrees and stage lengths.  Newton has the
multiplier between radians, MuJoCo both numbers; PhysX puts everything on one side, so its signs are turned.

Motors: a neutral motor is a motor, a position or a velocity servo, with gear, ranges and a lag.  Its gains and
positions are per degree where the joint turns; MuJoCo and Newton count in radians.  Laws that it cannot say have no
translation.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, NamedTuple

from simwright.core.math3d import DEGREE
from simwright.resolve.resolver import DEFAULT_ORDER, NEUTRAL, find_resolver
from simwright.resolve.table import SI, UNSET, AuthoredAttributes, PrimType, Row, Scale

TOLERANCE = 1e-6
"""Relative difference of two numbers that say the same; attributes are single precision."""


@dataclass(frozen=True, slots=True)
class Pair:
    """The same quantity in an engine's words (``theirs``) and in neutral ones (``ours``)."""

    vendor: str
    theirs: Row
    ours: Row

    @property
    def name(self) -> str:
        """The neutral attribute."""
        return self.ours.attributes[0]

    def to_neutral(self, authored: AuthoredAttributes, scale: Scale = SI, *, angular: bool = False) -> Any:
        """The neutral number; None where nothing is said, UNSET where "as you like" is, which has no neutral form."""
        value = self.theirs.read(authored, scale, angular=angular)
        if value is UNSET:
            # "no limit" is said by both sides with infinity
            return self.ours.default if self.ours.default == math.inf else UNSET
        if value is None:
            return None
        return self.ours.write(value, scale=scale, angular=angular).get(self.name)

    def to_vendor(
        self,
        authored: AuthoredAttributes,
        scale: Scale = SI,
        *,
        angular: bool = False,
        others: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """The engine's attributes for what is said in neutral words; empty where it has no words for it.

        ``others`` are further values of the prim by key, in SI, for attributes that mix several of them.
        """
        value = self.ours.read(authored, scale, angular=angular)
        if value is UNSET:
            value = math.inf
        return {} if value is None else self.theirs.write(value, others, scale, angular=angular)

    def is_exact(
        self,
        authored: AuthoredAttributes,
        scale: Scale = SI,
        *,
        angular: bool = False,
        others: Mapping[str, Any] | None = None,
    ) -> bool:
        """Do the engine's own attributes come back?  An effort range that is not symmetric does not."""
        value = self.theirs.read(authored, scale, angular=angular)
        if value is None or value is UNSET:
            return True
        # Written again and compared: the only test that holds for every transform.
        back = self.theirs.write(value, others, scale, angular=angular)
        return all(
            are_same(number, authored.get(name))
            for name, number in back.items()
            if isinstance(number, float) and authored.get(name) is not None
        )


def are_same(one: Any, other: Any) -> bool:
    """Do two authored values say the same?"""
    if isinstance(one, bool) or not isinstance(one, (int, float)) or not isinstance(other, (int, float)):
        return bool(one == other)
    # The first comparison is for infinities.
    return one == other or math.isclose(one, other, rel_tol=TOLERANCE)


def read_known(
    vendor: str, prim: PrimType, authored: AuthoredAttributes, scale: Scale = SI, *, angular: bool = False
) -> dict[str, Any]:
    """What an engine is told about a prim, by key, in SI."""
    found = {
        pair.ours.key: pair.theirs.read(authored, scale, angular=angular) for pair in list_pairs(prim, vendor)
    }
    return {key: value for key, value in found.items() if value is not None and value is not UNSET}


@cache
def list_pairs(prim: PrimType, vendor: str = "") -> tuple[Pair, ...]:
    """The pairs for a kind of prim, of one engine or of all in their order of priority."""
    return tuple(
        Pair(name, row, ours)
        for name in ((vendor,) if vendor else DEFAULT_ORDER)
        for row in find_resolver(name).rows
        if row.prim is prim
        # A neutral key has one row.
        for ours in NEUTRAL.rows_of(prim, row.key)[:1]
        if _measure_same(row, ours)
    )


def _measure_same(row: Row, ours: Row) -> bool:
    """Are both lengths, efforts and so on?  Degrees and radians are converted."""
    return (row.unit.slide, row.unit.turn) == (ours.unit.slide, ours.unit.turn)


@cache
def list_blocking(prim: PrimType) -> dict[str, tuple[Row, ...]]:
    """Engine attributes of a kind of prim that also, or only, say something that has no neutral word."""
    # By identity: rows of several engines may be equal.
    paired = {id(pair.theirs) for pair in list_pairs(prim)}
    found: dict[str, list[Row]] = {}
    for vendor in DEFAULT_ORDER:
        for row in find_resolver(vendor).rows:
            if row.prim is prim and id(row) not in paired:
                for name in row.attributes:
                    found.setdefault(name, []).append(row)
    return {name: tuple(rows) for name, rows in found.items()}


def translate_to_vendor(
    vendor: str, prim: PrimType, authored: AuthoredAttributes, scale: Scale = SI, *, angular: bool = False
) -> dict[str, Any]:
    """All that a prim says in neutral words, in an engine's: attributes by name.

    For engines that read their own schemas only; what they have no attribute for is not in the answer.
    """
    pairs = list_pairs(prim, vendor)
    values = {pair.ours.key: pair.ours.read(authored, scale, angular=angular) for pair in pairs}
    known = {key: value for key, value in values.items() if value is not None and value is not UNSET}
    result: dict[str, Any] = {}
    for pair in pairs:
        # PhysX's contact offset needs the margin, MuJoCo's margin the gap.
        others = {key: value for key, value in known.items() if key != pair.ours.key}
        for name, value in pair.to_vendor(authored, scale, angular=angular, others=others).items():
            result.setdefault(name, value)
    return result


def translate_to_neutral(
    vendor: str, prim: PrimType, authored: AuthoredAttributes, scale: Scale = SI, *, angular: bool = False
) -> dict[str, Any]:
    """All that a prim says in an engine's words and neutral ones exist for: neutral attributes by name."""
    result: dict[str, Any] = {}
    for pair in list_pairs(prim, vendor):
        value = pair.to_neutral(authored, scale, angular=angular)
        if value is not None and value is not UNSET:
            result.setdefault(pair.name, value)
    return result


MIMIC_API: Final = "ExtendedPhysicsMimicAPI"
LEADER: Final = "ext_physics:mimic:joint"
OFFSET: Final = "ext_physics:mimic:offset"
MULTIPLIER: Final = "ext_physics:mimic:multiplier"
ENABLED: Final = "ext_physics:mimic:enabled"
MIMIC_WORDS: Final = ("newton:mimic", "physxMimicJoint:", "mjc:coef", "mjc:target")
"""Beginnings of the attributes by which engines are told of a mimic, which a writer takes from the model."""


class MimicCoefficients(NamedTuple):
    """Offset and multiplier, in the words of one dialect."""

    offset: float
    multiplier: float


MIMIC_FALLBACK: Final = MimicCoefficients(0.0, 1.0)
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

    def to_neutral(self, rule: MimicCoefficients, *, follower: bool, leader: bool) -> MimicCoefficients:
        """The neutral rule; ``follower`` and ``leader`` say which of the joints turn."""
        offset, multiplier = self._factors(follower, leader)
        return MimicCoefficients(self.sign * rule.offset / offset, self.sign * rule.multiplier / multiplier)

    def to_vendor(self, rule: MimicCoefficients, *, follower: bool, leader: bool) -> MimicCoefficients:
        """The same rule in the engine's words."""
        offset, multiplier = self._factors(follower, leader)
        return MimicCoefficients(self.sign * rule.offset * offset, self.sign * rule.multiplier * multiplier)

    def _factors(self, follower: bool, leader: bool) -> tuple[float, float]:
        """The engine's numbers for one neutral unit of offset and multiplier."""
        # A slide counts in lengths on both sides; only angles change their unit.
        own = DEGREE if follower else 1.0
        other = DEGREE if leader else 1.0
        # Between two joints of one kind the multiplier has no unit.
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


ACTUATOR_API: Final = "ExtendedPhysicsActuatorAPI"
SPACE: Final = "ext_physics:actuator"
TARGETS: Final = f"{SPACE}:targets"
NUMBERS: Final = (
    "gear", "gain", "stiffness", "damping", "controlLower", "controlUpper", "effortLower", "effortUpper",
    "timeConstant",
)  # fmt: skip
MOTOR_DEFAULTS: Final[Mapping[str, Any]] = {
    "controlMode": "effort", "gear": 1.0, "gain": 1.0, "stiffness": 0.0, "damping": 0.0,
    "controlLower": -math.inf, "controlUpper": math.inf, "effortLower": -math.inf, "effortUpper": math.inf,
    "timeConstant": 0.0,
}  # fmt: skip
"""Fallbacks of the neutral schema, by the last word of the attribute."""
MJC_LAW: Final = (
    "mjc:gainType", "mjc:gainPrm", "mjc:biasType", "mjc:biasPrm", "mjc:dynType", "mjc:dynPrm", "mjc:gear",
    "mjc:ctrlRange:min", "mjc:ctrlRange:max", "mjc:ctrlLimited", "mjc:forceRange:min", "mjc:forceRange:max",
    "mjc:forceLimited", "mjc:inheritRange",
)  # fmt: skip
"""Attributes of an MjcActuator that the neutral motor says; others stay beside it."""
NEWTON_LAW: Final = ("newton:kp", "newton:kd", "newton:constEffort", "newton:maxEffort")
_LAGS = ("filter", "filterexact")

Motor = dict[str, Any]
"""Values of a neutral motor by the last word of the attribute; fallbacks left out."""


class Untranslatable(Exception):  # noqa: N818 - not a mistake, an answer
    """The law has no neutral form; the text says why."""


def read_mjc_motor(
    authored: Mapping[str, Any], *, angular: bool, reach: tuple[float, float] | None = None, auto: bool = True
) -> Motor:
    """The neutral motor of an MjcActuator on a joint.

    ``reach`` are the limits of the joint [rad or length], for servos that take their range from it; ``auto`` is the
    compiler's word on ranges that nobody switches.
    """
    # One function: MuJoCo's law is one formula, force = gain * control + bias, and each part may rule it out.
    gain, bias = _pad(authored.get("mjc:gainPrm"), 1.0), _pad(authored.get("mjc:biasPrm"), 0.0)
    affine = _read_bias_type(authored)
    if (
        authored.get("mjc:gainType", "fixed") != "fixed"
        or any(gain[1:])
        or (affine and (any(bias[3:]) or bias[0]))
    ):
        raise Untranslatable("its gain or bias is none of a motor or servo")
    motor: Motor = {"gear": _read_gear(authored), **_read_lag(authored)}
    motor |= _read_law(gain[0], bias if affine else [0.0] * 3, DEGREE if angular else 1.0)
    # The control of a motor is an effort; that of a servo is a position or velocity of the joint.
    step = 1.0 if motor["controlMode"] == "effort" else (DEGREE if angular else 1.0)
    # inheritRange is for actuators without a range of their own.
    control = _read_range(authored, "ctrl", auto=auto) or _inherit(authored, motor, reach)
    for word, found, unit in (
        ("control", control, step),
        ("effort", _read_range(authored, "force", auto=auto), 1.0),
    ):
        if found is not None:
            motor[f"{word}Lower"], motor[f"{word}Upper"] = found[0] / unit, found[1] / unit
    return drop_defaults(motor)


def read_newton_motor(authored: Mapping[str, Any], *, angular: bool, limited: bool) -> Motor:
    """The neutral motor of a NewtonActuator with a PD law; ``limited``: its largest effort counts."""
    # Newton's actuator is a PD law; without kp it is a velocity servo, without both a motor.
    kp, kd, constant = (float(authored.get(f"newton:{key}") or 0.0) for key in ("kp", "kd", "constEffort"))
    if constant:
        raise Untranslatable("it adds a constant effort")
    law = (kp, [0.0, -kp, -kd]) if kp else (kd, [0.0, 0.0, -kd]) if kd else (1.0, [0.0] * 3)
    motor = _read_law(*law, DEGREE if angular else 1.0)
    largest = float(authored.get("newton:maxEffort", math.inf))
    if limited and math.isfinite(largest):
        motor |= {"effortLower": -largest, "effortUpper": largest}
    return drop_defaults(motor)


def drop_defaults(motor: Motor) -> Motor:
    """Only what the schema's fallbacks do not say; the mode is always said."""
    return {
        key: value for key, value in motor.items() if key == "controlMode" or value != MOTOR_DEFAULTS[key]
    }


def _read_law(gain: float, bias: list[float], degree: float) -> Motor:
    if not any(bias[:3]):
        return {"controlMode": "effort", "gain": gain}
    # MuJoCo's position servo has biasprm = (0, -kp, -kv) with gainprm = kp.
    if gain > 0.0 and bias[1] == -gain and bias[2] <= 0.0:
        return {"controlMode": "position", "stiffness": gain * degree, "damping": -bias[2] * degree + 0.0}
    if gain > 0.0 and bias[1] == 0.0 and bias[2] == -gain:
        return {"controlMode": "velocity", "damping": gain * degree}
    raise Untranslatable("its gain or bias is none of a motor or servo")


def _read_bias_type(authored: Mapping[str, Any]) -> bool:
    kind = authored.get("mjc:biasType", "none")
    if kind not in ("none", "affine"):
        raise Untranslatable(f"its bias is of type {kind}")
    return bool(kind == "affine")


def _read_lag(authored: Mapping[str, Any]) -> Motor:
    kind = authored.get("mjc:dynType", "none")
    numbers = _pad(authored.get("mjc:dynPrm"), 1.0)
    # dynPrm without a type is not used, but a value in it is not ours to drop.
    if kind == "none" and numbers == _pad(None, 1.0):
        return {}
    # "filter" and "filterexact" differ only in how the lag is integrated.
    if kind not in _LAGS or any(numbers[1:]) or numbers[0] <= 0.0:
        raise Untranslatable(f"its activation is of type {kind}")
    return {"timeConstant": numbers[0]}


def _read_gear(authored: Mapping[str, Any]) -> float:
    values = [float(value) for value in authored.get("mjc:gear") or (1.0,)]
    # Six numbers are for sites and balls; a joint with one freedom uses the first.
    if any(values[1:]):
        raise Untranslatable("its gear has several numbers")
    return values[0]


def _read_range(authored: Mapping[str, Any], name: str, *, auto: bool) -> tuple[float, float] | None:
    low = float(authored.get(f"mjc:{name}Range:min") or 0.0)
    high = float(authored.get(f"mjc:{name}Range:max") or 0.0)
    limited = authored.get(f"mjc:{name}Limited", "auto")
    # "auto": MuJoCo's compiler takes a range that is not empty as a limit (autolimits).
    return (low, high) if limited == "true" or (limited == "auto" and auto and low < high) else None


def _inherit(
    authored: Mapping[str, Any], motor: Motor, reach: tuple[float, float] | None
) -> tuple[float, float] | None:
    """The range of the joint, stretched about its middle."""
    share = float(authored.get("mjc:inheritRange") or 0.0)
    if share <= 0.0 or reach is None or motor["controlMode"] != "position":
        return None
    # As MuJoCo's compiler does it for inheritrange.
    middle, half = (reach[0] + reach[1]) / 2.0, (reach[1] - reach[0]) / 2.0 * share
    return (middle - half, middle + half) if math.isfinite(half) else None


def _pad(values: Any, first: float) -> list[float]:
    found = [float(value) for value in values] if values is not None and len(values) else [first]
    return found + [0.0] * (10 - len(found))
