"""The reader as a whole: gravity, provenance, extras, names, files, and a reader that never falls over."""

from __future__ import annotations

import numpy as np
import pytest
from pxr import Gf, Sdf, Vt

from simwright.core.diag import Reporter
from simwright.core.errors import InputError
from simwright.formats.format import ReadOptions
from simwright.formats.table import detect_format, read_asset
from simwright.formats.usd.attributes import make_plain
from simwright.formats.usd.naming import choose_names
from simwright.formats.usd.read import read as read_file
from simwright.formats.usd.transforms import decompose


@pytest.mark.parametrize(
    ("attributes", "up", "expected"),
    [
        ("", "Z", (0, 0, -9.81)),
        ("", "Y", (0, 0, -9.81)),
        ("float physics:gravityMagnitude = 0", "Z", (0, 0, 0)),
        (
            "vector3f physics:gravityDirection = (2, 0, 0)\n float physics:gravityMagnitude = 200",
            "Z",
            (2, 0, 0),
        ),
        ("vector3f physics:gravityDirection = (0, 0, 1)", "Y", (0, -9.81, 0)),
    ],
)
def test_gravity(read, attributes, up, expected):
    found = read(f'def PhysicsScene "R" {{ {attributes} }}', up=up, meters=0.01)
    np.testing.assert_allclose(found.asset.environment.gravity, expected, atol=1e-7)


def test_no_scene_says_nothing_and_two_are_reported(read):
    assert read('def Xform "R" {}').asset.environment.gravity is None
    assert "usd-scenes-many" in read('def PhysicsScene "R" {}\ndef PhysicsScene "S" {}').kinds


def test_provenance(read):
    found = read("""
def Xform "R" (
    kind = "component"
    assetInfo = {
        string identifier = "acme/arm"
        string version = "1.2.0"
        dictionary ros = { string package_uri = "package://acme/arm.urdf" }
    }
) {}""")
    provenance = found.asset.provenance
    assert (provenance.identifier, provenance.version) == ("acme/arm", "1.2.0")
    assert provenance.info["kind"] == "component"
    assert provenance.info["assetInfo"]["ros"] == {"package_uri": "package://acme/arm.urdf"}


def test_solver_and_custom_attributes_become_extras(read):
    found = read("""
def Xform "R" ( prepend apiSchemas = ["PhysxRigidBodyAPI"] ) {
    float physxRigidBody:linearDamping = 0.5
    float newton:armature = 0.25
    double3 mjc:wind = (1, 2, 3)
    float state:angular:physics:position = 4
    rel isaac:target = </R>
    float ext_physics:friction:viscous = 2
    custom string userProperties:note = "hello"
    custom int mine = 3
    double3 xformOp:translate = (0, 0, 0)
    uniform token[] xformOpOrder = ["xformOp:translate"]
    def PhysxGearThing "g" {}
}""")
    extras = found.asset.extras
    assert extras.get("physx", "/R", "physxRigidBody:linearDamping") == 0.5
    assert extras.get("physx", "/R", "state:angular:physics:position") == 4.0
    assert extras.get("newton", "/R", "newton:armature") == 0.25
    assert extras.get("mjc", "/R", "mjc:wind") == (1, 2, 3)
    assert extras.get("isaac", "/R", "isaac:target") == ["/R"]
    assert extras.get("ext_physics", "/R", "ext_physics:friction:viscous") == 2.0
    assert extras.get("userProperties", "/R", "userProperties:note") == "hello"
    assert extras.get("custom", "/R", "mine") == 3
    assert len(extras) == 8
    extra = extras.table["newton"]["/R"]["newton:armature"]
    assert (extra.source.prim, extra.source.prop) == ("/R", "newton:armature")
    assert found.kinds == {"usd-type-unknown"}


def test_plain_values():
    assert make_plain(Gf.Quatf(1, 2, 3, 4)) == (1, 2, 3, 4)
    assert make_plain(Vt.IntArray([1, 2])) == [1, 2]
    assert make_plain(Vt.Vec3fArray([Gf.Vec3f(1, 2, 3)])) == [(1, 2, 3)]
    assert make_plain(Sdf.AssetPath("a.png")) == "a.png"
    assert make_plain(Gf.Matrix2d(1)) == ((1, 0), (0, 1))
    assert make_plain({"a": Gf.Vec2d(1, 2)}) == {"a": (1, 2)}


def test_names_prefix_only_what_clashes():
    assert choose_names(["/r/a/link", "/r/b/link", "/r/tool"]) == {
        "/r/a/link": "a_link", "/r/b/link": "b_link", "/r/tool": "tool",
    }  # fmt: skip
    deep = choose_names(["/x/a/link", "/y/a/link", "/a_link"])
    assert deep == {"/x/a/link": "x_a_link", "/y/a/link": "y_a_link", "/a_link": "a_link"}
    assert len(set(choose_names(["/a/b", "/x/b", "/a_b"]).values())) == 3


