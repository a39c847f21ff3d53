# SPDX-License-Identifier: Apache-2.0
"""A Newton model from runtime arrays: one world filled into a builder, then copied to its places.

Bodies and joints keep their order, so coordinates, velocities and poses have the same rows on both sides.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simwright.core.diag import Reporter
from simwright.core.errors import MissingExtraError
from simwright.engines.messages import SHAPE_NOT_SUPPORTED, Teller
from simwright.engines.newton.messages import GRAVITY_SCALE, SPRING_LOST
from simwright.engines.world import OneWorld, take_world
from simwright.model.geometry import Heightfield, Mesh
from simwright.runtime.kinds import BodyFlag, JointType, ShapeFlag, ShapeType
from simwright.runtime.model import Model

_TAU = 0.01
_FLOATS = (JointType.FREE, JointType.DISTANCE)
_GRAVITY_COMPENSATION = "mujoco:gravcomp"
_STIFFNESS, _REFERENCE = "mujoco:dof_passive_stiffness", "mujoco:dof_springref"


def import_newton() -> Any:
    """Newton, or the line that installs it."""
    try:
        import newton
        import warp
    except ImportError:
        raise MissingExtraError("newton", "newton", "running by Newton") from None
    warp.config.quiet = True
    return newton


def build_newton(model: Model, device: str, reporter: Reporter, *, register: bool) -> Any:
    """A finalised ``newton.Model``; ``register`` adds the attributes that its MuJoCo solver reads."""
    newton = import_newton()
    world = take_world(model)
    filler = _Filler(newton, model, world, reporter, register=register)
    one, whole = filler.new_builder(), filler.new_builder()
    filler.fill(one)
    for offset in model.world_offset.tolist():
        whole.add_world(one, xform=(*offset, 0.0, 0.0, 0.0, 1.0))
    for shape in range(world.local_shapes, len(world.shape_type)):
        filler.add_shape(whole, shape, shift=world.offset)
    finished = whole.finalize(device=device)
    finished.set_gravity([tuple(row) for row in model.gravity.tolist()])
    return finished


class _Filler:
    def __init__(
        self, newton: Any, model: Model, world: OneWorld, reporter: Reporter, *, register: bool
    ) -> None:
        self._newton, self._model, self._world = newton, model, world
        self._reporter = reporter
        self._register = register
        self._sources: dict[int, Any] = {}
        self._shapes = Teller(model.shape_label, reporter)

    def new_builder(self) -> Any:
        """A builder that knows the attributes of the solver."""
        builder = self._newton.ModelBuilder()
        builder.gravity = tuple(float(v) for v in self._world.gravity)
        builder.rigid_gap = 0.0
        if self._register:
            self._newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
        return builder

    def fill(self, builder: Any) -> None:
        """Everything of one world."""
        world = self._world
        for body in range(world.body_count):
            self._add_body(builder, body)
        for joint in range(world.joint_count):
            self._add_joint(builder, joint)
        for number in range(len(self._model.articulation_label.local)):
            members = np.flatnonzero(world.joint_articulation == number).tolist()
            builder.add_articulation(members, label=self._model.articulation_label.local[number])
        for shape in range(world.local_shapes):
            self.add_shape(builder, shape)
        for a, b in self._model.shape_filters.local.tolist():
            builder.add_shape_collision_filter_pair(a, b)
        for joint in np.flatnonzero(world.joint_mimic_joint >= 0).tolist():
            offset, factor = (float(v) for v in world.joint_mimic_coeffs[joint])
            builder.add_constraint_mimic(joint, int(world.joint_mimic_joint[joint]), offset, factor)
        builder.joint_q[:] = _as_floats(world.joint_q)
        builder.joint_qd[:] = _as_floats(world.joint_qd)

    def _add_body(self, builder: Any, body: int) -> None:
        world = self._world
        builder.add_link(
            xform=_as_floats(world.body_q[body]),
            com=_as_floats(world.body_com[body]),
            inertia=[_as_floats(row) for row in world.body_inertia[body]],
            mass=float(world.body_mass[body]),
            label=self._model.body_label.local[body],
            lock_inertia=True,
            is_kinematic=bool(world.body_flags[body] & BodyFlag.KINEMATIC),
        )
        scale = float(world.body_gravity_scale[body])
        if scale == 1.0:
            return
        if builder.has_custom_attribute(_GRAVITY_COMPENSATION):
            builder.custom_attributes[_GRAVITY_COMPENSATION].values[body] = 1.0 - scale
        else:
            self._reporter.report(GRAVITY_SCALE, name=self._model.body_label.local[body], scale=scale)

    def _add_joint(self, builder: Any, joint: int) -> None:
        world = self._world
        slides = int(world.joint_dof_dim[joint][0])
        axes = [self._make_axis(dof) for dof in world.dofs_of(joint)]
        kind = JointType(int(world.joint_type[joint]))
        builder.add_joint(
            self._newton.JointType(int(kind)),
            int(world.joint_parent[joint]),
            int(world.joint_child[joint]),
            linear_axes=axes[:slides],
            angular_axes=axes[slides:],
            label=self._model.joint_label.local[joint],
            parent_xform=_as_floats(world.joint_X_p[joint]),
            child_xform=_as_floats(world.joint_X_c[joint]),
            collision_filter_parent=False,
            enabled=bool(world.joint_enabled[joint]),
        )
        self._set_springs(builder, joint)

    def _set_springs(self, builder: Any, joint: int) -> None:
        world = self._world
        for dof in world.dofs_of(joint):
            if not world.joint_spring_ke[dof]:
                continue
            if not builder.has_custom_attribute(_STIFFNESS):
                self._reporter.report(SPRING_LOST, name=self._model.joint_label.local[joint])
                return
            builder.custom_attributes[_STIFFNESS].values[dof] = float(world.joint_spring_ke[dof])
            builder.custom_attributes[_REFERENCE].values[dof] = float(world.joint_spring_ref[dof])

    def _make_axis(self, dof: int) -> Any:
        world = self._world
        return self._newton.ModelBuilder.JointDofConfig(
            axis=tuple(_as_floats(world.joint_axis[dof])),
            limit_lower=float(world.joint_limit_lower[dof]),
            limit_upper=float(world.joint_limit_upper[dof]),
            limit_ke=float(world.joint_limit_ke[dof]),
            limit_kd=float(world.joint_limit_kd[dof]),
            target_pos=float(world.joint_target_pos[dof]),
            target_vel=float(world.joint_target_vel[dof]),
            target_ke=float(world.joint_target_ke[dof]),
            target_kd=float(world.joint_target_kd[dof]),
            damping=float(world.joint_damping[dof]),
            armature=float(world.joint_armature[dof]),
            effort_limit=float(world.joint_effort_limit[dof]),
            velocity_limit=float(world.joint_velocity_limit[dof]),
            friction=float(world.joint_friction[dof]),
            actuator_mode=self._newton.JointTargetMode(int(world.joint_target_mode[dof])),
        )

    def add_shape(self, builder: Any, shape: int, shift: Any = (0.0, 0.0, 0.0)) -> None:
        """One shape; sites and shapes that only are seen come along."""
        world = self._world
        kind = ShapeType(int(world.shape_type[shape]))
        source = self._find_source(shape, kind)
        if source is None and kind in (ShapeType.MESH, ShapeType.CONVEX_MESH, ShapeType.HEIGHTFIELD):
            self._shapes.tell(SHAPE_NOT_SUPPORTED, shape, kind=kind.name.lower(), engine="Newton")
            return
        pose = world.shape_transform[shape].copy()
        pose[:3] += shift
        builder.add_shape(
            body=int(world.shape_body[shape]),
            type=self._newton.GeoType(int(self._find_type(kind))),
            xform=_as_floats(pose),
            cfg=self._make_config(shape),
            scale=_as_floats(world.shape_scale[shape]),
            src=source,
            label=f"shape_{shape}",
        )

    def _find_type(self, kind: ShapeType) -> int:
        return int(getattr(self._newton.GeoType, kind.name))

    def _find_source(self, shape: int, kind: ShapeType) -> Any:
        found = self._model.shape_source[shape]
        if found is None:
            return None
        if id(found) not in self._sources:
            made = None
            if isinstance(found, Mesh):
                triangles = np.ascontiguousarray(found.data.triangles()).reshape(-1)
                points = found.data.vertices.astype(np.float32)
                made = self._newton.Mesh(points, triangles, compute_inertia=False)
            elif isinstance(found, Heightfield) and kind is ShapeType.HEIGHTFIELD:
                rows, columns = found.heights.shape
                half = (float(found.size[0]) / 2, float(found.size[1]) / 2)
                made = self._newton.Heightfield(found.heights, rows, columns, hx=half[0], hy=half[1])
            self._sources[id(found)] = made
        return self._sources[id(found)]

    def _make_config(self, shape: int) -> Any:
        world = self._world
        flags = int(world.shape_flags[shape])
        tau = float(world.shape_material_tau[shape])
        ke = float(world.shape_material_ke[shape])
        return self._newton.ModelBuilder.ShapeConfig(
            density=0.0,
            ke=ke,
            kd=ke * (tau if np.isfinite(tau) else _TAU),
            mu=float(world.shape_material_mu[shape]),
            restitution=float(world.shape_material_restitution[shape]),
            mu_torsional=float(world.shape_material_mu_torsional[shape]),
            mu_rolling=float(world.shape_material_mu_rolling[shape]),
            margin=float(world.shape_margin[shape]),
            gap=float(world.shape_gap[shape]),
            is_solid=bool(world.shape_is_solid[shape]),
            collision_group=int(world.shape_collision_group[shape]),
            collision_filter_parent=False,
            has_shape_collision=bool(flags & ShapeFlag.COLLIDE_SHAPES),
            has_particle_collision=bool(flags & ShapeFlag.COLLIDE_PARTICLES),
            is_visible=bool(flags & ShapeFlag.VISIBLE),
            is_site=bool(flags & ShapeFlag.SITE),
        )


def _as_floats(values: Any) -> list[float]:
    return [float(v) for v in values]
