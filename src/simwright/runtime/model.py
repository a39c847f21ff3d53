# SPDX-License-Identifier: Apache-2.0
"""The model: everything about bodies, joints and shapes that does not change while they move.

Flat arrays with the names, order and numbers of Newton.  The rows of world 0 come first, then those of world 1 and so
on; what the worlds share (a ground plane) comes last.  Joints of an articulation stand side by side, parents before
children.  The world as a parent is -1.  Poses are seven numbers: position, quaternion x, y, z, w.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np

from simwright.runtime.arrays import AnyArray, Bools, Floats, Ints, array
from simwright.runtime.custom import CustomArray
from simwright.runtime.labels import Labels
from simwright.runtime.pairs import Pairs
from simwright.runtime.state import Control, State

_POSE = "position, quaternion x, y, z, w"


@dataclass(slots=True, eq=False, kw_only=True)
class Model:
    """Arrays by name, labels, and how the worlds lie in them.

    ``per_world`` tells how many rows of each frequency belong to one world; ``shape_source`` has the geometry object of
    each shape of one world, then of the shared ones (see :meth:`source_of`); ``shape_color`` their colours or None;
    ``shape_look`` the materials of those of one world that come from assets.
    """

    body_q: Annotated[Floats, array("body", f"initial pose in the world: {_POSE}", unit="m, 1", row=(7,))]
    body_qd: Annotated[
        Floats,
        array("body", "initial velocity: linear of the centre of mass, angular", unit="m/s, rad/s", row=(6,)),
    ]
    body_mass: Annotated[Floats, array("body", "mass", unit="kg")]
    body_inv_mass: Annotated[
        Floats, array("body", "one over the mass; 0 for massless and kinematic bodies", unit="1/kg")
    ]
    body_com: Annotated[Floats, array("body", "centre of mass in the body's frame", unit="m", row=(3,))]
    body_inertia: Annotated[
        Floats, array("body", "inertia about the centre of mass, axes of the body", unit="kg m^2", row=(3, 3))
    ]
    body_inv_inertia: Annotated[
        Floats, array("body", "inverse of the inertia, or zero", unit="1/(kg m^2)", row=(3, 3))
    ]
    body_gravity_scale: Annotated[Floats, array("body", "share of gravity that acts on the body")]
    body_flags: Annotated[Ints, array("body", "1 dynamic, 2 kinematic", dtype="int32")]
    body_world: Annotated[Ints, array("body", "world of the body, -1 if it is in all", dtype="int32")]

    joint_type: Annotated[
        Ints,
        array("joint", "0 prismatic, 1 revolute, 2 ball, 3 fixed, 4 free, 5 distance, 6 d6", dtype="int32"),
    ]
    joint_parent: Annotated[
        Ints, array("joint", "parent body, -1 for the world", dtype="int32", refers="body")
    ]
    joint_child: Annotated[Ints, array("joint", "child body", dtype="int32", refers="body")]
    joint_articulation: Annotated[
        Ints,
        array(
            "joint", "articulation of the joint, -1 if it closes a loop", dtype="int32", refers="articulation"
        ),
    ]
    joint_ancestor: Annotated[
        Ints, array("joint", "joint that carries the parent, or -1", dtype="int32", refers="joint")
    ]
    joint_X_p: Annotated[  # noqa: N815 - Newton's name
        Floats, array("joint", f"joint frame in the parent body: {_POSE}", unit="m, 1", row=(7,))
    ]
    joint_X_c: Annotated[  # noqa: N815 - Newton's name
        Floats, array("joint", f"joint frame in the child body: {_POSE}", unit="m, 1", row=(7,))
    ]
    joint_dof_dim: Annotated[
        Ints, array("joint", "linear and angular degrees of freedom", row=(2,), dtype="int32")
    ]
    joint_q_start: Annotated[
        Ints, array("joint", "first entry in joint_q", dtype="int32", refers="joint_coord", closing=True)
    ]
    joint_qd_start: Annotated[
        Ints, array("joint", "first entry in joint_qd", dtype="int32", refers="joint_dof", closing=True)
    ]
    joint_enabled: Annotated[Bools, array("joint", "does the joint hold?", dtype="bool")]
    joint_world: Annotated[Ints, array("joint", "world of the joint", dtype="int32")]
    joint_mimic_joint: Annotated[
        Ints, array("joint", "joint that this one follows, or -1", dtype="int32", refers="joint")
    ]
    joint_mimic_coeffs: Annotated[
        Floats, array("joint", "offset and factor of the following", unit="rad | m", row=(2,))
    ]

    joint_q: Annotated[Floats, array("joint_coord", "initial generalised positions", unit="m | rad | 1")]
    joint_qd: Annotated[Floats, array("joint_dof", "initial generalised velocities", unit="m/s | rad/s")]
    joint_f: Annotated[Floats, array("joint_dof", "initial generalised forces", unit="N | N m")]
    joint_act: Annotated[Floats, array("joint_dof", "initial feed-forward forces", unit="N | N m")]
    joint_axis: Annotated[
        Floats, array("joint_dof", "axis of the degree of freedom in the joint frame", row=(3,))
    ]
    joint_target_pos: Annotated[Floats, array("joint_dof", "initial position target", unit="m | rad")]
    joint_target_vel: Annotated[Floats, array("joint_dof", "initial velocity target", unit="m/s | rad/s")]
    joint_target_ke: Annotated[Floats, array("joint_dof", "position gain of the drive", unit="N/m | N m/rad")]
    joint_target_kd: Annotated[
        Floats, array("joint_dof", "velocity gain of the drive", unit="N s/m | N m s/rad")
    ]
    joint_target_mode: Annotated[
        Ints,
        array(
            "joint_dof", "0 none, 1 position, 2 velocity, 3 position and velocity, 4 effort", dtype="int32"
        ),
    ]
    joint_armature: Annotated[
        Floats, array("joint_dof", "inertia added to the degree of freedom", unit="kg | kg m^2")
    ]
    joint_friction: Annotated[Floats, array("joint_dof", "dry friction", unit="N | N m")]
    joint_damping: Annotated[Floats, array("joint_dof", "passive damping", unit="N s/m | N m s/rad")]
    joint_spring_ke: Annotated[
        Floats, array("joint_dof", "stiffness of a passive spring", unit="N/m | N m/rad")
    ]
    joint_spring_ref: Annotated[
        Floats, array("joint_dof", "position at which the passive spring rests", unit="m | rad")
    ]
    joint_effort_limit: Annotated[Floats, array("joint_dof", "largest effort of the drive", unit="N | N m")]
    joint_velocity_limit: Annotated[Floats, array("joint_dof", "largest velocity", unit="m/s | rad/s")]
    joint_limit_lower: Annotated[Floats, array("joint_dof", "lower stop", unit="m | rad")]
    joint_limit_upper: Annotated[Floats, array("joint_dof", "upper stop", unit="m | rad")]
    joint_limit_ke: Annotated[Floats, array("joint_dof", "stiffness of the stops", unit="N/m | N m/rad")]
    joint_limit_kd: Annotated[Floats, array("joint_dof", "damping of the stops", unit="N s/m | N m s/rad")]

    articulation_start: Annotated[
        Ints, array("articulation", "first joint", dtype="int32", refers="joint", closing=True)
    ]
    articulation_end: Annotated[
        Ints, array("articulation", "joint after the last one", dtype="int32", refers="joint")
    ]
    articulation_world: Annotated[Ints, array("articulation", "world of the articulation", dtype="int32")]

    shape_type: Annotated[
        Ints,
        array(
            "shape",
            "1 plane, 2 heightfield, 3 sphere, 4 capsule, 5 ellipsoid, 6 cylinder, 7 box, 8 mesh, 9 cone, "
            "10 convex mesh",
            dtype="int32",
        ),
    ]
    shape_body: Annotated[
        Ints, array("shape", "body of the shape, -1 for the world", dtype="int32", refers="body")
    ]
    shape_transform: Annotated[Floats, array("shape", f"pose in the body: {_POSE}", unit="m, 1", row=(7,))]
    shape_scale: Annotated[Floats, array("shape", "size, as the type has it", unit="m | 1", row=(3,))]
    shape_flags: Annotated[
        Ints,
        array(
            "shape",
            "1 visible, 2 touches shapes, 4 touches particles, 8 site, 16 hydroelastic",
            dtype="int32",
        ),
    ]
    shape_is_solid: Annotated[Bools, array("shape", "filled, or a shell?", dtype="bool")]
    shape_margin: Annotated[Floats, array("shape", "thickness added to the surface in contact", unit="m")]
    shape_gap: Annotated[Floats, array("shape", "distance at which contacts are looked for", unit="m")]
    shape_material_ke: Annotated[Floats, array("shape", "contact stiffness", unit="N/m")]
    shape_material_tau: Annotated[Floats, array("shape", "dissipation time of contacts", unit="s")]
    shape_material_mu: Annotated[Floats, array("shape", "Coulomb friction")]
    shape_material_restitution: Annotated[Floats, array("shape", "restitution")]
    shape_material_mu_torsional: Annotated[Floats, array("shape", "torsional friction", unit="m")]
    shape_material_mu_rolling: Annotated[Floats, array("shape", "rolling friction", unit="m")]
    shape_material_kh: Annotated[Floats, array("shape", "hydroelastic stiffness", unit="Pa")]
    shape_collision_group: Annotated[
        Ints, array("shape", "0 touches nothing; a positive group itself and negative ones", dtype="int32")
    ]
    shape_max_hull_vertices: Annotated[
        Ints, array("shape", "most corners of the convex hull of a mesh, -1 if not said", dtype="int32")
    ]
    shape_sdf_narrow_band_range: Annotated[
        Floats, array("shape", "band of a distance field: inside, outside", unit="m", row=(2,))
    ]
    shape_sdf_target_voxel_size: Annotated[
        Floats, array("shape", "cells of a distance field, NaN if not said", unit="m")
    ]
    shape_sdf_max_resolution: Annotated[
        Ints, array("shape", "most cells of a distance field along an axis, 0 if not said", dtype="int32")
    ]
    shape_collision_radius: Annotated[
        Floats, array("shape", "radius of a ball around the shape's origin", unit="m")
    ]
    shape_world: Annotated[Ints, array("shape", "world of the shape, -1 if it is in all", dtype="int32")]

    gravity: Annotated[Floats, array("world", "acceleration by gravity", unit="m/s^2", row=(3,))]
    world_offset: Annotated[Floats, array("world", "where the world stands", unit="m", row=(3,))]

    world_count: int = 1
    per_world: dict[str, int] = field(default_factory=dict)
    up_axis: int = 2
    body_label: Labels = field(default_factory=Labels)
    joint_label: Labels = field(default_factory=Labels)
    articulation_label: Labels = field(default_factory=Labels)
    shape_label: Labels = field(default_factory=Labels)
    shape_source: Sequence[Any] = ()
    shape_color: Sequence[tuple[float, float, float] | None] = ()
    shape_look: Mapping[int, Any] = field(default_factory=dict)
    shape_filters: Pairs = field(default_factory=Pairs)
    custom: dict[str, CustomArray] = field(default_factory=dict)

    @property
    def body_count(self) -> int:
        """Number of bodies in all worlds."""
        return len(self.body_mass)

    @property
    def joint_count(self) -> int:
        """Number of joints in all worlds."""
        return len(self.joint_type)

    @property
    def joint_dof_count(self) -> int:
        """Number of freedoms in all worlds."""
        return len(self.joint_qd)

    @property
    def joint_coord_count(self) -> int:
        """Number of generalised positions in all worlds."""
        return len(self.joint_q)

    @property
    def articulation_count(self) -> int:
        """Number of articulations in all worlds."""
        return len(self.articulation_world)

    @property
    def shape_count(self) -> int:
        """Number of shapes in all worlds, with the shared ones."""
        return len(self.shape_type)

    def state(self) -> State:
        """A new state with the initial values."""
        return State(
            joint_q=self.joint_q.copy(),
            joint_qd=self.joint_qd.copy(),
            body_q=self.body_q.copy(),
            body_qd=self.body_qd.copy(),
            body_f=np.zeros((self.body_count, 6), dtype=np.float32),
            custom=self._copy_custom("state"),
        )

    def control(self) -> Control:
        """A new control with the initial targets."""
        return Control(
            joint_f=self.joint_f.copy(),
            joint_target_pos=self.joint_target_pos.copy(),
            joint_target_vel=self.joint_target_vel.copy(),
            joint_act=self.joint_act.copy(),
            custom=self._copy_custom("control"),
        )

    def rows_of(self, frequency: str, world: int) -> slice:
        """The rows of one world in arrays of a frequency."""
        if not 0 <= world < self.world_count:
            raise IndexError(f"world {world} of {self.world_count}")
        # worlds lie one behind the other, with equally many rows
        count = self.per_world[frequency]
        return slice(world * count, (world + 1) * count)

    def source_of(self, shape: int) -> Any:
        """The geometry object of a shape, None for primitives."""
        # geometry objects are kept once for all worlds
        local = self.per_world["shape"]
        copies = local * self.world_count
        return self.shape_source[shape % local if shape < copies else local + shape - copies]

    def color_of(self, shape: int) -> tuple[float, float, float] | None:
        """The colour of a shape, None if it has none of its own."""
        local = self.per_world["shape"]
        copies = local * self.world_count
        return self.shape_color[shape % local if shape < copies else local + shape - copies]

    def look_of(self, shape: int) -> Any:
        """What the asset of a shape says about its looks beyond a colour, None if nothing."""
        local = self.per_world["shape"]
        return self.shape_look.get(shape % local) if shape < local * self.world_count else None

    def _copy_custom(self, assignment: str) -> dict[str, AnyArray]:
        return {
            name: held.values.copy() for name, held in self.custom.items() if held.assignment == assignment
        }
