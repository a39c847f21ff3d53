"""The bridge beside a simulation: what it sends holds against closed forms, what it is told to do happens."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from memory import MemoryGoal, MemoryTransport, make_trajectory

import simwright
from simwright.app.bridging import BridgedSource, RosOptions
from simwright.app.run_sources import AssetSource, prepare_asset
from simwright.core.diag import Reporter
from simwright.core.math3d import Pose
from simwright.engines.protocol import Settings
from simwright.engines.table import load_engine
from simwright.model.asset import Asset
from simwright.model.joint import Motion
from simwright.model.mass import body_inertials
from simwright.ros.bridge import BridgeOptions, RosBridge
from simwright.ros.servos import JointTargets
from stages import make_arm, make_topic, write_stage

SAMPLES = Path(__file__).resolve().parents[2] / "samples" / "simwright_samples"
SERVICE = """
        def Scope "switch" (prepend apiSchemas = ["RosServiceAPI"])
        {
            uniform token ros:service:role = "server"
            uniform string ros:service:name = "switch"
            uniform string ros:service:type = "std_srvs/srv/SetBool"
        }
"""


@contextlib.contextmanager
def serve(asset: Asset, dt: float = 0.002) -> Iterator[tuple[RosBridge, MemoryTransport, Reporter]]:
    reporter, transport = Reporter(), MemoryTransport()
    settings = Settings(dt=dt)
    bridged = BridgedSource(AssetSource(asset, asset.name), "mujoco", settings, reporter)
    with load_engine("mujoco").open(bridged.asset, settings, reporter) as simulation:
        options = BridgeOptions(added=bridged.added)
        with RosBridge(bridged.graph, simulation, [transport], reporter, options) as bridge:
            yield bridge, transport, reporter


@contextlib.contextmanager
def serve_arm(tmp_path: Path, **options: str) -> Iterator[tuple[RosBridge, MemoryTransport, Reporter]]:
    with serve(simwright.load(write_stage(tmp_path, make_arm(**options)))) as served:  # type: ignore[arg-type]
        yield served


def read_transforms(transport: MemoryTransport, *topics: str) -> dict[tuple[str, str], Pose]:
    found = {}
    for topic in topics:
        for transform in transport.last(topic)["transforms"]:
            place, turn = transform["transform"]["translation"], transform["transform"]["rotation"]
            key = (transform["header"]["frame_id"], transform["child_frame_id"])
            pose = Pose.of((place["x"], place["y"], place["z"]), (turn["w"], turn["x"], turn["y"], turn["z"]))
            found[key] = pose
    return found


def find_in_world(edges: dict[tuple[str, str], Pose], frame: str) -> Pose:
    parents = {child: (parent, pose) for (parent, child), pose in edges.items()}
    pose = Pose.identity()
    while frame in parents:
        frame, step = parents[frame]
        pose = step @ pose
    return pose


def test_rates_and_stamps_are_those_of_simulated_time(tmp_path: Path) -> None:
    with serve_arm(tmp_path) as (bridge, transport, _):
        bridge.run(500)
        states = transport.sent["/arm/joint_states"]
        assert [time for time, _ in states] == [20_000_000 * number for number in range(51)]
        assert states[-1][1]["header"]["stamp"] == {"sec": 1, "nanosec": 0}
        # the first moment has no change of velocity yet
        assert len(transport.sent["/arm/camera/imu"]) == 100
        assert len(transport.sent["/clock"]) == 101
        assert len(transport.sent["/arm/tf_static"]) == len(transport.sent["/arm/robot_description"]) == 1
        assert transport.last("/arm/joint_states")["name"] == ["elbow"]


def test_policies_of_what_the_simulator_adds(tmp_path: Path) -> None:
    with serve_arm(tmp_path) as (_, transport, _):
        assert transport.opened["/arm/tf_static"].qos.durability == "transient_local"
        assert transport.opened["/arm/robot_description"].qos.durability == "transient_local"
        assert transport.opened["/arm/camera/imu"].qos.reliability == "best_effort"
        assert '<robot name="arm">' in transport.last("/arm/robot_description")["data"]


def test_frames_are_where_forward_kinematics_has_them() -> None:
    asset = simwright.load(SAMPLES / "arm" / "urdf" / "arm.urdf")
    rng = np.random.default_rng(7)
    with serve(asset) as (bridge, transport, _):
        simulation = bridge._simulation
        for _ in range(20):
            simulation.set_state(rng.uniform(-0.6, 0.6, (1, simulation.layout.nq)))
            bridge.run(10)
            q = simulation.positions[0]
            edges = read_transforms(transport, "/tf", "/tf_static")
            truth = asset.forward_kinematics({f.name: q[f.positions] for f in simulation.layout.freedoms})
            for body in asset.bodies:
                assert find_in_world(edges, body.name).is_close(truth[body.name], 1e-6), body.name


def test_a_trajectory_reaches_its_goal(tmp_path: Path) -> None:
    with serve_arm(tmp_path) as (bridge, transport, _):
        action = transport.actions["/arm/follow"]
        goal = MemoryGoal(make_trajectory(["elbow"], (0.5, [0.3]), (1.0, [0.6])))
        assert action.refuse(goal.goal) == ""
        action.begin(goal)
        bridge.run(1500)
        assert (goal.state, goal.result["error_code"]) == ("succeeded", 0)
        assert bridge._moment.positions[0] == pytest.approx(0.6, abs=0.011)
        middle = min(goal.feedback, key=lambda one: abs(one["header"]["stamp"]["nanosec"] - 500_000_000))
        assert middle["desired"]["positions"][0] == pytest.approx(0.3, abs=0.05)


def test_a_goal_is_cancelled_and_the_joint_stands_still(tmp_path: Path) -> None:
    with serve_arm(tmp_path) as (bridge, transport, _):
        goal = MemoryGoal(make_trajectory(["elbow"], (4.0, [1.2])))
        transport.actions["/arm/follow"].begin(goal)
        bridge.run(500)
        goal.wants_end = True
        bridge.run(1000)
        assert goal.state == "canceled"
        place = bridge._moment.positions[0]
        assert 0.1 < place < 0.6
        bridge.run(500)
        assert bridge._moment.positions[0] == pytest.approx(place, abs=0.02)


def test_a_new_goal_takes_the_place_of_an_old_one(tmp_path: Path) -> None:
    with serve_arm(tmp_path) as (bridge, transport, _):
        first, second = (MemoryGoal(make_trajectory(["elbow"], (0.5, [q]))) for q in (1.0, -0.3))
        transport.actions["/arm/follow"].begin(first)
        bridge.run(50)
        transport.actions["/arm/follow"].begin(second)
        bridge.run(1000)
        assert (first.state, second.state) == ("aborted", "succeeded")


@pytest.mark.parametrize(
    ("goal", "word"),
    [
        (make_trajectory(["elbow", "knee"], (1.0, [0.1, 0.1])), "knee"),
        (make_trajectory([], (1.0, [])), "missing"),
        (make_trajectory(["elbow"]), "points"),
        (make_trajectory(["elbow"], (1.0, [0.1, 0.2])), "positions"),
        (make_trajectory(["elbow"], (1.0, [math.nan])), "not numbers"),
        (make_trajectory(["elbow"], (1.0, [0.1]), (0.5, [0.2])), "not after"),
    ],
)
def test_goals_that_cannot_be_followed_are_refused(
    tmp_path: Path, goal: dict[str, object], word: str
) -> None:
    with serve_arm(tmp_path) as (_, transport, _):
        assert word in transport.actions["/arm/follow"].refuse(goal)


def test_a_goal_that_leaves_its_path_is_given_up(tmp_path: Path) -> None:
    with serve_arm(tmp_path) as (bridge, transport, _):
        goal = MemoryGoal(make_trajectory(["elbow"], (0.05, [1.5])))
        goal.goal["path_tolerance"] = [{"name": "elbow", "position": 0.05}]
        transport.actions["/arm/follow"].begin(goal)
        bridge.run(200)
        assert (goal.state, goal.result["error_code"]) == ("aborted", -4)


def test_what_starts_disabled_is_silent_until_it_is_turned_on(tmp_path: Path) -> None:
    with serve_arm(tmp_path, imu="uniform bool ros:topic:starts_enabled = false") as (bridge, transport, _):
        bridge.run(100)
        assert "/arm/camera/imu" not in transport.opened
        assert transport.turn("/arm/camera/imu", True) == ""
        bridge.run(100)
        count = len(transport.sent["/arm/camera/imu"])
        assert count >= 19
        assert transport.turn("/arm/camera/imu", False) == ""
        bridge.run(100)
        assert len(transport.sent["/arm/camera/imu"]) == count
        assert "nobody" in transport.turn("nobody", True)


def test_a_service_switches_what_is_beside_it(tmp_path: Path) -> None:
    with serve_arm(tmp_path, interfaces=SERVICE) as (bridge, transport, _):
        answer = transport.answers["/arm/switch"]({"data": False})
        assert answer["success"]
        before = len(transport.sent["/arm/joint_states"])
        bridge.run(100)
        assert len(transport.sent["/arm/joint_states"]) == before
        assert transport.answers["/arm/switch"]({"data": True})["success"]
        bridge.run(100)
        assert len(transport.sent["/arm/joint_states"]) > before


def test_an_unknown_type_disables_only_itself(tmp_path: Path) -> None:
    topic = make_topic("odd", "odd", "nobody_msgs/msg/Nothing") + make_topic(
        "text", "text", "std_msgs/msg/String"
    )
    with serve_arm(tmp_path, interfaces=topic) as (bridge, transport, reporter):
        bridge.run(20)
        assert {"/arm/odd", "/arm/text"}.isdisjoint(transport.opened)
        assert transport.sent["/arm/joint_states"]
        assert [f.kind for f in reporter if f.kind.startswith("ros-")] == [
            "ros-type-unknown",
            "ros-endpoint-disabled",
        ]


def test_two_controllers_never_command_one_joint(tmp_path: Path) -> None:
    twin = """
        def Scope "second" (prepend apiSchemas = ["RosActionAPI"])
        {
            uniform token ros:action:role = "server"
            uniform string ros:action:name = "second"
            uniform string ros:action:type = "control_msgs/action/FollowJointTrajectory"
        }
