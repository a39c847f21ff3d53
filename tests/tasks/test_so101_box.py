# SPDX-License-Identifier: Apache-2.0
"""The scene that is made for one robot: the guard, what the manifest gives it, and when it is done."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from simwright.core.errors import UsageError
from simwright.tasks.environments import make_env, make_rollout
from simwright.tasks.robot import open_robot

from .conftest import SAMPLES

MANIFEST = """
schema_version: 1
id: so101_follower
base_frame: base_link
end_effector: {{frame: gripper_palm, position: [0, 0, 0.16]}}
gripper: {{actuators: [left_finger_joint], open: 0.04, closed: 0}}
cameras: [{{name: wrist, frame: gripper_palm, position: [0, 0.05, 0], rotation: [0, 1, 0, 0]}}]
sim: {{urdf_uri: {file}}}
"""


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """Another arm under the name that the scene is made for."""
    folder = tmp_path / "robots" / "so101"
    shutil.copytree(SAMPLES / "arm", folder, dirs_exist_ok=True)
    (folder / "robot.yaml").write_text(MANIFEST.format(file="urdf/arm.urdf"))
    monkeypatch.setenv("SIMWRIGHT_ROBOTS", str(tmp_path / "robots"))
    return "so101_follower"


def test_other_robots_are_refused(arm):
    with pytest.raises(UsageError, match="made for the robot 'so101_follower', not for 'sample_arm'"):
        make_rollout("so101_box", arm)


def test_base_and_wrist_camera_come_from_the_manifest(stand_in):
    rollout = make_rollout("so101_box", options={"robot_base_xyz": [0.1, -0.2, 0.0]})
    assert rollout.robot.id == stand_in
    rollout.reset(seed=0)
    assert rollout.data.body("robot/base_link").xpos == pytest.approx([0.1, -0.2, 0.0])
    camera = rollout.model.camera("robot/wrist")
    assert rollout.model.body(int(camera.bodyid[0])).name == "robot/gripper_palm"
    env = make_env("so101_box", observe={"cameras": ["overhead", "wrist"], "width": 24, "height": 24})
    seen, _ = env.reset(seed=0)
    assert seen["wrist"].std() > 0.0
    assert (seen["wrist"] != seen["overhead"]).any()
    env.close()


@pytest.mark.parametrize(
    ("shift", "tilt", "success"),
    [
        ((0, 0, 0), 0.0, True),
        ((0.02, 0, 0), 0.0, False),
        ((0, 0, 0.035), 0.0, False),
        ((0, 0, 0), 15.0, False),
    ],
)
def test_the_tube_has_to_be_deep_upright_and_in_the_middle(stand_in, shift, tilt, success):
    rollout = make_rollout("so101_box", stand_in)
    rollout.reset(seed=3)
    options = rollout.options
    block, half = rollout.layout["block"], np.radians(tilt) / 2
    place = block[:3] + np.array([0.0, 0.0, 0.5 * options.tube_length]) + np.array(shift)
    tube = np.array([*place, np.cos(half), np.sin(half), 0.0, 0.0])
    first = int(rollout.model.joint("tube").qposadr[0])
    rollout.qpos[first : first + 7] = tube
    verdict = rollout.judge()
    assert bool(verdict.success) == success
    assert not verdict.failed


def test_the_same_seed_gives_the_same_box(stand_in):
    bits = [make_rollout("so101_box", open_robot(stand_in)).reset(seed=7)["tube"].tobytes() for _ in range(2)]
    assert bits[0] == bits[1]


def test_the_walls_stand_around_the_box(stand_in):
    rollout = make_rollout("so101_box", options={"box_size": [0.4, 0.2, 0.1]})
    rollout.reset(seed=0)
    walls = {name: rollout.model.geom(f"box_{name}") for name in ("left", "right", "near", "far")}
    ends = {
        name: (wall.pos[:2] - wall.size[:2], wall.pos[:2] + wall.size[:2]) for name, wall in walls.items()
    }
    for one, other, along in (("left", "right", 1), ("near", "far", 0)):
        half = (0.2, 0.1)[along]
        for name in (one, other):
            assert (ends[name][0][along], ends[name][1][along]) == pytest.approx((-half, half))
    middles = [walls[name].pos[0] for name in ("left", "right")] + [
        walls[name].pos[1] for name in ("near", "far")
    ]
    assert middles == pytest.approx([-0.2, 0.2, -0.1, 0.1])
