# SPDX-License-Identifier: Apache-2.0
"""MuJoCo's laws of actuators from those of the model."""

from __future__ import annotations

import mujoco
import pytest

from simwright.model.servo import make_law

SIZES = {"gain": mujoco.mjNGAIN, "bias": mujoco.mjNBIAS, "dynamics": mujoco.mjNDYN}


@pytest.mark.parametrize(
    ("kind", "gain", "bias"),
    [
        ("motor", 1.0, (0.0, 0.0, 0.0)),
        ("position", 8.0, (0.0, -8.0, -0.5)),
        ("velocity", 0.5, (0.0, 0.0, -0.5)),
    ],
)
def test_a_law_has_the_numbers_that_mujoco_has(kind, gain, bias):
    law = make_law(kind, stiffness=8.0, damping=0.5)
    assert law["gain"][0] == gain
    assert tuple(law["bias"][:3]) == bias
    assert {name: len(law[name]) for name in SIZES} == SIZES
