"""The wire of rmw_zenoh, held against a peer that is not ours: dora-rs, beside ``simwright run --ros zenoh``."""

from __future__ import annotations

import contextlib
import json
import socket
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from network import run_beside, run_in_network, run_peer
from test_peers import SAMPLES, SERVICE

from simwright.ros.transports.types import hash_type
from simwright.ros.transports.zenoh import PORT
from stages import make_arm, write_stage

HERE = Path(__file__).resolve().parent
pytestmark = pytest.mark.judge("ros")
CONFIG = {
    "mode": "peer",
    "connect": {"endpoints": ["tcp/127.0.0.1:7447"]},
    "scouting": {"multicast": {"enabled": False}},
}


def meet(scenario: str, folder: Path, *arguments: str) -> dict[str, Any]:
    """What a peer sees of a simulation; both end, and the simulation ends well by Ctrl-C."""
    config = folder / "zenoh.json5"
    config.write_text(json.dumps(CONFIG))
    return run_in_network(__file__, scenario, str(config), *arguments, AMENT_PREFIX_PATH=sys.prefix)


def wait_for_router() -> None:
    """Until somebody listens: dora-rs tries once."""
    end = time.monotonic() + 90.0
    while time.monotonic() < end:
        with contextlib.closing(socket.socket()) as probe:
            if probe.connect_ex(("127.0.0.1", PORT)) == 0:
                return
        time.sleep(0.2)
    raise AssertionError("there is no router")


def main(scenario: str, config: str, arguments: list[str]) -> None:
    """Within the network: a simulation without ROS, and a peer."""

    def look() -> dict[str, Any]:
        wait_for_router()
        return run_peer("zenoh_peers.py", scenario, config)

    run_beside(["run", *arguments, "--ros", "zenoh"], look)


def test_topics_services_and_actions_of_an_arm(tmp_path: Path) -> None:
    file = write_stage(tmp_path, make_arm(interfaces=SERVICE))
    found = meet("arm", tmp_path, str(file))
    assert (found["names"], found["frame"]) == (["elbow"], "arm")
    assert found["rate"] == pytest.approx(50.0, rel=0.05)
    assert "base" in found["late"]
    assert found["feedback"] == 5
    assert found["reached"] == ["succeeded", 0]
    assert found["place"] == pytest.approx(0.5, abs=0.05)
    assert found["refused"] is None
    assert found["cancel"] == 0
    assert found["stands"][1] == pytest.approx(found["stands"][0], abs=0.01)
    assert found["switched"]
    # a topic is turned off by its parameter
    assert (found["set"], found["get"], found["silent"]) == (True, [1, False], True)
    # there is no such entity
    assert found["deleted"] == 2


def test_a_command_drives_the_rover(tmp_path: Path) -> None:
    found = meet("rover", tmp_path, str(SAMPLES / "rover" / "model.sdf"), "--ground")
    assert found["went"] == pytest.approx(found["expected"], rel=0.05)


def test_hashes_of_services_and_actions_are_those_of_ros() -> None:
    share = Path(sys.prefix) / "share"
    for name in (
        "std_srvs/srv/SetBool",
        "std_srvs/srv/Trigger",
        "action_msgs/srv/CancelGoal",
        "rcl_interfaces/srv/SetParameters",
        "rcl_interfaces/srv/ListParameters",
        "control_msgs/action/FollowJointTrajectory",
        "simulation_interfaces/srv/SpawnEntities",
        "simulation_interfaces/action/SimulateSteps",
    ):
        package, kind, title = name.split("/")
        described = json.loads((share / package / kind / f"{title}.json").read_text())
        hashes = {row["type_name"]: row["hash_string"] for row in described["type_hashes"]}
        suffixes = ("",) if kind == "srv" else ("_SendGoal", "_GetResult", "_FeedbackMessage")
        for suffix in suffixes:
            assert hash_type(f"{name}{suffix}") == hashes[f"{name}{suffix}"], f"{name}{suffix}"


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
