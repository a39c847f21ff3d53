# SPDX-License-Identifier: Apache-2.0
"""Submissions: ours pass without a finding, and each way to break one gives its own code."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from simwright.app.cli.registry import convert_source, run_case
from simwright.core.diag import Diagnostic, Level, Reporter
from simwright.core.errors import NotFoundError
from simwright.usd.plugins import SCHEMAS, list_plugin_folders
from simwright.usd.submission import validate_submission

FOLLOWS = {"submission-generated-stale", "submission-pluginfo-stale", "submission-docs-silent"}
"""What every change of schema.usda brings with it as long as nothing is generated and described anew."""

END = "}\n"
PHYSICS = "extended_physics_mimic"
CONTROL = "ros_control_diff_drive"


def copy(name: str, tmp_path: Path) -> Path:
    return Path(shutil.copytree(SCHEMAS / name, tmp_path / name))


def validate(folder: Path) -> list[Diagnostic]:
    reporter = Reporter()
    validate_submission(folder, reporter)
    return reporter.found


def codes(folder: Path) -> set[str]:
    return {found.kind for found in validate(folder)}


def replace(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text, old
    file.write_text(text.replace(old, new, 1))


def add_property(folder: Path, line: str, doc: str = 'doc = "Words [m]."') -> int:
    """Declare a property at the end of the last class; gives its line."""
    file = folder / "schema.usda"
    text = file.read_text()
    assert text.endswith(END)
    text = text[: -len(END)] + f"\n    {line} (\n        {doc}\n    )\n{END}"
    file.write_text(text)
    return next(n for n, row in enumerate(text.splitlines(), 1) if row == f"    {line} (")


@pytest.mark.parametrize("folder", list_plugin_folders(), ids=lambda folder: folder.name)
def test_our_extensions_pass(folder: Path) -> None:
    reporter = Reporter()
    extension = validate_submission(folder, reporter, None, run_case, convert_source)
    assert [str(found) for found in reporter] == []
    assert extension is not None
    assert extension.name == folder.name


@pytest.mark.parametrize(
    ("base", "line", "code"),
    [
        (PHYSICS, "float newton:mimic:gain", "submission-vendor-prefix"),
        (PHYSICS, "float physxJoint:gain", "submission-vendor-prefix"),
        (PHYSICS, "float physics:gain", "submission-core-prefix"),
        (PHYSICS, "float mimic:gain:x", "submission-property-prefix"),
        (PHYSICS, "float ros:mimic:gain", "submission-property-prefix"),
        (PHYSICS, "float ext_physics:gain", "submission-subnamespace"),
        (CONTROL, "float ext_physics:drive:gain", "submission-property-prefix"),
        (CONTROL, "float ros:gain", "submission-subnamespace"),
        (CONTROL, "float ros:joint:gain", "submission-reserved-namespace"),
        (CONTROL, "string ros:diff_drive:frame_id", "submission-transport"),
        (CONTROL, "string ros:diff_drive:cmdTopic", "submission-transport"),
        (CONTROL, "token ros:diff_drive:qos:policy", "submission-transport"),
        (CONTROL, 'string ros:diff_drive:kind = "nav_msgs/msg/Odometry"', "submission-transport"),
        (PHYSICS, "float ext_physics:mimic:lowerLimit", "submission-native-duplicate"),
        (PHYSICS, "float ext_physics:mimic:mass", "submission-native-duplicate"),
        (CONTROL, "bool ros:diff_drive:reset_pose", "submission-control-sim-state"),
    ],
)
def test_property(tmp_path: Path, base: str, line: str, code: str) -> None:
    folder = copy(base, tmp_path)
    number = add_property(folder, line)
    found = [d for d in validate(folder) if d.kind not in FOLLOWS]
    assert [d.kind for d in found] == [code]
    assert found[0].where.file == str(folder / "schema.usda")
    assert found[0].where.line == number
    assert found[0].hint
    assert line.split()[1] in found[0].message


def test_relationship_may_be_called_topic(tmp_path: Path) -> None:
    folder = copy(CONTROL, tmp_path)
    add_property(folder, "rel ros:diff_drive:topic")
    assert codes(folder) <= FOLLOWS


@pytest.mark.parametrize(
    ("base", "old", "new", "expected"),
    [
        (PHYSICS, 'class "Ext', 'class PhysicsScene "Ext', {"submission-not-api"}),
        (PHYSICS, '"singleApply"', '"nonApplied"', {"submission-not-api"}),
        (PHYSICS, "skipCodeGeneration = true", "skipCodeGeneration = false", {"submission-not-codeless"}),
        (PHYSICS, 'string libraryName = "usdExtendedPhysicsMimic"', "", {"submission-no-library"}),
        (
            PHYSICS,
            "ExtendedPhysicsMimicAPI",
            "NewtonMimicAPI",
            {"submission-vendor-prefix", "submission-example-unused"},
        ),
        (
            PHYSICS,
            "ExtendedPhysicsMimicAPI",
            "PhysicsMimicAPI",
            {"submission-core-prefix", "submission-example-unused"},
        ),
        (CONTROL, '["RosControlIntegratedAPI"]', '["PhysxVehicleAPI"]', {"submission-vendor-prefix"}),
        (
            PHYSICS,
            'doc = "Whether the rule is in force. When false the joint moves freely."',
            "",
            {"submission-undocumented"},
        ),
        ("ros", "ros:topic:qos:depth = 10", "ros:topic:qos:depth = 5", {"submission-core-differs"}),
        (
            "ros",
            "uniform string ros:frame:id (",
            'uniform string ros:frame:prefix (\n        doc = "P."\n    )\n    uniform string ros:frame:id (',
            {"submission-core-differs"},
        ),
    ],
)
def test_class(tmp_path: Path, base: str, old: str, new: str, expected: set[str]) -> None:
    folder = copy(base, tmp_path)
    replace(folder / "schema.usda", old, new)
    assert codes(folder) - FOLLOWS == expected


def test_unprefixed_class(tmp_path: Path) -> None:
    folder = copy(PHYSICS, tmp_path)
    for name in ("schema.usda", "example.usda", "README.md", "generatedSchema.usda", "plugInfo.json"):
        file = folder / name
        file.write_text(file.read_text().replace("ExtendedPhysicsMimicAPI", "MimicAPI"))
    assert codes(folder) == {"submission-class-prefix"}


def test_no_class(tmp_path: Path) -> None:
    folder = copy("ros_control_external", tmp_path)
    schema = folder / "schema.usda"
    schema.write_text(schema.read_text().partition("class ")[0])
    assert codes(folder) == {"submission-empty", "submission-generated-stale", "submission-pluginfo-stale"}


def test_controller_without_targets(tmp_path: Path) -> None:
    folder = copy("ros_control_external", tmp_path)
    add_property(folder, "float ros:external:gain")
    assert codes(folder) - FOLLOWS == {"submission-control-no-targets"}


SENSOR = """#usda 1.0

