from __future__ import annotations

from lxml import etree

from simwright.app.report.junit import render
from simwright.app.report.report import AssetReport, Report
from simwright.core.diag import Diagnostic, Level, Where


def parse(report: Report, schema: etree.XMLSchema) -> etree._Element:
    root = etree.fromstring(render(report).encode())
    schema.assertValid(root)
    return root


def test_counts_match_the_cases(report: Report, junit_schema: etree.XMLSchema) -> None:
    root = parse(report, junit_schema)
    for element in [root, *root]:
        assert int(element.get("tests")) == len(element.findall(".//testcase"))
        assert int(element.get("failures")) == len(element.findall(".//failure"))
    assert [suite.get("name") for suite in root] == ["arm.urdf", "clean.usda", "other.usda"]


def test_an_error_fails_and_the_rest_is_output(report: Report, junit_schema: etree.XMLSchema) -> None:
    root = parse(report, junit_schema)
    error, warning = root[0]
    assert error.get("name") == "test-mesh-missing at /arm/base.mesh"
    assert (error.get("file"), error.get("line")) == ("arm.urdf", "3")
    assert error[0].tag == "failure"
    assert error[0].get("message") == "mesh file 'a.stl' does not exist"
    assert "= help: check the path of a.stl" in error[0].text
    assert error[0].text.endswith("= note: REP-0158 section 2.1")
    assert warning[0].tag == "system-out"
    assert "the mass is -2 kg" in warning[0].text


def test_a_clean_asset_is_a_passed_case(report: Report, junit_schema: etree.XMLSchema) -> None:
    (case,) = parse(report, junit_schema)[1]
    assert case.get("name") == "no findings"
    assert len(case) == 0


def test_equal_findings_keep_apart(junit_schema: etree.XMLSchema) -> None:
    twice = [Diagnostic("k", Level.ERROR, "m", where=Where("a", line)) for line in (1, 2)]
    root = parse(Report([AssetReport("a", twice)]), junit_schema)
    assert len({case.get("name") for case in root[0]}) == 2


def test_characters_that_xml_cannot_hold_are_removed(junit_schema: etree.XMLSchema) -> None:
    finding = Diagnostic("k\x01", Level.ERROR, "a\x00b\ud800c\ufffed]]>&<x>")
    root = parse(Report([AssetReport("a\x1b", [finding])]), junit_schema)
    assert root.find(".//failure").get("message") == "abcd]]>&<x>"
    assert root[0].get("name") == "a"


def test_a_report_of_nothing_is_valid(junit_schema: etree.XMLSchema) -> None:
    assert parse(Report(), junit_schema).get("tests") == "0"
