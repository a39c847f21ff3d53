"""Arrays are described as data: what a description says is what an array has."""

from __future__ import annotations

import numpy as np
import pytest

from simwright.runtime.arrays import FREQUENCIES, describe_arrays, measure_arrays
from simwright.runtime.collision import CollisionModel, CollisionState
from simwright.runtime.custom import CustomArray
from simwright.runtime.model import Model
from simwright.runtime.state import Control, State

from .worlds import two_links

OWNERS = (Model, State, Control, CollisionModel, CollisionState)


@pytest.mark.parametrize("owner", OWNERS)
def test_every_array_says_what_it_is(owner: type) -> None:
    described = describe_arrays(owner)
    assert described
    for name, info in described.items():
        assert info.name == name
        assert info.frequency in FREQUENCIES
        assert info.meaning
        assert info.refers == "" or info.refers in FREQUENCIES


def test_arrays_are_contiguous_and_as_described() -> None:
    model, collision = two_links(worlds=3)
    counts = {
        "body": model.body_count, "joint": model.joint_count, "shape": model.shape_count,
        "joint_dof": model.joint_dof_count, "joint_coord": model.joint_coord_count,
        "articulation": model.articulation_count, "world": model.world_count,
    }  # fmt: skip
    for thing in (model, model.state(), model.control(), collision):
        for name, info in describe_arrays(type(thing)).items():
            values = getattr(thing, name)
            assert values.flags.c_contiguous, name
            assert values.dtype == np.dtype(info.dtype), name
            assert values.shape == (counts[info.frequency] + info.closing, *info.row), name


def test_memory_counts_shared_arrays_once() -> None:
    model, collision = two_links()
    alone = measure_arrays(model)
    assert measure_arrays(model, model) == alone
    bounds = collision.shape_collision_aabb_lower.nbytes * 2
    assert measure_arrays(model, collision) == alone + bounds


def test_state_is_a_copy_and_forces_can_be_cleared() -> None:
    model, _ = two_links()
    first, second = model.state(), model.state()
    first.joint_q[:] = 9.0
    first.body_f[:] = 2.0
    assert not np.any(second.joint_q == 9.0)
    twin = first.clone()
    first.clear_forces()
    assert not first.body_f.any()
    assert np.all(twin.body_f == 2.0)
    assert np.all(first.joint_q == 9.0)
    second.assign(twin)
    assert np.all(second.body_f == 2.0)


def test_control_clears_forces_and_targets() -> None:
    model, _ = two_links()
    control = model.control()
    assert control.joint_target_pos.any()
    for values in (control.joint_f, control.joint_act, control.joint_target_vel):
        values[:] = 3.0
    control.clear()
    for name in describe_arrays(type(control)):
        assert not getattr(control, name).any()
    assert model.control().joint_target_pos.any()


def test_rows_of_a_world() -> None:
    model, _ = two_links(worlds=3)
    rows = model.rows_of("body", 1)
    assert set(model.body_world[rows].tolist()) == {1}
    with pytest.raises(IndexError):
        model.rows_of("body", 3)


def test_custom_arrays_are_repeated_for_worlds_unless_said_once() -> None:
    values = np.arange(6.0).reshape(3, 2)
    tiled = CustomArray("space:key", "model", "body", values).tiled(2)
    assert (tiled.key, tiled.assignment, tiled.frequency) == ("space:key", "model", "body")
    np.testing.assert_array_equal(tiled.values, np.concatenate((values, values)))
    once = CustomArray("space:key", "model", "once", values)
    assert once.tiled(2) is once
