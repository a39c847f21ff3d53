# SPDX-License-Identifier: Apache-2.0
"""Building blocks of tasks.  Every contact parameter is stated, so that no default class of a robot can change it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from simwright.core.math3d import Array, VectorLike
from simwright.tasks.specs import MjBody, MjSpec

EVERYTHING = 0x7FFFFFFF
"""Collides with whatever collides with anything: robots use the bits of MuJoCo's masks in their own ways."""
FRICTION = (1.0, 0.01, 0.001)
"""Sliding, torsional, rolling."""
RED = (0.85, 0.16, 0.14, 1.0)
GREEN = (0.16, 0.65, 0.28, 1.0)
BLUE = (0.20, 0.40, 0.85, 1.0)
# where marks are compiled: MuJoCo takes sites at the origin of their body for the body itself, and would not move
# them
_ELSEWHERE = (0.1, 0.2, 0.3)
WOOD = (0.85, 0.80, 0.70, 1.0)
OAK = (0.55, 0.42, 0.28, 1.0)
GROUND = "ground"
"""The name of the floor of every task."""
GREY = (0.45, 0.48, 0.52, 1.0)


def make_contact(friction: VectorLike = FRICTION, *, collides: bool = True) -> dict[str, Any]:
    """The contact parameters of a geom, all of them."""
    mask = EVERYTHING if collides else 0
    return {
        "contype": mask,
        "conaffinity": mask,
        "condim": 4,
        "priority": 0,
        "friction": [float(v) for v in friction],
        "solmix": 1.0,
        "solref": [0.02, 1.0],
        "solimp": [0.9, 0.95, 0.001, 0.5, 2.0],
        "margin": 0.0,
        "gap": 0.0,
        "group": 0,
    }


def add_ground(spec: MjSpec, height: float = 0.0) -> None:
    """An endless floor called ``ground``, below a grey sky."""
    import mujoco

    for texture in [one for one in spec.textures if one.type == mujoco.mjtTexture.mjTEXTURE_SKYBOX]:
        spec.delete(texture)
    spec.add_texture(
        name="sky",
        type=mujoco.mjtTexture.mjTEXTURE_SKYBOX,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT,
        rgb1=[0.55, 0.60, 0.66],
        rgb2=[0.22, 0.24, 0.27],
        width=64,
        height=384,
    )
    spec.visual.rgba.haze = [0.40, 0.43, 0.47, 1.0]
    spec.worldbody.add_geom(
        name=GROUND,
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        size=[0, 0, 0.05],
        pos=[0, 0, height],
        rgba=GREY,
        **make_contact(),
    )


def add_table(spec: MjSpec, center: VectorLike, size: VectorLike, top: float, thickness: float) -> None:
    """A slab called ``table_top`` whose upper face is at ``top`` [m]."""
    add_block(
        spec.worldbody,
        "table_top",
        (center[0], center[1], top - 0.5 * thickness),
        (0.5 * size[0], 0.5 * size[1], 0.5 * thickness),
        WOOD,
    )


def add_block(
    body: MjBody, name: str, position: VectorLike, half: VectorLike, color: Sequence[float], **more: Any
) -> Any:
    """A box on a body."""
    import mujoco

    return body.add_geom(
        name=name,
        type=mujoco.mjtGeom.mjGEOM_BOX,
        pos=[float(v) for v in position],
        size=[float(v) for v in half],
        rgba=list(color),
        **{**make_contact(), **more},
    )


def add_socket(
    spec: MjSpec, name: str, *, hole: float, half: float, height: float, color: Sequence[float]
) -> None:
    """A block that is placed before an episode, with a square hole of half width ``hole`` made of four walls [m]."""
    block = spec.worldbody.add_body(name=name, pos=[0, 0, 0], mocap=True)
    wall = 0.5 * (half - hole)
    middle = hole + wall
    for side, x, y in (("left", -1, 0), ("right", 1, 0), ("near", 0, -1), ("far", 0, 1)):
        sides = (wall if x else hole, half if x else wall, 0.5 * height)
        add_block(block, f"{name}_{side}", (x * middle, y * middle, 0.5 * height), sides, color)


def add_cylinder(
    body: MjBody,
    name: str,
    position: VectorLike,
    size: tuple[float, float],
    color: Sequence[float],
    **more: Any,
) -> Any:
    """An upright cylinder on a body; ``size`` is its radius and half its height [m]."""
    import mujoco

    return body.add_geom(
        name=name,
        type=mujoco.mjtGeom.mjGEOM_CYLINDER,
        pos=[float(v) for v in position],
        size=[*size, 0],
        rgba=list(color),
        **{**make_contact(), **more},
    )


