"""Shapes: primitives with axis and scale, visual against collision, instancing, point instancers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from simwright.model.geometry import Box, Capsule, Cone, Cylinder, Ellipsoid, Mesh, Plane, Sphere, box_bounds
from simwright.model.mass import body_inertials
from simwright.model.material import to_display
from simwright.model.moments import compute_moments

SCALE = 'double3 xformOp:scale = {}\n uniform token[] xformOpOrder = ["xformOp:scale"]'


def one(found):
    (shape,) = found.asset.shapes
    return shape


@pytest.mark.parametrize(
    ("prim", "expected"),
    [
        ('Cube "R" { double size = 3 }', Box.of(3, 3, 3)),
        ('Sphere "R" { double radius = 2 }', Sphere(2.0)),
        ('Capsule "R" { double radius = 0.2\n double height = 3 }', Capsule(0.2, 3.0)),
        ('Cylinder "R" { double radius = 0.2\n double height = 3 }', Cylinder(0.2, 3.0)),
        ('Cone "R" { double radius = 0.2\n double height = 3 }', Cone(0.2, 3.0)),
        ('Plane "R" { double width = 4\n double length = 6 }', Plane(np.array((4.0, 6.0)))),
        ('Capsule_1 "R" { double radiusTop = 0.2\n double radiusBottom = 0.2\n double height = 3 }',
         Capsule(0.2, 3.0)),
    ],
)  # fmt: skip
def test_primitives(read, prim, expected):
    shape = one(read(f"def {prim}"))
    assert type(shape.geometry) is type(expected)
    for name in expected.__slots__:
        np.testing.assert_allclose(getattr(shape.geometry, name), getattr(expected, name))
    assert shape.visual
    assert not shape.collision


@pytest.mark.parametrize(("axis", "direction"), [("X", (1, 0, 0)), ("Y", (0, 1, 0)), ("Z", (0, 0, 1))])
def test_axis_becomes_rotation_of_z(read, axis, direction):
    shape = one(read(f'def Cone "R" {{ uniform token axis = "{axis}" }}'))
    np.testing.assert_allclose(shape.pose.rotation @ (0, 0, 1), direction, atol=1e-12)


def test_plane_axis_keeps_width_and_length_where_usd_has_them(read):
    shape = one(read('def Plane "R" { double width = 4\n double length = 6\n uniform token axis = "X" }'))
    np.testing.assert_allclose(np.abs(shape.pose.rotation @ (4, 0, 0)), (0, 0, 4), atol=1e-12)
    np.testing.assert_allclose(np.abs(shape.pose.rotation @ (0, 6, 0)), (0, 6, 0), atol=1e-12)


def test_scaled_primitives(read):
    ball = one(read(f'def Sphere "R" {{ {SCALE.format("(1, 2, 3)")} }}'))
    assert isinstance(ball.geometry, Ellipsoid)
    np.testing.assert_allclose(ball.geometry.radii, (1, 2, 3))
    even = one(read(f'def Sphere "R" {{ {SCALE.format("(2, 2, 2)")} }}'))
    assert even.geometry.radius == 2.0
    tall = one(read(f'def Cylinder "R" {{ uniform token axis = "X"\n {SCALE.format("(5, 2, 2)")} }}'))
    assert (tall.geometry.radius, tall.geometry.length) == (pytest.approx(2), pytest.approx(10))
    assert tall.scale is None
    oval = one(read(f'def Cylinder "R" {{ {SCALE.format("(1, 2, 3)")} }}'))
    np.testing.assert_allclose(oval.scale, (1, 2, 3))
    assert (oval.geometry.radius, oval.geometry.length) == (1.0, 2.0)


def test_units_reach_sizes_and_points(read):
    assert one(read('def Sphere "R" { double radius = 50 }', meters=0.01)).geometry.radius == 0.5
    mesh = one(read(TETRA.format(name="R"), meters=0.01, up="Y"))
    np.testing.assert_allclose(mesh.geometry.data.vertices.max(axis=0), (0.01, 0.01, 0.01))
    assert mesh.scale is None
    np.testing.assert_allclose(mesh.pose.rotation @ (0, 1, 0), (0, 0, 1), atol=1e-12)


def test_sheared_mesh_is_exact_and_sheared_primitive_is_reported(read):
    found = read(f"""
