# SPDX-License-Identifier: Apache-2.0
"""Everything an asset can say, by key: ``joints.dofs.damping`` is the damping of a freedom of a joint.

A key is the path of a field in the neutral model.  Each has words for people, tells whether the machine moves
differently without it, and how a use is told from silence.  A test holds the keys against the fields of the model, so
that none is forgotten.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simwright.core.math3d import IDENTITY
from simwright.formats.aspects import Aspect, ElementFamily, Moves, Used, always, if_touched, never
from simwright.model.geometry import Mesh
from simwright.model.joint import WORLD, Motion


def _is_said(owner: Any, value: Any) -> bool:
    """Zero is a use too: no friction is not the engine's own friction."""
    del owner
    return value is not None


def _is_elsewhere(owner: Any, value: Any) -> bool:
    """Does a freedom start away from where its frames meet?  Free motion starts at the pose of the body."""
    starts = value is not None and owner.motion is not Motion.FREE
    return starts and bool(np.any(np.ravel(value) != owner.neutral()))


def _touch(owner: Any, value: Any) -> bool:
    """Do two bodies that a joint holds together touch?  The world and free motion hold nothing."""
    free = WORLD in (owner.parent, owner.child) or any(dof.motion is Motion.FREE for dof in owner.dofs)
    return value and not free


def _is_cut(owner: Any, value: Any) -> bool:
    """Meshes are simplified, and only for contact."""
    return (
        owner.collision and isinstance(owner.geometry, Mesh) and value is not None and value.token != "none"
    )


def _is_contact(owner: Any, value: Any) -> bool:
    """Values that only colliders have."""
    return bool(owner.collision and value)


def _is_masked(owner: Any, value: Any) -> bool:
    """Bits other than the first alone, which is what everything has that says nothing."""
    return owner.collision and value is not None and value != 1


def _is_aside(owner: Any, value: Any) -> bool:
    """What is seen, but not in the final picture."""
    return owner.visual and value not in ("default", "render")


def _is_renamed(owner: Any, value: Any) -> bool:
    return bool(value) and value != owner.name


def _is_off(owner: Any, value: Any) -> bool:
    """Is it away from what it sits on?  Poses of stages are products of matrices, exact but for rounding."""
    del owner
    return not value.is_close(IDENTITY, _SAME_PLACE)


def _is_more(owner: Any, value: Any) -> bool:
    """More than the law that the kind, the stiffness and the damping say."""
    # A position servo or motor says its law by kind and gains; the raw parameters repeat it.
    said = _LAW if owner.kind != "general" else ()
    return any(key not in said for key in value)


def _acts(actuator: Any) -> bool:
    """Do the settings say more than by which hardware it is driven (URDF)?"""
    return any(key not in _HARDWARE for key in actuator.settings)


_SAME_PLACE = 1e-6
_HARDWARE = ("transmission", "type", "hardware_interfaces", "mechanicalReduction")
_LAW = (
    "mjcf",
    "input",
    "gain_type",
    "gain",
    "bias_type",
    "bias",
    "dynamics_type",
    "dynamics",
    "length_range",
)


def _family(
    key: str, one: str, many: str, moves: Moves, *rows: tuple[str, str] | tuple[str, str, Moves], **whole: str
) -> ElementFamily:
    """A family from rows of field, words and (where not that of the family) moves; ``whole`` by field."""
    aspects = [
        *(
            # Keyword arguments cannot have dots, so path__kind stands for path.kind.
            Aspect(f"{key}.{name.replace('__', '.')}", words, moves, whole=True)
            for name, words in whole.items()
        ),
        *(
            Aspect(
                f"{key}.{name}",
                words,
                more[0] if more else moves,
                used=_USED.get(f"{key}.{name}"),
                part_of=_PARTS.get(f"{key}.{name}", ""),
            )
            for name, words, *more in rows
        ),
    ]
    return ElementFamily(key, one, many, moves, tuple(aspects), quiet=key in _QUIET)


