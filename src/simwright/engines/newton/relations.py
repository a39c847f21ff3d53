# SPDX-License-Identifier: Apache-2.0
"""What relates elements that are there already: mimics, equalities and pairs that never touch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simwright.core.diag import Reporter
from simwright.core.math3d import IDENTITY, Pose, pose_to_seven
from simwright.engines.newton.messages import MIMIC_LOST, MIMIC_SOFTNESS, report_lost
from simwright.engines.newton.result import Imported
from simwright.engines.newton.types import ModelBuilder
from simwright.model.asset import Actuator, Asset
from simwright.model.coupling import list_couplings, plan_closures
from simwright.model.filtering import find_filtered_pairs
from simwright.model.flat_joints import find_single_dofs, is_plain, set_servo
from simwright.model.joint import WORLD, Joint, Mimic

if TYPE_CHECKING:
    from pxr import Usd

_LABEL = "mujoco:actuator_label"
FREQUENCY = "mujoco:equality_constraint"
_KINDS = {"MjcEqualityConnectAPI": 0, "MjcEqualityWeldAPI": 1}
_BODY = 1
_OF_JOINT = 1
"""What a row is about: bodies (MuJoCo's object type), and what stands for it in Newton: a joint."""
_SOFT: dict[str, tuple[float, ...]] = {
    "mujoco:eq_solref": (0.02, 1.0),
    "mujoco:eq_solimp": (0.9, 0.95, 0.001, 0.5, 2.0),
}
"""MuJoCo's own, for an equality that says nothing."""


def set_mimics(builder: ModelBuilder, asset: Asset, joints: dict[str, int], reporter: Reporter) -> None:
    """Let followers follow; one that follows a follower follows its leader instead."""
    for coupling in list_couplings(asset):
        mimic, indices = coupling.mimic, coupling.find_indices(joints)
        if coupling.is_bent:
            why = "its relation is not linear; the linear part is used"
            reporter.report(MIMIC_LOST, mimic.source, follower=mimic.follower, leader=mimic.leader, why=why)
        if indices is None:
            why = "one of them is not in the model"
        elif indices[0] == indices[1]:
            why = "it leads back to itself"
        else:
            try:
                builder.set_joint_mimic(*indices, coeffs=(coupling.offset, coupling.multiplier))
                _report_softness(asset, mimic, reporter)
                continue
            # Newton knows best which pairs of joints it can couple
            except ValueError as error:
                why = str(error)
        reporter.report(MIMIC_LOST, mimic.source, follower=mimic.follower, leader=mimic.leader, why=why)


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
    known = {tuple(sorted(pair)) for pair in builder.shape_collision_filter_pairs}
    for names in sorted(find_filtered_pairs(asset)):
        pair = tuple(sorted(shapes[name] for name in names if name in shapes))
        if len(pair) == 2 and pair not in known:
            builder.add_shape_collision_filter_pair(*pair)


def set_motors(builder: ModelBuilder, asset: Asset, joints: dict[str, int], reporter: Reporter) -> None:
    """Put every motor of an asset into the builder, where it has a place for it."""
    places = find_single_dofs(builder, asset.joints, joints)
    rows = _find_rows(builder)
    lost: list[Actuator] = []
    for actuator in asset.actuators:
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


def add_equality_rows(builder: ModelBuilder, stage: Usd.Stage, result: Imported, base: Pose) -> None:
    """A row for every joint of the stage that is a connect or a weld."""
    # what counts as such a joint is asked of the prim, row by row
    if f"{FREQUENCY}_type" not in builder.custom_attributes:
        return
    import newton

    attributes = [
        attribute
        for attribute in builder.custom_attributes.values()
        if attribute.frequency == FREQUENCY and attribute.usd_attribute_name
    ]
    for joint in result.asset.joints:
        index = result.joints.get(joint.name)
        prim = stage.GetPrimAtPath(joint.path) if joint.closes_loop and joint.path else None
        if index is None or not prim:
            continue
        for api, kind in _KINDS.items():
            if newton.usd.has_applied_api_schema(prim, api):
                soft = newton.usd.get_custom_attribute_values(prim, attributes, context={"builder": builder})
                words = _describe_row(result, joint, kind, base)
                words |= {"world": builder.current_world, "target_kind": _OF_JOINT, "target": index}
                row = {f"{FREQUENCY}_{name}": value for name, value in words.items()}
                for key, fallback in _SOFT.items():
                    row[key] = soft.get(key, builder.custom_attributes[key].dtype(*fallback))
                builder.add_custom_values(**row)


def _describe_row(result: Imported, joint: Joint, kind: int, base: Pose) -> dict[str, Any]:
    """The point of a connect is given on its first body, that of a weld on its second."""
    import warp

    on_parent = (base if joint.parent == WORLD else IDENTITY) @ joint.parent_frame
    on_child = (base if joint.child == WORLD else IDENTITY) @ joint.child_frame
    is_weld = kind == _KINDS["MjcEqualityWeldAPI"]
    scale = result.asset.extras.get("mjc", joint.path, "mjc:torqueScale", 1.0) if is_weld else 0.0
    relative = on_parent @ ~on_child if is_weld else IDENTITY
    return {
        "type": kind,
        "objtype": _BODY,
        "body1": result.bodies.get(joint.parent, -1),
        "body2": result.bodies.get(joint.child, -1),
        "anchor": warp.vec3(*(float(v) for v in (on_child if is_weld else on_parent).p)),
        "torquescale": float(scale),
        "relpose": warp.transform(*pose_to_seven(relative)),
        "joint1": -1,
        "joint2": -1,
        "polycoef": [0.0] * 5,
        "label": joint.path,
        "enabled": joint.enabled,
    }
