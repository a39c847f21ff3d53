"""Branches: which body and joint comes when, which joints are turned around, and which close loops."""

from __future__ import annotations

import pytest

from simwright.core.errors import UsageError
from simwright.model.asset import Articulation, Asset, Body, Provenance
from simwright.model.branches import BranchPlan, plan_branches
from simwright.model.joint import WORLD, Dof, Joint, JointKind, Motion


def hinge(name, parent, child, path="", **more):
    return Joint(
        name, JointKind.REVOLUTE, parent, child, dofs=[Dof(Motion.HINGE, name=name)], path=path, **more
    )


def distance(name, parent, child, **more):
    return Joint(name, JointKind.DISTANCE, parent, child, **more)


def make_asset(bodies, joints, articulations=(), form="urdf", paths=None):
    return Asset(
        "a",
        bodies=[Body(name, path=(paths or {}).get(name, "")) for name in bodies],
        joints=list(joints),
        articulations=list(articulations),
        provenance=Provenance(format=form),
    )


def show(plan: BranchPlan) -> list[list[tuple[str, str, str]]]:
    """Body, what it hangs on, and joint ("-" before one that is turned around, empty for a body that floats)."""
    return [
        [
            (step.body, step.parent, f"{'-' * step.reversed}{step.joint.name if step.joint else ''}")
            for step in branch.steps
        ]
        for branch in plan.branches
    ]


def name_loops(plan: BranchPlan) -> list[str]:
    return [joint.name for joint in plan.loops]


FORK = [hinge("root", "", "base"), hinge("l1", "base", "left1"), hinge("r1", "base", "right1"),
        hinge("l2", "left1", "left2"), hinge("r2", "right1", "right2")]  # fmt: skip
FORK_BODIES = ["right2", "right1", "left2", "left1", "base"]


@pytest.mark.parametrize(
    ("ordering", "joints"),
    [
        ("dfs", ["root", "l1", "l2", "r1", "r2"]),
        ("bfs", ["root", "l1", "r1", "l2", "r2"]),
        (None, ["root", "l1", "r1", "l2", "r2"]),
    ],
)
def test_a_fork_is_followed_as_asked(ordering, joints):
    plan = plan_branches(make_asset(FORK_BODIES, FORK), ordering)
    assert [step.joint.name for step in plan.branches[0].steps] == joints
    assert len(plan.branches) == 1
    assert plan.loops == []


def test_without_an_ordering_the_order_of_the_joints_counts_but_for_the_root():
    joints = [FORK[4], FORK[3], FORK[0], FORK[2], FORK[1]]
    plan = plan_branches(make_asset(FORK_BODIES, joints), None)
    assert [step.joint.name for step in plan.branches[0].steps] == ["root", "r2", "l2", "r1", "l1"]


def test_an_ordering_that_nobody_knows_is_refused():
    with pytest.raises(UsageError, match=r"joint_ordering is 'random'") as caught:
        plan_branches(make_asset([], []), "random")
    assert caught.value.hint == '"dfs", "bfs" or None'


def test_bodies_are_added_in_the_order_of_the_joints_or_of_the_asset():
    branch = plan_branches(make_asset(FORK_BODIES, FORK)).branches[0]
    followed = [step.body for step in branch.order_bodies(FORK_BODIES, follow_joints=True)]
    assert followed == ["base", "left1", "left2", "right1", "right2"]
    assert [step.body for step in branch.order_bodies(FORK_BODIES, follow_joints=False)] == FORK_BODIES


def test_a_joint_that_leads_towards_the_root_is_turned_around():
    """The world holds ``a``; the only joint between ``a`` and ``b`` has ``b`` as its parent."""
    plan = plan_branches(
        make_asset(["a", "b", "c"], [hinge("j", "", "a"), hinge("k", "b", "a"), hinge("m", "b", "c")])
    )
    assert show(plan) == [[("a", WORLD, "j"), ("b", "a", "-k"), ("c", "b", "m")]]
    assert plan.loops == []


