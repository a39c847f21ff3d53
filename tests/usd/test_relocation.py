# SPDX-License-Identifier: Apache-2.0
"""Moving prims and what they say: in sublayers, behind references, in variants; never out of an instance."""

from __future__ import annotations

from pathlib import Path

import pytest
from pxr import Sdf, Usd

from simwright.usd.edit import Editor, Refused
from simwright.usd.plugins import register_plugins
from simwright.usd.relocation import claim_name, map_path, move_apis, move_prim, remove_prim

TOPIC = 'string ros:topic:name = "scan"\n'


@pytest.fixture(autouse=True)
def _plugins() -> None:
    register_plugins()


def open_editor(folder: Path, **texts: str) -> Editor:
    """An editor for the first layer; all of them are the asset's own."""
    for name, text in texts.items():
        (folder / f"{name}.usda").write_text(f"#usda 1.0\n{text}")
    stage = Usd.Stage.Open(str(folder / f"{next(iter(texts))}.usda"))
    return Editor(stage, [layer.identifier for layer in stage.GetUsedLayers()])


def read(folder: Path, name: str) -> Sdf.Layer:
    return Sdf.Layer.FindOrOpen(str(folder / f"{name}.usda"))


def test_a_prim_moves_in_every_sublayer_and_relationships_follow(tmp_path: Path) -> None:
    editor = open_editor(
        tmp_path,
        root='(subLayers = [@./ros.usda@])\nover "robot"\n{\n    rel tool = </robot/a/scan.ros:topic:name>\n}\n',
        ros=f'def "robot"\n{{\n    def "a"\n    {{\n        def "scan"\n{{\n{TOPIC}}}\n    }}\n    def "b" {{}}\n}}\n',
    )
    move_prim(editor, editor.find_prim("/robot/a/scan"), Sdf.Path("/robot/b/laser"))
    editor.make_edits()
    assert editor.stage.GetPrimAtPath("/robot/b/laser").GetAttribute("ros:topic:name").Get() == "scan"
    assert not editor.stage.GetPrimAtPath("/robot/a/scan")
    targets = editor.stage.GetPrimAtPath("/robot").GetRelationship("tool").GetTargets()
    assert targets == [Sdf.Path("/robot/b/laser.ros:topic:name")]
    assert editor.expected.moved == {"/robot/a/scan": "/robot/b/laser"}


def test_behind_a_reference_the_path_of_that_layer_counts(tmp_path: Path) -> None:
    editor = open_editor(
        tmp_path,
        world='def "world"\n{\n    def "left" (references = @./robot.usda@</robot>) {}\n}\n',
        robot='def "robot"\n{\n    def Xform "base" (prepend apiSchemas = ["RosTopicAPI"])\n    {\n'
        f"        {TOPIC}    }}\n}}\n",
    )
    prim = editor.find_prim("/world/left/base")
    move_apis(editor, prim, ["RosTopicAPI"], Sdf.Path("/world/left/base/scan"))
    editor.make_edits()
    layer = read(tmp_path, "robot")
    assert layer.GetPrimAtPath("/robot/base/scan").properties["ros:topic:name"].default == "scan"
    assert not layer.GetPrimAtPath("/robot/base").properties
    assert "RosTopicAPI" not in prim.GetAppliedSchemas()


def test_what_a_reference_of_the_prim_brings_comes_along(tmp_path: Path) -> None:
    editor = open_editor(
        tmp_path,
        root='def "robot"\n{\n    def "scan" (references = @./scan.usda@</scan>) {}\n}\n',
        scan=f'def "scan"\n{{\n{TOPIC}}}\n',
    )
    move_prim(editor, editor.find_prim("/robot/scan"), Sdf.Path("/robot/laser"))
    editor.make_edits()
    assert editor.stage.GetPrimAtPath("/robot/laser").GetAttribute("ros:topic:name").Get() == "scan"
    assert read(tmp_path, "scan").GetPrimAtPath("/scan") is not None


