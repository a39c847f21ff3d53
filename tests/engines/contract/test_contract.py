"""What every engine has to get right, against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ellipk

G = 9.81
BALL = """
ground: false
bodies: [{id: ball, transform: {p: [0.5, -0.25, 10]}, shapes: [{type: sphere, radius: 0.1}]}]
joints: [{id: float, type: free, parent: world, child: ball}]
articulations: [{id: a, joints: [float]}]
"""
PENDULUM = """
ground: false
%s
bodies: [{id: bob, shapes: [{type: sphere, radius: 0.1, transform: {p: [0, 0, -1]}}]}]
joints:
  - {id: pivot, type: revolute, parent: world, child: bob, axis: [0, 1, 0], parent_xform: {p: [0, 0, 3]}, %s}
articulations: [{id: a, joints: [pivot]}]
initial_joint_q: [{joint: pivot, value: %s}]
"""
DOUBLE = """
ground: false
bodies:
  - {id: upper, shapes: [{type: box, hx: 0.05, hy: 0.05, hz: 0.5, transform: {p: [0, 0, -0.5]}}]}
  - {id: lower, shapes: [{type: box, hx: 0.04, hy: 0.04, hz: 0.4, transform: {p: [0, 0, -0.4]}}]}
joints:
  - {id: shoulder, type: revolute, parent: world, child: upper, axis: [0, 1, 0], parent_xform: {p: [0, 0, 3]}}
  - {id: elbow, type: revolute, parent: upper, child: lower, axis: [0, 1, 0], parent_xform: {p: [0, 0, -1]}}
