# SPDX-License-Identifier: Apache-2.0
"""Questions to compiled models, and worlds of them: answers that are known by hand, or MuJoCo's own."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from simwright.core.errors import UsageError
from simwright.engines.mujoco import queries
from simwright.engines.mujoco.actuation import ActuatorKind, hold_controls, list_actuators, make_motor
from simwright.engines.mujoco.batch import ModelBatch

ARM = """
<mujoco><option timestep="0.002"/><worldbody>
<geom name="floor" type="plane" size="0 0 1"/>
<body name="upper" pos="0 0 1"><joint name="shoulder" axis="0 1 0"/>
 <geom name="upper" type="capsule" fromto="0 0 0 0.5 0 0" size="0.02" mass="1" contype="0" conaffinity="0"/>
 <body name="lower" pos="0.5 0 0"><joint name="elbow" axis="0 1 0" range="-1 1" limited="true"/>
  <geom name="lower" type="sphere" pos="0.5 0 0" size="0.05" mass="2"/>
  <site name="tip" pos="0.5 0 0"/></body></body>
<body name="box" pos="2 0 0.1"><freejoint name="box"/><geom name="box" type="box" size="0.1 0.1 0.1" mass="1"/></body>
</worldbody>
<tendon><fixed name="both"><joint joint="shoulder" coef="1"/><joint joint="elbow" coef="1"/></fixed>
 <spatial name="space"><site site="tip"/><site site="tip2"/></spatial></tendon>
<actuator><position name="s" joint="shoulder" kp="100" forcerange="-7 7"/><motor name="e" joint="elbow"/>
 <position name="t" tendon="both" kp="2"/></actuator></mujoco>
