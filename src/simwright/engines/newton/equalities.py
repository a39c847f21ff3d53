# SPDX-License-Identifier: Apache-2.0
"""What prims of a stage say that Newton's builder has rows and objects of its own for: equalities and actuators.

MuJoCo's equalities (``MjcEqualityConnectAPI``, ``WeldAPI``, ``JointAPI``) become loop joints or mimics and rows of the
MuJoCo solver, with their softness and all their coefficients; ``NewtonActuator`` prims become Newton's actuators.
Newton's own functions make the rows and read the actuators, so that both are what the solver expects.
"""

from __future__ import annotations

import copy
import dataclasses
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from simwright.core.diag import Where
from simwright.core.errors import UsageError
from simwright.core.math3d import DEGREE, IDENTITY, Array, Pose, pose_to_seven
from simwright.engines.newton.choices import Choices
from simwright.engines.newton.messages import ACTUATOR_LOST, EQUALITY_LOST, POLYNOMIAL_KEPT
from simwright.engines.newton.result import Imported
from simwright.engines.newton.types import ModelBuilder
from simwright.model.asset import Asset
from simwright.model.joint import WORLD, Equality, EqualityKind, Joint, JointKind, Motion
from simwright.model.selection import compile_paths

if TYPE_CHECKING:
    from pxr import Usd

    from simwright.formats.usd.prims import FoundPrim, PrimSchemas
    from simwright.formats.usd.stage_reader import MetPrims

CONNECT, WELD, _JOINT = "MjcEqualityConnectAPI", "MjcEqualityWeldAPI", "MjcEqualityJointAPI"
_ENDS = frozenset({CONNECT, WELD})
_DRIVEN: dict[Motion, tuple[str, float]] = {Motion.HINGE: ("angular", DEGREE), Motion.SLIDE: ("linear", 0.0)}
"""Instance of the drive of a hinge or slide, and the unit of its targets; 0 is the length unit of the stage."""
HUGE = 1e30
_ROW = "mujoco:equality_constraint"
_ACTUATOR = "NewtonActuator"
_JOINT_TYPES = (
    "PhysicsFixedJoint", "PhysicsRevoluteJoint", "PhysicsPrismaticJoint", "PhysicsSphericalJoint",
    "PhysicsDistanceJoint", "PhysicsJoint",
)  # fmt: skip
"""Types of joints in the order in which OpenUSD's physics parser gives them."""
SPLAT = "ParticleField3DGaussianSplat"
_DEFORMABLE = ("Deformable", "PhysicsAttachment", "PhysicsElementCollisionFilter", "NewtonMPM")


@dataclasses.dataclass(slots=True, eq=False)
class StageParts:
    """A stage, and those of its prims that Newton has objects for and the model has not.

    ``deformable`` says whether there is cloth, a cable, a soft body, a particle system or what holds them.  ``met`` is
    what the reader knows of the prims; None where the asset was read before.
    """

    stage: Usd.Stage
    deformable: bool = False
    actuators: list[Usd.Prim] = dataclasses.field(default_factory=list)
    splats: list[Usd.Prim] = dataclasses.field(default_factory=list)
    met: MetPrims | None = None
    walked: list[tuple[Usd.Prim, PrimSchemas]] = dataclasses.field(default_factory=list)

    def find_met(self, path: str) -> FoundPrim | None:
        """What the reader knows of a prim."""
        return None if self.met is None else self.met.founds.get(path)

    def find_type(self, path: str) -> str:
        """The type of a prim, empty where there is none."""
        found = self.find_met(path)
        if found is not None:
            return found.type
        prim = self.stage.GetPrimAtPath(path) if path else None
        return str(prim.GetTypeName()) if prim else ""

    def list_apis(self, path: str) -> frozenset[str]:
        """The schemas that are applied to a prim."""
        from simwright.formats.usd.prims import list_apis

        found = self.find_met(path)
        if found is not None:
            return found.apis
        prim = self.stage.GetPrimAtPath(path) if path else None
        return list_apis(prim) if prim else frozenset()


