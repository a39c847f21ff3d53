# SPDX-License-Identifier: Apache-2.0
"""Every operation with every way to choose what it acts on, as it should be and as SAP Warp does it."""

import math

import numpy as np
import pytest

from simwright.core.diag import Reporter
from simwright.core.documents.validate import InvalidDocumentError
from simwright.core.errors import NotFoundError
from simwright.runtime.kinds import ShapeType
from simwright.scenes.builder import Builder
from simwright.scenes.document import parse_scene
from simwright.scenes.load import build_world
from simwright.scenes.messages import SceneError
from simwright.scenes.ops.registry import load_operations
from simwright.scenes.sources import SourceFinder

BASE = """
bodies:
  - {id: base, shapes: [{type: box, label: hull}]}
  - {id: left, shapes: [{type: sphere, radius: 0.5, label: left/ball}]}
  - {id: right, shapes: [{type: sphere, radius: 0.25, label: right/ball}]}
joints:
  - {id: base_free, label: robot/base_free, type: free, child: base}
  - {id: left_hip, label: robot/left_hip, type: revolute, parent: base, child: left, target_ke: 7, target_kd: 3}
  - {id: right_hip, label: robot/right_hip, type: prismatic, parent: base, child: right}
articulations:
  - {joints: [base_free, left_hip, right_hip]}
"""


def build(edits, compat=None, base=BASE, folder="."):
    """(builder, findings, unsupported) of the base scene with some post_build edits."""
    lines = "\n".join(f"  - {edit}" for edit in edits)
    file = parse_scene(f"{base}\npost_build:\n{lines}\n", name="s.yaml", compat=compat, folder=folder)
    builder, reporter = Builder(compat=compat), Reporter()
    unsupported = build_world(builder, file, SourceFinder(file, reporter), reporter).unsupported
    return builder, [found.kind for found in reporter], unsupported


def test_every_operation_is_found():
    """Each has the name of its file, and a line that says what it does."""
    found = load_operations()
    assert {"add_shape", "set_array", "set_joint_targets"} <= set(found)
    for name, one in found.items():
        assert one.name == name
        assert one.summary.endswith("."), name
        assert len(one.models) == 1 or all("type" in model.model_fields for model in one.models), name


DOF_CHOICES = [
    ("range: all", [0, 1, 2, 3, 4, 5, 6, 7]),
    ("range: 'head:2'", [0, 1]),
    ("range: 'tail:2'", [6, 7]),
    ("range: 'from:5'", [5, 6, 7]),
    ("range: 'from:-1'", [7]),
    ("range: [1, 3]", [1, 2]),
    ("range: [6, null]", [6, 7]),
    ("range: [-2, -1]", [6]),
    ("index: 3", [3]),
    ("index: -1", [7]),
    ("range: 2", [2]),
    ("joint: left_hip", [6]),
    ("joint: robot/left_hip", [6]),
    ("joint_label: robot/right_hip", [7]),
    ("joint: 1", [6]),
    ("joints: [left_hip, robot/right_hip]", [6, 7]),
    ("joint_labels: [base_free]", [0, 1, 2, 3, 4, 5]),
    ("label_prefix: robot/l", [6]),
    ("match: hip", [6, 7]),
]


@pytest.mark.parametrize(("choice", "entries"), DOF_CHOICES)
def test_choices_of_freedoms(choice, entries):
    armature, found, _ = build([f"{{op: set_joint_armature, value: 5, {choice}}}"])
    assert np.flatnonzero(np.array(armature.joint_armature) == 5).tolist() == entries
    assert not found
    targets, _, _ = build([f"{{op: set_joint_targets, mode: velocity, ke: 9, {choice}}}"])
    assert np.flatnonzero(np.array(targets.joint_target_mode) == 2).tolist() == entries
    assert np.flatnonzero(np.array(targets.joint_target_ke) == 9).tolist() == entries
    array, _, _ = build([f"{{op: set_array, array: joint_qd, value: pi, {choice}}}"])
    assert np.flatnonzero(np.array(array.joint_qd) == math.pi).tolist() == entries


