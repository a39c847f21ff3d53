# SPDX-License-Identifier: Apache-2.0
"""Settings of scene files: simulation, builder defaults, ground, replication, control."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, WithJsonSchema, model_validator

from simwright.core.documents.expressions import NUMBER_SCHEMA, read_number
from simwright.core.documents.record import Record, refuse, refuse_word
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


def check_preset(value: str) -> str:
    """SAP Warp's spellings of its presets."""
    word = value.strip().lower().replace("-", "_").replace("approx_", "approx")
    if word not in PRESETS:
        raise refuse_word(value, PRESETS)
    return word


PRESETS = ("approx32", "approx64", "drake")
Preset = Annotated[str, AfterValidator(check_preset)]
Precision = Literal["fp32", "f32", "fp64", "f64"]


class SolverOptions(Record):
    """Options of the SAP solver, by the names of SAP Warp's ``SolverSAP``; engines say which of them they use."""

    max_rigid_contact: int | None = Field(default=None, ge=0, description="most contacts of one world")
    fallback_mu: Quantity | None = Field(default=None, ge=0, description="friction of shapes that say none")
    fallback_stiffness: Quantity | None = Field(
        default=None, gt=0, description="stiffness of shapes that say none [N/m]"
    )
    contact_beta: Quantity | None = Field(default=None, ge=0, description="near-rigid threshold of contacts")
    contact_sigma: Quantity | None = Field(default=None, ge=0, description="regularisation of friction")
    contact_tau_d: Quantity | None = Field(
        default=None, ge=0, description="dissipation time of shapes that say none [s]"
    )
    block_size: int | None = Field(default=None, ge=1, description="block of the Cholesky factorisation")
    diag_shift: Quantity | None = Field(
        default=None, ge=0, description="added to the diagonal of the problem"
    )
    max_iterations: int | None = Field(default=None, ge=1, description="most iterations of a step")
    optimality_abs_tol: Quantity | None = Field(
        default=None, ge=0, description="absolute optimality tolerance"
    )
    optimality_rel_tol: Quantity | None = Field(
        default=None, ge=0, description="relative optimality tolerance"
    )
    cost_abs_tol: Quantity | None = Field(default=None, ge=0, description="absolute tolerance of the cost")
    cost_rel_tol: Quantity | None = Field(default=None, ge=0, description="relative tolerance of the cost")
    line_search_max_iterations: int | None = Field(default=None, ge=1, description="most trials along a line")
    armijo_c: Quantity | None = Field(default=None, gt=0, description="sufficient decrease of armijo_decay")
    rho: Quantity | None = Field(default=None, gt=0, lt=1, description="decay of armijo_decay")
    line_search_relative_slop: Quantity | None = Field(
        default=None, ge=0, description="flatness of armijo_decay"
    )
    line_search_variant: Literal["monotone_decay", "armijo_decay", "exact_root"] | None = Field(
        default=None, description="how a Newton step is accepted"
    )
    contact_preset_variant: Preset | None = Field(
        default=None, description="approx32, approx64 or drake: how the problem is discretised"
    )
    contact_weight_mode: Literal["body_inertia", "diag_delassus"] | None = Field(
        default=None, description="how contacts are weighed"
    )
    contact_point_mode: Literal["witness_point", "contact_midpoint"] | None = Field(
        default=None, description="where velocities of a contact are measured"
    )
    capture_contact_jacobian_snapshots: bool | None = Field(default=None, description="for looking inside")
    use_f64_boundary_pose: bool | None = Field(default=None, description="poses in double precision")
    free_motion_solve_precision: Precision | None = Field(default=None, description="of the free motion")
    contact_solve_precision: Precision | None = Field(default=None, description="of the contact problem")
    contact_linear_solve_precision: Precision | None = Field(
        default=None, description="of its linear systems"
    )
    sap_contact_weight_precision: Precision | None = Field(default=None, description="of contact weights")
    collect_iteration_stats: bool | None = Field(default=None, description="for looking inside")
    check_line_search_errors: bool | None = Field(default=None, description="raise where a line search fails")
    graph_conditional: bool | None = Field(default=None, description="true is all there is")
    position_integration: Literal["sap_euler", "midpoint"] | None = Field(
        default=None, description="how positions follow from velocities"
    )

    def list_said(self) -> dict[str, Any]:
        """The options that the file says."""
        return self.model_dump(exclude_none=True)


class SimulationSettings(Record):
    """How the scene is run."""

    dt: Quantity | None = Field(default=None, gt=0, description="time step [s]")
    num_worlds: Count | None = Field(default=None, description="number of worlds")
    max_rigid_contact: int | None = Field(default=None, ge=0, description="most contacts of one world")
    solver: SolverOptions = Field(default_factory=SolverOptions, description="options of the SAP solver")


class Defaults(Record):
    """What joints and shapes are created with."""

    joint: AxisFields = Field(
        default_factory=AxisFields, description="defaults of the degrees of freedom of joints"
    )
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
