"""A standard simulator: programs of rclpy use ``simwright run --ros`` by the services of simulation_interfaces."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from network import run_beside, run_in_network, run_peer
from test_loading import SAMPLES

from simwright.ros.simulator import FEATURES
from stages import make_arm, make_topic, write_stage

HERE = Path(__file__).resolve().parent
pytestmark = pytest.mark.judge("ros")


def meet(program: str, scenarios: str, file: Path) -> dict[str, Any]:
    """What peers see of a simulation, one after the other; it ends well by Ctrl-C."""
    return run_in_network(__file__, program, scenarios, str(file), RMW_IMPLEMENTATION="rmw_fastrtps_cpp")


def main(program: str, scenarios: str, file: str) -> None:
    """Within the network: a simulation, and peers that use it."""

    def look() -> dict[str, Any]:
        found: dict[str, Any] = {}
        for scenario in scenarios.split(","):
            found |= run_peer(program, scenario, file)
        return found

    run_beside(["run", file, "--ros", "rclpy", "--dt", "0.002"], look)


def test_peers_that_flood_and_vanish_hold_nothing_up(tmp_path: Path) -> None:
    kind = "sensor_msgs/msg/JointState"
    commands = make_topic("commands", "commands", kind, role="subscription")
    found = meet(
        "hostile_peers.py", "flood,vanish,reach", write_stage(tmp_path, make_arm(interfaces=commands))
    )
    assert found["sent"] > 500
    assert found["ticks"] > 20
    assert (found["accepted"], found["reached"]) == (True, True)
    assert found["place"] == pytest.approx(-0.4, abs=0.02)


ARM, LAB = "arm.usda", str(SAMPLES / "lab" / "lab.yaml")


@pytest.mark.parametrize(
    ("number", "asked", "topic"),
    [
        (signal.SIGINT, ["run", ARM, "--frames", "1000000000"], "/arm/joint_states"),
        (signal.SIGTERM, ["run", ARM, "--frames", "1000000000"], "/arm/joint_states"),
        (signal.SIGTERM, ["world", "run", LAB, "--seconds", "1000000"], "/tender/odom"),
    ],
)
def test_a_run_that_is_ended_leaves_a_whole_bag_and_nothing_else(
    tmp_path: Path, number: int, asked: list[str], topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rosbags.highlevel import AnyReader

    write_stage(tmp_path, make_arm())
    monkeypatch.chdir(tmp_path)
    bag = tmp_path / "run.mcap"
    run = [sys.executable, "-m", "simwright", *asked, "--bag", str(bag)]
    with subprocess.Popen(run, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as simulation:
        try:
            # the first megabyte of it
            end = time.monotonic() + 180.0
            while not any(path.stat().st_size for path in tmp_path.glob(".simwright-bag-*/*/*.mcap")):
                assert time.monotonic() < end
                time.sleep(0.1)
            simulation.send_signal(number)
            assert simulation.wait(30) == 130
        finally:
            simulation.kill()
    with AnyReader([bag]) as reader:
        assert {"/clock", topic} <= set(reader.topics)
        assert reader.message_count > 10
    assert not list(tmp_path.glob(".simwright-bag-*"))


def test_a_client_of_the_standard_uses_every_feature_that_is_claimed(tmp_path: Path) -> None:
    file = write_stage(tmp_path, make_arm())
    rows = (f"  - {{id: {name}, type: usd, source: arm.usda}}\n" for name in ("left", "right"))
    (tmp_path / "pair.yaml").write_text("schema_version: 1\nassets:\n" + "".join(rows))
    for part in (SAMPLES / "lab").glob("*.yaml"):
        (tmp_path / part.name).write_bytes(part.read_bytes())
    found = meet("simulator_peers.py", "everything", file)
    assert found["features"] == sorted(FEATURES)
    assert {"urdf", "sdf", "mjcf", "usd"} <= set(found["formats"])
    assert len(found["services"]) == 21
    assert (found["before"], found["after"]) == (["arm"], ["arm", "ball", "twin"])
    assert (found["paused"], found["state"], found["ball"], found["twin"]) == (1, 2, "ball", 1)
    assert found["place"] == pytest.approx([5.0, 0.0, 3.1])
    # 100 steps of 2 ms, then 50 more
    assert found["stepped"] == 1
    assert found["fallen"][2] == pytest.approx(3.1 - 9.81 * 0.2**2 / 2, rel=0.01)
    result, told, left = found["action"]
    # a client of rclpy drops what arrives before it knows that its goal was accepted, and keeps ten at a time: on a
    # busy machine the last ones may be among those that are lost
    assert result == 1
    assert left < 10
    assert 10 <= told <= 50
    assert found["deeper"][2] == pytest.approx(3.1 - 9.81 * 0.3**2 / 2, rel=0.01)
    assert "/twin/arm/joint_states" in found["topics"]
    assert "/twin/tf" in found["topics"]
    assert found["moved"] == [1, pytest.approx([1.0, 0.0, 2.0])]
    assert (found["described"], found["info"]) == (1, [["red"], "a toy", 2])
    assert found["tagged"] == ["ball"]
    assert found["bounds"] == [1, [pytest.approx([0.1] * 3), pytest.approx([-0.1] * 3)]]
    assert found["poses"] == 1
    assert file.resolve().as_uri() in found["spawnables"]
    assert file.resolve().as_uri() in found["worlds"]
    assert found["refused"][0] == 4
    assert "outside" in found["refused"][1]
    assert (found["unknown"], found["deleted"], found["left"]) == (2, 1, ["arm", "ball"])
    assert (found["reset"], found["rest"], found["rewound"]) == (1, ["arm"], 1)
    before, after = found["times"]
    assert before > 0.2
    assert after == 0.0
    assert found["world"] == file.resolve().as_uri()
    assert (found["loaded"], found["new"]) == (1, ["ball"])
    assert (found["pair.yaml"], len(found["entities of pair.yaml"])) == (1, 2)
    assert found["lab.yaml"] == 1
    assert {"tender", "courier"} <= set(found["entities of lab.yaml"])
    assert (found["standing"], found["running"]) == (0, True)
    assert (found["unloaded"], found["again"], found["playing"]) == (1, 1, 1)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3])