def test_forwards_comes_before_backwards():
    """``c`` is reached from ``a`` although a joint from ``c`` to ``b`` is listed first."""
    joints = [hinge("back", "c", "b"), hinge("hold", "", "b"), hinge("on", "b", "a"), hinge("to", "a", "c")]
    plan = plan_branches(make_asset(["a", "b", "c"], joints))
    assert show(plan) == [[("b", WORLD, "hold"), ("a", "b", "on"), ("c", "a", "to")]]
    assert name_loops(plan) == ["back"]


def test_a_joint_from_a_body_to_the_world_holds_that_body():
    """As the kinematic tree has it: walked from the world, the joint leads to the body."""
    plan = plan_branches(make_asset(["a", "b"], [hinge("k", "a", "b"), hinge("j", "a", "")]))
    assert show(plan) == [[("a", WORLD, "-j"), ("b", "a", "k")]]
    assert plan.loops == []


def test_floating_bodies_come_in_body_order_and_cycles_begin_at_their_first_body():
    joints = [hinge("ab", "a", "b"), hinge("ba", "b", "a"), hinge("cd", "c", "d")]
    plan = plan_branches(make_asset(["d", "b", "a", "c"], joints))
    assert show(plan) == [[("c", WORLD, ""), ("d", "c", "cd")], [("b", WORLD, ""), ("a", "b", "ba")]]
    assert name_loops(plan) == ["ab"]


def test_several_joints_from_the_world_are_several_branches():
    plan = plan_branches(make_asset(["a", "b"], [hinge("hold_b", "", "b"), hinge("hold_a", "", "a")]))
    assert show(plan) == [[("a", WORLD, "hold_a")], [("b", WORLD, "hold_b")]]


def test_joints_that_lead_nowhere_are_left_out():
    joints = [hinge("none", "a", "ghost"), hinge("self", "a", "a"), hinge("away", "ghost", "a")]
    plan = plan_branches(make_asset(["a"], joints))
    assert show(plan) == [[("a", WORLD, "")]]
    assert plan.loops == []


def test_joints_that_are_off_or_close_a_loop_carry_nothing():
    joints = [hinge("off", "a", "b", enabled=False), hinge("loop", "a", "b", closes_loop=True)]
    asset = make_asset(["a", "b"], joints)
    floating = [[("a", WORLD, "")], [("b", WORLD, "")]]
    plan = plan_branches(asset)
    assert (show(plan), name_loops(plan)) == (floating, ["loop"])
    plan = plan_branches(asset, only_enabled=False)
    assert (show(plan), name_loops(plan)) == (floating, ["off", "loop"])


def test_joints_of_a_stage_are_followed_by_path():
    """By the parts of the path: ``/r/b/x`` stands before ``/r/b-a``, as a stage is traversed."""
    joints = [
        hinge("last", "", "c", "/r/b-a"),
        hinge("first", "", "a", "/r/a"),
        hinge("middle", "", "b", "/r/b/x"),
    ]
    loops = [hinge(f"{name}_loop", "a", "b", path, closes_loop=True) for name, path in
             (("last", "/r/b-a"), ("first", "/r/a"), ("middle", "/r/b/x"))]  # fmt: skip
    staged = make_asset(["a", "b", "c"], [*joints, *loops], form="usd")
    assert name_loops(plan_branches(staged)) == ["first_loop", "middle_loop", "last_loop"]
    other = make_asset(["a", "b", "c"], [*joints, *loops], form="mjcf")
    assert name_loops(plan_branches(other)) == ["last_loop", "first_loop", "middle_loop"]


def test_a_distance_joint_carries_a_body_that_would_float():
    joints = [hinge("hold", "", "a"), distance("rope", "a", "b"), hinge("on", "b", "c")]
    plan = plan_branches(make_asset(["a", "b", "c"], joints))
    assert show(plan) == [[("a", WORLD, "hold"), ("b", "a", "rope"), ("c", "b", "on")]]
    assert plan.loops == []


def test_a_distance_joint_from_the_world_carries_a_branch_of_its_own():
    plan = plan_branches(make_asset(["a", "b"], [distance("rope", "", "a"), hinge("on", "a", "b")]))
    assert show(plan) == [[("a", WORLD, "rope"), ("b", "a", "on")]]
    assert plan.loops == []


