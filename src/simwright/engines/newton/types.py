# SPDX-License-Identifier: Apache-2.0
"""The parts of Newton's ``ModelBuilder`` that are used here, as a type; Newton itself is imported when it is needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from simwright.model.flat_joints import FlatBuilder


class CustomFrequency(Protocol):
    """Rows that a solver keeps beside the elements, such as tendons."""

    usd_prim_filter: Any
    usd_entry_expander: Callable[[Any, dict[str, Any]], Any] | None


class CustomValues(Protocol):
    """A custom attribute of a builder and its values: by index, or a list with an entry for each row."""

    key: str
    frequency: Any
    usd_attribute_name: str | None
    dtype: Any
    values: Any


class ModelBuilder(FlatBuilder, Protocol):
    """``newton.ModelBuilder``: lists with an entry for each element, and methods that add one and give its index.

    Poses and vectors in the lists are Warp's; numbers of kinds and modes are those of Newton's enumerations.
    """

    gravity: Any
    world_gravity: list[Any]
    current_world: int
    up_vector: Sequence[float]
    rigid_gap: float
    body_q: list[Any]
    body_com: list[Any]
    up_axis: Any
    body_label: list[str]
    articulation_label: list[str]
    body_lock_inertia: list[bool]
    joint_type: list[Any]
    joint_child: list[int]
    joint_articulation: list[int]
    joint_effort_limit: list[float]
    joint_limit_ke: list[float]
    joint_limit_lower: list[float]
    joint_limit_upper: list[float]
    joint_limit_kd: list[float]
    articulation_end: list[int]
    shape_flags: list[int]
    shape_color: list[Any]
    shape_opacity: list[float]
    shape_collision_radius: list[float]
    shape_collision_filter_pairs: list[tuple[int, int]]
    shape_sdf_max_resolution: list[int | None]
    shape_sdf_target_voxel_size: list[float | None]
    shape_sdf_narrow_band_range: list[tuple[float, float]]
    shape_sdf_texture_format: list[str]
    shape_sdf_padding: list[float | None]
    custom_attributes: dict[str, CustomValues]
    custom_frequencies: dict[str, CustomFrequency]
    default_shape_cfg: Any
    default_joint_cfg: Any

    @property
    def body_count(self) -> int: ...  # noqa: D102 - Newton's
    @property
    def joint_dof_count(self) -> int: ...  # noqa: D102 - Newton's
    @property
    def joint_coord_count(self) -> int: ...  # noqa: D102 - Newton's
    @property
    def articulation_count(self) -> int: ...  # noqa: D102 - Newton's
    def add_link(self, **values: Any) -> int: ...  # noqa: D102 - Newton's
    def add_shape(self, **values: Any) -> int: ...  # noqa: D102 - Newton's
    def add_shape_gaussian(self, body: int, **values: Any) -> int: ...  # noqa: D102 - Newton's
    def add_site(self, body: int, **values: Any) -> int: ...  # noqa: D102 - Newton's
    def add_joint(self, *kind_and_ends: Any, **values: Any) -> int: ...  # noqa: D102 - Newton's
    def add_joint_fixed(self, *ends: int, **values: Any) -> int: ...  # noqa: D102 - Newton's
    def add_joint_ball(self, *ends: int, **values: Any) -> int: ...  # noqa: D102 - Newton's
    def add_joint_free(self, *child: int, **values: Any) -> int: ...  # noqa: D102 - Newton's
    def add_joint_distance(self, **values: Any) -> int: ...  # noqa: D102 - Newton's
    def add_joint_revolute(self, **values: Any) -> int: ...  # noqa: D102 - Newton's
    def add_joint_prismatic(self, **values: Any) -> int: ...  # noqa: D102 - Newton's
    def add_joint_d6(self, **values: Any) -> int: ...  # noqa: D102 - Newton's
    def set_joint_mimic(self, follower: int, leader: int, *, coeffs: tuple[float, float]) -> None: ...  # noqa: D102
    def add_articulation(self, joints: list[int], *, label: str) -> None: ...  # noqa: D102 - Newton's
    def add_shape_collision_filter_pair(self, a: int, b: int) -> None: ...  # noqa: D102 - Newton's
    def approximate_meshes(self, **values: Any) -> None: ...  # noqa: D102 - Newton's
    def collapse_fixed_joints(self) -> dict[str, dict[int, int]]: ...  # noqa: D102 - Newton's
    def has_custom_attribute(self, key: str) -> bool: ...  # noqa: D102 - Newton's
    def add_custom_attribute(self, attribute: Any) -> None: ...  # noqa: D102 - Newton's
    def add_actuator(self, drive: Any, **values: Any) -> None: ...  # noqa: D102 - Newton's
    def add_custom_values(self, **values: Any) -> None: ...  # noqa: D102 - Newton's
    def add_world(self, builder: ModelBuilder) -> None: ...  # noqa: D102 - Newton's
    def finalize(self, *, device: str) -> Any: ...  # noqa: D102 - Newton's
