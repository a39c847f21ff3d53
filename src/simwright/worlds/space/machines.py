# SPDX-License-Identifier: Apache-2.0
"""Robots: the asset that the world names for one, or a cylinder of its radius and height; with sensors and topics.

The cylinder is moved by velocity commands and by nothing else (kinematic), as robots of the plane are.  For MuJoCo it
stands on a planar joint with velocity motors within the limits of the robot, and its lidar is a fan of rangefinders.

A lidar is mounted low enough to see the lowest piece of furniture, because in the plane it sees all of it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import shapely

from simwright.core.math3d import Pose, quat_from_axis_angle
from simwright.model.asset import Actuator, Asset, Body, Sensor, Site
from simwright.model.joint import WORLD, Dof, Joint, JointKind, Motion
from simwright.model.kinematics import build_tree
from simwright.model.ros import Controller, Interface, InterfaceKind
from simwright.worlds.entities import ComponentOptions, MotionLimits, WorldRobot
from simwright.worlds.robots_options import angles_in_radians
from simwright.worlds.space.solids import SolidPart
from simwright.worlds.world import World

LIDAR_HEIGHT = 0.2
BASE = "base_link"
SCAN, TWIST, ODOMETRY = "sensor_msgs/msg/LaserScan", "geometry_msgs/msg/Twist", "nav_msgs/msg/Odometry"
ODOMETRY_RATE = 50.0


def find_lidar_height(world: World) -> float:
    """The height of all lidars [m]: ours, or the middle of the lowest furniture."""
    tops = [
        min([location.pose.z + location.height, *(spawn.elevation for spawn in location.spawns)])
        for location in world.locations
    ]
    positive = [top for top in tops if top > 0.0]
    return min([LIDAR_HEIGHT, *(top / 2.0 for top in positive)])


def make_robot(robot: WorldRobot) -> SolidPart:
    """The cylinder of a robot."""
    part = SolidPart(robot.name, BASE, kinematic=True)
    height = robot.height or 2.0 * robot.radius
    if robot.radius > 0.0:
        outline = shapely.Point(0.0, 0.0).buffer(robot.radius)
        part.raise_outline("drum", outline, 0.0, height, robot.color)
        face = shapely.box(robot.radius * 0.35, -robot.radius * 0.12, robot.radius * 0.8, robot.radius * 0.12)
        part.raise_outline("heading", face, height, height + 0.02, (0.95, 0.95, 0.95))
        # the mark shows where the robot looks; it is not part of the disc that planning knows
        part.shapes[-1].collision = False
        part.shapes[-1].physics_material = ""
    return part


def finish_robot(part: SolidPart, mass: float | None) -> Asset:
    """The asset of a cylinder; a robot without a radius is a frame."""
    if not part.shapes:
        asset = Asset(part.name)
        asset.sites.append(Site(BASE, ros_frame=BASE))
        return asset
    # the cylinder alone weighs
    solid = SolidPart(part.name, shapes=part.shapes[:1])
    asset = part.finish(solid.weigh(mass))
    asset.controllers.append(
        Controller("base", "rigid_body_twist", interfaces={"subscriber": "cmd_vel"}, settings={"body": BASE})
    )
    asset.interfaces += [
        Interface(InterfaceKind.TOPIC, "subscription", "cmd_vel", TWIST),
        Interface(InterfaceKind.TOPIC, "publisher", "odom", ODOMETRY, rate=ODOMETRY_RATE, at=BASE),
    ]
    return asset


CLEARANCE = 0.002
"""How high a driven cylinder floats above the floor [m]: its joint carries it, and the floor does not brake it."""
# seconds in which a motor reaches its speed, short beside any trajectory and long beside MuJoCo's 2 ms
_LAG = 0.01
_AXES = (("x", Motion.SLIDE, (1, 0, 0)), ("y", Motion.SLIDE, (0, 1, 0)), ("yaw", Motion.HINGE, (0, 0, 1)))


def drive_drums(asset: Asset, names: Mapping[str, MotionLimits]) -> None:
    """Put cylinders of a merged scene on planar joints with velocity motors; ``names`` are their bodies.

    The joints of ``name`` are ``name::x``, ``name::y`` [m] and ``name::yaw`` [rad] in the axes of the world, and stand
    at the pose of the robot at the start; the motors of the same names take velocities [m/s, rad/s].
    """
    for body in asset.bodies:
        limits = names.get(body.name)
        if limits is None or not body.kinematic:
            continue
        body.kinematic = False
        x, y, z = (float(value) for value in body.pose.p)
        body.pose = Pose.of((x, y, z + CLEARANCE), body.pose.q)
        w, _, _, k = (float(value) for value in body.pose.q)
        start = (x, y, 2.0 * math.atan2(k, w))
        dofs = [
            Dof(motion, np.array(axis, dtype=float), f"{body.name}::{word}", ref=value)
            for (word, motion, axis), value in zip(_AXES, start, strict=True)
        ]
        ground = Pose.of((x, y, z + CLEARANCE))
        joint = Joint(f"{body.name}::base", JointKind.PLANAR, WORLD, body.name, dofs=dofs)
        joint.parent_frame, joint.child_frame = ground, ~body.pose @ ground
        asset.joints.append(joint)
        asset.actuators += _make_motors(body, limits, dofs)


def _make_motors(body: Body, limits: MotionLimits, dofs: list[Dof]) -> list[Actuator]:
    assert body.inertial is not None
    mass, turning = float(body.inertial.mass), float(body.inertial.inertia[2, 2])
    rows = (
        (mass, limits.max_linear_velocity, limits.max_linear_acceleration),
        (mass, limits.max_linear_velocity, limits.max_linear_acceleration),
        (turning, limits.max_angular_velocity, limits.max_angular_acceleration),
    )
    return [
        Actuator(
            dof.name,
            "velocity",
            dof.name,
            damping=inertia / _LAG,
            control_range=(-speed, speed) if math.isfinite(speed) else None,
            force_range=(-inertia * rate, inertia * rate) if math.isfinite(rate) else None,
        )
        for dof, (inertia, speed, rate) in zip(dofs, rows, strict=True)
    ]


def fan_out_lidars(asset: Asset) -> None:
    """Rangefinders for every lidar: sensors ``lidar_0``, ``lidar_1`` ... [m], -1 where a beam meets nothing.

    MuJoCo measures along the z axis of a site and leaves out what is on the same body; beams begin at the centre.
    """
    lidars = [sensor for sensor in asset.sensors if sensor.kind == "lidar"]
    asset.sensors = [sensor for sensor in asset.sensors if sensor.kind != "lidar"]
    for lidar in lidars:
        settings = lidar.settings
        first, last = settings["scan_horizontal_min_angle"], settings["scan_horizontal_max_angle"]
        count = int(settings["scan_horizontal_samples"])
        for number, angle in enumerate(np.linspace(first, last, count).tolist()):
            name = f"{lidar.name}_{number}"
            # a quarter turn about the axis beside the beam brings z into it
            turn = quat_from_axis_angle((-math.sin(angle), math.cos(angle), 0.0), math.pi / 2.0)
            asset.sites.append(Site(name, body=lidar.body, pose=lidar.pose @ Pose.of((0.0, 0.0, 0.0), turn)))
            asset.sensors.append(
                Sensor(
                    name,
                    "rangefinder",
                    body=lidar.body,
                    target=name,
                    rate=lidar.rate,
                    settings={"object_type": "site", "cutoff": float(settings["range_max"])},
                )
            )


def mount_sensors(world: World, robot: WorldRobot, asset: Asset) -> None:
    """Add the sensors that the world gives a robot, unless its asset brings one of the kind."""
    kinds = {sensor.kind for sensor in asset.sensors}
    roots = build_tree(asset).roots
    body = next((item for item in asset.bodies if item.name in roots), None)
    host, offset = (WORLD, Pose.of()) if body is None else (body.name, ~body.pose)
    lidars = [name for name, options in robot.sensors.items() if options.type == "lidar"]
    for name, options in robot.sensors.items():
        # an asset with a lidar of its own knows better where it is mounted
        if _KINDS[options.type] in kinds:
            continue
        pose = offset @ Pose.of((0.0, 0.0, find_lidar_height(world)))
        sensor = _MAKERS[options.type](name, options, robot)
        sensor.body, sensor.pose = host, pose @ sensor.pose
        asset.sensors.append(sensor)
        if options.type == "lidar":
            topic = "scan" if len(lidars) == 1 else f"{name}/scan"
            asset.interfaces.append(
                Interface(InterfaceKind.TOPIC, "publisher", topic, SCAN, rate=sensor.rate, at=name)
            )


def _make_lidar(name: str, options: ComponentOptions, robot: WorldRobot) -> Sensor:
    first, last = angles_in_radians(options, "min_angle"), angles_in_radians(options, "max_angle")
    step = angles_in_radians(options, "angular_resolution")
    count = count_beams(first, last, step)
    settings = {
        "scan_horizontal_samples": count,
        "scan_horizontal_resolution": 1.0,
        "scan_horizontal_min_angle": first,
        "scan_horizontal_max_angle": first + (count - 1) * step,
        # outside of the cylinder, which would stop every beam; flat lidars measure from the centre
        "range_min": max(robot.radius + 0.01, 0.01),
        "range_max": float(options["max_range_m"]),
    }
    return Sensor(name, "lidar", rate=_find_rate(options), settings=settings)


def _make_view(name: str, options: ComponentOptions, _robot: WorldRobot) -> Sensor:
    first, last = angles_in_radians(options, "min_angle"), angles_in_radians(options, "max_angle")
    settings = {
        "near": 0.01,
        "far": float(options["max_range_m"]),
        "aspect_ratio": 1.0,
        "horizontal_fov": last - first,
    }
    pose = Pose.of((0.0, 0.0, 0.0), quat_from_axis_angle((0, 0, 1), (first + last) / 2.0))
    return Sensor(name, "logical_camera", pose=pose, rate=_find_rate(options), settings=settings)


_KINDS = {"lidar": "lidar", "fov": "logical_camera"}
_MAKERS = {"lidar": _make_lidar, "fov": _make_view}


def count_beams(first: float, last: float, step: float) -> int:
    """Beams from the first angle to the last one, which may go a step beyond it as in PyRoboSim."""
    # numpy.arange(first, last + step, step), which PyRoboSim uses
    return max(1, math.ceil((last + step - first) / step - 1e-9))


def _find_rate(options: ComponentOptions) -> float | None:
    period = float(options["update_rate_s"])
    return 1.0 / period if period > 0.0 else None
