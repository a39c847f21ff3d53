# SPDX-License-Identifier: Apache-2.0
"""Which prim path each element gets, links nested as their joints say (REP-0158 1.3), and the order of elements.

A child link is below its parent link, the joint beside it.  Shapes are in the scopes ``visual`` and ``collision``
of their link; a shape that is both seen and touched is in both.  The order of bodies, joints and the like, by which
coordinates and controls count, is that of the prims; it is noted only where it is another one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pxr import Sdf

from simwright.core.math3d import IDENTITY, Pose
from simwright.core.names import NameScope, make_identifier
from simwright.formats.usd.writer.layer import LayerWriter, join
from simwright.model.asset import Asset, Sensor, Shape
from simwright.model.joint import WORLD, EqualityKind, Joint, JointKind, Motion
from simwright.model.kinematics import Tree, build_tree
from simwright.model.ros import find_optical
from simwright.resolve.sensors import CAMERAS, NeutralSensor, express


class PrimNames:
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
# reserved before links are named: a link called "materials" gets another prim name
_ROOT_SCOPES = (
    VISUAL, COLLISION, "materials", "physics_materials", "prototypes", "Interfaces", "Controllers", "Actuators",
    "Tendons", "Sensors", "Keyframes", "ContactPairs", "PhysicsScene",
)  # fmt: skip
_SAME = 1e-6
_ENCODERS = ("jointpos", "jointvel", "joint_encoder")


@dataclass(slots=True)
class ColliderFidelity:
    """What a mesh collider is in each fidelity.

    ``fine`` tells whether there are triangles beside the hull; ``finer`` is the prototype that speaks of them, for
    colliders that share one; ``parts`` are the prims of its convex parts, inside their variant.
    """

    fine: bool = False
    finer: str = ""
    parts: list[str] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Chains:
    """Joints that are written as chains of joints of one freedom each.

    ``links`` are those between, by name, with the joint that they are of; ``parts`` the joints of chains, with the
    name and kind of the one that they are parts of.
    """

    links: dict[str, str] = field(default_factory=dict)
    parts: dict[str, tuple[str, str]] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class WritePlan:
    """Paths by model name.  ``poses`` are those of link prims in the prim above; ``optical`` by camera.

    ``freedoms`` has the prim and axis word of each freedom, filled as joints are written; ``references`` the
    coordinates that freedoms start at, which the layers count from zero.  ``is_divided`` asks for a prim for each
    freedom of a joint that has several, ``exact`` for the doubles that attributes round (see ``simwright.usd.notes``).
    """

    asset: Asset
    root: str
    tree: Tree
    names: PrimNames
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
    collider_prims: dict[str, str] = field(default_factory=dict)
    forms: dict[str, ColliderFidelity] = field(default_factory=dict)
    is_decomposed: bool = False
    is_for_mujoco: bool = False
    is_for_physx: bool = False
    is_for_newton: bool = False
    is_divided: bool = False
    chains: Chains = field(default_factory=Chains)
    sites: dict[str, str] = field(default_factory=dict)
    cameras: dict[str, str] = field(default_factory=dict)
    optical: dict[str, str] = field(default_factory=dict)
    lights: dict[str, str] = field(default_factory=dict)
    sensors: dict[str, str] = field(default_factory=dict)
    measuring: dict[str, str] = field(default_factory=dict)
    neutral: dict[str, NeutralSensor] = field(default_factory=dict)
    materials: dict[str, str] = field(default_factory=dict)
    contacts: dict[str, str] = field(default_factory=dict)
    controllers: dict[str, str] = field(default_factory=dict)

    @property
    def is_for_engine(self) -> bool:
        """Whether it is written for one engine alone."""
        return self.is_for_physx or self.is_divided

    def body(self, name: str) -> str:
        """The path of a body, the root for the world."""
        return self.bodies[name] if name != WORLD else self.root

    def scope(self, body: str, word: str) -> str:
        """The visual or collision scope of a body."""
        return f"{self.body(body)}/{word}"


def make_plan(asset: Asset, *, exact: bool = False) -> WritePlan:
    """Paths for all elements."""
    root = f"/{make_identifier(asset.name, 'asset')}"
    plan = WritePlan(asset, root, build_tree(asset), PrimNames(), exact)
    plan.names.reserve(root, *_ROOT_SCOPES)
    _plan_bodies(plan)
    _plan_joints(plan)
    for shape in asset.shapes:
        _plan_shape(plan, shape)
    _plan_frames(plan)
    _plan_sensors(plan)
    for light in asset.lights:
        plan.lights[light.name] = plan.names.claim(plan.body(light.body), light.name, "_light")
    for material in asset.materials:
        plan.materials[material.name] = plan.names.claim(f"{root}/materials", material.name)
    for contact in asset.physics_materials:
        plan.contacts[contact.name] = plan.names.claim(f"{root}/physics_materials", contact.name)
    return plan


def _plan_bodies(plan: WritePlan) -> None:
    poses = {body.name: body.pose for body in plan.asset.bodies}
    tops = {*plan.tree.roots, *(edge.child for edge in plan.tree.edges if edge.parent == WORLD)}
    # parents before children; MuJoCo counts coordinates of keyframes by the order of prims
    order = [(WORLD, body.name) for body in plan.asset.bodies if body.name in tops]
    order += [(edge.parent, edge.child) for edge in plan.tree.edges if edge.parent != WORLD]
    for parent, name in order:
        path = plan.names.claim(plan.body(parent), name)
        plan.names.reserve(path, VISUAL, COLLISION)
        plan.bodies[name] = path
        above = poses[parent] if parent != WORLD else IDENTITY
        plan.poses[name] = ~above @ poses[name]


def _plan_joints(plan: WritePlan) -> None:
    """Tree joints beside the link they lead to, the others in their parent."""
    beside = {id(edge.joint): edge.parent for edge in plan.tree.edges}
    dangling = {id(joint) for joint in plan.tree.dangling}
    for joint in plan.asset.joints:
        if id(joint) not in dangling:
            # a joint below its child link would move with it
            home = beside.get(id(joint), joint.parent)
            plan.joints[joint.name] = plan.names.claim(plan.body(home), joint.name, "_joint")


def _plan_shape(plan: WritePlan, shape: Shape) -> None:
    if shape.collision:
        scope = plan.scope(shape.body, COLLISION)
        path = plan.names.claim(scope, shape.name)
        plan.colliders[shape.name] = plan.collider_prims[shape.name] = path
    if shape.visual:
        scope = plan.scope(shape.body, VISUAL)
        # the collider keeps the name: filters and tendons refer to it
        word = f"{shape.name}_visual" if shape.collision else shape.name
        plan.visuals[shape.name] = plan.names.claim(scope, word)


def _plan_frames(plan: WritePlan) -> None:
    """Cameras, their optical frames, and the other frames."""
    taken: set[str] = set()
    for camera in plan.asset.cameras:
        path = plan.names.claim(plan.body(camera.body), camera.name, "_camera")
        plan.cameras[camera.name] = path
        site = find_optical(plan.asset, camera)
        # two cameras at one place may find the same optical frame
        if site is not None and site.name not in taken:
            taken.add(site.name)
            plan.optical[camera.name] = plan.sites[site.name] = plan.names.claim(path, site.name)
    for site in plan.asset.sites:
        if site.name not in taken:
            plan.sites[site.name] = plan.names.claim(plan.body(site.body), site.name, "_frame")


def _plan_sensors(plan: WritePlan) -> None:
    """A sensor that ROS or the registry knows is an Xform on its link; a camera is its Camera and optical frame."""
    used = {interface.at for interface in plan.asset.interfaces}
    for sensor in plan.asset.sensors:
        neutral = find_neutral(plan, sensor)
        camera = sensor.target or sensor.name
        is_camera = sensor.kind in CAMERAS
        if neutral is not None:
            plan.neutral[sensor.name] = neutral
        if (sensor.name in used and camera not in plan.optical) or (neutral is not None and not is_camera):
            plan.sensors[sensor.name] = _find_place(plan, sensor, neutral)
        if neutral is not None:
            plan.measuring[sensor.name] = plan.cameras[camera] if is_camera else plan.sensors[sensor.name]


def _find_place(plan: WritePlan, sensor: Sensor, neutral: NeutralSensor | None) -> str:
    """The prim of a sensor: its frame, where the world has one, else a new one."""
    if sensor.body == WORLD:
        for site in plan.asset.sites:
            same = site.body == WORLD and site.name == sensor.name
            if same and site.pose.is_close(place_sensor(sensor, neutral), _SAME):
                return plan.sites[site.name]
    return plan.names.claim(plan.body(sensor.body), sensor.name, "_sensor")


def place_sensor(sensor: Sensor, neutral: NeutralSensor | None) -> Pose:
    """The frame of a sensor's prim: the registry's, where the kind has another."""
    return sensor.pose if neutral is None else sensor.pose @ neutral.forms[0].turn


def find_neutral(plan: WritePlan, sensor: Sensor) -> NeutralSensor | None:
    """A sensor in the words of the registry, where there is a prim that they can be said of."""
    turning = True
    if sensor.kind in CAMERAS:
        camera = sensor.target or sensor.name
        if camera not in plan.cameras or plan.cameras[camera] in plan.measuring.values():
            return None
    elif sensor.kind in _ENCODERS:
        dofs = {dof.name: dof for joint in plan.asset.joints for dof in joint.dofs}
        dof = dofs.get(sensor.target)
        # an encoder reads one coordinate of a joint prim of its own
        if (
            dof is None
            or dof.motion not in (Motion.HINGE, Motion.SLIDE)
            or _count_dofs(plan, sensor.target) != 1
        ):
            return None
        turning = dof.motion is Motion.HINGE
    return express(sensor, turning=turning)


def _count_dofs(plan: WritePlan, dof: str) -> int:
    return next((len(j.dofs) for j in plan.asset.joints if any(d.name == dof for d in j.dofs)), 0)


def find_articulation_root(plan: WritePlan, base: str) -> str:
    """The prim of an articulation root: the fixed joint that holds the base, else the base link.

    PhysX lets the base float where the root is on the link, and fixes it, whatever the joint, where it is on the joint
    (ovphysx 0.7): so a base that turns or slides on the world has its root on the link.  MuJoCo's reader (4.0.0) makes
    a body of every prim with the API, and refuses a joint as one without mass.
    """
    if plan.is_for_mujoco:
        return plan.bodies[base]
    for edge in plan.tree.edges:
        if edge.child == base and edge.parent == WORLD and edge.joint.kind is JointKind.FIXED:
            return plan.joints[edge.joint.name]
    return plan.bodies[base]


def list_written(plan: WritePlan) -> list[Joint]:
    """Joints that have a path, in order."""
    return [joint for joint in plan.asset.joints if joint.name in plan.joints]


Row = tuple[str, str, tuple[int, ...]]
"""The prim of an element, the key of its note, and what it is sorted by without one."""


def note_order(plan: WritePlan, layers: Sequence[LayerWriter]) -> None:
    """Note the order of every family that is not in the order of its prims; ``layers`` come weakest first."""
    ranks = rank_prims(plan.root, layers)
    for rows in _list_families(plan, ranks):
        keys = [key for _, _, key in rows]
        if keys == sorted(keys):
            continue
        for number, (path, word, _) in enumerate(rows):
            # not in base.usda and instances.usda, which hold the tree and geometry only
            _find_home(layers[2:], path).note(path, **{word: number})


def rank_prims(root: str, layers: Sequence[LayerWriter]) -> dict[str, int]:
    """The place of every prim in the composed stage: depth first, children of weaker layers before the others."""
    ranks: dict[str, int] = {}
    # composition puts children of weaker layers first; a stage would tell, but would have to be composed
    specs = [spec for layer in layers if (spec := layer.sdf.GetPrimAtPath(root)) is not None]
    stack = [(root, specs)]
    while stack:
        path, specs = stack.pop()
        ranks[path] = len(ranks)
        children: dict[str, list[Sdf.PrimSpec]] = {}
        for spec in specs:
            for child in spec.nameChildren:
                children.setdefault(child.name, []).append(child)
        stack += [(f"{path}/{name}", found) for name, found in reversed(children.items())]
    return ranks


# families that count by order, each with the note that tells it
def _list_families(plan: WritePlan, ranks: dict[str, int]) -> list[list[Row]]:
    asset = plan.asset
    plain = [
        [paths[element.name] for element in elements if element.name in paths]
        for elements, paths in (
            (asset.bodies, plan.bodies),
            (asset.tendons, plan.tendons),
            (asset.actuators, plan.actuators),
            (asset.controllers, plan.controllers),
        )
    ]
    families: list[list[Row]] = [[(path, "order", (ranks[path],)) for path in paths] for paths in plain]
    places = {**plan.sensors, **plan.measuring}
    sensors = [places[sensor.name] for sensor in asset.sensors if sensor.name in places]
    families.append([(path, "sensor_order", (ranks[path],)) for path in sensors])
    equalities = [equality for equality in asset.equalities if equality.name in plan.equalities]
    words = {EqualityKind.TENDON: "equality_order"}
    held = [(plan.equalities[equality.name], words.get(equality.kind, "order")) for equality in equalities]
    families.append([(path, word, (ranks[path],)) for path, word in held])
    return [*families, _list_joints(plan, ranks), _list_mimics(plan)]


def _list_joints(plan: WritePlan, ranks: dict[str, int]) -> list[Row]:
    """Joints by the bodies they lead to; the note of a floating one is on its body."""
    places = {body.name: number for number, body in enumerate(plan.asset.bodies)}
    loops = {id(joint) for joint in plan.tree.loops}
    written = {id(joint) for joint in list_written(plan)}
    rows: list[Row] = []
    for joint in plan.asset.joints:
        child = joint.child if joint.child != WORLD else joint.parent
        is_loop = joint.closes_loop or id(joint) in loops
        if id(joint) in written:
            path, word = plan.joints[joint.name], "order"
        elif joint.kind is JointKind.FLOATING and joint.parent == WORLD:
            path, word = plan.bodies[child], "free_order"
        else:
            continue
        rows.append((path, word, (int(is_loop), places[child], ranks[path])))
    return rows


def _list_mimics(plan: WritePlan) -> list[Row]:
    dofs = [dof.name for joint in plan.asset.joints for dof in joint.dofs]
    places = {name: number for number, name in enumerate(dofs)}
    return [
        (plan.freedoms[mimic.follower][0], "mimic_order", (places[mimic.follower],))
        for mimic in plan.asset.mimics
        if mimic.follower in plan.freedoms and mimic.leader in plan.freedoms
    ]


def _find_home(features: Sequence[LayerWriter], path: str) -> LayerWriter:
    """The weakest layer that speaks of a prim; ``physics.usda`` where none does."""
    return next((layer for layer in features if layer.sdf.GetPrimAtPath(path)), features[0])
