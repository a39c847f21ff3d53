# SPDX-License-Identifier: Apache-2.0
"""What is drawn of each body of an asset, in the body's own frame: looks, colliders, mass, axes, sites, cameras.

Meshes are binary glTF as our writer makes it, with materials and textures; a body that has nothing of a kind has none.
"""

from __future__ import annotations

import dataclasses
import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from simwright.core.diag import Reporter
from simwright.core.math3d import IDENTITY, Array, Pose
from simwright.formats.format import WriteOptions
from simwright.formats.gltf.write import build_files
from simwright.model.asset import Asset, Camera, Shape, Site
from simwright.model.geometry import Plane, box_bounds
from simwright.model.inertia import Inertial, principal_axes
from simwright.model.joint import WORLD, Joint, Motion
from simwright.model.kinematics import Tree
from simwright.model.mass import body_inertials

UPRIGHT = (math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0)
"""Turns what glTF stores, Y up, back to Z up (w, x, y, z)."""
_COLLIDER = (0.15, 0.55, 0.95, 0.45)
_ENDLESS = 20.0
"""Sides of a plane without end, as it is drawn [m]."""


@dataclass(frozen=True, slots=True)
class InertiaBox:
    """The box of even density that has the mass and inertia of a body; ``size`` are its sides [m]."""

    pose: Pose
    size: Array
    mass: float


@dataclass(frozen=True, slots=True)
class JointAxis:
    """An axis of a joint, where it is on the body that it carries."""

    joint: Joint
    motion: Motion
    start: Array
    along: Array


@dataclass(slots=True)
class BodyDrawing:
    """One body; ``looks`` and ``colliders`` are .glb files, Y up."""

    name: str
    looks: bytes = b""
    colliders: bytes = b""
    box: InertiaBox | None = None
    axes: list[JointAxis] = field(default_factory=list)
    sites: list[Site] = field(default_factory=list)
    cameras: list[Camera] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class AssetDrawing:
    """All bodies, with the world as the one without a name; ``lower`` and ``upper`` are corners of all of it [m]."""

    bodies: dict[str, BodyDrawing]
    lower: Array
    upper: Array

    @property
    def size(self) -> float:
        """The largest side [m]."""
        return float(np.max(self.upper - self.lower))


def draw_asset(asset: Asset, tree: Tree, poses: dict[str, Pose]) -> AssetDrawing:
    """Everything that can be shown of an asset whose bodies stand at ``poses``."""
    shapes: dict[str, list[Shape]] = defaultdict(list)
    for shape in asset.shapes:
        shapes[shape.body].append(shape)
    names = [WORLD, *(body.name for body in asset.bodies)]
    bodies = {name: BodyDrawing(name) for name in names}
    for name, drawing in bodies.items():
        drawing.looks = _write_glb(asset, [shape for shape in shapes[name] if shape.visual])
        drawing.colliders = _write_glb(asset, list(_show_colliders(shapes[name])))
    for name, inertial in body_inertials(asset).items():
        bodies[name].box = find_inertia_box(inertial)
    for site in asset.sites:
        bodies[site.body].sites.append(site)
    for camera in asset.cameras:
        bodies[camera.body].cameras.append(camera)
    for edge in tree.edges:
        # the axes stand still in the frame on the parent of a joint, and turn with what comes before them
        frame = edge.joint.child_frame if not edge.reversed else edge.joint.parent_frame
        for dof in edge.joint.dofs:
            if dof.motion in (Motion.HINGE, Motion.SLIDE):
                start = frame @ Pose.of(p=tuple(dof.anchor))
                along = (frame @ Pose.of(p=tuple(dof.axis))).p - frame.p
                bodies[edge.child].axes.append(JointAxis(edge.joint, dof.motion, start.p, along))
    return AssetDrawing(bodies, *_find_extent(asset, {WORLD: IDENTITY, **poses}))


def _write_glb(asset: Asset, shapes: list[Shape]) -> bytes:
    """Shapes of one body as they are placed on it; nothing where there are none."""
    if not shapes:
        return b""
    alone = [dataclasses.replace(_end(shape), body=WORLD, enabled=True) for shape in shapes]
    part = Asset("part", shapes=alone, materials=asset.materials)
    part.provenance = asset.provenance
    # what cannot be drawn was said when the file was read or will be by convert: a picture says nothing
    return build_files(part, "part.glb", WriteOptions(), Reporter())["part.glb"]


def _end(shape: Shape) -> Shape:
    """A plane without end is drawn as a large one."""
    geometry = shape.geometry
    if isinstance(geometry, Plane) and geometry.size is None:
        return dataclasses.replace(shape, geometry=Plane(np.array((_ENDLESS, _ENDLESS))))
    return shape


def _show_colliders(shapes: list[Shape]) -> Iterator[Shape]:
    for shape in shapes:
        if shape.collision:
            yield dataclasses.replace(
                shape, visual=True, collision=False, material="", color=_COLLIDER, purpose="default"
            )


def find_inertia_box(inertial: Inertial) -> InertiaBox | None:
    """The box that resists turning as the body does; None for a body without mass, or one that no box is like."""
    if not inertial.mass > 0.0 or not math.isfinite(inertial.mass):
        return None
    moments, axes = principal_axes(inertial.inertia)
    # of a box with sides a, b, c the moment about x is m (b2 + c2) / 12, and so on
    squares = 6.0 / inertial.mass * (np.sum(moments) - 2.0 * np.asarray(moments))
    if not np.all(np.isfinite(squares)) or np.any(squares < -1e-12):
        return None
    return InertiaBox(
        Pose.of(p=tuple(inertial.com), q=tuple(axes)), np.sqrt(np.maximum(squares, 0.0)), inertial.mass
    )


def _find_extent(asset: Asset, poses: dict[str, Pose]) -> tuple[Array, Array]:
    """Corners of a box around everything that has an end [m]."""
    points = [pose.p for pose in poses.values()]
    for shape in asset.shapes:
        bounds = box_bounds(shape.geometry) if shape.visual or shape.collision else None
        if bounds is None or isinstance(shape.geometry, Plane):
            continue
        lower, upper = (corner * (1.0 if shape.scale is None else shape.scale) for corner in bounds)
        place = poses[shape.body] @ shape.pose
        points += [
            (place @ Pose.of(p=(x, y, z))).p
            for x in (lower[0], upper[0])
            for y in (lower[1], upper[1])
            for z in (lower[2], upper[2])
        ]
    corners = np.array(points)
    return corners.min(axis=0), np.maximum(corners.max(axis=0), corners.min(axis=0) + 0.05)
