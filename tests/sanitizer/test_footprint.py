"""What edits change on a stage: transforms alone, or more."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pxr import Gf, Sdf, Usd

from simwright.sanitizer.stage_changes import StageChanges, have_same_poses, read_poses
from simwright.usd.edit import Editor

TEXT = """#usda 1.0
def Xform "robot" (prepend apiSchemas = ["PhysicsMassAPI"])
{
    double3 xformOp:translate = (1, 2, 3)
    uniform token[] xformOpOrder = ["xformOp:translate"]
    float physics:mass = 2
    def Cube "box" {}
}
"""


def edit_stage(ask: Callable[[Editor], None]) -> StageChanges:
    stage = Usd.Stage.CreateInMemory()
    stage.GetRootLayer().ImportFromString(TEXT)
    footprint = StageChanges()
    editor = Editor(stage, [stage.GetRootLayer().identifier])
    with footprint.watch(stage):
        ask(editor)
        footprint.classify_edits(editor.make_edits())
    return footprint


def turn(editor: Editor) -> None:
    prim = editor.find_prim("/robot")
    editor.set_value(prim, "xformOp:orient", Sdf.ValueTypeNames.Quatd, Gf.Quatd(1))
    order = ["xformOp:translate", "xformOp:orient"]
    editor.set_value(prim, "xformOpOrder", Sdf.ValueTypeNames.TokenArray, order, uniform=True)


def count_seconds(editor: Editor) -> None:
    editor.set_layer_info("timeCodesPerSecond", 1.0)


def weigh(editor: Editor) -> None:
    editor.set_value(editor.find_prim("/robot"), "physics:mass", Sdf.ValueTypeNames.Float, 3.0)


def remove(editor: Editor) -> None:
    spec = editor.root.GetPrimAtPath("/robot")

    def apply() -> None:
        del spec.nameChildren["box"]

    editor.add(editor.root, Sdf.Path("/robot/box"), "no box", apply)


@pytest.mark.parametrize("ask", [turn, count_seconds, lambda e: e.set_layer_info("kilogramsPerUnit", 1.0)])
def test_transforms_and_units_are_light(ask: Callable[[Editor], None]) -> None:
    footprint = edit_stage(ask)
    assert footprint.only_transforms
    assert not footprint.recomposed


def test_a_mass_is_more_than_a_transform() -> None:
    footprint = edit_stage(weigh)
    assert not footprint.only_transforms
    assert not footprint.recomposed


def test_a_prim_less_is_another_stage() -> None:
    footprint = edit_stage(remove)
    assert footprint.recomposed
    assert not footprint.only_transforms


@pytest.mark.parametrize("other", [weigh, remove])
def test_what_happens_beside_a_new_rate_is_not_overlooked(other: Callable[[Editor], None]) -> None:
    def ask(editor: Editor) -> None:
        count_seconds(editor)  # composes everything anew, and OpenUSD tells nothing else
        other(editor)

    assert not edit_stage(ask).only_transforms


def test_a_scale_shows_where_places_do_not() -> None:
    outlines = []
    for scale in (1, 2):
        stage = Usd.Stage.CreateInMemory()
        stage.GetRootLayer().ImportFromString(
            f'#usda 1.0\ndef Xform "robot"\n{{\n    double3 xformOp:scale = ({scale}, {scale}, {scale})\n'
            '    uniform token[] xformOpOrder = ["xformOp:scale"]\n}\n'
        )
        outlines.append(read_poses(stage))
    assert have_same_poses(outlines[0], outlines[0], 1e-6)
    assert not have_same_poses(outlines[0], outlines[1], 1e-6)


def apply_schema(editor: Editor) -> None:
    editor.add_api(editor.find_prim("/robot"), "PhysicsRigidBodyAPI")
    weigh(editor)


def apply_schema_and_define(editor: Editor) -> None:
    """OpenUSD tells the same: what comes below a prim that is composed anew is not named."""
    apply_schema(editor)
    path = Sdf.Path("/robot/arm")
    editor.add(editor.root, path, "def Scope arm", lambda: Sdf.CreatePrimInLayer(editor.root, path))


def test_applied_schemas_bring_in_nothing() -> None:
    footprint = edit_stage(apply_schema)
    assert not footprint.recomposed
    assert not footprint.only_transforms
    assert edit_stage(apply_schema_and_define).recomposed


def test_layers_alone_are_told_from_values() -> None:
    """A block that is meant to move opinions between layers does not count; every other does, but for metadata."""
    stage = Usd.Stage.CreateInMemory()
    stage.GetRootLayer().ImportFromString(TEXT)
    footprint = StageChanges()
    own = [stage.GetRootLayer().identifier]
    for ask, within, expected in (
        (remove, True, True),
        (count_seconds, False, True),
        (turn, False, False),
        (count_seconds, True, False),
    ):
        editor = Editor(stage, own)
        with footprint.watch(stage):
            ask(editor)
            footprint.classify_edits(editor.make_edits(), within_layers=within)
        assert footprint.only_layers is expected
