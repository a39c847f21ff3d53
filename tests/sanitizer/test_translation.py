"""What engines are told is said in neutral words too, and the engines keep their own in layers of their own."""

from __future__ import annotations

from pathlib import Path

import pytest
from pxr import Sdf, Usd, UsdGeom

import simwright
from simwright.sanitizer.fixes.translation.engine_words import find_losses
from simwright.sanitizer.result import FixResult

RULES = ["xphys-no-vendor", "extphys-use", "proprietary-minimal", "isol-minimize", "xphys-lifecycle"]
JOINT = '#usda 1.0\n(metersPerUnit = 1)\ndef PhysicsRevoluteJoint "j"\n{\n%s\n}\n'
COLLIDER = '#usda 1.0\n(metersPerUnit = 1)\ndef Cube "c" (prepend apiSchemas = [%s])\n{\n'


MOTOR = """#usda 1.0
(
    defaultPrim = "robot"
    metersPerUnit = 1
    upAxis = "Z"
)
def Xform "robot"
{
    def PhysicsRevoluteJoint "a" {}
    def MjcActuator "m"
    {
        uniform double[] mjc:gear = [2, 0, 0, 0, 0, 0]
        rel mjc:target = </robot/a>
    }
}
"""
ROOTED = """#usda 1.0
(
    defaultPrim = "robot"
    metersPerUnit = 1
    upAxis = "Z"
)
def Xform "robot"
{
    def Xform "base" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI", "PhysicsArticulationRootAPI",
            "NewtonArticulationRootAPI"]
    )
    {
        float physics:mass = 1
        bool newton:selfCollisionEnabled = 0
        def Xform "link" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
        {
            float physics:mass = 1
        }
        def PhysicsRevoluteJoint "turns"
        {
            rel physics:body0 = </robot/base>
            rel physics:body1 = </robot/base/link>
        }
    }
    def PhysicsFixedJoint "held"
    {
        rel physics:body1 = </robot/base>
    }
}
"""
PAYLOAD = """#usda 1.0
(
    defaultPrim = "robot"
    metersPerUnit = 1
    kilogramsPerUnit = 1
    upAxis = "Z"
)
def Xform "robot" (prepend payload = @physics.usda@) {}
"""
TURNING = """#usda 1.0
(
    defaultPrim = "robot"
    metersPerUnit = 1
    kilogramsPerUnit = 1
    upAxis = "Z"
)
def Xform "robot"
{
    def Xform "base" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI", "PhysicsArticulationRootAPI"]
    )
    {
        float physics:mass = 1
        def Xform "link" (
            prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI", "NewtonMassAPI", "MjcBodyAPI"]
        )
        {
            float physics:mass = 1
            double mjc:gravcomp = 0
            float[] newton:inertia = [1, 1, 1, 0, 0, 0]
            def PhysicsRevoluteJoint "turns" (prepend apiSchemas = ["MjcJointAPI", "NewtonJointAPI"])
            {
                uniform token physics:axis = "Z"
                rel physics:body0 = </robot/base>
                rel physics:body1 = </robot/base/link>
                double mjc:armature = 0.1
                float newton:armature = 0.1
            }
        }
    }
    def MjcActuator "m"
    {
        uniform double[] mjc:gear = [2, 0, 0, 0, 0, 0]
        rel mjc:target = </robot/base/link/turns>
    }
}
"""


def fix_root(folder: Path, text: str, **values: str) -> tuple[FixResult, Path]:
    folder.mkdir(exist_ok=True)
    (folder / "root.usda").write_text(text)
    out = folder / "out" / "asset"
    return simwright.fix(
        folder / "root.usda", out, select=["artic-fixed-root"], unsafe=True, values=values
    ), out


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
    assert read(out, "/j", "mujoco.usda") == {"mjc:damping": 2.0}


def test_engines_that_agree_are_both_translated(tmp_path: Path) -> None:
    result, out = translate(
        tmp_path,
        root=JOINT
        % "double mjc:armature = 0.1\nfloat newton:armature = 0.1\nfloat physxJoint:armature = 0.1",
    )
    assert result.proven
    assert read(out, "/j") == {"ext_physics:joint:armature": pytest.approx(0.1)}
    for engine, word in (
        ("mujoco", "mjc:armature"),
        ("newton", "newton:armature"),
        ("physx", "physxJoint:armature"),
    ):
        assert read(out, "/j", f"{engine}.usda") == {word: pytest.approx(0.1)}


