# SPDX-License-Identifier: Apache-2.0
"""What MJCF can hold (see ``simwright.formats.holds``): what is not named here has no place in it."""

from __future__ import annotations

from simwright.formats.holds import YES, Table, otherwise, partly, rows

_MASS = otherwise("counted into the mass of the body")
_ASIDE = otherwise("in ros.yaml beside the file: MuJoCo has no ROS plugin")
_GEOM = otherwise("of the geoms that have the material")
# settings of actuators that the MJCF reader makes and the writer writes
_OWN = (
    "mjcf", "gain_type", "gain", "bias_type", "bias", "dynamics_type", "dynamics", "length_range", "activation_range",
    "activation_early", "damping", "dampingpoly", "armature", "delay", "reference_site", "slider_site", "crank_length",
    "controls", "control_ranges", "plugin", "input", "history", "activations",
)  # fmt: skip
# Drake's words for the rotor of a transmission, which is the armature of its joint.
_ROTOR = ("drake.rotor_inertia", "drake.gear_ratio")
# What the writer reports by itself.
_TOLD = ("effort_table", "delay_steps", "control", "model_path", "integral_gain", "dc_motor")

HOLDS: Table = {
    **rows(YES, "bodies", "bodies: pose inertial kinematic gravity_scale"),
    "bodies.density": _MASS,
    **rows(YES, "joints", "joints: parent_frame child_frame collide"),
    "joints.kind": otherwise(
        "hinges, slides, balls and free joints, stacked and coupled; a fixed one is not a joint"
    ),
    "joints.closes_loop": otherwise("an equality constraint"),
    "joints.distance": otherwise("a tendon with limits"),
    "joints.gear": otherwise("a coupling of the two hinges"),
    "joints.ros_name": _ASIDE,
    **rows(
        YES,
        "joints.dofs: motion axis lower upper armature friction damping stiffness spring_ref ref effort_limit",
    ),
    "joints.dofs.anchor": otherwise("the point of the joint"),
    "joints.dofs.swing": partly("as one limit of the whole angle"),
    "joints.dofs.pitch": otherwise("a slide that is coupled to the hinge"),
    **rows(partly("as solref, where the source says it so"), "joints.dofs: limit_stiffness limit_damping"),
    **rows(otherwise("a keyframe"), "joints.dofs: position velocity"),
    "joints.dofs.drive": otherwise("an actuator"),
    **rows(
        otherwise("of the actuator"),
        "joints.dofs.drive: stiffness damping target_position target_velocity max_force",
    ),
    "joints.dofs.drive.acceleration": partly("actuators make forces"),
    **rows(YES, "shapes", "shapes: pose visual collision color margin gap category_bits collide_bits"),
    **rows(YES, "shapes.geometry.data: normals"),
    "shapes.geometry": partly("cones become meshes, outlines have no place"),
    "shapes.geometry.data.uvs": otherwise("one for each corner"),
    "shapes.geometry.data.subsets": otherwise("a geom for each look"),
    "shapes.scale": otherwise("counted into the size"),
    "shapes.approximation": partly("meshes collide as their convex hulls"),
    **rows(_MASS, "shapes: mass density"),
    "shapes.settings": partly("those of MuJoCo's contacts"),
    **rows(YES, "sites", "sites: pose geometry"),
    # ROS has no place in MJCF itself: REP-0158 3.8 allows native extension points, and MuJoCo has none for it
    **rows(_ASIDE, "sites: ros_frame"),
    "sites.folded": otherwise("a body without mass again"),
    **rows(YES, "cameras", "cameras: pose fov_y orthographic_height resolution"),
    **rows(partly("MuJoCo has the same for all cameras"), "cameras: near far"),
    **rows(otherwise("together, where there is a resolution"), "cameras: focal_length aperture"),
    "lights": YES,
    "lights.kind": partly("directional, point and spot lights"),
    "lights.pose": otherwise("a place and a direction"),
    "lights.cone": otherwise("the inner angle is an exponent"),
    **rows(YES, "lights: color intensity radius range cast_shadows"),
    "sensors": otherwise("on a site"),
    "sensors.kind": partly("MuJoCo's own; an IMU, a force-torque sensor and an encoder are two each"),
    "sensors.target": otherwise("the site of the sensor"),
    **rows(YES, "sensors: pose rate"),
    "sensors.settings": partly(
        "those of MuJoCo's sensors",
        only=(
            "dimension",
            "object_type",
            "reference_type",
            "reference",
            "cutoff",
            "noise",
            "delay",
            "phase",
            "stage",
            "data_type",
            "intprm",
            "history",
            "plugin",
        ),
    ),
    # MuJoCo's general actuator holds most laws; what it does not is in the settings
    "actuators": YES,
    **rows(partly("laws and targets of MuJoCo's general actuator"), "actuators: kind transmission"),
    "actuators.settings": partly("those of MuJoCo's general actuator", only=(*_OWN, *_ROTOR, *_TOLD)),
    **rows(YES, "actuators: gear stiffness damping control_range force_range"),
    "tendons": YES,
    "tendons.path.kind": YES,
    **rows(YES, "tendons.path: value side"),
    **rows(YES, "tendons: lower upper stiffness damping friction armature rest_length width"),
    "equalities": YES,
    "equalities.kind": otherwise("a distance is a tendon"),
    **rows(YES, "equalities: frame_a frame_b polynomial torque_scale enabled"),
    **rows(YES, "mimics", "mimics: multiplier offset polynomial enabled"),
    **rows(YES, "materials", "materials: diffuse opacity metallic roughness"),
    "materials.emissive": otherwise("a share of the colour"),
    "materials.clearcoat": partly("a coat has no place"),
    "materials.textures": partly("layers that MuJoCo has"),
    **rows(
        partly("images are repeated, and scaled alone"),
        "materials.textures: wrap_s wrap_t offset rotation bias",
    ),
    **rows(YES, "materials.textures: scale gain"),
    "materials.textures.color_space": otherwise("colours are written as MuJoCo shows them"),
    "materials.textures.uv_set": otherwise("`texuniform` and cube textures; a mesh has one set"),
    # MJCF has no contact materials: their numbers are repeated on geoms
    "physics_materials": otherwise("of the geoms that have them"),
    "physics_materials.static_friction": partly("one coefficient, the dynamic one"),
    **rows(_GEOM, "physics_materials: dynamic_friction torsional_friction rolling_friction"),
    "physics_materials.density": _MASS,
    **rows(
        partly("contacts are said by solref, where the source says it so"),
        "physics_materials: restitution stiffness damping",
    ),
    **rows(partly("MuJoCo takes the larger one"), "physics_materials: friction_combine restitution_combine"),
    **rows(
        otherwise("bitmasks and excluded pairs"),
        "collision_groups",
        "collision_groups: filtered inverted merge",
        "contact_filters",
        "contact_filters: of",
    ),
    **rows(YES, "contact_pairs", "contact_pairs: settings"),
    "articulations": otherwise("every tree is one"),
    "articulations.self_collide": otherwise("excluded pairs"),
    **rows(_ASIDE, "interfaces", "interfaces: kind role type rate qos frame_override starts_enabled"),
    **rows(_ASIDE, "contexts", "contexts: namespace domain_id parent_frame"),
    **rows(_ASIDE, "controllers", "controllers: kind joints interfaces settings"),
    **rows(YES, "keyframes", "keyframes: positions velocities controls time"),
    "custom_attributes": partly("short lists of numbers, and texts"),
    **rows(YES, "environment", "environment: gravity timestep wind magnetic_field"),
    "environment.settings": partly("options and flags of MuJoCo"),
    "extras": partly("those of MuJoCo"),
}
