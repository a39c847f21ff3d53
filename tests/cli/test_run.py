# SPDX-License-Identifier: Apache-2.0
"""``simwright run`` and ``simwright.run``."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import jsonschema
import mujoco
import numpy as np
import pytest
from click.testing import CliRunner

import simwright
from simwright.app import running
from simwright.app.cli.main import cli, run
from simwright.app.recording import pose_bodies
from simwright.core.errors import LimitError, MissingExtraError, UnknownNameError, UsageError

SCHEMA = Path(__file__).parents[2] / "src/simwright/app/schemas/run.v1.schema.json"
DROP = """
schema_version: 1
simulation: {dt: 0.004, num_worlds: 2}
builder: {defaults: {shape: {ke: 1.0e5, tau: 0.02}}}
bodies: [{id: cube, transform: {p: [0, 0, 0.5]}, shapes: [{hx: 0.1, hy: 0.1, hz: 0.1}]}]
joints: [{id: float, type: free, child: cube}]
articulations: [{id: a, joints: [float]}]
"""
ARM = """
ground: false
builder: {gravity: 0}
bodies: [{id: link, shapes: [{type: sphere, radius: 0.1, transform: {p: [0, 0, -1]}}]}]
joints:
  - {id: hinge, type: revolute, child: link, axis: y, target_ke: 2000, target_kd: 300, actuator_mode: 1}
articulations: [{id: a, joints: [hinge]}]
"""
ROBOT = """
<robot name="post">
  <link name="foot">
    <inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><box size="0.4 0.4 0.2"/></geometry></collision>
  </link>
</robot>
"""


@pytest.fixture
def drop(tmp_path):
    file = tmp_path / "drop.yaml"
    file.write_text(DROP)
    return file


@pytest.fixture
def arm(tmp_path):
    file = tmp_path / "arm.yaml"
    file.write_text(ARM)
    return file


def call(*arguments):
    result = CliRunner().invoke(cli, ["run", *(str(one) for one in arguments)], standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    return result


def test_the_numbers_at_the_end(drop):
    result = call(drop, "--frames", 50)
    assert result.return_value == 0
    assert "2 worlds of 1 bodies" in result.output
    assert "50 frames of 0.004 s = 0.200 s" in result.output
    assert "real-time factor" in result.output
    assert "world-steps a second" in result.output


def test_json_follows_its_schema(drop):
    result = call(drop, "--frames", 30, "--num-worlds", 3, "--dt", 0.002, "--threads", 1, "--format", "json")
    found = json.loads(result.output)
    jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).validate(found)
    assert (found["worlds"], found["dt"], found["frames"], found["threads"]) == (3, 0.002, 30, 1)
    assert found["simulated_time"] == pytest.approx(0.06)
    rate = found["frames"] * found["worlds"] / found["wall_time"]
    assert found["world_steps_per_second"] == pytest.approx(rate)
    assert found["stopped"] is None


def test_arrays_are_recorded(drop, tmp_path):
    target = tmp_path / "out" / "drop.npz"
    call(drop, "--frames", 100, "--record", target, "--record-every", 10)
    with np.load(target) as held:
        assert held["times"].tolist() == pytest.approx(np.arange(11) * 0.04)
        assert held["joint_q"].shape == (11, 14)
        assert held["joint_qd"].shape == (11, 12)
        assert held["body_q"].shape == (11, 2, 7)
        assert held["body_labels"].tolist() == ["world_0/cube", "world_1/cube"]
        np.testing.assert_allclose(held["body_q"][:, 0], held["joint_q"][:, :7], atol=1e-6)
        height = held["body_q"][:, :, 2]
        assert height[0].tolist() == [0.5, 0.5]
        assert height[5].tolist() == pytest.approx([0.5 - 9.81 * 0.04 / 2] * 2, abs=0.01)
        assert height[-1].tolist() == pytest.approx([0.1, 0.1], abs=0.01)
    assert [file.name for file in target.parent.iterdir()] == ["drop.npz"]


def test_recording_changes_nothing(drop, tmp_path):
    ends = [
        simwright.run(drop, frames=150, **more).loaded.state.joint_q.copy()
        for more in ({}, {"record": tmp_path / "a.npz"}, {"record": tmp_path / "b.npz", "record_every": 7})
    ]
    np.testing.assert_array_equal(ends[0], ends[1])
    np.testing.assert_array_equal(ends[0], ends[2])


def test_targets_from_a_file(arm, tmp_path):
    file = tmp_path / "wave.json"
    file.write_text(
        json.dumps(
            {"joint_target_pos": {"dt": 1.0, "values": [[0.3], [-0.2]]}, "joint_q": {"values": [[0.1]]}}
        )
    )
    first = simwright.run(arm, frames=499, control=file)
    assert first.loaded.state.joint_q[0] == pytest.approx(0.3, abs=0.02)
    second = simwright.run(arm, frames=1000, control=file)
    assert second.loaded.state.joint_q[0] == pytest.approx(-0.2, abs=0.02)
    again = simwright.run(arm, frames=1499, control=file, loop=True)
    assert again.loaded.state.joint_q[0] == pytest.approx(0.3, abs=0.02)
    held = simwright.run(arm, frames=1499, control=file)
    assert held.loaded.state.joint_q[0] == pytest.approx(-0.2, abs=0.02)


def test_a_robot_file_is_run_as_it_is(tmp_path):
    file = tmp_path / "post.urdf"
    file.write_text(ROBOT)
    falls = simwright.run(file, frames=500)
    assert falls.positions[0, 2] == pytest.approx(-9.81 / 2, rel=0.01)
    assert falls.layout.list_position_names()[2] == "foot_free.z"
    stands = simwright.run(file, frames=500, ground=True)
    assert stands.positions[0, 2] == pytest.approx(0.0, abs=5e-3)
    fixed = simwright.run(file, frames=10, floating=False)
    assert fixed.positions.shape == (1, 0)
    again = simwright.run(simwright.load(file), frames=500)
    np.testing.assert_array_equal(again.positions, falls.positions)


def test_the_ground_is_below_the_keyframe_that_a_run_starts_from(samples):
    start = simwright.load(samples / "quadruped/quadruped.xml").keyframe("home").positions["root"][2]
    stands = simwright.run(samples / "quadruped/quadruped.xml", keyframe="home", ground=True, frames=500)
    assert stands.positions[0, 2] == pytest.approx(start, abs=0.01)
    spread = simwright.run(samples / "quadruped/scene.xml", keyframe="home", frames=500)
    assert stands.positions[0, 2] == pytest.approx(spread.positions[0, 2], abs=3e-3)


SERVO = """
<mujoco>
  <compiler angle="radian"/>
  <option timestep="0.005" integrator="implicitfast"/>
  <worldbody>
    <body name="arm">
      <joint name="elbow" type="hinge" axis="0 1 0" damping="0.2" ref="0.1"/>
      <geom name="bar" type="capsule" fromto="0 0 0 0 0 -0.4" size="0.02"/>
    </body>
  </worldbody>
  <actuator><position name="servo" joint="elbow" kp="20" kv="1"/></actuator>
  <keyframe><key name="up" qpos="1.2" ctrl="0.7"/></keyframe>
