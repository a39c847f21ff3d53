# SPDX-License-Identifier: Apache-2.0
"""When tasks are done: at layouts whose answer is known, of one world and of many."""

from __future__ import annotations

import numpy as np
import pytest

from simwright.core.math3d import Pose, quat_from_axis_angle
from simwright.tasks.scene import TaskState
from simwright.tasks.scenes.table import SCENES
from simwright.tasks.scenes.tabletop import TableOptions, pull_table

UP = (1.0, 0.0, 0.0, 0.0)


def look(layout=None, objects=None, joints=None, tool=(0, 0, 1), base=(0, 0, 0, *UP), speed=0.0):
    placed = {name: np.array([*place, *UP][:7]) for name, place in (objects or {}).items()}
    return TaskState(
        layout={name: np.array(place, dtype=float) for name, place in (layout or {}).items()},
        objects=placed,
        speeds={name: np.array(speed) for name in placed},
        joints={name: np.array(value) for name, value in (joints or {}).items()},
        tool=np.array([*tool, *UP][:7], dtype=float),
        base=np.array(base, dtype=float),
        start=np.array([0, 0, 0, *UP], dtype=float),
    )


def judge(name, moment, **options):
    scene = SCENES.get(name)
    return scene.judge(moment, scene.options.model_validate(options))


@pytest.mark.parametrize(
    ("cube", "success"),
    [
        ((0.1, 0.4, 0.025), True),
        ((0.1, 0.4499, 0.025), True),
        ((0.1, 0.4501, 0.025), False),
        ((0.1, 0.4, 0.064), True),
        ((0.1, 0.4, 0.066), False),
        ((0.1, 0.4, -0.02), False),
    ],
)
def test_push_ends_on_the_mark_and_on_the_table(cube, success):
    layout = {"cube": (0, 0.2, 0.025), "goal": (0.1, 0.4, 0.001)}
    assert bool(judge("tabletop_push", look(layout, {"cube": cube})).success) is success


def test_push_scores_the_way_that_is_gone():
    layout = {"cube": (0, 0.2, 0.025), "goal": (0, 0.4, 0.001)}
    scores = [
        float(judge("tabletop_push", look(layout, {"cube": (0, y, 0.025)})).score)
        for y in (0.1, 0.2, 0.3, 0.4)
    ]
    assert scores == pytest.approx([0.0, 0.0, 0.5, 1.0])
    fallen = judge("tabletop_push", look(layout, {"cube": (0, 0.2, -0.3)}))
    assert fallen.failed
    assert not fallen.success


def test_many_worlds_are_judged_as_one_is():
    layout = {"cube": [[0, 0.2, 0.025]] * 3, "goal": [[0, 0.4, 0.001]] * 3}
    many = TaskState(
        layout={name: np.array(places) for name, places in layout.items()},
        objects={"cube": np.array([[0, y, 0.025, *UP] for y in (0.2, 0.36, 0.8)])},
        speeds={"cube": np.zeros(3)},
        joints={},
        tool=np.zeros((3, 7)),
        base=np.zeros((3, 7)),
        start=np.zeros((3, 7)),
    )
    assert judge("tabletop_push", many).success.tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("cube", "speed", "success"),
    [
        ((0.3, 0.3, 0.024), 0.0, True),
        ((0.3, 0.3, 0.024), 1.0, False),
        ((0.3, 0.3, 0.2), 0.0, False),
        ((0, 0, 0.02), 0.0, False),
    ],
)
def test_a_cube_lies_still_in_the_tray(cube, speed, success):
    moment = look({"cube": (0, 0.2, 0.02), "tray": (0.3, 0.3, 0)}, {"cube": cube}, speed=speed)
    assert bool(judge("pick_place", moment).success) is success


@pytest.mark.parametrize(
    ("upper", "lower", "success"),
    [
        ((0, 0.3, 0.06), (0, 0.3, 0.02), True),
        ((0.019, 0.3, 0.06), (0, 0.3, 0.02), True),
        ((0.021, 0.3, 0.06), (0, 0.3, 0.02), False),
        ((0, 0.3, 0.12), (0, 0.3, 0.02), False),
        ((0, 0.3, 0.16), (0, 0.3, 0.12), False),
        ((0.1, 0.3, 0.02), (0, 0.3, 0.02), False),
    ],
)
def test_the_red_cube_rests_on_the_blue_one(upper, lower, success):
    assert bool(judge("stack", look({}, {"upper": upper, "lower": lower})).success) is success


@pytest.mark.parametrize(("height", "share"), [(0.02, 0.0), (0.03, 0.25), (0.06, 1.0), (0.2, 1.0)])
def test_a_lifted_cube_scores_by_its_height_over_the_table(height, share):
    """Cubes of 2 cm half size; far aside, so that only reaching (1/4) and lifting (1/4) count."""
    moment = look({}, {"upper": (9.0, 0.3, height), "lower": (0, 0.3, 0.02)}, tool=(9.0, 0.3, height))
    assert float(judge("stack", moment).score) == pytest.approx(0.25 + 0.25 * share, abs=1e-9)


