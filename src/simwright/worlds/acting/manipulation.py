# SPDX-License-Identifier: Apache-2.0
"""The actions pick, place and detect: which object is meant, which grasp takes it, where it is put down.

Grasps are those of a parallel gripper on the smallest box around an object: the rectangle of least area around the
footprint, as high as the object.  A grasp has a frame: z is the direction of approach, x the direction in which the
fingers close, and the origin is between the finger tips.  The fingers go in as deep as they reach, at most to the
middle of the box.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt
import shapely

from simwright.core import math3d
from simwright.core.registry import Registry
from simwright.worlds.acting.action import Action, Result, Status, Steps, attempt, fail, refuse, succeed
from simwright.worlds.acting.moving import find_holder, find_misfit, put_object, shape_to_place, take_object
from simwright.worlds.entities import (
    ComponentOptions,
    Hallway,
    Location,
    Room,
    Spawn,
    WorldObject,
    WorldRobot,
)
from simwright.worlds.poses import WorldPose, rotate_point
from simwright.worlds.sensing.sensor import FieldOfView
from simwright.worlds.world import World

if TYPE_CHECKING:
    from simwright.worlds.acting.simulation import WorldSimulation


def pick(simulation: WorldSimulation, robot: WorldRobot, action: Action) -> Steps:
    """Find the object, choose a grasp, take_object it."""
    world = simulation.world
    item = find_object(world, robot, action.object)
    if robot.held is not None:
        return refuse("holding", f"{robot.name!r} already holds {robot.held.name!r}")
    if isinstance(item, Result):
        return item
    refusal = _check_pick(world, robot, item)
    if refusal is not None:
        return refusal
    grasp: Grasp | None = None
    if robot.grasping is not None:
        grasps = list_grasps(robot, item)
        if not grasps:
            return Result(Status.PLANNING, "no-grasp", f"{item.name!r} does not fit the gripper")
        grasp = grasps[simulation.choose(robot, len(grasps))]
    # checked again after the delay: another robot may have taken it meanwhile
    refusal = yield from attempt(simulation, robot, "pick", lambda: _check_pick(world, robot, item))
    if refusal is not None:
        return refusal
    take_object(robot, item)
    return succeed(object=item.name, grasp=grasp)


def _check_pick(world: World, robot: WorldRobot, item: WorldObject) -> Result | None:
    if item.spawn is None:
        holder = find_holder(world, item)
        name = holder.name if holder else "a robot"
        return refuse("held", f"{item.name!r} is held by {name!r}")
    place = robot.location
    if place is not item.spawn:
        at = f"at {place.name!r}" if place is not None else "nowhere in particular"
        return refuse("elsewhere", f"{item.name!r} is on {item.spawn.name!r}, and {robot.name!r} is {at}")
    return check_open(item.spawn, "pick")


def check_open(spawn: Spawn, action: str) -> Result | None:
    """Nothing can be done in a closed location."""
    if not spawn.location.is_open:
        return refuse("closed", f"{spawn.location.name!r} is closed, so nothing can be done there ({action})")
    return None


def place(simulation: WorldSimulation, robot: WorldRobot, action: Action) -> Steps:
    """Find a free spot, or take the given pose, and put_object the object there."""
    world, item = simulation.world, robot.held
    if item is None:
        return refuse("not-holding", f"{robot.name!r} holds nothing that it could place")
    spawn = _find_surface(world, robot, action)
    if isinstance(spawn, Result):
        return spawn
    refusal = check_open(spawn, "place")
    if refusal is not None:
        return refusal
    pose = _find_pose(simulation, robot, action, spawn)
    if isinstance(pose, Result):
        return pose

    def check() -> Result | None:
        misfit = find_misfit(world, item, spawn, pose)
        return (
            refuse("misfit", f"{item.name!r} does not fit: {misfit}")
            if misfit
            else check_open(spawn, "place")
        )

    refusal = yield from attempt(simulation, robot, "place", check)
    if refusal is not None:
        return refusal
    put_object(world, item, spawn, pose, robot)
    return succeed(object=item.name, spawn=spawn.name)


def _find_surface(world: World, robot: WorldRobot, action: Action) -> Spawn | Result:
    """The surface in reach: where the robot is, or another one of the same location from the same pose."""
    here = robot.location
    # a location without navigation poses of its surfaces is reached as a whole: its first surface is meant
    if isinstance(here, Location) and here.spawns:
        here = here.spawns[0]
    if not isinstance(here, Spawn):
        at = f"at {here.name!r}" if here is not None else "nowhere in particular"
        return refuse("not-at-surface", f"{robot.name!r} is {at}, where nothing can be placed")
    wanted = world.names.get(action.target) if isinstance(action.target, str) else action.target
    if action.target is None or wanted is here or wanted is here.location:
        return here
    if isinstance(wanted, Spawn) and wanted.location is here.location and _is_at_nav_pose(robot, wanted):
        return wanted
    name = getattr(wanted, "name", action.target)
    return refuse("elsewhere", f"{robot.name!r} is at {here.name!r}, not at {name!r}")


def _is_at_nav_pose(robot: WorldRobot, spawn: Spawn) -> bool:
    return any(robot.pose.is_near(pose) for pose in spawn.nav_poses)


def _find_pose(
    simulation: WorldSimulation, robot: WorldRobot, action: Action, spawn: Spawn
) -> WorldPose | Result:
    world, item = simulation.world, robot.held
    assert item is not None
    if action.pose is not None:
        misfit = find_misfit(world, item, spawn, action.pose)
        if misfit:
            return Result(Status.PLANNING, "misfit", f"{item.name!r} does not fit there: {misfit}")
        return action.pose
    # collision outlines have the margin already, on both sides: objects stay twice object_radius apart
    others = [other.collision for other in spawn.objects]
    pose = simulation.sampler.sample_placement(shape_to_place(world, item), spawn.polygon, others)
    if pose is None:
        return Result(
            Status.PLANNING, "no-space", f"there is no space left on {spawn.name!r} for {item.name!r}"
        )
    return pose


def detect(simulation: WorldSimulation, robot: WorldRobot, action: Action) -> Steps:
    """Look, remember, and say whether what was sought is among it."""
    # a field of view replaces looking at the surface the robot stands at, as in PyRoboSim 5
    views = [sensor for sensor in simulation.list_sensors(robot) if isinstance(sensor, FieldOfView)]

    def check() -> Result | None:
        if views:
            return None
        if not isinstance(robot.location, Spawn):
            return refuse("not-at-surface", f"{robot.name!r} is not at a surface that it could look at")
        return check_open(robot.location, "detect")

    refusal = yield from attempt(simulation, robot, "detect", check)
    if refusal is not None:
        return refusal
    found = _look(simulation, robot, views)
    robot.known_objects.update(item.name for item in found)
    if action.object:
        found = [item for item in found if action.object in {item.name, item.category.name}]
        if not found:
            return fail("not-found", f"{robot.name!r} sees no {action.object!r}")
    return succeed(objects=[item.name for item in found])


def _look(simulation: WorldSimulation, robot: WorldRobot, views: list[FieldOfView]) -> list[WorldObject]:
    if not views:
        assert isinstance(robot.location, Spawn)
        return list(robot.location.objects)
    seen = {item.name for view in views for item in view.measure()}
    return [item for item in simulation.world.objects if item.name in seen]


def find_object(world: World, robot: WorldRobot, query: str) -> WorldObject | Result:
    """The object that a robot knows by a name, a category or a category at a place; of several, the nearest one."""
    words = world.split_words(query)
    if not words:
        return refuse("unknown-object", "no object is named")
    entity = world.names.get(query.strip())
    known = robot.list_known_objects(world.objects)
    if isinstance(entity, WorldObject):
        if entity in known:
            return entity
        return refuse("not-detected", f"{robot.name!r} has not detected {entity.name!r} yet")
    kinds = set(words) & set(world.object_categories)
    if not kinds:
        return _refuse_unknown_object(world, query)
    standing = [item for item in known if item.spawn is not None and item.category.name in kinds]
    fitting = [item for item in standing if _is_at(world, item, words)]
    if not fitting:
        return refuse("unknown-object", f"{robot.name!r} knows of no {query}")
    # what is in reach already comes before what is nearer in a straight line
    return min(fitting, key=lambda item: (item.spawn is not robot.location, _measure_distance(robot, item)))


def _refuse_unknown_object(world: World, query: str) -> Result:
    known = [*(item.name for item in world.objects), *world.object_categories]
    close = difflib.get_close_matches(query, known, n=1)
    meant = f"; did you mean {close[0]!r}?" if close else ""
    return refuse("unknown-object", f"there is no object {query!r}{meant}")


def _is_at(world: World, item: WorldObject, words: list[str]) -> bool:
    """Is an object at all the places that a description names?"""
    spawn = item.spawn
    for word in words:
        place = world.names.get(word)
        if isinstance(place, (Room, Location, Spawn, Hallway)):
            if spawn is None or place not in {spawn, spawn.location, spawn.room}:
                return False
        elif word in world.location_categories and (spawn is None or spawn.location.category.name != word):
            return False
    return True


def _measure_distance(robot: WorldRobot, item: WorldObject) -> float:
    return math.dist(robot.pose.xy, item.pose.xy)


Vector = npt.NDArray[np.float64]
FACES = ("front", "top")
_AXES = np.eye(3)
_FIT = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class GraspBox:
    """Sizes along its own axes [m], and the pose of its middle in the world."""

    size: tuple[float, float, float]
    pose: WorldPose


@dataclass(frozen=True, slots=True, eq=False)
class Grasp:
    """A grasp on a face of the box, seen from the robot: ``front``, ``top``, ``left`` or ``right``."""

    face: str
    direction: str
    """The face in the frame of the box: ``+x``, ``-y``, ``+z`` ..."""
    width: float
    """How far the fingers have to open [m]."""
    in_box: math3d.Pose
    """The frame of the grasp in that of the box."""
    in_world: math3d.Pose


class ParallelGrasp:
    """``max_width``, ``depth`` and ``height`` of the fingers, and the clearances that are kept [m]."""

    PROPERTIES: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, options: ComponentOptions) -> None:
        self.width = float(options["max_width"]) - float(options["width_clearance"])
        self.depth = float(options["depth"]) - float(options["depth_clearance"])
        self.height = float(options["height"])

    def list_grasps(
        self, box: GraspBox, robot: WorldPose, faces: Sequence[str] = FACES, *, lift: bool = True
    ) -> list[Grasp]:
        """The grasps on some faces; with ``lift`` high enough for the fingers to stay above what the box stands on."""
        found = []
        for face, normal in find_grasp_faces(box, robot).items():
            if face in faces:
                found += self._grasp_face(box, face, normal, lift)
        return found

    def _grasp_face(self, box: GraspBox, face: str, normal: Vector, lift: bool) -> list[Grasp]:
        """Both ways to turn the gripper before a face; those that are wide enough."""
        along = int(np.argmax(np.abs(normal)))
        # fingers that are too short stop where their depth ends, others at the middle of the box
        inset = max(0.0, box.size[along] / 2 - self.depth)
        found = []
        for across in _list_others(along):
            if box.size[across] > self.width + _FIT:
                continue
            point = normal * inset
            # 0 + 1 + 2 = 3: the axis that is neither the approach nor the one the fingers close along
            thick = 3 - along - across
            # the fingers are thick upwards here: low boxes would put them through the surface
            if lift and thick == 2:
                point = point + _AXES[2] * max(0.0, (self.height - box.size[2]) / 2)
            # columns are the axes of the grasp: x closes, z approaches (against the normal), y completes them
            turned = np.column_stack((_AXES[across], np.cross(-normal, _AXES[across]), -normal))
            frame = math3d.Pose.of(point, math3d.quat_from_matrix(turned))
            # composed as frames; PyRoboSim multiplies the rotations in the other order
            whole = math3d.Pose.of(
                math3d.quat_rotate(box.pose.quaternion, point)
                + np.array((box.pose.x, box.pose.y, box.pose.z)),
                math3d.quat_multiply(box.pose.quaternion, math3d.quat_from_matrix(turned)),
            )
            name = f"{'+' if normal[along] > 0 else '-'}{'xyz'[along]}"
            found.append(Grasp(face, name, box.size[across], frame, whole))
        return found


GRASPS: Registry[Any] = Registry(
    "grasp generator",
    "simwright.world_grasps",
    {"parallel_grasp": "simwright.worlds.acting.manipulation:ParallelGrasp"},
)


def list_grasps(
    robot: WorldRobot, item: WorldObject, faces: Sequence[str] = FACES, *, lift: bool = True
) -> list[Grasp]:
    """The grasps of a robot on an object from where it stands."""
    if robot.grasping is None:
        return []
    found: list[Grasp] = GRASPS.get(robot.grasping.type)(robot.grasping).list_grasps(
        fit_box(item), robot.pose, faces, lift=lift
    )
    return found


def fit_box(item: WorldObject) -> GraspBox:
    """The smallest box around an object that stands upright."""
    corners = shapely.get_coordinates(shapely.oriented_envelope(item.raw_polygon))
    first, second = corners[1] - corners[0], corners[2] - corners[1]
    center = corners[:4].mean(axis=0)
    yaw = math.atan2(first[1], first[0]) + item.pose.yaw
    x, y = rotate_point(center[0], center[1], item.pose.yaw)
    pose = WorldPose.from_yaw(item.pose.x + x, item.pose.y + y, item.pose.z + item.height / 2, yaw)
    return GraspBox((math.hypot(*first), math.hypot(*second), item.height), pose)


def find_grasp_faces(box: GraspBox, robot: WorldPose) -> dict[str, Vector]:
    """Normals of the faces of a grasp box that a gripper may come from, in the frame of the box.

    They are named as the robot sees them: the face towards it is its front.
    """
    away = np.array((robot.x - box.pose.x, robot.y - box.pose.y))
    cosine, sine = math.cos(box.pose.yaw), math.sin(box.pose.yaw)
    seen = np.array((cosine * away[0] + sine * away[1], -sine * away[0] + cosine * away[1], 0.0))
    # the robot stands in the middle of the box: any face may be the front
    if not seen.any():
        seen[0] = -1.0
    along = int(np.argmax(np.abs(seen)))
    front = _AXES[along] * math.copysign(1.0, seen[along])
    left = np.cross(front, _AXES[2])
    return {"front": front, "top": _AXES[2], "left": left, "right": -left}


def _list_others(axis: int) -> list[int]:
    """The two other axes; for the horizontal ones the horizontal one first."""
    # the order decides which grasp a seed draws
    return [other for other in (1, 0, 2) if other != axis]
