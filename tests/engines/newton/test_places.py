# SPDX-License-Identifier: Apache-2.0
"""Where things come to be in a builder of Newton: what needs only the builder's fields, not Newton."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from simwright.core.math3d import Pose
from simwright.engines.newton.build import find_base
from simwright.engines.newton.joints import _LABEL, _find_rows


@pytest.mark.parametrize("up", [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)])
def test_an_asset_stands_along_the_up_axis_of_the_builder(up: tuple[float, float, float]) -> None:
    builder: Any = SimpleNamespace(up_vector=up)
    assert find_base(builder, None).apply((0.0, 0.0, 1.0)) == pytest.approx(up)
    moved = find_base(builder, Pose.of((1.0, 2.0, 3.0)))
    assert moved.apply((0.0, 0.0, 0.0)) == pytest.approx((1.0, 2.0, 3.0))


@pytest.mark.parametrize(
    ("attributes", "rows"),
    [
        ({_LABEL: SimpleNamespace(values=["/robot/a", "/robot/b"])}, {"/robot/a": 0, "/robot/b": 1}),
        ({_LABEL: SimpleNamespace(values={3: "/robot/a"})}, {}),
        ({_LABEL: SimpleNamespace(values=None)}, {}),
        ({}, {}),
    ],
)
def test_motors_of_the_solver_are_found_by_their_prim(
    attributes: dict[str, Any], rows: dict[str, int]
) -> None:
    builder: Any = SimpleNamespace(custom_attributes=attributes)
    assert _find_rows(builder) == rows
