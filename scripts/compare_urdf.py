# SPDX-License-Identifier: Apache-2.0
"""Send URDF files through OpenUSD and back, and hold links, joints and shapes against the source.

``python scripts/compare_urdf.py FOLDER_OR_FILE ... [--package NAME=DIR] [--route urdf|mjcf] [--format json]``.  Nothing
of Simwright is used to compare: source and result are read with ElementTree.  Links and joints are matched by name; the
poses of all links with every joint at zero, and with every joint turned by the same small amount, are computed here.

The route ``mjcf`` asks which links may touch: in the source every two that no joint connects, in the MJCF that was
written those that MuJoCo's own filters leave (bits, welded bodies, parents, exclusions, pairs), read from the compiled
model; every contact that MuJoCo finds in 20 random configurations has to be of links that touch in the source.

The lines and verdicts are those of ``compare_models.py``; exits with 1 on all but ``told`` and ``same``.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from itertools import combinations, product
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import mujoco
import numpy as np

REPO = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPO))

from scripts.compare_models import Change, Line, differ, find_teller, list_host_paths, load, show  # noqa: E402

import simwright  # noqa: E402
from simwright.core.diag import Level, Reporter  # noqa: E402

TOLERANCE = 1e-5
"""Relative: OpenUSD keeps masses and limits as floats."""
MESH_TOLERANCE = 1e-4
"""Of bounds of shapes: files of meshes keep floats."""
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
    parser.add_argument("--route", action="append", choices=[*ROUTES], help="only this one (default all)")
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
                lines += [ROUTES[route](file, path, packages) for route in arguments.route or ROUTES]
    print(file=sys.stderr)
    show(lines, totals, totals, arguments.format, arguments.items, tuple(ROUTES))
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
            after = read_facts(entry, {})
            line.changes += list_host_paths(Path(work), base)
        except simwright.SimwrightError as error:
            line.verdict, line.text = "refused", str(error).replace("\n", " ")[:300]
            return line
        except Exception as error:  # noqa: BLE001 - the point is to find them
            line.verdict, line.text = "crash", repr(error)[:300]
            return line
    line.changes += list_changes(read_facts(file, packages), after)
    for change in line.changes:
        change.told = find_teller(change, reporter.found) or find_camera(change, reporter)
    return judge(line, reporter)


def judge(line: Line, reporter: Reporter) -> Line:
    """The verdict on a line whose changes are known."""
    line.findings = [str(finding) for finding in reporter]
    errors = [finding for finding in reporter if finding.level is Level.ERROR]
    if errors:
        line.verdict, line.text = "error", f"{len(errors)}: {errors[0].message[:200]}"
    elif line.changes:
        line.verdict = "silent" if line.silent else "told"
    return line


def compare_contacts(file: Path, corpus: Path, packages: dict[str, str]) -> Line:
    """The line of one file on its way to MJCF: who may touch whom."""
    reporter = Reporter()
    line = Line(str(corpus), "/".join(file.parts[-3:]), "mjcf", "same")
    base = corpus if corpus.is_dir() else corpus.parent
    with tempfile.TemporaryDirectory() as work:
        try:
            entry = simwright.convert(
                file, Path(work) / f"{file.stem}.xml", to="mjcf", reporter=reporter, packages=packages,
                allow_outside=[base],
            )  # fmt: skip
        except simwright.SimwrightError as error:
            line.verdict, line.text = "refused", str(error).replace("\n", " ")[:300]
            return line
        except Exception as error:  # noqa: BLE001 - the point is to find them
            line.verdict, line.text = "crash", repr(error)[:300]
            return line
        model = load(entry)
    if isinstance(model, str):
        line.verdict, line.text = "crash", f"MuJoCo refuses the result: {model[:300]}"
        return line
    links = {name(model, "BODY", number) for number in range(model.nbody)}
    before = {pair for pair in list_source_pairs(file) if pair <= links}
    after, found = list_pairs(model), list_contacts(model)
    told = next((f.kind for f in reporter if f.kind == "mjcf-write-pairs-apart"), "")
    for pair in before - after:
        line.changes.append(Change("contact", " and ".join(sorted(pair)), "touch", "yes", "no", told))
    for pair in (after | found) - before:
        line.changes.append(Change("contact", " and ".join(sorted(pair)), "touch", "no", "yes"))
    return judge(line, reporter)


def list_source_pairs(file: Path) -> set[frozenset[str]]:
    """Links with colliders that no joint connects, and that can move against each other."""
    root = ET.parse(file).getroot()
    shaped = [
        link.get("name", "") for link in root.findall("link") if link.find("collision/geometry") is not None
    ]
    rigid = {link.get("name", ""): link.get("name", "") for link in root.findall("link")}
    joined = set()
    for joint in root.findall("joint"):
        parent, child = (str(joint.find(word).get("link")) for word in ("parent", "child"))  # type: ignore[union-attr]
        joined.add(frozenset((parent, child)))
        if joint.get("type") == "fixed" and {parent, child} <= rigid.keys():
            old, new = rigid[child], rigid[parent]
            rigid = {link: new if group == old else group for link, group in rigid.items()}
    pairs = {frozenset((a, b)) for a, b in combinations(shaped, 2) if rigid[a] != rigid[b]}
    return pairs - joined


def name(model: Any, kind: str, number: int) -> str:
    """The name of an element."""
    return mujoco.mj_id2name(model, getattr(mujoco.mjtObj, f"mjOBJ_{kind}"), number) or ""


def list_pairs(model: Any) -> set[frozenset[str]]:
    """Bodies of which geoms may touch, by the rules of MuJoCo's broad phase and its predefined pairs."""
    welds, parents = model.body_weldid, model.body_parentid
    excluded = {int(signature) for signature in model.exclude_signature}
    owners = {int(body) for body in model.geom_bodyid}
    by_body = {body: [g for g in range(model.ngeom) if model.geom_bodyid[g] == body] for body in owners}
    pairs: set[frozenset[str]] = set()
    for a, b in combinations(sorted(owners), 2):
        first, second = int(welds[a]), int(welds[b])
        above = [int(welds[parents[weld]]) for weld in (first, second)]
        related = first and second and (first == above[1] or second == above[0])
        if first == second or related or {(a << 16) + b, (b << 16) + a} & excluded:
            continue
        if any(
            model.geom_contype[x] & model.geom_conaffinity[y]
            or model.geom_contype[y] & model.geom_conaffinity[x]
            for x in by_body[a]
            for y in by_body[b]
        ):
            pairs.add(frozenset((name(model, "BODY", a), name(model, "BODY", b))))
    for number in range(model.npair):
        ends = (model.geom_bodyid[int(row[number])] for row in (model.pair_geom1, model.pair_geom2))
        pairs.add(frozenset(name(model, "BODY", int(body)) for body in ends))
    return pairs


