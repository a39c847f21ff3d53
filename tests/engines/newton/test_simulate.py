"""Newton as an engine: what is said where it is absent, and settings that are checked without it."""

from __future__ import annotations

import sys

import pytest

from simwright.core.errors import MissingExtraError, UnknownNameError
from simwright.engines.protocol import Settings
from simwright.engines.table import load_engine
from simwright.scenes.document import parse_scene
from simwright.scenes.load import assemble_scene

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
        load_engine("newton").open(model, Settings())
    assert "simwright[newton]" in caught.value.hint


def test_words_are_checked_first(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "newton", None)
    with pytest.raises(UnknownNameError, match="unknown solver of newton 'xpdb'"):
        load_engine("newton").open(model, Settings(solver="xpdb"))
    with pytest.raises(UnknownNameError, match="device"):
        load_engine("newton").open(model, Settings(device="tpu"))