over "GLOBAL" (
    customData = {
        string libraryName = "usdSensor"
        string libraryPrefix = "Usd"
        bool skipCodeGeneration = true
    }
)
{
}

class "%s" (
    inherits = </APISchemaBase>
    doc = "A sensor."
    customData = {
        token apiSchemaType = "singleApply"
        token[] apiSchemaCanOnlyApplyTo = [%s]
    }
)
{
    %s (
        doc = "Words."
    )
}
"""


@pytest.mark.parametrize(
    ("name", "types", "line", "expected"),
    [
        ("SensorLidarAPI", '"Xform"', "int sensor:lidar:rays", set()),
        ("SensorCameraAPI", '"Camera"', "int2 sensor:camera:resolution", set()),
        ("SensorCameraAPI", '"Xform"', "int2 sensor:camera:resolution", {"submission-sensor-prim"}),
        ("SensorLidarAPI", "", "int sensor:lidar:rays", {"submission-sensor-prim"}),
        ("SensorCameraAPI", '"Camera"', "float sensor:camera:focal_length", {"submission-native-duplicate"}),
        ("SensorCameraAPI", '"Camera"', "bool sensor:camera:semanticLabels", {"submission-ground-truth"}),
        ("SensorCameraAPI", '"Camera"', "bool sensor:camera:bounding_boxes", {"submission-ground-truth"}),
        ("SensorLidarAPI", '"Xform"', "string sensor:lidar:topic", {"submission-transport"}),
        ("SensorLidarAPI", '"Xform"', "int rays", {"submission-subnamespace"}),
        ("SensorLidarAPI", '"Xform"', "int isaac:rays", {"submission-vendor-prefix"}),
        ("SensorLidarAPI", '"Xform"', "int ext_physics:lidar:rays", {"submission-class-prefix"}),
    ],
)
def test_sensor(tmp_path: Path, name: str, types: str, line: str, expected: set[str]) -> None:
    (tmp_path / "schema.usda").write_text(SENSOR % (name, types, line))
    assert codes(tmp_path) - {"submission-file-missing"} == expected


@pytest.mark.parametrize(
    "name", ["schema.usda", "README.md", "example.usda", "plugInfo.json", "generatedSchema.usda"]
)
def test_missing_file(tmp_path: Path, name: str) -> None:
    folder = copy(PHYSICS, tmp_path)
    (folder / name).unlink()
    found = validate(folder)
    assert [d.kind for d in found] == ["submission-file-missing"]
    assert name in found[0].message


@pytest.mark.parametrize("name", ["schema.usda", "example.usda", "generatedSchema.usda", "plugInfo.json"])
@pytest.mark.parametrize("content", [b"", b"#usda 1.0\n(\n", b"\xff\xfe\x00{"])
def test_unreadable_file(tmp_path: Path, name: str, content: bytes) -> None:
    folder = copy(PHYSICS, tmp_path)
    (folder / name).write_bytes(content)
    found = validate(folder)
    assert [d.kind for d in found] == ["submission-unreadable"]
    assert found[0].where.file == str(folder / name)


def test_documentation(tmp_path: Path) -> None:
    folder = copy(PHYSICS, tmp_path)
    readme = folder / "README.md"
    text = readme.read_text()
    readme.write_text("A mimic joint.\n")
    assert codes(folder) == {"submission-docs-thin"}
    readme.write_text(text.replace("ext_physics:mimic:offset", "the offset"))
    found = validate(folder)
    assert [d.kind for d in found] == ["submission-docs-silent"]
    assert "ext_physics:mimic:offset" in found[0].message
    readme.unlink()
    (folder / "docs").mkdir()
    (folder / "docs" / "use.md").write_text(text)
    assert codes(folder) == set()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("multiplier = 1 ", "multiplier = 2 "),
        ("float ext_physics:mimic:offset", "double ext_physics:mimic:offset"),
        ("float ext_physics:mimic:offset", "uniform float ext_physics:mimic:offset"),
        ("ext_physics:mimic:offset", "ext_physics:mimic:shift"),
        ('class "ExtendedPhysicsMimicAPI" (', 'class "ExtendedPhysicsMimicAPI" (\n    apiSchemas = ["XAPI"]'),
        ('class "Ext', 'class "ExtendedPhysicsOtherAPI"\n{\n}\n\nclass "Ext'),
    ],
)
def test_generated_schema_differs(tmp_path: Path, old: str, new: str) -> None:
    folder = copy(PHYSICS, tmp_path)
    replace(folder / "generatedSchema.usda", old, new)
    found = validate(folder)
    assert {d.kind for d in found} == {"submission-generated-stale"}
    assert {d.where.file for d in found} == {str(folder / "generatedSchema.usda")}
    assert all(d.where.line for d in found)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"Name": "usdExtendedPhysicsMimic"', '"Name": "usdOther"'),
        ('"Type": "resource"', '"Type": "library"'),
        ('"schemaKind": "singleApplyAPI"', '"schemaKind": "multipleApplyAPI"'),
        ('"PhysicsRevoluteJoint",', ""),
        ('"UsdExtendedPhysicsMimicAPI": {', '"Other": {}, "UsdExtendedPhysicsMimicAPI": {'),
        ('"UsdExtendedPhysicsMimicAPI": {', '"UsdOtherAPI": {'),
    ],
)
def test_plug_info_differs(tmp_path: Path, old: str, new: str) -> None:
    folder = copy(PHYSICS, tmp_path)
    replace(folder / "plugInfo.json", old, new)
    found = validate(folder)
    assert {d.kind for d in found} == {"submission-pluginfo-stale"}
    assert any(d.where.line for d in found)


def test_plug_info_may_have_comments(tmp_path: Path) -> None:
    folder = copy(PHYSICS, tmp_path)
    file = folder / "plugInfo.json"
    file.write_text("# made by usdGenSchema\n" + file.read_text())
    assert codes(folder) == set()


@pytest.mark.parametrize(
    ("base", "old", "new", "code", "word"),
    [
        (PHYSICS, 'defaultPrim = "gripper"', "", "metadata", "default prim"),
        (PHYSICS, "metersPerUnit = 1", "metersPerUnit = 0.01", "metadata", "metersPerUnit"),
        (PHYSICS, "kilogramsPerUnit = 1", "", "metadata", "kilogramsPerUnit"),
        (PHYSICS, "timeCodesPerSecond = 1", "", "metadata", "timeCodesPerSecond"),
        (PHYSICS, 'upAxis = "Z"', 'upAxis = "Y"', "metadata", "upAxis"),
        (PHYSICS, 'kind = "component"', "", "metadata", "kind"),
        (PHYSICS, 'string version = "1.0.0"', "", "metadata", "version"),
        (PHYSICS, 'string identifier = "', 'string name = "', "metadata", "identifier"),
        (
            PHYSICS,
            "float ext_physics:mimic:multiplier",
            "double ext_physics:mimic:multiplier",
            "property",
            "float",
        ),
        (PHYSICS, "float ext_physics:mimic:offset", "float ext_physics:mimic:shift", "property", "shift"),
        (PHYSICS, "</gripper/palm/left_joint>", "</gripper/palm/no_joint>", "property", "no_joint"),
        (
            PHYSICS,
            'PhysicsPrismaticJoint "right',
            'PhysicsFixedJoint "right',
            "prim-type",
            "PhysicsFixedJoint",
        ),
        ("ros", 'role = "publisher"', 'role = "talker"', "property", "talker"),
        (
            CONTROL,
            "cmd_vel_timeout = 0.25",
            "cmd_vel_timeout.timeSamples = { 0: 0.25 }",
            "property",
            "uniform",
        ),
        ("ros", '["RosTopicAPI"]', '["GeomModelAPI"]', "not-applied", "RosTopicAPI"),
    ],
)
def test_example(tmp_path: Path, base: str, old: str, new: str, code: str, word: str) -> None:
    folder = copy(base, tmp_path)
    replace(folder / "example.usda", old, new)
    found = [d for d in validate(folder) if d.kind != "submission-example-unused"]
    assert {d.kind for d in found} == {f"submission-example-{code}"}
    assert word in found[0].message
    if found[0].where.prop:
        row = (folder / "example.usda").read_text().splitlines()[(found[0].where.line or 0) - 1]
        assert found[0].where.prop in row


def test_a_schema_that_comes_twice_is_looked_at_once(tmp_path: Path) -> None:
    """It is applied, and built into another one that is applied."""
    folder = copy(PHYSICS, tmp_path)
    replace(
        folder / "schema.usda",
        "inherits = </APISchemaBase>",
        'inherits = </APISchemaBase>\n    prepend apiSchemas = ["ExtendedPhysicsJointAPI"]',
    )
    replace(
        folder / "example.usda",
        '["PhysicsRigidBodyAPI"',
        '["ExtendedPhysicsMimicAPI", "ExtendedPhysicsJointAPI", "PhysicsRigidBodyAPI"',
    )
    found = [d.message for d in validate(folder) if d.kind == "submission-example-prim-type"]
    assert len(found) == 2
    for name in ("ExtendedPhysicsMimicAPI", "ExtendedPhysicsJointAPI"):
        assert sum(name in message for message in found) == 1


def test_example_leaves_a_class_out(tmp_path: Path) -> None:
    folder = copy("extended_physics_contact", tmp_path)
    replace(folder / "example.usda", ', "ExtendedPhysicsContactAPI"', "")
    found = validate(folder)
    assert {d.kind for d in found} == {"submission-example-unused", "submission-example-not-applied"}


def test_example_does_not_compose(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = copy(PHYSICS, tmp_path)
    replace(folder / "example.usda", 'kind = "', 'prepend references = @./absent.usda@\n    kind = "')
    assert codes(folder) == {"submission-example-composition"}
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("path", ["../outside.usda", "/outside.usda", "./inner.usda"])
def test_example_stays_in_its_folder(tmp_path: Path, path: str) -> None:
    folder = copy(PHYSICS, tmp_path)
    (tmp_path / "outside.usda").write_text('#usda 1.0\ndef Xform "A"\n{\n}\n')
    (folder / "inner.usda").write_text("#usda 1.0\n(\n    subLayers = [@../outside.usda@]\n)\n")
    replace(folder / "example.usda", "(\n", f"(\n    subLayers = [@{path}@]\n")
    found = validate(folder)
    assert [d.kind for d in found] == ["submission-example-path"]
    assert "outside.usda" in found[0].message


def test_example_may_use_a_file_beside_it(tmp_path: Path) -> None:
    folder = copy(PHYSICS, tmp_path)
    (folder / "inner.usda").write_text('#usda 1.0\nover "gripper"\n{\n}\n')
    replace(folder / "example.usda", "(\n", "(\n    subLayers = [@./inner.usda@]\n")
    assert codes(folder) == set()


def test_checker_is_asked_about_the_example(tmp_path: Path) -> None:
    asked: list[Path] = []
    validate_submission(copy(PHYSICS, tmp_path), Reporter(), lambda file, _: asked.append(file))
    assert asked == [tmp_path / PHYSICS / "example.usda"]


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"schema\.usda"):
        validate_submission(tmp_path / "absent", Reporter())


def test_word_rules_are_errors(tmp_path: Path) -> None:
    """ "Must not" of the REP, though they are found by words."""
    folder = copy(CONTROL, tmp_path)
    add_property(folder, "string ros:diff_drive:frame_id")
    levels = {d.kind: d.level for d in validate(folder)}
    assert levels["submission-transport"] is Level.ERROR


def test_additions_are_required(tmp_path: Path) -> None:
    folder = copy("sensor_lidar", tmp_path)
    (folder / "rules.toml").unlink()
    (folder / "conversion.toml").unlink()
    names = [found.message for found in validate(folder) if found.kind == "submission-file-missing"]
    assert names == ["the submission has no rules.toml", "the submission has no conversion.toml"]


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("# nothing", "submission-rules-empty", "brings no check and no rule"),
        ("check = 3", "submission-unreadable", "no list of tables"),
        ("[[check]", "submission-unreadable", "not valid TOML"),
        ("[[check]]\nproperty = 3", "submission-unreadable", "names no property"),
        ("[[check]]\nproperty = 'sensor:lidar:minRange'\nmin = 3", "submission-unreadable", "has no 'min'"),
        ("[[check]]\nproperty = 'sensor:lidar:minRange'\nabove = []", "submission-unreadable", "above of"),
        ("[[check]]\nproperty = 'sensor:lidar:colour'", "submission-rules-broken", "'sensor:lidar:colour'"),
        ("[[check]]\nproperty = 'sensor:lidar:minRange'\nbelow = 'x'", "submission-rules-broken", "'x'"),
        ("rules = ['sens-prim']", "submission-rules-empty", "needs a case of each kind"),
        ("rules = ['no-such']\n[[case]]\nusda = 'def \"a\" {}'", "submission-case-failed", "no such rule"),
        ("[[case]]\nusda = 'gibberish'", "submission-case-failed", "is no text of OpenUSD"),
    ],
)
def test_rules_that_are_wrong(tmp_path: Path, text: str, code: str, words: str) -> None:
    folder = copy("sensor_lidar", tmp_path)
    (folder / "rules.toml").write_text(text)
    reporter = Reporter()
    validate_submission(folder, reporter, None, run_case, convert_source)
    assert any(found.kind == code and words in found.message for found in reporter), [
        str(f) for f in reporter
    ]


def test_cases_are_run(tmp_path: Path) -> None:
    folder = copy("sensor_lidar", tmp_path)
    # the schema says at least one beam; the case expects a finding, the check no longer makes it
    replace(folder / "rules.toml", "at_least = 1", "at_least = 0")
    messages = [found.message for found in validate(folder) if found.kind == "submission-case-failed"]
    assert len(messages) == 1
    assert "expects 'horizontalSamples is 0'" in messages[0]


@pytest.mark.parametrize(
    ("old", "new", "code", "words"),
    [
        ("= 640", "= 641", "submission-conversion-failed", "is 640, expected is 641"),
        ("<min>0.1</min>", "", "submission-conversion-failed", "is not there, expected is 0.1"),
        ('"sdf"', '"docx"', "submission-conversion-failed", "nothing converts 'docx'"),
        ("<sdf ", "<", "submission-conversion-failed", "cannot be read"),
        (
            '"sensor:lidar:horizontalSamples" = 640',
            '"a:b" = 1',
            "submission-rules-broken",
            "expects no values",
        ),
    ],
)
def test_conversions_are_run(tmp_path: Path, old: str, new: str, code: str, words: str) -> None:
    folder = copy("sensor_lidar", tmp_path)
    replace(folder / "conversion.toml", old, new)
    reporter = Reporter()
    validate_submission(folder, reporter, None, run_case, convert_source)
    assert [found.kind for found in reporter] == [code]
    assert words in reporter.found[0].message


def test_a_reason_instead_of_a_conversion_has_words(tmp_path: Path) -> None:
    folder = copy("sensor_lidar", tmp_path)
    (folder / "conversion.toml").write_text('none = "no"')
    assert codes(folder) == {"submission-rules-empty"}
    (folder / "conversion.toml").write_text('none = "no other format has a word for it"')
    assert codes(folder) == set()
