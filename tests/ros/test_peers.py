"""Real peers: plain programs of rclpy beside ``simwright run --ros``, in a network of their own without any other."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from network import run_beside, run_in_network, run_peer
from test_loading import make_variants, write_variants

import simwright
from simwright.app.bridging import RosOptions
from simwright.core.math3d import Pose
from stages import DRONE, TRIGGER, below, make_arm, make_topic, write_room, write_stage

HERE = Path(__file__).resolve().parent
SAMPLES = HERE.parents[1] / "samples" / "simwright_samples"
pytestmark = pytest.mark.judge("ros")
SERVICE = """
        def Scope "switch" (prepend apiSchemas = ["RosServiceAPI"])
        {
            uniform token ros:service:role = "server"
            uniform string ros:service:name = "switch"
            uniform string ros:service:type = "std_srvs/srv/SetBool"
        }
"""


def meet(scenario: str, *arguments: str, command: str = "run", peer: Sequence[str] = ()) -> dict[str, Any]:
    """What a peer sees of a simulation; both end, and the simulation ends well by Ctrl-C."""
    said = (",".join((scenario, *peer)), command, *arguments)
    return run_in_network(__file__, *said, RMW_IMPLEMENTATION="rmw_fastrtps_cpp")


def main(scenario: str, arguments: list[str]) -> None:
    """Within the network: a simulation, and a peer that looks at it."""
    run_beside([*arguments, "--ros", "rclpy"], lambda: run_peer("peers.py", *scenario.split(",")))


def read_edges(rows: list[Any]) -> dict[str, tuple[str, Pose]]:
    edges: dict[str, tuple[str, Pose]] = {}
    for parent, child, place, turn in rows:
        assert child not in edges, f"{child} has two parents"
        edges[child] = (parent, Pose.of(place, turn))
    return edges


def find_in_root(edges: dict[str, tuple[str, Pose]], frame: str) -> tuple[str, Pose]:
    pose = Pose.identity()
    for _ in range(len(edges) + 1):
        if frame not in edges:
            return frame, pose
        frame, step = edges[frame]
        pose = step @ pose
    raise AssertionError("the frames go round in a circle")


def test_topics_of_the_rover_arrive_and_it_drives() -> None:
    found = meet("rover", str(SAMPLES / "rover" / "model.sdf"), "--ground")
    expected = {
        "/scan": ("sensor_msgs/msg/LaserScan", 10.0, "lidar_link", "BEST_EFFORT"),
        "/imu": ("sensor_msgs/msg/Imu", 100.0, "imu_link", "BEST_EFFORT"),
        "/odom": ("nav_msgs/msg/Odometry", 50.0, "odom", "RELIABLE"),
        "/joint_states": ("sensor_msgs/msg/JointState", 50.0, "", "RELIABLE"),
        "/scan/points": ("sensor_msgs/msg/PointCloud2", 10.0, "lidar_link", "BEST_EFFORT"),
        "/tf": ("tf2_msgs/msg/TFMessage", 50.0, "odom", "RELIABLE"),
    }
    clock = found["topics"]["/clock"]
    assert (clock["type"], clock["reliability"]) == ("rosgraph_msgs/msg/Clock", "BEST_EFFORT")
    assert clock["rate"] == pytest.approx(100.0, rel=0.05)
    for topic, (kind, rate, frame, reliability) in expected.items():
        seen = found["topics"][topic]
        assert (seen["type"], seen["frames"], seen["reliability"]) == (kind, [frame], reliability)
        assert seen["rate"] == pytest.approx(rate, rel=0.05), topic
        assert seen["durability"] == "VOLATILE"
    assert found["late"]
    assert "<robot" in found["urdf"]
    assert found["clock"] > 10
    edges = read_edges(found["static"] + found["moving"])
    assert {find_in_root(edges, frame)[0] for frame in edges} == {"odom"}
    assert found["went"] == pytest.approx(found["expected"], rel=0.05)


def check_tree(found: dict[str, Any], root: str) -> None:
    """One root, no cycle, no frame with two parents."""
    edges = read_edges(found["edges"])
    assert {find_in_root(edges, frame)[0] for frame in edges} == {root}


def expect(found: dict[str, Any], topic: str, kind: str, rate: float, frame: str, *policies: str) -> None:
    """A topic arrives with its type, its rate in simulated time, its frame, and the policies it should offer."""
    seen = found["topics"][topic]
    assert seen["type"] == kind, topic
    assert seen["frames"] == [frame], topic
    assert (seen["reliability"], seen["durability"]) == policies, topic
    if rate:
        assert seen["rate"] == pytest.approx(rate, rel=0.05), topic


def test_topics_of_the_sample_arm_arrive_and_its_gripper_moves() -> None:
    found = meet("sample_arm", str(SAMPLES / "arm" / "urdf" / "arm.urdf"))
    optical = "wrist_camera_optical_frame"
    expect(found, "/joint_states", "sensor_msgs/msg/JointState", 50.0, "", "RELIABLE", "VOLATILE")
    expect(found, "/wrist_camera/image", "sensor_msgs/msg/Image", 30.0, optical, "BEST_EFFORT", "VOLATILE")
    expect(
        found,
        "/wrist_camera/camera_info",
        "sensor_msgs/msg/CameraInfo",
        30.0,
        optical,
        "BEST_EFFORT",
        "VOLATILE",
    )
    expect(found, "/tf", "tf2_msgs/msg/TFMessage", 50.0, "base_link", "RELIABLE", "VOLATILE")
    check_tree(found, "world")
    picture, (matrix, width) = (
        found["pictures"]["/wrist_camera/image"],
        found["info"]["/wrist_camera/camera_info"],
    )
    assert picture["encoding"] == "rgb8"
    assert picture["size"][0] == width
    assert picture["bytes"] == 3 * picture["size"][0] * picture["size"][1]
    assert matrix[0] == matrix[4] > 0.0
    joints, efforts = found["efforts"]["/joint_states"]
    assert joints == efforts == 8
    assert found["gripper"][0]
    assert found["gripper"][1] == pytest.approx(0.03, abs=0.011)


def test_topics_of_the_warehouse_arrive_and_its_rover_turns() -> None:
    found = meet("warehouse", str(SAMPLES / "warehouse" / "warehouse.sdf"))
    lidar = "lidar_link"
    expect(found, "/scan", "sensor_msgs/msg/LaserScan", 10.0, lidar, "BEST_EFFORT", "VOLATILE")
    expect(found, "/scan/points", "sensor_msgs/msg/PointCloud2", 10.0, lidar, "BEST_EFFORT", "VOLATILE")
    expect(found, "/imu", "sensor_msgs/msg/Imu", 100.0, "imu_link", "BEST_EFFORT", "VOLATILE")
    expect(found, "/odom", "nav_msgs/msg/Odometry", 50.0, "odom", "RELIABLE", "VOLATILE")
    expect(found, "/joint_states", "sensor_msgs/msg/JointState", 50.0, "", "RELIABLE", "VOLATILE")
    expect(found, "/tf", "tf2_msgs/msg/TFMessage", 50.0, "odom", "RELIABLE", "VOLATILE")
    check_tree(found, "odom")
    (points, size) = found["points"]["/scan/points"]
    assert size == 12 * points > 0
    assert found["turned"] == pytest.approx(0.5 * found["time"], rel=0.05)


def test_endpoints_of_a_room_measure_what_is_there(tmp_path: Path) -> None:
    found = meet("room", str(write_room(tmp_path)))
    assert found["encoding"] == "32FC1"
    assert found["depth"] == pytest.approx(1.9, rel=1e-3)
    assert found["range"] == pytest.approx(1.9, rel=1e-5)
    assert found["points"] == 360 * 12
    # the body in domain 5 is heard there only, and goes along an arc of 0.4 / 0.2 m
    assert not found["elsewhere"]
    assert found["turned"] == pytest.approx(0.2 * found["time"], rel=0.05)
    chord = 2.0 * 2.0 * np.sin(found["turned"] / 2.0)
    assert found["went"] == pytest.approx(chord, rel=0.05)


def test_joint_states_at_a_kilohertz_reach_a_subscriber_without_loss(tmp_path: Path) -> None:
    kind = "sensor_msgs/msg/JointState"
    file = write_stage(tmp_path, make_arm())
    file.write_text(file.read_text().replace("publish_rate = 50", "publish_rate = 1000"))
    found = meet("stamps", str(file), "--dt", "0.001", peer=("/arm/joint_states", kind, "1000", "5"))
    assert found["arrived"], found
    # every stamp is there, each a millisecond after the one before
    assert found["odd"] == []
    assert found["count"] > 5000


def test_a_camera_at_ten_hertz_reaches_a_subscriber_without_loss(tmp_path: Path) -> None:
    kind = "sensor_msgs/msg/Image"
    file = write_room(tmp_path)
    file.write_text(file.read_text().replace("publish_rate = 5\n", "publish_rate = 10\n"))
    found = meet("stamps", str(file), peer=("/probe/image", kind, "10", "3"))
    assert found["arrived"], found
    assert found["odd"] == []
    assert found["picture"]["size"] == [640, 480]


def test_commands_by_topics_move_joints_and_bodies(tmp_path: Path) -> None:
    topics = (("numbers", "std_msgs/msg/Float64MultiArray"), ("path", "trajectory_msgs/msg/JointTrajectory"))
    asked = "".join(make_topic(name, name, kind, role="subscription") for name, kind in topics)
    drone = DRONE.replace("geometry_msgs/msg/Twist", "geometry_msgs/msg/TwistStamped")
    drone = drone.replace("int ros:context:domain_id = 5", "")
    file = write_stage(
        tmp_path, f'def Xform "all"\n{{\n{below(make_arm(interfaces=asked))}{below(drone)}\n}}\n', root="all"
    )
    found = meet("commands", str(file))
    assert found["followed"]
    # a joint has one controller: numbers are not heard until the other is off
    assert found["kept"] == pytest.approx(0.3, abs=0.02)
    assert not found["clash"][0]
    assert "turn that off first" in found["clash"][1]
    assert found["switched"] == [True, True]
    assert found["moved"]
    assert found["speed"] == pytest.approx(0.5, rel=0.05)


def test_a_variant_that_is_switched_takes_its_interfaces_with_it(tmp_path: Path) -> None:
    found = meet("variants", str(write_variants(tmp_path)))
    assert found["refused"][0] is False
    assert "half" in found["refused"][1]
    assert found["done"] == [True, True, True]
    assert found["back"] == [True, True]
    assert found["left"] == [False]
    assert found["place"] == pytest.approx(0.3, abs=0.02)


def test_two_robots_of_one_asset_in_a_scene_do_not_clash(tmp_path: Path) -> None:
    write_stage(tmp_path, make_arm())
    scene = tmp_path / "pair.yaml"
    rows = (f"  - {{id: {n}, type: usd, source: arm.usda, xform: {{p: [0, {y}, 0]}}}}\n" for y, n in enumerate(
        ("left", "right")))  # fmt: skip
    scene.write_text("schema_version: 1\nassets:\n" + "".join(rows))
    found = meet("scene", str(scene))
    for name in ("left", "right"):
        kind = "sensor_msgs/msg/JointState"
        expect(found, f"/{name}/arm/joint_states", kind, 50.0, "arm", "RELIABLE", "VOLATILE")
        expect(found, f"/{name}/tf", "tf2_msgs/msg/TFMessage", 50.0, "base", "RELIABLE", "VOLATILE")
    assert found["moved"]
    assert found["places"] == pytest.approx([0.5, 0.0], abs=0.02)


def test_a_world_serves_its_robots() -> None:
    found = meet("world", str(SAMPLES / "lab" / "lab.yaml"), command="world run")
    expect(found, "/map", "nav_msgs/msg/OccupancyGrid", 0.0, "map", "RELIABLE", "TRANSIENT_LOCAL")
    expect(found, "/tender/odom", "nav_msgs/msg/Odometry", 50.0, "odom", "RELIABLE", "VOLATILE")
    expect(found, "/tender/scan", "sensor_msgs/msg/LaserScan", 10.0, "lidar", "BEST_EFFORT", "VOLATILE")
    expect(found, "/tender/tf", "tf2_msgs/msg/TFMessage", 50.0, "odom", "RELIABLE", "VOLATILE")
    battery = "sensor_msgs/msg/BatteryState"
    expect(found, "/tender/battery_state", battery, 1.0, "base_link", "BEST_EFFORT", "VOLATILE")
    state = "pyrobosim_msgs/msg/RobotState"
    expect(found, "/tender/robot_state", state, 10.0, "map", "RELIABLE", "VOLATILE")
    cells, length, values = found["cells"]
    assert cells == length
    assert values == [0, 100]
    assert 0.5 < found["battery"] <= 0.8
    assert found["reached"] == [0, ""]
    assert found["picked"] == 0
    assert found["refused"]
    assert found["holding"][0].startswith("gear")
    assert found["objects"] == 7


def test_a_task_runs_behind_ros() -> None:
    robot = str(SAMPLES / "arm" / "robot.yaml")
    asked = ["tabletop_push", "--robot", robot, "--max-steps", "1000000"]
    wanted = ["/joint_states", "/tf"]
    found = meet("topics", *asked, command="task run", peer=wanted)
    expect(found, "/joint_states", "sensor_msgs/msg/JointState", 50.0, "", "RELIABLE", "VOLATILE")
    expect(found, "/tf", "tf2_msgs/msg/TFMessage", 50.0, "base_link", "RELIABLE", "VOLATILE")
    assert {"/task/success", "/task/score", "/task/instruction"} <= set(found["others"])


def test_goals_switches_and_services_of_an_arm(tmp_path: Path) -> None:
    odd = make_topic("odd", "odd", "nobody_msgs/msg/Nothing")
    follows = "uniform bool ros:topic:qos:match_publisher = true"
    follows += '\nuniform token ros:topic:qos:reliability = "reliable"'
    kind = "sensor_msgs/msg/JointState"
    odd += make_topic("commands", "commands", kind, role="subscription", more=follows)
    silent = "uniform bool ros:topic:starts_enabled = false"
    more = '\n    variants = {\n        string parts = "full"\n    }\n    prepend variantSets = "parts"'
    file = write_stage(
        tmp_path, make_arm(interfaces=SERVICE + odd, imu=silent, extra=TRIGGER + make_variants(), more=more)
    )
    found = meet("arm", str(file))
    reached, code, place = found["reached"]
    assert (reached, code) == (True, 0)
    assert place == pytest.approx(0.5, abs=0.02)
    assert found["feedback"] > 3
    assert found["trigger"] == [True, "the trajectory is forgotten", True]
    assert not found["refused"]
    assert found["cancelled"] == [1, True]
    assert (found["silent"], found["switched"], found["heard"]) == (0, True, True)
    assert found["answer"][0], found["answer"][1]
    assert not found["odd"]
    # of two variants, the one that is selected has its interfaces, the other none
    assert found["variants"] == [True, False]
    assert found["matched"] == ["RELIABLE", True]


def test_frames_of_the_sample_arm_are_where_forward_kinematics_has_them() -> None:
    file = SAMPLES / "arm" / "urdf" / "arm.urdf"
    found = meet("frames", str(file))
    assert found["status"]
    assert len(found["rows"]) >= 20
    asset = simwright.load(file)
    for joints, moving in found["rows"]:
        edges = read_edges(found["static"] + moving)
        truth = asset.forward_kinematics(joints)
        for body in asset.bodies:
            root, pose = find_in_root(edges, body.name)
            assert root == "world"
            assert pose.is_close(truth[body.name], 1e-6), body.name


@pytest.mark.parametrize("suffix", [".mcap", ".db3"])
def test_a_bag_is_read_by_others(tmp_path: Path, suffix: str) -> None:
    from rosbags.highlevel import AnyReader

    file = write_stage(tmp_path, make_arm())
    bag = tmp_path / f"run{suffix}"
    run = simwright.run(file, frames=500, ros=RosOptions(bag=str(bag)))
    if suffix == ".mcap":
        from mcap.reader import make_reader
        from mcap_ros2.decoder import DecoderFactory

        with bag.open("rb") as stream:
            mcap = make_reader(stream, decoder_factories=[DecoderFactory()])
            states = [m.decoded_message for m in mcap.iter_decoded_messages(["/arm/joint_states"])]
    else:
        with AnyReader([bag]) as reader:
            rows = [c for c in reader.connections if c.topic == "/arm/joint_states"]
            states = [reader.deserialize(raw, c.msgtype) for c, _, raw in reader.messages(connections=rows)]
    assert len(states) == 51
    assert list(states[-1].name) == ["elbow"]
    assert list(states[-1].position) == pytest.approx(run.positions[0].tolist(), abs=1e-12)
    assert np.isfinite(states[-1].velocity).all()


def test_hashes_of_types_are_those_of_ros() -> None:
    import rosidl_parser  # noqa: F401 - tells a plain environment from one of ROS

    from simwright.ros.transports.types import open_store

    share = Path(sys.prefix) / "share"
    store, seen = open_store(), 0
    for name in (
        "sensor_msgs/msg/JointState",
        "tf2_msgs/msg/TFMessage",
        "nav_msgs/msg/Odometry",
        "std_msgs/msg/Char",
    ):
        package, kind, title = name.split("/")
        described = json.loads((share / package / kind / f"{title}.json").read_text())
        hashes = {row["type_name"]: row["hash_string"] for row in described["type_hashes"]}
        assert store.hash_rihs01(name) == hashes[name], name
        seen += 1
    assert seen == 4


def test_an_interrupted_run_leaves_no_process_behind(tmp_path: Path) -> None:
    file = write_stage(tmp_path, make_arm())
    run = [sys.executable, "-m", "simwright", "run", str(file), "--ros"]
    with subprocess.Popen(run, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as simulation:
        try:
            time.sleep(8.0)
            assert simulation.poll() is None
            simulation.send_signal(signal.SIGINT)
            assert simulation.wait(15) == 130
        finally:
            simulation.kill()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
