# SPDX-License-Identifier: Apache-2.0
"""Joints and what relates them: types, limits, gains and roots; then mimics, equalities, motors and filtered pairs."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from simwright.core.diag import Reporter
from simwright.core.errors import UsageError
from simwright.core.math3d import IDENTITY, Pose, pose_to_seven
from simwright.engines.newton.choices import Choices
from simwright.engines.newton.messages import (
    DRIVE_ACCELERATION,
    JOINT_APPROXIMATED,
    JOINT_CONE,
    MIMIC_LOST,
    MIMIC_SOFTNESS,
    SPRING_LOST,
    report_lost,
)
from simwright.engines.newton.types import ModelBuilder
from simwright.model import flat_joints
from simwright.model.asset import Actuator, Articulation, Asset
from simwright.model.coordinates import Coupling, list_couplings, plan_closures
from simwright.model.filtering import find_filtered_pairs
from simwright.model.flat_joints import find_single_dofs, is_plain, set_servo
from simwright.model.joint import Dof, Joint, JointKind, Mimic, Motion

if TYPE_CHECKING:
    from pxr import Usd

PASSIVE_STIFFNESS = "mujoco:dof_passive_stiffness"
SPRING_REFERENCE = "mujoco:dof_springref"
REFERENCE = "mujoco:dof_ref"


def reverse_joint(joint: Joint, reporter: Reporter) -> Joint:
    """The same joint seen from its child: frames exchanged, motions inverted and in the opposite order."""
    return flat_joints.reverse_joint(joint, _say(reporter))


def _say(reporter: Reporter) -> flat_joints.Approximate:
    def approximate(joint: Joint, as_what: str, why: str) -> None:
        reporter.report(JOINT_APPROXIMATED, joint.source, name=joint.name, as_what=as_what, why=why)

    return approximate


def _list_arguments(placement: flat_joints.JointPlacement) -> dict[str, Any]:
    """Keyword arguments that every ``add_joint_*`` takes."""
    return {
        "child": placement.child,
        "parent": placement.parent,
        "parent_xform": pose_to_seven(placement.parent_frame),
        "child_xform": pose_to_seven(placement.child_frame),
        "label": placement.label,
        "collision_filter_parent": placement.filter_parent,
        "enabled": placement.enabled,
    }


def add_joint(
    builder: ModelBuilder, joint: Joint, placement: flat_joints.JointPlacement, reporter: Reporter
) -> int:
    """Add one joint and its initial coordinates; gives its index."""
    dofs, placement = flat_joints.move_anchor(joint, placement, _say(reporter), "Newton has")
    given = _list_arguments(placement)
    motions = [dof.motion for dof in dofs]
    if joint.kind is JointKind.DISTANCE:
        low, high = flat_joints.bound_distance(joint)
        index = builder.add_joint_distance(min_distance=low, max_distance=high, **given)
    elif not dofs:
        index = builder.add_joint_fixed(**given)
    elif motions == [Motion.FREE]:
        index = builder.add_joint_free(**given)
    elif motions == [Motion.BALL]:
        index = _add_ball(builder, joint, dofs[0], given, reporter)
    elif motions == [Motion.HINGE] and joint.kind is not JointKind.D6:
        index = builder.add_joint_revolute(axis=_build_axis(builder, dofs[0], reporter, joint), **given)
    elif motions == [Motion.SLIDE] and joint.kind is not JointKind.D6:
        index = builder.add_joint_prismatic(axis=_build_axis(builder, dofs[0], reporter, joint), **given)
    else:
        index, dofs = _add_generic(builder, joint, dofs, given, reporter)
    flat_joints.set_state(builder, index, dofs)
    return int(index)


def _add_ball(
    builder: ModelBuilder, joint: Joint, dof: Dof, given: dict[str, Any], reporter: Reporter
) -> int:
    if dof.swing is not None:
        reporter.report(JOINT_CONE, joint.source, name=joint.name)
    return int(
        builder.add_joint_ball(armature=dof.armature, friction=dof.friction, damping=dof.damping, **given)
    )


def _add_generic(
    builder: ModelBuilder, joint: Joint, dofs: list[Dof], given: dict[str, Any], reporter: Reporter
) -> tuple[int, list[Dof]]:
    """A D6: slides first, then hinges; gives the freedoms in that order."""
    slides, hinges = flat_joints.order_axes(joint, dofs, _say(reporter))
    index = builder.add_joint_d6(
        linear_axes=[_build_axis(builder, dof, reporter, joint) for dof in slides],
        angular_axes=[_build_axis(builder, dof, reporter, joint) for dof in hinges],
        **given,
    )
    return int(index), [*slides, *hinges]


_TARGETS = ("target_ke", "target_kd", "target_pos", "target_vel")


def _build_axis(builder: ModelBuilder, dof: Dof, reporter: Reporter, joint: Joint) -> Any:
    """Newton's description of one axis; what the model does not say is the builder's default."""
    default = builder.default_joint_cfg
    values = {
        "armature": dof.armature,
        "friction": dof.friction,
        "damping": dof.damping,
        "effort_limit": dof.effort_limit,
        "velocity_limit": dof.velocity_limit,
        "limit_ke": dof.limit_stiffness,
        "limit_kd": dof.limit_damping,
    }
    # None is "not said": Newton's default of the builder counts
    for name, value in values.items():
        if value is None:
            values[name] = getattr(default, name)
    stop = flat_joints.bound_stop(dof, values["limit_ke"] or 0.0, values["limit_kd"] or 0.0)
    values["limit_ke"], values["limit_kd"] = stop
    if dof.drive is not None and dof.drive.acceleration:
        reporter.report(DRIVE_ACCELERATION, joint.source, name=joint.name)
    values |= flat_joints.list_drive(dof)
    if dof.drive is None and joint.kind is not JointKind.D6:
        # which push once a program sets the mode
        values |= {name: getattr(default, name) for name in _TARGETS}
    values |= {"limit_lower": dof.lower - dof.ref, "limit_upper": dof.upper - dof.ref}
    axis = tuple(float(v) for v in dof.axis)
    kind: Any = type(default)
    return _make_axis(kind, axis, _choose_mode(dof), tuple(values.items()))


@lru_cache(maxsize=1024)
def _make_axis(
    kind: type[Any], axis: tuple[float, ...], mode: Any, values: tuple[tuple[str, float], ...]
) -> Any:
    """Newton's description of an axis, one for all that are the same: each normalises its axis in a call of Warp."""
    return kind(axis=axis, actuator_mode=mode, **dict(values))


