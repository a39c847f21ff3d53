# SPDX-License-Identifier: Apache-2.0
"""The bridge over rclpy, to a real subscriber in another process; prints rows of a benchmark as JSON.

``python -m benchmarks.ros_worker robots-10|kilohertz|camera`` runs in the environment of ROS; the subscriber is this
file again (``listen``), which knows rclpy and messages only.
"""

from __future__ import annotations

import array
import contextlib
import itertools
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any


def listen(kind: str, topics: list[str]) -> None:
    """Count what arrives on topics of a type, until a line is read; print counts and gaps between stamps [s]."""
    import importlib
    import threading

    import rclpy
    from rclpy.executors import ExternalShutdownException
    from rclpy.qos import QoSProfile, ReliabilityPolicy

    package, folder, title = kind.split("/")
    message = getattr(importlib.import_module(f"{package}.{folder}"), title)
    rclpy.init()
    node = rclpy.create_node("listener")
    stamps: dict[str, list[float]] = {topic: [] for topic in topics}
    best = ReliabilityPolicy.BEST_EFFORT if title == "Image" else ReliabilityPolicy.RELIABLE
    for topic in topics:

        def take(got: Any, into: list[float] = stamps[topic]) -> None:
            into.append(got.header.stamp.sec + got.header.stamp.nanosec * 1e-9)

        node.create_subscription(message, topic, take, QoSProfile(depth=5000, reliability=best))

    def spin() -> None:
        with contextlib.suppress(ExternalShutdownException):
            rclpy.spin(node)

    thread = threading.Thread(target=spin, daemon=True)
    thread.start()
    sys.stdout.write("listening\n")
    sys.stdout.flush()
    sys.stdin.readline()
    # what is under way arrives
    time.sleep(1.0)
    sys.stdout.write(json.dumps(stamps) + "\n")
    sys.stdout.flush()
    rclpy.shutdown()
    thread.join()


@contextlib.contextmanager
def hear(kind: str, topics: list[str]) -> Iterator[dict[str, list[float]]]:
    """What a subscriber in another process hears meanwhile, filled in at the end."""
    command = [sys.executable, "-m", "benchmarks.ros_worker", "listen", kind, *topics]
    heard: dict[str, list[float]] = {}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as peer:
        assert peer.stdin is not None
        assert peer.stdout is not None
        try:
            assert peer.stdout.readline() == "listening\n"
            yield heard
            heard.update(json.loads(peer.communicate("\n", timeout=60)[0]))
        finally:
            peer.kill()


def wait_for_peers(transport: Any, topics: list[str]) -> None:
    """Until the subscriber has found every topic."""
    node = transport._find_node(None).node
    end = time.monotonic() + 60.0
    while any(node.count_subscribers(topic) == 0 for topic in topics):
        assert time.monotonic() < end, "the subscriber finds nothing"
        time.sleep(0.05)


def check(heard: dict[str, list[float]], expected: int, rate: float) -> float:
    """Every stamp is there, one period after the other; gives the longest gap [periods]."""
    longest = 0.0
    for topic, stamps in heard.items():
        gaps = [(b - a) * rate for a, b in itertools.pairwise(stamps)]
        longest = max([longest, *gaps])
        if len(stamps) < expected or any(abs(gap - 1.0) > 0.01 for gap in gaps):
            raise SystemExit(
                f"{topic}: {len(stamps)} of {expected} messages, longest gap {longest:.2f} periods"
            )
    return longest


def publish_by_rclpy(transport: Any) -> Any:
    """What somebody might write by hand: objects that are kept, numbers put into them, publish."""
    from geometry_msgs.msg import TransformStamped
    from rosgraph_msgs.msg import Clock
    from sensor_msgs.msg import JointState
    from tf2_msgs.msg import TFMessage

    from simwright.ros.messages import NANO

    node = transport._find_node(None).node
    kept: dict[str, Any] = {}
    kinds = {"joints": JointState, "tf": TFMessage, "clock": Clock}

    def open_topic(topic: str, kind: str, names: list[Any]) -> Any:
        message = kinds[kind]()
        if kind == "joints":
            message.name = names
        elif kind == "tf":
            for parent, child in names:
                one = TransformStamped(child_frame_id=child)
                one.header.frame_id = parent
                message.transforms.append(one)
        return node.create_publisher(kinds[kind], topic, 10), message

    def publish(topic: str, kind: str, said: dict[str, Any]) -> None:
        if topic not in kept:
            kept[topic] = open_topic(topic, kind, said["names"])
        publisher, message = kept[topic]
        seconds, rest = divmod(said["time"], NANO)
        if kind == "clock":
            message.clock.sec, message.clock.nanosec = seconds, rest
        elif kind == "joints":
            message.header.stamp.sec, message.header.stamp.nanosec = seconds, rest
            for part in ("position", "velocity", "effort"):
                setattr(message, part, array.array("d", said[part].tobytes()))
        else:
            for one, (x, y, z, w, qx, qy, qz) in zip(message.transforms, said["poses"].tolist(), strict=True):
                one.header.stamp.sec, one.header.stamp.nanosec = seconds, rest
                place, turn = one.transform.translation, one.transform.rotation
                place.x, place.y, place.z = x, y, z
                turn.x, turn.y, turn.z, turn.w = qx, qy, qz, w
        publisher.publish(message)

    return publish