def test_a_neutral_word_that_is_there_stays_beside_another_of_an_engine(tmp_path: Path) -> None:
    lines = "float ext_physics:joint:armature = 0.1\nfloat newton:armature = 0.3"
    text = JOINT.replace('"j"', '"j" (prepend apiSchemas = ["ExtendedPhysicsJointAPI"])') % lines
    _, out = translate(tmp_path, root=text)
    assert read(out, "/j") == {"ext_physics:joint:armature": pytest.approx(0.1)}
    assert read(out, "/j", "newton.usda")["newton:armature"] == pytest.approx(0.3)


def test_every_layer_says_it_in_its_own_place(tmp_path: Path) -> None:
    result, out = translate(
        tmp_path,
        root='#usda 1.0\n(\n    subLayers = [@./weak.usda@]\n)\nover "j"\n{\n    float newton:armature = 0.2\n}\n',
        weak=JOINT % "float newton:armature = 0.1",
    )
    assert result.proven
    assert read(out, "/j", "weak.usda") == {"ext_physics:joint:armature": pytest.approx(0.1)}
    stage = Usd.Stage.Open(str(out / "root.usda"))
    for word in ("ext_physics:joint:armature", "newton:armature"):
        assert stage.GetPrimAtPath("/j").GetAttribute(word).Get() == pytest.approx(0.2)


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
    assert "only one engine would still get a value" in list_reasons(result)
    assert read(out, "/c", "newton.usda") == {"newton:contactGap": float("-inf")}
    assert read(out, "/c", "mujoco.usda") == {"mjc:gap": 0.01}


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
    assert read(out, "/c", "physx.usda")["physxCollision:contactOffset"] == pytest.approx(0.03)


def test_an_axis_that_turns_and_one_that_slides_need_two_numbers(tmp_path: Path) -> None:
    text = '#usda 1.0\ndef PhysicsJoint "j"\n{\n    double mjc:damping = 2\n    double mjc:armature = 1\n}\n'
    result, out = translate(tmp_path, root=text)
    assert "two different numbers" in list_reasons(result)
    assert read(out, "/j") == {"ext_physics:joint:armature": 1.0}
    assert read(out, "/j", "mujoco.usda") == {"mjc:damping": 2.0, "mjc:armature": 1.0}


def test_values_over_time_stay(tmp_path: Path) -> None:
    result, out = translate(tmp_path, root=JOINT % "float newton:armature.timeSamples = { 0: 1, 1: 2 }")
    assert "changes over time" in list_reasons(result)
    assert "newton:armature.timeSamples" in (out / "newton.usda").read_text()


def test_higher_powers_stay_beside_the_neutral_rule(tmp_path: Path) -> None:
    text = (
        '#usda 1.0\ndef PhysicsRevoluteJoint "a" {}\n'
        'def PhysicsRevoluteJoint "b" (prepend apiSchemas = ["NewtonMimicAPI", "MjcEqualityJointAPI"])\n{\n'
        "    rel newton:mimicJoint = </a>\n    double mjc:coef2 = 0.5\n}\n"
    )
    result, out = translate(tmp_path, root=text)
    assert result.proven
    assert read(out, "/b", "mujoco.usda") == {"mjc:coef2": 0.5}
    assert "MjcEqualityJointAPI" in (out / "mujoco.usda").read_text()
    assert "NewtonMimicAPI" in (out / "newton.usda").read_text()
    assert "ExtendedPhysicsMimicAPI" in (out / "root.usda").read_text()


