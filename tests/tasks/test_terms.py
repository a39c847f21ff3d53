# SPDX-License-Identifier: Apache-2.0
"""Terms that are observed and conditions of success: one world and many, files, errors, packages."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from simwright.app.cli.main import run
from simwright.core.errors import UnknownNameError, UsageError
from simwright.tasks.batch import BatchRollout
from simwright.tasks.environments import make_env, make_rollout, make_vector_env, read_environment
from simwright.tasks.scenes.table import SCENES
from simwright.tasks.terms import TERMS, SuccessRule, find_tool_bodies, list_places, read_term

PLAIN = ["efforts", "tool_force", "action", "time", "time_left"]
ABOUT = {
    "reach": [{"offset": ["tool", "goal"]}, {"speed": "tool"}, {"height": "base"}],
    "tabletop_push": [{"distance": ["tool", "cube"]}, {"distance_xy": ["cube", "goal"]}, {"speed": "cube"}],
    "drawer": [{"joint": "drawer"}, {"offset": ["base", "tool"]}],
}
RULES = {
    "reach": {
        "all": [{"distance": ["tool", "goal"], "below": 0.5}],
        "any": [{"time": [], "above": 0.1}],
        "hold": 0.1,
    },
    "tabletop_push": {
        "task": True,
        "any": [{"speed": "tool", "below": 0.3}, {"height": "cube", "above": 0.5}],
    },
    "drawer": {"all": [{"speed": "tool", "below": 5.0}], "hold": 0.1},
}


@pytest.mark.parametrize("task", list(ABOUT))
def test_a_world_of_a_batch_has_the_bits_of_a_single_rollout(task, arm):
    """Terms, scores, measures, success and rewards; worlds start anew at different times."""
    batch = BatchRollout(make_watched(task, arm), 3, threads=2)
    single = make_watched(task, arm)
    low, high = single.controller.bounds
    actions = np.random.default_rng(5).uniform(low, high, (14, len(low)))
    batch.reset([7, 8, 9])
    single.reset(seed=7)
    assert compare(batch, 0, single.observe(), single)
    for action in actions[:4]:
        batch.step(np.tile(action, (3, 1)))
        assert compare(batch, 0, single.step(action).observation, single)
    batch.reset([4], np.array([False, True, False]))
    assert compare(batch, 0, single.observe(), single)
    assert compare(batch, 1, single.reset(seed=4), single)
    for action in actions[4:]:
        verdict = batch.step(np.tile(action, (3, 1)))
        result = single.step(action)
        assert compare(batch, 1, result.observation, single)
        assert verdict.success[1] == result.info["success"]
        assert verdict.score[1].tobytes() == np.float64(result.info["score"]).tobytes()
        assert batch.rewards[1] == result.reward
        for name, values in verdict.details.items():
            assert values[1] == result.info[name], name
    assert single.verdict.success == (task != "tabletop_push")
    batch.close()


def test_what_the_tool_feels_is_what_touches_the_hand(arm):
    composed = make_rollout("reach", arm).composed
    model = composed.model
    site = next(number for number in range(model.nsite) if model.site_bodyid[number] > 1)
    inside = find_tool_bodies(composed, site)
    hand = int(np.flatnonzero(inside)[0])
    # the last link that a joint moves before the tool, not the arm that carries it
    assert model.body_jntnum[hand] > 0
    assert not inside[: int(model.body_parentid[hand]) + 1].any()
    assert inside[int(model.site_bodyid[site])]
    everything = find_tool_bodies(composed, -1)
    assert everything.tolist() == [0 < body <= composed.robot_nbody for body in range(model.nbody)]


def make_watched(task, arm):
    rollout = make_rollout(task, arm, success=RULES[task])
    rollout.add_terms([*PLAIN, *ABOUT[task]])
    return rollout


def compare(batch, world, observation, single):
    seen = batch.observe()
    return all(seen[term.key][world].tobytes() == observation[term.key].tobytes() for term in single.terms)


def test_terms_are_what_they_say(arm):
    rollout = make_rollout("tabletop_push", arm)
    rollout.add_terms(
        [*PLAIN, {"offset": ["tool", "cube"]}, {"distance": ["tool", "cube"]}, {"speed": "tool"}]
    )
    rollout.add_terms([{"distance_xy": ["cube", "goal"]}, {"height": "cube"}])
    first = rollout.reset(seed=3)
    for key in ("efforts", "tool_force", "action", "time", "speed_tool"):
        assert not first[key].any(), key
    low, high = rollout.controller.bounds
    action = 0.75 * high + 0.25 * low
    second = rollout.step(action).observation
    offset = second["cube"][:3] - second["tool"][:3]
    assert second["offset_tool_cube"] == pytest.approx(offset, abs=1e-12)
    assert second["distance_tool_cube"] == pytest.approx([np.linalg.norm(offset)])
    assert second["distance_xy_cube_goal"] == pytest.approx(
        [np.linalg.norm((second["cube"][:3] - second["goal"])[:2])]
    )
    assert second["height_cube"] == pytest.approx([second["cube"][2]])
    assert second["action"] == pytest.approx(np.full(len(low), 0.5))
    assert second["time"] == pytest.approx([rollout.composed.period])
    assert second["time_left"] == pytest.approx([(rollout.max_steps - 1) * rollout.composed.period])
    way = np.linalg.norm(second["tool"][:3] - first["tool"][:3])
    assert second["speed_tool"] == pytest.approx([way / rollout.composed.period])
    assert second["efforts"] == pytest.approx(rollout.data.qfrc_actuator[: rollout.composed.robot_nv])
    assert second["efforts"].any()


def test_the_force_at_the_tool_is_that_of_what_it_presses_on(arm):
    """The arm is lowered onto the table; before it touches, there is no force, whatever else touches."""
    rollout = make_rollout("tabletop_push", arm, mode="pose")
    rollout.add_terms(["tool_force"])
    seen = rollout.reset(seed=0)
    assert rollout.data.ncon > 0, "the cube lies on the table"
    down = np.zeros(rollout.action_size)
    down[2] = -0.02
    forces = []
    for _ in range(60):
        seen = rollout.step(down).observation
        forces.append(float(seen["tool_force"][0]))
    assert forces[0] == 0.0
    assert max(forces) > 1.0


def test_success_waits_until_the_condition_has_held(arm):
    rule = {"all": [{"time": [], "above": 0.1}], "hold": 0.1}
    rollout = make_rollout("reach", arm, success=rule)
    rollout.reset(seed=0)
    results = [rollout.step(rollout.controller.hold()) for _ in range(10)]
    # true from the fifth step (0.1 s) on, and held for five more
    assert [result.terminated for result in results] == [False] * 9 + [True]
    assert results[-1].info["success"]
    assert results[-1].info["time"] == pytest.approx(0.2)
    scores = [result.info["score"] for result in results]
    assert scores == sorted(scores)
    assert scores[-1] == 1.0
    assert scores[-2] < 1.0


def test_a_condition_that_breaks_starts_again(arm):
    rollout = make_rollout("reach", arm, success={"all": [{"speed": "tool", "below": 0.02}], "hold": 0.1})
    rollout.reset(seed=0)
    hold = rollout.controller.hold()
    for _ in range(4):
        assert not rollout.step(hold).terminated
    low, high = rollout.controller.bounds
    far = np.clip(hold + 0.2, low, high)
    assert not rollout.step(far).terminated
    moving = 1
    while rollout.verdict.details["speed_tool"] > 0.02:
        rollout.step(far)
        moving += 1
    assert moving > 1
    # the first slow step counts as zero seconds
    ended = [rollout.step(far).terminated for _ in range(5)]
    assert ended == [False] * 4 + [True]


@pytest.mark.parametrize(
    ("rule", "done"),
    [
        ({"any": [{"height": "goal", "above": 50}, {"height": "goal", "above": 0.01}]}, True),
        ({"all": [{"height": "goal", "above": 50}, {"height": "goal", "above": 0.01}]}, False),
        ({"all": [{"height": "goal", "above": 0.01, "below": 50}]}, True),
        ({"all": [{"height": "goal", "above": 40, "below": 50}]}, False),
        ({"task": True, "all": [{"height": "goal", "above": 0.01}]}, False),
        ({"all": [{"height": "goal", "above": 0.01}], "any": [{"height": "goal", "above": 50}]}, False),
    ],
)
def test_all_any_and_the_tasks_own_condition(rule, done, arm):
    rollout = make_rollout("reach", arm, success=rule)
    rollout.reset(seed=0)
    assert rollout.success is done
    assert (float(rollout.verdict.score) == 1.0) is done
    assert 0.0 < float(rollout.verdict.score) <= 1.0


def test_rewards_of_a_rule_cannot_be_gamed(arm):
    """What an episode pays is the change of the score and 1 for success, wherever the robot waits or swings."""
    rule = {
        "all": [{"distance": ["tool", "goal"], "below": 0.02}, {"speed": "tool", "below": 0.05}],
        "hold": 0.2,
    }
    rollout = make_rollout("reach", arm, success=rule)
    rollout.reset(seed=1)
    first = float(rollout.verdict.score)
    rng = np.random.default_rng(0)
    low, high = rollout.controller.bounds
    total, scores = 0.0, [first]
    for number in range(40):
        # swinging, then waiting, then anything
        action = high if number % 2 else low
        result = rollout.step(rng.uniform(low, high) if number > 30 else action)
        total += result.reward
        scores.append(result.info["score"])
    assert total == pytest.approx(scores[-1] - first)
    assert max(scores) < 1.0
    # success pays 1 - first, and 1 once more: more than any score can
    assert (1.0 - first) + 1.0 > max(scores) - first


def test_terms_are_in_spaces_with_their_bounds(arm):
    chosen = ["action", "tool_force", {"offset": ["tool", "goal"]}]
    env = make_env("reach", arm, observe={"terms": chosen, "objects": False})
    keys = {"qpos", "qvel", "tool", "action", "tool_force", "offset_tool_goal"}
    assert set(env.observation_space.spaces) == keys
    box = env.observation_space["action"]
    assert box.shape == (env.rollout.action_size,)
    assert (float(box.low.min()), float(box.high.max())) == (-1.0, 1.0)
    assert float(env.observation_space["tool_force"].low[0]) == 0.0
    seen, _ = env.reset(seed=0)
    assert env.observation_space.contains(seen)
    seen, *_ = env.step(np.full(env.action_space.shape, 0.5, dtype=np.float32))
    assert env.observation_space.contains(seen)
    assert seen["action"] == pytest.approx(np.full(box.shape, 0.5), abs=1e-6)
    envs = make_vector_env("reach", arm, 2, observe={"terms": chosen, "flat": True})
    flat, _ = envs.reset(seed=0)
    assert flat.shape == envs.observation_space.shape
    assert envs.single_observation_space.shape == (flat.shape[1],)
    envs.close()


FILE = """\
task: tabletop_push
robot: sample_arm
observe:
  terms: [efforts, {offset: [tool, cube]}]
