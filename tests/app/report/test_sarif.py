from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from simwright.app.report.report import AssetReport, Report
from simwright.app.report.sarif import FINGERPRINT, render
from simwright.core.diag import Diagnostic, Level, Where


@pytest.fixture
def run(report: Report, sarif_validator: jsonschema.Draft7Validator) -> Any:
    log = json.loads(render(report))
    sarif_validator.validate(log)
    return log["runs"][0]


def results_of(*findings: Diagnostic, path: str = "a.usda") -> list[Any]:
    log = json.loads(render(Report([AssetReport(path, list(findings))])))
    results: list[Any] = log["runs"][0]["results"]
    return results


def test_the_schema_used_here_finds_faults(
    report: Report, sarif_validator: jsonschema.Draft7Validator
) -> None:
    log = json.loads(render(report))
    log["runs"][0]["results"][0]["level"] = "info"
    with pytest.raises(jsonschema.ValidationError):
        sarif_validator.validate(log)


def test_rules_take_their_text_from_the_catalogue(run: Any) -> None:
    driver = run["tool"]["driver"]
    assert (driver["name"], driver["version"]) == ("simwright", "1.2.3")
    assert [rule["id"] for rule in driver["rules"]] == [
        "test-mesh-missing",
        "test-mass-negative",
        "test-units",
    ]
    rule = driver["rules"][0]
    assert rule["shortDescription"]["text"] == "A shape names a mesh file that cannot be found."
    advice = "A shape names a mesh file that cannot be found.\n\ncheck the path of {{file}}"
    assert rule["help"]["text"] == advice
    assert "helpUri" not in rule, "it has no page"
    assert rule["properties"]["tags"] == ["REP-0158 section 2.1"]


def test_results_point_at_their_rules_and_levels(run: Any) -> None:
    rules = run["tool"]["driver"]["rules"]
    assert [rules[result["ruleIndex"]]["id"] for result in run["results"]] == [
        result["ruleId"] for result in run["results"]
    ]
    assert [result["level"] for result in run["results"]] == ["error", "warning", "note"]


def test_a_result_has_a_file_a_region_and_a_prim(run: Any) -> None:
    location = run["results"][0]["locations"][0]
    assert location["physicalLocation"] == {
        "artifactLocation": {"uri": "arm.urdf", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 3, "startColumn": 13},
    }
    assert location["logicalLocations"] == [
        {"name": "mesh", "fullyQualifiedName": "/arm/base.mesh", "kind": "property"}
    ]


def test_a_path_below_the_working_folder_is_relative(run: Any) -> None:
    physical = run["results"][2]["locations"][0]["physicalLocation"]
    assert physical == {"artifactLocation": {"uri": "other.usda", "uriBaseId": "%SRCROOT%"}}


@pytest.mark.parametrize(
    ("file", "artifact"),
    [
        ("a b/c:d.usda", {"uri": "a%20b/c%3Ad.usda", "uriBaseId": "%SRCROOT%"}),
        ("机.usda", {"uri": "%E6%9C%BA.usda", "uriBaseId": "%SRCROOT%"}),
        ("bad\udcff.usda", {"uri": "bad%FF.usda", "uriBaseId": "%SRCROOT%"}),
        ("/elsewhere/a.usda", {"uri": "file:///elsewhere/a.usda"}),
    ],
)
def test_files_become_uris(file: str, artifact: dict[str, str]) -> None:
    (result,) = results_of(Diagnostic("k", Level.ERROR, "m", where=Where(file)))
    assert result["locations"][0]["physicalLocation"]["artifactLocation"] == artifact


def test_fingerprints_survive_moved_lines_and_another_folder(
    report: Report, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = [
        results_of(Diagnostic("k", Level.ERROR, "m", where=Where(str(folder / "a.usda"), line)))[0]
        for line in (1, 9)
    ]
    other = folder / "elsewhere"
    other.mkdir()
    monkeypatch.chdir(other)
    there = results_of(Diagnostic("k", Level.ERROR, "m", where=Where(str(other / "a.usda"), 1)))
    assert len({result["partialFingerprints"][FINGERPRINT] for result in [*here, *there]}) == 1


def test_fingerprints_tell_findings_apart() -> None:
    findings = [
        Diagnostic("k", Level.ERROR, "m"),
        Diagnostic("k", Level.ERROR, "m"),
        Diagnostic("k", Level.ERROR, "m", where=Where(prim="/a")),
        Diagnostic("j", Level.ERROR, "m"),
    ]
    assert len({result["partialFingerprints"][FINGERPRINT] for result in results_of(*findings)}) == 4


def test_messages_hold_neither_placeholders_nor_links() -> None:
    (result,) = results_of(Diagnostic("k", Level.ERROR, "{0} [here](http://x)", hint="h"))
    assert result["message"]["text"] == "{{0}} [here\\](http://x)\nhelp: h"
