# SPDX-License-Identifier: Apache-2.0
"""What belongs to an articulation: its bodies and joints, the joints that close loops in it, and what holds it."""

from __future__ import annotations

from dataclasses import dataclass, field

from simwright.model.asset import Articulation, Asset
from simwright.model.filtering import list_articulated
from simwright.model.joint import WORLD, JointKind
from simwright.model.kinematics import Tree


@dataclass(slots=True)
class Base:
    """The first body of a tree, and the joint that holds it to the world; without one (empty), it floats."""

    body: str
    joint: str = ""
    kind: JointKind = JointKind.FLOATING


@dataclass(slots=True)
class Members:
    """Names of all that belongs to an articulation, in the order of the asset.

    ``joints`` carry the bodies, ``loop_joints`` close loops between them; ``bases`` has one entry per tree, which is
    one for an articulation that hangs together.
    """

    bodies: list[str] = field(default_factory=list)
    joints: list[str] = field(default_factory=list)
    loop_joints: list[str] = field(default_factory=list)
    bases: list[Base] = field(default_factory=list)


def find_members(asset: Asset, articulation: Articulation, tree: Tree) -> Members:
    """The members of an articulation; the tree is that of the asset."""
    bodies = list_articulated(asset, articulation, tree)
    inside = {*bodies, WORLD}
    carriers = {edge.joint.name for edge in tree.edges if edge.child in inside}
    closing = {j.name for j in tree.loops if {j.parent, j.child} <= inside}
    held = {edge.child: edge.joint for edge in tree.edges if edge.parent == WORLD}
    floating = set(tree.roots)
    return Members(
        bodies,
        [joint.name for joint in asset.joints if joint.name in carriers],
        [joint.name for joint in asset.joints if joint.name in closing],
        [
            Base(name, held[name].name, held[name].kind) if name in held else Base(name)
            for name in bodies
            if name in held or name in floating
        ],
    )
