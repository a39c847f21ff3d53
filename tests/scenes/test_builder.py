"""The builder: masses by the parallel axis, order of joints, configurations."""

from __future__ import annotations

import math

import numpy as np
import pytest

from simwright.core.errors import UsageError
from simwright.model.geometry import Mesh
from simwright.model.inertia import Inertial
from simwright.runtime.kinds import JointType, ShapeFlag, ShapeType
from simwright.scenes.builder import Builder
from simwright.scenes.builder_config import DofConfig, ShapeConfig
from simwright.scenes.finish import finish_world

CUBE = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
FACES = [
    [0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
    [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3],
]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "scale", "volume", "reach"),
    [
        (ShapeType.BOX, (0.1, 0.2, 0.3), 8 * 0.006, math.sqrt(0.14)),
        (ShapeType.SPHERE, (0.2, 0.0, 0.0), 4 / 3 * math.pi * 0.008, 0.2),
        (ShapeType.CAPSULE, (0.1, 0.3, 0.0), math.pi * 0.01 * 0.6 + 4 / 3 * math.pi * 0.001, 0.4),
        (ShapeType.CYLINDER, (0.1, 0.3, 0.0), math.pi * 0.01 * 0.6, 0.4),
        (ShapeType.CONE, (0.1, 0.3, 0.0), math.pi * 0.01 * 0.6 / 3, 0.4),
        (ShapeType.ELLIPSOID, (0.1, 0.2, 0.3), 4 / 3 * math.pi * 0.006, 0.3),
        (ShapeType.MESH, (0.1, 0.2, 0.3), 8 * 0.006, math.sqrt(0.14)),
    ],
)
def test_seven_shapes_weigh_and_reach(
    kind: ShapeType, scale: tuple[float, float, float], volume: float, reach: float
) -> None:
    builder = Builder()
    body = builder.add_body("thing")
    source = Mesh.of(CUBE, FACES) if kind is ShapeType.MESH else None
    builder.add_shape(body, kind, scale, source=source, config=ShapeConfig(density=500.0))
    assert builder.body_mass[body] == pytest.approx(500.0 * volume)
    assert builder.shape_collision_radius[0] == pytest.approx(reach)


def test_two_balls_on_a_rod() -> None:
    builder = Builder()
    body = builder.add_body("dumbbell", own=Inertial(1.0))
    for side in (-1.0, 1.0):
        builder.add_shape(body, ShapeType.SPHERE, (0.1, 0.0, 0.0), pose=(side, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0))
    ball = 1000.0 * 4 / 3 * math.pi * 0.001
    along = 2 * 0.4 * ball * 0.01
    assert builder.body_mass[body] == pytest.approx(1.0 + 2 * ball)
    assert builder.body_com[body] == pytest.approx((0.0, 0.0, 0.0), abs=1e-12)
    np.testing.assert_allclose(
        builder.body_inertia[body], np.diag((along, along + 2 * ball, along + 2 * ball)), atol=1e-9
    )


def test_sizes_change_masses_unless_sap_is_imitated() -> None:
    for compat, factor in ((None, 8.0), ("sap", 1.0)):
        builder = Builder(compat=compat)
        body = builder.add_body("ball", own=Inertial(2.0))
        builder.add_shape(body, ShapeType.SPHERE, (0.1, 0.0, 0.0))
        before = builder.body_mass[body] - 2.0
        builder.resize_shape(0, (0.2, 0.0, 0.0))
        assert builder.body_mass[body] - 2.0 == pytest.approx(before * factor)
        assert builder.shape_collision_radius[0] == (0.2 if compat is None else 0.1)


def test_locked_bodies_keep_their_mass() -> None:
    builder = Builder(default_body_armature=0.5)
    body = builder.add_body("link", own=Inertial(3.0), locked=True)
    builder.add_shape(body, ShapeType.SPHERE, (0.1, 0.0, 0.0))
    assert builder.body_mass[body] == 3.0
    assert not builder.body_inertia[body].any()
    free = builder.add_body("free")
    np.testing.assert_allclose(builder.body_inertia[free], np.eye(3) * 0.5)


def test_sites_and_flags() -> None:
    site = ShapeConfig().with_values({"is_site": True})
    assert site.flags == ShapeFlag.VISIBLE | ShapeFlag.SITE
    assert (site.density, site.collision_group) == (0.0, 0)
    assert ShapeConfig().with_values({"flags": 6}).flags == 6
    assert ShapeConfig().with_values({"relaxation_time": 0.5, "shape_mu": 0.1, "mu": None}).tau == 0.5


def test_joints_go_from_the_root_to_the_leaves() -> None:
    builder = Builder()
    a, b = builder.add_body("a"), builder.add_body("b")
    axis = [DofConfig()]
    second = builder.add_joint(JointType.REVOLUTE, a, b, label="second", angular=axis)
    first = builder.add_joint(JointType.REVOLUTE, -1, a, label="first", angular=axis)
    builder.add_articulation([first, second], "wrong")
    with pytest.raises(UsageError, match="'second' comes before"):
        finish_world(builder)


def test_a_body_hangs_on_one_joint_of_articulations() -> None:
    builder = Builder()
    body = builder.add_body("a")
    joints = [builder.add_joint(JointType.REVOLUTE, -1, body, angular=[DofConfig()]) for _ in range(2)]
    builder.add_articulation(joints, "twice")
    with pytest.raises(UsageError, match="carried by two"):
        finish_world(builder)


def test_joints_of_an_articulation_stand_side_by_side() -> None:
    builder = Builder()
    bodies = [builder.add_body(name) for name in "abc"]
    joints = [builder.add_joint(JointType.FREE, -1, body) for body in bodies]
    with pytest.raises(UsageError, match="side by side"):
        builder.add_articulation([joints[0], joints[2]], "gap")
    with pytest.raises(UsageError, match="leads from body"):
        builder.add_joint(JointType.FREE, -1, 7)


def test_a_free_joint_begins_where_its_body_is() -> None:
    builder = Builder()
    body = builder.add_body("box", (1.0, 2.0, 3.0, 0.0, 0.0, 0.6, 0.8))
    builder.add_joint(JointType.FREE, -1, body, parent_xform=(1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0))
    assert builder.joint_q == pytest.approx([0.0, 2.0, 3.0, 0.0, 0.0, 0.6, 0.8])
