"""Differences between what two engines see are found, told by name, and not invented."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from tests.prover.twins import write_mjcf

import simwright
from simwright.core.diag import Diagnostic, Level
from simwright.core.math3d import vec3
from simwright.model.asset import Asset
from simwright.model.elements import Body
from simwright.model.inertia import Inertial
from simwright.model.joint import WORLD, Dof, Joint, JointKind, Motion
from simwright.prover import motion_causes, proving
from simwright.prover.asking import ReferenceRobot, choose_configurations, list_speed_limits
from simwright.prover.aspects import ASPECTS, Outcome, Told, refuse
from simwright.prover.causes import DifferenceCause, find_causes
from simwright.prover.motion import (
    SCENARIOS,
    MotionReference,
    MotionResult,
    MotionRun,
    compare_motion,
    find_sensitive,
)
from simwright.prover.proving import compare
from simwright.prover.structure import find_servos
from simwright.prover.workers.seen import (
    Evaluated,
    Seen,
    SeenActuator,
    SeenFreedom,
    bound,
    find_position,
    find_speed,
    join_blocks,
    load,
    name_of,
)


@pytest.fixture
def twin(tmp_path: Path) -> Told:
    robot = ReferenceRobot(simwright.load(write_mjcf(tmp_path)))
    seen = robot.describe()
    return Told(seen, robot.evaluate(choose_configurations(seen, 3, 18)))


def set_on(told: Told, chosen: str, /, **values: object) -> None:
    row = next(row for row in told.seen.freedoms if row.joint == chosen)
    for name, value in values.items():
        setattr(row, name, value)


def make_driven(told: Told) -> Told:
    """As an engine sees it that has drives and no actuators."""
    other = copy.deepcopy(told)
    other.seen.engine, other.seen.actuators = "PhysX", []
    set_on(other, "turn", stiffness=200.0, damping=20.0, max_force=30.0)
    return other


def test_a_drive_says_what_a_servo_says(twin: Told) -> None:
    outcome = compare("physx", twin, make_driven(twin))
    assert outcome.right
    assert outcome.reason == ""
    assert outcome.counts == {"dofs": "2/2", "links": "3/3", "base": "fixed", "drives": "1/1"}
    assert outcome.errors == {"poses": 0.0, "matrix": 0.0, "bias": 0.0}
    assert outcome.absent == {"mimics", "names"}


@pytest.mark.parametrize(
    ("values", "aspect", "told"),
    [
        ({"stiffness": 100.0}, "drives", "turn: stiffness 100 instead of 200"),
        ({"max_force": None}, "drives", "turn: max force None instead of 30.0"),
        ({"damping": 0.0}, "damping", "turn: damping 0.6 instead of 20.6"),
        ({"armature": 0.0}, "armature", "turn: armature 0 instead of 0.3"),
        ({"friction": 0.0}, "friction", "turn: friction 0 instead of 0.4"),
        ({"limit": (-1.0, None)}, "limits", "turn: limits (-1.0, None) instead of (-1.0, 2.0)"),
        ({"joint": "other", "body": "other"}, "dofs", "turn: 0 DOFs instead of 1"),
    ],
)
def test_one_difference(twin: Told, values: dict[str, object], aspect: str, told: str) -> None:
    other = make_driven(twin)
    set_on(other, "turn", **values)
    assert compare("physx", twin, other).differences[aspect] == told


def test_masses_and_mass_matrix(twin: Told) -> None:
    other = make_driven(twin)
    other.seen.masses["upper"] = 2.1
    other.states[2].mass_matrix[0][1] += 0.1
    found = compare("physx", twin, other).differences
    assert found["masses"] == "upper weighs 2.1 instead of 2"
    assert "(configuration 2, others held)" in found["matrix"]


def test_actuators_are_compared_one_by_one(twin: Told) -> None:
    other = copy.deepcopy(twin)
    other.seen.actuators[0].force_range = None
    assert "max force" in compare("mujoco-usd", twin, other).differences["drives"]
    other = copy.deepcopy(twin)
    other.seen.actuators[0].control_range = (-1.0, 1.0)
    assert "control_range" in compare("mujoco-usd", twin, other).differences["drives"]
    other.seen.actuators = [other.seen.actuators[0], copy.deepcopy(other.seen.actuators[0])]
    found = compare("mujoco-usd", twin, other).differences
    assert "stiffness 0 instead of 200" in found["drives"]  # two actuators on a joint are no servo


def test_a_gear_belongs_to_the_gains_of_a_servo() -> None:
    row = SeenFreedom("turn", "upper", "hinge")
    motor = SeenActuator(
        "m", "turn", "joint", [5.0, 0, 0], [0, -5.0, -1.0], [2.0, 0, 0, 0, 0, 0], True, (-3.0, 3.0)
    )
    servo = find_servos(Seen("test", [row], actuators=[motor]))["turn"]
    assert (servo.stiffness, servo.damping, servo.max_force) == (20.0, 4.0, 6.0)


@pytest.mark.parametrize(
    "change",
    [{"simple": False}, {"bias": [0.0, 0.0, 0.0]}, {"transmission": "tendon"}, {"gain": [4.0, 0, 0]}],
)
def test_what_is_no_servo(change: dict[str, object]) -> None:
    motor = SeenActuator("m", "turn", "joint", [5.0, 0, 0], [0, -5.0, -1.0], [1.0, 0, 0, 0, 0, 0], True)
    for name, value in change.items():
        setattr(motor, name, value)
    assert find_servos(Seen("test", [SeenFreedom("turn", "upper", "hinge")], actuators=[motor])) == {}


def make_floating(turn: Callable[[np.ndarray], np.ndarray]) -> Told:
    """A floating body with two hinges; ``turn`` changes the coordinates of its base."""
    root = np.random.default_rng(0).normal(size=(8, 8))
    change = np.eye(8)
    change[:6, :6] = turn(np.eye(6))
    matrix = change.T @ (root @ root.T + np.eye(8)) @ change
    rows = [SeenFreedom("free", "trunk", "free") for _ in range(6)]
    rows += [SeenFreedom(f"hinge{number}", f"leg{number}", "hinge") for number in range(2)]
    push = change.T @ np.arange(8.0)
    return Told(Seen("test", rows, ["trunk"]), [Evaluated({}, matrix.tolist(), push.tolist())])


def test_engines_may_count_the_base_in_their_own_axes() -> None:
    change = np.random.default_rng(1).normal(size=(6, 6))
    other = make_floating(lambda eye: eye @ change)
    outcome = compare("physx", make_floating(lambda eye: eye), other)
    assert outcome.right
    assert 0.0 < outcome.errors["matrix"] < 1e-9
    assert 0.0 < outcome.errors["bias"] < 1e-9
    other.states[0].mass_matrix[0][0] += 1.0  # the base alone: held joints do not show it
    assert "others free" in compare("physx", make_floating(lambda eye: eye), other).differences["matrix"]


@pytest.mark.parametrize(("gravity", "right"), [(0.0, False), (9.81, False), (981.0, True)])
def test_a_bias_is_compared_by_the_gravity_of_the_world(gravity: float, right: bool) -> None:
    """A fly in centimetres has a hundred times that of the Earth, and forces as much larger."""
    wanted, found = (make_floating(lambda eye: eye) for _ in range(2))
    wanted.seen.masses = {"trunk": 1.0}
    wanted = replace(wanted, gravity=gravity)
    scale = 9.81 * np.sqrt(wanted.states[0].mass_matrix[7][7])
    found.states[0].bias[7] += 1e-4 * scale
    outcome = compare("physx", wanted, found)
    assert ("bias" not in outcome.differences) is right
    assert outcome.errors["bias"] == pytest.approx(1e-6 if right else 1e-4)


def test_a_joint_that_is_called_otherwise_is_known_by_its_body(twin: Told) -> None:
    """A joint with the name of a body beside it gets another name in OpenUSD."""
    other = copy.deepcopy(twin)
    set_on(other, "turn", joint="turn_joint")
    other.seen.actuators[0].target = "turn_joint"
    assert compare("mujoco-usd", twin, other).right
    other.seen.actuators[0].target = "push"
    assert not compare("mujoco-usd", twin, other).right


def test_positions_of_joints() -> None:
    configuration = {"joints": {"turn": 1.0}, "bodies": {"upper": 2.0}}
    assert find_position(configuration, "turn", "upper") == 1.0
    assert find_position(configuration, "turn_joint", "upper") == 2.0
    assert find_position(configuration, "turn_joint", "lower") == 0.0
    assert find_position({}, "turn", "upper") == 0.0
    assert find_speed({"body_speeds": {"upper": 3.0}}, "turn", "upper") == 3.0


def test_base_that_should_be_held() -> None:
    floating = make_floating(lambda eye: eye)
    held = Told(Seen("test", floating.seen.freedoms[6:]))
    assert compare("physx", held, floating).differences["base"] == "trunk floats, should be held"
    assert compare("physx", floating, held).differences["base"] == "trunk is held, should float"


def test_several_joints_of_a_body_are_one_joint_elsewhere() -> None:
    wanted = Seen(
        "test",
        [SeenFreedom(name, "ankle", "hinge", armature=a) for name, a in (("roll", 1.0), ("pitch", 2.0))],
    )
    found = Seen("test", [SeenFreedom("ankle_joint", "ankle", "axis", armature=a) for a in (2.0, 1.0)])
    state = Evaluated({}, np.eye(2).tolist(), [0.0, 0.0])
    outcome = compare("physx", Told(wanted, [state]), Told(found, [state]))
    assert outcome.right
    assert "matrix" in outcome.absent


def test_what_goes_from_a_worker_comes_back(twin: Told) -> None:
    there = Told(load(json.loads(json.dumps(asdict(twin.seen)))), twin.states)
    assert compare("mujoco-usd", twin, there).right


def test_small_things() -> None:
    assert name_of("/robot/arm/joint 1") == "joint_1"
    assert name_of("2nd") == "_2nd"
    assert bound(3.4e38) is None
    assert bound(-2.0) == -2.0
    assert join_blocks([np.eye(1), 2.0 * np.eye(2)]) == [[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]]
    assert refuse("physx", "no").reason == "no"


@pytest.mark.parametrize(
    ("aspect", "change", "told"),
    [
        ("links", lambda seen: seen.masses.pop("lower"), "there is no link lower"),
        ("links", lambda seen: seen.masses.update(more=1.0), "link more is not in the reference"),
        (
            "inertias",
            lambda seen: seen.inertias["upper"].__setitem__(0, 0.21),
            "upper: centre of mass 0.21 0 0",
        ),
        (
            "inertias",
            lambda seen: seen.inertias["upper"].__setitem__(3, 0.021),
            "upper: inertia 0.021 0.03 0.04",
        ),
        (
            "mimics",
            lambda seen: seen.mimics.update(push=["turn", 2.0]),
            "push follows turn, should follow none",
        ),
    ],
)
def test_what_links_are(twin: Told, aspect: str, change: Callable[[Seen], object], told: str) -> None:
    other = make_driven(twin)
    change(other.seen)
    assert compare("physx", twin, other).differences[aspect].startswith(told)


def test_a_mimic_joint_follows_as_far(twin: Told) -> None:
    twin.seen.mimics["push"] = ["turn", 2.0]
    other = make_driven(twin)
    assert compare("physx", twin, other).right
    other.seen.mimics["push"] = ["turn", 1.0]
    assert compare("physx", twin, other).differences["mimics"] == "push follows 1 turn instead of 2 turn"
    other.seen.mimics.clear()
    assert compare("physx", twin, other).differences["mimics"] == "push does not follow turn"


def test_a_follower_of_a_follower_follows_the_first(twin: Told) -> None:
    one, other = copy.deepcopy(twin), copy.deepcopy(twin)
    one.seen.mimics = {"b": ["a", 2.0], "c": ["b", -3.0]}
    other.seen.mimics = {"b": ["a", 2.0], "c": ["a", -6.0]}
    assert "mimics" not in compare("newton", one, other).differences
    other.seen.mimics["c"] = ["a", 6.0]
    assert compare("newton", one, other).differences["mimics"] == "c follows 6 a instead of -6 a"


def test_drives_of_axes_of_one_joint() -> None:
    def see(*freedoms: SeenFreedom) -> Told:
        return Told(Seen("Newton", freedoms=list(freedoms), masses={"cart": 1.0}), [])

    wanted = see(
        *(
            SeenFreedom(name, "cart", "slide", stiffness=k, damping=2.0)
            for name, k in (("x", 9.0), ("y", 4.0))
        )
    )
    merged = see(*(SeenFreedom("x", "cart", "axis", stiffness=k, damping=2.0) for k in (4.0, 9.0)))
    assert compare("newton", wanted, merged).right
    merged.seen.freedoms[0].stiffness = 5.0
    assert compare("newton", wanted, merged).differences["drives"] == "x: stiffnesses 5 9 instead of 4 9"
    merged.seen.freedoms[0].stiffness, merged.seen.freedoms[1].damping = 4.0, 0.0
    assert compare("newton", wanted, merged).differences == {"damping": "x: damping 0, 2 instead of 2, 2"}


def test_poses_and_bias(twin: Told) -> None:
    other = make_driven(twin)
    other.states[1].poses["lower"][2] += 0.01
    other.states[3].bias[1] += 1.0
    found = compare("physx", twin, other).differences
    assert found["poses"] == "lower is 1.0e-02 m and 0.0e+00 rad off (configuration 1)"
    assert found["bias"].endswith("(configuration 3, others held)")


def test_what_cannot_be_told_is_neither_right_nor_wrong(twin: Told) -> None:
    other = make_driven(twin)
    set_on(other, "turn", armature=0.0)
    other.seen.blank["armature"] = "no word for it"
    for state in other.states:
        state.bias = None
    outcome = compare("pybullet", twin, other, blank={"drives": "no place for it"})
    assert outcome.blank == {
        "armature": "no word for it",
        "drives": "no place for it",
        "bias": "not reported",
    }
    assert outcome.right


def test_a_mass_matrix_of_other_rows_is_not_compared(twin: Told) -> None:
    other = make_driven(twin)
    for state in other.states:
        state.mass_matrix = [[1.0]]
    outcome = compare("pybullet", twin, other)
    assert outcome.right
    assert outcome.blank["matrix"] == "its mass matrix has 1 rows for 2 degrees of freedom"


def test_tolerances_follow_the_precision(twin: Told) -> None:
    other = make_driven(twin)
    other.seen.masses["upper"] += 1e-6
    assert compare("physx", twin, other).right
    assert list(compare("drake", twin, other, precision="double").differences) == ["masses"]
    assert compare("drake", twin, other, precision="double", rounded=["masses"]).right


def test_every_tolerance_has_a_reason() -> None:
    for aspect in ASPECTS.values():
        assert bool(aspect.reason) == bool(aspect.scale) == (aspect.single >= aspect.double > 0.0)


@pytest.mark.parametrize(("off", "word"), [(1.9e-9, "no inertia"), (3e-9, None)])
def test_what_is_written_for_links_without_inertia_explains_as_much_and_no_more(
    off: float, word: str | None
) -> None:
    light = 4e-6
    rows = [SeenFreedom("tip", "hand", "hinge")]
    sides = [Told(Seen("test", rows), [Evaluated({}, [[value]], [0.0])]) for value in (light, light + off)]
    robot = Asset("robot", bodies=[Body(name, inertial=Inertial(0.1)) for name in ("sensor", "tool")])
    outcome = compare("drake", *sides, precision="double")
    found = find_causes(robot, outcome, *sides)
    assert "matrix" in outcome.differences
    assert (found["matrix"].word if "matrix" in found else None) == word
    if word:
        assert "link 'sensor' and 1 more have a mass and no inertia" in found["matrix"].text


def explain(
    scenario: str,
    errors: tuple[float, float, float | None],
    *,
    ignored: str = "",
    runs: int = 2,
    held: float | None = None,
) -> str:
    """The word for a motion that differs by errors at a timestep, at half and at an eighth of it."""
    positions = {"j": [0.0, 1.0]}
    reference = MotionReference("mujoco", [0.0, 0.1], 1e-4, positions, 0.0)
    moved = [MotionRun(0.001, positions), MotionRun(0.0005, positions)][:runs]
    result = MotionResult(scenario, "differs", "it differs", moved, reference, "j", ignored=ignored)
    result.error, result.error_half, result.error_small = errors
    result.error_held, result.tolerance = held, 0.01
    outcome = Outcome("physx", differences={scenario: "it differs"}, items={scenario: "j"})
    told = Told(Seen("MuJoCo"))
    return find_causes(Asset("robot"), outcome, told, told, {scenario: result})[scenario].word


@pytest.mark.parametrize(
    ("errors", "word"),
    [
        ((0.4, 0.1, 0.02), "integrator"),
        ((1.0, 1.0, 0.001), "timestep"),
        ((0.015, 0.03, 0.009), "timestep"),  # within the tolerance of 0.01
        ((0.005, 0.006, 0.02), "rounding"),
        ((0.5, 0.5, 0.5), "not explained"),
        ((0.5, 0.5, None), "not explained"),
    ],
)
def test_a_motion_that_differs_is_explained_by_a_smaller_timestep_or_not_at_all(errors, word) -> None:
    assert explain("swing", errors) == word


def test_runs_that_are_farther_apart_than_the_way_are_not_stable() -> None:
    result = MotionResult("swing", "differs", runs=[MotionRun(0.001, {}), MotionRun(0.0005, {})])
    result.error, result.error_half, result.error_small = 1.2, 51.0, 5.5
    assert motion_causes.explain_smaller(result) is None
    result.discretisation = 50.0
    assert motion_causes.explain_smaller(result)[0] == "timestep"


def test_an_engine_that_is_not_stable_is_told_from_one_that_cannot_move() -> None:
    assert explain("swing", (0.0, 0.0, 0.002), runs=0) == "timestep"
    assert explain("swing", (0.0, 0.0, None), runs=0) == "no motion"


def test_a_coupling_that_acts_one_way() -> None:
    assert explain("coupled", (0.5, 0.5, None), ignored="reaction") == "reaction ignored"
    assert explain("coupled", (0.5, 0.5, None)) == "not explained"


def make_motion(joint: str, scenario: str, error: float, run: list[float], own: list[float]) -> MotionResult:
    """A motion to 1.0 in the reference: what an engine does of it, and the reference itself at the same timestep."""
    reference = MotionReference(
        "mujoco", [0.0, 0.1], 1e-4, {joint: [0.0, 1.0]}, 0.0, [MotionRun(0.0005, {joint: own})]
    )
    moved = [MotionRun(step, {joint: run}) for step in (0.001, 0.0005)]
    result = MotionResult(scenario, "differs", "it differs", moved, reference, joint)
    result.error = result.error_half = error
    result.tolerance = 0.01
    return result


def find_word(result: MotionResult) -> str:
    outcome = Outcome(
        "physx", differences={result.scenario: "it differs"}, items={result.scenario: result.worst}
    )
    told = Told(Seen("MuJoCo"))
    return find_causes(Asset("robot"), outcome, told, told, {result.scenario: result})[result.scenario].word


def test_a_reference_that_needs_smaller_steps_itself_is_the_cause() -> None:
    assert find_word(make_motion("j", "response", 0.9, [0.0, 0.1], [0.0, 0.15])) == "timestep"
    assert find_word(make_motion("j", "response", 0.9, [0.0, 0.1], [0.0, 0.99])) == "not explained"


def test_a_base_that_stays_is_held() -> None:
    assert find_word(make_motion("base.z", "swing", 1.0, [0.5, 0.5], [0.0, 1.0])) == "held base"
    assert find_word(make_motion("base.z", "swing", 1.0, [0.5, 0.6], [0.0, 1.0])) == "not explained"
    assert find_word(make_motion("arm.z1", "swing", 1.0, [0.5, 0.5], [0.0, 1.0])) == "not explained"


def test_a_motion_that_is_right_without_damping_is_damped_otherwise() -> None:
    result = make_motion("j", "swing", 0.05, [0.0, 0.95], [0.0, 1.0])
    assert find_word(result) == "not explained"
    result.error_undamped = 0.013
    assert find_word(result) == "not explained"
    result.error_undamped = 0.012  # less than a quarter of it is left
    assert find_word(result) == "damping law"


def test_a_joint_that_swings_otherwise_follows_otherwise() -> None:
    swing = make_motion("j", "swing", 0.05, [0.0, 0.95], [0.0, 1.0])
    swing.error_undamped = 0.009
    told = Told(Seen("MuJoCo"))
    for joint, word in (("j", "damping law"), ("k", "not explained")):
        motions = {"swing": swing, "coupled": make_motion(joint, "coupled", 0.05, [0.0, 0.95], [0.0, 1.0])}
        outcome = Outcome(
            "sapien", differences=dict.fromkeys(motions, "it differs"), items=dict.fromkeys(motions, joint)
        )
        assert find_causes(Asset("robot"), outcome, told, told, motions)["coupled"].word == word


def test_loops_that_give_way_otherwise() -> None:
    assert explain("loop", (0.5, 0.5, None), ignored="loop give") == "rigid loops"
    assert explain("loop", (0.5, 0.5, None), ignored="loop points") == "loop points"
    assert explain("loop", (0.5, 0.5, None), ignored="loop softness") == "loop softness ignored"


def test_a_leader_that_nothing_follows_has_the_cause_of_its_followers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(motion_causes, "comes_loose", lambda *_: True)
    positions = {"j": [0.0, 1.0]}
    reference = MotionReference("mujoco", [0.0, 0.1], 1e-4, positions, 0.0)
    motions = {}
    for scenario, ignored in (("coupled", ""), ("swing", "reaction"), ("response", "")):
        moved = [MotionRun(0.001, positions), MotionRun(0.0005, positions)]
        result = MotionResult(scenario, "differs", "it differs", moved, reference, "j", ignored=ignored)
        result.error, result.error_half, result.error_small, result.tolerance = 0.5, 0.5, None, 0.01
        motions[scenario] = result
    outcome = Outcome(
        "physx", differences=dict.fromkeys(motions, "it differs"), items=dict.fromkeys(motions, "j")
    )
    told = Told(Seen("MuJoCo"))
    found = find_causes(Asset("robot"), outcome, told, told, motions)
    assert found["coupled"].word == found["swing"].word == "mimic dropped"
    assert found["response"].word != "mimic dropped"


def test_a_joint_of_several_axes_is_the_cause_where_holding_it_helps() -> None:
    assert explain("swing", (0.5, 0.5, 0.5), held=0.002) == "several axes"
    assert explain("swing", (0.5, 0.5, 0.5), held=0.3) == "not explained"


def test_runs_that_are_far_apart_allow_nothing() -> None:
    """An engine that is not stable has two runs that are worlds apart, which is no reason to be lenient."""
    times = [0.1 * number for number in range(31)]
    reference = MotionReference("mujoco", times, 1e-4, {"j": times}, 0.0)
    runs = [MotionRun(0.001, {"j": [50.0] * 31}), MotionRun(0.0005, {"j": [10.0] * 31})]
    result = compare_motion("response", reference, runs, "single")
    assert result.discretisation > 10.0
    assert (result.state, result.tolerance) == ("differs", 0.1)


def test_links_may_come_before_what_hangs_on_the_world() -> None:
    dof = Dof(Motion.HINGE, vec3(0, 1, 0), name="hinge")
    joints = [
        Joint("hinge", JointKind.REVOLUTE, "anchor", "flap", dofs=[dof]),
        Joint("held", JointKind.FIXED, WORLD, "anchor"),
        Joint("tip", JointKind.REVOLUTE, "flap", "end", dofs=[replace(dof, name="tip")]),
    ]
    asset = Asset("door", bodies=[Body(name) for name in ("anchor", "flap", "end")], joints=joints)
    assert proving._list_between(asset) == {"held_link", "hinge_link"}


@pytest.mark.parametrize(("mass", "word"), [(0.0, "weightless base"), (1.0, "floating base")])
def test_a_base_that_floats_may_weigh_nothing(mass: float, word: str) -> None:
    asset = Asset("robot", bodies=[Body("rail", inertial=Inertial(mass, inertia=mass * np.eye(3)))])
    outcome = Outcome("drake", differences={"base": "rail floats, should be held"}, items={"base": "rail"})
    seen = Told(Seen("Drake", floating=["rail"]))
    cause = find_causes(asset, outcome, Told(Seen("MuJoCo")), seen)["base"]
    assert cause.word == word
    assert cause.hint


def test_what_a_format_has_no_word_for_is_known_by_any_name() -> None:
    told = "ball joint 'left-rod' is written as three revolute joints"
    found = {"dofs": DifferenceCause("joint", "the engine has other degrees of freedom at this joint")}
    outcome = Outcome("drake", differences={"dofs": "left_rod: 1 DOFs"}, items={"dofs": "left_rod"})
    proving._blame_format(outcome, found, [Diagnostic("x", Level.WARNING, told)])
    assert (found["dofs"].word, found["dofs"].text) == ("format", told)


def make_rest(**ends: float) -> MotionReference:
    """A body that comes to rest in the reference, with its coordinates then."""
    count = SCENARIOS["drop"].samples
    positions = {name: [0.0, *[end] * count] for name, end in ends.items()}
    times = np.linspace(0.0, 1.0, count + 1).tolist()
    return MotionReference("mujoco", times, 1e-4, positions, 0.0)


def test_what_a_tilt_at_the_start_decides_is_not_compared() -> None:
    reference, tilted = (make_rest(**{"can.z": -0.02, "can.rx": turn}) for turn in (0.01, 0.03))
    sensitive = find_sensitive("drop", reference, tilted)
    assert list(sensitive) == ["can.rx"]

    def hold(**ends: float) -> MotionResult:
        runs = [MotionRun(step, make_rest(**ends).positions) for step in (0.001, 0.0005)]
        assert compare_motion("drop", reference, runs, "double").state == "differs"
        return compare_motion("drop", reference, runs, "double", sensitive)

    turned = hold(**{"can.z": -0.02, "can.rx": -0.01})
    assert turned.state == "same"
    assert "can.rx not compared" in turned.reason
    assert hold(**{"can.z": -0.2, "can.rx": 0.01}).worst == "can.z"
    every = dict.fromkeys(reference.positions, 1.0)
    runs = [MotionRun(step, reference.positions) for step in (0.001, 0.0005)]
    assert compare_motion("drop", reference, runs, "double", every).state == "blank"


@pytest.mark.parametrize(("swings", "told"), [(0.02, "rocks still, by 4.0e-02"), (0.0, "lies otherwise")])
def test_what_rocks_still_is_told(swings: float, told: str) -> None:
    reference = make_rest(**{"can.rx": 0.01})
    moved = [0.03 + swings * (-1) ** number for number in range(len(reference.times))]
    runs = [MotionRun(step, {"can.rx": moved}) for step in (0.001, 0.0005)]
    result = compare_motion("drop", reference, runs, "double")
    outcome = Outcome("dart", differences={"drop": result.reason}, items={"drop": result.worst})
    seen = Told(Seen("MuJoCo"))
    cause = find_causes(Asset("can"), outcome, seen, seen, {"drop": result})["drop"]
    assert cause.word == "contact model"
    assert told in cause.text


def test_only_links_between_axes_may_weigh_next_to_nothing(twin: Told) -> None:
    """A joint of several freedoms may be a chain; any other link that is not in the reference is told."""
    other = make_driven(twin)
    other.seen.masses["turn_link"] = 1e-7
    assert compare("physx", twin, other, between={"turn_link"}).right
    assert compare("physx", twin, other).differences["links"] == "link turn_link is not in the reference"
    other.seen.masses["turn_link"] = 1e-3
    assert "links" in compare("physx", twin, other, between={"turn_link"}).differences


def test_principal_axes_that_are_turned_by_little_count() -> None:
    """MuJoCo takes them for those of the body, unless it is told otherwise: 3e-8 rad are 1e-8 of a mass matrix."""
    tensor = np.diag([0.03, 0.03, 0.003])
    tensor[0, 2] = tensor[2, 0] = 1e-9
    links = [
        Body("base", inertial=Inertial(1.0, inertia=np.eye(3))),
        Body("link", inertial=Inertial(1.0, inertia=tensor)),
    ]
    dofs = [Dof(Motion.HINGE, vec3(1, 0, 0), name="x"), Dof(Motion.HINGE, vec3(0, 0, 1), name="z")]
    joints = [
        Joint("held", JointKind.FIXED, WORLD, "base"),
        Joint("both", JointKind.D6, "base", "link", dofs=dofs),
    ]
    robot = ReferenceRobot(Asset("robot", bodies=links, joints=joints))
    (state,) = robot.evaluate([{}])
    rows = {row.joint: number for number, row in enumerate(robot.describe().freedoms)}
    assert state.mass_matrix[rows["x"]][rows["z"]] == pytest.approx(1e-9, rel=1e-6)


def test_newton_needs_no_motor_for_a_plain_effort() -> None:
    """It takes efforts at every joint; a motor with a gear or a largest force is missed."""
    plain = SeenActuator("m", "j", "joint", [1.0, 0.0, 0.0], [0.0] * 3, [1.0] + [0.0] * 5, True)
    row = SeenFreedom("j", "b", "hinge")
    wanted, found = Seen("MuJoCo 4", [row], actuators=[plain]), Seen("Newton 1.7", [row])
    assert compare("newton", Told(wanted), Told(found)).right
    plain.gear[0] = 50.0
    assert compare("newton", Told(wanted), Told(found)).differences["drives"] == "0 actuators instead of 1"
    # a drive whose gains a program is to set is the limit of its joint
    plain.gear[0], plain.force_range = 1.0, (-80.0, 80.0)
    for limit, missed in ((80.0, False), (79.0, True), (None, True)):
        row.max_force = limit
        told = compare("newton", Told(wanted), Told(found)).differences
        assert told == ({"drives": "0 actuators instead of 1"} if missed else {})


def test_a_joint_that_an_equality_holds_has_a_limit_there(tmp_path: Path) -> None:
    """MuJoCo refuses limits without width, so that MJCF says them otherwise; other formats have them."""
    asset = simwright.load(write_mjcf(tmp_path))
    dof = next(dof for joint in asset.joints for dof in joint.dofs if dof.name == "turn")
    dof.lower = dof.upper = 0.0
    rows = {row.joint: row.limit for row in ReferenceRobot(asset).describe().freedoms}
    assert rows["turn"] == (0.0, 0.0)


def test_configurations_stay_within_limits_of_speeds():
    """PhysX clamps the speed of a joint to its limit, so a faster state is none that it can be asked about."""
    limits = {"slow": 0.07, "fast": 20.0, "": None}
    asset = Asset(
        "m", bodies=[Body(f"{name}_link", inertial=Inertial(1.0, inertia=np.eye(3))) for name in limits]
    )
    asset.joints = [
        Joint(
            name or "free", JointKind.REVOLUTE, "", f"{name}_link",
            dofs=[Dof(Motion.HINGE, name=name or "free", velocity_limit=limit)],
        )
        for name, limit in limits.items()
    ]  # fmt: skip
    seen = ReferenceRobot(asset).describe()
    states = choose_configurations(seen, 20, 18, list_speed_limits(asset))
    fastest = {
        name: max(abs(state["speeds"][name]) for state in states[1:]) for name in ("slow", "fast", "free")
    }
    assert 0.05 < fastest["slow"] <= 0.07
    assert 0.9 < fastest["fast"] <= 1.0
    assert 0.9 < fastest["free"] <= 1.0
