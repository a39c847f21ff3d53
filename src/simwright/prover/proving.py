# SPDX-License-Identifier: Apache-2.0
"""One asset in all engines: written as each of them reads it, asked, compared, explained."""

from __future__ import annotations

import contextlib
import math
import re
import tempfile
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from simwright.core.diag import Diagnostic, Level, Reporter
from simwright.core.errors import SimwrightError, UnknownNameError, UsageError
from simwright.core.math3d import Pose, vec3
from simwright.formats.format import WriteOptions
from simwright.formats.table import write_asset
from simwright.model.asset import Asset
from simwright.model.elements import Body
from simwright.model.inertia import Inertial
from simwright.model.joint import WORLD, Dof, Joint, JointKind, Motion
from simwright.model.kinematics import build_tree
from simwright.prover.asking import (
    CONFIGURATIONS,
    ReferenceRobot,
    choose_configurations,
    list_speed_limits,
)
from simwright.prover.aspects import ASPECTS, LEVELS, Outcome, Told, refuse
from simwright.prover.causes import DifferenceCause, find_causes
from simwright.prover.dynamics import compare_dynamics
from simwright.prover.leaving import leave_looks
from simwright.prover.matching import FreedomPair, match_freedoms
from simwright.prover.motion import MotionResult
from simwright.prover.processes import EnginePool, NotSeenError
from simwright.prover.scenarios import ScenarioRuns
from simwright.prover.structure import compare_structure
from simwright.prover.table import REFERENCE, IsolatedEngine, find_engine, list_engines
from simwright.prover.workers.seen import Evaluated, Seen, name_of

TIMEOUT = 300.0
"""Seconds for one question: Newton compiles its kernels when it is first used."""

_SUFFIXES = {"usd": "", "urdf": ".urdf", "mjcf": ".xml", "sdf": ".sdf"}
"""What engines know the files of a format by; an OpenUSD asset is a folder."""

_QUOTED = re.compile(r"'([^']*)'")

Watch = Callable[[str], None]
"""Told which engine is asked now."""


@dataclass(frozen=True, slots=True)
class ProofSettings:
    """What is asked of whom.

    ``engines`` are names of the table; empty for all that are installed.  ``against`` is the engine that the others
    are held against; ``levels`` some of ``structure``, ``dynamics``, ``motion`` and ``ros``; ``seconds`` the time for
    one question.
    """

    engines: Sequence[str] = ()
    levels: Sequence[str] = LEVELS
    against: str = REFERENCE
    seed: int = 0
    configurations: int = CONFIGURATIONS
    seconds: float = TIMEOUT

    def check(self) -> None:
        """Raise a UsageError for what there is not."""
        for level in self.levels:
            if level not in LEVELS:
                raise UnknownNameError("level", level, LEVELS)
        if not self.levels:
            raise UsageError("no level to prove", hint=f"some of {', '.join(LEVELS)}")
        for name in (*self.engines, self.against):
            if name != REFERENCE:
                find_engine(name)
        if self.configurations < 1 or self.seconds <= 0.0:
            raise UsageError("configurations and seconds have to be above zero")

    def list_columns(self) -> list[str]:
        """The engines that are compared, each once."""
        named = list(dict.fromkeys(self.engines))
        if not named:
            installed = [name for name, row in list_engines().items() if row.environment.ready]
            named = [name for name in (REFERENCE, *installed) if name != self.against]
        columns = [name for name in named if name != self.against]
        if not columns:
            hint = "'simwright engines list' shows them, 'simwright engines install NAME' installs one"
            raise UsageError(f"no engine to compare with {self.against}", hint=hint)
        return columns


@dataclass(slots=True)
class Column:
    """One engine: what came out, why, what writing its format told, and how long it took [s]."""

    outcome: Outcome
    causes: Mapping[str, DifferenceCause] = field(default_factory=dict)
    notes: Sequence[Diagnostic] = ()
    seconds: float = 0.0
    motions: Mapping[str, MotionResult] = field(default_factory=dict)
    """By scenario, in order; empty where motion was not asked for."""

    measured: str = ""
    """When it was asked: UTC, as in 2026-11-17T09:30:00Z."""


@dataclass(slots=True)
class Proof:
    """Whether an asset is the same machine in several engines."""

    name: str
    against: str
    version: str
    settings: ProofSettings
    columns: list[Column]

    @property
    def same(self) -> bool:
        """Whether no engine differs."""
        return all(column.outcome.right for column in self.columns)

    @property
    def aspects(self) -> list[str]:
        """What was compared, in order."""
        return [name for name, aspect in ASPECTS.items() if aspect.level in self.settings.levels]


