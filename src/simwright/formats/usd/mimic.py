# SPDX-License-Identifier: Apache-2.0
"""Joints that follow another joint, in four dialects (REP-0158 4.2.2).

The neutral ``ExtendedPhysicsMimicAPI`` wins over ``NewtonMimicAPI`` (with ``MjcEqualityJointAPI`` for higher
orders), which wins over ``PhysxMimicJointAPI``.  All of them relate displacements from where the joint frames
meet; the model relates coordinates, so references are added.  Angles: degrees everywhere except the
coefficients of MuJoCo.  PhysX puts everything on one side: ``q + gearing * leader + offset = 0``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from simwright.core.diag import Level, declare
from simwright.core.units import DEGREE
from simwright.formats.usd.noted_joints import read_noted_mimics
from simwright.formats.usd.scan import Found, Scan
from simwright.formats.usd.source import Source
from simwright.model.coupling import shift_polynomial
from simwright.model.joint import Dof, Joint, Mimic, Motion

MIMIC_INVALID = declare(
    "usd-mimic-invalid",
    Level.ERROR,
    "the mimic rule of joint {name!r} is left out: {why}",
    hint="point {relationship} at one other revolute or prismatic joint",
    doc="A mimic rule relates exactly two joints of one freedom each.",
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


@dataclass(frozen=True, slots=True, eq=False)
class _Rule:
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


def read_mimics(source: Source, scan: Scan) -> None:
    """Add a mimic for every joint that follows another one."""
    joints = {joint.path: joint for joint in source.asset.joints}
    for found in scan.joints:
        joint = joints.get(found.path)
        rule = _find_rule(source, found) if joint is not None else None
        if joint is not None and rule is not None:
            _read_mimic(source, found, joint, rule, joints)
        if source.noted:
            read_noted_mimics(source, found)
    _check_chains(source)


def _find_rule(source: Source, found: Found) -> _Rule | None:
    for is_written, read in _DIALECTS:
        if is_written(found):
            return read(source, found)
    return None


def _read_extended(source: Source, found: Found) -> _Rule:
    prim, space = found.prim, "ext_physics:mimic"
    return _Rule(
        f"{space}:joint",
        source.get_targets(prim, f"{space}:joint"),
        (
            source.get_number(prim, f"{space}:offset", 0.0),
            source.get_number(prim, f"{space}:multiplier", 1.0),
        ),
        source.get_flag(prim, f"{space}:enabled", True),
        higher=tuple(source.get_number(prim, f"mjc:coef{k}", 0.0) for k in (2, 3, 4)),
    )


def _read_newton(source: Source, found: Found) -> _Rule:
    """Newton's rule with MuJoCo's higher orders; MuJoCo's older names where Newton's are absent."""
    prim = found.prim
    enabled = source.get_flag(prim, "newton:mimicEnabled", True)
    leaders = source.get_targets(prim, "newton:mimicJoint")
    higher: tuple[float, ...] = ()
    if "MjcEqualityJointAPI" in found.apis:
        higher = tuple(source.get_number(prim, f"mjc:coef{k}", 0.0) for k in (2, 3, 4))
    if not leaders and prim.HasRelationship("mjc:target"):
        first = tuple(source.get_number(prim, f"mjc:coef{k}", float(k)) for k in (0, 1))
        targets = source.get_targets(prim, "mjc:target")
        return _Rule("mjc:target", targets, first + higher, enabled, (False, False))
    first = tuple(source.get_number(prim, f"newton:mimicCoef{k}", float(k)) for k in (0, 1))
    return _Rule("newton:mimicJoint", leaders, first + higher, enabled, (True, False))


def _read_physx(source: Source, found: Found) -> _Rule:
    axis = found.instances_of("PhysxMimicJointAPI")[0]
    prim, space = found.prim, f"physxMimicJoint:{axis}"
    return _Rule(
        f"{space}:referenceJoint",
        source.get_targets(prim, f"{space}:referenceJoint"),
        (-source.get_number(prim, f"{space}:offset", 0.0), -source.get_number(prim, f"{space}:gearing", 1.0)),
        axis=axis,
        leader_axis=source.get_text(prim, f"{space}:referenceJointAxis"),
    )


_DIALECTS: tuple[tuple[Callable[[Found], bool], Callable[[Source, Found], _Rule]], ...] = (
    (lambda f: "ExtendedPhysicsMimicAPI" in f.apis, _read_extended),
    (lambda f: bool(f.apis & {"NewtonMimicAPI", "MjcEqualityJointAPI"}), _read_newton),
    (lambda f: bool(f.instances_of("PhysxMimicJointAPI")), _read_physx),
)


def _read_mimic(source: Source, found: Found, joint: Joint, rule: _Rule, joints: dict[str, Joint]) -> None:
    def refuse(why: str) -> None:
        where = source.where(found, rule.relationship)
        source.reporter.report(MIMIC_INVALID, where, name=joint.name, why=why, relationship=rule.relationship)

    if len(rule.leaders) != 1:
        return refuse(f"it names {len(rule.leaders)} leaders")
    leading = joints.get(rule.leaders[0])
    if leading is None:
        return refuse(f"its leader {rule.leaders[0]} is no joint that was read")
    if leading is joint:
        return refuse("it follows itself")
    follower, leader = choose_dof(joint, rule.axis), choose_dof(leading, rule.leader_axis)
    if follower is None or leader is None:
        return refuse("both joints need exactly one freedom")
    if _follows(source, leader.name, follower.name):
        return refuse(f"its leader {leader.name!r} follows it in turn")
    _report_oddities(source, found, rule, follower, leader)
    values = shift_polynomial(_convert(source, rule, follower, leader), follower.ref, leader.ref)
    note = source.note(found)
    source.asset.mimics.append(
        Mimic(
            follower=follower.name,
            leader=leader.name,
            multiplier=values[1],
            offset=values[0],
            polynomial=tuple(values[2:]) if any(values[2:]) else (),
            enabled=rule.enabled,
            name=str(note.get("mimic_name", joint.name)),
            source=source.where(found),
        )
    )
    return None


def choose_dof(joint: Joint, axis: str = "") -> Dof | None:
    """The one scalar freedom of a joint, or the one along an axis of a generic joint."""
    dofs = [dof for dof in joint.dofs if dof.motion in (Motion.HINGE, Motion.SLIDE)]
    if len(dofs) == len(joint.dofs) == 1:
        return dofs[0]
    named = [dof for dof in dofs if axis and dof.name == f"{joint.name}_{axis}"]
    return named[0] if named else None


def _convert(source: Source, rule: _Rule, follower: Dof, leader: Dof) -> list[float]:
    """Coefficients between radians and metres."""
    result = []
    for power, value in enumerate(rule.coefficients):
        degrees = rule.degrees[min(power, 1)]
        unit = find_step(source, follower, degrees=degrees)
        result.append(value * unit / find_step(source, leader, degrees=degrees) ** power)
    if any(rule.higher):
        unit, step = (find_step(source, dof, degrees=False) for dof in (follower, leader))
        result += [value * unit / step**power for power, value in enumerate(rule.higher, len(result))]
    return result


def find_step(source: Source, dof: Dof, *, degrees: bool) -> float:
    """Radians or metres in one authored unit of a coordinate."""
    if dof.motion is Motion.SLIDE:
        return source.units.length
    return DEGREE if degrees else 1.0


def _report_oddities(source: Source, found: Found, rule: _Rule, follower: Dof, leader: Dof) -> None:
    where = source.where(found)
    if not rule.enabled:
        source.reporter.report(MIMIC_DISABLED, where, name=follower.name)
    if rule.relationship == "newton:mimicJoint" and follower.motion is not leader.motion:
        source.reporter.report(
            MIMIC_MIXED,
            where,
            name=follower.name,
            motion=follower.motion.value,
            leader=leader.name,
            leader_motion=leader.motion.value,
        )


def _follows(source: Source, follower: str, leader: str) -> bool:
    """Does one freedom follow another, by any number of steps?  The rules so far have no loop."""
    leaders = {mimic.follower: mimic.leader for mimic in source.asset.mimics}
    while follower in leaders:
        follower = leaders[follower]
        if follower == leader:
            return True
    return False


def _check_chains(source: Source) -> None:
    leaders = {mimic.follower: mimic.leader for mimic in source.asset.mimics if mimic.enabled}
    for mimic in source.asset.mimics:
        if mimic.enabled and mimic.leader in leaders:
            source.reporter.report(
                MIMIC_CHAIN,
                mimic.source,
                name=mimic.follower,
                leader=mimic.leader,
                next=leaders[mimic.leader],
            )
