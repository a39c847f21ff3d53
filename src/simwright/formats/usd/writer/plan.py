# SPDX-License-Identifier: Apache-2.0
"""Which prim path each element gets, links nested as their joints say (REP-0158 1.3), and the order of elements.

A child link is below its parent link, the joint beside it.  Shapes are in the scopes ``visual`` and ``collision``
of their link; a shape that is both seen and touched is in both.  The order of bodies, joints and the like, by which
coordinates and controls count, is that of the prims; it is noted only where it is another one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from simwright.core.math3d import IDENTITY, Pose
from simwright.core.names import NameScope, make_identifier
from simwright.formats.usd.writer.layer import Sheet, join
from simwright.model.asset import Asset, Shape
from simwright.model.joint import WORLD, EqualityKind, Joint, JointKind
from simwright.model.kinematics import Tree, build_tree
from simwright.model.optics import find_optical


class Names:
    """Hands out child paths; the first who asks gets the plain name."""

    def __init__(self) -> None:
        self._scopes: dict[str, NameScope] = {}

    def reserve(self, parent: str, *names: str) -> None:
        """Names that are kept for the writer's own scopes."""
        scope = self._scopes.setdefault(parent, NameScope())
        for name in names:
            scope.claim(name)

    def claim(self, parent: str, name: str, suffix: str = "") -> str:
        """A free path below ``parent``; the suffix is tried before a number."""
        scope = self._scopes.setdefault(parent, NameScope())
        word = make_identifier(name)
        if suffix and word in scope:
            word = f"{word}{suffix}"
        return join(parent, scope.claim(word))


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


Row = tuple[str, str, tuple[int, ...]]
"""The prim of an element, the key of its note, and what it is sorted by without one."""


def note_order(layout: Layout, sheets: Sequence[Sheet]) -> None:
    """Note the order of every family that is not in the order of its prims; ``sheets`` come weakest first."""
    ranks = rank_prims(layout.root, sheets)
    for rows in _list_families(layout, ranks):
        keys = [key for _, _, key in rows]
        if keys == sorted(keys):
            continue
        for number, (path, word, _) in enumerate(rows):
            _find_home(sheets[2:], path).note(path, **{word: number})


def rank_prims(root: str, sheets: Sequence[Sheet]) -> dict[str, int]:
    """The place of every prim in the composed stage: depth first, children of weaker layers before the others."""
    ranks: dict[str, int] = {}
    stack = [root]
    while stack:
        path = stack.pop()
        ranks[path] = len(ranks)
        children: dict[str, None] = {}
        for sheet in sheets:
            spec = sheet.layer.GetPrimAtPath(path)
            if spec is not None:
                children |= dict.fromkeys(spec.nameChildren.keys())
        stack += [f"{path}/{name}" for name in reversed(children)]
    return ranks


def _list_families(layout: Layout, ranks: dict[str, int]) -> list[list[Row]]:
    asset = layout.asset
    plain = [
        [paths[element.name] for element in elements if element.name in paths]
        for elements, paths in (
            (asset.bodies, layout.bodies),
            (asset.tendons, layout.tendons),
            (asset.actuators, layout.actuators),
            (asset.controllers, layout.controllers),
        )
    ]
    families: list[list[Row]] = [[(path, "order", (ranks[path],)) for path in paths] for paths in plain]
    sensors = [layout.sensors[sensor.name] for sensor in asset.sensors if sensor.name in layout.sensors]
    families.append([(path, "sensor_order", (ranks[path],)) for path in sensors])
    equalities = [equality for equality in asset.equalities if equality.name in layout.equalities]
    words = {EqualityKind.TENDON: "equality_order"}
    held = [(layout.equalities[equality.name], words.get(equality.kind, "order")) for equality in equalities]
    families.append([(path, word, (ranks[path],)) for path, word in held])
    return [*families, _list_joints(layout, ranks), _list_mimics(layout)]


def _list_joints(layout: Layout, ranks: dict[str, int]) -> list[Row]:
    """Joints by the bodies they lead to; the note of a floating one is on its body."""
    places = {body.name: number for number, body in enumerate(layout.asset.bodies)}
    loops = {id(joint) for joint in layout.tree.loops}
    written = {id(joint) for joint in list_written(layout)}
    rows: list[Row] = []
    for joint in layout.asset.joints:
        child = joint.child if joint.child != WORLD else joint.parent
        is_loop = joint.closes_loop or id(joint) in loops
        if id(joint) in written:
            path, word = layout.joints[joint.name], "order"
        elif joint.kind is JointKind.FLOATING and joint.parent == WORLD:
            path, word = layout.bodies[child], "free_order"
        else:
            continue
        rows.append((path, word, (int(is_loop), places[child], ranks[path])))
    return rows


def _list_mimics(layout: Layout) -> list[Row]:
    dofs = [dof.name for joint in layout.asset.joints for dof in joint.dofs]
    places = {name: number for number, name in enumerate(dofs)}
    return [
        (layout.freedoms[mimic.follower][0], "mimic_order", (places[mimic.follower],))
        for mimic in layout.asset.mimics
        if mimic.follower in layout.freedoms and mimic.leader in layout.freedoms
    ]


def _find_home(features: Sequence[Sheet], path: str) -> Sheet:
    """The weakest layer that speaks of a prim; ``physics.usda`` where none does."""
    return next((sheet for sheet in features if sheet.layer.GetPrimAtPath(path)), features[0])