def prove_asset(
    asset: Asset,
    settings: ProofSettings | None = None,
    watch: Watch | None = None,
    folder: Path | None = None,
    *,
    pool: EnginePool | None = None,
) -> Proof:
    """Ask every engine about an asset.  ``folder`` keeps what they were given; without it, nothing is kept.

    ``pool`` has the processes of engines, which stay in it; without it, they end with the proof.

    An engine that is not installed, refuses the asset, crashes or hangs costs its own column.  Raises a
    ``SimwrightError`` where the engine that the others are held against has no answer.
    """
    settings = settings or ProofSettings()
    settings.check()
    columns = settings.list_columns()
    watch = watch or (lambda _: None)
    watch(REFERENCE)
    with contextlib.ExitStack() as stack:
        scratch = stack.enter_context(tempfile.TemporaryDirectory(prefix="simwright-prove-"))
        pool = pool or stack.enter_context(EnginePool(settings.seconds))
        questions = _Questions(asset, settings, folder or Path(scratch), pool)
        if settings.against == REFERENCE:
            reference = questions.own
        else:
            watch(settings.against)
            reference = _ask_reference(questions, settings.against)
        found = []
        for name in columns:
            watch(name)
            found.append(_prove_column(questions, name, reference))
    return Proof(asset.name, settings.against, reference.seen.engine, settings, found)


def examine(row: IsolatedEngine) -> str:
    """What is wrong with an engine, found by giving it a small robot: empty where nothing is."""
    column = prove_asset(_make_pendulum(), ProofSettings((row.name,), configurations=1)).columns[0]
    return column.outcome.reason


def _make_pendulum() -> Asset:
    """A base that is held and a link that swings."""
    base, link = (
        Body(name, inertial=Inertial(1.0, inertia=np.diag([0.02, 0.02, 0.03]))) for name in ("base", "link")
    )
    dof = Dof(Motion.HINGE, vec3(0, 1, 0), name="swings", lower=-1.0, upper=1.0)
    held = Joint("held", JointKind.FIXED, WORLD, "base")
    swings = Joint("swings", JointKind.REVOLUTE, "base", "link", dofs=[dof])
    return Asset("pendulum", bodies=[base, link], joints=[held, swings])


def _ask_reference(questions: _Questions, name: str) -> Told:
    try:
        return questions.ask(find_engine(name))
    except NotSeenError as error:
        raise UsageError(f"{name} gives no answer to compare the others with: {error}") from None


def _prove_column(questions: _Questions, name: str, reference: Told) -> Column:
    start = time.monotonic()
    row = None if name == REFERENCE else find_engine(name)
    try:
        told = questions.own if row is None else questions.ask(row)
    except NotSeenError as error:
        return Column(refuse(name, str(error)), seconds=time.monotonic() - start)
    except SimwrightError as error:
        return Column(refuse(name, f"not written: {error}"), seconds=time.monotonic() - start)
    outcome = _compare_answers(questions, name, reference, told)
    motions = _run_motions(questions, row, outcome)
    causes = find_causes(questions.asset, outcome, reference, told, motions, known=row.known if row else None)
    notes = questions.list_notes(row) if row else ()
    _blame_format(outcome, causes, notes)
    # what was not asked for may be the cause of what was
    _leave_levels(outcome, causes, questions.settings.levels)
    return Column(outcome, causes, notes, time.monotonic() - start, motions)


def _compare_answers(questions: _Questions, name: str, reference: Told, told: Told) -> Outcome:
    # what the engine that others are held against cannot tell, nobody can be held against
    rows = [find_engine(one) for one in (name, questions.settings.against) if one != REFERENCE]
    outcome = compare(
        name,
        reference,
        told,
        precision="single" if any(one.precision == "single" for one in rows) else "double",
        rigid=questions.rigid,
        between=_list_between(questions.asset),
        rounded=[aspect for one in rows for aspect in one.rounded],
        blank={aspect: reason for one in rows for aspect, reason in one.blank.items()},
        ros_names=_list_ros_names(questions.asset),
    )
    if name != REFERENCE and find_engine(name).format == "usd" and "names" in outcome.differences:
        # prims beside each other have other names; the file has that of ROS beside it, which engines do not read
        text = outcome.differences.pop("names")
        outcome.blank["names"] = f"{text}; ros:joint:name says the name to bridges"
    return outcome