def test_a_prim_of_a_variant_stays_in_its_variant(tmp_path: Path) -> None:
    editor = open_editor(
        tmp_path,
        root='def "robot" (\n    variants = {string v = "x"}\n    prepend variantSets = "v"\n)\n{\n'
        f'    variantSet "v" = {{\n        "x" {{\n            def "scan"\n{{\n{TOPIC}}}\n        }}\n    }}\n}}\n',
    )
    move_prim(editor, editor.find_prim("/robot/scan"), Sdf.Path("/robot/laser"))
    editor.make_edits()
    assert editor.root.GetPrimAtPath("/robot{v=x}laser") is not None
    assert editor.root.GetPrimAtPath("/robot{v=x}scan") is None


def test_removing_a_prim_lets_go_of_it(tmp_path: Path) -> None:
    editor = open_editor(
        tmp_path,
        root='def "robot"\n{\n    rel tool = [</robot/a>, </robot/b>]\n    def "a" {}\n    def "b" {}\n}\n',
    )
    remove_prim(editor, editor.find_prim("/robot/a"))
    editor.make_edits()
    robot = editor.stage.GetPrimAtPath("/robot")
    assert robot.GetRelationship("tool").GetTargets() == [Sdf.Path("/robot/b")]
    assert editor.expected.removed == {"/robot/a"}


def test_other_edits_of_a_fix_still_find_a_prim_that_moves(tmp_path: Path) -> None:
    editor = open_editor(tmp_path, root='def "robot"\n{\n    def "a" {}\n}\n')
    old = Sdf.Path("/robot/a")
    move_prim(editor, editor.find_prim("/robot/a"), Sdf.Path("/robot/b"))

    def document() -> None:
        editor.root.GetPrimAtPath(old).documentation = "a part"

    editor.add(editor.root, old, "documented", document)
    editor.make_edits()
    assert editor.root.GetPrimAtPath("/robot/b").documentation == "a part"


def test_layers_of_others_and_instances_are_left_alone(tmp_path: Path) -> None:
    editor = open_editor(
        tmp_path,
        root='def "robot"\n{\n    def "left" (\n        instanceable = true\n'
        "        references = @./part.usda@</part>\n"
        '    ) {}\n    def "right" (references = @./part.usda@</part>) {}\n}\n',
        part='def "part"\n{\n    def "scan" {}\n}\n',
    )
    with pytest.raises(Refused, match="inside an instance"):
        remove_prim(editor, editor.find_prim("/robot/left/scan"))
    editor.own = frozenset({editor.root.identifier})
    with pytest.raises(Refused, match="belongs to another asset"):
        move_prim(editor, editor.find_prim("/robot/right/scan"), Sdf.Path("/robot/right/laser"))


def test_a_place_beyond_an_arc_is_refused() -> None:
    old, new = Sdf.Path("/world/left/base/scan"), Sdf.Path("/world/Interfaces/scan")
    with pytest.raises(Refused, match="brought in by a reference"):
        map_path(Sdf.Path("/robot/base/scan"), old, new)
    assert map_path(Sdf.Path("/robot/base/scan"), old, Sdf.Path("/world/left/base/x/y")) == "/robot/base/x/y"


def test_names_are_not_given_twice(tmp_path: Path) -> None:
    editor = open_editor(tmp_path, root='def "robot"\n{\n    def "scan" {}\n}\n')
    editor.expected.added.add("/robot/scan_2")
    assert claim_name(editor, Sdf.Path("/robot"), "scan") == "scan_3"
    assert claim_name(editor, Sdf.Path("/robot"), "laser") == "laser"


def test_a_layer_that_is_gone_is_told_by_its_name_alone(tmp_path: Path) -> None:
    file = tmp_path / "root.usda"
    Sdf.Layer.CreateNew(str(file)).Save()
    editor = Editor(Usd.Stage.Open(str(file)), [str(file)])
    with pytest.raises(Refused, match=r"^another fix has put another layer in the place of robot\.usd$"):
        editor.find_layer(str(tmp_path / "robot.usd"))
