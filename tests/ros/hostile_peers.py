"""Programs of ROS 2 that flood a simulation, or vanish in the middle of what they asked for.

python hostile_peers.py SCENARIO
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

import rclpy
from action_msgs.msg import GoalStatus
from control_msgs.action import FollowJointTrajectory
from rclpy.action import ActionClient
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState

from peers import SENSOR, Peer, make_goal


def flood(peer: Peer) -> dict[str, Any]:
    """As many commands as go out in some seconds, and how far the simulation comes meanwhile."""
    peer.listen(Clock, "/clock", SENSOR)
    publisher = peer.create_publisher(JointState, "/arm/commands", 10)
    assert peer.spin(60, lambda: bool(peer.got["/clock"]) and publisher.get_subscription_count() > 0)
    before, sent, end = len(peer.got["/clock"]), 0, time.monotonic() + 4.0
    command = JointState(name=["elbow"] * 200, position=[0.1] * 200)
    while time.monotonic() < end:
        publisher.publish(command)
        sent += 1
        if sent % 50 == 0:
            rclpy.spin_once(peer, timeout_sec=0.0)
    peer.spin(5, lambda: len(peer.got["/clock"]) > before + 20)
    return {"sent": sent, "ticks": len(peer.got["/clock"]) - before}


def vanish(peer: Peer) -> dict[str, Any]:
    """A goal of a minute, from somebody who is gone after a moment."""
    client = ActionClient(peer, FollowJointTrajectory, "/arm/follow")
    assert client.wait_for_server(60)
    handle = peer.wait(client.send_goal_async(make_goal(["elbow"], 60.0, 1.0)))
    handle.get_result_async()
    peer.spin(1.0)
    sys.stdout.write(json.dumps({"accepted": handle.accepted}) + "\n")
    sys.stdout.flush()
    # without a word to anybody
    os._exit(0)


def reach(peer: Peer) -> dict[str, Any]:
    """A goal like any other, after all that."""
    peer.listen(JointState, "/arm/joint_states")
    client = ActionClient(peer, FollowJointTrajectory, "/arm/follow")
    assert client.wait_for_server(60)
    handle = peer.wait(client.send_goal_async(make_goal(["elbow"], 1.0, -0.4)))
    result = peer.wait(handle.get_result_async(), 60)
    return {
        "reached": result.status == GoalStatus.STATUS_SUCCEEDED,
        "place": peer.got["/arm/joint_states"][-1].position[0],
    }


SCENARIOS = {"flood": flood, "vanish": vanish, "reach": reach}

if __name__ == "__main__":
    rclpy.init()
    sys.stdout.write(json.dumps(SCENARIOS[sys.argv[1]](Peer())) + "\n")
