"""Joints of every kind move as in the model: forward kinematics of both, at random coordinates."""

from __future__ import annotations

import itertools
import math

import mujoco
import numpy as np
import pytest

from simwright.core.errors import LimitError
from simwright.core.math3d import Pose, quat_angle, quat_conjugate, quat_multiply, vec3
from simwright.model.asset import Asset, Body, Shape
from simwright.model.geometry import Box
from simwright.model.inertia import Inertial
from simwright.model.joint import (
    Dof,
    Drive,
    Equality,
    EqualityKind,
    Gear,
    Joint,
    JointKind,
    Mimic,
    Motion,
)
from simwright.model.kinematics import build_tree, forward_kinematics

from .compiling import write_and_compile

SOLID = Inertial(1.0, vec3(0.1, 0.0, 0.02), np.diag((0.01, 0.02, 0.015)))
NEAR = Pose.from_rpy((0.3, -0.1, 0.2), (0.4, -0.7, 1.1))
FAR = Pose.from_rpy((-0.05, 0.2, 0.1), (-0.9, 0.3, 0.2))


def make_asset(*joints: Joint) -> Asset:
    names = {name for joint in joints for name in (joint.parent, joint.child) if name}
    bodies = [Body(name, inertial=SOLID) for name in sorted(names)]
    return Asset("machine", bodies=bodies, joints=list(joints))


def hold(child: str) -> Joint:
    return Joint(f"{child}_hold", JointKind.FIXED, "", child)


def turn(name: str = "q", axis=(0.0, 0.6, 0.8), **kwargs) -> Dof:
    return Dof(Motion.HINGE, vec3(axis), name=name, **kwargs)


def slide(name: str = "s", axis=(0.6, 0.0, 0.8), **kwargs) -> Dof:
    return Dof(Motion.SLIDE, vec3(axis), name=name, **kwargs)


CASES = {
    "hinge": (JointKind.REVOLUTE, [turn(ref=0.3, anchor=vec3(0.1, 0.2, 0.3))]),
    "slide": (JointKind.PRISMATIC, [slide(ref=-0.2)]),
    "ball": (JointKind.BALL, [Dof(Motion.BALL, name="b", anchor=vec3(0.1, 0.0, 0.2))]),
    "universal": (JointKind.UNIVERSAL, [turn("u", (1, 0, 0)), turn("v", (0, 1, 0))]),
    "planar": (JointKind.PLANAR, [slide("x", (1, 0, 0)), slide("y", (0, 1, 0)), turn("w", (0, 0, 1))]),
    "d6": (
        JointKind.D6,
        [slide("x", (1, 0, 0)), slide("z", (0, 0, 1)), turn("c", (0, 0, 1)), turn("a", (1, 0, 0))],
    ),
}


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("kind", CASES)
def test_motion(kind, backwards, tmp_path):
    word, dofs = CASES[kind]
    joint = Joint("j", word, "a", "b", NEAR, FAR, dofs=dofs)
    if backwards:  # the tree reaches the joint's child first
        joint = Joint("j", word, "b", "a", NEAR, FAR, dofs=dofs)
    asset = make_asset(hold("a"), joint)
    written = write_and_compile(asset, tmp_path)
    assert ("mjcf-write-joint-reversed" in written.kinds) is backwards
    rng = np.random.default_rng(5)
    for _ in range(5):
        values = {dof.name: draw(dof, rng) for dof in dofs}
        check_places(asset, written, values, inverted=backwards)


def draw(dof: Dof, rng: np.random.Generator):
    q = rng.normal(size=dof.positions)
    return q / np.linalg.norm(q) if dof.motion is Motion.BALL else q


def turn_axes(q, inverted: bool):
    """MuJoCo turns balls about the axes of the body."""
    if len(q) != 4:
        return q
    frame, q = (NEAR, q * (1, -1, -1, -1)) if inverted else (FAR, q)
    return quat_multiply(quat_multiply(frame.q, q), quat_conjugate(frame.q))