def compare(
    engine: str,
    reference: Told,
    told: Told,
    *,
    precision: str = "single",
    rounded: Sequence[str] = (),
    rigid: Mapping[str, str] | None = None,
    between: Collection[str] = (),
    blank: Mapping[str, str] | None = None,
    ros_names: Mapping[str, str] | None = None,
) -> Outcome:
    """What an engine tells of a robot against what another one, mostly MuJoCo, tells of it.

    Dynamics are compared where both were asked about configurations.
    ``rigid`` names, for links that are fixed to others, the one that stands for them all; ``between`` are names of
    links of next to no mass that may be there besides.  ``ros_names`` are the names that ROS knows joints by.
    """
    seen, wanted = told.seen, reference.seen
    outcome = Outcome(engine, version=seen.engine, precision=precision, rounded=rounded)
    outcome.blank = {**(blank or {}), **seen.blank, **wanted.blank}
    pairs, unmatched = match_freedoms(wanted, seen)
    compare_structure(wanted, seen, pairs, outcome, unmatched=unmatched, rigid=rigid or {}, between=between)
    compare_dynamics(reference, told, pairs, outcome, matched=unmatched is None)
    _compare_names(pairs, ros_names or {}, outcome)
    outcome.absent -= set(outcome.differences)
    return outcome


def _compare_names(pairs: Sequence[FreedomPair], ros_names: Mapping[str, str], outcome: Outcome) -> None:
    """What the engine itself calls joints: whoever bridges it to ROS publishes these names."""
    known = [pair for pair in pairs if pair.alone and pair.wanted[0].joint in ros_names]
    if not known:
        outcome.absent.add("names")
    for pair in known:
        name, label = ros_names[pair.wanted[0].joint], pair.found[0].label
        if label != name:
            outcome.note("names", pair.wanted[0].joint, f"{name} is called {label or 'nothing'}")


def _run_motions(
    questions: _Questions, row: IsolatedEngine | None, outcome: Outcome
) -> dict[str, MotionResult]:
    """All scenarios, where motion was asked for; what came out becomes aspects of the outcome."""
    if "motion" not in questions.settings.levels:
        return {}
    motions = questions.motions.run(row, outcome.precision)
    for name, result in motions.items():
        outcome.blank.pop(name, None)
        if result.state == "none":
            outcome.absent.add(name)
        elif result.state == "blank":
            outcome.blank[name] = result.reason
        else:
            outcome.errors[name] = result.error
            if result.state == "differs":
                outcome.note(name, result.worst, result.reason)
    return motions


def _blame_format(outcome: Outcome, causes: dict[str, DifferenceCause], notes: Sequence[Diagnostic]) -> None:
    """A joint that the format has no word for, and that was written as others, is the format's."""
    for note in notes:
        # the message has the name that the file gives it, engines have names without signs
        names = {name_of(name) for name in _QUOTED.findall(note.message)}
        if "dofs" in causes and outcome.items["dofs"] in names:
            causes["dofs"] = DifferenceCause("format", note.message, causes["dofs"].where, note.hint)


def _move(configuration: dict[str, dict[str, Any]], zeros: Mapping[str, float]) -> dict[str, dict[str, Any]]:
    """A configuration in coordinates that are not zero in the reference pose."""
    joints = configuration.get("joints", {})
    return {
        **configuration,
        "joints": joints | {name: joints.get(name, 0.0) + zero for name, zero in zeros.items()},
    }


def _list_places(asset: Asset, poses: Mapping[str, Sequence[float]]) -> dict[str, list[float]]:
    """Where links and frames on them are, of the poses of the links."""
    found = {name: list(pose) for name, pose in poses.items()}
    for site in asset.sites:
        pose = poses.get(name_of(site.body))
        if pose is not None and name_of(site.name) not in found:
            place = Pose.of(pose[:3], pose[3:]) @ site.pose
            found[name_of(site.name)] = [*map(float, place.p), *map(float, place.q)]
    return found


def _find_rigid(asset: Asset) -> dict[str, str]:
    """Of links that are fixed to each other, the one that stands for all of them: formats choose other roots."""
    found: dict[str, str] = {}
    for joint in asset.joints:
        if not joint.dofs and joint.enabled and WORLD not in (joint.parent, joint.child):
            one, other = (name_of(name) for name in (joint.parent, joint.child))
            old, new = found.get(other, other), found.get(one, one)
            found |= {one: new, other: new}
            found |= {name: new for name, link in found.items() if link == old}
    return found


def _list_between(asset: Asset) -> set[str]:
    """What links are called that writers put between the axes of a joint, or before one that hangs on the world.

    A link that is fixed to the world and weighs nothing may have become the world.
    """
    world = {WORLD}
    for edge in build_tree(asset).edges:  # outwards from the roots
        if edge.parent in world and not edge.joint.dofs:
            world.add(edge.child)
    chained = [joint for joint in asset.joints if len(joint.dofs) > 1 or joint.parent in world]
    return {
        f"{name_of(name)}_link"
        for joint in chained
        for name in (joint.name, *(dof.name for dof in joint.dofs))
    }


