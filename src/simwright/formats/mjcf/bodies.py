# SPDX-License-Identifier: Apache-2.0
"""Bodies, the joints that move them, and what constrains them: equalities, tendons and contacts.

Every body carries the compiled inertia.  World poses are set afterwards by forward kinematics at MuJoCo's ``qpos0``.

The joint stack of each body becomes one model joint to its parent, dofs in MuJoCo's order.  MuJoCo places the body
in its parent, then moves it joint by joint: each joint turns about an axis through an anchor that the joints before
it have already moved.  That is the model's own rule, so the stack is carried exactly.  The joint frame sits at the
first anchor.  A free joint's coordinates are the pose in the world.

Connect and weld hold a frame on body ``a`` against one on body ``b``; written with sites, the frames are the sites.  A
joint equality relates displacements from the reference coordinates; the mimic relates the coordinates, so the
polynomial is shifted.  Coupled flexes and joints held by themselves have no neutral form.

Contacts: MuJoCo lets no body touch its parent, except where the parent is welded to the world.  Bodies without a joint
are one with their parent: none of them touches another, nor the parent of the whole unless that stands still.  Joints
tell of their two ends only, so the others are filters here, without a place in the file.
"""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np

from simwright.core.math3d import IDENTITY, Array, Pose, vec3
from simwright.core.names import NameScope
from simwright.formats.mjcf.reader import DEFAULT_RGBA, NAMESPACE, MjcfReader, make_plain
from simwright.model.asset import Body, ContactFilter, ContactPair
from simwright.model.coordinates import shift_polynomial
from simwright.model.inertia import Inertial
from simwright.model.joint import (
    Dof,
    Equality,
    EqualityKind,
    Joint,
    JointKind,
    Mimic,
    Motion,
    Tendon,
    TendonPoint,
)


def read_bodies(reader: MjcfReader) -> None:
    """Bodies in MuJoCo's order, the world left out."""
    model = reader.model
    for index in range(1, reader.count("body")):
        # the compiled principal moments, bit for bit: rotating them into body axes would round them
        inertial = Inertial.from_principal(
            float(model.body_mass[index]),
            model.body_inertia[index],
            model.body_iquat[index],
            model.body_ipos[index],
        )
        reader.asset.bodies.append(
            Body(
                name=reader.name("body", index),
                pose=Pose.of(model.body_pos[index], model.body_quat[index]),
                inertial=inertial,
                kinematic=bool(model.body_mocapid[index] >= 0),
                # MuJoCo says how much gravity is compensated, the model how much is left
                gravity_scale=1.0 - float(model.body_gravcomp[index]),
                path=reader.key("body", index),
                source=reader.where("body", index),
            )
        )
        reader.keep_user("body", index, "body_user")
        gravcomp = float(model.body_gravcomp[index])
        # 1 - (1 - x) may differ from x in the last bit; the written number is kept then
        reader.keep("body", index, "gravcomp", gravcomp, 1.0 - (1.0 - gravcomp))
        # the drag of a fluid is that of a box along these axes, which equal moments do not tell
        if model.opt.density or model.opt.viscosity:
            reader.keep("body", index, "iquat", model.body_iquat[index], (1.0, 0.0, 0.0, 0.0))
        _keep_sleep(reader, index)


def _keep_sleep(reader: MjcfReader, index: int) -> None:
    spec = reader.find_spec("body", index)
    policy = getattr(spec, "sleep", None)
    if policy is not None and int(policy) > 0:
        reader.keep("body", index, "sleep", str(getattr(policy, "name", policy)))


_SINGLE = {
    Motion.HINGE: JointKind.REVOLUTE,
    Motion.SLIDE: JointKind.PRISMATIC,
    Motion.BALL: JointKind.BALL,
    Motion.FREE: JointKind.FLOATING,
}
_EXACT = 1e-12


