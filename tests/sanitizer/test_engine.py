"""The engine: a private copy, edits where the opinion is, undo by proof, stable ends, whole results."""

from __future__ import annotations

import dataclasses
from itertools import pairwise
from pathlib import Path

import pytest
from pxr import Gf, Sdf, Usd, UsdGeom

import simwright
from simwright.app.fixing import summarize_fix
from simwright.core.diag import Diagnostic
from simwright.core.errors import OutputError, UsageError
from simwright.sanitizer import rounds
from simwright.sanitizer.fixer import Fixer, UserValues, all_fixers
from simwright.usd.edit import Editor


@pytest.fixture(autouse=True)
def _allow_what_is_beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Assets here name files beside their own folder, as a user may allow."""
    monkeypatch.setenv("SIMWRIGHT_ALLOW_OUTSIDE", str(tmp_path))


ENTRY = """#usda 1.0
(
    defaultPrim = "robot"
    metersPerUnit = 1
    upAxis = "Z"
    subLayers = [@./layers/base.usda@]
)

over "robot" (
    prepend references = @../parts/part.usda@
)
{
}
"""
BASE = """#usda 1.0
(
    defaultPrim = "robot"
)

def Xform "robot"
{
    def Xform "one" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]
    )
    {
        float physics:mass = 1
        float3 physics:diagonalInertia = (1, 1, 1)
        matrix4d xformOp:transform = ( (0, 1, 0, 0), (-1, 0, 0, 0), (0, 0, 1, 0), (1, 2, 3, 1) )
        uniform token[] xformOpOrder = ["xformOp:transform"]
    }

    def Xform "two" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]
    )
    {
        float physics:mass = 2
        float3 physics:diagonalInertia = (1, 1, 1)
        float xformOp:rotateZ = 30
        double3 xformOp:translate = (0, 0, 5)
        uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:rotateZ"]
    }
}
"""
PART = """#usda 1.0
(
    defaultPrim = "part"
)

