# SPDX-License-Identifier: Apache-2.0
"""Equality constraints: connect, weld, tendon, and joint equalities as mimics.

Connect and weld hold a frame on body ``a`` against one on body ``b``; written with sites, the frames are
the sites.  A joint equality relates displacements from the reference coordinates; the mimic relates the
coordinates themselves, so the polynomial is shifted.  Coupled flexes and joints held by themselves have
no neutral form.
"""

from __future__ import annotations

from simwright.core.math3d import Pose
from simwright.formats.mjcf.context import NAMESPACE, Context, pose_of
from simwright.formats.mjcf.joints import SOLIMP, SOLREF
from simwright.formats.mjcf.losses import report_loss
from simwright.model.coupling import shift_polynomial
from simwright.model.joint import Equality, EqualityKind, Mimic


def read_equalities(context: Context) -> None:
    """Equalities and mimics in MuJoCo's order."""
    model = context.model
    lost: list[int] = []
    for index in range(context.count("equality")):
        kind = str(context.mujoco.mjtEq(int(model.eq_type[index])).name)[5:].lower()
        match kind:
            case "connect" | "weld":
                context.asset.equalities.append(_read_hold(context, index, kind))
            case "tendon":
                context.asset.equalities.append(_read_tendon(context, index))
            case "joint" if int(model.eq_obj2id[index]) >= 0:
                context.asset.mimics.append(_read_mimic(context, index))
            case _:
                lost.append(index)
                _keep_lost(context, index, kind)
        context.keep("equality", index, "solref", model.eq_solref[index], SOLREF)
        context.keep("equality", index, "solimp", model.eq_solimp[index], SOLIMP)
    _keep_order(context)
    if lost:
        advice = "add the constraint by hand in the target engine; its data is kept as extras"
        report_loss(context, "equality", lost, advice, "equality constraints without a neutral form")


def _keep_order(context: Context) -> None:
    """The order of the constraints, where lists by kind and places in the text do not tell it."""
    names, asset = context.names["equality"], context.asset
    lists = [e.name for e in asset.equalities], [m.name for m in asset.mimics]
    places = [context.where("equality", i) for i in range(len(names))]
    lines = [where.line or 0 for where in places]
    is_told = all(lines) and lines == sorted(set(lines)) and len({where.file for where in places}) == 1
    if not is_told and names not in lists:
        where = places[0]
        asset.extras.keep(NAMESPACE, "equality", "order", list(names), where)


def _read_hold(context: Context, index: int, kind: str) -> Equality:
    model = context.model
    first, second = int(model.eq_obj1id[index]), int(model.eq_obj2id[index])
    data = model.eq_data[index]
    equality = Equality(
        name=context.name("equality", index),
        kind=EqualityKind(kind),
        a="",
        enabled=bool(model.eq_active0[index]),
        source=context.where("equality", index),
    )
    if int(model.eq_objtype[index]) == int(context.mujoco.mjtObj.mjOBJ_SITE):
        equality.a, equality.frame_a = _site_frame(context, first)
        equality.b, equality.frame_b = _site_frame(context, second)
        context.keep("equality", index, "site1", context.name("site", first))
        context.keep("equality", index, "site2", context.name("site", second))
    else:
        equality.a, equality.b = context.name("body", first), context.name("body", second)
        if kind == "connect":
            equality.frame_a, equality.frame_b = Pose.of(data[0:3]), Pose.of(data[3:6])
        else:
            equality.frame_a, equality.frame_b = Pose.of(data[3:6], data[6:10]), Pose.of(data[0:3])
    if kind == "weld":
        equality.torque_scale = float(data[10])
        if len(data) > 11 and data[11]:  # MuJoCo 4 notes that it found the relative pose itself
            context.keep("equality", index, "found_relpose", True)
    return equality


def _site_frame(context: Context, site: int) -> tuple[str, Pose]:
    model = context.model
    body = context.name("body", int(model.site_bodyid[site]))
    return body, pose_of(model.site_pos[site], model.site_quat[site])


def _read_tendon(context: Context, index: int) -> Equality:
    model = context.model
    return Equality(
        name=context.name("equality", index),
        kind=EqualityKind.TENDON,
        a=context.name("tendon", int(model.eq_obj1id[index])),
        b=context.name("tendon", int(model.eq_obj2id[index])),
        polynomial=tuple(float(v) for v in model.eq_data[index][:5]),
        enabled=bool(model.eq_active0[index]),
        source=context.where("equality", index),
    )


def _read_mimic(context: Context, index: int) -> Mimic:
    model = context.model
    follower, leader = int(model.eq_obj1id[index]), int(model.eq_obj2id[index])
    references = [float(model.qpos0[model.jnt_qposadr[joint]]) for joint in (follower, leader)]
    coefficients = shift_polynomial(model.eq_data[index][:5], *references)
    if any(references):  # shifting them back may lose the last bits
        context.keep("equality", index, "polycoef", model.eq_data[index][:5])
    higher = coefficients[2:]
    return Mimic(
        follower=context.name("joint", follower),
        leader=context.name("joint", leader),
        offset=coefficients[0],
        multiplier=coefficients[1],
        polynomial=tuple(higher) if any(higher) else (),
        enabled=bool(model.eq_active0[index]),
        name=context.name("equality", index),
        source=context.where("equality", index),
    )


def _keep_lost(context: Context, index: int, kind: str) -> None:
    model = context.model
    context.keep("equality", index, "type", kind)
    context.keep("equality", index, "data", model.eq_data[index])
    context.keep("equality", index, "active", bool(model.eq_active0[index]))
    if kind == "joint":
        context.keep("equality", index, "joint1", context.name("joint", int(model.eq_obj1id[index])))
