"""What is drawn of an asset: everything that is on a body, once for all that are alike, and in the right place."""

from __future__ import annotations

import json
import math
import struct
from pathlib import Path

import numpy as np
import pytest

import simwright
from simwright.core.math3d import Pose
from simwright.model.asset import Asset, Body, Camera, Sensor, Shape
from simwright.model.geometry import Box, Mesh, Sphere
from simwright.model.joint import Dof, Joint, JointKind, Motion
from simwright.view.configuration import Configuration
from simwright.view.drawing import AssetDrawing, draw_asset, draw_beams, draw_camera, list_fields
from simwright.view.figure import split_glb
from simwright.view.overlay import draw_limits
from simwright.view.page import find_hit
from simwright.view.words import list_choices


def draw(asset: Asset) -> AssetDrawing:
    configuration = Configuration(asset)
    return draw_asset(asset, configuration.tree, configuration.list_poses())


def test_everything_on_a_body_is_drawn_with_it(samples: Path) -> None:
    asset = simwright.load(samples / "arm" / "urdf" / "arm.urdf")
    drawing = draw(asset)
    for layer, is_drawn in (("Visuals", lambda s: s.visual), ("Colliders", lambda s: s.collision)):
        drawn = [row for part in drawing.parts[layer] for row in part.bodies.tolist()]
        wanted = {asset.body_names.index(shape.body) for shape in asset.shapes if is_drawn(shape)}
        assert set(drawn) == wanted
        assert sum(len(shapes) for part in drawing.parts[layer] for shapes in part.shapes) == sum(
            map(is_drawn, asset.shapes)
        )
        assert all(part.content[:4] == b"glTF" for part in drawing.parts[layer])
    assert len(drawing.overlays["Joint axes"][0].points) == 2 * len(Configuration(asset).dofs)
    assert 1.0 < drawing.size < 1.5


def test_what_is_alike_is_one_part() -> None:
    mesh = Mesh.of(np.random.default_rng(1).random((3000, 3)), np.arange(9000) % 3000)
    boxes = [Shape(f"box{n}", Box.of(1, 1, 1), pose=Pose.of((n, 0, 0))) for n in range(20)]
    links = [Body(f"link{n}") for n in range(3)]
    heavy = [Shape(f"mesh{n}", mesh, body=f"link{n}", pose=Pose.of((0, 0, n))) for n in range(3)]
    other = Shape("ball", Sphere(0.5), body="link0")
    asset = Asset("a", links, shapes=[*boxes, *heavy, other])
    parts = draw(asset).parts["Visuals"]
    assert sorted(len(part.bodies) for part in parts) == [1, 3, 20]
    many = next(part for part in parts if len(part.bodies) == 20)
    np.testing.assert_allclose(many.poses[:, 0], np.arange(20))
    assert [shapes[0].name for shapes in many.shapes] == [f"box{n}" for n in range(20)]


def test_bodies_that_look_alike_in_another_colour_are_not_alike() -> None:
    bodies = [Body(f"b{n}") for n in range(4)]
    colors = [(1.0, 0.0, 0.0, 1.0), (1.0, 0.0, 0.0, 1.0), (0.0, 1.0, 0.0, 1.0), None]
    shapes = [Shape(f"s{n}", Box.of(1, 1, 1), body=f"b{n}", color=colors[n]) for n in range(4)]
    parts = draw(Asset("a", bodies, shapes=shapes)).parts["Visuals"]
    assert sorted(part.bodies.tolist() for part in parts) == [[0, 1], [2], [3]]


def test_a_file_with_several_looks_is_split_into_files_of_one() -> None:
    shapes = [
        Shape("a", Box.of(1, 2, 3), color=(1.0, 0.0, 0.0, 1.0)),
        Shape("b", Sphere(0.5), pose=Pose.of((1, 2, 3)), color=(0.0, 1.0, 0.0, 1.0)),
    ]
    content = draw(Asset("a", shapes=shapes)).parts["Visuals"][0].content
    pieces = split_glb(content)
    assert len(pieces) == 2
    colors, lengths = [], 0
    for piece in pieces:
        assert struct.unpack_from("<I", piece, 8)[0] == len(piece)
        size = struct.unpack_from("<I", piece, 12)[0]
        document = json.loads(piece[20 : 20 + size])
        assert len(document["meshes"]) == len(document["materials"]) == 1
        assert document["buffers"][0]["byteLength"] <= len(piece) - 28 - size
        for view in document["bufferViews"]:
            assert view["byteOffset"] + view["byteLength"] <= document["buffers"][0]["byteLength"]
        lengths += sum(view["byteLength"] for view in document["bufferViews"])
        colors.append(document["materials"][0]["pbrMetallicRoughness"]["baseColorFactor"][:2])
    assert sorted(colors) == [[0.0, 1.0], [1.0, 0.0]]
    assert lengths <= len(content)
    assert split_glb(pieces[0]) == [pieces[0]]


