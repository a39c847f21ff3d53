# SPDX-License-Identifier: Apache-2.0
"""Small terms of the state of a task: what is observed beside the usual, and when a task counts as done.

A term has a name and looks at named places (``tool``, ``base``, the task's objects, fixtures and marks) or joints.  The
same terms serve both: any may be observed, and those of one number may be held against a threshold::

    observe: {terms: [efforts, time_left, {offset: [tool, cube]}]}
    success: {all: [{distance: [cube, goal], below: 0.03}, {speed: tool, below: 0.05}], hold: 0.5}

Terms are computed from worlds x numbers, also where there is one world: a rollout and a world of a batch give the same
bits.  Packages add theirs, objects of :class:`StateTerm`, through entry points in ``simwright.terms``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from simwright.core.diag import Where
from simwright.core.documents.expressions import Number
from simwright.core.documents.record import Record, refuse, refuse_word
from simwright.core.documents.validate import validate_values
from simwright.core.errors import UnknownNameError, UsageError
from simwright.core.math3d import Array
from simwright.core.registry import Registry
from simwright.engines.mujoco.batch import ModelBatch
from simwright.engines.mujoco.queries import MjData, MjModel, measure_contact_force
from simwright.tasks.compose import Composed
from simwright.tasks.scene import TaskScene, TaskState, Verdict, measure_distance

# no place is farther [m], no speed larger [m/s], no episode longer [s]
_FAR, _FAST, _LONG = 1e3, 1e3, 1e6
# above any force of a drive or contact of a robot that has not broken down [N or N m]
_STRONG = 1e6
# controls without bounds are observed as shares of this
_WIDE = 10.0


@dataclass(frozen=True, slots=True)
class StepState:
    """What terms may look at: every array has a row for each world."""

    task: TaskState
    before: Mapping[str, Array]
    """Where places were one control period ago (worlds x 3); where they are, at the start of an episode."""
    period: float
    """Of control [s]."""
    time: Array
    """Since the episode began [s]."""
    time_left: Array
    """Until it is cut off [s]."""
    action: Array
    """The last one as a share of what the controls allow, -1 ... 1; zero before the first."""
    efforts: Array
    """Forces of drives at the robot's degrees of freedom in the last time step [N m or N]."""
    tool_force: Array
    """How hard the robot's last link and its fingers press on what is not the robot [N]."""

    def place(self, name: str) -> Array:
        """Positions of a place (worlds x 3) [m]."""
        return list_positions(self.task)[name]


def list_positions(task: TaskState) -> dict[str, Array]:
    """Where all places are (worlds x 3)."""
    # a layout also says where objects began, which is not where they are
    poses = {**task.layout, **task.objects, **task.tools, "tool": task.tool, "base": task.base}
    return {name: pose[..., :3] for name, pose in poses.items()}


@dataclass(frozen=True, slots=True)
class StateTerm:
    """A term.  ``read(step, *names)`` gives its numbers: one for each world, or a row."""

    read: Callable[..., Array]
    """Its first line of documentation is shown to users."""
    takes: tuple[str, ...] = ()
    """What its names are: ``place`` or ``joint`` (of the task) for each."""
    unit: str = ""
    size: int = 1
    """How many numbers it has; 0 where that depends on the robot."""
    low: float = -_FAR
    high: float = _FAR
    needs_forces: bool = False
    """Does it look at efforts or contacts, which are only there after a step of MuJoCo itself?"""

    @property
    def description(self) -> str:
        """What it is, in a line."""
        return (self.read.__doc__ or "").strip().split("\n")[0]


def measure_offset(step: StepState, start: str, end: str) -> Array:
    """From one place to another, along the axes of the world."""
    return step.place(end) - step.place(start)


def measure_length(step: StepState, start: str, end: str) -> Array:
    """How far two places are apart."""
    return measure_distance(step.place(start), step.place(end))


def measure_flat_length(step: StepState, start: str, end: str) -> Array:
    """How far two places are apart, seen from above."""
    return measure_distance(step.place(start)[..., :2], step.place(end)[..., :2])


def measure_height(step: StepState, place: str) -> Array:
    """How high a place is above the origin of the world."""
    return step.place(place)[..., 2]


def measure_speed(step: StepState, place: str) -> Array:
    """How fast a place moves, on average over the last control period."""
    return measure_distance(step.place(place), step.before[place]) / step.period


def read_coordinate(step: StepState, joint: str) -> Array:
    """The coordinate of a joint of the task, such as a drawer."""
    return step.task.joints[joint]


