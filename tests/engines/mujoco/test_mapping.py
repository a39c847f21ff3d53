"""Scenes in MuJoCo, by way of assets: coordinates, masses, contacts, relations."""

from __future__ import annotations

import itertools

import mujoco
import numpy as np
import pytest

from simwright.core.diag import Reporter
from simwright.engines.mujoco.actuation import make_reference
from simwright.engines.protocol import Settings
from simwright.runtime.collision import find_pairs
from simwright.runtime.kinematics import eval_fk
from simwright.scenes.document import parse_scene
from simwright.scenes.exporting import export_world
from simwright.scenes.exporting_parts import mix_materials
from simwright.scenes.load import assemble_scene
from simwright.scenes.simulation import open_scene

FRAMES = """parent_xform: {p: [0, 0.5, 1], q: {axis_angle: {axis: [1, 2, 3], angle: 0.7}}}
    child_xform: {p: [0.1, 0.2, 0], q: {axis_angle: {axis: [-1, 0.5, 0], angle: 0.4}}}"""
KINDS = (
    "type: free",
    "type: revolute\n    axis: [1, 1, 0]",
    "type: prismatic\n    axis: [0, 1, 0]",
    "type: ball",
    "type: d6\n    linear_axes: [{axis: x}, {axis: z}]\n    angular_axes: [{axis: y}, {axis: x}]",
    "type: fixed",
    "type: distance\n    max_distance: 5",
    "type: revolute\n    axis: z",
)
BODIES = "".join(
    f"  - {{id: b{i}, shapes: [{{hx: 0.1, hy: 0.2, hz: 0.3, transform: {{p: [0.1, 0.05, {0.1 * i}]}}}}]}}\n"
    for i in range(len(KINDS))
)
JOINTS = "".join(
    f"  - id: j{i}\n    {kind}\n    parent: {f'b{i - 1}' if i else 'world'}\n    child: b{i}\n    {FRAMES}\n"
    for i, kind in enumerate(KINDS)
)
NAMES = ", ".join(f"j{i}" for i in range(len(KINDS)))
ZOO = f"ground: false\nbodies:\n{BODIES}joints:\n{JOINTS}articulations: [{{id: a, joints: [{NAMES}]}}]\n"


def load(text, worlds=1, spacing=None):
    return assemble_scene(parse_scene(text), num_worlds=worlds, spacing=spacing)


def draw_state(loaded, seed):
    """A state with random coordinates and velocities; quaternions of unit length."""
    rng, state, model = np.random.default_rng(seed), loaded.state, loaded.model
    state.joint_q[:] = rng.normal(size=len(state.joint_q))
    state.joint_qd[:] = rng.normal(size=len(state.joint_qd))
    for joint in range(model.joint_count):
        at = int(model.joint_q_start[joint])
        width = int(model.joint_q_start[joint + 1]) - at
        if width in (4, 7) and model.joint_type[joint] != 6:
            turn = state.joint_q[at + width - 4 : at + width]
            turn /= np.linalg.norm(turn)
    eval_fk(model, state)
    return state


@pytest.mark.parametrize("seed", range(3))
def test_every_kind_of_joint_means_the_same(seed):
    loaded = load(ZOO)
    state = draw_state(loaded, seed)
    before = state.clone()
    with open_scene(loaded, Settings(dt=0.002)) as simulation:
        simulation.advance(state, loaded.control, 0)
        model, data = simulation.inner.batch.model, simulation.inner.hold()
        for body in range(loaded.model.body_count):
            at = model.body(f"b{body}").id
            np.testing.assert_allclose(data.xpos[at], state.body_q[body, :3], atol=2e-6)
            turn = data.xquat[at][[1, 2, 3, 0]]
            np.testing.assert_allclose(abs(turn @ state.body_q[body, 3:]), 1.0, atol=1e-6)
            np.testing.assert_allclose(data.xipos[at], find_center(loaded.model, state, body), atol=3e-6)
            rate = np.zeros(6)
            mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_BODY, at, rate, 0)
            np.testing.assert_allclose(rate[:3], state.body_qd[body, 3:], atol=1e-5)
            np.testing.assert_allclose(rate[3:], state.body_qd[body, :3], atol=3e-5)
        poses = simulation.inner.body_poses()[0]
    np.testing.assert_allclose(poses[:, :3], state.body_q[:, :3], atol=2e-6)
    np.testing.assert_allclose(state.joint_qd, before.joint_qd, atol=1e-5)
    for joint in range(loaded.model.joint_count):
        rows = slice(int(loaded.model.joint_q_start[joint]), int(loaded.model.joint_q_start[joint + 1]))
        one, other = before.joint_q[rows], state.joint_q[rows].copy()
        if len(one) in (4, 7) and loaded.model.joint_type[joint] != 6:
            other[-4:] *= np.sign(other[-4:] @ one[-4:])
        np.testing.assert_allclose(other, one, atol=1e-6)