_FRICTION = ("static_friction", "dynamic_friction", "torsional_friction", "rolling_friction", "restitution")
_USED: dict[str, Used] = {
    **{f"physics_materials.{name}": _is_said for name in _FRICTION},
    "joints.collide": _touch,
    "joints.dofs.position": _is_elsewhere,
    "shapes.approximation": _is_cut,
    **{f"shapes.{name}": _is_contact for name in ("margin", "gap", "settings")},
    **{f"shapes.{name}": _is_masked for name in ("category_bits", "collide_bits")},
    "shapes.purpose": _is_aside,
    "shapes.geometry.data.smooth": _is_said,
    "sites.ros_frame": _is_renamed,
    "actuators.settings": _is_more,
    "contexts.pose": _is_off,
}
# Families whose elements may be there without saying anything.
_QUIET = ("articulations", "contexts", "environment")
# Aspects that say nothing without another one.
_PARTS = {
    "joints.dofs.spring_ref": "joints.dofs.stiffness",
    "materials.clearcoat_roughness": "materials.clearcoat",
}

# Rows are (field, words); words fill "the ... of 3 joints" in findings and in docs/formats.md.
_BODIES = _family(
    "bodies", "body", "bodies", always,
    ("pose", "the pose"),
    ("inertial", "the mass and inertia"),
    ("kinematic", "the kinematic state"),
    ("enabled", "the disabled state"),
    ("gravity_scale", "the share of gravity"),
    ("linear_velocity", "the velocity at the start"),
    ("angular_velocity", "the angular velocity at the start"),
    ("density", "the density"),
    ("linear_damping", "the damping of free motion"),
    ("angular_damping", "the damping of free rotation"),
)  # fmt: skip
_JOINTS = _family(
    "joints", "joint", "joints", always,
    ("parent_frame", "the frame on the parent"),
    ("child_frame", "the frame on the child"),
    ("enabled", "the disabled state"),
    ("closes_loop", "the closing of a loop"),
    ("collide", "the contact between the two bodies"),
    ("break_force", "the breaking force"),
    ("break_torque", "the breaking torque"),
    ("distance", "the distance"),
    ("gear", "the gear ratio"),
    ("ros_name", "the ROS name", never),
    ("dofs.motion", "the motion"),
    ("dofs.axis", "the axis"),
    ("dofs.anchor", "the point the axis goes through"),
    ("dofs.lower", "the lower limit"),
    ("dofs.upper", "the upper limit"),
    ("dofs.swing", "the cone limit"),
    ("dofs.pitch", "the pitch of the screw"),
    ("dofs.armature", "the armature"),
    ("dofs.friction", "the friction"),
    ("dofs.damping", "the damping"),
    ("dofs.stiffness", "the spring"),
    ("dofs.spring_ref", "the rest position of the spring"),
    ("dofs.ref", "the reference coordinate"),
    ("dofs.effort_limit", "the effort limit"),
    ("dofs.velocity_limit", "the velocity limit"),
    ("dofs.limit_stiffness", "the stiffness of the stops"),
    ("dofs.limit_damping", "the damping of the stops"),
    ("dofs.position", "the position at the start"),
    ("dofs.velocity", "the velocity at the start"),
    ("dofs.drive", "the drive"),
    ("dofs.drive.stiffness", "the stiffness of the drive"),
    ("dofs.drive.damping", "the damping of the drive"),
    ("dofs.drive.target_position", "the position target of the drive"),
    ("dofs.drive.target_velocity", "the velocity target of the drive"),
    ("dofs.drive.max_force", "the largest force of the drive"),
    ("dofs.drive.acceleration", "the unit of the drive (acceleration)"),
    ("dofs.safety", "the safety controller", never),
    kind="the kind",
)  # fmt: skip
_SHAPES = _family(
    "shapes", "shape", "shapes", if_touched,
    ("pose", "the pose"),
    ("scale", "the scale"),
    ("visual", "being invisible", never),
    ("collision", "the collision"),
    ("enabled", "the disabled state"),
    ("color", "the colour", never),
    ("approximation", "the simplification for contact"),
    ("margin", "the contact margin"),
    ("gap", "the contact gap"),
    ("mass", "the mass of its own"),
    ("density", "the density of its own"),
    ("purpose", "the purpose", never),
    ("category_bits", "the contact category"),
    ("collide_bits", "the contact mask"),
    ("settings", "a contact setting"),
    ("double_sided", "being seen from both sides", never),
    ("geometry.data.normals", "the normals", never),
    ("geometry.data.uvs", "the texture coordinates", never),
    ("geometry.data.uv_sets", "the further texture coordinates", never),
    ("geometry.data.colors", "the vertex colours", never),
    ("geometry.data.subsets", "the face sets", never),
    ("geometry.data.smooth", "being smooth or faceted", never),
    geometry="the geometry",
)  # fmt: skip
_SITES = _family(
    "sites", "frame", "frames", never,
    ("pose", "the pose"),
    ("geometry", "the marker"),
    ("ros_frame", "the TF name"),
    ("static", "being published again and again"),
    ("folded", "the former link without mass"),
)  # fmt: skip
_CAMERAS = _family(
    "cameras", "camera", "cameras", never,
    ("pose", "the pose"),
    ("fov_y", "the field of view"),
    ("resolution", "the resolution"),
    ("near", "the near clip distance"),
    ("far", "the far clip distance"),
    ("focal_length", "the focal length"),
    ("orthographic_height", "the orthographic projection"),
    ("aperture", "the aperture"),
)  # fmt: skip
_LIGHTS = _family(
    "lights", "light", "lights", never,
    ("pose", "the pose"),
    ("color", "the colour"),
    ("intensity", "the intensity"),
    ("radius", "the radius"),
    ("cone", "the cone"),
    ("range", "the range"),
    ("cast_shadows", "casting no shadows"),
    ("angle", "the angular size"),
    ("normalized", "the normalization"),
    kind="the kind",
)  # fmt: skip
_SENSORS = _family(
    "sensors", "sensor", "sensors", never,
    ("pose", "the pose"),
    ("target", "what is measured"),
    ("rate", "the rate"),
    ("settings", "a setting"),
    kind="the kind",
)  # fmt: skip
_ACTUATORS = _family(
    "actuators", "actuator", "actuators", always,
    ("gear", "the gear"),
    ("stiffness", "the stiffness"),
    ("damping", "the damping"),
    ("control_range", "the control range"),
    ("force_range", "the force range"),
    ("settings", "a setting of the law", _acts),
    kind="the kind",
    transmission="the transmission",
)  # fmt: skip
_TENDONS = _family(
    "tendons", "tendon", "tendons", always,
    ("path.value", "the coefficients"),
    ("path.side", "the side of a wrap"),
    ("lower", "the lower limit"),
    ("upper", "the upper limit"),
    ("stiffness", "the stiffness"),
    ("damping", "the damping"),
    ("friction", "the friction"),
    ("armature", "the armature"),
    ("rest_length", "the rest length"),
    ("width", "the width", never),
    path__kind="a path over",
)  # fmt: skip
_EQUALITIES = _family(
    "equalities", "equality constraint", "equality constraints", always,
    ("frame_a", "the frame on the first body"),
    ("frame_b", "the frame on the second body"),
    ("polynomial", "the polynomial"),
    ("torque_scale", "the torque scale"),
    ("enabled", "the disabled state"),
    kind="the kind",
)  # fmt: skip
_MIMICS = _family(
    "mimics", "mimic", "mimics", always,
    ("multiplier", "the multiplier"),
    ("offset", "the offset"),
    ("polynomial", "the polynomial"),
    ("enabled", "the disabled state"),
)  # fmt: skip
_MATERIALS = _family(
    "materials", "material", "materials", never,
    ("diffuse", "the colour"),
    ("opacity", "the opacity"),
    ("emissive", "the glow"),
    ("metallic", "the metalness"),
    ("roughness", "the roughness"),
    ("specular", "the specular colour"),
    ("clearcoat", "the coat"),
    ("clearcoat_roughness", "the roughness of the coat"),
    ("ior", "the index of refraction"),
    ("opacity_threshold", "the opacity threshold"),
    ("double_sided", "being seen from both sides"),
    ("vertex_colors", "the colours of vertices"),
    ("textures", "the images"),
    ("textures.channel", "the channel of an image"),
    ("textures.color_space", "the colour space of an image"),
    ("textures.wrap_s", "the wrapping of an image"),
    ("textures.wrap_t", "the wrapping of an image upwards"),
    ("textures.scale", "the scale of an image"),
    ("textures.offset", "the offset of an image"),
    ("textures.rotation", "the rotation of an image"),
    ("textures.uv_set", "the texture coordinates of an image"),
    ("textures.gain", "the gain of an image"),
    ("textures.bias", "the bias of an image"),
)  # fmt: skip
_PHYSICS_MATERIALS = _family(
    "physics_materials", "contact material", "contact materials", always,
    ("static_friction", "the static friction"),
    ("dynamic_friction", "the dynamic friction"),
    ("torsional_friction", "the torsional friction"),
    ("rolling_friction", "the rolling friction"),
    ("restitution", "the restitution"),
    ("density", "the density"),
    ("stiffness", "the contact stiffness"),
    ("damping", "the contact damping"),
    ("friction_combine", "the rule by which friction is combined"),
    ("restitution_combine", "the rule by which restitution is combined"),
    ("settings", "a contact setting"),
)  # fmt: skip
_CONTACTS = (
    _family(
        "collision_groups", "collision group", "collision groups", always,
        ("filtered", "the filtered groups"),
        ("inverted", "the inverted filter"),
        ("merge", "the merge group"),
    ),
    _family("contact_filters", "contact filter", "contact filters", always, of="pairs of"),
    _family("contact_pairs", "contact pair", "contact pairs", always, ("settings", "a contact setting")),
    _family(
        "articulations", "articulation", "articulations", never,
        ("self_collide", "not touching itself", always),
    ),
)  # fmt: skip
_ROS = (
    _family(
        "interfaces", "ROS interface", "ROS interfaces", never,
        ("role", "the role"),
        ("type", "the type"),
        ("rate", "the rate"),
        ("qos", "the quality of service"),
        ("frame_override", "the frame override"),
        ("starts_enabled", "starting disabled"),
        kind="the kind",
    ),
    _family(
        "contexts", "ROS context", "ROS contexts", never,
        ("namespace", "the namespace"),
        ("domain_id", "the domain"),
        ("parent_frame", "the parent frame"),
        ("pose", "the pose of a frame of its own"),
    ),
    _family(
        "controllers", "controller", "controllers", always,
        ("joints", "the joints"),
        ("interfaces", "the ROS interfaces"),
        ("settings", "a setting"),
        ("starts_enabled", "starting disabled"),
        kind="the kind",
    ),
)  # fmt: skip
_REST = (
    _family(
        "keyframes", "named state", "named states", never,
        ("positions", "the positions"),
        ("velocities", "the velocities"),
        ("controls", "the controls"),
        ("time", "the time"),
    ),
    _family("custom_attributes", "custom attribute", "custom attributes", always),
    _family(
        "environment", "world", "worlds", always,
        ("gravity", "the gravity"),
        ("timestep", "the time step"),
        ("wind", "the wind"),
        ("magnetic_field", "the magnetic field", never),
        ("settings", "an option of the solver"),
    ),
    _family("motion", "movement", "movements", always),
    _family("look_variants", "look variant", "look variants", never),
    _family("extras", "set of solver attributes", "sets of solver attributes", always),
)  # fmt: skip