def test_the_sector_of_a_hinge_ends_where_the_hand_can_go() -> None:
    dof = Dof(Motion.HINGE, name="q", lower=-0.5, upper=1.0)
    joint = Joint("q", JointKind.REVOLUTE, "a", "b", dofs=[dof], parent_frame=Pose.of((0, 0, 1)))
    asset = Asset("arm", [Body("a"), Body("b")], [joint])
    configuration = Configuration(asset)
    sector, lines = draw_limits(configuration.tree, {"": -1, "a": 0, "b": 1}, 2.0)
    rim = sector.points[1:] - sector.points[0]
    np.testing.assert_allclose(np.linalg.norm(rim, axis=1), 2.0)
    steps = np.einsum("ij,ij->i", rim[:-1], rim[1:]) / 4.0
    assert np.arccos(steps.min()) <= math.radians(6.0) + 1e-6, "it looks round"
    wide = math.acos(rim[0] @ rim[-1] / 4.0)
    assert wide == pytest.approx(1.5)
    hand = lines.points[lines.bodies == 1]
    for value, end in ((-0.5, rim[0]), (1.0, rim[-1])):
        configuration.move({"q": value})
        pose = configuration.pose()["b"]
        along = pose.apply(hand[1]) - pose.apply(hand[0])
        np.testing.assert_allclose(along / np.linalg.norm(along), end / 2.0, atol=1e-9)


def test_a_lidar_is_drawn_as_far_and_as_wide_as_it_sees() -> None:
    said = {
        "scan_horizontal_min_angle": -1.0,
        "scan_horizontal_max_angle": 1.0,
        "range_min": 0.1,
        "range_max": 5.0,
    }
    ends = draw_beams(said, 1.0).reshape(-1, 3)
    assert np.linalg.norm(ends, axis=1).max() == pytest.approx(5.0)
    turns = np.arctan2(ends[:, 1], ends[:, 0])
    assert (turns.min(), turns.max()) == (pytest.approx(-1.0), pytest.approx(1.0))
    assert abs(ends[:, 2]).max() == 0.0


def test_a_range_sensor_without_words_looks_ahead() -> None:
    ends = draw_beams({"max_range": "far", "fov": math.inf}, 2.0).reshape(-1, 3)
    assert ends[:, 0].max() == pytest.approx(2.0)
    assert np.isfinite(ends).all()


def test_a_camera_is_drawn_along_its_view(samples: Path) -> None:
    lines = draw_camera(Camera("c", fov_y=math.pi / 2, resolution=(200, 100), far=3.0), 10.0)
    corner = np.abs(lines.reshape(-1, 3)).max(axis=0)
    np.testing.assert_allclose(corner, (6.0, 3.0, 3.0))
    asset = simwright.load(samples / "arm" / "urdf" / "arm.urdf")
    # the sensor and its optics are one camera
    assert len(list(list_fields(asset, 1.0))) == 1


def test_a_camera_that_is_a_sensor_is_drawn_as_wide_as_it_sees() -> None:
    said = {"horizontal_fov": math.pi / 2, "image_width": 200, "image_height": 100, "clip_far": 3.0}
    (part,) = list_fields(
        Asset("a", bodies=[Body("b")], sensors=[Sensor("eye", "camera", "b", settings=said)]), 10.0
    )
    corners = part[-1].reshape(-1, 3)
    edges = {tuple(corner) for corner in np.round(corners, 9).tolist()}
    assert edges == {(0.0, 0.0, 0.0), *((3.0, y, z) for y in (-3.0, 3.0) for z in (-1.5, 1.5))}