""".replace('<site name="tip" ', '<site name="tip2" pos="0 0 0.1"/><site name="tip" ')


@pytest.fixture
def model():
    return mujoco.MjModel.from_xml_string(ARM)


def put(model, shoulder=0.0, elbow=0.0, height=0.1):
    qpos = np.array(model.qpos0)
    qpos[:2], qpos[4] = (shoulder, elbow), height
    return qpos


def test_numbers_are_mujocos():
    kinds = mujoco.mjtJoint
    assert [int(kinds.mjJNT_FREE), int(kinds.mjJNT_BALL), int(kinds.mjJNT_SLIDE), int(kinds.mjJNT_HINGE)] == [
        queries.FREE,
        queries.BALL,
        queries.SLIDE,
        queries.HINGE,
    ]
    assert int(mujoco.mjtGeom.mjGEOM_BOX) == queries.BOX
    assert int(mujoco.mjtIntegrator.mjINT_IMPLICITFAST) == queries.IMPLICITFAST


def test_every_attribute_of_the_protocols_is_there(model):
    data = mujoco.MjData(model)
    for protocol, thing in ((queries.MjModel, model), (queries.MjData, data)):
        names = [*protocol.__annotations__, *(name for name in vars(protocol) if not name.startswith("_"))]
        assert [name for name in names if not hasattr(thing, name)] == []


def test_names_and_tendons(model):
    assert queries.find_body(model, "lower") == model.body("lower").id
    assert queries.find_site(model, "tip") == model.site("tip").id
    assert queries.find_body(model, "nobody") == queries.find_site(model, "lower") == -1
    assert queries.list_tendon_joints(model, 0) == [0, 1]
    assert queries.list_tendon_joints(model, 1) == []


def test_poses_and_jacobians_of_a_bent_arm(model):
    data = queries.pose_bodies(model, put(model, elbow=-np.pi / 2))
    tip = model.site("tip").id
    assert queries.read_site(data, tip).p == pytest.approx([0.5, 0, 1.5])
    assert queries.read_body(data, model.body("lower").id).p == pytest.approx([0.5, 0, 1.0])
    place, spin = queries.compute_site_jacobians(model, data, tip)
    assert place[:, :2] == pytest.approx(np.array([[0.5, 0.5], [0, 0], [-0.5, 0]]), abs=1e-12)
    assert spin[:, :2] == pytest.approx(np.array([[0, 0], [1, 1], [0, 0]]), abs=1e-12)
    body = int(model.site_bodyid[tip])
    assert queries.compute_point_jacobian(model, data, body, [0.5, 0, 1.5]) == pytest.approx(place)
    again = queries.pose_bodies(model, put(model), data)
    assert again is data
    assert queries.read_site(again, tip).p == pytest.approx([1, 0, 1])


def test_inertia_and_weight_that_a_joint_feels(model):
    data = queries.compute_forward(model, put(model))
    ball = 2 * 0.4 * 0.05**2
    assert queries.compute_inertia(model, data, 1) == pytest.approx(2 * 0.5**2 + ball)
    assert data.qfrc_bias[1] == pytest.approx(-2 * 9.81 * 0.5)


def test_distances_and_overlaps(model):
    box, floor = model.geom("box").id, model.geom("floor").id
    data = queries.pose_bodies(model, put(model, height=0.35))
    assert queries.measure_gap(model, data, box, floor) == pytest.approx(0.25)
    assert queries.measure_gap(model, data, box, floor, 0.2) == pytest.approx(0.2)
    assert queries.list_overlaps(model, data).shape == (0, 2)
    data = queries.pose_bodies(model, put(model, height=0.09))
    assert {tuple(sorted(pair)) for pair in queries.list_overlaps(model, data).tolist()} == {(floor, box)}


def test_constants_follow_masses(model):
    before = float(model.body_invweight0[model.body("box").id, 0])
    model.body_mass[model.body("box").id] *= 2.0
    queries.update_constants(model)
    assert float(model.body_invweight0[model.body("box").id, 0]) == pytest.approx(0.5 * before)


def test_actuators_are_told_apart_and_made_motors(model):
    kinds = [(actuator.kind, actuator.transmission, actuator.joint) for actuator in list_actuators(model)]
    assert kinds == [
        (ActuatorKind.POSITION, "joint", 0),
        (ActuatorKind.MOTOR, "joint", 1),
        (ActuatorKind.POSITION, "tendon", -1),
    ]
    assert hold_controls(model, put(model, 0.2, 0.3)) == pytest.approx([0.2, 0.0, 0.5])
    make_motor(model, list_actuators(model)[0])
    changed = list_actuators(model)[0]
    assert (changed.kind, changed.low, changed.high) == (ActuatorKind.MOTOR, -7.0, 7.0)
    with ModelBatch(model) as worlds:
        worlds.view("ctrl")[0, 0] = 3.0
        assert worlds.hold().actuator_force[0] == pytest.approx(3.0)


@pytest.mark.parametrize("count", [1, 3, 5])
def test_looking_at_worlds_changes_nothing(model, count):
    with ModelBatch(model, count, threads=3) as seen, ModelBatch(model, count, threads=3) as plain:
        for worlds in (seen, plain):
            worlds.view("qvel")[:] = 0.3 * np.random.default_rng(0).standard_normal((count, model.nv))
        for step in range(20):
            seen.step(3)
            plain.step(3)
            world = step % count
            data = seen.look(world) if step % 2 else seen.hold(world)
            assert data.qpos == pytest.approx(seen.view("qpos")[world], abs=1e-15)
            known = queries.pose_bodies(model, seen.view("qpos")[world])
            assert np.array_equal(data.xpos, known.xpos), "bodies are where the coordinates are"
        assert seen.states.tobytes() == plain.states.tobytes()


def test_a_single_world_of_several_is_stepped_in_its_own_data(model):
    with ModelBatch(model, 2, threads=2) as worlds:
        worlds.view("qpos")[1, 4] = 0.0999
        worlds.step(1, worlds=[1])
        assert worlds.look(1).ncon > 0, "contacts of the last step"
        assert worlds.view("time")[:, 0].tolist() == [0.0, 0.002]


@pytest.mark.parametrize("threads", [1, 4])
def test_worlds_that_break_down_are_told_until_they_are_reset(model, threads):
    with ModelBatch(model, 4, threads=threads) as worlds:
        worlds.view("qvel")[2, 0] = 1e12
        worlds.step(2)
        assert worlds.broken.tolist() == [False, False, True, False], "in the first step of all too"
        worlds.view("qpos")[0, 3] = np.nan
        worlds.step(2)
        assert worlds.broken.tolist() == [True, False, True, False]
        worlds.reset([2])
        worlds.step(2)
        assert worlds.broken.tolist() == [True, False, False, False]
        assert worlds.view("time")[2, 0] == pytest.approx(0.004)
        worlds.reset()
        assert not worlds.broken.any()
        assert worlds.view("qpos") == pytest.approx(np.tile(model.qpos0, (4, 1)))


def test_models_and_worlds_have_to_match(model):
    with pytest.raises(UsageError, match="2 models for 3 worlds"):
        ModelBatch([model, model], 3)


STACK = """<mujoco><option timestep="0.002"/><worldbody><geom type="plane" size="1 1 1"/>
<body name="low" pos="0 0 0.1"><freejoint/><geom type="box" size="0.1 0.1 0.1" mass="2"/></body>
<body name="high" pos="0 0 0.25"><freejoint/><geom type="box" size="0.05 0.05 0.05" mass="1"/></body>
<body name="aside" pos="1 0 0.1"><freejoint/><geom type="box" size="0.1 0.1 0.1" mass="5"/></body>
</worldbody></mujoco>"""


@pytest.mark.parametrize(
    ("inside", "last", "weight"),
    [
        # the lower box on the floor carries both; with the upper one outside there is that contact too
        ([1], 3, 3.0),
        ([1], 1, 4.0),
        ([2], 2, 0.0),
        ([2], 0, 1.0),
        ([1, 2, 3], 3, 8.0),
        ([], 3, 0.0),
    ],
)
def test_contact_forces_are_those_between_the_bodies_that_are_asked_for(inside, last, weight):
    model = mujoco.MjModel.from_xml_string(STACK)
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, 2000)
    chosen = np.isin(np.arange(model.nbody), inside)
    assert queries.measure_contact_force(model, data, chosen, last) == pytest.approx(
        9.81 * weight, rel=1e-3, abs=1e-9
    )


PATH = """<mujoco><option timestep="0.002"/><worldbody><geom type="plane" size="1 1 1"/>
<body name="link" pos="0 0 0.5"><joint name="hinge" axis="0 1 0" damping="0.1"/>
 <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.02" mass="1"/></body>
