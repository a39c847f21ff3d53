# SPDX-License-Identifier: Apache-2.0
"""Joints that follow another one: ExtendedPhysicsMimicAPI on the follower (REP-0158 4.2.2).

The schema relates two joints of one freedom each, once per follower, by a line.  Higher powers are MuJoCo's (see
``vendor``); rules between freedoms of a stack, and further rules of one follower, are noted.
"""

from __future__ import annotations

from simwright.core.diag import Reporter
from simwright.core.units import DEGREE
from simwright.formats.usd.writer.layout import Layout
from simwright.formats.usd.writer.messages import JOINT_REDUCED, NOTED
from simwright.formats.usd.writer.motors import SINGLE
from simwright.formats.usd.writer.sheet import Sheet
from simwright.model.joint import Dof, Mimic, Motion


def write_mimics(layout: Layout, sheet: Sheet, reporter: Reporter) -> None:
    """Every rule whose two freedoms are written."""
    dofs = {dof.name: dof for joint in layout.asset.joints for dof in joint.dofs}
    owners = {dof.name: joint.name for joint in layout.asset.joints for dof in joint.dofs}
    noted: dict[str, list[Mimic]] = {}
    said: set[str] = set()
    for mimic in layout.asset.mimics:
        follower, leader = layout.freedoms.get(mimic.follower), layout.freedoms.get(mimic.leader)
        if follower is None or leader is None:
            reporter.report(JOINT_REDUCED, mimic.source, what="the mimic rule", name=mimic.follower)
        elif {follower[1], leader[1]} <= {*SINGLE} and follower[0] not in said:
            said.add(follower[0])
            _write_mimic(sheet, mimic, (follower[0], dofs[mimic.follower]), (leader[0], dofs[mimic.leader]))
            if mimic.name != owners[mimic.follower]:
                sheet.note(follower[0], mimic_name=mimic.name)
        else:
            noted.setdefault(follower[0], []).append(mimic)
    for path, mimics in noted.items():
        _note_mimics(sheet, path, mimics)
        reporter.report(NOTED, mimics[0].source, what="the mimic rule", name=mimics[0].follower)


def _write_mimic(sheet: Sheet, mimic: Mimic, follower: tuple[str, Dof], leader: tuple[str, Dof]) -> None:
    (path, own), (target, other) = follower, leader
    sheet.apply(path, "ExtendedPhysicsMimicAPI")
    sheet.relate(path, "ext_physics:mimic:joint", [target])
    sheet.set(path, "ext_physics:mimic:multiplier", "float", mimic.multiplier * _step(other) / _step(own))
    if mimic.offset:
        sheet.set(path, "ext_physics:mimic:offset", "float", mimic.offset / _step(own))
    if not mimic.enabled:
        sheet.set(path, "ext_physics:mimic:enabled", "bool", False)


def _note_mimics(sheet: Sheet, path: str, mimics: list[Mimic]) -> None:
    """Names by threes, numbers by six: switch, offset, multiplier and three higher powers."""
    names = [name for m in mimics for name in (m.follower, m.leader, m.name)]
    values = []
    for m in mimics:
        higher = [*m.polynomial, 0.0, 0.0, 0.0][:3]
        values += [float(m.enabled), m.offset, m.multiplier, *higher]
    sheet.note(path, mimics=names, mimic_values=values)


def _step(dof: Dof) -> float:
    return DEGREE if dof.motion is Motion.HINGE else 1.0
