# SPDX-License-Identifier: Apache-2.0
"""What publishers of an asset send: computed from the simulation, never made up.

:func:`make_source` finds the source of an endpoint by its type; where there is none, or where it lacks what it would
measure with, it says why, and the endpoint is disabled.  A source is a function of the moment.  Here are those that
look at the simulation: rays, pictures, contacts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from simwright.core.diag import Level, declare
from simwright.core.errors import SimwrightError
from simwright.core.math3d import Array
from simwright.model.asset import Camera, Sensor
from simwright.ros.frames import GraphFrame
from simwright.ros.graph import RosEndpoint
from simwright.ros.moment import SimulationMoment
from simwright.ros.motion_sources import make_imu, make_joint_states, make_true_odometry, make_true_pose
from simwright.ros.serving import MessageSource, NoDataError
from simwright.ros.source_parts import Read, SourceContext, make_stamped, read_noise
from simwright.ros.transports.cdr import MessageLayout, PackedMessage, Slot
from simwright.ros.transports.transport import Message

SENSOR_ASSUMED = declare(
    "ros-sensor-assumed",
    Level.WARNING,
    "nothing says how {name!r} measures: {assumed} is assumed",
    hint="describe the sensor in the asset",
    doc="An interface of a sensor has no sensor whose range, angles or resolution could be used.",
)
_SCAN = {"samples": 360, "lower": -math.pi, "upper": math.pi, "near": 0.1, "far": 30.0}
_RESOLUTION = (640, 480)
_FAN = 7
"""Beams across the cone of a range finder, in both directions."""
_CONTACT_WORDS = ("contact", "bumper", "touch")


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
    kinds = ("range",) if single else ("lidar", "ray", "gpu_lidar", "gpu_ray")
    sensor = context.find_sensor(endpoint, *kinds)
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
    return _Beams(across, upwards, near, far, read_noise(sensor))


def _read_cone(sensor: Sensor) -> _Beams:
    """The beam of a range finder, or a fan of beams across its cone: the closest of them counts."""
    said = sensor.settings
    half, far = float(said.get("field_of_view", 0.0)) / 2.0, float(said.get("max", math.inf))
    across = np.linspace(-half, half, _FAN) if half > 0.0 else np.zeros(1)
    far = far if math.isfinite(far) else 1e6
    return _Beams(
        across, across if half > 0.0 else np.zeros(1), float(said.get("min", 0.0)), far, read_noise(sensor)
    )


def _spread(said: dict[str, object], word: str, count: int) -> Array:
    lower, upper = (float(str(said.get(f"{word}_{end}_angle", 0.0))) for end in ("min", "max"))
    return np.linspace(lower, upper, max(count, 1))


def _check_rays(context: SourceContext, endpoint: RosEndpoint) -> GraphFrame:
    """The frame that rays start in."""
    frame = context.find_place(endpoint)
    if context.simulation.cast_rays((0.0, 0.0, 0.0), np.array([(1.0, 0.0, 0.0)]), reach=1.0) is None:
        raise NoDataError("the engine cannot cast rays")
    return frame


def _make_scan(endpoint: RosEndpoint, context: SourceContext) -> Read:
    """``sensor_msgs/LaserScan``."""
    frame, beams = _check_rays(context, endpoint), _read_beams(endpoint, context, flat=True)
    angles = beams.across
    layout = MessageLayout(
        endpoint.type,
        {
            "header": make_stamped(endpoint.frame_id),
            "angle_min": float(angles[0]),
            "angle_max": float(angles[-1]),
            "angle_increment": float(angles[1] - angles[0]) if len(angles) > 1 else 0.0,
            "scan_time": 1.0 / endpoint.rate if endpoint.rate else 0.0,
            "range_min": beams.near,
            "range_max": beams.far,
            "ranges": Slot("ranges", 0, len(angles)),
        },
    )

    def read(moment: SimulationMoment) -> PackedMessage:
        found = beams.measure(moment, frame, context)[0].astype(np.float32)
        return layout.pack(moment.time, ranges=found)

    return read


def _make_cloud(endpoint: RosEndpoint, context: SourceContext) -> Read:
    """``sensor_msgs/PointCloud2``."""
    frame, beams = _check_rays(context, endpoint), _read_beams(endpoint, context, flat=False)
    directions = beams.directions
    rows, columns = directions.shape[:2]
    layout = MessageLayout(
        endpoint.type,
        {
            "header": make_stamped(endpoint.frame_id),
            "height": rows,
            "width": columns,
            "fields": [
                {"name": name, "offset": 4 * number, "datatype": 7, "count": 1}
                for number, name in enumerate("xyz")
            ],
            "is_bigendian": False,
            "point_step": 12,
            "row_step": 12 * columns,
            "data": Slot("points", 0, 12 * rows * columns),
            "is_dense": Slot("is_dense"),
        },
    )

    def read(moment: SimulationMoment) -> PackedMessage:
        distances = beams.measure(moment, frame, context)
        points = directions * np.where(np.isfinite(distances), distances, np.nan)[..., None]
        packed = np.ascontiguousarray(points, dtype=np.float32)
        return layout.pack(
            moment.time, points=packed.view(np.uint8), is_dense=np.array(np.isfinite(packed).all())
        )

    return read


def _make_range(endpoint: RosEndpoint, context: SourceContext) -> Read:
    """``sensor_msgs/Range``."""
    frame = _check_rays(context, endpoint)
    sensor = context.find_sensor(endpoint, "range")
    if sensor is not None and sensor.kind == "range":
        beams = _read_cone(sensor)
    else:
        beams = _read_beams(endpoint, context, flat=True, single=True)
    is_sound = sensor is not None and sensor.settings.get("radiation") == "ultrasound"
    layout = MessageLayout(
        endpoint.type,
        {
            "header": make_stamped(endpoint.frame_id),
            "radiation_type": 0 if is_sound else 1,
            "field_of_view": float(beams.across[-1] - beams.across[0]),
            "min_range": beams.near,
            "max_range": beams.far,
            "range": Slot("range"),
        },
    )

    def read(moment: SimulationMoment) -> PackedMessage:
        return layout.pack(moment.time, range=beams.measure(moment, frame, context).min(keepdims=True))

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
    """``sensor_msgs/Image``: colours, or depths where the topic is called so."""
    camera, sensor = _find_camera(endpoint, context)
    width, height = camera.resolution if all(camera.resolution) else _RESOLUTION
    is_depth = "depth" in endpoint.name.rpartition("/")[2] or "/depth" in endpoint.name
    mean, deviation = read_noise(sensor)
    try:
        tried = context.simulation.render(camera.name, (width, height), depth=is_depth)
    except SimwrightError as error:
        raise NoDataError(str(error)) from None
    if tried is None:
        raise NoDataError("the engine cannot render images")
    step = width * (4 if is_depth else 3)
    layout = MessageLayout(
        endpoint.type,
        {
            "header": make_stamped(endpoint.frame_id),
            "height": height,
            "width": width,
            "encoding": "32FC1" if is_depth else "rgb8",
            "is_bigendian": 0,
            "step": step,
            "data": Slot("pixels", 0, step * height),
        },
    )

    def read(moment: SimulationMoment) -> PackedMessage | None:
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
        return layout.pack(moment.time, pixels=np.ascontiguousarray(values).view(np.uint8))

    return read


def _make_camera_info(endpoint: RosEndpoint, context: SourceContext) -> Read:
    """``sensor_msgs/CameraInfo`` of a camera without distortion."""
    camera, _ = _find_camera(endpoint, context)
    width, height = camera.resolution if all(camera.resolution) else _RESOLUTION
    focal = height / 2.0 / math.tan(camera.fov_y / 2.0)
    # the middle of the picture, where whole numbers are middles of pixels
    x, y = (width - 1) / 2.0, (height - 1) / 2.0
    layout = MessageLayout(
        endpoint.type,
        {
            "header": make_stamped(endpoint.frame_id),
            "height": height,
            "width": width,
            "distortion_model": "plumb_bob",
            "d": np.zeros(5),
            "k": np.array((focal, 0.0, x, 0.0, focal, y, 0.0, 0.0, 1.0)),
            "r": np.eye(3).ravel(),
            "p": np.array((focal, 0.0, x, 0.0, 0.0, focal, y, 0.0, 0.0, 0.0, 1.0, 0.0)),
        },
    )
    return lambda moment: layout.pack(moment.time)


def _make_contact(endpoint: RosEndpoint, context: SourceContext) -> Read:
    """``std_msgs/Bool``: whether a body touches something."""
    sensor = context.find_sensor(endpoint, *_CONTACT_WORDS)
    body = "" if sensor is None else sensor.body
    at = endpoint.interface.at if endpoint.interface is not None else ""
    # OpenUSD has no sensor for it: the name of a topic on a body tells what it is about
    if not body and at in context.layout.bodies and any(word in endpoint.name for word in _CONTACT_WORDS):
        body = at
    if not body:
        raise NoDataError("no contact sensor is there")
    if context.simulation.contacts() is None:
        raise NoDataError("the engine does not report contacts")

    def read(moment: SimulationMoment) -> Message:
        return {"data": any(body in (one.a, one.b) and one.force > 0.0 for one in moment.contacts or ())}

    return read


_MAKERS: dict[str, Callable[[RosEndpoint, SourceContext], Read]] = {
    "sensor_msgs/msg/JointState": make_joint_states,
    "nav_msgs/msg/Odometry": make_true_odometry,
    "sensor_msgs/msg/Imu": make_imu,
    "sensor_msgs/msg/LaserScan": _make_scan,
    "sensor_msgs/msg/PointCloud2": _make_cloud,
    "sensor_msgs/msg/Range": _make_range,
    "sensor_msgs/msg/Image": _make_image,
    "sensor_msgs/msg/CameraInfo": _make_camera_info,
    "std_msgs/msg/Bool": _make_contact,
    "geometry_msgs/msg/PoseStamped": make_true_pose,
}
"""Type -> what makes its source."""
COMPUTED = frozenset(_MAKERS)
"""Types that something is computed for."""
_LOOKING_AHEAD = frozenset({"sensor_msgs/msg/Imu"})


def make_source(endpoint: RosEndpoint, context: SourceContext) -> MessageSource[SimulationMoment]:
    """What an endpoint sends; raises :class:`NoDataError` where nothing can be computed."""
    maker = _MAKERS.get(endpoint.type)
    if maker is None:
        raise NoDataError(f"nothing is computed for {endpoint.type}")
    return MessageSource(maker(endpoint, context), endpoint.type in _LOOKING_AHEAD)
