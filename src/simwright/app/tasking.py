# SPDX-License-Identifier: Apache-2.0
"""Tasks for the command line: what there is, and running one with what the options and an environment file say."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from simwright.app.bridging import NO_ROS, RosOptions, open_transports
from simwright.app.watching import (
    DrivenTask,
    EpisodeReset,
    LiveOptions,
    WatchedBatch,
    WatchedRunner,
    WatchedTask,
    check_view,
    make_pace,
    read_keys,
)
from simwright.core.diag import Diagnostic, Reporter
from simwright.core.documents.read import parse_document
from simwright.core.documents.validate import validate_document
from simwright.core.errors import UnknownNameError, UsageError
from simwright.core.files import check_writable, resolve_inside
from simwright.core.gate import Gate, find_root
from simwright.core.math3d import IDENTITY, Pose
from simwright.core.scratch import Scratch
from simwright.tasks.baselines.policy import POLICIES, TaskPolicy, find_mode, make_policy
from simwright.tasks.environments import (
    EnvironmentFile,
    expect_robot,
    find_option,
    read_environment,
)
from simwright.tasks.manifest import ControlMode
from simwright.tasks.observing import find_camera
from simwright.tasks.preflight import preflight
from simwright.tasks.recording import FailureRecorder
from simwright.tasks.robot import TaskRobot
from simwright.tasks.rollout import SimRollout
from simwright.tasks.runner import (
    Episode,
    Listener,
    Progress,
    RunSummary,
    SimRunner,
    expect_batch_policy,
    run_batch,
)
from simwright.tasks.scene import TaskScene
from simwright.tasks.scenes.table import SCENES
from simwright.tasks.team import gather_team
from simwright.tasks.teleoperation import HELP, TeleopInput, TeleopSession
from simwright.tasks.terms import TERMS, list_places

YAML = (".yaml", ".yml", ".json")


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What a run is asked to be.  What is None comes from the environment file, or from a default."""

    task: str
    robot: str | None = None
    episodes: int | None = None
    seed: int | None = None
    policy: str | None = None
    control: str | None = None
    sets: tuple[str, ...] = ()
    fit: bool = False
    force: bool = False
    num_worlds: int | None = None
    max_steps: int | None = None
    record: str | None = None
    dataset: str | None = None
    report: str | None = None
    view: LiveOptions | None = None
    camera: str = ""
    ros: RosOptions = NO_ROS


