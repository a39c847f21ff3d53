"""Rigid bodies: pose, scale, velocity, nesting, units, names."""

from __future__ import annotations

import math

import numpy as np
import pytest

from simwright.core.math3d import Pose, quat_from_axis_angle

BODY = 'prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]'


def test_pose_flags_and_velocities(read):
    found = read(f"""
def Xform "R" {{
    double3 xformOp:translate = (1, 0, 0)
    uniform token[] xformOpOrder = ["xformOp:translate"]
    def Xform "link" ( {BODY} ) {{
        double3 xformOp:translate = (0, 2, 0)
        quatd xformOp:orient = (0.7071067811865476, 0, 0, 0.7071067811865476)
        uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]
        float physics:mass = 1
        bool physics:kinematicEnabled = true
        bool physics:rigidBodyEnabled = false
        vector3f physics:velocity = (3, 0, 0)
        vector3f physics:angularVelocity = (180, 0, 0)
    }}
}}""")
    body = found.asset.body("link")
    turn = quat_from_axis_angle((0, 0, 1), math.pi / 2)
    assert body.pose.is_close(Pose.of((1, 2, 0), turn))
    assert body.kinematic
    assert not body.enabled
    assert body.path == "/R/link"
    assert body.source.prim == "/R/link"
    np.testing.assert_allclose(body.linear_velocity, (0, 3, 0), atol=1e-7)
    np.testing.assert_allclose(body.angular_velocity, (0, math.pi, 0), atol=1e-6)


def test_a_centimetre_y_up_stage_becomes_metres_and_z_up(read):
    found = read(
        f"""
def Xform "R" {{
    def Xform "link" ( {BODY} ) {{
        double3 xformOp:translate = (100, 200, 300)
        uniform token[] xformOpOrder = ["xformOp:translate"]
        float physics:mass = 500
        vector3f physics:velocity = (0, 100, 0)
        point3f physics:centerOfMass = (10, 0, 0)
        float3 physics:diagonalInertia = (10000, 20000, 25000)
    }}
}}
def PhysicsScene "scene" {{ float physics:gravityMagnitude = 500 }}
""",
        meters=0.01,
        kilograms=0.001,
        up="Y",
    )
    body = found.asset.body("link")
    np.testing.assert_allclose(body.pose.p, (1, -3, 2), atol=1e-12)
    np.testing.assert_allclose(body.pose.rotation @ (0, 1, 0), (0, 0, 1), atol=1e-12)
    np.testing.assert_allclose(body.linear_velocity, (0, 0, 1), atol=1e-12)
    assert body.inertial.mass == pytest.approx(0.5)
    np.testing.assert_allclose(body.inertial.com, (0.1, 0, 0))
    np.testing.assert_allclose(np.diag(body.inertial.inertia), (0.001, 0.002, 0.0025))
    np.testing.assert_allclose(found.asset.environment.gravity, (0, 0, -5), atol=1e-12)


def test_silent_units_are_usd_fallbacks_and_reported():
    from pxr import Usd

    from simwright.core.diag import Reporter
    from simwright.formats.format import ReadOptions
    from simwright.formats.usd.read import read_stage

    reporter = Reporter()
    asset = read_stage(Usd.Stage.CreateInMemory(), ReadOptions(), reporter, name="empty")
    assert asset.name == "empty"
    assert asset.provenance.info["metersPerUnit"] == 0.01
    names = {d.data["name"] for d in reporter if d.kind == "usd-unit-unsaid"}
    assert names == {"metersPerUnit", "upAxis"}


def test_impossible_unit_is_reported_and_one(read):
    found = read('def Xform "R" {}', kilograms=-2.0)
    assert "usd-unit-invalid" in found.kinds
    assert found.asset.provenance.info["kilogramsPerUnit"] == 1.0


