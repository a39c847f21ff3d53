# SPDX-License-Identifier: Apache-2.0
"""A copy of the asset made ready for REP-0158: frames are no bodies, every collider has a contact material.

A body without mass that is fixed to another one becomes a site of that one, and what hung on it hangs on the other;
positions do not change, and who may touch whom does not either.

In assets for one engine that has no joint of several freedoms, such a joint becomes a chain of joints of one.  Links of
next to no mass come between the two that it connects, so that each freedom has its own anchor, axis, armature, damping
and mimic.  They are noted as what they are, and the way back gives the one joint again.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import numpy as np

from simwright.core.diag import Reporter
from simwright.core.math3d import IDENTITY, Pose
from simwright.core.names import NameScope
from simwright.formats.usd.writer.joints import find_joint_prim
from simwright.formats.usd.writer.messages import (
    BODY_BARE,
    CONTACT_COMPLETED,
    CONTACT_GUESSED,
    FRAME_FOLDED,
    INERTIA_IMPOSSIBLE,
    INERTIA_MISSING,
    LOCK_WIDE,
    MASS_MISSING,
    OUTLINE_MESHED,
    PLANE_THICK,
    SETTING_LOST,
)
from simwright.formats.usd.writer.plan import Chains, WritePlan
from simwright.model.asset import Asset, Body, ContactFilter, Site
from simwright.model.coordinates import find_references, shift_coordinates
from simwright.model.extras import is_fallback
from simwright.model.folding import hang_over, note_folded
from simwright.model.geometry import Box, Mesh, Plane, Polyline
from simwright.model.inertia import (
    LEAST_MASS,
    LEAST_MOMENT,
    POINT_INERTIA,
    find_nearest_moments,
    weigh_between,
)
from simwright.model.joint import WORLD, Dof, Joint, JointKind, Motion
from simwright.model.kinematics import build_tree
from simwright.model.mass import body_inertials
from simwright.model.material import PhysicsMaterial
from simwright.model.moments import outline_solid
from simwright.model.ros import OPTICAL, find_optical

_KINDS = {Motion.HINGE: JointKind.REVOLUTE, Motion.SLIDE: JointKind.PRISMATIC, Motion.BALL: JointKind.BALL}
_COMMON = ("armature", "friction", "damping", "velocity_limit")
"""What a joint prim says once for all its axes, in the words of Newton, which PhysX reads too."""


def chain_freedoms(asset: Asset, engine: str) -> Chains:
    """Divide the joints of an asset that is written for an engine, where the engine needs it."""
    chains = Chains()
    if engine not in ("newton", "isaac"):
        return chains
    tree = build_tree(asset)
    loops = {joint.name for joint in tree.loops}
    coupled = {name for mimic in asset.mimics for name in (mimic.follower, mimic.leader)}
    # how many joints of the tree each body has: one that has a single joint is an articulation of its own
    uses = Counter(end for edge in tree.edges for end in {edge.parent, edge.child})
    joints: list[Joint] = []
    for joint in asset.joints:
        needs = is_mounted = False
        if joint.name not in loops and _is_plain(joint):
            single = uses[joint.child] == 1
            needs, is_mounted = _choose_parts(joint, engine, coupled, is_single=single)
        joints += _divide(asset, joint, chains, engine, is_mounted=is_mounted) if needs else [joint]
    asset.joints = joints
    return chains


def lend_moments(asset: Asset) -> None:
    """Give tiny links that are fixed to others the moments that Newton wants, and take them from the others.

    Both turn together, so that the two as one have the inertia of the source.  Newton (1.7) would add 1e-6 kg m^2.
    """
    bodies = {body.name: body for body in asset.bodies}
    for joint in asset.joints:
        tiny, host = bodies.get(joint.child), bodies.get(joint.parent)
        if joint.kind is not JointKind.FIXED or not joint.enabled or tiny is None or host is None:
            continue
        if tiny.inertial is None or host.inertial is None or not tiny.inertial.inertia.any():
            continue
        moments, given = (np.linalg.eigvalsh(body.inertial.inertia) for body in (tiny, host) if body.inertial)
        lent = LEAST_MOMENT - float(moments.min())
        left = given - lent
        # a host that is flat or tiny itself has nothing to give
        if lent > 0.0 and left.min() > LEAST_MOMENT and np.array_equal(find_nearest_moments(left), left):
            tiny.inertial = replace(
                tiny.inertial, inertia=tiny.inertial.inertia + np.eye(3) * lent, given=None
            )
            host.inertial = replace(
                host.inertial, inertia=host.inertial.inertia - np.eye(3) * lent, given=None
            )


def _choose_parts(joint: Joint, engine: str, coupled: set[str], *, is_single: bool) -> tuple[bool, bool]:
    """Is a joint divided, and does a mount come before it?  ``is_single``: its child has no other joint."""
    on_world = joint.parent == WORLD
    if engine == "newton":
        # a single joint is in no articulation there, so a mount makes it two
        alone = on_world and is_single
        return _needs_newton(joint, coupled) or alone, alone and len(joint.dofs) == 1
    # the first joint of an articulation of PhysX is fixed, or its body floats
    return _needs_physx(joint) or on_world, on_world


def _is_plain(joint: Joint) -> bool:
    """Does it connect two links of the tree by hinges, slides and balls alone?"""
    motions = {dof.motion for dof in joint.dofs}
    connects = joint.enabled and joint.gear is None and joint.distance is None and not joint.closes_loop
    return connects and bool(motions) and Motion.FREE not in motions


def _needs_newton(joint: Joint, coupled: set[str]) -> bool:
    """Newton (1.7) makes one joint of those that share two bodies: with one anchor, and a mimic of one is of all."""
    if len(joint.dofs) < 2:
        return False
    anchors = [dof.anchor for dof in joint.dofs if dof.motion is not Motion.SLIDE]
    return (
        any(dof.name in coupled for dof in joint.dofs)
        or any(dof.motion is Motion.BALL for dof in joint.dofs)
        or find_joint_prim(joint) is None
        or any(not np.allclose(anchor, anchors[0], rtol=0.0, atol=1e-9) for anchor in anchors)
    )


def _needs_physx(joint: Joint) -> bool:
    """Articulations of PhysX (ovphysx 0.7) have no joint that slides along several axes, or slides and turns.

    One that turns about several has one armature, friction and damping.
    """
    if len(joint.dofs) < 2:
        return False
    return (
        any(dof.motion is Motion.SLIDE for dof in joint.dofs)
        or find_joint_prim(joint) is None
        or any(len({getattr(dof, key) or 0.0 for dof in joint.dofs}) > 1 for key in _COMMON)
    )


def _divide(asset: Asset, joint: Joint, chains: Chains, engine: str, *, is_mounted: bool) -> list[Joint]:
    """The joints of a chain, in order; its links are added to the asset.  A mount is fixed to the parent."""
    names = NameScope([body.name for body in asset.bodies])
    poses = {body.name: body.pose for body in asset.bodies}
    place = poses.get(joint.parent, IDENTITY) @ joint.parent_frame
    child = next(body for body in asset.bodies if body.name == joint.child)
    made, parent, frame = [], joint.parent, joint.parent_frame
    steps: list[Dof | None] = [None, *joint.dofs] if is_mounted else [*joint.dofs]
    at = asset.bodies.index(child)
    for number, dof in enumerate(steps):
        part = replace(_make_part(joint, dof), parent=parent, parent_frame=frame)
        if number < len(steps) - 1:
            place = place @ _find_start(dof)
            part.child, part.child_frame = names.claim(f"{dof.name if dof else joint.name}_link"), IDENTITY
            chains.links[part.child] = joint.name
            link = Body(
                part.child,
                place,
                weigh_between(child.inertial, for_newton=engine == "newton"),
                scope=child.scope,
                source=child.source,
            )
            asset.bodies.insert(at, link)
            at += 1
        chains.parts[part.name] = (joint.name, joint.kind.value)
        made.append(part)
        parent, frame = part.child, IDENTITY
    if not joint.collide and joint.parent != WORLD:
        # no joint connects them any more
        asset.contact_filters.append(ContactFilter(joint.parent, joint.child, "body"))
    return made


def _make_part(joint: Joint, dof: Dof | None) -> Joint:
    """The joint of one freedom, or the mount (None), between the links of the whole joint."""
    if dof is None:
        fixed = JointKind.FIXED
        return replace(joint, name=f"{joint.name}_mount", kind=fixed, dofs=[], rest=None, ros_name="")
    ros_name = joint.ros_name if len(joint.dofs) == 1 else ""
    return replace(joint, name=dof.name, kind=_KINDS[dof.motion], dofs=[dof], rest=None, ros_name=ros_name)


def _find_start(dof: Dof | None) -> Pose:
    """How far a freedom is moved at the start."""
    if dof is None:
        return IDENTITY
    return dof.transform(dof.neutral() if dof.position is None else np.atleast_1d(dof.position))


# joints and filters become pairs of shapes by the same rule
def keep_contacts(asset: Asset, name: str, host: str, mount: Joint) -> None:
    """Before the shapes of body ``name`` come to ``host``, which ``mount`` holds it to."""
    touching: dict[str, list[str]] = {}
    for shape in asset.shapes:
        if shape.collision:
            touching.setdefault(shape.body, []).append(shape.name)
    if name not in touching or host == WORLD:
        return
    apart: list[tuple[str, str]] = []
    for joint in asset.joints:
        side, other = _split((joint.parent, joint.child), name, host)
        if joint is not mount and not joint.collide and other != WORLD:
            apart.append((side, other))
            # filters between shapes say it now; the joint would filter all shapes of the merged body
            joint.collide = True
    kept = []
    for pair in asset.contact_filters:
        side, other = _split((pair.a, pair.b), name, host) if pair.of == "body" else ("", WORLD)
        if other == WORLD:
            kept.append(pair)
        else:
            apart.append((side, other))
    kept += [
        ContactFilter(a, b, "shape")
        for side, other in apart
        for a in touching.get(side, ())
        for b in touching.get(other, ())
    ]
    asset.contact_filters = kept


def _split(ends: tuple[str, str], name: str, host: str) -> tuple[str, str]:
    """Which of the two bodies is at one end, and what is at the other; the world for pairs of no concern."""
    for side, other in (ends, ends[::-1]):
        if side in (name, host) and other not in (name, host):
            return side, other
    return "", WORLD


DEFAULT_CONTACT = "default_contact"
# a guess, which the finding says
_FRICTION = 0.5
_MEET = 1e-9
"""[m, rad]"""
_LOCK, _ROUND = 1e-9, 2.4e-7
"""How far the limits of a joint that cannot move are from it [m, rad], or two roundings to single precision."""
_THICKNESS = 1e-3
"""Of a plane that has to be a box [m]."""
_FRAME_WORDS = frozenset({"frame", "optical", "tcp", "tool0", "footprint"})


def prepare(asset: Asset, reporter: Reporter) -> Asset:
    """A copy that can be written."""
    # the caller keeps the asset
    twin = asset.copy()
    _drop_fallbacks(twin)
    _name_freedoms(twin)
    # before frames are folded: a body without mass is one that shapes give none either
    _settle_mass(twin)
    _extrude_outlines(twin, reporter)
    _fold_frames(twin, reporter)
    _report_mass(twin, reporter)
    _settle_contact(twin, reporter)
    _add_optical_frames(twin)
    return twin


def _drop_fallbacks(asset: Asset) -> None:
    """What only a schema's fallback says was not said by the asset."""
    for shape in asset.shapes:
        # read from a stage, the gap of one solver would become that of all
        if shape.gap is not None and is_fallback(asset.origins, shape.path, "gap"):
            shape.gap = None


