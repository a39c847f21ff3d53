"""Many worlds of one: against building every world by itself."""

from __future__ import annotations

import numpy as np
import pytest

from simwright.core.math3d import Seven
from simwright.runtime.arrays import describe_arrays
from simwright.runtime.custom import CustomArray
from simwright.runtime.kinds import JointType, ShapeType
from simwright.runtime.model import Model
from simwright.scenes.builder import Builder
from simwright.scenes.builder_config import DofConfig, ShapeConfig
from simwright.scenes.finish import finish_world
from simwright.scenes.load import build_shared
from simwright.scenes.replicate import place_worlds, replicate


def add_robot(builder: Builder, x: float, y: float, z: float) -> None:
    """A floating box with a hinged lid, a crane fixed to the world, and a wall."""
    box = builder.add_body("box", (x + 0.1, y, z + 1.0, 0.0, 0.0, 0.0, 1.0))
    lid, crane = builder.add_body("lid"), builder.add_body("crane")
    for body in (box, lid, crane):
        builder.add_shape(body, ShapeType.BOX, (0.1, 0.2, 0.3), label="part")
    wall: Seven = (x, y - 1.0, z, 0.0, 0.0, 0.0, 1.0)
    builder.add_shape(-1, ShapeType.SPHERE, (0.5, 0.0, 0.0), pose=wall, label="wall")
    first = builder.add_joint(JointType.FREE, -1, box, label="free")
    second = builder.add_joint(
        JointType.REVOLUTE, box, lid, label="hinge", angular=[DofConfig(target_ke=3.0)]
    )
    builder.add_articulation([first, second], "chest")
    foot: Seven = (x + 1.0, y, z, 0.0, 0.0, 0.6, 0.8)
    third = builder.add_joint(
        JointType.PRISMATIC, -1, crane, parent_xform=foot, label="lift", linear=[DofConfig()]
    )
    builder.add_articulation([third], "crane")
    builder.joint_q[-1] = 0.3


def build(worlds: int, spacing: tuple[float, float, float]) -> Model:
    builder = Builder()
    add_robot(builder, 0.0, 0.0, 0.0)
    return replicate(finish_world(builder), build_shared(builder), worlds, spacing)[0]


@pytest.mark.parametrize("spacing", [(2.0, 2.0, 0.0), (0.0, 3.0, 0.0), (1.0, 2.0, 3.0), (0.0, 0.0, 0.0)])
def test_tiling_is_building_every_world(spacing: tuple[float, float, float]) -> None:
    count = 5
    model = build(count, spacing)
    builder = Builder()
    for place in place_worlds(count, spacing).tolist():
        add_robot(builder, *place)
    slow = replicate(finish_world(builder), build_shared(builder), 1)[0]
    per_world = {"gravity", "world_offset", "body_world", "joint_world", "shape_world", "articulation_world"}
    for name in describe_arrays(Model):
        if name not in per_world:
            np.testing.assert_allclose(getattr(model, name), getattr(slow, name), atol=1e-6, err_msg=name)
    assert model.body_world.tolist() == [0] * 3 + [1] * 3 + [2] * 3 + [3] * 3 + [4] * 3
    assert model.shape_world.tolist()[-1] == -1
    assert len(model.gravity) == count


def test_labels_have_their_world_and_the_ground_is_shared() -> None:
    model = build(2, (2.0, 2.0, 0.0))
    assert list(model.joint_label) == [
        "world_0/free", "world_0/hinge", "world_0/lift", "world_1/free", "world_1/hinge", "world_1/lift",
    ]  # fmt: skip
    assert model.shape_label[-1] == "ground_plane"
    assert list(build(1, (2.0, 2.0, 0.0)).joint_label) == ["free", "hinge", "lift"]


def test_layouts() -> None:
    line = place_worlds(4, (0.0, 2.0, 0.0))
    assert line[:, 1].tolist() == [-3.0, -1.0, 1.0, 3.0]
    grid = place_worlds(5, (2.0, 4.0, 0.0))
    assert grid[:, :2].tolist() == [[-2.0, -2.0], [0.0, -2.0], [2.0, -2.0], [-2.0, 2.0], [0.0, 2.0]]
    cube = place_worlds(8, (1.0, 1.0, 1.0))
    assert cube[:, 2].tolist() == [0.0] * 4 + [1.0] * 4
    assert not place_worlds(3, (0.0, 0.0, 0.0)).any()
    assert not place_worlds(1, (2.0, 2.0, 0.0)).any()
    assert len(np.unique(place_worlds(1000, (1.0, 1.0, 1.0)), axis=0)) == 1000


def test_geometry_is_shared() -> None:
    model = build(3, (2.0, 2.0, 0.0))
    assert len(model.shape_source) == 5
    assert model.source_of(11) is None
    assert model.color_of(12) is None


def test_ground_stands_where_it_is_told() -> None:
    builder = Builder(rigid_gap=0.03)
    shared = build_shared(builder, height=-0.5, config={"mu": 0.2, "contact_margin": 0.01}, label="floor")
    add_robot(builder, 0.0, 0.0, 0.0)
    model = replicate(finish_world(builder), shared, 4)[0]
    assert model.shape_transform[-1].tolist() == [0.0, 0.0, -0.5, 0.0, 0.0, 0.0, 1.0]
    assert model.shape_material_mu[-1] == np.float32(0.2)
    assert model.shape_margin[-1] == np.float32(0.01)
    assert model.shape_gap[-1] == np.float32(0.03)
    assert model.shape_label.find("floor") == model.shape_count - 1


def test_custom_arrays_are_copied_too() -> None:
    builder = Builder()
    add_robot(builder, 0.0, 0.0, 0.0)
    for key, assignment, frequency, values in (
        ("lab:heat", "state", "body", np.array([1.0, 2.0])),
        ("lab:name", "model", "once", np.array(["x"], dtype=object)),
    ):
        builder.custom[key] = CustomArray(key, assignment, frequency, values)
    model = replicate(finish_world(builder), build_shared(builder), 2)[0]
    assert model.state().custom["lab:heat"].tolist() == [1.0, 2.0, 0.0] * 2
    assert model.custom["lab:name"].values.tolist() == ["x"]
    state = model.state()
    state.custom["lab:heat"][0] = 9.0
    assert model.state().custom["lab:heat"][0] == 1.0
    assert state.clone().custom["lab:heat"][0] == 9.0


def test_a_shape_may_touch_its_parent_if_it_says_so() -> None:
    def count(touches: bool) -> int:
        builder = Builder()
        bodies = [builder.add_body(name) for name in "ab"]
        config = ShapeConfig(collision_filter_parent=not touches)
        for body in bodies:
            builder.add_shape(body, ShapeType.SPHERE, (0.1, 0.0, 0.0), config=config)
        builder.add_joint(JointType.REVOLUTE, *bodies, angular=[DofConfig()])
        return len(finish_world(builder).filters)

    assert count(touches=False) == 1
    assert count(touches=True) == 0