def test_a_distance_joint_between_bodies_that_are_held_closes_a_loop():
    held = [hinge("hold_a", "", "a"), hinge("hold_b", "", "b"), distance("rope", "a", "b")]
    plan = plan_branches(make_asset(["a", "b"], held))
    assert show(plan) == [[("a", WORLD, "hold_a")], [("b", WORLD, "hold_b")]]
    assert name_loops(plan) == ["rope"]
    within = [hinge("hold", "", "a"), hinge("on", "a", "b"), distance("rope", "a", "b")]
    assert name_loops(plan_branches(make_asset(["a", "b"], within))) == ["rope"]
    deep = [hinge("hold", "", "a"), hinge("on", "b", "c"), distance("rope", "a", "c")]
    plan = plan_branches(make_asset(["a", "b", "c"], deep))
    assert show(plan) == [[("a", WORLD, "hold")], [("b", WORLD, ""), ("c", "b", "on")]]
    assert name_loops(plan) == ["rope"]


def test_a_chain_of_distance_joints_is_one_branch():
    """The bodies that one rope brought along are in the branch that the next rope looks for."""
    joints = [hinge("hold", "", "a"), distance("one", "a", "b"), distance("two", "b", "c")]
    plan = plan_branches(make_asset(["a", "b", "c"], joints))
    assert show(plan) == [[("a", WORLD, "hold"), ("b", "a", "one"), ("c", "b", "two")]]
    ring = [distance("one", "a", "b"), distance("two", "b", "a")]
    plan = plan_branches(make_asset(["a", "b"], ring))
    assert show(plan) == [[("a", WORLD, ""), ("b", "a", "one")]]
    assert name_loops(plan) == ["two"]


def test_declared_articulations_come_first_and_in_their_order():
    joints = [hinge(f"hold_{name}", "", name) for name in ("a", "b", "c")]
    declared = [Articulation("second", "c"), Articulation("first", "b")]
    plan = plan_branches(make_asset(["a", "b", "c"], joints, declared))
    assert [branch.steps[0].body for branch in plan.branches] == ["c", "b", "a"]
    assert [branch.declared.name if branch.declared else None for branch in plan.branches] == [
        "second",
        "first",
        None,
    ]


@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("/r/arm", "b"),
        ("/r/arm/", "b"),
        ("/r/arm/link", "b"),
        ("/r/hold_a", "a"),
        ("/r/ar", None),
        ("", None),
    ],
)
def test_an_articulation_is_declared_above_a_body_on_it_or_at_a_joint(path, named):
    joints = [hinge(f"hold_{name}", "", name, f"/r/hold_{name}") for name in ("a", "b")]
    asset = make_asset(["a", "b"], joints, [Articulation("robot", "", path=path)], "usd",
                       {"a": "/r/foot", "b": "/r/arm/link"})  # fmt: skip
    declared = [branch.steps[0].body for branch in plan_branches(asset).branches if branch.declared]
    assert declared == ([named] if named else [])


def test_a_branch_is_declared_once():
    asset = make_asset(["a"], [hinge("hold", "", "a")], [Articulation("one", "a"), Articulation("two", "a")])
    assert [branch.declared.name for branch in plan_branches(asset).branches] == ["one"]


def test_bodies_that_each_hang_on_the_world_may_be_no_articulation():
    joints = [hinge("hold_a", "", "a"), hinge("hold_b", "", "b"), hinge("bc", "b", "c")]
    declared = [Articulation("first", "a"), Articulation("second", "b")]
    asset = make_asset(["a", "b", "c"], joints, declared)
    for lone_roots, named in ((True, ["first", "second"]), (False, ["second", None])):
        branches = plan_branches(asset, lone_roots=lone_roots).branches
        assert [branch.declared.name if branch.declared else None for branch in branches] == named
    asset.joints.append(hinge("loop", "a", "c", closes_loop=True))
    assert all(branch.declared for branch in plan_branches(asset, lone_roots=False).branches)
    floating = make_asset(["a"], [], [Articulation("free", "a")])
    assert plan_branches(floating, lone_roots=False).branches[0].declared is not None
