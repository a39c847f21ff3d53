"""Display colours and linear ones: points of IEC 61966-2-1, both ways, one by one and in arrays."""

from __future__ import annotations

import numpy as np
import pytest

from simwright.model.material import (
    make_all_display,
    make_all_linear,
    make_display,
    make_linear,
    to_display,
    to_linear,
)

VALUES = (0.0, 0.001, 0.01, 0.04045, 0.041, 0.2, 0.5, 0.99, 1.0, 2.0, -0.5)


@pytest.mark.parametrize(
    ("display", "linear"), [(0.0, 0.0), (1.0, 1.0), (0.5, 0.21404114048223255), (0.04, 0.04 / 12.92)]
)
def test_known_points_of_the_curve(display, linear):
    assert to_linear(display) == pytest.approx(linear, rel=1e-12)
    assert to_display(linear) == pytest.approx(display, rel=1e-7)


@pytest.mark.parametrize("value", VALUES)
def test_display_and_linear_are_inverse(value):
    assert to_display(to_linear(value)) == pytest.approx(value, rel=1e-7)
    assert to_linear(to_display(value)) == pytest.approx(value, rel=1e-7)


def test_arrays_are_converted_as_numbers_are():
    rows = np.array([VALUES[:3], VALUES[3:6], VALUES[6:9]])
    for many, one in ((make_all_linear, make_linear), (make_all_display, make_display)):
        np.testing.assert_allclose(many(rows), [one(tuple(row)) for row in rows.tolist()], rtol=1e-14)
