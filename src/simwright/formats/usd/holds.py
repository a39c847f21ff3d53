# SPDX-License-Identifier: Apache-2.0
"""What the layers can hold (see ``simwright.formats.holds``): what is not named here has no place in them.

What no schema has a word for is noted beside it for Simwright alone, or in the layer of the solver that has one.
"""

from __future__ import annotations

from simwright.formats.holds import YES, Table, no, otherwise, partly, rows

_MASS = otherwise("counted into the mass of the body")

HOLDS: Table = {
    **rows(YES, "bodies", "bodies: pose inertial kinematic enabled gravity_scale"),
    **rows(YES, "bodies: linear_velocity angular_velocity linear_damping angular_damping"),
    "bodies.density": _MASS,
    **rows(
        YES,
        "joints",
        "joints: kind parent_frame child_frame enabled closes_loop collide break_force break_torque",
    ),
    **rows(YES, "joints: distance gear ros_name"),
    **rows(
        YES,
        "joints.dofs: motion axis lower upper swing pitch armature friction damping stiffness spring_ref ref",
    ),
    **rows(
        YES,
        "joints.dofs: effort_limit velocity_limit limit_stiffness limit_damping position velocity safety drive",
    ),
    **rows(
        YES, "joints.dofs.drive: stiffness damping target_position target_velocity max_force acceleration"
    ),
    "joints.dofs.anchor": otherwise("the frames of the joint stand there"),
    **rows(
        YES,
        "shapes",
        "shapes: pose visual collision enabled color margin gap category_bits collide_bits purpose",
    ),
    **rows(YES, "shapes.geometry.data: normals uvs colors subsets smooth"),
    "shapes.geometry": partly("outlines have no type"),
    "shapes.scale": otherwise("counted into the size"),
    "shapes.approximation": otherwise("the fidelity variants of colliders"),
    **rows(_MASS, "shapes: mass density"),
    "shapes.settings": partly("those that Newton, PhysX or MuJoCo has a word for"),
    "shapes.double_sided": YES,
    **rows(YES, "sites", "sites: pose geometry ros_frame static folded"),
    **rows(YES, "cameras", "cameras: pose fov_y orthographic_height resolution near far focal_length"),
    "cameras.aperture": otherwise("with the focal length, as the field of view wants it"),
    "lights": YES,
    "lights.kind": partly("area lights have no place"),
    **rows(YES, "lights: pose color intensity radius cone range cast_shadows angle normalized"),
    **rows(YES, "sensors", "sensors: kind pose target rate settings"),
    "actuators": partly("laws that ExtendedPhysics, Newton or MuJoCo has"),
    "actuators.kind": otherwise("a general law of a servo is that servo"),
    **rows(YES, "actuators: transmission gear stiffness damping control_range force_range"),
    "actuators.settings": partly("those of MuJoCo and Newton"),
    "tendons": partly("those over joints and frames that are written"),
    "tendons.path.kind": YES,
    **rows(YES, "tendons.path: value side"),
    **rows(YES, "tendons: lower upper stiffness damping friction armature rest_length width"),
    "equalities": YES,
    "equalities.kind": partly("a distance has no place"),
    **rows(YES, "equalities: frame_a frame_b polynomial torque_scale enabled"),
    **rows(YES, "mimics", "mimics: multiplier offset polynomial enabled"),
    **rows(YES, "materials", "materials: diffuse opacity emissive metallic roughness specular clearcoat"),
    **rows(YES, "materials: clearcoat_roughness ior opacity_threshold vertex_colors textures"),
    **rows(YES, "materials.textures: channel color_space wrap_s wrap_t scale offset rotation gain bias"),
    "materials.textures.uv_set": otherwise("those of the mesh are `st`"),
    **rows(
        YES,
        "physics_materials",
        "physics_materials: static_friction dynamic_friction torsional_friction rolling_friction restitution",
        "physics_materials: density stiffness damping",
    ),
    **rows(YES, "collision_groups", "collision_groups: filtered inverted merge"),
    **rows(YES, "contact_filters", "contact_filters: of"),
    **rows(YES, "contact_pairs", "contact_pairs: settings"),
    "articulations": YES,
    "articulations.self_collide": otherwise("filtered pairs of its bodies"),
    **rows(YES, "interfaces", "interfaces: kind role type rate qos frame_override starts_enabled"),
    **rows(YES, "contexts", "contexts: namespace domain_id parent_frame"),
    "contexts.pose": no("put the context on a body or a frame, whose pose is written"),
    **rows(YES, "controllers", "controllers: kind joints interfaces settings"),
    **rows(YES, "keyframes", "keyframes: positions velocities controls time"),
    "custom_attributes": partly("those of elements that are written"),
    **rows(YES, "environment", "environment: gravity timestep wind magnetic_field settings"),
    "extras": partly("those of Newton, PhysX, MuJoCo and Gazebo, on what is written"),
}
