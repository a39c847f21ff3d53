# SPDX-License-Identifier: Apache-2.0
"""Small values of scene files: vectors, transforms, axes, colours, and what differs when SAP Warp is imitated.

Quaternions are x, y, z, w here, as scene files and runtime arrays have them.  They and axes are made unit length,
except in ``compat="sap"``, where they stay as written.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, ClassVar

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from simwright.core.documents.expressions import NUMBER_SCHEMA, Number, read_number
from simwright.core.documents.record import Record, refuse, refuse_word
from simwright.core.documents.tree import spell_path
from simwright.core.math3d import Seven

Triple = tuple[float, float, float]
Quad = tuple[float, float, float, float]
IDENTITY_ROTATION: Quad = (0.0, 0.0, 0.0, 1.0)
AXES: dict[str, Triple] = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


def is_compat(info: ValidationInfo) -> bool:
    """Is the document read as SAP Warp reads it?"""
    return info.context is not None and info.context.get("compat") == "sap"


def bound(largest: float) -> AfterValidator:
    """A validator that takes numbers up to ``largest`` in size: more would overflow in single precision."""

    def check(value: float) -> float:
        # written so that NaN is refused too
        if not abs(value) <= largest:
            raise refuse(f"has to be between {-largest:g} and {largest:g}, not {value:g}")
        return value

    return AfterValidator(check)


Quantity = Annotated[Number, bound(1e15)]
"""A number of any kind."""
Length = Annotated[Number, bound(1e9)]
"""A coordinate or a distance [m]."""


def read_triple(value: Any) -> Any:
    """Three numbers."""
    if not isinstance(value, list | tuple) or len(value) != 3:
        raise refuse("has to be a list of three numbers, [x, y, z]")
    return tuple(read_number(one) for one in value)


def read_factors(value: Any) -> Any:
    """Three factors, or one for all axes."""
    if isinstance(value, list | tuple):
        return read_triple(value)
    factor = read_number(value)
    return (factor, factor, factor)


def read_color(value: Any) -> Any:
    """Red, green, blue from 0 to 1; where one is above 1 they count to 255."""
    # opacity is taken and left out: arrays have three
    if not isinstance(value, list | tuple) or len(value) not in {3, 4}:
        raise refuse("has to be a list of three numbers, [red, green, blue]")
    numbers = [_need_number(one) for one in value[:3]]
    if any(number < 0 or number > 255 for number in numbers):
        raise refuse("colours count from 0 to 1, or from 0 to 255")
    # the rule of SAP Warp; [1, 1, 1] is white either way
    divisor = 255.0 if max(numbers) > 1.0 else 1.0
    return tuple(number / divisor for number in numbers)


def read_axis(value: Any, info: ValidationInfo) -> Any:
    """A direction: three numbers, x, y or z, or 0, 1, 2."""
    if isinstance(value, list | tuple):
        axis = tuple(_need_number(one) for one in read_triple(value))
        return axis if is_compat(info) else _normalise(axis, "an axis may not be zero")
    # "Axis.X" is how Newton's enumeration prints itself
    token = str(value).strip().lower().removeprefix("axis.")
    names = dict(zip("012", AXES, strict=True))
    found = AXES.get(names.get(token, token))
    if found is not None:
        return found
    if token in {"-x", "-y", "-z", "+x", "+y", "+z"} and not is_compat(info):
        sign = -1.0 if token[0] == "-" else 1.0
        # + 0.0 makes 0.0 of -0.0
        return tuple(sign * part + 0.0 for part in AXES[token[1]])
    if is_compat(info):
        # measured: every other token is Z in SAP Warp
        return AXES["z"]
    raise refuse_word(value, AXES)


def read_rotation(value: Any, info: ValidationInfo) -> Any:
    """``identity``, x, y, z, w, or an angle about an axis."""
    if value is None or value == "identity":
        return IDENTITY_ROTATION
    if isinstance(value, dict):
        turn = _read_turn(value, info)
        half = turn.angle / 2.0
        x, y, z = (part * math.sin(half) for part in turn.axis)
        quaternion: tuple[float, ...] = (x, y, z, math.cos(half))
    elif isinstance(value, list | tuple) and len(value) == 4:
        quaternion = tuple(_need_number(one) for one in value)
    else:
        raise refuse("has to be 'identity', a list [x, y, z, w], or {axis_angle: {axis: ..., angle: ...}}")
    # measured: SAP Warp does not normalise
    return quaternion if is_compat(info) else _normalise(quaternion, "a quaternion may not be zero")


def _read_turn(value: dict[str, Any], info: ValidationInfo) -> AxisAngle:
    try:
        return Turn.model_validate(value, context=info.context).axis_angle
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise refuse(f"{spell_path(first['loc'])}: {first['msg'][:1].lower()}{first['msg'][1:]}") from None


def _need_number(value: Any) -> float:
    number = read_number(value)
    if not isinstance(number, float) or not math.isfinite(number):
        raise refuse("has to hold finite numbers only")
    return number


def _normalise(values: tuple[float, ...], complaint: str) -> tuple[float, ...]:
    length = math.sqrt(sum(value * value for value in values))
    if not 1e-12 < length < math.inf:
        raise refuse(complaint)
    # dividing would change the last bits of numbers that are right as written
    if abs(length - 1.0) < 1e-12:
        return values
    return tuple(value / length for value in values)


_THREE: dict[str, Any] = {"type": "array", "items": NUMBER_SCHEMA, "minItems": 3, "maxItems": 3}
_FOUR: dict[str, Any] = {"type": "array", "items": NUMBER_SCHEMA, "minItems": 4, "maxItems": 4}
_AXIS: dict[str, Any] = {
    "anyOf": [_THREE, {"enum": ["x", "y", "z", "X", "Y", "Z", "-x", "-y", "-z", 0, 1, 2]}]
}
_TURN: dict[str, Any] = {
    "type": "object",
    "required": ["axis_angle"],
    "additionalProperties": False,
    "properties": {
        "axis_angle": {
            "type": "object",
            "required": ["axis", "angle"],
            "additionalProperties": False,
            "properties": {"axis": _AXIS, "angle": NUMBER_SCHEMA},
        }
    },
}

Vector = Annotated[tuple[Length, Length, Length], BeforeValidator(read_triple), WithJsonSchema(_THREE)]
Factor = Annotated[Number, bound(1e6)]
Factors = Annotated[
    tuple[Factor, Factor, Factor],
    BeforeValidator(read_factors),
    WithJsonSchema({"anyOf": [NUMBER_SCHEMA, _THREE]}),
]
Color = Annotated[
    Triple,
    BeforeValidator(read_color),
    WithJsonSchema({"type": "array", "items": NUMBER_SCHEMA, "minItems": 3, "maxItems": 4}),
]
Axis = Annotated[Triple, BeforeValidator(read_axis), WithJsonSchema(_AXIS)]
Rotation = Annotated[
    Quad,
    BeforeValidator(read_rotation),
    WithJsonSchema(
        {
            "anyOf": [{"const": "identity"}, _FOUR, _TURN],
            "description": "identity, [x, y, z, w] or axis_angle",
        }
    ),
]
Identifier = Annotated[str, Field(min_length=1)]
BodyName = Annotated[str | int, Field(description="id or label of a body, its index, or 'world'")]


class AxisAngle(Record):
    """A turn about an axis."""

    axis: Axis
    angle: Quantity = Field(description="angle [rad]")


class Turn(Record):
    """``{axis_angle: {axis, angle}}``."""

    axis_angle: AxisAngle


class TransformFields(Record):
    """A place and an orientation; missing parts are identity."""

    p: Vector = Field(default=(0.0, 0.0, 0.0), description="position [m]")
    q: Rotation = Field(default=IDENTITY_ROTATION, description="orientation")

    @model_validator(mode="before")
    @classmethod
    def _read_word(cls, value: Any) -> Any:
        if value is None or value == "identity":
            return {}
        if not isinstance(value, dict):
            raise refuse("has to be 'identity' or {p: [x, y, z], q: ...}")
        return value

    @property
    def seven(self) -> Seven:
        """Position, then quaternion x, y, z, w."""
        return (*self.p, *self.q)


IDENTITY = TransformFields()


class UnsupportedType(Record):
    """An element of a type nobody knows: an error, except in ``compat="sap"``, where it is recorded.

    ``what`` is the element, ``known`` the types there are.
    """

    what: ClassVar[str]
    known: ClassVar[tuple[str, ...]]
    model_config = ConfigDict(extra="allow", frozen=True)
    id: str = ""
    type: Any

    @field_validator("type")
    @classmethod
    def _refuse(cls, value: Any, info: ValidationInfo) -> Any:
        if not is_compat(info):
            raise refuse_word(value, cls.known)
        return value

    def list_unsupported(self) -> list[str]:
        """The type."""
        return [f"{self.what}[{self.id}] type={self.type}"]


def name_type(data: Any, known: tuple[str, ...]) -> str:
    """Which of the types a mapping is; ``unsupported`` if none."""
    kind = data.get("type") if isinstance(data, dict) else getattr(data, "type", None)
    return kind if kind in known else "unsupported"
