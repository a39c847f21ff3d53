"""Every fix against the case page of its rule: the expected text, the rule silent, no other fires, no second change."""

from __future__ import annotations

import dataclasses
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from case_file import Case, read_cases

import simwright
from simwright.checker.run import all_rules
from simwright.checker.settings import CheckSettings
from simwright.core.diag import Fixable
from simwright.sanitizer.fixer import all_fixers
from simwright.sanitizer.result import FixResult

CHECK = Path(__file__).parent.parent / "checker"


CASES = [
    case
    for code in all_fixers()
    for case in read_cases(CHECK / "cases" / f"{code}.md")
    if case.outcome == "fail"
]
VALUES = {
    "inertia-order": "urdf",
    "address.omniverse://server/": "package://my_robot/",
    "address.https://example.org/": "package://my_robot/web",
    "address.model://": "package://gazebo_models/",
    "address./home/me/": "package://my_robot/",
    "address.file:///tmp/": "package://my_robot/",
    "address.C:/": "package://my_robot/",
    "address.\\\\server\\": "package://my_robot/server/",
}
# by rule, or by case where the other cases of the rule bring nothing new
CONSEQUENCES = {
    # rules about the default prim have nothing to look at before there is one
    "default-prim": {"assetinfo-identifier", "assetinfo-version", "kind-component", "entry-name"},
    "ns-defaultprim": {"assetinfo-identifier", "assetinfo-version", "kind-component", "entry-name"},
    # of an array one robot is left, which is a component and has the context of the asset
    "no-baked-clones: fail: a grid too large for a fleet": {"kind-component", "ns-defaultprim"},
    # two robots with a context each are an assembly
    "ns-unique: fail: a second robot without a context": {"kind-assembly"},
    # one more ROS opinion in a layer that has bodies as well
    "tf-frame-unique": {"layer-features-isolated"},
    # what was hidden in a payload can be seen in the entry layer
    "iface-outside-payload": {"layer-ros-file"},
    # neutral words of extended physics have a layer of their own, which other fixes make
    **dict.fromkeys(
        ("proprietary-minimal", "isol-minimize", "xphys-no-vendor", "xphys-lifecycle"),
        frozenset({"isol-physics-core-only"}),
    ),
    # a motor of an engine is a Scope as well, in the neutral layer that other fixes make
    "extphys-use": {"isol-physics-core-only", "ext-xform"},
    "xphys-no-core": {"isol-physics-core-only", "layer-functional"},
    # what core has belongs in the physics layer, where a later round puts it
    "ext-deprecated": {"layer-physics-file"},
    # what is spelt right is read, and then lacks things
    "schema-core": {"topic-name", "topic-role", "topic-type"},
    "artic-prune-delete": {"mass-positive", "dummy-no-rigidbody", "xform-minimal-stack"},
    # one more ROS opinion, and an asset that has some
    "dummy-rosframe": {"entry-interface"},
    "dummy-no-rigidbody": {
        "entry-interface",
        "isol-physics-core-only",
        "layer-features-isolated",
        "layer-functional",
    },
    # what was told once for a prototype is told for every copy
    "inst-no-phys-clone": {"mass-positive", "xform-minimal-stack", "joint-limits"},
    "inst-leaf-only": {
        "dummy-no-rigidbody",
        "isol-physics-spec",
        "joint-limits",
        "mass-positive",
        "topic-name",
        "topic-role",
        "topic-type",
        "xform-minimal-stack",
    },
}


def fix_case(source: Path, target: Path, case: Case) -> FixResult:
    settings = read_settings(case)
    return simwright.fix(
        source,
        target,
        select=[case.rule],
        unsafe=True,
        values=VALUES,
        settings=settings,
        allow_outside=[source.parent.parent],
    )


def read_settings(case: Case) -> CheckSettings:
    texts = dict(item.split("=") for item in case.options.get("settings", "").split())
    kinds = {field.name: str(field.type) for field in dataclasses.fields(CheckSettings)}
    read = {"int": int, "tuple[str, ...]": lambda text: tuple(text.split(","))}
    values: dict[str, Any] = {key: read.get(kinds[key], str)(text) for key, text in texts.items()}
    return CheckSettings(**values)


def read_files(folder: Path) -> dict[str, bytes]:
    return {
        file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()
    }


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_fix(case: Case, tmp_path: Path) -> None:
    source = case.write(tmp_path / "case")
    untouched = read_files(tmp_path / "case")
    result = fix_case(source, tmp_path / "one" / "case", case)
    assert read_files(tmp_path / "case") == untouched

    left = [finding for finding in result.after if finding.kind == case.rule]
    told = [note for note in result.notes if note.kind in ("fix-refused", "fix-undone")]
    assert len(left) <= len(told) + sum(finding.fixable is Fixable.NO for finding in left)
    assert not [note for note in result.notes if note.kind in ("fix-crashed", "fix-unstable")]
    for name, text in case.fixed.items():
        assert (tmp_path / "one" / "case" / name).read_text().rstrip("\n") == text.rstrip("\n")
        assert not left

    before, after = (Counter(f.kind for f in found) for found in (result.before, result.after))
    new = {code for code in after if after[code] > before[code]}
    assert new <= CONSEQUENCES.get(case.id, CONSEQUENCES.get(case.rule, set()))

    again = fix_case(Path(result.entry), tmp_path / "two" / "case", case)
    assert again.status == "unchanged"
    assert read_files(tmp_path / "one" / "case") == read_files(tmp_path / "two" / "case")


@pytest.mark.parametrize("code", sorted(all_fixers()))
def test_every_fix_shows_what_it_writes(code: str) -> None:
    assert any(case.fixed for case in CASES if case.rule == code)


def test_every_fix_is_announced_by_its_rule() -> None:
    grades = {rule.code: rule.fix for rule in all_rules()}
    for code in all_fixers():
        assert grades[code] in (Fixable.SAFE, Fixable.UNSAFE)


def test_every_safe_rule_has_a_fix() -> None:
    safe = {rule.code for rule in all_rules() if rule.fix is Fixable.SAFE}
    assert safe <= set(all_fixers())
