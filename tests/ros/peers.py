"""Programs of ROS 2 that know nothing of Simwright: each looks at a running simulation, and prints what it saw as JSON.

    python peers.py SCENARIO

They import rclpy and messages only.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import rclpy
from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
from rcl_interfaces.srv import SetParameters
from rclpy.action import ActionClient
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu, JointState, LaserScan
from std_msgs.msg import String
from std_srvs.srv import SetBool
from tf2_msgs.msg import TFMessage
from trajectory_msgs.msg import JointTrajectoryPoint

SENSOR = QoSProfile(depth=200, reliability=ReliabilityPolicy.BEST_EFFORT)
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class Peer(Node):
    def __init__(self) -> None:
        super().__init__("peer")
        self.got: dict[str, list[Any]] = {}

    def listen(self, kind: Any, topic: str, qos: Any = 200) -> None:
        self.got[topic] = []
        self.create_subscription(kind, topic, self.got[topic].append, qos)

    def spin(self, seconds: float, until: Callable[[], bool] = lambda: False) -> bool:
        end = time.monotonic() + seconds
        while time.monotonic() < end and not until():
            rclpy.spin_once(self, timeout_sec=0.05)
        return until()

    def wait(self, future: Any, seconds: float = 20.0) -> Any:
        assert self.spin(seconds, future.done), "no answer"
        return future.result()

    def describe(self, topic: str) -> dict[str, Any]:
        """What arrived on a topic: how often in time of the simulation, its frame, and what the publisher offers."""
        messages = self.got[topic]
        times = [m.header.stamp.sec + m.header.stamp.nanosec * 1e-9 for m in messages]
        (info,) = self.get_publishers_info_by_topic(topic)
        return {
            "count": len(messages),
            "rate": (len(times) - 1) / (times[-1] - times[0]) if len(times) > 1 else 0.0,
            "frames": sorted({m.header.frame_id for m in messages}),
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
        "topics": {t: peer.describe(t) for t in ("/scan", "/imu", "/odom", "/joint_states")},
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
        "refused": refused.accepted,
        "cancelled": [len(cancelled.goals_canceling), ended.status == GoalStatus.STATUS_CANCELED],
        "silent": silent,
        "switched": switched,
        "heard": heard,
        "answer": [answer.success, answer.message],
        "odd": "/arm/odd" in topics,
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
    for message in peer.got["/tf"][:: max(len(peer.got["/tf"]) // 20, 1)]:
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


SCENARIOS = {"rover": look_at_rover, "arm": look_at_arm, "frames": look_at_frames}

if __name__ == "__main__":
    rclpy.init()
    sys.stdout.write(json.dumps(SCENARIOS[sys.argv[1]](Peer())) + "\n")