def check_places(asset, written, values, inverted=False):
    data = mujoco.MjData(written.model)
    for name, q in values.items():
        joint = written.model.joint(name if len(values) > 1 else "j")
        data.qpos[joint.qposadr[0] : joint.qposadr[0] + len(q)] = turn_axes(q, inverted)
    mujoco.mj_kinematics(written.model, data)
    coordinates = np.concatenate([values[dof.name] for dof in asset.joint("j").dofs])
    for name, pose in forward_kinematics(asset, {"j": coordinates}).items():
        body = data.body(name)
        assert np.allclose(body.xpos, pose.p, atol=1e-12), name
        assert quat_angle(body.xquat, pose.q) < 1e-7, name


def test_a_screw_advances(tmp_path):
    asset = make_asset(
        hold("a"), Joint("j", JointKind.SCREW, "a", "b", NEAR, FAR, dofs=[turn("j", pitch=0.02)])
    )
    model = write_and_compile(asset, tmp_path).model
    assert model.njnt == 2
    assert model.neq == 1
    data = mujoco.MjData(model)
    data.qpos[:] = (0.7, 0.02 * 0.7)
    mujoco.mj_kinematics(model, data)
    expected = forward_kinematics(asset, {"j": [0.7]})["b"]
    assert np.allclose(data.body("b").xpos, expected.p, atol=1e-12)
    assert np.allclose(model.eq_data[0, :3], (0.0, 0.02, 0.0))


def test_a_gearbox_couples_its_hinges(tmp_path):
    joint = Joint(
        "g", JointKind.GEARBOX, "a", "b", dofs=[turn("g1", (1, 0, 0)), turn("g2", (0, 1, 0))], gear=Gear(3.0)
    )
    model = write_and_compile(make_asset(hold("a"), joint), tmp_path).model
    assert np.allclose(model.eq_data[0, :2], (0.0, -3.0))


def test_floating_joint_inside_a_tree(tmp_path):
    """MuJoCo's free joint is for the world alone."""
    joint = Joint("f", JointKind.FLOATING, "a", "b", NEAR, FAR, dofs=[Dof(Motion.FREE, name="f")])
    asset = make_asset(hold("a"), joint)
    model = write_and_compile(asset, tmp_path).model
    assert (model.nq, model.nv) == (7, 6)
    q = np.array((0.1, -0.2, 0.3, 0.5, 0.5, -0.5, 0.5))
    data = mujoco.MjData(model)
    data.qpos[:] = (*q[:3], *turn_axes(q[3:], inverted=False))
    mujoco.mj_kinematics(model, data)
    pose = forward_kinematics(asset, {"f": q})["b"]
    assert np.allclose(data.body("b").xpos, pose.p, atol=1e-12)
    assert quat_angle(data.body("b").xquat, pose.q) < 1e-7


def test_roots_float_stand_or_are_moved(tmp_path):
    asset = Asset("props")
    asset.bodies = [
        Body("free", NEAR, inertial=SOLID),
        Body("moved", NEAR, inertial=SOLID, kinematic=True),
        Body("off", NEAR, inertial=SOLID, enabled=False),
        Body("base"),
        Body("arm", inertial=SOLID),
    ]
    asset.joints = [Joint("j", JointKind.REVOLUTE, "base", "arm", dofs=[turn("j")])]
    written = write_and_compile(asset, tmp_path)
    model = written.model
    assert [model.joint(i).name for i in range(model.njnt)] == ["free_free", "j"]
    assert model.body("moved").mocapid[0] == 0
    assert np.allclose(model.qpos0[:3], NEAR.p)
    assert "mjcf-write-root-fixed" in written.kinds


def test_limits_and_passive_forces(tmp_path):
    dof = turn(
        "j", (0, 0, 1), lower=-1.0, upper=2.0, armature=0.1, friction=0.2, damping=0.3, stiffness=4.0, spring_ref=0.5,
        effort_limit=7.0,
    )  # fmt: skip
    half = turn("h", (0, 0, 1), lower=-1.0)
    asset = make_asset(
        hold("a"),
        Joint("j", JointKind.REVOLUTE, "a", "b", dofs=[dof]),
        Joint("h", JointKind.REVOLUTE, "b", "c", dofs=[half]),
    )
    model = write_and_compile(asset, tmp_path).model
    joint = model.joint("j")
    assert np.allclose(joint.range, (-1.0, 2.0))
    assert joint.limited[0]
    assert model.joint("h").limited[0]
    assert model.joint("h").range[1] > 1e9
    assert (model.dof_armature[0], model.dof_frictionloss[0]) == (0.1, 0.2)
    assert float(np.ravel(model.dof_damping[0])[0]) == 0.3
    assert model.qpos_spring[0] == 0.5
    assert np.allclose(model.jnt_actfrcrange[0], (-7.0, 7.0))


