"""Mass matrix, bias and poses against closed forms, energy, and MuJoCo on real robots."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import mujoco
import numpy as np
import pytest
from lxml import etree

import simwright
from simwright.compare.dynamics import Dynamics, compile_dynamics
from simwright.core.math3d import Pose, quat_normalize, vec3
from simwright.model.asset import Asset, Body, Environment
from simwright.model.inertia import Inertial
from simwright.model.joint import Dof, Joint, JointKind, Motion
from simwright.model.kinematics import forward_kinematics
from simwright.model.mechanism import Mechanism

COUNT = 20
EXACT = 1e-9


def solid(mass: float, com=(0.0, 0.0, 0.0), diagonal=(0.1, 0.2, 0.25)) -> Inertial:
    return Inertial(mass, vec3(com), np.diag(diagonal))


def hinge(name: str, axis=(0, 0, 1), **values) -> Dof:
    return Dof(Motion.HINGE, vec3(axis), name, **values)


def evaluate(dynamics: Dynamics, q, v) -> tuple[np.ndarray, np.ndarray]:
    motions = dynamics.mechanism.move(np.atleast_2d(q))
    return dynamics.mass_matrix(motions)[0], dynamics.bias(motions, np.atleast_2d(v))[0]


def test_double_pendulum_has_its_closed_form():
    m1, m2, l1, l2, g = 2.0, 3.0, 0.7, 0.4, 9.81
    bodies = [
        Body("a", inertial=solid(m1, (l1, 0, 0), (0, 0, 0))),
        Body("b", inertial=solid(m2, (l2, 0, 0), (0, 0, 0))),
    ]
    joints = [
        Joint("j1", JointKind.REVOLUTE, "", "a", dofs=[hinge("j1", (0, 1, 0), armature=0.5)]),
        Joint("j2", JointKind.REVOLUTE, "a", "b", Pose.of((l1, 0, 0)), dofs=[hinge("j2", (0, 1, 0))]),
    ]
    dynamics = compile_dynamics(Asset("p", bodies=bodies, joints=joints))
    (q1, q2), (v1, v2) = (0.3, -1.1), (0.7, 1.9)
    M, bias = evaluate(dynamics, (q1, q2), (v1, v2))
    c = math.cos(q2)
    expected = np.array(
        (
            (m1 * l1**2 + m2 * (l1**2 + l2**2 + 2 * l1 * l2 * c) + 0.5, m2 * (l2**2 + l1 * l2 * c)),
            (m2 * (l2**2 + l1 * l2 * c), m2 * l2**2),
        )
    )
    np.testing.assert_allclose(M, expected, rtol=1e-13)
    h = m2 * l1 * l2 * math.sin(q2)
    # turning about +Y takes +X downwards, so gravity pulls along with the angle
    far = m2 * g * l2 * math.cos(q1 + q2)
    gravity = -np.array(((m1 + m2) * g * l1 * math.cos(q1) + far, far))
    np.testing.assert_allclose(bias - gravity, (-h * (2 * v1 * v2 + v2**2), h * v1**2), rtol=1e-12)


def test_a_free_body_falls_and_obeys_eulers_equations():
    com = vec3(0.1, -0.2, 0.3)
    asset = Asset("b", bodies=[Body("b", Pose.of((1, 2, 3)), solid(2.0, com))])
    dynamics = compile_dynamics(asset)
    turn = quat_normalize((0.3, -0.5, 0.7, 0.2))
    v, w = np.array((0.4, -0.1, 0.9)), np.array((1.5, -0.7, 0.3))
    M, bias = evaluate(dynamics, (5, 6, 7, *turn), (*v, *w))
    R = Pose.of(q=turn).rotation
    inertia = asset.bodies[0].inertial.about((0, 0, 0))
    np.testing.assert_allclose(M[:3, :3], 2.0 * np.eye(3), atol=1e-12)
    np.testing.assert_allclose(M[3:, 3:], inertia, atol=1e-12)
    lever = R @ com
    for axis in range(3):
        np.testing.assert_allclose(M[:3, 3 + axis], 2.0 * np.cross(R[:, axis], lever), atol=1e-12)
    gravity = np.array((0, 0, -9.81))
    force = 2.0 * (R @ np.cross(w, np.cross(w, com)) - gravity)
    torque = np.cross(w, inertia @ w) - 2.0 * np.cross(com, R.T @ gravity)
    np.testing.assert_allclose(bias, (*force, *torque), atol=1e-12)


def every_kind() -> Asset:
    """A tree of a free base, a ball, a planar stack, a screw, a universal joint and a branch."""
    frame = Pose.of((0.2, 0.1, -0.3), (0.8, 0.1, -0.3, 0.2))
    other = Pose.of((-0.1, 0.3, 0.2), (0.5, 0.5, 0.1, -0.7))
    names = ("base", "ball", "plane", "screw", "universal", "branch")
    bodies = [Body(n, inertial=solid(1.0 + i, (0.1 * i, -0.2, 0.05))) for i, n in enumerate(names)]
    slides = [Dof(Motion.SLIDE, vec3(1, 0, 0), "px"), Dof(Motion.SLIDE, vec3(0, 1, 0), "py"), hinge("pz")]
    ball = [Dof(Motion.BALL, name="ball", anchor=vec3(0.1, 0, 0))]
    crossed = [hinge("ux", (1, 0, 0)), hinge("uy", (0, 1, 0), anchor=vec3(0.1, 0.2, 0.3))]
    return Asset(
        "all",
        bodies=bodies,
        joints=[
            Joint("ball", JointKind.BALL, "base", "ball", frame, other, ball),
            Joint("plane", JointKind.PLANAR, "ball", "plane", other, frame, slides),
            Joint("screw", JointKind.SCREW, "plane", "screw", frame, other, [hinge("screw", pitch=0.3, ref=0.4)]),
            Joint("universal", JointKind.UNIVERSAL, "screw", "universal", frame, frame, crossed),
            Joint("branch", JointKind.FLOATING, "base", "branch", other, frame, [Dof(Motion.FREE, name="branch")]),
        ],
        environment=Environment(gravity=vec3(1.0, -2.0, -9.0)),
    )  # fmt: skip


def random_state(mechanism: Mechanism, seed: int, count: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    q = np.tile(mechanism.neutral(), (count, 1))
    for freedom in mechanism.freedoms:
        size = freedom.positions.stop - freedom.position
        q[:, freedom.positions] = freedom.dof.ref + rng.uniform(-1.2, 1.2, (count, size))
        if size > 1:
            quats = rng.normal(size=(count, 4))
            part = slice(freedom.positions.stop - 4, freedom.positions.stop)
            q[:, part] = quats / np.linalg.norm(quats, axis=1, keepdims=True)
    return q, rng.normal(size=(count, mechanism.velocities))


def advance(mechanism: Mechanism, q: np.ndarray, v: np.ndarray, dt: float) -> np.ndarray:
    """The configuration a short time later: quaternions by the angular velocity in their own frame."""
    from simwright.core.math3d import matrix_from_quat, quat_from_axis_angle, quat_multiply

    result = q.copy()
    for f in mechanism.freedoms:
        joint = f.joint
        if f.dof.motion in (Motion.HINGE, Motion.SLIDE):
            result[f.position] += v[f.velocity] * dt
            continue
        parent = np.eye(3) if joint is None else matrix_from_quat(joint.parent_frame.q)
        child = Pose.of() if joint is None else joint.child_frame
        start = f.positions.stop - 4
        rate = child.rotation.T @ v[f.velocities.stop - 3 : f.velocities.stop]
        step = quat_from_axis_angle(rate, float(np.linalg.norm(rate)) * dt)
        turned = quat_multiply(q[start : start + 4], step)
        result[start : start + 4] = turned
        if f.dof.motion is Motion.FREE:
            # the body's origin moves along, the frame turns about it
            origin = (~child).p
            before, after = (matrix_from_quat(x) @ origin for x in (q[start : start + 4], turned))
            shift = parent.T @ v[f.velocity : f.velocity + 3] * dt
            result[f.position : f.position + 3] += shift + before - after
    return result


def test_screws_are_what_poses_do():
    dynamics = compile_dynamics(every_kind())
    mechanism = dynamics.mechanism
    q, v = random_state(mechanism, 3)
    dt = 1e-6
    motions = mechanism.move(q)
    later, sooner = (mechanism.move(advance(mechanism, q[0], v[0], s * dt)) for s in (1, -1))
    M = dynamics.mass_matrix(motions)[0]
    energy = 0.0
    for index, name in enumerate(mechanism.bodies):
        rate = (later.bodies[index, 0] - sooner.bodies[index, 0]) / (2 * dt)
        R, c = motions.bodies[index, 0, :3, :3], dynamics.centers[index]
        spin = rate[:3, :3] @ R.T
        w = np.array((spin[2, 1], spin[0, 2], spin[1, 0]))
        velocity = rate[:3, :3] @ c + rate[:3, 3]
        inertia = R @ dynamics.inertias[index] @ R.T
        energy += 0.5 * dynamics.masses[index] * velocity @ velocity + 0.5 * w @ inertia @ w
        assert np.isfinite(energy), name
    assert 0.5 * v[0] @ M @ v[0] == pytest.approx(energy, rel=1e-8)


def test_bias_keeps_the_energy():
    """With no applied force (M a = -bias) kinetic and potential energy stay the same."""
    dynamics = compile_dynamics(every_kind())
    mechanism = dynamics.mechanism
    q, v = random_state(mechanism, 4)

    def energy(q, v):
        motions = mechanism.move(q)
        at = (
            np.einsum("bij,bj->bi", motions.bodies[:, 0, :3, :3], dynamics.centers)
            + motions.bodies[:, 0, :3, 3]
        )
        potential = -(dynamics.masses[:, None] * at).sum(axis=0) @ dynamics.gravity
        return 0.5 * v @ dynamics.mass_matrix(motions)[0] @ v + potential

    M, bias = evaluate(dynamics, q, v)
    a = np.linalg.solve(M, -bias)
    dt = 1e-5
    states = [(advance(mechanism, q[0], v[0] + 0.5 * s * dt * a, s * dt), v[0] + s * dt * a) for s in (1, -1)]
    change = (energy(*states[0]) - energy(*states[1])) / (2 * dt)
    power = np.abs(bias * v[0]).sum()
    assert abs(change) < 1e-6 * power


def test_poses_are_those_of_forward_kinematics():
    asset = every_kind()
    mechanism = compile_dynamics(asset).mechanism
    q, _ = random_state(mechanism, 5)
    values = {}
    for freedom in mechanism.freedoms:
        if freedom.joint is None:
            asset.body("base").pose = Pose.of(q[0, :3], q[0, 3:7])
        else:
            values.setdefault(freedom.joint.name, []).extend(q[0, freedom.positions])
    poses = forward_kinematics(asset, values)
    moved = mechanism.move(q)
    for index, name in enumerate(mechanism.bodies):
        np.testing.assert_allclose(moved.bodies[index, 0], poses[name].matrix, atol=1e-12)


def test_a_joint_walked_backwards_is_the_same_joint():
    """Hold the other end of a chain: the relative motion of each joint is the same, only the walk differs."""
    asset = every_kind()
    backwards = asset.copy()
    backwards.joints.append(Joint("hold", JointKind.FIXED, "", "universal"))
    free = compile_dynamics(asset).mechanism
    held = compile_dynamics(backwards).mechanism
    assert held.velocities == free.velocities - 6
    q, v = random_state(held, 6)
    q_free, v_free = np.zeros((1, free.positions)), np.zeros((1, free.velocities))
    by_name = {f.name: f for f in free.freedoms}
    for f in held.freedoms:
        q_free[:, by_name[f.name].positions] = q[:, f.positions]
        v_free[:, by_name[f.name].velocities] = v[:, f.velocities]
    base = by_name["base"]
    q_free[:, base.positions] = (0, 0, 0, 1, 0, 0, 0)
    a, b = held.move(q), free.move(q_free)
    offset = a.bodies[0, 0] @ np.linalg.inv(b.bodies[0, 0])
    for index in range(len(held.bodies)):
        np.testing.assert_allclose(a.bodies[index, 0], offset @ b.bodies[index, 0], atol=1e-12)
    # relative velocities of the two ends agree as well: twist of each body against 'universal'
    twists = []
    for mechanism, motions, rates in ((held, a, v), (free, b, v_free)):
        dt = 1e-6
        sizes = [
            mechanism.move(advance(mechanism, q_, rates[0], s * dt))
            for q_ in ((q if mechanism is held else q_free)[0],)
            for s in (1, -1)
        ]
        assert motions.bodies.shape[1] == 1
        last = mechanism.bodies.index("universal")
        ends = [np.linalg.inv(m.bodies[last, 0]) @ m.bodies[0, 0] for m in sizes]
        twists.append((ends[0] - ends[1]) / (2 * dt))
    np.testing.assert_allclose(twists[0], twists[1], atol=1e-8)


def test_energy_of_a_chain_walked_backwards():
    asset = every_kind()
    asset.joints.append(Joint("hold", JointKind.FIXED, "", "universal"))
    dynamics = compile_dynamics(asset)
    mechanism = dynamics.mechanism
    q, v = random_state(mechanism, 7)
    dt = 1e-6
    motions = mechanism.move(q)
    later, sooner = (mechanism.move(advance(mechanism, q[0], v[0], s * dt)) for s in (1, -1))
    energy = 0.0
    for index in range(len(mechanism.bodies)):
        rate = (later.bodies[index, 0] - sooner.bodies[index, 0]) / (2 * dt)
        R, c = motions.bodies[index, 0, :3, :3], dynamics.centers[index]
        spin = rate[:3, :3] @ R.T
        w = np.array((spin[2, 1], spin[0, 2], spin[1, 0]))
        velocity = rate[:3, :3] @ c + rate[:3, 3]
        energy += 0.5 * dynamics.masses[index] * velocity @ velocity
        energy += 0.5 * w @ (R @ dynamics.inertias[index] @ R.T) @ w
    assert 0.5 * v[0] @ dynamics.mass_matrix(motions)[0] @ v[0] == pytest.approx(energy, rel=1e-7)


def test_blocks_are_parts_of_the_whole():
    dynamics = compile_dynamics(every_kind())
    q, _ = random_state(dynamics.mechanism, 10)
    motions = dynamics.mechanism.move(q)
    whole = dynamics.mass_matrix(motions)
    rows = [11, 3, 14, 7]
    (part,) = dynamics.mass_blocks(motions, [dynamics.make_block(rows)])
    np.testing.assert_allclose(part[0], whole[0][np.ix_(rows, rows)], atol=1e-14)
    np.testing.assert_allclose(whole, whole.transpose(0, 2, 1), atol=1e-13)


def test_a_base_may_be_counted_for_another_frame():
    asset = Asset("b", bodies=[Body("b", Pose.of((1, 2, 3)), solid(2.0, (0.1, 0.2, 0.3)))])
    frame = Pose.of((0.5, 0, 0), (0.6, 0, 0.8, 0))
    moved = dataclasses.replace(asset.bodies[0], pose=asset.bodies[0].pose @ frame)
    moved.inertial = asset.bodies[0].inertial.moved(~frame)
    one = compile_dynamics(asset, bases={"b": frame})
    two = compile_dynamics(Asset("c", bodies=[moved]))
    np.testing.assert_allclose(one.mechanism.neutral(), two.mechanism.neutral(), atol=1e-14)
    q, v = random_state(two.mechanism, 8)
    for a, b in zip(evaluate(one, q, v), evaluate(two, q, v), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)


def test_static_and_kinematic_bodies_have_no_freedom():
    asset = Asset("s", bodies=[Body("a", kinematic=True), Body("b", enabled=False)])
    assert compile_dynamics(asset).mechanism.velocities == 0


def load_in_mujoco(path: Path) -> mujoco.MjModel:
    if path.suffix != ".urdf":
        return mujoco.MjModel.from_xml_path(str(path))
    root = etree.parse(path).getroot()
    for tag in ("visual", "collision", "gazebo", "transmission", "mujoco"):
        for element in list(root.iter(tag)):
            element.getparent().remove(element)
    etree.SubElement(etree.SubElement(root, "mujoco"), "compiler", fusestatic="false", discardvisual="false")
    return mujoco.MjModel.from_xml_string(etree.tostring(root).decode())


def find_in_mujoco(model: mujoco.MjModel, freedom) -> int:
    if freedom.dof.motion is Motion.FREE:
        body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, freedom.body)
        return int(model.body_jntadr[body]) if body > 0 and model.body_jntnum[body] else -1
    return mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, freedom.name)


def relative(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.linalg.norm(a - b) / (np.linalg.norm(b) or 1.0))


URDFS = (
    "double_pendulum_description/urdf/double_pendulum.urdf",
    "kinova_description/robots/kinova.urdf",
    "laikago_description/urdf/laikago.urdf",
    "panda_description/urdf/panda.urdf",
    "solo_description/robots/solo12.urdf",
)
MJCFS = (
    "agility_cassie/cassie.xml", "franka_emika_panda/panda.xml", "google_barkour_vb/barkour_vb.xml",
    "kuka_iiwa_14/iiwa14.xml", "robotiq_2f85/scene.xml", "shadow_hand/scene_right.xml", "skydio_x2/x2.xml",
    "trossen_vx300s/vx300s.xml", "trs_so_arm100/so_arm100.xml", "unitree_h1/h1.xml",
    "google_barkour_vb/barkour_vb_rev_1_0_head_straight.urdf",
)  # fmt: skip


@pytest.mark.realworld
@pytest.mark.parametrize(
    "name", [*(f"mjcf/{n}" for n in MJCFS), *(f"urdf/example-robot-data/robots/{n}" for n in URDFS)]
)
def test_real_robots_are_those_of_mujoco(name, shared_assets):
    path = shared_assets / name
    if not path.exists():
        pytest.skip(f"{name} is absent")
    model = load_in_mujoco(path)
    data = mujoco.MjData(model)
    dynamics = compile_dynamics(simwright.load(path))
    mechanism = dynamics.mechanism
    q, v = random_state(mechanism, 9, COUNT)
    rest, ours, theirs, places = mechanism.neutral(), [], [], []
    for freedom in mechanism.freedoms:
        joint = find_in_mujoco(model, freedom)
        if joint < 0:
            # MuJoCo holds the root of a URDF
            q[:, freedom.positions], v[:, freedom.velocities] = rest[freedom.positions], 0.0
            continue
        count = freedom.velocities.stop - freedom.velocity
        ours += range(freedom.velocity, freedom.velocity + count)
        theirs += range(model.jnt_dofadr[joint], model.jnt_dofadr[joint] + count)
        places.append((freedom.positions, int(model.jnt_qposadr[joint])))
    assert sorted(theirs) == list(range(model.nv))
    motions = mechanism.move(q)
    M, bias = dynamics.mass_matrix(motions), dynamics.bias(motions, v)
    full = np.zeros((model.nv, model.nv))
    for n in range(COUNT):
        for part, start in places:
            data.qpos[start : start + part.stop - part.start] = q[n, part]
        data.qvel[theirs] = v[n, ours]
        mujoco.mj_forward(model, data)
        mujoco.mj_fullM(model, data, full)
        assert relative(M[n][np.ix_(ours, ours)], full[np.ix_(theirs, theirs)]) < EXACT
        assert relative(bias[n, ours], data.qfrc_bias[theirs]) < EXACT
        for index, body in enumerate(mechanism.bodies):
            number = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, body)
            if number >= 0:
                np.testing.assert_allclose(motions.bodies[index, n, :3, 3], data.xpos[number], atol=EXACT)
                at = data.xmat[number].reshape(3, 3)
                np.testing.assert_allclose(motions.bodies[index, n, :3, :3], at, atol=EXACT)
