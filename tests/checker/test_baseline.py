"""Baselines: fingerprints that survive edits which do not matter."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from simwright.checker.result import (
    AssetResult,
    make_fingerprint,
    read_baseline,
    subtract_baseline,
    write_baseline,
)
from simwright.core.diag import Diagnostic, Level, Where
from simwright.core.errors import NotFoundError, ParseError


def finding(
    message="mass is 3.5", line=1, prim="/A", prop="mass", kind="mass-positive", file=""
) -> Diagnostic:
    return Diagnostic(kind, Level.ERROR, message, where=Where(file, line, 1, prim, prop))


def test_fingerprint_ignores_lines_numbers_and_the_place_of_the_project(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    first = make_fingerprint(
        finding(line=1, file=str(one / "r" / "base.usda")), str(one / "r" / "r.usda"), one
    )
    again = make_fingerprint(
        finding("mass is -4e-3", line=99, file=str(two / "r" / "base.usda")), str(two / "r" / "r.usda"), two
    )
    assert first == again


@pytest.mark.parametrize(
    "other",
    [
        finding("inertia is 3.5"),
        finding(prim="/B"),
        finding(prop="density"),
        finding(kind="mass-known"),
        finding(file="other.usda"),
    ],
)
def test_fingerprint_tells_different_findings_apart(tmp_path, other):
    assert make_fingerprint(finding(), "a.usda", tmp_path) != make_fingerprint(other, "a.usda", tmp_path)


def test_fingerprint_tells_assets_apart(tmp_path):
    names = [make_fingerprint(finding(), str(tmp_path / name / "robot.usda"), tmp_path) for name in "ab"]
    assert names[0] != names[1]


def test_write_then_use(tmp_path):
    file = tmp_path / "known.json"
    asset = str(tmp_path / "a.usda")
    assert write_baseline(file, [AssetResult(asset, [finding(), finding(prim="/B")])]) == 2
    result = AssetResult(asset, [finding("mass is 7", line=40), finding(prim="/C")])
    assert subtract_baseline([result], read_baseline(file), file) == 1
    assert [d.where.prim for d in result.findings] == ["/C"]


def test_a_second_occurrence_is_new(tmp_path):
    file = tmp_path / "known.json"
    asset = str(tmp_path / "a.usda")
    write_baseline(file, [AssetResult(asset, [finding()])])
    result = AssetResult(asset, [finding(), finding("mass is 8")])
    assert subtract_baseline([result], read_baseline(file), file) == 1
    assert len(result.findings) == 1


def test_the_file_is_the_same_for_any_order(tmp_path):
    findings = [finding(prim=f"/{name}") for name in "CAB"]
    texts = []
    for order in (findings, findings[::-1]):
        write_baseline(tmp_path / "known.json", [AssetResult(str(tmp_path / "a.usda"), list(order))])
        texts.append((tmp_path / "known.json").read_text())
    assert texts[0] == texts[1]
    assert str(tmp_path) not in texts[0]


def test_no_file(tmp_path):
    with pytest.raises(NotFoundError, match="--write-baseline"):
        read_baseline(tmp_path / "known.json")


@pytest.mark.parametrize(
    "text",
    ["{", "[]", "3", '{"version": 1}', '{"version": 2, "findings": []}', '{"version": 1, "findings": [3]}'],
)
def test_a_damaged_file(tmp_path, text):
    (tmp_path / "known.json").write_text(text)
    with pytest.raises(ParseError, match="write it again"):
        read_baseline(tmp_path / "known.json")


def test_an_empty_baseline_is_fine(tmp_path):
    write_baseline(tmp_path / "known.json", [])
    assert read_baseline(tmp_path / "known.json") == Counter()
    assert json.loads((tmp_path / "known.json").read_text())["findings"] == []