def measure_robots(count: int) -> list[dict[str, Any]]:
    """Steps with the bridge over rclpy, without it, and with what is written by hand."""
    from benchmarks.bench_ros import BARE, STEPS, HandWrittenPublisher, make_robots
    from benchmarks.measure import cpu_times
    from simwright.core.diag import Reporter
    from simwright.engines.protocol import Settings
    from simwright.engines.table import load_engine
    from simwright.ros.bridge import BridgeOptions, RosBridge
    from simwright.ros.transports.table import open_transport
    from simwright.ros.transports.transport import TransportOptions

    equipped, reporter = make_robots(count), Reporter()
    settings, engine = Settings(dt=0.002, threads=1), load_engine("mujoco")
    topics = [e.name for e in equipped.graph.endpoints if e.type == "sensor_msgs/msg/JointState"]
    with (
        hear("sensor_msgs/msg/JointState", [*topics, *(f"/hand{topic}" for topic in topics)]) as heard,
        engine.open(equipped.asset, settings, reporter) as plain,
        engine.open(equipped.asset, settings, reporter) as other,
        engine.open(equipped.asset, settings, reporter) as served,
        open_transport("rclpy", TransportOptions()) as transport,
        RosBridge(
            equipped.graph, served, [transport], reporter, BridgeOptions(added=equipped.added)
        ) as bridge,
    ):
        publish = publish_by_rclpy(transport)
        by_hand = HandWrittenPublisher(
            equipped, other, lambda topic, kind, said: publish(f"/hand{topic}", kind, said)
        )
        by_hand.run(STEPS)
        wait_for_peers(transport, list(heard) or topics)
        ways = [
            lambda: bridge.run(STEPS),
            lambda: [plain.step(1) for _ in range(STEPS)],
            lambda: by_hand.run(STEPS),
        ]
        cpu = cpu_times(ways, repeat=5)
    rates = {topic: stamps for topic, stamps in heard.items() if not topic.startswith("/hand")}
    check(rates, round(6 * STEPS * 0.002 * 50.0) - 1, 50.0)
    each = sum(by_hand.counts.values()) / 7
    ours, theirs = ((cpu[which] - cpu[1]) / each for which in (0, 2))
    name = f"{count} arms, 50 Hz"
    note = f"{(cpu[0] - cpu[1]) / STEPS * 1e6:.0f} us a step more, joint states to a subscriber, none lost"
    return [
        _row(f"rclpy: {name}", cpu[0], BARE, cpu[1], None, note),
        _row(f"rclpy message: {name}", ours, "written by hand with rclpy", theirs, 1.0,
             f"{each:.0f} messages, each, beyond the steps"),
    ]  # fmt: skip


def measure_flow(*, pictures: bool) -> list[dict[str, Any]]:
    """Five seconds at the pace of the clock to a subscriber: joint states at 1 kHz, or pictures at 10 Hz."""
    from benchmarks.bench_ros import IMAGE, make_robots
    from simwright.core.diag import Reporter
    from simwright.engines.protocol import Settings
    from simwright.engines.table import load_engine
    from simwright.ros.bridge import BridgeOptions, RosBridge
    from simwright.ros.transports.table import open_transport
    from simwright.ros.transports.transport import TransportOptions

    rate, seconds = (10.0, 5.0) if pictures else (1000.0, 5.0)
    kind = IMAGE if pictures else "sensor_msgs/msg/JointState"
    equipped, reporter = make_robots(1, rate=50.0 if pictures else rate, pictures=pictures), Reporter()
    topics = [e.name for e in equipped.graph.endpoints if e.type == kind]
    with (
        hear(kind, topics) as heard,
        load_engine("mujoco").open(equipped.asset, Settings(dt=0.001, threads=1), reporter) as served,
        open_transport("rclpy", TransportOptions()) as transport,
        RosBridge(
            equipped.graph, served, [transport], reporter, BridgeOptions(added=equipped.added, realtime=True)
        ) as bridge,
    ):
        wait_for_peers(transport, topics)
        steps = round(seconds / 0.001)
        bridge.run(100)
        before, began = time.process_time(), time.monotonic()
        bridge.run(steps)
        spent, passed = time.process_time() - before, time.monotonic() - began
    check(heard, round(seconds * rate), rate)
    (stamps,) = heard.values()
    name = "camera 640x480 10 Hz" if pictures else "joint states 1 kHz"
    note = f"{len(stamps)} messages in {seconds:g} s at a subscriber, none lost; {passed:.2f} s passed"
    return [_row(f"rclpy: {name}", spent, "time of the clock", seconds, 1.0, note)]


def _row(
    name: str, ours: float, against: str, theirs: float, limit: float | None, note: str
) -> dict[str, Any]:
    return {"name": name, "seconds": ours, "reference": against, "reference_seconds": theirs, "limit": limit,
            "note": note}  # fmt: skip


if __name__ == "__main__":
    asked = sys.argv[1]
    if asked == "listen":
        listen(sys.argv[2], sys.argv[3:])
    elif asked.startswith("robots-"):
        sys.stdout.write(json.dumps(measure_robots(int(asked.partition("-")[2]))) + "\n")
    else:
        sys.stdout.write(json.dumps(measure_flow(pictures=asked == "camera")) + "\n")