@lru_cache(maxsize=1)
def _make_free_axes() -> tuple[Any, ...]:
    """The axes that Newton gives to free joints, made once: six for every body take most of an import of many."""
    import newton

    axes = (newton.Axis.X, newton.Axis.Y, newton.Axis.Z)
    return tuple(newton.ModelBuilder.JointDofConfig.create_unlimited(axis) for axis in axes)


def _add_free(builder: ModelBuilder, child: int) -> int:
    """A free joint to the world that stands where its body does: what ``add_joint_free(child)`` adds."""
    import newton

    axes = list(_make_free_axes())
    index = int(
        builder.add_joint(newton.JointType.FREE, -1, child, linear_axes=axes, angular_axes=list(axes))
    )
    at = builder.joint_q_start[index]
    builder.joint_q[at : at + 7] = [float(v) for v in builder.body_q[child]]
    return index


def _choose_mode(dof: Dof) -> Any:
    import newton

    return newton.JointTargetMode[flat_joints.choose_mode(dof)]


def drive_both(builder: ModelBuilder, index: int) -> None:
    """Let freedoms that have both gains be driven by position and velocity targets."""
    import newton

    flat_joints.drive_both(builder, index, newton.JointTargetMode)


def set_springs(builder: ModelBuilder, index: int, joint: Joint, reporter: Reporter) -> None:
    """Passive springs and references are custom attributes of Newton's MuJoCo solver."""
    at = builder.joint_qd_start[index]
    for dof in joint.dofs:
        single = dof.motion in (Motion.HINGE, Motion.SLIDE)
        for key, value in (
            (PASSIVE_STIFFNESS, dof.stiffness),
            (SPRING_REFERENCE, dof.spring_ref if single else None),
            (REFERENCE, dof.ref if single and dof.ref else None),
        ):
            if value is not None and builder.has_custom_attribute(key):
                values = builder.custom_attributes[key].values
                # one value of the model for each velocity of the dof
                values |= {at + number: float(value) for number in range(dof.velocities)}
        at += dof.velocities
    if any(dof.stiffness for dof in joint.dofs) and not builder.has_custom_attribute(PASSIVE_STIFFNESS):
        reporter.report(SPRING_LOST, joint.source, name=joint.name)


