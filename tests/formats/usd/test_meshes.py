"""Mesh arrays: interpolation, orientation, subsets, and meshes that are broken."""

from __future__ import annotations

import numpy as np
import pytest

QUADS = """
    point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (2, 0, 0), (2, 1, 0)]
    int[] faceVertexCounts = [4, 4]
    int[] faceVertexIndices = [0, 1, 2, 3, 1, 4, 5, 2]
"""


def data_of(found):
    return found.asset.shapes[0].geometry.data


def test_polygons_and_orientation(read):
    data = data_of(read(f'def Mesh "R" {{ {QUADS}\n uniform token orientation = "leftHanded" }}'))
    assert data.face_count == 2
    np.testing.assert_array_equal(data.counts, (4, 4))
    assert data.left_handed
    np.testing.assert_array_equal(data.triangles()[0], (2, 1, 0))


@pytest.mark.parametrize(
    ("interpolation", "rows", "expected"),
    [("constant", 1, 6), ("uniform", 2, 8), ("vertex", 6, 6), ("faceVarying", 8, 8)],
)
def test_normals_of_every_interpolation(read, interpolation, rows, expected):
    values = ", ".join(f"(0, 0, {i + 1})" for i in range(rows))
    found = read(
        f'def Mesh "R" {{ {QUADS}\n normal3f[] primvars:normals = [{values}] '
        f'( interpolation = "{interpolation}" )\n }}'
    )
    normals = data_of(found).normals
    assert len(normals) == expected
    assert normals[-1][2] == rows
    assert found.kinds == set()


def test_indexed_texture_coordinates_are_flattened(read):
    found = read(
        f"""def Mesh "R" {{ {QUADS}
    texCoord2f[] primvars:map1 = [(0, 0), (1, 1)] ( interpolation = "faceVarying" )
    int[] primvars:map1:indices = [0, 0, 0, 0, 1, 1, 1, 1]
    color3f[] primvars:displayColor = [(1, 0, 0), (0, 1, 0)] ( interpolation = "uniform" )
}}"""
    )
    data = data_of(found)
    np.testing.assert_array_equal(data.uvs[:, 0], (0, 0, 0, 0, 1, 1, 1, 1))
    np.testing.assert_array_equal(data.colors[:, 1], (0, 0, 0, 0, 1, 1, 1, 1))
    assert found.asset.shapes[0].color is None


def test_wrong_number_of_normals_loses_only_the_normals(read):
    found = read(f'def Mesh "R" {{ {QUADS}\n normal3f[] normals = [(0, 0, 1), (0, 0, 1)] }}')
    data = data_of(found)
    assert data.normals is None
    assert data.face_count == 2
    assert found.kinds == {"usd-mesh-data"}


@pytest.mark.parametrize(
    ("point", "counts", "indices"),
    [
        ("(0, 0, 0)", "3", "0, 1, 2"),
        ("(0, 0, 0)", "4", "0, 0, 0"),
        ("(nan, 0, 0)", "3", "0, 0, 0"),
        ("(0, 0, 0)", "4, -1", "0, 0, 0"),
    ],
)
def test_broken_mesh_is_empty_and_reported(read, point, counts, indices):
    found = read(f"""
def Mesh "R" {{
    point3f[] points = [{point}]
    int[] faceVertexCounts = [{counts}]
    int[] faceVertexIndices = [{indices}]
}}""")
    assert data_of(found).face_count == 0
    assert "usd-mesh-topology" in found.kinds


def test_mesh_without_any_arrays(read):
    found = read('def Mesh "R" {}')
    assert data_of(found).face_count == 0


def test_subsets_carry_their_material(read):
    found = read(
        f"""
def Xform "R" {{
    def Mesh "m" ( prepend apiSchemas = ["MaterialBindingAPI"] ) {{ {QUADS}
        uniform token subsetFamily:materialBind:familyType = "partition"
        def GeomSubset "left" ( prepend apiSchemas = ["MaterialBindingAPI"] ) {{
            uniform token elementType = "face"
            uniform token familyName = "materialBind"
            int[] indices = [0]
            rel material:binding = </R/red>
        }}
        def GeomSubset "right" {{
            uniform token elementType = "face"
            int[] indices = [1, 7]
        }}
    }}
    def Material "red" {{
        token outputs:surface.connect = </R/red/s.outputs:surface>
        def Shader "s" {{ uniform token info:id = "UsdPreviewSurface"\n token outputs:surface }}
    }}
}}"""
    )
    left, right = data_of(found).subsets
    assert (left.name, left.faces.tolist(), left.material) == ("left", [0], "red")
    assert (right.faces.tolist(), right.material) == ([1], "")
    assert "usd-mesh-topology" in found.kinds
