# SPDX-License-Identifier: Apache-2.0
"""Constraints: equalities, tendons and contacts.

Connect and weld hold a frame on body ``a`` against one on body ``b``; written with sites, the frames are
the sites.  A joint equality relates displacements from the reference coordinates; the mimic relates the
coordinates themselves, so the polynomial is shifted.  Coupled flexes and joints held by themselves have
no neutral form.

Bodies without a joint are one with their parent: none of them touches another, nor the parent of the whole unless
that stands still.  Joints tell of their two ends only, so the others are filters here, without a place in the file.
"""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np

from simwright.core.math3d import Pose
from simwright.formats.mjcf.reader import DEFAULT_RGBA, NAMESPACE, MjcfReader, make_plain
from simwright.model.asset import ContactFilter, ContactPair
from simwright.model.coupling import shift_polynomial
from simwright.model.joint import Equality, EqualityKind, Mimic, Tendon, TendonPoint

SOLREF = (0.02, 1.0)
SOLIMP = (0.9, 0.95, 0.001, 0.5, 2.0)
"""MuJoCo's defaults for how stiff and how strong constraints are: limits, friction, contacts and equalities."""


def read_equalities(reader: MjcfReader) -> None:
    """Equalities and mimics in MuJoCo's order."""
    model = reader.model
    # flex constraints and joints held by themselves have no neutral form; their data is kept and written
    # again
    lost: list[int] = []
    for index in range(reader.count("equality")):
        kind = reader.read_word("mjtEq", model.eq_type[index])
        match kind:
            case "connect" | "weld":
                reader.asset.equalities.append(_read_frames_equality(reader, index, kind))
            case "tendon":
                reader.asset.equalities.append(_read_tendon_equality(reader, index))
            case "joint" if int(model.eq_obj2id[index]) >= 0:
                reader.asset.mimics.append(_read_mimic(reader, index))
            case _:
                lost.append(index)
                _keep_lost(reader, index, kind)
        reader.keep("equality", index, "solref", model.eq_solref[index], SOLREF)
        reader.keep("equality", index, "solimp", model.eq_solimp[index], SOLIMP)
    _keep_order(reader)
    if lost:
        advice = "add the constraint by hand in the target engine; its data is kept as extras"
        reader.report_loss("equality", lost, advice, "equality constraints without a neutral form")


def _keep_order(reader: MjcfReader) -> None:
    """The order of the constraints, where lists by kind and places in the text do not tell it."""
    names, asset = reader.names["equality"], reader.asset
    lists = [e.name for e in asset.equalities], [m.name for m in asset.mimics]
    places = [reader.where("equality", i) for i in range(len(names))]
    lines = [where.line or 0 for where in places]
    # the writer goes by lines where every constraint has one of its own, in one file
    is_told = all(lines) and lines == sorted(set(lines)) and len({where.file for where in places}) == 1
    if not is_told and names not in lists:
        where = places[0]
        asset.extras.keep(NAMESPACE, "equality", "order", list(names), where)


def _read_frames_equality(reader: MjcfReader, index: int, kind: str) -> Equality:
    model = reader.model
    first, second = int(model.eq_obj1id[index]), int(model.eq_obj2id[index])
    data = model.eq_data[index]
    equality = Equality(
        name=reader.name("equality", index),
        kind=EqualityKind(kind),
        a="",
        enabled=bool(model.eq_active0[index]),
        source=reader.where("equality", index),
    )
    # between sites MuJoCo compiles no anchors: the frames are those of the sites
    if int(model.eq_objtype[index]) == int(reader.mujoco.mjtObj.mjOBJ_SITE):
        equality.a, equality.frame_a = _read_site_frame(reader, first)
        equality.b, equality.frame_b = _read_site_frame(reader, second)
        reader.keep("equality", index, "site1", reader.name("site", first))
        reader.keep("equality", index, "site2", reader.name("site", second))
    else:
        equality.a, equality.b = reader.name("body", first), reader.name("body", second)
        if kind == "connect":
            # eq_data of a connect is the anchor on each body; of a weld the anchor on the second, then the
            # pose of the second in the first
            equality.frame_a, equality.frame_b = Pose.of(data[0:3]), Pose.of(data[3:6])
        else:
            equality.frame_a, equality.frame_b = Pose.of(data[3:6], data[6:10]), Pose.of(data[0:3])
    if kind == "weld":
        equality.torque_scale = float(data[10])
        if len(data) > 11 and data[11]:  # MuJoCo 4 notes that it found the relative pose itself
            reader.keep("equality", index, "found_relpose", True)
    return equality


