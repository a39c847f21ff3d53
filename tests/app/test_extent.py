# SPDX-License-Identifier: Apache-2.0
"""The box around everything that a run shows, against boxes worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from simwright.app.run_sources import find_extent
from simwright.core.math3d import Pose, vec3
from simwright.model.asset import Asset, Body, Shape
from simwright.model.geometry import Box, Plane, Sphere

TURN = (1.0, 0.0, 0.0, 0.0)


def test_shapes_reach_around_bodies_over_all_moments_and_unbounded_ones_do_not_count():
    """A ball of 0.2 m, 0.3 m beside its body, which goes from x = 0 to x = 2: it may be turned anywhere."""
    ball = Shape("ball", Sphere(0.2), "b", Pose.of((0.0, 0.3, 0.0)))
    asset = Asset("a", bodies=[Body("b")], shapes=[ball, Shape("floor", Plane())])
    lower, upper = find_extent(asset, np.array([[[0.0, 0.0, 1.0, *TURN]], [[2.0, 0.0, 1.0, *TURN]]]))
    reach = 0.2 * 3.0**0.5 + 0.3
    assert lower == pytest.approx((-reach, -reach, 1.0 - reach))
    assert upper == pytest.approx((2.0 + reach, reach, 1.0 + reach))


def test_what_stands_in_the_world_is_around_its_own_place():
    """Half the diagonal of a box of 2 x 4 x 4 m is 3 m; the scale doubles it."""
    box = Shape("box", Box.of(2.0, 4.0, 4.0), pose=Pose.of((1.0, 2.0, 3.0)), scale=vec3(2.0, 2.0, 2.0))
    lower, upper = find_extent(Asset("a", bodies=[Body("b")], shapes=[box]), np.zeros((1, 1, 7)))
    assert lower == pytest.approx((-5.0, -4.0, -3.0))
    assert upper == pytest.approx((7.0, 8.0, 9.0))


def test_a_scene_without_bodies_has_an_extent():
    lower, upper = find_extent(Asset("a", shapes=[Shape("ball", Sphere(1.0))]), np.zeros((4, 2, 0, 7)))
    assert upper == pytest.approx([3.0**0.5] * 3)
    assert lower == pytest.approx(-upper)


def test_without_shapes_it_is_half_a_metre_around_the_bodies():
    poses = np.array([[[1.0, 0.0, 0.0, *TURN], [0.0, 2.0, -1.0, *TURN]]])
    lower, upper = find_extent(Asset("a", bodies=[Body("b"), Body("c")]), poses)
    assert lower == pytest.approx((-0.5, -0.5, -1.5))
    assert upper == pytest.approx((1.5, 2.5, 0.5))
