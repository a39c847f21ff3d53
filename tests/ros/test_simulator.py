"""The simulator's own services, asked in memory: spawn, move, query, step, reset, delete, load."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from memory import MemoryGoal, MemoryTransport, make_trajectory

import simwright
from simwright.app.bridging import BridgedSource, RosOptions
from simwright.app.run_sources import AssetSource
from simwright.core.diag import Reporter
from simwright.engines.protocol import Settings
from simwright.engines.table import load_engine
from simwright.ros.simulator import FEATURES, RosSimulator
from simwright.ros.simulator_answers import FAILED, INCORRECT_STATE, NOT_FOUND, OK
from simwright.ros.transports.transport import LateAnswer
from stages import make_arm, write_stage

BALL = """<sdf version="1.11"><model name="ball"><link name="body"><pose>0 0 0.1 0 0 0</pose>
<inertial><mass>1</mass></inertial>
<collision name="c"><geometry><sphere><radius>0.1</radius></sphere></geometry></collision></link></model></sdf>"""
TABLE = """<sdf version="1.11"><model name="table"><static>true</static><link name="top">
<collision name="c"><geometry><box><size>1 2 0.1</size></box></geometry></collision></link></model></sdf>"""
NOTHING: dict[str, Any] = {
    "filter": "", "categories": [], "tags": {"tags": [], "filter_mode": 0}, "bounds": {"type": 0, "points": []},
}  # fmt: skip


class Client:
    """Calls services by name, with what a message has unless it is said."""

    def __init__(self, simulator: RosSimulator, transport: MemoryTransport) -> None:
        self.simulator, self._transport = simulator, transport

    def call(self, service: str, code: int = OK, **request: Any) -> Any:
        answer = self._transport.answers[f"/{service}"](request)
        assert not isinstance(answer, LateAnswer)
        if service != "get_simulator_features":
            assert answer["result"]["result"] == code, answer["result"]
        return answer

    def spawn(self, source: str | Path, name: str = "", code: int = OK, **more: Any) -> Any:
        return self.call("spawn_entity", code, **make_spawn(source, name, **more))

    def find(self, name: str) -> tuple[list[float], list[float]]:
        state = self.call("get_entity_state", entity=name)["state"]
        return list(state["pose"]["position"].values()), list(state["twist"]["linear"].values())

    def list(self, **filters: Any) -> list[str]:
        found: list[str] = self.call("get_entities", filters=NOTHING | filters)["entities"]
        return found


def make_spawn(source: str | Path, name: str = "", **more: Any) -> dict[str, Any]:
    is_text = str(source).lstrip().startswith("<")
    resource = {"uri": "" if is_text else str(source), "resource_string": str(source) if is_text else ""}
    at, turn = more.pop("at", (0.0, 0.0, 0.0)), more.pop("turn", (0.0, 0.0, 0.0, 0.0))
    stamped = {"header": {"frame_id": more.pop("frame", "")}, "pose": make_pose(at, turn)}
    return {
        "name": name, "allow_renaming": False, "entity_resource": resource, "entity_namespace": "",
        "initial_pose": stamped, **more,
    }  # fmt: skip


def make_pose(at: Any, turn: Any = (0.0, 0.0, 0.0, 0.0)) -> dict[str, Any]:
    return {
        "position": dict(zip("xyz", at, strict=True)),
        "orientation": dict(zip("xyzw", turn, strict=True)),
    }


@pytest.fixture
def arm(tmp_path: Path) -> Path:
    return write_stage(tmp_path, make_arm())


@contextlib.contextmanager
def serve(file: Path) -> Iterator[tuple[Client, MemoryTransport, RosSimulator]]:
    reporter, transport = Reporter(), MemoryTransport()
    settings = Settings(dt=0.002)
    asset = simwright.load(file)
    bridged = BridgedSource(AssetSource(asset, asset.name), "mujoco", settings, reporter)
    with contextlib.ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        patch.setattr("simwright.ros.transports.table.open_transport", lambda *_: transport)
        simulation = stack.enter_context(load_engine("mujoco").open(bridged.asset, settings, reporter))
        simulator, _ = bridged.connect(simulation, RosOptions("memory", realtime=False), reporter, stack)
        assert isinstance(simulator, RosSimulator)
        yield Client(simulator, transport), transport, simulator


def test_what_is_claimed_is_what_is_tested(arm: Path) -> None:
    with serve(arm) as (client, transport, _):
        told = client.call("get_simulator_features")["features"]
        assert told["features"] == sorted(FEATURES.values())
        assert {"urdf", "sdf", "mjcf", "usd"} <= set(told["spawn_formats"])
        tested = set("".join(Path(__file__).read_text().split("# tests the claims ")[1:]).split())
        for name in FEATURES:
            assert name in tested, f"{name} is claimed without a test"
        assert "/simulate_steps" in transport.actions


# tests the claims SPAWNING DELETING SPAWNING_RESOURCE_STRING ENTITY_STATE_GETTING


def test_what_is_spawned_falls_beside_what_runs_and_is_deleted(arm: Path) -> None:
    with serve(arm) as (client, transport, simulator):
        goal = MemoryGoal(make_trajectory(["elbow"], (1.0, [0.5])))
        transport.actions["/arm/follow"].begin(goal)
        simulator.run(200)
        half = transport.last("/arm/joint_states")["position"][0]
        assert half > 0.05
        assert client.spawn(BALL, "ball", at=(5.0, 0.0, 3.0))["entity_name"] == "ball"
        assert client.list() == ["arm", "ball"]
        assert client.find("ball")[0] == pytest.approx([5.0, 0.0, 3.1])
        simulator.run(100)
        # the arm goes on as if nothing had happened
        assert transport.last("/arm/joint_states")["position"][0] > half
        place, rate = client.find("ball")
        assert place[2] == pytest.approx(3.1 - 9.81 * 0.2**2 / 2, rel=0.02)
        assert rate[2] == pytest.approx(-9.81 * 0.2, rel=0.01)
        simulator.run(500)
        assert goal.state == "succeeded"
        client.call("delete_entity", entity="ball")
        assert client.list() == ["arm"]
        client.call("get_entity_state", NOT_FOUND, entity="ball")
        client.call("delete_entity", NOT_FOUND, entity="ball")
        simulator.run(10)
        assert transport.last("/arm/joint_states")["position"][0] == pytest.approx(0.5, abs=0.02)


# tests the claims SPAWNING_ENTITIES


def test_a_robot_is_spawned_with_a_namespace_and_served(arm: Path) -> None:
    with serve(arm) as (client, transport, simulator):
        refused = client.spawn(arm, "twin", 105)
        assert "namespace" in refused["result"]["error_message"]
        both = [make_spawn(arm, "left", entity_namespace="left", at=(0.0, 2.0, 0.0)), make_spawn(arm, "arm")]
        answer = client.call("spawn_entities", 150, spawn_requests=both)
        assert [one["result"]["result"] for one in answer["results"]] == [OK, 101]
        goal = MemoryGoal(make_trajectory(["elbow"], (0.5, [-0.4])))
        transport.actions["/left/arm/follow"].begin(goal)
        simulator.run(600)
        assert goal.state == "succeeded"
        assert transport.last("/left/arm/joint_states")["position"][0] == pytest.approx(-0.4, abs=0.02)
        assert transport.last("/arm/joint_states")["position"][0] == pytest.approx(0.0, abs=0.02)
        assert transport.last("/left/arm/joint_states")["header"]["stamp"]["sec"] == 1
        assert len(transport.sent["/clock"]) == 121
        (edge,) = [
            t for t in transport.last("/left/tf_static")["transforms"] if t["header"]["frame_id"] == "world"
        ]
        assert edge["transform"]["translation"]["y"] == pytest.approx(2.0)
        client.call("delete_entity", entity="left")
        assert "/left/arm/follow" not in transport.actions
        renamed = client.spawn(arm, "arm", allow_renaming=True, entity_namespace="/right")
        assert renamed["entity_name"] not in ("arm", "")


@pytest.mark.parametrize(
    ("request_", "code", "word"),
    [
        ({"source": "", "name": "a"}, 104, "neither"),
        ({"source": "/etc/passwd", "name": "a"}, FAILED, "outside"),
        ({"source": "http://host/a.sdf", "name": "a"}, 103, "not a file://"),
        ({"source": "<html></html>", "name": "a"}, 103, "not a URDF"),
        ({"source": "<robot><link></robot>", "name": "a"}, 106, ""),
        ({"source": "package://nowhere/a.urdf", "name": "a"}, NOT_FOUND, "nowhere"),
        ({"source": BALL, "name": "a b"}, 102, "not a name"),
        ({"source": BALL, "name": "arm"}, 101, "already"),
        ({"source": BALL, "name": "a", "entity_namespace": "9 lives"}, 105, "namespace"),
        ({"source": BALL, "name": "a", "at": (math.nan, 0, 0)}, 109, "place"),
        ({"source": BALL, "name": "a", "turn": (0, 0, 0, 2)}, 109, "quaternion"),
        ({"source": BALL, "name": "a", "frame": "moon"}, FAILED, "moon"),
        ({"source": BALL.replace("sphere", "mesh").replace("<radius>0.1</radius>", "<uri>none.obj</uri>"),
          "name": "a"}, 107, "none.obj"),
    ],
)  # fmt: skip
def test_spawning_what_cannot_be_is_answered_with_the_reason(
    arm: Path, request_: dict[str, Any], code: int, word: str
) -> None:
    with serve(arm) as (client, _, simulator):
        answer = client.spawn(code=code, **request_)
        assert word in answer["result"]["error_message"]
        assert client.list() == ["arm"]
        simulator.run(3)


# tests the claims ENTITY_STATE_SETTING


def test_entities_are_moved_and_pushed(arm: Path) -> None:
    state = {"header": {"frame_id": ""}, "pose": make_pose((1.0, 2.0, 3.0)), "twist": None}
    state["twist"] = {"linear": {"x": 0.5, "y": 0.0, "z": 0.0}, "angular": {"x": 0.0, "y": 0.0, "z": 0.0}}
    request = {"state": state, "set_pose": True, "set_twist": True, "set_acceleration": False}
    with serve(arm) as (client, transport, simulator):
        client.spawn(BALL, "ball", at=(5.0, 0.0, 3.0))
        client.spawn(TABLE, "table", at=(9.0, 0.0, 0.0))
        client.call("set_entity_state", entity="ball", **request)
        assert client.find("ball") == (pytest.approx([1.0, 2.0, 3.0]), pytest.approx([0.5, 0.0, 0.0]))
        simulator.run(50)
        assert client.find("ball")[0][0] == pytest.approx(1.05)
        # what is held gets another place, but no velocity
        client.call("set_entity_state", FAILED, entity="table", **request)
        client.call("set_entity_state", entity="table", **request
                    | {"set_twist": False, "state": state | {"pose": make_pose((1.0, 2.0, -3.0))}})  # fmt: skip
        simulator.run(1)
        assert client.find("table")[0] == pytest.approx([1.0, 2.0, -3.0])
        assert client.find("ball")[0][0] == pytest.approx(1.051)
        client.call("set_entity_state", 101, entity="ball",
                    **request | {"state": state | {"pose": make_pose((math.inf, 0, 0))}})  # fmt: skip
        # in the frame of another entity
        client.call("set_entity_state", entity="arm",
                    **request | {"state": state | {"header": {"frame_id": "table"}}, "set_twist": False})  # fmt: skip
        simulator.run(1)
        assert client.find("arm")[0] == pytest.approx([2.0, 4.0, 0.0])
        (edge,) = [t for t in transport.last("/arm/tf_static")["transforms"] if t["child_frame_id"] == "base"]
        assert edge["transform"]["translation"]["y"] == pytest.approx(4.0)


# tests the claims ENTITY_TAGS ENTITY_CATEGORIES ENTITY_INFO_GETTING ENTITY_INFO_SETTING ENTITY_BOUNDS ENTITY_BOUNDS_BOX


def test_entities_are_found_by_name_category_tags_and_place(arm: Path) -> None:
    with serve(arm) as (client, _, _):
        client.spawn(BALL, "ball", at=(5.0, 0.0, 3.0))
        client.spawn(TABLE, "table", at=(9.0, 0.0, 0.0))
        kinds = {
            name: client.call("get_entity_info", entity=name)["info"]["category"]["category"]
            for name in client.list()
        }
        assert kinds == {"arm": 1, "ball": 4, "table": 5}
        info = {"category": {"category": 2}, "description": "a visitor", "tags": ["round", "red"]}
        client.call("set_entity_info", entity="ball", info=info)
        assert client.call("get_entity_info", entity="ball")["info"] == info
        assert client.list(filter="^b.*l$") == ["ball"]
        assert client.list(categories=[{"category": 5}, {"category": 2}]) == ["ball", "table"]
        assert client.list(tags={"tags": ["red", "blue"], "filter_mode": 0}) == ["ball"]
        assert client.list(tags={"tags": ["red", "blue"], "filter_mode": 1}) == []
        corners = [{"x": 8.0, "y": -3.0, "z": -1.0}, {"x": 10.0, "y": 3.0, "z": 1.0}]
        assert client.list(bounds={"type": 1, "points": corners}) == ["table"]
        sphere = [{"x": 5.0, "y": 0.0, "z": 4.0}, {"x": 0.85, "y": 0.0, "z": 0.0}]
        assert client.list(bounds={"type": 3, "points": sphere}) == ["ball"]
        sphere[1]["x"] = 0.7
        assert client.list(bounds={"type": 3, "points": sphere}) == []
        client.call("get_entities", 0, filters=NOTHING | {"bounds": {"type": 2, "points": []}})
        for costly in ("(a+)+$", "a" * 300, "a*b*c*d*", "["):
            client.call("get_entities", FAILED, filters=NOTHING | {"filter": costly})
        states = client.call("get_entities_states", filters=NOTHING | {"filter": "ball|table"})
        assert states["entities"] == ["ball", "table"]
        assert states["states"][1]["pose"]["position"]["x"] == pytest.approx(9.0)
        bounds = client.call("get_entity_bounds", entity="table")["bounds"]
        assert bounds["type"] == 1
        assert list(bounds["points"][0].values()) == pytest.approx([0.5, 1.0, 0.05])
        assert list(bounds["points"][1].values()) == pytest.approx([-0.5, -1.0, -0.05])


# tests the claims STEP_SIMULATION_SINGLE STEP_SIMULATION_MULTIPLE STEP_SIMULATION_ACTION
# tests the claims SIMULATION_STATE_GETTING SIMULATION_STATE_SETTING SIMULATION_STATE_PAUSE


def test_time_is_stopped_and_stepped(arm: Path) -> None:
    with serve(arm) as (client, transport, simulator):
        simulator.run(5)
        client.call("step_simulation", FAILED, steps=1)
        client.call("set_simulation_state", state={"state": 2})
        client.call("set_simulation_state", 101, state={"state": 2})
        assert client.call("get_simulation_state")["state"]["state"] == 2
        assert not simulator.has_step_to_do()
        answer = transport.answers["/step_simulation"]({"steps": 100})
        assert isinstance(answer, LateAnswer)
        client.call("step_simulation", FAILED, steps=1)
        assert simulator.run(100) == 100
        assert answer.message["result"]["result"] == OK
        assert simulator.time == 105 * 2_000_000
        assert not simulator.has_step_to_do()
        goal = MemoryGoal({"steps": 10})
        transport.actions["/simulate_steps"].begin(goal)
        simulator.run(10)
        assert goal.state == "succeeded"
        assert goal.feedback[-1] == {"completed_steps": 10, "remaining_steps": 0}
        assert len(goal.feedback) == 10
        goal = MemoryGoal({"steps": 0})
        transport.actions["/simulate_steps"].begin(goal)
        assert goal.state == "aborted"
        assert goal.result["result"]["error_message"] == "no steps to do"
        assert not simulator.has_step_to_do()
        goal = MemoryGoal({"steps": 2**63})
        transport.actions["/simulate_steps"].begin(goal)
        simulator.run(3)
        goal.wants_end = True
        assert not simulator.has_step_to_do()
        assert goal.state == "canceled"
        client.call("set_simulation_state", state={"state": 1})
        simulator.run(1)
        client.call("set_simulation_state", 103, state={"state": 4})
        client.call("set_simulation_state", state={"state": 3})
        assert simulator.is_stopping


# tests the claims SIMULATION_RESET SIMULATION_RESET_TIME SIMULATION_RESET_STATE SIMULATION_RESET_SPAWNED


def test_each_scope_of_a_reset_does_what_it_says(arm: Path) -> None:
    with serve(arm) as (client, transport, simulator):
        goal = MemoryGoal(make_trajectory(["elbow"], (0.2, [0.5])))
        transport.actions["/arm/follow"].begin(goal)
        simulator.run(400)
        assert transport.last("/arm/joint_states")["position"][0] == pytest.approx(0.5, abs=0.02)
        client.spawn(BALL, "ball", at=(5.0, 0.0, 3.0))
        simulator.run(100)
        fallen = client.find("ball")[0][2]
        client.call("reset_simulation", scope=1)
        assert simulator.time == 0
        assert client.find("ball")[0][2] == fallen
        simulator.run(10)
        assert transport.last("/clock")["clock"] == {"sec": 0, "nanosec": 20_000_000}
        assert transport.last("/arm/joint_states")["position"][0] == pytest.approx(0.5, abs=0.02)
        client.call("reset_simulation", scope=2)
        assert client.find("ball")[0][2] == pytest.approx(3.1)
        assert simulator.time == 20_000_000
        simulator.run(10)
        assert transport.last("/arm/joint_states")["position"][0] == pytest.approx(0.0, abs=0.01)
        client.call("reset_simulation", scope=4)
        assert client.list() == ["arm"]
        client.spawn(BALL, "ball")
        client.call("delete_entity", entity="arm")
        assert client.list() == ["ball"]
        assert "/arm/follow" not in transport.actions
        client.call("reset_simulation", scope=0)
        assert client.list() == ["arm"]
        assert simulator.time == 0
        simulator.run(10)
        assert "/arm/follow" in transport.actions
        client.call("set_simulation_state", state={"state": 0})
        assert not simulator.has_step_to_do()


# tests the claims WORLD_LOADING WORLD_RESOURCE_STRING WORLD_UNLOADING WORLD_INFO_GETTING AVAILABLE_WORLDS SPAWNABLES
# tests the claims NAMED_POSES

ROOM = """<sdf version="1.11"><world name="room"><frame name="door"><pose>3 0 0 0 0 0</pose></frame>
<model name="ball"><pose>1 0 2 0 0 0</pose><link name="body"><inertial><mass>1</mass></inertial>
<collision name="c"><geometry><sphere><radius>0.1</radius></sphere></geometry></collision></link></model>
<model name="crate"><pose>4 0 2 0 0 0</pose><link name="body"><inertial><mass>1</mass></inertial>
<collision name="c"><geometry><box><size>1 1 1</size></box></geometry></collision></link></model></world></sdf>"""


def test_worlds_are_listed_loaded_and_unloaded(arm: Path) -> None:
    flags = {"fail_on_unsupported_element": False, "ignore_missing_or_unsupported_assets": False}
    available = {"additional_sources": [], "filter": {"tags": [], "filter_mode": 0}}
    available |= {"offline_only": True, "continue_on_error": True}
    room = arm.parent / "room.sdf"
    room.write_text(ROOM)
    with serve(arm) as (client, transport, simulator):
        assert client.call("get_current_world")["world"]["world_resource"]["uri"] == arm.resolve().as_uri()
        worlds = client.call("get_available_worlds", **available)["worlds"]
        assert room.resolve().as_uri() in [world["world_resource"]["uri"] for world in worlds]
        answer = client.call("get_spawnables", sources=["/nowhere"])
        assert room.resolve().as_uri() in [one["entity_resource"]["uri"] for one in answer["spawnables"]]
        assert "nowhere" in answer["result"]["error_message"]
        assert client.call("get_named_poses", tags={"tags": []})["poses"] == []
        simulator.run(10)
        resource = {"uri": room.resolve().as_uri(), "resource_string": ""}
        world = client.call("load_world", world_resource=resource, **flags)["world"]
        assert world["name"] == "room"
        assert client.call("get_simulation_state")["state"]["state"] == 0
        assert "/arm/follow" not in transport.actions
        (pose,) = client.call("get_named_poses", tags={"tags": []})["poses"]
        assert (pose["name"], pose["pose"]["position"]["x"]) == ("door", 3.0)
        assert sorted(client.list()) == ["ball", "crate"]
        client.call("set_simulation_state", state={"state": 1})
        simulator.run(100)
        assert client.find("ball")[0][2] == pytest.approx(2 - 9.81 * 0.2**2 / 2, rel=0.02)
        client.call("delete_entity", entity="crate")
        simulator.run(100)
        assert client.find("ball")[0][2] == pytest.approx(2 - 9.81 * 0.4**2 / 2, rel=0.02)
        assert client.list() == ["ball"]
        client.call("unload_world")
        client.call("unload_world", 101)
        client.call("get_current_world", 101)
        assert client.call("get_simulation_state")["state"]["state"] == 4
        client.call("set_simulation_state", 103, state={"state": 1})
        client.call("reset_simulation", INCORRECT_STATE, scope=0)
        client.spawn(BALL, "ball", INCORRECT_STATE)
        assert not simulator.has_step_to_do()
        client.call("load_world", 103, world_resource={"uri": "", "resource_string": "<sdf><world"}, **flags)
        client.call("load_world", world_resource={"uri": "", "resource_string": ROOM}, **flags)
        client.call("set_simulation_state", state={"state": 1})
        simulator.run(3)
        assert simulator.time == 6_000_000
