"""Whatever robots do, in whatever order: objects are in one place, robots stand free, batteries stay in bounds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import shapely

from simwright.worlds.acting.simulation import WorldSimulation
from simwright.worlds.acting.task_plan import parse_action
from simwright.worlds.world import World

from ..flat import make_flat

SETTINGS = """
grasping: {generator: parallel_grasp, max_width: 0.25, depth: 0.1, height: 0.02}
action_execution_options:
  navigate: {delay: 0.1, success_probability: 0.9, battery_usage: 0.4}
  pick: {delay: 0.5, success_probability: 0.8, battery_usage: 0.5}
  place: {delay: 0.5, success_probability: 0.8}
  open: {delay: 0.2}
"""


def list_actions(world: World) -> list[str]:
    found = [f"navigate {part.name}" for part in (*world.spawns, *world.hallways, *world.rooms)]
    found += [f"pick {item.name}" for item in world.objects] + ["pick can", "detect can"]
    return [*found, "place", "place", "detect", "open", "close", "open", "navigate table", "pick can"]


def check(world: World) -> None:
    held = [robot.held for robot in world.robots if robot.held is not None]
    assert len(held) == len(set(held))
    for item in world.objects:
        stands = [spawn for spawn in world.spawns if item in spawn.objects]
        assert stands == ([] if item.spawn is None else [item.spawn])
        assert (item.spawn is None) == (item in held)
        if item.spawn is not None:
            assert item.collision.within(item.spawn.polygon.buffer(1e-9))
            others = [other for other in item.spawn.objects if other is not item]
            assert not any(item.collision.intersects(other.collision) for other in others)
    for robot in world.robots:
        assert 0.0 <= robot.battery_level <= 100.0
        space = world.free_space_at(robot.radius)
        assert shapely.distance(space, shapely.Point(robot.pose.xy)) < 1e-6
        if robot.held is not None:
            assert robot.held.pose.xy == robot.pose.xy


@pytest.mark.parametrize("seed", range(3))
def test_nothing_gets_lost(tmp_path: Path, seed: int) -> None:
    world = make_flat(tmp_path, SETTINGS, door="false")
    simulation = WorldSimulation(world, seed=seed)
    random = np.random.default_rng(seed)
    actions = list_actions(world)
    done = 0
    for _ in range(250):
        for robot in world.robots:
            if not simulation.is_busy(robot):
                simulation.start(robot, parse_action(actions[random.integers(len(actions))]))
                done += 1
        simulation.step(float(random.random()) * 4.0)
        if random.random() < 0.05:
            simulation.cancel(world.robots[int(random.integers(2))])
        check(world)
    assert done > 100
    kinds = {event.data["action"] for event in simulation.events if event.data.get("status") == "success"}
    assert kinds >= {"navigate", "pick", "place", "open"}