def test_an_edge_of_armature_in_sap_warp():
    builder, _, _ = build(["{op: set_joint_armature, value: 5, joint: left_hip}"], "sap")
    assert builder.joint_armature == [5.0] * 8  # a joint selector is not looked at


@pytest.mark.parametrize(
    "edit",
    [
        "{op: set_joint_armature, value: 1, label_prefix: nobody}",
        "{op: set_joint_targets, match: nobody}",
        "{op: copy_joint_q_to_joint_targets, match: nobody}",
        "{op: set_joint_q, match: nobody, value: 1}",
        "{op: set_array, array: joint_q, match: nobody, value: 1}",
        "{op: scale_sphere_shapes, factor: 2, match: nobody}",
        "{op: approximate_meshes, method: bounding_box, label_prefix: nobody}",
        "{op: set_array, array: shape_gap, label_prefix: nobody, value: 1}",
        "{op: set_array, array: joint_q, range: [3, 2], value: 1}",
        "{op: scale_sphere_shapes, factor: 2, match: hull}",
        "{op: approximate_meshes}",
    ],
)
def test_a_choice_of_nothing_is_told(edit):
    _, found, _ = build([edit])
    assert found == ["scene-selector-empty"]


def test_a_choice_of_nothing_is_silent_in_sap_warp():
    _, found, _ = build(["{op: set_joint_targets, match: nobody}"], "sap")
    assert not found


@pytest.mark.parametrize("span", ["'head:20'", "'tail:20'", "'from:9'", "[0, 20]", "[-20, 3]"])
def test_a_range_beyond_the_end_is_told(span):
    builder, found, _ = build([f"{{op: set_joint_armature, value: 1, range: {span}}}"])
    assert found == ["scene-range-clamped"]
    assert len(builder.joint_armature) == 8


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (
            "{op: set_joint_armature, value: 1, index: 8}",
            "index 8 is not in joint_armature, which has 8 entries",
        ),
        (
            "{op: set_joint_armature, value: 1, joint: lft_hip}",
            "there is no 'lft_hip'; did you mean 'left_hip'?",
        ),
        ("{op: set_joint_armature, value: 1, joint: 9}", "there is no joint 9; there are 3"),
        ("{op: set_joint_q, value: 1}", "set_joint_q needs 'index', 'range' or a joint"),
        ("{op: set_joint_q, value: 1, joint: left_hip, offset: 1}", "offset 1 is beyond joint"),
        ("{op: set_joint_q, value: 1, index: -10}", "index -10 is not in joint_q"),
        ("{op: set_array, array: joint_q, values: [1, 2], index: 0}", "2 values for 1 entries of joint_q"),
        ("{op: set_array, array: joint_q}", "needs one of 'value', 'values' and 'from_array'"),
        ("{op: set_array, array: joint_q, value: 1, values: [2]}", "needs one of"),
        ("{op: set_array, array: joint_q, value: 1, from_range: all}", "there is no from_array"),
        ("{op: set_array, array: joint_target_pos, from_array: joint_q}", "9 values for 8 entries"),
        ("{op: set_array, array: shape_flags, value: 1.5}", "holds whole numbers, not 1.5"),
        ("{op: set_array, array: shape_gap, value: 1, joint: left_hip}", "joints choose none of them"),
        ("{op: copy_array, src: joint_q, dst: joint_qd}", "9 entries of joint_q do not fit 8 of joint_qd"),
        ("{op: set_attr, name: rigid_gap, value: -1}", "has to be a number that is not negative"),
        ("{op: set_attr, name: rigid_gap, value: [1, 2, 3]}", "has to be a number"),
        ("{op: add_shape, body: nobody}", "there is no 'nobody'"),
        ("{op: add_shape, body: 7}", "there is no body 7; there are 3"),
    ],
)
def test_what_cannot_be_done(edit, message):
    with pytest.raises(SceneError) as caught:
        build([edit])
    assert message in caught.value.message
    assert caught.value.where.line == 14
    assert caught.value.where.file == "s.yaml"


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        ("{op: set_joint_targts}", "did you mean 'set_joint_targets'?"),
        ("{op: 3}", "'3' is not one of add_shape"),
        ("{value: 3}", "the key 'op' is missing in post_build[0]"),
        ("{op: set_joint_armature}", "the key 'value' is missing"),
        ("{op: set_joint_armature, value: 1, rnage: all}", "did you mean 'range'?"),
        ("{op: set_joint_armature, value: -1}", "greater than or equal to 0"),
        ("{op: set_joint_armature, value: 1, range: some}", "is not a range: all, head:N"),
        ("{op: set_joint_armature, value: 1, range: 'head:-1'}", "needs a number of entries"),
        ("{op: set_joint_armature, value: 1, range: [0, 1, 2]}", "is not a range"),
        ("{op: set_joint_armature, value: 1, range: [0, 1.5]}", "is not a range"),
        ("{op: set_joint_armature, value: 1, range: true}", "is not a range"),
        ("{op: set_joint_armature, value: 1, range: all, index: 0}", "says both 'index' and 'range'"),
        ("{op: set_joint_armature, value: 1, joint: a, match: b}", "chooses in 2 ways: joint, match"),
        ("{op: set_joint_targets, mode: positon}", "did you mean 'position'?"),
        ("{op: set_joint_targets, mode: 5}", "less than or equal to 4"),
        ("{op: set_array, array: joint_p, value: 1}", "did you mean 'joint_q'?"),
        ("{op: set_attr, name: gravty, value: 1}", "did you mean 'gravity'?"),
        ("{op: set_attr, name: add_body, value: 1}", "is not one of gravity, rigid_gap"),
        ("{op: set_attr, name: gravity, value: down}", "the name 'down' is not known"),
        ("{op: set_attr, name: gravity, value: true, x: 1}", "unknown key 'x'"),
        ("{op: approximate_meshes, method: bounding_bx}", "did you mean 'bounding_box'?"),
        ("{op: scale_sphere_shapes, factor: 0}", "greater than 0"),
        ("{op: add_shape, type: sfere}", "is not one of"),
        ("{op: add_shape, type: sphere, hx: 1}", "unknown key 'hx'"),
        ("{op: add_shape, type: mesh}", "the key 'path' is missing"),
    ],
)
def test_what_is_written_wrong(edit, message):
    with pytest.raises(InvalidDocumentError) as caught:
        build([edit])
    assert message in str(caught.value)
    assert caught.value.problems[0].where.line == 14


