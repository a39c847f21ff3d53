# SPDX-License-Identifier: Apache-2.0
"""The order in which bodies and joints go into flat arrays: branch by branch, parents before children.

Newton wants every joint in an articulation whose joints stand side by side, and joints that lead from parent
to child.  A branch is one such articulation.  Joints are followed forwards as long as that reaches something
new, then backwards; what is left closes loops, and so does a joint that is switched off.  Joints of a USD stage
are taken by path, as Newton takes them, so that indices are those of its own importer.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from simwright.core.errors import UsageError
from simwright.model.asset import Articulation, Asset
from simwright.model.joint import WORLD, Joint, JointKind


@dataclass(slots=True, eq=False)
class BranchStep:
    """One body and the joint that carries it; without a joint the body floats."""

    body: str
    parent: str = WORLD
    joint: Joint | None = None
    reversed: bool = False


@dataclass(slots=True, eq=False)
class Branch:
    """One articulation: its steps, and the articulation root it was declared by, if there is one."""

    steps: list[BranchStep] = field(default_factory=list)
    declared: Articulation | None = None

    def order_bodies(self, names: Iterable[str], *, follow_joints: bool) -> list[BranchStep]:
        """The steps in the order in which bodies are added: that of the joints, or that of ``names``."""
        if follow_joints:
            return self.steps
        place = {name: i for i, name in enumerate(names)}
        return sorted(self.steps, key=lambda step: place[step.body])


@dataclass(slots=True, eq=False)
class BranchPlan:
    """All branches, and the joints that close loops between the bodies in them."""

    branches: list[Branch] = field(default_factory=list)
    loops: list[Joint] = field(default_factory=list)


def plan_branches(
    asset: Asset, ordering: str | None = "dfs", *, only_enabled: bool = True, lone_roots: bool = True
) -> BranchPlan:
    """Branches of an asset: declared articulations first, in their order, then the rest in body order.

    ``ordering`` is depth first ("dfs"), breadth first ("bfs") or that of the joints (None); ``only_enabled`` leaves
    joints out that are switched off.  Without ``lone_roots``, an articulation root declares nothing if all its bodies
    hang on the world, each for itself, and no joint closes a loop between them.
    """
    if ordering not in ("dfs", "bfs", None):
        raise UsageError(f"joint_ordering is {ordering!r}", hint='"dfs", "bfs" or None')
    search = _BranchSearch(asset, depth_first=ordering != "bfs", only_enabled=only_enabled)
    search.reach_all([body.name for body in asset.bodies])
    search.hang_by_distance()
    branches = [branch for branch in search.branches if branch.steps]
    _declare(asset, branches)
    if not lone_roots:
        _leave_lone(asset, branches)
    _sort_branches(asset, branches)
    if ordering is None:
        place = {id(joint): i for i, joint in enumerate(search.joints)}
        for branch in branches:
            # the root stays first: it has no joint, or one to the world, which the others hang on
            branch.steps[1:] = sorted(branch.steps[1:], key=lambda step: place[id(step.joint)])
    loops = [joint for joint in search.joints if id(joint) not in search.used]
    return BranchPlan(branches, loops)


def _leave_lone(asset: Asset, branches: list[Branch]) -> None:
    """Take the articulation root from bodies that are all it has, each on a joint to the world and on no other body."""
    beside = {
        name
        for joint in asset.joints
        if WORLD not in (joint.parent, joint.child)
        for name in (joint.parent, joint.child)
    }
    joined = {
        id(branch.declared)
        for branch in branches
        if len(branch.steps) > 1 or branch.steps[0].joint is None or branch.steps[0].body in beside
    }
    for branch in branches:
        if id(branch.declared) not in joined:
            branch.declared = None


def _sort_branches(asset: Asset, branches: list[Branch]) -> None:
    """Declared articulations first, in their order, then by their first body in the asset."""
    number = {id(articulation): i for i, articulation in enumerate(asset.articulations)}
    first = {body.name: i for i, body in enumerate(asset.bodies)}
    branches.sort(
        key=lambda b: (number.get(id(b.declared), len(number)), min(first[step.body] for step in b.steps))
    )


class _BranchSearch:
    """The state of the search: which branch holds each body, and which joints are spoken for."""

    def __init__(self, asset: Asset, *, depth_first: bool, only_enabled: bool) -> None:
        self.depth_first = depth_first
        self.joints = _list_joints(asset, only_enabled=only_enabled)
        tree = [joint for joint in self.joints if joint.enabled and not joint.closes_loop]
        self.carriers = [joint for joint in tree if joint.kind is not JointKind.DISTANCE]
        self.distances = [joint for joint in tree if joint.kind is JointKind.DISTANCE]
        self.leaving: dict[str, list[Joint]] = {}
        for joint in self.carriers:
            self.leaving.setdefault(joint.parent, []).append(joint)
        self.branches: list[Branch] = []
        self.branch_of: dict[str, Branch] = {}
        self.used: set[int] = set()

    def reach_all(self, order: list[str]) -> None:
        """Put every body into a branch: those on the world, those that nothing carries, then one of each cycle."""
        self.spread(WORLD)
        self.turn_around()
        held = {joint.child for joint in self.carriers}
        for candidates in ([name for name in order if name not in held], order):
            for name in candidates:
                if name not in self.branch_of:
                    self.start(BranchStep(name))
                    self.spread(name)
                    self.turn_around()

    def start(self, step: BranchStep) -> None:
        """A new branch with this body at its root."""
        self.branches.append(Branch([step]))
        self.branch_of[step.body] = self.branches[-1]

    def spread(self, start: str) -> None:
        """Depth first (or breadth first) along joints that lead away from ``start``, in their order."""
        open_ends = deque([iter(self.leaving.get(start, ()))])
        while open_ends:
            joint = next(open_ends[-1 if self.depth_first else 0], None)
            # depth first takes the newest open end, breadth first the oldest
            if joint is None:
                _ = open_ends.pop() if self.depth_first else open_ends.popleft()
            elif joint.child not in self.branch_of and joint.child != WORLD:
                self._carry(joint, BranchStep(joint.child, joint.parent, joint))
                open_ends.append(iter(self.leaving.get(joint.child, ())))

    def turn_around(self) -> None:
        """Reach, against their direction, bodies that hang on those already reached."""
        found = True
        while found:
            found = False
            for joint in self.carriers:
                # the world is reached from the start, also by a joint that leads from a body to it
                reached = joint.child == WORLD or joint.child in self.branch_of
                if reached and joint.parent != WORLD and joint.parent not in self.branch_of:
                    self._carry(joint, BranchStep(joint.parent, joint.child, joint, reversed=True))
                    self.spread(joint.parent)
                    found = True

    def hang_by_distance(self) -> None:
        """A distance joint has all six freedoms in Newton: it carries a body that would float beside it."""
        for joint in self.distances:
            branch = self.branch_of.get(joint.child)
            above = self.branch_of.get(joint.parent)
            # inside of one branch it closes a loop
            if branch is None or above is branch or branch.steps[0].body != joint.child:
                continue
            root = branch.steps[0]
            if root.joint is not None:
                continue
            root.joint, root.parent = joint, joint.parent
            self.used.add(id(joint))
            if above is not None:
                # behind what is there: parents stay before children
                above.steps += branch.steps
                for step in branch.steps:
                    self.branch_of[step.body] = above
                branch.steps = []

    def _carry(self, joint: Joint, step: BranchStep) -> None:
        self.used.add(id(joint))
        if step.parent == WORLD:
            self.start(step)
        else:
            branch = self.branch_of[step.parent]
            branch.steps.append(step)
            self.branch_of[step.body] = branch


def _list_joints(asset: Asset, *, only_enabled: bool) -> list[Joint]:
    """Joints between two different bodies that are there, in the order in which they are followed."""
    names = {WORLD, *(body.name for body in asset.bodies)}
    joints = [
        joint
        for joint in asset.joints
        if (joint.enabled or not only_enabled)
        and {joint.parent, joint.child} <= names
        and joint.parent != joint.child
    ]
    if asset.provenance.format == "usd":
        # by the parts of the path, not its text: "/a/b" comes before "/a-c" then, as a stage is traversed
        joints.sort(key=lambda joint: joint.path.split("/"))
    return joints


def _declare(asset: Asset, branches: list[Branch]) -> None:
    """Give each branch the articulation root that stands on, above or at a joint of one of its bodies."""
    bodies = {body.name: body for body in asset.bodies}
    for articulation in asset.articulations:
        below = articulation.path.rstrip("/") + "/"
        for branch in branches:
            if branch.declared is None and any(
                step.body == articulation.root
                or (articulation.path and f"{bodies[step.body].path}/".startswith(below))
                or (step.joint is not None and articulation.path and step.joint.path == articulation.path)
                for step in branch.steps
            ):
                branch.declared = articulation
