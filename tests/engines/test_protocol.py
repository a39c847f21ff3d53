# SPDX-License-Identifier: Apache-2.0
"""What every engine is asked in the same words: names, states, forces, dynamics; and a new engine in one file."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import simwright
from simwright.core.diag import Reporter
from simwright.core.errors import UnknownNameError, UsageError
from simwright.core.math3d import Pose, quat_normalize
from simwright.engines.layout import Layout
from simwright.engines.protocol import (
    Capabilities,
    Settings,
    Simulation,
    UnstableError,
    WorldSet,
    as_world_set,
)
from simwright.engines.table import ENGINES, load_engine
from simwright.model.asset import Asset, Body
from simwright.model.inertia import Inertial
from simwright.model.joint import WORLD, Dof, Drive, Joint, JointKind, Motion
from simwright.model.kinematics import forward_kinematics
from simwright.scenes.document import parse_scene
from simwright.scenes.load import assemble_scene
from simwright.scenes.simulation import open_scene

NEAR = Pose.of((0.1, -0.2, 0.3), quat_normalize((0.9, 0.1, -0.3, 0.2)))
FAR = Pose.of((-0.05, 0.15, 0.1), quat_normalize((0.8, -0.2, 0.1, 0.4)))


def make_body(name, number):
    inertia = np.diag((0.02, 0.03, 0.04)) * (1 + 0.1 * number)
    return Body(name, inertial=Inertial(1.0 + 0.2 * number, np.array((0.02, 0.03, -0.04)), inertia))


def make_chain():
    """A body that floats by a joint with frames, then every other kind of joint, one of them named backwards."""
    asset = Asset("chain")
    kinds = [
        (JointKind.FLOATING, [Dof(Motion.FREE, name="base")]),
        (JointKind.REVOLUTE, [Dof(Motion.HINGE, np.array((0.0, 1.0, 0.0)), "elbow", lower=-2.0, upper=2.0)]),
        (JointKind.BALL, [Dof(Motion.BALL, name="wrist")]),
        (JointKind.PRISMATIC, [Dof(Motion.SLIDE, np.array((1.0, 0.0, 0.0)), "finger", ref=0.1)]),
        (
            JointKind.D6,
            [
                Dof(Motion.SLIDE, np.array((0.0, 0.0, 1.0)), "up"),
                Dof(Motion.HINGE, np.array((1.0, 0, 0)), "roll"),
            ],
        ),
        (JointKind.FLOATING, [Dof(Motion.FREE, name="loose")]),
    ]
    above = WORLD
    for number, (kind, dofs) in enumerate(kinds):
        body = make_body(f"b{number}", number)
        asset.bodies.append(body)
        ends = (above, body.name) if number != 3 else (body.name, above)
        asset.joints.append(Joint(f"j{number}", kind, *ends, NEAR, FAR, dofs))
        above = body.name
    for body, pose in zip(asset.bodies, forward_kinematics(asset).values(), strict=True):
        body.pose = pose
    return asset


def draw(layout, seed):
    rng = np.random.default_rng(seed)
    q, v = rng.normal(size=layout.nq) * 0.5, rng.normal(size=layout.nv)
    for freedom in layout.freedoms:
        if freedom.motion in (Motion.BALL, Motion.FREE):
            turn = q[freedom.positions][-4:]
            turn[:] = turn / np.linalg.norm(turn)
    return q, v


def by_joint(asset, layout, q):
    """Coordinates as forward kinematics takes them."""
    return {
        joint.name: np.concatenate([q[f.positions] for f in layout.freedoms if f.joint is joint])
        for joint in asset.joints
        if joint.dofs
    }


def test_the_layout_names_every_entry():
    layout = Layout(make_chain())
    assert [freedom.name for freedom in layout.freedoms] == [
        "base",
        "elbow",
        "wrist",
        "finger",
        "up",
        "roll",
        "loose",
    ]
    names = layout.list_position_names()
    assert len(names) == layout.nq == 7 + 1 + 4 + 1 + 2 + 7
    assert names[:8] == ["base.x", "base.y", "base.z", "base.qw", "base.qx", "base.qy", "base.qz", "elbow"]
    assert len(layout.list_velocity_names()) == layout.nv == 6 + 1 + 3 + 1 + 2 + 6
    with pytest.raises(UnknownNameError, match="did you mean 'elbow'"):
        layout.find("ellbow")


@pytest.mark.parametrize("seed", range(4))
def test_positions_mean_what_the_model_says(seed):
    asset = make_chain()
    with load_engine().open(asset) as simulation:
        q, v = draw(simulation.layout, seed)
        simulation.set_state(q[None], v[None])
        np.testing.assert_allclose(simulation.positions[0], q, atol=1e-12)
        np.testing.assert_allclose(simulation.velocities[0], v, atol=1e-12)
        found = simulation.body_poses()[0]
    poses = forward_kinematics(asset, by_joint(asset, simulation.layout, q))
    for row, body in enumerate(asset.bodies):
        pose = poses[body.name]
        np.testing.assert_allclose(found[row, :3], pose.p, atol=1e-10)
        assert abs(found[row, 3:] @ pose.q) == pytest.approx(1.0, abs=1e-12)


def move(freedom, q, v, dt):
    """Coordinates a moment later, by the meaning of velocities alone."""
    if freedom.motion in (Motion.HINGE, Motion.SLIDE):
        return q + v * dt
    spin = v[-3:] * dt
    angle = np.linalg.norm(spin)
    turn = np.concatenate(((np.cos(angle / 2),), np.sin(angle / 2) * spin / max(angle, 1e-300)))
    w, x, y, z = turn
    left = np.array([[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]])
    turned = left @ q[-4:]
    return turned if freedom.motion is Motion.BALL else np.concatenate((q[:3] + v[:3] * dt, turned))


@pytest.mark.parametrize("seed", range(3))
def test_velocities_are_rates_of_positions(seed):
    """Velocities of bodies in MuJoCo are the rates of poses that forward kinematics has."""
    asset, dt = make_chain(), 1e-6
    with load_engine().open(asset) as simulation:
        layout = simulation.layout
        q, v = draw(layout, seed)
        simulation.set_state(q[None], v[None])
        model, data = simulation.batch.model, simulation.hold()
        places = []
        for sign in (-1.0, 1.0):
            later = q.copy()
            for freedom in layout.freedoms:
                later[freedom.positions] = move(
                    freedom, q[freedom.positions], v[freedom.velocities], sign * dt
                )
            places.append(forward_kinematics(asset, by_joint(asset, layout, later)))
        for body in asset.bodies:
            rate = np.zeros(6)
            at = model.body(body.name).id
            mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, at, rate, 0)
            expected = (places[1][body.name].p - places[0][body.name].p) / (2 * dt)
            np.testing.assert_allclose(rate[3:], expected, atol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_mass_matrix_and_bias_tell_the_energy(seed):
    """Half v M v is the kinetic energy; bias is what changes momentum while velocities stay (by finite differences)."""
    asset = make_chain()
    asset.environment.gravity = np.array((0.3, -0.2, -9.0))
    with load_engine().open(asset) as simulation:
        layout = simulation.layout
        q, v = draw(layout, seed)
        simulation.set_state(q[None], v[None])
        matrix = simulation.mass_matrix()
        data = simulation.hold()
        mujoco.mj_energyVel(simulation.batch.model, data)
        assert 0.5 * v @ matrix @ v == pytest.approx(float(data.energy[1]), rel=1e-9)
        np.testing.assert_allclose(matrix, matrix.T, atol=1e-12)
        # power of gravity and inertia: d(kinetic)/dt at fixed v equals v . (M' v / 2), and v . bias = v . C v - v . g
        bias = simulation.bias()
        simulation.set_state(q[None], np.zeros((1, layout.nv)))
        gravity = simulation.bias()
        dt, kinetic = 1e-6, []
        for sign in (-1.0, 1.0):
            later = q.copy()
            for freedom in layout.freedoms:
                later[freedom.positions] = move(
                    freedom, q[freedom.positions], v[freedom.velocities], sign * dt
                )
            simulation.set_state(later[None], v[None])
            kinetic.append(0.5 * v @ simulation.mass_matrix() @ v)
        rate = (kinetic[1] - kinetic[0]) / (2 * dt)
        assert v @ (bias - gravity) == pytest.approx(rate, abs=2e-5 * max(1.0, abs(rate)))


ARM = """
<mujoco>
  <compiler angle="radian"/>
  <worldbody>
    <geom name="ground" type="plane" size="1 1 0.1"/>
    <body name="ball" pos="0 0 0.1"><freejoint name="fly"/><geom name="shell" size="0.1" mass="2"/></body>
    <body name="arm" pos="1 0 1">
      <joint name="elbow" axis="0 1 0" damping="0.1"/>
      <geom name="bar" type="capsule" fromto="0 0 0 0.3 0 0" size="0.02"/>
      <site name="tip" pos="0.3 0 0"/>
    </body>
  </worldbody>
  <actuator>
    <position name="servo" joint="elbow" kp="30" gear="2"/>
    <motor name="push" joint="elbow"/>
  </actuator>
  <sensor><jointpos name="angle" joint="elbow"/><framepos name="place" objtype="site" objname="tip"/></sensor>
