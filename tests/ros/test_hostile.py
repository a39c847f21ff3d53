"""Assets and peers that mean harm, or are merely large: clear messages, nothing hangs."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from memory import MemoryGoal, MemoryTransport, make_trajectory

import simwright
from simwright.core.diag import Reporter
from simwright.engines.protocol import Settings
from simwright.engines.table import load_engine
from simwright.model.asset import Asset
from simwright.model.ros import Interface, InterfaceKind, RosContext
from simwright.ros.bridge import RosBridge
from simwright.ros.checking import check_graph
from simwright.ros.graph import build_graph
from simwright.ros.transports.transport import ArrivalQueue
from stages import make_arm, write_stage

STATE = "sensor_msgs/msg/JointState"
NAMES = (
    "a b", "\x1b[31mred", "line\nbreak", "..", "a//b", "*", "**", "a/$*/b", "7up", "", "~/own", "a" * 300, "té",
    "\u202eevil", "a?b", "{x}", "%s", "a/", "../../etc/passwd", "@ros2_lv/0",
)  # fmt: skip


def load_arm(folder: Path) -> Asset:
    return simwright.load(write_stage(folder, make_arm()))


def add_topics(asset: Asset, names: list[str]) -> Asset:
    asset.interfaces += [
        Interface(InterfaceKind.TOPIC, "publisher", name, STATE, rate=1.0, path=f"/arm/Interfaces/t{number}")
        for number, name in enumerate(names)
    ]
    return asset


def test_ten_thousand_topics_are_built_checked_and_served(tmp_path: Path) -> None:
    asset = add_topics(load_arm(tmp_path), [f"t{number}" for number in range(10_000)])
    reporter, transport = Reporter(), MemoryTransport()
    before = time.process_time()
    graph = build_graph(asset, reporter)
    check_graph(graph, reporter)
    assert len(graph.endpoints) >= 10_000
    with (
        load_engine("mujoco").open(asset, Settings(dt=0.002), Reporter()) as simulation,
        RosBridge(graph, simulation, [transport], reporter) as bridge,
    ):
        bridge.run(20)
    assert len(transport.sent["/arm/t9999"]) == 1
    # some seconds at most on any machine: nothing looks at every pair
    assert time.process_time() - before < 10.0


def test_names_that_ros_does_not_take_disable_only_themselves(tmp_path: Path) -> None:
    asset = add_topics(load_arm(tmp_path), [*NAMES, "fine"])
    reporter = Reporter()
    graph = build_graph(asset, reporter)
    told = [found for found in reporter if found.kind == "ros-name-invalid"]
    assert len(told) == len(NAMES)
    assert all(found.message.isprintable() for found in told)
    served = {endpoint.name for endpoint in graph.endpoints if not endpoint.problem}
    assert "/arm/fine" in served
    assert "/arm/joint_states" in served
    assert len([endpoint for endpoint in graph.endpoints if endpoint.problem]) == len(NAMES)


def test_namespaces_as_deep_as_they_can_be_and_frames_in_a_circle(tmp_path: Path) -> None:
    asset = load_arm(tmp_path)
    asset.contexts = [RosContext(f"n{number}", path="/arm" + "/x" * number) for number in range(400)]
    asset.interfaces[0].path = "/arm" + "/x" * 400
    reporter = Reporter()
    assert any(endpoint.problem for endpoint in build_graph(asset, reporter).endpoints)
    # two robots, each below the other
    parent = 'uniform string ros:context:parent_frame = "{}"'
    arms = [make_arm(a, "", context=parent.format(b)) for a, b in (("left", "right"), ("right", "left"))]
    asset = simwright.load(write_stage(tmp_path, *arms, root="left"))
    graph = build_graph(asset, reporter)
    check_graph(graph, reporter)
    (told,) = [found for found in reporter if found.kind == "ros-frame-cycle"]
    assert "left -> right" in told.message or "right -> left" in told.message


def test_a_flood_costs_the_oldest_and_ends(tmp_path: Path) -> None:
    arrived, seen = ArrivalQueue(), []
    for number in range(50_000):
        arrived.put(lambda number=number: seen.append(number))  # type: ignore[misc] # a number of its own

    # one that floods while it is worked on does not hold the simulation up
    def flood() -> None:
        for _ in range(5000):
            arrived.put(lambda: seen.append(-1))

    arrived.put(flood)
    arrived.work()
    assert len(seen) == 9_999
    assert seen[-1] == 49_999
    assert -1 not in seen


@pytest.mark.parametrize("ending", ["cancelled", "nothing"])
def test_a_peer_that_vanishes_in_mid_goal_holds_nothing_up(tmp_path: Path, ending: str) -> None:
    class Gone(MemoryGoal):
        def tell(self, feedback: dict[str, object]) -> None:
            raise_nothing(feedback)

    def raise_nothing(_: object) -> None:
        """Whoever listened is away."""

    asset = load_arm(tmp_path)
    transport = MemoryTransport()
    with (
        load_engine("mujoco").open(asset, Settings(dt=0.002), Reporter()) as simulation,
        RosBridge(build_graph(asset), simulation, [transport], Reporter()) as bridge,
    ):
        action = transport.actions["/arm/follow"]
        lost, next_one = (
            Gone(make_trajectory(["elbow"], (9.0, [1.0]))),
            MemoryGoal(make_trajectory(["elbow"], (0.3, [-0.2]))),
        )
        action.begin(lost)
        bridge.run(50)
        lost.wants_end = ending == "cancelled"
        bridge.run(10)
        action.begin(next_one)
        bridge.run(600)
        assert next_one.state == "succeeded"
        assert lost.state in ("canceled", "aborted")
