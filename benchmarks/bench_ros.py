# SPDX-License-Identifier: Apache-2.0
"""ROS beside a simulation: what a step costs with the bridge, against the same steps without it.

Robots are sample arms side by side, each in a namespace of its own with joint states and TF at 50 Hz and controllers;
its camera is measured apart.  Messages go to a transport that makes CDR of them, as bags and Zenoh do, and counts them:
one that is missing is an error, not a figure.  A second reference is a program that somebody might write by hand for
the same messages: at the same times, from the same simulation, by the serializer of rosbags, or by rclpy
(``ros_worker.py``, in the environment of ROS).  There, messages go to a real subscriber that counts them.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import Result, cpu_times
from benchmarks.peers import explain_absence, find_peer, run_in_environment
from simwright.core.diag import Reporter
from simwright.core.math3d import Array, Pose, poses_compose, poses_invert
from simwright.engines.protocol import Settings, Simulation
from simwright.engines.table import load_engine
from simwright.formats.table import read_asset
from simwright.model.asset import Asset
from simwright.model.ros_sides import RosSeat, carry_ros_side
from simwright.ros.bridge import BridgeOptions, RosBridge
from simwright.ros.graph import RosEndpoint
from simwright.ros.messages import NANO
from simwright.ros.parts import EquippedAsset, equip_asset
from simwright.ros.source_parts import find_freedoms
from simwright.ros.transports.cdr import PackedMessage
from simwright.ros.transports.transport import (
    Message,
    Sender,
    SendingTransport,
)
from simwright.ros.transports.types import list_fields, open_store, write_message

ROOT = Path(__file__).resolve().parents[1]
ARM = ROOT / "samples" / "simwright_samples" / "arm" / "urdf" / "arm.urdf"
ROBOTS = (1, 10, 50)
IMAGE, CAMERA_INFO = "sensor_msgs/msg/Image", "sensor_msgs/msg/CameraInfo"
RATE = 50.0
STEPS = 400
"""Of 2 ms, or 1 ms: some tenths of a second, with all rates in it."""
BARE = "simulation without bridge"


class CountingTransport(SendingTransport):
    """Makes CDR of messages, and counts them by topic."""

    name = "counting"

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}

    def explain_unknown(self, type_name: str) -> str:
        """See the base class."""
        del type_name
        return ""

    def advertise(self, endpoint: RosEndpoint) -> Sender:
        """See the base class."""
        return CountingSender(self, endpoint)

    def close(self) -> None:
        """Nothing."""


class CountingSender(Sender):
    """The publisher of one topic."""

    def __init__(self, transport: CountingTransport, endpoint: RosEndpoint) -> None:
        self._counts, self._endpoint = transport.counts, endpoint
        self._counts[endpoint.name] = 0

    def send(self, message: Message, time: int) -> None:
        """Count it."""
        del time
        self._counts[self._endpoint.name] += bool(write_message(self._endpoint.type, message))

    def send_packed(self, message: PackedMessage, time: int) -> None:
        """Count it."""
        del time
        self._counts[self._endpoint.name] += bool(message.encode(list_fields))

    def close(self) -> None:
        """Nothing."""


def run() -> Iterator[Result | str]:
    """Rows for 1, 10 and 50 robots, joint states at 1 kHz, a camera, and the same by rclpy to a real subscriber."""
    if importlib.util.find_spec("rosbags") is None:
        yield from run_in_environment("rclpy", "ros")
        return
    for count in ROBOTS:
        yield from measure_bridge(f"{count} arms, 50 Hz", make_robots(count), 0.002)
    yield from measure_bridge("1 arm, joint states 1 kHz", make_robots(1, rate=1000.0), 0.001)
    yield from measure_camera()
    yield from measure_rclpy()


def make_robots(count: int, *, rate: float = RATE, pictures: bool = False) -> EquippedAsset:
    """So many arms of a scene, each below a namespace of its own; ``rate`` [Hz] is that of joint states."""
    arm = read_asset(ARM, reporter=Reporter())
    bare = arm.copy()
    bare.interfaces, bare.controllers, bare.sensors, bare.cameras, bare.sites = [], [], [], [], []
    asset = Asset("arms")
    for number in range(count):
        place, prefix = Pose.of((2.0 * (number % 10), 2.0 * (number // 10), 0.0)), f"r{number}_"
        asset.attach(bare, pose=place, prefix=prefix, hold=False)
        bodies, joints = (
            {one.name: f"{prefix}{one.name}" for one in many} for many in (arm.bodies, arm.joints)
        )
        carry_ros_side(asset, arm, RosSeat(f"/r{number}", bodies, joints, place), f"r{number}")
    # pictures are measured apart: drawing them costs more than all else
    kept = (IMAGE,) if pictures else ()
    asset.interfaces = [one for one in asset.interfaces if one.type not in {IMAGE, CAMERA_INFO} - {*kept}]
    for interface in asset.interfaces:
        if interface.type == "sensor_msgs/msg/JointState":
            interface.rate = rate
        elif interface.type == IMAGE:
            interface.rate = 10.0
    for camera in asset.cameras:
        camera.resolution = (640, 480)
    return equip_asset(asset, "mujoco", Settings(dt=0.002, threads=1), Reporter())


def measure_bridge(name: str, equipped: EquippedAsset, dt: float) -> Iterator[Result]:
    """Steps with the bridge against the same steps without it, and with what is written by hand."""
    settings, reporter, transport = Settings(dt=dt, threads=1), Reporter(), CountingTransport()
    engine = load_engine("mujoco")
    with (
        engine.open(equipped.asset, settings, reporter) as plain,
        engine.open(equipped.asset, settings, reporter) as other,
        engine.open(equipped.asset, settings, reporter) as served,
        RosBridge(
            equipped.graph, served, [transport], reporter, BridgeOptions(added=equipped.added)
        ) as bridge,
    ):
        by_hand = HandWrittenPublisher(equipped, other, serialize_by_rosbags())
        ways: list[Callable[[], object]] = [
            lambda: bridge.run(STEPS),
            lambda: [plain.step(1) for _ in range(STEPS)],
            lambda: by_hand.run(STEPS),
        ]
        cpu = cpu_times(ways, repeat=5)
        check_counts(equipped.graph.endpoints, transport.counts, 6 * STEPS * dt)
    sent, written = (sum(counts.values()) / 6 for counts in (transport.counts, by_hand.counts))
    each = (cpu[0] - cpu[1]) / STEPS * 1e6
    note = f"{each:.0f} us a step more, {sent:.0f} messages in {STEPS * dt:g} s, none lost"
    pictures = any(one.type == IMAGE for one in equipped.graph.endpoints)
    # a picture takes as long as it takes to draw; a message in every step costs more than a step of one arm
    limit = None if pictures or dt < 0.002 else 3.0
    yield Result(f"bridge: {name}", cpu[0], BARE, cpu[1], limit, note)
    if not pictures:
        ours, theirs = ((cpu[which] - cpu[1]) / count for which, count in ((0, sent), (2, written)))
        yield Result(
            f"message: {name}", ours, "written by hand with rosbags", theirs, 1.25, "each, beyond the steps"
        )


def check_counts(endpoints: Sequence[RosEndpoint], counts: dict[str, int], seconds: float) -> None:
    """Raise an error where messages are missing."""
    for endpoint in endpoints:
        if endpoint.role == "publisher" and endpoint.rate and endpoint.name in counts:
            told, expected = counts[endpoint.name], round(seconds * endpoint.rate)
            if not expected <= told <= expected + 1:
                raise AssertionError(f"{told} messages of {endpoint.name} instead of {expected}")


def measure_camera() -> Iterator[Result | str]:
    """The camera of the arm, at 640 x 480 and 10 Hz."""
    try:
        yield from measure_bridge("1 arm, camera 640x480 10 Hz", make_robots(1, pictures=True), 0.002)
    except (RuntimeError, OSError) as error:
        yield f"  no pictures here: {error}"


Publish = Callable[[str, str, dict[str, Any]], None]
"""Sends a topic's message of a type: its stamp [ns], names, and numbers."""


