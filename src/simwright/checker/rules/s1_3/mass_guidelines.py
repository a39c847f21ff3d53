# SPDX-License-Identifier: Apache-2.0
"""Mass properties make sense: possible inertia, a unit quaternion, finite numbers, on a body or collider.

Why: a negative or impossible inertia, or axes that are no rotation, is rejected by some engines and silently
repaired, each in its own way, by others.

Fails: `physics:diagonalInertia = (1, 1, 5)` (no body can have it); a centre of mass of nan; PhysicsMassAPI on
a prim that is neither body nor collider.
Passes: eigenvalues of which none is above the sum of the others.  (0, 0, 0) inertia, a zero quaternion, a
centre of mass of -inf and a density of 0 mean "compute it" and are fine.

Fix: unsafe.  A quaternion is normalised, attributes that are not read are removed, and impossible moments become the
nearest possible ones; the right values are in the source.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from simwright.checker.facts.attributes import read_number, read_vector
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule

_INERTIA, _AXES = "physics:diagonalInertia", "physics:principalAxes"
_CENTER, _DENSITY = "physics:centerOfMass", "physics:density"


@rule(
    "mass-guidelines",
    "1.3",
    "must",
    on="api:PhysicsMassAPI",
    fix="unsafe",
    fix_title="write mass properties that a body can have",
)
def mass_guidelines(node: PrimNode, _snapshot: StageSnapshot) -> Iterator[Finding]:
    """One finding per wrong property."""
    if not node.has("PhysicsRigidBodyAPI") and not node.has("PhysicsCollisionAPI"):
        yield Finding(
            "PhysicsMassAPI is on a prim that is neither a rigid body nor a collider, so it is not read",
            hint="move it to the body, or apply PhysicsRigidBodyAPI here",
            at=node,
        )
    yield from _check_inertia(node)
    yield from _check_axes(node)
    center = read_vector(node, _CENTER)
    # UsdPhysics: the fallback of -inf means "compute it"
    if center is not None and not all(map(math.isfinite, center)) and center != (-math.inf,) * 3:
        yield Finding(
            f"{_CENTER} is {center}, which is not finite",
            hint="write the centre of mass [m]",
            at=node,
            prop=_CENTER,
        )
    density = read_number(node, _DENSITY)
    if density is not None and not 0 <= density < math.inf:
        yield Finding(
            f"{_DENSITY} is {density:g}, it must be above 0",
            hint="write the density [kg/m^3], or remove it",
            at=node,
            prop=_DENSITY,
        )


def _check_inertia(node: PrimNode) -> Iterator[Finding]:
    value = read_vector(node, _INERTIA)
    if value is None or len(value) != 3 or not any(value):
        return
    a, b, c = sorted(value)
    shown = f"({value[0]:g}, {value[1]:g}, {value[2]:g})"
    if not math.isfinite(a + b + c):
        problem = "is not finite"
    elif a < 0:
        problem = "has a negative value"
    # the triangle inequality of principal moments; a flat plate meets it exactly, so a thousandth for
    # rounding
    elif c > (a + b) * (1 + 1e-3):
        problem = f"is impossible: {c:g} is more than the sum of the other two"
    else:
        return
    yield Finding(
        f"{_INERTIA} {shown} {problem}",
        hint="decompose the inertia of the source again, or remove it to have it computed",
        at=node,
        prop=_INERTIA,
        data={"value": list(value)},
    )


def _check_axes(node: PrimNode) -> Iterator[Finding]:
    value = read_vector(node, _AXES)
    if value is None:
        return
    length = math.hypot(*value)
    # UsdPhysics: a zero quaternion is the fallback and means "compute it"
    if length != 0 and not abs(length - 1) < 1e-3:
        yield Finding(
            f"{_AXES} has length {length:g}, it must be a unit quaternion",
            hint="normalise it; the order in the text is (w, x, y, z)",
            at=node,
            prop=_AXES,
            data={"length": length},
        )