"""
    extra = """
    def Scope "twin" (prepend apiSchemas = ["RosControlJointTrajectoryAPI"])
    {
        rel ros:joint_trajectory:server = </arm/Interfaces/second>
        rel ros:joint_trajectory:command_joints = </arm/Joints/hinge>
    }
"""
    goal = make_trajectory(["elbow"], (0.2, [0.1]))
    with serve_arm(tmp_path, interfaces=twin, extra=extra) as (bridge, transport, reporter):
        assert [found.kind for found in reporter if found.kind == "ros-controller-idle"]
        assert "not enabled" in transport.actions["/arm/second"].refuse(goal)
        assert "turn that off first" in transport.turn("twin", True)
        assert transport.turn("trajectory", False) == ""
        assert transport.turn("twin", True) == ""
        assert transport.actions["/arm/second"].refuse(goal) == ""
        bridge.run(10)


@pytest.fixture(scope="module")
def rover() -> Asset:
    return prepare_asset(simwright.load(SAMPLES / "rover" / "model.sdf"), ground=True)


def drive(bridge: RosBridge, transport: MemoryTransport, ahead: float, turn: float, seconds: float) -> None:
    transport.receivers["/cmd_vel"](
        {"linear": {"x": ahead, "y": 0.0, "z": 0.0}, "angular": {"x": 0.0, "y": 0.0, "z": turn}}
    )
    bridge.run(round(seconds / 0.002))


def test_a_command_drives_the_rover_straight_and_round(rover: Asset) -> None:
    with serve(rover) as (bridge, transport, _):
        bridge.run(100)
        start = bridge._moment.find_pose("base_link")
        drive(bridge, transport, 0.5, 0.0, 2.0)
        straight = ~start @ bridge._moment.find_pose("base_link")
        # 0.5 m/s for 2 s, less the ramp of 1.5 m/s^2
        assert straight.p[0] == pytest.approx(1.0 - 0.5**2 / 1.5 / 2, rel=0.03)
        assert abs(straight.p[1]) < 0.01
        odometry = transport.last("/odom")
        assert odometry["pose"]["pose"]["position"]["x"] == pytest.approx(straight.p[0], rel=0.02)
        assert odometry["twist"]["twist"]["linear"]["x"] == pytest.approx(0.5, abs=0.01)
        assert (odometry["header"]["frame_id"], odometry["child_frame_id"]) == ("odom", "base_footprint")
        before = bridge._moment.find_pose("base_link")
        drive(bridge, transport, 0.0, 1.0, 1.0)
        turned = (~before @ bridge._moment.find_pose("base_link")).rpy[2]
        assert turned == pytest.approx(1.0, rel=0.12)


def test_an_inertial_sensor_at_rest_feels_the_ground(rover: Asset) -> None:
    with serve(rover) as (bridge, transport, _):
        bridge.run(250)
        felt = [message["linear_acceleration"] for _, message in transport.sent["/imu"][-20:]]
        assert np.mean([one["z"] for one in felt]) == pytest.approx(9.80665, abs=0.05)
        assert np.mean([one["x"] for one in felt]) == pytest.approx(0.0, abs=0.05)


ROOM = """<sdf version="1.11"><world name="room"><gravity>0 0 0</gravity>
<model name="wall"><static>true</static><pose>2 0 0 0 0 0</pose><link name="panel">
<collision name="c"><geometry><box><size>0.2 8 8</size></box></geometry></collision>
<visual name="v"><geometry><box><size>0.2 8 8</size></box></geometry></visual></link></model>
<model name="robot"><pose>0.4 0 0 0 0 0.3</pose><link name="base"><inertial><mass>1</mass></inertial>
<sensor name="lidar" type="gpu_lidar"><topic>scan</topic><update_rate>10</update_rate><gz_frame_id>base</gz_frame_id>
<lidar><scan><horizontal><samples>5</samples><min_angle>-0.5</min_angle><max_angle>0.5</max_angle></horizontal></scan>
<range><min>0.1</min><max>10</max></range></lidar></sensor></link></model>
<plugin filename="gz-sim-sensors-system" name="gz::sim::systems::Sensors"/></world></sdf>"""


def test_a_lidar_sees_a_wall_where_it_is(tmp_path: Path) -> None:
    file = tmp_path / "room.sdf"
    file.write_text(ROOM)
    with serve(simwright.load(file)) as (bridge, transport, _):
        bridge.run(51)
        scan = transport.last("/scan")
        angles = scan["angle_min"] + scan["angle_increment"] * np.arange(5)
        # the wall begins 1.5 m ahead of the sensor, which is turned by 0.3
        assert scan["ranges"] == pytest.approx(1.5 / np.cos(angles + 0.3), rel=1e-5)


def test_a_lidar_of_two_rows_looks_up_and_down(tmp_path: Path) -> None:
    file = tmp_path / "room.sdf"
    rows = "<vertical><samples>2</samples><min_angle>-0.2</min_angle><max_angle>0.4</max_angle></vertical></scan>"
    file.write_text(ROOM.replace("</scan>", rows))
    asset = simwright.load(file)
    (scan,) = (one for one in asset.interfaces if one.name == "scan")
    asset.interfaces.append(replace(scan, name="cloud", type="sensor_msgs/msg/PointCloud2", path=""))
    with serve(asset) as (bridge, transport, _):
        bridge.run(51)
        cloud = transport.last("/cloud")
    points = np.frombuffer(bytes(cloud["data"]), dtype=np.float32).reshape(-1, 3)
    assert (cloud["height"], cloud["width"]) == (2, 5)
    heights = np.arctan2(points[:, 2], np.hypot(points[:, 0], points[:, 1]))
    assert heights == pytest.approx(np.repeat((-0.2, 0.4), 5), abs=1e-5)


def test_the_registrys_schemas_say_how_a_sensor_measures(tmp_path: Path) -> None:
    """The same room in OpenUSD, where sensors.usda says the beams, and a range finder beside it."""
    room = tmp_path / "room.sdf"
    sonar = """<sensor name="sonar" type="sonar"><topic>echo</topic><update_rate>10</update_rate><sonar>
    <geometry>cone</geometry><min>0.1</min><max>4</max><radius>1</radius></sonar></sensor></link></model>
    <plugin filename="gz-sim-sensors"""
    room.write_text(ROOM.replace('</link></model>\n<plugin filename="gz-sim-sensors', sonar))
    entry = simwright.convert(room, tmp_path / "room")
    # only the neutral layer, as another tool would see it
    (entry.parent / "gazebo.usda").unlink(missing_ok=True)
    asset = simwright.load(entry)
    echo = next(interface for interface in asset.interfaces if interface.name == "scan")
    asset.interfaces.append(replace(echo, name="echo", type="sensor_msgs/msg/Range", at="sonar", path=""))
    with serve(asset) as (bridge, transport, _):
        bridge.run(51)
        scan, found = transport.last("/scan"), transport.last("/echo")
    angles = np.linspace(-0.5, 0.5, 5)
    assert scan["ranges"] == pytest.approx(1.5 / np.cos(angles + 0.3), rel=1e-5)
    assert (scan["range_min"], scan["range_max"]) == pytest.approx((0.1, 10.0))
    assert found["radiation_type"] == 0
    assert found["field_of_view"] == pytest.approx(2 * np.arctan2(1, 4))
    # the closest point of the cone: its edge, turned towards the wall, is closer than its middle
    assert 1.5 <= found["range"] < 1.5 / np.cos(0.3)


