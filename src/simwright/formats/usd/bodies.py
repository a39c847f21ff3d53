# SPDX-License-Identifier: Apache-2.0
"""Rigid bodies (UsdPhysicsRigidBodyAPI), articulation roots, and whether the joints make trees (REP-0158 1.3).

A body's pose is rigid; the scale of its prim goes to the shapes and frames on it.  Chains of joints that were written
for one joint of several freedoms (``writer.prepare``) are one joint again.
"""

from __future__ import annotations

import dataclasses
from bisect import bisect_left
from collections.abc import Iterable
from typing import Any

import numpy as np
from pxr import UsdGeom

from simwright.core.diag import Kind, Level, declare
from simwright.core.math3d import DEGREE, Array, Pose
from simwright.formats.usd.naming import name_prims
from simwright.formats.usd.prims import FoundPrim
from simwright.formats.usd.scan import StageScan
from simwright.formats.usd.stage_reader import ZERO, BodyFrame, StageReader
from simwright.formats.usd.transforms import ScaledPose, decompose_many
from simwright.model.asset import Articulation, Body
from simwright.model.joint import WORLD, Joint, JointKind
from simwright.model.kinematics import build_tree


def join_chains(reader: StageReader, scan: StageScan) -> None:
    """One joint of each chain that is whole; its links between go."""
    chains: dict[str, list[Joint]] = {}
    for joint in reader.asset.joints:
        whole = scan.notes.get(joint.path, {}).get("chain_of")
        if isinstance(whole, str) and whole:
            chains.setdefault(whole, []).append(joint)
    for whole, parts in chains.items():
        ordered = _order(parts)
        if ordered is not None and _is_bare(reader, [part.child for part in ordered[:-1]]):
            _join(reader, whole, ordered, scan.notes.get(ordered[-1].path, {}))


def _order(parts: list[Joint]) -> list[Joint] | None:
    """The joints from parent to child; None if they are no chain any more."""
    by_parent = {part.parent: part for part in parts}
    children = {part.child for part in parts}
    first = [part for part in parts if part.parent not in children]
    if len(first) != 1 or len(by_parent) != len(parts):
        return None
    ordered = [first[0]]
    while ordered[-1].child in by_parent and len(ordered) < len(parts):
        ordered.append(by_parent[ordered[-1].child])
    return ordered if len(ordered) == len(parts) > 1 else None


def _is_bare(reader: StageReader, links: list[str]) -> bool:
    """Has nobody put anything on the links between?"""
    asset, names = reader.asset, set(links)
    placed: tuple[Any, ...] = (*asset.shapes, *asset.sites, *asset.cameras, *asset.lights, *asset.sensors)
    return not any(element.body in names for element in placed)


def _join(reader: StageReader, whole: str, parts: list[Joint], note: dict[str, Any]) -> None:
    asset, first, last = reader.asset, parts[0], parts[-1]
    kind = note.get("part_kind")
    dofs = [dataclasses.replace(dof, path=part.path) for part in parts for dof in part.dofs]
    joined = dataclasses.replace(
        last,
        name=whole,
        kind=JointKind(kind) if kind in set(JointKind) else JointKind.D6,
        parent=first.parent,
        parent_frame=first.parent_frame,
        dofs=dofs,
        rest=None,
    )
    # by identity: a joint has no other key, and names may repeat in damaged assets
    gone = {id(part) for part in parts[:-1]}
    links = {part.child for part in parts[:-1]}
    asset.joints = [joined if j is last else j for j in asset.joints if id(j) not in gone]
    asset.bodies = [body for body in asset.bodies if body.name not in links]
    if not joined.collide:
        _drop_filter(reader, {joined.parent, joined.child})
    _move_articulations(reader, joined, links, {part.path for part in parts})


def _drop_filter(reader: StageReader, ends: set[str]) -> None:
    """The pair of the two ends that the writer filtered: their one joint says it again."""
    filters = reader.asset.contact_filters
    reader.asset.contact_filters = [pair for pair in filters if pair.of != "body" or {pair.a, pair.b} != ends]


def _move_articulations(reader: StageReader, joined: Joint, links: set[str], joints: set[str]) -> None:
    """Articulations at a link or joint of the chain are at the child or the joint that is left; its links go."""
    paths = {path for path, body in reader.bodies.items() if body.name in links}
    reader.bodies = {path: body for path, body in reader.bodies.items() if path not in paths}
    home = next(path for path, body in reader.bodies.items() if body.name == joined.child)
    for articulation in reader.asset.articulations:
        if articulation.root in links:
            articulation.root = joined.child
        if articulation.path in paths:
            articulation.path = home
        elif articulation.path in joints:
            articulation.path = joined.path