def test_a_motor_keeps_what_only_its_engine_knows(tmp_path: Path) -> None:
    text = (
        '#usda 1.0\ndef PhysicsRevoluteJoint "a" {}\ndef MjcActuator "m"\n{\n    rel mjc:target = </a>\n'
        "    uniform bool mjc:actEarly = 1\n    uniform double[] mjc:gear = [2, 0, 0, 0, 0, 0]\n}\n"
    )
    result, out = translate(tmp_path, root=text)
    assert result.proven
    assert not [note for note in result.notes if note.kind == "fix-engine-loss"]
    told = read(out, "/m")
    assert (told["ext_physics:actuator:controlMode"], told["ext_physics:actuator:gear"]) == ("effort", 2.0)
    assert told["mjc:actEarly"] is True
    assert list(told["mjc:gear"]) == [2, 0, 0, 0, 0, 0]


def test_a_motor_of_an_engine_is_a_scope_without_its_layer(tmp_path: Path) -> None:
    (tmp_path / "root.usda").write_text(MOTOR)
    result = simwright.fix(tmp_path / "root.usda", tmp_path / "out", unsafe=True)
    assert result.proven
    stage = Usd.Stage.Open(result.entry)
    assert stage.GetPrimAtPath("/robot/m").GetTypeName() == "MjcActuator"
    stage.MuteLayer(str(tmp_path / "out" / "mujoco.usda"))
    motor = stage.GetPrimAtPath("/robot/m")
    assert motor.GetTypeName() == "Scope"
    assert motor.GetRelationship("ext_physics:actuator:targets").GetTargets() == [Sdf.Path("/robot/a")]
    assert not motor.HasRelationship("mjc:target")


def test_a_motor_that_only_the_layer_of_its_engine_has(tmp_path: Path) -> None:
    motor = (
        '#usda 1.0\nover "robot"\n{\n    def MjcActuator "m"\n    {\n'
        "        rel mjc:target = </robot/a>\n    }\n}\n"
    )
    root = MOTOR.partition("    def MjcActuator")[0] + "}\n"
    root = root.replace("metersPerUnit = 1", "metersPerUnit = 1\n    subLayers = [@./mujoco.usda@]")
    result, out = translate(tmp_path, root=root, mujoco=motor)
    assert result.proven
    assert not [finding for finding in result.after if finding.kind in RULES]
    stage = Usd.Stage.Open(str(out / "root.usda"))
    assert stage.GetPrimAtPath("/robot/m").GetTypeName() == "MjcActuator"
    assert read(out, "/robot/m", "extended_physics.usda") == {"ext_physics:actuator:controlMode": "effort"}
    assert read(out, "/robot/m", "mujoco.usda") == {}


def test_words_of_engines_move_only_after_all_findings_are_translated(tmp_path: Path) -> None:
    # a layer beside another is moved word by word: one that is gone would be missed
    root = PAYLOAD.replace("upAxis", "subLayers = [@physics.usda@]\n    upAxis")
    root = root.replace("(prepend payload = @physics.usda@) ", "")
    result, out = translate(tmp_path, root=root, physics=TURNING)
    assert not {"fix-crashed", "fix-undone"} & {note.kind for note in result.notes}
    stage = Usd.Stage.Open(str(out / "root.usda"))
    assert (
        "NewtonMassAPI"
        not in stage.GetPrimAtPath("/robot/base/link").GetMetadata("apiSchemas").prependedItems
    )
    assert stage.GetPrimAtPath("/robot/m").GetTypeName() == "MjcActuator"


def test_a_motor_behind_a_payload_follows_its_joint(tmp_path: Path) -> None:
    # the layer of the motor says nothing of the joint itself
    motor = TURNING[: TURNING.index("    def Xform")] + TURNING[TURNING.index("    def MjcActuator") :]
    motor = motor.replace("def Xform", "over")
    bodies = TURNING[: TURNING.index("    def MjcActuator")] + "}\n"
    bodies = bodies.replace("upAxis", "subLayers = [@motor.usda@]\n    upAxis")
    for name, text in {"root": PAYLOAD, "physics": bodies, "motor": motor}.items():
        (tmp_path / f"{name}.usda").write_text(text)
    result = simwright.fix(
        tmp_path / "root.usda", tmp_path / "out" / "asset", select=["joint-placement"], unsafe=True
    )
    assert "fix-undone" not in {note.kind for note in result.notes}
    stage = Usd.Stage.Open(str(tmp_path / "out/asset/root.usda"))
    targets = stage.GetPrimAtPath("/robot/m").GetRelationship("mjc:target").GetTargets()
    assert targets == [Sdf.Path("/robot/base/turns")]