def test_operations_are_case_insensitive():
    builder, _, _ = build(["{op: Set_Joint_Armature, value: 2}"])
    assert builder.joint_armature == [2.0] * 8


@pytest.mark.parametrize(
    ("edit", "feature"),
    [
        ("{op: paint_it_black, colour: 3}", "post_build op=paint_it_black"),
        ("{op: set_array, array: body_mass, value: 1}", "post_build set_array array=body_mass"),
        ("{op: copy_array, src: joint_q, dst: nothing}", "post_build copy_array array=nothing"),
        ("{op: set_attr, name: add_body, value: hello}", "post_build set_attr name=add_body"),
        ("{op: approximate_meshes}", "post_build approximate_meshes method=convex_hull"),
    ],
)
def test_unknown_things_are_recorded_in_compat(edit, feature):
    assert build([edit], "sap")[2] == [feature]


def test_targets():
    builder, _, _ = build(["{op: set_joint_targets, joint: left_hip, ke: 11}"])
    assert builder.joint_target_mode[6] == 1
    assert builder.joint_target_ke[6] == 11
    assert builder.joint_target_kd[6] == 3  # not said, so it stays
    sap, _, _ = build(["{op: set_joint_targets, joint: robot/left_hip, ke: 11}"], "sap")
    assert sap.joint_target_kd[6] == 0
    for word, number in {
        "none": 0,
        "position": 1,
        "velocity": 2,
        "position_velocity": 3,
        "EFFORT": 4,
        "3": 3,
    }.items():
        made, _, _ = build([f"{{op: set_joint_targets, mode: {word}, index: 0}}"])
        assert made.joint_target_mode[0] == number