def find_center(model, state, body):
    from simwright.core.math3d import quats_rotate, to_wxyz

    pose = state.body_q[body].astype(np.float64)
    return pose[:3] + quats_rotate(to_wxyz(pose[3:]), model.body_com[body].astype(np.float64))


def test_masses_are_those_of_the_arrays():
    loaded = load(ZOO)
    with open_scene(loaded) as simulation:
        mj = simulation.inner.batch.model
    for body in range(loaded.model.body_count):
        at = mj.body(f"b{body}").id
        assert mj.body_mass[at] == pytest.approx(float(loaded.model.body_mass[body]), rel=1e-7)
        np.testing.assert_allclose(mj.body_ipos[at], loaded.model.body_com[body], atol=1e-7)
        turn = np.zeros(9)
        mujoco.mju_quat2Mat(turn, mj.body_iquat[at])
        axes = turn.reshape(3, 3)
        whole = axes @ np.diag(mj.body_inertia[at]) @ axes.T
        np.testing.assert_allclose(whole, loaded.model.body_inertia[body], atol=1e-5)


def test_an_inertia_that_no_solid_has_is_told():
    loaded = load(ZOO)
    loaded.model.body_inertia[2] = np.diag((1.0, 2.0, 9.0)).astype(np.float32)
    reporter = Reporter()
    with open_scene(loaded, reporter=reporter):
        assert [found.level.value for found in reporter if "inertia" in found.message] == ["warning"]


GROUPS = (
    """
ground: {cfg: {collision_group: -1}}
bodies:
"""
    + "".join(
        f"  - {{id: b{i}, shapes: [{{type: sphere, cfg: {{collision_group: {group}, mu: {mu}}}}}, "
        f"{{type: box, cfg: {{collision_group: {second}}}}}]}}\n"
        for i, (group, second, mu) in enumerate(
            [(1, 1, 1), (1, 1, 1), (2, 2, 1), (-1, 1, 1), (-2, 0, 1), (1, 1, 0.5)]
        )
    )
    + """
joints:
"""
    + "".join(f"  - {{id: j{i}, type: free, parent: world, child: b{i}}}\n" for i in range(6))
    + """
articulations: [{id: a, joints: [j0, j1, j2, j3, j4, j5]}]
"""
)


def list_meeting(model):
    """Pairs of geoms that MuJoCo would look at: explicit ones, and what its search lets through."""
    name = [model.geom(i).name for i in range(model.ngeom)]
    found = {frozenset((name[a], name[b])) for a, b in zip(model.pair_geom1, model.pair_geom2, strict=True)}
    excluded = {(int(s) >> 16, int(s) & 0xFFFF) for s in model.exclude_signature}
    body = model.geom_bodyid
    for a, b in itertools.combinations(range(model.ngeom), 2):
        on = tuple(sorted((int(body[a]), int(body[b]))))
        bits = (
            model.geom_contype[a] & model.geom_conaffinity[b]
            or model.geom_contype[b] & model.geom_conaffinity[a]
        )
        if on[0] != on[1] and on not in excluded and bits:
            found.add(frozenset((name[a], name[b])))
    return found


def test_shapes_that_are_only_seen_are_no_pairs():
    seen = "{type: sphere, cfg: {has_shape_collision: false}}"
    loaded = load(
        f"bodies: [{{id: a, shapes: [{{type: sphere}}, {seen}]}}, {{id: b, shapes: [{{type: sphere}}, {seen}]}}]\n"
        "joints: [{id: i, type: free, parent: world, child: a}, {id: j, type: free, parent: world, child: b}]\n"
        "articulations: [{id: t, joints: [i, j]}]\n"
    )
    assert [int(flags) & 3 for flags in loaded.model.shape_flags[:4]] == [3, 1, 3, 1]
    assert [tuple(map(int, pair)) for pair in find_pairs(loaded.model)] == [
        (0, 2),
        (0, 4),
        (2, 4),
    ]  # the last is the ground