def test_decompose_gives_the_matrix_back():
    rng = np.random.default_rng(1)
    for _ in range(50):
        matrix = np.eye(4)
        matrix[:3, :3] = rng.normal(size=(3, 3))
        matrix[:3, 3] = rng.normal(size=3)
        placed = decompose(matrix)
        linear = placed.pose.rotation @ (np.diag(placed.scale) if placed.stretch is None else placed.stretch)
        np.testing.assert_allclose(linear, matrix[:3, :3], atol=1e-12)
        assert placed.is_mirrored == (np.linalg.det(matrix[:3, :3]) < 0)
    flat = decompose(np.diag((1.0, 0.0, 1.0, 1.0)))
    np.testing.assert_array_equal(flat.scale, (1, 0, 1))


def test_wrong_values_do_not_stop_the_reader(read):
    found = read("""
def Xform "R" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"] ) {
    float physics:mass = nan
    vector3f physics:velocity = (nan, 0, 0)
    def Sphere "s" ( prepend apiSchemas = ["PhysicsCollisionAPI"] ) { double radius = nan }
    def PhysicsRevoluteJoint "j" {
        rel physics:body1 = </R>
        quatf physics:localRot0 = (nan, 0, 0, 0)
        float physics:lowerLimit = nan
    }
}""")
    named = {d.data["name"] for d in found.reporter if d.kind == "usd-value-invalid"}
    assert named == {
        "physics:velocity", "radius", "physics:localRot0", "physics:lowerLimit",
    }  # fmt: skip
    assert "usd-mass-invalid" in found.kinds
    assert found.asset.shapes[0].geometry.radius == 1.0
    assert found.asset.joint("j").parent_frame.is_identity()


def test_reading_a_file_through_the_table(tmp_path):
    file = tmp_path / "thing.usda"
    file.write_text('#usda 1.0\n(\n    metersPerUnit = 1\n    upAxis = "Z"\n)\ndef Cube "c" {\n}\n')
    assert detect_format(file).name == "usd"
    asset = read_asset(file)
    assert asset.name == "thing"
    assert asset.provenance.format == "usd"
    assert asset.shapes[0].source.file == str(file)


def test_a_file_that_is_no_usd(tmp_path):
    file = tmp_path / "bad.usda"
    file.write_text('#usda 1.0\ndef Cube "c" { nonsense')
    with pytest.raises(InputError):
        read_file(file, ReadOptions(), Reporter())


WRONG_TYPES = """
def Xform "R" ( prepend apiSchemas = [
    "PhysicsRigidBodyAPI", "PhysicsMassAPI", "RosContextAPI", "RosTopicAPI", "PhysicsArticulationRootAPI"
] ) {
    string physics:mass = "heavy"
    string physics:centerOfMass = "here"
    string physics:diagonalInertia = "none"
    string physics:principalAxes = "x"
    string physics:velocity = "fast"
    string ros:context:domain_id = "seven"
    token ros:topic:role = "publisher"
    string ros:topic:publish_rate = "often"
    string ros:topic:qos:depth = "deep"
    def Sphere "s" ( prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsMassAPI"] ) {
        string radius = "round"
        string physics:density = "dense"
        string primvars:displayColor = "red"
    }
    def Mesh "m" {
        string points = "many"
        string faceVertexCounts = "three"
    }
    def Camera "c" { string focalLength = "long"\n string clippingRange = "wide" }
    def SphereLight "l" { string inputs:color = "red"\n string inputs:intensity = "bright" }
    def PhysicsRevoluteJoint "j" ( prepend apiSchemas = ["PhysicsDriveAPI:angular", "ExtendedPhysicsJointAPI"] ) {
        rel physics:body1 = </R>
        string physics:axis = "W"
        string physics:lowerLimit = "low"
        string physics:localPos0 = "there"
        string drive:angular:physics:stiffness = "stiff"
        string ext_physics:joint:armature = "some"
    }
    def PhysicsScene "scene" { string physics:gravityDirection = "down"\n string physics:gravityMagnitude = "g" }
    def PointInstancer "p" { string protoIndices = "zero"\n string positions = "a" }
    def Material "look" ( prepend apiSchemas = ["PhysicsMaterialAPI"] ) {
        string physics:density = "dense"
        token outputs:surface.connect = </R/look/s.outputs:surface>
        def Shader "s" {
            uniform token info:id = "UsdPreviewSurface"
            string inputs:diffuseColor = "red"
            string inputs:roughness = "rough"
            token outputs:surface
        }
    }
}"""


def test_values_of_the_wrong_type_do_not_stop_the_reader(read):
    found = read(WRONG_TYPES)
    named = {d.data["name"] for d in found.reporter if d.kind == "usd-value-invalid"}
    assert {"physics:mass", "radius", "physics:lowerLimit", "ros:topic:publish_rate"} <= named
    assert [j.name for j in found.asset.joints] == ["j"]
    for shape in found.asset.shapes:
        if shape.geometry.kind == "mesh":
            assert shape.geometry.data.face_count == 0