success:
  all: [{distance: [cube, goal], below: 0.03}]
  any:
    - {height: cube, above: 0.2}
    - {tool_force: , above: 5}
  hold: 0.5
"""


def test_a_file_says_terms_and_success(tmp_path, capsys):
    file = tmp_path / "env.yaml"
    file.write_text(FILE)
    said = read_environment(file).said
    assert [chosen.key for chosen in said.observe.terms] == ["efforts", "offset_tool_cube"]
    assert isinstance(said.success, SuccessRule)
    assert [term.key for term in said.success.terms] == ["distance_cube_goal", "height_cube", "tool_force"]
    assert said.success.hold == 0.5
    assert run(["task", "run", str(file), "--max-steps", "3", "--format", "json"]) == 0
    (episode,) = json.loads(capsys.readouterr().out)["episodes"]
    assert {"distance_cube_goal", "height_cube", "tool_force"} <= set(episode["details"])
    assert run(["task", "run", str(file), "--max-steps", "3", "--num-worlds", "2"]) == 0


@pytest.mark.parametrize(
    ("line", "wrong", "place", "message"),
    [
        ("efforts", "effort", "4:11", "did you mean 'efforts'"),
        ("[tool, cube]", "[tool, cub]", "4:20", "did you mean 'cube'"),
        ("{offset: [tool, cube]}", "{offset: tool}", "4:20", "takes the names of 2 places, not 1"),
        ("efforts", "height", "4:11", "takes the name of one place, not 0"),
        ("{offset: [tool, cube]}", "{efforts: tool}", "4:20", "takes no names, not 1"),
        ("{offset: [tool, cube]}", "{joint: drawer_slide}", "4:20", "unknown joint of tabletop_push"),
        ("{offset: [tool, cube]}", "{offset: [tool, 3]}", "4:20", "takes names"),
        ("{offset: [tool, cube]}", "{offset: [tool, cube], height: cube}", "4:20", "a term is a name"),
        ("below: 0.03", "bellow: 0.03", "6:9", "did you mean 'below'"),
        ("{distance: [cube, goal]", "{distnace: [cube, goal]", "6:9", "did you mean 'distance'"),
        ("{height: cube, above: 0.2}", "{height: goall, above: 0.2}", "8:7", "did you mean 'goal'"),
        ("{height: cube, above: 0.2}", "{height: cube}", "8:7", "below or above"),
        ("{height: cube, above: 0.2}", "{above: 0.2}", "8:7", "below or above"),
        (
            "{height: cube, above: 0.2}",
            "{height: cube, above: 2, below: 1}",
            "8:7",
            "both below 1 and above 2",
        ),
        ("{height: cube, above: 0.2}", "{offset: [tool, cube], above: 1}", "8:7", "not one number"),
        ("{height: cube, above: 0.2}", "{height: cube, above: high}", "8:29", "high"),
        ("hold: 0.5", "hold: -1", "10:9", "greater than or equal to 0"),
        ("hold: 0.5", "held: 0.5", "10:3", "did you mean 'hold'"),
    ],
)
def test_what_is_wrong_is_one_line_with_its_place(tmp_path, capsys, line, wrong, place, message):
    assert FILE.count(line) == 1
    file = tmp_path / "env.yaml"
    file.write_text(FILE.replace(line, wrong))
    assert run(["task", "run", str(file)]) == 2
    told = capsys.readouterr().err
    assert f"{file}:{place}" in told
    assert message in told
    assert "Traceback" not in told
    assert sum("env.yaml" in row for row in told.splitlines()) == 1


def test_a_rule_without_conditions_is_none(tmp_path, capsys):
    file = tmp_path / "env.yaml"
    file.write_text("task: reach\nrobot: sample_arm\nsuccess: {hold: 1}\n")
    assert run(["task", "run", str(file)]) == 2
    told = capsys.readouterr().err
    assert f"{file}:3:10" in told
    assert "success needs a condition" in told


def test_python_programs_are_told_as_well(arm):
    rollout = make_rollout("reach", arm)
    with pytest.raises(UnknownNameError, match="goa"):
        rollout.add_terms([{"height": "goa"}])
    with pytest.raises(UnknownNameError, match="unknown place of reach 'cube'"):
        make_rollout("reach", arm, success={"all": [{"height": "cube", "above": 1}]})
    assert rollout.terms == ()
    rollout.add_terms(["efforts"])
    with pytest.raises(UsageError, match="terms of forces"):
        BatchRollout(rollout, 2, backend="mujoco-warp")


def test_tools_of_further_robots_are_places():
    robots = {
        "left": {"robot": "sample_arm", "base_pose": {"xyz": [-0.5, 0, 0]}},
        "right": {"robot": "sample_arm", "base_pose": {"xyz": [0.5, 0, 0]}},
    }
    rollout = make_rollout(
        "reach", robots=robots, success={"all": [{"distance": ["tool", "tool_right"], "below": 0.1}]}
    )
    info = rollout.reset(seed=0)
    gap = np.linalg.norm(info["tool"][:3] - info["tool_right"][:3])
    assert float(rollout.verdict.details["distance_tool_tool_right"]) == pytest.approx(gap)


def test_a_task_shows_its_places_and_the_terms(capsys):
    assert run(["task", "show", "drawer", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["places"] == list_places(SCENES.get("drawer"))
    assert told["joints"] == list(SCENES.get("drawer").joints)
    assert [term["name"] for term in told["terms"]] == TERMS.names()
    assert all(term["description"].endswith(".") for term in told["terms"])
    assert run(["task", "show", "tabletop_push"]) == 0
    text = capsys.readouterr().out
    assert "distance_xy" in text
    assert "places are tool, base, cube, goal" in text


MODULE = '''
import numpy as np
from simwright.tasks.terms import StateTerm

def measure(step, place):
    """How far a place is from the z axis."""
    return np.linalg.norm(step.place(place)[..., :2], axis=-1)

RADIUS = StateTerm(measure, ("place",), "m", low=0.0)
'''
USE = """
import numpy as np
from simwright.tasks.batch import BatchRollout
from simwright.tasks.environments import make_env, make_rollout
rule = {"all": [{"radius": "goal", "above": 0.1}]}
env = make_env("reach", "sample_arm", observe={"terms": [{"radius": "goal"}]}, success=rule)
seen, _ = env.reset(seed=2)
assert env.observation_space["radius_goal"].low[0] == 0.0
assert np.isclose(seen["radius_goal"][0], np.hypot(*seen["goal"][:2]))
assert env.rollout.success
batch = BatchRollout(env.rollout, 2)
batch.reset([2, 3])
assert batch.observe()["radius_goal"].shape == (2, 1)
"""


def test_a_package_adds_a_term(tmp_path):
    (tmp_path / "toy_terms.py").write_text(MODULE)
    info = tmp_path / "toy_terms-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-terms\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[simwright.terms]\nradius = toy_terms:RADIUS\n")
    file = tmp_path / "env.yaml"
    file.write_text("task: reach\nrobot: sample_arm\nsuccess: {all: [{radius: goal, above: 0.1}]}\n")
    path = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    for said in (["-c", USE], ["-m", "simwright", "task", "run", str(file)]):
        done = subprocess.run(
            [sys.executable, *said],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": path},
            cwd=tmp_path,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    assert "1 of 1 episodes succeeded" in done.stdout


def test_names_that_are_no_terms_are_refused():
    for said in (3, {}, {"height": 3}, ["height"]):
        with pytest.raises(Exception, match=r"a term is a name|takes names"):
            read_term(said)