@dataclass(slots=True)
class TaskRun:
    """A run that is ready to go."""

    said: EnvironmentFile
    rollout: SimRollout
    policy: str
    listeners: tuple[Listener, ...]
    findings: tuple[Diagnostic, ...] = ()
    """What the pre-flight report says."""
    ros: RosOptions = NO_ROS
    view: LiveOptions | None = None

    @property
    def films(self) -> dict[int, str]:
        """Films of failures that were written, by seed."""
        return next((one.films for one in self.listeners if isinstance(one, FailureRecorder)), {})

    def run(self, progress: Progress | None = None, reporter: Reporter | None = None) -> RunSummary:
        """Run all episodes; what of it cannot be served to ROS is reported."""
        said = self.said
        reporter = Reporter() if reporter is None else reporter
        policy = make_policy(self.policy, said.seed)
        if said.num_worlds > 1:
            return self._run_many(policy, progress, reporter)
        with contextlib.ExitStack() as stack:
            ros = self.ros
            if self.view is not None:
                # who watches sets the pace
                ros = replace(ros, realtime=False)
            bridged = BridgedTask(self.rollout, ros, reporter, stack) if ros.is_asked else None
            listeners, kind = self.listeners, SimRunner
            if self.view is not None:
                watched = WatchedTask(self.rollout, self.view, reporter, stack, bridged)
                listeners, kind = (*self.listeners, watched), WatchedRunner
            runner = kind(self.rollout, policy, name=self.policy, listeners=listeners, renew=self._renew)
            return runner.run(self._count_episodes(), said.seed, progress)

    def _count_episodes(self) -> int | None:
        """How many episodes; None, until Ctrl-C, where somebody watches and nothing says how many.

        One alone may be over before a browser is open.  What is recorded has an end: one episode, where none is said.
        """
        said = self.said
        endless = self.view is not None and not self.listeners and "episodes" not in said.model_fields_set
        return None if endless else said.episodes

    def _run_many(self, policy: Any, progress: Progress | None, reporter: Reporter) -> RunSummary:
        """Many worlds at once, in a grid where they are watched."""
        from simwright.tasks.batch import BatchRollout

        said = self.said
        with contextlib.ExitStack() as stack:
            batch = BatchRollout(self.rollout, said.num_worlds)
            stack.callback(batch.close)
            watch = None if self.view is None else WatchedBatch(batch, self.view, reporter, stack)
            while True:
                try:
                    return run_batch(
                        batch,
                        policy,
                        self._count_episodes(),
                        said.seed,
                        name=self.policy,
                        progress=progress,
                        watch=watch,
                    )
                except EpisodeReset:
                    continue  # all of them again

    def drive(
        self, reporter: Reporter, tell: Callable[[str], None], inputs: TeleopInput | None = None
    ) -> RunSummary:
        """Let somebody drive; what is kept is recorded as the run was asked to.

        ``inputs`` are given by programs; else they come from the terminal and the page, one of which there has to be.
        """
        rollout, own = self.rollout, inputs is not None
        inputs = TeleopInput() if inputs is None else inputs
        with contextlib.ExitStack() as stack:
            page = None
            if self.view is not None:
                page = DrivenTask(rollout, self.view, reporter, stack)
                page.add_panel(inputs)
            has_keys = stack.enter_context(read_keys(inputs))
            if not (has_keys or page is not None or own):
                raise UsageError(
                    "keys cannot be read: standard input is not a terminal",
                    hint="drive the robot on a page instead: --view",
                )
            if has_keys:
                tell(HELP)

            def tell_all(text: str) -> None:
                # the first thing that is told of a session is that it has begun
                if page is not None:
                    page.announce()
                tell(text)

            session = TeleopSession(
                rollout, inputs, tell_all, None if page is not None or own else make_pace()
            )
            session.restarts = (EpisodeReset,)
            with contextlib.suppress(KeyboardInterrupt):
                session.drive(self.said.episodes, self.said.seed)
        # the page is closed: recorders play what was kept again as fast as they can
        return session.record(self.listeners)

    def run_part(self, first: int, count: int) -> list[Episode]:
        """Some of the episodes, from the one called ``first`` on; each is what it is in a whole run."""
        runner = SimRunner(
            self.rollout,
            make_policy(self.policy, self.said.seed),
            name=self.policy,
            listeners=self.listeners,
            renew=self._renew,
        )
        return runner.run(count, self.said.seed, first=first).episodes

    def describe(self) -> dict[str, Any]:
        """What is run, as JSON has it."""
        rollout = self.rollout
        return {
            "task": rollout.scene.name,
            "robot": rollout.robot.id,
            "policy": self.policy,
            "control": rollout.mode.value,
            "seed": self.said.seed,
        }

    def _renew(self, seed: int) -> TaskPolicy:
        return make_policy(self.policy, seed)


class BridgedTask:
    """Serves a task while a rollout runs it: its robot, its things as frames, and how it stands.

    The scene owns the physics: every time step is the rollout's own, and looking changes nothing.  Targets of peers
    take the place of the policy's from the first one on, until the episode ends.
    """

    def __init__(
        self, rollout: SimRollout, options: RosOptions, reporter: Reporter, stack: contextlib.ExitStack
    ) -> None:
        from simwright.ros.bridge import RosBridge
        from simwright.ros.graph import build_graph
        from simwright.ros.qos import LATCHED_QOS
        from simwright.ros.serving import ClockPace
        from simwright.tasks.export import TaskSimulation, read_task

        folder = Scratch()
        stack.callback(folder.close)
        rollout.reset(seed=0)
        asset = read_task(rollout, folder.path, reporter)
        self._simulation = stack.enter_context(TaskSimulation(rollout, asset))
        self._simulation.follow()
        made = open_transports(options, stack)
        self.bridge = stack.enter_context(
            RosBridge(build_graph(asset, reporter), self._simulation, made, reporter)
        )
        bridge, scene = self.bridge, rollout.scene
        bridge.add_topic(
            "/task/instruction",
            "std_msgs/msg/String",
            lambda _: {"data": scene.instruction},
            0.0,
            LATCHED_QOS,
        )
        bridge.add_topic("/task/success", "std_msgs/msg/Bool", lambda _: {"data": rollout.success}, 10.0)
        bridge.add_topic(
            "/task/score", "std_msgs/msg/Float64", lambda _: {"data": float(rollout.verdict.score)}, 10.0
        )
        self._pace = ClockPace(0) if options.is_paced else None
        rollout.watch = self
        stack.callback(setattr, rollout, "watch", None)

    def begin_episode(self) -> None:
        """See :class:`~simwright.tasks.rollout.StepWatch`."""
        self._simulation.follow()
        self.bridge.reset_controllers()

    def poll(self) -> None:
        """Hear peers."""
        self.bridge.poll()

    def before_step(self) -> None:
        """Hear peers, and let controllers write their targets."""
        self.poll()
        self.bridge.command()

    def after_step(self) -> None:
        """Tell what there is to see."""
        self._simulation.follow(1)
        self.bridge.observe()
        if self._pace is not None:
            self._pace.wait(self.bridge.time)


