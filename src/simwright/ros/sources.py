# SPDX-License-Identifier: Apache-2.0
"""What publishers of an asset send: computed from the simulation, never made up.

:func:`make_source` finds the source of an endpoint by its type; where there is none, or where it lacks what it would
measure with, it says why, and the endpoint is disabled.  A source is a function of the moment.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from simwright.core.diag import Level, Reporter, declare
from simwright.core.errors import SimwrightError
from simwright.core.math3d import Array, Pose, quat_conjugate, quat_rotate
from simwright.engines.layout import Layout, LayoutDof
from simwright.engines.protocol import Simulation
from simwright.model.asset import Asset, Camera, Sensor
from simwright.model.joint import WORLD
from simwright.ros.frames import FrameTree, GraphFrame
from simwright.ros.graph import GraphRobot, RosEndpoint
from simwright.ros.messages import (
    make_covariance,
    make_header,
    make_pose,
    make_quaternion,
    make_transform,
    make_twist,
    make_vector,
)
from simwright.ros.moment import SimulationMoment
from simwright.ros.serving import MessageSource, NoDataError
from simwright.ros.transports.transport import Message

SENSOR_ASSUMED = declare(
    "ros-sensor-assumed",
    Level.WARNING,
    "nothing says how {name!r} measures: {assumed} is assumed",
    hint="describe the sensor in the asset",
    doc="An interface of a sensor has no sensor whose range, angles or resolution could be used.",
)
Read = Callable[[SimulationMoment], Message | None]
_SCAN = {"samples": 360, "lower": -math.pi, "upper": math.pi, "near": 0.1, "far": 30.0}
_RESOLUTION = (640, 480)
_CONTACT_WORDS = ("contact", "bumper", "touch")


@dataclass(slots=True)
class SourceContext:
    """What sources are made from; ``random`` is for the noise of sensors."""

    asset: Asset
    simulation: Simulation
    robot: GraphRobot
    reporter: Reporter
    gravity: Array
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))

    @property
    def frames(self) -> FrameTree:
        """Of the robot."""
        return self.robot.frames

    @property
    def layout(self) -> Layout:
        """Of the simulation."""
        return self.simulation.layout

    def find_place(self, endpoint: RosEndpoint) -> GraphFrame:
        """The frame that an endpoint measures in: that of its messages, else where it sits."""
        frame = self.frames.find(endpoint.frame_id)
        if frame is not None and frame.why != "odometry":
            return frame
        sensor = self.find_sensor(endpoint)
        if sensor is not None:
            return GraphFrame(endpoint.frame_id, "", True, "site", sensor.body, sensor.pose)
        at = endpoint.interface.at if endpoint.interface is not None else ""
        site = next((site for site in self.asset.sites if site.name == at), None)
        if site is not None:
            return GraphFrame(endpoint.frame_id, "", True, "site", site.body, site.pose)
        if at in self.layout.bodies:
            return GraphFrame(endpoint.frame_id, "", True, "link", at)
        raise NoDataError("it sits on no body and in no frame")

    def find_sensor(self, endpoint: RosEndpoint, *kinds: str) -> Sensor | None:
        """The sensor an endpoint speaks for: the one it is at, else the only one of its kind on its body."""
        interface = endpoint.interface
        if interface is None:
            return None
        named = next((sensor for sensor in self.asset.sensors if sensor.name == interface.at), None)
        if named is not None:
            return named
        near = [
            sensor
            for sensor in self.asset.sensors
            if sensor.kind in kinds
            and (
                (sensor.path and interface.path.startswith(f"{sensor.path.rpartition('/')[0]}/"))
                or (interface.at and sensor.body == interface.at)
            )
        ]
        return near[0] if len(near) == 1 else None


def make_source(endpoint: RosEndpoint, context: SourceContext) -> MessageSource[SimulationMoment]:
    """What an endpoint sends; raises :class:`NoDataError` where nothing can be computed."""
    maker = _MAKERS.get(endpoint.type)
    if maker is None:
        raise NoDataError(f"nothing is computed for {endpoint.type}")
    return MessageSource(maker(endpoint, context), endpoint.type in _LOOKING_AHEAD)


def make_tf_source(frames: FrameTree, *, static: bool, odometry: dict[str, Callable[[], Pose]]) -> Read:
    """All transforms of /tf or of /tf_static; ``odometry`` gives the counted pose of a controller's base."""
    edges = frames.list_edges(static=static)

    def read(moment: SimulationMoment) -> Message | None:
        transforms = []
        for parent, child in edges:
            counted = odometry.get(child.controller)
            if counted is None:
                pose = ~moment.find_frame(parent) @ moment.find_frame(child)
            elif child.why == "odometry":
                # where counting began: what is true, less what was counted
                base = next(frame for frame in frames.frames if frame.parent == child.id)
                pose = ~moment.find_frame(parent) @ moment.find_frame(base) @ ~counted()
            else:
                pose = counted()
            transforms.append(make_transform(moment.time, parent.id, child.id, pose))
        return {"transforms": transforms}

    return read


