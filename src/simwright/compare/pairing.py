# SPDX-License-Identifier: Apache-2.0
"""What corresponds to what in two assets: bodies, joints, dofs and rigid groups.

Each asset is prepared first: its tree, its masses, and which bodies are one rigid *group*, held together by fixed
joints.  What is fixed to the world, or does not move, is the group of the world.  Whether a file writes a frame as a
massless link or as a site, what is attached to it is in the same group at the same place.

Elements are matched by name, then by the name ROS uses, then by the name made legal for OpenUSD.  A body whose
name changed is matched by the joint that leads to it.  Freedoms (dofs of the mechanism) are matched by their own names,
so a joint with several freedoms and a chain of single joints with massless bodies between them can be the same; those
that are left over in matched joints are matched by motion and axis.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from simwright.compare.difference import DifferenceItem, DifferenceSection
from simwright.core.math3d import IDENTITY, Array, Pose
from simwright.core.names import make_identifier
from simwright.model.asset import Asset
from simwright.model.inertia import Inertial, combine
from simwright.model.joint import WORLD, Joint
from simwright.model.kinematics import Edge, Tree, build_tree
from simwright.model.mass import body_inertials
from simwright.model.mechanism import Freedom, Mechanism, compile_mechanism


@dataclass(slots=True, eq=False)
class ComparedAsset:
    """One of the two assets with its tree, its masses and its rigid groups.

    ``places`` gives the group of each body (named by its first body) and the body's pose in it.
    """

    asset: Asset
    tree: Tree
    inertials: dict[str, Inertial]
    edges: dict[str, Edge]
    places: dict[str, tuple[str, Pose]] = field(default_factory=dict)
    groups: dict[str, list[str]] = field(default_factory=dict)

    def place(self, body: str, pose: Pose) -> tuple[str, Pose]:
        """The group that a frame on a body belongs to, and its pose there."""
        group, at = self.places.get(body, (WORLD, IDENTITY))
        return group, at @ pose

    def closes_loop(self, joint: Joint) -> bool:
        """Is a joint outside of the tree, closing a loop?"""
        # by identity: joints of two files may be equal in every value
        return any(joint is other for other in self.tree.loops)

    def lump(self, group: str) -> Inertial:
        """Mass properties of a whole group, in its frame."""
        return combine(self.inertials[name].moved(self.places[name][1]) for name in self.groups[group])

    def carve(self, bodies: list[str]) -> str:
        """Make a group of its own of some bodies of one group; gives its name."""
        first = bodies[0]
        old, base = self.places[first]
        # the world group is never taken whole: its frame is the world's
        if set(bodies) == set(self.groups.get(old, ())) and old:
            return old
        name = first if first != old else f"{first} (part)"
        for body in bodies:
            self.groups[old].remove(body)
            self.places[body] = (name, ~base @ self.places[body][1])
        self.groups[name] = list(bodies)
        return name


def prepare_asset(asset: Asset) -> ComparedAsset:
    """The tree, mass properties and rigid groups of an asset."""
    tree = build_tree(asset)
    side = ComparedAsset(asset, tree, body_inertials(asset), tree.parents())
    side.places[WORLD] = (WORLD, IDENTITY)
    bodies = {body.name: body for body in asset.bodies}
    for root in tree.roots:
        body = bodies[root]
        # such a body does not move: what is attached to it is attached to the world
        still = body.kinematic or not body.enabled
        side.places[root] = (WORLD, body.pose) if still else (root, IDENTITY)
    for edge in tree.edges:
        if edge.joint.dofs:
            side.places[edge.child] = (edge.child, IDENTITY)
        else:
            side.places[edge.child] = side.place(edge.parent, edge.transform(()))
    for body in asset.bodies:
        side.groups.setdefault(side.places[body.name][0], []).append(body.name)
    return side


Anchor = tuple[str, Pose, Pose]
"""The group on the other side, and a common frame on both."""


@dataclass(slots=True, eq=False)
class Pairing:
    """Matches from ``a`` to ``b`` by name; ``anchors`` by group of ``a``; freedoms as pairs.

    ``mechanisms`` count free bases for frames that both sides have; ``shapes`` keeps matched shapes by role.
    ``has_one_zero``: both assets count joint coordinates from the same zero, whatever they start at.
    """

    a: ComparedAsset
    b: ComparedAsset
    bodies: dict[str, str] = field(default_factory=dict)
    joints: dict[str, str] = field(default_factory=dict)
    anchors: dict[str, Anchor] = field(default_factory=dict)
    mechanisms: tuple[Mechanism, Mechanism] = field(default_factory=lambda: (Mechanism(), Mechanism()))
    freedoms: list[tuple[Freedom, Freedom]] = field(default_factory=list)
    bases: tuple[dict[str, Pose], dict[str, Pose]] = field(default_factory=lambda: ({}, {}))
    shapes: dict[str, Any] = field(default_factory=dict)
    has_one_zero: bool = True

    def lost(self, bodies: bool = True) -> tuple[list[str], list[str]]:
        """Names of bodies (or joints) that only one side has."""
        pairs = self.bodies if bodies else self.joints
        taken = set(pairs.values())
        first, second = (s.asset.bodies if bodies else s.asset.joints for s in (self.a, self.b))
        return [x.name for x in first if x.name not in pairs], [x.name for x in second if x.name not in taken]

    def zeros(self, a: Freedom, b: Freedom) -> tuple[float, float]:
        """Coordinates of two matched freedoms that mean the same place."""
        return a.dof.ref, a.dof.ref if self.has_one_zero else b.dof.ref

    def meet(self, at_a: tuple[str, Pose], at_b: tuple[str, Pose]) -> tuple[Pose, Pose] | None:
        """Frames on bodies of ``a`` and ``b`` seen from a common frame; None if they hang on different pieces."""
        (group_a, pose_a), (group_b, pose_b) = self.a.place(*at_a), self.b.place(*at_b)
        anchor = self.anchors.get(group_a)
        if anchor is None or anchor[0] != group_b:
            return None
        return ~anchor[1] @ pose_a, ~anchor[2] @ pose_b


def pair_assets(a: ComparedAsset, b: ComparedAsset) -> Pairing:
    """Match bodies, joints, groups and freedoms of two assets."""
    pairing = Pairing(a, b)
    pairing.bodies = {WORLD: WORLD, **match_elements(a.asset.bodies, b.asset.bodies)}
    pairing.joints = match_elements(
        a.asset.joints, b.asset.joints, lambda joint: joint.public_name, lambda joint: joint.name
    )
    _match_by_joints(pairing)
    _anchor_groups(pairing)
    pairing.bases = _choose_bases(pairing)
    first, second = (
        compile_mechanism(side.asset, side.tree, bases)
        for side, bases in zip((a, b), pairing.bases, strict=True)
    )
    pairing.mechanisms = (first, second)
    pairing.freedoms = _match_freedoms(pairing)
    pairing.has_one_zero = _has_one_zero(pairing)
    return pairing


# one function: the same neutral pose is computed in two ways and compared
def _has_one_zero(pairing: Pairing) -> bool:
    """Do equal coordinates mean equal poses, or only equal distances from the reference coordinates?"""
    turned = [(a, b) for a, b in pairing.freedoms if a.dof.ref != b.dof.ref]
    if not turned:
        return True
    first, second = pairing.mechanisms
    q_a, q_b = first.neutral(), second.neutral()
    for a, b in pairing.freedoms:
        if a.is_base:
            q_b[b.positions] = q_a[a.positions]
    absolute = q_b.copy()
    for a, b in turned:
        absolute[b.positions] = q_a[a.positions]
    rows = {name: number for number, name in enumerate(second.bodies)}
    twins = [(n, rows[pairing.bodies[name]]) for n, name in enumerate(first.bodies) if name in pairing.bodies]
    if not twins:
        return True
    here = first.move(q_a).bodies[[x for x, _ in twins]]
    gaps = [float(np.abs(second.move(q).bodies[[y for _, y in twins]] - here).max()) for q in (absolute, q_b)]
    return gaps[0] <= gaps[1]


def match_elements(a: Sequence[Any], b: Sequence[Any], *keys: Callable[[Any], str]) -> dict[str, str]:
    """Names in ``a`` -> names in ``b``, by each key in turn and by that key made legal; no name is used twice."""
    matches: dict[str, str] = {}
    taken: set[str] = set()
    ways: list[Callable[[Any], str]] = []
    for key in keys or (lambda element: str(element.name),):
        # exact names first, then names as a writer may have changed them
        ways += [key, lambda element, key=key: make_identifier(key(element)).lower()]  # type: ignore[misc]
    for way in ways:
        left = _index((x for x in b if x.name not in taken), way)
        for word, name in _index((x for x in a if x.name not in matches), way).items():
            if word in left:
                matches[name] = left[word]
                taken.add(left[word])
    return matches


def same_name(a: str, b: str) -> bool:
    """The same name, or the same once made legal."""
    return a == b or make_identifier(a).lower() == make_identifier(b).lower()


def _index(elements: Iterable[Any], way: Callable[[Any], str]) -> dict[str, str]:
    """Elements by their word, those with the same word left out."""
    found: dict[str, list[str]] = {}
    for element in elements:
        found.setdefault(way(element), []).append(element.name)
    # two elements with one name: a guess would compare the wrong ones
    return {word: names[0] for word, names in found.items() if len(names) == 1}


def _match_by_joints(pairing: Pairing) -> None:
    """Bodies that the same joint leads to are the same."""
    joints = {joint.name: joint for joint in pairing.b.asset.joints}
    taken = set(pairing.bodies.values())
    for joint in pairing.a.asset.joints:
        other = joints.get(pairing.joints.get(joint.name, ""))
        if other is None or joint.child not in pairing.a.places or other.child not in pairing.b.places:
            continue
        if joint.child not in pairing.bodies and other.child not in taken:
            pairing.bodies[joint.child] = other.child
            taken.add(other.child)


def _anchor_groups(pairing: Pairing) -> None:
    """Groups that share a body correspond.

    Where one side holds pieces together that the other does not, the shared bodies are carved out, so that what
    hangs on them can still be compared.
    """
    pairing.anchors[WORLD] = (WORLD, IDENTITY, IDENTITY)
    shared: dict[tuple[str, str], list[str]] = {}
    for body, twin in pairing.bodies.items():
        if body:
            groups = pairing.a.places[body][0], pairing.b.places[twin][0]
            shared.setdefault(groups, []).append(body)
    taken = {WORLD}
    apart = []
    for (group_a, group_b), bodies in shared.items():
        if group_a not in pairing.anchors and group_b not in taken:
            _anchor(pairing, bodies[0])
            taken.add(group_b)
        # one asset welds what the other keeps apart
        elif pairing.anchors.get(group_a, ("?",))[0] != group_b:
            apart.append(bodies)
    for bodies in apart:
        pairing.a.carve(bodies)
        pairing.b.carve([pairing.bodies[name] for name in bodies])
        _anchor(pairing, bodies[0])


def _anchor(pairing: Pairing, body: str) -> None:
    (group_a, pose_a), (group_b, pose_b) = pairing.a.places[body], pairing.b.places[pairing.bodies[body]]
    pairing.anchors[group_a] = (group_b, pose_a, pose_b)


def _choose_bases(pairing: Pairing) -> tuple[dict[str, Pose], dict[str, Pose]]:
    """For the first body of each matched group, the frame on it that both sides know."""
    first = {group: anchor[1] for group, anchor in pairing.anchors.items() if group}
    second = {anchor[0]: anchor[2] for group, anchor in pairing.anchors.items() if group}
    return first, second


# one function: by base, then by name, then by axis; each takes what the one before left
def _match_freedoms(pairing: Pairing) -> list[tuple[Freedom, Freedom]]:
    first, second = pairing.mechanisms
    matches = _match_bases(pairing, first, second)
    left_a, left_b = ([f for f in mechanism.freedoms if not f.is_base] for mechanism in (first, second))
    by_name = {f.name: f for f in left_b}
    names = match_elements(left_a, left_b)
    named = [(f, by_name[names[f.name]]) for f in left_a if f.name in names]
    named = [(f, twin) for f, twin in named if f.dof.motion is twin.dof.motion]
    matches += named
    used = {id(f) for pair in named for f in pair}
    left_a, left_b = ([f for f in left if id(f) not in used] for left in (left_a, left_b))
    return matches + _match_axes(pairing, left_a, left_b)


def _match_bases(pairing: Pairing, first: Mechanism, second: Mechanism) -> list[tuple[Freedom, Freedom]]:
    others = {f.body: f for f in second.freedoms if f.is_base}
    matches = []
    for freedom in first.freedoms:
        anchor = pairing.anchors.get(freedom.body) if freedom.is_base else None
        if anchor is not None and anchor[0] in others:
            matches.append((freedom, others[anchor[0]]))
    return matches


def _match_axes(
    pairing: Pairing, left_a: list[Freedom], left_b: list[Freedom]
) -> list[tuple[Freedom, Freedom]]:
    """Freedoms of matched joints whose own names differ: the same motion along the nearest axis."""
    first, second = (mechanism.move(mechanism.neutral()).screws[:, 0] for mechanism in pairing.mechanisms)
    matches = []
    for freedom in left_a:
        assert freedom.joint is not None
        wanted = pairing.joints.get(freedom.joint.name)
        candidates = [f for f in left_b if _name_of(f.joint) == wanted and f.dof.motion is freedom.dof.motion]
        if candidates:
            axis = _axis(first, freedom)
            best = max(candidates, key=lambda f: float(axis @ _axis(second, f)))
            left_b.remove(best)
            matches.append((freedom, best))
    return matches


def _name_of(joint: Joint | None) -> str:
    return "" if joint is None else joint.name


def _axis(screws: Array, freedom: Freedom) -> Array:
    screw = screws[freedom.velocity]
    # screws are rotation first, then translation
    axis: Array = screw[:3] if np.any(screw[:3]) else screw[3:]
    return axis


MUJOCO = "mjc"
"""The namespace of MuJoCo's own attributes."""


