# SPDX-License-Identifier: Apache-2.0
"""An asset without what a scenario of motion is not about.

Bodies carry their masses and inertias in numbers afterwards, because shapes are left out.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from simwright.core.math3d import Pose
from simwright.model.asset import Asset
from simwright.model.elements import Shape
from simwright.model.joint import WORLD, Equality, EqualityKind, Joint, JointKind, Motion
from simwright.model.kinematics import build_tree, forward_kinematics
from simwright.model.mass import body_inertials

_LOOKS = (
    "materials", "look_variants", "sensors", "cameras", "lights", "interfaces", "contexts", "keyframes",
)  # fmt: skip


class NothingToMoveError(Exception):
    """The asset has nothing that a scenario is about; the message says what."""


def require(there: bool, missing: str) -> None:
    """Raise ``NothingToMoveError`` where the asset has nothing of what a scenario is about."""
    if not there:
        raise NothingToMoveError(missing)


def leave_looks(asset: Asset) -> Asset:
    """A copy without what is only seen or measured, which takes engines most of the time to read and decides nothing.

    A shape stays that a body without numbers has its mass of, or that a tendon is wrapped about.
    """
    machine = asset.copy()
    weighed = {body.name for body in asset.bodies if body.inertial is not None} | {WORLD}
    wrapped = {point.name for tendon in asset.tendons for point in tendon.path if point.kind == "wrap"}
    machine.shapes = [
        shape
        for shape in machine.shapes
        if shape.collision or shape.body not in weighed or shape.name in wrapped
    ]
    for shape in machine.shapes:
        shape.material, shape.color = "", None
    for body in machine.bodies:
        # models within others become parents of prims, and their links have the same names
        body.scope = ""
    leave_lists(machine, *_LOOKS)
    machine.motion = None
    return machine


SOFTNESS = "loop softness"
"""How soft the asset says the constraints are that close loops; without it they are as MuJoCo makes them unasked."""
GIVE = "loop give"
"""That loops give way at all: MuJoCo's are springs, those of engines that solve for impulses are rigid."""
POINTS = "loop points"
"""That a hinge which closes a loop is held at two points on either side of its anchor, as our MJCF says it."""
_BESIDE = 0.1
"""Where others have the second point, on the axis [m]; the first one is the anchor."""
_HARD_SOLREF, _HARD_SOLIMP = (0.002, 1.0), (0.999, 0.9999, 0.001, 0.5, 2.0)
"""Time constant [s] and damping ratio, impedances and their width [m]: a loop that hardly gives way."""


def make_bare(asset: Asset, *, keep_mimics: bool = False, keep_loops: bool = False) -> Asset:
    """Links, joints, springs and dampers: no drives, no friction, no limits, no shapes."""
    bare = asset.copy()
    leave_shapes(bare, ())
    leave_lists(
        bare, "sensors", "cameras", "lights", "interfaces", "contexts", "controllers", "keyframes", "actuators",
        "tendons", "sites", "custom_attributes",
    )  # fmt: skip
    if not keep_loops:
        bare.equalities = []
        loops = {id(joint) for joint in build_tree(bare).loops}
        bare.joints = [joint for joint in bare.joints if not joint.closes_loop and id(joint) not in loops]
    else:
        bare.equalities = [one for one in bare.equalities if one.kind is not EqualityKind.TENDON]
    if not keep_mimics:
        bare.mimics = []
    for joint in bare.joints:
        for dof in joint.dofs:
            if dof.motion in (Motion.HINGE, Motion.SLIDE):  # where a base floats is said by its coordinates
                dof.position = None
            dof.drive, dof.friction, dof.velocity = None, None, None
            dof.lower, dof.upper, dof.swing = -math.inf, math.inf, None
            dof.limit_stiffness = dof.limit_damping = dof.effort_limit = dof.velocity_limit = None
    return bare


def leave_shapes(asset: Asset, kept: Sequence[Shape]) -> None:
    """Keep some shapes only; masses that follow from shapes become numbers."""
    inertials = body_inertials(asset)
    for body in asset.bodies:
        body.inertial, body.density = inertials[body.name], None
    asset.shapes = list(kept)
    leave_lists(
        asset,
        "materials",
        "look_variants",
        "collision_groups",
        "contact_filters",
        "contact_pairs",
        "articulations",
    )
    if not kept:
        asset.physics_materials = []
    asset.motion = None


def leave_lists(asset: Asset, *names: str) -> None:
    """Take all elements of these kinds out."""
    for name in names:
        setattr(asset, name, [])


