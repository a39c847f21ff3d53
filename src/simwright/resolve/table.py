# SPDX-License-Identifier: Apache-2.0
"""One row of solver knowledge: which attribute of which schema says what, in which unit.

A row is used both ways: :meth:`Row.read` turns authored attributes into one value in SI and radians,
:meth:`Row.write` turns such a value back into attributes.  Rows know nothing of USD; they see an object
that gives authored attribute values by name.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from simwright.core.units import DEGREE
from simwright.resolve.transforms import PLAIN, UNSET, ValueTransform

HUGE: Final = 1e30
"""Numbers at least this large stand for infinity; writers put FLT_MAX where they mean "no limit"."""

ANGULAR_AXES: Final = ("angular", "rotX", "rotY", "rotZ")
LINEAR_AXES: Final = ("linear", "transX", "transY", "transZ")


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
            if value is None:
                return None
            return self._convert([_bound(value)], scale, angular)
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
        if all(value is None for value in raw):
            return None
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
