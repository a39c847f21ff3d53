"""Time: a chosen moment, the default moment, and attributes that have samples only."""

from __future__ import annotations

import numpy as np
import pytest

from simwright.core.diag import Reporter
from simwright.formats.format import ReadOptions
from simwright.formats.usd.read import read_stage

from .conftest import make_stage

MOVING = """
def Xform "R" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"] ) {
    float physics:mass.timeSamples = { 1: 2, 3: 4 }
    double3 xformOp:translate.timeSamples = { 1: (1, 0, 0), 3: (3, 0, 0) }
    uniform token[] xformOpOrder = ["xformOp:translate"]
    vector3f physics:velocity = (9, 0, 0)
    vector3f physics:velocity.timeSamples = { 1: (1, 0, 0), 3: (3, 0, 0) }
    def Sphere "s" { double radius.timeSamples = { 1: 0.5, 3: 1.5 } }
    def Mesh "m" {
        point3f[] points.timeSamples = { 1: [(0, 0, 0), (1, 0, 0), (0, 1, 0)] }
        int[] faceVertexCounts = [3]
        int[] faceVertexIndices = [0, 1, 2]
    }
}"""


@pytest.mark.parametrize(("time", "x", "radius", "mass"), [(1, 1, 0.5, 2), (2, 2, 1.0, 3), (3, 3, 1.5, 4)])
def test_a_chosen_moment(read, time, x, radius, mass):
    found = read(MOVING, time=time)
    (body,) = found.asset.bodies
    np.testing.assert_allclose(body.pose.p, (x, 0, 0))
    np.testing.assert_allclose(body.linear_velocity, (x, 0, 0))
    assert body.inertial.mass == pytest.approx(mass)
    assert found.asset.shapes[0].geometry.radius == radius
    assert "usd-samples-first" not in found.kinds


def test_without_a_moment_the_first_sample_counts_where_there_is_no_default(read):
    found = read(MOVING)
    (body,) = found.asset.bodies
    np.testing.assert_allclose(body.pose.p, (1, 0, 0))
    np.testing.assert_allclose(body.linear_velocity, (9, 0, 0))
    assert body.inertial.mass == pytest.approx(2)
    sphere, mesh = found.asset.shapes
    assert sphere.geometry.radius == 0.5
    assert mesh.geometry.data.face_count == 1
    (finding,) = (d for d in found.reporter if d.kind == "usd-samples-first")
    assert (finding.data["count"], finding.where.prim) == (4, "/R")


def test_the_stage_of_the_caller_is_left_alone():
    stage = make_stage(MOVING)
    before = stage.GetSessionLayer().ExportToString(), stage.GetRootLayer().ExportToString()
    asset = read_stage(stage, ReadOptions(), Reporter())
    assert (stage.GetSessionLayer().ExportToString(), stage.GetRootLayer().ExportToString()) == before
    del stage
    assert asset.shapes[1].geometry.data.face_count == 1


def test_what_the_caller_says_in_the_session_is_kept():
    stage = make_stage(MOVING)
    stage.GetSessionLayer().ImportFromString(
        '#usda 1.0\nover "R"\n{\n    over "s" ( active = false )\n    {\n    }\n}\n'
    )
    asset = read_stage(stage, ReadOptions(), Reporter())
    assert [shape.name for shape in asset.shapes] == ["m"]


def test_samples_inside_instances_are_reported(read):
    found = read("""
def Xform "R" { def Xform "i" ( instanceable = true
    references = </P> ) {} }
class Xform "P" { def Sphere "s" { double radius.timeSamples = { 1: 5 } } }""")
    assert found.asset.shapes[0].geometry.radius == 1
    assert found.kinds == {"usd-samples-instanced"}