def list_contacts(model: Any) -> set[frozenset[str]]:
    """Bodies that MuJoCo finds in contact in random configurations within the limits."""
    random, data = np.random.default_rng(18), mujoco.MjData(model)
    found: set[frozenset[str]] = set()
    for _ in range(20):
        mujoco.mj_resetData(model, data)
        for joint in range(model.njnt):
            if model.jnt_type[joint] in (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE):
                low, high = model.jnt_range[joint] if model.jnt_limited[joint] else (-3.0, 3.0)
                data.qpos[model.jnt_qposadr[joint]] = random.uniform(low, high)
        mujoco.mj_forward(model, data)
        for contact in data.contact[: data.ncon]:
            found.add(frozenset(name(model, "BODY", int(model.geom_bodyid[g])) for g in contact.geom))
    return found


def find_camera(change: Change, reporter: Reporter) -> str:
    """The kind of the finding that says that an optical frame, which is new, is written for a camera."""
    if change.after != "new" or not change.element.removesuffix("_joint").endswith("_optical_frame"):
        return ""
    return next((f.kind for f in reporter if f.loss and "camera" in f.message), "")


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
                limit = MESH_TOLERANCE if word.endswith("bounds") else TOLERANCE
                for text in differ(word, np.append(1e-3, value), np.append(1e-3, found), limit):
                    yield Change(family, name, *text)
    for family, name in after.keys() - before.keys():
        yield Change(family, name, "element", "none", "new")


