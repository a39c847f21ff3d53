"""ROS beside Newton: what it has is served, what it lacks is told, and commanded joints move."""

from __future__ import annotations

from pathlib import Path

import pytest
from memory import MemoryTransport

from simwright.app.run_sources import prepare_asset
from simwright.core.diag import Reporter
from simwright.engines.protocol import Settings
from simwright.engines.table import load_engine
from simwright.formats.table import read_asset
from simwright.ros.bridge import BridgeOptions, RosBridge
from simwright.ros.parts import equip_asset

SAMPLES = Path(__file__).resolve().parents[3] / "samples" / "simwright_samples"
pytestmark = pytest.mark.judge("newton")


def test_a_rover_drives_and_what_newton_does_not_measure_is_told() -> None:
    settings, reporter, transport = Settings(dt=0.002), Reporter(), MemoryTransport()
    asset = prepare_asset(read_asset(SAMPLES / "rover" / "model.sdf", reporter=Reporter()), ground=True)
    equipped = equip_asset(asset, "newton", settings, reporter)
    with (
        load_engine("newton").open(equipped.asset, settings, Reporter()) as simulation,
        RosBridge(
            equipped.graph, simulation, [transport], reporter, BridgeOptions(added=equipped.added)
        ) as bridge,
    ):
        still = {"x": 0.0, "y": 0.0, "z": 0.0}
        transport.receivers["/cmd_vel"]({"linear": still | {"x": 0.5}, "angular": still})
        bridge.run(500)
    # 0.5 m/s for 1 s, less the ramp of 1.5 m/s^2
    place = transport.last("/odom")["pose"]["pose"]["position"]["x"]
    assert place == pytest.approx(0.5 - 0.5**2 / 1.5 / 2, rel=0.1)
    assert {"/imu", "/joint_states", "/tf", "/tf_static"} <= set(transport.sent)
    told = {found.message for found in reporter if found.kind == "ros-endpoint-disabled"}
    assert told == {
        f"topic {name!r} is not served: the engine cannot cast rays" for name in ("/scan", "/scan/points")
    }
