"""Values for fixes: declared, in the project's settings, and weaker there than on the command line."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
from pxr import Usd, UsdPhysics

import simwright
from simwright.app.cli.main import run
from simwright.checker.config import read_config
from simwright.core.errors import UsageError
from simwright.sanitizer.fixer import VALUES, all_fixers, check_name

SOURCES = Path(simwright.__file__).parent / "sanitizer"
ASSET = '#usda 1.0\n(\n    defaultPrim = "robot"\n)\ndef Xform "robot" {}\n'


def write_project(folder: Path, settings: str) -> Path:
    (folder / "simwright.toml").write_text(settings)
    (folder / "robot").mkdir()
    (folder / "robot" / "robot.usda").write_text(ASSET)
    return folder / "robot" / "robot.usda"


def run_fix(source: Path, target: Path, *options: str) -> int:
    return run(["fix", str(source), "-o", str(target), "--select", "1.2.5", *options])


def test_every_value_that_a_fix_asks_for_is_declared() -> None:
    for file in SOURCES.rglob("*.py"):
        for name in re.findall(r'given\.find\("([^"]+)"\)', file.read_text()):
            check_name(name)
    for fixer in all_fixers().values():
        assert set(fixer.values) <= set(VALUES)


def test_settings_say_what_is_meant(tmp_path: Path) -> None:
    settings = '[fix]\nidentifier = "acme/robot"\nversion = "2.0.0"\nlicense = "Apache-2.0"\n'
    run_fix(write_project(tmp_path, settings), tmp_path / "out")
    text = (tmp_path / "out" / "robot.usda").read_text()
    assert 'identifier = "acme/robot"' in text
    assert 'version = "2.0.0"' in text
    assert 'license = "Apache-2.0"' in text


def test_the_command_line_is_stronger(tmp_path: Path) -> None:
    source = write_project(tmp_path, '[fix]\nversion = "2.0.0"\n')
    run_fix(source, tmp_path / "out", "--set", "version=3.0.0")
    assert 'version = "3.0.0"' in (tmp_path / "out" / "robot.usda").read_text()


def test_the_friction_that_is_asked_for_is_written(tmp_path: Path) -> None:
    source = write_project(tmp_path, "[check]\n")
    source.write_text(
        ASSET + 'def Material "rubber" ( prepend apiSchemas = ["PhysicsMaterialAPI"] )\n'
        "{\n    float physics:dynamicFriction = 0.7\n    float physics:restitution = 0.1\n}\n"
    )
    options = ("--select", "contact-attrs", "--unsafe", "--set", "static-friction=0.85")
    run(["fix", str(source), "-o", str(tmp_path / "out"), *options])
    assert "float physics:staticFriction = 0.85" in (tmp_path / "out" / "robot.usda").read_text()


def test_an_unknown_name_is_an_error_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = write_project(tmp_path, '[check]\n\n[fix]\nverzion = "2.0.0"\n')
    assert run_fix(source, tmp_path / "out") == 2
    output = capsys.readouterr().err
    assert "verzion" in output
    assert "did you mean 'version'" in output
    assert "simwright.toml:4" in output
    assert not (tmp_path / "out").exists()


def test_tables_are_groups_and_folders_count_from_the_file(tmp_path: Path) -> None:
    file = tmp_path / "simwright.toml"
    text = '[fix.variant]\ngripper = "parallel"\n[fix.address]\n"omniverse://server/" = "mirror"\n'
    file.write_text(text + '"https://example.org/" = "package://props"\n')
    found = {value.name: value.text for value in read_config(file).fix}
    assert found == {
        "variant.gripper": "parallel",
        "address.omniverse://server/": str(tmp_path / "mirror"),
        "address.https://example.org/": "package://props",
    }


def test_a_list_is_no_value(tmp_path: Path) -> None:
    file = tmp_path / "simwright.toml"
    file.write_text("[fix]\nversion = [1, 2]\n")
    with pytest.raises(UsageError, match="must be a string or a number"):
        read_config(file)


def test_pyproject_may_say_it(tmp_path: Path) -> None:
    file = tmp_path / "pyproject.toml"
    file.write_text("[tool.simwright.fix]\nrestitution = 0.5\n")
    assert [(value.name, value.text) for value in read_config(file).fix] == [("restitution", "0.5")]


@pytest.mark.parametrize("both", [False, True])
def test_a_property_that_no_schema_has_is_kept_unless_its_new_name_is_taken(
    tmp_path: Path, both: bool
) -> None:
    source = tmp_path / "robot.usda"
    more = "custom float userProperties:physics:sturdiness = 3\n" if both else ""
    source.write_text(
        '#usda 1.0\n(\n    defaultPrim = "robot"\n)\ndef Xform "robot"\n{\n'
        f"    float physics:sturdiness = 2\n    {more}}}\n"
    )
    simwright.fix(
        source,
        tmp_path / "fixed",
        unsafe=True,
        values={"unknown-physics": "isolate"},
        select=["xphys-no-core"],
    )
    stage = Usd.Stage.Open(str(next((tmp_path / "fixed").glob("*.usda"))))
    robot = stage.GetDefaultPrim()
    assert robot.HasAttribute("physics:sturdiness") is both
    assert robot.GetAttribute("userProperties:physics:sturdiness").Get() == (3.0 if both else 2.0)


WEIGHTLESS = """#usda 1.0
(
    defaultPrim = "robot"
    kilogramsPerUnit = 0.5
    metersPerUnit = 1
    upAxis = "Z"
)
def Xform "robot" (
    kind = "component"
)
{
    def Xform "wrist" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]
    )
    {
        float physics:mass = 2
        float3 physics:diagonalInertia = (0.1, 0.1, 0.1)
        def Xform "finger" (
            prepend apiSchemas = ["PhysicsRigidBodyAPI"]
        )
        {
        }
        def PhysicsRevoluteJoint "bend"
        {
            rel physics:body0 = </robot/wrist>
            rel physics:body1 = </robot/wrist/finger>
            float physics:lowerLimit = 0
            float physics:upperLimit = 60
        }
    }
}
"""


def fix_mass(tmp_path: Path, values: dict[str, str]) -> tuple[simwright.FixResult, Usd.Stage]:
    source = tmp_path / "robot.usda"
    source.write_text(WEIGHTLESS)
    result = simwright.fix(source, tmp_path / "fixed", unsafe=True, values=values, select=["mass-positive"])
    return result, Usd.Stage.Open(str(tmp_path / "fixed" / "robot.usda"))


def find_finger(stage: Usd.Stage) -> UsdPhysics.MassAPI:
    return UsdPhysics.MassAPI(stage.GetPrimAtPath("/robot/wrist/finger"))


def test_a_link_that_a_joint_moves_weighs_what_its_author_says(tmp_path: Path) -> None:
    """Without an inertia each engine would take one of its own: it is that of a ball as heavy as water."""
    result, stage = fix_mass(tmp_path, {"mass.finger": "0.1"})
    found = find_finger(stage)
    assert not [note for note in result.notes if note.kind == "fix-refused"]
    assert found.GetMassAttr().Get() == pytest.approx(0.2)
    radius = (3 * 0.1 / (4 * math.pi * 1000)) ** (1 / 3)
    # in the units of mass of the stage
    assert list(found.GetDiagonalInertiaAttr().Get()) == pytest.approx([0.4 * 0.1 * radius**2 / 0.5] * 3)
    assert list(found.GetCenterOfMassAttr().Get()) == [0.0, 0.0, 0.0]
    again = simwright.fix(
        tmp_path / "fixed" / "robot.usda", tmp_path / "again", unsafe=True, values={"mass.finger": "0.1"},
        select=["mass-positive"],
    )  # fmt: skip
    assert not again.changes


def test_what_a_link_weighs_is_asked_for_by_its_name(tmp_path: Path) -> None:
    result, stage = fix_mass(tmp_path, {})
    assert not find_finger(stage).GetPrim().HasAPI(UsdPhysics.MassAPI)
    assert [
        "--set mass.finger=KILOGRAMS" in note.message for note in result.notes if note.kind == "fix-refused"
    ]


@pytest.mark.parametrize("text", ["heavy", "0", "-1", "inf", "nan"])
def test_a_mass_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    result, stage = fix_mass(tmp_path, {"mass.finger": text})
    assert not find_finger(stage).GetPrim().HasAPI(UsdPhysics.MassAPI)
    assert any("is not a mass" in note.message for note in result.notes if note.kind == "fix-refused")
