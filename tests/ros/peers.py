"""Programs of ROS 2 that know nothing of Simwright: each looks at a running simulation, and prints what it saw as JSON.

    python peers.py SCENARIO

They import rclpy and messages only.
"""

from __future__ import annotations

import importlib
import itertools
import json
import math
import struct
import sys
import time
from collections.abc import Callable
from typing import Any

import rclpy
import rclpy.executors
from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory, GripperCommand
from geometry_msgs.msg import Twist, TwistStamped
from nav_msgs.msg import Odometry
from pyrobosim_msgs.action import ExecuteTaskAction
from pyrobosim_msgs.msg import ExecutionResult
from pyrobosim_msgs.srv import RequestWorldState
from rcl_interfaces.srv import SetParameters
from rclpy.action import ActionClient
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Image, Imu, JointState, LaserScan, PointCloud2, Range
from std_msgs.msg import Bool, Float64MultiArray, String
from std_srvs.srv import SetBool, Trigger
from tf2_msgs.msg import TFMessage
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

SENSOR = QoSProfile(depth=200, reliability=ReliabilityPolicy.BEST_EFFORT)
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class Peer(Node):
    def __init__(self, **options: Any) -> None:
        super().__init__("peer", **options)
        self.got: dict[str, list[Any]] = {}
        # a context of its own needs an executor of its own
        self.own_executor: Any = None

    def listen(self, kind: Any, topic: str, qos: Any = 200) -> None:
        self.got[topic] = []
        self.create_subscription(kind, topic, self.got[topic].append, qos)

    def spin(self, seconds: float, until: Callable[[], bool] = lambda: False) -> bool:
        end = time.monotonic() + seconds
        while time.monotonic() < end and not until():
            rclpy.spin_once(self, executor=self.own_executor, timeout_sec=0.05)
        return until()

    def wait(self, future: Any, seconds: float = 20.0) -> Any:
        assert self.spin(seconds, future.done), "no answer"
        return future.result()

    def describe(self, topic: str) -> dict[str, Any]:
        """What arrived on a topic: how often in time of the simulation, its frame, and what the publisher offers."""
        messages = self.got[topic]
        headers = [
            m.transforms[0].header if hasattr(m, "transforms") else m.header
            for m in messages
            if not hasattr(m, "clock")
        ]
        stamps = [m.clock for m in messages if hasattr(m, "clock")] + [header.stamp for header in headers]
        times = [stamp.sec + stamp.nanosec * 1e-9 for stamp in stamps]
        (info,) = self.get_publishers_info_by_topic(topic)
        return {
            "count": len(messages),
            "rate": (len(times) - 1) / (times[-1] - times[0]) if len(times) > 1 else 0.0,
            "frames": sorted({header.frame_id for header in headers}),
            "type": info.topic_type,
            "reliability": info.qos_profile.reliability.name,
            "durability": info.qos_profile.durability.name,
            "hash": str(info.topic_type_hash),
        }


def list_transforms(messages: list[Any]) -> list[Any]:
    return [
        [t.header.frame_id, t.child_frame_id, [t.transform.translation.x, t.transform.translation.y,
         t.transform.translation.z], [t.transform.rotation.w, t.transform.rotation.x, t.transform.rotation.y,
         t.transform.rotation.z]]
        for m in messages for t in m.transforms
    ]  # fmt: skip


