"""Newton as an engine: what is said where it is absent, and settings that are checked without it."""

from __future__ import annotations

import sys

import pytest

from simwright.core.errors import MissingExtraError, UnknownNameError
from simwright.engines.protocol import Settings
from simwright.scenes.document import parse_scene
from simwright.scenes.load import assemble_scene
from simwright.scenes.simulation import open_scene

SCENE = """
bodies: [{id: ball, transform: {p: [0, 0, 1]}, shapes: [{type: sphere, radius: 0.1}]}]
joints: [{id: float, type: free, child: ball}]
articulations: [{id: a, joints: [float]}]
"""


@pytest.fixture
def model():
    return assemble_scene(parse_scene(SCENE)).model


def test_the_install_line_is_given(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "newton", None)
    with pytest.raises(MissingExtraError) as caught:
        open_scene(model, engine="newton")
    assert "simwright[newton]" in caught.value.hint


def test_words_are_checked_first(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "newton", None)
    with pytest.raises(UnknownNameError, match="unknown solver of newton 'xpdb'"):
        open_scene(model, Settings(solver="xpdb"), engine="newton")
    with pytest.raises(UnknownNameError, match="device"):
        open_scene(model, Settings(device="tpu"), engine="newton")
