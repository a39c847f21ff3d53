"""A standard simulator: programs of rclpy use ``simwright run --ros`` by the services of simulation_interfaces."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from test_peers import NETWORK

from simwright.ros.simulator import FEATURES
from stages import make_arm, write_stage

HERE = Path(__file__).resolve().parent
pytestmark = pytest.mark.judge("ros")


def meet(scenario: str, file: Path, *more: str) -> dict[str, Any]:
    """What a peer sees of a simulation, which ends well by Ctrl-C."""
    inner = f"{NETWORK} exec {sys.executable} {HERE / 'test_simulator_peers.py'} {scenario} {file} {' '.join(more)}"
    command = ["unshare", "--net", "--map-root-user", "sh", "-c", inner]
    environment = os.environ | {"RMW_IMPLEMENTATION": "rmw_fastrtps_cpp"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, env=environment, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert found.pop("exit") == 130, done.stderr[-3000:]
    return found


def main(scenario: str, file: str, more: list[str]) -> None:
    """Within the network: a simulation, and a peer that uses it."""
    run = [sys.executable, "-m", "simwright", "run", file, "--ros", "rclpy", "--dt", "0.002", *more]
    simulation = subprocess.Popen(run, stdout=sys.stderr)
    try:
        peer = subprocess.run(
            [sys.executable, str(HERE / "simulator_peers.py"), scenario, file],
            stdout=subprocess.PIPE,
            timeout=200,
            check=True,
        )
        found = json.loads(peer.stdout.splitlines()[-1])
    finally:
        simulation.send_signal(signal.SIGINT)
        try:
            code = simulation.wait(20)
        except subprocess.TimeoutExpired:
            simulation.kill()
            code = -1
    sys.stdout.write(json.dumps(found | {"exit": code}) + "\n")


def test_a_client_of_the_standard_uses_every_feature_that_is_claimed(tmp_path: Path) -> None:
    file = write_stage(tmp_path, make_arm())
    found = meet("everything", file)
    assert found["features"] == sorted(FEATURES)
    assert {"urdf", "sdf", "mjcf", "usd"} <= set(found["formats"])
    assert len(found["services"]) == 21
    assert (found["before"], found["after"]) == (["arm"], ["arm", "ball", "twin"])
    assert (found["paused"], found["state"], found["ball"], found["twin"]) == (1, 2, "ball", 1)
    assert found["place"] == pytest.approx([5.0, 0.0, 3.1])
    # 100 steps of 2 ms, then 50 more
    assert found["stepped"] == 1
    assert found["fallen"][2] == pytest.approx(3.1 - 9.81 * 0.2**2 / 2, rel=0.01)
    assert found["action"] == [1, 50, 0]
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
    assert (found["unloaded"], found["again"], found["playing"]) == (1, 1, 1)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
