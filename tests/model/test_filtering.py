"""Pairs of colliders that never touch."""

from __future__ import annotations

import pytest

from simwright.model.asset import Articulation, Asset, Body, CollisionGroup, ContactFilter, Shape
from simwright.model.filtering import find_filtered_pairs
from simwright.model.geometry import Sphere
from simwright.model.joint import Dof, Joint, JointKind, Motion


def make_asset(bodies: str = "abc", **lists: list) -> Asset:
    """Bodies a, b, c with one collider each: A, B, C."""
    asset = Asset(
        "t",
        bodies=[Body(name, path=f"/r/{name}") for name in bodies],
        shapes=[Shape(name.upper(), Sphere(1.0), name, collision=True) for name in bodies],
    )
    for name, elements in lists.items():
        setattr(asset, name, elements)
    return asset


def pairs(asset: Asset) -> set[str]:
    return {a + b for a, b in find_filtered_pairs(asset)}


def hinge(parent: str, child: str, **more: bool) -> Joint:
    return Joint(parent + child, JointKind.REVOLUTE, parent, child, dofs=[Dof(Motion.HINGE)], **more)


def test_nothing_is_filtered_by_itself():
    assert pairs(make_asset()) == set()


def test_joined_bodies_do_not_touch_unless_the_joint_says_so():
    assert pairs(make_asset(joints=[hinge("b", "a"), hinge("b", "c", collide=True)])) == {"AB"}
    assert pairs(make_asset(joints=[hinge("a", "b", enabled=False), hinge("", "c")])) == set()


def test_an_articulation_does_not_touch_itself():
    joints = [hinge("a", "b"), hinge("b", "c")]
    off = [Articulation("r", "/r", self_collide=False, path="/r")]
    assert pairs(make_asset(joints=joints)) == {"AB", "BC"}
    assert pairs(make_asset(joints=joints, articulations=off)) == {"AB", "AC", "BC"}


def test_an_articulation_at_a_joint_or_a_body_is_its_whole_tree():
    joints = [hinge("a", "b"), hinge("b", "c")]
    joints[1].path = "/r/joint"
    for articulation in (
        Articulation("r", "/r/joint", self_collide=False, path="/r/joint"),
        Articulation("r", "a", self_collide=False),
    ):
        assert "AC" in pairs(make_asset(joints=joints, articulations=[articulation]))


def test_named_pairs_of_bodies_and_shapes():
    filters = [ContactFilter("c", "a"), ContactFilter("B", "C", of="shape"), ContactFilter("a", "gone")]
    assert pairs(make_asset(contact_filters=filters)) == {"AC", "BC"}


def test_disabled_and_visual_shapes_take_no_part():
    asset = make_asset(contact_filters=[ContactFilter("a", "b"), ContactFilter("b", "c")])
    asset.shapes[0].enabled = False
    asset.shapes[2].collision = False
    assert pairs(asset) == set()


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        ([CollisionGroup("g", ["A"], ["h"]), CollisionGroup("h", ["B"])], {"AB"}),
        ([CollisionGroup("g", ["A", "B"], ["g"])], {"AB"}),
        ([CollisionGroup("g", ["a"], ["h"]), CollisionGroup("h", ["b"])], {"AB"}),
        # inverted: apart from everything that is not named, groupless shapes included
        ([CollisionGroup("g", ["A"], ["h"], inverted=True), CollisionGroup("h", ["B"])], {"AC"}),
        ([CollisionGroup("g", ["A", "B"], inverted=True)], {"AB", "AC", "BC"}),
        # merged groups filter together
        (
            [
                CollisionGroup("g", ["A"], ["i"], merge="m"),
                CollisionGroup("h", ["B"], merge="m"),
                CollisionGroup("i", ["C"]),
            ],
            {"AC", "BC"},
        ),
    ],
)
def test_groups(groups, expected):
    assert pairs(make_asset(collision_groups=groups)) == expected


def test_bits_that_never_meet():
    asset = make_asset()
    asset.shapes[0].category_bits, asset.shapes[0].collide_bits = 2, 2
    assert pairs(asset) == {"AB", "AC"}
    asset.shapes[1].category_bits, asset.shapes[1].collide_bits = 2, 0
    assert pairs(asset) == {"AC", "BC"}, "one side that accepts the other is enough"


def test_a_thousand_groups_are_quick():
    bodies = [Body(f"b{i}") for i in range(1000)]
    shapes = [Shape(f"s{i}", Sphere(1.0), f"b{i}", collision=True) for i in range(1000)]
    groups = [CollisionGroup(f"g{i}", [f"s{i}"], [f"g{(i + 1) % 1000}"]) for i in range(1000)]
    asset = Asset("t", bodies=bodies, shapes=shapes, collision_groups=groups)
    assert len(find_filtered_pairs(asset)) == 1000
