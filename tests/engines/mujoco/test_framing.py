"""Cameras that frame: points are projected here by hand, as a pinhole does, and have to lie inside of the picture."""

from __future__ import annotations

import numpy as np
import pytest

from simwright.engines.mujoco.framing import (
    FIELD_OF_VIEW,
    CameraWish,
    StudioCamera,
    choose_elevation,
    plan_film,
    plan_still,
)

RATIO = 1.6


def project(points: np.ndarray, camera: StudioCamera) -> np.ndarray:
    """Places in the picture (n x 2), each from -1 to 1, by a turning of the world instead of axes."""
    turn, lift = np.radians(camera.azimuth), np.radians(camera.elevation)
    away = points - np.array(camera.lookat)
    about_z = np.array([[np.cos(turn), np.sin(turn), 0], [-np.sin(turn), np.cos(turn), 0], [0, 0, 1]])
    about_y = np.array([[np.cos(lift), 0, np.sin(lift)], [0, 1, 0], [-np.sin(lift), 0, np.cos(lift)]])
    ahead, left, up = (about_y @ about_z @ away.T) + np.array([[camera.distance], [0], [0]])
    slope = np.tan(np.radians(FIELD_OF_VIEW / 2))
    assert ahead.min() > 0.0, "in front of the camera"
    return np.stack((-left / ahead / slope / RATIO, up / ahead / slope), axis=1)


def scatter(seed: int, size: tuple[float, float, float]) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-0.5, 0.5, (200, 3)) * size + np.array((3.0, -2.0, 1.0))


@pytest.mark.parametrize("size", [(1, 1, 1), (0.1, 0.1, 3), (5, 2, 0.1), (0.001, 0.002, 0.001)])
@pytest.mark.parametrize("wish", [CameraWish(), CameraWish("", 30.0, -5.0), CameraWish("", 300.0, -89.0)])
def test_all_points_are_inside_and_two_sides_are_reached(size, wish):
    points = scatter(1, size)
    (camera,) = plan_still(points, wish, RATIO).cameras
    places = project(points, camera)
    assert np.abs(places).max() == pytest.approx(0.82, abs=1e-6), "as large as the margin of 9 % allows"
    lower, upper = places.min(axis=0), places.max(axis=0)
    assert np.any(np.isclose(upper - lower, 1.64, atol=1e-6)), "the narrower side fills the picture"


def test_a_distance_that_is_asked_for_is_kept():
    (camera,) = plan_still(scatter(2, (1, 1, 1)), CameraWish("", 90.0, 0.0, 7.5), RATIO).cameras
    assert (camera.distance, camera.azimuth, camera.elevation) == (7.5, 90.0, 0.0)


def test_a_turntable_goes_once_around_and_sees_everything():
    points = scatter(3, (2, 0.3, 1))
    plan = plan_still(points, CameraWish(), RATIO, 12)
    assert np.allclose(np.diff([camera.azimuth for camera in plan.cameras]), 30.0)
    assert len({camera.distance for camera in plan.cameras}) == 1
    assert max(np.abs(project(points, camera)).max() for camera in plan.cameras) == pytest.approx(0.82)


def test_a_camera_stands_still_for_what_moves_on_the_spot():
    points = scatter(4, (0.5, 0.5, 1))
    moments = [points + np.array((0.2 * np.sin(i / 5), 0.0, 0.0)) for i in range(40)]
    plan = plan_film(moments, CameraWish(), RATIO, 30.0)
    assert len(set(plan.cameras)) == 1
    assert max(np.abs(project(m, c)).max() for m, c in zip(moments, plan.cameras, strict=True)) <= 0.82 + 1e-9


@pytest.mark.parametrize("way", [(0.0, 0.0, -4.9), (3.0, 1.0, 0.0)])
def test_a_camera_goes_along_with_what_travels_and_keeps_it_inside(way):
    """What falls freely for three seconds, and what drives away."""
    points = scatter(5, (0.5, 0.5, 0.5))
    power = 2 if way[2] else 1
    moments = [points + np.array(way) * (i / 30.0) ** power for i in range(90)]
    plan = plan_film(moments, CameraWish(), RATIO, 30.0)
    assert len(set(plan.cameras)) == 90
    assert max(np.abs(project(m, c)).max() for m, c in zip(moments, plan.cameras, strict=True)) <= 0.82 + 1e-9
    still = plan_still(np.concatenate(moments), CameraWish(), RATIO).cameras[0]
    assert plan.cameras[0].distance < 0.6 * still.distance, "nearer than one that sees the whole way"
    steps = np.linalg.norm(np.diff([camera.lookat for camera in plan.cameras], axis=0), axis=1)
    assert np.abs(np.diff(steps)).max() < 0.02, "without a jerk"


def test_flat_things_are_looked_at_from_above():
    lifts = [choose_elevation(np.array((4.0, 4.0, height))) for height in (0.0, 1.0, 2.0, 4.0, 40.0)]
    assert lifts == sorted(lifts)
    assert lifts[0] < -50.0
    assert lifts[-1] == -17.0