def read_facts(file: Path, packages: dict[str, str]) -> Facts:
    """Links and joints by name, and where links are."""
    place = partial(place_file, file=file, packages=packages)
    root = ET.parse(file).getroot()
    facts: Facts = {}
    for link in root.findall("link"):
        facts["body", link.get("name", "")] = read_link(link, place)
    joints = root.findall("joint")
    for joint in joints:
        facts["joint", joint.get("name", "")] = read_joint(joint)
    for angle in (0.0, TURN):
        for name, pose in place_links(root, angle).items():
            facts["body", name][f"pose at {angle:g}"] = pose
    return facts


def read_link(link: Any, place: Callable[[str], Path | None]) -> dict[str, Any]:
    """Mass, centre and tensor in the axes of the link, and the shapes."""
    values: dict[str, Any] = {}
    inertial = link.find("inertial")
    # a link without one has no mass, which is a value too
    values["mass"], values["centre"], values["inertia"] = 0.0, np.zeros(3), np.zeros((3, 3))
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
        shapes = [shape for shape in link.findall(word) if len(shape.find("geometry") or ())]
        values[word] = " ".join(sorted(shape.find("geometry")[0].tag for shape in shapes))
        boxes = [find_bounds(shape, place) for shape in shapes]
        read = [box for box in boxes if box is not None]
        if read and len(read) == len(boxes):
            values[f"{word} bounds"] = np.sum(read, axis=0)
    return values


def find_bounds(shape: Any, place: Callable[[str], Path | None]) -> Array | None:
    """The corners of a box around a shape in the axes of the link; None of a mesh that trimesh does not read.

    Their sum over the shapes of a link needs no order.
    """
    node = shape.find("geometry")[0]
    if node.tag == "mesh":
        file = place(node.get("filename", ""))
        points = read_points(file) if file is not None else None
        if points is None:
            return None
        points = points * read_numbers(node.get("scale", "1 1 1"))
    else:
        radius, length = (float(node.get(word, 0.0)) for word in ("radius", "length"))
        half = {
            "box": read_numbers(node.get("size", "0 0 0")) / 2.0,
            "sphere": np.full(3, radius),
            "cylinder": np.array((radius, radius, length / 2.0)),
            "capsule": np.array((radius, radius, length / 2.0 + radius)),
        }[node.tag]
        points = half * np.array(list(product((-1.0, 1.0), repeat=3)))
    pose = read_pose(shape.find("origin"))
    placed = points @ pose[:3, :3].T + pose[:3, 3]
    return np.array((placed.min(axis=0), placed.max(axis=0)))


@lru_cache(maxsize=256)
def read_points(file: Path) -> Array | None:
    """The points of faces of a mesh file as trimesh reads it, in metres: it passes over the unit of COLLADA."""
    import trimesh

    try:
        mesh = trimesh.load(file, force="mesh", process=False)
    except Exception:  # noqa: BLE001 - whatever it raises on a broken file
        return None
    faces = getattr(mesh, "faces", ())
    unit = (
        re.search(rb'<unit[^>]*\bmeter="([^"]+)"', file.read_bytes())
        if file.suffix.lower() == ".dae"
        else None
    )
    return np.asarray(mesh.vertices)[np.unique(faces)] * float(unit[1] if unit else 1) if len(faces) else None


def read_numbers(text: str) -> Array:
    """Numbers of a text."""
    return np.array([float(word) for word in text.split()])


def place_file(name: str, file: Path, packages: dict[str, str]) -> Path | None:
    """The mesh file that a URDF file names."""
    match = re.match(r"package://([^/]+)/(.*)", name)
    if match:
        roots = [Path(packages[match[1]])] if match[1] in packages else []
        roots += [parent / match[1] for parent in file.parents] + [
            p for p in file.parents if p.name == match[1]
        ]
        return next((root / match[2] for root in roots if (root / match[2]).is_file()), None)
    path = file.parent / name.removeprefix("file://")
    return path if path.is_file() else None


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


ROUTES = {"urdf": compare_file, "mjcf": compare_contacts}

if __name__ == "__main__":
    sys.exit(main())