def _extrude_outlines(asset: Asset, reporter: Reporter) -> None:
    """Outlines with a height become meshes; those that enclose nothing stay, and are refused later."""
    meshed = []
    for shape in asset.shapes:
        solid = outline_solid(shape.geometry) if isinstance(shape.geometry, Polyline) else None
        if solid is not None:
            shape.geometry = Mesh.of(*solid)
            meshed.append(shape)
    if meshed:
        reporter.report(OUTLINE_MESHED, meshed[0].source, count=len(meshed), first=meshed[0].name)


# every body is in one of four states, each with its own finding
def _report_mass(asset: Asset, reporter: Reporter) -> None:
    for body in asset.bodies:
        if body.inertial is None:
            if body.enabled and not body.kinematic:
                is_silent = asset.provenance.format == "usd"
                written = "no mass is written" if is_silent else f"{LEAST_MASS:g} kg is written"
                reporter.report(MASS_MISSING, body.source, name=body.name, written=written)
            continue
        if not body.inertial.inertia.any():
            mass = body.inertial.mass
            reporter.report(INERTIA_MISSING, body.source, name=body.name, mass=mass, value=POINT_INERTIA)
            continue
        moments, _ = body.inertial.principal()
        nearest = find_nearest_moments(moments)
        if not np.array_equal(nearest, moments):
            shown, written = (", ".join(f"{value:.3g}" for value in row) for row in (moments, nearest))
            reporter.report(
                INERTIA_IMPOSSIBLE, body.source, name=body.name, moments=f"({shown})", nearest=f"({written})"
            )
    bare = [body for body in asset.bodies if _is_bare(asset, body)]
    if bare:
        reporter.report(BODY_BARE, bare[0].source, count=len(bare), first=bare[0].name)