def sort_prims(stage: Usd.Stage, root_path: str = "/", ignore_paths: Sequence[str] = ()) -> StageParts:
    """Look at every prim once, those of instances too; of a part that is wanted at its own prims only."""
    from simwright.formats.usd.prims import find_sort

    parts = StageParts(stage)
    lists = {_ACTUATOR: parts.actuators, SPLAT: parts.splats}
    parts.walked = [(prim, find_sort(prim)) for prim in _walk(stage, root_path, _list_plain(ignore_paths))]
    if root_path != "/" or ignore_paths:
        parts.walked += [(prim, find_sort(prim)) for prim in _list_held(stage, parts.walked)]
    sorts = {sort for _, sort in parts.walked}
    parts.deformable = any(_is_deformable(sort.type, sort.apis) for sort in sorts)
    if lists.keys().isdisjoint(sort.type for sort in sorts):
        return parts
    for prim, sort in parts.walked:
        # few sorts of prims, and many of each
        if sort.type in lists:
            lists[sort.type].append(prim)
    return parts


_PLAIN = re.compile(r"((?:/\w+)+)(?:/?\.\*)?")


def _list_plain(ignore_paths: Sequence[str]) -> frozenset[str]:
    """The paths below which expressions leave everything out."""
    return frozenset(found[1] for path in ignore_paths if (found := _PLAIN.fullmatch(path)))


def _walk(stage: Usd.Stage, root_path: str, ignored: frozenset[str]) -> Iterable[Usd.Prim]:
    """The prims above the root, and those at and below it that no path leaves out with all below."""
    from pxr import Sdf, Usd

    top = root_path.rstrip("/") or "/"
    root = stage.GetPrimAtPath(top) if Sdf.Path.IsValidPathString(top) else None
    if not root:
        return [stage.GetPseudoRoot()]
    below = Usd.PrimRange(root, Usd.TraverseInstanceProxies())
    if ignored:
        return [*_list_above(root), *_prune(below, ignored)]
    # most often everything
    return below if root.IsPseudoRoot() else [*_list_above(root), *below]


def _prune(below: Usd.PrimRange, ignored: frozenset[str]) -> Iterator[Usd.Prim]:
    walk = iter(below)
    for prim in walk:
        if prim.GetPath().pathString in ignored:
            walk.PruneChildren()
        yield prim


def _list_above(prim: Usd.Prim) -> list[Usd.Prim]:
    """The prims above one, from the top."""
    above = []
    while not prim.IsPseudoRoot():
        prim = prim.GetParent()
        above.append(prim)
    return above[::-1]


def _list_held(stage: Usd.Stage, walked: list[tuple[Usd.Prim, PrimSchemas]]) -> Iterator[Usd.Prim]:
    """Prims that joints of a part lead to and that are none of it, with those above them."""
    known = {prim.GetPath() for prim, _ in walked}
    for prim, sort in walked:
        if "joints" not in sort.kinds:
            continue
        for name in ("physics:body0", "physics:body1"):
            for path in prim.GetRelationship(name).GetTargets():
                target = None if path in known else stage.GetPrimAtPath(path.GetPrimPath())
                for found in (*_list_above(target), target) if target else ():
                    if found.GetPath() not in known:
                        known.add(found.GetPath())
                        yield found


@lru_cache(maxsize=1024)
def _is_deformable(kind: str, apis: frozenset[str]) -> bool:
    return kind == "TetMesh" or any(part in word for word in (kind, *apis) for part in _DEFORMABLE)


@dataclasses.dataclass(frozen=True, slots=True)
class StageEqualities:
    """Joints of the asset that are connects and welds, and prims of joints that follow others by an equality."""

    ends: tuple[Joint, ...] = ()
    followers: tuple[str, ...] = ()


def find_equalities(asset: Asset, parts: StageParts | None) -> StageEqualities:
    """The equalities among the joints of an asset that was read from a stage."""
    if parts is None or not _has_rows():
        return StageEqualities()
    ends, followers = [], []
    for joint in asset.joints:
        if not _ENDS.isdisjoint(parts.list_apis(joint.path)):
            ends.append(joint)
        else:
            # joints that became one are asked each
            paths = dict.fromkeys((joint.path, *(dof.path for dof in joint.dofs if dof.path)))
            followers += [path for path in paths if _JOINT in parts.list_apis(path)]
    # a stage that Simwright wrote notes which joints were equalities
    noted = [one for one in asset.equalities if not _ENDS.isdisjoint(parts.list_apis(one.source.prim))]
    if noted:
        # they are in the order of the file that the stage was made of; Newton has that of the stage
        places = {path: place for place, path in enumerate(parts.met.founds if parts.met else ())}
        ends += [_make_joint(one) for one in sorted(noted, key=lambda one: places.get(one.source.prim, 0))]
    return StageEqualities(tuple(ends), tuple(followers))