def read_efforts(step: StepState) -> Array:
    """Forces of drives at the robot's joints in the last time step."""
    return step.efforts


def read_tool_force(step: StepState) -> Array:
    """How hard the robot's last link and its fingers press on what is not the robot."""
    return step.tool_force


def read_action(step: StepState) -> Array:
    """The last action, as a share of what the controls allow."""
    return step.action


def read_time(step: StepState) -> Array:
    """Since the episode began."""
    return step.time


def read_time_left(step: StepState) -> Array:
    """Until the episode is cut off."""
    return step.time_left


OFFSET = StateTerm(measure_offset, ("place", "place"), "m", 3)
DISTANCE = StateTerm(measure_length, ("place", "place"), "m", low=0.0)
DISTANCE_XY = StateTerm(measure_flat_length, ("place", "place"), "m", low=0.0)
HEIGHT = StateTerm(measure_height, ("place",), "m")
SPEED = StateTerm(measure_speed, ("place",), "m/s", low=0.0, high=_FAST)
JOINT = StateTerm(read_coordinate, ("joint",), "m or rad")
EFFORTS = StateTerm(read_efforts, (), "N m or N", 0, -_STRONG, _STRONG, needs_forces=True)
TOOL_FORCE = StateTerm(read_tool_force, (), "N", low=0.0, high=_STRONG, needs_forces=True)
ACTION = StateTerm(read_action, (), "", 0, -1.0, 1.0)
TIME = StateTerm(read_time, (), "s", low=0.0, high=_LONG)
TIME_LEFT = StateTerm(read_time_left, (), "s", low=0.0, high=_LONG)

_HERE = "simwright.tasks.terms"
TERMS: Registry[StateTerm] = Registry(
    "term",
    "simwright.terms",
    {
        "offset": f"{_HERE}:OFFSET",
        "distance": f"{_HERE}:DISTANCE",
        "distance_xy": f"{_HERE}:DISTANCE_XY",
        "height": f"{_HERE}:HEIGHT",
        "speed": f"{_HERE}:SPEED",
        "joint": f"{_HERE}:JOINT",
        "efforts": f"{_HERE}:EFFORTS",
        "tool_force": f"{_HERE}:TOOL_FORCE",
        "action": f"{_HERE}:ACTION",
        "time": f"{_HERE}:TIME",
        "time_left": f"{_HERE}:TIME_LEFT",
    },
)


@dataclass(frozen=True, slots=True)
class ChosenTerm:
    """A term and the names that it looks at."""

    name: str
    names: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """What observations and measures call it: ``offset_tool_cube``."""
        return "_".join((self.name, *self.names))

    @property
    def term(self) -> StateTerm:
        """The term itself."""
        return TERMS.get(self.name)

    def read(self, step: StepState) -> Array:
        """Its numbers (worlds x size)."""
        found = np.asarray(self.term.read(step, *self.names), dtype=np.float64)
        return found.reshape(len(step.time), -1)

    def check(self, scene: TaskScene, tools: Iterable[str] = (), where: Where | None = None) -> None:
        """Raise an error where it names what the scene has not; ``tools`` are names of further robots' tools."""
        takes = self.term.takes
        if len(self.names) != len(takes):
            wanted = {0: "takes no names", 1: f"takes the name of one {takes[0] if takes else ''}"}
            spelt = wanted.get(len(takes), f"takes the names of {len(takes)} {takes[0] if takes else ''}s")
            raise UsageError(
                f"the term {self.name!r} {spelt}, not {len(self.names)}", hint=_SPELLING, where=where
            )
        for kind, name in zip(takes, self.names, strict=True):
            known = list_places(scene, tools) if kind == "place" else scene.joints
            if name not in known:
                raise UnknownNameError(f"{kind} of {scene.name}", name, known, where=where)


_SPELLING = "for example efforts, {height: cube} or {distance: [cube, goal]}"


def list_places(scene: TaskScene, tools: Iterable[str] = ()) -> list[str]:
    """Names of the places of a task; ``tools`` are those of robots beyond the first."""
    return ["tool", "base", *tools, *scene.objects, *scene.fixtures, *scene.marks]


def read_term(said: Any) -> ChosenTerm:
    """``NAME``, ``{NAME: PLACE}`` or ``{NAME: [PLACE, PLACE]}``, for validators."""
    if isinstance(said, ChosenTerm):
        return said
    names: Any = []
    if isinstance(said, str):
        name = said
    elif isinstance(said, Mapping) and len(said) == 1:
        name, names = next(iter(said.items()))
        names = [names] if isinstance(names, str) else [] if names is None else names
    else:
        raise refuse(f"a term is a name, or a name with places: {_SPELLING}")
    if not isinstance(name, str) or name not in TERMS:
        raise refuse_word(name, TERMS.names())
    if not isinstance(names, list | tuple) or not all(isinstance(one, str) for one in names):
        raise refuse(f"{name} takes names: {_SPELLING}")
    return ChosenTerm(name, tuple(names))