def add_slide(
    body: MjBody, name: str, axis: VectorLike, travel: float, *, damping: float, friction: float
) -> Any:
    """Let a body slide along an axis by up to ``travel`` [m], with damping [N s/m] and dry friction [N]."""
    import mujoco

    return body.add_joint(
        name=name,
        type=mujoco.mjtJoint.mjJNT_SLIDE,
        axis=[float(v) for v in axis],
        range=[0, travel],
        limited=True,
        damping=damping,
        frictionloss=friction,
        armature=0.0,
        stiffness=0.0,
    )


def add_hinge(
    body: MjBody, name: str, axis: VectorLike, travel: float, *, damping: float, friction: float
) -> Any:
    """Let a body turn about an axis at its origin by up to ``travel`` [rad]; damping [N m s], dry friction [N m]."""
    import mujoco

    return body.add_joint(
        name=name,
        type=mujoco.mjtJoint.mjJNT_HINGE,
        axis=[float(v) for v in axis],
        # a specification has angles in the unit of its compiler, which is degrees unless told otherwise
        range=[0, math.degrees(travel)],
        limited=True,
        damping=damping,
        frictionloss=friction,
        armature=0.0,
        stiffness=0.0,
    )


def add_post(
    body: MjBody,
    name: str,
    position: VectorLike,
    size: tuple[float, float],
    color: Sequence[float],
    **more: Any,
) -> Any:
    """An upright cylinder on a body; ``size`` is its radius and half of its height [m]."""
    import mujoco

    return body.add_geom(
        name=name,
        type=mujoco.mjtGeom.mjGEOM_CYLINDER,
        pos=[float(v) for v in position],
        size=[*size, 0.0],
        rgba=list(color),
        **{**make_contact(), **more},
    )


def add_free_box(spec: MjSpec, name: str, half: VectorLike, mass: float, color: Sequence[float]) -> None:
    """A body ``name`` with a free joint of the same name and a geom ``name_geom``."""
    body = spec.worldbody.add_body(name=name, pos=[0, 0, 1])
    body.add_freejoint(name=name)
    geom = add_block(body, f"{name}_geom", (0, 0, 0), half, color, mass=mass)
    # MuJoCo's friction gives way a little: things creep out of weak fingers.  Stiffer contacts creep ten times less;
    # the weight lets these numbers count over those of the robot, whose friction is still taken where it is larger.
    geom.solimp, geom.solmix = [0.99, 0.999, 0.001, 0.5, 2.0], 100.0


def add_disc(spec: MjSpec, name: str, radius: float, color: Sequence[float]) -> None:
    """A flat mark that nothing touches: a site."""
    import mujoco

    spec.worldbody.add_site(
        name=name,
        type=mujoco.mjtGeom.mjGEOM_CYLINDER,
        pos=_ELSEWHERE,
        size=[radius, 0.001, 0],
        rgba=[*color[:3], 0.6],
        group=0,
    )


def add_ball_mark(spec: MjSpec, name: str, radius: float, color: Sequence[float]) -> None:
    """A ball that nothing touches: a site."""
    import mujoco

    spec.worldbody.add_site(
        name=name,
        type=mujoco.mjtGeom.mjGEOM_SPHERE,
        pos=_ELSEWHERE,
        size=[radius, 0, 0],
        rgba=[*color[:3], 0.6],
        group=0,
    )


def add_camera(spec: MjSpec, name: str, position: VectorLike, target: VectorLike, fovy: float) -> None:
    """A fixed camera that looks at a point; up is +Z, or +Y for one that looks straight down."""
    spec.worldbody.add_camera(
        name=name, pos=[float(v) for v in position], fovy=fovy, xyaxes=look_at(position, target).tolist()
    )


def look_at(position: VectorLike, target: VectorLike) -> Array:
    """The X and Y axes of a camera: it looks along -Z."""
    back = np.asarray(position, dtype=float) - np.asarray(target, dtype=float)
    back /= np.linalg.norm(back)
    up = np.array([0.0, 0.0, 1.0]) if abs(back[2]) < 0.999 else np.array([0.0, 1.0, 0.0])
    right = np.cross(up, back)
    right /= np.linalg.norm(right)
    return np.concatenate([right, np.cross(back, right)])


def add_light(spec: MjSpec, position: VectorLike) -> None:
    """A lamp called ``ceiling`` that shines down without shadows, and some light from everywhere.

    Lamps that a robot brings along are off, so that a task looks the same with every robot.
    """
    for lamp in spec.lights:
        lamp.active = False
    spec.worldbody.add_light(
        name="ceiling",
        pos=[float(v) for v in position],
        dir=[0, 0, -1],
        castshadow=False,
        diffuse=[0.5, 0.5, 0.5],
        ambient=[0.0, 0.0, 0.0],
        specular=[0.1, 0.1, 0.1],
        cutoff=80,
        exponent=1,
    )
    spec.visual.headlight.ambient = [0.35, 0.35, 0.35]
    spec.visual.headlight.diffuse = [0.25, 0.25, 0.25]
    spec.visual.headlight.specular = [0.0, 0.0, 0.0]