def find_freedoms(layout: Layout, robot: GraphRobot) -> dict[str, LayoutDof]:
    """Dofs of a robot's joints with a single coordinate, by the name ROS has for the joint."""
    wanted = {joint.name: joint.public_name for joint in robot.joints if len(joint.dofs) == 1}
    return {
        wanted[freedom.joint.name]: freedom
        for freedom in layout.freedoms
        if freedom.joint is not None
        and freedom.joint.name in wanted
        and freedom.positions.stop - freedom.positions.start == 1
    }


def _make_joint_states(endpoint: RosEndpoint, context: SourceContext) -> Read:
    freedoms = find_freedoms(context.layout, context.robot)
    names = [name for name in endpoint.joints if name in freedoms]
    if not names:
        raise NoDataError("it has no joints with a coordinate")
    q = [freedoms[name].q for name in names]
    v = [freedoms[name].v for name in names]

    def read(moment: SimulationMoment) -> Message:
        # left out where the engine does not tell them, as the message allows
        efforts = {} if moment.efforts is None else {"effort": moment.efforts[v]}
        return {
            "header": make_header(moment.time, endpoint.frame_id),
            "name": names,
            "position": moment.positions[q],
            "velocity": moment.velocities[v],
            **efforts,
        }

    return read


def _make_true_odometry(endpoint: RosEndpoint, context: SourceContext) -> Read:
    """Of an endpoint without a controller: where the body truly is."""
    at = endpoint.interface.at if endpoint.interface is not None else ""
    body = at if at in context.layout.bodies else next((f.body for f in context.frames.frames if f.body), "")
    if not body:
        raise NoDataError("it sits on no body")
    child = next((f.id for f in context.frames.frames if f.body == body), body)
    origin = context.frames.find(endpoint.frame_id)
    frame = endpoint.frame_id if origin is not None and origin.body == WORLD else "world"

    def read(moment: SimulationMoment) -> Message | None:
        start = moment.find_frame(origin) if origin is not None and origin.body == WORLD else Pose.identity()
        pose = moment.find_pose(body)
        moved = moment.find_velocity(body, pose.p)
        if moved is None:
            return None
        linear, angular = moved
        turn = quat_conjugate(pose.q)
        return {
            "header": make_header(moment.time, frame),
            "child_frame_id": child,
            "pose": {"pose": make_pose(~start @ pose)},
            "twist": {"twist": make_twist(quat_rotate(turn, linear), quat_rotate(turn, angular))},
        }

    return read


def _make_imu(endpoint: RosEndpoint, context: SourceContext) -> Read:
    frame = context.find_place(endpoint)
    sensor = context.find_sensor(endpoint, "imu")
    spin = [_read_noise(sensor, f"angular_velocity_{axis}") for axis in "xyz"]
    push = [_read_noise(sensor, f"linear_acceleration_{axis}") for axis in "xyz"]
    before: list[tuple[int, Array]] = []

    def read(moment: SimulationMoment) -> Message | None:
        place = moment.find_frame(frame)
        moved = moment.find_velocity(frame.body, place.p)
        if moved is None:
            return None
        velocity, turning = moved
        past, before[:] = list(before), [(moment.time, velocity)]
        # how fast the velocity changes takes two moments: the first gives none
        if not past or moment.time <= past[0][0]:
            return None
        change = (velocity - past[0][1]) / ((moment.time - past[0][0]) * 1e-9)
        turn = quat_conjugate(place.q)
        felt = quat_rotate(turn, change - context.gravity) + _draw(context, push)
        return {
            "header": make_header(moment.time, endpoint.frame_id),
            "orientation": make_quaternion(place.q),
            "angular_velocity": make_vector(quat_rotate(turn, turning) + _draw(context, spin)),
            "angular_velocity_covariance": make_covariance([deviation for _, deviation in spin]),
            "linear_acceleration": make_vector(felt),
            "linear_acceleration_covariance": make_covariance([deviation for _, deviation in push]),
        }

    return read