Term = Annotated[ChosenTerm, BeforeValidator(read_term)]
"""A field of a document that chooses a term."""


class Condition(Record):
    """A term of one number and where it has to be: ``{distance: [cube, goal], below: 0.03}``."""

    # the name of the term is a key
    model_config = ConfigDict(extra="allow", frozen=True)
    below: Number | None = Field(None, description="the most that the term may be")
    above: Number | None = Field(None, description="the least that the term may be")

    @model_validator(mode="after")
    def _check_term(self) -> Condition:
        said = self.model_extra or {}
        wrong = next((name for name in said if name not in TERMS), None)
        if wrong is not None:
            raise refuse_word(wrong, ["below", "above", *TERMS.names()])
        if len(said) != 1 or (self.below is None and self.above is None):
            raise refuse("a condition is one term, and below or above: {height: cube, above: 0.1}")
        if self.below is not None and self.above is not None and self.below < self.above:
            raise refuse(f"nothing is both below {self.below:g} and above {self.above:g}")
        chosen = read_term(said)
        if chosen.term.size != 1:
            raise refuse(f"{chosen.name} is not one number, which a condition needs")
        return self

    @property
    def chosen(self) -> ChosenTerm:
        """Its term."""
        return read_term(self.model_extra)

    def is_met(self, values: Array) -> npt.NDArray[np.bool_]:
        """Are values where they have to be?  What is no number never is."""
        most = np.inf if self.below is None else self.below
        least = -np.inf if self.above is None else self.above
        return np.asarray((values <= most) & (values >= least))

    def rate(self, values: Array) -> Array:
        """How near values are to where they have to be: 1 there, towards 0 far away."""
        short: Array = np.zeros_like(values)
        for limit, sign in ((self.below, 1.0), (self.above, -1.0)):
            if limit is not None:
                # the limit itself says what is near; one of zero says nothing
                short = np.maximum(short, sign * (values - limit) / (abs(limit) or 1.0))
        return np.asarray(1.0 / (1.0 + short))


class SuccessRule(Record):
    """When a task counts as done, instead of its own condition."""

    task: bool = Field(False, description="the task's own condition has to hold too")
    all: list[Condition] = Field(default_factory=list, description="conditions that all have to hold")
    any: list[Condition] = Field(default_factory=list, description="conditions one of which has to hold")
    hold: Annotated[Number, Field(ge=0)] = Field(0.0, description="for how long without a break [s]")

    @model_validator(mode="after")
    def _check_conditions(self) -> SuccessRule:
        if not (self.task or self.all or self.any):
            raise refuse("success needs a condition: task: true, or entries of all or any")
        return self

    @property
    def terms(self) -> list[ChosenTerm]:
        """All that it looks at."""
        return [condition.chosen for condition in (*self.all, *self.any)]


def read_rule(said: SuccessRule | Mapping[str, Any] | None) -> SuccessRule | None:
    """A rule as Python programs give it."""
    return (
        said
        if said is None or isinstance(said, SuccessRule)
        else validate_values(SuccessRule, said, "success")
    )


def need_forces(terms: Iterable[ChosenTerm], rule: SuccessRule | None) -> bool:
    """Does any term look at forces?"""
    used = [*terms, *(rule.terms if rule is not None else ())]
    return any(chosen.term.needs_forces for chosen in used)


