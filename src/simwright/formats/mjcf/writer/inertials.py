# SPDX-License-Identifier: Apache-2.0
"""``<inertial>``: mass, centre and principal moments, in full precision.

Principal axes are found here and not by MuJoCo, whose iteration stops earlier.  MuJoCo refuses what no solid can be;
the nearest possible inertia is written then, and said.
"""

from __future__ import annotations

import numpy as np

from simwright.core.math3d import IDENTITY_QUAT, Array
from simwright.formats.mjcf.writer.draft import Adjusted, Draft, Limb
from simwright.formats.mjcf.writer.messages import INERTIA_ADJUSTED, MASS_INVENTED
from simwright.formats.mjcf.writer.plan import TINY
from simwright.formats.xml import Element
from simwright.model.inertia import Inertial
from simwright.model.joint import WORLD

INVENTED_MASS = 1e-6
INVENTED_INERTIA = 1e-9
_ROUNDING = 1e-9


def settle_inertials(draft: Draft) -> None:
    """Give bodies that move, and carry no mass at all, the least that MuJoCo takes."""
    heavy = {name: _is_heavy(limb.inertial) for name, limb in draft.limbs.items()}
    for name, limb in reversed(draft.limbs.items()):
        if heavy[name] and limb.parent != WORLD and not limb.freedoms:
            heavy[limb.parent] = True
    for name, limb in draft.limbs.items():
        if limb.freedoms and not heavy[name]:
            limb.inertial = _invent(draft, limb)


def _is_heavy(inertial: Inertial | None) -> bool:
    if inertial is None or inertial.mass < TINY:
        return False
    return bool(np.linalg.eigvalsh(inertial.inertia).min() >= TINY)


def _invent(draft: Draft, limb: Limb) -> Inertial:
    known = limb.inertial
    if known is not None and known.mass >= TINY:
        what, value = "inertia about some axis", INVENTED_INERTIA
        result = Inertial(known.mass, known.com, known.inertia + np.eye(3) * INVENTED_INERTIA)
    else:
        what, value = "mass", INVENTED_MASS
        result = Inertial(INVENTED_MASS, inertia=np.eye(3) * INVENTED_INERTIA)
    draft.reporter.report(MASS_INVENTED, limb.body.source, name=limb.body.name, what=what, value=value)
    return result


def write_inertial(draft: Draft, limb: Limb, node: Element, shaped: bool) -> None:
    """The inertial of a body; one without mass says so if its geoms would make MuJoCo think otherwise."""
    inertial = limb.inertial
    if inertial is None or inertial.mass <= 0.0:
        if shaped:
            draft.add(node, "inertial", {"pos": (0, 0, 0), "mass": 0.0, "diaginertia": (0, 0, 0)})
        return
    moments, axes = inertial.principal()
    values = {"pos": draft.tidy(inertial.com), "quat": draft.tidy(axes), "mass": inertial.mass}
    values["diaginertia"] = _make_possible(draft, limb, np.array([_tidy_moment(draft, v) for v in moments]))
    draft.add(node, "inertial", values, {"quat": IDENTITY_QUAT})


def _tidy_moment(draft: Draft, value: float) -> float:
    """Small moments are no rounding: light bodies have them."""
    return draft.tidy((value,))[0] or float(value)


def _make_possible(draft: Draft, limb: Limb, moments: Array) -> Array:
    """The moments, or the nearest ones that a solid can have."""
    half = float(moments.sum()) / 2.0
    spread = half - moments
    if spread.min() >= 0.0 and _holds(moments):
        return moments
    spread = np.maximum(spread, 0.0)
    result: Array = np.array((spread[1] + spread[2], spread[0] + spread[2], spread[0] + spread[1]))
    while not _holds(result):  # the last bit
        result[int(np.argmax(result))] = np.nextafter(result.max(), 0.0)
    if np.abs(result - moments).max() > _ROUNDING * np.abs(moments).max():
        draft.adjusted.append(Adjusted(limb.body, moments, result))
    return result


def _holds(moments: Array) -> bool:
    a, b, c = (float(v) for v in moments)
    return a + b >= c and a + c >= b and b + c >= a


def report_adjusted(draft: Draft) -> None:
    """One finding for all inertias that had to change."""
    if not draft.adjusted:
        return
    first = draft.adjusted[0]
    draft.reporter.report(
        INERTIA_ADJUSTED,
        first.body.source,
        count=len(draft.adjusted),
        name=first.body.name,
        found=" ".join(f"{v:.6g}" for v in first.found),
        written=" ".join(f"{v:.6g}" for v in first.written),
    )
