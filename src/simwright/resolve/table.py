# SPDX-License-Identifier: Apache-2.0
"""One row of solver knowledge: which attribute of which schema says what, in which unit, and how it becomes a value.

A row is used both ways: :meth:`Row.read` turns authored attributes into one value in SI and radians,
:meth:`Row.write` turns such a value back into attributes.  Rows know nothing of USD; they see an object
that gives authored attribute values by name.

Where that is more than a factor, a row has a transform.  Its ``read`` takes the attributes of a row, in order, None
for those not authored.  It gives None where they say nothing (the next schema is asked) and :data:`UNSET` where they
say "use your own default" (nobody else is asked).  ``write`` takes the value and the other known values of the prim,
in the row's own units; it gives None where the schema has no way to say the value.

:func:`find_axis` gives the word that solver schemas use for an axis of a joint.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import numpy as np

from simwright.core.math3d import DEGREE
from simwright.model.joint import Dof, Joint, JointKind, Motion


class _Unset(enum.Enum):
    UNSET = "unset"

    def __repr__(self) -> str:
        return "UNSET"


UNSET: Final = _Unset.UNSET
"""AuthoredAttributes, but as the sentinel for "the importer's own default"."""

Raw = Sequence[Any]


@dataclass(frozen=True, slots=True)
class ValueTransform:
    """A two-way rule with a name for the documentation."""

    words: str
    read: Callable[[Raw], Any]
    write: Callable[[Any, Mapping[str, Any]], tuple[Any, ...] | None]


def _write_plain(value: Any, _: Mapping[str, Any]) -> tuple[Any, ...]:
    return (value,)


def _negate(raw: Raw) -> bool:
    return not raw[0]


def _skip_unbounded_below(raw: Raw) -> float | None:
    return None if raw[0] == -math.inf else float(raw[0])


def _unset_below(raw: Raw) -> Any:
    return UNSET if raw[0] == -math.inf else raw[0]


def _unset_above(raw: Raw) -> Any:
    return UNSET if raw[0] == math.inf else raw[0]


def _read_stop_damping(raw: Raw) -> Any:
    """Damping and stiffness of a joint stop: a rigid stop has no damping."""
    damping, stiffness = raw
    # Newton: an infinite stiffness is a hard stop, whose damping nobody reads.
    if math.inf in (damping, stiffness):
        return 0.0
    return UNSET if damping == -math.inf else damping


def _write_stop_damping(value: Any, others: Mapping[str, Any]) -> tuple[Any, ...]:
    # The stiffness says it already; writing the damping as well could contradict it.
    rigid = others.get("limit_ke") == math.inf
    return (None, None) if rigid and value == 0.0 else (value, None)


def _read_period(raw: Raw) -> float | None:
    """A time step [s] as steps per second."""
    return 1.0 / raw[0] if raw[0] > 0.0 else None


def _write_period(value: Any, _: Mapping[str, Any]) -> tuple[Any, ...] | None:
    return (1.0 / value,) if value > 0.0 else None


def _read_offset_gap(raw: Raw) -> float | None:
    """Contact offset and rest offset: what lies between them."""
    contact, rest = raw
    # PhysX: -inf stands for an offset that the engine chooses by itself.
    if contact is None or rest is None or -math.inf in (contact, rest):
        return None
    return float(contact) - float(rest)


def _write_offset_gap(value: Any, others: Mapping[str, Any]) -> tuple[Any, ...]:
    rest = others.get("margin", 0.0)
    return rest + value, rest


def _read_margin_less_gap(raw: Raw) -> float | None:
    """MuJoCo before 3.9: the gap was part of the margin."""
    margin, gap = raw
    return None if margin is None else float(margin) - float(gap or 0.0)


def _write_margin_less_gap(value: Any, others: Mapping[str, Any]) -> tuple[Any, ...]:
    return value + others.get("gap", 0.0), None


def _read_shell(raw: Raw) -> str:
    return "shell" if raw[0] else "solid"


def _write_shell(value: Any, _: Mapping[str, Any]) -> tuple[Any, ...] | None:
    return (value == "shell",) if value in ("shell", "solid") else None


def _read_no_gravity(raw: Raw) -> float:
    return 0.0 if raw[0] else 1.0


def _write_no_gravity(value: Any, _: Mapping[str, Any]) -> tuple[Any, ...] | None:
    return (value == 0.0,) if value in (0.0, 1.0) else None


def _read_compensation(raw: Raw) -> float:
    return 1.0 - float(raw[0])


def _write_compensation(value: Any, _: Mapping[str, Any]) -> tuple[Any, ...]:
    return (1.0 - value,)


def _read_effort_range(raw: Raw) -> float | None:
    """Lower and upper effort and whether they count ("true", "false", "auto": if the range is not empty)."""
    low, high, limited = raw
    if low is None and high is None:
        return None
    low, high = float(low or 0.0), float(high or 0.0)
    # As MuJoCo's compiler does with autolimits: a range that is not empty counts.
    if limited == "true" or (limited in (None, "auto") and low < high):
        return max(abs(low), abs(high))
    return None


def _write_effort_range(value: Any, _: Mapping[str, Any]) -> tuple[Any, ...] | None:
    return (-value, value, "true") if math.isfinite(value) else None


def read_solref(solref: Sequence[float]) -> tuple[float, float] | None:
    """Stiffness and damping, per mass, of MuJoCo's reference; None where it is neither of its two forms."""
    if len(solref) < 2:
        return None
    first, second = float(solref[0]), float(solref[1])
    # MuJoCo: two negative numbers are stiffness and damping themselves; two positive ones are a time constant and a
    # damping ratio.
    if first < 0.0 and second < 0.0:
        return -first, -second
    if first <= 0.0 or second <= 0.0:
        return None
    return 1.0 / (first * first * second * second), 2.0 / first