class TermReader:
    """Observes terms and holds a rule against the worlds of a rollout or of a batch.

    ``bounds`` are those of actions, ``tool`` is the site of the tool (negative where there is none).
    """

    def __init__(
        self,
        worlds: ModelBatch,
        composed: Composed,
        terms: Sequence[ChosenTerm],
        rule: SuccessRule | None,
        *,
        bounds: tuple[Array, Array],
        max_steps: int,
        tool: int,
    ) -> None:
        self._terms, self._rule = tuple(terms), rule
        self._composed, self._most = composed, max_steps
        low, high = bounds
        self._low = np.where(np.isfinite(low), low, -_WIDE)
        self._span = np.where(np.isfinite(high), high, _WIDE) - self._low
        count = worlds.worlds
        self._efforts, self._force = np.zeros((count, composed.robot_nv)), np.zeros(count)
        self._inside = find_tool_bodies(composed, tool)
        if need_forces(terms, rule):
            worlds.after = self._read_forces
        self._before: dict[str, Array] = {}
        self._action = np.zeros((count, len(low)))
        self._steps = np.zeros(count, dtype=np.int64)
        # the step since which the rule holds; none yet
        self._since = np.full(count, np.inf)
        self._task: TaskState
        self._now: dict[str, Array] = {}

    def _read_forces(self, world: int, model: MjModel, data: MjData) -> None:
        self._efforts[world] = data.qfrc_actuator[: self._composed.robot_nv]
        self._force[world] = measure_contact_force(model, data, self._inside, self._composed.robot_nbody)

    def start(self, task: TaskState, worlds: npt.NDArray[np.intp] | slice = slice(None)) -> None:
        """Episodes begin in the chosen worlds."""
        self._steps[worlds], self._since[worlds] = 0, np.inf
        self._action[worlds], self._efforts[worlds], self._force[worlds] = 0.0, 0.0, 0.0
        self._task, self._now = task, list_positions(task)
        for name, place in self._now.items():
            if name not in self._before:
                self._before[name] = place.copy()
            self._before[name][worlds] = place[worlds]

    def advance(self, task: TaskState, actions: Array) -> None:
        """A control period has passed in all worlds."""
        self._before = {name: place.copy() for name, place in self._now.items()}
        self._task, self._now = task, list_positions(task)
        self._steps += 1
        span = np.where(self._span > 0.0, self._span, 1.0)
        self._action = np.clip(2.0 * (actions - self._low) / span - 1.0, -1.0, 1.0)

    @property
    def _state(self) -> StepState:
        period = self._composed.period
        return StepState(
            task=self._task,
            before=self._before,
            period=period,
            time=self._steps.astype(np.float64) * period,
            time_left=np.maximum(self._most - self._steps, 0) * period,
            action=self._action,
            efforts=self._efforts,
            tool_force=self._force,
        )

    def observe(self) -> dict[str, Array]:
        """Copies of the observed terms (worlds x numbers each), by key."""
        step = self._state
        return {chosen.key: chosen.read(step).copy() for chosen in self._terms}

    def judge(self, verdict: Verdict) -> Verdict:
        """How episodes stand by the rule; ``verdict`` is the scene's own.

        The score is the mean of how near each part of the rule is to being true (a group of which one is enough counts
        as its best, holding as one more part), and 1 at success: rewards by progress add up to its change, so nothing
        is won by waiting anywhere but where the rule is true.
        """
        rule = self._rule
        if rule is None:
            return verdict
        step, details = self._state, dict(verdict.details)
        ratings, fulfilled = [], np.ones(len(step.time), dtype=bool)
        if rule.task:
            ratings.append(verdict.score)
            fulfilled = fulfilled & verdict.success
        for group, join, best in ((rule.all, np.all, np.min), (rule.any, np.any, np.max)):
            if not group:
                continue
            values = [condition.chosen.read(step)[:, 0] for condition in group]
            rates = [condition.rate(value) for condition, value in zip(group, values, strict=True)]
            details |= {condition.chosen.key: value for condition, value in zip(group, values, strict=True)}
            met = [condition.is_met(value) for condition, value in zip(group, values, strict=True)]
            fulfilled = fulfilled & join(met, axis=0)
            ratings += rates if join is np.all else [best(rates, axis=0)]
        wanted = math.ceil(rule.hold / step.period - 1e-9)
        self._since = np.where(fulfilled, np.minimum(self._since, self._steps), np.inf)
        held = np.where(fulfilled, self._steps - np.where(fulfilled, self._since, 0.0), 0.0)
        success = fulfilled & (held >= wanted)
        if wanted:
            ratings.append(np.minimum(held / wanted, 1.0))
        score = np.where(success, 1.0, np.mean(ratings, axis=0))
        return Verdict(success, score, verdict.failed & ~success, details)


def find_tool_bodies(composed: Composed, tool: int) -> npt.NDArray[np.bool_]:
    """The link that carries the tool and all that moves on it, by body id; the whole robot where there is no tool."""
    model = composed.model
    body = int(model.site_bodyid[tool]) if tool >= 0 else 1
    while tool >= 0 and body > 1 and not model.body_jntnum[body]:
        body = int(model.body_parentid[body])
    inside = np.zeros(model.nbody, dtype=bool)
    for number in range(body, composed.robot_nbody + 1):
        # parents have lower ids than their children
        inside[number] = number == body or inside[model.body_parentid[number]] or tool < 0
    return inside
