"""Grasps: where the fingers go, and when they do not fit."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from simwright.core import math3d
from simwright.worlds.acting.manipulation import (
    GraspBox,
    ParallelGrasp,
    find_grasp_faces,
    fit_box,
    list_grasps,
)
from simwright.worlds.entities import ComponentOptions
from simwright.worlds.poses import WorldPose

from ..flat import make_flat

BOX = GraspBox((0.1, 0.06, 0.2), WorldPose(1.0, 2.0, 0.5))


def make(**changes: float) -> ParallelGrasp:
    values = {
        "max_width": 0.08,
        "depth": 0.04,
        "height": 0.02,
        "width_clearance": 0.0,
        "depth_clearance": 0.0,
    }
    return ParallelGrasp(ComponentOptions("parallel_grasp", {**values, **changes}))


def axes(grasp: object) -> tuple[np.ndarray, np.ndarray]:
    """Approach and closing directions in the world."""
    q = grasp.in_world.q  # type: ignore[attr-defined]
    return math3d.quat_rotate(q, (0.0, 0.0, 1.0)), math3d.quat_rotate(q, (1.0, 0.0, 0.0))


def test_grasps_that_fit_are_found() -> None:
    grasps = make().list_grasps(BOX, WorldPose(0.0, 2.0))
    assert [(grasp.face, grasp.direction, grasp.width) for grasp in grasps] == [
        ("front", "-x", 0.06),
        ("top", "+z", 0.06),
    ]
    wide = make(max_width=0.3).list_grasps(BOX, WorldPose(0.0, 2.0), ("front", "top", "left", "right"))
    assert len(wide) == 8


def test_fingers_close_around_the_box_and_look_at_it() -> None:
    for grasp in make(max_width=0.3).list_grasps(BOX, WorldPose(0.0, 2.0), ("front", "top", "left", "right")):
        approach, closing = axes(grasp)
        assert np.dot(approach, closing) == pytest.approx(0.0, abs=1e-12)
        axis = int(np.argmax(np.abs(closing)))
        assert BOX.size[axis] == grasp.width
        assert (
            grasp.direction
            == f"{'-' if approach.sum() > 0 else '+'}{'xyz'[int(np.argmax(np.abs(approach)))]}"
        )


def test_fingers_go_in_as_deep_as_they_reach() -> None:
    shallow, deep = (make(depth=depth).list_grasps(BOX, WorldPose(0.0, 2.0))[0] for depth in (0.03, 0.2))
    assert shallow.in_world.p == pytest.approx((1.0 - 0.02, 2.0, 0.5))
    assert deep.in_world.p == pytest.approx((1.0, 2.0, 0.5))
    kept = make(depth=0.04, depth_clearance=0.01).list_grasps(BOX, WorldPose(0.0, 2.0))[0]
    assert kept.in_world.p == pytest.approx(shallow.in_world.p)


def test_clearance_makes_the_gripper_narrower() -> None:
    assert make(width_clearance=0.021).list_grasps(BOX, WorldPose(0.0, 2.0)) == []
    assert make(width_clearance=0.02).list_grasps(BOX, WorldPose(0.0, 2.0))


def test_fingers_stay_above_the_surface() -> None:
    flat = GraspBox((0.05, 0.05, 0.01), WorldPose(0.0, 0.0, 0.505))
    front = make(height=0.04).list_grasps(flat, WorldPose(-1.0, 0.0), ("front",))[0]
    assert front.in_world.p[2] == pytest.approx(0.5 + 0.02)
    low = make(height=0.04).list_grasps(flat, WorldPose(-1.0, 0.0), ("front",), lift=False)[0]
    assert low.in_world.p[2] == pytest.approx(0.505)


@pytest.mark.parametrize(
    ("robot", "front"),
    [((-1, 0), (-1, 0, 0)), ((1, 0.2), (1, 0, 0)), ((0.2, 1), (0, 1, 0)), ((0, 0), (-1, 0, 0))],
)
def test_the_front_is_where_the_robot_is(robot: tuple[float, float], front: tuple[int, int, int]) -> None:
    faces = find_grasp_faces(GraspBox((0.1, 0.1, 0.1), WorldPose()), WorldPose(*robot))
    assert faces["front"] == pytest.approx(front)
    assert np.cross(faces["front"], faces["top"]) == pytest.approx(faces["left"])
    assert faces["right"] == pytest.approx(-faces["left"])
    turned = find_grasp_faces(
        GraspBox((0.1, 0.1, 0.1), WorldPose.from_yaw(0, 0, 0, math.pi / 2)), WorldPose(-1.0, 0.0)
    )
    assert turned["front"] == pytest.approx((0.0, 1.0, 0.0))


def test_boxes_fit_turned_objects(tmp_path: Path) -> None:
    world = make_flat(
        tmp_path, "grasping: {generator: parallel_grasp, max_width: 0.25, depth: 0.1, height: 0.02}"
    )
    crate = next(item for item in world.objects if item.name == "crate0")
    crate.pose = WorldPose.from_yaw(1.0, 2.0, 0.5, 0.7)
    box = fit_box(crate)
    assert sorted(box.size) == pytest.approx([0.2, 0.2, 0.3])
    assert box.pose.xy == pytest.approx((1.0, 2.0))
    assert box.pose.z == pytest.approx(0.6)
    long = math.remainder(box.pose.yaw + (0.0 if box.size[0] > 0.25 else math.pi / 2) - 0.7, math.pi)
    assert long == pytest.approx(0.0, abs=1e-9)
    robot = world.robots[0]
    assert {grasp.face for grasp in list_grasps(robot, crate)} == {"front", "top"}
    robot.grasping = None
    assert list_grasps(robot, crate) == []