<body name="box" pos="0.3 0 0.06"><freejoint/><geom type="box" size="0.05 0.05 0.05" mass="0.5"/></body>
<body name="hand" mocap="true" pos="0.3 0.3 0.3"><geom type="sphere" size="0.03"/></body>
</worldbody>
<equality><weld name="tie" body1="box" body2="link" active="false"/></equality>
<actuator><position joint="hinge" kp="50"/><motor joint="hinge" ctrlrange="-1 1"/></actuator></mujoco>"""


def change(batch, case):
    """Something that only one world is told beside its controls."""
    if case == "mocap":
        batch.view("mocap_pos")[1] = [0.3, 0.0, 0.16]
    elif case == "force":
        batch.view("xfrc_applied")[1, 12:15] = [0.0, 3.0, 1.0]
    elif case == "joint force":
        batch.view("qfrc_applied")[1, 0] = 2.0
    elif case == "equality":
        batch.view("eq_active")[1] = 1.0
    elif case == "broken":
        # breaks down in its first time step, and goes on from the start as a loop of mj_step does
        batch.view("qvel")[1, 2] = 1e12


@pytest.mark.parametrize(
    ("case", "with_mocap"),
    [
        *((case, True) for case in ("plain", "mocap", "force", "joint force", "equality", "broken")),
        *((case, False) for case in ("plain", "force", "joint force", "equality", "broken")),
    ],
)
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_worlds_that_follow_controls_move_as_a_loop_of_steps_does(case, with_mocap, threads):
    """Bit for bit, the warm start included; one control of two is given, the other stays."""
    text = PATH if with_mocap else PATH.replace('mocap="true"', "")
    model = mujoco.MjModel.from_xml_string(text)
    batch = ModelBatch(model, 3, threads=threads)
    batch.step(5)
    batch.view("ctrl")[:, 1] = [0.1, 0.2, 0.3]
    change(batch, case)
    controls = np.random.default_rng(2).uniform(-1.0, 1.0, (3, 6, 1))
    spec = mujoco.mjtState.mjSTATE_INTEGRATION
    expected, speeds = batch.states.copy(), np.zeros((3, 6, model.nv))
    for world in (0, 1):
        data = mujoco.MjData(model)
        mujoco.mj_setState(model, data, expected[world], spec)
        for number in range(6):
            data.ctrl[0] = controls[world, number, 0]
            mujoco.mj_step(model, data)
            speeds[world, number] = data.qvel
        mujoco.mj_getState(model, data, expected[world], spec)
    found = batch.follow(controls, [0, 1])
    assert batch.states.tobytes() == expected.tobytes()
    assert found.tobytes() == speeds.tobytes()
    assert batch.broken.tolist() == [False, case == "broken", False]
    # and on from there
    batch.step(2, [0, 1])
    again = ModelBatch(model, 3)
    again.states[:] = expected
    again.step(2, [0, 1])
    assert batch.states.tobytes() == again.states.tobytes()
    batch.close()
    again.close()
