# SPDX-License-Identifier: Apache-2.0
"""Joints that depend on others: mimics, loop-closing equalities, several joints between the same two bodies.

Mimics come in four dialects (REP-0158 4.2.2): ``ExtendedPhysicsMimicAPI`` wins over ``NewtonMimicAPI`` (with
``MjcEqualityJointAPI`` for higher orders), which wins over ``PhysxMimicJointAPI``.  All of them relate displacements
from where the joint frames meet; the model relates coordinates, so references are added.  Angles: degrees everywhere
except the coefficients of MuJoCo.  PhysX puts everything on one side: ``q + gearing * leader + offset = 0``.

MuJoCo's connect is a ball joint and its weld a fixed joint, which close loops and belong to no tree; softness (solref,
solimp) stays in the extras.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from simwright.core.diag import Level, declare
from simwright.core.math3d import DEGREE, IDENTITY, Pose, quat_rotate
from simwright.formats.usd.joints import choose_dof
from simwright.formats.usd.notes import read_noted_mimics
from simwright.formats.usd.prims import JOINT_TYPES, FoundPrim
from simwright.formats.usd.scan import StageScan
from simwright.formats.usd.stage_reader import StageReader
from simwright.model.asset import Asset
from simwright.model.coordinates import shift_polynomial
from simwright.model.extras import CustomAttribute
from simwright.model.joint import WORLD, Dof, Joint, JointKind, Mimic, Motion

MIMIC_INVALID = declare(
    "usd-mimic-invalid",
    Level.ERROR,
    "the mimic rule of joint {name!r} is left out: {why}",
    hint="point {relationship} at one other revolute or prismatic joint",
    doc="A mimic rule relates exactly two joints with one degree of freedom each.",
    section="4.2.2",
    loss=True,
)
MIMIC_CHAIN = declare(
    "usd-mimic-chain",
    Level.INFO,
    "joint {name!r} follows {leader!r}, which follows {next!r} itself",
    hint="for engines that refuse chains, follow {next!r} directly",
    doc="A mimic of a mimic is kept as it is; some engines allow one step only.",
    section="4.2.2",
)
MIMIC_DISABLED = declare(
    "usd-mimic-disabled",
    Level.INFO,
    "the mimic rule of joint {name!r} is switched off",
    doc="The rule is kept in the model, not in force.",
)
MIMIC_MIXED = declare(
    "usd-mimic-mixed",
    Level.WARNING,
    "joint {name!r} ({motion}) follows {leader!r} ({leader_motion}) by NewtonMimicAPI, which gives the "
    "multiplier no unit; it is taken between radians and metres",
    hint="use ExtendedPhysicsMimicAPI, whose units are defined, or two joints of one type",
    doc="NewtonMimicAPI is defined between joints of the same type only.",
)
MIMIC_UNITLESS = declare(
    "usd-mimic-unitless",
    Level.WARNING,
    "the mimic rule of joint {name!r} relates {count} degrees of freedom to those of {leader!r}; "
    "its offset has no defined unit and counts in radians and metres",
    hint="author a joint with one degree of freedom for each rule",
    doc="NewtonMimicAPI has one offset, which joints of several degrees of freedom apply to every coordinate.",
)


@dataclass(frozen=True, slots=True, eq=False)
class _AuthoredMimic:
    """A rule as authored: powers of the leader, and whether offset and the others count in degrees."""

    relationship: str
    leaders: list[str]
    coefficients: tuple[float, ...]
    enabled: bool = True
    degrees: tuple[bool, bool] = (True, True)
    axis: str = ""
    leader_axis: str = ""
    higher: tuple[float, ...] = ()
    """Further powers, between radians and metres."""


def read_mimics(reader: StageReader, scan: StageScan) -> None:
    """Add a mimic for every joint that follows another one."""
    joints = {joint.path: joint for joint in reader.asset.joints}
    for found in scan.joints:
        joint = joints.get(found.path)
        rule = _find_rule(reader, found) if joint is not None else None
        if joint is not None and rule is not None:
            _read_mimic(reader, found, joint, rule, joints)
        if reader.noted:
            read_noted_mimics(reader, found)
    _check_chains(reader)


def _find_rule(reader: StageReader, found: FoundPrim) -> _AuthoredMimic | None:
    for is_written, read in _DIALECTS:
        if is_written(found):
            return read(reader, found)
    return None


def _read_extended(reader: StageReader, found: FoundPrim) -> _AuthoredMimic:
    prim, space = found.prim, "ext_physics:mimic"
    return _AuthoredMimic(
        f"{space}:joint",
        reader.get_targets(prim, f"{space}:joint"),
        (
            reader.get_number(prim, f"{space}:offset", 0.0),
            reader.get_number(prim, f"{space}:multiplier", 1.0),
        ),
        reader.get_flag(prim, f"{space}:enabled", True),
        higher=tuple(reader.get_number(prim, f"mjc:coef{k}", 0.0) for k in (2, 3, 4)),
    )


def _read_newton(reader: StageReader, found: FoundPrim) -> _AuthoredMimic:
    """Newton's rule with MuJoCo's higher orders; MuJoCo's older names where Newton's are absent."""
    prim = found.prim
    enabled = reader.get_flag(prim, "newton:mimicEnabled", True)
    leaders = reader.get_targets(prim, "newton:mimicJoint")
    higher: tuple[float, ...] = ()
    if "MjcEqualityJointAPI" in found.apis:
        higher = tuple(reader.get_number(prim, f"mjc:coef{k}", 0.0) for k in (2, 3, 4))
    # older files have names of MuJoCo's own schema alone, all in radians
    if not leaders and prim.HasRelationship("mjc:target"):
        first = tuple(reader.get_number(prim, f"mjc:coef{k}", float(k)) for k in (0, 1))
        targets = reader.get_targets(prim, "mjc:target")
        return _AuthoredMimic("mjc:target", targets, first + higher, enabled, (False, False))
    first = tuple(reader.get_number(prim, f"newton:mimicCoef{k}", float(k)) for k in (0, 1))
    return _AuthoredMimic("newton:mimicJoint", leaders, first + higher, enabled, (True, False))


def _read_physx(reader: StageReader, found: FoundPrim) -> _AuthoredMimic:
    # PhysX has a rule per axis; joints of one freedom have one
    axis = found.instances_of("PhysxMimicJointAPI")[0]
    prim, space = found.prim, f"physxMimicJoint:{axis}"
    return _AuthoredMimic(
        f"{space}:referenceJoint",
        reader.get_targets(prim, f"{space}:referenceJoint"),
        # signs change: PhysX writes q + gearing * leader + offset = 0
        (-reader.get_number(prim, f"{space}:offset", 0.0), -reader.get_number(prim, f"{space}:gearing", 1.0)),
        axis=axis,
        leader_axis=reader.get_text(prim, f"{space}:referenceJointAxis"),
    )


# the first that is written counts: neutral, Newton (with MuJoCo), PhysX
_DIALECTS: tuple[
    tuple[Callable[[FoundPrim], bool], Callable[[StageReader, FoundPrim], _AuthoredMimic]], ...
] = (
    (lambda f: "ExtendedPhysicsMimicAPI" in f.apis, _read_extended),
    (lambda f: bool(f.apis & {"NewtonMimicAPI", "MjcEqualityJointAPI"}), _read_newton),
    (lambda f: bool(f.instances_of("PhysxMimicJointAPI")), _read_physx),
)


def _read_mimic(
    reader: StageReader, found: FoundPrim, joint: Joint, rule: _AuthoredMimic, joints: dict[str, Joint]
) -> None:
    def refuse(why: str) -> None:
        where = reader.where(found, rule.relationship)
        reader.reporter.report(MIMIC_INVALID, where, name=joint.name, why=why, relationship=rule.relationship)

    if len(rule.leaders) != 1:
        return refuse(f"it names {len(rule.leaders)} leaders")
    leading = joints.get(rule.leaders[0])
    if leading is None:
        return refuse(f"its leader {rule.leaders[0]} is not a joint that was read")
    if leading is joint:
        return refuse("it follows itself")
    pairs = _pair_freedoms(joint, leading, rule)
    if not pairs:
        return refuse("both joints need exactly one degree of freedom, or the same degrees of freedom")
    if len(pairs) > 1:
        where, count = reader.where(found), len(pairs)
        reader.reporter.report(MIMIC_UNITLESS, where, name=joint.name, count=count, leader=leading.name)
        rule = replace(rule, degrees=(False, False))
    for follower, leader in pairs:
        # a circle of rules has no solution order; engines refuse it
        if _follows(reader, leader.name, follower.name):
            return refuse(f"its leader {leader.name!r} follows it in turn")
        _report_oddities(reader, found, rule, follower, leader)
        _add_mimic(
            reader, found, rule, (follower, leader), name=joint.name if len(pairs) == 1 else follower.name
        )
    return None


def _pair_freedoms(joint: Joint, leading: Joint, rule: _AuthoredMimic) -> list[tuple[Dof, Dof]]:
    """The freedoms that a rule relates: one of each joint, or all of two joints that move alike; empty if neither."""
    follower, leader = choose_dof(joint, rule.axis), choose_dof(leading, rule.leader_axis)
    if follower is not None and leader is not None:
        return [(follower, leader)]
    motions = [[dof.motion for dof in one.dofs] for one in (joint, leading)]
    is_alike = motions[0] == motions[1] and set(motions[0]) <= {Motion.HINGE, Motion.SLIDE}
    if rule.relationship != "newton:mimicJoint" or not is_alike:
        return []
    return list(zip(joint.dofs, leading.dofs, strict=True))


def _add_mimic(
    reader: StageReader, found: FoundPrim, rule: _AuthoredMimic, pair: tuple[Dof, Dof], *, name: str
) -> None:
    follower, leader = pair
    # authored between displacements, kept between coordinates
    values = shift_polynomial(_convert(reader, rule, follower, leader), follower.ref, leader.ref)
    note = reader.note(found)
    reader.asset.mimics.append(
        Mimic(
            follower=follower.name,
            leader=leader.name,
            multiplier=values[1],
            offset=values[0],
            polynomial=tuple(values[2:]) if any(values[2:]) else (),
            enabled=rule.enabled,
            name=str(note.get("mimic_name", name)),
            source=reader.where(found),
        )
    )


def _convert(reader: StageReader, rule: _AuthoredMimic, follower: Dof, leader: Dof) -> list[float]:
    """Coefficients between radians and metres."""
    result = []
    for power, value in enumerate(rule.coefficients):
        # Newton counts the offset in degrees and the coefficients in radians
        degrees = rule.degrees[min(power, 1)]
        unit = find_step(reader, follower, degrees=degrees)
        result.append(value * unit / find_step(reader, leader, degrees=degrees) ** power)
    if any(rule.higher):
        unit, step = (find_step(reader, dof, degrees=False) for dof in (follower, leader))
        result += [value * unit / step**power for power, value in enumerate(rule.higher, len(result))]
    return result


def find_step(reader: StageReader, dof: Dof, *, degrees: bool) -> float:
    """Radians or metres in one authored unit of a coordinate."""
    if dof.motion is Motion.SLIDE:
        return reader.units.length
    return DEGREE if degrees else 1.0


def _report_oddities(
    reader: StageReader, found: FoundPrim, rule: _AuthoredMimic, follower: Dof, leader: Dof
) -> None:
    where = reader.where(found)
    if not rule.enabled:
        reader.reporter.report(MIMIC_DISABLED, where, name=follower.name)
    if rule.relationship == "newton:mimicJoint" and follower.motion is not leader.motion:
        reader.reporter.report(
            MIMIC_MIXED,
            where,
            name=follower.name,
            motion=follower.motion.value,
            leader=leader.name,
            leader_motion=leader.motion.value,
        )


def _follows(reader: StageReader, follower: str, leader: str) -> bool:
    """Does one freedom follow another, by any number of steps?  The rules so far have no loop."""
    leaders = {mimic.follower: mimic.leader for mimic in reader.asset.mimics}
    while follower in leaders:
        follower = leaders[follower]
        if follower == leader:
            return True
    return False


def _check_chains(reader: StageReader) -> None:
    leaders = {mimic.follower: mimic.leader for mimic in reader.asset.mimics if mimic.enabled}
    for mimic in reader.asset.mimics:
        if mimic.enabled and mimic.leader in leaders:
            reader.reporter.report(
                MIMIC_CHAIN,
                mimic.source,
                name=mimic.follower,
                leader=mimic.leader,
                next=leaders[mimic.leader],
            )


EQUALITY_MISPLACED = declare(
    "usd-equality-misplaced",
    Level.ERROR,
    "{api} is applied to {type} {name!r}, which is not a joint; it has no effect",
    hint="apply connect to a PhysicsSphericalJoint, weld to a PhysicsFixedJoint",
    doc="The equality schemas of MuJoCo extend joints; the joint names the two bodies.",
)
EQUALITY_KIND = declare(
    "usd-equality-kind",
    Level.WARNING,
    "{api} is applied to joint {name!r} of type {type}; it is read as a {kind} joint",
    hint="use a {wanted}, so that other tools see the same constraint",
    doc="A connect holds a point and a weld a frame, whatever the joint says.",
)

_CONNECT = "MjcEqualityConnectAPI"
_WELD = "MjcEqualityWeldAPI"
_APIS = frozenset({_CONNECT, _WELD, "MjcEqualityJointAPI"})
_KINDS = {
    _WELD: (JointKind.FIXED, "PhysicsFixedJoint"),
    _CONNECT: (JointKind.BALL, "PhysicsSphericalJoint"),
}


def read_equalities(reader: StageReader, scan: StageScan) -> None:
    """Make closing joints of connects and welds."""
    # most stages have no equality, so the table is made when the first one comes
    joints: dict[str, Joint] | None = None
    for found in scan.list_sorts(lambda sort: not sort.apis.isdisjoint(_APIS)):
        applied = found.apis & _APIS
        if found.type not in JOINT_TYPES:
            reader.reporter.report(
                EQUALITY_MISPLACED,
                reader.where(found),
                api=min(applied),
                type=found.type or "prim",
                name=found.prim.GetName(),
            )
            continue
        joints = joints or {joint.path: joint for joint in reader.asset.joints}
        joint = joints.get(found.path)
        if joint is not None:
            _close(reader, scan, found, joint)


def _close(reader: StageReader, scan: StageScan, found: FoundPrim, joint: Joint) -> None:
    api = next((api for api in _KINDS if api in found.apis), None)
    if api is None:
        return
    kind, wanted = _KINDS[api]
    joint.closes_loop = True
    if joint.kind is not kind:
        reader.reporter.report(
            EQUALITY_KIND,
            reader.where(found),
            api=api,
            name=joint.name,
            type=found.type,
            kind=kind.value,
            wanted=wanted,
        )
        joint.kind = kind
        joint.dofs = [Dof(Motion.BALL, name=joint.name)] if kind is JointKind.BALL else []
    if (
        kind is JointKind.BALL
        and not _names_site(reader, scan, found)
        # an equality that Simwright wrote has both anchors of the source
        and "equality" not in reader.note(found)
    ):
        _move_anchor(reader, scan, found, joint)


def _names_site(reader: StageReader, scan: StageScan, found: FoundPrim) -> bool:
    targets = reader.get_targets(found, "physics:body0")
    return any(site.path in targets for site in scan.sites)


def _move_anchor(reader: StageReader, scan: StageScan, found: FoundPrim, joint: Joint) -> None:
    """Put the point on ``body1`` where the point on ``body0`` is."""
    poses = {frame.name: frame.pose for frame in reader.bodies.values()}
    parent, child = (poses.get(name, IDENTITY) for name in (joint.parent, joint.child))
    targets = reader.get_targets(found, "physics:body0")
    target = scan.all.get(targets[0]) if targets else None
    first = reader.body_of(target.owner).name if target else WORLD
    # the world is always the parent, so body0 may have become the child
    if first == joint.child:
        anchor = (child @ joint.child_frame).p
        joint.parent_frame = Pose((~parent).apply(anchor), joint.parent_frame.q)
    else:
        anchor = (parent @ joint.parent_frame).p
        joint.child_frame = Pose((~child).apply(anchor), joint.child_frame.q)


JOINTS_STACKED = declare(
    "usd-joints-stacked",
    Level.INFO,
    "{count} joints hold {child!r} on {parent} ({names}); they are read as one with {count} degrees of freedom",
    hint="use one PhysicsJoint with limits, or bodies in between",
    doc="Parallel joints would lock each other; inside an articulation they are the degrees of freedom of one joint.",
)
STACK_APART = declare(
    "usd-joint-stack-apart",
    Level.WARNING,
    "joint {name!r} rests {distance:.3g} m away from {first!r}, which holds the same two bodies",
    hint="give parallel joints the same rest pose",
    doc="Joints between the same two bodies do not agree where these bodies are at rest; the first one counts.",
)

_STACKED = (JointKind.REVOLUTE, JointKind.PRISMATIC)
_APART = 1e-3


# grouping and the two reasons to leave parallel joints alone
def merge_stacks(reader: StageReader, scan: StageScan) -> None:
    """Replace parallel joints by one each: a planar base has two slides and a hinge on the same two bodies."""
    for stack in _list_stacks(reader.asset):
        if not _is_written_apart(reader, scan, stack):
            _merge_parallel_joints(reader, stack)


def _list_stacks(asset: Asset) -> list[list[Joint]]:
    """Joints that connect the same two bodies, where there are several."""
    stacks: dict[tuple[str, str], list[Joint]] = {}
    for joint in asset.joints:
        if joint.kind in _STACKED and joint.enabled and not joint.closes_loop:
            stacks.setdefault((joint.parent, joint.child), []).append(joint)
    return [stack for stack in stacks.values() if len(stack) > 1]


def _is_written_apart(reader: StageReader, scan: StageScan, stack: list[Joint]) -> bool:
    """Did Simwright write one joint as these?  Then they are joined again."""
    first, *others = [scan.notes.get(joint.path, {}) for joint in stack]
    whole = first.get("part_of")
    if not whole or any(note.get("part_of") != whole for note in others):
        return False
    _join_parts(reader, stack, first)
    return True


def _join_parts(reader: StageReader, stack: list[Joint], note: dict[str, Any]) -> None:
    """One joint again of the prims that it was written as, in their order."""
    first = stack[0]
    kind = JointKind(note["part_kind"]) if note.get("part_kind") in set(JointKind) else JointKind.D6
    dofs = [_move_dof(reader, joint, first) for joint in stack]
    joined = dataclasses.replace(first, name=str(note["part_of"]), kind=kind, dofs=dofs)
    asset, gone = reader.asset, {id(joint) for joint in stack[1:]}
    asset.joints = [joined if j is first else j for j in asset.joints if id(j) not in gone]


# one function: a list of what a stack has in common
def _merge_parallel_joints(reader: StageReader, stack: list[Joint]) -> None:
    """Replace joints between the same two bodies by one that has the degrees of freedom of all of them."""
    first = stack[0]
    names = [joint.name for joint in stack]
    reader.reporter.report(
        JOINTS_STACKED,
        first.source,
        count=len(stack),
        parent=repr(first.parent) if first.parent else "the world",
        child=first.child,
        names=", ".join(names),
    )
    dofs = [_move_dof(reader, joint, first) for joint in stack]
    # slides before hinges, as Newton reads such stacks; sort is stable, so each keeps its order
    dofs.sort(key=lambda dof: dof.motion is not Motion.SLIDE)
    merged = dataclasses.replace(
        first,
        kind=JointKind.D6,
        dofs=dofs,
        # by UsdPhysics one joint that says so keeps its bodies from touching
        collide=all(joint.collide for joint in stack),
        # the stack breaks where the weakest of its joints would
        break_force=min(joint.break_force for joint in stack),
        break_torque=min(joint.break_torque for joint in stack),
    )
    asset, gone = reader.asset, {id(joint) for joint in stack[1:]}
    asset.joints = [merged if j is first else j for j in asset.joints if id(j) not in gone]
    for attribute in asset.custom_attributes:
        if attribute.frequency.startswith("joint"):
            _merge_values(attribute, merged, names)


def _move_dof(reader: StageReader, joint: Joint, first: Joint) -> Dof:
    """The freedom of a joint in the frame of the first one."""
    if joint is first:
        return dataclasses.replace(joint.dofs[0], path=joint.path)
    rest, rest_first = (j.parent_frame @ ~j.child_frame for j in (joint, first))
    distance = float(np.linalg.norm(rest.p - rest_first.p))
    if distance > _APART:
        reader.reporter.report(
            STACK_APART, joint.source, name=joint.name, first=first.name, distance=distance
        )
    turn: Pose = ~first.parent_frame @ joint.parent_frame
    dof = joint.dofs[0]
    return dataclasses.replace(
        dof, axis=quat_rotate(turn.q, dof.axis), anchor=turn.apply(dof.anchor), path=joint.path
    )


def _merge_values(attribute: CustomAttribute, merged: Joint, names: list[str]) -> None:
    """One value per freedom where the attribute counts over freedoms, else the first that is authored."""
    found = {name: attribute.values.pop(name) for name in names if name in attribute.values}
    if not found:
        return
    if attribute.frequency == "joint":
        attribute.values[merged.name] = next(iter(found.values()))
    else:
        attribute.values[merged.name] = [found.get(dof.name, attribute.default) for dof in merged.dofs]
