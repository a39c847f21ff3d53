# SPDX-License-Identifier: Apache-2.0
"""The registry as data, read from the schema layers."""

from __future__ import annotations

from pathlib import Path

import pytest

from simwright.core.errors import LimitError, NotFoundError, ParseError, UnknownNameError
from simwright.usd.registry import (
    classify_schema,
    find_class,
    find_extension,
    list_classes,
    list_extensions,
    open_layer,
    read_extension,
)
from simwright.usd.text import map_lines


def test_list_starts_with_the_core() -> None:
    names = [extension.name for extension in list_extensions()]
    assert names[0] == "ros"
    assert names[1:] == sorted(names[1:])
    assert {"ros_control_diff_drive", "extended_physics_mimic"} <= set(names)


def test_every_class_and_property_is_documented_and_placed() -> None:
    for extension, schema in list_classes():
        text = (extension.folder / "schema.usda").read_text().splitlines()
        assert schema.doc
        assert schema.line
        assert f'class "{schema.name}"' in text[schema.line - 1]
        for prop in schema.properties:
            assert prop.doc, prop.name
            assert prop.line
            assert f" {prop.name} " in text[prop.line - 1] + " "


def test_numbers_have_units() -> None:
    """Every number that is not a ratio says its unit in brackets."""
    without = {
        prop.name
        for _, schema in list_classes()
        for prop in schema.properties
        if prop.type in ("float", "float[]", "double") and "[" not in prop.doc
    }
    assert without == {"ext_physics:actuator:gear"}


@pytest.mark.parametrize(
    "name", ["ros_control_diff_drive", "usdRosControlDiffDrive", "RosControlDiffDriveAPI"]
)
def test_find_extension(name: str) -> None:
    assert find_extension(name).name == "ros_control_diff_drive"


def test_find_class() -> None:
    schema = find_class("RosTopicAPI")
    prop = next(prop for prop in schema.properties if prop.name == "ros:topic:qos:reliability")
    assert prop.allowed_tokens == ("system_default", "reliable", "best_effort")
    assert (prop.default, prop.type, prop.variability) == ("system_default", "token", "uniform")
    assert schema.cpp_name == "UsdRosTopicAPI"


def test_unknown_names_list_near_ones() -> None:
    with pytest.raises(UnknownNameError, match="did you mean") as caught:
        find_extension("RosTopicApi")
    assert "RosTopicAPI" in caught.value.hint
    with pytest.raises(UnknownNameError):
        find_class("Nothing")


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("RosTopicAPI", "core"),
        ("RosControlExternalAPI", "control"),
        ("RosMapAPI", "ros"),
        ("ExtendedPhysicsMimicAPI", "physics"),
        ("SensorLidarAPI", "sensor"),
        ("NewtonMimicAPI", "other"),
    ],
)
def test_classify(name: str, family: str) -> None:
    assert classify_schema(name) == family


def test_broken_layers(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        read_extension(tmp_path)
    (tmp_path / "schema.usda").write_text('#usda 1.0\n\nclass "A"\n{\n    float = 1\n}\n')
    with pytest.raises(ParseError) as caught:
        read_extension(tmp_path)
    assert caught.value.where is not None
    assert caught.value.where.line == 5
    (tmp_path / "schema.usda").write_bytes(b"\x00\xff not a layer")
    with pytest.raises(ParseError):
        read_extension(tmp_path)


def test_a_library_without_code_says_so(tmp_path: Path) -> None:
    head = '#usda 1.0\nover "GLOBAL" (\n    customData = {\n        string libraryName = "rig"\n%s    }\n)\n{\n}\n'
    for said, codeless in (("", False), ("        bool skipCodeGeneration = true\n", True)):
        (tmp_path / "schema.usda").write_text(head % said)
        found = read_extension(tmp_path)
        assert (found.library, found.codeless) == ("rig", codeless)


def test_size_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simwright.usd.registry.MAX_SCHEMA_BYTES", 8)
    (tmp_path / "schema.usda").write_text("#usda 1.0\n")
    with pytest.raises(LimitError):
        open_layer(tmp_path / "schema.usda")


def test_multiple_apply_names_hold_the_instance(tmp_path: Path) -> None:
    (tmp_path / "schema.usda").write_text(
        '#usda 1.0\nclass "SensorBeamAPI" (\n    customData = {\n'
        '        token apiSchemaType = "multipleApply"\n'
        '        token propertyNamespacePrefix = "sensor:beam"\n    }\n)\n{\n    float width = 1\n}\n'
    )
    schema = read_extension(tmp_path).classes[0]
    assert schema.kind == "multipleApply"
    assert schema.properties[0].name == "sensor:beam:__INSTANCE_NAME__:width"


def test_lines_ignore_documentation() -> None:
    text = '''#usda 1.0
class "A" (
    doc = """class "B" (
    float x:y = 1
    """
)
{
    float x:y = 1 (
        doc = "float x:z = 2 ( or )"
    )
    custom uniform token[] x:z
    rel x:r
}
'''
    lines = map_lines(text)
    assert lines.find("/A") == 2
    assert lines.find("/A", "x:y") == 8
    assert lines.find("/A", "x:z") == 11
    assert lines.find("/A", "x:r") == 12
    assert lines.find("/A", "none") == 2
    assert lines.find("/B") is None


def test_lines_follow_the_hierarchy() -> None:
    text = """#usda 1.0
def Xform "A" (
    customData = {
        int x = 1
    }
)
{
    def Xform "B" {
        float x.timeSamples = {
            0: 1,
        }
        float y = 2  # }
    }
    float x = 3
}
"""
    lines = map_lines(text)
    assert lines.prims == {"/A": 2, "/A/B": 8}
    assert lines.properties == {("/A/B", "x"): 9, ("/A/B", "y"): 12, ("/A", "x"): 14}
