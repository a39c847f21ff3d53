"""Meshes: triangles, normals, colours, face sets, sharing, fewer bits."""

from __future__ import annotations

import numpy as np
import pytest

from simwright.formats.gltf.meshes import make_mesh
from simwright.formats.gltf.vertices import (
    VERTICES,
    Buffer,
    PrimitiveInputs,
    TriangulatedMesh,
    compute_normals,
    triangulate,
)
from simwright.model.geometry import (
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    Heightfield,
    MeshData,
    Plane,
    Polyline,
    Sphere,
)

from .conftest import QUAD


def measure(corners: np.ndarray) -> np.ndarray:
    """Twice the areas of triangles, as vectors."""
    return np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])


@pytest.mark.parametrize("axes", [(0, 1, 2), (1, 2, 0), (2, 0, 1), (1, 0, 2)])
@pytest.mark.parametrize("start", range(6))
def test_dented_polygon(axes, start):
    """However it lies and wherever it starts, an L is cut into triangles that cover it once."""
    outline = np.array([(0, 0, 0), (2, 0, 0), (2, 1, 0), (1, 1, 0), (1, 2, 0), (0, 2, 0)], dtype=float)
    outline = np.roll(outline, start, axis=0)[:, axes]
    data = MeshData(outline, np.arange(6, dtype=np.int32), np.array([6], np.int32))
    areas = measure(outline[triangulate(data)[0]]) / 2
    assert np.linalg.norm(areas, axis=1).sum() == pytest.approx(3.0)
    assert np.linalg.norm(areas.sum(axis=0)) == pytest.approx(3.0)


def test_dented_quad():
    points = np.array([(0, 0, 0), (2, 0, 0), (0.5, 0.5, 0), (0, 2, 0)], dtype=float)
    for start in range(4):
        turned = np.roll(points, start, axis=0)
        data = MeshData(turned, np.arange(4, dtype=np.int32), np.array([4], np.int32))
        assert (measure(turned[triangulate(data)[0]])[:, 2] > 0).all()


def test_faces_without_area_vanish():
    data = MeshData(np.eye(3), np.array((0, 0, 1, 0, 1, 2), np.int32))
    corners, faces = triangulate(data)
    assert corners.tolist() == [[3, 4, 5]]
    assert faces.tolist() == [1]


@pytest.mark.parametrize(
    ("geometry", "volume"),
    [
        (Box.of(1, 2, 3), 6.0),
        (Sphere(0.5), np.pi / 6),
        (Ellipsoid(np.array((1.0, 2.0, 3.0))), 8 * np.pi),
        (Cylinder(0.5, 2.0), np.pi / 2),
        (Capsule(0.5, 2.0), np.pi / 2 + np.pi / 6),
        (Cone(0.5, 2.0), np.pi / 6),
        (Polyline((np.array(((0, 0), (1, 0), (1, 1), (0, 1.0))),), 2.0), 2.0),
    ],
    ids=lambda value: getattr(value, "kind", ""),
)
def test_primitives_are_closed_and_face_outwards(geometry, volume):
    data = make_mesh(geometry)
    assert data is not None
    made = TriangulatedMesh(data).make(None, PrimitiveInputs())
    assert made is not None
    corners = made.points[made.triangles]
    found = np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])).sum() / 6
    assert found == pytest.approx(volume, rel=0.02)
    outward = np.einsum("ij,ij->i", measure(corners), made.normals[made.triangles].mean(axis=1))
    assert (outward > 0).all()


def test_sheets_face_up():
    for geometry in (Plane(np.array((1.0, 2.0))), Heightfield(np.zeros((3, 4)), np.array((1.0, 2.0)))):
        data = make_mesh(geometry)
        assert data is not None
        made = TriangulatedMesh(data).make(None, PrimitiveInputs())
        assert made is not None
        assert (measure(made.points[made.triangles])[:, 2] > 0).all()
        assert made.normals == pytest.approx(np.tile((0, 0, 1), (len(made.normals), 1)))


def test_a_terrain_goes_from_edge_to_edge():
    heights = np.arange(12.0).reshape(3, 4) / 10
    data = make_mesh(Heightfield(heights, np.array((6.0, 2.0))))
    assert data is not None
    areas = measure(data.vertices[data.triangles()])[:, 2] / 2
    assert areas == pytest.approx(np.ones(12))
    assert data.vertices[:, 2].reshape(3, 4) == pytest.approx(heights)
    assert np.ptp(data.vertices[:, :2], axis=0) == pytest.approx((6.0, 2.0))