def _make_joint(equality: Equality) -> Joint:
    """The closing joint that an equality was read from, the world first."""
    ends = (equality.a, equality.frame_a), (equality.b, equality.frame_b)
    (parent, on_parent), (child, on_child) = reversed(ends) if equality.b == WORLD else ends
    kind = JointKind.FIXED if equality.kind is EqualityKind.WELD else JointKind.BALL
    joint = Joint(equality.name, kind, parent, child, on_parent, on_child, enabled=equality.enabled)
    joint.path, joint.closes_loop, joint.source = equality.source.prim, True, equality.source
    return joint


def leave_equalities(asset: Asset, found: StageEqualities) -> Asset:
    """The asset without its equalities, which are added apart; the asset itself if it has none."""
    if not found.ends and not found.followers:
        return asset
    # lists are replaced and elements stay as they are
    asset = copy.copy(asset)
    gone = {joint.path for joint in found.ends}
    asset.joints = [joint for joint in asset.joints if joint.path not in gone]
    asset.equalities = [e for e in asset.equalities if e.source.prim not in gone | set(found.followers)]
    asset.mimics = [m for m in asset.mimics if m.source.prim not in found.followers]
    return asset


def keep_targets(builder: ModelBuilder, parts: StageParts, result: Imported) -> None:
    """Targets and largest efforts of drives whose place a servo of the asset has taken, as the stage says them.

    A drive that was written for a servo of MuJoCo is the servo in the model, which has no target of its own.
    """
    info = result.asset.provenance.info
    length, mass = float(info.get("metersPerUnit", 1.0)), float(info.get("kilogramsPerUnit", 1.0))
    for joint in result.asset.joints:
        found, index = parts.find_met(joint.path), result.joints.get(joint.name)
        if found is None or index is None or not _is_taken(joint):
            continue
        drive, degree = _DRIVEN[joint.dofs[0].motion]
        said, at = _read_drive(found, drive), builder.joint_qd_start[index]
        if "targetPosition" in said:
            builder.joint_target_q[builder.joint_q_start[index]] = said["targetPosition"] * (degree or length)
        if "targetVelocity" in said:
            builder.joint_target_qd[at] = said["targetVelocity"] * (degree or length)
        # UsdPhysics' fallback is the largest number there is
        if said.get("maxForce", HUGE) < HUGE:
            builder.joint_effort_limit[at] = said["maxForce"] * mass * length ** (2 if degree else 1)


def _is_taken(joint: Joint) -> bool:
    """Can a servo have taken the place of its drive?  A coordinate that counts from elsewhere is left alone."""
    if len(joint.dofs) != 1:
        return False
    (dof,) = joint.dofs
    return dof.drive is None and not dof.ref and dof.motion in _DRIVEN


def _read_drive(found: FoundPrim, drive: str) -> dict[str, float]:
    """Authored targets and the largest force of a drive, in units of the stage."""
    said = {}
    for name in ("targetPosition", "targetVelocity", "maxForce"):
        full = f"drive:{drive}:physics:{name}"
        value = found.prim.GetAttribute(full).Get() if full in (found.authored or ()) else None
        if isinstance(value, float) and math.isfinite(value):
            said[name] = value
    return said


def _has_rows() -> bool:
    try:
        import newton._src.solvers.mujoco.equality
        import newton._src.solvers.mujoco.utils  # noqa: F401
    # another version of Newton keeps them elsewhere: equalities then go the way of those of other formats
    except ImportError:
        return False
    return True


def add_stage_equalities(
    builder: ModelBuilder,
    parts: StageParts,
    result: Imported,
    found: StageEqualities,
    *,
    choices: Choices,
    base: Pose,
) -> None:
    """Loop joints, mimics and rows; without ``convert_mjc_equality_constraints``, rows alone."""
    if not found.ends and not found.followers:
        return
    adder = _EqualityAdder(builder, parts.stage, result, choices, base)
    ends = {joint.path: joint for joint in found.ends}

    # by type, as Newton numbers the rows
    for path in sorted((*ends, *found.followers), key=lambda path: rank_joint(parts, path)):
        if path not in ends:
            adder.add_follower(path)
        elif ends[path].enabled or not choices.only_load_enabled_joints:
            adder.add_end(ends[path])


def rank_joint(parts: StageParts, path: str) -> int:
    """The place of a joint's type among those that OpenUSD's physics parser goes through one after another."""
    kind = parts.find_type(path)
    return _JOINT_TYPES.index(kind) if kind in _JOINT_TYPES else len(_JOINT_TYPES)


