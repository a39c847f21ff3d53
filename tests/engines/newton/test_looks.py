"""Pictures on meshes, against the meshes that Newton's importer makes."""

from __future__ import annotations

import inspect
import struct
import zlib

import numpy as np
import pytest

from simwright.core.diag import Reporter
from simwright.engines.newton import add_usd

pytestmark = pytest.mark.judge("newton")

STAGE = """#usda 1.0
( metersPerUnit = 1
 kilogramsPerUnit = 1
 upAxis = "Z" )
def Material "look" {
    token outputs:surface.connect = </look/surface.outputs:surface>
    def Shader "surface" {
        uniform token info:id = "UsdPreviewSurface"
        color3f inputs:diffuseColor.connect = </look/picture.outputs:rgb>
        float inputs:roughness = 0.3
        float inputs:metallic = 0.75
        MORE
        token outputs:surface
    }
    def Shader "picture" {
        uniform token info:id = "UsdUVTexture"
        asset inputs:file = @./a.png@
        float2 inputs:st.connect = </look/moved.outputs:result>
        float3 outputs:rgb
        float outputs:r
    }
    def Shader "moved" {
        uniform token info:id = "UsdTransform2d"
        float2 inputs:in.connect = </look/st.outputs:result>
        float2 inputs:scale = (2, 3)
        float2 inputs:translation = (0.25, 0.5)
        float inputs:rotation = 30
        float2 outputs:result
    }
    def Shader "st" {
        uniform token info:id = "UsdPrimvarReader_float2"
        string inputs:varname = "st"
        float2 outputs:result
    }
}
def Xform "b" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"] ) {
    float physics:mass = 1
    def Mesh "m" ( prepend apiSchemas = ["MaterialBindingAPI"] ) {
        rel material:binding = </look>
        int[] faceVertexCounts = [4, 3]
        int[] faceVertexIndices = [0, 1, 2, 3, 0, 1, 4]
        point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1)]
        UVS
    }
}
"""
VARYING = """texCoord2f[] primvars:st = [(0, 0), (1, 0), (1, 1), (0, 1), (0.5, 0), (1, 0), (0, 1)] (
            interpolation = "faceVarying" )"""
VERTEX = """texCoord2f[] primvars:st = [(0, 0), (1, 0), (1, 1), (0, 1), (0.5, 0.5)] (
            interpolation = "vertex" )"""


def make_png():
    """One red pixel."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head, pixel = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0), zlib.compress(b"\x00\xc8\x0a\x0a")
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixel) + chunk(b"IEND", b"")


def write(folder, uvs, more=""):
    (folder / "a.png").write_bytes(make_png())
    path = folder / "stage.usda"
    path.write_text(STAGE.replace("UVS", uvs).replace("MORE", more).replace("}", "\n}\n"))
    return path


def list_corners(mesh):
    """Place and coordinate of every corner of every triangle, whatever the vertices are numbered."""
    indices = np.asarray(mesh.indices).reshape(-1)
    rows = np.column_stack((np.asarray(mesh.vertices)[indices], np.asarray(mesh.uvs)[indices]))
    return sorted(tuple(np.round(row, 5)) for row in rows)


@pytest.mark.parametrize("uvs", [VARYING, VERTEX], ids=["corners", "vertices"])
def test_a_picture_is_drawn_as_in_newton(newton, builder, import_theirs, tmp_path, uvs):
    path = write(tmp_path, uvs)
    other, reporter = import_theirs(path), Reporter()
    add_usd(builder, path, schema_resolvers=("newton",), reporter=reporter)
    ours, theirs = (b.shape_source[b.shape_label.index("/b/m")] for b in (builder, other))
    assert list_corners(ours) == list_corners(theirs)
    assert (ours.roughness, ours.metallic) == pytest.approx((theirs.roughness, theirs.metallic))
    np.testing.assert_allclose(ours.texture_transform, theirs.texture_transform, atol=1e-6)
    np.testing.assert_array_equal(np.asarray(ours.texture), np.asarray(theirs.texture))
    assert [d for d in reporter if d.kind == "newton-texture-lost"] == []


def test_pictures_without_a_place_are_said(builder, tmp_path):
    reporter = Reporter()
    more = "float inputs:occlusion.connect = </look/picture.outputs:r>"
    add_usd(builder, write(tmp_path, VARYING, more), reporter=reporter)
    (lost,) = [d for d in reporter if d.kind == "newton-texture-lost"]
    assert (lost.data["count"], lost.data["first"]) == (1, "occlusion")
    reporter = Reporter()
    add_usd(builder, write(tmp_path, ""), reporter=reporter)
    (lost,) = [d for d in reporter if d.kind == "newton-texture-lost"]
    assert lost.data["first"] == "diffuse"


def test_vertices_are_split_as_newton_splits_them():
    from newton._src.usd.utils import _split_corners_into_vertices

    from simwright.engines.newton.looks import split_vertices

    random = np.random.default_rng(5)
    for trial in range(20):
        count, corners = int(random.integers(1, 200)), int(random.integers(0, 900))
        points = random.normal(size=(count, 3)).astype(np.float32)
        indices = random.integers(0, count, size=corners).astype(np.int32)
        # one point with very many corners, as the tip of a cone has
        indices[: corners // 4] = 0
        spread = (0.0, 0.05, 0.3, 1.0)[trial % 4]
        directions = random.normal(size=(count, 3))[indices] + random.normal(size=(corners, 3)) * spread
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        uvs = None if trial % 2 else random.integers(0, 2, size=(corners, 2)).astype(np.float32)
        given = points, indices, directions, uvs, 25.0
        ours, theirs = split_vertices(*given), _split_corners_into_vertices(*given)
        for mine, other in zip(ours, theirs, strict=True):
            assert (mine is None) == (other is None)
            if mine is not None:
                assert mine.dtype == other.dtype
                np.testing.assert_allclose(mine, other, atol=1e-6)


def test_meshes_are_split_without_a_change_to_newton(builder, tmp_path, monkeypatch):
    from newton._src.usd import utils

    from simwright.engines.newton import looks

    before, calls = dict(vars(utils)), []

    def split(*given):
        calls.append(dict(vars(utils)) == before)
        return looks._UNWATCHED(*given)

    # the signature decides whether the function is one that ours can stand for
    split.__signature__ = inspect.signature(looks.split_vertices)
    monkeypatch.setattr(looks, "_UNWATCHED", looks.split_vertices, raising=False)
    monkeypatch.setattr(looks, "split_vertices", split)
    normals = 'normal3f[] normals = [(0, 0, 1), (0, 0, 1), (0, 0, 1)] (interpolation = "faceVarying")'
    path = tmp_path / "seen.usda"
    path.write_text(f"""#usda 1.0
