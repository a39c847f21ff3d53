"""Every geometry, and what happens to wrong ones."""

from __future__ import annotations

import math

import numpy as np
import pytest

from simwright.model.geometry import Box, Capsule, Cone, Cylinder, Ellipsoid, Mesh, Plane, Polyline, Sphere

TRIANGLES = """o left
v 0 0 0
v 1 0 0
v 0 1 0
v 5 5 5
v 6 5 5
v 5 6 5
f 1 2 3
"""


def visual(geometry: str, tag: str = "visual") -> str:
    return f'<link name="a">\n<{tag} name="v"><geometry>{geometry}</geometry></{tag}></link>'


@pytest.mark.parametrize(
    ("text", "kind", "values"),
    [
        ("<box><size>1 2 3</size></box>", Box, {"size": (1, 2, 3)}),
        ("<sphere><radius>2</radius></sphere>", Sphere, {"radius": 2}),
        (
            "<cylinder><radius>2</radius><length>3</length></cylinder>",
            Cylinder,
            {"radius": 2, "length": 3},
        ),
        ("<capsule><radius>2</radius><length>3</length></capsule>", Capsule, {"radius": 2, "length": 3}),
        ("<cone><radius>2</radius><length>3</length></cone>", Cone, {"radius": 2, "length": 3}),
        ("<ellipsoid><radii>1 2 3</radii></ellipsoid>", Ellipsoid, {"radii": (1, 2, 3)}),
    ],
)
def test_primitives(read_model, reporter, text, kind, values):
    geometry = read_model(visual(text)).shapes[0].geometry
    assert isinstance(geometry, kind)
    for name, value in values.items():
        np.testing.assert_array_equal(getattr(geometry, name), value)
    assert not len(reporter)


def test_plane_faces_its_normal(read_model):
    text = "<plane><normal>1 0 0</normal><size>4 5</size></plane>"
    seen = read_model(visual(text)).shapes[0]
    assert isinstance(seen.geometry, Plane)
    np.testing.assert_array_equal(seen.geometry.size, (4, 5))
    np.testing.assert_allclose(seen.pose.rotation @ (0, 0, 1), (1, 0, 0), atol=1e-12)
    assert read_model(visual(text, "collision")).shapes[0].geometry.size is None


@pytest.mark.parametrize(
    "text",
    [
        "<box><size>1 2</size></box>",
        "<box><size>1 -2 1</size></box>",
        "<box><size>1 nan 1</size></box>",
        "<sphere><radius>0</radius></sphere>",
        "<sphere><radius>big</radius></sphere>",
        "<cylinder><radius>inf</radius><length>1</length></cylinder>",
    ],
)
def test_wrong_numbers(read_model, found, text):
    assert len(read_model(visual(text)).shapes) == 1
    (finding,) = found("xml-bad-number")
    assert finding.where.line == 4


def test_polyline_with_a_hole(read_model):
    outer = "".join(f"<point>{x} {y}</point>" for x, y in ((0, 0), (4, 0), (4, 4), (0, 4), (0, 0)))
    inner = "".join(f"<point>{x} {y}</point>" for x, y in ((1, 1), (2, 1), (2, 2)))
    text = f"<polyline>{outer}<height>2</height></polyline><polyline>{inner}<height>2</height></polyline>"
    geometry = read_model(visual(text)).shapes[0].geometry
    assert isinstance(geometry, Polyline)
    assert [len(loop) for loop in geometry.loops] == [4, 3]
    assert geometry.height == 2.0


def test_polyline_without_area(read_model, found):
    asset = read_model(visual("<polyline><point>0 0</point><height>1</height></polyline>"))
    assert not asset.shapes
    assert "1 points" in found("sdf-bad-polyline")[0].message


def test_mesh(read_model):
    text = """<mesh optimization="convex_decomposition"><uri>meshes/a.obj</uri><scale>2 2 2</scale>
        <convex_decomposition><max_convex_hulls>8</max_convex_hulls></convex_decomposition></mesh>"""
    asset = read_model(visual(text, "collision"), "1.11", {"meshes/a.obj": TRIANGLES})
    shape = asset.shapes[0]
    assert isinstance(shape.geometry, Mesh)
    assert not shape.geometry.is_loaded
    np.testing.assert_array_equal(shape.scale, (2, 2, 2))
    assert shape.approximation.token == "convexDecomposition"
    assert shape.approximation.settings == {"max_convex_hulls": 8}
    assert shape.geometry.data.face_count == 1