def check_roots(builder: ModelBuilder, choices: Choices, xform: Pose | None) -> None:
    """Refuse choices that contradict each other, before anything is added."""
    if choices.floating is not None and choices.base_joint is not None:
        raise UsageError("Cannot specify both floating and base_joint: each says what holds the root")
    if choices.floating is True and choices.parent_body != -1:
        raise UsageError("a FREE joint leads to the world, not to parent_body", hint="use base_joint")
    if choices.override_root_xform and xform is None:
        raise UsageError("override_root_xform places the root at xform, which is not given")
    if not -1 <= choices.parent_body < builder.body_count:
        raise UsageError(f"there is no body {choices.parent_body} in the builder for parent_body")
    if choices.parent_body != -1:
        find_articulation(builder, choices.parent_body)


def find_articulation(builder: ModelBuilder, body: int) -> int:
    """The articulation of a body, which has to be the last one: joints of an articulation stand side by side."""
    holders = (builder.joint_articulation[j] for j, child in enumerate(builder.joint_child) if child == body)
    found = next((int(number) for number in holders if number >= 0), -1)
    if found < 0:
        raise UsageError(
            f"parent_body {body} is not part of any articulation", hint="give it a joint and an articulation"
        )
    # joints added now come behind all others: they can only extend the last articulation
    if found != builder.articulation_count - 1:
        raise UsageError(
            f"parent_body {body} is in articulation {found}, which is not the most recent one",
            hint="import what hangs on a robot right after the robot",
        )
    return found


def hold_root(builder: ModelBuilder, child: int, choices: Choices, base: Pose) -> int:
    """The joint of a body that nothing in the asset holds; gives its index."""
    parent = choices.parent_body
    # under a parent body the root is placed by xform, not by its pose in the asset
    place = builder.body_q[child] if parent == -1 else pose_to_seven(base)
    if choices.base_joint is not None:
        taken = sorted({"parent", "child", "parent_xform"} & choices.base_joint.keys())
        if taken:
            raise UsageError(f"base_joint cannot specify {taken[0]!r}, which the import sets")
        return int(builder.add_joint(parent=parent, child=child, parent_xform=place, **choices.base_joint))
    # a free joint below a body would be a second base
    if choices.floating is False or parent != -1:
        return int(builder.add_joint_fixed(parent, child, parent_xform=place))
    return _add_free(builder, child)


def close_articulation(builder: ModelBuilder, joints: list[int], label: str, parent_body: int) -> int:
    """Make the joints an articulation, or a part of that of ``parent_body``; gives its index."""
    if parent_body == -1:
        builder.add_articulation(joints, label=label)
        return int(builder.articulation_count) - 1
    found = find_articulation(builder, parent_body)
    for joint in joints:
        builder.joint_articulation[joint] = found
    builder.articulation_end[found] = max(builder.articulation_end[found], max(joints) + 1)
    return found


def find_root_poses(asset: Asset, stage: Usd.Stage) -> dict[str, Pose]:
    """Where the root of every articulation stands, its axes up as those of the asset: its body, or its prim."""
    if stage is None:
        return {found.name: _find_body_pose(asset, found) or IDENTITY for found in asset.articulations}
    from simwright.formats.usd.units import UP_ROTATIONS, Units
    from simwright.usd.xform import read_world

    # as the asset was read, which may be otherwise than the stage says where it says nothing
    info = asset.provenance.info
    up = str(info["upAxis"])
    units = Units(float(info["metersPerUnit"]), 1.0, up, UP_ROTATIONS[up])
    poses = {}
    for articulation in asset.articulations:
        pose = _find_body_pose(asset, articulation)
        # declared on a prim that is not a body, such as the robot's Xform
        prim = stage.GetPrimAtPath(articulation.path) if pose is None and articulation.path else None
        if prim:
            world = read_world(prim).pose
            pose = units.turn @ Pose(world.p * units.length, world.q)
        # without the turn that brings the stage to Z up: the caller's xform has its own
        poses[articulation.name] = (pose or units.turn) @ ~units.turn
    return poses