def "part"
{
    def Xform "foreign" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]
    )
    {
        float physics:mass = 3
        float3 physics:diagonalInertia = (1, 1, 1)
        float xformOp:rotateX = 10
        uniform token[] xformOpOrder = ["xformOp:rotateX"]
    }
}
"""
TRANSFORMS = ["xform-no-matrix", "xform-minimal-stack", "xform-etl-euler"]


@pytest.fixture
def asset(tmp_path: Path) -> Path:
    """An asset of two layers, with a part of another asset."""
    files = {"robot/robot.usda": ENTRY, "robot/layers/base.usda": BASE, "parts/part.usda": PART}
    for name, text in files.items():
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / name).write_text(text)
    return tmp_path / "in/robot/robot.usda"


def use_fixers(monkeypatch: pytest.MonkeyPatch, **changed: object) -> None:
    """The real fixes with other functions for single rules."""
    table = dict(all_fixers())
    for name, apply in changed.items():
        code = name.replace("_", "-")
        table[code] = dataclasses.replace(table[code], apply=apply)  # type: ignore[arg-type]
    monkeypatch.setattr(rounds, "all_fixers", lambda: table)


def test_opinions_are_changed_where_they_are(asset: Path, tmp_path: Path) -> None:
    result = simwright.fix(asset, tmp_path / "out", select=TRANSFORMS)
    assert result.status == "fixed"
    assert result.proven
    assert {change.file for change in result.changes} == {"layers/base.usda"}
    assert result.files == ["layers/base.usda", "robot.usda"]
    layer = Sdf.Layer.FindOrOpen(str(tmp_path / "out/layers/base.usda"))
    one = layer.GetPrimAtPath("/robot/one")
    assert list(one.attributes["xformOpOrder"].default) == ["xformOp:translate", "xformOp:orient"]
    assert one.attributes["xformOp:translate"].default == Gf.Vec3d(1, 2, 3)
    assert Gf.IsClose(one.attributes["xformOp:orient"].default.real, 0.5**0.5, 1e-12)
    assert "xformOp:transform" not in one.attributes


def test_other_assets_stay_and_are_named_from_the_copy(asset: Path, tmp_path: Path) -> None:
    result = simwright.fix(asset, tmp_path / "deep/er/out", select=TRANSFORMS)
    refused = [note for note in result.notes if note.kind == "fix-refused"]
    assert {note.where.prim for note in refused} == {"/robot/foreign"}
    assert all("belongs to another asset" in note.message for note in refused)
    assert (asset.parent.parent / "parts/part.usda").read_text() == PART
    assert "@../../../in/parts/part.usda@" in (tmp_path / "deep/er/out/robot.usda").read_text()
    assert Usd.Stage.Open(result.entry).GetPrimAtPath("/robot/foreign")


def test_the_source_is_only_read(asset: Path, tmp_path: Path) -> None:
    stage = Usd.Stage.Open(str(asset))  # somebody has it open
    simwright.fix(asset, tmp_path / "out")
    assert asset.read_text() == ENTRY
    assert (asset.parent / "layers/base.usda").read_text() == BASE
    assert stage.GetPrimAtPath("/robot/one").GetAttribute("xformOp:transform")


def test_dry_run_writes_nothing_and_shows_what_it_would(asset: Path) -> None:
    result = simwright.fix(asset, dry_run=True, diff=True)
    assert result.entry == ""
    assert asset.read_text() == ENTRY
    assert "+    timeCodesPerSecond = 1" in result.diffs["robot.usda"]
    assert "part.usda" not in result.diffs["robot.usda"].replace("@../parts/part.usda@", "")


def test_a_fix_that_moves_something_is_undone_and_the_others_stay(
    asset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def move_two(editor: Editor, finding: Diagnostic, given: UserValues) -> None:
        all_fixers()["xform-minimal-stack"].apply(editor, finding, given)
        if finding.where.prim.endswith("two"):
            prim = editor.find_prim(finding.where.prim)
            editor.edits.clear()
            value = Gf.Vec3d(0, 0, 5.001)
            editor.set_value(prim, "xformOp:translate", Sdf.ValueTypeNames.Double3, value)

    use_fixers(monkeypatch, xform_minimal_stack=move_two)
    result = simwright.fix(asset, tmp_path / "out", select=["xform-minimal-stack"])
    undone = [note for note in result.notes if note.kind == "fix-undone"]
    assert [note.where.prim for note in undone] == ["/robot/two"]
    assert "where /robot/two stands" in undone[0].message
    text = (tmp_path / "out/layers/base.usda").read_text()
    assert "5.001" not in text
    assert "xformOp:transform" not in text  # the body beside it is fixed
    assert "xformOp:rotateZ" in text


def test_a_fix_that_changes_a_mass_is_undone(
    asset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lighten(editor: Editor, _finding: Diagnostic, _: UserValues) -> None:
        editor.set_layer_info("kilogramsPerUnit", 1.0)
        prim = editor.find_prim("/robot/two")
        editor.set_value(prim, "physics:mass", Sdf.ValueTypeNames.Float, 2.0001)

    use_fixers(monkeypatch, units_kilograms=lighten)
    result = simwright.fix(asset, tmp_path / "out", select=["units-kilograms"])
    assert result.status == "unchanged"
    assert "mass" in next(note for note in result.notes if note.kind == "fix-undone").message
    assert (tmp_path / "out/layers/base.usda").read_bytes() == BASE.encode()


def test_a_fix_that_crashes_costs_only_itself(
    asset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(editor: Editor, _finding: Diagnostic, _: UserValues) -> None:
        editor.set_layer_info("kilogramsPerUnit", 7.0)
        raise ZeroDivisionError("by a test")

    use_fixers(monkeypatch, units_kilograms=crash)
    result = simwright.fix(asset, tmp_path / "out")
    assert [note.kind for note in result.notes if note.kind == "fix-crashed"]
    text = (tmp_path / "out/robot.usda").read_text()
    assert "kilogramsPerUnit" not in text
    assert "timeCodesPerSecond = 1" in text


def test_fixes_that_undo_each_other_are_stopped(
    asset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wander(editor: Editor, _finding: Diagnostic, _: UserValues) -> None:
        editor.set_layer_info("comment", "b" if editor.root.comment == "a" else "a")

    use_fixers(monkeypatch, units_kilograms=wander)
    result = simwright.fix(asset, tmp_path / "out", select=["units-kilograms"])
    assert [note.kind for note in result.notes] == ["fix-unstable"]
    assert result.rounds <= rounds.MAX_ROUNDS


def test_time_samples_become_quaternions_at_the_same_times(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    source = tmp_path / "a/a.usda"
    source.write_text(
        '#usda 1.0\n(\n    defaultPrim = "a"\n)\ndef Xform "a"\n{\n    float xformOp:rotateZ.timeSamples = {'
        ' 0: 0, 1: 170, 2: 350 }\n    uniform token[] xformOpOrder = ["xformOp:rotateZ"]\n}\n'
    )
    result = simwright.fix(source, tmp_path / "out", select=["xform-etl-euler"], unsafe=True)
    assert result.status == "fixed"
    stages = [Usd.Stage.Open(str(path)) for path in (source, result.entry)]
    before, after = (UsdGeom.Xformable(stage.GetPrimAtPath("/a")) for stage in stages)
    for time in (0, 1, 2):
        assert Gf.IsClose(before.GetLocalTransformation(time), after.GetLocalTransformation(time), 1e-9)
    turns = [after.GetPrim().GetAttribute("xformOp:orient").Get(time) for time in (0, 1, 2)]
    assert all(Gf.Dot(a, b) >= 0 for a, b in pairwise(turns))
    assert simwright.fix(source, dry_run=True, select=["xform-etl-euler"]).status == "unchanged"


def test_intent_is_given_by_values(asset: Path, tmp_path: Path) -> None:
    plain = simwright.fix(asset, dry_run=True, select=["assetinfo"])
    assert plain.status == "unchanged"
    result = simwright.fix(asset, tmp_path / "out", select=["assetinfo"], values={"version": "2.1.0"})
    stage = Usd.Stage.Open(result.entry)
    assert stage.GetDefaultPrim().GetAssetInfo() == {"version": "2.1.0"}


def test_a_package_is_fixed_and_packaged_again(asset: Path, tmp_path: Path) -> None:
    packed = simwright.convert(asset, tmp_path / "robot.usdz")
    result = simwright.fix(packed, tmp_path / "fixed.usdz", select=TRANSFORMS)
    assert result.status == "fixed"
    assert "xform-no-matrix" not in {finding.kind for _, finding in simwright.check(tmp_path / "fixed.usdz")}
    assert simwright.diff(packed, tmp_path / "fixed.usdz").equal


def test_targets_that_would_do_damage_are_refused(asset: Path, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full/thesis.txt").write_text("mine")
    with pytest.raises(OutputError, match="not part of the asset"):
        simwright.fix(asset, tmp_path / "full")
    for place in (asset.parent, asset.parent.parent):
        with pytest.raises(OutputError, match="holds the source"):
            simwright.fix(asset, place)
    with pytest.raises(UsageError):
        simwright.fix(asset)
    with pytest.raises(UsageError):
        simwright.fix(asset, tmp_path / "out", in_place=True)
    simwright.fix(asset, tmp_path / "out")
    simwright.fix(asset, tmp_path / "out")  # an earlier result is replaced


def test_an_asset_that_cannot_be_opened_says_so(tmp_path: Path) -> None:
    (tmp_path / "bad.usda").write_text("#usda 1.0\ndef {")
    for name in ("bad.usda", "absent.usda"):
        result = simwright.fix(tmp_path / name, dry_run=True)
        assert result.status == "failed"
        assert result.notes
        assert result.exit_code == 2


def test_every_fixer_names_real_sections() -> None:
    from simwright.compare.difference import SECTIONS

    for fixer in set(all_fixers().values()):
        assert isinstance(fixer, Fixer)
        assert set(fixer.changes) <= {*SECTIONS, "stage", "units"}


def test_the_entry_gets_another_name_and_encoding(tmp_path: Path) -> None:
    source = tmp_path / "in" / "main.usd"
    source.parent.mkdir()
    layer = Sdf.Layer.CreateNew(str(source), args={"format": "usdc"})
    layer.defaultPrim = "rover"
    Sdf.CreatePrimInLayer(layer, "/rover").specifier = Sdf.SpecifierDef
    layer.Save()
    assert "entry-name" in {f.kind for f in simwright.fix(source, dry_run=True).after}
    result = simwright.fix(source, tmp_path / "out" / "rover.usda")
    assert Path(result.entry).read_text().startswith("#usda")
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["rover.usda"]
    assert "entry-name" not in {f.kind for f in simwright.fix(result.entry, dry_run=True).after}
    with pytest.raises(UsageError, match=r"stays \.usd, or becomes \.usda"):
        simwright.fix(source, tmp_path / "other" / "rover.usdc")


def test_a_binary_entry_with_relationships_is_told_how_it_becomes_text(tmp_path: Path) -> None:
    source = tmp_path / "in" / "rover.usd"
    source.parent.mkdir()
    layer = Sdf.Layer.CreateNew(str(source), args={"format": "usdc"})
    layer.defaultPrim = "rover"
    prim = Sdf.CreatePrimInLayer(layer, "/rover")
    prim.specifier, prim.typeName = Sdf.SpecifierDef, "Xform"
    Sdf.RelationshipSpec(prim, "inputs:pose").targetPathList.explicitItems = ["/rover"]
    layer.Save()
    kept = simwright.fix(source, tmp_path / "kept", unsafe=True)
    (note,) = [note for note in kept.notes if note.data.get("rule") == "layer-enc-ascii"]
    assert "-o FOLDER/NAME.usda" in note.message
    named = simwright.fix(source, tmp_path / "named" / "rover.usda", unsafe=True)
    assert not [note for note in named.notes if note.data.get("rule") == "layer-enc-ascii"]
    assert "layer-enc-ascii" in {f.kind for f in kept.after} - {f.kind for f in named.after}
    checked = {f.kind for asset in simwright.check(named.entry).assets for f in asset.findings}
    assert "layer-enc-ascii" not in checked


def test_an_entry_that_is_named_inside_keeps_its_name(tmp_path: Path) -> None:
    source = tmp_path / "in" / "main.usda"
    source.parent.mkdir()
    source.write_text(
        '#usda 1.0\n(\n    defaultPrim = "rover"\n)\ndef Xform "rover"\n{\n'
        '    def "wheel" (references = @./main.usda@</wheel>)\n    {\n    }\n}\ndef Xform "wheel"\n{\n}\n'
    )
    with pytest.raises(UsageError, match=r"refers to the entry as \./main\.usda"):
        simwright.fix(source, tmp_path / "out" / "rover.usda")
    assert not (tmp_path / "out").exists()


def test_a_fix_that_asks_for_nothing_is_named(
    asset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_fixers(monkeypatch, units_kilograms=lambda *_: None)
    result = simwright.fix(asset, tmp_path / "out")
    assert "units-kilograms" in {finding.kind for finding in result.after}
    (note,) = [note for note in result.notes if note.kind == "fix-idle"]
    assert note.data["rule"] == "units-kilograms"
    assert not [line for line in summarize_fix(result) if "units-kilograms" in line]