def test_a_range_without_width_is_a_lock(tmp_path):
    joint = Joint("j", JointKind.REVOLUTE, "a", "b", dofs=[turn("j", lower=0.4, upper=0.4, ref=0.1)])
    written = write_and_compile(make_asset(hold("a"), joint), tmp_path)
    assert "mjcf-write-joint-locked" in written.kinds
    data = mujoco.MjData(written.model)
    for _ in range(800):
        mujoco.mj_step(written.model, data)
    assert data.qpos[0] == pytest.approx(0.4, abs=0.05)


def test_mimic_with_references(tmp_path):
    asset = make_asset(
        hold("a"),
        Joint("lead", JointKind.REVOLUTE, "a", "b", dofs=[turn("lead", ref=0.2)]),
        Joint("follow", JointKind.REVOLUTE, "a", "c", dofs=[turn("follow", ref=-0.1)]),
    )
    asset.mimics = [Mimic("follow", "lead", multiplier=-2.0, offset=0.5, polynomial=(0.3,))]
    model = write_and_compile(asset, tmp_path).model
    lead = np.linspace(-1, 1, 7)
    law = np.polynomial.Polynomial(model.eq_data[0, :5])
    assert np.allclose(law(lead - 0.2) - 0.1, 0.5 - 2.0 * lead + 0.3 * lead**2)


LOOPS = {
    JointKind.BALL: ([Dof(Motion.BALL, name="loop")], 1),
    JointKind.REVOLUTE: ([turn("loop", (0, 1, 0))], 2),
    JointKind.FIXED: ([], 1),
}


@pytest.mark.parametrize("kind", LOOPS)
def test_loops_hold(kind, tmp_path):
    dofs, count = LOOPS[kind]
    asset = make_asset(
        hold("a"),
        Joint("j1", JointKind.REVOLUTE, "a", "b", Pose.of((0, 0, 0.5)), dofs=[turn("j1", (0, 1, 0))]),
        Joint("j2", JointKind.REVOLUTE, "b", "c", Pose.of((0.5, 0, 0)), dofs=[turn("j2", (0, 1, 0))]),
        Joint(
            "loop", kind, "a", "c", Pose.of((0.7, 0, 0.5)), Pose.of((0.2, 0, 0)), dofs=dofs, closes_loop=True
        ),
    )
    model = write_and_compile(asset, tmp_path).model
    assert model.neq == count
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    rows = data.efc_pos[: data.ne] if data.ne else np.zeros(1)
    assert data.ne == {JointKind.BALL: 3, JointKind.REVOLUTE: 6, JointKind.FIXED: 6}[kind]
    assert np.abs(rows).max() < 1e-9  # closed where the model closes it


def test_a_loop_that_is_open_at_the_start_is_held_by_sites(tmp_path):
    asset = make_asset(hold("a"), Joint("j", JointKind.REVOLUTE, "a", "b", dofs=[turn("j")]))
    asset.equalities = [
        Equality("pin", EqualityKind.CONNECT, "a", "b", Pose.of((0.1, 0, 0)), Pose.of((0, 0.2, 0)))
    ]
    model = write_and_compile(asset, tmp_path).model
    assert int(model.eq_objtype[0]) == int(mujoco.mjtObj.mjOBJ_SITE)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert np.linalg.norm(data.efc_pos[:3]) == pytest.approx(math.hypot(0.1, 0.2))


