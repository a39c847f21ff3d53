"""The node tree, instancers, cameras, lights, movement, looks of variants, physics in extras, files."""

from __future__ import annotations

import json
import math
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import simwright
from simwright.core.diag import Reporter
from simwright.core.errors import OutputError, StrictError, UsageError
from simwright.core.math3d import Pose
from simwright.formats.format import WriteOptions
from simwright.formats.gltf.document import GltfDocument
from simwright.formats.gltf.scene import choose_keys
from simwright.model.asset import Asset
from simwright.model.kinematics import build_tree

from .conftest import QUAD
from .reading import open_gltf

SCHEMA = Path(simwright.__file__).parent / "formats" / "gltf" / "physics.v1.schema.json"

ARM = """def Xform "R" {
    def Xform "base" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]) {
        double3 xformOp:translate = (1, 2, 3)
        uniform token[] xformOpOrder = ["xformOp:translate"]
        float physics:mass = 2
        float3 physics:diagonalInertia = (1, 2, 3)
        quatf physics:principalAxes = (1, 0, 0, 0)
        def Cube "box" { double size = 1 }
        def Cube "touched" (prepend apiSchemas = ["PhysicsCollisionAPI"]) {
            double size = 2
            uniform token purpose = "guide" }
    }
    def Xform "link" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]) {
        double3 xformOp:translate = (1, 2, 4)
        float xformOp:rotateX = 90
        uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:rotateX"]
        float physics:mass = 1
        float3 physics:diagonalInertia = (1, 1, 1)
        quatf physics:principalAxes = (1, 0, 0, 0)
        def Sphere "ball" { double radius = 0.5 }
    }
    def PhysicsRevoluteJoint "elbow" (prepend apiSchemas = ["PhysicsDriveAPI:angular"]) {
        rel physics:body0 = </R/base>
        rel physics:body1 = </R/link>
        point3f physics:localPos0 = (0, 0, 1)
        quatf physics:localRot0 = (0.70710678, 0.70710678, 0, 0)
        uniform token physics:axis = "Z"
        float physics:lowerLimit = -90
        float physics:upperLimit = 90
        float drive:angular:physics:stiffness = 5
        float drive:angular:physics:maxForce = 7
    }
}"""


def test_tree_keeps_local_frames(export, accept_gltf):
    found = export(ARM)
    document = found.document
    base, link = document.find("base"), document.find("link")
    assert document.parent_of(base) == 0
    assert document.parent_of(link) == base
    assert document["nodes"][link]["translation"] == pytest.approx([0, 0, 1])
    assert document.node("R")["rotation"] == pytest.approx([-math.sqrt(0.5), 0, 0, math.sqrt(0.5)])
    assert document.world(link)[:3, 3] == pytest.approx([1, 2, 4])
    assert document.world(link)[:3, :3] == pytest.approx(
        np.array(((1, 0, 0), (0, 0, -1), (0, 1, 0))), abs=1e-6
    )
    accept_gltf(found.file)


def test_colliders_only_on_request(export):
    plain = export(ARM)
    assert "touched" not in [node.get("name") for node in plain.document["nodes"]]
    assert "gltf-write-colliders" in plain.kinds
    both = export(ARM, name="both.glb", collision=True)
    assert both.document.node("touched")["extras"]["simwright"]["role"] == "collision"
    assert "gltf-write-colliders" not in both.kinds


def test_physics_block(export):
    document = export(ARM).document
    block = document["extras"]["simwright"]["physics"]
    jsonschema.validate(block, json.loads(SCHEMA.read_text()))
    base, link = document.find("base"), document.find("link")
    masses = {body["node"]: (body["mass"], body["inertia"]) for body in block["bodies"]}
    assert masses[base] == (2.0, [1.0, 2.0, 3.0, 0.0, 0.0, 0.0])
    [joint] = block["joints"]
    assert (joint["parent"], joint["child"], joint["type"]) == (base, link, "revolute")
    [dof] = joint["dofs"]
    assert (dof["lower"], dof["upper"]) == pytest.approx((-math.pi / 2, math.pi / 2))
    assert dof["drive"]["stiffness"] == pytest.approx(5 * 180 / math.pi)
    assert dof["drive"]["maxForce"] == pytest.approx(7)
    # turning the child's node about the axis in the joint frame is what the joint does
    assert joint["parentFrame"]["translation"] == pytest.approx([0, 0, 1])
    assert dof["axis"] == pytest.approx([0, 0, 1])


