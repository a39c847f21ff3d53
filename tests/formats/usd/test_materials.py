"""Looks and contact materials, and how they are bound."""

from __future__ import annotations

import math

import pytest

from simwright.core.diag import Reporter
from simwright.formats.format import ReadOptions
from simwright.formats.usd.read import read as read_file
from simwright.model.material import make_display

NETWORK = """
def Material "look" {
    color3f inputs:tint = (0.5, 0.25, 0.125)
    token outputs:surface.connect = </R/look/surface.outputs:surface>
    def Shader "surface" {
        uniform token info:id = "UsdPreviewSurface"
        color3f inputs:diffuseColor.connect = </R/look/image.outputs:rgb>
        color3f inputs:emissiveColor.connect = </R/look.inputs:tint>
        float inputs:roughness.connect = </R/look/image.outputs:g>
        float inputs:metallic.connect = </R/look/noise.outputs:r>
        float inputs:opacity = 0.75
        float inputs:ior = 1.3
        int inputs:useSpecularWorkflow = 1
        color3f inputs:specularColor = (0.1, 0.2, 0.3)
        token outputs:surface
    }
    def Shader "image" {
        uniform token info:id = "UsdUVTexture"
        asset inputs:file = @./wood.png@
        token inputs:wrapS = "clamp"
        token inputs:sourceColorSpace = "sRGB"
        float4 inputs:scale = (2, 2, 2, 1)
        float4 inputs:bias = (0.5, 0, 0, 0)
        float2 inputs:st.connect = </R/look/transform.outputs:result>
        float3 outputs:rgb
        float outputs:g
    }
    def Shader "transform" {
        uniform token info:id = "UsdTransform2d"
        float inputs:rotation = 90
        float2 inputs:scale = (3, 4)
        float2 inputs:translation = (0.5, 0.25)
        float2 inputs:in.connect = </R/look/reader.outputs:result>
        float2 outputs:result
    }
    def Shader "reader" {
        uniform token info:id = "UsdPrimvarReader_float2"
        string inputs:varname = "uv1"
        float2 outputs:result
    }
    def Shader "noise" {
        uniform token info:id = "MyNoise"
        float outputs:r
    }
}"""


def test_preview_surface_network(read):
    found = read(f"""
def Xform "R" {{
    def Cube "c" ( prepend apiSchemas = ["MaterialBindingAPI"] ) {{ rel material:binding = </R/look> }}
    {NETWORK}
}}""")
    (material,) = found.asset.materials
    assert found.asset.shapes[0].material == material.name == "look"
    assert material.emissive == make_display((0.5, 0.25, 0.125))
    assert (material.opacity, material.ior) == (0.75, pytest.approx(1.3))
    assert material.specular == pytest.approx(make_display((0.1, 0.2, 0.3)))
    texture = material.textures["diffuse"]
    assert texture.file.endswith("wood.png")
    assert (texture.channel, texture.color_space, texture.uv_set) == ("rgb", "sRGB", "uv1")
    assert (texture.wrap_s, texture.wrap_t) == ("clamp", "repeat")
    assert (texture.scale, texture.offset) == ((3.0, 4.0), (0.5, 0.25))
    assert texture.rotation == pytest.approx(math.pi / 2)
    assert (texture.gain, texture.bias) == ((2.0, 2.0, 2.0, 1.0), (0.5, 0.0, 0.0, 0.0))
    assert material.textures["roughness"].channel == "g"
    assert set(material.textures) == {"diffuse", "roughness"}
    assert found.kinds == {"usd-texture-missing", "usd-surface-input"}


def test_texture_file_is_resolved_beside_its_layer(tmp_path):
    (tmp_path / "wood.png").write_bytes(b"\x89PNG\r\n")
    file = tmp_path / "look.usda"
    text = f'def Xform "R" {{ {NETWORK} }}'.replace("}", "\n}\n")
    file.write_text(f'#usda 1.0\n(\n    metersPerUnit = 1\n    upAxis = "Z"\n)\n{text}')
    reporter = Reporter()
    asset = read_file(file, ReadOptions(), reporter)
    assert asset.name == "look"
    assert asset.materials[0].textures["diffuse"].file == str(tmp_path / "wood.png")
    assert "usd-texture-missing" not in {d.kind for d in reporter}


def test_foreign_surface_is_reported(read):
    found = read("""
def Material "R" {
    token outputs:mdl:surface.connect = </R/s.outputs:out>
    def Shader "s" { token outputs:out }
}""")
    assert [m.name for m in found.asset.materials] == ["R"]
    assert found.kinds == {"usd-surface-foreign"}


CONTACT = """
def Material "{name}" ( prepend apiSchemas = ["PhysicsMaterialAPI", "ExtendedPhysicsFrictionAPI"] ) {{
    float physics:staticFriction = 0.75
    float physics:dynamicFriction = 0.5
    float physics:density = 2
    float ext_physics:friction:rolling = 3
}}"""


@pytest.mark.parametrize("binding", ["material:binding:physics", "material:binding"])
def test_contact_material_by_physics_or_all_purpose_binding(read, binding):
    found = read(
        f"""
def Xform "R" ( prepend apiSchemas = ["MaterialBindingAPI"] ) {{
    rel {binding} = </R/rubber>
    def Cube "c" ( prepend apiSchemas = ["PhysicsCollisionAPI"] ) {{}}
    def Cube "seen" {{}}
    {CONTACT.format(name="rubber")}
}}""",
        meters=0.1,
        kilograms=0.5,
    )
    (material,) = found.asset.physics_materials
    collider, seen = found.asset.shapes
    assert collider.physics_material == material.name == "rubber"
    assert seen.physics_material == ""
    assert collider.material == ""
    assert (material.static_friction, material.dynamic_friction) == (0.75, 0.5)
    assert material.restitution is None
    assert material.density == pytest.approx(2 * 0.5 / 0.001)
    assert material.rolling_friction == pytest.approx(0.3)
    assert found.asset.materials == []


def test_physics_binding_to_a_material_without_contact(read):
    found = read("""
def Xform "R" {
    def Cube "c" ( prepend apiSchemas = ["PhysicsCollisionAPI", "MaterialBindingAPI"] ) {
        rel material:binding:physics = </R/plain>
    }
    def Material "plain" {}
}""")
    assert found.asset.shapes[0].physics_material == ""
    assert found.kinds == {"usd-physics-material-empty"}


def test_binding_without_its_api_is_used_reported_and_not_printed(read, capfd):
    found = read(f"""
def Xform "R" {{
    def Cube "c" {{ rel material:binding = </R/look> }}
    {NETWORK}
}}""")
    assert found.asset.shapes[0].material == "look"
    assert "usd-binding-unapplied" in found.kinds
    assert capfd.readouterr().err == ""


def test_materials_of_instances_are_one(read):
    found = read(
        """
class Xform "proto" {
    def Cube "c" ( prepend apiSchemas = ["MaterialBindingAPI"] ) { rel material:binding = </proto/look> }
    def Material "look" {
        token outputs:surface.connect = </proto/look/s.outputs:surface>
        def Shader "s" {
            uniform token info:id = "UsdPreviewSurface"
            token outputs:surface
        }
    }
}
def Xform "R" {
    def Xform "a" ( instanceable = true
        prepend inherits = </proto> ) {}
    def Xform "b" ( instanceable = true
        prepend inherits = </proto> ) {}
}"""
    )
    assert [m.name for m in found.asset.materials] == ["look"]
    assert [s.material for s in found.asset.shapes] == ["look", "look"]