def test_positions():
    builder, _, _ = build(
        [
            "{op: set_joint_q, joint: left_hip, value: pi / 2}",
            "{op: set_joint_q, joint: base_free, offset: 2, value: 1.25}",
            "{op: set_joint_q, index: -1, value: 0.1}",
        ]
    )
    assert builder.joint_q[7] == pytest.approx(math.pi / 2)
    assert builder.joint_q[2] == 1.25
    assert builder.joint_q[8] == 0.1
    assert builder.joint_q_edited
    several, _, _ = build(["{op: set_joint_q, match: hip, value: 0.3}"])
    assert several.joint_q[7:] == [0.3, 0.3]


def test_positions_as_targets():
    edits = ["{op: set_array, array: joint_q, values: [1, 2, 3, 0, 0, 0.7071068, 0.7071068, 0.4, 0.2]}"]
    builder, _, _ = build([*edits, "{op: copy_joint_q_to_joint_targets}"])
    assert builder.joint_target_pos == pytest.approx([1, 2, 3, 0, 0, math.pi / 2, 0.4, 0.2])
    one, _, _ = build([*edits, "{op: copy_joint_q_to_joint_targets, joints: [right_hip]}"])
    assert one.joint_target_pos == pytest.approx([0, 0, 0, 0, 0, 0, 0, 0.2])
    sap, _, _ = build([*edits, "{op: copy_joint_q_to_joint_targets, match: robot}"], "sap")
    assert sap.joint_target_pos == pytest.approx([1, 2, 3, 0, 0, 0.7071068, 0.4, 0.2])  # part of a quaternion
    with pytest.raises(SceneError, match="needs a joint selector"):
        build(["{op: copy_joint_q_to_joint_targets}"], "sap")


def test_set_array():
    builder, _, _ = build(
        [
            "{op: set_array, array: shape_material_mu, value: 0.3}",
            "{op: set_array, array: shape_flags, match: ball, value: 1}",
            "{op: set_array, array: shape_collision_group, label_prefix: left, value: -2}",
            "{op: set_array, array: joint_q, joint: base_free, values: [1, 2, 3, 0, 0, 0, 1]}",
            "{op: set_array, array: joint_target_pos, range: [6, 8], from_array: joint_q, from_range: 'tail:2'}",
            "{op: set_array, array: joint_target_vel, from_array: joint_target_pos}",
            "{op: set_array, array: joint_target_ke, from_array: joint_target_kd, joint: left_hip}",
        ]
    )
    assert builder.shape_material_mu == [0.3] * 3
    assert builder.shape_flags[1:] == [1, 1]
    assert builder.shape_collision_group == [1, -2, 1]
    assert all(isinstance(value, int) for value in builder.shape_flags + builder.shape_collision_group)
    assert builder.joint_q[:7] == [1, 2, 3, 0, 0, 0, 1]
    assert builder.joint_target_ke[6] == 3


@pytest.mark.parametrize("compat", [None, "sap"])
def test_set_array_takes_the_same_range_of_the_other_array(compat):
    builder, _, _ = build(
        [
            "{op: set_array, array: joint_q, range: 'head:2', values: [0.5, 0.6]}",
            "{op: set_array, array: joint_target_pos, range: 'head:2', from_array: joint_q}",
            "{op: set_array, array: joint_target_vel, index: 1, from_array: joint_q}",
            "{op: set_array, array: joint_armature, range: 'tail:2', from_array: joint_q, from_range: 'head:2'}",
        ],
        compat,
    )
    assert builder.joint_target_pos[:3] == [0.5, 0.6, 0]
    assert builder.joint_target_vel[:3] == [0, 0.6, 0]
    assert builder.joint_armature[-2:] == [0.5, 0.6]


def test_copy_array():
    builder, _, _ = build(
        [
            "{op: set_array, array: joint_q, range: 'tail:2', values: [0.5, 0.6]}",
            "{op: copy_array, src: joint_q, dst: joint_target_pos, src_range: 'tail:2', dst_range: {range: 'tail:2'}}",
            "{op: copy_array, src: joint_target_pos, dst: joint_target_vel, joint: right_hip}",
            "{op: copy_array, src: joint_target_pos, dst: joint_qd, index: 6}",
        ]
    )
    assert builder.joint_target_pos[6:] == [0.5, 0.6]
    assert builder.joint_target_vel == [0] * 7 + [0.6]
    assert builder.joint_qd[6:] == [0.5, 0]