FAMILIES: dict[str, ElementFamily] = {
    family.key: family
    for family in (
        _BODIES, _JOINTS, _SHAPES, _SITES, _CAMERAS, _LIGHTS, _SENSORS, _ACTUATORS, _TENDONS, _EQUALITIES, _MIMICS,
        _MATERIALS, _PHYSICS_MATERIALS, *_CONTACTS, *_ROS, *_REST,
    )
}  # fmt: skip
"""Every list of an asset and every part of it that a format may hold."""
# The two lists below complete the test that no field of the model is forgotten.
BOOKKEEPING = frozenset(
    {
        "name",
        "path",
        "source",
        "scope",
        "group",
        "instancer",
        "provenance",
        "origins",
        "set_name",
        "rest",
        "generic",
        "after",
    }
)
"""Fields that say nothing about the machine: what things are called, how they are sorted, where they come from.

``rest`` of a joint is the pose of its frames once more, as the source spelled it, ``generic`` which type of joint the
source has for the same freedoms; ``after`` of a site is its place in the order of the file."""
REFERENCES = frozenset({
    "body", "parent", "child", "follower", "leader", "a", "b", "at", "root", "members", "target", "material",
    "physics_material", "file",
})  # fmt: skip
"""Fields that name other elements: without them there is no element, and what they name is reported by itself."""