def test_mesh_is_shared(read_model):
    text = "<mesh><uri>a.obj</uri></mesh>"
    both = f"""<link name="a"><visual name="v"><geometry>{text}</geometry></visual>
        <collision name="c"><geometry>{text}</geometry></collision></link>"""
    asset = read_model(both, files={"a.obj": TRIANGLES})
    assert len(asset.shapes) == 2
    assert len(asset.geometries()) == 1


def test_missing_mesh(read_model, found):
    asset = read_model(visual("<mesh><uri>model://nobody/a.stl</uri></mesh>"))
    assert not asset.shapes
    (finding,) = found("sdf-mesh-failed")
    assert "nobody" in finding.message
    assert finding.where.line == 4


def test_unknown_submesh_uses_the_whole(read_model, found):
    text = "<mesh><uri>a.obj</uri><submesh><name>nothere</name></submesh></mesh>"
    asset = read_model(visual(text), files={"a.obj": TRIANGLES})
    assert asset.shapes[0].geometry.data.face_count == 1
    assert found("sdf-no-submesh")


def test_broken_mesh_with_submesh(read_model, found):
    text = "<mesh><uri>a.stl</uri><submesh><name>x</name></submesh></mesh>"
    asset = read_model(visual(text), files={"a.stl": "garbage"})
    assert not asset.shapes
    assert found("sdf-mesh-failed")


OBJECTS = """o Body
v 0 0 0
v 1 0 0
v 0 1 0
v 0 0 2
usemtl skin
f 1 3 2
f 1 2 4
o Lid
usemtl glass
f 1 4 3
usemtl skin
f 2 3 4
"""


def test_a_submesh_is_an_object_of_the_file(read_model):
    text = "<mesh><uri>a.obj</uri><submesh><name>Lid</name><center>true</center></submesh></mesh>"
    data = read_model(visual(text), files={"a.obj": OBJECTS}).shapes[0].geometry.data
    assert data.face_count == 2
    assert [(s.name, s.faces.tolist()) for s in data.subsets] == [("skin", [1]), ("glass", [0])]
    assert (data.vertices.min(axis=0) + data.vertices.max(axis=0)).tolist() == [0, 0, 0]


def test_a_submesh_of_a_collada_scene_is_a_node(read_model, found):
    def node(name: str, z: int) -> str:
        return f'<node name="{name}"><translate>0 0 {z}</translate><instance_geometry url="#g"/></node>'

    dae = f"""<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
    <asset><unit meter="1"/><up_axis>Y_UP</up_axis></asset>
    <library_geometries><geometry id="g" name="tri"><mesh>
    <source id="p"><float_array id="a" count="9">0 0 0 1 0 0 0 1 0</float_array><technique_common>
    <accessor source="#a" count="3" stride="3"><param name="X" type="float"/><param name="Y" type="float"/>
    <param name="Z" type="float"/></accessor></technique_common></source>
    <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
    <triangles count="1"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2</p></triangles></mesh></geometry>
    </library_geometries><library_visual_scenes><visual_scene id="s">{node("low", 1)}{node("high", 5)}</visual_scene>
    </library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>"""
    text = "<mesh><uri>a.dae</uri><submesh><name>high</name></submesh></mesh>"
    data = read_model(visual(text), files={"a.dae": dae}).shapes[0].geometry.data
    assert data.vertices[:, 2].tolist() == [5, 5, 5]
    (note,) = found("mesh-up-axis")
    assert "Y_UP" in note.message
    assert note.level == "info"


def test_empty_and_unknown(read_model, found, reporter):
    assert not read_model(visual("<empty/>")).shapes
    assert not len(reporter)
    assert not read_model(visual("<teapot/>")).shapes
    assert "<teapot>" in found("sdf-no-geometry")[0].message
    assert math.isfinite(found("sdf-no-geometry")[0].where.line)
