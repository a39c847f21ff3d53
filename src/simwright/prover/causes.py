# SPDX-License-Identifier: Apache-2.0
"""Why a robot differs in an engine, where that can be known, with the place in the asset and what to do.

Causes are looked for from the inside out: a floating base, an axis or a mass that is wrong makes poses, mass matrix and
bias wrong too, and is told as their cause.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from simwright.core.diag import NOWHERE, Where
from simwright.core.math3d import Array
from simwright.model.asset import Asset
from simwright.model.inertia import POINT_INERTIA
from simwright.model.joint import WORLD
from simwright.model.kinematics import build_tree
from simwright.model.mass import body_inertials
from simwright.prover.aspects import Outcome, Told
from simwright.prover.dynamics import find_size
from simwright.prover.leaving import GIVE, POINTS
from simwright.prover.motion import MotionResult
from simwright.prover.motion_causes import (
    DROPPED,
    NOT_EXPLAINED,
    NOT_KEPT_UP,
    ONE_WAY,
    comes_loose,
    explain_runs,
    explain_smaller,
    explain_speed,
)
from simwright.prover.workers.seen import SeenFreedom, name_of, rotate


@dataclass(frozen=True, slots=True)
class DifferenceCause:
    """Why an aspect differs: a word that is always the same, a sentence, the place in the asset, what to do."""

    word: str
    text: str
    where: Where = NOWHERE
    hint: str = ""


_STRUCTURE = {
    "links": ("link", "the engine has other links: a name or a body was lost on the way"),
    "dofs": ("joint", "the engine has other degrees of freedom at this joint"),
    "masses": ("mass", "the link weighs something else in the engine"),
    "names": ("name", "whoever bridges the engine to ROS publishes the joint under another name"),
    "inertias": ("inertia", "the link has another centre of mass or inertia in the engine"),
}
_HINTS = {
    "floating base": "hold the base; in OpenUSD the articulation root belongs on the fixed joint or above it",
    "weightless base": "give the root link a mass, or fix it to the world",
    "held base": "leave the base without a joint to the world, and give the root link its mass",
    "missing drive": "give the joint a drive in the words that this engine reads ('simwright convert --for')",
    "mimic dropped": "command the following joint yourself in this engine, or use one that couples joints",
    "axis flipped": "compare the joint's axis in the file that the engine is given with the asset's",
    "timestep": "take timesteps that are several times smaller in this engine",
    "rounding": "take larger timesteps in this engine; joints with much armature are rounded the most",
    "no inertia": "give the link its inertia: no part that weighs something is a point",
    "loop points": "make the loop harder (solref), so that it matters less where it is held",
    "rigid loops": "give the loops of the asset a smaller time constant (solref), or count on loops that give way less",
    "root misplaced": "compare the pose of the root link in the file that the engine is given with the asset's",
}
_DEPENDENT = ("poses", "matrix", "bias")
_OF_BODIES = ("base", "poses", "dofs", "links", "masses", "inertias")
_CAUSES_OF_MOTION = {
    "swing": (*_OF_BODIES, "armature", "damping", "friction"),
    "response": ("drives", *_OF_BODIES, "mimics", "armature", "damping", "friction", "limits"),
    "coupled": ("mimics", *_OF_BODIES, "armature", "damping", "friction"),
    "loop": (*_OF_BODIES, "armature", "damping", "friction"),
    "drop": ("base", "links", "masses", "inertias"),
    "slope": ("base", "links", "masses", "inertias"),
}
"""What makes a scenario wrong, the first one first."""

_LOOPS = {
    GIVE: ("rigid loops", "with loops that hardly give way"),
    POINTS: (
        "loop points",
        "with hinges of loops held at the anchor and 0.1 m beside it, not 0.1 m to both sides",
    ),
}
_SINGULAR = {"springs": "spring"}
_ROUNDING = 6e-8
"""Of single precision, relative."""


def find_causes(
    asset: Asset,
    outcome: Outcome,
    reference: Told,
    told: Told,
    motions: Mapping[str, MotionResult] | None = None,
    *,
    known: Mapping[str, str] | None = None,
) -> dict[str, DifferenceCause]:
    """The cause of each aspect that differs, where it can be known.

    ``known`` has what is known of the engine itself, by the words of causes that it explains.
    """
    places = _Places(asset)
    found: dict[str, DifferenceCause] = {}
    for aspect in outcome.differences:
        item = outcome.items.get(aspect, "")
        cause = _explain_structure(aspect, item, told, places)
        if cause is not None:
            word, text = cause
            found[aspect] = DifferenceCause(word, text, places.find(aspect, item), _HINTS.get(word, ""))
    if "poses" in outcome.differences:
        found.update(_explain_poses(asset, places, outcome, reference, told))
    # what the structure says is wrong makes the dynamics wrong
    for aspect in _DEPENDENT:
        if aspect in outcome.differences and aspect not in found:
            order = ("base", "poses", "dofs", "links", "masses", "inertias")
            # a mass changes no pose
            likely = [
                found[name] for name in order if name in found and (aspect != "poses" or name == "base")
            ]
            if likely:
                found[aspect] = likely[0]
    found |= _explain_points(places, outcome, reference, found)
    found |= _explain_rounding(places, outcome, reference, found)
    found |= _explain_motions(places, outcome, reference, motions or {}, found)
    return {aspect: _add_known(cause, known or {}) for aspect, cause in found.items()}


def _add_known(cause: DifferenceCause, known: Mapping[str, str]) -> DifferenceCause:
    return replace(cause, text=f"{cause.text}; {known[cause.word]}") if cause.word in known else cause


def _explain_motions(
    places: _Places,
    outcome: Outcome,
    reference: Told,
    motions: Mapping[str, MotionResult],
    found: Mapping[str, DifferenceCause],
) -> dict[str, DifferenceCause]:
    """The cause of each motion that differs."""
    causes: dict[str, DifferenceCause] = {}
    for aspect, result in motions.items():
        if aspect in outcome.differences:
            # a motion may have the cause of one before it
            causes[aspect] = _explain_scenario(places, result, reference, {**found, **causes})
            swing = causes.get("swing")
            if causes[aspect].word == NOT_EXPLAINED and swing and swing.word in _LAWS:
                # a law of a joint is the same whatever else is on it
                causes[aspect] = swing if motions["swing"].worst == result.worst else causes[aspect]
    dropped = next((cause for cause in causes.values() if cause.word == DROPPED), None)
    if dropped is None:
        return causes
    # a leader that nothing follows moves as one that does not feel its followers
    return {name: dropped if cause.word == ONE_WAY else cause for name, cause in causes.items()}


_LAWS = ("damping law", "several axes")


def _explain_points(
    places: _Places, outcome: Outcome, reference: Told, found: Mapping[str, DifferenceCause]
) -> dict[str, DifferenceCause]:
    """Of a mass matrix that is off by no more than what formats write for links that have a mass and no inertia."""
    number = _find_row(outcome, reference, "matrix")
    matrix = reference.states[0].mass_matrix if reference.states else None
    if not places.points or "matrix" in found or number is None or matrix is None:
        return {}
    off = outcome.errors["matrix"] * float(matrix[number][number])
    # the same moment about every axis, for each of them; a little more, because engines round
    if off > 1.01 * POINT_INERTIA * len(places.points):
        return {}
    name, where = next(iter(places.points.items()))
    others = f" and {len(places.points) - 1} more have" if len(places.points) > 1 else " has"
    text = (
        f"link {name!r}{others} a mass and no inertia; OpenUSD takes moments of zero for ones to be computed, so "
        f"{POINT_INERTIA:g} kg m^2 are written"
    )
    return {"matrix": DifferenceCause("no inertia", text, where, _HINTS["no inertia"])}


def _find_row(outcome: Outcome, reference: Told, aspect: str) -> int | None:
    """The row of the mass matrix that an aspect differs most in."""
    rows = {row.joint: number for number, row in enumerate(reference.seen.freedoms)}
    return rows.get(outcome.items.get(aspect, "")) if aspect in outcome.differences else None


def _explain_rounding(
    places: _Places, outcome: Outcome, reference: Told, found: Mapping[str, DifferenceCause]
) -> dict[str, DifferenceCause]:
    """Of mass matrix and bias that have no other cause and are off by no more than single precision may be."""
    text = "places of links are rounded by their distance from the origin, which is much for a small link"
    return {
        aspect: DifferenceCause("rounding", text, places.find("joint", outcome.items[aspect]))
        for aspect in ("matrix", "bias")
        if aspect in outcome.differences and aspect not in found and _is_rounded(aspect, outcome, reference)
    }


def _is_rounded(aspect: str, outcome: Outcome, reference: Told) -> bool:
    """Whether single precision may be so far off, by the size of the robot over that of what the joint moves."""
    number = _find_row(outcome, reference, aspect)
    state = reference.states[0]
    if outcome.precision != "single" or number is None or state.mass_matrix is None:
        return False
    mass = reference.seen.masses.get(reference.seen.freedoms[number].body, 0.0)
    inertia = float(state.mass_matrix[number][number])
    if mass <= 0.0 or inertia <= 0.0:
        return False
    # a place is rounded by half of the last digit; a lever is the difference of two, and an inertia has two levers
    return outcome.errors[aspect] <= 4.0 * _ROUNDING * find_size(state.poses or {}) / float(
        np.sqrt(inertia / mass)
    )


def _explain_scenario(
    places: _Places, result: MotionResult, reference: Told, found: Mapping[str, DifferenceCause]
) -> DifferenceCause:
    """What the structure or the dynamics say is wrong, else what can be seen of the motion itself."""
    # what was left out of the motion is not its cause
    known = [
        found[name]
        for name in _CAUSES_OF_MOTION[result.scenario]
        if name in found and name not in result.without
    ]
    if known:
        return known[0]
    where = places.find("joint", result.worst.partition(".")[0])
    if result.ignored == "reaction" and not (result.scenario == "coupled" and comes_loose(result, reference)):
        text = "joints follow others, which move as if nothing followed them"
        return DifferenceCause(ONE_WAY, text, where, _HINTS[DROPPED])
    if result.ignored == "reaction":
        return DifferenceCause(DROPPED, NOT_KEPT_UP, where, _HINTS[DROPPED])
    if result.ignored in _LOOPS:
        word, how = _LOOPS[result.ignored]
        return DifferenceCause(word, f"{how}, the reference moves as the engine does", where, _HINTS[word])
    if result.ignored:
        word = _SINGULAR.get(result.ignored, result.ignored)
        text = f"without the {word} of the asset, the reference moves as the engine does"
        return DifferenceCause(
            f"{word} ignored", text, where, "use another solver of the engine, or count on it"
        )
    if not result.runs:
        told = explain_smaller(result) or ("no motion", "the engine could not do it")
        return DifferenceCause(*told, where, _HINTS.get(told[0], ""))
    word, text = explain_speed(places.find_speed_limit(result.worst), result) or explain_runs(
        result, reference
    )
    return DifferenceCause(word, text, where, _HINTS.get(word, ""))


def _explain_structure(aspect: str, item: str, told: Told, places: _Places) -> tuple[str, str] | None:
    """The word and the sentence for an aspect of the structure."""
    if aspect == "base":
        return _explain_base(item, told, weightless=item in places.weightless)
    if aspect in _STRUCTURE:
        return _STRUCTURE[aspect]
    if aspect in ("armature", "friction", "damping"):
        return _explain_value(aspect, told.list_freedoms(item))
    explain = {
        "drives": _explain_drive, "mimics": _explain_mimic, "limits": _explain_limit,
    }.get(aspect)  # fmt: skip
    return explain(item, told) if explain else None


def _explain_base(item: str, told: Told, *, weightless: bool) -> tuple[str, str]:
    if item in told.seen.floating and weightless:
        return "weightless base", (
            "the root link weighs nothing: MuJoCo holds it, because what has no mass cannot move by itself, and the "
            "engine lets it float"
        )
    if item in told.seen.floating:
        return "floating base", "nothing holds the base in the engine"
    return "held base", "the engine holds the base"


def _explain_mimic(item: str, told: Told) -> tuple[str, str]:
    if item in told.seen.mimics:
        return "mimic", "the joint follows another joint, or otherwise, in the engine"
    return "mimic dropped", "the engine lets the joint move by itself"


def _explain_limit(item: str, told: Told) -> tuple[str, str]:
    rows = told.list_freedoms(item)
    if rows and rows[0].limit == (None, None):
        return "limit ignored", "the engine lets the joint go on for ever"
    return "limit", "the engine stops the joint elsewhere"


def _explain_drive(item: str, told: Told) -> tuple[str, str]:
    if not told.is_driven(item):
        return "missing drive", "nothing drives the joint in the engine: it is limp"
    return "drive", "the engine drives the joint with other gains or forces"


def _explain_value(aspect: str, rows: Sequence[SeenFreedom]) -> tuple[str, str]:
    values = {
        "armature": [row.armature for row in rows],
        "friction": [row.friction for row in rows],
        "damping": [abs(row.passive_damping) + abs(row.damping) for row in rows],
    }
    if not any(values[aspect]):
        return f"{aspect} ignored", f"the engine has no {aspect} at this joint"
    return aspect, f"the engine has another {aspect} at this joint"


def _explain_poses(
    asset: Asset, places: _Places, outcome: Outcome, reference: Told, told: Told
) -> dict[str, DifferenceCause]:
    """The first link, from the root outwards, that is not where it should be as seen from its parent."""
    allowed = outcome.find_tolerance("poses") * find_size(reference.states[0].poses or {})
    tree = build_tree(asset)
    edges = [(name_of(edge.child), name_of(edge.parent), name_of(edge.joint.name)) for edge in tree.edges]
    for name, parent, joint in (*((name_of(root), WORLD, "") for root in tree.roots), *edges):
        wanted, found = (_list_relative(side, name, parent) for side in (reference, told))
        # a link that one of them does not know tells nothing
        if not wanted or not found:
            continue
        if all(_near(one, other, allowed) for one, other in zip(wanted, found, strict=True)):
            continue
        word, text = _explain_motion(wanted, found, allowed, root=parent == WORLD)
        at, place = joint, places.find("joint", joint)
        if not joint or word == "root misplaced":
            at, place = name, places.find("links", name)
        return {"poses": DifferenceCause(word, f"{at}: {text}", place, _HINTS.get(word, ""))}
    return {}


def _list_relative(told: Told, name: str, parent: str) -> list[Array]:
    """Where a link is as seen from its parent, in every configuration; empty where that is not told."""
    found = [_find_relative(state.poses or {}, name, parent) for state in told.states]
    return [place for place in found if place is not None] if all(one is not None for one in found) else []


def _explain_motion(
    wanted: Sequence[Array], found: Sequence[Array], allowed: float, *, root: bool
) -> tuple[str, str]:
    """Of one link as seen from its parent, the reference pose first."""
    if not _near(wanted[0], found[0], allowed):
        if root:
            return "root misplaced", "the engine has the root link elsewhere"
        return "link misplaced", "the engine has the link elsewhere on its parent"
    # a motion of one axis is undone by the same motion with the axis turned round
    moves = [one @ np.linalg.inv(wanted[0]) for one in wanted[1:]]
    others = [one @ np.linalg.inv(found[0]) for one in found[1:]]
    if all(_near(np.linalg.inv(one), other, allowed) for one, other in zip(moves, others, strict=True)):
        return "axis flipped", "the joint turns the other way in the engine"
    if all(_near(np.eye(4), other, allowed) for other in others):
        return "joint does not move", "the joint stays where it is in the engine"
    return "axis", "the joint moves along another axis, or about another point, in the engine"


def _find_relative(poses: Mapping[str, Sequence[float]], name: str, parent: str) -> Array | None:
    if name not in poses or (parent != WORLD and parent not in poses):
        return None
    place = _make_matrix(poses[name])
    return place if parent == WORLD else np.asarray(np.linalg.inv(_make_matrix(poses[parent])) @ place)


def _make_matrix(pose: Sequence[float]) -> Array:
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = rotate(pose[3:]), pose[:3]
    return matrix


def _near(one: Array, other: Array, allowed: float) -> bool:
    return bool(np.abs(one - other).max() <= 2.0 * allowed)


class _Places:
    """Where the elements of an asset are in its files, by the names that engines have."""

    def __init__(self, asset: Asset) -> None:
        self._bodies = {name_of(body.name): body.source for body in asset.bodies}
        self._file = Where(asset.provenance.file)
        self._note_masses(asset)
        self._joints = {name_of(joint.name): joint.source for joint in asset.joints}
        for joint in asset.joints:
            for dof in joint.dofs:
                self._joints.setdefault(name_of(dof.name), joint.source)
        self._speeds = {
            name_of(name): dof.velocity_limit
            for joint in asset.joints
            for dof in joint.dofs
            for name in (joint.name, dof.name)
        }
        self._mimics = {name_of(mimic.follower): mimic.source for mimic in asset.mimics}

    def _note_masses(self, asset: Asset) -> None:
        inertials = body_inertials(asset)
        self.weightless = {name_of(name) for name, one in inertials.items() if not one.mass}
        self.points = {
            name: self._bodies.get(name_of(name), NOWHERE)
            for name, one in inertials.items()
            if one.mass and not np.any(one.inertia)
        }
        """Links that have a mass and no inertia."""

    def find_speed_limit(self, joint: str) -> float | None:
        """Of a joint [rad/s, m/s], where the asset has one."""
        return self._speeds.get(joint)

    def find(self, aspect: str, item: str) -> Where:
        """The place of what an aspect is about; the file where nothing better is known."""
        first = self._mimics if aspect == "mimics" else self._joints
        if aspect in ("links", "base", "masses", "inertias"):
            first = self._bodies
        for rows in (first, self._joints, self._bodies):
            if rows.get(item):
                return rows[item]
        return self._file