def read_joints(reader: MjcfReader) -> None:
    """One joint for every body that is not a mocap body."""
    model = reader.model
    scope = NameScope(reader.names["joint"])
    for body in range(1, reader.count("body")):
        # mocap bodies are moved from outside; MuJoCo gives them no joint
        if model.body_mocapid[body] >= 0:
            continue
        start, count = int(model.body_jntadr[body]), int(model.body_jntnum[body])
        indices = list(range(start, start + count)) if count else []
        joint = _read_joint(reader, body, indices, scope)
        reader.asset.joints.append(joint)
        for index, dof in zip(indices, joint.dofs, strict=True):
            _keep_joint_extras(reader, index)
            place = dof.anchor + (0.0 if dof.motion is Motion.SLIDE else joint.child_frame.p)
            if (
                dof.motion is not Motion.FREE
            ):  # of a slide it says nothing, of others it may have lost its last bit
                reader.keep("joint", index, "pos", model.jnt_pos[index], tuple(place))


def _read_joint(reader: MjcfReader, body: int, indices: list[int], scope: NameScope) -> Joint:
    model = reader.model
    dofs = [_read_dof(reader, index) for index in indices]
    kind = _classify(dofs)
    placed = Pose.of(model.body_pos[body], model.body_quat[body])
    # a free joint's coordinates are the pose in the world, so the place of the body does not count twice
    if kind is JointKind.FLOATING:
        placed = IDENTITY
    # a slide has no anchor that matters, so the first turning joint gives the frame
    origin = next((dof.anchor for dof in dofs if dof.motion in (Motion.HINGE, Motion.BALL)), vec3())
    at_anchor = Pose.of(origin)
    for dof in dofs:
        dof.anchor = vec3() if dof.motion is Motion.SLIDE else dof.anchor - origin
    if len(dofs) == 1:
        name, where = dofs[0].name, reader.where("joint", indices[0])
    else:
        # MuJoCo names single joints, not stacks: a stack gets the name of its body
        name = scope.claim(f"{reader.name('body', body)}_{'joint' if dofs else 'fixed'}")
        where = reader.where("body", body)
    return Joint(
        name=name,
        kind=kind,
        parent=reader.name("body", int(model.body_parentid[body])),
        child=reader.name("body", body),
        parent_frame=placed @ at_anchor,
        child_frame=at_anchor,
        rest=placed,
        dofs=dofs,
        collide=_touches_parent(reader, body),
        path=f"joint/{name}",
        source=where,
    )


def _classify(dofs: list[Dof]) -> JointKind:
    """The kind whose dofs these are, exactly; ``d6`` for every other stack."""
    motions = [dof.motion for dof in dofs]
    if not dofs:
        return JointKind.FIXED
    if len(dofs) == 1:
        return _SINGLE[motions[0]]
    if motions == [Motion.HINGE, Motion.HINGE] and _is_universal(dofs):
        return JointKind.UNIVERSAL
    if motions == [Motion.SLIDE, Motion.SLIDE, Motion.HINGE] and _is_planar(dofs):
        return JointKind.PLANAR
    return JointKind.D6


# exact within rounding only: a joint that is nearly universal keeps its anchors as d6
def _is_universal(dofs: list[Dof]) -> bool:
    together = np.abs(dofs[0].anchor - dofs[1].anchor).max() <= _EXACT
    return bool(together and abs(dofs[0].axis @ dofs[1].axis) <= _EXACT)


def _is_planar(dofs: list[Dof]) -> bool:
    x, y, z = (dof.axis for dof in dofs)
    return bool(abs(x @ y) <= _EXACT and np.abs(np.cross(x, y) - z).max() <= _EXACT)


def _read_dof(reader: MjcfReader, index: int) -> Dof:
    model = reader.model
    motion = Motion(reader.read_word("mjtJoint", model.jnt_type[index]))
    first, address = int(model.jnt_dofadr[index]), int(model.jnt_qposadr[index])
    dof = Dof(
        motion=motion,
        axis=vec3(model.jnt_axis[index]),
        name=reader.name("joint", index),
        anchor=vec3(model.jnt_pos[index]),
        armature=float(model.dof_armature[first]),
        friction=float(model.dof_frictionloss[first]),
        # a row of coefficients in some versions of MuJoCo, of which the first is the linear one
        damping=float(np.ravel(model.dof_damping[first])[0]),
        stiffness=float(np.ravel(model.jnt_stiffness[index])[0]),
    )
    if motion in (Motion.HINGE, Motion.SLIDE):
        dof.ref = float(model.qpos0[address])
        dof.spring_ref = float(model.qpos_spring[address])
    elif motion is Motion.FREE:
        dof.anchor = vec3()
        # the free joint starts at qpos0, which is the place of its body in the text
        dof.position = [float(v) for v in model.qpos0[address : address + 7]]
    _read_limits(reader, index, dof)
    return dof