(metersPerUnit = 1)
def Mesh "seen"
{{
    point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]
    int[] faceVertexCounts = [3]
    int[] faceVertexIndices = [0, 1, 2]
    {normals}
}}
""")
    add_usd(builder, path)
    assert calls == [True]
    assert dict(vars(utils)) == before


BROKEN = """#usda 1.0
( metersPerUnit = 1
 upAxis = "Z" )
def Xform "b" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"] ) {
    float physics:mass = 1
    def Mesh "m" APIS {
        int[] faceVertexCounts = COUNTS
        int[] faceVertexIndices = CORNERS
        point3f[] points = [(0, 0, 0), (1, 0, 0), (0, HIGH, 0)]
    }
    def Cube "whole" { }
}
"""


BAD = (
    ("[3]", "[0, 1, 3]", "1"),
    ("[3]", "[0, 1, -1]", "1"),
    ("[3]", "[0, 1, 2000000000]", "1"),
    ("[3, -2147483648]", "[0, 1, 2]", "1"),
    ("[3, 2147483647]", "[0, 1, 2]", "1"),
    ("[3]", "[0, 1, 2]", "inf"),
    ("[3]", "[0, 1, 2]", "nan"),
)


@pytest.mark.parametrize(("counts", "corners", "high"), BAD)
@pytest.mark.parametrize(
    "apis", ["", 'prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsMeshCollisionAPI"]']
)
def test_broken_meshes_never_reach_newtons_functions(
    newton, builder, tmp_path, monkeypatch, counts, corners, high, apis
):
    """Kernels write to wherever a corner points, which is memory of the process; some counts take all there is."""
    from newton._src.usd import utils
    from newton._src.utils import mesh as kernels

    def refuse(*_args, **_words):
        raise AssertionError("a broken mesh is none of theirs")

    monkeypatch.setattr(kernels, "compute_vertex_normals", refuse)
    monkeypatch.setattr(utils, "_fan_triangulation_corner_indices", refuse)
    path = tmp_path / "broken.usda"
    text = BROKEN.replace("CORNERS", corners).replace("COUNTS", counts).replace("HIGH", high)
    hull = 'uniform token physics:approximation = "convexHull"\n        int[] face' if apis else "int[] face"
    path.write_text(text.replace("APIS", f"( {apis} )" if apis else "").replace("int[] face", hull, 1))
    result = add_usd(builder, path)
    assert [name.rpartition("/")[2] for name in result["path_shape_map"]] == ["whole"]
    assert {found.kind for found in result["findings"]} >= {"usd-mesh-topology", "newton-geometry-lost"}