def test_a_dissipation_time_below_zero_is_none():
    """As in SAP Warp: not a contact without dissipation."""
    loaded = load(GROUPS)
    loaded.model.shape_material_tau[:3] = (-1.0, np.nan, 0.0)
    rows = np.array([0, 1, 2])
    assert mix_materials(loaded.model, rows, rows)["tau"] == pytest.approx([0.02, 0.02, 0.0])


def test_the_pairs_are_those_of_the_scene():
    loaded = load(GROUPS)
    shapes = export_world(loaded.model).shapes
    with open_scene(loaded) as simulation:
        model = simulation.inner.batch.model
    expected = {frozenset((shapes[a], shapes[b])) for a, b in find_pairs(loaded.model)}
    assert list_meeting(model) == expected
    assert model.geom_contype.any()
    assert model.npair > 0
    softer = [
        model.pair_friction[row][0]
        for row in range(model.npair)
        if {model.geom(g).name for g in (model.pair_geom1[row], model.pair_geom2[row])}
        == {shapes[1], shapes[10]}
    ]
    assert softer == [pytest.approx(2 * 1.0 * 0.5 / 1.5)]


def test_springs_taken_at_the_end_of_the_step():
    ke, kd, dt, mass = 5e4, 300.0, 0.002, 3.0
    reference, impedance = make_reference(np.array(ke), np.array(kd), np.array(1 / mass), dt)
    regular = (1 - impedance) / impedance / mass
    x, v = -0.01, 0.4
    # MuJoCo's law: force = (a_reference - a) / R with mass a = force
    wanted = -reference[1] / impedance * -v - (-reference[0] / impedance) * x
    force = wanted / (regular + 1 / mass)
    after = v + dt * force / mass
    assert force == pytest.approx(-ke * (x + dt * after) - kd * after, rel=1e-9)


def settle(text, steps=1500, dt=0.001, edit=None, **options):
    loaded = load(text)
    if edit is not None:
        edit(loaded)
    reporter = Reporter()
    with open_scene(loaded.model, Settings(dt=dt, options=options), reporter) as simulation:
        simulation.advance(loaded.state, loaded.control, steps)
    return loaded, [found.kind for found in reporter]


CHAIN = """
ground: false
bodies:
  - {id: a, shapes: [{type: box, hx: 0.05, hy: 0.05, hz: 0.25, transform: {p: [0, 0, -0.25]}}]}
  - {id: b, shapes: [{type: box, hx: 0.05, hy: 0.05, hz: 0.25, transform: {p: [0, 0, -0.25]}}]}
joints:
  - {id: one, type: revolute, parent: world, child: a, axis: y}
  - {id: two, type: revolute, parent: world, child: b, axis: y, parent_xform: {p: [0, 0.5, 0]}}
%s
articulations: [{id: x, joints: [one]}, {id: y, joints: [two]}]
initial_joint_q: [{joint: one, value: 1.0}, {joint: two, value: %s}]
"""


def test_followers_follow():
    def couple(loaded):
        loaded.model.joint_mimic_joint[1] = 0
        loaded.model.joint_mimic_coeffs[1] = (0.2, -0.5)

    loaded, _ = settle(CHAIN % ("", -0.3), edit=couple)
    q = loaded.state.joint_q
    assert abs(q[0] - 1.0) > 0.1
    assert q[1] == pytest.approx(0.2 - 0.5 * q[0], abs=2e-3)


@pytest.mark.parametrize("kind", ["fixed", "ball", "revolute"])
def test_joints_that_close_loops(kind):
    def loosen(loaded):
        loaded.model.joint_articulation[2] = -1

    axis = ", axis: y" if kind == "revolute" else ""
    ends = "parent_xform: {p: [0, 0.25, -0.5]}, child_xform: {p: [0, -0.25, -0.5]}"
    loop = f"  - {{id: bar, type: {kind}, parent: a, child: b{axis}, {ends}}}"
    text = CHAIN % (loop, 1.0)
    # the scene's own rules put the loop joint in no articulation: both its bodies are carried already
    loaded, told = settle(text, edit=loosen)
    assert told == []
    angles = loaded.state.joint_q[:2]
    assert abs(angles[0] - 1.0) > 0.1
    assert angles[0] == pytest.approx(float(angles[1]), abs=2e-3)


