"""Geometry made from images: height maps, elevation models, floor plans."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from simwright.model.geometry import Heightfield

HILL = np.array([[0, 50, 100], [0, 0, 200], [0, 0, 0]], dtype=np.uint8)

_BUFFER = io.BytesIO()
Image.fromarray(HILL).save(_BUFFER, "PNG")
CUT_OFF = _BUFFER.getvalue()[:-30]


def heightmap(inside: str) -> str:
    return (
        f'<link name="l"><collision name="c"><geometry>\n<heightmap>{inside}</heightmap>'
        "</geometry></collision></link>"
    )


@pytest.mark.parametrize("kind", ["L", "I;16", "RGB"])
def test_the_brightest_pixel_is_as_high_as_the_size_says(read_model, reporter, tmp_path: Path, kind: str):
    pixels = HILL.astype(np.uint16) * 257 if kind == "I;16" else HILL
    image = Image.fromarray(pixels)
    image.convert(kind).save(tmp_path / "hill.png") if kind == "RGB" else image.save(tmp_path / "hill.png")
    inside = "<uri>hill.png</uri><size>4 6 10</size><pos>1 2 3</pos>"
    (shape,) = read_model(heightmap(inside)).shapes
    assert isinstance(shape.geometry, Heightfield)
    # the top row of the image is at +y, which is the last row of the model
    assert shape.geometry.heights == pytest.approx(HILL[::-1] / 200.0 * 10.0)
    assert shape.geometry.size.tolist() == [4.0, 6.0]
    assert shape.pose.p.tolist() == [1.0, 2.0, 3.0]
    assert shape.collision
    assert not list(reporter)


def test_colours_are_as_high_as_their_red(read_model, tmp_path: Path):
    """Gazebo takes the first channel; here it is the only one that rises."""
    colours = np.stack((HILL, np.zeros_like(HILL), np.full_like(HILL, 9)), axis=-1)
    Image.fromarray(colours).save(tmp_path / "hill.png")
    (shape,) = read_model(heightmap("<uri>hill.png</uri><size>4 6 10</size>")).shapes
    assert shape.geometry.heights == pytest.approx(HILL[::-1] / 200.0 * 10.0)


def test_sampling_lies_on_straight_lines(read_model, tmp_path: Path):
    Image.fromarray(HILL).save(tmp_path / "hill.png")
    (shape,) = read_model(heightmap("<uri>hill.png</uri><size>1 1 200</size><sampling>2</sampling>")).shapes
    heights = shape.geometry.heights
    assert heights.shape == (5, 5)
    assert heights[::2, ::2] == pytest.approx(HILL[::-1].astype(float))
    assert heights[4].tolist() == pytest.approx([0, 25, 50, 75, 100])
    assert heights[3, 3] == pytest.approx((50 + 100 + 0 + 200) / 4)


def test_textures_are_kept_and_said(read_model, found, tmp_path: Path):
    Image.fromarray(HILL).save(tmp_path / "hill.png")
    inside = "<uri>hill.png</uri><texture><diffuse>dirt.png</diffuse><size>2</size></texture>"
    asset = read_model(heightmap(inside))
    assert asset.extras.get("gazebo", "c", "texture/diffuse") == "dirt.png"
    assert found("sdf-kept-as-extra")[0].where.line == 4


def test_an_elevation_model_keeps_its_lowest_point(read_model, found, tmp_path: Path):
    land = np.array([[100.0, 110.0], [120.0, 150.0]], dtype=np.float32)
    Image.fromarray(land).save(tmp_path / "land.tif")
    (stretched,) = read_model(heightmap("<uri>land.tif</uri><size>9 9 100</size>")).shapes
    assert stretched.geometry.heights == pytest.approx(np.array([[140.0, 200.0], [100.0, 120.0]]))
    (true,) = read_model(heightmap("<uri>land.tif</uri>")).shapes
    assert true.geometry.heights == pytest.approx(land[::-1])
    assert len(found("sdf-dem-size")) == 1


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "does not exist"),
        (b"not an image", "not an image"),
        (CUT_OFF, "cannot be read"),
    ],
)
def test_an_image_that_cannot_be_read(read_model, found, tmp_path: Path, content: bytes | None, reason: str):
    if content is not None:
        (tmp_path / "hill.png").write_bytes(content)
    asset = read_model(heightmap("<uri>hill.png</uri><size>1 1 1</size>"))
    assert not asset.shapes
    (finding,) = found("sdf-geometry-not-carried")
    assert reason in finding.message
    assert finding.where.line == 4
    assert asset.extras.get("gazebo", "c", "geometry/heightmap/uri") == "hill.png"


def test_a_floor_plan_stands_where_it_is_dark(read_model, tmp_path: Path):
    plan = np.full((3, 4), 255, dtype=np.uint8)
    plan[0, :] = 0
    plan[1:, 1] = 199
    Image.fromarray(plan).save(tmp_path / "plan.png")
    shapes = read_model(
        """<link name="l"><collision name="c"><pose>0 0 1 0 0 0</pose><geometry><image><uri>plan.png</uri>
        <scale>0.5</scale><height>2</height><threshold>200</threshold><granularity>1</granularity></image></geometry>
        <surface><friction><ode><mu>0.3</mu></ode></friction></surface></collision></link>"""
    ).shapes
    boxes = {(*shape.pose.p.tolist(), *shape.geometry.size.tolist()) for shape in shapes}
    # four pixels in the top row and two below, each 0.5 x 0.5 x 2
    assert boxes == {(1.0, 0.25, 2.0, 2.0, 0.5, 2.0), (0.75, 1.0, 2.0, 0.5, 1.0, 2.0)}
    assert [shape.name for shape in shapes] == ["c", "c_2"]
    assert all(shape.collision and shape.physics_material for shape in shapes)
