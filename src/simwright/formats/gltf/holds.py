# SPDX-License-Identifier: Apache-2.0
"""What glTF can hold (see ``simwright.formats.holds``): what is not named here has no place in it.

Physics is in the extras of the document (``docs/gltf.md``), which viewers pass over.
"""

from __future__ import annotations

from simwright.formats.holds import YES, Table, otherwise, partly, rows

_MASS = otherwise("counted into the mass of the body")
_SIZE = otherwise("counted into the intensity")

HOLDS: Table = {
    **rows(YES, "bodies", "bodies: pose inertial kinematic enabled"),
    "bodies.density": _MASS,
    **rows(YES, "joints", "joints: kind parent_frame child_frame enabled closes_loop distance gear"),
    "joints.ros_name": otherwise("it is the name of the joint"),
    **rows(
        YES, "joints.dofs: motion axis anchor lower upper swing pitch armature friction damping stiffness"
    ),
    **rows(YES, "joints.dofs: spring_ref ref effort_limit velocity_limit position drive"),
    **rows(
        YES, "joints.dofs.drive: stiffness damping target_position target_velocity max_force acceleration"
    ),
    **rows(YES, "shapes", "shapes: pose visual color double_sided"),
    "shapes.geometry": otherwise("triangles"),
    "shapes.scale": otherwise("the scale of the node, or of the triangles"),
    "shapes.collision": partly("colliders are written with --collision"),
    "shapes.enabled": partly("colliders are written with --collision"),
    "shapes.approximation": partly("of colliders, which are written with --collision"),
    "shapes.purpose": partly("stand-ins and guides are no part of the picture"),
    **rows(_MASS, "shapes: mass density"),
    **rows(otherwise("for each vertex"), "shapes.geometry.data: normals uvs uv_sets subsets smooth"),
    "shapes.geometry.data.colors": partly("a material that does not read them hides them"),
    **rows(YES, "sites", "sites: pose"),
    **rows(YES, "cameras", "cameras: pose fov_y orthographic_height near far"),
    **rows(otherwise("the aspect ratio"), "cameras: resolution aperture"),
    "lights": YES,
    "lights.kind": partly("KHR_lights_punctual has three kinds", only=("directional", "point", "spot")),
    **rows(YES, "lights: pose color intensity cone range"),
    # A light of glTF is a point: its size only changes how much arrives.
    **rows(_SIZE, "lights: radius angle normalized"),
    **rows(YES, "mimics", "mimics: multiplier offset polynomial"),
    **rows(YES, "materials", "materials: diffuse opacity emissive metallic roughness specular clearcoat"),
    **rows(YES, "materials: clearcoat_roughness ior opacity_threshold double_sided vertex_colors"),
    "materials.textures": partly("images of the inputs that glTF has"),
    **rows(
        otherwise("in the images, or beside them"),
        "materials.textures: channel color_space wrap_s wrap_t scale offset rotation uv_set gain bias",
    ),
    "physics_materials": partly("of colliders, which are written with --collision"),
    **rows(otherwise("of the collider"), "physics_materials: static_friction dynamic_friction restitution"),
    "physics_materials.density": _MASS,
    **rows(YES, "environment", "environment: gravity"),
    **rows(YES, "motion", "look_variants"),
    "extras": partly("those that are in the physics block"),
}
