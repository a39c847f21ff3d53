"""Assets in notebooks."""

from __future__ import annotations

import base64
import io
import re

from PIL import Image
from tests.conftest import SAMPLES

import simwright
from simwright.model.asset import Asset, Body


def test_an_asset_shows_a_picture_above_its_tables():
    asset = simwright.load(SAMPLES / "box" / "box.usda")
    shown = asset._repr_mimebundle_()
    assert shown["text/plain"] == repr(asset)
    content = re.match(
        r'<img alt="box" width="640" src="data:image/jpeg;base64,([^"]*)">', shown["text/html"]
    )[1]
    with Image.open(io.BytesIO(base64.b64decode(content))) as image:
        assert image.size == (800, 500)
    assert shown["text/html"].endswith(asset._repr_html_())


def test_what_cannot_be_drawn_shows_its_tables():
    asset = Asset("bare", bodies=[Body("a")])
    assert asset._repr_mimebundle_()["text/html"] == asset._repr_html_()


def test_the_page_of_an_asset_is_a_frame():
    view = simwright.load(SAMPLES / "box" / "box.usda").view(height=300)
    try:
        assert view.address.startswith("http://127.0.0.1:")
        assert f'src="{view.address}"' in view._repr_html_()
        assert 'height="300"' in view._repr_html_()
    finally:
        view.close()