def _find_body_pose(asset: Asset, articulation: Articulation) -> Pose | None:
    for body in asset.bodies:
        if body.name == articulation.root or (body.path and body.path == articulation.path):
            return body.pose
    return None


_LABEL = "mujoco:actuator_label"


def set_mimics(
    builder: ModelBuilder, asset: Asset, joints: dict[str, int], reporter: Reporter, *, partial: bool
) -> None:
    """Let followers follow; one that follows a follower follows its leader instead.

    A relation that Newton cannot hold is reported, and raises unless ``partial`` imports are wanted.
    """
    couplings = list(list_couplings(asset))
    done: set[tuple[int, int]] = set()
    for coupling in couplings:
        mimic, indices = coupling.mimic, coupling.find_indices(joints)
        if coupling.is_bent:
            why = "its relation is not linear; the linear part is used"
            reporter.report(MIMIC_LOST, mimic.source, follower=mimic.follower, leader=mimic.leader, why=why)
        # Newton couples whole joints: the first of their freedoms stands for all
        if indices in done:
            continue
        if indices is None:
            why = "one of them is not in the model"
        elif indices[0] == indices[1]:
            why = "it leads back to itself"
        else:
            refusal = _couple(builder, coupling, couplings, indices)
            if not refusal:
                done.add(indices)
                _report_softness(asset, mimic, reporter)
                continue
            why = refusal
        reporter.report(MIMIC_LOST, mimic.source, follower=mimic.follower, leader=mimic.leader, why=why)
        if indices is not None and indices[0] != indices[1] and not partial:
            raise UsageError(
                f"{mimic.follower!r} cannot follow {mimic.leader!r} in Newton: {why}",
                where=mimic.source,
                hint="correct the mimic, or import the rest of the stage with allow_partial=True",
            )


def _couple(
    builder: ModelBuilder, coupling: Coupling, couplings: list[Coupling], indices: tuple[int, int]
) -> str:
    """Couple two joints; empty if that went well, else the reason why not."""
    if not _is_whole(coupling, couplings):
        return (
            "it was merged into a multi-DOF joint, and Newton couples whole joints with matching position and "
            "velocity dimensions"
        )
    try:
        builder.set_joint_mimic(*indices, coeffs=(coupling.offset, coupling.multiplier))
    # Newton knows best which pairs of joints it can couple
    except ValueError as error:
        return str(error)
    return ""


def _is_whole(coupling: Coupling, couplings: list[Coupling]) -> bool:
    """Do all freedoms of a follower follow one joint by one relation?"""
    freedoms = 1 if coupling.follower is None else len(coupling.follower.dofs)
    alike = (
        c
        for c in couplings
        if c.follower is coupling.follower
        and c.leader is coupling.leader
        and (c.offset, c.multiplier) == (coupling.offset, coupling.multiplier)
    )
    return freedoms == 1 or sum(1 for _ in alike) == freedoms


def _report_softness(asset: Asset, mimic: Mimic, reporter: Reporter) -> None:
    """Say what is lost of a joint equality that is not as stiff as MuJoCo has it by default."""
    kept = asset.extras.table.get("mjc", {})
    said = {
        word
        # a stage keeps the attribute under the prim, an MJCF file under kind and name
        for element in (mimic.source.prim, f"equality/{mimic.name}")
        for word in ("solref", "solimp")
        if {word, f"mjc:{word}"} & kept.get(element, {}).keys()
    }
    if said:
        what = " and ".join(sorted(said, reverse=True))
        reporter.report(MIMIC_SOFTNESS, mimic.source, follower=mimic.follower, leader=mimic.leader, what=what)


def add_equalities(
    builder: ModelBuilder, asset: Asset, bodies: dict[str, int], base: Pose, reporter: Reporter
) -> dict[str, int]:
    """Connects become ball joints and welds fixed joints that close loops; gives their indices."""
    added: dict[str, int] = {}
    closures, lost = plan_closures(asset, bodies, base)
    for closure in closures:
        equality = closure.equality
        add = builder.add_joint_ball if closure.is_point else builder.add_joint_fixed
        added[equality.name] = int(
            add(
                closure.parent,
                closure.child,
                parent_xform=pose_to_seven(closure.parent_frame),
                child_xform=pose_to_seven(closure.child_frame),
                label=equality.source.prim or equality.name,
                collision_filter_parent=False,
            )
        )
    report_lost(reporter, "equalities", lost)
    return added