def _write_solref(stiffness: float | None, damping: float | None) -> tuple[Any, ...] | None:
    if stiffness is None or damping is None or stiffness <= 0.0 or damping <= 0.0:
        return None
    # The inverse of the formula in read_solref: time constant 2 / b, ratio b / (2 sqrt(k)).
    return ((2.0 / damping, damping / (2.0 * math.sqrt(stiffness))),)


def _read_part(index: int) -> Callable[[Raw], float | None]:
    def read(raw: Raw) -> float | None:
        pair = read_solref(raw[0])
        return None if pair is None else pair[index]

    return read


PLAIN: Final = ValueTransform("", lambda raw: raw[0], _write_plain)
NEGATE: Final = ValueTransform("not v", _negate, lambda value, _: (not value,))
SKIP_BELOW: Final = ValueTransform("-inf: ask the next", _skip_unbounded_below, _write_plain)
UNSET_BELOW: Final = ValueTransform("-inf: importer default", _unset_below, _write_plain)
UNSET_ABOVE: Final = ValueTransform("inf: importer default", _unset_above, _write_plain)
STOP_DAMPING: Final = ValueTransform(
    "0 if either is inf; -inf: importer default", _read_stop_damping, _write_stop_damping
)
PERIOD: Final = ValueTransform("1 / v", _read_period, _write_period)
OFFSET_GAP: Final = ValueTransform(
    "contact - rest; none if either is -inf", _read_offset_gap, _write_offset_gap
)
MARGIN_LESS_GAP: Final = ValueTransform("margin - gap", _read_margin_less_gap, _write_margin_less_gap)
SHELL: Final = ValueTransform('"shell" if v else "solid"', _read_shell, _write_shell)
NO_GRAVITY: Final = ValueTransform("0 if v else 1", _read_no_gravity, _write_no_gravity)
COMPENSATION: Final = ValueTransform("1 - v", _read_compensation, _write_compensation)
EFFORT_RANGE: Final = ValueTransform("max(|min|, |max|) if limited", _read_effort_range, _write_effort_range)
SOLREF_STIFFNESS: Final = ValueTransform(
    "1 / (t^2 r^2), or -t if both are negative",
    _read_part(0),
    lambda value, others: _write_solref(value, others.get("kd")),
)
SOLREF_DAMPING: Final = ValueTransform(
    "2 / t, or -r if both are negative",
    _read_part(1),
    lambda value, others: _write_solref(others.get("ke"), value),
)