BODY_MIRRORED = declare(
    "usd-body-mirrored",
    Level.WARNING,
    "the world transform of rigid body {name!r} is mirrored",
    hint="bake the mirroring into the geometry; bodies need a rotation without scale",
    doc="A rigid body sits under a negative scale. Its shapes are mirrored, its axes stay right-handed.",
    section="1.1",
)
BODY_SHEARED = declare(
    "usd-body-sheared",
    Level.WARNING,
    "the world transform of rigid body {name!r} is sheared; the nearest rotation is used",
    hint="remove non-uniform scale above the body",
    doc="A rigid body sits under a rotated, unevenly scaled ancestor.",
    section="1.1",
)
BODY_NESTED = declare(
    "usd-body-nested",
    Level.INFO,
    "rigid body {name!r} lies below rigid body {outer!r} without resetting its transform",
    hint="if a tool refuses it, put !resetXformStack! in its xformOpOrder, or make the two siblings",
    doc="OpenUSD before 26 wants nested bodies to reset their transform. Both are read as bodies of their own.",
)
BODY_ANIMATED = declare(
    "usd-body-animated",
    Level.INFO,
    "rigid body {name!r} has an animated transform; its pose at time {time} is read",
    hint="choose another time code to read at",
    doc="Time samples are left out of the model; one moment is.",
)
BODY_ASLEEP = declare(
    "usd-body-asleep",
    Level.WARNING,
    "rigid body {name!r} starts asleep, which the model has no field for",
    doc="physics:startsAsleep is true.",
    loss=True,
)


def read_bodies(reader: StageReader, scan: StageScan) -> None:
    """Add every rigid body."""
    names = name_prims(scan.bodies, noted=reader.noted)
    matrices = reader.world_matrices(scan.bodies)
    placements = decompose_many(matrices)
    # all frames first: what is reported of a body may name the body above it
    frames: dict[str, BodyFrame] = {}
    for number, (found, placement) in enumerate(zip(scan.bodies, placements, strict=True)):
        name = names[found.path]
        frames[found.path] = BodyFrame(
            name, placement.pose, placement.scale, number, placement.is_exact, placement.is_unscaled
        )
    reader.add_frames(frames)
    for found, placement, matrix in zip(scan.bodies, placements, matrices, strict=True):
        name = names[found.path]
        _report_oddities(reader, scan, found, placement, name)
        reader.asset.bodies.append(_read_body(reader, found, name, matrix, placement.pose))


def _read_body(reader: StageReader, found: FoundPrim, name: str, matrix: Array, pose: Pose) -> Body:
    linear, angular = _read_velocity(reader, found, matrix, pose)
    is_usual = _is_usual(found)
    return Body(
        name=name,
        pose=pose,
        kinematic=not is_usual and reader.get_flag(found, "physics:kinematicEnabled", False),
        enabled=is_usual or reader.get_flag(found, "physics:rigidBodyEnabled", True),
        linear_velocity=linear,
        angular_velocity=angular,
        path=found.path,
        source=reader.where(found),
    )


def _report_oddities(
    reader: StageReader, scan: StageScan, found: FoundPrim, placement: ScaledPose, name: str
) -> None:
    def report(kind: Kind, **data: Any) -> None:
        reader.reporter.report(kind, reader.where(found), name=name, **data)

    if not placement.is_unscaled:
        if placement.is_mirrored:
            report(BODY_MIRRORED)
        if placement.stretch is not None:
            report(BODY_SHEARED)
    # physics moves nested bodies on their own, which a parent transform would move twice
    if found.parent_owner and not _resets_transform(scan, found):
        report(BODY_NESTED, outer=scan.all[found.parent_owner].name)
    if reader.animated and _is_placed(found) and UsdGeom.Xformable(found.prim).TransformMightBeTimeVarying():
        report(BODY_ANIMATED, time=reader.time)
    if not _is_usual(found) and reader.get_flag(found, "physics:startsAsleep", False):
        report(BODY_ASLEEP)


_SWITCHES = frozenset({"physics:kinematicEnabled", "physics:rigidBodyEnabled", "physics:startsAsleep"})


def _is_usual(found: FoundPrim) -> bool:
    """Is it dynamic, enabled and awake, as UsdPhysicsRigidBodyAPI has it where nobody says otherwise?"""
    return found.authored is not None and _SWITCHES.isdisjoint(found.authored)


_VELOCITIES = frozenset({"physics:velocity", "physics:angularVelocity"})


def _read_velocity(
    reader: StageReader, found: FoundPrim, matrix: Array, pose: Pose
) -> tuple[Array | None, Array | None]:
    """Velocities are authored in the prim's own space, angular ones in degrees per second."""
    if found.authored is not None and _VELOCITIES.isdisjoint(found.authored):
        return None, None
    velocity = reader.get_finite(found, "physics:velocity", ZERO)
    spin = reader.get_finite(found, "physics:angularVelocity", ZERO)
    return (
        # with the scale: UsdPhysics gives velocities in the space of the prim, so a scaled prim scales them
        matrix[:3, :3] @ np.array(velocity) * reader.units.length if any(velocity) else None,
        pose.rotation @ np.array(spin) * DEGREE if any(spin) else None,
    )


