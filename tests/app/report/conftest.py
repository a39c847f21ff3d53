"""A report with every level."""

from __future__ import annotations

from pathlib import Path

import pytest

from simwright.app.report.report import Report, build_asset_report
from simwright.core.diag import Diagnostic, Fix, Fixable, Level, Reporter, Where, declare

MESH_MISSING = declare(
    "test-mesh-missing",
    Level.ERROR,
    "mesh file {file!r} does not exist",
    hint="check the path of {file}",
    doc="A shape names a mesh file that cannot be found.",
    section="2.1",
)

ARM = """\
<robot name="arm">
  <link name="base">
    <visual><mesh filename="a.stl"/></visual>
\t<mass value="-2"/>
  </link>
</robot>
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with the file that the report is about."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm.urdf").write_text(ARM)
    return tmp_path


@pytest.fixture
def report(folder: Path) -> Report:
    arm = Reporter()
    arm.report(MESH_MISSING, Where("arm.urdf", 3, 13, "/arm/base", "mesh"), file="a.stl")
    arm.add(
        Diagnostic(
            "test-mass-negative",
            Level.WARNING,
            "the mass is -2 kg",
            hint="a mass is positive",
            where=Where("arm.urdf", 4),
            fix=Fix("compute the mass", Fixable.UNSAFE),
            data={"mass": -2.0},
        )
    )
    other = [
        Diagnostic("test-units", Level.INFO, "the unit is cm", where=Where(prim="/World"), fix=Fix("set it"))
    ]
    return Report(
        [
            build_asset_report("arm.urdf", arm),
            build_asset_report("clean.usda", []),
            build_asset_report(folder / "other.usda", other),
        ],
        tool_version="1.2.3",
    )
