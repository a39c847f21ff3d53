"""Many worlds: the same bits whatever the threads, edits taken over, worlds that differ, worlds that break."""

from __future__ import annotations

import numpy as np
import pytest

from simwright.core.errors import UnknownNameError, UsageError
from simwright.engines.protocol import Settings, UnstableError
from simwright.engines.table import ENGINES, load_engine
from simwright.scenes.document import parse_scene
from simwright.scenes.exporting_parts import group_worlds
from simwright.scenes.load import assemble_scene
from simwright.scenes.simulation import open_scene, step

PILE = """
builder: {defaults: {shape: {ke: 1.0e5, mu: 0.6}}}
bodies:
  - {id: a, transform: {p: [0, 0, 0.3]}, shapes: [{type: box, hx: 0.1, hy: 0.1, hz: 0.1}]}
  - {id: b, transform: {p: [0.03, 0.02, 0.6]}, shapes: [{type: capsule, radius: 0.08, half_height: 0.1}]}
  - {id: c, transform: {p: [0, 0.05, 0.9]}, shapes: [{type: box, hx: 0.12, hy: 0.1, hz: 0.05}]}
joints: [{id: ja, type: free, child: a}, {id: jb, type: free, child: b}, {id: jc, type: free, child: c}]
articulations: [{id: x, joints: [ja]}, {id: y, joints: [jb]}, {id: z, joints: [jc]}]
"""
ARM = """
ground: false
bodies: [{id: link, shapes: [{type: sphere, radius: 0.1, transform: {p: [0, 0, -1]}}]}]
joints:
  - {id: hinge, type: revolute, child: link, axis: y, target_ke: 100, target_kd: 50, target_pos: 0.5, actuator_mode: 1}
articulations: [{id: a, joints: [hinge]}]
initial_joint_q: [{joint: hinge, value: 0.5}]
"""


def load(text, worlds=1, spacing=None):
    return assemble_scene(parse_scene(text), num_worlds=worlds, spacing=spacing)


def move(loaded, steps, threads=1, dt=0.002):
    with open_scene(loaded.model, Settings(dt=dt, threads=threads)) as simulation:
        simulation.advance(loaded.state, loaded.control, steps)
    return loaded.state


def test_threads_runs_and_other_worlds_change_no_bit():
    alone = move(load(PILE), 300)
    places = []
    for threads in (1, 2, 4, 2):
        loaded = load(PILE, worlds=7)
        loaded.state.joint_qd.reshape(7, -1)[:, 0] = np.arange(7) * 0.1
        state = move(loaded, 300, threads)
        places.append((state.joint_q.tobytes(), state.joint_qd.tobytes(), state.body_q.tobytes()))
    assert len(set(places)) == 1
    state = load(PILE, worlds=9, spacing=(2, 2, 0))
    many = move(state, 300, 2).joint_q.reshape(9, -1, 7)
    middle = many[4]  # this one stands at the origin: no rounding of its place
    np.testing.assert_array_equal(middle.ravel(), alone.joint_q)
    turns = many[..., 3:]
    np.testing.assert_allclose(turns, np.broadcast_to(middle[:, 3:], turns.shape), atol=5e-3)


def test_steps_one_by_one_go_the_same_way():
    whole = move(load(ARM), 50)
    loaded = load(ARM)
    one, other = loaded.state, loaded.model.state()
    with open_scene(loaded.model, Settings()) as simulation:
        for _ in range(50):
            step(simulation, one, other, loaded.control)
            one, other = other, one
    np.testing.assert_allclose(one.joint_q, whole.joint_q, atol=1e-7)
    np.testing.assert_allclose(one.body_q, whole.body_q, atol=1e-6)


def test_edited_states_are_taken_over():
    loaded = load(ARM, worlds=2)
    with open_scene(loaded.model, Settings()) as simulation:
        simulation.advance(loaded.state, loaded.control, 100)
        kept = loaded.state.joint_q[0]
        loaded.state.joint_q[1], loaded.state.joint_qd[1] = -1.0, 0.0
        simulation.advance(loaded.state, loaded.control, 1)
    assert loaded.state.joint_q[1] == pytest.approx(-1.0, abs=1e-3)
    assert loaded.state.joint_q[0] == pytest.approx(float(kept), abs=0.01)


def test_worlds_may_differ_in_numbers():
    loaded = load(ARM, worlds=3)
    loaded.model.body_mass[1] *= 2
    loaded.model.gravity[2] = 0.0
    assert group_worlds(loaded.model) == [[0], [1], [2]]
    state = move(loaded, 2000, 2)
    light, heavy, floating = state.joint_q
    assert 0.0 < heavy < light - 0.05 < 0.45
    assert floating == pytest.approx(0.5, abs=2e-3)
    loaded = load(ARM, worlds=2)
    loaded.model.joint_target_mode[1] = 0
    with pytest.raises(UsageError, match="world 1 has other parts"):
        open_scene(loaded.model, Settings())


def test_worlds_above_each_other_share_one_ground():
    loaded = load(PILE, worlds=2, spacing=(0, 0, 5))
    assert group_worlds(loaded.model) == [[0], [1]]
    heights = move(loaded, 300, 2).joint_q.reshape(2, 3, 7)[:, 0, 2]
    assert heights[0] == pytest.approx(0.1, abs=0.05)
    assert heights[1] == pytest.approx(5.3 - 9.81 * 0.6**2 / 2, abs=0.02)
    assert group_worlds(load(PILE, worlds=5).model) == [[0, 1, 2, 3, 4]]


def test_who_broke_and_when():
    loaded = load(ARM, worlds=3)
    loaded.model.joint_target_ke[1] = 1e9
    loaded.model.joint_target_kd[1] = 0.0
    with (
        open_scene(loaded.model, Settings(dt=0.01)) as simulation,
        pytest.raises(UnstableError, match=r"world 1: joint 'hinge'") as caught,
    ):
        simulation.advance(loaded.state, loaded.control, 2000)
    assert 0.0 < caught.value.time < 5.0
    assert caught.value.exit_code == 1
    assert np.isfinite(loaded.state.joint_q).all()


def test_settings_are_checked():
    model = load(ARM).model
    for settings in (
        Settings(dt=0.0),
        Settings(dt=float("nan")),
        Settings(threads=0),
        Settings(options={"iterations": -1}),
    ):
        with pytest.raises(UsageError):
            open_scene(model, settings)
    for settings in (Settings(solver="sap"), Settings(device="cuda"), Settings(options={"cone": "round"})):
        with pytest.raises(UnknownNameError):
            open_scene(model, settings)
    assert ENGINES.names()[:2] == ["mujoco", "newton"]
    assert load_engine().capabilities.deterministic
    assert set(load_engine("newton").capabilities.solvers) == {"mujoco", "featherstone", "xpbd"}
    with pytest.raises(UnknownNameError, match="unknown engine"):
        load_engine("bullet")