def look_at_rover(peer: Peer) -> dict[str, Any]:
    """Topics of the rover, and a drive of two metres."""
    peer.listen(LaserScan, "/scan", SENSOR)
    peer.listen(PointCloud2, "/scan/points", SENSOR)
    peer.listen(Imu, "/imu", SENSOR)
    peer.listen(Odometry, "/odom")
    peer.listen(JointState, "/joint_states")
    peer.listen(TFMessage, "/tf")
    peer.listen(Clock, "/clock", SENSOR)
    assert peer.spin(60, lambda: len(peer.got["/scan"]) > 3), "no scan"
    # who comes late gets what was sent once
    peer.listen(TFMessage, "/tf_static", LATCHED)
    peer.listen(String, "/robot_description", LATCHED)
    late = peer.spin(10, lambda: bool(peer.got["/tf_static"] and peer.got["/robot_description"]))
    publisher = peer.create_publisher(Twist, "/cmd_vel", 10)
    peer.spin(10, lambda: publisher.get_subscription_count() > 0)
    command = Twist()
    command.linear.x = 0.5
    publisher.publish(command)
    peer.spin(60, lambda: peer.got["/odom"][-1].pose.pose.position.x > 1.0)
    # on the way, at full speed: when a command arrives depends on how busy the machine is
    started, ended = (
        next(m for m in peer.got["/odom"] if m.pose.pose.position.x > ahead) for ahead in (0.3, 1.0)
    )
    seconds = ended.header.stamp.sec - started.header.stamp.sec
    seconds += (ended.header.stamp.nanosec - started.header.stamp.nanosec) * 1e-9
    return {
        "topics": {
            t: peer.describe(t)
            for t in ("/scan", "/scan/points", "/imu", "/odom", "/joint_states", "/tf", "/clock")
        },
        "late": late,
        "static": list_transforms(peer.got["/tf_static"]),
        "moving": list_transforms(peer.got["/tf"][-1:]),
        "went": ended.pose.pose.position.x - started.pose.pose.position.x,
        "expected": 0.5 * seconds,
        "urdf": peer.got["/robot_description"][0].data[:200] if late else "",
        "clock": len(peer.got["/clock"]),
    }


def make_goal(joints: list[str], seconds: float, place: float) -> Any:
    goal = FollowJointTrajectory.Goal()
    goal.trajectory.joint_names = joints
    point = JointTrajectoryPoint(positions=[place] * len(joints))
    point.time_from_start = Duration(sec=int(seconds), nanosec=round(seconds % 1 * 1e9))
    goal.trajectory.points = [point]
    return goal


def look_at_arm(peer: Peer) -> dict[str, Any]:
    """Actions, services and parameters of the small arm of stages.py."""
    peer.listen(JointState, "/arm/joint_states")
    peer.listen(Imu, "/arm/camera/imu", SENSOR)
    client = ActionClient(peer, FollowJointTrajectory, "/arm/follow")
    assert client.wait_for_server(60)
    told: list[Any] = []
    send = client.send_goal_async(make_goal(["elbow"], 1.0, 0.5), feedback_callback=told.append)
    reached = peer.wait(peer.wait(send).get_result_async(), 60)
    place = peer.got["/arm/joint_states"][-1].position[0]
    refused = peer.wait(client.send_goal_async(make_goal(["knee"], 1.0, 0.5)))
    heard: list[Any] = []
    send = client.send_goal_async(make_goal(["elbow"], 30.0, -1.0), feedback_callback=heard.append)
    forgotten = peer.wait(send)
    # it is worked on as soon as it tells how far it is
    assert peer.spin(20, lambda: bool(heard)), "no feedback"
    trigger = peer.create_client(Trigger, "/arm/begin")
    assert trigger.wait_for_service(20)
    begun = peer.wait(trigger.call_async(Trigger.Request()))
    dropped = peer.wait(forgotten.get_result_async())
    running = peer.wait(client.send_goal_async(make_goal(["elbow"], 30.0, -1.0)))
    peer.spin(1.0)
    cancelled = peer.wait(running.cancel_goal_async())
    ended = peer.wait(running.get_result_async())
    silent = len(peer.got["/arm/camera/imu"])
    parameters = peer.create_client(SetParameters, "/simwright/set_parameters")
    assert parameters.wait_for_service(20)
    request = SetParameters.Request()
    request.parameters = [Parameter("enabled./arm/camera/imu", value=True).to_parameter_msg()]
    switched = peer.wait(parameters.call_async(request)).results[0].successful
    heard = peer.spin(20, lambda: len(peer.got["/arm/camera/imu"]) > 5)
    # a subscription that says reliable, and follows what it finds
    peer.create_publisher(JointState, "/arm/commands", SENSOR)

    def read_policy() -> str:
        return str(peer.get_subscriptions_info_by_topic("/arm/commands")[0].qos_profile.reliability.name)

    before = read_policy()
    matched = peer.spin(20, lambda: read_policy() == "BEST_EFFORT")
    service = peer.create_client(SetBool, "/arm/switch")
    assert service.wait_for_service(20)
    answer = peer.wait(service.call_async(SetBool.Request(data=False)))
    topics = {name for name, _ in peer.get_topic_names_and_types()}
    return {
        "reached": [reached.status == GoalStatus.STATUS_SUCCEEDED, reached.result.error_code, place],
        "feedback": len(told),
        "trigger": [begun.success, begun.message, dropped.status == GoalStatus.STATUS_ABORTED],
        "refused": refused.accepted,
        "cancelled": [len(cancelled.goals_canceling), ended.status == GoalStatus.STATUS_CANCELED],
        "silent": silent,
        "switched": switched,
        "heard": heard,
        "answer": [answer.success, answer.message],
        "odd": "/arm/odd" in topics,
        "variants": ["/arm/chosen" in topics, "/arm/left_out" in topics],
        "matched": [before, matched],
    }