def test_scale_goes_to_shapes_not_to_the_pose(read):
    found = read("""
def Xform "R" ( prepend apiSchemas = ["PhysicsRigidBodyAPI"] ) {
    double3 xformOp:translate = (5, 0, 0)
    double3 xformOp:scale = (2, 3, 4)
    uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]
    def Cube "box" ( prepend apiSchemas = ["PhysicsCollisionAPI"] ) {
        double size = 1
        double3 xformOp:translate = (1, 1, 1)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }
}""")
    (body,), (shape,) = found.asset.bodies, found.asset.shapes
    assert body.pose.is_close(Pose.of((5, 0, 0)))
    np.testing.assert_allclose(shape.pose.p, (2, 3, 4))
    np.testing.assert_allclose(shape.geometry.size, (2, 3, 4))
    assert shape.scale is None
    assert body.inertial.mass == pytest.approx(24_000)


def test_mirrored_body_is_reported_and_its_mesh_mirrored(read):
    found = read("""
def Xform "R" ( prepend apiSchemas = ["PhysicsRigidBodyAPI"] ) {
    double3 xformOp:scale = (1, -1, 1)
    uniform token[] xformOpOrder = ["xformOp:scale"]
    def Mesh "m" {
        point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 2, 0)]
        int[] faceVertexCounts = [3]
        int[] faceVertexIndices = [0, 1, 2]
    }
}""")
    assert "usd-body-mirrored" in found.kinds
    (body,), (shape,) = found.asset.bodies, found.asset.shapes
    world = body.pose @ shape.pose
    points = world.apply(shape.geometry.data.vertices * (1 if shape.scale is None else shape.scale))
    np.testing.assert_allclose(points, [(0, 0, 0), (1, 0, 0), (0, -2, 0)], atol=1e-12)


@pytest.mark.parametrize("resets", [True, False])
def test_nested_body_needs_a_reset_stack(read, resets):
    order = '"!resetXformStack!", "xformOp:translate"' if resets else '"xformOp:translate"'
    found = read(f"""
def Xform "R" ( {BODY} ) {{
    double3 xformOp:translate = (1, 0, 0)
    uniform token[] xformOpOrder = ["xformOp:translate"]
    float physics:mass = 1
    def Xform "inner" ( {BODY} ) {{
        double3 xformOp:translate = (0, 1, 0)
        uniform token[] xformOpOrder = [{order}]
        float physics:mass = 1
        def Sphere "ball" {{}}
    }}
}}""")
    np.testing.assert_allclose(found.asset.body("inner").pose.p, (0, 1, 0) if resets else (1, 1, 0))
    assert ("usd-body-nested" in found.kinds) is not resets
    assert found.asset.shapes[0].body == "inner"


def test_clashing_names_get_their_parents(read):
    body = f'{{ def Xform "link" ( {BODY} ) {{ float physics:mass = 1 }} }}'
    found = read(f'def Xform "R" {{ def Xform "a" {body} def Xform "b" {body} }}\ndef Xform "c" {{}}')
    assert [b.name for b in found.asset.bodies] == ["a_link", "b_link"]
    assert [b.path for b in found.asset.bodies] == ["/R/a/link", "/R/b/link"]


def test_animated_pose_is_read_at_the_time_asked_for(read):
    text = f"""
def Xform "R" ( {BODY} ) {{
    float physics:mass = 1
    double3 xformOp:translate.timeSamples = {{ 0: (0, 0, 0), 10: (10, 0, 0) }}
    uniform token[] xformOpOrder = ["xformOp:translate"]
}}"""
    found = read(text, time=5.0)
    np.testing.assert_allclose(found.asset.body("R").pose.p, (5, 0, 0))
    assert "usd-body-animated" in found.kinds


def test_articulation_roots(read):
    found = read(f"""
def Xform "R" ( prepend apiSchemas = ["PhysicsArticulationRootAPI"] ) {{
    def Xform "a" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI", "PhysicsArticulationRootAPI"]
    ) {{
        float physics:mass = 1
    }}
    def Xform "b" ( {BODY} ) {{ float physics:mass = 1 }}
    def PhysicsFixedJoint "j" {{
        rel physics:body0 = </R/a>
        rel physics:body1 = </R/b>
    }}
}}
def Xform "lost" ( prepend apiSchemas = ["PhysicsArticulationRootAPI"] ) {{}}
""")
    assert [(a.name, a.root) for a in found.asset.articulations] == [
        ("R", "/R"), ("a", "a"), ("lost", "/lost"),
    ]  # fmt: skip
    assert {"usd-articulation-roots", "usd-articulation-empty"} <= found.kinds
