# SPDX-License-Identifier: Apache-2.0
"""Robots go through OpenUSD and come back as the same machines; what may differ has a reason.

``scripts/compare_round_trips.py`` goes through every robot; here are those that are quick and differ from each other.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import simwright

from ..formats.mjcf.writer.compiling import compile_quietly, list_differences
from .allowed import LONG, MJCF, ROWS, SDF, STRIPS, URDF, find_idle, find_unallowed
from .judges import judge
from .routes import REFUSED, Trip, find_robots, name_robot, travel

pytestmark = [pytest.mark.realworld, pytest.mark.parser]

QUICK = {
    MJCF: (
        "mjcf/agility_cassie/cassie.xml", "mjcf/kuka_iiwa_14/iiwa14.xml", "mjcf/robotiq_2f85/2f85.xml",
        "mjcf/shadow_hand/scene_left.xml", "mjcf/skydio_x2/scene.xml", "mjcf/trossen_vx300s/scene.xml",
        "mjcf/franka_emika_panda/mjx_single_cube.xml", "mjcf/google_barkour_vb/scene_hfield_mjx.xml",
    ),
    URDF: tuple(
        f"urdf/example-robot-data/robots/{name}.urdf"
        for name in (
            "allegro_hand_description/urdf/allegro_left_hand", "hyq_description/robots/hyq_no_sensors",
            "laikago_description/urdf/laikago", "solo_description/robots/solo12",
            "tiago_description/robots/tiago_no_hand", "double_pendulum_description/urdf/double_pendulum_continuous",
        )
    ),
    SDF: tuple(
        f"sdf/{name}.sdf"
        for name in (
            "ball_prismatic_joint", "basic_shapes", "double_pendulum", "ellipsoid", "joint_parent_world", "lights",
            "model_link_relative_to", "usd_sensors",
        )
    ),
    LONG: (
        "mjcf/agility_cassie/cassie.xml", "mjcf/robotiq_2f85/2f85.xml", "mjcf/skydio_x2/x2.xml",
        "mjcf/trossen_vx300s/scene.xml", "mjcf/google_barkour_vb/barkour_vb.xml",
    ),
}  # fmt: skip
NAMES = [(route, name) for route, names in QUICK.items() for name in names]
Travel = Callable[[str, Path], Trip]


@pytest.fixture(scope="session")
def go(tmp_path_factory: pytest.TempPathFactory) -> Travel:
    """Makes each trip once."""
    made: dict[tuple[str, Path], Trip] = {}

    def travel_once(route: str, source: Path) -> Trip:
        if not source.exists():
            pytest.skip(f"{source.name} is absent")
        if (route, source) not in made:
            made[route, source] = travel(route, source, tmp_path_factory.mktemp("trip"), STRIPS.get(route))
        return made[route, source]

    return travel_once


@pytest.mark.parametrize(("route", "name"), NAMES)
def test_it_comes_back_as_it_was(route, name, shared_assets, go):
    trip = go(route, shared_assets / name)
    assert find_unallowed(trip) == []
    assert max(trip.figures.values()) <= 1e-6
    assert find_idle([trip]) == []
    assert judge(trip) == [], "another project's parser refuses it"


@pytest.mark.parametrize("name", ["mjcf/kuka_iiwa_14/iiwa14.xml", "mjcf/franka_emika_panda/mjx_hand.xml"])
def test_mujoco_compiles_the_same_model(name, shared_assets, go):
    """Every number of the compiled model, those that no comparison of machines asks for included."""
    trip = go(MJCF, shared_assets / name)
    assert list_differences(compile_quietly(trip.stops[0]), compile_quietly(trip.end)) == {}


def test_every_reason_has_a_robot(shared_assets):
    robots = {
        name_robot(file) for kind in ("mjcf", "urdf", "sdf") for file in find_robots(shared_assets, kind)
    }
    assert {row.example for row in ROWS} <= robots
    assert all(row.reason for row in ROWS)
    assert {name for row in ROWS for name in row.robots} <= robots


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_left_out_cannot_be_read(name, shared_assets):
    for file in shared_assets.rglob(name):
        with pytest.raises(simwright.SimwrightError):
            simwright.load(file)


def test_a_difference_without_a_reason_is_told():
    """The judge of differences is held to be one."""
    trip = Trip(
        URDF, "robots/solo.urdf", [], ["limits: DOF 'x': upper limit: 1.0 -> 2.0", "motion: mass matrix"]
    )
    assert find_unallowed(trip) == trip.lines
    trip.robot = "assets/cartpole.urdf"
    assert find_unallowed(trip) == trip.lines[:1]
    idle = find_idle([Trip(URDF, "robots/hyq_no_sensors.urdf", [])])
    assert any("sensors" in row.pattern for row in idle)