def test_creases():
    """Two faces at an angle share normals where they meet, unless the angle is sharp or the mesh says otherwise."""
    triangles = np.array(((0, 1, 2), (1, 0, 3)))

    def corner(angle: float, smooth: bool | None) -> np.ndarray:
        lift = (np.cos(angle), -np.sin(angle))
        points = np.array(((0, 0, 0), (0, 1, 0), (-1.0, 0, 0), (lift[0], 0, lift[1])))
        return compute_normals(points, triangles, smooth)[0]

    gentle, sharp = np.radians(20), np.radians(80)
    between = [np.sin(gentle / 2), 0, np.cos(gentle / 2)]
    assert corner(gentle, None) == pytest.approx(between)
    assert corner(sharp, None) == pytest.approx([0, 0, 1], abs=1e-12)
    assert corner(gentle, False) == pytest.approx([0, 0, 1], abs=1e-12)
    assert corner(sharp, True) == pytest.approx([np.sin(sharp / 2), 0, np.cos(sharp / 2)])


def test_flat_where_the_author_chose_polygons(export):
    folded = """
        point3f[] points = [(0, 0, 0), (0, 1, 0), (-1, 0, 0), (1, 0, -0.1)]
        int[] faceVertexCounts = [3, 3]
        int[] faceVertexIndices = [0, 1, 2, 1, 0, 3]
        """
    counts = {}
    for scheme in ("none", "catmullClark"):
        found = export(
            f'def Xform "R" {{ def Mesh "m" {{ {folded} \n uniform token subdivisionScheme = "{scheme}" }} }}'
        )
        attributes = found.document.primitives_of("m")[0]["attributes"]
        counts[scheme] = len(found.document.array(attributes["NORMAL"]))
    assert counts == {"none": 6, "catmullClark": 4}


def test_authored_normals_of_every_interpolation(export):
    for interpolation, rows in (
        ("vertex", "[(0, 0, 2), (0, 0, 2), (0, 0, 2), (0, 0, 2)]"),
        ("uniform", "[(0, 0, 1)]"),
        ("faceVarying", "[(0, 0, 1), (0, 0, 1), (0, 0, 1), (0, 0, 1)]"),
        ("constant", "[(0, 0, 1)]"),
    ):
        text = f'{QUAD} normal3f[] normals = {rows} (interpolation = "{interpolation}")'
        found = export(f'def Xform "R" {{ def Mesh "m" {{ {text} }} }}')
        normals = found.document.array(found.document.primitives_of("m")[0]["attributes"]["NORMAL"])
        assert normals == pytest.approx(np.tile((0, 0, 1), (4, 1))), interpolation


def test_left_handed_and_mirrored(export):
    """Seen from outside, every face winds counter-clockwise; a mirroring node turns it over, as glTF says."""
    plain = export(f'def Xform "R" {{ def Mesh "m" {{ {QUAD} }} }}')
    assert (measure(plain.document.points("m"))[:, 2] > 0).all()
    left = export(f'def Xform "R" {{ def Mesh "m" {{ {QUAD} uniform token orientation = "leftHanded" }} }}')
    assert (measure(left.document.points("m"))[:, 2] < 0).all()
    place = 'float3 xformOp:scale = (-1, 1, 1)\nuniform token[] xformOpOrder = ["xformOp:scale"]'
    mirrored = export(f'def Xform "R" {{ def Mesh "m" {{ {QUAD} {place} }} }}')
    node = mirrored.document.find("m")
    flips = np.linalg.det(mirrored.document.world(node)[:3, :3]) < 0
    assert flips
    assert (measure(mirrored.document.points("m"))[:, 2] * (-1 if flips else 1) > 0).all()


def test_colours(export, accept_gltf):
    colors = "[(1, 0, 0), (0, 0.5, 0), (0, 0, 1), (1, 1, 1)]"
    text = f'{QUAD} color3f[] primvars:displayColor = {colors} (interpolation = "vertex")'
    found = export(f'def Xform "R" {{ def Mesh "m" {{ {text} }} }}')
    rows = found.document.array(found.document.primitives_of("m")[0]["attributes"]["COLOR_0"])
    assert rows == pytest.approx(np.array(((1, 0, 0), (0, 0.5, 0), (0, 0, 1), (1, 1, 1))), abs=1e-6)
    assert "baseColorFactor" not in found.document.material_of("m")["pbrMetallicRoughness"]
    accept_gltf(found.file)


def test_colours_hidden_by_a_material(surface):
    text = f'{QUAD} color3f[] primvars:displayColor = [(1, 0, 0)] (interpolation = "uniform")'
    found = surface("color3f inputs:diffuseColor = (0, 1, 0)", mesh=text)
    assert "COLOR_0" not in found.document.primitives_of("q")[0]["attributes"]
    assert "gltf-write-colors" in found.kinds


def test_material_that_reads_colours(surface):
    text = f'{QUAD} color3f[] primvars:displayColor = [(1, 0, 0)] (interpolation = "uniform")'
    reader = """def Shader "c" {
        uniform token info:id = "UsdPrimvarReader_float3"
        string inputs:varname = "displayColor"
        float3 outputs:result
    }"""
    found = surface("color3f inputs:diffuseColor.connect = </R/look/c.outputs:result>", reader, text)
    assert "COLOR_0" in found.document.primitives_of("q")[0]["attributes"]
    assert "usd-surface-input" not in found.kinds


