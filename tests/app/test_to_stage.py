"""``simwright.to_stage``: the converted asset without files."""

from __future__ import annotations

import gc
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pxr import Sdf, Usd, UsdPhysics

import simwright
from simwright.core.errors import StrictError


def describe(stage):
    """Everything that is composed, files by name only."""
    found = {}
    for prim in Usd.PrimRange(stage.GetPseudoRoot(), Usd.TraverseInstanceProxies()):
        found[str(prim.GetPath())] = (
            str(prim.GetTypeName()),
            prim.GetAppliedSchemas(),
            prim.IsInstance(),
            {key: str(value) for key, value in prim.GetAllAuthoredMetadata().items() if key not in ARCS},
            prim.GetVariantSets().GetNames(),
        )
        for prop in prim.GetAuthoredProperties():
            value = prop.Get() if isinstance(prop, Usd.Attribute) else prop.GetTargets()
            if isinstance(value, Sdf.AssetPath):
                value = value.path.rpartition("/")[2]
            found[str(prop.GetPath())] = str(value)
    return found


ARCS = ("references", "payload", "documentation")


@pytest.fixture(
    params=["arm/urdf/arm.urdf.xacro", "rover/model.sdf", "quadruped/quadruped.xml", "box/box.usda"]
)
def source(request, samples):
    return samples / request.param


def test_the_same_stage_as_the_folder(source, tmp_path):
    entry = simwright.convert(source, tmp_path / "out")
    stage = simwright.to_stage(source)
    before = sorted(tmp_path.rglob("*"))
    assert describe(stage) == describe(Usd.Stage.Open(str(entry)))
    assert all(layer.anonymous for layer in stage.GetUsedLayers())
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("exact", [False, True])
def test_doubles_beside_floats_on_request(exact, samples):
    stage = simwright.to_stage(samples / "quadruped/quadruped.xml", exact=exact)
    found = [a for prim in stage.Traverse() for a in prim.GetAttributes() if a.HasCustomDataKey("exact")]
    assert bool(found) is exact


def test_layers_live_as_long_as_the_stage(samples):
    stage = simwright.to_stage(samples / "arm/urdf/arm.urdf.xacro")
    gc.collect()
    for layer in stage.GetUsedLayers():
        layer.comment = "of the first stage"
    del layer
    for prim in stage.Traverse():
        for name in prim.GetVariantSets().GetNames():
            chosen = prim.GetVariantSets().GetVariantSet(name)
            for variant in chosen.GetVariantNames():
                chosen.SetVariantSelection(variant)
    assert not stage.GetCompositionErrors()
    del stage, prim, chosen
    gc.collect()
    for _ in range(50):
        simwright.to_stage(samples / "box/box.usda")
        # by what is in them: an identifier has the address of its layer in it, which another may get later
        left = [layer.comment for layer in Sdf.Layer.GetLoadedLayers()].count("of the first stage")
        if not left:
            break
        time.sleep(0.1)  # OpenUSD takes a stage apart in threads of its own, later on a busy machine
    assert not left


def test_strict(samples):
    with pytest.raises(StrictError):
        simwright.to_stage(samples / "rover/model.sdf", strict=True)


def test_stages_made_at_run_time_conform(source):
    """REP-0158 1.2.5: what is made of another format in memory has the hierarchies and schemas of the REP."""
    stage = simwright.to_stage(source)
    reports = [simwright.check(stage, select=section) for section in ("1.1", "1.3", "2", "4")]
    findings = [found for report in reports for asset in report.assets for found in asset.findings]
    assert [str(found) for found in findings if found.level.value == "error"] == []


def test_a_stage_can_be_checked(samples):
    report = simwright.check(simwright.to_stage(samples / "arm/urdf/arm.urdf.xacro"), select="1.3")
    assert len(report.assets) == 1


def test_python_cannot_write_a_file_format():
    """docs/convert.md says why ``Usd.Stage.Open`` does not know URDF; when this fails, it could."""
    with pytest.raises(RuntimeError, match="cannot be instantiated from Python"):
        type("UrdfFileFormat", (Sdf.FileFormat,), {})()
    assert Sdf.FileFormat.FindByExtension("urdf") is None


PLAIN = """
import sys
from pxr import Usd, UsdPhysics
assert "simwright" not in sys.modules
stage = Usd.Stage.Open(sys.argv[1])
joints = [prim.GetName() for prim in stage.Traverse() if prim.IsA(UsdPhysics.Joint)]
print(stage.GetDefaultPrim().GetName(), len(joints))
"""


def test_plain_openusd_opens_what_was_made_in_memory(samples, tmp_path):
    stage = simwright.to_stage(samples / "arm/urdf/arm.urdf.xacro")
    file = tmp_path / "arm.usda"
    stage.Export(str(file))
    done = subprocess.run(
        [sys.executable, "-c", PLAIN, str(file)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    joints = [prim for prim in stage.Traverse() if prim.IsA(UsdPhysics.Joint)]
    assert done.stdout.split() == ["simwright_arm", str(len(joints))]


def test_converting_loads_no_cryptography(tmp_path: Path) -> None:
    """OpenSSL, which hashlib brings, is six of the two hundred MiB of a conversion."""
    robot = tmp_path / "robot.urdf"
    robot.write_text(
        '<robot name="r"><link name="a"><visual><geometry><box size="1 1 1"/></geometry></visual></link></robot>'
    )
    code = (
        "import sys, simwright\n"
        f"simwright.convert({str(robot)!r}, {str(tmp_path / 'out')!r})\n"
        "print('_hashlib' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "False"
