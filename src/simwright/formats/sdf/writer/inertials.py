# SPDX-License-Identifier: Apache-2.0
"""``<inertial>``: mass, centre of mass and the whole inertia tensor in the axes of the link.

SDFormat takes a link that says nothing for 1 kg, so every link says something.  What has no mass gets a little, which
is always reported; what fixed joints hold to a link with a mass is a frame instead (``plan``).
"""

from __future__ import annotations

import numpy as np

from simwright.core.math3d import IDENTITY_QUAT, Array, Pose
from simwright.formats.sdf.writer.context import SdfWriteContext, WrittenLink, add, add_pose
from simwright.formats.sdf.writer.messages import INERTIA_ADJUSTED, MASS_INVENTED
from simwright.formats.xml import Element
from simwright.model.asset import Body
from simwright.model.inertia import LEAST_MASS, POINT_INERTIA, Inertial, make_possible

_RADIUS = 0.01
_SIX = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
_ORDER = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


def is_massless(inertial: Inertial | None) -> bool:
    """Is there neither mass nor inertia?"""
    return inertial is None or (inertial.mass <= 0.0 and not np.any(inertial.inertia))


def make_light(mass: float) -> Inertial:
    """A ball that weighs almost nothing."""
    return Inertial(mass, inertia=np.eye(3) * (0.4 * mass * _RADIUS**2))


def report_inertials(context: SdfWriteContext) -> None:
    """What had to be invented or corrected, once for all links."""
    if context.invented:
        context.report(MASS_INVENTED, context.invented, mass=LEAST_MASS)
    if context.adjusted:
        _, found, written = context.adjusted[0]
        bodies = [body for body, _, _ in context.adjusted]
        context.report(INERTIA_ADJUSTED, bodies, found=_show(found), written=_show(written))


def write_inertial(context: SdfWriteContext, written: WrittenLink, body: Body) -> None:
    """The mass properties of a link."""
    inertial = context.inertials.get(body.name)
    if inertial is None or inertial.mass <= 0.0:
        context.invented.append(body)
        light = Inertial(LEAST_MASS, inertia=np.eye(3) * POINT_INERTIA)
        tensor = light.inertia if inertial is None or not np.any(inertial.inertia) else inertial.inertia
        inertial = Inertial(LEAST_MASS, light.com if inertial is None else inertial.com, tensor)
    else:
        inertial = _settle(context, body, inertial)
    add_inertial(written.link, inertial)


def add_inertial(link: Element, inertial: Inertial) -> None:
    """``<inertial>`` with the centre of mass as its origin."""
    node = add(link, "inertial")
    add_pose(node, Pose(inertial.com, np.array(IDENTITY_QUAT)))
    add(node, "mass", float(inertial.mass))
    tensor = add(node, "inertia")
    six = dict(zip(_SIX, inertial.six.tolist(), strict=True))
    for key in _ORDER:
        add(tensor, key, six[key])


def _settle(context: SdfWriteContext, body: Body, inertial: Inertial) -> Inertial:
    """The same, or with the nearest moments that a solid can have: libsdformat refuses a link with others."""
    possible = make_possible(inertial)
    if possible is not inertial:
        context.adjusted.append((body, inertial.principal()[0], possible.principal()[0]))
    return possible


def _show(moments: Array) -> str:
    return " ".join(f"{value:.6g}" for value in moments)
