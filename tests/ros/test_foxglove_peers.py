"""Foxglove's websocket, held against a client that is not ours: plain websockets, and CDR read by mcap-ros2-support."""

from __future__ import annotations

import asyncio
import json
import struct
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from network import run_beside, run_in_network
from test_peers import SAMPLES, SERVICE

from stages import make_arm, write_stage

pytestmark = pytest.mark.judge("ros")
ADDRESS = "ws://127.0.0.1:8765"
PROTOCOL = "foxglove.sdk.v1"


class Viewer:
    """A client that keeps what arrives, by topic, as it decodes it from the schema that it was told."""

    def __init__(self, socket: Any) -> None:
        self._socket = socket
        self.channels: dict[str, dict[str, Any]] = {}
        self.services: dict[str, dict[str, Any]] = {}
        self.messages: dict[str, list[tuple[int, Any]]] = {}
        self.answers: list[bytes] = []
        self._topics: dict[int, str] = {}

    async def listen(self, until: Any, seconds: float = 60.0) -> None:
        """Take what arrives until something is true."""
        end = time.monotonic() + seconds
        while not until():
            left = end - time.monotonic()
            assert left > 0.0, f"nothing of that in {seconds} s: {list(self.channels)}"
            self._take(await asyncio.wait_for(self._socket.recv(), left))

    def _take(self, said: str | bytes) -> None:
        if isinstance(said, str):
            told = json.loads(said)
            for channel in told.get("channels", ()) if told["op"] == "advertise" else ():
                self.channels[channel["topic"]] = channel
            for service in told.get("services", ()) if told["op"] == "advertiseServices" else ():
                self.services[service["name"]] = service
        elif said[0] == 1:
            number, stamp = struct.unpack_from("<IQ", said, 1)
            topic = self._topics[number]
            self.messages.setdefault(topic, []).append((stamp, self._decode(topic, said[13:])))
        elif said[0] == 3:
            self.answers.append(said)

    def _decode(self, topic: str, raw: bytes) -> Any:
        from mcap_ros2._dynamic import generate_dynamic

        channel = self.channels[topic]
        decoders = generate_dynamic(channel["schemaName"], channel["schema"])
        return decoders[channel["schemaName"]](raw)

    async def subscribe(self, *topics: str) -> None:
        """Ask for topics."""
        for topic in topics:
            number = len(self._topics) + 1
            self._topics[number] = topic
            wanted = [{"id": number, "channelId": self.channels[topic]["id"]}]
            await self._socket.send(json.dumps({"op": "subscribe", "subscriptions": wanted}))

    async def call(self, service: int, number: int, raw: bytes) -> None:
        """Ask a service."""
        head = struct.pack("<III", service, number, len(b"cdr")) + b"cdr"
        await self._socket.send(b"\x02" + head + raw)

    async def publish(self, topic: str, schema: str, raw: bytes, seconds: float) -> None:
        """Publish the same for a while."""
        channel = {"id": 1, "topic": topic, "encoding": "cdr", "schemaName": schema}
        await self._socket.send(json.dumps({"op": "advertise", "channels": [channel]}))
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            await self._socket.send(b"\x01" + struct.pack("<I", 1) + raw)
            await asyncio.sleep(0.05)


async def open_viewer() -> Viewer:
    """As soon as somebody listens."""
    from websockets.asyncio.client import connect

    end = time.monotonic() + 90.0
    while True:
        try:
            return Viewer(await connect(ADDRESS, subprotocols=[PROTOCOL], max_size=None))
        except OSError:
            assert time.monotonic() < end
            await asyncio.sleep(0.2)


async def ask_arm() -> dict[str, Any]:
    """Within the network: a service of an arm, asked twice."""
    viewer = await open_viewer()
    await viewer.listen(lambda: "/arm/switch" in viewer.services)
    service = viewer.services["/arm/switch"]
    for number, said in enumerate((b"\x00\x01\x00\x00\x01", b"\x00\x01\x00\x00\x00")):
        await viewer.call(service["id"], number, said)
    await viewer.listen(lambda: len(viewer.answers) == 2)
    return {"type": service["type"], "answers": [list(each[13 + 3 :][4:5]) for each in viewer.answers]}


async def drive_rover() -> dict[str, Any]:
    """Within the network: what a viewer sees of the rover, and that it obeys."""
    viewer = await open_viewer()
    odometry, frames = "/odom", "/tf_static"
    await viewer.listen(lambda: {odometry, frames} <= set(viewer.channels))
    await viewer.subscribe(odometry, frames)
    await viewer.listen(lambda: len(viewer.messages.get(odometry, ())) > 20 and frames in viewer.messages)
    start = viewer.messages[odometry][-1]
    twist = b"\x00\x01\x00\x00" + struct.pack("<6d", 0.2, 0, 0, 0, 0, 0)
    await viewer.publish("/cmd_vel", "geometry_msgs/msg/Twist", twist, 3.0)
    await viewer.listen(lambda: viewer.messages[odometry][-1][0] - start[0] > 2_000_000_000)
    stop = viewer.messages[odometry][-1]
    stamps = [stamp for stamp, _ in viewer.messages[odometry]]
    return {
        "schemas": {name: channel["schemaName"] for name, channel in viewer.channels.items()},
        "period": (stamps[20] - stamps[0]) / 20e9,
        "frame": viewer.messages[odometry][0][1].header.frame_id,
        "static": sorted(each.child_frame_id for each in viewer.messages[frames][0][1].transforms),
        "went": stop[1].pose.pose.position.x - start[1].pose.pose.position.x,
    }


def main(scenario: str, arguments: list[str]) -> None:
    """Within the network: a simulation without ROS, and a viewer."""
    look = drive_rover if scenario == "rover" else ask_arm
    run_beside(["run", *arguments, "--ros", "foxglove"], lambda: asyncio.run(look()))


def test_a_viewer_asks_a_service(tmp_path: Path) -> None:
    file = write_stage(tmp_path, make_arm(interfaces=SERVICE))
    found = run_in_network(__file__, "arm", str(file))
    assert found == {"type": "std_srvs/srv/SetBool", "answers": [[1], [1]]}


def test_a_viewer_sees_the_rover_and_drives_it() -> None:
    found = run_in_network(__file__, "rover", str(SAMPLES / "rover" / "model.sdf"), "--ground")
    assert found["schemas"]["/odom"] == "nav_msgs/msg/Odometry"
    assert found["frame"] == "odom"
    assert {"base_link", "lidar_link", "imu_link"} <= set(found["static"])
    assert found["period"] == pytest.approx(0.02, rel=0.05)
    # 0.2 m/s for two or three seconds
    assert 0.3 < found["went"] < 0.8


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