def test_weld_frames(tmp_path):
    asset = make_asset(hold("a"), Joint("j", JointKind.REVOLUTE, "a", "b", dofs=[turn("j")]))
    frame = Pose.from_rpy((0.1, 0.2, 0.3), (0.3, 0.2, 0.1))
    asset.equalities = [Equality("w", EqualityKind.WELD, "a", "b", frame, frame, torque_scale=0.5)]
    model = write_and_compile(asset, tmp_path).model
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert np.abs(data.efc_pos[:6]).max() < 1e-12
    assert model.eq_data[0, 10] == 0.5


def test_a_distance_is_a_limited_tendon(tmp_path):
    asset = make_asset(Joint("rope", JointKind.DISTANCE, "a", "b", distance=(0.0, 0.8)))
    asset.bodies[1].pose = Pose.of((0.5, 0, 0))
    model = write_and_compile(asset, tmp_path).model
    assert model.njnt == 2
    assert np.allclose(model.tendon_range[0], (0.0, 0.8))
    assert model.tendon_limited[0]
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert data.ten_length[0] == pytest.approx(0.5)


def test_a_sliding_loop_is_reported(tmp_path):
    asset = make_asset(
        hold("a"),
        Joint("j", JointKind.REVOLUTE, "a", "b", dofs=[turn("j")]),
        Joint("loop", JointKind.PRISMATIC, "a", "b", dofs=[slide("loop")], closes_loop=True),
    )
    written = write_and_compile(asset, tmp_path)
    assert "mjcf-write-not-carried" in written.kinds
    assert written.model.neq == 0


def test_initial_state_is_a_keyframe(tmp_path):
    dof = turn("j", position=0.4, velocity=-1.0, drive=Drive(10.0, 1.0, target_position=0.3))
    asset = make_asset(hold("a"), Joint("j", JointKind.REVOLUTE, "a", "b", dofs=[dof]))
    asset.bodies.append(
        Body(
            "ball",
            NEAR,
            inertial=SOLID,
            linear_velocity=vec3(1, 2, 3),
            angular_velocity=NEAR.rotation @ vec3(0, 0, 1),
        )
    )
    model = write_and_compile(asset, tmp_path).model
    key = model.key("initial")
    assert key.qpos[0] == 0.4
    assert key.qvel[0] == -1.0
    assert key.ctrl[0] == 0.3
    assert np.allclose(key.qpos[1:4], NEAR.p)
    assert np.allclose(key.qvel[1:], (1, 2, 3, 0, 0, 1))


def test_round_coordinates_are_converted(tmp_path):
    """A ball and a free body start where the model has them, whatever the joint frames are."""
    start = np.array((0.8, 0.0, 0.6, 0.0))
    free = Dof(Motion.FREE, name="f", position=(0.1, 0.2, 0.3, *start))
    asset = make_asset(
        Joint("f", JointKind.FLOATING, "", "a", NEAR, FAR, dofs=[free]),
        Joint("j", JointKind.BALL, "a", "b", NEAR, FAR, dofs=[Dof(Motion.BALL, name="j", position=start)]),
    )
    model = write_and_compile(asset, tmp_path).model
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_kinematics(model, data)
    for name, pose in forward_kinematics(asset).items():
        assert np.allclose(data.body(name).xpos, pose.p, atol=1e-12), name
        assert quat_angle(data.body(name).xquat, pose.q) < 1e-7, name


def test_long_chains_are_refused(tmp_path):
    names = [f"b{i}" for i in range(260)]
    joints = [
        Joint(f"j{i}", JointKind.REVOLUTE, a, b, dofs=[turn(f"j{i}")])
        for i, (a, b) in enumerate(itertools.pairwise(names))
    ]
    with pytest.raises(LimitError, match="nested"):
        write_and_compile(make_asset(*joints), tmp_path)


def test_names_that_mujoco_has(tmp_path):
    asset = make_asset(Joint("world_j", JointKind.REVOLUTE, "world", "b", dofs=[turn("world_j")]))
    asset.joints[0].ros_name = "shoulder"
    asset.shapes = [Shape("s", Box.of(1, 1, 1), body="world")]
    written = write_and_compile(asset, tmp_path)
    assert "mjcf-write-renamed" in written.kinds
    assert written.model.joint("shoulder").type[0] == int(mujoco.mjtJoint.mjJNT_HINGE)
    assert len(build_tree(asset).edges) == written.model.nbody - 2
