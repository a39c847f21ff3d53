"""Single endpoints against closed forms: pictures, rays, contacts, efforts, twists, grippers, services, domains."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from memory import MemoryGoal, MemoryTransport, make_trajectory
from test_bridge import SAMPLES, serve, serve_arm

import simwright
from simwright.core.diag import Reporter
from simwright.engines.mujoco.engine import MujocoSimulation
from simwright.model.ros import Interface, InterfaceKind
from simwright.ros.bridge import RosBridge
from simwright.ros.following import JointPath
from stages import TRIGGER, write_room

WALL = 1.9
"""How far the wall is from the probe [m]."""
Served = tuple[RosBridge, MemoryTransport, Reporter]


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Half a second of the room; nobody changes it."""
    with serve(simwright.load(write_room(tmp_path_factory.mktemp("room")))) as served:
        served[0].run(250)
        yield served


def test_depth_pictures_measure_the_wall(room: Served) -> None:
    _, transport, _ = room
    depth, info = transport.last("/probe/depth"), transport.last("/probe/camera_info")
    values = np.frombuffer(bytes(depth["data"]), dtype=np.float32).reshape(depth["height"], depth["width"])
    assert (depth["encoding"], depth["step"]) == ("32FC1", 4 * depth["width"])
    middle = values[depth["height"] // 2 - 20 : depth["height"] // 2 + 20]
    # along the axis of the camera, so all of the wall is equally far
    assert middle == pytest.approx(WALL, rel=1e-3)
    assert depth["header"]["frame_id"] == info["header"]["frame_id"] == "camera_optical"
    # the floor, 1 m below: a row below the middle sees it at f * 1 m / row
    focal, centre = info["k"][4], info["k"][5]
    row = depth["height"] - 10
    assert values[row, depth["width"] // 2] == pytest.approx(focal / (row - centre), rel=0.02)
    assert info["k"][0] == pytest.approx(info["width"] * 20.0 / 32.0, rel=1e-3)


def test_pictures_have_the_size_of_their_camera(room: Served) -> None:
    _, transport, _ = room
    picture, info = transport.last("/probe/image"), transport.last("/probe/camera_info")
    assert (picture["width"], picture["height"]) == (info["width"], info["height"])
    assert (picture["encoding"], picture["step"]) == ("rgb8", 3 * picture["width"])
    values = np.asarray(picture["data"]).reshape(picture["height"], picture["width"], 3)
    # wall above, floor below: a picture is no single colour
    assert values.std() > 1.0
    assert len(transport.sent["/probe/image"]) == 3


def test_rays_measure_the_wall(room: Served) -> None:
    _, transport, reporter = room
    found = transport.last("/probe/range")
    assert found["range"] == pytest.approx(WALL, rel=1e-6)
    assert found["field_of_view"] == 0.0
    cloud = transport.last("/probe/points")
    points = np.frombuffer(bytes(cloud["data"]), dtype=np.float32).reshape(-1, 3)
    assert (cloud["width"] * cloud["height"], cloud["point_step"]) == (len(points), 12)
    ahead = points[np.isfinite(points).all(axis=1) & (np.abs(points[:, 1]) < 3.0) & (points[:, 0] > 0.0)]
    assert len(ahead) > 50
    assert ahead[:, 0] == pytest.approx(WALL, rel=1e-5)
    assert ahead[:, 2] == pytest.approx(0.0, abs=1e-6)
    # nothing in the file says how they measure
    assert sum(found.kind == "ros-sensor-assumed" for found in reporter) == 2


def test_a_contact_is_told_when_the_ball_is_down(room: Served) -> None:
    _, transport, _ = room
    rows = transport.sent["/ball/contact"]
    # half a metre: 0.32 s
    first = next(time for time, message in rows if message["data"])
    assert first * 1e-9 == pytest.approx(np.sqrt(2 * 0.5 / 9.81), abs=0.03)


def test_a_body_follows_a_twist_in_a_domain_of_its_own(tmp_path: Path) -> None:
    with serve(simwright.load(write_room(tmp_path))) as (bridge, transport, _):
        assert transport.opened["/drone/odom"].domain_id == transport.opened["/drone/cmd_vel"].domain_id == 5
        assert transport.opened["/probe/range"].domain_id is None
        ahead, turn = {"x": 0.5, "y": 0.0, "z": 0.0}, {"x": 0.0, "y": 0.0, "z": 0.5}
        transport.receivers["/drone/cmd_vel"]({"linear": ahead, "angular": turn})
        bridge.run(500)
        moved = transport.last("/drone/odom")
        place = moved["pose"]["pose"]["position"]
        # an arc of radius 1 m, for 1 s
        assert (place["x"] + 3.0, place["y"]) == pytest.approx((np.sin(0.5), 1.0 - np.cos(0.5)), abs=0.005)
        assert moved["twist"]["twist"]["linear"]["x"] == pytest.approx(0.5, abs=0.01)
        assert 2.0 * np.arctan2(
            moved["pose"]["pose"]["orientation"]["z"], moved["pose"]["pose"]["orientation"]["w"]
        ) == pytest.approx(0.5, abs=0.005)


def test_efforts_of_joints_are_those_of_their_drives(tmp_path: Path) -> None:
    with serve_arm(tmp_path) as (bridge, transport, _):
        transport.actions["/arm/follow"].begin(MemoryGoal(make_trajectory(["elbow"], (0.3, [0.8]))))
        for _ in range(5):
            bridge.run(10)
            state = transport.last("/arm/joint_states")
            drive = bridge._simulation.layout.freedoms[0].dof.drive
            aimed, rate = bridge.targets.positions[0], bridge.targets.velocities[0]
            wanted = drive.stiffness * (aimed - state["position"][0]) + drive.damping * (
                rate - state["velocity"][0]
            )
            assert state["effort"][0] == pytest.approx(wanted, rel=1e-6, abs=1e-6)


def test_a_gripper_goes_where_it_is_told() -> None:
    with serve(simwright.load(SAMPLES / "arm" / "urdf" / "arm.urdf")) as (bridge, transport, _):
        action = transport.actions["/gripper_controller/gripper_cmd"]
        goal = MemoryGoal({"command": {"position": 0.03, "max_effort": 0.0}})
        assert action.refuse(goal.goal) == ""
        action.begin(goal)
        bridge.run(500)
        assert (goal.state, goal.result["reached_goal"]) == ("succeeded", True)
        assert goal.result["position"] == pytest.approx(0.03, abs=0.01)
        assert goal.feedback


def test_a_trigger_lets_controllers_begin_anew(tmp_path: Path) -> None:
    with serve_arm(tmp_path, interfaces=TRIGGER) as (bridge, transport, _):
        goal = MemoryGoal(make_trajectory(["elbow"], (4.0, [1.2])))
        transport.actions["/arm/follow"].begin(goal)
        bridge.run(100)
        assert transport.answers["/arm/begin"]({}) == {
            "success": True,
            "message": "the trajectory is forgotten",
        }
        assert goal.state == "aborted"
        assert not transport.answers["/arm/begin"]({})["success"]


class _Silent(MujocoSimulation):
    """An engine that tells poses and no more."""

    body_velocities = contacts = actuator_efforts = lambda self, world=0: None
    cast_rays = render = lambda self, *given, **more: None


def test_engines_that_tell_less_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asset = simwright.load(SAMPLES / "rover" / "model.sdf")
    asset.interfaces.append(
        Interface(InterfaceKind.TOPIC, "publisher", "contact", "std_msgs/msg/Bool", at="base_link")
    )

    def run() -> tuple[MemoryTransport, list[str]]:
        with serve(asset) as (bridge, transport, reporter):
            # it falls, and turns by its wheels
            bridge.run(100)
            return transport, [f.message for f in reporter if f.kind == "ros-endpoint-disabled"]

    full, _ = run()
    monkeypatch.setattr("simwright.engines.mujoco.engine.MujocoSimulation", _Silent)
    less, told = run()
    assert "/contact" in full.sent
    assert {"/scan", "/scan/points", "/contact"}.isdisjoint(less.opened)
    for name in ("/scan'", "/scan/points'", "/contact'"):
        assert any(name in message for message in told), name
    # inertial data is computed from the poses, with the noise that the sensor has
    assert len(less.sent["/imu"]) >= len(full.sent["/imu"]) - 1
    mine, theirs = (
        np.mean(
            [[m["linear_acceleration"][axis] for axis in "xyz"] for _, m in found.sent["/imu"][1:]], axis=0
        )
        for found in (less, full)
    )
    assert mine == pytest.approx(theirs, abs=0.05)
    assert "effort" not in less.last("/joint_states")
    assert "effort" in full.last("/joint_states")


@pytest.mark.parametrize("known", [0, 1, 2])
def test_a_path_meets_what_its_points_say(known: int) -> None:
    """A polynomial of the degree that its points determine comes back: a line, a cubic, a quintic."""
    law = np.polynomial.Polynomial((0.3, -0.2, 0.5, 0.4, -0.3, 0.1)[: 2 * known + 2])
    times = np.array((0.0, 0.5, 2.0))
    given = [law.deriv(order)(times)[:, None] if order <= known else None for order in (1, 2)]
    path = JointPath(("j",), times, law(times)[:, None], *given)
    for time in np.linspace(0.01, 1.99, 25):
        place, rate = path.sample(float(time))
        assert place == pytest.approx([law(time)], abs=1e-12)
        assert rate == pytest.approx([law.deriv()(time)], abs=1e-12)