class _EqualityAdder:
    """Adds the equalities of one stage to one builder."""

    def __init__(
        self, builder: ModelBuilder, stage: Usd.Stage, result: Imported, choices: Choices, base: Pose
    ) -> None:
        import newton
        from newton._src.solvers.mujoco import equality, utils

        self._builder, self._stage, self._result, self._choices = builder, stage, result, choices
        self._base = base
        # once: the maps are made anew each time they are asked for
        self._places = result.path_joint_map
        self._paths = {body.name: body.path for body in result.asset.bodies}
        self._rows, self._joints, self._newton = equality, utils, newton
        self._columns = [
            attribute
            for attribute in builder.custom_attributes.values()
            if attribute.frequency == _ROW and attribute.usd_attribute_name
        ]

    def add_end(self, joint: Joint) -> None:
        """A connect holds a point of its first body on the second; a weld all of it."""
        import warp

        prim = self._stage.GetPrimAtPath(joint.path)
        is_weld = WELD in prim.GetPrimTypeInfo().GetAppliedAPISchemas()
        first, second = self._order(joint, prim)
        bodies = [self._result.bodies.get(name, -1) for name, _ in (first, second)]
        on_first, on_second = ((self._base if not n else IDENTITY) @ frame for n, frame in (first, second))
        kinds = self._rows.EqType
        row: dict[str, Any] = {"anchor": warp.vec3(*_floats(on_first.p))}
        if is_weld:
            site = self._find_site(prim, second[0])
            row["anchor"] = warp.vec3(*_floats(on_second.p if site is None else site))
            scale = prim.GetAttribute("mjc:torqueScale").Get()
            relative = on_first @ ~on_second
            row["relpose"] = warp.transform(*pose_to_seven(relative))
            row["torquescale"] = 1.0 if scale is None else float(scale)
        else:
            row["relpose"], row["torquescale"] = None, 0.0
        about = {"label": joint.path, "enabled": joint.enabled}
        soft = self._read_columns(prim)
        kind = kinds.WELD if is_weld else kinds.CONNECT
        if not self._choices.convert_mjc_equality_constraints:
            self._rows._add_equality_constraint(
                self._builder, kind, *bodies, custom_attributes=soft, **row, **about
            )
            return
        try:
            _, index = self._joints.mjc_add_equality_loop_joint(
                self._builder, kind, *bodies, custom_attrs=soft, **row, **about
            )
        except ValueError as error:
            where = Where(self._result.asset.provenance.file, prim=joint.path)
            self._result.reporter.report(EQUALITY_LOST, where, name=joint.path, why=str(error))
            return
        self._result.joint_paths[joint.path] = int(index)

    def _find_site(self, prim: Usd.Prim, name: str) -> Array | None:
        """Where a weld to a site measures its error, as MuJoCo does: at the site; None for a weld to a body."""
        from simwright.usd.xform import read_world

        targets = prim.GetRelationship("physics:body1").GetTargets()
        body = self._paths.get(name, "")
        if not body or not targets or str(targets[0]) == body:
            return None
        site, frame = (read_world(self._stage.GetPrimAtPath(path)).pose for path in (targets[0], body))
        length = float(self._result.asset.provenance.info["metersPerUnit"])
        return (~frame @ site).p * length

    def _order(self, joint: Joint, prim: Usd.Prim) -> tuple[tuple[str, Pose], tuple[str, Pose]]:
        """The two ends as the stage names them; the model has the world first."""
        ends = (joint.parent, joint.parent_frame), (joint.child, joint.child_frame)
        # a world that stands second was turned to the front when it was read
        child = self._paths[joint.child]
        first = [str(target) for target in prim.GetRelationship("physics:body0").GetTargets()]
        if joint.parent == WORLD and first and f"{first[0]}/".startswith(f"{child}/"):
            return ends[1], ends[0]
        return ends

    def add_follower(self, path: str) -> None:
        """A joint whose coordinate is a polynomial of another one's."""
        prim = self._stage.GetPrimAtPath(path)
        leader, coefficients = read_polynomial(prim)
        places = self._places
        where = Where(self._result.asset.provenance.file, prim=path)
        if leader not in places or path not in places:
            why = f"joint {leader or path!r} is not there"
            self._result.reporter.report(EQUALITY_LOST, where, name=path, why=why)
            return
        enabled = prim.GetAttribute("newton:mimicEnabled").Get()
        about = {"label": path, "enabled": enabled is None or bool(enabled)}
        soft = self._read_columns(prim)
        if any(coefficients[2:]):
            self._result.reporter.report(POLYNOMIAL_KEPT, where, name=path)
        if self._choices.convert_mjc_equality_constraints:
            self._joints.mjc_add_equality_mimic(
                self._builder, places[path], places[leader], coefficients, custom_attrs=soft, **about
            )
        else:
            self._rows._add_equality_constraint(
                self._builder,
                self._rows.EqType.JOINT,
                joint1=places[path],
                joint2=places[leader],
                polycoef=coefficients,
                custom_attributes=soft,
                **about,
            )

    def _read_columns(self, prim: Usd.Prim) -> dict[str, Any]:
        values: dict[str, Any] = self._newton.usd.get_custom_attribute_values(
            prim, self._columns, context={"builder": self._builder}
        )
        return values