class HandWrittenPublisher:
    """What somebody might write for the same messages without Simwright's ROS side: plain, but not careless.

    Joint states and TF of every robot at their rates; transforms of all robots are worked out at once.
    """

    def __init__(self, equipped: EquippedAsset, simulation: Simulation, publish: Publish) -> None:
        self._simulation, self._publish = simulation, publish
        self._count = 0
        self.counts: dict[str, int] = {}
        layout = simulation.layout
        last = len(layout.bodies)
        self._robots = []
        parents: list[int] = []
        children: list[int] = []
        for robot in equipped.graph.robots:
            freedoms = find_freedoms(layout, robot)
            rows = np.array([freedom.q for freedom in freedoms.values()])
            rates = np.array([freedom.v for freedom in freedoms.values()])
            edges = robot.frames.list_edges(static=False)
            start = len(parents)
            for parent, child in edges:
                parents.append(layout.find_body(parent.body) if parent.body else last)
                children.append(layout.find_body(child.body))
            names = [(parent.id, child.id) for parent, child in edges]
            rate = next(
                (e.rate or RATE for e in robot.endpoints if e.type == "sensor_msgs/msg/JointState"), RATE
            )
            places = slice(start, len(parents))
            self._robots.append((robot, list(freedoms), rows, rates, names, places, rate))
        self._parents, self._children = np.array(parents), np.array(children)

    def run(self, steps: int) -> None:
        """So many steps, with what is due."""
        for _ in range(steps):
            self._simulation.step(1)
            self._count += 1
            self._send(self._count * self._simulation.dt)

    def _send(self, time: float) -> None:
        simulation, dt = self._simulation, self._simulation.dt
        q = v = efforts = transforms = None
        stamp = round(time * NANO)
        for robot, joints, rows, rates, names, places, rate in self._robots:
            if _is_due(time, rate, dt):
                if q is None or v is None or efforts is None:
                    q, v, efforts = (
                        simulation.positions[0],
                        simulation.velocities[0],
                        simulation.actuator_efforts(),
                    )
                    assert efforts is not None
                values = {"position": q[rows], "velocity": v[rates], "effort": efforts[rates]}
                self._tell(f"{robot.namespace}/joint_states", "joints", stamp, joints, values)
            if _is_due(time, RATE, dt):
                if transforms is None:
                    transforms = self._find_transforms(simulation.body_poses()[0])
                self._tell(robot.tf_topic, "tf", stamp, names, {"poses": transforms[places]})
        if _is_due(time, 100.0, dt):
            self._tell("/clock", "clock", stamp, [], {})

    def _find_transforms(self, bodies: Array) -> Array:
        poses = np.concatenate([bodies, [(0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)]])
        return poses_compose(poses_invert(poses[self._parents]), poses[self._children])

    def _tell(self, topic: str, kind: str, time: int, names: Sequence[Any], values: dict[str, Array]) -> None:
        self.counts[topic] = self.counts.get(topic, 0) + 1
        self._publish(topic, kind, {"time": time, "names": names, **values})