def leave_out(asset: Asset, without: Collection[str]) -> None:
    """Take properties of joints out that an engine or its format has no place for."""
    if "mimics" in without:
        asset.mimics = []
    for word, change in _LOOP_CHANGES.items():
        if word in without:
            change(asset)
    if "axes" in without:
        for joint in _list_of_axes(asset):
            joint.kind, joint.dofs = JointKind.FIXED, []
    for joint in asset.joints:
        for dof in joint.dofs:
            if "armature" in without:
                dof.armature = None
            if "springs" in without:
                dof.stiffness = dof.spring_ref = None
            if "friction" in without:
                dof.friction = None
            if "damping" in without:
                dof.damping = None


def _leave_softness(asset: Asset) -> None:
    for elements in asset.extras.table.values():
        for attributes in elements.values():
            for name in [name for name in attributes if _is_softness(name)]:
                del attributes[name]


def _move_loop_points(asset: Asset) -> None:
    hinges = {id(joint): joint for joint in list_loop_hinges(asset)}
    asset.joints = [joint for joint in asset.joints if id(joint) not in hinges]
    for joint in hinges.values():
        (dof,) = joint.dofs
        for place in (0.0, _BESIDE):
            point = Pose.of(dof.anchor + dof.axis * place)
            frames = joint.parent_frame @ point, joint.child_frame @ point
            name = f"{joint.name}_{place:g}"
            asset.equalities.append(Equality(name, EqualityKind.CONNECT, joint.parent, joint.child, *frames))


def list_loop_hinges(asset: Asset) -> list[Joint]:
    """Hinges that close loops."""
    return [
        joint for joint in build_tree(asset).loops if [dof.motion for dof in joint.dofs] == [Motion.HINGE]
    ]


def _make_loops_hard(asset: Asset) -> None:
    _leave_softness(asset)
    closing = [f"equality/{one.name}" for one in asset.equalities]
    closing += [f"joint/{joint.name}" for joint in build_tree(asset).loops]
    for element in closing:
        asset.extras.keep("mjc", element, "solref", list(_HARD_SOLREF))
        asset.extras.keep("mjc", element, "solimp", list(_HARD_SOLIMP))


def has_softness(asset: Asset) -> bool:
    """Whether the file says how soft its constraints are, in MuJoCo's words."""
    return any(_is_softness(name) for _, _, name, _ in asset.extras)


def _is_softness(attribute: str) -> bool:
    return attribute.rpartition(":")[2] in ("solref", "solimp")


_LOOP_CHANGES = {SOFTNESS: _leave_softness, POINTS: _move_loop_points, GIVE: _make_loops_hard}


def leave_air(asset: Asset) -> None:
    """Without wind and drag, which MuJoCo alone has, and counts by inertia."""
    for word in ("density", "viscosity"):
        asset.environment.settings.pop(word, None)
    asset.environment.wind = None


def has_loop(asset: Asset) -> bool:
    """Whether links are closed to a loop, by a joint or by an equality."""
    kinds = (EqualityKind.CONNECT, EqualityKind.WELD)
    return any(one.enabled and one.kind in kinds for one in asset.equalities) or bool(build_tree(asset).loops)


def has_axes(asset: Asset) -> bool:
    """Whether a joint turns or slides along several axes."""
    return bool(_list_of_axes(asset))


def _list_of_axes(asset: Asset) -> list[Joint]:
    return [
        joint
        for joint in asset.joints
        if len(joint.dofs) > 1 and all(dof.motion in (Motion.HINGE, Motion.SLIDE) for dof in joint.dofs)
    ]


def hold_base(asset: Asset) -> None:
    """Fix roots that float to the world where they are, so that gravity pulls at the joints."""
    poses = let_float(asset)
    names = {joint.name for joint in asset.joints}
    for root in build_tree(asset).roots:
        name = next(
            name for number in range(len(names) + 1) if (name := f"held_{root}_{number}") not in names
        )
        joint = Joint(name, JointKind.FIXED, WORLD, root, parent_frame=poses[root])
        asset.joints.append(joint)


def let_float(asset: Asset) -> dict[str, Pose]:
    """Take out joints that let a base float, which hold nothing; gives where bodies are."""
    poses = forward_kinematics(asset, {joint.name: joint.initial() for joint in _list_floating(asset)})
    floating = {id(joint) for joint in _list_floating(asset)}
    asset.joints = [joint for joint in asset.joints if id(joint) not in floating]
    for body in asset.bodies:
        body.pose = poses[body.name]
    return dict(poses)


def _list_floating(asset: Asset) -> list[Joint]:
    return [
        joint
        for joint in asset.joints
        if joint.parent == WORLD and any(dof.motion is Motion.FREE for dof in joint.dofs)
    ]