def read_polynomial(prim: Usd.Prim) -> tuple[str, list[float]]:
    """The path of the leader and five coefficients, the first one in radians for a hinge."""
    from simwright.core.math3d import DEGREE

    targets = prim.GetRelationship("newton:mimicJoint").GetTargets()
    targets = targets or prim.GetRelationship("mjc:target").GetTargets()
    values = []
    for number, fallback in enumerate((0.0, 1.0, 0.0, 0.0, 0.0)):
        own = prim.GetAttribute(f"newton:mimicCoef{number}")
        value, factor = own.Get() if own and own.HasAuthoredValue() else None, 1.0
        # only Newton's own attribute is in degrees
        if value is not None and number == 0 and prim.GetTypeName() == "PhysicsRevoluteJoint":
            factor = DEGREE
        if value is None:
            value = prim.GetAttribute(f"mjc:coef{number}").Get()
        values.append(fallback if value is None else float(value) * factor)
    leader = targets[0].MakeAbsolutePath(prim.GetPath().GetParentPath()) if targets else ""
    return str(leader), values


def _floats(values: Iterable[float]) -> list[float]:
    return [float(value) for value in values]


def add_stage_actuators(
    builder: ModelBuilder, parts: StageParts | None, result: Imported, choices: Choices
) -> set[str]:
    """Newton's actuators with gains, clamping and delay; gives the prims that became one."""
    if parts is None or not parts.actuators or not hasattr(builder, "add_actuator"):
        return set()
    made: set[str] = set()
    is_out, joints = compile_paths(choices), result.path_joint_map
    for prim in parts.actuators:
        path = prim.GetPath().pathString
        if not is_out(path) and not prim.IsInstanceProxy():
            _add_actuator(builder, prim, result, joints, unsafe=choices.allow_unsafe_torch_checkpoints)
            made.add(path)
    result.actuator_count = len(made)
    return made


def _add_actuator(
    builder: ModelBuilder, prim: Usd.Prim, result: Imported, joints: dict[str, int], *, unsafe: bool
) -> None:
    from newton.actuators import Delay, parse_actuator_prim

    path = prim.GetPath().pathString
    try:
        parsed = parse_actuator_prim(prim, allow_unsafe_torch_checkpoints=unsafe)
    except ValueError as error:
        raise UsageError(str(error), where=Where(result.asset.provenance.file, prim=path)) from None
    if parsed is None:
        where = Where(result.asset.provenance.file, prim=path)
        result.reporter.report(ACTUATOR_LOST, where, name=path, why="Newton reads no drive from it")
        return
    joint = joints.get(parsed.target_path)
    if joint is None:
        raise UsageError(
            f"Actuator prim {path} targets {parsed.target_path!r} which does not resolve to a known joint DOF"
        )
    # the last joint ends where all of them end
    starts = builder.joint_qd_start
    count = (starts[joint + 1] if joint + 1 < len(starts) else builder.joint_dof_count) - starts[joint]
    if count != 1:
        raise UsageError(
            f"Actuator prim {path} targets {parsed.target_path!r} which has {count} DOF(s); only "
            "1-DOF joints (Revolute/Prismatic) are supported"
        )
    at, at_q = int(builder.joint_qd_start[joint]), int(builder.joint_q_start[joint])
    delays = [kwargs.get("delay_steps") for kind, kwargs in parsed.component_specs if kind is Delay]
    clamping = [(kind, kwargs) for kind, kwargs in parsed.component_specs if kind is not Delay]
    builder.add_actuator(
        parsed.drive_class,
        index=at,
        clamping=clamping or None,
        delay_steps=delays[-1] if delays else None,
        pos_index=at_q if at_q != at else None,
        **parsed.drive_kwargs,
    )