def test_options_say_when_to_keep_to_the_clock() -> None:
    assert RosOptions("rclpy").is_paced
    assert not RosOptions(bag="a.mcap").is_paced
    assert not RosOptions("rclpy", realtime=False).is_paced


@pytest.mark.parametrize(
    ("old", "new", "values"),
    [("aim", "set_position", (0.2, 0.1)), ("drive", "set_velocity", (0.3,)), ("push", "set_effort", (0.4,))],
)
def test_old_names_of_targets_still_work_and_say_so(
    tmp_path: Path, old: str, new: str, values: tuple[float, ...]
) -> None:
    """Controllers of other packages may call them."""
    asset = simwright.load(write_stage(tmp_path, make_arm()))
    with load_engine("mujoco").open(asset, Settings(), Reporter()) as simulation:
        freedom = next(f for f in simulation.layout.freedoms if f.motion is Motion.HINGE)
        now, before = (JointTargets(simulation, frozenset()) for _ in range(2))
        getattr(now, new)(freedom, *values)
        with pytest.warns(DeprecationWarning, match=new):
            getattr(before, old)(freedom, *values)
    for name in ("positions", "velocities", "efforts"):
        assert getattr(before, name).tolist() == getattr(now, name).tolist()
    assert before.efforts.any() or before.velocities.any()


def test_servos_that_are_added_to_wheels_carry_their_share_of_the_robot(rover: Asset) -> None:
    bridged = BridgedSource(AssetSource(rover, rover.name), "mujoco", Settings(dt=0.002), Reporter())
    mass = sum(inertial.mass for inertial in body_inertials(rover).values() if inertial is not None)
    wheels = [joint.dofs[0].drive for joint in bridged.asset.joints if joint.name in bridged.added]
    assert len(wheels) == 2
    for drive in wheels:
        assert drive is not None
        # critical damping says what the servo was made for; the radius is 0.09 m
        assert drive.damping**2 / (4.0 * drive.stiffness) > mass * 0.09**2 / 2