def _is_bare(asset: Asset, body: Body) -> bool:
    """Has it the name of a frame, nothing to see or touch, and only fixed joints?"""
    joints = [joint for joint in asset.joints if body.name in (joint.parent, joint.child)]
    return (
        not _FRAME_WORDS.isdisjoint(re.split(r"[^a-z0-9]+", body.name.lower()))
        and all(joint.kind is JointKind.FIXED for joint in joints)
        and not any(shape.body == body.name for shape in asset.shapes)
    )


def _name_freedoms(asset: Asset) -> None:
    """What refers to a freedom does so by name, so each has one."""
    for joint in asset.joints:
        for number, dof in enumerate(joint.dofs):
            dof.name = dof.name or (joint.name if len(joint.dofs) == 1 else f"{joint.name}_{number}")


def settle_references(plan: WritePlan, reporter: Reporter) -> None:
    """Count coordinates from where the joint frames meet, as UsdPhysics does; where they started is kept."""
    plan.references = find_references(plan.asset)
    stuck = shift_coordinates(plan.asset, {name: -by for name, by in plan.references.items()})
    if stuck:
        what = "the reference coordinate in the law"
        reporter.report(SETTING_LOST, what=what, count=len(stuck), first=stuck[0])


def settle_poses(plan: WritePlan, reporter: Reporter) -> None:
    """Place links where joint frames meet, in assets for MuJoCo alone.

    Its reader (4.0.0) counts coordinates of joints from where links are, and limits with them; UsdPhysics from where
    frames meet.  Where a joint starts elsewhere, that start is lost.
    """
    lost = []
    for edge in plan.tree.edges:
        joint = edge.joint
        if any(dof.motion is Motion.FREE for dof in joint.dofs):
            continue
        met = edge.transform(joint.neutral())
        if not met.is_close(plan.poses[edge.child], _MEET):
            plan.poses[edge.child] = met
        if not np.allclose(joint.initial(), joint.neutral(), rtol=0.0, atol=_MEET):
            lost.append(joint)
    if lost:
        what = "the position at the start, in MuJoCo,"
        reporter.report(SETTING_LOST, lost[0].source, what=what, count=len(lost), first=lost[0].name)


