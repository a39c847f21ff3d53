# SPDX-License-Identifier: Apache-2.0
"""What SDFormat can hold (see ``simwright.formats.holds``): what is not named here has no place in it."""

from __future__ import annotations

from simwright.formats.holds import YES, Table, no, otherwise, partly, rows
from simwright.formats.sdf.writer.sensor_settings import TYPES

_PARTS = ("accelerometer", "gyro", "force", "torque", "touch", "rangefinder", "range")
"""Kinds that are written as an IMU, a force-torque sensor, a contact sensor or a lidar."""

_MASS = otherwise("counted into the mass of the link")
_WORLD = partly("a world has it, a model has none: --world")

HOLDS: Table = {
    **rows(YES, "bodies", "bodies: pose inertial kinematic"),
    "bodies.density": _MASS,
    "bodies.gravity_scale": partly("a link falls or it does not", where="all of gravity, or none"),
    **rows(YES, "joints", "joints: parent_frame child_frame gear", "joints.dofs: axis pitch"),
    "joints.kind": otherwise(
        "joints with several degrees of freedom are chains, free ones none at all",
        only=(
            "fixed",
            "revolute",
            "prismatic",
            "ball",
            "universal",
            "planar",
            "floating",
            "screw",
            "gearbox",
            "d6",
        ),
    ),
    "joints.closes_loop": partly("the loop is closed where all joints are at zero"),
    "joints.ros_name": otherwise("it is the name of the joint"),
    "joints.dofs.motion": otherwise("free motion has no joint"),
    "joints.dofs.anchor": otherwise("the frame of the joint stands there"),
    "joints.dofs.damping": partly("free motion has none", where="hinges, slides and balls"),
    **rows(
        partly("other degrees of freedom have none", where="hinges and slides"),
        "joints.dofs: lower upper friction stiffness spring_ref effort_limit velocity_limit",
        "joints.dofs: limit_stiffness limit_damping",
    ),
    **rows(partly("links stand where all joints are at zero"), "joints.dofs: ref position"),
    # the writer says that Gazebo does not read it
    "joints.dofs.armature": partly("the rotor of a motor, which Drake reads", where="hinges and slides"),
    "joints.dofs.drive": partly(
        "a position controller of Gazebo, which has a spring and force", where="drives to a position"
    ),
    "shapes": partly("shapes of the world need a world: --world"),
    **rows(YES, "shapes: pose visual collision category_bits collide_bits"),
    **rows(YES, "shapes.geometry.data: normals subsets"),
    "shapes.geometry": otherwise("primitives, planes, outlines, terrains and meshes; others become meshes"),
    "shapes.geometry.data.uvs": otherwise("one for each corner"),
    "shapes.color": otherwise("the material of the visual"),
    "shapes.scale": otherwise("counted into the size"),
    "shapes.approximation": partly("hulls and convex parts, since SDFormat 1.11"),
    **rows(_MASS, "shapes: mass density"),
    "sites": partly("frames of the world need a world: --world"),
    **rows(YES, "sites: pose"),
    "cameras": otherwise("a sensor"),
    **rows(YES, "cameras: pose fov_y resolution near far"),
    "lights": partly("lights of the world need a world: --world"),
    "lights.kind": partly("SDFormat has three kinds", only=("directional", "point", "spot")),
    **rows(YES, "lights: pose color intensity cone range cast_shadows"),
    "sensors": partly("sensors of the world need a world: --world"),
    "sensors.kind": partly(
        "those of SDFormat, and those of MuJoCo that are one of them", only=(*TYPES, *_PARTS)
    ),
    **rows(YES, "sensors: pose target rate"),
    "sensors.settings": partly("those that the kind of sensor has"),
    "actuators": no("add a controller of Gazebo for them"),
    "equalities": otherwise("joints that close a loop"),
    "equalities.kind": partly("points and frames held together", only=("connect", "weld")),
    **rows(partly("they meet where all joints are at zero"), "equalities: frame_a frame_b"),
    "mimics": partly("of joints of the same model or one inside it"),
    **rows(YES, "mimics: multiplier offset"),
    "materials": otherwise("of the visuals that wear them"),
    **rows(
        otherwise("of the visual"),
        "materials: diffuse opacity emissive metallic roughness specular double_sided",
        "materials.textures: gain",
    ),
    "materials.textures": partly("maps of the metal workflow"),
    "materials.textures.channel": partly("a map has one channel, the first"),
    "materials.textures.color_space": otherwise("it follows from the map"),
    "physics_materials": otherwise("the surface of the collisions that wear them"),
    "physics_materials.static_friction": partly("one coefficient, the dynamic one"),
    **rows(
        otherwise("of the surface"),
        "physics_materials: dynamic_friction torsional_friction rolling_friction restitution stiffness damping",
    ),
    "physics_materials.density": _MASS,
    **rows(otherwise("bitmasks"), "collision_groups", "collision_groups: filtered inverted merge"),
    **rows(partly("sixteen bits"), "contact_filters", "contact_filters: of"),
    **rows(YES, "articulations", "articulations: self_collide"),
    "interfaces": partly("those of sensors and of controllers that Gazebo has"),
    **rows(otherwise("of the sensor or plugin"), "interfaces: kind role type rate frame_override"),
    **rows(no("the launch file says it"), "contexts: namespace domain_id"),
    "controllers": partly("those that Gazebo has a system for"),
    "controllers.kind": partly("those that Gazebo has a system for"),
    **rows(YES, "controllers: joints interfaces"),
    "controllers.settings": partly("those of the system"),
    "environment": YES,
    "environment.gravity": YES,
    **rows(_WORLD, "environment: timestep wind magnetic_field"),
    "environment.settings": partly("of the physics profile", only=("real_time_factor", "physics_engine")),
    "extras": partly("those of Gazebo"),
}