articulations: [{id: a, joints: [shoulder, elbow]}]
initial_joint_q: [{joint: shoulder, value: 1.2}, {joint: elbow, value: 0.9}]
"""
BOX = """
builder: {gravity: %s, rigid_gap: 0.01, defaults: {shape: {ke: 1.0e5, tau: 0.01, mu: %s}}}
bodies: [{id: box, transform: {p: [0, 0, %s]}, shapes: [{type: box, hx: 0.2, hy: 0.2, hz: 0.1}]}]
joints: [{id: float, type: free, parent: world, child: box}]
articulations: [{id: a, joints: [float]}]
"""


def find_moment(model, body=0):
    """Moment of inertia of a body about the y axis through its frame."""
    mass, com, inertia = model.body_mass[body], model.body_com[body], model.body_inertia[body]
    return float(inertia[1, 1] + mass * (com[0] ** 2 + com[2] ** 2))


def find_energy(model, state):
    """Kinetic and potential energy of all bodies."""
    total = 0.0
    for body in range(model.body_count):
        pose, rate, mass = state.body_q[body], state.body_qd[body], float(model.body_mass[body])
        x, y, z, w = (float(v) for v in pose[3:])
        turn = np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        )
        spin = turn.T @ rate[3:]
        height = float(pose[2] + (turn @ model.body_com[body])[2])
        total += 0.5 * mass * float(rate[:3] @ rate[:3]) + 0.5 * float(spin @ model.body_inertia[body] @ spin)
        total += mass * G * height
    return total


def test_free_fall(load, start):
    loaded = load(BALL)
    state, dt, steps = loaded.state, 0.001, 500
    state.joint_qd[:] = (1.0, 0.0, 2.0, 0.0, 0.0, 3.0)
    with start(loaded, dt) as simulation:
        simulation.advance(state, loaded.control, steps)
    t = dt * steps
    expected = (0.5 + t, -0.25, 10 + 2 * t - G * t * t / 2)
    np.testing.assert_allclose(state.joint_q[:3], expected, atol=G * t * dt)
    np.testing.assert_allclose(state.joint_qd[[0, 1, 2, 5]], (1.0, 0.0, 2 - G * t, 3.0), atol=0.08)
    np.testing.assert_allclose(state.body_q[0], state.joint_q, atol=1e-6)
    np.testing.assert_allclose(state.body_qd[0], state.joint_qd, atol=1e-6)
    assert abs(2 * math.atan2(state.joint_q[5], state.joint_q[6]) - 3 * t) < 0.08


@pytest.mark.parametrize("amplitude", [0.1, 1.0, 2.0])
def test_period_of_a_pendulum(load, start, contender, amplitude):
    loaded = load(PENDULUM % ("", "armature: 0", amplitude))
    model, dt = loaded.model, 0.001
    arm = float(-model.body_com[0][2]) * float(model.body_mass[0])
    exact = 4 * math.sqrt(find_moment(model) / (arm * G)) * ellipk(math.sin(amplitude / 2) ** 2)
    times: list[float] = []
    angles: list[float] = []

    def watch(number, state):
        times.append(number * dt)
        angles.append(float(state.joint_q[0]))

    with start(loaded, dt) as simulation:
        simulation.advance(loaded.state, loaded.control, int(1.5 * exact / dt), watch=watch, poses=False)
    found = np.array(angles)
    at = np.flatnonzero((found[:-1] > 0) & (found[1:] <= 0) | (found[:-1] < 0) & (found[1:] >= 0))
    crossings = [times[i] + dt * found[i] / (found[i] - found[i + 1]) for i in at]
    assert len(crossings) >= 3
    assert crossings[2] - crossings[0] == pytest.approx(exact, rel=contender.period)


def test_energy_of_a_double_pendulum(load, start, contender):
    loaded = load(DOUBLE)
    model, state = loaded.model, loaded.state
    before = find_energy(model, state)
    stake = float(model.body_mass.sum()) * G
    with start(loaded, 0.001) as simulation:
        for _ in range(4):
            simulation.advance(state, loaded.control, 500)
            assert abs(find_energy(model, state) - before) < contender.energy * stake
    assert np.abs(state.joint_qd).max() > 0.1


@pytest.mark.parametrize("mu", [0.2, 0.35])
def test_sliding_down_a_slope(load, start, contender, need, mu):
    need("slide")
    slope = math.atan(0.5)
    gravity = [G * math.sin(slope), 0.0, -G * math.cos(slope)]
    loaded = load(BOX % (gravity, mu, 0.1))
    state, dt, steps = loaded.state, 0.001, 1000
    with start(loaded, dt) as simulation:
        simulation.advance(state, loaded.control, steps)
    faster = G * (math.sin(slope) - mu * math.cos(slope))
    assert state.joint_qd[0] == pytest.approx(faster, rel=contender.slide)
    assert state.joint_q[0] == pytest.approx(faster / 2, rel=contender.slide + 0.01)


@pytest.mark.parametrize("mu", [0.6, 1.0])
def test_friction_holds_on_a_slope(load, start, need, mu):
    need("stick")
    slope = math.atan(0.5)
    loaded = load(BOX % ([G * math.sin(slope), 0.0, -G * math.cos(slope)], mu, 0.1))
    with start(loaded, 0.001) as simulation:
        simulation.advance(loaded.state, loaded.control, 1000)
    assert abs(loaded.state.joint_q[0]) < 2e-3
    assert abs(loaded.state.joint_qd[0]) < 2e-3


def test_a_box_comes_to_rest(load, start, contender):
    loaded = load(BOX % (-G, 0.5, 0.15))
    state = loaded.state
    with start(loaded, 0.001) as simulation:
        simulation.advance(state, loaded.control, 2000)
    # four corners, each on two springs of 1e5 N/m in series
    sunk = float(loaded.model.body_mass[0]) * G / (4 * 5e4)
    assert state.joint_q[2] == pytest.approx(0.1 - sunk, abs=contender.depth)
    assert np.abs(state.joint_qd).max() < 0.02
    assert np.abs(state.joint_q[:2]).max() < 2e-3
    np.testing.assert_allclose(state.joint_q[3:], (0, 0, 0, 1), atol=1e-3)


def test_stops(load, start, contender, need):
    need("stop")
    stops = "limit_lower: -0.5, limit_upper: 0.4, limit_ke: 2000, limit_kd: 50"
    for pull, stop in ((-G, 0.4), (G, -0.5)):
        loaded = load(PENDULUM % (f"builder: {{gravity: [{pull}, 0, 0]}}", stops, 0.2))
        loaded.model.joint_damping[:] = 5.0
        with start(loaded, 0.001) as simulation:
            simulation.advance(loaded.state, loaded.control, 3000)
        torque = float(loaded.model.body_mass[0]) * G * math.cos(stop)
        over = math.copysign(torque / 2000, stop)
        assert float(loaded.state.joint_q[0]) == pytest.approx(stop + over, abs=contender.stop)


def test_drives_follow_the_closed_form(load, start, contender, need):
    need("drive")
    ke, kd, target = 120.0, 6.0, 0.5
    drive = f"target_ke: {ke}, target_kd: {kd}, target_pos: {target}, actuator_mode: 1"
    loaded = load(PENDULUM % ("builder: {gravity: 0}", drive, 0.0))
    moment, dt = find_moment(loaded.model), 0.001
    decay, natural = kd / (2 * moment), math.sqrt(ke / moment)
    damped = math.sqrt(natural**2 - decay**2)
    worst = 0.0

    def watch(number, state):
        nonlocal worst
        t = number * dt
        exact = target * (
            1 - math.exp(-decay * t) * (math.cos(damped * t) + decay / damped * math.sin(damped * t))
        )
        worst = max(worst, abs(float(state.joint_q[0]) - exact))

    with start(loaded, dt) as simulation:
        simulation.advance(loaded.state, loaded.control, 4000, watch=watch, every=10)
    assert worst < contender.drive * target * 2
    assert float(loaded.state.joint_q[0]) == pytest.approx(target, abs=0.02)


def test_drives_hold_against_gravity(load, start, need):
    need("drive")
    ke, target = 300.0, 0.7
    drive = f"target_ke: {ke}, target_kd: 40, target_pos: {target}, actuator_mode: 1"
    loaded = load(PENDULUM % ("", drive, 0.7))
    arm = float(-loaded.model.body_com[0][2]) * float(loaded.model.body_mass[0])
    exact = brentq(lambda q: ke * (target - q) - arm * G * math.sin(q), 0.0, target)
    with start(loaded, 0.001) as simulation:
        simulation.advance(loaded.state, loaded.control, 4000)
    assert float(loaded.state.joint_q[0]) == pytest.approx(exact, abs=2e-3)


def test_velocity_drives(load, start):
    drive = "target_kd: 40, target_vel: 0.8, actuator_mode: 2"
    loaded = load(PENDULUM % ("builder: {gravity: 0}", drive, 0.0))
    with start(loaded, 0.001) as simulation:
        simulation.advance(loaded.state, loaded.control, 2000)
    assert float(loaded.state.joint_qd[0]) == pytest.approx(0.8, abs=0.01)


def test_effort_limits(load, start, need):
    need("effort")
    drive = "target_ke: 1.0e4, target_kd: 0, target_pos: 3, effort_limit: 2, actuator_mode: 1"
    loaded = load(PENDULUM % ("builder: {gravity: 0}", drive, 0.0))
    t = 0.5
    with start(loaded, 0.001) as simulation:
        simulation.advance(loaded.state, loaded.control, 500)
    assert float(loaded.state.joint_q[0]) == pytest.approx(
        2 * t * t / (2 * find_moment(loaded.model)), rel=0.01
    )


def test_forces_of_joints_and_on_bodies(load, start, need):
    need("force")
    loaded = load(PENDULUM % ("builder: {gravity: 0}", "armature: 0", 0.0))
    loaded.control.joint_f[0] = 3.0
    with start(loaded, 0.001) as simulation:
        simulation.advance(loaded.state, loaded.control, 300)
    assert float(loaded.state.joint_qd[0]) == pytest.approx(3.0 * 0.3 / find_moment(loaded.model), rel=0.01)
    falling = load(BALL)
    mass = float(falling.model.body_mass[0])
    falling.state.body_f[0, :3] = (0.0, mass, mass * G)
    with start(falling, 0.001) as simulation:
        simulation.advance(falling.state, falling.control, 500)
    np.testing.assert_allclose(falling.state.joint_qd[:3], (0.0, 0.5, 0.0), atol=0.02)


def test_copies_of_a_world_move_as_one_does(load, start):
    text = BOX % (-G, 0.5, 0.3)
    one, many = load(text), load(text, worlds=5)
    for loaded in (one, many):
        loaded.state.joint_qd.reshape(-1, 6)[:] = (0.4, 0.0, 0.0, 0.0, 2.0, 1.0)
        with start(loaded, 0.002) as simulation:
            assert simulation.worlds == loaded.model.world_count
            simulation.advance(loaded.state, loaded.control, 200)
    places = many.state.joint_q.reshape(5, 7).copy()
    places[:, :3] -= many.model.world_offset
    np.testing.assert_allclose(places, np.tile(one.state.joint_q, (5, 1)), atol=2e-4)
    bodies = many.state.body_q.copy()
    bodies[:, :3] -= many.model.world_offset
    np.testing.assert_allclose(bodies, np.tile(one.state.body_q, (5, 1)), atol=2e-4)


def test_watching_changes_nothing(load, start):
    ends = []
    for every in (None, 1, 7):
        loaded = load(BOX % (-G, 0.5, 0.3))
        seen: list[int] = []
        with start(loaded, 0.002) as simulation:
            simulation.advance(
                loaded.state,
                loaded.control,
                150,
                watch=None if every is None else lambda number, state, seen=seen: seen.append(number),
                every=every or 1,
            )
        assert seen == ([] if every is None else list(range(every, 151, every)))
        ends.append(loaded.state.joint_q.copy())
    np.testing.assert_array_equal(ends[0], ends[1])
    np.testing.assert_array_equal(ends[0], ends[2])