</mujoco>
"""


def run_plainly(text, steps, qpos=None, ctrl=()):
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    if qpos is not None:
        data.qpos[:] = qpos
    for number in range(steps):
        if len(ctrl):
            data.ctrl[:] = ctrl[min(number // 40, len(ctrl) - 1)]
        mujoco.mj_step(model, data)
    return data.qpos.tolist()


def test_a_robot_in_mjcf_moves_as_plain_mujoco_moves_it(tmp_path):
    file = tmp_path / "arm.xml"
    file.write_text(SERVO)
    result = simwright.run(file, frames=300)
    assert result.dt == 0.005
    assert result.positions[0].tolist() == run_plainly(SERVO, 300)
    held = simwright.run(file, frames=300, keyframe="up")
    assert held.positions[0].tolist() == run_plainly(SERVO, 300, [1.2], [[0.7]])
    many = simwright.run(file, frames=300, num_worlds=5, keyframe="up", threads=2)
    assert many.positions.tolist() == [held.positions[0].tolist()] * 5
    with pytest.raises(UnknownNameError, match="unknown keyframe 'down'"):
        simwright.run(file, keyframe="down")


def test_raw_controls_and_targets_from_a_file(tmp_path):
    file, wave = tmp_path / "arm.xml", tmp_path / "wave.json"
    file.write_text(SERVO)
    rows = [[0.5], [-0.3], [0.9]]
    wave.write_text(json.dumps({"controls": {"dt": 0.2, "names": ["servo"], "values": rows}}))
    result = simwright.run(file, frames=300, control=wave)
    assert result.positions[0].tolist() == run_plainly(SERVO, 300, ctrl=rows)
    wave.write_text(json.dumps({"joint_target_pos": {"dt": 0.2, "names": ["elbow"], "values": rows}}))
    aimed = simwright.run(file, frames=300, control=wave)
    np.testing.assert_allclose(aimed.positions, result.positions, atol=1e-12)
    wave.write_text(json.dumps({"controls": {"dt": 0.2, "names": ["sevro"], "values": rows}}))
    with pytest.raises(UnknownNameError, match="did you mean 'servo'"):
        simwright.run(file, frames=10, control=wave)


def test_a_file_of_controls_says_where_and_how_fast_a_run_starts(tmp_path):
    file, wave = tmp_path / "arm.xml", tmp_path / "wave.json"
    file.write_text(SERVO)
    rows = {"controls": {"dt": 0.2, "names": ["servo"], "values": [[0.0]]}}
    q, qd = {"values": [[0.9]]}, {"values": [[-2.0]]}
    for given in ({"joint_q": q}, {"joint_qd": qd}, {"joint_q": q, "joint_qd": qd}):
        wave.write_text(json.dumps(rows | given))
        start = simwright.run(file, frames=0, control=wave)
        assert start.positions[0].tolist() == ([0.9] if "joint_q" in given else [0.1])
        assert start.velocities[0].tolist() == ([-2.0] if "joint_qd" in given else [0.0])


@pytest.mark.skipif(not hasattr(mujoco.MjModel, "actuator_ctrladr"), reason="needs MuJoCo 4")
def test_a_target_goes_to_its_own_servo_behind_one_of_several_controls(tmp_path):
    file, wave = tmp_path / "arm.xml", tmp_path / "wave.json"
    several = '<pid name="several" joint="elbow" kp="1"/><position name="servo"'
    file.write_text(SERVO.replace('<position name="servo"', several).replace('ctrl="0.7"', 'ctrl="0 0 0.7"'))
    rows = [[0.5], [-0.3], [0.9]]
    wave.write_text(json.dumps({"controls": {"dt": 0.2, "names": ["servo"], "values": rows}}))
    result = simwright.run(file, frames=300, control=wave)
    wave.write_text(json.dumps({"joint_target_pos": {"dt": 0.2, "names": ["elbow"], "values": rows}}))
    aimed = simwright.run(file, frames=300, control=wave)
    np.testing.assert_allclose(aimed.positions, result.positions, atol=1e-12)


def test_a_robot_is_recorded(tmp_path):
    file, target = tmp_path / "arm.xml", tmp_path / "a.npz"
    file.write_text(SERVO)
    simwright.run(file, frames=20, num_worlds=2, record=target, record_every=5)
    with np.load(target) as held:
        assert held["positions"].shape == (5, 2, 1)
        assert held["velocity_names"].tolist() == ["elbow"]
        assert held["body_names"].tolist() == ["arm"]
        assert held["body_poses"].shape == (5, 2, 1, 7)
        half = (held["positions"][:, 0, 0] - 0.1) / 2
        np.testing.assert_allclose(held["body_poses"][:, 0, 0, 5], np.sin(half), atol=1e-12)


def test_an_unstable_simulation_is_a_finding(arm, tmp_path):
    arm.write_text(
        ARM.replace("target_ke: 2000", "target_ke: 1.0e9").replace("target_kd: 300", "target_pos: 1")
    )
    target = tmp_path / "a.npz"
    result = call(arm, "--frames", 2000, "--dt", 0.02, "--record", target)
    assert result.return_value == 1
    assert "engine-unstable" in result.output
    assert "hinge" in result.output
    found = json.loads(call(arm, "--frames", 2000, "--dt", 0.02, "--format", "json").output)
    assert found["stopped"] == "unstable"
    assert found["frames"] < 2000
    assert "at 0." in found["findings"][-1]["message"]
    with np.load(target) as held:
        assert np.isfinite(held["joint_q"]).all()


def test_an_interrupt_keeps_what_was_recorded(drop, tmp_path, monkeypatch):
    def stop(word, done, total):
        if done >= 512:
            raise KeyboardInterrupt

    target = tmp_path / "a.npz"
    result = simwright.run(drop, frames=20000, record=target, progress=stop)
    assert result.stopped == "interrupted"
    assert 512 <= result.frames < 20000
    with np.load(target) as held:
        assert len(held["times"]) == result.frames + 1
    monkeypatch.setattr(running, "run", lambda *_, **__: result)
    assert call(drop).return_value == 130


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--engine", "mujoko"], "unknown engine 'mujoko' (did you mean 'mujoco'?)"),
        (["--solver", "newtn"], "did you mean 'newton'?"),
        (["--set", "integratr=rk4"], "did you mean 'integrator'"),
        (["--set", "integrator=rk5"], "did you mean 'rk4'?"),
        (["--set", "iterations=many"], "a number"),
        (["--device", "cuda"], "unknown device"),
        (["--record", "a.avi"], ".npz, .mp4 or .gif"),
        (["--control", "none.json"], "none.json"),
        (["--size", "big"], "1280x720"),
    ],
)
def test_wrong_words_are_answered(drop, arguments, text, capsys):
    assert run(["run", str(drop), *arguments]) == 2
    said = capsys.readouterr().err
    assert text in " ".join(said.split())
    assert "Traceback" not in said


def test_a_missing_file(tmp_path, capsys):
    assert run(["run", str(tmp_path / "none.yaml")]) == 2
    assert "there is no file" in capsys.readouterr().err


def test_videos_need_an_extra(drop, tmp_path, monkeypatch):
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "imageio" else real(name))
    with pytest.raises(MissingExtraError) as caught:
        simwright.run(drop, record=tmp_path / "a.mp4")
    assert "simwright[video]" in caught.value.hint


def test_recordings_that_fill_the_disk_are_refused(drop, tmp_path):
    with pytest.raises(LimitError, match="GB"):
        simwright.run(drop, frames=1_000_000_000, record=tmp_path / "a.npz")
    with pytest.raises(UsageError):
        simwright.run(drop, frames=-1)


def test_poses_follow_coordinates_at_all_moments():
    from simwright.scenes.document import parse_scene
    from simwright.scenes.load import assemble_scene

    loaded = assemble_scene(parse_scene(DROP), num_worlds=3)
    rows = np.stack((loaded.state.joint_q, loaded.state.joint_q + 0.0))
    rows[1, 2::7] = 2.0
    poses = pose_bodies(loaded.model, rows)
    np.testing.assert_allclose(poses[0], loaded.state.body_q, atol=1e-6)
    assert poses[1, :, 2].tolist() == [2.0, 2.0, 2.0]


def test_a_film_that_is_narrow_is_taken_from_farther_away(drop, tmp_path, monkeypatch):
    pytest.importorskip("imageio_ffmpeg", reason="the extra 'video' is not installed")
    plans = []

    def keep(_painter, plan, *_):
        plans.append(plan)
        raise UsageError("this is enough")

    monkeypatch.setattr("simwright.engines.mujoco.painter.WorldPainter.open", keep)
    for size in ((320, 160), (160, 320)):
        with pytest.raises(UsageError, match="this is enough"):
            simwright.run(drop, frames=10, record=tmp_path / "drop.mp4", size=size)
    wide, narrow = plans
    assert narrow.cameras[0].distance > 1.2 * wide.cameras[0].distance
    assert not (tmp_path / "drop.mp4").exists()


# imageio-ffmpeg leaves the pipes of its reader to the collector
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_video_of_several_worlds(drop, tmp_path):
    video = pytest.importorskip("imageio_ffmpeg", reason="the extra 'video' is not installed")
    target = tmp_path / "drop.mp4"
    try:
        simwright.run(drop, frames=60, record=target, size=(320, 180), fps=25)
    except UsageError as error:
        if "no offscreen OpenGL" not in str(error):
            raise
        pytest.skip(str(error))
    stream = video.read_frames(str(target))
    assert next(stream)["size"] == (320, 180)
    frames = [np.frombuffer(data, dtype=np.uint8).astype(int) for data in stream]
    assert len(frames) == 7
    assert np.abs(frames[0] - frames[-1]).max() > 30
    assert [file.name for file in tmp_path.iterdir() if file.suffix == ".mp4"] == ["drop.mp4"]


def test_warnings_of_readers_are_shown(tmp_path):
    """A joint that is said to be limited and is not moves differently than its author thinks."""
    file = tmp_path / "post.urdf"
    file.write_text(
        ROBOT.replace("</robot>", '<link name="arm"/><joint name="j" type="revolute"><parent link="foot"/>')
        + '<child link="arm"/></joint></robot>'
    )
    reporter = simwright.Reporter()
    simwright.load(file, reporter=reporter)
    told = [found for found in reporter if found.level == "warning"]
    result = CliRunner().invoke(cli, ["run", str(file), "--frames", "1"])
    assert told
    assert all(found.kind in result.output for found in told), result.output


def test_a_robot_file_is_read_as_asked(samples, tmp_path, drop):
    """As inspect and convert read it: xacro arguments, ROS packages, USD variants."""
    xacro = samples / "arm" / "urdf" / "arm.urdf.xacro"
    dofs = [
        json.loads(call(xacro, "--steps", "1", "--format", "json", *words).output)["dofs"]
        for words in ((), ("--arg", "gripper=false"))
    ]
    assert dofs[1] < dofs[0]
    (tmp_path / "robot").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "m.obj").write_text(
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"
    )
    file = tmp_path / "robot" / "post.urdf"
    mesh = '<visual><geometry><mesh filename="package://pk/m.obj"/></geometry></visual>'
    file.write_text(ROBOT.replace("<inertial>", f"{mesh}<inertial>", 1))
    assert call(file, "--steps", "1").return_value == 1
    assert call(file, "--steps", "1", "--package", f"pk={tmp_path / 'elsewhere'}").return_value == 0
    with pytest.raises(UsageError, match="a scene file names its own robots"):
        simwright.run(drop, frames=1, arguments={"gripper": "false"})
    with pytest.raises(UsageError, match="was read before"):
        simwright.run(simwright.load(file), frames=1, variants={"look": "red"})