def _list_ros_names(asset: Asset) -> dict[str, str]:
    """Names that ROS knows joints of one freedom by, by the name that they are matched by."""
    return {
        name_of(name): joint.public_name
        for joint in asset.joints
        if len(joint.dofs) == 1
        for name in (joint.name, joint.dofs[0].name)
        if name
    }


def _leave_levels(outcome: Outcome, causes: dict[str, DifferenceCause], levels: Sequence[str]) -> None:
    """Take out what was not asked for."""
    for name, aspect in ASPECTS.items():
        if aspect.level not in levels:
            for table in (outcome.differences, outcome.items, outcome.blank, outcome.errors, causes):
                table.pop(name, None)
            outcome.absent.discard(name)


class _Questions:
    """What all engines are asked about one asset, and the files that they are given, each written once."""

    def __init__(self, asset: Asset, settings: ProofSettings, folder: Path, pool: EnginePool) -> None:
        self.asset, self.settings, self.folder, self.pool = asset, settings, folder, pool
        self.given = leave_looks(asset)
        robot = ReferenceRobot(self.given)
        self.gravity = robot.gravity
        seen = robot.describe()
        self.configurations: list[dict[str, dict[str, Any]]] = []
        if "dynamics" in settings.levels:
            self.configurations = choose_configurations(
                seen, settings.configurations, settings.seed, list_speed_limits(asset)
            )
        self.own = self._tell(seen, robot.evaluate(self.configurations))
        # URDF has no place for the pose of a root that floats, and PhysX may lose it: workers are told where it is.
        # Another link, or a frame that is written as a link, may be the root there, so that all are told
        for configuration in self.configurations:
            configuration["roots"] = _list_places(asset, self.own.states[0].poses or {})
        self.rigid = _find_rigid(asset)
        against = None if settings.against == REFERENCE else find_engine(settings.against)
        # the first configuration is the reference pose, which some robots stay in
        seeded = choose_configurations(seen, 1, settings.seed, list_speed_limits(asset))[1]
        self.motions = ScenarioRuns(self.given, seen, seeded, against, pool, self._write_variant)
        self._zeros = robot.list_zeros()
        self._written: dict[str, tuple[Path, tuple[Diagnostic, ...]]] = {}

    def ask(self, row: IsolatedEngine) -> Told:
        """All that an engine tells; raises ``NotSeenError``."""
        worker = self.pool.find(row)
        worker.open(self._write(row)[0], self.gravity)
        seen = worker.describe()
        # URDF has the coordinates of the asset, OpenUSD those from the reference pose, as they are compared
        zeros = self._zeros if row.format == "urdf" else {}
        for freedom in seen.freedoms:
            zero = zeros.get(freedom.joint, 0.0)
            low, high = (end if end is None else end - zero for end in freedom.limit)
            freedom.limit = (low, high)
        states = []
        if self.configurations:
            states = worker.evaluate([_move(one, zeros) for one in self.configurations])
        return self._tell(seen, states)

    def _tell(self, seen: Seen, states: Sequence[Evaluated]) -> Told:
        return Told(seen, states, math.hypot(*self.gravity))

    def list_notes(self, row: IsolatedEngine) -> tuple[Diagnostic, ...]:
        """What writing for it told: what its format has no place for, or says in other words."""
        return self._write(row)[1]

    def _write_variant(self, asset: Asset, row: IsolatedEngine, name: str) -> Path:
        file, _ = self._write_asset(asset, row, f"{name}-" + "-".join(row.lacks))
        return file

    def _write(self, row: IsolatedEngine) -> tuple[Path, tuple[Diagnostic, ...]]:
        return self._write_asset(self.given, row, "")

    def _write_asset(
        self, asset: Asset, row: IsolatedEngine, folder: str
    ) -> tuple[Path, tuple[Diagnostic, ...]]:
        words = [value if isinstance(value, str) else name for name, value in row.writing.items()]
        key = "-".join([folder, row.format, *words]) if folder else "-".join([row.format, *words])
        if key not in self._written:
            reporter = Reporter()
            target = self.folder / key / f"{name_of(asset.name) or 'robot'}{_SUFFIXES[row.format]}"
            target.parent.mkdir(parents=True, exist_ok=True)
            options = WriteOptions(**row.writing, overwrite=True)
            file = write_asset(asset, target, format_name=row.format, options=options, reporter=reporter)
            notes = [found for found in reporter if found.level is not Level.INFO]
            self._written[key] = file, tuple(notes)
        return self._written[key]