def prepare_run(request: RunRequest) -> TaskRun:
    """Put a run together; options of the command line count over an environment file's."""
    check_view(request.view)
    said, options, folder = _read(request)
    scene = SCENES.get(said.task)
    options = {**options, **read_sets(scene, request.sets)}
    robot: str | TaskRobot | None = _choose_robot(request.robot, said.robot, folder)
    base = said.base_pose.as_pose() if said.base_pose is not None else None
    _guard_fixed(scene, "several robots" if said.robots else robot, base)
    if said.robots:
        if request.robot is not None:
            raise UsageError("the environment file has several robots", hint="leave --robot out")
        robot, base = (
            gather_team(said.robots, lambda name: _choose_robot(None, name, folder) or name),
            IDENTITY,
        )
    policy = _choose_policy(said.policy, scene)
    mode = _choose_mode(policy, said.control)
    record = request.record or (str(resolve_inside(folder, said.record)) if said.record else None)
    listeners = _make_listeners(request, record, said)
    if said.num_worlds > 1:
        _check_many(request, said.num_worlds, policy, listeners)
    report = preflight(
        scene,
        expect_robot(scene, robot),
        options=options,
        base=base,
        mode=mode,
        period=said.period,
        max_steps=said.max_steps,
        randomize=said.randomize,
        fit=said.fit,
        reward=said.reward,
        success=said.success,
    )
    # with --force a rollout may still be missing, where the robot could not even be put in the scene:
    # then it is an error
    rollout = report.rollout if request.force and report.rollout else report.expect_clear()
    # recorders and policies see them too
    rollout.add_terms(said.observe.terms)
    # recorders look cameras up when the first episode begins, of a session by hand when all is over
    for name in (*said.observe.cameras, *([request.camera] if request.camera else [])):
        find_camera(rollout.model, name)
    return TaskRun(said, rollout, policy, listeners, tuple(report.findings), request.ros, request.view)


def _check_many(request: RunRequest, count: int, policy: str, listeners: tuple[Listener, ...]) -> None:
    """Raise the error of what many worlds at once cannot do, before anything is opened for them."""
    if request.ros.is_asked:
        raise UsageError(f"{count} worlds", hint="ROS is served by a single one")
    # films and data sets are made of one world, from its camera
    if listeners:
        raise UsageError("many worlds at once are not recorded", hint="leave --num-worlds out")
    expect_batch_policy(make_policy(policy), policy)


def read_run(request: RunRequest) -> EnvironmentFile:
    """What a run is, without opening a robot."""
    said, _, _ = _read(request)
    _choose_policy(said.policy, SCENES.get(said.task))
    return said


def _read(request: RunRequest) -> tuple[EnvironmentFile, dict[str, Any], Path]:
    """The environment file with what the command line says over it; options as plain data."""
    asked = {
        "episodes": request.episodes,
        "seed": request.seed,
        "policy": request.policy,
        "control": request.control,
        "num_worlds": request.num_worlds,
        "max_steps": request.max_steps,
        # a flag that is not given is no wish: it must not replace fit: true of the file
        "fit": request.fit or None,
    }
    changed = {key: value for key, value in asked.items() if value is not None}
    if Path(request.task).suffix.lower() in YAML:
        loaded = read_environment(request.task)
        plain = {**loaded.document.data, **changed}
        # options belong to the task's own model and are validated there; here they would be unknown keys
        plain.pop("options", None)
        options = loaded.options.model_dump(exclude_unset=True)
        folder = loaded.folder
    else:
        plain, options, folder = {"task": request.task, **changed}, {}, Path()
        SCENES.get(request.task)
    # once more through the same validation as a file, so that a wrong --seed is told in the same
    # words
    document = parse_document(json.dumps(plain), name="options", syntax="json")
    return validate_document(EnvironmentFile, document, what="run"), options, folder


def read_sets(scene: TaskScene, sets: Sequence[str]) -> dict[str, Any]:
    """``KEY=VALUE`` of ``--set``; values are YAML."""
    values: dict[str, Any] = {}
    for text in sets:
        key, separator, value = text.partition("=")
        if not separator or not key:
            raise UsageError(f"--set takes KEY=VALUE, got {text!r}")
        # before the value is read: a mistyped name is the more likely mistake
        find_option(scene, key)
        document = parse_document(f"value: {value}\n", name=f"--set {key}")
        assert isinstance(document.data, dict)
        values[key] = document.data["value"]
    return values


