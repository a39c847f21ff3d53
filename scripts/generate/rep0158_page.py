# SPDX-License-Identifier: Apache-2.0
"""docs/rep0158.md: every normative statement of REP-0158 and what Simwright does about it.

A checkable row names its rule, and whether there is a fix for it.  A row that binds simulators, converters or tools
names the code that honours it and the test that shows it, or says "not yet".  All are looked up here, so a page cannot
name what is not there.
"""

from __future__ import annotations

from pathlib import Path

from generate import NOTE, list_our_rules
from simwright.checker.catalogue import LedgerRow, find_statement, read_ledger
from simwright.checker.rule import Rule
from simwright.sanitizer.fixer import all_fixers

ROOT = Path(__file__).resolve().parents[2]
NOT_YET = "not yet"

HONOURED: dict[str, tuple[str, str]] = {
    "VARIANT-ROS-ACTIVE": ("src/simwright/formats/usd/sensors.py", "tests/formats/usd/test_ros.py"),
    # no plugin of OpenUSD, which would have to be a compiled library: the stage is made by a call, and it conforms
    "FILEFORMAT-CONFORM": ("src/simwright/formats/usd/writer/entry.py", "tests/app/test_to_stage.py"),
    "REPLICATION-RUNTIME": ("src/simwright/scenes/replicate.py", "tests/scenes/test_replicate.py"),
    "RESOLVER-PACKAGE": ("src/simwright/usd/packages.py", "tests/usd/test_packages.py"),
    "JOINT-REL-TREE": ("src/simwright/model/kinematics.py", "tests/model/test_kinematics.py"),
    "LOOP-PARSER": ("src/simwright/model/kinematics.py", "tests/model/test_kinematics.py"),
    "XPHYS-TRANSLATE": (
        "src/simwright/resolve/translation.py",
        "tests/sanitizer/test_translation.py",
    ),
    "INERTIA-DECOMPOSE": (
        "src/simwright/formats/usd/writer/physics.py",
        "tests/formats/usd/test_writer_samples.py",
    ),
    "SELFCOLL-JOINT-DEFAULT": ("src/simwright/formats/usd/joints.py", "tests/formats/usd/test_joints.py"),
    "NS-CONCAT": ("src/simwright/checker/facts/names.py", "tests/checker/test_names.py"),
    "NS-EMPTY": ("src/simwright/checker/facts/names.py", "tests/checker/test_names.py"),
    "TF-IMPLICIT-ROOT": ("src/simwright/checker/facts/names.py", "tests/checker/test_names.py"),
    "TF-IMPLICIT-CHAIN": ("src/simwright/checker/facts/names.py", "tests/checker/test_names.py"),
    "TF-IFACE-NO-FRAME": ("src/simwright/checker/facts/names.py", "tests/checker/test_names.py"),
    "TF-NOT-EVERY-BODY": ("src/simwright/checker/facts/names.py", "tests/checker/test_names.py"),
    "JNAME-SOURCE": ("src/simwright/model/joint.py", "tests/formats/usd/test_joints.py"),
    "JNAME-FALLBACK": ("src/simwright/model/joint.py", "tests/formats/usd/test_joints.py"),
    "QOS-DEFAULTS": ("src/simwright/model/ros.py", "tests/formats/usd/test_ros.py"),
    "ROS-SIM-GENERATES": ("src/simwright/ros/bridge.py", "tests/ros/test_bridge.py"),
    "CTX-DOMAIN-NEAREST": ("src/simwright/ros/graph.py", "tests/ros/test_graph.py"),
    "TF-SINGLE-TOPIC": ("src/simwright/ros/graph.py", "tests/ros/test_graph.py"),
    "TF-NO-SUBNS": ("src/simwright/ros/graph.py", "tests/ros/test_graph.py"),
    "TYPE-UNRESOLVED-SAFE": ("src/simwright/ros/graph.py", "tests/ros/test_bridge.py"),
    "LIFECYCLE-SIM": ("src/simwright/ros/bridge.py", "tests/ros/test_bridge.py"),
    "QOS-MATCH-PUB-SIM": ("src/simwright/ros/transports/rclpy.py", "tests/ros/test_peers.py"),
    "TF-HYBRID": ("src/simwright/ros/frames.py", "tests/ros/test_graph.py"),
    "TF-ROUTE-STATIC": ("src/simwright/ros/frames.py", "tests/ros/test_graph.py"),
    "TF-ROUTE-DYNAMIC": ("src/simwright/ros/frames.py", "tests/ros/test_graph.py"),
    "FRAME-STATIC-BCAST": ("src/simwright/ros/frames.py", "tests/ros/test_graph.py"),
    "CTRL-LIFECYCLE": ("src/simwright/ros/bridge.py", "tests/ros/test_bridge.py"),
    "CTRL-NO-INFER": ("src/simwright/formats/usd/sensors.py", "tests/formats/usd/test_ros.py"),
    "SENS-SIM-IGNORE": ("src/simwright/formats/usd/attributes.py", "tests/formats/usd/test_read.py"),
    "REG-CHECKER": ("src/simwright/checker/run.py", "tests/checker/test_run.py"),
    "TOOL-ALL-RULES": ("src/simwright/checker/run.py", "tests/checker/test_ledger.py"),
    "TOOL-SECTION-REFS": ("src/simwright/checker/run.py", "tests/checker/test_cases.py"),
    "TOOL-FIX-SCHEMA": ("src/simwright/resolve/translation.py", "tests/sanitizer/test_translation.py"),
    "TOOL-FIX-XFORM": ("src/simwright/sanitizer/fixes/transforms.py", "tests/sanitizer/test_fix_cases.py"),
    "TOOL-FIX-VENDOR": (
        "src/simwright/sanitizer/fixes/layers.py",
        "tests/sanitizer/test_layering.py",
    ),
    "ASSETS-PASS": ("samples/simwright_samples/README.md", "tests/checker/test_samples.py"),
    "CONTACT-CONVERTER": (
        "src/simwright/formats/sdf/writer/shapes.py",
        "tests/formats/sdf/writer/test_shapes.py",
    ),
    "GEO-CONV-TRI": ("src/simwright/formats/gltf/vertices.py", "tests/formats/gltf/test_meshes.py"),
    "INST-GLTF-NODE": ("src/simwright/formats/gltf/meshes.py", "tests/formats/gltf/test_meshes.py"),
    "INST-GLTF-GPU": ("src/simwright/formats/gltf/scene.py", "tests/formats/gltf/test_scene.py"),
    "LIGHT-GLTF": ("src/simwright/formats/gltf/scene.py", "tests/formats/gltf/test_scene.py"),
    "VBAKE-RESOLVED": ("src/simwright/formats/usd/read.py", "tests/formats/gltf/test_scene.py"),
    "VBAKE-FLATTEN": ("src/simwright/formats/urdf/writer/plan.py", "tests/formats/urdf/writer/test_tree.py"),
    "VBAKE-NO-WORLD": ("src/simwright/formats/gltf/scene.py", "tests/formats/gltf/test_scene.py"),
    "VBAKE-EVAL": ("src/simwright/formats/gltf/meshes.py", "tests/formats/gltf/test_scene.py"),
    "VBAKE-FALLBACK": ("src/simwright/formats/gltf/meshes.py", "tests/formats/gltf/test_scene.py"),
    "LOSSY-PRIORITY": (
        "src/simwright/formats/urdf/writer/entry.py",
        "tests/formats/urdf/writer/test_realworld.py",
    ),
    "LOSSY-BAKE": ("src/simwright/formats/usd/scan.py", "tests/formats/usd/test_sharing.py"),
    "LOSSY-API-EXT": (
        "src/simwright/formats/sdf/writer/devices.py",
        "tests/formats/sdf/writer/test_sensors.py",
    ),
    "LOSSY-NO-GAZEBO": (
        "src/simwright/formats/urdf/writer/entry.py",
        "tests/formats/urdf/writer/test_control.py",
    ),
    "LOSSY-DISCARD": (
        "src/simwright/formats/urdf/writer/entry.py",
        "tests/formats/urdf/writer/test_control.py",
    ),
    "LOSSY-NO-INJECT": (
        "src/simwright/formats/urdf/writer/entry.py",
        "tests/formats/urdf/writer/test_control.py",
    ),
    "LOSSY-EXT-POINTS": (
        "src/simwright/formats/mjcf/writer/options.py",
        "tests/formats/mjcf/writer/test_folder.py",
    ),
    "EXT-DEPRECATE": (
        "src/simwright/sanitizer/fixes/property_names.py",
        "tests/checker/cases/ext-deprecated.md",
    ),
}
"""Behaviour row -> (code that honours it, test that shows it)."""
NOTHING_TO_DO: dict[str, tuple[str, str]] = {}
"""Behaviour row -> (why nothing can be done about it today, test that fails when that is no longer so)."""


