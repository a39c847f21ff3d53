# SPDX-License-Identifier: Apache-2.0
"""Send URDF files through OpenUSD and back, and hold links, joints and shapes against the source.

``python scripts/compare_urdf.py FOLDER_OR_FILE ... [--package NAME=DIR] [--format json]``.  Nothing of Simwright is
used to compare: source and result are read with ElementTree.  Links and joints are matched by name; the poses of
all links with every joint at zero, and with every joint turned by the same small amount, are computed here.  The
lines and verdicts are those of ``compare_models.py``; exits with 1 on all but ``told`` and ``same``.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np

REPO = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPO))

from scripts.compare_models import Change, Line, differ, is_told, list_host_paths, show  # noqa: E402

import simwright  # noqa: E402
from simwright.core.diag import Level, Reporter  # noqa: E402

TOLERANCE = 1e-5
"""Relative: OpenUSD keeps masses and limits as floats."""
TURN = 0.1
MOVING = ("revolute", "continuous", "prismatic")
Array = np.ndarray[Any, Any]
Facts = dict[tuple[str, str], dict[str, Any]]


def main() -> int:
    """All files, then the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--package", action="append", default=[], metavar="NAME=DIR")
    parser.add_argument("--only", default="", help="only files with this in their path")
    parser.add_argument("--items", type=int, default=4, help="silent fields shown of each line")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    arguments = parser.parse_args()
    packages = dict(word.split("=", 1) for word in arguments.package)
    lines: list[Line] = []
    totals: Counter[str] = Counter()
    for path in arguments.paths:
        files = [path] if path.is_file() else sorted(path.rglob("*.urdf"))
        for file in files:
            if arguments.only in str(file):
                totals[str(path)] += 1
                print(f"\r{file.name[:50]:50}", end="", file=sys.stderr, flush=True)
                lines.append(compare_file(file, path, packages))
    print(file=sys.stderr)
    show(lines, totals, totals, arguments.format, arguments.items, ("urdf",))
    return 1 if any(line.verdict not in ("told", "same") for line in lines) else 0


def compare_file(file: Path, corpus: Path, packages: dict[str, str]) -> Line:
    """The line of one file."""
    reporter = Reporter()
    line = Line(str(corpus), "/".join(file.parts[-3:]), "urdf", "same")
    base = corpus if corpus.is_dir() else corpus.parent
    with tempfile.TemporaryDirectory() as work:
        try:
            stage = simwright.convert(
                file, Path(work) / "usd" / file.stem, to="usd", reporter=reporter, packages=packages,
                allow_outside=[base],
            )  # fmt: skip
            entry = simwright.convert(stage, Path(work) / "urdf" / file.name, to="urdf", reporter=reporter)
            after = read_facts(entry)
            line.changes += list_host_paths(Path(work), base)
        except simwright.SimwrightError as error:
            line.verdict, line.text = "refused", str(error).replace("\n", " ")[:300]
            return line
        except Exception as error:  # noqa: BLE001 - the point is to find them
            line.verdict, line.text = "crash", repr(error)[:300]
            return line
    line.findings = [str(finding) for finding in reporter]
    line.changes += list_changes(read_facts(file), after)
    for change in line.changes:
        change.told = is_told(change, reporter.found)
    errors = [finding for finding in reporter if finding.level is Level.ERROR]
    if errors:
        line.verdict, line.text = "error", f"{len(errors)}: {errors[0].message[:200]}"
    elif line.changes:
        line.verdict = "silent" if line.silent else "told"
    return line


def list_changes(before: Facts, after: Facts) -> Iterator[Change]:
    """Every value of the source that differs or is gone, and every element that is new."""
    for (family, name), values in before.items():
        other = after.get((family, name))
        if other is None:
            yield Change(family, name, "element", "there", "gone")
            continue
        for word, value in values.items():
            found = other.get(word)
            if found is None or isinstance(value, str):
                if found is None or value != found:
                    yield Change(family, name, word, str(value)[:60], str(found)[:60])
            else:
                for text in differ(word, np.append(1e-3, value), np.append(1e-3, found), TOLERANCE):
                    yield Change(family, name, *text)
    for family, name in after.keys() - before.keys():
        yield Change(family, name, "element", "none", "new")


def read_facts(file: Path) -> Facts:
    """Links and joints by name, and where links are."""
    root = ET.parse(file).getroot()
    facts: Facts = {}
    for link in root.findall("link"):
        facts["body", link.get("name", "")] = read_link(link)
    joints = root.findall("joint")
    for joint in joints:
        facts["joint", joint.get("name", "")] = read_joint(joint)
    for angle in (0.0, TURN):
        for name, pose in place_links(root, angle).items():
            facts["body", name][f"pose at {angle:g}"] = pose
    return facts


