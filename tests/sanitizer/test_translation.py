"""Engine words become neutral ones where they are said; what neutral words cannot say stays."""

from __future__ import annotations

from pathlib import Path

import pytest
from pxr import Sdf, Usd

import simwright
from simwright.sanitizer.result import FixResult

RULES = ["xphys-no-vendor", "extphys-use", "proprietary-minimal", "isol-minimize", "xphys-lifecycle"]
JOINT = '#usda 1.0\n(metersPerUnit = 1)\ndef PhysicsRevoluteJoint "j"\n{\n%s\n}\n'
COLLIDER = '#usda 1.0\n(metersPerUnit = 1)\ndef Cube "c" (prepend apiSchemas = [%s])\n{\n'


def translate(folder: Path, **layers: str) -> tuple[FixResult, Path]:
    for name, text in layers.items():
        (folder / f"{name}.usda").write_text(text)
    out = folder / "out" / "asset"
    result = simwright.fix(folder / "root.usda", out, select=RULES, unsafe=True)
    return result, out


def read(out: Path, path: str, name: str = "root.usda") -> dict[str, object]:
    layer = Sdf.Layer.OpenAsAnonymous(str(out / name))
    spec = layer.GetPrimAtPath(path)
    return {prop.name: prop.default for prop in spec.properties if isinstance(prop, Sdf.AttributeSpec)}


def list_reasons(result: FixResult) -> str:
    return "\n".join(note.message for note in result.notes if note.kind == "fix-refused")


def test_stage_units_and_degrees(tmp_path: Path) -> None:
    text = JOINT.replace("metersPerUnit = 1", "metersPerUnit = 0.01") % "double mjc:damping = 2"
    result, out = translate(tmp_path, root=text)
    assert result.proven
    assert read(out, "/j") == {"ext_physics:joint:damping": pytest.approx(2 * 0.017453293)}


def test_engines_that_agree_are_both_translated(tmp_path: Path) -> None:
    result, out = translate(
        tmp_path,
        root=JOINT
        % "double mjc:armature = 0.1\nfloat newton:armature = 0.1\nfloat physxJoint:armature = 0.1",
    )
    assert result.proven
    assert read(out, "/j") == {"ext_physics:joint:armature": pytest.approx(0.1)}


def test_a_neutral_word_that_is_there_is_believed(tmp_path: Path) -> None:
    lines = "float ext_physics:joint:armature = 0.1\nfloat newton:armature = 0.3"
    text = JOINT.replace('"j"', '"j" (prepend apiSchemas = ["ExtendedPhysicsJointAPI"])') % lines
    result, out = translate(tmp_path, root=text)
    assert "it says 0.3 where ext_physics:joint:armature is 0.1" in list_reasons(result)
    assert read(out, "/j")["newton:armature"] == pytest.approx(0.3)


def test_every_layer_says_it_in_its_own_place(tmp_path: Path) -> None:
    result, out = translate(
        tmp_path,
        root='#usda 1.0\n(\n    subLayers = [@./weak.usda@]\n)\nover "j"\n{\n    float newton:armature = 0.2\n}\n',
        weak=JOINT % "float newton:armature = 0.1",
    )
    assert result.proven
    assert read(out, "/j") == {"ext_physics:joint:armature": pytest.approx(0.2)}
    assert read(out, "/j", "weak.usda") == {"ext_physics:joint:armature": pytest.approx(0.1)}


def test_a_layer_that_is_referenced_twice_is_translated_once(tmp_path: Path) -> None:
    part = JOINT.replace("metersPerUnit", 'defaultPrim = "j"\nmetersPerUnit') % "float newton:friction = 2"
    result, out = translate(
        tmp_path,
        root='#usda 1.0\ndef "a" (references = @./part.usda@) {}\ndef "b" (references = @./part.usda@)\n{\n'
        "    float newton:friction = 3\n}\n",
        part=part,
    )
    assert result.proven
    stage = Usd.Stage.Open(str(out / "root.usda"))
    values = [
        stage.GetPrimAtPath(path).GetAttribute("ext_physics:joint:friction").Get() for path in ("/a", "/b")
    ]
    assert values == [2.0, 3.0]
    assert not [note for note in result.notes if note.kind == "fix-refused"]