def report_tendons(builder: ModelBuilder, asset: Asset, reporter: Reporter) -> None:
    """Tendons are rows of the MuJoCo solver, where it has read them."""
    labels = builder.custom_attributes.get("mujoco:tendon_label")
    rows = {str(label) for label in labels.values} if labels is not None and labels.values else set()
    report_lost(reporter, "tendons", [tendon for tendon in asset.tendons if tendon.source.prim not in rows])


def add_filters(builder: ModelBuilder, asset: Asset, shapes: dict[str, int]) -> None:
    """Pairs that never touch, except those the builder has from joints."""
    # joints filter their bodies when they are added
    # not the public list: to ask for it makes Newton give up its compact form, which a later import needs
    pairs = getattr(builder, "_shape_collision_filter_pairs", None)
    pairs = builder.shape_collision_filter_pairs if pairs is None else pairs
    known = {tuple(sorted(pair)) for pair in pairs}
    for names in sorted(find_filtered_pairs(asset)):
        pair = tuple(sorted(shapes[name] for name in names if name in shapes))
        if len(pair) == 2 and pair not in known:
            builder.add_shape_collision_filter_pair(*pair)


def set_motors(
    builder: ModelBuilder, asset: Asset, joints: dict[str, int], reporter: Reporter, made: set[str]
) -> None:
    """Put every motor of an asset into the builder, where it has a place for it; ``made`` are there already."""
    places = find_single_dofs(builder, asset.joints, joints)
    rows = _find_rows(builder)
    lost: list[Actuator] = []
    for actuator in (found for found in asset.actuators if found.path not in made):
        at = places.get(actuator.target) if is_plain(actuator) else None
        row = rows.get(actuator.path)
        if row is None:
            lost += [] if _set_drive(builder, actuator, at) else [actuator]
        elif at is not None and actuator.kind in ("position", "velocity"):
            _set_drive(builder, actuator, at, bounded=False)
            _drive_row(builder, actuator, row, at)
    report_lost(reporter, "actuators", lost)


def _set_drive(builder: ModelBuilder, actuator: Actuator, at: int | None, *, bounded: bool = True) -> bool:
    """A plain motor or servo as the drive of its dof; False where Newton's drives cannot be that.

    ``bounded`` drives take the force range as their effort limit; a row of the MuJoCo solver has its own.
    """
    import newton

    if at is None or actuator.kind not in ("position", "velocity", "motor"):
        return False
    if actuator.kind == "motor":
        builder.joint_target_mode[at] = int(newton.JointTargetMode.EFFORT)
    else:
        set_servo(builder, actuator, at, newton.JointTargetMode)
    if bounded and actuator.force_range is not None:
        builder.joint_effort_limit[at] = max(abs(bound) for bound in actuator.force_range)
    return True


def _find_rows(builder: ModelBuilder) -> dict[str, int]:
    """Rows of the MuJoCo solver's motors by prim path."""
    labels = builder.custom_attributes.get(_LABEL)
    values = (labels.values or ()) if labels is not None else ()
    return {str(label): row for row, label in enumerate(values)} if isinstance(values, list) else {}


def _drive_row(builder: ModelBuilder, actuator: Actuator, row: int, at: int) -> None:
    """Let the targets of the freedom drive a row, rather than a control of its own."""
    import newton
    import warp

    solver = newton.solvers.SolverMuJoCo
    kind = solver.CtrlType.POSITION if actuator.kind == "position" else solver.CtrlType.VELOCITY
    for name, value in (
        ("ctrl_source", int(solver.CtrlSource.JOINT_TARGET)),
        ("actuator_trnid", warp.vec2i(at, 0)),
        ("ctrl_type", int(kind)),
    ):
        attribute = builder.custom_attributes.get(f"mujoco:{name}")
        if attribute is not None:
            attribute.values[row] = value