def widen_locks(asset: Asset, reporter: Reporter) -> None:
    """Limits of joints that cannot move a little apart, in assets for MuJoCo alone, which refuses an empty range."""
    changed = []
    for joint in asset.joints:
        for dof in joint.dofs:
            # written so that NaN limits are left as they are
            if dof.motion in (Motion.HINGE, Motion.SLIDE) and dof.lower >= dof.upper:
                middle = (dof.lower + dof.upper) / 2.0
                half = max(_LOCK, _ROUND * abs(middle))
                dof.lower, dof.upper = middle - half, middle + half
                changed.append(joint)
    if changed:
        first = changed[0]
        reporter.report(LOCK_WIDE, first.source, count=len(changed), first=first.name)


def thicken_planes(asset: Asset, reporter: Reporter) -> None:
    """Planes of moving links as thin boxes, in assets for MuJoCo alone, which has planes on the world only."""
    changed = []
    for shape in asset.shapes:
        plane = shape.geometry
        if shape.body != WORLD and isinstance(plane, Plane) and plane.size is not None:
            width, length = plane.size
            shape.geometry = Box(np.array((width, length, _THICKNESS)))
            # its upper side stays where it is seen
            shape.pose = shape.pose @ Pose.of((0.0, 0.0, -_THICKNESS / 2.0))
            changed.append(shape)
    if changed:
        first = changed[0]
        reporter.report(PLANE_THICK, first.source, count=len(changed), first=first.name, thickness=_THICKNESS)


def _settle_mass(asset: Asset) -> None:
    """Mass that follows from shapes is computed here, so that every simulator has the same."""
    if all(body.inertial is not None and body.inertial.mass > 0.0 for body in asset.bodies):
        return
    computed = body_inertials(asset)
    for body in asset.bodies:
        if body.inertial is None:
            body.inertial = computed.get(body.name)
        if body.inertial is not None and body.inertial.mass <= 0.0:
            body.inertial = None


def _fold_frames(asset: Asset, reporter: Reporter) -> None:
    """What has shapes is folded into another body, but not into the world: there it is a body that rests."""
    shaped = {shape.body for shape in asset.shapes}
    # folding one frame may make another one foldable, and changes the lists that are walked
    while True:
        for body in asset.bodies:
            if body.inertial is None and not body.kinematic:
                joint = _find_mount(asset, body)
                if joint is not None and (body.name not in shaped or joint.parent != WORLD):
                    _fold(asset, body, joint, reporter)
                    break
        else:
            return