def test_spheres_grow_and_weigh_more():
    builder, found, _ = build(["{op: scale_sphere_shapes, factor: 2}"])
    assert not found
    assert builder.shape_scale[1][0] == 1.0
    assert builder.shape_collision_radius[1] == 1.0
    assert builder.body_mass[1] == pytest.approx(1000 * 4 / 3 * math.pi)
    assert builder.shape_scale[0] == (0.5, 0.5, 0.5)
    one, _, _ = build(["{op: scale_sphere_shapes, factor: 2, label_prefix: right}"])
    assert [scale[0] for scale in one.shape_scale] == [0.5, 0.5, 0.5]
    sap, _, _ = build(["{op: scale_sphere_shapes, factor: 2, label_prefix: right}"], "sap")
    assert sap.shape_scale[1][0] == 1.0  # every sphere
    assert sap.shape_collision_radius[1] == 0.5  # left behind
    assert sap.body_mass[1] == pytest.approx(1000 * 4 / 3 * math.pi / 8)


def test_attributes():
    builder, _, _ = build(
        [
            "{op: set_attr, name: gravity, value: -1.62}",
            "{op: set_attr, name: rigid_gap, value: 0.01}",
            "{op: set_attr, name: default_body_armature, value: 1e-3}",
        ]
    )
    assert (builder.gravity, builder.rigid_gap, builder.default_body_armature) == (-1.62, 0.01, 1e-3)
    tilted, _, _ = build(["{op: set_attr, name: gravity, value: [0, 1, -9]}"])
    assert tilted.gravity == (0.0, 1.0, -9.0)


SHAPES = [
    ("box, hx: 1, hy: 2, hz: 3", ShapeType.BOX, (1, 2, 3)),
    ("sphere, radius: 2", ShapeType.SPHERE, (2, 0, 0)),
    ("capsule, radius: 0.1, half_height: 2", ShapeType.CAPSULE, (0.1, 2, 0)),
    ("cylinder, radius: 0.1, half_height: 2", ShapeType.CYLINDER, (0.1, 2, 0)),
    ("cone, radius: 0.1, half_height: 2", ShapeType.CONE, (0.1, 2, 0)),
    ("ellipsoid, a: 1, b: 2, c: 3", ShapeType.ELLIPSOID, (1, 2, 3)),
    ("ellipsoid", ShapeType.ELLIPSOID, (1, 0.75, 0.5)),
    ("cone", ShapeType.CONE, (1, 0.5, 0)),
]


@pytest.mark.parametrize(("words", "kind", "scale"), SHAPES)
def test_shapes_are_added(words, kind, scale):
    builder, _, _ = build(
        [f"{{op: add_shape, body: left, type: {words}, label: new, cfg: {{density: 0, mu: 0.1}}}}"]
    )
    assert builder.shape_type[-1] == kind
    assert builder.shape_scale[-1] == pytest.approx(scale)
    assert builder.shape_body[-1] == 1
    assert builder.shape_material_mu[-1] == 0.1
    assert builder.shape_label[-1] == "new"


def test_shapes_are_added_to_the_world_and_weigh():
    builder, _, _ = build(
        [
            "{op: add_shape, hx: 1, hy: 1, hz: 1}",
            "{op: add_shape, body: right, type: sphere, radius: 1, transform: {p: [0, 0, 1]}, color: [255, 0, 0]}",
            "{op: add_shape, body: 0, type: sphere, cfg: {is_site: true}}",
        ]
    )
    assert builder.shape_body[3:] == [-1, 2, 0]
    assert builder.body_mass[2] == pytest.approx(1000 * 4 / 3 * math.pi * (1 + 0.25**3))
    assert builder.shape_color[4] == (1.0, 0.0, 0.0)
    assert builder.body_mass[0] == pytest.approx(1000.0)


TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def test_meshes_become_boxes_and_hulls(tmp_path):
    (tmp_path / "t.obj").write_text(TETRAHEDRON)
    base = BASE + "\n"
    mesh = "{op: add_shape, body: left, type: mesh, path: t.obj, scale: [2, 1, 1], label: tetra}"
    before, _, _ = build([mesh], base=base, folder=tmp_path)
    box, found, _ = build(
        [mesh, "{op: approximate_meshes, method: bounding_box}"], base=base, folder=tmp_path
    )
    assert not found
    assert box.shape_type[-1] == ShapeType.BOX
    assert box.shape_source[-1] is None
    assert 8 * math.prod(box.shape_scale[-1]) <= 12 + 1e-9
    assert box.shape_collision_radius[-1] == pytest.approx(math.hypot(*box.shape_scale[-1]))
    assert box.body_mass[1] == pytest.approx(before.body_mass[1])
    box.weigh_body(1)
    assert box.body_mass[1] == pytest.approx(before.body_mass[1])
    assert box.body_com[1] == pytest.approx(before.body_com[1])
    hull, _, _ = build([mesh, "{op: approximate_meshes, match: tetra}"], base=base, folder=tmp_path)
    assert hull.shape_type[-1] == ShapeType.CONVEX_MESH
    assert len(hull.shape_source[-1].data.vertices) == 4
    sap, _, _ = build([mesh, "{op: approximate_meshes, method: bounding_box}"], "sap", base, tmp_path)
    assert sap.shape_type[-1] == ShapeType.BOX
    assert sap.shape_collision_radius[-1] == pytest.approx(before.shape_collision_radius[-1])


def test_a_mesh_that_does_not_collide_stays(tmp_path):
    (tmp_path / "t.obj").write_text(TETRAHEDRON)
    mesh = "{op: add_shape, type: mesh, path: t.obj, cfg: {has_shape_collision: false}}"
    builder, found, _ = build([mesh, "{op: approximate_meshes, method: bounding_box}"], folder=tmp_path)
    assert builder.shape_type[-1] == ShapeType.MESH
    assert found == ["scene-selector-empty"]


def test_mesh_fields(tmp_path):
    (tmp_path / "t.obj").write_text(TETRAHEDRON)
    builder, _, _ = build(
        [
            "{op: add_shape, type: mesh, path: t.obj, mesh_scale: 2, axis_order: [2, 0, 1], face_order: [1, 2, 0]}"
        ],
        folder=tmp_path,
    )
    assert builder.shape_scale[-1] == (2, 2, 2)
    assert builder.shape_source[-1].data.vertices.max(axis=0).tolist() == [3, 1, 2]
    with pytest.raises(NotFoundError) as caught:
        build(["{op: add_shape, type: mesh, path: u.obj}"], folder=tmp_path)
    assert caught.value.where.line == 14
    assert "t.obj" in caught.value.hint


def test_a_mesh_of_a_urdf_file(tmp_path):
    (tmp_path / "t.obj").write_text(TETRAHEDRON)
    (tmp_path / "r.urdf").write_text(
        "<robot name='r'><link name='a'><visual><geometry><box size='1 1 1'/></geometry></visual><collision>"
        "<origin xyz='0 0 5'/><geometry><mesh filename='t.obj' scale='1 1 2'/></geometry></collision></link></robot>"
    )
    builder, _, _ = build(["{op: add_shape, type: mesh, path: r.urdf}"], folder=tmp_path)
    assert builder.shape_transform[-1][:3] == (0, 0, 5)
    assert builder.shape_source[-1].data.vertices.max(axis=0).tolist() == [1, 2, 6]
    (tmp_path / "r.urdf").write_text("<robot name='r'><link name='a'/></robot>")
    with pytest.raises(SceneError, match="has no mesh"):
        build(["{op: add_shape, type: mesh, path: r.urdf}"], folder=tmp_path)


def test_order_is_the_order_of_the_file():
    builder, _, _ = build(
        ["{op: set_joint_armature, value: 1}", "{op: set_joint_armature, value: 2, range: 'head:6'}"]
    )
    assert builder.joint_armature == [2.0] * 6 + [1.0] * 2


def test_ambiguous_names():
    base = BASE.replace("label: robot/right_hip", "label: other/left_hip").replace("id: left_hip", "id: lh")
    base = base.replace("[base_free, left_hip, right_hip]", "[base_free, lh, right_hip]")
    with pytest.raises(SceneError, match="'left_hip' fits 2 labels"):
        build(["{op: set_joint_armature, value: 1, joint: left_hip}"], base=base)