def _read_noise(sensor: Sensor | None, name: str = "") -> tuple[float, float]:
    """Mean and standard deviation of a sensor's Gaussian noise."""
    settings = {} if sensor is None else sensor.settings
    prefix = f"{name}_" if name else ""
    if not str(settings.get(f"{prefix}noise_type", "none")).startswith("gaussian"):
        return 0.0, 0.0
    values = (settings.get(f"{prefix}noise_{word}", 0.0) for word in ("mean", "stddev"))
    mean, deviation = (float(value) for value in values)
    return mean, abs(deviation)


def _draw(context: SourceContext, noises: list[tuple[float, float]]) -> Array:
    return np.array([mean + deviation * context.random.standard_normal() for mean, deviation in noises])


@dataclass(frozen=True, slots=True)
class _Beams:
    """The rays of a lidar: angles [rad] in its frame, range [m], noise."""

    across: Array
    upwards: Array
    near: float
    far: float
    noise: tuple[float, float]

    @property
    def directions(self) -> Array:
        """Unit vectors (rows x columns x 3), X forward, rows upwards."""
        up, across = np.meshgrid(self.upwards, self.across, indexing="ij")
        return np.stack([np.cos(up) * np.cos(across), np.cos(up) * np.sin(across), np.sin(up)], axis=-1)

    def measure(self, moment: SimulationMoment, frame: GraphFrame, context: SourceContext) -> Array:
        """Distances (rows x columns); infinite where nothing is in range."""
        place = moment.find_frame(frame)
        flat = self.directions.reshape(-1, 3) @ place.rotation.T
        found = moment.simulation.cast_rays(place.p, flat, reach=self.far, ignore=frame.body)
        assert found is not None
        mean, deviation = self.noise
        if mean or deviation:
            found = found + mean + deviation * context.random.standard_normal(len(found))
        # closer than it can see is seen as the closest it can (REP 117: minus infinity)
        found = np.where(found < self.near, -np.inf, np.where(found > self.far, np.inf, found))
        return np.asarray(found).reshape(len(self.upwards), len(self.across))


def _read_beams(endpoint: RosEndpoint, context: SourceContext, *, flat: bool, single: bool = False) -> _Beams:
    """What a sensor says of its rays; without one, all round, or ``single`` ahead, told in a finding."""
    # one function: three ways to say the same, SDFormat's, URDF's and none
    sensor = context.find_sensor(endpoint, "lidar", "ray", "gpu_lidar", "gpu_ray")
    said = {} if sensor is None else sensor.settings
    if "scan_horizontal_samples" in said:
        count = round(
            float(said["scan_horizontal_samples"]) * float(said.get("scan_horizontal_resolution", 1))
        )
        across = _spread(said, "scan_horizontal", count)
        rows = 1 if flat else round(float(said.get("scan_vertical_samples", 1)))
        upwards = _spread(said, "scan_vertical", rows) if rows > 1 else np.zeros(1)
        near, far = float(said.get("range_min", 0.0)), float(said.get("range_max", math.inf))
    elif "horizontal_fov" in said and "horizontal_resolution" in said:
        wide, step = float(said["horizontal_fov"]), float(said["horizontal_resolution"])
        across = np.linspace(-wide / 2, wide / 2, max(round(wide / step) + 1, 2))
        high, line = float(said.get("vertical_fov", 0.0)), float(said.get("vertical_resolution", 0.0))
        rows = 1 if flat or not high or not line else round(high / line) + 1
        upwards = np.linspace(-high / 2, high / 2, rows) if rows > 1 else np.zeros(1)
        near, far = float(said.get("min_range", 0.0)), float(said.get("max_range", math.inf))
    else:
        count = 1 if single else int(_SCAN["samples"])
        beams = "one beam ahead" if single else f"{count} beams all round"
        assumed = f"{beams}, {_SCAN['near']} to {_SCAN['far']} m"
        context.reporter.report(SENSOR_ASSUMED, endpoint.source, name=endpoint.name, assumed=assumed)
        across = np.linspace(_SCAN["lower"], _SCAN["upper"], count, endpoint=False) * (not single)
        upwards, near, far = np.zeros(1), _SCAN["near"], _SCAN["far"]
    far = far if math.isfinite(far) else 1e6
    return _Beams(across, upwards, near, far, _read_noise(sensor))