def look_at_frames(peer: Peer) -> dict[str, Any]:
    """Frames and joints of the sample arm while it moves to twenty places."""
    peer.listen(TFMessage, "/tf")
    peer.listen(JointState, "/joint_states")
    peer.listen(TFMessage, "/tf_static", LATCHED)
    client = ActionClient(peer, FollowJointTrajectory, "/arm_controller/follow_joint_trajectory")
    assert client.wait_for_server(60)
    names = [f"joint_{number}" for number in range(1, 7)]
    result = peer.wait(peer.wait(client.send_goal_async(make_goal(names, 2.0, 0.4))).get_result_async(), 90)
    states = {}
    for message in peer.got["/joint_states"]:
        states[message.header.stamp.sec, message.header.stamp.nanosec] = message
    rows = []
    for message in peer.got["/tf"][:: max(len(peer.got["/tf"]) // 40, 1)]:
        stamp = message.transforms[0].header.stamp
        state = states.get((stamp.sec, stamp.nanosec))
        if state is not None:
            joints = dict(zip(state.name, state.position, strict=True))
            rows.append([joints, list_transforms([message])])
    return {
        "status": result.status == GoalStatus.STATUS_SUCCEEDED,
        "static": list_transforms(peer.got["/tf_static"]),
        "rows": rows,
    }


def look_at_topics(peer: Peer, *wanted: str) -> dict[str, Any]:
    """Every topic that is published, with the policies its publisher offers, for two seconds of simulated time."""

    def find() -> dict[str, str]:
        return {name: kinds[0] for name, kinds in peer.get_topic_names_and_types()}

    assert peer.spin(90, lambda: set(wanted) <= set(find())), f"missing {set(wanted) - set(find())}"
    peer.listen(Clock, "/clock", SENSOR)
    for name in wanted:
        # a node learns of names first
        assert peer.spin(30, lambda name=name: bool(peer.get_publishers_info_by_topic(name))), name  # type: ignore[misc]
        (info,) = peer.get_publishers_info_by_topic(name)
        depth = 1 if info.qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL else 500
        kept = QoSProfile(
            depth=depth, reliability=info.qos_profile.reliability, durability=info.qos_profile.durability
        )
        peer.listen(import_type(info.topic_type), name, kept)
    assert peer.spin(60, lambda: all(peer.got[name] for name in wanted)), "some never spoke"
    for name in wanted:
        del peer.got[name][:-1]
    start = peer.got["/clock"][-1].clock
    assert peer.spin(150, lambda: peer.got["/clock"][-1].clock.sec >= start.sec + 3), "time stands still"
    edges = {}
    if "/tf" in wanted:
        # who comes late gets what was sent once
        peer.listen(TFMessage, "/tf_static", LATCHED)
        assert peer.spin(30, lambda: bool(peer.got["/tf_static"])), "no static frames for who comes late"
        edges = {"edges": list_transforms(peer.got["/tf_static"] + peer.got["/tf"][-1:])}
    return edges | {
        "topics": {name: peer.describe(name) for name in wanted},
        "pictures": {name: describe_picture(peer.got[name][-1]) for name in wanted if "image" in name},
        "info": {
            name: [list(peer.got[name][-1].k), peer.got[name][-1].width]
            for name in wanted
            if name.endswith("camera_info")
        },
        "points": {
            name: [peer.got[name][-1].width, len(peer.got[name][-1].data)]
            for name in wanted
            if "points" in name
        },
        "efforts": {
            name: [len(peer.got[name][-1].name), len(peer.got[name][-1].effort)]
            for name in wanted
            if name.endswith("joint_states")
        },
        "others": sorted(set(find()) - set(wanted)),
    }


def import_type(name: str) -> Any:
    package, kind, title = name.split("/")
    return getattr(importlib.import_module(f"{package}.{kind}"), title)


def describe_picture(message: Any) -> dict[str, Any]:
    values = bytes(message.data)
    return {"size": [message.width, message.height], "encoding": message.encoding, "bytes": len(values),
            "colours": len(set(values[:30000]))}  # fmt: skip


def look_at_room(peer: Peer) -> dict[str, Any]:
    """The room of stages.py: depth, range, contact, and a body in another domain."""
    peer.listen(Image, "/probe/depth", SENSOR)
    peer.listen(Range, "/probe/range", SENSOR)
    peer.listen(PointCloud2, "/probe/points", SENSOR)
    peer.listen(Bool, "/ball/contact", SENSOR)
    assert peer.spin(90, lambda: all(peer.got.values())), "some never spoke"
    assert peer.spin(30, lambda: any(m.data for m in peer.got["/ball/contact"])), "no contact"
    seen_here = {name for name, _ in peer.get_topic_names_and_types()}
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=5)
    other = Peer(context=context)
    other.own_executor = rclpy.executors.SingleThreadedExecutor(context=context)
    other.listen(Odometry, "/drone/odom")
    assert other.spin(30, lambda: bool(other.got["/drone/odom"])), "nothing in domain 5"
    publisher = other.create_publisher(Twist, "/drone/cmd_vel", 10)
    other.spin(10, lambda: publisher.get_subscription_count() > 0)
    command = Twist()
    command.linear.x, command.angular.z = 0.4, 0.2
    publisher.publish(command)
    other.spin(30, lambda: other.got["/drone/odom"][-1].twist.twist.linear.x > 0.39)
    begin = other.got["/drone/odom"][-1]
    other.spin(30, lambda: seconds(other.got["/drone/odom"][-1]) > seconds(begin) + 2.0)
    end = other.got["/drone/odom"][-1]
    depth = peer.got["/probe/depth"][-1]
    row = depth.height // 2 * depth.step
    here = (depth.width // 2) * 4
    return {
        "depth": struct.unpack("<f", bytes(depth.data[row + here : row + here + 4]))[0],
        "encoding": depth.encoding,
        "range": peer.got["/probe/range"][-1].range,
        "points": len(peer.got["/probe/points"][-1].data),
        "elsewhere": "/drone/odom" in seen_here,
        "time": seconds(end) - seconds(begin),
        "turned": yaw(end.pose.pose.orientation) - yaw(begin.pose.pose.orientation),
        "went": math.dist(
            (end.pose.pose.position.x, end.pose.pose.position.y),
            (begin.pose.pose.position.x, begin.pose.pose.position.y),
        ),
    }


def seconds(message: Any) -> float:
    return float(message.header.stamp.sec + message.header.stamp.nanosec * 1e-9)


def yaw(turn: Any) -> float:
    return 2.0 * math.atan2(turn.z, turn.w)


def look_at_sample_arm(peer: Peer) -> dict[str, Any]:
    """Topics of the sample arm, and its gripper."""
    found = look_at_topics(peer, "/joint_states", "/wrist_camera/image", "/wrist_camera/camera_info", "/tf")
    client = ActionClient(peer, GripperCommand, "/gripper_controller/gripper_cmd")
    assert client.wait_for_server(30)
    goal = GripperCommand.Goal()
    goal.command.position = 0.03
    ended = peer.wait(peer.wait(client.send_goal_async(goal)).get_result_async(), 60)
    return found | {"gripper": [ended.status == GoalStatus.STATUS_SUCCEEDED, ended.result.position]}


def look_at_warehouse(peer: Peer) -> dict[str, Any]:
    """Topics of the warehouse, and a turn of its rover."""
    found = look_at_topics(peer, "/scan", "/scan/points", "/imu", "/odom", "/joint_states", "/tf")
    publisher = peer.create_publisher(Twist, "/cmd_vel", 10)
    peer.spin(10, lambda: publisher.get_subscription_count() > 0)
    command = Twist()
    command.angular.z = 0.5
    publisher.publish(command)
    peer.spin(60, lambda: peer.got["/odom"][-1].twist.twist.angular.z > 0.45)
    begin = peer.got["/odom"][-1]
    peer.spin(60, lambda: seconds(peer.got["/odom"][-1]) > seconds(begin) + 1.5)
    end = peer.got["/odom"][-1]
    turned = yaw(end.pose.pose.orientation) - yaw(begin.pose.pose.orientation)
    return found | {"turned": turned, "time": seconds(end) - seconds(begin)}


def look_at_world(peer: Peer) -> dict[str, Any]:
    """Robots, map and goals of the sample laboratory."""
    found = look_at_topics(
        peer,
        "/map",
        "/tender/odom",
        "/tender/scan",
        "/tender/battery_state",
        "/tender/robot_state",
        "/tender/tf",
    )
    grid = peer.got["/map"][-1]
    client = ActionClient(peer, ExecuteTaskAction, "/execute_action")
    assert client.wait_for_server(30)

    def do(kind: str, **more: Any) -> Any:
        goal = ExecuteTaskAction.Goal()
        goal.action.robot, goal.action.type = "tender", kind
        for key, value in more.items():
            setattr(goal.action, key, value)
        handle = peer.wait(client.send_goal_async(goal))
        if not handle.accepted:
            return None
        return peer.wait(handle.get_result_async(), 90).result.execution_result

    reached = do("navigate", target_location="bench")
    picked = [do("pick", object="gear").status]
    while picked[-1] == ExecutionResult.EXECUTION_FAILURE and len(picked) < 10:
        picked.append(do("pick", object="gear").status)
    refused = do("dance")
    service = peer.create_client(RequestWorldState, "/request_world_state")
    assert service.wait_for_service(20)
    state = peer.wait(service.call_async(RequestWorldState.Request())).state
    return found | {
        "cells": [grid.info.width * grid.info.height, len(grid.data), sorted(set(grid.data))],
        "battery": peer.got["/tender/battery_state"][-1].percentage,
        "reached": [reached.status, reached.message],
        "picked": picked[-1],
        "refused": refused is None,
        "holding": [robot.manipulated_object for robot in state.robots if robot.name == "tender"],
        "objects": len(state.objects),
    }


def look_at_scene(peer: Peer) -> dict[str, Any]:
    """Two arms of one asset in a scene: one of them is moved."""
    found = look_at_topics(peer, "/left/arm/joint_states", "/right/arm/joint_states", "/left/tf", "/right/tf")
    client = ActionClient(peer, FollowJointTrajectory, "/left/arm/follow")
    assert client.wait_for_server(30)
    ended = peer.wait(
        peer.wait(client.send_goal_async(make_goal(["elbow"], 1.0, 0.5))).get_result_async(), 60
    )
    peer.spin(1.0)
    return found | {
        "moved": ended.status == GoalStatus.STATUS_SUCCEEDED,
        "places": [peer.got[f"/{name}/arm/joint_states"][-1].position[0] for name in ("left", "right")],
    }


def count_stamps(peer: Peer, topic: str, kind: str, rate: str, seconds_wanted: str) -> dict[str, Any]:
    """Every message of a topic for some simulated seconds: stamps that follow each other, and those that do not."""
    reliability = ReliabilityPolicy.BEST_EFFORT if kind.endswith("Image") else ReliabilityPolicy.RELIABLE
    peer.listen(import_type(kind), topic, QoSProfile(depth=5000, reliability=reliability))
    assert peer.spin(90, lambda: bool(peer.got[topic])), "it never spoke"
    wanted = round(float(rate) * float(seconds_wanted))
    arrived = peer.spin(120, lambda: len(peer.got[topic]) > wanted)
    stamps = [m.header.stamp.sec * 10**9 + m.header.stamp.nanosec for m in peer.got[topic]]
    period = round(1e9 / float(rate))
    gaps = [b - a for a, b in itertools.pairwise(stamps)]
    seen = {"count": len(stamps), "wanted": wanted, "arrived": arrived}
    if kind.endswith("Image"):
        seen["picture"] = describe_picture(peer.got[topic][-1])
    return seen | {"odd": [gap / period for gap in gaps if gap != period][:10]}


def command_by_topics(peer: Peer) -> dict[str, Any]:
    """Commands by messages: a trajectory, numbers once the controller of the joint is off, a stamped twist."""
    peer.listen(JointState, "/arm/joint_states")
    peer.listen(Odometry, "/drone/odom")
    assert peer.spin(90, lambda: all(peer.got.values())), "some never spoke"

    def place() -> float:
        return float(peer.got["/arm/joint_states"][-1].position[0])

    def send(kind: Any, topic: str, message: Any) -> None:
        publisher = peer.create_publisher(kind, topic, 10)
        assert peer.spin(20, lambda: publisher.get_subscription_count() > 0), topic
        publisher.publish(message)

    send(JointTrajectory, "/arm/path", make_goal(["elbow"], 0.5, 0.3).trajectory)
    followed = peer.spin(30, lambda: abs(place() - 0.3) < 0.02)
    numbers = Float64MultiArray(data=[-0.4])
    send(Float64MultiArray, "/arm/numbers", numbers)
    peer.spin(1.0)
    kept = place()
    parameters = peer.create_client(SetParameters, "/simwright/set_parameters")
    assert parameters.wait_for_service(20)

    def turn(name: str, state: bool) -> Any:
        request = SetParameters.Request()
        request.parameters = [Parameter(f"enabled.{name}", value=state).to_parameter_msg()]
        return peer.wait(parameters.call_async(request)).results[0]

    clash = turn("/arm/numbers", True)
    off, on = turn("trajectory", False), turn("/arm/numbers", True)
    send(Float64MultiArray, "/arm/numbers", numbers)
    moved = peer.spin(30, lambda: abs(place() + 0.4) < 0.02)
    twist = TwistStamped()
    twist.twist.linear.x = 0.5
    send(TwistStamped, "/drone/cmd_vel", twist)
    peer.spin(30, lambda: peer.got["/drone/odom"][-1].twist.twist.linear.x > 0.49)
    begin = peer.got["/drone/odom"][-1]
    peer.spin(30, lambda: seconds(peer.got["/drone/odom"][-1]) > seconds(begin) + 1.0)
    end = peer.got["/drone/odom"][-1]
    return {
        "followed": followed,
        "kept": kept,
        "clash": [clash.successful, clash.reason],
        "switched": [off.successful, on.successful],
        "moved": moved,
        "speed": (end.pose.pose.position.x - begin.pose.pose.position.x) / (seconds(end) - seconds(begin)),
    }


def look_at_variants(peer: Peer) -> dict[str, Any]:
    """Topics of an arm before and after its variant is another one; a joint keeps its place."""
    peer.listen(JointState, "/arm/joint_states")
    peer.listen(JointState, "/arm/chosen")
    peer.listen(JointState, "/arm/left_out")
    assert peer.spin(90, lambda: bool(peer.got["/arm/chosen"])), "no topic of the variant"
    client = ActionClient(peer, FollowJointTrajectory, "/arm/follow")
    assert client.wait_for_server(30)
    peer.wait(peer.wait(client.send_goal_async(make_goal(["elbow"], 0.5, 0.3))).get_result_async(), 60)
    parameters = peer.create_client(SetParameters, "/simwright/set_parameters")
    assert parameters.wait_for_service(20)

    def choose(name: str) -> Any:
        request = SetParameters.Request()
        request.parameters = [Parameter("variant.parts", value=name).to_parameter_msg()]
        return peer.wait(parameters.call_async(request), 60).results[0]

    refused, done = choose("half"), choose("none")
    heard = peer.spin(30, lambda: len(peer.got["/arm/left_out"]) > 3)
    gone = peer.spin(20, lambda: not peer.get_publishers_info_by_topic("/arm/chosen"))
    before = len(peer.got["/arm/chosen"])
    peer.spin(1.0)
    again = choose("full")
    back = peer.spin(30, lambda: len(peer.got["/arm/chosen"]) > before + 3)
    return {
        "refused": [refused.successful, refused.reason],
        "done": [done.successful, heard, gone],
        "silent": before,
        "back": [again.successful, back],
        "place": peer.got["/arm/joint_states"][-1].position[0],
        "left": [bool(peer.get_publishers_info_by_topic("/arm/left_out"))],
    }


SCENARIOS = {
    "stamps": count_stamps,
    "commands": command_by_topics,
    "variants": look_at_variants,
    "rover": look_at_rover,
    "arm": look_at_arm,
    "frames": look_at_frames,
    "topics": look_at_topics,
    "room": look_at_room,
    "sample_arm": look_at_sample_arm,
    "warehouse": look_at_warehouse,
    "world": look_at_world,
    "scene": look_at_scene,
}

if __name__ == "__main__":
    rclpy.init()
    sys.stdout.write(json.dumps(SCENARIOS[sys.argv[1]](Peer(), *sys.argv[2:])) + "\n")
