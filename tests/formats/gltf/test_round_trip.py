"""What the OpenUSD writer keeps of looks and lights, seen through glTF."""

from __future__ import annotations

import pytest

import simwright

from .conftest import QUAD
from .reading import open_gltf


def test_material_that_reads_colours(surface, tmp_path):
    text = f'{QUAD} color3f[] primvars:displayColor = [(1, 0, 0)] (interpolation = "uniform")'
    reader = """def Shader "c" {
        uniform token info:id = "UsdPrimvarReader_float3"
        string inputs:varname = "displayColor"
        float3 outputs:result
    }"""
    surface("color3f inputs:diffuseColor.connect = </R/look/c.outputs:result>", reader, text)
    stage = simwright.convert(tmp_path / "source.usda", tmp_path / "usd")
    again = open_gltf(simwright.convert(stage, tmp_path / "again.glb"))
    [mesh] = again["meshes"]
    [primitive] = mesh["primitives"]
    assert again.array(primitive["attributes"]["COLOR_0"])[0] == pytest.approx([1, 0, 0])


def test_lights_keep_what_they_give(export, tmp_path):
    found = export(
        """def Xform "R" { def DistantLight "sun" { float inputs:intensity = 500
            float inputs:angle = 3 }
            def SphereLight "lamp" { float inputs:intensity = 5
            bool inputs:normalize = 1 } }"""
    )
    stage = simwright.convert(tmp_path / "source.usda", tmp_path / "usd")
    again = open_gltf(simwright.convert(stage, tmp_path / "again.glb"))
    lights = [
        {row["name"]: row["intensity"] for row in document["extensions"]["KHR_lights_punctual"]["lights"]}
        for document in (found.document, again)
    ]
    assert lights[1] == pytest.approx(lights[0], rel=1e-5)


def test_light_without_a_size(tmp_path):
    """A light of MJCF has no units and no size: through OpenUSD it gives what it gives directly."""
    source = tmp_path / "s.xml"
    source.write_text(
        '<mujoco><worldbody><light name="sun" type="directional" dir="0 0 -1"/><geom size="1"/></worldbody></mujoco>'
    )
    direct = open_gltf(simwright.convert(source, tmp_path / "direct.glb"))
    stage = simwright.convert(source, tmp_path / "usd")
    trip = open_gltf(simwright.convert(stage, tmp_path / "trip.glb"))
    rows = [d["extensions"]["KHR_lights_punctual"]["lights"][0] for d in (direct, trip)]
    assert rows[0].get("intensity", 1.0) == pytest.approx(rows[1].get("intensity", 1.0))
