"""Stages written as text and exported; images of one colour beside them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import simwright
from simwright.core.diag import Reporter

from .reading import Document, open_gltf

HEADER = '#usda 1.0\n(\n    defaultPrim = "R"\n    metersPerUnit = 1\n    upAxis = "Z"\n{more})\n'


@dataclass
class Export:
    """A document and what was said about it."""

    file: Path
    document: Document
    reporter: Reporter = field(default_factory=Reporter)

    @property
    def kinds(self) -> set[str]:
        return {d.kind for d in self.reporter}


@pytest.fixture
def export(tmp_path) -> Callable[..., Export]:
    """Export a stage written as text."""

    def run(text: str, more: str = "", name: str = "out.glb", **writing) -> Export:
        source = tmp_path / "source.usda"
        # the text format wants a line break around every closing brace; one-liners read better in tests
        source.write_text(HEADER.format(more=more) + text.replace("}", "\n}\n"))
        reporter = Reporter()
        file = simwright.convert(source, tmp_path / name, reporter=reporter, overwrite=True, **writing)
        return Export(file, open_gltf(file), reporter)

    return run


@pytest.fixture
def paint(tmp_path) -> Callable[..., None]:
    """Write an image of one colour beside the stage."""

    def run(name: str, color: tuple[int, ...], size: int = 4) -> None:
        mode = {1: "L", 3: "RGB", 4: "RGBA"}[len(color)]
        pixels = np.tile(np.array(color, np.uint8), (size, size, 1))
        Image.fromarray(pixels[..., 0] if mode == "L" else pixels, mode=None).save(tmp_path / name)

    return run


QUAD = """
    point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
    int[] faceVertexCounts = [4]
    int[] faceVertexIndices = [0, 1, 2, 3]
    uniform token subdivisionScheme = "none"
    texCoord2f[] primvars:st = [(0, 0), (1, 0), (1, 1), (0, 1)] (interpolation = "vertex")
"""


def texture(name: str, file: str, channel: str, more: str = "") -> str:
    """A UsdUVTexture called ``name`` with its reader."""
    kind = "float3" if channel == "rgb" else "float"
    return f"""
    def Shader "{name}" {{
        uniform token info:id = "UsdUVTexture"
        asset inputs:file = @./{file}@
        float2 inputs:st.connect = <../{name}_st.outputs:result>
        {more}
        {kind} outputs:{channel}
    }}
    def Shader "{name}_st" {{
        uniform token info:id = "UsdPrimvarReader_float2"
        string inputs:varname = "st"
        float2 outputs:result
    }}
    """


@pytest.fixture
def surface(export) -> Callable[..., Export]:
    """Export a quad called ``q`` that wears one preview surface."""

    def run(inputs: str, nodes: str = "", mesh: str = QUAD, **writing) -> Export:
        return export(
            f"""def Xform "R" {{
                def Mesh "q" (prepend apiSchemas = ["MaterialBindingAPI"]) {{
                    {mesh}
                    rel material:binding = </R/look>
                }}
                def Material "look" {{
                    token outputs:surface.connect = </R/look/s.outputs:surface>
                    def Shader "s" {{
                        uniform token info:id = "UsdPreviewSurface"
                        {inputs}
                        token outputs:surface
                    }}
                    {nodes}
                }}
            }}""",
            **writing,
        )

    return run