def test_the_proof_names_an_engine_that_is_told_less(tmp_path: Path) -> None:
    before, after = (Usd.Stage.CreateInMemory() for _ in range(2))
    for stage, words in (
        (before, {"newton:armature": 0.1, "newton:friction": 2.0, "mjc:armature": 0.1}),
        (after, {"newton:friction": 3.0, "mjc:armature": 0.1 + 1e-9}),
    ):
        joint = stage.DefinePrim("/j", "PhysicsRevoluteJoint")
        for name, value in words.items():
            joint.CreateAttribute(name, Sdf.ValueTypeNames.Double).Set(value)
    (loss,) = find_losses(before, after, str)
    assert loss.engine == "newton"
    assert sorted(loss.words) == ["newton:armature of /j", "newton:friction of /j"]


def test_words_about_a_root_are_compared_in_si_units() -> None:
    before, after = (Usd.Stage.CreateInMemory() for _ in range(2))
    UsdGeom.SetStageMetersPerUnit(before, 0.01)
    UsdGeom.SetStageMetersPerUnit(after, 1.0)
    for stage, value in ((before, 0.005), (after, 5e-7)):  # m^2/s^2
        root = stage.DefinePrim("/robot", "Xform")
        root.SetMetadata("apiSchemas", Sdf.TokenListOp.Create(["PhysxArticulationAPI"]))
        root.CreateAttribute("physxArticulation:sleepThreshold", Sdf.ValueTypeNames.Float).Set(value)
    assert not find_losses(before, after, str)
    after.GetAttributeAtPath("/robot.physxArticulation:sleepThreshold").Set(5e-5)
    assert len(find_losses(before, after, str)) == 1


def test_the_root_of_a_fixed_base_goes_with_the_words_of_engines(tmp_path: Path) -> None:
    result, out = fix_root(tmp_path, ROOTED)
    stage = Usd.Stage.Open(str(out / "root.usda"))
    joint = stage.GetPrimAtPath("/robot/held")
    assert "NewtonArticulationRootAPI" in joint.GetPrimTypeInfo().GetAppliedAPISchemas()
    assert joint.GetAttribute("newton:selfCollisionEnabled").Get() is False
    assert "newton:selfCollisionEnabled" in (out / "root.usda").read_text()
    (loss,) = [note for note in result.notes if note.kind == "fix-engine-loss"]
    assert "MuJoCo's own USD reader" in loss.message


def test_the_root_stays_where_mujoco_needs_it(tmp_path: Path) -> None:
    text = ROOTED.replace("bool newton", "int mjc:group = 1\n        bool newton")
    result, out = fix_root(tmp_path, text)
    assert "--set articulation-root=joint" in list_reasons(result)
    stage = Usd.Stage.Open(str(out / "root.usda"))
    base = stage.GetPrimAtPath("/robot/base")
    assert "PhysicsArticulationRootAPI" in base.GetPrimTypeInfo().GetAppliedAPISchemas()
    result, out = fix_root(tmp_path / "again", text, **{"articulation-root": "joint"})
    stage = Usd.Stage.Open(str(out / "root.usda"))
    joint = stage.GetPrimAtPath("/robot/held")
    assert "PhysicsArticulationRootAPI" in joint.GetPrimTypeInfo().GetAppliedAPISchemas()


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


def test_what_a_prototype_says_is_said_to_its_instances() -> None:
    words = '(prepend apiSchemas = ["MjcImageableAPI"])\n{\n    uniform int mjc:group = 2\n}\n'
    before, after = (Usd.Stage.CreateInMemory() for _ in range(2))
    before.GetRootLayer().ImportFromString(f'#usda 1.0\ndef Mesh "a" {words}')
    after.GetRootLayer().ImportFromString(
        f'#usda 1.0\nclass "library"\n{{\ndef Mesh "mesh" {words}}}\n'
        'def Xform "a" (\n    instanceable = true\n    prepend references = </library>\n)\n{\n}\n'
    )
    assert find_losses(before, after, {"/a": "/a/mesh"}.__getitem__) == []
