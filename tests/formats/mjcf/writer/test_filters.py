"""Who can touch whom: MuJoCo's own rules on what is written, against the rules of the model."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from simwright.core.math3d import Pose, vec3
from simwright.model.asset import Articulation, Asset, Body, CollisionGroup, ContactFilter, ContactPair, Shape
from simwright.model.filtering import find_filtered_pairs
from simwright.model.geometry import Sphere
from simwright.model.inertia import Inertial
from simwright.model.joint import Dof, Joint, JointKind, Motion

from .compiling import list_touching, write_and_compile

SOLID = Inertial(1.0, vec3(), np.eye(3))


def make_robot(count: int = 4, shapes: int = 2, **kwargs) -> Asset:
    """A chain of bodies with some colliders each, and a block on the floor."""
    asset = Asset("robot")
    for i in range(count):
        asset.bodies.append(Body(f"b{i}", Pose.of((i, 0, 0)), inertial=SOLID))
        parent = f"b{i - 1}" if i else ""
        dofs = [Dof(Motion.HINGE, name=f"j{i}")]
        asset.joints.append(Joint(f"j{i}", JointKind.REVOLUTE, parent, f"b{i}", dofs=dofs, **kwargs))
        asset.shapes += [Shape(f"s{i}{k}", Sphere(0.1), body=f"b{i}", collision=True) for k in range(shapes)]
    asset.bodies.append(Body("block", inertial=SOLID))
    asset.shapes.append(Shape("block", Sphere(0.1), body="block", collision=True))
    asset.shapes.append(Shape("floor", Sphere(1.0), collision=True))
    return asset


def check(asset: Asset, tmp_path, static: set[str] = frozenset()) -> None:
    """MuJoCo brings together exactly what the model does not filter, but for what cannot move."""
    written = write_and_compile(asset, tmp_path)
    model = written.model
    names = {model.geom(i).name: i for i in range(model.ngeom)}
    filtered = find_filtered_pairs(asset)
    still = {"", *static}
    expected = {
        tuple(sorted((names[a.name], names[b.name])))
        for a, b in combinations([s for s in asset.shapes if s.collision], 2)
        if a.body != b.body and (a.name, b.name) not in filtered and not {a.body, b.body} <= still
    }
    assert list_touching(model) == expected


def test_joints_filter(tmp_path):
    check(make_robot(), tmp_path)


def test_joints_that_let_their_bodies_touch(tmp_path):
    check(make_robot(collide=True), tmp_path)


def test_a_fixed_base_is_filtered_from_its_child(tmp_path):
    """MuJoCo would let a body touch a parent that stands still."""
    asset = make_robot()
    asset.joints[0].kind, asset.joints[0].dofs = JointKind.FIXED, []
    check(asset, tmp_path, static={"b0"})


def test_bodies_and_shapes_by_name(tmp_path):
    asset = make_robot()
    asset.contact_filters = [
        ContactFilter("b0", "b2"),
        ContactFilter("s10", "s31", of="shape"),
        ContactFilter("s00", "floor", of="shape"),
    ]
    check(asset, tmp_path)


def test_groups(tmp_path):
    asset = make_robot()
    asset.collision_groups = [
        CollisionGroup("arm", ["b0", "b1", "b2"], filtered=["things"]),
        CollisionGroup("things", ["block", "s30"], filtered=[]),
    ]
    check(asset, tmp_path)


def test_bits(tmp_path):
    asset = make_robot()
    for number, shape in enumerate(asset.shapes):
        shape.category_bits, shape.collide_bits = 1 << number % 3, 0xFFFF & ~(2 << number % 3)
    asset.shapes[0].category_bits = 0xFFFFFFFF
    check(asset, tmp_path)


@pytest.mark.parametrize("count", [3, 10])
def test_a_robot_that_does_not_touch_itself(count, tmp_path):
    asset = make_robot(count, shapes=1)
    asset.articulations = [Articulation("robot", "b0", self_collide=False, path="/robot")]
    check(asset, tmp_path)
    excluded = write_and_compile(asset, tmp_path).model.nexclude
    assert excluded == {3: 1, 10: 0}[count]  # many pairs become a bit


def test_a_stage_means_every_body(tmp_path):
    """What is fixed to a child may touch the parent, unless MuJoCo is told nothing."""
    asset = make_robot(2, shapes=1)
    asset.bodies.append(Body("tool", inertial=SOLID))
    asset.joints.append(Joint("mount", JointKind.FIXED, "b1", "tool"))
    asset.shapes.append(Shape("tool", Sphere(0.1), body="tool", collision=True))
    asset.provenance.format = "usd"
    check(asset, tmp_path)
    asset.provenance.format = "urdf"
    assert write_and_compile(asset, tmp_path).model.npair == 0


def test_contact_pairs_keep_their_settings(tmp_path):
    asset = make_robot(1, shapes=1)
    settings = {
        "condim": 4,
        "friction": [0.5, 0.5, 0.01, 0.001, 0.001],
        "solref": [0.05, 1.0],
        "margin": 0.02,
    }
    asset.contact_pairs = [
        ContactPair("s00", "block", "grip", settings),
        ContactPair("s00", "nobody", "lost"),
    ]
    written = write_and_compile(asset, tmp_path)
    pair = written.model.pair("grip")
    assert (pair.dim[0], pair.margin[0]) == (4, 0.02)
    assert np.allclose(pair.friction, settings["friction"])
    assert np.allclose(pair.solref, settings["solref"])
    assert "mjcf-write-not-carried" in written.kinds