def _read_limits(reader: MjcfReader, index: int, dof: Dof) -> None:
    model = reader.model
    low, high = (float(v) for v in model.jnt_range[index])
    if model.jnt_limited[index]:
        if dof.motion is Motion.BALL:
            # MuJoCo limits the whole angle of a ball, the same in all directions; its lower end is always 0
            dof.swing = (high, high)
        dof.lower, dof.upper = low, high
    if model.jnt_actfrclimited[index]:
        # the model has one limit for both directions; a lopsided range is kept as an extra
        dof.effort_limit = max(abs(float(v)) for v in model.jnt_actfrcrange[index])


def _touches_parent(reader: MjcfReader, body: int) -> bool:
    model = reader.model
    parent_weld = int(model.body_weldid[model.body_parentid[body]])
    # bodies that are welded together are one body to MuJoCo's collision filter
    if int(model.body_weldid[body]) == parent_weld:
        return False
    unfiltered = int(reader.mujoco.mjtDisableBit.mjDSBL_FILTERPARENT) & int(model.opt.disableflags)
    # what is welded to the world is touched by everything, its children too
    return bool(parent_weld == 0 or unfiltered)


def _keep_joint_extras(reader: MjcfReader, index: int) -> None:
    model = reader.model
    first = int(model.jnt_dofadr[index])
    keep: dict[str, tuple[Any, Any]] = {
        "group": (model.jnt_group[index], 0),
        "margin": (model.jnt_margin[index], 0.0),
        "solreflimit": (model.jnt_solref[index], SOLREF),
        "solimplimit": (model.jnt_solimp[index], SOLIMP),
        "solreffriction": (model.dof_solref[first], SOLREF),
        "solimpfriction": (model.dof_solimp[first], SOLIMP),
        "actuatorgravcomp": (bool(model.jnt_actgravcomp[index]), False),
        "springyield": (reader.field("jnt_springyield", index), 0.0),
    }
    for attribute, (value, default) in keep.items():
        reader.keep("joint", index, attribute, value, default)
    _keep_polynomial(reader, index, "stiffnesspoly", reader.field("jnt_stiffnesspoly", index))
    _keep_polynomial(reader, index, "dampingpoly", reader.field("dof_dampingpoly", first))
    low, high = (float(v) for v in model.jnt_actfrcrange[index])
    if model.jnt_actfrclimited[index] and low != -high:
        reader.keep("joint", index, "actuatorfrcrange", (low, high))
    # ranges that are switched off do nothing, but programs read them
    if not model.jnt_limited[index] and read_joint_word(reader, index) != "free":
        reader.keep("joint", index, "idle_range", model.jnt_range[index], (0.0, 0.0))
    if not model.jnt_actfrclimited[index]:
        reader.keep("joint", index, "idle_actuatorfrcrange", model.jnt_actfrcrange[index], (0.0, 0.0))
    address = int(model.jnt_qposadr[index])
    # without a spring the place where it rests has no word in OpenUSD
    if read_joint_word(reader, index) in ("hinge", "slide") and not np.any(model.jnt_stiffness[index]):
        rest = float(model.qpos_spring[address])
        reader.keep("joint", index, "idle_springref", rest, float(model.qpos0[address]))
    reader.keep_user("joint", index, "jnt_user")


def read_joint_word(reader: MjcfReader, index: int) -> str:
    """The type of a joint: hinge, slide, ball or free."""
    return reader.read_word("mjtJoint", reader.model.jnt_type[index])


def _keep_polynomial(reader: MjcfReader, index: int, attribute: str, values: Array | None) -> None:
    if values is not None and np.any(values):
        reader.keep("joint", index, attribute, values)


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


_NO_LENGTH = (-1.0, -1.0)
"""What asks MuJoCo to take the length of the tendon at the start."""


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
        # where the file says none, MuJoCo computes one, which means nothing without a spring
        said = getattr(reader.find_spec("tendon", index), "springlength", _NO_LENGTH)
        is_said = tuple(said) != _NO_LENGTH
        tendon.rest_length = (low, high) if tendon.stiffness or is_said else None
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
    if not model.tendon_limited[index]:
        reader.keep("tendon", index, "idle_range", model.tendon_range[index], (0.0, 0.0))
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