def _spread(said: dict[str, object], word: str, count: int) -> Array:
    lower, upper = (float(str(said.get(f"{word}_{end}_angle", 0.0))) for end in ("min", "max"))
    return np.linspace(lower, upper, max(count, 1))


def _check_rays(context: SourceContext, endpoint: RosEndpoint) -> GraphFrame:
    """The frame that rays start in."""
    frame = context.find_place(endpoint)
    if context.simulation.cast_rays((0.0, 0.0, 0.0), np.array([(1.0, 0.0, 0.0)]), reach=1.0) is None:
        raise NoDataError("the engine casts no rays")
    return frame


def _make_scan(endpoint: RosEndpoint, context: SourceContext) -> Read:
    frame, beams = _check_rays(context, endpoint), _read_beams(endpoint, context, flat=True)
    angles = beams.across
    step = float(angles[1] - angles[0]) if len(angles) > 1 else 0.0

    def read(moment: SimulationMoment) -> Message:
        return {
            "header": make_header(moment.time, endpoint.frame_id),
            "angle_min": float(angles[0]),
            "angle_max": float(angles[-1]),
            "angle_increment": step,
            "scan_time": 1.0 / endpoint.rate if endpoint.rate else 0.0,
            "range_min": beams.near,
            "range_max": beams.far,
            "ranges": beams.measure(moment, frame, context)[0].astype(np.float32),
        }

    return read


def _make_cloud(endpoint: RosEndpoint, context: SourceContext) -> Read:
    frame, beams = _check_rays(context, endpoint), _read_beams(endpoint, context, flat=False)
    directions = beams.directions

    def read(moment: SimulationMoment) -> Message:
        distances = beams.measure(moment, frame, context)
        rows, columns = distances.shape
        points = directions * np.where(np.isfinite(distances), distances, np.nan)[..., None]
        packed = np.ascontiguousarray(points, dtype=np.float32)
        return {
            "header": make_header(moment.time, endpoint.frame_id),
            "height": rows,
            "width": columns,
            "fields": [
                {"name": name, "offset": 4 * number, "datatype": 7, "count": 1}
                for number, name in enumerate("xyz")
            ],
            "is_bigendian": False,
            "point_step": 12,
            "row_step": 12 * columns,
            "data": np.frombuffer(packed.tobytes(), dtype=np.uint8),
            "is_dense": bool(np.isfinite(packed).all()),
        }

    return read


def _make_range(endpoint: RosEndpoint, context: SourceContext) -> Read:
    frame = _check_rays(context, endpoint)
    beams = _read_beams(endpoint, context, flat=True, single=True)
    wide = float(beams.across[-1] - beams.across[0])

    def read(moment: SimulationMoment) -> Message:
        nearest = float(beams.measure(moment, frame, context).min())
        return {
            "header": make_header(moment.time, endpoint.frame_id),
            "radiation_type": 1,
            "field_of_view": wide,
            "min_range": beams.near,
            "max_range": beams.far,
            "range": nearest,
        }

    return read


def _find_camera(endpoint: RosEndpoint, context: SourceContext) -> tuple[Camera, Sensor | None]:
    interface, asset = endpoint.interface, context.asset
    sensor = context.find_sensor(endpoint, "camera", "depth_camera", "rgbd_camera")
    names = [sensor.target, sensor.name] if sensor is not None else []
    if interface is not None:
        names.append(interface.at)
    found = next((camera for camera in asset.cameras if camera.name in names), None)
    if found is None and interface is not None:
        # REP-0158 2.8: the interface sits on the optical frame, a child of the camera
        near = [c for c in asset.cameras if c.path and interface.path.startswith(f"{c.path}/")]
        found = near[0] if near else None
    if found is None:
        raise NoDataError("no camera is above it")
    return found, sensor


