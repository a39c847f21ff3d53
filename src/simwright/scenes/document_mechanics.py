# SPDX-License-Identifier: Apache-2.0
"""Inline bodies, joints, articulations and initial positions of scene files."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    Tag,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)

from simwright.core.documents.expressions import Number
from simwright.core.documents.record import Record, refuse, refuse_word
from simwright.scenes.document_shapes import AnyInlineShape, Material
from simwright.scenes.document_values import (
    IDENTITY,
    Axis,
    BodyName,
    Identifier,
    Length,
    Quantity,
    TransformFields,
    UnsupportedType,
    is_compat,
    name_type,
)

MODES = {"none": 0, "position": 1, "velocity": 2, "position_velocity": 3, "effort": 4}
"""Words for ``joint_target_mode``."""


def read_mode(value: Any) -> Any:
    """A mode as its number: a word, or the number itself."""
    # numbers may be written as strings everywhere in the format
    if isinstance(value, str) and not value.lstrip("-").isdigit():
        word = value.strip().lower()
        if word not in MODES:
            raise refuse_word(value, MODES)
        return MODES[word]
    return value


MODE_SCHEMA: dict[str, Any] = {
    "anyOf": [{"enum": list(MODES)}, {"type": "integer", "minimum": 0, "maximum": 4}]
}
Mode = Annotated[Annotated[int, Field(ge=0, le=4)], BeforeValidator(read_mode), WithJsonSchema(MODE_SCHEMA)]


class DofFields(Record):
    """Drive, stops and losses of a freedom; what is not said keeps its default."""

    target_pos: Quantity | None = Field(default=None, description="position target [m, rad]")
    target_vel: Quantity | None = Field(default=None, description="velocity target [m/s, rad/s]")
    target_ke: Quantity | None = Field(default=None, ge=0, description="position gain [N/m, N m/rad]")
    target_kd: Quantity | None = Field(default=None, ge=0, description="velocity gain [N s/m, N m s/rad]")
    limit_lower: Number | None = Field(default=None, description="lower stop [m, rad]")
    limit_upper: Number | None = Field(default=None, description="upper stop [m, rad]")
    limit_ke: Quantity | None = Field(default=None, ge=0, description="stiffness of the stops [N/m, N m/rad]")
    limit_kd: Quantity | None = Field(
        default=None, ge=0, description="damping of the stops [N s/m, N m s/rad]"
    )
    armature: Quantity | None = Field(
        default=None, ge=0, description="inertia added to the degree of freedom [kg, kg m^2]"
    )
    effort_limit: Number | None = Field(default=None, ge=0, description="largest effort [N, N m]")
    velocity_limit: Number | None = Field(default=None, ge=0, description="largest velocity [m/s, rad/s]")
    friction: Quantity | None = Field(default=None, ge=0, description="dry friction [N, N m]")
    actuator_mode: Mode | None = Field(
        default=None, description="none, position, velocity, position_velocity, effort, or 0 to 4"
    )

    def list_values(self) -> dict[str, Any]:
        """What is said, by field."""
        found = {
            name: getattr(self, name) for name in (*DofFields.model_fields, "axis") if hasattr(self, name)
        }
        return {name: value for name, value in found.items() if value is not None}

    @model_validator(mode="after")
    def _check_stops(self, info: ValidationInfo) -> DofFields:
        lower, upper = self.limit_lower, self.limit_upper
        # arrays of SAP Warp may hold such stops; a solver would then be pushed both ways
        if lower is not None and upper is not None and lower > upper and not is_compat(info):
            raise refuse(f"limit_lower {lower:g} is above limit_upper {upper:g}")
        return self


class AxisFields(DofFields):
    """A freedom along or about an axis."""

    axis: Axis | None = Field(
        default=None, description="direction in the joint frame: [x, y, z], x, y, z, or 0, 1, 2"
    )


class InlineBody(Material):
    """A rigid body.  Shapes add to its mass by their density."""

    id: Identifier = Field(description="name for joints and operations")
    label: str = Field(default="", description="name in the runtime; the id if not said")
    transform: TransformFields = Field(default=IDENTITY, description="pose")
    mass: Quantity = Field(default=0.0, ge=0, description="mass without shapes [kg]")
    shapes: list[AnyInlineShape] = Field(default_factory=list, description="its shapes")


class JointBase(Record):
    """What every inline joint has."""

    id: Identifier = Field(description="name for articulations, positions and operations")
    label: str = Field(default="", description="name in the runtime; the id if not said")
    parent: BodyName = Field(default="world", description="parent body, or world")
    child: BodyName = Field(description="child body")
    parent_xform: TransformFields = Field(default=IDENTITY, description="joint frame in the parent body")
    child_xform: TransformFields = Field(default=IDENTITY, description="joint frame in the child body")
    collision_filter_parent: bool = Field(default=True, description="no contact between parent and child")


class FixedJoint(JointBase):
    """No freedom."""

    type: Literal["fixed"]


class FreeJoint(JointBase):
    """Six freedoms."""

    type: Literal["free"]


class RevoluteJoint(AxisFields, JointBase):
    """One turn about an axis."""

    type: Literal["revolute"]


class PrismaticJoint(AxisFields, JointBase):
    """One slide along an axis."""

    type: Literal["prismatic"]


class BallJoint(DofFields, JointBase):
    """Three turns; drive, armature and friction are the same for all."""

    type: Literal["ball"]


class DistanceJoint(JointBase):
    """Two frames kept within a distance of each other."""

    type: Literal["distance"]
    min_distance: Length | None = Field(default=None, ge=0, description="least distance [m]")
    max_distance: Length | None = Field(default=None, ge=0, description="largest distance [m]")


class D6Joint(JointBase):
    """Any slides, then any turns, each with an axis of its own."""

    type: Literal["d6"]
    linear_axes: list[AxisFields] = Field(default_factory=list, max_length=3, description="slides")
    angular_axes: list[AxisFields] = Field(default_factory=list, max_length=3, description="turns")


JOINTS = ("fixed", "free", "revolute", "prismatic", "ball", "d6", "distance")


class UnsupportedJoint(UnsupportedType):
    """A type nobody knows: an error, except in ``compat="sap"``, where it is recorded."""

    what = "joint"
    known = JOINTS


def name_joint(data: Any) -> str:
    """Which of the types a mapping is."""
    return name_type(data, JOINTS)


InlineJoint = Annotated[
    Annotated[FixedJoint, Tag("fixed")]
    | Annotated[FreeJoint, Tag("free")]
    | Annotated[RevoluteJoint, Tag("revolute")]
    | Annotated[PrismaticJoint, Tag("prismatic")]
    | Annotated[BallJoint, Tag("ball")]
    | Annotated[D6Joint, Tag("d6")]
    | Annotated[DistanceJoint, Tag("distance")]
    | Annotated[UnsupportedJoint, Tag("unsupported")],
    Discriminator(name_joint),
]
"""One inline joint, told apart by its type."""


class InlineArticulation(Record):
    """Joints that are solved together, parents before children."""

    id: str = Field(default="", description="name of the articulation")
    label: str = Field(default="", description="name in the runtime; the id if not said")
    joints: list[Identifier] = Field(min_length=1, description="ids of inline joints")


class InitialPosition(Record):
    """One entry of ``joint_q``: by index, or by joint and offset in it."""

    index: int | None = Field(default=None, description="entry of joint_q; negative counts from the end")
    joint: str | int | None = Field(default=None, description="id or label of a joint")
    joint_label: str | int | None = Field(default=None, description="the same as joint")
    offset: int = Field(default=0, ge=0, description="entry within the joint")
    value: Quantity = Field(description="position [m, rad]")

    @model_validator(mode="after")
    def _check_one(self, info: ValidationInfo) -> InitialPosition:
        given = [name for name in ("index", "joint", "joint_label") if getattr(self, name) is not None]
        if not given or (len(given) > 1 and not is_compat(info)):
            raise refuse("has to say one of 'index' and 'joint'")
        return self

    @property
    def reference(self) -> str | int | None:
        """The joint that is meant."""
        return self.joint if self.joint is not None else self.joint_label
