# SPDX-License-Identifier: Apache-2.0
"""Environment files: read strictly, with lines and with what was meant."""

from __future__ import annotations

import pytest

from simwright.core.errors import SimwrightError
from simwright.tasks.environments import read_environment
from simwright.tasks.manifest import ControlMode

FULL = """\
task: tabletop_push
robot: sample_arm
base_pose: {xyz: [0, -0.1, 0], quat: [0.7071068, 0, 0, 0.7071068]}
options: {cube_mass: 2 * 0.1, goal_radius: 0.06}
control: position
observe: {cameras: [top], width: 64, height: 48}
randomize: {friction: [0.8, 1.2], joints: 0.05}
episodes: 10
seed: 3
policy: push
record: out.mp4
"""


def write(folder, text):
    file = folder / "env.yaml"
    file.write_text(text)
    return file


def test_everything_a_file_may_say(tmp_path):
    found = read_environment(write(tmp_path, FULL))
    said = found.said
    assert found.scene.name == "tabletop_push"
    assert found.options.cube_mass == pytest.approx(0.2)
    assert said.control is ControlMode.POSITION
    assert said.base_pose.as_pose().p == pytest.approx([0, -0.1, 0])
    assert said.observe.cameras == ["top"]
    assert said.randomize.friction == (0.8, 1.2)
    assert (said.episodes, said.seed, said.policy, said.record) == (10, 3, "push", "out.mp4")


@pytest.mark.parametrize(
    ("line", "wrong", "place", "message"),
    [
        ("episodes: 10", "episods: 10", "8:1", "unknown key 'episods'"),
        ("episodes: 10", "episodes: 0", "8:11", "greater than or equal to 1"),
        ("control: position", "control: positon", "5:10", "did you mean 'position'"),
        ("cube_mass: 2 * 0.1", "cube_mas: 1", "4:11", "did you mean 'cube_mass'"),
        ("cube_mass: 2 * 0.1", "cube_mass: -1", "4:22", "greater than 0"),
        ("task: tabletop_push", "task: tabletop_posh", "1:7", "did you mean 'tabletop_push'"),
        ("policy: push", "policy: posh", "10:9", "did you mean 'push'"),
        ("friction: [0.8, 1.2]", "friction: [1.2, 0.8]", "7:23", "low, high"),
        ("friction: [0.8, 1.2]", "frictions: [0.8, 1.2]", "7:13", "did you mean 'friction'"),
        ("quat: [0.7071068, 0, 0, 0.7071068]", "quat: [1, 0, 0, 1]", "3:12", "length 1.41421"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(tmp_path, line, wrong, place, message):
    assert line in FULL
    file = write(tmp_path, FULL.replace(line, wrong))
    with pytest.raises(SimwrightError) as caught:
        read_environment(file)
    text = str(caught.value)
    assert f"{file}:{place}" in text
    assert message in text


def test_a_task_has_to_be_named(tmp_path):
    with pytest.raises(SimwrightError, match="'task' is missing"):
        read_environment(write(tmp_path, "robot: a\n"))
    with pytest.raises(SimwrightError, match="mapping"):
        read_environment(write(tmp_path, "- a\n"))
