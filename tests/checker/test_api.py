"""The public function simwright.check."""

from __future__ import annotations

import subprocess
import sys

import pytest
from pxr import Usd, UsdGeom

import simwright
from simwright.app.report.report import Report
from simwright.checker.settings import CheckSettings
from simwright.core.errors import UnknownNameError


def codes(report: Report) -> list[str]:
    return [finding.kind for _, finding in report]


def test_a_stage_in_memory():
    stage = Usd.Stage.CreateInMemory()
    stage.DefinePrim("/A", "Xform")
    report = simwright.check(stage, select=["units-meters", "axis-up-z"])
    assert isinstance(report, Report)
    assert codes(report) == ["axis-up-z", "units-meters"]
    UsdGeom.SetStageMetersPerUnit(stage, 1)
    assert codes(simwright.check(stage, select="units-meters")) == []


def test_a_file_and_a_folder(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.usda").write_text("#usda 1.0\n")
    assert codes(simwright.check(tmp_path / "a.usda", select=["units-meters"])) == ["units-meters"]
    report = simwright.check(tmp_path, select=["units-meters"])
    assert [asset.path for asset in report.assets] == [str(tmp_path / "a.usda"), str(tmp_path / "b.usda")]
    assert report.summary() == {"error": 2, "warning": 0, "info": 0}


def test_ignore_profile_and_settings(tmp_path):
    file = tmp_path / "a.usda"
    file.write_text("#usda 1.0\n")
    assert "units-meters" in codes(simwright.check(file, profile="core", settings=CheckSettings()))
    assert "units-meters" not in codes(simwright.check(file, profile="ros"))
    assert "units-meters" not in codes(simwright.check(file, ignore=["units-*"]))


def test_packages_are_used(tmp_path):
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "part.usda").write_text('#usda 1.0\ndef "R" {}\n')
    file = tmp_path / "asset" / "a.usda"
    file.parent.mkdir()
    file.write_text('#usda 1.0\ndef "A" (references = @package://my_parts/part.usda@</R>) {}\n')
    assert "usd-package-unknown" in codes(simwright.check(file, select=["units-meters"]))
    found = simwright.check(file, select=["units-meters"], packages={"my_parts": tmp_path / "pkg"})
    assert codes(found) == ["units-meters"]


def test_a_missing_reference_is_a_finding_and_can_be_ignored(tmp_path):
    file = tmp_path / "a.usda"
    file.write_text('#usda 1.0\ndef "A" (references = @./gone.usda@) {}\n')
    assert codes(simwright.check(file, select=["units-meters"])) == ["units-meters", "usd-composition-error"]
    quiet = simwright.check(file, select=["units-meters"], ignore=["usd-composition-error"])
    assert codes(quiet) == ["units-meters"]


def test_a_file_that_is_no_layer_is_one_error(tmp_path):
    file = tmp_path / "a.usda"
    file.write_text("hello")
    report = simwright.check(file)
    assert codes(report) == ["parse-error"]


def test_typing_errors_raise():
    with pytest.raises(UnknownNameError, match="did you mean 'units-meters'"):
        simwright.check("a.usda", select=["units-meter"])


def test_check_is_the_same_function_before_and_after_the_checker_is_imported():
    code = (
        "import simwright\n"
        "first = simwright.check\n"
        "import simwright.checker.select\n"
        "from simwright import check\n"
        "import types\n"
        "assert isinstance(first, types.FunctionType)\n"
        "assert first is simwright.check is check\n"
        "assert simwright.checker.select.PROFILES\n"
        "import sys\n"
        "assert 'pxr' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