def test_a_loop_that_cannot_be_closed_is_told():
    loop = "  - {id: bar, type: prismatic, parent: a, child: b, axis: x}"
    _, told = settle(CHAIN % (loop, 1.0), steps=1)
    assert told == ["mjcf-write-not-carried"]


def test_distances_are_kept():
    text = """
ground: false
bodies: [{id: ball, transform: {p: [0.5, 0, 0]}, shapes: [{type: sphere, radius: 0.05}]}]
joints: [{id: rope, type: distance, parent: world, child: ball, max_distance: 0.5}]
articulations: [{id: a, joints: [rope]}]
"""
    loaded, _ = settle(text, steps=400)
    place = loaded.state.body_q[0, :3]
    assert place[2] < -0.2
    assert np.linalg.norm(place) == pytest.approx(0.5, abs=0.01)


def test_bodies_without_their_own_weight():
    text = """
ground: false
bodies:
  - {id: floats, shapes: [{type: sphere, radius: 0.1}]}
  - {id: moves, transform: {p: [3, 0, 0]}, shapes: [{type: sphere, radius: 0.1}]}
joints: [{id: f, type: free, child: floats}, {id: m, type: free, child: moves}]
articulations: [{id: a, joints: [f]}, {id: b, joints: [m]}]
"""

    def edit(loaded):
        loaded.model.body_gravity_scale[0] = 0.0
        loaded.model.body_flags[1] = 2
        loaded.state.joint_qd[6] = 1.0
        loaded.control.joint_f[8] = 100.0

    loaded, _ = settle(text, steps=1000, edit=edit)
    np.testing.assert_allclose(loaded.state.body_q[0, :3], 0.0, atol=1e-6)
    np.testing.assert_allclose(loaded.state.body_q[1, :3], (4.0, 0.0, 0.0), atol=1e-3)


def test_energy_stays_with_a_finer_integrator():
    swing = CHAIN % ("", 0.5)
    before = load(swing)
    loaded, _ = settle(swing, steps=2000, integrator="rk4")

    def energy(scene):
        total = 0.0
        for body in range(2):
            rate = scene.state.body_qd[body].astype(float)
            height = find_center(scene.model, scene.state, body)[2]
            mass = float(scene.model.body_mass[body])
            inertia = float(scene.model.body_inertia[body][1, 1])
            total += mass * (0.5 * rate[:3] @ rate[:3] + 9.81 * height) + 0.5 * inertia * rate[4] ** 2
        return total

    assert energy(loaded) == pytest.approx(energy(before), abs=1e-4)


def test_what_mujoco_does_not_have_is_told():
    text = """
bodies:
  - {id: a, shapes: [{type: sphere, cfg: {restitution: 0.5, density: 0}}]}
joints: [{id: j, type: revolute, child: a, velocity_limit: 3}]
articulations: [{id: x, joints: [j]}]
"""
    _, told = settle(text, steps=1)
    assert sorted(told) == ["mjcf-write-mass-invented", "mjcf-write-setting-lost", "write-lost-motion"]


@pytest.mark.parametrize("place", ["", "    child_xform: {p: [0.1, 0.2, 0]}\n"])
def test_the_short_way_to_the_pose_of_a_free_body_changes_no_bit(place):
    text = (
        "ground: false\nbodies:\n  - {id: b, shapes: [{hx: 0.1, hy: 0.2, hz: 0.3}]}\njoints:\n"
        f"  - id: j\n    type: free\n    parent: world\n    child: b\n{place}"
        "articulations: [{id: a, joints: [j]}]\n"
    )
    loaded = load(text)
    state = draw_state(loaded, 3)
    with open_scene(loaded, Settings(dt=0.002)) as simulation:
        simulation.advance(state, loaded.control, 5)
        inner = simulation.inner
        coordinates = inner.parts[0].map
        assert coordinates._is_plain == (not place)
        short = inner.positions.copy()
        coordinates._is_plain = False
        np.testing.assert_array_equal(inner.positions, short)
