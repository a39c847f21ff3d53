# SPDX-License-Identifier: Apache-2.0
"""Two stages that compose to the same are told from those that do not."""

from __future__ import annotations

from functools import reduce
from pathlib import Path

import pytest
from pxr import Usd

from simwright.sanitizer.stage_changes import compose_alike

WHOLE = """#usda 1.0
(
    defaultPrim = "robot"
    metersPerUnit = 1
    upAxis = "Z"
)
def Xform "robot" (
    kind = "component"
    prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI", "MaterialBindingAPI"]
)
{
    float physics:mass = 2
    asset picture = @./wood.png@
    rel material:binding = </robot/looks>
    double3 xformOp:translate.timeSamples = { 0: (0, 0, 0), 1: (1, 0, 0) }
    uniform token[] xformOpOrder = ["xformOp:translate"]
    def Material "looks" {}
    def Cube "box" {
        double size = 2
    }
}
"""
ENTRY = """#usda 1.0
(
    defaultPrim = "robot"
    metersPerUnit = 1
    upAxis = "Z"
    subLayers = [@./physics.usda@, @./base.usda@]
)
def Xform "robot" ( kind = "assembly" )
{
    reorder nameChildren = ["looks", "box"]
}
"""
PHYSICS = """#usda 1.0
over "robot" ( prepend apiSchemas = ["PhysicsMassAPI", "PhysicsRigidBodyAPI"] )
{
    float physics:mass = 2
}
"""
BASE = """#usda 1.0
def Xform "robot" ( prepend apiSchemas = ["MaterialBindingAPI"] )
{
    asset picture = @./wood.png@
    rel material:binding = </robot/looks>
    double3 xformOp:translate.timeSamples = { 0: (0, 0, 0), 1: (1, 0, 0) }
    uniform token[] xformOpOrder = ["xformOp:translate"]
    def Cube "box" ( payload = @./shapes.usda@</box> ) {}
    def Material "looks" {}
}
"""
SHAPES = """#usda 1.0
def Cube "box" {
        double size = 2
    }
"""


def compare(folder: Path, *changes: tuple[str, str]) -> bool:
    """The asset in one file against the one in layers, with words of the layers exchanged."""
    one, other = folder / "one", folder / "other"
    texts = {"robot": ENTRY, "physics": PHYSICS, "base": BASE, "shapes": SHAPES}
    for place in (one, other):
        place.mkdir()
        (place / "wood.png").write_bytes(b"")
        (place / "steel.png").write_bytes(b"")
    (one / "robot.usda").write_text(WHOLE)
    for name, text in texts.items():
        changed = reduce(lambda known, change: known.replace(*change), changes, text)
        (other / f"{name}.usda").write_text(changed)
    return compose_alike(*(Usd.Stage.Open(str(place / "robot.usda")) for place in (one, other)))


def test_opinions_may_be_said_in_other_layers(tmp_path: Path) -> None:
    """Schemas in another order, metadata and where the folder is do not count."""
    assert compare(tmp_path)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("physics:mass = 2", "physics:mass = 2.0000002"),
        ("float physics:mass", "double physics:mass"),
        ('"PhysicsMassAPI", ', ""),
        ("size = 2", "size = 3"),
        ("wood.png", "steel.png"),
        ("@./wood.png@", '@./wood.png@ (colorSpace = "raw")'),
        ("picture = @./wood.png@", "picture.timeSamples = { 0: @./wood.png@ }"),
        ("rel material:binding = </robot/looks>", "rel material:binding = </robot/box>"),
        ("1: (1, 0, 0)", "2: (1, 0, 0)"),
        ("1: (1, 0, 0)", "1: (2, 0, 0)"),
        ('reorder nameChildren = ["looks", "box"]', ""),
        ('def Material "looks" {}', 'def Material "looks" {}\ndef Scope "more" {}'),
        ('def Material "looks"', 'def Scope "looks"'),
        ('def Material "looks"', 'over Material "looks"'),
        ('def Material "looks" {}', 'def Material "looks" ( active = false ) {}'),
        ("metersPerUnit = 1", "metersPerUnit = 0.01"),
        ('upAxis = "Z"', 'upAxis = "Y"'),
        ("    subLayers", "    kilogramsPerUnit = 2\n    subLayers"),
        ("    subLayers", "    timeCodesPerSecond = 60\n    subLayers"),
    ],
)
def test_anything_else_is_a_change(tmp_path: Path, old: str, new: str) -> None:
    assert not compare(tmp_path, (old, new))
