# SPDX-License-Identifier: Apache-2.0
"""What a sensor is, the table of them, and the two there are: a flat lidar and a field of view.

Walls, closed doors, furniture of any height and other robots stop the beams of a lidar; objects do not.  In the field
of view, walls and closed doors hide what is behind them; furniture does not, but objects in a closed location are not
seen.  Sensors of others come through entry points in ``simwright.world_sensors``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt
import shapely

from simwright.core.errors import UnknownNameError, UsageError
from simwright.core.registry import Registry
from simwright.worlds.entities import ComponentOptions, Hallway, WorldObject, WorldRobot
from simwright.worlds.polygons import Edges, Geometry, list_edges
from simwright.worlds.robots_options import angles_in_radians
from simwright.worlds.world import World

ROWS = {
    "lidar": "simwright.worlds.sensing.sensor:Lidar",
    "fov": "simwright.worlds.sensing.sensor:FieldOfView",
}


class WorldSensor(Protocol):
    """Belongs to one robot."""

    PROPERTIES: ClassVar[Mapping[str, Any]]

    @property
    def period(self) -> float:
        """Time between two measurements [s]."""

    def measure(self) -> Any:
        """What it measures now."""


SENSORS: Registry[Callable[..., WorldSensor]] = Registry("sensor", "simwright.world_sensors", ROWS)


def make_sensor(world: World, robot: WorldRobot, name: str) -> WorldSensor:
    """The sensor of a robot with that name."""
    options = robot.sensors.get(name)
    if options is None:
        raise UnknownNameError(f"sensor of {robot.name!r}", name, robot.sensors)
    return SENSORS.get(options.type)(world, robot, options)


Array = npt.NDArray[np.float64]
# an edge is that much longer at both ends [m], so that no ray slips through between two of them
_EDGE_SLACK = 1e-9


# pairs of rays and edges that are held in memory together
_AT_ONCE = 4_000_000


def keep_near(edges: Edges, origin: Sequence[float], reach: float) -> Edges:
    """The edges whose box comes within ``reach`` [m] of a point along both axes."""
    low = np.minimum(edges.starts, edges.ends) - reach
    high = np.maximum(edges.starts, edges.ends) + reach
    near = ((low <= origin) & (high >= origin)).all(axis=1)
    return Edges(edges.starts[near], edges.ends[near])


def cast_rays(edges: Edges, origin: Sequence[float], angles: Array, reach: float) -> Array:
    """How far each ray goes [m] before it meets an edge; ``reach`` where it meets none.  ``angles`` in [rad]."""
    edges = keep_near(edges, origin, reach)
    if not len(edges.starts):
        return np.full(len(angles), reach)
    size = max(1, _AT_ONCE // len(edges.starts))
    parts = [_cast(edges, origin, angles[at : at + size], reach) for at in range(0, len(angles), size)]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _cast(edges: Edges, origin: Sequence[float], angles: Array, reach: float) -> Array:
    dx, dy = np.cos(angles)[:, None], np.sin(angles)[:, None]
    ax, ay = (edges.starts - np.asarray(origin, dtype=np.float64)).T
    ex, ey = (edges.ends - edges.starts).T
    # as a share of the edge: short edges get a larger one
    slack = _EDGE_SLACK / np.maximum(np.hypot(ex, ey), _EDGE_SLACK)
    cross: Any = dx * ey - dy * ex
    # rays along an edge divide by zero; the comparisons below are false for what comes of it
    with np.errstate(divide="ignore", invalid="ignore"):
        share = (ax * dy - ay * dx) / cross
        length = (ax * ey - ay * ex) / cross
        met = (share >= -slack) & (share <= 1.0 + slack) & (length >= 0.0)
    nearest: Array = np.min(np.where(met, length, reach), axis=1)
    return np.minimum(nearest, reach)


def cast_rays_at_discs(
    discs: Sequence[Sequence[float]], origin: Sequence[float], angles: Array, reach: float
) -> Array:
    """The same against discs (x, y, radius) [m]; zero for a ray that starts in one."""
    result = np.full(len(angles), reach)
    dx, dy = np.cos(angles), np.sin(angles)
    for x, y, radius in discs:
        cx, cy = x - origin[0], y - origin[1]
        along = cx * dx + cy * dy
        inside = radius * radius - (cx * cx + cy * cy - along * along)
        with np.errstate(invalid="ignore"):
            entry = along - np.sqrt(np.where(inside >= 0.0, inside, np.nan))
        within = cx * cx + cy * cy <= radius * radius
        met = (inside >= 0.0) & (along >= 0.0) | within
        result = np.where(met, np.minimum(result, np.maximum(entry, 0.0)), result)
    return result


MAX_BEAMS = 1_000_000


@dataclass(frozen=True, slots=True, eq=False)
class LidarScan:
    """``ranges[k]`` [m] along ``angles[k]`` [rad], counted from where the robot looks."""

    angles: Array
    ranges: Array
    max_range: float

    @property
    def hits(self) -> Any:
        """Which beams met something."""
        return self.ranges < self.max_range


class Lidar:
    """Beams from ``min_angle`` to ``max_angle``; a beam that meets nothing measures ``max_range_m``."""

    PROPERTIES: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, world: World, robot: WorldRobot, options: ComponentOptions) -> None:
        self.world, self.robot = world, robot
        self.period = float(options["update_rate_s"])
        self.max_range = float(options["max_range_m"])
        self.angles = _list_angles(options, reference=world.reference)
        self._space: Geometry | None = None
        self._edges = Edges(np.empty((0, 2)), np.empty((0, 2)))

    def measure(self) -> LidarScan:
        """The ranges from where the robot is."""
        return LidarScan(self.angles, self._cast(), self.max_range)

    def draw_beams(self) -> Array:
        """Starts and ends of the beams, n by 2 by 2 [m]."""
        pose, ranges = self.robot.pose, self._cast()
        angles = self.angles + pose.yaw
        ends = np.column_stack((pose.x + ranges * np.cos(angles), pose.y + ranges * np.sin(angles)))
        return np.stack((np.broadcast_to(pose.xy, ends.shape), ends), axis=1)

    def _cast(self) -> Array:
        space = self.world.open_space
        if space is not self._space:
            self._space, self._edges = space, list_edges(space)
        pose = self.robot.pose
        if not shapely.intersects_xy(space, pose.x, pose.y):
            # a robot in a wall sees nothing, not through it
            return np.zeros(len(self.angles))
        angles = self.angles + pose.yaw
        ranges = cast_rays(self._edges, pose.xy, angles, self.max_range)
        return np.minimum(ranges, self._cast_at_robots(angles))

    def _cast_at_robots(self, angles: Array) -> Array:
        """Robots are discs; to PyRoboSim they are polygons of 64 corners."""
        others = [other for other in self.world.robots if other is not self.robot and other.radius > 0.0]
        here = self.robot.pose.xy
        if self.world.reference:
            bodies = [shapely.Point(other.pose.xy).buffer(other.radius) for other in others]
            return cast_rays(list_edges(bodies), here, angles, self.max_range)
        discs = [(*other.pose.xy, other.radius) for other in others]
        return cast_rays_at_discs(discs, here, angles, self.max_range)


def _list_angles(options: ComponentOptions, *, reference: bool) -> Array:
    """The angles of the beams [rad], both ends included where the step fits."""
    low, high, step = (float(options[key]) for key in ("min_angle", "max_angle", "angular_resolution"))
    if (high - low) / step > MAX_BEAMS:
        raise UsageError(
            f"a lidar of more than {MAX_BEAMS:,} beams is not simulated", hint="use larger steps"
        )
    if reference:
        # PyRoboSim: by rounding there may be one beam more than fits
        angles = np.arange(low, high + step, step)
    else:
        angles = low + step * np.arange(int((high - low) / step + 1e-9) + 1)
    unit = angles_in_radians(options, "angular_resolution") / step
    return np.asarray(angles * unit, dtype=np.float64)


_ARC_STEP = math.radians(2.0)
# rays go that far to both sides of a corner [rad]
_BESIDE = 1e-7
_REFERENCE_STEPS = 33


class FieldOfView:
    """A sector in front of the robot."""

    PROPERTIES: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, world: World, robot: WorldRobot, options: ComponentOptions) -> None:
        self.world, self.robot = world, robot
        self.period = float(options["update_rate_s"])
        self.max_range = float(options["max_range_m"])
        self.min_angle = angles_in_radians(options, "min_angle")
        self.max_angle = angles_in_radians(options, "max_angle")
        self._space: Geometry | None = None
        self._edges = Edges(np.empty((0, 2)), np.empty((0, 2)))

    def measure(self) -> list[WorldObject]:
        """The objects in view, in the order of the world."""
        area = self.find_area()
        found = []
        for item in self.world.objects:
            shown = item.spawn is not None and item.spawn.location.is_open
            if shown and item.polygon.intersects(area):
                found.append(item)
        return found

    def find_area(self) -> Geometry:
        """What is in view, as a polygon."""
        pose, space = self.robot.pose, self.world.sensing_space
        if self.world.reference:
            return self._clip_sector(space)
        if not shapely.intersects_xy(space, pose.x, pose.y):
            return shapely.Polygon()
        if space is not self._space:
            self._space, self._edges = space, list_edges(space)
        angles = self._list_angles()
        ranges = cast_rays(self._edges, pose.xy, angles, self.max_range)
        return self._join(angles, ranges)

    def _list_angles(self) -> Array:
        """An even fan, and both sides of every corner in it [rad]."""
        pose = self.robot.pose
        low, high = self.min_angle + pose.yaw, min(self.max_angle, self.min_angle + math.tau) + pose.yaw
        count = max(2, math.ceil((high - low) / _ARC_STEP) + 1)
        near = keep_near(self._edges, pose.xy, self.max_range)
        away = np.vstack((near.starts, near.ends)) - pose.xy
        corners = np.arctan2(away[:, 1], away[:, 0])
        corners = low + np.mod(corners - low, math.tau)
        # one ray past the corner on each side: what is behind it is hidden from there on
        corners = np.concatenate((corners - _BESIDE, corners, corners + _BESIDE))
        corners = corners[(corners > low) & (corners < high)]
        return np.unique(np.concatenate((np.linspace(low, high, count), corners)))

    def _join(self, angles: Array, ranges: Array) -> Geometry:
        pose = self.robot.pose
        points = np.column_stack((pose.x + ranges * np.cos(angles), pose.y + ranges * np.sin(angles)))
        if self.max_angle - self.min_angle < math.tau:
            points = np.vstack(([pose.xy], points))
        # rays at nearly the same angle may cross by rounding
        return shapely.make_valid(shapely.Polygon(points))

    def _clip_sector(self, space: Geometry) -> Geometry:
        pose = self.robot.pose
        angles = np.linspace(self.min_angle, self.max_angle, _REFERENCE_STEPS) + pose.yaw
        sector = self._join(angles, np.full(len(angles), self.max_range))
        body = shapely.Point(pose.xy).buffer(self.robot.radius)
        parts = shapely.get_parts(shapely.intersection(sector, space))
        kept = [part for part in parts if part.geom_type == "Polygon" and part.intersects(body)]
        return shapely.union_all(kept)


# a beam that ends this close to a door has met it [m]
_DOOR_TOUCH = 1e-3


def observe_doors(lidar: Lidar) -> list[Hallway]:
    """Compare what the beams meet with what the robot believes; the hallways of which it learned something."""
    robot, world = lidar.robot, lidar.world
    # doors that are as believed need no beam
    wrong = [hallway for hallway in world.hallways if robot.knows_closed(hallway) is hallway.is_open]
    if not robot.partial_obs_hallways or not wrong:
        return []
    # to an open door a beam has to go through it, to a closed one up to it: both touch the slab
    beams = shapely.multilinestrings(shapely.linestrings(lidar.draw_beams()))
    learned = [hallway for hallway in wrong if shapely.distance(beams, hallway.slab) <= _DOOR_TOUCH]
    for hallway in learned:
        if hallway.is_open:
            robot.known_closed.discard(hallway.name)
        else:
            robot.known_closed.add(hallway.name)
    return learned