def test_constant_colour_is_a_material(export):
    text = (
        f"{QUAD} color3f[] primvars:displayColor = [(0.25, 0.5, 1)]\nfloat[] primvars:displayOpacity = [0.5]"
    )
    look = export(f'def Xform "R" {{ def Mesh "m" {{ {text} }} }}').document.material_of("m")
    assert look["pbrMetallicRoughness"]["baseColorFactor"] == pytest.approx([0.25, 0.5, 1.0, 0.5], abs=1e-6)
    assert look["alphaMode"] == "BLEND"


SUBSETS = """def Xform "R" {
    def Mesh "m" (prepend apiSchemas = ["MaterialBindingAPI"]) {
        point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (2, 0, 0), (2, 1, 0)]
        int[] faceVertexCounts = [4, 4]
        int[] faceVertexIndices = [0, 1, 2, 3, 1, 4, 5, 2]
        uniform token subdivisionScheme = "none"
        rel material:binding = </R/a>
        def GeomSubset "right" (prepend apiSchemas = ["MaterialBindingAPI"]) {
            uniform token elementType = "face"
            uniform token familyName = "materialBind"
            int[] indices = [1]
            rel material:binding = </R/b>
        }
    }
    def Material "a" { token outputs:surface.connect = </R/a/s.outputs:surface>
        def Shader "s" { uniform token info:id = "UsdPreviewSurface"
            token outputs:surface } }
    def Material "b" { token outputs:surface.connect = </R/b/s.outputs:surface>
        def Shader "s" { uniform token info:id = "UsdPreviewSurface"
            token outputs:surface } }
}"""


def test_face_sets_are_primitives(export, accept_gltf):
    found = export(SUBSETS)
    places = {
        found.document.material_of("m", number)["name"]: found.document.points("m", number)[..., 0]
        for number in range(2)
    }
    assert (places["a"].max(), places["b"].min()) == (1.0, 1.0)
    assert all(len(rows) == 2 for rows in places.values())
    accept_gltf(found.file)


def test_instances_share_a_mesh(export):
    """Scenegraph instances are nodes with one mesh (REP-0158 3.5)."""
    found = export(
        f"""def Xform "R" {{
            def "one" (instanceable = true
                references = </P>) {{ double3 xformOp:translate = (1, 0, 0)
                uniform token[] xformOpOrder = ["xformOp:translate"] }}
            def "two" (instanceable = true
                references = </P>) {{ double3 xformOp:translate = (2, 0, 0)
                uniform token[] xformOpOrder = ["xformOp:translate"] }}
        }}
        class Xform "P" {{ def Mesh "bolt" {{ {QUAD} }} }}"""
    )
    meshes = [node["mesh"] for node in found.document["nodes"] if "mesh" in node]
    assert meshes == [0, 0]
    assert len(found.document["meshes"]) == 1


def test_boxes_of_one_look_share_a_mesh(export):
    found = export('def Xform "R" { def Cube "a" { double size = 1 } def Cube "b" { double size = 3 } }')
    assert len(found.document["meshes"]) == 1
    assert np.ptp(found.document.points("b"), axis=(0, 1)) == pytest.approx([3, 3, 3])


def test_fewer_bits(surface, paint, accept_gltf):
    paint("n.png", (128, 128, 255))
    from .conftest import texture

    arguments = ("normal3f inputs:normal.connect = </R/look/a.outputs:rgb>", texture("a", "n.png", "rgb"))
    plain, small = surface(*arguments), surface(*arguments, name="small.glb", quantize=True)
    assert small.document["extensionsRequired"] == ["KHR_mesh_quantization"]
    assert small.document.points("q") == pytest.approx(plain.document.points("q"), abs=1e-4)
    sizes = [sum(view["byteLength"] for view in found.document["bufferViews"]) for found in (plain, small)]
    assert sizes[1] < sizes[0]
    limits = [accessor["max"] for accessor in small.document["accessors"] if "max" in accessor]
    assert max(map(max, limits)) == 32767, "all bits are used"
    accept_gltf(small.file)


def test_views_that_accessors_share_have_a_stride():
    """glTF 2.0, 3.6.2.4; the validator finds it where the points of a sphere are its normals."""
    buffer, rows = Buffer(), np.eye(3, dtype=np.float32)
    first = buffer.add(rows, VERTICES, bounds=True)
    assert "byteStride" not in buffer.views[0]
    assert buffer.add(rows, VERTICES, bounds=True) == first
    assert "byteStride" not in buffer.views[0]
    assert buffer.add(rows, VERTICES) != first
    assert [view["byteStride"] for view in buffer.views] == [12]