def _choose_robot(asked: str | None, said: str | None, folder: Path) -> str | None:
    if asked is not None:
        return asked
    if said is None or ":" in said:
        return said
    # a robot named in a file is looked for beside that file, and only then in the catalogue
    beside = folder / said
    if not beside.is_file():
        return said
    # the environment file may come from somebody else: it names robots inside its own folders only
    Gate([find_root(folder / "environment"), folder.resolve()]).admit(beside, said=said)
    return str(beside)


def _guard_fixed(scene: TaskScene, robot: str | TaskRobot | None, base: Pose | None) -> None:
    """A scene that is made for one robot takes no other, and has its place for it."""
    if not scene.fixed_robot:
        return
    if robot is not None and robot != scene.fixed_robot:
        raise UsageError(
            f"the task {scene.name!r} is made for the robot {scene.fixed_robot!r}, not for {robot!r}",
            hint="leave --robot out",
        )
    if base is not None:
        raise UsageError(f"the task {scene.name!r} has a place for its robot", hint="leave base_pose out")


def _choose_policy(said: str, scene: TaskScene) -> str:
    """The policy, if the task has what it moves: one that is made for another task looks for that one's things."""
    if said not in POLICIES:
        raise UnknownNameError("policy", said, POLICIES.names())
    task = getattr(POLICIES.get(said), "task", None)
    missing = [] if task is None or task not in SCENES else _list_things(SCENES.get(task))
    missing = [name for name in missing if name not in _list_things(scene)]
    if missing:
        raise UsageError(
            f"the policy {said!r} is made for the task {task!r}: {scene.name!r} has no {' and no '.join(missing)}",
            hint=f"policies for it: {', '.join(list_policies(scene))}",
        )
    return said


def _list_things(scene: TaskScene) -> list[str]:
    return [*scene.objects, *scene.fixtures, *scene.marks, *scene.joints]


def _choose_mode(policy: str, control: ControlMode | None) -> ControlMode | None:
    """The policy's own mode, unless another was asked for, which it cannot drive."""
    needed = find_mode(policy)
    if control is not None and control in getattr(POLICIES.get(policy), "other_modes", ()):
        return control
    if needed is not None and control is not None and needed is not control:
        raise UsageError(
            f"the policy {policy!r} acts in the control mode {needed.value!r}, not {control.value!r}",
            hint="leave --control out",
        )
    return needed or control


def _make_listeners(request: RunRequest, record: str | None, said: EnvironmentFile) -> tuple[Listener, ...]:
    from simwright.tasks.recording import open_recorder

    listeners: list[Listener] = []
    for target in (record, request.dataset, request.report):
        if target is not None:
            check_writable(target)
    if record is not None:
        listeners.append(open_recorder(record, camera=request.camera))
    if request.report is not None and said.num_worlds == 1:
        listeners.append(FailureRecorder(Path(request.report), camera=request.camera))
    if request.dataset is not None:
        from simwright.tasks.recording_dataset import DatasetRecorder

        observe = said.observe
        listeners.append(
            DatasetRecorder(
                Path(request.dataset),
                cameras=observe.cameras or None,
                # small by default: data sets of LeRobot hold a film per camera and episode
                width=observe.width if observe.cameras else 320,
                height=observe.height if observe.cameras else 240,
            )
        )
    return tuple(listeners)


def describe_task(scene: TaskScene) -> dict[str, Any]:
    """A task as JSON has it: what it needs and which options it takes."""
    options = scene.options.model_validate({})
    needs = scene.needs(options)
    return {
        "name": scene.name,
        "title": scene.title,
        "instruction": scene.instruction,
        "done": scene.done,
        "robot": scene.fixed_robot or None,
        "needs": {
            "base": needs.base,
            "tool": needs.tool,
            "gripper": needs.gripper,
            "reach": round(needs.reach, 3),
        },
        "max_steps": scene.max_steps,
        "cameras": list(scene.cameras),
        "objects": _list_things(scene),
        "places": list_places(scene),
        "joints": list(scene.joints),
        "terms": list_terms(),
        "policies": list_policies(scene),
        "options": list_options(scene, options),
    }


def list_terms() -> list[dict[str, Any]]:
    """What may be observed beside the usual, and be a condition of success."""
    return [
        {"name": name, "takes": list(term.takes), "unit": term.unit, "description": term.description}
        for name, term in TERMS.items()
    ]


def list_policies(scene: TaskScene) -> list[str]:
    """Policies that are made for a task, and those for any."""
    found = []
    for name, made in POLICIES.items():
        task = getattr(made, "task", None)
        if task is None or task == scene.name:
            found.append(name)
    return found


def list_options(scene: TaskScene, options: Any) -> list[Mapping[str, Any]]:
    """Every option with its default and what it means."""
    plain = options.model_dump(mode="json")
    return [
        {"name": name, "default": plain[name], "description": field.description or ""}
        for name, field in scene.options.model_fields.items()
    ]