def test_a_peg_is_in_the_hole_whichever_end_is_down():
    layout = {"peg": (0, 0.2, 0.05), "block": (0.1, 0.3, 0.0)}
    turned = quat_from_axis_angle((1, 0, 0), np.pi)
    for turn in (UP, turned):
        inside = look(layout, {"peg": (0.1, 0.3, 0.06, *turn)})
        verdict = judge("peg_insert", inside)
        assert verdict.success
        assert float(verdict.details["depth"]) == pytest.approx(0.04)
    assert not judge("peg_insert", look(layout, {"peg": (0.1, 0.3, 0.11)})).success, "above the hole"
    assert not judge("peg_insert", look(layout, {"peg": (0.2, 0.3, 0.05)})).success, "beside the block"


def test_a_drawer_is_open_far_enough():
    layout = {"cabinet": (0, 0.4, 0, *UP)}
    assert not judge("drawer", look(layout, joints={"drawer": 0.079})).success
    assert judge("drawer", look(layout, joints={"drawer": 0.08})).success
    near = judge("drawer", look(layout, joints={"drawer": 0.0}, tool=(0, 0.4 - 0.09 - 0.035, 0.06)))
    far = judge("drawer", look(layout, joints={"drawer": 0.0}, tool=(0, 0, 0.5)))
    assert float(near.score) == pytest.approx(0.3), "the tool is at the handle"
    assert near.score > far.score


def test_the_tool_is_in_the_ball():
    layout = {"goal": (0.1, 0.2, 0.3)}
    assert judge("reach", look(layout, tool=(0.1, 0.2, 0.329))).success
    assert not judge("reach", look(layout, tool=(0.1, 0.2, 0.331))).success


def test_walking_counts_along_the_heading_and_upright():
    layout = {"heading": (1, 0, 0)}
    assert judge("locomotion_flat", look(layout, base=(1.0, 5, 0, *UP))).success
    assert not judge("locomotion_flat", look(layout, base=(0.99, 5, 0, *UP))).success
    lying = judge("locomotion_flat", look(layout, base=(2, 0, 0, *quat_from_axis_angle((1, 0, 0), 1.6))))
    assert lying.failed
    assert not lying.success


@pytest.mark.parametrize("name", SCENES.names())
def test_layouts_are_inside_their_ranges_and_apart(name):
    scene = SCENES.get(name)
    options = scene.options.model_validate({})
    for seed in range(50):
        layout = scene.sample(np.random.default_rng(seed), options)
        assert {*scene.objects, *scene.fixtures, *scene.marks} <= layout.keys()
        for place in layout.values():
            assert np.isfinite(place).all()
        if name == "tabletop_push":
            assert np.linalg.norm(layout["cube"][:2] - layout["goal"][:2]) >= options.goal_min_separation
            (x0, x1), (y0, y1) = options.cube_spawn_xy_range
            assert x0 <= layout["cube"][0] <= x1
            assert y0 <= layout["cube"][1] <= y1
            assert layout["cube"][2] == options.cube_size[2]
            assert options.table_top_z < layout["goal"][2] < options.table_top_z + 0.01, "seen on the table"


@pytest.mark.parametrize("name", [name for name in SCENES.names() if SCENES.get(name).scale])
def test_a_scaled_task_is_as_near_as_the_factor_says(name):
    scene = SCENES.get(name)
    options = scene.options.model_validate({})
    base = Pose.of([0, 0, 0])
    near = scene.scale(options, 0.5, base)
    # cabinets and doors are drawn near, but do not shrink: handles stand out as far as before
    slack = {"drawer": 0.13, "door": 0.06}.get(name, 1e-9)
    assert scene.workspace(near)[:, :2] == pytest.approx(0.5 * scene.workspace(options)[:, :2], abs=slack)
    assert scene.scale(options, 1.0, base) == options


def test_a_table_that_is_pulled_to_a_robot_shrinks_towards_its_base() -> None:
    """Every point goes half of its way to the base: the middle of the table, its size, and the cameras."""
    base = Pose.of((0.1, -0.2, 0.0), (1.0, 0.0, 0.0, 0.0))
    options = TableOptions(
        table_center_xy=(0.5, 0.2), table_size_xy=(0.8, 0.6), side_camera_pos=(0.6, 0.9, 0.6)
    )
    pulled = pull_table(options, 0.5, base)
    assert pulled.table_center_xy == pytest.approx((0.3, 0.0))
    assert pulled.table_size_xy == pytest.approx((0.4, 0.3))
    assert pulled.side_camera_pos == pytest.approx((0.35, 0.35, 0.3))


def test_the_corners_of_a_workspace_are_where_things_stand():
    """Half of a peg or a cube above the table: pre-flight asks whether the tool gets there."""
    peg = SCENES.get("peg_insert")
    options = peg.options.model_validate({"table_top_z": 0.2, "peg_length": 0.12})
    assert {round(float(z), 9) for _, _, z in peg.workspace(options)} == {0.26}
