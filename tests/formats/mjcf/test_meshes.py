"""Meshes: the coordinates of the file, the pose that was written, one geometry per asset."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
import trimesh

from simwright.core.errors import ParseError
from simwright.core.gate import Gate
from simwright.core.math3d import Pose
from simwright.formats.mesh.load import load_mesh
from simwright.formats.mjcf.compiler import find_mesh_frame
from simwright.model.asset import scaled
from simwright.model.kinematics import forward_kinematics
from simwright.model.moments import compute_moments

WEDGE = """v 1 1 1
v 3 1 1
v 1 2 1
v 1 1 1.5
vt 0 0
vt 1 0
vt 0.25 0.75
vt 0 1
f 1/1 3/3 2/2
f 1/1 2/2 4/4
f 2/2 3/3 4/4
f 1/1 4/4 3/3
"""
INERTIAL = '<inertial pos="0 0 0" mass="2" diaginertia="1 1 1"/>'
GEOM = '<geom type="mesh" mesh="m" pos=".1 .2 .3" euler="10 20 30"/>'
FILE_VERTICES = {(1, 1, 1), (3, 1, 1), (1, 2, 1), (1, 1, 1.5)}


def model(mesh: str, geoms: str = '<geom type="mesh" mesh="m" pos=".1 .2 .3" euler="10 20 30"/>') -> str:
    return (
        f'<mujoco><asset><mesh name="m" {mesh}/></asset><worldbody>'
        f'<body name="a" pos="1 2 3" euler="30 0 0"><freejoint/>{geoms}</body></worldbody></mujoco>'
    )


def world_points(shape, asset):
    pose = forward_kinematics(asset)[shape.body] @ shape.pose
    return pose.apply(shape.geometry.data.vertices * scaled(shape))


def mujoco_points(path, geom=0):
    compiled = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(compiled)
    mujoco.mj_kinematics(compiled, data)
    mesh = compiled.geom_dataid[geom]
    start, count = compiled.mesh_vertadr[mesh], compiled.mesh_vertnum[mesh]
    points = compiled.mesh_vert[start : start + count]
    return points @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom]


@pytest.mark.parametrize("scale", ["1 1 1", ".5 .5 .5", "1 2 3", "1 -1 1", "-1 -2 3"])
def test_points_are_where_mujoco_has_them(scale, read_text, tmp_path):
    asset = read_text(model(f'file="wedge.obj" scale="{scale}"'), wedge__obj=WEDGE)
    (shape,) = asset.shapes
    assert np.allclose(world_points(shape, asset), mujoco_points(tmp_path / "model.xml"), atol=1e-6)
    assert {tuple(np.round(v, 5)) for v in shape.geometry.data.vertices} == FILE_VERTICES
    assert np.allclose(shape.pose.p, (0.1, 0.2, 0.3), atol=1e-6)
    assert shape.geometry.file.endswith("wedge.obj")


@pytest.mark.parametrize("scale", ["1 1 1", "1 -2 3"])
def test_faces_look_outwards_as_in_the_file(scale, read_text):
    (shape,) = read_text(model(f'file="wedge.obj" scale="{scale}"'), wedge__obj=WEDGE).shapes
    data = shape.geometry.data
    triangles = data.vertices[data.triangles()]
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    outwards = triangles.mean(axis=1) - data.vertices.mean(axis=0)
    assert np.all(np.einsum("ij,ij->i", normals, outwards) > 0)
    assert compute_moments(shape.geometry).volume == pytest.approx(1 / 6, rel=1e-5)


def test_texture_coordinates_are_those_of_the_file(read_text):
    (shape,) = read_text(model('file="wedge.obj"'), wedge__obj=WEDGE).shapes
    data = shape.geometry.data
    at = {(1, 1, 1): (0, 0), (3, 1, 1): (1, 0), (1, 2, 1): (0.25, 0.75), (1, 1, 1.5): (0, 1)}
    assert data.uvs is not None
    assert len(data.uvs) == len(data.indices)
    for corner, uv in zip(data.indices, data.uvs, strict=True):
        assert np.allclose(uv, at[tuple(np.round(data.vertices[corner], 5))], atol=1e-6)


def test_normals_are_those_of_the_file(read_text):
    (shape,) = read_text(model('file="wedge.obj"'), wedge__obj=WEDGE).shapes
    assert shape.geometry.data.normals is None
    text = WEDGE.replace("f 1/1 3/3 2/2", "vn 0 0 -1\nf 1/1/1 3/3/1 2/2/1").split("\nf 1/1 2/2")[0] + "\n"
    (shape,) = read_text(model('file="flat.obj"', INERTIAL + GEOM), flat__obj=text).shapes
    assert shape.geometry.data.normals.tolist() == [[0, 0, -1]] * 3


def test_normals_of_vertices_in_the_text_are_unit_and_per_corner(read_text):
    (shape,) = read_text(model('vertex="0 0 0 1 0 0 0 1 0 0 0 1" scale="1 2 3"')).shapes
    data = shape.geometry.data
    assert len(data.normals) == len(data.indices)
    assert np.allclose(np.linalg.norm(data.normals, axis=1), 1.0, atol=1e-6)


def test_materials_in_the_mesh_file_do_not_count(read_text):
    text = "usemtl red\n" + WEDGE
    (shape,) = read_text(model('file="wedge.obj"'), wedge__obj=text).shapes
    assert shape.geometry.data.subsets == ()


@pytest.mark.parametrize("scale", ["1 1 1", "1 -2 3", "1e-6 1e-6 1e-6"])
def test_a_mesh_that_weighs_nothing_is_not_compiled(scale, read_text, tmp_path):
    asset = read_text(model(f'file="wedge.obj" scale="{scale}"', INERTIAL + GEOM), wedge__obj=WEDGE)
    (shape,) = asset.shapes
    assert not shape.geometry.is_loaded
    assert np.allclose(shape.pose.p, (0.1, 0.2, 0.3), atol=1e-9)
    assert scaled(shape).tolist() == [float(word) for word in scale.split()]
    assert asset.bodies[0].inertial.mass == 2.0
    if scale != "1e-6 1e-6 1e-6":  # too small for MuJoCo itself
        assert np.allclose(world_points(shape, asset), mujoco_points(tmp_path / "model.xml"), atol=1e-6)


@pytest.mark.parametrize(
    ("geoms", "expected"),
    [
        ('<geom type="mesh" mesh="m" density="600"/>', 100.0),
        ('<geom type="mesh" mesh="m" mass="3"/>', 3.0),
        ('<geom type="mesh" mesh="m" density="0"/><geom size="1" mass="5"/>', 5.0),
        ('<geom type="mesh" mesh="m" mass="0"/><geom size="1" mass="5"/>', 5.0),
    ],
)
def test_mass_that_follows_from_a_mesh(geoms, expected, read_text):
    asset = read_text(model('file="wedge.obj"', geoms), wedge__obj=WEDGE)
    assert asset.bodies[0].inertial.mass == pytest.approx(expected, rel=1e-5)


def test_inertia_from_geoms_overrules_the_inertial(read_text):
    text = model('file="wedge.obj"', INERTIAL + '<geom type="mesh" mesh="m" density="600"/>')
    text = text.replace("<asset>", '<compiler inertiafromgeom="true"/><asset>')
    asset = read_text(text, wedge__obj=WEDGE)
    assert asset.bodies[0].inertial.mass == pytest.approx(100.0, rel=1e-5)


def test_a_broken_mesh_is_an_error_when_it_is_looked_at(read_text):
    (shape,) = read_text(model('file="m.stl"', INERTIAL + GEOM), m__stl="not a mesh").shapes
    with pytest.raises(ParseError) as caught:
        assert shape.geometry.data
    assert caught.value.where.file.endswith("m.stl")


def test_geoms_of_one_asset_share_the_geometry(read_text):
    geoms = '<geom type="mesh" mesh="m"/><geom type="mesh" mesh="m" pos="1 0 0"/>'
    first, second = read_text(model('file="wedge.obj"', geoms), wedge__obj=WEDGE).shapes
    assert first.geometry is second.geometry
    assert np.allclose(second.pose.p - first.pose.p, (1, 0, 0))


def test_a_reference_frame_is_baked_in_and_names_no_file(read_text, tmp_path):
    asset = read_text(
        model('file="wedge.obj" refpos="1 1 1" refquat="0 1 0 0" scale="2 2 2"'), wedge__obj=WEDGE
    )
    (shape,) = asset.shapes
    assert (shape.geometry.file, shape.scale) == ("", None)
    assert np.allclose(world_points(shape, asset), mujoco_points(tmp_path / "model.xml"), atol=1e-6)


def test_vertices_in_the_text(read_text):
    (shape,) = read_text(model('vertex="0 0 0 1 0 0 0 1 0 0 0 1"')).shapes
    assert shape.geometry.file == ""
    corners = {tuple(np.round(v, 5) + 0.0) for v in shape.geometry.data.vertices}
    assert corners == {(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)}


def test_a_primitive_fitted_to_a_mesh_is_a_primitive(read_text):
    (shape,) = read_text(model('file="wedge.obj"', '<geom type="box" mesh="m"/>'), wedge__obj=WEDGE).shapes
    assert shape.geometry.kind == "box"


def test_faces_are_the_triangles_that_mujoco_makes(read_text, tmp_path):
    """A square that is not flat is another solid along the other diagonal."""
    points = "v 0 0 0\nv 1 0 0\nv 1.5 1.5 1\nv 0 1 0\nv 0 0 -1\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nvt 0.5 0.5\n"
    faces = "f 1/1 2/2 3/3 4/4\nf 1/1 5/5 2/2\nf 2/2 5/5 3/3\nf 3/3 5/5 4/4\nf 4/4 5/5 1/1\n"
    (shape,) = read_text(model('file="bent.obj"'), bent__obj=points + faces).shapes
    data = shape.geometry.data
    compiled = mujoco.MjModel.from_xml_path(str(tmp_path / "model.xml"))
    assert sorted(map(sorted, data.triangles().tolist())) == sorted(map(sorted, compiled.mesh_face.tolist()))
    corners = np.array([(0, 0), (1, 0), (1, 1), (0, 1), (0.5, 0.5)])
    assert np.array_equal(data.uvs, corners[data.indices])


def test_faces_with_many_corners_are_cut_as_mujoco_does(read_text, tmp_path):
    """Faces that are not convex, not flat or far from the origin, turned into every direction."""
    random = np.random.default_rng(11)
    points, faces = [], []
    for count in (5, 5, 5, 6, 6, 7, 8, 9) * 25:
        angles = np.sort(random.uniform(0.0, 2.0 * np.pi, count))
        radii = random.uniform(0.2, 1.0, count)
        flat = np.stack((radii * np.cos(angles), radii * np.sin(angles), 0.1 * random.normal(size=count)))
        turn, _ = np.linalg.qr(random.normal(size=(3, 3)))
        faces.append(len(points) + 1 + np.arange(count))
        points += (turn @ flat).T.tolist()
        points = [*points[:-count], *(np.array(points[-count:]) + 3.0 * random.normal(size=3)).tolist()]
    text = "".join("v {:.9g} {:.9g} {:.9g}\n".format(*np.float32(point)) for point in points)
    text += "".join(f"f {' '.join(map(str, face))}\n" for face in faces)
    geom = INERTIAL + '<geom type="mesh" mesh="m" contype="0" conaffinity="0"/>'
    (shape,) = read_text(model('file="many.obj" inertia="shell"', geom), many__obj=text).shapes
    compiled = mujoco.MjModel.from_xml_path(str(tmp_path / "model.xml"))
    found = {tuple(sorted(row)) for row in shape.geometry.data.triangles().tolist()}
    assert found == {tuple(sorted(row)) for row in compiled.mesh_face.tolist()}


SOLIDS = {
    "a slanted box": trimesh.creation.box(
        (1.0, 2.0, 3.0), transform=trimesh.transformations.euler_matrix(1, 2, 3)
    ),
    "two boxes that overlap": trimesh.util.concatenate(
        [
            trimesh.creation.box((1.0, 2.0, 3.0)),
            trimesh.creation.box((2.0, 0.5, 1.0)).apply_translation((1, 1, 0.2)),
        ]
    ),
    "a sheet": trimesh.creation.box((1.0, 0.5, 0.01)).apply_translation((3.0, 0.0, 0.0)),
    "a round one": trimesh.creation.cylinder(0.3, 1.0),
    "a ball": trimesh.creation.icosphere(subdivisions=1),
}


@pytest.mark.parametrize("scale", [(1.0, 1.0, 1.0), (0.5, -2.0, 3.0)])
@pytest.mark.parametrize("name", SOLIDS)
def test_the_frame_of_a_mesh_is_that_of_mujoco(name, scale, tmp_path):
    """Images without coordinates lie on a mesh by it."""
    file = tmp_path / "m.stl"
    SOLIDS[name].export(file)
    data = load_mesh(file, Gate.around(file))
    frame, half = find_mesh_frame(data.vertices, data.triangles(), np.array(scale))
    words = " ".join(map(str, scale))
    compiled = mujoco.MjModel.from_xml_string(
        f'<mujoco><asset><mesh name="m" file="{file}" scale="{words}"/></asset>'
        '<worldbody><geom type="mesh" mesh="m"/></worldbody></mujoco>'
    )
    assert frame.is_close(Pose.of(compiled.mesh_pos[0], compiled.mesh_quat[0]), 1e-5)
    assert np.allclose(half, compiled.geom_size[0], atol=1e-5)


def test_a_mesh_that_mujoco_refuses_has_its_frame_in_its_middle():
    frame, half = find_mesh_frame(np.ones((3, 3)), np.array([(0, 1, 2)]), np.array((1.0, 2.0, 3.0)))
    assert frame.p.tolist() == [1.0, 2.0, 3.0]
    assert half.tolist() == [0.0, 0.0, 0.0]