def _read_site_frame(reader: MjcfReader, site: int) -> tuple[str, Pose]:
    model = reader.model
    body = reader.name("body", int(model.site_bodyid[site]))
    return body, Pose.of(model.site_pos[site], model.site_quat[site])


def _read_tendon_equality(reader: MjcfReader, index: int) -> Equality:
    model = reader.model
    return Equality(
        name=reader.name("equality", index),
        kind=EqualityKind.TENDON,
        a=reader.name("tendon", int(model.eq_obj1id[index])),
        b=reader.name("tendon", int(model.eq_obj2id[index])),
        polynomial=tuple(float(v) for v in model.eq_data[index][:5]),
        enabled=bool(model.eq_active0[index]),
        source=reader.where("equality", index),
    )


def _read_mimic(reader: MjcfReader, index: int) -> Mimic:
    model = reader.model
    follower, leader = int(model.eq_obj1id[index]), int(model.eq_obj2id[index])
    references = [float(model.qpos0[model.jnt_qposadr[joint]]) for joint in (follower, leader)]
    # MuJoCo's polynomial is of displacements from qpos0
    coefficients = shift_polynomial(model.eq_data[index][:5], *references)
    if any(references):  # shifting them back may lose the last bits
        reader.keep("equality", index, "polycoef", model.eq_data[index][:5])
    higher = coefficients[2:]
    return Mimic(
        follower=reader.name("joint", follower),
        leader=reader.name("joint", leader),
        offset=coefficients[0],
        multiplier=coefficients[1],
        polynomial=tuple(higher) if any(higher) else (),
        enabled=bool(model.eq_active0[index]),
        name=reader.name("equality", index),
        source=reader.where("equality", index),
    )


def _keep_lost(reader: MjcfReader, index: int, kind: str) -> None:
    model = reader.model
    reader.keep("equality", index, "type", kind)
    reader.keep("equality", index, "data", model.eq_data[index])
    reader.keep("equality", index, "active", bool(model.eq_active0[index]))
    if kind == "joint":
        reader.keep("equality", index, "joint1", reader.name("joint", int(model.eq_obj1id[index])))


def read_tendons(reader: MjcfReader) -> None:
    """Tendons in MuJoCo's order."""
    model = reader.model
    for index in range(reader.count("tendon")):
        tendon = Tendon(
            name=reader.name("tendon", index),
            path=_read_path(reader, index),
            # a row of coefficients in some versions of MuJoCo, of which the first is the linear one
            stiffness=float(np.ravel(model.tendon_stiffness[index])[0]),
            damping=float(np.ravel(model.tendon_damping[index])[0]),
            friction=float(model.tendon_frictionloss[index]),
            armature=float(reader.field("tendon_armature", index, 0.0)),
            width=float(model.tendon_width[index]),
            source=reader.where("tendon", index),
        )
        if model.tendon_limited[index]:
            tendon.lower, tendon.upper = (float(v) for v in model.tendon_range[index])
        low, high = (float(v) for v in model.tendon_lengthspring[index])
        # without a spring MuJoCo still computes the length at rest, which means nothing
        tendon.rest_length = (low, high) if tendon.stiffness else None
        reader.asset.tendons.append(tendon)
        _keep_tendon_extras(reader, index)


def _read_path(reader: MjcfReader, index: int) -> list[TendonPoint]:
    model = reader.model
    start, count = int(model.tendon_adr[index]), int(model.tendon_num[index])
    return [_read_point(reader, wrap) for wrap in range(start, start + count)]


def _read_point(reader: MjcfReader, wrap: int) -> TendonPoint:
    model = reader.model
    kind = reader.read_word("mjtWrap", model.wrap_type[wrap])
    target, value = int(model.wrap_objid[wrap]), float(model.wrap_prm[wrap])
    match kind:
        case "joint":
            return TendonPoint("joint", reader.name("joint", target), value)
        case "pulley":
            return TendonPoint("pulley", value=value)
        case "site":
            return TendonPoint("site", reader.name("site", target))
    # for wrapping geoms MuJoCo keeps the number of the side site as a float, -1 for none
    return TendonPoint("wrap", reader.name("geom", target), side=reader.name("site", round(value)))