HUGE: Final = 1e30
"""Numbers at least this large stand for infinity; writers put FLT_MAX where they mean "no limit"."""

ANGULAR_AXES: Final = ("angular", "rotX", "rotY", "rotZ")


class AuthoredAttributes(Protocol):
    """The authored attributes of one prim; a dictionary will do.  None stands for "not authored"."""

    def get(self, name: str, /) -> Any:
        """The authored value of an attribute, or None."""


class PrimType(enum.StrEnum):
    """What kind of prim a row is about."""

    SCENE = "scene"
    JOINT = "joint"
    SHAPE = "shape"
    BODY = "body"
    MATERIAL = "material"
    ACTUATOR = "actuator"
    ARTICULATION = "articulation"


@dataclass(frozen=True, slots=True)
class Scale:
    """Metres and kilograms in a stage unit; ``angle`` is MuJoCo's compiler angle unit [rad]."""

    length: float = 1.0
    mass: float = 1.0
    angle: float = DEGREE


SI: Final = Scale()


@dataclass(frozen=True, slots=True)
class Unit:
    """Powers of length and mass for sliding and turning axes; powers of the angle for turning ones.

    ``compiler`` angles are those of MuJoCo's compiler setting, all others degrees.
    """

    words: str
    slide: tuple[int, int] = (0, 0)
    turn: tuple[int, int] = (0, 0)
    angle: int = 0
    compiler: bool = False

    def factor(self, scale: Scale, *, angular: bool) -> float:
        """SI units in one authored unit."""
        # Efforts and gains of a turning joint have one more length than those of a sliding one (N m, not N).
        length, mass = self.turn if angular else self.slide
        factor = scale.length**length * scale.mass**mass
        if angular and self.angle:
            # MuJoCo's schema keeps angles as its compiler was told to; all others say degrees.
            factor *= (scale.angle if self.compiler else DEGREE) ** self.angle
        return float(factor)


NUMBER: Final = Unit("")
LENGTH: Final = Unit("m", (1, 0), (1, 0))
COORDINATE: Final = Unit("deg or m", (1, 0), (0, 0), 1)
COMPILER_COORDINATE: Final = Unit("compiler angle or m", (1, 0), (0, 0), 1, compiler=True)
RATE: Final = Unit("deg/s or m/s", (1, 0), (0, 0), 1)
INERTIA: Final = Unit("kg m^2 or kg", (0, 1), (2, 1))
EFFORT: Final = Unit("N m or N", (1, 1), (2, 1))
GAIN: Final = Unit("effort per deg or m", (0, 1), (2, 1), -1)
GAIN_RADIAN: Final = Unit("effort per rad or m", (0, 1), (2, 1))
STIFFNESS: Final = Unit("N/m", (0, 1), (0, 1))
PRESSURE_SLOPE: Final = Unit("N/m^3", (-2, 1), (-2, 1))


class ValueForm(enum.StrEnum):
    """What an attribute has to hold."""

    NUMBER = "a number"
    FLAG = "a switch"
    TEXT = "a text"
    NUMBERS = "a list of numbers"