def generate() -> str:
    """The page."""
    rows = read_ledger()
    rules: dict[str, list[Rule]] = {}
    for rule in list_our_rules():
        if statement := find_statement(rule):
            rules.setdefault(statement.id, []).append(rule)
    mended = sum(any(rule.code in all_fixers() for rule in found) for found in rules.values())
    bound = [row for row in rows if row.mode == "behaviour"]
    honoured, idle = (sum(row.id in table for row in bound) for table in (HONOURED, NOTHING_TO_DO))
    lines = [
        NOTE + "# REP-0158, statement by statement\n",
        f"{len(rows)} normative statements: {len(rules)} are checked by a rule, and {mended} of those have a",
        f"[fix](fix.md); {len(bound)} bind simulators, converters and tools, of which {honoured} are honoured and",
        f"shown by a test, {idle} has nothing to act on yet, and {len(bound) - honoured - idle} are not yet; the rest",
        "are permissions or need human judgement.\n",
        "| id | section | word | binds | statement | here |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        cells = (
            row.id,
            row.section,
            row.level,
            row.binds,
            row.requirement,
            _here(row, rules.get(row.id, [])),
        )
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _here(row: LedgerRow, rules: list[Rule]) -> str:
    if rules:
        fixes = {rule.code: ", with a fix" if rule.code in all_fixers() else "" for rule in rules}
        return "; ".join(f"rule [{code}](rules/{code}.md){fix}" for code, fix in fixes.items())
    if row.is_checkable:
        return NOT_YET
    if row.mode == "behaviour":
        if row.id in NOTHING_TO_DO:
            reason, test = NOTHING_TO_DO[row.id]
            assert (ROOT / test).exists(), f"{row.id} names {test}, which does not exist"
            return f"{reason}; [{test.rpartition('/')[2]}](../{test}) tells when there is"
        if row.id not in HONOURED:
            return NOT_YET
        code, test = HONOURED[row.id]
        for name in (code, test):
            assert (ROOT / name).exists(), f"{row.id} names {name}, which does not exist"
        return f"[{code.rpartition('/')[2]}](../{code}), shown by [{test.rpartition('/')[2]}](../{test})"
    return "permission" if row.mode == "info" else "human judgement"