def test_a_line_of_sight_meets_the_nearest_surface() -> None:
    shape = Shape("ball", Box.of(2.0, 2.0, 2.0), pose=Pose.of((0, 0, 1)), scale=np.array((1.0, 1.0, 0.5)))
    body = Pose.from_rpy((3.0, 0.0, 0.0), (0.0, 0.0, math.pi / 2))
    hit = find_hit([shape], body, np.array((10.0, 0.2, 1.0)), np.array((-1.0, 0.0, 0.0)))
    assert hit is not None
    np.testing.assert_allclose(hit, (4.0, 0.2, 1.0))
    top = find_hit([shape], body, np.array((3.1, 0.1, 9.0)), np.array((0.0, 0.0, -1.0)))
    assert top is not None
    np.testing.assert_allclose(top, (3.1, 0.1, 1.5))
    assert find_hit([shape], body, np.array((10.0, 5.0, 1.0)), np.array((-1.0, 0.0, 0.0))) is None


def test_choices_of_a_list_are_never_alike() -> None:
    names = ["choose", "a" * 50, "a" * 50 + "b", "\u202ename"]
    found = list_choices(names, 20, ("choose",))
    assert list(found.values()) == names
    assert len(found) == 4
    assert "choose" not in found
    assert all(len(label) < 40 and label.isprintable() for label in found)


def test_a_camera_that_sees_half_of_everything_has_a_frustum() -> None:
    lines = draw_camera(Camera("c", fov_y=math.pi, resolution=(100, 100), far=2.0), 10.0)
    assert np.abs(lines[..., :2]).max() == pytest.approx(2.0 / math.tan(0.05))


def test_the_camera_is_set_by_what_stands_on_the_ground_not_by_the_ground() -> None:
    slab = Shape("ground", Box.of(40.0, 40.0, 0.1), pose=Pose.of((0.0, 0.0, -0.05)))
    wall = Shape("wall", Box.of(4.0, 0.2, 2.0), pose=Pose.of((0.0, 0.0, 1.0)))
    asset = Asset("room", shapes=[slab, wall])
    drawing = draw(asset)
    assert (drawing.upper - drawing.lower).tolist() == pytest.approx([4.0, 0.2, 2.0])
    assert (drawing.boxes[-1][1] - drawing.boxes[-1][0]).tolist() == pytest.approx([40.0, 40.0, 2.1])
    bare = Asset("ground", shapes=[slab])
    assert draw(bare).size == pytest.approx(40.0), "ground alone is shown whole"


def make_heavy() -> Asset:
    """Ten links with one ball of 89,000 triangles, and a cover of 1,700."""
    import trimesh

    ball = trimesh.creation.uv_sphere(radius=0.1, count=[150, 150])
    cover = trimesh.creation.uv_sphere(radius=0.2, count=[21, 21])
    heavy, light = Mesh.of(ball.vertices, ball.faces), Mesh.of(cover.vertices, cover.faces)
    bodies = [Body(f"link{number}") for number in range(10)]
    shapes = [Shape(f"ball{number}", heavy, f"link{number}") for number in range(10)]
    return Asset("heavy", bodies=bodies, shapes=[*shapes, Shape("cover", light, "link0")])


def test_a_robot_of_many_triangles_is_drawn_with_fewer_and_measured_with_all() -> None:
    asset = make_heavy()
    heavy, light = asset.shapes[0].geometry.data.face_count, asset.shapes[-1].geometry.data.face_count
    configuration = Configuration(asset)
    tree, poses = configuration.tree, configuration.list_poses()
    every = draw_asset(asset, tree, poses, most=1_000_000)
    assert every.drawn == every.triangles == 10 * heavy + light
    some = draw_asset(asset, tree, poses, most=100_000)
    assert some.triangles == 10 * heavy + light
    assert 50_000 < some.drawn < 150_000
    assert sum(len(part.content) for part in some.parts["Visuals"]) < 0.3 * sum(
        len(part.content) for part in every.parts["Visuals"]
    )
    # the cover is drawn with the ball of its link, or beside all ten of them
    assert light in [part.faces for part in some.parts["Visuals"]], "a light mesh loses nothing"
    picked = [shape for part in some.parts["Visuals"] for found in part.shapes for shape in found]
    assert all(
        shape.geometry is asset.shapes[-1].geometry or shape.geometry is asset.shapes[0].geometry
        for shape in picked
    )
    many = draw_asset(asset, tree, poses, copies=10, most=1_000_000)
    assert many.triangles == 10 * some.triangles
    assert many.drawn == 10 * some.drawn