def Xform "R" {{
    {SCALE.format("(1, 4, 1)")}
    def Xform "turned" {{
        double xformOp:rotateZ = 45
        uniform token[] xformOpOrder = ["xformOp:rotateZ"]
        {TETRA.format(name="m")}
        def Cube "c" {{}}
    }}
}}""")
    mesh, cube = found.asset.shapes
    c = math.cos(math.pi / 4)
    expected = np.array(((0, 0, 0), (c, 4 * c, 0), (-c, 4 * c, 0), (0, 0, 1)))
    assert mesh.scale is None
    np.testing.assert_allclose(mesh.pose.apply(mesh.geometry.data.vertices), expected, atol=1e-7)
    sheared = [d for d in found.reporter if d.kind == "usd-geometry-sheared"]
    assert [d.where.prim for d in sheared] == [cube.path]


@pytest.mark.parametrize(
    ("api", "attributes", "visual", "collision"),
    [
        ("", "", True, False),
        ("", 'uniform token purpose = "guide"', True, False),
        ("PhysicsCollisionAPI", "", True, True),
        ("PhysicsCollisionAPI", 'uniform token purpose = "render"', True, True),
        ("PhysicsCollisionAPI", 'uniform token purpose = "guide"', False, True),
        ("PhysicsCollisionAPI", 'uniform token purpose = "proxy"', False, True),
        ("PhysicsCollisionAPI", 'token visibility = "invisible"', False, True),
    ],
)
def test_seen_or_touched(read, api, attributes, visual, collision):
    apis = f'( prepend apiSchemas = ["{api}"] )' if api else ""
    shape = one(read(f'def Xform "R" {{ {attributes}\n def Cube "c" {apis} {{}} }}'))
    assert (shape.visual, shape.collision) == (visual, collision)


SEEN_AND_TOUCHED = """
def Xform "R" ( prepend apiSchemas = ["PhysicsRigidBodyAPI"] ) {
    def Material "paint" { token outputs:surface.connect = </R/paint/s.outputs:surface>
        def Shader "s" { uniform token info:id = "UsdPreviewSurface"
            token outputs:surface } }
    def Material "skin" ( prepend apiSchemas = ["PhysicsMaterialAPI"] ) { float physics:density = 20 }
    def Cube "seen" ( prepend apiSchemas = ["MaterialBindingAPI"] ) { rel material:binding = </R/paint> }
    def Cube "wrapped" {}
    def Cube "touched" ( prepend apiSchemas = ["PhysicsCollisionAPI", "MaterialBindingAPI"] ) {
        rel material:binding:physics = </R/skin> }
    def MjcTendon "rope" { uniform token mjc:type = "spatial"
        rel mjc:path = [</R/a>, </R/wrapped>, </R/b>] }
    def Xform "a" ( prepend apiSchemas = ["MjcSiteAPI"] ) {}
    def Xform "b" ( prepend apiSchemas = ["MjcSiteAPI"] ) {}
}"""


def test_without_visuals_there_is_what_is_touched_and_what_tendons_go_round(read):
    with_all, without = read(SEEN_AND_TOUCHED), read(SEEN_AND_TOUCHED, visuals=False)
    assert {s.path for s in with_all.asset.shapes} == {"/R/seen", "/R/wrapped", "/R/touched"}
    assert {s.path for s in without.asset.shapes} == {"/R/wrapped", "/R/touched"}
    assert [m.name for m in with_all.asset.materials] == ["paint"]
    assert without.asset.materials == []
    for found in (with_all, without):
        assert [m.density for m in found.asset.physics_materials] == [20.0]
        assert [(p.kind, p.name) for p in found.asset.tendons[0].path] == [
            ("site", "a"),
            ("wrap", "wrapped"),
            ("site", "b"),
        ]
    masses = [body_inertials(found.asset)["R"].mass for found in (with_all, without)]
    assert masses == [160.0, 160.0]


def test_without_visuals_there_is_the_instance_that_a_tendon_goes_round(read):
    instance = 'def Xform "wrapped" ( instanceable = true\n prepend references = </Shared/drum> ) {}'
    shared = '\ndef Scope "Shared" { over "drum" { def Cube "mesh" {} } }'
    text = SEEN_AND_TOUCHED.replace('def Cube "wrapped" {}', instance) + shared
    for visuals in (True, False):
        (tendon,) = read(text, visuals=visuals).asset.tendons
        assert [p.kind for p in tendon.path] == ["site", "wrap", "site"]


def test_what_is_left_out_is_counted(read):
    found = read("""
def Xform "R" ( prepend apiSchemas = ["PhysicsCollisionAPI"] ) {
    def Cube "hidden" { token visibility = "invisible" }
    def BasisCurves "c1" {}
    def BasisCurves "c2" {}
}""")
    assert found.asset.shapes == []
    by_kind = {d.kind: d.data for d in found.reporter}
    assert by_kind["usd-geometry-unsupported"]["count"] == 2
    assert by_kind["usd-geometry-hidden"]["first"] == "/R/hidden"
    assert by_kind["usd-collider-not-geometry"]["type"] == "Xform"


def test_collider_settings(read):
    shape = one(
        read("""