@dataclass(frozen=True, slots=True)
class Row:
    """``key`` of a kind of prim is said by ``attributes`` of ``schema``.

    ``default`` is the schema's fallback as authored (one value per attribute where there are several);
    ``axis`` is set where key and attribute belong to one axis of a joint.
    """

    prim: PrimType
    key: str
    attributes: tuple[str, ...]
    schema: str
    unit: Unit = NUMBER
    default: Any = None
    transform: ValueTransform = PLAIN
    form: ValueForm = ValueForm.NUMBER
    axis: str = ""
    doc: str = field(default="", compare=False)

    @property
    def attribute(self) -> str:
        """The attribute, or all of them."""
        return ", ".join(self.attributes)

    def read(self, authored: AuthoredAttributes, scale: Scale = SI, *, angular: bool = False) -> Any:
        """The value, None where nothing usable is authored, UNSET where "use your own" is authored."""
        if len(self.attributes) == 1:
            value = authored.get(self.attributes[0])
            return None if value is None else self._transform([_bound(value)], scale, angular)
        return self._convert([_bound(authored.get(name)) for name in self.attributes], scale, angular)

    def read_default(self, scale: Scale = SI, *, angular: bool = False) -> Any:
        """The schema's fallback as a value."""
        if self.default is None:
            return None
        # A row of several attributes has one fallback for each.
        raw = list(self.default) if len(self.attributes) > 1 else [self.default]
        return self._convert(raw, scale, angular)

    def write(
        self,
        value: Any,
        others: Mapping[str, Any] | None = None,
        scale: Scale = SI,
        *,
        angular: bool = False,
    ) -> dict[str, Any]:
        """The attributes that say ``value``; empty where the schema cannot say it.

        ``others`` holds further keys of the same prim, for attributes that mix several keys.
        """
        factor = self._factor(scale, angular)
        # The others are in SI too; a transform mixes them with the value in the row's own unit.
        known = {key: _divide(other, factor) for key, other in (others or {}).items()}
        raw = self.transform.write(_divide(value, factor), known)
        if raw is None:
            return {}
        return {name: v for name, v in zip(self.attributes, raw, strict=True) if v is not None}

    def list_forms(self) -> list[tuple[str, ValueForm]]:
        """What each attribute has to hold; a switch among numbers ("auto") is a text."""
        return [(name, ValueForm.TEXT if name.endswith("limited") else self.form) for name in self.attributes]

    def _convert(self, raw: list[Any], scale: Scale, angular: bool) -> Any:
        # A transform is asked only if at least one of its attributes is authored.
        return None if all(value is None for value in raw) else self._transform(raw, scale, angular)

    def _transform(self, raw: list[Any], scale: Scale, angular: bool) -> Any:
        value = self.transform.read(raw)
        if value is None or value is UNSET or self.unit is NUMBER:
            return value
        return value * self._factor(scale, angular)

    def _factor(self, scale: Scale, angular: bool) -> float:
        if self.unit is NUMBER:
            return 1.0
        # A row of one axis knows whether it turns; others are told by the joint.
        return self.unit.factor(scale, angular=self.axis in ANGULAR_AXES if self.axis else angular)


def fits(form: ValueForm, value: Any) -> bool:
    """Does an authored value have the form its schema asks for?"""
    match form:
        case ValueForm.NUMBER:
            return _is_number(value)
        case ValueForm.TEXT:
            return isinstance(value, str)
        case ValueForm.FLAG:
            return isinstance(value, (bool, int))
    return isinstance(value, (list, tuple)) and all(map(_is_number, value))


def _is_number(value: Any) -> bool:
    return isinstance(value, (float, int)) and not math.isnan(value)


def _bound(value: Any) -> Any:
    if isinstance(value, float) and abs(value) >= HUGE:
        return math.copysign(math.inf, value)
    return value


def _divide(value: Any, factor: float) -> Any:
    return value if factor == 1.0 or not _is_number(value) else value / factor


_LETTERS = "XYZ"


def find_axis(joint: Joint, dof: Dof) -> str:
    """``angular``, ``linear``, ``rotX`` ... ``transZ``; empty for a freedom that is no single axis."""
    if dof.motion not in (Motion.HINGE, Motion.SLIDE):
        return ""
    if joint.kind is not JointKind.D6:
        return "angular" if dof.motion is Motion.HINGE else "linear"
    # D6 axes are along the axes of the joint frame; the largest part tells which.
    letter = _LETTERS[int(np.argmax(np.abs(dof.axis)))]
    return f"rot{letter}" if dof.motion is Motion.HINGE else f"trans{letter}"
