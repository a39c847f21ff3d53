# SPDX-License-Identifier: Apache-2.0
"""Where everything goes: one path for each element, links nested as their joints say (REP-0158 1.3).

A child link is below its parent link, the joint beside it.  Shapes are in the scopes ``visual`` and ``collision``
of their link; a shape that is both seen and touched is in both.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from simwright.core.math3d import IDENTITY, Pose
from simwright.core.names import make_identifier
from simwright.formats.usd.writer.names import Names
from simwright.model.asset import Asset, Shape
from simwright.model.joint import WORLD, Joint
from simwright.model.kinematics import Tree, build_tree
from simwright.model.optics import find_optical

VISUAL, COLLISION = "visual", "collision"
VISUAL_SET, VISUAL_DEFAULT = "visual_representation", "mesh_medium"
COLLISION_SET, BASELINE, ADVANCED = "collision_fidelity", "baseline", "advanced"
DECOMPOSED = "decomposed"
VISUAL_HIGH, VISUAL_LOW = "mesh_high", "mesh_low"
_ROOT_SCOPES = (
    VISUAL, COLLISION, "materials", "physics_materials", "prototypes", "Interfaces", "Controllers", "Actuators",
    "Tendons", "Sensors", "Keyframes", "ContactPairs", "PhysicsScene",
)  # fmt: skip
_SAME = 1e-6


@dataclass(slots=True)
class Form:
    """What a mesh collider is in each fidelity.

    ``fine`` tells whether there are triangles beside the hull; ``finer`` is the prototype that speaks of them, for
    colliders that share one; ``parts`` are the prims of its convex parts, inside their variant.
    """

    fine: bool = False
    finer: str = ""
    parts: list[str] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Layout:
    """Paths by model name.  ``poses`` are those of link prims in the prim above; ``optical`` by camera.

    ``freedoms`` has the prim and axis word of each freedom, filled as joints are written; ``references`` the
    coordinates that freedoms start at, which the layers count from zero.  ``exact`` asks for the doubles that
    attributes round (see ``simwright.usd.notes``).
    """

    asset: Asset
    root: str
    tree: Tree
    names: Names
    exact: bool = False
    bodies: dict[str, str] = field(default_factory=dict)
    poses: dict[str, Pose] = field(default_factory=dict)
    joints: dict[str, str] = field(default_factory=dict)
    freedoms: dict[str, tuple[str, str]] = field(default_factory=dict)
    references: dict[str, float] = field(default_factory=dict)
    equalities: dict[str, str] = field(default_factory=dict)
    tendons: dict[str, str] = field(default_factory=dict)
    actuators: dict[str, str] = field(default_factory=dict)
    keyframes: dict[str, str] = field(default_factory=dict)
    visuals: dict[str, str] = field(default_factory=dict)
    colliders: dict[str, str] = field(default_factory=dict)
    touched: dict[str, str] = field(default_factory=dict)
    forms: dict[str, Form] = field(default_factory=dict)
    is_decomposed: bool = False
    sites: dict[str, str] = field(default_factory=dict)
    cameras: dict[str, str] = field(default_factory=dict)
    optical: dict[str, str] = field(default_factory=dict)
    lights: dict[str, str] = field(default_factory=dict)
    sensors: dict[str, str] = field(default_factory=dict)
    materials: dict[str, str] = field(default_factory=dict)
    contacts: dict[str, str] = field(default_factory=dict)
    controllers: dict[str, str] = field(default_factory=dict)

    def body(self, name: str) -> str:
        """The path of a body, the root for the world."""
        return self.bodies[name] if name != WORLD else self.root

    def scope(self, body: str, word: str) -> str:
        """The visual or collision scope of a body."""
        return f"{self.body(body)}/{word}"


def plan(asset: Asset, *, exact: bool = False) -> Layout:
    """Paths for all elements."""
    root = f"/{make_identifier(asset.name, 'asset')}"
    layout = Layout(asset, root, build_tree(asset), Names(), exact)
    layout.names.reserve(root, *_ROOT_SCOPES)
    _plan_bodies(layout)
    _plan_joints(layout)
    for shape in asset.shapes:
        _plan_shape(layout, shape)
    _plan_frames(layout)
    _plan_sensors(layout)
    for light in asset.lights:
        layout.lights[light.name] = layout.names.claim(layout.body(light.body), light.name, "_light")
    for material in asset.materials:
        layout.materials[material.name] = layout.names.claim(f"{root}/materials", material.name)
    for contact in asset.physics_materials:
        layout.contacts[contact.name] = layout.names.claim(f"{root}/physics_materials", contact.name)
    return layout


def _plan_bodies(layout: Layout) -> None:
    poses = {body.name: body.pose for body in layout.asset.bodies}
    order = [(WORLD, name) for name in layout.tree.roots]
    order += [(edge.parent, edge.child) for edge in layout.tree.edges if edge.parent == WORLD]
    order += [(edge.parent, edge.child) for edge in layout.tree.edges if edge.parent != WORLD]
    for parent, name in order:
        path = layout.names.claim(layout.body(parent), name)
        layout.names.reserve(path, VISUAL, COLLISION)
        layout.bodies[name] = path
        above = poses[parent] if parent != WORLD else IDENTITY
        layout.poses[name] = ~above @ poses[name]


def _plan_joints(layout: Layout) -> None:
    """Tree joints beside the link they lead to, the others in their parent."""
    beside = {id(edge.joint): edge.parent for edge in layout.tree.edges}
    dangling = {id(joint) for joint in layout.tree.dangling}
    for joint in layout.asset.joints:
        if id(joint) not in dangling:
            home = beside.get(id(joint), joint.parent)
            layout.joints[joint.name] = layout.names.claim(layout.body(home), joint.name, "_joint")


def _plan_shape(layout: Layout, shape: Shape) -> None:
    if shape.collision:
        scope = layout.scope(shape.body, COLLISION)
        path = layout.names.claim(scope, shape.name)
        layout.colliders[shape.name] = layout.touched[shape.name] = path
    if shape.visual:
        scope = layout.scope(shape.body, VISUAL)
        word = f"{shape.name}_visual" if shape.collision else shape.name
        layout.visuals[shape.name] = layout.names.claim(scope, word)


def _plan_frames(layout: Layout) -> None:
    """Cameras, their optical frames, and the other frames."""
    taken: set[str] = set()
    for camera in layout.asset.cameras:
        path = layout.names.claim(layout.body(camera.body), camera.name, "_camera")
        layout.cameras[camera.name] = path
        site = find_optical(layout.asset, camera)
        if site is not None and site.name not in taken:
            taken.add(site.name)
            layout.optical[camera.name] = layout.sites[site.name] = layout.names.claim(path, site.name)
    for site in layout.asset.sites:
        if site.name not in taken:
            layout.sites[site.name] = layout.names.claim(layout.body(site.body), site.name, "_frame")


def _plan_sensors(layout: Layout) -> None:
    """A sensor that ROS knows is an Xform on its link; cameras have their optical frames."""
    used = {interface.at for interface in layout.asset.interfaces}
    frames = {site.name: site for site in layout.asset.sites if site.body == WORLD}
    for sensor in layout.asset.sensors:
        if sensor.name in used and (sensor.target or sensor.name) not in layout.optical:
            frame = frames.get(sensor.name) if sensor.body == WORLD else None
            if frame is not None and frame.pose.is_close(sensor.pose, _SAME):  # its frame is a prim already
                layout.sensors[sensor.name] = layout.sites[frame.name]
            else:
                path = layout.names.claim(layout.body(sensor.body), sensor.name, "_sensor")
                layout.sensors[sensor.name] = path


def list_written(layout: Layout) -> list[Joint]:
    """Joints that have a path, in order."""
    return [joint for joint in layout.asset.joints if joint.name in layout.joints]
