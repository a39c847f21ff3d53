"""What is dropped and what slides: one rigid body with the mass of the robot, above the ground."""

from __future__ import annotations

import math

import numpy as np
import pytest

from simwright.model.asset import Asset, Body, Shape
from simwright.model.geometry import Box
from simwright.model.inertia import Inertial
from simwright.prover.solids import SLOPE, make_drop, make_slope


def make_brick() -> Asset:
    inertial = Inertial(2.0, np.zeros(3), np.diag((0.1, 0.2, 0.25)))
    asset = Asset("brick", [Body("brick", inertial=inertial)])
    asset.shapes = [Shape("side", Box.of(0.2, 0.4, 0.6), body="brick", collision=True)]
    return asset


def test_what_slides_is_a_thousand_times_harder_to_turn() -> None:
    dropped, slid = (make(make_brick()).bodies[0].inertial for make in (make_drop, make_slope))
    assert dropped is not None
    assert slid is not None
    assert dropped.mass == slid.mass == pytest.approx(2.0)
    np.testing.assert_allclose(np.linalg.eigvalsh(dropped.inertia), (0.1, 0.2, 0.25), rtol=1e-9)
    np.testing.assert_allclose(slid.inertia, 1000.0 * dropped.inertia, rtol=1e-9)


def test_the_ground_is_level_and_gravity_inclined() -> None:
    x, y, z = make_slope(make_brick()).environment.gravity
    assert (x, y, z) == pytest.approx((9.81 * math.sin(SLOPE), 0.0, -9.81 * math.cos(SLOPE)))
    assert list(make_drop(make_brick()).environment.gravity[:2]) == [0.0, 0.0]
