from __future__ import annotations

from simwright.app.report.github import render
from simwright.app.report.report import AssetReport, Report
from simwright.core.diag import Diagnostic, Level, Where


def test_the_whole_report(report: Report) -> None:
    assert render(report).splitlines() == [
        (
            "::error file=arm.urdf,line=3,col=13,title=test-mesh-missing::mesh file 'a.stl' does not exist"
            "%0Aat: </arm/base.mesh>%0Ahelp: check the path of a.stl%0Anote: REP-0158 section 2.1"
        ),
        (
            "::warning file=arm.urdf,line=4,title=test-mass-negative::the mass is -2 kg"
            "%0Ahelp: a mass is positive"
        ),
        "::notice file=other.usda,title=test-units::the unit is cm%0Aat: </World>",
    ]


def test_nothing_found_is_no_output() -> None:
    assert render(Report([AssetReport("a")])) == ""


def test_properties_and_text_are_escaped() -> None:
    finding = Diagnostic("a:b,c%", Level.ERROR, "100%, yes: a\r\nb", where=Where("x,y:z.usda"))
    assert render(Report([AssetReport("a", [finding])])) == (
        "::error file=x%2Cy%3Az.usda,title=a%3Ab%2Cc%25::100%25, yes: a%0D%0Ab\n"
    )