@pytest.mark.parametrize(
    "line",
    ["float newton:contactGap = -inf", "float physxCollision:restOffset = -inf"],
    ids=("newton", "physx"),
)
def test_a_word_that_leaves_it_to_the_engine_goes(tmp_path: Path, line: str) -> None:
    result, out = translate(tmp_path, root=COLLIDER % '"PhysicsCollisionAPI"' + f"    {line}\n}}\n")
    assert result.proven
    assert read(out, "/c") == {}


def test_it_stays_where_another_engine_is_told_a_value(tmp_path: Path) -> None:
    lines = "    double mjc:gap = 0.01\n    float newton:contactGap = -inf\n}\n"
    result, out = translate(tmp_path, root=COLLIDER % '"PhysicsCollisionAPI"' + lines)
    assert "leaves the value to one engine" in list_reasons(result)
    assert read(out, "/c") == {"newton:contactGap": float("-inf"), "mjc:gap": 0.01}


def test_offsets_of_physx_become_margin_and_gap(tmp_path: Path) -> None:
    text = (
        COLLIDER % '"PhysicsCollisionAPI", "PhysxCollisionAPI"'
        + "    float physxCollision:contactOffset = 0.03\n    float physxCollision:restOffset = 0.01\n}\n"
    )
    result, out = translate(tmp_path, root=text)
    assert result.proven
    assert read(out, "/c") == {
        "ext_physics:contact:margin": pytest.approx(0.01),
        "ext_physics:contact:gap": pytest.approx(0.02),
    }
    assert "PhysxCollisionAPI" not in (out / "root.usda").read_text()


def test_an_axis_that_turns_and_one_that_slides_need_two_numbers(tmp_path: Path) -> None:
    text = '#usda 1.0\ndef PhysicsJoint "j"\n{\n    double mjc:damping = 2\n    double mjc:armature = 1\n}\n'
    result, out = translate(tmp_path, root=text)
    assert "two different numbers" in list_reasons(result)
    assert read(out, "/j") == {"ext_physics:joint:armature": 1.0, "mjc:damping": 2.0}


def test_values_over_time_stay(tmp_path: Path) -> None:
    result, out = translate(tmp_path, root=JOINT % "float newton:armature.timeSamples = { 0: 1, 1: 2 }")
    assert "changes over time" in list_reasons(result)
    assert result.status == "unchanged"
    assert "newton:armature" in (out / "root.usda").read_text()


def test_higher_powers_stay_beside_the_neutral_rule(tmp_path: Path) -> None:
    text = (
        '#usda 1.0\ndef PhysicsRevoluteJoint "a" {}\n'
        'def PhysicsRevoluteJoint "b" (prepend apiSchemas = ["NewtonMimicAPI", "MjcEqualityJointAPI"])\n{\n'
        "    rel newton:mimicJoint = </a>\n    double mjc:coef2 = 0.5\n}\n"
    )
    result, out = translate(tmp_path, root=text)
    assert "mjc:coef2 has no neutral form" in list_reasons(result)
    assert read(out, "/b") == {"mjc:coef2": 0.5}
    assert "NewtonMimicAPI" not in (out / "root.usda").read_text()
    assert "MjcEqualityJointAPI" in (out / "root.usda").read_text()


def test_a_motor_keeps_what_only_its_engine_knows(tmp_path: Path) -> None:
    text = (
        '#usda 1.0\ndef PhysicsRevoluteJoint "a" {}\ndef MjcActuator "m"\n{\n    rel mjc:target = </a>\n'
        "    uniform bool mjc:actEarly = 1\n    uniform double[] mjc:gear = [2, 0, 0, 0, 0, 0]\n}\n"
    )
    result, out = translate(tmp_path, root=text)
    assert result.proven
    assert read(out, "/m") == {
        "ext_physics:actuator:controlMode": "effort",
        "ext_physics:actuator:gear": 2.0,
        "mjc:actEarly": True,
    }


def test_what_belongs_to_another_asset_is_not_touched(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "part.usda").write_text(
        JOINT.replace("metersPerUnit", 'defaultPrim = "j"\nmetersPerUnit') % "float newton:friction = 2"
    )
    asset = tmp_path / "asset"
    asset.mkdir()
    (asset / "root.usda").write_text('#usda 1.0\ndef "a" (references = @../other/part.usda@) {}\n')
    before = (other / "part.usda").read_bytes()
    result = simwright.fix(asset / "root.usda", tmp_path / "out" / "asset", select=RULES, unsafe=True)
    assert result.status == "unchanged"
    assert (other / "part.usda").read_bytes() == before
