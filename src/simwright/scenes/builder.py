# SPDX-License-Identifier: Apache-2.0
"""The builder: one world being put together, as growing lists with the names of the arrays they become.

Operations edit the lists freely; indices are those of the arrays.  Poses are seven numbers: position [m], quaternion
x, y, z, w.  The world as a parent or body is -1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from simwright.core.diag import Where
from simwright.core.errors import UsageError
from simwright.core.math3d import Array, Seven, pose_from_seven, pose_to_seven, vec3
from simwright.model.geometry import Geometry
from simwright.model.inertia import Inertial, combine
from simwright.runtime.custom import CustomArray
from simwright.runtime.kinds import COORDINATES, FREEDOMS, BodyFlag, JointType, ShapeType, TargetMode
from simwright.scenes.builder_config import FREE_DOF, NO_BOUND, NO_LIMIT, DofConfig, ShapeConfig, as_number
from simwright.scenes.builder_shape import measure_radius, weigh_shape

Triple: TypeAlias = tuple[float, float, float]
IDENTITY_SEVEN: Seven = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
_AXES: tuple[Triple, ...] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@dataclass(eq=False)
class Builder:
    """Lists by array name (see ``runtime.model``), defaults, and the table of inline names.

    ``compat`` is "sap" for data as SAP Warp computes it, None for what is right.  ``gravity`` is along Z [m/s^2], or a
    vector; ``gravity_said`` keeps that of assets out.  ``body_ids`` and ``joint_ids`` find what a scene file names
    inline, ``joint_where`` the lines of joints.  ``filter_groups`` are lists of shapes that never touch each other.
    ``joint_q_edited`` tells that poses follow from joint coordinates.
    """

    compat: str | None = None
    gravity: float | Sequence[float] = -9.81
    gravity_said: bool = False
    rigid_gap: float = 0.1
    default_body_armature: float = 0.0
    default_shape: ShapeConfig = field(default_factory=ShapeConfig)
    default_joint: DofConfig = field(default_factory=DofConfig)

    body_q: list[Seven] = field(default_factory=list)
    body_qd: list[tuple[float, ...]] = field(default_factory=list)
    body_mass: list[float] = field(default_factory=list)
    body_com: list[Triple] = field(default_factory=list)
    body_inertia: list[Array] = field(default_factory=list)
    body_gravity_scale: list[float] = field(default_factory=list)
    body_flags: list[int] = field(default_factory=list)
    body_label: list[str] = field(default_factory=list)
    body_locked: list[bool] = field(default_factory=list)
    body_own: list[Inertial] = field(default_factory=list)

    joint_type: list[int] = field(default_factory=list)
    joint_parent: list[int] = field(default_factory=list)
    joint_child: list[int] = field(default_factory=list)
    joint_articulation: list[int] = field(default_factory=list)
    joint_X_p: list[Seven] = field(default_factory=list)  # noqa: N815 - Newton's name
    joint_X_c: list[Seven] = field(default_factory=list)  # noqa: N815 - Newton's name
    joint_dof_dim: list[tuple[int, int]] = field(default_factory=list)
    joint_q_start: list[int] = field(default_factory=list)
    joint_qd_start: list[int] = field(default_factory=list)
    joint_enabled: list[bool] = field(default_factory=list)
    joint_collision_filter_parent: list[bool] = field(default_factory=list)
    joint_mimic_joint: list[int] = field(default_factory=list)
    joint_mimic_coeffs: list[tuple[float, float]] = field(default_factory=list)
    joint_label: list[str] = field(default_factory=list)

    joint_q: list[float] = field(default_factory=list)
    joint_qd: list[float] = field(default_factory=list)
    joint_f: list[float] = field(default_factory=list)
    joint_act: list[float] = field(default_factory=list)
    joint_axis: list[Triple] = field(default_factory=list)
    joint_target_pos: list[float] = field(default_factory=list)
    joint_target_vel: list[float] = field(default_factory=list)
    joint_target_ke: list[float] = field(default_factory=list)
    joint_target_kd: list[float] = field(default_factory=list)
    joint_target_mode: list[int] = field(default_factory=list)
    joint_armature: list[float] = field(default_factory=list)
    joint_friction: list[float] = field(default_factory=list)
    joint_damping: list[float] = field(default_factory=list)
    joint_spring_ke: list[float] = field(default_factory=list)
    joint_spring_ref: list[float] = field(default_factory=list)
    joint_effort_limit: list[float] = field(default_factory=list)
    joint_velocity_limit: list[float] = field(default_factory=list)
    joint_limit_lower: list[float] = field(default_factory=list)
    joint_limit_upper: list[float] = field(default_factory=list)
    joint_limit_ke: list[float] = field(default_factory=list)
    joint_limit_kd: list[float] = field(default_factory=list)

    articulation_start: list[int] = field(default_factory=list)
    articulation_label: list[str] = field(default_factory=list)

    shape_type: list[int] = field(default_factory=list)
    shape_body: list[int] = field(default_factory=list)
    shape_transform: list[Seven] = field(default_factory=list)
    shape_scale: list[Triple] = field(default_factory=list)
    shape_source: list[Geometry | None] = field(default_factory=list)
    shape_flags: list[int] = field(default_factory=list)
    shape_is_solid: list[bool] = field(default_factory=list)
    shape_margin: list[float] = field(default_factory=list)
    shape_gap: list[float] = field(default_factory=list)
    shape_material_ke: list[float] = field(default_factory=list)
    shape_material_tau: list[float] = field(default_factory=list)
    shape_material_mu: list[float] = field(default_factory=list)
    shape_material_restitution: list[float] = field(default_factory=list)
    shape_material_mu_torsional: list[float] = field(default_factory=list)
    shape_material_mu_rolling: list[float] = field(default_factory=list)
    shape_material_kh: list[float] = field(default_factory=list)
    shape_collision_group: list[int] = field(default_factory=list)
    shape_collision_radius: list[float] = field(default_factory=list)
    shape_collision_filter_parent: list[bool] = field(default_factory=list)
    shape_max_hull_vertices: list[int] = field(default_factory=list)
    shape_sdf_narrow_band_range: list[tuple[float, float]] = field(default_factory=list)
    shape_sdf_target_voxel_size: list[float] = field(default_factory=list)
    shape_sdf_max_resolution: list[int] = field(default_factory=list)
    shape_density: list[float] = field(default_factory=list)
    shape_label: list[str] = field(default_factory=list)
    shape_color: list[Triple | None] = field(default_factory=list)
    shape_look: dict[int, tuple[str, Mapping[str, Any]]] = field(default_factory=dict)

    shape_collision_filter_pairs: set[tuple[int, int]] = field(default_factory=set)
    filter_groups: list[list[int]] = field(default_factory=list)
    custom: dict[str, CustomArray] = field(default_factory=dict)
    body_ids: dict[str, int] = field(default_factory=dict)
    joint_ids: dict[str, int] = field(default_factory=dict)
    joint_where: dict[int, Where] = field(default_factory=dict)
    joint_q_edited: bool = False

    @property
    def body_count(self) -> int:
        """Bodies so far."""
        return len(self.body_q)

    @property
    def joint_count(self) -> int:
        """Joints so far."""
        return len(self.joint_type)

    @property
    def shape_count(self) -> int:
        """Shapes so far."""
        return len(self.shape_type)

    @property
    def articulation_count(self) -> int:
        """Articulations so far."""
        return len(self.articulation_start)

    def add_body(
        self,
        label: str,
        pose: Seven = IDENTITY_SEVEN,
        own: Inertial | None = None,
        *,
        locked: bool = False,
        kinematic: bool = False,
        velocity: tuple[float, ...] = (0.0,) * 6,
        gravity_scale: float = 1.0,
    ) -> int:
        """A body; ``own`` is its mass without shapes, and all of it if ``locked``.  Gives its index."""
        # the armature counts for bodies whose mass is still open: SAP Warp loses it where a file states the inertia
        own = own or Inertial(0.0)
        if not locked and self.default_body_armature:
            own = Inertial(own.mass, own.com, own.inertia + np.eye(3) * self.default_body_armature)
        self.body_q.append(pose)
        self.body_qd.append(velocity)
        self.body_mass.append(0.0)
        self.body_com.append((0.0, 0.0, 0.0))
        self.body_inertia.append(np.zeros((3, 3)))
        self.body_gravity_scale.append(gravity_scale)
        self.body_flags.append(int(BodyFlag.KINEMATIC if kinematic else BodyFlag.DYNAMIC))
        self.body_label.append(label)
        self.body_locked.append(locked)
        self.body_own.append(own)
        index = self.body_count - 1
        self._put_inertial(index, own)
        return index

    def add_shape(
        self,
        body: int,
        kind: ShapeType,
        scale: Triple,
        *,
        pose: Seven = IDENTITY_SEVEN,
        source: Geometry | None = None,
        config: ShapeConfig | None = None,
        label: str = "",
        color: Triple | None = None,
        max_hull_vertices: int | None = None,
    ) -> int:
        """A shape on a body or the world (-1); its density weighs on the body unless that is locked."""
        config = config or self.default_shape
        index = self.shape_count
        self.shape_type.append(int(kind))
        self.shape_body.append(body)
        self.shape_transform.append(pose)
        self.shape_scale.append(scale)
        self.shape_source.append(source)
        self.shape_flags.append(config.flags)
        self.shape_is_solid.append(config.is_solid)
        self.shape_margin.append(config.margin)
        # a gap that is not said becomes a number now: later changes of rigid_gap do not reach shapes that are there
        self.shape_gap.append(self.rigid_gap if config.gap is None else config.gap)
        self.shape_material_ke.append(config.ke)
        self.shape_material_tau.append(as_number(config.tau))
        self.shape_material_mu.append(config.mu)
        self.shape_material_restitution.append(config.restitution)
        self.shape_material_mu_torsional.append(config.mu_torsional)
        self.shape_material_mu_rolling.append(config.mu_rolling)
        self.shape_material_kh.append(config.kh)
        self.shape_collision_group.append(config.collision_group)
        self.shape_collision_radius.append(measure_radius(kind, scale, source))
        self.shape_collision_filter_parent.append(config.collision_filter_parent)
        self.shape_max_hull_vertices.append(-1 if max_hull_vertices is None else max_hull_vertices)
        self.shape_sdf_narrow_band_range.append(config.sdf_narrow_band_range)
        self.shape_sdf_target_voxel_size.append(as_number(config.sdf_target_voxel_size))
        self.shape_sdf_max_resolution.append(config.sdf_max_resolution or 0)
        self.shape_density.append(config.density)
        self.shape_label.append(label or f"shape_{index}")
        self.shape_color.append(color)
        # mass is kept up to date shape by shape, so that operations between see what a body weighs so far
        if body >= 0 and config.density > 0.0 and not self.body_locked[body]:
            self._put_inertial(body, combine((self._inertial(body), self._weigh(index))))
        return index

    def resize_shape(self, index: int, scale: Triple) -> None:
        """Another size; collision radius and mass of the body follow, except in ``compat`` "sap"."""
        self.shape_scale[index] = scale
        # measured: SAP Warp's scale_sphere_shapes leaves collision radius and mass as they were
        if self.compat == "sap":
            return
        self.measure_shape(index)

    def measure_shape(self, index: int) -> None:
        """Bring collision radius and mass up to date after an edit of type, size or source."""
        kind = ShapeType(self.shape_type[index])
        self.shape_collision_radius[index] = measure_radius(
            kind, self.shape_scale[index], self.shape_source[index]
        )
        if self.shape_body[index] >= 0:
            self.weigh_body(self.shape_body[index])

    def weigh_body(self, body: int) -> None:
        """Mass of a body anew: its own and that of its shapes; nothing is done to locked bodies."""
        if self.body_locked[body]:
            return
        # from scratch: taking the old shape's share away again would leave rounding behind
        parts = [self.body_own[body]]
        for index, on in enumerate(self.shape_body):
            if on == body and self.shape_density[index] > 0.0:
                parts.append(self._weigh(index))
        self._put_inertial(body, combine(parts))

    def add_joint(
        self,
        kind: JointType,
        parent: int,
        child: int,
        *,
        parent_xform: Seven = IDENTITY_SEVEN,
        child_xform: Seven = IDENTITY_SEVEN,
        label: str = "",
        linear: Sequence[DofConfig] = (),
        angular: Sequence[DofConfig] = (),
        filter_parent: bool = True,
        enabled: bool = True,
    ) -> int:
        """A joint; ``linear`` and ``angular`` are its axes where the kind has any (prismatic, revolute, d6, ball).

        Coordinates of free and distance joints start at the pose of the child against the parent frame.
        """
        index = self.joint_count
        # a bad index would only show as a wrong pose much later
        if not -1 <= parent < self.body_count or not 0 <= child < self.body_count or parent == child:
            raise UsageError(f"joint {label or index} leads from body {parent} to body {child}")
        dofs = _settle_dofs(kind, linear, angular)
        # only a D6 has as many freedoms as it has axes; the others have a fixed number
        dim = FREEDOMS.get(kind, (len(linear), len(angular)))
        assert len(dofs) == sum(dim), "axes do not fit the kind of joint"
        self.joint_type.append(int(kind))
        self.joint_parent.append(parent)
        self.joint_child.append(child)
        self.joint_articulation.append(-1)
        self.joint_X_p.append(parent_xform)
        self.joint_X_c.append(child_xform)
        self.joint_dof_dim.append(dim)
        self.joint_q_start.append(len(self.joint_q))
        self.joint_qd_start.append(len(self.joint_qd))
        self.joint_enabled.append(enabled)
        self.joint_collision_filter_parent.append(filter_parent)
        self.joint_mimic_joint.append(-1)
        self.joint_mimic_coeffs.append((0.0, 1.0))
        self.joint_label.append(label or f"joint_{index}")
        # after the joint's own rows: the start of a free joint is read from them
        self.joint_q.extend(self._start(index, len(dofs)))
        for dof in dofs:
            self._add_dof(dof)
        return index

    def add_articulation(self, joints: Sequence[int], label: str) -> int:
        """Make joints that stand side by side one articulation; gives its index."""
        # articulations are stored as the index of their first joint, as in Newton: gaps could not be told
        joints = sorted(joints)
        if not joints or joints != list(range(joints[0], joints[0] + len(joints))):
            raise UsageError(f"the joints of articulation {label!r} do not stand side by side")
        index = self.articulation_count
        self.articulation_start.append(joints[0])
        self.articulation_label.append(label)
        for joint in joints:
            self.joint_articulation[joint] = index
        return index

    def sort_articulations(self) -> None:
        """Number articulations in the order of their joints."""
        # articulations made for left-over joints are added last but may stand before others in joint order
        order = sorted(range(self.articulation_count), key=self.articulation_start.__getitem__)
        place = {old: new for new, old in enumerate(order)}
        self.articulation_start = [self.articulation_start[old] for old in order]
        self.articulation_label = [self.articulation_label[old] for old in order]
        self.joint_articulation = [place.get(number, -1) for number in self.joint_articulation]

    def filter_pair(self, a: int, b: int) -> None:
        """Shapes ``a`` and ``b`` never touch."""
        self.shape_collision_filter_pairs.add((min(a, b), max(a, b)))

    def dofs_of(self, joint: int) -> range:
        """Entries of a joint in ``joint_qd`` and all that counts over freedoms."""
        start = self.joint_qd_start[joint]
        return range(start, start + sum(self.joint_dof_dim[joint]))

    def coords_of(self, joint: int) -> range:
        """Entries of a joint in ``joint_q``."""
        after = joint + 1
        end = self.joint_q_start[after] if after < self.joint_count else len(self.joint_q)
        return range(self.joint_q_start[joint], end)

    def _add_dof(self, dof: DofConfig) -> None:
        self.joint_qd.append(0.0)
        self.joint_f.append(0.0)
        self.joint_act.append(0.0)
        self.joint_axis.append(dof.axis)
        self.joint_target_pos.append(dof.target_pos)
        self.joint_target_vel.append(dof.target_vel)
        self.joint_target_ke.append(dof.target_ke)
        self.joint_target_kd.append(dof.target_kd)
        self.joint_target_mode.append(int(TargetMode(dof.actuator_mode)))
        self.joint_armature.append(dof.armature)
        self.joint_friction.append(dof.friction)
        self.joint_damping.append(dof.damping)
        self.joint_spring_ke.append(dof.spring_ke)
        self.joint_spring_ref.append(dof.spring_ref)
        self.joint_effort_limit.append(dof.effort_limit)
        self.joint_velocity_limit.append(dof.velocity_limit)
        self.joint_limit_lower.append(dof.limit_lower)
        self.joint_limit_upper.append(dof.limit_upper)
        self.joint_limit_ke.append(dof.limit_ke)
        self.joint_limit_kd.append(dof.limit_kd)

    def _start(self, joint: int, axes: int) -> Iterable[float]:
        """The coordinates at which the bodies of a joint are where they are, or zero."""
        kind, parent = JointType(self.joint_type[joint]), self.joint_parent[joint]
        if kind in (JointType.FREE, JointType.DISTANCE):
            # SAP Warp seeds the seven coordinates from the child's pose as well
            above = pose_from_seven(self.body_q[parent] if parent >= 0 else IDENTITY_SEVEN)
            child = pose_from_seven(self.body_q[self.joint_child[joint]]) @ pose_from_seven(
                self.joint_X_c[joint]
            )
            return pose_to_seven(~(above @ pose_from_seven(self.joint_X_p[joint])) @ child)
        if kind is JointType.BALL:
            return (0.0, 0.0, 0.0, 1.0)
        return (0.0,) * COORDINATES.get(kind, axes)

    def _weigh(self, index: int) -> Inertial:
        return weigh_shape(
            ShapeType(self.shape_type[index]),
            self.shape_scale[index],
            self.shape_source[index],
            density=self.shape_density[index],
            thickness=None if self.shape_is_solid[index] else self.shape_margin[index],
        ).moved(pose_from_seven(self.shape_transform[index]))

    def _inertial(self, body: int) -> Inertial:
        return Inertial(self.body_mass[body], vec3(self.body_com[body]), self.body_inertia[body])

    def _put_inertial(self, body: int, inertial: Inertial) -> None:
        self.body_mass[body] = float(inertial.mass)
        x, y, z = (float(v) for v in inertial.com)
        self.body_com[body] = (x, y, z)
        self.body_inertia[body] = inertial.inertia


def _settle_dofs(
    kind: JointType, linear: Sequence[DofConfig], angular: Sequence[DofConfig]
) -> list[DofConfig]:
    """The freedoms of a joint: its axes, or those that all joints of its kind have."""
    if kind in (JointType.FREE, JointType.DISTANCE):
        # stops of a distance joint come on its first axis, the axes themselves are the same for all such joints
        given = [*linear, *angular] or [FREE_DOF] * 6
        return [dof.with_values({"axis": _AXES[i % 3]}) for i, dof in enumerate(given)]
    if kind is JointType.BALL:
        # one description stands for all three freedoms of a ball
        given = list(angular) or [DofConfig(limit_lower=-NO_LIMIT, effort_limit=NO_BOUND)]
        return [given[min(i, len(given) - 1)].with_values({"axis": axis}) for i, axis in enumerate(_AXES)]
    return [*linear, *angular]


def as_vector(gravity: Any) -> Array:
    """Gravity as a vector [m/s^2]: a number is along Z."""
    values = np.asarray(gravity, dtype=np.float64)
    return vec3(0.0, 0.0, float(values)) if values.ndim == 0 else vec3(values)