def _keep_tendon_extras(reader: MjcfReader, index: int) -> None:
    model = reader.model
    keep: dict[str, tuple[Any, Any]] = {
        "group": (model.tendon_group[index], 0),
        "margin": (model.tendon_margin[index], 0.0),
        "rgba": (model.tendon_rgba[index], DEFAULT_RGBA),
        "material": (reader.name("material", int(model.tendon_matid[index])), ""),
        "solreflimit": (model.tendon_solref_lim[index], SOLREF),
        "solimplimit": (model.tendon_solimp_lim[index], SOLIMP),
        "solreffriction": (model.tendon_solref_fri[index], SOLREF),
        "solimpfriction": (model.tendon_solimp_fri[index], SOLIMP),
        "springyield": (reader.field("tendon_springyield", index), 0.0),
    }
    for attribute, (value, default) in keep.items():
        reader.keep("tendon", index, attribute, value, default)
    for attribute in ("stiffnesspoly", "dampingpoly"):
        values = reader.field(f"tendon_{attribute}", index)
        if values is not None and np.any(values):
            reader.keep("tendon", index, attribute, values)
    if reader.field("tendon_actfrclimited", index, False):
        reader.keep("tendon", index, "actuatorfrcrange", model.tendon_actfrcrange[index])
    reader.keep_user("tendon", index, "tendon_user")


_PAIR_SETTINGS = ("friction", "solref", "solreffriction", "solimp", "margin", "gap", "adhesion")


def read_contacts(reader: MjcfReader) -> None:
    """Pairs that always touch, bodies that never do."""
    model = reader.model
    for index in range(reader.count("pair")):
        # the compiled pair has every value, also those that it took from its two geoms
        settings = {"condim": int(model.pair_dim[index])}
        for name in _PAIR_SETTINGS:
            value = reader.field(f"pair_{name}", index)
            if value is not None:
                settings[name] = make_plain(value)
        reader.asset.contact_pairs.append(
            ContactPair(
                a=reader.name("geom", int(model.pair_geom1[index])),
                b=reader.name("geom", int(model.pair_geom2[index])),
                name=reader.name("pair", index),
                settings=settings,
                source=reader.where("pair", index),
            )
        )
    for index in range(reader.count("exclude")):
        # MuJoCo packs both body ids into one number: body1 << 16 plus body2
        signature = int(model.exclude_signature[index])
        reader.asset.contact_filters.append(
            ContactFilter(
                a=reader.name("body", signature >> 16),
                b=reader.name("body", signature & 0xFFFF),
                source=reader.where("exclude", index),
            )
        )
    _add_implied_filters(reader)


def _add_implied_filters(reader: MjcfReader) -> None:
    """Filters for colliders of welded bodies and of their common parent, where no joint is between them."""
    model = reader.model
    unfiltered = int(reader.mujoco.mjtDisableBit.mjDSBL_FILTERPARENT) & int(model.opt.disableflags)
    # geoms without bits touch nothing by themselves; filters for them would say nothing
    touchable = (np.asarray(model.geom_contype) != 0) | (np.asarray(model.geom_conaffinity) != 0)
    members: dict[int, list[int]] = {}
    for body in np.unique(np.asarray(model.geom_bodyid)[touchable]):
        members.setdefault(int(model.body_weldid[body]), []).append(int(body))
    told = {(f.a, f.b) for f in reader.asset.contact_filters}
    for weld, inside in sorted(members.items()):
        # what is welded to the world touches everything but itself, which cannot move
        if weld == 0:
            continue
        outer = int(model.body_weldid[model.body_parentid[weld]])
        across = product(members.get(outer, ()), inside) if outer and not unfiltered else ()
        for a, b in (*combinations(inside, 2), *across):
            names = (reader.name("body", a), reader.name("body", b))
            # the joint between a body and its parent says it already (Joint.collide)
            joined = a == model.body_parentid[b] or b == model.body_parentid[a]
            if not joined and names not in told and names[::-1] not in told:
                reader.asset.contact_filters.append(ContactFilter(*names))