def _find_mount(asset: Asset, body: Body) -> Joint | None:
    """The fixed joint that holds a body, the one to its parent first."""
    fixed = [
        joint
        for joint in asset.joints
        if joint.kind is JointKind.FIXED and joint.enabled and body.name in (joint.parent, joint.child)
    ]
    # the joint to the parent: a chain of frames is folded towards the base
    return min(fixed, key=lambda joint: joint.child != body.name, default=None)


def _fold(asset: Asset, body: Body, mount: Joint, reporter: Reporter) -> None:
    """Make a site of a body."""
    rest = mount.transform(())
    host, pose = (mount.parent, rest) if mount.child == body.name else (mount.child, ~rest)
    reporter.report(FRAME_FOLDED, body.source, name=body.name, host=repr(host) if host else "the world")
    note = note_folded(asset, body, mount)
    keep_contacts(asset, body.name, host, mount)
    asset.bodies = [other for other in asset.bodies if other is not body]
    asset.joints = [joint for joint in asset.joints if joint is not mount]
    hang_over(asset, body.name, host, pose)
    _turn_world_joints(asset)
    # a site of the name may be there already, which sensors refer to
    name = NameScope(site.name for site in asset.sites).claim(body.name)
    site = Site(name, host, pose, ros_frame=body.name, folded=note, path=body.path, source=body.source)
    asset.sites.append(site)
    for articulation in asset.articulations:
        if articulation.root == body.name and host != WORLD:
            articulation.root = host
    _rename_in_filters(asset, body.name, host)


def _turn_world_joints(asset: Asset) -> None:
    """A joint whose child end came to the world is dropped when both ends did."""
    asset.joints = [joint for joint in asset.joints if joint.parent != joint.child]


def _rename_in_filters(asset: Asset, name: str, host: str) -> None:
    """Filters of a body become those of another; what is then about one body, or the world, says nothing."""
    for pair in asset.contact_filters:
        if pair.of == "body":
            pair.a, pair.b = (host if end == name else end for end in (pair.a, pair.b))
    asset.contact_filters = [f for f in asset.contact_filters if f.a != f.b and WORLD not in (f.a, f.b)]


def _add_optical_frames(asset: Asset) -> None:
    """A camera with ROS interfaces has an optical frame (REP-0158 2.8)."""
    sensors = {sensor.name: sensor.target or sensor.name for sensor in asset.sensors}
    taken = NameScope([*(site.name for site in asset.sites), *(body.name for body in asset.bodies)])
    wanted = {sensors.get(interface.at, interface.at) for interface in asset.interfaces}
    for camera in asset.cameras:
        if camera.name in wanted and find_optical(asset, camera) is None:
            name = taken.claim(f"{camera.name}_optical_frame")
            pose = camera.pose @ OPTICAL
            asset.sites.append(Site(name, camera.body, pose, ros_frame=name, source=camera.source))


# default material, equal coefficients, then what is still open: the order matters
def _settle_contact(asset: Asset, reporter: Reporter) -> None:
    """Static and dynamic friction and restitution are all said (REP-0158 1.3.4)."""
    bare = [s for s in asset.shapes if s.collision and not s.physics_material]
    if bare:
        reporter.report(CONTACT_GUESSED, bare[0].source, count=len(bare), first=bare[0].name)
        names = {material.name for material in asset.physics_materials}
        name = DEFAULT_CONTACT
        while name in names:
            name += "_"
        asset.physics_materials.append(PhysicsMaterial(name, _FRICTION, _FRICTION, restitution=0.0))
        for shape in bare:
            shape.physics_material = name
    for material in asset.physics_materials:
        # formats with one coefficient give the same for both
        if material.dynamic_friction is None and material.static_friction is not None:
            material.dynamic_friction = material.static_friction
        if material.static_friction is None and material.dynamic_friction is not None:
            material.static_friction = material.dynamic_friction
    for field, value in (
        ("static_friction", _FRICTION),
        ("dynamic_friction", _FRICTION),
        ("restitution", 0.0),
    ):
        _complete(asset, field, value, reporter)


def _complete(asset: Asset, field: str, value: float, reporter: Reporter) -> None:
    unsaid = [material for material in asset.physics_materials if getattr(material, field) is None]
    for material in unsaid:
        setattr(material, field, value)
    if unsaid:
        reporter.report(
            CONTACT_COMPLETED,
            unsaid[0].source,
            what=field.replace("_", " "),
            count=len(unsaid),
            first=unsaid[0].name,
            value=value,
        )