</mujoco>
"""


@pytest.fixture
def arm(tmp_path):
    file = tmp_path / "arm.xml"
    file.write_text(ARM)
    return simwright.load(file)


def test_names_and_questions(arm):
    with load_engine().open(arm, worlds=3) as simulation:
        assert simulation.actuators == ("servo", "push")
        assert simulation.sensors == ("angle", "place")
        assert (simulation.worlds, simulation.dt) == (3, 0.002)
        simulation.set("elbow", 0.4, world=1)
        assert [simulation.get("elbow", world) for world in range(3)] == [0.0, 0.4, 0.0]
        assert simulation.read_sensors(1)["angle"].tolist() == [0.4]
        assert simulation.read_sensors(0)["place"] == pytest.approx([1.3, 0, 1])
        simulation.set("fly", velocity=(0, 0, 0, 0, 0, 2.0))
        assert simulation.velocities[2, simulation.layout.find("fly").velocities][5] == 2.0
        simulation.control("push", 0.3, world=2)
        assert simulation.controls[:, 1].tolist() == [0.0, 0.0, 0.3]
        simulation.step(200)
        touching = simulation.contacts(0)
        assert {(one.a, one.b) for one in touching} <= {("", "ball"), ("ball", "")}
        assert sum(one.force for one in touching) == pytest.approx(2 * 9.81, rel=0.05)
        with pytest.raises(UnknownNameError, match="did you mean 'servo'"):
            simulation.control("sevro", 1.0)
        with pytest.raises(UsageError, match="'fly' has 7 numbers here, not 3"):
            simulation.set("fly", (1, 2, 3))


def test_targets_go_through_gear_and_gain(arm):
    arm.environment.gravity = np.zeros(3)
    with load_engine().open(arm) as simulation:
        targets = np.zeros((1, simulation.layout.nv))
        targets[0, simulation.layout.find("elbow").v] = 0.7
        simulation.set_targets(targets)
        simulation.step(4000)
        assert simulation.get("elbow") == pytest.approx(0.7, abs=1e-3)


def test_a_drive_is_an_actuator_of_its_dof():
    asset = make_chain()
    asset.joints[1].dofs[0].drive = Drive(50.0, 5.0, target_position=0.3, max_force=100.0)
    with load_engine().open(asset) as simulation:
        assert simulation.actuators == ("elbow",)
        assert simulation.controls.tolist() == [[0.3]]


def test_a_world_that_breaks_is_named_and_kept_whole(arm):
    arm.actuators[1].gear = (1e9,)
    with load_engine().open(arm, Settings(dt=0.01), worlds=2) as simulation:
        simulation.step(10)
        simulation.control("push", 1e6, world=1)
        with pytest.raises(UnstableError, match=r"in world 1: joint 'elbow' has a velocity"):
            simulation.step(500)
        assert np.isfinite(simulation.positions).all()
        assert np.abs(simulation.velocities).max() < 1e8
        assert 10 <= simulation.count < 510


class DriftingSimulation(Simulation):
    """Keeps its velocities for ever: an engine without forces."""

    def __init__(self, scene: WorldSet, settings: Settings) -> None:
        self.layout, self.worlds, self.threads = Layout(scene.assets[0]), scene.worlds, 1
        self.dt = settings.dt or 0.002
        self.actuators = self.sensors = ()
        self._q = np.tile(np.concatenate([j.initial() for j in scene.assets[0].joints]), (self.worlds, 1))
        self._v = np.zeros((self.worlds, self.layout.nv))

    @property
    def positions(self):
        return self._q.copy()

    @property
    def velocities(self):
        return self._v.copy()

    def set_state(self, positions=None, velocities=None, worlds=None):
        rows = slice(None) if worlds is None else list(worlds)
        if positions is not None:
            self._q[rows] = positions
        if velocities is not None:
            self._v[rows] = velocities

    @property
    def controls(self):
        return np.zeros((self.worlds, 0))

    def set_controls(self, controls):
        del controls

    def set_targets(self, positions=None, velocities=None, efforts=None):
        del positions, velocities, efforts

    def apply_forces(self, forces=None, wrenches=None):
        del forces, wrenches

    def step(self, steps=1):
        self._q += self._v * self.dt * steps
        self.count += steps

    def body_poses(self):
        return np.zeros((self.worlds, len(self.layout.bodies), 7))

    def close(self):
        pass


class DriftingEngine:
    capabilities = Capabilities(name="drifting", title="Drifting", reads="model", solvers={"plain": "v dt"})

    def open(self, source, settings=None, reporter=None, *, worlds=1):
        return DriftingSimulation(as_world_set(source, worlds), settings or Settings())


DRIFTING = DriftingEngine()
HINGE = """
ground: false
bodies: [{id: link, shapes: [{type: sphere, radius: 0.1, transform: {p: [0, 0, -1]}}]}]
joints: [{id: hinge, type: revolute, child: link, axis: y}]
articulations: [{id: a, joints: [hinge]}]
"""


def test_a_new_engine_is_one_file_and_a_row(tmp_path, monkeypatch):
    """Found by its entry point, it runs scenes and robots; nothing else has to know it."""
    monkeypatch.setitem(ENGINES.__dict__, "_plugins", {"drifting": f"{__name__}:DRIFTING"})
    monkeypatch.setitem(ENGINES._loaded, "drifting", DRIFTING)
    loaded = assemble_scene(parse_scene(HINGE), num_worlds=3)
    loaded.state.joint_qd[:] = (1.0, 2.0, 3.0)
    with open_scene(loaded, Settings(dt=0.1), Reporter(), engine="drifting") as simulation:
        simulation.advance(loaded.state, loaded.control, 10)
    np.testing.assert_allclose(loaded.state.joint_q, (1.0, 2.0, 3.0), atol=1e-6)
    file = tmp_path / "arm.urdf"
    file.write_text(
        '<robot name="a"><link name="base"/><link name="tip"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="turn" type="continuous"><parent link="base"/><child link="tip"/></joint></robot>'
    )
    result = simwright.run(file, engine="drifting", frames=5)
    assert result.solver == "plain"
    assert result.positions.tolist() == [[0.0]]
