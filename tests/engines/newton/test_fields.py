"""Shells, distance fields, hydroelastic contact and hulls of colliders, against Newton's importer."""

from __future__ import annotations

import numpy as np
import pytest

from simwright.core.diag import Reporter
from simwright.engines.newton import add_usd

pytestmark = pytest.mark.judge("newton")

HEADER = '#usda 1.0\n( metersPerUnit = 1\n kilogramsPerUnit = 1\n upAxis = "Z" )\n'
SIZES = {
    "Sphere": "double radius = 0.5",
    "Cube": "double size = 1",
    "Cylinder": "double radius = 0.5\ndouble height = 1",
    "Capsule": "double radius = 0.5\ndouble height = 1",
    "Cone": "double radius = 0.5\ndouble height = 1",
    "Mesh": """point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
        int[] faceVertexCounts = [3, 3, 3, 3]
        int[] faceVertexIndices = [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]""",
}


@pytest.fixture
def stage(tmp_path):
    def write(kind, attributes, apis):
        names = ", ".join(f'"{api}"' for api in ("PhysicsCollisionAPI", *apis))
        path = tmp_path / "stage.usda"
        path.write_text(
            f"""{HEADER}
def Xform "b" ( prepend apiSchemas = ["PhysicsRigidBodyAPI"] ) {{
    def {kind} "c" ( prepend apiSchemas = [{names}] ) {{
        {SIZES[kind]}
        {attributes}
    }}
}}
"""
        )
        return path

    return write


SHELL = 'uniform token newton:massModel = "shell"\nfloat newton:shellThickness = 0.05'


@pytest.mark.parametrize("kind", ["Sphere", "Cube", "Cylinder"])
def test_shells_weigh_what_they_weigh_in_newton(builder, import_theirs, stage, kind):
    path = stage(kind, SHELL, ["NewtonMassAPI"])
    other = import_theirs(path)
    add_usd(builder, path, schema_resolvers=("newton",))
    assert builder.body_mass == pytest.approx(other.body_mass, rel=1e-5)
    ours, theirs = (np.array(b.body_inertia[0]).reshape(3, 3) for b in (builder, other))
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5 * np.abs(theirs).max())
    assert builder.shape_is_solid == other.shape_is_solid == [False]
    assert builder.shape_margin == pytest.approx(other.shape_margin)


@pytest.mark.parametrize(("kind", "ratio"), [("Capsule", 0.8207), ("Cone", 1.517), ("Mesh", 0.391)])
def test_shells_whose_wall_newton_makes_otherwise(builder, import_theirs, stage, kind, ratio):
    """Capsules too thick at the ends, cones too thin at the side, meshes with a wall on both sides."""
    path = stage(kind, SHELL, ["NewtonMassAPI"])
    other = import_theirs(path)
    add_usd(builder, path, schema_resolvers=("newton",))
    assert builder.body_mass[0] / other.body_mass[0] == pytest.approx(ratio, rel=1e-3)


FIELDS = (
    "",
    "int newton:sdfMaxResolution = 32",
    "float newton:sdfTargetVoxelSize = 0.02",
    "int newton:sdfMaxResolution = 32\nfloat newton:sdfTargetVoxelSize = 0.02",
    "int newton:sdfMaxResolution = 33",
    "float newton:sdfTargetVoxelSize = -1",
    "float newton:sdfNarrowBandInner = -0.2\nfloat newton:sdfNarrowBandOuter = 0.3",
    'uniform token newton:sdfTextureFormat = "float32"\nfloat newton:sdfPadding = 0.1',
    'uniform token newton:sdfTextureFormat = "jpeg"\nfloat newton:sdfPadding = -0.1',
    "bool newton:hydroelasticEnabled = true\nfloat newton:hydroelasticStiffness = 1e8",
)


@pytest.mark.parametrize("kind", ["Mesh", "Cube"])
@pytest.mark.parametrize("attributes", FIELDS)
def test_distance_fields_are_those_of_newton(newton, builder, import_theirs, stage, kind, attributes):
    path = stage(kind, attributes, ["NewtonSDFCollisionAPI"])
    other = import_theirs(path)
    reporter = Reporter()
    add_usd(builder, path, schema_resolvers=("newton",), reporter=reporter)
    for name in ("max_resolution", "target_voxel_size", "narrow_band_range", "texture_format", "padding"):
        ours, theirs = (getattr(b, f"shape_sdf_{name}")[0] for b in (builder, other))
        assert ours == (pytest.approx(theirs) if isinstance(theirs, float | tuple) else theirs), name
    assert builder.shape_flags == other.shape_flags
    assert builder.shape_material_kh == pytest.approx(other.shape_material_kh)
    wrong = any(word in attributes for word in ("33", "= -1", "jpeg"))
    assert ("newton-field-invalid" in {d.kind for d in reporter}) is wrong


def test_without_the_schema_there_is_no_field(builder, stage):
    add_usd(builder, stage("Mesh", "", []), schema_resolvers=("newton",))
    assert builder.shape_sdf_max_resolution == [None]


def test_a_hydroelastic_mesh_wants_a_field(newton, builder, stage):
    reporter = Reporter()
    path = stage("Mesh", "bool newton:hydroelasticEnabled = true", [])
    add_usd(builder, path, schema_resolvers=("newton",), reporter=reporter)
    assert "newton-hydroelastic-lost" in {d.kind for d in reporter}
    assert not builder.shape_flags[0] & int(newton.ShapeFlags.HYDROELASTIC)


def test_an_approximation_beside_a_field_is_left_out(newton, builder, stage):
    reporter = Reporter()
    path = stage(
        "Mesh",
        'uniform token physics:approximation = "convexHull"',
        ["NewtonSDFCollisionAPI", "PhysicsMeshCollisionAPI"],
    )
    add_usd(builder, path, schema_resolvers=("newton",), reporter=reporter)
    assert builder.shape_type == [newton.GeoType.MESH]
    assert "newton-approximation-unused" in {d.kind for d in reporter}


def test_hulls_have_the_vertices_they_may_have(builder, stage):
    path = stage("Mesh", "int newton:maxHullVertices = 12", ["NewtonMeshCollisionAPI"])
    add_usd(builder, path, schema_resolvers=("newton",))
    assert builder.shape_source[0].maxhullvert == 12


def test_the_caller_limits_hulls_where_the_stage_does_not(builder, stage):
    add_usd(builder, stage("Mesh", "", []), schema_resolvers=("newton",), mesh_maxhullvert=20)
    assert builder.shape_source[0].maxhullvert == 20