def Mesh "R" (
    prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsMeshCollisionAPI", "ExtendedPhysicsContactAPI"]
) {
    bool physics:collisionEnabled = false
    uniform token physics:approximation = "convexHull"
    float ext_physics:contact:margin = 0.25
    color3f[] primvars:displayColor = [(0.5, 0.25, 0)]
    float[] primvars:displayOpacity = [0.5]
}""")
    )
    assert not shape.enabled
    assert shape.approximation.token == "convexHull"
    assert shape.margin == 0.25
    assert shape.color == (to_display(0.5), to_display(0.25), 0.0, 0.5)


TETRA = """
def Mesh "{name}" {{
    point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    int[] faceVertexCounts = [3, 3, 3, 3]
    int[] faceVertexIndices = [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]
    uniform token subdivisionScheme = "none"
}}"""

INSTANCES = (
    """
class Xform "proto" {"""
    + TETRA.format(name="m")
    + """}
def Xform "R" {
    def Xform "a" ( instanceable = true\n prepend inherits = </proto> ) {}
    def Xform "b" ( instanceable = true\n prepend inherits = </proto> ) {
        double3 xformOp:scale = (2, 2, 2)
        uniform token[] xformOpOrder = ["xformOp:scale"]
    }
}"""
)


def test_instances_share_one_lazy_mesh(read):
    a, b = read(INSTANCES).asset.shapes
    assert (a.path, b.path) == ("/R/a/m", "/R/b/m")
    assert (a.name, b.name) == ("a_m", "b_m")
    assert a.geometry is b.geometry
    assert isinstance(a.geometry, Mesh)
    assert not a.geometry.is_loaded
    np.testing.assert_allclose(b.scale, (2, 2, 2))
    # the stage outlives its last visible reference
    assert compute_moments(a.geometry).volume == pytest.approx(1 / 6)


def instancer(count: int, extra: str = "") -> str:
    positions = ", ".join(f"({i}, 0, 0)" for i in range(count))
    return f"""
def Xform "R" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"] ) {{
    float physics:mass = 1
    float3 physics:diagonalInertia = (1, 1, 1)
    def PointInstancer "bolts" {{
        rel prototypes = </R/bolts/P>
        int[] protoIndices = [{", ".join("0" for _ in range(count))}]
        point3f[] positions = [{positions}]
        double3 xformOp:translate = (0, 10, 0)
        uniform token[] xformOpOrder = ["xformOp:translate"]
        {extra}
        def Xform "P" {{
            double3 xformOp:translate = (0, 0, 5)
            uniform token[] xformOpOrder = ["xformOp:translate"]
            {TETRA.format(name="m")}
            def Sphere "s" ( prepend apiSchemas = ["PhysicsCollisionAPI"] ) {{}}
        }}
    }}
}}"""


def test_point_instancer_makes_shapes_that_share_geometry(read):
    found = read(instancer(3, "int64[] invisibleIds = [1]"))
    shapes = found.asset.shapes
    assert [s.name for s in shapes] == ["bolts_0_m", "bolts_0_s", "bolts_2_m", "bolts_2_s"]
    assert shapes[0].geometry is shapes[2].geometry
    assert shapes[1].geometry is shapes[3].geometry
    assert {s.body for s in shapes} == {"R"}
    np.testing.assert_allclose(shapes[2].pose.p, (2, 10, 5))
    assert [s.collision for s in shapes] == [False, True, False, True]


def test_point_instancer_is_bounded_and_checked(read, monkeypatch):
    monkeypatch.setattr("simwright.formats.usd.shapes.MAX_SHAPES", 3)
    found = read(instancer(4))
    assert len(found.asset.shapes) == 3
    assert "usd-instances-many" in found.kinds
    broken = read(instancer(2).replace("positions = [(0, 0, 0), ", "positions = ["))
    assert broken.asset.shapes == []
    assert "usd-instances-invalid" in broken.kinds


def test_body_inside_a_prototype_is_reported(read):
    found = read(
        instancer(1).replace('def Xform "P" {', 'def Xform "P" ( apiSchemas = ["PhysicsRigidBodyAPI"] ) {')
    )
    assert "usd-instances-body" in found.kinds
    assert len(found.asset.bodies) == 1


def test_a_thousand_mesh_colliders_under_one_body(read):
    meshes = "\n".join(
        TETRA.format(name=f"m{i}").replace(
            f'"m{i}" {{', f'"m{i}" ( prepend apiSchemas = ["PhysicsCollisionAPI"] ) {{'
        )
        for i in range(1000)
    )
    found = read(f'def Xform "R" ( prepend apiSchemas = ["PhysicsRigidBodyAPI"] ) {{ {meshes} }}')
    assert len(found.asset.shapes) == 1000
    assert found.asset.body("R").inertial.mass == pytest.approx(1000 * 1000 / 6)
    low, high = box_bounds(found.asset.shapes[0].geometry)
    np.testing.assert_allclose(high - low, (1, 1, 1))
