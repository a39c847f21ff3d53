"""Planners, executors, sensors and actions that another package brings."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import pytest

from simwright.core.errors import StrictError
from simwright.core.registry import Registry
from simwright.worlds.acting.action import Action, Steps, succeed
from simwright.worlds.acting.simulation import WorldSimulation
from simwright.worlds.acting.table import ACTIONS
from simwright.worlds.entities import ComponentOptions, WorldRobot
from simwright.worlds.execution.executor import EXECUTORS, ConstantVelocityExecutor
from simwright.worlds.planning.path import PathAnswer, make_path
from simwright.worlds.planning.planner import PLANNERS, Planner
from simwright.worlds.poses import WorldPose
from simwright.worlds.sensing.sensor import SENSORS
from simwright.worlds.world import World

from ..flat import make_flat


class Detour(Planner):
    """Goes by way of a point."""

    PROPERTIES: ClassVar[dict[str, Any]] = {"by": 0.5}

    def search(self, start: WorldPose, goal: WorldPose, space: Any) -> PathAnswer:
        return PathAnswer(make_path(start, [(self.values["by"], 1.0)], goal))


class Slow(ConstantVelocityExecutor):
    PROPERTIES: ClassVar[dict[str, Any]] = {"seconds": 30.0}

    def __init__(self, world: World, robot: WorldRobot, values: Any) -> None:
        plain = {"dt": 1.0, "linear_velocity": 1.0 / values["seconds"], "max_angular_velocity": None}
        more = {
            "validate_during_execution": False,
            "lidar_sensor_name": "",
            "lidar_sensor_measurement_dt": 1.0,
        }
        super().__init__(world, robot, {**plain, **more})


class Compass:
    PROPERTIES: ClassVar[dict[str, Any]] = {"offset": 0.0}

    def __init__(self, world: World, robot: WorldRobot, options: ComponentOptions) -> None:
        self.robot, self.offset, self.period = robot, options["offset"], 0.1

    def measure(self) -> float:
        return float(self.robot.pose.yaw + self.offset)


def wave(simulation: WorldSimulation, robot: WorldRobot, action: Action) -> Steps:
    yield 1.5
    return succeed(waved=robot.name)


def add(monkeypatch: pytest.MonkeyPatch, registry: Registry[Any], name: str, found: Any) -> None:
    monkeypatch.setitem(registry._builtin, name, "here")
    monkeypatch.setitem(registry._loaded, name, found)


def test_types_of_others_are_read_and_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add(monkeypatch, PLANNERS, "detour", Detour)
    add(monkeypatch, EXECUTORS, "slow", Slow)
    add(monkeypatch, SENSORS, "compass", Compass)
    add(monkeypatch, ACTIONS, "wave", wave)
    settings = "path_executor: {type: slow, seconds: 10.0}\nsensors: {needle: {type: compass, offset: 0.25}}"
    world = make_flat(tmp_path, settings, "path_planner: {type: detour, by: 0.75}")
    simulation = WorldSimulation(world)
    path = simulation.execute("one", Action("navigate", WorldPose(1.5, 0.0))).data["path"]
    assert path.poses[1].xy == (0.75, 1.0)
    assert simulation.time == pytest.approx(10.0 * path.length)
    assert simulation.sense("one", "needle") == pytest.approx(0.25)
    assert simulation.execute("one", Action("wave")).data == {"waved": "one"}


def test_properties_of_others_are_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add(monkeypatch, PLANNERS, "detour", Detour)
    with pytest.raises(StrictError, match="bye"):
        make_flat(tmp_path, planner="path_planner: {type: detour, bye: 1.0}")