def test_instancer(export, accept_gltf):
    found = export(
        f"""def Xform "R" {{
            def PointInstancer "grid" {{
                rel prototypes = </R/grid/led>
                int[] protoIndices = [0, 0, 0]
                point3f[] positions = [(0, 0, 0), (1, 0, 0), (2, 0, 0)]
                float3[] scales = [(1, 2, 1), (1, 1, 1), (-1, 1, 1)]
                def Mesh "led" {{ {QUAD} }}
            }}
        }}"""
    )
    document = found.document
    assert len(document["meshes"]) == 1
    nodes = [node for node in document["nodes"] if node.get("name") == "grid"]
    rows = [node["extensions"]["EXT_mesh_gpu_instancing"]["attributes"] for node in nodes]
    places = [document.array(row["TRANSLATION"]) for row in rows]
    assert places[0].tolist() == [[0, 0, 0], [1, 0, 0]]
    assert document.array(rows[0]["SCALE"]).tolist() == [[1, 2, 1], [1, 1, 1]]
    # the mirrored one: its node turns everything over, its row does so again
    assert nodes[1]["scale"] == [-1, -1, -1]
    x, y, z, w = document.array(rows[1]["ROTATION"])[0]
    turn = np.array(
        (
            (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
            (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
            (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
        )
    )
    corner = -(places[1][0] + turn @ (document.array(rows[1]["SCALE"])[0] * (1, 1, 0)))
    assert corner == pytest.approx([1, 1, 0])
    accept_gltf(found.file)


def test_lights(export, accept_gltf):
    found = export(
        """def Xform "R" {
            def DistantLight "sun" { float inputs:intensity = 1000
                float inputs:angle = 2 }
            def SphereLight "lamp" { float inputs:intensity = 50
                float inputs:radius = 0.1 }
            def SphereLight "spot" (prepend apiSchemas = ["ShapingAPI"]) { float inputs:intensity = 8
                bool treatAsPoint = 1
                color3f inputs:color = (1, 0.5, 0)
                float inputs:shaping:cone:angle = 30
                float inputs:shaping:cone:softness = 0.5 }
            def DomeLight "sky" {}
        }"""
    )
    rows = found.document["extensions"]["KHR_lights_punctual"]["lights"]
    lights = {row["name"]: row for row in rows}
    assert lights["sun"]["intensity"] == pytest.approx(1000 * math.pi * math.sin(math.radians(1)) ** 2)
    assert lights["lamp"]["intensity"] == pytest.approx(50 * math.pi * 0.01, rel=1e-6)
    assert (lights["spot"]["type"], lights["spot"]["intensity"]) == ("spot", 8)
    assert lights["spot"]["color"] == pytest.approx([1, 0.5, 0])
    assert lights["spot"]["spot"] == pytest.approx(
        {"innerConeAngle": math.radians(15), "outerConeAngle": math.radians(30)}
    )
    assert "write-lost" in found.kinds
    accept_gltf(found.file)


def test_an_orthographic_camera(export, accept_gltf):
    found = export(
        """def Xform "R" { def Camera "eye" {
            token projection = "orthographic"
            float horizontalAperture = 40
            float verticalAperture = 30
            float2 clippingRange = (0.5, 20)
        } }"""
    )
    [camera] = found.document["cameras"]
    assert camera["type"] == "orthographic"
    assert camera["orthographic"] == pytest.approx({"xmag": 2.0, "ymag": 1.5, "znear": 0.5, "zfar": 20.0})
    accept_gltf(found.file)


def test_camera(export, accept_gltf):
    found = export(
        """def Xform "R" { def Camera "eye" {
            float focalLength = 10
            float horizontalAperture = 40
            float verticalAperture = 20
            float2 clippingRange = (0.5, 20)
        } }"""
    )
    [camera] = found.document["cameras"]
    lens = camera["perspective"]
    assert lens == pytest.approx({"yfov": math.pi / 2, "aspectRatio": 2.0, "znear": 0.5, "zfar": 20.0})
    assert found.document.node("eye")["camera"] == 0
    accept_gltf(found.file)


MOVING = """def Xform "R" {
    def Xform "cart" (prepend apiSchemas = ["PhysicsRigidBodyAPI"]) {
        double3 xformOp:translate.timeSamples = { 0: (0, 0, 0), 24: (2, 0, 0) }
        uniform token[] xformOpOrder = ["xformOp:translate"]
        def Xform "wheel" {
            float xformOp:rotateY.timeSamples = { 0: 0, 24: 360 }
            uniform token[] xformOpOrder = ["xformOp:rotateY"]
            def Cylinder "rim" { uniform token axis = "Y" }
        }
        def Cube "box" {}
    }
    def Xform "pole" (prepend apiSchemas = ["PhysicsRigidBodyAPI"]) {
        double3 xformOp:translate.timeSamples = { 0: (0, 0, 1), 24: (2, 0, 1) }
        uniform token[] xformOpOrder = ["xformOp:translate"]
        def Sphere "tip" {}
    }
    def PhysicsFixedJoint "weld" { rel physics:body0 = </R/cart>
        rel physics:body1 = </R/pole>
        point3f physics:localPos0 = (0, 0, 1) }
}""".replace("}, 24", ", 24")
PLAYED = "    startTimeCode = 0\n    endTimeCode = 24\n    timeCodesPerSecond = 12\n"


def test_movement(export, accept_gltf):
    found = export(MOVING.replace(") }\n", ")\n}\n"), PLAYED)
    [animation] = found.document["animations"]
    channels = {
        (found.document["nodes"][c["target"]["node"]]["name"], c["target"]["path"]): animation["samplers"][
            c["sampler"]
        ]
        for c in animation["channels"]
    }
    # the pole rides on the cart, so its node does not move
    assert set(channels) == {("cart", "translation"), ("rim", "rotation")}
    cart = channels["cart", "translation"]
    assert found.document.array(cart["input"]).tolist() == [0.0, 2.0]
    assert found.document.array(cart["output"]).tolist() == [[0, 0, 0], [2, 0, 0]]
    turns = found.document.array(channels["rim", "rotation"]["output"])
    assert len(turns) == 25  # a full turn in two keys would be none
    assert np.abs(np.einsum("ij,ij->i", turns[1:], turns[:-1])).min() > 0.9
    accept_gltf(found.file)


def test_keys_that_are_needed():
    times = np.arange(5.0)
    rows = np.array([(0.0,), (1.0,), (2.0,), (2.0,), (2.0,)])
    assert choose_keys(times, rows, stepped=False).tolist() == [0, 2, 4]
    assert choose_keys(times, rows, stepped=True).tolist() == [0, 1, 2, 4]


def test_movement_is_lost_elsewhere(export, tmp_path):
    export(MOVING.replace(") }\n", ")\n}\n"), PLAYED)
    reporter = Reporter()
    simwright.convert(tmp_path / "source.usda", tmp_path / "mjcf" / "robot.xml", reporter=reporter)
    assert "motion" in {d.data.get("aspect") for d in reporter}


VARIANTS = """def Xform "R" (
    prepend variantSets = ["paint", "size"]
    variants = {
        string paint = "red"
        string size = "small"
    }
) {
    variantSet "paint" = {
        "red" { over "look" { over "s" { color3f inputs:diffuseColor = (1, 0, 0) } } }
        "blue" { over "look" { over "s" { color3f inputs:diffuseColor = (0, 0, 1) } } }
        "plain" { over "m" { rel material:binding = </R/other> } }
    }
    variantSet "size" = {
        "small" { over "m" { point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)] } }
        "large" { over "m" { point3f[] points = [(0, 0, 0), (9, 0, 0), (9, 9, 0), (0, 9, 0)] } }
    }
    def Mesh "m" (prepend apiSchemas = ["MaterialBindingAPI"]) {
        int[] faceVertexCounts = [4]
        int[] faceVertexIndices = [0, 1, 2, 3]
    }
    def Mesh "n" (prepend apiSchemas = ["MaterialBindingAPI"]) { %s rel material:binding = </R/other> }
    def Material "look" { token outputs:surface.connect = </R/look/s.outputs:surface>
        def Shader "s" { uniform token info:id = "UsdPreviewSurface"
            token outputs:surface } }
    def Material "other" { token outputs:surface.connect = </R/other/s.outputs:surface>
        def Shader "s" { uniform token info:id = "UsdPreviewSurface"
            color3f inputs:diffuseColor = (0, 1, 0)
            token outputs:surface } }
}""".replace(
    '"red" { over "look"', '"red" { over "m" { rel material:binding = </R/look> } over "look"'
).replace('"blue" { over "look"', '"blue" { over "m" { rel material:binding = </R/look> } over "look"')


def test_looks_of_variants(export, accept_gltf):
    found = export(VARIANTS % QUAD)
    document = found.document
    names = [row["name"] for row in document["extensions"]["KHR_materials_variants"]["variants"]]
    assert sorted(names) == ["blue", "plain", "red"]
    [primitive] = document.primitives_of("m")
    shown = {
        names[variant]: document["materials"][row["material"]]["pbrMetallicRoughness"]["baseColorFactor"][:3]
        for row in primitive["extensions"]["KHR_materials_variants"]["mappings"]
        for variant in row["variants"]
    }
    assert shown == {"red": [1, 0, 0], "blue": [0, 0, 1], "plain": [0, 1, 0]}
    assert document.material_of("m")["pbrMetallicRoughness"]["baseColorFactor"][:3] == [1, 0, 0]
    assert "extensions" not in document.primitives_of("n")[0]
    # the other set changes the mesh: its selection is all there is, and that is said
    assert "usd-variants-baseline" in found.kinds
    accept_gltf(found.file)


def test_chosen_variant_is_not_a_variant(export):
    found = export(VARIANTS % QUAD, variants={"paint": "blue", "size": "large"})
    assert "extensions" not in found.document.rows
    assert found.document.points("m").max() == pytest.approx(9.0)
    assert found.document.material_of("m")["pbrMetallicRoughness"]["baseColorFactor"][:3] == [0, 0, 1]


def test_files_of_a_gltf(surface, paint, tmp_path, accept_gltf):
    from .conftest import texture

    paint("a.png", (1, 2, 3))
    found = surface(
        "color3f inputs:diffuseColor.connect = </R/look/a.outputs:rgb>",
        texture("a", "a.png", "rgb"),
        name="out.gltf",
    )
    assert found.document["buffers"][0]["uri"] == "out.bin"
    assert (tmp_path / "out_textures" / "a.png").is_file()
    accept_gltf(found.file)


def test_same_bytes(export):
    first = export(ARM).file.read_bytes()
    assert export(ARM, name="again.glb").file.read_bytes() == first


def test_folder_gets_a_glb(export, tmp_path):
    export(ARM)
    file = simwright.convert(tmp_path / "source.usda", tmp_path / "folder", to="gltf")
    assert file == tmp_path / "folder" / "R.glb"
    open_gltf(file)


def test_nothing_is_overwritten(export, tmp_path):
    export(ARM)
    (tmp_path / "x.bin").write_text("mine")
    with pytest.raises(OutputError):
        simwright.convert(tmp_path / "source.usda", tmp_path / "x.gltf")
    assert (tmp_path / "x.bin").read_text() == "mine"
    assert not (tmp_path / "x.gltf").exists()


def test_strict_refuses_losses(export, tmp_path):
    export(ARM)
    with pytest.raises(StrictError):
        simwright.convert(tmp_path / "source.usda", tmp_path / "strict.glb", strict=True)
    assert not (tmp_path / "strict.glb").exists()


def test_a_glb_is_no_source(export, tmp_path):
    file = export(ARM).file
    with pytest.raises(UsageError):
        simwright.convert(file, tmp_path / "back.usda")


def test_empty_stage(export, accept_gltf):
    accept_gltf(export('def Xform "R" {}').file)


def test_rotations_stay_within_one():
    """Rounding leaves unit quaternions of half a turn with parts just above one, which glTF forbids."""
    document = GltfDocument(Asset("a"), build_tree(Asset("a")), Reporter(), WriteOptions())
    document.add_node("half", None, Pose(np.zeros(3), np.array((1e-17, 1.0000000000000002, -1e-17, 0.0))))
    assert document.nodes[-1]["rotation"] == [1.0, -1e-17, 0.0, 1e-17]
