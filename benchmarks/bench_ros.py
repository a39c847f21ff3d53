# SPDX-License-Identifier: Apache-2.0
"""ROS beside a simulation: what a step costs with the bridge, against the same steps without it.

Robots are copies of the sample arm side by side in one asset, each with joint states at 50 Hz, TF at 50 Hz and a
trajectory controller; its camera is measured apart.  Messages go to a transport that counts them, or, where rosbags is
installed, makes CDR of them as bags and Zenoh do.  Every message that is due has to be there, at 1 kHz too: one that is
missing is an error, not a figure.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.measure import Result, cpu_times
from simwright.core.diag import Reporter
from simwright.core.math3d import Pose
from simwright.engines.protocol import Settings
from simwright.engines.table import load_engine
from simwright.formats.table import read_asset
from simwright.model.asset import Asset
from simwright.ros.bridge import BridgeOptions, RosBridge
from simwright.ros.graph import RosEndpoint
from simwright.ros.parts import equip_asset
from simwright.ros.transports.transport import (
    Message,
    Sender,
    SendingTransport,
)

ARM = Path(__file__).resolve().parents[1] / "samples" / "simwright_samples" / "arm" / "urdf" / "arm.urdf"
ROBOTS = (1, 10, 50)
IMAGE, CAMERA_INFO = "sensor_msgs/msg/Image", "sensor_msgs/msg/CameraInfo"
STEPS = 400
"""Of 2 ms, or 1 ms: some tenths of a second, with all rates in it."""


class CountingTransport(SendingTransport):
    """Takes messages, counts them by topic, and makes CDR of them where that is asked for."""

    name = "counting"

    def __init__(self, *, encodes: bool) -> None:
        self.encodes, self.counts = encodes, dict[str, int]()

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
        self._transport, self._endpoint = transport, endpoint

    def send(self, message: Message, time: int) -> None:
        """Count it."""
        del time
        counts, name = self._transport.counts, self._endpoint.name
        counts[name] = counts.get(name, 0) + 1
        if self._transport.encodes:
            from simwright.ros.transports.types import write_message

            write_message(self._endpoint.type, message)

    def close(self) -> None:
        """Nothing."""


def run() -> Iterator[Result | str]:
    """Rows for 1, 10 and 50 robots, joint states at 1 kHz, and a camera."""
    encodes = [False, True] if importlib.util.find_spec("rosbags") else [False]
    for count in ROBOTS:
        for encode in encodes:
            yield measure_bridge(f"{count} arms, 50 Hz", make_robots(count), 0.002, encode)
    for encode in encodes:
        yield measure_bridge("1 arm, joint states 1 kHz", make_robots(1, rate=1000.0), 0.001, encode)
    yield measure_camera()


def make_robots(count: int, rate: float = 50.0) -> Asset:
    """So many arms in one asset, each below a namespace of its own."""
    arm = read_asset(ARM, reporter=Reporter())
    arm.interfaces = [one for one in arm.interfaces if one.type not in (IMAGE, CAMERA_INFO)]
    for interface in arm.interfaces:
        if interface.type == "sensor_msgs/msg/JointState":
            interface.rate = rate
    whole = arm.copy()
    for number in range(1, count):
        place = Pose.of((2.0 * (number % 10), 2.0 * (number // 10), 0.0))
        whole.attach(arm, pose=place, prefix=f"r{number}_")
    return whole


def measure_bridge(name: str, asset: Asset, dt: float, encode: bool) -> Result:
    """Steps with the bridge against the same steps without it."""
    settings, reporter = Settings(dt=dt, threads=1), Reporter()
    equipped = equip_asset(asset, "mujoco", settings, reporter)
    engine, transport = load_engine("mujoco"), CountingTransport(encodes=encode)
    with (
        engine.open(equipped.asset, settings, reporter) as plain,
        engine.open(equipped.asset, settings, reporter) as served,
        RosBridge(
            equipped.graph, served, [transport], reporter, BridgeOptions(added=equipped.added)
        ) as bridge,
    ):

        def step_plain() -> None:
            for _ in range(STEPS):
                plain.step(1)

        cpu = cpu_times([lambda: bridge.run(STEPS), step_plain], repeat=5)
        _check_counts(equipped.graph.endpoints, transport, 6 * STEPS * dt)
    each = (cpu[0] - cpu[1]) / STEPS * 1e6
    kind = "CDR made" if encode else "messages counted"
    messages = sum(transport.counts.values()) / 6
    note = f"{each:.0f} us a step more, {messages:.0f} messages in {STEPS * dt:g} s, {kind}, none lost"
    return Result(f"bridge: {name}", cpu[0], "simulation without bridge", cpu[1], note=note)


def _check_counts(endpoints: Sequence[RosEndpoint], transport: CountingTransport, seconds: float) -> None:
    """Raise an error where messages are missing."""
    for endpoint in endpoints:
        if endpoint.role == "publisher" and endpoint.rate and endpoint.name in transport.counts:
            told, expected = transport.counts[endpoint.name], round(seconds * endpoint.rate)
            if not expected <= told <= expected + 1:
                raise AssertionError(f"{told} messages of {endpoint.name} instead of {expected}")


def measure_camera() -> Result | str:
    """The camera of the arm, at 640 x 480 and 10 Hz, with all that the arm has."""
    asset = read_asset(ARM, reporter=Reporter())
    asset.interfaces = [one for one in asset.interfaces if one.type in (IMAGE, CAMERA_INFO)]
    for camera in asset.cameras:
        camera.resolution = (640, 480)
    for interface in asset.interfaces:
        interface.rate = 10.0
    asset.interfaces = asset.interfaces[:1]
    try:
        return measure_bridge("1 arm, camera 640x480 10 Hz", asset, 0.002, encode=False)
    except (RuntimeError, OSError) as error:
        return f"  no pictures here: {error}"