def speaks_mujoco(asset: Asset) -> bool:
    """Does an asset give MuJoCo's attributes?  Then those it does not give are MuJoCo's defaults."""
    return asset.provenance.format == "mjcf" or MUJOCO in asset.extras.table


def find_mujoco(asset: Asset, element: Any, family: str, attribute: str, part: str = "") -> Any:
    """An attribute of MuJoCo's that was kept for an element, None if it is not said.

    ``part`` is the freedom that is meant where a joint has several, which are joints of their own in MJCF.
    """
    # the reader of MJCF keeps it by family and name, that of OpenUSD by prim; a mesh may be inside of an instance
    path = getattr(element, "path", "")
    # that of a tendon is the way it takes
    path = path if isinstance(path, str) else ""
    keys: tuple[str | None, ...] = (
        path,
        f"{family}/{element.name}",
        element.source.prim if hasattr(element, "source") else None,
        path.rpartition("/")[0],
    )
    names = (attribute, f"{MUJOCO}:{attribute}")
    if part:
        keys = (f"{family}/{part}", path)
        names = (attribute, f"{MUJOCO}:{family}:{make_identifier(part)}:{attribute}")
    for key in dict.fromkeys(key for key in keys if key):
        for name in names:
            value = asset.extras.get(MUJOCO, key, name)
            if value is not None:
                return _scale_width(asset, value) if attribute.startswith("solimp") else value
        ends = [asset.extras.get(MUJOCO, key, f"{MUJOCO}:{attribute}:{end}") for end in ("min", "max")]
        # a range is two attributes in OpenUSD
        if None not in ends:
            return ends
    return None


def _scale_width(asset: Asset, value: Any) -> Any:
    """A solimp in metres: of its five numbers the third is a length, which OpenUSD gives in units of its stage."""
    unit = float(asset.provenance.info.get("metersPerUnit", 1.0))
    numbers = [float(number) for number in value]
    return [number * unit if place == 2 else number for place, number in enumerate(numbers)]


def pair_by_name(
    section: DifferenceSection, word: str, first: Sequence[Any], second: Sequence[Any], told: str = "name"
) -> list[tuple[Any, Any]]:
    """Elements of the first side, each with its twin of the second; those of one side only become items.

    ``told`` is the attribute that an item gives of an element that is missing on the other side.
    """
    matches = match_elements(first, second)
    twins = {element.name: element for element in second}
    taken = set(matches.values())
    section.compared += len(matches)
    section.items += [
        DifferenceItem(f"{word} {x.name!r}", word, getattr(x, told), None)
        for x in first
        if x.name not in matches
    ]
    section.items += [
        DifferenceItem(f"{word} {x.name!r}", word, None, getattr(x, told))
        for x in second
        if x.name not in taken
    ]
    return [(x, twins[matches[x.name]]) for x in first if x.name in matches]
