# SPDX-License-Identifier: Apache-2.0
"""What is dropped and what slides: the tree that floats as one rigid body with its colliders, above a ground."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping

import numpy as np

from simwright.core.math3d import Pose, quat_from_axis_angle, quat_multiply, vec3
from simwright.model.asset import Asset, scaled
from simwright.model.elements import Shape
from simwright.model.extras import Extras
from simwright.model.geometry import Geometry, Mesh, Plane, find_lowest
from simwright.model.inertia import Inertial, combine
from simwright.model.joint import WORLD
from simwright.model.kinematics import build_tree
from simwright.model.mass import body_inertials
from simwright.model.material import PhysicsMaterial
from simwright.model.moments import hull_points
from simwright.prover.leaving import leave_lists, leave_shapes, let_float, require

FRICTION = 0.5
"""Of everything that slides down the slope, so that rules of combining two materials do not matter."""


SLOPE = math.radians(35.0)
"""Steeper than the angle that friction holds."""


_GAP = {"drop": 0.02, "slope": 0.001}
"""What lies between the lowest point and the ground at first [m]."""


_STEADY = 1000.0
"""How many times harder a robot is to turn on the slope than it is: it shall slide, not topple."""


_TILT = 0.002
"""By how much it is turned at the start to find out whether that decides where it comes to rest [rad]."""


_GRAVITY = 9.81


GROUND = "ground"


def make_drop(asset: Asset, *, tilted: bool = False) -> Asset:
    """What is dropped; ``tilted`` a little, for the question whether where it comes to rest depends on that."""
    solid = _make_solid(asset, _GAP["drop"], tilted=tilted)
    _set_material(solid)
    return solid


def make_slope(asset: Asset, *, tilted: bool = False) -> Asset:
    """What slides: harder to turn than the robot is, so that it does not topple."""
    solid = _make_solid(asset, _GAP["slope"], tilted=tilted)
    _set_material(solid)
    (body,) = solid.bodies
    assert body.inertial is not None
    body.inertial = Inertial(body.inertial.mass, body.inertial.com, body.inertial.inertia * _STEADY)
    # the ground is level and gravity inclined: the same slope for every engine
    solid.environment.gravity = _GRAVITY * vec3(math.sin(SLOPE), 0.0, -math.cos(SLOPE))
    return solid


def _make_solid(asset: Asset, gap: float, *, tilted: bool) -> Asset:
    """The largest tree that floats as one rigid body with its colliders, a little above the ground."""
    solid = asset.copy()
    poses, inertials = let_float(solid), body_inertials(asset)
    root, names = _find_heaviest(solid, inertials)
    touching = {
        shape.name
        for shape in asset.shapes
        if shape.body in names and shape.collision and shape.enabled and not isinstance(shape.geometry, Plane)
    }
    require(bool(touching), "nothing that could touch the ground")
    kept = [shape for shape in solid.shapes if shape.name in touching]
    leave_shapes(solid, kept)
    leave_lists(
        solid, "sensors", "cameras", "lights", "interfaces", "contexts", "controllers", "keyframes", "actuators",
        "tendons", "sites", "custom_attributes", "mimics", "equalities", "joints",
    )  # fmt: skip
    into, body = ~poses[root], solid.body(root)
    body.inertial = combine(inertials[name].moved(into @ poses[name]) for name in sorted(names))
    body.linear_velocity = body.angular_velocity = None
    for shape in kept:
        shape.pose, shape.body = into @ poses[shape.body] @ shape.pose, root
        shape.geometry = _make_hull(shape.geometry)
        # what a shape weighs is in the body's numbers
        shape.mass = shape.density = None
    solid.bodies = [body]
    turn = quat_from_axis_angle(vec3(1.0, 1.0, 0.0), _TILT)
    pose = Pose(poses[root].p, quat_multiply(turn, poses[root].q)) if tilted else poses[root]
    lows = [find_lowest(shape.geometry, pose @ shape.pose, scaled(shape)) for shape in kept]
    low = min((one for one in lows if one is not None), default=0.0)
    body.pose = Pose(pose.p + vec3(0.0, 0.0, gap - low), pose.q)
    solid.shapes.append(Shape(GROUND, Plane(), WORLD, visual=False, collision=True))
    solid.environment.gravity = vec3(0.0, 0.0, -_GRAVITY)
    # MuJoCo's pyramids hold less across their edges, so that things slide askew
    solid.environment.settings = {"cone": "elliptic"}
    # whose words these are is told by where the asset comes from
    solid.provenance = dataclasses.replace(solid.provenance, format="mjcf", info={})
    return solid


def _make_hull(geometry: Geometry) -> Geometry:
    """The convex hull of a mesh, which touches level ground exactly where the mesh does, and costs less."""
    if not isinstance(geometry, Mesh):
        return geometry
    hull = hull_points(np.asarray(geometry.data.vertices))
    return geometry if hull is None else Mesh.of(*hull)


def _find_heaviest(asset: Asset, inertials: Mapping[str, Inertial]) -> tuple[str, set[str]]:
    """The root of the heaviest tree that floats, and all bodies of it."""
    tree = build_tree(asset)
    require(bool(tree.roots), "nothing floats")
    members = {root: {root} for root in tree.roots}
    # edges go outwards from the roots
    for edge in tree.edges:
        for names in members.values():
            if edge.parent in names:
                names.add(edge.child)
    root = max(members, key=lambda name: sum(inertials[one].mass for one in members[name]))
    return root, members[root]


def _set_material(asset: Asset) -> None:
    """The same friction for all, and none of turning and rolling, which few engines have."""
    material = PhysicsMaterial(
        GROUND, FRICTION, FRICTION, torsional_friction=0.0, rolling_friction=0.0, restitution=0.0
    )
    asset.physics_materials = [material]
    for shape in asset.shapes:
        shape.physics_material, shape.visual, shape.material = GROUND, False, ""
        shape.category_bits = shape.collide_bits = shape.margin = shape.gap = None
        shape.settings = {}
    # friction and softness of contacts in the words of one engine
    asset.extras = Extras()
