# SPDX-License-Identifier: Apache-2.0
"""A world as a scene: one resolved instance that every writer gets.

Things of a category that are alike are one asset, placed several times.  A door is placed whether it is open or not;
the switch ``door`` says which.  ``read_asset`` brings the files that the ``simwright`` block names for robots and
props.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import shapely

from simwright.core.diag import Reporter
from simwright.core.math3d import Array, Pose, quat_from_axis_angle, quat_from_matrix
from simwright.core.names import NameScope, make_identifier
from simwright.model.asset import Asset, Camera, Environment, Light, LightKind, Provenance
from simwright.model.inertia import Inertial
from simwright.model.scene import Placement, Scene
from simwright.worlds import messages
from simwright.worlds.entities import Hallway, Location, WorldObject, WorldRobot
from simwright.worlds.floors import GROUND, WorldFloor, place_in_space
from simwright.worlds.metadata import locate_file
from simwright.worlds.polygons import Geometry, move_polygon
from simwright.worlds.poses import WorldPose
from simwright.worlds.space.looks import add_ground, add_windows, dress_furniture, find_front
from simwright.worlds.space.machines import finish_robot, make_robot, mount_sensors
from simwright.worlds.space.solids import (
    FRICTION,
    SolidPart,
    SurfaceOutline,
    make_building,
    make_door,
    raise_furniture,
)
from simwright.worlds.world import World

ReadAsset = Callable[[Path], Asset]
GRAVITY = 9.81
DOORS, FURNITURE, OBJECTS, ROBOTS = "doors", "furniture", "objects", "robots"
_DIGITS = 7


def build_scene(
    world: World,
    *,
    read_asset: ReadAsset | None = None,
    data_folder: Path | None = None,
    reporter: Reporter | None = None,
) -> Scene:
    """Everything in a world, placed."""
    reporter = Reporter() if reporter is None else reporter
    return _WorldSceneBuilder(world, read_asset, data_folder, reporter).build()


class _WorldSceneBuilder:
    def __init__(
        self, world: World, read_asset: ReadAsset | None, data_folder: Path | None, reporter: Reporter
    ) -> None:
        self._world = world
        self._read_asset = read_asset
        self._data_folder = data_folder
        self._reporter = reporter
        self._names = NameScope()
        self._assets: dict[Any, tuple[Asset, tuple[float, float, float]]] = {}
        self._folders = NameScope()
        self._spaces = NameScope()
        # of all objects: any of them may be carried to any cabinet
        self._tallest = max((item.height for item in world.objects), default=0.0)
        # objects of a category have one outline, which the world keeps: its identity stands for it
        self._spelled: dict[int, bytes] = {}
        self._scene = Scene(
            world.name,
            environment=Environment(gravity=np.array((0.0, 0.0, -GRAVITY))),
            provenance=Provenance(file=world.file, format="world"),
        )

    def build(self) -> Scene:
        """The scene."""
        world, scene = self._world, self._scene
        floors = list(world.floor_table.floors.values()) or [GROUND]
        lowest = min(floors, key=lambda floor: floor.elevation)
        for floor in floors:
            shell = make_building(world, floor)
            if shell.shapes:
                add_windows(world, shell, floor)
                if floor is lowest:
                    add_ground(shell)
                self._place_part(
                    f"building_{floor.name}" if floor.name else "building", shell, floor, group=""
                )
        for hallway in world.hallways:
            self._place_door(hallway)
        for location in world.locations:
            self._place_location(location)
        for item in world.objects:
            self._place_object(item)
        for robot in world.robots:
            self._place_robot(robot)
        report_overlaps(world, scene, self._reporter)
        corners = list_corners(world)
        scene.lights = make_lights(float(corners[:, 2].max()))
        scene.cameras = [make_camera(corners)]
        return scene

    # -- the parts -----------------------------------------------------------------------------------------------

    def _place_part(self, name: str, part: SolidPart, floor: WorldFloor, **options: Any) -> None:
        """A thing that is there once."""
        part.settle()
        part.name = self._name_asset(part.name)
        self._place(name, part.finish(), Pose.of(part.shift), floor, **options)

    def _place_door(self, hallway: Hallway) -> None:
        part = make_door(self._world, hallway)
        if not part.shapes:
            return
        facts = {
            "rooms": [room.name for room in hallway.rooms],
            "is_open": hallway.is_open,
            "is_locked": hallway.is_locked,
        }
        part.settle()
        key = (DOORS, part.spell())
        if key not in self._assets:
            part.name = self._name_asset(part.name)
            self._assets[key] = (part.finish(), part.shift)
        self._place(
            f"door_{hallway.name}",
            self._assets[key][0],
            Pose.of(part.shift),
            self._world.floor_table.find(hallway),
            group=DOORS,
            variant=("door", "closed", "open"),
            present=not hallway.is_open,
            facts={"hallway": hallway.name, **facts},
        )

    def _place_location(self, location: Location) -> None:
        facts = {
            "category": location.category.name,
            "room": location.room.name,
            "is_open": location.is_open,
            "is_locked": location.is_locked,
            "is_charger": location.is_charger,
            "surfaces": [spawn.name for spawn in location.spawns],
        }
        self._check_upright(location)
        floor = self._world.floor_table.find(location.room)
        options: dict[str, Any] = {"group": FURNITURE, "facts": facts, "floor": floor}
        if self._place_file(location, location.category.name, location.pose, **options):
            return
        pose, outline, surfaces = _localize(location)
        top = location.pose.z + location.height
        friction = self._look_up(location, "friction", FRICTION)
        front = find_front(location, pose)
        key = (
            location.category.name, front, _spell(outline), top, location.color, friction,
            tuple((_spell(s.outline), s.height) for s in surfaces),
        )  # fmt: skip

        def make() -> SolidPart:
            part = SolidPart(location.category.name, friction=friction)
            raise_furniture(part, outline, top, surfaces, clearance=self._tallest, color=location.color)
            dress_furniture(part, location.category.name, front)
            return part

        self._place_shared(
            location.name, key, make, WorldPose.from_yaw(pose.x, pose.y, 0.0, pose.yaw), options
        )

    def _place_object(self, item: WorldObject) -> None:
        self._check_upright(item)
        facts = {
            "category": item.category.name,
            "surface": "" if item.spawn is None else item.spawn.name,
            "room": "" if item.room is None else item.room.name,
        }
        floor = self._world.floor_table.find(item.room)
        options: dict[str, Any] = {"group": OBJECTS, "facts": facts, "floor": floor}
        if item.spawn is not None and item.pose.z - item.spawn.elevation > 1e-6:
            height = item.pose.z - item.spawn.elevation
            self._reporter.report(messages.FLOATING, item.where, name=item.name, height=height)
        if self._place_file(item, item.category.name, item.pose, **options):
            return
        mass, friction = self._look_up(item, "mass", None), self._look_up(item, "friction", FRICTION)
        outline = self._spelled.get(id(item.raw_polygon))
        if outline is None:
            outline = self._spelled[id(item.raw_polygon)] = _spell(item.raw_polygon)
        key = (item.category.name, outline, item.height, item.color, mass, friction)

        def make() -> SolidPart:
            part = SolidPart(item.category.name, item.category.name, friction)
            part.raise_outline("body", item.raw_polygon, 0.0, item.height, item.color)
            return part

        self._place_shared(
            item.name, key, make, item.pose, options, mass=mass, known=item.inertial, free=True
        )

    def _place_robot(self, robot: WorldRobot) -> None:
        floor = self._world.floor_table.locate(self._world, robot.pose)
        options: dict[str, Any] = {"group": ROBOTS, "facts": _describe_robot(robot), "floor": floor}
        options["namespace"] = self._spaces.claim(make_identifier(robot.name, "robot"))
        self._check_upright(robot)
        if self._place_file(robot, "", robot.pose, robot=robot, **options):
            return
        mass = self._look_up(robot, "mass", None)
        part = make_robot(robot)
        part.name = self._name_asset(part.name)
        asset = finish_robot(part, mass)
        mount_sensors(self._world, robot, asset)
        self._place(robot.name, asset, _stand(robot.pose), **options)

    # -- placing -------------------------------------------------------------------------------------------------

    def _place(self, name: str, asset: Asset, pose: Pose, floor: WorldFloor = GROUND, **options: Any) -> None:
        """Place an asset that was made in the plane: its floor is at its height, one above the other."""
        if floor is not GROUND:
            x, y, z = (float(value) for value in pose.p)
            pose = Pose.of(place_in_space(floor, (x, y, z)), pose.q)
            options["facts"] = {**options.get("facts", {}), "floor": floor.name}
        self._scene.placements.append(Placement(self._names.claim(name), asset, pose, **options))

    def _place_shared(
        self,
        name: str,
        key: Any,
        make: Callable[[], SolidPart],
        pose: WorldPose,
        options: dict[str, Any],
        *,
        mass: float | None = None,
        known: Inertial | None = None,
        free: bool = False,
    ) -> None:
        """One more of something that may be there already."""
        found = self._assets.get(key)
        if found is None:
            part = make()
            if not part.shapes:
                entity = self._world.names.get(name)
                where = getattr(entity, "where", None)
                self._reporter.report(messages.NO_SOLID, *([where] if where else []), name=name)
                return
            part.settle()
            part.name = self._name_asset(part.name)
            asset = part.finish(part.weigh(mass, known) if free else None)
            found = self._assets[key] = (asset, part.shift)
        asset, shift = found
        self._place(name, asset, _stand(pose) @ Pose.of(shift), **options)

    def _place_file(
        self, entity: Any, category: str, pose: WorldPose, robot: WorldRobot | None = None, **options: Any
    ) -> bool:
        """Place the file that the world names for something; False if it names none."""
        text = self._world.extensions.look_up(entity.name, category, "asset")
        if not text or self._read_asset is None:
            return False
        folder = Path(self._world.file).parent
        file = locate_file(text, folder, self._data_folder)
        sensors = tuple(robot.sensors) if robot is not None else ()
        # sensors are mounted into the asset: robots with sensors do not share one
        key = ("file", str(file), sensors and robot)
        found = self._assets.get(key)
        if found is None:
            asset = self._read_asset(file)
            asset.name = self._name_asset(asset.name or file.stem)
            if robot is not None:
                mount_sensors(self._world, robot, asset)
            found = self._assets[key] = (asset, (0.0, 0.0, 0.0))
        self._place(entity.name, found[0], _stand(pose), **options)
        return True

    def _name_asset(self, name: str) -> str:
        """The name of an asset, another one where a folder of that name is taken."""
        word = make_identifier(name, "thing")
        folder = self._folders.claim(word)
        return name if folder == word else folder

    def _look_up(self, entity: Any, key: str, default: Any) -> Any:
        category = getattr(entity, "category", None)
        found = self._world.extensions.look_up(entity.name, "" if category is None else category.name, key)
        return default if found is None else found

    def _check_upright(self, entity: Any) -> None:
        # x and y are zero for every turn about z
        _, x, y, _ = entity.pose.quaternion
        if x * x + y * y > 1e-12:
            self._reporter.report(messages.TILT_LEFT, entity.where, name=entity.name)


def _describe_robot(robot: WorldRobot) -> dict[str, Any]:
    limits = {
        key: value
        for key in ("linear_velocity", "angular_velocity", "linear_acceleration", "angular_acceleration")
        if math.isfinite(value := getattr(robot.limits, f"max_{key}"))
    }
    return {"radius": robot.radius, "height": robot.height, "battery": robot.battery_level, "limits": limits}


def _localize(location: Location) -> tuple[WorldPose, Geometry, list[SurfaceOutline]]:
    """A location in its own frame: where that is, its outline and its surfaces there."""
    pose, outline = location.pose, location.raw_polygon
    # a footprint of type parent is in world coordinates already
    if not move_polygon(outline, pose).equals_exact(location.polygon, 1e-9):
        pose, outline = WorldPose(), location.polygon
    back = _unplace(pose)
    surfaces = [SurfaceOutline(back(spawn.polygon), spawn.elevation) for spawn in location.spawns]
    return pose, outline, surfaces


def _unplace(pose: WorldPose) -> Callable[[Geometry], Geometry]:
    """From the world to the frame of a pose, in the plane; corners to the grid, so that equal things are equal."""
    cosine, sine = math.cos(pose.yaw), math.sin(pose.yaw)

    def move(points: Any) -> Any:
        x, y = points[:, 0] - pose.x, points[:, 1] - pose.y
        return np.round(np.column_stack((cosine * x + sine * y, cosine * y - sine * x)), _DIGITS)

    return lambda polygon: shapely.transform(polygon, move)


def _spell(polygon: Geometry) -> bytes:
    return bytes(shapely.to_wkb(shapely.normalize(shapely.set_precision(polygon, 10.0**-_DIGITS))))


def _stand(pose: WorldPose) -> Pose:
    """Upright at a pose."""
    turn = quat_from_axis_angle((0, 0, 1), pose.yaw)
    return Pose.of((pose.x, pose.y, pose.z), turn)


_CAMERA_SIZE = (1280, 800)
# how much of the picture the world takes
_CAMERA_FILL = 0.94


def list_corners(world: World) -> Array:
    """The corners of all walls, at the floor and at the top [m]."""
    rows = [(0.0, 0.0, 0.0), (1.0, 1.0, 1.0)] if not world.floors else []
    for part in world.floors:
        floor = world.floor_table.find(part)
        points = shapely.get_coordinates(part.outer) - floor.offset
        heights = (floor.elevation, floor.elevation + world.wall_height(part))
        rows += [(x, y, z) for x, y in points for z in heights]
    return np.array(rows)


def make_lights(top: float) -> list[Light]:
    """A sun with shadows, and a weaker one from the other side."""
    height = top + 10.0
    sun = Pose.from_rpy((0.0, 0.0, height), (math.radians(28.0), math.radians(-20.0), 0.0))
    fill = Pose.from_rpy((0.0, 0.0, height), (math.radians(-35.0), math.radians(30.0), 0.0))
    return [
        Light(
            "sun", LightKind.DIRECTIONAL, pose=sun, color=(1.0, 0.98, 0.94), intensity=2.2, angle=0.01,
            normalized=True,
        ),
        Light(
            "sky", LightKind.DIRECTIONAL, pose=fill, color=(0.9, 0.95, 1.0), intensity=1.0, cast_shadows=False,
            angle=0.01, normalized=True,
        ),
    ]  # fmt: skip


def make_camera(corners: Array) -> Camera:
    """From the south and well above, as near as the whole world fits into the picture."""
    azimuth, elevation, fov, (width, height) = (
        math.radians(-72.0),
        math.radians(60.0),
        math.radians(35.0),
        _CAMERA_SIZE,
    )
    away = np.array(
        (
            math.cos(elevation) * math.cos(azimuth),
            math.cos(elevation) * math.sin(azimuth),
            math.sin(elevation),
        )
    )
    side = np.cross((0.0, 0.0, 1.0), away)
    side /= np.linalg.norm(side)
    axes = np.column_stack((side, np.cross(away, side), away))
    center = (corners.min(axis=0) + corners.max(axis=0)) / 2.0
    slope = _CAMERA_FILL * math.tan(fov / 2.0) * np.array((width / height, 1.0))
    distance = 1.0
    for _ in range(20):  # the middle of the picture and the distance depend on each other
        seen = (corners - center) @ axes
        distance = float((seen[:, 2:] + np.abs(seen[:, :2]) / slope).max())
        reach = seen[:, :2] / (distance - seen[:, 2:])
        center = center + axes[:, :2] @ (distance * (reach.max(axis=0) + reach.min(axis=0)) / 2.0)
    return Camera(
        "overview",
        pose=Pose.of(center + distance * away, quat_from_matrix(axes)),
        fov_y=fov,
        resolution=_CAMERA_SIZE,
        near=0.1,
        far=2.0 * distance + float(np.linalg.norm(np.ptp(corners, axis=0))),
    )


_OVERLAP = 1e-4


def report_overlaps(world: World, scene: Scene, reporter: Reporter) -> None:
    """Report pairs of objects that overlap in space."""
    placed = {placement.name for placement in scene.placements}
    items = [item for item in world.objects if item.name in placed]
    if len(items) < 2:
        return
    outlines = np.array([item.polygon for item in items], dtype=object)
    first, second = shapely.STRtree(outlines).query(outlines, predicate="intersects")
    for a, b in zip(first.tolist(), second.tolist(), strict=True):
        if a >= b:
            continue
        one, other = items[a], items[b]
        apart = max(one.pose.z, other.pose.z) - min(one.pose.z + one.height, other.pose.z + other.height)
        if apart < -_OVERLAP and outlines[a].intersection(outlines[b]).area > _OVERLAP**2:
            reporter.report(messages.THING_TIGHT, one.where, name=one.name, other=other.name)
