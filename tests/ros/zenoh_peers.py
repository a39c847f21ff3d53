"""Programs of dora-rs, which has its own implementation of the wire of rmw_zenoh, and knows nothing of Simwright.

    python zenoh_peers.py SCENARIO CONFIG

CONFIG is a configuration of Zenoh.  They import dora and pyarrow only, and print what they saw as JSON.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import dora
import numpy as np
import pyarrow as pa

RELIABLE = dora.Ros2QosPolicies(reliable=True, keep_last=10)
SENSOR = dora.Ros2QosPolicies(reliable=False, keep_last=50)
LATCHED = dora.Ros2QosPolicies(reliable=True, keep_last=1, durability=dora.Ros2Durability.TransientLocal)


class Peer:
    def __init__(self, config: str) -> None:
        warnings.simplefilter("ignore")
        transport = dora.Ros2Transport.zenoh("rep2016", config)
        # kept: its end is the end of all that it made
        self.context = dora.Ros2Context(transport=transport, domain_id=0)
        self.node = self.context.new_node("peer", "/", dora.Ros2NodeOptions(rosout=False))

    def listen(self, name: str, kind: str, qos: Any = RELIABLE) -> Callable[[], Any]:
        subscription = self.node.create_subscription(self.node.create_topic(name, kind, qos), qos)

        def take() -> Any:
            """The next message, None where there is none."""
            found = subscription.next()
            return None if found is None else found[0].as_py()

        return take


def wait(
    take: Callable[[], Any], seconds: float = 20.0, until: Callable[[Any], bool] = lambda _: True
) -> Any:
    """The first message that is as wanted."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = take()
        if found is not None and until(found):
            return found
        if found is None:
            time.sleep(0.01)
    return None


def make_goal(joint: str, seconds: int, place: float) -> Any:
    """A goal; what is left out has the defaults of messages."""
    later = {"sec": np.int32(seconds), "nanosec": np.uint32(0)}
    point = {"positions": np.array([place]), "time_from_start": later}
    return pa.array([{"trajectory": {"joint_names": [joint], "points": [point]}}])


def use_arm(peer: Peer) -> dict[str, Any]:
    """Topics, services and actions of the small arm of stages.py."""
    states = peer.listen("/arm/joint_states", "sensor_msgs/JointState")
    first = wait(states, 60)
    times = [wait(states)["header"]["stamp"] for _ in range(20)]
    seconds = [stamp["sec"] + stamp["nanosec"] * 1e-9 for stamp in times]
    seen: dict[str, Any] = {"names": first["name"], "frame": first["header"]["frame_id"]}
    seen["rate"] = (len(seconds) - 1) / (seconds[-1] - seconds[0])
    late = wait(peer.listen("/arm/tf_static", "tf2_msgs/TFMessage", LATCHED), 10)
    seen["late"] = [] if late is None else [one["child_frame_id"] for one in late["transforms"]]
    client = peer.node.create_action_client("/arm/follow", "control_msgs/FollowJointTrajectory", RELIABLE)
    goal = client.send_goal(make_goal("elbow", 1, 0.5), 20.0)
    seen["feedback"] = sum(client.take_feedback(goal, 1.0) is not None for _ in range(5))
    status, result = client.take_result(goal, 30.0)
    seen["reached"] = [str(status).lower(), result[0].as_py()["error_code"]]
    seen["place"] = wait(states, until=lambda found: found["position"][0] > 0.45)["position"][0]
    seen["refused"] = client.send_goal(make_goal("knee", 1, 0.5), 20.0)
    goal = client.send_goal(make_goal("elbow", 60, -1.0), 20.0)
    seen["cancel"] = client.cancel(goal, 10.0)
    # the client forgets a goal that it has cancelled: that the joint stands still shows it
    time.sleep(1.0)
    while states() is not None:
        pass
    first = wait(states)
    later = first["header"]["stamp"]["sec"] + 2
    seen["stands"] = [
        first["position"][0], wait(states, 30, lambda one: one["header"]["stamp"]["sec"] >= later)["position"][0]
    ]  # fmt: skip
    switch = peer.node.create_service_client("/arm/switch", "std_srvs/SetBool", RELIABLE)
    seen["switched"] = switch.call(pa.array([{"data": True}]), 20.0)[0].as_py()["success"]
    parameters = peer.node.create_service_client(
        "/simwright/set_parameters", "rcl_interfaces/SetParameters", RELIABLE
    )
    value = {"type": np.uint8(1), "bool_value": False}
    asked = pa.array([{"parameters": [{"name": "enabled./arm/joint_states", "value": value}]}])
    seen["set"] = parameters.call(asked, 20.0)[0].as_py()["results"][0]["successful"]
    get = peer.node.create_service_client(
        "/simwright/get_parameters", "rcl_interfaces/GetParameters", RELIABLE
    )
    told = get.call(pa.array([{"names": ["enabled./arm/joint_states"]}]), 20.0)[0].as_py()["values"][0]
    seen["get"] = [told["type"], told["bool_value"]]
    while states() is not None:
        pass
    seen["silent"] = wait(states, 1.5) is None
    delete = peer.node.create_service_client("/delete_entity", "simulation_interfaces/DeleteEntity", RELIABLE)
    seen["deleted"] = delete.call(pa.array([{"entity": "nobody"}]), 20.0)[0].as_py()["result"]["result"]
    return seen


def drive_rover(peer: Peer) -> dict[str, Any]:
    """A command, and where it leads."""
    odometry = peer.listen("/odom", "nav_msgs/Odometry")
    assert wait(odometry, 60) is not None
    topic = peer.node.create_topic("/cmd_vel", "geometry_msgs/Twist", RELIABLE)
    publisher = peer.node.create_publisher(topic, RELIABLE)
    time.sleep(1.0)
    zero = {"x": 0.0, "y": 0.0, "z": 0.0}
    publisher.publish(pa.array([{"linear": zero | {"x": 0.5}, "angular": zero}]))
    rows = []
    for ahead in (0.3, 1.0):
        found = wait(odometry, 40, lambda one, ahead=ahead: one["pose"]["pose"]["position"]["x"] > ahead)
        stamp = found["header"]["stamp"]
        rows.append((stamp["sec"] + stamp["nanosec"] * 1e-9, found["pose"]["pose"]["position"]["x"]))
    return {"went": rows[1][1] - rows[0][1], "expected": 0.5 * (rows[1][0] - rows[0][0])}


SCENARIOS = {"arm": use_arm, "rover": drive_rover}

if __name__ == "__main__":
    sys.stdout.write(json.dumps(SCENARIOS[sys.argv[1]](Peer(sys.argv[2]))) + "\n")
    sys.stdout.flush()
