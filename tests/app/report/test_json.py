from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from simwright.app.report.json import plain_value, render
from simwright.app.report.report import AssetReport, Report, build_asset_report
from simwright.core.diag import Diagnostic, Level, Where

SCHEMA = json.loads(
    resources.files("simwright.app.report").joinpath("schemas/diagnostics.v1.schema.json").read_text("utf-8")
)


class Stranger:
    def __str__(self) -> str:
        raise RuntimeError


def refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")


def load(report: Report) -> Any:
    document = json.loads(render(report), parse_constant=refuse)
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    return document


def test_the_schema_is_a_schema_and_describes_everything() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    finding = SCHEMA["$defs"]["finding"]
    assert [*finding["required"], "cause", "related"] == list(finding["properties"])
    assert all("description" in member for member in finding["properties"].values())
    assert all("description" in member for member in SCHEMA["properties"].values())


def test_the_document(report: Report, folder: Path) -> None:
    document = load(report)
    assert list(document) == ["version", "tool", "assets", "summary"]
    assert document["version"] == 1
    assert document["tool"] == {"name": "simwright", "version": "1.2.3"}
    assert document["summary"] == {"error": 1, "warning": 1, "info": 1}
    assert [asset["path"] for asset in document["assets"]] == [
        "arm.urdf",
        "clean.usda",
        str(folder / "other.usda"),
    ]
    assert document["assets"][1]["findings"] == []
    assert document["assets"][0]["findings"][0] == {
        "rule": "test-mesh-missing",
        "level": "error",
        "message": "mesh file 'a.stl' does not exist",
        "hint": "check the path of a.stl",
        "section": "2.1",
        "prim": "/arm/base",
        "property": "mesh",
        "layer": "arm.urdf",
        "line": 3,
        "column": 13,
        "fixable": "no",
        "data": {"file": "a.stl"},
    }


def test_what_is_absent_is_null() -> None:
    finding = load(Report([build_asset_report("a", [Diagnostic("k", Level.INFO, "m")])]))["assets"][0][
        "findings"
    ][0]
    absent = {"hint", "section", "prim", "property", "layer", "line", "column"}
    assert {name for name, value in finding.items() if value is None} == absent


def test_a_line_of_zero_is_no_line() -> None:
    report = Report([AssetReport("a", [Diagnostic("k", Level.INFO, "m", where=Where("a", 0, 5))])])
    assert load(report)["assets"][0]["findings"][0]["line"] is None


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (float("nan"), "NaN"),
        (np.float32("inf"), "Infinity"),
        (-np.inf, "-Infinity"),
        (np.array([[1, 2], [3, np.nan]]), [[1.0, 2.0], [3.0, "NaN"]]),
        (np.int64(3), 3),
        (np.bool_(True), True),
        (True, True),
        (None, None),
        (Path("a/b"), "a/b"),
        (Level.ERROR, "error"),
        ({3, 1, 2}, [1, 2, 3]),
        (("a", b"b"), ["a", "b'b'"]),
        ({1: {"x": Path("y")}}, {"1": {"x": "y"}}),
        (1 + 2j, "(1+2j)"),
        ("\ud800", "\ufffd"),
        (Stranger(), "<Stranger>"),
    ],
)
def test_any_value_becomes_plain_data(value: object, plain: object) -> None:
    assert plain_value(value) == plain
    assert type(plain_value(value)) is type(plain)
    json.dumps(plain_value(value), allow_nan=False)


def test_a_number_too_long_for_python_to_write_is_hexadecimal() -> None:
    assert plain_value(1 << 20000) == "0x1" + "0" * 5000


def test_a_value_that_holds_itself_comes_to_an_end() -> None:
    loop: list[object] = []
    loop.append(loop)
    assert "[[" in json.dumps(plain_value(loop))


def test_the_text_is_ascii() -> None:
    assert render(Report([build_asset_report("机器人", [])])).isascii()