def _resets_transform(scan: StageScan, found: FoundPrim) -> bool:
    """Is the transform stack reset somewhere between the prim and the outer body?"""
    path, outer = found.path, found.parent_owner
    while path != outer:
        at = scan.all[path]
        if _is_placed(at) and UsdGeom.Xformable(at.prim).GetResetXformStack():
            return True
        path = path.rpartition("/")[0]
    return False


def _is_placed(found: FoundPrim) -> bool:
    """Can it have a transform of its own?"""
    return found.schemas.is_xformable and found.may_author("xformOpOrder")


def read_articulations(reader: StageReader, scan: StageScan) -> None:
    """Add every articulation root; ``root`` is the body it is on or holds to the world, else its prim path."""
    names = name_prims(scan.articulations, noted=reader.noted)
    held = {joint.path: joint.child for joint in reader.asset.joints if joint.parent == WORLD}
    bases = {found.path: held[found.path] for found in scan.articulations if found.path in held}
    for found in scan.articulations:
        body = reader.bodies.get(found.path)
        base = body.name if body else bases.get(found.path, "")
        reader.asset.articulations.append(
            Articulation(
                # the base has the same name wherever the root is declared
                name=base if found.path in bases else names[found.path],
                root=base or found.path,
                path=found.path,
                source=reader.where(found),
            )
        )


JOINT_CYCLE = declare(
    "usd-joint-cycle",
    Level.WARNING,
    "joint {name!r} closes a loop but does not say physics:excludeFromArticulation",
    hint="author physics:excludeFromArticulation = true on the joint that closes the loop",
    doc="Articulations must form a tree; the joint is taken as the one that closes the loop.",
    section="1.3",
)
ARTICULATION_ROOTS = declare(
    "usd-articulation-roots",
    Level.WARNING,
    "the tree of body {body!r} has {count} articulation roots: {roots}",
    hint="delete PhysicsArticulationRootAPI on all but one",
    doc="A connected kinematic tree has more than one articulation root.",
    section="1.3",
)
ARTICULATION_EMPTY = declare(
    "usd-articulation-empty",
    Level.WARNING,
    "articulation root {name!r} has no rigid body on it, below it or at its joint",
    hint="apply PhysicsArticulationRootAPI to a body, a joint to the world, or an ancestor of the bodies",
    doc="An articulation root stands where it concerns no body.",
    section="1.3",
)


def check_topology(reader: StageReader) -> None:
    """Report loops that are not declared and trees with several articulation roots."""
    # after notes and stacks, which change what the joints are
    tree = build_tree(reader.asset)
    for joint in tree.loops:
        # a distance joint holds nothing in place, so it closes no loop of an articulation
        if not (joint.closes_loop or joint.distance is not None):
            reader.reporter.report(JOINT_CYCLE, joint.source, name=joint.name)
    component: dict[str, str] = {root: root for root in tree.roots}
    for edge in tree.edges:
        component[edge.child] = edge.child if edge.parent == WORLD else component[edge.parent]
    _check_roots(reader, component)


def _check_roots(reader: StageReader, component: dict[str, str]) -> None:
    roots: dict[str, list[str]] = {}
    members = ArticulationMembers(reader)
    for articulation in reader.asset.articulations:
        bodies = members.find(articulation.path)
        if not bodies:
            reader.reporter.report(ARTICULATION_EMPTY, articulation.source, name=articulation.name)
        for tree in dict.fromkeys(component[body] for body in bodies):
            roots.setdefault(tree, []).append(articulation.path)
    for body, paths in roots.items():
        if len(paths) > 1:
            where = reader.asset.body(body).source
            reader.reporter.report(
                ARTICULATION_ROOTS, where, body=body, count=len(paths), roots=", ".join(paths)
            )


class ArticulationMembers:
    """Who belongs to an articulation root; many roots are asked for, so paths are indexed once."""

    def __init__(self, reader: StageReader) -> None:
        self._below = PathIndex(reader.bodies)
        self._names = [frame.name for frame in reader.bodies.values()]
        self._children = {joint.path: joint.child for joint in reader.asset.joints}

    def find(self, path: str) -> list[str]:
        """Bodies on or below an articulation root, or the child of the joint it is on."""
        names = [self._names[number] for number in self._below.find(path)]
        if path in self._children:
            names.append(self._children[path])
        return names


class PathIndex:
    """Finds the paths at or below another one without looking at all of them."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._rows = sorted((f"{path}/", number) for number, path in enumerate(paths))
        self._paths = [path for path, _ in self._rows]

    def find(self, path: str) -> list[int]:
        """Positions, in the order the paths came in."""
        prefix = path.rstrip("/") + "/"
        first = bisect_left(self._paths, prefix)
        # the first path that sorts after everything with the prefix
        last = bisect_left(self._paths, prefix[:-1] + chr(ord("/") + 1))
        return sorted(number for _, number in self._rows[first:last])


def find_members(reader: StageReader, path: str) -> list[str]:
    """Members of one articulation root (see :class:`ArticulationMembers`, which is faster for many)."""
    return ArticulationMembers(reader).find(path)
