# SPDX-License-Identifier: Apache-2.0
"""What varies between episodes, and what does not."""

from __future__ import annotations

import numpy as np
import pytest

from simwright.core.errors import UsageError
from simwright.tasks.batch import BatchRollout
from simwright.tasks.randomize import Randomize
from simwright.tasks.rollout import SimRollout
from simwright.tasks.scenes.table import SCENES


def make(arm, scene="tabletop_push", **randomize):
    return SimRollout(SCENES.get(scene), arm, randomize=randomize)


def test_the_layout_of_a_seed_stays(arm):
    plain = SimRollout(SCENES.get("tabletop_push"), arm)
    varied = make(arm, mass=(0.5, 2), friction=(0.5, 2), light=(0.2, 1), joints=0.1, gains=(0.9, 1.1))
    for seed in range(3):
        plain.reset(seed=seed)
        varied.reset(seed=seed)
        for name, place in plain.layout.items():
            assert place.tobytes() == varied.layout[name].tobytes()


def test_offsets_are_added_to_the_layout(arm):
    plain, varied = SimRollout(SCENES.get("drawer"), arm), make(arm, "drawer", position=0.02, yaw_deg=10)
    moved = []
    for seed in range(10):
        plain.reset(seed=seed)
        varied.reset(seed=seed)
        one, two = plain.layout["cabinet"], varied.layout["cabinet"]
        assert one[2] == two[2]
        assert np.abs(two[:2] - one[:2]).max() <= 0.02
        angle = 2 * np.arccos(min(1.0, abs(float(one[3:] @ two[3:]))))
        assert angle <= np.radians(10) + 1e-9
        moved.append(np.abs(two[:2] - one[:2]).max() > 0)
    assert all(moved)


def test_factors_count_against_the_nominal_values(arm):
    rollout = make(arm, mass=(0.5, 2.0), friction=(0.5, 1.5), robot_mass=(0.9, 1.1), gains=(0.8, 1.2))
    nominal = SimRollout(SCENES.get("tabletop_push"), arm).model
    seen = []
    for seed in range(30):
        rollout.reset(seed=seed)
        model = rollout.model
        mass = float(model.body("cube").mass[0]) / float(nominal.body("cube").mass[0])
        assert 0.5 <= mass <= 2.0
        assert model.body("cube").inertia == pytest.approx(mass * nominal.body("cube").inertia)
        friction = model.geom("table_top").friction / nominal.geom("table_top").friction
        assert friction == pytest.approx(np.full(3, friction[0]))
        gains = model.actuator_gainprm[:7, 0] / nominal.actuator_gainprm[:7, 0]
        assert (gains >= 0.8).all()
        assert (gains <= 1.2).all()
        links = model.body_mass[1:5] / nominal.body_mass[1:5]
        assert ((links >= 0.9 - 1e-9) & (links <= 1.1 + 1e-9)).all()
        seen.append(mass)
    assert min(seen) < 0.7
    assert max(seen) > 1.7


def test_the_same_seed_varies_the_same(arm):
    rollout = make(
        arm, mass=(0.5, 2.0), joints=0.1, camera_position=0.1, camera_angle_deg=5, light_position=0.2
    )

    def look(seed):
        observation = rollout.reset(seed=seed)
        model = rollout.model
        return (
            observation["qpos"].tobytes(),
            model.cam_pos.tobytes(),
            model.cam_quat.tobytes(),
            model.light_pos.tobytes(),
            model.body_mass.tobytes(),
        )

    first = look(3)
    other = look(4)
    assert look(3) == first
    assert all(a != b for a, b in zip(first, other, strict=True))


def test_cameras_stay_as_near_as_is_said(arm):
    rollout = make(arm, camera_position=0.1)
    nominal = SimRollout(SCENES.get("tabletop_push"), arm).model.cam_pos
    moved = []
    for seed in range(20):
        rollout.reset(seed=seed)
        moved.append(rollout.model.cam_pos - nominal)
    assert np.abs(moved).max() <= 0.1 + 1e-9
    assert np.min(moved) < -0.05
    assert np.max(moved) > 0.05


def test_a_moved_start_is_held(arm):
    rollout = make(arm, joints=0.2)
    home = rollout.home.qpos[:6]
    start = rollout.reset(seed=1)["qpos"]
    assert 0.0 < np.abs(start[:6] - home).max() <= 0.2
    for _ in range(50):
        result = rollout.step(rollout.controller.hold())
    assert result.observation["qpos"][:6] == pytest.approx(start[:6], abs=0.03)


def test_wrong_blocks_say_what_is_wrong():
    with pytest.raises(ValueError, match="low, high"):
        Randomize.model_validate({"mass": [2.0, 1.0]})
    with pytest.raises(ValueError, match="extra"):
        Randomize.model_validate({"masses": [1.0, 2.0]})


def test_models_of_their_own_are_not_without_limit(arm):
    rollout = make(arm, mass=(0.5, 2.0))
    with pytest.raises(UsageError, match="GiB"):
        BatchRollout(rollout, 10**7)
