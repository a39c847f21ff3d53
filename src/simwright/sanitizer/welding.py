# SPDX-License-Identifier: Apache-2.0
"""Bodies that are welded to a link become a part of it; joints that share two bodies get links between them.

The weld goes; other fixed joints of the body lead to its link instead, and what it weighs becomes a part of the link.
The rigid piece that both were is the same.

Joints that connect the same two bodies stand for the axes of one joint, but PhysX (ovphysx 0.7) leaves out all but one
of them, and a generic joint in their place is a weld for MuJoCo's USD reader (4.0.0) and has one armature for all axes.
As a chain over links of next to no mass every engine sees every freedom with all that is said of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics, Vt

from simwright.core.diag import Reporter
from simwright.core.errors import SimwrightError
from simwright.core.math3d import IDENTITY, Pose
from simwright.formats.format import ReadOptions
from simwright.formats.usd.read import read_stage
from simwright.model.inertia import Inertial, combine, weigh_between
from simwright.model.joint import JointKind
from simwright.sanitizer.fixes.translation.engine_words import ENGINE_ROOTS, list_apis
from simwright.usd.edit import Editor, Refused, edit_apis, read_apis
from simwright.usd.notes import SPACE, VALUES, mark_layer
from simwright.usd.relocation import claim_name, list_movable, make_prim, map_path, place_prim, remove_prim
from simwright.usd.xform import read_local, read_world

PIECES = ("bodies", "joints", "order", "frames", "ros", "keyframes")
"""Bodies are cut in another way; the rigid pieces that they make stay, and are compared."""
_KINDS = Sdf.ValueTypeNames
_BODY, _API, _MASS = "PhysicsRigidBodyAPI", "PhysicsMassAPI", "physics:mass"
_PAIRS = "physics:filteredPairs"
_BODY_NAMES = (
    "physics:rigidBodyEnabled", "physics:kinematicEnabled", "physics:startsAsleep", "physics:velocity",
    "physics:angularVelocity", "physics:simulationOwner",
)  # fmt: skip
MASS_NAMES = (
    _MASS, "physics:density", "physics:centerOfMass", "physics:diagonalInertia", "physics:principalAxes",
)  # fmt: skip


@dataclass(slots=True)
class _JoinedBodies:
    """What one round has joined: new masses of links, and prims that must not be touched twice in it."""

    masses: dict[str, Inertial] = field(default_factory=dict)
    links: set[str] = field(default_factory=set)
    parts: set[str] = field(default_factory=set)


def _remember(editor: Editor) -> _JoinedBodies:
    known: _JoinedBodies = editor.memory.setdefault("joins", _JoinedBodies())
    return known


@dataclass(slots=True)
class _JointEnd:
    """One end of a fixed joint: ``side`` is 0 or 1, ``other`` the body at the other end or None."""

    joint: UsdPhysics.Joint
    side: int
    other: Usd.Prim | None


def join_link(editor: Editor, prim: Usd.Prim) -> bool:
    """Make a body a part of the link that holds it; False where it waits for the next round, or is free."""
    # one function: nothing may be asked for before all of these refusals were passed
    ends = _find_ends(prim)
    if _is_mount(ends):
        return _pass_base_on(editor, prim, ends)
    if prim.HasAPI(UsdPhysics.ArticulationRootAPI):
        raise Refused("it is the root of an articulation; decide which link takes its place")
    if any(not end.joint.GetPrim().IsA(UsdPhysics.FixedJoint) for end in ends):
        raise Refused("a joint moves it")
    weld = next((end for end in ends if end.other and prim.GetPath().HasPrefix(end.other.GetPath())), None)
    if weld is None or weld.other is None:
        raise Refused("it stands beside its link; put it below first" if ends else "no joint holds it")
    known = _remember(editor)
    here, there = str(prim.GetPath()), str(weld.other.GetPath())
    # a link that takes a body in cannot be taken in itself before the next round reads its new mass
    if here in known.links or there in known.parts:
        return False
    _check_scale(prim, weld.other)
    # a fixed joint holds its two frames together: that gives the body in the frame of its link
    pose = _read_pose(weld.joint, 1 - weld.side) @ ~_read_pose(weld.joint, weld.side)
    for end in ends:
        if end is not weld:
            _keep_contacts(editor, prim, weld.other, end)
            _reattach_joint(editor, end, [weld.other.GetPath()], pose)
    _add_mass(editor, prim, weld.other, pose)
    remove_prim(editor, weld.joint.GetPrim())
    drop_body(editor, prim)
    editor.expected.sections.update(PIECES)
    known.links.add(there)
    known.parts.add(here)
    return True


def _is_mount(ends: list[_JointEnd]) -> bool:
    """Do two fixed joints hold the body: one to the world and one to the only other link?"""
    is_fixed = all(end.joint.GetPrim().IsA(UsdPhysics.FixedJoint) for end in ends)
    return len(ends) == 2 and is_fixed and sum(end.other is None for end in ends) == 1


def _pass_base_on(editor: Editor, prim: Usd.Prim, ends: list[_JointEnd]) -> bool:
    """A base that weighs nothing lets the link that is welded to it be the base, on the world at the same place."""
    anchor, weld = sorted(ends, key=lambda end: end.other is not None)
    assert weld.other is not None
    known = _remember(editor)
    here, there = str(prim.GetPath()), str(weld.other.GetPath())
    if here in known.parts or there in known.parts or here in known.links:
        return False
    weight = read_inertials(editor).get(here)
    if weight is not None and weight.mass > 0.0:
        raise Refused("it weighs something; decide which link takes its place")
    _check_scale(weld.other if there.startswith(f"{here}/") else prim, prim)
    pose = _read_pose(anchor.joint, 1 - anchor.side) @ ~_read_pose(anchor.joint, anchor.side)
    held = anchor.joint.GetPrim().GetRelationship(f"physics:body{1 - anchor.side}").GetTargets()
    _reattach_joint(editor, weld, held, pose)
    remove_prim(editor, anchor.joint.GetPrim())
    if prim.HasAPI(UsdPhysics.ArticulationRootAPI):
        pass_root(editor, prim, weld.other)
    drop_body(editor, prim)
    editor.expected.sections.update(PIECES)
    known.links.add(there)
    known.parts.add(here)
    return True


_ROOT_API = "PhysicsArticulationRootAPI"


def pass_root(editor: Editor, base: Usd.Prim, target: Usd.Prim) -> None:
    """Another prim becomes the root of an articulation, with what engines say of it."""
    editor.add_api(target, _ROOT_API)
    editor.remove_api(base, _ROOT_API)
    for api, words in ENGINE_ROOTS.items():
        if api in list_apis(base):
            editor.add_spec_api(editor.choose_home(target), api)
            editor.remove_api(base, api)
            for name in [name for name in base.GetAuthoredPropertyNames() if name.startswith(words)]:
                _move_word(editor, base, target, name)


def _move_word(editor: Editor, base: Usd.Prim, target: Usd.Prim, name: str) -> None:
    spec, home = editor.find_strongest(base, name), editor.choose_home(target)
    assert spec is not None, "the property is authored"
    new = home.path.AppendProperty(name)
    copy = Sdf.Layer.CreateAnonymous()
    Sdf.CreatePrimInLayer(copy, "/word")
    Sdf.CopySpec(spec.layer, spec.path, copy, f"/word.{name}")
    what = f"{name} of {base.GetName()}"
    editor.add(home.layer, new, what, lambda: Sdf.CopySpec(copy, f"/word.{name}", home.layer, new))
    editor.remove_property(base, name)


def has_joint(prim: Usd.Prim) -> bool:
    """Does a joint name the body?"""
    return bool(_find_ends(prim))


def drop_body(editor: Editor, prim: Usd.Prim) -> None:
    """Take the schemas of bodies and masses from a prim, with what they say."""
    editor.remove_api(prim, _BODY)
    editor.remove_api(prim, _API)
    for name in (*_BODY_NAMES, *MASS_NAMES):
        if prim.GetAttribute(name).HasAuthoredValue() or prim.GetRelationship(name).HasAuthoredTargets():
            editor.remove_property(prim, name)


def _find_ends(prim: Usd.Prim) -> list[_JointEnd]:
    """The joints that hold a body."""
    found = []
    stage = prim.GetStage()
    for other in Usd.PrimRange(stage.GetPseudoRoot(), Usd.PrimAllPrimsPredicate):
        joint = UsdPhysics.Joint(other)
        if not joint:
            continue
        targets = [rel.GetTargets() for rel in (joint.GetBody0Rel(), joint.GetBody1Rel())]
        for side in (0, 1):
            # a side with several targets names no body
            if targets[side] == [prim.GetPath()]:
                there = targets[1 - side]
                body = stage.GetPrimAtPath(there[0]) if there else None
                is_body = body and body.HasAPI(UsdPhysics.RigidBodyAPI)
                found.append(_JointEnd(joint, side, body if is_body else None))
    return found


def _check_scale(prim: Usd.Prim, link: Usd.Prim) -> None:
    """Joint frames count in the units of their body."""
    above = prim
    while above and above != link.GetParent():
        if above.IsA(UsdGeom.Xformable) and not read_local(above).is_rigid:
            raise Refused(f"{above.GetPath()} is scaled")
        above = above.GetParent()


def _read_pose(joint: UsdPhysics.Joint, side: int) -> Pose:
    attributes = [joint.GetPrim().GetAttribute(f"physics:local{word}{side}") for word in ("Pos", "Rot")]
    if any(attribute.ValueMightBeTimeVarying() for attribute in attributes):
        raise Refused("a joint frame changes over time")
    place, turn = (attribute.Get() for attribute in attributes)
    return Pose.of([float(v) for v in place], [turn.real, *turn.imaginary])


def _keep_contacts(editor: Editor, prim: Usd.Prim, link: Usd.Prim, end: _JointEnd) -> None:
    """A joint keeps its two bodies from touching: the link that it comes to was free to touch the other one."""
    joint = end.joint.GetPrim()
    if end.other is None or joint.GetAttribute("physics:collisionEnabled").Get():
        return
    others = _list_colliders(end.other)
    if not others or not _list_colliders(link) or _is_joined(link, end.other):
        return
    editor.set_value(joint, "physics:collisionEnabled", _KINDS.Bool, True)
    for collider in _list_colliders(prim):
        if collider.IsInstanceProxy():
            raise Refused(
                "it has colliders in an instance, which cannot be told apart from those of its link"
            )
        known = collider.GetRelationship(_PAIRS).GetTargets()
        editor.add_api(collider, "PhysicsFilteredPairsAPI")
        editor.set_targets(collider, _PAIRS, [*known, end.other.GetPath()])


def _list_colliders(body: Usd.Prim) -> list[Usd.Prim]:
    """The colliders of a body, without those of bodies below it."""
    found = []
    walk = iter(Usd.PrimRange(body, Usd.TraverseInstanceProxies()))
    for prim in walk:
        if prim != body and prim.HasAPI(UsdPhysics.RigidBodyAPI):
            walk.PruneChildren()
        elif prim.HasAPI(UsdPhysics.CollisionAPI):
            found.append(prim)
    return found


def _is_joined(link: Usd.Prim, other: Usd.Prim) -> bool:
    """Does a joint of its own keep two bodies from touching already?"""
    return any(
        end.other == other and not end.joint.GetPrim().GetAttribute("physics:collisionEnabled").Get()
        for end in _find_ends(link)
    )


def _reattach_joint(editor: Editor, end: _JointEnd, targets: list[Sdf.Path], pose: Pose) -> None:
    """Let a joint hold a link, or the world (no targets), where it held the body that stands there at ``pose``."""
    prim = end.joint.GetPrim()
    moved = pose @ _read_pose(end.joint, end.side)
    editor.set_targets(prim, f"physics:body{end.side}", targets)
    place: Any = Gf.Vec3f(*(float(v) for v in moved.p))
    editor.set_value(prim, f"physics:localPos{end.side}", _KINDS.Point3f, place)
    turn = Gf.Quatf(*(float(v) for v in moved.q))
    editor.set_value(prim, f"physics:localRot{end.side}", _KINDS.Quatf, turn)


def _add_mass(editor: Editor, prim: Usd.Prim, link: Usd.Prim, pose: Pose) -> None:
    """Add the mass properties of a body to its link; several bodies of one link add up."""
    weights = read_inertials(editor)
    mine = weights.get(str(prim.GetPath()))
    if mine is None or mine.mass <= 0.0:
        return
    known = _remember(editor).masses
    theirs = known.get(str(link.GetPath())) or weights.get(str(link.GetPath()))
    if theirs is None:
        raise Refused("its link has no mass that its own could be added to")
    length = UsdGeom.GetStageMetersPerUnit(editor.stage)
    # joint frames count in stage units, the model in metres
    total = combine([theirs, mine.moved(Pose(pose.p * length, pose.q))])
    known[str(link.GetPath())] = total
    write_inertial(editor, link, total)


def write_inertial(editor: Editor, link: Usd.Prim, total: Inertial) -> None:
    """Write mass, centre and inertia of a link, in the units of the stage."""
    if link.GetAttribute("newton:inertia").HasAuthoredValue():
        raise Refused("its link has an inertia in an engine's words; translate it first")
    length = UsdGeom.GetStageMetersPerUnit(editor.stage)
    mass = UsdPhysics.GetStageKilogramsPerUnit(editor.stage)
    moments, axes = total.principal()
    editor.add_api(link, "PhysicsMassAPI")
    editor.set_value(link, "physics:mass", _KINDS.Float, total.mass / mass)
    center: Any = Gf.Vec3f(*(float(v) / length for v in total.com))
    editor.set_value(link, "physics:centerOfMass", _KINDS.Point3f, center)
    # moments are mass times length squared, both in stage units
    diagonal = Gf.Vec3f(*(float(v) / (mass * length * length) for v in moments))
    editor.set_value(link, "physics:diagonalInertia", _KINDS.Float3, diagonal)
    editor.set_value(link, "physics:principalAxes", _KINDS.Quatf, Gf.Quatf(*(float(v) for v in axes)))


_STACKED = ("PhysicsRevoluteJoint", "PhysicsPrismaticJoint")
_NEAR = 1e-5
"""What single precision leaves between joint frames that meet [stage units, rad]."""


# one function: the links between and the joints that they belong to are told of in one walk over the stack
def chain_joints(editor: Editor, paths: list[str]) -> None:
    """Let each of several joints between two bodies connect two bodies of its own, in the order they are applied."""
    known: set[str] = editor.memory.setdefault("chained", set())
    if paths[0] in known:
        return
    joints = [UsdPhysics.Joint(editor.find_prim(path)) for path in paths]
    host, child = _check_stack(joints)
    known.add(paths[0])
    frames = [_read_pose(joint, 0) for joint in joints]
    parent = host.GetPath()
    for number, joint in enumerate(joints):
        prim = joint.GetPrim()
        if number:
            editor.set_targets(prim, "physics:body0", [parent])
        if number < len(joints) - 1:
            parent = _make_between(editor, host, child, prim, frames[number])
            editor.set_targets(prim, "physics:body1", [parent])
            # the link between has the frame of the host, so the joint is at the same place in both
            for word in ("Pos", "Rot"):
                _copy_value(editor, prim, f"physics:local{word}0", f"physics:local{word}1")
        _note_part(editor, prim, paths[0].rpartition("/")[2], ~frames[0] @ frames[number])
    if not all(joint.GetCollisionEnabledAttr().Get() for joint in joints) and _is_body(host):
        # no joint connects the two any more, and they are not to touch
        pairs = child.GetRelationship(_PAIRS).GetTargets()
        editor.add_api(child, "PhysicsFilteredPairsAPI")
        editor.set_targets(child, _PAIRS, [*pairs, *({host.GetPath()} - set(pairs))])


def _check_stack(joints: list[UsdPhysics.Joint]) -> tuple[Usd.Prim, Usd.Prim]:
    """The prims that all joints name, if the chain is the same machine as what engines make of the stack."""
    host, child = _find_hosts(joints)
    kinds = [str(joint.GetPrim().GetTypeName()) for joint in joints]
    if not set(kinds) <= set(_STACKED):
        raise Refused("not all of the joints are hinges or slides; put a link between them by hand")
    # by MuJoCo the order of the prims counts, Newton (1.7) has slides first
    if kinds != sorted(kinds, key=lambda kind: kind == _STACKED[0]):
        raise Refused(
            "a hinge comes before a slide, which engines read in different orders; say which is meant"
        )
    if any(_breaks(joint) for joint in joints):
        raise Refused("one of the joints can break; put a link between them by hand")
    _check_frames(joints, host, child)
    return host, child


def _find_hosts(joints: list[UsdPhysics.Joint]) -> tuple[Usd.Prim, Usd.Prim]:
    """The prim that the first link stands in for, and the child link."""
    stage = joints[0].GetPrim().GetStage()
    first, second = (
        [tuple(rel.GetTargets()) for rel in rels] for rels in zip(*map(_list_ends, joints), strict=True)
    )
    if {*first} != {first[0]} or {*second} != {second[0]} or len(first[0]) > 1 or len(second[0]) != 1:
        raise Refused(
            "the joints do not name their two bodies in the same way; let body0 be the parent in all"
        )
    child = stage.GetPrimAtPath(second[0][0])
    # the world: the link between stands in the prim that holds the child
    host = stage.GetPrimAtPath(first[0][0]) if first[0] else child.GetParent()
    if not host or not child or not _is_body(child) or host.GetPath().HasPrefix(child.GetPath()):
        raise Refused("body1 of the joints is not the child link; let body0 be the parent")
    if not first[0] and (host.IsPseudoRoot() or not read_world(host).pose.is_close(IDENTITY, _NEAR)):
        raise Refused("the joints hold the link to the world; put a link between them by hand")
    return host, child


def _check_frames(joints: list[UsdPhysics.Joint], host: Usd.Prim, child: Usd.Prim) -> None:
    places = [read_world(prim) for prim in (host, child)]
    if not all(place.is_rigid for place in places):
        raise Refused("a link is scaled; put a link between the joints by hand")
    for joint in joints:
        here, there = (place.pose @ _read_pose(joint, side) for side, place in enumerate(places))
        if not here.is_close(there, _NEAR):
            raise Refused(f"the frames of {joint.GetPath()} do not meet where the links stand")


def _list_ends(joint: UsdPhysics.Joint) -> tuple[Usd.Relationship, Usd.Relationship]:
    return joint.GetBody0Rel(), joint.GetBody1Rel()


def _breaks(joint: UsdPhysics.Joint) -> bool:
    attributes = (joint.GetBreakForceAttr(), joint.GetBreakTorqueAttr())
    return any(attribute.Get() is not None and attribute.Get() < 1e38 for attribute in attributes)


def _is_body(prim: Usd.Prim) -> bool:
    return bool(prim.HasAPI(UsdPhysics.RigidBodyAPI))


def _make_between(editor: Editor, host: Usd.Prim, child: Usd.Prim, joint: Usd.Prim, frame: Pose) -> Sdf.Path:
    """A link beside the child that stands where the host stands, with its mass at the joint."""
    above = child.GetParent()
    path = above.GetPath().AppendChild(claim_name(editor, above.GetPath(), f"{joint.GetName()}_link"))
    # each of its words goes where those of the child are: the prim with its place, and its body
    specs = list_movable(editor, child)
    made = next((spec for spec in specs if spec.specifier == Sdf.SpecifierDef), specs[0])
    bodily = next((spec for spec in specs if _BODY in read_apis(spec).GetAddedOrExplicitItems()), made)
    place = map_path(made.path, child.GetPath(), path)
    make_prim(editor, above, place, "Xform", layer=made.layer)
    editor.expected.added.discard(place.pathString)
    editor.expected.added.add(path.pathString)
    cache = UsdGeom.XformCache()
    above_there = cache.GetLocalToWorldTransform(above).GetInverse()
    place_prim(editor, made.layer, place, cache.GetLocalToWorldTransform(host) * above_there)
    _weigh_between(editor, bodily.layer, map_path(bodily.path, child.GetPath(), path), child, frame)
    return path


def _weigh_between(editor: Editor, layer: Sdf.Layer, place: Sdf.Path, child: Usd.Prim, frame: Pose) -> None:
    """Ask for the body of a link between: next to no mass, at the anchor of its joint."""
    inertial = weigh_between(read_inertials(editor).get(str(child.GetPath())))
    length = UsdGeom.GetStageMetersPerUnit(editor.stage)
    mass = UsdPhysics.GetStageKilogramsPerUnit(editor.stage)
    moment = float(inertial.inertia[0, 0]) / (mass * length * length)
    values = {
        _MASS: (_KINDS.Float, inertial.mass / mass),
        # at the anchor of its joint it adds nothing to what the joint turns
        "physics:centerOfMass": (_KINDS.Point3f, Gf.Vec3f(*(float(v) for v in frame.p))),
        "physics:diagonalInertia": (_KINDS.Float3, Gf.Vec3f(moment)),
        "physics:principalAxes": (_KINDS.Quatf, Gf.Quatf(1.0)),
    }

    def apply() -> None:
        spec = Sdf.CreatePrimInLayer(layer, place)
        for api in (_BODY, _API):
            edit_apis(spec, api, wanted=True)
        for name, (kind, value) in values.items():
            Sdf.AttributeSpec(spec, name, kind).default = value

    editor.add(layer, place, f"a body with a mass of {inertial.mass:.3g} kg", apply)


def _copy_value(editor: Editor, prim: Usd.Prim, source: str, target: str) -> None:
    attribute = prim.GetAttribute(source)
    editor.set_value(prim, target, attribute.GetTypeName(), attribute.Get())


def _note_part(editor: Editor, prim: Usd.Prim, whole: str, turn: Pose) -> None:
    """Say what the joint is a part of: who reads notes (ADR 5) has the one joint again."""
    home = editor.choose_home(prim)
    words: dict[str, Any] = {"chain_of": whole, "part_kind": JointKind.D6.value}
    if not turn.is_close(IDENTITY, 0.0):
        words["frame"] = Vt.DoubleArray([*map(float, turn.p), *map(float, turn.q)])

    def apply() -> None:
        known = dict(home.customData.get(SPACE, {}))
        home.SetInfo("customData", {**home.customData, SPACE: {**known, **words}})
        mark_layer(home.layer, VALUES)

    editor.add(home.layer, home.path, f"a note that the joint is a part of {whole}", apply)


_INERTIALS = "inertials"


def read_inertials(editor: Editor) -> dict[str, Inertial]:
    """Mass properties of all bodies by path, read once while nothing changes [SI]."""
    if _INERTIALS not in editor.known:
        try:
            asset = read_stage(editor.stage, ReadOptions(), Reporter(), file=editor.root.realPath)
        except SimwrightError as error:
            raise Refused(f"the machine cannot be read: {error.message}") from None
        found = {body.path: body.inertial for body in asset.bodies if body.inertial is not None}
        editor.known[_INERTIALS] = found
    known: dict[str, Inertial] = editor.known[_INERTIALS]
    return known