def _is_due(time: float, rate: float, dt: float) -> bool:
    return int(time * rate + 1e-6) > int((time - dt) * rate + 1e-6)


def serialize_by_rosbags() -> Publish:
    """Makes CDR by rosbags' own objects and serializer."""
    store = open_store()
    types = store.types
    stamp_of, header_of = types["builtin_interfaces/msg/Time"], types["std_msgs/msg/Header"]
    state, clock = types["sensor_msgs/msg/JointState"], types["rosgraph_msgs/msg/Clock"]
    vector, turn = types["geometry_msgs/msg/Vector3"], types["geometry_msgs/msg/Quaternion"]
    transform, stamped = types["geometry_msgs/msg/Transform"], types["geometry_msgs/msg/TransformStamped"]
    frames = types["tf2_msgs/msg/TFMessage"]

    def publish(topic: str, kind: str, said: dict[str, Any]) -> None:
        del topic
        stamp = stamp_of(*divmod(said["time"], NANO))
        if kind == "joints":
            header = header_of(stamp, "")
            made = state(header, said["names"], said["position"], said["velocity"], said["effort"])
            store.serialize_cdr(made, "sensor_msgs/msg/JointState")
        elif kind == "clock":
            store.serialize_cdr(clock(stamp), "rosgraph_msgs/msg/Clock")
        else:
            rows = [
                stamped(header_of(stamp, parent), child, transform(vector(x, y, z), turn(qx, qy, qz, w)))
                for (parent, child), (x, y, z, w, qx, qy, qz) in zip(
                    said["names"], said["poses"].tolist(), strict=True
                )
            ]
            store.serialize_cdr(frames(rows), "tf2_msgs/msg/TFMessage")

    return publish


def measure_rclpy() -> Iterator[Result | str]:
    """The same by rclpy and Fast DDS, to a subscriber in another process: in the environment of ROS."""
    python = find_peer("rclpy")
    if not python:
        yield f"  bridge by rclpy: {explain_absence('rclpy')}"
        return
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT))),
        "RMW_IMPLEMENTATION": "rmw_fastrtps_cpp",
        "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
        # apart from whatever else runs on this machine
        "ROS_DOMAIN_ID": "87",
    }
    for what in (*(f"robots-{count}" for count in ROBOTS), "kilohertz", "camera"):
        command = [python, "-m", "benchmarks.ros_worker", what]
        done = subprocess.run(
            command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
        )
        if done.returncode:
            yield f"  bridge by rclpy, {what}: {done.stderr.strip().splitlines()[-1]}"
            continue
        for row in json.loads(done.stdout.splitlines()[-1]):
            yield Result(**row)
