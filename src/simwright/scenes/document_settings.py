# SPDX-License-Identifier: Apache-2.0
"""Settings of scene files: simulation, builder defaults, ground, replication, control."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, WithJsonSchema, model_validator

from simwright.core.documents.expressions import NUMBER_SCHEMA, read_number
from simwright.core.documents.record import Record, refuse
from simwright.scenes.document_mechanics import AxisFields
from simwright.scenes.document_shapes import Material, ShapeFields
from simwright.scenes.document_values import Color, Length, Quantity, Vector, is_compat, read_triple

MAX_WORLDS = 1_000_000


def check_count(value: int, info: ValidationInfo) -> int:
    """A number of worlds; SAP Warp takes less than one for one."""
    if value < 1:
        if is_compat(info):
            return 1
        raise refuse(f"has to be at least 1, not {value}")
    if value > MAX_WORLDS:
        raise refuse(f"has to be at most {MAX_WORLDS}, not {value}")
    return value


Count = Annotated[int, AfterValidator(check_count)]


def read_gravity(value: Any) -> Any:
    """A number along z, or a vector."""
    return read_triple(value) if isinstance(value, list | tuple) else read_number(value)


GRAVITY_SCHEMA: dict[str, Any] = {
    "anyOf": [NUMBER_SCHEMA, {"type": "array", "items": NUMBER_SCHEMA, "minItems": 3, "maxItems": 3}]
}
Gravity = Annotated[
    Quantity | tuple[Quantity, Quantity, Quantity],
    BeforeValidator(read_gravity),
    WithJsonSchema(GRAVITY_SCHEMA),
]


class SimulationSettings(Record):
    """How the scene is run."""

    dt: Quantity | None = Field(default=None, gt=0, description="time step [s]")
    num_worlds: Count | None = Field(default=None, description="number of worlds")
    max_rigid_contact: int | None = Field(default=None, ge=0, description="most contacts of one world")
    solver: dict[str, Any] = Field(
        default_factory=dict, description="options of the solver, handed to it as they are"
    )


class Defaults(Record):
    """What joints and shapes are created with."""

    joint: AxisFields = Field(default_factory=AxisFields, description="defaults of joint freedoms")
    shape: ShapeFields = Field(default_factory=ShapeFields, description="defaults of shapes")


class BuilderSettings(Record):
    """Defaults of what is built."""

    gravity: Gravity | None = Field(default=None, description="gravity along z, or a vector [m/s^2]")
    rigid_gap: Length | None = Field(default=None, ge=0, description="gap of shapes that have none [m]")
    default_body_armature: Quantity | None = Field(
        default=None, ge=0, description="added to the inertia diagonal of bodies [kg m^2]"
    )
    register_mujoco_custom_attributes: bool | None = Field(
        default=None, description="has no effect: they are always read"
    )
    defaults: Defaults = Field(default_factory=Defaults, description="defaults of joints and shapes")


class Ground(Material):
    """A plane without end, shared by all worlds; true, false and null are short for enabled."""

    enabled: bool = Field(default=True, description="is there a ground?")
    height: Length = Field(default=0.0, description="height [m]")
    label: str = Field(default="ground_plane", description="name of the shape")
    color: Color | None = Field(default=None, description="[red, green, blue]")

    @model_validator(mode="before")
    @classmethod
    def _read_switch(cls, value: Any) -> Any:
        if value is None or isinstance(value, bool):
            return {"enabled": value is not False}
        return value


class Replicate(Record):
    """Copies of the authored world."""

    num_worlds: Count | None = Field(
        default=None, description="number of worlds; simulation.num_worlds is stronger"
    )
    spacing: Vector | None = Field(
        default=None, description="distance of the worlds along each axis [m]; [2, 2, 0] if not said"
    )


class ControlSource(Record):
    """Position targets over time, from a file beside the scene."""

    source: str = Field(min_length=1, description="JSON or YAML file, relative to the scene")
    loop: bool = Field(default=False, description="begin again at the end, or hold the last targets")