def _make_image(endpoint: RosEndpoint, context: SourceContext) -> Read:
    camera, sensor = _find_camera(endpoint, context)
    width, height = camera.resolution if all(camera.resolution) else _RESOLUTION
    is_depth = "depth" in endpoint.name.rpartition("/")[2] or "/depth" in endpoint.name
    mean, deviation = _read_noise(sensor)
    try:
        tried = context.simulation.render(camera.name, (width, height), depth=is_depth)
    except SimwrightError as error:
        raise NoDataError(str(error)) from None
    if tried is None:
        raise NoDataError("the engine draws no pictures")

    def read(moment: SimulationMoment) -> Message | None:
        picture = moment.simulation.render(camera.name, (width, height), depth=is_depth)
        if picture is None:
            return None
        if is_depth:
            # REP 117 and 118: beyond what is drawn is infinitely far
            values = np.where(picture >= camera.far, np.inf, picture).astype(np.float32)
        elif mean or deviation:
            drawn = picture / 255.0 + mean + deviation * context.random.standard_normal(picture.shape)
            values = (np.clip(drawn, 0.0, 1.0) * 255.0).astype(np.uint8)
        else:
            values = picture
        return {
            "header": make_header(moment.time, endpoint.frame_id),
            "height": height,
            "width": width,
            "encoding": "32FC1" if is_depth else "rgb8",
            "is_bigendian": 0,
            "step": width * (4 if is_depth else 3),
            "data": np.frombuffer(values.tobytes(), dtype=np.uint8),
        }

    return read


def _make_camera_info(endpoint: RosEndpoint, context: SourceContext) -> Read:
    camera, _ = _find_camera(endpoint, context)
    width, height = camera.resolution if all(camera.resolution) else _RESOLUTION
    focal = height / 2.0 / math.tan(camera.fov_y / 2.0)
    # the middle of the picture, where whole numbers are middles of pixels
    x, y = (width - 1) / 2.0, (height - 1) / 2.0

    def read(moment: SimulationMoment) -> Message:
        return {
            "header": make_header(moment.time, endpoint.frame_id),
            "height": height,
            "width": width,
            "distortion_model": "plumb_bob",
            "d": np.zeros(5),
            "k": np.array((focal, 0.0, x, 0.0, focal, y, 0.0, 0.0, 1.0)),
            "r": np.eye(3).ravel(),
            "p": np.array((focal, 0.0, x, 0.0, 0.0, focal, y, 0.0, 0.0, 0.0, 1.0, 0.0)),
        }

    return read


def _make_contact(endpoint: RosEndpoint, context: SourceContext) -> Read:
    sensor = context.find_sensor(endpoint, *_CONTACT_WORDS)
    body = "" if sensor is None else sensor.body
    at = endpoint.interface.at if endpoint.interface is not None else ""
    # OpenUSD has no sensor for it: the name of a topic on a body tells what it is about
    if not body and at in context.layout.bodies and any(word in endpoint.name for word in _CONTACT_WORDS):
        body = at
    if not body:
        raise NoDataError("no contact sensor is there")
    if context.simulation.contacts() is None:
        raise NoDataError("the engine does not tell what touches what")

    def read(moment: SimulationMoment) -> Message:
        return {"data": any(body in (one.a, one.b) and one.force > 0.0 for one in moment.contacts or ())}

    return read


def _make_true_pose(endpoint: RosEndpoint, context: SourceContext) -> Read:
    at = endpoint.interface.at if endpoint.interface is not None else ""
    if at not in context.layout.bodies:
        raise NoDataError("it sits on no body")

    def read(moment: SimulationMoment) -> Message:
        return {"header": make_header(moment.time, "world"), "pose": make_pose(moment.find_pose(at))}

    return read


_MAKERS: dict[str, Callable[[RosEndpoint, SourceContext], Read]] = {
    "sensor_msgs/msg/JointState": _make_joint_states,
    "nav_msgs/msg/Odometry": _make_true_odometry,
    "sensor_msgs/msg/Imu": _make_imu,
    "sensor_msgs/msg/LaserScan": _make_scan,
    "sensor_msgs/msg/PointCloud2": _make_cloud,
    "sensor_msgs/msg/Range": _make_range,
    "sensor_msgs/msg/Image": _make_image,
    "sensor_msgs/msg/CameraInfo": _make_camera_info,
    "std_msgs/msg/Bool": _make_contact,
    "geometry_msgs/msg/PoseStamped": _make_true_pose,
}
"""Type -> what makes its source."""
_LOOKING_AHEAD = frozenset({"sensor_msgs/msg/Imu"})
