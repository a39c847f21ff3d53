"""Physics materials, contact bits, and looks."""

from __future__ import annotations

import math

import pytest

BALL = "<geometry><sphere><radius>0.5</radius></sphere></geometry>"


def collision(surface: str, name: str = "c") -> str:
    return f'<collision name="{name}">{BALL}<surface>{surface}</surface></collision>'


def visual(inner: str, name: str = "v") -> str:
    return f'<visual name="{name}">{BALL}{inner}</visual>'


def link(*parts: str) -> str:
    return '<link name="a">\n' + "\n".join(parts) + "</link>"


def test_friction_bounce_and_contact(read_model):
    asset = read_model(
        link(
            collision(
                """<friction><ode><mu>0.8</mu><mu2>0.5</mu2></ode><torsional><coefficient>2</coefficient>
                <patch_radius>0.1</patch_radius></torsional></friction>
                <bounce><restitution_coefficient>0.3</restitution_coefficient><threshold>1</threshold></bounce>
                <contact><collide_bitmask>0x0f</collide_bitmask><category_bitmask>3</category_bitmask>
                <ode><kp>1e6</kp><kd>10</kd><min_depth>0.001</min_depth></ode></contact>"""
            )
        )
    )
    (material,) = asset.physics_materials
    (shape,) = asset.shapes
    assert shape.physics_material == material.name
    assert (material.static_friction, material.dynamic_friction) == (0.8, 0.8)
    assert material.torsional_friction == pytest.approx(3 * math.pi / 16 * 2 * 0.1)
    assert (material.restitution, material.stiffness, material.damping) == (0.3, 1e6, 10)
    assert (shape.collide_bits, shape.category_bits) == (15, 3)
    kept = asset.extras.values()["gazebo"]["c"]
    assert kept == {
        "surface/friction/ode/mu2": 0.5,
        "surface/bounce/threshold": 1,
        "surface/contact/ode/min_depth": 0.001,
    }


def test_equal_materials_are_shared(read_model):
    mu = "<friction><ode><mu>0.8</mu></ode></friction>"
    other = "<friction><bullet><friction>0.9</friction></bullet></friction>"
    asset = read_model(link(collision(mu), collision(mu, "d"), collision(other, "e"), collision("", "f")))
    assert len(asset.physics_materials) == 2
    c, d, e, f = (shape.physics_material for shape in asset.shapes)
    assert c == d != e
    assert f == ""


def test_wrong_bits(read_model, found):
    asset = read_model(link(collision("<contact><collide_bitmask>many</collide_bitmask></contact>")))
    assert asset.shapes[0].collide_bits is None
    assert found("sdf-bad-bitmask")


def test_colours(read_model):
    asset = read_model(
        link(
            visual(
                """<transparency>0.5</transparency><material><ambient>1 0 0 1</ambient>
                <diffuse>0 1 0 0.8</diffuse>
                <specular>0.1 0.2 0.3</specular><emissive>0 0 1 1</emissive><double_sided>true</double_sided>
                <shininess>3</shininess></material>"""
            ),
            visual("<material><ambient>1 0 0 1</ambient></material>", "w"),
            visual("<transparency>0.25</transparency>", "x"),
        )
    )
    first, second = asset.materials
    assert first.diffuse == (0, 1, 0)
    assert first.opacity == pytest.approx(0.4)
    assert first.specular == (0.1, 0.2, 0.3)
    assert first.emissive == (0, 0, 1)
    assert first.double_sided
    assert second.diffuse == (1, 0, 0)
    assert asset.shapes[2].color == (1, 1, 1, 0.75)
    assert asset.extras.get("gazebo", "v", "shininess") == 3
    assert asset.extras.get("gazebo", "v", "material/ambient") == (1, 0, 0, 1)


def test_metal_workflow_with_textures(read_model, found):
    asset = read_model(
        link(
            visual(
                """<material><diffuse>0.5 0.5 0.5</diffuse><pbr><metal><albedo_map>tex/a.png</albedo_map>
                <normal_map>tex/missing.png</normal_map><metalness>0.9</metalness><roughness>0.2</roughness>
                </metal></pbr></material>"""
            )
        ),
        files={"tex/a.png": "x"},
    )
    (material,) = asset.materials
    assert (material.metallic, material.roughness) == (0.9, 0.2)
    assert set(material.textures) == {"diffuse"}
    assert material.textures["diffuse"].file.endswith("a.png")
    assert material.textures["diffuse"].gain == (0.5, 0.5, 0.5, 1.0)
    assert "missing.png" in found("sdf-texture-failed")[0].message


def test_specular_workflow(read_model, found):
    asset = read_model(
        link(
            visual(
                """<material><pbr><specular><albedo_map>tex/a.png</albedo_map><specular_map>tex/a.png</specular_map>
                <glossiness>0.7</glossiness><glossiness_map>tex/a.png</glossiness_map></specular></pbr></material>"""
            )
        ),
        files={"tex/a.png": "x"},
    )
    (material,) = asset.materials
    assert set(material.textures) == {"diffuse", "specular"}
    assert material.roughness == pytest.approx(0.3)
    assert asset.extras.get("gazebo", "v", "glossiness_map") == "tex/a.png"
    assert found("sdf-kept-as-extra")


def test_scripts(read_model, found):
    script = "<material><script><uri>x.material</uri><name>{}</name></script></material>"
    asset = read_model(link(visual(script.format("Gazebo/Grey")), visual(script.format("My/Wood"), "w")))
    assert asset.materials[0].diffuse == (0.7, 0.7, 0.7)
    glowing = read_model(link(visual(script.format("Gazebo/RedGlow")))).materials[0]
    assert (glowing.diffuse, glowing.emissive) == ((1, 0, 0), (1, 0, 0))
    glass = read_model(link(visual(script.format("Gazebo/BlueTransparent")))).materials[0]
    assert (glass.diffuse, glass.opacity) == ((0, 0, 1), 0.5)
    (finding,) = found("sdf-material-script")
    assert "My/Wood" in finding.message
    assert asset.extras.get("gazebo", "w", "material/script/name") == "My/Wood"


def test_equal_looks_are_shared(read_model):
    red = "<material><diffuse>1 0 0 1</diffuse></material>"
    asset = read_model(link(visual(red), visual(red, "w")))
    assert len(asset.materials) == 1
    assert {shape.material for shape in asset.shapes} == {asset.materials[0].name}
