# SPDX-License-Identifier: Apache-2.0
"""Entities of a running simulation: which there are, where they are, how they are moved, filtered and measured.

An entity is a mechanism of the asset that is run, or a whole asset that was spawned.  Its pose is that of its first
root body.  First: who makes assets of files that peers name.  At the end: what the services of
``simulation_interfaces`` answer about entities.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from simwright.core.diag import Reporter
from simwright.core.errors import NotFoundError, SimwrightError, UsageError
from simwright.core.math3d import IDENTITY, Array, Pose, quat_conjugate, quat_rotate, vec3
from simwright.core.names import NameScope
from simwright.model.asset import Asset, scaled
from simwright.model.geometry import box_bounds
from simwright.model.joint import WORLD, Motion
from simwright.model.kinematics import build_tree
from simwright.model.renaming import ON_BODY
from simwright.ros.messages import (
    are_finite,
    make_header,
    make_pose,
    make_twist,
    make_vector,
    read_pose,
    read_vector,
)
from simwright.ros.parts import PartSimulation, SharedSimulation
from simwright.ros.simulator_answers import FAILED, AnsweredError, UnsupportedError
from simwright.ros.transports.transport import Message

ROBOT, DYNAMIC, STATIC = 1, 4, 5
"""Categories of EntityCategory that are told from the asset; peers may set others."""
BOX, SPHERE = 1, 3
"""Types of Bounds."""
_LONGEST_FILTER, _MOST_REPEATS = 200, 3


@dataclass(frozen=True, slots=True)
class VariantSet:
    """A variant set of a file: which variants there are, and which is selected."""

    selected: str
    names: tuple[str, ...]


class FileReader(Protocol):
    """Makes assets of files that peers name."""

    def read(self, path: Path, reporter: Reporter, variants: Mapping[str, str]) -> Asset:
        """The asset of a file, at variants; scenes and 2D worlds are assets too."""

    def is_world(self, path: Path) -> bool:
        """Whether it is a scene or a 2D world, which can be loaded but not spawned."""

    def list_variants(self, path: Path, chosen: Mapping[str, str]) -> dict[str, VariantSet]:
        """Variant sets of a file that leave a choice, where others are chosen already."""


@dataclass(slots=True, eq=False)
class Entity:
    """Something that peers know by its name: ``bodies`` of a part by root, its category, description and tags.

    ``place`` is where one without bodies was put.
    """

    name: str
    part: PartSimulation
    bodies: dict[str, tuple[str, ...]]
    is_spawned: bool = False
    place: Pose = IDENTITY
    category: int = 0
    description: str = ""
    tags: list[str] = field(default_factory=list)

    def find_pose(self, body: str = "") -> Pose:
        """Where a body is, the first root unless another one is named."""
        name = body or next(iter(self.bodies), "")
        if not name:
            return self.place
        row = self.part.body_poses()[0, self.part.layout.find_body(name)]
        return Pose.of(row[:3], row[3:])

    def find_twist(self) -> tuple[Array, Array]:
        """Velocity of the first root body and its turning, along the axes of the world; zero for what stands."""
        if not self.bodies:
            return vec3(), vec3()
        rates = self.part.body_velocities()
        if rates is None:
            raise UsageError("this engine does not report velocities of bodies")
        row = rates[self.part.layout.find_body(next(iter(self.bodies)))]
        return row[:3], row[3:]


def list_entities(part: PartSimulation, name: str = "") -> list[Entity]:
    """The mechanisms of an asset; with a ``name``, all of it is one entity of that name."""
    asset = part.asset
    tree = build_tree(asset)
    groups: dict[str, list[str]] = {root: [root] for root in tree.roots}
    owner = {root: root for root in tree.roots}
    for edge in tree.edges:
        # what hangs on the world begins a mechanism of its own
        owner[edge.child] = edge.child if edge.parent == WORLD else owner[edge.parent]
        groups.setdefault(owner[edge.child], []).append(edge.child)
    bodies = {root: tuple(names) for root, names in groups.items()}
    if name:
        return [Entity(name, part, bodies, True, category=_categorize(part, [*owner]))]
    taken, found = NameScope(), []
    scopes = {body.name: body.scope for body in asset.bodies}
    for root, names in bodies.items():
        own = asset.name if len(bodies) == 1 and asset.name else scopes[root] or root
        entity = Entity(taken.claim(own), part, {root: names}, category=_categorize(part, names))
        found.append(entity)
    return found


def _categorize(part: PartSimulation, bodies: Sequence[str]) -> int:
    """A robot has joints that something drives or commands; what has none and is held stands still."""
    # one function: three answers from the same freedoms; comprehensions count as branches
    own, asset = set(bodies), part.asset
    moving = [freedom for freedom in part.layout.freedoms if freedom.body in own]
    if not moving:
        return STATIC
    driven = {actuator.target for actuator in asset.actuators}
    for controller in asset.controllers:
        driven |= {name for names in controller.joints.values() for name in names}
    for freedom in moving:
        if freedom.joint is None or freedom.dof is None or freedom.motion is Motion.FREE:
            continue
        if freedom.dof.drive is not None or {freedom.name, freedom.joint.name} & driven:
            return ROBOT
    return DYNAMIC


def move_entity(entity: Entity, pose: Pose, shared: SharedSimulation) -> bool:
    """Put an entity somewhere, joints as they are; tells whether something was moved that nothing can move by itself.

    What floats gets other coordinates; what is held gets another place in the asset, which is opened again.
    """
    part = entity.part
    delta = pose @ ~entity.find_pose()
    free = _find_free(part)
    held = [root for root in entity.bodies if root not in free]
    if held or (entity.is_spawned and _list_in_world(part.asset)):
        before, part.asset = part.asset, _shift(entity, held, delta)
        try:
            shared.reopen(shared.parts)
        except SimwrightError:
            part.asset = before
            raise
    positions = part.positions
    for root in entity.bodies:
        if root in free:
            freedom = free[root]
            place = ~freedom.near @ delta @ entity.find_pose(root) @ freedom.far
            positions[0, freedom.positions] = [*place.p, *place.q]
    part.set_state(positions)
    entity.place = delta @ entity.place
    return bool(held)


def _find_free(part: PartSimulation) -> dict[str, Any]:
    return {
        f.body: f
        for f in part.layout.freedoms
        if f.motion is Motion.FREE and f.parent == WORLD and not f.inverted
    }


def _shift(entity: Entity, roots: Sequence[str], delta: Pose) -> Asset:
    """The asset with these mechanisms of an entity elsewhere."""
    asset = entity.part.asset.copy()
    moved = {name for root in roots for name in entity.bodies[root]}
    for body in asset.bodies:
        if body.name in moved:
            body.pose = delta @ body.pose
    for joint in asset.joints:
        _shift_end(joint, ("parent", "parent_frame"), ("child", "child_frame"), moved, delta)
    for equality in asset.equalities:
        _shift_end(equality, ("a", "frame_a"), ("b", "frame_b"), moved, delta)
    # shapes of the world belong to a spawned asset as a whole
    for element in _list_in_world(asset) if entity.is_spawned else ():
        element.pose = delta @ element.pose
    return asset


def _shift_end(
    element: Any, first: tuple[str, str], second: tuple[str, str], moved: set[str], delta: Pose
) -> None:
    """Where something holds a moved body in the world, its frame in the world goes along."""
    for (own, frame), (other, _) in ((first, second), (second, first)):
        if getattr(element, own) == WORLD and getattr(element, other) in moved:
            setattr(element, frame, delta @ getattr(element, frame))


def _list_in_world(asset: Asset) -> list[Any]:
    return [element for family in ON_BODY for element in getattr(asset, family) if element.body == WORLD]


def set_twist(entity: Entity, linear: Array, angular: Array) -> None:
    """Let an entity move as one piece; what is held can only be told to stand."""
    part, free = entity.part, _find_free(entity.part)
    if not set(entity.bodies) & set(free):
        if linear.any() or angular.any():
            raise UsageError(f"{entity.name!r} is held in its place, and cannot have a velocity")
        return
    rates = part.velocities
    origin = entity.find_pose().p
    for root in set(entity.bodies) & set(free):
        freedom, place = free[root], entity.find_pose(root)
        arm = place.apply(freedom.far.p) - origin
        turn = quat_conjugate(freedom.near.q)
        moving = quat_rotate(turn, linear + np.cross(angular, arm))
        rates[0, freedom.velocities] = [*moving, *quat_rotate(turn, angular)]
    part.set_state(velocities=rates)


def measure_bounds(entity: Entity, frame: Pose) -> tuple[Array, Array] | None:
    """Corners of the box along the axes of a frame around all shapes that have an end; None without any [m]."""
    names = {name for names in entity.bodies.values() for name in names}
    if entity.is_spawned:
        names.add(WORLD)
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)])
    points = []
    for shape in entity.part.asset.shapes:
        bounds = box_bounds(shape.geometry) if shape.body in names else None
        if bounds is not None:
            place = IDENTITY if shape.body == WORLD else entity.find_pose(shape.body)
            own = np.take_along_axis(np.stack(bounds), corners, axis=0) * scaled(shape)
            points.append((~frame @ place @ shape.pose).apply(own))
    if not points:
        return None
    everything = np.concatenate(points)
    return everything.min(axis=0), everything.max(axis=0)


class EntityFilter:
    """Which entities a request is about: by name, category, tags, and what they overlap."""

    def __init__(self, filters: Message) -> None:
        self._name = _read_pattern(str(filters["filter"]))
        self._categories = {int(one["category"]) for one in filters["categories"]}
        self._tags, self._needs_all = set(filters["tags"]["tags"]), int(filters["tags"]["filter_mode"]) == 1
        self._kind = int(filters["bounds"]["type"])
        self._points = np.array([read_vector(point) for point in filters["bounds"]["points"]]).reshape(-1, 3)
        if self._kind not in (0, BOX, SPHERE):
            raise UnsupportedError("only boxes and spheres are filtered by")
        if self._kind and (len(self._points) != 2 or not are_finite(self._points.ravel())):
            raise UsageError("a box or a sphere has two points")

    def accepts(self, entity: Entity) -> bool:
        """Whether the entity is asked for."""
        if self._name is not None and not self._name.search(entity.name):
            return False
        if self._categories and entity.category not in self._categories:
            return False
        own = set(entity.tags)
        if self._tags and not (self._tags <= own if self._needs_all else self._tags & own):
            return False
        return not self._kind or self._overlaps(entity)

    def _overlaps(self, entity: Entity) -> bool:
        place = entity.find_pose().p
        lower, upper = measure_bounds(entity, IDENTITY) or (place, place)
        if self._kind == BOX:
            low, high = self._points.min(axis=0), self._points.max(axis=0)
            return bool((lower <= high).all() and (upper >= low).all())
        nearest = np.clip(self._points[0], lower, upper)
        return bool(np.linalg.norm(nearest - self._points[0]) <= abs(self._points[1, 0]))


def _read_pattern(text: str) -> re.Pattern[str] | None:
    """A regular expression that cannot take long: a repeated group may take longer than the simulation lives."""
    if not text:
        return None
    repeats = len(re.findall(r"(?<!\\)[*+{]", text))
    if len(text) > _LONGEST_FILTER or repeats > _MOST_REPEATS or re.search(r"(?<!\\)\)[*+{]", text):
        raise UsageError(
            "the filter is too costly",
            hint=f"at most {_LONGEST_FILTER} characters and {_MOST_REPEATS} repetitions, none of a group",
        )
    try:
        return re.compile(text)
    except re.error as error:
        raise UsageError(f"the filter is not a regular expression: {error}") from None


_FARTHEST = 1e6
"""Poses beyond are taken for mistakes [m]."""


class EntityServices:
    """Answers about entities of a simulation.

    ``list_all`` gives all entities by name, ``time`` that of the simulation [ns]; ``tell_moved`` is called for one that
    was moved and that nothing could move by itself.
    """

    def __init__(
        self,
        shared: SharedSimulation,
        list_all: Callable[[], dict[str, Entity]],
        time: Callable[[], int],
        tell_moved: Callable[[Entity], None],
    ) -> None:
        self._shared, self._list, self._time, self._tell_moved = shared, list_all, time, tell_moved

    @property
    def answers(self) -> Mapping[str, Callable[[Message], Message]]:
        """Titles of services with what answers them."""
        return {
            "GetEntities": self._get_entities,
            "GetEntitiesStates": self._get_entities_states,
            "GetEntityState": lambda request: {"state": self._tell_state(self.find(request["entity"]))},
            "SetEntityState": self._set_entity_state,
            "GetEntityInfo": self._get_entity_info,
            "SetEntityInfo": self._set_entity_info,
            "GetEntityBounds": self._get_entity_bounds,
        }

    def find(self, name: str) -> Entity:
        """The entity of a name."""
        found = self._list().get(name)
        if found is None:
            raise NotFoundError(f"there is no entity {name[:200]!r}")
        return found

    def _select(self, request: Message) -> list[Entity]:
        chosen = EntityFilter(request["filters"])
        return [entity for entity in self._list().values() if chosen.accepts(entity)]

    def _get_entities(self, request: Message) -> Message:
        return {"entities": [entity.name for entity in self._select(request)]}

    def _get_entities_states(self, request: Message) -> Message:
        chosen = self._select(request)
        return {"entities": [e.name for e in chosen], "states": [self._tell_state(e) for e in chosen]}

    def _tell_state(self, entity: Entity) -> Message:
        linear, angular = entity.find_twist()
        return {
            "header": make_header(self._time(), "world"),
            "pose": make_pose(entity.find_pose()),
            "twist": make_twist(linear, angular),
        }

    def _set_entity_state(self, request: Message) -> Message:
        entity, state = self.find(request["entity"]), request["state"]
        frame = str(state["header"]["frame_id"])
        if request["set_pose"]:
            pose = self.read_pose(state["pose"], frame, code=101)
            if move_entity(entity, pose, self._shared):
                self._tell_moved(entity)
        if request["set_twist"]:
            linear, angular = (read_vector(state["twist"][key]) for key in ("linear", "angular"))
            if not are_finite((*linear, *angular)):
                raise UsageError("the twist has values that are not numbers")
            turn = self._find_frame(frame)
            set_twist(entity, turn.rotation @ linear, turn.rotation @ angular)
        if request["set_acceleration"]:
            raise UnsupportedError("accelerations follow from forces, and cannot be set")
        return {}

    def _find_frame(self, name: str) -> Pose:
        """The pose of a frame that poses of requests may be in: the world, or an entity."""
        if name in ("", "world"):
            return IDENTITY
        found = self._list().get(name)
        if found is None:
            raise AnsweredError(FAILED, f"frame {name[:200]!r} is neither the world nor an entity")
        return found.find_pose()

    def read_pose(self, pose: Message, frame: str, code: int = 109) -> Pose:
        """A pose of a request in the world; ``code`` is the result of one that is none."""
        place, turn = pose["position"], pose["orientation"]
        numbers = [*read_vector(place), *(float(turn[key]) for key in ("w", "x", "y", "z"))]
        length = sum(value * value for value in numbers[3:])
        if not are_finite(numbers) or max(map(abs, numbers[:3])) > _FARTHEST:
            raise AnsweredError(code, "the position has no place in the world")
        # all zero is what messages have that nobody filled in
        if length and abs(length - 1.0) > 1e-3:
            raise AnsweredError(
                code, f"the orientation is not a unit quaternion: its length is {length**0.5:.4g}"
            )
        return self._find_frame(frame) @ read_pose(pose)

    def _get_entity_info(self, request: Message) -> Message:
        entity = self.find(request["entity"])
        info = {"category": {"category": entity.category}, "description": entity.description}
        return {"info": {**info, "tags": list(entity.tags)}}

    def _set_entity_info(self, request: Message) -> Message:
        entity, info = self.find(request["entity"]), request["info"]
        entity.category = int(info["category"]["category"])
        entity.description, entity.tags = str(info["description"]), [str(tag) for tag in info["tags"]]
        return {}

    def _get_entity_bounds(self, request: Message) -> Message:
        entity = self.find(request["entity"])
        found = measure_bounds(entity, entity.find_pose())
        if found is None:
            return {"bounds": {"type": 0, "points": []}}
        lower, upper = found
        return {"bounds": {"type": BOX, "points": [make_vector(upper), make_vector(lower)]}}