def read_link(link: Any) -> dict[str, Any]:
    """Mass, centre and tensor in the axes of the link, and the shapes."""
    values: dict[str, Any] = {}
    inertial = link.find("inertial")
    if inertial is not None:
        pose = read_pose(inertial.find("origin"))
        words = inertial.find("inertia")
        xx, xy, xz, yy, yz, zz = (
            float(words.get(f"i{word}", 0.0)) if words is not None else 0.0
            for word in ("xx", "xy", "xz", "yy", "yz", "zz")
        )
        tensor = np.array(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))
        mass = inertial.find("mass")
        values["mass"] = float(mass.get("value", 0.0)) if mass is not None else 0.0
        values["centre"] = pose[:3, 3] if values["mass"] else np.zeros(3)
        values["inertia"] = pose[:3, :3] @ tensor @ pose[:3, :3].T
    for word in ("visual", "collision"):
        kinds = [shape.find("geometry") for shape in link.findall(word)]
        values[word] = " ".join(sorted(kind[0].tag for kind in kinds if kind is not None and len(kind)))
    return values


def read_joint(joint: Any) -> dict[str, Any]:
    """Type, ends, axis, limits, dynamics and mimic."""
    kind = joint.get("type", "")
    values: dict[str, Any] = {"type": kind}
    for word in ("parent", "child"):
        values[word] = joint.find(word).get("link")
    if kind not in MOVING:
        return values
    limit, dynamics, mimic = (joint.find(word) for word in ("limit", "dynamics", "mimic"))
    for word in ("lower", "upper") if kind != "continuous" else ():
        values[word] = float(limit.get(word, 0.0)) if limit is not None else 0.0
    for word in ("effort", "velocity"):
        values[word] = float(limit.get(word, 0.0)) if limit is not None else 0.0
    for word in ("damping", "friction"):
        values[word] = float(dynamics.get(word, 0.0)) if dynamics is not None else 0.0
    if mimic is not None:
        values["mimic"] = mimic.get("joint")
        values["multiplier"], values["offset"] = (
            float(mimic.get(word, usual)) for word, usual in (("multiplier", 1.0), ("offset", 0.0))
        )
    return values


def place_links(root: Any, angle: float) -> dict[str, Array]:
    """The pose of every link in the root link, with all joints at one angle or distance."""
    joints = {joint.find("child").get("link"): joint for joint in root.findall("joint")}
    poses: dict[str, Array] = {}

    def place(name: str) -> Array:
        if name not in poses:
            joint = joints.get(name)
            poses[name] = np.eye(4)
            if joint is not None:
                above = place(joint.find("parent").get("link"))
                poses[name] = above @ read_pose(joint.find("origin")) @ move(joint, angle)
        return poses[name]

    return {link.get("name"): place(link.get("name")) for link in root.findall("link")}


def move(joint: Any, value: float) -> Array:
    """What a joint does at a value."""
    pose, kind = np.eye(4), joint.get("type")
    node = joint.find("axis")
    axis = np.array([float(v) for v in (node.get("xyz") if node is not None else "1 0 0").split()])
    axis = axis / (np.linalg.norm(axis) or 1.0)
    if kind == "prismatic":
        pose[:3, 3] = axis * value
    elif kind in MOVING:
        cross = np.array(((0, -axis[2], axis[1]), (axis[2], 0, -axis[0]), (-axis[1], axis[0], 0)))
        pose[:3, :3] += math.sin(value) * cross + (1.0 - math.cos(value)) * cross @ cross
    return pose


def read_pose(origin: Any) -> Array:
    """An origin as a matrix: fixed axes, roll first."""
    pose = np.eye(4)
    if origin is None:
        return pose
    roll, pitch, yaw = (float(v) for v in origin.get("rpy", "0 0 0").split())
    pose[:3, 3] = [float(v) for v in origin.get("xyz", "0 0 0").split()]
    for axis, value in ((2, yaw), (1, pitch), (0, roll)):
        turn, sine, cosine = np.eye(3), math.sin(value), math.cos(value)
        i, j = [k for k in range(3) if k != axis]
        turn[i, i] = turn[j, j] = cosine
        # about y the two other axes are in the other order
        turn[i, j], turn[j, i] = (sine, -sine) if axis == 1 else (-sine, sine)
        pose[:3, :3] = pose[:3, :3] @ turn
    return pose


if __name__ == "__main__":
    sys.exit(main())
